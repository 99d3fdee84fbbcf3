"""A response of any kind -> its columns in NumPy terms."""

from __future__ import annotations

import sys
from contextlib import suppress
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.encode import TargetColumn
from orthoselect.errors import InputError, MissingValueError, ShapeError
from orthoselect.read.block import as_array, check_unique, series_objects, series_order


def read_target(y: Any, n_rows: int, name: str = "y") -> list[TargetColumn]:
    """Read the response: an array-like, a series or dataframe, or a sparse indicator matrix.

    It is one column, or several side by side, of `n_rows` rows as X has; errors call it `name`.
    """
    if y is None:
        raise InputError(
            "This selector requires y to be passed, but the target y is None: "
            "pass the classes or numbers to explain."
        )
    columns = _columns_of(y, name)
    if not columns:
        raise ShapeError(f"{name} should have at least one column; it has none.")
    found = len(columns[0].values)
    if found != n_rows:
        raise ShapeError(
            f"X and {name} should have the same number of rows (samples); X has {n_rows}, "
            f"{name} has {found}.{_about_names(columns)}"
        )
    return columns


def _about_names(columns: list[TargetColumn]) -> str:
    """Return what to say of texts that may have been meant as names of columns."""
    values = columns[0].values
    if len(columns) > 1 or not len(values) or not isinstance(values[0], str):
        return ""
    return (
        " Columns are named by a list of text in which each stands once; `fit` of a table in "
        "memory takes values only."
    )


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
    if not column.is_number:
        raise InputError("`sample_weight` should be a column of numbers; it holds labels.")
    return column.values


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
    missing = series.null_count()
    if missing:
        raise MissingValueError(name, missing, "Drop those rows.")
    if not (series.dtype.is_numeric() or series.dtype == nw.Object):
        raise InputError(
            f"{name} should hold classes or numbers; it is {series.dtype}. Convert it."
        )
    if series.dtype == nw.Decimal:
        series = series.cast(nw.Float64)
    return _from_array(series.to_numpy(), name)


def _from_array(values: NDArray, name: str) -> TargetColumn:
    """Return a column; objects are numbers if all of them are, else labels as they are."""
    if values.dtype == object:
        kinds = {type(value) for value in values.tolist()}
        whole = all(issubclass(kind, (int, np.integer)) for kind in kinds)
        real = (int, float, np.integer, np.floating, Decimal)
        if bool not in kinds and all(issubclass(kind, real) for kind in kinds):
            with suppress(OverflowError):  # whole numbers beyond 64 bits: labels
                values = values.astype(np.int64 if whole else np.float64)
    return TargetColumn(name, values, categorical=values.dtype.kind not in "fiu")
