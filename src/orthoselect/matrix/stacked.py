"""Several matrices side by side, each in its own kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import Floats, Indices, Matrix, Scan


class StackedMatrix(Matrix):
    """The columns of several matrices with the same rows, one after the other.

    Parameters
    ----------
    parts : sequence of Matrix
        At least one.
    """

    def __init__(self, parts: Sequence[Matrix]) -> None:
        self._parts = list(parts)
        widths = [part.shape[1] for part in self._parts]
        self._edges = np.concatenate([[0], np.cumsum(widths)])
        self.shape = (self._parts[0].shape[0], int(self._edges[-1]))
        self.precision = np.concatenate([part.precision for part in self._parts])
        self.arithmetic = max(part.arithmetic for part in self._parts)

    @staticmethod
    def of(parts: Sequence[Matrix]) -> Matrix:
        """Return the parts side by side; a single part is itself."""
        return parts[0] if len(parts) == 1 else StackedMatrix(parts)

    @property
    def n_stored(self) -> int:
        return sum(part.n_stored for part in self._parts)

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self._parts)

    def every(self, step: int) -> Matrix | None:
        parts = [some for part in self._parts if (some := part.every(step)) is not None]
        return StackedMatrix(parts) if len(parts) == len(self._parts) else None

    def columns(self, J: Indices) -> Floats:
        return self._gather(J, self.shape[0], lambda part, at: part.columns(at))

    def columns_at(self, J: Indices, rows: slice) -> Floats:
        height = rows.stop - rows.start
        return self._gather(J, height, lambda part, at: part.columns_at(at, rows))

    def _gather(
        self, J: Indices, height: int, columns: Callable[[Matrix, Indices], Floats]
    ) -> Floats:
        J = np.asarray(J)
        result = np.empty((height, len(J)))
        owner = np.searchsorted(self._edges, J, side="right") - 1
        for k, part in enumerate(self._parts):
            mine = owner == k
            if mine.any():
                result[:, mine] = columns(part, J[mine] - self._edges[k])
        return result

    def cross(self, Z: Floats) -> Floats:
        return np.concatenate([part.cross(Z) for part in self._parts], axis=1)

    def scan(self, V: Floats, root: Floats | None, *, gram: bool = False) -> Scan:
        scans = [part.scan(V, root) for part in self._parts]
        return Scan(
            np.concatenate([scan.sums for scan in scans]),
            np.concatenate([scan.squares for scan in scans]),
            np.concatenate([scan.VtX for scan in scans], axis=1),
        )

    def rescaled(self, shift: Floats, scale: Floats) -> Matrix:
        return StackedMatrix(
            [
                part.rescaled(shift[a:b], scale[a:b])
                for part, a, b in zip(self._parts, self._edges[:-1], self._edges[1:])
            ]
        )

    def movable(self) -> NDArray[np.bool_]:
        return np.concatenate([part.movable() for part in self._parts])

    def pilot(self, rows: Indices) -> Floats:
        samples = (part.pilot(rows) for part in self._parts)
        shapes = ((len(rows), part.shape[1]) for part in self._parts)
        known = (np.zeros(shape) if s is None else s for s, shape in zip(samples, shapes))
        return np.concatenate(list(known), axis=1)
