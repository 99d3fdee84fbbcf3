"""Checksums of columns: alike for equal values, however these are stored and cut."""

from itertools import pairwise

import numpy as np
import pytest

from orthoselect.matrix.checksums import (
    ChecksumHistory,
    number_bits,
    object_bits,
    period_of,
    rows_to_check,
    sum_of_objects,
    sums_of_numbers,
)

N = 5_000


def sums(X, start=0, period=1):
    rows, weights = rows_to_check(start, len(X), period)
    return sums_of_numbers(X[rows], weights)


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(N, 4))


def test_memory_order_strides_and_other_columns_change_no_bit(X):
    expected = sums(X)
    wide = np.zeros((2 * N, 9))
    wide[::2, 1::2] = X
    for same in (np.asfortranarray(X), X[::-1].copy()[::-1], wide[::2, 1::2]):
        assert (sums(same) == expected).all()
    assert (sums(X[:, [3, 0]]) == expected[[3, 0]]).all()


@pytest.mark.parametrize("period", [1, 4, 1024])
def test_sums_add_up_however_rows_are_cut(X, period):
    whole = sums(X, 0, period)
    for cuts in ([1], [7, 8, 9], range(100, N, 100), [1024, 2048], [N - 1]):
        edges = [0, *cuts, N]
        parts = [sums(X[a:b], a, period) for a, b in pairwise(edges)]
        assert (np.sum(parts, axis=0, dtype=np.uint64) == whole).all()


def test_equal_numbers_are_equal_in_any_type():
    values = [0, 1, 3, 200]
    expected = number_bits(np.array(values)).tolist()
    for kind in (np.uint8, np.int64, np.float16, np.float32, np.float64):
        assert number_bits(np.array(values, kind)).tolist() == expected
    assert object_bits(values).tolist() == object_bits(map(float, values)).tolist() == expected
    assert object_bits([True, False]).tolist() == number_bits(np.array([True, False])).tolist()


def test_zeros_and_gaps_are_alike_whatever_their_bits():
    odd = np.array([0x7FF8000000000000, 0xFFF8000000000001], np.uint64).view(np.float64)
    assert len(set(number_bits(np.array([np.nan, *odd])).tolist())) == 1
    assert number_bits(np.array([-0.0, 0.0])).tolist() == [0, 0]
    gaps = object_bits([np.nan, None, float("nan"), object()]).tolist()
    assert gaps == number_bits(np.full(4, np.nan)).tolist()


@pytest.mark.parametrize("values", [[0.0, 1.0], [1.0, 2.0], [1e300, -1e300], [0.1, 0.2]])
def test_rows_that_change_places_change_the_sum(values):
    rng = np.random.default_rng(1)
    column = rng.choice(values, size=(64, 1))
    for _ in range(1000):
        a, b = rng.choice(64, 2, replace=False)
        other = column.copy()
        other[[a, b]] = other[[b, a]]
        assert (sums(other) == sums(column)).all() == (column[a] == column[b]).all()


def test_any_change_of_a_row_that_is_looked_at_changes_the_sum(X):
    expected = sums(X)
    for bit in range(63):
        other = X.copy()
        other.view(np.uint64)[17, 2] ^= np.uint64(1) << np.uint64(bit)
        assert (sums(other) != expected).tolist() == [False, False, True, False]


def test_text_is_told_from_other_text():
    _, weights = rows_to_check(0, 3, 1)
    expected = sum_of_objects(["a", "b", "ü"], weights)
    assert sum_of_objects(np.array(["a", "b", "ü"]), weights) == expected
    for other in (["b", "a", "ü"], ["a", "b", "u"], ["a", "b", None], ["a", "b", 1]):
        assert sum_of_objects(other, weights) != expected


@pytest.mark.parametrize("n_rows", [1, 63, 64, 1000, 50_000, 10**6])
def test_some_rows_of_every_block_are_looked_at(n_rows):
    period = period_of(n_rows)
    for start in (0, n_rows, 3 * n_rows):
        assert len(rows_to_check(start, n_rows, period)[1]) >= min(n_rows, 64) // 2


def follow(history, X, edges, columns):
    """Walk over X; return the first end of a block with odd columns, and those."""
    walk = history.walk(np.array(columns))
    for a, b in pairwise(edges):
        odd = walk.add(b, sums(X[a:b], a)[columns])
        if len(odd):
            return walk.agreed, b, odd.tolist()
    walk.end()
    return None


def test_passes_are_compared_by_the_columns_and_ends_that_both_have(X):
    history = ChecksumHistory(1)
    edges = range(0, N + 1, 500)
    assert follow(history, X, edges, [0, 1]) is None
    assert follow(history, X, edges, [2]) is None
    assert follow(history, X, [0, 700, 1500, N], [2, 0]) is None
    other = X.copy()
    other[1200, 2] += 1
    assert follow(history, other, edges, [1, 3]) is None
    assert follow(history, other, edges, [0, 1, 2]) == (1000, 1500, [2])
    assert follow(history, other, [0, 500, 1700, 2000, N], [2]) == (500, 2000, [2])


def test_a_history_takes_bounded_memory_and_still_notices(X, monkeypatch):
    monkeypatch.setattr("orthoselect.matrix.checksums._MEMORY", 10_000)
    history = ChecksumHistory(1)
    edges = range(0, N + 1, 10)
    assert follow(history, X, edges, [0, 1, 2, 3]) is None
    (record,) = history.records
    assert len(record.sums) < 40
    assert follow(history, X, edges, [0, 1]) is None
    for row in (0, 1234, N - 1):
        other = X.copy()
        other[row, 1] += 1
        agreed, end, odd = follow(history, other, edges, [0, 1])
        assert agreed <= row < end
        assert odd == [1]
