"""A table that comes in blocks of rows, each an ordinary matrix with the same columns.

Every product is a sum over the blocks, or merges in another way, so that a block is read, worked
on and forgotten. Blocks need not be of one size, and there may be many thousands of them.

What gives the blocks is a function of the columns that will be asked for:

    blocks(J) -> iterator of Matrix

It is called once for each pass, and yields the same rows in the same order each time. J is None
for all columns; otherwise a hint, and a source that can read some columns alone may yield blocks
that answer `columns` and `block_gram` of those only (`ProjectedMatrix`). The response V (N, m)
and the row weights are cut where the rows are cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from orthoselect.errors import InputError
from orthoselect.matrix.base import Floats, Indices, Matrix, Scan
from orthoselect.matrix.memory import free_memory
from orthoselect.matrix.reading import Reading
from orthoselect.matrix.rows import Rows, cut
from orthoselect.matrix.sums import Sum, pairwise

Blocks = Callable[[Indices | None], Iterable[Matrix]]
Work = Callable[[slice, Matrix], Sequence[Floats]]  # rows of the table, the block of them


class BlockMatrix(Matrix):
    """A table in blocks of rows.

    Parameters
    ----------
    blocks : callable
        See above.
    n_rows : int
    template : Matrix
        A block without rows, of the same kind as all others.
    sample : array of shape (any number, n), optional
        A few rows to guess offsets from; without it they cost a pass of their own.
    reading : Reading, optional
        What counts the passes.
    memory : int, optional
        Bytes that products may take; by default half of what is free.
    """

    def __init__(
        self,
        blocks: Blocks,
        n_rows: int,
        template: Matrix,
        *,
        sample: Floats | None = None,
        reading: Reading | None = None,
        memory: int | None = None,
    ) -> None:
        self._blocks, self._template, self._sample = blocks, template, sample
        self.reading = Reading() if reading is None else reading
        self.memory = free_memory() // 2 if memory is None else memory
        self.shape = (n_rows, template.shape[1])
        self.precision = template.precision
        self.arithmetic = template.arithmetic
        self.has_gram = True
        self._moves: tuple[tuple[Floats, Floats], ...] = ()  # (shift, scale), one after the other
        self._movable: NDArray[np.bool_] | None = None  # columns that no block declines to shift

    def walk(self, J: Indices | None = None) -> Iterator[tuple[slice, Matrix]]:
        """Yield each block as it is presented, and which rows of the table it holds."""
        start, N = 0, self.shape[0]
        for block in self.reading.walk(self._blocks(J)):
            stop = start + block.shape[0]
            if stop > N:
                raise changed(N, f"at least {stop}")
            if stop > start:
                yield slice(start, stop), _present(block, self._moves)
            start = stop
        if start < N:
            raise changed(N, str(start))

    def total(self, work: Work, J: Indices | None = None) -> list[Floats]:
        """Add up what the work on each block gives."""
        totals: list[Sum] = []
        for rows, block in self.walk(J):
            parts = work(rows, block)
            if totals:
                for total, part in zip(totals, parts):
                    total.add(part)
            else:
                totals = [Sum(part) for part in parts]
        return [total.result() for total in totals]

    def stats(self) -> dict[str, int]:
        return {"passes": self.reading.passes, "bytes_read": self.reading.bytes}

    def columns(self, J: Indices) -> Floats:
        """Return the columns whole; they have to fit into memory."""
        return np.concatenate([block.columns(J) for _, block in self.walk(J)])

    def cross(self, Z: Rows) -> Floats:
        return self.total(lambda rows, block: [block.cross(Z[rows])])[0]

    def scan(self, V: Rows, root: Floats | None, *, gram: bool = False) -> Scan:
        movable = np.ones(self.shape[1], dtype=bool)

        def work(rows: slice, block: Matrix) -> list[Floats]:
            np.logical_and(movable, block.movable(), out=movable)
            take = _scan_with_gram if gram else _scan
            return take(block, V[rows], cut(root, rows))

        sums, squares, VtX, *whole = self.total(work)
        self._movable = movable
        return Scan(sums, squares, VtX, *whole)

    def gram(
        self, J: Indices, means: Floats, factors: Floats, root: Floats | None
    ) -> tuple[Floats, Floats]:
        ZtX, sums = self.total(lambda rows, b: b.gram(J, means, factors, cut(root, rows)))
        return ZtX, sums

    def block_gram(self, J: Indices, root: Floats | None, V: Rows | None = None) -> Floats:
        def work(rows: slice, block: Matrix) -> list[Floats]:
            return [block.block_gram(J, cut(root, rows), None if V is None else V[rows])]

        return self.total(work, J)[0]

    def block_grams(self, blocks: Sequence[Indices], root: Floats | None) -> list[Floats]:
        if not len(blocks):
            return []
        J = np.unique(np.concatenate(blocks)).astype(np.intp)
        return self.total(lambda rows, block: block.block_grams(blocks, cut(root, rows)), J)

    def rescaled(self, shift: Floats, scale: Floats) -> Matrix:
        shift = shift if self._movable is None else np.where(self._movable, shift, 0.0)
        moved = BlockMatrix(
            self._blocks,
            self.shape[0],
            self._template.rescaled(shift, scale),
            sample=None if self._sample is None else (self._sample - shift) * scale,
            reading=self.reading,
            memory=self.memory,
        )
        moved._moves = (*self._moves, (shift, scale))
        moved._movable = self._movable
        return moved

    def movable(self) -> NDArray[np.bool_]:
        if self._movable is not None:
            return self._movable
        return np.logical_and.reduce([block.movable() for _, block in self.walk()])

    def pilot(self, rows: Indices) -> Floats | None:
        if self._sample is not None:
            return self._sample
        parts = []
        for here, block in self.walk():
            mine = rows[(here.start <= rows) & (rows < here.stop)]
            parts.append(block.pilot(mine - here.start))
        known = [part for part in parts if part is not None]
        return np.concatenate(known) if known else None

    def extremes(self, J: Indices) -> tuple[Floats, Indices, Indices]:
        parts = (block.extremes(J) for _, block in self.walk(J))
        return pairwise(parts, lambda a, b: (np.maximum(a[0], b[0]), a[1] + b[1], a[2] + b[2]))

    def locate(self, J: Indices) -> dict[int, str]:
        """Say which block holds the first NaN or infinity of columns J."""
        found: dict[int, str] = {}
        for number, (rows, block) in enumerate(self.walk(J)):
            _, n_nan, n_inf = block.extremes(J)
            for j in J[(n_nan > 0) | (n_inf > 0)].tolist():
                found.setdefault(j, name_of_block(number, rows))
            if len(found) == len(J):
                break
        return found

    def constant(self, J: Indices) -> NDArray[np.bool_]:
        def work(block: Matrix) -> tuple[Floats, NDArray[np.bool_]]:
            A = block.columns(J)
            return A[0], (A[:1] == A).all(axis=0)

        parts = (work(block) for _, block in self.walk(J))
        _, same = pairwise(parts, lambda a, b: (a[0], a[1] & b[1] & (a[0] == b[0])))
        return same


class ProjectedMatrix(Matrix):
    """Some columns of a block, under the numbers that they have in the table.

    It answers `columns`, `block_gram` and what follows from them, for these columns; `cross` and
    `scan` need all.

    Parameters
    ----------
    part : Matrix
        The columns J, in that order.
    J : indices
    n : int
        How many columns the table has.
    """

    def __init__(self, part: Matrix, J: Indices, n: int) -> None:
        self._part, self._J = part, J
        self._place = np.full(n, -1, dtype=np.intp)
        self._place[J] = np.arange(len(J))
        self.shape = (part.shape[0], n)
        self.arithmetic = part.arithmetic
        self.precision = np.ones(n)
        self.precision[J] = part.precision

    @property
    def nbytes(self) -> int:
        return self._part.nbytes

    def columns(self, J: Indices) -> Floats:
        return self._part.columns(self._place[J])

    def columns_at(self, J: Indices, rows: slice) -> Floats:
        return self._part.columns_at(self._place[J], rows)

    def block_gram(self, J: Indices, root: Floats | None, V: Floats | None = None) -> Floats:
        return self._part.block_gram(self._place[J], root, V)

    def extremes(self, J: Indices) -> tuple[Floats, Indices, Indices]:
        return self._part.extremes(self._place[J])

    def rescaled(self, shift: Floats, scale: Floats) -> Matrix:
        part = self._part.rescaled(shift[self._J], scale[self._J])
        return ProjectedMatrix(part, self._J, self.shape[1])

    def cross(self, Z: Floats) -> Floats:
        raise NotImplementedError("a block of some columns has no products with all of them")

    def scan(self, V: Floats, root: Floats | None, *, gram: bool = False) -> Scan:
        raise NotImplementedError("a block of some columns has no products with all of them")


def name_of_block(number: int, rows: slice) -> str:
    """Return what to call a block in messages."""
    return f"block {number} (rows {rows.start} to {rows.stop - 1})"


def _present(block: Matrix, moves: Sequence[tuple[Floats, Floats]]) -> Matrix:
    for shift, scale in moves:
        block = block.rescaled(shift, scale)
    return block


def _scan(block: Matrix, V: Floats, root: Floats | None) -> list[Floats]:
    scan = block.scan(V, root)
    return [scan.sums, scan.squares, scan.VtX]


def _scan_with_gram(block: Matrix, V: Floats, root: Floats | None) -> list[Floats]:
    """Take all inner products of a block; a kind that has no quick way for it takes a slow one."""
    if block.has_gram:
        scan = block.scan(V, root, gram=True)
        assert scan.gram is not None
        return [scan.sums, scan.squares, scan.VtX, scan.gram]
    n = block.shape[1]
    products = block.block_gram(np.arange(n), root, V)
    return [products[n], products[:n].diagonal(), products[n + 1 :], products[:n]]


def changed(expected: int, got: str) -> InputError:
    """Return the error of a table that has another number of rows than before."""
    return InputError(
        f"a table that is read in blocks should stay the same from pass to pass; it was to have "
        f"{expected} rows, and has {got} now. Give every pass the same blocks, and write to no "
        f"file while it is read."
    )
