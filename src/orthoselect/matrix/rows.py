"""Per-row data, such as the response and the weights, cut where the table is cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import Floats


class CodedRows:
    """An array of shape (N, m) whose rows are those of a small table, written out when asked for.

    A response basis of classes is such: rows of a class are alike, up to their weights. `codes`
    (N,) says which row of the table (c, m) each row is, `root` (N,) what it is multiplied with;
    `sizes` (c,) is how often each row of the table occurs, or the sum of root**2 there.

    >>> V = CodedRows(np.array([0, 1, 1], dtype=np.uint8), np.array([[2.0], [-1.0]]))
    >>> V.shape, V[1:3].tolist(), np.ones(3) @ V
    ((3, 1), [[-1.0], [-1.0]], array([0.]))
    """

    __array_ufunc__ = None  # so that NumPy leaves `root @ V` to this class

    def __init__(
        self,
        codes: NDArray,
        table: Floats,
        root: Floats | None = None,
        sizes: Floats | None = None,
    ) -> None:
        self.codes, self.table, self._root, self.sizes = codes, table, root, sizes
        self.shape = (len(codes), table.shape[1])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Floats:
        part = self.table.take(self.codes[rows], axis=0)
        return part if self._root is None else part * self._root[rows, None]

    def part(self, rows: slice) -> CodedRows:
        """Return some rows, not written out."""
        root = None if self._root is None else self._root[rows]
        return CodedRows(self.codes[rows], self.table, root)

    def __rmatmul__(self, weights: Floats) -> Floats:
        """Return the weighted sum of the rows, (m,)."""
        weights = weights if self._root is None else weights * self._root
        return np.bincount(self.codes, weights, minlength=len(self.table)) @ self.table


class MadeRows:
    """Rows that are made when they are asked for, and stay so when they are cut."""

    def part(self, rows: slice) -> Any:
        """Return some rows, not written out."""
        raise NotImplementedError


@dataclass(frozen=True)
class SpreadRows:
    """An array of N rows in pieces, each of which is made where the rows are.

    `handles` are what each piece is made from, one handle for each partition; only the passes,
    which write all rows out for ``[:]``, know what a handle is. Given what the handles of one
    partition stand for, `make` returns its rows.
    """

    handles: tuple[Sequence[Any], ...]
    make: Callable[..., Any]
    shape: tuple[int, ...]
    passes: Any = field(repr=False)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> NDArray:
        return self.passes.written_out(self)[rows]

    def then(self, work: Callable[..., Any], *others: SpreadRows, width: int) -> SpreadRows:
        """Return what work makes of these rows and of others, `width` columns."""
        inputs = [self, *others]
        counts = [len(each.handles) for each in inputs]
        handles = tuple(handle for each in inputs for handle in each.handles)
        make = partial(_work_on_made, work, [each.make for each in inputs], counts)
        return SpreadRows(handles, make, (self.shape[0], width), self.passes)


def _work_on_made(
    work: Callable[..., Any],
    makes: Sequence[Callable[..., Any]],
    counts: Sequence[int],
    *handles: Any,
) -> Any:
    """Make several rows, each from so many handles, and something of them."""
    given = iter(handles)
    return work(*(make(*islice(given, n)) for make, n in zip(makes, counts)))


@dataclass(frozen=True)
class SpreadWeights(SpreadRows):
    """Row weights where the rows are, and what is known of all of them."""

    total: float  # their sum
    n_live: int  # how many rows have any weight
    whole: bool  # whether all are whole numbers

    @staticmethod
    def of(rows: SpreadRows, total: float, n_live: int, *, whole: bool) -> SpreadWeights:
        """Return rows as weights."""
        return SpreadWeights(rows.handles, rows.make, rows.shape, rows.passes, total, n_live, whole)


# An array of shape (N, m), or CodedRows, or SpreadRows where the table comes in blocks: `shape`,
# and what `cut` or the passes make of it. Most matrices in memory take arrays only.
Rows = Any


def cut(along: Rows | None, rows: slice) -> Any:
    """Return the part of something of N rows that belongs to some rows; None stays None."""
    if isinstance(along, MadeRows):
        return along.part(rows)
    return None if along is None else along[rows]


def part(along: Rows, rows: slice) -> Rows:
    """Return some rows of something of N rows, not written out; ``[:]`` does."""
    return along.part(rows) if isinstance(along, (CodedRows, MadeRows)) else along[rows]


def total_weight(w: Rows | None, n_rows: int) -> float:
    """Return the sum of row weights: the number of rows, if they have none."""
    if w is None:
        return float(n_rows)
    return w.total if isinstance(w, SpreadWeights) else float(w.sum())


def live_rows(w: Rows | None, n_rows: int) -> int:
    """Return how many rows have any weight."""
    if w is None:
        return n_rows
    return w.n_live if isinstance(w, SpreadWeights) else int(np.count_nonzero(w))


def roots_of(w: Rows | None) -> Rows | None:
    """Return the square roots of row weights, where these are."""
    if w is None:
        return None
    return w.then(np.sqrt, width=1) if isinstance(w, SpreadRows) else np.sqrt(w)


def written_out(along: Rows | None) -> Floats | None:
    """Return something of N rows as an array, here; None stays None."""
    return None if along is None else along[:]


def offset_of(V: Rows, root: Floats | None) -> Floats:
    """Return the sum of the rows of a response basis, weighted by root: what rounding left of it.

    V was made orthogonal to root. Where it is spread, its rounding is not worth a pass.
    """
    if isinstance(V, SpreadRows):
        return np.zeros(V.shape[1])
    if isinstance(V, CodedRows) and V.sizes is not None:
        return V.sizes @ V.table
    return (np.ones(V.shape[0]) if root is None else root) @ V
