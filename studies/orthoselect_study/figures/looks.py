"""One look for a method in all figures: color, dash, marker."""

from __future__ import annotations

from typing import Any

from orthoselect.plots.style import PALETTE, series_color, series_marker

_SOLID, _DASHED, _DOTTED = "-", (0, (4, 2)), (0, (1, 1.5))
# The number of its color, and its dash; kin share a color.
_LOOKS: dict[str, tuple[int, Any]] = {
    "OLS": (0, _SOLID),
    "OLSd": (0, _DASHED),
    "mRMRd": (4, _SOLID),
    "mRMRq": (4, _DASHED),
    "MIM": (7, _SOLID),
    "JMI": (2, _SOLID),
    "CMIM": (1, _SOLID),
    "CIFE": (3, _SOLID),
    "ICAP": (3, _DASHED),
    "DISR": (2, _DASHED),
    "LASSO": (6, _SOLID),
    "Net": (6, _DASHED),
    "OBCC": (5, _SOLID),
    "Shapley": (1, _DASHED),
}
_OTHER = (7, _DOTTED)


def look(method: str) -> dict[str, Any]:
    """Return color, dash, width and marker of a method's line.

    Examples
    --------
    >>> look("OLS")["color"] == look("OLSd")["color"]
    True
    >>> look("OLS")["linewidth"] > look("MIM")["linewidth"]
    True
    """
    number, dash = _LOOKS.get(method, _OTHER)
    first = dash == _SOLID
    return {
        "color": series_color(number),
        "linestyle": dash,
        "linewidth": 2.4 if method == "OLS" else 1.3,
        "marker": series_marker(number if first else number + 3),
        "markersize": 5.5 if method == "OLS" else 4.5,
        "markeredgewidth": 0.6,
        "markeredgecolor": PALETTE["paper"],
    }
