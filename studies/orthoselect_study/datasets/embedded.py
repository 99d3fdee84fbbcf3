"""The sets that scikit-learn brings along."""

from __future__ import annotations

import numpy as np

from orthoselect_study.datasets.base import DataSource, StudyData

# Seven rows of iris: sepal length, sepal width, petal length, petal width.
WORKED_EXAMPLE = np.array(
    [
        [5.1, 3.5, 1.4, 0.2],
        [4.9, 3.0, 1.4, 0.2],
        [7.0, 3.2, 4.7, 1.4],
        [6.4, 3.2, 4.5, 1.5],
        [6.3, 3.3, 6.0, 2.5],
        [5.8, 2.7, 5.1, 1.9],
        [7.1, 3.0, 5.9, 2.1],
    ]
)
WORKED_CLASSES = ("setosa",) * 2 + ("versicolor",) * 2 + ("virginica",) * 3
_FISHER = "Fisher, Annals of Eugenics 7, 1936"


def iris(source: DataSource) -> StudyData:
    """Return the seven rows of iris of the paper's worked example."""
    y = np.array(WORKED_CLASSES)
    notes = ("seven of its 150 rows",)
    return StudyData("iris", "Iris", WORKED_EXAMPLE, y, ("numeric",) * 4, _FISHER, notes=notes)


def breast(source: DataSource) -> StudyData:
    """Wisconsin diagnostic breast cancer."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    citation = "Street, Wolberg and Mangasarian, Breast Cancer Wisconsin (Diagnostic), 1993; UCI"
    return StudyData("breast", "Breast", X, y, ("numeric",) * 30, citation)
