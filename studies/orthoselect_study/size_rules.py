"""Rules that say how many features, and which: ours, and others that are in use.

A rule takes a table of numbers, classes 0, 1, ... and a seed, and returns the columns it keeps.
All but the lasso keep the first features of the same greedy path.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect import select

Rule = Callable[[NDArray, NDArray, int], list[int]]
_LONGEST = 12  # features of the paths whose sizes are compared
_FOLDS = 5


def keep(rule: str, X: NDArray, y: NDArray, seed: int) -> list[int]:
    """Return the columns that a rule keeps, in order; what it warns of is not told."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sorted(RULES[rule](X, y, seed))


def _auto(X: NDArray, y: NDArray, seed: int) -> list[int]:
    path = select(X, y, "auto", task="classification", random_state=seed)
    return path.features[: path.chosen]


def _penalized(gamma: float) -> Rule:
    """Return the rule of the least BIC of least squares; of EBIC (Chen and Chen 2008) by gamma."""

    def rule(X: NDArray, y: NDArray, seed: int) -> list[int]:
        features = select(X, y, _LONGEST, task="classification").features
        N, n = X.shape
        E = np.eye(int(y.max()) + 1)[y][:, 1:]
        E = E - E.mean(axis=0)
        Q, _ = np.linalg.qr(X[:, features] - X[:, features].mean(axis=0))
        scores = []
        for k in range(len(features) + 1):
            R = E - Q[:, :k] @ (Q[:, :k].T @ E)
            fit = N * np.linalg.slogdet(R.T @ R)[1] + k * E.shape[1] * math.log(N)
            sets = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)  # log of count
            scores.append(fit + 2 * gamma * sets)
        return features[: int(np.argmin(scores))]

    return rule


def _cross_validated(X: NDArray, y: NDArray, seed: int) -> list[int]:
    """Return as many features as LDA needs to be within one standard error of the best."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.model_selection import StratifiedKFold

    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=seed).split(X, y)
    right = np.zeros((_FOLDS, _LONGEST))
    for scores, (train, test) in zip(right, folds):
        features = select(X[train], y[train], _LONGEST, task="classification").features
        for k in range(1, _LONGEST + 1):
            model = LinearDiscriminantAnalysis().fit(X[train][:, features[:k]], y[train])
            scores[k - 1] = model.score(X[test][:, features[:k]], y[test])
    means = right.mean(axis=0)
    least = means.max() - right[:, means.argmax()].std(ddof=1) / math.sqrt(_FOLDS)
    size = 1 + int(np.flatnonzero(means >= least)[0])
    return select(X, y, size, task="classification").features


def _lasso(X: NDArray, y: NDArray, seed: int) -> list[int]:
    """Return the features with weight in logistic regression, penalty by cross-validation."""
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.preprocessing import StandardScaler

    options: dict[str, Any] = {"penalty": "l1", "solver": "saga", "tol": 1e-2, "max_iter": 200}
    model = LogisticRegressionCV(Cs=10, cv=_FOLDS, random_state=seed, **options)
    model.fit(StandardScaler().fit_transform(X), y)
    return np.flatnonzero(np.abs(model.coef_).max(axis=0) > 0).tolist()


RULES: dict[str, Rule] = {
    "auto": _auto,
    "BIC": _penalized(0.0),
    "EBIC": _penalized(1.0),
    "CV, one SE": _cross_validated,
    "lasso, CV": _lasso,
}
