"""A table -> integer codes, feature by feature, for criteria that count.

Notation: N rows, n features; a feature's codes are 0, ..., levels - 1. The names of the levels mean
nothing to a criterion that counts, so that they are chosen for little memory: in a sparse table
code 0, which is not written down, is the level of zero.

A `Coder` codes one block of rows. A table in memory is one block, which tells all there is to
know; of a table in blocks it is learned in passes (`rules.py`) what all of them have to agree on.
Where the codes of all blocks fit into memory, a byte a cell, they are made once and kept.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.counts import BlockCounts, Codes, Counts, DenseCodes, SparseCodes, count
from orthoselect.counts.base import occurring
from orthoselect.encode.bins import (
    MAX_LEVELS,
    Columns,
    SparseColumns,
    as_slice,
    canonical,
    column_blocks,
)
from orthoselect.encode.blocks import BlockTable
from orthoselect.encode.design import Features, check_levels, find_features
from orthoselect.encode.labels import Labels, LevelsSeen
from orthoselect.encode.rules import (
    Bins,
    Rules,
    check_bins,
    check_finite,
    find_rules,
    is_discretizer,
    raise_too_many,
    readable,
    sum_up,
    warn_of_many,
    written,
)
from orthoselect.encode.table import Table
from orthoselect.errors import InputError
from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.memory import free_memory
from orthoselect.matrix.passes import SpreadPasses
from orthoselect.matrix.reading import Reading
from orthoselect.matrix.rows import Rows, live_rows

# What holding codes takes, with all that counting makes of them.
_COPIES = 2  # codes and their planes of bits
_BYTES_A_STORED_CELL = 40  # feature, row and code of a sparse one, twice while they are sorted
_BYTES_A_ROW = 64  # logarithms, classes and places


@dataclass(frozen=True)
class CodedDesign:
    """Codes of the features, in memory.

    Attributes
    ----------
    codes : DenseCodes or SparseCodes
        One row of codes, or one sparse column, for each feature.
    features : Features
    rows : boolean array, or None for all
        The rows that are coded: those with weight.
    reading : Reading, optional
        What has counted the passes over a table in blocks.
    """

    codes: Codes
    features: Features
    rows: NDArray[np.bool_] | None = None
    reading: Reading | None = None

    def name_of_column(self, j: int) -> str:
        """Return the name of feature j."""
        return self.features[j].name

    def count(self, y: NDArray, n_classes: int, weights: Floats | None) -> Counts:
        """Make ready to count the features against each other and the class, y of shape (N,)."""
        if self.rows is not None:
            y = y[self.rows]
            weights = None if weights is None else weights[self.rows]
        counts = count(self.codes, y, n_classes, weights)
        counts.reading = self.reading
        return counts


@dataclass(frozen=True)
class BlockCodedDesign:
    """Codes of the features, made block by block in every pass.

    Attributes
    ----------
    table : BlockTable
    features : Features
    learned : Learned
    """

    table: BlockTable
    features: Features
    learned: Learned

    def name_of_column(self, j: int) -> str:
        """Return the name of feature j."""
        return self.features[j].name

    def count(self, y: NDArray, n_classes: int, weights: Floats | None) -> Counts:
        """Make ready to count the features against each other and the class."""
        shape = (self.table.n_rows, len(self.features))
        how = how_to_code(self.table, self.features, self.learned)
        del how["along"]
        levels = self.learned.n_levels
        return BlockCounts(
            self.table.passes,
            shape,
            levels,
            y,
            n_classes,
            weights,
            how=how,
            memory=self.table.memory,
        )


def build_codes(
    table: Table,
    groups: Mapping[str, Sequence[int]],
    exclude: set[int],
    bins: Bins = "auto",
    weights: Floats | None = None,
) -> CodedDesign | BlockCodedDesign:
    """Code every feature by whole numbers.

    Categorical columns are taken as they are, whatever `bins` says. A group is one variable: its
    levels are the combinations of its columns' levels that occur.

    Of a table in blocks, one pass over the numeric columns learns the rules, and one over the
    columns of groups their combinations. Where the codes fit into memory a further pass makes
    them, once; else, and on Dask, whose rows are never gathered, they are made in every pass.

    Parameters
    ----------
    table : Table
    groups : mapping of str to input columns
    exclude : set of input columns
        Columns that no feature owns.
    bins : {"auto", "from_data", "mean_std_3", "mean_std_4"}, int or discretizer
        What becomes of numeric columns. "auto": those of whole numbers, at most 256 distinct ones,
        are taken as they are (with a warning where they hardly repeat); all others are cut at
        mean plus and minus one standard deviation.
        "from_data": every distinct value is a level, at most 256 of them. "mean_std_3" and
        "mean_std_4" cut all numeric columns; see `rules.mean_std_cuts`. A number: so many bins of
        equal width. A discretizer: an object with `fit` and `transform` that gives back a code
        for each number; a copy of it is fitted to the numeric columns (each row as often as its
        weight says, which has to be whole), and its codes are taken as they are. It needs a table
        in memory.
    weights : array of shape (N,), optional
        Row weights; rows without weight are left out.

    Examples
    --------
    >>> table = Table(4, ["a", "b"], np.array([[0, 7], [5, 7], [0, 8], [5, 9]]), np.arange(2), {})
    >>> build_codes(table, {}, set()).codes.values
    array([[0, 1, 0, 1],
           [0, 0, 1, 2]], dtype=uint8)
    """
    check_bins(bins)
    features = find_features(table, groups, exclude)
    reading = None
    if isinstance(table, BlockTable):
        learned = learn(table, features, bins, weights)
        if not _codes_fit(table, learned, weights):
            return BlockCodedDesign(table, features, learned)
        codes, reading = _gathered(table, features, learned, weights), table.passes.reading
    else:
        codes = Coder(table, features, bins, weights).codes()
    rows = None if weights is None or (weights > 0).all() else weights > 0
    return CodedDesign(codes, features, rows, reading)


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


def learn(table: BlockTable, features: Features, bins: Bins, weights: Rows | None) -> Learned:
    """Find the rules of a table in blocks, and the levels of its groups."""
    if is_discretizer(bins):
        raise InputError(
            f"`bins` should name a rule, or be a number of bins, for a table that comes in blocks; "
            f"a discretizer ({type(bins).__name__}) would have to see it whole."
        )
    numeric = np.intersect1d(_columns_in_use(features), table.numeric_at)
    numeric = np.array([c for c in numeric.tolist() if c not in table.labels], dtype=np.intp)
    rules, n_stored = sum_up(table, numeric, bins, weights)
    names = [str(table.names[c]) for c in numeric]
    if bins == "from_data" and not rules.as_is.all():
        raise_too_many(names[int(rules.as_is.argmin())])
    if bins == "auto":
        warn_of_many(names.__getitem__, rules.n_levels, live_rows(weights, table.n_rows))
    learned = Learned(numeric, rules, sp.issparse(table.numeric), n_stored)
    learned = replace(learned, joint=_learn_joint(table, features, learned, weights))
    of_column = dict(zip(numeric.tolist(), rules.n_levels.tolist()))
    of_column |= {c: len(labels.levels) for c, labels in table.labels.items()}
    n_levels = np.array([of_column[c] for c in features.heads.tolist()], dtype=np.intp)
    for f, (levels, _) in learned.joint.items():
        n_levels[f] = len(levels)
    for f in special_features(features, set(table.labels)):
        check_special(features, f, int(n_levels[f]), table.n_rows)
    return replace(learned, n_levels=n_levels)


def special_features(features: Features, labeled: set[int]) -> list[int]:
    """Return the groups of several columns, and the categorical columns."""
    groups = {f for f, group in features.groups.items() if len(group.columns) > 1}
    return sorted(groups | set(np.flatnonzero(np.isin(features.heads, list(labeled))).tolist()))


def check_special(features: Features, f: int, n_levels: int, n_rows: int) -> None:
    """Raise or warn where a group or a categorical column has too many levels."""
    what = "group" if len(features[f].columns) > 1 else "categorical column"
    check_levels(f"{what} `{features[f].name}`", n_levels, n_rows)


def _columns_in_use(features: Features) -> Indices:
    return np.array(sorted({c for f in features for c in f.columns}), dtype=np.intp)


def how_to_code(
    table: BlockTable, features: Features, learned: Learned, along: Sequence[Rows | None] = ()
) -> dict[str, Any]:
    """Return what to tell passes over the codes."""
    make = partial(codes_of_block, features, learned)
    return table.how(_columns_in_use(features), along, make)


def codes_of_block(features: Features, learned: Learned, block: Table) -> Codes:
    """Return the codes of a block by what was learned of all."""
    return Coder(block, features, "learned", learned=learned).codes()


def _codes_fit(table: BlockTable, learned: Learned, weights: Rows | None) -> bool:
    """Whether the codes of all rows, and what counting makes of them, fit into memory here."""
    if isinstance(table.passes, SpreadPasses):
        return False
    memory = free_memory() // 2 if table.memory is None else table.memory
    N, n = live_rows(weights, table.n_rows), len(learned.n_levels)
    needed = _BYTES_A_ROW * N
    if learned.is_sparse:
        others = n - len(learned.columns)  # at most: their columns may be in groups
        needed += _BYTES_A_STORED_CELL * (learned.n_stored + N * max(others, 0))
    else:
        needed += _COPIES * _code_type(learned.n_levels).itemsize * N * n
    return needed <= memory


def _gathered(
    table: BlockTable, features: Features, learned: Learned, weights: Rows | None
) -> Codes:
    """Return the codes of all rows with weight, made in one pass."""
    shape = live_rows(weights, table.n_rows), len(features)
    start = partial(_Gathering, shape, learned)
    how = how_to_code(table, features, learned, [weights])
    gathering = table.passes.run(start, _Gathering.add, _Gathering.merge, **how)
    codes = gathering.room.codes(learned.n_levels)
    as_is = learned.columns[learned.rules.as_is]
    alone = np.ones(len(features), dtype=bool)
    alone[special_features(features, set(table.labels))] = False
    return codes.without_gaps(np.flatnonzero(~(np.isin(features.heads, as_is) & alone)))


class _Gathering:
    """The codes of the blocks so far."""

    def __init__(self, shape: tuple[int, int], learned: Learned) -> None:
        self.room = _room(shape, learned.n_levels, is_sparse=learned.is_sparse)
        self._n_rows = 0

    def add(self, codes: Codes, weights: Floats | None) -> None:
        """Take the codes of one more block."""
        codes = codes if weights is None else codes.rows(weights > 0)
        self.room.put_rows(self._n_rows, codes)
        self._n_rows += codes.shape[0]

    def merge(self, other: _Gathering) -> _Gathering:
        """Rows that are elsewhere are never gathered."""
        raise NotImplementedError


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


def _room(shape: tuple[int, int], n_levels: Any, *, is_sparse: bool) -> Any:
    return _SparseRoom(shape) if is_sparse else _DenseRoom(shape, _code_type(n_levels))


def _code_type(n_levels: Any) -> np.dtype:
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
        room = _room((N, n), top, is_sparse=sp.issparse(self._X))
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


def _learn_joint(
    table: BlockTable, features: Features, learned: Learned, weights: Rows | None
) -> dict[int, tuple[tuple[Any, ...], int]]:
    """Find the combinations of levels that occur in groups of several columns."""
    groups = {f: g for f, g in features.groups.items() if len(g.columns) > 1}
    if not groups:
        return {}
    used = np.array(sorted({c for g in groups.values() for c in g.columns}), dtype=np.intp)
    names = {f: group.name for f, group in groups.items()}
    seen = table.passes.run(
        partial(_nothing_seen, names),
        partial(_add_combinations, features, learned),
        _merge_seen,
        **table.how(used, [weights]),
    )
    return {f: (each.levels(), each.most_frequent()) for f, each in seen.items()}


def _nothing_seen(names: Mapping[int, str]) -> dict[int, LevelsSeen]:
    return {f: LevelsSeen(f"group `{name}`") for f, name in names.items()}


def _add_combinations(
    features: Features,
    learned: Learned,
    seen: dict[int, LevelsSeen],
    block: Table,
    weights: Floats | None,
) -> None:
    if weights is None or weights.any():
        coder = Coder(block, features, "learned", weights, learned)
        for f, each in seen.items():
            each.add(coder.combinations(f))


def _merge_seen(a: dict[int, LevelsSeen], b: dict[int, LevelsSeen]) -> dict[int, LevelsSeen]:
    for f, seen in b.items():
        a[f].merge(seen)
    return a


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
