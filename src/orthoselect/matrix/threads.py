"""Products by a few threads over tiles of a table, each with a single-threaded BLAS.

BLAS's own threads wait for each other in a spin, so that one busy neighbor on a shared machine
slows a product twentyfold. Here each thread takes the next tile when it is done with its last,
and a slow one only takes fewer.

How many threads: as many as BLAS may use, that is as many as OMP_NUM_THREADS (or its like),
`threadpoolctl.threadpool_limits` or joblib have allowed, no more than there are processors, and no
more than there is memory for, where the process may take only so much.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar
from weakref import WeakSet

import numpy as np
from scipy.linalg.blas import dgemm
from threadpoolctl import ThreadpoolController

from orthoselect.matrix.base import Floats
from orthoselect.matrix.jobs import Job, Pool
from orthoselect.matrix.memory import room_in_limits

BUNDLES = 8  # few enough to add up, many enough for a slow thread not to be waited for long
_FOR_A_THREAD = 1 << 28  # bytes that are left: BLAS takes some for each, and so do stacks
_COST_OF_A_THREAD = 2e7  # multiplications in the time that waking one takes, amply

Task = TypeVar("Task")
Total = list[Floats]


class _Blas:
    """The thread limit of BLAS, which is one for the whole process and so is held in common.

    Ctrl-C may come at any time, also while limits are being set. So what BLAS is to get back is
    written down before, and whoever was kept from letting go does so when it is collected; if that
    is no good moment, the next one that lets go makes good for it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders: WeakSet[_Hold] = WeakSet()
        self._before: list[tuple[Any, int]] | None = None  # each library's; None as it is now
        self._allowed = 1

    def allowed(self) -> int:
        """Return how many threads BLAS may use when nobody holds it to one."""
        with self._lock:
            return self._allowed if self._before is not None else self._limit()

    def forget(self) -> None:
        """Start anew, with whatever limit BLAS had when nobody held it."""
        before = self._before
        self._lock, self._holders, self._before = threading.Lock(), WeakSet(), None
        _set_limits(before or [])

    def _limit(self) -> int:
        # No library found: a BLAS that threadpoolctl does not know.
        return min((lib.num_threads for lib in _blas_libraries()), default=_processors())

    def hold(self, holder: _Hold) -> None:
        """Hold BLAS to one thread."""
        with self._lock:
            self._holders.add(holder)
            if self._before is None:
                self._allowed = self._limit()
                limits = [(lib, lib.num_threads) for lib in _blas_libraries()]
                self._before = [(lib, limit) for lib, limit in limits if limit != 1]
                _set_limits([(lib, 1) for lib, _ in self._before])

    def let_go(self, holder: _Hold) -> None:
        """Give BLAS back its limit, if nobody else holds it."""
        with self._lock:
            self._holders.discard(holder)
            if self._before is not None and not self._holders:
                _set_limits(self._before)
                self._before = None

    def is_busy(self) -> bool:
        """Whether somebody, maybe this thread, is setting limits right now."""
        return self._lock.locked()


class _Hold:
    """One that holds BLAS to one thread for a while."""

    _holds = False

    def __enter__(self) -> None:
        self._holds = True
        try:
            _blas.hold(self)
        except BaseException:
            _blas.let_go(self)
            raise

    def __exit__(self, *error: object) -> None:
        try:
            _blas.let_go(self)
        except BaseException:
            _blas.let_go(self)
            raise
        self._holds = False

    def __del__(self) -> None:
        if self._holds and not _blas.is_busy():
            _blas.let_go(self)


@cache
def _blas_libraries() -> list:
    return ThreadpoolController().select(user_api="blas").lib_controllers


def _set_limits(limits: list) -> None:
    """Set the limit of each library, whichever thread has set limits before.

    Since 3.8 threadpoolctl does what one thread says, and nothing of what others say, until the
    first lets go. The last holder may be in another thread than the first, nobody should be kept
    from setting limits of their own, and the lock behind that rule may be held when a process
    forks; so libraries are asked past it.
    """
    for lib, limit in limits:
        getattr(lib, "_real_set_num_threads", lib.set_num_threads)(limit)


