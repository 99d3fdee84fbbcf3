"""Sums class by class: kernels and NumPy agree, whatever the block's size, order and dtype."""

import numpy as np
import pytest

from orthoselect import native
from orthoselect.matrix.dense import MOST_CLASSES, add_class_sums
from stored_blocks import KINDS, block, unaligned

SHAPES = [(0, 5), (1, 1), (3, 3), (5, 4), (9, 7), (130, 50), (257, 66), (70, 515), (300, 1030)]


@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
def test_sums_are_those_of_float64(shape, dtype, kind, kernels, monkeypatch):
    if not kernels:
        monkeypatch.setattr(native, "_kernels", None)
    rng = np.random.default_rng(sum(shape))
    N, n = shape
    B = block(rng, shape, dtype, kind) if N else np.empty(shape, dtype)
    exact = B.astype(float)
    w = rng.random(N) * rng.integers(0, 2, N)
    for c in (1, 2, 5, 10, MOST_CLASSES):
        codes = rng.integers(0, c, N).astype(np.uint8 if c % 2 else np.intp)
        for weights in (None, w):
            Z = np.eye(c)[codes] * (1.0 if weights is None else w[:, None])
            sums, squares = np.ones((c, n + 3)), np.ones(n)
            add_class_sums(B, codes, weights, sums[:, :n], squares)
            np.testing.assert_allclose(sums[:, :n], 1 + Z.T @ exact, rtol=1e-12, atol=1e-12)
            np.testing.assert_array_equal(sums[:, n:], 1.0)
            np.testing.assert_allclose(squares, 1 + Z.sum(axis=1) @ exact**2, rtol=1e-12)


def test_weights_and_codes_are_taken_alike_wherever_they_stand():
    rng = np.random.default_rng(0)
    B, w, codes = rng.normal(size=(20, 5)), rng.random(20), rng.integers(0, 3, 20)
    found = []
    for stored in (np.asarray, unaligned, lambda values: np.repeat(values, 2, axis=0)[::2]):
        sums, squares = np.zeros((3, 5)), np.zeros(5)
        add_class_sums(stored(B), stored(codes), stored(w), sums, squares)
        found.append(np.vstack([sums, squares]))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.skipif(not native.available(), reason="there are no kernels")
def test_kernel_refuses_what_would_leave_its_arrays():
    B, codes = np.ones((4, 3)), np.array([0, 1, 1, 0], dtype=np.uint8)
    sums, squares = np.zeros((2, 3)), np.zeros(3)
    class_sums = native.kernels().class_sums
    for wrong in (
        lambda: class_sums(B, codes[:3], None, sums, squares),
        lambda: class_sums(B, codes + np.uint8(1), None, sums, squares),
        lambda: class_sums(B, codes, np.ones(3), sums, squares),
        lambda: class_sums(B, codes, None, sums[:, :2], squares),
        lambda: class_sums(B, codes, None, sums, squares[:2]),
        lambda: class_sums(B, codes, None, np.zeros((257, 3)), squares),
    ):
        with pytest.raises(ValueError, match="shapes do not fit"):
            wrong()
    with pytest.raises(TypeError):
        class_sums(B, codes.astype(np.intp), None, sums, squares)
