"""Files -> blocks of rows: many files as one table, read again for each pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from copy import copy
from numbers import Integral
from typing import Any

import numpy as np

from orthoselect.errors import InputError, listing
from orthoselect.lazy import lazy
from orthoselect.matrix.passes import ReadingProgress
from orthoselect.read.arrow import ArrowPart, ParquetPart, cast_column, load_pyarrow, row_bytes
from orthoselect.read.dataset import TextOptions, check_unused
from orthoselect.read.paths import (
    TOLD_SUFFIXES,
    FoundFile,
    Part,
    block_format,
    find_files,
    partition_values,
)
from orthoselect.read.text_files import TextPart

BLOCK_BYTES = 1 << 25  # small beside any memory, and large beside what a block costs by itself
_FEWEST_BYTES = 1 << 20
_SHARE_OF_MEMORY = 32  # a block, as a part of the memory: several are held, some of them twice


def block_bytes(memory: int | None) -> int:
    """Return how many bytes a block should have."""
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
    >>> from pathlib import Path
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
        self.format, self.parts = _open_parts(files, format, options or TextOptions())
        own = set(self.parts[0].names)
        # What folders add to each file.
        self._added = {k: values for k, values in partition_values(files).items() if k not in own}
        self.names: list[str] = [*self.parts[0].names, *self._added]
        self.memory, self.progress = memory, progress
        self._given_rows = block_rows

    @lazy
    def n_rows(self) -> int:
        """The number of rows of all files."""
        return sum(part.n_rows for part in self.parts)

    @property
    def nbytes(self) -> int:
        """About how many bytes all values take in memory."""
        return sum(part.nbytes for part in self.parts)

    @lazy
    def schema(self) -> Any:
        """Names and types of all columns, which hold the values of all files."""
        pa, kinds = load_pyarrow(), []
        for name in self.parts[0].names:
            kind, settled_by = self.parts[0].schema.field(name).type, self.parts[0].path
            for part in self.parts[1:]:
                other = part.schema.field(name).type
                both = kind if other == kind else _common(kind, other)
                if both is None:
                    raise InputError(
                        f"all files should hold the same kind of values in a column; `{name}` is "
                        f"{kind} in `{settled_by}` and {other} in `{part.path}`. Convert it, or "
                        f"leave the column out of the files."
                    )
                if both != kind:
                    kind, settled_by = both, part.path
            kinds.append((name, kind))
        for name, values in self._added.items():
            whole = any(isinstance(value, int) for value in values)
            kinds.append((name, pa.int64() if whole else pa.dictionary(pa.int32(), pa.string())))
        return pa.schema(kinds)

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
        pa, height = load_pyarrow(), self.block_rows
        own = [name for name in names if name not in self._added]
        for part in self.parts:
            part.check_unchanged()
        schema = pa.schema([self.schema.field(name) for name in names])
        for number, part in enumerate(self.parts):
            for table in part.batches(own, height) if own else _rows_alone(part.n_rows, height):
                columns = [self._column(table, field, number) for field in schema]
                yield pa.table(columns, schema=schema)
            part.check_unchanged()

    def _column(self, table: Any, field: Any, number: int) -> Any:
        """Return a column in the type of all files; what folders add has one value in a file."""
        if field.name not in self._added:
            column = table.column(field.name)
            return column if column.type == field.type else cast_column(column, field.type)
        pa, value, n_rows = load_pyarrow(), self._added[field.name][number], table.num_rows
        if value is None:
            return pa.nulls(n_rows, field.type)
        if isinstance(value, int):
            return pa.repeat(pa.scalar(value, field.type), n_rows)
        codes = pa.array(np.zeros(n_rows, dtype=np.int32))  # no room for the text in each row
        return pa.DictionaryArray.from_arrays(codes, [value])

    def split(self) -> list[FileBlocks]:
        """Return each file as a source of its own, in the types of all of them."""
        schema, height = self.schema, self.block_rows
        sources = [copy(self) for _ in self.parts]
        for number, one in enumerate(sources):
            vars(one).pop("n_rows", None)
            one.parts, one.progress = [self.parts[number]], None
            one._added = {name: [values[number]] for name, values in self._added.items()}
            one.schema, one.block_rows = schema, height
        return sources

    def where(self, rows: slice) -> str:
        """Return the files that hold these rows, for an error."""
        ends = np.cumsum([part.n_rows for part in self.parts])
        first, last = np.searchsorted(ends, [rows.start, max(rows.start, rows.stop - 1)], "right")
        return listing(part.path for part in self.parts[first : last + 1])


def _open_parts(
    files: Sequence[FoundFile], given: str | None, options: TextOptions
) -> tuple[str, list[Part]]:
    """Return the format that all files have, and the files as parts of a table."""
    paths = [file.path for file in files]
    first = block_format(paths[0], given)
    for path in paths:
        found = block_format(path, given)
        if found is None:
            raise InputError(
                f"`{path}` should end in one of {TOLD_SUFFIXES}, to be read with other files or in "
                f"blocks of rows."
            )
        if found != first:
            raise InputError(
                f"all files should be of one format; `{paths[0]}` is {first}, `{path}` is {found}. "
                f"Name files of one format, for example by a pattern."
            )
    format, parts = str(first), list[Part]()
    if format in ("csv", "tsv"):
        several = len(files) > 1
        parts += [TextPart(path, format, options, among_others=several) for path in paths]
    else:
        check_unused(options, f"`{paths[0]}` is read as {format}")
        if format not in ("parquet", "arrow"):
            raise InputError(
                f"`{paths[0]}` should be Parquet, Arrow, Feather, CSV or TSV to be read with other "
                f"files or in blocks of rows; it is {format}."
            )
        parts += [ParquetPart(p) if format == "parquet" else ArrowPart(p) for p in paths]
    check_same_columns(parts)
    return format, parts


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


def _rows_alone(total: int, n_rows: int) -> Iterator[Any]:
    """Yield tables of one empty column, where only columns that folders add are wanted."""
    pa = load_pyarrow()
    for start in range(0, total, n_rows):
        yield pa.table({"": pa.nulls(min(n_rows, total - start))})


def recut(tables: Iterator[Any], n_rows: int) -> Iterator[Any]:
    """Yield the same rows in tables of `n_rows` rows, without a copy.

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


def _common(one: Any, other: Any) -> Any:
    """Return a type for the values of two, or None."""
    pa, both = load_pyarrow(), (one, other)
    types = pa.types
    if types.is_null(one) or types.is_null(other):
        return other if types.is_null(one) else one
    values = [kind.value_type if types.is_dictionary(kind) else kind for kind in both]
    if all(types.is_string(kind) or types.is_large_string(kind) for kind in values):
        return pa.large_string() if pa.large_string() in both else pa.string()
    if not all(types.is_integer(kind) or types.is_floating(kind) for kind in both):
        return None
    if any(map(types.is_floating, both)):
        return pa.float64()
    common = np.promote_types(*(kind.to_pandas_dtype() for kind in both))
    # No integer holds uint64 and negative numbers; NumPy would take floating point.
    return pa.from_numpy_dtype(common) if common.kind in "iu" else None
