"""Rows of a text -> columns, and what the columns of many pieces hold together."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from orthoselect.read.arrow import load_pyarrow
from orthoselect.read.dataset import TextFormat
from orthoselect.read.text_format import (
    DECIMAL_COMMA,
    DECIMAL_POINT,
    fields_of,
    find_first_row,
)

MISSING = (
    *("", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "null", "NULL"),
    *("#N/A", "#NA", "<NA>", "?"),
)
_LOOKS_FOR_A_ROW = (1 << 16, 1 << 24)  # bytes in which the end of a row is looked for
_AT_ONCE = 1 << 20  # bytes in which quotes are looked for
_FEW_ROWS = 64  # with fewer rows, finding the types of columns takes most of the time
_WORD = re.compile(r"[A-Za-z]")
_NO_WORDS = {*(value.lower() for value in MISSING), "true", "false", "inf", "infinity"}
_COMMA_NUMBERS = r"^[-+]?\d*(,\d+)?([eE][-+]?\d+)?$"


def parse_rows(
    rows: Any, text: TextFormat, places: Sequence[str], *, types: Any = None, columns: Any = None
) -> Any:
    """Parse rows in blocks that suit them; columns are called by their places."""
    pa = load_pyarrow()
    row = _first_row_of(rows, text.delimiter)
    block = min(max(1 << 20, 256 * len(row)), 1 << 27)  # many rows: each column of each costs time
    if types is None and rows.size <= _FEW_ROWS * len(row):
        settled = _settled_types(row, text, places)
        if settled:  # faster, though a later row may prove them wrong
            with suppress(pa.ArrowInvalid):
                return parse_blocks(rows, text, block, names=places, types=settled)
    try:
        return parse_blocks(rows, text, block, names=places, types=types, columns=columns)
    except pa.ArrowInvalid as error:
        if block >= rows.size or "block" not in str(error):
            raise
    # A row longer than a block: one block for all.
    return parse_blocks(rows, text, names=places, types=types, columns=columns)


def _first_row_of(rows: Any, delimiter: str) -> bytes:
    head = b""
    for size in _LOOKS_FOR_A_ROW:
        head = rows.slice(0, min(size, rows.size)).to_pybytes()
        found = find_first_row(head, delimiter)
        if found:
            return head[slice(*found)]
    return head


def _settled_types(row: bytes, text: TextFormat, places: Sequence[str]) -> dict[str, Any]:
    """Return the types of columns that the first row settles, of a table with few rows.

    pyarrow tries one type after the other on each column. With few rows that takes most of the
    time; with many it does not matter. A fraction or a word at the top leave one type to try.
    """
    pa = load_pyarrow()
    try:
        values = fields_of(row.decode(errors="replace").strip("\r\n"), text.delimiter)
    except csv.Error:
        return {}
    fraction = DECIMAL_COMMA if text.decimal == "," else DECIMAL_POINT
    types = {}
    for place, value in zip(places, values):
        if fraction.fullmatch(value):
            types[place] = pa.float64()
        elif _WORD.match(value) and value.strip().lower() not in _NO_WORDS:
            types[place] = pa.string()
    return types


def parse_blocks(
    buffer: Any,
    text: TextFormat,
    block_size: int | None = None,
    *,
    names: Sequence[str] | None = None,
    types: Mapping[str, Any] | None = None,
    columns: Sequence[str] | None = None,
    **parsing: Any,
) -> Any:
    """Parse UTF-8, in blocks or all at once; columns without a given type get one that suits.

    The first line holds the names, unless these are given.
    """
    pa, pa_csv = load_pyarrow(), load_pyarrow("pyarrow.csv")
    block_size = block_size or min(buffer.size + 1, 2**31 - 1)
    return pa_csv.read_csv(
        pa.BufferReader(buffer),
        pa_csv.ReadOptions(block_size=block_size, column_names=names),
        pa_csv.ParseOptions(
            delimiter=text.delimiter, newlines_in_values=_has_quotes(buffer), **parsing
        ),
        pa_csv.ConvertOptions(
            null_values=list(MISSING),
            strings_can_be_null=True,
            decimal_point=text.decimal,
            column_types=types,
            include_columns=columns,
        ),
    )


def _has_quotes(buffer: Any) -> bool:
    """Whether newlines may be in values, so that pyarrow has to look for the ends of rows."""
    starts = range(0, buffer.size, _AT_ONCE)
    return any(
        b'"' in buffer.slice(at, min(_AT_ONCE, buffer.size - at)).to_pybytes() for at in starts
    )


def without_blanks(column: Any, text: TextFormat, kind: Any = None) -> Any:
    """Return a column as it would have been read without blanks around its values.

    It is written and read again, so that pyarrow finds its type, unless `kind` gives it.
    """
    pa, pc = load_pyarrow(), load_pyarrow("pyarrow.compute")
    if not pa.types.is_string(column.type):
        return column
    if kind is None and len(column) <= _FEW_ROWS:  # faster one by one
        given = [value for value in column.to_pylist() if value is not None]
        if all(value == value.strip(" \t") for value in given):
            return column
    trimmed = pc.utf8_trim(column, " \t")
    if kind is None and pc.all(pc.equal(trimmed, column)).as_py() is not False:
        return column
    written, pa_csv = pa.BufferOutputStream(), load_pyarrow("pyarrow.csv")
    options = pa_csv.WriteOptions(delimiter=text.delimiter)
    pa_csv.write_csv(pa.table([trimmed], names=["x"]), written, options)
    types = None if kind is None else {"x": kind}
    # An empty line is a missing value here: there are no other columns.
    again = parse_blocks(written.getvalue(), text, types=types, ignore_empty_lines=False)
    return again.column(0)


def has_comma_numbers(column: Any) -> bool:
    """Whether a column of text holds nothing but numbers with a decimal comma."""
    pa, pc = load_pyarrow(), load_pyarrow("pyarrow.compute")
    if not pa.types.is_string(column.type):
        return False
    return pc.all(pc.match_substring_regex(column, _COMMA_NUMBERS)).as_py() is True


class Learned:
    """What the pieces of a text file hold, joined.

    Of each column: the types of its pieces, whether all its whole numbers are 0 or 1, and whether
    all its text is numbers with a decimal comma.
    """

    def __init__(self, text: TextFormat, n: int) -> None:
        self.text = text
        self.n_rows = 0
        self.with_blanks: set[int] = set()
        self._kinds: list[set[Any]] = [set() for _ in range(n)]
        self._are_bits = [True] * n
        self._are_comma_numbers = [True] * n

    def look(self, table: Any) -> list[Any]:
        """Look at one more piece, as pyarrow has read it; return its columns without blanks."""
        pa, pc = load_pyarrow(), load_pyarrow("pyarrow.compute")
        columns = []
        for at, column in enumerate(table.columns):
            if pa.types.is_floating(column.type):  # as most are, and nothing is to be looked at
                self._are_comma_numbers[at] = False
                self._kinds[at].add(column.type)
                columns.append(column)
                continue
            trimmed = without_blanks(column, self.text)
            if trimmed is not column:
                self.with_blanks.add(at)
            if pa.types.is_integer(trimmed.type):
                extremes = pc.min_max(trimmed).as_py()
                if extremes["min"] is not None:  # else all are missing, and the type was given
                    self._are_bits[at] &= extremes["min"] >= 0 and extremes["max"] <= 1
            elif not pa.types.is_null(trimmed.type):
                self._are_comma_numbers[at] &= has_comma_numbers(trimmed)
            self._kinds[at].add(trimmed.type)
            columns.append(trimmed)
        self.n_rows += table.num_rows
        return columns

    @property
    def has_comma_numbers(self) -> bool:
        """Whether a text column holds nothing but numbers with a decimal comma."""
        pa = load_pyarrow()
        text = [any(map(pa.types.is_string, kinds)) for kinds in self._kinds]
        return any(a and b for a, b in zip(text, self._are_comma_numbers))

    def types(self) -> list[Any]:
        """Return the types that pyarrow would have found in the whole file."""
        return [_joined(k, bits) for k, bits in zip(self._kinds, self._are_bits)]

    def likely_types(self, places: Sequence[str]) -> dict[str, Any]:
        """Return types to try on the next piece, by place.

        A type that fits the piece is what joining would have given. One that does not is an error
        of pyarrow. It finds no types by itself then, which takes time, and holds on to the text.
        """
        pa = load_pyarrow()
        return {
            place: kind
            for at, (place, kind) in enumerate(zip(places, self.types()))
            if at not in self.with_blanks and not pa.types.is_null(kind)
        }


def _joined(kinds: set[Any], are_bits: bool) -> Any:
    """Return the first type, in pyarrow's order of trying, that all pieces can be read as."""
    pa = load_pyarrow()
    kinds = {kind for kind in kinds if not pa.types.is_null(kind)}
    if len(kinds) < 2:
        return next(iter(kinds), pa.null())
    if kinds == {pa.int64(), pa.bool_()}:
        return pa.bool_() if are_bits else pa.string()
    if kinds == {pa.int64(), pa.float64()}:
        return pa.float64()
    if all(pa.types.is_date(kind) or pa.types.is_timestamp(kind) for kind in kinds):
        stamps = sorted(str(kind) for kind in kinds if pa.types.is_timestamp(kind))
        return next(kind for kind in kinds if str(kind) == stamps[0])  # "[ns]" before "[s]"
    return pa.string()
