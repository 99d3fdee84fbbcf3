"""Selecting from tables in blocks of rows gives what the whole table gives."""

import time
import weakref

import numpy as np
import pytest
import scipy.sparse as sp

from matrices import edges
from orthoselect import GramStatistics, RowBlocks, select
from orthoselect.errors import (
    InputError,
    MissingValueError,
    NonFiniteError,
    SelectionInterrupted,
    ShapeError,
)

N = 240


def columns():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N, 4))
    kind = rng.choice(["red", "green", "blue", "rare"], N, p=[0.5, 0.3, 0.19, 0.01])
    y = np.where(X[:, 1] + (kind == "red") + rng.normal(size=N) > 0.3, "yes", "no")
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


def cut(frame, library, seed=0):
    cuts = edges(N, seed)
    whole = {name: np.asarray(values) for name, values in frame.items()}
    return RowBlocks(
        lambda: (
            library.frame({name: values[a:b] for name, values in whole.items()})
            for a, b in zip(cuts, cuts[1:])  # noqa: RUF007
        )
    )


def same(path, expected):
    assert path.names == expected.names
    assert path.columns == expected.columns
    assert path.gains == pytest.approx(expected.gains, abs=1e-9)
    assert path.ceiling == expected.ceiling
    assert path.n_candidates == expected.n_candidates


OPTIONS = {
    "plain": {},
    "groups": {"groups": {"pair": ["a", "c"]}},
    "group with labels": {"groups": {"mixed": ["a", "kind"]}},
    "include and exclude": {"include": ["kind"], "exclude": ["b", "number"]},
    "weights": {"sample_weight": np.random.default_rng(0).integers(0, 4, N)},
    "real weights": {"sample_weight": np.random.default_rng(0).random(N)},
    "numbers as labels": {"categorical_features": ["c"]},
    "ordinal": {"response_encoding": "ordinal"},
}


@pytest.mark.parametrize("target", ["y", "number", "c"])
@pytest.mark.parametrize("options", list(OPTIONS))
def test_mixed_tables(library, options, target):
    table = columns()
    given = dict(OPTIONS[options])
    if target == "number":
        given.pop("exclude", None)
    if target == "c":
        given.pop("groups", None)
        given.pop("categorical_features", None)
    expected = select(library.frame(table), target, 4, **given)
    same(select(cut(table, library), target, 4, **given), expected)


@pytest.mark.parametrize("seed", range(5))
def test_random_cuts(library, seed):
    table = columns()
    same(select(cut(table, library, seed), "y", 5), select(library.frame(table), "y", 5))


def test_responses_given_beside_the_blocks(library):
    table = columns()
    Y = np.column_stack([table.pop("number"), table["a"] * 2 + np.arange(N) / N])
    table.pop("y")
    same(select(cut(table, library), Y, 3), select(library.frame(table), Y, 3))


def with_labels(library, columns):
    """A frame of columns that may be the library's own."""
    make = library.module.table if library.name == "pyarrow" else library.module.DataFrame
    return make(columns)


def test_ordered_categories_keep_their_order(library):
    table = columns()
    order = ["low", "middle", "high"]
    answer = np.array(order)[np.digitize(table["a"] + table["number"], [-1, 1])]

    def frame(rows):
        labels = library.labels(answer[rows], order)
        parts = {"a": table["a"][rows], "b": table["number"][rows], "answer": labels}
        return with_labels(library, parts)

    blocks = RowBlocks([frame(slice(0, 100)), frame(slice(100, N))])
    options = {"response_encoding": "ordinal"}
    same(select(blocks, "answer", 2, **options), select(frame(slice(None)), "answer", 2, **options))


def test_orders_that_differ_are_an_error(library):
    first = with_labels(library, {"a": [1.0, 2.0], "y": library.labels("uv", list("uv"))})
    second = with_labels(library, {"a": [3.0, 5.0], "y": library.labels("uv", list("vu"))})
    with pytest.raises(InputError, match=r"`?y`? should have its categories in the same.*block 1"):
        select(RowBlocks([first, second]), "y", 1)


def ordered_and_not(library):
    """Return two blocks, the second with a category that the order of the first has not."""
    first = {"a": [1.0, 2.0, 4.0], "c": library.labels("uvu", list("vu"))}
    second = {"a": [3.0, 5.0, 9.0], "c": library.labels("uwv")}
    return [with_labels(library, block) for block in (first, second)]


