"""Networks select the centers that the definition does, and stop where leaving rows out says."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive
from orthoselect import RBFClassifier, RBFRegressor, select
from orthoselect.errors import InputError, SearchStoppedWarning
from orthoselect.matrix.kernel import KERNELS


# Some checks have fewer rows than that, or inputs that explain all.
@pytest.mark.filterwarnings("ignore::orthoselect.errors.SearchStoppedWarning")
@parametrize_with_checks(
    [
        RBFRegressor(3),
        RBFRegressor(width=[2.0, 6.0]),
        RBFRegressor(3, kernel="thin_plate", linear=True, regularization=0.1),
        RBFClassifier(3, width=1.0),
    ]
)
def test_scikit_learn_checks_pass(estimator, check):
    check(estimator)


def standardized(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def problem(seed, outputs=1):
    """Some rows, every tenth of them twice, and outputs that bend."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, int(rng.integers(1, 4)))) * 10.0 ** rng.integers(-3, 4) + 5.0
    X[::10] = X[1::10]
    Z = standardized(X)
    Y = np.sin(2 * Z[:, :1] + np.arange(outputs)) + 0.2 * rng.normal(size=(60, outputs))
    return X, Y * 10.0 ** np.arange(outputs) + 3.0


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("penalty", [0.0, 0.3])
def test_centers_and_errors_are_those_of_the_definition(kernel, penalty, numbers):
    for seed in numbers(6):
        X, Y = problem(seed, outputs=1 + seed % 3)
        linear = seed % 2 == 0
        model = RBFRegressor(6, kernel=kernel, width=1.5, linear=linear, regularization=penalty)
        model.fit(X, Y)
        Z = standardized(X)
        rows = np.unique(Z, axis=0, return_index=True)[1]
        rows = np.sort(rows)
        fixed = np.column_stack([np.ones(60), Z[:, : 99 * linear]])
        P = np.hstack([fixed, naive.radial_columns(Z, Z[rows], kernel, 1.5)])
        first = fixed.shape[1]
        penalties = np.where(np.arange(P.shape[1]) < first, 0.0, penalty)
        C = Y - Y.mean(axis=0)
        taken, gains = naive.regularized_forward(P, C, 6, penalties, include=range(first))
        assert model.center_rows_.tolist() == rows[np.array(taken[first:]) - first].tolist()
        np.testing.assert_array_equal(model.centers_, X[model.center_rows_])
        np.testing.assert_allclose(model.path_.gains[-6:], gains, rtol=1e-6, atol=1e-10)
        shares = C / np.linalg.norm(C, axis=0)
        for k in (0, 3, 6):
            J = taken[: first + k]
            errors = naive.penalized_leave_one_out(P[:, J], shares, penalties[J])
            assert model.press_[k] == pytest.approx((errors**2).sum() / Y.shape[1], rel=1e-6)
            counts = (60 - first - k) / (60 - first - 2 * k)
            if not penalty:
                assert model.adjusted_press_[k] == pytest.approx(model.press_[k] * counts**2)
        if not penalty:
            coef = np.linalg.lstsq(P[:, taken], Y, rcond=None)[0]
            np.testing.assert_allclose(
                model.predict(X).reshape(Y.shape), P[:, taken] @ coef, rtol=1e-6
            )


def test_classes_select_the_centers_that_socc_does():
    X, Y = problem(1)
    y = np.digitize(Y[:, 0], [2.5, 3.5]).astype(str)
    model = RBFClassifier(5, width=1.5).fit(X, y)
    Z = standardized(X)
    rows = np.sort(np.unique(Z, axis=0, return_index=True)[1])
    P = naive.radial_columns(Z, Z[rows], "gaussian", 1.5)
    path = select(P, y, 5, adjust=None)
    assert model.center_rows_.tolist() == rows[path.features].tolist()
    np.testing.assert_allclose(model.path_.gains, path.gains, rtol=1e-7)
    assert model.path_.ceiling == path.ceiling == 2
    assert model.predict_proba(X).shape == (60, 3)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.score(X, y) > 0.8


def series(seed, n=1000):
    """Make the series of Chen, Cowan and Grant (1991): the two values before, and the next."""
    rng = np.random.default_rng(seed)
    y = np.zeros(n + 102)
    for t in range(2, len(y)):
        a, b = y[t - 1], y[t - 2]
        bend = np.exp(-a * a)
        y[t] = (0.8 - 0.5 * bend) * a - (0.3 + 0.9 * bend) * b + 0.1 * np.sin(np.pi * a)
        y[t] += 0.1 * rng.normal()
    return np.column_stack([y[101:-1], y[100:-2]]), y[102:]


