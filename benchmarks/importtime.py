"""What `import orthoselect` costs, and that it loads no data frame or plot library."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec

FORBIDDEN = ("pandas", "polars", "pyarrow", "matplotlib", "dask")
RUNS = 5
SHOWN = 8


@dataclass(frozen=True)
class Loaded:
    """A line of `-X importtime`: microseconds of its own and in all, and how deep it stands."""

    name: str
    own: int
    total: int
    depth: int

    @property
    def package(self) -> str:
        """The first part of its name."""
        return self.name.partition(".")[0]


def check() -> int:
    """Print the import time and what it is made of; return 1 if a forbidden package is loaded."""
    best = min((_import() for _ in range(RUNS)), key=_total)
    print(f"import orthoselect: {_total(best) / 1000:.0f} ms, best of {RUNS}")
    own: dict[str, int] = {}
    for module in best:
        own[module.package] = own.get(module.package, 0) + module.own
    for package, microseconds in sorted(own.items(), key=lambda item: -item[1])[:SHOWN]:
        print(f"  {microseconds / 1000:7.1f} ms  {package}")
    absent = [name for name in FORBIDDEN if find_spec(name) is None]
    if absent:
        print(f"not installed here, so not checked: {', '.join(absent)}")
    found = [name for name in FORBIDDEN if name not in absent and name in own]
    for name in found:
        print(f"FAIL: {name} is loaded, by {' < '.join(importers(best, name))}")
    if not found:
        print("pass: no data frame or plot library is loaded")
    return 1 if found else 0


def importers(modules: list[Loaded], package: str) -> list[str]:
    """Return the modules that led to a package's first import, the nearest first.

    A module is listed after those that it imports, which stand deeper.
    """
    place = next(i for i, module in enumerate(modules) if module.package == package)
    depth, chain = modules[place].depth, []
    for module in modules[place + 1 :]:
        if module.depth < depth:
            depth = module.depth
            if module.package != package:
                chain.append(module.name)
    return chain


def _import() -> list[Loaded]:
    command = [sys.executable, "-X", "importtime", "-c", "import orthoselect"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    lines = [line.removeprefix("import time:") for line in output.splitlines()]
    return [_parse(line) for line in lines if line.count("|") == 2 and "cumulative" not in line]


def _parse(line: str) -> Loaded:
    own, total, name = line.split("|")
    bare = name.strip()
    return Loaded(bare, int(own), int(total), len(name) - len(name.lstrip()))


def _total(modules: list[Loaded]) -> int:
    return next(module.total for module in modules if module.name == "orthoselect")
