"""What real columns say: residuals and directions of columns, given those selected.

Products of the table with itself lose digits where columns are nearly dependent. A geometry goes
back to the columns, orthogonalizes them, and answers with all the digits that were stored: of
columns in memory (`RowGeometry`), or of columns that are read in blocks of rows, and never whole
(`StreamedGeometry`).

Notation: X (N, n) the centered matrix, V (N, m) the response basis; S the columns selected, in
order, all independent; Q (N, k) their orthonormal basis; J the columns asked about; W what is left
of them, W = X_J - QQ'X_J; L (k, n) the rows Q'X; u (N,) the square roots of the row weights, at
norm one. S only ever grows. Where nothing is centered, as for the older criteria, there are twins
of all this in normed_geometry.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from orthoselect.lazy import lazy
from orthoselect.matrix.base import EPS, Floats, Indices
from orthoselect.matrix.basis import (
    ROUNDINGS,
    Basis,
    RemadeBasis,
    column_squares,
    dependence_floors,
    independent_columns,
    take_best_first,
)
from orthoselect.matrix.rows import Rows
from orthoselect.matrix.triangle import Factor

if TYPE_CHECKING:
    from orthoselect.matrix.scaled import ScaledMatrix

_BATCH_BYTES = 1 << 25
_KEPT = 4  # residuals kept of the columns measured last, should one of them be taken


class Measured(NamedTuple):
    """What is left of columns J."""

    C: Floats  # V'W, (m, len(J))
    d: Floats  # squared norms of W, (len(J),)
    depends: NDArray[np.bool_]  # whether what is left is only rounding, (len(J),)


class Direction(NamedTuple):
    """A new orthonormal direction q, made from a column of J."""

    column: int  # one of J that does not depend on those before it
    row: Floats  # q'X, (n,)
    along: Floats  # q'V, (m,)
    reach: float  # what one rounding of each of the columns that q is made of may do to it
    mean: float = 0.0  # u'q; zero where columns are centered


def in_batches(measure: Callable[[Indices], Any], J: Indices, N: int) -> Any:
    """Measure columns J of N rows in little memory; return what was found of all of them."""
    width = max(1, _BATCH_BYTES // (8 * N))
    parts = [measure(J[start : start + width]) for start in range(0, max(len(J), 1), width)]
    if len(parts) == 1:
        return parts[0]
    return type(parts[0])(*(np.concatenate(arrays, axis=-1) for arrays in zip(*parts)))


class Geometry(ABC):
    """Residual products of real columns, given the selected ones.

    L are the rows of S as the state knows them, (len(S), n), to a few digits less than all; not
    asked for where the basis is in memory.
    """

    asks_for_rows = False  # whether L is needed
    can_lead = False  # whether `lead` may be called

    @abstractmethod
    def independent(self, blocks: Sequence[Indices]) -> list[Indices]:
        """Return for each block, at least one, the places of columns that its others depend on.

        Those that are known best come first.
        """

    @abstractmethod
    def measure(self, S: list[int], J: Indices, L: Floats) -> Measured:
        """Return what is left of each of columns J, one by one."""

    @abstractmethod
    def block_gain(self, S: list[int], J: Indices, L: Floats) -> tuple[int, float]:
        """Return how many directions columns J add together, and the squared norm of V'Q there."""

    @abstractmethod
    def take(self, S: list[int], J: Indices, L: Floats) -> list[Direction]:
        """Return the directions that columns J add, which are selected from now on."""

    def lie_in(
        self, S: list[int], combinations: Floats, Z: Any, solve: Callable[[Floats], Floats]
    ) -> bool:
        """Whether combinations of Q, (k, count), lie in the span of what is left of columns Z.

        Z (N, p) is sparse, its columns not centered; what is left of them, beside the constant and
        beside U, has inner products D. `solve` gives D^{-1}b. False if it would take long to find
        out.
        """
        return False

    def lead(self, U: Any) -> Floats:
        """Take the orthonormal columns of U, sparse, before all others; return U'V, (z, m).

        From now on all columns are what is left of them beside U, and S are those taken besides.
        """
        raise NotImplementedError("rows that are read in blocks have no sparse directions")

    def products_with(self, U: Any, J: Indices) -> Floats:
        """Return U'X of columns J as they are, (z, len(J)), for a sparse U."""
        raise NotImplementedError("rows that are read in blocks have no sparse directions")

    def constant_within(self, levels: NDArray[np.integer], J: Indices) -> NDArray[np.bool_]:
        """Return which of columns J are the same in all rows of each level, to the last bit.

        None of them if it would take long to find out.
        """
        return np.zeros(len(J), dtype=bool)

    @abstractmethod
    def gains_together(self, S: list[int], J: Indices) -> Floats:
        """Return what each of columns J, all independent, S the first of them, adds in order."""


