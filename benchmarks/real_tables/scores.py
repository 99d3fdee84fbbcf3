"""What chosen columns are worth: out-of-fold losses of one simple model, the same for all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.real_tables.rankings import Question, label_columns
from benchmarks.real_tables.tables import CLASSES, MOST_ROWS, RealTable
from orthoselect.result.fold_scores import standard_error

FOLDS = 5
MOST_COLUMNS = 5


def known_rows(entry: RealTable, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows whose target is known, and whose class every fold can have."""
    frame = frame[frame[entry.target].notna()]
    if entry.task == CLASSES:
        members = frame[entry.target].map(frame[entry.target].value_counts())
        frame = frame[members.astype(int) >= FOLDS]
    return frame


def question(entry: RealTable, frame: pd.DataFrame) -> Question:
    """Ask for five columns, or half of them where they are few."""
    k = min(MOST_COLUMNS, frame.shape[1] // 2)
    return Question(known_rows(entry, frame), entry.target, entry.task, k)


def sampled(asked: Question) -> Question:
    """Return the question about the rows that are scored."""
    if len(asked.frame) <= MOST_ROWS:
        return asked
    kept = asked.frame.sample(MOST_ROWS, random_state=0)
    if asked.task == CLASSES:  # a rare class may have lost members
        members = kept[asked.target].map(kept[asked.target].value_counts())
        kept = kept[members.astype(int) >= FOLDS]
    return replace(asked, frame=kept)


@dataclass(frozen=True)
class Losses:
    """What the model loses in each row, and what it would lose by the mean or the class shares.

    Attributes
    ----------
    model, nothing : ndarray of shape (D, N)
        Losses of N rows, each out of its fold, in D draws of the folds.
    folds : ndarray of shape (D, N)
        The fold that each row was in.
    """

    model: NDArray[np.float64]
    nothing: NDArray[np.float64]
    folds: NDArray[np.intp]

    @property
    def score(self) -> float:
        """R squared out of fold; of classes, that of their indicators (the Brier skill score)."""
        return 1 - float(self.model.mean() / self.nothing.mean())

    def ahead_of(self, other: Losses) -> tuple[float, float]:
        """Return by how much our score is larger, and the standard error over folds in pairs.

        It is the one that `compare` uses: folds differ in their rows, and in the columns that are
        chosen without them.
        """
        differences = (other.model - self.model) / self.nothing.mean()
        by_fold = [
            float(row[own == fold].mean())
            for row, own in zip(differences, self.folds)
            for fold in range(FOLDS)
        ]
        error = standard_error(by_fold, FOLDS)
        assert error is not None
        return float(differences.mean()), error


def losses(asked: Question, choose: Callable[[Question], list[str]], *, draws: int = 1) -> Losses:
    """Return losses out of fold; columns are chosen anew from the training rows of each."""
    y, features = asked.y, asked.features
    # What is predicted: the number itself, or an indicator for each class.
    Y = (y[:, None] == np.unique(y)).astype(float) if asked.task == CLASSES else y[:, None]
    model, nothing = np.empty((draws, len(y))), np.empty((draws, len(y)))
    folds = np.empty((draws, len(y)), dtype=np.intp)
    for draw in range(draws):
        for fold, (train, test) in enumerate(_folds(y, asked.task, draw)):
            names = choose(replace(asked, frame=asked.frame.iloc[train]))
            means = Y[train].mean(axis=0)
            predicted = means
            if names:
                X = features[names]
                predicted = _predictions(X.iloc[train], y[train], X.iloc[test], asked.task)
            model[draw, test] = ((predicted - Y[test]) ** 2).sum(axis=1)
            nothing[draw, test] = ((means - Y[test]) ** 2).sum(axis=1)
            folds[draw, test] = fold
    return Losses(model, nothing, folds)


def _folds(y: NDArray[Any], task: str, seed: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    kind = StratifiedKFold if task == CLASSES else KFold
    return kind(FOLDS, shuffle=True, random_state=seed).split(np.zeros((len(y), 1)), y)


def preparation(features: pd.DataFrame) -> ColumnTransformer:
    """Return what makes numbers of a prepared table: indicators of labels and gaps, and means."""
    labels = label_columns(features)
    numbers = [name for name in features if name not in labels]
    fill = SimpleImputer(keep_empty_features=True, add_indicator=True)
    impute = make_pipeline(fill, StandardScaler())
    return ColumnTransformer(
        [("labels", OneHotEncoder(handle_unknown="ignore"), labels), ("numbers", impute, numbers)]
    )


def _predictions(
    train: pd.DataFrame, y: NDArray[Any], test: pd.DataFrame, task: str
) -> NDArray[np.float64]:
    """Return what ridge or logistic regression predicts: numbers, or a column for each class."""
    estimator = LogisticRegression(max_iter=1000) if task == CLASSES else Ridge()
    model = make_pipeline(preparation(train), estimator).fit(train, y)
    return model.predict_proba(test) if task == CLASSES else model.predict(test)[:, None]
