"""Scores that can only fall, counted no further than it takes to know the largest.

What is known of a score from some of the features taken is a bound of the whole. A feature whose
bound is below the largest score that is known whole need not be counted any further; most features
never are. F. Fleuret, 2004, https://www.jmlr.org/papers/v5/fleuret04a.html, section 5.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.threads import run_tasks

Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]

_FIRST_LOOK = 16  # so many of the largest bounds are counted first: one of them mostly is the best
_WORTH_A_THREAD = 4e5  # nanoseconds below which a second thread does not pay
_COUNT_WHOLE = np.iinfo(np.int64).min  # a best that no score is below: all are counted to the end


class Margins(NamedTuple):
    """Sums over the tables of single features, and over those of none; see `base`."""

    X: Integers
    XY: Integers
    TN: int
    TY: int


class FallingScores(ABC):
    """What is known of the score of every feature.

    `known[k]` (n,) is the score of feature k from the first `seen[k]` of the t features taken: the
    whole score where `seen[k]` is t, an upper bound elsewhere. If `takes_least`, a score is the
    least of what it begins with and of I(k; y | j) for all j taken (cmim); else each j takes away
    I(k; j) - I(k; j | y), where that is positive (icap).

    `nanoseconds` is roughly what counting one feature against another takes.
    """

    def __init__(
        self, margins: Margins, known: Integers, *, takes_least: bool, nanoseconds: float
    ) -> None:
        self.known, self.seen = known.copy(), np.zeros(len(known), dtype=np.int64)
        self._margins, self._takes_least = margins, takes_least
        self._nanoseconds = nanoseconds
        self._taken: list[int] = []

    @property
    def n_pairs(self) -> int:
        """How many pairs of features were counted so far."""
        return int(self.seen.sum())

    def take(self, j: int) -> None:
        """Remember a feature that the others are to be counted against."""
        self._taken.append(j)

    def settle(self, open_: Bools) -> Bools:
        """Count until the largest score of the open features is known; return whose are whole."""
        t = len(self._taken)
        for look in (_FIRST_LOOK, len(open_)):
            best = int(self.known[open_ & (self.seen == t)].max(initial=_COUNT_WHOLE))
            rivals = np.flatnonzero(open_ & (self.seen < t) & (self.known >= best))
            if len(rivals) > look:
                rivals = rivals[np.argpartition(-self.known[rivals], look)[:look]]
            self._count(rivals[np.argsort(-self.known[rivals], kind="stable")], best)
        return open_ & (self.seen == t)

    def complete(self, features: NDArray) -> Integers:
        """Return the whole scores of these features."""
        self._count(features, _COUNT_WHOLE)
        return self.known[features]

    def _count(self, order: NDArray, best: int) -> None:
        """Count these features, in this order, while they may be as good as the best."""
        t = len(self._taken)
        left = t * len(order) - int(self.seen[order].sum())
        if left:
            n_tasks = 1 if left * self._nanoseconds < _WORTH_A_THREAD else 2
            shares = [order[start::n_tasks].astype(np.int64) for start in range(n_tasks)]
            taken = np.array(self._taken, dtype=np.int64)
            sums = np.stack([self._margins.X[taken], self._margins.XY[taken]])
            run_tasks(shares, lambda share, _: self._count_share(share, taken, sums, best))

    @abstractmethod
    def _count_share(self, order: Integers, taken: Integers, sums: Integers, best: int) -> None:
        """Count features in this order, and update `known` and `seen`; `sums` (2, t): J and JY."""
