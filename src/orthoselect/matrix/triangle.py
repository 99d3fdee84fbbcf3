"""Rows reduced to a triangle with the same inner products, and triangles merged (TSQR).

`Triangle` is of all columns of a table, `Factor` of some columns and what is left of others.

Notation: A (N, p) the rows, the first column all ones; w (N,) row weights. A `Triangle` holds
shifts s and exponents e, (p,), and an upper triangular R (p, p) such that

    R'R = B'B    with B = sqrt(w) * (A - s) * 2**-e,    s[0] = e[0] = 0

Unlike the Gram matrix A'A itself R is made by orthogonal transformations alone (TSQR), so that
digits of nearly dependent columns survive. As the first column of B is sqrt(w), a change of shifts
changes the first row of R only; shifts are kept close to the means, so that no digits go into
offsets. Where a shift is rounded, as near the smallest floats, what it misses of the mean stays in
that row. Powers of two keep squares in range and round nothing. A column that holds one value only
is zero in R, exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtpmqrt, dtpqrt

from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.sums import Merging
from orthoselect.matrix.threads import single_threaded_blas

_PILOT_ROWS = 64
_PANEL = 32  # columns that LAPACK takes at a time
_TILE_ROWS = 512  # rows that LAPACK takes at a time, for the cache
_NARROW = 256  # so few columns are taken in narrow panels, and are no work for several threads
_LEAF_NUMBERS = 1 << 18
_LOWEST, _HIGHEST = -1000, 1000  # exponents; a column of zeros has the lowest


@dataclass(frozen=True)
class Triangle:
    """What is left of some rows.

    >>> A = np.array([[1.0, 3.0], [1.0, 5.0], [1.0, 7.0]])
    >>> whole = Triangle.of(A).merge(Triangle.of(A[:1]))
    >>> whole.means(), whole.gram()
    (array([1. , 4.5]), array([[ 4., 18.], [18., 92.]]))
    """

    R: Floats  # (p, p)
    shift: Floats  # (p,)
    exponents: NDArray[np.intp]  # (p,)

    @staticmethod
    def of(A: Floats, weights: Floats | None = None) -> Triangle:
        """Reduce rows, whose numbers are finite and whose weights are positive."""
        peaks = np.abs(A).max(axis=0, initial=0.0)
        exponents = np.clip(np.frexp(peaks)[1], _LOWEST, _HIGHEST).astype(np.intp)
        exponents[peaks == 0] = _LOWEST
        exponents[0] = 0
        B = A * np.ldexp(1.0, -exponents)
        # A typical value of each column, one that it has.
        rows = np.unique(np.linspace(0, len(B) - 1, _PILOT_ROWS).astype(np.intp))
        middle = np.sort(B[rows], axis=0)[len(rows) // 2]
        middle[0] = 0.0
        B -= middle
        if weights is not None:
            B *= np.sqrt(weights)[:, None]
        return Triangle(_reduce(B), np.ldexp(middle, exponents), exponents)._recentered()

    @property
    def p(self) -> int:
        """How many columns there are."""
        return len(self.shift)

    def merge(self, other: Triangle) -> Triangle:
        """Return the triangle of the rows of both, which have the same columns."""
        exponents = np.maximum(self.exponents, other.exponents)
        (R, s), (T, t) = (triangle._scaled(exponents) for triangle in (self, other))
        mine, theirs = float(R[0, 0]) ** 2, float(T[0, 0]) ** 2
        middle = _as_kept(s + theirs / (mine + theirs) * (t - s), exponents)
        R[0] += (s - middle) * R[0, 0]
        T[0] += (t - middle) * T[0, 0]
        R = _eliminate(R, T, triangular=True)
        return Triangle(R, np.ldexp(middle, exponents), exponents)._recentered()

    def padded(self, p: int) -> Triangle:
        """Return the same with columns of zeros behind, p in all."""
        more = p - self.p
        if not more:
            return self
        return Triangle(
            np.pad(self.R, (0, more)),
            np.pad(self.shift, (0, more)),
            np.pad(self.exponents, (0, more), constant_values=_LOWEST),
        )

    def reordered(self, places: Indices) -> Triangle:
        """Return the triangle of columns from these places, of zeros where that is -1.

        The first stays the first.
        """
        there, p = places >= 0, len(places)
        B, shift, exponents = np.zeros((self.p, p)), np.zeros(p), np.full(p, _LOWEST)
        B[:, there] = self.R[:, places[there]]
        shift[there], exponents[there] = self.shift[places[there]], self.exponents[places[there]]
        return Triangle(_reduce(B), shift, exponents)._recentered()

    def with_multiples(self, J: Indices, others: Indices, factors: Floats) -> Triangle:
        """Return the triangle of the same rows, where multiples of others are added to columns J.

        >>> whole = Triangle.of(np.array([[1.0, 3.0, 0.0], [1.0, 5.0, 1.0]]))
        >>> more = whole.with_multiples(np.array([1]), np.array([2]), np.array([10.0]))
        >>> more.means()
        array([1. , 9. , 0.5])
        """
        units = np.ldexp(factors, self.exponents[others] - self.exponents[J])
        B, shift = self.R.copy(), self.shift.copy()
        B[:, J] += units * B[:, others]
        shift[J] += factors * shift[others]
        return Triangle(_reduce(B), shift, self.exponents)._recentered()

    def table(self, J: Indices) -> tuple[Floats, Floats]:
        """Return rows and shifts with the means and mean products of columns J, for equal weights.

        The rows of Z (p, len(J)) + middle (len(J),) stand for all, in units of 2**exponents[J].
        """
        p, R = self.p, self.R[:, J]
        # A reflection that turns the first axis into (1, ..., 1)/sqrt(p): means become means.
        v = np.full(p, -1.0 / np.sqrt(p))
        v[0] += 1.0
        Z = R - np.outer(v, (2.0 / (v @ v)) * (v @ R))
        Z *= np.sqrt(p) / self.R[0, 0]
        return Z, np.ldexp(self.shift[J], -self.exponents[J])

    def means(self) -> Floats:
        """Return the weighted mean of each column, (p,)."""
        means = self.shift + np.ldexp(self.R[0] / self.R[0, 0], self.exponents)
        means[0] = 1.0
        return means

    def scatter(self) -> Floats:
        """Return the weighted inner products of the centered columns, (p, p)."""
        with np.errstate(over="ignore"):  # what no float can hold is infinite
            B = np.ldexp(self.R[1:], self.exponents)
            return B.T @ B

    def gram(self) -> Floats:
        """Return the weighted inner products of the columns, (p, p)."""
        with np.errstate(over="ignore"):
            B = np.ldexp(self.R, self.exponents)
            B[0] = self.means() * self.R[0, 0]
            return B.T @ B

    def _scaled(self, exponents: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Return R, and the shifts in its units, for larger exponents."""
        return (
            self.R * np.ldexp(1.0, np.maximum(self.exponents - exponents, -1074)),
            np.ldexp(self.shift, -exponents),
        )

    def _recentered(self) -> Triangle:
        """Return the same with the means as shifts, so that the first row is all but zero."""
        if not self.R[0, 0]:
            return self
        old = np.ldexp(self.shift, -self.exponents)
        new = _as_kept(old + self.R[0] / self.R[0, 0], self.exponents)
        new[0] = 0.0
        R = self.R.copy()
        R[0] -= (new - old) * R[0, 0]
        return replace(self, R=R, shift=np.ldexp(new, self.exponents))


