"""Categorical columns of many levels: time and peak memory, each table in a process of its own.

`python -m benchmarks.levels JSON` is one measurement; it prints a line of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.runner import ROOT, THREAD_VARIABLES


@dataclass(frozen=True)
class Shape:
    """A table of made text columns and numbers, or one that exists.

    `levels` are those of each text column. Text columns carry signal, the first most, or none;
    three of the numbers do, if there are any. `target` are the seconds and bytes that it may take.
    """

    name: str
    rows: int
    levels: tuple[int, ...]
    numbers: int
    selected: int
    signal: bool
    target: tuple[float, float]


_WIDE = (2000,) * 10
SHAPES = [
    Shape("airports", 3364, (3227, 2674), 2, 5, True, (5.0, 1e9)),
    Shape("two", 2000, (1000, 900), 2, 4, True, (3.0, 1e9)),
    Shape("six", 20_000, (1200,) * 6, 0, 4, False, (3.0, 1e9)),
    Shape("six_signal", 20_000, (1200,) * 6, 0, 4, True, (3.0, 1e9)),
    Shape("ten", 100_000, _WIDE, 20, 5, False, (10.0, 1e9)),
    Shape("ten_signal", 100_000, _WIDE, 20, 5, True, (10.0, 1e9)),
]
QUICK = [
    Shape("two", 500, (250, 220), 2, 4, True, (3.0, 1e9)),
    Shape("six", 1000, (100,) * 6, 0, 4, False, (3.0, 1e9)),
]


def choose(names: list[str] | None, *, quick: bool) -> list[Shape]:
    """Return the tables of these names, or all."""
    shapes = {shape.name: shape for shape in (QUICK if quick else SHAPES)}
    unknown = sorted(set(names or []) - set(shapes))
    if unknown:
        raise ValueError(f"no table {unknown[0]!r}; there are {', '.join(shapes)}")
    return [shapes[name] for name in names or shapes]


def run(shapes: list[Shape], threads: int, repeats: int) -> Iterator[dict[str, Any]]:
    """Yield a line for each table: the best time of several processes, the highest peak."""
    for shape in shapes:
        cells = [_cell(shape, threads) for _ in range(repeats)]
        best = min(cells, key=lambda cell: cell["seconds"])
        peak = max(cell["peak"] for cell in cells)
        yield {"shape": asdict(shape), **best, "peak": peak}


def _cell(shape: Shape, threads: int) -> dict[str, Any]:
    environment = os.environ | dict.fromkeys(THREAD_VARIABLES, str(threads))
    command = [sys.executable, "-m", "benchmarks.levels", json.dumps(asdict(shape))]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, check=True, text=True, stdout=subprocess.PIPE
    )
    return json.loads(done.stdout)


def markdown(result: dict[str, Any], about: list[str]) -> str:
    """Return the table and where it was measured."""
    lines = [
        "# Categorical columns of many levels",
        "",
        "| table | levels | k | selected | time | target | peak memory | target |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for line in result["lines"]:
        shape = line["shape"]
        seconds, peak = shape["target"]
        levels = sorted(set(shape["levels"]), reverse=True)
        text = f"{len(shape['levels'])} text, {shape['numbers']} numbers"
        cells = [
            f"{shape['name']}: {shape['rows']:,} rows, {text}",
            " and ".join(f"{count:,}" for count in levels),
            str(shape["selected"]),
            ", ".join(line["names"]),
            f"{line['seconds']:.2f} s",
            f"{seconds:.0f} s",
            f"{line['peak'] / 1e6:.0f} MB",
            f"{peak / 1e6:.0f} MB",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "Time is that of `select`, peak memory that of the process, pandas and the table included.",
        "",
        *(f"- {each}" for each in about),
        "",
    ]
    return "\n".join(lines)


# One measurement


def main() -> int:
    """Measure the table that the argument describes."""
    import warnings

    from orthoselect import select
    from orthoselect.errors import SelectionWarning

    shape = Shape(**json.loads(sys.argv[1]))
    table, target, options = _airports() if shape.name == "airports" else _made(shape)
    warnings.simplefilter("ignore", SelectionWarning)
    start = time.perf_counter()
    path = select(table, target, shape.selected, **options)
    seconds = time.perf_counter() - start
    answer = {"seconds": seconds, "peak": _peak(), "names": path.names, "gains": path.gains}
    print(json.dumps(answer))
    return 0


def _airports() -> tuple[Any, Any, dict[str, Any]]:
    """Return a table of vega_datasets, without what is missing and without the identifier."""
    from vega_datasets import local_data

    table = local_data.airports().dropna().drop(columns="iata")
    return table, "state", {"categorical_features": ["name", "city"]}


def _made(shape: Shape) -> tuple[Any, Any, dict[str, Any]]:
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    columns = {f"x{i}": rng.standard_normal(shape.rows) for i in range(shape.numbers)}
    y = rng.standard_normal(shape.rows) + sum(columns[f"x{i}"] for i in range(shape.numbers)[:3])
    for i, count in enumerate(shape.levels):
        codes = rng.integers(0, count, shape.rows)
        columns[f"t{i}"] = np.array([f"level {k}" for k in range(count)], dtype=object)[codes]
        if shape.signal:
            y = y + 2.0 / (i + 1) * rng.standard_normal(count)[codes]
    return pd.DataFrame(columns), y, {"task": "regression"}


def _peak() -> int:
    """Return the most memory that this process has had, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM:")).split()[1])


if __name__ == "__main__":
    raise SystemExit(main())
