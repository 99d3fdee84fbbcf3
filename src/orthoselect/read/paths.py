"""Paths as people give them -> the files that are meant, in an order that stays; and their bytes.

A folder stands for all tables in it and below, a pattern with `*`, `?` or `[...]` for what it
matches (`**` for folders below), each sorted by name; a list for its files in the order given.
Folders called ``key=value`` add a column: that is how Hive, Spark and pyarrow write partitions.
A file may be compressed; "-" is standard input.
"""

from __future__ import annotations

import bz2
import difflib
import glob
import gzip
import io
import lzma
import os
import re
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import unquote

from orthoselect.errors import InputError, listing
from orthoselect.matrix.memory import is_out_of_memory

BLOCK_SUFFIXES = {
    ".parquet": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".csv": "csv",
    ".tsv": "tsv",
    ".npy": "npy",
}
TOLD_SUFFIXES = ", ".join(f"`{suffix}`" for suffix in BLOCK_SUFFIXES)
STANDARD_INPUT = "standard input"
_WILD = re.compile(r"[*?\[]")
_WHOLE = re.compile(r"[-+]?\d{1,18}")
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
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


# Which files are meant


class FoundFile(NamedTuple):
    """A file of a table, and what the names of its folders say, ``key=value``."""

    path: Path
    partition: dict[str, str | None]


def is_several(source: Any) -> bool:
    """Whether a source is a list of paths, a folder, or a pattern."""
    if not isinstance(source, (str, Path)):
        return isinstance(source, (list, tuple)) and len(source) > 0
    if source == "-":
        return False
    # os.path: a name too long for the file system is no folder, not an error.
    is_pattern = _WILD.search(str(source)) is not None
    return os.path.isdir(source) or (is_pattern and not os.path.exists(source))


def find_files(source: Any) -> list[FoundFile]:
    """Return the files that a path or a list of paths means, in order; see above."""
    given = list(source) if isinstance(source, (list, tuple)) else [source]
    if given and isinstance(given[0], FoundFile):
        return given
    found: list[FoundFile] = []
    base = _common_folder(given) if len(given) > 1 else None
    for item in given:
        found += _found_by(item, base)
    counts = Counter(os.path.abspath(file.path) for file in found)
    twice = [path for path, count in counts.items() if count > 1]
    if twice:
        raise InputError(
            f"each file should be named once; {listing(twice)} is named more than once, and its "
            f"rows would count as often."
        )
    first = found[0]
    for file in found[1:]:
        differing = set(file.partition) ^ set(first.partition)
        if differing:
            raise InputError(
                f"all files should be in folders of the same keys; {listing(sorted(differing))} is "
                f"a key of `{first.path}` or of `{file.path}`, but not of both."
            )
    return found


def _common_folder(paths: Iterable[str | Path]) -> Path:
    parents = {
        os.path.abspath(path if Path(path).is_dir() else Path(path).parent) for path in paths
    }
    try:
        return Path(os.path.commonpath(parents))
    except ValueError:  # on several drives
        return Path(os.path.sep)


def _found_by(item: str | Path, base: Path | None) -> list[FoundFile]:
    """Return the files that one path means; the folders below `base` may be partitions."""
    path = Path(item)
    if path.is_dir():
        files = _tables_below(path)
        if not files:
            raise InputError(
                f"`{path}` should hold tables; it has no file that ends in one of {TOLD_SUFFIXES}."
            )
        base = base or path
    elif _WILD.search(str(item)) and not path.exists():
        matches = [Path(name) for name in sorted(glob.glob(str(item), recursive=True))]
        # A link to nothing may mean rows that are missing; that is reported when it is opened.
        files = [file for file in matches if file.is_file() or _leads_nowhere(file)]
        if not files:
            raise InputError(
                f"`{item}` should match files; it matches none. Check the folder, and put the "
                f"pattern in quotes."
            )
        wild = next(at for at, part in enumerate(path.parts) if _WILD.search(part))
        base = base or Path(*path.parts[:wild])
    else:
        files, base = [path], base or path.parent
    found = []
    for file in files:
        folders = Path(os.path.relpath(file.parent, base)).parts
        pairs = [part.split("=", 1) for part in folders if "=" in part]
        values = {unquote(key): None if v == _NO_VALUE else unquote(v) for key, v in pairs}
        found.append(FoundFile(file, values))
    return found


def _tables_below(folder: Path) -> list[Path]:
    """Return the tables in a folder; names with a dot or underscore before them are not data."""
    files = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name[0] not in "._"]
        plain = (Path(place, name) for name in names if name[0] not in "._")
        files += [path for path in plain if split_suffix(path)[0] in BLOCK_SUFFIXES]
    return sorted(files)


def partition_values(files: Sequence[FoundFile]) -> dict[str, list[int | str | None]]:
    """Return the value of each key in each file; numbers if all are whole numbers."""
    values: dict[str, list[int | str | None]] = {}
    for key in files[0].partition:
        texts = [file.partition[key] for file in files]
        whole = all(text is None or _WHOLE.fullmatch(text) for text in texts)
        as_numbers = whole and any(text is not None for text in texts)
        values[key] = [int(text) if as_numbers and text is not None else text for text in texts]
    return values


