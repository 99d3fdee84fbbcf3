"""pyarrow: how it is loaded, its types made plain, and its columns in NumPy terms."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import Labels, find_labels
from orthoselect.errors import InputError
from orthoselect.matrix.memory import is_out_of_memory, room_in_limits, use_one_heap

KNOWS_HALF = hasattr(nw, "Float16")  # an older narwhals does not
_FEW = 64  # values that are sooner had as objects than coded by pyarrow
_TEXT_BYTES = 24  # of a value of text, where nothing tells
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


# Columns in NumPy terms, at the cost of one copy


def arrow_numbers(table: Any, columns: Sequence[int], dtype: Any) -> NDArray:
    """Return columns of numbers as one array, column after column; nulls are NaN.

    Examples
    --------
    >>> import pyarrow as pa
    >>> arrow_numbers(pa.table({"a": [1.0, 2.0], "b": [3.0, None]}), [1, 0], np.float64)
    array([[ 3.,  1.],
           [nan,  2.]])
    """
    result = np.empty((table.num_rows, len(columns)), dtype, order="F")
    for k, column in enumerate(columns):
        start = 0
        for chunk in table.column(int(column)).chunks:
            result[start : start + len(chunk), k] = chunk.to_numpy(zero_copy_only=False)
            start += len(chunk)
    return result


def arrow_order(column: Any) -> list[Any] | None:
    """Return the categories of a column of ordered ones, else None."""
    if column.num_chunks and getattr(column.type, "ordered", False):
        return column.unify_dictionaries().chunk(0).dictionary.to_pylist()
    return None


def arrow_numbers_at(table: Any, columns: Sequence[int], rows: slice) -> NDArray:
    """Return every so many rows of columns of numbers as one array; nulls are NaN.

    Not `take`, which would put the chunks of every column together.

    Examples
    --------
    >>> import pyarrow as pa
    >>> parts = [pa.table({"a": [1.0, 2.0]}), pa.table({"a": [3.0, 4.0, None]})]
    >>> arrow_numbers_at(pa.concat_tables(parts), [0], slice(0, 5, 2)).tolist()
    [[1.0], [3.0], [nan]]
    """
    count = len(range(rows.start, rows.stop, rows.step))
    result = np.empty((count, len(columns)), order="F")
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


def arrow_labels(column: Any, what: str, order: Sequence[Any] | None) -> Labels | None:
    """Return the labels of a text column, without an object for each row.

    None for columns of other types, and for those with gaps, which are an error elsewhere.

    Examples
    --------
    >>> import pyarrow as pa
    >>> arrow_labels(pa.chunked_array([["b", "a"], ["b"]]), "a column", None)
    Labels(codes=array([1, 0, 1]), levels=('a', 'b'))
    """
    import pyarrow as pa

    if column.null_count or not len(column):
        return None
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        if len(column) <= _FEW:
            return find_labels(np.fromiter(column.to_pylist(), object, len(column)), what, order)
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
    values = [levels[at] for at in used]
    found = find_labels(np.fromiter(values, object, len(values)), what, order)
    places = np.zeros(len(dictionary), dtype=np.intp)
    places[used] = found.codes
    return Labels(places.take(indices), found.levels)
