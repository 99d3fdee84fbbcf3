"""Charts of a selection and of a comparison, drawn with matplotlib on given axes.

Every function takes a part of the plain dictionaries that results give and returns its axes;
`to_svg` turns a figure into SVG text for a page. matplotlib is loaded when something is drawn.
"""

from orthoselect.plots.comparison import draw_comparison
from orthoselect.plots.correlations import draw_correlations
from orthoselect.plots.distribution import draw_distribution
from orthoselect.plots.path import draw_path, draw_path_by_step
from orthoselect.plots.separation import draw_separation
from orthoselect.plots.style import PALETTE, new_axes, new_figure
from orthoselect.plots.svg import to_svg

__all__ = [
    "PALETTE",
    "draw_comparison",
    "draw_correlations",
    "draw_distribution",
    "draw_path",
    "draw_path_by_step",
    "draw_separation",
    "new_axes",
    "new_figure",
    "to_svg",
]
