"""A table and a response, read and checked: what every method starts from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from orthoselect.encode import Response, Table, build_response
from orthoselect.encode.spread import build_spread_response
from orthoselect.errors import InputError, listing
from orthoselect.matrix.base import Floats
from orthoselect.matrix.memory import count_bytes
from orthoselect.matrix.rows import Rows, SpreadRows, written_out
from orthoselect.read import (
    BlockSource,
    DaskSource,
    DaskTable,
    Dataset,
    OnDask,
    Source,
    WithMemory,
    gathered,
    gathered_columns,
    is_block_source,
    is_dask,
    is_path,
    map_blocks,
    numbers_of,
    open_source,
    read_table,
    read_target,
    response_columns,
    sift,
)
from orthoselect.weights import check_spread_weights, check_weights, spread_weights


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
class Opened:
    """A table and a target that were looked at, and what is said of the columns.

    Attributes
    ----------
    data : Dataset, array, SciPy sparse or dataframe
    source : Source
        The same, for reading.
    target : str, list of str or array-like
        The response: the names of its columns, or its values.
    taken : list of int
        Its columns, if the table has them.
    weighting : list of int
        The column of the row weights, if the table has it.
    task : str
    groups, include, exclude, skip : as in `Problem`
    categorical : set of int
        Columns that hold labels.
    """

    data: Any
    source: Source | BlockSource
    target: Any
    taken: list[int]
    weighting: list[int]
    task: str
    groups: Mapping[str, list[int]]
    include: list[int]
    exclude: list[int]
    categorical: set[int]

    @property
    def values(self) -> Any:
        """The response's values; a table in blocks has them once it was read."""
        if not self.taken:
            return self.target
        return _columns_of_response(self.source, self.taken)

    @property
    def skip(self) -> set[int]:
        """Columns that are no candidates."""
        return {*self.exclude, *self.taken, *self.weighting}

    def weights(self, given: Any) -> Any:
        """Return the row weights: those given, or the column that was named."""
        if self.weighting:
            return _column_of_weights(self.source, self.weighting[0])
        if is_dask(given) and isinstance(self.source, DaskSource):
            return self.source.weights(given)
        return gathered(given)


def find_table(data: Any, memory: int | str | None = None) -> Any:
    """Return what a path or a memory map stands for; other data are returned as they are.

    Parameters
    ----------
    data : as in `select`
    memory : int or str, optional
        What may be taken; what does not fit comes in blocks.
    """
    if is_path(data):
        return read_table(data, memory=memory)
    if isinstance(data, np.memmap):
        return map_blocks(data, memory)
    if memory is None:
        return data
    if is_dask(data):
        return DaskTable(data, count_bytes(memory))
    if isinstance(data, Dataset) and data.in_blocks:
        return replace(data, data=WithMemory(data.data, count_bytes(memory)))
    if is_block_source(data):
        return WithMemory(data, count_bytes(memory))
    raise InputError(
        f"`memory` is for files, memory maps and tables in blocks or partitions; got a "
        f"{type(data).__name__}, which is in memory already. Leave it away."
    )


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


def features_first(
    data: Dataset | BlockSource, target: list[str], weights: list[str]
) -> tuple[Dataset | BlockSource, list[str]]:
    """Return a table with the response and the weights last, and the names of the columns before.

    The place of a feature is then that among the features alone.

    Parameters
    ----------
    data : Dataset or BlockSource
    target : list of str
        The columns of the response; none if it is not in the table.
    weights : list of str
        That of the row weights, or none.
    """
    names = data.names
    last = find_columns(target, names, "y") + find_columns(weights, names, "sample_weight")
    apart = set(last)
    rest = [c for c in range(len(names)) if c not in apart]
    check_some_left(len(rest))
    return data.reordered([*rest, *last]), [names[c] for c in rest]


