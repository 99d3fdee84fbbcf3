"""What each column of a table is for, settled once; and the table and response, read.

`select`, the selectors, `compare`, `GramStatistics`, reports and the command all come through here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from orthoselect.arguments import (
    ColumnSpec,
    check_one_role,
    check_some_left,
    find_columns,
    find_groups,
)
from orthoselect.encode import NumberedNames, Response, Table
from orthoselect.errors import InputError, listing
from orthoselect.matrix.rows import Rows
from orthoselect.read import (
    Dataset,
    Source,
    drop_missing,
    names_in_errors,
    open_named,
    open_source,
    response_columns,
    sift,
    why_not_whole,
)


@dataclass(frozen=True)
class Problem:
    """What to select from, and what for. Columns of the table are given by positions."""

    table: Table  # all columns but those that are skipped
    response: Response
    weights: Rows | None  # spread where the response is
    groups: Mapping[str, Sequence[int]]
    include: list[int]  # columns to be taken first
    exclude: list[int]  # columns never to be taken
    skip: set[int]  # those, and the columns of the response and of the weights
    # Options that were settled before anything was asked; a path reports them as its own.
    settled: Mapping[str, Any] = field(default_factory=dict)

    def names_of(self, columns: Sequence[int]) -> list[str]:
        """Return the names of columns of the table."""
        return [self.table.names[column] for column in columns]


@dataclass(frozen=True)
class Roles:
    """A table that was looked at, and what each of its columns is for."""

    data: Any  # what was given, without columns that are no features
    source: Source  # the same, for reading
    target: Any  # the response: the names of its columns, or its values
    target_columns: list[int]  # its columns, if the table has them
    weight_column: int | None  # that of the row weights, if the table has it
    task: str
    groups: Mapping[str, list[int]]
    include: list[int]
    exclude: list[int]
    skip: set[int]  # columns that are no candidates: those excluded, the response and the weights
    categorical: set[int]  # columns that hold labels


def holds_no_rows(data: Any) -> bool:
    """Whether data poses problems by itself, and has no rows to show: statistics of a table."""
    return callable(getattr(type(data), "open_problem", None))


def check_has_rows(data: Any, who: str) -> None:
    """Raise for what holds no rows."""
    if holds_no_rows(data):
        raise InputError(
            f"{who} should have the rows of a table; got {type(data).__name__}, which holds means "
            f"and inner products of its columns only. Pass the table."
        )


def find_roles(
    data: Any,
    target: Any,
    *,
    task: str = "auto",
    categorical_features: ColumnSpec = "from_dtype",
    groups: Any = None,
    include: ColumnSpec = None,
    exclude: ColumnSpec = None,
    sample_weight: Any = None,
    fewest_rows: int = 2,
) -> Roles:
    """Look at a table of any kind, and settle what each column is for; arguments as of `select`.

    A table in memory has to have at least `fewest_rows`.
    """
    source = open_source(data, fewest_rows)
    names, unfit = source.names, []
    if isinstance(data, Dataset):
        task, target = data.find_task(task, target), data.find_target(target)
    asked, grouped = find_asked(names, target, groups, include, exclude, sample_weight)
    if isinstance(data, Dataset):
        if data.unsifted:
            unsifted, known = data, data.bytes_looked_at
            data = sift(data, target, _spoken_of(names, asked, grouped, categorical_features))
            source.count_bytes_read(unsifted.bytes_looked_at - known)
        unfit = find_columns(list(data.left_out), names, "exclude")
    apart = {*asked["target"], *asked["sample_weight"]}
    left_out = list(dict.fromkeys([*asked["exclude"], *unfit]))
    skip = {*left_out, *apart}
    # Unlike in a command, the response may be named in `exclude`: a rule for several may do so.
    asked["exclude"] = [column for column in left_out if column not in apart]
    check_one_role(asked, names, grouped if isinstance(groups, Mapping) else {})
    return Roles(
        data=data,
        source=source,
        target=target,
        target_columns=asked["target"],
        weight_column=asked["sample_weight"][0] if asked["sample_weight"] else None,
        task=task,
        groups=grouped,
        include=asked["include"],
        exclude=left_out,
        skip=skip,
        categorical=_categorical(source, categorical_features, skip, asked["target"]),
    )


def clean(
    dataset: Dataset,
    target: Any,
    missing: str = "error",
    *,
    categorical_features: ColumnSpec = "from_dtype",
    groups: Mapping[str, Any] | None = None,
    include: ColumnSpec = None,
    exclude: ColumnSpec = None,
    sample_weight: str | None = None,
) -> Dataset:
    """Leave out of a file what cannot be selected from, and see to its missing values.

    `missing` is as for `drop_missing`, the others as for `select`, which takes what is returned;
    each column should have one role.
    """
    target, names = dataset.find_target(target), dataset.names
    asked, grouped = find_asked(names, target, groups, include, exclude, sample_weight)
    check_one_role(asked, names, grouped)
    dataset = sift(dataset, target, _spoken_of(names, asked, grouped, categorical_features))
    # Of blocks, whoever reads them complains: to ask now would take a pass over all columns.
    if missing != "error" or why_not_whole(dataset) is None:
        excluded = [names[column] for column in asked["exclude"]]
        dataset = drop_missing(dataset, missing, target, weights=sample_weight, exclude=excluded)
    for column in [*asked["include"], *chain.from_iterable(grouped.values())]:
        if names[column] in dataset.left_out:
            raise InputError(
                f"a feature that is included or in a group should stay; `{names[column]}` was left "
                f"out: {dataset.left_out[names[column]]}. Use `missing='drop-rows'`."
            )
    return dataset


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


def _spoken_of(
    names: Sequence[str],
    asked: Mapping[str, Sequence[int]],
    groups: Mapping[str, Sequence[int]],
    categorical: ColumnSpec,
) -> list[str]:
    """Return the columns that have a role, which are features whatever they hold."""
    spec = None if _is_word(categorical) else categorical
    columns = [find_columns(spec, names, "categorical_features"), *asked.values(), *groups.values()]
    return [names[column] for column in chain.from_iterable(columns)]


def open_problem(
    data: Any,
    target: Any,
    *,
    response_encoding: str = "dummy",
    sample_weight: Any = None,
    keep_whole_weights: bool = False,
    **asked: Any,
) -> Problem:
    """Read a table and a response of any kind; the arguments are those of `select`.

    `keep_whole_weights` says whether weights that are whole numbers stay as they are.
    """
    roles = find_roles(data, target, sample_weight=sample_weight, **asked)
    source, column = roles.source, roles.weight_column
    kept = names_in_errors(roles.target_columns, source.names)
    if column is not None:
        kept[column] = "`sample_weight`"
    table = source.read(roles.categorical, roles.skip, kept)
    weights = source.weights(sample_weight, column, keep_whole=keep_whole_weights)
    response, weights = source.response(
        roles.target, roles.target_columns, roles.task, response_encoding, weights
    )
    return Problem(table, response, weights, roles.groups, roles.include, roles.exclude, roles.skip)


@dataclass(frozen=True)
class Fitted:
    """A table whose columns have names, with those of the response and the weights last.

    The place of a feature is then that among the features alone, as `fit` counts them.
    """

    X: Any  # Dataset, Source or DaskTable
    y: Any  # as for `select`: names of columns of X, or values
    sample_weight: Any  # likewise
    names: Sequence[str]  # the features; columns of X after these are the response and the weights
    # What the features are called where columns are named; not x0, x1, ... if some are taken out.
    called: Sequence[str]

    @staticmethod
    def of(X: Any, y: Any, sample_weight: Any) -> Fitted:
        """Look at a table, once, and set the response and the weights apart if it has them."""
        X = open_named(X)
        y = X.find_target(y) if isinstance(X, Dataset) else y
        names = X.names
        targets = find_columns(response_columns(y, names), names, "y")
        named = sample_weight if isinstance(sample_weight, str) else None
        weights = find_columns(named, names, "sample_weight")
        check_one_role({"target": targets, "sample_weight": weights}, names)
        y = y if targets else as_values(y)
        last = [*targets, *weights]
        apart = set(last)
        if not apart:
            return Fitted(X, y, sample_weight, names, names)
        rest = [c for c in range(len(names)) if c not in apart]
        check_some_left(len(rest))
        called = [names[c] for c in rest]
        is_numbered = isinstance(names, NumberedNames)
        names = NumberedNames(len(rest)) if is_numbered else called
        return Fitted(X.reordered([*rest, *last]), y, sample_weight, names, called)

    def placed(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is said of columns by their places, which are those among the features."""
        groups = find_groups(columns["groups"], self.called)
        placed: dict[str, Any] = {"groups": groups or None}
        for argument in ("categorical_features", "include", "exclude"):
            spec = columns[argument]
            if spec is not None and not (argument == "categorical_features" and _is_word(spec)):
                within = {} if argument == "categorical_features" else groups
                spec = find_columns(spec, self.called, argument, within)
            placed[argument] = spec
        return placed


def as_values(y: Any) -> Any:
    """Keep text from being taken for columns' names, where only values are offered."""
    if isinstance(y, str):
        return np.array([y])
    has_text = isinstance(y, (list, tuple)) and any(isinstance(value, str) for value in y)
    return np.array(y, dtype=object) if has_text else y


def _is_word(spec: Any) -> bool:
    """Whether a word is said of all columns, and none is named."""
    return isinstance(spec, str) and spec in ("from_dtype", "all")


def _categorical(
    source: Source, spec: ColumnSpec, skip: set[int], targets: Sequence[int]
) -> set[int]:
    if spec is None:
        return set()
    if isinstance(spec, str) and spec == "all":
        return set(range(len(source.names))) - skip
    by_dtype = source.first.categorical_columns()
    if isinstance(spec, str) and spec == "from_dtype":
        return by_dtype - skip
    named = find_columns(spec, source.names, "categorical_features")
    numbers = [source.names[c] for c in named if c in targets and c not in by_dtype]
    if numbers:
        raise InputError(
            f"`categorical_features` should name features; {listing(numbers)} is a target, and "
            f"holds numbers. For classes pass `task='classification'`, or turn it into text."
        )
    return (by_dtype | set(named)) - skip
