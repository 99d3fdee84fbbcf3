"""A SciPy sparse table; its zeros are never written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.matrix.base import Floats, Indices, Matrix, Scan, storage_precision
from orthoselect.native import aligned, kernels

_THIN = 24  # columns that a kernel takes at once
_TURNED = "dfbB?hilq"  # types of numbers that a kernel turns from rows to columns
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
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self._data, self._rows, self._starts = _turned(X) or _by_columns(X)

    def _with(self, data: Floats, starts: NDArray, precision: Floats) -> SparseMatrix:
        """Return the same rows of numbers as other data, cut into columns by `starts`."""
        part = object.__new__(SparseMatrix)
        part.shape = (self.shape[0], len(starts) - 1)
        part._data, part._rows, part._starts = data, self._rows, starts
        part.precision = precision
        return part

    @property
    def _X(self) -> sp.csc_array:
        """The table as SciPy knows it."""
        return sp.csc_array((self._data, self._rows, self._starts), shape=self.shape)

    @property
    def n_stored(self) -> int:
        return len(self._data)

    @property
    def nbytes(self) -> int:
        return int(self._data.nbytes + self._rows.nbytes + self._starts.nbytes)

    def columns(self, J: Indices) -> Floats:
        A = np.zeros((self.shape[0], len(J)))
        for place, j in enumerate(J.tolist()):
            filled = slice(self._starts[j], self._starts[j + 1])
            A[self._rows[filled], place] = self._data[filled]
        return A

    def columns_at(self, J: Indices, rows: slice) -> Floats:
        A = np.zeros((rows.stop - rows.start, len(J)))
        for place, j in enumerate(J.tolist()):
            start = self._starts[j]
            filled = self._rows[start : self._starts[j + 1]]  # rising
            a, b = start + np.searchsorted(filled, [rows.start, rows.stop])
            A[self._rows[a:b] - rows.start, place] = self._data[a:b]
        return A

    def cross(self, Z: Floats) -> Floats:
        if not self._has_kernels() or Z.shape[1] > _THIN:
            return np.ascontiguousarray((self._X.T @ Z).T)
        ZtX = np.empty((Z.shape[1], self.shape[1]))
        kernels().sparse_cross(aligned(np.ascontiguousarray(Z)), *self._stored(), ZtX)
        return ZtX

    def direction(
        self, j: int, means: Floats, factors: Floats, root: Floats | None, Qt: Floats, k: int
    ) -> tuple[Floats, Floats, float] | None:
        if not self._has_kernels():
            return None
        r, h = np.empty(self.shape[1]), np.empty(k)
        centering = means, factors, root
        norm = kernels().sparse_direction(*self._stored(), *centering, j, k, Qt, h, r)
        return r, h, norm

    def _has_kernels(self) -> bool:
        return kernels() is not None and self._rows.dtype == np.int32 == self._starts.dtype

    def _stored(self) -> tuple[NDArray, NDArray, NDArray]:
        return aligned(self._data), aligned(self._rows), aligned(self._starts)

    def scan(self, V: Floats, root: Floats | None, *, gram: bool = False) -> Scan:
        Z = np.empty((self.shape[0], 1 + V.shape[1]))  # [w, root * V]
        Z[:, 0] = 1.0 if root is None else root * root
        Z[:, 1:] = V if root is None else V * root[:, None]
        ZtX = self.cross(Z)
        return Scan(ZtX[0], self._squares(root), ZtX[1:])

    def _squares(self, root: Floats | None) -> Floats:
        """Return the sums of squares of the columns, (n,), rows weighted by root."""
        if self._has_kernels():
            squares = np.empty(self.shape[1])
            kernels().sparse_squares(*self._stored(), self.shape[0], root, squares)
            return squares
        # Weights before squares: a row without weight may overflow.
        data = self._data if root is None else self._data * root[self._rows]
        weighted = self._with(np.square(data), self._starts, self.precision)
        return weighted._X.T @ np.ones(self.shape[0])

    def rescaled(self, shift: Floats, scale: Floats) -> Matrix:
        filled = np.diff(self._starts)
        shift = np.where(self.movable(), shift, 0.0)
        data = (self._data - np.repeat(shift, filled)) * np.repeat(scale, filled)
        return self._with(data, self._starts, self.precision)

    def movable(self) -> NDArray[np.bool_]:
        return np.diff(self._starts) == self.shape[0]

    def filled(self) -> Indices:
        return np.flatnonzero(np.diff(self._starts))

    def restricted(self, J: Indices) -> Matrix:
        filled = np.diff(self._starts)
        if len(J) == np.count_nonzero(filled) and filled[J].all():  # only empty ones go
            starts = np.append(self._starts[J], self._starts[-1])
            return self._with(self._data, starts, self.precision[J])
        part = SparseMatrix(self._X[:, J])
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


def _turned(X: Any) -> tuple[Floats, NDArray, NDArray] | None:
    """Turn compressed rows into columns, by a kernel; None if that is not what they are."""
    if X.format != "csr" or kernels() is None or X.data.dtype.char not in _TURNED:
        return None
    if not X.indices.dtype == X.indptr.dtype == np.int32:
        return None
    stored = int(X.indptr[-1])
    given = (aligned(part) for part in (X.data[:stored], X.indices[:stored], X.indptr))
    data, rows = np.empty(stored), np.empty(stored, np.int32)
    ends = np.empty(X.shape[1] + 1, np.int32)
    return (data, rows, ends) if kernels().sparse_turn(*given, data, rows, ends) else None


def _by_columns(X: Any) -> tuple[Floats, NDArray, NDArray]:
    """Return the numbers of each column, their rows and where columns start, of any format."""
    if X.format == "csc" and not X.has_canonical_format:
        X = X.copy()  # summing duplicates works in place, and the caller's X is not ours
    X = sp.csc_array(X).astype(np.float64, copy=False)
    X.sum_duplicates()
    stored = X.indptr[-1]
    rows, starts = X.indices[:stored], X.indptr
    if max(stored, *X.shape) <= np.iinfo(np.int32).max:  # kernels take short ones
        rows, starts = rows.astype(np.int32, copy=False), starts.astype(np.int32, copy=False)
    return X.data[:stored], rows, starts
