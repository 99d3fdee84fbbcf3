"""What has to be known of all rows before any can be worked on: the response, levels, their number.

In memory that is the response, in NumPy terms. Of a table in blocks a first pass finds all of it,
and reads those columns only; a `TableCoder` then makes tables of the blocks.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.encode import Labels, Table, TargetColumn
from orthoselect.encode.labels import LevelsSeen, find_missing
from orthoselect.encode.response import check_finite
from orthoselect.errors import InputError, NonFiniteError, ShapeError, listing
from orthoselect.matrix.base import Indices
from orthoselect.matrix.passes import naming
from orthoselect.read.block import Block, as_array
from orthoselect.read.frame_block import check_unique, series_objects, series_order


def no_target() -> InputError:
    """Return the error of a response that is None."""
    return InputError(
        "This selector requires y to be passed, but the target y is None: "
        "pass the classes or numbers to explain. Only `method='unsupervised'` needs none."
    )


def read_target(y: Any, n_rows: int, name: str = "y") -> list[TargetColumn]:
    """Read the response: an array-like, a series or dataframe, or a sparse indicator matrix.

    It is one column, or several side by side, of `n_rows` rows as X has; errors call it `name`.
    """
    if y is None:
        raise no_target()
    columns = _columns_of(y, name)
    if not columns:
        raise ShapeError(f"{name} should have at least one column; it has none.")
    found = len(columns[0].values)
    if found != n_rows:
        about_names = ""
        if len(columns) == 1 and found and isinstance(columns[0].values[0], str):
            about_names = (
                " Columns are named by a list of text in which each stands once, of a table whose "
                "columns have names."
            )
        raise ShapeError(
            f"X and {name} should have the same number of rows (samples); X has {n_rows}, "
            f"{name} has {found}.{about_names}"
        )
    return columns


def numbers_of(column: Any, name: str = "the column") -> Any:
    """Return a column of weights as an array; truth values are 0 and 1."""
    if not isinstance(column, TargetColumn):
        values = np.asarray(column)
        if len(values) and isinstance(values[0], str):
            raise InputError(
                f"`sample_weight` should be a column of numbers; `{name}` holds text, for example "
                f"{str(values[0])!r}."
            )
        return values
    if column.levels is not None and set(column.levels) <= {False, True}:
        return np.array(column.levels, dtype=bool)[column.values]
    if column.values.dtype == bool:
        return column.values
    if not column.is_number:
        raise InputError("`sample_weight` should be a column of numbers; it holds labels.")
    return column.values if column.gaps is None else np.where(column.gaps, np.nan, column.values)


def _columns_of(y: Any, name: str) -> list[TargetColumn]:
    if isinstance(y, TargetColumn):  # read already, block by block
        return [y]
    if isinstance(y, list) and y and all(isinstance(column, TargetColumn) for column in y):
        return y
    if type(y) is not np.ndarray:
        # Bare categoricals of pandas and pyarrow: a series knows their order.
        module, kind = type(y).__module__.split(".")[0], type(y).__name__
        if module == "pandas" and kind in ("Categorical", "CategoricalIndex"):
            y = sys.modules["pandas"].Series(y)
        if module == "pyarrow" and kind == "DictionaryArray":
            y = sys.modules["pyarrow"].chunked_array([y])
        if nw.dependencies.is_into_series(y):
            return [_from_series(nw.from_native(y, series_only=True), name)]
        if nw.dependencies.is_polars_lazyframe(y):
            raise InputError(
                f"{name} should be in memory; got a LazyFrame. Call its `collect()` first."
            )
        if nw.dependencies.is_into_dataframe(y):
            check_unique(y, f"{name} column")
            frame = nw.from_native(y, eager_only=True)
            several = len(frame.columns) > 1
            names = [f"{name} column `{c}`" if several else name for c in frame.columns]
            return [_from_series(series, c) for series, c in zip(frame.iter_columns(), names)]
        y = y.toarray() if sp.issparse(y) else y
    array = as_array(y, name)
    if array.ndim == 1:
        return [_from_array(array, name)]
    if array.ndim != 2:
        raise ShapeError(f"{name} should have one or two dimensions; got shape {array.shape}.")
    several = array.shape[1] > 1
    names = [f"{name} column {j}" if several else name for j in range(array.shape[1])]
    return [_from_array(array[:, j], called) for j, called in enumerate(names)]


def _from_series(series: nw.Series, name: str) -> TargetColumn:
    if series.dtype in (nw.String, nw.Categorical, nw.Enum, nw.Boolean):
        values = series_objects(series)
        return TargetColumn(name, values, categorical=True, order=series_order(series))
    if len(series) and series.null_count() == len(series):  # of the type of nulls, for one
        return _with_gaps(np.zeros(0), np.ones(len(series), dtype=bool), name)
    if not (series.dtype.is_numeric() or series.dtype == nw.Object):
        raise InputError(
            f"{name} should hold classes or numbers; it is {series.dtype}. Convert it."
        )
    if series.dtype == nw.Decimal:
        series = series.cast(nw.Float64)
    if series.dtype == nw.Object or not series.null_count():
        return _from_array(series.to_numpy(), name)
    return _with_gaps(series.drop_nulls().to_numpy(), series.is_null().to_numpy(), name)


def _from_array(values: NDArray, name: str) -> TargetColumn:
    """Return a column; objects are numbers if all of them are, else labels as they are."""
    gaps = find_missing(values) if values.dtype == object else None
    if gaps is not None:
        return _with_gaps(values[~gaps], gaps, name)
    if values.dtype == object:
        kinds = {type(value) for value in values.tolist()}
        whole = all(issubclass(kind, (int, np.integer)) for kind in kinds)
        real = (int, float, np.integer, np.floating, Decimal)
        if bool not in kinds and all(issubclass(kind, real) for kind in kinds):
            with suppress(OverflowError):  # whole numbers beyond 64 bits: labels
                values = values.astype(np.int64 if whole else np.float64)
    return TargetColumn(name, values, categorical=values.dtype.kind not in "fiu")


def _with_gaps(present: NDArray, gaps: NDArray[np.bool_], name: str) -> TargetColumn:
    """Return a column of which some values are missing: what the others are is told by them."""
    some = _from_array(present, name)
    values = np.zeros(len(gaps), dtype=some.values.dtype)
    values[~gaps] = some.values
    return replace(some, values=values, gaps=gaps)


# The first pass over a table in blocks


class Survey:
    """What the first pass finds out: levels of categorical columns, and the response."""

    def __init__(self, labeled: Sequence[str], kept: Sequence[str]) -> None:
        self.seen = [LevelsSeen(f"column `{name}`") for name in labeled]
        self._kept = [MergedColumn(name) for name in kept]
        self.n_rows = 0

    def look(self, block: Block) -> None:
        """Look at one more block, whose first columns are categorical, then those kept."""
        for column, seen in enumerate(self.seen):
            seen.add(block.labels(column), block.order(column))
        for k, kept in enumerate(self._kept):
            values = block.column(len(self.seen) + k)
            columns = read_target(values, block.n_rows, kept.name)
            check_finite(columns)
            kept.add(columns[0])
        self.n_rows += block.n_rows

    def merge(self, other: Survey) -> Survey:
        """Return what both have found, the rows of the other following."""
        for mine, theirs in zip(self.seen, other.seen):
            mine.merge(theirs)
        for kept, more in zip(self._kept, other._kept):
            kept.merge(more)
        self.n_rows += other.n_rows
        return self

    def targets(self) -> list[TargetColumn]:
        """Return the kept columns whole."""
        return [kept.merged() for kept in self._kept]


class MergedColumn:
    """A column put together from its blocks; labels as small whole numbers."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._seen = LevelsSeen(name)
        self._parts: list[NDArray] = []
        self._is_number: bool | None = None  # as long as nothing has come

    def add(self, column: TargetColumn) -> None:
        """Take the column of one more block."""
        self._check_kind(column.is_number)
        values = column.values
        if not column.is_number:
            values = self._seen.add(column.labels(), column.order)
        self._parts.append(values.copy())  # not a view, which would keep the block

    def merge(self, other: MergedColumn) -> None:
        """Take the rows of another."""
        if other._is_number is None:
            return
        self._check_kind(other._is_number)
        parts = other._parts
        if not self._is_number:
            places = self._seen.merge(other._seen)
            kind = np.min_scalar_type(int(places.max(initial=0)))
            parts = [places.astype(kind).take(codes) for codes in parts]
        self._parts += parts

    def _check_kind(self, is_number: bool) -> None:
        if self._is_number is not None and self._is_number != is_number:
            kinds = ["labels", "numbers"]
            raise InputError(
                f"{self.name} should be of one kind in all blocks; it holds "
                f"{kinds[is_number]} here and {kinds[self._is_number]} before. Convert it."
            )
        self._is_number = is_number

    def merged(self) -> TargetColumn:
        """Return the whole column."""
        values = np.concatenate(self._parts)
        if self._is_number:
            return TargetColumn(self.name, values)
        places = self._seen.places()
        places = places.astype(np.min_scalar_type(max(len(places) - 1, 0)))
        codes, levels = places.take(values), self._seen.levels()
        return TargetColumn(self.name, codes, categorical=True, levels=levels)


