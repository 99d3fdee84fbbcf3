"""The path: what each step added, and the running total against its ceiling."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from orthoselect.plots.style import PALETTE, name_rows, plain, shorten, whole_numbers, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Steps = Sequence[Mapping[str, Any]]


def draw_path(steps: Steps, ceiling: float | None, axes: Axes) -> Axes:
    """Draw one row a step: a bar from the total before it to the total after it.

    Parameters
    ----------
    steps : sequence of mapping
        `steps` of `SelectionPath.to_dict()`: name, gain and total of each.
    ceiling : float or None
        The most that the gains could add up to, if there is such a number.
    axes : matplotlib Axes

    Returns
    -------
    axes : matplotlib Axes

    Examples
    --------
    >>> from orthoselect.plots import draw_path, new_figure
    >>> steps = [{"name": "age", "gain": 0.5, "total": 0.5}]
    >>> draw_path(steps, 1.0, new_figure(400, 100).subplots()).get_xlabel()
    'running total'
    """
    rows = range(len(steps))
    totals = [_number(step["total"]) for step in steps]
    gains = [_number(step["gain"]) for step in steps]
    before = [total - gain for total, gain in zip(totals, gains)]
    axes.barh(rows, before, height=0.62, color=PALETTE["faint"])
    axes.barh(rows, gains, left=before, height=0.62, color=PALETTE["accent"])
    for row, total, gain in zip(rows, totals, gains):
        if math.isfinite(total):
            write(axes, total, row, f" +{gain:.3g}", va="center", color=PALETTE["muted"])
    axes.set_xlabel("running total")
    axes.set_ylim(max(len(steps), 1) - 0.4, -0.6)
    plain(axes, grid="x")
    name_rows(axes, rows, [shorten(step["name"], 32) for step in steps])
    if ceiling is not None:
        axes.axvline(ceiling, color=PALETTE["muted"], linestyle=(0, (4, 3)), linewidth=1.2)
        above = axes.get_xaxis_transform()
        _write_ceiling(axes, ceiling, (ceiling, 1.0), ha="right", xycoords=above)
    _leave_room(axes, "x", totals, ceiling)
    return axes


def draw_path_by_step(
    steps: Steps,
    ceiling: float | None,
    axes: Axes,
    reachable: Sequence[float] | None = None,
    with_total: bool = True,
) -> Axes:
    """Draw the gains as bars and the running total as a line, against the number of the step.

    Parameters and result are those of `draw_path`; names are left out, so hundreds of steps fit.
    `reachable` is the most that each step could have reached, drawn as stairs up to the ceiling.
    Without `with_total` there are bars alone, for scores that do not add up.

    Examples
    --------
    >>> from orthoselect.plots import draw_path_by_step, new_figure
    >>> steps = [{"name": "age", "gain": 0.5, "total": 0.5}]
    >>> draw_path_by_step(steps, None, new_figure(400, 200).subplots()).get_xlabel()
    'features selected'
    """
    numbers = list(range(1, len(steps) + 1))
    totals = [_number(step["total"]) for step in steps]
    gains = [_number(step["gain"]) for step in steps]
    width = 0.56 if len(steps) > 4 else 0.14 * max(len(steps), 1)
    color = PALETTE["faint" if with_total else "accent"]
    axes.bar(numbers, gains, width=width, color=color, label="gain")
    if with_total:
        marker = "o" if len(steps) <= 60 else ""
        color = PALETTE["accent"]
        axes.plot(numbers, totals, color=color, linewidth=2, marker=marker, markersize=5)
    axes.set_xlabel("features selected")
    axes.set_xlim(0.4, max(len(steps), 1) + 0.6)
    whole_numbers(axes)
    plain(axes, grid="y")
    if ceiling is not None:
        stairs = [ceiling] * len(steps) if reachable is None else list(reachable)
        edges = [number + 0.5 for number in [0, *numbers]]
        dashes: dict[str, Any] = {"color": PALETTE["muted"], "linestyle": (0, (4, 3))}
        axes.stairs(stairs, edges, baseline=None, linewidth=1.2, **dashes)
        highest = max(stairs, default=ceiling)
        at = 0.5 + stairs.index(highest) if stairs else 0.5
        _write_ceiling(axes, highest, (at, highest), ha="left")
        ceiling = highest
    _leave_room(axes, "y", totals + gains if with_total else gains, ceiling)
    return axes


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _write_ceiling(axes: Axes, ceiling: float, at: tuple[float, float], **looks: Any) -> None:
    looks |= {"va": "bottom", "xytext": (0, 3), "textcoords": "offset points"}
    write(axes, *at, f"ceiling {ceiling:.4g}", color=PALETTE["muted"], **looks)


def _leave_room(axes: Axes, axis: str, values: Sequence[float], ceiling: float | None) -> None:
    """Let the scale hold zero, every value and the ceiling, with room for what is written."""
    finite = [value for value in values if math.isfinite(value)]
    high = max([0.0, *finite, *([ceiling] if ceiling is not None else [])])
    low = min([0.0, *finite])
    spread = (high - low) or 1.0
    limits = (low - (0.04 * spread if low < 0 else 0.0), high + 0.12 * spread)
    (axes.set_xlim if axis == "x" else axes.set_ylim)(*limits)
