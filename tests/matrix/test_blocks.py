"""Tables in blocks of rows: how they are read, added up and reduced."""

import concurrent.futures.thread
import gc
import signal
import threading
import time
import weakref

import numpy as np
import pytest
import scipy.sparse as sp

from matrices import blocks, edges
from orthoselect.errors import InputError
from orthoselect.matrix import (
    BlockMatrix,
    DenseMatrix,
    NonFiniteColumns,
    SparseMatrix,
    center,
)
from orthoselect.matrix.passes import BlockReader, LocalPasses, ReadAhead, map_forgetting
from orthoselect.matrix.rows import CodedRows
from orthoselect.matrix.stacked import ProjectedMatrix
from orthoselect.matrix.sums import Merging, RunningSums
from orthoselect.matrix.triangle import Factor


class Counted:
    """An array's rows that knows how many blocks of them are alive."""

    def __init__(self, X, height):
        self._X, self._height = X, height
        self._alive = weakref.WeakSet()
        self.most = 0

    def __call__(self, J):
        for start in range(0, len(self._X), self._height):
            block = DenseMatrix(self._X[start : start + self._height].copy())
            self._alive.add(block)
            gc.collect(0)
            self.most = max(self.most, len(self._alive))
            yield block


def test_at_most_three_blocks_are_alive_at_once():
    X = np.random.default_rng(0).normal(size=(300, 4))
    source = Counted(X, 10)
    matrix = BlockMatrix(LocalPasses(source, 300), DenseMatrix(X[:0]))
    V = np.zeros((300, 0))
    center(matrix, V, gram=True)
    matrix.gram(np.array([1]), np.zeros(1), np.ones(1), None)
    matrix.block_gram(np.array([1, 2]), None)
    matrix.extremes(np.arange(4))
    assert 1 <= source.most <= 3


def test_the_next_block_is_read_while_this_one_is_worked_on():
    asked = threading.Event()

    def items():
        yield 1
        asked.set()
        yield 2

    for _ in ReadAhead(items()):
        assert asked.wait(10)


def test_an_error_in_a_block_reaches_the_one_who_reads():
    def items():
        yield 1
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        list(ReadAhead(items()))


class Source:
    """Items that tell whether they are being made, and whether they were closed."""

    def __init__(self):
        self.at_work, self.go_on, self.closed = (threading.Event() for _ in range(3))

    def __iter__(self):
        try:
            yield 0
            self.at_work.set()
            assert self.go_on.wait(10)
            yield 1
        finally:
            self.closed.set()


def test_who_stops_early_waits_for_the_item_in_the_making():
    source = Source()
    with ReadAhead(source) as ahead:
        next(ahead)
        assert source.at_work.wait(10)
        threading.Timer(0.1, source.go_on.set).start()
    assert source.go_on.is_set()
    assert list(ahead) == []


def test_a_pass_that_fails_leaves_its_source_closed(monkeypatch):
    monkeypatch.setattr("orthoselect.matrix.passes._WORTH_A_THREAD", 0.0)
    closed = []

    def source(J):
        try:
            yield from (DenseMatrix(np.ones((5, 2))) for _ in range(4))
        finally:
            closed.append(J)

    def fail(total, block):
        raise OSError("disk")

    passes = LocalPasses(source, 20)
    for prepare in (None, lambda block: block):
        with pytest.raises(OSError, match="disk") as kept:
            passes.run(list, fail, list.__add__, prepare=prepare)
        assert kept.traceback  # which holds the frames of the pass
        assert closed.pop() is None


def test_what_is_left_to_the_garbage_collector_waits_for_no_lock_and_no_thread():
    """It may run inside an executor's `submit`, whose lock other threads want too."""
    source = Source()
    cycle = [ReadAhead(map_forgetting(str, ReadAhead(source)))]
    assert next(cycle[0]) == "0"
    assert source.at_work.wait(10)
    cycle.append(cycle)
    del cycle
    collector = threading.Thread(target=gc.collect, daemon=True)
    with concurrent.futures.thread._global_shutdown_lock:
        collector.start()
        collector.join(10)
        assert not collector.is_alive()
    source.go_on.set()
    assert source.closed.wait(10)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals")
