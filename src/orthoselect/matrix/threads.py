"""Products by a few threads over tiles of a table, each with a single-threaded BLAS.

BLAS's own threads wait for each other in a spin, so that one busy neighbor on a shared machine
slows a product twentyfold. Here each thread takes the next tile when it is done with its last,
and a slow one only takes fewer.

How many threads: as many as BLAS may use, that is as many as OMP_NUM_THREADS (or its like),
`threadpoolctl.threadpool_limits` or joblib have allowed, no more than there are processors, and no
more than there is memory for, where the process may take only so much.

Ctrl-C may interrupt at any time. Python's own threads, events and executors are written in Python:
where a wait for one is interrupted in the wrong place, it may be left locked for good, or be taken
for ended while it is not. So there is nothing here to wait for but bare locks and a bare queue.
"""

from __future__ import annotations

import _thread
import math
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from queue import SimpleQueue
from typing import Any, ClassVar, TypeVar
from weakref import WeakSet

import numpy as np
from scipy.linalg.blas import dgemm
from threadpoolctl import ThreadpoolController

from orthoselect.matrix.base import Floats
from orthoselect.matrix.memory import room_in_limits

BUNDLES = 8  # few enough to add up, many enough for a slow thread not to be waited for long
_FOR_A_THREAD = 1 << 28  # bytes that are left: BLAS takes some for each, and so do stacks
_COST_OF_A_THREAD = 2e7  # multiplications in the time that waking one takes, amply
_A_WHILE = 0.1  # seconds
_NOT_SMALL = 128  # rows and columns of a product that OpenBLAS does not call small

Task = TypeVar("Task")
Total = list[Floats]


