"""CSV and TSV through pyarrow, whole or in pieces of whole rows.

Of a file in pieces, what a column holds is known only once all of it was seen. So a first pass
parses every piece for itself and joins what it finds; from then on pieces are parsed with the types
that are known. A long file that is read whole is read in pieces too, which are kept: pyarrow would
hold all of the text until it knew the types. Only columns whose pieces differ are parsed again.
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

from orthoselect.errors import InputError, ShapeError
from orthoselect.lazy import lazy
from orthoselect.matrix.memory import room_in_limits, say_bytes
from orthoselect.read.arrow import load_pyarrow
from orthoselect.read.dataset import Dataset, TextFormat, TextOptions
from orthoselect.read.looks import UNNAMED_INDEX
from orthoselect.read.paths import Content, Part, split_suffix
from orthoselect.read.text_columns import (
    Learned,
    has_comma_numbers,
    parse_rows,
    without_blanks,
)
from orthoselect.read.text_format import (
    UTF_8,
    count_quotes,
    expansion,
    fields_of,
    find_first_row,
    find_text_format,
    last_row_end,
    undecodable,
)

_HEAD = 1 << 18  # bytes that encoding, delimiter and decimal point are found from
_LOOK = 1 << 16  # bytes from which the length of values is estimated
_WINDOW = 1 << 22  # bytes that are read from the file at a time
_PIECE = 1 << 24  # bytes of a piece in the first pass
_KEPT_PIECES = 2  # a text of more of them is read in pieces, even if it is to be whole
_PLENTY = 1 << 30  # bytes beside which these are few: numbers take more of them than digits
_LONGEST = 1 << 27  # bytes of a row that are waited for until its end comes
_WHILE_READ = 2  # a table and what it is made from, at a time
_UNPACKED = 6  # bytes of text for a byte of a compressed file


def read_text(content: Content, format: str, options: TextOptions) -> Dataset:
    """Read CSV or TSV whole; `read_source` says what it takes, and "text" is either format."""
    file = TextFile(content, format, options)
    table = file.table()
    if format == "text":
        format = "tsv" if file.text.delimiter == "\t" else "csv"
    return Dataset(table, table.column_names, format=format, text=file.text)


def expansion_of(path: Path) -> float:
    """Return about how many bytes of memory a byte of a text file takes, unpacked."""
    try:
        with Content(str(path), path, split_suffix(path)[1]).open() as file:
            return expansion(file.read(_LOOK))
    except Exception:  # a broken file is reported when it is read
        return expansion(b"")


class TextFile:
    """A text as a table, whole or in pieces.

    Its `text` is how it is written; `parse` calls the columns by their `places`, not by `names`,
    which may occur twice.
    """

    def __init__(self, content: Content, format: str, options: TextOptions) -> None:
        load_pyarrow()
        self._content, self._name = content, content.name
        if kind := content.kind():
            what = "a zip archive, as .npz and .xlsx are" if kind == "npz" else f"a {kind} file"
            raise InputError(
                f"`{self._name}` should be text; it begins like {what}. Give it the suffix of its "
                f"format."
            )
        with content.open() as file:
            head = file.read(_HEAD)
        self.text = find_text_format(head, self._name, format, options, is_whole=len(head) < _HEAD)
        self._is_utf8 = self.text.encoding in UTF_8
        has_mark = self.text.encoding == "utf-8-sig" and head.startswith(codecs.BOM_UTF8)
        self._mark = len(codecs.BOM_UTF8) if has_mark else 0
        self._start, fields = self._first_row()
        given = fields if self.text.header else [""] * len(fields)
        self.names = [name.strip() or f"x{at}" for at, name in enumerate(given)]
        if self.text.header and not given[0].strip():
            self.names[0] = UNNAMED_INDEX  # as pandas and R write the names of the rows
        self.places = [f"c{at}" for at in range(len(fields))]

    def _first_row(self) -> tuple[int, list[str]]:
        """Return where the rows begin, behind the names if there are any, and the first fields."""
        held, tried = b"", 0
        for window in self._windows(_HEAD):
            held += window
            found = None
            if len(held) > 2 * tried:  # search again only after it has doubled
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
        """Yield the text in UTF-8, without a mark, about `size` bytes at a time."""
        encoding = self.text.encoding
        decoder = None if self._is_utf8 else codecs.getincrementaldecoder(encoding)()
        with self._content.open() as file:
            file.read(self._mark)
            window = file.read(size)
            while window:
                following = file.read(size)
                if decoder is not None:
                    try:
                        window = decoder.decode(window, not following).encode()
                    except UnicodeError as error:
                        raise undecodable(self._name, encoding, str(error)) from None
                if b"\0" in window:
                    raise self._holds_nulls()
                yield window
                window = following

    def _whole(self) -> Any:
        """Return all rows as one buffer; UTF-8 is not copied."""
        if self._is_utf8:
            quotes = sum(map(count_quotes, self._windows(_HEAD)))
            buffer = self._content.buffer().slice(self._mark + self._start)
        else:
            text = b"".join(self._windows(_WINDOW))
            quotes = count_quotes(text)
            buffer = load_pyarrow().py_buffer(text).slice(self._start)
        if quotes % 2:
            self._check_closed()
        return buffer

    def pieces(self, size: int) -> Iterator[Any]:
        """Yield all rows in buffers of whole rows, of about `size` bytes."""
        py_buffer = load_pyarrow().py_buffer
        held, skip = bytearray(), self._start
        for window in self._windows(_scaled(_WINDOW)):
            held += memoryview(window)[skip:]
            skip = max(0, skip - len(window))
            if len(held) < size:
                continue
            end = last_row_end(held, self.text.delimiter, self._name)
            if not end and len(held) > _LONGEST:
                raise self._too_long()
            rows = bytes(memoryview(held)[:end])
            del held[:end]
            if _holds_rows(rows):
                yield py_buffer(rows)
        if count_quotes(held) % 2:
            self._check_closed()
        if _holds_rows(held):
            yield py_buffer(bytes(held))

    # The table

    def table(self) -> Any:
        """Return the whole table, in the types of its values, names and blanks in order."""
        columns = None
        if self._content.stored_bytes > _KEPT_PIECES * _PIECE and room_in_limits() is None:
            with suppress(InputError):  # quotes that cannot be cut at, or what is wrong anyway
                columns = self._joined_pieces()
        if columns is None:
            columns = self._columns_at_once()
        return load_pyarrow().table(columns, names=self.names)

    def _columns_at_once(self) -> list[Any]:
        rows = self._whole()
        if not rows.size:
            raise self.no_rows()
        room = room_in_limits()
        if room is not None:  # Arrow would come upon the limits of the process, and abort it
            look = rows.slice(0, min(_HEAD, rows.size)).to_pybytes()
            needed = int(_WHILE_READ * expansion(look) * rows.size)
            if needed > room:
                raise MemoryError(
                    f"`{self._name}` needs about {say_bytes(needed)} of memory to be read whole; "
                    f"the limits of this process leave {say_bytes(room)}."
                )
        columns = self._columns(rows)
        if self.may_have_comma_numbers and any(map(has_comma_numbers, columns)):
            self.text = replace(self.text, decimal=",")
            columns = self._columns(rows)
        if not len(columns[0]):
            raise self.no_rows()
        return columns

    def _joined_pieces(self) -> list[Any]:
        """Return the columns of a long text, of which a piece is held at a time."""
        pa, learned = load_pyarrow(), Learned(self.text, len(self.names))
        kept: list[list[Any]] = [[] for _ in self.names]  # chunks of each column
        for piece in self.pieces(_PIECE):
            for chunks, column in zip(kept, learned.look(self.parse_likely(piece, learned))):
                chunks.extend(column.chunks)
        if self.may_have_comma_numbers and learned.has_comma_numbers:
            self.text = replace(self.text, decimal=",")
            return self._joined_pieces()
        if not learned.n_rows:
            raise self.no_rows()
        kinds = learned.types()
        differ = [
            at
            for at, kind in enumerate(kinds)
            if any(chunk.type != kind and not pa.types.is_null(chunk.type) for chunk in kept[at])
        ]
        for at in differ:
            kept[at] = []
        if differ:
            for table in self.batches(learned, differ, _PIECE):
                for at, column in zip(differ, table):
                    kept[at].extend(column.chunks)
        return [_one_column(kept.pop(0), kind) for kind in kinds]

    def parse_likely(self, piece: Any, learned: Learned) -> Any:
        """Parse a piece in the types of those before it, unless it has others."""
        likely = learned.likely_types(self.places)
        if likely:
            with suppress(load_pyarrow().ArrowInvalid):
                return parse_rows(piece, learned.text, self.places, types=likely)
        return self.parse(piece, learned.text)

    def batches(self, learned: Learned, columns: Sequence[int], size: int) -> Iterator[list[Any]]:
        """Yield some columns in pieces of about `size` bytes, in the types that were learned."""
        pa, asked = load_pyarrow(), [self.places[c] for c in columns]
        kinds = dict(zip(self.places, learned.types()))
        blank = {self.places[c] for c in learned.with_blanks}
        types = {name: pa.string() if name in blank else kind for name, kind in kinds.items()}
        for piece in self.pieces(size):
            table = self.parse(piece, learned.text, types=types, columns=asked)
            yield [
                without_blanks(table[c], learned.text, kinds[c]) if c in blank else table[c]
                for c in asked
            ]
            del table
            pa.default_memory_pool().release_unused()  # which the pool else keeps for itself

    def _columns(self, rows: Any) -> list[Any]:
        columns = self.parse(rows, self.text).columns
        return [without_blanks(column, self.text) for column in columns]

    @property
    def may_have_comma_numbers(self) -> bool:
        """Whether numbers may turn out to have decimal commas, though the first lines had none."""
        return self.text.delimiter == ";" and self.text.decimal == "."

    def parse(self, rows: Any, text: TextFormat, **options: Any) -> Any:
        """Parse a buffer of rows; options are `types` and `columns` of `parse_rows`."""
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
        """Return an error that gives the line, where a row has too many or too few fields."""
        expected, odd = len(self.names), None
        with suppress(csv.Error):
            odd = next(((line, found) for line, found in self._rows() if found != expected), None)
        if odd is None:
            first_line = str(error).strip().splitlines()[0]
            return InputError(f"`{self._name}` could not be read as text: {first_line}")
        return InputError(
            f"`{self._name}` should have {expected} fields in every line, as in the first; line "
            f"{odd[0]} has {odd[1]}. The delimiter is taken to be {self.text.delimiter!r}; give "
            f"`read_table` another `delimiter`, or correct the line."
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

    Among others that have rows of the table, it may have none.
    """

    def __init__(
        self, path: Path, format: str, options: TextOptions, *, among_others: bool = False
    ) -> None:
        super().__init__(path)
        self._among_others, self._kind = among_others, format
        packed = split_suffix(path)[1]
        self._text_bytes = self.stored_bytes * (_UNPACKED if packed else 1)  # as far as can be told
        with self.reading(format):
            self._file = TextFile(Content(str(path), path, packed), format, options)
        self.names = self._file.names

    @lazy
    def _learned(self) -> Learned:
        """What a pass over the whole file finds out."""
        learned = self._learn(self._file.text)
        if self._file.may_have_comma_numbers and learned.has_comma_numbers:
            learned = self._learn(replace(self._file.text, decimal=","))
        if not learned.n_rows and not self._among_others:
            raise self._file.no_rows()
        return learned

    def _learn(self, text: TextFormat) -> Learned:
        learned = Learned(text, len(self.names))
        with self.reading(self._kind):
            for piece in self._file.pieces(
                _scaled(_PIECE >> 2)
            ):  # only looked at, so few at a time
                learned.look(self._file.parse_likely(piece, learned))
                load_pyarrow().default_memory_pool().release_unused()
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
        return int(self._text_bytes * expansion_of(self.path))

    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        learned = self._learned
        at = {name: at for at, name in enumerate(self.names)}
        size = max(1, self._text_bytes // max(1, learned.n_rows)) * n_rows
        size = max(_scaled(_WINDOW) // 4, size)
        with self.reading(self._kind):
            for values in self._file.batches(learned, [at[name] for name in names], size):
                yield load_pyarrow().table(values, names=list(names))


def _holds_rows(text: bytes | bytearray) -> bool:
    """Whether there is anything but ends of lines."""
    return bool(text[:_WINDOW].strip(b"\r\n") or text.strip(b"\r\n"))


def _scaled(size: int) -> int:
    """Return how many bytes to take at a time; fewer where the process may take little memory."""
    room = room_in_limits()
    return size if room is None or room > _PLENTY else max(size >> 5, size * room // _PLENTY)


def _one_column(chunks: Sequence[Any], kind: Any) -> Any:
    """Return the pieces of a column as one, of which some had no value, and so no type."""
    pa = load_pyarrow()
    return pa.chunked_array(
        [chunk if chunk.type == kind else pa.nulls(len(chunk), kind) for chunk in chunks], kind
    )
