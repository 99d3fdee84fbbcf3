"""How much memory is free, and amounts of it in words."""

from __future__ import annotations

import numbers
import os
import re
from pathlib import Path
from typing import Any

from orthoselect.errors import InputError

_UNKNOWN = 1 << 31  # where the system does not say
_LIMITS = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"
_USED = "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes"
_UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)\s*", re.IGNORECASE)


def free_memory() -> int:
    """Return about how many bytes this process could still take, containers' limits included.

    Examples
    --------
    >>> free_memory() > 0
    True
    """
    return max(1, min([_free_in_machine(), *_free_in_container()]))


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


def count_bytes(amount: Any, argument: str = "memory") -> int:
    """Return an amount of memory in bytes.

    Parameters
    ----------
    amount : int or str
        Bytes, or a number with a unit: B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB
        (powers of 1024).
    argument : str
        What to call it in an error.

    Examples
    --------
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

    Examples
    --------
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
