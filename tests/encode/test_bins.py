"""Rules that cut columns: which level a value gets, dense and sparse."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import KBinsDiscretizer

import naive
from orthoselect.encode.bins import (
    DenseColumns,
    SparseColumns,
    column_blocks,
)
from orthoselect.encode.rules import equal_width_cuts, mean_std_cuts


def columns(seed):
    """Columns (b, N) with the usual diseases, many values on the cuts among them."""
    rng = np.random.default_rng(seed)
    b, N = int(rng.integers(1, 6)), int(rng.integers(1, 30))
    A = rng.normal(size=(b, N))
    A[0] = rng.choice([-3.0, 0.0, 5.5], N)
    if b > 1:
        A[1] = rng.normal()  # constant
    if b > 2:
        A[2] = rng.permutation(np.arange(N) % 2) * rng.normal() + rng.normal()  # two values
    if b > 3:
        A[3] = rng.integers(-4, 5, N) * (rng.random(N) < 0.4)
    if rng.random() < 0.2:
        A *= 10.0 ** rng.integers(-300, 300, (b, 1))
    if rng.random() < 0.2:
        A += 1e6
    return A


@pytest.mark.parametrize("n_levels", [3, 4])
def test_mean_std_levels_equal_the_definition(n_levels, numbers):
    for seed in numbers(300):
        A = columns(seed)
        w = np.random.default_rng(seed).integers(1, 4, A.shape[1]) if seed % 3 == 0 else None
        block = DenseColumns(A)
        levels = block.cut(mean_std_cuts(block, n_levels, w))
        for column, found in zip(A, levels):
            assert found.tolist() == naive.mean_std_levels(column, n_levels, w), seed


@pytest.mark.parametrize("n_levels", [3, 4])
def test_columns_of_two_values_keep_both(n_levels):
    """Equally frequent, they lie on the cuts, and rounding decided without care."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        low, high = np.sort(rng.normal(size=2) * 10.0 ** rng.integers(-5, 5))
        A = np.repeat([[low, high]], rng.integers(1, 9), axis=1)
        if rng.random() < 0.5:
            A = np.append(A, [[high]], axis=1)
        block = DenseColumns(A)
        levels = block.cut(mean_std_cuts(block, n_levels))[0]
        assert (levels[A[0] == low] < levels[A[0] == high].min()).all()


def test_a_value_on_a_cut_lies_above_it():
    A = np.array([[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]])  # m = 5, s = 2 with divisor N
    block = DenseColumns(A)
    assert mean_std_cuts(block, 4) == pytest.approx(np.array([[3.0, 5.0, 7.0]]))
    assert block.cut(mean_std_cuts(block, 3)).tolist() == [[0, 1, 1, 1, 1, 1, 2, 2]]
    assert block.cut(mean_std_cuts(block, 4)).tolist() == [[0, 1, 1, 1, 2, 2, 3, 3]]


@pytest.mark.parametrize("n_bins", [2, 3, 10, 40, 256])
def test_equal_width_is_that_of_scikit_learn(n_bins, numbers):
    for seed in numbers(60):
        A = columns(seed)
        A = A[(A.min(axis=1) < A.max(axis=1))]
        if len(A):
            expected = KBinsDiscretizer(n_bins, strategy="uniform", encode="ordinal")
            block = DenseColumns(A)
            levels = block.cut(equal_width_cuts(block, n_bins))
            np.testing.assert_array_equal(levels, expected.fit_transform(A.T).T)


def test_constant_columns_have_one_level():
    block = DenseColumns(np.full((2, 5), 0.1))
    for cuts in (mean_std_cuts(block, 3), mean_std_cuts(block, 4), equal_width_cuts(block, 7)):
        assert not block.cut(cuts).any()
        assert not DenseColumns(np.array([[-9.0, 9.0]] * 2)).cut(cuts).any()


