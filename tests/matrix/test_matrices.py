"""Every kind of matrix answers every question like the plain array."""

import numpy as np
import pytest
import scipy.sparse as sp

from matrices import MATRICES
from orthoselect.matrix import DenseMatrix, NonFiniteColumns, SparseMatrix, base, center

KINDS = list(MATRICES)


@pytest.fixture
def X():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(70, 9)) * (rng.random((70, 9)) < 0.6)
    X[:, 4] += 3.0
    return X


@pytest.fixture(params=KINDS)
def matrix(request, X):
    return MATRICES[request.param](X)


def test_columns(matrix, X):
    J = np.array([7, 0, 3, 3])
    A = matrix.columns(J)
    np.testing.assert_allclose(A, X[:, J], atol=1e-14)
    A[:] = np.nan  # a new array: writing into it harms nobody
    np.testing.assert_allclose(matrix.columns(J), X[:, J], atol=1e-14)


@pytest.mark.parametrize("rows", [slice(0, 70), slice(3, 4), slice(20, 55)])
def test_some_rows_of_columns(matrix, X, rows):
    J = np.array([7, 0, 3, 3])
    np.testing.assert_allclose(matrix.columns_at(J, rows), X[rows][:, J], atol=1e-14)


@pytest.mark.parametrize("step", [1, 4, 100])
def test_each_so_many_rows_where_that_takes_no_time(matrix, X, step):
    some = matrix.every(step)
    if some is None:
        assert not isinstance(matrix, DenseMatrix)
        return
    np.testing.assert_allclose(some.columns(np.arange(9)), X[::step], atol=1e-14)


def test_products_of_some_rows_are_correlations(X):
    X = np.column_stack([X, np.ones(70), np.eye(70)[1], 1e6 + X[:, 0]])
    centered = center(DenseMatrix(X), np.ones((70, 1)))[0]
    J = np.array([4, 0, 9, 10, 11])
    G = centered.rough_gram(2)(J)
    expected = np.corrcoef(X[::2][:, [4, 0, 11]].T)
    np.testing.assert_allclose(G[np.ix_([0, 1, 4], [0, 1, 4])], expected, atol=0.15)
    np.testing.assert_allclose(G[1, 4], 1.0, atol=1e-8)
    assert np.isfinite(G).all()
    assert not G[2].any()  # a constant has nothing in common with anything
    sparse = center(SparseMatrix(sp.csc_array(X)), np.ones((70, 1)))[0]
    assert sparse.rough_gram(2) is None
    weighted = center(DenseMatrix(X), np.ones((70, 1)), np.arange(70.0))[0]
    assert weighted.rough_gram(2) is None


def test_rough_products_of_the_smallest_numbers_are_quiet(X):
    centered = center(DenseMatrix(X * 1e-318), np.ones((70, 1)))[0]
    with np.errstate(all="raise"):
        G = centered.rough_gram(3)(np.arange(9))
    assert np.isfinite(G).all()


def test_tiles_of_columns(matrix, X, monkeypatch):
    monkeypatch.setattr(base, "_MIN_ROWS", 8)
    monkeypatch.setattr(base, "_BATCH_BYTES", 1)
    J = np.array([5, 1])
    tiles = list(matrix.column_tiles(J))
    assert max(rows.stop - rows.start for rows, _ in tiles) <= 8
    assert [rows.start for rows, _ in tiles] == [0, *(rows.stop for rows, _ in tiles[:-1])]
    np.testing.assert_allclose(np.concatenate([A for _, A in tiles]), X[:, J], atol=1e-14)


def test_cross(matrix, X):
    Z = np.random.default_rng(1).normal(size=(70, 3))
    np.testing.assert_allclose(matrix.cross(Z), Z.T @ X, atol=1e-12)


