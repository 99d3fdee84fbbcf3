"""Features of many levels: the same as by definition, whatever depends on whatever."""

import warnings

import numpy as np
import pytest

import naive
from levels_problems import random_levels_problem
from orthoselect import select
from orthoselect.criteria import SquaredCanonicalCorrelations, large
from orthoselect.encode import build_design, build_response
from orthoselect.errors import InputError, SelectionWarning
from orthoselect.read import open_source, read_target


def selected_as_by_definition(problem, names, X=None, tolerance=1e-10, close=1e-8):
    labels = problem.options["groups"]
    first = [labels.index(f) if isinstance(f := names[i], str) else f for i in problem.include]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        path = select(
            problem.X if X is None else X,
            problem.y,
            problem.t,
            sample_weight=problem.weights,
            include=first,
            **problem.options,
        )
    selected, gains = naive.forward(
        problem.blocks, problem.Y, problem.t, problem.weights, problem.include, tolerance=tolerance
    )
    assert [names.index(labels[s.feature] or s.feature) for s in path] == selected
    assert path.gains == pytest.approx(gains, abs=close)
    return path


@pytest.mark.parametrize("least", [2, 4, 8])
@pytest.mark.parametrize("seed", range(300))
def test_many_levels_are_selected_as_by_definition(seed, least, monkeypatch):
    monkeypatch.setattr(large, "LARGE", least)
    selected_as_by_definition(*random_levels_problem(seed))


@pytest.mark.parametrize("seed", range(60))
def test_more_levels_than_a_small_feature_may_have(seed):
    problem, names = random_levels_problem(seed, N=(150, 350), most=120)
    selected_as_by_definition(problem, names)


@pytest.mark.parametrize("seed", range(60))
def test_many_levels_in_blocks_of_rows(seed, rows_come, monkeypatch):
    monkeypatch.setattr(large, "LARGE", 3)
    selected_as_by_definition(*random_levels_problem(seed))


@pytest.mark.parametrize("seed", range(100))
def test_many_levels_beside_numbers_in_float32(seed, monkeypatch):
    monkeypatch.setattr(large, "LARGE", 3)
    problem, names = random_levels_problem(seed)
    X = problem.X.astype(np.float32)
    blocks = [X[:, [c]] for c in range(X.shape[1])]
    for c in problem.options["categorical_features"]:
        blocks[c] = naive.one_hot(X[:, c])
    labels = problem.options["groups"]
    problem.blocks = [
        np.hstack([b for c, b in enumerate(blocks) if (labels[c] or c) == name]) for name in names
    ]
    # What is left of a number beside its levels is known to few digits.
    selected_as_by_definition(problem, names, X, tolerance=1e-6)


def with_claims(X, categorical, y, steps):
    """Take features one by one; yield each large one's gain, its slack, and the true gain.

    The truth is in long doubles, of the columns that the feature is said to have left.
    """
    table = open_source(X).read(categorical=set(categorical), skip=set())
    design = build_design(table, {}, set())
    response = build_response(read_target(y, len(y)), "regression", "dummy", None)
    state = SquaredCanonicalCorrelations().start(design, response, size=steps)
    gains, open_ = state._gains, np.ones(len(design.features), dtype=bool)
    A = naive.exact_columns(design.matrix.columns(np.arange(design.matrix.shape[1])))
    V = naive.exact_basis(naive.exact_columns(y))
    taken = []
    for _ in range(steps):
        f = state.best(open_)
        if f is None:
            return
        J = gains.columns_of(state._candidates.place(f))
        taken.append(A[:, J])
        state.add(f)
        open_[f] = False
        state._settle()
        Q = naive.exact_basis(np.column_stack(taken))
        for g, feature in gains._large.items():
            if gains._spent[g] or gains._slack[g] >= 1:
                continue
            W = naive.exact_residual(A[:, feature.columns], Q)
            true = ((V.T @ naive.exact_basis(W)) ** 2).sum()
            yield gains._gains[g], gains._slack[g], float(true)


def claims_of(seed):
    rng = np.random.default_rng(seed)
    N = int(rng.choice([60, 150]))
    codes = [rng.integers(0, z, N) for z in rng.integers(4, 25, size=4)]
    codes[3] = np.where(rng.random(N) < 0.2, codes[3], codes[0])
    numbers = [rng.normal(size=N), codes[0] + 10.0 ** rng.integers(-3, 1) * rng.normal(size=N)]
    X = np.column_stack([*codes, *numbers])
    y = sum(rng.normal(size=25)[c] for c in codes) + numbers[0] + rng.normal(size=N)
    return list(with_claims(X, range(4), y, 5))


