"""`RBFRegressor` and `RBFClassifier`: centers are selected, a width is chosen; they predict."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from orthoselect.column_spec import is_whole
from orthoselect.encode.response import check_choice, class_rows
from orthoselect.encode.weights import check_weights
from orthoselect.errors import InputError, SearchStoppedWarning, warn
from orthoselect.matrix import KernelMatrix
from orthoselect.matrix.base import Floats
from orthoselect.matrix.kernel import KERNELS
from orthoselect.radial.candidate_rows import Standard, candidate_rows, too_far, widths_to_try
from orthoselect.radial.growth import Network, Task, grow

_MOST_ITERATIONS = 1000
_ROWS_AT_ONCE = 1 << 20  # numbers of rows and centers that predictions make at a time


class _RadialNetwork(BaseEstimator):
    """What both share: parameters, growth, and the chosen functions at other points."""

    def __init__(
        self,
        n_centers: int | str = "auto",
        *,
        kernel: str = "gaussian",
        width: float | str | Sequence[float] = "auto",
        candidates: int | None = 1000,
        linear: bool = False,
        regularization: float = 0.0,
        standardize: bool = True,
        center_cost: float = 2.0,
        patience: int = 5,
        random_state: int = 0,
    ) -> None:
        self.n_centers = n_centers
        self.kernel = kernel
        self.width = width
        self.candidates = candidates
        self.linear = linear
        self.regularization = regularization
        self.standardize = standardize
        self.center_cost = center_cost
        self.patience = patience
        self.random_state = random_state

    def _grow(self, X: Floats, Y: Floats, weights: Floats | None) -> Network:
        """Grow a network for each width, keep the best, and store it."""
        self._standard = Standard.of(X, weights, scaled=bool(self.standardize))
        points = self._standard.apply(X)
        rows = candidate_rows(points, weights, self.candidates, self.random_state)
        size = None if self.n_centers == "auto" else int(self.n_centers)
        if size is not None and size > len(rows):
            raise InputError(
                f"`n_centers` should be at most the number of different rows to choose from, "
                f"{len(rows)}; got {size}."
            )
        cost, penalty = float(self.center_cost), float(self.regularization)
        task = Task(Y, weights, size, cost, int(self.patience), penalty)
        names = ["1", *(self._input_names() if self.linear else ()), *(f"row {i}" for i in rows)]
        self.widths_tried_ = {}
        best: tuple[tuple[bool, float], Network, float] | None = None
        for width in self._widths(points, weights):
            centers, linear = points[rows], bool(self.linear)
            matrix = KernelMatrix(points, centers, self.kernel, width, constant=True, linear=linear)
            self._check_functions(points, width, len(rows))
            network = grow(matrix, names, task)
            self.widths_tried_[width] = network.error(size)
            has_fewer = size is not None and network.n_centers < size
            standing = has_fewer, self.widths_tried_[width]
            if best is None or standing < best[0]:
                best = standing, network, width
        assert best is not None
        _, network, self.width_ = best
        if size is not None and network.n_centers < size:
            reason = network.path.stopped or ""
            warn(SearchStoppedWarning(network.n_centers, size, reason, "centers"))
        self._store(network, X, points, rows)
        return network

    def _store(self, network: Network, X: Floats, points: Floats, rows: Any) -> None:
        self.path_ = network.path
        self.press_, self.adjusted_press_ = network.press, network.adjusted
        self.n_centers_ = network.n_centers
        first = 1 + (X.shape[1] if self.linear else 0)
        taken = np.array(network.columns, dtype=np.intp)
        self._inputs = taken[(taken > 0) & (taken < first)] - 1  # those that are not combinations
        self.center_rows_ = rows[taken[taken >= first] - first]
        self.centers_ = X[self.center_rows_]
        self._centers = points[self.center_rows_]

    def _check_functions(self, points: Floats, width: float, count: int) -> None:
        """Raise where squares of functions would overflow, at the largest distance there may be."""
        with np.errstate(over="ignore", invalid="ignore"):
            extent = points.max(axis=0) - points.min(axis=0)
            largest = KERNELS[self.kernel](((extent / width) ** 2).sum(keepdims=True))
            squares = largest**2 * len(points) * count
        if not np.isfinite(squares).all():
            raise too_far(
                f"squares of radial functions should be numbers; distances are too large for "
                f"the width {width:.3g}"
            )

    def _widths(self, points: Floats, weights: Floats | None) -> list[float]:
        if not isinstance(self.width, str):
            return [float(width) for width in np.atleast_1d(np.asarray(self.width))]
        if self.kernel == "thin_plate":
            return [1.0]  # it has none, but for the unit that distances are measured in
        return widths_to_try(points, weights)

    def _input_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else list(names)

    def _functions(self, X: Floats) -> Floats:
        """Return the chosen terms but the constant at points X, (N, terms)."""
        points = self._standard.apply(X)
        matrix = KernelMatrix(points, self._centers, self.kernel, self.width_, linear=True)
        radial = np.arange(matrix.first_center, matrix.shape[1])
        return matrix.columns(np.concatenate([self._inputs, radial]))

    def _in_blocks(self, X: Any) -> Any:
        """Check points to predict at, and yield blocks of them."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        height = max(1, _ROWS_AT_ONCE // max(1, len(self._centers)))
        for start in range(0, len(X), height):
            yield X[start : start + height]

    def _check(self) -> None:
        """Raise for parameters that are none."""
        check_choice(self.kernel, KERNELS, "kernel")
        if not (self.n_centers == "auto" or _is_count(self.n_centers)):
            raise InputError(
                f"`n_centers` should be a whole number of at least 1, or 'auto'; got "
                f"{self.n_centers!r}."
            )
        if self.candidates is not None and not _is_count(self.candidates):
            raise InputError(
                f"`candidates` should be a whole number of at least 1, or None for all rows; got "
                f"{self.candidates!r}."
            )
        if not _is_count(self.patience):
            raise InputError(
                f"`patience` should be a whole number of at least 1; got {self.patience!r}."
            )
        if not _is_number(self.regularization) or not 0 <= self.regularization < np.inf:
            raise InputError(
                f"`regularization` should be a number of at least 0; got {self.regularization!r}."
            )
        if not _is_number(self.center_cost) or not 1 <= self.center_cost < np.inf:
            raise InputError(
                f"`center_cost` should be a number of at least 1; got {self.center_cost!r}."
            )
        is_list = isinstance(self.width, (list, tuple, np.ndarray))
        given: Any = self.width if is_list else [self.width]
        right = len(given) > 0 and all(_is_number(width) and 0 < width < np.inf for width in given)
        if not right and not (isinstance(self.width, str) and self.width == "auto"):
            raise InputError(
                f"`width` should be a positive number, a list of them, or 'auto'; got "
                f"{self.width!r}."
            )

    def _weights(self, given: Any, n_rows: int) -> Floats | None:
        return check_weights(given, n_rows, keep_whole=True)


