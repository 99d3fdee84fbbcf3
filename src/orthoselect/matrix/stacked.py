"""Matrices made of others: side by side, or one below the other, in blocks of rows.

Where a table comes in blocks of rows, each an ordinary matrix with the same columns, every product
is a sum over the blocks, or merges in another way, so that a block is read, worked on and
forgotten. Blocks need not be of one size, and there may be many thousands of them. The response
V (N, m) and the row weights go along, cut where the rows are cut (`passes.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import methodcaller
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import Floats, Indices, Matrix, Scan
from orthoselect.matrix.memory import free_memory
from orthoselect.matrix.passes import Columns, Passes, Prepare
from orthoselect.matrix.rows import Rows
from orthoselect.matrix.sparse import SparseMatrix

Part = TypeVar("Part")
Moves = tuple[tuple[Floats, Floats], ...]  # (shift, scale), one after the other
_MANY = 32  # columns that are too many to be written out
Project = Callable[[Indices | None], tuple[Columns, Prepare | None]]


class StackedMatrix(Matrix):
    """The columns of several matrices, at least one, with the same rows, one after the other."""

    def __init__(self, parts: Sequence[Matrix]) -> None:
        self._parts = list(parts)
        widths = [part.shape[1] for part in self._parts]
        self._edges = np.concatenate([[0], np.cumsum(widths)])
        self.shape = (self._parts[0].shape[0], int(self._edges[-1]))
        self.precision = np.concatenate([part.precision for part in self._parts])
        self.arithmetic = max(part.arithmetic for part in self._parts)

    @property
    def n_stored(self) -> int:
        return sum(part.n_stored for part in self._parts)

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self._parts)

    def every(self, step: int) -> Matrix | None:
        parts = [some for part in self._parts if (some := part.every(step)) is not None]
        return StackedMatrix(parts) if len(parts) == len(self._parts) else None

    def columns(self, J: Indices) -> Floats:
        return self._gather(J, self.shape[0], lambda part, at: part.columns(at))

    def columns_at(self, J: Indices, rows: slice) -> Floats:
        height = rows.stop - rows.start
        return self._gather(J, height, lambda part, at: part.columns_at(at, rows))

    def _gather(
        self, J: Indices, height: int, columns: Callable[[Matrix, Indices], Floats]
    ) -> Floats:
        J = np.asarray(J)
        result = np.empty((height, len(J)))
        owner = np.searchsorted(self._edges, J, side="right") - 1
        for k, part in enumerate(self._parts):
            mine = owner == k
            if mine.any():
                result[:, mine] = columns(part, J[mine] - self._edges[k])
        return result

    def cross(self, Z: Floats) -> Floats:
        return np.concatenate([part.cross(Z) for part in self._parts], axis=1)

    def levels_of(self, J: Indices) -> NDArray[np.int32]:
        owners = np.searchsorted(self._edges, J, side="right") - 1
        if (owners != owners[0]).any():
            return super().levels_of(J)
        return self._parts[int(owners[0])].levels_of(J - self._edges[owners[0]])

    def gram(
        self, J: Indices, means: Floats, factors: Floats, root: Floats | None
    ) -> tuple[Floats, Floats, Floats]:
        owners = np.searchsorted(self._edges, J, side="right") - 1
        part = self._parts[int(owners[0])]
        # Indicators of many levels: written out they would take more than the table itself.
        if len(J) < _MANY or not isinstance(part, SparseMatrix) or (owners != owners[0]).any():
            return super().gram(J, means, factors, root)
        Z = part.scaled_columns(J - self._edges[owners[0]], factors, root)
        ZtX = np.concatenate([each.cross_sparse(Z) for each in self._parts], axis=1)
        return ZtX, Z.sum(axis=0), np.zeros(len(J))

    def scan(self, V: Floats, root: Floats | None, *, gram: bool = False) -> Scan:
        scans = [part.scan(V, root) for part in self._parts]
        return Scan(
            np.concatenate([scan.sums for scan in scans]),
            np.concatenate([scan.squares for scan in scans]),
            np.concatenate([scan.VtX for scan in scans], axis=1),
        )

    def rescaled(self, shift: Floats, scale: Floats) -> Matrix:
        return StackedMatrix(
            [
                part.rescaled(shift[a:b], scale[a:b])
                for part, a, b in zip(self._parts, self._edges[:-1], self._edges[1:])
            ]
        )

    def movable(self) -> NDArray[np.bool_]:
        return np.concatenate([part.movable() for part in self._parts])

    def pilot(self, rows: Indices) -> Floats:
        samples = (part.pilot(rows) for part in self._parts)
        shapes = ((len(rows), part.shape[1]) for part in self._parts)
        known = (np.zeros(shape) if s is None else s for s, shape in zip(samples, shapes))
        return np.concatenate(list(known), axis=1)


def _as_they_come(J: Indices | None) -> tuple[Columns, Prepare | None]:
    return J, None


class BlockMatrix(Matrix):
    """A table in blocks of rows; `template` is one without rows, of the same kind as all others.

    Given columns J, or None for all, `project` returns what to ask the passes for, and what makes a
    matrix of a block. J is a hint: a source that can read some columns alone may give blocks that
    answer `columns` and `block_gram` of those only (`ProjectedMatrix`). Offsets are guessed from
    `sample`, a few rows; without it they cost a pass of their own. `memory` are the bytes that
    products may take, by default half of what is free.
    """

    def __init__(
        self,
        passes: Passes,
        template: Matrix,
        *,
        project: Project = _as_they_come,
        sample: Floats | None = None,
        memory: int | None = None,
    ) -> None:
        assert passes.n_rows is not None
        self._passes, self._project = passes, project
        self._template, self._sample = template, sample
        self.memory = free_memory() // 2 if memory is None else memory
        self.shape = (passes.n_rows, template.shape[1])
        self.precision = template.precision
        self.arithmetic = template.arithmetic
        self.has_gram = True
        self._moves: Moves = ()
        self._movable: NDArray[np.bool_] | None = None  # columns that no block declines to shift

    def _how(self, J: Indices | None, along: Sequence[Rows | None]) -> dict[str, Any]:
        """Return what passes are asked, besides the work."""
        columns, prepare = self._project(J)
        present = partial(_present, prepare, self._moves)
        return {"columns": columns, "prepare": present, "along": along}

    def total(
        self,
        work: Callable[..., Sequence[Floats]],
        J: Indices | None = None,
        along: Sequence[Rows | None] = (),
    ) -> list[Floats]:
        return self._passes.total(work, **self._how(J, along))

    def reduce(
        self,
        work: Callable[..., Part],
        merge: Callable[[Part, Part], Part],
        J: Indices | None = None,
        along: Sequence[Rows | None] = (),
    ) -> Part:
        return self._passes.reduce(work, merge, **self._how(J, along))

    def stats(self) -> dict[str, int]:
        return self._passes.reader.stats()

    def columns(self, J: Indices) -> Floats:
        """Return the columns whole; they have to fit into memory."""
        return np.concatenate(self._passes.each(methodcaller("columns", J), **self._how(J, ())))

    def cross(self, Z: Rows) -> Floats:
        return self.total(_cross, None, [Z])[0]

    def scan(self, V: Rows, root: Rows | None, *, gram: bool = False) -> Scan:
        sums, squares, VtX, fixed, *whole = self.total(partial(_scan, gram), None, [V, root])
        self._movable = fixed == 0
        return Scan(sums, squares, VtX, whole[0] if whole else None)

    def gram(
        self, J: Indices, means: Floats, factors: Floats, root: Rows | None
    ) -> tuple[Floats, Floats, Floats]:
        # The largest error is wanted; the sum over blocks is no less.
        ZtX, sums, errors2 = self.total(partial(_gram, J, means, factors), None, [root])
        return ZtX, sums, errors2

    def block_gram(self, J: Indices, root: Rows | None) -> Floats:
        return self.block_grams([J], root)[0]

    def block_grams(self, blocks: Sequence[Indices], root: Rows | None) -> list[Floats]:
        if not len(blocks):
            return []
        J = np.unique(np.concatenate(blocks)).astype(np.intp)
        return self.total(partial(_block_grams, blocks), J, [root])

    def rescaled(self, shift: Floats, scale: Floats) -> Matrix:
        shift = shift if self._movable is None else np.where(self._movable, shift, 0.0)
        moved = BlockMatrix(
            self._passes,
            self._template.rescaled(shift, scale),
            project=self._project,
            sample=None if self._sample is None else (self._sample - shift) * scale,
            memory=self.memory,
        )
        moved._moves = (*self._moves, (shift, scale))
        moved._movable = self._movable
        return moved

    def movable(self) -> NDArray[np.bool_]:
        if self._movable is not None:
            return self._movable
        return self.reduce(methodcaller("movable"), np.logical_and)

    def pilot(self, rows: Indices) -> Floats | None:
        if self._sample is not None:
            return self._sample
        picked = np.zeros(self.shape[0], dtype=bool)
        picked[rows] = True
        parts = self._passes.each(_pilot, **self._how(None, [picked]))
        known = [part for part in parts if part is not None]
        return np.concatenate(known) if known else None

    def extremes(self, J: Indices) -> tuple[Floats, Indices, Indices]:
        return self.reduce(methodcaller("extremes", J), _merge_extremes, J)

    def locate(self, J: Indices) -> dict[int, str]:
        """Say which block holds the first NaN or infinity of columns J."""
        found: dict[int, str] = {}
        start = 0
        odd = self._passes.each(partial(_odd, J), **self._how(J, ()))
        for number, (n_rows, is_odd) in enumerate(odd):
            place = self._passes.place(number, slice(start, start + n_rows))
            for j in J[is_odd].tolist():
                found.setdefault(j, place)
            start += n_rows
        return found

    def constant(self, J: Indices) -> NDArray[np.bool_]:
        return self.reduce(partial(_constant, J), _merge_constant, J)[1]


def _present(prepare: Prepare | None, moves: Moves, block: Any) -> Matrix:
    """Make a matrix of a block, and present it as all of them are."""
    matrix: Matrix = block if prepare is None else prepare(block)
    for shift, scale in moves:
        matrix = matrix.rescaled(shift, scale)
    return matrix


class ProjectedMatrix(Matrix):
    """Columns J of a block, in that order, under the numbers they have in a table of n columns.

    It answers `columns`, `block_gram` and what follows from them, for these columns; `cross` and
    `scan` need all.
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

    def block_gram(self, J: Indices, root: Floats | None) -> Floats:
        return self._part.block_gram(self._place[J], root)

    def extremes(self, J: Indices) -> tuple[Floats, Indices, Indices]:
        return self._part.extremes(self._place[J])

    def rescaled(self, shift: Floats, scale: Floats) -> Matrix:
        part = self._part.rescaled(shift[self._J], scale[self._J])
        return ProjectedMatrix(part, self._J, self.shape[1])

    def cross(self, Z: Floats) -> Floats:
        raise NotImplementedError("a block of some columns has no products with all of them")

    def scan(self, V: Floats, root: Floats | None, *, gram: bool = False) -> Scan:
        raise NotImplementedError("a block of some columns has no products with all of them")


