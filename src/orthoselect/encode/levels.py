"""Numeric columns cut into levels, each level an indicator: a design of blocks.

As in `table.py`, the most frequent level of a column has no indicator of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import scipy.sparse as sp

from orthoselect.counts import Codes, DenseCodes
from orthoselect.encode.coded_design import codes_of_block, how_to_code, learn
from orthoselect.encode.coding import Coder, LearnedCoding
from orthoselect.encode.rules import Bins
from orthoselect.encode.table import (
    BlockTable,
    Design,
    Features,
    Table,
    arrange,
    check_levels,
    find_features,
    indicators,
)
from orthoselect.matrix import Matrix, SparseMatrix
from orthoselect.matrix.base import Floats, Indices


def build_level_design(
    table: Table,
    groups: Mapping[str, Sequence[int]],
    exclude: set[int],
    bins: Bins,
    weights: Floats | None = None,
) -> Design:
    """Set the indicators of all columns side by side, and say who owns what.

    Parameters
    ----------
    table : Table
    groups : mapping of str to input columns
    exclude : set of input columns
        Columns that no feature owns.
    bins : {"auto", "from_data", "mean_std_3", "mean_std_4"}, int or discretizer
        What becomes of numeric columns; see `build_codes`.
    weights : array of shape (N,), optional
        Row weights; rows without weight have no part in the cuts.

    Notes
    -----
    Of a table in blocks, one pass over the numeric columns learns the cuts, and one counts levels.

    Examples
    --------
    >>> table = Table(4, ["a", "b"], np.array([[0, 7], [5, 7], [0, 8], [0, 9]]), np.arange(2), {})
    >>> design = build_level_design(table, {}, set(), "from_data")
    >>> design.matrix.columns(np.arange(3))
    array([[0., 0., 0.],
           [1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    for at, labels in table.labels.items():
        check_levels(f"categorical column `{table.names[at]}`", len(labels.levels), table.n_rows)
    features = find_features(table, groups, exclude)
    used = {c for feature in features for c in feature.columns}
    is_number = np.isin(table.numeric_at, [c for c in used if c not in table.labels])
    numeric = np.unique(table.numeric_at[is_number])
    numbers = Features(table.names, numeric, {})
    live = None
    if isinstance(table, BlockTable):
        learned = learn(table, numbers, bins, weights)
        how = how_to_code(table, numbers, learned, [weights])
        n_levels, (counts,) = learned.n_levels, table.passes.total(_level_counts, **how)
        coded: LearnedCoding | Codes = learned
    else:
        coded = Coder(table, numbers, bins, weights).codes()
        n_levels, counts = coded.levels, coded.level_counts().astype(np.float64)
        live = None if weights is None else np.flatnonzero(weights)
    places = _places(n_levels, counts)
    widths = [1 + place.max(initial=-1) for place in places]
    make = partial(_level_matrix, coded, dict(zip(numeric.tolist(), places)), live)
    return arrange(table, make, numeric, widths, features)


def _level_counts(codes: Codes, weights: Floats | None) -> list[Floats]:
    live = codes if weights is None else codes.rows(weights > 0)
    return [live.level_counts().astype(np.float64)]


def _places(n_levels: Indices, counts: Floats) -> list[Indices]:
    """Return the place of each level's indicator in those of its feature; -1 if it has none."""
    places = []
    for own in np.split(counts, np.cumsum(n_levels)[:-1]) if len(n_levels) else []:
        has_one = own > 0
        has_one[own.argmax()] = False
        places.append(np.where(has_one, np.cumsum(has_one) - 1, -1))
    return places


def _level_matrix(
    coded: LearnedCoding | Codes, places: Mapping[int, Indices], live: Indices | None, block: Table
) -> Matrix:
    """Return the indicators of a table or block, which may have some of the columns only."""
    numeric = [c for c in np.unique(block.numeric_at).tolist() if c in places]
    if isinstance(coded, LearnedCoding):
        features = Features(block.names, np.array(numeric, dtype=np.intp), {})
        coded = codes_of_block(features, coded, block)
    mine = [places[c] for c in numeric]
    parts = [_indicators_of_codes(coded, mine, live, block.n_rows)]
    if block.labels:
        parts.append(indicators(block))
    return SparseMatrix(sp.hstack(parts, format="csc"))


def _indicators_of_codes(
    codes: Codes, places: Sequence[Indices], live: Indices | None, n_rows: int
) -> sp.csc_array:
    """Return the indicators of all features side by side; `live` are the rows that are coded."""
    found, counts = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
    for f, place in enumerate(places):
        if isinstance(codes, DenseCodes) or place[0] >= 0:
            at = place.take(codes.column(f))
            rows = np.flatnonzero(at >= 0)
            at = at[rows]
        else:
            cells = slice(codes.indptr[f], codes.indptr[f + 1])
            at = place.take(codes.codes[cells])
            rows, at = codes.indices[cells][at >= 0], at[at >= 0]
        found.append(rows[np.argsort(at, kind="stable")])
        counts.append(np.bincount(at, minlength=1 + place.max()))
    indices, filled = np.concatenate(found), np.concatenate(counts)
    indptr = np.concatenate([[0], np.cumsum(filled)])
    indices = indices if live is None else live[indices]
    return sp.csc_array((np.ones(len(indices)), indices, indptr), shape=(n_rows, len(filled)))
