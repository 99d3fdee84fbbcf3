"""Adding up what the blocks of a table contribute, so that many blocks lose no more than few."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

import numpy as np

from orthoselect.matrix.base import Floats

Part = TypeVar("Part")
_SLAB = 1 << 17  # numbers added at a time, for the cache


class Sum:
    """A running sum of arrays of one shape that remembers what each addition rounds away.

    Examples
    --------
    >>> total = Sum(np.array([1.0]))
    >>> for _ in range(10_000):
    ...     total.add(np.array([1e-16]))
    >>> float(total.result()[0] - 1.0) > 0.9e-12  # a plain sum would still be 1.0
    True
    """

    def __init__(self, first: Floats) -> None:
        self._total = np.array(first, dtype=np.float64)
        self._lost: Floats | None = None  # nothing; a sum of one part travels light

    def add(self, more: Floats) -> None:
        """Add one more array."""
        lost = self._remember()
        total, lost, more = (np.atleast_1d(a) for a in (self._total, lost, more))
        height = max(1, _SLAB // max(1, total[:1].size))
        for start in range(0, len(total), height):
            rows = slice(start, start + height)
            _add(total[rows], lost[rows], more[rows])

    def merge(self, other: Sum) -> None:
        """Add another sum, with what its additions rounded away."""
        self.add(other._total)
        if other._lost is not None:
            lost = self._remember()
            lost += other._lost

    def result(self) -> Floats:
        """Return the sum, in the running sum's own memory: nothing can be added afterwards."""
        if self._lost is not None:
            self._total += self._lost
        return self._total

    def _remember(self) -> Floats:
        """Return what additions have rounded away so far, to be added to."""
        if self._lost is None:
            self._lost = np.zeros_like(self._total)
        return self._lost


def _add(total: Floats, lost: Floats, more: Floats) -> None:
    """Add in place; what rounding takes goes to `lost` (Knuth's two-sum)."""
    new = total + more
    grown = new - total
    lost += (total - (new - grown)) + (more - grown)
    total[...] = new


class RunningSums:
    """Running sums of several arrays at once.

    Examples
    --------
    >>> sums = RunningSums()
    >>> sums.add([np.array([1.0]), np.array([2.0, 3.0])])
    >>> sums.add([np.array([1.0]), np.array([2.0, 3.0])])
    >>> sums.results()
    [array([2.]), array([4., 6.])]
    """

    def __init__(self) -> None:
        self._sums: list[Sum] = []

    def add(self, parts: Sequence[Floats]) -> None:
        """Add one more array to each sum."""
        if self._sums:
            for total, part in zip(self._sums, parts):
                total.add(part)
        else:
            self._sums = [Sum(part) for part in parts]

    def merge(self, other: RunningSums) -> RunningSums:
        """Return the sums of both; this one is used up."""
        if not self._sums:
            return other
        for mine, theirs in zip(self._sums, other._sums):
            mine.merge(theirs)
        return self

    def results(self) -> list[Floats]:
        """Return the sums; nothing can be added afterwards."""
        return [total.result() for total in self._sums]


class Merging(Generic[Part]):
    """Parts that are merged two and two as they come, neighbors first.

    Each goes through few merges only, and at most as many are kept as their number has binary
    digits.

    Parameters
    ----------
    merge : callable
        Puts two parts together.
    stack : sequence of (int, part)
        Parts to begin with and the heights of their trees of merges, highest first.

    Examples
    --------
    >>> parts = Merging(lambda a, b: f"({a}{b})")
    >>> for part in "abcde":
    ...     parts.add(part)
    >>> parts.result()
    '(((ab)(cd))e)'
    """

    def __init__(
        self, merge: Callable[[Part, Part], Part], stack: Iterable[tuple[int, Part]] = ()
    ) -> None:
        self._merge = merge
        self.stack = list(stack)

    def add(self, part: Part, height: int = 0) -> None:
        """Take one more part, which may have been merged of others."""
        while self.stack and self.stack[-1][0] <= height:
            below, before = self.stack.pop()
            height, part = max(height, below) + 1, self._merge(before, part)
        self.stack.append((height, part))

    def followed_by(self, other: Merging[Part]) -> Merging[Part]:
        """Return this with all parts of another; this one is used up."""
        for height, part in other.stack:
            self.add(part, height)
        return self

    def result(self) -> Part:
        """Return all parts merged."""
        if not self.stack:
            raise ValueError("there should be at least one part to merge")
        result = self.stack[-1][1]
        for _, before in reversed(self.stack[:-1]):
            result = self._merge(before, result)
        return result


def pairwise(parts: Iterable[Part], merge: Callable[[Part, Part], Part]) -> Part:
    """Merge parts two and two, neighbors first; see `Merging`."""
    merging = Merging(merge)
    for part in parts:
        merging.add(part)
    return merging.result()
