"""Tables that come in blocks of rows: looked at, surveyed in a first pass, read block by block.

A source of blocks is any object with

    names                 the names of the columns, or None for x0, x1, ...
    blocks(columns)       an iterator of blocks, the same rows in the same order at every call;
                          `columns` are the positions of the columns that a block is to have, in
                          this order, or None for all

and, if it likes,

    n_rows                the number of all rows, if it is known without a look
    memory                bytes that a selection may take beside the blocks
    progress              called with the number of the pass and the bytes read so far
    where(rows)           what to call the place of these rows in an error
    is_watched            True if it raises by itself where rows are no longer what they were; else
                          checksums are compared from pass to pass

A block is an array, a SciPy sparse matrix or a dataframe. `RowBlocks` makes a source of anything
that can be iterated over more than once.

What the columns are is told by the first rows of the first block that has any; all others have
to agree.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from numbers import Integral
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import NumberedNames
from orthoselect.errors import InputError, UnknownColumnError, listing
from orthoselect.matrix.checksums import ChecksumHistory
from orthoselect.matrix.memory import count_bytes
from orthoselect.matrix.passes import ReadingProgress
from orthoselect.read.arrow import bytes_of_arrow


class RowBlocks:
    """A table in blocks of rows that need not all be in memory.

    Parameters
    ----------
    blocks : iterable of blocks, or callable that returns one
        Blocks are arrays, SciPy sparse matrices or dataframes (pandas, polars, tables and batches
        of pyarrow), of any number of rows. It is iterated over several times, so wrap a generator
        in a function that makes a new one.
    names : sequence of str, optional
        Column names, where blocks have none.
    n_rows : int, optional
        The number of all rows. If it is given, and nothing else has to be found out first, one pass
        is saved.
    memory : int or str, optional
        Bytes, or text like "2GB", that a selection may take beside the blocks, of which there are
        at most four at a time; half of what is free by default.
    progress : callable, optional
        Called after each block with the number of the pass, from 1 on, and the bytes read so far.

    Examples
    --------
    >>> import numpy as np
    >>> from orthoselect import RowBlocks, select
    >>> rng = np.random.default_rng(0)
    >>> X, noise = rng.normal(size=(1000, 4)), rng.normal(size=1000)
    >>> table = np.column_stack([X, X[:, 2] - X[:, 1] + noise])
    >>> blocks = RowBlocks(lambda: (table[a : a + 100] for a in range(0, 1000, 100)))
    >>> path = select(blocks, "x4", 2)
    >>> path.features, path.stats["passes"]
    ([2, 1], 2)
    """

    def __init__(
        self,
        blocks: Iterable[Any] | Callable[[], Iterable[Any]],
        *,
        names: Sequence[str] | None = None,
        n_rows: int | None = None,
        memory: int | str | None = None,
        progress: ReadingProgress | None = None,
    ) -> None:
        if not callable(blocks):
            _check_blocks(blocks)
        is_whole = isinstance(n_rows, Integral) and not isinstance(n_rows, bool)
        if n_rows is not None and not (is_whole and n_rows >= 0):
            raise InputError(f"`n_rows` should be the number of all rows; got {n_rows!r}.")
        self._make = blocks if callable(blocks) else lambda: blocks
        # What the function returned at last, if it is alive.
        self._last: Callable[[], Any] = lambda: None
        self._first: Sequence[str] | None = None  # what the first block calls its columns
        self.names = names
        self.n_rows, self.progress = n_rows, progress
        self.memory = None if memory is None else count_bytes(memory)

    def blocks(self, columns: Sequence[int] | None = None) -> Iterator[Any]:
        """Yield the blocks, with some columns or with all."""
        for number, block in enumerate(self._made()):
            names = _names_of(block)
            self._first = names if self._first is None else self._first
            check_block_names(self._first, names, number)
            yield block if columns is None else part_of(block, slice(None), list(columns))

    def _made(self) -> Iterable[Any]:
        """Return the blocks of one more pass; a function has to make them anew."""
        blocks = self._make()
        if not _is_iterable(blocks):
            raise InputError(
                f"the function should return blocks, one after the other; it returned a "
                f"{type(blocks).__name__}. Let it yield the blocks, or return a list."
            )
        if isinstance(blocks, Iterator) and blocks is self._last():
            raise InputError(
                f"the function should return a new iterator at every call; it returned the "
                f"{type(blocks).__name__} of the last pass. Make it inside the function."
            )
        with suppress(TypeError):  # not all iterators can be referred to weakly
            self._last = weakref.ref(blocks)
        return blocks


def check_block_names(expected: Sequence[str], found: Sequence[str], number: int) -> None:
    """Raise unless a block has the columns expected; a block without names may call them x0."""
    if len(found) != len(expected):
        raise InputError(
            f"all blocks should have the same columns; block {number} has {len(found)}, where "
            f"{len(expected)} were expected: {listing(expected)}."
        )
    if isinstance(found, NumberedNames):
        return
    for a, b in zip(expected, found):
        if a != b:
            raise InputError(
                f"all blocks should have the same columns in the same order; block {number} has "
                f"`{b}` where `{a}` was expected."
            )


def _check_blocks(blocks: Any) -> None:
    """Raise unless blocks can be iterated over, more than once."""
    if isinstance(blocks, Iterator):
        raise InputError(
            f"`blocks` should be iterable more than once; got a {type(blocks).__name__}, which "
            f"is empty after one pass. Pass a list, or a function that returns a new one."
        )
    if not _is_iterable(blocks) or isinstance(blocks, (str, Path, Mapping)):
        raise InputError(
            f"`blocks` should be a list of blocks, or a function that returns one; got a "
            f"{type(blocks).__name__}."
        )
    if _is_frame(blocks) or getattr(blocks, "ndim", 3) < 3:
        raise InputError(
            f"`blocks` should be a list of blocks, or a function that returns one; got one table, "
            f"a {type(blocks).__name__}. Select from it as it is, or put it into a list."
        )


def _is_iterable(blocks: Any) -> bool:
    try:
        iter(blocks)  # what has `__getitem__` only is iterable, too
    except TypeError:
        return False
    return True


class SourceOf:
    """A source of blocks as it is, or with another bound on the memory beside the blocks."""

    def __init__(self, source: Any, memory: int | None = None) -> None:
        self.source = source
        self.names: Sequence[str] = source.names
        self.memory = getattr(source, "memory", None) if memory is None else memory
        self.progress: ReadingProgress | None = getattr(source, "progress", None)
        self.is_watched = getattr(source, "is_watched", False)

    @property
    def n_rows(self) -> int:
        """The number of rows, if the source knows."""
        return getattr(self.source, "n_rows", None)  # type: ignore[return-value]

    def blocks(self, columns: Sequence[int] | None = None) -> Iterator[Any]:
        """Yield the blocks, with some columns or with all."""
        yield from self.source.blocks(columns)

    def where(self, rows: slice) -> str | None:
        """Return where these rows are stored, for an error."""
        return stored_at(self.source, rows)

    def split(self) -> Sequence[Any]:
        """Return sources of the rows in order, each to be read elsewhere."""
        return self.source.split()


class OnDask(SourceOf):
    """A source of blocks that is to be worked on by Dask's workers, who can read it as well."""


