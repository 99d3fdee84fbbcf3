"""Identifiers, dates and empty columns are no features; what the user names stays."""

import datetime as dt
import re
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest

from orthoselect.errors import (
    InputError,
    LeftOutWarning,
    LooksNumericWarning,
    ReadAsNumbersWarning,
)
from orthoselect.read import Dataset, drop_missing, open_source, read_given, read_source, sift

pa = pytest.importorskip("pyarrow")
N = 30


def dataset(**columns):
    table = pa.table(
        {"size": [row // 2 for row in range(N)], "kind": ["a", "b"] * (N // 2), **columns}
    )
    return Dataset(table, table.column_names, name="t")


def sifted(found, target, keep=()):
    """Return how a data set is read; `target` is a column, or None."""
    targets = [] if target is None else [target]
    source = open_source(found, 1)
    return sift(source, targets=targets, keep=keep, left_out=found.left_out, name=found.name)


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
    "nearly an identifier": (pa.array([*ids(N - 1), "id 0"]), "nearly an identifier: 28 of 30"),
    "a third alone": (pa.array([*ids(12), *(ids(21)[12:] * 2)]), "nearly an identifier: 12 of 30"),
    "categories": (pa.array(ids()).dictionary_encode(), "identifier"),
    "row numbers": (pa.array(np.arange(N) + 1), "row numbers: all whole numbers from 1 to 30"),
    "from 29 to 0": (pa.array(np.arange(N)[::-1].copy()), "row numbers: .* from 0 to 29"),
    "ID": (pa.array(np.arange(N) * 7 % N), "row numbers: .* from 0 to 29"),
    "patient_id": (pa.array(np.arange(N) // 2 * 3), "identifier by its name: .* from 0 to 42"),
    "Unnamed: 0": (pa.array(np.arange(N) * 7 % N + 1), "row numbers: .* from 1 to 30"),
    "caseId": (pa.array(np.arange(N) ** 2), "identifier by its name"),
    "order no": (pa.array(np.arange(N) + 1000), "row numbers: .* from 1000 to 1029"),
    "seqno": (pa.array(np.arange(N) * 2 + 7), "identifier by its name: .* from 7 to 65"),
    "orderNumber": (pa.array(np.arange(N) + 1990), "row numbers: .* from 1990 to 2019"),
    "from 20001 on": (pa.array(np.arange(N) + 20001), "row numbers: .* from 20001 to 20030"),
    "tickets": (pa.array(20030 - np.arange(N)), "row numbers: .* from 20001 to 20030"),
    "row numbers as floats": (pa.array(np.arange(N) * 1.0), "row numbers: .* from 0 to 29"),
    "visit_id": (pa.array(np.arange(N) // 2 * 3.0), "identifier by its name: .* from 0 to 42"),
    "float32": (pa.array((np.arange(N) + 1.0).astype(np.float32)), "row numbers: .* 1 to 30"),
    "row numbers as text": (pa.array([str(row) for row in range(N)]), "row numbers"),
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
        found = sifted(dataset(**{kind: column}), "kind")
    assert list(found.left_out) == [kind]
    assert re.match(reason, found.left_out[kind])
    assert found.names == ["size", "kind", kind], "columns keep their places"


@pytest.mark.parametrize("kind", UNFIT)
def test_unfit_target_is_an_error(kind):
    column, reason = UNFIT[kind]
    # Classes that are rare, or a quantity.
    if reason.startswith(("nearly", "row numbers", "identifier by")):
        assert sifted(dataset(**{kind: column}), kind).left_out == {}
        return
    with pytest.raises(InputError, match=f"target should hold classes.*`{kind}`.*\\({reason}"):
        sifted(dataset(**{kind: column}), kind)


@pytest.mark.parametrize("kind", UNFIT)
def test_columns_to_keep_stay(kind):
    found = sifted(dataset(**{kind: UNFIT[kind][0]}), "kind", keep=[kind])
    assert found.left_out == {}


FIT = {
    "text": pa.array(["x", "y", "z"] * (N // 3)),
    "levels of two rows": pa.array(ids(N // 2) * 2),
    "distinct numbers": pa.array(np.arange(N) * 2),
    "years": pa.array(np.arange(N) + 1990),
    "ranks": pa.array(np.arange(N) * 7 % N + 1),
    "group_id": pa.array(np.arange(N) % 4),
    "paid": pa.array(np.arange(N) ** 2),
    "row numbers with a gap": pa.array([*range(N - 1), None]),
    "row numbers but one": pa.array([*range(N - 1), N]),
    "row numbers from 2 on": pa.array(np.arange(N) + 2),
    "whole floats": pa.array(np.arange(N) * 2.0),
    "floats that are whole at first": pa.array([*np.arange(N - 1) * 1.0, N - 0.5]),
    "row numbers with a missing float": pa.array([*np.arange(N - 1) * 1.0, np.nan]),
    "row numbers up to infinity": pa.array([*np.arange(N - 1) * 1.0, np.inf]),
    "ages": pa.array(np.arange(N) + 18),
    "phone number": pa.array(np.arange(N) * 7 % N + 5000),
    "date": pa.array(np.arange(N) + 17532),
    "a year, of a survey": pa.array(np.arange(N) + 2543),
    "codes with zeros": pa.array(["007", "012", "100"] * (N // 3)),
    "few whole numbers": pa.array(["1", "2", "3"] * (N // 3)),
    "a handful of words": pa.array([*ids(10), *[None] * (N - 10)]),
    "versions": pa.array(["1.2.3", "1.3.0"] * (N // 2)),
    "booleans": pa.array([True, False] * (N // 2)),
    "mostly missing": pa.array([1.0, *[None] * (N - 1)]),
}


@pytest.mark.parametrize(
    ("start", "n_rows", "name", "stays"),
    [
        (1000, 301, "x", False),
        (1000, 300, "x", True),  # may be a scale
        (350, 1000, "x", False),
        (350, 1000, "wavelength", True),
        (1500, 701, "x", True),  # may be years
        (1500, 702, "x", False),
        (1499, 400, "x", False),
        (850, 1151, "year", True),
        (2201, 11, "x", False),
        (2201, 10, "x", True),  # a handful
        (2200, 11, "x", True),
    ],
)
def test_numbers_that_follow_one_another_stay_where_they_may_be_years(start, n_rows, name, stays):
    frame = pa.table(
        {name: np.arange(start, start + n_rows), **dict.fromkeys("yz", np.arange(n_rows) % 2)}
    )
    found = Dataset(frame, frame.column_names, name="t")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)
        assert (name not in sifted(found, "y").left_out) == stays


@pytest.mark.parametrize("kind", FIT)
def test_other_columns_stay(kind):
    found = dataset(**{kind: FIT[kind]})
    assert sifted(found, "kind").left_out == {}
    assert sifted(found, kind).left_out == {}


NUMBERS = {
    "thousands": (["1,200", "900", "12,000"], "1,200", [1200, 900, 12000]),
    "european": (["1.200,50", "900,00", "1.012.000,00"], "1.012.000,00", [1200.5, 900, 1012000]),
    "decimal commas": (["1,5", "2,25", "-3"], "1,5", [1.5, 2.25, -3]),
    "percent": (["12%", "3.5 %", "0%"], "0%", [0.12, 0.035, 0]),
    "money": (["$12", "-$3.50", "(4)"], r"\$12", [12, -3.5, -4]),
    "spaces and quotes": (["1 200", "1'300.5", "7"], "1 200", [1200, 1300.5, 7]),
    "marked": (["12.5", "-", "13.5"], "12.5", [12.5, np.nan, 13.5]),
    "gaps": (["12.5", "n/a", "?"], "12.5", [12.5, np.nan, np.nan]),
    "powers": (["1e-3", "2.5E2", "-7"], "1e-3", [0.001, 250, -7]),
}


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("type", ["string", "large_string", "array"])
def test_text_that_is_numbers_is_read_so_and_told(kind, type):
    values, example, numbers = NUMBERS[kind]
    if type == "array":
        X = np.array(values * (N // 3))[:, np.newaxis]
        found, at = Dataset(X, [kind], target=np.arange(N) % 2), 0
    else:
        found, at = dataset(**{kind: pa.array(values * (N // 3), getattr(pa, type)())}), 2
    target = None if type == "array" else "kind"
    told = f"read the text of `{kind}` as numbers, for example '{example}'; name.*`categorical"
    with pytest.warns(ReadAsNumbersWarning, match=told):
        readings = sifted(found, target)
    assert list(readings.numbers) == [at]
    read = open_source(found).read_as(readings).first
    np.testing.assert_array_equal(read.column(at), numbers * (N // 3))
    assert at not in read.categorical_columns()
    assert sifted(found, target, keep=[kind]).numbers == {}


def test_text_of_which_some_looks_like_numbers_is_told():
    columns = {"a": ["12", "about 3", "13.5"] * (N // 3), "b": ["x", "1"] * (N // 2)}
    told = "`a` is read as text though 20 of 30 values look like numbers, .*'13.5', and so are `b`"
    with pytest.warns(LooksNumericWarning, match=told) as caught:
        assert sifted(dataset(**columns), "kind").numbers == {}
    assert len(caught) == 1


def test_whole_numbers_that_somebody_made_text_are_labels():
    many = [str(1900 + row % 25) for row in range(200)]
    table = pa.table({"few": ["1", "2"] * 100, "many": many, "y": [0, 1] * 100})
    with pytest.warns(LooksNumericWarning, match="column `many` is read as text though 200 of 200"):
        assert sifted(Dataset(table, table.column_names), "y").numbers == {}
    with_gaps = pa.table({"many": ["n/a", *many[1:]], "y": [0, 1] * 100, "x": [1.5, 2.5] * 100})
    with pytest.warns(ReadAsNumbersWarning, match="text of `many`"):
        assert sifted(Dataset(with_gaps, with_gaps.column_names), "y").numbers == {0: "."}


def test_distinct_numbers_as_text_are_numbers_and_no_identifier():
    prices = [f"1,{row:03}" for row in range(N)]
    with pytest.warns(ReadAsNumbersWarning):
        readings = sifted(dataset(price=prices), "kind")
    assert readings.left_out == {}
    X = np.column_stack([prices, ["a", "b"] * (N // 2), ["c", "c", "d"] * (N // 3)])
    with pytest.warns(ReadAsNumbersWarning):
        assert sifted(Dataset(X, ["price", "kind", "size"]), "kind").numbers == {0: "."}


@pytest.mark.parametrize(
    "values",
    [
        ["1.2.3", "1.3.0"],
        ["10-20", "20-30"],
        ["A1", "2", "b"],
        ["12A", "3B"],
        ["-", "."],
    ],
    ids=str,
)
def test_other_text_with_digits_is_text(values):
    column = (values * N)[:N]
    found = dataset(x=column)
    assert sifted(found, "kind").left_out == {}
    X = np.array(column)[:, np.newaxis]
    found = Dataset(X, ["x"], target=np.arange(N) % 2)
    assert sifted(found, None).left_out == {}


def test_one_warning_names_all_of_them():
    columns = {"id": ids(), "code": ids(), "when": [DAY] * N}
    with pytest.warns(LeftOutWarning) as caught:
        found = sifted(dataset(**columns), "kind")
    assert len(caught) == 1
    assert "left out 3 column(s): `id`, `code` (identifier" in str(caught[0].message)
    assert "`when` (dates or times)" in str(caught[0].message)
    assert list(found.left_out) == ["id", "code", "when"]


def test_what_was_left_out_before_stays_out_in_silence():
    found = replace(dataset(id=ids()), left_out={"id": "an identifier"})
    assert sifted(found, "kind").left_out == {}


def test_blanks_are_no_values():
    with pytest.warns(LeftOutWarning, match=r"`x` \(no values\)"):
        sifted(dataset(x=["", " "] * (N // 2)), "kind")


def test_rows_beyond_the_first_ones_count():
    many = [f"id {row}" for row in range(3000)]
    columns = {"once": many, "first once": [*many[:900], *["a", "b"] * 1050]}
    columns |= {"row": np.arange(3000), "first rows": np.minimum(np.arange(3000), 1500)}
    table = pa.table({**columns, "y": [0, 1] * 1500})
    with pytest.warns(LeftOutWarning, match="left out 2 column"):
        found = sifted(Dataset(table, table.column_names), "y")
    assert list(found.left_out) == ["once", "row"]


def test_index_that_pandas_stored():
    table = dataset(__index_level_0__=list(range(N)))
    with pytest.warns(LeftOutWarning, match="`__index_level_0__` .the index that pandas stored"):
        sifted(table, "kind")


def test_nothing_left_is_an_error():
    table = pa.table({"id": ids(), "kind": ["a", "b"] * (N // 2)})
    with pytest.raises(InputError, match=r"columns to choose from; all are left out, `id \(ident"):
        sifted(Dataset(table, table.column_names), "kind")


def test_arrays_without_values():
    X = np.ones((N, 3))
    X[:, 1] = np.nan
    X[0, 2] = np.nan
    with pytest.warns(LeftOutWarning, match=r"`b` \(no values\)"):
        found = sifted(Dataset(X, ["a", "b", "c"], target=np.arange(N)), None)
    assert list(found.left_out) == ["b"]


def test_values_that_are_no_classes_or_numbers():
    days = np.datetime64("2020-01-01") + np.arange(N)
    for values in (np.array(ids()), days, days.astype(str), pa.chunked_array([days.tolist()])):
        with pytest.raises(InputError, match="target should hold classes or numbers; `kind`"):
            read_given(values, "kind")


def test_built_in_sets_have_nothing_to_sift():
    iris = read_source("iris")
    assert sifted(iris, None).left_out == {}


def test_time_grows_with_the_columns_not_their_square():
    """Thousands of columns: a look at all of them for each would take minutes."""
    table = pa.table([[1.5, 2.0]] * 8000, names=[f"x{j}" for j in range(8000)])
    found = Dataset(table, table.column_names)
    began = time.perf_counter()
    assert sifted(found, "x0").left_out == {}
    assert drop_missing(found, "error", "x0") is found
    assert time.perf_counter() - began < 5
