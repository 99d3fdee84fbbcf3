"""Tables of many columns: work that grows with their number, not with its square."""

import inspect
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import narwhals as nw
import numpy as np
import pytest

from orthoselect import OrthogonalSelector, RowBlocks, select
from orthoselect.cli import main
from orthoselect.column_spec import check_one_role
from orthoselect.read import Dataset, read_table, read_target
from orthoselect.read.arrow import ArrowPart
from orthoselect.read.file_blocks import check_same_columns
from orthoselect.read.partitions import DaskTable
from orthoselect.read.text_files import TextOptions, TextPart

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
csv = pytest.importorskip("pyarrow.csv")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

N = 12


def columns(n):
    """Return columns of whole numbers, of fractions and of text, and a target."""
    rng = np.random.default_rng(0)
    kinds = (
        lambda: rng.integers(0, 1000, N),
        lambda: rng.normal(size=N),
        lambda: rng.choice(["a", "b"], N),
    )
    return {f"c{k}": kinds[k % 3]() for k in range(n)} | {"y": np.arange(N) % 2}


@contextmanager
def listings():
    """Count how often narwhals has a frame of any library list its names."""
    count = [0]
    with pytest.MonkeyPatch.context() as patch:
        for frame in (pd.DataFrame(), pl.DataFrame(), pa.table({})):
            kind = type(nw.from_native(frame, eager_only=True)._compliant_frame)
            listed = inspect.getattr_static(kind, "columns").fget

            def counted(self, listed=listed):
                count[0] += 1
                return listed(self)

            patch.setattr(kind, "columns", property(counted))
        yield count


def command(*arguments):
    with pytest.raises(SystemExit) as left:
        main(list(arguments))
    assert not left.value.code


def written(table, suffix):
    file = f"table.{suffix}"
    write = {"csv": csv.write_csv, "parquet": parquet.write_table}[suffix]
    write(table, file)
    return file


FITTED = OrthogonalSelector(2)
WAYS = {
    "pandas": lambda table: select(pd.DataFrame(table.to_pydict()), "y", 2),
    "polars": lambda table: select(pl.DataFrame(table.to_pydict()), "y", 2),
    "pyarrow": lambda table: select(table, "y", 2),
    "all but a few": lambda table: select(table, "y", 2, exclude=["c0", "c1", "c2"]),
    "all categorical": lambda table: select(table, "y", 2, categorical_features="all"),
    "blocks of pandas": lambda table: select(
        RowBlocks([table.slice(0, 6).to_pandas(), table.slice(6).to_pandas()]), "y", 2
    ),
    "CSV": lambda table: select(written(table, "csv"), "y", 2),
    "Parquet": lambda table: select(written(table, "parquet"), "y", 2),
    "CSV in blocks": lambda table: select(read_table(written(table, "csv"), in_blocks=True), "y"),
    "fit of CSV": lambda table: FITTED.fit(written(table, "csv"), "y"),
    "jmi": lambda table: select(written(table, "csv"), "y", 2, "jmi", bins=3),
    "the command": lambda table: command("select", written(table, "csv"), "--target", "y"),
    "a file written": lambda table: command(
        *("select", written(table, "csv"), "--target", "y", "--output", "some.csv")
    ),
}


@pytest.mark.filterwarnings("ignore::orthoselect.errors.SearchStoppedWarning")
@pytest.mark.filterwarnings("ignore::orthoselect.errors.ManyLevelsWarning")
@pytest.mark.parametrize("way", WAYS)
def test_names_are_not_listed_for_each_column(way, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    counts = []
    for n in (30, 60):
        table = pa.table(columns(n))
        with listings() as count:
            WAYS[way](table)
        counts.append(count[0])
    assert 0 < counts[1] < counts[0] + 10  # a pass more over blocks may be needed


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_names_are_not_listed_for_each_response(library):
    counts = []
    for n in (30, 60):
        frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library](
            {f"y{k}": np.arange(N) for k in range(n)}
        )
        with listings() as count:
            read_target(frame, N)
        counts.append(count[0])
    assert counts[0] == counts[1] > 0


