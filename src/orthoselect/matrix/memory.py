"""How much memory is free, and amounts of it in words."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import numbers
import os
import re
from pathlib import Path
from typing import Any

from orthoselect.errors import InputError

_UNKNOWN = 1 << 31  # where the system does not say
_LIMITS = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"
_USED = "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes"
_SIZE, _RESIDENT, _DATA = 0, 1, 5  # places in /proc/self/statm: pages in all, in memory, of data
_M_ARENA_MAX = -8  # of malloc.h
_NO_MEMORY = (
    "cannot allocate memory",
    "allocation_failed",
    "out of memory",
    "bad_alloc",
    "failed to map segment",  # of a library, when it is imported
)
_UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)\s*", re.IGNORECASE)


def free_memory() -> int:
    """Return about how many bytes this process could still take, limits set for it included.

    These are the limits of its container, and those of ``ulimit -v`` and ``ulimit -d``.
    """
    return max(1, min([_free_in_machine(), *_free_in_container(), *_free_in_limits()]))


def room_in_limits() -> int | None:
    """Return the bytes that are left until the system refuses more; None if nothing limits them.

    Where they end, memory is not short but over: libraries that do not expect that are aborted.
    """
    free = _free_in_limits()
    return max(1, min(free)) if free else None


def resident_memory() -> int | None:
    """Return the bytes of memory that this process takes now; None where the system does not say.

    >>> resident_memory() is None or resident_memory() > 1e7
    True
    """
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[_RESIDENT])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, IndexError, ValueError):
        return None


def use_one_heap() -> None:
    """Have threads take memory from one heap, as far as the C library lets us choose.

    That of GNU else reserves 64 MB of address space for each thread, most of it never used.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that there was no memory, in whatever words a library has for it.

    >>> is_out_of_memory(OSError("LZ4 decompress failed: ERROR_allocation_failed"))
    True
    >>> is_out_of_memory(ValueError("no such column"))
    False
    """
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    words = str(error).lower()
    return any(said in words for said in _NO_MEMORY)


def _free_in_machine() -> int:
    try:
        available = Path("/proc/meminfo").read_text().split("MemAvailable:")[1].split()[0]
        return 1024 * int(available)
    except (OSError, IndexError, ValueError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return _UNKNOWN


def _free_in_container() -> list[int]:
    free = []
    for limit, used in zip(_LIMITS, _USED):
        try:
            free.append(int(Path(limit).read_text()) - int(Path(used).read_text()))
        except (OSError, ValueError):  # no such limit, or "max"
            continue
    return free


def _free_in_limits() -> list[int]:
    """Return what the limits of the process leave: its address space, and its data alone."""
    try:
        import resource
    except ImportError:  # Windows has none
        return []
    free = []
    for limit, place in ((resource.RLIMIT_AS, _SIZE), (resource.RLIMIT_DATA, _DATA)):
        most = resource.getrlimit(limit)[0]
        if most == resource.RLIM_INFINITY:
            continue
        try:
            used = int(Path("/proc/self/statm").read_text().split()[place])
        except (OSError, IndexError, ValueError):  # the system does not say
            used = 0
        free.append(most - used * resource.getpagesize())
    return free


def count_bytes(amount: Any, argument: str = "memory") -> int:
    """Return an amount of memory in bytes; an error calls it `argument`.

    It is a number of bytes, or text with a unit: B, kB, MB, GB, TB (powers of 1000), KiB, MiB,
    GiB, TiB (powers of 1024).

    >>> count_bytes("2GB"), count_bytes("1.5 GiB"), count_bytes(4096)
    (2000000000, 1610612736, 4096)
    """
    if isinstance(amount, numbers.Integral) and not isinstance(amount, bool):
        found = int(amount)
    else:
        parts = _AMOUNT.fullmatch(amount) if isinstance(amount, str) else None
        unit = _UNITS.get((parts[2] or "b").lower()) if parts else None
        found = 0 if parts is None or unit is None else int(float(parts[1]) * unit)
    if found < 1:
        raise InputError(
            f"`{argument}` should be a number of bytes, or one with a unit, such as '2GB', "
            f"'500 MB' or '1.5GiB'; got {amount!r}."
        )
    return found


def say_bytes(count: int) -> str:
    """Return an amount of memory as people write it.

    >>> say_bytes(1_234_567_890), say_bytes(12)
    ('1.2 GB', '12 B')
    """
    for unit in ("TB", "GB", "MB", "kB"):
        size = _UNITS[unit.lower()]
        if count >= size:
            return (
                f"{count / size:.1f} {unit}" if count < 10 * size else f"{count / size:.0f} {unit}"
            )
    return f"{count} B"
