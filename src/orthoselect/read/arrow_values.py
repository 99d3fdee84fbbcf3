"""Columns of a pyarrow table in NumPy terms, at the cost of one copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import Labels, find_labels

_FEW = 64  # values that are sooner had as objects than coded by pyarrow


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
