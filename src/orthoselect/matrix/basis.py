"""Columns made orthonormal one after the other: the one home of linear dependence.

Notation: Q (N, k) orthonormal columns so far, R (k, k) upper triangular with A = QR for the
columns A that were kept, H = Q'X the coefficients of further columns X.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtrs

from orthoselect.matrix.base import Floats, Indices

# How many roundings of the stored numbers may separate a column from the span of others before
# it counts as independent of them. Columns that were computed from others (sums, unit changes,
# products with a mixing matrix) are a few roundings off; what is further away was measured.
ROUNDINGS = 32.0
_MUCH_LEFT = 0.1  # of the squared norm
_MANY_ROWS = 1 << 14


class Basis:
    """An orthonormal basis that grows by the columns it is given, in their order.

    A column x depends on the basis when changing the stored numbers, its own and those of the
    columns before it, by a few roundings would make it dependent. With x = A b + w, that is
    ||w|| <= ROUNDINGS * (size(x) + sum_s |b_s| size(a_s)), where size is one rounding of the
    stored column: precision times its norm before centering. Scale, offset and conditioning are
    so judged by what they cost, never by an absolute number.

    Parameters
    ----------
    N : int
        Length of the columns.
    """

    def __init__(self, N: int) -> None:
        capacity = 64 if N < _MANY_ROWS else 8
        self._store = np.empty((N, capacity), order="F")
        self._R = np.zeros((capacity, capacity))
        self._sizes = np.zeros(capacity)
        self._reach = np.zeros(capacity)  # bounds of sizes @ |inverse of R|
        self.k = 0

    @property
    def Q(self) -> Floats:
        """The orthonormal columns, (N, k)."""
        return self._store[:, : self.k]

    def residual(self, X: Floats) -> tuple[Floats, Floats]:
        """Return W = X - QQ'X, orthogonalized twice, and H = Q'X, (k, X.shape[1]).

        Once is enough where much is left: then nothing was lost to cancellation.
        """
        H = self.Q.T @ X
        W = X - self.Q @ H
        if not self.k or (_squares(W) >= _MUCH_LEFT * _squares(X)).all():
            return W, H
        again = self.Q.T @ W
        W -= self.Q @ again
        return W, H + again

    def floors(self, H: Floats, sizes: Floats) -> Floats:
        """Return the norm below which each residual is only rounding."""
        return dependence_floors(self.R, self._sizes[: self.k], H, sizes)

    @property
    def R(self) -> Floats:
        """The triangular factor of the columns taken, (k, k)."""
        return self._R[: self.k, : self.k]

    @property
    def reaches(self) -> Floats:
        """Bounds of what one rounding of each column may do to each direction, (k,)."""
        return self._reach[: self.k]

    def push(self, w: Floats, h: Floats, size: float) -> None:
        """Take a column whose residual w and coefficients h are known."""
        norm = float(np.linalg.norm(w))
        self._push(w / norm, h, norm, size)

    def room(self) -> Floats:
        """Return the directions as rows, (more than k, N): the next one may be written there."""
        self._grow()
        return self._store.T

    def accept(self, h: Floats, norm: float, size: float) -> bool:
        """Take the direction that was written where there is room, unless its column depends.

        The column had h of those before it, (k,), and `norm` beside them.
        """
        # The norm is mostly far above what could be rounding, and a bound of that will do.
        reach = self._reach_of(h, size)
        if norm <= ROUNDINGS * reach and norm <= self.floors(h[:, None], np.array([size]))[0]:
            return False
        self._keep(h, norm, size, reach)
        return True

    def _reach_of(self, h: Floats, size: float) -> float:
        """Bound one rounding of a column, carried over from those before it, by what is known."""
        return size + float(np.abs(h) @ self._reach[: self.k])

    def extend(self, A: Floats, sizes: Floats) -> None:
        """Take columns that the caller knows to be independent, all at once."""
        W, H = self.residual(A)
        Q, R = np.linalg.qr(W)
        signs = np.where(R.diagonal() < 0, -1.0, 1.0)
        for i in range(A.shape[1]):
            h = np.concatenate([H[:, i], signs[:i] * R[:i, i]])
            self._push(signs[i] * Q[:, i], h, abs(float(R[i, i])), sizes[i])

    def truncate(self, k: int) -> None:
        """Forget all but the first k columns."""
        self.k = k

    def append(self, x: Floats, size: float) -> bool:
        """Take a column unless it depends on those before it; say whether it was taken."""
        W, H = self.residual(x[:, None])
        norm = float(np.linalg.norm(W))
        if norm <= self.floors(H, np.array([size]))[0]:
            return False
        self._push(W[:, 0] / norm, H[:, 0], norm, size)
        return True

    def _push(self, q: Floats, h: Floats, norm: float, size: float) -> None:
        self._grow()
        self._store[:, self.k] = q
        self._keep(h, norm, size, self._reach_of(h, size))

    def _grow(self) -> None:
        capacity = self._store.shape[1]
        if self.k == capacity:
            self._store = np.concatenate([self._store, np.empty_like(self._store)], axis=1)
            self._R = np.pad(self._R, (0, capacity))
            self._sizes = np.pad(self._sizes, (0, capacity))
            self._reach = np.pad(self._reach, (0, capacity))

    def _keep(self, h: Floats, norm: float, size: float, reach: float) -> None:
        """Count the direction in that stands in its place already."""
        k = self.k
        self._reach[k] = reach / norm
        self._R[:k, k] = h
        self._R[k, k] = norm
        self._sizes[k] = size
        self.k = k + 1


def dependence_floors(R: Floats, sizes_of_basis: Floats, H: Floats, sizes: Floats) -> Floats:
    """Return the norm below which what is left of columns is only rounding; see `Basis`.

    Parameters
    ----------
    R : array of shape (k, k)
        Triangular factor of the columns in the basis.
    sizes_of_basis : array of shape (k,)
        One rounding of each of those.
    H : array of shape (k, p)
        Coefficients of the columns in question.
    sizes : array of shape (p,)
    """
    if not len(R):
        return ROUNDINGS * sizes
    b, singular = dtrtrs(R, H)  # without the checks of `solve_triangular`, which take longer
    if singular:
        raise np.linalg.LinAlgError(f"direction {singular} of the basis has no length")
    return ROUNDINGS * (sizes + sizes_of_basis @ np.abs(b))


def _squares(A: Floats) -> Floats:
    return np.einsum("ij,ij->j", A, A)


def orthonormalize(A: Floats, sizes: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Orthonormal basis of the columns of A in their order, and which of them added to it.

    Parameters
    ----------
    A : array of shape (N, p)
        Centered columns.
    sizes : array of shape (p,)
        One rounding of each stored column; see `Basis`.

    Returns
    -------
    Q : array of shape (N, rank)
    kept : boolean array of shape (p,)

    Examples
    --------
    >>> A = np.array([[1.0, 2.0, 0.0], [-1.0, -2.0, 1.0], [0.0, 0.0, -1.0]])
    >>> Q, kept = orthonormalize(A, np.full(3, 2.2e-16))
    >>> kept
    array([ True, False,  True])
    """
    basis = Basis(A.shape[0])
    kept = np.array([basis.append(A[:, j], sizes[j]) for j in range(A.shape[1])], dtype=bool)
    return basis.Q, kept


