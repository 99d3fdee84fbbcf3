"""Any kind of matrix with its means removed and its columns at norm one.

Notation: X as presented by the kind, mu its (weighted) means, w row weights with root = sqrt(w),
V (N, m) the orthonormal response basis. The centered matrix is root * (X - mu) / norm; it is never
formed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import EPS, Floats, Indices, Matrix
from orthoselect.matrix.basis import ROUNDINGS

# Removing a mean of so many spreads after the product costs its square in roundings (a thousand
# of sixteen digits' worth here); columns further off are shifted before the product.
_OFFSET_LIMIT = 32.0
# Squares outside these bounds may have lost digits to the ends of the float range.
_SQUARE_MIN, _SQUARE_MAX = 1e-250, 1e250
_PILOT_ROWS = 32
_ROUNDS = 3  # first look, after a shift, after a scale


class NonFiniteColumns(Exception):  # noqa: N818  (control flow: the caller knows the names)
    """Columns with NaN or infinity: column index -> (count of NaN, count of infinity)."""

    def __init__(self, counts: dict[int, tuple[int, int]]) -> None:
        super().__init__(counts)
        self.counts = counts


@dataclass(frozen=True)
class CenteredMatrix:
    """A matrix with weighted means removed and columns scaled to norm one.

    Constant and ignored columns are all zero (`alive` is False).

    Attributes
    ----------
    norms : array of shape (n,)
        Norm of each centered column before scaling, in the units of `matrix`.
    alive : boolean array of shape (n,)
        Columns that vary.
    sizes : array of shape (n,)
        One rounding of the stored column, relative to its centered norm; see `Basis`.
    noise : array of shape (n,)
        Relative error of the squared norms.
    """

    matrix: Matrix
    means: Floats
    norms: Floats
    alive: NDArray[np.bool_]
    sizes: Floats
    noise: Floats
    root: Floats | None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, (N, n)."""
        return self.matrix.shape

    def columns(self, J: Indices) -> Floats:
        """Return the columns J, centered and at norm one, (N, len(J))."""
        A = self.matrix.columns(J)
        A -= self.means[J]
        A *= self._inverse_norms(J)
        if self.root is not None:
            A *= self.root[:, None]
        return A

    def cross(self, Z: Floats) -> Floats:
        """Return the products of all columns with Z, (n, Z.shape[1])."""
        Z = Z if self.root is None else Z * self.root[:, None]
        XtZ = self.matrix.cross(np.ascontiguousarray(Z))
        return self._reduce(XtZ, Z.sum(axis=0))

    def gram(self, J: Indices) -> Floats:
        """Return the inner products of all columns with columns J, (n, len(J))."""
        return self.cross(self.columns(J))

    def block_gram(self, J: Indices) -> Floats:
        """Return the inner products among columns J, (len(J), len(J))."""
        G = self.matrix.block_gram(J, self.root) - self._weight * np.outer(
            self.means[J], self.means[J]
        )
        inverse = self._inverse_norms(J)
        return G * inverse[:, None] * inverse

    @property
    def _weight(self) -> float:
        return float(self.shape[0]) if self.root is None else float(self.root @ self.root)

    def _reduce(self, XtZ: Floats, sums: Floats) -> Floats:
        """Products of presented columns -> products of centered unit columns."""
        XtZ = XtZ - np.outer(self.means, sums)
        XtZ *= self._inverse_norms(slice(None))[:, None]
        XtZ[~self.alive] = 0.0
        return XtZ

    def _inverse_norms(self, J: Indices | slice) -> Floats:
        norms, alive = self.norms[J], self.alive[J]
        return np.divide(1.0, norms, out=np.zeros_like(norms), where=alive)


