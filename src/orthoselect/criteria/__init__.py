"""Ways to judge a set of features; each grows a set one feature at a time."""

from orthoselect.criteria.base import Criterion, State
from orthoselect.criteria.cancorr import SquaredCanonicalCorrelations

__all__ = ["Criterion", "SquaredCanonicalCorrelations", "State"]
