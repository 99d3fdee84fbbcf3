"""Files written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from orthoselect.errors import InputError

# What a full disk says; other errors while writing are the writer's own to word.
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Write a file beside its place, then rename it: a file that is there is never half written.

    Parameters
    ----------
    path : str or Path
        Where the file shall be. A link is followed; a pipe or device is written as it is.

    Yields
    ------
    temporary : Path
        Where to write, with the suffix of `path`. It is renamed onto `path` when the block ends,
        and removed if the block raises anything.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with replacing(Path(folder.name) / "answer.txt") as temporary:
    ...     _ = temporary.write_text("42")
    >>> [file.name for file in Path(folder.name).iterdir()]
    ['answer.txt']
    >>> folder.cleanup()
    """
    place = check_place(path)
    if place.exists() and not place.is_file():
        yield place
        return
    temporary = place.with_name(f".orthoselect-{secrets.token_hex(4)}{place.suffix}")
    try:
        _create(temporary)
        if place.exists():
            shutil.copymode(place, temporary)
        yield temporary
        os.replace(temporary, place)
    except OSError as error:
        _remove(temporary)
        if error.errno in _FULL:
            raise InputError(f"`{path}` could not be written whole: {error.strerror}.") from error
        raise
    except BaseException:
        _remove(temporary)
        raise


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
    path: str | Path, files: Iterable[Path | int], argument: str, *, overwrite: bool = False
) -> None:
    """Raise if a file to write is one that a table is read from, by whatever name or link.

    Parameters
    ----------
    path : str or Path
        The file to write.
    files : iterable of Path or int
        The files of the table; a number is a file that is open.
    argument : str
        What to call the file to write in the error.
    overwrite : bool
        Whether that is what the caller wants.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "table.csv"
    >>> file.touch()
    >>> check_keeps_source(Path(folder.name) / "other.csv", [file], "path")
    >>> check_keeps_source(file, [file], "path")
    Traceback (most recent call last):
    orthoselect.errors.InputError: `path` should not be a file of the table itself; ...
    >>> folder.cleanup()
    """
    written = None if overwrite else _regular(path)
    if written is None:
        return
    for file in files:
        read = _regular(file)
        if read is not None and os.path.samestat(read, written):
            called = "standard input" if isinstance(file, int) else str(file)
            same = f"`{path}`" if called == str(path) else f"`{path}` is `{called}`, which"
            raise InputError(
                f"`{argument}` should not be a file of the table itself; {same} would be "
                f"replaced. Name another file, or pass `overwrite_source=True` if it may be."
            )


def _regular(file: str | Path | int) -> os.stat_result | None:
    """Return what tells files apart; None for what is no file, a pipe or a terminal for one."""
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def _create(temporary: Path) -> None:
    """Make an empty file with the usual permissions, or say why there can be none."""
    try:
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except OSError as error:
        raise InputError(
            f"`{temporary.parent}` should be a folder to write into; "
            f"no file can be made there: {error.strerror}."
        ) from error


def _remove(temporary: Path) -> None:
    with suppress(OSError):
        temporary.unlink(missing_ok=True)
