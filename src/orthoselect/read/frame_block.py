"""Dataframes of any library that narwhals knows, and the kind of block that any table is.

This is the only home of dataframes.
"""

from __future__ import annotations

import collections
import collections.abc
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.encode import Labels, find_labels
from orthoselect.encode.labels import is_gap
from orthoselect.errors import InputError, ShapeError, listing
from orthoselect.matrix.checksums import Bits, Sums, sum_of_objects, sums_of_numbers
from orthoselect.read.arrow import KNOWS_HALF, arrow_labels, arrow_numbers
from orthoselect.read.block import (
    FIRST,
    ArrayBlock,
    Block,
    ObjectBlock,
    SparseBlock,
    as_array,
    holds_text,
    is_blank,
    may_be_numbered_floats,
    may_number_rows,
    object_labels,
    object_numbers,
)
from orthoselect.read.dataset import Dataset
from orthoselect.read.looks import (
    BYTES,
    RECORDS,
    Glimpse,
    are_whole,
    as_dates,
    glimpse_objects,
    glimpse_text,
    is_identifier_name,
)
from orthoselect.read.row_blocks import as_frame, is_spark


def block_of(X: Any) -> Block:
    """Look at a table of any kind, and any number of rows."""
    if isinstance(X, Dataset):
        named = block_of(X.data)
        named.names = X.names
        return named
    X = as_frame(X)
    if type(X) is not np.ndarray:
        if sp.issparse(X):
            return SparseBlock(X)
        if nw.dependencies.is_into_dataframe(X):
            check_unique(X)
            return _frame_block(X)
        if nw.dependencies.is_into_series(X):
            raise ShapeError(
                "X should be a table of rows and columns; got a single column (Series). "
                "Pass a dataframe, for example `frame[['name']]`."
            )
        if nw.dependencies.is_polars_lazyframe(X):
            raise InputError("X should be in memory; got a LazyFrame. Call its `collect()` first.")
        if is_spark(X):
            raise InputError(
                f"X should be in memory; got a {type(X).__name__} of Spark. Make statistics of it, "
                f"and ask them: `GramStatistics.of(frame, 'target').select(10)`. If it fits into "
                f"memory, call its `toPandas()`."
            )
    is_records = isinstance(X, (list, tuple)) and X and isinstance(X[0], collections.abc.Mapping)
    if isinstance(X, collections.abc.Mapping) or is_records:
        raise InputError(
            f"X should be a table; got a {'list of records' if is_records else 'mapping'}. Make a "
            f"dataframe of it, for example `pandas.DataFrame(data)`."
        )
    array = as_array(X, "X")
    if array.ndim != 2:
        remedy = (
            "For series, (cases, channels, times), pass `represent='summaries'` to `select`."
            if array.ndim == 3
            else "Reshape your data with `X.reshape(-1, 1)` if it is one feature."
        )
        raise ShapeError(
            f"X should be 2-dimensional, rows by columns; got shape {array.shape}. {remedy}"
        )
    return ArrayBlock(array) if array.dtype.kind in "fiub" else ObjectBlock(array)


def columns_like(block: Block, values: Any) -> list[int]:
    """Return the columns of a table in memory that hold the very values given, row by row."""
    if nw.dependencies.is_into_series(values):
        values = nw.from_native(values, series_only=True).to_list()
    array = np.asarray(values, dtype=object) if isinstance(values, list) else values
    if not isinstance(array, np.ndarray) or array.shape != (block.n_rows,) or block.n_rows < 2:
        return []
    wanted = array.tolist()
    if all(value == wanted[0] for value in wanted):
        return []
    first = block.first_values(2)  # which few columns share
    alike = [c for c, held in enumerate(first) if list(held) == wanted[:2]]
    return [c for c in alike if list(block.all_values(c)) == wanted]


