"""How many false features are to be expected at most among those that many halves agree on.

Notation: p candidates, q taken from each half at most, theta = q/p how likely a blind pick takes
each, B complementary pairs of halves, tau the threshold: a feature is chosen that at least tau of
the 2B halves take. What is bounded is E[V], where V counts the chosen features that a half
takes with probability theta at most, no more often than a blind pick would. If noise is taken
exchangeably and the method does no worse than a blind pick, all noise is of this kind.

    none        E[V] <= q^2 / p / (2 tau - 1)                   Meinshausen and Buehlmann 2010
    unimodal    E[V] <= C(tau, B) q^2 / p                       Shah and Samworth 2013, theorem 2
    r_concave   E[V] <= p min(D(theta^2, 2 tau - 1, B, -1/2), D(theta, tau, 2B, -1/4))    section 3

The first takes nothing for granted (as theorem 1 of the second paper shows). The second assumes
that the shares of pairs both of whose halves take such a feature have one peak, the third that they
are r-concave: probabilities f for which f^r is convex. D is the largest tail that such a
distribution with a given mean can have.

References
----------
Meinshausen and Buehlmann, Stability selection, https://doi.org/10.1111/j.1467-9868.2010.00740.x
Shah and Samworth, Variable selection with error control: another look at stability selection,
https://doi.org/10.1111/j.1467-9868.2011.01034.x
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from orthoselect.encode.response import check_choice
from orthoselect.errors import InputError
from orthoselect.matrix.base import Floats
from orthoselect.roles import is_whole

ASSUMPTIONS = ("unimodal", "r_concave", "none")
USUAL_THRESHOLD, USUAL_PFER = 0.75, 1.0
_SHARPEST = math.sqrt(1 / 3)  # the largest theta of the theorem on one peak
_LOWEST = 1e-9  # of the parameter of an r-concave distribution; there it is a peak at 0
_HIGHEST = 1e9  # there it is uniform
_SLACK = 1e-9  # shares of halves are compared to so many digits


@dataclass(frozen=True)
class Agreement:
    """What makes a feature one of the chosen, and what that is worth.

    Of `q`, `threshold` and `bound` two were given, or are the usual ones, and determine the third.
    The threshold is a share that frequencies can have, a multiple of 1/(2 n_pairs).
    """

    q: int  # how many features each half takes
    threshold: float
    bound: float  # expected number of false features among the chosen, at most
    n_candidates: int
    n_pairs: int
    assumption: str

    def with_pairs(self, n_pairs: int) -> Agreement:
        """Return the same with the bound that fewer pairs give."""
        threshold = _on_grid(self.threshold, n_pairs)
        bound = false_features(self.n_candidates, self.q, threshold, n_pairs, self.assumption)
        return Agreement(self.q, threshold, bound, self.n_candidates, n_pairs, self.assumption)


def false_features(
    n_candidates: int, q: int, threshold: float, n_pairs: int, assumption: str = "unimodal"
) -> float:
    """Return how many false features are to be expected among the chosen, at most.

    Where an assumption does not help, since q is large or the threshold low, it is the bound that
    needs none.

    Examples
    --------
    >>> round(false_features(88, 20, 0.8, 50), 6)
    3.743316
    >>> round(false_features(88, 20, 0.8, 50, "none"), 3)
    7.576
    """
    p, tau, B = n_candidates, _on_grid(threshold, n_pairs), n_pairs
    # Frequencies add up to q, so that no more than q/tau of them reach tau.
    found = [min(p, q / tau), q * q / p / (2 * tau - 1) if tau > 0.5 else math.inf]
    if assumption != "none":
        found.append(_if_unimodal(p, q, tau, B))
    if assumption == "r_concave":
        theta = min(q / p, 1.0)
        tails = (theta**2, 2 * tau - 1, B, -0.5), (theta, tau, 2 * B, -0.25)
        found.append(p * min(largest_tail(*tail) for tail in tails))
    return min(found)


def _if_unimodal(p: int, q: int, tau: float, B: int) -> float:
    """Return the bound if shares of pairs have one peak; infinity where the theorem is silent."""
    theta = q / p
    lowest = 0.5 + min(theta**2, 1 / (2 * B) + 0.75 * theta**2)
    if theta > _SHARPEST or tau <= lowest or tau < 0.5 + 1 / B - _SLACK:
        return math.inf
    if tau <= 0.75 + _SLACK:
        return q * q / p / (2 * (2 * tau - 1 - 1 / (2 * B)))
    return q * q / p * 4 * (1 - tau + 1 / (2 * B)) / (1 + 1 / B)


@lru_cache(maxsize=4096)
def largest_tail(mean: float, at_least: float, n: int, r: float) -> float:
    """Return the most that P(X >= at_least) can be, X on 0, 1/n, ..., 1 with this mean, r-concave.

    The extreme distributions are proportional to (a + i)^(1/r) for i = 0, ..., k, and have what is
    left, at most that again, at k + 1: given the ends of a convex function, the straight line is
    the largest. The mean settles one of a and the part at k + 1; the best a and k are searched for.

    Examples
    --------
    >>> largest_tail(0.1, 0.9, 10, -0.5) < 0.1 / 0.9  # which is what Markov says
    True
    """
    first, m = math.ceil(at_least * n - _SLACK), mean * n
    if first <= 2 * m:
        return 1.0  # a flat distribution reaches it, and steeper ones more
    largest = 0.0
    steepest = _parameter(m, max(first - 1, 1), r)
    for k in range(max(first - 1, 1), n + 1):
        flat = steepest  # no part at k + 1
        if k == n:
            return max(largest, _tail(math.log(flat), m, k, first, r))
        steepest = _parameter(m, k + 1, r)  # all of it
        ends = math.log(steepest), math.log(flat)
        inside = minimize_scalar(
            lambda log_a, k=k: -_tail(log_a, m, k, first, r), bounds=ends, method="bounded"
        )
        largest = max(largest, -inside.fun, *(_tail(end, m, k, first, r) for end in ends))
    return largest


def _weights(a: float, k: int, r: float) -> Floats:
    """Return (a + i)^(1/r) for i = 0, ..., k, the first of them 1."""
    return np.asarray((1 + np.arange(k + 1) / a) ** (1 / r))


def _parameter(m: float, k: int, r: float) -> float:
    """Return the a for which the mean over 0, ..., k is m; the flattest if even that is lower."""

    def excess(log_a: float) -> float:
        f = _weights(math.exp(log_a), k, r)
        return float(np.arange(k + 1) @ f / f.sum()) - m

    low, high = math.log(_LOWEST), math.log(_HIGHEST)
    if excess(low) >= 0:
        return _LOWEST
    return math.exp(brentq(excess, low, high)) if excess(high) > 0 else _HIGHEST


def _tail(log_a: float, m: float, k: int, first: int, r: float) -> float:
    """Return P(X >= first), what is missing of the mean m made up for at k + 1."""
    f = _weights(math.exp(log_a), k, r)
    lacking = float((m - np.arange(k + 1)) @ f)
    last = max(lacking, 0.0) / (k + 1 - m)
    return (float(f[first:].sum()) + last) / (float(f.sum()) + last)


# From two of the three to the third


class Room(NamedTuple):
    """What a half has to judge features by.

    Features that fill all but the last rank of a half leave nothing to tell others apart: each
    explains the rest, and the first column would be taken whatever it holds.
    """

    n_rows: int  # of the smaller half
    n_response: int  # columns of the response
    n_included: int  # features that are taken anyway
    is_rank: bool = True  # whether the method takes out of candidates what features explain

    @property
    def most(self) -> int | None:
        """How many features may be asked for; None for any number.

        One rank is kept free beyond what is needed, but a single feature may do without.
        """
        free = self.n_rows - 1 - self.n_response - self.n_included
        return max(free - 1, min(free, 1)) if self.is_rank else None

    @property
    def usual(self) -> int:
        """How many are taken at most if nobody asks for a number, well below the rank."""
        half = max((self.n_rows - 1) // 2 - self.n_included, 1)
        return half if self.most is None else min(half, self.most)

    def check(self, q: int | None) -> None:
        """Raise if a half has too few rows for q features, or for any."""
        if self.most is None or (q or 1) <= self.most:
            return
        beside = f"{self.n_response} of the response"
        beside += f" and {self.n_included} in `include`" if self.n_included else ""
        if self.most < 1:
            needed = 2 * (2 + self.n_response + self.n_included)
            raise InputError(
                f"halves of {self.n_rows} rows are too few to tell features apart, with columns "
                f"besides: {beside}. Give {needed} rows at least."
            )
        raise InputError(
            f"`n_features_to_select` should be {self.most} at most for halves of {self.n_rows} "
            f"rows (columns besides: {beside}): the last features would explain all that is left, "
            f"whatever they hold; got {q}."
        )


def settle(
    n_candidates: int,
    n_pairs: int,
    *,
    q: Any = None,
    threshold: Any = None,
    pfer: Any = None,
    assumption: str = "unimodal",
    room: Room | None = None,
) -> Agreement:
    """Return size, threshold and bound, of which at most two are given.

    q is a count, or a fraction of the candidates. Of what is not given the false features (`pfer`)
    are 1 and the threshold 0.75, as far as they are needed. The size has to fit into a half:
    `room`.

    Examples
    --------
    >>> settle(9, 50, threshold=0.75, pfer=1).q
    2
    >>> settle(32, 100, q=15, pfer=1).threshold
    0.97
    >>> settle(9, 50, q=8, pfer=0.1)
    Traceback (most recent call last):
    ...
    orthoselect.errors.InputError: no threshold keeps the false features below `pfer=0.1` if each
    half takes 8 of 9 features. Take 4 at most, or allow `pfer=7.12`.
    """
    check_choice(assumption, ASSUMPTIONS, "assumption")
    _check(q, threshold, pfer)
    p, B = n_candidates, n_pairs
    if p < 2:
        raise InputError(
            f"there should be at least two features to choose from, besides those in `include`; "
            f"there is {p}."
        )
    size = None if q is None else _as_count(q, p)
    if room is not None:
        room.check(size)
    if size is not None and threshold is not None:
        tau = _on_grid(threshold, B)
        return Agreement(size, tau, false_features(p, size, tau, B, assumption), p, B, assumption)
    most = USUAL_PFER if pfer is None else float(pfer)
    if size is not None:
        tau = _lowest_threshold(p, size, B, most, assumption)
    else:
        tau = _on_grid(USUAL_THRESHOLD if threshold is None else threshold, B)
        size = _largest_size(p, tau, B, most, assumption)
        if not size:
            least = false_features(p, 1, tau, B, assumption)
            raise InputError(
                f"not even one feature taken from each half keeps the false features below "
                f"`pfer={most:g}` at `threshold={tau:g}`, of {p}. Allow `pfer={_up(least)}`"
                f"{', or raise the threshold' if tau < 1 else ''}."
            )
        if room is not None:
            size = min(size, room.usual)
    return Agreement(size, tau, false_features(p, size, tau, B, assumption), p, B, assumption)


def _check(q: Any, threshold: Any, pfer: Any) -> None:
    if q is not None and threshold is not None and pfer is not None:
        raise InputError(
            "two of `n_features_to_select`, `threshold` and `pfer` should be given, which "
            "determine the third; got all three. Omit one of them."
        )
    if threshold is not None and not (_is_real(threshold) and 0.5 < float(threshold) <= 1):
        raise InputError(
            f"`threshold` should be a share of the halves above 0.5, and 1 at most; got "
            f"{threshold!r}."
        )
    if pfer is not None and not (_is_real(pfer) and 0 < float(pfer) < math.inf):
        raise InputError(
            f"`pfer` should be a number of features above 0, which may be a fraction; got {pfer!r}."
        )
    is_fraction = _is_real(q) and 0 < float(q) < 1
    if q is not None and not is_fraction and not (is_whole(q) and q >= 1):
        raise InputError(
            f"`n_features_to_select` should be a whole number of at least 1 or a fraction in "
            f"(0, 1), to be taken from each half; got {q!r}."
        )


def _is_real(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _as_count(q: Any, p: int) -> int:
    size = int(q) if is_whole(q) else max(1, int(float(q) * p + _SLACK))
    if size >= p:
        raise InputError(
            f"`n_features_to_select` should be below the number of features to choose from, {p}: "
            f"a half that takes all shows no preference; got {q!r}."
        )
    return size


def _on_grid(threshold: float, n_pairs: int) -> float:
    """Return the smallest share of halves that is not below a threshold."""
    return math.ceil(float(threshold) * 2 * n_pairs - _SLACK) / (2 * n_pairs)


def _lowest_threshold(p: int, q: int, B: int, pfer: float, assumption: str) -> float:
    """Return the lowest threshold that keeps a bound; bounds fall as it rises."""
    low, high = B, 2 * B  # halves; one half is never enough, all are if anything is
    if false_features(p, q, 1.0, B, assumption) > pfer:
        least = _up(false_features(p, q, 1.0, B, assumption))
        fewer = _largest_size(p, 1.0, B, pfer, assumption)
        take = f"Take {fewer} at most, or allow" if fewer else "Allow"
        raise InputError(
            f"no threshold keeps the false features below `pfer={pfer:g}` if each half takes {q} "
            f"of {p} features. {take} `pfer={least}`."
        )
    while high - low > 1:
        middle = (low + high) // 2
        if false_features(p, q, middle / (2 * B), B, assumption) <= pfer:
            high = middle
        else:
            low = middle
    return high / (2 * B)


def _largest_size(p: int, tau: float, B: int, pfer: float, assumption: str) -> int:
    """Return how many features each half may take at most; 0 if not even one."""
    low, high = 0, p  # bounds rise with the size
    while high - low > 1:
        middle = (low + high) // 2
        if false_features(p, middle, tau, B, assumption) <= pfer:
            low = middle
        else:
            high = middle
    return low


def _up(bound: float) -> str:
    """Return a bound in three digits, none of which is too low."""
    step = 10 ** (math.floor(math.log10(bound)) - 2)
    return f"{math.ceil(bound / step - _SLACK) * step:.3g}"
