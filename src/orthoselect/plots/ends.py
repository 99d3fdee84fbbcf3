"""Names of curves beside their ends, pushed apart where they would overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from orthoselect.plots.style import SMALL, shorten, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW = 15.0  # pixels between two names
_WIDEST = 22
# Nothing is cut off the line from a name to its curve: that took a fifth of the time of a chart.
_LEADER = {"arrowstyle": "-", "lw": 1.2, "relpos": (-0.06, 0.5), "patchA": None}
_LEADER |= {"shrinkA": 0.0, "shrinkB": 0.0}


class End(NamedTuple):
    """Where a curve ends, what it is called, its color and dash."""

    x: float
    y: float
    name: str
    color: str
    dash: Any = "-"


def name_ends(ends: Sequence[End], axes: Axes, height: float) -> None:
    """Write the name of each curve right of its end, with a line from the one to the other.

    Parameters
    ----------
    ends : sequence of End
    axes : matplotlib Axes
        Its limits should be final.
    height : float
        About how many pixels (of an SVG) the axes are high.

    Examples
    --------
    >>> from orthoselect.plots import new_figure
    >>> axes = new_figure(300, 200).subplots()
    >>> name_ends([End(1, 0.5, "socc", "#0f5ea8"), End(1, 0.5, "mim", "#b5541a")], axes, 150)
    >>> [text.get_text() for text in axes.texts]
    ['socc', 'mim']
    """
    low, high = axes.get_ylim()
    scale = height / ((high - low) or 1.0)
    ranked = sorted((end._replace(y=max(end.y, low)) for end in ends), key=lambda end: -end.y)
    heights = _within(apart([end.y * scale for end in ranked], ROW), low * scale, high * scale)
    right = max((end.x for end in ends), default=1)
    for end, place in zip(ranked, heights):
        write(
            axes,
            right,
            end.y,
            shorten(end.name, _WIDEST),
            xytext=(22, place - end.y * scale),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
            arrowprops={**_LEADER, "color": end.color, "linestyle": end.dash},
        )


def apart(heights: Sequence[float], gap: float) -> list[float]:
    """Move falling heights as little as is simple until neighbors are `gap` apart.

    Examples
    --------
    >>> apart([10.0, 9.0, 1.0], 4.0)
    [11.0, 7.0, 2.0]
    """
    placed: list[float] = []
    for height in heights:
        placed.append(min(height, placed[-1] - gap) if placed else height)
    shift = sum(a - b for a, b in zip(heights, placed)) / len(placed) if placed else 0.0
    return [height + shift for height in placed]


def _within(heights: Sequence[float], bottom: float, top: float) -> list[float]:
    """Move all of them so that none is above the top, and few below the bottom."""
    if not heights:
        return []
    shift = min(max(bottom - heights[-1], 0.0), top - heights[0])
    return [height + shift for height in heights]
