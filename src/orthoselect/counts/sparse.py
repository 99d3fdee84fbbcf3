"""Features of which few cells are filled; only these are counted.

Against feature j and the class, z = (x_j, y), a feature without filled cells has the counts of z
itself, whose sum of T is known. A filled cell moves one row from (0, z) to (x_k, z).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthoselect.counts.base import Counts, Integers, Sums, by_slabs, occurring
from orthoselect.counts.codes import SparseCodes
from orthoselect.counts.logarithms import AnyLogarithms
from orthoselect.counts.tables import Columns, Weights
from orthoselect.native import kernels

_NS_A_CELL, _NS_A_CELL_IN_NUMPY, _NS_A_FEATURE = 8.0, 200.0, 10.0


class SparseCounts(Counts):
    """Counts of sparse codes, in time proportional to the filled cells and the rows.

    Parameters
    ----------
    weights : Weights, optional
        Of the rows.
    """

    kind = "sparse"

    def __init__(
        self, codes: SparseCodes, y: NDArray, n_classes: int, weights: Weights | None = None
    ) -> None:
        super().__init__(codes.shape, codes.levels, y, n_classes)
        self._indptr: Integers = np.ascontiguousarray(codes.indptr, dtype=np.int64)
        self._rows: NDArray[np.int32] = np.ascontiguousarray(codes.indices, dtype=np.int32)
        self._codes = np.ascontiguousarray(codes.codes)
        self._weights = weights

    def margins(self, T: AnyLogarithms) -> Sums:
        return self._sweep(np.zeros(self.shape[0], dtype=np.int64), 1, T)

    def pairs(self, j: int, T: AnyLogarithms) -> Sums:
        cells = slice(self._indptr[j], self._indptr[j + 1])
        b = np.zeros(self.shape[0], dtype=np.int64)
        b[self._rows[cells]] = self._codes[cells]
        return self._sweep(*occurring(b, int(self.levels[j])), T)

    def _sweep(self, b: NDArray, n_b: int, T: AnyLogarithms) -> Sums:
        """Return the sums over the tables of each feature with b, and with b and the class."""
        against = Columns(b, n_b, b * self._n_present + self._y, self._n_present)
        with_b, with_z = self._count(b, n_b), self._count(against.z, against.n_z)
        if self._weights is None and kernels() is not None:
            XJ, XJY = self._add_filled(against, with_b, with_z, T)
        else:
            XJ = self._sorted_filled(b, n_b, with_b, T)
            XJY = self._sorted_filled(against.z, against.n_z, with_z, T)
        return XJ + self._sum(with_b, T), XJY + self._sum(with_z, T)

    def _count(self, places: NDArray, n_places: int) -> Integers:
        units = None if self._weights is None else self._weights.units
        return np.bincount(places, units, n_places).astype(np.int64, copy=False)

    def _of(self, units: NDArray, T: AnyLogarithms) -> NDArray:
        return T.of(units if self._weights is None else self._weights.counts(units))

    def _sum(self, units: NDArray, T: AnyLogarithms) -> NDArray:
        return self._of(units, T).sum()

    def _add_filled(
        self, against: Columns, with_b: Integers, with_z: Integers, T: AnyLogarithms
    ) -> Sums:
        """Return what filled cells add to the sums over b and z, by the kernel."""
        n, table = self.shape[1], self._table(T)
        XJ, XJY = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        b, z = against.b.astype(np.int32), against.z.astype(np.int32)
        native = kernels()

        def work(slab: slice) -> None:
            native.count_sparse(
                self._indptr, self._rows, self._codes, self.levels, slab.start, slab.stop,
                z, b, with_z, with_b, table, XJ, XJY,
            )  # fmt: skip

        by_slabs(n, work, _NS_A_CELL * len(self._codes) + _NS_A_FEATURE * n)
        return XJ, XJY

    def _sorted_filled(
        self, places: NDArray, n_places: int, with_place: Integers, T: AnyLogarithms
    ) -> NDArray:
        """Return what filled cells add to the sum over places, in NumPy."""
        n = self.shape[1]
        dtype = np.float64 if T.table is None else np.int64
        added = np.zeros(n, dtype=dtype)
        if not len(self._codes):
            return added
        place = places[self._rows]
        feature = np.repeat(np.arange(n), np.diff(self._indptr))
        offsets = np.cumsum(self.levels) - self.levels
        for level, before in ((self._codes, None), (None, with_place)):
            # Cells (feature, level, place) are filled; of (feature, place) as many rows are left.
            row = feature if level is None else offsets[feature] + level
            key, units = self._grouped(row * n_places + place)
            owner = key // n_places
            if before is None:
                terms = self._of(units, T)
                owner = np.searchsorted(offsets, owner, side="right") - 1
            else:
                all_of = before[key % n_places]
                terms = self._of(all_of - units, T) - self._of(all_of, T)
            first = np.flatnonzero(np.diff(owner, prepend=-1))
            added[owner[first]] += np.add.reduceat(terms, first)
        return added

    def _grouped(self, keys: Integers) -> tuple[Integers, Integers]:
        """Return the distinct keys, ascending, and how many rows (units of weight) have each."""
        if self._weights is None:
            keys = np.sort(keys)
            units = np.ones(len(keys), dtype=np.int64)
        else:
            order = np.argsort(keys)
            keys, units = keys[order], self._weights.units[self._rows][order]
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        return keys[first], np.add.reduceat(units, first)
