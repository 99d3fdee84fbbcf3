"""Features in an order that was settled beforehand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from orthoselect.criteria.base import State
from orthoselect.matrix.base import Floats


class RankingState(State):
    """A ranking, walked from the top.

    `value` is the sum of the scores taken.

    Parameters
    ----------
    order : sequence of int
        Features, best first; those that are not in it have no claim.
    scores : array of shape (number of features,)
        What taking each is said to add.
    reason : str
        Why there are no more in the order.

    Examples
    --------
    >>> state = RankingState([2, 0], np.array([0.5, 0.0, 0.75]), "no other is any good.")
    >>> state.best(np.array([True, True, True])), state.best(np.array([True, True, False]))
    (2, 0)
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