class Job:
    """Work that another thread does, unless it is canceled before one has begun."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work: Callable[[], Any] | None = work
        self._result: Any = None
        self._error: BaseException | None = None
        self._is_done = False
        self._claim = threading.Lock()  # taken by the one that does the work, or cancels it
        self._gate = threading.Lock()  # open once it is done
        self._gate.acquire()

    def run(self) -> None:
        """Do the work; for another thread."""
        if not self._claim.acquire(blocking=False):
            return
        work, self._work = self._work, None  # what it holds is not kept longer than it is needed
        assert work is not None
        try:
            self._result = work()
        except BaseException as error:
            self._error = error
        finally:
            del work
            self._is_done = True
        self._gate.release()

    def cancel(self) -> bool:
        """Return whether no thread has begun; then none will."""
        canceled = self._claim.acquire(blocking=False)
        if canceled:
            self._work = None
        return canceled

    def wait(self) -> None:
        """Return when the thread that does the work is done."""
        # Not by the gate alone: an interrupted wait may have closed it behind it. And a while at a
        # time: where a library has signals restart what they interrupt, as polars does, Ctrl-C is
        # noticed in between only.
        while not self._is_done and not self._gate.acquire(timeout=_A_WHILE):
            pass

    def result(self) -> Any:
        """Wait; return what the work returned, or raise what it raised. Once."""
        self.wait()
        result, self._result = self._result, None
        error, self._error = self._error, None
        if error is None:
            return result
        try:
            raise error
        finally:
            del error  # its traceback has this frame


class Pool:
    """Threads that wait for jobs, started as they are needed, at most so many, and never ended."""

    def __init__(self, most: int) -> None:
        self._most, self._n_threads = most, 0
        self._jobs: SimpleQueue[Job] = SimpleQueue()

    def submit(self, work: Callable[[], Any], count: int) -> list[Job]:
        """Queue `count` runs of some work; the caller cancels those that no thread has begun."""
        while self._n_threads < min(count, self._most) and start_thread(self._run):
            self._n_threads += 1
        if not self._n_threads:
            return []
        jobs = [Job(work) for _ in range(count)]
        for job in jobs:
            self._jobs.put(job)
        return jobs

    def _run(self) -> None:
        while True:
            self._jobs.get().run()


def start_thread(work: Callable[[], None]) -> bool:
    """Start a thread, if there is one to be had: there is none when the interpreter ends."""
    try:
        _thread.start_new_thread(work, ())
    except RuntimeError:
        return False
    return True


class single_threaded_blas(AbstractContextManager[None]):  # noqa: N801  (used as a function)
    """Hold BLAS to one thread; what runs inside may still use `run_tasks`.

    The limit is one for the whole process, and so all holders share it. Ctrl-C may come at any
    time, also while limits are being set. So what BLAS is to get back is written down before. A
    holder that could not let go does so when it is garbage-collected or, if the lock is taken then,
    whenever another one lets go.
    """

    _lock = threading.Lock()
    _holders: ClassVar[WeakSet[single_threaded_blas]] = WeakSet()
    _before: ClassVar[list[tuple[Any, int]] | None] = None  # each library's; None as it is now
    _allowed = 1  # threads that BLAS may use when nobody holds it
    _holds = False

    def __enter__(self) -> None:
        shared = single_threaded_blas
        self._holds = True
        try:
            with shared._lock:
                shared._holders.add(self)
                if shared._before is None:
                    shared._allowed = _blas_limit()
                    limits = [(lib, lib.num_threads) for lib in _blas_libraries()]
                    shared._before = [(lib, limit) for lib, limit in limits if limit != 1]
                    _set_limits([(lib, 1) for lib, _ in shared._before])
        except BaseException:
            self._let_go()
            raise

    def __exit__(self, *error: object) -> None:
        try:
            self._let_go()
        except BaseException:
            self._let_go()
            raise
        self._holds = False

    def __del__(self) -> None:
        if self._holds and not self._lock.locked():
            self._let_go()

    def _let_go(self) -> None:
        """Give BLAS back its limit, if nobody else holds it."""
        shared = single_threaded_blas
        with shared._lock:
            shared._holders.discard(self)
            if shared._before is not None and not shared._holders:
                _set_limits(shared._before)
                shared._before = None

    @classmethod
    def allowed(cls) -> int:
        """Return how many threads BLAS may use when nobody holds it to one."""
        with cls._lock:
            return cls._allowed if cls._before is not None else _blas_limit()

    @classmethod
    def forget(cls) -> None:
        """Start anew, with whatever limit BLAS had when nobody held it."""
        before = cls._before
        cls._lock, cls._holders, cls._before = threading.Lock(), WeakSet(), None
        _set_limits(before or [])


@cache
def _blas_libraries() -> list:
    return ThreadpoolController().select(user_api="blas").lib_controllers


def _blas_limit() -> int:
    # No library found: a BLAS that threadpoolctl does not know.
    return min((lib.num_threads for lib in _blas_libraries()), default=_processors())


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


if hasattr(os, "register_at_fork"):
    # The child has no other threads that would give BLAS its limit back.
    os.register_at_fork(after_in_child=single_threaded_blas.forget)


def n_threads() -> int:
    """Return how many threads a product may use now."""
    room = room_in_limits()
    most = _processors() if room is None else room // _FOR_A_THREAD
    return max(1, min(single_threaded_blas.allowed(), _processors(), most))


def prepare_blas() -> None:
    """Have BLAS take the memory that it works in, before limited memory is filled.

    Where there is none left later, BLAS ends the process, or asks for it again forever. Products
    of small matrices do not count: OpenBLAS has a way without that memory for them.
    """
    ones = np.ones((_NOT_SMALL, _NOT_SMALL))
    with single_threaded_blas():
        ones @ ones
        dgemm(1.0, ones, ones)  # SciPy may have a BLAS of its own


def add_up(total: Total, more: Total) -> None:
    """Add the total of one bundle of tasks to that of those before it."""
    for mine, theirs in zip(total, more):
        mine += theirs


def run_tasks(
    tasks: Sequence[Task],
    work: Callable[[Task, Total], None],
    *shapes: tuple[int, ...],
    cost: float = math.inf,
    merge: Callable[[Total, Total], None] = add_up,
    shared: bool = False,
) -> Total:
    """Do tasks in a few threads, whichever is free taking the next few; return their total.

    Tasks are always put together in the same way, so that the total does not depend on the number
    of threads or on which was quicker, to the last digit. `work` does one task, adding to a total:
    arrays of these shapes, which begin as zeros. `merge` takes the total of a bundle of tasks into
    that of the bundles before it; if `shared`, there is one total for all, and each task writes to
    a place of its own. `cost` are the multiplications in all: small jobs are not worth a second
    thread.
    """
    size = max(1, -(-len(tasks) // BUNDLES))
    bundles = [tasks[start : start + size] for start in range(0, len(tasks), size)]
    first = [np.zeros(shape) for shape in shapes]
    if len(bundles) <= 1:  # nothing to share out
        with single_threaded_blas():
            for task in tasks:
                work(task, first)
        return first
    totals = [first] * max(1, len(bundles))  # one for each bundle
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
            if place and not shared:
                totals[place] = [np.zeros(shape) for shape in shapes]
            for task in bundles[place]:
                work(task, totals[place])

    with single_threaded_blas():
        others: list[Job] = []
        threads = min(len(bundles), 1 + int(min(cost / _COST_OF_A_THREAD, 1e6)))
        if threads > 1 and (threads := min(threads, n_threads())) > 1:
            others = _pool(os.getpid()).submit(loop, threads - 1)
        try:
            loop()
        except BaseException:
            stopped = True  # Ctrl-C, say: the others need not go on
            raise
        for other in others:
            if not other.cancel():
                other.result()
    if not shared:
        for more in totals[1:]:
            merge(first, more)
    return first
