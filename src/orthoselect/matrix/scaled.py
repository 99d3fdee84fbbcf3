"""Any kind of matrix with its columns at norm one, their means removed or not.

Notation: X as presented by the kind, mu its (weighted) means, w row weights with root = sqrt(w),
V (N, m) the orthonormal response basis. The scaled matrix is root * (X - mu) / norm, where mu is
zero if nothing is centered; it is never formed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from orthoselect.lazy import lazy
from orthoselect.matrix.base import EPS, Floats, Indices, Matrix
from orthoselect.matrix.basis import ROUNDINGS
from orthoselect.matrix.byte_copy import ByteCopy, Cut, cut_again, is_few, largest, recut
from orthoselect.matrix.conditioning import first_look, pilot_sample, scale_into_range
from orthoselect.matrix.geometry import Geometry, RowGeometry, StreamedGeometry
from orthoselect.matrix.rows import Rows, cut, offset_of, roots_of, total_weight
from orthoselect.matrix.sums import Merging

Part = TypeVar("Part")
Scaling = Callable[[Floats, Floats | None], Floats]

_SUM_ROUNDINGS = 4.0  # that a sum of squares is off by
# Usual error of an inner product of unit vectors, in roundings.
PRODUCT_ROUNDINGS = 8.0
_BLOCK_NUMBERS = 1 << 13  # numbers worked on at a time, in the nearest cache


@dataclass
class Work:
    """What has been asked of a table so far."""

    passes: int = 0  # reads of the whole table
    products: int = 0  # columns that the whole table was multiplied with
    columns: int = 0  # single columns read
    excess: float = 1.0  # how much larger than usual errors of Gram columns have to be expected


@dataclass(frozen=True)
class ScaledMatrix:
    """A matrix with weighted rows and its columns scaled to norm one.

    Columns that are not `alive` are all zero: those of zeros, those that do not vary if means are
    removed, and ignored ones.
    """

    matrix: Matrix
    centered: bool
    means: Floats  # what is taken off the columns of `matrix` if centered, (n,); else zeros
    factors: Floats  # what they are multiplied with then, (n,): one over their norm, 0 if not alive
    alive: NDArray[np.bool_]  # columns that are not zero, (n,)
    sizes: Floats  # one rounding of the stored column, relative to its norm, (n,); see `Basis`
    norms: Floats  # before scaling, (n,), in the units of `matrix`
    noise: Floats  # relative error of the squared norms, (n,)
    root: Rows | None  # square roots of the row weights, (N,)
    total: float  # sum of the row weights: the number of rows, if they have none
    work: Work
    whole: Floats | None = None  # all inner products, (n, n), if the first look took them
    copy: ByteCopy | None = None  # the columns in bytes, if the first look made them

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, (N, n)."""
        return self.matrix.shape

    @property
    def arithmetic(self) -> float:
        """Relative rounding of Gram columns."""
        return self.matrix.arithmetic if self.whole is None else EPS

    def columns(self, J: Indices) -> Floats:
        """Return the columns J, scaled, (N, len(J))."""
        self.work.columns += len(J)
        return self._scaling(J)(self.matrix.columns(J), self.root)

    def cross(self, Z: Floats) -> Floats:
        """Return the products of Z with all columns, (Z.shape[1], n)."""
        self._count(Z.shape[1])
        Z = Z if self.root is None else Z * self.root[:, None]
        with np.errstate(all="ignore"):  # columns nobody asks for may hold anything
            return self._reduce(self.matrix.cross(Z), Z.sum(axis=0))

    def cross_permuted(self, Z: Rows) -> Floats:
        """Return the products of `PermutedRows`, weighted, with all columns, (B m, n)."""
        self._count(Z.shape[1])
        with np.errstate(all="ignore"):
            ZtX = self.matrix.cross_permuted(Z, self.means, self.factors)
        if not self.alive.all():
            ZtX[:, ~self.alive] = 0.0
        return ZtX

    def reduce_columns(
        self,
        J: Indices,
        work: Callable[..., Part],
        merge: Callable[[Part, Part], Part],
        along: Sequence[Rows | None] = (),
    ) -> Part:
        """Merge what ``work(A, root, *along)`` gives of the columns J, some rows at a time.

        A are these rows of them, scaled, root is their part of the weights.
        """
        self.work.columns += len(J)
        tiles = partial(_work_on_tiles, J, self._scaling(J), work, merge)
        return self.matrix.reduce(tiles, merge, J, [self.root, *along])

    def cross_of(
        self, J: Indices, make: Callable[..., Floats], first: int, *others: Rows
    ) -> list[Floats]:
        """Return products of directions that ``make(A, root)`` gives of columns J, in one pass.

        Those from the first that is wanted with all columns; all of them with each other; others,
        of shape (N, any) or (N,), with all of them.
        """
        with np.errstate(all="ignore"):  # columns nobody asks for may hold anything
            work = partial(_products_of, J, self._scaling(J), make, first)
            ZtX, sums, *products = self.matrix.total(work, None, [self.root, *others])
            self._count(len(sums))
            return [self._reduce(ZtX, sums), *products]

    def gram_with_errors(self, J: Indices) -> tuple[Floats, Floats]:
        """Return the inner products of columns J with all columns, and their usual errors, (b,).

        Errors are those of sums whose roundings have nothing to do with each other. Those of
        columns that repeat a few numbers may add up instead; it then shows in their norms, and
        where a product was taken both ways. Once seen, it is expected of all columns.
        """
        self._count(len(J))
        with np.errstate(all="ignore"):
            ZtX, sums, errors2 = self.matrix.gram(J, self.means[J], self.factors[J], self.root)
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
        offsets = self.means * self.factors
        return math.sqrt(1.0 + self.total * float((offsets**2).max(initial=0.0)))

    def direction(self, j: int, Qt: Floats, k: int) -> tuple[Floats, Floats, float] | None:
        """Make an orthonormal direction of column j, where the kind has a quick way: see there."""
        made = self.matrix.direction(j, self.means, self.factors, self.root, Qt, k)
        if made is not None:
            self._count(1)
            self.work.columns += 1
        return made

    def block_grams(self, blocks: Sequence[Indices]) -> list[Floats]:
        """Return the inner products among the columns of each block."""
        if self.whole is not None:
            return [self.whole[np.ix_(J, J)] for J in blocks]
        self.work.columns += sum(map(len, blocks))
        grams = []
        for G, J in zip(self.matrix.block_grams(blocks, self.root), blocks):
            means, factors = self.means[J], self.factors[J]
            G = G - self.total * np.outer(means, means)
            grams.append(G * factors[:, None] * factors)
        return grams

    def rough_gram(self, step: int) -> Callable[[Indices], Floats] | None:
        """Return a function that estimates the inner products of columns J, (|J|, |J|).

        It looks at every `step`-th row. None if that takes long, or rows have weights: those that
        count may not be among them.
        """
        some = self.matrix.every(step) if self.root is None else None
        if some is None:
            return None
        with np.errstate(all="ignore"):
            return partial(_correlations, some.rescaled(self.means, self.factors))

    def geometry(self, V: Rows) -> Geometry:
        """Return what can ask the real columns, and those of the response basis V, (N, m)."""
        return RowGeometry(self, V) if self.matrix.memory is None else StreamedGeometry(self, V)

    def restricted(self, J: Indices) -> ScaledMatrix | None:
        """Return columns J alone, if the kind can give them without a large copy."""
        matrix = self.matrix.restricted(J)
        if matrix is None or self.whole is not None:
            return None
        names = ("means", "factors", "alive", "sizes", "norms", "noise")
        copy = None if self.copy is None else self.copy.restricted(J)
        few = {name: getattr(self, name)[J] for name in names}
        return replace(self, matrix=matrix, copy=copy, **few)

    def stats(self) -> dict[str, int]:
        """Return what was asked of the table so far, and what that took to read."""
        asked = {"products": self.work.products, "columns_read": self.work.columns}
        return {"passes": self.work.passes, **asked, **self.matrix.stats()}

    def _scaling(self, J: Indices) -> Scaling:
        """Return what scales some rows of the columns J, in place, given their part of `root`."""
        return partial(_scale, self.means[J] if self.centered else None, self.factors[J])

    def _count(self, products: int) -> None:
        self.work.passes += 1
        self.work.products += products

    def _reduce(self, ZtX: Floats, sums: Floats) -> Floats:
        """Products with presented columns -> products with scaled columns, in place."""
        if not self.alive.all():
            ZtX[:, ~self.alive] = 0.0  # they may hold anything
        height = max(1, _BLOCK_NUMBERS // max(ZtX.shape[1], 1))
        for start in range(0, len(ZtX), height):
            rows = ZtX[start : start + height]
            if self.centered:
                rows -= sums[start : start + height, None] * self.means
            rows *= self.factors
        return ZtX


def _scale(means: Floats | None, factors: Floats, A: Floats, root: Floats | None) -> Floats:
    if means is not None:
        A -= means
    A *= factors
    if root is not None:
        A *= root[:, None]
    return A


def _work_on_tiles(
    J: Indices,
    scale: Scaling,
    work: Callable[..., Part],
    merge: Callable[[Part, Part], Part],
    block: Matrix,
    root: Floats | None,
    *along: Floats,
) -> Part:
    """Merge what work gives of the scaled columns J of a block, some rows at a time."""
    merging = Merging(merge)
    for rows, A in block.column_tiles(J):
        here = cut(root, rows)
        merging.add(work(scale(A, here), here, *(cut(each, rows) for each in along)))
    return merging.result()


def _products_of(
    J: Indices,
    scale: Scaling,
    make: Callable[[Floats, Floats | None], Floats],
    first: int,
    block: Matrix,
    root: Floats | None,
    *others: Floats,
) -> list[Floats]:
    """Return products of the directions Q that are made of the rows of the scaled columns J.

    Those from the first that is wanted with all columns of the block, and their sums; of all with
    each other, and with others.
    """
    Q = make(scale(block.columns(J), root), root)
    Z = Q[:, first:] if root is None else Q[:, first:] * root[:, None]
    return [block.cross(Z), Z.sum(axis=0), Q.T @ Q, *(other.T @ Q for other in others)]


def _correlations(rows: Matrix, J: Indices) -> Floats:
    """Return the inner products of columns J, at norm one; zero if there is nothing of a column."""
    with np.errstate(all="ignore"):
        G = rows.block_gram(J, None)
        G /= np.sqrt(np.outer(G.diagonal(), G.diagonal()))
    G[~np.isfinite(G)] = 0.0
    return G


def center(
    matrix: Matrix,
    V: Rows,
    w: Rows | None = None,
    ignored: Indices | None = None,
    *,
    gram: bool = False,
    copy: bool = False,
) -> tuple[ScaledMatrix, Floats]:
    """Take the first look at a matrix: means, norms, V'X and whether all is finite.

    One read of X unless columns need a shift or a scale to keep their digits. Returns the columns,
    centered and scaled, and V'X (m, n); raises `NonFiniteColumns`.

    V (N, m) is orthonormal, and orthogonal to sqrt(w); w (N,) are row weights, not all zero.
    `ignored` are columns that nobody will ask for; they may hold anything. With `gram`, all inner
    products are taken in the same read, if the kind can; with `copy`, columns are cut into bytes,
    if the kind can, and nothing has weights.
    """
    root, total = roots_of(w), total_weight(w, matrix.shape[0])
    wanted = np.ones(matrix.shape[1], dtype=bool)
    if ignored is not None:
        wanted[ignored] = False
    gram = gram and matrix.has_gram
    copy = copy and matrix.has_copy and root is None and not gram
    if not matrix.takes_coded and matrix.memory is None:
        V = V[:]  # written out
    with np.errstate(all="ignore"):  # overflow and NaN are looked for, and dealt with
        given = (matrix, V, root, total, wanted)
        matrix, scan, origin, looks = first_look(*given, gram=gram, copy=copy)
        work = Work(looks, looks * (matrix.shape[1] if gram else 1 + V.shape[1]))
        means = scan.sums / total
        mean_squares = scan.sums * means  # what the means have of the squares
        d0 = np.maximum(scan.squares - mean_squares, 0.0)
        norms = np.sqrt(d0)
        stored = scan.squares if origin is None else d0 + total * (means + origin) ** 2
        rounding = matrix.precision * np.sqrt(stored)
        alive = wanted & (norms > ROUNDINGS * rounding)
        sizes, factors = _ratio(rounding, norms, alive, 1.0), _ratio(1.0, norms, alive, 0.0)
        noise = EPS * (_SUM_ROUNDINGS + _ratio(mean_squares, d0, alive, 0.0))
        if not alive.all():
            means = np.where(alive, means, 0.0)
        X = ScaledMatrix(
            matrix, True, means, factors, alive, sizes, norms, noise, root, total, work
        )
        VtX = X._reduce(scan.VtX, offset_of(V, root))
        if scan.gram is not None:
            whole = X._reduce(scan.gram, total * means)
            whole *= factors[:, None]
            whole[~alive] = 0.0
            X = replace(X, whole=whole)
        if scan.cut is not None:
            X = replace(X, copy=_copy_of(X, scan.cut))
    return X, VtX


def _copy_of(X: ScaledMatrix, cut: Cut) -> ByteCopy:
    """Return the copy in bytes; columns whose scales were guessed badly are cut again."""
    N, n = X.shape
    again = cut_again(cut, X.norms, X.alive, N)
    if is_few(again, n):
        for J in X.matrix._batches(again):
            recut(cut, J, X.matrix.columns(J))
    else:
        X.work.passes += 1
        cut = X.matrix.scan_and_copy(np.empty((N, 0)), largest(cut, X.means)).cut
    return ByteCopy.of(cut, N, X.means, X.norms, X.alive)


def normalize(
    matrix: Matrix, Z: Floats, w: Floats | None = None, ignored: Indices | None = None
) -> tuple[ScaledMatrix, Floats]:
    """Take the first look at a matrix: norms, Z'X and whether all is finite. Nothing is centered.

    One read of X, two if squares of columns leave the range of numbers. Z (N, q) are columns of
    norm one, made of weighted rows; w and `ignored` as for `center`, which raises the same, too.
    """
    root, looks = roots_of(w), 1
    wanted = np.ones(matrix.shape[1], dtype=bool)
    if ignored is not None:
        wanted[ignored] = False
    with np.errstate(all="ignore"):  # overflow and NaN are looked for, and dealt with
        scan = matrix.scan(Z, root)
        sample = partial(pilot_sample, matrix, root)
        scale, _ = scale_into_range(matrix, scan, wanted, sample, root)
        if (scale != 1.0).any():
            matrix, looks = matrix.rescaled(np.zeros(len(scale)), scale), 2
            scan = matrix.scan(Z, root)
        alive, norms = wanted & (scan.squares > 0), np.sqrt(scan.squares)
        X = ScaledMatrix(
            matrix,
            centered=False,
            means=np.zeros(len(norms)),
            factors=_ratio(1.0, norms, alive, 0.0),
            alive=alive,
            sizes=matrix.precision,
            norms=norms,
            noise=np.full(len(norms), EPS * _SUM_ROUNDINGS),
            root=root,
            total=total_weight(w, matrix.shape[0]),
            work=Work(looks, looks * (1 + Z.shape[1])),
        )
        return X, X._reduce(scan.VtX, np.zeros(Z.shape[1]))


def _ratio(a: Floats | float, b: Floats, where: NDArray[np.bool_], otherwise: float) -> Floats:
    """Return a / b where that means anything; mostly it does everywhere, which is quicker."""
    if where.all():
        return a / b
    return np.divide(a, b, out=np.full_like(b, otherwise), where=where)
