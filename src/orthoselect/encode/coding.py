"""A table -> integer codes, feature by feature, for criteria that count.

Notation: N rows, n features; a feature's codes are 0, ..., levels - 1. The names of the levels mean
nothing to a criterion that counts, so that they are chosen for little memory: in a sparse table
code 0, which is not written down, is the level of zero.

A `Coder` codes one block of rows. A table in memory is one block, which tells all there is to
know; of a table in blocks it is learned in passes (`rules.py`) what all of them have to agree on.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.counts import Codes, DenseCodes, SparseCodes
from orthoselect.counts.base import occurring
from orthoselect.encode.bins import (
    MAX_LEVELS,
    Columns,
    SparseColumns,
    as_slice,
    canonical,
    column_blocks,
)
from orthoselect.encode.design import Features, check_levels
from orthoselect.encode.labels import Labels
from orthoselect.encode.rules import (
    Bins,
    Rules,
    check_finite,
    find_rules,
    is_discretizer,
    raise_too_many,
    readable,
    warn_of_many,
    written,
)
from orthoselect.encode.table import Table
from orthoselect.errors import InputError
from orthoselect.matrix.base import Floats, Indices


@dataclass(frozen=True)
class Learned:
    """What blocks have to agree on to be coded alike.

    Attributes
    ----------
    columns : input columns
        Those of numbers that are in use, rising.
    rules : Rules
        Of these columns.
    is_sparse : bool
        Whether the level of zero is called 0, and not written down.
    n_stored : int
        How many cells of these columns are written down.
    joint : mapping of feature to (levels, most frequent one)
        Of groups: the combinations of their columns' codes that occur.
    n_levels : array of shape (n,)
        How many levels each feature has.
    """

    columns: Indices
    rules: Rules
    is_sparse: bool
    n_stored: int
    joint: Mapping[int, tuple[tuple[Any, ...], int]] = field(default_factory=dict)
    n_levels: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))


def special_features(features: Features, labeled: set[int]) -> list[int]:
    """Return the groups of several columns, and the categorical columns."""
    groups = {f for f, group in features.groups.items() if len(group.columns) > 1}
    return sorted(groups | set(np.flatnonzero(np.isin(features.heads, list(labeled))).tolist()))


def check_special(features: Features, f: int, n_levels: int, n_rows: int) -> None:
    """Raise or warn where a group or a categorical column has too many levels."""
    what = "group" if len(features[f].columns) > 1 else "categorical column"
    check_levels(f"{what} `{features[f].name}`", n_levels, n_rows)


class _DenseRoom:
    """Room for codes, feature by feature."""

    def __init__(self, shape: tuple[int, int], dtype: np.dtype) -> None:
        self._values = np.empty(shape[::-1], dtype=dtype)

    def put(self, f: Indices, columns: Columns, levels: NDArray) -> None:
        """Keep the levels of a block of columns as features f."""
        self._values[as_slice(f)] = levels

    def put_column(self, f: int, codes: NDArray, most_frequent: int | None) -> None:
        """Keep codes that are written out, (N,), as feature f."""
        self._values[f] = codes

    def put_rows(self, start: int, codes: DenseCodes) -> None:
        """Keep the codes of all features for the rows from `start` on."""
        self._values[:, start : start + codes.shape[0]] = codes.values

    def codes(self, n_levels: Indices) -> DenseCodes:
        """Return the codes, once all are here."""
        return DenseCodes(self._values, n_levels)


class _SparseRoom:
    """Room for codes of which 0 is not written down."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self._shape = shape
        nothing = np.empty(0, dtype=np.int32)
        self._pieces = [(nothing, nothing, np.empty(0, np.uint8))]  # feature, row, code of cells

    def put(self, f: Indices, columns: SparseColumns, levels: NDArray) -> None:
        keep = levels != 0
        self._add(f[columns.owner[keep]], columns.X.indices[keep], levels[keep])

    def put_column(self, f: int, codes: NDArray, most_frequent: int | None) -> None:
        """Keep codes; the most frequent one is called 0 instead, to write down few."""
        usual = int(np.bincount(codes).argmax()) if most_frequent is None else most_frequent
        rows = np.flatnonzero(codes != usual)
        others = codes[rows] + (codes[rows] < usual)
        small = others.astype(np.min_scalar_type(int(others.max(initial=0))))
        self._add(np.full(len(rows), f), rows, small)

    def put_rows(self, start: int, codes: SparseCodes) -> None:
        self._add(codes.owner, start + codes.indices, codes.codes)

    def _add(self, feature: NDArray, rows: NDArray, codes: NDArray) -> None:
        self._pieces.append((feature.astype(np.int32), rows.astype(np.int32), codes))

    def codes(self, n_levels: Indices) -> SparseCodes:
        owner, indices, codes = (np.concatenate(part) for part in zip(*self._pieces))
        self._pieces.clear()
        if (np.diff(owner) < 0).any():
            order = np.argsort(owner, kind="stable")
            owner, indices, codes = owner[order], indices[order], codes[order]
        indptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=self._shape[1]))])
        return SparseCodes(indptr, indices, codes, self._shape, n_levels)


