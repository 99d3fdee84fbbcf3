"""CSV and TSV through pyarrow, whole or in pieces of whole rows.

Of a file in pieces, what a column holds is known only once all of it was seen. So a first pass
parses every piece for itself and joins what it finds; from then on pieces are parsed with the types
that are known.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from orthoselect.errors import InputError, ShapeError
from orthoselect.lazy import lazy
from orthoselect.matrix.memory import room_in_limits, say_bytes
from orthoselect.read.arrow import load_pyarrow
from orthoselect.read.dataset import Dataset, TextFormat
from orthoselect.read.paths import Content, Part, split_suffix
from orthoselect.read.text_format import (
    UTF_8,
    TextOptions,
    expansion,
    fields_of,
    find_first_row,
    find_text_format,
    undecodable,
)
from orthoselect.read.text_values import Learned, has_comma_numbers, parse_rows, without_blanks

_HEAD = 1 << 18  # bytes that encoding, delimiter and decimal point are found from
_LOOK = 1 << 16  # bytes that tell how long values are
_WINDOW = 1 << 22  # bytes that are read from the file at a time
_PIECE = 1 << 24  # bytes of a piece in the first pass
_PLENTY = 1 << 30  # bytes beside which these are few: numbers take more of them than digits
_LONGEST = 1 << 27  # bytes of a row that are waited for until its end comes
_WHILE_READ = 2  # a table and what it is made from, at a time
_QUOTE, _NEWLINES = ord('"'), (10, 13)


def read_text(content: Content, format: str, options: TextOptions) -> Dataset:
    """Read CSV or TSV whole; `read_source` says what it takes, and "text" is either format."""
    file = TextFile(content, format, options)
    table = file.table()
    if format == "text":
        format = "tsv" if file.text.delimiter == "\t" else "csv"
    return Dataset(table, table.column_names, format=format, text=file.text)


class TextFile:
    """A text as a table, whole or in pieces.

    Parameters
    ----------
    content : Content
    format : {"csv", "tsv", "text"}
    options : TextOptions

    Attributes
    ----------
    text : TextFormat
        How it is written.
    names : list of str
        Of the columns, which `parse` calls by their `places`.
    places : list of str
    """

    def __init__(self, content: Content, format: str, options: TextOptions) -> None:
        load_pyarrow()
        _check_is_text(content)
        self._content, self._name = content, content.name
        with content.open() as file:
            head = file.read(_HEAD)
        self.text = find_text_format(head, self._name, format, options, is_whole=len(head) < _HEAD)
        self._is_utf8 = self.text.encoding in UTF_8
        has_mark = self.text.encoding == "utf-8-sig" and head.startswith(codecs.BOM_UTF8)
        self._mark = len(codecs.BOM_UTF8) if has_mark else 0
        self._start, fields = self._first_row()
        self.names = tidy_names(fields if self.text.header else [""] * len(fields))
        self.places = [f"c{at}" for at in range(len(fields))]

    def _first_row(self) -> tuple[int, list[str]]:
        """Return where the rows begin, behind the names if there are any, and the first fields."""
        held, tried = b"", 0
        for window in self._windows(_HEAD):
            held += window
            found = None
            if len(held) > 2 * tried:  # it grows by and by, and is not looked through each time
                found, tried = find_first_row(held, self.text.delimiter), len(held)
            if found or tried > _LONGEST:
                break
        else:
            found = find_first_row(held + b"\n", self.text.delimiter)
        if found is None:
            self._check_closed()
            raise self._too_long()
        begin, end = found
        try:
            fields = fields_of(held[begin:end].decode(), self.text.delimiter)
        except UnicodeDecodeError as error:
            raise undecodable(self._name, self.text.encoding, str(error)) from None
        except csv.Error:
            raise self._too_long() from None
        return (end if self.text.header else 0), fields

    # The text in UTF-8

    def _windows(self, size: int) -> Iterator[bytes]:
        """Yield the text in UTF-8, without a mark, about so many bytes at a time."""
        decoder = None if self._is_utf8 else codecs.getincrementaldecoder(self.text.encoding)()
        with self._content.open() as file:
            file.read(self._mark)
            window = file.read(size)
            while window:
                following = file.read(size)
                if decoder is not None:
                    window = self._decoded(decoder, window, is_last=not following)
                if b"\0" in window:
                    raise self._holds_nulls()
                yield window
                window = following

    def _decoded(self, decoder: Any, window: bytes, *, is_last: bool) -> bytes:
        try:
            return decoder.decode(window, is_last).encode()
        except UnicodeError as error:
            raise undecodable(self._name, self.text.encoding, str(error)) from None

    def _whole(self) -> Any:
        """Return all rows as one buffer; UTF-8 is not copied."""
        pa = load_pyarrow()
        if self._is_utf8:
            quotes = sum(map(_count_quotes, self._windows(_HEAD)))
            buffer = self._content.buffer().slice(self._mark + self._start)
        else:
            text = b"".join(self._windows(_WINDOW))
            quotes = _count_quotes(text)
            buffer = pa.py_buffer(text).slice(self._start)
        if quotes % 2:
            self._check_closed()
        return buffer

    def pieces(self, size: int) -> Iterator[Any]:
        """Yield all rows in buffers of whole rows, of about so many bytes."""
        skip = self._start
        for piece in self._whole_rows(size):
            begin = min(skip, len(piece))
            skip -= begin
            if piece[begin:].strip(b"\r\n"):
                yield load_pyarrow().py_buffer(piece).slice(begin)

    def _whole_rows(self, size: int) -> Iterator[bytes]:
        """Yield pieces of the text that end where a row ends."""
        held = b""
        for window in self._windows(_scaled(_WINDOW)):
            held += window
            if len(held) < size:
                continue
            end = _last_row_end(held, self.text.delimiter, self._name)
            if end:
                yield held[:end]
                held = held[end:]
            elif len(held) > _LONGEST:
                raise self._too_long()
        if _count_quotes(held) % 2:
            self._check_closed()
        if held:
            yield held

    # The table

    def table(self) -> Any:
        """Return the whole table, in the types of its values, names and blanks in order."""
        pa = load_pyarrow()
        rows = self._whole()
        if not rows.size:
            raise self.no_rows()
        _check_room(rows, self._name)
        columns = self._columns(rows)
        if self.may_have_comma_numbers and any(map(has_comma_numbers, columns)):
            self.text = replace(self.text, decimal=",")
            columns = self._columns(rows)
        if not len(columns[0]):
            raise self.no_rows()
        return pa.table(columns, names=self.names)

    def _columns(self, rows: Any) -> list[Any]:
        columns = self.parse(rows, self.text).columns
        return [without_blanks(column, self.text) for column in columns]

    @property
    def may_have_comma_numbers(self) -> bool:
        """Whether numbers may turn out to have decimal commas, though the first lines had none."""
        return self.text.delimiter == ";" and self.text.decimal == "."

    def parse(self, rows: Any, text: TextFormat, **options: Any) -> Any:
        """Parse a buffer of rows; options are `types` and `columns` of `parse_blocks`."""
        pa = load_pyarrow()
        try:
            table = parse_rows(rows, text, self.places, **options)
        except pa.ArrowInvalid as error:
            raise self._explained(error) from error
        for name, kind in zip(self.names, table.schema.types):
            if pa.types.is_binary(kind):
                why = f"there are other bytes in column `{name}`"
                raise undecodable(self._name, text.encoding, why)
        return table

    # What is wrong, and in which line; the text is read again for that

    def _again(self, newline: str) -> io.TextIOWrapper:
        encoding = self.text.encoding
        return io.TextIOWrapper(self._content.open(), encoding, errors="replace", newline=newline)

    def _rows(self, *, strict: bool = False) -> Iterator[tuple[int, int]]:
        """Yield the line where each row ends and its number of fields, slowly."""
        with self._again(newline="") as lines:
            reader = csv.reader(lines, delimiter=self.text.delimiter, strict=strict)
            for fields in reader:
                if fields:
                    yield reader.line_num, len(fields)

    def _explained(self, error: Exception) -> InputError:
        """Return an error that tells the line, where a row has too many or too few fields."""
        expected, odd = len(self.names), None
        with suppress(csv.Error):
            odd = next(((line, found) for line, found in self._rows() if found != expected), None)
        if odd is None:
            first_line = str(error).strip().splitlines()[0]
            return InputError(f"`{self._name}` could not be read as text: {first_line}")
        return InputError(
            f"`{self._name}` should have {expected} fields in every line, as in the first; line "
            f"{odd[0]} has {odd[1]}. The delimiter is taken to be {self.text.delimiter!r}; give "
            f"`read_table` another `delimiter`, or mend the line."
        )

    def _check_closed(self) -> None:
        """Raise for a quote that is never closed: the rest of the text would be one value."""
        last = 0
        try:  # an odd one may still stand for inches
            for line, _ in self._rows(strict=True):
                last = line
        except csv.Error as error:
            if "unexpected end" in str(error):
                raise InputError(
                    f"`{self._name}` should close every quote; the one in or after line {last + 1} "
                    f"is never closed. Close it, or double it if it belongs to the value."
                ) from None

    def _holds_nulls(self) -> InputError:
        """Return the error for what is no text: a NUL would be part of a value nobody can see."""
        with self._again(newline="\n") as lines:
            line = next((at for at, text in enumerate(lines, 1) if "\0" in text), 1)
        return InputError(
            f"`{self._name}` should be text; it holds NUL bytes, the first in line {line}. Give it "
            f"the suffix of its format, or its encoding to `read_table`, for example "
            f"`encoding='utf-16-le'`."
        )

    def _too_long(self) -> InputError:
        return InputError(
            f"`{self._name}` should have rows shorter than {_LONGEST >> 20} MB to be read in "
            f"blocks, and names shorter than {csv.field_size_limit() >> 10} kB; there is no end of "
            f"one so long. Is a quote never closed?"
        )

    def no_rows(self) -> ShapeError:
        """Return the error for a text that has names only."""
        return ShapeError(f"`{self._name}` should hold rows; it has a header and nothing else.")


class TextPart(Part):
    """A CSV or TSV file, compressed or not, as a part of a table in blocks.

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
        self._among_others, self._kind = among_others, format
        self._packed = split_suffix(path)[1]
        with self.reading(format):
            self._file = TextFile(Content(str(path), path, self._packed), format, options)
        self.names = self._file.names

    @property
    def _unpacked_bytes(self) -> int:
        """Bytes of the file, unpacked as far as can be guessed."""
        return self.stored_bytes * (6 if self._packed else 1)

    @lazy
    def _learned(self) -> Learned:
        """What a pass over the whole file finds out."""
        text = self._file.text
        learned = self._learn(text)
        if self._file.may_have_comma_numbers and learned.has_comma_numbers:
            learned = self._learn(replace(text, decimal=","))
        if not learned.n_rows and not self._among_others:
            raise self._file.no_rows()
        return learned

    def _learn(self, text: TextFormat) -> Learned:
        learned = Learned(text, len(self.names))
        with self.reading(self._kind):
            for piece in self._file.pieces(_scaled(_PIECE)):
                learned.look(self._file.parse(piece, text))
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
        """About how many bytes the values take in memory; the file is not read for that."""
        return int(self._unpacked_bytes * expansion_of(self.path))

    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        per_row = max(1, self._unpacked_bytes // max(1, self.n_rows))
        place = {name: at for at, name in enumerate(self.names)}
        at = [place[name] for name in names] or [0]
        with self.reading(self._kind):
            for piece in self._file.pieces(max(_scaled(_WINDOW) // 4, per_row * n_rows)):
                yield self._typed(piece, at)

    def _typed(self, piece: Any, at: Sequence[int]) -> Any:
        """Return columns of a piece in the types they are known to have."""
        pa, learned, places = load_pyarrow(), self._learned, self._file.places
        kinds = dict(zip(places, learned.types()))
        blank = {places[c] for c in learned.with_blanks}
        types = {name: pa.string() if name in blank else kind for name, kind in kinds.items()}
        asked = [places[c] for c in at]
        table = self._file.parse(piece, learned.text, types=types, columns=asked)
        columns = [
            without_blanks(table.column(c), learned.text, kinds[c]) if c in blank else table[c]
            for c in asked
        ]
        return pa.table(columns, names=[self.names[c] for c in at])


def _scaled(size: int) -> int:
    """Return how many bytes to take at a time; fewer where the process may take little memory."""
    room = room_in_limits()
    return size if room is None or room > _PLENTY else max(size >> 5, size * room // _PLENTY)


def _count_quotes(text: bytes) -> int:
    """Count quotes, sooner than `bytes.count` does where they are many."""
    return int(np.count_nonzero(np.frombuffer(text, dtype=np.uint8) == _QUOTE))


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


def _check_is_text(content: Content) -> None:
    """Raise for what begins like a file of another kind."""
    kind = content.kind()
    if kind:
        what = "a zip archive, as .npz and .xlsx are" if kind == "npz" else f"a {kind} file"
        raise InputError(
            f"`{content.name}` should be text; it begins like {what}. Give it the suffix of its "
            f"format."
        )


def expansion_of(path: Path) -> float:
    """Return about how many bytes of memory a byte of a text file takes, unpacked."""
    try:
        with Content(str(path), path, split_suffix(path)[1]).open() as file:
            return expansion(file.read(_LOOK))
    except Exception:  # broken, and who reads it says so
        return expansion(b"")


def _check_room(rows: Any, name: str) -> None:
    """Raise before Arrow comes upon the limits of the process, which would abort it."""
    room = room_in_limits()
    if room is None:
        return
    look = rows.slice(0, min(_HEAD, rows.size)).to_pybytes()
    needed = int(_WHILE_READ * expansion(look) * rows.size)
    if needed > room:
        raise MemoryError(
            f"`{name}` needs about {say_bytes(needed)} of memory to be read whole; the limits of "
            f"this process leave {say_bytes(room)}."
        )


def tidy_names(names: list[str]) -> list[str]:
    """Return names without blanks around them; a column without a name is x and its place.

    Examples
    --------
    >>> tidy_names(["", " a", "b "])
    ['x0', 'a', 'b']
    """
    return [name.strip() or f"x{at}" for at, name in enumerate(names)]
