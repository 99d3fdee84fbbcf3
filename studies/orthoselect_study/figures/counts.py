"""Counts of successes with their errors, beside those of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orthoselect.plots.style import PALETTE, legend, name_ticks, plain
from orthoselect.show.charts import NARROW, WIDE
from orthoselect_study.figures.base import Drawing


def draw_counts(
    ours: Mapping[str, tuple[float, float]],
    spread: Mapping[str, Sequence[float]],
    paper: Mapping[str, float],
    label: str,
) -> Drawing:
    """Return counts with their errors beside those of the paper, a line for each method.

    Parameters
    ----------
    ours : mapping of method to count and standard error
    spread : mapping of method to the counts of the batches
    paper : mapping of method to the printed count
    label : str
    """
    dots = {"linestyle": "", "markeredgewidth": 0}
    batch = {**dots, "marker": "o", "markersize": 4, "color": PALETTE["accent"], "alpha": 0.5}
    mine = {"fmt": "o", "color": PALETTE["accent"], "markersize": 7.5}
    mine |= {"ecolor": PALETTE["faint"], "elinewidth": 4}
    printed = {**dots, "marker": "D", "markersize": 6, "color": PALETTE["minus"]}

    def draw(canvas: Any, narrow: bool) -> None:
        axes = canvas.subplots()
        for at, (method, (count, error)) in enumerate(ours.items()):
            axes.plot(spread[method], [at - 0.28] * len(spread[method]), **batch)
            drawn = axes.errorbar(count, at, xerr=2 * error, **mine)
            if method in paper:
                axes.plot(paper[method], at + 0.28, **printed)
        names = ["ours, ± 2 standard errors", "ours, each batch", "paper"]
        handles = [drawn, axes.plot([], [], **batch)[0], axes.plot([], [], **printed)[0]]
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0}
        legend(axes, handles, names, ncols=1 if narrow else 3, **place)
        axes.set_xlabel(label)
        plain(axes, grid="x")
        name_ticks(axes, "y", range(len(ours)), list(ours))
        axes.tick_params(axis="y", labelcolor=PALETTE["ink"])
        axes.set_ylim(len(ours) - 0.4, -0.6)

    height = 27 * len(ours)
    return Drawing(draw, (WIDE, 90 + height), (NARROW, 125 + height))
