"""A NumPy array of any numeric dtype, order and stride; read by row blocks, never copied whole."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import Floats, Indices, Matrix, storage_precision

# A converted block should stay in a core's own cache.
_BLOCK_BYTES = 1 << 20


class DenseMatrix(Matrix):
    """A two-dimensional NumPy array.

    float64 blocks are views of the array; other dtypes, and shifted or scaled columns, are
    converted block by block.

    Parameters
    ----------
    X : array of shape (N, n)
        Real numbers or booleans; it is only ever read.
    shift, scale : arrays of shape (n,), optional
        Present (X - shift) * scale instead of X.
    """

    def __init__(
        self, X: NDArray, *, shift: Floats | None = None, scale: Floats | None = None
    ) -> None:
        self._X = X
        self._shift = shift
        self._scale = scale
        self.shape = (X.shape[0], X.shape[1])
        self.precision = storage_precision(X.dtype, X.shape[1])

    def columns(self, J: Indices) -> Floats:
        return self._present(self._X[:, J], J, copy=True)

    def cross(self, Z: Floats) -> Floats:
        result = np.zeros((Z.shape[1], self.shape[1]))
        for rows, B in self._blocks():
            result += Z[rows].T @ B
        return result.T

    def scan(self, Z: Floats, w: Floats | None) -> tuple[Floats, Floats]:
        XtZ = np.zeros((Z.shape[1], self.shape[1]))
        squares = np.zeros(self.shape[1])
        for rows, B in self._blocks():
            XtZ += Z[rows].T @ B
            if w is None:
                squares += np.einsum("ij,ij->j", B, B)
            else:
                squares += np.einsum("i,ij,ij->j", w[rows], B, B)
        return XtZ.T, squares

    def rescaled(self, shift: Floats, scale: Floats) -> Matrix:
        old_shift = 0.0 if self._shift is None else self._shift
        old_scale = np.ones(self.shape[1]) if self._scale is None else self._scale
        return DenseMatrix(self._X, shift=old_shift + shift / old_scale, scale=old_scale * scale)

    def pilot(self, rows: Indices) -> Floats:
        return self._present(self._X[rows], slice(None), copy=True)

    def _blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Yield row blocks as presented, in float64."""
        N, n = self.shape
        height = max(16, _BLOCK_BYTES // (8 * max(n, 1)))
        for start in range(0, N, height):
            rows = slice(start, start + height)
            yield rows, self._present(self._X[rows], slice(None))

    def _present(self, B: NDArray, J: Indices | slice, *, copy: bool = False) -> Floats:
        moved = self._shift is not None or self._scale is not None
        B = B.astype(np.float64, copy=copy or moved)
        if self._shift is not None:
            B -= self._shift[J]
        if self._scale is not None:
            B *= self._scale[J]
        return B
