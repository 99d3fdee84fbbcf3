"""Eight criteria of information theory, all from the same counts.

k is a candidate, S the selected features, j one of them, Y the class; informations I and entropies
H are those of the observed frequencies, in nats. With nothing selected every criterion is I(k;Y).

    mim              I(k;Y)
    mrmr_difference  I(k;Y) - (1/|S|) sum_j I(k;j)
    mrmr_quotient    I(k;Y) / ((1/|S|) sum_j I(k;j) + constant)
    jmi              sum_j I(k,j;Y)
    cmim             min( I(k;Y), min_j I(k;Y|j) )
    cife             I(k;Y) - sum_j I(k;j) + sum_j I(k;j|Y)
    icap             I(k;Y) - sum_j max( 0, I(k;j) - I(k;j|Y) )
    disr             sum_j I(k,j;Y) / H(k,j,Y)

Counts are whole numbers and their logarithms sums of those of primes (`counts.Logarithms`), so that
scores that are equal on paper are equal here, and go to the lowest index: sums and minima are
compared as whole numbers, quotients as fractions wherever floats cannot tell them apart.

References
----------
mim: D. D. Lewis, 1992, https://doi.org/10.3115/1075527.1075574
mrmr: H. Peng, F. Long and C. Ding, 2005, https://doi.org/10.1109/TPAMI.2005.159; both forms:
C. Ding and H. Peng, 2005, https://doi.org/10.1142/S0219720005001004
jmi: H. H. Yang and J. Moody, "Data visualization and feature selection", 1999.
cmim: F. Fleuret, 2004, https://www.jmlr.org/papers/v5/fleuret04a.html
cife: D. Lin and X. Tang, 2006, https://doi.org/10.1007/11744023_6
icap: A. Jakulin, "Machine learning based on attribute interactions", 2005.
adjust: G. A. Miller, "Note on the bias of information estimates", 1955.
disr: P. E. Meyer and G. Bontempi, 2006, https://doi.org/10.1007/11732242_9
All of them: G. Brown, A. Pocock, M.-J. Zhao and M. Lujan, 2012,
https://www.jmlr.org/papers/v13/brown12a.html
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthoselect.counts import Counts, FallingScores
from orthoselect.criteria.base import Criterion, State
from orthoselect.encode import (
    BlockCodedDesign,
    CodedDesign,
    Labels,
    Response,
    Table,
    build_codes,
)
from orthoselect.encode.coding import joint_codes
from orthoselect.encode.rules import Bins, check_bins
from orthoselect.errors import InputError
from orthoselect.matrix.base import Floats, Indices

CRITERIA = ("mim", "mrmr_difference", "mrmr_quotient", "jmi", "cmim", "cife", "icap", "disr")

Numbers = NDArray[Any]  # whole where rows are counted, floats where weights are not whole
Mask = NDArray[np.bool_]

# Quotients of floats that differ by less than this share are compared as fractions.
_NEAR = 1e-12
_NO_BOUND = np.iinfo(np.int64).max
# Informations of weighted rows closer than this many nats are equal.
_ROUNDING = 1e-12


class InformationCriterion(Criterion):
    """One of the eight criteria.

    Parameters
    ----------
    name : str
        One of `CRITERIA`.
    bins : {"auto", "from_data", "mean_std_3", "mean_std_4"}, int or discretizer, default="auto"
        How numeric columns become levels; see `encode.build_codes`.
    constant : float, default=0.0
        What "mrmr_quotient" adds to its denominator, in nats.
    capped : bool, default=True
        Whether "cmim" is at most I(k;Y), as Fleuret has it; else it is min_j I(k;Y|j) once
        something is selected.
    adjust : {None, "miller_madow"}, default=None
        Observed frequencies overstate information, the more the more levels there are.
        "miller_madow" adds (K - 1)/(2 N) to each entropy of K filled cells in N rows, so that an
        information of chance alone is about zero, and may be negative. Not for the quotients.

    Notes
    -----
    A score may be negative ("mrmr_difference", "cife", "icap") or zero, and its feature is still
    taken: the search goes on until it has enough. Only features that are constant are never taken.
    The gain of a step is the score of the feature when it was taken, and the total is the sum of
    the gains so far, no more: it is not the criterion of the set. A "mrmr_quotient" without
    redundancy is infinite; several are ranked by I(k;Y), and 0/0 is 0.

    Examples
    --------
    >>> InformationCriterion("jmi", bins=10).name
    'jmi'
    """

    keeps_whole_weights = True
    takes_blocks = True

    def __init__(
        self,
        name: str,
        *,
        bins: Bins = "auto",
        constant: float = 0.0,
        capped: bool = True,
        adjust: str | None = None,
    ) -> None:
        if name not in CRITERIA:
            raise InputError(f"`name` should be one of {', '.join(CRITERIA)}; got {name!r}.")
        check_bins(bins)
        if not isinstance(constant, numbers.Real) or not 0.0 <= float(constant) < math.inf:
            raise InputError(f"`constant` should be a number of at least 0; got {constant!r}.")
        if constant and name != "mrmr_quotient":
            raise InputError(f"`constant` belongs to 'mrmr_quotient'; {name!r} has none.")
        if not isinstance(capped, (bool, np.bool_)):
            raise InputError(f"`capped` should be True or False; got {capped!r}.")
        if not capped and name != "cmim":
            raise InputError(f"`capped` belongs to 'cmim'; {name!r} has no such form.")
        if adjust not in (None, "miller_madow"):
            raise InputError(f"`adjust` should be None or 'miller_madow'; got {adjust!r}.")
        if adjust and name in ("mrmr_quotient", "disr"):
            raise InputError(
                f"`adjust` can make informations negative, which {name!r} could not divide by. "
                f"Choose a criterion without a quotient, such as 'mrmr_difference' or 'jmi'."
            )
        self.name = name
        self._corrected: bool = adjust is not None
        self._bins: Bins = bins
        scores: dict[str, Callable[..., Score]] = {
            "mrmr_quotient": partial(Quotient, constant=float(constant)),
            "disr": SumOfQuotients,
        }
        whole = partial(WholeScore, name=name, capped=bool(capped))
        self._score: Callable[..., Score] = scores.get(name, whole)

    def prepare(
        self,
        table: Table,
        groups: Mapping[str, Sequence[int]],
        exclude: set[int],
        weights: Floats | None = None,
    ) -> CodedDesign | BlockCodedDesign:
        """Return the features as integer codes."""
        return build_codes(table, groups, exclude, self._bins, weights)

    def start(
        self,
        design: CodedDesign | BlockCodedDesign,
        response: Response,
        weights: Floats | None = None,
        size: int = 1,
    ) -> InformationState:
        """Return the state in which nothing is selected."""
        y, n_classes = _classes(response, self.name)
        counts = design.count(y, n_classes, weights)
        return InformationState(counts, self._score, size, self._corrected)

    def ceiling(self, response: Response) -> float:
        """Return nan: the sum of the gains has no bound that would mean something."""
        return math.nan


def _classes(response: Response, name: str) -> tuple[Indices, int]:
    """Return the class of each row; several response columns are one, by their combinations."""
    labels = [part for part in response.parts if isinstance(part, Labels)]
    if len(labels) < len(response.parts):
        raise InputError(
            f"y should hold classes for method {name!r}; it holds numbers. Cut them into classes "
            f"first (MeanStdDiscretizer, or scikit-learn's KBinsDiscretizer), pass "
            f"`task='classification'` if its numbers are classes, or use OrthogonalSelector, "
            f"which takes numbers."
        )
    y, n_classes = labels[0].codes, len(labels[0].levels)
    for more in labels[1:]:
        y, n_classes = joint_codes(y, more.codes, len(more.levels))
    return y, n_classes


class InformationState(State):
    """Selected features, and the score of every other one.

    `make_score` returns the `Score` of relevances and logarithms. About `size` features will be
    taken: four times as many fit into 64 bits, and in any case 256.
    """

    def __init__(
        self,
        counts: Counts,
        make_score: Callable[[Numbers, Any], Score],
        size: int = 1,
        corrected: bool = False,
    ) -> None:
        self._counts = counts
        self._room = 4 * max(size, 64)
        self._T = counts.logarithms(self._room + 8, corrected=corrected)
        self._TN, self._TY = self._T.of(counts.total), counts.classes(self._T)
        self._X, self._XY = counts.margins(self._T)
        self._relevance = self._XY - self._X - self._TY + self._TN  # N I(k;Y), (n,)
        self._varies = counts.varying(self._X, self._T)
        self._score = make_score(self._relevance, self._T)
        self._falling = self._score.count_lazily(counts, (self._X, self._XY))
        self._sweeps = 0
        self._taken: list[int] = []
        self._pending: int | None = None  # taken, and not yet counted against the others

    def best(self, candidates: Mask) -> int | None:
        """Return the candidate of the highest score that is not constant."""
        open_ = candidates & self._varies
        if not open_.any():
            return None
        self._settle()
        if not self._taken:
            return first_of_largest(self._relevance, open_, self._score.slack)
        return self._score.best(open_)

    def add(self, f: int) -> float:
        """Take feature f; return its score."""
        if len(self._taken) >= self._room:
            raise InputError(
                f"a state should be started for about as many features as it takes; this one has "
                f"{len(self._taken)}. Start it with a larger `size`."
            )
        self._settle()
        gain = float(self._values(np.array([f]))[0])
        self.value += gain
        self._taken.append(f)
        self._pending = f
        return gain

    def gains(self) -> Floats:
        """Return the score of each feature that varies and is not taken."""
        self._settle()
        scores = self._values(np.arange(len(self._relevance)))
        gains = np.where(self._varies, scores, np.nan)
        gains[self._taken] = np.nan
        return gains

    def _values(self, features: Indices) -> Floats:
        """Return the scores of these features: with nothing selected, their relevance in nats."""
        if self._taken:
            return self._score.values(features)
        return self._T.nats(self._relevance[features])

    def _settle(self) -> None:
        """Count the feature taken last against all others; after the last step nobody asks."""
        j, self._pending = self._pending, None
        if j is None or not self._score.needs_pairs:
            return
        if self._falling is not None:
            self._falling.take(j)
            return
        XJ, XJY = self._counts.pairs(j, self._T)
        self._sweeps += 1
        self._score.take(
            Pairs(self._X, self._XY, XJ, XJY, self._X[j], self._XY[j], self._TY, self._TN)
        )

    def stats(self) -> dict[str, Any]:
        """Return the kind of counting, and how often all features, or as many, were counted."""
        n_pairs = 0 if self._falling is None else self._falling.n_pairs
        swept = self._sweeps + math.ceil(n_pairs / max(1, len(self._relevance)))
        sweeps = {"strategy": self._counts.kind, "sweeps": 1 + swept}
        return {**sweeps, **self._counts.stats()}

    def exhausted(self) -> str:
        """Say that only constants are left."""
        return "every other feature is constant."


# Scores: what the counts of pairs make of every feature


class Pairs(NamedTuple):
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


def first_of_largest(scores: Numbers, open_: Mask, tolerance: float) -> int:
    """Return the lowest index among the open features whose scores are the largest."""
    top = scores[open_].max()
    if tolerance:
        return int((open_ & (scores >= top - tolerance)).argmax())
    return int((open_ & (scores == top)).argmax())


class Score(ABC):
    """The criterion of every feature, once something is selected.

    `relevance` (n,) is N I(k;Y), in units of the logarithms T. Scores that differ by at most
    `slack` are equal: it is zero if rows were counted; if they have weights it grows with each
    feature taken.
    """

    needs_pairs = True

    def __init__(self, relevance: Numbers, T: Any) -> None:
        self._relevance, self._T = relevance, T
        self._exact = T.table is not None
        self._n_taken = 0
        self.slack = self._tolerance = 0.0 if self._exact else _ROUNDING * T.total

    def take(self, pairs: Pairs) -> None:
        """Learn what all features have to do with one that was taken."""
        self._n_taken += 1
        self.slack = self._tolerance * (self._n_taken + 1)
        self._learn(pairs)

    def count_lazily(
        self, counts: Counts, margins: tuple[Numbers, Numbers]
    ) -> FallingScores | None:
        """Return what counts pairs no further than needed, if that can be told of this score."""
        return None

    @abstractmethod
    def _learn(self, pairs: Pairs) -> None:
        """Add one pair to what is known."""

    @abstractmethod
    def best(self, open_: Mask) -> int:
        """Return the lowest index among the highest scores."""

    @abstractmethod
    def values(self, features: Indices) -> Floats:
        """Return the scores of these features; informations in nats."""


class WholeScore(Score):
    """Relevance and a sum over the selected features, or the least of all: whole numbers."""

    def __init__(self, relevance: Numbers, T: Any, name: str, capped: bool) -> None:
        super().__init__(relevance, T)
        self._name, self._capped = name, capped
        self.needs_pairs = name != "mim"
        self._known = relevance if name == "cmim" else np.zeros_like(relevance)  # sum or least
        self._falling: FallingScores | None = None

    def count_lazily(
        self, counts: Counts, margins: tuple[Numbers, Numbers]
    ) -> FallingScores | None:
        if self._name in ("cmim", "icap"):
            takes_least = self._name == "cmim"
            unbounded = np.full_like(self._relevance, _NO_BOUND)
            known = self._relevance if self._capped else unbounded
            self._falling = counts.falling(self._T, margins, known, takes_least=takes_least)
        return self._falling

    def _learn(self, pairs: Pairs) -> None:
        if self._name == "mrmr_difference":
            self._known -= pairs.redundancy
        elif self._name == "jmi":
            self._known += pairs.joint
        elif self._name == "cife":
            self._known += pairs.interaction
        elif self._name == "icap":
            self._known += np.minimum(pairs.interaction, 0)
        elif self._n_taken == 1 and not self._capped:
            self._known = pairs.given
        else:  # cmim
            self._known = np.minimum(self._known, pairs.given)

    def _scores(self) -> Numbers:
        if self._name in ("jmi", "cmim"):
            return self._known
        if self._name == "mrmr_difference":  # times |S|
            return self._n_taken * self._relevance + self._known
        return self._relevance + self._known

    def best(self, open_: Mask) -> int:
        if self._falling is not None:
            return first_of_largest(self._falling.known, self._falling.settle(open_), 0.0)
        return first_of_largest(self._scores(), open_, self.slack)

    def values(self, features: Indices) -> Floats:
        if self._falling is not None:
            return self._T.nats(self._falling.complete(features))
        times = self._n_taken if self._name == "mrmr_difference" else 1
        return self._T.nats(self._scores()[features]) / times


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
            return first_of_largest(R, unbounded, self.slack)
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
        return np.where(self.slack < R, R, 0), np.where(self.slack < D, D, 0)

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
