"""Noise terms are selected, and take the bias out of the process terms."""

import numpy as np
import pytest

from dynamics_systems import COLORED, colored
from orthoselect import NARX
from orthoselect.dynamics.validation import correlation_tests

SMALL = {"y_lags": 2, "u_lags": 2, "degree": 2}


def test_noise_terms_take_the_bias_away():
    """Least squares gives 0.29 for a coefficient of 0.2."""
    biased, right, found = [], [], []
    for seed in range(8):
        u, y = colored(seed=seed)
        how = {"include": COLORED, **SMALL}
        plain = NARX(3, **how).fit(u, y)
        model = NARX(3, noise_lags=1, **how).fit(u, y)
        biased.append(plain.coef_[0])
        right.append(model.coef_[0])
        noise = [term for term in model.terms_ if term.is_noise]
        found.append(noise[0].name)
        assert noise[0].coef == pytest.approx(0.8, abs=0.08)
        assert model.equation_.endswith("+ e(k)")
    assert np.mean(biased) > 0.27
    assert np.mean(right) == pytest.approx(0.2, abs=0.015)
    assert found == ["e(k-1)"] * 8


def test_process_terms_are_selected_before_noise_terms():
    u, y = colored()
    model = NARX(3, noise_lags=1, **SMALL).fit(u, y)
    assert model.path_.names == [term.name for term in model.terms_[:3]]
    assert {"u(k-2)", "y(k-1)"} <= set(model.path_.names)


def test_one_step_predictions_use_the_noise_and_free_runs_do_not():
    u, y = colored()
    model = NARX(3, noise_lags=1, include=COLORED, **SMALL).fit(u, y)
    one = model.predict(u, y, horizon=1)
    residuals = (y - one)[20:]
    assert residuals.std() == pytest.approx(0.4, abs=0.03)
    plain = NARX(3, include=COLORED, **SMALL).fit(u, y)
    assert (y - plain.predict(u, y, horizon=1))[20:].std() > 0.43
    coef = {term.name: term.coef for term in model.terms_}
    free = model.predict(u, y[:2])
    k = 2
    by_hand = coef["y(k-1)"] * y[k - 1] + coef["y(k-1) u(k-1)"] * y[k - 1] * u[k - 1]
    assert free[k] == pytest.approx(by_hand + coef["u(k-2)"] * u[k - 2])
    two = model.predict(u, y, horizon=2)
    np.testing.assert_allclose(two[2::2], one[2::2])  # what was before a restart is known


def test_residuals_of_a_model_with_noise_terms_are_white():
    u, y = colored(2000)
    how = {"include": COLORED, **SMALL}
    white, left = (NARX(3, noise_lags=n, **how).fit(u, y).validate(u, y) for n in (1, 0))
    assert white.tests[0].share_outside <= 0.15
    assert abs(left.tests[0].values[0]) > 3 * left.tests[0].bound


def test_bounds_hold_for_white_residuals():
    """95 % of the correlations of white noise are within, whatever the input is like."""
    rng = np.random.default_rng(0)
    outside = {}
    for _ in range(60):
        u = np.convolve(rng.normal(size=504), [1, 1, 1, 1, 1], "valid")
        tests = correlation_tests(rng.normal(size=500), u[None], ["u"], [(0, 500)])
        for test in tests:
            outside.setdefault(test.name, []).append(test.share_outside)
    assert len(outside) == 5
    for name, shares in outside.items():
        assert 0.02 < np.mean(shares) < 0.08, name
    alone = correlation_tests(rng.normal(size=500), np.zeros((0, 500)), [], [(0, 500)])
    assert [test.name for test in alone] == ["e, e", "e, e^2", "e^2, e^2"]


def test_what_is_left_out_is_seen_by_the_tests():
    rng = np.random.default_rng(0)
    u, y = rng.normal(size=1000), np.zeros(1000)
    for k in range(2, 1000):
        y[k] = 0.5 * y[k - 1] + u[k - 1] + 0.5 * u[k - 2] ** 2 + 0.1 * rng.normal()
    missing = NARX(y_lags=2, u_lags=2, degree=1).fit(u, y).validate(u, y)
    whole = NARX(y_lags=2, u_lags=2, degree=2).fit(u, y).validate(u, y)
    seen = {t.name: max(map(abs, t.values)) / t.bound for t in missing.tests}
    assert seen["u^2, e"] > 5
    assert max(t.share_outside for t in whole.tests) < 0.2
    assert list(whole.errors) == ["one step", "5 steps", "free run"]
    assert whole.errors["one step"] < whole.errors["free run"]
    assert "outside" in repr(whole)
    pytest.importorskip("matplotlib")
    assert len(whole.plot().axes) == 6
    from orthoselect.plots import new_figure

    model = NARX(y_lags=2, u_lags=2, degree=2).fit(u, y)
    assert len(model.plot(u, y, axes=new_figure(300, 200).subplots()).lines) == 3


def test_sessions_are_not_correlated_across():
    e = np.array([1.0, -1.0, 1.0, -1.0])
    (test, *_) = correlation_tests(e, np.zeros((0, 4)), [], [(0, 2), (2, 4)], most=1)
    assert test.values[0] == pytest.approx(-0.5)  # one pair of each session, over four squares