def take_out(data: Any, target: list[str], weights: list[str]) -> tuple[Any, Any, Any]:
    """Return a Dask collection without some columns, and these columns; as `features_first`."""
    table = DaskTable(data)
    taken = find_columns(target, table.names, "y")
    weighting = find_columns(weights, table.names, "sample_weight")
    check_some_left(len(table.names) - len(taken) - len(weighting))
    return table.without([*taken, *weighting]), table.columns(taken), table.columns(weighting)


def names_in_errors(taken: Sequence[int], names: Sequence[str]) -> dict[int, str]:
    """Return what to call each column of the response in errors."""
    if len(taken) == 1:
        return {taken[0]: "y"}
    return {c: f"y column `{names[c]}`" for c in taken}


def _columns_of_response(source: Source | BlockSource, taken: list[int]) -> Any:
    """Return the columns of the response that a table has: whole, or on Dask in pieces."""
    if isinstance(source, DaskSource):
        return source.columns(taken)
    called = names_in_errors(taken, source.names)
    columns = {c: source.column(c) for c in called}
    if len(columns) == 1:
        return columns.popitem()[1]
    return [read_target(y, source.n_rows, called[c])[0] for c, y in columns.items()]


def _column_of_weights(source: Source | BlockSource, column: int) -> Any:
    """Return the column of the row weights: whole, or on Dask in pieces."""
    if isinstance(source, DaskSource):
        return source.weights(column)
    return numbers_of(source.column(column))


def is_in_blocks(data: Any) -> bool:
    """Whether a table comes in blocks of rows."""
    if isinstance(data, BlockSource):
        return True
    blocks = data.data if isinstance(data, Dataset) else data
    return is_block_source(blocks) or isinstance(blocks, DaskTable) or is_dask(blocks)


def look_at(
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
) -> Opened:
    """Find a table and a response of any kind; the arguments are those of `select`.

    Parameters
    ----------
    fewest_rows : int
        How many rows a table in memory has to have.
    """
    data = find_table(data) if is_path(data) else data
    looked_at = 0  # bytes, to see what the columns are
    if isinstance(data, Dataset) and data.unsifted:
        named = {"categorical_features": categorical_features, "include": include}
        named["sample_weight"] = sample_weight if isinstance(sample_weight, str) else None
        columns = data.columns
        looked_at = getattr(columns, "bytes_read", 0)
        data = _sifted(data, target, {**named, "exclude": exclude}, groups)
        looked_at = getattr(columns, "bytes_read", 0) - looked_at
    source = _open(data, fewest_rows)
    if isinstance(source, BlockSource):
        source.passes.reading.bytes += looked_at
    names = source.names
    unfit: list[str] = []
    if isinstance(data, Dataset):
        task, unfit = data.find_task(task, target), list(data.left_out)
        target = data.find_target(target)
    taken = find_columns(response_columns(target, names), names, "target")
    weighting = _weighting(sample_weight, names, taken)
    grouped = find_groups(groups, names)
    left_out = find_columns(exclude, names, "exclude", grouped)
    left_out = list(dict.fromkeys([*left_out, *find_columns(unfit, names, "exclude")]))
    first = find_columns(include, names, "include", grouped)
    check_disjoint(first, [*left_out, *taken, *weighting], names)
    skip = {*left_out, *taken, *weighting}
    if isinstance(groups, Mapping):
        _check_ungrouped(grouped, [*taken, *weighting], names)
    categorical = _categorical(source, categorical_features, skip, taken)
    return Opened(
        data, source, target, taken, weighting, task, grouped, first, left_out, categorical
    )


