"""Whether what a candidate would add could be chance, given the features taken.

Notation as in cancorr.py. The response may be permuted, Z_b in place of V, b = 1 ... B; of each
this keeps C_b = Z_b'W and what is left of it to explain, M_b = I - Z_b'QQ'Z_b, and lets both follow
the directions that are taken: C_b -= (Z_b'q) r', M_b -= (Z_b'q)(Z_b'q)', where Z_b'q is what C_b
has of the column that q is made of, over its norm. So no permutation costs more than a few
products.

The statistic of a candidate, for V as for every Z_b, is U = tr(M^+ C D^{-1} C') over its columns
(c'M^+c / d for one): the sum of squared canonical correlations between what is left of the
candidate and what is left of the response. It does not depend on the basis V.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from orthoselect.criteria.candidates import Blocks
from orthoselect.criteria.null_best import EXPLAINED, null_best, roots
from orthoselect.criteria.tails import (
    adjusted,
    effective_candidates,
    least_statistic,
    rarity,
)
from orthoselect.criteria.uncertainty import TIE
from orthoselect.encode import Response
from orthoselect.encode.spread_permuted import spread_permuted
from orthoselect.matrix import ScaledMatrix
from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.permuted import permuted_rows
from orthoselect.matrix.rows import Rows, SpreadRows, written_out

if TYPE_CHECKING:
    from orthoselect.criteria.large import Levels

# Of a column, or a direction of a block, of which less is left, products do not tell enough.
_TESTABLE = 1e-9
_IN_DOUBLE = 1 << 22  # bytes of null products that are kept in float64
USUAL_PERMUTATIONS = 199
# Fewer are made of a response of many columns, unless a number is asked for.
_FEWEST, _MOST_COLUMNS = 99, 1000
_ROUNDING = 1e-5  # of statistics, relative: null products are in single precision
_AT_ONCE = 1 << 22  # numbers worked on at a time


class NullResponses:
    """Responses that have nothing to do with any feature, as orthonormal as V.

    `rows` are permutations of it, whose scatter may be off from that of V where rows have weights
    that are no copies; that is taken out of all products.
    """

    def __init__(self, rows: Any, scatter: Floats | None) -> None:
        self._rows, self._scatter = rows, scatter

    def products(self, X: ScaledMatrix) -> Floats:
        """Return their products with all columns, (B m, n)."""
        return self._scaled(X.cross_permuted(self._rows))

    def within(self, codes: NDArray[np.integer], totals: Floats) -> Floats:
        """Return their products with the indicators of levels, at norm one, (levels, B m)."""
        result = np.zeros((len(totals), self._rows.shape[1]))
        for rows in self._rows.chunks(0):
            here = codes[rows]
            at = np.arange(len(here)), here
            shape = len(here), len(totals)
            indicators = sp.coo_array((np.ones(len(here)), at), shape=shape).tocsr()
            result += indicators.T @ self._rows[rows].astype(np.float64)
        some = totals > 0
        result *= (some / np.sqrt(np.where(some, totals, 1.0)))[:, None]
        return self._scaled(result.T).T

    def _scaled(self, products: Floats) -> Floats:
        """Return products (B m, any) with responses made orthonormal."""
        S = self._scatter
        if S is None:
            return products
        flat: Any = np.linalg.solve(np.linalg.cholesky(S), products.reshape(*S.shape[:2], -1))
        return flat.reshape(products.shape)


class RotatedResponses(NullResponses):
    """Random directions in place of permutations, for statistics that have no rows.

    The small table has the inner products of all rows, in `n_rows` - 1 dimensions, few of which
    it shows; what a direction has of the others is known by its distribution.
    """

    def __init__(self, n_rows: int, m: int, n_draws: int, seed: int) -> None:
        self._n_rows, self._m, self._B, self._seed = n_rows, m, n_draws, seed

    def products(self, X: ScaledMatrix) -> Floats:
        rng, shown = np.random.default_rng(self._seed), X.shape[0]
        m, B, hidden = self._m, self._B, self._n_rows - X.shape[0]
        g = rng.normal(size=(shown, B * m))
        g -= g.mean(axis=0)
        A = g.reshape(shown, B, m)
        S = np.einsum("ibj,ibk->bjk", A, A)
        for b in range(B):  # a Wishart matrix, by its triangle (Bartlett)
            T = np.tril(rng.normal(size=(m, m)), -1)
            T[np.diag_indices(m)] = np.sqrt(rng.chisquare(np.maximum(hidden - np.arange(m), 1)))
            S[b] += T @ T.T
        products = X.cross(g).reshape(B, m, -1)
        whitened: Any = np.linalg.solve(np.linalg.cholesky(S), products)
        return whitened.reshape(B * m, -1)


@dataclass(frozen=True)
class PermutationPlan:
    """How features are tested: by how many permutations, and whether that ends the search.

    `strata` (N,) are codes of rows within which the response is permuted. If `stops`, only features
    whose p-value is at most `alpha` are taken, and then a few more to be shown.
    """

    alpha: float
    n_permutations: int
    seed: int
    stops: bool
    strata: NDArray[np.integer] | None = None
    has_rows: bool = True

    def count(self, m: int) -> int:
        """Return how many permutations to make of m response columns."""
        if self.n_permutations != USUAL_PERMUTATIONS:
            return self.n_permutations
        fewer = min(self.n_permutations + 1, _MOST_COLUMNS // max(m, 1))
        # Twentieths of B + 1 are whole, so that shares can be just 0.05.
        return max(_FEWEST, 20 * -(-fewer // 20) - 1)

    def nulls(self, response: Response, weights: Rows | None, n_rows: int) -> NullResponses:
        """Return the permutations of the response."""
        V, B = response.V, self.count(response.m)
        if not self.has_rows:
            return RotatedResponses(n_rows, V.shape[1], B, self.seed)
        if isinstance(V, SpreadRows):
            return NullResponses(*spread_permuted(response, weights, B, self.seed))
        rows = permuted_rows(V, written_out(weights), B, self.seed, self.strata)
        return NullResponses(rows, rows.scatter())


class Look(NamedTuple):
    """What the test says of one step: of every feature, and of the best of each permutation."""

    U: Floats  # of each feature; nan where that is not known
    ranks: Floats  # columns, or directions, of each feature
    m: int  # dimensions of the response that are left
    R: float  # dimensions of the rows that are left
    null: Floats  # the largest -log p of any candidate in each permutation, (B,)

    def log_p(self, features: Any) -> Floats:
        """Return -log p of each of some features by itself."""
        return rarity(self.U[features], self.ranks[features], self.m, self.R)

    def n_as_rare(self, f: int) -> int:
        """Return how many permutations have a candidate that is as rare as feature f.

        What permutes rows of equal response only gives the same statistic again, but for rounding.
        Near the most that a candidate can explain -log p has no digits, so statistics are compared.
        """
        least = rarity((1 - _ROUNDING) * self.U[f], self.ranks[f], self.m, self.R)
        return int(np.count_nonzero(self.null >= least))

    def p_value(self, f: int, alpha: float) -> float | None:
        """Return how often the best of all candidates would be as rare by chance."""
        if math.isnan(self.U[f]):
            return None
        return adjusted(float(self.log_p(f)), self.n_as_rare(f), self.null, alpha)

    def is_significant(self, f: int, alpha: float) -> bool:
        """Whether the counted share of permutations is small enough."""
        if math.isnan(self.U[f]):
            return False
        return 1 + self.n_as_rare(f) <= alpha * (len(self.null) + 1) + 1e-9

    def maybe_significant(self, alpha: float) -> NDArray[np.bool_]:
        """Return the features that are significant, or may be, (features,).

        Those of which too little is known may be.
        """
        allowed = int(alpha * (len(self.null) + 1) + 1e-9)  # exceedances, the feature included
        critical = float(np.sort(self.null)[::-1][min(allowed, len(self.null)) - 1])
        result = np.isnan(self.U)
        for z in np.unique(self.ranks).tolist():
            here = self.ranks == z
            result[here] |= self.U[here] >= least_statistic(critical, z, self.m, self.R)
        return result

    def rarest(self, open_: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return those of some features that are as rare as the rarest by themselves.

        And those of which too little is known.
        """
        known = open_ & ~np.isnan(self.U)
        tops = [
            np.flatnonzero(here)[self.U[here].argmax()]
            for z in np.unique(self.ranks[known]).tolist()
            if (here := known & (self.ranks == z)).any()
        ]
        result = open_ & ~known
        rarest = float(self.log_p(np.array(tops)).max()) * (1 - TIE) if tops else 0.0
        for f in tops:
            z = int(self.ranks[f])
            least = least_statistic(rarest, z, self.m, self.R)
            least = min(least, (1 - TIE) * float(self.U[f])) if self.log_p(f) >= rarest else least
            result |= known & (self.ranks == z) & np.greater_equal(self.U, least)
        return result

    def effective(self) -> float:
        """Return how many independent candidates the candidates are worth."""
        return effective_candidates(self.null)


