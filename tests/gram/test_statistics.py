"""Statistics answer as the rows would."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from matrices import edges, row_blocks
from orthoselect import GramStatistics, RowBlocks, select
from orthoselect.errors import (
    ConstantTargetError,
    InputError,
    MissingValueError,
    NonFiniteError,
    ReadAsQuantityWarning,
    SearchStoppedWarning,
    ShapeError,
)
from problems import random_block_problem, random_problem

N = 240


def same(path, expected):
    assert path.names == expected.names
    assert path.features == expected.features
    assert path.columns == expected.columns
    assert path.gains == pytest.approx(expected.gains, abs=1e-9)
    assert path.ceiling == pytest.approx(expected.ceiling, nan_ok=True)
    assert path.n_candidates == expected.n_candidates
    assert path.stopped == expected.stopped


def columns():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N, 4))
    kind = rng.choice(["red", "green", "blue", "rare"], N, p=[0.5, 0.3, 0.19, 0.01])
    y = np.where(X[:, 1] + (kind == "red") + rng.normal(size=N) > 0.3, "yes", "no").astype("U5")
    y[rng.random(N) < 0.1] = "maybe"
    return {
        "a": X[:, 0],
        "b": X[:, 1] * 1e-6 + 1e3,
        "c": rng.integers(0, 9, N),
        "d": X[:, 3].astype(np.float32),
        "kind": kind,
        "flag": X[:, 2] > 0,
        "y": y,
        "number": X[:, 1] - 2 * X[:, 0] + rng.normal(size=N),
    }


def frame(rows=slice(None)):
    return pd.DataFrame({name: values[rows] for name, values in columns().items()})


def blocks_of(library, seed=0):
    table = columns()
    return RowBlocks(
        lambda: (
            library.frame({name: values[a:b] for name, values in table.items()})
            for a, b in pairwise(edges(N, seed))
        )
    )


# The same answer


@pytest.mark.filterwarnings("ignore::orthoselect.errors.SelectionWarning")
@pytest.mark.parametrize("offset", [1e5, 1e8])
@pytest.mark.parametrize("seed", range(40))
def test_nasty_problems(seed, offset):
    problem = random_block_problem(seed) if seed % 3 == 0 else random_problem(seed, offset)
    options = dict(problem.options)
    groups = options.pop("groups", None)
    expected = select(
        problem.stored, problem.y, problem.t, sample_weight=problem.weights, **problem.options
    )
    statistics = GramStatistics.of(
        row_blocks(problem.stored, seed), problem.y, problem.weights, **options
    )
    same(statistics.select(problem.t, groups=groups), expected)


@pytest.mark.filterwarnings("ignore::orthoselect.errors.SelectionWarning")
@pytest.mark.parametrize("method", ["err", "mser", "obcc"])
@pytest.mark.parametrize("seed", range(1, 30))
def test_older_criteria(seed, method):
    problem = random_problem(seed, offset=100.0)
    task = problem.options["task"]
    options = {"task": task, "sample_weight": problem.weights}
    expected = select(problem.stored, problem.y, problem.t, method, **options)
    statistics = GramStatistics.of(problem.stored, problem.y, problem.weights, task=task)
    path = statistics.select(problem.t, method)
    assert path.features == expected.features
    assert path.gains == pytest.approx(expected.gains, rel=1e-7, abs=1e-9)
    assert path.ceiling == pytest.approx(expected.ceiling, nan_ok=True)


OPTIONS = {
    "plain": {},
    "groups": {"groups": {"pair": ["a", "c"]}},
    "group with labels": {"groups": {"mixed": ["a", "kind"]}},
    "include and exclude": {"include": ["kind"], "exclude": ["b"]},
    "fraction": {"n_features_to_select": 0.5},
    "ordinal": {"response_encoding": "ordinal"},
    "contrast": {"response_encoding": "contrast"},
}


@pytest.mark.parametrize("target", ["y", "number"])
@pytest.mark.parametrize("options", list(OPTIONS))
def test_questions_to_a_mixed_table(library, options, target):
    asked = {"n_features_to_select": 4, **OPTIONS[options]}
    statistics = GramStatistics.of(blocks_of(library), target)
    path = statistics.select(**asked)
    same(path, select(library.frame(columns()), target, **asked))
    assert path == select(statistics, None, **asked)
    assert path.stats["strategy"] == "statistics"
    assert path.stats["passes"] == 0


def test_options_are_those_asked_for():
    path = GramStatistics.of(frame(), "y").select(2, include=["c"], exclude=["a"])
    expected = select(frame(), "y", 2, include=["c"], exclude=["a"])
    assert path.options == expected.options


def test_a_subset_of_features():
    statistics = GramStatistics.of(frame(), "y", exclude=["number"])
    path = statistics.select(2, features=["a", "b", "kind"], exclude=["a"])
    expected = select(frame(), "y", 2, exclude=["a", "c", "d", "flag", "number"])
    same(path, expected)
    assert path.options == expected.options


def test_one_of_several_responses():
    X = frame().drop(columns=["y", "number"])
    Y = frame()[["number", "c"]].assign(twice=frame()["a"] * 2 + frame()["number"])
    X = X.drop(columns=["c"])
    statistics = GramStatistics.of(X, Y)
    assert statistics.responses == ["number", "c", "twice"]
    same(statistics.select(3), select(X, Y, 3))
    same(statistics.select(3, response="twice"), select(X, Y["twice"], 3))
    same(statistics.select(3, response=[0, 2]), select(X, Y[["number", "twice"]], 3))
    same(select(statistics, "c", 3), select(X, Y["c"], 3, task="regression"))


def test_classes_beside_numbers():
    X, Y = frame()[["a", "b", "d"]], frame()[["y", "number"]]
    statistics = GramStatistics.of(X, Y)
    same(statistics.select(2), select(X, Y, 2))
    same(statistics.select(2, response="y"), select(X, Y["y"], 2))
    assert repr(statistics).endswith("responses `y` (3 classes), `number` (numbers)")


def test_weights_count_as_copies():
    w = np.random.default_rng(0).integers(0, 4, N)
    statistics = GramStatistics.of(frame(), "y", w)
    assert statistics.n_rows == (w > 0).sum()
    assert statistics.weight == w.sum()
    copies = GramStatistics.of(frame(np.repeat(np.arange(N), w)), "y")
    same(statistics.select(4), copies.select(4))
    same(statistics.select(4), select(frame(), "y", 4, sample_weight=w))


def test_float32_keeps_its_precision():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 5)).astype(np.float32)
    X[:, 3] = X[:, 0] * np.float32(1.1) + X[:, 1]  # dependent up to float32
    y = X[:, 0] - X[:, 1] + X[:, 2] + rng.normal(size=200)
    statistics = GramStatistics.of(row_blocks(X), y)
    with pytest.warns(SearchStoppedWarning):
        path = statistics.select(5)
    with pytest.warns(SearchStoppedWarning):
        same(path, select(X, y, 5))


@pytest.mark.filterwarnings("ignore::orthoselect.errors.SelectionWarning")
def test_fewer_rows_than_columns(rng):
    X, y = rng.normal(size=(12, 40)), np.arange(12) % 3
    statistics = GramStatistics()
    for i in range(12):
        statistics.update(X[i : i + 1], y[i : i + 1])
    same(statistics.select(20), select(X, y, 20))


def test_sparse_tables_and_empty_blocks(rng):
    X = sp.csr_array(rng.normal(size=(90, 12)) * (rng.random((90, 12)) < 0.2))
    y = np.arange(90) % 3
    statistics = GramStatistics().update(X[:0], y[:0]).update(X[:40].tocoo(), y[:40])
    statistics.update(X[40:40], y[40:40]).update(X[40:], y[40:])
    same(statistics.select(5), select(X, y, 5))


def test_labels_may_be_numbers_if_dtypes_do_not_tell():
    table = frame().drop(columns="kind").assign(flag=frame()["flag"].astype(int))
    for spec in (None, "all"):
        table["c"] = table["c"].astype("category" if spec is None else "int64")
        statistics = GramStatistics(categorical_features=spec, exclude=["a", "b", "d", "number"])
        statistics.update(table[:100], "y").update(table[100:].astype({"c": "int64"}), "y")
        options = {"categorical_features": spec, "exclude": ["a", "b", "d", "number"]}
        same(statistics.select(2), select(table, "y", 2, **options))


def test_files_and_built_in_sets(tmp_path):
    frame().to_csv(tmp_path / "table.csv", index=False)
    statistics = GramStatistics.of(tmp_path / "table.csv", "y")
    same(statistics.select(3), select(tmp_path / "table.csv", "y", 3))
    same(GramStatistics.of("wine", None).select(3), select("wine", None, 3))


def test_one_pass_over_blocks():
    passes, seen = [], []

    def blocks():
        passes.append(1)
        for start in range(0, N, 50):
            yield frame(slice(start, start + 50))

    source = RowBlocks(blocks, progress=lambda number, n_bytes: seen.append((number, n_bytes)))
    GramStatistics.of(source, "y")
    assert len(passes) == 3  # two of them looks, at the first block and at text
    assert [number for number, _ in seen] == [1] * 5
    assert seen == sorted(seen)


# What is known


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_are_those_of_stacked_rows(weighted):
    table = frame().drop(columns=["d"])
    w = np.random.default_rng(1).random(N) if weighted else None
    statistics = GramStatistics.of(row_blocks(table), "number", w)
    rows = {name: table[name].to_numpy(float) for name in ("a", "b", "c", "flag", "number")}
    for name in ("kind", "y"):
        rows |= {f"{name}={level}": table[name] == level for level in sorted(set(table[name]))}
    A = np.column_stack([rows[term] for term in statistics.terms]).astype(float)
    assert sorted(rows) == sorted(statistics.terms)
    means, covariance, gram = naive.moments(A, w)
    np.testing.assert_allclose(statistics.means, means, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(statistics.gram, gram, rtol=1e-10, atol=1e-10)
    spread = np.sqrt(covariance.diagonal())
    scaled = (statistics.covariance - covariance) / spread / spread[:, None]
    np.testing.assert_allclose(scaled, 0, atol=1e-9)


def test_counts_of_classes_and_levels():
    statistics = GramStatistics.of(frame(), "y")
    counts = dict(zip(statistics.terms, statistics.means * statistics.weight))
    for level, count in frame()["kind"].value_counts().items():
        assert counts[f"kind={level}"] == pytest.approx(count)
    assert statistics.classes == {"y": ("maybe", "no", "yes")}
    assert statistics.n_rows == statistics.weight == N


def test_repr_tells_rows_features_and_response():
    assert repr(GramStatistics()) == "GramStatistics: no rows yet"
    statistics = GramStatistics().update([[1.0, 2.0]], [0.5])
    assert repr(statistics) == "GramStatistics: 1 row, 2 features, response `y` (numbers)"


# Adding up


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.sets(st.integers(1, N - 1), max_size=6))
def test_cuts_and_their_order_do_not_matter(seed, cuts):
    rng = np.random.default_rng(seed)
    bounds = [0, *sorted(cuts), N]
    parts = [frame(slice(a, b)) for a, b in pairwise(bounds)]
    parts = [parts[k] for k in rng.permutation(len(parts))]
    merged = sum(GramStatistics.of(part, "y") for part in parts if len(part) > 1)
    single = [part for part in parts if len(part) == 1]
    merged = merged or GramStatistics()
    for part in single:
        merged.update(part, "y")
    same(merged.select(5), select(frame(), "y", 5))


def test_levels_and_classes_of_either_side():
    first, second = frame(slice(0, 3)), frame(slice(3, None))
    both = GramStatistics.of(first, "y") + GramStatistics.of(second, "y")
    assert len(GramStatistics.of(first, "y").terms) < len(both.terms)
    same(both.select(5), select(frame(), "y", 5))
    same((GramStatistics.of(second, "y") + GramStatistics.of(first, "y")).select(5), both.select(5))


def test_whole_numbers_that_turn_out_to_be_quantities_are_refused(rng):
    X = rng.normal(size=(80, 4))
    y = np.round(2 * X[:, 0] - X[:, 1])
    y[60:] += 0.5
    statistics = GramStatistics().update(X[:30], y[:30])
    assert statistics.classes["y"]
    with pytest.raises(InputError, match=r"taken for classes.* with `task='regression'`"):
        statistics.update(X[30:70], y[30:70])
    left, right = GramStatistics.of(X[:30], y[:30]), GramStatistics.of(X[30:], y[30:])
    for one, other in ((left, right), (right, left)):
        with pytest.raises(
            InputError, match=r"classes that are numbers.* with `task='regression'`"
        ):
            one + other
    same(right.update(X[:30], y[:30]).select(3), select(X, y, 3))  # it was known from the first


def test_whole_numbers_are_quantities_where_that_is_said(rng):
    X = rng.normal(size=(80, 4))
    y = np.round(2 * X[:, 0] - X[:, 1])
    y[60:] += 0.5
    statistics = GramStatistics(task="regression").update(X[:30], y[:30])
    assert not statistics.classes
    same(statistics.update(X[30:70], y[30:70]).update(X[70:], y[70:]).select(3), select(X, y, 3))
    left, right = (
        GramStatistics.of(X[rows], y[rows], task="regression")
        for rows in (slice(0, 30), slice(30, 80))
    )
    same((left + right).select(3), select(X, y, 3))
    same((right + left).select(3), select(X, y, 3))


def cut_and_added(X, y, size, **options):
    starts = range(0, len(y), size)
    return sum(GramStatistics.of(X[a : a + size], y[a : a + size], **options) for a in starts)


@pytest.mark.parametrize("size", [1, 2, 5, 30])
@pytest.mark.parametrize("scale", [1e-309, 1e-315, 1e-320])
def test_sums_of_columns_of_the_smallest_floats_keep_their_digits(rng, scale, size):
    X = rng.normal([0.0, 1.0, -30.0], size=(30, 3)) * scale
    y = rng.normal(size=30)
    path = cut_and_added(X, y, size, task="regression").select(2)
    assert path.total == pytest.approx(naive.exact_r_squared(X.T[path.features], y), abs=1e-13)


@pytest.mark.parametrize("size", [1, 3, 20])
@pytest.mark.parametrize("offset", [10**6, 10**9, 10**12])
def test_numbers_taken_for_classes_keep_their_digits_far_from_zero(rng, offset, size):
    X, y = rng.normal(size=(20, 3)), offset + rng.integers(0, 3, 20)
    path = cut_and_added(X, y, size).select(2, task="regression")
    assert path.total == pytest.approx(naive.exact_r_squared(X.T[path.features], y), abs=1e-13)
    y = y + np.where(np.arange(20) == 13, 0.5, 0.0)  # one is no class
    path = cut_and_added(X, y, size, task="regression").select(2)
    assert path.total == pytest.approx(naive.exact_r_squared(X.T[path.features], y), abs=1e-13)


def test_adding_changes_neither_side():
    first, second = (GramStatistics.of(frame(rows), "y") for rows in (slice(0, 90), slice(90, N)))
    before = first.gram, second.gram
    both = first + second
    both.update(frame(slice(0, 5)), "y")
    alone = sum([first])
    alone.update(frame(slice(0, 5)), "y")
    np.testing.assert_array_equal(first.gram, before[0])
    np.testing.assert_array_equal(second.gram, before[1])
    assert (first.n_rows, second.n_rows, both.n_rows) == (90, 150, 245)


def test_nothing_added_is_nothing():
    statistics = GramStatistics.of(frame(), "y")
    same((GramStatistics() + statistics).select(3), statistics.select(3))
    same((statistics + GramStatistics()).select(3), statistics.select(3))
    without = GramStatistics().update(frame(), "y", np.zeros(N))
    same((without + statistics).select(3), statistics.select(3))
    same((statistics + without).select(3), statistics.select(3))
    assert repr(GramStatistics() + GramStatistics()) == "GramStatistics: no rows yet"
    with pytest.raises(InputError, match="`task` is 'regression' on the left and 'auto'"):
        GramStatistics(task="regression") + statistics
    with pytest.raises(TypeError):
        statistics + 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda X: X.drop(columns="a"),
            "there is `a` on the left only",
        ),
        (
            lambda X: X.rename(columns={"c": "z"}),
            "there is `c` on the left only, and `z` on the right only",
        ),
        (
            lambda X: X[["b", "a", *X.columns[2:]]],
            "column 0 is `a` on the left and `b` on the right. Put them into one order",
        ),
        (lambda X: X.assign(c="text"), "column `c` is numbers on the left and labels on the right"),
        (lambda X: X.assign(y=1.5 * X["a"]), "response `y` is labels on the left and numbers"),
        (lambda X: X.assign(y=X["c"]), "labels on the left and classes that are numbers on the"),
    ],
)
def test_the_first_difference_is_named(change, words):
    left, right = GramStatistics.of(frame(), "y"), GramStatistics.of(change(frame()), "y")
    with pytest.raises(InputError, match=words):
        left + right


def test_responses_and_exclusions_that_differ():
    statistics = GramStatistics.of(frame(), "y")
    with pytest.raises(InputError, match="column `y` is the response on the left and labels"):
        statistics + GramStatistics.of(frame(), "number")
    with pytest.raises(InputError, match="column `b` is numbers on the left and excluded"):
        statistics + GramStatistics.of(frame(), "y", exclude="b")
    given = GramStatistics.of(frame(), "y", classes=["maybe", "no", "yes"])
    with pytest.raises(InputError, match="given classes `maybe`, `no`, `yes` on the left"):
        given + statistics


# More rows


def test_classes_that_are_given():
    statistics = GramStatistics(classes=["yes", "no", "maybe", "never"])
    statistics.update(frame(slice(0, 100)), "y")
    with pytest.raises(InputError, match=r"one of the classes given at first.*got `perhaps`"):
        statistics.update(frame(slice(100, N)).assign(y="perhaps"), "y")
    statistics.update(frame(slice(100, N)), "y")
    same(statistics.select(4), select(frame(), "y", 4))


def test_ordered_classes_keep_their_order(library):
    order = ["low", "middle", "high"]
    number = columns()["number"] + columns()["a"]
    answer = np.array(order)[np.digitize(number, [-1, 1])]
    X = np.column_stack([columns()["a"], columns()["number"]])
    statistics = GramStatistics()
    for rows in (slice(0, 100), slice(100, N)):
        statistics.update(X[rows], library.labels(answer[rows], order))
    options = {"response_encoding": "ordinal"}
    same(statistics.select(2, **options), select(X, library.labels(answer, order), 2, **options))


def test_a_block_that_is_wrong_changes_nothing():
    statistics = GramStatistics.of(frame(), "y")
    before = statistics.gram
    wrong = frame()
    wrong.loc[N - 1, "a"] = np.nan
    with pytest.raises(NonFiniteError, match=r"`a` \(1 missing of"):
        statistics.update(wrong, "y")
    with pytest.raises(InputError, match="block 1 has `z` where `a` was expected"):
        statistics.update(frame().rename(columns={"a": "z"}), "y")
    with pytest.raises(InputError, match="8 were expected"):
        statistics.update(frame().drop(columns="a"), "y")
    with pytest.raises(InputError, match=r"column `kind` should hold labels, .* numbers here"):
        statistics.update(frame().assign(kind=1.0), "y")
    with pytest.raises(InputError, match=r"column `c` should hold numbers, .* labels here"):
        statistics.update(frame().assign(c="7"), "y")
    with pytest.raises(InputError, match="should be of one kind in all blocks"):
        statistics.update(frame().assign(y=1), "y")
    with pytest.raises(InputError, match="this one has `number`, those before had `y`"):
        statistics.update(frame(), "number")
    with pytest.raises(InputError, match="a column of all blocks, or be given beside all"):
        statistics.update(frame(), columns()["y"])
    with pytest.raises(MissingValueError, match=r"`kind` \(240 missing of 240"):
        statistics.update(frame().assign(kind=None, y="no").astype({"kind": "category"}), "y")
    with pytest.raises(ShapeError, match="one number for each of the 240 rows"):
        statistics.update(frame(), "y", [1.0])
    assert statistics.n_rows == N
    np.testing.assert_array_equal(statistics.gram, before)


def test_errors_in_blocks_name_the_block(rng):
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    X[25, 1] = np.inf
    with pytest.raises(NonFiniteError, match=r"`x1` has 1 infinity.*block 2 \(rows 20 to 29\)"):
        GramStatistics.of(RowBlocks([X[a : a + 10] for a in range(0, 40, 10)]), y)


def test_responses_and_weights_beside_blocks_have_to_fit(rng):
    X = rng.normal(size=(40, 3))
    blocks = RowBlocks([X[:20], X[20:]])
    for n_rows in (39, 41):
        with pytest.raises(ShapeError, match="same number of rows"):
            GramStatistics.of(blocks, np.arange(n_rows) % 2)
        with pytest.raises(ShapeError, match="one number for each"):
            GramStatistics.of(blocks, np.arange(40) % 2, np.ones(n_rows))
    with pytest.raises(InputError, match="there is no `heavy`"):
        GramStatistics.of(blocks, np.arange(40) % 2, "heavy")
    with pytest.raises(InputError, match="`target` should be positions, from 0 to 2"):
        GramStatistics.of(blocks, 5)


def test_memory_that_does_not_do(rng):
    X = rng.normal(size=(20, 30))
    with pytest.raises(InputError, match="statistics of 33 columns"):
        GramStatistics.of(RowBlocks([X], memory=10_000), np.arange(20) % 2)


# What cannot be asked


@pytest.mark.parametrize("method", ["jmi", "mim", "socc_discretized", "lasso", "shapley"])
def test_methods_that_need_rows_say_so(method):
    statistics = GramStatistics.of(frame().drop(columns=["kind"]), "y")
    words = "needs the rows.*Choose one of 'socc', 'obcc', 'err', 'mser', 'unsupervised', or"
    with pytest.raises(InputError, match=words):
        statistics.select(2, method)


def test_questions_that_make_no_sense():
    statistics = GramStatistics.of(frame(), "y")
    with pytest.raises(InputError, match=r"or name responses.*`y`; got 'z'"):
        statistics.select(2, response="z")
    with pytest.raises(InputError, match="no `z`"):
        statistics.select(2, include="z")
    with pytest.raises(InputError, match="`y` is"):
        statistics.select(2, include="y")
    with pytest.raises(InputError, match="`sample_weight` is decided"):
        select(statistics, None, 2, sample_weight=np.ones(N))
    with pytest.raises(InputError, match="`categorical_features` is decided"):
        select(statistics, None, 2, categorical_features=["c"])
    with pytest.raises(InputError, match="holds classes that are none"):
        statistics.select(2, task="regression")
    with pytest.raises(InputError, match="taken in as numbers"):
        GramStatistics.of(frame(), "number").select(2, task="classification")
    with pytest.raises(InputError, match="'err' takes columns of numbers; `kind` holds labels"):
        statistics.select(2, "err")
    with pytest.raises(InputError, match="there should be rows"):
        GramStatistics().select(2)
    with pytest.raises(ShapeError, match="1 sample"):
        GramStatistics().update([[1.0]], [1]).select(1)
    with pytest.raises(InputError, match="distinct labels"):
        GramStatistics(classes=[1, 1])
    with pytest.raises(InputError, match="`task` should be one of"):
        GramStatistics(task="guess")


@pytest.mark.parametrize(("value", "told"), [("no", "'no'"), (7, "7"), (0.1, "0.1")])
def test_a_constant_response_is_an_error(value, told):
    statistics = GramStatistics.of(frame().assign(y=value), "y")
    assert not statistics.varies
    with pytest.raises(
        ConstantTargetError, match=rf"response `y` should .* every row has {told}\."
    ):
        statistics.select(2)


def test_numbers_that_look_like_a_quantity(rng):
    X, y = rng.normal(size=(90, 3)), rng.integers(0, 60, 90)
    statistics = GramStatistics.of(X, y)
    with pytest.warns(ReadAsQuantityWarning, match="response `y` holds"):
        assert statistics.select(1).ceiling == 1
    assert statistics.select(1, task="classification").ceiling == len(set(y.tolist())) - 1
    same(statistics.select(2, task="regression"), select(X, y, 2, task="regression"))


def test_too_many_classes_are_an_error(rng):
    with pytest.raises(InputError, match=r"at most 4000 levels.*task='regression'"):
        GramStatistics.of(rng.normal(size=(5000, 1)), np.arange(5000), task="classification")
    assert GramStatistics.of(rng.normal(size=(5000, 1)), np.arange(5000)).select(1).ceiling == 1


def test_pickles(rng):
    statistics = GramStatistics.of(frame(), "y")
    again = pickle.loads(pickle.dumps(statistics))
    same(again.select(3), statistics.select(3))
    np.testing.assert_array_equal(again.gram, statistics.gram)


@pytest.mark.parametrize("responses", [1, 2])
def test_blocks_before_any_weight_change_nothing(rng, responses):
    X = rng.normal(size=(40, 3))
    y = X[:, :responses] + rng.normal(size=(40, responses))
    w = np.repeat([0.0, 1.0], [15, 25])
    expected = select(X, y, 2, sample_weight=w)
    one_by_one = GramStatistics()
    for rows in (slice(0, 15), slice(15, 40)):
        one_by_one.update(X[rows], y[rows], w[rows])
    same(select(one_by_one, None, 2), expected)
    added = GramStatistics().update(X[:15], y[:15], w[:15]) + GramStatistics().update(
        X[15:], y[15:]
    )
    same(select(added, None, 2), expected)
    same(select(GramStatistics.of(RowBlocks([X[:15], X[15:]]), y, w), None, 2), expected)
