"""Products and sums that selection spends its time on, each by a kernel and by NumPy without it.

Products of a block of rows with a few columns, sums of its columns class by class, and inner
products of a few columns in float64, whatever the type of the block.

Notation: B (rows, n) a block of the table in float64 or float32, Z (rows, b) the columns it is
multiplied with. Totals are float64, and are added to.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import FLOAT32_ROWS, Floats, Indices, squared_errors
from orthoselect.native import aligned, kernels

# With more columns BLAS, which copies the block into an order of its own first, is as quick.
_THIN = 24
_NUMBERS = 1 << 17  # converted or copied at a time
# With more products BLAS is quicker, though it needs the columns copied.
_FEW = 256


def add_cross(Z: NDArray, B: NDArray, ZtB: Floats, squares: Floats | None = None) -> None:
    """Add the products Z'B, (b, n), and the sums of squares of B's columns, (n,), if asked for.

    Z has the dtype of B; or it is float64, and then so are all products.
    """
    if _by_kernel(B, Z.shape[1]):
        kernels().cross(aligned(Z), aligned(B), ZtB, squares)
        return
    _add_by_blas(Z, B, ZtB)
    if squares is not None:
        squares += np.einsum("ij,ij->j", B, B, dtype=np.float64)


def add_gram(
    B: NDArray,
    J: Indices,
    means: Floats,
    factors: Floats,
    w: Floats | None,
    ZtB: Floats,
    sums: Floats,
    errors2: Floats,
    *,
    in_double: bool = False,
) -> None:
    """Add Z'B, (b, n), and the column sums of Z = w * (B[:, J] - means) * factors, (b,).

    Raise errors2 to the squared usual error of products with columns of norm one, in roundings of
    float32; see `squared_errors`. With `in_double`, products are float64's whatever B is.
    """
    if _by_kernel(B, len(J)):
        w = None if w is None else aligned(w)
        given = (aligned(each) for each in (B, J, means, factors))
        kernels().gram(*given, w, ZtB, sums, errors2, in_double)
        return
    Z = _some_columns(B, J)
    Z -= means
    Z *= factors
    if B.dtype == np.float32:
        np.maximum(errors2, squared_errors(Z, w), out=errors2)
    if w is not None:
        Z *= w[:, None]
    if not in_double:
        Z = Z.astype(B.dtype, copy=False)
    _add_by_blas(Z, B, ZtB)
    sums += Z.sum(axis=0, dtype=np.float64)


def take_columns(B: NDArray, J: Indices) -> Floats:
    """Return B[:, J] as a new float64 array, rows in one piece."""
    if B.dtype not in (np.float32, np.float64) or not _by_kernel(B, 1):
        return _some_columns(B, J)
    A = np.empty((len(B), len(J)))
    kernels().take(aligned(B), aligned(J), A)
    return A


def _some_columns(B: NDArray, J: Indices) -> Floats:
    # `take` is the quicker one, but copies all of a block that does not stand in one piece.
    columns = B.take(J, axis=1) if B.flags.c_contiguous else B[:, J]
    return np.ascontiguousarray(columns, dtype=np.float64)


def _add_by_blas(Z: NDArray, B: NDArray, ZtB: Floats) -> None:
    # float32 sums are to be short, and so are copies where B is float32 and Z is not.
    height = FLOAT32_ROWS if B.dtype == np.float32 else max(len(B), 1)
    for start in range(0, len(B), height):
        rows = slice(start, start + height)
        ZtB += Z[rows].T @ B[rows]


def _by_kernel(B: NDArray, b: int) -> bool:
    """Whether there is a kernel, and it pays: few products, of rows that stand in one piece."""
    return b <= _THIN and kernels() is not None and stands_by_rows(B)


def stands_by_rows(B: NDArray) -> bool:
    """Whether the rows of a block stand in one piece each, one behind the other."""
    steps = B.strides
    return steps[1] == B.itemsize and steps[0] >= 0 and steps[0] % B.itemsize == 0


# Sums of more classes leave the nearest cache, and then products are as quick.
MOST_CLASSES = 64


def add_class_sums(
    B: NDArray, codes: NDArray, w: Floats | None, sums: Floats, squares: Floats
) -> None:
    """Add the sums of B's rows, weighted by w, over each class, (classes, n), and of squares, (n,).

    `codes`, (rows,), are the classes of the rows.
    """
    if kernels() is not None and stands_by_rows(B):
        w = None if w is None else aligned(np.ascontiguousarray(w))
        codes = np.ascontiguousarray(codes, dtype=np.uint8)
        kernels().class_sums(aligned(B), codes, w, sums, squares)
        return
    indicators = np.eye(len(sums))
    height = max(16, _NUMBERS // max(B.shape[1], 1))
    for start in range(0, len(B), height):
        rows = slice(start, start + height)
        A = B[rows].astype(np.float64)
        Z = indicators[codes[rows]]
        if w is not None:
            Z *= w[rows, None]
        sums += Z.T @ A
        squares += np.einsum("ij,ij->j", A, A if w is None else A * w[rows, None])


def add_inner_products(
    B: NDArray,
    J: Indices,
    shift: Floats | None,
    scale: Floats | None,
    root: Floats | None,
    out: Floats,
) -> None:
    """Add A'A, (len(J), len(J)), where A = root * (B[:, J] - shift) * scale.

    B may be of any numeric dtype; shift and scale have a number for each of J.
    """
    few = len(out) <= _FEW and B.dtype in (np.float32, np.float64)
    if few and stands_by_rows(B) and kernels() is not None:
        given = (shift, scale, root)
        others = (None if a is None else aligned(np.ascontiguousarray(a)) for a in given)
        kernels().inner_products(aligned(B), aligned(J), *others, out)
        return
    height = max(16, _NUMBERS // max(len(J), 1))
    for start in range(0, len(B), height):
        rows = slice(start, start + height)
        A = take_columns(B[rows], J)
        if shift is not None:
            A -= shift
        if scale is not None:
            A *= scale
        if root is not None:
            A *= root[rows, None]
        out += A.T @ A
