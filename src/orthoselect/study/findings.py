"""What the numbers show, in sentences made from them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

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
    scores : mapping of method to number
    errors : mapping of method to its standard error
    """

    dataset: str
    measure: str
    scores: Mapping[str, float]
    errors: Mapping[str, float]

    def ranks(self) -> dict[str, int]:
        """Return the rank of each method; equals share the better one.

        Examples
        --------
        >>> Standing("a", "accuracy", {"OLS": 0.9, "MIM": 0.8, "JMI": 0.9}, {}).ranks()
        {'OLS': 1, 'MIM': 3, 'JMI': 1}
        """
        return {
            name: 1 + sum(other > score + _TIE for other in self.scores.values())
            for name, score in self.scores.items()
        }

    def ordered(self) -> list[str]:
        """Return the methods, the best first."""
        return sorted(self.scores, key=lambda name: -self.scores[name])


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
    n = len(order)
    first = order[0]
    best = [name for name in order if ranks[name] == 1]
    sentences = [
        f"{standing.dataset}: best {standing.measure} by {listed(best)} "
        f"({standing.scores[first]:.4f})."
    ]
    if _OURS not in ranks or n < 2 or _OURS in best:
        return sentences
    gap = standing.scores[first] - standing.scores[_OURS]
    sentences.append(
        f"{standing.dataset}: {_OURS} is number {ranks[_OURS]} of {n} "
        f"({standing.scores[_OURS]:.4f}), {gap:.4f} behind the best"
        f"{_compared(gap, standing, first)}."
    )
    return sentences


def _compared(gap: float, standing: Standing, other: str) -> str:
    error = math.hypot(standing.errors.get(_OURS, math.nan), standing.errors.get(other, math.nan))
    if not math.isfinite(error) or error == 0:
        return ""
    verdict = "more" if gap > BEYOND_CHANCE * error else "not more"
    return f", {verdict} than two standard errors of a difference ({2 * error:.4f})"


def claim_sentences(standings: Iterable[Standing]) -> list[str]:
    """Say whether the paper's method is always among the first five of twelve."""
    full = [s for s in standings if _OURS in s.scores and len(s.scores) >= paper.OF]
    if not full:
        return [
            f"The paper's claim, always among the first {paper.FIRST} of {paper.OF}, was not "
            f"tested: no data set has results of all {paper.OF} methods."
        ]
    places = {s.dataset: s.ranks()[_OURS] for s in full}
    shown = listed([f"{name} {place}" for name, place in places.items()])
    beyond = {name: place for name, place in places.items() if place > paper.FIRST}
    sentences = [f"Place of {_OURS} among {paper.OF}: {shown}; mean {mean(places.values()):.1f}."]
    if not beyond:
        sentences.append(
            f"The paper's claim holds here: {_OURS} is among the first {paper.FIRST} of {paper.OF} "
            f"on all {len(places)} data sets."
        )
        return sentences
    sentences.append(
        f"The paper's claim does not hold here on {len(beyond)} of {len(places)} data sets: "
        f"{_OURS} is {listed([f'number {place} on {name}' for name, place in beyond.items()])}."
    )
    sentences += [_behind_fifth(s) for s in full if s.dataset in beyond]
    return sentences


def _behind_fifth(standing: Standing) -> str:
    fifth = standing.ordered()[paper.FIRST - 1]
    gap = standing.scores[fifth] - standing.scores[_OURS]
    return (
        f"{standing.dataset}: the fifth, {fifth}, has {standing.scores[fifth]:.4f}; {_OURS} is "
        f"{gap:.4f} behind it{_compared(gap, standing, fifth)}."
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
    -1.31
    """
    pooled = (ours * n_ours + theirs * n_theirs) / (n_ours + n_theirs)
    error = math.sqrt(pooled * (1.0 - pooled) * (1.0 / n_ours + 1.0 / n_theirs))
    return (ours - theirs) / error if error else 0.0
