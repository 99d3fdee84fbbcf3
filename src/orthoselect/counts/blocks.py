"""Features whose codes come in blocks of rows; tables of counts are added up over the blocks.

Counts are whole numbers (of rows, or of units of weight), so that sums over blocks are exact, and
the same however the rows are cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.counts.base import Counts, Integers, Sums
from orthoselect.counts.codes import Codes, DenseCodes
from orthoselect.counts.logarithms import AnyLogarithms, Logarithms, RealLogarithms
from orthoselect.counts.weighted import to_units, weighted_logarithms
from orthoselect.matrix.passes import Passes
from orthoselect.matrix.rows import Rows, SpreadRows
from orthoselect.native import aligned, kernels

_ROWS_AT_ONCE = 1 << 13  # so many stay in a core's own cache
_MEMORY = 1 << 30
_LARGEST_TABLE = 50_000_000  # of logarithms: 400 MB


class BlockCounts(Counts):
    """Counts of codes that come in blocks of rows, dense or sparse.

    Parameters
    ----------
    passes : Passes
        Over the codes.
    shape : tuple of int
        Rows and features, (N, n).
    levels : array of shape (n,)
    y : array of shape (N,)
        Classes.
    n_classes : int
    weights : array of shape (N,) or SpreadWeights, optional
        Rows of weight 0 count for nothing. They are spread only where classes are.
    how : mapping, optional
        What to tell the passes: columns, and how codes are made of blocks.
    memory : int, optional
        Bytes that tables may take; where all of them take more, features are counted in several
        passes.
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
        self._passes_over, self.reading = passes, passes.reading
        self._how = how or {}
        self._memory = _MEMORY if memory is None else memory
        self._weights = to_units(np.zeros(0) if weights is None else weights)
        self._is_weighted = weights is not None
        super().__init__(shape, levels, y, n_classes)
        self._n_filled = np.zeros(shape[1], dtype=np.intp)  # levels with rows, once counted
        if weights is not None:
            self.total = self._class_counts.sum().item()

    def _set_classes(self, y: Any, n_classes: int) -> None:
        if isinstance(y, SpreadRows):  # all classes have rows
            self._y, self._n_present = y, n_classes  # type: ignore[assignment]
        else:
            super()._set_classes(y, n_classes)
        self._class_counts = self._weights.counts(self._count_classes())

    def _count_classes(self) -> Integers:
        """Return the units of weight, or the rows, of each class."""
        c, units = self._n_present, self._weights.units if self._is_weighted else None
        if not isinstance(self._y, SpreadRows):
            return np.bincount(self._y, units, c).astype(np.int64)
        passes = self._y.passes
        (counts,) = passes.run_along(
            partial(_zeros, [(c,)]), _add_classes, _add_up, [self._y, units]
        )
        return counts

    def logarithms(self, terms: int) -> AnyLogarithms:
        if self._is_weighted:
            return weighted_logarithms(self._weights, self.total, terms)
        if self.total <= _LARGEST_TABLE:
            return Logarithms(int(self.total), terms)
        return RealLogarithms(float(self.total), terms)

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
                counts = self._weights.counts(table).reshape(len(slab), -1, n_b, self._n_present)
                XJ[slab] = T.of(counts.sum(axis=3)).sum(axis=(1, 2))
                XJY[slab] = T.of(counts).sum(axis=(1, 2, 3))
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
        units = self._weights.units if self._is_weighted else None
        return self._passes_over.run(
            partial(_zeros, shapes),
            partial(_add_block, slabs, j, c, n_b * c),
            _add_up,
            **self._how,
            along=[self._y, units],
        )


def _add_classes(counts: list[Integers], y: NDArray, units: Integers | None) -> None:
    counts[0] += np.bincount(y, units, len(counts[0])).astype(np.int64)


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
    n_z: int,
    tables: list[Integers],
    codes: Codes,
    y: NDArray,
    units: Integers | None,
) -> None:
    """Add the counts of a block to the tables of each slab of features."""
    units = np.ones(len(y), dtype=np.int64) if units is None else units
    against = _Against.of(codes, j, y, c, n_z, units)
    for slab, table in zip(slabs, tables):
        _add(codes, slab, against, table)


def _alike(order: NDArray[np.intp], levels: Integers) -> Iterator[NDArray[np.intp]]:
    """Yield runs of features, by rising levels, none with twice as many as the first."""
    start = 0
    while start < len(order):
        stop = int(np.searchsorted(levels, 2 * levels[start], side="left"))
        stop = max(stop, start + 1)
        yield order[start:stop]
        start = stop


@dataclass(frozen=True)
class _Against:
    """What a block is counted against: z of each row, of n_z, and its weight in units."""

    z: NDArray[np.int32]
    n_z: int
    units: Integers

    @staticmethod
    def of(codes: Codes, j: int | None, y: NDArray, c: int, n_z: int, units: Integers) -> _Against:
        z = y if j is None else codes.column(j).astype(np.int64) * c + y
        return _Against(z.astype(np.int32), n_z, units)


def _add(codes: Codes, slab: NDArray[np.intp], against: _Against, table: Integers) -> None:
    """Add the counts of a block to the table of some features."""
    if isinstance(codes, DenseCodes):
        for start in range(0, codes.shape[0], _ROWS_AT_ONCE):
            rows = slice(start, min(start + _ROWS_AT_ONCE, codes.shape[0]))
            values = np.ascontiguousarray(codes.values[slab, rows])
            _add_dense(values, against.z[rows], against.units[rows], table)
    else:
        _add_sparse(codes, slab, against, table)


def _add_dense(values: NDArray, z: NDArray[np.int32], units: Integers, table: Integers) -> None:
    native = kernels()
    if native is not None:
        native.count_weights(aligned(values), aligned(z), aligned(units), table)
        return
    m, L, Z = table.shape
    cells = values.astype(np.int64) * Z
    cells += z
    cells += np.arange(0, m * L * Z, L * Z)[:, None]
    table += _tally(cells.ravel(), np.tile(units, m), table.size).reshape(table.shape)


def _tally(places: NDArray, units: Integers, n_places: int) -> Integers:
    """Add up units by their place; sums of units are exact in float64."""
    return np.bincount(places, units, n_places).astype(np.int64)


def _add_sparse(codes: Codes, slab: NDArray[np.intp], against: _Against, table: Integers) -> None:
    """Count the cells that are written down; all other rows of z are at level 0."""
    assert not isinstance(codes, DenseCodes)
    m, L, Z = table.shape
    filled = np.diff(codes.indptr)[slab]
    starts = codes.indptr[slab]
    within = np.arange(filled.sum()) - np.repeat(np.cumsum(filled) - filled, filled)
    cells = np.repeat(starts, filled) + within
    rows, owner = codes.indices[cells], np.repeat(np.arange(m), filled)
    units, z = against.units[rows], against.z[rows].astype(np.int64)
    places = (owner * L + codes.codes[cells]) * Z + z
    table += _tally(places, units, table.size).reshape(table.shape)
    written = _tally(owner * Z + z, units, m * Z).reshape(m, Z)
    table[:, 0] += _tally(against.z, against.units, Z) - written
