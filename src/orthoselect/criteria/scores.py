"""The scores of the information criteria: what the counts of pairs make of every feature.

Notation as in information.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import Floats, Indices

Numbers = NDArray[Any]  # whole where rows are counted, floats where weights are not whole
Mask = NDArray[np.bool_]

# Quotients of floats that differ by less than this share are compared as fractions.
_NEAR = 1e-12
# Informations of weighted rows closer than this many nats are equal.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Pairs:
    """N times the informations of every feature k with feature j, (n,) each; see `counts.base`."""

    X: Numbers
    XY: Numbers
    XJ: Numbers
    XJY: Numbers
    J: Any
    JY: Any
    TY: Any
    TN: Any

    @property
    def joint(self) -> Numbers:
        """I(k,j;Y)."""
        return self.XJY - self.XJ - self.TY + self.TN

    @property
    def redundancy(self) -> Numbers:
        """I(k;j)."""
        return self.XJ - self.X - self.J + self.TN

    @property
    def interaction(self) -> Numbers:
        """I(k;j|Y) - I(k;j)."""
        return self.XJY - self.XY - self.JY + self.TY - self.redundancy

    @property
    def given(self) -> Numbers:
        """I(k;Y|j)."""
        return self.XJY - self.XJ - self.JY + self.J

    @property
    def entropy(self) -> Numbers:
        """H(k,j,Y)."""
        return self.TN - self.XJY


def tolerance_of(T: Any) -> float:
    """Return how far apart equal informations may be: not at all if rows were counted."""
    return 0.0 if T.table is not None else _ROUNDING * T.total


def first_of_largest(scores: Numbers, open_: Mask, tolerance: float) -> int:
    """Return the lowest index among the open features whose scores are the largest."""
    top = scores[open_].max()
    if tolerance:
        return int((open_ & (scores >= top - tolerance)).argmax())
    return int((open_ & (scores == top)).argmax())


class Score(ABC):
    """The criterion of every feature, once something is selected.

    Parameters
    ----------
    relevance : array of shape (n,)
        N I(k;Y), in units of T.
    T : Logarithms or RealLogarithms
    """

    needs_pairs = True

    def __init__(self, relevance: Numbers, T: Any) -> None:
        self._relevance, self._T = relevance, T
        self._exact = T.table is not None
        self._n_taken = 0

    def take(self, pairs: Pairs) -> None:
        """Learn what all features have to do with one that was taken."""
        self._n_taken += 1
        self._learn(pairs)

    @property
    def _slack(self) -> float:
        return tolerance_of(self._T) * (self._n_taken + 1)

    @abstractmethod
    def _learn(self, pairs: Pairs) -> None:
        """Add one pair to what is known."""

    @abstractmethod
    def best(self, open_: Mask) -> int:
        """Return the lowest index among the highest scores."""

    @abstractmethod
    def values(self, features: Indices) -> Floats:
        """Return the scores of these features; informations in nats."""

    def of(self, f: int) -> float:
        """Return the score of feature f."""
        return float(self.values(np.array([f]))[0])


class Sum(Score):
    """Relevance and a sum over the selected features: all whole numbers."""

    def __init__(self, relevance: Numbers, T: Any, name: str) -> None:
        super().__init__(relevance, T)
        self._name = name
        self.needs_pairs = name != "mim"
        self._sum = np.zeros_like(relevance)

    def _learn(self, pairs: Pairs) -> None:
        if self._name == "mrmr_difference":
            self._sum -= pairs.redundancy
        elif self._name == "jmi":
            self._sum += pairs.joint
        elif self._name == "cife":
            self._sum += pairs.interaction
        else:  # icap
            self._sum += np.minimum(pairs.interaction, 0)

    def _scores(self) -> Numbers:
        if self._name == "jmi":
            return self._sum
        if self._name == "mrmr_difference":  # times |S|
            return self._n_taken * self._relevance + self._sum
        return self._relevance + self._sum

    def best(self, open_: Mask) -> int:
        return first_of_largest(self._scores(), open_, self._slack)

    def values(self, features: Indices) -> Floats:
        times = self._n_taken if self._name == "mrmr_difference" else 1
        return self._T.nats(self._scores()[features]) / times


class Least(Score):
    """The least of the conditional informations, and of the plain one if capped."""

    def __init__(self, relevance: Numbers, T: Any, capped: bool) -> None:
        super().__init__(relevance, T)
        self._least = relevance
        self._capped = capped

    def _learn(self, pairs: Pairs) -> None:
        first = self._n_taken == 1 and not self._capped
        self._least = pairs.given if first else np.minimum(self._least, pairs.given)

    def best(self, open_: Mask) -> int:
        return first_of_largest(self._least, open_, self._slack)

    def values(self, features: Indices) -> Floats:
        return self._T.nats(self._least[features])


class Quotient(Score):
    """Relevance over the mean redundancy and a constant."""

    def __init__(self, relevance: Numbers, T: Any, constant: float) -> None:
        super().__init__(relevance, T)
        self._redundancy = np.zeros_like(relevance)
        self._constant = constant

    def _learn(self, pairs: Pairs) -> None:
        self._redundancy = self._redundancy + pairs.redundancy

    def best(self, open_: Mask) -> int:
        R, D = self._terms()
        unbounded = open_ & (D == 0) & (R > 0)
        if not self._constant and unbounded.any():
            return first_of_largest(R, unbounded, self._slack)
        scores = self._scores(R, D)
        rivals = _near_largest(scores, open_)
        if not self._exact:
            return int(rivals[0])
        shift = Fraction(self._constant) * Fraction(self._T.unit) * self._T.total * self._n_taken
        # Many rivals mostly have the same two numbers.
        pairs, first = np.unique(np.column_stack([R, D])[rivals], axis=0, return_index=True)
        exact = [Fraction(r) / (d + shift) if r else Fraction(0) for r, d in pairs.tolist()]
        top = max(exact)
        return int(rivals[min(f for f, score in zip(first, exact) if score == top)])

    def values(self, features: Indices) -> Floats:
        R, D = self._terms()
        return self._scores(R[features], D[features])

    def _terms(self) -> tuple[Numbers, Numbers]:
        """Return relevance and summed redundancy, without what rounding leaves of nothing."""
        R, D = self._relevance, self._redundancy
        return np.where(self._slack < R, R, 0), np.where(self._slack < D, D, 0)

    def _scores(self, R: Numbers, D: Numbers) -> Floats:
        top, bottom = self._T.nats(R), self._T.nats(D) / self._n_taken + self._constant
        scores = np.full(len(top), np.inf)
        np.divide(top, bottom, out=scores, where=bottom > 0)
        scores[top == 0] = 0.0
        return scores


class SumOfQuotients(Score):
    """Joint information over joint entropy, summed over the selected features."""

    def __init__(self, relevance: Numbers, T: Any) -> None:
        super().__init__(relevance, T)
        self._sum = np.zeros(len(relevance))
        self._terms: list[tuple[Numbers, Numbers]] = []  # kept to settle ties

    def _learn(self, pairs: Pairs) -> None:
        top, bottom = np.maximum(pairs.joint, 0), pairs.entropy  # rounding may leave less
        terms = np.zeros(len(top))
        np.divide(top, bottom, out=terms, where=bottom > 0)
        self._sum += terms
        if self._exact:
            self._terms.append((top, bottom))

    def best(self, open_: Mask) -> int:
        rivals = _near_largest(self._sum, open_)
        if not self._exact or len(rivals) == 1:
            return int(rivals[0])
        exact: dict[tuple, Fraction] = {}  # by the terms: those of rivals are mostly the same
        scores = []
        terms = [
            list(zip(top[rivals].tolist(), bottom[rivals].tolist())) for top, bottom in self._terms
        ]
        for each in zip(*terms):
            key = tuple(sorted(each))
            if key not in exact:
                exact[key] = sum((Fraction(a, b) for a, b in key if b > 0), Fraction(0))
            scores.append(exact[key])
        return int(rivals[scores.index(max(scores))])

    def values(self, features: Indices) -> Floats:
        return self._sum[features]


def _near_largest(scores: Floats, open_: Mask) -> Indices:
    """Return the features whose scores, none of them negative, may be the largest."""
    top = scores[open_].max()
    return np.flatnonzero(open_ & (scores >= (1 - _NEAR) * top))
