"""Models over time: measured against simulated, and the correlations of their residuals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from orthoselect.plots.style import DASHED, PALETTE, new_axes, new_figure, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_POINTS = 4000  # of a line; more than there are pixels to tell them apart
_WIDTH, _HEIGHT = 320, 150  # pixels of one test


class Correlations(Protocol):
    """Correlations at some lags, and the bound that they should stay within."""

    @property
    def name(self) -> str:
        """What is correlated."""
        ...

    @property
    def lags(self) -> tuple[int, ...]:
        """The lags."""
        ...

    @property
    def values(self) -> tuple[float, ...]:
        """The correlation at each lag."""
        ...

    @property
    def bound(self) -> float:
        """What most of them should stay within."""
        ...


def draw_simulation(
    measured: NDArray, simulated: NDArray, name: str, axes: Axes | None = None
) -> Axes:
    """Draw an output as measured, as simulated, and what is between them.

    Parameters
    ----------
    measured, simulated : arrays of shape (T,)
    name : str
        What the output is called.
    axes : matplotlib Axes, optional

    Returns
    -------
    axes : matplotlib Axes

    Examples
    --------
    >>> from orthoselect.plots import draw_simulation, new_figure
    >>> y = np.sin(np.arange(50.0))
    >>> axes = draw_simulation(y, 0.9 * y, "level", new_figure(400, 200).subplots())
    >>> axes.get_ylabel(), len(axes.lines)
    ('level', 3)
    """
    axes = new_axes(640, 240) if axes is None else axes
    step = max(1, len(measured) // _MOST_POINTS)
    at = np.arange(0, len(measured), step)
    lines = {
        "measured": (measured, PALETTE["series-2"], "-"),
        "simulated": (simulated, PALETTE["accent"], "-"),
        "difference": (measured - simulated, PALETTE["muted"], DASHED),
    }
    for label, (values, color, style) in lines.items():
        axes.plot(at, values[at], color=color, linestyle=style, linewidth=1.1, label=label)
    axes.set_xlabel("row")
    axes.set_ylabel(name)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)
    plain(axes, grid="y")
    return axes


def draw_tests(
    tests: Sequence[Correlations], figure: Figure | None = None, *, columns: int = 2
) -> Any:
    """Draw correlations of residuals, a panel each, with the bounds that 95 % should stay within.

    Parameters
    ----------
    tests : sequence of Correlations
    figure : matplotlib Figure, optional
    columns : int, default=2
        Panels side by side.

    Returns
    -------
    figure : matplotlib Figure

    Examples
    --------
    >>> from orthoselect.dynamics import CorrelationTest
    >>> len(draw_tests([CorrelationTest("e, e", (1, 2), (0.1, 0.0), 0.06)]).axes)
    1
    """
    n_rows = -(-len(tests) // columns)
    figure = new_figure(columns * _WIDTH, _HEIGHT * max(n_rows, 1)) if figure is None else figure
    panels = figure.subplots(n_rows, min(columns, len(tests)), squeeze=False).ravel()
    for axes, test in zip(panels, tests):
        axes.axhspan(-test.bound, test.bound, color=PALETTE["faint"])
        axes.vlines(test.lags, 0, test.values, color=PALETTE["accent"], linewidth=1.5)
        axes.axhline(0, color=PALETTE["muted"], linewidth=0.8)
        reach = 1.2 * max(2 * test.bound, *np.abs(test.values))
        axes.set_ylim(-reach, reach)
        axes.set_title(f"correlation of {test.name}", loc="left")
        axes.set_xlabel("lag")
        plain(axes)
    for axes in panels[len(tests) :]:
        axes.set_visible(False)
    return figure
