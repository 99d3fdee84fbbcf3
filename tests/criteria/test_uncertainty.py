"""What C, d and gains are claimed to be off by, beside what they are off by."""

import numpy as np
import pytest

import naive
from orthoselect.criteria import plan
from orthoselect.criteria.cancorr import CanonicalState
from orthoselect.criteria.candidates import Candidates
from orthoselect.criteria.uncertainty import TRUSTED, Uncertainty, block_gains, single_gains
from orthoselect.matrix import DenseMatrix, center
from orthoselect.matrix.base import EPS

STEPS = 8


def near_copies(rng, X):
    X[:, 1:] = X[:, :1] + X[:, 1:] * 10.0 ** rng.uniform(-3, 0, X.shape[1] - 1)


def near_differences(rng, X):
    """Columns that are nearly what two others differ by: they depend on them by large factors."""
    X[:, 1] = X[:, 0] + 10.0 ** rng.uniform(-2.2, -1) * X[:, 2]
    X[:, 3:] = X[:, [2]] + X[:, 3:] * 10.0 ** rng.uniform(-7, -1, X.shape[1] - 3)


def near_mixtures(rng, X):
    half = X.shape[1] // 2
    mixed = X[:, :half] @ rng.normal(size=(half, half))
    X[:, -half:] = mixed + 10.0 ** rng.uniform(-8, -1, half) * rng.normal(size=mixed.shape)


def offsets(rng, X):
    X += 10.0 ** rng.uniform(0, 6, X.shape[1])


def graded(rng, X):
    X[:] = X @ (rng.normal(size=(X.shape[1],) * 2) * 10.0 ** rng.uniform(-2, 0, (X.shape[1], 1)))


def plain(rng, X):
    pass


DISEASES = [plain, offsets, near_copies, near_differences, near_mixtures, graded]


def problem(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.choice([30, 100, 400])), int(rng.integers(6, 14))))
    DISEASES[seed % len(DISEASES)](rng, X)
    Y = rng.normal(size=(len(X), int(rng.integers(1, 3)))) + X[:, :1] / np.abs(X[:, 0]).max()
    return X, Y


def steps(X, Y, whole, monkeypatch, dtype=float):
    """Take features one by one; yield what is claimed and what is true, after each.

    The truth is that of the directions in use. Where little was left of a column, its direction is
    off by conditioning, which is nobody's error: then it is that of the basis in memory.
    """
    monkeypatch.setattr(plan, "rows_pay", lambda *_: False)
    X = X.astype(dtype)
    n = X.shape[1]
    A, V = naive.exact_columns(X), naive.exact_basis(naive.exact_columns(Y))
    matrix, VtX = center(DenseMatrix(X), V.astype(float), gram=whole)
    candidates = Candidates(np.arange(n), np.arange(n), {}, n)
    state = CanonicalState(candidates, matrix, VtX, V.astype(float), STEPS)
    gains, open_ = state._gains, np.ones(n, dtype=bool)
    for _ in range(min(n, STEPS)):
        f = state.best(open_)
        if f is None:
            return
        state.add(f)
        open_[f] = False
        state._settle()
        gains._remove_due()
        S = gains.selected
        least = min(gains.L[s, j] for s, j in enumerate(S))
        if least >= 1e-2:
            Q = naive.exact_basis(A[:, S])
        else:
            state._geometry._extend(S)
            Q = naive.exact_basis(state._geometry._basis.Q.astype(np.longdouble))
        J = gains._single[~gains._spent]
        W = naive.exact_residual(A[:, J], Q)
        yield gains, J, V.T @ W, (W * W).sum(axis=0)


def off_by(X, Y, whole, monkeypatch, **options):
    """Return errors over what they are claimed to be: of C, d and gains; and slack over gains."""
    found = []
    for gains, J, C, d in steps(X, Y, whole, monkeypatch, **options):
        error_C, error_d = gains._uncertainty.of(J, gains._d[J])
        squares = (gains._C[:, J] ** 2).sum(axis=0)
        gain, slack = single_gains(squares, gains._d[J], error_C, error_d)
        true = (C * C).sum(axis=0) / d
        off_C = np.sqrt(((gains._C[:, J] - C) ** 2).sum(axis=0))
        parts = [off_C / error_C, np.abs(gains._d[J] - d) / error_d, np.abs(gain - true) / slack]
        found.append(np.array([*parts, slack / np.maximum(gain, 1e-300)], dtype=float))
    return np.concatenate(found, axis=1)


@pytest.mark.parametrize("whole", [False, True])
def test_nothing_is_off_by_more_than_is_claimed(whole, monkeypatch, numbers):
    for seed in numbers(60 * len(DISEASES)):
        worst = off_by(*problem(seed), whole, monkeypatch).max(axis=1)
        assert (worst[:3] < 1).all(), (seed, worst)


@pytest.mark.parametrize("whole", [False, True])
def test_nothing_in_float32_is_off_by_more_than_is_claimed(whole, monkeypatch, numbers):
    for seed in numbers(40 * len(DISEASES)):
        worst = off_by(*problem(seed), whole, monkeypatch, dtype=np.float32).max(axis=1)
        assert (worst[:3] < 1).all(), (seed, worst)


