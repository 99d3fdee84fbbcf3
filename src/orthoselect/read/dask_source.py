"""Tables that Dask works on as sources of selection.

The rows stay where they are, and so does the response; nothing of the table is persisted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from orthoselect.encode import TargetColumn
from orthoselect.encode.blocks import BlockTable
from orthoselect.errors import ShapeError
from orthoselect.matrix.checksums import Folded, folded, period_of
from orthoselect.matrix.passes import rows_of
from orthoselect.matrix.rows import SpreadRows
from orthoselect.read.block_source import BlockSource, MergedColumn, checksums_of, first_rows
from orthoselect.read.blocks import bytes_of
from orthoselect.read.dask_passes import DaskPasses
from orthoselect.read.dask_table import PartitionedTable, PartOfSource
from orthoselect.read.table import source_of
from orthoselect.read.target import numbers_of


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

    def columns(self, columns: Sequence[int]) -> SpreadRows:
        """Return several columns as `TargetColumn`s in pieces."""
        return self._passes.target_columns(columns)

    @property
    def passes(self) -> DaskPasses:
        """What walks over the partitions."""
        return self._passes

    def count_rows(self) -> int:
        """Return the number of rows, and know those of each partition; that may take a pass."""
        if not self.n_rows:
            one = np.zeros(1, dtype=np.intp)
            self.n_rows = self._passes.n_rows = sum(self._passes.each(rows_of, columns=one))
        return self.n_rows

    def response(self, y: Any, what: str = "y") -> SpreadRows:
        """Return a Dask collection beside the table as `TargetColumn`s in pieces.

        Parameters
        ----------
        y : Dask collection
        what : str
            What to call it in an error.
        """
        return self._passes.targets(self._passes.aligned(y, what), what)

    def weights(self, given: Any) -> SpreadRows:
        """Return row weights as arrays in pieces, not checked.

        Parameters
        ----------
        given : int or Dask collection
            The column that holds them, or themselves.
        """
        what = "`sample_weight`"
        if isinstance(given, int):
            columns = self._passes.target_columns([given], what)
        else:
            columns = self.response(given, what)
        return columns.then(_first_numbers, width=1)


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
            source = source_of(partition)
            sums = checksums_of(source, 0, period_of(source.n_rows))
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
