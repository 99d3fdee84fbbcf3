"""Starts a process for each cell, with its threads, its time limit and its neighbor."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from benchmarks.shapes import Data

PATIENCE = 120.0  # seconds that a cell may take beside its first fit
OVER_LIMIT = -getattr(signal, "SIGALRM", 1)
ROOT = Path(__file__).parents[1]
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


@dataclass(frozen=True)
class Cell:
    """What to measure.

    Attributes
    ----------
    folder : str or None
        Where the files of real data are.
    steps : int
        Features to select.
    repeats : int
        How often to fit, if a fit is short enough.
    limit : float
        Seconds after which the first fit is given up.
    beside : str or None
        A dtype in which the same numbers are fitted too, in turns.
    """

    data: Data
    folder: str | None
    method: str
    steps: int
    threads: int
    repeats: int
    limit: float
    beside: str | None = None


def run(cell: Cell) -> dict[str, Any]:
    """Measure a cell in a process of its own.

    Returns
    -------
    result : dict
        `status` is "ok", "over limit" or "failed"; see `benchmarks.cell.measure`.
    """
    return run_module("benchmarks.cell", asdict(cell), cell.threads, cell.limit)


def run_module(module: str, spec: dict[str, Any], threads: int, limit: float) -> dict[str, Any]:
    """Run `python -m MODULE JSON` in a process of its own; return what its last line says.

    Parameters
    ----------
    module : str
    spec : dict
        What it is given, as JSON.
    threads : int
        Size of every pool of threads.
    limit : float
        Seconds after which it ends itself, by `benchmarks.measure.limit`.
    """
    command = [sys.executable, "-m", module, json.dumps(spec)]
    # Files, not pipes: workers that outlive a cell given up would keep a pipe open.
    with TemporaryFile("w+") as output, TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment(threads),
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout=limit + PATIENCE)
        except subprocess.TimeoutExpired:
            code = OVER_LIMIT
        finally:
            _end_group(process)
        output.seek(0)
        errors.seek(0)
        return _result(limit, code, output.read(), errors.read())


def environment(threads: int) -> dict[str, str]:
    """Return this process's environment with every pool of threads set to one size."""
    return {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads))}


@contextmanager
def busy_neighbor() -> Iterator[None]:
    """Keep one processor core busy meanwhile."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End a cell that still runs, and the workers that it left behind."""
    if process.poll() is None:
        process.kill()
        process.wait()
    if hasattr(os, "killpg"):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return


def _result(limit: float, code: int, output: str, errors: str) -> dict[str, Any]:
    if code == 0:
        return json.loads(output.splitlines()[-1])
    if code == OVER_LIMIT:
        return {"status": "over limit", "why": f"over {limit:g} s", "over": limit}
    last = (errors.strip().splitlines() or ["no message"])[-1]
    return {"status": "failed", "why": f"ended with code {code}: {last}"}
