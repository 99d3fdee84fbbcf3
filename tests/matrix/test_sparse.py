"""Sparse tables: what kernels make of them, and what they refuse."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import naive
from orthoselect import native
from orthoselect.errors import InputError
from orthoselect.matrix import SparseMatrix
from orthoselect.matrix.basis import Basis
from orthoselect.matrix.sparse import compressed_columns, compressed_rows

needs_kernels = pytest.mark.skipif(not native.available(), reason="there are no kernels")
DTYPES = [np.float64, np.float32, np.int8, np.uint8, bool, np.int16, np.int32, np.int64]


def table(rng, N, n, density, dtype=np.float64):
    """A CSR table with empty columns among others of all lengths."""
    X = np.where(rng.random((N, n)) < density * rng.random(n), rng.integers(1, 99, (N, n)), 0)
    return sp.csr_array(X.astype(dtype))


@needs_kernels
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("N", "n"), [(1, 1), (5, 40), (300, 17), (40, 1000)])
def test_rows_become_columns(N, n, dtype):
    X = table(np.random.default_rng(N + n), N, n, 0.3, dtype)
    rows = compressed_rows(X)
    filled = rows.filled(distinct=False).columns
    counts = (X.toarray() != 0).sum(axis=0)
    assert sorted(filled) == np.flatnonzero(counts).tolist()
    assert (np.diff(counts[filled]) >= 0).all()
    for J in (np.arange(n), filled, filled[::-2]):
        turned = sp.csc_array(tuple(rows.columns(J)), shape=(N, len(J)))
        assert turned.has_canonical_format
        np.testing.assert_array_equal(turned.toarray(), X[:, J].toarray())


@needs_kernels
def test_columns_of_many_numbers_are_told_from_short_ones():
    X = sp.csr_array(np.tri(600, 9, k=-1) + np.eye(600, 9) * (np.arange(9) % 3 > 0))
    assert sorted(compressed_rows(X).filled(distinct=False).columns) == list(range(9))
    np.testing.assert_array_equal(SparseMatrix(X).columns(np.arange(9)), X.toarray())


@needs_kernels
@pytest.mark.parametrize("seed", range(10))
def test_of_columns_with_one_number_in_the_same_row_the_first_stands_for_all(seed):
    rng = np.random.default_rng(seed)
    X = table(rng, int(rng.choice([1, 4, 30])), 60, rng.choice([0.05, 0.3]))
    A, (columns, twins, of) = X.toarray(), compressed_rows(X).filled(distinct=True)
    first = {}
    for j in np.flatnonzero((A != 0).sum(axis=0) == 1):
        first.setdefault(int(A[:, j].argmax()), j)
    expected = {
        int(j): first[int(A[:, j].argmax())]
        for j in np.flatnonzero((A != 0).sum(axis=0) == 1)
        if j not in first.values()
    }
    assert dict(zip(twins.tolist(), columns[of].tolist())) == expected
    assert sorted([*columns, *twins]) == np.flatnonzero(A.any(axis=0)).tolist()


@needs_kernels
@pytest.mark.parametrize("odd", [0.0, np.nan, np.inf])
def test_columns_that_hold_odd_numbers_are_nobodys_twins(odd):
    X = sp.csr_array(np.array([[1.0, 2.0, 3.0, 0.0], [0.0, 0.0, 0.0, 4.0]]))
    assert len(compressed_rows(X).filled(distinct=True).twins) == 2
    X.data[1] = odd
    assert len(compressed_rows(X).filled(distinct=True).twins) == 0


def test_rows_that_are_not_in_order_go_the_long_way():
    X = sp.csr_array((np.array([1.0, 2.0, 3.0]), [2, 0, 0], [0, 3]), shape=(1, 3))
    assert compressed_rows(X) is None
    np.testing.assert_array_equal(SparseMatrix(X).columns(np.arange(3)), [[5.0, 0.0, 1.0]])


@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_more_room_than_numbers_does_no_harm(form, kernels, monkeypatch):
    if not kernels:
        monkeypatch.setattr(native, "_kernels", None)
    X = sp.csr_array(np.diag([1.0, 2.0, 3.0])).asformat(form)
    if form != "coo":
        X.data, X.indices = np.append(X.data, 7.0), np.append(X.indices, 99).astype(np.int32)
    np.testing.assert_array_equal(SparseMatrix(X).columns(np.arange(3)), np.diag([1.0, 2.0, 3.0]))


@needs_kernels
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_directions_are_those_of_gram_schmidt(seed, weighted):
    rng = np.random.default_rng(seed)
    N, n = int(rng.choice([3, 8, 50, 301])), 40
    X = table(rng, N, n, 0.8)
    A = X.toarray()
    means, factors = rng.normal(size=n), rng.random(n) * (rng.random(n) < 0.9)
    root = np.sqrt(rng.random(N) * (rng.random(N) < 0.8)) if weighted else None
    presented = (A - means) * factors * (np.ones(N) if root is None else root)[:, None]
    matrix, basis, Q = SparseMatrix(X), Basis(N), np.zeros((N, 0))
    for j in np.flatnonzero(np.abs(presented).sum(axis=0))[: N - 1 : 3]:
        r, h, norm = matrix.direction(j, means, factors, root, basis.room(), basis.k)
        x = presented[:, j]
        w = naive.residual(x, Q)
        if np.linalg.norm(w) < 1e-6 * np.linalg.norm(x):
            continue
        assert norm == pytest.approx(np.linalg.norm(w), rel=1e-9)
        np.testing.assert_allclose(h, Q.T @ x, atol=1e-9 * np.linalg.norm(x))
        assert basis.accept(h, norm, 2.2e-16)
        Q = np.column_stack([Q, w / np.linalg.norm(w)])
        np.testing.assert_allclose(basis.Q, Q, atol=1e-8)
        np.testing.assert_allclose(r, Q[:, -1] @ presented, atol=1e-7 * np.abs(presented).sum())


def test_a_column_that_depends_is_not_accepted():
    A = np.array([[1.0, 2.0, 1.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    basis = Basis(4)
    for j, taken in ((0, True), (1, False), (2, True)):
        W, H = basis.residual(A[:, [j]])
        norm = float(np.linalg.norm(W))
        basis.room()[basis.k] = W[:, 0] / max(norm, 1e-300)
        assert basis.accept(H[:, 0], norm, 2.2e-16 * np.linalg.norm(A[:, j])) is taken
    assert basis.k == 2


def test_a_table_can_be_sent_away():
    X = sp.csr_array(np.eye(5))
    matrix = SparseMatrix(X)
    Z = np.arange(5.0)[:, None]
    ZtX = matrix.cross(Z)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(matrix)).cross(Z), ZtX)


@needs_kernels
def test_kernels_refuse_what_would_leave_their_arrays():
    kernels = native.kernels()
    X = sp.csc_array(np.eye(4)[:, :3])
    stored = compressed_columns(X)
    whole = kernels.sparse_table(4, *stored)
    counts, n = np.ones(3, dtype=np.int32), np.ones(3)
    turned = np.empty(3), np.empty(3, np.int32), np.empty(4, np.int32)

    def sparse(N=4, rows=stored.rows, starts=stored.starts):
        return kernels.sparse_table(N, stored.data, np.int32(rows), np.int32(starts))

    def turn(columns=(0, 1, 2), starts=(0, 1, 2, 3, 3), counts=(1, 1, 1), J=(0, 1, 2)):
        places = np.int32(columns), np.int32(starts), np.int32(counts), np.int64(J)
        return kernels.sparse_turn(stored.data, *places, *turned)

    def direction(j=0, k=0, Q=np.empty((2, 4)), h=np.empty(0), r=np.empty(3), means=n):  # noqa: B008
        return kernels.sparse_direction(whole, means, n, None, j, k, Q, h, r)

    def order(counts=(1, 1, 1), last=(0, 1, 1), N=2, columns=3, twins=3):
        room = (np.empty(n, np.int64) for n in (columns, twins, 3))
        return kernels.sparse_order(np.int32(counts), np.int32(last), N, *room)

    assert order() == (2, 1)
    assert not kernels.sparse_count(np.int32([0, 1]), np.int32([0, 3]), counts, counts.copy())
    turn(), direction(), sparse()  # as they should be
    for wrong in (
        lambda: sparse(rows=[0, 1, 4]),
        lambda: sparse(rows=[0, 1, -1]),
        lambda: sparse(rows=[0, 1]),
        lambda: sparse(N=2),
        lambda: sparse(starts=[0, 1, 2, 4]),
        lambda: sparse(starts=[0, 2, 1, 3]),
        lambda: sparse(starts=[]),
        lambda: kernels.sparse_cross(whole, np.ones((3, 1)), np.empty((1, 3)), None, None),
        lambda: kernels.sparse_cross(whole, np.ones((4, 1)), np.empty((1, 4)), None, None),
        lambda: kernels.sparse_cross(whole, np.ones((4, 40)), np.empty((40, 3)), None, None),
        lambda: kernels.sparse_cross(whole, np.ones((4, 1)), np.empty((1, 3)), n, None),
        lambda: kernels.sparse_cross(whole, np.ones((4, 1)), np.empty((1, 3)), None, np.empty(2)),
        lambda: direction(j=3),
        lambda: direction(j=-1),
        lambda: direction(k=2),
        lambda: direction(k=1),
        lambda: direction(Q=np.empty((2, 3))),
        lambda: direction(r=np.empty(2)),
        lambda: direction(means=np.ones(2)),
        lambda: kernels.sparse_count(np.int32([0, 1]), np.int32([0, 2]), counts, counts[:2].copy()),
        lambda: order(counts=[1, -1, 1]),
        lambda: order(columns=2),
        lambda: order(last=[0, 1, 2]),
        lambda: order(last=[0, 1, -1]),
        lambda: order(last=[0, 1]),
        lambda: order(twins=2),
        lambda: order(N=-1),
        lambda: turn(columns=(0, 1)),
        lambda: turn(starts=(0, 4)),
        lambda: turn(J=(0, 1, 3)),
        lambda: turn(J=(0, 1, 1)),
        lambda: turn(J=(0, 1)),
        lambda: turn(counts=(1, 1, 2)),
        lambda: turn(counts=(1, 1, -1)),
    ):
        with pytest.raises(ValueError, match="shapes do not fit"):
            wrong()
    with pytest.raises(ValueError, match="Capsule"):
        kernels.sparse_cross(stored, np.ones((4, 1)), np.empty((1, 3)), None, None)
    with pytest.raises(TypeError, match="expected 1 axes"):
        kernels.sparse_turn(np.ones(3, dtype=complex), *(counts,) * 3, np.arange(3), *turned)
    turn(columns=(0, 7, -7), starts=(0, 3))  # counts that are not theirs: nothing is written there


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("part", ["data", "indices", "indptr"])
def test_parts_may_stand_apart(form, part):
    X = table(np.random.default_rng(0), 20, 30, 0.4).asformat(form)
    expected = X.toarray()
    setattr(X, part, np.stack([getattr(X, part)] * 2, axis=1)[:, 0])
    J = np.arange(30)
    np.testing.assert_array_equal(SparseMatrix(X).columns(J), expected)
    Z = np.ones((20, 2))
    np.testing.assert_allclose(SparseMatrix(X).cross(Z), Z.T @ expected)


def test_numbers_may_be_big_endian():
    X = table(np.random.default_rng(0), 20, 30, 0.4)
    expected = X.toarray()
    X.data = X.data.astype(">f8")
    np.testing.assert_array_equal(SparseMatrix(X).columns(np.arange(30)), expected)


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize(
    ("part", "values", "told"),
    [
        ("indices", [0, 4, 1], "from 0 to 3, and hold 4"),
        ("indices", [0, -1, 1], "hold -1"),
        ("indptr", [0, 2, 1, 3, 3], "does not grow"),
        ("indptr", [0, 1, 2, 3, 9], "3 stored numbers"),
    ],
)
def test_a_table_that_is_not_sound_is_told(form, part, values, told):
    X = sp.csr_array(np.diag([1.0, 2.0, 3.0, 0.0])).asformat(form)
    setattr(X, part, np.array(values, dtype=np.int32))
    with pytest.raises(InputError, match=told):
        SparseMatrix(X)
