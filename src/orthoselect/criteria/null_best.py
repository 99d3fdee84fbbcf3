"""The largest statistic that each null response has of any single column.

C (B, m, n) and M (B, m, m) as in significance.py. One read of C takes out a direction and finds the
largest statistic; of a response of which little is left, by the eigenvectors of M.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.threads import Total, run_tasks
from orthoselect.native import kernels

EXPLAINED = 1e-10  # what may be left of a direction of the response that is explained
_TASKS = 8
_READ = 24  # products in the time of reading and writing a number, about

Due = tuple[Floats, Floats] | None


def null_best(C: NDArray, due: Due, M: Floats, factors: NDArray) -> tuple[Floats, Indices]:
    """Return the largest statistic of each null response, (B,), and the rank of each M.

    The statistic of a column c of C is c'M^+c times its factor, (n,), of the dtype of C. What is
    due, Z'q (B, m) and q'X (n,), is taken out of C first.
    """
    B, m, _ = C.shape
    best = np.full(B, -1.0)

    def work(here: slice, total: Total) -> None:
        of = None if due is None else np.ascontiguousarray(due[0][here])
        row = None if due is None else due[1]
        kernels().null_best(C[here], of, row, M[here], factors, best[here])

    if kernels() is not None:
        step = max(1, -(-B // _TASKS))
        tasks = [slice(b, min(b + step, B)) for b in range(0, B, step)]
        run_tasks(tasks, work, cost=float(C.size) * (m / 2 + _READ))
    elif due is not None:
        _remove(C, *due)
    ranks = np.full(B, m)
    if len(others := np.flatnonzero(best < 0)):
        K, ranks[others] = roots(M[others])
        best[others] = [_largest(C[b], root, factors) for b, root in zip(others, K)]
    return best, ranks


def _remove(C: Any, along: Floats, row: NDArray) -> None:
    for response, shares in zip(C, along):
        for line, share in zip(response, shares):
            line -= line.dtype.type(share) * row


def _largest(C: Any, root: Floats, factors: NDArray) -> float:
    """Return the largest statistic of one null response, C (m, n)."""
    root = root.astype(C.dtype)
    W = C * root[0, 0] if len(root) == 1 else root @ C
    np.multiply(W, W, out=W)
    squares = W[0] if len(W) == 1 else W.sum(axis=0)
    squares *= factors
    return float(squares.max())


def roots(M: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return K with K'K = M^+ of each M, and its rank."""
    values, vectors = np.linalg.eigh(M)
    kept = values > EXPLAINED
    scales = np.divide(1.0, np.sqrt(np.maximum(values, EXPLAINED)), where=kept, out=0 * values)
    return scales[:, :, None] * vectors.transpose(0, 2, 1), kept.sum(axis=1)
