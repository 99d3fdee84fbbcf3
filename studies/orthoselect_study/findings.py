"""What the numbers show: means with their errors, ranks, and sentences made from them.

A difference is that of the numbers as they are printed, and so is the verdict on it: whoever reads
a sentence can do it again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from orthoselect_study import paper
from orthoselect_study.records import grouped

_OURS = "OLS"
_TIE = 1e-12
_DIGITS = 4
# Differences of more than so many standard errors are more than chance.
BEYOND_CHANCE = 2


@dataclass(frozen=True)
class Standing:
    """How methods did on one data set, by one number each; more is better.

    The score of a method is the mean of its samples: tables, folds, or one number. The n-th samples
    of all methods are of the same table or fold.
    """

    dataset: str
    measure: str  # what the numbers are, in words
    samples: Mapping[str, Sequence[float]]
    errors: Mapping[str, float]  # the standard error of each score
    # Whether the score is that of the "last" size, the same with "all" features of the set taken,
    # the "mean" over sizes, or "both" since there is one size only.
    kind: str = "both"
    weights: Sequence[float] | None = None  # what the samples count, rows of a fold for one

    @cached_property
    def scores(self) -> dict[str, float]:
        """The score of each method."""
        return {name: mean(values, self.weights) for name, values in self.samples.items()}

    def among(self, names: Iterable[str]) -> Standing:
        """Return the standing of some of the methods."""
        return replace(self, samples={name: self.samples[name] for name in names})

    def ranks(self) -> dict[str, int]:
        """Return the rank of each method; equals share the better one."""
        return {
            name: 1 + sum(other > score + _TIE for other in self.scores.values())
            for name, score in self.scores.items()
        }

    def ordered(self) -> list[str]:
        """Return the methods, the best first."""
        return sorted(self.scores, key=lambda name: -self.scores[name])

    @property
    def is_paired(self) -> bool:
        """Whether there are several tables or folds, on which methods can be compared."""
        return min(map(len, self.samples.values())) > 1

    def error_of_difference(self, one: str, other: str) -> float:
        """Return the standard error of the difference of two scores.

        From the differences table by table or fold by fold where there are some; else as if the
        two scores were independent, which overrates it: they are of the same rows.
        """
        if not self.is_paired:
            return math.hypot(self.errors.get(one, math.nan), self.errors.get(other, math.nan))
        gaps = [a - b for a, b in zip(self.samples[one], self.samples[other], strict=True)]
        return mean_error(gaps, self.weights)


def mean(values: Iterable[float], weights: Iterable[float] | None = None) -> float:
    """Return the mean, nan of nothing."""
    values = list(values)
    counts = [1.0] * len(values) if weights is None else list(weights)
    if not values:
        return math.nan
    return sum(w * value for w, value in zip(counts, values, strict=True)) / sum(counts)


def mean_error(values: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """Return the standard error of a mean, nan of fewer than two values."""
    if len(values) < 2:
        return math.nan
    counts = [1.0] * len(values) if weights is None else list(weights)
    center, total = mean(values, counts), sum(counts)
    squares = sum((w * (value - center)) ** 2 for w, value in zip(counts, values, strict=True))
    return math.sqrt(squares * len(values) / (len(values) - 1)) / total


def share_error(share: float, count: int) -> float:
    """Return the binomial standard error of a share of `count` draws."""
    return math.sqrt(max(share * (1.0 - share), 0.0) / count)


def difference_in_errors(ours: float, n_ours: int, theirs: float, n_theirs: int) -> float:
    """Return how many standard errors two shares lie apart, by the pooled share."""
    pooled = (ours * n_ours + theirs * n_theirs) / (n_ours + n_theirs)
    error = math.sqrt(pooled * (1.0 - pooled) * (1.0 / n_ours + 1.0 / n_theirs))
    return (ours - theirs) / error if error else 0.0


def auc_error(area: float, n_one: int, n_other: int) -> float:
    """Return the standard error of an area under the ROC curve (Hanley and McNeil 1982)."""
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    spread = area * (1 - area) + (n_one - 1) * (q1 - area**2) + (n_other - 1) * (q2 - area**2)
    return math.sqrt(max(spread, 0.0) / (n_one * n_other))


def listed(parts: Sequence[str]) -> str:
    """Return words as a list in a sentence."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def printed_gap(larger: float, smaller: float, digits: int = _DIGITS) -> float:
    """Return the difference of two numbers as they are printed."""
    return round(round(larger, digits) - round(smaller, digits), digits)


def verdict(gap: float, error: float, digits: int = _DIGITS, *, at_most: bool = False) -> str:
    """Return whether a printed difference is more than chance, with the numbers that show it.

    `digits` are those of the error, which may be the bound of one.
    """
    one = round(error, digits)
    word = "more than" if abs(gap) > BEYOND_CHANCE * one + _TIE else "within"
    bound = "at most " if at_most else ""
    return (
        f"{word} two standard errors of the difference "
        f"({bound}2 x {one:.{digits}f} = {2 * one:.{digits}f})"
    )


def side_by_side(standing: Standing, one: str, other: str) -> str:
    """Return two counts in 100, their difference, and whether that is chance."""
    ours, theirs = 100 * standing.scores[one], 100 * standing.scores[other]
    if standing.samples[one] == standing.samples[other]:
        return f"{ours:.1f} of 100 both, and in the same tables"
    gap = printed_gap(ours, theirs, digits=1)
    judged = verdict(gap, 100 * standing.error_of_difference(one, other), digits=2)
    return f"{ours:.1f} and {theirs:.1f} of 100, {gap:+.1f}, {judged}"


