"""Rows against the response: along one feature, and along what tells the classes apart best."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from orthoselect.errors import InputError
from orthoselect.plots.style import (
    DASHED,
    PALETTE,
    clean,
    dots,
    legend,
    name_rows,
    name_ticks,
    pixels,
    plain,
    series_color,
    series_marker,
    shorten,
    write,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 12  # more rows than that are no longer compared by eye; the largest are shown
MOST_LEVELS = 10
MOST_POINTS, MOST_POINTS_OF_ONE = 1500, 400  # of all features together, of one
_BINS = 40
_RIDGE = 0.86  # of the room that a class has, how much its highest bin takes
_LEVEL_WIDTH, _SIDE_BY_SIDE = 14, 36  # characters: of one level, of all levels in a line


def draw_distribution(distribution: Mapping[str, Any], axes: Axes, response: str = "") -> Axes:
    """Draw how one feature is distributed.

    Parameters
    ----------
    distribution : mapping
        Of kind "numeric" or "categorical" (counts by class), "numeric-response" (points and bin
        means) or "categorical-response" (quartiles of the response by level).
    axes : matplotlib Axes
    response : str, default=""
        What to call the response, where it has an axis.

    Returns
    -------
    axes : matplotlib Axes

    Examples
    --------
    >>> from orthoselect.plots import draw_distribution, new_figure
    >>> by_class = [{"class": "a", "n": 3, "counts": [1, 2]}]
    >>> feature = {"name": "age", "kind": "numeric", "edges": [0, 1, 2], "by_class": by_class}
    >>> axes = draw_distribution(feature, new_figure(300, 100).subplots())
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['a']
    """
    draw = {
        "numeric": _numbers_by_class,
        "categorical": _levels_by_class,
        "numeric-response": _response_along,
        "categorical-response": _response_by_level,
    }.get(distribution["kind"])
    if draw is None:
        raise InputError(
            "the kind of a distribution should be 'numeric', 'categorical', 'numeric-response' or "
            f"'categorical-response'; got {distribution['kind']!r}."
        )
    draw(distribution, axes, shorten(response, 30))
    return axes


def n_rows(distribution: Mapping[str, Any]) -> int:
    """Return how many rows its chart has; 0 for a chart with points."""
    if "by_class" in distribution:
        return min(len(distribution["by_class"]), MOST_ROWS)
    return min(len(distribution.get("levels", ())), MOST_ROWS)


def slants(distribution: Mapping[str, Any]) -> bool:
    """Whether the names of its levels are too long to stand side by side."""
    if distribution["kind"] != "categorical":
        return False
    names = [clean(level)[:_LEVEL_WIDTH] for level in distribution["levels"][:MOST_LEVELS]]
    return max(map(len, names), default=0) * len(names) > _SIDE_BY_SIDE


def _numbers_by_class(distribution: Mapping[str, Any], axes: Axes, response: str) -> None:
    by_class = distribution["by_class"]
    names, counts = [one["class"] for one in by_class], [one["counts"] for one in by_class]
    _draw_ridges(names, counts, distribution["edges"], axes, colors=_colors(by_class))
    axes.locator_params(axis="x", nbins=5)


def _levels_by_class(distribution: Mapping[str, Any], axes: Axes, response: str) -> None:
    """Draw the commonest levels, in their own order, and the rest counted together."""
    by_class, levels = distribution["by_class"], distribution["levels"]
    counts = [one["counts"] for one in by_class]
    if len(levels) > MOST_LEVELS:
        frequent = sorted(range(len(levels)), key=lambda place: -sum(one[place] for one in counts))
        kept, others = sorted(frequent[: MOST_LEVELS - 1]), frequent[MOST_LEVELS - 1 :]
        levels = [*(levels[place] for place in kept), f"{len(others)} more"]
        counts = [[*(one[p] for p in kept), sum(one[p] for p in others)] for one in counts]
    edges, names = range(len(levels) + 1), [one["class"] for one in by_class]
    _draw_ridges(names, counts, edges, axes, gap=0.25, colors=_colors(by_class))
    middles = [place + 0.5 for place in range(len(levels))]
    name_ticks(axes, "x", middles, [shorten(name, _LEVEL_WIDTH) for name in levels])
    if slants(distribution):
        for text in axes.get_xticklabels():
            text.set(rotation=40, ha="right", rotation_mode="anchor")


def _colors(by_class: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the color that each class has in all charts; several classes together are gray."""
    numbers = [one.get("number", place) for place, one in enumerate(by_class)]
    return [PALETTE["muted"] if n is None else series_color(n) for n in numbers]


