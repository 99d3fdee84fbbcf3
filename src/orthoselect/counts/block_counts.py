"""Features whose codes come in blocks of rows; tables of counts are added up over the blocks.

Counts are whole numbers (of rows, or of units of weight), so that sums over blocks are exact, and
the same however the rows are cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.counts.base import Counts, Integers, Sums, table_sums, tally
from orthoselect.counts.codes import Codes, DenseCodes, SparseCodes
from orthoselect.counts.logarithms import AnyLogarithms, RealLogarithms
from orthoselect.counts.tables import add_to_tables
from orthoselect.matrix.passes import Passes
from orthoselect.matrix.rows import Rows, SpreadRows

_ROWS_AT_ONCE = 1 << 13  # so many stay in a core's own cache
_MEMORY = 1 << 30
_LARGEST_TABLE = 50_000_000  # of logarithms: 400 MB


class BlockCounts(Counts):
    """Counts of codes that come in blocks of rows, dense or sparse.

    `passes` walk over the codes; `how` are their arguments: columns, and how codes are made of
    blocks. Weights are spread only where classes are; rows of weight 0 count for nothing. Tables
    take at most `memory` bytes: where all take more, features are counted in several passes.
    """

    kind = "blocks"

    def __init__(
        self,
        passes: Passes,
        shape: tuple[int, int],
        levels: NDArray,
        y: NDArray,
        n_classes: int,
        weights: Rows | None = None,
        *,
        how: Mapping[str, Any] | None = None,
        memory: int | None = None,
    ) -> None:
        self._source, self.reader = passes, passes.reader
        self._how = how or {}
        self._memory = _MEMORY if memory is None else memory
        self._n_filled = np.zeros(shape[1], dtype=np.intp)  # levels with rows, once counted
        super().__init__(shape, levels, y, n_classes, weights)

    def _count_classes(self, y: Rows) -> tuple[Rows, int, Integers]:
        if not isinstance(y, SpreadRows):
            return super()._count_classes(y)
        c = self.n_classes  # all of them have rows
        start = partial(_zeros, [(c,)])
        (units,) = y.passes.run_along(start, _add_classes, _add_up, [y, self._units])
        return y, c, units

    def logarithms(self, terms: int, *, corrected: bool = False) -> AnyLogarithms:
        # With so many rows what there is to correct is less than what rounding leaves.
        if self._units is None and self.total > _LARGEST_TABLE:
            return RealLogarithms(float(self.total), terms)
        return super().logarithms(terms, corrected=corrected)

    def varying(self, X: NDArray, T: AnyLogarithms) -> NDArray[np.bool_]:
        # Rounding may swallow rows of little weight beside the others.
        return self._n_filled > 1 if T.table is None else super().varying(X, T)

    def margins(self, T: AnyLogarithms) -> Sums:
        return self._sweep(None, T)

    def pairs(self, j: int, T: AnyLogarithms) -> Sums:
        return self._sweep(j, T)

    def _sweep(self, j: int | None, T: AnyLogarithms) -> Sums:
        """Return the sums over the tables of each feature with j, and with j and the class."""
        dtype = np.float64 if T.table is None else np.int64
        XJ, XJY = np.empty(self.shape[1], dtype=dtype), np.empty(self.shape[1], dtype=dtype)
        n_b = 1 if j is None else int(self.levels[j])
        for slabs in self._passes(n_b * self._n_present):
            tables = self._count(slabs, j, n_b)
            for slab, table in zip(slabs, tables):
                if j is None:
                    self._n_filled[slab] = np.count_nonzero(table.any(axis=2), axis=1)
                counts = self._weight_of(table).reshape(len(slab), -1, n_b, self._n_present)
                XJ[slab], XJY[slab] = table_sums(counts, T)
        return XJ, XJY

    def _passes(self, n_z: int) -> list[list[NDArray[np.intp]]]:
        """Put features of like numbers of levels together, and as many as memory has room for."""
        order = np.argsort(self.levels, kind="stable")
        passes: list[list[NDArray[np.intp]]] = [[]]
        room = self._memory
        for slab in _alike(order, self.levels[order]):
            cost = 16 * int(self.levels[slab[-1]]) * n_z  # of a feature, and of T of it
            while len(slab):
                if room < cost and passes[-1]:
                    passes.append([])
                    room = self._memory
                many = max(1, room // cost)
                passes[-1].append(slab[:many])
                room -= cost * len(slab[:many])
                slab = slab[many:]
        return passes

    def _count(self, slabs: list[NDArray[np.intp]], j: int | None, n_b: int) -> list[Integers]:
        """Return the tables (feature, level, z) of each slab of features, in one pass."""
        c = self._n_present
        shapes = [(len(slab), int(self.levels[slab[-1]]), n_b * c) for slab in slabs]
        return self._source.run(
            partial(_zeros, shapes),
            partial(_add_block, slabs, j, c),
            _add_up,
            **self._how,
            along=[self._y, self._units],
        )


def _add_classes(counts: list[Integers], y: NDArray, units: Integers | None) -> None:
    counts[0] += tally(y, units, len(counts[0]))


def _zeros(shapes: Sequence[tuple[int, ...]]) -> list[Integers]:
    return [np.zeros(shape, dtype=np.int64) for shape in shapes]


def _add_up(a: list[Integers], b: list[Integers]) -> list[Integers]:
    for mine, theirs in zip(a, b):
        mine += theirs
    return a


def _add_block(
    slabs: Sequence[NDArray[np.intp]],
    j: int | None,
    c: int,
    tables: list[Integers],
    codes: Codes,
    y: NDArray,
    units: Integers | None,
) -> None:
    """Add the counts of a block to the tables of each slab of features."""
    units = np.ones(len(y), dtype=np.int64) if units is None else units
    z = y if j is None else codes.column(j).astype(np.int64) * c + y
    z = z.astype(np.int32)
    for slab, table in zip(slabs, tables):
        if not isinstance(codes, DenseCodes):
            _add_sparse(codes, slab, z, units, table)
            continue
        for start in range(0, codes.shape[0], _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            values = np.ascontiguousarray(codes.values[slab, rows])
            add_to_tables(values, z[rows], units[rows], table)


def _add_sparse(
    codes: SparseCodes, slab: NDArray[np.intp], z: NDArray, units: Integers, table: Integers
) -> None:
    """Count the cells that are written down; all other rows of z are at level 0."""
    m, L, Z = table.shape
    filled = np.diff(codes.indptr)[slab]
    starts = codes.indptr[slab]
    within = np.arange(filled.sum()) - np.repeat(np.cumsum(filled) - filled, filled)
    cells = np.repeat(starts, filled) + within
    rows, owner = codes.indices[cells], np.repeat(np.arange(m), filled)
    z_there, units_there = z[rows].astype(np.int64), units[rows]
    places = (owner * L + codes.codes[cells]) * Z + z_there
    table += tally(places, units_there, table.size).reshape(table.shape)
    written = tally(owner * Z + z_there, units_there, m * Z).reshape(m, Z)
    table[:, 0] += tally(z, units, Z) - written


def _alike(order: NDArray[np.intp], levels: Integers) -> Iterator[NDArray[np.intp]]:
    """Yield runs of features, by rising levels, none with twice as many as the first."""
    start = 0
    while start < len(order):
        stop = int(np.searchsorted(levels, 2 * levels[start], side="left"))
        stop = max(stop, start + 1)
        yield order[start:stop]
        start = stop
