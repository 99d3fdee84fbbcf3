"""What each column of a table is for, settled once; and the table and response, read.

`select`, the selectors, `compare`, `GramStatistics`, reports and the command all come through here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from orthoselect.arguments import (
    ColumnSpec,
    check_disjoint,
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
    find_file,
    names_in_errors,
    open_named,
    open_source,
    response_columns,
    sift,
)


@dataclass(frozen=True)
class Problem:
    """What to select from, and what for.

    Attributes
    ----------
    table : Table
        All columns but those that are skipped.
    response : Response
    weights : array of shape (N,), SpreadWeights or None
        Spread where the response is.
    groups : mapping of str to columns of the table
    include : list of int
        Columns to be taken first.
    exclude : list of int
        Columns never to be taken.
    skip : set of int
        Those, and the columns of the response and of the weights.
    settled : mapping of str to value
        Options that were settled before anything was asked; a path tells them as its own.
    """

    table: Table
    response: Response
    weights: Rows | None
    groups: Mapping[str, Sequence[int]]
    include: list[int]
    exclude: list[int]
    skip: set[int]
    settled: Mapping[str, Any] = field(default_factory=dict)

    def names_of(self, columns: Sequence[int]) -> list[str]:
        """Return the names of columns of the table."""
        return [self.table.names[column] for column in columns]


@dataclass(frozen=True)
class Roles:
    """A table that was looked at, and what each of its columns is for.

    Attributes
    ----------
    data : Dataset, array, SciPy sparse, dataframe or the like
        What was given, without columns that are no features.
    source : Source
        The same, for reading.
    target : str, list of str or array-like
        The response: the names of its columns, or its values.
    target_columns : list of int
        Its columns, if the table has them.
    weight_column : int or None
        The column of the row weights, if the table has it.
    task : str
    groups : mapping of str to columns
    include, exclude : list of int
    categorical : set of int
        Columns that hold labels.
    """

    data: Any
    source: Source
    target: Any
    target_columns: list[int]
    weight_column: int | None
    task: str
    groups: Mapping[str, list[int]]
    include: list[int]
    exclude: list[int]
    categorical: set[int]

    @property
    def skip(self) -> set[int]:
        """Columns that are no candidates."""
        return {*self.exclude, *_apart(self.target_columns, self.weight_column)}


def _apart(targets: Sequence[int], weights: int | None) -> list[int]:
    """Return the columns of the response and of the weights."""
    return [*targets, *([] if weights is None else [weights])]


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

    Parameters
    ----------
    fewest_rows : int
        How many rows a table in memory has to have.
    """
    data = find_file(data)
    looked_at = 0  # bytes, to see what the columns are
    if isinstance(data, Dataset) and data.unsifted:
        named = {"categorical_features": categorical_features, "include": include}
        named["sample_weight"] = sample_weight if isinstance(sample_weight, str) else None
        unsifted, before = data, data.bytes_looked_at
        data = _sifted(data, target, {**named, "exclude": exclude}, groups)
        looked_at = unsifted.bytes_looked_at - before
    source = open_source(data, fewest_rows)
    source.count_bytes_read(looked_at)
    names = source.names
    unfit: list[str] = []
    if isinstance(data, Dataset):
        task, unfit = data.find_task(task, target), list(data.left_out)
        target = data.find_target(target)
    targets = find_columns(response_columns(target, names), names, "target")
    weights = _weight_column(sample_weight, names, targets)
    apart = _apart(targets, weights)
    grouped = find_groups(groups, names)
    left_out = find_columns(exclude, names, "exclude", grouped)
    left_out = list(dict.fromkeys([*left_out, *find_columns(unfit, names, "exclude")]))
    first = find_columns(include, names, "include", grouped)
    check_disjoint(first, [*left_out, *apart], names)
    if isinstance(groups, Mapping):
        _check_ungrouped(grouped, apart, names)
    categorical = _categorical(source, categorical_features, {*left_out, *apart}, targets)
    return Roles(
        data, source, target, targets, weights, task, grouped, first, left_out, categorical
    )


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

    Parameters
    ----------
    keep_whole_weights : bool
        Whether weights that are whole numbers stay as they are.
    **asked
        `task`, `categorical_features`, `groups`, `include` and `exclude`.
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

    Attributes
    ----------
    X : Dataset, Source or DaskTable
    y, sample_weight
        As for `select`: names of columns of X, or values.
    names : sequence of str
        The features; columns of X after these are the response and the weights.
    called : sequence of str
        What the features are called where columns are named; not x0, x1, ... if some are taken out.
    """

    X: Any
    y: Any
    sample_weight: Any
    names: Sequence[str]
    called: Sequence[str]

    @staticmethod
    def of(X: Any, y: Any, sample_weight: Any) -> Fitted:
        """Look at a table, once, and set the response and the weights apart if it has them."""
        X = open_named(X)
        y = X.find_target(y) if isinstance(X, Dataset) else y
        names = X.names
        targets = response_columns(y, names)
        weights = [sample_weight] if isinstance(sample_weight, str) else []
        if weights:
            check_one_role(sample_weight, targets)
        y = y if targets else as_values(y)
        if not targets and not weights:
            return Fitted(X, y, sample_weight, names, names)
        last = find_columns(targets, names, "y") + find_columns(weights, names, "sample_weight")
        apart = set(last)
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


def _weight_column(spec: Any, names: Sequence[str], targets: Sequence[int]) -> int | None:
    """Return the column of the row weights, if they are named."""
    if not isinstance(spec, str):
        return None
    check_one_role(spec, [names[c] for c in targets])
    return find_columns(spec, names, "sample_weight")[0]


def _sifted(dataset: Dataset, target: Any, named: dict[str, ColumnSpec], groups: Any) -> Dataset:
    """Leave out what is no feature; columns that the user speaks of are not sifted."""
    names = dataset.names
    grouped = find_groups(groups, names)
    keep = {column for columns in grouped.values() for column in columns}
    for argument, spec in named.items():
        if not _is_word(spec):
            keep.update(find_columns(spec, names, argument, grouped))
    return sift(dataset, target, [names[column] for column in keep])


def _check_ungrouped(
    groups: Mapping[str, Sequence[int]], columns: Sequence[int], names: Sequence[str]
) -> None:
    """Raise where a group names the target or the weights."""
    for group, members in groups.items():
        for column in members:
            if column in columns:
                raise InputError(
                    f"a column should have one role; `{names[column]}` is the target or the row "
                    f"weights, and in the group `{group}`."
                )


def _categorical(
    source: Source, spec: ColumnSpec, skip: set[int], targets: Sequence[int]
) -> set[int]:
    if spec is None:
        return set()
    if isinstance(spec, str) and spec == "all":
        return set(range(len(source.names))) - skip
    by_dtype = source.categorical_columns()
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
