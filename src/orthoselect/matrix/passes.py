"""Passes over a table that comes in blocks of rows: who walks over it, and where work is done.

What a pass does is told by three small functions, which may be sent to where the rows are:

    start() -> total                    a new running total, of nothing
    add(total, block, *along)           takes a block into it
    merge(total, total) -> total        puts two of them together, of rows that follow each other

`along` are things of one row for each row of the table (`rows.py`), cut where the table is cut. So
functions should carry little: no table, nothing of N rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from numpy.typing import NDArray

from orthoselect.errors import InputError, listing
from orthoselect.matrix.base import Floats
from orthoselect.matrix.reading import Reading
from orthoselect.matrix.rows import Rows, SpreadRows, cut
from orthoselect.matrix.sums import Merging, RunningSums

Total = TypeVar("Total")
Part = TypeVar("Part")
Columns = Any  # what a source takes for a choice of columns; None for all
Prepare = Callable[[Any], Any]  # a block as the source gives it -> as the work wants it


class Passes(ABC):
    """Walks over a table in blocks of rows.

    Attributes
    ----------
    n_rows : int or None
        Rows of all blocks; None as long as nobody knows.
    reading : Reading
        What counts the passes.
    """

    n_rows: int | None
    reading: Reading

    @abstractmethod
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
        """Make a pass; see above.

        Parameters
        ----------
        columns
            What the blocks are to have.
        prepare : callable, optional
            Makes of a block what `add` is given.
        """

    @abstractmethod
    def place(self, number: int, rows: slice) -> str:
        """Return what to call a block in messages, by its number among those with rows."""

    def total(self, work: Callable[..., Sequence[Floats]], **how: Any) -> list[Floats]:
        """Add up the arrays that ``work(block, *along)`` gives of each block."""
        sums = self.run(RunningSums, partial(_add_arrays, work), RunningSums.merge, **how)
        return sums.results()

    def reduce(
        self, work: Callable[..., Part], merge: Callable[[Part, Part], Part], **how: Any
    ) -> Part:
        """Merge what ``work(block, *along)`` gives of each block, neighbors first."""
        parts = self.run(
            partial(Merging, merge), partial(_add_part, work), Merging.followed_by, **how
        )
        return parts.result()

    def each(self, work: Callable[..., Part], **how: Any) -> list[Part]:
        """Return what ``work(block, *along)`` gives of each block, in order."""
        return self.run(list, partial(_append, work), _joined, **how)


class SpreadPasses(Passes):
    """Walks over a table whose rows are spread over several places, work going to them."""

    @abstractmethod
    def run_along(
        self,
        start: Callable[[], Total],
        add: Callable[..., None],
        merge: Callable[[Total, Total], Total],
        along: Sequence[Rows | None],
    ) -> Total:
        """Make a pass over things of N rows alone, without the table: ``add(total, *along)``."""

    @abstractmethod
    def written_out(self, rows: SpreadRows) -> NDArray:
        """Return all rows, here."""

    @abstractmethod
    def spread(self, rows: NDArray) -> SpreadRows:
        """Return rows that are here as spread ones."""

    @abstractmethod
    def kept(self, rows: SpreadRows) -> SpreadRows:
        """Return the same rows, made once and kept where they are."""


class LocalPasses(Passes):
    """Walks one block after the other, here.

    Parameters
    ----------
    blocks : callable
        Given columns, returns an iterable of the blocks, the same rows in the same order at each
        call. They tell their rows by `shape` or `n_rows`, once prepared.
    n_rows : int, optional
    reading : Reading, optional
    place : callable, optional
        Says what to call a block, by its number and rows.
    """

    def __init__(
        self,
        blocks: Callable[[Columns], Iterable[Any]],
        n_rows: int | None = None,
        reading: Reading | None = None,
        place: Callable[[int, slice], str] | None = None,
    ) -> None:
        self._blocks = blocks
        self._place = name_of_block if place is None else place
        self.n_rows = n_rows
        self.reading = Reading() if reading is None else reading

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
        total = start()
        with self.reading.walk(self._blocks(columns), prepare) as blocks:
            for number, rows, block in self._numbered(blocks):
                with naming(partial(self.place, number, rows)):
                    add(total, block, *(cut(each, rows) for each in along))
                del block  # before the next one is asked for
        return total

    def place(self, number: int, rows: slice) -> str:
        return self._place(number, rows)

    def _numbered(self, blocks: Iterable[Any]) -> Iterator[tuple[int, slice, Any]]:
        """Yield the number of each block that has rows, which of the table's they are, and it."""
        number = start = 0
        for block in blocks:
            stop = start + rows_of(block)
            if self.n_rows is not None and stop > self.n_rows:
                raise changed(self.n_rows, f"at least {stop}")
            if stop > start:
                yield number, slice(start, stop), block
                number += 1
            start = stop
            del block
        if self.n_rows is not None and start < self.n_rows:
            raise changed(self.n_rows, str(start))


def rows_of(block: Any) -> int:
    """Return how many rows a block has."""
    return int(block.shape[0]) if hasattr(block, "shape") else int(block.n_rows)


def name_of_block(number: int, rows: slice) -> str:
    """Return what to call a block in messages."""
    return f"block {number} (rows {rows.start} to {rows.stop - 1})"


@contextmanager
def naming(place: str | Callable[[], str]) -> Iterator[None]:
    """Let errors about the input say in which part of the table it was."""
    try:
        yield
    except InputError as error:
        raise error.at(place if isinstance(place, str) else place()) from None


def changed(expected: int, got: str) -> InputError:
    """Return the error of a table that has another number of rows than before."""
    return InputError(
        f"a table that is read in blocks should stay the same from pass to pass; it was to have "
        f"{expected} rows, and has {got} now. Give every pass the same blocks, and write to no "
        f"file while it is read."
    )


def altered(names: Sequence[str], place: str | None = None) -> InputError:
    """Return the error of columns that hold other values than before."""
    plural = len(names) > 1
    where = "" if place is None else f", in {place}"
    return InputError(
        f"a table that is read in blocks should stay the same from pass to pass; "
        f"{'columns' if plural else 'column'} {listing(names)} {'have' if plural else 'has'} other "
        f"values now than before, or the same in another order{where}. Give every pass the "
        f"same rows in the same order: start random numbers from a fixed seed, sort what a "
        f"database returns, and let nobody write meanwhile; or write the table to a file, or "
        f"persist it, and select from that."
    )


def _add_arrays(work: Callable[..., Sequence[Floats]], sums: RunningSums, *block: Any) -> None:
    sums.add(work(*block))


def _add_part(work: Callable[..., Part], parts: Merging[Part], *block: Any) -> None:
    parts.add(work(*block))


def _append(work: Callable[..., Part], parts: list[Part], *block: Any) -> None:
    parts.append(work(*block))


def _joined(a: list[Part], b: list[Part]) -> list[Part]:
    return [*a, *b]
