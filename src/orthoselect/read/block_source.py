"""A source of blocks, read: surveyed in a first pass, then coded block by block.

The first pass finds what has to be known of all rows before any can be worked on: the levels of
categorical columns, the response, the number of rows. It reads those columns only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import Labels, Table, TargetColumn
from orthoselect.encode.blocks import BlockTable
from orthoselect.encode.labels import LevelsSeen
from orthoselect.encode.target import check_finite
from orthoselect.errors import InputError, ShapeError, listing
from orthoselect.matrix.base import Indices
from orthoselect.matrix.blocks import name_of_block
from orthoselect.matrix.reading import Reading
from orthoselect.read.blocks import bytes_of, check_names, part_of
from orthoselect.read.table import Source, source_of
from orthoselect.read.target import read_target

_FIRST_ROWS = 64


class BlockSource:
    """A table in blocks that has been looked at, its first block only.

    Parameters
    ----------
    data : source of blocks

    Attributes
    ----------
    names : sequence of str
    first : Source
        A few rows of the first block.
    n_rows : int
        Known once the table has been read.
    """

    def __init__(self, data: Any) -> None:
        self._data = data
        self._reading = Reading(progress=getattr(data, "progress", None))
        self.first = self._peek()
        given = self.first.names if data.names is None else [str(name) for name in data.names]
        check_names(given, self.first.names, 0)
        self.names: Sequence[str] = given
        self.n_rows: int = getattr(data, "n_rows", None) or 0
        self._target: dict[int, TargetColumn] = {}

    def _peek(self) -> Source:
        """Look at a few rows of the first block that has any."""
        blocks = iter(self._data.blocks(None))
        with closing(blocks) if hasattr(blocks, "close") else nullcontext():
            for block in blocks:
                with naming("the first block"):
                    n_rows = source_of(block).n_rows
                if n_rows:
                    rows = np.unique(np.linspace(0, n_rows - 1, _FIRST_ROWS).astype(np.intp))
                    return source_of(part_of(block, rows.tolist(), slice(None)))
        raise ShapeError("there should be blocks with rows to select from; there are none.")

    def categorical_columns(self) -> set[int]:
        """Return the columns whose dtype in the first block says that they hold labels."""
        return self.first.categorical_columns()

    def column(self, column: int) -> TargetColumn:
        """Return a column that `read` was told to keep."""
        return self._target[column]

    def read(self, categorical: set[int], skip: set[int], keep: Sequence[int] = ()) -> BlockTable:
        """Find the levels of categorical columns in a pass of their own; keep columns whole.

        Parameters
        ----------
        categorical, skip : sets of columns
            As for a table in memory.
        keep : sequence of columns
            The response.
        """
        labeled = sorted(categorical - skip)
        survey = _Survey([self.names[c] for c in labeled], [self.names[c] for c in keep])
        wanted = [*labeled, *keep]
        if wanted or not self.n_rows:
            for rows, opened in self._walk(np.array(wanted or [0], dtype=np.intp)):
                with naming(opened.place):
                    survey.look(opened.source, len(labeled))
                self.n_rows = rows.stop
        if self.n_rows < 2:
            raise ShapeError(
                f"Found blocks with {self.n_rows} sample(s) in all; a minimum of 2 is required."
            )
        self._target = dict(zip(keep, survey.targets()))
        coder = _Coder(self, labeled, survey, skip)
        return BlockTable(
            n_rows=self.n_rows,
            names=self.names,
            numeric=coder.template.numeric,
            numeric_at=coder.template.numeric_at,
            labels=coder.template.labels,
            precision=coder.template.precision,
            blocks=coder.tables,
            first=coder.first,
            reading=self._reading,
            memory=getattr(self._data, "memory", None),
        )

    def _walk(self, columns: Indices) -> Iterator[tuple[slice, _Opened]]:
        """Yield the blocks of some columns in a pass that is counted."""
        start = 0
        for opened in self._reading.walk(self.open_all(columns)):
            rows = slice(start, start + opened.source.n_rows)
            start = rows.stop
            yield rows, opened

    def open_all(self, columns: Indices | None) -> Iterator[_Opened]:
        """Yield the blocks that have rows, with some columns or all, looked at and checked."""
        start = number = 0
        asked = None if columns is None else columns.tolist()
        names = self.names if asked is None else [self.names[c] for c in asked]
        for block in self._data.blocks(asked):
            source = self._open(block, number, start, names)
            rows = slice(start, start + source.n_rows)
            if source.n_rows:  # dtypes of nothing tell nothing
                yield _Opened(source, name_of_block(number, rows), bytes_of(block))
                start, number = rows.stop, number + 1

    def _open(self, block: Any, number: int, start: int, names: Sequence[str]) -> Source:
        """Look at a block; it should have the columns of these names."""
        with naming(f"block {number} (from row {start} on)"):
            source = source_of(block)
        check_names(names, source.names, number)
        source.names = names
        return source


class _Opened:
    """A block that has been looked at: its source, what to call it, its bytes."""

    def __init__(self, source: Source, place: str, nbytes: int) -> None:
        self.source, self.place, self.nbytes = source, place, nbytes


class _Survey:
    """What the first pass finds out: levels of categorical columns, and the response."""

    def __init__(self, labeled: Sequence[str], kept: Sequence[str]) -> None:
        self.seen = [LevelsSeen(f"column `{name}`") for name in labeled]
        self._responses = [_MergedTarget() for _ in kept]

    def look(self, source: Source, n_labeled: int) -> None:
        """Look at one more block, whose first columns are categorical, the others kept."""
        for column, seen in enumerate(self.seen):
            seen.add(source.labels(column), source.order(column))
        for k, response in enumerate(self._responses):
            columns = read_target(source.column(n_labeled + k), source.n_rows)
            check_finite(columns)
            response.add(columns[0])

    def targets(self) -> list[TargetColumn]:
        """Return the kept columns whole."""
        return [response.merged() for response in self._responses]


class _MergedTarget:
    """A response column put together from its blocks; labels as small whole numbers."""

    def __init__(self) -> None:
        self._seen = LevelsSeen("y")
        self._parts: list[NDArray] = []
        self._kind: TargetColumn | None = None

    def add(self, column: TargetColumn) -> None:
        if self._kind is not None and self._kind.is_number != column.is_number:
            kinds = ["labels", "numbers"]
            raise InputError(
                f"y should be of one kind in all blocks; it holds {kinds[column.is_number]} here "
                f"and {kinds[self._kind.is_number]} in blocks before. Convert it."
            )
        self._kind = column
        values = column.values
        if not column.is_number:
            values = self._seen.add(column.labels(), column.order)
        self._parts.append(values.copy())  # not a view, which would keep the block

    def merged(self) -> TargetColumn:
        assert self._kind is not None
        values = np.concatenate(self._parts)
        if self._kind.is_number:
            return TargetColumn("y", values)
        places = self._seen.places()
        places = places.astype(np.min_scalar_type(max(len(places) - 1, 0)))
        return TargetColumn("y", places.take(values), categorical=True, levels=self._seen.levels())


class _Coder:
    """Blocks -> tables whose labels have the levels of all blocks."""

    def __init__(
        self, source: BlockSource, labeled: Sequence[int], survey: _Survey, skip: set[int]
    ) -> None:
        self._source, self._skip = source, skip
        self._n = len(source.names)
        self._levels = {c: seen.levels() for c, seen in zip(labeled, survey.seen)}
        self._usual = {c: seen.most_frequent() for c, seen in zip(labeled, survey.seen)}
        self._places = {
            c: {level: at for at, level in enumerate(levels)} for c, levels in self._levels.items()
        }
        self._dtype: Any = None
        self.first = self._table(source.first, np.arange(self._n))
        self._dtype = None if hasattr(self.first.numeric, "format") else self.first.numeric.dtype
        self.template = _no_rows(self.first)

    def tables(self, columns: Indices | None) -> Iterator[Table]:
        """Yield the blocks as tables of some input columns, or of all but those skipped."""
        at = self._all() if columns is None else columns
        for opened in self._source.open_all(None if len(at) == self._n else at):
            with naming(opened.place):
                table = self._table(opened.source, at)
            yield table

    def _all(self) -> Indices:
        return np.array([c for c in range(self._n) if c not in self._skip], dtype=np.intp)

    def _table(self, source: Source, at: Indices) -> Table:
        """Read columns of a block, which are the input columns `at`."""
        place = {int(c): k for k, c in enumerate(at)}
        labeled = {c: place[c] for c in self._levels if c in place}
        skipped = {place[c] for c in self._skip if c in place}
        numeric = [k for c, k in place.items() if k not in skipped and c not in labeled]
        numeric_here = np.array(numeric, dtype=np.intp)
        return Table(
            n_rows=source.n_rows,
            names=self._source.names,
            numeric=self._as_first(source.numeric(numeric_here)),
            numeric_at=at[numeric_here],
            labels={c: self._code(source.labels(k), c) for c, k in labeled.items()},
            precision=source.precision(numeric_here),
        )

    def _code(self, labels: Labels, column: int) -> Labels:
        places = self._places[column]
        unknown = [level for level in labels.levels if level not in places]
        if unknown:
            raise InputError(
                f"a table that is read in blocks should stay the same from pass to pass; column "
                f"`{self._source.names[column]}` now has {listing(unknown)}, which it had not."
            )
        mine = np.array([places[level] for level in labels.levels], dtype=np.intp)
        return Labels(mine.take(labels.codes), self._levels[column], self._usual[column])

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


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Let errors about the input say in which block it was."""
    try:
        yield
    except InputError as error:
        raise error.at(place) from None