class Significance:
    """The response and its permutations, and what is left of each to explain.

    Invariants: `_C` (B, m, n) are the products of the permutations with what is left of all
    columns, as `Gains` has those of V, once the direction that is `_due` is taken out; `_M` (B, m,
    m) and `_M0` (m, m) what is left of them and of V itself. B may be zero: then only the
    candidates' own p-values are known.
    """

    def __init__(self, nulls: NullResponses | None, X: ScaledMatrix, m: int, n_rows: float) -> None:
        n, self._nulls = X.shape[1], nulls
        ZtX = np.zeros((0, n)) if nulls is None else nulls.products(X)
        B = len(ZtX) // m if m else 0
        kind = np.float64 if 8 * ZtX.size <= _IN_DOUBLE else np.float32
        self._C: Any = np.ascontiguousarray(ZtX.reshape(B, m, n), dtype=kind)
        self._m, self._n_rows = m, n_rows
        self._M, self._M0 = np.tile(np.eye(m), (B, 1, 1)), np.eye(m)
        self._start: NDArray | None = None
        # Z'q (B, m) and q'X (n,) of a direction that the next look takes out, in the same read.
        self._due: tuple[Floats, Floats] | None = None

    @property
    def n_permutations(self) -> int:
        """How many permutations there are."""
        return len(self._C)

    # Directions that are taken

    def remember_start(self) -> None:
        """Keep what there is now, for `start_anew`."""
        self._take_out_due()
        self._start = self._C.copy()

    def remove(self, r: Floats, c: Floats, j: int) -> None:
        """Take out the direction q of column j; r = q'X, c = V'q."""
        self._M0 -= np.outer(c, c)
        if not len(self._C):
            return
        self._take_out_due()
        here = self._C[:, :, j].astype(np.float64)
        along = here / r[j] if r[j] else np.zeros_like(here)  # (B, m)
        self._M -= along[:, :, None] * along[:, None, :]
        self._due = along, r.astype(self._C.dtype)

    def _take_out_due(self) -> None:
        if self._due is not None:
            null_best(self._C, self._due, self._M, np.zeros_like(self._due[1]))
            self._due = None

    def remove_block(
        self, J: Indices, R: Floats, c: Floats, rows: Iterable[tuple[Indices, Floats]]
    ) -> None:
        """Take out the directions of columns J, what is left of which is Q R; c = Q'V.

        `rows` are Q'X in parts: of columns, (b, columns).
        """
        self._M0 -= c.T @ c
        if not len(self._C):
            return
        self._take_out_due()
        B, m, n = self._C.shape
        flat = self._C.reshape(B * m, n)
        along = solve_triangular(R, flat[:, J].T.astype(np.float64), trans="T", check_finite=False)
        self._explain(along)
        for columns, part in rows:
            flat[:, columns] -= along.T @ part
        flat[:, J] = 0.0

    def start_anew(
        self, along: Floats, levels: Levels, rows: Sequence[tuple[Indices, Any]]
    ) -> None:
        """Forget all directions; take out U in place of them, the levels of one feature.

        `along` is U'V (z, m); `rows` are U'X in parts, dense or sparse.
        """
        self._M0 = np.eye(self._m) - along.T @ along
        if not len(self._C):
            return
        assert self._start is not None
        assert self._nulls is not None
        nulls = self._nulls.within(levels.codes, levels.totals)  # U'Z, (z, B m)
        B, m, n = self._C.shape
        self._M, self._due = np.tile(np.eye(m), (B, 1, 1)), None
        self._explain(nulls)
        self._C[:] = self._start
        flat = self._C.reshape(B * m, n)
        for columns, part in rows:
            flat[:, columns] -= (part.T @ nulls).T
        flat[:, levels.columns] = 0.0

    def _explain(self, along: Floats) -> None:
        """Take directions off what is left to explain, along (b, B m)."""
        A = along.reshape(len(along), *self._C.shape[:2])
        self._M -= np.einsum("qbi,qbj->bij", A, A)

    # Statistics

    def look(
        self,
        gains_C: Floats,
        d: Floats,
        single: Indices,
        blocks: Sequence[Blocks],
        large: Mapping[int, Any],
        open_: NDArray[np.bool_],
        rank_taken: int,
    ) -> Look:
        """Return the statistics of all features, and the best of each permutation.

        C (m, n) and d (n,) as `Gains` has them; `single` (features,) the columns of features that
        own one; `open_` (features,) are those that may be taken.
        """
        K0, m = roots(self._M0[None])
        R = self._n_rows - 1 - rank_taken
        U, ranks = np.full(len(single), np.nan), np.ones(len(single))
        best = np.zeros(len(self._C))
        alone = np.flatnonzero(single >= 0)
        J = single[alone]
        enough = d[J] >= _TESTABLE
        alone, J = alone[enough], J[enough]
        U[alone] = ((K0[0] @ gains_C[:, J]) ** 2).sum(axis=0) / d[J]
        if (racing := open_[alone]).any():
            factors = np.zeros(len(d), dtype=self._C.dtype)
            factors[J[racing]] = 1.0 / d[J[racing]]
            largest, ms = null_best(self._C, self._due, self._M, factors)
            self._due = None
            best = rarity(largest, 1, ms, R)
        if blocks or large:
            self._take_out_due()
            K, ms = roots(self._M)
        for block in blocks:
            whitened, kept = _whitening(block.D)  # (F, p, p), (F, p)
            ranks[block.features] = kept.sum(axis=1)
            G = np.einsum("mfp,fpq->mfq", gains_C[:, block.columns], whitened)
            U[block.features] = np.einsum("im,mfq->ifq", K0[0], G).__pow__(2).sum(axis=(0, 2))
            racing = open_[block.features] & kept.any(axis=1)
            if racing.any():
                null = self._blocks(K, block.columns[racing], whitened[racing])  # (B, F)
                z = ranks[block.features][racing]
                best = np.maximum(best, rarity(null, z, ms[:, None], R).max(axis=1, initial=0.0))
        for f, feature in large.items():
            found = self._of_large(K0[0], K, feature, gains_C)
            if found is None:
                continue
            ranks[f], U[f], null = len(feature.columns), *found
            if open_[f]:
                best = np.maximum(best, rarity(null, ranks[f], ms, R))
        ranks = np.maximum(ranks, 1.0)
        return Look(U, ranks, int(m[0]), R, best)

    def statistic(self, C: Floats, d: float) -> float:
        """Return the statistic of a column, C (m,) and d of which are certain."""
        K0 = roots(self._M0[None])[0][0]
        return float(((K0 @ C) ** 2).sum()) / d

    def statistic_of_gain(self, gain: float) -> float:
        """Return about the statistic of a feature of which only the gain is known.

        As if it gained alike of all that is left; exactly that, where one response is.
        """
        left = np.linalg.eigvalsh(self._M0)
        left = left[left > EXPLAINED]
        return gain * len(left) / float(left.sum()) if len(left) else 0.0

    def _blocks(self, K: Floats, columns: Indices, whitened: Floats) -> Floats:
        """Return the statistics of blocks of one width in each permutation, (B, F)."""
        F, p = columns.shape
        result = np.empty((len(self._C), F))
        step = max(1, _AT_ONCE // (self._m * F * p))
        for start in range(0, len(result), step):
            here = slice(start, start + step)
            G = np.matmul(K[here], self._C[here][:, :, columns.ravel()].astype(np.float64))
            G = G.reshape(len(G), self._m, F, p)
            H = np.einsum("bmfp,fpq->bmfq", G, whitened, optimize=True)
            result[here] = np.einsum("bmfq,bmfq->bf", H, H)
        return result

    def _of_large(
        self, K0: Floats, K: Floats, feature: Any, gains_C: Floats
    ) -> tuple[float, Floats] | None:
        """Return the statistic of a feature of many columns, and that in each permutation."""
        J, m = feature.columns, self._m
        own = K0 @ gains_C[:, J]
        null = np.matmul(K, self._C[:, :, J].astype(np.float64)).reshape(-1, len(J))
        both = np.vstack([own, null])
        solved = feature.solve(both)
        if solved is None or solved.least < _TESTABLE:
            return None
        gains = np.einsum("ij,ji->i", both, solved.x).reshape(-1, m).sum(axis=1)
        return float(gains[0]), gains[1:]


def _whitening(D: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return P with P P' = D^+ of each D, (F, p, p), and which directions of D are left, (F, p)."""
    values, vectors = np.linalg.eigh(D)
    kept = values > _TESTABLE
    scales = np.divide(1.0, np.sqrt(np.maximum(values, _TESTABLE)), where=kept, out=0 * values)
    return vectors * scales[:, None, :], kept
