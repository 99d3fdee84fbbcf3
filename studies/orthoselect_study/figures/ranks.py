"""The rank of every method on every data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orthoselect.plots.style import PALETTE, SMALL, name_ticks, pixels, plain, write
from orthoselect.show.charts import NARROW, WIDE
from orthoselect_study.figures.base import Drawing

_DEEPEST = 0.6  # the strongest tint that text stays readable on
_NAMES, _LETTER = 90.0, 7.5  # pixels: about the names beside the cells, and one letter


def draw_ranks(
    table: Mapping[str, Mapping[str, int]], averages: Mapping[str, float], first: int
) -> Drawing:
    """Return the rank of every method on every data set, and the mean.

    Parameters
    ----------
    table : mapping of data set to the rank of each method
    averages : mapping of method to its mean rank, in the order of the figure
    first : int
        Ranks up to this one are one color, those beyond it another.
    """
    methods = list(averages)
    rows = [*table, "mean rank"]

    def draw(canvas: Any, narrow: bool) -> None:
        axes = canvas.subplots()
        middle: dict[str, Any] = {"ha": "center", "va": "center"}

        def place(row: int, column: int) -> tuple[int, int]:
            return (row, column) if narrow else (column, row)

        cells = []
        for row, found in enumerate(table.values()):
            for column, name in enumerate(methods):
                at = place(row, column)
                cells.append((at, _tint(found[name], first, len(methods))))
                write(axes, *at, f"{found[name]:d}", **middle)
        for column, name in enumerate(methods):
            at = place(len(table), column)
            write(axes, *at, f"{averages[name]:.1f}", fontweight="bold", **middle)
        _draw_cells(axes, cells)
        _name_cells(axes, *((rows, methods) if narrow else (methods, rows)))

    wide = (WIDE, 40 + 28 * len(rows))
    return Drawing(draw, wide, (NARROW, 95 + 26 * len(methods)))


def _tint(rank: int, first: int, last: int) -> tuple[float, float, float, float]:
    """Return the color of a cell: the deeper, the farther from the border of the two colors."""
    from matplotlib.colors import to_rgba

    if rank <= first:
        return to_rgba(PALETTE["plus"], _DEEPEST * (first - rank + 1) / first)
    return to_rgba(PALETTE["minus"], _DEEPEST * (rank - first) / max(last - first, 1))


def _draw_cells(axes: Any, cells: Sequence[tuple[tuple[int, int], Any]]) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    squares = [Rectangle((x - 0.48, y - 0.46), 0.96, 0.92) for (x, y), _ in cells]
    tints = [tint for _, tint in cells]
    axes.add_collection(PatchCollection(squares, facecolors=tints, linewidths=0))


def _name_cells(axes: Any, across: Sequence[str], down: Sequence[str]) -> None:
    axes.set_xlim(-0.6, len(across) - 0.4)
    axes.set_ylim(len(down) - 0.4, -0.6)
    plain(axes)
    axes.xaxis.tick_top()
    name_ticks(axes, "x", range(len(across)), across)
    name_ticks(axes, "y", range(len(down)), down)
    axes.tick_params(labelcolor=PALETTE["ink"], labelsize=SMALL)
    cell = (pixels(axes)[0] - _NAMES) / len(across)
    if _LETTER * max(map(len, across)) > cell:
        axes.tick_params(axis="x", rotation=90)