def test_few_centers_do_on_the_series_of_1991():
    """Random centers need twice as many; benchmarks/rbf.py has the table."""
    X, y = series(0)
    errors = {}
    for k in (5, 10, 15):
        model = RBFRegressor(k, kernel="thin_plate").fit(X[:500], y[:500])
        errors[k] = float(np.mean((model.predict(X[500:]) - y[500:]) ** 2))
    assert errors[5] < 0.030
    assert errors[10] < 0.014
    assert errors[15] < 0.012
    auto = RBFRegressor(kernel="thin_plate").fit(X[:500], y[:500])
    assert 12 <= auto.n_centers_ <= 20
    assert len(auto.path_) == auto.n_centers_ + 5
    assert auto.path_.chosen == auto.n_centers_ == np.argmin(auto.adjusted_press_)


def test_the_width_is_the_best_of_those_tried():
    X, y = series(1, n=200)
    auto = RBFRegressor().fit(X, y)
    assert len(auto.widths_tried_) == 6
    assert auto.widths_tried_[auto.width_] == min(auto.widths_tried_.values())
    alone = RBFRegressor(width=auto.width_).fit(X, y)
    np.testing.assert_array_equal(alone.center_rows_, auto.center_rows_)
    some = RBFRegressor(width=[0.1, auto.width_]).fit(X, y)
    assert some.width_ == auto.width_


def test_weights_are_copies_and_the_order_of_rows_does_not_matter():
    X, y = series(2, n=80)
    rng = np.random.default_rng(0)
    w = rng.integers(0, 3, 80)
    order = rng.permutation(80)
    at = np.repeat(np.arange(80), w)
    for make in (RBFRegressor(candidates=30), RBFClassifier(candidates=30, width=1.0)):
        target = y if isinstance(make, RBFRegressor) else y > 0
        weighted = clone(make).fit(X, target, sample_weight=w)
        copied = clone(make).fit(X[at], target[at])
        np.testing.assert_array_equal(weighted.centers_, copied.centers_)
        np.testing.assert_allclose(weighted.press_, copied.press_, rtol=1e-8)
        np.testing.assert_allclose(weighted.coef_, copied.coef_, rtol=1e-4, atol=1e-6)
        turned = clone(make).fit(X[order], target[order], sample_weight=w[order])
        np.testing.assert_array_equal(turned.centers_, weighted.centers_)


