"""err, mser and obcc against their by-definition twin, and the theorems that tie them together."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import naive
from orthoselect import OrthogonalSelector, select
from orthoselect.errors import (
    ConstantTargetError,
    InputError,
    NonFiniteError,
    SearchStoppedWarning,
    SelectionWarning,
)
from problems import random_problem

pytestmark = pytest.mark.usefixtures("rows_come")

METHODS = ["err", "mser", "obcc"]


def quietly(*args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        return select(*args, **kwargs)


def as_numbers(y, task):
    """Classes as their place in the sorted order, column by column."""
    y = y[:, None] if y.ndim == 1 else y
    if task == "regression":
        return y
    return np.column_stack([np.unique(c, return_inverse=True)[1].reshape(-1) for c in y.T])


def agrees(problem, criterion, path):
    task = problem.options["task"]
    rows = np.ones(len(problem.y), bool) if problem.weights is None else problem.weights > 0
    Y = np.zeros((len(problem.y), np.atleast_2d(problem.y.T).shape[0]))
    Y[rows] = as_numbers(problem.y[rows], task)
    selected, gains = naive.orthogonal_forward(
        problem.X, Y, problem.t, criterion, problem.weights, problem.include
    )
    assert path.features == selected
    assert path.gains == pytest.approx(gains, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("criterion", METHODS)
@pytest.mark.parametrize("seed", range(200))
def test_selects_as_by_definition(seed, criterion):
    # Nothing is centered, so offset times closeness of near-duplicates has to fit the digits.
    problem = random_problem(seed, offset=100)
    if seed % 3 == 0:
        problem.include = (problem.X.shape[1] - 1,)
    path = quietly(
        problem.stored,
        problem.y,
        problem.t,
        criterion,
        sample_weight=problem.weights,
        include=problem.include,
        **problem.options,
    )
    agrees(problem, criterion, path)


@pytest.mark.parametrize("criterion", METHODS)
@pytest.mark.parametrize(
    ("kind", "offset"), [("float64", 1e6), ("float32", 1e3), ("sparse", 1e6), ("fortran", 1e4)]
)
@pytest.mark.parametrize("seed", range(4))
def test_huge_offsets_cost_no_digits_that_are_there(seed, kind, offset, criterion):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 30)) + offset * rng.integers(-1, 2, 30)
    X[:, 5] = 3.0
    X[:, 7] = X[:, 6]
    if kind == "float32":
        X = X.astype(np.float32)
    y = (X[:, 3] - X[:, 3].mean() + rng.normal(size=200) > 0).astype(int)
    stored = {"sparse": sp.csr_array(X), "fortran": np.asfortranarray(X)}.get(kind, X)
    path = select(stored, y, 8, criterion)
    selected, gains = naive.orthogonal_forward(X, y[:, None], 8, criterion)
    assert path.features == selected
    assert path.gains == pytest.approx(gains, rel=1e-6)


@pytest.mark.parametrize("criterion", METHODS)
@pytest.mark.parametrize("exponents", [(-300, 300), (-1000, -900), (900, 1000)])
def test_scale_of_a_column_does_not_matter(rng, criterion, exponents):
    X = rng.normal(size=(50, 12)) + 1
    y = X[:, 4] + X[:, 7] + rng.normal(size=50)
    scaled = np.ldexp(X, rng.integers(*exponents, 12))
    a, b = select(X, y, 6, criterion), select(scaled, y, 6, criterion)
    assert a.features == b.features
    assert a.gains == pytest.approx(b.gains, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_scale_of_the_response_is_squared_in_mser_and_nothing_else(rng, scale):
    X = rng.normal(size=(50, 6)) + 1
    y = X[:, 4] + rng.normal(size=50)
    for criterion in ("err", "obcc"):
        scaled = select(X, y * scale, 4, criterion, task="regression")
        assert scaled.gains == pytest.approx(select(X, y, 4, criterion).gains)
    if scale > 1:
        with pytest.raises(InputError, match="mean square of y should be a double"):
            select(X, y * scale, 4, "mser", task="regression")
    plain = select(X, y, 4, "mser")
    small = select(X, y * 1e-9, 4, "mser")
    assert small.features == plain.features
    assert small.gains == pytest.approx([g * 1e-18 for g in plain.gains])


@pytest.mark.parametrize("seed", range(30))
def test_err_adds_up_to_what_least_squares_without_intercept_explains(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 12)) + rng.normal(size=12)
    y = X[:, 0] + rng.normal(size=40) + 3
    path = select(X, y, 6, "err")
    for k, step in enumerate(path, start=1):
        A = X[:, path.features[:k]]
        residual = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
        assert step.total == pytest.approx(1 - residual @ residual / (y @ y), abs=1e-10)
    assert path.ceiling == 1.0
    mser = select(X, y, 6, "mser")
    assert mser.features == path.features
    assert mser.gains == pytest.approx([g * (y @ y) / 40 for g in path.gains])


@pytest.mark.parametrize("seed", range(40))
def test_obcc_and_socc_choose_the_same_first_feature_of_two_classes(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 15)) * 10.0 ** rng.integers(-3, 4, 15) + 5 * rng.normal(size=15)
    y = rng.integers(0, 2, 40)
    a, b = select(X, y, 1, "obcc"), select(X, y, 1, "socc")
    assert a.features == b.features
    assert a.gains == pytest.approx(b.gains)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_with_centered_candidates_obcc_is_socc_of_two_classes(seed, weighted):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 15)) @ rng.normal(size=(15, 15))
    y = rng.permutation(np.arange(40) % 2)
    w = rng.integers(1, 4, 40).astype(float) if weighted else None
    X -= np.average(X, axis=0, weights=w)
    a, b = (select(X, y, 10, name, sample_weight=w) for name in ("obcc", "socc"))
    assert a.features == b.features
    assert a.gains == pytest.approx(b.gains, abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_with_a_constant_included_obcc_is_socc_of_two_classes(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 15)) + 10 * rng.normal(size=15)
    X[:, 3] = 2.0
    y = rng.permutation(np.arange(40) % 2)
    a = select(X, y, 8, "obcc", include=[3])
    b = select(X, y, 7, "socc")
    assert a.features == [3, *b.features]
    assert a.gains == pytest.approx([0.0, *b.gains], abs=1e-9)


@pytest.mark.parametrize("criterion", METHODS)
@pytest.mark.parametrize("seed", range(10))
def test_whole_weights_are_repeated_rows(seed, criterion):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 8)) + 1
    y = rng.integers(0, 3, 30)
    w = rng.integers(0, 4, 30)
    a = select(X, y, 5, criterion, sample_weight=w)
    b = select(np.repeat(X, w, axis=0), np.repeat(y, w), 5, criterion)
    assert a.features == b.features
    assert a.gains == pytest.approx(b.gains, rel=1e-9)


@pytest.mark.parametrize("criterion", METHODS)
def test_a_class_of_rows_of_little_weight_is_a_class(criterion, rng):
    X, y, w = rng.normal(size=(40, 6)), np.arange(40) < 8, np.full(40, 10)
    w[y] = 1
    a = select(X, y.astype(int), 4, criterion, sample_weight=w)
    b = select(np.repeat(X, w, axis=0), np.repeat(y, w).astype(int), 4, criterion)
    assert a.features == b.features
    assert a.gains == pytest.approx(b.gains, rel=1e-9)


@pytest.mark.parametrize("criterion", METHODS)
def test_float32_is_decided_in_double_precision(rng, criterion):
    """Near-ties that float32 products cannot tell apart, and its columns can."""
    base = rng.normal(size=(3000, 1))
    X = (base + 1e-4 * rng.normal(size=(3000, 60))).astype(np.float32)
    y = base[:, 0] + 1e-3 * rng.normal(size=3000)
    single, double = (select(A, y, 4, criterion) for A in (X, X.astype(np.float64)))
    assert single.features == double.features
    assert single.gains == pytest.approx(double.gains, rel=1e-9)


def test_a_constant_column_is_a_term_for_err_and_mser_but_not_for_obcc(rng):
    X = rng.normal(size=(60, 4))
    X[:, 2] = 7.0
    y = 5 + 0.1 * rng.normal(size=60)
    assert select(X, y, 1, "err").features == [2]
    assert select(X, y, 1, "mser").features == [2]
    with pytest.warns(SearchStoppedWarning, match="every other feature is constant or"):
        assert sorted(select(X, y, 4, "obcc").features) == [0, 1, 3]


@pytest.mark.parametrize("criterion", METHODS)
def test_stops_when_no_rank_is_left(rng, criterion):
    base = rng.normal(size=(30, 3)) + 1
    X = np.hstack([base, base @ rng.normal(size=(3, 3)), np.zeros((30, 1))])
    y = rng.normal(size=30)
    with pytest.warns(SearchStoppedWarning, match=r"selected 3 of the 6 .*no rank is left"):
        select(X, y, 6, criterion)


@pytest.mark.parametrize("criterion", METHODS)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_a_column_depends_if_its_part_beside_a_hardly_known_direction_is_its_rounding(
    rng, criterion, kind
):
    base = rng.normal(size=(30, 3)) + 1
    # Of the second column's own direction all but a few hundredths are rounding.
    nearly = base[:, 0] + 8e-14 * base[:, 1]
    X = np.column_stack([base[:, 0], nearly, base[:, 1] + 0.03 * base[:, 2]])
    y = base @ rng.normal(size=3) + rng.normal(size=30)
    with pytest.warns(SearchStoppedWarning, match=r"selected 2 of the 3 .*no rank is left"):
        select(kind(X), y, 3, criterion, include=[0, 1])
    path = select(kind(X), y, 3, criterion, include=[0, 1, 2])
    assert path.gains[2] == 0.0


@pytest.mark.parametrize("criterion", METHODS)
def test_an_included_column_that_depends_on_others_changes_nothing(rng, criterion):
    X = rng.normal(size=(40, 6)) + 1
    X[:, 2] = 0.3 * X[:, 0] - 0.7 * X[:, 1]
    y = X @ rng.normal(size=6) + 5 * rng.normal(size=40)
    with_it, without = (select(X, y, 4, criterion, include=first) for first in ([0, 1, 2], [0, 1]))
    assert with_it.gains[2] == 0.0
    assert with_it.features[3] == without.features[2]
    assert with_it.gains[3] == pytest.approx(without.gains[2], rel=1e-10)


@pytest.mark.parametrize("criterion", METHODS)
def test_a_constant_response_is_an_error(rng, criterion):
    X = rng.normal(size=(30, 3))
    with pytest.raises(ConstantTargetError):
        select(X, np.zeros(30), 2, criterion, task="regression")


@pytest.mark.parametrize("criterion", ["err", "mser"])
def test_stops_when_all_is_explained(rng, criterion):
    X = rng.normal(size=(30, 5)) + 1
    with pytest.warns(SearchStoppedWarning, match="selected 1 of the 3 .*completely"):
        select(X, X[:, 3] * 2, 3, criterion)


@pytest.mark.parametrize("criterion", METHODS)
@pytest.mark.parametrize("sparse", [False, True])
def test_non_finite_values_are_found(rng, criterion, sparse):
    X = rng.normal(size=(30, 5))
    X[3, 2], X[4, 2], X[5, 4] = np.nan, np.inf, np.nan
    stored = sp.csc_array(X) if sparse else X
    with pytest.raises(NonFiniteError, match=r"`x2` \(1 missing and 1 infinite of 30\)"):
        select(stored, np.arange(30) % 2, 2, criterion)
    assert len(select(stored, np.arange(30) % 2, 2, criterion, exclude=[2, 4])) == 2


@pytest.mark.parametrize("criterion", METHODS)
def test_rows_that_are_few_do_not_matter(rng, criterion):
    X = rng.normal(size=(10, 300))
    path = select(X, np.arange(10) % 2, 8, criterion)
    selected, gains = naive.orthogonal_forward(X, (np.arange(10) % 2)[:, None], 8, criterion)
    assert path.features == selected
    assert path.gains == pytest.approx(gains, abs=1e-9)


@pytest.mark.parametrize("criterion", METHODS)
def test_several_responses_add_up(rng, criterion):
    X = rng.normal(size=(40, 6)) + 1
    Y = rng.normal(size=(40, 3)) * [1, 10, 0.1]
    first = select(X, Y, 1, criterion)
    alone = [select(X, Y[:, k], 1, criterion, include=first.features).gains[0] for k in range(3)]
    assert first.total == pytest.approx(sum(alone))


@pytest.mark.parametrize("criterion", METHODS)
def test_the_selector_takes_the_criterion(rng, criterion):
    X = rng.normal(size=(40, 6)) + 1
    y = rng.integers(0, 2, 40)
    selector = OrthogonalSelector(3, criterion=criterion).fit(X, y)
    assert selector.path_ == select(X, y, 3, criterion)
    assert selector.path_.method == criterion
    with pytest.raises(InputError, match="does not take `groups`"):
        OrthogonalSelector(3, criterion=criterion, groups={"a": [0, 1]}).fit(X, y)


def test_the_selector_lists_the_criteria_it_knows(rng):
    with pytest.raises(InputError, match=r"`criterion` should be one of 'socc', .*; got 'lasso'"):
        OrthogonalSelector(1, criterion="lasso").fit(rng.normal(size=(9, 2)), np.arange(9) % 2)
