"""Selection without a target against its by-definition twin, and what can be said about it."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import naive
from orthoselect import GramStatistics, OrthogonalSelector, select
from orthoselect.errors import InputError, SearchStoppedWarning, SelectionWarning
from problems import random_block_problem, random_problem


def quietly(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        return select(*args, method="unsupervised", **options)


def agrees(path, inputs, features, t, w=None, include=(), center=True, digits=1e-9):
    """Compare with the twin; features by their first input."""
    heads = [own[0] for own in features]
    selected, gains = naive.unsupervised_forward(inputs, features, t, w, include, center)
    assert path.features == [heads[f] for f in selected]
    assert path.gains == pytest.approx(gains, rel=1e3 * digits, abs=digits)


@pytest.mark.usefixtures("rows_come")
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("seed", range(120))
def test_selects_as_by_definition(seed, center):
    # Not centered, offset times closeness of near-duplicates has to fit the digits.
    problem = random_problem(seed, offset=1e5 if center else 100)
    n = problem.X.shape[1]
    include = (n - 1,) if seed % 3 == 0 else ()
    path = quietly(
        problem.stored,
        None,
        problem.t,
        sample_weight=problem.weights,
        include=include,
        center=center,
    )
    agrees(
        path,
        list(problem.X.T),
        [[j] for j in range(n)],
        problem.t,
        problem.weights,
        include,
        center,
    )


@pytest.mark.usefixtures("rows_come")
@pytest.mark.parametrize("seed", range(120))
def test_groups_and_categories_explain_as_by_definition(seed):
    problem = random_block_problem(seed)
    labels, categorical = problem.options["groups"], problem.options["categorical_features"]
    X, owned = problem.X, {}
    for c in range(X.shape[1]):
        owned.setdefault(labels[c] or c, []).append(c)
    inputs = [naive.one_hot(X[:, c]) if c in categorical else X[:, c] for c in range(X.shape[1])]
    path = quietly(
        X, None, 4, groups=labels, categorical_features=categorical, sample_weight=problem.weights
    )
    agrees(path, inputs, list(owned.values()), 4, problem.weights)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_a_table_of_few_rows_goes_through_its_rows(seed, center, dtype):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 4)) @ rng.normal(size=(4, 60)) + 0.3 * rng.normal(size=(12, 60)) + 2
    X[:, 7], X[:, 9] = X[:, 3], 1.0
    X = X.astype(dtype)
    for stored in (X, np.asfortranarray(X), sp.csr_array(X)):
        path = quietly(stored, None, 5, center=center)
        assert path.stats["strategy"] == "kernel of the rows"
        digits = 1e-9 if dtype == np.float64 else 1e-7
        columns = list(X.T.astype(float))
        agrees(path, columns, [[j] for j in range(60)], 5, center=center, digits=digits)
