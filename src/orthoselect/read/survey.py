"""The first pass over a table in blocks, and the tables that later passes make of its blocks.

The first pass finds what has to be known of all rows before any can be worked on: the levels of
categorical columns, the response, the number of rows. It reads those columns only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import Labels, Table, TargetColumn
from orthoselect.encode.labels import LevelsSeen
from orthoselect.encode.response import check_finite
from orthoselect.errors import InputError, NonFiniteError, listing
from orthoselect.matrix.base import Indices
from orthoselect.matrix.passes import naming
from orthoselect.read.block import Block
from orthoselect.read.target import read_target


@dataclass(frozen=True)
class OpenedBlock:
    """A block that has been looked at: what to call it, and how many bytes it takes."""

    block: Block
    place: str
    nbytes: int

    @property
    def n_rows(self) -> int:
        """How many rows it has."""
        return self.block.n_rows


class Survey:
    """What the first pass finds out: levels of categorical columns, and the response."""

    def __init__(self, labeled: Sequence[str], kept: Sequence[str]) -> None:
        self.seen = [LevelsSeen(f"column `{name}`") for name in labeled]
        self._kept = [MergedColumn(name) for name in kept]
        self.n_rows = 0

    def look(self, opened: OpenedBlock) -> None:
        """Look at one more block, whose first columns are categorical, then those kept."""
        block = opened.block
        for column, seen in enumerate(self.seen):
            seen.add(block.labels(column), block.order(column))
        for k, kept in enumerate(self._kept):
            values = block.column(len(self.seen) + k)
            columns = read_target(values, block.n_rows, kept.name)
            check_finite(columns)
            kept.add(columns[0])
        self.n_rows += block.n_rows

    def merge(self, other: Survey) -> Survey:
        """Return what both have found, the rows of the other following."""
        for mine, theirs in zip(self.seen, other.seen):
            mine.merge(theirs)
        for kept, more in zip(self._kept, other._kept):
            kept.merge(more)
        self.n_rows += other.n_rows
        return self

    def targets(self) -> list[TargetColumn]:
        """Return the kept columns whole."""
        return [kept.merged() for kept in self._kept]


class MergedColumn:
    """A column put together from its blocks; labels as small whole numbers."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._seen = LevelsSeen(name)
        self._parts: list[NDArray] = []
        self._is_number: bool | None = None  # as long as nothing has come

    def add(self, column: TargetColumn) -> None:
        """Take the column of one more block."""
        self._check_kind(column.is_number)
        values = column.values
        if not column.is_number:
            values = self._seen.add(column.labels(), column.order)
        self._parts.append(values.copy())  # not a view, which would keep the block

    def merge(self, other: MergedColumn) -> None:
        """Take the rows of another."""
        if other._is_number is None:
            return
        self._check_kind(other._is_number)
        parts = other._parts
        if not self._is_number:
            places = self._seen.merge(other._seen)
            kind = np.min_scalar_type(int(places.max(initial=0)))
            parts = [places.astype(kind).take(codes) for codes in parts]
        self._parts += parts

    def _check_kind(self, is_number: bool) -> None:
        if self._is_number is not None and self._is_number != is_number:
            kinds = ["labels", "numbers"]
            raise InputError(
                f"{self.name} should be of one kind in all blocks; it holds "
                f"{kinds[is_number]} here and {kinds[self._is_number]} before. Convert it."
            )
        self._is_number = is_number

    def merged(self) -> TargetColumn:
        """Return the whole column."""
        values = np.concatenate(self._parts)
        if self._is_number:
            return TargetColumn(self.name, values)
        places = self._seen.places()
        places = places.astype(np.min_scalar_type(max(len(places) - 1, 0)))
        codes, levels = places.take(values), self._seen.levels()
        return TargetColumn(self.name, codes, categorical=True, levels=levels)


@dataclass(frozen=True)
class _Column:
    """A categorical column of all blocks: its levels, the usual one, their places."""

    levels: tuple[Any, ...]
    usual: int
    places: Mapping[Any, int]


