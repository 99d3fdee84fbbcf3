"""A sparse table as its numbers: compressed columns, and compressed rows that become such.

Tables often come by rows, with many columns that are empty in the rows at hand; the others are
short. They are turned once it is known which columns are wanted, and in which order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.errors import InputError
from orthoselect.matrix.base import Filled, Floats, Indices
from orthoselect.native import aligned, kernels

_TURNED = "dfbB?hilq"  # types of numbers that a kernel turns from rows to columns


class Columns(NamedTuple):
    """Compressed columns: column j has data[starts[j]:starts[j + 1]], in these rows, which rise."""

    data: Floats
    rows: NDArray[np.integer]
    starts: NDArray[np.integer]

    @property
    def are_short(self) -> bool:
        """Whether indices have the size that kernels take."""
        return self.rows.dtype == np.int32 == self.starts.dtype


def compressed_columns(X: Any) -> Columns:
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
    return Columns(*map(np.ascontiguousarray, (X.data[:stored], rows, starts)))


def _check_sound(X: Any) -> None:
    """Raise where indices leave the table: SciPy takes them on trust, and goes astray."""
    if X.format not in ("csr", "csc"):
        return
    room, stored = min(len(X.indices), len(X.data)), int(X.indptr[-1])
    if X.indptr[0] != 0 or (np.diff(X.indptr) < 0).any() or stored > room:
        raise InputError(
            f"X should be a sound sparse table; `indptr` of this {X.format} table does not grow "
            f"from 0 to its {room} stored numbers. Build it anew."
        )
    limit, indices = X.shape[1 if X.format == "csr" else 0], X.indices[:stored]
    if stored and not 0 <= indices.min() <= indices.max() < limit:
        worst = int(indices.min()) if indices.min() < 0 else int(indices.max())
        raise InputError(
            f"X should be a sound sparse table; `indices` of this {X.format} table should be from "
            f"0 to {limit - 1}, and hold {worst}. Build it anew."
        )


def _whole(values: NDArray) -> NDArray:
    """Return values where kernels take them, one behind the other."""
    return aligned(np.ascontiguousarray(values))


class CompressedRows:
    """Compressed rows whose columns rise, of a type that a kernel turns; see `of`."""

    def __init__(self, X: Any, counts: NDArray[np.int32], last: NDArray[np.int32]) -> None:
        stored = int(X.indptr[-1])
        self._parts = [_whole(a) for a in (X.data[:stored], X.indices[:stored], X.indptr)]
        self._counts, self._last = counts, last  # of each column, and the row of its last number

    @classmethod
    def of(cls, X: Any) -> CompressedRows | None:
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
        return cls(X, counts, last) if rising else None

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
        """Whether no stored number is zero, which is as good as none, or not finite."""
        numbers = self._parts[0]
        return bool(numbers.all()) and (
            numbers.dtype.kind != "f" or bool(np.isfinite(numbers).all())
        )

    def columns(self, J: Indices) -> Columns:
        """Return columns J, none of them twice, in this order."""
        J = np.ascontiguousarray(J, np.int64)
        stored = int(self._counts[J].sum())
        data, rows = np.empty(stored), np.empty(stored, np.int32)
        turned = Columns(data, rows, np.empty(len(J) + 1, np.int32))
        kernels().sparse_turn(*self._parts, self._counts, J, *turned)
        return turned
