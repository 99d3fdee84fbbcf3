"""Slow, obviously right twins of what a summary says: plain least squares, feature by feature.

Nothing here imports orthoselect, and nothing here is clever.
"""

from __future__ import annotations

import numpy as np

import naive


def remains(block, taken, w=None):
    """Mean share of a block's directions that least squares on the taken columns leaves."""
    directions = naive.span(naive.drop_constants(block, w))
    if not directions.shape[1]:
        return None
    A = naive.drop_constants(taken, w)
    coefficients = np.linalg.lstsq(A, directions, rcond=1e-10)[0]
    return ((directions - A @ coefficients) ** 2).sum() / directions.shape[1]


def explained(block, by, w=None):
    """The share of a block that another block explains; None if the first is constant."""
    left = remains(block, by, w)
    return None if left is None else 1.0 - left


def relevance(block, Y, w=None):
    """Sum of squared canonical correlations of one block and the response."""
    return naive.value(block, Y, w)


def gain(block, taken, Y, w=None):
    """What a block adds to the taken columns; None if it adds no direction."""
    both = np.hstack([taken, block])
    before = naive.span(naive.drop_constants(taken, w)).shape[1]
    if naive.span(naive.drop_constants(both, w)).shape[1] == before:
        return None
    return naive.value(both, Y, w) - naive.value(taken, Y, w)


def rank(block, w=None):
    """How many directions a block has, at least one."""
    return max(naive.span(naive.drop_constants(block, w)).shape[1], 1)


def runners_up(blocks, places, step, Y, w=None, chance=0.0):
    """The five not taken by a step that would have added most there: (place, gain), best first.

    What chance would add for each direction does not count.
    """
    taken = np.hstack([np.zeros((len(Y), 0)), *(blocks[f] for f in places[:step])])
    found = {f: gain(b, taken, Y, w) for f, b in enumerate(blocks) if f not in places[: step + 1]}
    found = {f: g for f, g in found.items() if g is not None}
    merits = {f: g - chance * rank(blocks[f], w) for f, g in found.items()}
    return sorted(found.items(), key=lambda item: (-merits[item[0]], item[0]))[:5]
