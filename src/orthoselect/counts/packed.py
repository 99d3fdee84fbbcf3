"""Features of few levels as planes of bits, 64 rows to a word, counted by the ones they share.

Rows are sorted by class, and each class begins at a word of its own; what is left of its last word
is 0 in every plane. `count` chooses between this kind and the others.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orthoselect.counts.base import Counts, Integers, Sums, by_slabs, table_sums
from orthoselect.counts.codes import Codes, DenseCodes
from orthoselect.counts.falling import FallingScores, Margins
from orthoselect.counts.logarithms import AnyLogarithms
from orthoselect.counts.tables import CodeCounts, SparseCounts
from orthoselect.errors import InputError
from orthoselect.native import kernels

Words = NDArray[np.uint64]

WORD = 64
_NS_A_WORD, _NS_A_WORD_IN_NUMPY, _NS_A_CELL = 0.4, 2.5, 1.0
_NS_TO_PACK = 0.5  # a row
_CACHED_BYTES = 1 << 18  # what NumPy works on at a time stays in a core's own cache
_CACHED_WORDS = _CACHED_BYTES // 8
_WORDS_A_ROW = 1.5  # a row is counted by its code in the time of so many words of two planes
_MOST_PACKED_LEVELS = 64


def count(codes: Codes, y: ArrayLike, n_classes: int, weights: ArrayLike | None = None) -> Counts:
    """Make ready to count features against each other and the class.

    Sparse codes are counted as such. Of dense ones, features of few levels are packed into bits:
    two features of L levels share (L - 1)**2 pairs of planes, and a word of 64 rows costs about as
    much as one row counted by its code.

    y (N,) has the class of each row, from 0 to n_classes - 1; not every class need occur. Weights
    (N,) are not negative. Rows of weight 0 are left out; where all are whole, so are all counts.

    >>> codes = DenseCodes(np.array([[0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.uint8), np.array([2, 2]))
    >>> counts = count(codes, [0, 0, 1, 1], 2)
    >>> T = counts.logarithms(terms=12)
    >>> X, XY = counts.margins(T)
    >>> T.nats(XY - X - counts.classes(T) + T.of(4)).round(6)  # ln 2 and 0
    array([0.693147, 0.      ])
    """
    y, N = np.asarray(y), codes.shape[0]
    if y.shape != (N,) or y.dtype.kind not in "iub":
        raise InputError(
            f"`y` should hold the class of each of the {N} rows as a whole number; "
            f"its shape is {y.shape} and its type {y.dtype}."
        )
    if N and not 0 <= y.min() <= y.max() < n_classes:
        raise InputError(
            f"`y` should be from 0 to {n_classes - 1} for {n_classes} classes; "
            f"it goes from {y.min()} to {y.max()}."
        )
    codes.check()
    if weights is not None:
        weights = np.asarray(weights, dtype=np.float64)
        _check_weights(weights, N)
        keep = weights > 0
        codes, y, weights = codes.rows(keep), y[keep], weights[keep]
        weights = weights if (weights != 1).any() else None
    y = y.astype(np.int64, copy=False)
    if not isinstance(codes, DenseCodes):
        return SparseCounts(codes, y, n_classes, weights)
    if weights is None and packing_pays(codes, y, n_classes):
        return PackedCounts(codes, y, n_classes)
    return CodeCounts(codes, y, n_classes, weights)


def _check_weights(weights: NDArray, N: int) -> None:
    if weights.shape != (N,):
        raise InputError(f"`weights` should have shape ({N},); it has {weights.shape}.")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and (weights > 0).any()):
        raise InputError(
            "`weights` should be finite, not negative and not all zero; "
            f"they go from {weights.min(initial=0)} to {weights.max(initial=0)}."
        )


def packing_pays(codes: DenseCodes, y: NDArray, n_classes: int) -> bool:
    """Whether the slowest step is quicker by planes of bits than by codes."""
    levels = np.asarray(codes.levels, dtype=np.int64)
    most = int(levels.max(initial=1))
    words = int((-(-np.bincount(y, minlength=n_classes) // WORD)).sum())  # of a plane
    by_planes = words * int((levels - 1).sum()) * (most - 1)
    by_codes = _WORDS_A_ROW * codes.shape[0] * codes.shape[1]
    return most <= _MOST_PACKED_LEVELS and by_planes <= by_codes


class PackedCounts(Counts):
    """Counts of features of few levels.

    A feature of L levels has L - 1 planes; the counts of level 0 follow from the margins.
    """

    kind = "packed"

    def __init__(self, codes: DenseCodes, y: NDArray, n_classes: int) -> None:
        super().__init__(codes.shape, codes.levels, y, n_classes)
        n, c = self.shape[1], self._n_present
        self._segments = _steps(-(-self._class_counts // WORD))  # where classes begin, in words
        self._first = _steps(self.levels - 1)
        self._planes: Words = np.empty((self._first[-1], self._segments[-1]), dtype=np.uint64)
        # Rows of margins: the levels of feature k begin at first[k] + k.
        self._starts = self._first[:-1] + np.arange(n)
        self._margins: Integers = np.empty((self._first[-1] + n, c), dtype=np.int64)
        # Numbers of 16 bits are sorted by radix.
        order = np.argsort(self._y.astype(np.uint16 if c < 1 << 16 else np.int64), kind="stable")
        layout = order.astype(np.int32), _steps(self._class_counts), self._segments

        def work(slab: slice) -> None:
            planes = slice(self._first[slab.start], self._first[slab.stop])
            pack(codes.values[slab], self.levels[slab], *layout, self._planes[planes])
            self._count_margins(slab, planes)

        by_slabs(n, work, n * self.shape[0] * _NS_TO_PACK)

    def margins(self, T: AnyLogarithms) -> Sums:
        X = np.add.reduceat(T.of(self._margins.sum(axis=1)), self._starts)
        XY = np.add.reduceat(T.of(self._margins).sum(axis=1), self._starts)
        return X, XY

    def pairs(self, j: int, T: AnyLogarithms) -> Sums:
        XJ, XJY = self._room(T)
        native = kernels()

        def work(slab: slice) -> None:
            if native is None:
                XJ[slab], XJY[slab] = self._sums(slab, j, T)
            else:
                native.count_packed(
                    self._planes, self._first, self._segments, self._margins,
                    j, slab.start, slab.stop, T.table, XJ, XJY,
                )  # fmt: skip

        words = self._planes.size * (self.levels[j] - 1)
        cells = len(self._margins) * self.levels[j] * self._n_present
        a_word = _NS_A_WORD_IN_NUMPY if native is None else _NS_A_WORD
        by_slabs(self.shape[1], work, words * a_word + cells * _NS_A_CELL)
        return XJ, XJY

    def falling(
        self, T: AnyLogarithms, margins: Sums, known: NDArray, *, takes_least: bool
    ) -> FallingScores | None:
        if kernels() is None:
            return None
        sums = self._all_margins(T, margins)
        return FallingPlanes(self, T, sums, known, takes_least=takes_least)

    def count_falling(self, T: AnyLogarithms, *arguments: Any) -> None:
        """Count features against those taken, as the kernel does; `FallingPlanes` calls it."""
        order, taken, sums, *scores = arguments
        kernels().packed_falling(
            self._planes, self._first, self._segments, self._margins, order, taken, sums, T.table,
            *scores,
        )  # fmt: skip

    def words_a_pair(self) -> float:
        """Return how many words two features share, on average."""
        return self._planes.size * len(self._planes) / max(1, self.shape[1]) ** 2

    def _count_margins(self, slab: slice, planes: slice) -> None:
        ones = np.empty((planes.stop - planes.start, self._n_present), dtype=np.int64)
        native = kernels()
        if native is None:
            ones[:] = common_ones(self._planes[planes], None, self._segments)
        else:
            native.count_ones(self._planes[planes], self._segments, ones)
        starts = self._starts[slab]
        margins = self._margins[starts[0] : starts[-1] + self.levels[slab.stop - 1]]
        is_first = np.zeros(len(margins), dtype=bool)
        is_first[starts - starts[0]] = True
        margins[~is_first], margins[is_first] = ones, 0
        margins[is_first] = self._class_counts - np.add.reduceat(margins, starts - starts[0])

    def _sums(self, slab: slice, j: int, T: AnyLogarithms) -> Sums:
        """Return what the kernel does, for a slab of features."""
        at_once = max(1, _CACHED_WORDS // max(1, int(self._segments[-1])))
        XJ, XJY = np.empty((2, slab.stop - slab.start), dtype=np.int64)
        for levels, features in _alike(self.levels, slab, at_once):
            planes = _take(self._planes, self._first[features], levels - 1)
            margins = _take(self._margins, self._starts[features], levels)
            tables = self._tables(planes, margins, j)
            own = features - slab.start
            XJ[own], XJY[own] = table_sums(np.moveaxis(tables, 0, 2), T)
        return XJ, XJY

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


class FallingPlanes(FallingScores):
    """Falling scores from planes of bits."""

    def __init__(
        self,
        counts: PackedCounts,
        T: AnyLogarithms,
        margins: Margins,
        known: Integers,
        *,
        takes_least: bool,
    ) -> None:
        nanoseconds = counts.words_a_pair() * _NS_A_WORD
        super().__init__(margins, known, takes_least=takes_least, nanoseconds=nanoseconds)
        self._counts, self._T = counts, T

    def _count_share(self, order: Integers, taken: Integers, sums: Integers, best: int) -> None:
        scores = *self._margins, self._takes_least, best, self.known, self.seen
        self._counts.count_falling(self._T, order, taken, sums, *scores)


def _steps(sizes: NDArray) -> Integers:
    """Return where parts of these sizes begin, and the end of the last."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


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


def _take(array: NDArray, starts: Integers, height: int) -> NDArray:
    """Return blocks of rows, (block, row, ...): a view where one block follows the other."""
    if len(starts) * height == starts[-1] + height - starts[0]:
        block = array[starts[0] : starts[-1] + height]
        return block.reshape(len(starts), height, array.shape[1])
    return array[starts[:, None] + np.arange(height)]


def pack(
    values: NDArray,
    levels: Integers,
    order: NDArray[np.int32],
    ends: Integers,
    segments: Integers,
    planes: Words,
) -> None:
    """Write the planes of features, one for each level but the first.

    Class y, of c, has the rows order[ends[y] : ends[y + 1]] of N, which are the bits of the words
    from segments[y] on.

    >>> planes = np.empty((1, 1), dtype=np.uint64)
    >>> order, ends, segments = np.array([2, 0, 1], dtype=np.int32), np.array([0, 3]), np.arange(2)
    >>> values = np.array([[1, 0, 1]], dtype=np.uint8)
    >>> pack(values, np.array([2]), order, ends, segments, planes)
    >>> bin(planes[0, 0])  # rows 2 and 0; the first bit is the last digit
    '0b11'
    """
    values = values.astype(np.uint8, copy=False)
    native = kernels()
    if native is not None:
        native.pack_planes(values, levels, order, ends, segments, planes)
        return
    first = _steps(levels - 1)
    ahead = np.repeat(WORD * segments[:-1] - ends[:-1], np.diff(ends))
    bits = np.arange(len(order)) + ahead  # of each row in the order
    width = max(1, _CACHED_BYTES // max(1, WORD * planes.shape[1]))
    for start in range(0, len(values), width):
        few = slice(start, min(start + width, len(values)))
        codes = np.zeros((few.stop - start, WORD * planes.shape[1]), dtype=np.uint8)
        codes[:, bits] = values[few, order]
        for level in range(1, int(levels[few].max())):
            has = np.flatnonzero(levels[few] > level)
            packed = np.packbits(codes[has] == level, axis=1, bitorder="little")
            planes[first[few][has] + level - 1] = packed.view("<u8")


def common_ones(planes: Words, plane: Words | None, segments: Integers) -> Integers:
    """Count the ones that planes share with one plane (None: all of theirs), by segment of words.

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


@cache
def _ones_of_16_bits() -> NDArray[np.uint8]:
    """Return how many bits are set in each number of 16 bits."""
    bytes_of = np.arange(1 << 16, dtype=np.uint16).view(np.uint8).reshape(-1, 2)
    return np.unpackbits(bytes_of, axis=1).sum(axis=1, dtype=np.uint8)
