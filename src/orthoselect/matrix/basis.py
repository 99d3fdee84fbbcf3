"""Columns made orthonormal one after the other: the one home of linear dependence.

`Basis` keeps its directions in memory; `RemadeBasis` makes them anew, where rows come in blocks.

Notation: Q (N, k) orthonormal columns so far, R (k, k) upper triangular with A = QR for the
columns A that were kept, H = Q'X the coefficients of further columns X.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    """An orthonormal basis that grows by the columns it is given, all of length N, in their order.

    A column x depends on the basis when changing the stored numbers, its own and those of the
    columns before it, by a few roundings would make it dependent. With x = A b + w, that is
    ||w|| <= ROUNDINGS * (size(x) + sum_s |b_s| size(a_s)), where size is one rounding of the
    stored column: precision times its norm before centering. Scale, offset and conditioning are
    so judged by what they cost, never by an absolute number.
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
        if not self.k or (column_squares(W) >= _MUCH_LEFT * column_squares(X)).all():
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
        self._keep(h, norm, size, w / norm)

    def room(self) -> Floats:
        """Return the directions as rows, (more than k, N): the next one may be written there."""
        self._grow()
        return self._store.T

    def accept(self, h: Floats, norm: float, size: float) -> bool:
        """Take the direction that was written where there is room, unless its column depends.

        The column had h of those before it, (k,), and `norm` beside them.
        """
        # The norm is mostly far above what could be rounding, and a bound of that will do.
        at_most = ROUNDINGS * self._reach_of(h, size)
        if norm <= at_most and norm <= self.floors(h[:, None], np.array([size]))[0]:
            return False
        self._keep(h, norm, size)
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
            self._keep(h, abs(float(R[i, i])), sizes[i], signs[i] * Q[:, i])

    def truncate(self, k: int) -> None:
        """Forget all but the first k columns."""
        self.k = k

    def append(self, x: Floats, size: float) -> bool:
        """Take a column unless it depends on those before it; say whether it was taken."""
        W, H = self.residual(x[:, None])
        norm = float(np.linalg.norm(W))
        if norm <= self.floors(H, np.array([size]))[0]:
            return False
        self._keep(H[:, 0], norm, size, W[:, 0] / norm)
        return True

    def _grow(self) -> None:
        capacity = self._store.shape[1]
        if self.k == capacity:
            self._store = np.concatenate([self._store, np.empty_like(self._store)], axis=1)
            self._R = np.pad(self._R, (0, capacity))
            self._sizes = np.pad(self._sizes, (0, capacity))
            self._reach = np.pad(self._reach, (0, capacity))

    def _keep(self, h: Floats, norm: float, size: float, q: Floats | None = None) -> None:
        """Count in the direction q; without it, the one that was written where there is room."""
        k = self.k
        if q is not None:
            self._grow()
            self._store[:, k] = q
        self._reach[k] = self._reach_of(h, size) / norm
        self._R[:k, k] = h
        self._R[k, k] = norm
        self._sizes[k] = size
        self.k = k + 1


def dependence_floors(R: Floats, sizes_of_basis: Floats, H: Floats, sizes: Floats) -> Floats:
    """Return the norm below which what is left of columns is only rounding; see `Basis`.

    R (k, k) and `sizes_of_basis` are of the columns in the basis; H (k, p) and `sizes` of those in
    question.
    """
    if not len(R):
        return ROUNDINGS * sizes
    b, singular = dtrtrs(R, H)  # without the checks of `solve_triangular`, which take longer
    if singular:
        raise np.linalg.LinAlgError(f"direction {singular} of the basis has no length")
    return ROUNDINGS * (sizes + sizes_of_basis @ np.abs(b))


def column_squares(A: Floats) -> Floats:
    """Return the squared norms of the columns."""
    return np.einsum("ij,ij->j", A, A)


