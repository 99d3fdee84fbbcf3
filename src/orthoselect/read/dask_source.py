"""Tables that Dask works on, as sources of selection.

The rows stay where they are, and so does the response; nothing of the table is persisted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from orthoselect.encode import NumberedNames, Response, TargetColumn
from orthoselect.encode.response import check_weights, read_weights
from orthoselect.encode.spread import build_spread_response, check_spread_weights, spread_weights
from orthoselect.encode.table import BlockTable
from orthoselect.errors import InputError, ShapeError
from orthoselect.matrix.checksums import Folded, folded, period_of
from orthoselect.matrix.passes import rows_of
from orthoselect.matrix.rows import Rows, SpreadRows, written_out
from orthoselect.read.block import block_of
from orthoselect.read.dask_passes import DaskPasses
from orthoselect.read.row_blocks import (
    ColumnsOf,
    PartitionedTable,
    SourceOf,
    bytes_of,
    is_block_source,
    is_dask,
)
from orthoselect.read.source import BlockSource, checksums_of, first_rows
from orthoselect.read.survey import MergedColumn
from orthoselect.read.target import numbers_of

_WEIGHTS = "`sample_weight`"  # as errors have it


class DaskTable(PartitionedTable):
    """A `dask.array.Array` or `dask.dataframe.DataFrame`, maybe with other names."""

    def __init__(
        self, data: Any, memory: int | None = None, names: Sequence[str] | None = None
    ) -> None:
        self._data, self.memory = data, memory
        self._is_frame = hasattr(data, "columns")
        if not self._is_frame and getattr(data, "ndim", 0) != 2:
            raise ShapeError(
                f"a Dask table should be a DataFrame, or an Array of two dimensions; got "
                f"{_describe(data)}. Use `to_frame()`, or `reshape`."
            )
        self.names: Sequence[str] = self._names() if names is None else names
        self.sizes: list[int] | None = self._sizes()

    def _names(self) -> Sequence[str]:
        if not self._is_frame:
            return NumberedNames(self._data.shape[1])
        names = [str(name) for name in self._data.columns]
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise InputError(
                f"columns should have names of their own; `{min(twice)}` occurs twice. Rename one."
            )
        return names

    def _sizes(self) -> list[int] | None:
        if self._is_frame or any(math.isnan(size) for size in self._data.chunks[0]):
            return None
        return [int(size) for size in self._data.chunks[0]]

    def reordered(self, columns: Sequence[int]) -> DaskTable:
        """Return the same table with its columns in another order."""
        names = [self.names[c] for c in columns]
        if not self._is_frame:
            return DaskTable(self._data[:, list(columns)], self.memory, names)
        labels = list(self._data.columns)
        return DaskTable(self._data[[labels[c] for c in columns]], self.memory, names)

    def partitions(self, columns: Sequence[int] | None) -> list[Any]:
        data = self._data
        if self._is_frame:
            labels = list(data.columns)
            data = data if columns is None else data[[labels[c] for c in columns]]
            return list(data.to_delayed())
        data = data if columns is None else data[:, list(columns)]
        # Not optimized: the same key would stand for two graphs, which schedulers warn of.
        return list(data.rechunk({1: -1}).to_delayed(optimize_graph=False)[:, 0])


def _describe(data: Any) -> str:
    ndim = getattr(data, "ndim", None)
    return type(data).__name__ if ndim is None else f"{type(data).__name__} of {ndim} dimension(s)"


class SplitTable(PartitionedTable):
    """A source of blocks in parts, each of which is read by the task that works on it."""

    def __init__(self, source: SourceOf) -> None:
        parts = source.split()
        # A part without rows has no blocks either, and would not even tell of its columns' types.
        self._parts = [part for part in parts if part.n_rows] or parts
        self.names = source.names
        self.sizes = [part.n_rows for part in self._parts]
        self.memory, self.progress = source.memory, source.progress
        self.is_watched = source.is_watched

    def partitions(self, columns: Sequence[int] | None) -> list[Any]:
        return [part if columns is None else ColumnsOf(part, columns) for part in self._parts]


class DaskSource(BlockSource):
    """A table in partitions that has been looked at, some rows of it only."""

    _data: PartitionedTable
    _passes: DaskPasses

    def _peek(self) -> Any:
        import dask

        look = dask.delayed(_look_at, pure=False)
        for number, partition in enumerate(self._data.partitions(None)):
            here = is_block_source(partition)
            rows, nbytes, sums = _look_at(partition) if here else look(partition).compute()
            self._reading.bytes += nbytes
            if rows is not None:
                self._first_look = number, sums
                return rows
        raise ShapeError("a Dask table should have rows to select from; it has none.")

    def _walker(self) -> DaskPasses:
        passes = DaskPasses(self._data, self.names, self._reading)
        number, checksums = self._first_look
        if checksums is not None:
            passes.remember(number, checksums)
        return passes

    def read(
        self, categorical: set[int], skip: set[int], keep: Mapping[int, str] = {}
    ) -> BlockTable:
        """Find the levels of categorical columns; the response stays where it is."""
        return super().read(categorical, skip)

    def response(
        self, target: Any, taken: Sequence[int], task: str, encoding: str, weights: Rows | None
    ) -> tuple[Response, Rows | None]:
        """Code the response where its rows are; several with classes are put together here."""
        if taken:
            target = self._passes.target_columns(taken)
        elif is_dask(target):
            target = self._beside(target, "y")
        if isinstance(target, SpreadRows):
            found = build_spread_response(target, task, encoding, weights)
            if found is not None:
                return found, weights
            target = _gathered_columns(target)
        return super().response(target, [], task, encoding, written_out(weights))

    def weights(self, given: Any, column: int | None, *, keep_whole: bool) -> Rows | None:
        """Check the row weights; they are spread over the places that the rows are in."""
        if column is not None:
            columns = self._passes.target_columns([column], _WEIGHTS)
            return check_spread_weights(
                columns.then(_first_numbers, width=1), keep_whole=keep_whole
            )
        if is_dask(given):
            return check_spread_weights(self._spread_weights(given), keep_whole=keep_whole)
        w = check_weights(given, self.n_rows, keep_whole=keep_whole)
        return spread_weights(w, self._passes)

    def per_row(self, values: Any) -> Any:
        self._count_rows()
        return self._beside(values, "y") if is_dask(values) else values

    def weights_per_row(self, weights: Any) -> Rows:
        n_rows = self._count_rows()
        return self._spread_weights(weights) if is_dask(weights) else read_weights(weights, n_rows)

    def _count_rows(self) -> int:
        """Return the number of rows, and know those of each partition; that may take a pass."""
        if not self.n_rows:
            one = np.zeros(1, dtype=np.intp)
            self.n_rows = self._passes.n_rows = sum(self._passes.each(rows_of, columns=one))
        return self.n_rows

    def _beside(self, values: Any, what: str) -> SpreadRows:
        """Return a Dask collection beside the table as `TargetColumn`s in pieces."""
        return self._passes.targets(self._passes.aligned(values, what), what)

    def _spread_weights(self, given: Any) -> SpreadRows:
        """Return a Dask collection of row weights as arrays in pieces, not checked."""
        return self._beside(given, _WEIGHTS).then(_first_numbers, width=1)


def _look_at(partition: Any) -> tuple[Any, int, Folded | None]:
    """Return a few rows of a partition, None if it has none, the bytes read, and the checksums.

    These are of all rows; None for a partition that is read in blocks, of which the look has one.
    """
    if not is_block_source(partition):
        rows, nbytes = first_rows(partition), bytes_of(partition)
        if rows is None:
            return None, nbytes, None
        whole = block_of(partition)
        return rows, nbytes, folded(checksums_of(whole, 0, period_of(whole.n_rows)))
    nbytes = 0
    for block in partition.blocks():
        rows, nbytes = first_rows(block), nbytes + bytes_of(block)
        if rows is not None:
            return rows, nbytes, None
    return None, nbytes, None


def _first_numbers(columns: Sequence[TargetColumn]) -> Any:
    return numbers_of(columns[0])


def _gathered_columns(columns: SpreadRows) -> list[TargetColumn]:
    """Return `TargetColumn`s in pieces whole, here."""
    pieces = columns.passes.pieces(columns)
    merged = [MergedColumn(column.name) for column in pieces[0]]
    for piece in pieces:
        for whole, column in zip(merged, piece):
            whole.add(column)
    return [whole.merged() for whole in merged]
