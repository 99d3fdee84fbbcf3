"""CSV and TSV, by pyarrow, with what a person would see at a glance found out first."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from orthoselect.errors import InputError
from orthoselect.matrix.memory import room_in_limits, say_bytes
from orthoselect.read.arrow import load_pyarrow
from orthoselect.read.content import Content
from orthoselect.read.dataset import Dataset, TextFormat

MISSING = (
    *("", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "null", "NULL"),
    *("#N/A", "#NA", "<NA>", "?"),
)
_NUMBER = 8  # bytes of a number in memory
_USUAL_EXPANSION = 2  # bytes in memory for a byte of text
_WHILE_READ = 2  # a table and what it is made from, at a time
_PART = 1 << 20  # bytes that are looked through at a time
_MOSTLY = 0.75  # share of bytes that are NUL in every other place of UTF-16
_LOOK = 1 << 18  # bytes that delimiter and decimal point are found from
# A stray semicolon in every line is rarer than a stray comma: decimal commas are such.
_DELIMITERS = ("\t", ";", "|", ",")
_SPELT = {"tab": "\t", "\\t": "\t"}
_MARKS = (  # the longer mark begins with the shorter one
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_QUOTED = re.compile(r'"[^"]*"')
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,\d+(?:[eE][-+]?\d+)?\s*")
_DECIMAL_POINT = re.compile(r"\s*[-+]?\d*\.\d+(?:[eE][-+]?\d+)?\s*")
_WORD = re.compile(r"[A-Za-z]")
_NO_WORDS = {*(value.lower() for value in MISSING), "true", "false", "inf", "infinity"}
_FEW_ROWS = 64  # so many or more make up for the time it takes to find the types of columns
COMMA_NUMBERS = r"^[-+]?\d*(,\d+)?([eE][-+]?\d+)?$"


def read_text(
    content: Content,
    format: str,
    delimiter: str | None,
    encoding: str | None,
    header: bool | None,
) -> Dataset:
    """Read CSV or TSV; `read_source` says what it takes.

    Parameters
    ----------
    format : {"csv", "tsv", "text"}
        "text" is whichever of the two is found.
    """
    load_pyarrow()
    check_is_text(content)
    buffer = content.buffer()
    encoding = find_encoding(buffer, encoding)
    buffer = _as_utf8(buffer, encoding, content.name)
    _check_no_nulls(buffer, content.name)
    _check_room(buffer, content.name)
    text = find_text_format(buffer, content.name, format, delimiter, encoding, header)
    _check_quotes(buffer, text.delimiter, content.name)
    reader = _Reader(content.name, buffer)
    table = reader.read(text)
    if text.delimiter == ";" and text.decimal == "." and _has_comma_numbers(table):
        text = replace(text, decimal=",")
        table = reader.read(text)
    if not table.num_rows:
        raise InputError(f"`{content.name}` should hold rows; it has a header and nothing else.")
    if format == "text":
        format = "tsv" if text.delimiter == "\t" else "csv"
    return Dataset(table, table.column_names, format=format, text=text)


def find_text_format(
    buffer: Any,
    name: str,
    format: str,
    delimiter: str | None,
    encoding: str,
    header: bool | None,
) -> TextFormat:
    """Find out how a text is written, from its first lines in UTF-8."""
    look = _first_lines(buffer)
    if not look:
        raise InputError(f"`{name}` should hold a table; it is empty.")
    if delimiter is None:
        delimiter = "\t" if format == "tsv" else _find_delimiter(look)
    delimiter = _checked_delimiter(delimiter)
    decimal = _find_decimal(look, delimiter)
    return TextFormat(delimiter, encoding, header is None or header, decimal)


def check_is_text(content: Content) -> None:
    """Raise for what begins like a file of another kind."""
    kind = content.kind()
    if kind:
        what = "a zip archive, as .npz and .xlsx are" if kind == "npz" else f"a {kind} file"
        raise InputError(
            f"`{content.name}` should be text; it begins like {what}. Name it by what it is."
        )


def find_encoding(buffer: Any, encoding: str | None) -> str:
    """Return the encoding that was given, or that of the byte order mark, or what it looks like."""
    head = buffer.slice(0, min(4, buffer.size)).to_pybytes()
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    if encoding is None:
        return marked or _unmarked_encoding(buffer)
    try:
        found = codecs.lookup(encoding)
        "".encode(found.name)
    except (LookupError, ValueError):
        raise InputError(
            f"`encoding` should be one that Python knows, such as 'utf-8', 'latin-1', 'cp1252' or "
            f"'utf-16'; got {encoding!r}."
        ) from None
    return marked if marked == "utf-8-sig" and found.name == "utf-8" else found.name


def _unmarked_encoding(buffer: Any) -> str:
    """Return UTF-8, or UTF-16 if every other byte is mostly NUL: text is mostly ASCII in tables."""
    codes = np.frombuffer(buffer.slice(0, min(_LOOK, buffer.size)), dtype=np.uint8)
    if len(codes) < 2:
        return "utf-8"
    first, second = (float(np.mean(codes[start::2] == 0)) for start in (0, 1))
    if second > _MOSTLY and first < 1 - _MOSTLY:
        return "utf-16-le"
    return "utf-16-be" if first > _MOSTLY and second < 1 - _MOSTLY else "utf-8"


def _check_no_nulls(buffer: Any, name: str) -> None:
    """Raise for what is no text: a NUL would be part of a value that nobody can see."""
    codes = np.frombuffer(buffer, dtype=np.uint8)
    for start in range(0, len(codes), _PART):
        part = codes[start : start + _PART]
        if not part.all():
            at = start + int(np.argmin(part))
            line = 1 + buffer.slice(0, at).to_pybytes().count(b"\n")
            raise InputError(
                f"`{name}` should be text; it holds NUL bytes, the first in line {line}. Name it "
                f"by what it is, or give its encoding, for example `--encoding utf-16-le`."
            )


def _check_room(buffer: Any, name: str) -> None:
    """Raise before Arrow comes upon the limits of the process, which would abort it."""
    room = room_in_limits()
    if room is None:
        return
    look = buffer.slice(0, min(_LOOK, buffer.size)).to_pybytes()
    needed = int(_WHILE_READ * expansion(look) * buffer.size)
    if needed > room:
        raise MemoryError(
            f"`{name}` needs about {say_bytes(needed)} of memory to be read whole; the limits of "
            f"this process leave {say_bytes(room)}."
        )


def expansion(look: bytes) -> float:
    r"""Return about how many bytes of memory a byte of text takes as a table.

    Parameters
    ----------
    look : bytes
        The beginning of the text.

    Examples
    --------
    >>> expansion(b"1,0,1,0\n" * 9), expansion(b"0.123456789,0.987654321\n" * 9)
    (4.0, 2)
    """
    fields = max(look.count(delimiter.encode()) for delimiter in _DELIMITERS)
    return max(_USUAL_EXPANSION, _NUMBER * (fields + look.count(b"\n")) / max(1, len(look)))


def _as_utf8(buffer: Any, encoding: str, name: str) -> Any:
    """Return the text in UTF-8 without a mark; UTF-8 itself is checked as it is converted."""
    pa = load_pyarrow()
    if encoding == "utf-8-sig" and buffer.slice(0, 3).to_pybytes() == codecs.BOM_UTF8:
        return buffer.slice(3)
    if encoding == "utf-8":
        return buffer
    try:
        return pa.py_buffer(buffer.to_pybytes().decode(encoding).encode())
    except UnicodeError as error:
        raise undecodable(name, encoding, str(error)) from None


def undecodable(name: str, encoding: str, why: str) -> InputError:
    """Return the error for bytes that are no text in an encoding."""
    return InputError(
        f"`{name}` should be text in {encoding}, which was tried; it is not ({why}). "
        f"Give its encoding, for example `--encoding latin-1`."
    )


def _first_lines(buffer: Any) -> list[str]:
    """Return the first lines, as much as is between quotes removed; a line cut short is not one."""
    head = buffer.slice(0, min(_LOOK, buffer.size)).to_pybytes().decode("utf-8", errors="replace")
    lines = re.split(r"\r\n|\r|\n", _QUOTED.sub("", head))
    if buffer.size > _LOOK and len(lines) > 1:
        lines.pop()
    return [line for line in lines if line.strip()]


def _find_delimiter(lines: list[str]) -> str:
    """Return what every line has the same number of, else what the first has most of.

    Examples
    --------
    >>> _find_delimiter(["name;size", "Ada;1,5", "Bob, the elder;2,25"])
    ';'
    """
    for delimiter in _DELIMITERS:
        counts = {line.count(delimiter) for line in lines}
        if len(counts) == 1 and counts != {0}:
            return delimiter
    return max(reversed(_DELIMITERS), key=lines[0].count)


def _checked_delimiter(delimiter: str) -> str:
    delimiter = _SPELT.get(delimiter, delimiter)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise InputError(
            f"`delimiter` should be a single character such as ',', ';', '|' or 'tab'; "
            f"got {delimiter!r}."
        )
    return delimiter


def _find_decimal(lines: list[str], delimiter: str) -> str:
    if delimiter != ";":
        return "."
    fields = [field for line in lines for field in line.split(delimiter)]
    has_commas = any(map(_DECIMAL_COMMA.fullmatch, fields))
    return "," if has_commas and not any(map(_DECIMAL_POINT.fullmatch, fields)) else "."


def _has_comma_numbers(table: Any) -> bool:
    """Whether a text column holds nothing but numbers with a decimal comma."""
    pa, pc = load_pyarrow(), load_pyarrow("pyarrow.compute")
    return any(
        pc.all(pc.match_substring_regex(column, COMMA_NUMBERS)).as_py() is True
        for column in table.columns
        if pa.types.is_string(column.type)
    )


def _check_quotes(buffer: Any, delimiter: str, name: str) -> None:
    """Raise for a quote that is never closed: the rest of the file would be one value."""
    codes = np.frombuffer(buffer, dtype=np.uint8)
    parts = range(0, len(codes), _PART)
    quotes = sum(np.count_nonzero(codes[at : at + _PART] == ord('"')) for at in parts)
    if quotes % 2 == 0:
        return
    last = 0
    try:  # an odd one may still stand for inches
        for line, _ in _rows(buffer, delimiter, strict=True):
            last = line
    except csv.Error as error:
        if "unexpected end" in str(error):
            raise InputError(
                f"`{name}` should close every quote; the one in or after line {last + 1} is never "
                f"closed. Close it, or double it if it belongs to the value."
            ) from None


def _settled_types(buffer: Any, text: TextFormat) -> dict[str, Any]:
    """Return the types of columns that the first row settles, of a table with few rows.

    pyarrow tries one type after the other on each column. With few rows that takes most of the
    time; with many it does not matter. A fraction or a word at the top leave one type to try.
    """
    pa = load_pyarrow()
    if buffer.size > _FEW_ROWS * _first_line(buffer):
        return {}
    lines = io.TextIOWrapper(pa.BufferReader(buffer), "utf-8", errors="replace", newline="")
    try:
        rows = filter(None, csv.reader(lines, delimiter=text.delimiter))
        names = next(rows) if text.header else None
        first = next(rows)
    except (csv.Error, StopIteration):
        return {}
    names = [f"f{at}" for at in range(len(first))] if names is None else names
    fraction = _DECIMAL_COMMA if text.decimal == "," else _DECIMAL_POINT
    types, counts = {}, Counter(names)
    for name, value in zip(names, first):
        if fraction.fullmatch(value):
            types[name] = pa.float64()
        elif _WORD.match(value) and value.strip().lower() not in _NO_WORDS:
            types[name] = pa.string()
    return {name: kind for name, kind in types.items() if counts[name] == 1}


def _rows(buffer: Any, delimiter: str, *, strict: bool = False) -> Iterator[tuple[int, int]]:
    """Yield the line where each row ends and its number of fields, slowly: to word an error."""
    pa = load_pyarrow()
    lines = io.TextIOWrapper(pa.BufferReader(buffer), "utf-8", errors="replace", newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=strict)
    for fields in reader:
        if fields:
            yield reader.line_num, len(fields)


class _Reader:
    """Reads a buffer of UTF-8, under a name to call it by."""

    def __init__(self, name: str, buffer: Any) -> None:
        self._name = name
        self._buffer = buffer

    def read(self, text: TextFormat) -> Any:
        """Return the table, with its names and blanks in order."""
        pa = load_pyarrow()
        try:
            table = self._parse(text)
            names = table.column_names if text.header else [""] * table.num_columns
        except pa.ArrowInvalid as error:
            raise self._explained(error, text.delimiter) from None
        except UnicodeDecodeError as error:
            raise undecodable(self._name, text.encoding, str(error)) from None
        names = tidy_names(names)
        for at, column in enumerate(table.columns):
            if pa.types.is_binary(column.type):
                why = f"there are other bytes in column `{names[at]}`"
                raise undecodable(self._name, text.encoding, why)
        columns = [
            without_blanks(column, text) if pa.types.is_string(column.type) else column
            for column in table.columns
        ]
        return pa.table(columns, names=names)

    def _parse(self, text: TextFormat) -> Any:
        """Parse the buffer, the sooner for knowing some types; a later row may prove them wrong."""
        pa = load_pyarrow()
        types = _settled_types(self._buffer, text)
        if types:
            with suppress(pa.ArrowInvalid):
                return parse(self._buffer, text, types=types)
        return parse(self._buffer, text)

    def _explained(self, error: Exception, delimiter: str) -> InputError:
        """Return an error that tells the line, where a row has too many or too few fields."""
        try:
            rows = _rows(self._buffer, delimiter)
            _, expected = next(rows)
            odd = next(((line, found) for line, found in rows if found != expected), None)
        except (csv.Error, StopIteration):
            odd = None
        if odd is None:
            first_line = str(error).strip().splitlines()[0]
            return InputError(f"`{self._name}` could not be read as text: {first_line}")
        return InputError(
            f"`{self._name}` should have {expected} fields in every line, as in the first; line "
            f"{odd[0]} has {odd[1]}. The delimiter is taken to be {delimiter!r}; give another with "
            f"`--delimiter`, or mend the line."
        )


def parse(buffer: Any, text: TextFormat, **options: Any) -> Any:
    """Parse UTF-8 in blocks that suit it; options are those of `parse_blocks`."""
    pa = load_pyarrow()
    block = _block_size(buffer)
    try:
        return parse_blocks(buffer, text, block, **options)
    except pa.ArrowInvalid as error:
        if block >= buffer.size or "block" not in str(error):
            raise
        # A row longer than a block: one block for all.
        return parse_blocks(buffer, text, min(buffer.size + 1, 2**31 - 1), **options)


def _block_size(buffer: Any) -> int:
    """Return bytes to convert at a time: many rows, for each column of each block costs time."""
    return min(max(1 << 20, 256 * _first_line(buffer)), 1 << 27)


def _first_line(buffer: Any) -> int:
    """Return the bytes of the first line."""
    head = buffer.slice(0, min(1 << 24, buffer.size)).to_pybytes()
    return head.find(b"\n") + 1 or len(head)


def parse_blocks(
    buffer: Any,
    text: TextFormat,
    block_size: int,
    *,
    names: Sequence[str] | None = None,
    types: Mapping[str, Any] | None = None,
    columns: Sequence[str] | None = None,
    **parsing: Any,
) -> Any:
    """Parse UTF-8 by pyarrow, so many bytes at a time.

    Parameters
    ----------
    names : sequence of str, optional
        Names of all columns, where no line holds them.
    types : mapping of str to pyarrow types, optional
        Types that need not be found out.
    columns : sequence of str, optional
        The columns to convert.
    """
    pa, pa_csv = load_pyarrow(), load_pyarrow("pyarrow.csv")
    return pa_csv.read_csv(
        pa.BufferReader(buffer),
        read_options=pa_csv.ReadOptions(
            block_size=block_size,
            column_names=names,
            autogenerate_column_names=names is None and not text.header,
        ),
        parse_options=pa_csv.ParseOptions(
            delimiter=text.delimiter, newlines_in_values=True, **parsing
        ),
        convert_options=pa_csv.ConvertOptions(
            null_values=list(MISSING),
            strings_can_be_null=True,
            decimal_point=text.decimal,
            column_types=types,
            include_columns=columns,
        ),
    )


def tidy_names(names: list[str]) -> list[str]:
    """Return names without blanks around them; a column without a name is x and its place.

    Examples
    --------
    >>> tidy_names(["", " a", "b "])
    ['x0', 'a', 'b']
    """
    return [name.strip() or f"x{at}" for at, name in enumerate(names)]


def without_blanks(column: Any, text: TextFormat, kind: Any = None) -> Any:
    """Return a column as it would have been read without blanks around its values.

    Parameters
    ----------
    kind : pyarrow type, optional
        What the values are known to be; found out if it is not given.
    """
    pa, pc = load_pyarrow(), load_pyarrow("pyarrow.compute")
    if not pa.types.is_string(column.type):
        return column
    if kind is None and len(column) <= _FEW_ROWS:  # sooner looked at one by one
        given = [value for value in column.to_pylist() if value is not None]
        if all(value == value.strip(" \t") for value in given):
            return column
    trimmed = pc.utf8_trim(column, " \t")
    if kind is None and pc.all(pc.equal(trimmed, column)).as_py() is not False:
        return column
    written, pa_csv = pa.BufferOutputStream(), load_pyarrow("pyarrow.csv")
    options = pa_csv.WriteOptions(delimiter=text.delimiter)
    pa_csv.write_csv(pa.table([trimmed], names=["x"]), written, options)
    buffer = written.getvalue()
    plain = replace(text, header=True)
    # An empty line is a missing value here: there are no other columns.
    types = None if kind is None else {"x": kind}
    whole = min(buffer.size + 1, 2**31 - 1)
    again = parse_blocks(buffer, plain, whole, types=types, ignore_empty_lines=False)
    return again.column(0)
