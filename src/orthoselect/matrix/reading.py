"""Reading a table block by block: one place that counts, tells and reads ahead."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any, TypeVar

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
        Bytes of all blocks that were read.
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
        """Give blocks, prepared, which tell their size as `nbytes`.

        Meanwhile the next one is prepared and the one after it is read, each in a thread of its
        own, unless the first block was quick to get. Who leaves early leaves no thread at work.
        """
        self.passes += 1
        items = iter(blocks)
        with _closing(items), ExitStack() as readers:
            yield self._tell(self._ahead(items, prepare, readers))

    def _tell(self, blocks: Iterator[Block]) -> Iterator[Block]:
        for block in blocks:
            self.bytes += int(getattr(block, "nbytes", 0))
            if self.progress is not None:
                self.progress(self.passes, self.bytes)
            yield block
            del block  # three at a time: this one, one that is prepared, one that is read

    def _ahead(
        self, items: Iterator, prepare: Callable[[Any], Block] | None, readers: ExitStack
    ) -> Iterator:
        """Read and prepare ahead, if that takes long enough: the first block tells."""
        start = time.perf_counter()
        first = list(islice(items, 1))
        made = iter(first if prepare is None else [prepare(item) for item in first])
        del first
        quick = time.perf_counter() - start < _WORTH_A_THREAD
        if quick:
            return chain(made, items if prepare is None else map(prepare, items))
        ahead = readers.enter_context(ReadAhead(items))
        if prepare is None:
            return chain(made, ahead)
        return chain(made, readers.enter_context(ReadAhead(map_forgetting(prepare, ahead))))


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
        self._iterator = iter(items)
        self._coming = _Coming(self._iterator)

    def __next__(self) -> Block:
        item = self._coming.result()
        if item is _END:
            raise StopIteration
        self._coming = _Coming(self._iterator)
        return item

    def __enter__(self) -> ReadAhead[Block]:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Wait for the item that is being made, and forget it."""
        self._coming.join()
        self._coming = _Coming(iter(()))


class _Coming(threading.Thread):
    """The next item of an iterator, in the making.

    A thread for each item, and none that waits for orders: nobody has to tell it to end.
    """

    def __init__(self, iterator: Iterator) -> None:
        super().__init__(name="orthoselect-read")
        self._next = partial(next, iterator, _END)
        self._item: Any = _END
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            self._item = self._next()
        except BaseException as error:
            self._error = error
        finally:
            del self._next  # the iterator is not kept by a thread that is done

    def result(self) -> Any:
        """Return the item, once, or raise what was met instead; `_END` ever after."""
        self.join()
        item, self._item = self._item, _END
        error, self._error = self._error, None
        if error is None:
            return item
        try:
            raise error
        finally:
            del error  # its traceback has this frame


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
