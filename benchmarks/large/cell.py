"""One measurement, in a process of its own whose memory is limited: prints a line of JSON."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def main() -> int:
    """Do what the arguments say, a JSON object: `work`, `place`, `limit` and more."""
    asked = json.loads(sys.argv[1])
    _limit_memory(asked["limit"])
    answer = WORKS[asked["work"]](Path(asked["place"]), asked)
    print(json.dumps(answer | {"peak": _peak()}))
    return 0


def _limit_memory(limit: int | None) -> None:
    """Let the system refuse more memory than the limit; files' pages in its cache do not count."""
    if limit is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _peak() -> int:
    """Return the most memory that this process has had, in bytes.

    `getrusage` would tell that of the process that started it, if that was more: the one that has
    just made the tables, for example.
    """
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    peak = next(line for line in lines if line.startswith("VmHWM:"))
    return 1024 * int(peak.split()[1])


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def _select(place: Path, asked: dict[str, Any]) -> dict[str, Any]:
    from orthoselect import select

    source, target = _table(place, asked.get("files"))
    left_out = [f"f{j}" for j in range(asked["columns"], asked["of"])] if "of" in asked else None
    t, memory = asked["selected"], asked["memory"]
    seconds, path = _timed(lambda: select(source, target, t, memory=memory, exclude=left_out))
    return {"seconds": seconds, "names": path.names, "gains": path.gains, "stats": path.stats}


def _table(place: Path, files: int | None = None) -> tuple[Any, Any]:
    """Return what to select from, of so many files if told, and the response."""
    if (place / "X.npy").exists():
        return str(place / "X.npy"), np.load(place / "y.npy")
    return sorted(map(str, place.glob("*.parquet")))[:files], "y"


def _scan(place: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """Read all numbers once, as plainly as it can be done, and do nothing with them."""
    return {"seconds": _timed(lambda: _scan_once(place))[0]}


def _scan_once(place: Path) -> int:
    if (place / "X.npy").exists():
        return _read_file(place / "X.npy")
    import pyarrow.dataset as ds

    table = ds.dataset(sorted(map(str, place.glob("*.parquet"))), format="parquet")
    return sum(batch.num_rows for batch in table.to_batches())


def _read_file(file: Path) -> int:
    buffer, total = bytearray(1 << 24), 0
    with file.open("rb", buffering=0) as stream:
        while count := stream.readinto(buffer):
            total += count
    return total


def _product(place: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """Multiply one block with itself, transposed, the best of several times."""
    rows, columns = asked["block"]
    B = np.random.default_rng(0).normal(size=(rows, columns)).astype(asked["dtype"])
    B.T @ B
    return {"seconds": min(_timed(lambda: B.T @ B)[0] for _ in range(7))}


def _dask(place: Path, asked: dict[str, Any]) -> dict[str, Any]:
    from distributed import Client, LocalCluster

    from orthoselect import select

    workers = asked["workers"]
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        table = _dask_table(place, asked["by"])
        seconds, path = _timed(lambda: select(table, "y", asked["selected"]))
    return {"seconds": seconds, "names": path.names, "gains": path.gains, "stats": path.stats}


def _dask_table(place: Path, by: str) -> Any:
    """Return the table as files that workers read by our own reader, or as a Dask dataframe."""
    if by == "files":
        from orthoselect.read import on_dask

        return on_dask(str(place))
    import dask.dataframe as dd

    return dd.read_parquet(sorted(map(str, place.glob("*.parquet"))), split_row_groups=1)


WORKS = {"select": _select, "scan": _scan, "product": _product, "dask": _dask}

if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    raise SystemExit(main())
