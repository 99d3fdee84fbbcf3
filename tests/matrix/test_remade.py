"""Bases whose rows are made again in each pass."""

import numpy as np
import pytest
from scipy.linalg import cholesky

from orthoselect.matrix.basis import RemadeBasis

N, k = 500, 6


@pytest.fixture
def columns(rng):
    """Unit columns, the last two of which hardly differ from others."""
    A = rng.normal(size=(N, k))
    A[:, 4] = A[:, 0] + 1e-9 * A[:, 4]
    A[:, 5] = A[:, 1] - A[:, 2] + 1e-11 * A[:, 5]
    return A / np.linalg.norm(A, axis=0)


def orthogonalized(A, one_by_one):
    """Return the basis, with coefficients that are known to few digits."""
    basis = RemadeBasis()
    for s in range(A.shape[1]):
        Q = basis.rows(A[:, :s])
        h = Q.T @ A[:, s] * (1 + 1e-13)
        basis.add(h, 1.0 if one_by_one else float(np.linalg.norm(A[:, s] - Q @ h)))
        if one_by_one or s == A.shape[1] - 1:
            Q = basis.rows(A[:, : s + 1])
            basis.settle(cholesky(Q.T @ Q))
    return basis


@pytest.mark.parametrize("one_by_one", [True, False])
def test_directions_are_orthonormal(columns, one_by_one):
    A = columns if one_by_one else columns[:, :4]  # healthy ones may be added together
    Q = orthogonalized(A, one_by_one).rows(A)
    np.testing.assert_allclose(Q.T @ Q, np.eye(A.shape[1]), atol=1e-14)


def test_directions_span_the_columns(columns):
    Q = orthogonalized(columns, True).rows(columns)
    W = columns - Q @ (Q.T @ columns)
    np.testing.assert_allclose(W, 0, atol=1e-15)


def test_rows_are_the_same_to_the_last_bit_however_they_are_cut(columns):
    basis = orthogonalized(columns, True)
    whole = basis.rows(columns)
    for cuts in ([1], [3, 4, 100], list(range(1, N, 7))):
        parts = [basis.rows(part) for part in np.split(columns, cuts)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)
        fortran = [basis.rows(np.asfortranarray(part)) for part in np.split(columns, cuts)]
        np.testing.assert_array_equal(np.concatenate(fortran), whole)


def test_what_was_added_last_can_be_dropped(columns):
    basis = orthogonalized(columns, True)
    before = basis.rows(columns)
    basis.add(np.ones(k))
    basis.drop()
    assert len(basis) == basis.n_settled == k
    np.testing.assert_array_equal(basis.rows(columns), before)


def test_residuals_are_what_the_basis_leaves(columns, rng):
    basis = orthogonalized(columns[:, :4], True)
    Q, others = basis.rows(columns[:, :4]), rng.normal(size=(N, 3))
    H = Q.T @ others
    np.testing.assert_allclose(basis.residuals(others, Q, H), others - Q @ H, atol=1e-14)
