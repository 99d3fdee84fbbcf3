"""Orthogonal, multiple and canonical correlation, and Fisher's criterion, of small tables.

These are the quantities whose equality makes the method work: the squared orthogonal
correlations add up to the squared multiple or canonical correlations, and for classes these give
Fisher's criterion. X and Y may be rank-deficient; nothing is inverted.

Notation: X (N, n), Y (N, q); Q orthonormal columns of either.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orthoselect.encode.labels import find_labels
from orthoselect.encode.response import centered_columns, encode_response
from orthoselect.errors import InputError, ShapeError
from orthoselect.matrix.base import Floats
from orthoselect.matrix.basis import orthonormalize


def socc(X: ArrayLike, Y: ArrayLike) -> Floats:
    """Squared orthogonal correlation coefficients of X and Y.

    h[i, j] = (v_j'w_i)^2 / (v_j'v_j w_i'w_i), where w_i is column i of X, centered and made
    orthogonal to the columns before it, and v_j is made from Y likewise. The sum of all h is the
    sum of squared canonical correlations; for one response it is R squared.

    Parameters
    ----------
    X : array-like of shape (N, n) or (N,)
    Y : array-like of shape (N, q) or (N,)
        Numbers; for classes see `orthoselect.encode.encode_response`.

    Returns
    -------
    h : array of shape (n, q)
        Rows and columns that depend linearly on those before them are zero.

    References
    ----------
    S. Zhang and Z.-Q. Lang, Pattern Recognition 123, 2022.
    https://doi.org/10.1016/j.patcog.2021.108419

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 2.0]])
    >>> socc(X, [0.0, 1.0, 1.0, 3.0]).round(3)
    array([[0.853],
           [0.142]])
    """
    X, Y = _matching(X, Y)
    W, of_X = _orthonormal(X)
    V, of_Y = _orthonormal(Y)
    h = np.zeros((X.shape[1], Y.shape[1]))
    h[np.ix_(of_X, of_Y)] = (W.T @ V) ** 2
    return h


def multiple_correlation(X: ArrayLike, y: ArrayLike) -> float:
    """Multiple correlation coefficient R of y with the columns of X.

    R squared is the share of the variance of y that least squares on X explains.

    Parameters
    ----------
    X : array-like of shape (N, n) or (N,)
    y : array-like of shape (N,)

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 2.0]])
    >>> round(multiple_correlation(X, [0.0, 1.0, 1.0, 3.0]) ** 2, 3)
    0.994
    """
    h = socc(X, y)
    if h.shape[1] != 1:
        raise ShapeError(
            f"y should be one column; got {h.shape[1]}. "
            f"For several responses use `canonical_correlations`."
        )
    return float(np.sqrt(min(h.sum(), 1.0)))


def canonical_correlations(X: ArrayLike, Y: ArrayLike) -> Floats:
    """Canonical correlation coefficients of X and Y, largest first.

    Parameters
    ----------
    X : array-like of shape (N, n) or (N,)
    Y : array-like of shape (N, q) or (N,)

    Returns
    -------
    R : array of shape (min(rank of X, rank of Y),)
        Correlations, not squared; ranks are those of the centered columns.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20, 3))
    >>> canonical_correlations(X, X[:, :2] + 1.0).round(6)
    array([1., 1.])
    """
    X, Y = _matching(X, Y)
    W, V = _orthonormal(X)[0], _orthonormal(Y)[0]
    if not W.shape[1] or not V.shape[1]:
        return np.zeros(0)
    return np.clip(np.linalg.svd(W.T @ V, compute_uv=False), 0.0, 1.0)


def fisher_criteria(X: ArrayLike, labels: ArrayLike) -> Floats:
    """Fisher's criterion J of each linear discriminant direction, largest first.

    J = R^2 / (1 - R^2) with R the canonical correlations of X and the coded classes; it is the
    ratio of scatter between and within classes along the direction.

    Parameters
    ----------
    X : array-like of shape (N, n)
    labels : array-like of shape (N,)
        Class labels of any kind; c of them.

    Returns
    -------
    J : array of shape (min(rank of X, c - 1),)
        Infinite where the classes are separated perfectly.

    Examples
    --------
    >>> import numpy as np
    >>> fisher_criteria(np.array([[0.0], [1.0], [4.0], [5.0]]), ["a", "a", "b", "b"]).round(6)
    array([16.])
    """
    squared = canonical_correlations(X, encode_response(labels, "dummy")) ** 2
    rest = 1.0 - squared
    perfect = rest <= 8 * np.finfo(float).eps
    return np.where(perfect, np.inf, squared / np.where(perfect, 1.0, rest))


def scatter_matrices(X: ArrayLike, labels: ArrayLike) -> tuple[Floats, Floats]:
    """Scatter of X within the classes, S_w, and between them, S_b.

    Parameters
    ----------
    X : array-like of shape (N, n)
    labels : array-like of shape (N,)

    Returns
    -------
    S_w, S_b : arrays of shape (n, n)
        Sums of squares and products, not divided by anything; they add up to the total scatter.

    Examples
    --------
    >>> import numpy as np
    >>> scatter_matrices(np.array([[0.0], [1.0], [4.0], [5.0]]), ["a", "a", "b", "b"])
    (array([[1.]]), array([[16.]]))
    """
    X = _numbers(X, "X")
    classes = find_labels(np.asarray(labels), "labels")
    counts = np.bincount(classes.codes)
    indicators = np.eye(len(counts))[classes.codes]  # (N, c)
    means = (indicators.T @ X) / counts[:, None]
    within = X - means[classes.codes]
    between = (means - X.mean(axis=0)) * np.sqrt(counts)[:, None]
    return within.T @ within, between.T @ between


def _orthonormal(A: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    return orthonormalize(*centered_columns(A))


def _matching(X: ArrayLike, Y: ArrayLike) -> tuple[Floats, Floats]:
    X, Y = _numbers(X, "X"), _numbers(Y, "Y")
    if X.shape[0] != Y.shape[0]:
        raise ShapeError(f"X and Y should have the same rows; got {X.shape[0]} and {Y.shape[0]}.")
    return X, Y


def _numbers(A: ArrayLike, name: str) -> Floats:
    try:
        array = np.asarray(A, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} should hold numbers; got {error}. Code classes with `encode_response`."
        ) from None
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[0] < 1:
        raise ShapeError(f"{name} should have rows and columns; got shape {array.shape}.")
    bad = ~np.isfinite(array)
    if bad.any():
        column = int(bad.any(axis=0).argmax())
        raise InputError(
            f"{name} should hold finite numbers; column {column} has {int(bad[:, column].sum())} "
            f"NaN or infinite value(s). Drop or fill them."
        )
    return array
