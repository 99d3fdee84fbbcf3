"""CSV and TSV files in blocks of rows: cut between rows, each piece parsed as a file would be.

What a column holds is known only once all of it was seen. So a first pass parses every piece for
itself and joins what it finds; from then on pieces are parsed with the types that are known. That
gives what `read_text` finds in the whole file.
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from orthoselect.errors import InputError, ShapeError
from orthoselect.lazy import lazy
from orthoselect.matrix.memory import room_in_limits
from orthoselect.read.arrow import load_pyarrow, row_bytes
from orthoselect.read.content import Content, Part, open_packed, split_suffix
from orthoselect.read.dataset import TextFormat
from orthoselect.read.text import (
    COMMA_NUMBERS,
    check_is_text,
    find_encoding,
    find_text_format,
    parse,
    tidy_names,
    undecodable,
    without_blanks,
)

_WINDOW = 1 << 22  # bytes that are read from the file at a time
_HEAD = 1 << 18
_PIECE = 1 << 24  # bytes of a piece in the first pass
_PLENTY = 1 << 30  # bytes beside which these are few: numbers take more of them than digits
_LONGEST = 1 << 27  # bytes of a row that are waited for until its end comes
_QUOTE, _NEWLINES = ord('"'), (10, 13)


@dataclass(frozen=True)
class TextOptions:
    """What the user says of text files; see `read_source`."""

    delimiter: str | None = None
    encoding: str | None = None
    header: bool | None = None


class TextPart(Part):
    """A CSV or TSV file, compressed or not.

    Parameters
    ----------
    path : Path
    format : {"csv", "tsv"}
    options : TextOptions
    among_others : bool
        Whether other files have rows of the table, so that this one may have none.
    """

    def __init__(
        self, path: Path, format: str, options: TextOptions, *, among_others: bool = False
    ) -> None:
        super().__init__(path)
        self._among_others = among_others
        self._name = str(path)
        self._packed = split_suffix(path)[1]
        if not self._packed and self._state[0]:
            check_is_text(Content(self._name, path))
        pa = load_pyarrow()
        with self.reading(format), open_packed(path, self._packed, "rb") as file:
            head = pa.py_buffer(file.read(_HEAD))
        encoding = find_encoding(head, options.encoding)
        # The head may end within a character.
        first = pa.py_buffer(_decoded(head.to_pybytes(), encoding, self._name, final=False))
        self._text = find_text_format(
            first, self._name, format, options.delimiter, encoding, options.header
        )
        self._kind = format
        fields = next(csv.reader([_first_row(first.to_pybytes())], delimiter=self._text.delimiter))
        self.names = tidy_names(fields if self._text.header else [""] * len(fields))
        self._places = [f"c{at}" for at in range(len(self.names))]

    @property
    def stored_bytes(self) -> int:
        """Bytes of the file, unpacked as far as can be guessed."""
        return self._state[0] * (6 if self._packed else 1)

    @lazy
    def _learned(self) -> _Learned:
        """What a pass over the whole file finds out."""
        learned = self._learn(self._text)
        if self._text.delimiter == ";" and self._text.decimal == "." and learned.has_comma_numbers:
            learned = self._learn(replace(self._text, decimal=","))
        if not learned.n_rows and not self._among_others:
            raise ShapeError(f"`{self._name}` should hold rows; it has a header and nothing else.")
        return learned

    def _learn(self, text: TextFormat) -> _Learned:
        learned = _Learned(text, len(self.names))
        for piece in self._pieces(_scaled(_PIECE)):
            table = self._parsed(piece, text)
            for at, column in enumerate(table.columns):
                if load_pyarrow().types.is_binary(column.type):
                    why = f"there are other bytes in column `{self.names[at]}`"
                    raise undecodable(self._name, text.encoding, why)
                learned.look(at, column)
            learned.n_rows += table.num_rows
        return learned

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """The number of rows."""
        return self._learned.n_rows

    @lazy
    def schema(self) -> Any:
        """Names and types of the columns."""
        return load_pyarrow().schema(list(zip(self.names, self._learned.types())))

    @property
    def nbytes(self) -> int:  # type: ignore[override]
        """About how many bytes the values take in memory."""
        return self.n_rows * row_bytes(self.schema)

    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        per_row = max(1, self.stored_bytes // max(1, self.n_rows))
        place = {name: at for at, name in enumerate(self.names)}
        at = [place[name] for name in names] or [0]
        for piece in self._pieces(max(_scaled(_WINDOW) // 4, per_row * n_rows)):
            yield self._typed(piece, at)

    def _typed(self, piece: bytes, at: Sequence[int]) -> Any:
        """Return columns of a piece in the types they are known to have."""
        pa, learned = load_pyarrow(), self._learned
        kinds = dict(zip(self._places, learned.types()))
        blank = {self._places[c] for c in learned.with_blanks}
        types = {name: pa.string() if name in blank else kind for name, kind in kinds.items()}
        asked = [self._places[c] for c in at]
        table = self._parsed(piece, learned.text, types=types, columns=asked)
        columns = [
            without_blanks(table.column(c), learned.text, kinds[c]) if c in blank else table[c]
            for c in asked
        ]
        return pa.table(columns, names=[self.names[c] for c in at])

    def _parsed(self, piece: bytes, text: TextFormat, **options: Any) -> Any:
        pa = load_pyarrow()
        try:
            return parse(pa.py_buffer(piece), text, names=self._places, **options)
        except pa.ArrowInvalid as error:
            self.check_unchanged()
            first_line = str(error).strip().splitlines()[0]
            raise InputError(
                f"`{self._name}` should have {len(self.names)} fields in every line, as in the "
                f"first, and text in {text.encoding}; it could not be read: {first_line}. The "
                f"delimiter is taken to be {text.delimiter!r}."
            ) from error
        except UnicodeDecodeError as error:
            raise undecodable(self._name, text.encoding, str(error)) from None

    def _pieces(self, size: int) -> Iterator[bytes]:
        """Yield the text in pieces of whole rows, without the header, in UTF-8."""
        with self.reading(self._kind):
            rows = _whole_rows(self._windows(), size, self._text.delimiter, self._name)
            for number, piece in enumerate(rows):
                if number == 0 and self._text.header:
                    piece = piece.lstrip(b"\r\n")
                    piece = piece[_first_row_end(piece) :]
                if piece.strip(b"\r\n"):
                    yield piece

    def _windows(self) -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder(self._text.encoding)()
        plain = self._text.encoding == "utf-8"
        with open_packed(self.path, self._packed, "rb") as file:
            size = _scaled(_WINDOW)
            while window := file.read(size):
                text = window if plain else _again(decoder, window, self._text, self._name)
                if b"\0" in text:
                    raise InputError(
                        f"`{self._name}` should be text; it holds NUL bytes. Name it by what it "
                        f"is, or give its encoding, for example `--encoding utf-16-le`."
                    )
                yield text


def _scaled(size: int) -> int:
    """Return how many bytes to take at a time; fewer where the process may take little memory."""
    room = room_in_limits()
    return size if room is None or room > _PLENTY else max(size >> 5, size * room // _PLENTY)


def _decoded(data: bytes, encoding: str, name: str, *, final: bool) -> bytes:
    if encoding == "utf-8":
        return data
    try:
        return codecs.getincrementaldecoder(encoding)().decode(data, final).encode()
    except UnicodeError as error:
        raise undecodable(name, encoding, str(error)) from None


def _again(decoder: Any, window: bytes, text: TextFormat, name: str) -> bytes:
    try:
        return decoder.decode(window).encode()
    except UnicodeError as error:
        raise undecodable(name, text.encoding, str(error)) from None


def _whole_rows(windows: Iterator[bytes], size: int, delimiter: str, name: str) -> Iterator[bytes]:
    r"""Yield pieces of about so many bytes that end where a row ends.

    Examples
    --------
    >>> list(_whole_rows(iter([b'a,"b', b'\nc"\nd,', b'e\n']), 2, ",", "x.csv"))
    [b'a,"b\nc"\n', b'd,e\n']
    """
    held = b""
    for window in windows:
        held += window
        if len(held) < size:
            continue
        end = _last_row_end(held, delimiter, name)
        if end:
            yield held[:end]
            held = held[end:]
        elif len(held) > _LONGEST:
            raise InputError(
                f"`{name}` should have rows shorter than {_LONGEST >> 20} MB to be read in blocks; "
                f"there is no end of one so long. Is a quote never closed?"
            )
    if held and held.count(b'"') % 2:
        _last_row_end(held, delimiter, name)  # says so of a quote within a value
        raise InputError(
            f"`{name}` should close every quote; the last one is never closed. Close it, or double "
            f"it if it belongs to the value."
        )
    if held:
        yield held


def _last_row_end(data: bytes, delimiter: str, name: str) -> int:
    """Return where the last whole row ends; a newline between quotes ends none."""
    if b'"' not in data:
        return max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
    codes = np.frombuffer(data, dtype=np.uint8)
    quotes = codes == _QUOTE
    inside = np.bitwise_xor.accumulate(quotes)
    ends = np.flatnonzero(np.isin(codes, _NEWLINES))
    outside = ends[~inside[ends]]
    if len(outside) < len(ends):
        _check_quotes_are_around_values(codes, quotes, delimiter, name)
    return int(outside[-1]) + 1 if len(outside) else 0


def _check_quotes_are_around_values(codes: Any, quotes: Any, delimiter: str, name: str) -> None:
    """Raise for quotes in the middle of values, where nothing tells newlines inside from ends."""
    at = np.flatnonzero(quotes)
    borders = (ord(delimiter), _QUOTE, *_NEWLINES)
    opening, closing = at[0::2], at[1::2]
    before = codes[opening[opening > 0] - 1]
    after = codes[closing[closing < len(codes) - 1] + 1]
    if not (np.isin(before, borders).all() and np.isin(after, borders).all()):
        raise InputError(
            f"`{name}` should have quotes around whole values only, to be read in blocks; one "
            f"stands within a value. Double it and put the value in quotes, or write Parquet."
        )


def _first_row_end(data: bytes) -> int:
    """Return where the first row ends."""
    inside = False
    for at, code in enumerate(data):
        if code == _QUOTE:
            inside = not inside
        elif code in _NEWLINES and not inside:
            return at + 1
    return len(data)


def _first_row(data: bytes) -> str:
    data = data.lstrip(b"\r\n")
    return data[: _first_row_end(data)].decode("utf-8", errors="replace").rstrip("\r\n")


class _Learned:
    """What the pieces of a text file hold, joined."""

    def __init__(self, text: TextFormat, n: int) -> None:
        self.text = text
        self.n_rows = 0
        self.with_blanks: set[int] = set()
        self._kinds: list[set[Any]] = [set() for _ in range(n)]
        self._are_bits = [True] * n
        self._are_comma_numbers = [True] * n

    def look(self, at: int, column: Any) -> None:
        """Look at a column of one more piece, as pyarrow has read it."""
        pa, pc = load_pyarrow(), load_pyarrow("pyarrow.compute")
        if pa.types.is_string(column.type):
            matches = pc.all(pc.match_substring_regex(column, COMMA_NUMBERS)).as_py()
            self._are_comma_numbers[at] &= matches is True
            trimmed = without_blanks(column, self.text)
            if trimmed is not column:
                self.with_blanks.add(at)
            column = trimmed
        elif not pa.types.is_null(column.type) and not pa.types.is_integer(column.type):
            self._are_comma_numbers[at] = False
        if pa.types.is_integer(column.type):
            extremes = pc.min_max(column).as_py()
            self._are_bits[at] &= extremes["min"] >= 0 and extremes["max"] <= 1
        self._kinds[at].add(column.type)

    @property
    def has_comma_numbers(self) -> bool:
        """Whether a text column holds nothing but numbers with a decimal comma."""
        pa = load_pyarrow()
        text = [any(map(pa.types.is_string, kinds)) for kinds in self._kinds]
        return any(a and b for a, b in zip(text, self._are_comma_numbers))

    def types(self) -> list[Any]:
        """Return the types that pyarrow would have found in the whole file."""
        return [_joined(k, bits) for k, bits in zip(self._kinds, self._are_bits)]


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
