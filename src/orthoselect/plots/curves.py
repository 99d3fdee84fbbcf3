"""The curves of a comparison: score against the number of features, one color a method."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from orthoselect.plots.style import (
    PALETTE,
    ROW,
    End,
    legend,
    name_ends,
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

_AXES = 0.78  # of the figure, the height of the axes
Curve = Mapping[str, Any]
Point = tuple[float, float, int, str]  # size, score, the method's number and name


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
        ends = [End(*own[-1][:2], own[-1][3], series_color(own[-1][2])) for own in drawn]
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
    axes.plot(sizes, training, color=color, linewidth=1.1, linestyle=(0, (4, 3)), alpha=0.75)
    edge: dict[str, Any] = {"markeredgewidth": 0.8, "markeredgecolor": PALETTE["paper"]}
    marker = series_marker(number)
    axes.plot(sizes, scores, color=color, linewidth=2, marker=marker, markersize=6, **edge)


def _line_kinds(axes: Axes) -> None:
    """Say what solid and dashed mean; the band goes with the solid line."""
    from matplotlib.lines import Line2D

    color = PALETTE["muted"]
    solid = Line2D([], [], color=color, linewidth=2)
    dashed = Line2D([], [], color=color, linewidth=1.1, linestyle=(0, (4, 3)))
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
