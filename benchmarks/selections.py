"""Whole selections by information criteria, coding included, beside other libraries'."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from benchmarks import runner
from benchmarks.information import Case
from benchmarks.information_peers import CRITERIA, OURS, PEERS, Criterion, Peer
from benchmarks.table import Settings, agreement

STEPS = 20
QUICK_STEPS = 4
QUICK_CRITERIA = ("mrmr_quotient", "jmi", "disr")


def run(
    cases: list[Case], threads: int, peers: list[str], settings: Settings, *, quick: bool
) -> Iterator[dict[str, Any]]:
    """Yield each case's selections, all criteria by all libraries, as a plain dict."""
    criteria = [c for c in CRITERIA if not quick or c.name in QUICK_CRITERIA]
    steps = QUICK_STEPS if quick else STEPS
    wanted = [peer for peer in PEERS if peer.name in (OURS, *peers)]
    for case in cases:
        given_up: dict[str, str] = {}  # library -> the criterion that took too long
        lines = []
        for criterion in criteria:
            cells = {}
            for peer in (p for p in wanted if criterion.name in p.names):
                cell = _given_up(given_up.get(peer.name))
                cell = cell or _run_cell(case, criterion, peer, steps, threads, settings)
                if cell["status"] == "over limit":
                    given_up[peer.name] = criterion.name
                cells[peer.name] = cell
            lines.append({"criterion": criterion.name, "cells": _with_figures(cells)})
        yield {"name": case.name, "title": case.title, "steps": steps, "criteria": lines}


def _given_up(criterion: str | None) -> dict[str, Any] | None:
    """Return the cell of a library not worth another try, as this criterion took too long."""
    if criterion is None:
        return None
    return {"status": "skipped", "why": f"not tried after {criterion}"}


def _run_cell(
    case: Case, criterion: Criterion, peer: Peer, steps: int, threads: int, settings: Settings
) -> dict[str, Any]:
    print(f"{case.name}, {criterion.name}, {peer.title}", end=" ... ", file=sys.stderr, flush=True)
    spec = {
        "case": asdict(case),
        "folder": settings.folder,
        "peer": peer.name,
        "criterion": criterion.name,
        "steps": steps,
        "threads": threads,
        "repeats": settings.repeats,
        "limit": settings.limit,
    }
    result = runner.run_module("benchmarks.selection_cell", spec, threads, settings.limit)
    print(result.get("why") or f"{result['seconds']:.4g} s", file=sys.stderr)
    return result


def _with_figures(cells: dict[str, Any]) -> dict[str, Any]:
    """Add to the libraries' cells how they compare with ours."""
    ours = cells[OURS]
    if ours["status"] != "ok":
        return cells
    for peer in PEERS:
        cell = cells.get(peer.name)
        if peer.name == OURS or cell is None or cell["status"] != "ok":
            continue
        cell["ratio"] = cell["seconds"] / ours["seconds"]
        if peer.same_criterion:
            cell["agreement"] = _agreement(ours["selected"], cell["selected"])
    return cells


def _agreement(ours: list[int], theirs: list[int]) -> dict[str, Any]:
    """Compare selections; ranks 0, 1, ... in place of features are told apart."""
    found = agreement(ours, theirs)
    if found["verdict"] == "differs" and sorted(theirs) == list(range(len(theirs))):
        return found | {"verdict": "gives ranks, not features"}
    return found
