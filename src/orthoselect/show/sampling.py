"""A few rows in place of all: always the same ones, and no class is forgotten."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import Indices

_SEED = 0


def live_rows(weights: NDArray | None, n_rows: int) -> Indices:
    """Return the rows that have any weight."""
    return np.arange(n_rows) if weights is None else np.flatnonzero(weights > 0)


def sample_rows(rows: Indices, most: int, codes: Indices | None = None) -> Indices:
    """Return at most so many of these rows, in their order.

    Parameters
    ----------
    rows : integer array
    most : int
    codes : integer array, optional
        Class of each of `rows`. Half of the places go to the classes in equal parts, as far as
        they have rows for it; the other half by how many rows they have.

    Examples
    --------
    >>> codes = np.array([0] * 95 + [1] * 5)
    >>> picked = sample_rows(np.arange(100), 20, codes)
    >>> len(picked), int((picked >= 95).sum())
    (20, 5)
    """
    if len(rows) <= most:
        return rows
    order = np.random.default_rng(_SEED).permutation(len(rows))
    if codes is not None:
        order = _small_classes_first(order, codes, most)
    return rows[np.sort(order[:most])]


def _small_classes_first(order: Indices, codes: Indices, most: int) -> Indices:
    """Move the first few rows of each class to the front."""
    quota = most // 2 // max(len(np.unique(codes)), 1)
    by_class = order[np.argsort(codes[order], kind="stable")]
    starts = np.searchsorted(codes[by_class], codes[by_class])
    early = np.arange(len(order)) - starts < quota
    in_front = np.zeros(len(order), dtype=bool)
    in_front[by_class[early]] = True
    return np.concatenate([order[in_front[order]], order[~in_front[order]]])
