"""What one step does to all columns at once; by a kernel where there is one.

Notation as in cancorr.py. Arrays are float64, their last axis contiguous.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import Floats, Indices
from orthoselect.native import kernels


def leader(gains: Floats, names: Indices, open_: NDArray[np.bool_]) -> tuple[int, float]:
    """Return the first of the largest gains of open features, -1 if none is, and the runner-up.

    Gains below zero are out of the race. The runner-up is a gain, -1 if there is none; features
    stand in `open_` where their names say.
    """
    native = kernels()
    if native is not None:
        return native.leader(gains, names, open_)
    left = np.where(open_[names], gains, -1.0)
    if not len(left) or left.max() < 0:
        return -1, -1.0
    top = int(left.argmax())
    left[top] = -1.0
    return top, float(left.max())


def row_from_gram(g: Floats, L: Floats, coefficients: Floats, left: float, r: Floats) -> None:
    """Write (g - coefficients'L) / left to r, over the first rows of L."""
    native = kernels()
    if native is not None:
        native.row_from_gram(g, L, coefficients, left, r)
    else:
        r[:] = (g - coefficients @ L[: len(coefficients)]) / left


def remove_row(r: Floats, c: Floats, C: Floats, d: Floats) -> None:
    """Take a direction out of all columns: C -= c r', d -= r * r."""
    native = kernels()
    if native is not None:
        native.remove_row(r, c, C, d)
        return
    for row, along in zip(C, c):
        row -= along * r
    d -= r * r


def score_columns(
    C: Floats, d: Floats, plenty: float, scores: Floats, row: tuple[Floats, Floats] | None = None
) -> int:
    """Write the gains ||C||^2 / d, at most 1; 0 where less than `plenty` is left: count those.

    A row (r, c) is removed first, in the same go.
    """
    native = kernels()
    if native is not None:
        return int(native.score_columns(*(row or (None, None)), C, d, plenty, scores))
    if row is not None:
        remove_row(*row, C, d)
    enough = d >= plenty
    scores[:] = np.einsum("ij,ij->j", C, C) / np.where(enough, d, np.inf)
    np.minimum(scores, 1.0, out=scores)
    return len(d) - int(np.count_nonzero(enough))
