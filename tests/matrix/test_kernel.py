"""Radial functions made when they are asked for are those written out."""

import numpy as np
import pytest

import naive
from orthoselect.matrix import DenseMatrix, KernelMatrix, center
from orthoselect.matrix.kernel import KERNELS


def problem(seed):
    """Some points, centers among them, and what is asked for beside; equal points now and then."""
    rng = np.random.default_rng(seed)
    N, p = int(rng.integers(8, 90)), int(rng.integers(1, 5))
    points = rng.normal(size=(N, p)) + rng.choice([0.0, 1e4])
    if seed % 3 == 0:
        points = np.rint(points)
    centers = points[rng.permutation(N)[: rng.integers(0, N)]]
    how = {"constant": bool(rng.integers(2)), "linear": bool(rng.integers(2))}
    if not len(centers):
        how["constant"] = True
    return points, centers, float(rng.uniform(0.5, 3)), how


def written_out(points, centers, kernel, width, how):
    parts = [np.ones((len(points), int(how["constant"]))), points[:, : 99 * how["linear"]]]
    return np.hstack([*parts, naive.radial_columns(points, centers, kernel, width)])


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_product_is_that_of_the_functions_written_out(kernel, numbers):
    for seed in numbers(12):
        points, centers, width, how = problem(seed)
        X = written_out(points, centers, kernel, width, how)
        matrix = KernelMatrix(points, centers, kernel, width, **how)
        assert matrix.shape == X.shape
        rng = np.random.default_rng(seed)
        J = rng.integers(0, X.shape[1], 7)
        np.testing.assert_allclose(matrix.columns(J), X[:, J], rtol=1e-13, atol=1e-15)
        np.testing.assert_array_equal(
            matrix.columns_at(J, slice(2, 5)), matrix.columns(J)[slice(2, 5)]
        )
        np.testing.assert_array_equal(
            matrix.pilot(np.array([1, 3]))[:, J], matrix.columns(J)[[1, 3]]
        )
        np.testing.assert_array_equal(matrix.every(3).columns(J), matrix.columns(J)[::3])
        shift, scale = rng.normal(size=X.shape[1]), rng.uniform(0.5, 2, X.shape[1])
        for kind, B in (matrix, X), (matrix.rescaled(shift, scale), (X - shift) * scale):
            Z, root = rng.normal(size=(len(X), 2)), np.sqrt(rng.random(len(X)))
            large = np.abs(B).max() * len(B)
            np.testing.assert_allclose(kind.cross(Z), Z.T @ B, atol=1e-13 * large)
            scan = kind.scan(Z, root, gram=True)
            weighted = root[:, None] * B
            np.testing.assert_allclose(scan.gram, weighted.T @ weighted, atol=1e-12 * large**2)
            np.testing.assert_allclose(scan.sums, root**2 @ B, atol=1e-13 * large)
            np.testing.assert_allclose(scan.VtX, (root[:, None] * Z).T @ B, atol=1e-13 * large)


def test_many_rows_in_two_threads_add_up(two_threads):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(20_000, 2))
    matrix = KernelMatrix(points, points[:30], "thin_plate", 1.0, constant=True)
    X, Z = matrix.columns(np.arange(31)), rng.normal(size=(20_000, 1))
    np.testing.assert_allclose(matrix.cross(Z), Z.T @ X, atol=1e-8)
    V = (Z - Z.mean()) / np.linalg.norm(Z - Z.mean())
    ours, theirs = center(matrix, V, gram=True), center(DenseMatrix(X), V, gram=True)
    np.testing.assert_allclose(ours[0].whole, theirs[0].whole, atol=1e-12)


def test_near_points_far_from_zero_keep_their_distance():
    points = np.array([[1e8], [1e8 + 1], [1e8 + 3]])
    values = KernelMatrix(points, points, "multiquadric").columns(np.arange(3))
    np.testing.assert_allclose(values[0], np.sqrt([1, 2, 10]), rtol=1e-15)
