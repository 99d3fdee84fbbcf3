"""Names and text that a spreadsheet would run as formulas, where they become CSV or TSV."""

import csv
import io
import warnings
from functools import partial

import numpy as np
import pytest

from orthoselect import RowBlocks, select
from orthoselect.errors import FormulaWarning, InputError
from orthoselect.read import Dataset, read_table, write_blocks, write_columns
from orthoselect.result import Comparison
from orthoselect.result.comparison import ComparedMethod, FoldRun, Setting
from orthoselect.result.text import Formulas, as_csv

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

DANGEROUS = ["=1+1", "+A1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "-", "-x", "\uff1d1"]
HARMLESS = ["a", "", "a=1", " =1", "-1", "+1.5", "-1,5", "-.5", "+1e-5", "1+1", "'=1"]
PLAIN = "plain"


@pytest.mark.parametrize("text", DANGEROUS)
def test_what_begins_like_a_formula_is_escaped(text):
    assert Formulas(True).checked([text]) == [f"'{text}"]


@pytest.mark.parametrize("text", [*HARMLESS, -1, -1.5, None, True, np.float64(-2)])
def test_what_does_not_is_left_alone(text):
    formulas = Formulas(None)
    assert formulas.checked([text]) == [text]
    assert formulas.count == 0


@pytest.fixture
def path():
    X = np.random.default_rng(0).normal(size=(30, 2))
    table = pa.table({"=cmd|' /C calc'!A0": X[:, 0], PLAIN: X[:, 1]})
    return select(table, X @ [1, 0.5] > 0, 2)


def names(text):
    return [row["name"] for row in csv.DictReader(io.StringIO(text))]


def test_a_path_warns_of_names_like_formulas(path):
    with pytest.warns(FormulaWarning, match="the CSV holds 1 name.*`escape_formulas=True`"):
        text = path.to_csv()
    assert names(text) == ["=cmd|' /C calc'!A0", PLAIN]


@pytest.mark.parametrize(("escape", "first"), [(True, "'=cmd"), (False, "=cmd")])
def test_a_path_is_written_as_was_asked_for_without_a_warning(path, escape, first):
    assert names(path.to_csv(escape_formulas=escape))[0].startswith(first)


def test_a_comparison_does_as_a_path_does():
    setting = Setting("t", "y", "classification", "lda", "accuracy", 2, 1, 0, (1,))
    runs = [FoldRun("=m", 0, 0, ("a",), 0.1, {1: (0.5, 0.5)})]
    comparison = Comparison(runs, [ComparedMethod("=m", "")], setting)
    with pytest.warns(FormulaWarning):
        assert "\n=m," in comparison.to_csv()
    assert "\n'=m," in comparison.to_csv(escape_formulas=True)


def test_other_tables_say_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert as_csv(["n"], [[-1], ["-1"], ["a"]]) == "n\n-1\n-1\na\n"


# Tables

N = len(DANGEROUS) + len(HARMLESS)


def table():
    text = [*DANGEROUS, *HARMLESS]
    return pa.table(
        {
            "=name": np.linspace(-1, 1, N),
            "text": text,
            "level": pa.array(["@a", None, "b"] * (N // 3)).dictionary_encode(),
            "y": ["+yes", "no", "no"] * (N // 3),
        }
    )


assert N % 3 == 0
COLUMNS = ["=name", "text", "level"]
IN_TABLE = 1 + len(DANGEROUS) + 2 * N // 3


@pytest.fixture(params=["in memory", "in blocks"])
def write(request):
    """Write all columns of the table to a file, with these options."""
    data = table()
    if request.param == "in memory":
        return partial(write_columns, Dataset(data, data.column_names), COLUMNS, "y")
    blocks = RowBlocks(lambda: (data.slice(at, 5) for at in range(0, N, 5)))
    dataset = Dataset(blocks, data.column_names)
    return lambda path, **how: write_blocks(dataset, [*COLUMNS, "y"], path, **how)


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ","))


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_table_warns_of_names_labels_and_levels(tmp_path, write, suffix):
    path = tmp_path / f"t{suffix}"
    with pytest.warns(FormulaWarning, match=rf"`t{suffix}` holds {IN_TABLE} name") as caught:
        write(path)
    assert len(caught) == 1
    header, *rows = read(path)
    assert header == [*COLUMNS, "y"]
    assert [row[1] for row in rows] == [*DANGEROUS, *HARMLESS]


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_names_labels_and_levels_of_a_table_are_escaped(tmp_path, write, suffix):
    path = tmp_path / f"t{suffix}"
    write(path, escape_formulas=True)
    header, *rows = read(path)
    assert header == ["'=name", *COLUMNS[1:], "y"]
    assert [row[1] for row in rows] == [*(f"'{text}" for text in DANGEROUS), *HARMLESS]
    assert {row[2] for row in rows} == {"'@a", "", "b"}
    assert {row[3] for row in rows} == {"'+yes", "no"}
    assert [float(row[0]) for row in rows] == pytest.approx(np.linspace(-1, 1, N))


def test_a_table_is_left_as_it_is_where_that_is_asked_for(tmp_path, write):
    write(tmp_path / "t.csv", escape_formulas=False)
    assert read(tmp_path / "t.csv")[0] == [*COLUMNS, "y"]


def test_other_formats_have_no_formulas(tmp_path, write):
    write(tmp_path / "t.parquet")
    assert pq.read_table(tmp_path / "t.parquet")["text"].to_pylist() == [*DANGEROUS, *HARMLESS]
    with pytest.raises(InputError, match="`escape_formulas` is for CSV and TSV"):
        write(tmp_path / "t.parquet", escape_formulas=True)


def test_decimal_commas_are_numbers(tmp_path):
    (tmp_path / "t.csv").write_text("a;y\n-1,5;u\n2,5;v\n")
    dataset = read_table(tmp_path / "t.csv")
    write_columns(dataset, ["a"], "y", tmp_path / "s.csv", escape_formulas=True)
    assert (tmp_path / "s.csv").read_text() == "a;y\n-1,5;u\n2,5;v\n"
