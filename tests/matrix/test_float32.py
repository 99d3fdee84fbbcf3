"""Products in float32 are off by no more than they say; the first look at classes not at all."""

import numpy as np
import pytest

from orthoselect import native, select
from orthoselect.encode.labels import Labels
from orthoselect.encode.response import class_basis
from orthoselect.matrix import DenseMatrix, center

N, n = 6000, 40
PROBLEMS = [
    "spread",
    "offset",
    "correlated",
    "one row",
    "one run",
    "ones and zeros",
    "sorted levels",
    "scaled levels",
    "heavy tails",
    "counts",
    "far",
]


def table(problem, rng, N=N):
    """Float32 numbers on which sums are hard in one way or another."""
    X = rng.normal(size=(N, n))
    if problem == "offset":
        X += rng.uniform(-1.9, 1.9, n)
    elif problem == "far":
        X += rng.choice([0.0, 30.0, -1e4], n)
    elif problem == "correlated":
        X = rng.normal(size=(N, 1)) + 1e-2 * X
    elif problem == "one row":
        X *= 1e-3
        X[rng.integers(0, N, n), np.arange(n)] += 50.0
        X[7] += 10.0
    elif problem == "one run":
        X[128:192] *= 100.0
    elif problem == "ones and zeros":
        X = (rng.uniform(0, 3, n) < X).astype(float)
        X[0], X[1] = 0.0, 1.0
    elif problem in ("sorted levels", "scaled levels"):
        levels = np.sort(rng.integers(0, n + 1, N))
        X = (levels[:, None] <= np.arange(n)).astype(float)
        X[0], X[-1] = 1.0, 0.0
        if problem == "scaled levels":
            X = (X - X.mean(axis=0)) / X.std(axis=0)
    elif problem == "heavy tails":
        X = rng.standard_t(1.5, size=(N, n))
    elif problem == "counts":
        X = rng.poisson(3.0, size=(N, n)).astype(float)
    return X.astype(np.float32)


def classes(rng, weighted, N=N, c=3):
    w = rng.integers(0, 4, N).astype(float) if weighted else None
    codes = rng.integers(0, c, N)
    codes[:c] = np.arange(c)
    if w is not None:
        w[:c] = 1.0
    return class_basis(Labels(codes, tuple(range(c))), "dummy", w), w


def unit_columns(X, w):
    root = np.sqrt(np.ones(len(X)) if w is None else w)
    A = X.astype(np.longdouble)
    A = (A - (root**2) @ A / (root @ root)) * root[:, None]
    return A / np.sqrt((A * A).sum(axis=0))


@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_gram_columns_are_off_by_no_more_than_they_say(problem, weighted, kernels, monkeypatch):
    if not kernels:
        monkeypatch.setattr(native, "_kernels", None)
    beyond, within, said, met = 0, 0, 0.0, 0.0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = table(problem, rng)
        V, w = classes(rng, weighted)
        centered, _ = center(DenseMatrix(X), V, w)
        A = unit_columns(X, w)
        for J in (np.arange(12), np.array([5]), rng.permutation(n)[:9]):
            G, errors = centered.gram_with_errors(J)
            off = np.abs(G - (A[:, J].T @ A).astype(float))
            beyond += int((off > errors[:, None]).sum())
            within += off.size
            said, met = max(said, errors.max()), max(met, off.max())
    assert beyond <= 1e-3 * within
    # ... but do say something, also where sums happen to be exact. How large errors are depends on
    # the order in which BLAS adds up, which it chooses by the processor.
    assert said < 16 * max(met, np.finfo(np.float32).eps)


