"""Radial functions around some points, made a block of rows at a time and never written out.

Notation: the rows are N points of p inputs, the centers K points of as many; r is the distance of a
row from a center, and b the width of the functions:

    gaussian                exp(-(r/b)^2)
    multiquadric            sqrt((r/b)^2 + 1)
    inverse_multiquadric    1 / sqrt((r/b)^2 + 1)
    thin_plate              (r/b)^2 ln(r/b), and 0 at its center

Columns of the matrix are the constant 1 and the inputs themselves, if these are asked for, then one
function for each center.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from orthoselect.matrix.base import Floats, Indices, Matrix, Scan, storage_precision
from orthoselect.matrix.rows import cut
from orthoselect.matrix.threads import BUNDLES, Total, run_tasks

_TILE_BYTES = 1 << 20  # what a tile of columns takes, so that it stays in a core's own cache
_LEAST_HEIGHT = 64
_LEAST_TASK = 1 << 14  # numbers, each of which takes a root, a logarithm or the like
_COST = 16  # of one of them, in products


def _thin_plate(s: Floats) -> Floats:
    from scipy.special import xlogy

    return 0.5 * xlogy(s, s)


# Each function of s = (r/b)^2.
KERNELS: dict[str, Callable[[Floats], Floats]] = {
    "gaussian": lambda s: np.exp(-s),
    "multiquadric": lambda s: np.sqrt(s + 1.0),
    "inverse_multiquadric": lambda s: 1.0 / np.sqrt(s + 1.0),
    "thin_plate": _thin_plate,
}


def radial_values(points: Floats, centers: Floats, kernel: str, width: float) -> Floats:
    """Return the functions around the centers (K, p) at some points (N, p), (N, K).

    Examples
    --------
    >>> radial_values(np.array([[0.0], [2.0]]), np.array([[0.0]]), "multiquadric", 1.0).round(3)
    array([[1.   ],
           [2.236]])
    """
    # Distances are sums of squared differences, which lose no digits where points are near each
    # other. Importing SciPy's functions takes long, and few need them.
    from scipy.spatial.distance import cdist

    s = cdist(points, centers, "sqeuclidean")
    s /= width * width
    return KERNELS[kernel](s)


class KernelMatrix(Matrix):
    """Radial functions as columns, presented as (X - shift) * scale.

    Only the points and the centers are held. The constant, if there is one, is column 0; then come
    the p inputs, if `linear`; the function around center k is column `first_center` + k.

    Parameters
    ----------
    points : array of shape (N, p)
    centers : array of shape (K, p)
    kernel : {"gaussian", "multiquadric", "inverse_multiquadric", "thin_plate"}
    width : float
        The unit of distances.
    constant, linear : bool
        Whether the constant 1, and the inputs, are columns, too.
    """

    has_gram = True

    def __init__(
        self,
        points: Floats,
        centers: Floats,
        kernel: str = "gaussian",
        width: float = 1.0,
        *,
        constant: bool = False,
        linear: bool = False,
        shift: Floats | None = None,
        scale: Floats | None = None,
    ) -> None:
        self._points, self._centers = points, centers
        self._kernel, self._width = kernel, width
        self._constant, self._linear = constant, linear
        self._shift, self._scale = shift, scale
        self.first_center = int(constant) + (points.shape[1] if linear else 0)
        self.shape = (len(points), self.first_center + len(centers))
        self.precision = storage_precision(np.dtype(np.float64), self.shape[1])

    @property
    def nbytes(self) -> int:
        return self._points.nbytes + self._centers.nbytes

    def every(self, step: int) -> Matrix:
        return self._of(self._points[::step], self._shift, self._scale)

    def rescaled(self, shift: Floats, scale: Floats) -> Matrix:
        old_shift = 0.0 if self._shift is None else self._shift
        old_scale = np.ones(self.shape[1]) if self._scale is None else self._scale
        new_shift, new_scale = old_shift + shift / old_scale, old_scale * scale
        return self._of(
            self._points,
            new_shift if new_shift.any() else None,
            new_scale if (new_scale != 1.0).any() else None,
        )

    def _of(self, points: Floats, shift: Floats | None, scale: Floats | None) -> KernelMatrix:
        return type(self)(
            points,
            self._centers,
            self._kernel,
            self._width,
            constant=self._constant,
            linear=self._linear,
            shift=shift,
            scale=scale,
        )

    # Some columns

    def columns(self, J: Indices) -> Floats:
        return self._some(J, slice(None))

    def columns_at(self, J: Indices, rows: slice) -> Floats:
        return self._some(J, rows)

    def pilot(self, rows: Indices) -> Floats:
        return self._tile(rows)

    def _some(self, J: Indices, rows: slice) -> Floats:
        """Make columns J of some rows; a number is the same whichever others are made with it."""
        J, points = np.asarray(J), self._points[rows]
        A = np.empty((len(points), len(J)), order="F")
        input_at = J - int(self._constant)
        is_radial = self.first_center <= J
        is_input = ~is_radial & (input_at >= 0)
        A[:, ~is_radial & ~is_input] = 1.0
        A[:, is_input] = points[:, input_at[is_input]]
        if is_radial.any():
            centers = self._centers[J[is_radial] - self.first_center]
            A[:, is_radial] = radial_values(points, centers, self._kernel, self._width)
        if self._shift is not None:
            A -= self._shift[J]
        if self._scale is not None:
            A *= self._scale[J]
        return A

    # Products with all columns, a tile of rows at a time

    def cross(self, Z: Floats) -> Floats:
        def work(rows: slice, total: Total) -> None:
            for here in self._tiles(rows):
                total[0] += Z[here].T @ self._tile(here)

        return self._run(work, (Z.shape[1], self.shape[1]))[0]

    def scan(self, V: Floats, root: Floats | None, *, gram: bool = False) -> Scan:
        n, m = self.shape[1], V.shape[1]

        def work(rows: slice, total: Total) -> None:
            for here in self._tiles(rows):
                A, r = self._tile(here), cut(root, here)
                Z = np.empty((len(A), m + 1))
                Z[:, 0], Z[:, 1:] = 1.0 if r is None else r, V[here]
                if r is not None:
                    A *= r[:, None]
                total[0] += Z.T @ A
                total[1] += A.T @ A if gram else np.einsum("ij,ij->j", A, A)

        ZtX, products = self._run(work, (m + 1, n), (n, n) if gram else (n,))
        squares = products.diagonal().copy() if gram else products
        return Scan(ZtX[0], squares, ZtX[1:], products if gram else None)

    def _tile(self, rows: slice | Indices) -> Floats:
        """Return all columns of some rows."""
        points = self._points[rows]
        A = np.empty((len(points), self.shape[1]))
        A[:, : int(self._constant)] = 1.0
        if self._linear:
            A[:, int(self._constant) : self.first_center] = points
        if len(self._centers):
            values = radial_values(points, self._centers, self._kernel, self._width)
            A[:, self.first_center :] = values
        if self._shift is not None:
            A -= self._shift
        if self._scale is not None:
            A *= self._scale
        return A

    def _run(self, work: Callable[[slice, Total], None], *shapes: tuple[int, ...]) -> Total:
        """Do the work on runs of rows, adding up arrays of these shapes."""
        N, n = self.shape
        height = max(_LEAST_HEIGHT, _LEAST_TASK // max(n, 1), -(-N // BUNDLES))
        tasks = [slice(i, min(i + height, N)) for i in range(0, N, height)]
        return run_tasks(tasks, work, *shapes, cost=N * n * (shapes[0][0] + _COST))

    def _tiles(self, rows: slice) -> list[slice]:
        """Cut rows so that all columns of some stay in the cache."""
        height = max(_LEAST_HEIGHT, _TILE_BYTES // (8 * max(self.shape[1], 1)))
        starts = range(rows.start, rows.stop, height)
        return [slice(i, min(i + height, rows.stop)) for i in starts]
