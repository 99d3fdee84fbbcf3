"""Passes over a table that comes in blocks of rows: who walks over it, and where work is done.

What a pass does is said by three small functions, which may be sent to where the rows are:

    start() -> total                    a new running total, of nothing
    add(total, block, *along)           takes a block into it
    merge(total, total) -> total        puts two of them together, of rows that follow each other

`along` are things of one row for each row of the table (`rows.py`), cut where the table is cut. So
functions should carry little: no table, nothing of N rows.
"""

from __future__ import annotations

import operator
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any, TypeVar

from numpy.typing import NDArray

from orthoselect.errors import InputError, listing
from orthoselect.matrix.base import Floats
from orthoselect.matrix.rows import Rows, SpreadRows, cut
from orthoselect.matrix.sums import Merging, RunningSums
from orthoselect.matrix.threads import Job, start_thread

Total = TypeVar("Total")
Part = TypeVar("Part")
Block = TypeVar("Block")
Columns = Any  # what a source takes for a choice of columns; None for all
Prepare = Callable[[Any], Any]  # a block as the source gives it -> as the work wants it
ReadingProgress = Callable[[int, int], None]
_END: Any = object()
_WORTH_A_THREAD = 1e-3  # seconds


class Passes(ABC):
    """Walks over a table in blocks of rows."""

    n_rows: int | None  # of all blocks; None as long as that is not known
    reader: BlockReader  # what counts the passes

    @abstractmethod
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
        """Make a pass over blocks with these columns; `prepare` makes of each what `add` gets."""

    @abstractmethod
    def place(self, number: int, rows: slice) -> str:
        """Return what to call a block in messages, by its number among those with rows."""

    def total(self, work: Callable[..., Sequence[Floats]], **how: Any) -> list[Floats]:
        """Add up the arrays that ``work(block, *along)`` gives of each block."""
        return self.run(RunningSums, partial(_add, work), RunningSums.merge, **how).results()

    def reduce(
        self, work: Callable[..., Part], merge: Callable[[Part, Part], Part], **how: Any
    ) -> Part:
        """Merge what ``work(block, *along)`` gives of each block, neighbors first."""
        start = partial(Merging, merge)
        return self.run(start, partial(_add, work), Merging.followed_by, **how).result()

    def each(self, work: Callable[..., Part], **how: Any) -> list[Part]:
        """Return what ``work(block, *along)`` gives of each block, in order."""
        return self.run(list, partial(_append, work), operator.add, **how)


class SpreadPasses(Passes):
    """Walks over a table whose rows are spread over several places, work going to them."""

    @abstractmethod
    def run_along(
        self,
        start: Callable[[], Total],
        add: Callable[..., None],
        merge: Callable[[Total, Total], Total],
        along: Sequence[Rows | None],
    ) -> Total:
        """Make a pass over things of N rows alone, without the table: ``add(total, *along)``."""

    @abstractmethod
    def written_out(self, rows: SpreadRows) -> NDArray:
        """Return all rows, here."""

    @abstractmethod
    def spread(self, rows: NDArray) -> SpreadRows:
        """Return rows that are here as spread ones."""

    @abstractmethod
    def kept(self, rows: SpreadRows) -> SpreadRows:
        """Return the same rows, made once and kept where they are."""


class LocalPasses(Passes):
    """Walks one block after the other, here.

    Given columns, `blocks` returns an iterable of the blocks, the same rows in the same order at
    each call. Once prepared, they have `shape` or `n_rows`. `place` says what to call a block, by
    its number and rows.
    """

    def __init__(
        self,
        blocks: Callable[[Columns], Iterable[Any]],
        n_rows: int | None = None,
        reader: BlockReader | None = None,
        place: Callable[[int, slice], str] | None = None,
    ) -> None:
        self._blocks = blocks
        self._place = name_of_block if place is None else place
        self.n_rows = n_rows
        self.reader = BlockReader() if reader is None else reader

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
        total = start()
        with self.reader.walk(self._blocks(columns), prepare) as blocks:
            for number, rows, block in self._numbered(blocks):
                with naming(partial(self.place, number, rows)):
                    add(total, block, *(cut(each, rows) for each in along))
                del block  # before the next one is asked for
        return total

    def place(self, number: int, rows: slice) -> str:
        return self._place(number, rows)

    def _numbered(self, blocks: Iterable[Any]) -> Iterator[tuple[int, slice, Any]]:
        """Yield the number of each block that has rows, which of the table's they are, and it."""
        number = start = 0
        for block in blocks:
            stop = start + rows_of(block)
            if self.n_rows is not None and stop > self.n_rows:
                raise changed(self.n_rows, f"at least {stop}")
            if stop > start:
                yield number, slice(start, stop), block
                number += 1
            start = stop
            del block
        if self.n_rows is not None and start < self.n_rows:
            raise changed(self.n_rows, str(start))


def rows_of(block: Any) -> int:
    """Return how many rows a block has."""
    return int(block.shape[0]) if hasattr(block, "shape") else int(block.n_rows)


def name_of_block(number: int, rows: slice) -> str:
    """Return what to call a block in messages."""
    return f"block {number} (rows {rows.start} to {rows.stop - 1})"


@contextmanager
def naming(place: str | Callable[[], str]) -> Iterator[None]:
    """Let errors about the input say in which part of the table it was."""
    try:
        yield
    except InputError as error:
        raise error.at(place if isinstance(place, str) else place()) from None


