"""What a kind of storage has to answer, and what follows from it.

Notation: X is the table as the kind presents it, N rows by n columns; V (N, m) is the response
basis; Z is any array of N rows; J is a list of columns; root are square roots of row weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Part = TypeVar("Part")
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

EPS = float(np.finfo(np.float64).eps)
NO_COLUMNS: Indices = np.zeros(0, dtype=np.intp)
_BATCH_BYTES = 1 << 24
_MIN_ROWS = 1 << 10
# Sums in float32 should be short; they are added up in float64.
FLOAT32_ROWS = 512


def storage_precision(dtype: np.dtype, n: int) -> Floats:
    """Relative rounding of numbers stored as `dtype`, for n columns; integers are exact."""
    floating = np.issubdtype(dtype, np.floating)
    # One number for all: to fill an array of n takes as long as some of the first look.
    return np.broadcast_to(max(EPS, float(np.finfo(dtype).eps)) if floating else EPS, n)


class Filled(NamedTuple):
    """Columns that hold anything but zeros, in any order, none of them twice.

    `twins` are multiples of another column and have been left out; `of` are the places in `columns`
    of those others, which stand before their twins.
    """

    columns: Indices
    twins: Indices
    of: Indices


class Scan(NamedTuple):
    """What the first read of a table finds, in float64; rows weighted by root**2."""

    sums: Floats  # weighted sums of the columns, (n,)
    squares: Floats  # weighted sums of their squares, (n,)
    VtX: Floats  # products with root * V, (m, n)
    gram: Floats | None = None  # all inner products, (n, n), if asked for
    cut: Any = None  # a copy in bytes, if asked for: see byte_copy.py


class Matrix(ABC):
    """A table of numbers, known by a handful of products.

    A kind may present its columns shifted and scaled (`rescaled`): neither changes what is
    selected, both keep digits where means dwarf spreads or squares would overflow.
    """

    shape: tuple[int, int]  # rows and columns, (N, n)
    # Relative rounding of the stored numbers, (n,): float32 input is known to float32 only.
    precision: Floats
    arithmetic: float = EPS  # relative rounding of products; `columns` is always exact
    has_gram: bool = False  # whether `scan` can take all inner products in the same read
    has_copy: bool = False  # whether `scan_and_copy` may be called
    # Bytes that products may take, if the table itself is not in memory: reading it is dear, and
    # nothing of N rows and several columns can be kept. None for a table in memory.
    memory: int | None = None
    takes_coded: bool = False  # whether V may be `CodedRows`; else it has to be written out

    @property
    def n_stored(self) -> int:
        """How many numbers a read of the table touches."""
        return self.shape[0] * self.shape[1]

    @property
    def nbytes(self) -> int:
        """How many bytes the stored numbers take."""
        return 8 * self.n_stored

    @abstractmethod
    def columns(self, J: Indices) -> Floats:
        """Return the columns X[:, J] as a new array of shape (N, len(J))."""

    def every(self, step: int) -> Matrix | None:
        """Return a matrix of every `step`-th row; None if they would have to be read."""
        return None

    def columns_at(self, J: Indices, rows: slice) -> Floats:
        """Return some rows of the columns J as a new array."""
        return self.columns(J)[rows]

    def column_tiles(self, J: Indices) -> Iterator[tuple[slice, Floats]]:
        """Yield the columns J a few rows at a time, in little memory; and which rows."""
        height = max(_MIN_ROWS, _BATCH_BYTES // (8 * max(len(J), 1)))
        for start in range(0, self.shape[0], height):
            rows = slice(start, min(start + height, self.shape[0]))
            yield rows, self.columns_at(J, rows)

    @abstractmethod
    def cross(self, Z: Floats) -> Floats:
        """Return the products Z'X as a new array of shape (Z.shape[1], n)."""

    def cross_permuted(self, Z: Any, means: Floats, factors: Floats) -> Floats:
        """Return Z'(X - means) factors of `PermutedRows`, (B m, n), in one read of X if it is dear.

        A digit or two less than those of float32 will do.
        """
        total = np.empty((Z.shape[1], self.shape[1]))
        for columns, some in Z.by_columns():
            ZtX = self.cross(some)
            ZtX -= some.sum(axis=0)[:, None] * means
            ZtX *= factors
            total[columns] = ZtX
        return total

    @abstractmethod
    def scan(self, V: Floats, root: Floats | None, *, gram: bool = False) -> Scan:
        """Take the first look, in one read of X; `gram`, in float64, only where `has_gram`."""

    def scan_and_copy(self, V: Any, among: tuple[Floats, Floats] | None = None) -> Scan:
        """Take the first look and cut the columns into bytes, in one read; only if `has_copy`.

        `among` are centers and scales of the bytes, (n,) each; they are guessed without.
        """
        raise NotImplementedError("this kind has no copy in bytes")

    @abstractmethod
    def rescaled(self, shift: Floats, scale: Floats) -> Matrix:
        """Return the same kind presenting (X - shift) * scale; shift may be declined (sparse)."""

    def in_double(self) -> Matrix:
        """Return the same columns with products in float64, if the kind has a quick way to them."""
        return self

    def movable(self) -> NDArray[np.bool_]:
        """Return the columns for which `rescaled` does not decline a shift."""
        return np.ones(self.shape[1], dtype=bool)

    def filled(self, *, distinct: bool = False) -> Filled | None:
        """Return the columns that hold anything but zeros, if that is known without a look.

        With `distinct`, columns may be left out that are multiples of another one before them.
        """
        return None

    def restricted(self, J: Indices) -> Matrix | None:
        """Return the matrix of columns J alone if that takes no large copy, else None."""
        return None

    def gram(
        self, J: Indices, means: Floats, factors: Floats, root: Floats | None
    ) -> tuple[Floats, Floats, Floats]:
        """Return Z'X, (len(J), n), the sums of Z = root**2 * (X[:, J] - means) * factors, errors.

        The last are the squared usual errors of Z'X in roundings of `arithmetic`, for columns of
        norm one. Ignore them where that is float64's.
        """
        Z = self.columns(J)
        Z -= means
        Z *= factors
        w = None if root is None else root * root
        errors2 = np.zeros(len(J)) if self.arithmetic == EPS else squared_errors(Z, w)
        if w is not None:
            Z *= w[:, None]
        return self.cross(Z), Z.sum(axis=0), errors2

    def levels_of(self, J: Indices) -> NDArray[np.int32]:
        """Return which of columns J is not zero in each row, 1 for the first; 0 if none is, (N,).

        They are indicators of levels: in no row two of them are.
        """
        level = np.zeros(self.shape[0], dtype=np.int32)
        start = 0
        for part in self._batches(J):
            rows, places = np.nonzero(self.columns(part))
            level[rows] = 1 + start + places
            start += len(part)
        return level

    def cross_sparse(self, Z: Any) -> Floats:
        """Return Z'X of a sparse array Z by rows (CSR), (Z.shape[1], n)."""
        total = np.zeros((Z.shape[1], self.shape[1]))
        for rows, tile in self.column_tiles(np.arange(self.shape[1])):
            total += Z[rows].T @ tile
        return total

    def direction(
        self, j: int, means: Floats, factors: Floats, root: Floats | None, Qt: Floats, k: int
    ) -> tuple[Floats, Floats, float] | None:
        """Make an orthonormal direction q of column j, where there is a quick way; None if not.

        Row k of Qt is written, the k before it are what q is orthogonal to. Columns are those of
        root * (X - means) * factors. Returns their products q'X, (n,), what the rows before had of
        column j, (k,), and the norm of the rest.
        """
        return None

    def block_gram(self, J: Indices, root: Floats | None) -> Floats:
        """Return the exact inner products among columns J, rows weighted by root**2."""
        A = self.columns(J)
        if root is not None:
            A *= root[:, None]
        return A.T @ A

    def block_grams(self, blocks: Sequence[Indices], root: Floats | None) -> list[Floats]:
        """Return the exact inner products among the columns of each block."""
        return [self.block_gram(J, root) for J in blocks]

    def pilot(self, rows: Indices) -> Floats | None:
        """Return a few rows, (len(rows), n), to guess offsets from; None if none are likely."""
        return None

    def extremes(self, J: Indices) -> tuple[Floats, Indices, Indices]:
        """Return for columns J the largest magnitude, the count of NaN and of infinities."""
        answers = [_extremes(self.columns(part)) for part in self._batches(J)]
        peaks, n_nan, n_inf = (np.concatenate(kind) for kind in zip(*answers))
        return peaks, n_nan, n_inf

    def total(
        self,
        work: Callable[..., Sequence[Floats]],
        J: Indices | None = None,
        along: Sequence[Any] = (),
    ) -> list[Floats]:
        """Add up the arrays that ``work(block, *along)`` gives of each block of rows.

        What goes along has N rows, or is None. With J, only these columns matter.
        """
        return list(work(self, *along))

    def reduce(
        self,
        work: Callable[..., Part],
        merge: Callable[[Part, Part], Part],
        J: Indices | None = None,
        along: Sequence[Any] = (),
    ) -> Part:
        """Merge what ``work(block, *along)`` gives of each block of rows."""
        return work(self, *along)

    def stats(self) -> dict[str, int]:
        """Return what reading has taken so far, if the table is read."""
        return {}

    def locate(self, J: Indices) -> dict[int, str]:
        """Say where in the table columns J have their first NaN or infinity, if that helps."""
        return {}

    def constant(self, J: Indices) -> NDArray[np.bool_]:
        """Return which of columns J hold one value only."""
        batches = (self.columns(part) for part in self._batches(J))
        return np.concatenate([(A[:1] == A).all(axis=0) for A in batches])

    def _batches(self, J: Indices) -> list[Indices]:
        """Cut J so that the columns of one batch take little memory beside X."""
        width = max(1, _BATCH_BYTES // (8 * max(self.shape[0], 1)))
        return [J[start : start + width] for start in range(0, len(J), width)]


def squared_errors(Z: Floats, w: Floats | None) -> Floats:
    """Return the squared usual error of products with the columns of w * Z in float32, (b,).

    In roundings, for columns of norm one. A sum of r products z_i x_i, one after the other, is off
    by about sqrt(r) roundings of its size, at most |z| |x| for these rows. Errors of different
    runs of rows have nothing to do with each other, and the squares of all |x| add up to one, so
    the largest sqrt(r) |z| of a run bounds them: little, unless a column stands in few rows.
    """
    if not len(Z):
        return np.zeros(Z.shape[1])
    squares = Z * Z if w is None else Z * Z * w[:, None]
    starts = np.arange(0, len(Z), FLOAT32_ROWS)
    return FLOAT32_ROWS * np.add.reduceat(squares, starts, axis=0).max(axis=0)


def _extremes(A: Floats) -> tuple[Floats, Indices, Indices]:
    finite = np.isfinite(A)
    peaks = np.abs(np.where(finite, A, 0.0)).max(axis=0, initial=0.0)
    return peaks, np.isnan(A).sum(axis=0), np.isinf(A).sum(axis=0)
