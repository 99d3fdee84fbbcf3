"""A block of rows in memory, and what it answers for its columns: arrays, sparse, objects.

Dataframes have a file of their own, `frame_block.py`; there is `block_of`, too, which finds the
kind of any table.
"""

from __future__ import annotations

import collections.abc
import numbers
from abc import ABC, abstractmethod
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.encode import Labels, NumberedNames, find_labels
from orthoselect.encode.labels import find_missing
from orthoselect.errors import InputError, MissingValueError, ShapeError
from orthoselect.lazy import lazy
from orthoselect.matrix.checksums import (
    Bits,
    Sums,
    number_bits,
    object_bits,
    sum_of_objects,
    sums_of_numbers,
    weighed,
)
from orthoselect.read.looks import Glimpse, are_whole, as_dates, glimpse_objects

FIRST = 64  # rows that tell of most columns of whole numbers that they do not number rows


class Block(ABC):
    """A table that has been looked at but not read; columns without names are x0, x1, ..."""

    names: Sequence[str]
    n_rows: int
    place = "the table"  # what to call it in an error
    nbytes = 0  # that were read for it in a pass
    is_array = False  # whether a look at some columns is a copy of them
    is_plain = False  # whether all columns are numbers and nothing else

    def categorical_columns(self) -> set[int]:
        """Return the columns whose dtype says that they hold labels."""
        return set()

    def labels(self, column: int) -> Labels:
        """Read a column as labels; what is missing has a level of its own, `encode.labels.GAP`."""
        what = f"column `{self.names[column]}`"
        return find_labels(self.column(column), what, gap_is_level=True)

    @abstractmethod
    def numeric(self, columns: NDArray[np.intp]) -> Any:
        """Read columns as numbers, one array or sparse matrix of shape (n_rows, len(columns)).

        What is missing is NaN.
        """

    @abstractmethod
    def column(self, column: int) -> Any:
        """Return a column as it is, an array or a series."""

    def order(self, column: int) -> Sequence[Any] | None:
        """Return all labels of a column in their order, if its dtype has one."""
        return None

    def precision(self, columns: NDArray[np.intp]) -> NDArray | None:
        """Return the relative rounding of numeric columns that are stored wider than they were."""
        return None

    def checksums(self, rows: slice, weights: Bits) -> Sums:
        """Return the checksum of some rows, at least one, of each column; each row has a weight.

        See `matrix/checksums.py`.
        """
        columns = range(len(self.names))
        sums = [sum_of_objects(self._values(c, rows), weights) for c in columns]
        return np.array(sums, dtype=np.uint64)

    def n_distinct(self, column: int) -> int:
        """Return how many distinct values a column has, of a table of few rows."""
        return len(np.unique(object_bits(self._values(column, slice(0, self.n_rows, 1)))))

    def _values(self, column: int, rows: slice) -> Sequence[Any]:
        """Return some rows of a column, as Python has them."""
        return np.asarray(self.column(column))[rows].tolist()

    # What columns hold; see `read/looks.py`

    def unclear(self) -> set[int]:
        """Return the columns that may be no features, as far as types and first rows tell."""
        return set(range(len(self.names)))

    def glimpse(self, column: int, rows: slice) -> Glimpse:
        """Return what a look wants to know of some rows of a column."""
        values = np.asarray(self.column(column))[rows]
        if values.dtype.kind in "OUS":
            return glimpse_objects(values.tolist())
        if values.dtype.kind in "iu":
            return Glimpse("whole numbers", len(values), len(values), values=values)
        missing = int(np.isnan(values).sum()) if values.dtype.kind == "f" else 0
        return Glimpse("others", len(values), len(values) - missing)

    def first_values(self, n_rows: int) -> list[Sequence[Any]]:
        """Return the first rows of every column, as Python has them."""
        rows = slice(0, min(n_rows, self.n_rows), 1)
        return [self._values(c, rows) for c in range(len(self.names))]

    def all_values(self, column: int) -> Sequence[Any]:
        """Return a column as Python has it."""
        return self._values(column, slice(0, self.n_rows, 1))

    def dates(self, column: int) -> NDArray:
        """Return a column of dates, in minutes; NaT where one is missing."""
        return as_dates(self.all_values(column))


