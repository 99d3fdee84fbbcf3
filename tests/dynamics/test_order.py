"""Criteria of all sizes from one path are those of each size by itself."""

import numpy as np
import pytest

import naive
from orthoselect.dynamics.order import order_table


@pytest.fixture
def path():
    rng = np.random.default_rng(0)
    P = rng.normal(size=(40, 6))
    return P, P[:, :2] @ [1.0, -2.0] + 0.5 * rng.normal(size=40)


def test_press_is_leaving_each_row_out(path):
    P, y = path
    table = order_table(P, y)
    for k in range(1, 7):
        assert table.values["press"][k - 1] == pytest.approx(naive.leave_one_out(P[:, :k], y))


def test_criteria_follow_their_formulas(path):
    P, y = path
    table, N = order_table(P, y), 40
    for k in range(1, 7):
        theta = np.linalg.lstsq(P[:, :k], y, rcond=None)[0]
        rss = float(((y - P[:, :k] @ theta) ** 2).sum())
        fit = N * np.log(rss / N)
        expected = {
            "aic": fit + 2 * k,
            "aicc": fit + 2 * k + 2 * k * (k + 1) / (N - k - 1),
            "bic": fit + k * np.log(N),
            "fpe": fit + N * np.log((N + k) / (N - k)),
            "apress": rss / N / (1 - 2 * k / N) ** 2,
        }
        assert table.rss[k - 1] == pytest.approx(rss)
        for name, value in expected.items():
            assert table.values[name][k - 1] == pytest.approx(value), name
    assert table.best("bic") == 2
    assert table.best("bic", least=4) >= 4
    assert "press" in repr(table)
    assert len(table.to_frame()) == 6


def test_the_smallest_value_decides_not_the_first_rise():
    """A path that gets worse before it gets better."""
    rng = np.random.default_rng(1)
    P = rng.normal(size=(200, 4))
    y = P[:, 0] + P[:, 3] + 0.1 * rng.normal(size=200)
    table = order_table(P, y)
    assert table.values["bic"][1] > table.values["bic"][0]
    assert table.best("bic") == 4
