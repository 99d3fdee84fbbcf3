"""Bars in groups, each with its number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from orthoselect.plots.style import PALETTE, name_ticks, plain, write
from orthoselect.show.charts import NARROW, WIDE
from orthoselect_study.figures.base import Drawing, head


def draw_bars(
    groups: Mapping[str, Mapping[str, float]],
    label: str,
    *,
    best: Callable[..., float],
    logarithmic: bool = False,
) -> Drawing:
    """Return a bar for each number of each group, the best of a group (`min`, `max`) stronger."""
    groups = {title: group for title, group in groups.items() if group}
    sizes = [len(group) for group in groups.values()]

    def draw(canvas: Any, narrow: bool) -> None:
        from matplotlib.ticker import LogLocator

        axes = canvas.subplots(len(groups), squeeze=False, sharex=True, height_ratios=sizes)[:, 0]
        # Values stand right of their bars: room for them is left there.
        largest = max(max(group.values()) for group in groups.values())
        for place, (title, group) in zip(axes, groups.items()):
            _draw_group(place, group, best(group.values()))
            head(place, title)
            if logarithmic:
                place.set_xscale("log")
                place.xaxis.set_major_locator(LogLocator(numticks=4 if narrow else 7))
                place.xaxis.set_major_formatter(
                    lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"
                )
                place.set_xlim(right=largest * (20 if narrow else 5))
            else:
                place.set_xlim(0, largest * (1.25 if narrow else 1.12))
        axes[-1].set_xlabel(label)

    height = 50 + 24 * sum(sizes) + 32 * len(groups)
    return Drawing(draw, (WIDE, height), (NARROW, height))


def _draw_group(axes: Any, group: Mapping[str, float], best: float) -> None:
    for at, value in enumerate(group.values()):
        color = PALETTE["accent" if value == best else "faint"]
        axes.barh(at, value, 0.62, color=color)
        beside = {"xytext": (5, 0), "textcoords": "offset points", "va": "center"}
        write(axes, value, at, _short(value), **beside)
    plain(axes, grid="x")
    axes.tick_params(which="minor", length=0)
    name_ticks(axes, "y", range(len(group)), list(group))
    axes.tick_params(axis="y", labelcolor=PALETTE["ink"])
    axes.set_ylim(len(group) - 0.5, -0.5)


def _short(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= 1 else f"{value:.3f}"
