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
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import EPS, Floats, Indices

MAX_LEVELS = 256  # of a numeric column: its codes fit a byte
_BLOCK_BYTES = 1 << 22
_CACHE_LINE = 64
_BLOCK_STORED = 1 << 20  # cells of a sparse block
_FEW_CUTS = 16  # up to so many, comparing with each beats a search
_CUT_ROUNDINGS = 8.0


class Columns(ABC):
    """A block of numeric columns.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns, (N, b).
    """

    shape: tuple[int, int]

    @abstractmethod
    def extremes(self) -> tuple[Floats, Floats]:
        """Return the smallest and the largest value of each column, (b,); NaN where there is one."""

    @abstractmethod
    def moments(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Return mean and population standard deviation (the divisor is N) of each column, (b,)."""

    @abstractmethod
    def whole(self) -> NDArray[np.bool_]:
        """Return which columns hold whole numbers only, (b,)."""


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

    def extremes(self) -> tuple[Floats, Floats]:
        """Return the smallest and the largest value of each column."""
        return self.A.min(axis=1).astype(np.float64), self.A.max(axis=1).astype(np.float64)

    def moments(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Return mean and population standard deviation of each column."""
        scale = _scale(*self.extremes())
        B = self.A * scale[:, None]
        mean = np.average(B, axis=1, weights=weights)
        B -= mean[:, None]
        rest = np.average(B, axis=1, weights=weights)  # the first mean is itself rounded
        B -= rest[:, None]
        np.multiply(B, B, out=B)
        return (mean + rest) / scale, np.sqrt(np.average(B, axis=1, weights=weights)) / scale

    def whole(self) -> NDArray[np.bool_]:
        """Return which columns hold whole numbers only."""
        if self.A.dtype.kind != "f":
            return np.ones(len(self.A), dtype=bool)
        whole = (self.A[:, :64] == np.trunc(self.A[:, :64])).all(axis=1)  # mostly decides
        rest = np.flatnonzero(whole)
        whole[rest] = (self.A[rest] == np.trunc(self.A[rest])).all(axis=1)
        return whole

    def cut(self, cuts: Floats) -> NDArray[np.uint8]:
        """Return the level of every value, (b, N)."""
        levels = np.zeros(self.A.shape, dtype=np.uint8)
        if cuts.shape[1] <= _FEW_CUTS:
            for k in range(cuts.shape[1]):
                levels += self.A >= cuts[:, k : k + 1]
            return levels
        for row, at, values in zip(levels, cuts, self.A):
            row[:] = np.searchsorted(at, values, side="right")
        return levels


@dataclass(frozen=True)
class SparseLevels:
    """Levels of the columns of a sparse block, level 0 not written down.

    Attributes
    ----------
    indptr, indices : arrays
        As in SciPy's CSC: the rows of column k are indices[indptr[k]:indptr[k + 1]].
    levels : uint8 array
        The level in each of these rows, at least 1.
    """

    indptr: NDArray
    indices: NDArray
    levels: NDArray


class SparseColumns(Columns):
    """A block of sparse columns.

    Parameters
    ----------
    X : CSC array of shape (N, b)
        Rows sorted within each column, no duplicates.
    """

    def __init__(self, X: Any) -> None:
        self.X = X
        self.shape = X.shape
        self.data = X.data.view(np.uint8) if X.data.dtype == bool else X.data
        self.filled = np.diff(X.indptr)  # (b,)
        self.owner = np.repeat(np.arange(X.shape[1]), self.filled)  # column of each stored value

    def extremes(self) -> tuple[Floats, Floats]:
        """Return the smallest and the largest value of each column, its zeros included."""
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
        wide = w[self.X.indices]
        total = w.sum()
        unwritten = total - np.bincount(self.owner, wide, minlength=b)
        scale = _scale(*self.extremes())
        data = self.data * scale[self.owner]
        mean = np.bincount(self.owner, wide * data, minlength=b) / total
        deviations = data - mean[self.owner]
        squares = np.bincount(self.owner, wide * deviations**2, minlength=b)
        variance = (squares + np.maximum(unwritten, 0.0) * mean**2) / total
        return mean / scale, np.sqrt(variance) / scale

    def whole(self) -> NDArray[np.bool_]:
        """Return which columns hold whole numbers only."""
        if self.data.dtype.kind != "f":
            return np.ones(self.shape[1], dtype=bool)
        fractional = self.owner[self.data != np.trunc(self.data)]
        return np.bincount(fractional, minlength=self.shape[1]) == 0

    def cut(self, cuts: Floats) -> SparseLevels:
        """Return the level of every value, that of zero called 0 and left out."""
        levels = np.zeros(len(self.data), dtype=np.intp)
        for k in range(cuts.shape[1]):
            levels += self.data >= cuts[self.owner, k]
        zero = (cuts <= 0.0).sum(axis=1)[self.owner]
        levels = np.where(levels == zero, 0, levels + (levels < zero))
        return self.written(levels.astype(np.uint8))

    def written(self, levels: NDArray) -> SparseLevels:
        """Keep the stored places whose level is not 0."""
        keep = levels != 0
        if keep.all():
            return SparseLevels(self.X.indptr, self.X.indices, levels)
        counts = np.bincount(self.owner[keep], minlength=self.shape[1])
        indptr = np.concatenate([[0], np.cumsum(counts)])
        return SparseLevels(indptr, self.X.indices[keep], levels[keep])


def _scale(low: Floats, high: Floats) -> Floats:
    """Return powers of two that bring columns near 1: squares stay in range, nothing is rounded."""
    exponents = np.frexp(np.maximum(np.abs(low), np.abs(high)))[1]
    return np.ldexp(1.0, -np.clip(exponents, -1000, 1000))


def mean_std_cuts(columns: Columns, n_levels: int, weights: Floats | None = None) -> Floats:
    """Return cuts at one standard deviation s about the mean m, (b, n_levels - 1).

    The standard deviation is that of the population (ddof=0).

    Parameters
    ----------
    columns : Columns
    n_levels : {3, 4}
        3: below m - s, from there to below m + s, the rest. 4: the middle one cut at m.
    weights : array of shape (N,), optional
        Row weights.

    Notes
    -----
    A value equal to a cut lies above it, and equal means up to the rounding of m and s. Hence a
    column of two values never loses one of them, although they lie on the cuts if they are equally
    frequent.

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
    cuts -= _CUT_ROUNDINGS * EPS * (np.abs(mean) + std)[:, None]
    return _unreached(columns, cuts)


def equal_width_cuts(columns: Columns, n_levels: int) -> Floats:
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
    low, high = columns.extremes()
    # Halves and back, so that the width of a range beyond 1.8e308 is still a number.
    huge = np.where(np.maximum(np.abs(low), np.abs(high)) > 1e307, 2.0, 1.0)
    edges = np.linspace(low / huge, high / huge, n_levels + 1, axis=1) * huge[:, None]
    return _unreached(columns, edges[:, 1:-1])


def _unreached(columns: Columns, cuts: Floats) -> Floats:
    """Give constant columns cuts that no value reaches."""
    low, high = columns.extremes()
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
        stop = min(max(stop, start + 1), n, start + _BLOCK_STORED)
        yield slice(start, stop)
        start = stop


def dense_block(X: NDArray, at: Any) -> DenseColumns:
    """Return columns of X, (N, n), as a block."""
    return DenseColumns(np.ascontiguousarray(X[:, at].T))


def sparse_block(X: Any, at: slice) -> SparseColumns:
    """Return columns of X, CSC, as a block that shares its memory."""
    start, stop = X.indptr[at.start], X.indptr[at.stop]
    indptr = X.indptr[at.start : at.stop + 1] - start
    part = X.data[start:stop], X.indices[start:stop], indptr
    return SparseColumns(type(X)(part, shape=(X.shape[0], at.stop - at.start)))
