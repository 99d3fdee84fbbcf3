"""Points at one scale, and the rows that may become centers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthoselect.errors import InputError
from orthoselect.matrix.base import Floats, Indices

# Widths that are tried, in the root mean square of the distances between two rows.
_WIDTHS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True)
class Standard:
    """What inputs are shifted and scaled by, both (p,)."""

    means: Floats
    scales: Floats

    @classmethod
    def of(cls, X: Floats, weights: Floats | None, *, scaled: bool) -> Standard:
        """Return means and deviations; without scaling, means only: distances stay as they are."""
        means = np.average(X, axis=0, weights=weights)
        if not np.isfinite(means).all():
            raise InputError("inputs should be far below the largest number; rescale them.")
        spreads = _spreads(X - means, weights)
        varies = spreads > 1e-12 * np.abs(X).max(axis=0, initial=0.0)
        scales = np.where(varies, spreads, 1.0) if scaled else np.ones(X.shape[1])
        return cls(means, scales)

    def apply(self, X: Floats) -> Floats:
        """Return points at that scale, (N, p)."""
        return (X - self.means) / self.scales


def _spreads(centered: Floats, weights: Floats | None) -> Floats:
    with np.errstate(over="ignore"):
        spreads = np.sqrt(np.average(centered**2, axis=0, weights=weights))
    if not np.isfinite(spreads).all():
        raise InputError("squares of inputs should be finite; they overflow. Rescale the inputs.")
    return spreads


def widths_to_try(points: Floats, weights: Floats | None) -> list[float]:
    """Return a grid of widths around the root mean square of distances between two rows.

    Examples
    --------
    >>> widths_to_try(np.array([[-1.0], [1.0]]), None)[3] ** 2
    2.0000000000000004
    """
    centered = points - np.average(points, axis=0, weights=weights)
    usual = float(np.sqrt(2 * (_spreads(centered, weights) ** 2).sum()))
    return [factor * usual for factor in _WIDTHS] if usual > 0 else [1.0]


def candidate_rows(
    points: Floats, weights: Floats | None, most: int | None, random_state: int
) -> Indices:
    """Return the rows that may become centers: unlike points with weight, at most so many.

    Of equal points the first stands for all. Which are drawn does not depend on the order of rows.

    Examples
    --------
    >>> candidate_rows(np.array([[1.0], [2.0], [1.0]]), None, None, 0)
    array([0, 1])
    """
    rows = np.arange(len(points)) if weights is None else np.flatnonzero(weights > 0)
    first = rows[np.unique(points[rows], axis=0, return_index=True)[1]]  # in the order of points
    if most is not None and most < len(first):
        first = np.random.default_rng(random_state).choice(first, most, replace=False)
    return np.sort(first)