def test_functions_are_never_all_written_out():
    """All 1500 functions of 1500 rows would take 18 MB."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=1500)
    RBFRegressor(1, width=1.0).fit(X[:20], y[:20])  # imports
    tracemalloc.start()
    RBFRegressor(3, width=1.0, candidates=None).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 9e6


def test_nothing_to_explain_is_a_constant():
    X, _ = series(0, n=50)
    model = RBFRegressor().fit(X, np.full(50, 0.1))
    assert model.n_centers_ == 0
    np.testing.assert_allclose(model.predict(X[:3]), 0.1)


def test_noise_gets_few_centers():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    assert RBFRegressor().fit(X, y).n_centers_ <= 2
    for classes in (2, 3):
        model = RBFClassifier(width=0.1).fit(X, np.arange(200) % classes)
        assert model.n_centers_ == 0  # each function is about one row
        shares = np.bincount(np.arange(200) % classes) / 200
        np.testing.assert_allclose(model.predict_proba(X), np.tile(shares, (200, 1)))


def test_inputs_that_are_combinations_of_others_are_no_terms():
    X, y = series(3, n=100)
    twice = np.column_stack([X, X[:, :1] + X[:, 1:], np.ones(100)])
    model = RBFRegressor(3, width=2.0, linear=True).fit(twice, y)
    assert model.coef_.shape == (2 + 3,)
    assert model.n_centers_ == 3
    assert np.isfinite(model.predict(twice)).all()


def test_a_pickle_predicts_the_same():
    X, y = series(4, n=60)
    model = RBFRegressor(3, width=1.0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


BAD = {
    "`n_centers` should be a whole number of at least 1, or 'auto'; got 0": {"n_centers": 0},
    "at most the number of different rows to choose from, 4; got 5": {
        "n_centers": 5,
        "candidates": 4,
    },
    "`kernel` should be one of 'gaussian'": {"kernel": "cubic"},
    "`width` should be a positive number, a list of them, or 'auto'; got -1": {"width": -1},
    "a list of them, or 'auto'; got []": {"width": []},
    "or 'auto'; got 'wide'": {"width": "wide"},
    "`candidates` should be a whole number": {"candidates": 2.5},
    "`regularization` should be a number of at least 0": {"regularization": -0.1},
    "`patience` should be a whole number": {"patience": 0},
    "`center_cost` should be a number of at least 1": {"center_cost": 0.5},
}


@pytest.mark.parametrize("words", BAD)
@pytest.mark.parametrize("kind", [RBFRegressor, RBFClassifier])
def test_bad_parameters_are_one_clear_line(words, kind):
    X, y = series(0, n=20)
    with pytest.raises(InputError) as error:
        kind(**BAD[words]).fit(X, y > 0)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_one_class_and_huge_inputs_are_refused():
    X, _ = series(0, n=20)
    with pytest.raises(InputError, match="two classes or more; y has one class, 'a'"):
        RBFClassifier().fit(X, ["a"] * 20)
    for scale in (1e100, 1e200, 1e-200):
        with pytest.raises(InputError, match=r"distances .* Rescale .*standardize=True"):
            RBFRegressor(kernel="thin_plate", standardize=False).fit(X * scale, X[:, 0])


def test_bad_rows_are_told_in_one_line(rng):
    X, y = rng.normal(size=(20, 7)), rng.normal(size=20)
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    with pytest.raises(InputError, match=r"got the name 'a'\. Pass the column"):
        RBFRegressor().fit(frame, "a")
    with pytest.raises(InputError, match=r"`y` should hold numbers; .* text, 'b' .*RBFClassifier"):
        RBFRegressor().fit(X, pd.Series(["b", "c"] * 10))
    with pytest.raises(InputError, match=r"`b` holds text\. Omit"):
        RBFRegressor().fit(frame.assign(b="some"), y)
    with pytest.raises(InputError, match=r"`x3`, `x4` and 2 more hold NaN\. Fill"):
        RBFClassifier().fit(np.full((20, 7), np.nan), y > 0)


def test_centers_after_the_stop_are_marked(rng):
    X = rng.normal(size=(80, 2))
    path = RBFRegressor().fit(X, X[:, 0] + 0.3 * rng.normal(size=80)).path_
    lines = path.to_text().splitlines()[2 : 2 + len(path)]
    assert path.chosen < len(path)
    assert ["not chosen" in line for line in lines] == [n >= path.chosen for n in range(len(path))]


@pytest.mark.parametrize("exponent", [-1000, -520, 520, 1000])
@pytest.mark.parametrize("kernel", ["gaussian", "thin_plate"])
def test_scale_does_not_matter_however_large_or_small(kernel, exponent):
    X, y = series(0, n=120)
    usual = RBFRegressor(kernel=kernel).fit(X, y)
    scaled = RBFRegressor(kernel=kernel).fit(np.ldexp(X, [exponent, -exponent]), y)
    np.testing.assert_array_equal(scaled.center_rows_, usual.center_rows_)
    np.testing.assert_array_equal(
        scaled.predict(np.ldexp(X, [exponent, -exponent])), usual.predict(X)
    )
    large = RBFRegressor(kernel=kernel).fit(X, np.ldexp(y, exponent))
    np.testing.assert_array_equal(large.center_rows_, usual.center_rows_)
    np.testing.assert_array_equal(large.predict(X), np.ldexp(usual.predict(X), exponent))
    classes = RBFClassifier(kernel=kernel).fit(np.ldexp(X, exponent), y > 0)
    again = RBFClassifier(kernel=kernel).fit(X, y > 0)
    np.testing.assert_array_equal(classes.center_rows_, again.center_rows_)


def test_fewer_centers_than_asked_for_are_told_with_the_reason():
    X, y = series(0, n=120)
    said = r"of the 60 centers asked for: every other function is nearly a combination of those"
    for model in (RBFRegressor(60, width=50.0), RBFClassifier(60, width=50.0)):
        with pytest.warns(SearchStoppedWarning, match=said) as caught:
            model.fit(X, y > 0)
        assert caught[0].filename == __file__
        assert 0 < model.n_centers_ < 60
    with pytest.warns(SearchStoppedWarning, match=r"selected 0 of the 5 centers asked for: they"):
        RBFRegressor(5, linear=True).fit(X, X[:, 0])


def test_so_many_centers_as_asked_for_where_some_width_has_them():
    """With that many, the adjusted error is not known: it would favor widths that have few."""
    X, y = series(0, n=120)
    model = RBFRegressor(60).fit(X, y)
    assert model.n_centers_ == 60
    enough = {width for width in model.widths_tried_ if _found(60, width, X, y) == 60}
    assert 0 < len(enough) < 6
    assert model.widths_tried_[model.width_] == min(model.widths_tried_[w] for w in enough)
    assert model.press_[60] == model.widths_tried_[model.width_]


def _found(size, width, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchStoppedWarning)
        return RBFRegressor(size, width=width).fit(X, y).n_centers_
