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
from orthoselect.errors import InputError
from orthoselect.gram.kept import Kept
from orthoselect.gram.look import distinct_classes
from orthoselect.gram.rows import ColumnsBeside, TargetBeside, names_of_responses
from orthoselect.matrix.base import Indices
from orthoselect.matrix.memory import count_bytes
from orthoselect.matrix.rows import Rows
from orthoselect.problem import (
    Opened,
    check_has_rows,
    find_table,
    is_in_blocks,
    look_at,
)
from orthoselect.read import BlockSource, DaskSource, Source, gathered, is_dask, is_path
from orthoselect.read.block_source import OpenedBlock
from orthoselect.weights import read_weights


def check_block(X: Any, who: str) -> None:
    """Raise unless X is rows that are in memory."""
    check_has_rows(X, who)
    if is_path(X) or is_in_blocks(X):
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
    opened = look_at(
        find_table(data, memory), target, sample_weight=sample_weight, fewest_rows=1, **columns
    )
    distinct_classes(settings["classes"], opened.task)  # a file may know its task
    settings = {**settings, "task": opened.task, "exclude": opened.exclude or None}
    source = opened.source
    named = [source.names[c] for c in opened.taken] or None
    if isinstance(source, BlockSource):
        kept = _keep_of_blocks(opened, source, named, sample_weight, settings)
    else:
        kept = Kept(settings)
        y = gathered(opened.target) if named is None else named
        bound = None if memory is None else count_bytes(memory)
        kept.take(source, y, gathered(sample_weight), bound)
    if not kept.n_rows:
        raise InputError("`sample_weight` should not be all zero; every row has weight 0.")
    return kept


def _keep_of_blocks(
    opened: Opened,
    source: BlockSource,
    target: list[str] | None,
    sample_weight: Any,
    settings: Mapping[str, Any],
) -> Kept:
    named = sample_weight if isinstance(sample_weight, str) else None
    y = _target_beside(source, opened.target) if target is None else None
    weights = None
    if sample_weight is not None and named is None:
        weights = _weights_beside(source, sample_weight)
    everything = range(len(source.names))
    wanted = [c for c in everything if c not in opened.exclude] or list(everything)
    kept = source.passes.run(
        partial(Kept, settings),
        _Take(source.names, wanted, target, named, source.memory),
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
        source = block.source
        if len(self.wanted) < len(self.names):
            source = _SomeColumns(source, self.wanted, self.names)
        y = y if self.target is None else self.target
        kept.take(source, y, weights if self.weights is None else self.weights, self.memory)


class _SomeColumns(Source):
    """A block with some columns of the table, which has them where the table does.

    Parameters
    ----------
    source : Source
    at : sequence of int
        Where its columns stand in the table.
    names : sequence of str
        All columns of the table.
    """

    def __init__(self, source: Source, at: Sequence[int], names: Sequence[str]) -> None:
        self._source, self._place = source, {c: k for k, c in enumerate(at)}
        self.names, self.n_rows = names, source.n_rows

    def is_categorical(self, column: int) -> bool:
        return column in self._place and self._source.is_categorical(self._place[column])

    def labels(self, column: int) -> Labels:
        return self._source.labels(self._place[column])

    def numeric(self, columns: Indices) -> Any:
        return self._source.numeric(self._places(columns))

    def column(self, column: int) -> Any:
        return self._source.column(self._place[column])

    def order(self, column: int) -> Sequence[Any] | None:
        return self._source.order(self._place[column])

    def precision(self, columns: Indices) -> NDArray | None:
        return self._source.precision(self._places(columns))

    def _places(self, columns: Indices) -> Indices:
        return np.array([self._place[c] for c in columns.tolist()], dtype=np.intp)


# Beside a table in blocks


def _target_beside(source: BlockSource, y: Any) -> Rows:
    """Return a response so that a pass cuts it where the table is cut."""
    if not isinstance(source, DaskSource):
        return TargetBeside(gathered(y))
    n_rows = source.count_rows()
    if is_dask(y):
        names = names_of_responses(y, len(y.columns)) if hasattr(y, "columns") else None
        return source.response(y).then(partial(ColumnsBeside, names), width=1)
    beside = TargetBeside(y)
    beside.check_rows(n_rows)
    return beside


def _weights_beside(source: BlockSource, weights: Any) -> Rows:
    if not isinstance(source, DaskSource):
        return np.atleast_1d(np.asarray(gathered(weights)))
    n_rows = source.count_rows()
    if is_dask(weights):
        return source.weights(weights)
    return read_weights(weights, n_rows)