class Name(str):
    """A name that counts how often names are compared, or looked up."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other):
        Name.compared += 1
        return str.__eq__(self, other)

    def __hash__(self):
        Name.compared += 1
        return str.__hash__(self)


class Label:
    """A column of Dask, whose name is found by `str`."""

    def __init__(self, name):
        self._name = Name(name)

    def __str__(self):
        return self._name


def stored(kind, n):
    """Return a part of a table in a file of many columns."""
    table = pa.table({f"c{k}": np.arange(N) for k in range(n)})
    if kind is ArrowPart:
        feather.write_feather(table, "table.feather")
        return ArrowPart(Path("table.feather"))
    csv.write_csv(table, "table.csv")
    return TextPart(Path("table.csv"), "csv", TextOptions())


LOOKS = {
    "names of two files": lambda names: check_same_columns(
        [SimpleNamespace(path=Path(file), names=names) for file in "ab"]
    ),
    "names of Dask": lambda names: DaskTable(SimpleNamespace(columns=[Label(x) for x in names])),
    "columns of an Arrow file": lambda names: list(stored(ArrowPart, len(names)).batches(names, 9)),
    "columns of a CSV file": lambda names: list(stored(TextPart, len(names)).batches(names, 9)),
}


@pytest.mark.parametrize("look", LOOKS)
def test_twice_the_names_are_looked_up_twice_as_often(look, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    counts = []
    for n in (100, 200):
        names = [Name(f"c{k}") for k in range(n)]
        Name.compared = 0
        LOOKS[look](names)
        counts.append(Name.compared)
    assert 0 < counts[1] <= 2.2 * counts[0]


def test_included_columns_are_not_compared_with_all_excluded_ones():
    class Column(int):
        compared = 0

        def __hash__(self):
            Column.compared += 1
            return int.__hash__(self)

    counts = []
    for n in (100, 200):
        Column.compared = 0
        include, exclude = range(n, 2 * n), [Column(c) for c in range(n)]
        names = [f"c{k}" for k in range(2 * n)]
        check_one_role({"exclude": exclude, "include": include}, names)
        counts.append(Column.compared)
    assert 0 < counts[1] <= 2.2 * counts[0]


def test_gaps_of_sparse_columns_are_counted_at_once():
    sp = pytest.importorskip("scipy.sparse")
    X = np.zeros((4, 5))
    X[0, 1] = X[1, 1] = X[2, 3] = np.nan
    X[3, 3], X[0, 4] = np.inf, -np.inf
    table = Dataset(sp.csr_array(X), list("abcde"))
    assert table.gaps([4, 3, 0, 1]) == {1: (2, 0), 3: (1, 1), 4: (0, 1)}


SHORT = {
    "whole": (["1", "2", "3"], "int64"),
    "fraction": (["1.5", "2", "x"], "string"),
    "fraction throughout": (["1.5", "2", " 3"], "double"),
    "fraction and gap": (["1.5", "", "NA"], "double"),
    "fraction and nan": (["1.5", "inf", "-inf"], "double"),
    "word": (["word", "2", "3.5"], "string"),
    "truth": (["true", "False", "TRUE"], "bool"),
    "truth and blank": (["true ", "false", "true"], "bool"),
    "infinity": (["inf", "1", "2"], "double"),
    "gap first": (["nan", "1.5", "2"], "double"),
    "date": (["2020-01-01", "2020-01-02", "2020-01-03"], "date32[day]"),
    "blanks": (["a ", " b", "c"], "string"),
    "quoted": (['"a,b"', "c", '"1.5"'], "string"),
    "quoted fraction": (['"1.5"', "2", "3"], "double"),
}


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("case", SHORT)
def test_types_that_the_first_row_settles_are_those_of_the_whole_file(
    case, header, tmp_path, monkeypatch
):
    from orthoselect.read import text_columns as text

    values, kind = SHORT[case]
    file = tmp_path / "short.csv"
    lines = [f"{value},1.5,word" for value in values]
    file.write_text("\n".join([*(["a,b,c"] if header else []), *lines]) + "\n")
    short = read_table(file, header=header).data
    monkeypatch.setattr(text, "_FEW_ROWS", 0)
    tall = read_table(file, header=header).data
    assert short.equals(tall)
    assert str(short.column(0).type) == kind


def test_first_row_settles_no_type_of_two_columns_of_one_name(tmp_path):
    file = tmp_path / "twice.csv"
    file.write_text("a,a,b\n1.5,word,1\n2,3,2\n")
    assert read_table(file, drop=["a"]).names == ["b"]


def test_types_are_not_tried_where_the_first_row_settles_them(tmp_path, monkeypatch):
    from orthoselect.read import text_columns as text

    tried = []
    parse_blocks = text.parse_blocks

    def spy(buffer, *arguments, types=None, **options):
        tried.append(types)
        return parse_blocks(buffer, *arguments, types=types, **options)

    monkeypatch.setattr(text, "parse_blocks", spy)
    file = tmp_path / "short.csv"
    file.write_text("a,b,c\n1.5,word,1\n2,x,2\n")
    read_table(file)
    assert tried == [{"c0": pa.float64(), "c1": pa.string()}]


TEXTS = {
    "labels": ["b", "a", "b", "c", "a"] * 3,
    "numbers": ["1,200", "12%", "-", "3", "x"] * 3,
    "mostly words": ["1,200", "x", "y", "z", "x"] * 3,
    "newlines": ["12\n", "13\n", "14\n", "x", "-\n"] * 3,
    "dates": [f"{day}.12.2024" for day in range(1, 16)],
    "dates and more": ["1.12.2024"] * 14 + ["then"],
    "dates after a gap": [None, *["1.12.2024"] * 14],
    "identifiers": [f"id{k}" for k in range(15)],
    "numbers all distinct": [f"{k}%" for k in range(15)],
    "gaps": [None, "a", "b", None, "a"] * 3,
    "nothing": [None] * 15,
}


@pytest.mark.parametrize("text", TEXTS)
def test_few_values_are_coded_as_many_are(text, monkeypatch):
    from orthoselect.read import arrow

    column = pa.chunked_array([pa.array(TEXTS[text], pa.string())])

    def found():
        labels = arrow.arrow_labels(column, "a")
        return None if labels is None else (labels.codes.tolist(), labels.levels)

    few = found()
    monkeypatch.setattr(arrow, "_FEW", 0)
    assert found() == few


def test_short_columns_are_coded_together_as_they_are_alone(monkeypatch):
    from orthoselect.encode import Table, find_labels
    from orthoselect.encode import table as coding

    rng = np.random.default_rng(0)
    labels = {k: find_labels(rng.integers(0, k + 1, N)) for k in range(7)}
    table = Table(N, list("abcdefg"), np.empty((N, 0)), np.arange(0), labels)
    together = coding.indicators(table).toarray()
    monkeypatch.setattr(coding, "_CODED_AT_ONCE", 2 * N)
    assert np.array_equal(coding.indicators(table).toarray(), together)
    monkeypatch.setattr(coding, "_CODED_AT_ONCE", 1)
    assert np.array_equal(coding.indicators(table).toarray(), together)
