"""The models that are trained on selected features: known by name, or of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.validation import has_fit_parameter

from orthoselect.comparison.data import ComparedData
from orthoselect.comparison.natural_splines import NaturalSplines
from orthoselect.comparison.scoring import ModelScore, class_name, find_score
from orthoselect.encode.response import check_choice
from orthoselect.errors import InputError, listing

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
    takes_weights: bool = True  # whether it takes row weights
    is_linear: bool = False  # whether it draws straight lines only


def _for_classes(make: Callable[[], BaseEstimator], **facts: bool) -> _Named:
    return _Named({"classification": make}, **facts)


def _for_numbers(make: Callable[[], BaseEstimator], **facts: bool) -> _Named:
    return _Named({"regression": make}, **facts)


ESTIMATORS = {
    "lda": _for_classes(SeparableDiscriminantAnalysis, takes_weights=False, is_linear=True),
    "svm": _for_classes(lambda: LinearSVC(max_iter=_ROUNDS), takes_sparse=True, is_linear=True),
    "logistic": _for_classes(
        lambda: LogisticRegression(max_iter=_ROUNDS), takes_sparse=True, is_linear=True
    ),
    "least_squares": _for_numbers(LinearRegression, is_linear=True),
    "ridge": _for_numbers(Ridge, is_linear=True),
    "splines": _Named(
        {
            "classification": lambda: _bent(LogisticRegression(max_iter=_ROUNDS)),
            "regression": lambda: _bent(Ridge()),
        },
        is_scaled=False,
    ),
    "gradient_boosting": _Named(
        {
            "classification": HistGradientBoostingClassifier,
            "regression": HistGradientBoostingRegressor,
        },
        is_scaled=False,
        takes_several=False,
    ),
}
_BENT = "splines"
_USUAL = {"classification": "lda", "regression": "least_squares"}
_USUAL_WEIGHTED = {"classification": "logistic", "regression": "least_squares"}
_KINDS = {"classification": "classes", "regression": "numbers"}


@dataclass(frozen=True)
class Model:
    """How to train and to judge."""

    name: str  # what to call the estimator
    estimator: Any  # of scikit-learn, not fitted
    takes_sparse: bool  # whether sparse columns may stay sparse
    score: ModelScore
    reason: str = ""  # why this one, or what it does not see

    def scores(
        self,
        X: Any,
        y: NDArray,
        X_validation: Any,
        y_validation: NDArray,
        weights: tuple[NDArray | None, NDArray | None] = (None, None),
    ) -> tuple[float, float]:
        """Train a new copy on X and y; return the score there and on the validation rows.

        `weights` are those of the rows in training and validation.
        """
        fitted = self._fit(X, y, weights[0])
        return (
            self.score.of(fitted, X, y, weights[0]),
            self.score.of(fitted, X_validation, y_validation, weights[1]),
        )

    def _fit(self, X: Any, y: NDArray, weights: NDArray | None) -> Any:
        model = clone(self.estimator)
        given = {} if weights is None else dict.fromkeys(_weight_names(model), weights)
        try:
            # Where weights go was settled; requests for them are for the pipelines of others.
            with config_context(enable_metadata_routing=False):
                return model.fit(X, y, **given)
        except InputError:
            raise
        except (TypeError, ValueError) as error:
            raise InputError(
                f"`estimator` should fit {X.shape[0]} rows of {X.shape[1]} column(s); "
                f"{class_name(model)} could not: {error} Choose another one."
            ) from error


def find_model(
    estimator: Any,
    scoring: Any,
    data: ComparedData,
    seed: int,
    *,
    weighted: bool = False,
    bent: Sequence[str] = (),
) -> Model:
    """Return the model and the score that were asked for, as `compare` explains them.

    Models that draw random numbers and have no seed of their own get this one. If rows are
    `weighted`, the model and the score have to take weights. Methods `bent` select features by
    curves, which the usual models could not follow.
    """
    reason = ""
    if isinstance(estimator, str):
        usual = _USUAL_WEIGHTED if weighted else _USUAL
        linear = usual[data.task]
        name = estimator
        if estimator == "auto":
            name = _BENT if bent else linear
        if bent:
            reason = _why(estimator, linear, bent)
        check_choice(name, ["auto", *ESTIMATORS], "estimator")
        made, stays_sparse = _make(name, data, seed)
    else:
        _check_estimator(estimator, data.task)
        name, made, stays_sparse = class_name(estimator), _seeded(clone(estimator), seed), False
    score = find_score(scoring, data.task, data.classes, made)
    if weighted:
        _check_takes_weights(name, made)
        score.check_takes_weights()
    return Model(name, made, stays_sparse, score, reason)


def _bent(model: BaseEstimator) -> Pipeline:
    """Return a linear model of the splines of its columns."""
    return make_pipeline(NaturalSplines(), StandardScaler(), model)


def _why(estimator: str, linear: str, bent: Sequence[str]) -> str:
    """Say why the model lets features bend, or that it does not; `linear` is the usual one."""
    what = f"features that bend, as {listing(list(bent))} selects them"
    if estimator == "auto":
        return (
            f"The model is linear in splines of the features (`estimator='splines'`), to follow "
            f"{what}; `estimator={linear!r}` draws straight lines."
        )
    if estimator in ESTIMATORS and ESTIMATORS[estimator].is_linear:
        return (
            f"{estimator} draws straight lines, and cannot follow {what}; `estimator='splines'` "
            f"can, and so can 'gradient_boosting'."
        )
    return ""


def _weight_names(model: Any, prefix: str = "") -> list[str]:
    """Return the arguments of `fit` by which the parts of a model take row weights."""
    if isinstance(model, Pipeline):
        parts = [(f"{prefix}{name}__", part) for name, part in model.steps]
        return [argument for name, part in parts for argument in _weight_names(part, name)]
    takes = hasattr(model, "fit") and has_fit_parameter(model, "sample_weight")
    return [f"{prefix}sample_weight"] if takes else []


def _check_takes_weights(name: str, model: Any) -> None:
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if not _weight_names(last):
        able = [repr(k) for k, one in ESTIMATORS.items() if one.takes_weights]
        raise InputError(
            f"`estimator` should take row weights, since the rows have some; {name} does not. "
            f"Choose one of {', '.join(able)}, another one whose `fit` takes `sample_weight`, or "
            f"leave `sample_weight` out."
        )


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
    return Model(model.name, dummy, False, model.score, model.reason)


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