class ColumnsOf(SourceOf):
    """Some columns of a source of blocks, whose `names` are given where it has none.

    The `history` is what has been read of these columns, for the same selection; it has to stay so.
    """

    def __init__(
        self,
        source: Any,
        columns: Sequence[int],
        names: Sequence[str] | None = None,
        history: ChecksumHistory | None = None,
    ) -> None:
        super().__init__(source)
        self.history = history
        self._columns = list(columns)
        self._all = source.names if names is None else names
        self.names = [self._all[at] for at in columns]

    def blocks(self, columns: Sequence[int] | None = None) -> Iterator[Any]:
        """Yield the blocks of some columns, or of all of these."""
        wanted = self._columns if columns is None else [self._columns[at] for at in columns]
        yield from self.source.blocks(wanted)

    def split(self) -> list[ColumnsOf]:
        """Return sources of the rows in order, each to be read elsewhere."""
        return [ColumnsOf(part, self._columns, self._all) for part in self.source.split()]


class RowsOf(SourceOf):
    """Some rows of a source of blocks: those where a boolean array is True."""

    def __init__(self, source: Any, rows: NDArray[np.bool_]) -> None:
        super().__init__(source)
        self._rows = rows

    @property
    def n_rows(self) -> int:
        """The number of these rows."""
        return int(self._rows.sum())

    def blocks(self, columns: Sequence[int] | None = None) -> Iterator[Any]:
        """Yield these rows of the blocks of some columns, or of all."""
        start = 0
        for block in self.source.blocks(columns):
            n_rows = block.shape[0] if hasattr(block, "shape") else len(block)
            rows = self._rows[start : start + n_rows]
            start += n_rows
            if rows.any():
                yield block if rows.all() else take_rows(block, rows)

    def where(self, rows: slice) -> str | None:
        """Return where these rows are stored, for an error."""
        stored = np.flatnonzero(self._rows)[[rows.start, max(rows.start, rows.stop - 1)]]
        return stored_at(self.source, slice(int(stored[0]), int(stored[1]) + 1))

    def split(self) -> list[RowsOf]:
        """Return sources of the rows in order, each to be read elsewhere."""
        parts = self.source.split()
        cuts = np.cumsum([part.n_rows for part in parts])[:-1]
        return [RowsOf(part, rows) for part, rows in zip(parts, np.split(self._rows, cuts))]


