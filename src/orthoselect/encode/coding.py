"""A table -> integer codes, feature by feature, for criteria that count.

Notation: N rows, n features; a feature's codes are 0, ..., levels - 1. The names of the levels mean
nothing to a criterion that counts, so that they are chosen for little memory: in a sparse table
code 0, which is not written down, is the level of zero.

A `Coder` codes one block of rows. A table in memory is one block, which says all there is to know;
of a table in blocks it is learned in passes what all of them have to agree on. Codes are kept in
memory where they fit, else made anew in every pass.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.counts import BlockCounts, Codes, Counts, DenseCodes, SparseCodes, count
from orthoselect.counts.base import occurring
from orthoselect.encode.bins import (
    MAX_LEVELS,
    Cells,
    NumericColumns,
    as_slice,
    canonical,
    column_blocks,
)
from orthoselect.encode.labels import Labels, LevelsSeen
from orthoselect.encode.rules import (
    Bins,
    Rules,
    check_bins,
    check_finite,
    find_rules,
    gap_rows,
    is_discretizer,
    raise_too_many,
    readable,
    some_cells,
    sum_up,
    warn_of_many,
    written,
)
from orthoselect.encode.table import BlockTable, Features, Table, check_levels, find_features
from orthoselect.errors import InputError
from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.memory import free_memory, say_bytes
from orthoselect.matrix.passes import BlockReader, SpreadPasses
from orthoselect.matrix.rows import Rows, live_rows

# What holding codes takes, with all that counting makes of them.
_COPIES = 2  # codes and their planes of bits
_BYTES_A_STORED_CELL = 40  # feature, row and code of a sparse one, twice while they are sorted
_BYTES_A_COUNT = 16  # of a table of levels: a count, and its logarithm
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
    reader : BlockReader, optional
        What has counted the passes over a table in blocks.
    """

    codes: Codes
    features: Features
    rows: NDArray[np.bool_] | None = None
    reader: BlockReader | None = None

    def name_of_column(self, j: int) -> str:
        """Return the name of feature j."""
        return self.features[j].name

    def count(self, y: NDArray, n_classes: int, weights: Floats | None) -> Counts:
        """Make ready to count the features against each other and the class, y of shape (N,)."""
        if self.rows is not None:
            y = y[self.rows]
            weights = None if weights is None else weights[self.rows]
        counts = count(self.codes, y, n_classes, weights)
        counts.reader = self.reader
        return counts


