"""One block of rows -> integer codes, feature by feature, for criteria that count.

Notation: N rows, n features; a feature's codes are 0, ..., levels - 1. The names of the levels mean
nothing to a criterion that counts, so that they are chosen for little memory: in a sparse table
code 0, which is not written down, is the level of zero.

A table in memory is one block, which says all there is to know. Blocks of a larger table are coded
by what was learned of all of them; see `coded_design.py`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.counts import Codes, DenseCodes, SparseCodes
from orthoselect.counts.base import occurring
from orthoselect.encode.bins import (
    MAX_LEVELS,
    Cells,
    NumericColumns,
    as_slice,
    canonical,
    column_blocks,
    for_each_block,
)
from orthoselect.encode.labels import Labels
from orthoselect.encode.rules import (
    Bins,
    Rules,
    check_finite,
    find_rules,
    gap_rows,
    is_discretizer,
    raise_too_many,
    readable,
    some_cells,
    warn_of_many,
    written,
)
from orthoselect.encode.table import Features, Table, check_levels
from orthoselect.errors import InputError
from orthoselect.matrix.base import Floats, Indices


@dataclass(frozen=True)
class LearnedCoding:
    """What blocks have to agree on to be coded alike."""

    columns: Indices  # input columns of numbers that are in use, rising
    rules: Rules  # of these columns
    is_sparse: bool  # whether the level of zero is called 0, and not written down
    n_stored: int  # how many cells of these columns are written down
    # The combinations of codes that occur in each group, and the most frequent one.
    joint: Mapping[int, tuple[tuple[Any, ...], int]] = field(default_factory=dict)
    # How many levels each feature has, (n,).
    n_levels: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))


def special_features(features: Features, table: Table) -> list[int]:
    """Return the groups of several columns, the categorical columns, and those with gaps."""
    groups = {f for f, group in features.groups.items() if len(group.columns) > 1}
    labeled = np.isin(features.heads, [*table.labels, *table.indicated])
    return sorted(groups | set(np.flatnonzero(labeled).tolist()))


def codes_of_cells(cells: list[Cells], shape: tuple[int, int], n_levels: Indices) -> SparseCodes:
    """Return the codes of cells that come in any order of features; all others are 0."""
    none = np.empty(0, dtype=np.int32)
    cells = [(none, none, np.empty(0, dtype=np.uint8)), *cells]
    small = ((f.astype(np.int32), row.astype(np.int32), code) for f, row, code in cells)
    owner, indices, codes = (np.concatenate(part) for part in zip(*small))
    if (np.diff(owner) < 0).any():
        order = np.argsort(owner, kind="stable")
        owner, indices, codes = owner[order], indices[order], codes[order]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=shape[1]))])
    return SparseCodes(indptr, indices, codes, shape, n_levels)


def _cells_of_labels(f: int, labels: Labels) -> Cells:
    """Return the codes of feature f; the most frequent is called 0 instead, to write down few."""
    codes, usual = labels.codes, labels.usual
    rows = np.flatnonzero(codes != usual)
    others = codes[rows] + (codes[rows] < usual)
    return np.full(len(rows), f), rows, others.astype(np.min_scalar_type(others.max(initial=0)))


def code_type(n_levels: Any) -> np.dtype:
    """Return the smallest type for codes of these numbers of levels, at least 256."""
    return np.min_scalar_type(max([MAX_LEVELS, *n_levels]) - 1)


class Coder:
    """Codes the features of one block of rows; those without weight are left out.

    Numeric columns are coded a few at a time, groups and categorical columns one by one. Without
    `learned` this block is all there is: rules and levels are found as it is coded, and levels that
    do not occur are left out.
    """

    def __init__(
        self,
        table: Table,
        features: Features,
        bins: Bins,
        weights: Floats | None = None,
        learned: LearnedCoding | None = None,
    ) -> None:
        self._table, self._features, self._learned = table, features, learned
        self._live = None if weights is None or (weights > 0).all() else weights > 0
        self._X, self._weights = readable(table.numeric, weights)
        if learned is not None and learned.is_sparse and not sp.issparse(self._X):
            self._X = canonical(sp.csc_array(self._X))  # levels are named for sparse blocks
        self._place = np.full(len(table.names), -1, dtype=np.intp)  # of input columns in X
        places = np.arange(len(table.numeric_at))
        self._place[table.numeric_at[::-1]] = places[::-1]  # the first of two, which has the values
        self._place[list(table.labels)] = -1
        self._gappy = set(table.indicated)
        self._bins = bins
        if is_discretizer(bins):
            self._discretize(bins)

    def codes(self) -> Codes:
        """Return the codes of all features."""
        n, N = len(self._features), self._X.shape[0]
        n_levels, gaps = np.empty(n, dtype=np.intp), np.ones(n, dtype=bool)
        special = {f: self._special(f) for f in special_features(self._features, self._table)}
        top = [len(labels.levels) for labels in special.values()]
        n_levels[list(special)] = top
        is_sparse = sp.issparse(self._X)
        room: Any = [] if is_sparse else np.empty((n, N), dtype=code_type(top))
        f = np.delete(np.arange(n), list(special))
        at = self._place[self._features.heads[f]]

        def code(part: slice, columns: NumericColumns) -> None:
            rules = self._rules(columns, at[part])
            columns.put(rules.levels(columns), f[part], room)
            n_levels[f[part]], gaps[f[part]] = rules.n_levels, ~rules.as_is

        for_each_block(self._X, at, code)
        for one, labels in special.items():
            if is_sparse:
                room.append(_cells_of_labels(one, labels))
            else:
                room[one] = labels.codes
        made = codes_of_cells(room, (N, n), n_levels) if is_sparse else DenseCodes(room, n_levels)
        if self._learned is not None:
            return made
        if self._bins == "auto":
            warn_of_many(lambda k: self._features[int(f[k])].name, n_levels[f], N)
        return made.without_gaps(np.flatnonzero(gaps))

    def _in_use(self) -> Iterator[tuple[int, str]]:
        """Yield the columns of X that features own, and their names."""
        for feature in self._features:
            for c in feature.columns:
                if self._place[c] >= 0:
                    yield int(self._place[c]), str(self._table.names[c])

    def _known_rules(self, at: Indices) -> Rules:
        """Return what was learned for columns of X."""
        known = self._learned
        assert known is not None
        return known.rules.take(np.searchsorted(known.columns, self._table.numeric_at[at]))

    def _rules(self, columns: NumericColumns, at: Indices, weights: Floats | None = None) -> Rules:
        """Return the rules of a block of columns of X; weights are those of its rows, if fewer."""
        if self._learned is not None:
            return self._known_rules(at)
        check_finite(columns, self._X, self._in_use)
        weights = self._weights if weights is None else weights
        rules = find_rules(columns, self._bins, weights)
        if self._bins == "from_data" and not rules.as_is.all():
            k = int(at[rules.as_is.argmin()])
            values = written(self._X, k)
            n_distinct = len(np.unique(values)) + (len(values) < self._X.shape[0])
            raise_too_many(dict(self._in_use())[k], str(n_distinct))
        return rules

    def _special(self, f: int) -> Labels:
        """Return a categorical column or a group as labels."""
        feature = self._features[f]
        if len(feature.columns) == 1:
            what, labels = "categorical column", self._column(feature.columns[0])
        else:
            what, labels = "group", self.combinations(f)
        if feature.columns[0] in self._gappy and len(feature.columns) == 1:
            return labels
        if self._learned is None:
            check_levels(f"{what} `{feature.name}`", len(labels.levels), len(labels.codes))
        elif f in self._learned.joint:
            levels, usual = self._learned.joint[f]
            place = {level: at for at, level in enumerate(levels)}
            # A combination of rows without weight alone has no level, and counts for nothing.
            to_code = np.array([place.get(level, usual) for level in labels.levels], dtype=np.intp)
            return Labels(to_code.take(labels.codes), levels, usual)
        return labels

    def combinations(self, f: int) -> Labels:
        """Return the combinations of the codes of a group's columns."""
        members = [self._column(c) for c in self._features[f].columns]
        joint = members[0].codes
        for member in members[1:]:
            joint, _ = joint_codes(joint, member.codes, len(member.levels))
        _, first, place = np.unique(joint, return_index=True, return_inverse=True)
        tuples = zip(*(member.codes[first].tolist() for member in members))
        return Labels(place.reshape(-1), tuple(tuples))

    def _column(self, column: int) -> Labels:
        """Return an input column as labels, whose levels are just numbered where it is cut."""
        if column in self._table.labels:
            labels = self._table.labels[column]
            if self._live is None:
                return labels
            codes, n_levels = labels.codes[self._live], len(labels.levels)
            if self._learned is not None:
                return replace(labels, codes=codes, counts=None)
            codes, n_levels = occurring(codes, n_levels)
        elif column in self._gappy:
            return self._column_with_gaps(column)
        else:
            at = self._place[[column]]
            ((_, columns),) = column_blocks(self._X, at)
            rules = self._rules(columns, at)
            codes, n_levels = columns.written_out(rules.levels(columns)), int(rules.n_levels[0])
        return Labels(codes, tuple(range(n_levels)))

    def _column_with_gaps(self, column: int) -> Labels:
        """Return the levels of a column's values, found without its gaps; these are the last."""
        at = self._place[[column]]
        gaps = gap_rows(self._X, int(at[0]))
        there = np.flatnonzero(~gaps)
        codes: NDArray = np.zeros(0, dtype=np.intp)
        n_levels = 0 if self._learned is None else int(self._known_rules(at).n_levels[0])
        if len(there):
            ((_, columns),) = column_blocks(some_cells(self._X, int(at[0]), there))
            weights = None if self._weights is None else self._weights[there]
            rules = self._rules(columns, at, weights)
            codes, n_levels = columns.written_out(rules.levels(columns)), int(rules.n_levels[0])
        filled = np.full(len(gaps), n_levels, dtype=np.intp)
        filled[there] = codes
        usual = None if self._learned is None else 0  # the same one in all blocks
        return Labels(filled, tuple(range(n_levels + 1)), usual)

    def _discretize(self, discretizer: Any) -> None:
        """Let the discretizer code the numeric columns in use; its codes are then taken.

        A column with gaps is coded by itself, by the values that it has.
        """
        used = [c for feature in self._features for c in feature.columns if self._place[c] >= 0]
        for _, columns in column_blocks(self._X, self._place[used]):
            check_finite(columns, self._X, self._in_use)
        plain = [c for c in used if c not in self._gappy]
        parts = [self._X[:, as_slice(self._place[plain])]]
        if plain:
            parts = [_discretized(discretizer, parts[0], self._weights)]
        places = {c: k for k, c in enumerate(plain)}
        for c in used:
            if c in self._gappy:
                places[c] = sum(part.shape[1] for part in parts)
                parts.append(self._discretize_values(discretizer, int(self._place[c])))
        if sp.issparse(parts[0]):
            self._X = canonical(sp.hstack(parts, format="csc"))
        else:
            self._X = np.hstack(parts) if len(parts) > 1 else parts[0]
        self._place[used] = [places[c] for c in used]
        self._bins = "from_data"

    def _discretize_values(self, discretizer: Any, k: int) -> NDArray:
        """Return the codes of the values of column k, and the indicator of its gaps behind them."""
        gaps = gap_rows(self._X, k)
        there = np.flatnonzero(~gaps)
        coded = np.zeros((len(gaps), 2))
        coded[:, 1] = gaps
        if len(there):
            weights = None if self._weights is None else self._weights[there]
            codes = _discretized(discretizer, some_cells(self._X, k, there), weights)
            coded[there, :1] = codes.toarray() if sp.issparse(codes) else codes
        return coded