class Triangles:
    """Rows as they come: few ones wait, many become a triangle, triangles merge pairwise.

    A tree of merges rounds as often as its height; one merge after the other would round as often
    as there are blocks. `stack` as for `Merging`.
    """

    def __init__(self, stack: Iterable[tuple[int, Triangle]] = ()) -> None:
        self._merged = Merging(_merge_widened, stack)
        self._waiting: list[tuple[Floats, Floats | None]] = []
        self._n_waiting = 0

    def copy(self) -> Triangles:
        """Return the same; either may grow by itself."""
        new = Triangles(self._merged.stack)
        new._waiting, new._n_waiting = list(self._waiting), self._n_waiting
        return new

    @property
    def height(self) -> int:
        """How often rows were merged, at most."""
        return max((height for height, _ in self._merged.stack), default=0)

    def add(self, A: Floats, weights: Floats | None) -> None:
        """Take rows; they may have more columns than those before, where these were zero."""
        self._waiting.append((A, weights))
        self._n_waiting += len(A)
        if self._n_waiting >= leaf_rows(A.shape[1]):
            self.flush(A.shape[1])

    def flush(self, p: int) -> None:
        """Let no rows wait."""
        if self._waiting:
            leaf = self._leaf(p)
            self._waiting, self._n_waiting = [], 0
            self.push(0, leaf)

    def push(self, height: int, triangle: Triangle) -> None:
        """Take a triangle, and the height of its tree."""
        self._merged.add(triangle, height)

    def take(self, other: Triangles, p: int, change: Callable[[Triangle], Triangle]) -> None:
        """Take all rows of another, of p columns, whose triangle is changed before."""
        whole = other.whole(p)
        assert whole is not None
        self.push(other.height, change(whole))

    def whole(self, p: int) -> Triangle | None:
        """Return the triangle of all rows, None if there are none."""
        parts = [(height, triangle.padded(p)) for height, triangle in self._merged.stack]
        if self._waiting:
            parts.append((0, self._leaf(p)))
        return Merging(Triangle.merge, parts).result() if parts else None

    def _leaf(self, p: int) -> Triangle:
        more = [p - A.shape[1] for A, _ in self._waiting]
        rows = [np.pad(A, ((0, 0), (0, n))) if n else A for n, (A, _) in zip(more, self._waiting)]
        weights = None
        if any(w is not None for _, w in self._waiting):
            weights = np.concatenate(
                [np.ones(len(A)) if w is None else w for A, w in self._waiting]
            )
        return Triangle.of(rows[0] if len(rows) == 1 else np.concatenate(rows), weights)


