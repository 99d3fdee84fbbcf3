"""The paper's worked example and the equalities the method rests on."""

import numpy as np
import pytest
from scipy.linalg import eigh
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression

import naive
from orthoselect import OrthogonalSelector, select
from orthoselect.encode import encode_response, response_basis
from orthoselect.errors import InputError, ShapeError
from orthoselect.statistics import (
    canonical_correlations,
    fisher_criteria,
    multiple_correlation,
    scatter_matrices,
    socc,
)

# Sepal length, sepal width, petal length, petal width (Zhang and Lang, worked example).
IRIS7 = np.array(
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
SPECIES = ["setosa"] * 2 + ["versicolor"] * 2 + ["virginica"] * 3
PETAL_LENGTH, PETAL_WIDTH, SEPAL_WIDTH = 2, 3, 1
CHOSEN = [PETAL_LENGTH, PETAL_WIDTH, SEPAL_WIDTH]


def printed(values):
    """Four decimals, as the paper prints them."""
    return pytest.approx(values, abs=5.0001e-5)


def gain_of_each(columns, selected):
    Y = encode_response(SPECIES)
    return [socc(IRIS7[:, [*selected, j]], Y)[-1].sum() for j in columns]


def test_worked_example_response_basis():
    V = response_basis(encode_response(SPECIES))
    first = V[:, 0] / V[0, 0] * 0.7143
    second = V[:, 1] / V[2, 1] * 0.6
    assert first == pytest.approx([0.7143] * 2 + [-0.2857] * 5, abs=1e-4)
    assert second == pytest.approx([0, 0, 0.6, 0.6, -0.4, -0.4, -0.4], abs=1e-4)


def test_worked_example_gains_of_every_candidate():
    assert gain_of_each([0, 1, 2, 3], []) == printed([0.7628, 0.2264, 0.9779, 0.9604])
    assert gain_of_each([0, 1, 3], [2]) == printed([0.4458, 0.0841, 0.4644])
    assert gain_of_each([0, 1], [2, 3]) == printed([0.0382, 0.1108])


def test_worked_example_selection():
    selector = OrthogonalSelector(3).fit(IRIS7, SPECIES)
    assert selector.selected_.tolist() == CHOSEN
    assert selector.path_.gains == printed([0.9779, 0.4644, 0.1108])
    assert selector.path_.total == printed(1.5531)


def test_worked_example_canonical_correlations():
    squared = canonical_correlations(IRIS7[:, CHOSEN], encode_response(SPECIES)) ** 2
    assert squared == printed([0.9905, 0.5626])
    assert squared.sum() == pytest.approx(select(IRIS7, SPECIES, 3).total, abs=1e-12)


def test_worked_example_fisher():
    assert fisher_criteria(IRIS7[:, CHOSEN], SPECIES) == printed([104.1481, 1.2864])


def test_worked_example_scatter():
    S_w, S_b = scatter_matrices(IRIS7[:, CHOSEN], SPECIES)
    assert S_w == printed(
        np.array([[0.5067, 0.2367, 0.27], [0.2367, 0.1917, 0.18], [0.27, 0.18, 0.305]])
    )
    assert S_b == printed(
        np.array([[22.4305, 10.1333, -1.1886], [10.1333, 4.6483, -0.58], [-1.1886, -0.58, 0.0893]])
    )


@pytest.mark.parametrize("seed", range(10))
def test_sum_of_socc_is_r_squared(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 5)) * 10.0 ** rng.integers(-6, 6, 5), rng.normal(size=40)
    r2 = LinearRegression().fit(X / X.std(axis=0), y).score(X / X.std(axis=0), y)
    assert socc(X, y).sum() == pytest.approx(r2, abs=1e-10)
    assert multiple_correlation(X, y) ** 2 == pytest.approx(r2, abs=1e-10)


@pytest.mark.parametrize("seed", range(10))
def test_sum_of_socc_is_sum_of_squared_canonical_correlations(seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(30, 6)), rng.normal(size=(30, 3))
    Y[:, 0] += X[:, 0]
    expected = naive.squared_canonical_correlations(X, Y)
    assert canonical_correlations(X, Y) ** 2 == pytest.approx(expected, abs=1e-12)
    assert socc(X, Y).sum() == pytest.approx(expected.sum(), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_fisher_criteria_are_the_eigenvalues_of_scatter(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, 60)
    X = rng.normal(size=(60, 5)) + labels[:, None] * rng.normal(size=5)
    S_w, S_b = scatter_matrices(X, labels)
    eigenvalues = eigh(S_b, S_w, eigvals_only=True)[::-1][:3]
    assert fisher_criteria(X, labels) == pytest.approx(eigenvalues, rel=1e-9)


def test_fisher_criteria_order_matches_discriminant_analysis():
    X, labels = naive_iris()
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, labels)
    J = fisher_criteria(X, labels)
    assert J / J.sum() == pytest.approx(lda.explained_variance_ratio_[:2], abs=1e-6)


def naive_iris():
    from sklearn.datasets import load_iris

    return load_iris(return_X_y=True)


def test_rank_deficient_x_and_y_are_handled():
    rng = np.random.default_rng(0)
    B, Y = rng.normal(size=(25, 3)), rng.normal(size=(25, 2))
    X = np.column_stack([B, B @ [1, 2, 3], np.ones(25), B[:, 0]])
    Y = np.column_stack([Y, Y[:, 0] - Y[:, 1]])
    h = socc(X, Y)
    assert h.shape == (6, 3)
    assert (h[3:] == 0).all()
    assert (h[:, 2] == 0).all()
    assert h.sum() == pytest.approx(naive.value(B, Y), abs=1e-12)
    assert len(canonical_correlations(X, Y)) == 2


def test_perfect_separation_has_infinite_fisher_criterion():
    assert fisher_criteria([[0.0], [0.0], [1.0], [1.0]], ["a", "a", "b", "b"]).tolist() == [np.inf]


def test_socc_is_unchanged_by_shift_and_scale():
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(30, 4)), rng.normal(size=(30, 2))
    moved = X * [1e-150, 1e150, -3.0, 1e-12] + [0, 0, 1e6, 0]
    assert socc(moved, Y * 1e-200) == pytest.approx(socc(X, Y), abs=1e-8)


def test_one_column_and_constant_response():
    assert socc([1.0, 2.0, 3.0], [5.0, 5.0, 5.0]).tolist() == [[0.0]]
    assert canonical_correlations([1.0, 2.0, 3.0], [5.0, 5.0, 5.0]).tolist() == []
    assert multiple_correlation([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("X", "Y", "error", "words"),
    [
        ([[1.0], [2.0]], [1.0], ShapeError, "2 and 1"),
        ([[1.0], [np.nan]], [1.0, 2.0], InputError, "column 0 has 1"),
        ([["a"], ["b"]], [1.0, 2.0], InputError, "encode_response"),
        (np.zeros((2, 2, 2)), [1.0, 2.0], ShapeError, r"\(2, 2, 2\)"),
    ],
)
def test_bad_input_is_named(X, Y, error, words):
    with pytest.raises(error, match=words):
        socc(X, Y)


def test_multiple_correlation_wants_one_response():
    with pytest.raises(ShapeError, match="canonical_correlations"):
        multiple_correlation(np.eye(3), np.eye(3))