def test_values_beyond_the_range_go_to_the_end_bins():
    block = DenseColumns(np.array([[0.0, 1.0, 2.0, 3.0]]))
    beyond = DenseColumns(np.array([[-1e300, 1e300]]))
    assert beyond.cut(equal_width_cuts(block, 5)).tolist() == [[0, 4]]
    assert beyond.cut(mean_std_cuts(block, 4)).tolist() == [[0, 3]]


def as_sparse(A):
    X = sp.csc_array(A.T)
    X.eliminate_zeros()
    return SparseColumns(X)


def written_out(block, levels):
    X = sp.csc_array((levels, block.X.indices, block.X.indptr), shape=block.shape)
    return X.toarray().T


def same_partition(a, b):
    """Whether two codings differ in names only."""
    return len(set(zip(a, b))) == len(set(a)) == len(set(b))


def test_sparse_levels_are_the_dense_ones_renamed(numbers):
    for seed in numbers(200):
        A = columns(seed)
        dense, sparse = DenseColumns(A), as_sparse(A)
        for rule in (
            lambda c: mean_std_cuts(c, 3),
            lambda c: mean_std_cuts(c, 4),
            lambda c: equal_width_cuts(c, 5),
        ):
            expected = dense.cut(rule(dense))
            found = written_out(sparse, sparse.cut(rule(sparse)))
            for values, one, other in zip(A, expected, found):
                assert same_partition(one, other), seed
                assert not other[values == 0].any()


def ranked(block):
    """Each cell's place among the distinct values of its own column, and how many these are."""
    values = block.distinct()
    return block.rank(values), values.counts


def test_ranks_count_distinct_values(numbers):
    for seed in numbers(200):
        A = columns(seed)
        for block in (DenseColumns(A), as_sparse(A)):
            ranks, counts = ranked(block)
            ranks = ranks if isinstance(block, DenseColumns) else written_out(block, ranks)
            for values, rank, n_levels in zip(A, ranks, counts):
                assert same_partition(values, rank), seed
                assert n_levels == len(set(values))
                assert rank.max() < n_levels


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i8", "u8", "f4", "f8", "?"])
def test_ranks_of_every_dtype(dtype):
    info = np.iinfo(dtype) if dtype[0] in "iu" else None
    ends = [info.min, info.max] if info else [0, 1]
    A = np.array([[ends[0], ends[1], ends[0]], [1, 0, 1], [0, 0, 0], [1, 1, 1]], dtype=dtype)
    ranks, counts = ranked(DenseColumns(A))
    assert ranks.tolist() == [[0, 1, 0], [1, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert counts.tolist() == [2, 2, 1, 1]


def test_large_integers_are_not_confused_by_rounding():
    A = np.array([[2**62, 2**62 + 1, 2**62 + 2]])
    assert ranked(DenseColumns(A))[0].tolist() == [[0, 1, 2]]


@pytest.mark.parametrize("kind", [DenseColumns, as_sparse])
def test_more_than_256_values_are_told(kind):
    A = np.array([np.arange(1, 3001) * 1.5, np.arange(3000) % 256 + 1])
    counts = kind(A).distinct().counts
    assert counts[0] > 256
    assert counts[1] == 256


def test_a_sparse_column_without_zeros_uses_code_0_too():
    block = as_sparse(np.array([[5.5, -1.0, 5.5, 2.0]]))
    assert written_out(block, ranked(block)[0]).tolist() == [[2, 0, 2, 1]]


def test_blocks_of_sparse_columns_are_all_columns(monkeypatch):
    from orthoselect.encode import bins

    monkeypatch.setattr(bins, "_BLOCK_STORED", 7)
    monkeypatch.setattr(bins, "_BLOCK_COLUMNS", 4)
    X = sp.csc_array(sp.random(20, 30, density=0.1, format="csc", random_state=0))
    parts = [block.X.toarray() for _, block in column_blocks(X)]
    assert len(parts) > 5
    np.testing.assert_array_equal(np.hstack(parts), X.toarray())
