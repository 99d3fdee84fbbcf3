"""Products of lagged signals, made a block of rows at a time and never written out.

Notation: S (signals, T) are the signals over time; a factor is one of them at one lag; a term is a
product of up to `degree` factors, the constant 1 the product of none. Row i of the matrix belongs
to time k = at[i], and there the factor (s, lag) is S[s, k - lag].

Terms stand by degree, and within one degree as `itertools.combinations_with_replacement` lists
them. So those that begin with factor f are f times the terms of one degree less that begin with f
or a later one, which stand together at the end of theirs: a whole run of columns is one product of
a run before it. Products with the columns of the highest degree, most of all, do not even need
them made (`TermMatrix.cross`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import Floats, Indices, Matrix, Scan, storage_precision
from orthoselect.matrix.rows import cut
from orthoselect.matrix.threads import BUNDLES, Total, run_tasks

Factor = tuple[int, int]  # a signal and a lag
Term = tuple[int, ...]  # places of its factors, not falling
# A tile of columns should stay in a core's own cache; but runs of few rows take longer to start
# than to multiply.
_TILE_BYTES = 1 << 20
_LEAST_HEIGHT = 64
_LEAST_TASK = 1 << 16  # numbers
_CHUNKS = 4  # of factors
_FACTORS_AT_ONCE = 512  # times columns that products are taken with


def list_terms(n_factors: int, degree: int, *, constant: bool = True) -> list[Term]:
    """Return the terms of so many factors in the order of their columns.

    Examples
    --------
    >>> list_terms(2, 2)
    [(), (0,), (1,), (0, 0), (0, 1), (1, 1)]
    """
    degrees = range(0 if constant else 1, degree + 1)
    return [t for d in degrees for t in combinations_with_replacement(range(n_factors), d)]


def count_terms(n_factors: int, degree: int, *, constant: bool = True) -> int:
    """Return how many terms there are.

    Examples
    --------
    >>> count_terms(28, 3)
    4495
    """
    return comb(n_factors + degree, degree) - (not constant)


class _Run(NamedTuple):
    """Columns that are one factor times columns before them."""

    columns: slice
    factor: int
    others: slice


def _runs(n_factors: int, degree: int, first: int) -> list[_Run]:
    """Return the runs of columns of degree two and more; those of degree one start at `first`."""
    found = []
    starts = [first + f for f in range(n_factors)]  # where terms that begin with factor f stand
    end = first + n_factors
    for _ in range(2, degree + 1):
        lower_end, next_starts = end, []
        for f in range(n_factors):
            others = slice(starts[f], lower_end)
            next_starts.append(end)
            found.append(_Run(slice(end, end + others.stop - others.start), f, others))
            end = found[-1].columns.stop
        starts = next_starts
    return found


class TermMatrix(Matrix):
    """Terms of lagged signals as columns, presented as (X - shift) * scale.

    Only the signals are held. Tiles stand column by column, (n, rows).

    Parameters
    ----------
    signals : array of shape (signals, T)
    factors : sequence of (signal, lag)
        Lags count back in time; none reaches before the first time.
    degree : int
        The most factors of a term.
    at : integer array of shape (N,)
        The time of each row.
    constant : bool
        Whether the first column is the constant 1.
    """

    has_gram = True

    def __init__(
        self,
        signals: Floats,
        factors: Sequence[Factor],
        degree: int,
        at: Indices,
        *,
        constant: bool = True,
        shift: Floats | None = None,
        scale: Floats | None = None,
    ) -> None:
        self._signals, self._factors, self._degree = signals, list(factors), degree
        self._at, self._constant = at, constant
        self._shift, self._scale = shift, scale
        n = count_terms(len(self._factors), degree, constant=constant)
        self.shape = (len(at), n)
        self._first = int(constant)
        self._runs = _runs(len(self._factors), degree, self._first)
        self._starts = [run.columns.start for run in self._runs]
        below = max(1, degree - 1)  # columns up to this degree are made for any product
        self._low = min(n, count_terms(len(self._factors), below, constant=constant))
        self.precision = storage_precision(np.dtype(np.float64), n)

    @property
    def nbytes(self) -> int:
        return self._signals.nbytes

    def every(self, step: int) -> Matrix:
        return self._of(self._at[::step], self._shift, self._scale)

    def rescaled(self, shift: Floats, scale: Floats) -> Matrix:
        old_shift = 0.0 if self._shift is None else self._shift
        old_scale = np.ones(self.shape[1]) if self._scale is None else self._scale
        new_shift, new_scale = old_shift + shift / old_scale, old_scale * scale
        return self._of(
            self._at,
            new_shift if new_shift.any() else None,
            new_scale if (new_scale != 1.0).any() else None,
        )

    def _of(self, at: Indices, shift: Floats | None, scale: Floats | None) -> TermMatrix:
        how = {"constant": self._constant, "shift": shift, "scale": scale}
        return type(self)(self._signals, self._factors, self._degree, at, **how)  # type: ignore[arg-type]

    # Some columns

    def columns(self, J: Indices) -> Floats:
        return self._some(J, self._at)

    def columns_at(self, J: Indices, rows: slice) -> Floats:
        return self._some(J, self._at[rows])

    def _some(self, J: Indices, at: Indices) -> Floats:
        """Make columns J, each from its own factors, rounded as whole tiles are."""
        made: dict[int, Floats] = {}
        A = np.empty((len(at), len(J)), order="F")
        for place, j in enumerate(np.asarray(J).tolist()):
            *before, last = self._term(j) or (-1,)
            A[:, place] = 1.0 if last < 0 else self._factor(last, at, made)
            for f in reversed(before):
                A[:, place] *= self._factor(f, at, made)
        if self._shift is not None:
            A -= self._shift[J]
        if self._scale is not None:
            A *= self._scale[J]
        return A

    def _factor(self, f: int, at: Indices, made: dict[int, Floats]) -> Floats:
        if f not in made:
            signal, lag = self._factors[f]
            made[f] = self._signals[signal, at - lag]
        return made[f]

    def _term(self, j: int) -> Term:
        """Return the factors of column j."""
        term: Term = ()
        while j >= self._first + len(self._factors):
            run = self._runs[int(np.searchsorted(self._starts, j, side="right")) - 1]
            term, j = (*term, run.factor), run.others.start + j - run.columns.start
        return (*term, j - self._first) if j >= self._first else term

    def pilot(self, rows: Indices) -> Floats:
        return self._tile(self._at[rows]).T.copy()

    # Products with all columns, a tile of rows at a time

    def cross(self, Z: Floats) -> Floats:
        if not self._as_made:
            return self._cross_of_tiles(Z)
        b, most = Z.shape[1], max(1, _FACTORS_AT_ONCE // max(1, len(self._factors)))
        parts = [self._cross_of_factors(Z[:, i : i + most]) for i in range(0, b, most)]
        return np.concatenate(parts) if parts else np.zeros((0, self.shape[1]))

    def scan(self, V: Floats, root: Floats | None, *, gram: bool = False) -> Scan:
        if gram or not self._as_made:
            return self._scan_tiles(V, root, gram=gram)
        w = np.ones(len(V)) if root is None else root * root
        ZtX = self.cross(np.column_stack([w, V if root is None else V * root[:, None]]))
        return Scan(ZtX[0], self._cross_of_factors(w[:, None], squared=True)[0], ZtX[1:])

    @property
    def _as_made(self) -> bool:
        return self._shift is None and self._scale is None

    def _cross_of_factors(self, Z: Floats, *, squared: bool = False) -> Floats:
        """Return Z'X without making the columns of the highest degree.

        Where x = f * l, with a factor f and a column l of lower degree, z'x = l'(f * z): all of
        these are one product of the lower columns with factors times z. If `squared`, the columns
        of X are squared before: so are factors and lower columns.
        """
        b, n_low, n_factors = Z.shape[1], self._low, len(self._factors)
        has_top = n_low < self.shape[1]
        chunks = self._chunks(b)

        def work(rows: slice, total: Total) -> None:
            for here in self._tiles(rows, n_low + (b * n_factors if has_top else 0)):
                A, z = self._tile(self._at[here], n_low), Z[here]
                if squared:
                    A *= A
                total[0] += A @ z
                if has_top:
                    base = A[self._first : self._first + n_factors]
                    scaled = (base[:, None] * z.T).reshape(b * n_factors, -1)  # factor by factor
                    for lower, mine in chunks:
                        total[1][lower, mine] += A[lower] @ scaled[mine].T

        width = b * n_factors if has_top else 0
        low, products = self._run(work, (n_low, b), (n_low, width))
        ZtX = np.empty((b, self.shape[1]))
        ZtX[:, :n_low] = low.T
        by_factor = products.reshape(n_low, -1, b)
        for columns, f, others in self._top:
            ZtX[:, columns] = by_factor[others, f].T
        return ZtX

    @property
    def _top(self) -> list[_Run]:
        """The runs of the highest degree, one for each factor, if it is above one."""
        return self._runs[-len(self._factors) :] if self._low < self.shape[1] else []

    def _chunks(self, b: int) -> list[tuple[slice, slice]]:
        """Return which lower columns are multiplied with which factors, b products for each.

        Later factors go with fewer lower columns; a few at a time, little is multiplied in vain.
        """
        width = max(1, -(-len(self._factors) // _CHUNKS))
        heads = self._top[::width]
        return [
            (slice(run.others.start, self._low), slice(run.factor * b, (run.factor + width) * b))
            for run in heads
        ]

    def _cross_of_tiles(self, Z: Floats) -> Floats:
        """Return Z'X from the columns themselves, as they are presented."""

        def work(rows: slice, total: Total) -> None:
            for here in self._tiles(rows, self.shape[1]):
                total[0] += (self._tile(self._at[here]) @ Z[here]).T

        return self._run(work, (Z.shape[1], self.shape[1]))[0]

    def _scan_tiles(self, V: Floats, root: Floats | None, *, gram: bool) -> Scan:
        n, m = self.shape[1], V.shape[1]

        def work(rows: slice, total: Total) -> None:
            for here in self._tiles(rows, n):
                A, r = self._tile(self._at[here]), cut(root, here)
                Z = np.empty((A.shape[1], m + 1))
                Z[:, 0], Z[:, 1:] = 1.0 if r is None else r, V[here]
                if r is not None:
                    A *= r
                total[0] += (A @ Z).T
                total[1] += A @ A.T if gram else np.einsum("ij,ij->i", A, A)

        ZtX, products = self._run(work, (m + 1, n), (n, n) if gram else (n,))
        squares = products.diagonal().copy() if gram else products
        return Scan(ZtX[0], squares, ZtX[1:], products if gram else None)

    def _tile(self, at: Indices, n: int | None = None) -> Floats:
        """Return all columns, or the first n of a whole degree, at some times, (n, len(at))."""
        n = self.shape[1] if n is None else n
        A = np.empty((n, len(at)))
        A[: self._first] = 1.0
        base = A[self._first : self._first + len(self._factors)]
        together = len(at) and at[-1] - at[0] == len(at) - 1
        for row, (signal, lag) in zip(base, self._factors):
            if together:
                row[:] = self._signals[signal, at[0] - lag : at[-1] - lag + 1]
            else:
                np.take(self._signals[signal], at - lag, out=row)
        for columns, f, others in self._runs:
            if columns.start < n:
                np.multiply(base[f], A[others], out=A[columns])
        if self._shift is not None:
            A -= self._shift[:n, None]
        if self._scale is not None:
            A *= self._scale[:n, None]
        return A

    def _run(self, work: Callable[[slice, Total], None], *shapes: tuple[int, ...]) -> Total:
        """Do the work on runs of rows, adding up arrays of these shapes."""
        N, n = self.shape
        height = max(_LEAST_HEIGHT, _LEAST_TASK // max(n, 1), -(-N // BUNDLES))
        tasks = [slice(i, min(i + height, N)) for i in range(0, N, height)]
        return run_tasks(tasks, work, *shapes, cost=N * n * (shapes[0][0] + self._degree))

    def _tiles(self, rows: slice, width: int) -> list[slice]:
        """Cut rows so that so many numbers of each stay in the cache."""
        height = max(_LEAST_HEIGHT, _TILE_BYTES // (8 * max(width, 1)))
        starts = range(rows.start, rows.stop, height)
        return [slice(i, min(i + height, rows.stop)) for i in starts]


def term_names(terms: Sequence[Term], factor_names: Sequence[str]) -> list[str]:
    """Return what to call terms: their factors, powers of one together.

    Examples
    --------
    >>> term_names([(), (0,), (0, 1, 1)], ["y(k-1)", "u(k)"])
    ['1', 'y(k-1)', 'y(k-1) u(k)^2']
    """
    return [_name(term, factor_names) for term in terms]


def _name(term: Term, factor_names: Sequence[str]) -> str:
    powers: dict[int, int] = {}
    for f in term:
        powers[f] = powers.get(f, 0) + 1
    words = [factor_names[f] + (f"^{p}" if p > 1 else "") for f, p in powers.items()]
    return " ".join(words) or "1"


def valid_times(sessions: Sequence[tuple[int, int]], before: int) -> NDArray[np.intp]:
    """Return the times that have so many others of their own session before them.

    Examples
    --------
    >>> valid_times([(0, 4), (4, 6), (7, 10)], 2)
    array([2, 3, 9])
    """
    runs = [np.arange(start + before, stop) for start, stop in sessions if stop - start > before]
    return np.concatenate(runs) if runs else np.zeros(0, dtype=np.intp)
