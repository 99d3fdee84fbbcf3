"""Ways to judge a set of features; each grows a set one feature at a time."""

from orthoselect.criteria.base import Criterion, State
from orthoselect.criteria.cancorr import SquaredCanonicalCorrelations
from orthoselect.criteria.discretized import DiscretizedCanonicalCorrelations
from orthoselect.criteria.orthogonal import (
    ErrorReductionRatio,
    MeanSquaredErrorReduction,
    OrthogonalCorrelation,
)

__all__ = [
    "Criterion",
    "DiscretizedCanonicalCorrelations",
    "ErrorReductionRatio",
    "MeanSquaredErrorReduction",
    "OrthogonalCorrelation",
    "SquaredCanonicalCorrelations",
    "State",
]
