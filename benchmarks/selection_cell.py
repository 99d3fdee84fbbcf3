"""One selection by an information criterion, measured in a process of its own.

`python -m benchmarks.selection_cell JSON` prints the result as its last line, as `benchmarks.cell`.
"""

from __future__ import annotations

import json
import sys
from statistics import NormalDist
from typing import Any

import numpy as np

from benchmarks.cell import guarded
from benchmarks.information import Case, load_levels
from benchmarks.information_peers import BY_PEER, Problem
from benchmarks.measure import limit, seconds_of, times
from benchmarks.shapes import Data

_SPREAD = 2**0.5  # of a made table's columns: factors and noise are as strong


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """Build the data, select, and tell the time and what was selected.

    Parameters
    ----------
    spec : dict
        case, folder, peer, criterion, steps, threads, repeats, limit; see `benchmarks.selections`.
    """
    peer = BY_PEER[spec["peer"]]
    own_name = peer.names[spec["criterion"]]
    case = Case(**spec["case"] | {"data": Data(**spec["case"]["data"])})
    X, y = _load(case, spec["folder"])
    peer.prepare(_warm_up(X, spec["threads"]), own_name)()
    fit = peer.prepare(Problem(X, y, spec["steps"], spec["threads"]), own_name)
    with limit(spec["limit"]):
        kept: list[list[int]] = []
        first = seconds_of(lambda: kept.append(fit()))
    seconds, cores = times(fit, spec["repeats"], first)
    return {"seconds": min(seconds), "times": seconds, "cores": cores, "selected": kept[0]}


def _load(case: Case, folder: str | None) -> tuple[Any, np.ndarray]:
    """Return levels, an array or CSR, and classes."""
    if case.data.source == "file":
        X, y = load_levels(case, folder)
        return X.tocsr(), y
    X, y = case.data.load()
    return _cut(X, case.levels), y


def _cut(X: np.ndarray, levels: int) -> np.ndarray:
    """Return numbers of a made table as levels, about as many of each."""
    codes = np.zeros(X.shape, dtype=np.uint8)
    normal = NormalDist(sigma=_SPREAD)
    for k in range(1, levels):
        codes += normal.inv_cdf(k / levels) < X
    return codes


def _warm_up(X: Any, threads: int) -> Problem:
    """Return a tiny problem of X's kind; selecting loads what is loaded when first used."""
    tiny, y = Data("made", 80, 8, 2).load()
    codes = _cut(tiny, 2)
    return Problem(codes if isinstance(X, np.ndarray) else type(X)(codes), y, 2, threads)


if __name__ == "__main__":
    answer = guarded(lambda: measure(json.loads(sys.argv[1])))
    print("\n" + json.dumps(answer, default=str))
