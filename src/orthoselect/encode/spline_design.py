"""Numeric columns as natural splines, each a block: a design that bends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from orthoselect.encode.table import (
    Design,
    Table,
    arrange,
    check_finite_numbers,
    check_levels,
    find_features,
    indicators,
)
from orthoselect.errors import InputError
from orthoselect.matrix import Matrix, SparseMatrix, StackedMatrix
from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.dense import DenseMatrix
from orthoselect.matrix.splines import Spline, SplineMatrix, column_precision, stored_column

FEWEST_KNOTS, MOST_KNOTS = 3, 20
# Shares of the rows below the outer knots, and above: few rows say little of the ends.
_OUTER, _OUTER_OF_THREE = 0.05, 0.1
_LEAST_GAP = 1e-4  # between knots, as a share of the distance of the outer ones
_LEAST_WIDTH = 1e-9  # of the distance between outer knots, relative to their size


def check_knots(n_knots: Any) -> int:
    """Return a number of knots; raise for one that makes no sense."""
    is_whole = isinstance(n_knots, (int, np.integer)) and not isinstance(n_knots, bool)
    if not is_whole or not FEWEST_KNOTS <= n_knots <= MOST_KNOTS:
        raise InputError(
            f"`n_knots` should be a whole number from {FEWEST_KNOTS} to {MOST_KNOTS}; got "
            f"{n_knots!r}. 5 are usual; with two a spline is a line, which is method 'socc'."
        )
    return int(n_knots)


def find_knots(x: Floats, n_knots: int, weights: Floats | None = None) -> Floats:
    """Return knots of a column: values of it, rising, at most `n_knots`; one if it is constant.

    They stand at quantiles, the outer ones at 5 and 95 percent of the rows (of three knots at 10
    and 90), as Harrell proposes. Where values repeat, several may fall together, and there are
    fewer. A column of no more distinct values than that has a knot at each.

    Examples
    --------
    >>> find_knots(np.arange(101.0), 5)
    array([ 5. , 27.5, 50. , 72.5, 95. ])
    >>> find_knots(np.array([0.0, 1.0, 1.0, 0.0]), 5)
    array([0., 1.])
    """
    values, counts = _distinct(x, weights)
    if len(values) <= n_knots:
        return values
    outer = _OUTER_OF_THREE if n_knots == 3 else _OUTER
    shares = np.linspace(outer, 1 - outer, n_knots)
    reached = np.cumsum(counts)
    at = shares * max(float(reached[-1]) - 1, 0.0)  # places among the rows, each with its copies
    below, last = np.floor(at), len(values) - 1
    low = values[np.minimum(np.searchsorted(reached, below, side="right"), last)]
    high = values[np.minimum(np.searchsorted(reached, below + 1, side="right"), last)]
    knots = np.unique(low + (at - below) * (high - low))
    if len(knots) < 2:  # one value is most of the rows: what is left is a line
        return values[[0, -1]]
    apart = np.append(True, np.diff(knots) > _LEAST_GAP * (knots[-1] - knots[0]))
    return knots[apart]


def _distinct(x: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
    """Return the values that occur, rising, and how often: the sum of their weights."""
    if weights is None:
        values, counts = np.unique(x, return_counts=True)
        return values, counts.astype(np.float64)
    live = weights > 0
    values, inverse = np.unique(x[live], return_inverse=True)
    counts = np.bincount(inverse.reshape(-1), weights[live], minlength=len(values))
    return values, counts.astype(np.float64)


def build_spline_design(
    table: Table,
    groups: Mapping[str, Sequence[int]],
    exclude: set[int],
    n_knots: int,
    weights: Floats | None = None,
) -> Design:
    """Set the splines of numeric columns and the indicators of levels side by side.

    Parameters
    ----------
    table : Table
        In memory.
    groups : mapping of str to input columns
    exclude : set of input columns
        Columns that no feature owns.
    n_knots : int
        Knots of a column at most; one less is how many columns its splines are.
    weights : array of shape (N,), optional
        Row weights; rows without weight have no part in the knots.

    Examples
    --------
    >>> x = np.column_stack([np.arange(50.0), np.arange(50) % 2])
    >>> design = build_spline_design(Table(50, ["a", "b"], x, np.arange(2), {}), {}, set(), 5)
    >>> design.matrix.shape, design.columns_of(0), design.columns_of(1)
    ((50, 5), array([0, 1, 2, 3]), array([4]))
    """
    for at, labels in table.labels.items():
        check_levels(f"categorical column `{table.names[at]}`", len(labels.levels), table.n_rows)
    features = find_features(table, groups, exclude)
    used = {c for feature in features for c in feature.columns if c not in table.labels}
    places = np.flatnonzero(np.isin(table.numeric_at, list(used)))
    numbers = table.numeric.tocsc() if sp.issparse(table.numeric) else table.numeric
    names = [str(table.names[c]) for c in table.numeric_at[places]]
    check_finite_numbers(numbers[:, places] if len(places) < numbers.shape[1] else numbers, names)
    precision = table.precision
    splines: list[Spline | None] = []
    for k in places.tolist():
        own = column_precision(numbers) if precision is None else float(precision[k])
        splines.append(_spline_of(stored_column(numbers, k), n_knots, weights, own))
    widths = np.array([1 if s is None else s.T.shape[1] for s in splines], dtype=np.intp)
    numeric, first = np.unique(table.numeric_at[places], return_index=True)
    n_columns = np.add.reduceat(widths, first) if len(first) else widths
    make = partial(_spline_matrix, numbers, places, splines)
    return arrange(table, make, numeric, n_columns, features)


def _spline_of(x: Floats, n_knots: int, weights: Floats | None, precision: float) -> Spline | None:
    """Return the splines of a column; None for one that is constant, or all but constant."""
    knots = find_knots(x, n_knots, weights)
    size = float(np.abs(knots).max(initial=0.0))
    if len(knots) < 2 or knots[-1] - knots[0] <= _LEAST_WIDTH * size:
        return None
    spline = Spline.of(x, knots, weights, precision)
    return spline if spline.T.shape[1] else None


def _spline_matrix(
    numbers: Any, places: Indices, splines: Sequence[Spline | None], table: Table
) -> Matrix:
    """Return the splines in order, a column without any as it is, and the indicators of levels."""
    parts: list[Matrix] = []
    start = 0
    while start < len(places):
        stop, bent = start, splines[start] is not None
        while stop < len(places) and (splines[stop] is not None) == bent:
            stop += 1
        at = places[start:stop]
        some = [spline for spline in splines[start:stop] if spline is not None]
        if bent:
            parts.append(SplineMatrix(numbers, at, some))
        else:
            kind = SparseMatrix if sp.issparse(numbers) else DenseMatrix
            parts.append(kind(numbers[:, at]))
        start = stop
    if table.labels:
        parts.append(SparseMatrix(indicators(table)))
    if not parts:
        parts.append(DenseMatrix(np.empty((table.n_rows, 0))))
    return parts[0] if len(parts) == 1 else StackedMatrix(parts)
