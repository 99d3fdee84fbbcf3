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
from orthoselect.matrix.base import Floats
from orthoselect.read import (
    BlockSource,
    Source,
    is_block_source,
    open_source,
    read_file,
    read_target,
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


def open_problem(
    data: Any,
    target: Any,
    *,
    task: str = "auto",
    response_encoding: str = "dummy",
    categorical_features: ColumnSpec = "from_dtype",
    groups: Any = None,
    include: ColumnSpec = None,
    exclude: ColumnSpec = None,
    sample_weight: Any = None,
    keep_whole_weights: bool = False,
) -> Problem:
    """Read a table and a response of any kind; the arguments are those of `select`.

    Parameters
    ----------
    keep_whole_weights : bool
        Whether weights that are whole numbers stay as they are.
    """
    source = _open(data)
    names = source.names
    taken = find_columns(target, names, "target") if isinstance(target, str) else []
    grouped = find_groups(groups, names)
    left_out = find_columns(exclude, names, "exclude", grouped)
    first = find_columns(include, names, "include", grouped)
    check_disjoint(first, [*left_out, *taken], names)
    skip = {*left_out, *taken}
    table = source.read(_categorical(source, categorical_features, skip), skip, taken)
    weights = check_weights(sample_weight, source.n_rows, keep_whole=keep_whole_weights)
    columns = read_target(source.column(taken[0]) if taken else target, source.n_rows)
    response = build_response(columns, task, response_encoding, weights, in_blocks=table.in_blocks)
    return Problem(table, response, weights, grouped, first, left_out, skip)


def _open(data: Any) -> Source | BlockSource:
    if is_block_source(data):
        return BlockSource(data)
    return open_source(read_file(data) if isinstance(data, (str, Path)) else data)


def _categorical(source: Source | BlockSource, spec: ColumnSpec, skip: set[int]) -> set[int]:
    if spec is None:
        return set()
    if isinstance(spec, str) and spec == "all":
        return set(range(len(source.names))) - skip
    by_dtype = source.categorical_columns() - skip
    if isinstance(spec, str) and spec == "from_dtype":
        return by_dtype
    return by_dtype | (set(find_columns(spec, source.names, "categorical_features")) - skip)
