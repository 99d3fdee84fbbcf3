"""Charts of a selection and of a comparison, drawn with matplotlib on given axes.

In comes a part of the plain dictionaries that results give, out goes the axes it was drawn on;
`to_svg` turns a figure into SVG text for a page. matplotlib is loaded when something is drawn.

totals: the gains of a path and their running total.
curves: scores of a comparison against the number of features.
distribution: one feature against the response; separation: all selected ones.
correlations: how alike the selected features are.
style: figures, colors and labels that all of them share; svg: figures for the inside of a page.
"""

from orthoselect.plots.correlations import draw_correlations
from orthoselect.plots.curves import draw_comparison
from orthoselect.plots.distribution import draw_distribution
from orthoselect.plots.separation import draw_separation
from orthoselect.plots.style import PALETTE, new_axes, new_figure
from orthoselect.plots.svg import to_svg
from orthoselect.plots.totals import draw_path, draw_path_by_step

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
