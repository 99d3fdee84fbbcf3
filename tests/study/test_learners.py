"""Scores of all sizes at once are those of scikit-learn, size by size."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC

from orthoselect_study.learners import lda_accuracies, svm_aucs, tuned_svm_auc


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_lda_of_every_size_is_that_of_scikit_learn(load):
    X, y = load(return_X_y=True)
    train, rest = np.arange(len(y)) % 3 > 0, np.arange(len(y)) % 3 == 0
    trained, held = lda_accuracies(X[train], y[train], [(X[train], y[train]), (X[rest], y[rest])])
    for size in range(1, X.shape[1] + 1):
        model = LinearDiscriminantAnalysis(solver="lsqr").fit(X[train, :size], y[train])
        assert trained[size - 1] == pytest.approx(model.score(X[train, :size], y[train]))
        assert held[size - 1] == pytest.approx(model.score(X[rest, :size], y[rest]))


def test_lda_copes_with_columns_that_depend_on_others():
    X, y = load_wine(return_X_y=True)
    doubled = np.column_stack([X, X[:, :3], np.ones(len(y))])
    (single,) = lda_accuracies(X, y, [(X, y)])
    (double,) = lda_accuracies(doubled, y, [(doubled, y)])
    assert double[-4:] == pytest.approx([single[-1]] * 4)


def test_lda_counts_classes_it_has_not_seen_as_errors():
    X, y = load_wine(return_X_y=True)
    seen = y < 2
    (held,) = lda_accuracies(X[seen], y[seen], [(X, y)])
    assert held[-1] == pytest.approx(np.mean(seen), abs=0.02)


def test_scale_and_offset_of_columns_do_not_matter_to_lda():
    X, y = load_wine(return_X_y=True)
    moved = X * 10.0 ** np.arange(-6, 7) + 1e5 * X.std(axis=0) * 10.0 ** np.arange(-6, 7)
    assert lda_accuracies(moved, y, [(moved, y)]) == lda_accuracies(X, y, [(X, y)])


def test_svm_is_scikit_learns_with_c_1():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :4] / X[:, :4].max(axis=0)
    (areas,), caught = svm_aucs(X, y, [(X, y)], [1, 4])
    for area, size in zip(areas, (1, 4)):
        model = LinearSVC(C=1.0, dual=False).fit(X[:, :size], y)
        assert area == pytest.approx(roc_auc_score(y, model.decision_function(X[:, :size])))
    assert caught == []


def test_tuned_svm_takes_its_c_from_the_grid():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :4] / X[:, :4].max(axis=0)
    area, C = tuned_svm_auc(X[::2], y[::2], (X[1::2], y[1::2]), chance=0)
    assert 0.9 < area < 1
    assert C in (0.01, 0.1, 1.0, 10.0, 100.0)