def split_suffix(path: str | Path) -> tuple[str, str]:
    """Return what a file name says of the format, and of how it is compressed.

    Examples
    --------
    >>> split_suffix("table.CSV.gz")
    ('.csv', '.gz')
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    packed = suffixes.pop() if suffixes and suffixes[-1] in _OPENERS else ""
    return (suffixes[-1] if suffixes else ""), packed


def block_format(path: str | Path, given: str | None = None) -> str | None:
    """Return the format that was given, or by the suffix that of files that come in blocks."""
    given = given or BLOCK_SUFFIXES.get(split_suffix(path)[0])
    return "arrow" if given == "feather" else given


# The bytes of a file


@dataclass(frozen=True)
class Content:
    """Bytes that are in memory, or in a file."""

    name: str  # what to call them in an error
    stored: bytes | Path
    packed: str = ""  # how the file is compressed: .gz, .bz2 or .xz

    @property
    def stored_bytes(self) -> int:
        """The bytes that are stored, compressed or not."""
        return len(self.stored) if isinstance(self.stored, bytes) else self.stored.stat().st_size

    def open(self) -> BinaryIO:
        """Return a file to read and to seek in."""
        if isinstance(self.stored, bytes):
            return io.BytesIO(self.stored)
        return open_packed(self.stored, self.packed, "rb")

    def buffer(self) -> Any:
        """Return a pyarrow buffer; an uncompressed file is mapped, and read where it is used."""
        import pyarrow as pa

        if isinstance(self.stored, bytes):
            return pa.py_buffer(self.stored)
        with pa.memory_map(str(self.stored)) as file:
            return file.read_buffer()

    def kind(self) -> str | None:
        """Return the format by the first bytes; None for what may be text."""
        with self.open() as file:
            head = file.read(8)
        return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)


def open_packed(path: Path, packed: str, mode: str) -> Any:
    """Open a file for bytes, through its compression if there is any."""
    return _OPENERS.get(packed, open)(path, mode)


class UnpacksToMoreError(Exception):
    """A compressed file holds more than may be in memory."""


def read_content(source: str | Path, near: Iterable[str], most: int | None = None) -> Content:
    """Find the bytes of a path, or of "-", standard input; `near` are names that may be meant.

    Raises `UnpacksToMoreError` for a compressed file that unpacks to more than `most` bytes.
    """
    if source == "-":
        return Content(STANDARD_INPUT, _unpacked(sys.stdin.buffer.read(), STANDARD_INPUT))
    path = Path(source)
    with opened_file(path, near):
        if path.is_dir():
            raise InputError(f"`{path}` should be a file; it is a folder. Name a file in it.")
        if split_suffix(path)[1] or not path.is_file():
            return Content(str(path), _unpacked(path.read_bytes(), str(path), most))
        path.open("rb").close()
        return Content(str(path), path if path.stat().st_size else b"")  # nothing to map


def _unpacked(stored: bytes, name: str, most: int | None = None) -> bytes:
    packed = next((kind for magic, kind in _PACKED.items() if stored.startswith(magic)), None)
    if packed is None:
        return stored
    pieces, size = [], 0
    try:
        with _OPENERS[packed](io.BytesIO(stored)) as file:
            while piece := file.read(_PIECE if most is not None else -1):
                pieces.append(piece)
                size += len(piece)
                if most is not None and size > most:
                    raise UnpacksToMoreError
    except UnpacksToMoreError:
        raise
    except Exception as error:  # each library has errors of its own for broken data
        if is_out_of_memory(error):
            raise MemoryError from error
        raise InputError(
            f"`{name}` should be a whole {packed} file; it is broken or cut short: {error}"
        ) from error
    return b"".join(pieces)


# What is wrong with a file


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
    link = next((part for part in (path, *path.parents) if _leads_nowhere(part)), None)
    if link is None:
        return f"there is no such file{_did_you_mean(path, near)}"
    end = link
    while end.is_symlink():
        end = end.parent / end.readlink()
    this = "it" if link == path else f"`{link}`"
    return f"{this} is a link to nothing: there is no `{end}`. Fix the link, or name another file."


def _leads_nowhere(path: Path) -> bool:
    """Whether a path is a symbolic link to something that is not there."""
    return os.path.islink(path) and not os.path.exists(path)


def _did_you_mean(path: Path, near: Iterable[str]) -> str:
    folder = path.parent
    names = []
    if folder.is_dir():
        names = [e.name for e in os.scandir(folder) if not _leads_nowhere(Path(e.path))]
    others = list(near) if folder == Path() else []
    close = difflib.get_close_matches(path.name, [*names, *others], n=3)
    if close:
        return f". Did you mean {listing(n if n in others else folder / n for n in close)}?"
    return "." if folder.is_dir() else f", nor a folder `{folder}`."


class WatchedFile:
    """A file that should not change while it is read; its `stored_bytes` are those it had."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with opened_file(path):
            found = os.stat(path)
        self.stored_bytes, self._written = found.st_size, found.st_mtime_ns

    def check_unchanged(self) -> None:
        """Raise if the file is no longer what it was when it was first looked at."""
        was = self.stored_bytes
        try:
            found = os.stat(self.path)
        except OSError:
            how = "it has vanished, or can no longer be read"
        else:
            if (found.st_size, found.st_mtime_ns) == (was, self._written):
                return
            how = "it was written to"
            if found.st_size != was:
                how = f"it had {was} bytes and has {found.st_size} now"
        raise InputError(
            f"`{self.path}` should stay as it is while it is selected from; {how}. Start again "
            f"when nobody writes to it."
        )

    @contextmanager
    def reading(self, kind: str) -> Iterator[None]:
        """Name the file in whatever error a library has for it, unless it has changed."""
        try:
            with naming(str(self.path), kind):
                yield
        except InputError:
            self.check_unchanged()
            raise


class Part(WatchedFile, ABC):
    """One file of a table.

    Attributes
    ----------
    names : list of str
        Of its columns.
    schema : pyarrow.Schema
        Names and types of its columns, of which `batches` gives them.
    n_rows : int
    nbytes : int
        About how many bytes its values take in memory.
    """

    names: list[str]
    schema: Any
    n_rows: int
    nbytes: int

    @abstractmethod
    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        """Yield tables of about `n_rows` rows with these columns, at least one."""
