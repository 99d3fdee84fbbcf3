"""Triangles have the inner products of their rows, however these were cut."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from orthoselect.matrix.triangle import Triangle, Triangles, leaf_rows


def rows(rng, N, n):
    X = rng.normal(size=(N, n)) * 10.0 ** rng.integers(-6, 7, n) + 10.0 ** rng.integers(0, 5, n)
    return np.column_stack([np.ones(N), X])


def angles(triangle):
    """Inner products of the centered columns at norm one: what selections depend on."""
    Z = triangle.table(np.arange(1, triangle.p))[0]
    Z = Z - Z.mean(axis=0)
    Z /= np.linalg.norm(Z, axis=0)
    return Z.T @ Z


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 60), max_size=12), st.booleans())
def test_cuts_and_their_order_do_not_matter(seed, cuts, weighted):
    rng = np.random.default_rng(seed)
    A = rows(rng, 60, int(rng.integers(1, 9)))
    w = rng.integers(1, 5, 60).astype(float) if weighted else None
    edges = sorted({0, 60, *cuts})
    parts = [slice(a, b) for a, b in pairwise(edges)]
    one = Triangle.of(A, w)
    many = Triangles()
    for at in rng.permutation(len(parts)):
        many.add(A[parts[at]], None if w is None else w[parts[at]])
        if rng.random() < 0.5:
            many.flush(A.shape[1])
    whole = many.whole(A.shape[1])
    np.testing.assert_allclose(whole.means(), one.means(), rtol=1e-12)
    np.testing.assert_allclose(angles(whole), angles(one), rtol=0, atol=1e-12)
    means, _, gram = naive.moments(A, w)
    np.testing.assert_allclose(whole.means(), means, rtol=1e-12)
    np.testing.assert_allclose(whole.gram(), gram, rtol=1e-10)


def test_table_has_the_means_and_products_of_all_rows(rng):
    A, w = rows(rng, 300, 5), rng.random(300)
    triangle = Triangle.of(A, w)
    J = np.arange(1, 6)
    Z, middle = triangle.table(J)
    Z = np.ldexp(Z + middle, triangle.exponents[J])
    means, covariance, _ = naive.moments(A[:, 1:], w)
    np.testing.assert_allclose(Z.mean(axis=0), means, rtol=1e-12)
    scale = np.sqrt(covariance.diagonal())
    found = np.cov(Z.T, ddof=0) / scale / scale[:, None]
    np.testing.assert_allclose(found, covariance / scale / scale[:, None], atol=1e-8)


def test_constant_columns_are_zero_exactly(rng):
    A = np.column_stack([np.ones(5000), np.full(5000, 0.1), rng.normal(size=5000)])
    many = Triangles()
    for a in range(0, 5000, 7):
        many.add(A[a : a + 7], rng.random(len(A[a : a + 7])))
        many.flush(3)
    assert not many.whole(3).R[:, 1].any()
    assert many.whole(3).means()[1] == 0.1


def test_offsets_cost_no_digits(rng):
    X = np.ldexp(rng.integers(-1000, 1000, size=(4000, 3)).astype(float), -10)  # exact when shifted
    plain, far = (np.column_stack([np.ones(4000), X + offset]) for offset in (0.0, 2.0**27))
    of_plain, of_far = Triangles(), Triangles()
    for a in range(0, 4000, 100):
        for many, A in ((of_plain, plain), (of_far, far)):
            many.add(A[a : a + 100], None)
            many.flush(4)
    found, expected = angles(of_far.whole(4)), angles(of_plain.whole(4))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("scale", [1e-309, 1e-315, 1e-320])
@pytest.mark.parametrize("size", [1, 2, 7, 50])
def test_the_smallest_floats_lose_no_more_digits_when_merged(rng, size, scale):
    X = rng.normal(size=(50, 3)) * scale
    A, B = (np.column_stack([np.ones(50), x]) for x in (np.ldexp(X, 1060), X))
    many = Triangles()
    for a in range(0, 50, size):
        many.add(B[a : a + size], None)
        many.flush(4)
    np.testing.assert_allclose(angles(many.whole(4)), angles(Triangle.of(A)), rtol=0, atol=1e-13)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_scales_leave_no_range(rng, scale):
    X = rng.normal(size=(100, 3))
    A, B = (np.column_stack([np.ones(100), X * s]) for s in (1.0, scale))
    half = Triangle.of(B[:50]).merge(Triangle.of(B[50:]))
    np.testing.assert_allclose(angles(half), angles(Triangle.of(A)), rtol=0, atol=1e-13)


def test_many_merges_round_little(rng):
    """Columns that depend on others do so to a few roundings, however many blocks there were."""
    N = 6000
    X = rng.normal(size=(N, 4))
    A = np.column_stack([np.ones(N), X, X @ rng.normal(size=4) + 3.0])
    many = Triangles()
    for a in range(0, N, 3):
        many.add(A[a : a + 3], None)
        many.flush(6)
    R = many.whole(6).R
    left = np.linalg.norm(R[5:, 5]) / np.linalg.norm(R[:, 5])
    assert left < 16 * np.finfo(float).eps
    assert many.height >= 10


def test_rows_wait_until_they_are_many(rng):
    many = Triangles()
    many.add(rng.normal(size=(3, 4)), None)
    assert not many._merged.stack
    many.add(rng.normal(size=(leaf_rows(4), 4)), None)
    assert many._merged.stack
    assert not many._waiting
    assert Triangles().whole(4) is None


def test_columns_that_come_later_were_zero(rng):
    A, B = rng.normal(size=(20, 3)), rng.normal(size=(30, 5))
    A[:, 0] = B[:, 0] = 1.0
    many = Triangles()
    many.add(A, None)
    many.flush(3)
    many.add(B, None)
    stacked = np.vstack([np.pad(A, ((0, 0), (0, 2))), B])
    np.testing.assert_allclose(many.whole(5).gram(), stacked.T @ stacked, atol=1e-12)


def test_columns_in_another_order_are_those_of_the_rows(rng):
    A = rows(rng, 50, 3)
    found = Triangle.of(A).reordered(np.array([0, 2, 3, -1]))
    made = np.column_stack([A[:, [0, 2, 3]], np.zeros(50)])
    np.testing.assert_allclose(found.gram(), made.T @ made, rtol=1e-10)
