"""A table in plain NumPy and SciPy terms, and the design made of it: one matrix, and who owns what.

A table is what is left of any input once it has been read. Of a table whose rows come in blocks the
levels of categorical columns have been found, and each block is coded by them; so a block is an
ordinary `Table` of some rows, and turns into a matrix as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Protocol, overload

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.encode.labels import Labels
from orthoselect.errors import ManyLevelsWarning, NonFiniteError, warn
from orthoselect.matrix import BlockMatrix, DenseMatrix, Matrix, SparseMatrix, StackedMatrix
from orthoselect.matrix.base import Indices
from orthoselect.matrix.passes import Passes, Prepare
from orthoselect.matrix.rows import Rows
from orthoselect.matrix.stacked import ProjectedMatrix

_SAMPLE = 16  # rows that offsets are guessed from
_CODED_AT_ONCE = 1 << 18  # rows of categorical columns that are set side by side together


class NumberedNames(Sequence[str]):
    """The names x0, x1, ... of a table without names, made when asked for.

    Examples
    --------
    >>> NumberedNames(3)[1]
    'x1'
    """

    def __init__(self, n: int) -> None:
        self._n = n

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [f"x{i}" for i in range(*index.indices(self._n))]
        return f"x{range(self._n)[index]}"


@dataclass(frozen=True)
class Table:
    """Numeric columns as one array, categorical columns as labels.

    Attributes
    ----------
    names : sequence of str
        Names of all input columns, the skipped ones included.
    numeric : array or SciPy sparse of shape (N, number of numeric columns)
    numeric_at : integer array
        Input position of each column of `numeric`, rising. A column that had gaps may stand twice:
        its values, filled, and 1 where one was missing.
    labels : mapping of int to Labels
        The categorical columns by input position.
    precision : array of shape (number of numeric columns,), optional
        Relative rounding of each column of `numeric`, where it is not that of its dtype.
    """

    # Whether there are rows at all, and not only means and products of the columns.
    has_rows: ClassVar[bool] = True
    why_no_rows: ClassVar[str] = ""

    n_rows: int
    names: Sequence[str]
    numeric: Any
    numeric_at: NDArray[np.intp]
    labels: Mapping[int, Labels]
    precision: NDArray[np.float64] | None = None

    def rare_parts(self) -> list[str]:
        """Return columns, levels and classes of which few rows differ, where rows are not here."""
        return []

    @property
    def indicated(self) -> list[int]:
        """The input columns of numbers that have an indicator of their gaps, rising."""
        at = self.numeric_at
        return at[1:][at[1:] == at[:-1]].tolist()

    def matrix(self, make: Callable[[Table], Matrix], starts: Indices, widths: Indices) -> Matrix:
        """Return the design's matrix of all rows.

        Parameters
        ----------
        make : callable
            Gives the matrix of a table, whose columns may be some of these only.
        starts, widths : arrays of shape (number of input columns,)
            Where the columns of the matrix that an input column owns start, and how many they are.
        """
        return make(self)


class TableMaker(Protocol):
    """Makes tables of blocks; it may be sent to where the blocks are."""

    def columns(self, columns: Indices | None) -> Indices:
        """Return the input columns that a block is to have for these; None for all."""
        ...

    def table(self, block: Any, at: Indices) -> Table:
        """Return a block of the input columns `at` as a table."""
        ...


@dataclass(frozen=True)
class BlockTable(Table):
    """A table in blocks; `numeric` and the codes of `labels` have no rows.

    Attributes
    ----------
    n_rows : int
        Rows of all blocks.
    passes : Passes
    maker : TableMaker
        The labels of all its tables have the same levels.
    first : Table or None
        Some rows of the first block.
    memory : int or None
        Bytes that products may take; None for a default.
    """

    passes: Passes = field(kw_only=True)
    maker: TableMaker = field(kw_only=True)
    first: Table | None = None
    memory: int | None = None

    def how(
        self,
        columns: Indices | None,
        along: Sequence[Rows | None] = (),
        make: Callable[[Table], Any] | None = None,
    ) -> dict[str, Any]:
        """Return the keyword arguments of passes over some input columns, or all.

        `along` is cut where the rows are cut; `make` makes of a block's table what work is given.
        """
        at = self.maker.columns(columns)
        return {"columns": at, "prepare": partial(_made, self.maker, at, make), "along": along}

    def matrix(self, make: Callable[[Table], Matrix], starts: Indices, widths: Indices) -> Matrix:
        used = np.flatnonzero(widths > 0)
        used = used[np.argsort(starts[used], kind="stable")]
        owners = np.repeat(used, widths[used])  # the input column of each design column, (n,)
        sample = None
        if self.first is not None:
            rows = np.linspace(0, self.first.n_rows - 1, _SAMPLE).astype(np.intp)
            sample = make(self.first).pilot(np.unique(rows))
        none = Table(0, self.names, self.numeric, self.numeric_at, self.labels, self.precision)
        return BlockMatrix(
            self.passes,
            make(none),
            project=partial(_project, self.maker, make, owners),
            sample=np.zeros((1, len(owners))) if sample is None else sample,
            memory=self.memory,
        )


def _made(maker: TableMaker, at: Indices, make: Callable[[Table], Any] | None, block: Any) -> Any:
    """Make a table of a block, and something else of the table."""
    table = maker.table(block, at)
    return table if make is None else make(table)


def _project(
    maker: TableMaker, make: Callable[[Table], Matrix], owners: Indices, J: Indices | None
) -> tuple[Indices, Prepare]:
    """Return which input columns design columns J need, and what makes a matrix of a block."""
    columns = None if J is None else np.unique(owners[J])
    at = maker.columns(columns)
    if columns is not None:
        mine = np.flatnonzero(np.isin(owners, columns))
        make = partial(_projected, make, mine, len(owners))
    return at, partial(_made, maker, at, make)


def _projected(make: Callable[[Table], Matrix], mine: Indices, n: int, table: Table) -> Matrix:
    return ProjectedMatrix(make(table), mine, n)


def check_finite_numbers(numeric: Any, names: Sequence[str]) -> None:
    """Raise for NaN and infinity in an array or SciPy sparse matrix with columns of these names."""
    sparse = hasattr(numeric, "tocoo")
    if (numeric.data if sparse else numeric).dtype.kind != "f":
        return
    with np.errstate(all="ignore"):
        if np.isfinite(numeric.sum()):
            return
    n_nan, n_inf = (_count_by_column(numeric, is_bad) for is_bad in (np.isnan, np.isinf))
    bad = np.flatnonzero(n_nan + n_inf).tolist()
    if bad:  # none if a sum of finite numbers was too large
        raise NonFiniteError({names[k]: (int(n_nan[k]), int(n_inf[k])) for k in bad})


def _count_by_column(numeric: Any, is_bad: Callable[[NDArray], NDArray]) -> NDArray[np.intp]:
    """Count the entries of each column that are bad."""
    if not hasattr(numeric, "tocoo"):
        return is_bad(numeric).sum(axis=0)
    entries = numeric.tocoo()
    return np.bincount(entries.col[is_bad(entries.data)], minlength=numeric.shape[1])


# Designs


@dataclass(frozen=True)
class Feature:
    """What is selected as a whole: a column, or a group of them."""

    name: str
    columns: tuple[int, ...]  # input positions


@dataclass(frozen=True, eq=False)
class Features(Sequence[Feature]):
    """The features of a design, made when asked for."""

    names: Sequence[str]  # of the input columns
    heads: Indices  # the first input column of each feature
    groups: Mapping[int, Feature]  # the features that own more than their head, by their place

    def __len__(self) -> int:
        return len(self.heads)

    def __getitem__(self, f: int) -> Feature:  # type: ignore[override]
        if f in self.groups:
            return self.groups[f]
        head = int(self.heads[f])
        return Feature(str(self.names[head]), (head,))

    def places(self, columns: Sequence[int]) -> list[int]:
        """Return the features that own these input columns, each once, in the order given."""
        if not columns:
            return []
        owner = dict(zip(self.heads.tolist(), range(len(self))))
        for f, feature in self.groups.items():
            owner.update(dict.fromkeys(feature.columns, f))
        return list(dict.fromkeys(owner[column] for column in columns))


@dataclass(frozen=True)
class Design:
    """A matrix and the ownership of its columns.

    Attributes
    ----------
    matrix : Matrix
        N rows, n design columns.
    features : Features
    single : integer array of shape (number of features,)
        The design column of a feature that owns just one, else -1.
    wide : mapping of int to integer array
        The design columns of the features that own several (or none).
    n_rows : int
        Rows of the table; the matrix may have fewer where only statistics are left of them.
    coded : frozenset of int
        The features that are one categorical column: their columns are 0 and 1, and never 1
        together.
    """

    matrix: Matrix
    features: Features
    single: Indices
    wide: Mapping[int, Indices]
    n_rows: int
    coded: frozenset[int] = frozenset()

    @property
    def plain(self) -> bool:
        """Whether each feature is known to be the column of its place, and nothing else."""
        return self.single is self.features.heads and len(self.single) == self.matrix.shape[1]

    def columns_of(self, f: int) -> Indices:
        """Return the design columns of feature f."""
        return self.wide[f] if f in self.wide else self.single[f : f + 1]

    @property
    def unowned(self) -> Indices:
        """The design columns that belong to no feature."""
        if self.plain:
            return np.zeros(0, dtype=np.intp)
        owned = np.zeros(self.matrix.shape[1], dtype=bool)
        owned[self.single[self.single >= 0]] = True
        for columns in self.wide.values():
            owned[columns] = True
        return np.flatnonzero(~owned)

    def name_of_column(self, j: int) -> str:
        """Return the name of the feature that owns design column j."""
        at = np.flatnonzero(self.single == j)
        if at.size:
            return self.features[int(at[0])].name
        return next(self.features[f].name for f, columns in self.wide.items() if j in columns)


def build_design(table: Table, groups: Mapping[str, Sequence[int]], exclude: set[int]) -> Design:
    """Set numeric columns and indicator blocks side by side, and say who owns what.

    Parameters
    ----------
    table : Table
    groups : mapping of str to input columns
        Groups do not overlap; a column in none is a feature of its own.
    exclude : set of input columns
        Columns that no feature owns.
    """
    for at, labels in table.labels.items():
        check_levels(f"categorical column `{table.names[at]}`", len(labels.levels), table.n_rows)
    if len(table.numeric_at) == len(table.names) and not (table.labels or groups or exclude):
        # Columns are features, and nothing has to be worked out for each of them.
        heads = table.numeric_at
        matrix = table.matrix(_matrix, heads, np.broadcast_to(np.intp(1), len(heads)))
        return Design(matrix, Features(table.names, heads, {}), heads, {}, table.n_rows)
    numeric, widths = np.unique(table.numeric_at, return_counts=True)
    return arrange(table, _matrix, numeric, widths, find_features(table, groups, exclude))


def arrange(
    table: Table,
    make: Callable[[Table], Matrix],
    numeric: Indices,
    n_columns: Any,
    features: Features,
) -> Design:
    """Say who owns what of the matrix that `make` makes of tables.

    First come those columns of it that belong to the input columns `numeric`, so many for each of
    them, then the indicators of categorical ones.
    """
    starts = np.zeros(len(table.names), dtype=np.intp)
    widths = np.full(len(table.names), -1, dtype=np.intp)  # -1: not read
    labeled = np.array(list(table.labels), dtype=np.intp)
    n_indicators = [len(labels.levels) - 1 for labels in table.labels.values()]
    before = 0
    for at, own in (numeric, n_columns), (labeled, n_indicators):  # a column may be in both
        widths[at] = own
        starts[at] = before + np.cumsum(widths[at]) - widths[at]
        before += int(widths[at].sum())
    heads = features.heads
    single = np.where(widths[heads] == 1, starts[heads], -1)
    owned = {f: features[f].columns for f in np.flatnonzero(single < 0).tolist()}
    owned |= {f: g.columns for f, g in features.groups.items() if len(g.columns) > 1}
    single[list(owned)] = -1
    wide = {
        f: np.concatenate([np.arange(starts[c], starts[c] + widths[c]) for c in columns])
        for f, columns in owned.items()
    }
    coded = {f for f, head in enumerate(heads.tolist()) if head in table.labels}
    coded -= {f for f, group in features.groups.items() if len(group.columns) > 1}
    if not table.has_rows:
        coded = set()
    matrix = table.matrix(make, starts, widths)
    return Design(matrix, features, single, wide, table.n_rows, frozenset(coded))


def find_features(table: Table, groups: Mapping[str, Sequence[int]], exclude: set[int]) -> Features:
    """Return what can be selected; see `build_design`."""
    usable = np.zeros(len(table.names), dtype=bool)
    usable[table.numeric_at] = True
    usable[list(table.labels)] = True
    usable[list(exclude)] = False
    members = {name: tuple(c for c in columns if usable[c]) for name, columns in groups.items()}
    # A group stands where its first column stands, so that ties go to the lowest column.
    firsts = {min(columns): name for name, columns in members.items() if columns}
    usable[[c for columns in members.values() for c in columns if c not in firsts]] = False
    heads = np.flatnonzero(usable)
    grouped = {
        int(np.searchsorted(heads, head)): Feature(name, members[name])
        for head, name in firsts.items()
    }
    return Features(table.names, heads, grouped)


def _matrix(table: Table) -> Matrix:
    """Set numeric columns and indicator blocks side by side."""
    kind = SparseMatrix if sp.issparse(table.numeric) else DenseMatrix
    parts: list[Matrix] = [kind(table.numeric)] if len(table.numeric_at) else []
    if parts and table.precision is not None:
        parts[0].precision = table.precision
    if table.labels:
        parts.append(SparseMatrix(indicators(table)))
    if not parts:
        parts.append(DenseMatrix(np.empty((table.n_rows, 0))))
    return parts[0] if len(parts) == 1 else StackedMatrix(parts)


def indicators(table: Table) -> sp.csc_array:
    """Code every categorical column by one indicator for each level but the most frequent.

    Without a rare level instead, the others would nearly add up to a constant.
    """
    every, n_rows = list(table.labels.values()), table.n_rows
    # Many short columns at once, since each array of SciPy takes its time; long ones one by one.
    at_once = max(1, _CODED_AT_ONCE // max(1, n_rows))
    blocks = []
    for k in range(0, len(every), at_once):
        rows, places, width = [], [], 0
        for labels in every[k : k + at_once]:
            usual = labels.usual
            rows.append(np.flatnonzero(labels.codes != usual))
            codes = labels.codes[rows[-1]].astype(np.intp, copy=False)
            places.append(width + codes - (codes > usual))
            width += len(labels.levels) - 1
        at = (np.concatenate(rows), np.concatenate(places))
        ones = np.ones(len(at[0]))
        blocks.append(sp.coo_array((ones, at), shape=(n_rows, width)).tocsc())
    return sp.csc_array(sp.hstack(blocks, format="csc"))


def check_levels(what: str, n_levels: int, n_rows: int) -> None:
    """Warn of nearly as many levels as rows."""
    if has_many_levels(n_levels, n_rows):
        warn(ManyLevelsWarning(what, n_levels, n_rows))


def has_many_levels(n_levels: Any, n_rows: int) -> Any:
    """Whether so many levels, a number or an array, fit any response of so many rows."""
    return n_levels > max(10, n_rows // 2)
