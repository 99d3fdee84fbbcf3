"""What rankings by models share: features in an order that was settled beforehand."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.criteria.base import State
from orthoselect.errors import InputError
from orthoselect.matrix.base import Floats


class RankingState(State):
    """A ranking, walked from the top; `value` is the sum of the scores taken.

    `order` has features, best first; those that are not in it have no claim, and `reason` says why.
    `scores` are what taking each of all features is said to add.
    """

    def __init__(self, order: Sequence[int], scores: Floats, reason: str) -> None:
        self._order, self._scores, self._reason = list(order), scores, reason
        self._taken: list[int] = []

    def best(self, candidates: NDArray[np.bool_]) -> int | None:
        """Return the first candidate of the order."""
        return next((f for f in self._order if candidates[f]), None)

    def add(self, f: int) -> float:
        """Take feature f; return its score."""
        score = float(self._scores[f])
        self.value += score
        self._taken.append(f)
        return score

    def gains(self) -> Floats:
        """Return the scores of those in the order that have not been taken."""
        gains = np.full(len(self._scores), np.nan)
        gains[self._order] = self._scores[self._order]
        gains[self._taken] = np.nan
        return gains

    def exhausted(self) -> str:
        """Say why the order ends."""
        return self._reason


def in_order(scores: Floats, tie: float) -> list[int]:
    """Return the places of scores above zero, the largest first, of equals the lowest place.

    Scores are equal that are less than the share `tie` below the first of their equals.

    >>> in_order(np.array([0.5, 0.0, 1.0, 1.0 + 1e-12]), 1e-9)
    [2, 3, 0]
    """
    ranks, first = np.empty(len(scores)), math.inf
    for f in np.argsort(-scores, kind="stable").tolist():
        first = first if scores[f] >= (1 - tie) * first else float(scores[f])
        ranks[f] = -first
    return [f for f in np.argsort(ranks, kind="stable").tolist() if scores[f] > 0]


def check_number(
    option: str, value: Any, *, whole: bool = False, least: int = 0, below: float = math.inf
) -> None:
    """Raise unless an option is a number above 0, or a whole one of at least `least`."""
    kind = numbers.Integral if whole else numbers.Real
    right = isinstance(value, kind) and not isinstance(value, bool)
    if not right or not (least <= value < below) or (not least and value <= 0):
        what = f"a whole number of at least {least}" if whole else "a number above 0"
        limit = "" if math.isinf(below) else f" and below {below:g}"
        raise InputError(f"`{option}` should be {what}{limit}; got {value!r}.")
