"""Dask arrays and dataframes: a pass is a graph of tasks, made where the partitions are.

Each partition is looked at, coded and worked on by one task; what the tasks give, small matrices
and counts, is merged by a tree of tasks, and only the last of it reaches the client. Nothing is
persisted. Dask itself is imported when such a table arrives, not before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from orthoselect.encode import NumberedNames
from orthoselect.errors import InputError, ShapeError
from orthoselect.matrix.passes import Columns, Passes, Prepare, changed, naming
from orthoselect.matrix.reading import Reading
from orthoselect.matrix.rows import Rows, part
from orthoselect.read.block_source import BlockSource, first_rows, open_block
from orthoselect.read.table import Source, source_of

Total = TypeVar("Total")
_FAN_IN = 8  # totals that one task merges


def is_dask(data: Any) -> bool:
    """Whether data is a Dask collection; Dask is not imported for it.

    Examples
    --------
    >>> is_dask([1, 2])
    False
    """
    return type(data).__module__.split(".")[0] in ("dask", "dask_expr")


def gathered(values: Any) -> Any:
    """Return a Dask collection as what it holds, and anything else as it is."""
    return values.compute() if is_dask(values) else values


class DaskTable:
    """A table of Dask: its columns, and its partitions of rows.

    Parameters
    ----------
    data : dask.array.Array or dask.dataframe.DataFrame

    Attributes
    ----------
    names : sequence of str
    sizes : list of int or None
        Rows of each partition; None as long as nobody knows.
    """

    def __init__(self, data: Any) -> None:
        self._data = data
        self._is_frame = hasattr(data, "columns")
        if not self._is_frame and getattr(data, "ndim", 0) != 2:
            raise ShapeError(
                f"a Dask table should be a DataFrame, or an Array of two dimensions; got "
                f"{_describe(data)}. Use `to_frame()`, or `reshape`."
            )
        self.names: Sequence[str] = self._names()
        self.sizes: list[int] | None = self._sizes()

    def _names(self) -> Sequence[str]:
        if not self._is_frame:
            return NumberedNames(self._data.shape[1])
        names = [str(name) for name in self._data.columns]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise InputError(
                f"columns should have names of their own; `{min(twice)}` occurs twice. Rename one."
            )
        return names

    def _sizes(self) -> list[int] | None:
        if self._is_frame or any(math.isnan(size) for size in self._data.chunks[0]):
            return None
        return [int(size) for size in self._data.chunks[0]]

    def partitions(self, columns: Sequence[int] | None) -> list[Any]:
        """Return a `Delayed` for each partition, with some columns or with all."""
        data = self._data
        if self._is_frame:
            labels = list(data.columns)
            data = data if columns is None else data[[labels[c] for c in columns]]
            return list(data.to_delayed())
        data = data if columns is None else data[:, list(columns)]
        return list(data.rechunk({1: -1}).to_delayed()[:, 0])


def _describe(data: Any) -> str:
    ndim = getattr(data, "ndim", None)
    return type(data).__name__ if ndim is None else f"{type(data).__name__} of {ndim} dimension(s)"


class DaskSource(BlockSource):
    """A Dask table that has been looked at, some rows of it only."""

    def _peek(self) -> Source:
        import dask

        look = dask.delayed(first_rows, pure=False)
        for partition in self._data.partitions(None):
            rows = look(partition).compute()
            if rows is not None:
                return source_of(rows)
        raise ShapeError("a Dask table should have rows to select from; it has none.")

    def _walker(self) -> Passes:
        return DaskPasses(self._data, self.names, Reading())


@dataclass(frozen=True)
class _Job:
    """What the tasks of a pass do; sent to each worker once."""

    names: Sequence[str]
    start: Callable[[], Any]
    add: Callable[..., None]
    merge: Callable[[Any, Any], Any]
    prepare: Prepare | None


@dataclass
class _Done:
    """What tasks have come to: the total, the bytes read, the rows of each partition."""

    total: Any
    nbytes: int = 0
    sizes: list[int] = field(default_factory=list)


class DaskPasses(Passes):
    """Walks over all partitions at once, by whichever scheduler Dask is set to.

    Parameters
    ----------
    table : DaskTable
    names : sequence of str
    reading : Reading
    """

    def __init__(self, table: DaskTable, names: Sequence[str], reading: Reading) -> None:
        self._table, self._names, self.reading = table, names, reading
        self._sizes = table.sizes
        self.n_rows = None if table.sizes is None else sum(table.sizes)

    def place(self, number: int, rows: slice) -> str:
        sizes = self._sizes or []
        filled = [k for k, size in enumerate(sizes) if size]
        return _place(filled[number])

    def run(
        self,
        start: Callable[[], Total],
        add: Callable[..., None],
        merge: Callable[[Total, Total], Total],
        *,
        columns: Columns = None,
        prepare: Prepare | None = None,
        along: Sequence[Rows | None] = (),
    ) -> Total:
        import dask

        asked = None if columns is None or len(columns) == len(self._names) else columns.tolist()
        names = self._names if asked is None else [self._names[c] for c in asked]
        partitions = self._table.partitions(asked)
        job = dask.delayed(_Job(names, start, add, merge, prepare), traverse=False)
        work, merge_some = dask.delayed(_work, pure=False), dask.delayed(_merge, pure=False)
        pieces = zip(*(self._pieces(each, len(partitions)) for each in along))
        done = [
            work(job, number, partition, *mine)
            for number, (partition, mine) in enumerate(
                zip(partitions, pieces if along else [()] * len(partitions))
            )
        ]
        while len(done) > 1:
            done = [merge_some(job, done[k : k + _FAN_IN]) for k in range(0, len(done), _FAN_IN)]
        return self._finish(_compute(done[0], partitions))

    def _pieces(self, along: Rows | None, count: int) -> Iterable[Any]:
        """Cut what has N rows where the partitions are cut."""
        if along is None:
            return [None] * count
        assert self._sizes is not None
        stops = np.cumsum(self._sizes).tolist()
        return [part(along, slice(b - size, b)) for size, b in zip(self._sizes, stops)]

    def _finish(self, done: _Done) -> Any:
        self.reading.count(done.nbytes)
        if self._sizes is None:
            self._sizes = done.sizes
        elif self._sizes != done.sizes:
            raise changed(sum(self._sizes), str(sum(done.sizes)))
        return done.total


def _work(job: _Job, number: int, partition: Any, *along: Any) -> _Done:
    """Do what is to be done with one partition; runs where it is."""
    place = _place(number)
    block = open_block(partition, number, place, job.names)
    done = _Done(job.start(), block.nbytes, [block.n_rows])
    if block.n_rows:  # dtypes of nothing tell nothing
        with naming(place), np.errstate(all="ignore"):
            prepared = block if job.prepare is None else job.prepare(block)
            job.add(done.total, prepared, *(None if each is None else each[:] for each in along))
    return done


def _merge(job: _Job, parts: Sequence[_Done]) -> _Done:
    first, *others = parts
    total = first.total
    for other in others:
        total = job.merge(total, other.total)
    nbytes = sum(part.nbytes for part in parts)
    return _Done(total, nbytes, [size for part in parts for size in part.sizes])


def _place(number: int) -> str:
    return f"partition {number}"


def _compute(result: Any, partitions: Sequence[Any]) -> _Done:
    """Return the result; a partition that cannot be had is an error that names it."""
    try:
        return result.compute()
    except InputError:
        raise
    except Exception as error:
        number = _failing(partitions)
        if number is None:
            raise
        raise InputError(
            f"every partition should be there to be read; {_place(number)} fails with "
            f"{type(error).__name__}: {error}"
        ) from error


def _failing(partitions: Sequence[Any]) -> int | None:
    """Return the first partition that cannot be had, if it is for that."""
    import dask

    size = dask.delayed(_size, pure=False)
    for number, partition in enumerate(partitions):
        try:
            size(partition).compute()
        except Exception:
            return number
    return None


def _size(partition: Any) -> int:
    return len(partition) if hasattr(partition, "__len__") else partition.shape[0]
