"""Several labels are selected for together."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.metrics import hamming_loss as sklearn_hamming_loss
from sklearn.multioutput import MultiOutputClassifier

import naive
from orthoselect import select

EXAMPLE = runpy.run_path(str(Path(__file__).parent.parent / "examples" / "multilabel.py"))


def scores(X, Y, chosen):
    """Subset accuracy and Hamming loss of a linear model of the chosen columns."""
    train, test = slice(0, 600), slice(600, None)
    model = MultiOutputClassifier(LogisticRegression()).fit(X[train][:, chosen], Y[train])
    found = model.predict(X[test][:, chosen])
    ours = EXAMPLE["subset_accuracy"](Y[test], found), EXAMPLE["hamming_loss"](Y[test], found)
    assert ours[0] == pytest.approx(accuracy_score(Y[test], found))
    assert ours[1] == pytest.approx(sklearn_hamming_loss(Y[test], found))
    return ours


def test_a_set_for_all_labels_tells_more_than_one_put_together_label_by_label():
    for seed in range(4):
        X, Y, _ = EXAMPLE["table"](seed=seed)
        together = select(X[:600], Y[:600], 4).features
        assert sorted(together) == [0, 1, 2, 3]  # the causes
        apart = EXAMPLE["one_by_one"](X[:600], Y[:600])
        assert len(set(apart)) == 4
        (right, wrong), (right_apart, wrong_apart) = scores(X, Y, together), scores(X, Y, apart)
        assert right > right_apart
        assert wrong < wrong_apart


def test_gains_of_labels_are_canonical_correlations_with_all_of_them():
    X, Y, _ = EXAMPLE["table"](N=200)
    path = select(X, Y, 5)
    assert path.ceiling == 6
    value = naive.squared_canonical_correlations(X[:, path.features], Y.astype(float)).sum()
    assert path[-1].total == pytest.approx(value)
    assert path.features == select(X, np.where(Y, "yes", "no"), 5).features
