"""Row weights: read, checked and brought to mean one, here or where the rows are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from orthoselect.errors import InputError, ShapeError
from orthoselect.matrix.base import Floats
from orthoselect.matrix.passes import SpreadPasses
from orthoselect.matrix.rows import SpreadRows, SpreadWeights

_EXACT = 2.0**53  # floats hold whole numbers up to here
# Exponents of two: a weight below the first beside the largest takes squares out of range, and so
# would a mean above the second.
_LOWEST, _HIGHEST = -600, 500


@dataclass
class _Facts:
    """What all weights have in common; merged over the places that they are in.

    Attributes
    ----------
    n_rows, n_live : int
        Rows, and those that have any weight.
    smallest, largest : float
    least : float
        The smallest above zero.
    whole : bool
        Whether all are whole numbers.
    """

    n_rows: int = 0
    n_live: int = 0
    smallest: float = math.inf
    largest: float = 0.0
    least: float = math.inf
    whole: bool = True

    def look(self, w: Floats) -> None:
        """Look at some weights."""
        self.merge(
            _Facts(
                len(w),
                int(np.count_nonzero(w)),
                float(w.min(initial=math.inf)),
                float(w.max(initial=0.0)),
                float(w.min(initial=math.inf, where=w > 0)),
                bool((w == np.trunc(w)).all()),
            )
        )

    def merge(self, other: _Facts) -> _Facts:
        """Return what both have found."""
        self.n_rows += other.n_rows
        self.n_live += other.n_live
        self.smallest = min(self.smallest, other.smallest)
        self.largest = max(self.largest, other.largest)
        self.least = min(self.least, other.least)
        self.whole &= other.whole
        return self

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
        return self.whole and self.largest * self.n_rows < _EXACT

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
    facts = _Facts()
    facts.look(w)
    facts.check()
    if facts.are_equal:
        return None
    if keep_whole and facts.are_copies:
        return w
    w = _over(facts.largest / facts.mean, 1.0, w)  # before the sum, which might overflow
    return w / (w[w > 0].mean() / facts.mean)


def check_spread_weights(w: SpreadRows, *, keep_whole: bool = False) -> SpreadWeights | None:
    """Return the same of weights that are spread over several places, where they are.

    Parameters
    ----------
    w : SpreadRows
        Each piece is an array with a weight for each of its rows.
    keep_whole : bool
    """
    passes: SpreadPasses = w.passes
    w = passes.kept(w.then(_read_piece, width=1))
    facts = passes.run_along(_Facts, _Facts.look, _Facts.merge, [w])
    facts.check()
    if facts.are_equal:
        return None
    whole = keep_whole and facts.are_copies
    if not whole:
        largest = facts.largest / facts.mean
        mean = _sum(w.then(partial(_over, largest, 1.0), width=1)) / facts.n_live / facts.mean
        w = passes.kept(w.then(partial(_over, largest, mean), width=1))
    return SpreadWeights.of(w, _sum(w), facts.n_live, whole=whole)


def spread_weights(w: Floats | None, passes: SpreadPasses) -> SpreadWeights | None:
    """Return weights that are here, and were checked, as spread ones."""
    if w is None:
        return None
    facts = _Facts()
    facts.look(w)
    return SpreadWeights.of(passes.spread(w), float(w.sum()), facts.n_live, whole=facts.whole)


def _read_piece(w: Any) -> Floats:
    return read_weights(w, len(w))


def _over(largest: float, mean: float, w: Floats) -> Floats:
    return w / largest / mean


def _sum(w: SpreadRows) -> float:
    return math.fsum(w.passes.run_along(list, _append_sum, list.__add__, [w]))


def _append_sum(sums: list[float], w: Floats) -> None:
    sums.append(float(w.sum()))


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
    bad = ~np.isfinite(w) | (w < 0)
    if bad.any():
        raise InputError(
            f"`sample_weight` should be finite and not negative; row {int(bad.argmax())} has "
            f"{w[bad.argmax()]}, and {int(bad.sum())} row(s) in all are wrong."
        )
    return w
