"""From what was typed to a table that can be selected from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import TargetColumn
from orthoselect.errors import InputError, MissingValueError, listing
from orthoselect.matrix.passes import name_of_block
from orthoselect.read import (
    Dataset,
    drop_missing,
    find_names,
    read_table,
    read_target,
    sift,
    split_names,
)
from orthoselect.read.columns import columns_of


@dataclass(frozen=True)
class Asked:
    """What was typed about the table; see `options.py` for what each means."""

    source: str | list[str]
    target: Sequence[str] = ()
    categorical: Sequence[str] = ()
    group: Sequence[str] = ()
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    drop: Sequence[str] = ()
    weights: str | None = None
    missing: str = "error"
    delimiter: str | None = None
    encoding: str | None = None
    header: bool = True
    format: str | None = None
    memory: str | None = None
    in_blocks: bool = False


@dataclass(frozen=True)
class Loaded:
    """A table, and what is wanted of its columns.

    Attributes
    ----------
    dataset : Dataset
    target : str, list of str or array
        A column's name, several, or values.
    target_name : str
        What to call it.
    options : dict
        What `select` and `compare` are to know of the columns.
    weights : array, str or None
        Values, or the column of a table in blocks.
    target_columns : list of str
        The columns that the target was taken from.
    reasons : dict
        Why columns are no candidates.
    """

    dataset: Dataset
    target: Any
    target_name: str
    options: dict[str, Any]
    weights: Any
    target_columns: list[str]
    reasons: dict[str, str]


def open_table(asked: Asked) -> Dataset:
    """Read the table, or look at it if it is too large for memory."""
    return read_table(
        asked.source,
        memory=asked.memory,
        format=asked.format,
        delimiter=asked.delimiter,
        encoding=asked.encoding,
        header=None if asked.header else False,
        drop=asked.drop,
        in_blocks=asked.in_blocks,
    )


def load(asked: Asked, dataset: Dataset) -> Loaded:
    """Leave out of a table what cannot be selected from, see to missing values."""
    roles = _Roles(asked, dataset)
    dataset = sift(dataset, roles.target, roles.named)
    # Of blocks, whoever reads them complains: to ask now would take a pass over all columns.
    if not dataset.in_blocks or asked.missing != "error":
        dataset = drop_missing(
            dataset,
            asked.missing,
            roles.target,
            weights=roles.weights,
            exclude=roles.exclude,
        )
    _check_left(dataset, roles)
    _check_responses(dataset, roles.targets)
    options = {
        "categorical_features": roles.categorical or "from_dtype",
        "include": roles.include or None,
        "groups": roles.groups,
        "exclude": roles.never_taken or None,
    }
    weights: Any = roles.weights
    if weights is not None and not dataset.in_blocks:
        weights = _weights(dataset, weights)
    return Loaded(
        dataset,
        dataset.target if roles.target is None else roles.target,
        ", ".join(roles.targets) or dataset.target_name or "target",
        options,
        weights,
        roles.targets,
        {
            **dict.fromkeys(dataset.dropped, "named in `--drop`"),
            **dataset.left_out,
            **roles.reasons,
        },
    )


class _Roles:
    """What each column that was named is to be; a column with two roles raises."""

    def __init__(self, asked: Asked, dataset: Dataset) -> None:
        names = dataset.names
        _check_not_dropped(asked, dataset.dropped)
        self.targets = _targets(asked, dataset)
        self.categorical = find_names(asked.categorical, names, "--categorical")
        self.groups = _groups(asked.group, names)
        self.include = _names_or_groups(asked.include, names, self.groups, "--include")
        self.exclude = find_names(asked.exclude, names, "--exclude")
        weights = find_names([asked.weights] if asked.weights else [], names, "--weights")
        if len(weights) > 1:
            raise InputError(f"`--weights` should name one column; got {listing(weights)}.")
        self.weights = weights[0] if weights else None
        self._unused: dict[str, str] = {}
        if self.targets and isinstance(dataset.target, np.ndarray):
            self._unused = {dataset.target_name or "y": "the source's own target, not asked for"}
        self._check()

    @property
    def target(self) -> str | list[str] | None:
        """The target's column, or all of them; None where its values stand apart."""
        if not self.targets:
            return None
        return self.targets[0] if len(self.targets) == 1 else self.targets

    @property
    def in_groups(self) -> list[str]:
        """The members of all groups."""
        return [name for columns in (self.groups or {}).values() for name in columns]

    @property
    def named(self) -> list[str]:
        """All columns that the user has spoken of."""
        weights = [] if self.weights is None else [self.weights]
        named = [*self.categorical, *self.include, *self.in_groups, *self.exclude]
        return [*named, *weights, *self.targets]

    @property
    def never_taken(self) -> list[str]:
        """The columns that are no candidates, targets apart."""
        weights = [] if self.weights is None else [self.weights]
        return [*self.exclude, *weights]

    @property
    def reasons(self) -> dict[str, str]:
        """Why columns are no candidates that the user has spoken of."""
        reasons = dict(self._unused)
        reasons.update(dict.fromkeys(self.exclude, "named in `--exclude`"))
        return reasons if self.weights is None else {**reasons, self.weights: "the row weights"}

    def _check(self) -> None:
        roles = {
            "--target": self.targets,
            "--weights": [] if self.weights is None else [self.weights],
            "--exclude": self.exclude,
            "--include": self.include,
        }
        seen: dict[str, str] = {}
        for role, columns in roles.items():
            for name in columns:
                if name in seen:
                    _refuse(name, seen[name], role)
                seen[name] = role
        for name in self.in_groups:
            if seen.get(name) in ("--target", "--weights"):
                _refuse(name, seen[name], "--group")