def room_for(shape: tuple[int, int], n_levels: Any, *, is_sparse: bool) -> Any:
    """Return room for the codes of N rows and n features."""
    return _SparseRoom(shape) if is_sparse else _DenseRoom(shape, code_type(n_levels))


def code_type(n_levels: Any) -> np.dtype:
    """Return the smallest type for codes of so many levels, at least 256 of them."""
    return np.min_scalar_type(max([MAX_LEVELS, *n_levels]) - 1)


class Coder:
    """Codes the features of one block of rows.

    Numeric columns are coded by blocks, groups and categorical columns one by one.

    Parameters
    ----------
    table : Table
        The block.
    features : Features
    bins : as for `build_codes`
    weights : array of shape (N,), optional
        Rows without weight are left out.
    learned : Learned, optional
        What is known of all blocks. Without it this block is all there is: rules and levels are
        found as it is coded, and levels that do not occur are left out.
    """

    def __init__(
        self,
        table: Table,
        features: Features,
        bins: Bins,
        weights: Floats | None = None,
        learned: Learned | None = None,
    ) -> None:
        self._table, self._features, self._learned = table, features, learned
        self._live = None if weights is None or (weights > 0).all() else weights > 0
        self._X, self._weights = readable(table.numeric, weights)
        if learned is not None and learned.is_sparse and not sp.issparse(self._X):
            self._X = canonical(sp.csc_array(self._X))  # levels are named for sparse blocks
        self._place = np.full(len(table.names), -1, dtype=np.intp)  # of input columns in X
        self._place[table.numeric_at] = np.arange(len(table.numeric_at))
        self._place[list(table.labels)] = -1
        self._bins = bins
        if is_discretizer(bins):
            self._discretize(bins)

    def codes(self) -> Codes:
        """Return the codes of all features."""
        n, N = len(self._features), self._X.shape[0]
        n_levels, gaps = np.empty(n, dtype=np.intp), np.ones(n, dtype=bool)
        special = {f: self._special(f) for f in self._special_features()}
        top = [found for _, found in special.values()]
        n_levels[list(special)] = top
        room = room_for((N, n), top, is_sparse=sp.issparse(self._X))
        f = np.delete(np.arange(n), list(special))
        at = self._place[self._features.heads[f]]
        for part, columns in column_blocks(self._X, at):
            rules = self._rules(columns, at[part])
            room.put(f[part], columns, rules.levels(columns))
            n_levels[f[part]], gaps[f[part]] = rules.n_levels, ~rules.as_is
        for one, (codes, _) in special.items():
            room.put_column(one, codes, self._most_frequent(one))
        made = room.codes(n_levels)
        if self._learned is not None:
            return made
        if self._bins == "auto":
            warn_of_many(lambda k: self._features[int(f[k])].name, n_levels[f], N)
        return made.without_gaps(np.flatnonzero(gaps))

    def _special_features(self) -> list[int]:
        return special_features(self._features, set(self._table.labels))

    def _in_use(self) -> Iterator[tuple[int, str]]:
        """Yield the columns of X that features own, and their names."""
        for feature in self._features:
            for c in feature.columns:
                if self._place[c] >= 0:
                    yield int(self._place[c]), str(self._table.names[c])

    def _rules(self, columns: Columns, at: Indices) -> Rules:
        """Return the rules of a block of columns of X."""
        if self._learned is not None:
            known = self._learned
            return known.rules.take(np.searchsorted(known.columns, self._table.numeric_at[at]))
        check_finite(columns, self._X, self._in_use)
        rules = find_rules(columns, self._bins, self._weights)
        if self._bins == "from_data" and not rules.as_is.all():
            k = int(at[rules.as_is.argmin()])
            values = written(self._X, k)
            n_distinct = len(np.unique(values)) + (len(values) < self._X.shape[0])
            raise_too_many(dict(self._in_use())[k], str(n_distinct))
        return rules

    def _special(self, f: int) -> tuple[NDArray, int]:
        """Return the codes of a categorical column or a group, and the number of its levels."""
        columns = self._features[f].columns
        if len(columns) == 1:
            codes, n_levels = self._column(columns[0])
        elif self._learned is None:
            labels = self.combinations(f)
            codes, n_levels = labels.codes, len(labels.levels)
        else:
            return self._joint(f)
        if self._learned is None:
            check_special(self._features, f, n_levels, len(codes))
        return codes, n_levels

    def _joint(self, f: int) -> tuple[NDArray, int]:
        """Return the codes of a group among the levels that were learned."""
        assert self._learned is not None
        levels, usual = self._learned.joint[f]
        place = {level: at for at, level in enumerate(levels)}
        mine = self.combinations(f)
        # A combination of rows without weight alone has no level of its own, and counts nothing.
        to_code = np.array([place.get(level, usual) for level in mine.levels], dtype=np.intp)
        return to_code.take(mine.codes), len(levels)

    def combinations(self, f: int) -> Labels:
        """Return the combinations of the codes of a group's columns."""
        members = [self._column(c) for c in self._features[f].columns]
        joint = members[0][0]
        for codes, n_levels in members[1:]:
            joint, _ = joint_codes(joint, codes, n_levels)
        _, first, place = np.unique(joint, return_index=True, return_inverse=True)
        tuples = zip(*(codes[first].tolist() for codes, _ in members))
        return Labels(place.reshape(-1), tuple(tuples))

    def _column(self, column: int) -> tuple[NDArray, int]:
        """Return the codes of an input column, row by row, and the number of its levels."""
        if column in self._table.labels:
            labels = self._table.labels[column]
            codes, n_levels = labels.codes, len(labels.levels)
            if self._live is None:
                return codes, n_levels
            codes = codes[self._live]
            return occurring(codes, n_levels) if self._learned is None else (codes, n_levels)
        at = self._place[[column]]
        ((_, columns),) = column_blocks(self._X, at)
        rules = self._rules(columns, at)
        return columns.written_out(rules.levels(columns)), int(rules.n_levels[0])

    def _most_frequent(self, f: int) -> int | None:
        """Return the most frequent code of a special feature, if these rows cannot tell."""
        if self._learned is None:
            return None
        if f in self._learned.joint:
            return self._learned.joint[f][1]
        return self._table.labels[self._features[f].columns[0]].most_frequent

    def _discretize(self, discretizer: Any) -> None:
        """Let the discretizer code the numeric columns in use; its codes are then taken."""
        used = [c for feature in self._features for c in feature.columns if self._place[c] >= 0]
        at = self._place[used]
        for _, columns in column_blocks(self._X, at):
            check_finite(columns, self._X, self._in_use)
        numbers = self._X[:, as_slice(at)]
        coded = numbers
        if used:
            coded = _fitted(discretizer, numbers, self._weights).transform(numbers)
        coded = coded if sp.issparse(coded) else np.asarray(coded)
        if coded.shape != numbers.shape or coded.dtype.kind not in "fiub":
            raise InputError(
                f"a discretizer in `bins` should return one code for each number, an array of "
                f"shape {numbers.shape}; {type(discretizer).__name__} returned {coded.dtype} of "
                f"shape {coded.shape}. (KBinsDiscretizer needs `encode='ordinal'`.)"
            )
        self._X = canonical(coded) if sp.issparse(coded) else coded
        self._place[used] = np.arange(len(used))
        self._bins = "from_data"


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
