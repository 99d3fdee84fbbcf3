"""A table of any kind as a source of blocks of rows; a table in memory is one block.

A selection asks a `Source`, and never what kind of storage is behind it: names and number of
rows, which columns hold labels, the table itself, the response and the row weights.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import NumberedNames, Response, Table, TargetColumn, build_response
from orthoselect.encode.table import BlockTable
from orthoselect.encode.weights import check_weights
from orthoselect.errors import InputError, ShapeError
from orthoselect.matrix.base import Indices
from orthoselect.matrix.checksums import (
    ChecksumHistory,
    ChecksumWalk,
    Sums,
    period_of,
    rows_to_check,
)
from orthoselect.matrix.memory import count_bytes
from orthoselect.matrix.passes import (
    BlockReader,
    LocalPasses,
    Passes,
    altered,
    name_of_block,
    naming,
)
from orthoselect.matrix.rows import Rows
from orthoselect.read.block import Block
from orthoselect.read.dataset import Dataset
from orthoselect.read.frame_block import block_of, columns_like
from orthoselect.read.looks import ColumnLook, Finding, look_on
from orthoselect.read.numpy_files import NpyBlocks
from orthoselect.read.open import map_blocks, read_table
from orthoselect.read.partitions import DaskTable, PartitionedTable, SplitTable
from orthoselect.read.readings import Readings
from orthoselect.read.row_blocks import (
    ColumnsOf,
    OnDask,
    RowsOf,
    SourceOf,
    as_asked,
    bytes_of,
    check_block_names,
    gathered,
    is_block_source,
    is_dask,
    is_path,
    is_spark,
    part_of,
    response_columns,
    stored_at,
)
from orthoselect.read.survey import Survey, TableCoder, numbers_of, read_target

Total = TypeVar("Total")
_FIRST_ROWS = 64
_LOOKED_AT = 64  # columns, in search of those that tell rows apart
_MOST_ANCHORS = 8


class Source:
    """A table that has been looked at but not read; one in memory is one block."""

    names: Sequence[str]  # x0, x1, ... where the input has none
    n_rows: int  # known once the table has been read; 0 before, unless it is known
    memory: int | None = None  # bytes that may be taken beside the blocks, if there is a bound
    _writes_response = True  # whether the response basis is written out, row by row

    def __init__(self, block: Block) -> None:
        self.first = block  # of a table that is not in memory, a few rows of the first block
        self.names, self.n_rows = block.names, block.n_rows
        self.readings = Readings(block.names)  # how columns are read

    def look(self, columns: Collection[int]) -> dict[int, Finding]:
        """Find out what columns hold, of those that are not plainly features."""
        looks = self._start_looks(columns, self.first)
        for c, look in looks.items():
            look_on(look, self.first, c)
        return {c: look.finding() for c, look in looks.items()}

    def _start_looks(self, columns: Collection[int], first: Block) -> dict[int, ColumnLook]:
        is_named = not isinstance(self.names, NumberedNames)
        asked = sorted(first.unclear().intersection(columns))
        return {c: ColumnLook(self.names[c], is_named=is_named) for c in asked}

    def columns_like(self, values: Any) -> list[int]:
        """Return the columns that hold the very values given, one for each row."""
        return columns_like(self.first, values)

    def read_as(self, readings: Readings) -> Source:
        """Return the same table, its columns read so."""
        if readings.change_nothing:
            return self
        other = Source(readings.read(self.first))
        other.readings = readings
        return other

    def over_blocks(
        self,
        start: Callable[[], Total],
        add: Callable[..., None],
        merge: Callable[[Total, Total], Total],
        *,
        columns: Indices,
        along: Sequence[Rows | None],
    ) -> Total:
        """Make one pass: ``add(total, block, *along)`` for each `Block`; as `Passes.run`."""
        total = start()
        add(total, self.first, *along)
        return total

    def read(self, categorical: set[int], skip: set[int], keep: Mapping[int, str] = {}) -> Table:
        """Read all columns but those to skip.

        `keep` are the response and the weights, which are asked for later: column -> what to call
        it in an error.
        """
        block, is_numeric = self.first, np.ones(len(self.names), dtype=bool)
        # A few more columns in an array beat a copy without them.
        if not block.is_array or 2 * len(categorical | skip) > len(self.names):
            is_numeric[[*skip, *categorical]] = False
        numeric_at = np.flatnonzero(is_numeric)
        return Table(
            n_rows=self.n_rows,
            names=self.names,
            numeric=block.numeric(numeric_at),
            numeric_at=numeric_at,
            labels={c: block.labels(c) for c in sorted(categorical - skip)},
            precision=block.precision(numeric_at),
        )

    def column(self, column: int) -> Any:
        """Return a column that `read` was told to keep: an array, a series or a `TargetColumn`."""
        return self.first.column(column)

    def target_columns(self, target: Any, taken: Sequence[int]) -> list[TargetColumn]:
        """Return the columns of the response: values that were given, or columns of the table."""
        if not taken:
            return read_target(gathered(target), self.n_rows)
        called = names_in_errors(taken, self.names).items()
        return [read_target(self.column(c), self.n_rows, name)[0] for c, name in called]

    def response(
        self, target: Any, taken: Sequence[int], task: str, encoding: str, weights: Rows | None
    ) -> tuple[Response, Rows | None]:
        """Code the response, values or the columns taken; return it with the weights beside it."""
        columns = self.target_columns(target, taken)
        in_blocks = not self._writes_response
        return build_response(columns, task, encoding, weights, in_blocks=in_blocks), weights

    def weights(self, given: Any, column: int | None, *, keep_whole: bool) -> Rows | None:
        """Return the row weights, checked: those given, or a column that was kept."""
        if given is None and column is None:
            return None
        values = gathered(given)
        if column is not None:
            values = numbers_of(self.column(column), self.names[column])
        return check_weights(values, self.n_rows, keep_whole=keep_whole)

    def per_row(self, values: Any) -> Any:
        """Return a response that is no column of the table, not read: here, or where its rows are.

        A response on several machines is returned as `TargetColumn`s in pieces.
        """
        return gathered(values)

    def weights_per_row(self, weights: Any) -> Rows:
        """Return row weights that are no column of the table, not checked: here, or in pieces."""
        return np.atleast_1d(np.asarray(gathered(weights)))


def names_in_errors(taken: Sequence[int], names: Sequence[str]) -> dict[int, str]:
    """Return what to call each column of the response in errors."""
    return {c: f"the target `{names[c]}`" for c in taken}


class BlockSource(Source):
    """A table in blocks that has been looked at, its first block only.

    The data are a source of blocks; `rows` a few rows of the first, if they were read already.
    """

    _writes_response = False

    def __init__(self, data: Any, rows: Any = None) -> None:
        self._data = data
        self._is_watched = getattr(data, "is_watched", False)  # then it notices by itself
        self._reader = BlockReader(progress=getattr(data, "progress", None))
        # Of columns that were read elsewhere already, for this very selection.
        self._history: ChecksumHistory | None = getattr(data, "history", None)
        self._rows = self._peek() if rows is None else rows
        self.first = block_of(self._rows)
        given = self.first.names if data.names is None else data.names
        given = given if isinstance(given, NumberedNames) else [str(name) for name in given]
        check_block_names(given, self.first.names, 0)
        self.names: Sequence[str] = given
        self.n_rows: int = getattr(data, "n_rows", None) or 0
        self.readings = Readings(self.names)
        self._passes = self._walker()
        self.memory = getattr(data, "memory", None)
        self._target: dict[int, TargetColumn] = {}

    def _walker(self) -> Passes:
        """Return what walks over the blocks, each a `Block`."""
        return LocalPasses(self._open_all, self.n_rows or None, self._reader, self._place)

    def columns_like(self, values: Any) -> list[int]:
        """Return none: it would take a pass to see."""
        return []

    def look(self, columns: Collection[int]) -> dict[int, Finding]:
        """Look at the columns that few rows left open, block by block until nothing is."""
        looks = self._start_looks(columns, self.first)
        asked = np.array(list(looks), dtype=np.intp)
        with closing(self._open_all(asked)) as blocks:
            for block in blocks if looks else ():
                self._reader.bytes += block.nbytes
                for k, look in enumerate(looks.values()):
                    if look.is_open:
                        look_on(look, block, k)
                if not any(look.is_open for look in looks.values()):
                    break
        return {c: look.finding() for c, look in looks.items()}

    def read_as(self, readings: Readings) -> Source:
        """Read columns so from now on."""
        self.readings = readings
        if not readings.change_nothing:
            self.first, self.names = readings.read(self.first), readings.all_names
        return self

    def reordered(self, columns: Sequence[int]) -> BlockSource:
        """Return the same table with its columns in another order, without another look at it."""
        order = list(columns)
        rows = part_of(self._rows, slice(None), order)
        history = self.history.of_columns(np.array(order, dtype=np.intp))
        other = BlockSource(ColumnsOf(self._data, order, self.names, history), rows)
        other._reader.bytes += self._reader.bytes
        return other

    def kept(self, rows: NDArray[np.bool_]) -> BlockSource:
        """Return some rows of the same table: those where a mask is True."""
        other = BlockSource(RowsOf(self._data, rows))
        other.names = self.readings.names
        other._reader.bytes += self._reader.bytes
        other._reader.passes += self._reader.passes
        other.read_as(self.readings)
        return other

    def _peek(self) -> Any:
        """Return a few rows of the first block that has any."""
        blocks = iter(self._data.blocks(None))
        with closing(blocks) if hasattr(blocks, "close") else nullcontext():
            for block in blocks:
                self._reader.bytes += bytes_of(block)
                rows = first_rows(block)
                if rows is not None:
                    self._remember(block_of(block))
                    return rows
        raise ShapeError("there should be blocks with rows to select from; there are none.")

    def _remember(self, first: Block) -> None:
        """Start the history of checksums with those of the first block, or go on with it."""
        if self._history is None:
            self._history = ChecksumHistory(period_of(first.n_rows))
        if self._is_watched:
            return
        first.place = self._place(0, slice(0, first.n_rows))
        rows, walk = slice(0, first.n_rows), self._history.walk(np.arange(len(first.names)))
        names = first.names if self._data.names is None else self._data.names
        check(walk, first, rows, names)
        walk.end(is_whole=False)

    @property
    def history(self) -> ChecksumHistory:
        """The checksums of what has been read so far."""
        assert self._history is not None  # since the first look
        return self._history

    def over_blocks(self, *functions: Any, **how: Any) -> Any:
        return self._passes.run(*functions, **how)

    def column(self, column: int) -> TargetColumn:
        return self._target[column]

    def read(
        self, categorical: set[int], skip: set[int], keep: Mapping[int, str] = {}
    ) -> BlockTable:
        """Find the levels of categorical columns in a pass of their own; keep columns whole."""
        labeled = sorted(categorical - skip)
        survey = self._survey(labeled, keep, skip)
        self._target = dict(zip(keep, survey.targets()))
        coder = TableCoder(self.names, labeled, survey, skip, self.first)
        return BlockTable(
            n_rows=self.n_rows,
            names=self.names,
            numeric=coder.template.numeric,
            numeric_at=coder.template.numeric_at,
            labels=coder.template.labels,
            precision=coder.template.precision,
            passes=self._passes,
            maker=coder,
            first=coder.first,
            memory=self.memory,
        )

    def _survey(self, labeled: Sequence[int], keep: Mapping[int, str], skip: set[int]) -> Survey:
        """Find what has to be known of all rows, in a pass if there is anything."""
        start = partial(Survey, [self.names[c] for c in labeled], list(keep.values()))
        wanted = [*labeled, *keep]
        survey = start()
        if wanted or not self.n_rows:
            columns = np.array([*wanted, *self._anchors(wanted, skip)] or [0], dtype=np.intp)
            survey = self._passes.run(start, Survey.look, Survey.merge, columns=columns)
            self.n_rows = self._passes.n_rows = survey.n_rows
        if self.n_rows < 2:
            raise ShapeError(
                f"Found blocks with {self.n_rows} sample(s) in all; a minimum of 2 is required."
            )
        return survey

    def _anchors(self, wanted: Sequence[int], skip: set[int]) -> list[int]:
        """Return a few columns to read along with those of the survey.

        By them later passes are seen to have the same rows in the same order, though they may read
        none of the columns that the survey is for. They are columns that tell rows apart, as far as
        a few rows show. Of files, which are watched, there are none.
        """
        if self._is_watched:
            return []
        rest = [c for c in range(len(self.names)) if c not in wanted]
        rest = [c for c in rest if c not in skip] or rest
        distinct: dict[int, int] = {}
        for c in rest[:: max(1, len(rest) // _LOOKED_AT)]:
            distinct[c] = self.first.n_distinct(c)
            if 2 * distinct[c] > self.first.n_rows:
                return [c]
        return sorted(distinct, key=distinct.__getitem__, reverse=True)[:_MOST_ANCHORS]

    def _open_all(self, columns: Indices | None) -> Generator[Block, None, None]:
        """Yield the blocks that have rows, with some columns or all, looked at and checked."""
        start = number = 0
        every, needed = self.readings.names, self.readings.stored(columns)
        asked = as_asked(needed, len(every))
        names = every if asked is None else [every[c] for c in asked]
        walk = self.history.walk(np.arange(len(every)) if asked is None else np.array(asked))
        for stored in self._data.blocks(asked):
            block = open_block(stored, number, f"block {number} (from row {start} on)", names)
            if block.n_rows:  # dtypes of nothing tell nothing
                rows = slice(start, start + block.n_rows)
                block.place = self._place(number, rows)
                if not self._is_watched:
                    check(walk, block, rows, every)
                yield self.readings.read(block, needed, columns)
                start, number = rows.stop, number + 1
            del block, stored
        walk.end()

    def _place(self, number: int, rows: slice) -> str:
        """Return what to call a block, and where it is stored if the source can tell."""
        stored = stored_at(self._data, rows)
        return name_of_block(number, rows) + ("" if stored is None else f" of {stored}")


def check(walk: ChecksumWalk, block: Block, rows: slice, names: Sequence[str]) -> None:
    """Raise unless the next block, of these rows, is what it was in passes before."""
    agreed, place = walk.agreed, block.place
    odd = walk.add(rows.stop, checksums_of(block, rows.start, walk.period))
    if len(odd):
        if agreed < rows.start:  # blocks were cut otherwise, or are too many to be known one by one
            place = f"rows {agreed} to {rows.stop - 1}, up to {place}"
        raise altered([names[c] for c in odd.tolist()], place)


def checksums_of(block: Block, start: int, period: int) -> Sums:
    """Return the checksum of each column of a block that begins with this row."""
    rows, weights = rows_to_check(start, block.n_rows, period)
    if not len(weights):
        return np.zeros(len(block.names), dtype=np.uint64)
    return block.checksums(rows, weights)


def first_rows(block: Any) -> Any:
    """Return a few rows of a block, None if it has none."""
    with naming("the first block"):
        n_rows = block_of(block).n_rows
    if not n_rows:
        return None
    rows = np.unique(np.linspace(0, n_rows - 1, _FIRST_ROWS).astype(np.intp))
    return part_of(block, rows.tolist(), slice(None))


def open_block(stored: Any, number: int, place: str, names: Sequence[str]) -> Block:
    """Look at a block; it should have the columns of these names."""
    with naming(place):
        block = block_of(stored)
    check_block_names(names, block.names, number)
    block.names, block.place, block.nbytes = names, place, bytes_of(stored)
    return block


# What kind of table was given: asked here and nowhere else


def find_table(data: Any, memory: int | str | None = None) -> Any:
    """Return what a path or a memory map stands for; other data are returned as they are.

    What does not fit into `memory` comes in blocks.
    """
    if is_path(data):
        return read_table(data, memory=memory)
    if isinstance(data, np.memmap):
        return map_blocks(data, memory)
    if memory is None:
        return data
    if is_dask(data):
        return DaskTable(data, count_bytes(memory))
    if isinstance(data, Dataset) and data.in_blocks:
        return replace(data, data=SourceOf(data.data, count_bytes(memory)))
    if is_block_source(data):
        return SourceOf(data, count_bytes(memory))
    raise InputError(
        f"`memory` is for files, memory maps and tables in blocks or partitions; got a "
        f"{type(data).__name__}, which is in memory already. Omit it."
    )


def find_for_one_pass(data: Any, memory: int | str | None = None) -> Any:
    """Return what `find_table` does; a Spark DataFrame, which allows one pass, as a `Source`."""
    if is_spark(data):
        from orthoselect.read.spark_source import SparkSource  # which is a source of our kind

        return SparkSource(data, None if memory is None else count_bytes(memory))
    return find_table(data, memory)


def find_file(data: Any) -> Any:
    """Return what a path stands for; other data are returned as they are."""
    return read_table(data) if is_path(data) else data


def open_source(data: Any, fewest_rows: int = 2) -> Source:
    """Look at a table of any kind: in memory, a Dataset, a source of blocks, or one of Dask.

    A table in memory has to have at least `fewest_rows`; rows of others are not counted yet.
    """
    if isinstance(data, Source):
        return data
    stored = data.data if isinstance(data, Dataset) else data
    if isinstance(stored, OnDask):
        stored = SplitTable(stored)
    elif is_dask(stored):
        stored = DaskTable(stored)
    if isinstance(stored, PartitionedTable):
        source = _dask_source(stored)
    elif is_block_source(stored):
        source = BlockSource(stored)
    else:
        source = Source(block_of(data))
        n_rows, n = source.n_rows, len(source.names)
        if n < 1:
            raise ShapeError(
                f"Found X with 0 feature(s) (shape=({n_rows}, 0)) while a minimum of 1 is required."
            )
        if n_rows < fewest_rows:
            raise ShapeError(
                f"Found X with {n_rows} sample(s) (shape=({n_rows}, {n})) while a minimum of "
                f"{fewest_rows} is required: n_samples={n_rows} leaves nothing to compare."
            )
    readings = data.readings if isinstance(data, Dataset) else None
    return source if readings is None else source.read_as(readings)


def why_not_whole(data: Any) -> tuple[str, str] | None:
    """Return why a table is not in memory, and what could be done about it; None if it is."""
    stored = data.data if isinstance(data, Dataset) else data
    if is_spark(stored):
        return "is on Spark", "call its `toPandas()`, if it fits"
    elsewhere = isinstance(stored, (PartitionedTable, BlockSource))
    if elsewhere or is_block_source(stored) or is_dask(stored):
        if isinstance(data, (Dataset, NpyBlocks)):
            return "is too large for that", "set `memory` higher, if there is more"
        if is_dask(data):
            return "comes in blocks", "call its `compute()`, if it fits"
        return "comes in blocks", "put the blocks together"
    return None


def is_spread(data: Any) -> bool:
    """Whether parts of a table are worked on one apart from the other, as Dask does."""
    stored = data.data if isinstance(data, Dataset) else data
    return isinstance(stored, (OnDask, PartitionedTable)) or is_dask(stored)


def is_kept_elsewhere(data: Any, target: Any = None, sample_weight: Any = None) -> bool:
    """Whether a table is a file, or comes in blocks or partitions: `fit` may name its columns.

    A memory map counts only where some of its columns are named: else it is an array like any
    other.
    """
    if not isinstance(data, np.memmap) or data.ndim != 2:
        return is_path(data) or isinstance(data, Dataset) or is_dask(data) or is_block_source(data)
    names = NumberedNames(data.shape[1])
    return isinstance(sample_weight, str) or bool(response_columns(target, names))


def open_named(data: Any) -> Any:
    """Return a table whose columns have names, and can be brought into another order."""
    if isinstance(data, np.memmap):
        return BlockSource(NpyBlocks(data))
    data = find_table(data)
    if is_dask(data):
        return DaskTable(data)
    return BlockSource(data) if is_block_source(data) else data


def _dask_source(table: PartitionedTable) -> Source:
    from orthoselect.read.dask_source import DaskSource  # which is a source of our kind

    return DaskSource(table)
