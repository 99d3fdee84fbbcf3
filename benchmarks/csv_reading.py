"""A large CSV file, and the same as Parquet: seconds and peak memory beside other readers.

Each reader has a process of its own. Memory is that of the whole process at its peak, so imports
count. The last rows select five features within a limit, and are checked against it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

N_ROWS, N_COLUMNS = 200_000, 300
LIMIT = "300MB"
RUNS = 3
# What is imported, and what reads a file.
READERS = {
    "polars": ("polars", "import polars", "polars.read_csv(file)"),
    "pyarrow": ("pyarrow", "import pyarrow.csv as csv", "csv.read_csv(file)"),
    "pandas": ("pandas", "import pandas", "pandas.read_csv(file)"),
    "orthoselect": (
        "pyarrow",
        "from orthoselect.read import read_table",
        "read_table(file, memory='16GB')",
    ),
}
_MEASURE = """
import resource, sys, time
file = sys.argv[1]
{imports}
wall, busy = time.perf_counter(), time.process_time()
{work}
wall, busy = time.perf_counter() - wall, time.process_time() - busy
unit = 1 if sys.platform == "darwin" else 1024
print(wall, busy, unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def check() -> int:
    """Print seconds and peak megabytes of each reader; return 1 if a limit was not kept."""
    from orthoselect.matrix.memory import count_bytes

    with tempfile.TemporaryDirectory() as folder:
        text, parquet = Path(folder, "large.csv"), Path(folder, "large.parquet")
        _write(text, parquet)
        print(f"{text.stat().st_size / 1e6:.0f} MB, {N_ROWS} x {N_COLUMNS}, median of {RUNS}")
        print(f"{'':<24}{'s':>8}{'s of CPU':>10}{'MB at peak':>12}")
        for name, (package, imports, work) in READERS.items():
            if find_spec(package) is None:
                print(f"{name:<24}not installed here")
                continue
            code = _MEASURE.format(imports=imports, work=work)
            _show(name, np.median([_run("-c", code, text) for _ in range(RUNS)], axis=0))
        exceeded = False
        for file in (text, parquet):
            code = _MEASURE.format(imports="from orthoselect.cli import main", work=_COMMAND)
            found = _run("-c", code, file)
            _show(f"--memory {LIMIT}, {file.suffix}", found)
            exceeded |= bool(found[2] > count_bytes(LIMIT))
    print(f"{'FAIL: more' if exceeded else 'pass: no more'} than {LIMIT} were taken")
    return int(exceeded)


_COMMAND = f"""
sys.argv = ["orthoselect", "select", file, "-t", "y", "-k", "5", "--memory", "{LIMIT}", "-q"]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""


def _write(text: Path, parquet: Path) -> None:
    """Write normal numbers of five decimals, of which five make the target, some rows at a time."""
    import pyarrow as pa
    from pyarrow import csv
    from pyarrow import parquet as pq

    rng = np.random.default_rng(0)
    names = [*(f"x{j}" for j in range(N_COLUMNS - 1)), "y"]
    schema = pa.schema([(name, pa.float64()) for name in names])
    with csv.CSVWriter(text, schema) as one, pq.ParquetWriter(parquet, schema) as other:
        for _ in range(20):
            X = rng.normal(size=(N_ROWS // 20, N_COLUMNS))
            X[:, -1] = X[:, 0:50:10] @ [5, 4, 3, 2, 1] + rng.normal(size=len(X))
            table = pa.table(list(np.asfortranarray(X.round(5)).T), schema=schema)
            one.write(table)
            other.write(table)


def _run(*arguments: str | Path) -> list[float]:
    """Return seconds, seconds of CPU and bytes at the peak, in a process of its own."""
    done = subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True)
    return [float(figure) for figure in done.stdout.splitlines()[-1].split()]


def _show(name: str, figures: list[float]) -> None:
    wall, busy, peak = figures
    print(f"{name:<24}{wall:>8.2f}{busy:>10.2f}{peak / 1e6:>12.0f}")
