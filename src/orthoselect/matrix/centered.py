"""Any kind of matrix with its means removed and its columns at norm one.

Notation: X as presented by the kind, mu its (weighted) means, w row weights with root = sqrt(w),
V (N, m) the orthonormal response basis. The centered matrix is root * (X - mu) / norm; it is never
formed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from orthoselect.lazy import lazy
from orthoselect.matrix.base import EPS, Floats, Indices, Matrix, Scan
from orthoselect.matrix.basis import ROUNDINGS
from orthoselect.matrix.geometry import Geometry, RowGeometry
from orthoselect.matrix.presented import offset_limit, pilot_sample, pilot_shift, repairs
from orthoselect.matrix.rows import Rows, offset_of, roots_of, total_weight
from orthoselect.matrix.streamed import StreamedGeometry
from orthoselect.matrix.tiles import Scaling, products_of, work_on_tiles

Part = TypeVar("Part")

_SUM_ROUNDINGS = 4.0  # that a sum of squares is off by
# Usual error of an inner product of unit vectors, in roundings.
PRODUCT_ROUNDINGS = 8.0
_BLOCK_NUMBERS = 1 << 13  # numbers worked on at a time, in the nearest cache
_BACK = 64.0  # roundings of a shift within which another one undoes it
_MAX_LOOKS = 3  # the first, after a scale, after a shift


@dataclass
class Work:
    """What has been asked of a table so far.

    Attributes
    ----------
    passes : int
        Reads of the whole table.
    products : int
        Columns that the whole table was multiplied with.
    columns : int
        Single columns read.
    excess : float
        How much larger than usual errors of Gram columns have to be expected; at least 1.
    """

    passes: int = 0
    products: int = 0
    columns: int = 0
    excess: float = 1.0


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
    total : float
        Sum of the row weights: the number of rows, if they have none.
    root : array of shape (N,), SpreadRows or None
        Square roots of the row weights.
    whole : array of shape (n, n) or None
        All inner products, if the first look took them.
    work : Work
        What has been asked so far.
    """

    matrix: Matrix
    means: Floats
    norms: Floats
    alive: NDArray[np.bool_]
    sizes: Floats
    noise: Floats
    total: float
    root: Rows | None
    whole: Floats | None = None
    work: Work = field(default_factory=Work)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, (N, n)."""
        return self.matrix.shape

    @property
    def arithmetic(self) -> float:
        """Relative rounding of Gram columns."""
        return self.matrix.arithmetic if self.whole is None else EPS

    def columns(self, J: Indices) -> Floats:
        """Return the columns J, centered and at norm one, (N, len(J))."""
        self.work.columns += len(J)
        A = self.matrix.columns(J)
        A -= self.means[J]
        A *= self._factors[J]
        if self.root is not None:
            A *= self.root[:, None]
        return A

    def cross(self, Z: Floats) -> Floats:
        """Return the products of Z with all columns, (Z.shape[1], n)."""
        self._count(Z.shape[1])
        Z = Z if self.root is None else Z * self.root[:, None]
        with np.errstate(all="ignore"):  # columns nobody asks for may hold anything
            return self._reduce(self.matrix.cross(Z), Z.sum(axis=0))

    def gram(self, J: Indices) -> Floats:
        """Return the inner products of columns J with all columns, (len(J), n)."""
        return self.gram_with_errors(J)[0]

    def gram_with_errors(self, J: Indices) -> tuple[Floats, Floats]:
        """Return the inner products of columns J with all columns, and their usual errors, (b,).

        Errors are those of sums whose roundings have nothing to do with each other. Those of
        columns that repeat a few numbers may add up instead; it then shows in their norms, and
        where a product was taken both ways. Once seen, it is expected of all columns.
        """
        if self.whole is not None:
            return self.whole[J], np.full(len(J), PRODUCT_ROUNDINGS * EPS)
        self._count(len(J))
        with np.errstate(all="ignore"):
            ZtX, sums, errors2 = self.matrix.gram(J, self.means[J], self._factors[J], self.root)
            G = self._reduce(ZtX, sums)
        if self.matrix.arithmetic == EPS:
            return G, np.full(len(J), PRODUCT_ROUNDINGS * EPS)
        among = G[:, J]
        seen = np.abs(among - np.where(np.eye(len(J), dtype=bool), 1.0, among.T)).max(axis=1)
        usual = self.matrix.arithmetic / 2 * self._reach * np.sqrt(errors2)
        usual += PRODUCT_ROUNDINGS * EPS
        self.work.excess = max(self.work.excess, 2.0 * float((seen / usual).max(initial=0.0)))
        return G, self.work.excess * usual

    @lazy
    def _reach(self) -> float:
        """The largest norm of a column as it is multiplied, before its mean is removed."""
        offsets = self.means * self._factors
        return math.sqrt(1.0 + self.total * float((offsets**2).max(initial=0.0)))

    def direction(self, j: int, Qt: Floats, k: int) -> tuple[Floats, Floats, float] | None:
        """Make an orthonormal direction of column j, where the kind has a quick way: see there."""
        made = self.matrix.direction(j, self.means, self._factors, self.root, Qt, k)
        if made is not None:
            self._count(1)
            self.work.columns += 1
        return made

    def block_gram(self, J: Indices) -> Floats:
        """Return the inner products among columns J, (len(J), len(J))."""
        return self.block_grams([J])[0]

    def block_grams(self, blocks: Sequence[Indices]) -> list[Floats]:
        """Return the inner products among the columns of each block."""
        if self.whole is not None:
            return [self.whole[np.ix_(J, J)] for J in blocks]
        self.work.columns += sum(map(len, blocks))
        grams = self.matrix.block_grams(blocks, self.root)
        return [self._center_gram(G, J) for G, J in zip(grams, blocks)]

    def _center_gram(self, G: Floats, J: Indices) -> Floats:
        G = G - self.total * np.outer(self.means[J], self.means[J])
        inverse = self._factors[J]
        return G * inverse[:, None] * inverse

    def rough_gram(self, step: int) -> Callable[[Indices], Floats] | None:
        """Return a function that tells what inner products of columns J are about, (|J|, |J|).

        It looks at each so many-th row. None if that takes long, or rows have weights: those that
        count may not be among them.
        """
        some = self.matrix.every(step) if self.root is None else None
        if some is None:
            return None
        with np.errstate(all="ignore"):
            return partial(_correlations, some.rescaled(self.means, self._factors))

    def geometry(self, V: Rows) -> Geometry:
        """Return what can ask the real columns, and those of the response basis V, (N, m)."""
        return RowGeometry(self, V) if self.matrix.memory is None else StreamedGeometry(self, V)

    def reduce_columns(
        self,
        J: Indices,
        work: Callable[..., Part],
        merge: Callable[[Part, Part], Part],
        along: Sequence[Rows | None] = (),
    ) -> Part:
        """Merge what ``work(A, root, *along)`` gives of the columns J, some rows at a time.

        A are these rows of them, centered and at norm one, root is their part of the weights.
        """
        self.work.columns += len(J)
        tiles = partial(work_on_tiles, J, self._scaling(J), work, merge)
        return self.matrix.reduce(tiles, merge, J, [self.root, *along])

    def cross_of(
        self, J: Indices, make: Callable[..., Floats], first: int, V: Rows
    ) -> tuple[Floats, Floats, Floats]:
        """Return products of directions that ``make(A, root)`` gives of columns J, in one pass.

        Those from the first that is wanted with all columns; all of them with each other; V with
        all of them.
        """
        with np.errstate(all="ignore"):  # columns nobody asks for may hold anything
            work = partial(products_of, J, self._scaling(J), make, first)
            ZtX, sums, QtQ, VtQ = self.matrix.total(work, None, [self.root, V])
            self._count(len(sums))
            return self._reduce(ZtX, sums), QtQ, VtQ

    def _scaling(self, J: Indices) -> Scaling:
        return Scaling(self.means[J], self._factors[J])

    def stats(self) -> dict[str, int]:
        """Return what was asked of the table so far, and what that took to read."""
        asked = {"products": self.work.products, "columns_read": self.work.columns}
        return {"passes": self.work.passes, **asked, **self.matrix.stats()}

    def restricted(self, J: Indices) -> CenteredMatrix | None:
        """Return columns J alone, if the kind can give them without a copy worth mention."""
        matrix = self.matrix.restricted(J)
        if matrix is None or self.whole is not None:
            return None
        return replace(
            self,
            matrix=matrix,
            means=self.means[J],
            norms=self.norms[J],
            alive=self.alive[J],
            sizes=self.sizes[J],
            noise=self.noise[J],
        )

    def _count(self, products: int) -> None:
        self.work.passes += 1
        self.work.products += products

    def _reduce(self, ZtX: Floats, sums: Floats) -> Floats:
        """Products with presented columns -> products with centered unit columns, in place."""
        if not self.alive.all():
            ZtX[:, ~self.alive] = 0.0  # they may hold anything
        inverse = self._factors
        height = max(1, _BLOCK_NUMBERS // max(ZtX.shape[1], 1))
        for start in range(0, len(ZtX), height):
            rows = ZtX[start : start + height]
            rows -= sums[start : start + height, None] * self.means
            rows *= inverse
        return ZtX

    @lazy
    def _factors(self) -> Floats:
        """What columns are multiplied with: one over their norm, zero for those not alive."""
        return _ratio(1.0, self.norms, self.alive, 0.0)


def center(
    matrix: Matrix,
    V: Rows,
    w: Rows | None = None,
    ignored: Indices | None = None,
    *,
    gram: bool = False,
) -> tuple[CenteredMatrix, Floats]:
    """Take the first look at a matrix: means, norms, V'X and whether all is finite.

    One read of X unless columns need a shift or a scale to keep their digits.

    Parameters
    ----------
    matrix : Matrix
    V : array of shape (N, m)
        Orthonormal, and orthogonal to sqrt(w).
    w : array of shape (N,) or SpreadWeights, optional
        Row weights, not all zero.
    ignored : indices, optional
        Columns that nobody will ask for; they may hold anything.
    gram : bool
        Take all inner products in the same read, if the kind can.

    Returns
    -------
    centered : CenteredMatrix
    VtX : array of shape (m, n)

    Raises
    ------
    NonFiniteColumns
    """
    root, total = roots_of(w), total_weight(w, matrix.shape[0])
    wanted = np.ones(matrix.shape[1], dtype=bool)
    if ignored is not None and len(ignored):
        wanted[ignored] = False
    gram = gram and matrix.has_gram
    V = _as_taken(matrix, V)
    with np.errstate(all="ignore"):  # overflow and NaN are looked for, and dealt with
        matrix, scan, origin, work = _look(matrix, V, root, total, wanted, gram)
        means = scan.sums / total
        mean_squares = scan.sums * means  # what the means have of the squares
        d0 = np.maximum(scan.squares - mean_squares, 0.0)
        norms = np.sqrt(d0)
        stored = scan.squares if origin is None else d0 + total * (means + origin) ** 2
        rounding = matrix.precision * np.sqrt(stored)
        alive = wanted & (norms > ROUNDINGS * rounding)
        sizes = _ratio(rounding, norms, alive, 1.0)
        offsets = _ratio(mean_squares, d0, alive, 0.0)
        noise = EPS * (_SUM_ROUNDINGS + offsets)
        if not alive.all():
            means = np.where(alive, means, 0.0)
        X = CenteredMatrix(matrix, means, norms, alive, sizes, noise, total, root, None, work)
        VtX = X._reduce(scan.VtX, offset_of(V, root))
        if scan.gram is not None:
            whole = X._reduce(scan.gram, total * means)
            whole *= X._factors[:, None]
            whole[~alive] = 0.0
            X = replace(X, whole=whole)
    return X, VtX


def _ratio(a: Floats | float, b: Floats, where: NDArray[np.bool_], otherwise: float) -> Floats:
    """Return a / b where that means anything; mostly it does everywhere, which is quicker."""
    if where.all():
        return a / b
    return np.divide(a, b, out=np.full_like(b, otherwise), where=where)


def _as_taken(matrix: Matrix, V: Rows) -> Rows:
    """Return V as the matrix takes it: written out, if need be."""
    return V if matrix.takes_coded or matrix.memory is not None else V[:]


def _look(
    matrix: Matrix,
    V: Rows,
    root: Rows | None,
    total: float,
    wanted: NDArray[np.bool_],
    gram: bool,
) -> tuple[Matrix, Scan, Floats | None, Work]:
    """Scan until every column has kept its digits.

    Returns the matrix as it was presented last, its scan, and where the presented columns have
    the zero of the stored ones, if that is not at zero.
    """
    limit = offset_limit(matrix)
    n, work = matrix.shape[1], Work()
    origin: Floats | None = None  # what was taken off the stored numbers, as they are presented
    sample = pilot_sample(matrix, root)
    change = pilot_shift(matrix, sample, 0.0 if gram else limit)
    for looks in range(1, _MAX_LOOKS + 1):
        if change is not None:
            shift, scale = change
            if origin is None:
                origin = np.zeros(n)
            # A mean of zero, up to rounding, is zero: there most numbers of the column may be.
            back = np.abs(origin + shift) <= _BACK * EPS * np.abs(origin)
            shift = np.where(back, -origin, shift)
            matrix = matrix.rescaled(shift, scale)
            origin = (origin + shift) * scale
        scan = matrix.scan(V, root, gram=gram)
        work.passes += 1
        work.products += n if gram else 1 + V.shape[1]
        if looks == _MAX_LOOKS:
            break
        change = repairs(matrix, scan, total, wanted, limit, sample, root)
        if change is None:
            break
    return matrix, scan, origin, work


def _correlations(rows: Matrix, J: Indices) -> Floats:
    """Return the inner products of columns J, at norm one; zero if there is nothing of a column."""
    with np.errstate(all="ignore"):
        G = rows.block_gram(J, None)
        G /= np.sqrt(np.outer(G.diagonal(), G.diagonal()))
    G[~np.isfinite(G)] = 0.0
    return G
