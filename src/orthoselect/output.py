"""Files written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
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
    place = _checked_place(path)
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


def _checked_place(path: str | Path) -> Path:
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
