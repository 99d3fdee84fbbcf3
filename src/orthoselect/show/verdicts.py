"""Why a feature was not chosen: verdicts by rules that can be said in words.

Chance. A feature counts for something if pure noise in its place would count for less in 99 of 100
tables. For sums of squared canonical correlations that is the 99 % quantile of Pillai's trace
between a response of rank m and p columns of noise, in N rows of which k directions are taken:
s B / m times what is left to explain, with s = min(p, m) and B distributed as
beta(pm/2, s (N - 1 - k - max(p, m))/2). For one column or one response that is exact for normal
noise; its mean is p m / (N - 1). For informations 2 N I is compared with the 99 % quantile of the
chi-square distribution of (levels - 1)(classes - 1) degrees of freedom; where a level and class
have fewer than 5 rows on average the quantile is taken 1.39 times, the most by which 2 N I of rare
levels exceeds it on average. Conditional informations have so many degrees for each level of the
condition. Nothing is corrected for the number of features: of a hundred of pure noise about one
passes. Weights count by the rows that they are worth, (sum w)^2 / sum w^2.

What counts. "Alone": the method's own score with nothing selected, if it is a squared canonical
correlation or an information; else the squared canonical correlations of the feature. "Left": the
same given all selected features; for informations the least I(k;Y|j) of any selected feature j.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv, chdtri

from orthoselect.criteria import SquaredCanonicalCorrelations
from orthoselect.encode import CodedDesign, Design, Labels
from orthoselect.encode.coding import joint_codes
from orthoselect.matrix.base import Floats, Indices
from orthoselect.methods import METHODS
from orthoselect.problem import Problem
from orthoselect.selection import start
from orthoselect.show.explained import SelectedSet
from orthoselect.show.replay import Replay

LEVEL = 0.01  # pure noise passes for something so often
BEST_LEVEL = 0.05  # the best of many features of noise does
COPY = 0.01  # with no more of it left, a feature is one of those selected, or a mixture of them
MOSTLY_EXPLAINED = 0.1  # with no more of it left, the selected set explains most of a feature
MOSTLY_LOST = 0.1  # with no more of its relevance left, nearly all of that is gone
_HALF = 0.5
_FEW_ROWS, _SPARSE = 5.0, 2 * np.log(2.0)
_NOTHING = 1e-12


# What features say about the response, and what noise in their place stays below in 99 of 100
# tables; with nothing selected, then given all selected features. All of shape (features,).
Evidence = tuple[Floats, Floats, Floats, Floats]


def weigh_evidence(walked: Replay, design: Design, explained: float, rank: int) -> Evidence:
    """Return what each feature tells of the response, by itself and given the selected ones.

    `design` has the features as columns of numbers; `explained` is the sum of squared canonical
    correlations of the selected set, `rank` its rank.
    """
    if isinstance(walked.design, CodedDesign):
        return _by_information(walked)
    m, rows = walked.problem.response.m, effective_rows(walked.problem)
    if isinstance(walked.criterion, SquaredCanonicalCorrelations):  # of levels, perhaps
        alone, left, design = walked.relevance, walked.gains, walked.design
    else:
        criterion, size = SquaredCanonicalCorrelations(), max(len(walked.places), 1)
        state = start(criterion, design, walked.problem, size)
        alone = state.gains()
        for f in walked.places:
            state.add(f)
        left = state.gains()
    widths = np.ones(len(alone), dtype=np.intp)
    for f, columns in design.wide.items():
        widths[f] = max(len(columns), 1)
    rest = 1.0 - min(explained / m, 1.0) if m else 0.0
    by_chance = chance_correlation(widths, m, rows)
    left_by_chance = rest * chance_correlation(widths, m, rows - rank)
    return np.nan_to_num(alone), by_chance, np.nan_to_num(left), left_by_chance


def effective_rows(problem: Problem) -> float:
    """Return how many rows the weighted ones are worth."""
    w = problem.weights
    return float(problem.table.n_rows if w is None else w.sum() ** 2 / (w * w).sum())


def chance_correlation(widths: Indices, m: int, rows: float, level: float = LEVEL) -> Floats:
    """Return the sum of squared canonical correlations that noise stays below, 99 times of 100.

    Features have `widths` columns, the response has rank m, and the rows are counted less the
    directions that are taken. Noise is above it with probability `level`.

    Examples
    --------
    >>> chance_correlation(np.array([1, 4]), 1, 101).round(3)
    array([0.065, 0.128])
    """
    if not m:
        return np.zeros(len(widths))
    p, place = np.unique(widths, return_inverse=True)
    s, free = np.minimum(p, m), rows - 1 - np.maximum(p, m)
    quantiles = betaincinv(p * m / 2, np.maximum(s * free, _NOTHING) / 2, 1 - level)
    return (s * np.where(free > 0, quantiles, 1.0))[place.reshape(-1)]


def best_of_noise(widths: Indices, m: int, rows: float, gains: Floats, n_features: int) -> Floats:
    """Return what the best of so many features of noise would have added at each step.

    In one of 20 tables it adds more. The steps took features of `widths` columns, which added
    `gains`; the response has rank m, and there were `n_features` to choose from at first.

    Examples
    --------
    >>> best_of_noise(np.array([1, 1]), 1, 101.0, np.array([0.5, 0.1]), 50).round(3)
    array([0.104, 0.052])
    """
    found = np.zeros(len(gains))
    for step, gain in enumerate(np.cumsum(gains) - gains):
        level = 1.0 - (1.0 - BEST_LEVEL) ** (1.0 / max(n_features - step, 1))
        left = rows - int(widths[:step].sum())
        rest = 1.0 - min(gain / m, 1.0) if m else 0.0
        found[step] = rest * chance_correlation(widths[step : step + 1], m, left, level)[0]
    return found


def _by_information(walked: Replay) -> Evidence:
    problem, codes = walked.problem, walked.design.codes
    labels = [part for part in problem.response.parts if isinstance(part, Labels)]
    y, c = labels[0].codes, len(labels[0].levels)
    for more in labels[1:]:
        y, c = joint_codes(y, more.codes, len(more.levels))
    rows, levels = effective_rows(problem), np.asarray(codes.levels)
    state = start(METHODS["cmim"].make(), walked.design, problem, max(len(walked.places), 1))
    for f in walked.places:
        state.add(f)
    conditions = int(levels[walked.places].max()) if walked.places else 1
    return (
        np.nan_to_num(walked.relevance),
        chance_information(levels, c, rows),
        np.nan_to_num(state.gains()),
        chance_information(levels, c, rows, conditions),
    )


def chance_information(levels: Indices, c: int, rows: float, conditions: int = 1) -> Floats:
    """Return the information, in nats, that noise stays below, 99 times of 100.

    Features have `levels`, the response has c classes, and what is given has `conditions` levels.

    Examples
    --------
    >>> chance_information(np.array([2, 3]), 2, 200.0).round(4)
    array([0.0166, 0.023 ])
    """
    degrees = np.maximum(levels - 1, 1) * max(c - 1, 1) * conditions
    sparse = rows < _FEW_ROWS * levels * c * conditions
    return chdtri(degrees, LEVEL) * np.where(sparse, _SPARSE, 1.0) / (2 * rows)


def judge(evidence: Evidence, chosen: SelectedSet, walked: Replay) -> list[str]:
    """Return a verdict for each feature; the first of these that holds.

    "selected". "constant": it does not vary. "redundant", as a copy: the selected set leaves less
    than 1 % of its variance. "irrelevant": neither alone nor given the selected set does it tell
    more than chance would. "nearly chosen": at some step it came within 5 % of the winner, and it
    still adds to the selected set more than chance would.
    "redundant": the selected set leaves less than 10 % of its variance or of its relevance; or
    less than half of either, and no more relevance than chance would. "useful": it still adds to
    the selected set, only less than others.
    """
    remains = chosen.remains
    alone, by_chance, left, left_by_chance = evidence
    relevant = alone > np.maximum(by_chance, _NOTHING)
    adds = left > np.maximum(left_by_chance, _NOTHING)
    kept = np.divide(left, alone, out=np.ones_like(alone), where=alone > 0)
    # A set that leaves most of a feature, and of its relevance, does not make it redundant.
    own = (kept > _HALF) & (remains > _HALF)
    explained = (remains <= MOSTLY_EXPLAINED) | (kept <= MOSTLY_LOST) | (~adds & ~own)
    rules = {
        "selected": np.isin(np.arange(len(remains)), walked.places),
        "constant": np.isnan(remains),
        "redundant": remains <= COPY,
        "irrelevant": ~adds & ~relevant,
        "nearly chosen": walked.near & adds,
    }
    names = np.array([*rules, "redundant", "useful"])
    conditions = [*rules.values(), relevant & explained, np.ones(len(remains), dtype=bool)]
    return names[np.argmax(conditions, axis=0)].tolist()
