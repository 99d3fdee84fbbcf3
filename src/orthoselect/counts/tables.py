"""Tables of counts in NumPy, with row weights or without, and the sums of T over them.

Small tables are written down whole. Of tables with more cells than rows can fill, only the filled
cells are counted, by sorting.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from orthoselect.counts.base import Integers, Sums
from orthoselect.counts.logarithms import AnyLogarithms
from orthoselect.matrix.rows import Rows
from orthoselect.native import kernels

Bools = NDArray[np.bool_]

# Tables of more cells than these, or than so many times the rows, are not written down.
_MANY_CELLS, _CELLS_A_ROW = 1 << 12, 8
_ROWS_AT_ONCE = 1 << 13  # so many stay in a core's own cache


@dataclass(frozen=True)
class Weights:
    """Row weights as whole numbers of units, so that sums of them are exact.

    Attributes
    ----------
    units : array of shape (N,), or SpreadRows
    exponent : int
        A unit is a weight of 2**-exponent; 0 if weights are whole.
    """

    units: Rows
    exponent: int = 0

    def counts(self, units: NDArray) -> NDArray:
        """Return sums of units as sums of weights."""
        return np.ldexp(units.astype(np.float64), -self.exponent) if self.exponent else units


@dataclass(frozen=True)
class Columns:
    """What tables are made against: feature j and the class of every row.

    Attributes
    ----------
    b, z : arrays of shape (N,)
        The code of feature j, and b * c + class.
    n_b, c : int
        How many levels and classes there are.
    """

    b: NDArray
    n_b: int
    z: NDArray
    c: int

    @property
    def n_z(self) -> int:
        """How many values z may have."""
        return self.n_b * self.c


def too_large(levels: Integers, n_z: int, N: int) -> Bools:
    """Return whose tables against z are too large to be written down."""
    return levels * n_z > max(_MANY_CELLS, _CELLS_A_ROW * N)


def sum_tables(
    values: NDArray,
    levels: Integers,
    against: Columns,
    T: AnyLogarithms,
    weights: Weights | None = None,
) -> Sums:
    """Return XJ and XJY of a few features.

    Parameters
    ----------
    values : array of shape (m, N)
    levels : array of shape (m,)
    """
    m, N = values.shape
    dtype = np.float64 if T.table is None else np.int64
    XJ, XJY = np.zeros(m, dtype=dtype), np.zeros(m, dtype=dtype)
    width = max(1, _ROWS_AT_ONCE // max(1, N))
    for start in range(0, m if N else 0, width):
        few = slice(start, min(start + width, m))
        L = int(levels[few].max())
        if too_large(levels[few], against.n_z, N).any():
            XJ[few] = _sum_sorted(values[few], against.b, against.n_b, T, weights)
            XJY[few] = _sum_sorted(values[few], against.z, against.n_z, T, weights)
        else:
            counts = _tables(values[few], L, against, weights)
            XJ[few] = T.of(counts.sum(axis=3)).sum(axis=(1, 2))
            XJY[few] = T.of(counts).sum(axis=(1, 2, 3))
    return XJ, XJY


def _tables(values: NDArray, L: int, against: Columns, weights: Weights | None) -> NDArray:
    """Return the counts (feature, level, level of j, class)."""
    m, Z = len(values), against.n_z
    native = kernels()
    if weights is not None and native is not None:
        counts = np.zeros((m, L, Z), dtype=np.int64)
        native.count_weights(values, against.z.astype(np.int32), weights.units, counts)
    else:
        cells = values.astype(np.int64) * Z
        cells += against.z
        cells += np.arange(0, m * L * Z, L * Z)[:, None]
        units = None if weights is None else np.tile(weights.units, m)
        counts = np.bincount(cells.ravel(), units, m * L * Z).astype(np.int64, copy=False)
    tables: NDArray = counts.reshape(m, L, against.n_b, against.c)
    return tables if weights is None else weights.counts(tables)


def _sum_sorted(
    values: NDArray, columns: NDArray, n_columns: int, T: AnyLogarithms, weights: Weights | None
) -> NDArray:
    """Return the sums of T over the filled cells (level, column) of each feature."""
    cells = values.astype(np.int64) * n_columns
    cells += columns
    if weights is None:
        cells.sort(axis=1)
    else:
        order = np.argsort(cells, axis=1)
        cells = np.take_along_axis(cells, order, axis=1)
    is_first = np.ones(cells.shape, dtype=bool)
    np.not_equal(cells[:, 1:], cells[:, :-1], out=is_first[:, 1:])
    starts = np.flatnonzero(is_first)
    if weights is None:
        counts: NDArray = np.diff(starts, append=cells.size)
    else:
        counts = weights.counts(np.add.reduceat(weights.units[order].ravel(), starts))
    n_cells = is_first.sum(axis=1)
    return np.add.reduceat(T.of(counts), np.cumsum(n_cells) - n_cells)
