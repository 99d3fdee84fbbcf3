"""Features of few levels as planes of bits, 64 rows to a word, counted by the ones they share.

Rows are sorted by class, and each class begins at a word of its own; what is left of its last word
is 0 in every plane.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthoselect.counts.base import Counts, Integers, Sums, by_slabs
from orthoselect.counts.codes import DenseCodes
from orthoselect.counts.logarithms import AnyLogarithms
from orthoselect.native import kernels

Words = NDArray[np.uint64]

WORD = 64
_NS_A_WORD, _NS_A_WORD_IN_NUMPY, _NS_A_CELL = 0.4, 2.5, 1.0
_NS_TO_PACK = 0.5  # a row of a plane
_CACHED_WORDS = 1 << 15  # words that NumPy works on at a time stay in a core's own cache


class PackedCounts(Counts):
    """Counts of features of few levels.

    A feature of L levels has L - 1 planes; the counts of level 0 follow from the margins.
    """

    kind = "packed"

    def __init__(self, codes: DenseCodes, y: NDArray, n_classes: int) -> None:
        super().__init__(codes.shape, codes.levels, y, n_classes)
        n, c = self.shape[1], self._n_present
        self._segments = _segments(self._class_counts)
        self._first: Integers = np.concatenate([[0], np.cumsum(self.levels - 1)])
        self._planes: Words = np.empty((self._first[-1], self._segments[-1]), dtype=np.uint64)
        # Rows of margins: the levels of feature k begin at first[k] + k.
        self._starts = self._first[:-1] + np.arange(n)
        self._margins: Integers = np.empty((self._first[-1] + n, c), dtype=np.int64)
        rows = self._rows()

        def work(slab: slice) -> None:
            planes = slice(self._first[slab.start], self._first[slab.stop])
            pack(codes.values[slab], rows, self.levels[slab], self._planes[planes])
            self._count_margins(slab, planes)

        by_slabs(n, work, self._first[-1] * self.shape[0] * _NS_TO_PACK)

    def margins(self, T: AnyLogarithms) -> Sums:
        X = np.add.reduceat(T.of(self._margins.sum(axis=1)), self._starts)
        XY = np.add.reduceat(T.of(self._margins).sum(axis=1), self._starts)
        return X, XY

    def pairs(self, j: int, T: AnyLogarithms) -> Sums:
        n, table = self.shape[1], self._table(T)
        XJ, XJY = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        native = kernels()

        def work(slab: slice) -> None:
            if native is None:
                XJ[slab], XJY[slab] = self._sums(slab, j, T)
            else:
                native.count_packed(
                    self._planes, self._first, self._segments, self._margins,
                    j, slab.start, slab.stop, table, XJ, XJY,
                )  # fmt: skip

        by_slabs(n, work, self._nanoseconds(j, with_kernels=native is not None))
        return XJ, XJY

    def _nanoseconds(self, j: int, *, with_kernels: bool) -> float:
        words = self._planes.size * (self.levels[j] - 1)
        cells = len(self._margins) * self.levels[j] * self._n_present
        return words * (_NS_A_WORD if with_kernels else _NS_A_WORD_IN_NUMPY) + cells * _NS_A_CELL

    def _rows(self) -> Integers:
        """Return the row that each bit of a plane tells of, -1 where there is none."""
        rows = np.full(WORD * self._segments[-1], -1)
        order = np.argsort(self._y.astype(np.uint16), kind="stable")
        ahead = WORD * self._segments[:-1] - (np.cumsum(self._class_counts) - self._class_counts)
        rows[np.arange(len(order)) + ahead[self._y[order]]] = order
        return rows

    def _count_margins(self, slab: slice, planes: slice) -> None:
        ones = np.empty((planes.stop - planes.start, self._n_present), dtype=np.int64)
        native = kernels()
        if native is None:
            ones[:] = common_ones(self._planes[planes], None, self._segments)
        else:
            native.count_ones(self._planes[planes], self._segments, ones)
        for k in range(slab.start, slab.stop):
            levels = self._margins[self._starts[k] : self._starts[k] + self.levels[k]]
            levels[1:] = ones[self._first[k] - planes.start : self._first[k + 1] - planes.start]
            levels[0] = self._class_counts - levels[1:].sum(axis=0)

    def _sums(self, slab: slice, j: int, T: AnyLogarithms) -> Sums:
        """Return what the kernel does, for a slab of features."""
        at_once = max(1, _CACHED_WORDS // max(1, int(self._segments[-1])))
        parts = []
        for levels, features in _alike(self.levels, slab, at_once):
            rows = self._first[features][:, None] + np.arange(levels - 1)
            below = self._starts[features][:, None] + np.arange(levels)
            tables = self._tables(self._planes[rows], self._margins[below], j)
            XJ, XJY = T.of(tables.sum(axis=-1)).sum(axis=(0, 2)), T.of(tables).sum(axis=(0, 2, 3))
            parts.append((features, XJ, XJY))
        together = np.concatenate([features for features, _, _ in parts])
        back = np.argsort(together)
        return (
            np.concatenate([XJ for _, XJ, _ in parts])[back],
            np.concatenate([XJY for _, _, XJY in parts])[back],
        )

    def _tables(self, planes: Words, margins: Integers, j: int) -> Integers:
        """Return the counts (level of j, feature, level, class) of features of as many levels."""
        b = int(self.levels[j])
        m, levels, c = margins.shape
        tables = np.empty((b, m, levels, c), dtype=np.int64)
        for level in range(1, b):
            plane = self._planes[self._first[j] + level - 1]
            tables[level, :, 1:] = common_ones(planes, plane, self._segments)
        tables[0] = margins - tables[1:].sum(axis=0)
        of_j = self._margins[self._starts[j] : self._starts[j] + b]
        tables[:, :, 0] = of_j[:, None] - tables[:, :, 1:].sum(axis=2)
        return tables


def words_needed(class_counts: NDArray) -> int:
    """Return the words of a plane."""
    return int(_segments(class_counts)[-1])


def _segments(class_counts: NDArray) -> Integers:
    """Return where the classes begin and end, in words."""
    return np.concatenate([[0], np.cumsum(-(-class_counts // WORD))]).astype(np.int64)


def _alike(levels: Integers, slab: slice, at_once: int) -> list[tuple[int, Integers]]:
    """Return groups of features of a slab that have as many levels, few enough for the cache."""
    groups = []
    own = levels[slab]
    for count in np.unique(own).tolist():
        features = slab.start + np.flatnonzero(own == count)
        width = max(1, at_once // max(1, count - 1))
        starts = range(0, len(features), width)
        groups += [(count, features[start : start + width]) for start in starts]
    return groups


def pack(values: NDArray, rows: Integers, levels: Integers, planes: Words) -> None:
    """Write the planes of features, one for each level but the first.

    Examples
    --------
    >>> planes = np.empty((1, 1), dtype=np.uint64)
    >>> rows = np.concatenate([[2, 0, 1], np.full(61, -1)])
    >>> pack(np.array([[1, 0, 1]], dtype=np.uint8), rows, np.array([2]), planes)
    >>> bin(planes[0, 0])  # rows 2 and 0; the first bit is the last digit
    '0b11'
    """
    values = values.astype(np.uint8, copy=False)
    native = kernels()
    if native is not None:
        native.pack_planes(values, rows, levels, planes)
        return
    is_row = rows >= 0
    codes = np.zeros(len(rows), dtype=np.uint8)
    place = 0
    for k in range(len(values)):
        codes[is_row] = values[k, rows[is_row]]
        for level in range(1, levels[k]):
            packed = np.packbits(codes == level, bitorder="little")
            planes[place] = packed.view("<u8")
            place += 1


def common_ones(planes: Words, plane: Words | None, segments: Integers) -> Integers:
    """Count the ones that planes share with one plane (None: all of theirs), by segment of words.

    Examples
    --------
    >>> planes = np.array([[7, 1], [6, 3]], dtype=np.uint64)
    >>> common_ones(planes, np.array([3, 1], dtype=np.uint64), np.array([0, 1, 2]))
    array([[2, 1],
           [1, 1]])
    """
    shared = planes if plane is None else planes & plane
    if not shared.size:
        return np.zeros((*shared.shape[:-1], len(segments) - 1), dtype=np.int64)
    if hasattr(np, "bitwise_count"):
        ones, starts = np.bitwise_count(shared), segments[:-1]
    else:
        halves = np.ascontiguousarray(shared).view(np.uint16)
        ones, starts = _ones_of_16_bits()[halves], 4 * segments[:-1]
    return np.add.reduceat(ones, starts, axis=-1, dtype=np.int64)


_ones: list[NDArray[np.uint8]] = []


def _ones_of_16_bits() -> NDArray[np.uint8]:
    """Return how many bits are set in each number of 16 bits."""
    if not _ones:
        numbers = np.arange(1 << 16, dtype=np.uint16)
        _ones.append(sum((numbers >> bit & 1 for bit in range(16)), np.uint16(0)).astype(np.uint8))
    return _ones[0]
