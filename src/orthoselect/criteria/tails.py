"""How rare a statistic is: of one candidate by a formula, of the best of all by permutations.

A candidate of z columns explains U of what is left of the response, a space of m dimensions: U is
the sum of squared canonical correlations between what is left of both (Pillai's trace), where R
dimensions are left of all rows. With s = min(z, m) and l = max(z, m),

    U / s  ~  Beta(s l / 2, s (R - l) / 2)

if the candidate has nothing to do with the response and rows are normal: exactly where z or m is 1,
about so elsewhere. It is a common scale for candidates of unlike width, no more; how small the
smallest of all p-values gets by chance is counted over permutations.

References
----------
K. C. S. Pillai, "Some new test criteria in multivariate analysis", Annals of Mathematical
Statistics 26, 1955. https://doi.org/10.1214/aoms/1177728599

T. A. Knijnenburg, L. F. A. Wessels, M. J. T. Reinders and I. Shmulevich, "Fewer permutations, more
accurate P-values", Bioinformatics 25, 2009. https://doi.org/10.1093/bioinformatics/btp211
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orthoselect.matrix.base import Floats

_SMALL = 1e-280  # below that p-values are worked out as logarithms
_TERMS = 60
_POINTS, _ROUNDS = 65, 9  # to find a statistic to the last digits, so many at a time
# Statistics of permutations that would be equal are this far apart, relative: float32's rounding.
_FEW = 10  # values that a tail is fitted to, at least
_TAIL = 4  # one in so many null values is in the tail


def rarity(U: Any, z: Any, m: Any, R: Any) -> Floats:
    """Return -log p of one candidate; 0 where too few dimensions are left to say anything.

    All arguments may be arrays.

    >>> float(np.exp(-rarity(0.5, 1, 1, 3)).round(12)), float(rarity(0.5, 1, 1, 1))
    (0.292893218813, 0.0)
    """
    from scipy.special import betainc  # takes long to load, and only tests need it

    U, z, m, R = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (U, z, m, R)))
    s, larger = np.minimum(z, m), np.maximum(z, m)
    known = (s > 0) & (larger < R)
    s, larger, R = (np.where(known, x, y) for x, y in ((s, 1.0), (larger, 1.0), (R, 2.0)))
    x = np.clip(np.where(known, U / s, 0.0), 0.0, 1.0)
    a, b = s * larger / 2, s * (R - larger) / 2
    p = betainc(b, a, 1.0 - x)
    with np.errstate(divide="ignore"):
        result = -np.log(p)
    tiny = p < _SMALL
    if tiny.any():
        result = np.array(result)
        result[tiny] = _deep(x[tiny], a[tiny], b[tiny])
    return np.maximum(result, 0.0)


def _deep(x: Floats, a: Floats, b: Floats) -> Floats:
    """Return -log of the upper tail of Beta(a, b) far out, where it is less than any number.

    The integral of t^(a-1) (1-t)^(b-1) from x on, by parts: x^(a-1) (1-x)^b / b times the sum of
    (a-1)...(a-k) / ((b+1)...(b+k)) ((1-x)/x)^k, as long as its terms shrink.
    """
    from scipy.special import betaln

    rest = np.maximum(1.0 - x, 5e-324)
    k = np.arange(1.0, _TERMS)[:, None]
    factors = (a - k) / (b + k) * (rest / x)
    terms = np.cumprod(np.where(np.abs(factors) < 1, factors, 0.0), axis=0)
    total = np.maximum(1.0 + terms.sum(axis=0), 1e-3)
    return -((a - 1) * np.log(x) + b * np.log(rest) - np.log(b) - betaln(a, b) + np.log(total))


def least_statistic(log_p: float, z: int, m: int, R: float) -> float:
    """Return the U of a candidate whose -log p is this; above s if there is none."""
    low, high = 0.0, float(min(z, m))
    if rarity(high, z, m, R) <= log_p:
        return high * 1.5 + 1.0
    for _ in range(_ROUNDS):
        points = np.linspace(low, high, _POINTS)
        above = int(np.count_nonzero(rarity(points, z, m, R) <= log_p))  # the first that is
        low, high = float(points[above - 1]), float(points[min(above, _POINTS - 1)])
    return low


def adjusted(own: float, n_as_rare: int, null: Floats, alpha: float) -> float:
    """Return the p-value of a candidate among all: how often the best of all is as rare by chance.

    `own` is its -log p, `null` (B,) the largest of all candidates in each permutation, of which so
    many are as rare. The share is counted, itself among those that count. Where none is as rare,
    and the counted share is at most `alpha` already, a generalized Pareto tail tells how much
    smaller it is.
    """
    counted = (1 + n_as_rare) / (len(null) + 1)
    if n_as_rare or counted > alpha:
        return counted
    return min(counted, _beyond(own, null))


def _beyond(own: float, null: Floats) -> float:
    """Return the share of null values beyond `own`, by a tail fitted to the largest of them.

    Its shape and scale by probability-weighted moments. A tail that ends, or falls faster than
    exponentially, is not believed: the -log p of the rarest candidate falls exponentially at most.
    """
    B = len(null)
    n_tail = max(_FEW, B // _TAIL)
    if n_tail >= B:
        return 1.0
    largest = np.sort(null)[::-1]
    start = (largest[n_tail - 1] + largest[n_tail]) / 2
    excess = largest[:n_tail][::-1] - start  # rising
    mean = float(excess.mean())
    if own <= start or mean <= 0:
        return 1.0
    weights = 1.0 - (np.arange(1, n_tail + 1) - 0.35) / n_tail
    first = float((weights * excess).mean())
    shape = 2.0 - mean / (mean - 2 * first) if mean > 2 * first else 1.0
    if shape <= 1e-6:
        tail = -(own - start) / mean
    else:
        scale = mean * (1 - min(shape, 0.9))
        tail = -math.log1p(shape * (own - start) / scale) / shape
    return n_tail / (B + 1) * math.exp(max(tail, -690.0))


def effective_candidates(null: Floats) -> float:
    """Return how many independent candidates would have such smallest p-values.

    Of so many the smallest is below p with probability 1 - (1 - p)^count, which is uniform.
    """
    p = np.exp(-null)
    total = float(np.log1p(-np.minimum(p, 1 - 1e-12)).sum())
    return -len(null) / total if total < 0 else math.inf
