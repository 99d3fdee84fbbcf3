"""Errors and slack are those of the formulas at the head of uncertainty.py, which are slow here."""

from functools import partial

import numpy as np
import pytest

from orthoselect import select
from orthoselect.criteria.uncertainty import Uncertainty, block_gains, single_gains
from orthoselect.errors import SearchStoppedWarning
from orthoselect.matrix.base import EPS

N = 5
close_to = partial(pytest.approx, rel=1e-6, abs=0.0)  # errors are tiny


class Sums:
    """The formulas, summed up over all rows whenever they are asked for."""

    def __init__(self, initial):
        self.known = [(error**2, error**2, 1.0, 0) for error in initial]
        self.rows = []  # e^2, b^2, ||c||^2

    def grow(self, error, along2, row=None):
        above, left = ([], 1.0) if row is None else row
        e2 = (error**2 + sum(L**2 * e for L, (e, _, _) in zip(above, self.rows))) / left
        b2 = (1 + sum(L**2 * b for L, (_, b, _) in zip(above, self.rows))) / left
        self.rows.append((e2, b2, along2))

    def measured(self, i, d):
        self.known[i] = ((2 * EPS) ** 2, (4 * EPS) ** 2 * d, d, len(self.rows))

    def of(self, i, d):
        C2, d2, then, k = self.known[i]
        e2, b2 = (max((row[at] for row in self.rows), default=0.0) for at in (0, 1))
        along = sum(b * c for _, b, c in self.rows)
        carried, lost = 1 + b2 * (1 - d), then - d
        C2 += sum(e * c for e, _, c in self.rows[k:]) * carried + e2 * (1 + along) * lost
        return np.sqrt(C2), np.sqrt(d2 + 4 * e2 * lost * carried)


def rows(rng, count):
    """Draw arguments of `grow`: rows made of Gram columns, and each fourth of real ones."""
    for k in range(count):
        left = 10.0 ** rng.uniform(-3, 0)
        above = rng.normal(size=k)
        above *= np.sqrt((1 - left) / max(above @ above, 1e-300))
        yield 10.0 ** rng.uniform(-16, -12), rng.uniform(), None if k % 4 == 3 else (above, left)


@pytest.mark.parametrize("seed", range(6))
def test_errors_are_those_of_the_formulas(seed):
    rng = np.random.default_rng(seed)
    initial = 10.0 ** rng.uniform(-16, -13, N)
    uncertainty, slow, d = Uncertainty(initial), Sums(initial), np.ones(N)
    for k, row in enumerate(rows(rng, 40)):  # more than room is made for at first
        uncertainty.grow(*row)
        slow.grow(*row)
        d *= rng.uniform(0.7, 1.0, N)
        if k in (5, 18):
            J = np.array([k % N, N - 1])
            uncertainty.measured(J, d[J])
            for j in J:
                slow.measured(j, d[j])
        found = uncertainty.of(np.arange(N), d)
        np.testing.assert_allclose(
            np.transpose(found), [slow.of(i, d[i]) for i in range(N)], rtol=1e-9
        )


def test_without_rows_errors_are_those_at_first():
    initial = np.array([1e-16, 3e-14])
    np.testing.assert_allclose(Uncertainty(initial).of(np.arange(2), np.ones(2)), [initial] * 2)


def test_a_column_that_gains_length_by_rounding_has_lost_nothing():
    uncertainty, J = Uncertainty(np.full(1, 1e-9)), np.array([0])
    uncertainty.grow(1e-9, 0.5)
    uncertainty.measured(J, np.array([0.25]))
    more = np.array([0.25 * (1 + 4 * EPS)])
    np.testing.assert_allclose(uncertainty.of(J, more), [[2 * EPS], [4 * EPS * 0.5]])
    assert uncertainty.slack(0.1, 0, more[0]) < 1e-14


def test_the_bound_on_slack_is_that_of_the_column_that_has_lost_most():
    uncertainty, least = Uncertainty(np.array([1e-15, 4e-15])), 1e-9
    assert uncertainty.spread(0.3, 1.0) == close_to(uncertainty.slack(0.3, 1, 1.0))
    uncertainty.grow(1e-15, 0.3, (np.zeros(0), 1.0))
    uncertainty.grow(1e-15, 0.2, (np.array([0.9]), 0.19))
    slack = uncertainty.slack(0.3, 1, least)
    assert uncertainty.spread(0.3, least) == close_to(slack, rel=1e-6)
    assert uncertainty.spread(-0.3, least) == uncertainty.spread(0.0, least)
    assert Uncertainty(np.zeros(0)).spread(0.3, 1.0) == 0.0


