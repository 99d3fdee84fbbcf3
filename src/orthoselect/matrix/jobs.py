"""Work for other threads, and threads for it, which Ctrl-C may interrupt at any time.

Python's own threads, events and executors are written in Python: where a wait for one is
interrupted in the wrong place, it may be left locked for good, or be taken for ended while it is
not. So there is nothing here to wait for but bare locks and a bare queue.
"""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

_A_WHILE = 0.1  # seconds


class Job:
    """Work that another thread does, unless it is called off before one has begun.

    Parameters
    ----------
    work : callable

    Examples
    --------
    >>> job = Job(lambda: 6 * 7)
    >>> start_thread(job.run)
    True
    >>> job.result()
    42
    >>> Job(print).call_off()
    True
    """

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work: Callable[[], Any] | None = work
        self._result: Any = None
        self._error: BaseException | None = None
        self._is_done = False
        self._claim = threading.Lock()  # who takes it decides whether the work is done
        self._gate = threading.Lock()  # open once it is
        self._gate.acquire()

    def run(self) -> None:
        """Do the work; for another thread."""
        if self._claim.acquire(blocking=False):
            self._do()
            self._gate.release()

    def _do(self) -> None:
        work, self._work = self._work, None  # what it holds is not kept longer than it is needed
        assert work is not None
        try:
            self._result = work()
        except BaseException as error:
            self._error = error
        finally:
            self._is_done = True

    def call_off(self) -> bool:
        """Return whether no thread has begun; then none will."""
        called_off = self._claim.acquire(blocking=False)
        if called_off:
            self._work = None
        return called_off

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
    """Threads that wait for jobs, started as they are needed, and never ended.

    Parameters
    ----------
    most : int
        How many threads there may be.
    """

    def __init__(self, most: int) -> None:
        self._most, self._n_threads = most, 0
        self._jobs: SimpleQueue[Job] = SimpleQueue()

    def submit(self, work: Callable[[], Any], count: int) -> list[Job]:
        """Let threads do some work, so many times; whoever asks calls off what none has begun."""
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
