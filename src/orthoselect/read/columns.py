"""What reading, sifting and writing ask of a table, whatever kind it is of."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.read.blocks import is_block_source

IDENTIFIER = "identifier: all values are distinct text"
HANDFUL = 10  # so few rows may differ in any text by chance
FEW = 64  # values that are sooner looked at one by one than by pyarrow
LOOK = 1000  # rows that mostly suffice to see that a column is no identifier
# 2024-12-31, 31.12.2024, 12/31/24 and the like, with or without a time of day
DATE = (
    r"^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))"
    r"([ T]\d{1,2}:\d{2}.*)?$"
)
# 12, 1,200, 1.200,50, 1'200, 1,5, 12%, $12, (3), 1e-3: as people write numbers
NUMBER = (
    "^[(]?[-+\u2212]?[$\u20ac\u00a3\u00a5]? ?[-+\u2212]?"
    "([0-9]{1,3}([ ,.'\u00a0\u202f][0-9]{3})+([.,][0-9]+)?|[0-9]*[.,]?[0-9]+|[0-9]+[.,])"
    "([eE][-+]?[0-9]+)?[ \u00a0]?[%$\u20ac\u00a3\u00a5]?[)]?$"
)
MARK = "^[-\u2013\u2014.*/]+$"  # stands for a missing value where the rest are numbers
# For Python, where a dollar sign also stands before a newline at the end.
_DATE, _NUMBER, _MARK = (re.compile(x[:-1] + r"\Z") for x in (DATE, NUMBER, MARK))
_PLAIN = re.compile(r"[-+]?[0-9]*[.]?[0-9]+([eE][-+]?[0-9]+)?")
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")

NumberLike = tuple[int, int, str]  # values that look like numbers, all values, an example
Gaps = dict[int, tuple[int, int]]  # column -> its missing values, its infinities


class Columns(ABC):
    """A table, column by column."""

    n_rows: int

    @abstractmethod
    def column(self, at: int) -> Any:
        """Return one column, an array or a pyarrow column."""

    def parts(self, at: int) -> Iterator[Any]:
        """Yield the values of one column, block by block."""
        yield self.column(at)

    @abstractmethod
    def reason_against(self, at: int, name: str) -> str | None:
        """Say why a column cannot be a feature or target, if it cannot."""

    @abstractmethod
    def numbers_as_text(self, at: int) -> NumberLike | None:
        """Count what looks like numbers in a text column, if most of its values do."""

    @abstractmethod
    def gaps(self, columns: Sequence[int]) -> Gaps:
        """Count missing values and infinities, of the columns that have any."""

    @abstractmethod
    def rows_with_gaps(self, columns: Iterable[int]) -> NDArray[np.bool_]:
        """Return which rows have a missing or infinite value in these columns."""

    @abstractmethod
    def take_rows(self, rows: NDArray[np.bool_]) -> Any:
        """Return the rows where the mask is True, a table of the same kind."""

    @abstractmethod
    def take_columns(self, columns: list[int]) -> Any:
        """Return these columns, a table of the same kind."""

    def _identifier(self, at: int) -> str:
        """Say of text that is different in each row what it may be besides an identifier."""
        if self.numbers_as_text(at) is None:
            return IDENTIFIER
        return f"{IDENTIFIER}, which looks like numbers stored as text"


def columns_of(data: Any) -> Columns:
    """Look at a table of any kind that is read."""
    if sp.issparse(data):
        return SparseColumns(data)
    if is_block_source(data):
        from orthoselect.read.block_columns import BlockColumns  # which looks at blocks by us

        return BlockColumns(data)
    return ArrayColumns(data) if isinstance(data, np.ndarray) else ArrowColumns(data)


class ArrayColumns(Columns):
    """A NumPy array; a column of text is not numeric and has no gaps."""

    def __init__(self, data: NDArray) -> None:
        self._data = data
        self.n_rows = len(data)

    def column(self, at: int) -> NDArray:
        return self._data[:, at]

    def reason_against(self, at: int, name: str) -> str | None:
        values = self._data[:, at]
        if values.dtype.kind == "f" and np.isnan(values[:1]).any() and np.isnan(values).all():
            return "no values"
        if values.dtype.kind in "US" and len(values) > HANDFUL:
            distinct = len(np.unique(values)) == len(values)
            return self._identifier(at) if distinct else None
        return "dates or times" if values.dtype.kind in "mM" else None

    def numbers_as_text(self, at: int) -> NumberLike | None:
        values = self._data[:, at]
        if values.dtype.kind not in "US":
            return None
        given = np.char.strip(values.astype(str)).tolist()
        return _count_among([value for value in given if value])

    def gaps(self, columns: Sequence[int]) -> Gaps:
        if self._data.dtype.kind != "f":
            return {}
        odd = ~np.isfinite(self._data).all(axis=0)
        return {at: _gaps_in(self._data[:, at]) for at in columns if odd[at]}

    def rows_with_gaps(self, columns: Iterable[int]) -> NDArray[np.bool_]:
        rows = np.zeros(self.n_rows, dtype=bool)
        if self._data.dtype.kind == "f":
            for at in columns:
                rows |= ~np.isfinite(self._data[:, at])
        return rows

    def take_rows(self, rows: NDArray[np.bool_]) -> NDArray:
        return self._data[rows]

    def take_columns(self, columns: list[int]) -> NDArray:
        return self._data[:, columns]


class SparseColumns(Columns):
    """A SciPy sparse array; only what it stores can be missing."""

    def __init__(self, data: Any) -> None:
        self._data = data
        self.n_rows = data.shape[0]

    def column(self, at: int) -> NDArray:
        return self._data[:, [at]].toarray()[:, 0]

    def reason_against(self, at: int, name: str) -> str | None:
        return None  # a column without values is one of zeros

    def numbers_as_text(self, at: int) -> NumberLike | None:
        return None

    def gaps(self, columns: Sequence[int]) -> Gaps:
        odd, n = self._odd(), self._data.shape[1]
        missing = np.bincount(odd.col[np.isnan(odd.data)], minlength=n).tolist()
        infinite = np.bincount(odd.col[np.isinf(odd.data)], minlength=n).tolist()
        wanted = set(columns).intersection(odd.col.tolist())
        return {at: (missing[at], infinite[at]) for at in sorted(wanted)}

    def rows_with_gaps(self, columns: Iterable[int]) -> NDArray[np.bool_]:
        odd = self._odd()
        rows = np.zeros(self.n_rows, dtype=bool)
        rows[odd.row[np.isin(odd.col, list(columns))]] = True
        return rows

    def _odd(self) -> Any:
        """Return the values that are not finite."""
        stored = sp.coo_array(self._data)
        odd = ~np.isfinite(stored.data)
        return sp.coo_array((stored.data[odd], (stored.row[odd], stored.col[odd])), stored.shape)

    def take_rows(self, rows: NDArray[np.bool_]) -> Any:
        return self._data[np.flatnonzero(rows)]

    def take_columns(self, columns: list[int]) -> Any:
        return self._data[:, columns]


class ArrowColumns(Columns):
    """A pyarrow table."""

    def __init__(self, data: Any) -> None:
        self._data = data
        self.n_rows = data.num_rows

    def column(self, at: int) -> Any:
        return self._data.column(at)

    def reason_against(self, at: int, name: str) -> str | None:
        column = self._data.column(at)
        kind = column.type  # the schema lists the types of all columns, each time it is asked
        if column.null_count == len(column):
            return "no values"
        unfit = arrow_reason_by_type(kind, name)
        if unfit is None and is_text(kind):
            unfit = _reason_against_text(column)
        return self._identifier(at) if unfit == IDENTIFIER else unfit

    def numbers_as_text(self, at: int) -> NumberLike | None:
        column = self._data.column(at)
        if not is_text(column.type) or _count_numbers(column.slice(0, LOOK)) is None:
            return None
        return _count_numbers(column)

    def gaps(self, columns: Sequence[int]) -> Gaps:
        found = {at: _arrow_gaps(self._data.column(at)) for at in columns}
        return {at: counts for at, counts in found.items() if any(counts)}

    def rows_with_gaps(self, columns: Iterable[int]) -> NDArray[np.bool_]:
        rows = np.zeros(self.n_rows, dtype=bool)
        for at in columns:
            column = self._data.column(at)
            rows |= column.is_null().to_numpy() if column.null_count else False
            if _may_hold_nan(column):
                rows |= ~np.isfinite(_floats(column))
        return rows

    def take_rows(self, rows: NDArray[np.bool_]) -> Any:
        import pyarrow as pa

        return self._data.filter(pa.array(rows))

    def take_columns(self, columns: list[int]) -> Any:
        return self._data.select(columns)


def _gaps_in(values: NDArray) -> tuple[int, int]:
    return int(np.isnan(values).sum()), int(np.isinf(values).sum())


def _arrow_gaps(column: Any) -> tuple[int, int]:
    return _gaps_in(_floats(column)) if _may_hold_nan(column) else (column.null_count, 0)


def _may_hold_nan(column: Any) -> bool:
    """Whether a column has NaN or infinity; an overflow of the sum asks for a closer look too."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(column.type):
        return False
    if pa.types.is_float16(column.type):  # which pyarrow does not add up
        return not np.isfinite(_floats(column)).all()
    total = pc.sum(column).as_py()
    return total is not None and not np.isfinite(total)