@pytest.mark.parametrize("offset", [1e2, 1e3, 1e4])
def test_offsets_that_a_few_rows_do_not_tell_cost_no_digits(offset):
    rng = np.random.default_rng(0)
    near = rng.normal(size=(N, n))
    near[:: N // 16] = 0.0
    X = (near + offset * rng.uniform(1, 2, n)).astype(np.float32)
    V, _ = classes(rng, False)
    centered, _ = center(DenseMatrix(X), V)
    A = unit_columns(X, None)
    G, errors = centered.gram_with_errors(np.arange(n))
    assert (np.abs(G - (A.T @ A).astype(float)) <= errors[:, None]).all()
    assert errors.max() < 64 * np.finfo(np.float32).eps  # far from zero numbers repeat
    assert centered.stats()["passes"] == 3  # the first look, one more, and the products


@pytest.mark.skipif(not native.available(), reason="sums of NumPy's are longer")
@pytest.mark.parametrize("problem", ["spread", "offset", "ones and zeros", "counts"])
def test_columns_that_stand_in_many_rows_are_known_better_than_float32(problem):
    rng = np.random.default_rng(0)
    X = table(problem, rng, N=40_000)
    centered, _ = center(DenseMatrix(X), classes(rng, False, N=40_000)[0])
    assert np.median(centered.gram_with_errors(np.arange(12))[1]) < np.finfo(np.float32).eps / 2


@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_first_look_at_classes_is_that_of_float64(problem, order, weighted, kernels, monkeypatch):
    if not kernels:
        monkeypatch.setattr(native, "_kernels", None)
    rng = np.random.default_rng(1)
    X = np.asarray(table(problem, rng), order=order)
    V, w = classes(rng, weighted)
    found, VtX = center(DenseMatrix(X), V, w)
    A = unit_columns(X, w)
    np.testing.assert_allclose(VtX, (V[:].T @ A).astype(float), rtol=0, atol=3e-13)
    np.testing.assert_allclose(found.columns(np.arange(n)), A.astype(float), rtol=0, atol=1e-12)


def test_numbers_as_response_are_looked_at_in_float64():
    rng = np.random.default_rng(2)
    X, y = table("spread", rng), rng.normal(size=N)
    V = ((y - y.mean()) / np.linalg.norm(y - y.mean()))[:, None]
    VtX = center(DenseMatrix(X), V)[1]
    np.testing.assert_allclose(VtX, (V.T @ unit_columns(X, None)).astype(float), atol=1e-13)


@pytest.mark.skipif(not native.available(), reason="there is no quick way without kernels")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_products_in_double_are_those_of_float64(problem, weighted):
    rng = np.random.default_rng(2)
    X = table(problem, rng)
    V, w = classes(rng, weighted)
    matrix = DenseMatrix(X).in_double()
    assert matrix.arithmetic == np.finfo(float).eps
    np.testing.assert_array_equal(matrix.precision, DenseMatrix(X).precision)
    centered, _ = center(matrix, V, w)
    A = unit_columns(X, w)
    for J in (np.arange(12), np.array([5]), rng.permutation(n)[:30]):
        G, errors = centered.gram_with_errors(J)
        np.testing.assert_allclose(G, (A[:, J].T @ A).astype(float), rtol=0, atol=1e-12)
        assert errors.max() < 1e-14
    Z = rng.normal(size=(N, 3))
    exact = Z.astype(np.longdouble).T @ A
    np.testing.assert_allclose(centered.cross(Z), exact.astype(float), rtol=0, atol=1e-10)


def test_products_in_double_are_left_where_they_would_take_a_copy(monkeypatch):
    X = np.ones((5, 3), dtype=np.float32)
    for matrix in (DenseMatrix(np.asfortranarray(X)), DenseMatrix(X.astype(float))):
        assert matrix.in_double() is matrix
    monkeypatch.setattr(native, "_kernels", None)
    without = DenseMatrix(X)
    assert without.in_double() is without


def test_narrow_tables_take_no_read_in_the_end():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 90)).astype(np.float32)
    y = (X[:, 3] - X[:, 7] + rng.normal(size=4000) > 0).astype(int)
    wide, narrow = select(X, y, 2), select(np.ascontiguousarray(X[:, :60]), y, 2)
    assert wide.stats["strategy"] == narrow.stats["strategy"] == "gram columns"
    assert wide.stats["columns_read"] == 2
    assert narrow.stats["columns_read"] == (0 if native.available() else 2)
    assert sorted(wide.features) == sorted(narrow.features) == [3, 7]
    np.testing.assert_allclose(narrow.gains, wide.gains, rtol=1e-12)


def with_a_near_copy(distance):
    """Return float32 columns of which the first is taken, and one that is close to it."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 80))
    apart = rng.normal(size=400)
    X[:, 7] = X[:, 0] + distance * apart
    y = 3 * X[:, 0] + apart + 0.1 * rng.normal(size=400)
    return X.astype(np.float32), y


@pytest.mark.parametrize("distance", [1.0, 1e-2, 1e-4])
def test_gains_told_in_the_end_are_those_in_double_whatever_is_taken(distance):
    X, y = with_a_near_copy(distance)
    found, double = select(X, y, 4), select(X.astype(np.float64), y, 4)
    steps, expected = list(found), list(double)
    assert {step.feature for step in steps[:2]} == {0, 7}
    assert [step.feature for step in steps] == [step.feature for step in expected]
    np.testing.assert_allclose(
        [step.gain for step in steps], [step.gain for step in expected], rtol=1e-9
    )
