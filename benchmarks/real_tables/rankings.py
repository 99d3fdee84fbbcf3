"""Four ways to choose columns of a table: our default, and what people do without it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.real_tables.tables import CLASSES, OURS, PLAIN
from orthoselect import select

GAP = "(missing)"  # the level that stands for a label that is not there
DAY = np.timedelta64(1, "D")


@dataclass(frozen=True)
class Question:
    """What a ranking is asked.

    Attributes
    ----------
    frame : DataFrame
        Raw rows, the target among the columns and known in all of them.
    target, task : str
        See `benchmarks.real_tables.tables.RealTable`.
    k : int
        How many columns to choose.
    """

    frame: pd.DataFrame
    target: str
    task: str
    k: int

    @property
    def features(self) -> pd.DataFrame:
        """All columns but the target, prepared as peers need them."""
        return prepared(self.frame.drop(columns=self.target))

    @property
    def y(self) -> NDArray[Any]:
        """The target as numbers; classes are numbered."""
        return response(self.frame[self.target], self.task)


def response(column: pd.Series, task: str) -> NDArray[Any]:
    """Return a target as numbers: as it is, or the place of each class in sorted order."""
    if task == CLASSES:
        return np.unique(column.astype(str), return_inverse=True)[1]
    return column.to_numpy(dtype=float)


def prepared(frame: pd.DataFrame) -> pd.DataFrame:
    """Return numbers, dates as days, and all else as labels whose gaps are a level of their own."""
    return frame.apply(_prepared)


def _prepared(column: pd.Series) -> pd.Series:
    if pd.api.types.is_numeric_dtype(column):
        return column.astype(float)
    if pd.api.types.is_datetime64_any_dtype(column):
        return (column - column.min()) / DAY
    return column.astype(object).where(column.notna(), GAP).astype(str).astype(object)


def label_columns(features: pd.DataFrame) -> list[str]:
    """Return the columns of a prepared table that hold labels."""
    return [name for name in features if features[name].dtype == object]


def default_answer(question: Question) -> Any:
    """Return the path of `select` with nothing said but the target and the count.

    Only gaps are to become indicators, as they do in the command, where `select` offers it.
    """
    takes = inspect.signature(select).parameters
    gaps = {"missing": "indicator"} if "missing" in takes else {}
    return select(question.frame, question.target, question.k, **gaps)


def by_default(question: Question) -> list[str]:
    """Return the columns of the default answer, by their positions: a step may name a group."""
    columns = default_answer(question).columns
    return list(dict.fromkeys(question.frame.columns[columns]))


def by_correlation(question: Question) -> list[str]:
    """Rank each column alone, by the squared multiple correlation of the target with it.

    Labels count with all their indicators, and classes are explained by the sum of squared
    canonical correlations; numbers that are missing are the mean.
    """
    V = _basis(question.y, question.task)
    features = question.features
    explained = {name: _explained(features[name], V) for name in features}
    return _largest(explained, question.k)


def _basis(y: NDArray[Any], task: str) -> NDArray[np.float64]:
    """Return orthonormal columns that span the centered target, V (N, m)."""
    Y = (y[:, None] == np.unique(y)).astype(float)[:, 1:] if task == CLASSES else y[:, None]
    return np.linalg.qr(Y - Y.mean(axis=0))[0]


def _explained(column: pd.Series, V: NDArray[np.float64]) -> float:
    if column.dtype == object:
        codes, levels = pd.factorize(column)
        sums = np.zeros((len(levels), V.shape[1]))
        np.add.at(sums, codes, V)
        return float((sums**2 / np.bincount(codes)[:, None]).sum())
    x = column.fillna(column.mean()).to_numpy()
    x = x - x.mean()
    squares = float(x @ x)
    return float(((V.T @ x) ** 2).sum() / squares) if squares > 0 else 0.0


def by_mrmr_selection(question: Question) -> list[str]:
    """Ask mrmr_selection, which codes labels by the target and skips gaps."""
    from mrmr import mrmr_classif, mrmr_regression

    features = question.features.reset_index(drop=True)
    rank = mrmr_classif if question.task == CLASSES else mrmr_regression
    return rank(
        X=features,
        y=pd.Series(question.y, dtype=float),
        K=question.k,
        cat_features=label_columns(features),
        n_jobs=1,
        show_progress=False,
    )


def by_select_k_best(question: Question) -> list[str]:
    """Rank indicators and imputed numbers by F; columns come in the order of their best one."""
    from sklearn.feature_selection import SelectKBest, f_classif, f_regression

    from benchmarks.real_tables.scores import preparation

    features = question.features
    steps = preparation(features)
    X = steps.fit_transform(features)
    rank = SelectKBest(f_classif if question.task == CLASSES else f_regression, k="all")
    values = np.nan_to_num(rank.fit(X, question.y).scores_, nan=0.0)
    best = dict.fromkeys(features, 0.0)
    for owner, value in zip(_owners(steps), values):
        best[owner] = max(best[owner], value)
    return _largest(best, question.k)


def _owners(steps: Any) -> list[str]:
    """Return the column that each prepared one was made from."""
    (_, encoder, labels), (_, _, numbers), *_ = steps.transformers_
    levels = encoder.categories_ if labels else []
    return [name for name, own in zip(labels, levels) for _ in own] + list(numbers)


def _largest(values: dict[str, float], k: int) -> list[str]:
    """Return the names of the largest values; of equal ones the first."""
    return sorted(values, key=lambda name: -values[name])[:k]


RANKINGS: dict[str, Callable[[Question], list[str]]] = {
    OURS: by_default,
    PLAIN: by_correlation,
    "mrmr_selection": by_mrmr_selection,
    "select_k_best": by_select_k_best,
}
