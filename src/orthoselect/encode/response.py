"""What y becomes: classes or numbers, one or several -> an orthonormal basis V.

Notation: Y (N, q) the coded response, V (N, m) an orthonormal basis of its centered columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orthoselect.encode.class_sizes import check_class_sizes
from orthoselect.encode.labels import Labels, find_labels, find_missing
from orthoselect.encode.whole_numbers import NumbersSeen
from orthoselect.errors import (
    ConstantTargetError,
    InputError,
    MissingValueError,
)
from orthoselect.matrix.base import EPS, Floats
from orthoselect.matrix.basis import orthonormalize
from orthoselect.matrix.rows import CodedRows, Rows

TASKS = ("auto", "classification", "regression")
_MAX_RESPONSE_BYTES = 1 << 32
DROP = "Drop those rows, or pass `missing='drop_rows'`."


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
    gaps : boolean array of shape (N,), or None
        Where values are missing, if these cannot say so themselves.
    """

    name: str
    values: NDArray
    categorical: bool = False
    order: Sequence[Any] | None = None
    levels: tuple[Any, ...] | None = None
    gaps: NDArray[np.bool_] | None = None

    def missing(self) -> NDArray[np.bool_] | None:
        """Return where values are missing, None for nowhere."""
        if self.gaps is not None:
            return self.gaps if self.gaps.any() else None
        return None if self.levels is not None else find_missing(self.values)

    def take(self, rows: NDArray) -> TargetColumn:
        """Return some of the rows, none of which is missing."""
        return replace(self, values=self.values[rows], gaps=None)

    def labels(self) -> Labels:
        """Return the column as labels."""
        if self.gaps is not None:
            check_complete([self])
        if self.levels is not None:
            return Labels(self.values, self.levels)
        return find_labels(self.values, self.name, self.order)

    def numbers(self) -> Floats:
        """Return the column as numbers; ValueError or TypeError if it does not hold any."""
        if self.gaps is not None:
            check_complete([self])
        if self.levels is not None:
            return np.array(self.levels, dtype=object).astype(np.float64)[self.values]
        return self.values.astype(np.float64)

    @property
    def is_number(self) -> bool:
        """Whether it could be a quantity."""
        return not self.categorical and self.values.dtype.kind in "fiu"


@dataclass(frozen=True)
class Response:
    """What is to be explained.

    Attributes
    ----------
    V : array of shape (N, m), or CodedRows if classes are all there is
        Orthonormal, orthogonal to sqrt(weights).
    task : {"classification", "regression", "none"}
        "none" where there is nothing to explain, and V has no columns.
    classes : list of tuples
        The class labels of each response column; empty for numbers.
    parts : list of Labels and arrays of shape (N, 1)
        The response column by column, as it was read.
    """

    V: Rows
    task: str
    classes: list[tuple[Any, ...]]
    parts: list[Any] = field(default_factory=list)

    @property
    def m(self) -> int:
        """Rank of the centered response: the most that all gains can add up to."""
        return self.V.shape[1]


def no_response(n_rows: int) -> Response:
    """Return the response of a table in which nothing is to be explained.

    >>> no_response(3).m
    0
    """
    return Response(np.zeros((n_rows, 0)), "none", [])


