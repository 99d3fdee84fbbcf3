"""Sparse tables full of columns with one number each, which are all the same in one row."""

import numpy as np
import pytest
import scipy.sparse as sp

from orthoselect import select
from orthoselect.criteria import SquaredCanonicalCorrelations
from orthoselect.encode import build_design
from orthoselect.errors import NonFiniteError
from orthoselect.matrix import DenseMatrix
from orthoselect.problem import open_problem


def words(seed):
    """Few rows, many words, most of them in one row only or in none; and the classes of rows."""
    rng = np.random.default_rng(seed)
    N, n = int(rng.choice([8, 20, 60])), 400
    share = np.minimum(rng.pareto(0.7, n) / N / 4, 0.7)
    X = np.where(rng.random((N, n)) < share, rng.integers(1, 9, (N, n)), 0).astype(float)
    y = (X @ rng.normal(size=n) * (rng.random(N) < 0.9) > 0).astype(int)
    y[:2] = [0, 1]
    return X, y


def columns_alone(X):
    """The columns with one number, by its row."""
    rows = {}
    for j in np.flatnonzero((X != 0).sum(axis=0) == 1):
        rows.setdefault(int(X[:, j].argmax()), []).append(int(j))
    return [group for group in rows.values() if len(group) > 1]


def alike(sparse, dense):
    assert [step.feature for step in sparse] == [step.feature for step in dense]
    np.testing.assert_allclose(
        [step.gain for step in sparse], [step.gain for step in dense], atol=1e-9
    )


@pytest.mark.filterwarnings("ignore::orthoselect.errors.SearchStoppedWarning")
@pytest.mark.parametrize("seed", range(12))
def test_the_selection_is_that_of_the_dense_table(seed):
    X, y = words(seed)
    assert columns_alone(X)
    for t in (3, 12):
        alike(select(sp.csr_array(X), y, t), select(X, y, t))


@pytest.mark.filterwarnings("ignore::orthoselect.errors.SearchStoppedWarning")
@pytest.mark.parametrize("seed", range(6))
def test_twins_can_be_asked_for_by_name(seed):
    X, y = words(seed)
    first, *others = columns_alone(X)[0]
    for include in ([others[-1]], [others[0], first], [first, others[-1]]):
        alike(select(sp.csr_array(X), y, 5, include=include), select(X, y, 5, include=include))


@pytest.mark.filterwarnings("ignore::orthoselect.errors.SearchStoppedWarning")
@pytest.mark.parametrize("seed", range(6))
def test_where_the_first_is_out_the_next_is_taken(seed):
    X, y = words(seed)
    out = [group[0] for group in columns_alone(X)]
    alike(select(sp.csr_array(X), y, 8, exclude=out), select(X, y, 8, exclude=out))


@pytest.mark.filterwarnings("ignore::orthoselect.errors.SearchStoppedWarning")
@pytest.mark.parametrize("seed", range(6))
def test_rows_without_weight_have_no_twins(seed):
    X, y = words(seed)
    w = np.random.default_rng(seed).integers(0, 3, len(y)).astype(float)
    w[:2] = 1.0
    alike(
        select(sp.csr_array(X), y, 6, sample_weight=w),
        select(X, y, 6, sample_weight=w),
    )


def state_of(X, y):
    problem = open_problem(X, y)
    design = build_design(problem.table, {}, set())
    return SquaredCanonicalCorrelations().start(design, problem.response, None, 5), design


def test_gains_of_twins_are_those_of_the_first():
    X, y = words(3)
    sparse, _ = state_of(sp.csr_array(X), y)
    dense, design = state_of(X, y)
    assert isinstance(design.matrix, DenseMatrix)
    for _ in range(4):
        np.testing.assert_allclose(sparse.gains(), dense.gains(), atol=1e-9)
        best = dense.best(np.ones(X.shape[1], dtype=bool))
        assert best == sparse.best(np.ones(X.shape[1], dtype=bool))
        sparse.add(best), dense.add(best)


def test_a_search_may_close_the_first_and_leave_its_twins():
    X, y = words(1)
    open_ = np.zeros(X.shape[1], dtype=bool)
    for group in columns_alone(X):
        open_[group[1:]] = True
    sparse, dense = state_of(sp.csr_array(X), y)[0], state_of(X, y)[0]
    for _ in range(3):
        best = dense.best(open_)
        assert best is not None
        assert sparse.best(open_) == best
        assert sparse.add(best) == pytest.approx(dense.add(best), abs=1e-9)
        open_[best] = False


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_a_twin_that_is_not_finite_is_told(odd):
    X, y = words(2)
    j = columns_alone(X)[0][-1]
    X[X[:, j] != 0, j] = odd
    with pytest.raises(NonFiniteError, match=f"x{j}"):
        select(sp.csr_array(X), y, 3)
