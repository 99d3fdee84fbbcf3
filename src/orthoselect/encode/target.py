"""Deciding what a response is: classes or numbers, one or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect import errors
from orthoselect.encode.labels import Labels, find_labels
from orthoselect.encode.response import (
    Response,
    check_encoding,
    class_basis,
    encode_labels,
    response_basis,
)
from orthoselect.errors import InputError, LikelyQuantityWarning
from orthoselect.matrix.base import Floats
from orthoselect.matrix.rows import Rows

TASKS = ("auto", "classification", "regression")
_MAX_RESPONSE_BYTES = 1 << 32


@dataclass(frozen=True)
class TargetColumn:
    """One column of the response as it was read.

    Attributes
    ----------
    name : str
        What to call it in messages.
    values : array of shape (N,)
    categorical : bool
        Its dtype says that it holds labels.
    order : sequence or None
        The order of the labels, if the dtype has one.
    levels : tuple or None
        The labels themselves, in order, if `values` are their codes.
    """

    name: str
    values: NDArray
    categorical: bool = False
    order: Sequence[Any] | None = None
    levels: tuple[Any, ...] | None = None

    def labels(self) -> Labels:
        """Return the column as labels."""
        if self.levels is not None:
            return Labels(self.values, self.levels)
        return find_labels(self.values, self.name, self.order)

    def numbers(self) -> Floats:
        """Return the column as numbers; ValueError or TypeError if it does not hold any."""
        if self.levels is not None:
            return np.array(self.levels, dtype=object).astype(np.float64)[self.values]
        return self.values.astype(np.float64)

    @property
    def is_number(self) -> bool:
        """Whether it could be a quantity."""
        return not self.categorical and self.values.dtype.kind in "fiu"


def build_response(
    columns: Sequence[TargetColumn],
    task: str,
    encoding: str,
    weights: Floats | None,
    *,
    in_blocks: bool = False,
) -> Response:
    """Code the response and find its orthonormal basis.

    Parameters
    ----------
    columns : sequence of TargetColumn
    task : {"auto", "classification", "regression"}
        "auto" reads whole numbers, booleans, strings and categories as classes, and columns with
        a fractional part as numbers, as scikit-learn's ``type_of_target`` does.
    encoding : str
        See `encode_response`.
    weights : array of shape (N,) or None
        Rows without weight count as absent: their classes are not classes.
    in_blocks : bool
        Whether V is asked for by blocks of rows, and is never written out.
    """
    check_task(task)
    check_encoding(encoding)
    check_finite(columns)
    rows = None if weights is None else weights > 0
    resolved = _resolve(columns, rows) if task == "auto" else [task] * len(columns)
    coded: list[Labels | Floats] = []
    for column, kind in zip(columns, resolved):
        if kind == "regression":
            coded.append(as_quantity(column))
            continue
        labels = column.labels()
        if rows is not None:
            labels = labels.present(rows)
        n_rows = len(column.values) if rows is None else int(rows.sum())
        if in_blocks:
            labels = labels.small()
        # Rows of V in memory at a time, at least.
        n_written = len(labels.levels) if in_blocks else len(labels.codes)
        check_classes(column, len(labels.levels), n_rows, n_written, warn=task == "auto")
        coded.append(labels)
    classes = [part.levels for part in coded if isinstance(part, Labels)]
    V = _basis(coded, encoding, weights)
    kind = "regression" if "regression" in resolved else "classification"
    return Response(V, kind, classes, list(coded))


def check_task(task: Any) -> None:
    """Raise unless it names a task."""
    if task not in TASKS:
        raise InputError(f"`task` should be one of {', '.join(map(repr, TASKS))}; got {task!r}.")


def _basis(coded: list[Labels | Floats], encoding: str, weights: Floats | None) -> Rows:
    if len(coded) == 1 and isinstance(coded[0], Labels):
        return class_basis(coded[0], encoding, weights)
    blocks = [encode_labels(p, encoding) if isinstance(p, Labels) else p for p in coded]
    return response_basis(np.hstack(blocks), weights)


def _resolve(columns: Sequence[TargetColumn], rows: NDArray[np.bool_] | None) -> list[str]:
    """Decide the task of each column; numeric columns side by side share one."""
    where = slice(None) if rows is None else rows
    fractional = any(c.is_number and has_fractions(c.values[where]) for c in columns)
    return ["regression" if c.is_number and fractional else "classification" for c in columns]


def has_fractions(values: NDArray) -> bool:
    """Whether some numbers are not whole."""
    return values.dtype.kind == "f" and bool((values != np.trunc(values)).any())


def check_finite(columns: Sequence[TargetColumn]) -> None:
    """Raise if a response of numbers holds NaN or infinity."""
    for column in columns:
        if column.values.dtype.kind == "f":
            _check_numbers(column.values, column.name)


def _check_numbers(values: NDArray, name: str) -> None:
    bad = int((~np.isfinite(values)).sum())
    if bad:
        raise InputError(
            f"{name} should hold finite values; it contains {bad} NaN or infinity "
            f"(inf). Drop those rows."
        )


def as_quantity(column: TargetColumn) -> Floats:
    """Return a column as numbers, (N, 1)."""
    try:
        values = column.numbers()
    except (TypeError, ValueError, OverflowError):
        held = column.values.tolist() if column.levels is None else column.levels
        kind = type(held[0]).__name__
        raise InputError(
            f"{column.name} should hold numbers for `task='regression'`; it holds {kind} values. "
            f"Convert them, or pass `task='classification'`."
        ) from None
    _check_numbers(values, column.name)  # None, and the text "nan", become NaN above
    return values[:, None]


def check_classes(column: TargetColumn, c: int, n_rows: int, n_written: int, *, warn: bool) -> None:
    """Raise for more classes than can be coded, warn of numbers that are rather quantities.

    Parameters
    ----------
    column : TargetColumn
    c : int
        Its number of classes.
    n_rows : int
        Rows with weight.
    n_written : int
        Rows of the response basis that have to be in memory.
    """
    if 8 * c * n_written > _MAX_RESPONSE_BYTES:
        raise InputError(
            f"{column.name} has {c} classes in {n_rows} rows, too many to code. "
            f"If it is a quantity pass `task='regression'`; else merge rare classes."
        )
    # Few rows a class, or dozens of classes that all happen to be numbers: rather a quantity.
    if warn and column.is_number and c > max(10, min(50, n_rows // 10)):
        errors.warn(LikelyQuantityWarning(c, n_rows))