@pytest.mark.parametrize("turn", [1, -1])
def test_categories_outside_of_an_order_are_an_error(library, turn):
    blocks = RowBlocks(ordered_and_not(library)[::turn])
    said = r"column `c` should have categories of one ordered.*`v`, `u`, and `w` is not.*block 1"
    with pytest.raises(InputError, match=said):
        select(blocks, np.arange(6) % 2, 1)
    said = (
        r"the target `c` should have categories of one ordered.*`v`, `u`, and `w` is not.*block 1"
    )
    with pytest.raises(InputError, match=said):
        select(blocks, "c", 1)


def test_statistics_say_so_of_categories_outside_of_an_order(library):
    first, second = (frame["c"] for frame in ordered_and_not(library))
    kept = GramStatistics().update([[1.0], [2.0], [4.0]], first)
    with pytest.raises(InputError, match="response `y` should have categories of one ordered"):
        kept.update([[3.0], [5.0], [9.0]], second)


def test_categories_within_an_order_need_not_have_it(library):
    first = ordered_and_not(library)[0]
    within = with_labels(library, {"a": [3.0, 5.0, 9.0], "c": library.labels("uvv")})
    path = select(RowBlocks([first, within]), "c", 1)
    assert path.names == ["a"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, bool])
def test_arrays(dtype):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 9)) * 5
    X = X > 0 if dtype is bool else X.astype(dtype)
    y = (X[:, 2].astype(float) + X[:, 5] + rng.normal(size=N) > 0).astype(int)
    blocks = RowBlocks([X[:1], X[1:1], X[1:100], X[100:]])
    same(select(blocks, y, 5), select(X, y, 5))


def test_sparse_blocks():
    rng = np.random.default_rng(1)
    X = sp.csr_array(rng.random((N, 30)) * (rng.random((N, 30)) < 0.1))
    y = (X[:, [3]].toarray()[:, 0] > 0).astype(int) + (rng.random(N) > 0.7)
    same(select(RowBlocks([X[:50], X[50:].tocoo()]), y, 5), select(X, y, 5))


def test_blocks_of_numbers_as_lists():
    rows = [[0.0, 1.0], [1.0, 0.5], [2.0, 3.0], [3.0, 0.0]]
    path = select(RowBlocks([rows[:1], rows[1:]], names=["left", "right"]), [0, 0, 1, 1], 1)
    assert path.names == ["left"]


def test_a_source_of_ones_own_reads_only_the_columns_it_is_asked_for():
    class Source:
        names = ("u", "v", "w", "y")

        def __init__(self, X):
            self.X, self.asked = X, []

        def blocks(self, columns):
            self.asked.append(columns)
            at = slice(None) if columns is None else columns
            return (self.X[a : a + 50][:, at] for a in range(0, N, 50))

    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    source = Source(X)
    path = select(source, "y", 2, exclude=["v"])
    # A look at the first block; the response, and a feature to know the rows by; the features.
    assert source.asked == [None, [3, 0], [0, 2]]
    assert path.features == select(X, "x3", 2, exclude=[1]).features
    assert path.stats["passes"] == 2
    assert path.stats["bytes_read"] == 8 * (50 * 4 + N * 4)


def test_near_duplicates_are_measured_in_passes_over_few_columns():
    rng = np.random.default_rng(0)
    base = rng.normal(size=(N, 3))
    X = np.hstack([base, base + 1e-6 * rng.normal(size=(N, 3))])
    y = base[:, 0] + 1e6 * (X[:, 3] - base[:, 0]) + rng.normal(size=N)
    path = select(RowBlocks([X[:100], X[100:]]), y, 5)
    same(path, select(X, y, 5))
    assert path.stats["measured"] > 0
    assert path.stats["bytes_read"] < path.stats["passes"] * X.nbytes


def test_nan_is_named_by_column_and_block():
    X = np.random.default_rng(0).normal(size=(40, 3))
    X[25, 1] = np.nan
    with pytest.raises(NonFiniteError, match=r"block 2 \(rows 20 to 29\): `x1` \(1 missing of 40"):
        select(RowBlocks([X[a : a + 10] for a in range(0, 40, 10)]), np.arange(40) % 2, 2)


