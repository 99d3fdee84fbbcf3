"""Tables larger than memory: time over that of reading them, peak memory, passes, workers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.large import tables
from benchmarks.large.tables import Shape

LIMIT = 2 << 30  # bytes that a process may take
BUDGET = 1 << 30  # of which products and blocks may take so many
BLOCK_BYTES = 1 << 25
TARGET = 1.5
TIMES = 3  # of which the best counts, scan and selection by turns


def choose(names: list[str] | None, *, quick: bool) -> list[Shape]:
    """Return the tables of these names, or all."""
    shapes = {shape.name: shape for shape in (tables.QUICK if quick else tables.SHAPES)}
    unknown = sorted(set(names or []) - set(shapes))
    if unknown:
        raise ValueError(f"no table {unknown[0]!r}; there are {', '.join(shapes)}")
    return [shapes[name] for name in names or shapes]


def run(shapes: list[Shape], folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a line for each table."""
    for shape in shapes:
        print(f"making {shape.name}: {shape.rows:,} x {shape.columns:,}", file=sys.stderr)
        place = tables.make(shape, folder)
        yield measure(shape, place)


def measure(shape: Shape, place: Path) -> dict[str, Any]:
    """Measure one table, everything in processes of their own."""
    height = max(1, BLOCK_BYTES // (shape.nbytes // shape.rows))
    block = {"block": [height, shape.columns], "dtype": shape.dtype}
    _cell("scan", place)  # so that all that follow find the same pages in the system's cache
    product = _cell("product", place, **block)["seconds"] * shape.rows / height
    asked = {"selected": shape.selected, "memory": _budget(shape)}
    cells = [(_cell("scan", place), _cell("select", place, LIMIT, **asked)) for _ in range(TIMES)]
    scan = min(cell["seconds"] for cell, _ in cells)
    ours = min((cell for _, cell in cells), key=lambda cell: cell["seconds"])
    bound = max(scan, product)
    line = {
        "shape": asdict(shape),
        "bytes": shape.nbytes,
        "scan": scan,
        "product": product,
        "seconds": ours["seconds"],
        "ratio": ours["seconds"] / bound,
        "peak": ours["peak"],
        "stats": ours["stats"],
        "names": ours["names"],
    }
    line["growth"] = list(_growth(shape, place))
    if shape.kind == "parquet":
        for by in ("files", "dataframe"):
            line.setdefault("dask", {})[by] = _workers(shape, place, by, ours["names"])
    return line


def _budget(shape: Shape) -> int:
    """Return what a selection may take: too little for a small table to be read whole."""
    return min(BUDGET, shape.nbytes // 4)


def _growth(shape: Shape, place: Path) -> Iterator[dict[str, Any]]:
    """Yield what a selection takes when one thing is halved or doubled."""
    asked = {"selected": shape.selected, "memory": _budget(shape)}
    if shape.kind == "parquet":
        for files in (shape.files // 4, shape.files // 2, shape.files):
            yield _grown(f"{shape.rows * files // shape.files:,} rows", place, asked, files=files)
        for n in (shape.columns // 4, shape.columns // 2):
            yield _grown(f"{n} columns", place, asked, columns=n, of=shape.columns)
    for t in (shape.selected // 4, 2 * shape.selected):
        yield _grown(f"{t} features selected", place, asked | {"selected": t})
    if shape.kind == "npy":
        for memory in (_budget(shape) // 16, _budget(shape) // 4):
            yield _grown(f"memory={memory >> 20} MB", place, asked | {"memory": memory})


def _grown(what: str, place: Path, asked: dict[str, Any], **more: Any) -> dict[str, Any]:
    cell = _cell("select", place, LIMIT, **asked, **more)
    stats = cell["stats"]
    return {"what": what, "seconds": cell["seconds"], "peak": cell["peak"], "stats": stats}


def _workers(shape: Shape, place: Path, by: str, names: list[str]) -> dict[str, Any]:
    made = {w: _cell("dask", place, selected=shape.selected, workers=w, by=by) for w in (1, 2)}
    return {
        "seconds": {str(w): cell["seconds"] for w, cell in made.items()},
        "speed-up": made[1]["seconds"] / made[2]["seconds"],
        "same": all(cell["names"] == names for cell in made.values()),
    }


def _cell(work: str, place: Path, limit: int | None = None, **asked: Any) -> dict[str, Any]:
    """Run one measurement; what it prints last is its answer."""
    asked |= {"work": work, "place": str(place), "limit": limit}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.large.cell", json.dumps(asked)],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{work} on {place.name} failed:\n{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def markdown(result: dict[str, Any], about: list[str]) -> str:
    """Return the page."""
    parts = [
        "# Tables larger than memory",
        f"Selection in a process limited to {LIMIT / 2**30:g} GiB (of data: `RLIMIT_DATA`), "
        f"`memory={BUDGET >> 20} MB`. Scan: reading the same columns once and doing nothing with "
        f"them. Product: `B.T @ B` of one block of {BLOCK_BYTES >> 20} MB times the number of "
        f"blocks. Best of {TIMES}, by turns. The target is at most {TARGET} times the larger "
        f"of the two where one pass does.",
        _lines(result["lines"]),
        *(_growth_text(line) for line in result["lines"]),
        *(_dask_text(line) for line in result["lines"] if "dask" in line),
        "## Where",
        "\n".join(f"- {text}" for text in about),
    ]
    return "\n\n".join(parts) + "\n"


HEAD = "| table | GB | scan | product | selection | over the larger | passes | peak MB |"


def _lines(lines: list[dict[str, Any]]) -> str:
    rows = [HEAD, "|---|---|---|---|---|---|---|---|"]
    for line in lines:
        shape = line["shape"]
        table = f"{shape['rows']:,} x {shape['columns']:,} {shape['dtype']}, {shape['kind']}"
        cells = [
            table,
            f"{line['bytes'] / 1e9:.1f}",
            f"{line['scan']:.1f} s",
            f"{line['product']:.1f} s",
            f"{line['seconds']:.1f} s",
            f"{line['ratio']:.2f}",
            str(line["stats"]["passes"]),
            f"{line['peak'] / 1e6:.0f}",
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _growth_text(line: dict[str, Any]) -> str:
    shape = line["shape"]
    rows = [
        f"| {shape['rows']:,} x {shape['columns']:,}, but with | selection | passes | GB read "
        f"| peak MB |",
        "|---|---|---|---|---|",
    ]
    for each in line["growth"]:
        stats = each["stats"]
        rows.append(
            f"| {each['what']} | {each['seconds']:.1f} s | {stats['passes']} | "
            f"{stats['bytes_read'] / 1e9:.1f} | {each['peak'] / 1e6:.0f} |"
        )
    return "\n".join(rows)


def _dask_text(line: dict[str, Any]) -> str:
    rows = [
        "| Dask on the same folder | one worker process | two | speed-up | features |",
        "|---|---|---|---|---|",
    ]
    titles = {"files": "`on_dask(folder)`", "dataframe": "`dask.dataframe.read_parquet`"}
    for by, dask in line["dask"].items():
        one, two = dask["seconds"]["1"], dask["seconds"]["2"]
        same = "the same" if dask["same"] else "OTHERS"
        rows.append(
            f"| {titles[by]} | {one:.1f} s | {two:.1f} s | {dask['speed-up']:.2f} | {same} |"
        )
    return "\n".join(rows)
