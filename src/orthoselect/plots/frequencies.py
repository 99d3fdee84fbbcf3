"""How often halves of the rows take each feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from orthoselect.plots.style import DASHED, PALETTE, name_rows, plain, shorten, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_frequencies(
    features: Sequence[Mapping[str, Any]], threshold: float, axes: Axes, *, name_width: int = 32
) -> Axes:
    """Draw a bar for each feature, and the threshold across them.

    Bars of chosen features are full, others pale; a ring shows how often any of a set of
    substitutes is taken.

    Parameters
    ----------
    features : sequence of mapping
        `name`, `frequency`, `chosen`, and `set_frequency`, None for a feature without substitutes.
    threshold : float
    axes : matplotlib Axes
    name_width : int, default=32
        The most characters of a name; longer ones lose their middle.

    Returns
    -------
    axes : matplotlib Axes

    Examples
    --------
    >>> from orthoselect.plots import draw_frequencies, new_figure
    >>> age = {"name": "age", "frequency": 0.9, "chosen": True, "set_frequency": None}
    >>> draw_frequencies([age], 0.75, new_figure(400, 100).subplots()).get_xlabel()
    'share of halves'
    """
    rows = range(len(features))
    colors = [PALETTE["accent" if one["chosen"] else "faint"] for one in features]
    axes.barh(rows, [one["frequency"] for one in features], height=0.62, color=colors)
    rings = [(one["set_frequency"], row) for row, one in enumerate(features)]
    rings = [ring for ring in rings if ring[0] is not None]
    if rings:
        looks: dict[str, Any] = {"marker": "o", "markersize": 7, "linestyle": ""}
        looks |= {"markerfacecolor": PALETTE["paper"], "markeredgewidth": 1.5, "zorder": 3}
        places, at = zip(*rings)
        axes.plot(places, at, markeredgecolor=PALETTE["minus"], clip_on=False, **looks)
    axes.axvline(threshold, color=PALETTE["muted"], linestyle=DASHED, linewidth=1.2)
    axes.set_xlim(0, 1.02)
    axes.set_ylim(max(len(features), 1) - 0.4, -0.6)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
    axes.set_xlabel("share of halves" + ("; ring: any of its set" * bool(rings)))
    plain(axes, grid="x")
    name_rows(axes, rows, [shorten(one["name"], name_width) for one in features])
    above = axes.get_xaxis_transform()
    looks = {"ha": "right", "va": "bottom", "xytext": (0, 3), "textcoords": "offset points"}
    words = f"threshold {threshold:.4g}"
    write(axes, threshold, 1.0, words, color=PALETTE["muted"], xycoords=above, **looks)
    return axes
