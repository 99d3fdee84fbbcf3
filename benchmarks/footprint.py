"""What the parts of an install weigh, and what they cost to import: why some are extras."""

from __future__ import annotations

import subprocess
import sys
import time
from importlib import metadata

from packaging.requirements import Requirement

BASE = ("numpy", "scipy", "scikit-learn", "threadpoolctl", "joblib", "narwhals")
# What was weighed against the base install, and what of it a user's command imports.
PARTS = {
    "the command": (("typer", "rich"), "typer, rich.progress"),
    "templates of the report": (("jinja2",), "jinja2"),
    "charts of the report": (("matplotlib",), "matplotlib.figure"),
    "tables in files": (("pyarrow",), "pyarrow.csv"),
    "clusters": (("dask", "distributed", "pandas", "pyarrow"), "dask.dataframe, distributed"),
}
RUNS = 5


def check() -> int:
    """Print megabytes and milliseconds of each part; return 0."""
    base = _closure(BASE)
    empty = _import_seconds("sys")
    rows = [("base install", _megabytes(base), _import_seconds("orthoselect") - empty)]
    for name, (packages, modules) in PARTS.items():
        added = _closure(packages) - base
        rows.append((name, _megabytes(added), _import_seconds(modules) - empty))
    print(f"{'part':<26}{'MB installed':>14}{'ms to import':>14}")
    for name, size, seconds in rows:
        print(f"{name:<26}{size:>14.0f}{1000 * seconds:>14.0f}")
    return 0


def _closure(packages: tuple[str, ...]) -> set[str]:
    """Return the packages and all that they need, as installed here."""
    found: set[str] = set()
    waiting = list(packages)
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name in found:
            continue
        found.add(name)
        for text in metadata.requires(name) or []:
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)
    return found


def _megabytes(packages: set[str]) -> float:
    files = [file.locate() for name in packages for file in metadata.files(name) or []]
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def _import_seconds(modules: str) -> float:
    command = [sys.executable, "-c", f"import {modules}"]
    times = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        subprocess.run(command, check=True)
        times.append(time.perf_counter() - begin)
    return min(times)
