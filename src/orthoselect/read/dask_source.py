"""Tables that Dask works on, as sources of selection.

The rows stay where they are, and so does the response; nothing of the table is persisted.
`dask_passes.py` has what walks over the partitions, `partitions.py` the tables themselves. Dask
itself is imported when such a table arrives, not before.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import NumberedNames, Response, TargetColumn
from orthoselect.encode.spread import build_spread_response, check_spread_weights, spread_weights
from orthoselect.encode.table import BlockTable
from orthoselect.encode.weights import check_weights, read_weights
from orthoselect.errors import InputError, ShapeError
from orthoselect.matrix.checksums import Folded, folded, period_of
from orthoselect.matrix.passes import (
    rows_of,
)
from orthoselect.matrix.rows import Rows, SpreadRows, written_out
from orthoselect.read.dask_passes import DaskPasses, naming_partition
from orthoselect.read.frame_block import block_of
from orthoselect.read.looks import (
    LOOK,
    ColumnLook,
    Finding,
    look_on,
    look_whole,
    merge_looks,
    whole_looks,
)
from orthoselect.read.partitions import KeptPartitions, PartitionedTable
from orthoselect.read.readings import Readings
from orthoselect.read.row_blocks import (
    bytes_of,
    is_block_source,
    is_dask,
)
from orthoselect.read.source import BlockSource, Source, checksums_of, first_rows
from orthoselect.read.survey import MergedColumn, numbers_of

Total = TypeVar("Total")
_FAN_IN = 8  # totals that one task merges
_WEIGHTS = "`sample_weight`"  # as errors have it


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
            self._reader.bytes += nbytes
            if rows is not None:
                self._first_look = number, sums
                return rows
        raise ShapeError("a Dask table should have rows to select from; it has none.")

    def look(self, columns: Collection[int]) -> dict[int, Finding]:
        """Look at partitions until the first rows are known, then at all for what they left open.

        Nothing is read for columns of which a few rows tell enough.
        """
        import dask

        looks = self._start_looks(columns, self.first)
        some = sorted(looks)
        look = dask.delayed(_look_further, pure=False)
        partitions = self._data.partitions(some) if some else []
        for partition in partitions:
            if all(each.n_rows >= LOOK or not each.is_open for each in looks.values()):
                break
            try:
                looks, nbytes = look(partition, looks).compute()
            except InputError:
                raise
            except Exception as error:
                raise naming_partition(error, partitions) from error
            self._reader.bytes += nbytes
        asked = [c for c, each in looks.items() if each.is_open]
        if asked and next(iter(looks.values())).n_rows >= LOOK:
            named = {c: self.names[c] for c in asked}
            start = partial(whole_looks, named, not isinstance(self.names, NumberedNames))
            at = np.array(asked, dtype=np.intp)
            known: dict[int, ColumnLook] = self._passes.run(
                start, look_whole, merge_looks, columns=at
            )
            looks |= known
        return {c: each.finding() for c, each in looks.items()}

    def read_as(self, readings: Readings) -> Source:
        self._passes.readings = readings
        return super().read_as(readings)

    def _walker(self) -> DaskPasses:
        passes = DaskPasses(self._data, self.names, self._reader)
        number, checksums = self._first_look
        if checksums is not None:
            passes.remember(number, checksums)
        return passes

    def kept(self, rows: NDArray[np.bool_]) -> DaskSource:
        """Return some rows of the same table: those where a mask is True."""
        other = DaskSource(KeptPartitions(self._data, self._passes.sizes(), rows))
        other._reader.bytes += self._reader.bytes
        other._reader.passes += self._reader.passes
        other.read_as(self.readings)
        return other

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
        table = self._data
        if not isinstance(table, KeptPartitions):
            return self._passes.targets(self._passes.aligned(values, what), what)
        pieces = self._passes.aligned(values, what, table.whole_sizes)
        return self._passes.targets(table.kept(pieces), what)

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


def _look_further(
    partition: Any, looks: dict[int, ColumnLook]
) -> tuple[dict[int, ColumnLook], int]:
    """Look at one more partition, of these columns, as far as something is open."""
    nbytes, looks = 0, copy.deepcopy(looks)
    for stored in partition.blocks() if is_block_source(partition) else [partition]:
        nbytes += bytes_of(stored)
        block = block_of(stored)
        for k, look in enumerate(looks.values()):
            if look.is_open and block.n_rows:
                look_on(look, block, k)
    return looks, nbytes


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
