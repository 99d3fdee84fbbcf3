"""Tables that Dask works on as sources of selection.

The rows stay where they are, and so does the response; nothing of the table is persisted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from orthoselect.encode import Response, TargetColumn
from orthoselect.encode.response import check_weights, read_weights
from orthoselect.encode.spread import build_spread_response, check_spread_weights, spread_weights
from orthoselect.encode.table import BlockTable
from orthoselect.errors import ShapeError
from orthoselect.matrix.checksums import Folded, folded, period_of
from orthoselect.matrix.passes import rows_of
from orthoselect.matrix.rows import Rows, SpreadRows, written_out
from orthoselect.read.block import block_of
from orthoselect.read.blocks import bytes_of, is_dask
from orthoselect.read.dask_passes import DaskPasses
from orthoselect.read.dask_table import PartitionedTable, PartOfSource
from orthoselect.read.source import BlockSource, checksums_of, first_rows
from orthoselect.read.survey import MergedColumn
from orthoselect.read.target import numbers_of

_WEIGHTS = "`sample_weight`"  # as errors have it


class DaskSource(BlockSource):
    """A table in partitions that has been looked at, some rows of it only."""

    _data: PartitionedTable
    _passes: DaskPasses

    def _peek(self) -> Any:
        import dask

        look = dask.delayed(_Look.at, pure=False)
        for number, partition in enumerate(self._data.partitions(None)):
            here = isinstance(partition, PartOfSource)
            found: _Look = _Look.at(partition) if here else look(partition).compute()
            self._reading.bytes += found.nbytes
            if found.rows is not None:
                self._first_look = number, found.checksums
                return found.rows
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
            target = gathered_columns(target)
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


@dataclass(frozen=True)
class _Look:
    """A few rows of a partition, None if it has none, and what the look has read.

    Attributes
    ----------
    rows : block or None
    nbytes : int
    checksums : array or None
        Of all rows; None for a partition that is read in blocks, of which the look has one.
    """

    rows: Any
    nbytes: int
    checksums: Folded | None

    @staticmethod
    def at(partition: Any) -> _Look:
        """Look at a partition."""
        if not isinstance(partition, PartOfSource):
            rows, nbytes = first_rows(partition), bytes_of(partition)
            if rows is None:
                return _Look(None, nbytes, None)
            whole = block_of(partition)
            sums = checksums_of(whole, 0, period_of(whole.n_rows))
            return _Look(rows, nbytes, folded(sums))
        nbytes = 0
        for block in partition.blocks():
            rows, nbytes = first_rows(block), nbytes + bytes_of(block)
            if rows is not None:
                return _Look(rows, nbytes, None)
        return _Look(None, nbytes, None)


def _first_numbers(columns: Sequence[TargetColumn]) -> Any:
    return numbers_of(columns[0])


def gathered_columns(columns: SpreadRows) -> list[TargetColumn]:
    """Return `TargetColumn`s in pieces whole, here."""
    pieces = columns.passes.pieces(columns)
    merged = [MergedColumn(column.name) for column in pieces[0]]
    for piece in pieces:
        for whole, column in zip(merged, piece):
            whole.add(column)
    return [whole.merged() for whole in merged]
