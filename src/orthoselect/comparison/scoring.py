"""What models are judged by: a score that suits the response, a scorer's name, or a callable."""

from __future__ import annotations

import difflib
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    get_scorer,
    get_scorer_names,
    r2_score,
    roc_auc_score,
)

from orthoselect.encode import Labels
from orthoselect.errors import InputError

# Classes are unequal where the most frequent has more than so many times the rows of the rarest.
UNEQUAL = 1.5
_KINDS = {"classification": "classes", "regression": "numbers"}
_FOR_NUMBERS = ("r2", "explained_variance", "max_error", "d2_absolute_error_score")
_ERRORS_OF_NUMBERS = ("neg_mean_", "neg_median_", "neg_root_mean_", "neg_max_")
Scorer = Callable[..., float]  # of a fitted model, X and y, and `sample_weight` if it takes any


@dataclass(frozen=True)
class ModelScore:
    """A score, the higher the better.

    `takes_labels` says whether it judges classes as the table has them; else they are numbered.
    """

    name: str
    score: Scorer
    reason: str = ""  # why this one, if nobody asked for it
    takes_labels: bool = False

    def of(self, fitted: Any, X: Any, y: NDArray, weights: NDArray | None = None) -> float:
        """Judge a fitted model by these rows, which may have weights."""
        given = {} if weights is None else {"sample_weight": weights}
        try:
            # Where weights go was settled; requests for them are for the pipelines of others.
            with config_context(enable_metadata_routing=False):
                found = self.score(fitted, X, y, **given)
            value = float(found)
        except InputError:
            raise
        except (AttributeError, TypeError, ValueError) as error:
            raise InputError(
                f"`scoring={self.name!r}` could not judge {class_name(fitted)}: {error} Choose "
                f"another score or estimator."
            ) from error
        if not math.isfinite(value):
            raise InputError(
                f"`scoring={self.name!r}` should give a finite number; it gave {value} for "
                f"{class_name(fitted)} on {len(y)} rows. Choose another score, or fewer folds."
            )
        return value

    def check_takes_weights(self) -> None:
        """Raise unless it takes row weights."""
        parameters = inspect.signature(self.score).parameters.values()
        if not any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters):
            raise InputError(
                f"`scoring` should take row weights, since the rows have some: a function of a "
                f"fitted estimator, X, y and `sample_weight`; {self.name} does not take them. Add "
                f"the argument, or choose a score by its name."
            )


def find_score(scoring: Any, task: str, classes: Labels | None, estimator: Any) -> ModelScore:
    """Return the score that was asked for, or one that suits the response.

    Parameters
    ----------
    scoring : str or callable
        "auto", "auc", any name that scikit-learn has a scorer for, or a function of a fitted
        estimator, X and y.
    task : {"classification", "regression"}
    classes : Labels or None
        The response, if it holds classes.
    estimator : object
        What will be judged: "auc" needs more than its predictions.
    """
    if isinstance(scoring, str):
        return _suitable(task, classes, estimator) if scoring == "auto" else _named(scoring, task)
    if callable(scoring):
        return ModelScore(_called(scoring), scoring, takes_labels=True)
    raise InputError(
        f"`scoring` should be 'auto', the name of a score, or a function of a fitted estimator, X "
        f"and y; got {scoring!r}."
    )


def _suitable(task: str, classes: Labels | None, estimator: Any) -> ModelScore:
    if classes is None:
        return ModelScore("r2", _OWN["r2"], "R squared, since the response holds numbers")
    counts = np.bincount(classes.codes, minlength=len(classes.levels))
    most, least = int(counts.max()), int(counts.min())
    rows = f"the most frequent has {most} rows, the rarest {least}"
    if most <= UNEQUAL * least:
        return ModelScore(
            "accuracy",
            _OWN["accuracy"],
            f"accuracy, since the classes are about equal: {rows} (at most {UNEQUAL} times as "
            f"many)",
        )
    unequal = f"since the classes are unequal: {rows} (more than {UNEQUAL} times as many)"
    if len(counts) == 2 and _has_values(estimator):
        return ModelScore("auc", _OWN["auc"], f"AUC, {unequal}")
    return ModelScore(
        "balanced_accuracy", _OWN["balanced_accuracy"], f"balanced accuracy, {unequal}"
    )


