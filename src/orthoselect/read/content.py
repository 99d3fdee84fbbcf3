"""The bytes of a source: a file, a compressed file, a pipe or standard input."""

from __future__ import annotations

import bz2
import difflib
import gzip
import io
import lzma
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from orthoselect.errors import InputError, listing
from orthoselect.matrix.memory import is_out_of_memory

STANDARD_INPUT = "standard input"
_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_PACKED = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz"}
_PIECE = 1 << 22  # bytes that are unpacked at a time
_MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"FEA1": "feather",
    b"PK\x03\x04": "npz",
}


@dataclass(frozen=True)
class Content:
    """Bytes that are in memory, or in a file.

    Attributes
    ----------
    name : str
        What to call them in an error.
    stored : bytes or Path
    packed : {"", ".gz", ".bz2", ".xz"}
        How the file is compressed.
    """

    name: str
    stored: bytes | Path
    packed: str = ""

    def open(self) -> BinaryIO:
        """Return a file to read and to seek in."""
        if isinstance(self.stored, bytes):
            return io.BytesIO(self.stored)
        return open_packed(self.stored, self.packed, "rb")

    def buffer(self) -> Any:
        """Return a pyarrow buffer; of a file, not compressed, only what is looked at is read."""
        import pyarrow as pa

        if isinstance(self.stored, bytes):
            return pa.py_buffer(self.stored)
        with pa.memory_map(str(self.stored)) as file:
            return file.read_buffer()

    def kind(self) -> str | None:
        """Tell the format from the first bytes; None for what may be text."""
        with self.open() as file:
            head = file.read(8)
        return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)


def split_suffix(path: Path) -> tuple[str, str]:
    """Return what a file name says of the format, and of how it is compressed.

    Examples
    --------
    >>> split_suffix(Path("table.CSV.gz"))
    ('.csv', '.gz')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes.pop() if suffixes and suffixes[-1] in _OPENERS else ""
    return (suffixes[-1] if suffixes else ""), packed


def open_packed(path: Path, packed: str, mode: str) -> Any:
    """Open a file for bytes, through its compression if there is any."""
    return _OPENERS.get(packed, open)(path, mode)


class UnpacksToMoreError(Exception):
    """A compressed file holds more than may be in memory."""


def read_content(source: str | Path, near: Iterable[str], most: int | None = None) -> Content:
    """Find the bytes of a source.

    Parameters
    ----------
    source : str or Path
        A path, or "-" for standard input.
    near : names that might have been meant, besides those of the files there
    most : int, optional
        Bytes that a compressed file may have when it is unpacked.

    Raises
    ------
    UnpacksToMoreError
        If it has more than `most`.
    """
    if source == "-":
        return Content(STANDARD_INPUT, _unpacked(sys.stdin.buffer.read(), STANDARD_INPUT))
    path = Path(source)
    with opened_file(path, near):
        if path.is_dir():
            raise InputError(f"`{path}` should be a file; it is a folder. Name a file in it.")
        packed = split_suffix(path)[1]
        if packed or not path.is_file():
            return Content(str(path), _unpacked(path.read_bytes(), str(path), most))
        path.open("rb").close()
        content: bytes | Path = path if path.stat().st_size else b""  # nothing to map
        return Content(str(path), content)


def standard_input() -> list[int]:
    """Return the number of the open file that is standard input; none if it is no file at all."""
    try:
        return [sys.stdin.fileno()]
    except (AttributeError, OSError, ValueError):  # there is none, or what stands in for it is not
        return []


@contextmanager
def opened_file(path: Path, near: Iterable[str] = ()) -> Iterator[None]:
    """Word what the file system says."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(
            f"there should be a table at `{path}`; {_what_is_missing(path, near)}"
        ) from None
    except PermissionError:
        raise InputError(f"`{path}` should be readable; you have no permission to.") from None
    except OSError as error:
        raise InputError(f"`{path}` could not be read: {error.strerror or error}.") from None
    except ValueError:  # a null in the name
        raise InputError(f"`{path!s}` should be the name of a file; it cannot be one.") from None


