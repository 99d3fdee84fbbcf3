"""Which products to take, and how many at a time: a small model of what they cost.

The unit is one multiplication-addition in a large product. A read of X costs as much as about
`_READ` of them for each number; Gram columns fetched a few at a time cost `_SKINNY` each, as thin
products use the processor less well. Both were measured (docs/performance.md) and need not be
exact: a wrong choice costs time, never correctness.
"""

from __future__ import annotations

_READ = 10.0
_SKINNY = 2.0
_AHEAD = 16  # Gram columns fetched with one read; a multiple of what BLAS takes at a time
# Of the Gram columns fetched, one in so many is a later winner's; a read lasts for so many steps.
_FETCHED_PER_STEP = 2.5
_STEPS_PER_READ = 4.0


def whole_gram_pays(shape: tuple[int, int], size: int) -> bool:
    """Whether to take all n * n inner products at once rather than columns on demand.

    Parameters
    ----------
    shape : tuple of int
        Rows N and columns n.
    size : int
        Steps planned.
    """
    N, n = shape
    if 4 * n > N and n > 64:  # the Gram matrix should stay small beside X
        return False
    whole = n / 2 + _READ
    on_demand = _READ * (1 + size / _STEPS_PER_READ) + _SKINNY * _FETCHED_PER_STEP * size
    return whole <= on_demand


def columns_ahead(shape: tuple[int, int], steps_left: int) -> int:
    """How many Gram columns to fetch with one read of X: the winner's and likely ones."""
    return min(_AHEAD, max(1, steps_left))
