"""An orthonormal basis of columns that are read in blocks of rows: its rows are made, not kept.

Where the rows of a table come in blocks there is no room for Q (N, k). A direction is known by the
few numbers that make it of its column x_s and of the directions before it, and each pass makes
those rows of Q anew that it has read. For that Q has to be one and the same in every pass, which
is not a matter of course: of a column that is nearly dependent little is left, x_s - Qh, and the
rounding of its numbers is as large as a millionth of that. A direction that is rounded once this
way and once that way is two directions, and what one pass has found of it is not true of the other.

So every number here is made by operations that are rounded one by one, in a fixed order: the same
bits whatever rows are at hand, and never by BLAS, which adds up in an order of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from orthoselect.matrix.base import Floats


@dataclass(frozen=True)
class _Made:
    """How one direction is made.

        p = (x - P f) / length        q = (p - Q g) / norm

    Attributes
    ----------
    f, g : arrays of shape (s,)
        Coefficients in the s directions before it.
    length, norm : float
    start : int
        P are the directions p from here on, and q before.
    """

    f: Floats
    length: float
    start: int
    g: Floats
    norm: float


class RemadeBasis:
    """Directions that are orthonormal, and how to make their rows of the rows of the columns.

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

        Parameters
        ----------
        T : array of shape (k, k)
            Triangular: what stands here now is Q T, for an orthonormal Q.
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
