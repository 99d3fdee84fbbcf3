"""Selected pixels as images, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orthoselect.plots.style import PALETTE
from orthoselect.show.charts import NARROW, WIDE
from orthoselect_study.figures.base import Drawing, Size, head


def draw_maps(orders: Mapping[str, Sequence[int]], shape: tuple[int, int]) -> Drawing:
    """Return selected pixels as images, those selected first deepest."""
    n_wide, n_narrow = min(6, len(orders)), min(3, len(orders))

    def draw(canvas: Any, narrow: bool) -> None:
        columns = n_narrow if narrow else n_wide
        axes = canvas.subplots(-(-len(orders) // columns), columns, squeeze=False)
        for place in axes.flat:
            place.set_axis_off()
        for place, (method, pixels) in zip(axes.flat, orders.items()):
            place.set_axis_on()
            _draw_pixels(place, pixels, shape)
            head(place, method)

    def size(width: float, columns: int) -> Size:
        return width, -(-len(orders) // columns) * (width / columns + 22)

    return Drawing(draw, size(WIDE, n_wide), size(NARROW, n_narrow))


def _draw_pixels(axes: Any, pixels: Sequence[int], shape: tuple[int, int]) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Rectangle

    squares = [Rectangle((j % shape[1], j // shape[1]), 1, 1) for j in pixels]
    depths = [1 - 0.75 * step / max(len(pixels) - 1, 1) for step in range(len(pixels))]
    tints = [to_rgba(PALETTE["accent"], depth) for depth in depths]
    axes.add_collection(PatchCollection(squares, facecolors=tints, linewidths=0))
    axes.set_xlim(0, shape[1])
    axes.set_ylim(shape[0], 0)
    axes.set_aspect("equal")
    axes.set_facecolor("none")
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_color(PALETTE["line"])
