"""A table -> integer codes, feature by feature, for criteria that count.

Notation: N rows, n features; a feature's codes are 0, ..., levels - 1. The names of the levels mean
nothing to a criterion that counts, so that they are chosen for little memory: in a sparse table
code 0, which is not written down, is the level of zero.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.counts import Counts, DenseCodes, SparseCodes, count
from orthoselect.encode.bins import (
    MAX_LEVELS,
    Columns,
    DenseColumns,
    SparseColumns,
    dense_block,
    dense_blocks,
    equal_width_cuts,
    mean_std_cuts,
    sparse_block,
    sparse_blocks,
)
from orthoselect.encode.design import (
    Features,
    check_levels,
    find_features,
    has_many_levels,
)
from orthoselect.encode.table import Table
from orthoselect.errors import InputError, NonFiniteError, UncutNumbersWarning, warn
from orthoselect.matrix.base import Floats, Indices

Bins = Any  # "auto", "from_data", "mean_std_3", "mean_std_4", a number, or a discretizer


@dataclass(frozen=True)
class CodedDesign:
    """Codes of the features.

    Attributes
    ----------
    codes : DenseCodes or SparseCodes
        One row of codes, or one sparse column, for each feature.
    features : Features
    rows : boolean array, or None for all
        The rows that are coded: those with weight.
    """

    codes: DenseCodes | SparseCodes
    features: Features
    rows: NDArray[np.bool_] | None = None

    def name_of_column(self, j: int) -> str:
        """Return the name of feature j."""
        return self.features[j].name

    def count(self, y: NDArray, n_classes: int, weights: Floats | None) -> Counts:
        """Make ready to count the features against each other and the class, y of shape (N,)."""
        if self.rows is not None:
            y = y[self.rows]
            weights = None if weights is None else weights[self.rows]
        return count(self.codes, y, n_classes, weights)


def check_bins(bins: Bins) -> None:
    """Raise unless it is a rule for cutting numbers; see `build_codes`."""
    if isinstance(bins, str) and bins in ("auto", "from_data", "mean_std_3", "mean_std_4"):
        return
    number = isinstance(bins, (int, np.integer)) and not isinstance(bins, bool)
    if number and 2 <= bins <= MAX_LEVELS:
        return
    if (
        not (isinstance(bins, type) or number)
        and hasattr(bins, "fit")
        and hasattr(bins, "transform")
    ):
        return
    raise InputError(
        f"`bins` should be 'auto', 'from_data', 'mean_std_3', 'mean_std_4', a number of bins from "
        f"2 to {MAX_LEVELS}, or a discretizer with `fit` and `transform`; got {bins!r}."
    )


def build_codes(
    table: Table,
    groups: Mapping[str, Sequence[int]],
    exclude: set[int],
    bins: Bins = "auto",
    weights: Floats | None = None,
) -> CodedDesign:
    """Code every feature by whole numbers.

    Categorical columns are taken as they are, whatever `bins` says. A group is one variable: its
    levels are the combinations of its columns' levels that occur.

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
        "mean_std_4" cut all numeric columns; see `bins.mean_std_cuts`. A number: so many bins of
        equal width. A discretizer: an object with `fit` and `transform` that gives back a code
        for each number; a copy of it is fitted to the numeric columns (each row as often as its
        weight says, which has to be whole), and its codes are taken as they are.
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
    rows = None if weights is None or (weights > 0).all() else weights > 0
    if rows is not None and weights is not None:
        weights = weights[rows]
    coder = Coder(table, features, store_of(table.numeric, rows), bins, rows, weights)
    return CodedDesign(coder.codes(), features, rows)


