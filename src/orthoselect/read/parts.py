"""The files of a table that is read in blocks: Parquet and Arrow, some rows at a time."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orthoselect.errors import InputError
from orthoselect.matrix.memory import is_out_of_memory
from orthoselect.read.arrow import load_pyarrow, plain_column
from orthoselect.read.content import opened_file

_TEXT_BYTES = 24  # of a value of text, where nothing tells
_BLOCKS_AT_ONCE = 4  # rows of a row group that is read whole, in blocks
_STREAMED = 1 << 18  # bytes of a column that are read at a time from a large row group


class WatchedFile:
    """A file that should not change while it is read.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with opened_file(path):
            self._state = _state(path)

    def check_unchanged(self) -> None:
        """Raise if the file is no longer what it was when it was first looked at."""
        try:
            state = _state(self.path)
        except OSError:
            raise _changed(self.path, "it has vanished, or can no longer be read") from None
        if state != self._state:
            was, now = self._state[0], state[0]
            sizes = f"it had {was} bytes and has {now} now" if was != now else "it was written to"
            raise _changed(self.path, sizes)

    @contextmanager
    def reading(self, kind: str) -> Iterator[None]:
        """Name the file in whatever error a library has for it."""
        try:
            yield
        except InputError:
            raise
        except Exception as error:  # broken files raise whatever their library meets
            if is_out_of_memory(error):
                raise MemoryError from error
            self.check_unchanged()
            first_line = " ".join(str(error).strip().splitlines()[:1])
            raise InputError(
                f"`{self.path}` should be a whole {kind} file; it could not be read: {first_line}"
            ) from error


def _state(path: Path) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns


def _changed(path: Path, how: str) -> InputError:
    return InputError(
        f"`{path}` should stay as it is while it is selected from; {how}. Start again when nobody "
        f"writes to it."
    )


class Part(WatchedFile, ABC):
    """One file of a table.

    Attributes
    ----------
    schema : pyarrow.Schema
        Names and types of its columns, of which `batches` gives them.
    n_rows : int
    nbytes : int
        About how many bytes its values take in memory.
    """

    schema: Any
    n_rows: int
    nbytes: int

    @abstractmethod
    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        """Yield tables of these columns, about so many rows each, in the order of the file."""


class ParquetPart(Part):
    """A Parquet file; of a large row group only some rows at a time are unpacked."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self.reading("parquet"), self._open() as file:
            self.schema = plain_schema(file.schema_arrow)
            self.n_rows = file.metadata.num_rows
            groups = [file.metadata.row_group(g) for g in range(file.metadata.num_row_groups)]
            stored = sum(group.total_byte_size for group in groups)
        self.nbytes = max(stored, self.n_rows * row_bytes(self.schema))

    def _open(self) -> Any:
        parquet = load_pyarrow("pyarrow.parquet")
        return parquet.ParquetFile(self.path, buffer_size=_STREAMED, pre_buffer=False)

    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        with self.reading("parquet"), self._open() as file:
            if not names:
                yield from _rows_alone(self.n_rows, n_rows)
                return
            for group in range(file.metadata.num_row_groups):
                for table in self._group(file, group, list(names), n_rows):
                    yield plain_table(table, names)

    def _group(self, file: Any, group: int, names: list[str], n_rows: int) -> Iterator[Any]:
        """Yield a row group: whole, which is quicker, or some rows at a time if it is large."""
        if file.metadata.row_group(group).num_rows <= _BLOCKS_AT_ONCE * n_rows:
            yield file.read_row_group(group, columns=names)
            return
        pa = load_pyarrow()
        for batch in file.iter_batches(n_rows, row_groups=[group], columns=names):
            yield pa.Table.from_batches([batch])


class ArrowPart(Part):
    """A file in Arrow's IPC format, as Feather files are, or a stream of it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self.reading("arrow"), path.open("rb") as file:
            head = file.read(6)
        if head.startswith(b"FEA1"):
            raise InputError(
                f"`{path}` should be a Feather file of version 2 to be read in blocks; it is of "
                f"version 1. Write it again, for example with `pyarrow.feather.write_feather`."
            )
        self._is_file = head == b"ARROW1"
        with self.reading("arrow"):
            reader = self._open(None)
            self._names = list(reader.schema.names)
            self.schema = plain_schema(reader.schema)
            self.n_rows = sum(batch.num_rows for batch in self._read([0][: len(self._names)]))
        self.nbytes = max(self._state[0], self.n_rows * row_bytes(self.schema))

    def _open(self, fields: Sequence[int] | None) -> Any:
        pa, ipc = load_pyarrow(), load_pyarrow("pyarrow.ipc")
        options = ipc.IpcReadOptions(included_fields=None if fields is None else list(fields))
        # Not a memory map: a process may have less address space than the file is long.
        file = pa.OSFile(str(self.path))
        return (ipc.open_file if self._is_file else ipc.open_stream)(file, options=options)

    def _read(self, fields: Sequence[int] | None) -> Iterator[Any]:
        reader = self._open(fields)
        if not self._is_file:
            yield from reader
            return
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number)

    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        pa = load_pyarrow()
        with self.reading("arrow"):
            if not names:
                yield from _rows_alone(self.n_rows, n_rows)
                return
            place = {name: at for at, name in enumerate(self._names)}
            for batch in self._read([place[name] for name in names]):
                batch.validate(full=True)  # Arrow trusts the offsets it finds
                yield plain_table(pa.Table.from_batches([batch]), names)


def _rows_alone(total: int, n_rows: int) -> Iterator[Any]:
    """Yield tables of one empty column, where nothing but partitions is asked for."""
    pa = load_pyarrow()
    for start in range(0, total, n_rows):
        yield pa.table({"": pa.nulls(min(n_rows, total - start))})


def plain_schema(schema: Any) -> Any:
    """Return the schema that columns have as `plain_table` gives them."""
    pa = load_pyarrow()
    kinds = [plain_column(pa.chunked_array([], field.type)).type for field in schema]
    return pa.schema(list(zip(schema.names, kinds)))


def plain_table(table: Any, names: Sequence[str]) -> Any:
    """Return columns in this order, those of unusual types in the usual type of their values."""
    pa = load_pyarrow()
    return pa.table([plain_column(table.column(name)) for name in names], names=list(names))


def row_bytes(schema: Any) -> int:
    """Return about how many bytes a row takes in memory.

    Examples
    --------
    >>> import pyarrow as pa
    >>> row_bytes(pa.schema({"a": pa.float64(), "b": pa.int8()}))
    9
    """
    return sum(_width(field.type) for field in schema)


def _width(kind: Any) -> int:
    pa = load_pyarrow()
    if pa.types.is_dictionary(kind):
        return _width(kind.index_type)
    try:
        return max(1, kind.bit_width // 8)
    except ValueError:
        return _TEXT_BYTES
