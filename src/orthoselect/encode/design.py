"""A design: one matrix, and which of its columns each feature owns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from orthoselect.encode.table import Table
from orthoselect.errors import InputError, ManyLevelsWarning, warn
from orthoselect.matrix import DenseMatrix, Matrix, SparseMatrix, StackedMatrix
from orthoselect.matrix.base import Indices

_CODED_AT_ONCE = 1 << 18  # rows of categorical columns that are set side by side together
# Each step looks at the inner products within a feature's block, which grow with its square.
_MAX_LEVELS = 4000


@dataclass(frozen=True)
class Feature:
    """What is selected as a whole: a column, or a group of them."""

    name: str
    columns: tuple[int, ...]  # input positions


class Features(Sequence[Feature]):
    """The features of a design, made when asked for.

    Parameters
    ----------
    names : sequence of str
        Names of the input columns.
    heads : integer array
        First input column of each feature.
    groups : mapping of int to Feature
        The features that own more than their head, by their place.
    """

    def __init__(self, names: Sequence[str], heads: Indices, groups: Mapping[int, Feature]) -> None:
        self._names = names
        self.heads = heads
        self.groups = groups

    def __len__(self) -> int:
        return len(self.heads)

    def __getitem__(self, f: int) -> Feature:  # type: ignore[override]
        if f in self.groups:
            return self.groups[f]
        head = int(self.heads[f])
        return Feature(str(self._names[head]), (head,))

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
    """

    matrix: Matrix
    features: Features
    single: Indices
    wide: Mapping[int, Indices]

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
    check_labels(table)
    if len(table.numeric_at) == len(table.names) and not (table.labels or groups or exclude):
        # Columns are features, and nothing has to be worked out for each of them.
        heads = table.numeric_at
        matrix = table.matrix(_matrix, heads, np.broadcast_to(np.intp(1), len(heads)))
        return Design(matrix, Features(table.names, heads, {}), heads, {})
    widths = np.ones(len(table.numeric_at), dtype=np.intp)
    return arrange(table, _matrix, table.numeric_at, widths, find_features(table, groups, exclude))


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
    return Design(table.matrix(make, starts, widths), features, single, wide)


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


def check_labels(table: Table) -> None:
    """Raise or warn where a categorical column has too many levels."""
    for at, labels in table.labels.items():
        check_levels(f"categorical column `{table.names[at]}`", len(labels.levels), table.n_rows)


def check_levels(what: str, n_levels: int, n_rows: int) -> None:
    """Raise for more levels than can be coded, warn of nearly as many as rows."""
    if n_levels > _MAX_LEVELS:
        raise InputError(
            f"{what} should have at most {_MAX_LEVELS} levels; it has "
            f"{n_levels}. Merge rare levels, or name it in `exclude`."
        )
    if has_many_levels(n_levels, n_rows):
        warn(ManyLevelsWarning(what, n_levels, n_rows))


def has_many_levels(n_levels: Any, n_rows: int) -> Any:
    """Whether so many levels, a number or an array, fit any response of so many rows."""
    return n_levels > max(10, n_rows // 2)
