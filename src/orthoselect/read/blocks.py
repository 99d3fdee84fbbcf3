"""Tables that come in blocks of rows: looked at, surveyed in a first pass, read block by block.

A source of blocks is any object with

    names                 the names of the columns, or None for x0, x1, ...
    blocks(columns)       an iterator of blocks, the same rows in the same order at every call;
                          `columns` are the positions of the columns that a block is to have, in
                          this order, or None for all

and, if it likes, `n_rows` (the number of all rows, if it is known without a look), `memory` (bytes
that a selection may take beside the blocks) and `progress` (called with the number of the pass
and the bytes read so far). A block is an array, a SciPy sparse matrix or a dataframe. `RowBlocks`
makes a source of anything that can be iterated over more than once.

What the columns are is told by the first rows of the first block that has any; all others have
to agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import Labels, NumberedNames, Table, TargetColumn
from orthoselect.encode.blocks import BlockTable
from orthoselect.encode.labels import LevelsSeen
from orthoselect.encode.target import check_finite
from orthoselect.errors import InputError, ShapeError, listing
from orthoselect.matrix.base import Indices
from orthoselect.matrix.blocks import name_of_block
from orthoselect.matrix.reading import Reading, ReadingProgress
from orthoselect.read.table import Source, source_of
from orthoselect.read.target import read_target

_FIRST_ROWS = 64


class RowBlocks:
    """A table in blocks of rows that need not all be in memory.

    Parameters
    ----------
    blocks : iterable of blocks, or callable that returns one
        Blocks are arrays, SciPy sparse matrices or dataframes (pandas, polars, pyarrow), of any
        number of rows. It is iterated over several times: a generator has to be wrapped in a
        function that makes a new one.
    names : sequence of str, optional
        Column names, where blocks have none.
    n_rows : int, optional
        The number of all rows; where it is known, and there is nothing else to be found out first,
        one pass less is made.
    memory : int, optional
        Bytes that a selection may take beside the blocks, of which there are at most three at a
        time; half of what is free by default.
    progress : callable, optional
        Called after each block with the number of the pass, from 1 on, and the bytes read so far.

    Examples
    --------
    >>> import numpy as np
    >>> from orthoselect import RowBlocks, select
    >>> rng = np.random.default_rng(0)
    >>> X, noise = rng.normal(size=(1000, 4)), rng.normal(size=1000)
    >>> table = np.column_stack([X, X[:, 2] - X[:, 1] + noise])
    >>> blocks = RowBlocks(lambda: (table[a : a + 100] for a in range(0, 1000, 100)))
    >>> path = select(blocks, "x4", 2)
    >>> path.features, path.stats["passes"]
    ([2, 1], 2)
    """

    def __init__(
        self,
        blocks: Iterable[Any] | Callable[[], Iterable[Any]],
        *,
        names: Sequence[str] | None = None,
        n_rows: int | None = None,
        memory: int | None = None,
        progress: ReadingProgress | None = None,
    ) -> None:
        if isinstance(blocks, Iterator):
            raise InputError(
                f"`blocks` should be iterable more than once; got a {type(blocks).__name__}, which "
                f"is empty after one pass. Pass a list, or a function that returns a new one."
            )
        self._make = blocks if callable(blocks) else lambda: blocks
        self.names = names
        self.n_rows, self.memory, self.progress = n_rows, memory, progress

    def blocks(self, columns: Sequence[int] | None = None) -> Iterator[Any]:
        """Yield the blocks, with some columns or with all."""
        first: Sequence[str] | None = None
        for number, block in enumerate(self._make()):
            names = _names_of(block)
            first = names if first is None else first
            _check_names(first, names, number)
            yield block if columns is None else _part_of(block, slice(None), list(columns))


def _is_frame(block: Any) -> bool:
    return type(block) is not np.ndarray and nw.dependencies.is_into_dataframe(block)


def _names_of(block: Any) -> Sequence[str]:
    if _is_frame(block):
        return [str(name) for name in nw.from_native(block, eager_only=True).columns]
    shape = np.shape(block)
    return NumberedNames(shape[1] if len(shape) > 1 else 0)


def _part_of(block: Any, rows: Any, columns: Any) -> Any:
    """Return some rows and columns of a block, by their positions."""
    if _is_frame(block):
        return nw.from_native(block, eager_only=True)[rows, columns].to_native()
    block = block if hasattr(block, "shape") else np.asarray(block)
    block = block.tocsr() if hasattr(block, "tocsr") else block  # sparse formats that have no rows
    return block[rows][:, columns]


def _bytes_of(block: Any) -> int:
    if _is_frame(block):
        return int(nw.from_native(block, eager_only=True).estimated_size())
    if hasattr(block, "nbytes"):
        return int(block.nbytes)
    parts = (getattr(block, name, None) for name in ("data", "indices", "indptr", "row", "col"))
    return sum(getattr(part, "nbytes", 0) for part in parts)  # sparse, of one format or another


def is_block_source(data: Any) -> bool:
    """Whether data is a source of blocks; see above."""
    return callable(getattr(type(data), "blocks", None)) and hasattr(data, "names")


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
        _check_names(given, self.first.names, 0)
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
                    return source_of(_part_of(block, rows.tolist(), slice(None)))
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
                f"Found blocks with {self.n_rows} sample(s) in all while a minimum of 2 is required"
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
                yield _Opened(source, name_of_block(number, rows), _bytes_of(block))
                start, number = rows.stop, number + 1

    def _open(self, block: Any, number: int, start: int, names: Sequence[str]) -> Source:
        """Look at a block; it should have the columns of these names."""
        with naming(f"block {number} (from row {start} on)"):
            source = source_of(block)
        _check_names(names, source.names, number)
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
        self._parts.append(values)

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


def _check_names(expected: Sequence[str], found: Sequence[str], number: int) -> None:
    """Raise unless a block has the columns expected; a block without names may call them x0."""
    if len(found) != len(expected):
        raise InputError(
            f"all blocks should have the same columns; block {number} has {len(found)}, where "
            f"{len(expected)} were expected: {listing(expected)}."
        )
    if isinstance(found, NumberedNames):
        return
    for a, b in zip(expected, found):
        if a != b:
            raise InputError(
                f"all blocks should have the same columns in the same order; block {number} has "
                f"`{b}` where `{a}` was expected."
            )


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Let errors about the input say in which block it was."""
    try:
        yield
    except InputError as error:
        raise error.at(place) from None
