"""A reduced table is written as its source was, values unchanged, and only when whole."""

import bz2
import gzip
import os
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from orthoselect.errors import InputError, RowsDroppedWarning, UnknownColumnError
from orthoselect.read import (
    SUFFIXES,
    Dataset,
    TextFormat,
    drop_missing,
    read_source,
    read_table,
    write_blocks,
    write_columns,
)

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")

TABLE = {
    "text": ["plain", 'say "hi"', "two\nlines", "a,b;c\td|e"],
    "whole": [1, -(2**60), 3, 4],
    "real": [0.1, 1 / 3, 1e-300, 2.0],
    "flag": [True, False, True, False],
    "single": pa.array([0.1, 0.2, 0.3, 0.4], pa.float32()),
    "kinds": pa.array(["x", "y", "x", "x"]).dictionary_encode(),
    "y": ["no", "yes", "no", "yes"],
}
CHOSEN = ["real", "text", "flag", "whole", "kinds"]


@pytest.fixture
def dataset():
    table = pa.table(TABLE)
    return Dataset(table, table.column_names, name="t", format="parquet")


def expected(names=(*CHOSEN, "y")):
    return {name: pa.table(TABLE)[name].to_pylist() for name in names}


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".feather", ".arrow"])
def test_columns_in_order_then_the_target(dataset, tmp_path, suffix):
    path = tmp_path / f"small{suffix}"
    write_columns(dataset, CHOSEN, "y", path)
    found = read_source(path)
    assert found.names == [*CHOSEN, "y"]
    assert found.data.to_pydict() == expected()
    assert found.format == SUFFIXES[suffix]


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow"])
def test_types_survive(dataset, tmp_path, suffix):
    write_columns(dataset, ["single", *CHOSEN], "y", tmp_path / f"t{suffix}")
    found = read_source(tmp_path / f"t{suffix}").data
    assert found.schema.types == pa.table(TABLE).select(["single", *CHOSEN, "y"]).schema.types


def test_whole_floats_stay_floats_in_text(dataset, tmp_path):
    table = pa.table({"a": [1.0, 2.0], "y": [0, 1]})
    write_columns(Dataset(table, ["a", "y"]), ["a"], "y", tmp_path / "t.csv")
    assert read_source(tmp_path / "t.csv").data["a"].type == pa.float64()


@pytest.mark.parametrize("suffix", ["", ".CSV"])
def test_own_format_where_the_suffix_tells_none(tmp_path, suffix):
    (tmp_path / "t.csv").write_text("a;b;y\n1,5;2;no\n2,5;3;yes\n")
    source = read_source(tmp_path / "t.csv")
    path = tmp_path / f"small{suffix}"
    write_columns(source, ["a"], "y", path)
    assert path.read_text() == "a;y\n1,5;no\n2,5;yes\n"


@pytest.mark.parametrize("name", ["t.xlsx", "t.txt", "t.xlsx.gz", "t.v2"])
def test_unknown_suffix_is_refused_and_the_known_are_listed(dataset, tmp_path, name):
    with pytest.raises(InputError, match=r"`output` should name a file that ends in") as caught:
        write_columns(dataset, ["real"], "y", tmp_path / name)
    assert all(f"`{suffix}`" in str(caught.value) for suffix in SUFFIXES)
    assert str(caught.value).endswith(f"got `{name}`.")
    assert os.listdir(tmp_path) == []


def test_standard_output_is_refused(dataset, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="`output` should name a file; got '-'"):
        write_columns(dataset, ["real"], "y", "-")
    assert os.listdir(tmp_path) == []


def test_own_format_of_parquet(dataset, tmp_path):
    write_columns(dataset, ["real"], "y", tmp_path / "small")
    assert pq.read_table(tmp_path / "small").column_names == ["real", "y"]


TEXTS = [
    TextFormat(),
    TextFormat(";", decimal=","),
    TextFormat("|", encoding="utf-16"),
    TextFormat(",", encoding="utf-8-sig"),
    TextFormat(",", encoding="latin-1"),
    TextFormat("\t", header=False),
]


@pytest.mark.parametrize("text", TEXTS, ids=str)
def test_text_is_written_as_it_was(tmp_path, text):
    lines = [["größe", "b", "y"], ["1.5", "ä", "no"], ["-2.25", "x y", "yes"]]
    lines = lines if text.header else lines[1:]
    written = "".join(text.delimiter.join(line) + "\n" for line in lines)
    written = written.replace(".", text.decimal)
    (tmp_path / "t.csv").write_bytes(written.encode(text.encoding))
    given = {"encoding": "latin-1"} if text.encoding == "latin-1" else {}
    source = read_source(tmp_path / "t.csv", header=text.header, **given)
    write_columns(source, source.names[:2], source.names[2], tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "t.csv").read_bytes()


