"""Numbers as JSON can hold them, and as people read them."""

from __future__ import annotations

import math


def number(value: float) -> float | None:
    """Return a plain float; None for what JSON has no number for.

    Examples
    --------
    >>> number(float("nan")), number(0.25)
    (None, 0.25)
    """
    return float(value) if math.isfinite(value) else None


def brief(value: float) -> float:
    """Round to what a point in a picture needs, six digits.

    Examples
    --------
    >>> brief(12345678.9), brief(0.1 + 0.2)
    (12345700.0, 0.3)
    """
    return float(f"{value:.6g}")


def percent(share: float) -> str:
    """Write a share for people.

    Examples
    --------
    >>> percent(0.7716)
    '77.2 %'
    """
    return f"{100 * min(max(share, 0.0), 1.0):.1f} %"
