"""What the numbers show, in sentences made from them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from orthoselect.study import paper
from orthoselect.study.records import mean

_OURS = "OLS"
_TIE = 1e-12
# Differences of more than so many standard errors are more than chance.
BEYOND_CHANCE = 2.0


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
    kind : {"last", "mean", "both"}
        Whether the score is that of the last size, the mean over sizes, or there is one size only.
    """

    dataset: str
    measure: str
    samples: Mapping[str, Sequence[float]]
    errors: Mapping[str, float]
    kind: str = "both"

    @cached_property
    def scores(self) -> dict[str, float]:
        """The score of each method."""
        return {name: mean(values) for name, values in self.samples.items()}

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

    def error_of_difference(self, one: str, other: str) -> float:
        """Return the standard error of the difference of two scores.

        From the differences table by table or fold by fold where there are some; else as if the
        two scores were independent, which overrates it.
        """
        pairs = list(zip(self.samples[one], self.samples[other]))
        if len(pairs) < 2 or len(self.samples[one]) != len(self.samples[other]):
            return math.hypot(self.errors.get(one, math.nan), self.errors.get(other, math.nan))
        gaps = [a - b for a, b in pairs]
        center = mean(gaps)
        return math.sqrt(sum((gap - center) ** 2 for gap in gaps) / (len(gaps) - 1) / len(gaps))


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


def standing_sentences(standing: Standing) -> list[str]:
    """Say who leads, and where the paper's method stands."""
    ranks, order = standing.ranks(), standing.ordered()
    first = order[0]
    best = [name for name in order if ranks[name] == 1]
    lead = (
        f"{standing.dataset}, {standing.measure}: best is {listed(best)} "
        f"({standing.scores[first]:.4f})"
    )
    if _OURS not in ranks or len(order) < 2 or _OURS in best:
        return [f"{lead}."]
    return [
        f"{lead}; {_OURS} is number {ranks[_OURS]} of {len(order)} "
        f"({standing.scores[_OURS]:.4f}), {_behind(standing, first)}."
    ]


def _behind(standing: Standing, other: str) -> str:
    gap = standing.scores[other] - standing.scores[_OURS]
    error = standing.error_of_difference(_OURS, other)
    if not math.isfinite(error):
        return f"{gap:.4f} behind"
    verdict = "more than" if gap > BEYOND_CHANCE * error else "within"
    return f"{gap:.4f} behind, {verdict} two standard errors of the difference ({2 * error:.4f})"


def claim_sentences(standings: Iterable[Standing], by: str) -> list[str]:
    """Say whether the paper's method is always among the first five of twelve.

    Parameters
    ----------
    standings : iterable of Standing
    by : str
        What they are ranked by, in words.
    """
    full = [s for s in standings if _OURS in s.scores and len(s.scores) >= paper.OF]
    claim = f"always among the first {paper.FIRST} of {paper.OF}"
    if not full:
        return [
            f"By {by}: the paper's claim, {claim}, was not tested: no data set has results of all "
            f"{paper.OF} methods."
        ]
    places = {s.dataset: s.ranks()[_OURS] for s in full}
    shown = listed([f"{name} {place}" for name, place in places.items()])
    beyond = {name: place for name, place in places.items() if place > paper.FIRST}
    sentences = [
        f"By {by}: place of {_OURS} among {paper.OF}: {shown}; mean {mean(places.values()):.1f}."
    ]
    if not beyond:
        sentences.append(
            f"By {by}: the paper's claim, {claim}, holds on all {len(places)} data sets."
        )
        return sentences
    where = listed([f"{name} (number {place})" for name, place in beyond.items()])
    sentences.append(
        f"By {by}: the paper's claim, {claim}, does not hold on {len(beyond)} of {len(places)} "
        f"data sets: {where}."
    )
    return sentences + [_behind_fifth(s) for s in full if s.dataset in beyond]


def _behind_fifth(standing: Standing) -> str:
    fifth = standing.ordered()[paper.FIRST - 1]
    return (
        f"{standing.dataset}: the fifth, {fifth}, has {standing.scores[fifth]:.4f}, {_OURS} "
        f"{standing.scores[_OURS]:.4f}: {_behind(standing, fifth)}."
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
        return f"{claim} was not tested: no data set has results of all {paper.OF} methods."
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
    count = f"{len(standings)} data set{'' if len(standings) == 1 else 's'}"
    return (
        f"By {by}, {_OURS} has a mean rank of {averages[_OURS]:.1f} over {count}, "
        f"{best}{exceptions}."
    )


def mean_ranks(standings: Sequence[Standing]) -> dict[str, float]:
    """Return the mean rank of each method over the data sets on which it has one."""
    names = list(dict.fromkeys(name for s in standings for name in s.scores))
    return {name: mean(s.ranks()[name] for s in standings if name in s.scores) for name in names}


def share_error(share: float, count: int) -> float:
    """Return the binomial standard error of a share of `count` draws.

    Examples
    --------
    >>> round(share_error(0.9, 100), 3)
    0.03
    """
    return math.sqrt(share * (1.0 - share) / count)


def difference_in_errors(ours: float, n_ours: int, theirs: float, n_theirs: int) -> float:
    """Return how many standard errors two shares lie apart, by the pooled share.

    Examples
    --------
    >>> round(difference_in_errors(0.91, 500, 0.95, 100), 2)
    -1.32
    """
    pooled = (ours * n_ours + theirs * n_theirs) / (n_ours + n_theirs)
    error = math.sqrt(pooled * (1.0 - pooled) * (1.0 / n_ours + 1.0 / n_theirs))
    return (ours - theirs) / error if error else 0.0
