"""Identifiers, dates and empty columns are no features; what the user names stays."""

import datetime as dt
import time

import numpy as np
import pytest

from orthoselect.errors import InputError, LeftOutWarning, LooksNumericWarning, SelectionWarning
from orthoselect.read import Dataset, drop_missing, read_source, sift

pa = pytest.importorskip("pyarrow")
N = 30


def dataset(**columns):
    table = pa.table({"size": list(range(N)), "kind": ["a", "b"] * (N // 2), **columns})
    return Dataset(table, table.column_names, name="t")


def ids(n=N):
    return [f"id {row}" for row in range(n)]


DAY = dt.date(2020, 1, 1)
UNFIT = {
    "identifier": (pa.array(ids()), "identifier"),
    "large text": (pa.array(ids(), pa.large_string()), "identifier"),
    "identifier with gaps": (pa.array([*ids(N - 3), None, None, None]), "identifier"),
    "date": (pa.array([DAY] * N), "dates or times"),
    "time of day": (pa.array([dt.time(1)] * N), "dates or times"),
    "timestamp": (pa.array([dt.datetime(2020, 1, 1)] * N), "dates or times"),
    "duration": (pa.array([dt.timedelta(1)] * N), "dates or times"),
    "days as text": (pa.array(["31.12.2020", "1.1.2021"] * (N // 2)), "dates or times"),
    "months first": (pa.array(["12/31/20 10:30", "1/1/21 9:00:00"] * (N // 2)), "dates or times"),
    "years first": (pa.array(["2020/12/31", None] * (N // 2)), "dates or times"),
    "null type": (pa.nulls(N), "no values"),
    "all missing numbers": (pa.array([None] * N, pa.float64()), "no values"),
    "all missing text": (pa.array([None] * N, pa.string()), "no values"),
    "list": (pa.array([[1, 2]] * N), "lists or records"),
    "record": (pa.array([{"a": 1}] * N), "lists or records"),
    "bytes": (pa.array([b"x"] * N), "bytes"),
}


@pytest.mark.parametrize("kind", UNFIT)
def test_unfit_columns_are_left_out_by_name(kind):
    column, reason = UNFIT[kind]
    with pytest.warns(LeftOutWarning, match=f"left out 1 column.*`{kind}` \\({reason}"):
        found = sift(dataset(**{kind: column}), "kind")
    assert list(found.left_out) == [kind]
    assert found.left_out[kind].startswith(reason)
    assert found.names == ["size", "kind", kind], "the table itself stays whole"


@pytest.mark.parametrize("kind", UNFIT)
def test_unfit_target_is_an_error(kind):
    column, reason = UNFIT[kind]
    with pytest.raises(InputError, match=f"target should hold classes.*`{kind}`.*\\({reason}"):
        sift(dataset(**{kind: column}), kind)


@pytest.mark.parametrize("kind", UNFIT)
def test_columns_to_keep_stay(kind):
    found = sift(dataset(**{kind: UNFIT[kind][0]}), "kind", keep=[kind])
    assert found.left_out == {}


FIT = {
    "text": pa.array(["x", "y", "z"] * (N // 3)),
    "text that repeats once": pa.array([*ids(N - 1), "id 0"]),
    "distinct numbers": pa.array(np.arange(N)),
    "categories": pa.array(ids()).dictionary_encode(),
    "a handful of words": pa.array([*ids(10), *[None] * (N - 10)]),
    "versions": pa.array(["1.2.3", "1.3.0"] * (N // 2)),
    "booleans": pa.array([True, False] * (N // 2)),
    "mostly missing": pa.array([1.0, *[None] * (N - 1)]),
}


@pytest.mark.parametrize("kind", FIT)
def test_other_columns_stay(kind):
    found = dataset(**{kind: FIT[kind]})
    assert sift(found, "kind") is found
    assert sift(found, kind).left_out == {}


NUMBERS = {
    "thousands": (["1,200", "900", "12,000"], "30 of 30", "1,200"),
    "european": (["1.200,50", "900,00", "1.012.000,00"], "30 of 30", "1.200,50"),
    "decimal commas": (["1,5", "2,25", "-3"], "30 of 30", "1,5"),
    "percent": (["12%", "3.5 %", "0%"], "30 of 30", "12%"),
    "money": (["$12", "-$3.50", "(4)"], "30 of 30", r"\$12"),
    "marked": (["12", "-", "13.5"], "20 of 30", "12"),
    "mostly marked": (["-", "-", "13.5"], "10 of 30", "13.5"),
    "one word": (["12", "about 3", "13.5"], "20 of 30", "12"),
}


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("type", ["string", "large_string", "array"])
def test_text_that_looks_like_numbers_is_told(kind, type):
    values, share, example = NUMBERS[kind]
    if type == "array":
        X = np.array(values * (N // 3))[:, np.newaxis]
        found = Dataset(X, [kind], target=np.arange(N) % 2)
    else:
        found = dataset(**{kind: pa.array(values * (N // 3), getattr(pa, type)())})
    told = f"`{kind}` is read as text though {share} values look like numbers, for example "
    target = None if type == "array" else "kind"
    with pytest.warns(LooksNumericWarning, match=f"{told}'{example}'; clean it.*`categorical"):
        assert sift(found, target) is found
    assert sift(found, target, keep=[kind]) is found


PRICES = [f"1,{row:03}" for row in range(N)]
PRICES_ARE = "identifier: all values are distinct text, which looks like numbers stored as text"


def test_identifiers_that_look_like_numbers_are_told_twice():
    with pytest.warns(SelectionWarning) as caught:
        found = sift(dataset(price=PRICES), "kind")
    assert [type(w.message) for w in caught] == [LooksNumericWarning, LeftOutWarning]
    assert found.left_out == {"price": PRICES_ARE}


def test_array_of_identifiers_that_look_like_numbers():
    X = np.column_stack([PRICES, ["a", "b"] * (N // 2), ["c", "c", "d"] * (N // 3)])
    with pytest.warns(SelectionWarning) as caught:
        found = sift(Dataset(X, ["price", "kind", "size"]), "kind")
    assert [type(w.message) for w in caught] == [LooksNumericWarning, LeftOutWarning]
    assert found.left_out == {"price": PRICES_ARE}


def test_one_warning_names_all_columns_that_look_like_numbers():
    columns = {"a": ["1,200", "3"] * (N // 2), "b": ["1%", "2%"] * (N // 2), "c": ["x", "1"] * 15}
    with pytest.warns(
        LooksNumericWarning, match="`a`.*'1,200', and so are `b`, `c`; cle"
    ) as caught:
        sift(dataset(**columns), "kind")
    assert len(caught) == 1


@pytest.mark.parametrize(
    "values",
    [
        ["1.2.3", "1.3.0"],
        ["10-20", "20-30"],
        ["A1", "2", "b"],
        ["12A", "3B"],
        ["-", "."],
        ["", " "],
    ],
    ids=str,
)
def test_other_text_with_digits_is_text(values):
    column = (values * N)[:N]
    found = dataset(x=column)
    assert sift(found, "kind") is found
    X = np.array(column)[:, np.newaxis]
    found = Dataset(X, ["x"], target=np.arange(N) % 2)
    assert sift(found, None) is found


def test_one_warning_names_all_of_them():
    columns = {"id": ids(), "code": ids(), "when": [DAY] * N}
    with pytest.warns(LeftOutWarning) as caught:
        found = sift(dataset(**columns), "kind")
    assert len(caught) == 1
    assert "left out 3 column(s): `id`, `code` (identifier" in str(caught[0].message)
    assert "`when` (dates or times)" in str(caught[0].message)
    assert list(found.left_out) == ["id", "code", "when"]


def test_what_was_left_out_before_stays_out_in_silence():
    with pytest.warns(LeftOutWarning):
        found = sift(dataset(id=ids()), "kind")
    assert sift(found, "kind") is found


def test_difference_beyond_the_first_rows():
    many = [f"id {row}" for row in range(3000)]
    table = pa.table({"once": many, "twice": [*many[:-1], "id 0"], "y": [0, 1] * 1500})
    with pytest.warns(LeftOutWarning, match="left out 1 column"):
        found = sift(Dataset(table, table.column_names), "y")
    assert list(found.left_out) == ["once"]


def test_index_that_pandas_stored():
    table = dataset(__index_level_0__=list(range(N)))
    with pytest.warns(LeftOutWarning, match="`__index_level_0__` .the index that pandas stored"):
        sift(table, "kind")


def test_nothing_left_is_an_error():
    table = pa.table({"id": ids(), "kind": ["a", "b"] * (N // 2)})
    with pytest.raises(InputError, match=r"columns to choose from; all are left out, `id \(ident"):
        sift(Dataset(table, table.column_names), "kind")


def test_arrays_without_values():
    X = np.ones((N, 3))
    X[:, 1] = np.nan
    X[0, 2] = np.nan
    with pytest.warns(LeftOutWarning, match=r"`b` \(no values\)"):
        found = sift(Dataset(X, ["a", "b", "c"], target=np.arange(N)), None)
    assert list(found.left_out) == ["b"]


def test_target_apart_that_is_an_identifier_or_a_date():
    for values in (np.array(ids()), np.datetime64("2020-01-01") + np.arange(N)):
        found = Dataset(np.eye(N), [f"x{j}" for j in range(N)], target=values, target_name="kind")
        with pytest.raises(InputError, match="target should hold classes or numbers; `kind`"):
            sift(found, None)


def test_unknown_target():
    with pytest.raises(InputError, match="did you mean `kind`"):
        sift(dataset(), "kin")


def test_built_in_sets_have_nothing_to_sift():
    iris = read_source("iris")
    assert sift(iris, None) is iris


def test_time_grows_with_the_columns_not_their_square():
    """Thousands of columns: a look at all of them for each would take minutes."""
    table = pa.table([[1.0, 2.0]] * 8000, names=[f"x{j}" for j in range(8000)])
    found = Dataset(table, table.column_names)
    began = time.perf_counter()
    assert drop_missing(sift(found, "x0"), "error", "x0") is found
    assert time.perf_counter() - began < 5