def column_block(values: Any) -> Block | None:
    """Look at one column of something else than numbers; None for numbers, and for several."""
    if nw.dependencies.is_into_series(values):
        series = nw.from_native(values, series_only=True)
        if series.dtype.is_numeric() or series.dtype == nw.Boolean:
            return None
        return FrameBlock(series.alias("y").to_frame().to_native())
    odd = (str, collections.abc.Mapping, collections.abc.Set)
    if isinstance(values, (list, tuple)) and any(isinstance(v, odd) for v in values):
        values = np.fromiter(values, dtype=object, count=len(values))
    if type(values) is not np.ndarray or values.ndim != 1 or values.dtype.kind not in "OU":
        return None
    return ObjectBlock(values[:, None])


def _frame_block(X: Any) -> Block:
    """Look at a dataframe; columns that are all sparse, and filled with zeros, stay so."""
    if not nw.dependencies.is_pandas_dataframe(X) or not len(X.columns):
        return FrameBlock(X)
    kinds = X.dtypes
    sparse = {name: kind for name, kind in kinds.items() if type(kind).__name__ == "SparseDtype"}
    if len(sparse) == len(X.columns) and all(kind.fill_value == 0 for kind in sparse.values()):
        if len({kind.subtype for kind in sparse.values()}) > 1:  # they would meet in objects
            X = X.astype(type(kinds.iloc[0])(np.float64, 0.0))
        return SparseBlock(X.sparse.to_coo().tocsc(), [str(name) for name in X.columns])
    return FrameBlock(X.astype({n: k.subtype for n, k in sparse.items()}) if sparse else X)


def check_unique(frame: Any, what: str = "column") -> None:
    """Raise where a dataframe has two columns of one name."""
    names = map(str, getattr(frame, "column_names", frame.columns))
    twice = [name for name, count in collections.Counter(names).items() if count > 1]
    if twice:
        raise InputError(
            f"{what} names should be unique; {listing(twice)} occurs more than once. "
            "Rename the columns."
        )


