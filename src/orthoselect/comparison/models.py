"""The models that are trained on selected features: known by name, or of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from orthoselect.comparison.data import ComparedData
from orthoselect.comparison.scoring import ModelScore, class_name, find_score
from orthoselect.encode.response import check_choice
from orthoselect.errors import InputError

_ROUNDS = 10_000  # scikit-learn's defaults, 100 and 1000, end early on plain tables


class SeparableDiscriminantAnalysis(LinearDiscriminantAnalysis):
    """Linear discriminant analysis that takes columns that separate the classes completely.

    Such a column is constant within each class. scikit-learn divides by the scatter there, so it
    leaves the column out beside others, and fails with it alone. Here it gets a little scatter.
    """

    def fit(self, X: Any, y: NDArray) -> SeparableDiscriminantAnalysis:
        """Fit to dense columns."""
        X = np.asarray(X, dtype=np.float64)
        classes, codes = np.unique(y, return_inverse=True)
        means = np.array([X[codes == c].mean(axis=0) for c in range(len(classes))])
        within, spread = (X - means[codes]).std(axis=0), X.std(axis=0)
        alone = (within <= _NO_SCATTER * spread) & (spread > 0)
        if alone.any():
            scatter = np.random.default_rng(0).normal(size=(len(X), int(alone.sum())))
            X = X.copy()
            X[:, alone] += _SOME_SCATTER * spread[alone] * scatter
        return super().fit(X, y)


_NO_SCATTER, _SOME_SCATTER = 1e-9, 1e-3  # of the standard deviation of a column


@dataclass(frozen=True)
class _Named:
    """A model known by name."""

    make: Mapping[str, Callable[[], BaseEstimator]]  # for each task that it is for
    takes_sparse: bool = False  # whether it is as good on sparse columns, which then stay so
    is_scaled: bool = True  # whether its columns are scaled to standard deviation one
    takes_several: bool = True  # whether it takes several columns of numbers as the response


def _for_classes(make: Callable[[], BaseEstimator], **facts: bool) -> _Named:
    return _Named({"classification": make}, **facts)


def _for_numbers(make: Callable[[], BaseEstimator], **facts: bool) -> _Named:
    return _Named({"regression": make}, **facts)


ESTIMATORS = {
    "lda": _for_classes(SeparableDiscriminantAnalysis),
    "svm": _for_classes(lambda: LinearSVC(max_iter=_ROUNDS), takes_sparse=True),
    "logistic": _for_classes(lambda: LogisticRegression(max_iter=_ROUNDS), takes_sparse=True),
    "least_squares": _for_numbers(LinearRegression),
    "ridge": _for_numbers(Ridge),
    "gradient_boosting": _Named(
        {
            "classification": HistGradientBoostingClassifier,
            "regression": HistGradientBoostingRegressor,
        },
        is_scaled=False,
        takes_several=False,
    ),
}
_USUAL = {"classification": "lda", "regression": "least_squares"}
_KINDS = {"classification": "classes", "regression": "numbers"}


@dataclass(frozen=True)
class Model:
    """How to train and to judge."""

    name: str  # what to call the estimator
    estimator: Any  # of scikit-learn, not fitted
    takes_sparse: bool  # whether sparse columns may stay sparse
    score: ModelScore

    def scores(
        self, X: Any, y: NDArray, X_validation: Any, y_validation: NDArray
    ) -> tuple[float, float]:
        """Train a new copy on X and y; return the score there and on the validation rows."""
        fitted = clone(self.estimator).fit(X, y)
        return self.score.of(fitted, X, y), self.score.of(fitted, X_validation, y_validation)


def find_model(estimator: Any, scoring: Any, data: ComparedData, seed: int) -> Model:
    """Return the model and the score that were asked for, as `compare` explains them.

    Models that draw random numbers and have no seed of their own get this one.
    """
    if isinstance(estimator, str):
        name = _USUAL[data.task] if estimator == "auto" else estimator
        check_choice(name, ["auto", *ESTIMATORS], "estimator")
        made, stays_sparse = _make(name, data, seed)
    else:
        _check_estimator(estimator, data.task)
        name, made, stays_sparse = class_name(estimator), _seeded(clone(estimator), seed), False
    return Model(name, made, stays_sparse, find_score(scoring, data.task, data.classes, made))


def _make(name: str, data: ComparedData, seed: int) -> tuple[Any, bool]:
    """Return a model known by name, and whether its columns stay sparse."""
    chosen = ESTIMATORS[name]
    _check_named(name, chosen, data.task, data.n_responses)
    model = _seeded(chosen.make[data.task](), seed)
    stays_sparse = data.is_sparse and chosen.takes_sparse
    if chosen.is_scaled:  # without means zeros stay zeros
        model = make_pipeline(StandardScaler(with_mean=not stays_sparse), model)
    return model, stays_sparse


def without_features(model: Model, task: str) -> Model:
    """Return the model that knows no feature: the shares of the classes, or the mean."""
    dummy = DummyClassifier(strategy="prior") if task == "classification" else DummyRegressor()
    return Model(model.name, dummy, False, model.score)


def _check_named(name: str, chosen: _Named, task: str, n_responses: int) -> None:
    if task not in chosen.make:
        fitting = ", ".join(repr(k) for k, one in ESTIMATORS.items() if task in one.make)
        raise InputError(
            f"`estimator={name!r}` is for {_KINDS[next(iter(chosen.make))]}; the response holds "
            f"{_KINDS[task]}. Choose one of {fitting}, or set `task`."
        )
    if n_responses > 1 and not chosen.takes_several:
        raise InputError(
            f"`estimator={name!r}` takes one column of numbers as the response; there are "
            f"{n_responses}. Choose 'least_squares' or 'ridge', or compare for each of them."
        )


def _check_estimator(estimator: Any, task: str) -> None:
    if isinstance(estimator, type) or not (
        hasattr(estimator, "fit") and hasattr(estimator, "get_params")
    ):
        expected = ", ".join(map(repr, ["auto", *ESTIMATORS]))
        raise InputError(
            f"`estimator` should be one of {expected}, or a scikit-learn estimator (an object, "
            f"not its class); got {estimator!r}."
        )
    wrong = is_regressor(estimator) if task == "classification" else is_classifier(estimator)
    if wrong:
        raise InputError(
            f"`estimator` should be made for {_KINDS[task]}, which the response holds; "
            f"{type(estimator).__name__} is not. Choose another, or set `task`."
        )


def _seeded(estimator: Any, seed: int) -> Any:
    """Give a seed to whatever draws random numbers and has none, inside a pipeline too."""
    open_ = {
        name: seed
        for name, value in estimator.get_params().items()
        if value is None and name.split("__")[-1] == "random_state"
    }
    return estimator.set_params(**open_) if open_ else estimator
