"""A table of any kind -> what is kept of it, in one pass.

Where a table is spread over several places, each partition is reduced where it is, and what is kept
of the partitions is merged by a tree; rows stay where they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import Labels
from orthoselect.encode.response import read_weights
from orthoselect.errors import InputError
from orthoselect.gram.kept import Kept
from orthoselect.gram.look import distinct_classes
from orthoselect.gram.rows import ColumnsBeside, TargetBeside, names_of_responses
from orthoselect.matrix.base import Indices
from orthoselect.matrix.memory import count_bytes
from orthoselect.matrix.rows import Rows, SpreadRows
from orthoselect.read import Block, Source, find_table, is_path, why_not_whole
from orthoselect.read.survey import OpenedBlock
from orthoselect.roles import Roles, check_has_rows, find_roles


def check_block(X: Any, who: str) -> None:
    """Raise unless X is rows that are in memory."""
    check_has_rows(X, who)
    if is_path(X) or why_not_whole(X) is not None:
        raise InputError(
            f"{who} should have rows that are in memory; got a {type(X).__name__}. Make "
            f"statistics of it with `GramStatistics.of`, and add them: `statistics + others`."
        )


def keep_of(
    data: Any, target: Any, sample_weight: Any, settings: Mapping[str, Any], memory: Any
) -> Kept:
    """Return what is kept of a table.

    Parameters
    ----------
    data, target, sample_weight, memory
        As in `GramStatistics.of`.
    settings : mapping
        Those of `GramStatistics`.
    """
    check_has_rows(data, "`GramStatistics.of`")
    columns = {name: settings[name] for name in ("task", "categorical_features", "exclude")}
    roles = find_roles(
        find_table(data, memory), target, sample_weight=sample_weight, fewest_rows=1, **columns
    )
    distinct_classes(settings["classes"], roles.task)  # a file may know its task
    settings = {**settings, "task": roles.task, "exclude": roles.exclude or None}
    kept = _keep(roles, sample_weight, settings, None if memory is None else count_bytes(memory))
    if not kept.n_rows:
        raise InputError("`sample_weight` should not be all zero; every row has weight 0.")
    return kept


def _keep(roles: Roles, sample_weight: Any, settings: Mapping[str, Any], bound: int | None) -> Kept:
    source = roles.source
    target = [source.names[c] for c in roles.target_columns] or None
    y = _target_beside(source, roles.target) if target is None else None
    named = sample_weight if isinstance(sample_weight, str) else None
    weights = None
    if sample_weight is not None and named is None:
        weights = source.weights_per_row(sample_weight)
    everything = range(len(source.names))
    wanted = [c for c in everything if c not in roles.exclude] or list(everything)
    kept = source.over_blocks(
        partial(Kept, settings),
        _Take(source.names, wanted, target, named, source.memory or bound),
        Kept.merge,
        columns=np.array(wanted, dtype=np.intp),
        along=[y, weights],
    )
    kept.reduce()
    if isinstance(y, TargetBeside):
        y.check_rows(kept.n_read)
    if isinstance(weights, np.ndarray):
        read_weights(weights, kept.n_read)  # words the error if there are too many
    return kept


@dataclass(frozen=True)
class _Take:
    """Takes blocks in; sent to where they are.

    Attributes
    ----------
    names : sequence of str
        All columns of the table.
    wanted : sequence of int
        Those that the blocks have.
    target : list of str or None
    weights : str or None
        Columns of the response and of the weights; None if these are given beside the blocks.
    memory : int or None
    """

    names: Sequence[str]
    wanted: Sequence[int]
    target: list[str] | None
    weights: str | None
    memory: int | None

    def __call__(self, kept: Kept, block: OpenedBlock, y: Any, weights: Any) -> None:
        rows = block.block
        if len(rows.names) < len(self.names):
            rows = _SomeColumns(rows, self.wanted, self.names)
        y = y if self.target is None else self.target
        kept.take(rows, y, weights if self.weights is None else self.weights, self.memory)


class _SomeColumns(Block):
    """A block with some columns of the table, which has them where the table does.

    Parameters
    ----------
    block : Block
    at : sequence of int
        Where its columns stand in the table.
    names : sequence of str
        All columns of the table.
    """

    def __init__(self, block: Block, at: Sequence[int], names: Sequence[str]) -> None:
        self._block, self._place = block, {c: k for k, c in enumerate(at)}
        self.names, self.n_rows = names, block.n_rows

    def is_categorical(self, column: int) -> bool:
        return column in self._place and self._block.is_categorical(self._place[column])

    def labels(self, column: int) -> Labels:
        return self._block.labels(self._place[column])

    def numeric(self, columns: Indices) -> Any:
        return self._block.numeric(self._places(columns))

    def column(self, column: int) -> Any:
        return self._block.column(self._place[column])

    def order(self, column: int) -> Sequence[Any] | None:
        return self._block.order(self._place[column])

    def precision(self, columns: Indices) -> NDArray | None:
        return self._block.precision(self._places(columns))

    def _places(self, columns: Indices) -> Indices:
        return np.array([self._place[c] for c in columns.tolist()], dtype=np.intp)


def _target_beside(source: Source, y: Any) -> Rows:
    """Return a response so that a pass cuts it where the table is cut."""
    values = source.per_row(y)
    if isinstance(values, SpreadRows):
        names = names_of_responses(y, len(y.columns)) if hasattr(y, "columns") else None
        return values.then(partial(ColumnsBeside, names), width=1)
    beside = TargetBeside(values)
    if source.n_rows:
        beside.check_rows(source.n_rows)
    return beside
