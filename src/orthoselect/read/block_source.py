"""A source of blocks, read: surveyed in a first pass, then coded block by block.

The first pass finds what has to be known of all rows before any can be worked on: the levels of
categorical columns, the response, the number of rows. It reads those columns only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import Labels, NumberedNames, Table, TargetColumn
from orthoselect.encode.blocks import BlockTable
from orthoselect.encode.labels import LevelsSeen
from orthoselect.encode.target import check_finite
from orthoselect.errors import InputError, NonFiniteError, ShapeError, listing
from orthoselect.matrix.base import Indices
from orthoselect.matrix.checksums import (
    ChecksumHistory,
    ChecksumWalk,
    Sums,
    period_of,
    rows_to_check,
)
from orthoselect.matrix.passes import LocalPasses, Passes, altered, name_of_block, naming
from orthoselect.matrix.reading import Reading
from orthoselect.read.block_columns import ColumnsOf
from orthoselect.read.blocks import as_asked, bytes_of, check_names, part_of, stored_at
from orthoselect.read.table import Source, source_of
from orthoselect.read.target import read_target

_FIRST_ROWS = 64
_LOOKED_AT = 64  # columns, in search of those that tell rows apart
_MOST_ANCHORS = 8


class BlockSource:
    """A table in blocks that has been looked at, its first block only.

    Parameters
    ----------
    data : source of blocks
    rows : block, optional
        A few rows of the first block, if they have been looked at already.

    Attributes
    ----------
    names : sequence of str
    first : Source
        A few rows of the first block.
    n_rows : int
        Known once the table has been read.
    """

    def __init__(self, data: Any, rows: Any = None) -> None:
        self._data = data
        self._is_watched = getattr(data, "is_watched", False)  # then it notices by itself
        self._reading = Reading(progress=getattr(data, "progress", None))
        # Of columns that were read elsewhere already, for this very selection.
        self._history: ChecksumHistory | None = getattr(data, "history", None)
        self._rows = self._peek() if rows is None else rows
        self.first = source_of(self._rows)
        given = self.first.names if data.names is None else data.names
        given = given if isinstance(given, NumberedNames) else [str(name) for name in given]
        check_names(given, self.first.names, 0)
        self.names: Sequence[str] = given
        self.n_rows: int = getattr(data, "n_rows", None) or 0
        self._passes = self._walker()
        self._target: dict[int, TargetColumn] = {}

    def _walker(self) -> Passes:
        """Return what walks over the blocks, each an `OpenedBlock`."""
        return LocalPasses(self._open_all, self.n_rows or None, self._reading, self._place)

    def reordered(self, columns: Sequence[int]) -> BlockSource:
        """Return the same table with its columns in another order, without another look at it."""
        order = list(columns)
        rows = part_of(self._rows, slice(None), order)
        history = self.history.of_columns(np.array(order, dtype=np.intp))
        other = BlockSource(ColumnsOf(self._data, order, self.names, history), rows)
        other._reading.bytes += self._reading.bytes
        return other

    def _peek(self) -> Any:
        """Return a few rows of the first block that has any."""
        blocks = iter(self._data.blocks(None))
        with closing(blocks) if hasattr(blocks, "close") else nullcontext():
            for block in blocks:
                self._reading.bytes += bytes_of(block)
                rows = first_rows(block)
                if rows is not None:
                    self._remember(source_of(block))
                    return rows
        raise ShapeError("there should be blocks with rows to select from; there are none.")

    def _remember(self, first: Source) -> None:
        """Start the history of checksums with those of the first block, or go on with it."""
        if self._history is None:
            self._history = ChecksumHistory(period_of(first.n_rows))
        if self._is_watched:
            return
        rows, walk = slice(0, first.n_rows), self._history.walk(np.arange(len(first.names)))
        names = first.names if self._data.names is None else self._data.names
        check(walk, first, rows, names, self._place(0, rows))
        walk.end(is_whole=False)

    @property
    def history(self) -> ChecksumHistory:
        """The checksums of what has been read so far."""
        assert self._history is not None  # since the first look
        return self._history

    @property
    def passes(self) -> Passes:
        """What walks over the blocks, each an `OpenedBlock`."""
        return self._passes

    @property
    def memory(self) -> int | None:
        """Bytes that may be taken beside the blocks, if there is a bound."""
        return getattr(self._data, "memory", None)

    def categorical_columns(self) -> set[int]:
        """Return the columns whose dtype in the first block says that they hold labels."""
        return self.first.categorical_columns()

    def column(self, column: int) -> TargetColumn:
        """Return a column that `read` was told to keep."""
        return self._target[column]

    def read(
        self, categorical: set[int], skip: set[int], keep: Mapping[int, str] = {}
    ) -> BlockTable:
        """Find the levels of categorical columns in a pass of their own; keep columns whole.

        Parameters
        ----------
        categorical, skip : sets of columns
            As for a table in memory.
        keep : mapping of columns to str
            The response and the like, each with what to call it in an error.
        """
        labeled = sorted(categorical - skip)
        survey = self._survey(labeled, keep, skip)
        self._target = dict(zip(keep, survey.targets()))
        coder = TableCoder.of(self, labeled, survey, skip)
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

    def _survey(self, labeled: Sequence[int], keep: Mapping[int, str], skip: set[int]) -> _Survey:
        """Find what has to be known of all rows, in a pass if there is anything."""
        start = partial(_Survey, [self.names[c] for c in labeled], list(keep.values()))
        wanted = [*labeled, *keep]
        survey = start()
        if wanted or not self.n_rows:
            columns = np.array([*wanted, *self._anchors(wanted, skip)] or [0], dtype=np.intp)
            survey = self._passes.run(start, _Survey.look, _Survey.merge, columns=columns)
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

    def _open_all(self, columns: Indices | None) -> Iterator[OpenedBlock]:
        """Yield the blocks that have rows, with some columns or all, looked at and checked."""
        start = number = 0
        asked = as_asked(columns, len(self.names))
        names = self.names if asked is None else [self.names[c] for c in asked]
        walk = self.history.walk(np.arange(len(self.names)) if asked is None else np.array(asked))
        for block in self._data.blocks(asked):
            opened = open_block(block, number, f"block {number} (from row {start} on)", names)
            if opened.n_rows:  # dtypes of nothing tell nothing
                rows = slice(start, start + opened.n_rows)
                opened = replace(opened, place=self._place(number, rows))
                if not self._is_watched:
                    check(walk, opened.source, rows, self.names, opened.place)
                yield opened
                del opened
                start, number = rows.stop, number + 1
        walk.end()

    def _place(self, number: int, rows: slice) -> str:
        """Return what to call a block, and where it is stored if the source can tell."""
        stored = stored_at(self._data, rows)
        return name_of_block(number, rows) + ("" if stored is None else f" of {stored}")


def check(
    walk: ChecksumWalk, source: Source, rows: slice, names: Sequence[str], place: str
) -> None:
    """Raise unless the next block of a pass is what it was in passes before.

    Parameters
    ----------
    walk : ChecksumWalk
    source : Source
        The block.
    rows : slice
        Which rows of the table it has.
    names : sequence of str
        All columns of the table.
    place : str
        What to call the block.
    """
    agreed = walk.agreed
    odd = walk.add(rows.stop, checksums_of(source, rows.start, walk.period))
    if len(odd):
        if agreed < rows.start:  # blocks were cut otherwise, or are too many to be known one by one
            place = f"rows {agreed} to {rows.stop - 1}, up to {place}"
        raise altered([names[c] for c in odd.tolist()], place)


def checksums_of(source: Source, start: int, period: int) -> Sums:
    """Return the checksum of each column of a block that begins with this row."""
    rows, weights = rows_to_check(start, source.n_rows, period)
    if not len(weights):
        return np.zeros(len(source.names), dtype=np.uint64)
    return source.checksums(rows, weights)


def first_rows(block: Any) -> Any:
    """Return a few rows of a block, None if it has none."""
    with naming("the first block"):
        n_rows = source_of(block).n_rows
    if not n_rows:
        return None
    rows = np.unique(np.linspace(0, n_rows - 1, _FIRST_ROWS).astype(np.intp))
    return part_of(block, rows.tolist(), slice(None))


@dataclass(frozen=True)
class OpenedBlock:
    """A block that has been looked at: its source, what to call it, and as it was given."""

    source: Source
    place: str
    stored: Any

    @property
    def nbytes(self) -> int:
        """About how many bytes it takes."""
        return bytes_of(self.stored)

    @property
    def n_rows(self) -> int:
        """How many rows it has."""
        return self.source.n_rows


def open_block(block: Any, number: int, place: str, names: Sequence[str]) -> OpenedBlock:
    """Look at a block; it should have the columns of these names."""
    with naming(place):
        source = source_of(block)
    check_names(names, source.names, number)
    source.names = names
    return OpenedBlock(source, place, block)


class _Survey:
    """What the first pass finds out: levels of categorical columns, and the response."""

    def __init__(self, labeled: Sequence[str], kept: Sequence[str]) -> None:
        self.seen = [LevelsSeen(f"column `{name}`") for name in labeled]
        self._kept = [MergedColumn(name) for name in kept]
        self.n_rows = 0

    def look(self, opened: OpenedBlock) -> None:
        """Look at one more block, whose first columns are categorical, then those kept."""
        source = opened.source
        for column, seen in enumerate(self.seen):
            seen.add(source.labels(column), source.order(column))
        for k, kept in enumerate(self._kept):
            values = source.column(len(self.seen) + k)
            columns = read_target(values, source.n_rows, kept.name)
            check_finite(columns)
            kept.add(columns[0])
        self.n_rows += source.n_rows

    def merge(self, other: _Survey) -> _Survey:
        """Return what both have found, the rows of the other following."""
        for mine, theirs in zip(self.seen, other.seen):
            mine.merge(theirs)
        for kept, more in zip(self._kept, other._kept):
            kept.merge(more)
        self.n_rows += other.n_rows
        return self

    def targets(self) -> list[TargetColumn]:
        """Return the kept columns whole."""
        return [kept.merged() for kept in self._kept]


class MergedColumn:
    """A column put together from its blocks; labels as small whole numbers."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._seen = LevelsSeen(name)
        self._parts: list[NDArray] = []
        self._is_number: bool | None = None  # as long as nothing has come

    def add(self, column: TargetColumn) -> None:
        """Take the column of one more block."""
        self._check_kind(column.is_number)
        values = column.values
        if not column.is_number:
            values = self._seen.add(column.labels(), column.order)
        self._parts.append(values.copy())  # not a view, which would keep the block

    def merge(self, other: MergedColumn) -> None:
        """Take the rows of another."""
        if other._is_number is None:
            return
        self._check_kind(other._is_number)
        parts = other._parts
        if not self._is_number:
            places = self._seen.merge(other._seen)
            kind = np.min_scalar_type(int(places.max(initial=0)))
            parts = [places.astype(kind).take(codes) for codes in parts]
        self._parts += parts

    def _check_kind(self, is_number: bool) -> None:
        if self._is_number is not None and self._is_number != is_number:
            kinds = ["labels", "numbers"]
            raise InputError(
                f"{self.name} should be of one kind in all blocks; it holds "
                f"{kinds[is_number]} here and {kinds[self._is_number]} before. Convert it."
            )
        self._is_number = is_number

    def merged(self) -> TargetColumn:
        """Return the whole column."""
        values = np.concatenate(self._parts)
        if self._is_number:
            return TargetColumn(self.name, values)
        places = self._seen.places()
        places = places.astype(np.min_scalar_type(max(len(places) - 1, 0)))
        codes, levels = places.take(values), self._seen.levels()
        return TargetColumn(self.name, codes, categorical=True, levels=levels)


