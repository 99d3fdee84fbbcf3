"""Which kind counts a table quickest."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orthoselect.counts.base import Counts
from orthoselect.counts.codes import Codes, DenseCodes
from orthoselect.counts.counted import CodeCounts
from orthoselect.counts.packed import PackedCounts, words_needed
from orthoselect.counts.sparse import SparseCounts
from orthoselect.counts.weighted import WeightedCounts
from orthoselect.errors import InputError

_ROWS_A_WORD = 1.0  # counting a row by its code takes as long as so many words of two planes
_MOST_PACKED_LEVELS = 64


def count(codes: Codes, y: ArrayLike, n_classes: int, weights: ArrayLike | None = None) -> Counts:
    """Make ready to count features against each other and the class.

    Sparse codes are counted as such. Of dense ones, features of few levels are packed into bits:
    two features of L levels share (L - 1)**2 pairs of planes, and a word of 64 rows costs about as
    much as one row counted by its code.

    Parameters
    ----------
    codes : DenseCodes or SparseCodes
    y : array of shape (N,)
        The class of each row, from 0 to n_classes - 1. Not every class need occur.
    n_classes : int
    weights : array of shape (N,), optional
        Not negative. Rows of weight 0 are left out; where all are whole, so are all counts.

    Returns
    -------
    Counts

    Raises
    ------
    InputError
        If a code, class or weight is out of its bounds.

    Examples
    --------
    >>> codes = DenseCodes(np.array([[0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.uint8), np.array([2, 2]))
    >>> counts = count(codes, [0, 0, 1, 1], 2)
    >>> T = counts.logarithms(terms=12)
    >>> X, XY = counts.margins(T)
    >>> T.nats(XY - X - counts.classes(T) + T.of(4)).round(6)  # ln 2 and 0
    array([0.693147, 0.      ])
    """
    y = _checked_classes(np.asarray(y), codes.shape[0], n_classes)
    codes.check()
    if weights is not None:
        weights = _checked_weights(np.asarray(weights, dtype=np.float64), len(y))
        keep = weights > 0
        if not keep.all():
            codes, y, weights = codes.rows(keep), y[keep], weights[keep]
        if (weights != 1).any():
            return WeightedCounts(codes, y, n_classes, weights)
    if not isinstance(codes, DenseCodes):
        return SparseCounts(codes, y, n_classes)
    kind = PackedCounts if packing_pays(codes, y, n_classes) else CodeCounts
    return kind(codes, y, n_classes)


def packing_pays(codes: DenseCodes, y: NDArray, n_classes: int) -> bool:
    """Whether the slowest step is quicker by planes of bits than by codes."""
    levels = np.asarray(codes.levels, dtype=np.int64)
    most = int(levels.max(initial=1))
    if most > _MOST_PACKED_LEVELS:
        return False
    words = words_needed(np.bincount(y, minlength=n_classes))
    by_planes = words * int((levels - 1).sum()) * (most - 1)
    return by_planes <= _ROWS_A_WORD * codes.shape[0] * codes.shape[1]


def _checked_classes(y: NDArray, N: int, n_classes: int) -> NDArray:
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
    return y.astype(np.int64, copy=False)


def _checked_weights(weights: NDArray, N: int) -> NDArray:
    if weights.shape != (N,):
        raise InputError(f"`weights` should have shape ({N},); it has {weights.shape}.")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and (weights > 0).any()):
        raise InputError(
            "`weights` should be finite, not negative and not all zero; "
            f"they go from {weights.min(initial=0)} to {weights.max(initial=0)}."
        )
    return weights
