"""Results: the gains of a path, the correlations of its features, the curves of a comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from orthoselect.plots.style import (
    DASHED,
    PALETTE,
    ROW,
    SMALL,
    legend,
    name_ends,
    name_rows,
    name_ticks,
    pixels,
    plain,
    series_color,
    series_marker,
    shorten,
    whole_numbers,
    write,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DEEPEST = 0.62  # the tint of a correlation of 1: what is written on it stays readable
_AXES = 0.78  # of the figure, the height of the axes
Steps = Sequence[Mapping[str, Any]]
Curve = Mapping[str, Any]
Point = tuple[float, float, int, str]  # size, score, the method's number and name


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
    totals, gains = _numbers(steps, "total"), _numbers(steps, "gain")
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
        axes.axvline(ceiling, color=PALETTE["muted"], linestyle=DASHED, linewidth=1.2)
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
    totals, gains = _numbers(steps, "total"), _numbers(steps, "gain")
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
        dashes: dict[str, Any] = {"color": PALETTE["muted"], "linestyle": DASHED}
        axes.stairs(stairs, edges, baseline=None, linewidth=1.2, **dashes)
        highest = max(stairs, default=ceiling)
        at = 0.5 + stairs.index(highest) if stairs else 0.5
        _write_ceiling(axes, highest, (at, highest), ha="left")
        ceiling = highest
    _leave_room(axes, "y", totals + gains if with_total else gains, ceiling)
    return axes


def _numbers(steps: Steps, what: str) -> list[float]:
    return [math.nan if step[what] is None else step[what] for step in steps]


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


def draw_correlations(
    correlations: Mapping[str, Any],
    axes: Axes,
    *,
    name_width: int = 24,
    with_numbers: bool = True,
) -> Axes:
    """Draw one cell for each pair of features, the deeper the stronger their correlation.

    Parameters
    ----------
    correlations : mapping
        `names`, `matrix`, and `signed`, which tells where a sign has a meaning.
    axes : matplotlib Axes
    name_width : int, default=24
        The most characters of a name; longer ones lose their middle. 0 for places only.
    with_numbers : bool, default=True
        Whether the cells hold their numbers.

    Returns
    -------
    axes : matplotlib Axes

    Examples
    --------
    >>> from orthoselect.plots import draw_correlations, new_figure
    >>> pair = {"names": ["a", "b"], "matrix": [[1, -0.5], [-0.5, 1]], "signed": [[True] * 2] * 2}
    >>> axes = draw_correlations(pair, new_figure(200, 200).subplots())
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['1  a', '2  b']
    """
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    names, matrix = correlations["names"], correlations["matrix"]
    pairs = [(row, column) for row in range(len(names)) for column in range(row + 1)]
    squares = [Rectangle((column - 0.47, row - 0.47), 0.94, 0.94) for row, column in pairs]
    colors = [_color(matrix[row][column] if row != column else None) for row, column in pairs]
    axes.add_collection(PatchCollection(squares, facecolors=colors, linewidths=0))
    for row, column in pairs if with_numbers else ():
        if row != column:
            shown = _written(matrix[row][column], correlations["signed"][row][column])
            write(axes, column, row, shown, ha="center", va="center", fontsize=SMALL - 1)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_aspect("equal")
    plain(axes)
    places = range(len(names))
    named = [f"  {shorten(name, name_width)}" if name_width else "" for name in names]
    name_rows(axes, places, [f"{n + 1}{named[n]}" for n in places])
    name_ticks(axes, "x", places, [str(n + 1) for n in places])
    return axes


def _color(value: float | None) -> tuple[float, float, float, float]:
    """Return the tint of a cell; gray where there is nothing to compare."""
    from matplotlib.colors import to_rgba

    if value is None:
        return to_rgba(PALETTE["line"])
    depth = 0.03 + _DEEPEST * min(abs(value), 1.0)
    return to_rgba(PALETTE["plus"] if value >= 0 else PALETTE["minus"], depth)


def _written(value: float | None, signed: bool) -> str:
    """Two decimals, with a sign where it has a meaning."""
    if value is None:
        return "\N{EN DASH}"
    negative = signed and value < -0.005
    return f"\N{MINUS SIGN}{-value:.2f}" if negative else f"{abs(value):.2f}"


def draw_comparison(
    curves: Sequence[Curve],
    axes: Axes,
    *,
    scoring: str = "score",
    methods: Sequence[str] | None = None,
    with_names: bool = True,
) -> Axes:
    """Draw validation scores as solid lines with their spread, training scores dashed.

    Parameters
    ----------
    curves : sequence of mapping
        `curves` of `Comparison.to_dict()`: method, n_features, train, validation and the standard
        deviation of each.
    axes : matplotlib Axes
    scoring : str, default="score"
        What the scores are.
    methods : sequence of str, optional
        All methods in order; their places are their colors. By default those of the curves.
    with_names : bool, default=True
        Whether each curve is named at its end.

    Returns
    -------
    axes : matplotlib Axes

    Examples
    --------
    >>> from orthoselect.plots import draw_comparison, new_figure
    >>> one = {"method": "socc", "n_features": 1, "train": 0.9, "train_std": 0.01}
    >>> one |= {"validation": 0.8, "validation_std": 0.02}
    >>> axes = draw_comparison([one], new_figure(400, 300).subplots(), scoring="accuracy")
    >>> axes.get_ylabel()
    'accuracy'
    """
    methods = list(dict.fromkeys(c["method"] for c in curves)) if methods is None else methods
    drawn: list[Sequence[Point]] = []
    for number, method in enumerate(methods):
        own = sorted((c for c in curves if c["method"] == method), key=lambda c: c["n_features"])
        own = [curve for curve in own if curve["validation"] is not None]
        if own:
            _draw_one(own, number, axes, banded=len(methods) <= 8)
            drawn.append([(c["n_features"], c["validation"], number, method) for c in own])
    axes.set_xlabel("number of features")
    axes.set_ylabel(shorten(scoring, 40))
    whole_numbers(axes)
    axes.margins(x=0.03)
    plain(axes, grid="y")
    _line_kinds(axes)
    _cut_scale([point for own in drawn for point in own], axes)
    if with_names:
        last = [own[-1] for own in drawn]
        ends = [(size, score, name, series_color(n), "-") for size, score, n, name in last]
        name_ends(ends, axes, _AXES * pixels(axes)[1])
    return axes


def _draw_one(own: Sequence[Curve], number: int, axes: Axes, banded: bool) -> None:
    sizes = [curve["n_features"] for curve in own]
    scores = [curve["validation"] for curve in own]
    spread = [curve["validation_std"] or 0.0 for curve in own]
    training = [math.nan if curve["train"] is None else curve["train"] for curve in own]
    color = series_color(number)
    if banded:
        low = [a - b for a, b in zip(scores, spread)]
        high = [a + b for a, b in zip(scores, spread)]
        axes.fill_between(sizes, low, high, color=color, alpha=0.1, linewidth=0)
    axes.plot(sizes, training, color=color, linewidth=1.1, linestyle=DASHED, alpha=0.75)
    edge: dict[str, Any] = {"markeredgewidth": 0.8, "markeredgecolor": PALETTE["paper"]}
    marker = series_marker(number)
    axes.plot(sizes, scores, color=color, linewidth=2, marker=marker, markersize=6, **edge)


def _line_kinds(axes: Axes) -> None:
    """Say what solid and dashed mean; the band goes with the solid line."""
    from matplotlib.lines import Line2D

    color = PALETTE["muted"]
    solid = Line2D([], [], color=color, linewidth=2)
    dashed = Line2D([], [], color=color, linewidth=1.1, linestyle=DASHED)
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 2, "borderaxespad": 0}
    legend(axes, [solid, dashed], ["validation", "training"], **place)


def _cut_scale(points: Sequence[Point], axes: Axes) -> None:
    """Leave a few scores far below all others out of the scale, and write them at its foot.

    A method that fails with one feature would else press all other curves together.
    """
    scores = sorted(score for _, score, _, _ in points)
    if len(scores) < 10:
        return
    low, high = scores[len(scores) // 10], scores[-1]
    if scores[0] >= 2 * low - high:
        return
    bottom = low - (high - low) / 2
    axes.set_ylim(bottom=bottom)
    middle = sum(axes.get_xlim()) / 2
    for place, (size, score, _, method) in enumerate(p for p in points if p[1] < bottom):
        right = size > middle
        write(
            axes,
            size,
            0,
            f"\N{DOWNWARDS ARROW} {shorten(method, 22)} {score:.3g}",
            xycoords=axes.get_xaxis_transform(),
            xytext=(-8 if right else 8, 8 + ROW * place),
            textcoords="offset points",
            ha="right" if right else "left",
            color=PALETTE["muted"],
            bbox={"boxstyle": "round,pad=0.2", "fc": PALETTE["paper"], "ec": "none"},
        )