def test_ctrl_c_while_a_block_is_awaited_leaves_nobody_reading(monkeypatch):
    monkeypatch.setattr("orthoselect.matrix.passes._WORTH_A_THREAD", 0.0)
    main, at_work, closed = threading.get_ident(), [], []

    def source(J):
        at_work.append(J)
        try:
            yield DenseMatrix(np.ones((5, 2)))
            yield DenseMatrix(np.ones((5, 2)))
            signal.pthread_kill(main, signal.SIGINT)
            time.sleep(0.3)  # the main thread is interrupted while this one is at work
            yield DenseMatrix(np.ones((5, 2)))
        finally:
            at_work.remove(J)
            closed.append(J)

    for prepare in (None, lambda block: block):
        with pytest.raises(KeyboardInterrupt):
            LocalPasses(source, 15).run(list, lambda total, block: None, None, prepare=prepare)
        assert not at_work
        assert closed.pop() is None


def test_passes_bytes_and_progress_are_told():
    told = []
    counted = BlockReader(progress=lambda number, size: told.append((number, size)))
    X = np.ones((10, 3))
    passes = LocalPasses(lambda J: (DenseMatrix(X[a : a + 5]) for a in (0, 5)), 10, counted)
    matrix = BlockMatrix(passes, DenseMatrix(X[:0]))
    matrix.cross(np.ones((10, 1)))
    matrix.cross(np.ones((10, 1)))
    assert told == [(1, 120), (1, 240), (2, 360), (2, 480)]
    assert matrix.stats() == {"passes": 2, "bytes_read": 480}


@pytest.mark.parametrize("rows", [9, 11])
def test_a_table_that_changes_between_passes_is_an_error(rows):
    X = np.ones((rows, 2))
    matrix = BlockMatrix(LocalPasses(lambda J: iter([DenseMatrix(X)]), 10), DenseMatrix(X[:0]))
    with pytest.raises(InputError, match=f"should have 10 rows, and has .*{rows}"):
        matrix.cross(np.ones((10, 1)))


def running_sums(parts):
    sums = RunningSums()
    for part in parts:
        sums.add([part])
    return sums


@pytest.mark.parametrize("shape", [(2, 200_000), (3, 0), (0, 3)])
def test_rows_of_any_length_add_up(shape):
    """Sums go some rows at a time; a row may be longer than that, or empty."""
    sums = running_sums([np.full(shape, 1.0), np.full(shape, 2.0)])
    np.testing.assert_array_equal(sums.results()[0], np.full(shape, 3.0))


def test_merged_sums_keep_what_each_has_rounded_away():
    one, other = (running_sums(np.array([[1.0], *[[1e-16]] * 1000])) for _ in range(2))
    assert float(one.merge(other).results()[0][0] - 2.0) == pytest.approx(2e-13, rel=0.01, abs=0)


def test_many_thousands_of_blocks_lose_nothing():
    parts = np.random.default_rng(0).normal(size=(50_000, 3)) * [1, 1e8, 1e-8] + [1e4, 0, 0]
    exact = parts.astype(np.longdouble).sum(axis=0).astype(float)
    np.testing.assert_allclose(running_sums(parts).results()[0], exact, rtol=1e-15)


def merged(parts, merge):
    merging = Merging(merge)
    for part in parts:
        merging.add(part)
    return merging.result()


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 100])
def test_pairs_are_merged_in_order(n):
    assert merged(((k,) for k in range(n)), lambda a, b: a + b) == tuple(range(n))