class Store(ABC):
    """Numeric columns, and room for the codes of features of the same kind of storage.

    Attributes
    ----------
    X : array or CSC array of shape (N, number of columns)
    """

    X: Any

    @classmethod
    @abstractmethod
    def of(cls, X: Any, rows: NDArray[np.bool_] | None = None) -> Store:
        """Hold X, or some of its rows."""

    @abstractmethod
    def blocks(self, at: Indices) -> Iterator[tuple[slice, Any]]:
        """Yield columns `at` by blocks: which part of `at`, and the `Columns`."""

    @abstractmethod
    def written(self, column: int) -> NDArray:
        """Return the values written down in a column; the others are zero."""

    @abstractmethod
    def column(self, columns: Any, levels: NDArray) -> NDArray:
        """Return the levels of a block of one column, written out, (N,)."""

    @abstractmethod
    def reserve(self, n: int, top: int) -> None:
        """Make room for n features of at most `top` levels."""

    @abstractmethod
    def put(self, f: Indices, columns: Any, levels: NDArray) -> None:
        """Keep the levels of a block of columns as features f."""

    @abstractmethod
    def put_column(self, f: int, codes: NDArray, usual: int | None = None) -> None:
        """Keep codes that are written out, (N,), as feature f; `usual` is the most frequent."""

    @abstractmethod
    def codes(self, levels: Indices) -> DenseCodes | SparseCodes:
        """Return the codes kept, once all features have some; `levels` are their numbers."""


class _DenseStore(Store):
    def __init__(self, X: NDArray) -> None:
        self.X = X

    @classmethod
    def of(cls, X: Any, rows: NDArray[np.bool_] | None = None) -> _DenseStore:
        return cls(X if rows is None else X[rows])

    def blocks(self, at: Indices) -> Iterator[tuple[slice, DenseColumns]]:
        for part in dense_blocks(self.X, at):
            yield part, dense_block(self.X, _as_slice(at[part]))

    def written(self, column: int) -> NDArray:
        return self.X[:, column]

    def column(self, columns: DenseColumns, levels: NDArray) -> NDArray:
        return levels[0]

    def reserve(self, n: int, top: int) -> None:
        self._values = np.empty((n, self.X.shape[0]), dtype=np.min_scalar_type(max(top - 1, 0)))

    def put(self, f: Indices, columns: DenseColumns, levels: NDArray) -> None:
        self._values[_as_slice(f)] = levels

    def put_column(self, f: int, codes: NDArray, usual: int | None = None) -> None:
        self._values[f] = codes

    def codes(self, levels: Indices) -> DenseCodes:
        return DenseCodes(self._values, levels)


class _SparseStore(Store):
    def __init__(self, X: Any) -> None:
        self.X = X
        self._pieces: list[tuple[Indices, NDArray, NDArray]] = []  # feature, row and code of cells

    @classmethod
    def of(cls, X: Any, rows: NDArray[np.bool_] | None = None) -> _SparseStore:
        given, X = X, sp.csc_array(X)
        if rows is not None:
            X = X[np.flatnonzero(rows)]
        if not X.has_canonical_format or (X.data == 0).any():
            X = X.copy() if np.shares_memory(X.data, given.data) else X  # given is only read
            X.sum_duplicates()
            X.eliminate_zeros()
        return cls(X)

    def blocks(self, at: Indices) -> Iterator[tuple[slice, SparseColumns]]:
        X = self.X if len(at) == self.X.shape[1] else self.X[:, at]
        for part in sparse_blocks(X):
            yield part, sparse_block(X, part)

    def written(self, column: int) -> NDArray:
        return self.X.data[self.X.indptr[column] : self.X.indptr[column + 1]]

    def column(self, columns: SparseColumns, levels: NDArray) -> NDArray:
        codes = np.zeros(self.X.shape[0], dtype=levels.dtype)
        codes[columns.X.indices] = levels
        return codes

    def reserve(self, n: int, top: int) -> None:
        self._n = n

    def put(self, f: Indices, columns: SparseColumns, levels: NDArray) -> None:
        filled, indices, levels = columns.written(levels)
        self._pieces.append((np.repeat(f, filled), indices, levels))

    def put_column(self, f: int, codes: NDArray, usual: int | None = None) -> None:
        """Keep codes; the most frequent one is called 0 instead, to write down few."""
        usual = int(np.bincount(codes).argmax()) if usual is None else usual
        rows = np.flatnonzero(codes != usual)
        others = codes[rows] + (codes[rows] < usual)
        small = others.astype(np.min_scalar_type(int(others.max(initial=0))))
        self._pieces.append((np.full(len(rows), f), rows, small))

    def codes(self, levels: Indices) -> SparseCodes:
        nothing = (np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0, np.uint8))
        owner, indices, codes = (np.concatenate(part) for part in zip(nothing, *self._pieces))
        if (np.diff(owner) < 0).any():
            order = np.argsort(owner, kind="stable")
            owner, indices, codes = owner[order], indices[order], codes[order]
        indptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=self._n))])
        return SparseCodes(indptr, indices, codes, (self.X.shape[0], self._n), levels)


