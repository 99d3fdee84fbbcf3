"""A table -> the codes of all its features, in memory or block by block; for criteria that count.

A `Coder` (`coding.py`, with the notation) codes one block of rows. Of a table in blocks it is
learned in passes what all of them have to agree on. Codes are kept in memory where they fit, else
made anew in every pass.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.counts import BlockCounts, Codes, Counts, DenseCodes, SparseCodes, count
from orthoselect.encode.coding import (
    Coder,
    LearnedCoding,
    code_type,
    codes_of_cells,
    special_features,
)
from orthoselect.encode.labels import LevelsSeen
from orthoselect.encode.rules import (
    Bins,
    check_bins,
    is_discretizer,
    raise_too_many,
    sum_up,
    warn_of_many,
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
    for f in special_features(features, table):
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
    """Return about how many bytes the codes take, with all that counting makes of them."""
    n = len(learned.n_levels)
    if learned.is_sparse:
        others = max(n - len(learned.columns), 0)
        cells = _BYTES_A_STORED_CELL * (learned.n_stored + n_rows * others)
    else:
        cells = _COPIES * code_type(learned.n_levels).itemsize * n_rows * n
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
    alone[special_features(features, table)] = False
    return codes.without_gaps(np.flatnonzero(~(np.isin(features.heads, as_is) & alone)))


def _keep_rows(parts: list[Codes], codes: Codes, weights: Floats | None) -> None:
    parts.append(codes if weights is None else codes.rows(weights > 0))


def _never_merged(a: Any, b: Any) -> NoReturn:
    raise NotImplementedError("rows that are elsewhere are never gathered")


def _stack_dense(parts: list[Any], shape: tuple[int, int], n_levels: Indices) -> DenseCodes:
    """Put blocks of rows together; each is let go once it has been copied."""
    values = np.empty(shape[::-1], dtype=code_type(n_levels))
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
    return codes_of_cells(cells, shape, n_levels)
