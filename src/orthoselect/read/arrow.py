"""pyarrow: plain types, columns in NumPy terms, and its files: Parquet, Arrow and Feather.

Files are not read by `pyarrow.dataset`: that unpacks row groups whole, reads no streams, and does
not say which file an error is in.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import Labels, find_labels
from orthoselect.errors import InputError
from orthoselect.matrix.memory import is_out_of_memory, room_in_limits, use_one_heap
from orthoselect.read.paths import Content, Part

KNOWS_HALF = hasattr(nw, "Float16")  # an older narwhals does not
_FEW = 64  # so few values are coded faster as Python objects than by pyarrow
_TEXT_BYTES = 24  # of a value of text, as a guess
_FOR_A_THREAD = 1 << 29  # of the address space that is left; its stack and heap take less
_BLOCKS_AT_ONCE = 4  # rows of a row group that is read whole, in blocks
_STREAMED = 1 << 18  # bytes of a column that are read at a time from a large row group


def load_pyarrow(module: str = "pyarrow") -> Any:
    """Import pyarrow, or a module of it, or say how to get it."""
    is_new = "pyarrow" not in sys.modules and room_in_limits() is not None
    if is_new:
        spare_memory()
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        if is_out_of_memory(error):
            raise MemoryError from error
        raise InputError(
            "reading files needs pyarrow; install it with `pip install 'orthoselect[files]'`."
        ) from None
    if is_new:
        # Leave address space to data: each thread takes some, and one that gets none is an abort.
        pa, most = sys.modules["pyarrow"], max(1, (room_in_limits() or 0) // _FOR_A_THREAD)
        pa.set_cpu_count(min(most, pa.cpu_count()))
        pa.set_io_thread_count(min(most, pa.io_thread_count()))
    return found


def spare_memory() -> None:
    """Have a pyarrow that is not imported yet take memory from the system, and give it back.

    The allocator it has else would reserve a gigabyte ahead, and keep what was in use for later.
    """
    if "pyarrow" not in sys.modules:
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
        use_one_heap()


def plain_column(column: Any) -> Any:
    """Give a column of an unusual type the usual type of the same values."""
    pa = load_pyarrow()
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        chunks = [chunk.storage for chunk in column.chunks]
        return plain_column(pa.chunked_array(chunks, kind.storage_type))
    if pa.types.is_run_end_encoded(kind):
        return plain_column(load_pyarrow("pyarrow.compute").run_end_decode(column))
    if str(kind) == "string_view":
        return column.cast(pa.string())
    if pa.types.is_decimal(kind):
        return column.cast(pa.float64())
    if pa.types.is_float16(kind) and not KNOWS_HALF:
        return cast_column(column, pa.float32())
    return column


def cast_column(column: Any, kind: Any) -> Any:
    """Return the values of a column in another type that holds them."""
    pa = load_pyarrow()
    if pa.types.is_float16(column.type):  # which not every pyarrow casts
        values = column.to_numpy().astype(np.float64)
        column = pa.chunked_array([pa.array(values, from_pandas=True)])
    return column.cast(kind)


def plain_schema(schema: Any) -> Any:
    """Return the schema that columns have as `plain_table` gives them."""
    pa = load_pyarrow()
    kinds = [plain_column(pa.chunked_array([], field.type)).type for field in schema]
    return pa.schema(list(zip(schema.names, kinds)))


def plain_table(table: Any, names: Sequence[str] | None = None) -> Any:
    """Return all columns, or these; those of unusual types in the usual type of their values."""
    columns = table.columns if names is None else [table.column(name) for name in names]
    names = table.column_names if names is None else list(names)
    return load_pyarrow().table([plain_column(column) for column in columns], names=names)


def row_bytes(schema: Any) -> int:
    """Return about how many bytes a row takes in memory."""
    is_dictionary, total = load_pyarrow().types.is_dictionary, 0
    for kind in schema.types:
        kind = kind.index_type if is_dictionary(kind) else kind
        try:
            total += max(1, kind.bit_width // 8)
        except ValueError:  # text and the like
            total += _TEXT_BYTES
    return total


# Columns in NumPy terms, at the cost of one copy


def arrow_numbers(
    table: Any, columns: Sequence[int], dtype: Any = np.float64, rows: slice | None = None
) -> NDArray:
    """Return columns of numbers as one array, column after column; nulls are NaN.

    If `rows` are given, only those of this step; not by `take`, which would put the chunks of
    every column together.

    Examples
    --------
    >>> import pyarrow as pa
    >>> arrow_numbers(pa.table({"a": [1.0, 2.0], "b": [3.0, None]}), [1, 0])
    array([[ 3.,  1.],
           [nan,  2.]])
    >>> parts = [pa.table({"a": [1.0, 2.0]}), pa.table({"a": [3.0, 4.0, None]})]
    >>> arrow_numbers(pa.concat_tables(parts), [0], rows=slice(0, 5, 2)).tolist()
    [[1.0], [3.0], [nan]]
    """
    rows = slice(0, table.num_rows, 1) if rows is None else rows
    count = len(range(rows.start, rows.stop, rows.step))
    result = np.empty((count, len(columns)), dtype, order="F")
    for k, column in enumerate(columns):
        done, start = 0, rows.start
        for chunk in table.column(column).chunks:
            if start < len(chunk):
                values = chunk.to_numpy(zero_copy_only=False)[start :: rows.step]
                result[done : done + len(values), k] = values
                done, start = done + len(values), start + len(values) * rows.step
            start -= len(chunk)
    return result


def bytes_of_arrow(table: Any) -> int:
    """Return about how many bytes the values of all columns take.

    Its own `nbytes` looks into the buffers of every column, which takes long where these are many.

    Examples
    --------
    >>> import pyarrow as pa
    >>> bytes_of_arrow(pa.table({"a": [1.5, 2.5], "b": pa.array([1, 2], pa.int8())}))
    18
    """
    total = 0
    for at, kind in enumerate(table.schema.types):
        try:
            total += -(-table.num_rows * kind.bit_width // 8)
        except ValueError:  # text and the like
            total += table.column(at).nbytes
    return total


def arrow_labels(column: Any, what: str) -> Labels | None:
    """Return the labels of a column of text or categories, without an object for each row.

    None for columns of other types, and for those with gaps, which are an error elsewhere.

    Examples
    --------
    >>> import pyarrow as pa
    >>> arrow_labels(pa.chunked_array([["b", "a"], ["b"]]), "a column")
    Labels(codes=array([1, 0, 1]), levels=('a', 'b'))
    """
    import pyarrow as pa

    if column.null_count or not len(column):
        return None
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        if len(column) <= _FEW:
            return find_labels(np.fromiter(column.to_pylist(), object, len(column)), what)
        column = column.dictionary_encode()
    elif not pa.types.is_dictionary(column.type):
        return None
    chunks = column.unify_dictionaries().chunks
    dictionary = chunks[0].dictionary
    if dictionary.null_count:
        return None
    indices = np.concatenate([chunk.indices.to_numpy() for chunk in chunks])
    used = np.flatnonzero(np.bincount(indices, minlength=len(dictionary)))
    levels = dictionary.to_pylist()  # not `take`, which not every type has
    order = levels if column.type.ordered else None
    values = [levels[at] for at in used]
    found = find_labels(np.fromiter(values, object, len(values)), what, order)
    places = np.zeros(len(dictionary), dtype=np.intp)
    places[used] = found.codes
    return Labels(places.take(indices), found.levels)


# Files


def read_arrow(content: Content, format: str) -> Any:
    """Read a Parquet file, an Arrow file or stream, or a Feather file, even of version 1."""
    pa, buffer = load_pyarrow(), content.buffer()
    reader = pa.BufferReader(buffer)
    if format == "parquet":
        return load_pyarrow("pyarrow.parquet").ParquetFile(reader).read()
    if content.kind() == "feather":
        table = load_pyarrow("pyarrow.feather").read_table(reader)
    else:
        ipc, is_file = load_pyarrow("pyarrow.ipc"), buffer[:6].to_pybytes() == b"ARROW1"
        table = (ipc.open_file if is_file else ipc.open_stream)(reader).read_all()
    table.validate(full=True)  # Arrow trusts the offsets it finds; a broken file would crash us
    return table


class ParquetPart(Part):
    """A Parquet file; of a large row group only some rows at a time are unpacked."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self.reading("parquet"), self._open() as file:
            self.schema = plain_schema(file.schema_arrow)
            self.names, self.n_rows = list(self.schema.names), file.metadata.num_rows
            groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
            stored = sum(group.total_byte_size for group in groups)
        self.nbytes = max(stored, self.n_rows * row_bytes(self.schema))

    def _open(self) -> Any:
        parquet = load_pyarrow("pyarrow.parquet")
        return parquet.ParquetFile(self.path, buffer_size=_STREAMED, pre_buffer=False)

    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        from_batches, names = load_pyarrow().Table.from_batches, list(names)
        release = load_pyarrow().default_memory_pool().release_unused  # else the pool keeps it
        with self.reading("parquet"), self._open() as file:
            for group in range(file.metadata.num_row_groups):
                if file.metadata.row_group(group).num_rows <= _BLOCKS_AT_ONCE * n_rows:
                    yield plain_table(file.read_row_group(group, columns=names), names)  # quicker
                    release()
                    continue
                for batch in file.iter_batches(n_rows, row_groups=[group], columns=names):
                    yield plain_table(from_batches([batch]), names)
                release()


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
            self.schema = plain_schema(self._open(None).schema)
            self.names = list(self.schema.names)
            self.n_rows = sum(batch.num_rows for batch in self._read([0][: len(self.names)]))
        self.nbytes = max(self.stored_bytes, self.n_rows * row_bytes(self.schema))

    def _open(self, fields: list[int] | None) -> Any:
        pa, ipc = load_pyarrow(), load_pyarrow("pyarrow.ipc")
        options = ipc.IpcReadOptions(included_fields=fields)
        # Not a memory map: a process may have less address space than the file is long.
        file = pa.OSFile(str(self.path))
        return (ipc.open_file if self._is_file else ipc.open_stream)(file, options=options)

    def _read(self, fields: list[int]) -> Iterator[Any]:
        reader = self._open(fields)
        if not self._is_file:
            yield from reader
            return
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number)

    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        from_batches = load_pyarrow().Table.from_batches
        place = {name: at for at, name in enumerate(self.names)}
        with self.reading("arrow"):
            for batch in self._read([place[name] for name in names]):
                batch.validate(full=True)  # Arrow trusts the offsets it finds
                yield plain_table(from_batches([batch]), names)