@dataclass(frozen=True)
class BlockCodedDesign:
    """Codes of the features, made block by block in every pass.

    Attributes
    ----------
    table : BlockTable
    features : Features
    learned : LearnedCoding
    """

    table: BlockTable
    features: Features
    learned: LearnedCoding

    def name_of_column(self, j: int) -> str:
        """Return the name of feature j."""
        return self.features[j].name

    def count(self, y: NDArray, n_classes: int, weights: Floats | None) -> Counts:
        """Make ready to count the features against each other and the class."""
        self._check_room(n_classes)
        how = how_to_code(self.table, self.features, self.learned)
        del how["along"]
        return BlockCounts(
            self.table.passes,
            (self.table.n_rows, len(self.features)),
            self.learned.n_levels,
            y,
            n_classes,
            weights,
            how=how,
            memory=self.table.memory,
        )

    def _check_room(self, n_classes: int) -> None:
        """Raise where the table that two features are counted into would not fit into memory."""
        n_levels = self.learned.n_levels
        widest = np.argsort(-n_levels, kind="stable")[:2].tolist()
        cells = n_classes * math.prod(int(n_levels[f]) for f in widest)
        needed, free = _BYTES_A_COUNT * cells, free_memory()
        if needed > free:
            names = " and ".join(f"`{self.features[f].name}` ({n_levels[f]})" for f in widest)
            raise InputError(
                f"counting levels of {names} in blocks of rows would take {say_bytes(needed)} of "
                f"memory; {say_bytes(free)} are free. Merge rare levels, or name one of these "
                f"features in `exclude`."
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
    reader = None
    if isinstance(table, BlockTable):
        learned = learn(table, features, bins, weights)
        if not _codes_fit(table, learned, weights):
            return BlockCodedDesign(table, features, learned)
        codes, reader = _gather(table, features, learned, weights), table.passes.reader
    else:
        codes = Coder(table, features, bins, weights).codes()
    rows = None if weights is None or (weights > 0).all() else weights > 0
    return CodedDesign(codes, features, rows, reader)


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


def _special_features(features: Features, table: Table) -> list[int]:
    """Return the groups of several columns, the categorical columns, and those with gaps."""
    groups = {f for f, group in features.groups.items() if len(group.columns) > 1}
    labeled = np.isin(features.heads, [*table.labels, *table.indicated])
    return sorted(groups | set(np.flatnonzero(labeled).tolist()))


def learn(table: BlockTable, features: Features, bins: Bins, weights: Rows | None) -> LearnedCoding:
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
    learned = LearnedCoding(numeric, rules, sp.issparse(table.numeric), n_stored)
    learned = replace(learned, joint=_learn_joint(table, features, learned, weights))
    of_column = dict(zip(numeric.tolist(), rules.n_levels.tolist()))
    of_column |= {c: of_column[c] + 1 for c in table.indicated if c in of_column}
    of_column |= {c: len(labels.levels) for c, labels in table.labels.items()}
    n_levels = np.array([of_column[c] for c in features.heads.tolist()], dtype=np.intp)
    for f, (levels, _) in learned.joint.items():
        n_levels[f] = len(levels)
    for f in _special_features(features, table):
        what = "group" if f in learned.joint else "categorical column"
        if f in learned.joint or int(features.heads[f]) in table.labels:
            check_levels(f"{what} `{features[f].name}`", int(n_levels[f]), table.n_rows)
    return replace(learned, n_levels=n_levels)


def _columns_in_use(features: Features) -> Indices:
    return np.array(sorted({c for f in features for c in f.columns}), dtype=np.intp)


def _learn_joint(
    table: BlockTable, features: Features, learned: LearnedCoding, weights: Rows | None
) -> dict[int, tuple[tuple[Any, ...], int]]:
    """Find the combinations of levels that occur in groups of several columns."""
    groups = {f: g for f, g in features.groups.items() if len(g.columns) > 1}
    if not groups:
        return {}
    used = np.array(sorted({c for g in groups.values() for c in g.columns}), dtype=np.intp)
    work = partial(_combinations, features, list(groups), learned)
    seen = table.passes.reduce(work, _merge_seen, **table.how(used, [weights]))
    return {f: (each.levels(), each.most_frequent()) for f, each in seen.items()}


def _combinations(
    features: Features,
    groups: list[int],
    learned: LearnedCoding,
    block: Table,
    weights: Floats | None,
) -> dict[int, LevelsSeen]:
    """Return the combinations that occur in a block, in rows with weight."""
    seen = {f: LevelsSeen(f"group `{features[f].name}`") for f in groups}
    if weights is None or weights.any():
        coder = Coder(block, features, None, weights, learned)
        for f, each in seen.items():
            each.add(coder.combinations(f))
    return seen


def _merge_seen(a: dict[int, LevelsSeen], b: dict[int, LevelsSeen]) -> dict[int, LevelsSeen]:
    for f, seen in b.items():
        a[f].merge(seen)
    return a


def how_to_code(
    table: BlockTable, features: Features, learned: LearnedCoding, along: Sequence[Rows | None] = ()
) -> dict[str, Any]:
    """Return the keyword arguments of passes over the codes."""
    make = partial(codes_of_block, features, learned)
    return table.how(_columns_in_use(features), along, make)


def codes_of_block(features: Features, learned: LearnedCoding, block: Table) -> Codes:
    """Return the codes of a block by what was learned of all."""
    return Coder(block, features, None, learned=learned).codes()


def _codes_fit(table: BlockTable, learned: LearnedCoding, weights: Rows | None) -> bool:
    """Whether the codes of all rows, and what counting makes of them, fit into memory here."""
    if isinstance(table.passes, SpreadPasses):
        return False
    memory = free_memory() // 2 if table.memory is None else table.memory
    return bytes_to_keep(learned, live_rows(weights, table.n_rows)) <= memory


def bytes_to_keep(learned: LearnedCoding, n_rows: int) -> int:
    """Return about what the codes of so many rows take, with all that counting makes of them."""
    n = len(learned.n_levels)
    if learned.is_sparse:
        others = max(n - len(learned.columns), 0)
        cells = _BYTES_A_STORED_CELL * (learned.n_stored + n_rows * others)
    else:
        cells = _COPIES * _code_type(learned.n_levels).itemsize * n_rows * n
    return _BYTES_A_ROW * n_rows + cells


def _gather(
    table: BlockTable, features: Features, learned: LearnedCoding, weights: Rows | None
) -> Codes:
    """Return the codes of all rows with weight, made in one pass."""
    how = how_to_code(table, features, learned, [weights])
    parts = table.passes.run(list, _keep_rows, _never_merged, **how)
    shape = live_rows(weights, table.n_rows), len(features)
    stack = _stack_sparse if learned.is_sparse else _stack_dense
    codes = stack(parts, shape, learned.n_levels)
    as_is = learned.columns[learned.rules.as_is]
    alone = np.ones(len(features), dtype=bool)
    alone[_special_features(features, table)] = False
    return codes.without_gaps(np.flatnonzero(~(np.isin(features.heads, as_is) & alone)))


def _keep_rows(parts: list[Codes], codes: Codes, weights: Floats | None) -> None:
    parts.append(codes if weights is None else codes.rows(weights > 0))


def _never_merged(a: Any, b: Any) -> NoReturn:
    raise NotImplementedError("rows that are elsewhere are never gathered")


def _stack_dense(parts: list[Any], shape: tuple[int, int], n_levels: Indices) -> DenseCodes:
    """Put blocks of rows together; each is let go once it has been copied."""
    values = np.empty(shape[::-1], dtype=_code_type(n_levels))
    stop = 0
    parts.reverse()
    while parts:
        block = parts.pop()
        start, stop = stop, stop + block.shape[0]
        values[:, start:stop] = block.values
    return DenseCodes(values, n_levels)


def _stack_sparse(parts: list[Any], shape: tuple[int, int], n_levels: Indices) -> SparseCodes:
    cells, start = [], 0
    for block in parts:
        cells.append((block.owner, start + block.indices, block.codes))
        start += block.shape[0]
    return _codes_of_cells(cells, shape, n_levels)


def _codes_of_cells(cells: list[Cells], shape: tuple[int, int], n_levels: Indices) -> SparseCodes:
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


def _code_type(n_levels: Any) -> np.dtype:
    """Return the smallest type for codes of so many levels, at least 256 of them."""
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
        special = {f: self._special(f) for f in _special_features(self._features, self._table)}
        top = [len(labels.levels) for labels in special.values()]
        n_levels[list(special)] = top
        is_sparse = sp.issparse(self._X)
        room: Any = [] if is_sparse else np.empty((n, N), dtype=_code_type(top))
        f = np.delete(np.arange(n), list(special))
        at = self._place[self._features.heads[f]]
        for part, columns in column_blocks(self._X, at):
            rules = self._rules(columns, at[part])
            columns.put(rules.levels(columns), f[part], room)
            n_levels[f[part]], gaps[f[part]] = rules.n_levels, ~rules.as_is
        for one, labels in special.items():
            if is_sparse:
                room.append(_cells_of_labels(one, labels))
            else:
                room[one] = labels.codes
        made = _codes_of_cells(room, (N, n), n_levels) if is_sparse else DenseCodes(room, n_levels)
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