class RowGeometry(Geometry):
    """With the basis Q in memory, N rows."""

    can_lead = True

    def __init__(self, X: ScaledMatrix, V: Rows) -> None:
        self._X, self._rows = X, V
        self._U: Any = None  # sparse directions that were taken before all others
        self._residuals: dict[int, tuple[Floats, Floats]] = {}  # of columns measured last

    # Mostly nobody needs these two: products are enough.

    @lazy
    def _basis(self) -> Basis:
        return Basis(self._X.shape[0])

    @lazy
    def _V(self) -> Floats:
        """The response basis written out."""
        return self._rows[:]

    def independent(self, blocks: Sequence[Indices]) -> list[Indices]:
        return [independent_columns(self._X.columns(J), self._X.sizes[J]) for J in blocks]

    def measure(self, S: list[int], J: Indices, L: Floats) -> Measured:
        self._extend(S)
        return in_batches(self._measure, J, self._X.shape[0])

    def _measure(self, J: Indices) -> Measured:
        return self.measure_columns(J, self._columns(J))

    def measure_columns(self, J: Indices, A: Floats) -> Measured:
        """Measure columns J that are at hand, A (N, len(J)), beside all that were taken."""
        W, H = self._basis.residual(A)
        d = column_squares(W)
        if len(J) <= _KEPT:
            self._residuals = {int(j): (W[:, i], H[:, i]) for i, j in enumerate(J)}
        return Measured(self._V.T @ W, d, np.sqrt(d) <= self._basis.floors(H, self._X.sizes[J]))

    def block_gain(self, S: list[int], J: Indices, L: Floats) -> tuple[int, float]:
        self._extend(S)
        before = self._basis.k
        self._append(J)
        along = self._V.T @ self._basis.Q[:, before:]
        rank = self._basis.k - before
        self._basis.truncate(before)
        return rank, float((along**2).sum())

    def take(self, S: list[int], J: Indices, L: Floats) -> list[Direction]:
        self._extend(S)
        basis, k = self._basis, self._basis.k
        if len(J) == 1 and self._U is None:  # the matrix may have a quick way
            j, Qt = int(J[0]), basis.room()
            made = self._X.direction(j, Qt, k)
            if made is not None:
                row, h, norm = made
                if not basis.accept(h, norm, float(self._X.sizes[j])):
                    return []
                return [Direction(j, row, Qt[k] @ self._V, float(basis.reaches[k]))]
        kept = self._append(J)
        Q = basis.Q[:, k:]
        along = np.ascontiguousarray((self._V.T @ Q).T)
        return list(map(Direction, kept, self._X.cross(Q), along, basis.reaches[k:]))

    def direct(self, S: list[int], j: int, x: Floats) -> tuple[Floats, Floats, float] | None:
        """Take column j, which is x (N,); return its direction q (N,), q'V (m,) and its reach.

        None if it depends on those taken, S. Its products with all columns are not asked for.
        """
        self._extend(S)
        if not self._basis.append(x, float(self._X.sizes[j])):
            return None
        q = self._basis.Q[:, -1]
        return q, self._V.T @ q, float(self._basis.reaches[-1])

    def basis(self, S: list[int]) -> Floats:
        """Return the directions of columns S, (N, k)."""
        self._extend(S)
        return self._basis.Q

    def keep(self, k: int) -> None:
        """Count so many directions as taken, of those that `direct` has made, and no others yet."""
        self._basis.truncate(k)

    def lie_in(
        self, S: list[int], combinations: Floats, Z: Any, solve: Callable[[Floats], Floats]
    ) -> bool:
        self._extend(S)
        basis, root = self._basis, self._X.root
        one = np.ones((len(self._rows), 1)) if root is None else root[:, None]
        one = one / np.linalg.norm(one)
        left, size = basis.Q @ combinations, np.zeros(combinations.shape[1])
        for _ in range(3):  # each time with what the rounding of the last has left
            part = Z @ solve(Z.T @ left)
            size = np.maximum(size, np.sqrt(column_squares(part)))
            left = left - self._beside(part - one * (one.T @ part))
        reaches = basis.reaches @ np.abs(combinations)
        norms = np.sqrt(column_squares(left))
        return bool((norms <= ROUNDINGS * (EPS * (1.0 + size) + reaches)).all())

    def lead(self, U: Any) -> Floats:
        self._U, self._residuals = U, {}
        self.__dict__.pop("_basis", None)  # made anew, of what is left of its columns
        return np.asarray(U.T @ self._V)

    def products_with(self, U: Any, J: Indices) -> Floats:
        total = np.empty((U.shape[1], len(J)))
        width = max(1, _BATCH_BYTES // (8 * U.shape[0]))
        for start in range(0, len(J), width):
            total[:, start : start + width] = U.T @ self._X.columns(J[start : start + width])
        return total

    def constant_within(self, levels: NDArray[np.integer], J: Indices) -> NDArray[np.bool_]:
        _, first, place = np.unique(levels, return_index=True, return_inverse=True)
        batches = (self._X.matrix.columns(part) for part in self._X.matrix._batches(J))
        return np.concatenate([(A[first][place] == A).all(axis=0) for A in batches])

    def _columns(self, J: Indices) -> Floats:
        """Return what is left of columns J beside U."""
        return self._beside(self._X.columns(J))

    def _beside(self, A: Floats) -> Floats:
        if self._U is not None:
            for _ in range(2):  # the first means are themselves rounded
                A = A - self._U @ (self._U.T @ A)
        return A

    def gains_together(self, S: list[int], J: Indices) -> Floats:
        self._extend(S)
        rest = J[self._basis.k :]
        self._basis.extend(self._columns(rest), self._X.sizes[rest])
        return ((self._V.T @ self._basis.Q) ** 2).sum(axis=0)

    def _append(self, J: Indices) -> list[int]:
        """Take columns into the basis; return those that do not depend on others, as taken."""
        return J[take_best_first(self._basis, self._columns(J), self._X.sizes[J])].tolist()

    def _extend(self, S: list[int]) -> None:
        """Bring the basis up to the columns that were taken without it."""
        if len(S) == self._basis.k:
            return
        k = self._basis.k
        new = np.array(S[k:], dtype=np.intp)
        w, h = self._residuals.get(int(new[0]), (None, None))
        # Measured just before it was taken, and not when the basis was a smaller one.
        if len(new) == 1 and w is not None and h is not None and len(h) == k:
            self._basis.push(w, h, self._X.sizes[new[0]])
            return
        self._basis.extend(self._columns(new), self._X.sizes[new])


class StreamedGeometry(Geometry):
    """With nothing of N rows in memory but the response and the weights.

    The basis Q of the selected columns is made anew in each pass, of the rows at hand
    (`RemadeBasis`): always the same Q, as it would be if it were kept. One pass over the columns in
    question reduces what is left of them, and the response, to a triangular factor (`Factor`), a
    few numbers with the same inner products. The row weights lead all columns: projecting them out
    is centering, to the last digit.
    """

    asks_for_rows = True

    def __init__(self, X: ScaledMatrix, V: Rows) -> None:
        self._X, self._V = X, V
        self._unit = X.total**-0.5
        self._basis = RemadeBasis()  # u, then a direction for each of S
        self._basis.add(np.zeros(0))
        self._basis.settle(np.ones((1, 1)))

    def independent(self, blocks: Sequence[Indices]) -> list[Indices]:
        J = np.concatenate(blocks)
        cuts = np.cumsum([len(block) for block in blocks])[:-1]
        places = np.split(np.arange(len(J)), cuts)

        merged = self._X.reduce_columns(
            J, partial(_factors_of, self._unit, places), _merge_factors, [self._V]
        )
        sizes = [self._X.sizes[block] for block in blocks]
        return [independent_columns(f.R[1:, 1:], size) for f, size in zip(merged, sizes)]

    def measure(self, S: list[int], J: Indices, L: Floats) -> Measured:
        factor, H = self._factor(S, J, L)
        norms, sizes = np.sqrt(factor.squares), self._X.sizes
        depends = norms <= dependence_floors(np.triu(L[:, S]), sizes[S], H, sizes[J])
        return Measured(factor.UtW, factor.squares, depends)

    def block_gain(self, S: list[int], J: Indices, L: Floats) -> tuple[int, float]:
        _, basis, along = self._orthogonalize(S, J, L)
        return basis.k - len(S), float((along**2).sum())

    def take(self, S: list[int], J: Indices, L: Floats) -> list[Direction]:
        order = J.tolist()
        if len(J) > 1:
            order, basis, _ = self._orthogonalize(S, J, L)
            for s in range(len(S), basis.k):
                self._basis.add(np.append(0.0, basis.R[:s, s]), basis.R[s, s])
            together = self._directions(S, order, L, basis.reaches[len(S) :])
            if together is not None:  # one by one if they hardly differ beyond rounding
                return together
        found: list[Direction] = []
        for j in order:
            new = self._take_one(S, j, L)
            S, L = S + [j] * len(new), np.concatenate([L, *(one.row[None] for one in new)])
            found += new
        return found

    def _take_one(self, S: list[int], j: int, L: Floats) -> list[Direction]:
        """Take one column with one pass; nothing if it depends on those before it."""
        self._extend(S, L)
        self._basis.add(np.append(0.0, L[:, j]))
        sizes = self._X.sizes
        floors = dependence_floors(np.triu(L[:, S]), sizes[S], L[:, [j]], sizes[[j]])
        return self._directions(S, [j], L, floors / ROUNDINGS, float(floors[0])) or []

    def gains_together(self, S: list[int], J: Indices) -> Floats:
        work = partial(_factors_of, self._unit, [np.arange(len(J))])
        (factor,) = self._X.reduce_columns(J, work, _merge_factors, [self._V])
        return (factor.K[1:] ** 2).sum(axis=1)

    def _orthogonalize(
        self, S: list[int], J: Indices, L: Floats
    ) -> tuple[list[int], Basis, Floats]:
        """Return those of J that add a direction, the basis of S and them, and Q'V for them.

        Columns are known by their coordinates: along Q, and along what is left of those of J.
        """
        factor, H = self._factor(S, J, L, leading=True)
        sizes, k, p = self._X.sizes, len(S), len(J)
        basis = Basis(k + p)
        basis.extend(np.concatenate([np.triu(L[:, S]), np.zeros((p, k))]), sizes[S])
        A = np.concatenate([H, factor.R[k + 1 :, k + 1 :]])
        kept = J[take_best_first(basis, A, sizes[J])].tolist()
        return kept, basis, basis.Q[k:, k:].T @ factor.K[k + 1 :]

    def _directions(
        self, S: list[int], J: list[int], L: Floats, roundings: Floats, least: float = 0.0
    ) -> list[Direction] | None:
        """Return the directions added last, one for each of J, made orthonormal, and their rows.

        How far they are from that is seen in the products of the same pass. None if any has no
        more length than the least that it should have. `roundings` (len(J),) is what one rounding
        of each column may do to the directions as they were added.
        """
        k = 1 + len(S)  # directions before, u among them
        columns, make = np.array([*S, *J], dtype=np.intp), partial(_remade, self._unit, self._basis)
        PtX, products, VtP = self._X.cross_of(columns, make, k, self._V)
        try:
            T = cholesky(products)
        except np.linalg.LinAlgError:
            T = np.zeros_like(products)
        lengths = T.diagonal()[k:]
        if (lengths <= least).any():
            self._basis.drop()
            return None
        self._basis.settle(T)
        QtV = np.ascontiguousarray(solve_triangular(T, VtP.T, trans="T")[k:])
        QtX = solve_triangular(T[k:, k:], PtX - T[1:k, k:].T @ L, trans="T")
        reaches = (roundings / lengths).tolist()
        return list(map(Direction, J, np.ascontiguousarray(QtX), QtV, reaches))

    def _factor(
        self, S: list[int], J: Indices, L: Floats, *, leading: bool = False
    ) -> tuple[Factor, Floats]:
        """Reduce u and Q, leading, what is left of columns J and the response, in one pass.

        Returns the factor, where J may be among those that lead, and Q'X_J.
        """
        self._extend(S, L)
        columns = np.concatenate([np.array(S, dtype=np.intp), J])
        H = np.concatenate([np.zeros((1, len(J))), L[:, J]])
        work = partial(_left_factor_of, self._unit, self._basis, H, leading)
        factor = self._X.reduce_columns(columns, work, Factor.merge, [self._V])
        k = 1 + len(S)
        signs = np.where(factor.R.diagonal()[:k] < 0, -1.0, 1.0)[:, None]
        T, rest = signs * factor.R[:k, :k], factor.R[:k, k:] if leading else factor.H
        self._basis.settle(T)
        return factor, (T @ H + signs * rest)[1:]

    def _extend(self, S: list[int], L: Floats) -> None:
        """Bring the basis up to the columns that were taken without it."""
        for s in range(len(self._basis) - 1, len(S)):
            self._basis.add(np.append(0.0, L[:s, S[s]]), float(L[s, S[s]]))


def _lead(unit: float, A: Floats, root: Floats | None) -> Floats:
    """Return [u A]."""
    u = np.full(len(A), unit) if root is None else unit * root
    return np.column_stack([u, A])


def triangle_of(X: ScaledMatrix, J: Indices, V: Rows) -> tuple[Floats, Floats, Floats]:
    """Reduce columns J and the response V, (N, m), to R (p, p) and z (p, m), in one read of J.

    R'R = X_J'X_J and R'z = X_J'V; nothing is squared, so that no digits are lost. Also returned
    are the norms below which what is left of a column is only rounding, (p,).
    """
    unit = 1.0 / np.sqrt(X.total)
    work = partial(_triangle_of, unit if X.centered else None)
    factor = X.reduce_columns(J, work, Factor.merge, [V])
    first = 1 if X.centered else 0
    sizes = X.sizes[J]
    floors = ROUNDINGS * (sizes + float(sizes.max(initial=0.0)))
    return factor.R[first:, first:], factor.K[first:], floors


def _triangle_of(unit: float | None, A: Floats, root: Floats | None, V: Floats) -> Factor:
    """Reduce the rows of [A V]; the constant leads where columns are centered."""
    A = A if unit is None else _lead(unit, A, root)
    return Factor.of(A, A[:, :0], V)


def _remade(unit: float, basis: RemadeBasis, A: Floats, root: Floats | None) -> Floats:
    return basis.rows(_lead(unit, A, root))


def _left_factor_of(
    unit: float,
    basis: RemadeBasis,
    H: Floats,
    leading: bool,
    A: Floats,
    root: Floats | None,
    V: Floats,
) -> Factor:
    """Reduce the rows of [Q W V], with the columns of the basis first in A; W may lead, too."""
    k = len(basis) - 1
    Q = basis.rows(_lead(unit, A[:, :k], root))
    W = basis.residuals(A[:, k:], Q, H)
    if leading:
        return Factor.of(np.concatenate([Q, W], axis=1), W[:, :0], V)
    return Factor.of(Q, W, V)


def _factors_of(
    unit: float, places: Sequence[Indices], A: Floats, root: Floats | None, V: Floats
) -> list[Factor]:
    """Reduce u and some columns of A, leading, and the response, for each choice of columns."""
    return [Factor.of(_lead(unit, A[:, at], root), A[:, :0], V) for at in places]


def _merge_factors(a: list[Factor], b: list[Factor]) -> list[Factor]:
    return [x.merge(y) for x, y in zip(a, b)]