def test_tsv_to_csv_and_back_keeps_encoding_and_header(tmp_path):
    (tmp_path / "t.tsv").write_bytes("a,b\tä\n1\t2\n".encode("utf-16"))
    write_columns(read_source(tmp_path / "t.tsv"), ["a,b"], "ä", tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes().decode("utf-16") == '"a,b",ä\n1,2\n'
    write_columns(read_source(tmp_path / "t.csv"), ["a,b"], "ä", tmp_path / "u.tsv")
    assert (tmp_path / "u.tsv").read_bytes().decode("utf-16") == "a,b\tä\n1\t2\n"


def test_text_beyond_the_encoding(tmp_path):
    table = pa.table({"a": ["œ", "b"], "y": [0, 1]})
    source = Dataset(table, ["a", "y"], text=TextFormat(encoding="latin-1"))
    with pytest.raises(InputError, match="should fit the encoding latin-1"):
        write_columns(source, ["a"], "y", tmp_path / "t.csv")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("suffix", [".csv.gz", ".csv.bz2"])
def test_compressed(dataset, tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    write_columns(dataset, CHOSEN, "y", path)
    unpack = gzip.decompress if suffix.endswith("gz") else bz2.decompress
    assert unpack(path.read_bytes()).startswith(b"real,text,flag,whole,kinds,y\n")
    assert read_source(path).data.to_pydict() == expected()


def test_missing_values_stay_missing(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n1,x,0\nNA,?,1\n")
    source = read_source(tmp_path / "t.csv")
    for suffix in (".csv", ".parquet"):
        write_columns(source, ["a", "b"], "y", tmp_path / f"u{suffix}")
        assert read_source(tmp_path / f"u{suffix}").data.equals(source.data)


def test_dropped_rows_are_not_written(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n1,x,0\nNA,x,1\n3,y,1\n")
    with pytest.warns(RowsDroppedWarning):
        source = drop_missing(read_source(tmp_path / "t.csv"), "drop-rows", "y")
    write_columns(source, ["a"], "y", tmp_path / "u.csv")
    assert (tmp_path / "u.csv").read_text() == "a,y\n1,0\n3,1\n"


X = np.array([[0.1, 0, 3], [0, 1 / 3, 6], [7, 8, 0]])


@pytest.mark.parametrize("suffix", [".npz", ".svm", ".csv", ".parquet", ""])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_array])
def test_arrays_with_their_target_apart(tmp_path, suffix, kind):
    format = "libsvm" if kind is sp.csc_array else "npz"
    names = ["a", "b", "c"]
    source = Dataset(kind(X), names, np.array([1, -1, 1]), "kind", format=format)
    path = tmp_path / f"t{suffix}"
    write_columns(source, ["c", "a"], None, path)
    found = read_source(path, format=None if suffix else format)
    if found.format in ("npz", "libsvm"):
        data = found.data.toarray() if sp.issparse(found.data) else found.data
        assert found.target.tolist() == [1, -1, 1]
    else:
        data = np.column_stack([found.column("c"), found.column("a")])
        assert found.names == ["c", "a", "kind"]
        assert found.column("kind").to_pylist() == [1, -1, 1]
    assert np.array_equal(data, X[:, [2, 0]])
    if found.format == "npz":
        assert found.names == ["c", "a"]
        assert sp.issparse(found.data) == sp.issparse(source.data)


def test_numbers_of_a_table_become_x_and_y(dataset, tmp_path):
    write_columns(dataset, ["real", "single"], "y", tmp_path / "t.npz")
    with np.load(tmp_path / "t.npz") as found:
        assert sorted(found.files) == ["X", "feature_names", "y"]
        assert np.array_equal(found["X"][:, 0], TABLE["real"])
        assert found["y"].tolist() == TABLE["y"]


def test_text_of_a_table_becomes_columns_in_an_archive(dataset, tmp_path):
    write_columns(dataset, CHOSEN, "y", tmp_path / "t.npz")
    assert read_source(tmp_path / "t.npz").data.to_pydict() == expected()


def test_archive_of_columns_with_odd_names(tmp_path):
    table = pa.table({"file": ["a", "b"], "a/b": [1, 2], "y": [0, 1]})
    write_columns(Dataset(table, table.column_names), ["file", "a/b"], "y", tmp_path / "t.npz")
    assert read_source(tmp_path / "t.npz").data.to_pydict() == table.to_pydict()


def test_missing_text_has_no_place_in_an_archive(tmp_path):
    table = pa.table({"a": ["x", None], "y": [0, 1]})
    with pytest.raises(InputError, match="column `a` should have no missing values"):
        write_columns(Dataset(table, ["a", "y"]), ["a"], "y", tmp_path / "t.npz")


def test_libsvm_holds_numbers_only(dataset, tmp_path):
    with pytest.raises(InputError, match="LIBSVM has numbers for labels; the target `y`"):
        write_columns(dataset, ["real"], "y", tmp_path / "t.svm")
    with pytest.raises(InputError, match="LIBSVM has numbers for values; `text`, `kinds` holds"):
        write_columns(dataset, ["text", "real", "kinds"], "whole", tmp_path / "t.svm")
    write_columns(dataset, ["real", "whole"], "flag", tmp_path / "t.svm")
    found = read_source(tmp_path / "t.svm")
    assert found.target.tolist() == [1, 0, 1, 0]
    assert found.data.toarray()[:, 0].tolist() == TABLE["real"]


@pytest.mark.parametrize("path", ["t.csv", "t"])
def test_built_in_set_is_written_as_csv(tmp_path, path):
    write_columns(read_source("iris"), ["petal width (cm)"], None, tmp_path / path)
    found = read_source(tmp_path / path, format="csv")
    assert found.names == ["petal width (cm)", "species"]
    assert found.data["species"].to_pylist() == read_source("iris").target.tolist()


def test_target_called_like_a_column(tmp_path):
    source = Dataset(X, ["kind", "b", "c"], np.array([0, 1, 1]), "kind")
    write_columns(source, ["kind"], "target", tmp_path / "t.csv")
    assert read_source(tmp_path / "t.csv").names == ["kind", "kind_"]


def test_target_given_as_values(dataset, tmp_path):
    write_columns(dataset, ["real"], [1, 2, 3, 4], tmp_path / "t.csv")
    assert read_source(tmp_path / "t.csv").data["target"].to_pylist() == [1, 2, 3, 4]
    with pytest.raises(InputError, match="a value for each of the 4 rows; it has 3"):
        write_columns(dataset, ["real"], [1, 2, 3], tmp_path / "t.csv")


def test_unknown_column(dataset, tmp_path):
    with pytest.raises(UnknownColumnError, match=r"`columns`.*`rael`: did you mean `real`"):
        write_columns(dataset, ["rael"], "y", tmp_path / "t.csv")


def test_failure_leaves_the_old_file(dataset, tmp_path):
    (tmp_path / "t.svm").write_text("old")
    with pytest.raises(InputError):
        write_columns(dataset, ["text"], "whole", tmp_path / "t.svm")
    assert (tmp_path / "t.svm").read_text() == "old"
    assert os.listdir(tmp_path) == ["t.svm"]


def test_file_may_replace_its_own_source_where_that_is_wanted(dataset, tmp_path):
    for suffix in (".csv", ".parquet", ".arrow"):
        path = tmp_path / f"t{suffix}"
        write_columns(dataset, CHOSEN, "y", path)
        write_columns(read_source(path), ["real"], "y", path, overwrite_source=True)
        assert read_source(path).data.to_pydict() == expected(["real", "y"])


def test_more_rows_than_are_written_at_a_time(tmp_path):
    table = pa.table({"a": np.arange(150_000), "y": np.arange(150_000) % 3})
    chunked = pa.concat_tables([table.slice(0, 70_001), table.slice(70_001)])
    write_columns(Dataset(chunked, ["a", "y"]), ["a"], "y", tmp_path / "t.csv")
    assert read_source(tmp_path / "t.csv").data.equals(table)


# Blanks around text do not count and words for missing values are missing when it is read.
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9).map(
    lambda word: f"<<{word}>>"  # never one of the marks of missing values, <NA> for one
)


@given(
    rows=st.lists(
        st.tuples(WORDS, st.floats(allow_nan=False, allow_infinity=False), st.booleans()),
        min_size=1,
        max_size=6,
    ),
    text=st.sampled_from(TEXTS[:4]),
    suffix=st.sampled_from([".csv", ".tsv", ".parquet", ".npz"]),
)
@settings(deadline=None, max_examples=150)
def test_values_survive(tmp_path_factory, rows, text, suffix):
    columns = dict(zip(("word", "real", "flag"), map(list, zip(*rows))))
    source = Dataset(pa.table(columns), list(columns), text=text)
    path = tmp_path_factory.mktemp("write") / f"t{suffix}"
    write_columns(source, ["word", "real"], "flag", path)
    found = read_source(path, **({"delimiter": text.delimiter} if suffix == ".csv" else {}))
    assert found.data.to_pydict() == columns


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source.csv"
    path.write_text("a,b,y\n1,2,u\n3,5,v\n")
    return path


@pytest.mark.parametrize("in_blocks", [False, True])
@pytest.mark.parametrize("how", ["itself", "symbolic link", "hard link", "from another folder"])
def test_the_source_is_not_written_to_unless_it_may_be(
    source, tmp_path, monkeypatch, in_blocks, how
):
    monkeypatch.chdir(tmp_path)
    dataset = read_table("source.csv", in_blocks=in_blocks)
    link = {"symbolic link": os.symlink, "hard link": os.link}.get(how)
    place = source if link is None else tmp_path / "link.csv"
    if link is not None:
        link(source, place)
    if how == "from another folder" and not in_blocks:  # blocks are read where they were
        (tmp_path / "below").mkdir()
        monkeypatch.chdir(tmp_path / "below")
    write = partial(write_blocks, dataset, ["a", "y"]) if in_blocks else None
    write = write or partial(write_columns, dataset, ["a"], "y")
    with pytest.raises(InputError, match=r"not be a file of the table itself.*overwrite_source=Tr"):
        write(place)
    assert source.read_text() == "a,b,y\n1,2,u\n3,5,v\n"
    write(place, overwrite_source=True)
    assert read_source(place).names == ["a", "y"]
