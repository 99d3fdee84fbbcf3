"""Lasso and elastic net against a fine grid of penalties and scikit-learn's own grid search."""

import math
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import ElasticNet, MultiTaskElasticNet, lars_path
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import naive
from orthoselect import select
from orthoselect.errors import InputError, NonFiniteError, SearchStoppedWarning

RATIOS = {"lasso": 1.0, "elastic_net": 0.5}


def problem(seed):
    rng = np.random.default_rng(seed)
    N, n = int(rng.integers(15, 60)), int(rng.integers(3, 40))
    X = rng.normal(size=(N, n)) @ rng.normal(size=(n, n)) ** 3
    if seed % 3 == 0:
        X = X * (rng.random((N, n)) < 0.5)
    if seed % 4 == 0:
        X[:, n // 2] = 2.5
    if seed % 5 == 0:
        X = X * 10.0 ** rng.integers(-6, 6, n) + 10 * rng.normal(size=n)
    signal = naive.standardized(X)[:, :3].sum(axis=1) + rng.normal(size=N)
    return rng, X, signal


def follows(order, sets):
    """The order takes the sets one after the other, in any order within a set."""
    order = list(order)
    for group in sets:
        head = set(order[: len(group)])
        assert head <= group
        del order[: len(group)]
        if not order:
            return
    assert not order


@pytest.mark.parametrize("method", RATIOS)
@pytest.mark.parametrize("seed", range(60))
def test_order_of_numbers_is_that_of_a_fine_grid(seed, method):
    _, X, signal = problem(seed)
    t = min(6, X.shape[1] - 1)
    sets = naive.entries(
        naive.standardized(X), naive.standardized(signal[:, None]), t, RATIOS[method]
    )
    stored = sp.csr_array(X) if seed % 2 else X
    path = select(stored, signal, t, method, task="regression")
    assert path.gains == sorted(path.gains, reverse=True)
    follows(path.features, sets)


@pytest.mark.parametrize("method", RATIOS)
@pytest.mark.parametrize("seed", range(40))
def test_order_of_classes_is_that_of_a_fine_grid(seed, method):
    _, X, signal = problem(seed)
    y = np.digitize(signal, np.quantile(signal, [0.5] if seed % 2 else [0.25, 0.5, 0.8]))
    Y = naive.one_hot(y)[:, 1:] if seed % 2 else naive.one_hot(y)
    t = min(5, X.shape[1] - 1)
    sets = naive.entries(naive.standardized(X), Y - Y.mean(axis=0), t, RATIOS[method])
    follows(select(X, y, t, method, task="classification").features, sets)


@pytest.mark.parametrize("seed", range(20))
def test_order_of_the_lasso_is_that_of_least_angle_regression(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 80)) @ np.diag(10.0 ** rng.integers(-3, 3, 80))
    y = naive.standardized(X)[:, :4].sum(axis=1) + rng.normal(size=50)
    Xs, ys = naive.standardized(X), naive.standardized(y[:, None])[:, 0]
    _, _, coefficients = lars_path(Xs, ys, method="lasso", max_iter=20)
    order = list(dict.fromkeys(int(j) for c in coefficients.T for j in np.flatnonzero(c)))
    assert select(X, y, 8, "lasso").features[:5] == order[:5]


@pytest.mark.parametrize("method", RATIOS)
@pytest.mark.parametrize("kind", ["numbers", "two", "several"])
@pytest.mark.parametrize("seed", range(2))
def test_coefficients_are_those_of_scikit_learns_grid_search(seed, kind, method):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 8)) * [1, 100, 1, 1, 0.01, 1, 1, 1] + 3
    signal = naive.standardized(X)[:, :3].sum(axis=1) + 2 * rng.normal(size=60)
    y, Y, folds = signal, naive.standardized(signal[:, None]), KFold(3)
    if kind != "numbers":
        y = np.digitize(signal, [0] if kind == "two" else [-1, 1])
        Y = naive.one_hot(y)[:, 1:] if kind == "two" else naive.one_hot(y)
        folds = StratifiedKFold(3)
    Xs = naive.standardized(X)
    ratio = RATIOS[method]
    largest = np.linalg.norm(Xs.T @ (Y - Y.mean(axis=0)), axis=1).max() / len(X) / ratio
    model = (ElasticNet if Y.shape[1] == 1 else MultiTaskElasticNet)(
        l1_ratio=ratio, tol=1e-9, max_iter=10**5
    )
    name = type(model).__name__.lower()
    search = GridSearchCV(
        make_pipeline(StandardScaler(), model),
        {f"{name}__alpha": largest * np.geomspace(1, 1e-2, 10)},
        scoring="neg_mean_squared_error",
        cv=list(folds.split(X, y)),
    ).fit(X, Y)
    coef = np.linalg.norm(np.atleast_2d(search.best_estimator_[-1].coef_), axis=0)
    wanted = [j for j in np.argsort(-coef, kind="stable") if coef[j] > 0]
    task = "regression" if kind == "numbers" else "classification"
    options = {"ranking": "coefficients", "cv": folds, "n_penalties": 10, "eps": 1e-2, "task": task}
    options["tol"] = 1e-9
    path = select(X, y, len(wanted), method, **options)
    assert path.features == wanted
    assert path.gains == pytest.approx(coef[wanted], rel=1e-3)
    same = select(sp.csr_array(X), y, len(wanted), method, **options | {"cv": 3})
    assert same.features == wanted
    at = search.best_params_[f"{name}__alpha"]
    given = select(
        X, y, len(wanted), method, ranking="coefficients", penalty=at, task=task, tol=1e-9
    )
    assert given.features == wanted


