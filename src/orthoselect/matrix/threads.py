"""Sums over row blocks by a few threads, each with a single-threaded BLAS.

BLAS's own threads wait for each other in a spin, so that one busy neighbor on a shared machine
slows a product twentyfold. Here each thread takes the next block when it is done with its last,
and a slow one only takes fewer.

How many threads: as many as BLAS may use, that is as many as OMP_NUM_THREADS (or its like),
`threadpoolctl.threadpool_limits` or joblib have allowed, and no more than there are processors.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Total = TypeVar("Total")


class _Blas:
    """The thread limit of BLAS, which is one for the whole process and so is held in common."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._allowed = 1
        self._before: list = []

    def allowed(self) -> int:
        """Return how many threads BLAS may use when nobody holds it to one."""
        with self._lock:
            if not self._holders:
                limits = [lib.num_threads for lib in _blas_libraries()]
                self._allowed = min(limits, default=_processors())  # none: an unknown BLAS
            return self._allowed

    @contextmanager
    def single_threaded(self) -> Iterator[None]:
        """Hold BLAS to one thread; the last of several holders gives it back its limit."""
        with self._lock:
            if not self._holders:
                self._before = [(lib, lib.num_threads) for lib in _blas_libraries()]
                for lib, _ in self._before:
                    lib.set_num_threads(1)
            self._holders += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if not self._holders:
                    for lib, limit in self._before:
                        lib.set_num_threads(limit)


@cache
def _blas_libraries() -> list:
    return ThreadpoolController().select(user_api="blas").lib_controllers


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    # One pool for all selections of a process: several at a time share it instead of adding up.
    return ThreadPoolExecutor(max_workers=_processors(), thread_name_prefix="orthoselect")


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_blas = _Blas()


def n_threads() -> int:
    """Return how many threads a product may use now."""
    return max(1, min(_blas.allowed(), _processors()))


def sum_over_blocks(
    N: int,
    height: int,
    start: Callable[[], Total],
    step: Callable[[Total, slice], None],
    merge: Callable[[Total, Total], None],
) -> Total:
    """Add up something over blocks of rows.

    Parameters
    ----------
    N, height : int
        Rows in all and in a block.
    start : callable
        Makes an empty total; each thread has its own.
    step : callable
        Adds a block of rows to a total.
    merge : callable
        Adds the second total to the first.
    """
    firsts = iter(range(0, N, height))
    lock = threading.Lock()
    stopped = threading.Event()

    def work() -> Total:
        total = start()
        while not stopped.is_set():
            with lock:
                first = next(firsts, None)
            if first is None:
                break
            step(total, slice(first, min(first + height, N)))
        return total

    threads = min(n_threads(), -(-N // height))
    with _blas.single_threaded():
        others: list[Future[Total]] = []
        if threads > 1:
            pool = _pool(os.getpid())
            others = [pool.submit(work) for _ in range(threads - 1)]
        try:
            total = work()
        except BaseException:
            stopped.set()  # Ctrl-C, say: the others need not go on
            raise
        for other in others:
            if not other.cancel():
                merge(total, other.result())
    return total
