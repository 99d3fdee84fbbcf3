"""The charts of a page: each drawn for wide screens and paper, most once more for phones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from orthoselect.plots import (
    draw_clusters,
    draw_comparison,
    draw_correlations,
    draw_distribution,
    draw_frequencies,
    draw_path_by_step,
    draw_separation,
    draw_size_scores,
    new_figure,
    to_svg,
)
from orthoselect.plots.distribution import MOST_ROWS, n_rows, slants
from orthoselect.plots.style import N_COLORS, clean, series_marker, shorten
from orthoselect.result.findings import score_name

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

WIDE, NARROW = 750, 330
MOST_DISTRIBUTIONS = 30
MOST_CORRELATED = 30
MOST_FREQUENT = 30
_CARD = 340  # width of the chart of one feature; two stand side by side on a wide screen

_SHAPES = {
    "o": '<circle cx="7" cy="7" r="5"/>',
    "s": '<rect x="2.5" y="2.5" width="9" height="9"/>',
    "^": '<path d="M7 1.5 12.5 12h-11z"/>',
    "D": '<path d="M7 1 13 7 7 13 1 7z"/>',
    "v": '<path d="M7 12.5 12.5 2h-11z"/>',
    "P": '<path d="M5 1.5h4V5h3.5v4H9v3.5H5V9H1.5V5H5z"/>',
    "X": '<path d="M4.2 1.5 7 4.3 9.8 1.5l2.7 2.7L9.7 7l2.8 2.8-2.7 2.7L7 9.7l-2.8 2.8-2.7-2.7L4.3 7 1.5 4.2z"/>',  # noqa: E501
    "*": '<path d="m7 .8 1.7 4h4.4L9.6 7.6l1.3 4.6L7 9.6l-3.9 2.6 1.3-4.6L.9 4.8h4.4z"/>',
}

Draw = Callable[["Axes"], Any]
Size = tuple[float, float]


def swatch(number: int) -> Markup:
    """Return the marker of a series in its color, as the charts draw it."""
    from markupsafe import Markup

    color = f"var(--chart-series-{number % N_COLORS + 1})"
    shape = _SHAPES[series_marker(number)]
    return Markup(
        f'<svg class="swatch" viewBox="0 0 14 14" aria-hidden="true" style="fill: {color}">'
        f"{shape}</svg>"
    )


def path_chart(summary: Mapping[str, Any]) -> Markup:
    """Return gains, and their running total if they add up, against the number of features."""
    steps = summary["steps"]
    adds_up = summary["adds_up"]
    what = (
        f"Running total after each of {len(steps)} steps with the gain of each step as a bar"
        if adds_up
        else f"The score of each of {len(steps)} features at its step as a bar"
    )
    label = f"{what}; the numbers are in the table of the path."
    looks = {"reachable": summary.get("reachable"), "with_total": adds_up}
    draw = partial(draw_path_by_step, steps, summary["ceiling"], **looks)
    return _both("path", label, (WIDE, 250), (NARROW, 230), draw)


def separation_chart(separation: Mapping[str, Any]) -> Markup:
    """Return the rows along the discriminant directions, or fitted against observed."""
    draw = partial(draw_separation, separation)
    if separation["kind"] == "numbers":
        label = f"Fitted against observed {clean(separation['response'])}."
        return _both("separation", label, (560, 430), (NARROW, 310), draw)
    if len(separation["axes"]) == 1:
        label = "Histogram of each class along the discriminant direction."
        rows = min(len(separation["classes"]), MOST_ROWS)
        height = 70 + rows * (80 if rows <= 3 else 44)
        return _both("separation", label, (WIDE, height), (NARROW, height), draw)
    label = "Rows on the first two discriminant directions, one marker and color a class."
    return _both("separation", label, (WIDE, 500), (NARROW, 320), draw)


def distribution_charts(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one small chart for each of the first selected features."""
    charts, response = [], summary["responses"][0]["name"]
    for number, one in enumerate(summary["distributions"][:MOST_DISTRIBUTIONS]):
        draw = partial(draw_distribution, one, response=response)
        rows = n_rows(one)
        height = 46 + rows * (44 if rows <= 3 else 26) if rows else 230
        height += 50 * slants(one)
        label = f"Distribution of {clean(one['name'])}: {_DISTRIBUTION_LABELS[one['kind']]}"
        charts.append({"name": one["name"], "svg": _one(f"d{number}", label, draw, _CARD, height)})
    return charts


