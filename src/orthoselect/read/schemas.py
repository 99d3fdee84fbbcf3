"""Columns of several files -> one table's: the same names, and types that hold all values.

Files need not have their columns in the same order. Types may differ where nothing is lost that a
selection could see: whole numbers of unlike widths, numbers with and without a fraction (which
meet in float64, as the columns of any table do), text and categories of text, and columns without
any value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from orthoselect.errors import InputError, listing
from orthoselect.read.arrow import load_pyarrow


def check_names(path: Path, names: Sequence[str]) -> None:
    """Raise where a file has two columns of one name."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(
            f"`{path}` should have a name of its own for each column; {listing(twice)} occurs more "
            f"than once. Rename the columns."
        )


def check_same_names(first: Path, names: Sequence[str], path: Path, found: Sequence[str]) -> None:
    """Raise unless a file has the columns that the first has."""
    for has, lacks, one, other in ((first, path, names, found), (path, first, found, names)):
        known = set(other)
        more = [name for name in one if name not in known]
        if more:
            raise InputError(
                f"all files should have the same columns; `{has}` has {listing(more)}, `{lacks}` "
                f"has not. Name the files that belong together, or write them alike."
            )


def joined_schema(paths: Sequence[Path], schemas: Sequence[Any]) -> Any:
    """Return the schema that holds the values of all files, in the order of the first.

    Examples
    --------
    >>> import pyarrow as pa
    >>> kinds = pa.int8(), pa.int32(), pa.float32()
    >>> schemas = [pa.schema({"a": kind}) for kind in kinds]
    >>> joined_schema([Path("1"), Path("2"), Path("3")], schemas).field("a").type
    DataType(double)
    """
    pa = load_pyarrow()
    return pa.schema([(name, _joined_type(name, paths, schemas)) for name in schemas[0].names])


def _joined_type(name: str, paths: Sequence[Path], schemas: Sequence[Any]) -> Any:
    kind, settled_by = schemas[0].field(name).type, paths[0]
    for path, schema in zip(paths[1:], schemas[1:]):
        other = schema.field(name).type
        if other == kind:
            continue
        both = _common(kind, other)
        if both is None:
            raise InputError(
                f"all files should hold the same kind of values in a column; `{name}` is {kind} in "
                f"`{settled_by}` and {other} in `{path}`. Convert it, or leave the column out of "
                f"the files."
            )
        if both != kind:
            kind, settled_by = both, path
    return kind


def _common(one: Any, other: Any) -> Any:
    """Return a type for the values of two, or None."""
    pa = load_pyarrow()
    types = pa.types
    for a, b in ((one, other), (other, one)):
        if types.is_null(a):
            return b
    if is_text(one) and is_text(other):
        return pa.large_string() if pa.large_string() in (one, other) else pa.string()
    if not all(types.is_integer(kind) or types.is_floating(kind) for kind in (one, other)):
        return None
    if types.is_floating(one) or types.is_floating(other):
        return pa.float64()
    return _common_integer(one, other)


def _common_integer(one: Any, other: Any) -> Any:
    pa = load_pyarrow()
    signed = [kind for kind in (one, other) if pa.types.is_signed_integer(kind)]
    unsigned = [kind for kind in (one, other) if kind not in signed]
    if not signed or not unsigned:
        return max(one, other, key=lambda kind: kind.bit_width)
    width = max(signed[0].bit_width, 2 * unsigned[0].bit_width)
    known = {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}
    return known.get(width)  # nothing holds uint64 and negative numbers


def is_text(kind: Any) -> bool:
    """Whether a type is text, or categories of text."""
    types = load_pyarrow().types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return types.is_string(kind) or types.is_large_string(kind)
