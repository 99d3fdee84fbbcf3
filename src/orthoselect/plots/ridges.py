"""Rows of histograms, one a class, over one scale: each labeled where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from orthoselect.plots.style import PALETTE, name_ticks, plain, series_color, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 12  # more rows than that are no longer compared by eye; the largest are shown


@dataclass(frozen=True)
class Row:
    """One class: its place among all classes, its name, and its share of rows in every bin."""

    number: int
    name: str
    shares: Sequence[float]


def largest(sizes: Sequence[int]) -> list[int]:
    """Return the places of the largest, at most as many as are shown, in their own order.

    Examples
    --------
    >>> largest([3, 1, 2])
    [0, 1, 2]
    """
    ranked = sorted(range(len(sizes)), key=lambda place: -sizes[place])
    return sorted(ranked[:MOST_ROWS])


def draw_ridges(rows: Sequence[Row], edges: Sequence[float], axes: Axes, gap: float = 0.0) -> None:
    """Draw the rows from top to bottom; bars of width 1 with `gap` between them, or stairs."""
    heights = [_heights(row.shares, edges) for row in rows]
    tallest = max((max(height, default=0.0) for height in heights), default=0.0) or 1.0
    for place, (row, height) in enumerate(zip(rows, heights)):
        base = -float(place)
        scaled = [0.86 * value / tallest for value in height]
        color = series_color(row.number)
        if gap:
            middles = [(a + b) / 2 for a, b in pairwise(edges)]
            axes.bar(middles, scaled, width=1 - gap, bottom=base, color=color)
        else:
            tops = [base + value for value in scaled]
            axes.stairs(tops, edges, baseline=base, fill=True, color=color, linewidth=0)
    plain(axes)
    axes.hlines(
        [-float(place) for place in range(len(rows))],
        edges[0],
        edges[-1],
        color=PALETTE["line"],
        linewidth=1,
    )
    axes.set_ylim(-len(rows) + 0.9, 0.95)
    middle = [0.3 - place for place in range(len(rows))]
    name_ticks(axes, "y", middle, [shorten(row.name, 16) for row in rows])
    axes.tick_params(axis="y", labelcolor=PALETTE["ink"])


def _heights(shares: Sequence[float], edges: Sequence[float]) -> list[float]:
    """Share over width, so that wide bins do not look full."""
    widths = [b - a for a, b in pairwise(edges)]
    return [share / width if width > 0 else 0.0 for share, width in zip(shares, widths)]
