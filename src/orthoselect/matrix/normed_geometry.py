"""What real columns say where nothing is centered, as for the older criteria.

The twins of geometry.py. Notation as there; Z (N, q) are the responses, and W_c = W - uu'W is what
is left of columns without their means.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.basis import (
    ROUNDINGS,
    Basis,
    RemadeBasis,
    column_squares,
    dependence_floors,
)
from orthoselect.matrix.geometry import Direction, in_batches
from orthoselect.matrix.triangle import Factor

if TYPE_CHECKING:
    from orthoselect.matrix.scaled import ScaledMatrix

_WRITTEN_BYTES = 1 << 25  # of a few columns that are kept written out


class NormedMeasured(NamedTuple):
    """What is left of columns J."""

    C: Floats  # Z'W, (q, len(J))
    a: Floats  # u'W, (len(J),)
    d: Floats  # squared norms of W, (len(J),)
    C_centered: Floats  # Z'W_c, (q, len(J))
    d_centered: Floats  # squared norms of W_c, (len(J),)
    floors: Floats  # the norm below which what is left is only rounding, (len(J),)


class NormedGeometry(ABC):
    """Residual products of real columns, given those taken so far."""

    @abstractmethod
    def measure(self, J: Indices) -> NormedMeasured:
        """Return what is left of each of columns J, one by one."""

    @abstractmethod
    def take(self, j: int) -> Direction | None:
        """Take column j; return its direction, None if it depends on those taken before."""


def normed_geometry(
    X: ScaledMatrix, Z: Floats, u: Floats, among: Indices | None = None
) -> NormedGeometry:
    """Return what can ask the real columns of X, or a few of them; nothing of it is centered."""
    if X.matrix.memory is not None:
        return StreamedNormedGeometry(X, Z, u)
    if among is not None and 8 * X.shape[0] * len(among) > _WRITTEN_BYTES:
        among = None
    return RowNormedGeometry(X, Z, u, among)


class RowNormedGeometry(NormedGeometry):
    """With the basis Q in memory, N rows; Z is (N, q), u (N,).

    If only columns `among` are going to be asked for, they are written out once, and no others are
    read: rows of directions are zero elsewhere. Many rows are turned into few, by a triangular
    factor of these columns with Z and u: that changes no product, and squares nothing.
    """

    def __init__(self, X: ScaledMatrix, Z: Floats, u: Floats, among: Indices | None = None) -> None:
        self._X, self._Z, self._u, self._among = X, Z, u, among
        self._written: Floats | None = None
        if among is not None:
            p = len(among)
            both = np.column_stack([X.columns(among), Z, u])
            if len(both) > both.shape[1]:
                both = np.asarray(np.linalg.qr(both, mode="r"))
            self._written, self._Z, self._u = both[:, :p], both[:, p:-1], both[:, -1]
            self._place = {j: place for place, j in enumerate(among.tolist())}
        self._basis = Basis(len(self._u))

    def _columns(self, J: Indices) -> Floats:
        if self._written is None:
            return self._X.columns(J)
        return self._written[:, [self._place[j] for j in J.tolist()]]

    def measure(self, J: Indices) -> NormedMeasured:
        return in_batches(self._measure, J, len(self._u))

    def _measure(self, J: Indices) -> NormedMeasured:
        W, H = self._basis.residual(self._columns(J))
        W_c = W
        for _ in range(2):  # the first mean is itself rounded
            W_c = W_c - self._u[:, None] * (self._u @ W_c)
        return NormedMeasured(
            self._Z.T @ W,
            self._u @ W,
            column_squares(W),
            self._Z.T @ W_c,
            column_squares(W_c),
            self._basis.floors(H, self._X.sizes[J]),
        )

    def take(self, j: int) -> Direction | None:
        column = self._columns(np.array([j]))[:, 0]
        if not column.any() or not self._basis.append(column, float(self._X.sizes[j])):
            return None
        v = self._basis.Q[:, -1:]
        along, mean = self._Z.T @ v[:, 0], float(self._u @ v[:, 0])
        return Direction(j, self._row(v), along, float(self._basis.reaches[-1]), mean)

    def _row(self, v: Floats) -> Floats:
        """Return the products of a direction (N, 1) with the columns."""
        if self._among is None or self._written is None:
            return self._X.cross(v)[0]
        row = np.zeros(self._X.shape[1])
        row[self._among] = self._written.T @ v[:, 0]
        return row


class StreamedNormedGeometry(NormedGeometry):
    """With nothing of N rows in memory but the responses Z (N, q) and the weights u (N,).

    The rows of Q are made anew in each pass (`RemadeBasis`). What is left of columns is reduced to
    triangular factors (`Factor`) with Q and then u leading.
    """

    def __init__(self, X: ScaledMatrix, Z: Floats, u: Floats) -> None:
        self._X, self._Z, self._u = X, Z, u
        self._S: list[int] = []
        self._basis = RemadeBasis()
        self._L = np.zeros((0, X.shape[1]))  # Q'X

    def measure(self, J: Indices) -> NormedMeasured:
        S, k, sizes = self._S, len(self._S), self._X.sizes
        columns = np.concatenate([np.array(S, dtype=np.intp), J])
        work = partial(_factor_of, self._basis, self._L[:, J])
        factor = self._X.reduce_columns(columns, work, Factor.merge, [self._u, self._Z])
        # In the basis [Q, what is left of u, the rest]: u = (up, nu, 0), W = (0, alpha, rest).
        up, nu = factor.R[:k, k], factor.R[k, k]
        alpha, kappa = factor.H[k], factor.K[k]
        mean_part = np.outer(kappa * (up @ up) - nu * (up @ factor.K[:k]), alpha)
        return NormedMeasured(
            np.outer(kappa, alpha) + factor.UtW,
            nu * alpha,
            alpha**2 + factor.squares,
            mean_part + factor.UtW,
            alpha**2 * (up @ up) + factor.squares,
            dependence_floors(np.triu(self._L[:, S]), sizes[S], self._L[:, J], sizes[J]),
        )

    def take(self, j: int) -> Direction | None:
        S, sizes, k = self._S, self._X.sizes, len(self._S)
        if not self._X.alive[j]:
            return None
        h = self._L[:, [j]]
        self._basis.add(h[:, 0])
        columns, others = np.array([*S, j], dtype=np.intp), [self._Z, self._u]
        make = partial(_remade_rows, self._basis)
        PtX, products, ZtP, utP = self._X.cross_of(columns, make, k, *others)
        norm2 = float(products[k, k] - products[:k, k] @ products[:k, k])
        floor = float(dependence_floors(np.triu(self._L[:, S]), sizes[S], h, sizes[[j]])[0])
        if norm2 <= floor**2:
            self._basis.drop()
            return None
        T = cholesky(products)
        self._basis.settle(T)
        row = (PtX[0] - T[:k, k] @ self._L) / T[k, k]
        along = solve_triangular(T, np.column_stack([ZtP.T, utP]), trans="T")[k]
        self._S, self._L = [*S, j], np.concatenate([self._L, row[None]])
        reach = floor / ROUNDINGS / float(T[k, k])
        return Direction(j, row, along[:-1], reach, float(along[-1]))


def _remade_rows(basis: RemadeBasis, A: Floats, root: Floats | None) -> Floats:
    return basis.rows(A)


def _factor_of(
    basis: RemadeBasis, H: Floats, A: Floats, root: Floats | None, u: Floats, Z: Floats
) -> Factor:
    """Reduce the rows of [Q u], leading, W and Z, with the columns of the basis first in A."""
    k = len(basis)
    Q = basis.rows(A[:, :k])
    return Factor.of(np.column_stack([Q, u]), basis.residuals(A[:, k:], Q, H), Z)
