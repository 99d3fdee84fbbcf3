"""Points at one scale, and the rows that may become centers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthoselect.errors import InputError
from orthoselect.matrix.base import Floats, Indices

# Widths that are tried, in the root mean square of the distances between two rows.
_WIDTHS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
_LARGEST = 1e150  # deviation whose squares are numbers, as those of one over it are


@dataclass(frozen=True)
class Standard:
    """What inputs are divided by, shifted by and divided by again, all (p,).

    First by a power of two near the largest number, so that no square overflows or vanishes and no
    digit changes; `exponents` are those powers. Columns that do not vary stay as they are.
    """

    means: Floats
    scales: Floats
    exponents: Indices

    @classmethod
    def of(cls, X: Floats, weights: Floats | None, *, scaled: bool) -> Standard:
        """Return means and deviations; without scaling, means only: distances stay as they are."""
        exponents = np.frexp(np.abs(X).max(axis=0, initial=0.0))[1].astype(np.intp)
        near_one = np.ldexp(X, -exponents)
        means = np.average(near_one, axis=0, weights=weights)
        spreads = _spreads(near_one - means, weights)
        varies = spreads > 1e-12 * np.abs(near_one).max(axis=0, initial=0.0)
        if not scaled:
            _check_squares(np.ldexp(spreads, exponents)[varies])
        as_they_are = ~varies if scaled else np.ones(X.shape[1], dtype=bool)
        means = np.where(as_they_are, np.ldexp(means, exponents), means)
        exponents = np.where(as_they_are, 0, exponents)
        return cls(means, np.where(as_they_are, 1.0, spreads), exponents)

    def apply(self, X: Floats) -> Floats:
        """Return points at that scale, (N, p)."""
        return (np.ldexp(X, -self.exponents) - self.means) / self.scales


def _check_squares(spreads: Floats) -> None:
    wrong = spreads[(spreads > _LARGEST) | (spreads < 1 / _LARGEST)]
    if len(wrong):
        raise too_far(
            f"squares of distances should be numbers; an input has deviation {wrong[0]:.1g}"
        )


def too_far(what: str) -> InputError:
    """Return the error of distances that cannot be worked with."""
    return InputError(f"{what}. Rescale the inputs, or leave `standardize=True`.")


def _spreads(centered: Floats, weights: Floats | None) -> Floats:
    return np.sqrt(np.average(centered**2, axis=0, weights=weights))


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
