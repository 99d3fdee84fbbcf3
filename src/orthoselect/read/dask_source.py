"""Tables that Dask works on, as sources of selection.

The rows stay where they are, and so does the response; nothing of the table is persisted. A pass is
a graph of tasks: each partition is looked at, coded and worked on by one task; what the tasks give,
small matrices and counts, is merged by a tree of tasks, and only the last of it reaches the client.
Dask itself is imported when such a table arrives, not before.
"""

from __future__ import annotations

import copy
import math
import operator
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import NumberedNames, Response, TargetColumn
from orthoselect.encode.response import check_weights, read_weights
from orthoselect.encode.spread import build_spread_response, check_spread_weights, spread_weights
from orthoselect.encode.table import BlockTable
from orthoselect.errors import InputError, ShapeError
from orthoselect.matrix.checksums import ChecksumHistory, Folded, folded, period_of, unfolded
from orthoselect.matrix.passes import (
    Columns,
    Prepare,
    Reading,
    SpreadPasses,
    altered,
    changed,
    naming,
    rows_of,
)
from orthoselect.matrix.rows import MadeRows, Rows, SpreadRows, cut, part, written_out
from orthoselect.read.block import Block, block_of
from orthoselect.read.looks import LOOK, ColumnLook, Finding, look_on
from orthoselect.read.readings import Readings
from orthoselect.read.row_blocks import (
    KeptPartitions,
    PartitionedTable,
    as_asked,
    bytes_of,
    is_block_source,
    is_dask,
    joined,
)
from orthoselect.read.source import BlockSource, Source, checksums_of, first_rows, open_block
from orthoselect.read.survey import MergedColumn, numbers_of, read_target

Total = TypeVar("Total")
_FAN_IN = 8  # totals that one task merges
_WEIGHTS = "`sample_weight`"  # as errors have it


class DaskSource(BlockSource):
    """A table in partitions that has been looked at, some rows of it only."""

    _data: PartitionedTable
    _passes: DaskPasses

    def _peek(self) -> Any:
        import dask

        look = dask.delayed(_look_at, pure=False)
        for number, partition in enumerate(self._data.partitions(None)):
            here = is_block_source(partition)
            rows, nbytes, sums = _look_at(partition) if here else look(partition).compute()
            self._reading.bytes += nbytes
            if rows is not None:
                self._first_look = number, sums
                return rows
        raise ShapeError("a Dask table should have rows to select from; it has none.")

    def look(self, columns: Collection[int]) -> dict[int, Finding]:
        """Look at partitions until the first rows are known, then at all for what they left open.

        Nothing is read for columns of which a few rows tell enough.
        """
        import dask

        looks = self._start_looks(columns, self.first)
        some = sorted(looks)
        look = dask.delayed(_look_further, pure=False)
        partitions = self._data.partitions(some) if some else []
        for partition in partitions:
            if all(each.n_rows >= LOOK or not each.is_open for each in looks.values()):
                break
            try:
                looks, nbytes = look(partition, looks).compute()
            except InputError:
                raise
            except Exception as error:
                raise _named(error, partitions) from error
            self._reading.bytes += nbytes
        asked = [c for c, each in looks.items() if each.is_open]
        if asked and next(iter(looks.values())).n_rows >= LOOK:
            named = {c: self.names[c] for c in asked}
            start = partial(_whole_looks, named, not isinstance(self.names, NumberedNames))
            at = np.array(asked, dtype=np.intp)
            known: dict[int, ColumnLook] = self._passes.run(
                start, _look_whole, _merge_looks, columns=at
            )
            looks |= known
        return {c: each.finding() for c, each in looks.items()}

    def read_as(self, readings: Readings) -> Source:
        self._passes.readings = readings
        return super().read_as(readings)

    def _walker(self) -> DaskPasses:
        passes = DaskPasses(self._data, self.names, self._reading)
        number, checksums = self._first_look
        if checksums is not None:
            passes.remember(number, checksums)
        return passes

    def kept(self, rows: NDArray[np.bool_]) -> DaskSource:
        """Return some rows of the same table: those where a mask is True."""
        other = DaskSource(KeptPartitions(self._data, self._passes.sizes(), rows))
        other._reading.bytes += self._reading.bytes
        other._reading.passes += self._reading.passes
        other.read_as(self.readings)
        return other

    def read(
        self, categorical: set[int], skip: set[int], keep: Mapping[int, str] = {}
    ) -> BlockTable:
        """Find the levels of categorical columns; the response stays where it is."""
        return super().read(categorical, skip)

    def response(
        self, target: Any, taken: Sequence[int], task: str, encoding: str, weights: Rows | None
    ) -> tuple[Response, Rows | None]:
        """Code the response where its rows are; several with classes are put together here."""
        if taken:
            target = self._passes.target_columns(taken)
        elif is_dask(target):
            target = self._beside(target, "y")
        if isinstance(target, SpreadRows):
            found = build_spread_response(target, task, encoding, weights)
            if found is not None:
                return found, weights
            target = _gathered_columns(target)
        return super().response(target, [], task, encoding, written_out(weights))

    def weights(self, given: Any, column: int | None, *, keep_whole: bool) -> Rows | None:
        """Check the row weights; they are spread over the places that the rows are in."""
        if column is not None:
            columns = self._passes.target_columns([column], _WEIGHTS)
            return check_spread_weights(
                columns.then(_first_numbers, width=1), keep_whole=keep_whole
            )
        if is_dask(given):
            return check_spread_weights(self._spread_weights(given), keep_whole=keep_whole)
        w = check_weights(given, self.n_rows, keep_whole=keep_whole)
        return spread_weights(w, self._passes)

    def per_row(self, values: Any) -> Any:
        self._count_rows()
        return self._beside(values, "y") if is_dask(values) else values

    def weights_per_row(self, weights: Any) -> Rows:
        n_rows = self._count_rows()
        return self._spread_weights(weights) if is_dask(weights) else read_weights(weights, n_rows)

    def _count_rows(self) -> int:
        """Return the number of rows, and know those of each partition; that may take a pass."""
        if not self.n_rows:
            one = np.zeros(1, dtype=np.intp)
            self.n_rows = self._passes.n_rows = sum(self._passes.each(rows_of, columns=one))
        return self.n_rows

    def _beside(self, values: Any, what: str) -> SpreadRows:
        """Return a Dask collection beside the table as `TargetColumn`s in pieces."""
        table = self._data
        if not isinstance(table, KeptPartitions):
            return self._passes.targets(self._passes.aligned(values, what), what)
        pieces = self._passes.aligned(values, what, table.whole_sizes)
        return self._passes.targets(table.kept(pieces), what)

    def _spread_weights(self, given: Any) -> SpreadRows:
        """Return a Dask collection of row weights as arrays in pieces, not checked."""
        return self._beside(given, _WEIGHTS).then(_first_numbers, width=1)