@pytest.mark.parametrize("gram", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_scan(matrix, X, weighted, gram):
    rng = np.random.default_rng(1)
    V, w = rng.normal(size=(70, 2)), rng.random(70) if weighted else np.ones(70)
    scan = matrix.scan(V, np.sqrt(w) if weighted else None, gram=gram and matrix.has_gram)
    np.testing.assert_allclose(scan.sums, X.T @ w, atol=1e-12)
    np.testing.assert_allclose(scan.squares, (X**2).T @ w, atol=1e-12)
    np.testing.assert_allclose(scan.VtX, (V * np.sqrt(w)[:, None]).T @ X, atol=1e-12)
    if gram and matrix.has_gram:
        np.testing.assert_allclose(scan.gram, X.T @ (w[:, None] * X), atol=1e-12)
    else:
        assert scan.gram is None


@pytest.mark.parametrize("weighted", [False, True])
def test_block_gram(matrix, X, weighted):
    J, root = np.array([1, 8, 2]), None
    if weighted:
        root = np.sqrt(np.random.default_rng(1).random(70))
    A = X[:, J] * (1 if root is None else root[:, None])
    np.testing.assert_allclose(matrix.block_gram(J, root), A.T @ A, atol=1e-12)


def test_extremes_and_constants():
    X = np.array([[1.0, np.nan, np.inf, 5.0], [-7.0, 2.0, np.nan, 5.0]])
    for matrix in (MATRICES[kind](X) for kind in KINDS if kind != "dense shifted"):
        peaks, n_nan, n_inf = matrix.extremes(np.arange(4))
        assert peaks.tolist() == [7.0, 2.0, 0.0, 5.0]
        assert n_nan.tolist() == [0, 1, 1, 0]
        assert n_inf.tolist() == [0, 0, 1, 0]
        assert matrix.constant(np.array([0, 3])).tolist() == [False, True]


@pytest.mark.parametrize("gram", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_centered_products(matrix, X, weighted, gram):
    rng = np.random.default_rng(2)
    w = rng.integers(0, 3, 70).astype(float) if weighted else np.ones(70)
    root = np.sqrt(w)[:, None]
    A = (X - np.average(X, axis=0, weights=w)) * root
    A /= np.linalg.norm(A, axis=0)
    V = np.linalg.qr(root * (rng.normal(size=(70, 2)) - 0.0))[0]
    V = np.linalg.qr(V - root @ (root.T @ V) / w.sum())[0]
    centered, VtX = center(matrix, V, w if weighted else None, gram=gram)
    J = np.array([6, 1])
    np.testing.assert_allclose(VtX, V.T @ A, atol=1e-12)
    np.testing.assert_allclose(centered.columns(J), A[:, J], atol=1e-12)
    np.testing.assert_allclose(centered.gram_with_errors(J)[0], A[:, J].T @ A, atol=1e-12)
    np.testing.assert_allclose(centered.cross(V), V.T @ A, atol=1e-12)
    np.testing.assert_allclose(centered.block_grams([J])[0], A[:, J].T @ A[:, J], atol=1e-12)
    assert (centered.whole is not None) == (gram and matrix.has_gram)
    if centered.whole is not None:
        np.testing.assert_allclose(centered.whole, A.T @ A, atol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e9, -1e12])
@pytest.mark.parametrize(
    "kind", ["dense C", "sparse", "stacked", "dense blocks", "sparse blocks", "stacked blocks"]
)
def test_offsets_do_not_cost_digits(kind, offset):
    rng = np.random.default_rng(0)
    stored = rng.normal(size=(500, 4)) + offset  # rounded to what float64 can hold there
    exact = (stored - offset) - (stored - offset).mean(axis=0)  # differences are exact
    V = np.linalg.qr(rng.normal(size=(500, 1)) - 0.0)[0]
    V = (V - V.mean()) / np.linalg.norm(V - V.mean())
    centered, VtX = center(MATRICES[kind](stored), V)
    unit = exact / np.linalg.norm(exact, axis=0)
    np.testing.assert_allclose(VtX, V.T @ unit, atol=1e-13)
    np.testing.assert_allclose(
        centered.gram_with_errors(np.arange(4))[0], unit.T @ unit, atol=1e-13
    )


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e-20, 1e20, 1e170, 1e300])
@pytest.mark.parametrize("kind", ["dense C", "sparse", "dense blocks", "sparse blocks"])
def test_scales_do_not_matter_up_to_the_ends_of_the_float_range(kind, scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    V = np.linalg.qr(np.column_stack([np.ones(50), rng.normal(size=50)]))[0][:, 1:]
    unscaled, expected = center(DenseMatrix(X), V)
    centered, VtX = center(MATRICES[kind](X * [1.0, scale, 1.0]), V)
    np.testing.assert_allclose(VtX, expected, atol=1e-12)
    np.testing.assert_allclose(centered.sizes, unscaled.sizes, rtol=1e-12)
    assert centered.alive.all()


@pytest.mark.parametrize("kind", ["dense C", "dense blocks"])
def test_columns_that_need_a_scale_and_then_a_shift_keep_their_digits(kind):
    rng = np.random.default_rng(0)
    near = np.rint(rng.normal(size=(500, 3)) * 2**20)
    near[:: 500 // 16] = 0.0  # a few rows do not tell that the columns vary
    stored = np.ldexp(near + 2.0**40, 600)  # without rounding; squares are out of range
    exact = near - near.mean(axis=0)
    unit = exact / np.linalg.norm(exact, axis=0)
    V = np.linalg.qr(np.column_stack([np.ones(500), rng.normal(size=500)]))[0][:, 1:]
    centered, VtX = center(MATRICES[kind](stored), V)
    np.testing.assert_allclose(VtX, V.T @ unit, atol=1e-13)
    np.testing.assert_allclose(
        centered.gram_with_errors(np.arange(3))[0], unit.T @ unit, atol=1e-13
    )


def test_constant_columns_are_not_alive():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(30, v) for v in (0.0, 0.1, 1e9, 1e-300)] + [rng.normal(size=30)])
    V = np.linalg.qr(np.column_stack([np.ones(30), rng.normal(size=30)]))[0][:, 1:]
    for matrix in (MATRICES[kind](X) for kind in KINDS if kind != "dense shifted"):
        assert center(matrix, V)[0].alive.tolist() == [False] * 4 + [True]


