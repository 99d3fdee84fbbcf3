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
