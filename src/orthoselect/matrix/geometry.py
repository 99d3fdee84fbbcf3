"""What real columns say: residuals and directions of columns, given those selected.

Products of the table with itself lose digits where columns are nearly dependent. A geometry goes
back to the columns, orthogonalizes them, and answers with all the digits that were stored.

Notation: X (N, n) the centered matrix, V (N, m) the response basis; S the columns selected, in
order, all independent; Q (N, k) their orthonormal basis; J the columns asked about; W what is left
of them, W = X_J - QQ'X_J; L (k, n) the rows Q'X. S only ever grows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthoselect.lazy import lazy
from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.basis import Basis, independent_columns, take_best_first
from orthoselect.matrix.rows import Rows

if TYPE_CHECKING:
    from orthoselect.matrix.centered import CenteredMatrix

_BATCH_BYTES = 1 << 25
_KEPT = 4  # residuals kept of the columns measured last, should one of them be taken


@dataclass(frozen=True)
class Measured:
    """What is left of columns J.

    Attributes
    ----------
    C : array of shape (m, len(J))
        V'W.
    d : array of shape (len(J),)
        Squared norms of W.
    depends : boolean array of shape (len(J),)
        Whether what is left is only rounding.
    """

    C: Floats
    d: Floats
    depends: NDArray[np.bool_]


class Direction(NamedTuple):
    """A new orthonormal direction q, made from a column of J.

    Attributes
    ----------
    column : int
        One of J that does not depend on those before it.
    row : array of shape (n,)
        q'X.
    along : array of shape (m,)
        q'V.
    reach : float
        What one rounding of each of the columns that q is made of may do to it.
    """

    column: int
    row: Floats
    along: Floats
    reach: float


class Geometry(ABC):
    """Residual products of real columns, given the selected ones.

    L are the rows of S as the state knows them, (len(S), n), to a few digits less than all; not
    asked for where the basis is in memory.
    """

    @abstractmethod
    def independent(self, blocks: Sequence[Indices]) -> list[Indices]:
        """Return for each block the places of columns that its others depend on, best first."""

    @abstractmethod
    def measure(self, S: Sequence[int], J: Indices, L: Floats) -> Measured:
        """Return what is left of each of columns J, one by one."""

    @abstractmethod
    def block_gain(self, S: Sequence[int], J: Indices, L: Floats) -> tuple[int, float]:
        """Return how many directions columns J add together, and the squared norm of V'Q there."""

    @abstractmethod
    def take(self, S: Sequence[int], J: Indices, L: Floats) -> list[Direction]:
        """Return the directions that columns J add, which are selected from now on."""

    @abstractmethod
    def gains_together(self, S: Sequence[int], J: Indices) -> Floats:
        """Return what each of columns J, all independent, S the first of them, adds in order."""


class RowGeometry(Geometry):
    """With the basis Q in memory, N rows.

    Parameters
    ----------
    X : CenteredMatrix
    V : rows of shape (N, m)
    """

    def __init__(self, X: CenteredMatrix, V: Rows) -> None:
        self._X, self._rows = X, V
        self._basis = Basis(X.shape[0])
        self._residuals: dict[int, tuple[Floats, Floats]] = {}  # of columns measured last

    @lazy
    def _V(self) -> Floats:
        """The response basis written out, which mostly nobody needs."""
        return self._rows[:]

    def independent(self, blocks: Sequence[Indices]) -> list[Indices]:
        return [independent_columns(self._X.columns(J), self._X.sizes[J]) for J in blocks]

    def measure(self, S: Sequence[int], J: Indices, L: Floats) -> Measured:
        self._extend(S)
        width = max(1, _BATCH_BYTES // (8 * self._X.shape[0]))
        if len(J) <= width:
            return self._measure(J)
        parts = [self._measure(J[start : start + width]) for start in range(0, len(J), width)]
        return Measured(
            np.concatenate([part.C for part in parts], axis=1),
            np.concatenate([part.d for part in parts]),
            np.concatenate([part.depends for part in parts]),
        )

    def _measure(self, J: Indices) -> Measured:
        W, H = self._basis.residual(self._X.columns(J))
        d = np.einsum("ij,ij->j", W, W)
        if len(J) <= _KEPT:
            self._residuals = {int(j): (W[:, i], H[:, i]) for i, j in enumerate(J)}
        return Measured(self._V.T @ W, d, np.sqrt(d) <= self._basis.floors(H, self._X.sizes[J]))

    def block_gain(self, S: Sequence[int], J: Indices, L: Floats) -> tuple[int, float]:
        self._extend(S)
        before = self._basis.k
        self._append(J)
        along = self._V.T @ self._basis.Q[:, before:]
        rank = self._basis.k - before
        self._basis.truncate(before)
        return rank, float((along**2).sum())

    def take(self, S: Sequence[int], J: Indices, L: Floats) -> list[Direction]:
        self._extend(S)
        quick = self._take_quickly(int(J[0])) if len(J) == 1 else None
        if quick is not None:
            return quick
        before = self._basis.k
        kept = self._append(J)
        Q = self._basis.Q[:, before:]
        along = np.ascontiguousarray((self._V.T @ Q).T)
        return list(map(Direction, kept, self._X.cross(Q), along, self._basis.reaches[before:]))

    def _take_quickly(self, j: int) -> list[Direction] | None:
        """Take one column, where the matrix has a quick way."""
        basis = self._basis
        Qt, k = basis.room(), basis.k
        made = self._X.direction(j, Qt, k)
        if made is None:
            return None
        row, h, norm = made
        if not basis.accept(h, norm, float(self._X.sizes[j])):
            return []
        return [Direction(j, row, Qt[k] @ self._V, float(basis.reaches[k]))]

    def gains_together(self, S: Sequence[int], J: Indices) -> Floats:
        self._extend(S)
        rest = J[self._basis.k :]
        self._basis.extend(self._X.columns(rest), self._X.sizes[rest])
        return ((self._V.T @ self._basis.Q) ** 2).sum(axis=0)

    def _append(self, J: Indices) -> list[int]:
        """Take columns into the basis; return those that do not depend on others, as taken."""
        return J[take_best_first(self._basis, self._X.columns(J), self._X.sizes[J])].tolist()

    def _extend(self, S: Sequence[int]) -> None:
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
        self._basis.extend(self._X.columns(new), self._X.sizes[new])
