"""Files -> blocks of rows: many files as one table, read again for each pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from copy import copy
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from orthoselect.errors import InputError, listing
from orthoselect.lazy import lazy
from orthoselect.matrix.reading import ReadingProgress
from orthoselect.read.arrow import cast_column, load_pyarrow, row_bytes
from orthoselect.read.arrow_files import ArrowPart, ParquetPart
from orthoselect.read.dataset import TextOptions
from orthoselect.read.paths import (
    BLOCK_SUFFIXES,
    TOLD_SUFFIXES,
    FoundFile,
    Part,
    find_files,
    partition_values,
    split_suffix,
)
from orthoselect.read.text_files import TextPart

BLOCK_BYTES = 1 << 25  # small beside any memory, and large beside what a block costs by itself
_FEWEST_BYTES = 1 << 20
_SHARE_OF_MEMORY = 32  # a block, as a part of the memory: several are held, some of them twice


def block_bytes(memory: int | None) -> int:
    """Return how many bytes a block should have.

    Examples
    --------
    >>> block_bytes(None), block_bytes(2**28)
    (33554432, 8388608)
    """
    if memory is None:
        return BLOCK_BYTES
    return min(BLOCK_BYTES, max(_FEWEST_BYTES, memory // _SHARE_OF_MEMORY))


def check_block_rows(block_rows: Any) -> None:
    """Raise for what is no number of rows."""
    if block_rows is not None and (not isinstance(block_rows, Integral) or block_rows < 1):
        raise InputError(f"`block_rows` should be a whole number above 0; got {block_rows!r}.")


class FileBlocks:
    """Parquet, Arrow (Feather), CSV or TSV files as a table in blocks of rows.

    Parameters
    ----------
    source : str, Path, or list of these
        A file, a folder, a pattern like ``"logs/*.parquet"``, or files in the order given. Folders
        called ``key=value`` add a column `key`, unless the files have one.
    memory : int, optional
        Bytes that a selection may take.
    block_rows : int, optional
        Rows of a block; by default so many that a block has about 32 MB, or less where there is
        little memory.
    format : {"parquet", "arrow", "feather", "csv", "tsv"}, optional
        Goes before the suffixes.
    options : TextOptions, optional
        How CSV and TSV files are written.
    progress : callable, optional
        Called after each block with the number of the pass, from 1 on, and the bytes read so far.

    Attributes
    ----------
    names : list of str
        The columns of the first file, then those that folders add.
    format : {"parquet", "arrow", "csv", "tsv"}
    n_rows : int
    nbytes : int
        About how many bytes all values take in memory.
    is_watched : bool
        Whether a pass raises by itself if the rows are no longer what they were.

    Examples
    --------
    >>> import pyarrow as pa, pyarrow.parquet, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> for year in (2023, 2024):
    ...     part = Path(folder, f"year={year}")
    ...     part.mkdir()
    ...     pa.parquet.write_table(pa.table({"a": [1.5, 2.5]}), part / "0.parquet")
    >>> table = FileBlocks(folder)
    >>> table.names, table.n_rows
    (['a', 'year'], 4)
    >>> next(table.blocks([1])).to_pydict()
    {'year': [2023, 2023, 2024, 2024]}
    """

    is_watched = True

    def __init__(
        self,
        source: Any,
        *,
        memory: int | None = None,
        block_rows: int | None = None,
        format: str | None = None,
        options: TextOptions | None = None,
        progress: ReadingProgress | None = None,
    ) -> None:
        check_block_rows(block_rows)
        files = find_files(source)
        self.format = _format(files[0].path, format)
        self.parts = _parts(files, format, options)
        self._added = self._partitions(files)
        self.names: list[str] = [*self.parts[0].names, *self._added]
        self.memory, self.progress = memory, progress
        self._given_rows = block_rows

    def _partitions(self, files: Sequence[FoundFile]) -> dict[str, list[Any]]:
        """Return the values that folders add to each file."""
        own = set(self.parts[0].names)
        return {k: values for k, values in partition_values(files).items() if k not in own}

    @lazy
    def n_rows(self) -> int:
        """The number of rows of all files."""
        return sum(part.n_rows for part in self.parts)

    @property
    def nbytes(self) -> int:
        """About how many bytes all values take in memory."""
        return sum(part.nbytes for part in self.parts)

    @property
    def paths(self) -> list[Path]:
        """The files, in the order of their rows."""
        return [part.path for part in self.parts]

    @lazy
    def schema(self) -> Any:
        """Names and types of all columns."""
        pa = load_pyarrow()
        schema = joined_schema(self.paths, [part.schema for part in self.parts])
        for name, values in self._added.items():
            schema = schema.append(pa.field(name, _added_type(values)))
        return schema

    @lazy
    def block_rows(self) -> int:
        """Rows of a block, whatever columns it has: blocks are the same in every pass."""
        if self._given_rows is not None:
            return self._given_rows
        return max(1, block_bytes(self.memory) // max(1, row_bytes(self.schema)))

    def blocks(self, columns: Sequence[int] | None = None) -> Iterator[Any]:
        """Yield tables of some columns, or of all, in the order of files and rows."""
        names = self.names if columns is None else [self.names[c] for c in columns]
        yield from recut(self._pieces(names), self.block_rows)

    def _pieces(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield tables of these columns, each of one file, of any number of rows."""
        pa = load_pyarrow()
        own = [name for name in names if name not in self._added]
        for part in self.parts:
            part.check_unchanged()
        schema = pa.schema([self.schema.field(name) for name in names])
        for number, part in enumerate(self.parts):
            for table in part.batches(own, self.block_rows):
                yield self._completed(table, number, schema)
            part.check_unchanged()

    def _completed(self, table: Any, number: int, schema: Any) -> Any:
        """Return a table in the types of all files, with the columns that folders add."""
        pa = load_pyarrow()
        columns = []
        for field in schema:
            if field.name in self._added:
                value = self._added[field.name][number]
                columns.append(_repeated(value, field.type, table.num_rows))
            else:
                column = table.column(field.name)
                same = column.type == field.type
                columns.append(column if same else cast_column(column, field.type))
        return pa.table(columns, schema=schema)

    def split(self) -> list[FileBlocks]:
        """Return each file as a source of its own, in the types of all of them."""
        schema, height = self.schema, self.block_rows
        return [self._only(number, schema, height) for number in range(len(self.parts))]

    def _only(self, number: int, schema: Any, block_rows: int) -> FileBlocks:
        one = copy(self)
        vars(one).pop("n_rows", None)
        one.parts, one.progress = [self.parts[number]], None
        one._added = {name: [values[number]] for name, values in self._added.items()}
        one.schema, one.block_rows = schema, block_rows
        return one

    def where(self, rows: slice) -> str:
        r"""Return the files that hold these rows, for an error.

        Examples
        --------
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp(), "a.csv")
        >>> _ = file.write_text("a,b\n1,2\n3,4\n")
        >>> FileBlocks(file).where(slice(0, 2)) == f"`{file}`"
        True
        """
        ends = np.cumsum([part.n_rows for part in self.parts])
        first, last = np.searchsorted(ends, [rows.start, max(rows.start, rows.stop - 1)], "right")
        return listing(self.paths[first : last + 1])


