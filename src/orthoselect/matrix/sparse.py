"""A SciPy sparse table; its zeros are never written out.

Tables often come by rows, with many columns that are empty in the rows at hand; the others are
short. They are turned once it is known which columns are wanted, and in which order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.errors import InputError
from orthoselect.lazy import lazy
from orthoselect.matrix.base import (
    NO_COLUMNS,
    Filled,
    Floats,
    Indices,
    Matrix,
    Scan,
    storage_precision,
)
from orthoselect.native import aligned, kernels

_TURNED = "dfbB?hilq"  # types of numbers that a kernel turns from rows to columns


class CompressedColumns(NamedTuple):
    """Compressed columns: column j has data[starts[j]:starts[j + 1]], in these rows, which rise."""

    data: Floats
    rows: NDArray[np.integer]
    starts: NDArray[np.integer]


def compressed_columns(X: Any) -> CompressedColumns:
    """Return the columns of a sparse table of any format; duplicates are added up."""
    _check_sound(X)
    if X.format == "csc" and not X.has_canonical_format:
        X = X.copy()  # summing duplicates works in place, and the caller's X is not ours
    X = sp.csc_array(X).astype(np.float64, copy=False)
    X.sum_duplicates()
    stored = X.indptr[-1]
    rows, starts = X.indices[:stored], X.indptr
    if max(stored, *X.shape) <= np.iinfo(np.int32).max:  # kernels take short ones
        rows, starts = rows.astype(np.int32, copy=False), starts.astype(np.int32, copy=False)
    return CompressedColumns(*map(np.ascontiguousarray, (X.data[:stored], rows, starts)))


def _check_sound(X: Any) -> None:
    """Raise where indices leave the table: SciPy takes them on trust, and goes astray."""
    if X.format not in ("csr", "csc"):
        return
    room, stored = min(len(X.indices), len(X.data)), int(X.indptr[-1])
    if X.indptr[0] != 0 or (np.diff(X.indptr) < 0).any() or stored > room:
        raise InputError(
            f"X should be a sound sparse table; `indptr` of this {X.format} table does not grow "
            f"from 0 to its {room} stored numbers. Build it again."
        )
    limit, indices = X.shape[1 if X.format == "csr" else 0], X.indices[:stored]
    if stored and not 0 <= indices.min() <= indices.max() < limit:
        worst = int(indices.min()) if indices.min() < 0 else int(indices.max())
        raise InputError(
            f"X should be a sound sparse table; `indices` of this {X.format} table should be from "
            f"0 to {limit - 1}, and hold {worst}. Build it again."
        )


def _whole(values: NDArray) -> NDArray:
    """Return values where kernels take them, one behind the other."""
    return aligned(np.ascontiguousarray(values))


class CompressedRows:
    """Compressed rows whose columns rise, of a type that a kernel turns to columns."""

    def __init__(self, X: Any, counts: NDArray[np.int32], last: NDArray[np.int32]) -> None:
        stored = int(X.indptr[-1])
        self._parts = [_whole(a) for a in (X.data[:stored], X.indices[:stored], X.indptr)]
        self._counts, self._last = counts, last  # of each column, and the row of its last number

    def filled(self, *, distinct: bool) -> Filled:
        """Return the columns that hold anything, the shortest first; see `Matrix.filled`.

        A loop over columns then meets one length after the other, which processors can foresee.
        """
        n, N = len(self._counts), len(self._parts[2]) - 1
        distinct = distinct and self._all_count()
        columns = np.empty(n, np.int64)
        twins, of = np.empty((2, n if distinct else 0), np.int64)
        last = self._last if distinct else None
        filled, n_twins = kernels().sparse_order(self._counts, last, N, columns, twins, of)
        return Filled(
            *(a.astype(np.intp) for a in (columns[:filled], twins[:n_twins], of[:n_twins]))
        )

    def _all_count(self) -> bool:
        """Whether every stored number is finite, and none is zero, as if it were not stored."""
        numbers = self._parts[0]
        return bool(numbers.all()) and (
            numbers.dtype.kind != "f" or bool(np.isfinite(numbers).all())
        )

    def columns(self, J: Indices) -> CompressedColumns:
        """Return columns J, none of them twice, in this order."""
        J = np.ascontiguousarray(J, np.int64)
        stored = int(self._counts[J].sum())
        data, rows = np.empty(stored), np.empty(stored, np.int32)
        turned = CompressedColumns(data, rows, np.empty(len(J) + 1, np.int32))
        kernels().sparse_turn(*self._parts, self._counts, J, *turned)
        return turned


def compressed_rows(X: Any) -> CompressedRows | None:
    """Return the rows of a sparse table, or None if that is not what it is."""
    if X.format != "csr" or kernels() is None:
        return None
    dtype, short = X.data.dtype, X.indices.dtype == X.indptr.dtype == np.int32
    if dtype.char not in _TURNED or not dtype.isnative or not short:
        return None
    if X.indptr[-1] > len(X.data):
        return None
    counts, last = np.empty(X.shape[1], np.int32), np.empty(X.shape[1], np.int32)
    rising = kernels().sparse_count(_whole(X.indices), _whole(X.indptr), counts, last)
    return CompressedRows(X, counts, last) if rising else None


_THIN = 24  # columns that a kernel takes at once
_DENSE = 1 << 18  # numbers that may be written out


class SparseMatrix(Matrix):
    """A sparse matrix or array of any SciPy format, held by columns (CSC); it is only ever read.

    A shift would fill the zeros, so it is taken only by columns that have none. No other column
    needs it: with one zero in N rows the mean is at most sqrt(N) spreads away from zero.
    """

    def __init__(self, X: Any) -> None:
        self.precision = storage_precision(X.dtype, X.shape[1])
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self._given = compressed_rows(X)  # until it is clear which columns are wanted
        self._turned = compressed_columns(X) if self._given is None else None

    def _with(self, stored: CompressedColumns, precision: Floats) -> SparseMatrix:
        """Return a table of the same rows."""
        part = object.__new__(SparseMatrix)
        part.shape = (self.shape[0], len(stored.starts) - 1)
        part._given, part._turned, part.precision = None, stored, precision
        return part

    @property
    def _stored(self) -> CompressedColumns:
        if self._turned is None:
            assert self._given is not None
            self._turned = self._given.columns(np.arange(self.shape[1]))
            self._given = None
        return self._turned

    @property
    def _X(self) -> sp.csc_array:
        """The table as SciPy knows it."""
        return sp.csc_array(tuple(self._stored), shape=self.shape)

    @property
    def n_stored(self) -> int:
        return len(self._stored.data)

    @property
    def nbytes(self) -> int:
        return int(sum(part.nbytes for part in self._stored))

    def columns(self, J: Indices) -> Floats:
        data, rows, starts = self._stored
        A = np.zeros((self.shape[0], len(J)))
        for place, j in enumerate(J.tolist()):
            filled = slice(starts[j], starts[j + 1])
            A[rows[filled], place] = data[filled]
        return A

    def columns_at(self, J: Indices, rows: slice) -> Floats:
        stored = self._stored
        A = np.zeros((rows.stop - rows.start, len(J)))
        for place, j in enumerate(J.tolist()):
            start = stored.starts[j]
            filled = stored.rows[start : stored.starts[j + 1]]  # rising
            a, b = start + np.searchsorted(filled, [rows.start, rows.stop])
            A[stored.rows[a:b] - rows.start, place] = stored.data[a:b]
        return A

    def cross(self, Z: Floats, root: Floats | None = None, squares: Floats | None = None) -> Floats:
        """Return Z'X; write the sums of squares of the columns of root * X, if asked for."""
        if self._table is not None and Z.shape[1] <= _THIN:
            ZtX = np.empty((Z.shape[1], self.shape[1]))
            Z = aligned(np.ascontiguousarray(Z))
            kernels().sparse_cross(self._table, Z, ZtX, root, squares)
            return ZtX
        if squares is not None:
            data, rows, starts = self._stored
            # Weights before squares: a row without weight may overflow.
            weighted = data if root is None else data * root[rows]
            R = sp.csc_array((np.square(weighted), rows, starts), shape=self.shape)
            squares[:] = R.T @ np.ones(self.shape[0])
        return np.ascontiguousarray((self._X.T @ Z).T)

    def direction(
        self, j: int, means: Floats, factors: Floats, root: Floats | None, Qt: Floats, k: int
    ) -> tuple[Floats, Floats, float] | None:
        if self._table is None:
            return None
        r, h = np.empty(self.shape[1]), np.empty(k)
        norm = kernels().sparse_direction(self._table, means, factors, root, j, k, Qt, h, r)
        return r, h, norm

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_table"}

    @lazy
    def _table(self) -> Any:
        """The table as kernels know it, or None if there are none, or its indices are too long."""
        _, rows, starts = self._stored
        if kernels() is None or not rows.dtype == starts.dtype == np.int32:
            return None
        return kernels().sparse_table(self.shape[0], *map(aligned, self._stored))

    def scan(self, V: Floats, root: Floats | None, *, gram: bool = False) -> Scan:
        Z = np.empty((self.shape[0], 1 + V.shape[1]))  # [w, root * V]
        Z[:, 0] = 1.0 if root is None else root * root
        Z[:, 1:] = V if root is None else V * root[:, None]
        squares = np.empty(self.shape[1])
        ZtX = self.cross(Z, root, squares)
        return Scan(ZtX[0], squares, ZtX[1:])

    def rescaled(self, shift: Floats, scale: Floats) -> Matrix:
        data, rows, starts = self._stored
        filled = np.diff(starts)
        shift = np.where(self.movable(), shift, 0.0)
        data = (data - np.repeat(shift, filled)) * np.repeat(scale, filled)
        return self._with(CompressedColumns(data, rows, starts), self.precision)

    def movable(self) -> NDArray[np.bool_]:
        return np.diff(self._stored.starts) == self.shape[0]

    def filled(self, *, distinct: bool = False) -> Filled:
        if self._given is not None:
            return self._given.filled(distinct=distinct)
        return Filled(np.flatnonzero(np.diff(self._stored.starts)), NO_COLUMNS, NO_COLUMNS)

    def restricted(self, J: Indices) -> Matrix:
        if self._given is not None:
            return self._with(self._given.columns(J), self.precision[J])
        data, rows, starts = self._stored
        filled = np.diff(starts)
        rising = bool((np.diff(J) > 0).all())
        if rising and len(J) == np.count_nonzero(filled) and filled[J].all():  # empty ones go
            starts = np.append(starts[J], starts[-1])
            return self._with(CompressedColumns(data, rows, starts), self.precision[J])
        return self._with(compressed_columns(self._X[:, J]), self.precision[J])

    def levels_of(self, J: Indices) -> NDArray[np.int32]:
        level = np.zeros(self.shape[0], dtype=np.int32)
        data, rows, starts = self._stored
        for place, j in enumerate(J.tolist(), start=1):
            here = slice(starts[j], starts[j + 1])
            level[rows[here][data[here] != 0.0]] = place
        return level

    def gram(
        self, J: Indices, means: Floats, factors: Floats, root: Floats | None
    ) -> tuple[Floats, Floats, Floats]:
        if self.shape[0] * len(J) <= _DENSE:
            return super().gram(J, means, factors, root)
        Z = self.scaled_columns(J, factors, root)
        return self.cross_sparse(Z), Z.sum(axis=0), np.zeros(len(J))

    def scaled_columns(self, J: Indices, factors: Floats, root: Floats | None) -> sp.csr_array:
        """Return columns J, not centered, times their factors and the weights of the rows."""
        Z = self._X[:, J] * factors
        return sp.csr_array(Z if root is None else Z * (root * root)[:, None])

    def cross_sparse(self, Z: sp.csr_array) -> Floats:
        return (Z.T @ self._X).toarray(order="C")

    def block_gram(self, J: Indices, root: Floats | None) -> Floats:
        if self.shape[0] * len(J) <= _DENSE:  # quicker than to cut out a sparse part
            return super().block_gram(J, root)
        A = self._X[:, J]
        if root is not None:
            A = sp.csc_array((A.data * root[A.indices], A.indices, A.indptr), shape=A.shape)
        return (A.T @ A).toarray()

    def extremes(self, J: Indices) -> tuple[Floats, Indices, Indices]:
        part = self._X[:, J]
        owner = np.repeat(np.arange(len(J)), np.diff(part.indptr))
        peaks = np.zeros(len(J))
        np.fmax.at(peaks, owner, np.where(np.isinf(part.data), 0.0, np.abs(part.data)))
        n_nan = np.bincount(owner, np.isnan(part.data), minlength=len(J))
        n_inf = np.bincount(owner, np.isinf(part.data), minlength=len(J))
        return peaks, n_nan.astype(np.intp), n_inf.astype(np.intp)