def test_no_gain_is_off_by_more_than_its_slack(numbers, monkeypatch):
    monkeypatch.setattr(large, "LARGE", 3)
    shares = []
    for seed in numbers(60):
        for gain, slack, true in claims_of(seed):
            assert abs(gain - true) <= slack, seed
            shares.append(slack / gain)
    assert len(shares) >= 10
    assert np.median(shares) < 1e-12  # a claim that is always true would be no claim


def table_of(N=2000, cities=400, seed=0):
    """A city in a state, its latitude, a second column of many levels, and a number."""
    rng = np.random.default_rng(seed)
    city = rng.integers(0, cities, N)
    latitude = rng.normal(size=cities)[city]
    X = np.column_stack(
        [city, city // 8, latitude, rng.integers(0, 300, N), rng.normal(size=N)]
    ).astype(float)
    y = latitude + X[:, 4] + rng.normal(size=cities)[city] + 0.3 * rng.normal(size=N)
    return X, y


CITY, STATE, LATITUDE, OTHER, NUMBER = range(5)
ORDERS = [
    [CITY, STATE],
    [STATE, CITY],
    [LATITUDE, CITY],
    [CITY, LATITUDE],
    [LATITUDE, STATE, CITY],
    [NUMBER, STATE, CITY],
    [CITY, OTHER, STATE],
    [CITY, OTHER, LATITUDE],
    [OTHER, CITY, STATE],
    [OTHER, CITY, LATITUDE],
    [OTHER, STATE, CITY],
]


@pytest.mark.filterwarnings("ignore::orthoselect.errors.SelectionWarning")
@pytest.mark.parametrize("include", ORDERS)
def test_what_depends_on_levels_is_found_without_their_columns(include):
    """To write out the columns of a city would take more than the table many times over."""
    X, y = table_of()
    path = select(X, y, 5, include=include, categorical_features=[CITY, STATE, OTHER])
    blocks = [naive.one_hot(X[:, c]) if c in (CITY, STATE, OTHER) else X[:, [c]] for c in range(5)]
    totals = [
        naive.value(np.hstack([blocks[f] for f in path.features[: k + 1]]), y)
        for k in range(len(path))
    ]
    assert [step.total for step in path] == pytest.approx(totals, abs=1e-9)
    assert set(path.features) >= {CITY, OTHER, NUMBER}
    assert path.stats["columns_read"] < 300  # the state has 49 columns, and they are measured


@pytest.mark.filterwarnings("ignore::orthoselect.errors.ManyLevelsWarning")
@pytest.mark.parametrize("include", [[], [0], [1], [2]])
def test_two_that_are_nearly_identifiers(include):
    rng = np.random.default_rng(5)
    N = 700
    name = np.where(rng.random(N) < 0.95, np.arange(N), rng.integers(0, N, N))
    city = np.where(rng.random(N) < 0.7, np.arange(N), rng.integers(0, N, N))
    X = np.column_stack([name, city, rng.normal(size=N), rng.normal(size=N)]).astype(float)
    y = rng.integers(0, 12, N)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        path = select(X, y, 4, include=include, categorical_features=[0, 1], task="classification")
    blocks = [naive.one_hot(name), naive.one_hot(city), X[:, [2]], X[:, [3]]]
    together = naive.value(np.hstack([blocks[f] for f in path.features]), naive.one_hot(y))
    assert path.total == pytest.approx(together, abs=1e-9)
    assert {0, 1} <= set(path.features)
    assert path.stats["columns_read"] < 350  # they have more than 500 each


@pytest.mark.filterwarnings("ignore::orthoselect.errors.ManyLevelsWarning")
def test_more_memory_than_there_is_is_refused_before_work_begins(monkeypatch):
    X, y = table_of()
    options = {"categorical_features": [CITY, OTHER]}
    monkeypatch.setattr(large, "free_memory", lambda: 500_000)
    with pytest.raises(InputError, match=r"`x0` \(397\) and `x3` \(298\).* 710 kB.*`exclude`"):
        select(X, y, 2, **options)
    assert len(select(X, y, 1, **options)) == 1
    assert len(select(X, y, 2, exclude=[OTHER], **options)) == 2


def test_rows_of_the_level_left_out_may_have_no_weight():
    """The most frequent level is the one without a column; here all its rows count for nothing."""
    rng = np.random.default_rng(2)
    codes = np.concatenate([np.zeros(100), np.repeat(np.arange(1.0, 101.0), 3)])
    y, w = rng.normal(size=400), np.where(codes == 0, 0.0, 1.0)
    X = np.column_stack([codes, rng.normal(size=400)])
    path = select(X, y, 2, sample_weight=w, categorical_features=[0])
    live = codes > 0
    blocks = [naive.one_hot(codes[live]), X[live][:, [1]]]
    selected, gains = naive.forward(blocks, y[live, None], 2)
    assert path.features == selected
    assert path.gains == pytest.approx(gains, abs=1e-10)