@pytest.mark.parametrize("seed", range(5))
def test_factors_of_blocks_have_the_inner_products_of_all_rows(seed):
    rng = np.random.default_rng(seed)
    A, B, V = rng.normal(size=(60, 4)), rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    cuts = edges(60, seed)
    parts = [slice(a, b) for a, b in zip(cuts, cuts[1:])]  # noqa: RUF007
    factor = merged((Factor.of(A[p], B[p], V[p]) for p in parts), Factor.merge)
    Q = np.linalg.qr(A)[0]
    W, U = B - Q @ (Q.T @ B), V - Q @ (Q.T @ V)
    np.testing.assert_allclose(factor.R.T @ factor.R, A.T @ A, atol=1e-12)
    np.testing.assert_allclose(factor.R.T @ factor.H, A.T @ B, atol=1e-12)
    np.testing.assert_allclose(factor.R.T @ factor.K, A.T @ V, atol=1e-12)
    np.testing.assert_allclose(factor.squares, (W**2).sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(factor.UtW, U.T @ W, atol=1e-12)


def test_factors_keep_the_digits_of_nearly_dependent_columns():
    rng = np.random.default_rng(0)
    a, e = rng.normal(size=(1000, 1)), rng.normal(size=(1000, 1))
    e -= a * (a.T @ e) / (a.T @ a)
    B, V = a + 1e-9 * e, np.zeros((1000, 0))
    parts = (Factor.of(a[s : s + 7], B[s : s + 7], V[s : s + 7]) for s in range(0, 1000, 7))
    left = np.sqrt(merged(parts, Factor.merge).squares[0])
    assert left == pytest.approx(1e-9 * np.linalg.norm(e), rel=1e-5)  # squared, all would be gone


def test_coded_rows_are_rows_of_the_small_table():
    rng = np.random.default_rng(0)
    codes, table, root = rng.integers(0, 3, 20), rng.normal(size=(3, 2)), rng.random(20)
    for weights in (None, root):
        V = CodedRows(codes.astype(np.uint8), table, weights)
        full = table[codes] * (1.0 if weights is None else weights[:, None])
        np.testing.assert_allclose(V[3:9], full[3:9])
        np.testing.assert_allclose(root @ V, root @ full)


def test_a_projected_block_answers_by_the_numbers_of_the_table():
    X = np.random.default_rng(0).normal(size=(20, 6))
    J = np.array([4, 1])
    block = ProjectedMatrix(DenseMatrix(X[:, J]), J, 6)
    np.testing.assert_array_equal(block.columns(np.array([1, 4])), X[:, [1, 4]])
    shifted = block.rescaled(np.arange(6.0), np.full(6, 2.0))
    np.testing.assert_allclose(shifted.columns(J), (X[:, J] - J) * 2.0)
    np.testing.assert_allclose(block.block_gram(J, None), X[:, J].T @ X[:, J])


def test_the_block_with_the_first_nan_is_named():
    X = np.random.default_rng(0).normal(size=(30, 3))
    X[17, 1] = X[25, 1] = np.nan
    with pytest.raises(NonFiniteColumns) as found:
        center(blocks(X, DenseMatrix, range(0, 31, 10)), np.zeros((30, 0)))
    assert found.value.counts == {1: (2, 0)}
    assert found.value.places == {1: "block 1 (rows 10 to 19)"}


def test_an_offset_that_only_later_blocks_have_costs_no_digits():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.r_[np.full(50, 1e9), 1e9 + rng.normal(size=450)], rng.normal(size=500)])
    V = np.linalg.qr(np.column_stack([np.ones(500), rng.normal(size=500)]))[0][:, 1:]
    exact, expected = center(DenseMatrix(X - [1e9, 0.0]), V)
    centered, VtX = center(blocks(X, DenseMatrix, range(0, 501, 50)), V)
    np.testing.assert_allclose(VtX, expected, atol=1e-13)
    np.testing.assert_allclose(
        centered.gram_with_errors(np.arange(2))[0],
        exact.gram_with_errors(np.arange(2))[0],
        atol=1e-13,
    )


def test_columns_that_cannot_be_shifted_cost_no_second_look():
    """Sparse, and nearly full of ones: a shift would fill the zeros."""
    X = np.ones((5000, 2))
    X[::2500, 0] = 0.0
    X[:2500, 1] = 0.0
    matrix = blocks(X, lambda B: SparseMatrix(sp.csr_array(B)), range(0, 5001, 1000))
    center(matrix, np.zeros((5000, 0)))
    assert matrix.stats()["passes"] <= 3  # rows to guess offsets from, the scan, what is constant
