"""Figures from results: drawn on demand, as PNG and SVG files and for the inside of a page.

All colors are those of the charts' palette, so that figures follow the page to dark and to print.
"""

from orthoselect_study.figures.bars import draw_bars
from orthoselect_study.figures.base import Drawing, Figure
from orthoselect_study.figures.counts import draw_counts
from orthoselect_study.figures.curves import Curve, draw_curves
from orthoselect_study.figures.looks import look
from orthoselect_study.figures.maps import draw_maps
from orthoselect_study.figures.ranks import draw_ranks

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
