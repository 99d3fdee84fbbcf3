"""Any source by its name: the usual formats, and one clear line for whatever cannot be read."""

import bz2
import contextlib
import gzip
import io
import lzma
import os
import sys
import threading

import numpy as np
import pytest

from orthoselect import select
from orthoselect.errors import InputError, LeftOutWarning, ManyLevelsWarning, UnknownColumnError
from orthoselect.read import FORMATS, SUFFIXES, read_source
from orthoselect.read import open as opening

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")

N = 150


@pytest.fixture
def frame(rng):
    size = rng.normal(size=N).round(6)
    return pd.DataFrame(
        {
            "color": np.array(["red", "green", "blue"])[rng.integers(0, 3, N)],
            "kind": np.where(size + rng.normal(size=N) > 0, "big", "small"),
            "size": size,
            "count": rng.integers(0, 9, N),
        }
    )


def write(frame, path):
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    elif suffix == ".parquet":
        pl.DataFrame(frame.to_dict("list")).write_parquet(path)
    elif suffix == ".npz":
        np.savez(path, **{name: np.array(frame[name].tolist()) for name in frame.columns})
    else:
        feather.write_feather(pa.table(frame.to_dict("list")), path)
    return path


TABLES = [".csv", ".CSV", ".tsv", ".parquet", ".feather", ".arrow", ".npz"]


@pytest.mark.parametrize("suffix", TABLES)
def test_file_gives_the_path_of_the_frame(frame, tmp_path, suffix):
    path = write(frame, tmp_path / f"table{suffix}")
    expected = select(frame, "kind", 3)
    for source in (path, str(path)):
        got = select(source, "kind", 3)
        assert got.features == expected.features
        assert got.names == expected.names
        assert got.gains == pytest.approx(expected.gains)


@pytest.mark.parametrize("suffix", TABLES)
def test_format_is_that_of_the_suffix(frame, tmp_path, suffix):
    found = read_source(write(frame, tmp_path / f"table{suffix}"))
    assert found.format == SUFFIXES[suffix.lower()]
    assert found.name == f"table{suffix}"
    assert list(found.names) == ["color", "kind", "size", "count"]
    assert found.n_rows == N


def test_format_given_goes_first(frame, tmp_path):
    path = write(frame, tmp_path / "t.parquet").rename(tmp_path / "t.csv")
    assert read_source(path, format="parquet").format == "parquet"
    with pytest.raises(InputError, match=r"^`format` should be") as caught:
        read_source(path, format="xlsx")
    assert all(f"`{known}`" in str(caught.value) for known in FORMATS)
    assert str(caught.value).endswith("got 'xlsx'.")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_compressed_files(frame, tmp_path, pack, suffix):
    packed = {gzip.compress: ".gz", bz2.compress: ".bz2", lzma.compress: ".xz"}[pack]
    plain = write(frame, tmp_path / f"t{suffix}")
    path = tmp_path / f"packed{suffix}{packed}"
    path.write_bytes(pack(plain.read_bytes()))
    assert read_source(path).data.equals(read_source(plain).data)


def test_positions_refer_to_the_file(frame, tmp_path):
    path = select(write(frame, tmp_path / "t.csv"), "kind", 3)
    assert {step.name: step.feature for step in path} == {"color": 0, "size": 2, "count": 3}


def test_response_beside_a_file(frame, tmp_path):
    path = write(frame.drop(columns="kind"), tmp_path / "t.parquet")
    assert select(path, frame["kind"], 2).gains == pytest.approx(select(frame, "kind", 2).gains)


def test_names_and_text_beyond_ascii(frame, tmp_path):
    renamed = frame.rename(columns={"size": "größe"}).replace({"red": "rød"})
    path = write(renamed, tmp_path / "таблица.csv")
    assert select(path, "kind", 3).names == select(renamed, "kind", 3).names


def test_unknown_target_suggests_near_names(frame, tmp_path):
    path = write(frame, tmp_path / "t.csv")
    with pytest.raises(UnknownColumnError, match=r"`target`.*`knd`: did you mean `kind`\?"):
        select(path, "knd", 2)
    with pytest.raises(UnknownColumnError, match=r"the columns are `color`, `kind`, `size`"):
        select(path, "zzzzzz", 2)


def test_target_has_to_be_named_where_the_file_knows_none(frame, tmp_path):
    path = write(frame, tmp_path / "t.csv")
    with pytest.raises(InputError, match=r"t\.csv`.*name of its target.*`color`, `kind`"):
        select(path, None, 2)


def test_select_leaves_unfit_columns_of_a_file_out(frame, tmp_path):
    frame["id"] = [f"id {row}" for row in range(N)]
    path = write(frame, tmp_path / "t.csv")
    with pytest.warns(LeftOutWarning, match="`id`"):
        found = select(path, "kind", 3)
    assert found.names == select(frame.drop(columns="id"), "kind", 3).names
    assert select(path, "kind", 2, exclude=["id"]).names == found.names[:2]
    assert select(path, "kind", 2, exclude="id").n_candidates == 3


