"""A SciPy sparse table; its zeros are never written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.matrix.base import Floats, Indices, Matrix, Scan, storage_precision
from orthoselect.native import aligned, kernels

_THIN = 24  # columns that a kernel takes at once
_DENSE = 1 << 18  # numbers that may be written out


class SparseMatrix(Matrix):
    """A sparse matrix or array of any SciPy format, held by columns (CSC).

    Parameters
    ----------
    X : sparse matrix or array of shape (N, n)
        Real numbers or booleans; it is only ever read.

    Notes
    -----
    A shift would fill the zeros, so it is taken only by columns that have none. No other column
    needs it: with one zero in N rows the mean is at most sqrt(N) spreads away from zero.
    """

    def __init__(self, X: Any) -> None:
        self.precision = storage_precision(X.dtype, X.shape[1])
        if X.format == "csc" and not X.has_canonical_format:
            X = X.copy()  # summing duplicates works in place, and the caller's X is not ours
        X = sp.csc_array(X).astype(np.float64, copy=False)
        X.sum_duplicates()
        self._X = _with_short_indices(X)
        self.shape = X.shape

    def _with(self, data: Floats, indptr: NDArray, precision: Floats) -> SparseMatrix:
        """Return the same rows of numbers as other data, cut into columns by `indptr`."""
        part = object.__new__(SparseMatrix)
        part.shape = (self.shape[0], len(indptr) - 1)
        part._X = sp.csc_array((data, self._X.indices, indptr), shape=part.shape)
        part.precision = precision
        return part

    @property
    def n_stored(self) -> int:
        return int(self._X.nnz)

    @property
    def nbytes(self) -> int:
        return int(sum(part.nbytes for part in (self._X.data, self._X.indices, self._X.indptr)))

    def columns(self, J: Indices) -> Floats:
        X = self._X
        A = np.zeros((self.shape[0], len(J)))
        for place, j in enumerate(J.tolist()):
            filled = slice(X.indptr[j], X.indptr[j + 1])
            A[X.indices[filled], place] = X.data[filled]
        return A

    def columns_at(self, J: Indices, rows: slice) -> Floats:
        X = self._X
        A = np.zeros((rows.stop - rows.start, len(J)))
        for place, j in enumerate(J.tolist()):
            filled = X.indices[X.indptr[j] : X.indptr[j + 1]]  # rising
            a, b = X.indptr[j] + np.searchsorted(filled, [rows.start, rows.stop])
            A[X.indices[a:b] - rows.start, place] = X.data[a:b]
        return A

    def cross(self, Z: Floats) -> Floats:
        X = self._X
        if kernels() is None or Z.shape[1] > _THIN or X.indices.dtype != np.int32:
            return np.ascontiguousarray((X.T @ Z).T)
        ZtX = np.empty((Z.shape[1], self.shape[1]))
        Z, *stored = map(aligned, (np.ascontiguousarray(Z), X.data, X.indices, X.indptr))
        kernels().sparse_cross(Z, *stored, ZtX)
        return ZtX

    def scan(self, V: Floats, root: Floats | None, *, gram: bool = False) -> Scan:
        X = self._X
        root = np.ones(self.shape[0]) if root is None else root
        # Weights before squares: a row without weight may overflow.
        R = np.square(X.data * root[X.indices])
        squares = sp.csc_array((R, X.indices, X.indptr), shape=X.shape).T @ np.ones(len(root))
        ZtX = self.cross(np.column_stack([root * root, V * root[:, None]]))
        return Scan(ZtX[0].copy(), squares, ZtX[1:])

    def rescaled(self, shift: Floats, scale: Floats) -> Matrix:
        X = self._X
        filled = np.diff(X.indptr)
        shift = np.where(self.movable(), shift, 0.0)
        data = (X.data - np.repeat(shift, filled)) * np.repeat(scale, filled)
        return self._with(data, X.indptr, self.precision)

    def movable(self) -> NDArray[np.bool_]:
        return np.diff(self._X.indptr) == self.shape[0]

    def filled(self) -> Indices:
        return np.flatnonzero(np.diff(self._X.indptr))

    def restricted(self, J: Indices) -> Matrix:
        X = self._X
        if len(J) == len(self.filled()) and np.diff(X.indptr)[J].all():  # only empty ones go
            return self._with(X.data, X.indptr[np.append(J, self.shape[1])], self.precision[J])
        part = SparseMatrix(X[:, J])
        part.precision = self.precision[J]
        return part

    def block_gram(self, J: Indices, root: Floats | None, V: Floats | None = None) -> Floats:
        if self.shape[0] * len(J) <= _DENSE:  # quicker than to cut out a sparse part
            return super().block_gram(J, root, V)
        A = self._X[:, J]
        if root is not None:
            A = sp.csc_array((A.data * root[A.indices], A.indices, A.indptr), shape=A.shape)
        G = (A.T @ A).toarray()
        if V is None:
            return G
        sums = A.T @ (np.ones(self.shape[0]) if root is None else root)
        return np.concatenate([G, sums[None], (A.T @ V).T])

    def extremes(self, J: Indices) -> tuple[Floats, Indices, Indices]:
        part = self._X[:, J]
        owner = np.repeat(np.arange(len(J)), np.diff(part.indptr))
        peaks = np.zeros(len(J))
        np.fmax.at(peaks, owner, np.where(np.isinf(part.data), 0.0, np.abs(part.data)))
        n_nan = np.bincount(owner, np.isnan(part.data), minlength=len(J))
        n_inf = np.bincount(owner, np.isinf(part.data), minlength=len(J))
        return peaks, n_nan.astype(np.intp), n_inf.astype(np.intp)


def _with_short_indices(X: sp.csc_array) -> sp.csc_array:
    """Return the same numbers with 32-bit indices, which kernels take, if they suffice."""
    if X.indices.dtype == np.int32 or max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        return X
    parts = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return sp.csc_array(parts, shape=X.shape)
