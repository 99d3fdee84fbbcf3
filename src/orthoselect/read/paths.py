"""Paths as people give them -> the files that are meant, in an order that stays.

A folder stands for all tables in it and below, a pattern with `*`, `?` or `[...]` for what it
matches (`**` for folders below), each sorted by name; a list for its files in the order given.
Folders called ``key=value`` add a column: that is how Hive, Spark and pyarrow write partitions.
"""

from __future__ import annotations

import glob
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from orthoselect.errors import InputError, listing
from orthoselect.read.content import leads_nowhere, split_suffix

BLOCK_SUFFIXES = {
    ".parquet": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".csv": "csv",
    ".tsv": "tsv",
    ".npy": "npy",
}
_WILD = re.compile(r"[*?\[]")
_WHOLE = re.compile(r"[-+]?\d{1,18}")
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class FoundFile:
    """A file of a table.

    Attributes
    ----------
    path : Path
    partition : dict of str to str or None
        What the names of its folders say, ``key=value``.
    """

    path: Path
    partition: dict[str, str | None]


def is_several(source: Any) -> bool:
    """Whether a source is a list of paths, a folder, or a pattern.

    Examples
    --------
    >>> is_several(["a.csv", "b.csv"]), is_several("logs/*.csv"), is_several("a.csv")
    (True, True, False)
    """
    if is_list_of_paths(source):
        return True
    if not isinstance(source, (str, Path)) or source in ("", "-"):
        return False
    # os.path: a name too long for the file system is no folder, not an error.
    is_there = os.path.exists(source)
    return os.path.isdir(source) or (_is_pattern(source) and not is_there)


def is_list_of_paths(source: Any) -> bool:
    """Whether a source is a list or tuple of nothing but paths."""
    # A list of lists is a table; a list of strings could be none.
    is_list = isinstance(source, (list, tuple)) and len(source) > 0
    return is_list and all(isinstance(item, (str, Path)) for item in source)


def _is_pattern(source: str | Path) -> bool:
    return _WILD.search(str(source)) is not None


def find_files(source: Any) -> list[FoundFile]:
    """Return the files that are meant, in order; see above.

    Parameters
    ----------
    source : str, Path, or list of these
    """
    given = list(source) if is_list_of_paths(source) else [source]
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
    _check_partitions(found)
    return found


def _found_by(item: str | Path, base: Path | None) -> list[FoundFile]:
    path = Path(item)
    if path.is_dir():
        files = _tables_below(path)
        if not files:
            raise InputError(
                f"`{path}` should hold tables; it has no file that ends in one of "
                f"{listing_of_suffixes()}."
            )
        return [_found(file, base or path) for file in files]
    if _is_pattern(item) and not path.exists():
        matches = [Path(name) for name in sorted(glob.glob(str(item), recursive=True))]
        # A link to nothing may stand for rows that are missed; who opens it says so.
        files = [file for file in matches if file.is_file() or leads_nowhere(file)]
        if not files:
            raise InputError(
                f"`{item}` should match files; it matches none. Look whether the folder is right, "
                f"and whether the pattern stands in quotes."
            )
        return [_found(file, base or _fixed_part(item)) for file in files]
    return [_found(path, base or path.parent)]


def _tables_below(folder: Path) -> list[Path]:
    """Return the tables in a folder; names with a dot or underscore before them are not data."""
    files = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name[0] not in "._"]
        plain = (Path(place, name) for name in names if name[0] not in "._")
        files += [path for path in plain if split_suffix(path)[0] in BLOCK_SUFFIXES]
    return sorted(files)


def _fixed_part(pattern: str | Path) -> Path:
    """Return the folders before the first that has a wildcard.

    Examples
    --------
    >>> _fixed_part("data/year=20*/part-?.parquet").as_posix()
    'data'
    """
    parts = Path(pattern).parts
    fixed = next(at for at, part in enumerate(parts) if _WILD.search(part))
    return Path(*parts[:fixed])


def _common_folder(paths: Iterable[str | Path]) -> Path:
    parents = {
        os.path.abspath(path if Path(path).is_dir() else Path(path).parent) for path in paths
    }
    try:
        return Path(os.path.commonpath(parents))
    except ValueError:  # on several drives
        return Path(os.path.sep)


def _found(path: Path, base: Path) -> FoundFile:
    folders = Path(os.path.relpath(path.parent, base)).parts
    pairs = [part.split("=", 1) for part in folders if "=" in part]
    return FoundFile(path, {unquote(key): _value(value) for key, value in pairs})


def _value(text: str) -> str | None:
    return None if text == _NO_VALUE else unquote(text)


def _check_partitions(files: Sequence[FoundFile]) -> None:
    first = files[0]
    for file in files[1:]:
        if set(file.partition) != set(first.partition):
            differing = set(file.partition) ^ set(first.partition)
            raise InputError(
                f"all files should be in folders of the same keys; {listing(sorted(differing))} is "
                f"a key of `{first.path}` or of `{file.path}`, but not of both."
            )


def partition_values(files: Sequence[FoundFile]) -> dict[str, list[int | str | None]]:
    """Return the value of each key in each file; numbers if all are whole numbers.

    Examples
    --------
    >>> files = [FoundFile(Path(f"{year}"), {"year": year}) for year in ("2023", "2024")]
    >>> partition_values(files)
    {'year': [2023, 2024]}
    """
    values: dict[str, list[int | str | None]] = {}
    for key in files[0].partition:
        texts = [file.partition[key] for file in files]
        whole = all(text is None or _WHOLE.fullmatch(text) for text in texts)
        as_numbers = whole and any(text is not None for text in texts)
        values[key] = [int(text) if as_numbers and text is not None else text for text in texts]
    return values


def block_format(path: Path) -> tuple[str, str]:
    """Return the format by the suffix of a file, and how it is compressed."""
    suffix, packed = split_suffix(path)
    if suffix not in BLOCK_SUFFIXES:
        raise InputError(
            f"`{path}` should end in one of {listing_of_suffixes()}, to be read with other files "
            f"or in blocks of rows."
        )
    return BLOCK_SUFFIXES[suffix], packed


def listing_of_suffixes() -> str:
    """Return the suffixes of what can be read in blocks, for an error."""
    return ", ".join(f"`{suffix}`" for suffix in BLOCK_SUFFIXES)
