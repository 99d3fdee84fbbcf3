"""What orthoselect is to reach, beside what was measured."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.shapes import FLOAT32, MADE
from benchmarks.table import OURS

Line = dict[str, Any]


@dataclass(frozen=True)
class Target:
    """A bound on a figure of one row: at least if `least`, at most otherwise.

    `undecided` tells whether the figure is only known to be larger than what was measured.
    """

    row: str
    what: str
    measure: Callable[[Line], float | None]
    bound: float
    least: bool = False
    undecided: Callable[[Line], bool] = lambda line: False

    def judge(self, line: Line) -> dict[str, Any]:
        """Return the target and its verdict on a line of the table, as a plain dict."""
        value = self.measure(line)
        holds = operator.ge if self.least else operator.le
        verdict = "not measured"
        if value is not None:
            verdict = "pass" if holds(value, self.bound) else "FAIL"
        if verdict == "FAIL" and self.undecided(line):
            verdict = "undecided"
        return {
            "row": self.row,
            "threads": line["threads"],
            "what": self.what,
            "bound": f"{'>=' if self.least else '<='} {self.bound:g}",
            "measured": value,
            "verdict": verdict,
        }


def _fastcan(line: Line) -> list[dict[str, Any]]:
    """Return the cells of fastcan's modes that there are."""
    return [line["cells"][name] for name in ("fastcan", "fastcan_eta") if name in line["cells"]]


def _fastcan_given_up(line: Line) -> bool:
    return not any("seconds" in cell for cell in _fastcan(line))


def _faster_than_fastcan(line: Line) -> float | None:
    """Return how many times faster we are than the better of fastcan's modes.

    A mode that was given up counts with the time it was given.
    """
    theirs = [cell.get("seconds") or cell.get("over") for cell in _fastcan(line)]
    ours = line["cells"][OURS].get("seconds")
    return min((s / ours for s in theirs if s), default=None) if ours else None


def _ours(field: str) -> Callable[[Line], float | None]:
    return lambda line: line["cells"][OURS].get(field)


def _faster_than_float64(line: Line) -> float | None:
    ratio = line["cells"][OURS].get("ratio")
    return None if ratio is None else 1.0 / ratio


def _speed(row: str, bound: float) -> Target:
    what = "times faster than fastcan's best"
    return Target(row, what, _faster_than_fastcan, bound, True, _fastcan_given_up)


def _reads(row: str, bound: float) -> Target:
    return Target(row, "reads of X", _ours("reads"), bound)


def _memory(row: str, bound: float) -> Target:
    return Target(row, "peak memory over size of X", _ours("peak_over_x"), bound)


TARGETS = (
    _speed("6000x5000", 35),
    _reads("6000x5000", 6),
    _speed("300x20000", 15),
    _reads("300x20000", 12),
    _reads("102x6000", 60),
    _speed("dexter_sparse", 100),
    _speed("60000x784", 45),
    _reads("60000x784", 9),
    _speed("100000x200", 40),
    _reads("100000x200", 5),
    _speed("20000x2000", 60),
    _reads("20000x2000", 18),
    _speed("2000x649", 25),
    _speed("breast_cancer", 1),
    *(
        Target(row.name, "times faster than our float64", _faster_than_float64, 1.4, least=True)
        for row in FLOAT32
        if row.data.n >= row.data.N // 2
    ),
    *(_memory(row.name, 0.3) for row in MADE if row.data.large),
    # A float64 copy of bytes would be 8 times X; a block of rows at a time stays well below 1.
    _memory("mnist_uint8", 1.0),
    Target("busy_neighbor", "times the quiet fit", _ours("ratio"), 2.0),
    # The first of a table takes the memory that later ones use again.
    Target("300x20000", "page faults of the second fit", _ours("page_faults"), 200),
    Target("6000x5000", "page faults of the second fit", _ours("page_faults"), 200),
)


def judge(lines: list[Line]) -> list[dict[str, Any]]:
    """Return every target's verdict on every line of its row; "not measured" if it has none."""
    verdicts = []
    for target in TARGETS:
        own = [line for line in lines if line["name"] == target.row]
        nothing = {"threads": None, "cells": {OURS: {}}}
        verdicts += [target.judge(line) for line in own or [nothing]]
    return verdicts
