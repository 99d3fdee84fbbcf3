"""How columns are read: text as numbers, dates as their parts.

A `ReadBlock` stands before a block and answers for it. Columns keep their places; the parts of
dates follow after all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import Labels, find_labels
from orthoselect.lazy import lazy
from orthoselect.matrix.base import EPS, Indices
from orthoselect.read.block import Block
from orthoselect.read.looks import Finding, date_parts
from orthoselect.read.written import dates_of, number_of

EXCLUDED = "excluded on request"


@dataclass(frozen=True)
class Readings:
    """What was found of the columns of a table, and what to do about it.

    Attributes
    ----------
    names : sequence of str
        All columns that the table has.
    left_out : mapping of str to str
        Those that are no features, each with the reason.
    numbers : mapping of int to str
        Text that is read as numbers: what parts fractions, by column.
    dates : mapping of int to Finding
        Dates whose parts are used.
    """

    names: Sequence[str]
    left_out: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[int, str] = field(default_factory=dict)
    dates: Mapping[int, Finding] = field(default_factory=dict)

    @lazy
    def parts(self) -> list[tuple[int, str]]:
        """The columns that follow after those of the table: of which date, and which part."""
        return [(c, part) for c, found in self.dates.items() for part in found.parts]

    def why_left_out(self, names: Iterable[str]) -> list[dict[str, str]]:
        """Return each of some columns and why it is no candidate."""
        return [{"name": n, "reason": self.left_out.get(n, EXCLUDED)} for n in names]

    @property
    def all_names(self) -> Sequence[str]:
        """The columns of the table, and those that follow."""
        if not self.parts:
            return self.names
        return [*self.names, *(f"{self.names[c]}: {part}" for c, part in self.parts)]

    @property
    def change_nothing(self) -> bool:
        """Whether columns are read as they are."""
        return not (self.numbers or self.dates)

    def origin(self, column: int) -> int:
        """Return the column of the table that a column comes from."""
        n = len(self.names)
        return column if column < n else self.parts[column - n][0]

    def parts_of(self, column: int) -> list[int]:
        """Return the columns that a column stands for: itself, or the parts of a date."""
        made = [len(self.names) + k for k, (c, _) in enumerate(self.parts) if c == column]
        return made or [column]

    def stored(self, columns: Indices | None) -> Indices | None:
        """Return the columns of the table that these are made from, None for all."""
        if columns is None or self.change_nothing:
            return columns
        return np.unique([self.origin(c) for c in columns.tolist()]).astype(np.intp)

    def read(
        self, block: Block, stored: Indices | None = None, columns: Indices | None = None
    ) -> Block:
        """Return a block as it is read.

        Parameters
        ----------
        block : Block
            It has the columns `stored` of the table, or all.
        columns : integer array, optional
            The columns that are asked for, or all.
        """
        if self.change_nothing:
            return block
        return ReadBlock(block, self, stored, columns)


class ReadBlock(Block):
    """Some columns of a block, read as numbers where they are text, and as parts of dates."""

    def __init__(
        self, block: Block, readings: Readings, stored: Indices | None, columns: Indices | None
    ) -> None:
        n = len(readings.names)
        every = range(len(readings.all_names)) if columns is None else columns.tolist()
        place = {c: k for k, c in enumerate(range(n) if stored is None else stored.tolist())}
        self._block, self._readings = block, readings
        self._columns = list(every)
        self._at = [place[readings.origin(c)] for c in self._columns]  # in the block
        names = readings.all_names
        self.names = [names[c] for c in self._columns]
        self.n_rows, self.place, self.nbytes = block.n_rows, block.place, block.nbytes
        self._made: dict[int, NDArray] = {}

    def _is_made(self, k: int) -> bool:
        c = self._columns[k]
        return c >= len(self._readings.names) or c in self._readings.numbers

    def _make(self, k: int) -> NDArray:
        """Return the numbers of a column that holds none as it is stored."""
        if k not in self._made:
            c, n = self._columns[k], len(self._readings.names)
            if c < n:
                texts = self._block.all_values(self._at[k])
                self._made[k] = _numbers(texts, self._readings.numbers[c])
            else:
                date, part = self._readings.parts[c - n]
                self._made[k] = date_parts(self._dates(k, date), [part])[:, 0]
        return self._made[k]

    def _dates(self, k: int, date: int) -> NDArray:
        order = self._readings.dates[date].order
        if order is None:
            return self._block.dates(self._at[k])
        texts = self._block.all_values(self._at[k])
        return dates_of(("" if text is None else str(text) for text in texts), order)

    def _plain(self) -> Iterator[int]:
        return (k for k in range(len(self._columns)) if not self._is_made(k))

    def categorical_columns(self) -> set[int]:
        by_dtype = self._block.categorical_columns()
        return {k for k in self._plain() if self._at[k] in by_dtype}

    def labels(self, column: int) -> Labels:
        if self._is_made(column):
            return find_labels(self._make(column), f"column `{self.names[column]}`")
        return self._block.labels(self._at[column])

    def numeric(self, columns: NDArray[np.intp]) -> NDArray:
        asked = columns.tolist()
        plain = [k for k in asked if not self._is_made(k)]
        at = np.array([self._at[k] for k in plain], dtype=np.intp)
        if len(plain) == len(asked):
            return self._block.numeric(at)
        result = np.empty((self.n_rows, len(asked)), order="F")
        numbers = self._block.numeric(at) if plain else np.empty((self.n_rows, 0))
        result[:, [asked.index(k) for k in plain]] = numbers
        for place, k in enumerate(asked):
            if self._is_made(k):
                result[:, place] = self._make(k)
        return result

    def column(self, column: int) -> Any:
        if self._is_made(column):
            return self._make(column)
        return self._block.column(self._at[column])

    def order(self, column: int) -> Sequence[Any] | None:
        return None if self._is_made(column) else self._block.order(self._at[column])

    def precision(self, columns: NDArray[np.intp]) -> NDArray | None:
        result = np.full(len(columns), EPS)
        for place, k in enumerate(columns.tolist()):
            if not self._is_made(k):
                known = self._block.precision(np.array([self._at[k]]))
                result[place] = EPS if known is None else known[0]
        return result

    def n_distinct(self, column: int) -> int:
        if self._is_made(column):
            return len(np.unique(self._make(column)))
        return self._block.n_distinct(self._at[column])


def _numbers(texts: Sequence[Any], decimal: str) -> NDArray[np.float64]:
    """Return what texts stand for, NaN for gaps; numbers among them are as they are."""
    known: dict[Any, float] = {}
    for text in texts:
        if text not in known:
            known[text] = read_number(text, decimal)
    return np.array([known[text] for text in texts], dtype=np.float64)


def read_number(value: Any, decimal: str = ".") -> float:
    """Return the number that text stands for, NaN for a gap; a number is as it is.

    Parameters
    ----------
    value : str, number or None
    decimal : {".", ","}
        What parts the fraction in text.

    Examples
    --------
    >>> from orthoselect.read import read_number
    >>> [read_number(value) for value in ("$1,200.50", "n/a", None, 3)]
    [1200.5, nan, nan, 3.0]
    >>> read_number("1.200,50 €", ",")
    1200.5
    """
    if isinstance(value, str):
        return number_of(value, decimal)
    try:
        return float(value)
    except TypeError:  # None, and pandas' NA
        return np.nan
