"""A table in plain NumPy and SciPy terms: what is left of any input once it has been read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode.labels import Labels
from orthoselect.matrix import Matrix
from orthoselect.matrix.base import Indices


class NumberedNames(Sequence[str]):
    """The names x0, x1, ... of a table without names, made when asked for.

    Examples
    --------
    >>> NumberedNames(3)[1]
    'x1'
    """

    def __init__(self, n: int) -> None:
        self._n = n

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [f"x{i}" for i in range(*index.indices(self._n))]
        return f"x{range(self._n)[index]}"


@dataclass(frozen=True)
class Table:
    """Numeric columns as one array, categorical columns as labels.

    Attributes
    ----------
    names : sequence of str
        Names of all input columns, the skipped ones included.
    numeric : array or SciPy sparse of shape (N, number of numeric columns)
    numeric_at : integer array
        Input position of each column of `numeric`.
    labels : mapping of int to Labels
        The categorical columns by input position.
    precision : array of shape (number of numeric columns,), optional
        Relative rounding of each column of `numeric`, where it is not that of its dtype.
    """

    n_rows: int
    names: Sequence[str]
    numeric: Any
    numeric_at: NDArray[np.intp]
    labels: Mapping[int, Labels]
    precision: NDArray[np.float64] | None = None

    @property
    def nbytes(self) -> int:
        """How many bytes the numbers and codes take."""
        stored = self.numeric.data if hasattr(self.numeric, "format") else self.numeric
        return int(stored.nbytes) + sum(labels.codes.nbytes for labels in self.labels.values())

    @property
    def in_blocks(self) -> bool:
        """Whether the rows come in blocks, and this table itself has none."""
        return False

    @property
    def has_rows(self) -> bool:
        """Whether there are rows at all, and not only means and products of the columns."""
        return True

    def matrix(self, make: Callable[[Table], Matrix], starts: Indices, widths: Indices) -> Matrix:
        """Return the design's matrix of all rows.

        Parameters
        ----------
        make : callable
            Gives the matrix of a table, whose columns may be some of these only.
        starts, widths : arrays of shape (number of input columns,)
            Where the columns of the matrix that an input column owns start, and how many they are.
        """
        return make(self)
