"""Files written whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from orthoselect.errors import InputError

try:
    import fcntl
except ImportError:  # Windows has no such locks, so nobody knows there who is still writing
    fcntl = None  # type: ignore[assignment]

# What a full disk says; other errors while writing are the writer's own to word.
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# Files that are not yet whole; no name that anybody would choose.
_TEMPORARY = re.compile(r"\.orthoselect-[0-9a-f]{8}(\..*)?", re.DOTALL)


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Write a file beside its place, then rename it: a file that is there is never half written.

    Yields where to write, with the suffix of `path`. It is renamed onto `path` when the block ends,
    and removed if the block raises anything. A process that is killed leaves it behind; the next
    one that writes to the folder removes it. A link is followed; a pipe or device is written as it
    is.
    """
    place = check_place(path)
    if place.exists() and not place.is_file():
        yield place
        return
    _clear_left_behind(place.parent)
    temporary, descriptor = _create(place)
    try:
        if place.exists():
            shutil.copymode(place, temporary)
        yield temporary
        os.replace(temporary, place)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in _FULL:
            raise InputError(f"`{path}` could not be written whole: {error.strerror}.") from error
        raise
    finally:
        if descriptor is not None:
            os.close(descriptor)


def check_place(path: str | Path) -> Path:
    """Return where a file shall be; raise if there can be none."""
    try:
        place = Path(path).resolve()
        folder, is_folder = place.parent, place.is_dir()
        has_folder = folder.is_dir()
    except (OSError, ValueError, RuntimeError) as error:  # too long, a null, a loop of links
        raise InputError(f"`{path}` should be a file to write; it cannot be: {error}.") from None
    if is_folder:
        raise InputError(
            f"`{path}` should be a file to write; it is a folder. Add a file name to it."
        )
    if not has_folder:
        raise InputError(
            f"`{path}` should be in a folder that exists; there is no `{folder}`. Make it first."
        )
    return place


def check_keeps_source(
    path: str | Path, files: Iterable[Path | int], argument: str, *, overwrite: bool | None = False
) -> None:
    """Raise if a file to write is one that a table is read from, by whatever name or link.

    A number among the files of the table is one that is open; `argument` is what to call the file
    to write. `overwrite` is whether it may be replaced; None: the caller cannot allow it.
    """
    written = None if overwrite else _regular(path)
    if written is None:
        return
    for file in files:
        read = _regular(file)
        if read is not None and os.path.samestat(read, written):
            called = "standard input" if isinstance(file, int) else str(file)
            same = f"`{path}`" if called == str(path) else f"`{path}` is `{called}`, which"
            allow = "" if overwrite is None else ", or pass `overwrite_source=True` if it may be"
            raise InputError(
                f"`{argument}` should not be a file of the table itself; {same} would be "
                f"replaced. Name another file{allow}."
            )


def _regular(file: str | Path | int) -> os.stat_result | None:
    """Return what tells files apart; None for what is no file, a pipe or a terminal for one."""
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def _create(place: Path) -> tuple[Path, int | None]:
    """Make an empty file with the usual permissions beside a place, or say why there can be none.

    The file is open and locked: others see by the lock that it is in use, and the system takes it
    back when the process ends, however it ends. On Windows it is neither, and has no descriptor.
    """
    while True:
        temporary = place.with_name(f".orthoselect-{secrets.token_hex(4)}{place.suffix}")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except OSError as error:
            raise InputError(
                f"`{temporary.parent}` should be a folder to write into; "
                f"no file can be made there: {error.strerror}."
            ) from error
        if fcntl is None:
            os.close(descriptor)
            return temporary, None
        is_held = True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            is_held = False
        except OSError:  # file systems without locks: nobody else gets one there, either
            pass
        if is_held and temporary.exists():
            return temporary, descriptor
        os.close(descriptor)  # another process took it for one left behind, before it was held


def _clear_left_behind(folder: Path) -> None:
    """Remove the temporary files of processes that were killed: those that nobody holds."""
    if fcntl is None:
        return
    found: list[os.DirEntry[str]] = []
    with suppress(OSError), os.scandir(folder) as entries:  # a folder may be closed to readers
        found = [entry for entry in entries if _TEMPORARY.fullmatch(entry.name)]
    for entry in found:
        with suppress(OSError):  # it is in use, or somebody else's
            if entry.is_file(follow_symlinks=False):
                descriptor = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(entry.path)
                finally:
                    os.close(descriptor)
