"""Passes over tables that Dask works on, each a graph of tasks.

Each partition is looked at, coded and worked on by one task; what the tasks give, small matrices
and counts, is merged by a tree of tasks, and only the last of it reaches the client. Rows beside
the table, as the response, stay in pieces where the partitions are.
"""

from __future__ import annotations

import math
import operator
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import TargetColumn
from orthoselect.errors import InputError, ShapeError
from orthoselect.matrix.checksums import ChecksumHistory, Folded, folded, period_of, unfolded
from orthoselect.matrix.passes import (
    BlockReader,
    Columns,
    Prepare,
    SpreadPasses,
    altered,
    changed,
    naming,
)
from orthoselect.matrix.rows import Rows, SpreadRows, cut, part
from orthoselect.read.block import Block
from orthoselect.read.frame_block import block_of
from orthoselect.read.partitions import PartitionedTable
from orthoselect.read.readings import Readings
from orthoselect.read.row_blocks import as_asked, bytes_of, is_block_source, joined
from orthoselect.read.source import checksums_of, open_block
from orthoselect.read.survey import read_target

Total = TypeVar("Total")
_FAN_IN = 8  # totals that one task merges


@dataclass(frozen=True)
class _PassJob:
    """What the tasks of a pass do; sent to each worker once."""

    names: Sequence[str] | None
    start: Callable[[], Any]
    add: Callable[..., None]
    merge: Callable[[Any, Any], Any]
    prepare: Prepare | None
    makes: Sequence[tuple[Callable[..., Any], int]]  # what makes a part, and from how many handles


@dataclass
class _Done:
    """What tasks have come to."""

    total: Any
    nbytes: int = 0  # of the table that were read
    sizes: list[int] = field(default_factory=list)  # rows of each partition
    checksums: list[Folded] = field(default_factory=list)  # of each partition, for each column


