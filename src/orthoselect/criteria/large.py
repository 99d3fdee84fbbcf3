"""Features of many columns: what they add, by one factorization each and no eigenproblem.

Notation as in cancorr.py. Of a feature of p columns J this keeps its own part of L, the rows
B = L[:, J] (k, p), and drops it once the feature is taken. What is left of its columns is

    D = G - B'B        G (p, p) their inner products before anything was taken

and its gain is the sum of c D^{-1} c' over the rows c of C[:, J]. The columns of a categorical
feature, all its levels but one, are never 1 together. So for columns of norm one

    G = diag(e) - t't,     t = sqrt(N) mean / norm (1, p),     e = 1 + t^2

and D is a diagonal minus the k + 1 rows [t; B] squared. While these are few, Woodbury's identity
needs nothing of p x p, only K = I - [t; B] diag(1/e) [t; B]', whose least eigenvalue also tells how
far D is from being singular.

Once a categorical feature A is taken it leads: projecting it out, and the constant with it, is
centering within its levels. With U (N, z) the indicators of all its levels at norm one, and
Z (N, p) those of another feature, not centered, what is left of these is

    D = diag(e) - S'S - B'B,     S = U'Z (z, p)

where S is a table of counts, most of them zero, and B are the rows of what is taken besides. D is
factored as it stands when many rows have come, and those that come after by Woodbury's identity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cholesky, qr, solve_triangular
from scipy.linalg.lapack import dpocon, dpstrf
from scipy.sparse.csgraph import connected_components

from orthoselect.criteria.candidates import Candidates, independent_columns
from orthoselect.encode import Design
from orthoselect.errors import InputError
from orthoselect.matrix import Geometry, ScaledMatrix
from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.memory import free_memory, say_bytes

# A feature of so many columns is a large one.
LARGE = 64
_FIRST_ROWS = 16
_FEW_DIRECTIONS = 256
_INSIDE = 1e-8  # of the squared norm of a direction is left beside the columns that contain it
# What is left of a column that depends on others, and the least of one that does not.
_NO_PIVOT, _CLEAR_PIVOT = 1e-10, 1e-6
_FEW_RELATIONS = 512


class Solved(NamedTuple):
    """The gain of a feature, and what tells how far errors of C and D carry."""

    gain: float
    x: Floats  # D^{-1} C', (p, m)
    least: float  # about a lower bound of the least eigenvalue of D

    def slack(self, error_C: float, error_d: float) -> float:
        """Return what the gain may be off by, if entries of C and D are off by so much.

        The gain changes by 2 x'dC - x'dD x. Errors of different entries have nothing to do with
        each other, so the first is about ||x|| times that of one, the second ||x||^2 times.
        """
        p, m = self.x.shape
        x2 = float((self.x**2).sum())
        second = error_C**2 * m * p / self.least
        return 2 * error_C * math.sqrt(x2) + error_d * x2 + second


class LargeFeature:
    """One feature of many columns that are independent of each other.

    Invariants: the rows of B stand in `_pieces`, of which the first `_used` of each count; D is
    without the first `_n_in_D` rows of B, and None as long as nobody needed it. `t` is None, and D
    is there from the beginning, unless the columns are the indicators of one categorical column;
    `levels` are those, where rows are in memory.
    """

    S: Any = None  # U'Z, if another feature leads

    def __init__(
        self,
        columns: Indices,
        t: Floats | None,
        G: Floats | None,
        levels: Levels | None = None,
    ) -> None:
        self.columns, self.t, self.levels = columns, t, levels
        self._D, self._n_in_D = G, 0
        self._pieces: list[Floats] = []
        self._used: list[int] = []

    @property
    def n_rows(self) -> int:
        """How many rows B has."""
        return sum(self._used)

    def rows(self) -> list[Floats]:
        """Return B, in pieces."""
        return [piece[:used] for piece, used in zip(self._pieces, self._used)]

    def append(self, rows: Floats) -> None:
        """Take in further rows, (b, p)."""
        if len(rows) > 1:
            self._pieces.append(rows)
            self._used.append(len(rows))
            return
        if not self._pieces or self._used[-1] == len(self._pieces[-1]):
            height = max(_FIRST_ROWS, min(self.n_rows, 1 << 8))
            self._pieces.append(np.empty((height, len(self.columns))))
            self._used.append(0)
        self._pieces[-1][self._used[-1]] = rows[0]
        self._used[-1] += 1

    def times(self, above: Floats) -> Floats:
        """Return the products A'B of as many rows A (k, b); (b, p)."""
        total, start = np.zeros((above.shape[1], len(self.columns))), 0
        for B in self.rows():
            total += above[start : start + len(B)].T @ B
            start += len(B)
        return total

    def at(self, places: Indices) -> Floats:
        """Return some columns of B, (k, b)."""
        return np.vstack([np.zeros((0, len(places))), *(B[:, places] for B in self.rows())])

    def forget_gram(self) -> None:
        """Free the memory of D, where the feature is taken and nobody asks for it again."""
        self._D = None

    def forget_factor(self) -> None:
        """Free the memory of what is made again when it is asked for."""

    def keep(self, places: Indices) -> None:
        """Forget all columns but some."""
        self.columns = self.columns[places]
        self.t = None if self.t is None else self.t[places]
        self._D = None if self._D is None else self._D[np.ix_(places, places)].copy()
        self.levels = None if self.levels is None else self.levels.some(places)
        self._pieces = [np.ascontiguousarray(B[:, places]) for B in self.rows()]
        self._used = list(map(len, self._pieces))

    def start_anew(self, S: Floats) -> None:
        """Forget all rows; from now on S = U'X (z, p) is taken out of the columns instead."""
        D = self.residual_gram()
        for B in self.rows():
            D += B.T @ B
        D -= S.T @ S
        self.S, self._n_in_D, self._pieces, self._used = S, 0, [], []

    def residual_gram(self) -> Floats:
        """Return D, (p, p); it is kept."""
        D: Floats = self._gram_before_any_row() if self._D is None else self._D
        self._D = D
        behind, self._n_in_D = self._n_in_D, self.n_rows
        for B in self.rows():
            new = B[min(behind, len(B)) :]
            behind = max(behind - len(B), 0)
            if len(new):
                D -= new.T @ new
        return D

    def _gram_before_any_row(self) -> Floats:
        """Return I - t t', (p, p): inner products of centered levels of norm one."""
        assert self.t is not None
        D: Floats = np.multiply.outer(self.t, -self.t)
        D.flat[:: len(self.t) + 1] = 1.0
        return D

    def solve(self, C: Floats) -> Solved | None:
        """Return what the feature adds, if C = V'W of its columns is (m, p); None if D is singular.

        That is, as far as inner products can tell.
        """
        try:
            if self._D is None and 2 * (self.n_rows + 1) <= len(self.columns):
                return self._solve_by_rows(C)
            return _solve(self.residual_gram(), C.T)
        except np.linalg.LinAlgError:
            return None

    def _solve_by_rows(self, C: Floats) -> Solved:
        K, A, e = self.complement()
        scaled = (C / e).T  # (p, m)
        small = _solve(K, A @ scaled)
        x = scaled + (A / e).T @ small.x
        return Solved(float((C.T * scaled).sum()) + small.gain, x, float(e.min()) * small.least)

    def complement(self) -> tuple[Floats, Floats, Floats]:
        """Return K (k + 1, k + 1), the rows A = [t; B] and e."""
        assert self.t is not None
        A, e = np.vstack([self.t, *self.rows()]), 1.0 + self.t**2
        K = -(A / e) @ A.T
        K.flat[:: len(K) + 1] += 1.0
        return K, A, e

    def directions_inside(self) -> Floats | None:
        """Return combinations of the directions taken, (k, count), that the columns contain.

        That is, as far as inner products can tell. None if there is none, or the directions are too
        many to look at.
        """
        if self.t is None or self.n_rows > _FEW_DIRECTIONS:
            return None
        return _null_space(self.complement()[0])[1:]

    def solve_alone(self, b: Floats) -> Floats:
        """Return D^{-1}b, (p, count), for D as it was before any row."""
        assert self.t is not None
        e, t = 1.0 + self.t**2, self.t
        x = b / e[:, None]
        return x + np.outer(t / e, t @ x) / (1.0 - float((t * t / e).sum()))

    def independent(self, rank: int | None = None) -> Indices | None:
        """Return places of columns that the others depend on, given those taken, (rank,).

        Without a rank that is known, D has to show a clear gap: None if there is none. So it is
        for columns of 0 and 1, and those taken like them: what is left of such a column is nothing,
        or a share that its rows can be told by.
        """
        D, order, found, _ = dpstrf(self.residual_gram(), tol=_NO_PIVOT)
        pivots = D.diagonal()[:found] ** 2
        if (rank is not None and found != rank) or pivots.min(initial=1.0) < _CLEAR_PIVOT:
            return None
        return np.sort(order[:found] - 1).astype(np.intp)