def changed(expected: int, got: str) -> InputError:
    """Return the error of a table that has another number of rows than before."""
    return InputError(
        f"a table that is read in blocks should stay the same from pass to pass; it should have "
        f"{expected} rows, and has {got} now. Give every pass the same blocks, and write to no "
        f"file while it is read."
    )


def altered(names: Sequence[str], place: str | None = None) -> InputError:
    """Return the error of columns that hold other values than before."""
    plural = len(names) > 1
    where = "" if place is None else f", in {place}"
    return InputError(
        f"a table that is read in blocks should stay the same from pass to pass; "
        f"{'columns' if plural else 'column'} {listing(names)} {'have' if plural else 'has'} other "
        f"values now than before, or the same in another order{where}. Give every pass the "
        f"same rows in the same order: start random numbers from a fixed seed, sort what a "
        f"database returns, and let nobody write meanwhile; or write the table to a file, or "
        f"persist it, and select from that."
    )


def _add(work: Callable[..., Any], total: RunningSums | Merging, *block: Any) -> None:
    total.add(work(*block))


def _append(work: Callable[..., Part], parts: list[Part], *block: Any) -> None:
    parts.append(work(*block))


# Reading block by block: one place that counts, reports and reads ahead


@dataclass
class BlockReader:
    """What has been read of a table so far.

    `progress` is called after each block with the number of the pass, from 1 on, and the bytes.
    """

    passes: int = 0  # walks over its blocks, of all columns or of some
    bytes: int = 0  # of all that was read, before anything was made of it
    progress: ReadingProgress | None = None

    def stats(self) -> dict[str, int]:
        """Return what reading has taken so far."""
        return {"passes": self.passes, "bytes_read": self.bytes}

    def count(self, nbytes: int) -> None:
        """Count a pass that was made elsewhere."""
        self.passes += 1
        self.bytes += nbytes
        if self.progress is not None:
            self.progress(self.passes, self.bytes)

    @contextmanager
    def walk(
        self, blocks: Iterable[Any], prepare: Callable[[Any], Block] | None = None
    ) -> Iterator[Iterator[Block]]:
        """Give blocks, prepared; those that have `nbytes` are counted as they come.

        Meanwhile the next one is prepared and the one after it is read, each in a thread of its
        own, unless the first block was quick to get. Leaving early leaves no thread at work.
        """
        self.passes += 1
        items: Any = iter(blocks)
        try:
            with ExitStack() as readers:
                yield self._reported(self._ahead(items, prepare, readers))
        finally:  # let a generator end its files; other iterators have nothing to close
            # One that still runs is not waited for: the caller was interrupted while waiting.
            if hasattr(items, "close") and not getattr(items, "gi_running", False):
                items.close()

    def _reported(self, blocks: Iterator[tuple[Any, int]]) -> Iterator[Any]:
        for block, nbytes in blocks:
            self.bytes += nbytes
            if self.progress is not None:
                self.progress(self.passes, self.bytes)
            yield block
            del block  # three at a time: this one, one that is prepared, one that is read

    def _ahead(
        self, items: Iterator, prepare: Callable[[Any], Block] | None, readers: ExitStack
    ) -> Iterator[tuple[Any, int]]:
        """Read and prepare ahead, if that takes long enough: the first block shows."""
        start = time.perf_counter()
        first = list(islice(items, 1))
        make = partial(_sized, prepare)
        made = iter([make(item) for item in first])
        del first
        if time.perf_counter() - start < _WORTH_A_THREAD:
            return chain(made, map(make, items))
        ahead = ReadAhead(items)
        readers.push(ahead)  # before it starts: whatever happens, it is closed
        ahead.start()
        if prepare is None:
            return chain(made, map(make, ahead))
        prepared = ReadAhead(map_forgetting(make, ahead))
        readers.push(prepared)
        prepared.start()
        return chain(made, prepared)


def _sized(prepare: Callable[[Any], Any] | None, item: Any) -> tuple[Any, int]:
    """Return what is made of a block, and the bytes that were read for it."""
    nbytes = int(getattr(item, "nbytes", 0))
    return item if prepare is None else prepare(item), nbytes


class ReadAhead(Iterator[Block]):
    """The items; while one is worked on, the next is made in another thread.

    A caller that stops early closes it, which waits for that thread. The garbage collector waits
    for nothing: it runs wherever it likes, also in a thread that holds what the other one needs.
    """

    def __init__(self, items: Iterable[Block]) -> None:
        self._next = partial(next, iter(items), _END)
        self._coming: Job | None = None
        self._has_ended = False

    def start(self) -> None:
        """Let a thread make the next item; else it is made when it is asked for."""
        self._coming = Job(self._next)  # known before there is a thread: it may have to be closed
        if not start_thread(self._coming.run):
            self._coming = None

    def __next__(self) -> Block:
        if self._has_ended:
            raise StopIteration
        self._has_ended = True  # unless all goes well
        item = self._next() if self._coming is None else self._coming.result()
        self._coming = None
        if item is _END:
            raise StopIteration
        self.start()
        self._has_ended = False
        return item

    def __enter__(self) -> ReadAhead[Block]:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Wait for the item that is being made, if any, and forget it."""
        self._has_ended = True
        if self._coming is not None and not self._coming.cancel():
            self._coming.wait()
        self._coming = None


def map_forgetting(work: Callable[[Any], Block], items: Iterable[Any]) -> Iterator[Block]:
    """Yield what work makes of the items, none of which is kept meanwhile."""
    for item in items:
        made = work(item)
        del item
        yield made
        del made
