"""Runs the table: for each row and thread setting every method, and the figures between them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from benchmarks import runner
from benchmarks.methods import METHODS, Method
from benchmarks.shapes import Row

OURS = "orthoselect"
BUSY_REPEATS = 7


@dataclass(frozen=True)
class Settings:
    """How to measure; see `benchmarks.runner.Cell`."""

    folder: str | None
    repeats: int
    limit: float


def run(
    rows: list[Row], threads: list[int], methods: list[str], settings: Settings
) -> Iterator[dict[str, Any]]:
    """Yield the lines of the table, one for each row and thread setting, as plain dicts."""
    for row in rows:
        hopeless: dict[str, dict[str, Any]] = {}
        for count in sorted(threads, reverse=True):
            line = _run_line(row, count, methods, settings, hopeless)
            hopeless |= _too_slow(line)
            yield line


def _run_line(
    row: Row,
    threads: int,
    methods: list[str],
    settings: Settings,
    hopeless: dict[str, dict[str, Any]],
) -> dict[str, Any]:
    line: dict[str, Any] = {
        "name": row.name,
        "title": row.title,
        "kind": row.kind,
        "large": row.data.large,
        "t": row.t,
        "threads": threads,
        "reference": _reference(row, threads, settings),
        "cells": {},
    }
    for method in METHODS:
        wanted = method.name == OURS or (row.kind == "peers" and method.name in methods)
        if wanted:
            known = hopeless.get(method.name)
            line["cells"][method.name] = known or _run_cell(row, method, threads, settings)
    return _with_figures(line)


def _reference(row: Row, threads: int, settings: Settings) -> dict[str, Any] | None:
    """Measure what our own fit is compared with on a quiet machine.

    What float32 is compared with, float64, is measured in its own cell, in turns.
    """
    if row.kind != "busy":
        return None
    reference = replace(row, kind="peers")
    return _run_cell(reference, METHODS[0], threads, _patient(row, settings))


def _run_cell(row: Row, method: Method, threads: int, settings: Settings) -> dict[str, Any]:
    if refusal := method.refusal(row):
        return {"status": "skipped", "why": refusal}
    settings = _patient(row, settings)
    steps = method.steps(row)
    beside = "float64" if row.kind == "float32" else None
    measured = threads, settings.repeats, settings.limit, beside
    cell = runner.Cell(row.data, settings.folder, method.name, steps, *measured)
    what = f"{row.name}, {threads} threads, {method.title}"
    print(what, end=" ... ", file=sys.stderr, flush=True)
    if row.kind == "busy":
        with runner.busy_neighbor():
            result = runner.run(cell)
    else:
        result = runner.run(cell)
    print(result.get("why") or f"{result['seconds']:.4g} s", file=sys.stderr)
    return result | {"steps": steps}


def _patient(row: Row, settings: Settings) -> Settings:
    """Repeat more often where it is the usual time that counts, not the best."""
    if row.kind != "busy":
        return settings
    return replace(settings, repeats=max(settings.repeats, BUSY_REPEATS))


def _too_slow(line: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the cells not worth another try with fewer threads."""
    return {
        name: cell | {"why": f"{cell['why']} with {line['threads']} threads"}
        for name, cell in line["cells"].items()
        if cell["status"] == "over limit" and "threads" not in cell["why"] and name != OURS
    }


def _with_figures(line: dict[str, Any]) -> dict[str, Any]:
    """Add to a line what follows from its measurements."""
    done = [cell for cell in line["cells"].values() if cell["status"] == "ok"]
    line["read_seconds"] = min((cell["read_seconds"] for cell in done), default=None)
    line["x_bytes"] = done[0]["x_bytes"] if done else None
    ours = line["cells"][OURS]
    if ours["status"] != "ok":
        return line
    line["reference"] = line["reference"] or ours.pop("beside", None)
    for method in METHODS:
        cell = line["cells"].get(method.name)
        if cell and cell["status"] == "ok":
            cell["ratio"] = cell["seconds"] / ours["seconds"]
            cell["reads"] = cell["seconds"] / line["read_seconds"]
            cell["peak_over_x"] = cell["peak_bytes"] / line["x_bytes"]
            if method.same_criterion and method.name != OURS:
                cell["agreement"] = agreement(ours["selected"], cell["selected"])
    if line["reference"]:
        _compare_with_reference(line, ours)
    return line


def _compare_with_reference(line: dict[str, Any], ours: dict[str, Any]) -> None:
    """Set our ratio to float64 (best times) or to the quiet machine (usual times)."""
    reference = line["reference"]
    if reference["status"] != "ok":
        del ours["ratio"]
        return
    middle = min if line["kind"] == "float32" else median
    ours["ratio"] = middle(ours["times"]) / middle(reference["times"])
    ours["agreement"] = agreement(reference["selected"], ours["selected"])
    if line["kind"] == "busy":
        line["read_seconds"] = reference["read_seconds"]
        ours["reads"] = ours["seconds"] / line["read_seconds"]


def agreement(ours: list[int], theirs: list[int]) -> dict[str, Any]:
    """Compare two selections of the same criterion, over the steps that both took.

    Returns
    -------
    result : dict
        `verdict` is "same", "same set" (in another order) or "differs"; `shared` of `steps`
        features are in both.
    """
    steps = min(len(ours), len(theirs))
    ours, theirs = ours[:steps], theirs[:steps]
    shared = len(set(ours) & set(theirs))
    verdict = "same" if ours == theirs else "same set" if shared == steps else "differs"
    return {"verdict": verdict, "shared": shared, "steps": steps}