def center(
    matrix: Matrix, V: Floats, w: Floats | None = None, ignored: Indices | None = None
) -> tuple[CenteredMatrix, Floats]:
    """Take the first look at a matrix: means, norms, X'V and whether all is finite.

    One read of X unless columns need a shift or a scale to keep their digits.

    Parameters
    ----------
    matrix : Matrix
    V : array of shape (N, m)
        Orthonormal, and orthogonal to sqrt(w).
    w : array of shape (N,), optional
        Row weights, not all zero.
    ignored : indices, optional
        Columns that nobody will ask for; they may hold anything.

    Returns
    -------
    centered : CenteredMatrix
    XtV : array of shape (n, m)

    Raises
    ------
    NonFiniteColumns
    """
    N, n = matrix.shape
    root = None if w is None else np.sqrt(w)
    total = float(N) if w is None else float(w.sum())
    Z = _first_products(V, w, root)
    wanted = np.ones(n, dtype=bool)
    wanted[ignored if ignored is not None else []] = False
    origin, scales = np.zeros(n), np.ones(n)

    with np.errstate(all="ignore"):  # overflow and NaN are looked for, and dealt with, below
        shift, scale = _pilot_shift(matrix, w), np.ones(n)
        for round_ in range(_ROUNDS):
            if shift.any() or (scale != 1.0).any():
                matrix = matrix.rescaled(shift, scale)
                origin, scales = origin + shift / scales, scales * scale
            XtZ, squares = matrix.scan(Z, w)
            means = XtZ[:, 0] / total
            d0 = squares - total * means**2
            if round_ + 1 < _ROUNDS:
                shift, scale = _repairs(matrix, means, squares, d0, total, wanted)
                if not shift.any() and (scale == 1.0).all():
                    break
        raw = np.sqrt(np.maximum(d0, 0.0) + total * (means + origin * scales) ** 2)
        norms = np.sqrt(np.maximum(d0, 0.0))
        alive = wanted & (norms > ROUNDINGS * matrix.precision * raw)
        sizes = np.divide(matrix.precision * raw, norms, out=np.ones(n), where=alive)
        offsets = np.divide(total * means**2, d0, out=np.zeros(n), where=alive)
        centered = CenteredMatrix(matrix, means, norms, alive, sizes, EPS * (4.0 + offsets), root)
        XtV = centered._reduce(XtZ[:, 1:], Z[:, 1:].sum(axis=0))
    return centered, XtV


def _first_products(V: Floats, w: Floats | None, root: Floats | None) -> Floats:
    """Stack what the first read of X is multiplied with: [w, sqrt(w) V], (N, 1 + m)."""
    Z = np.empty((V.shape[0], 1 + V.shape[1]))
    Z[:, 0] = 1.0 if w is None else w
    Z[:, 1:] = V if root is None else V * root[:, None]
    return Z


def _pilot_shift(matrix: Matrix, w: Floats | None) -> Floats:
    """Guess from a few rows which columns lie far from zero, and where."""
    rows = np.arange(matrix.shape[0]) if w is None else np.flatnonzero(w)
    rows = rows[:: max(1, len(rows) // _PILOT_ROWS)][:_PILOT_ROWS]
    sample = matrix.pilot(rows)
    middle, spread = sample.mean(axis=0), sample.std(axis=0)
    far = np.isfinite(middle) & (spread > 0) & (np.abs(middle) > _OFFSET_LIMIT * spread)
    return np.where(far, middle, 0.0)


def _repairs(
    matrix: Matrix,
    means: Floats,
    squares: Floats,
    d0: Floats,
    total: float,
    wanted: NDArray[np.bool_],
) -> tuple[Floats, Floats]:
    """Return the shift and scale that give columns back the digits they lost, if any."""
    shift, scale = np.zeros(len(means)), np.ones(len(means))
    extreme = ~((squares > _SQUARE_MIN) & (squares < _SQUARE_MAX))  # NaN counts as extreme
    J = np.flatnonzero(wanted & extreme)
    if J.size:
        peaks, n_nan, n_inf = matrix.extremes(J)
        bad = (n_nan > 0) | (n_inf > 0)
        if bad.any():
            raise NonFiniteColumns(
                {int(j): (int(a), int(b)) for j, a, b in zip(J[bad], n_nan[bad], n_inf[bad])}
            )
        # Powers of two: scaling rounds nothing.
        exponents = np.frexp(peaks)[1]
        scale[J] = np.where(peaks > 0, np.ldexp(1.0, np.clip(-exponents, -1000, 1000)), 1.0)
    far = wanted & ~extreme & ~(total * means**2 <= _OFFSET_LIMIT**2 * d0)
    J = np.flatnonzero(far)
    if J.size:
        J = J[~matrix.constant(J)]  # nothing to gain from shifting what does not vary
        shift[J] = means[J]
    return shift, scale