# What passes do with a block


def _cross(block: Matrix, Z: Floats) -> list[Floats]:
    return [block.cross(Z)]


def _scan(gram: bool, block: Matrix, V: Floats, root: Floats | None) -> list[Floats]:
    """Take the first look at a block; and 1 for each column that declines a shift."""
    fixed = (~block.movable()).astype(np.float64)
    scan = block.scan(V, root, gram=gram and block.has_gram)
    found = [scan.sums, scan.squares, scan.VtX, fixed]
    if gram:
        all_of_them = np.arange(block.shape[1])
        found.append(block.block_gram(all_of_them, root) if scan.gram is None else scan.gram)
    return found


def _gram(
    J: Indices, means: Floats, factors: Floats, block: Matrix, root: Floats | None
) -> Sequence[Floats]:
    return block.gram(J, means, factors, root)


def _block_grams(blocks: Sequence[Indices], block: Matrix, root: Floats | None) -> list[Floats]:
    return block.block_grams(blocks, root)


def _pilot(block: Matrix, picked: NDArray[np.bool_]) -> Floats | None:
    return block.pilot(np.flatnonzero(picked))


def _merge_extremes(
    a: tuple[Floats, Indices, Indices], b: tuple[Floats, Indices, Indices]
) -> tuple[Floats, Indices, Indices]:
    return np.maximum(a[0], b[0]), a[1] + b[1], a[2] + b[2]


def _odd(J: Indices, block: Matrix) -> tuple[int, NDArray[np.bool_]]:
    _, n_nan, n_inf = block.extremes(J)
    return block.shape[0], (n_nan > 0) | (n_inf > 0)


def _constant(J: Indices, block: Matrix) -> tuple[Floats, NDArray[np.bool_]]:
    A = block.columns(J)
    return A[0], (A[:1] == A).all(axis=0)


def _merge_constant(
    a: tuple[Floats, NDArray[np.bool_]], b: tuple[Floats, NDArray[np.bool_]]
) -> tuple[Floats, NDArray[np.bool_]]:
    return a[0], a[1] & b[1] & (a[0] == b[0])
