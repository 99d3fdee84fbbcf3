"""What users say of columns, as names, indices, masks and groups -> positions in the table."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from orthoselect.encode.labels import is_gap
from orthoselect.errors import InputError, ShapeError, UnknownColumnError, listing
from orthoselect.read import response_columns

ColumnSpec = Any  # names, indices or a boolean mask; one of them may stand alone


def find_columns(
    spec: ColumnSpec,
    names: Sequence[str],
    argument: str,
    groups: Mapping[str, Sequence[int]] = {},
    places: Mapping[str, int] | None = None,
) -> list[int]:
    """Turn names, indices or a mask into column indices, in the order given; None is no column.

    `argument` is what to call it in an error; `groups` are names that stand for several columns;
    `places` says where each name stands, for those who ask often.

    Examples
    --------
    >>> find_columns(["b", 0, -1], ["a", "b", "c"], "include")
    [1, 0, 2]
    >>> find_columns([True, False, True], ["a", "b", "c"], "include")
    [0, 2]
    """
    if spec is None:
        return []
    items = _items(spec, argument)
    if items and all(isinstance(item, (bool, np.bool_)) for item in items):
        if len(items) != len(names):
            raise ShapeError(
                f"`{argument}` as a mask should have one entry for each of the {len(names)} "
                f"columns; it has {len(items)}."
            )
        return np.flatnonzero(items).tolist()
    place = places or {}
    if places is None and not all(map(is_whole, items)):
        place = {name: at for at, name in enumerate(names)}
    found, unknown = [], []
    for item in items:
        if is_whole(item) and -len(names) <= int(item) < len(names):
            found.append(int(item) % len(names))
        elif isinstance(item, str) and item in place:
            found.append(place[item])
        elif isinstance(item, str) and item in groups:
            found.extend(groups[item])
        else:
            unknown.append(item)
    out_of_range = [item for item in unknown if is_whole(item)]
    if out_of_range:
        raise InputError(
            f"integers in `{argument}` should be positions, from 0 to {len(names) - 1} (or "
            f"negative, from the end); got {listing(out_of_range)}."
        )
    if unknown:
        raise UnknownColumnError(argument, unknown, [*names, *groups])
    return found


def _items(spec: Any, argument: str) -> list[Any]:
    if isinstance(spec, (str, numbers.Integral)):
        return [spec]
    try:
        return list(spec)
    except TypeError:
        raise InputError(
            f"`{argument}` should be a list of names or indices, or a mask; got {spec!r}."
        ) from None


def is_whole(value: Any) -> bool:
    """Whether it is a whole number, and no truth value."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def find_groups(groups: Any, names: Sequence[str]) -> dict[str, list[int]]:
    """Turn a mapping of names to columns, or a label per column, into disjoint groups."""
    if groups is None:
        return {}
    if isinstance(groups, Mapping):
        places = {name: at for at, name in enumerate(names)}
        found = {
            str(name): find_columns(spec, names, f"groups[{name!r}]", places=places)
            for name, spec in groups.items()
        }
        if len(found) < len(groups):
            raise InputError(f"`groups` should have different names; got {listing(groups)}.")
    else:
        found = _groups_from_labels(_items(groups, "groups"), names)
    taken = set(names)
    clashing = [
        name
        for name, columns in found.items()
        if name in taken and name not in {names[column] for column in columns}
    ]
    if clashing:
        raise InputError(
            f"groups should have names of their own; {listing(clashing)} is another column's. "
            f"Rename the group."
        )
    empty = [name for name, columns in found.items() if not columns]
    if empty:
        raise InputError(f"every group should have columns; {listing(empty)} has none.")
    counts = Counter(column for columns in found.values() for column in columns)
    twice = [names[column] for column, count in counts.items() if count > 1]
    if twice:
        raise InputError(
            f"a column should be in one group at most; {listing(twice)} is in several "
            f"(or twice in one)."
        )
    return found


def _groups_from_labels(labels: list[Any], names: Sequence[str]) -> dict[str, list[int]]:
    if len(labels) != len(names):
        raise ShapeError(
            f"`groups` should be a mapping, or one label for each of the {len(names)} columns; "
            f"it has {len(labels)} labels."
        )
    found: dict[str, list[int]] = {}
    for column, label in enumerate(labels):
        if not isinstance(label, Hashable):
            raise InputError(f"`groups` should hold names or numbers as labels; got {label!r}.")
        if not is_gap(label):  # a column without a label stands on its own
            found.setdefault(str(label), []).append(column)
    return found


def find_asked(
    names: Sequence[str],
    target: Any,
    groups: Any,
    include: ColumnSpec,
    exclude: ColumnSpec,
    sample_weight: Any,
) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Return the columns of each role that users speak of, and those of each group."""
    grouped = find_groups(groups, names)
    weights = sample_weight if isinstance(sample_weight, str) else None
    asked = {
        "target": find_columns(response_columns(target, names), names, "target"),
        "sample_weight": find_columns(weights, names, "sample_weight"),
        "exclude": find_columns(exclude, names, "exclude", grouped),
        "include": find_columns(include, names, "include", grouped),
    }
    return asked, grouped


def check_one_role(
    roles: Mapping[str, Iterable[int]],
    names: Sequence[str],
    groups: Mapping[str, Sequence[int]] = {},
) -> None:
    """Raise where a column has two roles, or is included twice.

    `roles` are the columns of "target", "sample_weight", "exclude" and "include". Members of groups
    may be included and excluded, but are features.
    """
    roles_of: dict[int, str] = {}
    for role, columns in roles.items():
        words = "the target" if role == "target" else f"in `{role}`"
        for column in columns:
            other = roles_of.setdefault(column, words)
            if other != words:
                raise _two_roles(names[column], other, words)
    include = list(roles.get("include", ()))
    twice = [names[column] for column, count in Counter(include).items() if count > 1]
    if twice:
        raise InputError(f"`include` should name each column once; {listing(twice)} is repeated.")
    apart = {*roles.get("target", ()), *roles.get("sample_weight", ())}
    for group, members in groups.items():
        for column in members:
            if column in apart:
                raise _two_roles(names[column], roles_of[column], f"in the group `{group}`")


def _two_roles(name: str, one: str, other: str) -> InputError:
    return InputError(f"a column should have one role; `{name}` is {one} and {other}.")
