"""Linear dependence, judged by what rounding could do."""

from itertools import permutations

import numpy as np
import pytest

from orthoselect.matrix import Basis, orthonormalize
from orthoselect.matrix.basis import independent_columns

EPS = np.finfo(float).eps


def sizes(A):
    return EPS * np.linalg.norm(A, axis=0)


def test_basis_is_orthonormal_even_for_nearly_dependent_columns():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(50, 1)) + 1e-9 * rng.normal(size=(50, 20))
    Q, kept = orthonormalize(A, sizes(A))
    assert kept.all()
    np.testing.assert_allclose(Q.T @ Q, np.eye(20), atol=1e-13)


@pytest.mark.parametrize("seed", range(20))
def test_rank_of_mixed_columns_is_found(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(40, 8)) @ rng.normal(size=(8, 13)) * 10.0 ** rng.integers(-9, 9, 13)
    Q, kept = orthonormalize(A, sizes(A))
    assert kept.sum() == 8
    np.testing.assert_allclose(A - Q @ (Q.T @ A), 0, atol=1e-12 * np.abs(A).max())


@pytest.mark.parametrize("noise", [1e-3, 1e-6, 1e-9, 1e-12])
def test_noise_above_rounding_is_a_direction(noise):
    rng = np.random.default_rng(0)
    a = rng.normal(size=60)
    A = np.column_stack([a, a + noise * rng.normal(size=60)])
    assert orthonormalize(A, sizes(A))[1].all()


def test_sums_and_unit_changes_are_dependent():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 3))
    B = np.column_stack([A, A.sum(axis=1), A[:, 0] * 2.54, A[:, 1] / 3 - A[:, 2] * 1e5])
    assert orthonormalize(B, sizes(B))[1].tolist() == [True] * 3 + [False] * 3


def test_of_columns_that_differ_alike_the_one_that_differs_most_is_kept():
    a, e, f = np.random.default_rng(0).normal(size=(3, 60))
    A = np.column_stack([a, a + 1e-12 * e, f, a + 1e-9 * e, a + f])
    A /= np.linalg.norm(A, axis=0)
    for order in permutations(range(5)):
        kept = {order[i] for i in independent_columns(A[:, order], sizes(A))}
        assert len(kept) == 3
        assert kept - {2, 4} in ({0, 3}, {1, 3}, {3}), order


def test_truncate_forgets_the_later_columns():
    basis = Basis(3)
    for column in np.eye(3):
        assert basis.append(column, EPS)
    basis.truncate(1)
    assert basis.Q.shape == (3, 1)
    assert basis.append(np.array([1.0, 1.0, 0.0]), EPS)
    assert not basis.append(np.array([0.0, 1.0, 0.0]), EPS)


def test_columns_taken_together_are_those_taken_one_by_one():
    A = np.random.default_rng(0).normal(size=(50, 12))
    together, one_by_one = Basis(50), Basis(50)
    for basis in (together, one_by_one):
        for column in A[:, :4].T:
            basis.append(column, EPS)
    together.extend(A[:, 4:], np.full(8, EPS))
    for column in A[:, 4:].T:
        one_by_one.append(column, EPS)
    np.testing.assert_allclose(together.Q, one_by_one.Q, atol=1e-13)
    X = np.random.default_rng(1).normal(size=(50, 3))
    (_, H), (_, K) = together.residual(X), one_by_one.residual(X)
    size = np.full(3, EPS)
    np.testing.assert_allclose(together.floors(H, size), one_by_one.floors(K, size), rtol=1e-9)
