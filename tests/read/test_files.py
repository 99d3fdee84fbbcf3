"""Files as tables: the usual formats, and one clear line for whatever cannot be read."""

from pathlib import Path

import numpy as np
import pytest

from orthoselect import select
from orthoselect.errors import InputError, UnknownColumnError
from orthoselect.read import files, read_file

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

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
    if path.suffix.lower() in (".csv", ".tsv"):
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    elif path.suffix == ".parquet":
        pl.DataFrame(frame.to_dict("list")).write_parquet(path)
    else:
        feather = pytest.importorskip("pyarrow.feather")
        feather.write_feather(pa.table(frame.to_dict("list")), path)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".CSV", ".tsv", ".parquet", ".feather", ".arrow"])
@pytest.mark.parametrize("backend", ["polars", "pyarrow", "pandas"])
def test_file_gives_the_path_of_the_frame(frame, tmp_path, monkeypatch, suffix, backend):
    monkeypatch.setattr(files, "_LIBRARIES", (backend,))
    path = write(frame, tmp_path / f"table{suffix}")
    expected = select(frame, "kind", 3)
    for source in (path, str(path)):
        got = select(source, "kind", 3)
        assert got.features == expected.features
        assert got.names == expected.names
        assert got.gains == pytest.approx(expected.gains)


def test_positions_refer_to_the_file(frame, tmp_path):
    path = select(write(frame, tmp_path / "t.csv"), "kind", 3)
    assert {step.name: step.feature for step in path} == {"color": 0, "size": 2, "count": 3}


def test_response_beside_a_file(frame, tmp_path):
    path = write(frame.drop(columns="kind"), tmp_path / "t.parquet")
    assert select(path, frame["kind"], 2).gains == pytest.approx(select(frame, "kind", 2).gains)


def test_polars_feather_is_readable(frame, tmp_path):
    pl.DataFrame(frame.to_dict("list")).write_ipc(tmp_path / "t.feather")
    assert select(tmp_path / "t.feather", "kind", 2).names == select(frame, "kind", 2).names


def test_fractions_that_come_late_in_a_column(frame, tmp_path):
    """The dtype of a column is not settled by its first hundred rows."""
    late = frame.assign(count=np.r_[np.arange(N - 1) % 9, 0.5])
    path = write(late, tmp_path / "t.csv")
    text = path.read_text().replace(".0\n", "\n")
    path.write_text(text)
    assert select(path, "kind", 3).gains == pytest.approx(select(late, "kind", 3).gains)


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


def corrupt(path, content):
    path.write_bytes(content)
    return path


BAD = {
    "missing": lambda d: d / "absent.csv",
    "a folder": lambda d: d,
    "empty name": lambda d: "",
    "no suffix": lambda d: corrupt(d / "table", b"a,b\n1,2\n"),
    "another suffix": lambda d: corrupt(d / "table.xlsx", b"a,b\n1,2\n"),
    "empty csv": lambda d: corrupt(d / "t.csv", b""),
    "empty parquet": lambda d: corrupt(d / "t.parquet", b""),
    "corrupt parquet": lambda d: corrupt(d / "t.parquet", b"PAR1 nothing of the kind"),
    "corrupt feather": lambda d: corrupt(d / "t.feather", b"ARROW1 nothing of the kind"),
    "corrupt arrow": lambda d: corrupt(d / "t.arrow", bytes(range(256))),
    "ragged csv": lambda d: corrupt(d / "t.csv", b"a,b\n1,2\n1,2,3,4\n"),
    "header only": lambda d: corrupt(d / "t.csv", b"a,target\n"),
    "one row": lambda d: corrupt(d / "t.csv", b"a,target\n1,2\n"),
    "null byte": lambda d: "a\0b.csv",
    "very long name": lambda d: "a" * 5000 + ".csv",
}


@pytest.mark.parametrize("backend", ["polars", "pyarrow", "pandas"])
@pytest.mark.parametrize("kind", BAD)
def test_files_that_cannot_be_read_are_one_line(tmp_path, monkeypatch, kind, backend):
    monkeypatch.setattr(files, "_LIBRARIES", (backend,))
    with pytest.raises(InputError) as caught:
        select(BAD[kind](tmp_path), "target", 1)
    message = str(caught.value)
    assert message
    assert "\n" not in message
    assert len(message.split()) > 4


def test_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"absent\.csv`; there is no such file"):
        read_file(tmp_path / "absent.csv")


def test_wrong_suffix_lists_the_right_ones(tmp_path):
    path = corrupt(tmp_path / "t.xlsx", b"")
    with pytest.raises(InputError, match=r"`t\.xlsx`.*`\.csv`.*`\.parquet`.*pass the dataframe"):
        read_file(path)


def test_without_a_dataframe_library(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_LIBRARIES", ("no_such_library",))
    path = corrupt(tmp_path / "t.csv", b"a,b\n1,2\n")
    with pytest.raises(InputError, match="reading files needs one of"):
        read_file(path)


def test_reading_is_left_to_the_first_library_installed(frame, tmp_path):
    assert isinstance(read_file(Path(write(frame, tmp_path / "t.csv"))), pl.DataFrame)