class RBFRegressor(RegressorMixin, _RadialNetwork):
    """A sum of radial functions around some of the training rows, selected one after the other.

    Each center is the row whose function explains most of what those before it leave: by the error
    reduction ratio (ERR), summed over the outputs. Leaving each row out, which costs nothing extra
    along the path, says how many centers there should be, and how wide the functions. Coefficients
    are those of least squares.

    Parameters
    ----------
    n_centers : int or "auto", default="auto"
        How many centers; if there are fewer, a warning says why. "auto": where the adjusted error
        of leaving each row out is smallest along the path, which goes no further than half as many
        terms as there are rows.
    kernel : {"gaussian", "multiquadric", "inverse_multiquadric", "thin_plate"}
        The function of the distance r in widths: exp(-r^2), the root of r^2 + 1, one over that,
        and r^2 ln r. Default is "gaussian".
    width : float, list of float or "auto", default="auto"
        The width of the functions, in units of the inputs as they are used: of standard deviations
        if they are standardized. Of several, the one with the smallest error of leaving rows out,
        a path for each. "auto": an eighth to four times the root mean square of the distances
        between rows; 1 for "thin_plate", which has no width but this unit. Where a number of
        centers is asked for, widths that have so many come first.
    candidates : int or None, default=1000
        At most so many rows may become centers, drawn at random; None: all of them.
    linear : bool, default=False
        Whether the inputs themselves are terms, too. They and the constant are always taken, and
        are no centers.
    regularization : float, default=0.0
        What is added to w'w, the sum of squares of a function made orthogonal to those before, in
        ERR, coefficients and leverages: regularized orthogonal least squares. 0: least squares.
    standardize : bool, default=True
        Whether inputs are scaled to deviation one before distances are taken.
    center_cost : float, default=2.0
        How many parameters a center counts as when their number and the width are decided. 1:
        errors of leaving rows out as they are. Centers were selected by the same rows, so these
        errors are too small, and smallest too late.
    patience : int, default=5
        With "auto", the path ends after so many centers without a smaller error.
    random_state : int, default=0
        Seed of the draw of candidates.

    Attributes
    ----------
    centers_ : array of shape (n_centers_, inputs)
        The centers in order of selection, as they are in X.
    center_rows_ : integer array of shape (n_centers_,)
        The rows of X that they are.
    n_centers_ : int
    width_ : float
    coef_ : array of shape (terms,) or (terms, outputs)
        Coefficients: of the inputs, if `linear`, then of the functions; inputs that are
        combinations of others have none.
    intercept_ : float or array of shape (outputs,)
    path_ : SelectionPath
        One step a term; gains are shares of the variance. It goes on a few steps after the last
        that counts; `path_.chosen` counts.
    press_ : array
        Mean squared error of leaving each row out, as a share of the variance: before the first
        center, then after each.
    adjusted_press_ : array
        The same, with each center counted `center_cost` times: what decides.
    widths_tried_ : dict of float to float
        Its value at the chosen number of centers, for each width; that of `press_` where a number
        was asked for.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if X has column names.

    Notes
    -----
    Errors of leaving rows out are here to compare sizes and widths with, not to report: the rows
    that are left out have had a part in selecting the centers. For an error to report, hold out
    rows, or use `sklearn.model_selection.cross_val_score`.

    References
    ----------
    S. Chen, C. F. N. Cowan and P. M. Grant, "Orthogonal least squares learning algorithm for radial
    basis function networks", IEEE Transactions on Neural Networks 2, 1991.
    https://doi.org/10.1109/72.80341

    Examples
    --------
    >>> import numpy as np
    >>> from orthoselect import RBFRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (200, 1))
    >>> y = np.sinc(X[:, 0]) + 0.1 * rng.normal(size=200)
    >>> model = RBFRegressor().fit(X, y)
    >>> model.n_centers_
    5
    >>> model.predict([[0.0], [1.0]]).round(1)
    array([1., 0.])
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Select centers and fit their coefficients.

        Parameters
        ----------
        X : array-like or dataframe of shape (N, inputs)
        y : array-like of shape (N,) or (N, outputs)
        sample_weight : array-like of shape (N,), optional
            Row weights: a whole number counts as that many copies of the row.

        Returns
        -------
        self : RBFRegressor
        """
        self._check()
        how = {"dtype": np.float64, "multi_output": True, "y_numeric": True}
        _check_rows(X, y)
        _check_numbers(y)
        X, y = validate_data(self, X, y, ensure_min_samples=2, **how)
        weights = self._weights(sample_weight, len(X))
        Y = np.asarray(y, dtype=np.float64)
        Y = Y[:, None] if Y.ndim == 1 else Y
        # A power of two changes no digit, and lets no square overflow or vanish.
        exponent = int(np.frexp(np.abs(Y).max())[1])
        Y = np.ldexp(Y, -exponent)
        means = np.average(Y, axis=0, weights=weights)
        centered = Y - means
        size = np.abs(Y).max(axis=0, initial=0.0)
        centered[:, np.abs(centered).max(axis=0) <= 1e-13 * size] = 0.0  # what means round off
        network = self._grow(X, centered, weights)
        root = None if weights is None else np.sqrt(weights)
        coef = network.coefficients(centered, root)
        self._is_single = y.ndim == 1
        self.intercept_ = np.ldexp(coef[0] + means, exponent)
        self.coef_ = np.ldexp(coef[1:], exponent)
        if self._is_single:
            self.intercept_, self.coef_ = float(self.intercept_[0]), self.coef_[:, 0]
        return self

    def predict(self, X: Any) -> Floats:
        """Return the output, or outputs, at the points X (N, inputs)."""
        parts = [self._functions(part) @ self.coef_ for part in self._in_blocks(X)]
        return np.concatenate(parts) + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class RBFClassifier(ClassifierMixin, _RadialNetwork):
    """Classes by radial functions around some of the training rows, selected one after the other.

    Each center is the row whose function, with those before it, explains most of the classes: by
    the sum of squared canonical correlations (SOCC), as features are selected elsewhere in this
    package. Leaving each row out says how many centers there should be, and how wide the functions.
    A logistic regression on the chosen functions gives the probabilities.

    Parameters
    ----------
    n_centers, kernel, width, candidates, linear, standardize, center_cost, patience, random_state
        As for `RBFRegressor`.
    regularization : float, default=0.0
        As for `RBFRegressor`, in the selection.

    Attributes
    ----------
    classes_ : array
    centers_, center_rows_, n_centers_, width_, path_, press_, adjusted_press_, widths_tried_
        As for `RBFRegressor`. The variance is that of class indicators, made orthonormal.
    coef_ : array of shape (1 or classes, terms)
        Coefficients of the log-odds: of the inputs, if `linear`, then of the functions. Of two
        classes, those of the second.
    intercept_ : array of shape (1 or classes,)
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if X has column names.

    Notes
    -----
    The logistic regression is scikit-learn's, with its usual penalty (C=1) on functions scaled to
    deviation one, so that classes which functions tell apart have finite coefficients. That it sees
    the rows by which centers were selected makes probabilities somewhat too sure in small tables;
    `sklearn.calibration.CalibratedClassifierCV` takes this classifier where that matters.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from orthoselect import RBFClassifier
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> model = RBFClassifier(n_centers=8).fit(X[:200], y[:200])
    >>> model.centers_.shape
    (8, 2)
    >>> model.score(X[200:], y[200:])
    0.98
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Select centers and fit the probabilities.

        Parameters
        ----------
        X : array-like or dataframe of shape (N, inputs)
        y : array-like of shape (N,)
            Classes, two or more.
        sample_weight : array-like of shape (N,), optional
            Row weights: a whole number counts as that many copies of the row.

        Returns
        -------
        self : RBFClassifier
        """
        self._check()
        _check_rows(X, y)
        X, y = validate_data(self, X, y, ensure_min_samples=2, dtype=np.float64)
        check_classification_targets(y)
        weights = self._weights(sample_weight, len(X))
        self.classes_, codes = np.unique(y, return_inverse=True)
        sizes = np.bincount(codes, weights, minlength=len(self.classes_)).astype(np.float64)
        present = sizes > 0  # a class may have rows without weight only
        if present.sum() < 2:
            raise InputError(
                f"there should be two classes or more; y has one class, "
                f"{self.classes_.tolist()[present.argmax()]!r}."
            )
        V = np.zeros((len(self.classes_), int(present.sum()) - 1))
        V[present] = class_rows("dummy", sizes[present])
        self._grow(X, V[codes], weights)
        self._fit_odds(X, codes, weights)
        return self

    def _fit_odds(self, X: Floats, codes: Any, weights: Floats | None) -> None:
        A = self._functions(X)
        if not A.shape[1]:  # nothing is known but how frequent classes are
            shares = np.bincount(codes, weights, minlength=len(self.classes_)) / len(codes)
            odds = np.log(np.maximum(shares, np.finfo(float).tiny))
            self.intercept_ = odds[1:] - odds[:1] if len(odds) == 2 else odds
            self.coef_ = np.zeros((len(self.intercept_), 0))
            return
        scaler = StandardScaler().fit(A, sample_weight=weights)
        logistic = LogisticRegression(max_iter=_MOST_ITERATIONS)
        logistic.fit(scaler.transform(A), codes, sample_weight=weights)
        self.coef_ = logistic.coef_ / scaler.scale_
        self.intercept_ = logistic.intercept_ - self.coef_ @ scaler.mean_

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class at the points X, (N, classes)."""
        parts = [self._functions(part) @ self.coef_.T for part in self._in_blocks(X)]
        odds = np.concatenate(parts) + self.intercept_
        if odds.shape[1] == 1:
            odds = np.column_stack([np.zeros(len(odds)), odds[:, 0]])
        P = np.exp(odds - odds.max(axis=1, keepdims=True))
        return P / P.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Any:
        """Return the most probable class at the points X, (N,)."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]


