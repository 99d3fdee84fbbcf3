"""The paper's methods by the paper's names, each as a call of `select`; a new one is one entry.

What the paper leaves open is settled here: mRMRq has 0.01 in its denominator, which fits the
paper's figures; CMIM is capped, as its author has it; LASSO and Net rank features by the order
in which they enter the path.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orthoselect import select
from orthoselect.study.settings import Settings, find


@dataclass(frozen=True)
class StudyMethod:
    """One method.

    Attributes
    ----------
    name : str
        What the paper calls it.
    method : str
        What `select` calls it.
    discrete : bool
        Whether it counts levels: columns of numbers are cut, categories taken as they are. The
        others see categories as numbers.
    options : mapping
        Options of its own.
    """

    name: str
    method: str
    discrete: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


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
TWELVE = tuple(name for name in METHODS if name not in ("OBCC", "Shapley"))
INFORMATION = ("mRMRd", "mRMRq", "MIM", "JMI", "CMIM", "CIFE", "ICAP", "DISR")


@dataclass(frozen=True)
class Selection:
    """What a method selected: columns in order, and what it warned of."""

    features: list[int]
    warnings: list[str]


def chosen(settings: Settings, own: Sequence[str] = TWELVE) -> list[str]:
    """Return the methods asked for, or those of the experiment.

    Examples
    --------
    >>> from pathlib import Path
    >>> chosen(Settings(Path("out"), methods=("ols", "mim")))
    ['OLS', 'MIM']
    """
    if settings.methods is None:
        return list(own)
    return list(dict.fromkeys(find(name, METHODS, "methods") for name in settings.methods))


def described(name: str) -> dict[str, Any]:
    """Return the call of a method as plain values, for keys."""
    method = METHODS[name]
    return {"name": name, "select": method.method, **method.options}


def apply(
    name: str, X: Any, y: Any, n_features: int, *, bins: Any, levels: Sequence[int] = ()
) -> Selection:
    """Select features by a method of the paper.

    Parameters
    ----------
    name : str
        One of `METHODS`.
    X, y : array or sparse matrix, array
    n_features : int
    bins : as `select` takes it
        How methods that count levels cut numbers; the others have no use for it.
    levels : sequence of int
        Columns that methods that count levels take as they are.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> apply("OLS", X, y, 3, bins="mean_std_3").features
    [6, 0, 9]
    >>> apply("CMIM", X, y, 3, bins="mean_std_3").features
    [6, 9, 12]
    """
    method = METHODS[name]
    options: dict[str, Any] = dict(method.options)
    if method.discrete:
        options["bins"] = bins
        if len(levels):
            options["categorical_features"] = list(levels)
    n_features = min(n_features, X.shape[1])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        path = select(X, y, n_features, method.method, task="classification", **options)
    return Selection(path.features, list(dict.fromkeys(str(w.message) for w in caught)))
