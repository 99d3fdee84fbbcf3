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
    End,
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
_DODGE = 0.72  # of the room of a size, what its methods take side by side
_MOST_BELOW = 3  # scores below the scale that are written
_TICK = 30.0  # pixels that a number below the axis takes
DOTTED = (0, (1, 2.5))
Steps = Sequence[Mapping[str, Any]]
Curve = Mapping[str, Any]
Point = tuple[float, Curve]  # where it is drawn, and what it is


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
    baselines: Sequence[Curve] = (),
    with_names: bool = True,
) -> Axes:
    """Draw validation scores with whiskers of one standard error, baselines as lines across.

    All sizes are as far apart, and the methods of a size stand side by side, so that no whisker
    covers another.

    Parameters
    ----------
    curves : sequence of mapping
        `curves` of `Comparison.to_dict()`: method, n_features, validation and its standard error.
    axes : matplotlib Axes
    scoring : str, default="score"
        What the scores are.
    methods : sequence of str, optional
        All methods in order; their places are their colors. By default those of the curves.
    baselines : sequence of mapping, optional
        `baselines` of `Comparison.to_dict()`: all features, and none.
    with_names : bool, default=True
        Whether each curve is named at its end.

    Returns
    -------
    axes : matplotlib Axes

    Examples
    --------
    >>> from orthoselect.plots import draw_comparison, new_figure
    >>> one = {"method": "socc", "n_features": 1, "validation": 0.8, "validation_se": 0.02}
    >>> axes = draw_comparison([one], new_figure(400, 300).subplots(), scoring="accuracy")
    >>> axes.get_ylabel()
    'accuracy ± standard error'
    """
    methods = list(dict.fromkeys(c["method"] for c in curves)) if methods is None else methods
    scored = [curve for curve in curves if curve["validation"] is not None]
    lines = [baseline for baseline in baselines if baseline["validation"] is not None]
    sizes = sorted({curve["n_features"] for curve in scored})
    low, below = _set_scale(scored, lines, axes)
    ends: list[End] = []
    for number, method in enumerate(methods):
        own = sorted((c for c in scored if c["method"] == method), key=lambda c: c["n_features"])
        aside = _DODGE * ((number + 0.5) / len(methods) - 0.5)
        points = [(sizes.index(c["n_features"]) + aside, c) for c in own]
        if points:
            _draw_one(points, number, low, axes)
            last = points[-1][1]
            ends.append((len(sizes) - 0.5, last["validation"], method, series_color(number), "-"))
    for line in lines:
        if line not in below:
            dash, color = DASHED if line["n_features"] else DOTTED, PALETTE["muted"]
            axes.axhline(line["validation"], color=color, linestyle=dash, linewidth=1.2, zorder=1)
            ends.append((len(sizes) - 0.5, line["validation"], line["method"], color, dash))
    axes.set_xlabel("number of features")
    axes.set_ylabel(f"{shorten(scoring, 40)} \N{PLUS-MINUS SIGN} standard error")
    plain(axes, grid="y")
    _name_sizes(axes, sizes)
    _write_below(below, axes)
    if with_names:
        name_ends(ends, axes, _AXES * pixels(axes)[1])
    return axes


def draw_size_scores(sizes: Mapping[str, Any], axes: Axes, *, with_names: bool = True) -> Axes:
    """Draw the scores of sizes with whiskers of one standard error; mark the chosen and the best.

    Parameters
    ----------
    sizes : mapping
        What `SizeScores.to_dict()` returns.
    axes : matplotlib Axes
    with_names : bool, default=True
        Whether the line of no features is named at its end.

    Returns
    -------
    axes : matplotlib Axes

    Examples
    --------
    >>> from orthoselect import select
    >>> from orthoselect.plots import draw_size_scores, new_figure
    >>> scores = select("iris", None, "cv").size_scores
    >>> axes = draw_size_scores(scores.to_dict(), new_figure(400, 300).subplots())
    >>> axes.get_ylabel()
    'accuracy ± standard error'
    """
    curves = [{**point, "method": ""} for point in sizes["sizes"]]
    none = sizes["no_features"]
    baselines = [] if none is None else [{**none, "method": "no features"}]
    draw_comparison(
        curves, axes, scoring=sizes["score_name"], baselines=baselines, with_names=False
    )
    places = {curve["n_features"]: place for place, curve in enumerate(curves)}
    marked = {sizes["best"]: "best", sizes["chosen"]: "chosen"}
    if sizes["best"] == sizes["chosen"]:
        marked = {sizes["chosen"]: "chosen, the best"}
    for size, words in marked.items():
        _mark_size(places[size], curves[places[size]], words, size == sizes["chosen"], axes)
    low = axes.get_ylim()[0]
    if with_names and none is not None and none["validation"] >= low:
        end = (len(curves) - 0.5, none["validation"], "no features", PALETTE["muted"], DOTTED)
        name_ends([end], axes, _AXES * pixels(axes)[1])
    return axes