def test_columns_that_vary_in_rows_without_weight_only_are_not_alive_after_three_reads():
    for N in range(5, 80, 3):
        w = np.random.default_rng(N).random(N) + 0.5
        X = np.full((N, 3), 1 / 3) * [1.0, 1e200, 1e-200]
        X[::4] *= 2
        w[::4] = 0.0
        centered, _ = center(DenseMatrix(X), np.zeros((N, 0)), w)
        assert not centered.alive.any()
        assert centered.stats()["passes"] <= 3


def test_nonfinite_columns_are_counted_unless_ignored():
    X = np.ones((6, 3)) * np.arange(6)[:, None]
    X[2, 1], X[3, 1], X[4, 2] = np.nan, np.nan, -np.inf
    V = np.zeros((6, 0))
    for matrix in (MATRICES[kind](X) for kind in KINDS if kind != "dense shifted"):
        with pytest.raises(NonFiniteColumns) as found:
            center(matrix, V)
        assert found.value.counts == {1: (2, 0), 2: (0, 1)}
        alive = center(matrix, V, ignored=np.array([1, 2]))[0].alive
        assert alive.tolist() == [True, False, False]


def test_sparse_input_is_left_alone():
    X = sp.csc_array(([1.0, 2.0, 3.0], [2, 0, 0], [0, 2, 3]), shape=(3, 2))
    twice = sp.csc_array(([1.0, 2.0], [0, 0], [0, 2]), shape=(2, 1))
    before = X.indices.copy(), twice.data.copy()
    SparseMatrix(X), SparseMatrix(twice)
    np.testing.assert_array_equal(X.indices, before[0])
    np.testing.assert_array_equal(twice.data, before[1])
    assert SparseMatrix(twice).columns(np.array([0]))[0, 0] == 3.0


def test_norms_of_float32_columns_have_the_digits_of_float64():
    """Long columns of one number and zeros: added up in float32 they would be off by 1e-5."""
    rng = np.random.default_rng(0)
    X = (1.1 * (rng.random((200_000, 8)) < 0.5)).astype(np.float32)
    V = np.zeros((len(X), 0))
    matrix = DenseMatrix(X)
    squares = (X.astype(float) ** 2).sum(axis=0)
    np.testing.assert_allclose(matrix.scan(V, None).squares, squares, rtol=1e-12)
    k, number = (X > 0).sum(axis=0), float(X.max())
    exact = k * number**2 * (1 - k / len(X))
    np.testing.assert_allclose(center(matrix, V)[0].norms ** 2, exact, rtol=1e-12)
