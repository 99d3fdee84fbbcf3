"""Numeric columns by blocks, and the levels that cuts or values make of their cells.

The level of a value is how many cuts it reaches. So a value equal to a cut belongs to the level
above it, a value below all cuts to level 0 and one above all of them to the last level, however far
out. Cuts that nothing reaches make one level.

Columns come by blocks, dense or sparse, so that no float copy of a whole table is ever made. What
is done to each number has a kernel (src/native/coding.c) and a way in NumPy, with the same levels.
In a sparse block the level that zero falls into is called 0 and is not written down; those below it
are called one higher than in a dense block, those above it are called the same.

Notation: b columns of N rows; L levels; `cuts` (b, L - 1), rising from left to right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.lazy import lazy
from orthoselect.matrix.base import EPS, Floats, Indices
from orthoselect.matrix.threads import run_tasks
from orthoselect.native import kernels

MAX_LEVELS = 256  # of a numeric column: its codes fit a byte
_BLOCK_BYTES = 1 << 20
_CACHE_LINE = 64
_TILE_ROWS = 512  # transposed at once: they stay in a core's own cache
_BLOCK_STORED = 1 << 20  # cells of a sparse block
_BLOCK_COLUMNS = 1 << 13  # of a block, dense or sparse: there is a table of their levels
_FEW_CUTS = 16  # up to so many, comparing with each beats a search
_TOO_MANY = MAX_LEVELS + 1
_COST_OF_A_CELL = 10  # multiplications
_KERNEL_TYPES = "dfbBhHiIlLqQ"


@dataclass(frozen=True)
class Values:
    """The distinct values of b columns.

    Examples
    --------
    >>> some = Values.of(np.array([1, 0, 1, 1]), np.array([5.0, 2.0, 4.0, 5.0]), 2)
    >>> some.numbers, some.counts
    (array([2., 4., 5.]), array([1, 2]))
    >>> some.merge(Values.of(np.array([0, 1]), np.array([9.0, 4.0]), 2)).counts
    array([2, 2])
    """

    numbers: NDArray  # rising for each column, one column after the other
    counts: Indices  # how many each has, (b,); of more than 256 none is kept, and it is 257

    @staticmethod
    def of(owner: Indices, numbers: NDArray, b: int) -> Values:
        """Find the distinct ones among numbers, of which each belongs to one of b columns."""
        order = np.lexsort((numbers, owner))
        owner, numbers = owner[order], numbers[order]
        is_new = np.ones(len(order), dtype=bool)
        is_new[1:] = (numbers[1:] != numbers[:-1]) | (owner[1:] != owner[:-1])
        owner, numbers = owner[is_new], numbers[is_new]
        counts = np.bincount(owner, minlength=b)
        return Values(numbers[counts[owner] <= MAX_LEVELS], np.minimum(counts, _TOO_MANY))

    @property
    def owner(self) -> Indices:
        """The column of each number."""
        return np.repeat(np.arange(len(self.counts)), self._kept)

    @property
    def _kept(self) -> Indices:
        return np.where(self.counts > MAX_LEVELS, 0, self.counts)

    def columns(self) -> Iterator[NDArray]:
        """Yield the values of each column."""
        stop = 0
        for kept in self._kept.tolist():
            start, stop = stop, stop + kept
            yield self.numbers[start:stop]

    def take(self, which: NDArray[np.bool_]) -> Values:
        """Return the values of some of the columns."""
        if which.all():
            return self
        return Values(self.numbers[which[self.owner]], self.counts[which])

    def merge(self, other: Values) -> Values:
        """Return the distinct values of both, column by column."""
        owner = np.concatenate([self.owner, other.owner])
        both = Values.of(owner, np.concatenate([self.numbers, other.numbers]), len(self.counts))
        counts = np.maximum(both.counts, np.maximum(self.counts, other.counts))
        return Values(both.numbers[counts[both.owner] <= MAX_LEVELS], counts)

    def places(self, owner: Indices, numbers: NDArray) -> Indices:
        """Return the place of numbers among the values of their columns, by halving."""
        if not len(self.numbers):
            return np.zeros(len(owner), dtype=np.intp)
        first, counts = (np.cumsum(self._kept) - self._kept)[owner], self.counts[owner]
        place = np.zeros(len(owner), dtype=np.intp)
        for step in 2 ** np.arange(int(self._kept.max()).bit_length())[::-1]:
            ahead = place + step
            at = np.minimum(first + ahead, len(self.numbers) - 1)
            place[(ahead < counts) & (self.numbers[at] <= numbers)] += step
        return place


Cells = tuple[NDArray, NDArray, NDArray]  # feature, row and code of some cells
_Ranked = tuple[NDArray, NDArray[np.uint8]]  # distinct values, the place of each value


class DenseColumns:
    """A block of columns, each written out, and the levels of its cells.

    A (b, N) holds integers, booleans or floats, column by column. Levels come as one array, an
    entry for every cell that is written down.
    """

    def __init__(self, A: NDArray) -> None:
        self.A = A.view(np.uint8) if A.dtype == bool else A
        self.shape = (A.shape[1], A.shape[0])  # (N, b)
        self.n_stored = np.full(A.shape[0], A.shape[1])  # written cells of each column, (b,)
        self._ranked: dict[int, _Ranked | None] = {}  # columns whose values were sorted already

    @lazy
    def extremes(self) -> tuple[Floats, Floats]:
        """Smallest and largest value of each column, (b,); NaN where there is one."""
        low, high = self._ends
        return low[:, 0].astype(np.float64), high[:, 0].astype(np.float64)

    @lazy
    def _ends(self) -> tuple[NDArray, NDArray]:
        """The extremes in the block's own dtype, (b, 1): floats may round large integers."""
        native = _kernels_for(self.A)
        if native is None:
            return self.A.min(axis=1, keepdims=True), self.A.max(axis=1, keepdims=True)
        low, high = np.empty((2, len(self.A), 1), dtype=self.A.dtype)
        native.column_ends(self.A, low[:, 0], high[:, 0])
        return low, high

    def moments(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Return mean and population standard deviation (the divisor is N) of each column, (b,)."""
        scale = scale_near_one(*self.extremes)
        B = self.A * scale[:, None]
        mean = np.average(B, axis=1, weights=weights)
        B -= mean[:, None]
        rest = np.average(B, axis=1, weights=weights)  # the first mean is itself rounded
        B -= rest[:, None]
        np.multiply(B, B, out=B)
        return (mean + rest) / scale, np.sqrt(np.average(B, axis=1, weights=weights)) / scale

    @lazy
    def whole(self) -> NDArray[np.bool_]:
        """Which columns hold whole numbers only, (b,)."""
        if self.A.dtype.kind != "f":
            return np.ones(len(self.A), dtype=bool)
        whole = (self.A[:, :64] == np.trunc(self.A[:, :64])).all(axis=1)  # mostly decides
        rest = np.flatnonzero(whole)
        whole[rest] = (self.A[rest] == np.trunc(self.A[rest])).all(axis=1)
        return whole

    def distinct(self) -> Values:
        """Return the distinct values of each column."""
        low, high = (ends[:, 0] for ends in self._ends)
        only = self._only(*self._ends)
        two, marked = np.flatnonzero(only & (low < high)), np.flatnonzero(self._narrow & ~only)
        row, above = np.nonzero(self._marks(marked))
        above = above + low[marked[row]].astype(np.int64)
        found = [(np.flatnonzero(only), low[only]), (two, high[two]), (marked[row], above)]
        counts = np.zeros(len(self.A), dtype=np.intp)
        for k in np.flatnonzero(~(self._narrow | only)).tolist():
            values, self._ranked[k] = _unique(self.A[k])
            counts[k] = _TOO_MANY
            if len(values) <= MAX_LEVELS:
                found.append((np.full(len(values), k), values))
        owner = np.concatenate([owner for owner, _ in found])
        numbers = np.concatenate([part.astype(self.A.dtype) for _, part in found])
        owned = np.bincount(owner, minlength=len(counts))
        order = np.argsort(owner, kind="stable")
        return Values(numbers[order], np.where(owned > 0, owned, counts))

    @lazy
    def _narrow(self) -> NDArray[np.bool_]:
        """Which columns hold whole numbers of a range of 256, (b,)."""
        low, high = self.extremes
        exact = np.maximum(np.abs(low), np.abs(high)) < 1 / EPS  # as floats
        # Halves: the difference of the two ends may be beyond the largest float.
        return self.whole & exact & (high / 2 - low / 2 < MAX_LEVELS / 2)

    @lazy
    def _above(self) -> tuple[Indices, NDArray[np.uint8]]:
        """The place of each column among the narrow ones; how far these are above their lowest."""
        A, least = self.A, self._ends[0]
        if not self._narrow.all():
            A, least = A[self._narrow], least[self._narrow]
        above = (A - least).astype(np.uint8)  # integers may wrap, and are right modulo 256
        return np.cumsum(self._narrow) - 1, above

    def _marks(self, at: Indices) -> NDArray[np.bool_]:
        """Return which numbers from the lowest on narrow columns `at` hold, (m, 256)."""
        seen = np.zeros((len(at), MAX_LEVELS), dtype=bool)
        native = _kernels_for(self.A)
        if native is not None:
            low, high = (ends[:, 0] for ends in self._ends)
            native.mark_numbers(self.A, as_places(at), low, high, seen.view(np.uint8))
        else:
            for row, k in zip(seen, at.tolist()):
                place, above = self._above
                row[:] = np.bincount(above[place[k]], minlength=MAX_LEVELS) > 0
        return seen

    def _only(self, low: NDArray, high: NDArray) -> NDArray[np.bool_]:
        """Return which columns hold these two values only, (b,)."""
        first = self.A[:, :64]  # mostly decides
        only = ((first == low) | (first == high)).all(axis=1)
        rest = np.flatnonzero(only)
        A, low, high = (part if only.all() else part[rest] for part in (self.A, low, high))
        only[rest] = ((low == A) | (high == A)).all(axis=1)
        return only

    def take(self, which: NDArray[np.bool_]) -> DenseColumns:
        """Return the block of some of the columns."""
        return self if which.all() else DenseColumns(self.A[which])

    def cells(self, which: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the index by which an array of levels gives those of some of the columns."""
        return which

    def blank(self) -> NDArray[np.uint8]:
        """Return room for the levels of all cells."""
        return np.empty(self.A.shape, dtype=np.uint8)

    def cut(self, cuts: Floats) -> NDArray[np.uint8]:
        """Return how many cuts every cell reaches."""
        native = _kernels_for(self.A)
        if native is not None and cuts.shape[1] < MAX_LEVELS:
            levels = self.blank()
            native.cut_columns(self.A, np.ascontiguousarray(cuts, dtype=np.float64), levels)
            return levels
        levels = np.zeros(self.A.shape, dtype=np.uint8)
        if cuts.shape[1] <= _FEW_CUTS:
            for k in range(cuts.shape[1]):
                levels += cuts[:, k : k + 1] <= self.A
            return levels
        for row, at, values in zip(levels, cuts, self.A):
            row[:] = np.searchsorted(at, values, side="right")
        return levels

    def rank(self, values: Values) -> NDArray[np.uint8]:
        """Return each cell's place among the values of its column, at most 256 of them.

        What lies between two values has the place of the lower, what is below all has place 0.
        """
        if len(self.A) and (values.counts == 2).all():
            return (values.numbers[1::2, None] <= self.A).view(np.uint8)
        levels = self.blank()
        at = np.flatnonzero(self._narrow)
        self._look_up(at, self._tables(values, at), levels)
        if len(at) < len(self.A):
            for k, own in enumerate(values.columns()):
                if self._narrow[k]:
                    continue
                ranked = self._ranked.get(k)
                if ranked is not None and np.array_equal(own, ranked[0]):
                    levels[k] = ranked[1]
                else:
                    levels[k] = _places(own[1:], self.A[k])
        return levels

    def _tables(self, values: Values, at: Indices) -> NDArray[np.uint8]:
        """Return the places of all numbers from the lowest on in narrow columns `at`, (m, 256)."""
        row = np.full(len(self.A), -1)
        row[at] = np.arange(len(at))
        owner = row[values.owner]
        owner, numbers = owner[owner >= 0], values.numbers[owner >= 0].astype(np.float64)
        # The first whole number that is not below each value; beyond the last there is none.
        first = np.clip(np.ceil(numbers) - self.extremes[0][at][owner], 0, MAX_LEVELS)
        cells = owner * (MAX_LEVELS + 1) + first.astype(np.intp)
        there = np.bincount(cells, minlength=len(at) * (MAX_LEVELS + 1))
        there = there.reshape(len(at), MAX_LEVELS + 1)
        reached = np.cumsum(there[:, :-1], axis=1, dtype=np.int16)
        return np.maximum(reached - 1, 0).astype(np.uint8)

    def _look_up(self, at: Indices, tables: NDArray[np.uint8], levels: NDArray[np.uint8]) -> None:
        """Write the levels of narrow columns `at`."""
        native = _kernels_for(self.A)
        if native is not None:
            low, high = (ends[:, 0] for ends in self._ends)
            native.look_up_numbers(self.A, as_places(at), low, high, tables, levels)
            return
        for k, table in zip(at.tolist(), tables):
            place, above = self._above
            table.take(above[place[k]], out=levels[k])

    def put(self, levels: NDArray[np.uint8], f: Indices, room: NDArray) -> None:
        """Put levels of these columns, which are features f, into room for all, (n, N)."""
        room[as_slice(f)] = levels

    def written_out(self, levels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the levels of a block of one column, row by row, (N,)."""
        return levels[0]


def _unique(column: NDArray) -> tuple[NDArray, _Ranked | None]:
    """Return the distinct values, and the place of each value among them.

    Of more than 256 values, 257 or more are returned, and no places.
    """
    few = np.unique(column[: 4 * MAX_LEVELS])  # mostly decides
    if len(few) > MAX_LEVELS:
        return few, None
    distinct, places = np.unique(column, return_inverse=True)
    if len(distinct) > MAX_LEVELS:
        return distinct, None
    return distinct, (distinct, places.reshape(-1).astype(np.uint8))


def _places(cuts: NDArray, column: NDArray) -> NDArray:
    """Return how many cuts each value reaches: by comparing, by a table, or by a search."""
    if len(cuts) <= _FEW_CUTS:
        levels = np.zeros(len(column), dtype=np.uint8)
        for cut in cuts:
            levels += column >= cut
        return levels
    below, top = cuts[0] - 1, cuts[-1]  # there is a value below the first cut
    is_narrow = column.dtype == cuts.dtype and int(top) - int(below) < MAX_LEVELS
    if not is_narrow or (cuts != np.trunc(cuts)).any() or not np.isfinite(column).all():
        return np.searchsorted(cuts, column, side="right")
    table = np.zeros(int(top) - int(below) + 1, dtype=np.uint8)
    table[(cuts - below).astype(np.uint8)] = 1
    return np.cumsum(table, dtype=np.uint8).take((column.clip(below, top) - below).astype(np.uint8))


class SparseColumns:
    """A block of sparse columns; the level of its zeros is called 0 and not written down.

    It answers what `DenseColumns` does. X (N, b) is CSC, with rows sorted within each column; no
    duplicates, no zeros.
    """

    def __init__(self, X: Any) -> None:
        self.X = X
        self.shape = X.shape
        self.data = X.data.view(np.uint8) if X.data.dtype == bool else X.data
        self.n_stored = np.diff(X.indptr)  # (b,)
        self.owner = np.repeat(np.arange(X.shape[1]), self.n_stored)  # column of each stored value

    @lazy
    def extremes(self) -> tuple[Floats, Floats]:
        low, high = np.zeros(self.shape[1]), np.zeros(self.shape[1])
        some = np.flatnonzero(self.n_stored)
        if some.size:
            starts = self.X.indptr[some]
            low[some] = np.minimum.reduceat(self.data, starts)
            high[some] = np.maximum.reduceat(self.data, starts)
        gaps = self.n_stored < self.shape[0]
        return np.where(gaps & (low > 0), 0.0, low), np.where(gaps & (high < 0), 0.0, high)

    def moments(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        b = self.shape[1]
        w = np.ones(self.shape[0]) if weights is None else weights
        written = w[self.X.indices]
        total = w.sum()
        gaps = np.maximum(total - np.bincount(self.owner, written, minlength=b), 0.0)
        gaps[self.n_stored == self.shape[0]] = 0.0
        scale = scale_near_one(*self.extremes)
        data = self.data * scale[self.owner]
        mean = np.bincount(self.owner, written * data, minlength=b) / total
        squares = np.bincount(self.owner, written * (data - mean[self.owner]) ** 2, minlength=b)
        return mean / scale, np.sqrt((squares + gaps * mean**2) / total) / scale

    @lazy
    def whole(self) -> NDArray[np.bool_]:
        if self.data.dtype.kind != "f":
            return np.ones(self.shape[1], dtype=bool)
        fractional = self.owner[self.data != np.trunc(self.data)]
        return np.bincount(fractional, minlength=self.shape[1]) == 0

    @lazy
    def _small(self) -> tuple[Any, Any, int, Indices]:
        """Which stored cells are of columns of whole numbers from 0 to 255, and which are not.

        And the places of the former in a table of columns and numbers, of so many slots each.
        """
        low, high = self.extremes
        small = self.whole & (low >= 0) & (high < MAX_LEVELS)
        cells: Any = slice(None), slice(0)
        if not small.all():
            cells = small[self.owner], ~small[self.owner]
        numbers = self.data[cells[0]].astype(np.intp)
        slots = int(numbers.max(initial=0)) + 2
        return *cells, slots, self.owner[cells[0]] * slots + numbers

    def distinct(self) -> Values:
        _, others, slots, places = self._small
        gaps = np.flatnonzero(self.n_stored < self.shape[0])
        seen = np.flatnonzero(np.bincount(places))
        owner = np.concatenate([gaps, seen // slots, self.owner[others]])
        found = [np.zeros(len(gaps)), seen % slots, self.data[others]]
        dtype = self.data.dtype
        return Values.of(owner, np.concatenate([x.astype(dtype) for x in found]), self.shape[1])

    def take(self, which: NDArray[np.bool_]) -> SparseColumns:
        return self if which.all() else SparseColumns(self.X[:, np.flatnonzero(which)])

    def cells(self, which: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return which[self.owner]

    def blank(self) -> NDArray[np.uint8]:
        return np.empty(len(self.data), dtype=np.uint8)

    def cut(self, cuts: Floats) -> NDArray[np.uint8]:
        levels = np.zeros(len(self.data), dtype=np.uint8)
        for k in range(cuts.shape[1]):
            levels += self.data >= cuts[self.owner, k]
        return zero_first(levels, level_of_zero(cuts)[self.owner])

    def rank(self, values: Values) -> NDArray[np.uint8]:
        small, others, slots, places = self._small
        b = self.shape[1]
        up = np.clip(np.ceil(values.numbers), 0, slots - 1).astype(np.intp)
        there = np.bincount(values.owner * slots + up, minlength=b * slots).reshape(b, slots)
        rank_of = np.maximum(np.cumsum(there, axis=1) - 1, 0)  # of small whole numbers
        levels = self.blank()
        levels[small] = zero_first(rank_of, rank_of[:, :1]).take(places)
        owner = self.owner[others]
        levels[others] = zero_first(values.places(owner, self.data[others]), rank_of[owner, 0])
        return levels

    def put(self, levels: NDArray[np.uint8], f: Indices, room: list[Cells]) -> None:
        keep: Any = levels != 0
        keep = slice(None) if keep.all() else keep
        room.append((f[self.owner[keep]], self.X.indices[keep], levels[keep]))

    def written_out(self, levels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        out = np.zeros(self.shape[0], dtype=np.uint8)
        out[self.X.indices] = levels
        return out


NumericColumns = DenseColumns | SparseColumns
ColumnBlocks = Iterator[tuple[slice, NumericColumns]]


def level_of_zero(cuts: Floats) -> Indices:
    """Return the level that zero falls into, (b,)."""
    return (cuts <= 0.0).sum(axis=1)


def zero_first(levels: NDArray, zero: NDArray) -> NDArray[np.uint8]:
    """Call the level of zero 0, and those below it one higher."""
    return np.where(levels == zero, 0, levels + (levels < zero)).astype(np.uint8)


def scale_near_one(low: Floats, high: Floats) -> Floats:
    """Return powers of two that bring columns near 1: squares stay in range, nothing is rounded."""
    exponents = np.frexp(np.maximum(np.abs(low), np.abs(high)))[1]
    return np.ldexp(1.0, -np.clip(exponents, -1000, 1000))


def canonical(X: Any) -> Any:
    """Return sparse columns in order, without written zeros; what was given is only read."""
    given, X = X, sp.csc_array(X)
    if not X.has_canonical_format or (X.data == 0).any():
        X = X.copy() if np.shares_memory(X.data, given.data) else X
        X.sum_duplicates()
        X.eliminate_zeros()
    return X


def column_blocks(X: Any, at: Indices | None = None) -> ColumnBlocks:
    """Yield columns `at` of X by blocks that take little memory: which part of `at`, and the block.

    X (N, n) is an array, or sparse as `canonical` makes it; without `at` all columns are meant.
    """
    at = np.arange(X.shape[1]) if at is None else at
    if sp.issparse(X):
        yield from _sparse_blocks(X if len(at) == X.shape[1] else X[:, at])
        return
    for part in _parts(X, len(at)):
        yield part, _dense_block(X, at[part])


def for_each_block(X: Any, at: Indices, work: Callable[[slice, NumericColumns], None]) -> None:
    """Do work on the blocks of `column_blocks`, dense ones in a few threads.

    What the first block raises is raised, whichever thread comes first.
    """
    if sp.issparse(X) or kernels() is None:
        for part, columns in column_blocks(X, at):
            work(part, columns)
        return
    errors: dict[int, Exception] = {}

    def task(part: slice, _: Any) -> None:
        try:
            work(part, _dense_block(X, at[part]))
        except Exception as error:
            errors[part.start] = error

    run_tasks(_parts(X, len(at)), task, cost=_COST_OF_A_CELL * X.shape[0] * len(at))
    if errors:
        raise errors[min(errors)]


def _parts(X: NDArray, n: int) -> list[slice]:
    """Return the blocks of n columns of X, an array, of which each takes little memory."""
    itemsize = X.dtype.itemsize
    a_line = max(1, _CACHE_LINE // itemsize)
    width = _BLOCK_BYTES // (itemsize * max(X.shape[0], 1)) // a_line * a_line
    width = max(a_line, min(width, _BLOCK_COLUMNS))
    return [slice(start, min(start + width, n)) for start in range(0, n, width)]


def _dense_block(X: NDArray, at: Indices) -> DenseColumns:
    """Return columns `at` of X, an array: a view where they stand one after the other."""
    X = X.view(np.uint8) if X.dtype == bool else X
    own, native = as_slice(at), _kernels_for(X)
    if X.flags.f_contiguous and isinstance(own, slice):
        A = X.T[own]
    else:
        A = np.empty((len(at), X.shape[0]), dtype=X.dtype)
        if native is not None:
            native.turn_columns(X, as_places(at), A)
        else:
            for row in range(0, X.shape[0], _TILE_ROWS):
                rows = slice(row, row + _TILE_ROWS)
                A[:, rows] = X[rows, own].T
    return DenseColumns(A.astype(np.float64) if X.dtype.itemsize > 8 else A)


def _kernels_for(A: NDArray) -> Any:
    """Return the kernels, or None if they have no way with these numbers."""
    is_known = A.dtype.char in _KERNEL_TYPES and A.dtype.isnative and A.flags.aligned
    in_rows = A.shape[1] < 2 or A.strides[1] == A.itemsize
    return kernels() if is_known and in_rows and A.size else None


def as_places(at: Indices) -> NDArray[np.int64]:
    """Return indices as kernels take them."""
    return np.ascontiguousarray(at, dtype=np.int64)


def as_slice(at: Indices) -> Indices | slice:
    """Return neighboring columns as a slice, which needs no copy."""
    if len(at) and at[-1] - at[0] == len(at) - 1 and (np.diff(at) == 1).all():
        return slice(int(at[0]), int(at[-1]) + 1)
    return at


def _sparse_blocks(X: Any) -> ColumnBlocks:
    """Yield columns of X, CSC, by blocks of few stored values, which share its memory."""
    start, n = 0, X.shape[1]
    while start < n:
        stop = int(np.searchsorted(X.indptr, X.indptr[start] + _BLOCK_STORED, side="right")) - 1
        stop = min(max(stop, start + 1), n, start + _BLOCK_COLUMNS)
        first, last = X.indptr[start], X.indptr[stop]
        part = X.data[first:last], X.indices[first:last], X.indptr[start : stop + 1] - first
        shape = (X.shape[0], stop - start)
        yield slice(start, stop), SparseColumns(type(X)(part, shape=shape))
        start = stop
