"""A NumPy array of any numeric dtype, order and stride; read by row blocks, never copied whole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import EPS, Floats, Indices, Matrix, Scan, storage_precision
from orthoselect.matrix.threads import sum_over_blocks

# A block and what is made of it should stay in a core's own cache ...
_BLOCK_BYTES = 1 << 20
# ... but be high enough that adding up its results costs little beside making them.
_MIN_ROWS = 96


class DenseMatrix(Matrix):
    """A two-dimensional NumPy array.

    float64 and float32 blocks are views of the array; other dtypes, and shifted or scaled
    columns, are converted block by block. float32 is multiplied in float32 and summed over blocks
    in float64.

    Parameters
    ----------
    X : array of shape (N, n)
        Real numbers or booleans; it is only ever read.
    shift, scale : arrays of shape (n,), optional
        Present (X - shift) * scale instead of X.
    """

    has_gram = True

    def __init__(
        self, X: NDArray, *, shift: Floats | None = None, scale: Floats | None = None
    ) -> None:
        self._X = X
        self._shift = shift
        self._scale = scale
        self._dtype = np.float32 if X.dtype == np.float32 and scale is None else np.float64
        self.shape = (X.shape[0], X.shape[1])
        self.precision = storage_precision(X.dtype, X.shape[1])
        self.arithmetic = max(EPS, float(np.finfo(self._dtype).eps))

    def columns(self, J: Indices) -> Floats:
        return self._present(self._X[:, J], J, np.float64, copy=True)

    def cross(self, Z: Floats) -> Floats:
        Z = np.ascontiguousarray(Z, dtype=self._dtype)
        n, b = self.shape[1], Z.shape[1]

        def step(total: list[Floats], rows: slice) -> None:
            total[0] += Z[rows].T @ self._block(rows)

        return self._sum([(b, n)], step, _MIN_ROWS)[0].T

    def gram(
        self, J: Indices, means: Floats, factors: Floats, root: Floats | None
    ) -> tuple[Floats, Floats]:
        n, b = self.shape[1], len(J)
        w = None if root is None else (root * root)[:, None]

        def step(total: list[Floats], rows: slice) -> None:
            B = self._block(rows)
            Z = B[:, J].astype(np.float64)
            Z -= means
            Z *= factors
            if w is not None:
                Z *= w[rows]
            total[0] += Z.astype(self._dtype, copy=False).T @ B
            total[1] += Z.sum(axis=0)

        XtZ, sums = self._sum([(b, n), (b,)], step, _MIN_ROWS)
        return XtZ.T, sums

    def scan(self, V: Floats, root: Floats | None, *, gram: bool = False) -> Scan:
        return self._scan_gram(V, root) if gram else self._scan(V, root)

    def _scan(self, V: Floats, root: Floats | None) -> Scan:
        n, m = self.shape[1], V.shape[1]
        Z = np.empty((self.shape[0], m + 1), dtype=self._dtype)  # [w, root * V]
        Z[:, 0] = 1.0 if root is None else root * root
        Z[:, 1:] = V if root is None else V * root[:, None]

        def step(total: list[Floats], rows: slice) -> None:
            B, Zb = self._block(rows), Z[rows]
            total[0] += Zb.T @ B
            if root is None:
                total[1] += Zb[:, 0] @ np.square(B)
            else:  # weights before squares: a row without weight may overflow
                total[1] += np.square(B * root[rows, None]).sum(axis=0)

        XtZ, squares = self._sum([(m + 1, n), (n,)], step, min(_MIN_ROWS, 16 * (m + 1)))
        return Scan(XtZ[0], squares, XtZ[1:].T)

    def _scan_gram(self, V: Floats, root: Floats | None) -> Scan:
        """Multiply [root * X, root, V] with itself: everything is in that product."""
        n, m = self.shape[1], V.shape[1]

        def step(total: list[Floats], rows: slice) -> None:
            B = self._block(rows)
            A = np.empty((B.shape[0], n + 1 + m), dtype=self._dtype)
            A[:, :n], A[:, n], A[:, n + 1 :] = B, 1.0, V[rows]
            if root is not None:
                A[:, : n + 1] *= root[rows, None]
            total[0] += A.T @ A

        (G,) = self._sum([(n + 1 + m, n + 1 + m)], step, _MIN_ROWS)
        XtX = np.ascontiguousarray(G[:n, :n])
        return Scan(G[:n, n].copy(), XtX.diagonal().copy(), G[:n, n + 1 :].copy(), XtX)

    def rescaled(self, shift: Floats, scale: Floats) -> Matrix:
        old_shift = 0.0 if self._shift is None else self._shift
        old_scale = np.ones(self.shape[1]) if self._scale is None else self._scale
        new_scale = old_scale * scale
        new_shift = old_shift + shift / old_scale
        if self._dtype == np.float32:  # one shift for float32 blocks and float64 columns
            new_shift = new_shift.astype(np.float32).astype(np.float64)
        moved = DenseMatrix(
            self._X,
            shift=new_shift if new_shift.any() else None,
            scale=new_scale if (new_scale != 1.0).any() else None,
        )
        moved.precision = self.precision
        return moved

    def pilot(self, rows: Indices) -> Floats:
        return self._present(self._X[rows], slice(None), np.float64, copy=True)

    def _sum(self, shapes: list[tuple[int, ...]], step, least: int) -> list[Floats]:  # type: ignore[no-untyped-def]
        """Add up arrays of these shapes over blocks of at least so many rows."""
        N, n = self.shape
        row_bytes = np.dtype(self._dtype).itemsize * max(n, 1)
        height = max(least, _BLOCK_BYTES // row_bytes)

        def merge(total: list[Floats], other: list[Floats]) -> None:
            for mine, theirs in zip(total, other):
                mine += theirs

        return sum_over_blocks(N, height, lambda: [np.zeros(s) for s in shapes], step, merge)

    def _block(self, rows: slice) -> NDArray:
        return self._present(self._X[rows], slice(None), self._dtype)

    def _present(
        self, B: NDArray, J: Indices | slice, dtype: type, *, copy: bool = False
    ) -> NDArray:
        if self._shift is None and self._scale is None:
            return B.astype(dtype, copy=copy)
        B = B.astype(dtype, copy=True)
        if self._shift is not None:
            B -= self._shift[J].astype(dtype)
        if self._scale is not None:
            B *= self._scale[J].astype(dtype)
        return B
