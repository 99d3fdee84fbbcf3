"""Any kind of matrix with its columns at norm one and nothing centered.

Notation: X as presented by the kind, w row weights with root = sqrt(w). The normed matrix is
root * X / norm; it is never formed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import Floats, Indices, Matrix
from orthoselect.matrix.centered import Work
from orthoselect.matrix.normed_geometry import (
    NormedGeometry,
    RowNormedGeometry,
    StreamedNormedGeometry,
)
from orthoselect.matrix.presented import pilot_sample, scale_into_range
from orthoselect.matrix.rows import Rows
from orthoselect.matrix.tiles import Scaling, products_of, work_on_tiles

Part = TypeVar("Part")


@dataclass(frozen=True)
class NormedMatrix:
    """A matrix with weighted rows and columns scaled to norm one.

    Columns of zeros, and ignored ones, are all zero.

    Attributes
    ----------
    alive : boolean array of shape (n,)
        Columns that are not zero.
    inverse : array of shape (n,)
        One over the norm of each column, 0 for those that are not alive.
    sizes : array of shape (n,)
        One rounding of the stored column, relative to its norm; see `Basis`.
    work : Work
        What has been asked so far.
    """

    matrix: Matrix
    alive: NDArray[np.bool_]
    inverse: Floats
    root: Floats | None
    work: Work = field(default_factory=Work)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, (N, n)."""
        return self.matrix.shape

    @property
    def sizes(self) -> Floats:
        return self.matrix.precision

    def columns(self, J: Indices) -> Floats:
        """Return the columns J at norm one, (N, len(J))."""
        self.work.columns += len(J)
        A = self.matrix.columns(J)
        A *= self.inverse[J]
        if self.root is not None:
            A *= self.root[:, None]
        return A

    def cross(self, Z: Floats) -> Floats:
        """Return the products of Z with all columns, (Z.shape[1], n)."""
        self.work.passes += 1
        self.work.products += Z.shape[1]
        Z = Z if self.root is None else Z * self.root[:, None]
        with np.errstate(all="ignore"):  # columns nobody asks for may hold anything
            return self._reduce(self.matrix.cross(Z))

    def geometry(self, Z: Floats, u: Floats) -> NormedGeometry:
        """Return what can ask the real columns; Z, (N, q), are responses, u, (N,), the mean."""
        kind = RowNormedGeometry if self.matrix.memory is None else StreamedNormedGeometry
        return kind(self, Z, u)

    def reduce_columns(
        self,
        J: Indices,
        work: Callable[..., Part],
        merge: Callable[[Part, Part], Part],
        along: Sequence[Rows | None] = (),
    ) -> Part:
        """Merge what ``work(A, root, *along)`` gives of the columns J, some rows at a time.

        A are these rows of them, at norm one, root is their part of the weights.
        """
        self.work.columns += len(J)
        tiles = partial(work_on_tiles, J, Scaling(None, self.inverse[J]), work, merge)
        return self.matrix.reduce(tiles, merge, J, [self.root, *along])

    def cross_of(
        self, J: Indices, make: Callable[..., Floats], first: int, *others: Floats
    ) -> list[Floats]:
        """Return products of directions that ``make(A, root)`` gives of columns J, in one pass.

        Those from the first that is wanted with all columns; all of them with each other; others,
        of shape (N, any) or (N,), with all of them.
        """
        with np.errstate(all="ignore"):  # columns nobody asks for may hold anything
            work = partial(products_of, J, Scaling(None, self.inverse[J]), make, first)
            QtX, sums, *products = self.matrix.total(work, None, [self.root, *others])
            self.work.passes += 1
            self.work.products += len(sums)
            return [self._reduce(QtX), *products]

    def stats(self) -> dict[str, int]:
        """Return what was asked of the table so far, and what that took to read."""
        asked = {"products": self.work.products, "columns_read": self.work.columns}
        return {"passes": self.work.passes, **asked, **self.matrix.stats()}

    def _reduce(self, ZtX: Floats) -> Floats:
        ZtX[:, ~self.alive] = 0.0
        ZtX *= self.inverse
        return ZtX


def normalize(
    matrix: Matrix, Z: Floats, w: Floats | None = None, ignored: Indices | None = None
) -> tuple[NormedMatrix, Floats]:
    """Take the first look at a matrix: norms, Z'X and whether all is finite.

    One read of X, two if squares of columns leave the range of numbers.

    Parameters
    ----------
    matrix : Matrix
    Z : array of shape (N, q)
        Columns of norm one, made of weighted rows.
    w : array of shape (N,), optional
        Row weights, not all zero.
    ignored : indices, optional
        Columns that nobody will ask for; they may hold anything.

    Returns
    -------
    normed : NormedMatrix
    ZtX : array of shape (q, n)

    Raises
    ------
    NonFiniteColumns
    """
    root = None if w is None else np.sqrt(w)
    wanted = np.ones(matrix.shape[1], dtype=bool)
    wanted[ignored if ignored is not None else []] = False
    work = Work(passes=1, products=1 + Z.shape[1])
    with np.errstate(all="ignore"):  # overflow and NaN are looked for, and dealt with
        scan = matrix.scan(Z, root)
        sample = partial(pilot_sample, matrix, root)
        scale, _ = scale_into_range(matrix, scan, wanted, sample, root)
        if (scale != 1.0).any():
            matrix = matrix.rescaled(np.zeros(len(scale)), scale)
            scan = matrix.scan(Z, root)
            work.passes, work.products = 2 * work.passes, 2 * work.products
        alive = wanted & (scan.squares > 0)
        ones = np.zeros_like(scan.squares)
        inverse = np.divide(1.0, np.sqrt(scan.squares), out=ones, where=alive)
        X = NormedMatrix(matrix, alive, inverse, root, work)
        return X, X._reduce(scan.VtX)
