"""Inner products of a few columns: kernels and NumPy agree, whatever the order and dtype."""

import numpy as np
import pytest

from orthoselect import native
from orthoselect.matrix import DenseMatrix
from orthoselect.matrix.dense import add_inner_products
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
        for given in (False, True):
            shift, scale, root = rng.normal(size=t), rng.random(t), rng.random(N).round(1)
            if not given:
                shift = scale = root = None
            A = B[:, J].astype(float)
            A = A if shift is None else (A - shift) * scale * root[:, None]
            out = np.ones((t, t))
            add_inner_products(B, J, shift, scale, root, out)
            np.testing.assert_allclose(out, 1 + A.T @ A, rtol=1e-11, atol=1e-11 * max(N, 1))


def test_columns_may_be_asked_for_in_any_order_and_twice():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 9)).astype(np.float32)
    A = X[:, [7, 2, 2, 5]].astype(float)
    J = np.array([7, 2, 2, 5])
    np.testing.assert_allclose(DenseMatrix(X).block_gram(J, None), A.T @ A, rtol=1e-12)


def test_numbers_that_begin_at_any_byte_are_multiplied_alike():
    rng = np.random.default_rng(0)
    given = [rng.normal(size=shape) for shape in ((20, 5), 3, 3, 20)]
    found = []
    for stored in (np.asarray, unaligned):
        B, *others = map(stored, given)
        out = np.zeros((3, 3))
        add_inner_products(B, stored(np.array([0, 3, 4])), *others, out)
        found.append(out)
    np.testing.assert_array_equal(*found)


@pytest.mark.skipif(not native.available(), reason="there are no kernels")
def test_kernel_refuses_what_would_leave_its_arrays():
    B, J, out = np.ones((4, 3)), np.array([0, 2]), np.zeros((2, 2))
    products = native.kernels().inner_products
    for wrong in (
        lambda: products(B, np.array([0, 3]), None, None, None, out),
        lambda: products(B, np.array([-1, 0]), None, None, None, out),
        lambda: products(B, J, np.ones(3), None, None, out),
        lambda: products(B, J, None, np.ones(3), None, out),
        lambda: products(B, J, None, None, np.ones(3), out),
        lambda: products(B, J, None, None, None, np.zeros((3, 2))),
        lambda: products(B, np.zeros(600, dtype=int), None, None, None, np.zeros((600, 600))),
    ):
        with pytest.raises(ValueError, match="shapes do not fit"):
            wrong()