def test_nan_in_the_response_is_named_by_block():
    X = np.random.default_rng(0).normal(size=(40, 3))
    X[25, 2] = np.inf
    with pytest.raises(
        InputError, match=r"the target `x2` should hold finite.*block 2 \(rows 20 to 29"
    ):
        select(RowBlocks([X[a : a + 10] for a in range(0, 40, 10)]), "x2", 2)


@pytest.mark.parametrize("method", ["socc", "obcc", "jmi", "socc_discretized"])
def test_few_blocks_are_alive_at_once(method):
    X = np.random.default_rng(0).normal(size=(400, 5))
    alive, most = set(), [0]

    def blocks():
        for start in range(0, 400, 20):
            block = X[start : start + 20].copy()
            alive.add(id(block))
            weakref.finalize(block, alive.discard, id(block))
            most[0] = max(most[0], len(alive))
            time.sleep(0.002)  # slow enough to be read ahead
            yield block
            del block

    select(RowBlocks(blocks), np.arange(400) % 3, 4, method)
    assert 1 <= most[0] <= 3


@pytest.mark.parametrize("method", ["socc", "err", "jmi"])
def test_an_interruption_in_a_later_pass_keeps_the_path(method):
    X = np.random.default_rng(0).normal(size=(60, 6))
    passes = []

    def blocks():
        passes.append(1)
        if len(passes) > 5:
            raise KeyboardInterrupt
        return [X[:30], X[30:]]

    with pytest.raises(SelectionInterrupted) as stopped:
        select(RowBlocks(blocks, memory=2000), np.arange(60) % 2, 6, method)
    assert 1 <= len(stopped.value.path) < 6


def test_a_small_budget_takes_more_passes_and_selects_the_same():
    X = np.random.default_rng(0).normal(size=(200, 12))
    y = (X[:, 3] + X[:, 5] > 0).astype(int)
    large, small = (select(RowBlocks([X], memory=m), y, 6) for m in (10**9, 10**3))
    same(small, large)
    assert large.stats["strategy"] == "whole gram"
    assert small.stats["strategy"] == "gram columns"
    assert small.stats["passes"] > large.stats["passes"]


def test_missing_labels_are_named_by_column_and_block(library):
    good = library.frame({"k": ["u", "v"], "y": [0, 1]})
    bad = library.frame({"k": ["u", None], "y": [0, 1]})
    with pytest.raises(MissingValueError, match=r"block 1 \(rows 2 to 3\): `k` \(1 missing"):
        select(RowBlocks([good, bad]), "y", 1)


def test_text_among_numbers_is_named_by_column_and_block(library):
    good = library.frame({"k": [1.0, 2.0], "y": [0, 1]})
    bad = library.frame({"k": ["u", "v"], "y": [0, 1]})
    with pytest.raises(InputError, match=r"column `k` should hold numbers.*block 1"):
        select(RowBlocks([good, bad]), "y", 1)


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ({"a": [1.0], "b": [2.0]}, "block 1 has 2, where 3 were expected"),
        ({"b": [1.0], "a": [2.0], "y": [1]}, "block 1 has `b` where `a` was expected"),
    ],
)
def test_blocks_of_other_columns_are_an_error(library, second, words):
    first = library.frame({"a": [1.0, 2.0], "b": [2.0, 2.5], "y": [0, 1]})
    with pytest.raises(InputError, match=words):
        select(RowBlocks([first, library.frame(second)]), "y", 1)


def test_blocks_of_other_precision_are_an_error():
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(InputError, match=r"first block is float32, this one is float64.*block 1"):
        select(RowBlocks([X[:20].astype(np.float32), X[20:]]), np.arange(40) % 2, 2)


def test_responses_of_other_kinds_are_an_error(library):
    first = library.frame({"a": [1.0, 2.0], "y": [0, 1]})
    second = library.frame({"a": [1.5, 2.5], "y": ["u", "v"]})
    with pytest.raises(InputError, match=r"labels here and numbers before.*block 1"):
        select(RowBlocks([first, second]), "y", 1)