def _is_count(value: Any) -> bool:
    return is_whole(value) and value >= 1


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))


def _check_rows(X: Any, y: Any) -> None:
    """Raise in one line for text, gaps and a response by its name, which networks do not take.

    What is wrong with shapes and types otherwise is scikit-learn's to say.
    """
    if isinstance(y, str):
        raise InputError(
            f"`y` should hold a number or a class for each row; got the name {y!r}. Pass the "
            f"column, and the others as `X`."
        )
    names = [str(name) for name in getattr(X, "columns", ())]
    values = np.asarray(X) if not hasattr(X, "tocsr") else np.zeros((0, 0))
    if values.ndim != 2 or values.dtype.kind in "cMm":
        return
    at = range(values.shape[1])
    name_of = names.__getitem__ if len(names) == len(at) else "x{}".format
    if values.dtype.kind in "OUS":
        text = [name_of(j) for j in at if any(isinstance(v, (str, bytes)) for v in values[:, j])]
        if text:
            raise InputError(
                f"`X` should hold numbers, for distances; {_some(text)} text. Omit such columns, "
                f"or encode them as numbers."
            )
    elif values.dtype.kind == "f":
        gaps = [name_of(j) for j in at if np.isnan(values[:, j]).any()]
        if gaps:
            raise InputError(
                f"`X` should have no gaps; {_some(gaps)} NaN. Fill them first, for "
                f"example with `sklearn.impute.SimpleImputer`."
            )


def _check_numbers(y: Any) -> None:
    """Raise for classes where numbers are to be explained."""
    values = np.asarray(y) if y is not None and not hasattr(y, "tocsr") else np.zeros(0)
    if values.dtype.kind in "OUS":
        text = next((value for value in values.ravel() if isinstance(value, (str, bytes))), None)
        if text is not None:
            raise InputError(
                f"`y` should hold numbers; it holds text, {text!r} for one. For classes use "
                f"`RBFClassifier`."
            )


def _some(names: list[str]) -> str:
    """Return columns that hold something, the first of many by name."""
    told = ", ".join(f"`{name}`" for name in names[:5])
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{told}{more} hold{'s' if len(names) == 1 else ''}"