class DaskPasses(SpreadPasses):
    """Walks over all partitions at once, by whichever scheduler Dask is set to."""

    def __init__(self, table: PartitionedTable, names: Sequence[str], reader: BlockReader) -> None:
        self._table, self._names, self.reader = table, names, reader
        self._sizes = table.sizes
        self.n_rows = table.n_rows
        self._history = ChecksumHistory(0)  # by partitions, each of which has its own period
        self.readings = Readings(names)

    def place(self, number: int, rows: slice) -> str:
        filled = [k for k, size in enumerate(self._sizes or []) if size]
        return _place(filled[number])

    # Passes

    def run(
        self,
        start: Callable[[], Total],
        add: Callable[..., None],
        merge: Callable[[Total, Total], Total],
        *,
        columns: Columns = None,
        prepare: Prepare | None = None,
        along: Sequence[Rows | None] = (),
    ) -> Total:
        stored = self.readings.stored(columns)
        asked = as_asked(stored, len(self._names))
        names = self._names if asked is None else [self._names[c] for c in asked]
        if not self.readings.change_nothing:
            prepare = partial(_read_before, self.readings, stored, columns, prepare)
        partitions = self._table.partitions(asked)
        handles, makes = self._handles(along, len(partitions))
        job = _PassJob(names, start, add, merge, prepare, makes)
        done = self._compute(job, partitions, handles)
        self.reader.count(done.nbytes)
        if self._sizes is None:
            self._sizes = done.sizes
        for number, (before, now) in enumerate(zip(self._sizes, done.sizes)):
            if before != now:
                raise changed(before, str(now)).at(_place(number))
        self._check(np.arange(len(self._names)) if asked is None else np.array(asked), done)
        return done.total

    def remember(self, number: int, sums: Folded) -> None:
        """Take the checksums of the first partition that has rows, from a look at it."""
        walk = self._history.walk(np.arange(len(sums)))
        walk.add(number + 1, unfolded(sums))
        walk.end(is_whole=False)

    def _check(self, columns: NDArray[np.intp], done: _Done) -> None:
        """Raise unless all partitions are what they were in passes before."""
        walk = self._history.walk(columns)
        for number, sums in enumerate(done.checksums):
            agreed = walk.agreed
            odd = walk.add(number + 1, unfolded(sums))
            if len(odd):
                between = f"partitions {agreed} to {number}"
                place = _place(number) if agreed == number else between
                raise altered([self._names[c] for c in odd.tolist()], place)
        walk.end()

    def run_along(
        self,
        start: Callable[[], Total],
        add: Callable[..., None],
        merge: Callable[[Total, Total], Total],
        along: Sequence[Rows | None],
    ) -> Total:
        sizes = self._known_sizes
        handles, makes = self._handles(along, len(sizes))
        job = _PassJob(None, start, add, merge, None, makes)
        done = self._compute(job, list(sizes), handles)
        self._count(done.nbytes)
        return done.total

    def _count(self, nbytes: int) -> None:
        """Count a pass over what goes along, if columns of the table had to be read for it."""
        if nbytes:
            self.reader.count(nbytes)

    def _compute(self, job: _PassJob, partitions: list[Any], handles: list[list[Any]]) -> _Done:
        """Work on all partitions, merge by a tree, and wait for it."""
        import dask

        node = dask.delayed(job, traverse=False)
        work, merge_some = dask.delayed(_work, pure=False), dask.delayed(_merge, pure=False)
        done = [work(node, k, *each) for k, each in enumerate(zip(partitions, handles))]
        while len(done) > 1:
            done = [merge_some(node, done[k : k + _FAN_IN]) for k in range(0, len(done), _FAN_IN)]
        try:
            return done[0].compute()
        except InputError:
            raise
        except Exception as error:
            raise naming_partition(
                error, [[part, each] for part, each in zip(partitions, handles)]
            ) from error

    def _handles(self, along: Sequence[Rows | None], count: int) -> tuple[list[list[Any]], Any]:
        """Return for each partition what its part of `along` is made from; and what makes it."""
        cuts = [self._cut(each, count) for each in along]
        makes = [
            (each.make, len(each.handles)) if isinstance(each, SpreadRows) else (_rows_here, 1)
            for each in along
        ]
        return [list(chain.from_iterable(each[k] for each in cuts)) for k in range(count)], makes

    def _cut(self, along: Rows | None, count: int) -> list[list[Any]]:
        """Cut what has N rows where the partitions are cut; what is spread is so already."""
        if along is None:
            return [[None]] * count
        if isinstance(along, SpreadRows):
            return [list(each) for each in zip(*along.handles)]
        return [[part(along, rows)] for rows in self._slices()]

    @property
    def _known_sizes(self) -> list[int]:
        assert self._sizes is not None  # the first pass has found them
        return self._sizes

    def _slices(self) -> list[slice]:
        stops = np.cumsum(self._known_sizes).tolist()
        return [slice(stop - size, stop) for size, stop in zip(self._known_sizes, stops)]

    # Rows in pieces

    def targets(self, pieces: Sequence[Any], what: str = "y") -> SpreadRows:
        """Return pieces of a response beside the table, read as `TargetColumn`s."""
        return self._targets(pieces, partial(_target_columns, what))

    def target_columns(self, columns: Sequence[int], what: str = "y") -> SpreadRows:
        """Return columns of the table as `TargetColumn`s in pieces."""
        pieces = self._table.partitions(columns)
        return self._targets(pieces, partial(_columns_of_table, what, self.readings, columns))

    def _targets(self, pieces: Sequence[Any], make: Callable[..., Any]) -> SpreadRows:
        sizes = self._known_sizes
        handles = (pieces, range(len(pieces)), sizes)
        return SpreadRows(handles, make, (sum(sizes),), self)

    def sizes(self) -> list[int]:
        """Return the rows of each partition, which are known after a pass."""
        return list(self._known_sizes)

    def aligned(self, y: Any, what: str = "y", sizes: Sequence[int] | None = None) -> Sequence[Any]:
        """Cut a Dask collection as the table is cut, into pieces of these sizes."""
        sizes = self._known_sizes if sizes is None else sizes
        if hasattr(y, "to_delayed") and hasattr(y, "npartitions") and hasattr(y, "chunks"):
            known = not any(math.isnan(size) for size in y.chunks[0])
            if known and sum(y.chunks[0]) != sum(sizes):
                raise ShapeError(
                    f"X and {what} should have the same number of rows (samples); X has "
                    f"{sum(sizes)}, {what} has {sum(y.chunks[0])}."
                )
            y = y.rechunk({0: tuple(sizes)}) if known else y
            y = y if y.ndim == 1 else y.rechunk({1: -1})
            pieces = list(y.to_delayed(optimize_graph=False).reshape(-1))
        else:
            pieces = list(y.to_delayed())
        if len(pieces) != len(sizes):
            raise ShapeError(
                f"X and {what} should be cut into the same partitions; X has {len(sizes)} of "
                f"{sum(sizes)} rows in all, {what} has {len(pieces)}. Repartition {what} as X is."
            )
        return pieces

    def spread(self, rows: NDArray) -> SpreadRows:
        pieces = [rows[each] for each in self._slices()]
        return SpreadRows((pieces,), _as_it_is, rows.shape, self)

    def kept(self, rows: SpreadRows) -> SpreadRows:
        import dask

        make, how = dask.delayed(_make_piece, pure=False), dask.delayed(rows.make, traverse=False)
        made = [make(how, _place(k), *each) for k, each in enumerate(zip(*rows.handles))]
        made = list(dask.persist(*made))
        sizes = SpreadRows((made,), operator.attrgetter("nbytes"), rows.shape, self)
        self._count(sum(self.pieces(sizes)))
        return SpreadRows((made,), operator.attrgetter("total"), rows.shape, self)

    def written_out(self, rows: SpreadRows) -> NDArray:
        return np.concatenate(self.pieces(rows))

    def pieces(self, rows: SpreadRows) -> list[Any]:
        """Return the rows of each partition, here."""
        return self.run_along(list, list.append, operator.add, [rows])


