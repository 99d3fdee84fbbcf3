"""Inner products of a few columns of a block in float64, whatever the block's type."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.thin import stands_by_rows, take_columns
from orthoselect.native import aligned, kernels

# With more products BLAS is quicker, though it needs the columns copied.
_FEW = 256
_NUMBERS = 1 << 17  # copied at a time


def add_inner_products(
    B: NDArray,
    J: Indices,
    shift: Floats | None,
    scale: Floats | None,
    root: Floats | None,
    out: Floats,
) -> None:
    """Add A'A, where A = root * (B[:, J] - shift) * scale.

    Parameters
    ----------
    B : array of shape (rows, n)
        Of any numeric dtype.
    J : indices
        t columns.
    shift, scale : arrays of shape (t,) or None
    root : array of shape (rows,) or None for ones
    out : array of shape (t, t)
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