def take_best_first(basis: Basis, A: Floats, sizes: Floats) -> list[int]:
    """Take columns into a basis, those that are known best first; return those that were taken.

    Next is always the column whose rest, given those in the basis, stands out most from its
    rounding. So a direction that several columns share is told by the one that tells it best,
    whatever their order: others may depend on what is known of it, if that is little.

    Parameters
    ----------
    basis : Basis
    A : array of shape (N, p)
        Centered columns.
    sizes : array of shape (p,)
        One rounding of each stored column; see `Basis`.

    Returns
    -------
    places : list of int
        Those that do not depend on others, in the order in which they were taken.
    """
    W, H = basis.residual(A)
    reach, left = sizes + np.abs(H).T @ basis.reaches, np.ones(A.shape[1], dtype=bool)
    taken: list[int] = []
    while left.any():
        stands_out = np.sqrt(_squares(W)) / np.where(left, reach, np.inf)
        stands_out[~left] = -1.0
        j = int(stands_out.argmax())
        left[j] = False
        if not basis.append(A[:, j], sizes[j]):
            continue
        taken.append(j)
        q = basis.Q[:, -1]
        h = q @ W
        W -= q[:, None] * h
        reach += np.abs(h) * basis.reaches[-1]
    return taken


def independent_columns(A: Floats, sizes: Floats) -> Indices:
    """Return columns that all of A are combinations of, those that are known best first.

    Parameters
    ----------
    A, sizes : as for `take_best_first`

    Examples
    --------
    >>> a, b = np.eye(4)[:2]
    >>> independent_columns(np.column_stack([a, a + 1e-9 * b, a + b]), np.full(3, 2.2e-16))
    array([2, 0])
    """
    return np.array(take_best_first(Basis(A.shape[0]), A, sizes), dtype=np.intp)