@pytest.mark.parametrize("whole", [False, True])
def test_claims_are_of_the_size_of_the_errors(whole, monkeypatch):
    """Some error of each kind comes within a tenth of its claim, whatever the disease."""
    for disease in range(len(DISEASES)):
        seeds = range(disease, 10 * len(DISEASES), len(DISEASES))
        found = [off_by(*problem(seed), whole, monkeypatch) for seed in seeds]
        assert (np.concatenate(found, axis=1)[:3].max(axis=1) > 0.03).all()


def test_gains_of_plain_columns_are_trusted(monkeypatch, numbers):
    for seed in numbers(20 * len(DISEASES)):
        if DISEASES[seed % len(DISEASES)] is plain:
            relative = off_by(*problem(seed), False, monkeypatch)[3]
            assert np.quantile(relative, 0.9) < TRUSTED


def test_errors_of_a_row_are_those_of_regression_coefficients():
    """Claims are usual errors, which products that are off by so much really have."""
    rng = np.random.default_rng(3)
    A = rng.normal(size=(50, 3))
    A[:, 1] = A[:, 0] + 0.05 * A[:, 1]
    A /= np.linalg.norm(A, axis=0)
    v = rng.normal(size=(50, 1)) / 7
    G, c = A.T @ A, (v.T @ A)[0]
    uncertainty, e, n = Uncertainty(np.full(3, 1e-9)), 1e-9, 2000
    r1 = G[0]
    uncertainty.grow(e, c[0] ** 2, (np.zeros(0), 1.0))
    d1 = 1 - r1[1] ** 2
    uncertainty.grow(e, float((c[1] - c[0] * r1[1]) ** 2 / d1), (r1[[1]], d1))
    errors = []
    for _ in range(n):  # what it really does
        E = e * rng.normal(size=(3, 3))
        H, h = G + (E + E.T) / np.sqrt(2), c + e * rng.normal(size=3)
        np.fill_diagonal(H, 1.0 + e * rng.normal(size=3))
        b = np.linalg.solve(H[:2, :2], H[:2, 2])
        errors.append((h[2] - h[:2] @ b, H[2, 2] - H[:2, 2] @ b))
    b = np.linalg.solve(G[:2, :2], G[:2, 2])
    d = 1 - G[:2, 2] @ b
    really = np.std(errors, axis=0)
    claimed = [float(error[0]) for error in uncertainty.of(np.array([2]), np.array([d]))]
    assert (really < 1.1 * np.array(claimed)).all()
    assert (np.array(claimed) < 10 * really).all()


def test_slack_bounds_the_gain_of_numbers_that_are_off(rng):
    gains, d, error_C, error_d = 0.04, 0.01, 1e-6, 1e-7
    C = np.sqrt(gains * d)
    slack = float(single_gains(np.array([C**2]), *map(np.array, ([d], [error_C], [error_d])))[1][0])
    moved = [
        abs((C + a * error_C) ** 2 / (d + b * error_d) - gains) for a in (-1, 1) for b in (-1, 1)
    ]
    assert max(moved) == pytest.approx(slack, rel=1e-3)


def test_slack_of_one_gain_is_that_of_many():
    uncertainty = Uncertainty(np.full(4, 3 * EPS))
    uncertainty.grow(8 * EPS, 0.3, (np.zeros(0), 1.0))
    uncertainty.grow(8 * EPS, 0.1, (np.array([0.9]), 0.19))
    J, d = np.arange(4), np.array([0.9, 0.5, 0.1, 1e-3])
    uncertainty.measured(J[2:3], d[2:3])
    uncertainty.grow(8 * EPS, 0.2)
    d = 0.9 * d
    gains, slack = single_gains(0.05 * d, d, *uncertainty.of(J, d))
    one_by_one = [uncertainty.slack(g, int(j), x) for g, j, x in zip(gains, J, d)]
    np.testing.assert_allclose(one_by_one, slack)
    assert (slack <= uncertainty.spread(0.05, 1e-4)).all()


def test_a_measured_column_is_known_until_rows_follow():
    uncertainty = Uncertainty(np.full(2, 1e-9))
    J, d = np.array([1]), np.array([1e-6])
    uncertainty.grow(1e-9, 0.5)
    before = uncertainty.of(J, d)
    uncertainty.measured(J, d)
    at_once = uncertainty.of(J, d)
    uncertainty.grow(1e-9, 0.5)
    later = uncertainty.of(J, 0.5 * d)
    for error, error_before, error_later in zip(at_once, before, later):
        assert error < 1e-3 * error_before
        assert error_later > 1e3 * error


def test_slack_of_wide_features_bounds_what_they_are_off_by(rng):
    """Errors of C and D that have nothing to do with each other, many times."""
    A = rng.normal(size=(40, 3))
    A[:, 2] = A[:, 0] + 0.1 * A[:, 2]
    A /= np.linalg.norm(A, axis=0)
    v = naive.exact_basis(naive.exact_columns(rng.normal(size=(40, 2)))).astype(float)
    C, D, error = v.T @ A, A.T @ A, 1e-8
    gain, slack = block_gains(C[:, None], D[None], *np.full((2, 1), error))
    off = []
    for _ in range(500):
        E = error * rng.normal(size=(3, 3))
        moved = C + error * rng.normal(size=C.shape), D + (E + E.T) / np.sqrt(2)
        nothing = np.zeros(1)
        off.append(abs(block_gains(moved[0][:, None], moved[1][None], nothing, nothing)[0] - gain))
    assert np.quantile(off, 0.95) < slack[0] < 100 * np.quantile(off, 0.95)
