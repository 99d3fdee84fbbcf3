"""Parquet, Arrow and Feather files, whole or some rows at a time.

Not by `pyarrow.dataset`: that unpacks row groups whole, reads no streams, and tells of no file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from orthoselect.errors import InputError
from orthoselect.read.arrow import (
    load_pyarrow,
    plain_column,
    plain_schema,
    plain_table,
    row_bytes,
)
from orthoselect.read.dataset import Dataset
from orthoselect.read.paths import Content, Part

_BLOCKS_AT_ONCE = 4  # rows of a row group that is read whole, in blocks
_STREAMED = 1 << 18  # bytes of a column that are read at a time from a large row group


def read_parquet(content: Content, format: str) -> Dataset:
    """Read a Parquet file."""
    parquet = load_pyarrow("pyarrow.parquet")
    return table_dataset(parquet.ParquetFile(_reader(content)).read(), format)


def read_arrow(content: Content, format: str) -> Dataset:
    """Read an Arrow file or stream, which Feather files are too, or a Feather file of version 1."""
    ipc = load_pyarrow("pyarrow.ipc")
    if content.kind() == "feather":
        table = load_pyarrow("pyarrow.feather").read_table(_reader(content))
    else:
        with content.open() as file:
            is_file = file.read(6) == b"ARROW1"
        table = (ipc.open_file if is_file else ipc.open_stream)(_reader(content)).read_all()
    table.validate(full=True)  # Arrow trusts the offsets it finds; a broken file would crash us
    return table_dataset(table, format)


def _reader(content: Content) -> Any:
    return load_pyarrow().BufferReader(content.buffer())


def table_dataset(table: Any, format: str) -> Dataset:
    """Return a table of columns of plain types as a data set."""
    pa = load_pyarrow()
    try:
        columns = [plain_column(column) for column in table.columns]
    except pa.ArrowNotImplementedError as error:
        raise InputError(
            f"the table holds a type that needs a pyarrow newer than {pa.__version__}, which is "
            f"installed: {error}. Upgrade it, or write the table as Parquet."
        ) from error
    return Dataset(
        pa.table(columns, names=table.column_names), list(table.column_names), format=format
    )


class ParquetPart(Part):
    """A Parquet file; of a large row group only some rows at a time are unpacked."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self.reading("parquet"), self._open() as file:
            self.schema = plain_schema(file.schema_arrow)
            self.names = list(self.schema.names)
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
            self.schema = plain_schema(reader.schema)
            self.names = list(self.schema.names)
            self.n_rows = sum(batch.num_rows for batch in self._read([0][: len(self.names)]))
        self.nbytes = max(self.stored_bytes, self.n_rows * row_bytes(self.schema))

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
            place = {name: at for at, name in enumerate(self.names)}
            for batch in self._read([place[name] for name in names]):
                batch.validate(full=True)  # Arrow trusts the offsets it finds
                yield plain_table(pa.Table.from_batches([batch]), names)


def _rows_alone(total: int, n_rows: int) -> Iterator[Any]:
    """Yield tables of one empty column, where nothing but partitions is asked for."""
    pa = load_pyarrow()
    for start in range(0, total, n_rows):
        yield pa.table({"": pa.nulls(min(n_rows, total - start))})
