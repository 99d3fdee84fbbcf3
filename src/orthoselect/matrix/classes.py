"""Sums of the columns of a block class by class: what a first look at classes needs.

Rows of a basis V of classes are alike within a class, so that V'X follows from the sums of X over
each class. They are added up in float64, whatever the block's type, at the speed of reading it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import Floats
from orthoselect.matrix.thin import stands_by_rows
from orthoselect.native import aligned, kernels

# Sums of more classes leave the nearest cache, and then products are as quick.
MOST_CLASSES = 64
_NUMBERS = 1 << 17  # converted at a time


def add_class_sums(
    B: NDArray, codes: NDArray, w: Floats | None, sums: Floats, squares: Floats
) -> None:
    """Add the sums of B's rows, weighted by w, over each class, and those of their squares.

    Parameters
    ----------
    B : array of shape (rows, n), float32 or float64
    codes : array of shape (rows,)
        The class of each row.
    w : array of shape (rows,) or None
    sums : array of shape (classes, n)
    squares : array of shape (n,)
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
