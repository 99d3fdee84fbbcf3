"""Scores of folds: their mean, its standard error, and differences that are paired by fold.

Notation: K folds of a cross-validation, drawn once or several times; J scores in all, of which s is
the standard deviation (divisor J - 1). A validation part has n / K rows, a training part the rest.

The standard error of the mean is that of Nadeau and Bengio,

    SE = s sqrt(1/J + 1/(K - 1)).

Scores of separate rows would have s sqrt(1/J). Folds share training rows, and folds that are drawn
again share all rows; the second term, validation rows over training rows, stands for that. So more
repeats steady the mean, but the standard error does not shrink to zero with them. It is
approximate: no estimate of this variance is free of bias.

References
----------
C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52, 2003.
https://doi.org/10.1023/A:1024068626366

Y. Bengio and Y. Grandvalet, "No unbiased estimator of the variance of K-fold cross-validation",
Journal of Machine Learning Research 5, 2004. https://www.jmlr.org/papers/v5/grandvalet04a.html
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

# The luckiest of many scores is easily one standard error above no features; to say that anything
# was found takes so many.
CLEARLY = 2.0
ROUNDING = 1e-9  # the same features in another order give scores this close
FoldScores = Mapping[tuple[int, int], float]  # by repeat and fold


@dataclass(frozen=True)
class PairedDifference:
    """How much higher one row of scores is than another on the same folds.

    Examples
    --------
    >>> difference = PairedDifference.of({(1, 1): 0.9, (1, 2): 0.8}, {(1, 1): 0.8, (1, 2): 0.8}, 2)
    >>> round(difference.mean, 3), round(difference.error, 3), difference.is_small
    (0.05, 0.087, True)
    """

    mean: float
    error: float | None  # its standard error; None of a single fold

    @staticmethod
    def of(first: FoldScores, second: FoldScores, n_folds: float) -> PairedDifference | None:
        """Subtract fold by fold, where both have a score; None if that is nowhere."""
        both = [first[fold] - second[fold] for fold in first if fold in second]
        return PairedDifference(fmean(both), standard_error(both, n_folds)) if both else None

    @property
    def is_small(self) -> bool:
        """Whether the first is at most one standard error above the second."""
        return self.mean <= (self.error or 0.0) + ROUNDING


def standard_deviation(values: Sequence[float]) -> float | None:
    """Return the standard deviation of a sample; None of a single value."""
    mean, n = fmean(values), len(values)
    return math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1)) if n > 1 else None


def standard_error(values: Sequence[float], n_folds: float) -> float | None:
    """Return the standard error of the mean of fold scores; None of a single one.

    Parameters
    ----------
    values : sequence of float
        One score for each fold, those of all repeats together.
    n_folds : float
        Folds that the rows were cut into in each repeat; where they were not, one more than there
        are training rows for each validation row.

    Examples
    --------
    >>> round(standard_error([0.9, 1.0, 0.8, 0.9, 0.9], 5), 4)
    0.0474
    """
    spread = standard_deviation(values)
    return None if spread is None else spread * math.sqrt(1 / len(values) + 1 / (n_folds - 1))
