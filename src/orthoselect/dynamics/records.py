"""What users give as inputs and outputs, in one or several sessions -> named arrays over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from orthoselect.encode.lagged import check_names, find_sessions
from orthoselect.errors import InfiniteSignalError, InputError, ShapeError, listing
from orthoselect.matrix.base import Floats
from orthoselect.read.survey import read_target

Sessions = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Records:
    """Inputs and outputs over time.

    Attributes
    ----------
    u : array of shape (inputs, T)
    y : array of shape (outputs, T)
    u_names, y_names : tuples of str
    sessions : tuple of (start, stop)
    """

    u: Floats
    y: Floats
    u_names: tuple[str, ...]
    y_names: tuple[str, ...]
    sessions: Sessions

    @property
    def n_times(self) -> int:
        """How many rows there are."""
        return self.y.shape[1]


def read_records(
    u: Any, y: Any, sessions: Any = None, fitted: Sequence[str] | None = None
) -> Records:
    """Read inputs, or None, and outputs of as many rows; inputs as those `fitted`, if given."""
    y_values, y_names = read_signals(y, "y")
    if fitted is not None:
        u = as_fitted(u, fitted)
    if u is None:
        u_values, u_names = no_signals(y_values.shape[1])
    else:
        u_values, u_names = read_signals(u, "u")
    if u_values.shape[1] != y_values.shape[1]:
        raise ShapeError(
            f"u and y should have the same number of rows; u has {u_values.shape[1]}, y has "
            f"{y_values.shape[1]}."
        )
    check_names([*y_names, *u_names])
    spans = find_sessions(sessions, y_values.shape[1], np.vstack([y_values, u_values]))
    return Records(u_values, y_values, u_names, y_names, spans)


def read_signals(given: Any, name: str) -> tuple[Floats, tuple[str, ...]]:
    """Return signals, (signals, T), and what they are called; what is missing is NaN.

    They are given as an array, a dataframe, a series, or a mapping of names to columns.
    """
    if given is None:
        raise InputError(f"`{name}` should hold numbers, one row for each time; got None.")
    names = _names(given)
    check_no_dates(given)
    if isinstance(given, Mapping):
        given = np.column_stack([np.asarray(column) for column in given.values()])
    n_rows = given.shape[0] if hasattr(given, "shape") else len(given)
    columns = read_target(given, n_rows, name)
    if names is None:
        many = len(columns) > 1
        names = tuple(f"{name}{j + 1}" if many else name for j in range(len(columns)))
    values = np.empty((len(columns), n_rows))
    for row, column in zip(values, columns):
        if column.categorical:
            what = " Of classes, set `task='classification'`." if name == "y" else ""
            raise InputError(f"{column.name} should hold numbers; it holds labels.{what}")
        row[:] = column.values.astype(np.float64)
        if column.gaps is not None:
            row[column.gaps] = np.nan  # what stands there is a filler
    check_finite(values, names)
    return values, names


def check_finite(values: Floats, names: Sequence[str]) -> None:
    """Raise for signals, (signals, T), with infinite values; NaN stands for what is missing."""
    for name, row in zip(names, np.isinf(values)):
        if row.any():
            raise InfiniteSignalError(name, int(row.sum()), int(row.argmax()))


def check_no_dates(given: Any, used: Sequence[str] | None = None) -> None:
    """Raise for columns of a dataframe, or some of them, that hold dates or times."""
    if not nw.dependencies.is_into_dataframe(given):
        return
    for name, kind in nw.from_native(given, eager_only=True).schema.items():
        if kind.is_temporal() and (used is None or name in used):
            raise InputError(
                f"signals should hold numbers; `{name}` holds dates or times. Leave it out: rows "
                f"are taken in their order, one step apart."
            )


def no_signals(n_times: int) -> tuple[Floats, tuple[str, ...]]:
    """Return what stands for inputs where there are none."""
    return np.zeros((0, n_times)), ()


def _names(given: Any) -> tuple[str, ...] | None:
    if isinstance(given, Mapping):
        return tuple(map(str, given))
    if nw.dependencies.is_into_dataframe(given):
        return tuple(map(str, nw.from_native(given, eager_only=True).columns))
    if nw.dependencies.is_into_series(given):
        name = nw.from_native(given, series_only=True).name
        return (str(name),) if name else None
    return None


def as_fitted(u: Any, names: Sequence[str]) -> Any:
    """Return the inputs that a model was fitted on: by name where they have names, else by place.

    Names that have nothing in common with those of the fit do not count: an array may follow a
    dataframe, and a dataframe an array.
    """
    if not names:
        if u is not None:
            raise InputError("the model has no inputs, so `u` should be None.")
        return None
    if u is None:
        raise InputError(
            f"`u` should hold the {len(names)} input(s) of the model, {listing(names)}; it is None."
        )
    given = _names(u)
    if given is not None and set(names) & set(given):
        absent = [name for name in names if name not in given]
        if absent:
            raise ShapeError(
                f"`u` should have the {len(names)} input(s) that the model was fitted on, "
                f"{listing(names)}; {listing(absent)} is not among its {len(given)} column(s)."
            )
        if isinstance(u, Mapping):
            by_name = {str(name): column for name, column in u.items()}
            return {name: by_name[name] for name in names}
        if nw.dependencies.is_into_dataframe(u):
            frame = nw.from_native(u, eager_only=True)
            places = [given.index(name) for name in names]
            return frame[:, places].to_native()
    n_columns = len(given) if given is not None else np.shape(u)[1] if np.ndim(u) == 2 else 1
    if n_columns != len(names):
        raise ShapeError(
            f"`u` should have the {len(names)} input(s) that the model was fitted on, "
            f"{listing(names)}; it has {n_columns} column(s)."
        )
    return u


def check_inputs(u: Any, names: Sequence[str]) -> Floats:
    """Return the inputs of a prediction, (inputs, T): those that the model was fitted on."""
    u = as_fitted(u, names)
    if u is None:
        return np.zeros((0, 0))
    values, _ = read_signals(u, "u")
    gaps = np.flatnonzero(np.isnan(values).any(axis=0))
    if len(gaps):
        raise InputError(
            f"inputs should have no missing values where a model is run; row {gaps[0]} of `u` has "
            f"one, and {len(gaps) - 1} more row(s) have. Fill them, or predict before and after."
        )
    return values
