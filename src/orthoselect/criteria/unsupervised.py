"""What selected features explain of all columns, without a response.

Forward orthogonal search by maximizing the overall dependency (Wei and Billings): the next feature
is the one that explains most of all columns together, given those selected. With columns at norm
one the overall dependency on feature f is

    gain_f = (1 / n) sum_i (x_i'w_f)^2 / w_f'w_f = ||V'w_f||^2 / ||w_f||^2,    V V' = (1/n) sum x x'

where w_f is what is left of feature f beside those selected. That is what `CanonicalState` adds up
for a response V, which need not be orthonormal as long as V'V is at most one. So only V is made
here, as small as it can be:

    in memory, N <= n    V (N, r) is a factor of the kernel of the rows, (N, N)
    otherwise            rows are reduced to a triangle R (n, n) with the same inner products, in
                         one pass; V are the columns of R, and R takes the place of the table

Each column of the table has one vote. The indicators of a categorical column share it: V has an
orthonormal basis of them, divided by its rank, so that it does not matter how levels are coded. An
indicator of gaps comes with its column when that is taken, but has no vote.

References
----------
H.-L. Wei and S. A. Billings, "Feature subset selection and ranking for data dimensionality
reduction", IEEE Transactions on Pattern Analysis and Machine Intelligence 29, 2007.
https://doi.org/10.1109/TPAMI.2007.250607
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigh, qr
from scipy.linalg.lapack import dpstrf
from scipy.sparse.linalg import eigsh

from orthoselect.criteria.base import Criterion, State
from orthoselect.criteria.cancorr import CanonicalState
from orthoselect.criteria.candidates import HEALTHY, Candidates
from orthoselect.criteria.inner_products import InnerProducts, Objective
from orthoselect.encode import Design, Response, Table, build_design
from orthoselect.errors import InputError, listing
from orthoselect.matrix import DenseMatrix, ScaledMatrix, center, normalize, orthonormalize
from orthoselect.matrix.base import EPS, Floats, Indices
from orthoselect.matrix.memory import free_memory, say_bytes
from orthoselect.matrix.rows import Rows, written_out

_COPIES = 4  # of the triangle, while it is made and worked on
_GRAM_PAYS = 16  # rows for each column: then all inner products cost much less than a triangle
_BATCH_NUMBERS = 1 << 21  # of columns that the kernel of the rows is made of at a time
_FEW_EIGENVALUES = 8  # of so many rows one: then they are found by Lanczos' method
_SMALL = 400  # rows of a symmetric matrix whose eigenvalues are all found at once
_ALL = 1e-9  # what rounding may leave of all columns


@dataclass(frozen=True, kw_only=True)
class VotingDesign(Design):
    """A design that knows which column of the table each of its columns was made of.

    `owners` (n,) are input columns, -1 for indicators of gaps; columns of one owner share one vote.
    """

    owners: Indices

    @staticmethod
    def of(design: Design, table: Table) -> VotingDesign:
        """Return a design with the owners of its columns."""
        at = table.numeric_at
        is_second = np.append(False, at[1:] == at[:-1])[: len(at)]
        parts = [np.full(len(labels.levels) - 1, c) for c, labels in table.labels.items()]
        owners = np.concatenate([np.where(is_second, -1, at), *parts]).astype(np.intp)
        return VotingDesign(
            **{f.name: getattr(design, f.name) for f in fields(design)}, owners=owners
        )


class OverallDependency(Criterion):
    """Share of all columns that the selected features explain by least squares.

    Parameters
    ----------
    center : bool
        Whether the mean of each column is removed first. False as in the paper, for columns of
        numbers: what is explained is then their sum of squares, not their variance.
    """

    name = "unsupervised"
    takes_blocks = True
    needs_rows = False
    needs_target = False
    compares_sets = True

    def __init__(self, *, center: bool = True) -> None:
        if not isinstance(center, (bool, np.bool_)):
            raise InputError(f"`center` should be True or False; got {center!r}.")
        self._centered = bool(center)

    def prepare(
        self,
        table: Table,
        groups: Mapping[str, Sequence[int]],
        exclude: set[int],
        weights: Floats | None = None,
    ) -> VotingDesign:
        """Return the columns, and whose vote each of them shares."""
        labeled = [str(table.names[c]) for c in (*table.labels, *table.indicated)]
        if labeled and not self._centered:
            raise InputError(
                f"`center=False` is for columns of numbers; {listing(labeled)} is coded by "
                f"indicators, which have no scale of their own. Omit `center`, or name it in "
                f"`exclude`."
            )
        return VotingDesign.of(build_design(table, groups, exclude), table)

    def start(
        self, design: VotingDesign, response: Response, weights: Rows | None = None, size: int = 1
    ) -> OverallState:
        """Return the state in which nothing is selected; there is no response to look at."""
        matrix = design.matrix
        N, n = matrix.shape
        nothing = np.zeros((N, 0))
        if self._centered:
            pays = matrix.memory is None and _GRAM_PAYS * n <= N
            X, _ = center(matrix, nothing, weights, ignored=design.unowned, gram=pays)
        else:
            weights = written_out(weights)
            X, _ = normalize(matrix, nothing, weights, design.unowned)
        alive, total = np.flatnonzero(X.alive), len(design.features)
        candidates = Candidates(np.arange(total), design.single, design.wide, total)
        shares = _shares_of(design.owners[alive])
        if matrix.memory is None and len(alive) >= N:
            V = _factor_of_kernel(X, alive, shares)
            inner = CanonicalState(candidates, X, X.cross(V), V, size, restarts=True)
            return OverallState(inner, V, X, "kernel of the rows", centered=self._centered)
        place = np.full(n + 1, -1, dtype=np.intp)
        place[alive] = np.arange(len(alive))
        R = _triangle(X, alive)
        V = _votes(R, X.sizes[alive], shares)
        small = DenseMatrix(R)
        small.precision = X.sizes[alive]
        Z, VtX = normalize(small, V)
        inner = CanonicalState(candidates.owning(place), Z, VtX, V, size, restarts=True)
        return OverallState(inner, V, X, "triangle", centered=self._centered)

    start_for_sets = start

    def ceiling(self, response: Response) -> float:
        """Return one: all of all columns."""
        return 1.0


class OverallState(State):
    """Selected features and what each other one would explain of all columns besides.

    V V' are the inner products of the rows of all columns, each with its vote; `X` is the table, to
    tell what was asked of it.
    """

    def __init__(
        self, inner: CanonicalState, V: Floats, X: ScaledMatrix, strategy: str, *, centered: bool
    ) -> None:
        self._inner, self._V, self._X = inner, V, X
        self._strategy, self._centered = strategy, centered

    @property
    def value(self) -> float:  # type: ignore[override]
        """The share of all columns that the selected features explain."""
        return self._inner.value

    def best(self, candidates: NDArray[np.bool_]) -> int | None:
        return self._inner.best(candidates)

    def add(self, f: int) -> float:
        return self._inner.add(f)

    def gains(self) -> Floats:
        return self._inner.gains()

    def known_gains(self) -> list[float] | None:
        return self._inner.known_gains()

    def component_shares(self) -> list[float]:
        """Return what as many principal components explain as directions were added, step by step.

        No set of features of that rank explains more.
        """
        ranks = np.cumsum(self._inner.ranks, dtype=np.intp)
        values = leading_eigenvalues(self._V, int(ranks[-1]) if len(ranks) else 0)
        reached = np.minimum(np.append(0.0, np.cumsum(values)), 1.0)
        return reached[np.minimum(ranks, len(values))].tolist()

    def stats(self) -> dict[str, Any]:
        """Return how the table was reduced, and what was asked of it."""
        return {"strategy": self._strategy, **self._X.stats()}

    def exhausted(self) -> str:
        """Say why no candidate is left."""
        if self.value >= 1 - _ALL:
            return "they explain all columns completely, so nothing is left to explain."
        kind = "constant" if self._centered else "zero"
        if not self._V.shape[1]:
            return f"every feature is {kind}."
        return (
            f"every other feature is {kind} or a linear combination of those selected (no rank is "
            f"left)."
        )

    # Sets

    def restarted(self, among: Indices | None = None) -> OverallState:
        inner = self._inner.restarted(among)
        return OverallState(inner, self._V, self._X, self._strategy, centered=self._centered)

    def products(self) -> InnerProducts:
        products = self._inner.products()
        products.objective = Objective(1.0)
        return products

    def triangle(self, J: Indices) -> tuple[Floats, Floats, Floats]:
        return self._inner.triangle(J)


class _Shares:
    """How columns share votes: those alone, and those of several to an owner, by their places."""

    def __init__(self, alone: Indices, together: list[Indices]) -> None:
        self.alone, self.together = alone, together

    @property
    def n_votes(self) -> int:
        return len(self.alone) + len(self.together)


def _shares_of(owners: Indices) -> _Shares:
    _, inverse, counts = np.unique(owners, return_inverse=True, return_counts=True)
    inverse = inverse.reshape(-1)
    has_vote = owners >= 0
    alone = np.flatnonzero((counts[inverse] == 1) & has_vote)
    several = np.unique(inverse[has_vote & (counts[inverse] > 1)]).tolist()
    return _Shares(alone, [np.flatnonzero(inverse == k) for k in several])


def _spread(A: Floats, sizes: Floats) -> Floats:
    """Return an orthonormal basis of columns, divided so that its squares add up to one."""
    Q, _ = orthonormalize(A, sizes)
    return Q / math.sqrt(max(Q.shape[1], 1))


def _votes(R: Floats, sizes: Floats, shares: _Shares) -> Floats:
    """Return V of columns R at norm one, a vote each unless they share it."""
    parts = [R[:, shares.alone], *(_spread(R[:, J], sizes[J]) for J in shares.together)]
    return np.hstack(parts) / math.sqrt(max(shares.n_votes, 1))


def _factor_of_kernel(X: ScaledMatrix, alive: Indices, shares: _Shares) -> Floats:
    """Return V (N, rank), with V V' the inner products of the rows of all columns."""
    N = X.shape[0]
    K = np.zeros((N, N))
    width = max(1, _BATCH_NUMBERS // max(N, 1))
    for start in range(0, len(shares.alone), width):
        A = X.columns(alive[shares.alone[start : start + width]])
        K += A @ A.T
    for J in shares.together:
        Q = _spread(X.columns(alive[J]), X.sizes[alive[J]])
        K += Q @ Q.T
    K /= max(shares.n_votes, 1)
    U, order, rank, _ = dpstrf(K, tol=4 * EPS * float(K.diagonal().max(initial=0.0)))
    V = np.zeros((N, rank))
    V[order - 1] = np.triu(U)[:rank].T
    return V


def _triangle(X: ScaledMatrix, alive: Indices) -> Floats:
    """Return R, at most (n, n), with the inner products of the columns that are not zero.

    From all inner products where these are known, and no column is nearly a combination of others;
    else by orthogonal transformations of the rows, which keep all digits.
    """
    n = len(alive)
    needed, free = _COPIES * 8 * n * n, X.matrix.memory or free_memory()
    if needed > free:
        raise InputError(
            f"method 'unsupervised' compares all columns with each other; {n} of them take about "
            f"{say_bytes(needed)} of memory, and {say_bytes(free)} may be taken. Name columns in "
            f"`exclude`, or set `memory` to more."
        )
    if X.whole is not None:
        try:
            R = cholesky(X.whole[np.ix_(alive, alive)], check_finite=False)
            if not n or R.diagonal().min() ** 2 >= HEALTHY:
                return R
        except np.linalg.LinAlgError:
            pass
    work = _centered_rows if X.centered else _plain_rows
    R = X.reduce_columns(alive, work, _merge_rows)
    if not X.centered:
        return R
    return qr(R, mode="r")[0][1 : n + 1, 1:]  # beside the rows' weights, which lead


def _centered_rows(A: Floats, root: Floats | None) -> Floats:
    lead = np.ones((len(A), 1)) if root is None else root[:, None]
    return _fewer_rows(np.hstack([lead, A]))


def _plain_rows(A: Floats, root: Floats | None) -> Floats:
    return _fewer_rows(A)


def _merge_rows(a: Floats, b: Floats) -> Floats:
    return _fewer_rows(np.vstack([a, b]))


def _fewer_rows(B: Floats) -> Floats:
    """Return rows with the same inner products of the columns, no more than there are columns."""
    if len(B) <= B.shape[1]:
        return B
    return qr(B, mode="r", check_finite=False)[0][: B.shape[1]]


def leading_eigenvalues(V: Floats, count: int) -> Floats:
    """Return the largest eigenvalues of V V', largest first; at most `count`.

    >>> leading_eigenvalues(np.array([[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]]), 5)
    array([9., 4.])
    """
    K = V.T @ V if V.shape[1] <= V.shape[0] else V @ V.T
    n = len(K)
    count = min(count, n)
    if not count:
        return np.zeros(0)
    if n > _SMALL and count * _FEW_EIGENVALUES <= n:
        # From the same start each time, so that the same table gives the same digits.
        values = eigsh(K, k=count, v0=np.ones(n), return_eigenvectors=False)
    else:
        values = eigh(K, eigvals_only=True, subset_by_index=(n - count, n - 1))
    return np.maximum(np.sort(values)[::-1], 0.0)
