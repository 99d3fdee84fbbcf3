"""One feature against the response: its values by class, or the response along its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from orthoselect.errors import InputError
from orthoselect.plots.ridges import MOST_ROWS, Row, draw_ridges, largest
from orthoselect.plots.style import PALETTE, clean, name_ticks, plain, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


def _rows(by_class: Sequence[Mapping[str, Any]], counts: Sequence[Sequence[int]]) -> list[Row]:
    shown = largest([one["n"] for one in by_class])
    return [
        Row(place, by_class[place]["class"], [n / (sum(counts[place]) or 1) for n in counts[place]])
        for place in shown
    ]


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
    axes.plot(
        [x for x, _ in points],
        [y for _, y in points],
        linestyle="",
        marker="o",
        markersize=3.4,
        markeredgewidth=0,
        color=PALETTE["plus"],
        alpha=0.4,
    )
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
    name_ticks(axes, "y", [-place for place in range(len(shown))], names)
    axes.tick_params(axis="y", labelcolor=PALETTE["ink"])
