"""A selector that finds by cross-validation how many features to select."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from orthoselect.argument_names import COUNT_IS, telling_names
from orthoselect.errors import InputError
from orthoselect.path_selector import PathSelector
from orthoselect.result import SizeScores
from orthoselect.selectors import OrthogonalSelector
from orthoselect.stopping import TestRequest

# What of a size is in `cv_results_`, by what it is called there.
_RESULTS = {
    "mean_test_score": "validation",
    "std_error": "validation_se",
    "std_test_score": "validation_std",
    "mean_train_score": "train",
    "difference": "difference",
    "difference_std_error": "difference_se",
}


class SelectorCV(PathSelector):
    """Select as many features as a cross-validation chooses.

    Features are selected on all rows, up to the largest size. In each fold they are selected anew,
    from its training rows only; that one selection serves all sizes. For each size a model is
    trained there, and scored on the rows held back. Everything is learned from the training rows:
    how columns are cut, coded, filled and scaled. `compare` does the same with one method, in the
    same folds.

    Parameters
    ----------
    selector : OrthogonalSelector or MutualInformationSelector, default=None
        What selects; its `n_features_to_select`, a count or a fraction, is the largest size that is
        tried. None: `OrthogonalSelector`, with ten at most.
    estimator : str or scikit-learn estimator, default=None
        The model that is scored. None: linear discriminant analysis for classes, least squares for
        numbers; if rows have weights, logistic regression for classes. Or a name, or any other
        estimator, as `compare` explains them: "lda", "svm", "logistic", "least_squares", "ridge",
        "splines", "gradient_boosting". It gets labels as indicators.
    cv : int, splitter or iterable, default=5
        A number of folds: rows are shuffled, and each fold has the same shares of the classes. Or a
        splitter of scikit-learn, or pairs of arrays: rows to train on, rows to validate on.
    scoring : str or callable, default=None
        A name of scikit-learn's scorers, or a function ``scoring(fitted, X, y)``. None: R squared
        for numbers; for classes accuracy if they are about equal, else the area under the ROC curve
        of two classes and the balanced accuracy of more.
    rule : {"one_se", "best"}, default="one_se"
        "one_se": the smallest size whose mean score is at most one standard error below the best.
        "best": the size with the best mean score. Standard errors are those of the difference, fold
        by fold, corrected for the training rows that folds share: s sqrt(1/J + 1/(K - 1)) for J
        scores in K folds, in general with validation rows over training rows as the second term.
    n_jobs : int, default=None
        Processes at a time, as in scikit-learn. Scores do not depend on it.
    random_state : int or None, default=0
        Seed of the folds, and of models that draw random numbers. None: a new one each time.
    progress : bool or callable, default=None
        True: show a bar while features are selected and models scored. Or a function, as `select`
        explains it.

    Attributes
    ----------
    n_features_ : int
        How many features were chosen. A group counts as one.
    cv_results_ : dict of arrays
        One entry for each size: `n_features`, `mean_test_score`, its standard error `std_error`,
        `std_test_score`, `mean_train_score`, ``split0_test_score`` and so on, `difference` (how far
        it lies below the best, by fold) and `difference_std_error`, and `as_good`, whether that is
        at most one standard error. Scores of folds are NaN where fewer features could be selected.
    path_ : SelectionPath
        On all rows, up to the largest size. `chosen` is `n_features_`; `size_scores` has the scores
        and says what they are.
    selected_ : integer array
        Column indices of the chosen features in order of selection.
    support_ : boolean array of shape (n_features_in_,)
        Mask of these columns.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if X has column names.

    See Also
    --------
    orthoselect.select : ``select(data, target, "cv")`` does the same, with any method.
    orthoselect.compare : Several methods side by side.

    Notes
    -----
    The scores choose the size, so the best of them is optimistic. To learn what the chosen features
    are worth, cross-validate the whole choice: ``cross_val_score(make_pipeline(SelectorCV(),
    model), X, y)``.

    Row weights go into the selection, the model and the score; an estimator that takes none is an
    error. Folds split rows, not copies of rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from orthoselect import SelectorCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = SelectorCV().fit(X, y)
    >>> selector.n_features_, selector.selected_.tolist()
    (4, [27, 20, 21, 23])
    """

    @telling_names(COUNT_IS, "SelectorCV")
    def __init__(
        self,
        selector: Any = None,
        estimator: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        rule: str = "one_se",
        *,
        n_jobs: int | None = None,
        random_state: int | None = 0,
        progress: Any = None,
    ) -> None:
        self.selector = selector
        self.estimator = estimator
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> SelectorCV:
        """Select features, and find out how many.

        Parameters
        ----------
        X : array-like, SciPy sparse or dataframe (pandas, polars, pyarrow) of shape (N, n)
            Or the path of a file that fits into memory.
        y : array-like, series or dataframe of shape (N,) or (N, responses)
            One column of classes, or one or several of numbers. Where X has named columns: or the
            name of a column, which is then no feature, or several such names.
        sample_weight : array-like of shape (N,), default=None
            Row weights: a whole number counts as that many copies of the row.
        groups : array-like of shape (N,), default=None
            Labels of rows that belong together, for the folds: with a number of folds the rows of a
            group stay in one fold; a splitter gets them.

        Returns
        -------
        self : SelectorCV
        """
        asked = self._asked()
        self._fit(
            asked,
            X,
            y,
            sample_weight,
            largest=None if self.selector is None else asked.n_features_to_select,
            estimator=self.estimator,
            cv=self.cv,
            scoring=self.scoring,
            rule=self.rule,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            row_groups=groups,
        )
        self.n_features_ = self.path_.chosen
        scores = self.path_.size_scores
        self.cv_results_ = {} if scores is None else _as_arrays(scores)
        return self

    def _asked(self) -> PathSelector:
        """Return a new selector with the parameters of the one that was given."""
        if self.selector is None:
            return OrthogonalSelector()
        if not isinstance(self.selector, PathSelector) or isinstance(self.selector, SelectorCV):
            raise InputError(
                f"`selector` should be an OrthogonalSelector or a MutualInformationSelector (an "
                f"object, not its class), or None; got {self.selector!r}. For other methods use "
                f"`select(data, target, 'cv', method)`."
            )
        asked = clone(self.selector)
        names = ("alpha", "n_permutations", "permute_within")
        tests = {name: getattr(asked, name) for name in names if hasattr(asked, name)}
        given = "p_values" if getattr(asked, "p_values", False) else TestRequest(**tests).in_vain()
        if given:
            raise InputError(
                f"`selector` should have no `{given}`, which is for tests of features; a size "
                f"chosen by cross-validation has none. Omit it, or fit "
                f"`OrthogonalSelector('auto')` by itself."
            )
        return asked

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores against the number of features, the chosen and the best size marked.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        ax : matplotlib Axes
        """
        self._get_support_mask()  # says if there is nothing yet
        if self.path_.size_scores is None:
            raise InputError(
                f"there should be scores to draw; no feature was selected: {self.path_.stopped}"
            )
        return self.path_.size_scores.plot(ax)

    def __sklearn_tags__(self) -> Any:
        asked = self.selector if isinstance(self.selector, PathSelector) else OrthogonalSelector()
        return asked.__sklearn_tags__()


def _as_arrays(scores: SizeScores) -> dict[str, NDArray]:
    """Return the scores of all sizes, as scikit-learn's searches have them."""
    points = scores.points
    sizes = [point["n_features"] for point in points]
    made: dict[str, NDArray] = {"n_features": np.array(sizes)}
    for name, own in _RESULTS.items():
        made[name] = np.array([point[own] for point in points], dtype=np.float64)
    by_fold = np.array([scores.scores(size) for size in sizes], dtype=np.float64)
    made |= {f"split{k}_test_score": column for k, column in enumerate(by_fold.T)}
    made["as_good"] = np.array([point["as_good"] for point in points], dtype=bool)
    return made