def slack_of(C, d, error_C, error_d):
    gain, slack = single_gains(*(np.array([number]) for number in (C**2, d, error_C, error_d)))
    return float(gain[0]), float(slack[0])


@pytest.mark.parametrize("C", [0.0, 1e-7, 1e-6, 1e-3])
def test_slack_is_what_an_error_of_C_may_do(C):
    d, error = 0.01, 1e-6
    gain, slack = slack_of(C, d, error, 0.0)
    assert gain == close_to(C**2 / d)
    assert slack == close_to((C + error) ** 2 / d - C**2 / d, rel=1e-9)


def test_slack_is_what_an_error_of_d_may_do():
    C, d, error = 0.02, 0.01, 1e-8
    gain, slack = slack_of(C, d, 0.0, error)
    assert slack == close_to(C**2 / (d - error) - gain, rel=1e-5)


def test_a_gain_is_open_where_less_than_four_errors_are_left():
    """Nothing is claimed then: it is anything from 0 to 1."""
    error = 1e-6
    assert slack_of(1e-4, 3.99 * error, 1e-9, error) == (0.0, 1.0)
    gain, slack = slack_of(1e-4, 4.01 * error, 1e-9, error)
    assert gain == close_to(1e-8 / 4.01e-6)
    assert 0.2 * gain < slack < 0.3 * gain


def test_no_gain_is_above_one():
    assert slack_of(1.1, 1.0, 1e-9, 1e-9)[0] == 1.0


def wide_gain(C, left, error_C, error_d):
    """Return gain and slack of one feature of uncorrelated columns, of which so much is left."""
    errors = np.array([[error_C], [error_d]])
    gain, slack = block_gains(np.asarray(C)[:, None], np.diag(left)[None], *errors)
    return float(gain[0]), float(slack[0])


def test_a_feature_of_uncorrelated_columns_adds_what_they_add():
    C, left = np.array([[0.1, 0.02, 0.0], [0.05, 0.01, 0.03]]), np.array([0.5, 0.25, 0.01])
    gain, slack = wide_gain(C, left, 1e-7, 1e-8)
    assert gain == close_to(((C**2).sum(axis=0) / left).sum())
    # as sure as a single column that adds as much, and of which as little is left
    alone = slack_of(np.sqrt(gain * 0.01), 0.01, 1e-7, 1e-8)[1]
    assert slack == close_to(np.sqrt(3) * alone)


def test_a_wide_gain_is_open_where_too_little_is_left_of_any_direction():
    """The errors of p columns may all fall on one direction; then it is anything."""
    C, error = np.full((2, 3), 1e-3), 1e-6
    assert wide_gain(C, [0.5, 0.3, 11.9 * error], 1e-9, error) == (0.0, 2.0)
    gain, slack = wide_gain(C, [0.5, 0.3, 12.1 * error], 1e-9, error)
    assert gain > 0
    assert slack < 0.2 * gain
    assert wide_gain(C.T, [0.5, 11.9 * 2 / 3 * error - EPS], 1e-9, 1.01 * error)[1] == 2.0


def test_no_wide_gain_is_above_its_rank():
    assert wide_gain(np.ones((2, 3)), np.ones(3), 1e-9, 1e-9)[0] == 2.0
    assert wide_gain(np.ones((3, 2)), np.ones(2), 1e-9, 1e-9)[0] == 2.0


def orthogonal_table(rng, weights):
    """Return uncorrelated columns, and a response that is their sum with these weights."""
    A = rng.normal(size=(60, len(weights)))
    Q = np.linalg.qr(A - A.mean(axis=0))[0]
    return Q, Q @ np.array(weights)


@pytest.mark.parametrize(("better_by", "first"), [(1e-10, 0), (1e-8, 1)])
def test_gains_equal_to_nine_digits_are_equal_and_the_first_wins(better_by, first, rng):
    X, y = orthogonal_table(rng, [1.0, np.sqrt(1 + better_by), 0.5])
    assert [step.feature for step in select(X, y, 1)] == [first]


def test_a_gain_below_the_rounding_of_the_total_is_nothing(rng):
    X, y = orthogonal_table(rng, [1.0, 0.5, 1e-6])
    assert len(select(X, y, 3)) == 3
    X, y = orthogonal_table(rng, [1.0, 0.5, 3e-8])  # adds 1e-15
    with pytest.warns(SearchStoppedWarning):
        assert len(select(X, y, 3)) == 2