def _discretized(discretizer: Any, numbers: Any, weights: Floats | None) -> Any:
    """Return one code for each number, as a copy of the discretizer makes them."""
    coded = _fitted(discretizer, numbers, weights).transform(numbers)
    coded = coded if sp.issparse(coded) else np.asarray(coded)
    if coded.shape != numbers.shape or coded.dtype.kind not in "fiub":
        raise InputError(
            f"a discretizer in `bins` should return one code for each number, an array of "
            f"shape {numbers.shape}; {type(discretizer).__name__} returned {coded.dtype} of "
            f"shape {coded.shape}. (KBinsDiscretizer needs `encode='ordinal'`.)"
        )
    return coded


def _fitted(discretizer: Any, numbers: Any, weights: Floats | None) -> Any:
    """Return a copy that has learned from the rows, each as often as its weight says."""
    rows: Any = slice(None)
    if weights is not None:
        copies = np.rint(weights)
        if (copies != weights).any():
            raise InputError(
                "a discretizer in `bins` should be given rows with whole weights, which count "
                "as copies; these are not whole. Name a rule instead ('mean_std_3', or a "
                "number of bins), or leave the weights out."
            )
        rows = np.repeat(np.arange(numbers.shape[0]), copies.astype(np.intp))
    return copy.deepcopy(discretizer).fit(numbers[rows])


def joint_codes(codes: NDArray, more: NDArray, width: int) -> tuple[NDArray, int]:
    """Return the combinations of two variables that occur, numbered, and how many there are.

    Examples
    --------
    >>> joint_codes(np.array([0, 1, 1, 0]), np.array([2, 0, 0, 1]), 3)
    (array([1, 2, 2, 0]), 3)
    """
    both = codes.astype(np.int64) * width + more
    levels, joint = np.unique(both, return_inverse=True)
    return joint.reshape(-1), len(levels)
