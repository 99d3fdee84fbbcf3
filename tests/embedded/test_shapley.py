"""Shapley values of LDA in closed form, against all coalitions and against shap."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import naive
from orthoselect import select
from orthoselect.errors import InputError, NonFiniteError, SearchStoppedWarning


def problem(seed, N=25, n=4, c=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, n)) @ rng.normal(size=(n, n)) + 4 * rng.normal(size=n)
    y = rng.permutation(np.arange(N) % c)
    X[:, 0] += y
    return X, y


def scores(path, n):
    found = np.zeros(n)
    found[path.features] = path.gains
    return found


def outputs(model):
    return lambda rows: rows @ model.coef_.T + model.intercept_


@pytest.mark.parametrize("c", [2, 3, 5])
@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
@pytest.mark.parametrize("seed", range(3))
def test_is_the_sum_over_all_coalitions(seed, solver, c):
    X, y = problem(seed, N=20, c=c)
    Xs = naive.standardized(X)
    model = LinearDiscriminantAnalysis(solver=solver).fit(Xs, y)
    values = [naive.shapley_values(outputs(model), row, Xs) for row in Xs]
    path = select(X, y, 4, "shapley", solver=solver)
    assert scores(path, 4) == pytest.approx(np.abs(values).sum(axis=(0, 2)))
    assert path.gains == sorted(path.gains, reverse=True)


@pytest.mark.parametrize("c", [2, 4])
@pytest.mark.parametrize("seed", range(5))
def test_is_what_the_shap_package_says(seed, c):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own affairs
        shap = pytest.importorskip("shap")
        X, y = problem(seed, N=80, n=12, c=c)
        model = LinearDiscriminantAnalysis().fit(X, y)
        explainer = shap.LinearExplainer(
            (model.coef_, model.intercept_), shap.maskers.Independent(X, max_samples=len(X))
        )
        values = np.abs(explainer.shap_values(X))
    path = select(X, y, 12, "shapley")
    assert scores(path, 12) == pytest.approx(values.sum(axis=(0, 2)), rel=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_units_and_storage_do_not_matter(seed):
    X, y = problem(seed, N=60, n=8)
    path = select(X, y, 8, "shapley")
    scaled = X * 10.0 ** np.arange(-4, 4) + np.arange(8)
    for stored in (scaled, sp.csr_array(X), np.asfortranarray(X), X.astype(np.float32)):
        other = select(stored, y, 8, "shapley")
        assert other.features == path.features
        assert other.gains == pytest.approx(path.gains, rel=1e-4)


def test_lsqr_is_svd_up_to_a_factor():
    X, y = problem(0, N=60, n=8, c=4)
    a, b = (select(X, y, 8, "shapley", solver=s) for s in ("svd", "lsqr"))
    assert a.features == b.features
    ratios = np.array(a.gains) / b.gains
    assert ratios == pytest.approx(ratios[0])


def test_more_columns_than_rows(rng):
    X = rng.normal(size=(30, 200))
    y = np.arange(30) % 2
    X[:, 17] += 3 * y
    assert select(X, y, 5, "shapley").features[0] == 17
    assert select(X, y, 5, "shapley", solver="lsqr", shrinkage=0.5).features[0] == 17


def test_copies_are_equal_and_the_lowest_index_is_first(rng):
    X = rng.normal(size=(60, 3))
    y = (X[:, 1] + 0.3 * rng.normal(size=60) > 0).astype(int)
    table = np.column_stack([X[:, 0], X[:, 1], X[:, 2], X[:, 1] * -2 + 5])
    path = select(table, y, 2, "shapley")
    assert path.features == [1, 3]
    assert path.gains[0] == pytest.approx(path.gains[1])


def test_constant_columns_are_left_out(rng):
    X = rng.normal(size=(40, 3))
    X[:, 1] = 7.0
    with pytest.warns(SearchStoppedWarning, match="selected 2 of the 3 .* is constant, or"):
        assert 1 not in select(X, np.arange(40) % 2, 3, "shapley").features


def test_as_many_classes_as_rows_leave_no_model(rng):
    with pytest.warns(SearchStoppedWarning, match="selected 0 of the 1 .*as many classes"):
        select(rng.normal(size=(10, 2)), np.arange(10), 1, "shapley", task="classification")


def test_included_features_come_first(rng):
    X, y = problem(1, N=60, n=6)
    path = select(X, y, 3, "shapley", include=[5], exclude=[0])
    assert path.features[0] == 5
    assert 0 not in path.features


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "qr"}, "`solver` should be one of 'svd', 'lsqr', 'eigen'; got 'qr'"),
        ({"shrinkage": 0.5}, "`shrinkage` goes with `solver='lsqr'`"),
        ({"solver": "lsqr", "shrinkage": 2}, "`shrinkage` should be None, 'auto' or a number"),
        ({"solver": "lsqr", "tol": 1e-3}, "`tol` is for `solver='svd'`"),
        ({"tol": 0}, "`tol` should be a number above 0; got 0"),
        ({"task": "regression"}, "is for one column of classes; y holds numbers"),
    ],
)
def test_wrong_options_are_named(options, message):
    X, y = problem(0)
    with pytest.raises(InputError) as raised:
        select(X, y, 2, "shapley", **options)
    assert message in str(raised.value)


def test_several_responses_are_refused():
    X, y = problem(0)
    with pytest.raises(InputError, match="y holds 2 responses"):
        select(X, np.column_stack([y, y]), 2, "shapley")


def test_non_finite_values_are_found():
    X, y = problem(0)
    X[2, 2] = np.inf
    with pytest.raises(NonFiniteError, match="`x2` has 1 infinity"):
        select(X, y, 2, "shapley")
