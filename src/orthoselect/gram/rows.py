"""The response and the weights of the rows of a block, in the table or beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from orthoselect.arguments import check_one_role, find_columns
from orthoselect.encode import TargetColumn
from orthoselect.encode.response import have_fractions, read_weights
from orthoselect.errors import ShapeError
from orthoselect.matrix.base import Floats
from orthoselect.read import Block, numbers_of, read_target, response_columns


@dataclass(frozen=True)
class ReadTarget:
    """The response of a block.

    Attributes
    ----------
    names : list of str
    columns : list of TargetColumn
    at : list of int
        Its columns in the table, if they are there.
    """

    names: list[str]
    columns: list[TargetColumn]
    at: list[int]

    @staticmethod
    def of(source: Block, y: Any) -> ReadTarget:
        """Read the columns of these names, or these values."""
        if isinstance(y, (TargetBeside, ColumnsBeside)):
            return y.read(source)
        named = response_columns(y, source.names)
        if not named:
            return ReadTarget.of_values(source, y)
        at = find_columns(named, source.names, "target")
        words = ["y"] if len(at) == 1 else [f"y column `{name}`" for name in named]
        read = [read_target(source.column(c), source.n_rows, w)[0] for c, w in zip(at, words)]
        return ReadTarget(named, read, at)

    @staticmethod
    def of_values(source: Block, y: Any) -> ReadTarget:
        """Read these values."""
        columns = read_target(y, source.n_rows)
        return ReadTarget(names_of_responses(y, len(columns)), columns, [])

    def has_fractions(self, weights: Floats | None) -> bool:
        """Whether a row with weight has a number that is not whole."""
        return have_fractions(self.columns, weights)


def names_of_responses(y: Any, count: int) -> list[str]:
    """Return what to call responses that are given as values: as a dataframe does, or y0, y1."""
    if count == 1:
        return ["y"]
    if hasattr(y, "columns") or nw.dependencies.is_pyarrow_table(y):
        return [str(name) for name in getattr(y, "column_names", y.columns)]
    return [f"y{r}" for r in range(count)]


@dataclass(frozen=True)
class ReadWeights:
    """The row weights of a block.

    Attributes
    ----------
    values : array of shape (N,) or None
    at : list of int
        Their column in the table, if they are one.
    """

    values: Floats | None
    at: list[int]

    @staticmethod
    def of(source: Block, weights: Any, target: ReadTarget) -> ReadWeights:
        """Read the column of this name, or these values; None for no weights."""
        if weights is None:
            return ReadWeights(None, [])
        at: list[int] = []
        if isinstance(weights, str):
            at = find_columns(weights, source.names, "sample_weight")
            check_one_role({"target": target.at, "sample_weight": at}, source.names)
            weights = numbers_of(source.column(at[0]), weights)
        return ReadWeights(read_weights(weights, source.n_rows), at)


class TargetBeside:
    """A response that is given beside a table in blocks, cut where it is cut."""

    def __init__(self, y: Any) -> None:
        if y is None or np.ndim(y) == 0:
            read_target(y, 0)  # words the error
        self._y = y if hasattr(y, "shape") or hasattr(y, "__getitem__") else np.asarray(y)
        shape = getattr(self._y, "shape", None)
        self._n_rows = shape[0] if shape else len(self._y)

    def __getitem__(self, rows: slice) -> TargetBeside:
        """Return some rows; if there are too few, that is an error where they are read."""
        start, stop, _ = rows.indices(self._n_rows)
        rows = slice(start, stop)  # old narwhals takes no open ends
        if nw.dependencies.is_into_dataframe(self._y):
            return TargetBeside(nw.from_native(self._y, eager_only=True)[rows].to_native())
        if nw.dependencies.is_into_series(self._y):
            return TargetBeside(nw.from_native(self._y, series_only=True)[rows].to_native())
        return TargetBeside(self._y[rows])

    def read(self, source: Block) -> ReadTarget:
        """Return the response of a block."""
        return ReadTarget.of_values(source, self._y)

    def check_rows(self, n_rows: int) -> None:
        """Raise unless it has as many rows as the table."""
        if n_rows != self._n_rows:
            raise ShapeError(
                f"X and y should have the same number of rows (samples); X has {n_rows}, y has "
                f"{self._n_rows}."
            )


class ColumnsBeside:
    """The same, read already: where a piece of it was, beside a partition of the table."""

    def __init__(self, names: Sequence[str] | None, columns: Sequence[TargetColumn]) -> None:
        self._names, self._columns = names, columns

    def __getitem__(self, rows: slice) -> ColumnsBeside:
        some = [replace(column, values=column.values[rows]) for column in self._columns]
        return ColumnsBeside(self._names, some)

    def read(self, source: Block) -> ReadTarget:
        """Return the response of a block."""
        names = self._names or names_of_responses(None, len(self._columns))
        return ReadTarget(list(names), list(self._columns), [])