def _response_along(distribution: Mapping[str, Any], axes: Axes, response: str) -> None:
    points = _thin(distribution["points"], MOST_POINTS_OF_ONE)
    dots(axes, points, 3.4, color=PALETTE["plus"], alpha=0.4)
    edges, means = distribution["edges"], distribution["means"]
    known = [(a, b, m) for a, b, m in zip(edges, edges[1:], means) if m is not None]
    middles = [(a + b) / 2 for a, b, _ in known]
    heights = [mean for _, _, mean in known]
    axes.plot(middles, heights, color=PALETTE["paper"], linewidth=4.5)
    axes.plot(middles, heights, color=PALETTE["minus"], linewidth=2, marker="s", markersize=4)
    axes.set_ylabel(response)
    axes.locator_params(nbins=5)
    plain(axes, grid="y")


def _response_by_level(distribution: Mapping[str, Any], axes: Axes, response: str) -> None:
    shown = _largest(distribution["n"])
    for place, level in enumerate(shown):
        low, middle, high = distribution["quartiles"][level]
        if middle is None:
            continue
        axes.barh(-place, high - low, left=low, height=0.5, color=PALETTE["faint"])
        axes.plot([middle], [-place], marker="D", markersize=6, color=PALETTE["accent"])
    axes.set_ylim(-len(shown) + 0.4, 0.6)
    axes.use_sticky_edges = False  # a bar that begins at the edge would run into its name
    axes.set_xlabel(response)
    axes.locator_params(axis="x", nbins=5)
    plain(axes, grid="x")
    names = [shorten(distribution["levels"][level], 16) for level in shown]
    name_rows(axes, [-place for place in range(len(shown))], names)


def draw_separation(
    separation: Mapping[str, Any], axes: Axes, *, with_legend: bool = False
) -> Axes:
    """Draw the rows on the first discriminant directions, or fitted against observed numbers.

    Parameters
    ----------
    separation : mapping
        Of kind "classes" (one axis: a histogram a class; two: points) or "numbers".
    axes : matplotlib Axes
    with_legend : bool, default=False
        Whether a legend names the classes besides the labels at their centers.

    Returns
    -------
    axes : matplotlib Axes

    Examples
    --------
    >>> from orthoselect.plots import draw_separation, new_figure
    >>> fit = {"kind": "numbers", "response": "cost", "observed": [1, 2], "fitted": [1, 2]}
    >>> draw_separation(fit, new_figure(300, 300).subplots()).get_xlabel()
    'observed cost'
    """
    if separation["kind"] == "numbers":
        _fitted(separation, axes)
    elif len(separation["axes"]) == 1:
        _one_axis(separation, axes)
    else:
        _two_axes(separation, axes, with_legend)
    return axes


def _two_axes(separation: Mapping[str, Any], axes: Axes, with_legend: bool) -> None:
    classes = separation["classes"]
    points = _thin(separation["points"], MOST_POINTS)
    size = 5.2 if len(points) <= 400 else 4.0
    groups, drawn = {}, []
    for number in range(len(classes)):
        groups[number] = [(x, y) for x, y, which in points if which == number]
        looks = {"marker": series_marker(number), "color": series_color(number)}
        drawn += dots(axes, groups[number], size, alpha=0.7, **looks)
    first, second = separation["axes"]
    axes.set_xlabel(_axis_name(first))
    axes.set_ylabel(_axis_name(second))
    plain(axes)
    axes.grid(True, color=PALETTE["line"], linewidth=0.8)
    axes.locator_params(nbins=6)
    axes.margins(0.06)
    _name_centers(groups, classes, axes)
    if with_legend:
        legend(axes, drawn, [shorten(name, 24) for name in classes], loc="best")


def _name_centers(
    groups: Mapping[int, Sequence[tuple[float, float]]], classes: Sequence[str], axes: Axes
) -> None:
    """Write each class's name at its middle, the largest first, where there is room."""
    left, right = axes.get_xlim()
    low, high = axes.get_ylim()
    width, height = pixels(axes)
    taken: list[tuple[float, float, float]] = []
    for number in sorted(groups, key=lambda n: -len(groups[n])):
        if not groups[number]:
            continue
        x = statistics.median(x for x, _ in groups[number])
        y = statistics.median(y for _, y in groups[number])
        name = shorten(classes[number], 18)
        place = ((x - left) / (right - left) * width, (y - low) / (high - low) * height)
        half = 3.6 * len(name) + 6
        if any(abs(place[0] - a) < half + b and abs(place[1] - c) < 20 for a, c, b in taken):
            continue
        taken.append((*place, half))
        box = {"boxstyle": "round,pad=0.25", "fc": PALETTE["paper"], "ec": series_color(number)}
        write(axes, x, y, name, ha="center", va="center", bbox={**box, "alpha": 0.92, "lw": 1})


