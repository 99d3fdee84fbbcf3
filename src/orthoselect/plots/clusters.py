"""A tree of features: those that share most of their variation join first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from orthoselect.plots.style import DASHED, PALETTE, name_rows, plain, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HALF = 0.5  # features that share more than this say mostly the same


def draw_clusters(clusters: Mapping[str, Any], axes: Axes, *, name_width: int = 28) -> Axes:
    """Draw a row for each feature, and where they join by what they share.

    What joins above one half is drawn in color; names of features that are not chosen are muted.

    Parameters
    ----------
    clusters : mapping
        `names`, `steps` (None for a feature that is not chosen) and `joins`: each the places `of`
        two features or earlier joins, and the `share` of variation they have in common.
    axes : matplotlib Axes
    name_width : int, default=28
        The most characters of a name; longer ones lose their middle.

    Returns
    -------
    axes : matplotlib Axes

    Examples
    --------
    >>> from orthoselect.plots import draw_clusters, new_figure
    >>> pair = {"names": ["a", "b"], "steps": [1, None], "joins": [{"of": [0, 1], "share": 0.9}]}
    >>> axes = draw_clusters(pair, new_figure(300, 100).subplots())
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['1  a', 'b']
    """
    names, steps = clusters["names"], clusters["steps"]
    ends = [(0.0, float(row)) for row in range(len(names))]  # of each branch: 1 - share, and row
    for join in clusters["joins"]:
        (x, top), (z, bottom) = (ends[place] for place in join["of"])
        at = 1.0 - join["share"]
        alike = join["share"] > HALF
        color, width = PALETTE["accent" if alike else "muted"], 2.0 if alike else 1.2
        axes.plot([x, at, at, z], [top, top, bottom, bottom], color=color, linewidth=width)
        ends.append((at, (top + bottom) / 2))
    axes.axvline(1 - HALF, color=PALETTE["muted"], linestyle=DASHED, linewidth=1)
    axes.set_xlim(-0.01, 1.02)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["100%", "75%", "50%", "25%", "0%"])
    axes.set_xlabel("variation that they share")
    plain(axes, grid="x")
    shown = [shorten(name, name_width) for name in names]
    rows = [name if step is None else f"{step}  {name}" for step, name in zip(steps, shown)]
    name_rows(axes, range(len(names)), rows)
    for label, step in zip(axes.get_yticklabels(), steps):
        label.set_color(PALETTE["muted" if step is None else "ink"])
    return axes
