"""How alike the selected features are: the lower half of their correlation matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from orthoselect.plots.style import PALETTE, SMALL, name_rows, name_ticks, plain, shorten, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DEEPEST = 0.62  # the tint of a correlation of 1: what is written on it stays readable


def draw_correlations(
    correlations: Mapping[str, Any],
    axes: Axes,
    *,
    name_width: int = 24,
    with_numbers: bool = True,
) -> Axes:
    """Draw one cell for each pair of features, the deeper the stronger their correlation.

    Parameters
    ----------
    correlations : mapping
        `names`, `matrix`, and `signed`, which tells where a sign has a meaning.
    axes : matplotlib Axes
    name_width : int, default=24
        The most characters of a name; longer ones lose their middle. 0 for places only.
    with_numbers : bool, default=True
        Whether the cells hold their numbers.

    Returns
    -------
    axes : matplotlib Axes

    Examples
    --------
    >>> from orthoselect.plots import draw_correlations, new_figure
    >>> pair = {"names": ["a", "b"], "matrix": [[1, -0.5], [-0.5, 1]], "signed": [[True] * 2] * 2}
    >>> axes = draw_correlations(pair, new_figure(200, 200).subplots())
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['1  a', '2  b']
    """
    names, matrix = correlations["names"], correlations["matrix"]
    pairs = [(row, column) for row in range(len(names)) for column in range(row + 1)]
    _draw_cells([(row, column, matrix[row][column]) for row, column in pairs], axes)
    for row, column in pairs if with_numbers else ():
        if row != column:
            shown = _written(matrix[row][column], correlations["signed"][row][column])
            write(axes, column, row, shown, ha="center", va="center", fontsize=SMALL - 1)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_aspect("equal")
    plain(axes)
    places = range(len(names))
    named = [f"  {shorten(name, name_width)}" if name_width else "" for name in names]
    name_rows(axes, places, [f"{n + 1}{named[n]}" for n in places])
    name_ticks(axes, "x", places, [str(n + 1) for n in places])
    return axes


def _draw_cells(cells: Sequence[tuple[int, int, float | None]], axes: Axes) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    squares = [Rectangle((column - 0.47, row - 0.47), 0.94, 0.94) for row, column, _ in cells]
    colors = [_color(value if row != column else None) for row, column, value in cells]
    axes.add_collection(PatchCollection(squares, facecolors=colors, linewidths=0))


def _color(value: float | None) -> tuple[float, float, float, float]:
    """Return the tint of a cell; gray where there is nothing to compare."""
    from matplotlib.colors import to_rgba

    if value is None:
        return to_rgba(PALETTE["line"])
    depth = 0.03 + _DEEPEST * min(abs(value), 1.0)
    return to_rgba(PALETTE["plus"] if value >= 0 else PALETTE["minus"], depth)


def _written(value: float | None, signed: bool) -> str:
    """Two decimals, with a sign where it has a meaning."""
    if value is None:
        return "\N{EN DASH}"
    negative = signed and value < -0.005
    return f"\N{MINUS SIGN}{-value:.2f}" if negative else f"{abs(value):.2f}"
