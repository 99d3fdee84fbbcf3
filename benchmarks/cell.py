"""One cell of the table, measured in a process of its own.

`python -m benchmarks.cell JSON` prints the result as its last line. The thread settings are in the
environment, which `benchmarks.runner` has set before this process loaded NumPy.
"""

from __future__ import annotations

import json
import sys
import textwrap
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.measure import (
    PeakMemory,
    limit,
    page_faults,
    read_seconds,
    seconds_of,
    size_of,
    times,
    times_side_by_side,
)
from benchmarks.methods import BY_NAME, Method, Problem, canonical_total, response_basis
from benchmarks.shapes import Data


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """Build the data, run one method on it, and tell time, memory and what it selected.

    Parameters
    ----------
    spec : dict
        data, folder, method, steps, threads, repeats, limit, beside; see `benchmarks.runner.Cell`.
    """
    X, y = Data(**spec["data"]).load(spec["folder"])
    result: dict[str, Any] = {"read_seconds": read_seconds(X), "x_bytes": size_of(X)}
    method = BY_NAME[spec["method"]]
    method.prepare(_warm_up(X, spec["threads"]))()
    problem = Problem(X, y, spec["steps"], spec["threads"])
    fit = method.prepare(problem)
    with limit(spec["limit"]), PeakMemory() as peak:
        kept: list[Any] = []
        first = seconds_of(lambda: kept.append(fit()))
    faults = page_faults()
    fit()
    faults = page_faults() - faults
    seconds, cores = times(fit, spec["repeats"], first)
    selection = kept[0]
    if spec["beside"]:
        seconds, result["beside"] = _beside(method, problem, fit, spec)
    return result | {
        "seconds": min(seconds),
        "times": seconds,
        "cores": cores,
        "peak_bytes": peak.bytes,
        "page_faults": faults,  # of the second fit
        "selected": selection.selected,
        "stats": selection.stats,
        "total": _total(problem, selection.selected),
    }


def _beside(
    method: Method, problem: Problem, fit: Callable[[], Any], spec: dict[str, Any]
) -> tuple[list[float], dict[str, Any]]:
    """Fit the same numbers in another dtype too, in turns; return our times, and its result."""
    theirs = replace(problem, X=problem.X.astype(spec["beside"]))
    other = method.prepare(theirs)
    selected = other().selected
    ours, seconds = times_side_by_side([fit, other], spec["repeats"])
    total = _total(theirs, selected)
    best = {"status": "ok", "seconds": min(seconds), "times": seconds}
    return ours, best | {"selected": selected, "total": total}


def _warm_up(X: Any, threads: int) -> Problem:
    """Return a tiny problem of X's kind; fitting it loads what a method loads when first used."""
    tiny, y = Data("made", 80, 8, 2).load()
    tiny = np.abs(20 * tiny).astype(X.dtype)
    return Problem(tiny if isinstance(X, np.ndarray) else type(X)(tiny), y, 2, threads)


def _total(problem: Problem, selected: list[int]) -> float:
    """Return the sum of squared canonical correlations of the selected columns."""
    A = problem.X[:, selected]
    A = A if isinstance(A, np.ndarray) else A.toarray()
    return canonical_total(A.astype(float), response_basis(problem.response))


def shortened(error: Exception) -> str:
    """Return an error's message in one line that fits a cell."""
    return textwrap.shorten(str(error), 120)


def guarded(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Run and tell how it went: "ok", or "failed" and why; with the first warning, if any."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            result = {"status": "ok", **work()}
        except ImportError as error:
            result = {"status": "failed", "why": f"not installed ({error})"}
        except Exception as error:
            result = {"status": "failed", "why": f"{type(error).__name__}: {shortened(error)}"}
    return result | {"warning": str(caught[0].message) if caught else None}


if __name__ == "__main__":
    answer = guarded(lambda: measure(json.loads(sys.argv[1])))
    print("\n" + json.dumps(answer, default=str))
