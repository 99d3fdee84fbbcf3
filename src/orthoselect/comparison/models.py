"""The models that are trained on selected features, and the scores they are judged by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, balanced_accuracy_score, r2_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from orthoselect.encode.response import check_choice
from orthoselect.errors import InputError

_ROUNDS = 10_000  # scikit-learn's defaults, 100 and 1000, end early on plain tables


@dataclass(frozen=True)
class _Named:
    """A model known by name."""

    task: str  # what it is for
    make: Callable[[], BaseEstimator]
    takes_sparse: bool = False  # whether it is as good on sparse columns, which then stay so


ESTIMATORS = {
    "lda": _Named("classification", LinearDiscriminantAnalysis),
    "svm": _Named("classification", lambda: LinearSVC(max_iter=_ROUNDS), takes_sparse=True),
    "logistic": _Named(
        "classification", lambda: LogisticRegression(max_iter=_ROUNDS), takes_sparse=True
    ),
    "least_squares": _Named("regression", LinearRegression),
    "ridge": _Named("regression", Ridge),
}
_USUAL = {"classification": "lda", "regression": "least_squares"}


@dataclass(frozen=True)
class Model:
    """How to train and to judge."""

    name: str  # what to call the estimator
    estimator: Any  # of scikit-learn, not fitted
    takes_sparse: bool  # whether sparse columns may stay sparse
    scoring: str

    def scores(
        self, X: Any, y: NDArray, X_validation: Any, y_validation: NDArray
    ) -> tuple[float, float]:
        """Train on X and y; return the score there and on the validation rows."""
        fitted = clone(self.estimator).fit(X, y)
        score = _SCORES[self.scoring].score
        return float(score(fitted, X, y)), float(score(fitted, X_validation, y_validation))


def find_model(estimator: Any, scoring: Any, task: str, sparse: bool, seed: int) -> Model:
    """Return the model and the score that were asked for, as `compare` explains them.

    Models that draw random numbers and have no seed of their own get this one.
    """
    score = _find(scoring, _SCORES, _USUAL_SCORE, task, "scoring")
    if not isinstance(estimator, str):
        _check_estimator(estimator, task)
        return Model(_name(estimator), _seeded(clone(estimator), seed), False, score)
    name = _find(estimator, ESTIMATORS, _USUAL, task, "estimator")
    chosen = ESTIMATORS[name]
    stays_sparse = sparse and chosen.takes_sparse
    scaler = StandardScaler(with_mean=not stays_sparse)  # without means zeros stay zeros
    pipeline = make_pipeline(scaler, _seeded(chosen.make(), seed))
    return Model(name, pipeline, stays_sparse, score)


_KINDS = {"classification": "classes", "regression": "numbers"}


def _find(
    value: Any, known: Mapping[str, Any], usual: Mapping[str, str], task: str, argument: str
) -> str:
    """Return the name of the model or score that was asked for; it has to be made for the task."""
    name = usual[task] if value == "auto" else value
    check_choice(name, ["auto", *known], argument)
    if known[name].task != task:
        fitting = ", ".join(repr(k) for k, one in known.items() if one.task == task)
        raise InputError(
            f"`{argument}={name!r}` is for {_KINDS[known[name].task]}; the response holds "
            f"{_KINDS[task]}. Choose one of {fitting}, or set `task`."
        )
    return name


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


def _name(estimator: Any) -> str:
    """Return the estimator's class; of a pipeline, that of its last step."""
    steps = getattr(estimator, "steps", None)
    return _name(steps[-1][1]) if steps else type(estimator).__name__


def _seeded(estimator: Any, seed: int) -> Any:
    """Give a seed to whatever draws random numbers and has none, inside a pipeline too."""
    open_ = {
        name: seed
        for name, value in estimator.get_params().items()
        if value is None and name.split("__")[-1] == "random_state"
    }
    return estimator.set_params(**open_) if open_ else estimator


def _of_predictions(metric: Callable[[Any, Any], float]) -> Callable[[Any, Any, NDArray], float]:
    return lambda model, X, y: metric(y, model.predict(X))


def _auc(model: Any, X: Any, y: NDArray) -> float:
    """Return the area under the ROC curve; of several classes, the mean of each against the rest.

    Rows have to hold all classes that the model knows, which stratified folds see to.
    """
    n_classes = len(model.classes_)
    values = _class_values(model, X, n_classes)
    if n_classes == 2:
        return roc_auc_score(y, values)
    return float(
        np.mean([roc_auc_score(y == c, values[:, k]) for k, c in enumerate(model.classes_)])
    )


def _class_values(model: Any, X: Any, n_classes: int) -> NDArray:
    """Return how much each row looks like each class; of two classes, like the second.

    Of several, probabilities where there are any: decision values of one class need not be
    comparable between rows. Of two, decision values, which do not run into 0 and 1.
    """
    ways = ["decision_function", "predict_proba"]
    way = next((w for w in (ways if n_classes == 2 else ways[::-1]) if hasattr(model, w)), None)
    if way is None:
        raise InputError(
            f"`scoring='auc'` needs an estimator with `decision_function` or `predict_proba`; "
            f"{_name(model)} has neither. Choose another score."
        )
    values = np.asarray(getattr(model, way)(X))
    return values[:, 1] if n_classes == 2 and values.ndim == 2 else values


@dataclass(frozen=True)
class _Scorer:
    task: str
    score: Callable[[Any, Any, NDArray], float]


_SCORES = {
    "accuracy": _Scorer("classification", _of_predictions(accuracy_score)),
    "balanced_accuracy": _Scorer("classification", _of_predictions(balanced_accuracy_score)),
    "auc": _Scorer("classification", _auc),
    "r2": _Scorer("regression", _of_predictions(r2_score)),
}
_USUAL_SCORE = {"classification": "accuracy", "regression": "r2"}