@pytest.mark.parametrize(
    "spoken_of",
    [
        {"include": ["id"]},
        {"categorical_features": ["id"]},
        {"categorical_features": [4]},
        {"groups": {"both": ["id", "color"]}, "include": ["both"]},
    ],
)
def test_columns_that_are_spoken_of_stay(frame, tmp_path, spoken_of):
    frame["id"] = [f"id {row}" for row in range(N)]
    with pytest.warns(ManyLevelsWarning, match="`id` has 150 levels"):
        found = select(write(frame, tmp_path / "t.csv"), "kind", 1, adjust=None, **spoken_of)
    assert found.features[0] in (4, 0)
    assert found.n_candidates == (3 if "groups" in spoken_of else 4)


def test_wrong_arguments_are_called_by_their_names(frame, tmp_path):
    path = write(frame, tmp_path / "t.csv")
    with pytest.raises(UnknownColumnError, match=r"`include`.*`siz`: did you mean `size`"):
        select(path, "kind", 2, include=["siz"])


def put(path, content):
    path.write_bytes(content)
    return path


def cut(path, frame, keep=0.6):
    content = write(frame, path).read_bytes()
    return put(path, content[: int(len(content) * keep)])


def packed(path, frame):
    content = gzip.compress(write(frame, path.with_suffix("")).read_bytes())
    return put(path, content[: len(content) // 2])


BAD = {
    "missing": lambda d, f: d / "absent.csv",
    "a folder": lambda d, f: d,
    "empty name": lambda d, f: "",
    "no suffix": lambda d, f: put(d / "table", b"a,b\n1,2\n"),
    "another suffix": lambda d, f: put(d / "table.xlsx", b"a,b\n1,2\n"),
    "only compressed": lambda d, f: put(d / "table.gz", gzip.compress(b"a,b\n1,2\n")),
    "empty csv": lambda d, f: put(d / "t.csv", b""),
    "empty parquet": lambda d, f: put(d / "t.parquet", b""),
    "empty arrow": lambda d, f: put(d / "t.arrow", b""),
    "empty npz": lambda d, f: put(d / "t.npz", b""),
    "empty libsvm": lambda d, f: put(d / "t.svm", b""),
    "corrupt parquet": lambda d, f: put(d / "t.parquet", b"PAR1 nothing of the kind"),
    "corrupt feather": lambda d, f: put(d / "t.feather", b"ARROW1 nothing of the kind"),
    "corrupt arrow": lambda d, f: put(d / "t.arrow", bytes(range(256))),
    "corrupt npz": lambda d, f: put(d / "t.npz", b"PK\x03\x04 nothing of the kind"),
    "corrupt libsvm": lambda d, f: put(d / "t.libsvm", b"1 nothing of the kind\n"),
    "truncated parquet": lambda d, f: cut(d / "t.parquet", f),
    "truncated feather": lambda d, f: cut(d / "t.feather", f),
    "truncated arrow": lambda d, f: cut(d / "t.arrow", f),
    "truncated npz": lambda d, f: cut(d / "t.npz", f),
    "truncated gzip": lambda d, f: packed(d / "t.csv.gz", f),
    "ragged csv": lambda d, f: put(d / "t.csv", b"a,b\n1,2\n1,2,3,4\n"),
    "header only": lambda d, f: put(d / "t.csv", b"a,target\n"),
    "one row": lambda d, f: put(d / "t.csv", b"a,target\n1,2\n"),
    "null byte": lambda d, f: "a\0b.csv",
    "very long name": lambda d, f: "a" * 5000 + ".csv",
}


@pytest.mark.parametrize("kind", BAD)
def test_files_that_cannot_be_read_are_one_line(frame, tmp_path, kind):
    source = BAD[kind](tmp_path, frame)
    with pytest.raises(InputError) as caught:
        select(source, "target", 1)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message.split()) > 4
    assert type(caught.value) is not UnknownColumnError, "it was read after all"


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow", ".npz"])
def test_no_cut_of_a_file_is_read(frame, tmp_path, suffix):
    for keep in np.linspace(0.02, 0.98, 13):
        path = cut(tmp_path / f"t{suffix}", frame, keep)
        with pytest.raises(InputError, match=f"`.*{suffix}`"):
            read_source(path)


def test_bytes_turned_over_never_crash(frame, tmp_path, rng):
    """Whatever is wrong within: an error that says so, or a table."""
    path = tmp_path / "t.arrow"
    content = bytearray(write(frame, path).read_bytes())
    for at in rng.integers(0, len(content), 60):
        broken = bytearray(content)
        broken[at] ^= 0xFF
        path.write_bytes(broken)
        with contextlib.suppress(InputError):
            read_source(path)


def test_missing_file_suggests_near_ones(frame, tmp_path, monkeypatch):
    write(frame, tmp_path / "houses.csv")
    with pytest.raises(InputError, match=r"house\.csv`; there is no such file.*`.*houses\.csv`\?"):
        read_source(tmp_path / "house.csv")
    with pytest.raises(InputError, match=r"zzz\.csv`; there is no such file\.$"):
        read_source(tmp_path / "zzz.csv")
    with pytest.raises(InputError, match=r"nor a folder `.*absent`"):
        read_source(tmp_path / "absent" / "t.csv")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"Did you mean `houses\.csv`\?"):
        read_source("house.csv")
    with pytest.raises(InputError, match=r"Did you mean `breast_cancer`\?"):
        read_source("breast_cancre")