@pytest.mark.parametrize("method", RATIOS)
@pytest.mark.parametrize("options", [{}, {"ranking": "coefficients", "penalty": 0.05, "tol": 1e-9}])
def test_whole_weights_are_repeated_rows(rng, method, options):
    X = rng.normal(size=(50, 12)) + 5
    y = X[:, 2] - X[:, 7] + rng.normal(size=50)
    w = rng.integers(0, 4, 50)
    a = select(X, y, 5, method, sample_weight=w, **options)
    b = select(np.repeat(X, w, axis=0), np.repeat(y, w), 5, method, **options)
    assert a.features == b.features
    assert a.gains == pytest.approx(b.gains, rel=1e-5)


def test_rows_without_weight_are_in_no_fold(rng):
    X = rng.normal(size=(60, 6))
    y = X[:, 1] + rng.normal(size=60)
    w = np.repeat([0.0, 1.0], 30)
    a = select(X, y, 1, "lasso", ranking="coefficients", sample_weight=w)
    b = select(X[30:], y[30:], 1, "lasso", ranking="coefficients")
    assert a.features == b.features
    assert a.gains == pytest.approx(b.gains)


def test_of_equal_columns_the_first_enters_and_only_the_elastic_net_takes_both(rng):
    base = rng.normal(size=(80, 4))
    X = np.column_stack([base[:, 0], base[:, 1], base[:, 1] * -3 + 7, base[:, 2], base[:, 1]])
    y = base[:, 1] + 0.1 * base[:, 0] + 0.1 * rng.normal(size=80)
    with pytest.warns(SearchStoppedWarning, match="selected 3 of the 5"):
        assert select(X, y, 5, "lasso").features == [1, 0, 3]
    assert select(X, y, 3, "elastic_net").features == [1, 2, 4]


def test_penalties_go_on_below_the_grid(rng):
    X = rng.normal(size=(100, 5))
    y = X[:, 0] * 100 + X[:, 1:] @ [1.0, 0.9, 0.8, 0.7]
    path = select(X, y, 5, "lasso", eps=0.05, n_penalties=10)
    assert len(path) == 5


def test_constant_columns_never_enter(rng):
    X = rng.normal(size=(40, 4))
    X[:, 2] = 1e9
    y = X[:, 0] + 0.1 * X[:, 1:2].sum(axis=1) + 0.01 * X[:, 3]
    with pytest.warns(SearchStoppedWarning, match="no other feature enters down to a penalty"):
        assert sorted(select(X, y, 4, "lasso").features) == [0, 1, 3]


def test_nothing_to_explain(rng):
    with pytest.warns(SearchStoppedWarning, match="selected 0 of the 1 .* nothing to explain"):
        select(np.ones((20, 2)), rng.normal(size=20), 1, "lasso")


def test_a_model_with_few_coefficients_gives_few_features(rng):
    X = rng.normal(size=(40, 6))
    with pytest.warns(SearchStoppedWarning, match=r"selected 1 of the 4 .*penalty 0.5 all other"):
        select(X, X[:, 3], 4, "lasso", ranking="coefficients", penalty=0.5)