def take_rows(data: Any, rows: NDArray[np.bool_]) -> Any:
    """Return some rows of a table, or of a source of its blocks: the same kind of thing."""
    if isinstance(data, OnDask):
        return _on_dask_too(RowsOf(data.source, rows), data)
    if is_block_source(data):
        return RowsOf(data, rows)
    if nw.dependencies.is_pyarrow_table(data):
        return data.filter(sys.modules["pyarrow"].array(rows))
    if getattr(data, "format", None) in ("csr", "csc"):
        return data[np.flatnonzero(rows)]
    return part_of(data, np.flatnonzero(rows), slice(None))


def take_columns(data: Any, columns: Sequence[int]) -> Any:
    """Return some columns of a file's table, or of a source of its blocks, as the same kind."""
    if isinstance(data, OnDask):
        return _on_dask_too(ColumnsOf(data.source, columns), data)
    if is_block_source(data):
        return ColumnsOf(data, columns)
    # By position: before they are checked, two columns may have one name.
    is_arrow = nw.dependencies.is_pyarrow_table(data)
    return data.select(list(columns)) if is_arrow else data[:, list(columns)]


def _on_dask_too(part: SourceOf, whole: OnDask) -> OnDask:
    """Return a part of a source that Dask's workers are to read, which stays theirs."""
    there = OnDask(part)
    there.progress = whole.progress
    return there


def joined(blocks: Iterable[Any]) -> Any:
    """Return the rows of all blocks of a file as one array or pyarrow table."""
    parts = list(blocks)
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return sys.modules["pyarrow"].concat_tables(parts)


def as_asked(columns: NDArray[np.intp] | None, n: int) -> list[int] | None:
    """Return what to ask a source of n columns for: None for all of them in their own order."""
    if columns is None or np.array_equal(columns, np.arange(n)):
        return None
    return columns.tolist()


def stored_at(source: Any, rows: slice) -> str | None:
    """Return where rows of a source are stored, for an error; None if it does not say."""
    where = getattr(source, "where", None)
    return None if where is None else where(rows)


def _is_frame(block: Any) -> bool:
    return type(block) is not np.ndarray and nw.dependencies.is_into_dataframe(block)


def as_frame(block: Any) -> Any:
    """Return a batch of pyarrow as a table, anything else as it is."""
    pa = sys.modules.get("pyarrow")  # a batch cannot exist unless it is loaded
    return pa.table(block) if pa is not None and isinstance(block, pa.RecordBatch) else block


def _names_of(block: Any) -> Sequence[str]:
    block = as_frame(block)
    if _is_frame(block):
        return [str(name) for name in nw.from_native(block, eager_only=True).columns]
    shape = np.shape(block)
    return NumberedNames(shape[1] if len(shape) > 1 else 0)