class FrameBlock(Block):
    """A dataframe of any library that narwhals knows."""

    def __init__(self, X: Any) -> None:
        self._frame = nw.from_native(X, eager_only=True)
        native = self._frame.to_native()
        self._arrow = native if nw.dependencies.is_pyarrow_table(native) else None
        self._labels = self._frame.columns  # kept: frames list them all for every question
        self.names = [str(label) for label in self._labels]
        self.n_rows = self._frame.shape[0]
        dtypes = list(self._frame.schema.values())
        kinds = {dtype: _kind_of(dtype) for dtype in set(dtypes)}
        self._kinds = [kinds[dtype] for dtype in dtypes]

    def categorical_columns(self) -> set[int]:
        labels = {c for c, kind in enumerate(self._kinds) if kind.holds_labels}
        objects = [c for c, kind in enumerate(self._kinds) if kind.dtype == nw.Object]
        return labels.union(c for c in objects if holds_text(self._series(c).to_list()))

    def column(self, column: int) -> Any:
        return self._series(column).to_native()

    def order(self, column: int) -> Sequence[Any] | None:
        return series_order(self._series(column))

    def labels(self, column: int) -> Labels:
        kind, name = self._kinds[column], self.names[column]
        if self._arrow is not None and kind.holds_labels:
            values = self._arrow.column(column)
            found = arrow_labels(values, f"column `{name}`")
            if found is not None and not any(map(is_blank, found.levels)):
                return found
        series = self._series(column)
        if kind.dtype.is_float() or kind.dtype.is_integer():
            return find_labels(_plain_numbers(series), f"column `{name}`", gap_is_level=True)
        return object_labels(series_objects(series), name, series_order(series))

    def numeric(self, columns: NDArray[np.intp]) -> NDArray:
        for column in columns.tolist():
            if not self._kinds[column].may_be_numbers:
                dtype: Any = self._kinds[column].dtype
                if dtype == nw.Unknown:
                    native = self._series(column).to_native()
                    dtype = getattr(native, "dtype", getattr(native, "type", "Unknown"))
                raise InputError(
                    f"column `{self.names[column]}` should hold numbers; it is {dtype}. Convert "
                    f"it, name it in `exclude` or, if it holds labels, in `categorical_features`."
                )
        kinds = {self._kinds[column] for column in columns.tolist()}
        dtype = next(iter(kinds)).floating if len(kinds) == 1 else None
        if dtype is not None and self._arrow is not None:
            return arrow_numbers(self._arrow, columns.tolist(), dtype)
        if dtype is not None:
            array = self._together(columns)
            if array.dtype.kind == "f":
                return array
        return self._collect(columns)

    def precision(self, columns: NDArray[np.intp]) -> NDArray | None:
        return np.array([self._kinds[column].precision for column in columns.tolist()])

    def checksums(self, rows: slice, weights: Bits) -> Sums:
        sums = np.zeros(len(self.names), dtype=np.uint64)
        numbers = [c for c, kind in enumerate(self._kinds) if kind.is_plain]
        others = [c for c, kind in enumerate(self._kinds) if not kind.is_plain]
        some = self._some_numbers(numbers, rows) if numbers else np.zeros((len(weights), 0))
        if some.dtype.kind in "fiu":
            sums[numbers] = sums_of_numbers(some, weights)
        else:  # pandas has integers and NA as objects
            others = [*numbers, *others]
        for c in others:
            sums[c] = sum_of_objects(self._values(c, rows), weights)
        return sums

    def _some_numbers(self, columns: list[int], rows: slice) -> NDArray:
        native = self._frame.to_native()
        if nw.dependencies.is_pyarrow_table(native):
            return arrow_numbers(native, columns, rows=rows)
        whole = len(columns) == len(self.names)
        if nw.dependencies.is_pandas_dataframe(native):  # whose slices are no copies
            some = native.iloc[rows]
            return (some if whole else some.iloc[:, columns]).to_numpy()
        some = self._frame[_places(rows), :]
        return (some if whole else some[:, columns]).to_numpy()

    def _values(self, column: int, rows: slice) -> Sequence[Any]:
        return self._series(column)[_places(rows)].to_list()

    def first_values(self, n_rows: int) -> list[Sequence[Any]]:
        return list(zip(*self._frame[:n_rows].rows()))

    def unclear(self) -> set[int]:
        numbers = [c for c, kind in enumerate(self._kinds) if kind.is_plain]
        found = {c for c, kind in enumerate(self._kinds) if not kind.is_plain}
        if not self.n_rows or not numbers:
            return found
        row = (self._frame if not found else self._frame[:, numbers])[[0], :].rows()[0]
        found |= {c for c, value in zip(numbers, row) if is_gap(value)}
        whole = [c for c, value in zip(numbers, row) if c not in found and self._is_whole(c, value)]
        if whole:
            n_first = min(FIRST, self.n_rows)
            if self._arrow is not None:
                first = arrow_numbers(self._arrow.slice(0, n_first), whole)
            else:
                first = self._some_numbers(whole, slice(0, n_first, 1))
            may = may_number_rows(first) if first.dtype.kind in "fiu" else [True] * len(whole)
            if first.dtype.kind == "f":
                is_float = [self._kinds[c].dtype.is_float() for c in whole]
                may &= ~np.array(is_float) | may_be_numbered_floats(first)
            found |= {c for c, is_open in zip(whole, may) if is_open}
            found |= {c for c in whole if is_identifier_name(self.names[c])}
        return found

    def _is_whole(self, column: int, value: Any) -> bool:
        """Whether a column, which begins with this value, may hold whole numbers only."""
        dtype = self._kinds[column].dtype
        return dtype.is_integer() or (dtype.is_float() and float(value).is_integer())

    def glimpse(self, column: int, rows: slice) -> Glimpse:
        dtype, n_rows = self._kinds[column].dtype, rows.stop - rows.start
        series = self._series(column)[rows.start : rows.stop]
        n_values = n_rows - int(series.null_count())
        if dtype in (nw.String, nw.Categorical, nw.Enum):
            levels, counts = _count_levels(series)
            if dtype == nw.String:
                return glimpse_text(levels, counts, n_rows)
            return Glimpse("labels", n_rows, n_values, [str(x) for x in levels], counts)
        if dtype == nw.Object:
            return glimpse_objects(series.to_list())
        if dtype.is_integer():
            values = _plain_numbers(series) if n_values == n_rows else None
            return Glimpse("whole numbers", n_rows, n_values, values=values)
        if dtype.is_float():
            missing = series.is_null() | series.is_nan().fill_null(True)  # pandas' nulls are NaN
            n_values = n_rows - int(missing.sum())
            if n_values == n_rows:
                values = _plain_numbers(series).astype(np.float64)
                if are_whole(values).all():
                    return Glimpse("whole numbers", n_rows, n_values, values=values)
            return Glimpse("others", n_rows, n_values)
        kind = _unusable(dtype, series)
        if kind == "dates":
            has_days = dtype in (nw.Date, nw.Datetime)
            dates = series_dates(series.drop_nulls()) if has_days else None
            return Glimpse(kind, n_rows, n_values, values=dates)
        return Glimpse(kind, n_rows, n_values)

    def dates(self, column: int) -> NDArray:
        series = self._series(column)
        if series.dtype in (nw.Date, nw.Datetime):
            return series_dates(series)
        return super().dates(column)

    def _series(self, column: int) -> nw.Series:
        return self._frame.get_column(self._labels[column])

    def _collect(self, columns: NDArray[np.intp]) -> NDArray:
        """Copy columns of unlike dtypes into one array."""
        places: dict[_Kind, list[int]] = {}
        for k, column in enumerate(columns.tolist()):
            places.setdefault(self._kinds[column], []).append(k)
        kinds = {kind.dtype for kind in places}
        small = [dtype for kind, dtype in _INTEGERS.items() if any(kind == k for k in kinds)]
        exact = all(kind in _EXACT_IN_FLOAT32 for kind in kinds)
        dtype = np.dtype(np.float32 if exact else np.float64)
        if small and len(small) == len(kinds):
            dtype = np.result_type(*small)
        result = np.empty((self.n_rows, len(columns)), dtype, order="F")
        for kind, at in places.items():
            # One by one takes long, with a series of narwhals for each; pyarrow's own do not.
            if self._arrow is None and not kind.as_objects and kind.in_numpy:
                array = self._together(columns[at])
                if array.dtype.kind in ("iub" if kind.floating is None else "f"):
                    result[:, at] = array
                    continue
            for k in at:
                numbers = self._numbers(int(columns[k]))
                if numbers.dtype.kind == "f" and result.dtype.kind in "iub":  # there are gaps
                    result = result.astype(np.float64)
                result[:, k] = numbers
        return result

    def _together(self, columns: NDArray[np.intp]) -> NDArray:
        """Return columns of one dtype; with gaps, whole numbers are of another than they were."""
        if len(columns) == len(self.names):
            return self._frame.to_numpy()
        return self._frame[:, columns.tolist()].to_numpy()

    def _numbers(self, column: int) -> NDArray:
        kind, name = self._kinds[column], self.names[column]
        if kind.as_objects:
            return object_numbers(series_objects(self._series(column)), name)
        if self._arrow is not None and kind.in_numpy:
            values = self._arrow.column(column)
            if kind.floating is not None or not values.null_count:
                return values.to_numpy()
        series = self._series(column)
        if kind.floating is not None or not series.null_count():
            return _plain_numbers(series)
        gaps = series.is_null().to_numpy()
        result = np.full(len(gaps), np.nan)
        result[~gaps] = _plain_numbers(series.drop_nulls())
        return result


