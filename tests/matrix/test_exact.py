"""Inner products of a few columns: kernels and NumPy agree, whatever the order and dtype."""

import numpy as np
import pytest

from orthoselect import native
from orthoselect.matrix import DenseMatrix
from orthoselect.matrix.exact import add_inner_products
from stored_blocks import KINDS, block, unaligned

SHAPES = [(0, 3), (1, 1), (3, 5), (129, 40), (300, 320)]


@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
@pytest.mark.parametrize("shape", SHAPES)
def test_products_are_those_of_float64(shape, dtype, kind, kernels, monkeypatch):
    if not kernels:
        monkeypatch.setattr(native, "_kernels", None)
    rng = np.random.default_rng(sum(shape))
    N, n = shape
    B = block(rng, shape, dtype, kind) if N else np.empty(shape, dtype)
    for t in (0, 1, 3, 4, 5, 12, 50, 300):
        J = rng.integers(0, n, t)
        for m, given in ((None, False), (0, True), (2, False), (7, True)):
            shift, scale, root = rng.normal(size=t), rng.random(t), rng.random(N).round(1)
            V = None if m is None else rng.normal(size=(m, N)).T
            if not given:
                shift = scale = root = None
            A = B[:, J].astype(float)
            A = A if shift is None else (A - shift) * scale * root[:, None]
            ones = np.ones((N, 1)) if root is None else root[:, None]
            left = A if V is None else np.hstack([A, ones, V])
            out = np.ones((left.shape[1], t))
            add_inner_products(B, J, shift, scale, root, V, out)
            np.testing.assert_allclose(out, 1 + left.T @ A, rtol=1e-11, atol=1e-11 * max(N, 1))


def test_columns_may_be_asked_for_in_any_order_and_twice():
    rng = np.random.default_rng(0)
    X, V = rng.normal(size=(500, 9)).astype(np.float32), rng.normal(size=(500, 2))
    A = X[:, [7, 2, 2, 5]].astype(float)
    J = np.array([7, 2, 2, 5])
    np.testing.assert_allclose(DenseMatrix(X).block_gram(J, None), A.T @ A, rtol=1e-12)
    products = DenseMatrix(X).block_gram(J, None, V)
    exact = np.vstack([A.T @ A, A.sum(axis=0), V.T @ A])
    np.testing.assert_allclose(products, exact, rtol=1e-10, atol=1e-10)


def test_numbers_that_begin_at_any_byte_are_multiplied_alike():
    rng = np.random.default_rng(0)
    given = [rng.normal(size=shape) for shape in ((20, 5), 3, 3, 20, (20, 2))]
    found = []
    for stored in (np.asarray, unaligned):
        B, *others = map(stored, given)
        out = np.zeros((6, 3))
        add_inner_products(B, stored(np.array([0, 3, 4])), *others, out)
        found.append(out)
    np.testing.assert_array_equal(*found)


@pytest.mark.skipif(not native.available(), reason="there are no kernels")
def test_kernel_refuses_what_would_leave_its_arrays():
    B, J, out = np.ones((4, 3)), np.array([0, 2]), np.zeros((2, 2))
    products = native.kernels().inner_products
    for wrong in (
        lambda: products(B, np.array([0, 3]), None, None, None, None, out),
        lambda: products(B, np.array([-1, 0]), None, None, None, None, out),
        lambda: products(B, J, np.ones(3), None, None, None, out),
        lambda: products(B, J, None, np.ones(3), None, None, out),
        lambda: products(B, J, None, None, np.ones(3), None, out),
        lambda: products(B, J, None, None, None, np.ones((3, 1)), np.zeros((4, 2))),
        lambda: products(B, J, None, None, None, np.ones((4, 1)), out),
        lambda: products(B, np.zeros(600, dtype=int), None, None, None, None, np.zeros((600, 600))),
    ):
        with pytest.raises(ValueError, match="shapes do not fit"):
            wrong()
