"""Time, peak memory and the time of one read of X, in this process."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ENOUGH_SECONDS = 0.5  # short fits are repeated until so much is spent
ONCE_SECONDS = 10.0  # a fit that takes longer is not repeated
READS = 7


def size_of(X: Any) -> int:
    """Return the bytes that an array or a CSR matrix holds."""
    parts = (X,) if hasattr(X, "nbytes") else (X.data, X.indices, X.indptr)
    return sum(part.nbytes for part in parts)


def seconds_of(work: Callable[[], Any]) -> float:
    """Return the wall-clock seconds of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def read_seconds(X: Any) -> float:
    """Return the best of several times of X.sum()."""
    X.sum()
    return min(seconds_of(X.sum) for _ in range(READS))


def times(fit: Callable[[], Any], repeats: int, first: float) -> tuple[list[float], float]:
    """Time a fit again and again.

    Parameters
    ----------
    fit : callable
    repeats : int
        How often at least, the first time included; if not 1, short fits are repeated more often.
    first : float
        Seconds that the first fit took.

    Returns
    -------
    seconds : list of float
    cores : float
        Processor time over wall-clock time of the repeats; 0.0 if there were none.
    """
    seconds, spent = [first], first
    start, cpu = time.perf_counter(), time.process_time()
    enough = ENOUGH_SECONDS if repeats > 1 else 0.0
    while spent < ONCE_SECONDS and (len(seconds) < repeats or spent < enough):
        seconds.append(seconds_of(fit))
        spent += seconds[-1]
    wall = time.perf_counter() - start
    again = len(seconds) > 1
    return seconds, (time.process_time() - cpu) / wall if again else 0.0


def times_side_by_side(fits: Sequence[Callable[[], Any]], repeats: int) -> list[list[float]]:
    """Time several fits in turns: what slows the machine down for a while meets them all."""
    seconds: list[list[float]] = [[] for _ in fits]
    spent, enough = 0.0, ENOUGH_SECONDS * len(fits) if repeats > 1 else 0.0
    while len(seconds[0]) < repeats or spent < enough:
        for fit, mine in zip(fits, seconds):
            mine.append(seconds_of(fit))
            spent += mine[-1]
    return seconds


def best_seconds(work: Callable[[], Any], repeats: int) -> float:
    """Return the best of several times of a call; see `times`."""
    return min(times(work, repeats, seconds_of(work))[0])


@contextmanager
def no_kernels() -> Iterator[None]:
    """Let orthoselect run as it does where its kernels were not compiled."""
    from orthoselect import native

    before = native._kernels
    native._kernels = None
    try:
        yield
    finally:
        native._kernels = before


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """End this process by an alarm if the work inside takes longer.

    The alarm is left to the system, since Python's own handlers wait for compiled code to return.
    Where there is none (Windows), the runner ends the process somewhat later.
    """
    alarm = getattr(signal, "setitimer", None)
    if alarm:
        alarm(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        if alarm:
            alarm(signal.ITIMER_REAL, 0)


def page_faults() -> int:
    """Return how often this process has been given a page of memory so far; 0 where unknown."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


class PeakMemory:
    """Highest resident memory while inside, above that on entry, in bytes.

    On Linux the system's high-water mark is reset on entry, and worker processes that the work
    starts are counted. Elsewhere the mark of the whole life of the process is used, which sees
    nothing below an earlier peak.
    """

    def __init__(self) -> None:
        self.bytes = 0

    def __enter__(self) -> PeakMemory:
        gc.collect()
        _give_back_freed_memory()
        family = _family()
        self._resettable = sum(map(_reset_mark, family)) == len(family)
        if self._resettable:
            self._before = sum(_status_bytes(process, "VmRSS") for process in family)
        else:
            self._before = _lifetime_peak()
        return self

    def __exit__(self, *_: object) -> None:
        if self._resettable:
            after = sum(_status_bytes(process, "VmHWM") for process in _family())
        else:
            after = _lifetime_peak()
        self.bytes = max(0, after - self._before)


def _family() -> list[Path]:
    """Return the /proc folders of this process and of its direct children."""
    own = Path(f"/proc/{os.getpid()}")
    children = [pid for file in own.glob("task/*/children") for pid in file.read_text().split()]
    return [own, *(Path(f"/proc/{pid}") for pid in children)]


def _reset_mark(process: Path) -> bool:
    try:
        (process / "clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _status_bytes(process: Path, field: str) -> int:
    try:
        lines = (process / "status").read_text().splitlines()
    except OSError:  # a child that has ended
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def _lifetime_peak() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def _give_back_freed_memory() -> None:
    """Ask the allocator to return what building the data left in it, if it can."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        return