def _floats(column: Any) -> NDArray:
    return column.to_numpy().astype(np.float64, copy=False)


def arrow_reason_by_type(kind: Any, name: str) -> str | None:
    """Say why a column cannot be a feature or target, if its type or name says so."""
    import pyarrow as pa

    if pa.types.is_null(kind):
        return "no values"
    if pa.types.is_temporal(kind):
        return "dates or times"
    if pa.types.is_nested(kind):
        return "lists or records"
    if _is_binary(kind):
        return "bytes"
    return "the index that pandas stored" if _PANDAS_INDEX.fullmatch(name) else None


def is_text(kind: Any) -> bool:
    """Whether a type of Arrow is text."""
    import pyarrow as pa

    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _is_binary(kind: Any) -> bool:
    import pyarrow as pa

    is_kind = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    return any(check(kind) for check in is_kind)


def _reason_against_text(column: Any) -> str | None:
    """Tell identifiers and dates from categories; the first rows mostly settle it."""
    if _all_are_dates(column.slice(0, LOOK)) and _all_are_dates(column):
        return "dates or times"
    if len(column) - column.null_count <= HANDFUL:
        return None
    if _all_differ(column.slice(0, LOOK)) and _all_differ(column):
        return IDENTIFIER
    return None


def _count_numbers(column: Any) -> NumberLike | None:
    import pyarrow.compute as pc

    if len(column) <= FEW:
        return _count_among([value for value in column.to_pylist() if value is not None])
    column = column.drop_null()
    is_like = pc.match_substring_regex(column, NUMBER)
    like = column.filter(is_like)
    n_marks = pc.sum(pc.match_substring_regex(column, MARK)).as_py() or 0
    return number_like(len(like), len(column), n_marks, like.slice(0, LOOK).to_pylist())


def _count_among(values: list[str]) -> NumberLike | None:
    like = [value for value in values if _NUMBER.search(value)]
    n_marks = sum(_MARK.search(value) is not None for value in values)
    return number_like(len(like), len(values), n_marks, like)


def number_like(n_like: int, n_values: int, n_marks: int, like: Sequence[str]) -> NumberLike | None:
    """Return the counts if half of the values or more look like numbers, marks for missing apart.

    The example is one that tells why they are text, if there is one.
    """
    if not n_like or 2 * n_like < n_values - n_marks:
        return None
    odd = (value for value in like if not _PLAIN.fullmatch(value))
    return n_like, n_values, next(odd, like[0])


def _all_are_dates(column: Any) -> bool:
    import pyarrow.compute as pc

    first = column[0].as_py() if len(column) else None
    if first is not None and not _DATE.search(first):
        return False
    return pc.all(pc.match_substring_regex(column, DATE)).as_py() is True


def _all_differ(column: Any) -> bool:
    import pyarrow.compute as pc

    return pc.count_distinct(column).as_py() == len(column) - column.null_count