def standing_sentence(standing: Standing) -> str:
    """Say who leads, and where the paper's method stands; of one method only its score."""
    ranks, order, scores = standing.ranks(), standing.ordered(), standing.scores
    where = f"{standing.dataset}, {standing.measure}"
    best = [name for name in order if ranks[name] == 1]
    first = order[0]
    if len(order) == 1 and standing.kind != "all":
        return f"{where}: {first} {scores[first]:.4f}."
    if len(best) == len(order) or standing.kind == "all":
        return f"{where}: {score_words(standing)}."
    lead = f"{where}: best is {listed(best)} ({scores[first]:.4f})"
    if _OURS not in ranks:
        return f"{lead}."
    if _OURS not in best:
        ours = f"{_OURS} is number {ranks[_OURS]} of {len(order)} ({scores[_OURS]:.4f})"
        return f"{lead}; {ours}, {_behind(standing, _OURS, first)}."
    # A lead is judged as a lag is: who reads only of lags that are chance takes leads for certain.
    place = min(rank for rank in ranks.values() if rank > 1)
    names = [name for name in order if ranks[name] == place]
    behind = _behind(standing, names[0], _OURS)
    return f"{lead}; next is {listed(names)} ({scores[names[0]]:.4f}), {behind}."


def score_words(standing: Standing) -> str:
    """Return the scores with the methods that have them."""
    by_score = grouped((f"{standing.scores[name]:.4f}", name) for name in standing.ordered())
    if len(by_score) == 1 and len(standing.scores) > 1:
        return f"{next(iter(by_score))} by every method"
    return listed([f"{score} by {', '.join(names)}" for score, names in by_score.items()])


def _behind(standing: Standing, one: str, other: str) -> str:
    """Say how far one is behind another."""
    gap = printed_gap(standing.scores[other], standing.scores[one])
    error = standing.error_of_difference(one, other)
    if not gap:
        return f"behind by less than {10**-_DIGITS:.4f}"
    if not math.isfinite(error):
        return f"{gap:.4f} behind"
    return f"{gap:.4f} behind, {verdict(gap, error, at_most=not standing.is_paired)}"


def claim_sentences(standings: Sequence[Standing], by: str) -> list[str]:
    """Say whether the paper's method is always among the first five of twelve, ranked by this."""
    if not standings:
        return []
    claim = f"By {by}: the paper's claim, always among the first {paper.FIRST} of {paper.OF},"
    places = {s.dataset: s.ranks()[_OURS] for s in standings}
    shown = listed([f"{name} {place}" for name, place in places.items()])
    where = (
        f"By {by}: place of {_OURS} among {paper.OF}: {shown}; mean {mean(places.values()):.1f}."
    )
    beyond = _beyond(standings)
    if not beyond:
        held = f"all {data_sets(len(places))}" if len(places) > 1 else next(iter(places))
        return [where, f"{claim} holds on {held}."]
    counted = f"{len(beyond)} of {data_sets(len(places))}"
    sentences = [where, f"{claim} does not hold on {counted}: {_numbered(beyond)}."]
    for s in standings:
        if s.dataset in beyond:
            fifth = s.ordered()[paper.FIRST - 1]
            scores = f"has {s.scores[fifth]:.4f}, {_OURS} {s.scores[_OURS]:.4f}"
            behind = _behind(s, _OURS, fifth)
            sentences.append(f"{s.dataset}: the fifth, {fifth}, {scores}: {behind}.")
    return sentences


def _beyond(standings: Sequence[Standing]) -> dict[str, int]:
    """Return the places of the paper's method where it is not among the first."""
    places = {s.dataset: s.ranks()[_OURS] for s in standings}
    return {name: place for name, place in places.items() if place > paper.FIRST}


def _numbered(places: Mapping[str, int]) -> str:
    return listed([f"{name} (number {place})" for name, place in places.items()])


def data_sets(count: int) -> str:
    """Return so many data sets, in words."""
    return f"{count} data set{'' if count == 1 else 's'}"


def answer(ranked: Mapping[str, Sequence[Standing]], *, hangs: bool = False) -> str:
    """Return the outcome in a few sentences: how the paper's method ranks, and its claim.

    Standings of all methods are mapped by what they are ranked by, in words; ranks may hang on a
    choice that the paper leaves open.
    """
    claim = f"The paper's claim, always among the first {paper.FIRST} of {paper.OF} methods,"
    tested = {by: standings for by, standings in ranked.items() if standings}
    if not tested:
        return f"{claim} is not judged here: no data set has results of all {paper.OF}."
    sentences = []
    for by, standings in tested.items():
        averages, beyond = mean_ranks(standings), _beyond(standings)
        place = 1 + sum(rank < averages[_OURS] - _TIE for rank in averages.values())
        best = "the best" if place == 1 else f"number {place}"
        exceptions = f"; it is not among the first {paper.FIRST} on {_numbered(beyond)}"
        sentences.append(
            f"By {by}, {_OURS} has a mean rank of {averages[_OURS]:.1f} over "
            f"{data_sets(len(standings))}, {best} of {len(averages)}{exceptions if beyond else ''}."
        )
    if any(map(_beyond, tested.values())):
        verdict = "does not hold here on every data set"
    elif hangs:
        verdict = "holds here, but it depends on a choice that the paper leaves open"
    else:
        verdict = "holds here"
    return " ".join([f"{claim} {verdict}.", *sentences])


def mean_ranks(standings: Sequence[Standing]) -> dict[str, float]:
    """Return the mean rank of each method over the data sets; each has all methods."""
    ranks = [standing.ranks() for standing in standings]
    return {name: mean(each[name] for each in ranks) for name in ranks[0]}
