"""Whether whole numbers of a response are classes or a quantity, if `task="auto"` has to tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from orthoselect import errors
from orthoselect.encode.labels import find_labels
from orthoselect.errors import ReadAsClassesWarning, ReadAsQuantityWarning
from orthoselect.matrix.base import Floats

if TYPE_CHECKING:
    from orthoselect.encode.response import TargetColumn

_FEW_CLASSES = 10  # distinct whole numbers that are mostly classes
MOST_CODES = 1000  # distinct whole numbers that may be codes of classes
EXACT = 2.0**53  # floats hold whole numbers up to here


def have_fractions(columns: Sequence[TargetColumn], weights: Floats | None) -> bool:
    """Whether columns of numbers have some that are not whole, in rows with weight."""
    rows = slice(None) if weights is None else weights > 0
    numbers = (c.values[rows] for c in columns if c.is_number and c.values.dtype.kind == "f")
    return any(bool((values != np.trunc(values)).any()) for values in numbers)


@dataclass(frozen=True)
class NumbersSeen:
    """What `task="auto"` asks of a response: whether its numbers are whole, and which they are.

    Found in pieces of the rows where these are in several places, and merged.
    """

    fractional: bool
    # Of each column its name, and the rows of each number; None for too many to be classes.
    whole: tuple[tuple[str, Mapping[Any, int] | None], ...] = ()

    @staticmethod
    def of(columns: Sequence[TargetColumn], weights: Floats | None) -> NumbersSeen:
        """Look at the columns that hold numbers, in rows with weight."""
        if have_fractions(columns, weights):
            return NumbersSeen(True)
        rows = slice(None) if weights is None else weights > 0
        numbers = [(c.name, c.values[rows]) for c in columns if c.is_number]
        return NumbersSeen(False, tuple((name, _count_whole(x)) for name, x in numbers))

    def merge(self, other: NumbersSeen) -> NumbersSeen:
        """Return what both have found."""
        if self.fractional or other.fractional:
            return NumbersSeen(True)
        pairs = zip(self.whole, other.whole)
        return NumbersSeen(False, tuple((n, _add_counts(a, b)) for (n, a), (_, b) in pairs))

    def are_quantities(self) -> bool:
        """Whether these are quantities; a warning names whole numbers that are, or may be."""
        if self.fractional:
            return True
        found = [(n, x) for n, x in self.whole if x is None or are_quantities(x)]
        if found:
            name, counts = found[0]
            many = f"more than {MOST_CODES}" if counts is None else str(len(counts))
            errors.warn(ReadAsQuantityWarning(name, many))
            return True
        for name, counts in self.whole:
            # Codes of classes follow one another; counts and measures mostly leave some out.
            if counts is not None and len(counts) > 2 and not _are_consecutive(counts):
                errors.warn(ReadAsClassesWarning(name, sorted(counts)))
        return False


def _are_consecutive(numbers: Iterable[Any]) -> bool:
    numbers = list(numbers)
    return bool(max(numbers) - min(numbers) == len(numbers) - 1)


def _count_whole(values: NDArray) -> Mapping[Any, int] | None:
    """Count the rows of each whole number."""
    if not len(values):
        return {}
    if values.dtype.kind == "f" and np.abs(values.astype(np.float64)).max() < EXACT:
        values = values.astype(np.int64)  # which are counted, not sorted
    labels = find_labels(values)
    counts = np.bincount(labels.codes) if labels.counts is None else labels.counts
    return _few(dict(zip(labels.levels, counts.tolist())))


def _add_counts(mine: Mapping | None, theirs: Mapping | None) -> Mapping | None:
    if mine is None or theirs is None:
        return None
    total = Counter(mine)
    total.update(theirs)
    return _few(total)


def _few(counts: Mapping[Any, int]) -> Mapping[Any, int] | None:
    return counts if len(counts) <= MOST_CODES else None


def are_quantities(counts: Mapping[Any, int]) -> bool:
    """Whether whole numbers, each with its number of rows, are a quantity rather than classes.

    Up to ten distinct numbers are classes, unless they hardly repeat: six or more of them in fewer
    than twice as many rows. More are a quantity, unless they are codes: all numbers from 0 or 1 to
    the largest, at most a thousand, each in at least a fifth of the rows that it would have if
    all had the same.

    Examples
    --------
    >>> are_quantities(dict.fromkeys(range(40), 10))  # 40 persons, ten pictures of each
    False
    >>> are_quantities(dict.fromkeys(range(1980, 2010), 10))
    True
    """
    c, n_rows = len(counts), sum(counts.values())
    if c <= _FEW_CLASSES:
        return c > _FEW_CLASSES // 2 and n_rows < 2 * c
    low, high = min(counts), max(counts)
    are_codes = low in (0, 1) and high - low == c - 1 and n_rows >= 2 * c
    return not (are_codes and 5 * min(counts.values()) * c >= n_rows)