def store_of(X: Any, rows: NDArray[np.bool_] | None = None) -> Store:
    """Return the store of numeric columns, or of some of their rows."""
    return (_SparseStore if sp.issparse(X) else _DenseStore).of(X, rows)


def _as_slice(at: Indices) -> Indices | slice:
    """Return neighboring columns as a slice, which needs no copy."""
    if len(at) and at[-1] - at[0] == len(at) - 1 and (np.diff(at) == 1).all():
        return slice(int(at[0]), int(at[-1]) + 1)
    return at


class Coder:
    """Codes features: numeric columns by blocks, groups and categorical columns one by one."""

    def __init__(
        self,
        table: Table,
        features: Features,
        store: Store,
        bins: Bins,
        rows: NDArray[np.bool_] | None,
        weights: Floats | None,
    ) -> None:
        self._table, self._features, self._store = table, features, store
        self._bins, self._rows, self._weights = bins, rows, weights
        self._place = np.full(len(table.names), -1, dtype=np.intp)  # of input columns in the store
        self._place[table.numeric_at] = np.arange(len(table.numeric_at))
        self._place[list(table.labels)] = -1
        if not isinstance(bins, (str, int, np.integer)):
            self._discretize(bins)

    def codes(self) -> DenseCodes | SparseCodes:
        """Return the codes of all features."""
        alone = self._place[self._features.heads] >= 0
        alone[[f for f, group in self._features.groups.items() if len(group.columns) > 1]] = False
        special = {int(f): self._code_special(int(f)) for f in np.flatnonzero(~alone)}
        top = max([MAX_LEVELS, *(n_levels for _, n_levels in special.values())])
        self._store.reserve(len(alone), top)
        levels = np.empty(len(alone), dtype=np.intp)
        f = np.flatnonzero(alone)
        at = self._place[self._features.heads[f]]
        for part, columns in self._store.blocks(at):
            codes, levels[f[part]] = self._code(columns, at[part])
            self._store.put(f[part], columns, codes)
        if self._bins == "auto":
            self._warn_of_many(f, levels[f])
        for one, (codes, n_levels) in special.items():
            self._store.put_column(one, codes, self._usual(one))
            levels[one] = n_levels
        return self._store.codes(levels)

    def _code(self, columns: Any, at: Indices) -> tuple[NDArray[np.uint8], Indices]:
        """Return the levels of a block of numeric columns, and how many each has."""
        self._check_finite(columns)
        if self._bins == "auto":
            return self._code_by_kind(columns)
        if self._bins == "from_data":
            levels, counts = columns.rank()
            if (counts > MAX_LEVELS).any():
                self._raise_too_many(int(at[(counts > MAX_LEVELS).argmax()]))
            return levels, counts
        return columns.compact(columns.cut(self._cuts(columns)))

    def _cuts(self, columns: Columns) -> Floats:
        if self._bins == "mean_std_4":
            return mean_std_cuts(columns, 4, self._weights)
        if isinstance(self._bins, str):
            return mean_std_cuts(columns, 3, self._weights)
        return equal_width_cuts(columns, int(self._bins))

    def _code_by_kind(self, columns: Any) -> tuple[NDArray[np.uint8], Indices]:
        """Take whole numbers as they are, unless they are many, and cut the others."""
        kept = columns.whole.copy()
        if kept.all():
            levels, counts = columns.rank()
        else:
            levels, counts = columns.blank()
            levels[columns.cells(kept)], counts[kept] = columns.take(kept).rank()
        kept &= counts <= MAX_LEVELS
        if not kept.all():
            rest = columns.take(~kept)
            cut = rest.compact(rest.cut(self._cuts(rest)))
            levels[columns.cells(~kept)], counts[~kept] = cut
        return levels, counts

    def _code_special(self, f: int) -> tuple[NDArray, int]:
        """Return the codes of a categorical column or a group, and the number of its levels."""
        feature = self._features[f]
        (codes, n_levels), *others = map(self._code_column, feature.columns)
        for more, width in others:
            codes, n_levels = joint_codes(codes, more, width)
        what = "group" if others else "categorical column"
        check_levels(f"{what} `{feature.name}`", n_levels, len(codes))
        return codes, n_levels

    def _usual(self, f: int) -> int | None:
        """Return the most frequent code of a special feature, if these rows cannot tell."""
        return None

    def _code_column(self, column: int) -> tuple[NDArray, int]:
        if column in self._table.labels:
            labels = self._table.labels[column]
            if self._rows is None:
                return labels.codes, len(labels.levels)
            labels = labels.present(self._rows)
            return labels.codes[self._rows], len(labels.levels)
        at = self._place[[column]]
        ((_, columns),) = self._store.blocks(at)
        levels, counts = self._code(columns, at)
        return self._store.column(columns, levels), int(counts[0])

    def _discretize(self, discretizer: Any) -> None:
        """Let the discretizer code the numeric columns in use; its codes are then taken."""
        used = self._columns_in_use()
        at = self._place[used]
        for _, columns in self._store.blocks(at):
            self._check_finite(columns)
        numbers = self._store.X[:, _as_slice(at)]
        coded = self._fitted(discretizer, numbers).transform(numbers) if used else numbers
        coded = coded if sp.issparse(coded) else np.asarray(coded)
        if coded.shape != numbers.shape or coded.dtype.kind not in "fiub":
            raise InputError(
                f"a discretizer in `bins` should return one code for each number, an array of "
                f"shape {numbers.shape}; {type(discretizer).__name__} returned {coded.dtype} of "
                f"shape {coded.shape}. (KBinsDiscretizer needs `encode='ordinal'`.)"
            )
        self._store = store_of(coded)
        self._place[used] = np.arange(len(used))
        self._bins = "from_data"

    def _fitted(self, discretizer: Any, numbers: Any) -> Any:
        """Return a copy that has learned from the rows, each as often as its weight says."""
        rows: Any = slice(None)
        if self._weights is not None:
            copies = np.rint(self._weights)
            if (copies != self._weights).any():
                raise InputError(
                    "a discretizer in `bins` should be given rows with whole weights, which count "
                    "as copies; these are not whole. Name a rule instead ('mean_std_3', or a "
                    "number of bins), or leave the weights out."
                )
            rows = np.repeat(np.arange(numbers.shape[0]), copies.astype(np.intp))
        return copy.deepcopy(discretizer).fit(numbers[rows])

    def _warn_of_many(self, f: Indices, levels: Indices) -> None:
        """Warn of numbers that were taken as they are and hardly repeat."""
        n_rows = self._store.X.shape[0]
        many = np.flatnonzero(has_many_levels(levels, n_rows))
        if many.size:
            name = self._features[int(f[many[0]])].name
            warn(UncutNumbersWarning(name, int(levels[many[0]]), n_rows, len(many) - 1))

    def _columns_in_use(self) -> list[int]:
        columns = [column for feature in self._features for column in feature.columns]
        return [column for column in columns if self._place[column] >= 0]

    def _check_finite(self, columns: Columns) -> None:
        low, high = columns.extremes
        if np.isfinite(low).all() and np.isfinite(high).all():
            return
        counts: dict[str, tuple[int, int]] = {}
        for column in self._columns_in_use():
            values = self._store.written(int(self._place[column]))
            found = int(np.isnan(values).sum()), int(np.isinf(values).sum())
            if any(found):
                counts[str(self._table.names[column])] = found
        raise NonFiniteError(counts)

    def _raise_too_many(self, place: int) -> NoReturn:
        values = self._store.written(place)
        found = len(np.unique(values)) + (len(values) < self._store.X.shape[0])
        column = next(c for c in self._columns_in_use() if self._place[c] == place)
        raise InputError(
            f"column `{self._table.names[column]}` should have at most {MAX_LEVELS} distinct "
            f"values to be taken as it is; it has {found}. Cut it into bins (`bins='auto'`, "
            f"'mean_std_3' or a number of bins), or name it in `exclude`."
        )


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
