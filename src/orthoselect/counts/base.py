"""What a kind of counting has to answer.

Notation: x_k is feature k, of n, with codes from 0; y is the class, of c; #(...) counts rows (adds
up their weights); T maps a count to c ln c. With N rows, TN = T[N], TY = `classes`, (X, XY) =
`margins` and (XJ, XJY) = `pairs` with j, every information follows, in units of T:

    N I(k; y) = XY - X - TY + TN              N I(k; j) = XJ - X - X[j] + TN
    N I(k, j; y) = XJY - XJ - TY + TN         N I(k; j | y) = XJY - XY - XY[j] + TY
    N I(k; y | j) = XJY - XJ - XY[j] + X[j]   N H(k, j, y) = TN - XJY
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.counts.logarithms import AnyLogarithms, Logarithms
from orthoselect.errors import InputError
from orthoselect.matrix.reading import Reading
from orthoselect.matrix.threads import Totals, run_tasks

Integers = NDArray[np.int64]
Sums = tuple[NDArray, NDArray]

_SLABS = 16  # tasks that the features are cut into
_WORTH_A_THREAD = 4e5  # nanoseconds below which a second thread does not pay


class Counts(ABC):
    """Integer-coded features, counted against one of them and the class.

    Parameters
    ----------
    shape : tuple of int
        Rows and features, (N, n).
    levels : array of shape (n,)
    y : array of shape (N,)
        Classes, from 0 to n_classes - 1.
    n_classes : int

    Attributes
    ----------
    kind : str
        "packed", "counted", "sparse", "weighted" or "blocks".
    total : int or float
        The number of rows, or the sum of their weights.
    reading : Reading or None
        What counts the passes over a table in blocks.
    """

    kind = ""
    reading: Reading | None = None

    def stats(self) -> dict[str, int]:
        """Return what reading has taken so far, if there is anything to be read."""
        return {} if self.reading is None else self.reading.stats()

    def __init__(self, shape: tuple[int, int], levels: NDArray, y: NDArray, n_classes: int) -> None:
        self.shape = shape
        self.levels: Integers = np.asarray(levels, dtype=np.int64)
        self.n_classes = n_classes
        self.total: int | float = shape[0]
        self._set_classes(y, n_classes)

    def _set_classes(self, y: NDArray, n_classes: int) -> None:
        # A class without rows has nothing to be counted.
        self._y, n_present = occurring(y, n_classes)
        self._n_present = max(1, n_present)
        self._class_counts: NDArray = np.bincount(self._y, minlength=self._n_present)

    def logarithms(self, terms: int) -> AnyLogarithms:
        """Return the T to be used, with room for `terms` sums of c ln c over all rows."""
        return Logarithms(int(self.total), terms)

    def classes(self, T: AnyLogarithms) -> Any:
        """Return the sum of T[#(y)] over the classes."""
        return T.of(self._class_counts).sum()

    def varying(self, X: NDArray, T: AnyLogarithms) -> NDArray[np.bool_]:
        """Return which features have more than one level, given the X of `margins`."""
        return T.of(self.total) > X

    @abstractmethod
    def margins(self, T: AnyLogarithms) -> Sums:
        """Return X and XY: sums of T[#(x_k = a)], and of T[#(x_k = a, y)], for each k."""

    @abstractmethod
    def pairs(self, j: int, T: AnyLogarithms) -> Sums:
        """Return XJ and XJY: sums of T[#(x_k = a, x_j = b)], and of T[#(x_k = a, x_j = b, y)]."""

    def _table(self, T: AnyLogarithms) -> Integers:
        """Return the table of T, which has to reach to the number of rows."""
        if T.table is None or len(T.table) <= self.shape[0]:
            raise InputError(
                f"T should be whole logarithms of counts up to {self.shape[0]}; "
                f"take those of `logarithms`."
            )
        return T.table


def occurring(codes: NDArray, levels: int) -> tuple[NDArray, int]:
    """Return codes numbered anew, without those that do not occur, and how many are left.

    Examples
    --------
    >>> occurring(np.array([7, 0, 7]), 9)
    (array([1, 0, 1]), 2)
    """
    is_there = np.bincount(codes, minlength=levels) > 0
    return (np.cumsum(is_there) - 1)[codes], int(is_there.sum())


def by_slabs(n: int, work: Callable[[slice], None], nanoseconds: float) -> None:
    """Do work on slabs of n features in a few threads; each writes to places of its own.

    Parameters
    ----------
    nanoseconds : float
        What all of it takes one thread, roughly.
    """
    if nanoseconds < _WORTH_A_THREAD:
        if n:
            work(slice(0, n))
        return
    width = max(1, -(-n // _SLABS))
    slabs = [slice(start, min(start + width, n)) for start in range(0, n, width)]
    run_tasks(slabs, lambda slab, _: work(slab), Totals())
