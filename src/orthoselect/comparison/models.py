"""The models that are trained on selected features, and the scores they are judged by."""

from __future__ import annotations

from collections.abc import Callable
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

from orthoselect.arguments import check_choice
from orthoselect.errors import InputError

_ROUNDS = 10_000  # scikit-learn's defaults, 100 and 1000, end early on plain tables


@dataclass(frozen=True)
class _Named:
    """A model known by name.

    Attributes
    ----------
    task : str
        What it is for.
    make : callable
    takes_sparse : bool
        Whether it is as good on sparse columns; they are then not filled in.
    """

    task: str
    make: Callable[[], BaseEstimator]
    takes_sparse: bool = False


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
    """How to train and to judge.

    Attributes
    ----------
    name : str
        What to call the estimator.
    estimator : scikit-learn estimator
        Not fitted.
    takes_sparse : bool
        Whether sparse columns may stay sparse.
    scoring : str
    """

    name: str
    estimator: Any
    takes_sparse: bool
    scoring: str

    def scores(
        self, X: Any, y: NDArray, X_validation: Any, y_validation: NDArray
    ) -> tuple[float, float]:
        """Train on X and y; return the score there and on the validation rows."""
        fitted = clone(self.estimator).fit(X, y)
        score = _SCORES[self.scoring].score
        return float(score(fitted, X, y)), float(score(fitted, X_validation, y_validation))


def find_model(estimator: Any, scoring: Any, task: str, sparse: bool, seed: int) -> Model:
    """Return the model and the score that were asked for.

    Parameters
    ----------
    estimator : str or scikit-learn estimator
        "auto" is linear discriminant analysis for classes, least squares for numbers. Those known
        by name have their columns scaled to standard deviation one (on training rows); others
        get the columns as they are.
    scoring : str
        "auto" is accuracy for classes, R squared for numbers.
    task : {"classification", "regression"}
    sparse : bool
        Whether the columns are.
    seed : int
        Of models that draw random numbers and have no seed of their own.
    """
    score = _find_score(scoring, task)
    if not isinstance(estimator, str):
        _check_estimator(estimator, task)
        return Model(_name(estimator), _seeded(clone(estimator), seed), False, score)
    name = _USUAL[task] if estimator == "auto" else estimator
    chosen = ESTIMATORS[check_choice(name, ["auto", *ESTIMATORS], "estimator")]
    if chosen.task != task:
        fitting = [repr(k) for k, e in ESTIMATORS.items() if e.task == task]
        raise InputError(
            f"`estimator={name!r}` is for {_KINDS[chosen.task]}; the response holds "
            f"{_KINDS[task]}. Choose one of {', '.join(fitting)}, or set `task`."
        )
    stays_sparse = sparse and chosen.takes_sparse
    scaler = StandardScaler(with_mean=not stays_sparse)  # without means zeros stay zeros
    pipeline = make_pipeline(scaler, _seeded(chosen.make(), seed))
    return Model(name, pipeline, stays_sparse, score)


_KINDS = {"classification": "classes", "regression": "numbers"}


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
class _Score:
    task: str
    score: Callable[[Any, Any, NDArray], float]


_SCORES = {
    "accuracy": _Score("classification", _of_predictions(accuracy_score)),
    "balanced_accuracy": _Score("classification", _of_predictions(balanced_accuracy_score)),
    "auc": _Score("classification", _auc),
    "r2": _Score("regression", _of_predictions(r2_score)),
}
_USUAL_SCORE = {"classification": "accuracy", "regression": "r2"}


def _find_score(scoring: Any, task: str) -> str:
    check_choice(scoring, ["auto", *_SCORES], "scoring")
    name = _USUAL_SCORE[task] if scoring == "auto" else scoring
    if _SCORES[name].task != task:
        fitting = ", ".join(repr(k) for k, s in _SCORES.items() if s.task == task)
        raise InputError(
            f"`scoring={name!r}` is for {_KINDS[_SCORES[name].task]}; the response holds "
            f"{_KINDS[task]}. Choose one of {fitting}, or set `task`."
        )
    return name
