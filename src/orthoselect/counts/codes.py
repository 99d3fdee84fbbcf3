"""Features as integer codes, dense or sparse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.counts.base import by_slabs
from orthoselect.errors import InputError
from orthoselect.native import aligned, kernels

Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]

_CODE_TYPES = (np.uint8, np.uint16, np.uint32)
_CELLS_AT_ONCE = 1 << 20
_SMALL, _AT_ONCE = 256, 1 << 13  # levels that are marked in a table, and features of one
_NS_A_CODE = 0.5


@dataclass(frozen=True)
class DenseCodes:
    """Codes in an array, feature by feature.

    >>> DenseCodes(np.array([[0, 1, 1], [2, 0, 1]], dtype=np.uint8), np.array([2, 3])).shape
    (3, 2)
    """

    values: NDArray  # (n, N), uint8, uint16 or uint32; row k holds feature k, in one piece
    levels: Integers  # (n,): codes are 0 to levels - 1; not every level need occur

    def __post_init__(self) -> None:
        _check_type(self.values)
        if self.values.ndim != 2 or len(self.levels) != len(self.values):
            raise InputError(
                f"`values` should have one row for each of the {len(self.levels)} `levels`; "
                f"its shape is {self.values.shape}."
            )

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features, (N, n)."""
        return self.values.shape[1], self.values.shape[0]

    def rows(self, keep: Bools) -> DenseCodes:
        """Return the codes of some rows."""
        if keep.all():
            return self
        return DenseCodes(np.ascontiguousarray(self.values[:, keep]), self.levels)

    def column(self, f: int) -> NDArray:
        """Return the codes of one feature, row by row."""
        return self.values[f]

    def level_counts(self) -> Integers:
        """Return how many rows each level has, one feature after the other, (sum of levels,)."""
        each = zip(self.values, self.levels.tolist())
        found = [np.bincount(codes, minlength=levels) for codes, levels in each]
        return np.concatenate([np.zeros(0, dtype=np.intp), *found])

    def without_gaps(self, features: NDArray[np.intp]) -> DenseCodes:
        """Leave out the levels of these features that no row has; these codes are written over."""
        levels = np.array(self.levels)
        for some, seen in self._seen(features):
            levels[some] = seen.sum(axis=1)
            for g in np.flatnonzero(levels[some] < self.levels[some]).tolist():
                number = (np.cumsum(seen[g]) - 1).astype(self.values.dtype)
                self.values[some[g]] = number.take(self.values[some[g]])
        return DenseCodes(self.values, levels)

    def _seen(self, features: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], Bools]]:
        """Yield a few features at a time, (m,), and which of their levels have rows, (m, L)."""
        is_small = self.levels[features] <= _SMALL
        small, native = features[is_small].astype(np.int64), kernels()
        for start in range(0, len(small), _AT_ONCE):
            some = small[start : start + _AT_ONCE]
            seen = np.zeros((len(some), _SMALL), dtype=bool)
            if native is None:
                for row, k in zip(seen, some.tolist()):
                    row[:] = np.bincount(self.values[k], minlength=_SMALL) > 0
            else:
                self._mark(native, some, seen)
            yield some, seen
        for k in features[~is_small].tolist():
            yield np.array([k]), np.bincount(self.values[k], minlength=self.levels[k])[None] > 0

    def _mark(self, native: Any, some: Integers, seen: Bools) -> None:
        """Do so by the kernel, in a few threads."""
        values, levels = aligned(self.values), np.asarray(self.levels, dtype=np.int64)

        def work(slab: slice) -> None:
            native.mark_levels(values, some[slab], levels, seen[slab].view(np.uint8))

        by_slabs(len(some), work, len(some) * self.shape[0] * _NS_A_CODE)

    def varying(self) -> Bools:
        """Return which features have more than one code, (n,)."""
        n, N = self.values.shape
        found = np.zeros(n, dtype=bool)
        width = max(1, _CELLS_AT_ONCE // max(1, N))
        for start in range(0, n, width):
            some = self.values[start : start + width]
            found[start : start + width] = (some != some[:, :1]).any(axis=1)
        return found

    def check(self) -> None:
        """Raise an error if a code is not below the number of levels."""
        if 0 not in self.values.shape:
            _check_largest(self.values.max(axis=1), self.levels)


@dataclass(frozen=True)
class SparseCodes:
    """Codes by columns, of which 0 is not written down.

    >>> codes = np.array([1, 1, 2], dtype=np.uint8)
    >>> SparseCodes(np.array([0, 2, 3]), np.array([1, 2, 0]), codes, (3, 2), np.array([2, 3])).shape
    (3, 2)
    """

    indptr: NDArray  # (n + 1,): feature k has the cells from indptr[k] to indptr[k + 1]
    indices: NDArray  # rows of the cells, ascending within a feature
    codes: NDArray  # uint8, uint16 or uint32, at least 1
    shape: tuple[int, int]  # rows and features, (N, n)
    levels: Integers  # (n,): how many each feature has, level 0 included

    def __post_init__(self) -> None:
        _check_type(self.codes)
        n = self.shape[1]
        if len(self.indptr) != n + 1 or len(self.levels) != n:
            raise InputError(
                f"`indptr` should have {n + 1} and `levels` {n} numbers for {n} features; "
                f"they have {len(self.indptr)} and {len(self.levels)}."
            )
        if not len(self.indices) == len(self.codes) == self.indptr[-1]:
            raise InputError(
                f"`indices` and `codes` should have as many numbers as `indptr` ends with, "
                f"{self.indptr[-1]}; they have {len(self.indices)} and {len(self.codes)}."
            )

    @property
    def owner(self) -> NDArray[np.intp]:
        """The feature of each cell."""
        return np.repeat(np.arange(self.shape[1]), np.diff(self.indptr))

    def column(self, f: int) -> NDArray:
        """Return the codes of one feature, row by row."""
        column = np.zeros(self.shape[0], dtype=self.codes.dtype)
        cells = slice(self.indptr[f], self.indptr[f + 1])
        column[self.indices[cells]] = self.codes[cells]
        return column

    def level_counts(self) -> Integers:
        """Return how many rows each level has, one feature after the other, (sum of levels,)."""
        first = np.cumsum(self.levels) - self.levels
        counts = np.bincount(first[self.owner] + self.codes, minlength=int(self.levels.sum()))
        counts[first] = self.shape[0] - np.diff(self.indptr)
        return counts

    def without_gaps(self, features: NDArray[np.intp]) -> SparseCodes:
        """Leave out the levels of these features that no row has; others have no such levels."""
        if not len(features):
            return self
        is_there = self.level_counts() > 0
        if is_there.all():
            return self
        first = np.cumsum(self.levels) - self.levels
        before = np.concatenate([[0], np.cumsum(is_there)])
        codes = (before[1:] - 1)[first[self.owner] + self.codes] - before[first][self.owner]
        keep = codes > 0  # a feature without rows at level 0 has another one called so
        indptr = np.concatenate([[0], np.cumsum(keep)])[self.indptr]
        levels = np.add.reduceat(is_there, first, dtype=np.int64)
        codes = codes[keep].astype(self.codes.dtype)
        return SparseCodes(indptr, self.indices[keep], codes, self.shape, levels)

    def rows(self, keep: Bools) -> SparseCodes:
        """Return the codes of some rows."""
        if keep.all():
            return self
        kept = keep[self.indices]
        place = np.cumsum(keep) - 1
        before = np.concatenate([[0], np.cumsum(kept)])  # cells kept before each cell
        return SparseCodes(
            before[self.indptr],
            place[self.indices[kept]],
            self.codes[kept],
            (int(keep.sum()), self.shape[1]),
            self.levels,
        )

    def varying(self) -> Bools:
        """Return which features have more than one code, (n,)."""
        filled = np.diff(self.indptr)
        some = np.flatnonzero(filled)
        least, most = np.zeros(self.shape[1], np.int64), np.zeros(self.shape[1], np.int64)
        if some.size:
            least[some] = np.minimum.reduceat(self.codes, self.indptr[some])
            most[some] = np.maximum.reduceat(self.codes, self.indptr[some])
        return np.where(filled < self.shape[0], most > 0, most > least)

    def check(self) -> None:
        """Raise an error if a row or a code is out of its bounds."""
        if not len(self.codes):
            return
        if self.indices.min() < 0 or self.indices.max() >= self.shape[0]:
            raise InputError(
                f"`indices` should be rows from 0 to {self.shape[0] - 1}; "
                f"they go from {self.indices.min()} to {self.indices.max()}."
            )
        if self.codes.min() < 1:
            raise InputError("sparse `codes` should be at least 1; leave cells of code 0 out.")
        filled = np.flatnonzero(np.diff(self.indptr))
        largest = np.zeros(self.shape[1], dtype=np.int64)
        largest[filled] = np.maximum.reduceat(self.codes, self.indptr[filled])
        _check_largest(largest, self.levels)


Codes = DenseCodes | SparseCodes


def _check_type(codes: NDArray) -> None:
    if codes.dtype.type not in _CODE_TYPES:
        raise InputError(f"codes should be uint8, uint16 or uint32; they are {codes.dtype}.")


def _check_largest(largest: NDArray, levels: Integers) -> None:
    wrong = np.flatnonzero(largest >= levels)
    if len(wrong):
        k = wrong[0]
        raise InputError(
            f"codes should be below the number of levels; feature {k} has {levels[k]} levels "
            f"and a code {largest[k]}."
        )
