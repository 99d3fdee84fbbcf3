"""What steps are made from: Gram columns as they are fetched, and the rows of the factor.

Notation as in cancorr.py.
"""

from __future__ import annotations

import numpy as np

from orthoselect.matrix import CenteredMatrix
from orthoselect.matrix.base import EPS, Floats, Indices
from orthoselect.matrix.centered import PRODUCT_ROUNDINGS

_LARGE, _HUGE = 1 << 20, 1 << 22  # bytes


class GramColumns:
    """Columns x_j'X of the Gram matrix, and what each may be off by.

    Parameters
    ----------
    X : CenteredMatrix
        If it has the whole Gram matrix, nothing has to be fetched.
    """

    def __init__(self, X: CenteredMatrix) -> None:
        self._X = X
        self.fetched: dict[int, Floats] = {}  # column j -> x_j'X, (n,)
        self._errors: dict[int, float] = {}

    def missing(self, J: Indices) -> list[int]:
        """Return those of columns J that have to be fetched."""
        if self._X.whole is not None:
            return []
        return [j for j in J.tolist() if j not in self.fetched]

    def fetch(self, J: list[int]) -> None:
        """Fetch columns with one read of the table."""
        J = sorted(J)  # rows are read from left to right
        columns, errors = self._X.gram_with_errors(np.array(J, dtype=np.intp))
        self.fetched.update(zip(J, columns))
        self._errors.update(zip(J, errors.tolist()))

    def __getitem__(self, j: int) -> tuple[Floats, float]:
        """Return column j, (n,), and its error."""
        if self._X.whole is not None:
            return self._X.whole[j], PRODUCT_ROUNDINGS * EPS
        return self.fetched[j], self._errors[j]


class Factor:
    """The rows of L = Q'X, written one after the other.

    Parameters
    ----------
    size : int
        About how many there will be.
    n : int
        Their length.
    """

    def __init__(self, size: int, n: int) -> None:
        self._L = np.empty((_rows_at_first(size, n), n))
        self.k = 0

    @property
    def rows(self) -> Floats:
        """The rows so far, (k, n)."""
        return self._L[: self.k]

    def next_row(self) -> Floats:
        """Return the row that is to be written next, which counts as written."""
        if self.k == len(self._L):
            self._L = np.concatenate([self._L, np.empty_like(self._L)])
        self.k += 1
        return self._L[self.k - 1]


def _rows_at_first(size: int, n: int) -> int:
    """Return how many rows L begins with; pages that are never written take no memory.

    Where it will be large anyway it is made large enough for NumPy to ask for huge pages, which
    are quicker to get.
    """
    rows = max(8, min(size, 64))
    return rows if 8 * rows * n < _LARGE else max(rows, 1 + _HUGE // (8 * n))