def as_array(values: Any, what: str) -> NDArray:
    """Turn an array-like into an array of real numbers, strings or objects."""
    if np.ma.is_masked(values):
        raise MissingValueError(what, int(np.ma.getmaskarray(values).sum()), "Fill the mask.")
    try:
        array = np.asarray(values)
    except ValueError:
        raise ShapeError(f"{what} should have rows of the same length; got ragged lists.") from None
    if array.dtype.kind == "c":
        raise InputError(
            f"Complex data not supported: {what} should hold real numbers, got complex."
        )
    if array.dtype.kind in "mMV":
        raise InputError(
            f"{what} should hold numbers, booleans or strings; it is {array.dtype}. Convert it."
        )
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        # Lists of numbers and strings: NumPy would turn the numbers into strings.
        return np.array(values, dtype=object)
    return array


class ArrayBlock(Block):
    """A NumPy array of numbers or booleans."""

    is_array = is_plain = True

    def __init__(self, X: NDArray) -> None:
        self._X = X
        self.n_rows = X.shape[0]
        self.names = NumberedNames(X.shape[1])

    def column(self, column: int) -> NDArray:
        return self._X[:, column]

    def numeric(self, columns: NDArray[np.intp]) -> NDArray:
        return self._X if len(columns) == self._X.shape[1] else self._X[:, columns]

    def checksums(self, rows: slice, weights: Bits) -> Sums:
        return sums_of_numbers(self._X[rows], weights)

    def unclear(self) -> set[int]:
        kind = self._X.dtype.kind
        if kind == "b" or not self.n_rows:
            return set()
        first = self._X[:FIRST]
        if kind == "f":
            return set(np.flatnonzero(np.isnan(first[0])).tolist())
        return set(np.flatnonzero(may_number_rows(first)).tolist())


class SparseBlock(Block):
    """A SciPy sparse matrix or array."""

    is_plain = True

    def __init__(self, X: Any, names: Sequence[str] | None = None) -> None:
        if X.ndim != 2:
            raise ShapeError(f"X should be 2-dimensional, rows by columns; got shape {X.shape}.")
        if X.dtype.kind == "c":
            raise InputError("Complex data not supported: X should hold real numbers, got complex.")
        if X.dtype.kind not in "fiub":
            raise InputError(f"sparse X should hold numbers; its dtype is {X.dtype}.")
        self._X = X
        self.n_rows = X.shape[0]
        self.names = NumberedNames(X.shape[1]) if names is None else names

    def column(self, column: int) -> NDArray:
        return sp.csc_array(self._X)[:, [column]].toarray()[:, 0]

    def numeric(self, columns: NDArray[np.intp]) -> Any:
        return self._X if len(columns) == self._X.shape[1] else sp.csc_array(self._X)[:, columns]

    def checksums(self, rows: slice, weights: Bits) -> Sums:
        some = self._at_columns(rows) if self._X.format == "csc" else self._X.tocsr()[rows].tocsc()
        some.sum_duplicates()
        bits = weighed(number_bits(some.data), weights[some.indices])
        running = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(bits)])
        return np.diff(running[some.indptr])

    def _at_columns(self, rows: slice) -> Any:
        """Return every `rows.step`-th row; SciPy gives the same in several times the time."""
        X = self._X
        # The step is a power of two, and the first row is below it.
        at = np.flatnonzero((X.indices & (rows.step - 1)) == rows.start)
        indices = X.indices[at] // rows.step
        starts = np.searchsorted(at, X.indptr)
        n_rows = len(range(rows.start, rows.stop, rows.step))
        return sp.csc_array((X.data[at], indices, starts), shape=(n_rows, X.shape[1]))

    def unclear(self) -> set[int]:
        return set()  # of a column without values all are zero

    @lazy
    def _by_columns(self) -> sp.csc_array:
        return sp.csc_array(self._X)

    def n_distinct(self, column: int) -> int:
        X = self._by_columns
        stored = X.data[X.indptr[column] : X.indptr[column + 1]]
        return len(np.unique(stored)) + (len(stored) < self.n_rows)


