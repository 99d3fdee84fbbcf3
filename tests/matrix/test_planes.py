"""Products with permuted classes, by sums over classes, are those of the rows written out."""

import numpy as np
import pytest

from orthoselect import native
from orthoselect.matrix import permuted, planes
from orthoselect.matrix.dense import DenseMatrix
from orthoselect.matrix.permuted import permuted_rows
from orthoselect.matrix.rows import CodedRows
from stored_blocks import KINDS, block

SHAPES = [(1, 1, 2), (3, 5, 3), (64, 17, 2), (67, 64, 4), (515, 70, 10), (1100, 530, 3)]


def coded(rng, N, c):
    codes = rng.permutation(np.arange(N) % c).astype(np.uint8)
    return CodedRows(codes, rng.normal(size=(c, max(1, c - 1))))


@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("drawn", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
@pytest.mark.parametrize("shape", SHAPES)
def test_products_are_those_of_rows_written_out(shape, dtype, drawn, kernels, monkeypatch):
    if not kernels:
        monkeypatch.setattr(native, "_kernels", None)
    monkeypatch.setattr(permuted, "_DRAWN", 1 << 22 if drawn else 0)
    monkeypatch.setattr(planes, "_CODES", 1 << 10)  # several lots of rows
    (N, n, c), rng = shape, np.random.default_rng(sum(shape))
    for kind in KINDS if N < 1000 else KINDS[:1]:
        X = block(rng, (N, n), np.float64 if dtype == np.int16 else dtype, kind)
        X = np.round(9 * X).astype(dtype) if dtype == np.int16 else X
        strata = rng.integers(0, 3, N) if rng.random() < 0.5 else None
        Z = permuted_rows(coded(rng, N, c), None, 7, 1, strata)
        means, factors = rng.normal(size=n), rng.random(n) * (rng.random(n) < 0.9)
        with np.errstate(divide="ignore"):  # some factors are zero
            found = DenseMatrix(X).cross_permuted(Z, means, factors)
        exact = Z[:].astype(float).T @ ((X.astype(float) - means) * factors)
        size = np.abs(Z[:].astype(float)).T @ np.abs((X.astype(float) - means) * factors)
        np.testing.assert_array_less(np.abs(found - exact), 3e-6 * size + 1e-30)


def test_sums_are_used_for_classes_of_rows_that_count_alike_only():
    rng = np.random.default_rng(0)
    V = coded(rng, 20, 3)
    assert permuted_rows(V, None, 5, 0).are_classes
    assert not permuted_rows(V, np.full(20, 2.0), 5, 0).are_classes
    assert not permuted_rows(V[:], None, 5, 0).are_classes
    if native.kernels() is not None:
        used = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("orthoselect.matrix.dense.cross_of_classes", lambda *a: used.append(1))
            Z, X = permuted_rows(V, None, 5, 0), DenseMatrix(rng.normal(size=(20, 4)))
            with pytest.raises(TypeError):
                X.cross_permuted(Z, np.zeros(4), np.ones(4))
        assert used == [1]


@pytest.mark.skipif(native._module is None, reason="no kernels were built")
@pytest.mark.parametrize("planes", [1 << 62, 256, 0, -1])
def test_numbers_of_planes_that_classes_cannot_have_are_refused(planes):
    """Four times the first wraps around to zero, which is just what these codes have."""
    classes, codes = np.zeros((4, 64), np.uint8), np.zeros((1, 0, 16), np.uint8)
    if planes == 256:
        codes = np.zeros((1, 4 * 256, 16), np.uint8)
    with pytest.raises(ValueError, match="do not fit"):
        native._module.class_planes(classes, planes, codes)