def _refuse(name: str, one: str, other: str) -> None:
    raise InputError(
        f"a column should have one role; `{name}` is named in `{one}` and in `{other}`."
    )


def _groups(given: Sequence[str], names: Sequence[str]) -> dict[str, list[str]] | None:
    """Return groups from ``name=column,column``.

    Examples
    --------
    >>> _groups(["left=a,b", "right=x*"], ["a", "b", "x1", "x2"])
    {'left': ['a', 'b'], 'right': ['x1', 'x2']}
    """
    groups: dict[str, list[str]] = {}
    for item in given:
        name, equals, columns = item.partition("=")
        if not (name and equals and columns):
            raise InputError(
                f"`--group` should be NAME=COLUMN,COLUMN,...; got {item!r}. "
                f"For example `--group size=width,height`."
            )
        if name in groups:
            raise InputError(f"`--group` should name each group once; `{name}` is repeated.")
        groups[name] = find_names([columns], names, "--group")
    return groups or None


def _names_or_groups(
    given: Sequence[str], names: Sequence[str], groups: dict[str, list[str]] | None, option: str
) -> list[str]:
    return find_names(given, [*names, *(groups or {})], option)


def _targets(asked: Asked, dataset: Dataset) -> list[str]:
    """Return the names of the target's columns; none where its values stand apart."""
    if asked.target:
        if dataset.target_name is not None and list(asked.target) == [dataset.target_name]:
            return [dataset.target] if isinstance(dataset.target, str) else []
        dataset.check_together([part for item in asked.target for part in split_names(item)])
        return find_names(asked.target, dataset.names, "--target")
    if dataset.target is None:
        raise InputError(
            f"`--target` should name the column to explain; `{dataset.name}` does not tell which "
            f"one that is. Its columns are {listing(dataset.names)}."
        )
    return [dataset.target] if isinstance(dataset.target, str) else []


def _check_left(dataset: Dataset, roles: _Roles) -> None:
    """Raise where a column that is needed was left out for its gaps."""
    for name in [*roles.include, *roles.in_groups]:
        if name in dataset.left_out:
            raise InputError(
                f"a feature that is included or in a group should stay; `{name}` was left out: "
                f"{dataset.left_out[name]}. Use `--missing drop-rows`."
            )


def _check_not_dropped(asked: Asked, dropped: Sequence[str]) -> None:
    given = {
        "--target": asked.target,
        "--categorical": asked.categorical,
        "--include": asked.include,
        "--exclude": asked.exclude,
        "--weights": [asked.weights] if asked.weights else [],
    }
    for option, names in given.items():
        for name in names:
            if name in dropped:
                _refuse(name, option, "--drop")


def _weights(dataset: Dataset, name: str) -> NDArray:
    values = np.asarray(dataset.column(name))
    if values.dtype.kind not in "fiub":
        raise InputError(
            f"`--weights` should be a column of numbers; `{name}` holds text, for example "
            f"{str(values[0])!r}."
        )
    return values


def _check_responses(dataset: Dataset, targets: list[str]) -> None:
    """Raise for a target that is the same in all rows: the library would only warn."""
    if not targets:
        _check_varies([("", dataset.target)], dataset.target_name or "target")
    for name in targets:
        _check_varies(_parts_of(dataset, name), name)


def _parts_of(dataset: Dataset, name: str) -> Iterator[tuple[str, Any]]:
    """Yield a column's values, and where they are if the table comes in blocks."""
    if not dataset.in_blocks:
        yield "", dataset.column(name)
        return
    start = 0
    for number, block in enumerate(dataset.data.blocks([dataset.position(name)])):
        values = columns_of(block).column(0)
        yield name_of_block(number, slice(start, start + len(values))), values
        start += len(values)


def _read_values(values: Any, name: str, place: str) -> list[TargetColumn]:
    called = f"the target `{name}`"
    try:
        return read_target(values, len(values), called)
    except MissingValueError as error:
        told = MissingValueError(called, error.count, "Use `--missing drop-rows`.")
        raise (told.at(place) if place else told) from None


def _check_varies(parts: Iterable[tuple[str, Any]], name: str) -> None:
    firsts: dict[int, Any] = {}
    constant: set[int] = set()
    for place, values in parts:
        columns = _read_values(values, name, place)
        if not firsts:
            firsts = {at: column.values[0] for at, column in enumerate(columns)}
            constant = set(firsts)
        for at in sorted(constant):
            if any(value != firsts[at] for value in columns[at].values):
                constant.remove(at)
        if not constant:
            return
    held = firsts[min(constant)]
    held = held.item() if hasattr(held, "item") else held  # a number, not NumPy's name for it
    raise InputError(
        f"the target `{name}` should have at least two classes or unlike numbers; every row has "
        f"{held!r}. Choose another `--target`, or more rows."
    )
