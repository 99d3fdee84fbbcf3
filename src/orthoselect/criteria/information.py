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
disr: P. E. Meyer and G. Bontempi, 2006, https://doi.org/10.1007/11732242_9
All of them: G. Brown, A. Pocock, M.-J. Zhao and M. Lujan, 2012,
https://www.jmlr.org/papers/v13/brown12a.html
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from orthoselect.counts import Counts
from orthoselect.criteria.base import Criterion, State
from orthoselect.criteria.scores import (
    Least,
    Mask,
    Numbers,
    Pairs,
    Quotient,
    Score,
    Sum,
    SumOfQuotients,
    first_of_largest,
    tolerance_of,
)
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

CRITERIA = (
    "mim",
    "mrmr_difference",
    "mrmr_quotient",
    "jmi",
    "cmim",
    "cife",
    "icap",
    "disr",
)


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
    _bins: Bins
    _constant: float
    _capped: bool

    def __init__(
        self, name: str, *, bins: Bins = "auto", constant: float = 0.0, capped: bool = True
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
        self.name = name
        self._bins = bins
        self._constant = float(constant)
        self._capped = bool(capped)

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
        return InformationState(design.count(y, n_classes, weights), self._score, size)

    def _score(self, relevance: Numbers, T: Any) -> Score:
        if self.name == "cmim":
            return Least(relevance, T, self._capped)
        if self.name == "mrmr_quotient":
            return Quotient(relevance, T, self._constant)
        if self.name == "disr":
            return SumOfQuotients(relevance, T)
        return Sum(relevance, T, self.name)

    def ceiling(self, response: Response) -> float:
        """Return nan: the sum of the gains has no bound that would mean something."""
        return math.nan


def _classes(response: Response, name: str) -> tuple[Indices, int]:
    """Return the class of each row; several response columns are one, by their combinations."""
    labels = [part for part in response.parts if isinstance(part, Labels)]
    if len(labels) < len(response.parts):
        raise InputError(
            f"y should hold classes for method {name!r}; it holds numbers. Cut them into classes "
            f"first (MeanStdDiscretizer, or scikit-learn's KBinsDiscretizer), or use "
            f"OrthogonalSelector, which takes numbers."
        )
    y, n_classes = labels[0].codes, len(labels[0].levels)
    for more in labels[1:]:
        y, n_classes = joint_codes(y, more.codes, len(more.levels))
    return y, n_classes


class InformationState(State):
    """Selected features, and the score of every other one.

    Parameters
    ----------
    counts : Counts
    make_score : callable
        Given the relevances and the logarithms, returns the `Score`.
    size : int
        About how many features will be taken: four times as many fit into 64 bits, and in any
        case 256.
    """

    def __init__(
        self, counts: Counts, make_score: Callable[[Numbers, Any], Score], size: int = 1
    ) -> None:
        self._counts = counts
        self._room = 4 * max(size, 64)
        self._T = counts.logarithms(self._room + 8)
        self._TN, self._TY = self._T.of(counts.total), counts.classes(self._T)
        self._X, self._XY = counts.margins(self._T)
        self._relevance = self._XY - self._X - self._TY + self._TN  # N I(k;Y), (n,)
        self._varies = counts.varying(self._X, self._T)
        self._score = make_score(self._relevance, self._T)
        self.tolerance_of = tolerance_of(self._T)
        self._n_taken = self._sweeps = 0
        self._taken: list[int] = []
        self._pending: int | None = None  # taken, and not yet counted against the others

    def best(self, candidates: Mask) -> int | None:
        """Return the candidate of the highest score that is not constant."""
        open_ = candidates & self._varies
        if not open_.any():
            return None
        self._settle()
        if not self._n_taken:
            return first_of_largest(self._relevance, open_, self.tolerance_of)
        return self._score.best(open_)

    def add(self, f: int) -> float:
        """Take feature f; return its score."""
        if self._n_taken >= self._room:
            raise InputError(
                f"a state should be started for about as many features as it takes; this one has "
                f"{self._n_taken}. Start it with a larger `size`."
            )
        self._settle()
        gain = self._score.of(f) if self._n_taken else float(self._T.nats(self._relevance[f]))
        self.value += gain
        self._n_taken += 1
        self._taken.append(f)
        self._pending = f
        return gain

    def gains(self) -> Floats:
        """Return the score of each feature that varies and is not taken."""
        self._settle()
        everything = np.arange(len(self._relevance))
        scores = self._T.nats(self._relevance)
        if self._n_taken:
            scores = self._score.values(everything)
        gains = np.where(self._varies, scores, np.nan)
        gains[self._taken] = np.nan
        return gains

    def _settle(self) -> None:
        """Count the feature taken last against all others; after the last step nobody asks."""
        j, self._pending = self._pending, None
        if j is None or not self._score.needs_pairs:
            return
        XJ, XJY = self._counts.pairs(j, self._T)
        self._sweeps += 1
        self._score.take(
            Pairs(self._X, self._XY, XJ, XJY, self._X[j], self._XY[j], self._TY, self._TN)
        )

    def stats(self) -> dict[str, Any]:
        """Return the kind of counting, and how often all features were counted."""
        sweeps = {"strategy": self._counts.kind, "sweeps": 1 + self._sweeps}
        return {**sweeps, **self._counts.stats()}

    def exhausted(self) -> str:
        """Say that only constants are left."""
        return "every other feature is constant."