def _look_at(partition: Any) -> tuple[Any, int, Folded | None]:
    """Return a few rows of a partition, None if it has none, the bytes read, and the checksums.

    These are of all rows; None for a partition that is read in blocks, of which the look has one.
    """
    if not is_block_source(partition):
        rows, nbytes = first_rows(partition), bytes_of(partition)
        if rows is None:
            return None, nbytes, None
        whole = block_of(partition)
        return rows, nbytes, folded(checksums_of(whole, 0, period_of(whole.n_rows)))
    nbytes = 0
    for block in partition.blocks():
        rows, nbytes = first_rows(block), nbytes + bytes_of(block)
        if rows is not None:
            return rows, nbytes, None
    return None, nbytes, None


def _look_further(
    partition: Any, looks: dict[int, ColumnLook]
) -> tuple[dict[int, ColumnLook], int]:
    """Look at one more partition, of these columns, as far as something is open."""
    nbytes, looks = 0, copy.deepcopy(looks)
    for stored in partition.blocks() if is_block_source(partition) else [partition]:
        nbytes += bytes_of(stored)
        block = block_of(stored)
        for k, look in enumerate(looks.values()):
            if look.is_open and block.n_rows:
                look_on(look, block, k)
    return looks, nbytes


def _whole_looks(names: Mapping[int, str], is_named: bool) -> dict[int, ColumnLook]:
    return {c: ColumnLook(name, is_named=is_named) for c, name in names.items()}


def _look_whole(looks: dict[int, ColumnLook], block: Block) -> None:
    for k, look in enumerate(looks.values()):
        look.add(block.glimpse(k, slice(0, block.n_rows)))


def _merge_looks(
    mine: dict[int, ColumnLook], theirs: dict[int, ColumnLook]
) -> dict[int, ColumnLook]:
    return {c: look.merge(theirs[c]) for c, look in mine.items()}


def _first_numbers(columns: Sequence[TargetColumn]) -> Any:
    return numbers_of(columns[0])


def _gathered_columns(columns: SpreadRows) -> list[TargetColumn]:
    """Return `TargetColumn`s in pieces whole, here."""
    pieces = columns.passes.pieces(columns)
    merged = [MergedColumn(column.name) for column in pieces[0]]
    for piece in pieces:
        for whole, column in zip(merged, piece):
            whole.add(column)
    return [whole.merged() for whole in merged]


# Passes


@dataclass(frozen=True)
class _PassJob:
    """What the tasks of a pass do; sent to each worker once."""

    names: Sequence[str] | None
    start: Callable[[], Any]
    add: Callable[..., None]
    merge: Callable[[Any, Any], Any]
    prepare: Prepare | None
    makes: Sequence[tuple[Callable[..., Any], int]]  # each from so many handles


@dataclass
class _Done:
    """What tasks have come to."""

    total: Any
    nbytes: int = 0  # of the table that were read
    sizes: list[int] = field(default_factory=list)  # rows of each partition
    checksums: list[Folded] = field(default_factory=list)  # of each partition, for each column


class DaskPasses(SpreadPasses):
    """Walks over all partitions at once, by whichever scheduler Dask is set to."""

    def __init__(self, table: PartitionedTable, names: Sequence[str], reading: Reading) -> None:
        self._table, self._names, self.reading = table, names, reading
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
        self.reading.count(done.nbytes)
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
            self.reading.count(nbytes)

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
            raise _named(
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
    return rows if rows is None or isinstance(rows, MadeRows) else rows[:]


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


def _named(error: Exception, partitions: Sequence[Any]) -> Exception:
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