class ObjectBlock(Block):
    """A NumPy array of objects or strings: each column is looked at for what it holds."""

    def __init__(self, X: NDArray) -> None:
        self._X = X
        self.n_rows = X.shape[0]
        self.names = NumberedNames(X.shape[1])

    def categorical_columns(self) -> set[int]:
        return {c for c in range(len(self.names)) if holds_text(self._X[:, c].tolist())}

    def column(self, column: int) -> NDArray:
        return self._X[:, column]

    def labels(self, column: int) -> Labels:
        return object_labels(self._X[:, column].astype(object), self.names[column])

    def numeric(self, columns: NDArray[np.intp]) -> NDArray:
        result = np.empty((self.n_rows, len(columns)))
        for k, column in enumerate(columns):
            result[:, k] = object_numbers(self._X[:, column], self.names[column])
        return result


def may_number_rows(first: NDArray) -> NDArray[np.bool_]:
    """Whether each column of some rows of whole numbers is distinct, and none is negative."""
    in_order = np.sort(first, axis=0)
    distinct = (in_order[1:] > in_order[:-1]).all(axis=0)
    return distinct & (in_order[0] >= 0)


def may_be_numbered_floats(first: NDArray) -> NDArray[np.bool_]:
    """Whether each column of some rows of floats is whole numbers, rising or falling.

    Counts as floats are common, and not looked at any further.
    """
    before, after = first[:-1], first[1:]
    rise, fall = np.all(after > before, axis=0), np.all(after < before, axis=0)
    whole = np.all(are_whole(first), axis=0)
    return np.asarray((rise | fall) & whole)


def holds_text(values: Sequence[Any]) -> bool:
    """Whether any of some objects is text."""
    return any(isinstance(value, str) for value in values)


def is_blank(value: Any) -> bool:
    """Whether a value is text without a letter."""
    return isinstance(value, str) and not value.strip()


def object_labels(values: NDArray, name: str, order: list[Any] | None = None) -> Labels:
    """Find the labels of objects; blanks are gaps, as in a file."""
    try:
        found = find_labels(values, f"column `{name}`", order, gap_is_level=True)
        blank = [code for code, level in enumerate(found.levels) if is_blank(level)]
        if not blank:
            return found
        values = values.copy()
        values[np.isin(found.codes, blank)] = None
        return find_labels(values, f"column `{name}`", order, gap_is_level=True)
    except TypeError:
        odd = next(v for v in values.tolist() if not isinstance(v, collections.abc.Hashable))
        raise _not_a_value(odd, name) from None


def object_numbers(values: NDArray, name: str) -> NDArray:
    """Return objects as numbers, NaN for gaps."""
    gaps = find_missing(values)
    if gaps is not None:
        values = np.where(gaps, np.nan, values)
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        odd = next(v for v in values.tolist() if not isinstance(v, (numbers.Number, Decimal)))
        raise _not_a_value(odd, name) from None
    except OverflowError:
        raise InputError(
            f"column `{name}` should hold numbers that fit a float; it holds an integer beyond "
            f"1.8e308. Scale it, or name it in `exclude`."
        ) from None


def _not_a_value(odd: Any, name: str) -> Exception:
    if isinstance(odd, str):
        return InputError(
            f"column `{name}` should hold numbers; it holds the text {odd!r}. Name it in "
            f"`categorical_features` (the default takes text columns as categories)."
        )
    return TypeError(
        f"every argument must be a string or a number; column `{name}` holds a "
        f"{type(odd).__name__}. Convert the column, or name it in `exclude`."
    )