@dataclass(frozen=True, eq=False)
class _Kind:
    """What a dtype of a dataframe says of its columns; found once, for many may have it."""

    dtype: Any
    holds_labels: bool
    as_objects: bool
    may_be_numbers: bool
    in_numpy: bool
    is_plain: bool  # an array of floats or integers in NumPy
    floating: Any  # the NumPy dtype of floating numbers, None of others
    precision: float  # the relative rounding; whole numbers are as if they were float64


def _kind_of(dtype: Any) -> _Kind:
    as_objects = dtype in (nw.Object, nw.Categorical, nw.Enum)
    floating = next((kind for known, kind in _FLOATS.items() if dtype == known), None)
    return _Kind(
        dtype=dtype,
        holds_labels=dtype in (nw.String, nw.Categorical, nw.Enum),
        as_objects=as_objects,
        may_be_numbers=dtype.is_numeric() or dtype == nw.Boolean or as_objects,
        in_numpy=dtype not in _NOT_IN_NUMPY,
        is_plain=type(dtype) in _PLAIN_NUMBERS,
        floating=floating,
        precision=float(np.finfo(floating or np.float64).eps),
    )


_FLOATS: dict[Any, Any] = {nw.Float64: np.float64, nw.Float32: np.float32}
if KNOWS_HALF:  # else such columns are refused
    _FLOATS[nw.Float16] = np.float16