def _merge_widened(a: Triangle, b: Triangle) -> Triangle:
    """Merge two triangles, the second of which may have more columns."""
    return a.padded(b.p).merge(b)


def leaf_rows(p: int) -> int:
    """Return how many rows of p columns to reduce at a time."""
    return max(2 * p, _LEAF_NUMBERS // p)


def _as_kept(shift: Floats, exponents: NDArray[np.intp]) -> Floats:
    """Return shifts, in units of 2**exponents, as they will be once they are kept in units of 1.

    The smallest floats have few digits.
    """
    return np.ldexp(np.ldexp(shift, exponents), -exponents)


def _reduce(B: Floats) -> Floats:
    """Return the upper triangular R with R'R = B'B."""
    p = B.shape[1]
    R, height = np.zeros((p, p), order="F"), max(_TILE_ROWS, 2 * p)
    with single_threaded_blas() if p <= _NARROW else nullcontext():
        for start in range(0, len(B), height):
            R = _eliminate(R, B[start : start + height], triangular=False)
    return R


def _eliminate(R: Floats, B: Floats, *, triangular: bool) -> Floats:
    """Rotate the rows of R and B so that B becomes zero; return what becomes of R, in its place."""
    p = len(R)
    panel = min(p, 16 if p <= _NARROW else _PANEL)
    R, B = np.asfortranarray(R), np.array(B, order="F")
    below = p if triangular else 0  # rows of B that are triangular
    R, _, _, info = dtpqrt(below, panel, R, B, overwrite_a=1, overwrite_b=1)
    if info:
        raise AssertionError(f"LAPACK refused argument {-info} of a QR update")
    return R


@dataclass(frozen=True)
class Factor:
    """What is left of some rows of leading columns A (N, k), of others B (N, r), and of V (N, m).

    By orthogonal transformations of the rows [A B V] becomes

        R  H  K       R (k, k) triangular, H (k, r), K (k, m)
        0  W  U       W (N - k, r), U (N - k, m)

    with the same inner products: A'A = R'R, A'B = R'H, A'V = R'K, and W, U are what is left of B
    and V once A is projected out. Rows below never meet A again, so that of them only the squared
    norms of W and the products U'W are kept. Nothing is squared before it is small, unlike in A'A:
    digits of nearly dependent columns survive.

    Factors of two blocks merge into that of both, in any order, and so they can be made anywhere.
    """

    R: Floats
    H: Floats
    K: Floats
    squares: Floats  # squared norms of W, (r,)
    UtW: Floats  # (m, r)

    @staticmethod
    def of(A: Floats, B: Floats, V: Floats) -> Factor:
        """Reduce the rows of [A B V].

        >>> A, B, V = np.array([[3.0], [4.0]]), np.array([[0.0], [5.0]]), np.zeros((2, 0))
        >>> factor = Factor.of(A, B, V)
        >>> abs(factor.R), abs(factor.H), factor.squares
        (array([[5.]]), array([[4.]]), array([9.]))
        """
        k, others = A.shape[1], np.concatenate([B, V], axis=1)
        nothing = np.zeros((k, k)), np.zeros((k, others.shape[1]))
        R, top, rest = _eliminate_beside(nothing[0], A, nothing[1], others, triangular=False)
        return _with_rest(R, top, rest, B.shape[1])

    def merge(self, other: Factor) -> Factor:
        """Return the factor of both blocks of rows."""
        mine, theirs = (np.concatenate([f.H, f.K], axis=1) for f in (self, other))
        R, top, rest = _eliminate_beside(self.R, other.R, mine, theirs, triangular=True)
        new = _with_rest(R, top, rest, self.H.shape[1])
        return Factor(
            R,
            new.H,
            new.K,
            self.squares + other.squares + new.squares,
            self.UtW + other.UtW + new.UtW,
        )


def _with_rest(R: Floats, top: Floats, rest: Floats, r: int) -> Factor:
    W, U = rest[:, :r], rest[:, r:]
    return Factor(R, top[:, :r], top[:, r:], np.einsum("ij,ij->j", W, W), U.T @ W)


def _eliminate_beside(
    R: Floats, A: Floats, top: Floats, rest: Floats, *, triangular: bool
) -> tuple[Floats, Floats, Floats]:
    """Rotate the rows of [R top] and [A rest] so that A becomes zero."""
    k, r = top.shape
    if not k or not len(A):
        return R, top, rest
    height = k if triangular else 0  # rows of A that are triangular
    R, reflectors, T, info = dtpqrt(height, min(k, _PANEL), R, A)
    if not info and r:
        top, rest, info = dtpmqrt(height, reflectors, T, top, rest, trans="T")
    if info:
        raise AssertionError(f"LAPACK refused argument {-info} of a QR update")
    return np.triu(R), top, rest
