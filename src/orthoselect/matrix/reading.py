"""Reading a table block by block: one place that counts, tells and reads ahead."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any, TypeVar

from orthoselect.matrix.jobs import Job, start_thread

Block = TypeVar("Block")
ReadingProgress = Callable[[int, int], None]
_END: Any = object()
_WORTH_A_THREAD = 1e-3  # seconds


@dataclass
class Reading:
    """What has been read of a table so far.

    Attributes
    ----------
    passes : int
        Walks over its blocks, of all columns or of some.
    bytes : int
        Bytes of all that was read, as the blocks had it before anything was made of them.
    progress : callable, optional
        Called after each block with the number of the pass, from 1 on, and the bytes so far.
    """

    passes: int = 0
    bytes: int = 0
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
        """Give blocks, prepared; as they come they tell their size as `nbytes`.

        Meanwhile the next one is prepared and the one after it is read, each in a thread of its
        own, unless the first block was quick to get. Who leaves early leaves no thread at work.
        """
        self.passes += 1
        items = iter(blocks)
        with _closing(items), ExitStack() as readers:
            yield self._tell(self._ahead(items, prepare, readers))

    def _tell(self, blocks: Iterator[_Sized]) -> Iterator[Any]:
        for sized in blocks:
            self.bytes += sized.nbytes
            if self.progress is not None:
                self.progress(self.passes, self.bytes)
            block = sized.block
            del sized
            yield block
            del block  # three at a time: this one, one that is prepared, one that is read

    def _ahead(
        self, items: Iterator, prepare: Callable[[Any], Block] | None, readers: ExitStack
    ) -> Iterator[_Sized]:
        """Read and prepare ahead, if that takes long enough: the first block tells."""
        start = time.perf_counter()
        first = list(islice(items, 1))
        make = partial(_Sized.of, prepare)
        made = iter([make(item) for item in first])
        del first
        quick = time.perf_counter() - start < _WORTH_A_THREAD
        if quick:
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


@dataclass(frozen=True)
class _Sized:
    """What was made of a block, and the bytes that were read for it."""

    block: Any
    nbytes: int

    @staticmethod
    def of(prepare: Callable[[Any], Any] | None, item: Any) -> _Sized:
        nbytes = int(getattr(item, "nbytes", 0))
        return _Sized(item if prepare is None else prepare(item), nbytes)


class ReadAhead(Iterator[Block]):
    """The items; while one is worked on, the next is made in another thread.

    Who stops early closes it, to wait for that thread. The garbage collector, to which one may be
    left instead, waits for nothing: it runs wherever it likes, also in a thread that holds what the
    other one needs.

    Parameters
    ----------
    items : iterable

    Examples
    --------
    >>> list(ReadAhead(range(3)))
    [0, 1, 2]
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
        if self._coming is not None and not self._coming.call_off():
            self._coming.wait()
        self._coming = None


def map_forgetting(work: Callable[[Any], Block], items: Iterable[Any]) -> Iterator[Block]:
    """Yield what work makes of the items, none of which is kept meanwhile."""
    for item in items:
        made = work(item)
        del item
        yield made
        del made


@contextmanager
def _closing(iterator: Any) -> Iterator[None]:
    """Let a generator end its files; other iterators have nothing to close."""
    try:
        yield
    finally:
        # One that still runs is not waited for: whoever left was interrupted while waiting.
        if hasattr(iterator, "close") and not getattr(iterator, "gi_running", False):
            iterator.close()
