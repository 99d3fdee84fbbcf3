"""The fast criterion against its by-definition twin."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from orthoselect import select
from orthoselect.errors import SelectionWarning
from problems import constant_and_refused, random_block_problem, random_problem


def quietly(*args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        return select(*args, **kwargs)


def agrees(problem, path, places):
    """Same features, same gains; where the twin saw a tie broken by rounding, the same value."""
    selected, gains = naive.forward(
        problem.blocks, problem.Y, problem.t, problem.weights, problem.include
    )
    assert places == selected
    assert path.gains == pytest.approx(gains, abs=1e-8)


@pytest.mark.usefixtures("strategy")
@pytest.mark.parametrize("seed", range(300))
def test_selects_as_by_definition(seed):
    problem = random_problem(seed)
    path = quietly(
        problem.stored, problem.y, problem.t, sample_weight=problem.weights, **problem.options
    )
    agrees(problem, path, path.features)


@pytest.mark.usefixtures("strategy")
@pytest.mark.parametrize("seed", range(200))
def test_selects_blocks_as_by_definition(seed):
    problem = random_block_problem(seed)
    labels = problem.options["groups"]
    order = list(dict.fromkeys(label or c for c, label in enumerate(labels)))
    first = [labels.index(order[f]) if order[f] in labels else order[f] for f in problem.include]
    path = quietly(
        problem.X,
        problem.y,
        problem.t,
        sample_weight=problem.weights,
        include=first,
        **problem.options,
    )
    agrees(problem, path, [order.index(labels[s.feature] or s.feature) for s in path])


@pytest.mark.usefixtures("strategy")
@pytest.mark.parametrize("seed", range(20))
def test_blocks_of_a_sparse_table_are_those_of_a_dense_one(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 9)) * (rng.random((60, 9)) < 0.4)
    y = X[:, :6] @ rng.normal(size=6) + rng.normal(size=60)
    groups = ["a", "a", "b", "b", "c", "c", None, None, None]
    paths = [select(A, y, 5, groups=groups) for A in (X, sp.csr_array(X), sp.csc_array(X))]
    for path in paths[1:]:
        assert path.features == paths[0].features
        assert path.gains == pytest.approx(paths[0].gains, abs=1e-12)


@pytest.mark.usefixtures("strategy")
@pytest.mark.parametrize("seed", range(20))
def test_gains_are_increments_of_canonical_correlations_on_wide_tables(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 300)) + rng.normal(size=(60, 3)) @ rng.normal(size=(3, 300)) * 5
    y = rng.integers(0, 4, 60)
    path = select(X, y, 25, task="classification")
    Y = naive.one_hot(y)
    totals = [naive.value(X[:, path.features[: k + 1]], Y) for k in range(25)]
    assert [step.total for step in path] == pytest.approx(totals, abs=1e-8)


@pytest.mark.usefixtures("strategy")
@pytest.mark.parametrize("noise", [1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize("seed", range(5))
def test_gains_stay_true_among_near_duplicates(seed, noise):
    """Ten signals, a hundred noisy copies: d/d0 falls to noise squared, and gains must hold."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(200, 10))
    X = base[:, rng.integers(0, 10, 100)] + noise * rng.normal(size=(200, 100))
    y = (base[:, 0] + base[:, 3] + rng.normal(size=200) > 0).astype(int)
    path = select(X, y, 30)
    totals = [naive.value(X[:, path.features[: k + 1]], y, tolerance=1e-14) for k in range(30)]
    assert [step.total for step in path] == pytest.approx(totals, abs=1e-8)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(2, 12).flatmap(
        lambda N: st.tuples(
            st.lists(st.lists(st.integers(-3, 3), min_size=N, max_size=N), min_size=1, max_size=8),
            st.lists(st.integers(0, 2), min_size=N, max_size=N),
        )
    )
)
def test_small_integer_tables(problem):
    columns, y = problem
    X, Y = np.array(columns, dtype=float).T, naive.one_hot(y)
    if constant_and_refused(y, lambda: select(X, y, X.shape[1], task="classification")):
        return
    path = quietly(X, y, X.shape[1], task="classification")
    selected, gains = naive.forward([X[:, [j]] for j in range(X.shape[1])], Y, X.shape[1])
    assert path.features == selected
    assert path.gains == pytest.approx(gains, abs=1e-9)
    assert path.total <= len(set(y)) - 1


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.integers(2, 30), st.integers(1, 15), st.integers(1, 4))
def test_totals_never_exceed_the_rank_of_the_response(seed, N, n, c):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, n)) @ np.diag(10.0 ** rng.integers(-8, 8, n))
    X[:, rng.integers(0, n)] = X[:, 0]
    y = rng.integers(0, c, N)
    if constant_and_refused(y, lambda: select(X, y, n, task="classification")):
        return
    path = quietly(X, y, n, task="classification")
    assert path.total <= path.ceiling <= c - 1
    assert all(0 <= gain <= 1 for gain in path.gains)
    assert len(path) <= min(N - 1, n)
