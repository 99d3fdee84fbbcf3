"""A table in plain NumPy and SciPy terms: what is left of any input once it has been read.

Of a table whose rows come in blocks the levels of categorical columns have been found, and each
block is coded by them; so a block is an ordinary `Table` of some rows, and turns into a matrix as
any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode.labels import Labels
from orthoselect.errors import NonFiniteError
from orthoselect.matrix import BlockMatrix, Matrix
from orthoselect.matrix.base import Indices
from orthoselect.matrix.passes import Passes, Prepare
from orthoselect.matrix.rows import Rows
from orthoselect.matrix.stacked import ProjectedMatrix

_SAMPLE = 16  # rows that offsets are guessed from


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


class TableMaker(Protocol):
    """Makes tables of blocks; it may be sent to where the blocks are."""

    def columns(self, columns: Indices | None) -> Indices:
        """Return the input columns that a block is to have for these; None for all."""
        ...

    def table(self, block: Any, at: Indices) -> Table:
        """Return a block of the input columns `at` as a table."""
        ...


@dataclass(frozen=True)
class BlockTable(Table):
    """A table in blocks; `numeric` and the codes of `labels` have no rows.

    Attributes
    ----------
    n_rows : int
        Rows of all blocks.
    passes : Passes
    maker : TableMaker
        The labels of all its tables have the same levels.
    first : Table or None
        Some rows of the first block.
    memory : int or None
        Bytes that products may take; None for a default.
    """

    passes: Passes = field(kw_only=True)
    maker: TableMaker = field(kw_only=True)
    first: Table | None = None
    memory: int | None = None

    def how(
        self,
        columns: Indices | None,
        along: Sequence[Rows | None] = (),
        make: Callable[[Table], Any] | None = None,
    ) -> dict[str, Any]:
        """Return the keyword arguments of passes over some input columns, or all.

        `along` is cut where the rows are cut; `make` makes of a block's table what work is given.
        """
        at = self.maker.columns(columns)
        return {"columns": at, "prepare": partial(_made, self.maker, at, make), "along": along}

    def matrix(self, make: Callable[[Table], Matrix], starts: Indices, widths: Indices) -> Matrix:
        used = np.flatnonzero(widths > 0)
        used = used[np.argsort(starts[used], kind="stable")]
        owners = np.repeat(used, widths[used])  # the input column of each design column, (n,)
        sample = None
        if self.first is not None:
            rows = np.linspace(0, self.first.n_rows - 1, _SAMPLE).astype(np.intp)
            sample = make(self.first).pilot(np.unique(rows))
        none = Table(0, self.names, self.numeric, self.numeric_at, self.labels, self.precision)
        return BlockMatrix(
            self.passes,
            make(none),
            project=partial(_project, self.maker, make, owners),
            sample=np.zeros((1, len(owners))) if sample is None else sample,
            memory=self.memory,
        )


def _made(maker: TableMaker, at: Indices, make: Callable[[Table], Any] | None, block: Any) -> Any:
    """Make a table of a block, and something else of the table."""
    table = maker.table(block, at)
    return table if make is None else make(table)


def _project(
    maker: TableMaker, make: Callable[[Table], Matrix], owners: Indices, J: Indices | None
) -> tuple[Indices, Prepare]:
    """Return which input columns design columns J need, and what makes a matrix of a block."""
    columns = None if J is None else np.unique(owners[J])
    at = maker.columns(columns)
    if columns is not None:
        mine = np.flatnonzero(np.isin(owners, columns))
        make = partial(_projected, make, mine, len(owners))
    return at, partial(_made, maker, at, make)


def _projected(make: Callable[[Table], Matrix], mine: Indices, n: int, table: Table) -> Matrix:
    return ProjectedMatrix(make(table), mine, n)


def check_finite_numbers(numeric: Any, names: Sequence[str]) -> None:
    """Raise for NaN and infinity in an array or SciPy sparse matrix with columns of these names."""
    sparse = hasattr(numeric, "tocoo")
    if (numeric.data if sparse else numeric).dtype.kind != "f":
        return
    with np.errstate(all="ignore"):
        if np.isfinite(numeric.sum()):
            return
    n_nan, n_inf = (_count_by_column(numeric, is_bad) for is_bad in (np.isnan, np.isinf))
    bad = np.flatnonzero(n_nan + n_inf).tolist()
    if bad:  # none if a sum of finite numbers was too large
        raise NonFiniteError({names[k]: (int(n_nan[k]), int(n_inf[k])) for k in bad})


def _count_by_column(numeric: Any, is_bad: Callable[[NDArray], NDArray]) -> NDArray[np.intp]:
    """Count the entries of each column that are bad."""
    if not hasattr(numeric, "tocoo"):
        return is_bad(numeric).sum(axis=0)
    entries = numeric.tocoo()
    return np.bincount(entries.col[is_bad(entries.data)], minlength=numeric.shape[1])
