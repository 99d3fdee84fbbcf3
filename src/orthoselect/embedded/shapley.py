"""Features ranked by Shapley values of linear discriminant analysis.

The discriminant scores of LDA are linear in the features. If those that are absent from a coalition
take their mean, the Shapley value of feature k for the score of class g in row i is

    phi_igk = coef_gk (x_ik - mean_k),

so that no coalition has to be tried. The score of a feature is the sum of |phi_igk| over the rows
and the classes: sum_g |coef_gk| times sum_i |x_ik - mean_k|.

References
----------
S. M. Lundberg and S.-I. Lee, "A unified approach to interpreting model predictions", Advances in
Neural Information Processing Systems 30, 2017. https://doi.org/10.48550/arXiv.1705.07874
"""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from orthoselect.criteria.base import Criterion
from orthoselect.embedded.ranking import RankingState, check_number, in_order
from orthoselect.encode import Design, Labels, Response
from orthoselect.encode.response import check_choice
from orthoselect.errors import InputError
from orthoselect.matrix import center
from orthoselect.matrix.base import Floats

SOLVERS = ("svd", "lsqr", "eigen")
# Scores closer than this (relatively) are equal, and the lowest index is first.
_TIE = 1e-9


class ShapleyRanking(Criterion):
    """Features ranked by the absolute Shapley values of an LDA model of all of them.

    Columns are standardized first: that changes no Shapley value, but keeps LDA's tolerances and
    its shrinkage from depending on units. Constant columns are left out of the model. Two classes
    have one discriminant score between them, more have one each. The share of a class among the
    rows is its prior. LDA takes dense tables only, so a sparse one is written out in double
    precision, and so is any other.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        As in scikit-learn's `LinearDiscriminantAnalysis`. "svd" copes with collinear columns and
        with more columns than rows. "lsqr" is several times quicker for tall tables, and equal up
        to a factor if no columns are collinear; if some are, it wants `shrinkage`.
    shrinkage : None, "auto" or float in [0, 1], default=None
        As in scikit-learn, on the standardized columns; not with "svd".
    tol : float, default=1e-4
        For "svd": directions with a smaller singular value are left out.
    """

    name = "shapley"

    def __init__(
        self, *, solver: str = "svd", shrinkage: float | str | None = None, tol: float = 1e-4
    ) -> None:
        check_choice(solver, SOLVERS, "solver")
        _check_shrinkage(shrinkage, solver)
        check_number("tol", tol)
        if solver != "svd" and tol != 1e-4:
            raise InputError(f"`tol` is for `solver='svd'`; {solver!r} has none. Leave it out.")
        self._model: Any = LinearDiscriminantAnalysis(
            solver=solver, shrinkage=shrinkage, tol=float(tol)
        )

    def ceiling(self, response: Response) -> float:
        """Return nan: Shapley values have no bound."""
        return math.nan

    def start(
        self, design: Design, response: Response, weights: Floats | None = None, size: int = 1
    ) -> RankingState:
        """Return the ranking, of which nothing is taken."""
        codes = _codes(response)
        X, _ = center(design.matrix, response.V, None, ignored=design.unowned)
        features = np.flatnonzero(X.alive[design.single])
        scores = np.zeros(len(design.features))
        if len(features) and len(codes) > response.m + 1 > 1:
            A = X.columns(design.single[features]) * math.sqrt(X.shape[0])
            try:
                coef = self._model.fit(A, codes).coef_  # (classes, or 1 for two; n)
            except np.linalg.LinAlgError as error:
                raise InputError(
                    f"`solver={self._model.solver!r}` should be given columns that are not "
                    f"collinear; it failed ({error}). Use `solver='svd'`, or give `shrinkage`."
                ) from None
            scores[features] = np.abs(coef).sum(axis=0) * np.abs(A).sum(axis=0)
        return RankingState(in_order(scores, _TIE), scores, _exhausted(response, len(codes)))


def _codes(response: Response) -> Any:
    parts = response.parts
    if len(parts) != 1 or not isinstance(parts[0], Labels):
        found = f"{len(parts)} responses" if len(parts) > 1 else "numbers"
        raise InputError(
            f"method 'shapley' is for one column of classes; y holds {found}. Pass one column, "
            f"and `task='classification'` if its numbers are classes."
        )
    return parts[0].codes


def _exhausted(response: Response, n_rows: int) -> str:
    if n_rows <= response.m + 1:
        return "there are as many classes as rows, so that no model can be fitted."
    return "every other feature is constant, or has no part in the model."


def _check_shrinkage(shrinkage: Any, solver: str) -> None:
    if shrinkage is None:
        return
    number = isinstance(shrinkage, numbers.Real) and not isinstance(shrinkage, bool)
    if not (number and 0 <= shrinkage <= 1) and not (
        isinstance(shrinkage, str) and shrinkage == "auto"
    ):
        raise InputError(
            f"`shrinkage` should be None, 'auto' or a number from 0 to 1; got {shrinkage!r}."
        )
    if solver == "svd":
        raise InputError("`shrinkage` goes with `solver='lsqr'` or 'eigen'; 'svd' has none.")
