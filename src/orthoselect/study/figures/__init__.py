"""Figures from results: drawn on demand, as PNG and SVG files and for the inside of a page.

All colors are those of the charts' palette, so that figures follow the page to dark and to print.
"""

from orthoselect.study.figures.bars import draw_bars
from orthoselect.study.figures.base import Drawing, Figure
from orthoselect.study.figures.counts import draw_counts
from orthoselect.study.figures.curves import Curve, draw_curves
from orthoselect.study.figures.looks import look
from orthoselect.study.figures.maps import draw_maps
from orthoselect.study.figures.ranks import draw_ranks

__all__ = [
    "Curve",
    "Drawing",
    "Figure",
    "draw_bars",
    "draw_counts",
    "draw_curves",
    "draw_maps",
    "draw_ranks",
    "look",
]
