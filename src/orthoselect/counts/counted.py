"""Features of any number of levels, counted row by row."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from orthoselect.counts.base import Counts, Integers, Sums, by_slabs, occurring
from orthoselect.counts.codes import DenseCodes
from orthoselect.counts.logarithms import AnyLogarithms
from orthoselect.counts.tables import Bools, Columns, sum_tables, too_large
from orthoselect.native import kernels

_NS_A_ROW, _NS_A_ROW_IN_NUMPY, _NS_A_SORTED_ROW, _NS_A_CELL = 0.5, 5.0, 10.0, 1.0


class CodeCounts(Counts):
    """Counts of codes that stand feature by feature."""

    kind = "counted"

    def __init__(self, codes: DenseCodes, y: NDArray, n_classes: int) -> None:
        super().__init__(codes.shape, codes.levels, y, n_classes)
        self._values = codes.values

    def margins(self, T: AnyLogarithms) -> Sums:
        return self._sweep(np.zeros(self.shape[0], dtype=np.int64), 1, T)

    def pairs(self, j: int, T: AnyLogarithms) -> Sums:
        return self._sweep(*occurring(self._values[j], int(self.levels[j])), T)

    def _sweep(self, b: NDArray, n_b: int, T: AnyLogarithms) -> Sums:
        """Return the sums over the tables of each feature with b, and with b and the class."""
        n, table = self.shape[1], self._table(T)
        XJ, XJY = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        against = Columns(b, n_b, b * self._n_present + self._y, self._n_present)
        native = kernels()
        is_large = too_large(self.levels, against.n_z, self.shape[0])
        groups = _Groups(against) if native is not None and is_large.any() else None
        z = against.z.astype(np.int32)  # of use, and right, where tables are small

        def work(slab: slice) -> None:
            for some in _runs(is_large, slab):
                values, levels = self._values[some], self.levels[some]
                if native is None:
                    XJ[some], XJY[some] = sum_tables(values, levels, against, T)
                elif groups is None or not is_large[some.start]:
                    native.count_codes(
                        values, levels, z, n_b, against.c, table, XJ[some], XJY[some]
                    )
                else:
                    native.count_grouped(
                        values, levels, groups.order, groups.ends_b, groups.ends_z, table,
                        XJ[some], XJY[some],
                    )  # fmt: skip

        by_slabs(n, work, self._nanoseconds(is_large, against, with_kernels=native is not None))
        return XJ, XJY

    def _nanoseconds(self, is_large: Bools, against: Columns, *, with_kernels: bool) -> float:
        a_row = _NS_A_ROW if with_kernels else _NS_A_ROW_IN_NUMPY
        rows = np.where(is_large, _NS_A_SORTED_ROW, a_row).sum() * self.shape[0]
        return float(rows + _NS_A_CELL * against.n_z * self.levels[~is_large].sum())


class _Groups:
    """Rows sorted by b and class, and where groups of b, and of both, begin and end."""

    def __init__(self, against: Columns) -> None:
        self.order: Integers = np.argsort(against.z, kind="stable").astype(np.int64)
        self.ends_b = _ends(against.b[self.order])
        self.ends_z = _ends(against.z[self.order])


def _ends(codes: NDArray) -> Integers:
    """Return where runs of equal codes begin, and the end of the last."""
    is_first = np.ones(len(codes) + 1, dtype=bool)
    is_first[1:-1] = codes[1:] != codes[:-1]
    return np.flatnonzero(is_first).astype(np.int64)


def _runs(is_large: Bools, slab: slice) -> Iterator[slice]:
    """Yield the parts of a slab whose tables are all large or all small."""
    edges = slab.start + _ends(is_large[slab])
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist()):
        yield slice(start, stop)