@cache
def _pool(process: int) -> Pool:
    # One pool for all selections of a process: several at a time share it instead of adding up.
    return Pool(_processors())


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_blas = _Blas()
if hasattr(os, "register_at_fork"):
    # The child has no other threads that would give BLAS its limit back.
    os.register_at_fork(after_in_child=_blas.forget)


def n_threads() -> int:
    """Return how many threads a product may use now."""
    room = room_in_limits()
    most = _processors() if room is None else room // _FOR_A_THREAD
    return max(1, min(_blas.allowed(), _processors(), most))


def prepare_blas() -> None:
    """Have BLAS take the memory that it works in; where there is none later, it ends the process.

    For whoever is about to fill memory that is limited.
    """
    ones = np.ones((2, 2))
    with single_threaded_blas():
        ones @ ones
        dgemm(1.0, ones, ones)  # SciPy may have a BLAS of its own


def single_threaded_blas() -> AbstractContextManager[None]:
    """Hold BLAS to one thread; what runs inside may still use `run_tasks`."""
    return _Hold()


def run_tasks(
    tasks: Sequence[Task],
    work: Callable[[Task, Total], None],
    totals: Totals,
    cost: float = math.inf,
) -> Total:
    """Do tasks in a few threads, whichever is free taking the next few; return their total.

    Tasks are always put together in the same way, so that the total does not depend on the number
    of threads or on which was quicker, to the last digit.

    Parameters
    ----------
    tasks : sequence
    work : callable
        Does one task, adding to a total.
    totals : Totals
        How totals are made and merged; each bundle of tasks has its own.
    cost : float
        Multiplications in all: small jobs are not worth a second thread.
    """
    size = max(1, -(-len(tasks) // BUNDLES))
    bundles = [tasks[start : start + size] for start in range(0, len(tasks), size)]
    if len(bundles) < 2:
        return _run_alone(tasks, work, totals)
    done: list[Total | None] = [None] * len(bundles)
    queue = iter(range(len(bundles)))
    lock = threading.Lock()
    stopped = False
    float_errors = np.geterr()  # each thread has its own

    def loop() -> None:
        np.seterr(**float_errors)
        while not stopped:
            with lock:
                place = next(queue, None)
            if place is None:
                return
            total = totals.start()
            for task in bundles[place]:
                work(task, total)
            done[place] = total

    with single_threaded_blas():
        others: list[Job] = []
        threads = min(n_threads(), len(bundles), 1 + int(min(cost / _COST_OF_A_THREAD, 1e6)))
        if threads > 1:
            others = _pool(os.getpid()).submit(loop, threads - 1)
        try:
            loop()
        except BaseException:
            stopped = True  # Ctrl-C, say: the others need not go on
            raise
        for other in others:
            if not other.call_off():
                other.result()
    return totals.merge([total for total in done if total is not None])


def _run_alone(tasks: Sequence[Task], work: Callable[[Task, Total], None], totals: Totals) -> Total:
    """Do what is too little to share."""
    with single_threaded_blas():
        total = totals.start()
        for task in tasks:
            work(task, total)
    return totals.merge([total])


class Totals:
    """Arrays of zeros, one set for each bundle of tasks, that are added up in the end.

    Parameters
    ----------
    *shapes : tuples of int
    """

    def __init__(self, *shapes: tuple[int, ...]) -> None:
        self._shapes = shapes

    def start(self) -> Total:
        """Return zeros."""
        return [np.zeros(shape) for shape in self._shapes]

    def merge(self, parts: list[Total]) -> Total:
        """Add up, always in the same order."""
        total = parts[0] if parts else self.start()
        for part in parts[1:]:
            for mine, theirs in zip(total, part):
                mine += theirs
        return total


class Shared(Totals):
    """One set of arrays for all, each task writing to a place of its own."""

    def __init__(self, *shapes: tuple[int, ...]) -> None:
        self._arrays = [np.zeros(shape) for shape in shapes]

    def start(self) -> Total:
        """Return the one set."""
        return self._arrays

    def merge(self, parts: list[Total]) -> Total:
        """Return the one set."""
        return self._arrays
