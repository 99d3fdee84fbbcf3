"""Products of permuted classes with a table, by sums of its rows over each class.

Where the response is of c classes, a row of Z_b is one of c rows of a table T (c, m), so that Z_b'X
follows from the sums S_k of the rows that permutation b puts into class k: Z_b'X = sum T_k S_k'. No
multiplications are needed for the sums, and the kernel that adds them up takes four rows at a time.
Of the last class the sum is that of all rows less the others.

A plane is a permutation and one of its classes but the last; its code has a bit for each row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import Floats
from orthoselect.matrix.permuted import PermutedRows
from orthoselect.matrix.threads import BUNDLES, Total, run_tasks
from orthoselect.native import aligned, kernels

# As the kernel has them.
_BLOCK, _GROUPS, _WIDE = 64, 16, 64
_CODES = 1 << 25  # bytes of codes that are kept at a time
_TOTAL_BYTES = 1 << 22  # of sums that each bundle of tasks may have to itself
_HEIGHT = 512  # rows that the kernel adds up in float32
_A_PRODUCT = 8  # additions of the kernel in the time of a multiplication elsewhere, about


def cross_of_classes(Z: PermutedRows, X: NDArray, offset: Floats) -> Floats:
    """Return Z'(X - offset), (B m, n), of permuted classes; X is float64 or float32, by rows.

    Needs the kernels.
    """
    table = Z.sources.table.astype(np.float64)
    B, (c, m), n = len(Z.these), table.shape, X.shape[1]
    sums = np.zeros((B * (c - 1) + 1, n))
    height = max(_HEIGHT, _CODES * 4 // max(len(sums), 1) // _HEIGHT * _HEIGHT)
    for start in range(0, len(X), height):
        rows = slice(start, min(start + height, len(X)))
        _add_sums(_codes(Z.part(rows), c - 1), X[rows], offset, sums)
    others, whole = sums[:-1].reshape(B, c - 1, n), sums[-1]
    if m == 1 == c - 1:
        others *= table[0, 0] - table[1, 0]
    else:
        others = np.matmul((table[:-1] - table[-1]).T, others)
    if whole.any():  # as if all were of the last class
        others += np.outer(table[-1], whole)
    return others.reshape(B * m, n)


def _codes(Z: PermutedRows, planes: int) -> NDArray[np.uint8]:
    """Return the codes of rows: of each block of 64, for each plane, a byte for each four."""
    codes = np.zeros((-(-len(Z) // _BLOCK), len(Z.these) * planes, _GROUPS), dtype=np.uint8)

    def work(rows: slice, total: Total) -> None:
        blocks = slice(rows.start // _BLOCK, -(-rows.stop // _BLOCK))
        kernels().class_planes(Z.part(rows).classes(), planes, codes[blocks])

    height = _even(len(Z), _HEIGHT)
    run_tasks(Z.tiles(height), work, cost=float(8 * len(Z) * len(Z.these)))
    return codes


def _add_sums(codes: NDArray[np.uint8], X: NDArray, offset: Floats, sums: Floats) -> None:
    """Add the sums of rows in each plane, and of all rows, to `sums` (planes + 1, n)."""
    N, n = X.shape
    cost = float(X.size) * codes.shape[1] / _A_PRODUCT
    if sums.nbytes > _TOTAL_BYTES or n >= BUNDLES * _WIDE:  # a slab of columns for each thread

        def of_slab(columns: slice, total: Total) -> None:
            part = aligned(X[:, columns])
            kernels().permuted_sums(part, codes, offset[columns], sums[:, columns])

        width = _even(n, _WIDE)
        slabs = [slice(j, min(j + width, n)) for j in range(0, n, width)]
        run_tasks(slabs, of_slab, cost=cost)
        return

    def of_rows(rows: slice, total: Total) -> None:
        here = codes[rows.start // _BLOCK : -(-rows.stop // _BLOCK)]
        kernels().permuted_sums(aligned(X[rows]), here, offset, total[0])

    height = _even(N, _HEIGHT)
    tasks = [slice(i, min(i + height, N)) for i in range(0, N, height)]
    sums += run_tasks(tasks, of_rows, sums.shape, cost=cost)[0]


def _even(count: int, unit: int) -> int:
    """Return how many to take at a time, whole units, so that each bundle has a task."""
    return max(1, -(-count // (BUNDLES * unit))) * unit
