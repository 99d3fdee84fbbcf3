"""Features of any number of levels, counted row by row, with row weights or without.

Small tables are written down whole. Of tables with more cells than rows can fill, only the filled
cells are counted, by sorting. Of sparse features only the cells that are written down are counted.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from orthoselect.counts.base import (
    Counts,
    Integers,
    Sums,
    by_slabs,
    occurring,
    table_sums,
    tally,
)
from orthoselect.counts.codes import Codes, DenseCodes, SparseCodes
from orthoselect.counts.falling import FallingScores, Margins
from orthoselect.counts.logarithms import AnyLogarithms
from orthoselect.native import aligned, kernels

Bools = NDArray[np.bool_]

# Tables of more cells than these, or than so many times the rows, are not written down.
_MANY_CELLS, _CELLS_A_ROW = 1 << 12, 2
_SMALL_TABLE = 1 << 16  # cells whose places have 16 bits
_ROWS_AT_ONCE = 1 << 13  # so many stay in a core's own cache
_NS_A_ROW, _NS_A_WEIGHTED_ROW, _NS_A_GROUPED_ROW, _NS_A_CELL = 0.5, 2.0, 3.0, 1.0
_NS_A_FILLED_CELL, _NS_A_FEATURE = 8.0, 10.0


class CodeCounts(Counts):
    """Counts of dense codes; weights are positive."""

    kind = "counted"

    def __init__(
        self, codes: Codes, y: NDArray, n_classes: int, weights: NDArray | None = None
    ) -> None:
        super().__init__(codes.shape, codes.levels, y, n_classes, weights)
        self._codes = codes
        if weights is not None:
            self.kind = "weighted"

    def varying(self, X: NDArray, T: AnyLogarithms) -> Bools:
        # Rounding may swallow rows of little weight beside the others.
        return self._codes.varying() if T.table is None else super().varying(X, T)

    def margins(self, T: AnyLogarithms) -> Sums:
        return self._sweep(np.zeros(self.shape[0], dtype=np.int64), 1, T)

    def pairs(self, j: int, T: AnyLogarithms) -> Sums:
        return self._sweep(*occurring(self._codes.column(j), int(self.levels[j])), T)

    def falling(
        self, T: AnyLogarithms, margins: Sums, known: NDArray, *, takes_least: bool
    ) -> FallingScores | None:
        cells = int(self.levels.max(initial=1)) ** 2 * self._n_present
        if kernels() is None or self._units is not None or cells > _SMALL_TABLE:
            return None
        sums = self._all_margins(T, margins)
        return FallingCodes(self, T, sums, known, takes_least=takes_least)

    def _sweep(self, b: NDArray, n_b: int, T: AnyLogarithms) -> Sums:
        """Return the sums over the tables of each feature with b, and with b and the class.

        b (N,) is the code of feature j, of n_b.
        """
        assert isinstance(self._codes, DenseCodes)
        XJ, XJY = self._room(T)
        codes, c = self._codes.values, self._n_present
        z = b * c + self._y
        is_large = _too_large(self.levels, n_b * c, self.shape[0])
        native = kernels() if self._units is None else None
        if native is not None and is_large.any():
            order = np.argsort(z, kind="stable").astype(np.int64)
            groups = order, _ends(b[order]), _ends(z[order])  # rows by b and class
        small_z = z.astype(np.int32)  # of use, and right, where tables are small

        def work(slab: slice) -> None:
            edges = (slab.start + _ends(is_large[slab])).tolist()
            for start, stop in pairwise(edges):  # tables are all large or all small
                some = slice(start, stop)
                values, levels, sums = codes[some], self.levels[some], (XJ[some], XJY[some])
                if native is None:
                    self._sum_tables(values, levels, b, n_b, z, T, *sums)
                elif is_large[start]:
                    native.count_grouped(values, levels, *groups, T.table, *sums)
                else:
                    native.count_codes(values, levels, small_z, n_b, c, T.table, *sums)

        by_slabs(self.shape[1], work, self._nanoseconds(is_large, n_b * c))
        return XJ, XJY

    def _nanoseconds(self, is_large: Bools, n_z: int) -> float:
        if kernels() is None:
            return 0.0  # NumPy counts with the interpreter's lock held: threads would only wait
        if self._units is not None:
            return _NS_A_WEIGHTED_ROW * self.shape[0] * self.shape[1]
        rows = np.where(is_large, _NS_A_GROUPED_ROW, _NS_A_ROW).sum() * self.shape[0]
        return float(rows + _NS_A_CELL * n_z * self.levels[~is_large].sum())

    def _sum_tables(
        self,
        values: NDArray,
        levels: Integers,
        b: NDArray,
        n_b: int,
        z: NDArray,
        T: AnyLogarithms,
        XJ: NDArray,
        XJY: NDArray,
    ) -> None:
        """Write what the kernels do for a few features, given their codes (m, N), in NumPy."""
        (m, N), n_z = values.shape, n_b * self._n_present
        XJ[:], XJY[:] = 0, 0
        width = max(1, _ROWS_AT_ONCE // max(1, N))
        for start in range(0, m if N else 0, width):
            few = slice(start, min(start + width, m))
            if _too_large(levels[few], n_z, N).any():
                XJ[few] = self._sum_sorted(values[few], b, n_b, T)
                XJY[few] = self._sum_sorted(values[few], z, n_z, T)
            else:
                shape = few.stop - start, int(levels[few].max()), n_z
                tables = np.zeros(shape, dtype=np.int64)
                add_to_tables(values[few], z, self._units, tables)
                counts = self._weight_of(tables).reshape(*shape[:2], n_b, -1)
                XJ[few], XJY[few] = table_sums(counts, T)

    def _sum_sorted(
        self, values: NDArray, columns: NDArray, n_columns: int, T: AnyLogarithms
    ) -> NDArray:
        """Return the sums of T over the filled cells (level, column) of each feature."""
        cells = values.astype(np.int64) * n_columns
        cells += columns
        if self._units is None:
            cells.sort(axis=1)
        else:
            order = np.argsort(cells, axis=1)
            cells = np.take_along_axis(cells, order, axis=1)
        is_first = np.ones(cells.shape, dtype=bool)
        np.not_equal(cells[:, 1:], cells[:, :-1], out=is_first[:, 1:])
        starts = np.flatnonzero(is_first)
        if self._units is None:
            counts: NDArray = np.diff(starts, append=cells.size)
        else:
            counts = self._weight_of(np.add.reduceat(self._units[order].ravel(), starts))
        n_cells = is_first.sum(axis=1)
        return np.add.reduceat(T.of(counts), np.cumsum(n_cells) - n_cells)


class FallingCodes(FallingScores):
    """Falling scores from dense codes, by small tables.

    z (t, N) holds the codes of the features taken, times the classes, plus the class.
    """

    def __init__(
        self,
        counts: CodeCounts,
        T: AnyLogarithms,
        margins: Margins,
        known: Integers,
        *,
        takes_least: bool,
    ) -> None:
        N = counts.shape[0]
        super().__init__(margins, known, takes_least=takes_least, nanoseconds=N * _NS_A_ROW)
        assert isinstance(counts._codes, DenseCodes)
        self._codes, self._levels = aligned(counts._codes.values), counts.levels
        self._y, self._c = counts._y.astype(np.uint16), counts._n_present
        self._T = T
        self._z: NDArray[np.uint16] = np.empty((4, N), dtype=np.uint16)

    def take(self, j: int) -> None:
        t = len(self._taken)
        if t == len(self._z):
            self._z = np.concatenate([self._z, np.empty_like(self._z)])
        self._z[t] = self._codes[j].astype(np.uint16) * np.uint16(self._c) + self._y
        super().take(j)

    def _count_share(self, order: Integers, taken: Integers, sums: Integers, best: int) -> None:
        X, XY, TN, TY = self._margins
        kernels().count_falling(
            self._codes, self._levels, order, self._z[: len(taken)], self._levels[taken], sums,
            self._c, self._T.table, X, XY, TN, TY, self._takes_least, best, self.known, self.seen,
        )  # fmt: skip


class SparseCounts(CodeCounts):
    """Counts of sparse codes, in time proportional to the filled cells and the rows.

    Against feature j and the class, z = (x_j, y), a feature without filled cells has the counts of
    z itself, whose sum of T is known. A filled cell moves one row from (0, z) to (x_k, z).
    """

    kind = "sparse"

    def __init__(
        self, codes: SparseCodes, y: NDArray, n_classes: int, weights: NDArray | None = None
    ) -> None:
        super().__init__(codes, y, n_classes, weights)
        self._indptr: Integers = np.ascontiguousarray(codes.indptr, dtype=np.int64)
        self._rows: NDArray[np.int32] = np.ascontiguousarray(codes.indices, dtype=np.int32)
        self._filled = np.ascontiguousarray(codes.codes)

    def falling(
        self, T: AnyLogarithms, margins: Sums, known: NDArray, *, takes_least: bool
    ) -> FallingScores | None:
        return None  # a sweep costs no more than the filled cells

    def _sweep(self, b: NDArray, n_b: int, T: AnyLogarithms) -> Sums:
        XJ, XJY = self._room(T)
        units, n = self._units, self.shape[1]
        z, n_z = b * self._n_present + self._y, n_b * self._n_present
        with_b, with_z = tally(b, units, n_b), tally(z, units, n_z)
        native = kernels() if units is None else None
        if native is None:
            XJ, XJY = self._change(b, with_b, T), self._change(z, with_z, T)
        else:
            b, z = b.astype(np.int32), z.astype(np.int32)

            def work(slab: slice) -> None:
                native.count_sparse(
                    self._indptr, self._rows, self._filled, self.levels, slab.start, slab.stop,
                    z, b, with_z, with_b, T.table, XJ, XJY,
                )  # fmt: skip

            by_slabs(n, work, _NS_A_FILLED_CELL * len(self._filled) + _NS_A_FEATURE * n)
        return XJ + self._of(with_b, T).sum(), XJY + self._of(with_z, T).sum()

    def _of(self, units: NDArray, T: AnyLogarithms) -> NDArray:
        return T.of(self._weight_of(units))

    def _change(self, places: NDArray, with_place: Integers, T: AnyLogarithms) -> NDArray:
        """Return by how much filled cells change the sum over places, in NumPy."""
        n, n_places = self.shape[1], len(with_place)
        changes = np.zeros(n, dtype=np.float64 if T.table is None else np.int64)
        if not len(self._filled):
            return changes
        place, feature = places[self._rows], np.repeat(np.arange(n), np.diff(self._indptr))
        # Cells (feature, level, place) are filled ...
        offsets = np.cumsum(self.levels) - self.levels
        key, units = self._grouped((offsets[feature] + self._filled) * n_places + place)
        owner = np.searchsorted(offsets, key // n_places, side="right") - 1
        _add_by_owner(changes, owner, self._of(units, T))
        # ... and of (feature, 0, place) as many rows are left.
        key, units = self._grouped(feature * n_places + place)
        before = with_place[key % n_places]
        _add_by_owner(changes, key // n_places, self._of(before - units, T) - self._of(before, T))
        return changes

    def _grouped(self, keys: Integers) -> tuple[Integers, Integers]:
        """Return the distinct keys, ascending, and how many rows (units of weight) have each."""
        if self._units is None:
            keys = np.sort(keys)
            units = np.ones(len(keys), dtype=np.int64)
        else:
            order = np.argsort(keys)
            keys, units = keys[order], self._units[self._rows][order]
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        return keys[first], np.add.reduceat(units, first)


def _add_by_owner(total: NDArray, owner: NDArray, terms: NDArray) -> None:
    """Add terms to the places of their owners, who come one after the other."""
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    total[owner[first]] += np.add.reduceat(terms, first)


def _too_large(levels: Integers, n_z: int, N: int) -> Bools:
    """Return whose tables against z are too large to be written down."""
    return levels * n_z > max(_MANY_CELLS, _CELLS_A_ROW * N)


def _ends(codes: NDArray) -> Integers:
    """Return where runs of equal codes begin, and the end of the last."""
    is_first = np.ones(len(codes) + 1, dtype=bool)
    is_first[1:-1] = codes[1:] != codes[:-1]
    return np.flatnonzero(is_first).astype(np.int64)


def add_to_tables(values: NDArray, z: NDArray, units: Integers | None, tables: Integers) -> None:
    """Add rows with the codes (m, N) of a few features to their tables (feature, level, z)."""
    native = kernels()
    if units is not None and native is not None:
        z = z.astype(np.int32, copy=False)
        native.count_weights(aligned(values), aligned(z), aligned(units), tables)
        return
    m, L, Z = tables.shape
    cells = values.astype(np.int64) * Z
    cells += z
    cells += np.arange(0, m * L * Z, L * Z)[:, None]
    every = None if units is None else np.tile(units, m)
    tables += tally(cells.ravel(), every, tables.size).reshape(tables.shape)
