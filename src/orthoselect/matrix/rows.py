"""Things of one row for each row of the table, cut where the table is cut."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import Floats


class CodedRows:
    """An array of shape (N, m) whose rows are those of a small table, written out when asked for.

    A response basis of classes is such: rows of a class are alike, up to their weights.

    Parameters
    ----------
    codes : integer array of shape (N,)
        Which row of the table each row is.
    table : array of shape (c, m)
    root : array of shape (N,), optional
        What each row is multiplied with.

    Examples
    --------
    >>> V = CodedRows(np.array([0, 1, 1], dtype=np.uint8), np.array([[2.0], [-1.0]]))
    >>> V.shape, V[1:3].tolist()
    ((3, 1), [[-1.0], [-1.0]])
    >>> np.ones(3) @ V
    array([0.])
    """

    __array_ufunc__ = None  # so that NumPy leaves `root @ V` to this class

    def __init__(self, codes: NDArray, table: Floats, root: Floats | None = None) -> None:
        self._codes, self._table, self._root = codes, table, root
        self.shape = (len(codes), table.shape[1])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Floats:
        part = self._table.take(self._codes[rows], axis=0)
        return part if self._root is None else part * self._root[rows, None]

    def part(self, rows: slice) -> CodedRows:
        """Return some rows, not written out."""
        root = None if self._root is None else self._root[rows]
        return CodedRows(self._codes[rows], self._table, root)

    def __rmatmul__(self, weights: Floats) -> Floats:
        """Return the weighted sum of the rows, (m,)."""
        weights = weights if self._root is None else weights * self._root
        return np.bincount(self._codes, weights, minlength=len(self._table)) @ self._table


# An array of shape (N, m), or CodedRows where the table comes in blocks: `shape`, slices of rows,
# and sums of rows. Matrices in memory take arrays only.
Rows = Any


def cut(along: Rows | None, rows: slice) -> Floats | None:
    """Return the part of something of N rows that belongs to some rows; None stays None."""
    return None if along is None else along[rows]


def part(along: Rows, rows: slice) -> Rows:
    """Return some rows of something of N rows, not written out; ``[:]`` does."""
    return along.part(rows) if isinstance(along, CodedRows) else along[rows]
