"""Row weights: checked, and brought to a mean of one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from orthoselect.encode.response import DROP
from orthoselect.encode.whole_numbers import EXACT
from orthoselect.errors import InputError, MissingValueError, ShapeError
from orthoselect.matrix.base import Floats

# Exponents of two: a weight below the first beside the largest takes squares out of range, and so
# would a mean above the second.
_LOWEST, _HIGHEST = -600, 500


@dataclass(frozen=True)
class WeightFacts:
    """What all row weights have in common; merged over the places that they are in."""

    n_rows: int = 0
    n_live: int = 0  # rows with any weight
    smallest: float = math.inf
    largest: float = 0.0
    least: float = math.inf  # the smallest above zero
    whole: bool = True

    @staticmethod
    def of(w: Floats) -> WeightFacts:
        """Look at some weights."""
        return WeightFacts(
            len(w),
            int(np.count_nonzero(w)),
            float(w.min(initial=math.inf)),
            float(w.max(initial=0.0)),
            float(w.min(initial=math.inf, where=w > 0)),
            bool((w == np.trunc(w)).all()),
        )

    def merge(self, other: WeightFacts) -> WeightFacts:
        """Return what both have found."""
        return WeightFacts(
            self.n_rows + other.n_rows,
            self.n_live + other.n_live,
            min(self.smallest, other.smallest),
            max(self.largest, other.largest),
            min(self.least, other.least),
            self.whole and other.whole,
        )

    def check(self) -> None:
        """Raise where fewer than two rows count."""
        if not self.n_live:
            raise InputError("`sample_weight` should not be all zero; every row has weight 0.")
        if self.n_live < 2:
            raise ShapeError("at least 2 rows should have a `sample_weight` above 0; 1 sample has.")
        if self._exponent < _LOWEST - _HIGHEST:
            raise InputError(
                f"`sample_weight` should not differ by a factor of more than 1e330; it goes from "
                f"{self.least} to {self.largest}. Give rows that should not count the weight 0."
            )

    @property
    def are_equal(self) -> bool:
        """Whether all weights are the same, which is as good as none."""
        return self.smallest == self.largest

    @property
    def are_copies(self) -> bool:
        """Whether they may stay as they are: whole numbers, whose sums are exact."""
        return self.whole and self.largest * self.n_rows < EXACT

    @property
    def mean(self) -> float:
        """What to bring the mean to: 1, or a power of two that keeps the least weight in range."""
        return 2.0 ** max(0, _LOWEST - self._exponent)

    @property
    def _exponent(self) -> int:
        """That of the least weight beside the largest."""
        return math.frexp(self.least)[1] - math.frexp(self.largest)[1]


def check_weights(weights: Any, n_rows: int, *, keep_whole: bool = False) -> Floats | None:
    """Return row weights with mean one over the rows that have any, or None for equal ones.

    Where they differ by more than floats can square, the mean is a power of two above one.

    Parameters
    ----------
    weights : array-like of shape (n_rows,), or None
    n_rows : int
    keep_whole : bool
        Whether weights that are whole numbers stay as they are.
    """
    if weights is None:
        return None
    w = read_weights(weights, n_rows)
    facts = WeightFacts.of(w)
    facts.check()
    if facts.are_equal:
        return None
    if keep_whole and facts.are_copies:
        return w
    w = w / (facts.largest / facts.mean)  # before the sum, which might overflow
    return w / (w[w > 0].mean() / facts.mean)


def read_weights(weights: Any, n_rows: int) -> Floats:
    """Return row weights as they were given, one for each row, none negative.

    Examples
    --------
    >>> read_weights([2, 0], 2)
    array([2., 0.])
    """
    try:
        w = np.asarray(weights)
        w = w.astype(np.float64, casting="unsafe" if w.dtype.kind in "OUS" else "same_kind")
    except (TypeError, ValueError):
        raise InputError(
            f"`sample_weight` should be one number for each of the {n_rows} rows; "
            f"got {type(weights).__name__} of something else."
        ) from None
    if w.shape != (n_rows,):
        raise ShapeError(
            f"`sample_weight` should be one number for each of the {n_rows} rows; "
            f"got shape {w.shape}."
        )
    if np.isnan(w).any():
        raise MissingValueError("`sample_weight`", int(np.isnan(w).sum()), DROP)
    bad = ~np.isfinite(w) | (w < 0)
    if bad.any():
        raise InputError(
            f"`sample_weight` should be finite and not negative; row {int(bad.argmax())} has "
            f"{w[bad.argmax()]}, and {int(bad.sum())} row(s) in all are wrong."
        )
    return w
