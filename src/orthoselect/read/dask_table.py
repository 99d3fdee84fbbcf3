"""Tables of Dask: their columns and partitions."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from orthoselect.encode import NumberedNames
from orthoselect.errors import InputError, ShapeError
from orthoselect.matrix.passes import ReadingProgress


class PartitionedTable(ABC):
    """A table in partitions of rows, each of which is worked on by a task of Dask.

    Attributes
    ----------
    names : sequence of str
    sizes : list of int or None
        Rows of each partition; None as long as nobody knows.
    memory : int or None
        Bytes that products may take here.
    progress : callable or None
        Called after each pass with its number and the bytes read so far.
    """

    names: Sequence[str]
    sizes: list[int] | None = None
    memory: int | None = None
    progress: ReadingProgress | None = None

    @property
    def n_rows(self) -> int | None:
        """Rows of all partitions, if they are known."""
        return None if self.sizes is None else sum(self.sizes)

    @abstractmethod
    def partitions(self, columns: Sequence[int] | None) -> list[Any]:
        """Return what a task is given of each partition, with some columns or with all."""


class DaskTable(PartitionedTable):
    """A collection of Dask.

    Parameters
    ----------
    data : dask.array.Array or dask.dataframe.DataFrame
    memory : int, optional
    names : sequence of str, optional
        What its columns are called, if not as the collection has it.
    """

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
    """A source of blocks in parts, each of which is read by the task that works on it.

    Parameters
    ----------
    source : source of blocks
        With a method `split`, which returns sources of its rows in order.
    """

    def __init__(self, source: Any) -> None:
        parts = source.split()
        # A part without rows has no blocks either, and would not even tell of its columns' types.
        self._source, self._parts = source, [part for part in parts if part.n_rows] or parts
        self.names = source.names
        self.sizes = [part.n_rows for part in self._parts]
        self.memory = getattr(source, "memory", None)
        self.progress = getattr(source, "progress", None)
        self.is_watched = getattr(source, "is_watched", False)

    def partitions(self, columns: Sequence[int] | None) -> list[Any]:
        return [PartOfSource(part, columns) for part in self._parts]


class PartOfSource:
    """Some columns of a source of blocks, or all."""

    def __init__(self, source: Any, columns: Sequence[int] | None) -> None:
        self._source, self._columns = source, columns
        self.n_rows = source.n_rows
        self.is_watched = getattr(source, "is_watched", False)

    def blocks(self) -> Iterator[Any]:
        """Yield the blocks."""
        yield from self._source.blocks(self._columns)


class OnDask:
    """A source of blocks that is to be worked on by Dask's workers, who can read it as well.

    Parameters
    ----------
    source : source of blocks
        As for `SplitTable`.
    """

    def __init__(self, source: Any) -> None:
        self.source = source
        self.names = source.names
        self.n_rows = source.n_rows
        self.progress: ReadingProgress | None = None

    def blocks(self, columns: Sequence[int] | None = None) -> Iterator[Any]:
        """Yield the blocks, here."""
        yield from self.source.blocks(columns)

    def table(self) -> SplitTable:
        """Return the table in partitions."""
        table = SplitTable(self.source)
        table.progress = self.progress
        return table
