"""A table in blocks, column by column: each answer takes a pass, over those columns alone."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.errors import ShapeError
from orthoselect.lazy import lazy
from orthoselect.matrix.checksums import ChecksumHistory
from orthoselect.read.blocks import bytes_of, stored_at
from orthoselect.read.columns import Columns, Gaps, NumberLike, columns_of
from orthoselect.read.dask_table import OnDask
from orthoselect.read.looks import ColumnLook, look_of


class BlockColumns(Columns):
    """A source of blocks that are arrays or pyarrow tables.

    Parameters
    ----------
    source : FileBlocks, NpyBlocks, or rows or columns of one

    Attributes
    ----------
    bytes_read : int
        Bytes of all blocks that were read to answer.
    """

    def __init__(self, source: Any) -> None:
        self._source = source
        self.bytes_read = 0

    def _read(self, columns: Sequence[int] | None) -> Generator[Any, None, None]:
        """Yield blocks, and count them."""
        for block in self._source.blocks(columns):
            self.bytes_read += bytes_of(block)
            yield block

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """The number of rows."""
        return self._source.n_rows

    def column(self, at: int) -> Any:
        """Return one column whole."""
        return columns_of(joined(self._read([at]))).column(0)

    def parts(self, at: int) -> Iterator[Any]:
        """Yield the values of one column, block by block."""
        for block in self._read([at]):
            yield columns_of(block).column(0)

    def reason_against(self, at: int, name: str) -> str | None:
        return self._looks[at].reason()

    def numbers_as_text(self, at: int) -> NumberLike | None:
        return self._looks[at].numbers()

    @lazy
    def _looks(self) -> list[ColumnLook]:
        """Look at the first block, and at others as far as it left something open."""
        names = self._source.names
        looks: list[ColumnLook] = []
        with closing(self._read(None)) as blocks:
            for block in blocks:
                columns = columns_of(block)
                looks = [look_of(columns.column(at)) for at in range(len(names))]
                _look(looks, block, range(len(names)), names)
                break
        if not looks:
            raise ShapeError("there should be blocks with rows to select from; there are none.")
        asked = [at for at, look in enumerate(looks) if look.is_open]
        if asked:
            self._look_on(looks, asked)
        return looks

    def _look_on(self, looks: list[ColumnLook], asked: list[int]) -> None:
        """Look at the second block and those after it."""
        with closing(self._read(asked)) as blocks:
            for number, block in enumerate(blocks):
                if number and not _look(looks, block, asked, self._source.names):
                    return

    def gaps(self, columns: Sequence[int]) -> Gaps:
        total: dict[int, tuple[int, int]] = {}
        for block in self._blocks(columns):
            for k, (missing, infinite) in columns_of(block).gaps(range(len(columns))).items():
                before = total.get(columns[k], (0, 0))
                total[columns[k]] = before[0] + missing, before[1] + infinite
        return dict(sorted(total.items()))

    def rows_with_gaps(self, columns: Iterable[int]) -> NDArray[np.bool_]:
        columns = list(columns)
        if not columns:
            return np.zeros(self.n_rows, dtype=bool)
        every = range(len(columns))
        parts = [columns_of(block).rows_with_gaps(every) for block in self._blocks(columns)]
        return np.concatenate(parts)

    def _blocks(self, columns: Sequence[int]) -> Iterator[Any]:
        return self._read(list(columns)) if len(columns) else iter(())

    def take_rows(self, rows: NDArray[np.bool_]) -> Any:
        return self._where_it_was(partial(RowsOf, rows=rows))

    def take_columns(self, columns: list[int]) -> Any:
        return self._where_it_was(partial(ColumnsOf, columns=columns))

    def _where_it_was(self, part: Callable[[Any], Any]) -> Any:
        """Return a part of the source; what Dask's workers are to read stays theirs."""
        if not isinstance(self._source, OnDask):
            return part(self._source)
        there = OnDask(part(self._source.source))
        there.progress = self._source.progress
        return there


def joined(blocks: Iterable[Any]) -> Any:
    """Return the rows of all blocks as one array or pyarrow table."""
    parts = list(blocks)
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    import pyarrow as pa

    return pa.concat_tables(parts)


def _look(
    looks: Sequence[ColumnLook], block: Any, asked: Sequence[int], names: Sequence[str]
) -> bool:
    """Look at columns of a block; whether any is still open."""
    columns = columns_of(block)
    for k, at in enumerate(asked):
        if looks[at].is_open:
            looks[at].add(columns.column(k), names[at])
    return any(looks[at].is_open for at in asked)


class _Some:
    """Some of a source of blocks, which is as it was in all else."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self.names: Sequence[str] = source.names
        self.memory = getattr(source, "memory", None)
        self.progress = getattr(source, "progress", None)
        self.is_watched = getattr(source, "is_watched", False)


class ColumnsOf(_Some):
    """Some columns of a source of blocks.

    Parameters
    ----------
    source : source of blocks
    columns : sequence of int
    names : sequence of str, optional
        What the columns of the source are called, where it does not say.
    history : ChecksumHistory, optional
        What has been read of these columns, for the same selection; it has to stay so.
    """

    def __init__(
        self,
        source: Any,
        columns: Sequence[int],
        names: Sequence[str] | None = None,
        history: ChecksumHistory | None = None,
    ) -> None:
        super().__init__(source)
        self.history = history
        self._columns = list(columns)
        self._all = source.names if names is None else names
        self.names = [self._all[at] for at in columns]

    @property
    def n_rows(self) -> int:
        """The number of rows, if the source knows."""
        return getattr(self._source, "n_rows", None)  # type: ignore[return-value]

    def blocks(self, columns: Sequence[int] | None = None) -> Iterator[Any]:
        """Yield the blocks of some columns, or of all of these."""
        wanted = self._columns if columns is None else [self._columns[at] for at in columns]
        yield from self._source.blocks(wanted)

    def where(self, rows: slice) -> str | None:
        """Return where these rows are stored, for an error."""
        return stored_at(self._source, rows)

    def split(self) -> list[ColumnsOf]:
        """Return sources of the rows in order, each to be read elsewhere."""
        return [ColumnsOf(part, self._columns, self._all) for part in self._source.split()]


class RowsOf(_Some):
    """Some rows of a source of blocks.

    Parameters
    ----------
    source : source of blocks
    rows : boolean array
    """

    def __init__(self, source: Any, rows: NDArray[np.bool_]) -> None:
        super().__init__(source)
        self._rows = rows
        self.n_rows = int(rows.sum())

    def blocks(self, columns: Sequence[int] | None = None) -> Iterator[Any]:
        """Yield these rows of the blocks of some columns, or of all."""
        start = 0
        for block in self._source.blocks(columns):
            stop = start + columns_of(block).n_rows
            rows = self._rows[start:stop]
            start = stop
            if rows.any():
                yield block if rows.all() else columns_of(block).take_rows(rows)

    def where(self, rows: slice) -> str | None:
        """Return where these rows are stored, for an error."""
        stored = np.flatnonzero(self._rows)[[rows.start, max(rows.start, rows.stop - 1)]]
        return stored_at(self._source, slice(int(stored[0]), int(stored[1]) + 1))

    def split(self) -> list[RowsOf]:
        """Return sources of the rows in order, each to be read elsewhere."""
        parts = self._source.split()
        cuts = np.cumsum([part.n_rows for part in parts])[:-1]
        return [RowsOf(part, rows) for part, rows in zip(parts, np.split(self._rows, cuts))]
