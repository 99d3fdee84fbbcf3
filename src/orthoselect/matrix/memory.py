"""How much memory is free."""

from __future__ import annotations

import os
from pathlib import Path

_UNKNOWN = 1 << 31  # where the system does not say
_LIMITS = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"
_USED = "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes"


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