class TableCoder:
    """Blocks -> tables whose labels have the levels of all blocks."""

    def __init__(
        self, names: Sequence[str], labeled: Mapping[int, _Column], skip: set[int]
    ) -> None:
        self._names, self._labeled, self._skip = names, labeled, skip
        self._dtype: Any = None  # that of the first block
        self.first: Table  # a few rows of the first block
        self.template: Table  # the same without rows

    @staticmethod
    def of(
        names: Sequence[str], labeled: Sequence[int], survey: Survey, skip: set[int], first: Block
    ) -> TableCoder:
        """Return a coder that agrees with a few rows of the first block."""
        columns = {}
        for c, seen in zip(labeled, survey.seen):
            levels = seen.levels()
            places = {level: at for at, level in enumerate(levels)}
            columns[c] = _Column(levels, seen.most_frequent(), places)
        coder = TableCoder(names, columns, skip)
        try:
            coder.first = coder._table(first, np.arange(len(names)))
        except NonFiniteError as error:  # whose counts are not those of the table
            raise error.at("a look at a few rows, before the first pass") from None
        numeric = coder.first.numeric
        coder._dtype = None if hasattr(numeric, "format") else numeric.dtype
        coder.template = _no_rows(coder.first)
        return coder

    def columns(self, columns: Indices | None) -> Indices:
        """Return these input columns, or all but those skipped."""
        if columns is not None:
            return columns
        kept = [c for c in range(len(self._names)) if c not in self._skip]
        return np.array(kept, dtype=np.intp)

    def table(self, block: OpenedBlock, at: Indices) -> Table:
        """Return a block of the input columns `at` as a table."""
        with naming(block.place):
            return self._table(block.block, at)

    def _table(self, block: Block, at: Indices) -> Table:
        place = {int(c): k for k, c in enumerate(at)}
        labeled = {c: place[c] for c in self._labeled if c in place}
        skipped = {place[c] for c in self._skip if c in place}
        numeric = [k for c, k in place.items() if k not in skipped and c not in labeled]
        numeric_here = np.array(numeric, dtype=np.intp)
        return Table(
            n_rows=block.n_rows,
            names=self._names,
            numeric=self._as_first(block.numeric(numeric_here)),
            numeric_at=at[numeric_here],
            labels={c: self._code(block.labels(k), c) for c, k in labeled.items()},
            precision=block.precision(numeric_here),
        )

    def _code(self, labels: Labels, c: int) -> Labels:
        column = self._labeled[c]
        unknown = [level for level in labels.levels if level not in column.places]
        if unknown:
            raise InputError(
                f"a table that is read in blocks should stay the same from pass to pass; column "
                f"`{self._names[c]}` now has {listing(unknown)}, which it had not."
            )
        mine = np.array([column.places[level] for level in labels.levels], dtype=np.intp)
        return Labels(mine.take(labels.codes), column.levels, column.usual)

    def _as_first(self, numeric: Any) -> Any:
        """Return numbers in the storage and precision of the first block."""
        sparse = hasattr(numeric, "format")
        if self._dtype is None or not numeric.shape[1]:
            return numeric
        if sparse:
            raise InputError(
                "blocks should be all sparse or all dense; the first block is dense, this one is "
                "sparse. Convert it with its `toarray()`."
            )
        if (numeric.dtype == np.float32) == (self._dtype == np.float32):
            return numeric
        exact = numeric.dtype.kind == "b" or (numeric.dtype.kind in "iu" and numeric.itemsize == 1)
        if self._dtype != np.float32:
            return numeric.astype(np.float64)
        if exact:
            return numeric.astype(np.float32)
        raise InputError(
            f"blocks should have numbers of one precision; the first block is float32, this one is "
            f"{numeric.dtype}. Convert it with its `astype`."
        )


def _no_rows(table: Table) -> Table:
    none = np.zeros(0, dtype=np.intp)
    labels = {c: Labels(none, x.levels, x.most_frequent) for c, x in table.labels.items()}
    return Table(0, table.names, table.numeric[:0], table.numeric_at, labels, table.precision)
