"""Files of results that are damaged: told in one line, and kept under another name."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from orthoselect.errors import InputError, warn
from orthoselect.output import replacing


class DamagedResultsWarning(UserWarning):
    """A file of results is not as a run wrote it; the message says where the damaged part is."""


class Damaged(Exception):  # noqa: N818 - a state of a file, which runs and reports go on from
    """A file is of no use as a whole; the message says what it is instead."""


def read(path: Path) -> bytes | None:
    """Return what is in a file, None if there is no file.

    Raises
    ------
    Damaged
        If it is something else than a file, or cannot be read.
    """
    if not os.path.lexists(path):
        return None
    if path.exists() and not path.is_file():  # reading a pipe would wait for ever
        raise Damaged("it is a folder" if path.is_dir() else "it is a pipe or device, no file")
    try:
        return path.read_bytes()
    except OSError as error:
        raise Damaged(f"it cannot be read: {error.strerror}") from None


def tell(lines: Iterable[str]) -> None:
    """Warn of each."""
    for line in lines:
        warn(DamagedResultsWarning(line), str(Path(__file__).parent))


def set_aside(path: Path) -> Path:
    """Give whatever stands at a path another name; return that."""
    aside = _free_name(path)
    try:
        os.rename(path, aside)
    except OSError as error:
        raise InputError(
            f"`{path}` should be a file of the study; it is damaged, and cannot be moved to "
            f"`{aside}`: {error.strerror}. Move it, or choose another output folder."
        ) from None
    return aside


def keep_aside(path: Path, part: bytes) -> Path:
    """Write the damaged part of a file beside it, on the disk when this returns; return where."""
    aside = _free_name(path)
    with replacing(aside) as temporary, temporary.open("wb") as file:
        file.write(part)
        file.flush()
        os.fsync(file.fileno())
    return aside


def _free_name(path: Path) -> Path:
    aside, count = path.with_name(f"{path.name}.damaged"), 1
    while os.path.lexists(aside):
        count += 1
        aside = path.with_name(f"{path.name}.damaged-{count}")
    return aside
