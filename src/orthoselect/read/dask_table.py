"""Tables of Dask: their columns and partitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from orthoselect.encode import NumberedNames
from orthoselect.errors import InputError, ShapeError


def is_dask(data: Any) -> bool:
    """Whether data is a Dask collection; Dask is not imported for it.

    Examples
    --------
    >>> is_dask([1, 2])
    False
    """
    return type(data).__module__.split(".")[0] in ("dask", "dask_expr")


def gathered(values: Any) -> Any:
    """Return a Dask collection as what it holds, and anything else as it is."""
    return values.compute() if is_dask(values) else values


class DaskTable:
    """A table of Dask: its columns, and its partitions of rows.

    Parameters
    ----------
    data : dask.array.Array or dask.dataframe.DataFrame

    Attributes
    ----------
    names : sequence of str
    sizes : list of int or None
        Rows of each partition; None as long as nobody knows.
    """

    def __init__(self, data: Any) -> None:
        self._data = data
        self._is_frame = hasattr(data, "columns")
        if not self._is_frame and getattr(data, "ndim", 0) != 2:
            raise ShapeError(
                f"a Dask table should be a DataFrame, or an Array of two dimensions; got "
                f"{_describe(data)}. Use `to_frame()`, or `reshape`."
            )
        self.names: Sequence[str] = self._names()
        self.sizes: list[int] | None = self._sizes()

    def _names(self) -> Sequence[str]:
        if not self._is_frame:
            return NumberedNames(self._data.shape[1])
        names = [str(name) for name in self._data.columns]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise InputError(
                f"columns should have names of their own; `{min(twice)}` occurs twice. Rename one."
            )
        return names

    def _sizes(self) -> list[int] | None:
        if self._is_frame or any(math.isnan(size) for size in self._data.chunks[0]):
            return None
        return [int(size) for size in self._data.chunks[0]]

    @property
    def n_rows(self) -> int | None:
        """Rows of all partitions, if they are known."""
        return None if self.sizes is None else sum(self.sizes)

    def column(self, column: int) -> Any:
        """Return a column as a Dask collection."""
        data = self._data
        return data[list(data.columns)[column]] if self._is_frame else data[:, column]

    def without(self, columns: Sequence[int]) -> Any:
        """Return the Dask collection of all other columns."""
        kept = [c for c in range(len(self.names)) if c not in columns]
        if not self._is_frame:
            return self._data[:, kept]
        labels = list(self._data.columns)
        return self._data[[labels[c] for c in kept]]

    def partitions(self, columns: Sequence[int] | None) -> list[Any]:
        """Return a `Delayed` for each partition, with some columns or with all."""
        data = self._data
        if self._is_frame:
            labels = list(data.columns)
            data = data if columns is None else data[[labels[c] for c in columns]]
            return list(data.to_delayed())
        data = data if columns is None else data[:, list(columns)]
        return list(data.rechunk({1: -1}).to_delayed()[:, 0])


def _describe(data: Any) -> str:
    ndim = getattr(data, "ndim", None)
    return type(data).__name__ if ndim is None else f"{type(data).__name__} of {ndim} dimension(s)"
