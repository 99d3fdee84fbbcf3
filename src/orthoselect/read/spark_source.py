"""A Spark DataFrame, as a source of one pass: each partition is reduced by the worker that has it.

What a worker makes of a partition is small and comes here as bytes, one row of a Spark table that
`mapInArrow` returns; it is put together here, in the order of the partitions. Spark itself is
imported when such a table arrives, not before.
"""

from __future__ import annotations

import pickle
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from typing import Any, TypeVar

import numpy as np

from orthoselect.errors import InputError, ShapeError, listing
from orthoselect.matrix.base import Indices
from orthoselect.matrix.passes import naming
from orthoselect.matrix.rows import Rows
from orthoselect.read.frame_block import block_of
from orthoselect.read.looks import (
    LOOK,
    ColumnLook,
    Finding,
    look_on,
    look_whole,
    merge_looks,
    whole_looks,
)
from orthoselect.read.readings import Readings
from orthoselect.read.source import Source, open_block

Total = TypeVar("Total")
_FIRST_ROWS = 64
_RETURNED = "number int, failed boolean, result binary"  # one row for each partition


class SparkSource(Source):
    """A Spark DataFrame of which a few rows have been looked at.

    Its rows have no order that one could rely on, so nothing of N rows can be given beside it.
    """

    def __init__(self, frame: Any, memory: int | None = None) -> None:
        _check_frame(frame)
        self._frame, self.memory = frame, memory
        with naming_workers():
            rows = frame.limit(_FIRST_ROWS).toArrow()
        if not rows.num_rows:
            raise ShapeError("a Spark DataFrame should have rows to select from; it has none.")
        super().__init__(block_of(rows))
        self.n_rows = 0  # not known

    def columns_like(self, values: Any) -> list[int]:
        """Return none: there are no values beside this table."""
        return []

    def look(self, columns: Collection[int]) -> dict[int, Finding]:
        """Look at the first rows, then, in a pass, at all for what these left open."""
        looks = self._start_looks(columns, self.first)
        asked = sorted(looks)
        if not asked:
            return {}
        with naming_workers():
            first = block_of(self._columns(asked).limit(LOOK).toArrow())
        for k, look in enumerate(looks.values()):
            look_on(look, first, k)
        still_open = [c for c, look in looks.items() if look.is_open]
        if still_open and first.n_rows >= LOOK:
            start = partial(whole_looks, {c: self.names[c] for c in still_open}, True)
            at = np.array(still_open, dtype=np.intp)
            known: dict[int, ColumnLook] = self.over_blocks(
                start, look_whole, merge_looks, columns=at, along=[]
            )
            looks |= known
        return {c: look.finding() for c, look in looks.items()}

    def _columns(self, columns: Sequence[int]) -> Any:
        """Return the DataFrame with these columns only, under names that Spark never minds."""
        names = self.readings.names
        return self._frame.selectExpr(*(f"{_quoted(names[c])} AS c{c}" for c in columns))

    def read_as(self, readings: Readings) -> Source:
        """Read columns so from now on."""
        self.readings = readings
        if not readings.change_nothing:
            self.first, self.names = readings.read(self.first), readings.all_names
        return self

    def per_row(self, values: Any) -> Any:
        raise _needs_a_name("target", values)

    def weights_per_row(self, weights: Any) -> Rows:
        raise _needs_a_name("sample_weight", weights)

    def over_blocks(
        self,
        start: Callable[[], Total],
        add: Callable[..., None],
        merge: Callable[[Total, Total], Total],
        *,
        columns: Indices,
        along: Sequence[Rows | None],
    ) -> Total:
        """Make one pass; `along` holds nothing but None, one for each argument of `add`."""
        stored, every = self.readings.stored(columns), self.readings.names
        asked = range(len(every)) if stored is None else stored.tolist()
        names = [every[c] for c in asked]
        read = partial(self.readings.read, stored=stored, columns=columns)
        nothing = [None] * len(along)

        def work(batches: Iterator[Any]) -> Iterator[Any]:
            return _reduced(batches, names, read, start, add, nothing)

        with naming_workers():
            returned = self._columns(asked).mapInArrow(work, _RETURNED).collect()
        totals = []
        for row in sorted(returned, key=lambda row: row.number):
            result = pickle.loads(row.result)  # made by our own workers, a moment ago
            if row.failed:
                raise result
            totals.append(result)
        return reduce(merge, totals) if totals else start()


def _reduced(
    batches: Iterator[Any],
    names: Sequence[str],
    read: Callable[[Any], Any],
    start: Callable[[], Any],
    add: Callable[..., None],
    nothing: Sequence[None],
) -> Iterator[Any]:
    """Yield what is made of a partition, as one row; runs in a worker of Spark.

    An error about the input is returned too: Spark would make a long text of it.
    """
    import pyarrow as pa
    from pyspark import TaskContext

    context = TaskContext.get()
    number = 0 if context is None else context.partitionId()
    place, total, failed = f"partition {number}", start(), False
    n_rows = 0
    try:
        for batch in batches:
            if batch.num_rows:  # dtypes of nothing tell nothing
                n_rows += batch.num_rows
                rows = pa.Table.from_batches([batch]).rename_columns(names)
                block = open_block(rows, number, place, names)
                with naming(place), np.errstate(all="ignore"):
                    add(total, read(block), *nothing)
    except InputError as error:
        total, failed = error, True
    if n_rows:
        row = {"number": number, "failed": failed, "result": pickle.dumps(total)}
        kinds = [("number", pa.int32()), ("failed", pa.bool_()), ("result", pa.binary())]
        yield pa.RecordBatch.from_pylist([row], schema=pa.schema(kinds))


# What was given


def _check_frame(frame: Any) -> None:
    """Raise unless it is a DataFrame of Spark whose columns can be asked for by their names."""
    if not hasattr(frame, "mapInArrow"):
        remedy = "Call its `to_spark()`." if hasattr(frame, "to_spark") else "Pass the DataFrame."
        raise InputError(
            f"a table of Spark should be a `pyspark.sql.DataFrame`; got a {type(frame).__name__}. "
            f"{remedy}"
        )
    if getattr(frame, "isStreaming", False):
        raise InputError(
            "a Spark DataFrame should have an end; this one is a stream. In `foreachBatch` call "
            "`GramStatistics.of` for each batch, and add up what it returns."
        )
    # Spark does not tell names apart that differ only in their case.
    counts = Counter(str(name).lower() for name in frame.columns)
    twice = [name for name in frame.columns if counts[str(name).lower()] > 1]
    if twice:
        raise InputError(
            f"column names should be unique, whatever their case; {listing(twice)} are not. Rename "
            f"them with `withColumnsRenamed`."
        )


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _needs_a_name(argument: str, values: Any) -> InputError:
    return InputError(
        f"`{argument}` should be the name of a column of the Spark DataFrame, whose rows have no "
        f"fixed order; got a {type(values).__name__}. Add the values as a column by a join."
    )


@contextmanager
def naming_workers() -> Iterator[None]:
    """Let an error of Spark say what to do if it is for a library that the workers lack."""
    try:
        yield
    except Exception as error:
        lacking = re.search(r"ModuleNotFoundError: No module named '([\w.]+)'", str(error))
        if lacking is None:
            raise
        raise InputError(
            f"the workers of Spark should have orthoselect and all that it needs; they cannot "
            f"import `{lacking[1]}`. Install `orthoselect[spark]` where they run, or set "
            f"`PYSPARK_PYTHON` to a Python that has it."
        ) from error