def open_problem(
    data: Any,
    target: Any,
    *,
    task: str = "auto",
    response_encoding: str = "dummy",
    sample_weight: Any = None,
    keep_whole_weights: bool = False,
    **columns: Any,
) -> Problem:
    """Read a table and a response of any kind; the arguments are those of `select`.

    Parameters
    ----------
    keep_whole_weights : bool
        Whether weights that are whole numbers stay as they are.
    **columns
        `categorical_features`, `groups`, `include` and `exclude`.
    """
    opened = look_at(data, target, task=task, sample_weight=sample_weight, **columns)
    source = opened.source
    called = names_in_errors(opened.taken, source.names)
    kept = called | dict.fromkeys(opened.weighting, "`sample_weight`")
    table = source.read(opened.categorical, opened.skip, kept)
    weights = _weights(opened, sample_weight, keep_whole=keep_whole_weights)
    values, response = _values(opened), None
    if isinstance(values, SpreadRows):
        response = build_spread_response(values, opened.task, response_encoding, weights)
    if response is None:
        weights = written_out(weights)
        response = _response(opened, values, response_encoding, weights)
    return Problem(
        table, response, weights, opened.groups, opened.include, opened.exclude, opened.skip
    )


def _weights(opened: Opened, given: Any, *, keep_whole: bool) -> Rows | None:
    """Check the row weights; they are spread over several places if the rows are."""
    source, weights = opened.source, opened.weights(given)
    if isinstance(weights, SpreadRows):
        return check_spread_weights(weights, keep_whole=keep_whole)
    w = check_weights(weights, source.n_rows, keep_whole=keep_whole)
    return spread_weights(w, source.passes) if isinstance(source, DaskSource) else w


def _response(opened: Opened, values: Any, encoding: str, weights: Floats | None) -> Response:
    """Code a response here."""
    source = opened.source
    if isinstance(values, SpreadRows):
        values = gathered_columns(values)  # several, with classes among them
    columns = read_target(values, source.n_rows)
    in_blocks = isinstance(source, BlockSource)
    return build_response(columns, opened.task, encoding, weights, in_blocks=in_blocks)


def _values(opened: Opened) -> Any:
    """Return the values of the response; those of Dask in pieces, if the table is so."""
    values, source = opened.values, opened.source
    if is_dask(values):
        return source.response(values) if isinstance(source, DaskSource) else gathered(values)
    return values


def _weighting(spec: Any, names: Sequence[str], taken: Sequence[int]) -> list[int]:
    """Return the column of the row weights, if they are named."""
    if not isinstance(spec, str):
        return []
    check_one_role(spec, [names[c] for c in taken])
    return find_columns(spec, names, "sample_weight")


def _sifted(dataset: Dataset, target: Any, named: dict[str, ColumnSpec], groups: Any) -> Dataset:
    """Leave out what is no feature; columns that the user speaks of are not sifted."""
    names = dataset.names
    grouped = find_groups(groups, names)
    keep = {column for columns in grouped.values() for column in columns}
    for argument, spec in named.items():
        if not (isinstance(spec, str) and spec in ("from_dtype", "all")):
            keep.update(find_columns(spec, names, argument, grouped))
    return sift(dataset, target, [names[column] for column in keep])


def _open(data: Any, fewest_rows: int = 2) -> Source | BlockSource:
    if isinstance(data, BlockSource):
        return data
    if not is_in_blocks(data):
        return open_source(data, fewest_rows)
    blocks = data.data if isinstance(data, Dataset) else data
    if isinstance(blocks, OnDask):
        return DaskSource(blocks.table())
    if isinstance(blocks, DaskTable) or is_dask(blocks):
        return DaskSource(blocks if isinstance(blocks, DaskTable) else DaskTable(blocks))
    return BlockSource(blocks)


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
    source: Source | BlockSource, spec: ColumnSpec, skip: set[int], taken: Sequence[int]
) -> set[int]:
    if spec is None:
        return set()
    if isinstance(spec, str) and spec == "all":
        return set(range(len(source.names))) - skip
    by_dtype = source.categorical_columns()
    if isinstance(spec, str) and spec == "from_dtype":
        return by_dtype - skip
    named = find_columns(spec, source.names, "categorical_features")
    numbers = [source.names[c] for c in named if c in taken and c not in by_dtype]
    if numbers:
        raise InputError(
            f"`categorical_features` should name features; {listing(numbers)} is a target, and "
            f"holds numbers. For classes pass `task='classification'`, or turn it into text."
        )
    return (by_dtype | set(named)) - skip
