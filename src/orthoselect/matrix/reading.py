"""Reading a table block by block: one place that counts, tells and reads ahead."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
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

    def walk(
        self, blocks: Iterable[Any], prepare: Callable[[Any], Block] | None = None
    ) -> Iterator[Block]:
        """Yield blocks, prepared, which tell their size as `nbytes`.

        Meanwhile the next one is prepared and the one after it is read, each in a thread of its
        own, unless the first block was quick to get.
        """
        self.passes += 1
        for block in self._ahead(blocks, prepare):
            self.bytes += int(getattr(block, "nbytes", 0))
            if self.progress is not None:
                self.progress(self.passes, self.bytes)
            yield block
            del block  # three at a time: this one, one that is prepared, one that is read

    def _ahead(self, blocks: Iterable[Any], prepare: Callable[[Any], Block] | None) -> Iterator:
        """Read and prepare ahead, if that takes long enough: the first block tells."""
        items = iter(blocks)
        start = time.perf_counter()
        first = list(islice(items, 1))
        made = iter(first if prepare is None else [prepare(item) for item in first])
        del first
        quick = time.perf_counter() - start < _WORTH_A_THREAD
        if prepare is None:
            return chain(made, items if quick else read_ahead(items))
        if quick:
            return chain(made, map(prepare, items))
        return chain(made, read_ahead(map_forgetting(prepare, read_ahead(items))))


def read_ahead(items: Iterable[Block]) -> Iterator[Block]:
    """Yield the items; while one is worked on, the next is made in another thread.

    Examples
    --------
    >>> list(read_ahead(range(3)))
    [0, 1, 2]
    """
    iterator = iter(items)
    with ThreadPoolExecutor(1, thread_name_prefix="orthoselect-read") as reader:
        coming = reader.submit(next, iterator, _END)
        try:
            while (item := coming.result()) is not _END:
                coming = reader.submit(next, iterator, _END)
                yield item
                del item
        finally:
            coming.cancel()
            reader.submit(_close, iterator)


def map_forgetting(work: Callable[[Any], Block], items: Iterable[Any]) -> Iterator[Block]:
    """Yield what work makes of the items, none of which is kept meanwhile."""
    for item in items:
        made = work(item)
        del item
        yield made
        del made


def _close(iterator: Any) -> None:
    """Let a generator end its files; other iterators have nothing to close."""
    close = getattr(iterator, "close", None)
    if close is not None:
        close()
