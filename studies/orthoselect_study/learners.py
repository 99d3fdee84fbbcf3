"""What selected features are judged by: classifiers of the first 1, 2, ... features.

Notation: N rows, k columns in order of selection, c classes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Directions within classes whose share of variance is smaller are left out, as scikit-learn does
# (its `tol` of 1e-4, squared).
_NO_VARIANCE = 1e-8


def lda_accuracies(
    A: Floats, y: NDArray, judged: Sequence[tuple[Floats, NDArray]]
) -> list[list[float]]:
    """Return the accuracy of LDA by the first 1, 2, ..., k columns.

    One table of sums serves all sizes: means of the classes and the scatter within them are those
    of all columns, of which the first few rows and columns are taken. The same as scikit-learn's
    `LinearDiscriminantAnalysis` with the covariance of maximum likelihood (`solver="lsqr"`), and
    it copes with columns that depend on others.

    A (N, k) and y are the training rows; for each pair of columns and classes of `judged` there is
    a list, one number for each size.
    """
    classes, codes = np.unique(y, return_inverse=True)
    counts = np.bincount(codes)
    indicators = np.eye(len(classes))[codes]
    overall = A.mean(axis=0)
    A = A - overall
    means = indicators.T @ A / counts[:, None]  # (c, k)
    within = A - means[codes]
    scale = np.sqrt((within**2).mean(axis=0))
    scale[scale <= 1e-12 * np.sqrt((A**2).mean(axis=0))] = np.inf  # no variance within classes
    means, S = means / scale, (within.T @ within) / np.outer(scale, scale) / len(y)
    priors = np.log(counts / len(y))
    tables = [((B - overall) / scale, labels) for B, labels in judged]
    accuracies: list[list[float]] = [[] for _ in judged]
    for size in range(1, A.shape[1] + 1):
        coef = means[:, :size] @ _inverse(S[:size, :size])  # (c, size)
        intercept = priors - 0.5 * (coef * means[:, :size]).sum(axis=1)
        for found, (B, labels) in zip(accuracies, tables):
            scores = B[:, :size] @ coef.T + intercept
            found.append(float(np.mean(classes[scores.argmax(axis=1)] == labels)))
    return accuracies


def _inverse(S: Floats) -> Floats:
    """Return the inverse of a covariance, without the directions that have no variance."""
    values, vectors = np.linalg.eigh(S)
    kept = values > _NO_VARIANCE
    return (vectors[:, kept] / values[kept]) @ vectors[:, kept].T


def svm_aucs(
    A: Floats,
    y: NDArray,
    judged: Sequence[tuple[Floats, NDArray]],
    sizes: Iterable[int],
    model: Any = None,
) -> tuple[list[list[float]], list[str]]:
    """Return the areas under the ROC curve of a linear SVM, and what its solver warned of.

    C is 1, the loss the squared hinge, unless there is another `model`; columns are taken as they
    are, the first so many for each size. The rest is as in `lda_accuracies`.
    """
    from sklearn.metrics import roc_auc_score
    from sklearn.svm import LinearSVC

    model = LinearSVC(C=1.0, dual=False) if model is None else model
    areas: list[list[float]] = [[] for _ in judged]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for size in sizes:
            model.fit(A[:, :size], y)
            for found, (B, labels) in zip(areas, judged):
                found.append(float(roc_auc_score(labels, model.decision_function(B[:, :size]))))
    return areas, list(dict.fromkeys(str(w.message) for w in caught))


def tuned_svm_auc(
    A: Floats, y: NDArray, judged: tuple[Floats, NDArray], chance: int
) -> tuple[float, float]:
    """Return the area under the ROC curve of a linear SVM, and its C by cross-validation."""
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.svm import LinearSVC

    folds = StratifiedKFold(5, shuffle=True, random_state=chance)
    grid = {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}
    model = GridSearchCV(LinearSVC(dual=False), grid, scoring="roc_auc", cv=folds)
    areas, _ = svm_aucs(A, y, [judged], [A.shape[1]], model)
    return areas[0][0], float(model.best_params_["C"])
