"""A table whose rows come in blocks: what the first look has told, and how to get the rows.

The levels of categorical columns have been found, and each block is coded by them; so a block is
an ordinary `Table` of some rows, and turns into a matrix as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from orthoselect.encode.table import Table
from orthoselect.matrix import BlockMatrix, Matrix
from orthoselect.matrix.base import Indices
from orthoselect.matrix.blocks import ProjectedMatrix
from orthoselect.matrix.passes import Passes, Prepare
from orthoselect.matrix.rows import Rows

_SAMPLE = 16  # rows that offsets are guessed from


class TableMaker(Protocol):
    """Makes tables of blocks; it may be sent to where the blocks are."""

    def columns(self, columns: Indices | None) -> Indices:
        """Return the input columns that a block is to have for these; None for all."""
        ...

    def table(self, block: Any, at: Indices) -> Table:
        """Return a block of the input columns `at` as a table."""
        ...


@dataclass(frozen=True)
class BlockTable(Table):
    """A table in blocks; `numeric` and the codes of `labels` have no rows.

    Attributes
    ----------
    n_rows : int
        Rows of all blocks.
    passes : Passes
    maker : TableMaker
        The labels of all its tables have the same levels.
    first : Table or None
        Some rows of the first block.
    memory : int or None
        Bytes that products may take; None for a default.
    """

    passes: Passes = field(kw_only=True)
    maker: TableMaker = field(kw_only=True)
    first: Table | None = None
    memory: int | None = None

    @property
    def in_blocks(self) -> bool:
        return True

    def _without_rows(self) -> Table:
        """Return the table of no rows that this one is, if nobody asks for blocks."""
        return Table(0, self.names, self.numeric, self.numeric_at, self.labels, self.precision)

    def how(
        self,
        columns: Indices | None,
        along: Sequence[Rows | None] = (),
        make: Callable[[Table], Any] | None = None,
    ) -> dict[str, Any]:
        """Return what to tell passes over some input columns, or all.

        Parameters
        ----------
        along : sequence
            What is cut where the rows are cut.
        make : callable, optional
            Makes of a block's table what the work is given.
        """
        at = self.maker.columns(columns)
        return {"columns": at, "prepare": _MakeTable(self.maker, at, make), "along": along}

    def matrix(self, make: Callable[[Table], Matrix], starts: Indices, widths: Indices) -> Matrix:
        n = int(widths[widths > 0].sum())
        sample = None
        if self.first is not None:
            rows = np.linspace(0, self.first.n_rows - 1, _SAMPLE).astype(np.intp)
            sample = make(self.first).pilot(np.unique(rows))
        return BlockMatrix(
            self.passes,
            make(self._without_rows()),
            project=_Projection(self.maker, make, _owners(starts, widths)),
            sample=np.zeros((1, n)) if sample is None else sample,
            memory=self.memory,
        )


@dataclass(frozen=True)
class _MakeTable:
    """Makes a table of a block, and something else of the table."""

    maker: TableMaker
    at: Indices
    make: Callable[[Table], Any] | None

    def __call__(self, block: Any) -> Any:
        table = self.maker.table(block, self.at)
        return table if self.make is None else self.make(table)


@dataclass(frozen=True)
class _MakeProjected:
    """Makes a matrix of a table with some of the columns."""

    make: Callable[[Table], Matrix]
    mine: Indices
    n: int

    def __call__(self, table: Table) -> Matrix:
        return ProjectedMatrix(self.make(table), self.mine, self.n)


@dataclass(frozen=True)
class _Projection:
    """Says which input columns are needed for columns of the design, and what to make of them.

    Attributes
    ----------
    maker : TableMaker
    make : callable
    owners : array of shape (n,)
        The input column that owns each design column.
    """

    maker: TableMaker
    make: Callable[[Table], Matrix]
    owners: Indices

    def __call__(self, J: Indices | None) -> tuple[Indices, Prepare]:
        if J is None:
            at = self.maker.columns(None)
            return at, _MakeTable(self.maker, at, self.make)
        columns = np.unique(self.owners[J])
        mine = np.flatnonzero(np.isin(self.owners, columns))
        at = self.maker.columns(columns)
        made = _MakeProjected(self.make, mine, len(self.owners))
        return at, _MakeTable(self.maker, at, made)


def _owners(starts: Indices, widths: Indices) -> Indices:
    """Return the input column that owns each design column, (n,)."""
    used = np.flatnonzero(widths > 0)
    used = used[np.argsort(starts[used], kind="stable")]
    return np.repeat(used, widths[used])
