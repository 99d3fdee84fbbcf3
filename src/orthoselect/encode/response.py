"""The response: classes, numbers, or several of either -> an orthonormal basis V.

Notation: Y (N, q) the coded response, V (N, m) an orthonormal basis of its centered columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orthoselect.encode.labels import Labels, find_labels
from orthoselect.errors import InputError
from orthoselect.matrix.base import EPS, Floats
from orthoselect.matrix.basis import orthonormalize
from orthoselect.matrix.rows import CodedRows, Rows


def _onehot(labels: Labels) -> Floats:
    return np.eye(len(labels.levels))[labels.codes]


def _dummy(labels: Labels) -> Floats:
    return _onehot(labels)[:, : max(1, len(labels.levels) - 1)]


def _effects(labels: Labels) -> Floats:
    # The last class is -1 in every column: columns are deviations from the mean of the classes.
    c = len(labels.levels)
    coding = np.vstack([np.eye(c)[:-1, :-1], -np.ones((1, c - 1))]) if c > 1 else np.ones((1, 1))
    return coding[labels.codes]


def _contrast(labels: Labels) -> Floats:
    # Helmert contrasts: column k sets class k + 1 against the mean of classes 0..k.
    c = len(labels.levels)
    if c < 2:
        return np.ones((len(labels.codes), 1))
    coding = np.zeros((c, c - 1))
    for k in range(c - 1):
        coding[: k + 1, k] = -1.0 / (k + 1)
        coding[k + 1, k] = 1.0
    return coding[labels.codes]


def _ordinal(labels: Labels) -> Floats:
    return labels.codes[:, None].astype(np.float64)


ENCODINGS: dict[str, Callable[[Labels], Floats]] = {
    "dummy": _dummy,
    "onehot": _onehot,
    "effects": _effects,
    "contrast": _contrast,
    "ordinal": _ordinal,
}


def encode_labels(labels: Labels, encoding: str) -> Floats:
    """Code labels as columns of numbers; see `encode_response`."""
    check_encoding(encoding)
    return ENCODINGS[encoding](labels)


def check_encoding(encoding: Any) -> None:
    """Raise unless it names a coding."""
    if not isinstance(encoding, str) or encoding not in ENCODINGS:
        expected = ", ".join(repr(name) for name in ENCODINGS)
        raise InputError(f"`response_encoding` should be one of {expected}; got {encoding!r}.")


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


@dataclass(frozen=True)
class Response:
    """What is to be explained.

    Attributes
    ----------
    V : array of shape (N, m), or CodedRows if classes are all there is
        Orthonormal, orthogonal to sqrt(weights).
    task : {"classification", "regression"}
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
    written out: ``[:]`` does.

    Parameters
    ----------
    labels : Labels
        Every level occurs in a row with weight.
    encoding : str
    weights : array of shape (N,), optional
    """
    c = len(labels.levels)
    if weights is None and labels.counts is not None:
        sizes = labels.counts.astype(np.float64)
    else:
        sizes = np.bincount(labels.codes, weights, minlength=c).astype(np.float64)
    V = class_rows(labels.levels, encoding, sizes)
    root = None if weights is None else np.sqrt(weights)
    return CodedRows(labels.small().codes, V, root, sizes)


def class_rows(levels: tuple[Any, ...], encoding: str, sizes: Floats) -> Floats:
    """Return the row of V that each class has, (c, m), before it is weighted.

    Parameters
    ----------
    levels : tuple
    encoding : str
    sizes : array of shape (c,)
        Rows of each class, or the sum of their weights.
    """
    check_encoding(encoding)
    if encoding != "ordinal":
        return _contrasts(sizes)
    coding = encode_labels(Labels(np.arange(len(levels)), levels), encoding)
    return response_basis(coding, sizes) / np.sqrt(sizes)[:, None]


def _contrasts(sizes: Floats) -> Floats:
    """Return each class against all before it, (c, c - 1): orthonormal over rows of these sizes.

    All codings but the ordinal one span this space once centered.
    """
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