class _Base(NamedTuple):
    """The factor of D as it was after so many rows, and about its least eigenvalue."""

    R: Floats  # (p, p)
    least: float
    n_rows: int

    def half(self, b: Floats) -> Floats:
        return solve_triangular(self.R, b, trans="T", check_finite=False)

    def whole(self, b: Floats) -> Floats:
        return solve_triangular(self.R, self.half(b), check_finite=False)


class LedFeature(LargeFeature):
    """A categorical feature of many columns, given those of the one that leads.

    Invariants: Z (N, p) are its columns, not centered, S = U'Z (z, p), both sparse; e (p,) are the
    squares of the norms of Z. `_base` has the first rows of B in it, and D is not kept.
    """

    def __init__(self, columns: Indices, levels: Levels, Z: Any, S: Any, e: Floats) -> None:
        super().__init__(columns, None, None, levels)
        self.Z, self.S, self.e = Z, S, e
        self._base: _Base | None = None

    def keep(self, places: Indices) -> None:
        super().keep(places)
        self.Z, self.S, self.e = self.Z[:, places], self.S[:, places], self.e[places]
        self._base = None

    def forget_factor(self) -> None:
        self._base = None

    def gram_alone(self) -> Floats:
        """Return D as it is before any row, (p, p)."""
        D = (self.S.T @ self.S).toarray()
        np.negative(D, out=D)
        D.flat[:: len(self.e) + 1] += self.e
        return D

    def residual_gram(self) -> Floats:
        D = self.gram_alone()
        for B in self.rows():
            D -= B.T @ B
        return D

    def solve(self, C: Floats) -> Solved | None:
        try:
            base = self._latest_base()
            x = base.whole(C.T)
            gain, least = float((C.T * x).sum()), base.least
            A = self._rows_from(base.n_rows)
            if len(A):
                Y = base.half(A.T)
                K = np.eye(len(A)) - Y.T @ Y
                small = _solve(K, A @ x)
                x = x + solve_triangular(base.R, Y @ small.x, check_finite=False)
                gain, least = gain + small.gain, least * small.least
        except np.linalg.LinAlgError:
            return None
        return Solved(gain, x, least)

    def directions_inside(self) -> Floats | None:
        if self.n_rows > _FEW_DIRECTIONS or not self.n_rows:
            return None
        try:
            base = self._base = _factor(self.gram_alone(), 0)
        except np.linalg.LinAlgError:
            return None
        Y = base.half(self._rows_from(0).T)
        return _null_space(np.eye(Y.shape[1]) - Y.T @ Y)

    def solve_alone(self, b: Floats) -> Floats:
        assert self._base is not None
        assert not self._base.n_rows
        return self._base.whole(b)

    def _latest_base(self) -> _Base:
        base = self._base
        allowed = max(_FIRST_ROWS, len(self.columns) // 8)
        if base is None or self.n_rows - base.n_rows > allowed:
            self._base = None
            base = self._base = _factor(self.residual_gram(), self.n_rows)
        return base

    def _rows_from(self, start: int) -> Floats:
        """Return the rows of B after the first ones."""
        rows = [np.zeros((0, len(self.columns)))]
        for B in self.rows():
            rows.append(B[min(start, len(B)) :])
            start = max(start - len(B), 0)
        return np.vstack(rows)


def _factor(D: Floats, n_rows: int) -> _Base:
    """Factor D, which is overwritten."""
    size = float(np.abs(D).sum(axis=0).max(initial=0.0))
    R = cholesky(D.T, overwrite_a=True, check_finite=False)  # D' = D is in Fortran's order
    return _Base(R, float(dpocon(R, size)[0]) * size, n_rows)


def _null_space(K: Floats) -> Floats:
    """Return the eigenvectors of K that have nothing, or next to nothing; (k, count)."""
    values, vectors = np.linalg.eigh(K)
    return vectors[:, values < _INSIDE]


class Levels:
    """A categorical column as its large feature has it, rows weighted by root**2.

    `codes` (N,) are 1 and more for the levels that have columns, 0 for the one left out; `columns`
    (p,) are those columns, `sizes` (p,) what indicators are multiplied with to have norm one once
    they are centered. `places` are the columns that count still.
    """

    def __init__(
        self,
        codes: NDArray[np.int32],
        columns: Indices,
        root: Floats | None,
        places: Indices | None = None,
    ) -> None:
        self.codes, self.columns, self.root = codes, columns, root
        weights = None if root is None else root * root
        self.totals = np.bincount(codes, weights, minlength=len(columns) + 1).astype(np.float64)
        own = self.totals[1:]
        self.sizes = 1.0 / np.sqrt(own * (1.0 - own / self.totals.sum()))
        self.places = np.arange(len(columns)) if places is None else places

    @property
    def rank(self) -> int:
        """How many directions all its levels have, beside the constant."""
        return int(np.count_nonzero(self.totals)) - 1

    def some(self, places: Indices) -> Levels:
        """Return the same with some of the columns that count."""
        return Levels(self.codes, self.columns, self.root, self.places[places])

    def indicators(self) -> sp.csc_array:
        """Return Z, (N, p), of the columns that count."""
        return self._coded(np.append(0.0, self.sizes))[:, 1 + self.places]

    def orthonormal(self) -> sp.csc_array:
        """Return U, (N, p + 1): indicators of all levels at norm one."""
        some = self.totals > 0
        return self._coded(some / np.sqrt(np.where(some, self.totals, 1.0)))

    def _coded(self, values: Floats) -> sp.csc_array:
        N = len(self.codes)
        data = values[self.codes] if self.root is None else values[self.codes] * self.root
        at = np.arange(N, dtype=np.int32), self.codes
        return sp.coo_array((data, at), shape=(N, len(values))).tocsc()

    def dependent(self, taken: Sequence[Levels], dropped: Indices) -> Indices | None:
        """Return levels, 0 and up, that others depend on, given features taken; (count,).

        Where levels of two features go together in groups, the indicator of a group is a sum of
        levels of either. So one level of each group follows from the feature taken and the others.
        Those dropped before, 0 among them, are among these. None if there are too many groups.
        """
        n_levels = len(self.totals)
        everything = [self._groups(other) for other in taken]
        if len(taken) == 1:
            groups, weights = everything[0], self.totals.copy()
            weights[dropped] = np.inf
            order = np.argsort(-weights, kind="stable")
            return order[np.unique(groups[order], return_index=True)[1]]
        n_groups = [int(groups.max()) + 1 for groups in everything]
        if sum(n_groups) > _FEW_RELATIONS:
            return None
        relations = np.zeros((sum(n_groups), n_levels))
        starts = np.cumsum([0, *n_groups[:-1]])
        for start, groups in zip(starts, everything):
            relations[start + groups, np.arange(n_levels)] = 1.0
        relations[:, dropped] *= 1e3  # they come first
        R, order = qr(relations, mode="r", pivoting=True)[-2:]
        pivots = np.abs(R.diagonal())
        return order[: len(pivots)][pivots > 1e-9 * pivots.max()]

    def _groups(self, other: Levels) -> Indices:
        """Return the group of each level, (p + 1,), among rows that have weight."""
        counts = slice(None) if self.root is None else self.root > 0
        n_nodes = len(other.totals) + len(self.totals)
        pairs = other.codes[counts], len(other.totals) + self.codes[counts]
        graph = sp.coo_array((np.ones(len(pairs[0])), pairs), shape=(n_nodes, n_nodes)).tocsr()
        labels = connected_components(graph, directed=False)[1]
        return np.unique(labels[len(other.totals) :], return_inverse=True)[1]


def _solve(D: Floats, b: Floats) -> Solved:
    """Return b'D^{-1}b, added up over the columns of b (p, m), and D^{-1}b."""
    R = cholesky(D, check_finite=False)
    half = solve_triangular(R, b, trans="T", check_finite=False)
    x = solve_triangular(R, half, check_finite=False)
    size = float(np.abs(D).sum(axis=0).max(initial=0.0))
    return Solved(float((half * half).sum()), x, float(dpocon(R, size)[0]) * size)


def check_room(design: Design, size: int) -> None:
    """Raise where features of many columns would take more memory than there is.

    What counts are the factors of those that are left once the widest leads, and the rows of
    others that may be taken after it; where rows come in blocks, the rows of the first, too.
    """
    widths = {f: len(J) for f, J in design.wide.items() if len(J) >= LARGE}
    if len(widths) < 2 or size < 2:
        return
    order = sorted(widths, key=lambda f: -widths[f])
    p = np.array([widths[f] for f in order], dtype=np.float64)
    first = 1 if design.matrix.memory is None else 0
    taken = p[first : min(size - 1, len(p) - 1)]
    needed = 8 * int((p[1:] ** 2).sum() + sum(each * (p.sum() - p[0] - each) for each in taken))
    free = free_memory()
    if needed > free:
        widest = " and ".join(f"`{design.features[f].name}` ({widths[f]})" for f in order[:2])
        raise InputError(
            f"{len(order)} features of many columns, {widest} the widest, would take about "
            f"{say_bytes(needed)} of memory to select {size}; {say_bytes(free)} are free. Merge "
            f"rare levels, or name some of these features in `exclude`."
        )


def has_large(candidates: Candidates) -> bool:
    """Whether some feature has many columns."""
    return any(len(J) >= LARGE for J in candidates.wide.values())


def find_large(
    X: ScaledMatrix, geometry: Geometry, candidates: Candidates
) -> dict[int, LargeFeature]:
    """Return the features of many columns, by their place among the candidates."""
    found: dict[int, LargeFeature] = {}
    for f, J in candidates.wide.items():
        if len(J) < LARGE:
            continue
        t = _offsets(X, J) if int(candidates.ids[f]) in candidates.coded else None
        if t is None:
            J, G = independent_columns(X, geometry, {f: J})[f]
            found[f] = LargeFeature(J, None, G)
        else:
            found[f] = LargeFeature(J, t, None, find_levels(X, J) if geometry.can_lead else None)
    return found


def find_levels(X: ScaledMatrix, J: Indices) -> Levels:
    """Return the categorical column that columns J are the indicators of."""
    root = None if X.root is None else X.root[:]
    return Levels(X.matrix.levels_of(J), J, root)


def lead(large: LargeFeature, U: Any, leader: Levels) -> LedFeature | None:
    """Return a categorical feature as it is beside the one that leads; None if nothing is left."""
    levels = large.levels
    assert levels is not None
    dropped = levels.dependent([leader], np.zeros(1, dtype=np.intp))
    assert dropped is not None  # of one feature there are never too many groups
    kept = np.setdiff1d(np.arange(len(levels.columns)), dropped - 1)
    if not len(kept):
        return None
    levels = Levels(levels.codes, levels.columns, levels.root, kept)
    Z = levels.indicators()
    e = np.asarray(Z.multiply(Z).sum(axis=0)).ravel()
    return LedFeature(levels.columns[kept], levels, Z, sp.csc_array(U.T @ Z), e)


def depends_besides(large: LedFeature, taken: Sequence[Levels]) -> bool:
    """Leave out columns that depend on the features taken; say whether none is left."""
    levels = large.levels
    assert levels is not None
    n_levels = len(levels.totals)
    before = np.setdiff1d(np.arange(n_levels), 1 + levels.places)
    dropped = levels.dependent(taken, before)
    if dropped is None or len(dropped) <= len(before):
        return False
    kept = np.flatnonzero(~np.isin(1 + levels.places, dropped))
    if len(kept):
        large.keep(kept)
    return not len(kept)


def _offsets(X: ScaledMatrix, J: Indices) -> Floats | None:
    """Return t of the indicators of a categorical column; None if the level left out is empty."""
    t = math.sqrt(X.total) * X.means[J] * X.factors[J]
    share_left_out = 1.0 - float((t * t / (1.0 + t * t)).sum())
    return t if share_left_out > _NO_PIVOT else None
