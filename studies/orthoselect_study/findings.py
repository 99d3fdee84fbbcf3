"""What the numbers show, in sentences made from them.

A difference is that of the numbers as they are printed, and so is the verdict on it: whoever reads
a sentence can do it again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from orthoselect.lazy import lazy
from orthoselect_study import paper
from orthoselect_study.averages import mean, mean_error

_OURS = "OLS"
_TIE = 1e-12
_DIGITS = 4
# Differences of more than so many standard errors are more than chance.
BEYOND_CHANCE = 2


@dataclass(frozen=True)
class Standing:
    """How methods did on one data set, by one number each; more is better.

    Attributes
    ----------
    dataset : str
    measure : str
        What the numbers are, in words.
    samples : mapping of method to numbers
        What the score is the mean of: tables, folds, or one number. The n-th of each method are
        of the same table or fold.
    errors : mapping of method to the standard error of its score
    kind : {"last", "all", "mean", "both"}
        Whether the score is that of the last size, the same with every feature of the set taken,
        the mean over sizes, or there is one size only.
    weights : sequence of float, optional
        What the numbers of a method count, rows of a fold for one; the same if not given.
    """

    dataset: str
    measure: str
    samples: Mapping[str, Sequence[float]]
    errors: Mapping[str, float]
    kind: str = "both"
    weights: Sequence[float] | None = None

    @lazy
    def scores(self) -> dict[str, float]:
        """The score of each method."""
        return {name: mean(values, self.weights) for name, values in self.samples.items()}

    def among(self, names: Iterable[str]) -> Standing:
        """Return the standing of some of the methods."""
        return replace(self, samples={name: self.samples[name] for name in names})

    def ranks(self) -> dict[str, int]:
        """Return the rank of each method; equals share the better one.

        Examples
        --------
        >>> Standing("a", "accuracy", {"OLS": [0.9], "MIM": [0.8], "JMI": [0.9]}, {}).ranks()
        {'OLS': 1, 'MIM': 3, 'JMI': 1}
        """
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


def listed(parts: Sequence[str]) -> str:
    """Return words as a list in a sentence.

    Examples
    --------
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def printed_gap(larger: float, smaller: float, digits: int = _DIGITS) -> float:
    """Return the difference of two numbers as they are printed.

    Examples
    --------
    >>> printed_gap(0.72856, 0.72814)
    0.0005
    """
    return round(round(larger, digits) - round(smaller, digits), digits)


def is_beyond_chance(gap: float, error: float, digits: int = _DIGITS) -> bool:
    """Tell whether a printed difference is more than two printed standard errors of it."""
    return abs(gap) > BEYOND_CHANCE * round(error, digits) + _TIE


def verdict(gap: float, error: float, digits: int = _DIGITS, *, at_most: bool = False) -> str:
    """Return whether a printed difference is more than chance, with the numbers that tell.

    Parameters
    ----------
    gap, error : float
        The difference, and one standard error of it.
    digits : int
        Digits of the error.
    at_most : bool, default=False
        Whether the error is a bound.

    Examples
    --------
    >>> verdict(0.0035, 0.00351)
    'within two standard errors of the difference (2 x 0.0035 = 0.0070)'
    """
    word = "more than" if is_beyond_chance(gap, error, digits) else "within"
    one = round(error, digits)
    bound = "at most " if at_most else ""
    return (
        f"{word} two standard errors of the difference "
        f"({bound}2 x {one:.{digits}f} = {2 * one:.{digits}f})"
    )


def standing_sentences(standing: Standing) -> list[str]:
    """Say who leads, and where the paper's method stands; of one method only its score."""
    ranks, order = standing.ranks(), standing.ordered()
    where = f"{standing.dataset}, {standing.measure}"
    if standing.kind == "all":
        return [f"{where}: {score_words(standing)}."]
    first = order[0]
    if len(order) == 1:
        return [f"{where}: {first} {standing.scores[first]:.4f}."]
    best = [name for name in order if ranks[name] == 1]
    if len(best) == len(order):
        return [f"{where}: {score_words(standing)}."]
    lead = f"{where}: best is {listed(best)} ({standing.scores[first]:.4f})"
    if _OURS not in ranks:
        return [f"{lead}."]
    if _OURS in best:
        return [f"{lead}; {_next(standing)}."]
    return [
        f"{lead}; {_OURS} is number {ranks[_OURS]} of {len(order)} "
        f"({standing.scores[_OURS]:.4f}), {_behind(standing, _OURS, first)}."
    ]


