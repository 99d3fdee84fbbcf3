"""Free runs, compiled and by NumPy, do what one loop after the other does."""

import numpy as np
import pytest

import naive
from orthoselect.dynamics import free_run
from orthoselect.dynamics.free_run import refine, run_free
from orthoselect.dynamics.model import LagModel, segments_of


@pytest.fixture(params=["as built", "numpy"])
def runner(request, monkeypatch):
    if request.param == "numpy":
        monkeypatch.setattr(free_run, "kernels", lambda: None)


def problem(seed):
    rng = np.random.default_rng(seed)
    q, m = int(rng.integers(1, 3)), int(rng.integers(0, 3))
    S = rng.normal(size=(q + m, 60))
    terms = []
    for _ in range(rng.integers(1, 7)):
        factors = []
        for _ in range(rng.integers(0, 4)):
            s = int(rng.integers(q + m))
            factors.append((s, int(rng.integers(1 if s < q else 0, 4))))
        terms.append(tuple(factors))
    outputs = tuple(int(a) for a in rng.integers(0, q, len(terms)))
    model = LagModel(q, tuple(terms), outputs, rng.normal(size=len(terms)) * 0.6)
    horizon = [None, 1, 7][seed % 3]
    return model, S, segments_of([(3, 25), (30, 31), (34, 60)], horizon)


@pytest.mark.parametrize("seed", range(40))
def test_runs_are_those_of_the_plain_loop(seed, runner):
    model, S, segments = problem(seed)
    limit = 1e3
    run = run_free(model, S, segments, limit)
    blank = S[: model.n_outputs].copy()
    for a, b in segments:
        blank[:, a:b] = np.nan
    Y, diverged = naive.free_run(S, segments, *model.arrays, model.coef, limit, blank)
    np.testing.assert_array_equal(run.diverged, diverged)
    np.testing.assert_allclose(run.outputs, Y, rtol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_derivatives_are_those_of_differences(seed, runner):
    model, S, segments = problem(seed)
    run = run_free(model, S, segments, 30.0, derivatives=True)
    for m in range(len(model.terms)):
        step = np.zeros(len(model.coef))
        step[m] = 1e-6
        runs = [run_free(model.with_coef(model.coef + s * step), S, segments, 1e9) for s in (1, -1)]
        slope = (runs[0].outputs - runs[1].outputs) / 2e-6
        known = ~np.isnan(run.outputs[0])
        expected = run.derivatives[known, :, m].T
        size = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(slope[:, known], expected, atol=1e-4 * size)


def test_a_run_that_leaves_its_bound_says_when_and_is_nan_from_there(runner):
    model = LagModel(1, (((0, 1),),), (0,), np.array([2.0]))
    run = run_free(model, np.ones((1, 20)), segments_of([(1, 20)]), 100.0)
    assert run.diverged.tolist() == [7]  # 2, 4, ..., 64, 128
    assert np.isnan(run.outputs[0, 7:]).all()
    assert run.outputs[0, 6] == 64.0


def test_refinement_finds_the_coefficients_that_noise_on_the_output_hides():
    rng = np.random.default_rng(0)
    u, x = rng.normal(size=400), np.zeros(400)
    for k in range(1, 400):
        x[k] = 0.8 * x[k - 1] + 0.5 * u[k - 1] - 0.05 * x[k - 1] ** 3
    y = x + 0.3 * rng.normal(size=400)  # on top of it: least squares of one step is biased
    terms = (((0, 1),), ((1, 1),), ((0, 1), (0, 1), (0, 1)))
    S, segments = np.vstack([y, u]), segments_of([(1, 200), (201, 400)])
    model = LagModel(1, terms, (0, 0, 0), np.zeros(3))
    P, at = model.terms_at(S, np.arange(1, 400)), np.arange(1, 400)
    model = model.with_coef(np.linalg.lstsq(P, y[at], rcond=None)[0])
    assert abs(model.coef[0] - 0.8) > 0.05
    refined, left, J = refine(model, S, segments, y[None])
    np.testing.assert_allclose(refined.coef, [0.8, 0.5, -0.05], atol=0.03)
    assert J.shape == (398, 3)
    assert (left * y[at].std()).std() == pytest.approx(0.3, abs=0.03)
