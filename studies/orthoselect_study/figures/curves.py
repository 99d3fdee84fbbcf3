"""Scores against the number of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orthoselect.plots.ends import End, name_ends
from orthoselect.plots.style import plain, whole_numbers
from orthoselect.show.charts import NARROW, WIDE
from orthoselect_study.figures.base import Drawing, head
from orthoselect_study.figures.looks import look

Curve = tuple[Sequence[int], Sequence[float]]
_PANEL, _AROUND_PANEL = 195, 62  # pixels: the height of a panel, of its title and numbers


def draw_curves(panels: Mapping[str, Mapping[str, Mapping[str, Curve]]], score: str) -> Drawing:
    """Return scores against the number of features, methods named at the ends.

    Parameters
    ----------
    panels : mapping
        For each row of panels (a data set), for each panel of it (training, validation), the curve
        of each method: sizes and scores.
    score : str
    """
    n_columns = max(len(row) for row in panels.values())
    row = _PANEL + _AROUND_PANEL

    def draw(canvas: Any, narrow: bool) -> None:
        shape = (len(panels) * n_columns, 1) if narrow else (len(panels), n_columns)
        axes = canvas.subplots(*shape, squeeze=False).reshape(len(panels), n_columns)
        for line, (title, parts) in zip(axes, panels.items()):
            for place, (part, methods) in zip(line, parts.items()):
                _draw_panel(place, methods)
                head(place, f"{title}, {part}")
                place.set_ylabel(score if narrow or place is line[0] else "")
            _same_scale(line)
            ends = _ends(list(parts.values())[-1])
            name_ends(ends, line[len(parts) - 1], _PANEL)

    heights = 10 + row * len(panels), 10 + row * len(panels) * n_columns
    return Drawing(draw, (WIDE, heights[0]), (NARROW, heights[1]))


def _draw_panel(axes: Any, methods: Mapping[str, Curve]) -> None:
    for method, (sizes, scores) in methods.items():
        looks = {**look(method), "markevery": max(1, len(sizes) // 6)}
        axes.plot(sizes, scores, zorder=3 if method == "OLS" else 2, **looks)
    whole_numbers(axes)
    axes.set_xlabel("number of features")
    plain(axes, grid="y")


def _ends(methods: Mapping[str, Curve]) -> list[End]:
    return [
        End(sizes[-1], scores[-1], method, look(method)["color"], look(method)["linestyle"])
        for method, (sizes, scores) in methods.items()
        if sizes
    ]


def _same_scale(line: Sequence[Any]) -> None:
    limits = [limit for place in line for limit in place.get_ylim()]
    for place in line:
        place.set_ylim(min(limits), max(limits))