def _rows_here(rows: Any) -> Any:
    return None if rows is None else rows[:]


def _made(job: _PassJob, handles: Sequence[Any]) -> list[Any]:
    """Make what goes along with a partition, each from the next few of the handles."""
    given = iter(handles)
    return [make(*islice(given, count)) for make, count in job.makes]


class _BytesRead(threading.local):
    """Bytes of columns of the table that the task of this thread has read to make rows."""

    def __init__(self) -> None:
        self.count = 0

    @contextmanager
    def counted(self, done: _Done) -> Iterator[None]:
        """Add to what was done the bytes that are read here."""
        self.count = 0
        yield
        done.nbytes += self.count


_bytes_read = _BytesRead()


def _make_piece(make: Callable[..., Any], place: str, *handles: Any) -> _Done:
    done = _Done(None)
    with naming(place), _bytes_read.counted(done):
        done.total = make(*handles)
    return done


def _as_it_is(rows: Any) -> Any:
    return rows


def _target_columns(what: str, piece: Any, number: int, size: int) -> list[TargetColumn]:
    """Read a piece of the response, which should have the rows of its partition."""
    found = rows_in(piece)
    if found != size:
        raise ShapeError(
            f"X and {what} should have the same number of rows (samples) in each partition; X has "
            f"{size}, {what} has {found} in {_place(number)}. Repartition {what} as X is."
        )
    return read_target(piece, size, what)


def _columns_of_table(
    what: str, readings: Readings, columns: Sequence[int], piece: Any, number: int, size: int
) -> list[TargetColumn]:
    """Read columns of a partition, and count them as read."""
    if is_block_source(piece):
        piece = joined(piece.blocks())
    _bytes_read.count += bytes_of(piece)
    if not readings.numbers.keys() & set(columns):
        return _target_columns(what, piece, number, size)
    at = np.array(columns, dtype=np.intp)
    block = readings.read(block_of(piece), at, at)
    return [read_target(block.column(k), size, what)[0] for k in range(len(at))]


def _read_before(
    readings: Readings, stored: Any, columns: Any, prepare: Prepare | None, block: Block
) -> Any:
    """Read columns as they are to be read, before anything else is made of a block."""
    block = readings.read(block, stored, columns)
    return block if prepare is None else prepare(block)


def _work(job: _PassJob, number: int, partition: Any, handles: Sequence[Any]) -> _Done:
    """Do what is to be done with one partition; runs where it is.

    Without names there is no table, and `partition` is just a number of rows.
    """
    place = _place(number)
    if job.names is None:
        done = _Done(job.start())
        if partition:
            with naming(place), _bytes_read.counted(done):
                job.add(done.total, *_made(job, handles))
        return done
    done = _Done(job.start(), 0, [0], [])
    with _bytes_read.counted(done):
        along = _made(job, handles)
    blocks = partition.blocks() if is_block_source(partition) else [partition]
    period, sums = period_of(rows_in(partition)), np.zeros(len(job.names), dtype=np.uint64)
    for stored in blocks:
        block = open_block(stored, number, place, job.names)
        if not getattr(partition, "is_watched", False):  # files notice by themselves
            sums += checksums_of(block, done.sizes[0], period)
        _add(job, done, block, along)
    done.checksums.append(folded(sums))
    return done


def _add(job: _PassJob, done: _Done, block: Block, along: Sequence[Any]) -> None:
    """Take a block into what was done of its partition."""
    rows = slice(done.sizes[0], done.sizes[0] + block.n_rows)
    done.sizes[0] = rows.stop
    done.nbytes += block.nbytes
    if block.n_rows:  # dtypes of nothing tell nothing
        with naming(block.place), np.errstate(all="ignore"):
            prepared = block if job.prepare is None else job.prepare(block)
            job.add(done.total, prepared, *(cut(each, rows) for each in along))


def _merge(job: _PassJob, parts: Sequence[_Done]) -> _Done:
    first, *others = parts
    total = first.total
    for other in others:
        total = job.merge(total, other.total)
    nbytes = sum(part.nbytes for part in parts)
    sizes = [size for part in parts for size in part.sizes]
    return _Done(total, nbytes, sizes, [sums for part in parts for sums in part.checksums])


def _place(number: int) -> str:
    return f"partition {number}"


def naming_partition(error: Exception, partitions: Sequence[Any]) -> Exception:
    """Return an error that names the partition which cannot be had, if it is for that."""
    import dask

    look = dask.delayed(_nothing, pure=False)
    for number, partition in enumerate(partitions):
        try:
            look(partition).compute()
        except Exception:
            return InputError(
                f"every partition should be there to be read; {_place(number)} fails with "
                f"{type(error).__name__}: {error}"
            )
    return error


def _nothing(partition: Any) -> None:
    """Need a partition, and do nothing with it."""


def rows_in(partition: Any) -> int:
    """Return the number of rows of a partition."""
    if is_block_source(partition):
        return int(partition.n_rows)
    return int(partition.shape[0]) if hasattr(partition, "shape") else len(partition)
