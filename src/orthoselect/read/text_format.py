"""How a CSV or TSV text is written: what a person would see at a glance of its first lines."""

from __future__ import annotations

import codecs
import csv
import re
from typing import Any

import numpy as np

from orthoselect.errors import InputError
from orthoselect.read.dataset import TextFormat, TextOptions

UTF_8 = ("utf-8", "utf-8-sig")
_MOSTLY = 0.75  # share of bytes that are NUL in every other place of UTF-16
_NUMBER = 8  # bytes of a number in memory
_USUAL_EXPANSION = 2  # bytes in memory for a byte of text
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
_QUOTE, _NEWLINES = ord('"'), (10, 13)
DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,\d+(?:[eE][-+]?\d+)?\s*")
DECIMAL_POINT = re.compile(r"\s*[-+]?\d*\.\d+(?:[eE][-+]?\d+)?\s*")


def find_text_format(
    head: bytes, name: str, format: str, options: TextOptions, *, is_whole: bool
) -> TextFormat:
    """Find out how a text is written, by its head; "text" is whichever of the formats is found.

    Unless the head is all there is, its last line may be cut short.
    """
    encoding = _find_encoding(head, options.encoding)
    # UTF-8 is checked when its values are converted.
    errors = "replace" if encoding in UTF_8 else "strict"
    try:
        text = codecs.getincrementaldecoder(encoding)(errors).decode(head)
    except UnicodeError as error:
        raise undecodable(name, encoding, str(error)) from None
    lines = re.split(r"\r\n|\r|\n", _QUOTED.sub("", text))
    if not is_whole and len(lines) > 1:
        lines.pop()
    lines = [line for line in lines if line.strip()]
    if not lines:
        raise InputError(f"`{name}` should hold a table; it is empty.")
    delimiter = options.delimiter
    if delimiter is None:
        delimiter = "\t" if format == "tsv" else _find_delimiter(lines)
    delimiter = _SPELT.get(delimiter, delimiter)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise InputError(
            f"`delimiter` should be a single character such as ',', ';', '|' or 'tab'; "
            f"got {delimiter!r}."
        )
    decimal = _find_decimal(lines) if delimiter == ";" else "."
    return TextFormat(delimiter, encoding, options.header is not False, decimal)


def _find_encoding(head: bytes, encoding: str | None) -> str:
    """Return the encoding that was given, or that of the byte order mark, or what it looks like."""
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    if encoding is not None:
        try:
            found = codecs.lookup(encoding).name
            "".encode(found)
        except (LookupError, ValueError):
            raise InputError(
                f"`encoding` should be one that Python knows, such as 'utf-8', 'latin-1', 'cp1252' "
                f"or 'utf-16'; got {encoding!r}."
            ) from None
        return "utf-8-sig" if marked == "utf-8-sig" and found == "utf-8" else found
    if marked or len(head) < 2:
        return marked or "utf-8"
    # Text is mostly ASCII in tables: of UTF-16 every other byte is mostly NUL.
    codes = np.frombuffer(head, dtype=np.uint8)
    first, second = (float(np.mean(codes[start::2] == 0)) for start in (0, 1))
    if second > _MOSTLY and first < 1 - _MOSTLY:
        return "utf-16-le"
    return "utf-16-be" if first > _MOSTLY and second < 1 - _MOSTLY else "utf-8"


def undecodable(name: str, encoding: str, why: str) -> InputError:
    """Return the error for bytes that are no text in an encoding."""
    return InputError(
        f"`{name}` should be text in {encoding}, which was tried; it is not ({why}). "
        f"Give its encoding to `read_table`, for example `encoding='latin-1'`."
    )


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


def _find_decimal(lines: list[str]) -> str:
    """Return the decimal mark of a text between semicolons."""
    fields = [field for line in lines for field in line.split(";")]
    has_commas = any(map(DECIMAL_COMMA.fullmatch, fields))
    return "," if has_commas and not any(map(DECIMAL_POINT.fullmatch, fields)) else "."


def expansion(look: bytes) -> float:
    r"""Return about how many bytes of memory a byte of text takes as a table, by its beginning.

    Examples
    --------
    >>> expansion(b"1,0,1,0\n" * 9), expansion(b"0.123456789,0.987654321\n" * 9)
    (4.0, 2)
    """
    fields = max(look.count(delimiter.encode()) for delimiter in _DELIMITERS)
    return max(_USUAL_EXPANSION, _NUMBER * (fields + look.count(b"\n")) / max(1, len(look)))


# Where rows end


def find_first_row(text: bytes, delimiter: str) -> tuple[int, int] | None:
    r"""Return where the first row begins and ends; None if the text ends before it does.

    Examples
    --------
    >>> find_first_row(b'\n"a\nb",5" disk\n1,2', ","), find_first_row(b'a,"b\n', ",")
    ((1, 14), None)
    """
    begin = len(text) - len(text.lstrip(b"\r\n"))
    mark = re.escape(delimiter)
    # Only a quote at the beginning of a field opens one.
    field = rf'(?:"[^"]*(?:""[^"]*)*"[^{mark}\r\n]*|[^"{mark}\r\n][^{mark}\r\n]*|)'
    found = re.compile(f"{field}(?:{mark}{field})*".encode()).match(text, begin)
    end = found.end() if found else begin
    return (begin, end) if text[end : end + 1] in (b"\r", b"\n") else None


def fields_of(row: str, delimiter: str) -> list[str]:
    """Return the fields of one row."""
    return next(csv.reader([row], delimiter=delimiter)) if '"' in row else row.split(delimiter)


def count_quotes(text: bytes | bytearray) -> int:
    """Count quotes, faster than `bytes.count` where there are many."""
    return int(np.count_nonzero(np.frombuffer(text, dtype=np.uint8) == _QUOTE))


def last_row_end(data: bytes | bytearray, delimiter: str, name: str) -> int:
    """Return where the last whole row ends; a newline between quotes ends none."""
    if b'"' not in data:
        return max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
    codes = np.frombuffer(data, dtype=np.uint8)
    quotes = codes == _QUOTE
    inside = np.bitwise_xor.accumulate(quotes)
    ends = np.flatnonzero(np.isin(codes, _NEWLINES))
    outside = ends[~inside[ends]]
    if len(outside) < len(ends):
        _check_quotes_are_around_values(codes, np.flatnonzero(quotes), delimiter, name)
    return int(outside[-1]) + 1 if len(outside) else 0


def _check_quotes_are_around_values(codes: Any, quotes: Any, delimiter: str, name: str) -> None:
    """Raise for quotes within values: then newlines in values look like ends of rows."""
    borders = (ord(delimiter), _QUOTE, *_NEWLINES)
    opening, closing = quotes[0::2], quotes[1::2]
    before = codes[opening[opening > 0] - 1]
    after = codes[closing[closing < len(codes) - 1] + 1]
    if not (np.isin(before, borders).all() and np.isin(after, borders).all()):
        raise InputError(
            f"`{name}` should have quotes around whole values only, to be read in blocks; one "
            f"stands within a value. Double it and put the value in quotes, or write Parquet."
        )
