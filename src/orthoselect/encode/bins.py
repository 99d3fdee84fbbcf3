"""Rules that cut numeric columns into a few levels.

A rule finds cuts for every column, and the level of a value is how many cuts it reaches. So a
value equal to a cut belongs to the level above it, a value below all cuts to level 0 and one above
all of them to the last level, however far out. A constant column has cuts that nothing reaches:
one level.

Columns come by blocks, dense or sparse, so that no float copy of a whole table is ever made. In a
sparse block the level that zero falls into is called 0 and is not written down; those below it are
called one higher than in a dense block, those above it are called the same.

Notation: b columns of N rows; L levels; `cuts` (b, L - 1), rising from left to right.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.lazy import lazy
from orthoselect.matrix.base import EPS, Floats, Indices

MAX_LEVELS = 256  # of a numeric column: its codes fit a byte
_BLOCK_BYTES = 1 << 20
_CACHE_LINE = 64
_TILE_ROWS = 512  # transposed at once: they stay in a core's own cache
_BLOCK_STORED = 1 << 20  # cells of a sparse block
_BLOCK_COLUMNS = 1 << 13  # its columns: there is a table of their levels
_FEW_CUTS = 16  # up to so many, comparing with each beats a search
_CUT_ROUNDINGS = 8.0


class Columns(ABC):
    """A block of numeric columns, and the levels of its cells.

    Levels come as one array, an entry for every cell that is written down.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns, (N, b).
    """

    shape: tuple[int, int]

    @lazy
    @abstractmethod
    def extremes(self) -> tuple[Floats, Floats]:
        """Smallest and largest value of each column, (b,); NaN where there is one."""

    @abstractmethod
    def moments(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Return mean and population standard deviation (the divisor is N) of each column, (b,)."""

    @lazy
    @abstractmethod
    def whole(self) -> NDArray[np.bool_]:
        """Which columns hold whole numbers only, (b,)."""

    @abstractmethod
    def distinct(self, k: int) -> Floats:
        """Return the distinct values of column k, rising; 257 or more of them if there are more."""

    @abstractmethod
    def take(self, which: NDArray[np.bool_]) -> Any:
        """Return the block of some of the columns."""

    @abstractmethod
    def cells(self, which: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the index by which an array of levels gives those of some of the columns."""

    @abstractmethod
    def blank(self) -> tuple[NDArray[np.uint8], Indices]:
        """Return room for the levels of all cells, and for their numbers, (b,)."""

    @abstractmethod
    def cut(self, cuts: Floats) -> NDArray[np.uint8]:
        """Return how many cuts every cell reaches."""

    @abstractmethod
    def rank(self) -> tuple[NDArray[np.uint8], Indices]:
        """Return each cell's place among the distinct values of its column, and their number, (b,).

        Places are right for up to 256 values; of a column with more, the number is at least 257.
        """

    @abstractmethod
    def compact(self, levels: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], Indices]:
        """Leave out the levels that do not occur; return the others and their number, (b,)."""


class DenseColumns(Columns):
    """A block of columns, each written out.

    Parameters
    ----------
    A : array of shape (b, N)
        Column by column; integers, booleans or floats.
    """

    def __init__(self, A: NDArray) -> None:
        self.A = A.view(np.uint8) if A.dtype == bool else A
        self.shape = (A.shape[1], A.shape[0])

    @lazy
    def extremes(self) -> tuple[Floats, Floats]:
        """Smallest and largest value of each column."""
        low, high = self._ends
        return low[:, 0].astype(np.float64), high[:, 0].astype(np.float64)

    @lazy
    def _ends(self) -> tuple[NDArray, NDArray]:
        """The extremes in the block's own dtype, (b, 1): floats may round large integers."""
        return self.A.min(axis=1, keepdims=True), self.A.max(axis=1, keepdims=True)

    def moments(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Return mean and population standard deviation of each column."""
        scale = _scale(*self.extremes)
        B = self.A * scale[:, None]
        mean = np.average(B, axis=1, weights=weights)
        B -= mean[:, None]
        rest = np.average(B, axis=1, weights=weights)  # the first mean is itself rounded
        B -= rest[:, None]
        np.multiply(B, B, out=B)
        return (mean + rest) / scale, np.sqrt(np.average(B, axis=1, weights=weights)) / scale

    @lazy
    def whole(self) -> NDArray[np.bool_]:
        """Which columns hold whole numbers only."""
        if self.A.dtype.kind != "f":
            return np.ones(len(self.A), dtype=bool)
        whole = (self.A[:, :64] == np.trunc(self.A[:, :64])).all(axis=1)  # mostly decides
        rest = np.flatnonzero(whole)
        whole[rest] = (self.A[rest] == np.trunc(self.A[rest])).all(axis=1)
        return whole

    def distinct(self, k: int) -> Floats:
        """Return the distinct values of column k, if they are not too many."""
        few = np.unique(self.A[k, : 4 * MAX_LEVELS])  # mostly decides
        return (few if len(few) > MAX_LEVELS else np.unique(self.A[k])).astype(np.float64)

    def take(self, which: NDArray[np.bool_]) -> DenseColumns:
        """Return the block of some of the columns."""
        return self if which.all() else DenseColumns(self.A[which])

    def cells(self, which: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the index by which an array of levels gives those of some of the columns."""
        return which

    def blank(self) -> tuple[NDArray[np.uint8], Indices]:
        """Return room for the levels of all cells, and for their numbers."""
        return np.empty(self.A.shape, dtype=np.uint8), np.empty(len(self.A), dtype=np.intp)

    def cut(self, cuts: Floats) -> NDArray[np.uint8]:
        """Return how many cuts every value reaches, (b, N)."""
        levels = np.zeros(self.A.shape, dtype=np.uint8)
        if cuts.shape[1] <= _FEW_CUTS:
            for k in range(cuts.shape[1]):
                levels += cuts[:, k : k + 1] <= self.A
            return levels
        for row, at, values in zip(levels, cuts, self.A):
            row[:] = np.searchsorted(at, values, side="right")
        return levels

    def rank(self) -> tuple[NDArray[np.uint8], Indices]:
        """Return each value's place among the distinct ones of its column, and their number."""
        low, high = self._ends
        two = self._only(low, high)
        if two.all():
            return (low < self.A).view(np.uint8), 1 + (low < high)[:, 0].astype(np.intp)
        places, counts = self.blank()
        if two.any():
            places[two], counts[two] = self.take(two).rank()
        smallest, largest = self.extremes
        exact = np.maximum(np.abs(smallest), np.abs(largest)) < 1 / EPS  # as floats
        # Halves: the difference of the two ends may be beyond the largest float.
        narrow = ~two & self.whole & exact & (largest / 2 - smallest / 2 < MAX_LEVELS / 2)
        if narrow.any():
            # Integers may wrap, and are right modulo 256.
            above = (self.A[narrow] - low[narrow]).astype(np.uint8)
            places[narrow], counts[narrow] = self.compact(above)
        for k in np.flatnonzero(~two & ~narrow):
            counts[k] = _rank(self.A[k], places[k])
        return places, counts

    def _only(self, low: NDArray, high: NDArray) -> NDArray[np.bool_]:
        """Return which columns hold these two values only, (b,)."""
        first = self.A[:, :64]  # mostly decides
        only = ((first == low) | (first == high)).all(axis=1)
        rest = np.flatnonzero(only)
        A, low, high = (part if only.all() else part[rest] for part in (self.A, low, high))
        only[rest] = ((low == A) | (high == A)).all(axis=1)
        return only

    def compact(self, levels: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], Indices]:
        """Leave out the levels that do not occur; return the others and their number."""
        top = levels.max(axis=1, initial=0)
        counts = top.astype(np.intp) + 1
        lone = (top == 1) & levels.all(axis=1)
        for k in np.flatnonzero((top > 1) | lone):
            occurs = np.bincount(levels[k]) > 0
            counts[k] = occurs.sum()
            if counts[k] < len(occurs):
                levels[k] = (np.cumsum(occurs) - 1).astype(np.uint8)[levels[k]]
        return levels, counts


def _rank(values: NDArray, places: NDArray[np.uint8]) -> int:
    """Write the places of values among the distinct ones; return how many of these there are."""
    few = len(np.unique(values[: 4 * MAX_LEVELS]))  # mostly decides
    if few > MAX_LEVELS:
        return few
    distinct, inverse = np.unique(values, return_inverse=True)
    if len(distinct) <= MAX_LEVELS:
        places[:] = inverse.reshape(-1)
    return len(distinct)


class SparseColumns(Columns):
    """A block of sparse columns; the level of its zeros is called 0 and not written down.

    Parameters
    ----------
    X : CSC array of shape (N, b)
        Rows sorted within each column; no duplicates, no zeros.
    """

    def __init__(self, X: Any) -> None:
        self.X = X
        self.shape = X.shape
        self.data = X.data.view(np.uint8) if X.data.dtype == bool else X.data
        self.filled = np.diff(X.indptr)  # (b,)
        self.owner = np.repeat(np.arange(X.shape[1]), self.filled)  # column of each stored value

    @lazy
    def extremes(self) -> tuple[Floats, Floats]:
        """Smallest and largest value of each column, its zeros included."""
        low, high = np.zeros(self.shape[1]), np.zeros(self.shape[1])
        some = np.flatnonzero(self.filled)
        if some.size:
            starts = self.X.indptr[some]
            low[some] = np.minimum.reduceat(self.data, starts)
            high[some] = np.maximum.reduceat(self.data, starts)
        gaps = self.filled < self.shape[0]
        return np.where(gaps & (low > 0), 0.0, low), np.where(gaps & (high < 0), 0.0, high)

    def moments(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Return mean and population standard deviation of each column."""
        b = self.shape[1]
        w = np.ones(self.shape[0]) if weights is None else weights
        written = w[self.X.indices]
        total = w.sum()
        gaps = np.maximum(total - np.bincount(self.owner, written, minlength=b), 0.0)
        gaps[self.filled == self.shape[0]] = 0.0
        scale = _scale(*self.extremes)
        data = self.data * scale[self.owner]
        mean = np.bincount(self.owner, written * data, minlength=b) / total
        squares = np.bincount(self.owner, written * (data - mean[self.owner]) ** 2, minlength=b)
        return mean / scale, np.sqrt((squares + gaps * mean**2) / total) / scale

    @lazy
    def whole(self) -> NDArray[np.bool_]:
        """Which columns hold whole numbers only."""
        if self.data.dtype.kind != "f":
            return np.ones(self.shape[1], dtype=bool)
        fractional = self.owner[self.data != np.trunc(self.data)]
        return np.bincount(fractional, minlength=self.shape[1]) == 0

    def distinct(self, k: int) -> Floats:
        """Return the distinct values of column k, its zeros included."""
        values = np.unique(self.data[self.X.indptr[k] : self.X.indptr[k + 1]]).astype(np.float64)
        return np.union1d(values, [0.0]) if self.filled[k] < self.shape[0] else values

    def take(self, which: NDArray[np.bool_]) -> SparseColumns:
        """Return the block of some of the columns."""
        return self if which.all() else SparseColumns(self.X[:, np.flatnonzero(which)])

    def cells(self, which: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the index by which an array of levels gives those of some of the columns."""
        return which[self.owner]

    def blank(self) -> tuple[NDArray[np.uint8], Indices]:
        """Return room for the levels of all cells, and for their numbers."""
        return np.empty(len(self.data), dtype=np.uint8), np.empty(self.shape[1], dtype=np.intp)

    def cut(self, cuts: Floats) -> NDArray[np.uint8]:
        """Return how many cuts every stored value reaches, the level of zero moved to the front."""
        levels = np.zeros(len(self.data), dtype=np.uint8)
        for k in range(cuts.shape[1]):
            levels += self.data >= cuts[self.owner, k]
        zero = (cuts <= 0.0).sum(axis=1)[self.owner]
        return np.where(levels == zero, 0, levels + (levels < zero)).astype(np.uint8)

    def rank(self) -> tuple[NDArray[np.uint8], Indices]:
        """Return each stored value's place among those of its column, zero being 0."""
        low, high = self.extremes
        narrow = self.whole & (low >= 0) & (high < MAX_LEVELS)
        if narrow.all():
            return self.compact(self.data.astype(np.uint8))
        places, counts = self.blank()
        places[self.cells(narrow)], counts[narrow] = self.take(narrow).rank()
        rest = self.cells(~narrow)
        places[rest], counts[~narrow] = self.take(~narrow)._rank_sorted()
        return places, counts

    def _rank_sorted(self) -> tuple[NDArray[np.uint8], Indices]:
        order = np.lexsort((self.data, self.owner))
        value, owner = self.data[order], self.owner[order]
        first = np.ones(len(order), dtype=bool)
        first[1:] = (value[1:] != value[:-1]) | (owner[1:] != owner[:-1])
        counts = np.bincount(owner[first], minlength=self.shape[1])
        before = np.concatenate([[0], np.cumsum(counts)[:-1]])
        full = self.filled == self.shape[0]  # the smallest value takes the place that zero left
        places = np.empty(len(order), dtype=np.intp)
        places[order] = np.cumsum(first) - before[owner] - full[owner]
        return places.astype(np.uint8), counts + ~full

    def compact(self, levels: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], Indices]:
        """Leave out the levels that do not occur; return the others and their number."""
        width = int(levels.max(initial=0)) + 1
        places = self.owner * width + levels
        occurs = np.bincount(places, minlength=self.shape[1] * width) > 0
        occurs = occurs.reshape(self.shape[1], width)
        occurs[:, 0] |= self.filled < self.shape[0]
        new = (np.cumsum(occurs, axis=1) - 1).astype(np.uint8)
        return new.reshape(-1)[places], occurs.sum(axis=1)

    def written(self, levels: NDArray[np.uint8]) -> tuple[Indices, NDArray, NDArray[np.uint8]]:
        """Return rows written in each column, their indices and levels, without level 0."""
        keep = levels != 0
        if keep.all():
            return self.filled, self.X.indices, levels
        filled = np.bincount(self.owner[keep], minlength=self.shape[1])
        return filled, self.X.indices[keep], levels[keep]


def _scale(low: Floats, high: Floats) -> Floats:
    """Return powers of two that bring columns near 1: squares stay in range, nothing is rounded."""
    exponents = np.frexp(np.maximum(np.abs(low), np.abs(high)))[1]
    return np.ldexp(1.0, -np.clip(exponents, -1000, 1000))


def mean_std_cuts(columns: Any, n_levels: int, weights: Floats | None = None) -> Floats:
    """Return cuts at one standard deviation s about the mean m, (b, n_levels - 1).

    The standard deviation is that of the population (ddof=0).

    Parameters
    ----------
    columns : Columns, or what else has their `moments` and `extremes`
    n_levels : {3, 4}
        3: below m - s, from there to below m + s, the rest. 4: the middle one cut at m.
    weights : array of shape (N,), optional
        Row weights.

    Notes
    -----
    A value equal to a cut lies above it, and equal means up to the rounding of m and s. Hence a
    column of two values never loses one of them, although they lie on the cuts if they are equally
    frequent. Where s itself is lost in the rounding of m, as rows of hardly any weight leave it,
    the mean and what equals it lie between the cuts, and all other values beyond them.

    Examples
    --------
    >>> columns = DenseColumns(np.array([[0.0, 1.0, 2.0, 3.0, 14.0]]))  # m = 4, s = 5.1
    >>> mean_std_cuts(columns, 3).round(1)
    array([[-1.1,  9.1]])
    >>> columns.cut(mean_std_cuts(columns, 4))
    array([[1, 1, 1, 1, 3]], dtype=uint8)
    """
    mean, std = columns.moments(weights)
    offsets = np.array([-1.0, 1.0] if n_levels == 3 else [-1.0, 0.0, 1.0])
    cuts = mean[:, None] + std[:, None] * offsets
    rounding = _CUT_ROUNDINGS * EPS * (np.abs(mean) + std)
    cuts -= rounding[:, None]
    lost = 2 * std <= rounding
    cuts[lost, -1] = np.nextafter(mean + rounding, np.inf)[lost]
    return _unreached(columns, cuts)


def equal_width_cuts(columns: Any, n_levels: int) -> Floats:
    """Return cuts that split the range of each column into equal parts, (b, n_levels - 1).

    They are those of scikit-learn's ``KBinsDiscretizer(strategy="uniform")``.

    Examples
    --------
    >>> columns = DenseColumns(np.array([[0.0, 1.0, 2.0, 4.0]]))
    >>> equal_width_cuts(columns, 4)
    array([[1., 2., 3.]])
    >>> columns.cut(equal_width_cuts(columns, 4))
    array([[0, 1, 2, 3]], dtype=uint8)
    """
    low, high = columns.extremes
    scale = _scale(low, high)  # the width of a range might be beyond 1.8e308
    # A width of zero in one column would change how NumPy rounds the others.
    ends = np.where(high > low, high * scale, low * scale + 1.0)
    edges = np.linspace(low * scale, ends, n_levels + 1, axis=1) / scale[:, None]
    return _unreached(columns, edges[:, 1:-1])


def _unreached(columns: Any, cuts: Floats) -> Floats:
    """Give constant columns cuts that no value reaches."""
    low, high = columns.extremes
    return np.where((low == high)[:, None], np.inf, cuts)


def dense_blocks(X: NDArray, at: Indices) -> Iterator[slice]:
    """Cut the columns `at` of X, (N, n), into slices of `at` that take little memory."""
    itemsize = X.dtype.itemsize
    width = max(_CACHE_LINE // itemsize, _BLOCK_BYTES // (itemsize * max(X.shape[0], 1)))
    return (slice(start, start + width) for start in range(0, len(at), width))


def sparse_blocks(X: Any) -> Iterator[slice]:
    """Cut the columns of X, CSC, into slices of few stored values."""
    start, n = 0, X.shape[1]
    while start < n:
        stop = int(np.searchsorted(X.indptr, X.indptr[start] + _BLOCK_STORED, side="right")) - 1
        stop = min(max(stop, start + 1), n, start + _BLOCK_COLUMNS)
        yield slice(start, stop)
        start = stop


def dense_block(X: NDArray, at: Any) -> DenseColumns:
    """Return columns of X, (N, n), as a block."""
    if X.flags.f_contiguous and isinstance(at, slice):
        A = X.T[at]
    else:
        width = len(range(*at.indices(X.shape[1]))) if isinstance(at, slice) else len(at)
        A = np.empty((width, X.shape[0]), dtype=X.dtype)
        for start in range(0, X.shape[0], _TILE_ROWS):
            rows = slice(start, start + _TILE_ROWS)
            A[:, rows] = X[rows, at].T
    return DenseColumns(A.astype(np.float64) if A.dtype.itemsize > 8 else A)


def sparse_block(X: Any, at: slice) -> SparseColumns:
    """Return columns of X, CSC, as a block that shares its memory."""
    start, stop = X.indptr[at.start], X.indptr[at.stop]
    indptr = X.indptr[at.start : at.stop + 1] - start
    part = X.data[start:stop], X.indices[start:stop], indptr
    return SparseColumns(type(X)(part, shape=(X.shape[0], at.stop - at.start)))
