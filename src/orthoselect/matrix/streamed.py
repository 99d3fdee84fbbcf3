"""The geometry of columns that are read in blocks of rows, and never whole.

The basis Q of the selected columns is made anew in each pass, of the rows at hand (`remade.py`):
always the same Q, as it would be if it were kept. One pass over the columns in question reduces
what is left of them, and the response, to a triangular factor (`factor.py`), a few numbers with
the same inner products. The row weights lead all columns: projecting them out is centering, to the
last digit.

Notation as in geometry.py; u (N,) the square roots of the row weights, at norm one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.basis import (
    ROUNDINGS,
    Basis,
    dependence_floors,
    independent_columns,
    take_best_first,
)
from orthoselect.matrix.factor import Factor
from orthoselect.matrix.geometry import Direction, Geometry, Measured
from orthoselect.matrix.remade import RemadeBasis
from orthoselect.matrix.rows import Rows

if TYPE_CHECKING:
    from orthoselect.matrix.centered import CenteredMatrix


class StreamedGeometry(Geometry):
    """With nothing of N rows in memory but the response and the weights.

    Parameters
    ----------
    X : CenteredMatrix
        Of a matrix that comes in blocks.
    V : rows of shape (N, m)
    """

    def __init__(self, X: CenteredMatrix, V: Rows) -> None:
        self._X, self._V = X, V
        self._unit = X.total**-0.5
        self._basis = RemadeBasis()  # u, then a direction for each of S
        self._basis.add(np.zeros(0))
        self._basis.settle(np.ones((1, 1)))

    def independent(self, blocks: Sequence[Indices]) -> list[Indices]:
        if not blocks:
            return []
        J = np.concatenate(blocks)
        cuts = np.cumsum([len(block) for block in blocks])[:-1]
        places = np.split(np.arange(len(J)), cuts)

        merged = self._X.reduce_columns(
            J, partial(_factors_of, self._unit, places), _merge_factors, [self._V]
        )
        sizes = [self._X.sizes[block] for block in blocks]
        return [independent_columns(f.R[1:, 1:], size) for f, size in zip(merged, sizes)]

    def measure(self, S: Sequence[int], J: Indices, L: Floats) -> Measured:
        factor, H = self._factor(S, J, L)
        norms, sizes = np.sqrt(factor.squares), self._X.sizes
        depends = norms <= dependence_floors(_triangle(L, S), sizes[list(S)], H, sizes[J])
        return Measured(factor.UtW, factor.squares, depends)

    def block_gain(self, S: Sequence[int], J: Indices, L: Floats) -> tuple[int, float]:
        _, basis, along = self._orthogonalize(S, J, L)
        return basis.k - len(S), float((along**2).sum())

    def take(self, S: Sequence[int], J: Indices, L: Floats) -> list[Direction]:
        order = J.tolist()
        if len(J) > 1:
            order, basis, _ = self._orthogonalize(S, J, L)
            together = self._take_together(S, order, L, basis)
            if together is not None:
                return together
        S, found = list(S), []
        for j in order:
            new = self._take_one(S, j, L)
            S, L = S + [j] * len(new), np.concatenate([L, *(one.row[None] for one in new)])
            found += new
        return found

    def _take_together(
        self, S: Sequence[int], kept: list[int], L: Floats, basis: Basis
    ) -> list[Direction] | None:
        """Take several columns with one pass more; None if they hardly differ beyond rounding."""
        R, k = basis.R, len(S)
        for s in range(k, basis.k):
            self._basis.add(np.append(0.0, R[:s, s]), R[s, s])
        return self._directions(S, kept, L, basis.reaches[k:])

    def _take_one(self, S: Sequence[int], j: int, L: Floats) -> list[Direction]:
        """Take one column with one pass; nothing if it depends on those before it."""
        self._extend(S, L)
        self._basis.add(np.append(0.0, L[:, j]))
        sizes = self._X.sizes
        floors = dependence_floors(_triangle(L, S), sizes[list(S)], L[:, [j]], sizes[[j]])
        return self._directions(S, [j], L, floors / ROUNDINGS, float(floors[0])) or []

    def gains_together(self, S: Sequence[int], J: Indices) -> Floats:
        work = partial(_factor_of, self._unit)
        factor = self._X.reduce_columns(J, work, Factor.merge, [self._V])
        return (factor.K[1:] ** 2).sum(axis=1)

    def _orthogonalize(
        self, S: Sequence[int], J: Indices, L: Floats
    ) -> tuple[list[int], Basis, Floats]:
        """Return those of J that add a direction, the basis of S and them, and Q'V for them.

        Columns are told by their coordinates: along Q, and along what is left of those of J.
        """
        factor, H = self._factor(S, J, L, leading=True)
        sizes, k, p = self._X.sizes, len(S), len(J)
        basis = Basis(k + p)
        basis.extend(np.concatenate([_triangle(L, S), np.zeros((p, k))]), sizes[list(S)])
        A = np.concatenate([H, factor.R[k + 1 :, k + 1 :]])
        kept = J[take_best_first(basis, A, sizes[J])].tolist()
        return kept, basis, basis.Q[k:, k:].T @ factor.K[k + 1 :]

    def _directions(
        self, S: Sequence[int], J: list[int], L: Floats, roundings: Floats, least: float = 0.0
    ) -> list[Direction] | None:
        """Return the directions added last, one for each of J, made orthonormal, and their rows.

        How far they are from that is seen in the products of the same pass. None if any has no
        more length than the least that it should have.

        Parameters
        ----------
        roundings : array of shape (len(J),)
            What one rounding of each column may do to the directions as they were added.
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
        self, S: Sequence[int], J: Indices, L: Floats, *, leading: bool = False
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

    def _extend(self, S: Sequence[int], L: Floats) -> None:
        """Bring the basis up to the columns that were taken without it."""
        for s in range(len(self._basis) - 1, len(S)):
            self._basis.add(np.append(0.0, L[:s, S[s]]), float(L[s, S[s]]))


def _triangle(L: Floats, S: Sequence[int]) -> Floats:
    """Return Q'X_S, (k, k)."""
    return np.triu(L[:, list(S)])


def _lead(unit: float, A: Floats, root: Floats | None) -> Floats:
    """Return [u A]."""
    u = np.full(len(A), unit) if root is None else unit * root
    return np.column_stack([u, A])


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


def _factor_of(unit: float, A: Floats, root: Floats | None, V: Floats) -> Factor:
    """Reduce u and columns A, leading, and the response."""
    return Factor.of(_lead(unit, A, root), A[:, :0], V)


def _factors_of(
    unit: float, places: Sequence[Indices], A: Floats, root: Floats | None, V: Floats
) -> list[Factor]:
    """Reduce u and some columns of A, leading, for each choice of columns."""
    return [_factor_of(unit, A[:, at], root, V) for at in places]


def _merge_factors(a: list[Factor], b: list[Factor]) -> list[Factor]:
    return [x.merge(y) for x, y in zip(a, b)]