def test_included_features_come_first_and_excluded_ones_are_left_out(rng):
    X = rng.normal(size=(60, 6))
    y = X @ [3, 2.5, 2, 1.5, 1, 0.5] + rng.normal(size=60)
    assert select(X, y, 4, "lasso", include=[5, 1], exclude=[0]).features[:2] == [5, 1]
    rest = select(X, y, 4, "lasso", include=[5, 1], exclude=[0]).features[2:]
    alone = select(X[:, 1:], y, 5, "lasso").features
    assert rest == [j + 1 for j in alone if j + 1 not in (5, 1)][:2]


def test_scale_matters_only_without_standardization(rng):
    X = rng.normal(size=(60, 4))
    y = X @ [1.0, 0.9, 0.8, 0.7]
    scaled = X * [1, 1, 1, 1000]
    assert select(X, y, 4, "lasso").features == select(scaled, y, 4, "lasso").features
    assert select(scaled, y, 1, "lasso", standardize=False).features == [3]
    centered = X - X.mean(axis=0)
    y_s = naive.standardized(y[:, None])
    follows(
        select(X, y, 4, "lasso", standardize=False).features,
        naive.entries(centered, y_s, 4, 1.0),
    )


def test_classes_may_be_coded_otherwise(rng):
    X = rng.normal(size=(90, 5))
    y = np.digitize(X[:, 1], [-0.4, 0.4])
    ordinal = select(X, y, 1, "lasso", coding="ordinal")
    number = select(X, y, 1, "lasso", task="regression")
    assert ordinal.features == number.features == [1]
    assert ordinal.gains[0] == pytest.approx(number.gains[0] * y.std())


def test_float32_selects_as_double(rng):
    X = (rng.normal(size=(200, 50)) + 3).astype(np.float32)
    y = rng.integers(0, 3, 200)
    for method in RATIOS:
        a, b = (select(A, y, 8, method) for A in (X, X.astype(np.float64)))
        assert a.features == b.features


def test_has_no_ceiling(rng):
    X = rng.normal(size=(40, 3))
    assert math.isnan(select(X, X[:, 0], 1, "lasso", task="regression").ceiling)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ranking": "best"}, "`ranking` should be one of 'path', 'coefficients'; got 'best'"),
        ({"coding": "binary"}, "`coding` should be one of"),
        ({"standardize": "no"}, "`standardize` should be True or False; got 'no'"),
        ({"n_penalties": 1}, "`n_penalties` should be a whole number of at least 2; got 1"),
        ({"n_penalties": 2.5}, "`n_penalties` should be a whole number"),
        ({"eps": 1.0}, "`eps` should be a number above 0 and below 1; got 1.0"),
        ({"eps": 0}, "`eps` should be a number above 0 and below 1; got 0"),
        ({"tol": -1}, "`tol` should be a number above 0; got -1"),
        ({"max_iter": 0}, "`max_iter` should be a whole number of at least 1; got 0"),
        ({"penalty": 0.1}, "`penalty` is for `ranking='coefficients'`"),
        ({"cv": 3}, "`cv` is for `ranking='coefficients'`"),
        ({"ranking": "coefficients", "penalty": 1, "cv": 2}, "not both"),
        ({"ranking": "coefficients", "penalty": 0}, "`penalty` should be a number above 0"),
        ({"ranking": "coefficients", "cv": 1}, "`cv` should be a number of folds or a splitter"),
        ({"ranking": "coefficients", "cv": "x"}, "`cv` should be a number of folds"),
        ({"l1_ratio": 1.5}, "`l1_ratio` should be above 0 and at most 1; got 1.5"),
        ({"l1_ratio": 0}, "`l1_ratio` should be a number above 0; got 0"),
    ],
)
def test_wrong_options_are_named(rng, options, message):
    with pytest.raises(InputError) as raised:
        select(rng.normal(size=(40, 3)), np.arange(40) % 2, 1, "elastic_net", **options)
    assert message in str(raised.value)


def test_non_finite_values_are_found(rng):
    X = rng.normal(size=(30, 3))
    X[4, 1] = np.nan
    with pytest.raises(NonFiniteError, match=r"`x1` \(1 missing of 30\)"):
        select(X, np.arange(30) % 2, 1, "lasso")


def test_scikit_learn_loads_only_when_asked():
    code = (
        "import sys, numpy as np, orthoselect;"
        "orthoselect.select(np.eye(4), [0, 0, 1, 1], 1);"
        "assert 'sklearn' not in sys.modules;"
        "orthoselect.select(np.eye(4), [0, 0, 1, 1], 1, 'lasso');"
        "assert 'sklearn' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
