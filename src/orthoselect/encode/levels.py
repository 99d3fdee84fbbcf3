"""Numeric columns cut into levels, each level an indicator: a design of blocks.

As in `design.py`, the most frequent level of a column has no indicator of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.counts import DenseCodes, SparseCodes
from orthoselect.encode.coded import Bins, build_codes
from orthoselect.encode.design import (
    Design,
    arrange,
    check_labels,
    find_features,
    indicators,
)
from orthoselect.encode.rules import count_levels, learn_rules, levels_in_order
from orthoselect.encode.table import Table
from orthoselect.matrix import Matrix, SparseMatrix, StackedMatrix
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
    starts = np.zeros(len(table.names), dtype=np.intp)
    widths = np.full(len(table.names), -1, dtype=np.intp)
    parts: list[Matrix] = []
    if len(table.numeric_at):
        coded = build_codes(replace(table, labels={}), {}, exclude, bins, weights)
        at, levels = coded.features.heads, coded.codes.levels
        parts.append(SparseMatrix(_indicators_of_codes(coded.codes, coded.rows, table.n_rows)))
        widths[at] = levels - 1
        starts[at] = np.cumsum([0, *(levels - 1)])[:-1]
    if table.labels:
        check_labels(table)
        block_widths = [len(labels.levels) - 1 for labels in table.labels.values()]
        at = np.array(list(table.labels), dtype=np.intp)
        starts[at] = np.cumsum([sum(part.shape[1] for part in parts), *block_widths])[:-1]
        widths[at] = block_widths
        parts.append(SparseMatrix(indicators(table)))
    return arrange(StackedMatrix.of(parts), starts, widths, find_features(table, groups, exclude))


def build_block_level_design(
    table: Any,
    groups: Mapping[str, Sequence[int]],
    exclude: set[int],
    bins: Bins,
    weights: Floats | None = None,
) -> Design:
    """Say how to set the indicators of a `BlockTable` side by side; as `build_level_design`.

    Two passes over the numeric columns: one learns the cuts, one counts the levels.
    """
    features = find_features(table, groups, exclude)
    check_labels(table)
    used = {c for feature in features for c in feature.columns}
    numeric = np.array([c for c in table.numeric_at.tolist() if c in used], dtype=np.intp)
    rules = learn_rules(table, numeric, bins, weights)
    usual = count_levels(table, rules, weights)

    starts = np.zeros(len(table.names), dtype=np.intp)
    widths = np.full(len(table.names), -1, dtype=np.intp)
    widths[numeric] = [len(rules[c]) for c in numeric.tolist()]
    labeled = np.array(list(table.labels), dtype=np.intp)
    widths[labeled] = [len(labels.levels) - 1 for labels in table.labels.values()]
    in_order = np.concatenate([numeric, labeled])
    starts[in_order] = np.cumsum([0, *widths[in_order]])[:-1]

    matrix = partial(_level_matrix, rules, usual)
    return arrange(table.matrix(matrix, starts, widths), starts, widths, features)


def _level_matrix(rules: Mapping[int, Floats], usual: Mapping[int, int], block: Table) -> Matrix:
    parts = [_indicators_by_rules(block, rules, usual)]
    if block.labels:
        parts.append(indicators(block))
    return SparseMatrix(sp.hstack(parts, format="csc"))


def _indicators_by_rules(
    block: Table, rules: Mapping[int, Floats], usual: Mapping[int, int]
) -> sp.csc_array:
    """Return one indicator for each level but the usual one, column by column."""
    made = [sp.csc_array((block.n_rows, 0))]
    for k, c in enumerate(block.numeric_at.tolist()):
        if c in rules:
            levels = levels_in_order(block, k, rules[c])
            rows = np.flatnonzero(levels != usual[c])
            place = levels[rows] - (levels[rows] > usual[c])
            ones = (np.ones(len(rows)), (rows, place))
            made.append(sp.coo_array(ones, shape=(block.n_rows, len(rules[c]))).tocsc())
    return sp.csc_array(sp.hstack(made, format="csc"))


def _indicators_of_codes(
    codes: DenseCodes | SparseCodes, rows: NDArray[np.bool_] | None, n_rows: int
) -> sp.csc_array:
    """Return one indicator for each level but the most frequent, feature by feature."""
    place = np.arange(n_rows) if rows is None else np.flatnonzero(rows)
    found, counts = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
    for f, n_levels in enumerate(codes.levels.tolist()):
        cells, levels, usual = _cells(codes, f)
        unusual = np.flatnonzero(levels != usual)
        order = unusual[np.argsort(levels[unusual], kind="stable")]
        found.append(place[cells[order]])
        counts.append(np.delete(np.bincount(levels, minlength=n_levels), usual))
    indices, filled = np.concatenate(found), np.concatenate(counts)
    indptr = np.concatenate([[0], np.cumsum(filled)])
    shape = (n_rows, len(filled))
    return sp.csc_array((np.ones(len(indices)), indices, indptr), shape=shape)


def _cells(codes: DenseCodes | SparseCodes, f: int) -> tuple[Indices, NDArray, int]:
    """Return rows of a feature, their codes, and the most frequent code.

    Rows are left out only if theirs is the most frequent one.
    """
    N = codes.shape[0]
    if isinstance(codes, DenseCodes):
        levels = codes.values[f]
        return np.arange(N), levels, int(np.bincount(levels).argmax())
    cells = slice(codes.indptr[f], codes.indptr[f + 1])
    indices, written = codes.indices[cells], codes.codes[cells]
    if N - len(indices) >= np.bincount(written, minlength=1).max():
        return indices, written, 0
    levels = np.zeros(N, dtype=written.dtype)
    levels[indices] = written
    return np.arange(N), levels, int(np.bincount(levels).argmax())
