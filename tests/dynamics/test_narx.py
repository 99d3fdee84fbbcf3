"""NARX finds known terms, predicts in every way, and says what is wrong with its input."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError

from dynamics_systems import SIMPLE, simple, tank
from orthoselect import NARX, LaggedTerms, select
from orthoselect.errors import (
    DivergedWarning,
    DoubtfulOrderWarning,
    GapsInPastWarning,
    InputError,
    OversampledWarning,
    TooManyRequestedWarning,
)

SMALL = {"y_lags": 2, "u_lags": 2, "degree": 2}


@pytest.fixture(scope="module")
def fitted():
    u, y = simple()
    return NARX(**SMALL).fit(u, y)


@pytest.mark.parametrize("order", ["aic", "aicc", "bic", "fpe", "apress", "press", "free-run"])
def test_every_order_finds_the_terms(order):
    u, y = simple()
    model = NARX(order=order, **SMALL).fit(u, y)
    assert {term.name for term in model.terms_} >= SIMPLE
    assert {term.name for term in model.terms_[:3]} == SIMPLE
    assert model.n_terms_ == len(model.terms_) <= (3 if order == "bic" else 12)


@pytest.mark.parametrize("criterion", ["err", "mser", "socc", "obcc"])
def test_every_criterion_finds_the_terms(criterion):
    u, y = simple()
    constant = {"1"} if criterion in ("socc", "obcc") else set()
    found = NARX(3 + len(constant), criterion=criterion, **SMALL).fit(u, y)
    assert set(found.path_.names) == SIMPLE | constant


@pytest.mark.parametrize("criterion", ["err", "socc", "obcc"])
def test_every_criterion_fits_a_signal_about_its_mean(criterion):
    u, y = simple(noise=0.01)
    y = y + 7.0
    how = {"y_lags": 2, "u_lags": 2, "degree": 1, "criterion": criterion}
    model = NARX(**how).fit(u, y)
    assert "1" in [term.name for term in model.terms_]
    assert {"u(k-1)", "y(k-1)"} < {term.name for term in model.terms_}
    left = y - model.predict(u, y, horizon=1)
    assert abs(left[2:].mean()) < 1e-10
    assert "1" not in NARX(exclude=["1"], **how).fit(u, y).path_.names


def test_an_order_with_too_little_to_choose_by_is_doubtful():
    rng = np.random.default_rng(0)
    u, y = rng.normal(size=(2, 40))
    with pytest.warns(DoubtfulOrderWarning, match="37 rows are fewer than the 120 candidates"):
        NARX().fit(u, y)
    u, y = simple()
    with pytest.warns(DoubtfulOrderWarning, match="at the end of the path"):
        NARX(max_terms=2, **SMALL).fit(u, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NARX(**SMALL).fit(u, y)
        NARX(2, **SMALL).fit(u[:20], y[:20])  # the number is the user's own


@pytest.mark.parametrize("criterion", ["auto", "mser", "socc"])
def test_what_terms_added_is_headed_by_the_criterion(criterion):
    u, y = simple()
    name = "err" if criterion == "auto" else criterion
    terms = NARX(3, criterion=criterion, **SMALL).fit(u, y).terms_
    assert repr(terms).split()[2] == list(terms.to_frame().columns)[2] == name
    assert pickle.loads(pickle.dumps(terms)).measure == name
    noisy = NARX(3, criterion=criterion, noise_lags=1, **SMALL).fit(u, y).terms_
    judged_by_two = criterion != "auto" and any(term.is_noise for term in noisy)
    assert noisy.measure == ("gain" if judged_by_two else name)


def test_coefficients_are_least_squares_and_their_errors_hold(fitted):
    true = {"y(k-1)": 0.5, "u(k-1)": 1.0, "y(k-2) u(k)": -0.2}
    for term in fitted.terms_:
        assert abs(term.coef - true[term.name]) < 4 * term.error
        assert term.error < 0.001
    assert fitted.equation_.startswith("y(k) = ")
    assert "y(k-2) u(k)" in fitted.equation_
    assert len(fitted.terms_.to_frame()) == 3
    assert "standard error" in repr(fitted.terms_)


def test_standard_errors_are_calibrated():
    off = []
    for seed in range(60):
        u, y = simple(200, seed, noise=0.3)
        model = NARX(3, include=sorted(SIMPLE), **SMALL).fit(u, y)
        by_name = {term.name: term for term in model.terms_}
        off.append((by_name["y(k-1)"].coef - 0.5) / by_name["y(k-1)"].error)
    assert 0.8 < np.std(off) < 1.25


def test_predictions_of_every_horizon(fitted):
    u, y = simple(300, seed=5, noise=0.05)
    one = fitted.predict(u, y, horizon=1)
    coef = {term.name: term.coef for term in fitted.terms_}
    k = np.arange(2, 300)
    by_hand = coef["y(k-1)"] * y[k - 1] + coef["u(k-1)"] * u[k - 1]
    by_hand += coef["y(k-2) u(k)"] * y[k - 2] * u[k]
    np.testing.assert_allclose(one[2:], by_hand)
    np.testing.assert_array_equal(one[:2], y[:2])
    free = fitted.predict(u, y[:2])
    np.testing.assert_allclose(free, fitted.predict(u, y))  # of which the first rows count
    np.testing.assert_allclose(fitted.predict(u, y, horizon=298), free)
    five = fitted.predict(u, y, horizon=5)
    np.testing.assert_allclose(five[2::5], one[2::5])  # each restart begins with one step
    errors = [np.abs(found - y).mean() for found in (one, five, free)]
    assert errors[0] < errors[1] < errors[2]
    assert fitted.score(u, y, horizon=1) > fitted.score(u, y) > 0.95
    more = fitted.predict(u, y[:10])
    np.testing.assert_array_equal(more[:10], y[:10])


def test_sessions_are_run_one_by_one(fitted):
    u, y = simple(300, seed=5)
    both = fitted.predict(u, y, sessions=[100, 200])
    apart = [fitted.predict(u[s], y[s]) for s in (slice(0, 100), slice(100, 300))]
    np.testing.assert_allclose(both, np.concatenate(apart))


def test_sessions_and_gaps_do_not_mix_in_fit():
    parts = [simple(150, seed) for seed in range(3)]
    u, y = (np.concatenate(each) for each in zip(*parts))
    model = NARX(3, **SMALL).fit(u, y, sessions=[150] * 3)
    assert set(model.path_.names) == SIMPLE
    gapped = [np.concatenate([np.append(each[i], np.nan) for each in parts]) for i in (0, 1)]
    np.testing.assert_allclose(NARX(3, **SMALL).fit(*gapped).coef_, model.coef_)


@pytest.mark.parametrize("kind", ["list", "pandas", "Float64", "frame", "polars", "mapping"])
def test_gaps_of_every_library_end_a_session_as_nan_does(kind):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    u, y = simple()
    u, y = u[:200].copy(), y[:200].copy()
    u[70], y[[3, 120]] = np.nan, np.nan

    def given(values, name):
        objects = [None if np.isnan(v) else v for v in values.tolist()]
        return {
            "list": lambda: objects,
            "pandas": lambda: pd.Series(values),
            "Float64": lambda: pd.Series(objects, dtype="Float64"),
            "frame": lambda: pd.DataFrame({name: values}),
            "polars": lambda: pl.Series(name, objects),
            "mapping": lambda: {name: pd.Series(objects, dtype="Float64")},
        }[kind]()

    expected = NARX(**SMALL).fit(u, y)
    found = NARX(**SMALL).fit(given(u, "u"), given(y, "y"))
    assert found.path_.names == expected.path_.names
    np.testing.assert_array_equal(found.coef_, expected.coef_)


def test_gaps_in_what_was_measured_end_a_prediction_and_begin_a_new_one(fitted):
    u, y = simple(60, seed=5)
    gapped = y.copy()
    gapped[[20, 40]] = np.nan
    with pytest.warns(GapsInPastWarning, match=r"row 20 .* and 1 more row\(s\) have: .* NaN there"):
        found = fitted.predict(u, gapped, horizon=1)
    assert np.flatnonzero(np.isnan(found)).tolist() == [20, 40]
    whole = fitted.predict(u, y, horizon=1)
    given = [0, 1, 21, 22, 41, 42]
    np.testing.assert_array_equal(found[given], y[given])
    others = np.setdiff1d(np.arange(60), [*given, 20, 40])
    np.testing.assert_allclose(found[others], whole[others])


def test_terms_are_included_and_excluded_by_factors_in_any_order():
    u, y = simple()
    model = NARX(2, include=["u(k) y(k-2)"], exclude=["u(k-1) * u(k-2)"], **SMALL).fit(u, y)
    assert model.path_.names[0] == "y(k-2) u(k)"
    terms = LaggedTerms({"y": y, "u": u}, "y", "u", lags=2, degree=3)
    left = select(terms, None, 54, "err", exclude=["u(k)^2 y(k-1)", "u(k) u(k) u(k-1)"])
    assert not {"y(k-1) u(k)^2", "u(k)^2 u(k-1)"} & set(left.names)
    with pytest.raises(InputError, match=r"there is no `u\(k\)y\(k-2\)`"):
        NARX(2, include=["u(k)y(k-2)"], **SMALL).fit(u, y)


def test_more_terms_than_there_are_is_said():
    u, y = simple()
    with pytest.warns(TooManyRequestedWarning, match="`n_terms` is 25, but there are 21 terms"):
        NARX(25, **SMALL).fit(u, y)


def test_weights_of_zero_leave_rows_out():
    u, y = simple(400)
    w = np.ones(400)
    w[200:] = 0.0
    spoiled = y.copy()
    spoiled[203:] += 100.0
    model = NARX(3, **SMALL).fit(u, spoiled, sample_weight=w)
    np.testing.assert_allclose(model.coef_, NARX(3, **SMALL).fit(u[:200], y[:200]).coef_)


def test_no_inputs_and_no_past():
    rng = np.random.default_rng(0)
    x = np.full(200, 0.3)
    for k in range(1, 200):
        x[k] = 3.6 * x[k - 1] - 3.6 * x[k - 1] ** 2 + 1e-4 * rng.normal()
    nar = NARX(3, y_lags=1, degree=2).fit(None, x)
    assert set(nar.path_.names) == {"1", "y(k-1)", "y(k-1)^2"}
    assert dict(zip(nar.path_.names, nar.coef_))["y(k-1)"] == pytest.approx(3.6, abs=0.01)
    assert len(nar.predict(None, x[:1], n_rows=20)) == 20
    u = rng.normal(size=300)
    v = np.convolve(u, [0.0, 1.0, 0.5])[:300] ** 1
    nfir = NARX(2, y_lags=0, u_lags=2, degree=1).fit(u, v)
    assert set(nfir.path_.names) == {"u(k-1)", "u(k-2)"}
    np.testing.assert_allclose(nfir.predict(u)[2:], v[2:], atol=1e-9)


@pytest.mark.parametrize("structure", ["one", "each"])
def test_several_inputs_and_outputs(structure, library):
    rng = np.random.default_rng(0)
    u, v, a, b = *rng.normal(size=(2, 500)), np.zeros(500), np.zeros(500)
    for k in range(1, 500):
        a[k] = 0.5 * a[k - 1] + u[k - 1] + 0.3 * b[k - 1]
        b[k] = 0.4 * b[k - 1] + v[k] * u[k - 1]
    inputs, outputs = library.frame({"u": u, "v": v}), library.frame({"a": a, "b": b})
    how = {"y_lags": 1, "u_lags": 1, "degree": 2, "structure": structure}
    model = NARX(**how).fit(inputs, outputs)
    by_output = {name: {t.name for t in model.terms_ if t.output == name} for name in "ab"}
    if structure == "each":
        assert by_output["a"] == {"a(k-1)", "u(k-1)", "b(k-1)"}
        assert by_output["b"] == {"b(k-1)", "u(k-1) v(k)"}
    else:
        assert by_output["a"] == by_output["b"] >= {"a(k-1)", "u(k-1)", "b(k-1)", "u(k-1) v(k)"}
    Y = np.column_stack([a, b])
    np.testing.assert_allclose(model.predict(inputs, Y[:1]), Y, atol=1e-6)
    assert model.score(inputs, outputs) > 0.999
    assert len(model.equation_.splitlines()) == 2


def test_free_run_refinement_improves_the_free_run():
    u, y = simple(400, noise=0.0)
    y = y + 0.4 * np.random.default_rng(1).normal(size=400)
    how = {"include": sorted(SIMPLE), **SMALL}
    one, free = (NARX(3, fit=kind, **how).fit(u, y) for kind in ("one-step", "free-run"))
    assert free.score(u, y) > one.score(u, y)
    coef = {term.name: term.coef for term in free.terms_}
    assert coef["y(k-1)"] == pytest.approx(0.5, abs=0.05)
    assert abs(dict(zip(one.path_.names, one.coef_))["y(k-1)"] - 0.5) > 0.05


def test_standard_errors_of_a_free_run_are_calibrated_for_white_noise_on_the_output():
    off = []
    for seed in range(30):
        u, x = simple(200, seed, noise=0.0)
        y = x + 0.2 * np.random.default_rng(seed + 100).normal(size=200)
        model = NARX(3, fit="free-run", include=sorted(SIMPLE), **SMALL).fit(u, y)
        term = next(t for t in model.terms_ if t.name == "u(k-1)")
        off.append((term.coef - 1.0) / term.error)
    assert 0.7 < np.std(off) < 1.4


def test_a_run_that_diverges_is_said_with_its_row():
    rng = np.random.default_rng(0)
    u, y = rng.normal(size=300), np.zeros(300)
    for k in range(1, 300):
        y[k] = 0.9 * y[k - 1] + 0.3 * u[k - 1] - 0.05 * y[k - 1] ** 3
    grown = NARX(3, y_lags=1, u_lags=1).fit(u, y)
    with pytest.warns(DivergedWarning, match=r"diverges at row \d+") as told:
        found = grown.predict(100 * u, 100 * y)
    row = int(str(told[0].message).split("row ")[1].split(":")[0].split()[0])
    assert np.isnan(found[row:]).all()
    assert not np.isnan(found[:row]).any()
    with pytest.warns(DivergedWarning):
        assert "diverged" in repr(grown.validate(100 * u, 100 * y))
    with pytest.warns(DivergedWarning):
        assert grown.score(100 * u, 100 * y) == float("-inf")


def test_oversampled_signals_are_noticed_and_keep_their_digits():
    u, y = tank()
    how = {"y_lags": 2, "u_lags": 2, "degree": 2}
    with pytest.warns(OversampledWarning, match=r"`y\(k-1\)` alone explains 99\.99"):
        model = NARX(4, **how).fit(u, y)
    assert model.path_.names[0] == "y(k-1)"
    assert {"u(k-1)", "y(k-1)^2"} <= set(model.path_.names[:3])
    assert model.path_.total == pytest.approx(1.0)
    assert 0 < model.path_.gains[2] < 1e-6
    with pytest.warns(OversampledWarning, match="use criterion 'err'"):
        NARX(2, criterion="mser", **how).fit(u, y)
    with pytest.warns(OversampledWarning, match=r"`include` begins with `u\(k\)`; begin it with"):
        NARX(2, include=["u(k)"], **how).fit(u, y)


def test_selecting_for_the_change_is_the_same_path(monkeypatch):
    """Of a signal that is sampled fast, but not so fast that digits are lost."""
    from orthoselect.dynamics import structure

    u, y = simple(500, noise=0.1)
    y = y + 10.0  # so that y(k-1) explains much
    how = {"include": ["y(k-1)"], **SMALL}
    plain = NARX(8, **how).fit(u, y).path_
    monkeypatch.setattr(structure, "_LITTLE", 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OversampledWarning)
        changed = NARX(8, **how).fit(u, y).path_
    assert changed.names == plain.names
    np.testing.assert_allclose(changed.gains, plain.gains, rtol=1e-6)


def test_scikit_learn_can_copy_it(fitted):
    model = NARX(5, fit="free-run", order="aic")
    assert model.get_params()["fit"] == "free-run"
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(fit="one-step", degree=2).fit_to == "one-step"
    assert callable(model.fit)
    assert "order='aic'" in repr(model)
    assert is_regressor(model)
    assert is_classifier(NARX(task="classification"))
    with pytest.raises(NotFittedError):
        model.predict(np.ones(3))
    u, y = simple(50, 3)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(u, y[:2]),
                                  fitted.predict(u, y[:2]))  # fmt: skip


BAD_FITS = {
    "lags should be shorter than a session": ({"y_lags": 700, "degree": 1}, {}),
    "`u` is 1 throughout. Leave it out": ({}, {"u": np.ones(600)}),
    "`y` is 0 throughout. There is nothing to model": ({}, {"y": np.zeros(600)}),
    "u and y should have the same number of rows; u has 3, y has 600": ({}, {"u": np.ones(3)}),
    "`order` should be one of": ({"order": "cv"}, {}),
    "`fit` should be one of": ({"fit": "best"}, {}),
    "`n_terms` should be a whole number": ({"n_terms": 0}, {}),
    "`noise_lags` should be a whole number": ({"noise_lags": -1}, {}),
    "`include` should name columns of the table; there is no `z`": ({"include": ["z"]}, {}),
    "there should be lags of outputs or of inputs": ({"y_lags": 0}, {"u": None}),
    "2 with a delay of 3 leaves none": ({"u_lags": 2, "delay": 3}, {}),
    "`search` should be one of": ({"search": "sideways"}, {}),
    "y should hold numbers; it holds labels. Of classes, set `task='classification'`": (
        {}, {"y": np.array(["a", "b"] * 300)}),
    "`y` occurs twice. Rename one; or, if it is the target, leave it out of the inputs": (
        {}, {"u": pd.DataFrame({"y": np.arange(600.0)}), "y": pd.Series(np.ones(600), name="y")}),
    "`u` has 1 infinite value(s), the first in row 2. Replace it, or put NaN there": (
        {}, {"u": np.append([0, 1, np.inf], np.ones(597))}),
    "`t` holds dates or times. Leave it out": (
        {}, {"u": pd.DataFrame({"t": pd.date_range("2026", periods=600)})}),
    "`n_terms` should be at least the number of terms in `include`, 2; got 1": (
        {"n_terms": 1, "include": ["u(k)", "1"]}, {}),
    "`n_terms` should be a whole number of at least 1, or 'auto'; got True": (
        {"n_terms": True}, {}),
    "`n_terms` should be a whole number of at least 1, or 'auto'; got '3'": ({"n_terms": "3"}, {}),
    "`exclude` should leave a term to select; it names all 6": (
        {"y_lags": 1, "u_lags": [0], "degree": 2,
         "exclude": ["1", "u(k)", "y(k-1)", "u(k) y(k-1)", "u(k)^2", "y(k-1)^2"]}, {}),
    "noise terms are for one output": ({"noise_lags": 1}, {"y": np.random.rand(600, 2)}),
}  # fmt: skip


@pytest.mark.parametrize("words", BAD_FITS)
def test_bad_input_to_fit_is_one_clear_line(words):
    parameters, given = BAD_FITS[words]
    u, y = simple()
    with pytest.raises(InputError) as error:
        NARX(**parameters).fit(given.get("u", u), given.get("y", y))
    assert words in str(error.value)
    assert "\n" not in str(error.value)


BAD_PREDICTIONS = {
    "`y0` should have at least as many rows as the longest lag, 2; it has 1": {"y0": np.ones(1)},
    "`u` should hold the 1 input(s) of the model, `u`; it is None": {"u": None},
    "`y0` should hold the first 2 row(s)": {"y0": None},
    "should have no missing values where a model is run; row 3": {"u": [0, 1, 2, np.nan, 4.0]},
    "`y0` should have no missing values": {"y0": [np.nan, 1.0]},
    "with a horizon `y0` should have all 5 rows": {"y0": np.ones(2), "horizon": 1},
    "`horizon` should be None, or a whole number": {"horizon": 0},
    "`u` should have the 1 input(s)": {"u": np.ones((5, 2))},
    "not have more rows than are predicted": {"y0": np.ones(9)},
}


@pytest.mark.parametrize("words", BAD_PREDICTIONS)
def test_bad_input_to_predict_is_one_clear_line(words, fitted):
    given = {"u": np.arange(5.0), "y0": np.ones(2), **BAD_PREDICTIONS[words]}
    with pytest.raises(InputError) as error:
        fitted.predict(**given)
    assert words in str(error.value)


def test_inputs_in_another_order_are_found_by_name_everywhere():
    rng = np.random.default_rng(0)
    u = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    y = np.zeros(200)
    for k in range(1, 200):
        y[k] = 0.5 * y[k - 1] + u.a[k - 1] - 0.3 * u.b[k] + 0.05 * rng.normal()
    model = NARX(y_lags=1, u_lags=1, degree=1).fit(u, y)
    for other in (u[["b", "a"]], u.assign(c=0.0)[["c", "b", "a"]], {"b": u.b, "a": u.a}):
        assert model.score(other, y) == model.score(u, y)
        assert model.validate(other, y).errors == model.validate(u, y).errors
        np.testing.assert_array_equal(model.predict(other, y[:1]), model.predict(u, y[:1]))
    for call in (model.score, model.validate, model.plot, model.predict):
        with pytest.raises(InputError, match="`a` is not among its 2"):
            call(u.rename(columns={"a": "other"}), y)
        with pytest.raises(InputError, match="has 3 column"):
            call(np.ones((200, 3)), y)


def test_a_validation_shows_what_the_last_value_alone_would_do():
    y = np.cumsum(np.random.default_rng(0).normal(size=300)) + 50
    found = NARX(2, y_lags=2, degree=1).fit(None, y[:200]).validate(None, y[200:])
    expected = np.sqrt(np.mean(np.diff(y[201:]) ** 2))  # rows after the longest lag
    assert found.persistence == pytest.approx(expected, rel=1e-12)
    assert f"last value  {expected:.5g}" in repr(found).replace("   ", "  ")
    # A random walk: no model can do better than its last value.
    assert found.beats_last_value == ("found nothing to use" not in repr(found))
    u = np.random.default_rng(1).normal(size=300)
    useless = NARX(1, y_lags=0, u_lags=1, degree=1).fit(u[:200], y[:200]).validate(u[200:], y[200:])
    assert not useless.beats_last_value
    assert "no better than the last value" in repr(useless)
