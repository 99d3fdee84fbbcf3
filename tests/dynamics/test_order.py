"""Criteria of all sizes from one path are those of each size by itself."""

import numpy as np
import pytest

import naive
from orthoselect.dynamics.order import OrderTable, order_table


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


def test_sets_that_are_not_nested_are_judged_each_by_itself(path):
    P, y = path
    sets = [[3], [1, 0], [5, 2, 4]]
    table = order_table(P, y, sets)
    for place, each in enumerate(sets):
        alone = order_table(P[:, each], y)
        assert table.sizes[place] == alone.sizes[-1]
        assert table.rss[place] == pytest.approx(alone.rss[-1])
        for name in table.values:
            assert table.values[name][place] == pytest.approx(alone.values[name][-1]), name
    assert table.best("bic") == 2


def test_fewer_terms_win_by_free_runs_within_a_standard_error():
    blocks = {1: (4.0, 4.0, 4.1), 2: (1.0, 1.3, 0.9), 3: (1.1, 0.9, 1.0), 4: (np.inf,) * 3}
    errors = tuple(float(np.sqrt(np.mean(each))) for each in blocks.values())
    table = OrderTable((1, 2, 3, 4), (4.0, 3.0, 2.0, 1.0), {"free-run": errors}, blocks)
    assert table.best("free-run") == 2  # worse than 3 by 0.07 +- 0.17
    assert table.best("free-run", rule="best") == 3
    assert table.best("free-run", least=3) == 3
    apart = OrderTable(table.sizes, table.rss, table.values, {**blocks, 2: (1.15, 0.95, 1.05)})
    assert apart.best("free-run") == 3  # worse by 0.05 in every block
    assert table.smallest("free-run") == errors[2]
    values = {"free-run": (np.nan, np.inf, 2.0, np.nan), "bic": (np.nan,) * 4}
    gapped = OrderTable(table.sizes, table.rss, values)
    assert gapped.smallest("free-run") == 2.0
    assert gapped.smallest("bic") == np.inf


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