def _mark_size(place: float, point: Curve, words: str, is_chosen: bool, axes: Axes) -> None:
    """Put a ring around a score, or a full mark on it, and words above its whisker."""
    top = point["validation"] + (point["validation_se"] or 0.0)
    face = PALETTE["accent"] if is_chosen else PALETTE["paper"]
    looks: dict[str, Any] = {"markersize": 10, "markeredgewidth": 2, "linestyle": "", "zorder": 4}
    looks |= {"marker": "o", "markerfacecolor": face, "markeredgecolor": PALETTE["accent"]}
    axes.plot([place], [point["validation"]], **looks)
    looks = {"ha": "center", "va": "bottom", "xytext": (0, 4), "textcoords": "offset points"}
    write(axes, place, top, words, color=PALETTE["ink"], **looks)
    low, high = axes.get_ylim()
    axes.set_ylim(low, max(high, top + 0.1 * (high - low)))


def _draw_one(points: Sequence[Point], number: int, low: float, axes: Axes) -> None:
    """Draw the marks of a method, and whiskers down to the foot of the scale at most."""
    shown = [(x, curve) for x, curve in points if curve["validation"] >= low]
    places = [x for x, _ in shown]
    scores = [curve["validation"] for _, curve in shown]
    errors = [curve["validation_se"] or 0.0 for _, curve in shown]
    color, marker = series_color(number), series_marker(number)
    axes.plot(places, scores, color=color, linewidth=1.1, alpha=0.45, zorder=2)
    axes.vlines(
        places,
        [max(score - error, low) for score, error in zip(scores, errors)],
        [score + error for score, error in zip(scores, errors)],
        color=color,
        linewidth=1.4,
        zorder=2.5,
    )
    edge: dict[str, Any] = {"markeredgewidth": 0.8, "markeredgecolor": PALETTE["paper"]}
    looks = {"color": color, "linestyle": "", "marker": marker, "markersize": 6.5, **edge}
    axes.plot(places, scores, zorder=3, **looks)


def _name_sizes(axes: Axes, sizes: Sequence[int]) -> None:
    """Write the sizes below their places, so few that they do not touch."""
    room = pixels(axes)[0] / _TICK
    every = max(1, math.ceil(len(sizes) / room))
    places = range(0, len(sizes), every)
    name_ticks(axes, "x", places, [str(sizes[place]) for place in places])
    axes.set_xlim(-0.5, max(len(sizes), 1) - 0.5)


def _set_scale(
    curves: Sequence[Curve], lines: Sequence[Curve], axes: Axes
) -> tuple[float, list[Curve]]:
    """Set the scale; return its foot, and the scores and baselines that lie below it.

    Those are far below all others: a method that fails with one feature, or no features at all,
    would press the curves together.
    """
    if not curves:
        return 0.0, []
    scores = sorted(curve["validation"] for curve in curves)
    usual, high = scores[len(scores) // 10 if len(scores) >= 10 else 0], scores[-1]
    spread = (high - usual) or max(abs(high), 1.0) / 10
    lowest = scores[0] if scores[0] >= usual - spread else usual
    ends = [
        curve["validation"] + side * (curve["validation_se"] or 0.0)
        for curve in curves
        for side in (-1, 1)
        if curve["validation"] >= lowest
    ]
    ends += [line["validation"] for line in lines if line["validation"] >= lowest - spread]
    low, high = max(min(ends), lowest - spread), max(ends)
    below = [one for one in [*lines, *curves] if one["validation"] < low]
    rows = min(len(below), _MOST_BELOW + 1)
    height = (high - low) or spread
    foot = height * (0.05 + rows * ROW / (_AXES * pixels(axes)[1]))
    axes.set_ylim(low - foot, high + 0.05 * height)
    return low, below


def _of_size(n_features: int) -> str:
    return f" with {n_features}" if n_features else ""


def _write_below(below: Sequence[Curve], axes: Axes) -> None:
    """Write what lies below the scale at its foot, one row each."""
    written = [
        f"\N{DOWNWARDS ARROW} {shorten(one['method'], 22)}"
        f"{_of_size(one['n_features'])}: {one['validation']:.3g}"
        for one in below[:_MOST_BELOW]
    ]
    if len(below) > _MOST_BELOW:
        written.append(f"\N{DOWNWARDS ARROW} {len(below) - _MOST_BELOW} more")
    for row, words in enumerate(reversed(written)):
        write(
            axes,
            0,
            0,
            words,
            xycoords="axes fraction",
            xytext=(6, 4 + ROW * row),
            textcoords="offset points",
            color=PALETTE["muted"],
        )