def _parts(
    files: Sequence[FoundFile], format: str | None, options: TextOptions | None
) -> list[Part]:
    formats = [_format(file.path, format) for file in files]
    for file, found in zip(files, formats):
        if found != formats[0]:
            raise InputError(
                f"all files should be of one format; `{files[0].path}` is {formats[0]}, "
                f"`{file.path}` is {found}. Name files of one format, for example by a pattern."
            )
    several, options = len(files) > 1, options or TextOptions()
    if formats[0] not in ("csv", "tsv"):
        options.check_unused(f"`{files[0].path}` is read as {formats[0]}")
    parts = [_part(file.path, formats[0], options, several) for file in files]
    check_same_columns(parts)
    return parts


def _format(path: Path, given: str | None) -> str:
    if given is not None:
        return "arrow" if given == "feather" else given
    suffix = split_suffix(path)[0]
    if suffix not in BLOCK_SUFFIXES:
        raise InputError(
            f"`{path}` should end in one of {TOLD_SUFFIXES}, to be read with other files or in "
            f"blocks of rows."
        )
    return BLOCK_SUFFIXES[suffix]


def _part(path: Path, format: str, options: TextOptions, among_others: bool) -> Part:
    if format in ("csv", "tsv"):
        return TextPart(path, format, options, among_others=among_others)
    if format not in ("parquet", "arrow"):
        raise InputError(
            f"`{path}` should be Parquet, Arrow, Feather, CSV or TSV to be read with other files "
            f"or in blocks of rows; it is {format}."
        )
    return ParquetPart(path) if format == "parquet" else ArrowPart(path)


def check_same_columns(parts: Sequence[Part]) -> None:
    """Raise where a file has two columns of one name, or not the columns that the first has."""
    first, first_names = parts[0], set(parts[0].names)
    for part in parts:
        names = set(part.names)
        if len(names) < len(part.names):
            twice = [name for name, count in Counter(part.names).items() if count > 1]
            raise InputError(
                f"`{part.path}` should have a name of its own for each column; {listing(twice)} "
                f"occurs more than once. Rename the columns."
            )
        if names == first_names:
            continue
        missed = [name for name in first.names if name not in names]
        more = missed or [name for name in part.names if name not in first_names]
        has, lacks = (first, part) if missed else (part, first)
        raise InputError(
            f"all files should have the same columns; `{has.path}` has {listing(more)}, "
            f"`{lacks.path}` has not. Name the files that belong together, or write them alike."
        )


def _added_type(values: Sequence[Any]) -> Any:
    pa = load_pyarrow()
    whole = any(isinstance(value, int) for value in values)
    return pa.int64() if whole else pa.dictionary(pa.int32(), pa.string())


def _repeated(value: Any, kind: Any, n_rows: int) -> Any:
    """Return a column of one value; text as a category, which takes no room for each row."""
    pa = load_pyarrow()
    if value is None:
        return pa.nulls(n_rows, kind)
    if not pa.types.is_dictionary(kind):
        return pa.repeat(pa.scalar(value, kind), n_rows)
    codes = pa.array(np.zeros(n_rows, dtype=np.int32))
    return pa.DictionaryArray.from_arrays(codes, [value])


def recut(tables: Iterator[Any], n_rows: int) -> Iterator[Any]:
    """Yield the same rows in tables of so many rows, without a copy.

    Examples
    --------
    >>> import pyarrow as pa
    >>> parts = [pa.table({"a": range(size)}) for size in (1, 5, 2)]
    >>> [table.num_rows for table in recut(iter(parts), 3)]
    [3, 3, 2]
    """
    pa = load_pyarrow()
    held: list[Any] = []
    count = 0
    for table in tables:
        while count + table.num_rows >= n_rows:
            taken = n_rows - count
            yield pa.concat_tables([*held, table.slice(0, taken)])
            table, held, count = table.slice(taken), [], 0
        if table.num_rows:
            held.append(table)
            count += table.num_rows
    if held:
        yield pa.concat_tables(held)


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
