"""A NumPy array of any numeric dtype, order and stride; read by tiles, never copied whole.

The products and sums of a tile, which selection spends its time on, stand at the end, each by a
kernel and by NumPy without it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import (
    EPS,
    FLOAT32_ROWS,
    Floats,
    Indices,
    Matrix,
    Scan,
    squared_errors,
    storage_precision,
)
from orthoselect.matrix.byte_copy import (
    KINDS,
    PANEL,
    PEAKS,
    QUAD_ROWS,
    SQUARES,
    SUMS,
    Cut,
    cut_block,
    room_for_copy,
    scales_of,
)
from orthoselect.matrix.planes import cross_of_classes
from orthoselect.matrix.rows import CodedRows, Rows, cut
from orthoselect.matrix.threads import BUNDLES, Total, add_up, run_tasks
from orthoselect.native import aligned, kernels

# A tile that has to be converted should stay in a core's own cache; others may be larger.
_TILE_BYTES = 1 << 20
_VIEW_BYTES = 1 << 25
# Rows are cut into tasks of at least so many, or adding up their results would cost too much;
# tables that are too short for that are cut into slabs of columns, whose results stand apart.
_MIN_ROWS, _MIN_NUMBERS, _TASKS = 128, 1 << 16, 8
_SHORT = 2048
_SLABS, _MIN_WIDTH = 8, 1024
_READ = 8  # products that reading a number is worth
_FEW_CLASSES = 2  # products with the basis of so few are as quick as sums
MOST_CLASSES = 64  # sums of more leave the nearest cache, and then products are as quick
_FEW_BITS = 6
_LINE = 64  # bytes of a line of the cache
_SAMPLED = 32  # rows by which the scales of a copy in bytes are guessed
# With more columns BLAS, which copies the block into an order of its own first, is as quick.
_THIN = 24
_FEW = 256  # with more products BLAS is quicker, though it needs the columns copied
_NUMBERS = 1 << 17  # converted or copied at a time
_TOTAL_BYTES = 1 << 25  # of products that each bundle of tasks may have to itself
_IN_RANGE = 15  # orders of magnitude that float32, and its squares, have room for
_rooms = threading.local()  # where each thread converts tiles, one after the other

Tile = tuple[slice, slice]  # rows, columns


class DenseMatrix(Matrix):
    """A two-dimensional NumPy array, presented as (X - shift) * scale; it is only ever read.

    float64 and float32 tiles are views of the array; other dtypes, and shifted or scaled columns,
    are converted tile by tile. float32 is multiplied in float32 and added up in float64, unless
    products are asked for `in_double`.
    """

    has_gram = True
    takes_coded = True

    def __init__(
        self,
        X: NDArray,
        *,
        shift: Floats | None = None,
        scale: Floats | None = None,
        in_double: bool = False,
    ) -> None:
        self._X = X
        self._shift = shift
        self._scale = scale
        self._dtype = np.float32 if X.dtype == np.float32 and scale is None else np.float64
        self._in_double = in_double or self._dtype == np.float64
        self._as_stored = shift is None and scale is None
        self.shape = (X.shape[0], X.shape[1])
        self.has_copy = kernels() is None or stands_by_rows(X)
        self._short_and_wide = X.shape[0] < _SHORT and X.shape[1] >= 2 * _MIN_WIDTH
        self.precision = storage_precision(X.dtype, X.shape[1])
        self.arithmetic = EPS if self._in_double else float(np.finfo(np.float32).eps)

    @property
    def nbytes(self) -> int:
        return self._X.nbytes

    def every(self, step: int) -> Matrix:
        return type(self)(self._X[::step], shift=self._shift, scale=self._scale)

    def columns(self, J: Indices) -> Floats:
        return self._present(self._X[:, J], J)

    def columns_at(self, J: Indices, rows: slice) -> Floats:
        return self._present(self._X[rows][:, J], J)

    def cross(self, Z: Floats) -> Floats:
        Z = np.ascontiguousarray(Z, dtype=np.float64 if self._in_double else np.float32)

        def work(tile: Tile, total: Total) -> None:
            for rows, columns, B in self._tiles(tile):
                add_cross(Z[rows], B, total[0][:, columns])

        return self._run(work, (Z.shape[1], self.shape[1]))[0]

    def cross_permuted(self, Z: Any, means: Floats, factors: Floats) -> Floats:
        # Numbers that float32 has room for are scaled at the end: one step less for each tile.
        later = self._scale is None and self._X.dtype.kind in "fiu"
        later = later and bool(((factors == 0) | (np.abs(np.log10(factors)) < _IN_RANGE)).all())
        offset = means if self._shift is None else means + self._shift
        if later and Z.are_classes and self._has_kernel():
            found = cross_of_classes(Z, self._X, offset)
            found *= factors
            return found
        n, width = self.shape[1], Z.shape[1]
        # Threads have totals of their own, unless these are large: then a slab of columns each.
        n_slabs = 1 if 8 * width * n <= _TOTAL_BYTES else max(2, 8 * width * n // _TOTAL_BYTES)
        slabs = [slice(a, min(a + -(-n // n_slabs), n)) for a in range(0, n, -(-n // n_slabs))]
        tiles = Z.tiles(FLOAT32_ROWS)
        if n_slabs == 1:
            tasks = [(rows, slabs[0]) for rows in tiles]
        else:
            tasks = [(slice(0, len(Z)), slab) for slab in slabs]

        def work(task: Tile, total: Total) -> None:
            for rows in tiles if n_slabs > 1 else [task[0]]:
                A, columns = self._X[rows, task[1]], task[1]
                B = np.empty(A.shape, dtype=np.float32)
                if later:
                    np.subtract(A, offset[columns], out=B, casting="unsafe")
                else:
                    B[:] = (self._present(A, columns) - means[columns]) * factors[columns]
                total[0][:, columns] += Z[rows].T @ B

        cost = float(self._X.size) * width
        (found,) = run_tasks(tasks, work, (width, n), cost=cost, shared=n_slabs > 1)
        if later:
            found *= factors
        return found

    def _has_kernel(self) -> bool:
        stored = self._X.dtype in (np.float32, np.float64) and stands_by_rows(self._X)
        return stored and kernels() is not None

    def gram(
        self, J: Indices, means: Floats, factors: Floats, root: Floats | None
    ) -> tuple[Floats, Floats, Floats]:
        if self._short_and_wide:
            return super().gram(J, means, factors, root)
        n, b = self.shape[1], len(J)
        w = None if root is None else root * root
        in_double = self._in_double
        about = means if in_double else _few_bits(means, _FEW_BITS)
        power = factors if in_double else _few_bits(factors, 1)

        def work(tile: Tile, total: Total) -> None:
            for rows, _, B in self._tiles(tile):
                add_gram(B, J, about, power, cut(w, rows), *total, in_double=in_double)

        ZtX, sums, errors2 = self._run(work, (b, n), (b,), (b,), merge=_add_up_but_errors)
        if not in_double:
            left = np.divide(factors, power, out=np.zeros(b), where=power != 0)
            ZtX *= left[:, None]
            sums, errors2 = sums * left, errors2 * left * left
        return ZtX, sums, errors2

    def scan(self, V: Rows, root: Floats | None, *, gram: bool = False) -> Scan:
        if gram:
            return self._scan_gram(V, root)
        n, m = self.shape[1], V.shape[1]
        if isinstance(V, CodedRows) and _FEW_CLASSES < len(V.table) <= MOST_CLASSES:
            return self._scan_classes(V, root)

        def work(tile: Tile, total: Total) -> None:
            for rows, columns, B in self._tiles(tile, exact=True):
                Z = np.empty((len(B), m + 1))  # [w, root * V]
                Z[:, 0] = 1.0 if root is None else root[rows] * root[rows]
                Z[:, 1:] = V[rows] if root is None else V[rows] * root[rows, None]
                if root is None:
                    add_cross(Z, B, total[0][:, columns], total[1][columns])
                    continue
                add_cross(Z, B, total[0][:, columns])
                A = B * root[rows, None]  # weights before squares: a row without any may overflow
                total[1][columns] += np.einsum("ij,ij->j", A, A, dtype=np.float64)

        ZtX, squares = self._run(work, (m + 1, n), (n,))
        return Scan(ZtX[0], squares, ZtX[1:])

    def _scan_classes(self, V: CodedRows, root: Floats | None) -> Scan:
        """Add up the columns class by class, in float64: V'X follows."""
        n = self.shape[1]
        # The sums of several classes should not all fall on the same few lines of the cache.
        width = n + 8 if n % 128 == 0 else n

        def work(tile: Tile, total: Total) -> None:
            for rows, columns, B in self._tiles(tile, exact=True):
                w = None if root is None else root[rows] * root[rows]
                add_class_sums(B, V.codes[rows], w, total[0][:, columns], total[1][columns])

        S, squares = self._run(work, (len(V.table), width), (n,))
        S = S[:, :n]
        return Scan(S.sum(axis=0), squares, V.table.T @ S)

    def scan_and_copy(self, V: Rows, among: tuple[Floats, Floats] | None = None) -> Scan:
        (N, n), m = self.shape, V.shape[1]
        if among is None:
            among = self._guess_scales()
        centers, scales = among
        cut = Cut(room_for_copy(N, n), centers, scales, np.zeros((KINDS, n)))

        def work(tile: Tile, total: Total) -> None:
            for rows, columns, B in self._tiles(tile, exact=True):
                panels = slice(columns.start // PANEL, -(-columns.stop // PANEL))
                given = (centers[columns], scales[columns], total[0][:, columns])
                part = Cut(cut.copy[panels], *given)
                cut_block(B, V[rows], part, rows.start // QUAD_ROWS, total[1][:, columns])

        found, VtX = self._run(work, (KINDS, n), (m, n), merge=_add_up_but_peaks, by=PANEL)
        return Scan(found[SUMS], found[SQUARES], VtX, cut=cut._replace(found=found))

    def _guess_scales(self) -> tuple[Floats, Floats]:
        """Return centers and scales of bytes, as some rows suggest; in little memory."""
        N, n = self.shape
        rows = self._X[:: max(1, N // _SAMPLED)][:_SAMPLED]
        parts = []
        for start in range(0, n, _TILE_BYTES // (8 * _SAMPLED)):
            J = slice(start, start + _TILE_BYTES // (8 * _SAMPLED))
            parts.append(scales_of(self._present(rows[:, J], J)))
        centers, scales = (np.concatenate(each) for each in zip(*parts))
        return centers, scales

    def _scan_gram(self, V: Floats, root: Floats | None) -> Scan:
        """Multiply [root * X, root, V] with itself: everything is in that product.

        In float64 always: doubtful winners of a tall float32 table would cost more to measure.
        """
        n, m = self.shape[1], V.shape[1]
        # Stored column by column, X is copied so; BLAS does not mind, and a transpose takes longer.
        order: Literal["C", "F"] = "F" if self._X.strides[0] < self._X.strides[1] else "C"

        def work(tile: Tile, total: Total) -> None:
            for rows, _ in self._row_tiles(tile):
                A = np.empty((rows.stop - rows.start, n + 1 + m), order=order)
                B = A[:, :n]  # to be shifted and scaled in its place: one copy, not two
                if self._shift is None:
                    B[...] = self._X[rows]
                else:
                    np.subtract(self._X[rows], self._shift, out=B)
                if self._scale is not None:
                    B *= self._scale
                A[:, n], A[:, n + 1 :] = 1.0, V[rows]
                if root is not None:
                    A[:, : n + 1] *= root[rows, None]
                total[0] += A.T @ A

        side, cost = n + 1 + m, self._X.size * (n // 2 + _READ)
        (G,) = run_tasks(self._row_tasks(), work, (side, side), cost=cost)
        XtX = np.ascontiguousarray(G[:n, :n])
        return Scan(G[n, :n].copy(), XtX.diagonal().copy(), G[n + 1 :, :n].copy(), XtX)

    def block_gram(self, J: Indices, root: Floats | None) -> Floats:
        order = np.argsort(J)  # rows are read from left to right
        J = J[order]
        shift, scale = (None if a is None else a[J] for a in (self._shift, self._scale))

        def work(tile: Tile, total: Total) -> None:
            rows = tile[0]
            add_inner_products(self._X[rows], J, shift, scale, cut(root, rows), total[0])

        products = np.empty((len(J), len(J)))
        (found,) = run_tasks(self._row_tasks(), work, products.shape)
        products[np.ix_(order, order)] = found
        return products

    def in_double(self) -> Matrix:
        if self._in_double or kernels() is None or not stands_by_rows(self._X):
            return self  # BLAS would have to copy the table into float64
        exact = type(self)(self._X, shift=self._shift, in_double=True)
        exact.precision = self.precision
        return exact

    def rescaled(self, shift: Floats, scale: Floats) -> Matrix:
        old_shift = 0.0 if self._shift is None else self._shift
        old_scale = np.ones(self.shape[1]) if self._scale is None else self._scale
        new_scale = old_scale * scale
        new_shift = old_shift + shift / old_scale
        if self._dtype == np.float32:  # one shift for float32 tiles and float64 columns
            new_shift = new_shift.astype(np.float32).astype(np.float64)
        moved = type(self)(
            self._X,
            shift=new_shift if new_shift.any() else None,
            scale=new_scale if (new_scale != 1.0).any() else None,
            in_double=self._in_double,
        )
        moved.precision = self.precision
        return moved

    def pilot(self, rows: Indices) -> Floats:
        return self._present(self._X[rows], slice(None))

    def _run(
        self,
        work: Callable[[Tile, Total], None],
        *shapes: tuple[int, ...],
        merge: Callable[[Total, Total], None] = add_up,
        by: int = 1,
    ) -> Total:
        """Do the work on every tile, adding up arrays of these shapes.

        Tiles begin at rows that are multiples of four, and at columns that are multiples of `by`.
        """
        N, n = self.shape
        cost = self._X.size * (shapes[0][0] + _READ)
        if not self._short_and_wide:
            return run_tasks(self._row_tasks(), work, *shapes, cost=cost, merge=merge)
        width = -(-max(_MIN_WIDTH, -(-n // _SLABS)) // by) * by
        slabs = [(slice(0, N), slice(j, min(j + width, n))) for j in range(0, n, width)]
        return run_tasks(slabs, work, *shapes, cost=cost, shared=True)

    def _row_tasks(self) -> list[Tile]:
        N, n = self.shape
        largest, even = _VIEW_BYTES // (self._X.itemsize * max(n, 1)), -(-N // _TASKS)
        height = max(_MIN_ROWS, _MIN_NUMBERS // max(n, 1), min(largest, even))
        if BUNDLES * height < N:  # as many in each bundle
            height = -(-N // (-(-N // (BUNDLES * height)) * BUNDLES))
        height = -(-height // QUAD_ROWS) * QUAD_ROWS
        return [(slice(i, min(i + height, N)), slice(0, n)) for i in range(0, N, height)]

    def _row_tiles(self, tile: Tile) -> list[Tile]:
        """Cut a tile by rows, for the cache, if it is converted."""
        rows, columns = tile
        if self._X.dtype == self._dtype and self._as_stored:
            return [tile]
        height = max(16, _TILE_BYTES // (8 * max(columns.stop - columns.start, 1)))
        height -= height % QUAD_ROWS
        starts = range(rows.start, rows.stop, height)
        return [(slice(i, min(i + height, rows.stop)), columns) for i in starts]

    def _tiles(self, tile: Tile, *, exact: bool = False) -> Iterator[tuple[slice, slice, NDArray]]:
        """Yield a tile to multiply, part by part; if `exact`, float32 is shifted in float64.

        A part that is converted is good until the next, which is written over it.
        """
        as_float64 = (exact or self._in_double) and not self._as_stored
        dtype = np.dtype(np.float64 if as_float64 else self._dtype)
        for rows, columns in self._row_tiles(tile):
            B = self._X[rows, columns]
            if self._as_stored and B.dtype == dtype:
                yield rows, columns, np.asarray(B)
            else:
                yield rows, columns, self._present(B, columns, _room_for(B, dtype))

    def _present(self, B: NDArray, J: Indices | slice, out: NDArray | None = None) -> NDArray:
        """Write numbers of columns J as they are presented, shifted and scaled; return `out`.

        Without it they are written to a new array of float64.
        """
        if out is None:
            out = np.empty_like(B, dtype=np.float64, subok=False)
        np.copyto(out, B, casting="unsafe")
        if self._shift is not None:
            out -= self._shift[J].astype(out.dtype)
        if self._scale is not None:
            out *= self._scale[J].astype(out.dtype)
        return out


def _room_for(B: NDArray, dtype: np.dtype) -> NDArray:
    """Return where this thread may convert B, laid out as B is; the next call gives it again.

    Memory that is taken and given back for each tile may be fresh from the system every time, and
    then costs as much as converting.
    """
    order: Literal["C", "F"] = "F" if B.strides[0] < B.strides[1] else "C"
    if B.size * dtype.itemsize > 2 * _TILE_BYTES:  # not to be kept for good
        return np.empty(B.shape, dtype, order=order)
    kept = getattr(_rooms, "tile", None)
    if kept is None:
        free = np.empty(2 * _TILE_BYTES + _LINE, dtype=np.uint8)
        start = -free.ctypes.data % _LINE  # loads of the kernels then stay within lines
        kept = _rooms.tile = free[start : start + 2 * _TILE_BYTES]
    return kept.view(dtype)[: B.size].reshape(B.shape, order=order)


def _add_up_but_errors(total: Total, more: Total) -> None:
    """Add up products and sums; the errors behind them are not a sum but the largest of all."""
    add_up(total[:-1], more[:-1])
    np.maximum(total[-1], more[-1], out=total[-1])


def _add_up_but_peaks(total: Total, more: Total) -> None:
    """Add up what is found while columns are cut; the largest numbers are not a sum."""
    peaks = np.maximum(total[0][PEAKS], more[0][PEAKS])
    add_up(total, more)
    total[0][PEAKS] = peaks


def _few_bits(values: Floats, bits: int) -> Floats:
    """Round numbers to few binary digits.

    What is subtracted from float32 numbers of few digits, or multiplied with them, so rounds
    nothing; and where all are alike, as columns of zeros and ones, no error can add up.
    """
    fractions, exponents = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(fractions, bits)), exponents - bits)


# Products and sums: B (rows, n) is a tile of the table in float64 or float32, Z (rows, b) the
# columns it is multiplied with. Totals are float64, and are added to.


def add_cross(Z: NDArray, B: NDArray, ZtB: Floats, squares: Floats | None = None) -> None:
    """Add the products Z'B, (b, n), and the sums of squares of B's columns, (n,), if asked for.

    Z has the dtype of B; or it is float64, and then so are all products.
    """
    if _by_kernel(B, Z.shape[1]):
        kernels().cross(aligned(Z), aligned(B), ZtB, squares)
        return
    _add_by_blas(Z, B, ZtB)
    if squares is not None:
        squares += np.einsum("ij,ij->j", B, B, dtype=np.float64)


def add_gram(
    B: NDArray,
    J: Indices,
    means: Floats,
    factors: Floats,
    w: Floats | None,
    ZtB: Floats,
    sums: Floats,
    errors2: Floats,
    *,
    in_double: bool = False,
) -> None:
    """Add Z'B, (b, n), and the column sums of Z = w * (B[:, J] - means) * factors, (b,).

    Raise errors2 to the squared usual error of products with columns of norm one, in roundings of
    float32; see `squared_errors`. With `in_double`, products are float64's whatever B is.
    """
    if _by_kernel(B, len(J)):
        w = None if w is None else aligned(w)
        given = (aligned(each) for each in (B, J, means, factors))
        kernels().gram(*given, w, ZtB, sums, errors2, in_double)
        return
    Z = _some_columns(B, J)
    Z -= means
    Z *= factors
    if B.dtype == np.float32:
        np.maximum(errors2, squared_errors(Z, w), out=errors2)
    if w is not None:
        Z *= w[:, None]
    if not in_double:
        Z = Z.astype(B.dtype, copy=False)
    _add_by_blas(Z, B, ZtB)
    sums += Z.sum(axis=0, dtype=np.float64)


def take_columns(B: NDArray, J: Indices) -> Floats:
    """Return B[:, J] as a new float64 array, rows in one piece."""
    if B.dtype not in (np.float32, np.float64) or not _by_kernel(B, 1):
        return _some_columns(B, J)
    A = np.empty((len(B), len(J)))
    kernels().take(aligned(B), aligned(J), A)
    return A


def _some_columns(B: NDArray, J: Indices) -> Floats:
    # `take` is the quicker one, but copies all of a block that does not stand in one piece.
    columns = B.take(J, axis=1) if B.flags.c_contiguous else B[:, J]
    return np.ascontiguousarray(columns, dtype=np.float64)


def _add_by_blas(Z: NDArray, B: NDArray, ZtB: Floats) -> None:
    # float32 sums are to be short, and so are copies where B is float32 and Z is not.
    height = FLOAT32_ROWS if B.dtype == np.float32 else max(len(B), 1)
    for start in range(0, len(B), height):
        rows = slice(start, start + height)
        ZtB += Z[rows].T @ B[rows]


def _by_kernel(B: NDArray, b: int) -> bool:
    """Whether there is a kernel, and it pays: few products, of rows that stand in one piece."""
    return b <= _THIN and kernels() is not None and stands_by_rows(B)


def stands_by_rows(B: NDArray) -> bool:
    """Whether the rows of a block stand in one piece each, one behind the other."""
    steps = B.strides
    return steps[1] == B.itemsize and steps[0] >= 0 and steps[0] % B.itemsize == 0


def add_class_sums(
    B: NDArray, codes: NDArray, w: Floats | None, sums: Floats, squares: Floats
) -> None:
    """Add the sums of B's rows, weighted by w, over each class, (classes, n), and of squares, (n,).

    `codes`, (rows,), are the classes of the rows.
    """
    if kernels() is not None and stands_by_rows(B):
        w = None if w is None else aligned(np.ascontiguousarray(w))
        codes = np.ascontiguousarray(codes, dtype=np.uint8)
        kernels().class_sums(aligned(B), codes, w, sums, squares)
        return
    indicators = np.eye(len(sums))
    height = max(16, _NUMBERS // max(B.shape[1], 1))
    for start in range(0, len(B), height):
        rows = slice(start, start + height)
        A = B[rows].astype(np.float64)
        Z = indicators[codes[rows]]
        if w is not None:
            Z *= w[rows, None]
        sums += Z.T @ A
        squares += np.einsum("ij,ij->j", A, A if w is None else A * w[rows, None])


def add_inner_products(
    B: NDArray,
    J: Indices,
    shift: Floats | None,
    scale: Floats | None,
    root: Floats | None,
    out: Floats,
) -> None:
    """Add A'A, (len(J), len(J)), where A = root * (B[:, J] - shift) * scale.

    B may be of any numeric dtype; shift and scale have a number for each of J.
    """
    few = len(out) <= _FEW and B.dtype in (np.float32, np.float64)
    if few and stands_by_rows(B) and kernels() is not None:
        given = (shift, scale, root)
        others = (None if a is None else aligned(np.ascontiguousarray(a)) for a in given)
        kernels().inner_products(aligned(B), aligned(J), *others, out)
        return
    height = max(16, _NUMBERS // max(len(J), 1))
    for start in range(0, len(B), height):
        rows = slice(start, start + height)
        A = take_columns(B[rows], J)
        if shift is not None:
            A -= shift
        if scale is not None:
            A *= scale
        if root is not None:
            A *= root[rows, None]
        out += A.T @ A
