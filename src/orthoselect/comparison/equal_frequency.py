"""How numbers are cut for methods that count levels: at quantiles, into five levels.

Methods of information theory have to be given levels. How many, and where the cuts lie, decides how
well they do: two cuts at one standard deviation lose most of a skewed column, and whole numbers
taken as they are (ages, years) make many small levels that fit any response. Five levels of like
frequency did best in most of the tables that were tried; docs/comparing.md has the figures.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.matrix.base import Floats

LEVELS = 5


class EqualFrequency:
    """A discretizer: levels of about as many rows each, cut at quantiles of the training rows.

    A column of at most so many values keeps them, each a level. Cuts that coincide, as where one
    value is frequent, make fewer levels. A value equal to a cut lies above it.

    Parameters
    ----------
    n_levels : int, default=5

    Examples
    --------
    >>> import numpy as np
    >>> X = np.c_[np.arange(10.0), np.arange(10) % 3]
    >>> EqualFrequency().fit(X).transform(X).T
    array([[0, 0, 1, 1, 2, 2, 3, 3, 4, 4],
           [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]])
    """

    def __init__(self, n_levels: int = LEVELS) -> None:
        self.n_levels = n_levels
        self._cuts: list[Floats] = []  # of each column, rising

    def fit(self, X: Any) -> EqualFrequency:
        """Find the cuts of each column, dense or sparse."""
        self._cuts = [self._find(_column(X, j)) for j in range(X.shape[1])]
        return self

    def transform(self, X: Any) -> Any:
        """Return the level of each number; in sparse tables the level of zero is called 0."""
        if not sp.issparse(X):
            return np.column_stack([_levels(cuts, X[:, j]) for j, cuts in enumerate(self._cuts)])
        by_column = sp.csc_array(X)
        levels = np.empty(by_column.nnz, dtype=np.int64)
        for j, cuts in enumerate(self._cuts):
            own = slice(by_column.indptr[j], by_column.indptr[j + 1])
            levels[own] = _levels(cuts, by_column.data[own]) - _levels(cuts, np.zeros(1))[0]
        coded = sp.csc_array((levels, by_column.indices, by_column.indptr), shape=X.shape)
        coded.eliminate_zeros()
        return coded

    def _find(self, column: Floats) -> Floats:
        values = np.unique(column)
        if len(values) <= self.n_levels:
            return values[1:]
        cuts = np.unique(np.quantile(column, np.arange(1, self.n_levels) / self.n_levels))
        return cuts[cuts > values[0]]  # nothing lies below the others

    def __repr__(self) -> str:
        return f"EqualFrequency({self.n_levels})"


def _column(X: Any, j: int) -> Floats:
    column = X[:, [j]].toarray()[:, 0] if sp.issparse(X) else X[:, j]
    return column.astype(np.float64)


def _levels(cuts: Floats, values: NDArray) -> NDArray[np.intp]:
    return np.searchsorted(cuts, values, side="right")
