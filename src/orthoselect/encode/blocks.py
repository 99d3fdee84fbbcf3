"""A table whose rows come in blocks: what the first look has told, and how to get the rows.

The levels of categorical columns have been found, and each block is coded by them; so a block is
an ordinary `Table` of some rows, and turns into a matrix as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from orthoselect.encode.table import Table
from orthoselect.matrix import BlockMatrix, Matrix
from orthoselect.matrix.base import Indices
from orthoselect.matrix.blocks import ProjectedMatrix, changed
from orthoselect.matrix.reading import Reading

_SAMPLE = 16  # rows that offsets are guessed from

TableBlocks = Callable[[Indices | None], Iterator[Table]]


@dataclass(frozen=True)
class BlockTable(Table):
    """A table in blocks; `numeric` and the codes of `labels` have no rows.

    Attributes
    ----------
    n_rows : int
        Rows of all blocks.
    blocks : callable
        Given input columns, or None for all, returns an iterator of tables of these columns, one
        for each block; the labels of all have the same levels.
    first : Table or None
        Some rows of the first block.
    reading : Reading
        What counts the passes.
    memory : int or None
        Bytes that products may take; None for a default.
    """

    blocks: TableBlocks = field(kw_only=True)
    first: Table | None = None
    reading: Reading = field(default_factory=Reading)
    memory: int | None = None

    @property
    def in_blocks(self) -> bool:
        return True

    def _without_rows(self) -> Table:
        """Return the table of no rows that this one is, if nobody asks for blocks."""
        return Table(0, self.names, self.numeric, self.numeric_at, self.labels, self.precision)

    def walk(self, columns: Indices | None = None) -> Iterator[tuple[slice, Table]]:
        """Yield the blocks of some input columns, or of all, in a pass; and which rows they are."""
        start = 0
        for table in self.reading.walk(self.blocks(columns)):
            rows = slice(start, start + table.n_rows)
            if rows.stop > self.n_rows:
                raise changed(self.n_rows, f"at least {rows.stop}")
            start = rows.stop
            yield rows, table
        if start < self.n_rows:
            raise changed(self.n_rows, str(start))

    def matrix(self, make: Callable[[Table], Matrix], starts: Indices, widths: Indices) -> Matrix:
        owners = _owners(starts, widths)
        n = len(owners)

        def matrices(J: Indices | None) -> Iterator[Matrix]:
            if J is None:
                yield from map(make, self.blocks(None))
                return
            columns = np.unique(owners[J])
            mine = np.flatnonzero(np.isin(owners, columns))
            for table in self.blocks(columns):
                yield ProjectedMatrix(make(table), mine, n)

        sample = None
        if self.first is not None:
            rows = np.linspace(0, self.first.n_rows - 1, _SAMPLE).astype(np.intp)
            sample = make(self.first).pilot(np.unique(rows))
        return BlockMatrix(
            matrices,
            self.n_rows,
            make(self._without_rows()),
            sample=np.zeros((1, n)) if sample is None else sample,
            reading=self.reading,
            memory=self.memory,
        )


def _owners(starts: Indices, widths: Indices) -> Indices:
    """Return the input column that owns each design column, (n,)."""
    used = np.flatnonzero(widths > 0)
    used = used[np.argsort(starts[used], kind="stable")]
    return np.repeat(used, widths[used])
