"""Kernels and NumPy give the same products, whatever the block's size, order and dtype."""

import numpy as np
import pytest
import scipy.sparse as sp

from orthoselect import native
from orthoselect.matrix import SparseMatrix
from orthoselect.matrix.dense import add_cross, add_gram, take_columns
from stored_blocks import KINDS, block, unaligned

needs_kernels = pytest.mark.skipif(not native.available(), reason="there are no kernels")
WIDTHS = [0, 1, 2, 3, 4, 5, 6, 7, 11, 13, 24, 30]
SHAPES = [(1, 1), (3, 5), (31, 7), (32, 8), (33, 17), (65, 16), (129, 40), (70, 515), (257, 1030)]


@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
def test_products_are_those_of_numpy(shape, dtype, kind, kernels, monkeypatch):
    if not kernels:
        monkeypatch.setattr(native, "_kernels", None)
    rng = np.random.default_rng(sum(shape))
    N, n = shape
    B = block(rng, shape, dtype, kind)
    exact = B.astype(float)
    close = {"rtol": 0, "atol": (1e-12 if dtype == np.float64 else 3e-6) * N}
    # Large blocks take long: each kind of them is multiplied by a third of the widths.
    for b in WIDTHS if n < 500 else WIDTHS[KINDS.index(kind) % 3 :: 3]:
        Z = rng.normal(size=(N, b)).astype(dtype)
        ZtB, squares = np.ones((b, n)), np.ones(n)
        add_cross(Z, B, ZtB, squares)
        np.testing.assert_allclose(ZtB, 1 + Z.astype(float).T @ exact, **close)
        np.testing.assert_allclose(squares, 1 + (exact**2).sum(axis=0), rtol=1e-12)
        add_cross(Z, B, ZtB)
        np.testing.assert_allclose(ZtB, 1 + 2 * Z.astype(float).T @ exact, **close)

        J = rng.integers(0, n, b)
        means, factors, w = rng.normal(size=b), rng.normal(size=b), rng.random(N)
        for weights in (None, w):
            made = (exact[:, J] - means) * factors * (1 if weights is None else w[:, None])
            ZtB, sums = np.zeros((b, n)), np.zeros(b)
            add_gram(B, J, means, factors, weights, ZtB, sums, np.zeros(b))
            np.testing.assert_allclose(ZtB, made.T @ exact, **{**close, "rtol": 1e-5})
            np.testing.assert_allclose(sums, made.sum(axis=0), **close)  # of Z as rounded
        np.testing.assert_array_equal(take_columns(B, J), exact[:, J])


@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_sparse_products_are_those_of_the_dense_table(seed, kernels, monkeypatch):
    if not kernels:
        monkeypatch.setattr(native, "_kernels", None)
    rng = np.random.default_rng(seed)
    N, n = int(rng.integers(1, 40)), int(rng.integers(1, 60))
    X = rng.normal(size=(N, n)) * (rng.random((N, n)) < 0.2)
    matrix = SparseMatrix(sp.csr_array(X))
    for b in (0, 1, 3, 8, 9, 24, 30):
        Z = rng.normal(size=(N, b))
        np.testing.assert_allclose(matrix.cross(Z), Z.T @ X, atol=1e-12)
    J = rng.integers(0, n, 5)
    np.testing.assert_array_equal(matrix.columns(J), X[:, J])
    for table in (matrix, SparseMatrix(sp.csr_array(X))):  # one is by columns already
        columns = table.filled().columns
        assert sorted(columns.tolist()) == np.flatnonzero(X.any(axis=0)).tolist()
        filled = table.restricted(columns)
        np.testing.assert_array_equal(filled.columns(np.arange(len(columns))), X[:, columns])


def test_columns_that_begin_at_any_byte_are_multiplied_alike():
    rng = np.random.default_rng(0)
    B, Z, w = rng.normal(size=(50, 6)), rng.normal(size=(50, 2)), rng.random(50)
    J, means, factors = np.array([1, 4]), rng.normal(size=2), rng.normal(size=2)
    products = []
    for stored in (np.asarray, unaligned):
        ZtB, G, sums = np.zeros((2, 6)), np.zeros((2, 6)), np.zeros(2)
        add_cross(stored(Z), B, ZtB)
        add_gram(B, *map(stored, (J, means, factors, w)), G, sums, np.zeros(2))
        sparse = SparseMatrix(sp.csc_array(B)).cross(stored(Z))
        products.append(np.vstack([ZtB, G, take_columns(B, stored(J)).T @ B, sparse]))
    np.testing.assert_array_equal(*products)


@needs_kernels
def test_kernels_refuse_what_would_leave_their_arrays():
    kernels = native.kernels()
    B, Z = np.ones((4, 3)), np.ones((4, 2))
    out, sums = np.zeros((2, 3)), np.zeros(2)
    one = np.ones(2)
    for wrong in (
        lambda: kernels.cross(Z[:3], B, out, None),
        lambda: kernels.cross(Z, B, out[:1], None),
        lambda: kernels.cross(Z, B, out, np.zeros(2)),
        lambda: kernels.cross(np.ones((4, 40)), B, np.zeros((40, 3)), None),
        lambda: kernels.gram(B, np.array([0, 3]), one, one, None, out, sums, sums.copy(), False),
        lambda: kernels.gram(B, np.array([0, -1]), one, one, None, out, sums, sums.copy(), False),
        lambda: kernels.gram(
            B, np.array([0, 1]), one, one, np.ones(3), out, sums, sums.copy(), False
        ),
        lambda: kernels.take(B, np.array([3]), np.zeros((4, 1))),
        lambda: kernels.take(B, np.array([0]), np.zeros((3, 1))),
    ):
        with pytest.raises(ValueError, match="shapes do not fit"):
            wrong()
    for wrong in (
        lambda: kernels.cross(Z.astype(np.float32), B, out, None),
        lambda: kernels.cross(Z, B[:, ::2], out[:, :2].copy(), None),
        lambda: kernels.cross(Z, B, out.astype(np.float32), None),
        lambda: kernels.gram(
            B, np.array([0.0, 1.0]), one, one, None, out, sums, sums.copy(), False
        ),
    ):
        with pytest.raises(TypeError):
            wrong()
    out.setflags(write=False)
    with pytest.raises((ValueError, BufferError)):
        kernels.cross(Z, B, out, None)