@dataclass(frozen=True)
class _Column:
    """A categorical column of all blocks: its levels, the usual one, their places."""

    levels: tuple[Any, ...]
    usual: int
    places: Mapping[Any, int]

    @staticmethod
    def of(seen: LevelsSeen) -> _Column:
        levels = seen.levels()
        return _Column(levels, seen.most_frequent(), {v: at for at, v in enumerate(levels)})


class TableCoder:
    """Blocks -> tables whose labels have the levels of all blocks.

    Parameters
    ----------
    names : sequence of str
    labeled : mapping of column to what its levels are
    skip : set of columns
    """

    def __init__(
        self, names: Sequence[str], labeled: Mapping[int, _Column], skip: set[int]
    ) -> None:
        self._names, self._labeled, self._skip = names, labeled, skip
        self._dtype: Any = None  # that of the first block

    @staticmethod
    def of(
        source: BlockSource, labeled: Sequence[int], survey: _Survey, skip: set[int]
    ) -> TableCoder:
        """Return a coder that agrees with the first block."""
        columns = {c: _Column.of(seen) for c, seen in zip(labeled, survey.seen)}
        coder = TableCoder(source.names, columns, skip)
        try:
            coder._agree_with(source.first)
        except NonFiniteError as error:  # whose counts are not those of the table
            raise error.at("a look at a few rows, before the first pass") from None
        return coder

    def _agree_with(self, source: Source) -> None:
        self.first = self._table(source, np.arange(len(self._names)))
        numeric = self.first.numeric
        self._dtype = None if hasattr(numeric, "format") else numeric.dtype
        self.template = _no_rows(self.first)

    def columns(self, columns: Indices | None) -> Indices:
        """Return these input columns, or all but those skipped."""
        if columns is not None:
            return columns
        kept = [c for c in range(len(self._names)) if c not in self._skip]
        return np.array(kept, dtype=np.intp)

    def table(self, block: OpenedBlock, at: Indices) -> Table:
        """Return a block of the input columns `at` as a table."""
        with naming(block.place):
            return self._table(block.source, at)

    def _table(self, source: Source, at: Indices) -> Table:
        place = {int(c): k for k, c in enumerate(at)}
        labeled = {c: place[c] for c in self._labeled if c in place}
        skipped = {place[c] for c in self._skip if c in place}
        numeric = [k for c, k in place.items() if k not in skipped and c not in labeled]
        numeric_here = np.array(numeric, dtype=np.intp)
        return Table(
            n_rows=source.n_rows,
            names=self._names,
            numeric=self._as_first(source.numeric(numeric_here)),
            numeric_at=at[numeric_here],
            labels={c: self._code(source.labels(k), c) for c, k in labeled.items()},
            precision=source.precision(numeric_here),
        )

    def _code(self, labels: Labels, c: int) -> Labels:
        column = self._labeled[c]
        unknown = [level for level in labels.levels if level not in column.places]
        if unknown:
            raise InputError(
                f"a table that is read in blocks should stay the same from pass to pass; column "
                f"`{self._names[c]}` now has {listing(unknown)}, which it had not."
            )
        mine = np.array([column.places[level] for level in labels.levels], dtype=np.intp)
        return Labels(mine.take(labels.codes), column.levels, column.usual)

    def _as_first(self, numeric: Any) -> Any:
        """Return numbers in the storage and precision of the first block."""
        sparse = hasattr(numeric, "format")
        if self._dtype is None or not numeric.shape[1]:
            return numeric
        if sparse:
            raise InputError(
                "blocks should be all sparse or all dense; the first block is dense, this one is "
                "sparse. Convert it with its `toarray()`."
            )
        if (numeric.dtype == np.float32) == (self._dtype == np.float32):
            return numeric
        exact = numeric.dtype.kind == "b" or (numeric.dtype.kind in "iu" and numeric.itemsize == 1)
        if self._dtype != np.float32:
            return numeric.astype(np.float64)
        if exact:
            return numeric.astype(np.float32)
        raise InputError(
            f"blocks should have numbers of one precision; the first block is float32, this one is "
            f"{numeric.dtype}. Convert it with its `astype`."
        )


def _no_rows(table: Table) -> Table:
    none = np.zeros(0, dtype=np.intp)
    labels = {c: Labels(none, x.levels, x.most_frequent) for c, x in table.labels.items()}
    return Table(0, table.names, table.numeric[:0], table.numeric_at, labels, table.precision)