# Whole numbers of one dtype stay what they are: float32 would say that they are rounded.
_INTEGERS = {nw.Int8: "i1", nw.Int16: "i2", nw.UInt8: "u1", nw.UInt16: "u2", nw.Boolean: "?"}
_EXACT_IN_FLOAT32 = (nw.Float32, nw.Boolean, nw.Int8, nw.UInt8)
_PLAIN_NUMBERS = {
    *(nw.Float64, nw.Float32),
    *(nw.Int64, nw.Int32, nw.Int16, nw.Int8, nw.UInt64, nw.UInt32, nw.UInt16, nw.UInt8),
}
_NOT_IN_NUMPY = (nw.Decimal, nw.Int128, nw.UInt128)


def _places(rows: slice) -> NDArray[np.intp]:
    return np.arange(rows.start, rows.stop, rows.step)


def _plain_numbers(series: nw.Series) -> NDArray:
    return (series.cast(nw.Float64) if series.dtype in _NOT_IN_NUMPY else series).to_numpy()


def series_objects(series: nw.Series) -> NDArray:
    """Return a column's values as Python objects, (N,); those of equal text may be one object."""
    native = series.to_native()
    if nw.dependencies.is_pyarrow_chunked_array(native):
        labels = arrow_labels(native, "the column")
        if labels is not None:
            levels = np.fromiter(labels.levels, dtype=object, count=len(labels.levels))
            return levels.take(labels.codes)
    return np.fromiter(series.to_list(), dtype=object, count=len(series))


def series_order(series: nw.Series) -> list[Any] | None:
    """Return the categories of an ordered categorical, else None."""
    if series.dtype == nw.Enum:  # ordered categories of pandas too
        return list(series.dtype.categories)  # type: ignore[attr-defined]
    native = series.to_native()
    if not nw.dependencies.is_pyarrow_chunked_array(native) or not native.num_chunks:
        return None
    is_ordered = getattr(native.type, "ordered", False)
    return native.unify_dictionaries().chunk(0).dictionary.to_pylist() if is_ordered else None


def _count_levels(series: nw.Series) -> tuple[list[Any], list[int]]:
    """Return the levels of a column that occur, and the rows of each."""
    counted = series.drop_nulls().alias("level").value_counts(name="rows")
    levels, counts = counted.get_column("level").to_list(), counted.get_column("rows").to_list()
    found = [(level, count) for level, count in zip(levels, counts) if count]
    return [level for level, _ in found], [count for _, count in found]


def _unusable(dtype: Any, series: nw.Series) -> str:
    """Return what a column of no plain kind holds, in words."""
    if dtype.is_temporal():
        return "dates"
    if dtype.is_nested():
        return RECORDS
    if dtype == nw.Binary:
        return BYTES
    if dtype == nw.Unknown:
        native = series.to_native()
        kind = str(getattr(native, "dtype", getattr(native, "type", "")))
        if kind.startswith("period"):
            return "dates"
        return RECORDS if kind.startswith(("interval", "map", "extension")) else "others"
    return "others"


def series_dates(series: nw.Series) -> NDArray:
    """Return a column of dates, in minutes, as clocks showed them; NaT where one is missing."""
    if series.dtype == nw.Datetime and series.dtype.time_zone is not None:  # type: ignore[attr-defined]
        series = series.dt.replace_time_zone(None)
    values = series.to_numpy()
    if values.dtype.kind == "M":
        return values.astype("datetime64[m]")
    return as_dates(series.to_list())