def _one_axis(separation: Mapping[str, Any], axes: Axes) -> None:
    points, classes = separation["points"], separation["classes"]
    values = [x for x, _, _ in points]
    low, high = min(values, default=0.0), max(values, default=1.0)
    width = ((high - low) or 1.0) / _BINS
    counts = [[0] * _BINS for _ in classes]
    for x, _, which in points:
        counts[which][min(int((x - low) / width), _BINS - 1)] += 1
    _draw_ridges(classes, counts, [low + width * k for k in range(_BINS + 1)], axes)
    axes.set_xlabel(_axis_name(separation["axes"][0]))


def _axis_name(axis: Mapping[str, Any]) -> str:
    correlation = axis.get("canonical_correlation")
    shown = "" if correlation is None else f" (correlation {correlation:.3f})"
    return f"{shorten(axis['label'], 28)}{shown}"


def _fitted(separation: Mapping[str, Any], axes: Axes) -> None:
    pairs = _thin(list(zip(separation["observed"], separation["fitted"])), MOST_POINTS)
    observed = [a for a, _ in pairs]
    ends = [min(observed, default=0.0), max(observed, default=1.0)]
    axes.plot(ends, ends, color=PALETTE["muted"], linewidth=1.2, linestyle=DASHED)
    dots(axes, pairs, 4.4, color=PALETTE["accent"], alpha=0.5)
    looks = {"ha": "right", "va": "bottom", "color": PALETTE["muted"]}
    place = {"xytext": (-6, 2), "textcoords": "offset points"}
    write(axes, ends[1], ends[1], "fitted = observed", **looks, **place)
    name = shorten(separation["response"], 30)
    axes.set_xlabel(f"observed {name}")
    axes.set_ylabel(f"fitted {name}")
    axes.locator_params(nbins=6)
    plain(axes)
    axes.grid(True, color=PALETTE["line"], linewidth=0.8)


def _draw_ridges(
    names: Sequence[str],
    counts: Sequence[Sequence[int]],
    edges: Sequence[float],
    axes: Axes,
    *,
    gap: float = 0.0,
    colors: Sequence[str] | None = None,
) -> None:
    """Draw how each class is spread over the bins, the largest classes from top to bottom.

    Shares are drawn over the width of their bin, so that wide bins do not look full: as bars of
    width 1 with `gap` between them, or as stairs. Each class has the same height: one that has a
    single value in most rows would press all others flat.
    """
    colors = [series_color(number) for number in range(len(names))] if colors is None else colors
    shown = _largest([sum(own) for own in counts])
    widths = [b - a for a, b in pairwise(edges)]
    for place, number in enumerate(shown):
        own = [n / width if width > 0 else 0.0 for n, width in zip(counts[number], widths)]
        base, tallest = -float(place), max(own, default=0.0) or 1.0
        scaled = [_RIDGE * value / tallest for value in own]
        if gap:
            middles = [(a + b) / 2 for a, b in pairwise(edges)]
            axes.bar(middles, scaled, width=1 - gap, bottom=base, color=colors[number])
        else:
            tops, color = [base + value for value in scaled], colors[number]
            axes.stairs(tops, edges, baseline=base, fill=True, color=color, linewidth=0)
    plain(axes)
    feet = [-float(place) for place in range(len(shown))]
    axes.hlines(feet, edges[0], edges[-1], color=PALETTE["line"], linewidth=1)
    axes.set_ylim(-len(shown) + 0.9, 0.95)
    name_rows(axes, [foot + 0.3 for foot in feet], [shorten(names[k], 16) for k in shown])


def _largest(sizes: Sequence[int]) -> list[int]:
    """Return the places of the largest, at most as many as are shown, in their own order."""
    ranked = sorted(range(len(sizes)), key=lambda place: -sizes[place])
    return sorted(ranked[:MOST_ROWS])


def _thin(points: Sequence[Any], most: int) -> list[Any]:
    """Return at most so many of the points, evenly from first to last.

    >>> _thin(range(10), 5)
    [0, 2, 4, 6, 8]
    """
    if len(points) <= most:
        return list(points)
    return [points[place * len(points) // most] for place in range(most)]
