"""The paper's methods by the paper's names, each as a call of `select`; a new one is one entry.

An entry may be added from outside, too: `METHODS["Mine"] = StudyMethod("Mine", my_function)`.

What the paper leaves open is settled here: mRMRq has 0.01 in its denominator, which fits the
paper's figures; CMIM is capped, as its author has it; LASSO and Net rank features by the order
in which they enter the path.
"""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orthoselect import select
from orthoselect.errors import InputError
from orthoselect_study import paper
from orthoselect_study.records import Row, digest
from orthoselect_study.settings import Settings, find


@dataclass(frozen=True)
class StudyMethod:
    """One method: what `select` calls it, or a function.

    The function takes X, y, the number of features and, as keywords, the options; it returns the
    columns in the order of their selection. If `discrete`, the method counts levels: columns of
    numbers are cut, categories taken as they are, and a function gets `bins`, and
    `categorical_features` if there are any, as `select` does. Others see categories as numbers.
    """

    name: str  # what the paper calls it
    method: str | Callable[..., Sequence[int]]
    discrete: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)  # of its own


METHODS = {
    method.name: method
    for method in (
        StudyMethod("OLS", "socc"),
        StudyMethod("OLSd", "socc_discretized", discrete=True),
        StudyMethod("mRMRd", "mrmr_difference", discrete=True),
        StudyMethod("mRMRq", "mrmr_quotient", discrete=True, options={"constant": 0.01}),
        StudyMethod("MIM", "mim", discrete=True),
        StudyMethod("JMI", "jmi", discrete=True),
        StudyMethod("CMIM", "cmim", discrete=True),
        StudyMethod("CIFE", "cife", discrete=True),
        StudyMethod("ICAP", "icap", discrete=True),
        StudyMethod("DISR", "disr", discrete=True),
        StudyMethod("LASSO", "lasso"),
        StudyMethod("Net", "elastic_net"),
        StudyMethod("OBCC", "obcc"),
        StudyMethod("Shapley", "shapley"),
    )
}
TWELVE = paper.TWELVE
_RECENT = ("OBCC", "Shapley")
PENALIZED = ("LASSO", "Net")
INFORMATION = ("mRMRd", "mRMRq", "MIM", "JMI", "CMIM", "CIFE", "ICAP", "DISR")


@dataclass(frozen=True)
class Selection:
    """What a method selected: columns in order, what it warned of, how long it took."""

    features: list[int]
    warnings: list[str]
    seconds: float

    def rows(self, at: Row) -> list[Row]:
        """Return all of it as rows like the one given."""
        return [
            *(
                at._replace(n_features=step, measure="feature", value=float(feature))
                for step, feature in enumerate(self.features, start=1)
            ),
            *(at._replace(measure="warning", value=1.0, note=note) for note in self.warnings),
            at._replace(measure="seconds", value=self.seconds),
        ]


def chosen(settings: Settings, own: Sequence[str] | None = None) -> list[str]:
    """Return the methods asked for, or those of the experiment.

    An experiment without methods of its own has the paper's twelve, and whatever was added.
    """
    if settings.methods is None:
        return [name for name in METHODS if name not in _RECENT] if own is None else list(own)
    return list(dict.fromkeys(find(name, METHODS, "methods") for name in settings.methods))


def described(name: str) -> dict[str, Any]:
    """Return the call of a method as plain values, for keys."""
    method = METHODS[name]
    if isinstance(method.method, str):
        return {"name": name, "select": method.method, **method.options}
    try:
        source = inspect.getsource(method.method)
    except (OSError, TypeError):
        raise InputError(
            f"`method` of {name!r} should be a function that a file defines, so that results of "
            f"another version of it are never taken for its own; got {method.method!r}."
        ) from None
    return {"name": name, "source": digest(source), **method.options}


def apply(
    name: str, X: Any, y: Any, n_features: int, *, bins: Any, levels: Sequence[int] = ()
) -> Selection:
    """Select features by a method of the paper.

    Methods that count levels cut numbers by `bins`, as `select` takes it, but for the columns in
    `levels`, which they take as they are; the others have no use for both.
    """
    method = METHODS[name]
    options: dict[str, Any] = dict(method.options)
    if method.method in ("socc", "socc_discretized"):
        options["adjust"] = None  # the paper ranks blocks by their plain sum
    if method.discrete:
        options["bins"] = bins
        if len(levels):
            options["categorical_features"] = list(levels)
    n_features = min(n_features, X.shape[1])
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if isinstance(method.method, str):
            path = select(X, y, n_features, method.method, task="classification", **options)
            features = path.features
        else:
            features = _checked(name, method.method(X, y, n_features, **options), X.shape[1])
    seconds = time.perf_counter() - began
    return Selection(features, list(dict.fromkeys(str(w.message) for w in caught)), seconds)


def _checked(name: str, columns: Sequence[int], n_columns: int) -> list[int]:
    """Return the columns that a function selected, if they are columns of the table."""
    features = [int(column) for column in columns]
    known = all(0 <= column < n_columns for column in features)
    if not features or not known or len(set(features)) < len(features):
        raise InputError(
            f"`method` of {name!r} should return different columns from 0 to {n_columns - 1}, at "
            f"least one; got {features}."
        )
    return features
