"""How far the selected features tell the classes apart, or how well they fit the numbers."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from orthoselect.plots.distribution import Ridge, draw_ridges, largest, thin
from orthoselect.plots.style import (
    PALETTE,
    dots,
    legend,
    pixels,
    plain,
    series_color,
    series_marker,
    shorten,
    write,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_POINTS = 1500
_BINS = 40


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
    points = thin(separation["points"], MOST_POINTS)
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
    values = [[x for x, _, which in points if which == n] for n in range(len(classes))]
    low = min((min(one) for one in values if one), default=0.0)
    high = max((max(one) for one in values if one), default=1.0)
    width = ((high - low) or 1.0) / _BINS
    edges = [low + width * k for k in range(_BINS + 1)]
    rows = []
    for number in largest([len(one) for one in values]):
        counts = [0] * _BINS
        for x in values[number]:
            counts[min(int((x - low) / width), _BINS - 1)] += 1
        total = len(values[number]) or 1
        rows.append(Ridge(number, classes[number], [n / total for n in counts]))
    draw_ridges(rows, edges, axes)
    axes.set_xlabel(_axis_name(separation["axes"][0]))


def _axis_name(axis: Mapping[str, Any]) -> str:
    correlation = axis.get("canonical_correlation")
    shown = "" if correlation is None else f" (correlation {correlation:.3f})"
    return f"{shorten(axis['label'], 28)}{shown}"


def _fitted(separation: Mapping[str, Any], axes: Axes) -> None:
    pairs = thin(list(zip(separation["observed"], separation["fitted"])), MOST_POINTS)
    observed = [a for a, _ in pairs]
    ends = [min(observed, default=0.0), max(observed, default=1.0)]
    axes.plot(ends, ends, color=PALETTE["muted"], linewidth=1.2, linestyle=(0, (4, 3)))
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
