"""One feature against the response: its values by class, or the response along its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from orthoselect.errors import InputError
from orthoselect.plots.style import (
    PALETTE,
    clean,
    dots,
    name_rows,
    name_ticks,
    plain,
    series_color,
    shorten,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 12  # more rows than that are no longer compared by eye; the largest are shown
MOST_LEVELS = 10
MOST_POINTS = 400
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


def _rows(by_class: Sequence[Mapping[str, Any]], counts: Sequence[Sequence[int]]) -> list[Ridge]:
    found = []
    for place in largest([one["n"] for one in by_class]):
        total = sum(counts[place]) or 1
        found.append(Ridge(place, by_class[place]["class"], [n / total for n in counts[place]]))
    return found


def _numbers_by_class(distribution: Mapping[str, Any], axes: Axes, response: str) -> None:
    by_class = distribution["by_class"]
    draw_ridges(_rows(by_class, [one["counts"] for one in by_class]), distribution["edges"], axes)
    axes.locator_params(axis="x", nbins=5)


def _levels_by_class(distribution: Mapping[str, Any], axes: Axes, response: str) -> None:
    by_class = distribution["by_class"]
    names, counts = _common_levels(distribution["levels"], [one["counts"] for one in by_class])
    draw_ridges(_rows(by_class, counts), list(range(len(names) + 1)), axes, gap=0.25)
    middles = [place + 0.5 for place in range(len(names))]
    name_ticks(axes, "x", middles, [shorten(name, _LEVEL_WIDTH) for name in names])
    if slants(distribution):
        for text in axes.get_xticklabels():
            text.set(rotation=40, ha="right", rotation_mode="anchor")


def _common_levels(
    levels: Sequence[str], counts: Sequence[Sequence[int]]
) -> tuple[list[str], list[list[int]]]:
    """Return the commonest levels, in their own order, the rest counted together."""
    if len(levels) <= MOST_LEVELS:
        return list(levels), [list(one) for one in counts]
    frequent = sorted(range(len(levels)), key=lambda place: -sum(one[place] for one in counts))
    kept = sorted(frequent[: MOST_LEVELS - 1])
    others = frequent[MOST_LEVELS - 1 :]
    names = [levels[place] for place in kept] + [f"{len(others)} more"]
    return names, [[one[p] for p in kept] + [sum(one[p] for p in others)] for one in counts]


def thin(points: Sequence[Any], most: int) -> list[Any]:
    """Return at most so many of the points, evenly from first to last.

    Examples
    --------
    >>> thin(range(10), 5)
    [0, 2, 4, 6, 8]
    """
    if len(points) <= most:
        return list(points)
    return [points[place * len(points) // most] for place in range(most)]


def _response_along(distribution: Mapping[str, Any], axes: Axes, response: str) -> None:
    points = thin(distribution["points"], MOST_POINTS)
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
    shown = largest(distribution["n"])
    for place, level in enumerate(shown):
        low, middle, high = distribution["quartiles"][level]
        if middle is None:
            continue
        axes.barh(-place, high - low, left=low, height=0.5, color=PALETTE["faint"])
        axes.plot([middle], [-place], marker="D", markersize=6, color=PALETTE["accent"])
    axes.set_ylim(-len(shown) + 0.4, 0.6)
    axes.set_xlabel(response)
    axes.locator_params(axis="x", nbins=5)
    plain(axes, grid="x")
    names = [shorten(distribution["levels"][level], 16) for level in shown]
    name_rows(axes, [-place for place in range(len(shown))], names)


@dataclass(frozen=True)
class Ridge:
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


def draw_ridges(
    rows: Sequence[Ridge], edges: Sequence[float], axes: Axes, gap: float = 0.0
) -> None:
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
    feet = [-float(place) for place in range(len(rows))]
    axes.hlines(feet, edges[0], edges[-1], color=PALETTE["line"], linewidth=1)
    axes.set_ylim(-len(rows) + 0.9, 0.95)
    middle = [0.3 - place for place in range(len(rows))]
    name_rows(axes, middle, [shorten(row.name, 16) for row in rows])


def _heights(shares: Sequence[float], edges: Sequence[float]) -> list[float]:
    """Share over width, so that wide bins do not look full."""
    widths = [b - a for a, b in pairwise(edges)]
    return [share / width if width > 0 else 0.0 for share, width in zip(shares, widths)]
