"""Columns as people name them, and names as a table should have them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from orthoselect.encode import NumberedNames
from orthoselect.errors import InputError, UnknownColumnError, listing


def find_names(given: Iterable[str], names: Sequence[str], option: str) -> list[str]:
    """Return the columns that are meant, each once, in the order given.

    Parameters
    ----------
    given : iterable of str
        Each a column's name, a pattern with ``*`` or ``?``, or several of either with commas
        between them. A name that holds a comma or a star stands for itself.
    names : sequence of str
        The columns of the table.
    option : str
        What to call it in an error.

    Examples
    --------
    >>> find_names(["b,a", "x*"], ["a", "b", "x1", "x2"], "--exclude")
    ['b', 'a', 'x1', 'x2']
    """
    known = dict.fromkeys(names)
    found: dict[str, None] = {}
    unknown: list[str] = []
    for item in given:
        parts = [item] if item in known else split_names(item)
        for part in parts:
            matches = [part] if part in known else _matching(part, names)
            found.update(dict.fromkeys(matches))
            unknown += [] if matches else [part]
    if unknown:
        raise UnknownColumnError(option, unknown, names)
    return list(found)


def split_names(item: str) -> list[str]:
    """Return the names between commas; nothing between two of them is none.

    Examples
    --------
    >>> split_names("a, b,"), split_names("")
    (['a', 'b'], [''])
    """
    return [part.strip() for part in item.split(",") if part.strip()] or [item]


def _matching(pattern: str, names: Sequence[str]) -> list[str]:
    if not any(sign in pattern for sign in "*?"):
        return []
    return [name for name in names if fnmatchcase(name, pattern)]


def response_columns(target: Any, names: Sequence[str]) -> list[str]:
    """Return the names of the columns that are the response; none where its values are given.

    A list of texts, each once, of which one at least is the name of a column, is taken for names:
    no classes are so.

    Examples
    --------
    >>> response_columns("a", ["a", "b"]), response_columns(["b", "a"], ["a", "b"])
    (['a'], ['b', 'a'])
    >>> response_columns(["yes", "no", "yes"], ["a", "b"])
    []
    """
    if isinstance(target, str):
        return [target]
    if not isinstance(target, (list, tuple)) or not all(isinstance(one, str) for one in target):
        return []
    distinct = set(target)
    is_names = len(distinct) == len(target) and not distinct.isdisjoint(names)
    return list(target) if is_names else []


def check_names(path: Path, names: Sequence[str]) -> None:
    """Raise where a file has two columns of one name."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(
            f"`{path}` should have a name of its own for each column; {listing(twice)} occurs more "
            f"than once. Rename the columns."
        )


def check_same_names(first: Path, names: Sequence[str], path: Path, found: Sequence[str]) -> None:
    """Raise unless a file has the columns that the first has."""
    for has, lacks, one, other in ((first, path, names, found), (path, first, found, names)):
        known = set(other)
        more = [name for name in one if name not in known]
        if more:
            raise InputError(
                f"all files should have the same columns; `{has}` has {listing(more)}, `{lacks}` "
                f"has not. Name the files that belong together, or write them alike."
            )


def check_block_names(expected: Sequence[str], found: Sequence[str], number: int) -> None:
    """Raise unless a block has the columns expected; a block without names may call them x0."""
    if len(found) != len(expected):
        raise InputError(
            f"all blocks should have the same columns; block {number} has {len(found)}, where "
            f"{len(expected)} were expected: {listing(expected)}."
        )
    if isinstance(found, NumberedNames):
        return
    for a, b in zip(expected, found):
        if a != b:
            raise InputError(
                f"all blocks should have the same columns in the same order; block {number} has "
                f"`{b}` where `{a}` was expected."
            )