def part_of(block: Any, rows: Any, columns: Any) -> Any:
    """Return some rows and columns of a block, by their positions."""
    block = as_frame(block)
    if _is_frame(block):
        return nw.from_native(block, eager_only=True)[rows, columns].to_native()
    block = block if hasattr(block, "shape") else np.asarray(block)
    block = block.tocsr() if hasattr(block, "tocsr") else block  # sparse formats that have no rows
    return block[rows][:, columns]


def split_frame(frame: Any, target: Any) -> tuple[list[str], Any, Any] | None:
    """Return which columns of a dataframe are the response, the others, and the response itself.

    None if it is no dataframe, or the response is no column of it.
    """
    if not _is_frame(frame):
        return None
    names = _names_of(frame)
    wanted = response_columns(target, names)
    is_values = not isinstance(target, str) and len(target) == frame.shape[0]  # one for each row
    if not wanted or is_values:
        return None
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise UnknownColumnError("y", unknown, names)
    at = [names.index(name) for name in wanted]
    rest = [c for c in range(len(names)) if c not in at]
    y = part_of(frame, slice(None), at)
    one = nw.from_native(y, eager_only=True)
    y = one.get_column(one.columns[0]).to_native() if len(at) == 1 else y
    return wanted, part_of(frame, slice(None), rest), y


def bytes_of(block: Any) -> int:
    """Return about how many bytes a block takes."""
    block = as_frame(block)
    if nw.dependencies.is_pandas_dataframe(block):
        return _bytes_of_pandas(block)
    if nw.dependencies.is_pyarrow_table(block):
        return bytes_of_arrow(block)
    if _is_frame(block):
        return int(nw.from_native(block, eager_only=True).estimated_size())
    if hasattr(block, "nbytes"):
        return int(block.nbytes)
    if isinstance(block, (list, tuple)):
        return 8 * sum(map(len, block))
    parts = (getattr(block, name, None) for name in ("data", "indices", "indptr", "row", "col"))
    return sum(getattr(part, "nbytes", 0) for part in parts)  # sparse, of one format or another


def _bytes_of_pandas(frame: Any) -> int:
    """Return the bytes of all columns; pandas takes milliseconds to say it of plain numbers."""
    plain = [isinstance(kind, np.dtype) and kind.kind != "O" for kind in frame.dtypes]
    total = len(frame) * sum(
        kind.itemsize for kind, is_plain in zip(frame.dtypes, plain) if is_plain
    )
    for c in np.flatnonzero(~np.array(plain, dtype=bool)).tolist():
        total += int(frame.iloc[:, c].memory_usage(index=False, deep=True))
    return int(total)


def is_path(data: Any) -> bool:
    """Whether data is a path, or a list or tuple of nothing but paths."""
    # A list of lists is a table; a list of strings could be none.
    items = data if isinstance(data, (list, tuple)) else [data]
    return len(items) > 0 and all(isinstance(item, (str, Path)) for item in items)


def is_block_source(data: Any) -> bool:
    """Whether data is a source of blocks; see above."""
    return callable(getattr(type(data), "blocks", None)) and hasattr(data, "names")


def is_dask(data: Any) -> bool:
    """Whether data is a Dask collection; Dask is not imported for it."""
    return type(data).__module__.split(".")[0] in ("dask", "dask_expr")


def is_spark(data: Any) -> bool:
    """Whether data is of Spark; Spark is not imported for it."""
    return type(data).__module__.split(".")[0] == "pyspark"


def gathered(values: Any) -> Any:
    """Return a Dask collection as what it holds, and anything else as it is."""
    return values.compute() if is_dask(values) else values


def response_columns(target: Any, names: Sequence[str]) -> list[str]:
    """Return the names of the columns that are the response; none where its values are given.

    A list of texts, each once, of which one at least is the name of a column, is taken for names:
    no classes are so.

    Examples
    --------
    >>> response_columns("a", ["a", "b"]), response_columns(["b", "a"], ["a", "b"])
    (['a'], ['b', 'a'])
    >>> response_columns(["yes", "no", "yes"], ["a", "b"])
    []
    """
    if isinstance(target, str):
        return [target]
    if not isinstance(target, (list, tuple)) or not all(isinstance(one, str) for one in target):
        return []
    distinct = set(target)
    is_names = len(distinct) == len(target) and not distinct.isdisjoint(names)
    return list(target) if is_names else []