class TableCoder:
    """Blocks -> tables whose labels have the levels of all blocks.

    It agrees with a few rows of the first block: `first` is their table, `template` the same
    without rows.
    """

    def __init__(
        self,
        names: Sequence[str],
        labeled: Sequence[int],
        survey: Survey,
        skip: set[int],
        first: Block,
    ) -> None:
        none = np.zeros(0, dtype=np.intp)
        self._names, self._skip = names, skip
        self._labeled = {
            c: Labels(none, seen.levels(), seen.most_frequent(), seen.counts())
            for c, seen in zip(labeled, survey.seen)
        }
        self._places = {
            c: {level: at for at, level in enumerate(labels.levels)}
            for c, labels in self._labeled.items()
        }
        self._dtype: Any = None  # that of the first block, unless it is sparse
        try:
            self.first = self._table(first, np.arange(len(names)))
        except NonFiniteError as error:  # whose counts are not those of the table
            raise error.at("a look at a few rows, before the first pass") from None
        numeric = self.first.numeric
        self._dtype = None if hasattr(numeric, "format") else numeric.dtype
        self.template = replace(
            self.first, n_rows=0, numeric=numeric[:0], labels=dict(self._labeled)
        )

    def columns(self, columns: Indices | None) -> Indices:
        """Return these input columns, or all but those skipped."""
        if columns is not None:
            return columns
        kept = [c for c in range(len(self._names)) if c not in self._skip]
        return np.array(kept, dtype=np.intp)

    def table(self, block: Block, at: Indices) -> Table:
        """Return a block of the input columns `at` as a table."""
        with naming(block.place):
            return self._table(block, at)

    def _table(self, block: Block, at: Indices) -> Table:
        place = {int(c): k for k, c in enumerate(at)}
        labeled = {c: place[c] for c in self._labeled if c in place}
        skipped = {place[c] for c in self._skip if c in place}
        numeric = [k for c, k in place.items() if k not in skipped and c not in labeled]
        numeric_here = np.array(numeric, dtype=np.intp)
        return Table(
            n_rows=block.n_rows,
            names=self._names,
            numeric=self._as_first(block.numeric(numeric_here)),
            numeric_at=at[numeric_here],
            labels={c: self._code(block.labels(k), c) for c, k in labeled.items()},
            precision=block.precision(numeric_here),
        )

    def _code(self, labels: Labels, c: int) -> Labels:
        places, known = self._places[c], self._labeled[c]
        unknown = [level for level in labels.levels if level not in places]
        if unknown:
            raise InputError(
                f"a table that is read in blocks should stay the same from pass to pass; column "
                f"`{self._names[c]}` now has {listing(unknown)}, which it did not have before."
            )
        mine = np.array([places[level] for level in labels.levels], dtype=np.intp)
        return Labels(mine.take(labels.codes), known.levels, known.most_frequent)

    def _as_first(self, numeric: Any) -> Any:
        """Return numbers in the storage and precision of the first block."""
        sparse = hasattr(numeric, "format")
        if self._dtype is None or not numeric.shape[1]:
            return numeric
        if sparse:
            raise InputError(
                "blocks should be all sparse or all dense; the first block is dense, this one is "
                "sparse. Convert it with its `toarray()`."
            )
        if (numeric.dtype == np.float32) == (self._dtype == np.float32):
            return numeric
        exact = numeric.dtype.kind == "b" or (numeric.dtype.kind in "iu" and numeric.itemsize == 1)
        if self._dtype != np.float32:
            return numeric.astype(np.float64)
        if exact:
            return numeric.astype(np.float32)
        raise InputError(
            f"blocks should have numbers of one precision; the first block is float32, this one is "
            f"{numeric.dtype}. Convert it with its `astype`."
        )
