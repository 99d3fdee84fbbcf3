"""The error reduction ratio with a penalty on coefficients of orthogonal columns.

    (w'y)^2 / ((w'w + penalty) y'y)

where w is what is left of a candidate once those selected are projected out: what w explains if
its coefficient g = w'y / (w'w + penalty) is shrunk. Columns that are nearly combinations of those
selected, whose w'w is small, are not worth their coefficients and come later.

References
----------
S. Chen, E. S. Chng and K. Alkadhimi, "Regularized orthogonal least squares algorithm for
constructing radial basis function networks", International Journal of Control 64, 1996.
https://doi.org/10.1080/00207179608921659
"""

from __future__ import annotations

import numpy as np

from orthoselect.criteria.orthogonal import OrthogonalCriterion
from orthoselect.encode import Design
from orthoselect.matrix.base import Floats


class RegularizedErrorReduction(OrthogonalCriterion):
    """The error reduction ratio of coefficients that are shrunk.

    Parameters
    ----------
    penalties : array of shape (n,)
        What is added to w'w of each column, in its own units; none is negative.
    """

    compares_sets = False  # what a set explains depends on the order of its columns

    def __init__(self, penalties: Floats) -> None:
        super().__init__("err")
        self._given = penalties

    def _penalties(self, design: Design, weights: Floats | None) -> Floats | None:
        root = None if weights is None else np.sqrt(weights)
        squares = design.matrix.scan(np.empty((design.n_rows, 0)), root).squares
        return np.divide(self._given, squares, out=np.zeros_like(squares), where=squares > 0)
