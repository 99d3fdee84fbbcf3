"""Ways to judge a set of features; each grows a set one feature at a time.

In come a design (or codes) and a response; out comes a `State`, which says what each feature would
add to those taken. The class to know is `State`, made by a `Criterion`.
"""

from orthoselect.criteria.base import Criterion, State
from orthoselect.criteria.cancorr import (
    DiscretizedCanonicalCorrelations,
    SquaredCanonicalCorrelations,
)
from orthoselect.criteria.orthogonal import OrthogonalCriterion

__all__ = [
    "Criterion",
    "DiscretizedCanonicalCorrelations",
    "OrthogonalCriterion",
    "SquaredCanonicalCorrelations",
    "State",
]
