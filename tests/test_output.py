"""Files are replaced when they are whole, and only then."""

import errno
import os
import stat

import pytest

from orthoselect.errors import InputError
from orthoselect.output import replacing


def test_file_appears_when_the_block_ends(tmp_path):
    with replacing(tmp_path / "a.txt") as temporary:
        temporary.write_text("new")
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".txt"
        assert not (tmp_path / "a.txt").exists()
    assert (tmp_path / "a.txt").read_text() == "new"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_path_may_be_a_string(tmp_path):
    with replacing(str(tmp_path / "a")) as temporary:
        temporary.write_text("new")
    assert (tmp_path / "a").read_text() == "new"


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_failure_leaves_the_old_file_and_nothing_else(tmp_path, failure):
    (tmp_path / "a.txt").write_text("old")

    def write_half():
        with replacing(tmp_path / "a.txt") as temporary:
            temporary.write_text("half")
            raise failure

    with pytest.raises(failure):
        write_half()
    assert (tmp_path / "a.txt").read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_full_disk_is_one_line(tmp_path):
    full = OSError(errno.ENOSPC, "No space left on device")
    with (
        pytest.raises(InputError, match=r"a\.txt` could not be written whole: No space left"),
        replacing(tmp_path / "a.txt"),
    ):
        raise full
    assert os.listdir(tmp_path) == []


def test_other_errors_of_the_system_stay_what_they_are(tmp_path):
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "a.txt"):
        (tmp_path / "absent").read_text()


def test_missing_folder_is_named(tmp_path):
    with (
        pytest.raises(InputError, match=r"there is no `.*absent`. Make it first"),
        replacing(tmp_path / "absent" / "a.txt"),
    ):
        pytest.fail("nothing to write to")


def test_folder_in_place_of_a_file(tmp_path):
    with pytest.raises(InputError, match="it is a folder"), replacing(tmp_path):
        pytest.fail("nothing to write to")


@pytest.mark.parametrize("name", ["a\0b", "a" * 300])
def test_impossible_names(tmp_path, name):
    with pytest.raises(InputError), replacing(tmp_path / name) as temporary:
        temporary.write_text("x")
    assert os.listdir(tmp_path) == []


def test_folder_without_permission(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with (
        pytest.raises(InputError, match=r"folder to write into.*Permission denied"),
        replacing(tmp_path / "a.txt"),
    ):
        pytest.fail("nothing to write to")


def test_new_file_has_the_usual_permissions(tmp_path):
    (tmp_path / "usual").write_text("")
    with replacing(tmp_path / "new") as temporary:
        temporary.write_text("")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_old_permissions_stay(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o640)
    with replacing(tmp_path / "a") as temporary:
        temporary.write_text("new")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_link_is_followed(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with replacing(tmp_path / "link") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_device_is_written_not_replaced():
    with replacing("/dev/null") as temporary:
        temporary.write_text("gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