def _next(standing: Standing) -> str:
    """Say who comes after the best, among whom is ours, and whether the lead is more than chance.

    A lead is judged as a lag is: who reads only of lags that are chance takes leads for certain.
    """
    ranks, order = standing.ranks(), standing.ordered()
    place = min(rank for rank in ranks.values() if rank > 1)
    names = [name for name in order if ranks[name] == place]
    return (
        f"next is {listed(names)} ({standing.scores[names[0]]:.4f}), "
        f"{_behind(standing, names[0], _OURS)}"
    )


def score_words(standing: Standing) -> str:
    """Return the scores with the methods that have them.

    Examples
    --------
    >>> score_words(Standing("a", "accuracy", {"OLS": [0.9], "MIM": [0.9]}, {}))
    '0.9000 by every method'
    >>> score_words(Standing("a", "accuracy", {"OLS": [0.9], "MIM": [0.8]}, {}))
    '0.9000 by OLS and 0.8000 by MIM'
    """
    by_score: dict[str, list[str]] = {}
    for name in standing.ordered():
        by_score.setdefault(f"{standing.scores[name]:.4f}", []).append(name)
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
    """Say whether the paper's method is always among the first five of twelve.

    Parameters
    ----------
    standings : sequence of Standing
        Of all twelve methods.
    by : str
        What they are ranked by, in words.
    """
    if not standings:
        return []
    claim = f"always among the first {paper.FIRST} of {paper.OF}"
    places = {s.dataset: s.ranks()[_OURS] for s in standings}
    shown = listed([f"{name} {place}" for name, place in places.items()])
    beyond = {name: place for name, place in places.items() if place > paper.FIRST}
    sentences = [
        f"By {by}: place of {_OURS} among {paper.OF}: {shown}; mean {mean(places.values()):.1f}."
    ]
    if not beyond:
        where = f"all {_data_sets(len(places))}" if len(places) > 1 else next(iter(places))
        sentences.append(f"By {by}: the paper's claim, {claim}, holds on {where}.")
        return sentences
    where = listed([f"{name} (number {place})" for name, place in beyond.items()])
    sentences.append(
        f"By {by}: the paper's claim, {claim}, does not hold on {len(beyond)} of "
        f"{_data_sets(len(places))}: {where}."
    )
    return sentences + [_behind_fifth(s) for s in standings if s.dataset in beyond]


def _data_sets(count: int) -> str:
    return f"{count} data set{'' if count == 1 else 's'}"


def _behind_fifth(standing: Standing) -> str:
    fifth = standing.ordered()[paper.FIRST - 1]
    return (
        f"{standing.dataset}: the fifth, {fifth}, has {standing.scores[fifth]:.4f}, {_OURS} "
        f"{standing.scores[_OURS]:.4f}: {_behind(standing, _OURS, fifth)}."
    )


def answer(ranked: Mapping[str, Sequence[Standing]], *, hangs: bool = False) -> str:
    """Return the outcome in a few sentences: how the paper's method ranks, and its claim.

    Parameters
    ----------
    ranked : mapping of what is ranked by, in words, to standings with all methods
    hangs : bool, default=False
        Whether ranks hang on a choice that the paper leaves open.
    """
    claim = f"The paper's claim, always among the first {paper.FIRST} of {paper.OF} methods,"
    tested = {by: standings for by, standings in ranked.items() if standings}
    if not tested:
        return f"{claim} is not judged here: no data set has results of all {paper.OF}."
    sentences = [_rank_sentence(by, standings) for by, standings in tested.items()]
    holds = all(s.ranks()[_OURS] <= paper.FIRST for each in tested.values() for s in each)
    if not holds:
        verdict = "does not hold here on every data set"
    elif hangs:
        verdict = "holds here, but it hangs on a choice that the paper leaves open"
    else:
        verdict = "holds here"
    return " ".join([f"{claim} {verdict}.", *sentences])


def _rank_sentence(by: str, standings: Sequence[Standing]) -> str:
    averages = mean_ranks(standings)
    place = 1 + sum(rank < averages[_OURS] - _TIE for rank in averages.values())
    best = f"the best of {len(averages)}" if place == 1 else f"number {place} of {len(averages)}"
    beyond = {s.dataset: s.ranks()[_OURS] for s in standings if s.ranks()[_OURS] > paper.FIRST}
    where = listed([f"{name} (number {rank})" for name, rank in beyond.items()])
    exceptions = f"; it is not among the first {paper.FIRST} on {where}" if beyond else ""
    return (
        f"By {by}, {_OURS} has a mean rank of {averages[_OURS]:.1f} over "
        f"{_data_sets(len(standings))}, {best}{exceptions}."
    )


def mean_ranks(standings: Sequence[Standing]) -> dict[str, float]:
    """Return the mean rank of each method over the data sets on which it has one."""
    names = list(dict.fromkeys(name for s in standings for name in s.scores))
    return {name: mean(s.ranks()[name] for s in standings if name in s.scores) for name in names}
