"""Tables in partitions of rows, each of which is worked on by a task of Dask."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import NumberedNames
from orthoselect.errors import InputError, ShapeError
from orthoselect.matrix.passes import ReadingProgress
from orthoselect.read.row_blocks import ColumnsOf, RowsOf, SourceOf, is_block_source, part_of


class PartitionedTable(ABC):
    """A table in partitions of rows, each of which is worked on by a task of Dask."""

    names: Sequence[str]
    sizes: list[int] | None = None  # rows of each partition; None until a pass has counted them
    memory: int | None = None  # bytes that products may take here
    progress: ReadingProgress | None = None  # called after each pass

    @property
    def n_rows(self) -> int | None:
        """Rows of all partitions, if they are known."""
        return None if self.sizes is None else sum(self.sizes)

    @abstractmethod
    def partitions(self, columns: Sequence[int] | None) -> list[Any]:
        """Return what a task is given of each partition, with some columns or with all."""


class DaskTable(PartitionedTable):
    """A `dask.array.Array` or `dask.dataframe.DataFrame`, maybe with other names."""

    def __init__(
        self, data: Any, memory: int | None = None, names: Sequence[str] | None = None
    ) -> None:
        self._data, self.memory = data, memory
        self._is_frame = hasattr(data, "columns")
        if not self._is_frame and getattr(data, "ndim", 0) != 2:
            ndim = getattr(data, "ndim", None)
            got = "" if ndim is None else f" of {ndim} dimension(s)"
            raise ShapeError(
                f"a Dask table should be a DataFrame, or an Array of two dimensions; got "
                f"{type(data).__name__}{got}. Use `to_frame()`, or `reshape`."
            )
        self.names: Sequence[str]
        if names is not None:
            self.names = names
        elif not self._is_frame:
            self.names = NumberedNames(data.shape[1])
        else:
            self.names = [str(name) for name in data.columns]
            twice = [name for name, count in Counter(self.names).items() if count > 1]
            if twice:
                raise InputError(
                    f"columns should have names of their own; `{min(twice)}` occurs twice. Rename "
                    f"one."
                )
        self.sizes: list[int] | None = None
        if not self._is_frame and not any(math.isnan(size) for size in data.chunks[0]):
            self.sizes = [int(size) for size in data.chunks[0]]

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


class KeptPartitions(PartitionedTable):
    """Some rows of a table in partitions: those where a boolean array is True."""

    _table: PartitionedTable  # with all rows
    _rows: list[NDArray[np.bool_]]  # of each partition, which of them are kept
    whole_sizes: Sequence[int]  # of the partitions with all their rows
    sizes: list[int]

    def __init__(
        self, table: PartitionedTable, sizes: Sequence[int], rows: NDArray[np.bool_]
    ) -> None:
        if isinstance(table, KeptPartitions):
            of_all = np.concatenate(table._rows)
            of_all[of_all] = rows
            sizes, rows, table = table.whole_sizes, of_all, table._table
        self._table, self.whole_sizes, self.names = table, sizes, table.names
        self.memory, self.progress = table.memory, table.progress
        self._rows = np.split(rows, np.cumsum(sizes)[:-1])
        self.sizes = [int(part.sum()) for part in self._rows]

    def partitions(self, columns: Sequence[int] | None) -> list[Any]:
        return self.kept(self._table.partitions(columns))

    def kept(self, pieces: Sequence[Any]) -> list[Any]:
        """Return these rows of something that is cut as the table is."""
        import dask

        keep = dask.delayed(_keep, pure=False)
        return [
            piece
            if rows.all()
            else RowsOf(piece, rows)
            if is_block_source(piece)
            else keep(piece, rows)
            for piece, rows in zip(pieces, self._rows)
        ]


def _keep(piece: Any, rows: NDArray[np.bool_]) -> Any:
    if getattr(piece, "ndim", 2) == 1:
        return piece[rows]
    return part_of(piece, np.flatnonzero(rows).tolist(), slice(None))
