"""Codes of the features of a table: in memory where they fit, else made anew in every pass.

Of a table in blocks it is learned in passes first what all blocks have to agree on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.counts import BlockCounts, Codes, Counts, count
from orthoselect.encode.coding import (
    Coder,
    Learned,
    check_special,
    code_type,
    room_for,
    special_features,
)
from orthoselect.encode.design import Features, find_features
from orthoselect.encode.labels import LevelsSeen
from orthoselect.encode.rules import (
    Bins,
    check_bins,
    is_discretizer,
    raise_too_many,
    sum_up,
    warn_of_many,
)
from orthoselect.encode.table import BlockTable, Table
from orthoselect.errors import InputError
from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.memory import free_memory
from orthoselect.matrix.passes import Reading, SpreadPasses
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
    return bytes_to_keep(learned, live_rows(weights, table.n_rows)) <= memory


def bytes_to_keep(learned: Learned, n_rows: int) -> int:
    """Return about what the codes of so many rows take, with all that counting makes of them."""
    n = len(learned.n_levels)
    if learned.is_sparse:
        others = max(n - len(learned.columns), 0)
        cells = _BYTES_A_STORED_CELL * (learned.n_stored + n_rows * others)
    else:
        cells = _COPIES * code_type(learned.n_levels).itemsize * n_rows * n
    return _BYTES_A_ROW * n_rows + cells


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
        self.room = room_for(shape, learned.n_levels, is_sparse=learned.is_sparse)
        self._n_rows = 0

    def add(self, codes: Codes, weights: Floats | None) -> None:
        """Take the codes of one more block."""
        codes = codes if weights is None else codes.rows(weights > 0)
        self.room.put_rows(self._n_rows, codes)
        self._n_rows += codes.shape[0]

    def merge(self, other: _Gathering) -> _Gathering:
        """Rows that are elsewhere are never gathered."""
        raise NotImplementedError


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