@contextmanager
def naming(name: str, kind: str) -> Iterator[None]:
    """Name a file in whatever error a library has for it."""
    try:
        yield
    except InputError:
        raise
    except PermissionError:
        raise InputError(f"`{name}` should be readable; you have no permission to.") from None
    except Exception as error:  # broken files raise whatever their library meets
        if is_out_of_memory(error):
            raise MemoryError from error
        first_line = " ".join(str(error).strip().splitlines()[:1])
        raise InputError(
            f"`{name}` should be a whole {kind} file; it could not be read: {first_line}"
        ) from error


def _what_is_missing(path: Path, near: Iterable[str]) -> str:
    link = next((part for part in (path, *path.parents) if leads_nowhere(part)), None)
    if link is None:
        return f"there is no such file{_did_you_mean(path, near)}"
    end = link
    while end.is_symlink():
        end = end.parent / end.readlink()
    this = "it" if link == path else f"`{link}`"
    return f"{this} is a link to nothing: there is no `{end}`. Mend the link, or name another file."


def leads_nowhere(path: Path) -> bool:
    """Whether a path is a symbolic link to something that is not there."""
    return os.path.islink(path) and not os.path.exists(path)


def _did_you_mean(path: Path, near: Iterable[str]) -> str:
    folder = path.parent
    names = []
    if folder.is_dir():
        names = [e.name for e in os.scandir(folder) if not leads_nowhere(Path(e.path))]
    others = list(near) if folder == Path() else []
    close = difflib.get_close_matches(path.name, [*names, *others], n=3)
    if close:
        return f". Did you mean {listing(n if n in others else folder / n for n in close)}?"
    return "." if folder.is_dir() else f", nor a folder `{folder}`."


def _unpacked(stored: bytes, name: str, most: int | None = None) -> bytes:
    packed = next((kind for magic, kind in _PACKED.items() if stored.startswith(magic)), None)
    if packed is None:
        return stored
    try:
        with _OPENERS[packed](io.BytesIO(stored)) as file:
            return file.read() if most is None else _read_at_most(file, most)
    except UnpacksToMoreError:
        raise
    except Exception as error:  # each library has errors of its own for broken data
        if is_out_of_memory(error):
            raise MemoryError from error
        raise InputError(
            f"`{name}` should be a whole {packed} file; it is broken or cut short: {error}"
        ) from error


def _read_at_most(file: BinaryIO, most: int) -> bytes:
    pieces, size = [], 0
    while piece := file.read(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            raise UnpacksToMoreError
    return b"".join(pieces)


class WatchedFile:
    """A file that should not change while it is read.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with opened_file(path):
            self._state = _state(path)

    def check_unchanged(self) -> None:
        """Raise if the file is no longer what it was when it was first looked at."""
        try:
            state = _state(self.path)
        except OSError:
            raise _changed(self.path, "it has vanished, or can no longer be read") from None
        if state != self._state:
            was, now = self._state[0], state[0]
            sizes = f"it had {was} bytes and has {now} now" if was != now else "it was written to"
            raise _changed(self.path, sizes)

    @contextmanager
    def reading(self, kind: str) -> Iterator[None]:
        """Name the file in whatever error a library has for it, unless it has changed."""
        try:
            with naming(str(self.path), kind):
                yield
        except InputError:
            self.check_unchanged()
            raise


def _state(path: Path) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns


def _changed(path: Path, how: str) -> InputError:
    return InputError(
        f"`{path}` should stay as it is while it is selected from; {how}. Start again when nobody "
        f"writes to it."
    )


class Part(WatchedFile, ABC):
    """One file of a table.

    Attributes
    ----------
    schema : pyarrow.Schema
        Names and types of its columns, of which `batches` gives them.
    n_rows : int
    nbytes : int
        About how many bytes its values take in memory.
    """

    schema: Any
    n_rows: int
    nbytes: int

    @abstractmethod
    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        """Yield tables of these columns, about so many rows each, in the order of the file."""
