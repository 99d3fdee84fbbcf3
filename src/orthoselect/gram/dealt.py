"""Rows dealt at random to blocks, of each of which statistics are kept, in one pass.

Unions of such blocks are random samples of the rows: what `stability` selects from, where the rows
themselves are too many to be read again and again.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from orthoselect.errors import InputError
from orthoselect.gram.intake import ReducedRows
from orthoselect.gram.layout import StatisticsLayout, by_appearance
from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.memory import say_bytes
from orthoselect.matrix.sums import Merging
from orthoselect.matrix.triangle import Triangle

MOST_BLOCKS = 64
FEWEST_BLOCKS = 16  # still 6435 ways to make two halves of them
_FEWEST_ROWS = 64  # that are reduced at a time


class Dealer:
    """Deals rows, as they come, to random blocks: each stratum as evenly as can be.

    Of every run of `n_blocks` rows of a stratum each block gets one, in random order. Which block a
    row goes to depends on its number within its stratum, however the table is cut. `salt` tells
    dealers apart that deal parts of one table.
    """

    def __init__(self, n_blocks: int, seed: int, salt: int = 0) -> None:
        self._n_blocks, self._key = n_blocks, (seed, salt)
        self._random: dict[int, np.random.Generator] = {}
        self._left: dict[int, Indices] = {}  # of the run that a stratum is in

    def deal(self, strata: NDArray) -> Indices:
        """Return the blocks of the next rows.

        Examples
        --------
        >>> sorted(Dealer(4, seed=0).deal(np.zeros(4, dtype=int)).tolist())
        [0, 1, 2, 3]
        """
        blocks = np.empty(len(strata), dtype=np.intp)
        for stratum in np.unique(strata).tolist():
            rows = np.flatnonzero(strata == stratum)
            blocks[rows] = self._next(stratum, len(rows))
        return blocks

    def _next(self, stratum: int, count: int) -> Indices:
        if stratum not in self._random:
            self._random[stratum] = np.random.default_rng([*self._key, stratum])
            self._left[stratum] = np.empty(0, dtype=np.intp)
        random, left = self._random[stratum], self._left[stratum]
        runs = -(-max(count - len(left), 0) // self._n_blocks)
        dealt = np.concatenate([left, *(random.permutation(self._n_blocks) for _ in range(runs))])
        self._left[stratum] = dealt[count:]
        return dealt[:count]


class DealtTriangles:
    """A triangle for each random block.

    Attributes
    ----------
    n_blocks : int
        A power of two.
    sizes, weights : arrays of shape (n_blocks,)
        How many rows each block has, and the sum of their weights.

    `_triangles[k]` and the rows in `_waiting[k]`, which are too few to be reduced, are together all
    rows of block k. Rows are dealt to `MOST_BLOCKS` blocks, of which neighbors are one if there is
    no room for so many: so every block is as random with fewer.
    """

    def __init__(self, seed: int, *, is_spread: bool) -> None:
        self.n_blocks = MOST_BLOCKS
        self.sizes = np.zeros(MOST_BLOCKS, dtype=np.intp)
        self.weights = np.zeros(MOST_BLOCKS)
        self._triangles: list[Triangle | None] = [None] * MOST_BLOCKS
        self._waiting: list[list[tuple[Floats, Floats | None]]] = [[] for _ in range(MOST_BLOCKS)]
        self._n_waiting = np.zeros(MOST_BLOCKS, dtype=np.intp)
        self._seed, self._is_spread = seed, is_spread
        self._dealer: Dealer | None = None

    def copy(self) -> DealtTriangles:
        """Return the same; either may grow by itself."""
        new = copy.copy(self)
        new.sizes, new.weights = self.sizes.copy(), self.weights.copy()
        new._triangles, new._n_waiting = list(self._triangles), self._n_waiting.copy()
        new._waiting = [list(rows) for rows in self._waiting]
        new._dealer = copy.deepcopy(self._dealer)
        return new

    def deal(self, A: Floats, weights: Floats | None, strata: NDArray) -> None:
        """Take rows; they may have more columns than those before, where these were zero."""
        if self._dealer is None:
            # Parts of a table that are elsewhere do not know which rows they are: their content
            # makes them differ.
            salt = crc32(np.ascontiguousarray(A[0]).tobytes()) if self._is_spread else 0
            self._dealer = Dealer(MOST_BLOCKS, self._seed, salt)
        blocks = self._dealer.deal(strata) // (MOST_BLOCKS // self.n_blocks)
        order = np.argsort(blocks, kind="stable")
        ends = np.cumsum(np.bincount(blocks, minlength=self.n_blocks))
        for k in np.unique(blocks).tolist():
            rows = order[ends[k - 1] if k else 0 : ends[k]]
            w = None if weights is None else weights[rows]
            self._waiting[k].append((A[rows], w))
            self._n_waiting[k] += len(rows)
            self.sizes[k] += len(rows)
            self.weights[k] += len(rows) if w is None else w.sum()
            if self._n_waiting[k] >= max(_FEWEST_ROWS, A.shape[1]):
                self._reduce(k, A.shape[1])

    def _reduce(self, k: int, p: int) -> None:
        """Let no rows of a block wait."""
        if not self._waiting[k]:
            return
        rows = [np.pad(A, ((0, 0), (0, p - A.shape[1]))) for A, _ in self._waiting[k]]
        weights = None
        if any(w is not None for _, w in self._waiting[k]):
            each = (np.ones(len(A)) if w is None else w for A, w in self._waiting[k])
            weights = np.concatenate(list(each))
        self._join(k, Triangle.of(np.concatenate(rows), weights))
        self._waiting[k], self._n_waiting[k] = [], 0

    def _join(self, k: int, triangle: Triangle) -> None:
        mine = self._triangles[k]
        self._triangles[k] = triangle if mine is None else mine.padded(triangle.p).merge(triangle)

    def flush(self, p: int) -> None:
        """Let no rows wait."""
        for k in range(self.n_blocks):
            self._reduce(k, p)

    def fold(self) -> None:
        """Let every two blocks be one."""
        p = max([t.p for t in self._triangles if t is not None], default=0)
        p = max([p, *(A.shape[1] for rows in self._waiting for A, _ in rows)])
        self.flush(p)
        triangles = [None if t is None else t.padded(p) for t in self._triangles]
        self.n_blocks //= 2
        self._triangles = [None] * self.n_blocks
        for k, triangle in enumerate(triangles):
            if triangle is not None:
                self._join(k // 2, triangle)
        self.sizes, self.weights = (
            each.reshape(-1, 2).sum(axis=1) for each in (self.sizes, self.weights)
        )
        self._waiting = [[] for _ in range(self.n_blocks)]
        self._n_waiting = np.zeros(self.n_blocks, dtype=np.intp)

    def take(self, other: DealtTriangles, p: int, change: Callable[[Triangle], Triangle]) -> None:
        """Take all rows of another, of p columns, block by block; each triangle is changed."""
        other = other.copy()
        other.flush(p)
        while other.n_blocks > self.n_blocks:
            other.fold()
        while self.n_blocks > other.n_blocks:
            self.fold()
        for k, triangle in enumerate(other._triangles):
            if triangle is not None:
                self._join(k, change(triangle.padded(p)))
        self.sizes += other.sizes
        self.weights += other.weights

    def whole(self, p: int) -> Triangle | None:
        """Return the triangle of all rows, None if there are none."""
        return self.union(range(self.n_blocks), p)

    def union(self, blocks: Sequence[int], p: int) -> Triangle | None:
        """Return the triangle of the rows of some blocks, None if there are none."""
        self.flush(p)
        found = Merging(Triangle.merge)
        for k in blocks:
            triangle = self._triangles[k]
            if triangle is not None:
                found.add(triangle.padded(p))
        return found.result() if found.stack else None


class DealtRows(ReducedRows):
    """What is kept of rows that are dealt at random to blocks, each class as evenly as can be.

    `is_spread` says that parts of the table are taken in at several places and merged then.
    """

    def __init__(self, settings: Mapping[str, Any], *, seed: int, is_spread: bool = False) -> None:
        super().__init__(settings)
        self._triangles = DealtTriangles(seed, is_spread=is_spread)

    @property
    def n_random(self) -> int:
        """How many random blocks there are."""
        return self._triangles.n_blocks

    @property
    def fewest_in_half(self) -> int:
        """How many rows half of the blocks have at least, whichever these are."""
        return int(np.sort(self._triangles.sizes)[: self.n_random // 2].sum())

    def _make_room(self, p: int, free: int) -> None:
        """Have fewer blocks if p columns of all do not fit into so many bytes."""
        super()._make_room(p, free)
        while 16 * self.n_random * p * p > free:
            if self.n_random == FEWEST_BLOCKS:
                raise InputError(
                    f"statistics of {FEWEST_BLOCKS} random blocks of {p} columns (features, levels "
                    f"and classes) take about {say_bytes(16 * FEWEST_BLOCKS * p * p)}, and "
                    f"{say_bytes(free)} may be taken. Set `memory` higher if there is more, name "
                    f"columns in `exclude`, or pass some of the rows in memory."
                )
            self._triangles.fold()

    def fold_to_rows(self) -> None:
        """Have fewer blocks if rows are few, so that blocks have two rows each, on average."""
        while self.n_rows < 2 * self.n_random:
            if self.n_random == FEWEST_BLOCKS:
                raise InputError(
                    f"a table in blocks should have at least {2 * FEWEST_BLOCKS} rows, two for "
                    f"each of {FEWEST_BLOCKS} random blocks; it has {self.n_rows}. Put the blocks "
                    f"together, and pass them in memory."
                )
            self._triangles.fold()

    def _keep(self, A: Floats, weights: Floats | None) -> None:
        assert self.layout is not None
        self._triangles.deal(A, weights, _strata(A, self.layout))

    def union(self, blocks: Sequence[int]) -> ReducedRows:
        """Return what is kept of the rows of some blocks."""
        layout = self.layout
        assert layout is not None
        triangle = self._triangles.union(blocks, len(layout.terms))
        if triangle is None:
            raise InputError("there should be rows in every half; there are too few.")
        counts = {
            "n_rows": int(self._triangles.sizes[list(blocks)].sum()),
            "weight": float(self._triangles.weights[list(blocks)].sum()),
            "n_blocks": 1,
            "height": 0,
        }
        return ReducedRows.of(self.settings, layout, triangle, counts)


def _strata(A: Floats, layout: StatisticsLayout) -> NDArray:
    """Return a number for the class of each coded row, of the first response that has any.

    It is made of the label: which class was seen first depends on how the table is cut.
    """
    for r, response in enumerate(layout.responses):
        if response.classes is not None:
            numbers = [crc32(str(level).encode()) for level in by_appearance(response.classes)]
            at = layout.places([("class", r, k) for k in range(len(numbers))])
            return np.array(numbers, dtype=np.int64)[A[:, at].argmax(axis=1)]
    return np.zeros(len(A), dtype=np.int64)
