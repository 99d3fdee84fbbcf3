"""A selection path as the table that people see: its cells as text, and bars for notebooks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from orthoselect.result.findings import with_error
from orthoselect.result.text import p_text

if TYPE_CHECKING:
    from orthoselect.result.path import SelectionPath, SelectionStep


def cells_of(path: SelectionPath) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the header and the rows of the table of a path."""
    shown = _number_format([value for step in path for value in (step.gain, step.total)])
    header = ["step", "feature", "gain", "total"]
    rows = [
        [
            str(number),
            " ".join(step.name.splitlines()),
            format(step.gain, shown),
            format(step.total, shown),
        ]
        for number, step in enumerate(path, start=1)
    ]
    if path.knows_chance:
        header.insert(3, "chance")
        for row, step in zip(rows, path):
            row.insert(3, "-" if step.chance is None else format(step.chance, shown))
    if not math.isnan(path.ceiling):
        header.append(f"of {path.ceiling:g}")
        for row, step in zip(rows, path):
            row.append(f"{100 * step.total / path.ceiling:.1f}%" if path.ceiling else "-")
    if path.explains_columns:
        header.append("components")
        for row, step in zip(rows, path):
            row.append("-" if step.components is None else f"{100 * step.components:.1f}%")
    if path.is_tested:
        header.append("p")
        for row, step in zip(rows, path):
            row.append("-" if step.p_value is None else p_text(step.p_value))
    if path.size_scores is None and path.chosen < len(path):
        header.append("")
        for number, row in enumerate(rows):
            row.append("" if number < path.chosen else _why_not(path, path[number]))
    if path.size_scores is not None:
        header += [f"{path.size_scores.score_name} ± SE", ""]
        for number, row in enumerate(rows, start=1):
            point = path.size_scores.by_size.get(number)
            se = point and with_error(point["validation"], point["validation_se"], 4)
            row += [se or "-", path.size_scores.mark(number)]
    return header, [tuple(row) for row in rows]


def _why_not(path: SelectionPath, step: SelectionStep) -> str:
    """Say why a step is not among the chosen ones; the search ends with the first of them."""
    if not path.is_tested:
        return "not chosen"
    rare = step.p_value is not None and step.p_value <= path.options.get("alpha", 0.05)
    return "after the end" if rare else "not significant"


def bars_of(path: SelectionPath) -> list[str]:
    """Return a bar for each step: the total before it pale, its gain full."""
    totals = [step.total for step in path if math.isfinite(step.total)]
    largest = path.ceiling if math.isfinite(path.ceiling) else max(totals, default=0.0)
    bars = []
    for step in path:
        known = largest > 0 and math.isfinite(step.total) and math.isfinite(step.gain)
        gain = max(step.gain, 0.0) / largest if known else 0.0
        before = max(step.total, 0.0) / largest - gain if known else 0.0
        inside = _bar(before, "#9dbfe0") + _bar(gain, "#2a6fb5")
        # Said here, since notebooks set the cells of tables to the right.
        style = "width:9em;white-space:nowrap;line-height:0;text-align:left"
        bars.append(f'<div style="{style}">{inside}</div>')
    return bars


def _bar(share: float, color: str) -> str:
    width = f"{100 * min(max(share, 0.0), 1.0):.1f}%"
    return f'<i style="display:inline-block;height:0.6em;width:{width};background:{color}"></i>'


def _number_format(values: Sequence[float]) -> str:
    """Four decimals, unless the numbers are so small or large that these say little."""
    largest = max(map(abs, values), default=0.0)
    return ".4f" if largest == 0 or 0.001 <= largest < 1e6 else ".3e"
