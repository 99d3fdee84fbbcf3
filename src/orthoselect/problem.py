"""A table and a response, read and checked: what every method starts from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orthoselect.arguments import (
    ColumnSpec,
    check_disjoint,
    check_weights,
    find_columns,
    find_groups,
)
from orthoselect.encode import Response, Table, build_response
from orthoselect.encode.spread import build_spread_response
from orthoselect.matrix.base import Floats
from orthoselect.matrix.rows import SpreadRows
from orthoselect.read import (
    BlockSource,
    DaskSource,
    DaskTable,
    Dataset,
    Source,
    gathered,
    is_block_source,
    is_dask,
    open_source,
    read_source,
    read_target,
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
    weights : array of shape (N,) or None
    groups : mapping of str to columns of the table
    include : list of int
        Columns to be taken first.
    exclude : list of int
        Columns never to be taken.
    skip : set of int
        Those, and the columns of the response.
    """

    table: Table
    response: Response
    weights: Floats | None
    groups: Mapping[str, Sequence[int]]
    include: list[int]
    exclude: list[int]
    skip: set[int]

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
    target : str or array-like
        The response: the name of its column, or its values.
    taken : list of int
        Its column, if the table has it.
    task : str
    groups, include, exclude, skip : as in `Problem`
    categorical : set of int
        Columns that hold labels.
    """

    data: Any
    source: Source | BlockSource
    target: Any
    taken: list[int]
    task: str
    groups: Mapping[str, list[int]]
    include: list[int]
    exclude: list[int]
    categorical: set[int]

    @property
    def values(self) -> Any:
        """The response's values; a table in blocks has them once it was read."""
        return self.source.column(self.taken[0]) if self.taken else self.target

    @property
    def skip(self) -> set[int]:
        """Columns that are no candidates."""
        return {*self.exclude, *self.taken}


def look_at(
    data: Any,
    target: Any,
    *,
    task: str = "auto",
    categorical_features: ColumnSpec = "from_dtype",
    groups: Any = None,
    include: ColumnSpec = None,
    exclude: ColumnSpec = None,
) -> Opened:
    """Find a table and a response of any kind; the arguments are those of `select`."""
    if isinstance(data, (str, Path)):
        named = {"categorical_features": categorical_features, "include": include}
        data = _read(data, target, {**named, "exclude": exclude}, groups)
    source = _open(data)
    names = source.names
    unfit: list[str] = []
    if isinstance(data, Dataset):
        task, unfit = data.find_task(task, target), list(data.left_out)
        target = data.find_target(target)
    taken = find_columns(target, names, "target") if isinstance(target, str) else []
    grouped = find_groups(groups, names)
    left_out = find_columns(exclude, names, "exclude", grouped)
    left_out += [c for c in find_columns(unfit, names, "exclude") if c not in left_out]
    first = find_columns(include, names, "include", grouped)
    check_disjoint(first, [*left_out, *taken], names)
    categorical = _categorical(source, categorical_features, {*left_out, *taken})
    return Opened(data, source, target, taken, task, grouped, first, left_out, categorical)


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
    opened = look_at(data, target, task=task, **columns)
    table = opened.source.read(opened.categorical, opened.skip, opened.taken)
    n_rows = opened.source.n_rows
    weights = check_weights(gathered(sample_weight), n_rows, keep_whole=keep_whole_weights)
    response = _response(opened, response_encoding, weights)
    return Problem(
        table, response, weights, opened.groups, opened.include, opened.exclude, opened.skip
    )


def _response(opened: Opened, encoding: str, weights: Floats | None) -> Response:
    """Code the response; where it is spread over several places it stays there."""
    values, source = opened.values, opened.source
    if is_dask(values):
        values = source.response(values) if isinstance(source, DaskSource) else gathered(values)
    if isinstance(values, SpreadRows):
        response = build_spread_response(values, opened.task, encoding, weights)
        if response is not None:
            return response
        values = gathered(opened.target)  # several columns, with classes among them
    columns = read_target(values, source.n_rows)
    in_blocks = isinstance(source, BlockSource)
    return build_response(columns, opened.task, encoding, weights, in_blocks=in_blocks)


def _read(source: str | Path, target: Any, named: dict[str, ColumnSpec], groups: Any) -> Dataset:
    """Read a file or a built-in set; columns that the user speaks of are not sifted."""
    dataset = read_source(source)
    names = dataset.names
    grouped = find_groups(groups, names)
    keep = {column for columns in grouped.values() for column in columns}
    for argument, spec in named.items():
        if not (isinstance(spec, str) and spec in ("from_dtype", "all")):
            keep.update(find_columns(spec, names, argument, grouped))
    return sift(dataset, target, [names[column] for column in keep])


def _open(data: Any) -> Source | BlockSource:
    if is_dask(data):
        return DaskSource(DaskTable(data))
    return BlockSource(data) if is_block_source(data) else open_source(data)


def _categorical(source: Source | BlockSource, spec: ColumnSpec, skip: set[int]) -> set[int]:
    if spec is None:
        return set()
    if isinstance(spec, str) and spec == "all":
        return set(range(len(source.names))) - skip
    by_dtype = source.categorical_columns() - skip
    if isinstance(spec, str) and spec == "from_dtype":
        return by_dtype
    return by_dtype | (set(find_columns(spec, source.names, "categorical_features")) - skip)
