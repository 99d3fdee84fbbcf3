"""Statistics survive a file, and other files are told from it."""

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest

from orthoselect import GramStatistics
from orthoselect.errors import InputError


def table(n_rows=60):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "a": rng.normal(size=n_rows),
            "b": rng.normal(size=n_rows).astype(np.float32),
            "kind": rng.choice(["ü", "v", "w"], n_rows),
            "level": rng.integers(0, 3, n_rows),
            "id": [object() for _ in range(n_rows)],
            "y": rng.choice([True, False], n_rows),
        }
    )


@pytest.fixture
def statistics():
    return GramStatistics.of(table(), "y", exclude=["id"], categorical_features=["level"])


@pytest.fixture
def file(statistics, tmp_path):
    statistics.save(tmp_path / "saved.npz")
    return tmp_path / "saved.npz"


def test_what_was_saved_is_loaded(statistics, file):
    again = GramStatistics.load(file)
    assert repr(again) == repr(statistics)
    assert again.terms == statistics.terms
    np.testing.assert_array_equal(again.gram, statistics.gram)
    assert again.select(3) == statistics.select(3)
    assert (again.n_rows, again.weight) == (60, 60.0)
    assert again.classes == {"y": (False, True)}


def test_loaded_statistics_grow_and_add_up(statistics, file):
    again = GramStatistics.load(file)
    more = table(90).assign(kind="new")
    expected = (
        statistics + GramStatistics.of(more, "y", exclude="id", categorical_features=[3])
    ).select(3)
    found = again.update(more, "y").select(3)
    assert found.names == expected.names
    assert found.gains == pytest.approx(expected.gains, abs=1e-12)
    assert (GramStatistics.load(file) + statistics).n_rows == 120


@pytest.mark.parametrize("y", [[0.5, 1.5, 2.5], [1, 2, 1], ["a", "b", "b"]])
def test_columns_without_names_and_all_kinds_of_responses(tmp_path, y):
    X = [[1.0, 2.0], [3.0, 5.0], [4.0, 1.0]]
    statistics = GramStatistics().update(X, y)
    statistics.save(tmp_path / "saved")
    again = GramStatistics.load(tmp_path / "saved")
    assert again.names == ["x0", "x1"]
    assert again.select(1) == statistics.select(1)
    assert again.update(X, y).n_rows == 6


def test_given_classes_stay_given(tmp_path):
    GramStatistics(classes=["a", "b"]).update([[1.0], [2.0]], ["a", "b"]).save(tmp_path / "saved")
    with pytest.raises(InputError, match="got `c`"):
        GramStatistics.load(tmp_path / "saved").update([[1.0]], ["c"])


def test_people_can_read_the_header(file):
    with zipfile.ZipFile(file) as archive:
        header = json.loads(archive.read("header.json"))
        assert b"\xc3\xbc" in archive.read("header.json")
    assert header["format"] == "orthoselect statistics"
    assert header["columns"] == ["a", "b", "kind", "level", "id", "y"]
    assert header["n_rows"] == 60
    arrays = np.load(file, allow_pickle=False)
    assert {"R", "shift", "exponents", "precision"} <= set(arrays)


def rewritten(file, change):
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["header.json"])
    change(header, members)
    members["header.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def changed(members, array, value):
    """Put a value into one of the arrays."""
    values = np.load(io.BytesIO(members[f"{array}.npy"]))
    values.flat[0] = value
    content = io.BytesIO()
    np.save(content, values)
    members[f"{array}.npy"] = content.getvalue()


def test_newer_formats_say_so(file):
    rewritten(file, lambda header, _: header.update(version=2))
    with pytest.raises(InputError, match=r"format 1 or older; it is of format 2.*Update"):
        GramStatistics.load(file)


def test_foreign_files_say_so(tmp_path, file):
    np.savez(tmp_path / "other.npz", R=np.eye(3))
    (tmp_path / "text.npz").write_text("no archive")
    rewritten(file, lambda header, _: header.update(format="something else"))
    for foreign in (tmp_path / "other.npz", tmp_path / "text.npz", file):
        with pytest.raises(InputError, match=r"`GramStatistics.save` has written; it is not one"):
            GramStatistics.load(foreign)


@pytest.mark.parametrize(
    "change",
    [
        lambda header, members: members.pop("R.npy"),
        lambda header, members: members.update({"R.npy": members["shift.npy"]}),
        lambda header, members: members.update({"R.npy": b"no array"}),
        lambda header, members: header.pop("terms"),
        lambda header, members: header["terms"].pop(),
        lambda header, members: header["labels"]["2"]["levels"].append("x"),
        lambda header, members: header.update(numeric=[0]),
        lambda header, members: changed(members, "exponents", 10**10),
        lambda header, members: changed(members, "shift", np.inf),
        lambda header, members: changed(members, "R", np.nan),
        lambda header, members: changed(members, "R", 1e200),
        lambda header, members: changed(members, "precision", 7.0),
        lambda header, members: header["terms"][2].__setitem__(1, 0),
    ],
)
def test_damaged_files_say_so(file, change):
    rewritten(file, change)
    with pytest.raises(InputError, match="should be whole; it was cut short or changed"):
        GramStatistics.load(file)


def test_flipped_bits_and_lost_ends_say_so(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(content)
    with pytest.raises(InputError, match="should be whole"):
        GramStatistics.load(file)
    file.write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match=r"saved.npz` should be"):
        GramStatistics.load(file)
    with pytest.raises(InputError, match="No such file"):
        GramStatistics.load(file.with_name("nowhere.npz"))


def test_labels_that_no_file_can_hold(tmp_path):
    statistics = GramStatistics().update([[1.0], [2.0]], pd.Series([(1, 2), (3, 4)]))
    with pytest.raises(InputError, match=r"`y` has \(1, 2\), a tuple"):
        statistics.save(tmp_path / "saved.npz")
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match="there should be rows"):
        GramStatistics().save(tmp_path / "saved.npz")