def check_choice(value: Any, choices: Iterable[str], argument: str) -> str:
    """Return the value if it is one of the choices."""
    choices = list(choices)
    if not isinstance(value, str) or value not in choices:
        expected = ", ".join(map(repr, choices))
        raise InputError(f"`{argument}` should be one of {expected}; got {value!r}.")
    return value


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
        "auto" reads booleans, strings, categories and few whole numbers as classes, and other
        numbers as quantities; `whole_numbers.are_quantities` has the rule.
    encoding : str
        See `encode_response`.
    weights : array of shape (N,) or None
        Rows without weight count as absent: their classes are not classes.
    in_blocks : bool
        Whether V is asked for by blocks of rows, and is never written out.
    """
    check_choice(task, TASKS, "task")
    check_choice(encoding, ENCODINGS, "response_encoding")
    check_finite(columns)
    rows = None if weights is None else weights > 0
    # Numeric columns side by side are of one kind.
    quantities = task == "auto" and NumbersSeen.of(columns, weights).are_quantities()
    coded: list[Labels | Floats] = []
    for column in columns:
        if task == "regression" or (quantities and column.is_number):
            coded.append(as_quantity(column))
            continue
        labels = column.labels()
        if rows is not None:
            labels = labels.present(rows)
        n_rows = len(column.values) if rows is None else int(rows.sum())
        # Rows of V in memory at a time, at least.
        n_written = len(labels.levels) if in_blocks else len(labels.codes)
        check_classes(column.name, len(labels.levels), n_rows, n_written)
        sizes = np.bincount(labels.codes if rows is None else labels.codes[rows]).tolist()
        may_be_names = task == "auto" and not column.is_number
        check_class_sizes(column.name, dict(zip(labels.levels, sizes)), may_be_names=may_be_names)
        coded.append(labels)
    classes = [part.levels for part in coded if isinstance(part, Labels)]
    if len(coded) == 1 and isinstance(coded[0], Labels):
        V: Rows = class_basis(coded[0], encoding, weights)
        coded = [replace(coded[0], codes=V.codes)]  # of few bytes, and kept once
    else:
        blocks = [encode_labels(p, encoding) if isinstance(p, Labels) else p for p in coded]
        V = response_basis(np.hstack(blocks), weights)
    if not V.shape[1]:
        first = coded[0]
        one = first.levels[0] if isinstance(first, Labels) else first[_first_row(rows), 0]
        raise constant_target([column.name for column in columns], one)
    kind = "classification" if len(classes) == len(coded) else "regression"
    return Response(V, kind, classes, list(coded))


def _first_row(rows: NDArray[np.bool_] | None) -> int:
    """Return the first row with weight."""
    return 0 if rows is None else int(rows.argmax())


def constant_target(names: Sequence[str], value: Any) -> ConstantTargetError:
    """Return the error for columns of a response, all constant; the first has this value."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value == int(value):
        value = int(value)  # which numbers mostly were before they became floats
    return ConstantTargetError(names[0], value, len(names) - 1)


def check_finite(columns: Sequence[TargetColumn]) -> None:
    """Raise if a response lacks values, or holds infinity among numbers."""
    for column in columns:
        if column.gaps is not None:
            check_complete([column])
        if column.values.dtype.kind == "f":
            _check_numbers(column.values, column.name)


def check_complete(columns: Sequence[TargetColumn]) -> None:
    """Raise if a response lacks values."""
    for column in columns:
        gaps = column.missing()
        if gaps is not None:
            raise MissingValueError(column.name, int(gaps.sum()), DROP)


def _check_numbers(values: NDArray, name: str) -> None:
    n_missing, n_infinite = int(np.isnan(values).sum()), int(np.isinf(values).sum())
    if n_infinite:
        raise InputError(
            f"{name} should hold finite values; it contains {n_infinite} infinity (inf). Replace "
            f"them, or drop those rows."
        )
    if n_missing:
        raise MissingValueError(name, n_missing, DROP)


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


def check_classes(name: str, c: int, n_rows: int, n_written: int) -> None:
    """Raise for more classes than can be coded.

    There are c classes in n_rows rows with weight; n_written rows of V have to be in memory.
    """
    if 8 * c * n_written > _MAX_RESPONSE_BYTES:
        raise InputError(
            f"{name} has {c} classes in {n_rows} rows, too many to code. "
            f"If it is a quantity pass `task='regression'`; else merge rare classes."
        )


def _effects(c: int) -> Floats:
    # The last class is -1 in every column: columns are deviations from the mean of the classes.
    return np.vstack([np.eye(c)[:-1, :-1], -np.ones((1, c - 1))]) if c > 1 else np.ones((1, 1))


def _contrast(c: int) -> Floats:
    # Helmert contrasts: column k sets class k + 1 against the mean of classes 0..k.
    if c < 2:
        return np.ones((1, 1))
    coding = np.zeros((c, c - 1))
    for k in range(c - 1):
        coding[: k + 1, k] = -1.0 / (k + 1)
        coding[k + 1, k] = 1.0
    return coding


# The rows that c classes are coded by, (c, q).
ENCODINGS: dict[str, Callable[[int], Floats]] = {
    "dummy": lambda c: np.eye(c)[:, : max(1, c - 1)],
    "onehot": np.eye,
    "effects": _effects,
    "contrast": _contrast,
    "ordinal": lambda c: np.arange(c, dtype=np.float64)[:, None],
}


def encode_labels(labels: Labels, encoding: str) -> Floats:
    """Code labels as columns of numbers; see `encode_response`."""
    check_choice(encoding, ENCODINGS, "response_encoding")
    return ENCODINGS[encoding](len(labels.levels))[labels.codes]


