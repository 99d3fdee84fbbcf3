"""Files are replaced when they are whole, and only then."""

import errno
import os
import signal
import stat
import subprocess
import sys

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


WRITER = """
import os, signal, sys
from orthoselect.output import replacing
with replacing(sys.argv[1]) as temporary:
    temporary.write_text("half")
    print(temporary.name, flush=True)
    if sys.argv[2] == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.read()
"""


def writer(path, what):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), what],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(os.name == "nt", reason="Windows has neither such kills nor such locks")
def test_what_a_killed_writer_left_behind_is_cleared_by_the_next(tmp_path):
    with writer(tmp_path / "a.txt", "dies") as dead:
        left = dead.stdout.readline().strip()
        assert dead.wait() == -signal.SIGKILL
    assert os.listdir(tmp_path) == [left]
    with replacing(tmp_path / "b.csv") as temporary:
        temporary.write_text("new")
    assert os.listdir(tmp_path) == ["b.csv"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such locks")
def test_what_a_living_writer_is_at_stays(tmp_path):
    with writer(tmp_path / "a.txt", "waits") as alive:
        held = alive.stdout.readline().strip()
        with replacing(tmp_path / "b.txt") as outer, replacing(tmp_path / "c.txt") as inner:
            inner.write_text("new")
            outer.write_text("new")
        assert sorted(os.listdir(tmp_path)) == [held, "b.txt", "c.txt"]
        alive.communicate("go on")
    assert alive.returncode == 0
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b.txt", "c.txt"]


def test_files_that_are_not_recognizably_ours_stay(tmp_path):
    names = [".orthoselect-notes.txt", ".orthoselect-0123abcdef", ".orthoselect-", "0123abcd.csv"]
    for name in names:
        (tmp_path / name).write_text("mine")
    (tmp_path / ".orthoselect-0123abcd").mkdir()
    (tmp_path / ".orthoselect-0123abcd.lnk").symlink_to(".orthoselect-notes.txt")
    before = sorted(os.listdir(tmp_path))
    with replacing(tmp_path / "a.txt") as temporary:
        temporary.write_text("new")
    assert sorted(os.listdir(tmp_path)) == sorted([*before, "a.txt"])


@pytest.mark.parametrize("when", ["before it is held", "about to be"])
def test_a_file_cleared_before_its_writer_held_it_is_made_again(tmp_path, monkeypatch, when):
    fcntl = pytest.importorskip("fcntl")
    opened, made = os.open, []

    def open_and_lose(path, *arguments):
        descriptor = opened(path, *arguments)
        made.append(path)
        if len(made) == 1:
            if when == "about to be":
                other = opened(path, os.O_RDONLY)
                fcntl.flock(other, fcntl.LOCK_EX)
                closing.append(other)
            else:
                os.unlink(path)
        return descriptor

    closing = []
    monkeypatch.setattr(os, "open", open_and_lose)
    with replacing(tmp_path / "a.txt") as temporary:
        assert temporary != made[0]
        for other in closing:
            os.unlink(made[0])
            os.close(other)
        temporary.write_text("new")
    assert len(made) == 2
    assert os.listdir(tmp_path) == ["a.txt"]
