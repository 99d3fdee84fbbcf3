"""What the columns of a table hold: whether each is a feature, and as what it is read.

A look goes over blocks of rows, and asks of text whether it is an identifier, dates or numbers; of
whole numbers whether they number the rows or are under the name of an identifier. What the first
rows deny is not asked any further. The same rows are looked at first whatever the storage, and all
of them where these do not deny, so that a table is judged alike wherever it is.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode.class_sizes import ALONE, FEW_LEVELS
from orthoselect.encode.labels import is_gap
from orthoselect.encode.whole_numbers import EXACT
from orthoselect.matrix.checksums import number_bits, object_bits
from orthoselect.read.written import (
    ORDERS,
    dates_of,
    is_code,
    is_date,
    is_like_number,
    is_mark,
    is_whole,
    number_of,
)

DATES, RECORDS, BYTES, NO_VALUES = "dates or times", "lists or records", "bytes", "no values"
PANDAS_INDEX = "the index that pandas stored"
IDENTIFIER = "identifier: all values are distinct text"
NEARLY, ROW_NUMBERS = "nearly an identifier", "row numbers"
BY_NAME = "identifier by its name"
LOOK = 1000  # rows that are looked at first
HANDFUL = 10  # so few rows may differ in any text by chance, and number themselves
_MOST_COMPARED = 10_000_000  # levels of a column that are held; more are an identifier
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")
# "id", "ID", "patient_id", "Ketchup.id", "customerId", and what pandas calls an unnamed index.
UNNAMED_INDEX = "Unnamed: 0"
_IDENTIFIER_NAME = re.compile(rf"(?i:(.*[\W_])?ids?|id[\W_].*)|.*[a-z]I[dD]|{UNNAMED_INDEX}")
# "order no", "seqno", "sampleNumber", "key": what numbers things where all differ, in order.
_NUMBER_NAME = re.compile(
    r"(?i:(.*[\W_])?(no|nr|num|number|key|serial|seq)|[a-z]{3,}no)|.*[a-z](No|Nr|Num|Number|Key)|#"
)
# What may well be measured at every whole number of a long series.
_SERIES_NAME = re.compile(
    r"(?i:(.*[\W_])?(years?|yr|times?|dates?|days?|months?|weeks?|hours?|min|minutes?|sec|seconds?|"
    r"wave\w*|freq\w*)([\W_].*)?)|.*[a-z](Year|Time|Date|Day)"
)
_YEARS = (1500, 2200)
_LONG_SCALE = 300  # steps of one; temperatures, ages and heights have fewer
NumberLike = tuple[int, int, str]  # values that look like numbers, all values, an example
PARTS = ("year", "month", "weekday", "hour", "days")


@dataclass(frozen=True)
class Glimpse:
    """Some rows of a column, as far as a look wants to know them."""

    kind: str  # "text", "labels", "dates", "whole numbers", "others"; or why it is no feature
    n_rows: int
    n_values: int  # rows where it is not missing
    levels: Sequence[Any] = ()  # of text and labels, those that occur
    counts: Sequence[int] = ()  # the rows of each
    values: Any = None  # of whole numbers and dates; None where it has gaps


def glimpse_objects(values: Sequence[Any]) -> Glimpse:
    """Look at Python objects."""
    n_rows = len(values)
    held = [v for v in values if not is_gap(v)]
    kinds = {type(value) for value in held}
    if any(issubclass(kind, str) for kind in kinds):
        return glimpse_text([v if isinstance(v, str) else str(v) for v in held], None, n_rows)
    if not kinds:
        return Glimpse("others", n_rows, 0)
    if all(issubclass(kind, (datetime.date, datetime.time, datetime.timedelta)) for kind in kinds):
        with_dates = all(issubclass(kind, datetime.date) for kind in kinds)
        return Glimpse("dates", n_rows, len(held), values=as_dates(held) if with_dates else None)
    if all(issubclass(kind, (list, tuple, dict, set, np.ndarray)) for kind in kinds):
        return Glimpse(RECORDS, n_rows, len(held))
    if all(issubclass(kind, (bytes, bytearray)) for kind in kinds):
        return Glimpse(BYTES, n_rows, len(held))
    return Glimpse("others", n_rows, len(held))


def as_dates(values: Sequence[Any]) -> NDArray:
    """Return dates of Python as those of NumPy, times of day as they are written."""
    return np.array([_plain_date(value) for value in values], dtype="datetime64[m]")


def _plain_date(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return np.datetime64(value.strftime("%Y-%m-%dT%H:%M"), "m")
    return np.datetime64("NaT") if is_gap(value) else np.datetime64(value, "D")


def glimpse_text(levels: Sequence[str], counts: Sequence[int] | None, n_rows: int) -> Glimpse:
    """Look at text, each level with the rows that have it; blanks are missing."""
    merged: dict[str, int] = {}
    for level, count in zip(levels, [1] * len(levels) if counts is None else counts):
        level = level.strip()
        if level:
            merged[level] = merged.get(level, 0) + int(count)
    n_values = sum(merged.values())
    return Glimpse("text", n_rows, n_values, list(merged), list(merged.values()))


@dataclass(frozen=True)
class Finding:
    """What was found of a column."""

    reason: str | None = None  # why the column cannot be a feature, if it cannot
    decimal: str | None = None  # of text that is read as numbers, what parts fractions
    example: str = ""  # of such text
    like: NumberLike | None = None  # of text that is not, and yet looks like numbers
    order: str | None = None  # of dates as text, how they are written
    parts: tuple[str, ...] = ()  # of dates, what varies


@dataclass
class _Text:
    """What text holds, as far as it was seen."""

    n_values: int = 0
    n_like: int = 0  # values that look like numbers
    n_marks: int = 0  # that stand for missing ones
    n_codes: int = 0
    n_whole: int = 0
    example: str = ""
    decimals: set[str] = field(default_factory=lambda: {".", ","})  # by which all are numbers
    are_dates: bool = True
    hashes: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))
    counts: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    def add(self, levels: Sequence[str], counts: Sequence[int]) -> None:
        rows = np.array(counts, dtype=np.intp)
        self.n_values += int(rows.sum())
        marks = np.array([is_mark(level) for level in levels], dtype=bool)
        like = np.array([is_like_number(level) for level in levels], dtype=bool)
        self.n_marks += int(rows[marks].sum())
        self.n_like += int(rows[like].sum())
        if like.any():
            some = [level for level, is_one in zip(levels, like) if is_one]
            self.n_codes += sum(map(is_code, some))
            self.n_whole += int(rows[[is_whole(level) for level in levels]].sum())
            self._show(some)
            self.decimals = {
                d for d in self.decimals if all(number_of(x, d) == number_of(x, d) for x in some)
            }
        self.are_dates = self.are_dates and all(map(is_date, levels))
        if len(self.hashes) < _MOST_COMPARED:
            self._count(object_bits(levels), rows)

    def _show(self, like: Sequence[str]) -> None:
        """Keep one of the values like numbers, one that says why it is text if there is any."""
        odd = [level for level in like if not is_whole(level)]
        shown = [self.example] if self.example else []
        if odd and (not shown or is_whole(self.example)):
            shown = []
        self.example = min([*shown, *(odd or (like if not shown else []))])

    def _count(self, hashes: NDArray[np.uint64], counts: NDArray[np.intp]) -> None:
        """Take in levels, by what stands for them."""
        every = np.concatenate([self.hashes, hashes])
        self.hashes, place = np.unique(every, return_inverse=True)
        rows = np.concatenate([self.counts, counts])
        self.counts = np.bincount(place.reshape(-1), rows).astype(np.intp)

    def merge(self, other: _Text) -> None:
        for name in ("n_values", "n_like", "n_marks", "n_codes", "n_whole"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        if other.example:
            self._show([other.example])
        self.decimals &= other.decimals
        self.are_dates = self.are_dates and other.are_dates
        self._count(other.hashes, other.counts)

    @property
    def n_alone(self) -> int:
        return int((self.counts == 1).sum())

    @property
    def are_numbers(self) -> bool:
        """Whether all values are numbers, or marks for missing ones, and no labels."""
        if not self.n_like or self.n_like + self.n_marks < self.n_values or self.n_codes:
            return False
        return bool(self.decimals) and not self.are_labels

    @property
    def are_labels(self) -> bool:
        """Whether these are labels written as whole numbers: few of them, or such as repeat."""
        if self.n_whole + self.n_marks < self.n_values:
            return False
        repeat = self.n_alone < ALONE * self.n_values and not self.n_marks
        return len(self.counts) <= FEW_LEVELS or repeat

    @property
    def name_rows(self) -> str | None:
        """Say why the column is an identifier, or nearly one, if it is."""
        n_levels, n_alone = len(self.counts), self.n_alone
        if n_alone == self.n_values > HANDFUL:
            return IDENTIFIER
        if n_levels > FEW_LEVELS and n_alone >= ALONE * self.n_values:
            return f"{NEARLY}: {n_alone} of {self.n_values} values occur once"
        return None

    @property
    def like(self) -> NumberLike | None:
        """Half of the values or more, marks for missing ones apart."""
        if self.n_codes or (self.are_labels and len(self.counts) <= FEW_LEVELS):
            return None
        if self.n_like and 2 * self.n_like >= self.n_values - self.n_marks:
            return self.n_like, self.n_values, self.example
        return None


@dataclass
class _Span:
    """The least and the largest of each part of dates; of text, by either order."""

    low: NDArray | None = None
    high: NDArray | None = None
    is_valid: bool = True

    def add(self, dates: NDArray) -> None:
        if np.isnat(dates).any():
            self.is_valid = False
        elif len(dates):
            parts = date_parts(dates, PARTS)
            self._take(parts.min(axis=0), parts.max(axis=0))

    def merge(self, other: _Span) -> None:
        self.is_valid = self.is_valid and other.is_valid
        if other.low is not None and other.high is not None:
            self._take(other.low, other.high)

    def _take(self, low: NDArray, high: NDArray) -> None:
        self.low = low if self.low is None else np.minimum(self.low, low)
        self.high = high if self.high is None else np.maximum(self.high, high)

    @property
    def varying(self) -> tuple[str, ...]:
        if self.low is None or self.high is None or not self.is_valid:
            return ()
        return tuple(part for part, a, b in zip(PARTS, self.low, self.high) if a != b)


def date_parts(dates: NDArray, parts: Sequence[str]) -> NDArray[np.float64]:
    """Return parts of dates as numbers, (N, number of parts); NaN where a date is missing.

    Examples
    --------
    >>> date_parts(np.array(["2024-02-29T12:00"], dtype="datetime64[m]"), PARTS)
    array([[2.02400e+03, 2.00000e+00, 4.00000e+00, 1.20000e+01, 1.97825e+04]])
    """
    days = dates.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    minutes = (dates - days).astype("timedelta64[m]").astype(np.float64)
    number = days.astype(np.float64)
    made = {
        "year": dates.astype("datetime64[Y]").astype(np.float64) + 1970,
        "month": months.astype(np.float64) % 12 + 1,
        "weekday": (number + 3) % 7 + 1,  # 1970 began with a Thursday
        "hour": np.floor(minutes / 60),
        "days": number + minutes / 1440,
    }
    result = np.column_stack([made[part] for part in parts])
    result[np.isnat(dates)] = np.nan
    return result


@dataclass
class _Whole:
    """Whole numbers, as far as they were seen: whether they number the rows, all from 0 or 1 on."""

    n: int = 0
    low: int | None = None
    high: int | None = None
    sum: int = 0  # of what stands for each number; that of 1 to n is known
    may_be: bool = True
    first: int = 0
    last: int = 0
    rise: bool = True  # from row to row
    fall: bool = True

    def add(self, values: Any) -> None:
        self.may_be = self.may_be and values is not None
        if self.may_be and len(values):
            self.merge(_Whole.of(values))
            self.may_be = self.low is not None and self.low >= 0

    @staticmethod
    def of(values: NDArray) -> _Whole:
        before, after = values[:-1], values[1:]
        return _Whole(
            n=len(values),
            low=int(values.min()),
            high=int(values.max()),
            sum=_sum_of(values),
            first=int(values[0]),
            last=int(values[-1]),
            rise=bool((after > before).all()),
            fall=bool((after < before).all()),
        )

    def merge(self, other: _Whole) -> None:
        """Take in what was seen of later rows."""
        self.may_be = self.may_be and other.may_be
        if other.low is None or other.high is None:
            return
        if self.low is None or self.high is None:
            self.low, self.high, self.first = other.low, other.high, other.first
            self.rise, self.fall = other.rise, other.fall
        else:
            self.rise = self.rise and other.rise and other.first > self.last
            self.fall = self.fall and other.fall and other.first < self.last
            self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.last = other.last
        self.n, self.sum = self.n + other.n, (self.sum + other.sum) % (1 << 64)

    @property
    def is_run(self) -> bool:
        """Whether these are all numbers from the least to the largest, each once."""
        if not self.may_be or self.n <= HANDFUL or self.low is None or self.high is None:
            return False
        if self.high - self.low != self.n - 1:
            return False
        expected, step = 0, 1 << 20
        for start in range(self.low, self.high + 1, step):
            expected += _sum_of(np.arange(start, min(start + step, self.high + 1)))
        return self.sum == expected % (1 << 64)

    @property
    def is_in_order(self) -> bool:
        """Whether all differ, rising or falling from row to row."""
        return self.may_be and self.n > HANDFUL and (self.rise or self.fall)

    @property
    def is_no_series(self) -> bool:
        """Whether a run is neither years nor a scale of some hundred steps."""
        if self.low is None or self.high is None:
            return False
        may_be_years = _YEARS[0] <= self.low and self.high <= _YEARS[1]
        return self.low > _YEARS[1] or (self.n > _LONG_SCALE and not may_be_years)

    @property
    def are_many(self) -> bool:
        """Whether more than a handful of rows lie further apart than few levels would."""
        if not self.may_be or self.n <= HANDFUL or self.low is None or self.high is None:
            return False
        return self.high - self.low > FEW_LEVELS


_ODD = np.uint64(0x9E3779B97F4A7C15)


def _sum_of(values: NDArray) -> int:
    """Return the sum of what stands for numbers, which tells sets of them apart."""
    bits = number_bits(values).copy()
    for shift in (np.uint64(29), np.uint64(32)):
        bits = (bits ^ (bits >> shift)) * _ODD
    return int((bits ^ (bits >> np.uint64(31))).sum(dtype=np.uint64))


class ColumnLook:
    """A look at one column, block by block."""

    def __init__(self, name: str, *, is_named: bool = True) -> None:
        self.name, self._is_named = name, is_named
        self.n_rows = self._n_values = 0
        self._kinds: set[str] = set()
        self._text, self._whole = _Text(), _Whole()
        self._spans = {order: _Span() for order in ORDERS}
        self.is_open = True  # whether further rows may change what is found

    def add(self, some: Glimpse) -> None:
        """Look at more rows."""
        self.n_rows += some.n_rows
        self._n_values += some.n_values
        if some.n_values:
            self._kinds.add(some.kind)
        if some.kind in ("text", "labels"):
            self._text.add(some.levels, some.counts)
            self._add_whole_text(some)
        if some.kind == "text" and self._text.are_dates:
            for order, span in self._spans.items():
                span.add(dates_of(some.levels, order))
        if some.kind == "dates":
            for span in self._spans.values():
                span.add(np.array(["NaT"], "M8[m]") if some.values is None else some.values)
        if some.kind == "whole numbers":
            self._whole.add(some.values)

    def _add_whole_text(self, some: Glimpse) -> None:
        """Look at numbers of rows that were made text."""
        text, whole = self._text, self._whole
        whole.may_be = whole.may_be and text.n_whole == text.n_values == self.n_rows
        if whole.may_be and some.n_values and max(some.counts) == 1:
            whole.add(np.array([float(level) for level in some.levels]))
        elif some.n_values:
            whole.may_be = False

    def close_what_is_denied(self) -> None:
        """Ask no more of a column that its first rows show to be an ordinary one."""
        if not self._n_values:
            return
        kind, text = next(iter(self._kinds)), self._text
        if kind in ("text", "labels"):
            may_be_numbers = kind == "text" and (text.are_numbers or text.like is not None)
            may_be_dates = kind == "text" and text.are_dates
            self.is_open = may_be_numbers or may_be_dates or text.name_rows is not None
        elif kind == "whole numbers":
            # What is distinct and not negative may be numbers of rows.
            self.is_open = self._is_named and self._whole.may_be
        else:
            self.is_open = kind == "dates"

    def merge(self, other: ColumnLook) -> ColumnLook:
        """Return what both have found, of unlike rows."""
        self.n_rows += other.n_rows
        self._n_values += other._n_values
        self._kinds |= other._kinds
        self._text.merge(other._text)
        self._whole.merge(other._whole)
        for order, span in self._spans.items():
            span.merge(other._spans[order])
        return self

    def finding(self) -> Finding:
        """Return what was found."""
        if not self._n_values:
            return Finding(NO_VALUES)
        if _PANDAS_INDEX.fullmatch(self.name):
            return Finding(PANDAS_INDEX)
        if len(self._kinds) > 1:  # blocks of unlike kinds, of which others complain
            is_mixed = self._kinds == {"text", "others"} and not self._text.are_numbers
            # Objects of pandas: a word in some rows, and numbers alone in others.
            return Finding(self._text.name_rows, like=self._text.like) if is_mixed else Finding()
        kind = next(iter(self._kinds))
        if kind in (RECORDS, BYTES):
            return Finding(kind)
        if kind == "dates":
            return Finding(DATES, parts=self._spans[ORDERS[0]].varying)
        if self._is_named and self._whole.n == self.n_rows:
            reason = self._numbers_reason(kind)
            if reason is not None:
                return Finding(reason)
        if kind == "labels":
            return Finding(self._text.name_rows)
        return self._text_finding() if kind == "text" else Finding()

    def _numbers_reason(self, kind: str) -> str | None:
        """Say why whole numbers, or text that holds such, are no feature, if they are none."""
        whole, is_named_so = self._whole, is_identifier_name(self.name)
        numbers = kind == "whole numbers"
        span = f"whole numbers from {whole.low} to {whole.high}"
        # Of text the order of the rows is not known. Numbers out of order may be ranks.
        follow = whole.is_run and (whole.is_in_order or not numbers)
        if whole.low in (0, 1) and (follow or (is_named_so and whole.is_run)):
            return f"{ROW_NUMBERS}: all {span}"
        if numbers and is_named_so and whole.are_many:
            return f"{BY_NAME}: {span}"
        counts_things = _NUMBER_NAME.fullmatch(self.name) is not None
        is_series = _SERIES_NAME.fullmatch(self.name) is not None
        if follow and (is_named_so or counts_things or (whole.is_no_series and not is_series)):
            return f"{ROW_NUMBERS}: all {span}"
        if numbers and counts_things and whole.is_in_order:
            return f"{BY_NAME}: {span}"
        return None

    def _text_finding(self) -> Finding:
        text = self._text
        if text.are_dates:
            valid = [order for order in ORDERS if self._spans[order].is_valid]
            order = valid[0] if valid else None
            return Finding(DATES, order=order, parts=self._spans[order].varying if order else ())
        if text.are_numbers:
            decimal = "." if "." in text.decimals else ","
            return Finding(decimal=decimal, example=text.example)
        return Finding(text.name_rows, like=text.like)


def are_whole(values: NDArray) -> NDArray[np.bool_]:
    """Whether floats are whole numbers, each of those in a row or column by itself.

    >>> are_whole(np.array([1.0, 1.5, np.nan, np.inf, 1e300])).tolist()
    [True, False, False, False, False]
    """
    return (np.trunc(values) == values) & (np.abs(values) < EXACT)


def is_identifier_name(name: str) -> bool:
    """Whether a column of this name numbers things rather than measures them.

    Examples
    --------
    >>> [is_identifier_name(name) for name in ("id", "patient_id", "orderId", "width", "paid")]
    [True, True, True, False, False]
    """
    return _IDENTIFIER_NAME.fullmatch(name) is not None


def look_on(look: ColumnLook, block: Any, column: int) -> None:
    """Look at a column of one more block, its first rows before the others."""
    first = min(max(0, LOOK - look.n_rows), block.n_rows)
    for rows in (slice(0, first), slice(first, block.n_rows)):
        if look.is_open and rows.stop > rows.start:
            look.add(block.glimpse(column, rows))
        if look.n_rows == LOOK:
            look.close_what_is_denied()


# Looks at all rows of a table in parts, which add up


def whole_looks(names: Mapping[int, str], is_named: bool) -> dict[int, ColumnLook]:
    """Start to look at columns, by their positions in the table."""
    return {c: ColumnLook(name, is_named=is_named) for c, name in names.items()}


def look_whole(looks: dict[int, ColumnLook], block: Any) -> None:
    """Look at all rows of a block that has these columns and no others."""
    for k, look in enumerate(looks.values()):
        look.add(block.glimpse(k, slice(0, block.n_rows)))


def merge_looks(
    mine: dict[int, ColumnLook], theirs: dict[int, ColumnLook]
) -> dict[int, ColumnLook]:
    """Return what is known of the rows of both."""
    return {c: look.merge(theirs[c]) for c, look in mine.items()}