def encode_response(y: ArrayLike, encoding: str = "dummy") -> Floats:
    """Code class labels as columns of numbers.

    Parameters
    ----------
    y : array-like of shape (N,)
        Class labels of any kind; c distinct ones, taken in sorted order.
    encoding : {"dummy", "onehot", "effects", "contrast", "ordinal"}, default="dummy"
        "dummy": one indicator for each class but the last, c - 1 columns. "onehot": one for each
        class, c columns. "effects": as dummy, with -1 in every column for the last class.
        "contrast": Helmert contrasts, each class against the mean of those before it. These four
        span the same space once centered, and select the same features. "ordinal": one column
        with the place of the class in the sorted order; another model, for classes that are
        steps of a scale.

    Returns
    -------
    Y : array of shape (N, q)

    Examples
    --------
    >>> encode_response(["b", "a", "c"], "dummy")
    array([[0., 1.],
           [1., 0.],
           [0., 0.]])
    >>> encode_response(["b", "a", "c"], "effects")
    array([[ 0.,  1.],
           [ 1.,  0.],
           [-1., -1.]])
    """
    try:
        values = np.asarray(y)
    except ValueError:
        raise InputError("y should be one column of class labels; got lists of lists.") from None
    if values.dtype.kind in "US" and not isinstance(y, np.ndarray):
        values = np.array(y, dtype=object)  # 1 and "1" are two labels
    if values.ndim != 1:
        raise InputError(f"y should be one column of class labels; got shape {values.shape}.")
    return encode_labels(find_labels(values, "y"), encoding)


def response_basis(Y: Floats, weights: Floats | None = None) -> Floats:
    """Orthonormal basis V of the centered columns of Y, in their order, (N, m).

    With weights w the basis is that of sqrt(w) (Y - mean): the rows as the matrix will weigh them.

    Parameters
    ----------
    Y : array of shape (N, q)
    weights : array of shape (N,), optional
    """
    columns, sizes = centered_columns(Y, weights)
    return orthonormalize(columns, sizes)[0]


def class_basis(labels: Labels, encoding: str, weights: Floats | None = None) -> CodedRows:
    """Orthonormal basis V of coded classes; as `response_basis`, but worked out class by class.

    Rows of a class are alike, so c rows weighted by the size of their class say all. They are not
    written out: ``[:]`` does. Every level has to occur in a row with weight.
    """
    c = len(labels.levels)
    if weights is None and labels.counts is not None:
        sizes = labels.counts.astype(np.float64)
    else:
        sizes = np.bincount(labels.codes, weights, minlength=c).astype(np.float64)
    V = class_rows(encoding, sizes)
    root = None if weights is None else np.sqrt(weights)
    codes = labels.codes.astype(np.min_scalar_type(max(c - 1, 0)), copy=False)
    return CodedRows(codes, V, root, sizes)


def class_rows(encoding: str, sizes: Floats) -> Floats:
    """Return the row of V that each class has, (c, m), before it is weighted.

    Sizes (c,) are the rows of each class, or the sums of their weights. All codings but the ordinal
    one span the same space once centered, that of each class against all before it.
    """
    if encoding == "ordinal":
        return response_basis(ENCODINGS[encoding](len(sizes)), sizes) / np.sqrt(sizes)[:, None]
    V = np.zeros((len(sizes), len(sizes) - 1))
    before = float(sizes[0])
    for k, size in enumerate(sizes[1:].tolist()):
        both = before + size
        V[: k + 1, k] = math.sqrt(size / both) / math.sqrt(before)
        V[k + 1, k] = -math.sqrt(before / both) / math.sqrt(size)
        before = both
    return V


def centered_columns(A: NDArray, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """Center the columns of A, scaled to norm one; return them and one rounding of each.

    Constant columns come back as zeros.
    """
    A = np.array(A, dtype=np.float64)
    # A power of two near the largest magnitude: squares stay in range, and nothing is rounded.
    A = np.ldexp(A, -np.frexp(np.abs(A).max(axis=0, initial=0.0))[1])
    root = np.ones(A.shape[0]) if weights is None else np.sqrt(weights)
    raw = np.linalg.norm(A * root[:, None], axis=0)
    shares = root * root / (root @ root)
    A -= shares @ A
    A -= shares @ A  # the first mean is itself rounded
    A *= root[:, None]
    norms = np.linalg.norm(A, axis=0)
    units = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return A * units, EPS * np.where(norms > 0, raw * units, 1.0)