_DISTRIBUTION_LABELS = {
    "numeric": "a histogram for each class.",
    "categorical": "the share of each level in each class.",
    "numeric-response": "the response against its values, with the mean in each bin.",
    "categorical-response": "quartiles of the response at each level.",
}


def cluster_chart(clusters: Mapping[str, Any]) -> Markup:
    """Return the tree of features that say the same."""
    n = len(clusters["names"])
    label = f"Tree of {n} features, which join where they share variation."
    height = 56 + 24 * n
    draw = partial(draw_clusters, clusters)
    small = partial(draw_clusters, clusters, name_width=18)
    return _both("clusters", label, (WIDE, height), (NARROW, height), draw, small)


def correlation_chart(correlations: Mapping[str, Any]) -> Markup:
    """Return the correlation map of the first selected features."""
    n = min(len(correlations["names"]), MOST_CORRELATED)
    part = {
        "names": correlations["names"][:n],
        "matrix": [row[:n] for row in correlations["matrix"][:n]],
        "signed": [row[:n] for row in correlations["signed"][:n]],
    }
    cell = 46 if n <= 10 else 40 if n <= 16 else 18
    names = max(7 * len(shorten(name, 28)) for name in part["names"]) + 34
    label = f"Correlations between the {n} selected features, one cell a pair."
    wide = (min(names + n * cell, WIDE), n * cell + 40)
    side = min(46 * n, NARROW - 30)
    draw = partial(draw_correlations, part, name_width=28, with_numbers=n <= 16)
    small = partial(draw_correlations, part, name_width=0, with_numbers=n <= 10)
    return _both("correlations", label, wide, (side + 30, side + 30), draw, small)


def comparison_chart(comparison: Mapping[str, Any]) -> Markup:
    """Return the curves of all methods."""
    methods = [method["name"] for method in comparison["methods"]]
    score = score_name(comparison["scoring"])
    looks = {
        "scoring": score,
        "methods": methods,
        "baselines": comparison["baselines"],
    }
    draw = partial(draw_comparison, comparison["curves"], **looks)
    label = (
        f"{clean(score)} of {len(methods)} methods against the number of features; "
        "the numbers are in the table of scores."
    )
    small = partial(draw, with_names=False)
    return _both("curves", label, (WIDE, 440), (NARROW, 320), draw, small)


def size_chart(sizes: Mapping[str, Any]) -> Markup:
    """Return the scores of sizes, the chosen and the best marked."""
    label = (
        f"{clean(sizes['score_name'])} against the number of features; {sizes['chosen']} chosen, "
        f"{sizes['best']} the best. The numbers are in the table of sizes."
    )
    draw = partial(draw_size_scores, sizes)
    small = partial(draw, with_names=False)
    return _both("sizes", label, (WIDE, 360), (NARROW, 300), draw, small)


def frequency_chart(summary: Mapping[str, Any]) -> Markup:
    """Return how often halves take the most frequent features, and the threshold."""
    sets = {name: one["frequency"] for one in summary["substitutes"] for name in one["names"]}
    drawn = [one for one in summary["features"] if one["frequency"] > 0][:MOST_FREQUENT]
    rows = [{**one, "set_frequency": sets.get(one["name"])} for one in drawn]
    label = (
        f"Share of {summary['n_halves']} halves that take each of {len(rows)} features, as bars "
        f"with the threshold; the numbers are in the table of all features."
    )
    height = 76 + 24 * len(rows)
    draw = partial(draw_frequencies, rows, summary["threshold"])
    small = partial(draw_frequencies, rows, summary["threshold"], name_width=16)
    return _both("frequencies", label, (WIDE, height), (NARROW, height), draw, small)


def _both(
    name: str, label: str, wide: Size, narrow: Size, draw: Draw, small: Draw | None = None
) -> Markup:
    """Return a chart drawn on both widths, on the narrow one by `small` if that is given."""
    return in_two_widths(
        _one(f"{name}-w", label, draw, *wide), _one(f"{name}-n", label, small or draw, *narrow)
    )


def in_two_widths(wide: str, narrow: str) -> Markup:
    """Return a chart drawn twice as SVG, of which the style sheet shows the one that fits."""
    from markupsafe import Markup

    return Markup(
        f'<div class="chart on-wide">{wide}</div>\n<div class="chart on-narrow">{narrow}</div>'
    )


def _one(name: str, label: str, draw: Draw, width: float, height: float) -> Markup:
    from markupsafe import Markup

    figure = new_figure(width, height)
    draw(axes=figure.subplots())  # type: ignore[call-arg]
    return Markup(to_svg(figure, label, prefix=name))
