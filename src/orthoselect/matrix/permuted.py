"""A response with its rows permuted many times, made some rows at a time.

What a permutation test compares with is the response in another order of the rows, B times. Written
out that would be N x B m numbers; here each of them follows from the number of its row, so that any
block of rows, wherever it is, has the same ones whoever asks.

Notation: V (N, m) the response basis; Z_b (N, m) one of B permutations of its rows, Z (N, B m) all
of them side by side; w row weights. An item is a row that counts, or one of the copies that a whole
weight stands for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.lazy import lazy
from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.rows import CodedRows, MadeRows, cut

_DRAWN = 1 << 20  # places that are drawn one by one; of more each follows from its row's number
_SHORT = 1 << 15  # so many items have products of places below 2**32
_ORDERED = 1 << 20  # items of which one random order is kept; of more it follows from a formula
_LOOKED_UP = 1 << 24  # items whose classes are written out
_CHUNK = 1 << 22  # numbers made at a time
_ROUNDS = 4
_MOST_CLASSES = 256
ALL = slice(None)


@dataclass(frozen=True)
class Shuffle:
    """Which item each item gets, in each of B permutations.

    Few items are permuted by permutations drawn one by one. Of many, place(i) = a t(i) + c modulo
    their number, where t is one random permutation, of very many known by a formula, and each b has
    its own a and c. With `strata` (count,), items get those of the same stratum: t is then a random
    order of each, and b shifts it by a number of its own.
    """

    count: int
    n_permutations: int
    seed: int
    strata: NDArray[np.integer] | None = None

    def __getstate__(self) -> dict[str, Any]:
        names = ("count", "n_permutations", "seed", "strata")
        return {name: getattr(self, name) for name in names}

    @property
    def is_drawn(self) -> bool:
        """Whether permutations are drawn one by one."""
        return self.count * self.n_permutations <= _DRAWN

    def sources(self, items: NDArray[np.integer], these: slice = ALL) -> NDArray[np.integer]:
        """Return the items that these items get, in some of the permutations, (items, B)."""
        if self.is_drawn:
            return self._drawn[these].take(items, axis=1).T
        if self.strata is None:
            a, c, keys = self._factors
            if self.count <= _ORDERED:
                t = self._order.take(items)
            else:
                t = scrambled(items.astype(np.uint64), self.count, keys)
            kind = np.uint32 if self.count <= _SHORT else np.uint64  # which divides sooner
            places = t.astype(kind) * a[these, None].astype(kind)
            places += c[these, None].astype(kind)
            # The remainder; NumPy divides by one number several at a time, and % it does not.
            places -= places // kind(self.count) * kind(self.count)
            return places.view(np.int32 if kind is np.uint32 else np.int64).T
        place, order, starts, sizes, keys = self._within
        g = self.strata[items]
        shifts = mixed(g.astype(np.uint64)[:, None] + keys[these])
        shifts %= sizes[g].astype(np.uint64)[:, None]
        at = (place[items][:, None] + shifts.astype(np.int64)) % sizes[g][:, None]
        return order[starts[g][:, None] + at]

    @lazy
    def _drawn(self) -> NDArray[np.int32]:
        """Return the items that all items get, (B, count)."""
        rng = np.random.default_rng(self.seed)
        drawn = np.empty((self.n_permutations, self.count), dtype=np.int32)
        if self.strata is None:
            every, order = np.arange(self.count), np.empty(self.count, dtype=np.int64)
            for line in drawn:
                order[:] = every
                rng.shuffle(order)
                line[:] = order
            return drawn
        order = np.argsort(self.strata, kind="stable")
        for line in drawn:
            line[order] = np.lexsort((rng.random(self.count), self.strata))
        return drawn

    @lazy
    def _order(self) -> NDArray[np.uint64]:
        """Return t of all items, if these are not too many to be kept."""
        return np.random.default_rng([self.seed, 1]).permutation(self.count).astype(np.uint64)

    @lazy
    def _factors(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]:
        """Return a and c of each permutation, and the keys of t."""
        rng = np.random.default_rng(self.seed)
        a: list[int] = []
        while len(a) < self.n_permutations:
            draw = int(rng.integers(1, max(self.count, 2)))
            if math.gcd(draw, self.count) == 1:
                a.append(draw)
        c = rng.integers(0, self.count, self.n_permutations)
        keys = rng.integers(0, 1 << 62, _ROUNDS).astype(np.uint64)
        return np.array(a, dtype=np.uint64), c.astype(np.uint64), keys

    @lazy
    def _within(self) -> tuple[Indices, Indices, Indices, Indices, NDArray[np.uint64]]:
        """Return places in one order of each stratum, another order, its cuts, and keys of b."""
        rng, strata = np.random.default_rng(self.seed), self.strata
        assert strata is not None
        sizes = np.bincount(strata)
        starts = np.cumsum(sizes) - sizes
        first, second = (np.lexsort((rng.random(self.count), strata)) for _ in range(2))
        place = np.empty(self.count, dtype=np.intp)
        place[first] = np.arange(self.count) - starts[strata[first]]
        keys = rng.integers(0, 1 << 62, self.n_permutations).astype(np.uint64)
        return place, second, starts, sizes, keys


def scrambled(
    numbers: NDArray[np.uint64], count: int, keys: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Return a permutation of the numbers below `count`, at these numbers.

    A Feistel network permutes all numbers of so many bits, an even count of them; a number that
    leaves the range goes through it again until it is back.

    >>> keys = np.array([3, 1, 4, 1], dtype=np.uint64)
    >>> sorted(scrambled(np.arange(11, dtype=np.uint64), 11, keys).tolist()) == list(range(11))
    True
    """
    half = np.uint64(max(1, -(-(count - 1).bit_length() // 2)))
    mask = np.uint64((1 << int(half)) - 1)
    result = numbers.copy()
    open_ = np.arange(len(numbers))
    while len(open_):
        left, right = result[open_] >> half, result[open_] & mask
        for key in keys:
            left, right = right, left ^ (mixed(right + key) & mask)
        result[open_] = (left << half) | right
        open_ = open_[result[open_] >= count]
    return result


def mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of each number (the finalizer of SplitMix64)."""
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@dataclass(frozen=True)
class Sources:
    """What items are given: rows of a table, (c, m), by their classes, or rows of values.

    Of classes alone the numbers of items in each, `sizes` (c,), will do: in a random order of all
    items it does not matter which of a class is which. Within strata it does, and then `codes`
    (count,) are the classes of the items. A sample of the rows, of which an item gets that of its
    number modulo `modulus`, may stand for all of them.
    """

    table: NDArray[np.float32]
    sizes: NDArray[np.int64] | None = None
    codes: NDArray[np.integer] | None = None
    modulus: int | None = None

    def __getitem__(self, items: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return what these items give, (*items.shape, m)."""
        places = self.places(items)
        if self.table.shape[1] == 1:
            return self.table[:, 0].take(places)[..., None]
        return self.table.take(places, axis=0)

    def places(self, items: NDArray[np.integer]) -> NDArray[np.integer]:
        """Return which rows of the table these items give."""
        if self.modulus is not None:
            return items % self.modulus
        if self.codes is not None:
            return self.codes.take(items)
        if self.sizes is None:
            return items
        if self._classes is not None:
            return self._classes.take(items)
        return np.searchsorted(np.cumsum(self.sizes), items, side="right")

    @property
    def are_classes(self) -> bool:
        """Whether the rows of the table are few, as those of classes are: hardly more than m."""
        given = self.sizes is not None or self.codes is not None
        c, m = self.table.shape
        return given and 1 < c <= min(2 * m + 1, _MOST_CLASSES)

    @lazy
    def _classes(self) -> NDArray[np.integer] | None:
        assert self.sizes is not None
        if self.sizes.sum() > _LOOKED_UP:
            return None
        kind = np.min_scalar_type(len(self.sizes))
        return np.repeat(np.arange(len(self.sizes), dtype=kind), self.sizes)


@dataclass(frozen=True)
class PermutedRows(MadeRows):
    """Z (N, B m), of some rows, each row multiplied with its weight; made when asked for.

    `rows` are the numbers of these rows; `items` (N,) those of their items, the first of each with
    `copies` (N,); -1 for rows that do not count. `weights` (N,) are those that are no copies.
    `items` is None where rows and items are the same. `these` are the permutations in question.
    """

    shuffle: Shuffle
    sources: Sources
    rows: range
    items: NDArray[np.int64] | None = None
    copies: NDArray[np.int64] | None = None
    weights: Floats | None = None
    these: range = range(0)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and columns of all permutations together."""
        return len(self.rows), len(self.these) * self.m

    @property
    def m(self) -> int:
        """Columns of one permutation."""
        return self.sources.table.shape[1]

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, rows: slice) -> PermutedRows:
        """Return some of the rows."""
        return replace(
            self,
            rows=self.rows[rows],
            items=cut(self.items, rows),
            copies=cut(self.copies, rows),
            weights=cut(self.weights, rows),
        )

    def __getitem__(self, rows: slice) -> NDArray[np.float32]:
        """Return the numbers of some rows, (rows, B m)."""
        here = self.part(rows)
        Z = here._values()  # (rows, B, m)
        if here.weights is not None:
            Z = Z * here.weights.astype(np.float32)[:, None, None]
        return Z.reshape(len(here), -1)

    def _values(self) -> NDArray[np.float32]:
        if self.items is None:
            return self._given(np.arange(self.rows.start, self.rows.stop))
        counts = self.items >= 0
        if counts.all() and self.copies is None:
            return self._given(self.items)
        Z = np.zeros((len(self), len(self.these), self.m), dtype=np.float32)
        live = self.items[counts]
        if self.copies is None or not len(live):
            Z[counts] = self._given(live)
            return Z
        Z[counts] = self._added_up(live, self.copies[counts])
        return Z

    @property
    def are_classes(self) -> bool:
        """Whether each row gets one of a few, whole: then `classes` says which."""
        return self.sources.are_classes and self.items is None

    def classes(self) -> NDArray[np.uint8]:
        """Return which row of the table each row gets in each permutation, (B, N)."""
        items = self._sources(np.arange(self.rows.start, self.rows.stop)).T
        return np.ascontiguousarray(self.sources.places(items), dtype=np.uint8)

    def _added_up(self, first: NDArray[np.int64], copies: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return what all copies of rows get, added up, few enough items at a time."""
        B = len(self.these)
        most = max(1, _CHUNK // (B * self.m))
        total = np.zeros((len(first), B, self.m))
        rows = np.repeat(np.arange(len(first)), copies)
        items = first[rows] + np.arange(len(rows)) - np.repeat(np.cumsum(copies) - copies, copies)
        for start in range(0, len(items), most):
            here = slice(start, start + most)
            some, places = np.unique(rows[here], return_index=True)
            total[some] += np.add.reduceat(self._given(items[here]), places, axis=0)
        return total.astype(np.float32)

    def _given(self, items: NDArray[np.integer]) -> NDArray[np.float32]:
        return self.sources[self._sources(items)]

    def _sources(self, items: NDArray[np.integer]) -> NDArray[np.integer]:
        return self.shuffle.sources(items, slice(self.these.start, self.these.stop))

    def by_columns(self) -> Iterator[tuple[slice, Floats]]:
        """Yield all rows of some permutations, in float64; and which columns these are."""
        B, m = len(self.these), self.m
        step = max(1, _CHUNK // max(len(self) * m, 1))
        for b in range(0, B, step):
            few = replace(self, these=self.these[b : b + step])
            yield slice(b * m, min(b + step, B) * m), few[:].astype(np.float64)

    def tiles(self, height: int) -> list[slice]:
        """Cut the rows into tiles of at most this height."""
        return [slice(a, min(a + height, len(self))) for a in range(0, len(self), height)]

    def chunks(self, width: int) -> list[slice]:
        """Cut the rows so that `width` numbers beside each take little memory."""
        return self.tiles(max(64, _CHUNK // max(width + self.shape[1], 1)))

    def scatter(self) -> Floats | None:
        """Return the inner products of the centered columns of each permutation, (B, m, m).

        None where they are those of V, as a matter of course: all items count alike.
        """
        if self.weights is None:
            return None
        return scatter_of(*self.moments())

    def moments(self) -> tuple[Floats, Floats, Floats]:
        """Return the weighted sums of all products, (B, m, m), of all columns, (B, m); the weight.

        The last is of shape (1,).
        """
        assert self.weights is not None
        B, m = len(self.these), self.m
        products, sums = np.zeros((B, m, m)), np.zeros((B, m))
        for rows in self.chunks(0):
            here = self.part(rows)
            A = here._values().astype(np.float64)
            Z = A * here.weights[:, None, None]  # type: ignore[index]
            products += np.einsum("ibj,ibk->bjk", Z, A)
            sums += Z.sum(axis=0)
        return products, sums, np.array([self.weights.sum()])


def scatter_of(products: Floats, sums: Floats, total: Floats) -> Floats:
    """Return inner products of centered columns, of those that are not, and their sums."""
    return products - sums[:, :, None] * sums[:, None, :] / total[0]


def permuted_rows(
    V: Any,
    weights: Floats | None,
    n_permutations: int,
    seed: int,
    strata: NDArray[np.integer] | None = None,
) -> PermutedRows:
    """Return permutations of the rows of V, an array or `CodedRows`, which are weighted by roots.

    Whole weights are numbers of copies. Others stay with their rows. Rows without weight take no
    part. With `strata` (N,), codes from 0 on, rows are permuted within equal ones.
    """
    N = V.shape[0]
    items, copies, rest = items_of(weights)
    live = np.arange(N) if weights is None else np.flatnonzero(weights > 0)
    each = live if copies is None else np.repeat(live, copies[live])
    strata = None if strata is None else _from_zero(strata[each])
    shuffle = Shuffle(len(each), n_permutations, seed, strata)
    if isinstance(V, CodedRows):
        table = V.table.astype(np.float32)
        codes = V.codes[each]
        if strata is None:
            sources = Sources(table, np.bincount(codes, minlength=len(table)))
        else:
            sources = Sources(table, codes=codes)
    else:
        values = V[:] if weights is None else V[live] / np.sqrt(weights[live])[:, None]
        at = None if copies is None else np.repeat(np.arange(len(live)), copies[live])
        sources = Sources(np.asarray(values, dtype=np.float32), codes=at)
    return PermutedRows(shuffle, sources, range(N), items, copies, rest, range(n_permutations))


def _from_zero(strata: NDArray[np.integer]) -> NDArray[np.integer]:
    return np.unique(strata, return_inverse=True)[1]


def items_of(
    weights: Floats | None, start: int = 0
) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None, Floats | None]:
    """Return the items, the copies and the other weights of rows, whose first item is `start`."""
    if weights is None:
        return None, None, None
    if are_copies(weights):
        copies = weights.astype(np.int64)
        return np.where(copies > 0, start + np.cumsum(copies) - copies, -1), copies, None
    live = weights > 0
    return np.where(live, start + np.cumsum(live) - 1, -1), None, weights


def are_copies(weights: Floats) -> bool:
    """Whether weights are numbers of copies."""
    return bool((weights == np.trunc(weights)).all())
