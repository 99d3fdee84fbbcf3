"""Columns as natural cubic splines: what lets a linear model bend, for features that do."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from orthoselect.encode.spline_design import find_knots
from orthoselect.matrix.base import EPS, Floats
from orthoselect.matrix.splines import Spline

_KNOTS = 5  # as method "socc_splines" has them


class NaturalSplines(TransformerMixin, BaseEstimator):
    """Turn each column into its natural splines, orthonormal over the training rows.

    They are those of method "socc_splines": knots at quantiles, straight lines beyond the outer
    ones; a column of two values, an indicator say, is a line. Columns that are constant go.

    Examples
    --------
    >>> X = np.column_stack([np.arange(50.0), np.arange(50) % 2, np.ones(50)])
    >>> NaturalSplines().fit_transform(X).shape
    (50, 5)
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the knots of each column."""
        X = np.asarray(X, dtype=np.float64)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.splines_ = []
        for j, x in enumerate(X.T):
            knots = find_knots(x, _KNOTS, weights)
            if len(knots) > 1:
                self.splines_.append((j, Spline.of(x, knots, weights, EPS)))
        return self

    def transform(self, X: Any) -> Floats:
        """Return the splines of all columns side by side."""
        check_is_fitted(self, "splines_")
        X = np.asarray(X, dtype=np.float64)
        parts = [spline.columns(X[:, j]) for j, spline in self.splines_]
        return np.hstack([np.zeros((len(X), 0 if parts else 1)), *parts])
