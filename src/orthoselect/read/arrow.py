"""Parquet, Feather and Arrow files, by pyarrow."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import narwhals as nw
import numpy as np

from orthoselect.errors import InputError
from orthoselect.matrix.memory import is_out_of_memory, room_in_limits, use_one_heap
from orthoselect.read.content import Content
from orthoselect.read.dataset import Dataset

KNOWS_HALF = hasattr(nw, "Float16")  # an older narwhals does not
_FOR_A_THREAD = 1 << 29  # of the address space that is left; its stack and heap take less


def load_pyarrow(module: str = "pyarrow") -> Any:
    """Import pyarrow, or a module of it, or say how to get it."""
    is_new = "pyarrow" not in sys.modules and room_in_limits() is not None
    if is_new:
        # The allocator it has else would reserve a gigabyte ahead.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
        use_one_heap()
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        if is_out_of_memory(error):
            raise MemoryError from error
        raise InputError(
            "reading files needs pyarrow; install it with `pip install 'orthoselect[files]'`."
        ) from None
    if is_new:
        _use_few_threads(importlib.import_module("pyarrow"))
    return found


def _use_few_threads(pa: Any) -> None:
    """Leave address space to data: each thread takes some, and one that gets none is an abort."""
    most = max(1, (room_in_limits() or 0) // _FOR_A_THREAD)
    pa.set_cpu_count(min(most, pa.cpu_count()))
    pa.set_io_thread_count(min(most, pa.io_thread_count()))


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
