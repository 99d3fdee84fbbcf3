"""How a CSV or TSV text is written: what a person would see at a glance of its first lines."""

from __future__ import annotations

import codecs
import csv
import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from orthoselect.errors import InputError
from orthoselect.read.dataset import TextFormat

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
DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,\d+(?:[eE][-+]?\d+)?\s*")
DECIMAL_POINT = re.compile(r"\s*[-+]?\d*\.\d+(?:[eE][-+]?\d+)?\s*")


@dataclass(frozen=True)
class TextOptions:
    """What the user says of text files; see `read_source`."""

    delimiter: str | None = None
    encoding: str | None = None
    header: bool | None = None


def find_text_format(
    head: bytes, name: str, format: str, options: TextOptions, *, is_whole: bool
) -> TextFormat:
    """Find out how a text is written.

    Parameters
    ----------
    head : bytes
        Its beginning.
    name : str
        What to call it in an error.
    format : {"csv", "tsv", "text"}
        "text" is whichever of the two is found.
    is_whole : bool
        Whether the head is all there is, so that its last line is not cut short.
    """
    encoding = _find_encoding(head, options.encoding)
    lines = _first_lines(_decoded(head, encoding, name), is_whole)
    if not lines:
        raise InputError(f"`{name}` should hold a table; it is empty.")
    delimiter = options.delimiter
    if delimiter is None:
        delimiter = "\t" if format == "tsv" else _find_delimiter(lines)
    delimiter = _checked_delimiter(delimiter)
    decimal = _find_decimal(lines, delimiter)
    return TextFormat(delimiter, encoding, options.header is not False, decimal)


def _find_encoding(head: bytes, encoding: str | None) -> str:
    """Return the encoding that was given, or that of the byte order mark, or what it looks like."""
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    if encoding is None:
        return marked or _unmarked_encoding(head)
    try:
        found = codecs.lookup(encoding)
        "".encode(found.name)
    except (LookupError, ValueError):
        raise InputError(
            f"`encoding` should be one that Python knows, such as 'utf-8', 'latin-1', 'cp1252' or "
            f"'utf-16'; got {encoding!r}."
        ) from None
    return marked if marked == "utf-8-sig" and found.name == "utf-8" else found.name


def _unmarked_encoding(head: bytes) -> str:
    """Return UTF-8, or UTF-16 if every other byte is mostly NUL: text is mostly ASCII in tables."""
    codes = np.frombuffer(head, dtype=np.uint8)
    if len(codes) < 2:
        return "utf-8"
    first, second = (float(np.mean(codes[start::2] == 0)) for start in (0, 1))
    if second > _MOSTLY and first < 1 - _MOSTLY:
        return "utf-16-le"
    return "utf-16-be" if first > _MOSTLY and second < 1 - _MOSTLY else "utf-8"


def _decoded(head: bytes, encoding: str, name: str) -> str:
    """Return the text of a head, which may end within a character."""
    # UTF-8 is checked when its values are converted.
    errors = "replace" if encoding in UTF_8 else "strict"
    try:
        return codecs.getincrementaldecoder(encoding)(errors).decode(head)
    except UnicodeError as error:
        raise undecodable(name, encoding, str(error)) from None


def undecodable(name: str, encoding: str, why: str) -> InputError:
    """Return the error for bytes that are no text in an encoding."""
    return InputError(
        f"`{name}` should be text in {encoding}, which was tried; it is not ({why}). "
        f"Give its encoding to `read_table`, for example `encoding='latin-1'`."
    )


def _first_lines(head: str, is_whole: bool) -> list[str]:
    """Return the first lines, as much as is between quotes removed; a line cut short is not one."""
    lines = re.split(r"\r\n|\r|\n", _QUOTED.sub("", head))
    if not is_whole and len(lines) > 1:
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
    has_commas = any(map(DECIMAL_COMMA.fullmatch, fields))
    return "," if has_commas and not any(map(DECIMAL_POINT.fullmatch, fields)) else "."


def find_first_row(text: bytes, delimiter: str) -> tuple[int, int] | None:
    r"""Return where the first row begins and ends; None if the text ends before it does.

    Examples
    --------
    >>> find_first_row(b'\n"a\nb",5" disk\n1,2', ","), find_first_row(b'a,"b\n', ",")
    ((1, 14), None)
    """
    begin = len(text) - len(text.lstrip(b"\r\n"))
    found = _row_pattern(delimiter).match(text, begin)
    end = found.end() if found else begin
    return (begin, end) if text[end : end + 1] in (b"\r", b"\n") else None


@lru_cache
def _row_pattern(delimiter: str) -> re.Pattern[bytes]:
    """Return the pattern of a row; only a quote at the beginning of a field opens one."""
    mark = re.escape(delimiter)
    field = rf'(?:"[^"]*(?:""[^"]*)*"[^{mark}\r\n]*|[^"{mark}\r\n][^{mark}\r\n]*|)'
    return re.compile(f"{field}(?:{mark}{field})*".encode())


def fields_of(row: str, delimiter: str) -> list[str]:
    """Return the fields of one row."""
    return next(csv.reader([row], delimiter=delimiter)) if '"' in row else row.split(delimiter)


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
