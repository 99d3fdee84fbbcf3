"""Whether statistics can be added up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orthoselect.errors import InputError, listing
from orthoselect.gram.layout import Layout, ResponseColumn


def check_settings(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> None:
    """Raise unless statistics without rows were to be made as the others are."""
    for name in mine:
        if repr(mine[name]) != repr(theirs[name]):
            raise InputError(
                f"statistics to be added should be made alike; `{name}` is {mine[name]!r} on the "
                f"left and {theirs[name]!r} on the right."
            )


def check_layouts(mine: Layout, theirs: Layout) -> None:
    """Raise, naming the first difference, unless two layouts have the same columns."""
    _check_columns(mine.names, theirs.names)
    for what, left, right in _differences(mine, theirs):
        if left != right:
            raise InputError(
                f"statistics to be added should have the same columns and responses; {what} is "
                f"{left} on the left and {right} on the right. Make both from tables of the same "
                f"form, with the same settings."
            )


def _check_columns(mine: Sequence[str], theirs: Sequence[str]) -> None:
    here, there = _others(mine, theirs), _others(theirs, mine)
    if here or there:
        sides = (("left", here), ("right", there))
        found = [f"{listing(names)} on the {side} only" for side, names in sides if names]
        raise InputError(
            f"statistics to be added should have the same columns; there is {', and '.join(found)}."
            f" Rename columns, or drop them, before the statistics are made."
        )
    for c, (a, b) in enumerate(zip(mine, theirs)):
        if a != b:
            raise InputError(
                f"statistics to be added should have the same columns in the same order; column "
                f"{c} is `{a}` on the left and `{b}` on the right. Put them into one order before "
                f"the statistics are made."
            )


def _others(names: Sequence[str], than: Sequence[str]) -> list[str]:
    known = set(than)
    return [name for name in names if name not in known]


def _differences(mine: Layout, theirs: Layout) -> Iterator[tuple[str, Any, Any]]:
    for c, name in enumerate(mine.names):
        yield f"column `{name}`", _kind_of(mine, c), _kind_of(theirs, c)
    yield "the number of responses", len(mine.responses), len(theirs.responses)
    for r, (x, y) in enumerate(zip(mine.responses, theirs.responses)):
        yield f"response {r}", f"`{x.name}`", f"`{y.name}`"
        yield f"response `{x.name}`", _kind_of_response(x), _kind_of_response(y)


def _kind_of(layout: Layout, c: int) -> str:
    if c in layout.taken:
        return "the response"
    if c in layout.weighting:
        return "the row weights"
    if c in layout.excluded:
        return "excluded"
    return "labels" if c in layout.labeled else "numbers"


def _kind_of_response(response: ResponseColumn) -> str:
    if response.fixed and response.classes is not None:
        return f"one of the given classes {listing(response.classes.levels())}"
    if not response.is_number:
        return "labels"
    return "numbers" if response.classes is None else "classes that are numbers"
