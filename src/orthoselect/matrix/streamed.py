"""The geometry of columns that are read in blocks of rows, and never whole.

One pass over the columns in question and the response reduces them to a triangular factor
(`factor.py`), a few numbers with the same inner products; whatever orthogonalization has to tell,
it tells of those. The row weights lead all columns: projecting them out is centering, to the last
digit. A direction q is never written down. It is known by its coefficients in the columns, and
q'X takes one more pass.

Notation as in geometry.py; u (N,) the square roots of the row weights, at norm one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.basis import Basis, dependence_floors, orthonormalize
from orthoselect.matrix.factor import Factor
from orthoselect.matrix.geometry import Direction, Geometry, Measured
from orthoselect.matrix.rows import Rows

if TYPE_CHECKING:
    from orthoselect.matrix.centered import CenteredMatrix


@dataclass(frozen=True)
class _Pending:
    """A direction that has been measured: its coefficients in S and its own column, and q'V."""

    S: list[int]
    B: Floats
    along: Floats


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
        self._measured: dict[int, _Pending] = {}  # columns measured last

    def independent(self, blocks: Sequence[Indices]) -> list[NDArray[np.bool_]]:
        if not blocks:
            return []
        J = np.concatenate(blocks)
        cuts = np.cumsum([len(block) for block in blocks])[:-1]
        places = np.split(np.arange(len(J)), cuts)

        merged = self._X.reduce_columns(
            J, partial(_factors_of, self._unit, places), _merge_factors, [self._V]
        )
        sizes = [self._X.sizes[block] for block in blocks]
        return [orthonormalize(f.R[1:, 1:], size)[1] for f, size in zip(merged, sizes)]

    def measure(self, S: Sequence[int], J: Indices) -> Measured:
        factor, sizes = self._factor(S, J), self._X.sizes
        R, H = factor.R[1:, 1:], factor.H[1:]  # what lies along u is no part of centered columns
        norms = np.sqrt(factor.squares)
        depends = norms <= dependence_floors(R, sizes[list(S)], H, sizes[J])
        self._remember(list(S), J[~depends], R, H[:, ~depends], norms[~depends],
                       factor.UtW[:, ~depends])  # fmt: skip
        return Measured(factor.UtW, factor.squares, depends)

    def _remember(
        self, S: list[int], J: Indices, R: Floats, H: Floats, norms: Floats, UtW: Floats
    ) -> None:
        """Keep the directions of columns J, should one of them be taken."""
        b = solve_triangular(R, H) if S else H
        B = np.concatenate([-b, np.ones((1, len(J)))]) / norms
        self._measured = {
            int(j): _Pending(S, B[:, [i]], UtW[:, [i]].T / norms[i]) for i, j in enumerate(J)
        }

    def block_gain(self, S: Sequence[int], J: Indices) -> tuple[int, float]:
        _, basis, along = self._orthogonalize(S, J)
        return basis.k - len(S), float((along**2).sum())

    def take(self, S: Sequence[int], J: Indices, L: Floats) -> list[Direction]:
        known = self._measured.get(int(J[0])) if len(J) == 1 else None
        if known is not None and list(S) == known.S:
            return self._directions(S, J.tolist(), known.B, known.along, L)
        kept, basis, along = self._orthogonalize(S, J)
        return self._directions(S, kept, basis.coefficients(len(S)), along, L)

    def gains_together(self, S: Sequence[int], J: Indices) -> Floats:
        factor = self._factor(J.tolist(), np.zeros(0, dtype=np.intp))
        return (factor.K[1:] ** 2).sum(axis=1)

    def _orthogonalize(self, S: Sequence[int], J: Indices) -> tuple[list[int], Basis, Floats]:
        """Return those of J that add a direction, the basis of S and them, and Q'V for them."""
        factor = self._factor([*S, *J.tolist()], np.zeros(0, dtype=np.intp))
        A, sizes, k = factor.R[1:, 1:], self._X.sizes, len(S)
        basis = Basis(len(A))
        basis.extend(A[:, :k], sizes[list(S)])
        kept = [int(j) for i, j in enumerate(J) if basis.append(A[:, k + i], sizes[j])]
        return kept, basis, basis.Q[:, k:].T @ factor.K[1:]

    def _directions(
        self, S: Sequence[int], J: list[int], B: Floats, along: Floats, L: Floats
    ) -> list[Direction]:
        """Return the directions Q = X_SJ B, made orthonormal once more, and their rows.

        Where little is left of a column its coefficients are large, and rounding carries Q off a
        bit. How far is seen in the products of the same pass.
        """
        if not J:
            return []
        QtX, XtQ, QtQ = self._X.cross_of(np.array([*S, *J], dtype=np.intp), B)
        k = len(S)
        if k:
            H = solve_triangular(L[:, list(S)], XtQ[:k], trans="T")  # Q_S'Q, (k, p)
            QtX, QtQ = QtX - H.T @ L, QtQ - H.T @ H
        T = cholesky(QtQ)
        return list(map(Direction, J, solve_triangular(T, QtX, trans="T"), along))

    def _factor(self, S: Sequence[int], J: Indices) -> Factor:
        """Reduce columns S, leading, columns J and the response, in one pass."""
        both = np.concatenate([np.array(S, dtype=np.intp), J])
        work = partial(_factor_of, self._unit, len(S))
        return self._X.reduce_columns(both, work, Factor.merge, [self._V])


def _factor_of(unit: float, k: int, A: Floats, root: Floats | None, V: Floats) -> Factor:
    """Reduce u and the first k of columns A, leading, the others and the response."""
    u = np.full(len(A), unit) if root is None else unit * root
    return Factor.of(np.column_stack([u, A[:, :k]]), A[:, k:], V)


def _factors_of(
    unit: float, places: Sequence[Indices], A: Floats, root: Floats | None, V: Floats
) -> list[Factor]:
    """Reduce u and some columns of A, all leading, for each choice of columns."""
    return [_factor_of(unit, len(at), A[:, at], root, V) for at in places]


def _merge_factors(a: list[Factor], b: list[Factor]) -> list[Factor]:
    return [x.merge(y) for x, y in zip(a, b)]
