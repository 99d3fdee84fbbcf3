"""Means of scores, and their standard errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


def mean(values: Iterable[float], weights: Iterable[float] | None = None) -> float:
    """Return the mean, nan of nothing.

    Examples
    --------
    >>> mean([0.5, 0.8], [2, 1])
    0.6
    """
    values = list(values)
    counts = [1.0] * len(values) if weights is None else list(weights)
    if not values:
        return math.nan
    return sum(w * value for w, value in zip(counts, values, strict=True)) / sum(counts)


def mean_error(values: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """Return the standard error of a mean, nan of fewer than two values.

    Examples
    --------
    >>> round(mean_error([0.8, 0.9, 1.0]), 4)
    0.0577
    """
    if len(values) < 2:
        return math.nan
    counts = [1.0] * len(values) if weights is None else list(weights)
    center, total = mean(values, counts), sum(counts)
    squares = sum((w * (value - center)) ** 2 for w, value in zip(counts, values, strict=True))
    return math.sqrt(squares * len(values) / (len(values) - 1)) / total


def share_error(share: float, count: int) -> float:
    """Return the binomial standard error of a share of `count` draws.

    Examples
    --------
    >>> round(share_error(0.9, 100), 3)
    0.03
    """
    return math.sqrt(max(share * (1.0 - share), 0.0) / count)


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


def auc_error(area: float, n_one: int, n_other: int) -> float:
    """Return the standard error of an area under the ROC curve (Hanley and McNeil 1982).

    Examples
    --------
    >>> round(auc_error(0.9, 150, 150), 3)
    0.018
    """
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    spread = area * (1 - area) + (n_one - 1) * (q1 - area**2) + (n_other - 1) * (q2 - area**2)
    return math.sqrt(max(spread, 0.0) / (n_one * n_other))
