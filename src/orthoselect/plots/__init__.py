"""Charts of a selection and of a comparison, drawn with matplotlib on given axes.

In comes a part of the plain dictionaries that results give, out goes the axes it was drawn on;
`to_svg` turns a figure into SVG text for a page. matplotlib is loaded when something is drawn.

clusters: which features share their variation; frequencies: how often halves take each.
results: gains and correlations of a path, scores of a comparison.
distribution: rows against the response, along one feature and along all selected ones.
simulation: models over time against what was measured.
style: figures, colors and labels that all of them share; svg: figures for the inside of a page.
"""

from orthoselect.plots.clusters import draw_clusters
from orthoselect.plots.distribution import draw_distribution, draw_separation
from orthoselect.plots.frequencies import draw_frequencies
from orthoselect.plots.results import (
    draw_comparison,
    draw_correlations,
    draw_path,
    draw_path_by_step,
    draw_size_scores,
)
from orthoselect.plots.simulation import draw_simulation, draw_tests
from orthoselect.plots.style import PALETTE, new_axes, new_figure
from orthoselect.plots.svg import to_svg

__all__ = [
    "PALETTE",
    "draw_clusters",
    "draw_comparison",
    "draw_correlations",
    "draw_distribution",
    "draw_frequencies",
    "draw_path",
    "draw_path_by_step",
    "draw_separation",
    "draw_simulation",
    "draw_size_scores",
    "draw_tests",
    "new_axes",
    "new_figure",
    "to_svg",
]
