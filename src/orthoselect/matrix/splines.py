"""Natural cubic splines of columns, made some columns at a time and never written out.

A column x with knots k_1 < ... < k_K has K - 1 columns here. With t = (x - k_1)/(k_K - k_1) they
span t and, for i = 1, ..., K - 2,

    d_i(t) - d_{K-1}(t) - c_i t,    d_i(t) = ((t - t_i)_+^3 - (t - t_K)_+^3) / (t_K - t_i)

(t_i are the knots in units of t, c_i = 3 (t_{K-1} - t_i)): all functions that are cubic between
knots, smooth at them and straight beyond the outer ones, but for a constant. With two knots that is
the line alone. These
columns are nearly dependent; so those of one x are combined, C = (B - means) T with a triangular T,
to be centered and orthonormal. That changes nothing of what they span, and keeps digits.

Notation: N rows; `places` (n_x,) are the columns x of the stored table; B (N, K - 1) the splines of
one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr, solve_triangular

from orthoselect.matrix.base import EPS, Floats, Indices, Matrix, Scan, storage_precision

_TILE_NUMBERS = 1 << 21  # of splines that are made at a time
_DEPENDENT = 1e-7  # of a spline, what has to be left beside those before it


def spline_columns(x: Floats, knots: Floats) -> Floats:
    """Return the natural splines of a column, the line first, (N, K - 1).

    Examples
    --------
    >>> spline_columns(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 1.0, 2.0]))
    array([[ 0.   ,  0.   ],
           [ 0.5  , -0.625],
           [ 1.   , -0.75 ],
           [ 1.5  , -0.75 ]])
    """
    low, high = knots[0], knots[-1]
    t, at = (x - low) / (high - low), (knots - low) / (high - low)
    B = np.empty((len(x), len(knots) - 1))
    B[:, 0] = t
    if len(knots) > 2:
        # Beyond the last knot all are straight. Times c_i the line is taken off: they are then the
        # same for all outliers, which would make them look like the line itself.
        inside = np.minimum(t, 1.0)
        last = _cubes(inside - at[-2]) / (1.0 - at[-2])
        for i in range(len(knots) - 2):
            bent = _cubes(inside - at[i]) / (1.0 - at[i]) - last
            B[:, i + 1] = bent - 3.0 * (at[-2] - at[i]) * inside
    return B


def _cubes(u: Floats) -> Floats:
    positive = np.maximum(u, 0.0)
    return positive * positive * positive


class Spline(NamedTuple):
    """How the columns of one x are made: its knots, the means of its splines, and T."""

    knots: Floats  # (K,)
    means: Floats  # (K - 1,)
    T: Floats  # (K - 1, z), z the rank
    precision: Floats  # (z,), see `Matrix`

    @staticmethod
    def of(x: Floats, knots: Floats, weights: Floats | None, precision: float) -> Spline:
        """Learn what makes the splines of x orthonormal; `precision` is that of its numbers."""
        B = spline_columns(x, knots)
        w = np.ones(len(x)) if weights is None else weights
        means = w @ B / w.sum()
        A = (B - means) * np.sqrt(w)[:, None]
        norms = np.sqrt((A * A).sum(axis=0))
        A /= np.where(norms > 0, norms, 1.0)
        left = np.abs(np.diagonal(qr(A, mode="r")[0]))
        kept = np.flatnonzero(left > _DEPENDENT)
        R = qr(A[:, kept], mode="r")[0][: len(kept)]
        T = np.zeros((B.shape[1], len(kept)))
        T[kept] = solve_triangular(R, np.eye(len(kept))) / norms[kept, None]
        # What one rounding of x does to the columns: far from zero, many of t.
        width = knots[-1] - knots[0]
        far = max(1.0, float(np.abs(knots).max()) / float(width))
        roughly = EPS + precision * far * (norms @ np.abs(T))
        return Spline(knots, means, T, np.maximum(roughly, EPS))

    def columns(self, x: Floats) -> Floats:
        """Return its columns for these values of x."""
        return (spline_columns(x, self.knots) - self.means) @ self.T


class SplineMatrix(Matrix):
    """The splines of some columns of a table side by side, presented as (C - shift) * scale.

    Parameters
    ----------
    numbers : array or SciPy sparse of shape (N, any)
        The table; it is only ever read.
    places : integer array
        The columns of it that have splines.
    splines : sequence of Spline
        One for each of these.
    """

    def __init__(
        self,
        numbers: Any,
        places: Indices,
        splines: Sequence[Spline],
        shift: Floats | None = None,
        scale: Floats | None = None,
    ) -> None:
        self._numbers, self._places, self._splines = numbers, places, splines
        self._shift, self._scale = shift, scale
        widths = [spline.T.shape[1] for spline in splines]
        self._edges = np.concatenate([[0], np.cumsum(widths)]).astype(np.intp)
        self.shape = (numbers.shape[0], int(self._edges[-1]))
        parts = [spline.precision for spline in splines]
        self.precision = np.concatenate(parts) if parts else np.zeros(0)

    @property
    def nbytes(self) -> int:
        numbers = self._numbers
        return int(numbers.data.nbytes if sp.issparse(numbers) else numbers.nbytes)

    def columns(self, J: Indices) -> Floats:
        return self.columns_at(J, slice(0, self.shape[0]))

    def columns_at(self, J: Indices, rows: slice) -> Floats:
        J = np.asarray(J, dtype=np.intp)
        owners = np.searchsorted(self._edges, J, side="right") - 1
        result = np.empty((rows.stop - rows.start, len(J)))
        for owner in np.unique(owners).tolist():
            mine = np.flatnonzero(owners == owner)
            result[:, mine] = self._made(owner, rows)[:, J[mine] - self._edges[owner]]
        return self._presented(result, J)

    def cross(self, Z: Floats) -> Floats:
        total = np.empty((Z.shape[1], self.shape[1]))
        for columns, A in self._tiles():
            total[:, columns] = Z.T @ A
        return total

    def scan(self, V: Floats, root: Floats | None, *, gram: bool = False) -> Scan:
        n = self.shape[1]
        sums, squares, VtX = np.empty(n), np.empty(n), np.empty((V.shape[1], n))
        for columns, A in self._tiles():
            if root is not None:
                A *= root[:, None]
            sums[columns] = A.sum(axis=0) if root is None else root @ A
            squares[columns] = np.einsum("ij,ij->j", A, A)
            VtX[:, columns] = V.T @ A
        return Scan(sums, squares, VtX)

    def rescaled(self, shift: Floats, scale: Floats) -> Matrix:
        old_shift = np.zeros(self.shape[1]) if self._shift is None else self._shift
        old_scale = np.ones(self.shape[1]) if self._scale is None else self._scale
        moved = old_shift + shift / old_scale, old_scale * scale
        return SplineMatrix(self._numbers, self._places, self._splines, *moved)

    def _tiles(self) -> Iterator[tuple[slice, Floats]]:
        """Yield all columns, those of a few x at a time."""
        N, start = max(self.shape[0], 1), 0
        while start < len(self._splines):
            stop = start + 1
            while (
                stop < len(self._splines)
                and (self._edges[stop + 1] - self._edges[start]) * N <= _TILE_NUMBERS
            ):
                stop += 1
            columns = slice(int(self._edges[start]), int(self._edges[stop]))
            A = np.empty((self.shape[0], columns.stop - columns.start))
            for owner in range(start, stop):
                at = self._edges[owner : owner + 2] - columns.start
                A[:, at[0] : at[1]] = self._made(owner, slice(0, self.shape[0]))
            yield columns, self._presented(A, columns)
            start = stop

    def _made(self, owner: int, rows: slice) -> Floats:
        x = stored_column(self._numbers, int(self._places[owner]), rows)
        return self._splines[owner].columns(x)

    def _presented(self, A: Floats, J: Any) -> Floats:
        if self._shift is not None:
            A -= self._shift[J]
        if self._scale is not None:
            A *= self._scale[J]
        return A


def stored_column(numbers: Any, place: int, rows: slice = slice(None)) -> Floats:
    """Return a column of an array or SciPy sparse matrix in float64."""
    if sp.issparse(numbers):
        return numbers[:, [place]].toarray()[rows, 0].astype(np.float64)
    return np.asarray(numbers[rows, place], dtype=np.float64)


def column_precision(numbers: Any) -> float:
    """Return the relative rounding of stored numbers."""
    return float(storage_precision(numbers.dtype, 1)[0])
