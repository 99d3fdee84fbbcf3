"""Reading a table block by block: one place that counts, tells and reads ahead."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
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
    _clock: _Clock = field(default_factory=lambda: _Clock())

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
        own, unless blocks have been quick to get so far.
        """
        self.passes += 1
        for block in self._ahead(blocks, prepare):
            self.bytes += int(getattr(block, "nbytes", 0))
            if self.progress is not None:
                self.progress(self.passes, self.bytes)
            yield block
            del block  # three at a time: this one, one that is prepared, one that is read

    def _ahead(self, blocks: Iterable[Any], prepare: Callable[[Any], Block] | None) -> Iterator:
        slow = self._clock.is_slow()
        timed = self._clock.time(blocks)
        if prepare is None:
            return read_ahead(timed) if slow else timed
        if not slow:
            return map(prepare, timed)
        return read_ahead(map_forgetting(prepare, read_ahead(timed)))


class _Clock:
    """How long blocks take to read."""

    def __init__(self) -> None:
        self._seconds, self._count = 0.0, 0

    def time(self, items: Iterable[Block]) -> Iterator[Block]:
        """Yield the items, each timed."""
        start = time.perf_counter()
        for item in items:
            self._seconds += time.perf_counter() - start
            self._count += 1
            yield item
            del item
            start = time.perf_counter()

    def is_slow(self) -> bool:
        """Whether a thread that reads ahead is worth its while; so it is as long as unknown."""
        return self._seconds >= _WORTH_A_THREAD * self._count


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