def orthonormalize(A: Floats, sizes: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return an orthonormal basis of the columns of A, (N, rank), and which added to it, (p,).

    The columns of A (N, p) are centered and taken in their order; sizes (p,) as in `Basis`.

    >>> A = np.array([[1.0, 2.0, 0.0], [-1.0, -2.0, 1.0], [0.0, 0.0, -1.0]])
    >>> orthonormalize(A, np.full(3, 2.2e-16))[1]
    array([ True, False,  True])
    """
    basis = Basis(A.shape[0])
    kept = np.array([basis.append(A[:, j], sizes[j]) for j in range(A.shape[1])], dtype=bool)
    return basis.Q, kept


def take_best_first(basis: Basis, A: Floats, sizes: Floats) -> list[int]:
    """Take columns into a basis, those that are known best first; return those that were taken.

    Next is always the column whose rest, given those in the basis, stands out most from its
    rounding. So a direction that several columns share is made of the one that shows it best,
    whatever their order: others may depend on what is known of it, if that is little.

    A (N, p) are centered columns, `sizes` one rounding of each as stored; see `Basis`.
    """
    W, H = basis.residual(A)
    reach, left = sizes + np.abs(H).T @ basis.reaches, np.ones(A.shape[1], dtype=bool)
    taken: list[int] = []
    while left.any():
        stands_out = np.sqrt(column_squares(W)) / np.where(left, reach, np.inf)
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

    >>> a, b = np.eye(4)[:2]
    >>> independent_columns(np.column_stack([a, a + 1e-9 * b, a + b]), np.full(3, 2.2e-16))
    array([2, 0])
    """
    return np.array(take_best_first(Basis(A.shape[0]), A, sizes), dtype=np.intp)


@dataclass(frozen=True)
class _Made:
    """How one direction is made, with coefficients f, g (s,) in the s directions before it.

        p = (x - P f) / length        q = (p - Q g) / norm

    P are the directions p from `start` on, and q before.
    """

    f: Floats
    length: float
    start: int
    g: Floats
    norm: float


class RemadeBasis:
    """Directions that are orthonormal, and how to make their rows of the rows of the columns.

    Where the rows of a table come in blocks there is no room for Q (N, k). A direction is known by
    the few numbers that make it of its column x_s and of the directions before it, and each pass
    makes those rows of Q anew that it has read. For that Q has to be one and the same in every
    pass, which is not a matter of course: of a column that is nearly dependent little is left,
    x_s - Qh, and the rounding of its numbers is as large as a millionth of that. A direction that
    is rounded once this way and once that way is two directions, and what one pass has found of it
    is not true of the other. So every number here is made by operations that are rounded one by
    one, in a fixed order: the same bits whatever rows are at hand, and never by BLAS, which adds up
    in an order of its own.

    A direction is added by what is known of it, as p. In a pass over the rows it turns out how far
    p is from unit length and from being orthogonal to the others; `settle` takes that out. Until
    then p stands in its place.

    Invariants: the first `n_settled` directions are orthonormal to the last digit and never change;
    those after them are the last that were added.
    """

    def __init__(self) -> None:
        self._made: list[_Made] = []
        self.n_settled = 0

    def __len__(self) -> int:
        return len(self._made)

    def add(self, f: Floats, length: float = 1.0) -> None:
        """Add p = (x - P f) / length, where P are all directions before it as they are now."""
        s = len(self._made)
        self._made.append(_Made(np.array(f[:s]), float(length), self.n_settled, np.zeros(s), 1.0))

    def drop(self) -> None:
        """Take back what was added since the last `settle`."""
        del self._made[self.n_settled :]

    def settle(self, T: Floats) -> None:
        """Make the directions orthonormal that were added last.

        What stands here now is Q T, for an orthonormal Q and the triangular T, (k, k).
        """
        for s in range(self.n_settled, len(self._made)):
            made = self._made[s]
            self._made[s] = _Made(made.f, made.length, made.start, T[:s, s].copy(), float(T[s, s]))
        self.n_settled = len(self._made)

    def rows(self, A: Floats) -> Floats:
        """Return the rows of the basis, (rows, k), of those of its columns, A (rows, k)."""
        k = len(self._made)
        P, Q = np.empty((k, len(A))), np.empty((k, len(A)))
        for s, made in enumerate(self._made):
            np.copyto(P[s], A[:, s])
            before = [*Q[: made.start], *P[made.start : s]]
            _take_out(P[s], made.f, before)
            if made.length != 1.0:
                P[s] /= made.length
            np.copyto(Q[s], P[s])
            if s < self.n_settled:
                _take_out(Q[s], made.g, Q[:s])
                Q[s] /= made.norm
        return Q.T

    def residuals(self, A: Floats, Q: Floats, H: Floats) -> Floats:
        """Return A - Q H, (rows, r), of the rows of other columns and of the basis."""
        W = np.array(A.T, order="C")
        for w, h in zip(W, H.T):
            _take_out(w, h, Q.T)
        return W.T


def _take_out(w: Floats, h: Floats, directions: Sequence[Floats] | Floats) -> None:
    """Subtract from w, in place, so much of each direction, one after the other."""
    for share, q in zip(h.tolist(), directions):
        if share:
            w -= share * q
