"""Rankings of features by lasso and elastic net.

The paper that compares with them leaves open how classes are coded, how columns are scaled, which
penalty is chosen and how a model becomes a ranking of t features; here each of these is an option.

The models are least squares with an elastic net penalty a, of which l is the lasso's part,

    (1 / 2N) ||Y - XB||^2 + a l ||B||_21 + a (1 - l) / 2 ||B||^2

for centered Y (N, q) and X (N, n); ||B||_21 is the sum of the norms of the rows of B (n, q), one
row a feature. This is the objective of scikit-learn's `MultiTaskElasticNet`, and of its
`ElasticNet` if q = 1.

scikit-learn solves it for the few columns that matter, the working set. One product with all
columns then shows whether any other column would enter; it joins the set, and the rest is repeated.
So the table is never standardized in memory, sparse tables stay sparse, and the cost of a penalty
is about one read of the table.

References
----------
R. Tibshirani, "Regression shrinkage and selection via the lasso", Journal of the Royal Statistical
Society B 58, 1996. https://doi.org/10.1111/j.2517-6161.1996.tb02080.x

H. Zou and T. Hastie, "Regularization and variable selection via the elastic net", Journal of the
Royal Statistical Society B 67, 2005. https://doi.org/10.1111/j.1467-9868.2005.00503.x
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import enet_path
from sklearn.model_selection import check_cv

from orthoselect.criteria.base import Criterion
from orthoselect.embedded.ranking import RankingState, check_number, in_order
from orthoselect.encode import Design, Labels, Response
from orthoselect.encode.response import ENCODINGS, check_choice, encode_labels
from orthoselect.errors import InputError
from orthoselect.matrix import ScaledMatrix, center
from orthoselect.matrix.base import Floats, Indices, Matrix

RANKINGS = ("path", "coefficients")
_FOLDS = 5
_TOLERANCES = {"path": 1e-8, "coefficients": 1e-4}
_N_PENALTIES, _EPS = 100, 1e-3
# Features whose entries lie closer than this (relatively, in the penalty) enter together.
_TOGETHER = 1e-6
_NEXT_TO_NONE = 1e-9  # of the largest coefficient
_EQUAL = 1e-6  # coefficients this close (relatively) are not told apart
# A column joins the working set when its gradient is this close to the bound, relatively; one
# that joins in vain costs little.
_CLOSE = 1e-7
_PRODUCT_ROUNDINGS = 16.0
_JOIN = 10  # at least so many at once, if there are
_NOTHING = "the response or every feature is constant, so there is nothing to explain."


class PenalizedRanking(Criterion):
    """Features ranked by least squares with a lasso or an elastic net penalty.

    Columns are centered and, unless told otherwise, scaled to standard deviation one. A response
    of numbers is standardized too; classes become indicator columns that share one model, in which
    a feature has a coefficient for each column and enters for all of them at once (scikit-learn's
    `MultiTaskLasso`; for one column that is `Lasso`).

    Parameters
    ----------
    name : {"lasso", "elastic_net"}
        What `method` calls it.
    l1_ratio : float, default=0.5
        The lasso's part of the penalty, in (0, 1]; scikit-learn's `l1_ratio`, 1 for the lasso. The
        rest is on the squares of the coefficients, which lets correlated features in together.
    ranking : {"path", "coefficients"}, default="path"
        "path": by the order in which features get a coefficient as the penalty falls; the gain is
        the penalty at which it was first seen to have one; those that enter together go by the
        size of the coefficient. "coefficients": by that size (of several: their norm) at one
        penalty, which is the gain. Of equal sizes the lowest index is first.
    coding : {"onehot", "dummy", "effects", "contrast", "ordinal"}, default="onehot"
        How classes become columns. Two classes are one column also by "onehot": the second would
        say the same.
    standardize : bool, default=True
        Whether columns are scaled to standard deviation one.
    penalty : float, optional
        For "coefficients": the penalty (`alpha` of scikit-learn). Without it, the penalty with the
        least mean squared error in cross-validation, the largest of equals.
    cv : int or scikit-learn splitter, optional
        For "coefficients" without `penalty`: the folds. By default 5, not shuffled, and stratified
        if y is one column of classes. Columns are centered and scaled anew within each fold.
    n_penalties : int, default=100
        Penalties on the grid, at equal ratios, from the largest that lets a feature in. For "path",
        the grid is refined wherever several features enter between two penalties.
    eps : float, default=1e-3
        Smallest penalty of the grid over the largest. For "path", if too few features enter until
        then, penalties go on to `eps` squared.
    tol : float, optional
        When scikit-learn's solver stops. By default 1e-8 for "path", where it is to tell which of
        two features enters first, and 1e-4, scikit-learn's own, for "coefficients".
    max_iter : int, default=100000
        After how many rounds it gives up, with a warning.
    """

    def __init__(
        self,
        name: str,
        *,
        l1_ratio: float = 0.5,
        ranking: str = "path",
        coding: str = "onehot",
        standardize: bool = True,
        penalty: float | None = None,
        cv: Any = None,
        n_penalties: int = _N_PENALTIES,
        eps: float = _EPS,
        tol: float | None = None,
        max_iter: int = 100_000,
    ) -> None:
        self.name = name
        check_choice(ranking, RANKINGS, "ranking")
        check_choice(coding, ENCODINGS, "coding")
        if not isinstance(standardize, (bool, np.bool_)):
            raise InputError(f"`standardize` should be True or False; got {standardize!r}.")
        check_number("n_penalties", n_penalties, whole=True, least=2)
        check_number("eps", eps, below=1.0)
        check_number("max_iter", max_iter, whole=True, least=1)
        for option, value in (("tol", tol), ("penalty", penalty)):
            if value is not None:
                check_number(option, value)
        for option, value in (("penalty", penalty), ("cv", cv)):
            if ranking == "path" and value is not None:
                raise InputError(
                    f"`{option}` is for `ranking='coefficients'`; `ranking='path'` goes through "
                    f"all penalties. Leave it out."
                )
        if penalty is not None and cv is not None:
            raise InputError("either `penalty` or `cv` should be given, not both: cv finds one.")
        if penalty is not None and (n_penalties, eps) != (_N_PENALTIES, _EPS):
            raise InputError(
                "`n_penalties` and `eps` make the grid that cv chooses from; with `penalty` there "
                "is none. Leave them out."
            )
        check_number("l1_ratio", l1_ratio)
        if l1_ratio > 1:
            raise InputError(f"`l1_ratio` should be above 0 and at most 1; got {l1_ratio!r}.")
        self._l1_ratio = float(l1_ratio)
        self._ranking, self._coding, self._standardize = ranking, coding, bool(standardize)
        self._penalty, self._cv = penalty, _FOLDS if cv is None else cv
        self._n_penalties, self._eps = int(n_penalties), float(eps)
        self._tol = float(tol) if tol is not None else _TOLERANCES[ranking]
        self._max_iter = int(max_iter)

    def ceiling(self, response: Response) -> float:
        """Return nan: penalties and coefficients have no bound."""
        return math.nan

    def start(
        self, design: Design, response: Response, weights: Floats | None = None, size: int = 1
    ) -> RankingState:
        """Return the ranking, of which nothing is taken."""
        w = np.ones(design.matrix.shape[0]) if weights is None else weights
        Y = np.hstack([_columns(part, self._coding, w) for part in response.parts])
        problem = self._problem(design, response, Y, weights)
        if not problem.largest:
            return RankingState([], np.zeros(len(design.features)), _NOTHING)
        if self._ranking == "path":
            entries, reason = self._enter(problem, size)
            columns, gains = list(entries), list(entries.values())
        else:
            penalty = self._penalty
            if penalty is None:
                penalty = self._choose(design, response, Y, w, self._grid(problem.largest))
            sizes = _sizes(problem, penalty)
            columns = _by_size(sizes)
            gains = [sizes[j] for j in columns]
            reason = f"at penalty {penalty:.4g} all other coefficients are zero."
        feature_of = {int(j): f for f, j in enumerate(design.single)}
        order = [feature_of[j] for j in columns]
        scores = np.zeros(len(design.features))
        scores[order] = gains
        return RankingState(order, scores, reason)

    def _problem(
        self, design: Design, response: Response, Y: Floats, weights: Floats | None
    ) -> PenalizedLeastSquares:
        """Return the model of table and response, centered and scaled with these weights."""
        w = np.ones(len(Y)) if weights is None else weights
        X, _ = center(design.matrix, response.V, weights, ignored=design.unowned)
        norms = math.sqrt(w.sum()) if self._standardize else _norms(design.matrix, w)
        factors = np.where(X.alive, norms, 0.0)
        return PenalizedLeastSquares(X, factors, Y, w, self._l1_ratio, self._tol, self._max_iter)

    def _grid(self, largest: float) -> Floats:
        return largest * np.geomspace(1.0, self._eps, self._n_penalties)

    def _enter(self, problem: PenalizedLeastSquares, size: int) -> tuple[dict[int, float], str]:
        """Return the first columns that enter, in order, each with the penalty at that point."""
        entered: dict[int, float] = {}

        def look(above: float, penalty: float, sizes: dict[int, float]) -> None:
            new = [j for j in sizes if j not in entered]
            if len(new) < 2 or above <= penalty * (1 + _TOGETHER):
                entered.update(dict.fromkeys(_by_size({j: sizes[j] for j in new}), penalty))
                return
            between = math.sqrt(above * penalty)
            look(above, between, _sizes(problem, between))
            if len(entered) < size:
                look(between, penalty, sizes)

        grid = self._grid(problem.largest)
        beyond = self._grid(grid[-1])[1:]
        above = problem.largest
        for penalty in [*grid[1:], *beyond]:
            look(above, penalty, _sizes(problem, penalty))
            if len(entered) >= size:
                break
            above = penalty
        return entered, (
            f"no other feature enters down to a penalty of {beyond[-1]:.3g} "
            f"(the first entered at {problem.largest:.3g})."
        )

    def _choose(
        self, design: Design, response: Response, Y: Floats, w: Floats, grid: Floats
    ) -> float:
        """Return the penalty of the grid with the least squared error in cross-validation."""
        rows = np.flatnonzero(w > 0)
        errors = np.zeros(len(grid))
        for train, test in self._folds(response, rows):
            fold = np.zeros(len(w))
            fold[rows[train]] = w[rows[train]]
            held = rows[test]
            problem = self._problem(design, response, Y, fold)
            X = problem.X
            A = np.zeros((len(held), 0))  # columns of the working set, in the rows held out
            for k, penalty in enumerate(grid):
                B = problem.solve(penalty)
                new = problem.working[A.shape[1] :]
                if len(new):
                    more = (X.matrix.columns(new)[held] - X.means[new]) / X.norms[new]
                    A = np.hstack([A, more * problem.factors[new]])
                squares = (Y[held] - problem.means - A @ B) ** 2
                errors[k] += np.average(squares.mean(axis=1), weights=w[held])
        return float(grid[errors.argmin()])

    def _folds(self, response: Response, rows: NDArray) -> list[tuple[NDArray, NDArray]]:
        parts = response.parts
        is_classes = len(parts) == 1 and isinstance(parts[0], Labels)
        y = parts[0].codes[rows] if is_classes else np.zeros(len(rows))
        try:
            folds = check_cv(self._cv, y, classifier=is_classes)
            return list(folds.split(np.zeros((len(rows), 1)), y))
        except (ValueError, TypeError) as error:
            raise InputError(f"`cv` should be a number of folds or a splitter: {error}") from None


def _columns(part: Any, coding: str, w: Floats) -> Floats:
    if isinstance(part, Labels):
        Y = encode_labels(part, coding)
        return Y[:, 1:] if coding == "onehot" and len(part.levels) == 2 else Y
    y = part - np.average(part, weights=w[:, None])
    spread = math.sqrt(np.average(y**2, weights=w[:, None]))
    return y / (spread or 1.0)


def _norms(matrix: Matrix, w: Floats) -> Floats:
    """Norms of the centered columns, in the units of the user."""
    norms = np.empty(matrix.shape[1])
    for J in matrix._batches(np.arange(matrix.shape[1])):
        A = matrix.columns(J)
        A -= np.average(A, axis=0, weights=w)
        norms[J] = np.sqrt(w @ A**2)
    return norms


def _sizes(problem: PenalizedLeastSquares, penalty: float) -> dict[int, float]:
    """Return the columns that have a coefficient, and its size.

    Next to none is rounding: a copy of a column has no claim of its own.
    """
    norms = np.linalg.norm(problem.solve(penalty), axis=1)
    least = _NEXT_TO_NONE * norms.max(initial=0.0)
    return {int(j): float(v) for j, v in zip(problem.working, norms) if v > least}


def _by_size(sizes: dict[int, float]) -> list[int]:
    """Return the columns, the largest coefficient first, of equal ones the lowest index."""
    columns = sorted(sizes)
    return [columns[k] for k in in_order(np.array([sizes[j] for j in columns]), _EQUAL)]


class PenalizedLeastSquares:
    """The model of one table, with a warm start from each solution to the next.

    Columns of X have norm one, `factors` are their norms in the model; Y are the responses, `means`
    theirs, w the row weights. `l1_ratio` is the l of the objective; `tol` and `max_iter` are as in
    scikit-learn. `working` are the columns of the working set, the rows of a solution; `largest` is
    the smallest penalty for which nothing enters.
    """

    def __init__(
        self,
        X: ScaledMatrix,
        factors: Floats,
        Y: Floats,
        w: Floats,
        l1_ratio: float,
        tol: float,
        max_iter: int,
    ) -> None:
        self.X, self.factors, self.means = X, factors, np.average(Y, axis=0, weights=w)
        self._Y, self._total = (Y - self.means) * np.sqrt(w)[:, None], float(w.sum())
        self._l1_ratio, self._tol, self._max_iter = l1_ratio, tol, max_iter
        self.working: Indices = np.zeros(0, dtype=np.intp)
        self._A = np.zeros((self.X.shape[0], 0))  # the columns of the working set
        self._B = np.zeros((0, self._Y.shape[1]))  # the last solution
        self._at_start = self._gradients(self._Y)
        self.largest = float(self._at_start.max(initial=0.0)) / l1_ratio
        self._compress()

    def solve(self, penalty: float) -> Floats:
        """Return the rows of B of the working set; all others are zero."""
        while True:
            if len(self.working):
                self._B = self._solve_small(penalty)
            residual = self._Y - self._A @ self._B
            rounding = _PRODUCT_ROUNDINGS * self.X.matrix.arithmetic * np.linalg.norm(residual)
            bound = penalty * self._l1_ratio * (1 - _CLOSE)
            bound -= float(rounding) * float(self.factors.max(initial=0.0)) / self._total
            gradients = self._gradients(residual) if len(self.working) else self._at_start.copy()
            gradients[self.working] = -1.0
            found = np.flatnonzero(gradients > bound)
            if not found.size:
                return self._B.copy()
            many = max(_JOIN, len(self.working))
            foremost = found[np.argsort(-gradients[found], kind="stable")[:many]]
            self._join(np.sort(foremost))  # of equal columns the solver prefers the first

    def _gradients(self, R: Floats) -> Floats:
        """Norms of X'R / N, column by column."""
        return np.linalg.norm(self.X.cross(R), axis=0) * self.factors / self._total

    def _join(self, J: Indices) -> None:
        columns = self.X.columns(J) * self.factors[J]
        self.working = np.concatenate([self.working, J])
        self._A = np.hstack([self._A, columns])
        self._B = np.vstack([self._B, np.zeros((len(J), self._Y.shape[1]))])
        self._compress()

    def _compress(self) -> None:
        """Replace the rows of [A, Y] by fewer with the same inner products."""
        both = np.hstack([self._A, self._Y])
        if both.shape[0] > both.shape[1]:
            both = np.asarray(np.linalg.qr(both, mode="r"))
        # scikit-learn divides by the number of rows, which is not that of the problem any more.
        both = both * np.sqrt(both.shape[0] / self._total)
        p = len(self.working)
        self._small_A, self._small_Y = np.asfortranarray(both[:, :p]), both[:, p:]

    def _solve_small(self, penalty: float) -> Floats:
        single = self._Y.shape[1] == 1
        _, coefficients, _ = enet_path(
            self._small_A,
            self._small_Y[:, 0] if single else np.asfortranarray(self._small_Y),
            l1_ratio=self._l1_ratio,
            alphas=[penalty],
            coef_init=self._B[:, 0].copy() if single else np.asfortranarray(self._B.T),
            tol=self._tol,
            max_iter=self._max_iter,
            precompute=False,
        )
        return coefficients.reshape(-1, len(self.working)).T.copy()