def _named(name: str, task: str) -> ModelScore:
    known = get_scorer_names()
    if name not in _OWN and name not in known:
        near = difflib.get_close_matches(name, [*_OWN, *known], n=3, cutoff=0.5)
        names = ", ".join(map(repr, dict.fromkeys(["auto", *_OWN, *near])))
        raise InputError(
            f"`scoring` should be one of {names}, another name of "
            f"`sklearn.metrics.get_scorer_names()`, or a function; got {name!r}."
        )
    is_for = "regression" if _is_for_numbers(name) else "classification"
    if is_for != task:
        fitting = (
            "'r2', 'neg_mean_absolute_error'"
            if task == "regression"
            else ("'accuracy', 'balanced_accuracy', 'auc'")
        )
        raise InputError(
            f"`scoring={name!r}` is for {_KINDS[is_for]}; the response holds {_KINDS[task]}. "
            f"Choose one of {fitting}, or set `task`."
        )
    return ModelScore(name, _OWN[name] if name in _OWN else get_scorer(name))


def _is_for_numbers(name: str) -> bool:
    """Whether a scorer is for regression; class numbers would be judged, and mean nothing."""
    return name in _FOR_NUMBERS or name.startswith(_ERRORS_OF_NUMBERS)


def _called(scoring: Any) -> str:
    """Return what to call a function that scores."""
    name = getattr(scoring, "__name__", None)
    if name is None:
        return " ".join(repr(scoring).split())
    return "custom score" if name == "<lambda>" else str(name)


def _of_predictions(metric: Callable[..., float]) -> Scorer:
    return lambda model, X, y, sample_weight=None: metric(
        y, model.predict(X), sample_weight=sample_weight
    )


def _auc(model: Any, X: Any, y: NDArray, sample_weight: NDArray | None = None) -> float:
    """Return the area under the ROC curve; of several classes, the mean of each against the rest.

    Rows have to hold all classes that the model knows, which stratified folds see to.
    """
    n_classes = len(model.classes_)
    values = _class_values(model, X, n_classes)
    if n_classes == 2:
        return roc_auc_score(y, values, sample_weight=sample_weight)
    areas = [
        roc_auc_score(y == c, values[:, k], sample_weight=sample_weight)
        for k, c in enumerate(model.classes_)
    ]
    return float(np.mean(areas))


_VALUES = ("decision_function", "predict_proba")


def _has_values(model: Any) -> bool:
    return any(hasattr(model, way) for way in _VALUES)


def _class_values(model: Any, X: Any, n_classes: int) -> NDArray:
    """Return how much each row looks like each class; of two classes, like the second.

    Of several, probabilities where there are any: decision values of one class need not be
    comparable between rows. Of two, decision values, which do not run into 0 and 1.
    """
    ways = _VALUES if n_classes == 2 else _VALUES[::-1]
    way = next((w for w in ways if hasattr(model, w)), None)
    if way is None:
        raise InputError(
            f"`scoring='auc'` needs an estimator with `decision_function` or `predict_proba`; "
            f"{class_name(model)} has neither. Choose another score."
        )
    values = np.asarray(getattr(model, way)(X))
    return values[:, 1] if n_classes == 2 and values.ndim == 2 else values


def class_name(model: Any) -> str:
    """Return the name of a model's class; of a pipeline, that of its last step."""
    steps = getattr(model, "steps", None)
    return class_name(steps[-1][1]) if steps else type(model).__name__


_OWN: dict[str, Scorer] = {
    "accuracy": _of_predictions(accuracy_score),
    "balanced_accuracy": _of_predictions(balanced_accuracy_score),
    "auc": _auc,
    "r2": _of_predictions(r2_score),
}