@pytest.mark.parametrize(
    ("suffix", "remedy"), [(".xlsx", "pandas.read_excel"), (".json", "pandas.read_json")]
)
def test_sheets_and_records_have_a_remedy(tmp_path, suffix, remedy):
    with pytest.raises(InputError, match=f"`t{suffix}` should end in one of.*{remedy}"):
        read_source(put(tmp_path / f"t{suffix}", b""))


@pytest.mark.parametrize("suffix", [".xyz", ".npp", ""])
def test_unknown_suffix_lists_the_known(tmp_path, suffix):
    path = put(tmp_path / f"t{suffix}", b"")
    with pytest.raises(InputError, match=f"`t{suffix}` should end in") as caught:
        read_source(path)
    assert all(f"`{suffix}`" in str(caught.value) for suffix in SUFFIXES)
    assert "`format='csv'`, or read it yourself" in str(caught.value)
    assert "read_source" not in str(caught.value)


def test_folder_is_said_to_be_one(tmp_path):
    with pytest.raises(InputError, match="it is a folder"):
        read_source(tmp_path)


def test_no_permission(frame, tmp_path, monkeypatch):
    path = write(frame, tmp_path / "t.csv")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(InputError, match=r"t\.csv` should be readable; you have no permission"):
        read_source(path)


@pytest.mark.parametrize("option", [{"delimiter": ","}, {"encoding": "utf-8"}, {"header": True}])
@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".npz"])
def test_options_of_text_are_refused_elsewhere(frame, tmp_path, option, suffix):
    path = write(frame, tmp_path / f"t{suffix}")
    with pytest.raises(InputError, match=f"`{next(iter(option))}` is for CSV and TSV"):
        read_source(path, **option)
    with pytest.raises(InputError, match="is for CSV and TSV; `iris` is a built-in"):
        read_source("iris", **option)


def test_format_of_a_built_in_set_is_refused():
    with pytest.raises(InputError, match=r"^`format` is for files; `iris` is a built-in"):
        read_source("iris", format="csv")


def test_without_pyarrow(frame, tmp_path, monkeypatch):
    paths = [write(frame, tmp_path / f"t{suffix}") for suffix in (".csv", ".parquet", ".arrow")]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for name in [name for name in sys.modules if name.startswith("pyarrow.")]:
        monkeypatch.setitem(sys.modules, name, None)
    for path in paths:
        with pytest.raises(InputError, match=r"needs pyarrow.*pip install 'orthoselect\[files\]'"):
            read_source(path)
    np.savez(tmp_path / "m.npz", X=np.eye(3), y=np.arange(3))
    assert read_source(tmp_path / "m.npz").n_rows == 3, "arrays need no pyarrow"


@pytest.fixture
def pipe_in(monkeypatch):
    """Return a function that puts bytes on standard input."""

    def pipe_in(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return pipe_in


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".feather", ".arrow", ".npz"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input_is_known_by_its_first_bytes(frame, tmp_path, pipe_in, suffix, pack):
    path = write(frame, tmp_path / f"t{suffix}")
    pipe_in(pack(path.read_bytes()))
    found = read_source("-")
    assert found.name == "standard input"
    # A Feather file is an Arrow file.
    assert found.format == SUFFIXES[suffix].replace("feather", "arrow")
    assert found.data.equals(read_source(path).data)


def test_standard_input_takes_the_options_of_text(pipe_in):
    pipe_in("1;ä\n2;ö\n".encode("latin-1"))
    found = read_source("-", header=False, encoding="latin-1", delimiter=";")
    assert found.data.to_pydict() == {"x0": [1, 2], "x1": ["ä", "ö"]}
    pipe_in(b"1 3:0.5\n2 1:1\n")
    assert read_source("-", format="libsvm").format == "libsvm"


@pytest.mark.parametrize(
    "content",
    [b"", b"PAR1", gzip.compress(b"a,b\n1,2\n")[:-4]],
    ids=["nothing", "parquet", "gzip cut off"],
)
def test_errors_of_standard_input_name_it(pipe_in, content):
    pipe_in(content)
    with pytest.raises(InputError, match="`standard input`"):
        read_source("-")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are a thing of Unix")
def test_pipe_with_a_name(frame, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    content = write(frame, tmp_path / "t.csv").read_bytes()
    writer = threading.Thread(target=lambda: path.write_bytes(content))
    writer.start()
    found = read_source(path)
    writer.join()
    assert found.data.equals(read_source(tmp_path / "t.csv").data)


def test_every_format_has_a_suffix_and_a_reader():
    assert {*SUFFIXES.values(), "npy"} == set(FORMATS)
    assert {*dict(opening._READERS.values()), "csv", "tsv"} == set(FORMATS)
