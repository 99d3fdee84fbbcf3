"""Adding up what the blocks of a table contribute, so that many blocks lose no more than few."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

import numpy as np

from orthoselect.matrix.base import Floats

Part = TypeVar("Part")
_SLAB = 1 << 17  # numbers added at a time, for the cache


class RunningSums:
    """Running sums of several arrays, which remember what each addition rounds away.

    >>> sums = RunningSums()
    >>> sums.add([np.array([1.0]), np.array([2.0, 3.0])])
    >>> for _ in range(10_000):
    ...     sums.add([np.array([1e-16]), np.zeros(2)])
    >>> one, others = sums.results()
    >>> float(one[0] - 1.0) > 0.9e-12  # a plain sum would still be 1.0
    True
    """

    def __init__(self) -> None:
        self._totals: list[Floats] = []
        self._lost: list[Floats] = []  # nothing yet: sums of one part travel light

    def add(self, parts: Sequence[Floats]) -> None:
        """Add one more array to each sum."""
        if not self._totals:
            self._totals = [np.array(part, dtype=np.float64) for part in parts]
            return
        if not self._lost:
            self._lost = [np.zeros_like(total) for total in self._totals]
        for total, lost, more in zip(self._totals, self._lost, parts):
            _add(*map(np.atleast_1d, (total, lost, more)))

    def merge(self, other: RunningSums) -> RunningSums:
        """Return the sums of both, with what was rounded away; this one is used up."""
        if not self._totals:
            return other
        if other._totals:
            self.add(other._totals)
        for mine, theirs in zip(self._lost, other._lost):
            mine += theirs
        return self

    def results(self) -> list[Floats]:
        """Return the sums, in their own memory: nothing can be added afterwards."""
        for total, lost in zip(self._totals, self._lost):
            total += lost
        return self._totals


def _add(total: Floats, lost: Floats, more: Floats) -> None:
    """Add in place; what rounding takes goes to `lost` (Knuth's two-sum)."""
    height = max(1, _SLAB // max(1, total[:1].size))
    for start in range(0, len(total), height):
        rows = slice(start, start + height)
        old, term = total[rows], more[rows]
        new = old + term
        grown = new - old
        lost[rows] += (old - (new - grown)) + (term - grown)
        old[...] = new


class Merging(Generic[Part]):
    """Parts that are merged two and two as they come, neighbors first.

    Each goes through few merges only, and at most as many are kept as their number has binary
    digits. `stack` has parts to begin with and the heights of their trees of merges, highest first.

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
