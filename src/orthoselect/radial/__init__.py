"""Radial basis function networks, whose centers are selected among the training rows.

What comes in are points and numbers or classes; what goes out is a sum of radial functions around
some of the points. The classes to know are `RBFRegressor` and `RBFClassifier`.

    candidate_rows    points at one scale, and the rows that may become centers
    growth            one center after the other, until leaving rows out shows no gain
    networks          the estimators
"""

from orthoselect.radial.networks import RBFClassifier, RBFRegressor

__all__ = ["RBFClassifier", "RBFRegressor"]
