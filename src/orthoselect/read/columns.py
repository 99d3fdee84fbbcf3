"""What the columns of a file hold, found out block by block; see `Dataset`.

Whether a column is an identifier, a date or a number as text, and where its values are missing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

IDENTIFIER = "identifier: all values are distinct text"
HANDFUL = 10  # so few rows may differ in any text by chance
FEW = 64  # values that are sooner looked at one by one than by pyarrow
LOOK = 1000  # rows that mostly suffice to see that a column is no identifier
_MOST_COMPARED = 10_000_000  # values of a column that are held to see whether all are distinct
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


def column_of(table: Any, at: int) -> Any:
    """Return a column of a table in memory: an array, a SciPy sparse array or a pyarrow table."""
    if sp.issparse(table):
        return table[:, [at]].toarray()[:, 0]
    return table[:, at] if isinstance(table, np.ndarray) else table.column(at)


def gaps_in(table: Any, columns: Sequence[int]) -> Gaps:
    """Count missing values and infinities, of the columns that have any."""
    if sp.issparse(table):
        odd, n = _odd(table), table.shape[1]
        missing = np.bincount(odd.col[np.isnan(odd.data)], minlength=n).tolist()
        infinite = np.bincount(odd.col[np.isinf(odd.data)], minlength=n).tolist()
        wanted = set(columns).intersection(odd.col.tolist())
        return {at: (missing[at], infinite[at]) for at in wanted}
    if isinstance(table, np.ndarray):
        if table.dtype.kind != "f":
            return {}  # text has no gaps
        odd_at = set(np.flatnonzero(~np.isfinite(table).all(axis=0)).tolist())
        return {at: _counted(table[:, at]) for at in columns if at in odd_at}
    found = {at: table.column(at) for at in columns}
    counts = {
        at: _counted(_floats(column)) if _may_hold_nan(column) else (column.null_count, 0)
        for at, column in found.items()
    }
    return {at: each for at, each in counts.items() if any(each)}


def rows_with_gaps(table: Any, columns: Sequence[int]) -> NDArray[np.bool_]:
    """Return which rows have a missing or infinite value in these columns."""
    rows = np.zeros(table.shape[0], dtype=bool)
    if sp.issparse(table):
        odd = _odd(table)
        rows[odd.row[np.isin(odd.col, list(columns))]] = True
        return rows
    if isinstance(table, np.ndarray):
        for at in columns if table.dtype.kind == "f" else ():
            rows |= ~np.isfinite(table[:, at])
        return rows
    for column in (table.column(at) for at in columns):
        rows |= column.is_null().to_numpy() if column.null_count else False
        if _may_hold_nan(column):
            rows |= ~np.isfinite(_floats(column))
    return rows


def _odd(table: Any) -> Any:
    """Return what is stored in a sparse table and is not finite."""
    stored = sp.coo_array(table)
    odd = ~np.isfinite(stored.data)
    return sp.coo_array((stored.data[odd], (stored.row[odd], stored.col[odd])), stored.shape)


def _counted(values: NDArray) -> tuple[int, int]:
    return int(np.isnan(values).sum()), int(np.isinf(values).sum())


def _floats(column: Any) -> NDArray:
    return column.to_numpy().astype(np.float64, copy=False)


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


# What a column holds


class ColumnLook:
    """A look at one column: what its type says, and of text whether it holds dates and the like.

    What is asked of all values of text (are they dates, distinct, numbers written as people do?) is
    given up as soon as one of them, or the first rows, deny it.
    """

    is_open = True  # whether there is still something to find out
    reason: str | None = None  # why the column cannot be a feature or target, if it cannot
    numbers: NumberLike | None = None  # what looks like numbers in text, if most values do
    _n_rows = _n_values = 0  # of text; values are those that are not missing
    _may_be_dates = _may_be_distinct = _may_be_numbers = True
    _first: Any = None  # the values of the first block
    _seen: NDArray[np.int64] = np.zeros(0, dtype=np.int64)  # hashes, if there are more
    # Texts that may be numbers, those that look so, and marks for missing ones.
    _n_texts = _n_like = _n_marks = 0
    _like: Sequence[str] = ()  # some of those like numbers

    def add(self, column: Any, name: str) -> None:
        """Look at one more block, an array or a pyarrow column."""
        if isinstance(column, np.ndarray):
            kind = column.dtype.kind
            by_type = "dates or times" if kind in "mM" else None
            if kind in "US":
                self._add_text(column, by_type)
                return
            gaps_first = kind == "f" and np.isnan(column[:1]).any()
            self.is_open = bool(gaps_first and np.isnan(column).all())
        else:
            by_type = _reason_by_type(column.type, name)
            if str(column.type) in ("string", "large_string"):
                self._add_text(column, by_type)
                return
            self.is_open = column.null_count == len(column)
        self.reason = "no values" if self.is_open else by_type

    def _add_text(self, column: Any, by_name: str | None) -> None:
        is_array = isinstance(column, np.ndarray)  # whose text is no date, and never missing
        values = column if is_array else column.drop_null()
        self._n_values += len(values)
        if self._may_be_numbers:
            self._add_numbers(column)
        self._n_rows += len(column)
        if self._may_be_dates and len(values):
            self._may_be_dates = not is_array and _DATE.search(values[0].as_py()) is not None
        if self._may_be_dates and len(values):
            import pyarrow.compute as pc

            self._may_be_dates = pc.all(pc.match_substring_regex(values, DATE)).as_py() is True
        if self._may_be_distinct:
            self._may_be_distinct = self._still_distinct(values)
        undecided = self._may_be_dates or self._may_be_distinct or self._may_be_numbers
        self.is_open = not self._n_values or (by_name is None and undecided)
        self.reason = by_name
        if not self._n_values:
            self.reason = "no values"
        elif by_name is None and self._may_be_dates:
            self.reason = "dates or times"
        elif by_name is None and self._n_values > HANDFUL and self._may_be_distinct:
            looks = ", which looks like numbers stored as text" if self.numbers else ""
            self.reason = IDENTIFIER + looks

    def _still_distinct(self, values: Any) -> bool:
        """Whether all values are unlike; of ten million and more it is not asked any longer."""
        if len(self._seen) >= _MOST_COMPARED:
            return True
        if self._first is None:
            self._first = values
            if isinstance(values, np.ndarray):
                return len(np.unique(values)) == len(values)
            import pyarrow.compute as pc

            return pc.count_distinct(values).as_py() == len(values)
        if not len(self._seen):
            self._seen = np.unique(_hashes(self._first))
        new = _hashes(values)
        seen = np.unique(np.concatenate([self._seen, new]))
        grown, self._seen = len(seen) - len(self._seen), seen
        return grown == len(new)

    def _add_numbers(self, column: Any) -> None:
        """Count what looks like numbers, unless the first rows hold few."""
        first = LOOK - self._n_rows
        if 0 < first <= len(column):
            self._count_numbers(column[:first])
            column = column[first:]
            self._may_be_numbers = self.numbers is not None
        if self._may_be_numbers:
            self._count_numbers(column)

    def _count_numbers(self, column: Any) -> None:
        like: Any
        if len(column) <= FEW or isinstance(column, np.ndarray):
            values = _texts(column)
            like = [value for value in values if _NUMBER.search(value)]
            self._n_marks += sum(_MARK.search(value) is not None for value in values)
        else:
            import pyarrow.compute as pc

            values = column.drop_null()
            like = values.filter(pc.match_substring_regex(values, NUMBER))
            self._n_marks += pc.sum(pc.match_substring_regex(values, MARK)).as_py() or 0
        self._n_texts += len(values)
        self._n_like += len(like)
        some = like[: max(0, LOOK - len(self._like))]
        self._like = [*self._like, *(some if isinstance(some, list) else some.to_pylist())]
        self.numbers = None
        # Half of the values or more, marks for missing ones apart.
        if self._n_like and 2 * self._n_like >= self._n_texts - self._n_marks:
            odd = (value for value in self._like if not _PLAIN.fullmatch(value))  # show why
            self.numbers = self._n_like, self._n_texts, next(odd, self._like[0])


def look_at(column: Any, name: str) -> ColumnLook:
    """Look at a whole column; the first rows mostly settle it."""
    look = ColumnLook()
    look.add(column[:LOOK], name)
    if look.is_open and len(column) > LOOK:
        look = ColumnLook()
        look.add(column, name)
    return look


def _texts(column: Any) -> list[str]:
    """Return the values of a column of text that are not missing; in an array blanks are."""
    if isinstance(column, np.ndarray):
        return [value for value in np.char.strip(column.astype(str)).tolist() if value]
    return [value for value in column.to_pylist() if value is not None]


def _hashes(column: Any) -> NDArray[np.int64]:
    values = column.tolist() if isinstance(column, np.ndarray) else column.to_pylist()
    return np.fromiter(map(hash, values), np.int64, len(values))


def _reason_by_type(kind: Any, name: str) -> str | None:
    """Say why a column cannot be a feature or target, if its type or name says so."""
    import pyarrow as pa

    types = pa.types
    if types.is_null(kind):
        return "no values"
    if types.is_temporal(kind):
        return "dates or times"
    if types.is_nested(kind):
        return "lists or records"
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return "bytes"
    return "the index that pandas stored" if _PANDAS_INDEX.fullmatch(name) else None