def test_levels_that_were_not_there_before_are_an_error():
    passes = []

    def blocks():
        passes.append(1)
        rows = np.tile(np.array([["u", 1], ["v", 0]], dtype=object), (N, 1))
        rows[1, 0] = "new" if len(passes) > 3 else "u"  # not among the rows of the checksums
        return iter([rows])

    with pytest.raises(InputError, match=r"stay the same.*`x0` now has `new`"):
        select(RowBlocks(blocks), np.arange(2 * N) % 2, 1)


def test_no_rows_at_all():
    with pytest.raises(ShapeError, match="there are none"):
        select(RowBlocks([]), [0, 1], 1)
    with pytest.raises(ShapeError, match="minimum of 2"):
        select(RowBlocks([np.ones((1, 2))]), [0], 1)


def test_a_response_of_another_length_is_an_error():
    with pytest.raises(ShapeError, match="X has 4, y has 3"):
        select(RowBlocks([np.ones((2, 2)), np.ones((2, 2))]), [0, 1, 1], 1)


def test_generators_are_refused_because_they_last_for_one_pass():
    with pytest.raises(InputError, match="more than once"):
        RowBlocks(np.ones((2, 2)) for _ in range(2))


def test_a_function_has_to_make_new_blocks_at_every_call():
    blocks = (np.ones((2, 2)) for _ in range(2))
    with pytest.raises(InputError, match="new iterator at every call; it returned the generator"):
        select(RowBlocks(lambda: blocks), [0, 1, 0, 1], 1)
    with pytest.raises(InputError, match="it returned a NoneType"):
        select(RowBlocks(lambda: None), [0, 1], 1)


def test_what_is_no_list_of_blocks_is_refused(library):
    for wrong, words in (
        (None, "got a NoneType"),
        ("logs", "got a str"),
        ({"a": np.ones((2, 2))}, "got a dict"),
        (np.ones((4, 2)), "got one table, a ndarray"),
        (library.frame({"a": [1.0, 2.0]}), "got one table"),
    ):
        with pytest.raises(InputError, match=words):
            RowBlocks(wrong)
    for wrong in ("5", -1, 2.5, True):
        with pytest.raises(InputError, match="`n_rows` should be the number of all rows"):
            RowBlocks([np.ones((5, 2))], n_rows=wrong)


def test_memory_of_blocks_may_have_a_unit():
    assert RowBlocks([np.ones((2, 2))], memory="2 MB").memory == 2_000_000
    with pytest.raises(InputError, match="`memory` should be a number of bytes"):
        RowBlocks([np.ones((2, 2))], memory="much")


def test_batches_of_pyarrow_are_blocks():
    pa = pytest.importorskip("pyarrow")
    table = pa.table(columns())
    for data in (RowBlocks(lambda: table.to_batches(50)), table.combine_chunks().to_batches()[0]):
        path = select(data, "y", 3, exclude=["number"])
        expected = select(table, "y", 3, exclude=["number"])
        assert path.names == expected.names
        np.testing.assert_allclose(path.gains, expected.gains, rtol=1e-9)


@pytest.mark.parametrize("method", ["lasso", "shapley"])
def test_methods_that_need_the_table_in_memory_say_so(method):
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(InputError, match=f"'{method}' needs the whole table in memory"):
        select(RowBlocks([X]), np.arange(40) % 2, 2, method)


def test_a_table_of_labels_alone_whose_response_comes_first(library):
    rng = np.random.default_rng(0)
    a, b = rng.choice(["u", "v"], N), rng.choice(["p", "q", "r"], N)
    y = np.where((a == "u") ^ (rng.random(N) < 0.1), "yes", "no")
    table = {"y": y, "b": b, "a": a}
    same(select(cut(table, library), "y", 2), select(library.frame(table), "y", 2))


@pytest.mark.parametrize("width", [4, 9])
def test_blocks_that_have_other_columns_in_a_later_pass_are_named(width):
    X = np.random.default_rng(0).normal(size=(60, 9))
    passes = []

    def blocks():
        passes.append(None)
        return [X[:30, :7], X[30:, :7]] if len(passes) < 3 else [X[:30, :width], X[30:, :7]]

    with pytest.raises(InputError, match=rf"block 0 has {width}, where 7 were expected"):
        select(RowBlocks(blocks), "x6", 2)
