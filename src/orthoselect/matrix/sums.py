"""Adding up what the blocks of a table contribute, so that many blocks lose no more than few."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

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
        self._lost = np.zeros_like(self._total)

    def add(self, more: Floats) -> None:
        """Add one more array."""
        total, lost, more = (np.atleast_1d(a) for a in (self._total, self._lost, more))
        height = max(1, _SLAB // max(1, total[:1].size))
        for start in range(0, len(total), height):
            rows = slice(start, start + height)
            _add(total[rows], lost[rows], more[rows])

    def result(self) -> Floats:
        """Return the sum, in the running sum's own memory: nothing can be added afterwards."""
        self._total += self._lost
        return self._total


def _add(total: Floats, lost: Floats, more: Floats) -> None:
    """Add in place; what rounding takes goes to `lost` (Knuth's two-sum)."""
    new = total + more
    grown = new - total
    lost += (total - (new - grown)) + (more - grown)
    total[...] = new


def pairwise(parts: Iterable[Part], merge: Callable[[Part, Part], Part]) -> Part:
    """Merge parts two and two, neighbors first: each goes through few merges only.

    At most as many parts are kept as their number has binary digits.

    Examples
    --------
    >>> pairwise(iter("abcde"), lambda a, b: f"({a}{b})")
    '(((ab)(cd))e)'
    """
    stack: list[tuple[int, Part]] = []  # (how many were merged into it, it), fewer and fewer
    for part in parts:
        count = 1
        while stack and stack[-1][0] == count:
            merged, before = stack.pop()
            count, part = count + merged, merge(before, part)
        stack.append((count, part))
    if not stack:
        raise ValueError("there should be at least one part to merge")
    return _fold(reversed(stack), merge)


def _fold(stack: Iterator[tuple[int, Part]], merge: Callable[[Part, Part], Part]) -> Part:
    _, result = next(stack)
    for _, before in stack:
        result = merge(before, result)
    return result
