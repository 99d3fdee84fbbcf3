"""The first look at a table: its columns are presented so that products keep their digits.

A column far from zero beside its spread is shifted before it is multiplied, and one whose squares
leave the range of floating point is scaled, by a power of two.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import EPS, Floats, Matrix, Scan
from orthoselect.matrix.rows import Rows, SpreadRows

# Removing a mean of so many spreads after the product costs its square in roundings (a thousand
# of sixteen digits' worth here); columns further off are shifted before the product.
_OFFSET_LIMIT = 32.0
_OFFSET_LIMIT_FLOAT32 = 2.0
# Squares outside these bounds may have lost digits to the ends of the float range.
_SQUARES = 1e-250, 1e250
_SQUARES_FLOAT32 = 1e-25, 1e30
_PILOT_ROWS = 16
_BACK = 64.0  # roundings of a shift within which another one undoes it
_MAX_LOOKS = 3  # the first, after a scale, after a shift


class NonFiniteColumns(Exception):  # noqa: N818  (control flow: the caller knows the names)
    """Columns with NaN or infinity: column index -> (count of NaN, count of infinity).

    `places` says of some of them where the first one is.
    """

    def __init__(
        self, counts: dict[int, tuple[int, int]], places: dict[int, str] | None = None
    ) -> None:
        super().__init__(counts)
        self.counts = counts
        self.places = places or {}


def first_look(
    matrix: Matrix,
    V: Rows,
    root: Rows | None,
    total: float,
    wanted: NDArray[np.bool_],
    *,
    gram: bool,
    copy: bool = False,
) -> tuple[Matrix, Scan, Floats | None, int]:
    """Scan until every column has kept its digits.

    Returns the matrix as it was presented last, its scan, where the presented columns have the
    zero of the stored ones, if that is not at zero, and how many scans it took. Columns that turn
    out to be constant are no longer `wanted`. With `copy`, which goes without weights and without
    `gram`, columns are cut into bytes, too.
    """
    limit = _OFFSET_LIMIT if matrix.arithmetic == EPS else _OFFSET_LIMIT_FLOAT32
    origin: Floats | None = None  # what was taken off the stored numbers, as they are presented
    sample, change = pilot_sample(matrix, root), None
    if sample is not None:
        # A few rows show which columns lie far from zero, and where: a guess saves a scan.
        middle, spread = sample.mean(axis=0), np.ptp(sample, axis=0) / 4.0
        far = np.isfinite(middle) & (spread > 0)
        far &= np.abs(middle) > (0.0 if gram else limit) * spread
        if far.any():
            if matrix.arithmetic != EPS:
                middle[far] = _few_digits(middle[far], spread[far])
            change = np.where(far, middle, 0.0), np.ones(len(far))
    for looks in range(1, _MAX_LOOKS + 1):
        if change is not None:
            shift, scale = change
            if origin is None:
                origin = np.zeros(matrix.shape[1])
            # A mean of zero, up to rounding, is zero: there most numbers of the column may be.
            back = np.abs(origin + shift) <= _BACK * EPS * np.abs(origin)
            shift = np.where(back, -origin, shift)
            matrix = matrix.rescaled(shift, scale)
            origin = (origin + shift) * scale
        scan = matrix.scan_and_copy(V) if copy else matrix.scan(V, root, gram=gram)
        if looks == _MAX_LOOKS:
            break
        change = _repairs(matrix, scan, total, wanted, limit, sample, root)
        if change is None:
            break
    return matrix, scan, origin, looks


def pilot_sample(matrix: Matrix, root: Rows | None) -> Floats | None:
    """Return a few rows that have weight; None where the kind has no use for them."""
    N = matrix.shape[0]
    # Where weights are spread, which rows have any is not worth a pass.
    rows = range(N) if root is None or isinstance(root, SpreadRows) else np.flatnonzero(root)
    rows = np.array(rows[:: max(1, len(rows) // _PILOT_ROWS)][:_PILOT_ROWS], dtype=np.intp)
    return matrix.pilot(rows)


def _repairs(
    matrix: Matrix,
    scan: Scan,
    total: float,
    wanted: NDArray[np.bool_],
    limit: float,
    sample: Floats | None,
    root: Rows | None,
) -> tuple[Floats, Floats] | None:
    """Return the shift and scale that give columns back the digits they lost, or None.

    Columns that turn out to be constant are no longer `wanted`.
    """
    offsets = scan.sums**2 / total
    near = offsets <= limit**2 * (scan.squares - offsets)
    if (near & _in_range(matrix, scan)).all():
        return None
    means = scan.sums / total
    shift = np.zeros(len(means))
    scale, extreme = scale_into_range(matrix, scan, wanted, lambda: sample, root)
    far = wanted & ~extreme & ~near
    J = np.flatnonzero(far)
    if J.size:
        constant = matrix.constant(J)
        wanted[J[constant]] = False  # nothing to gain from looking closer at what does not vary
        J = J[~constant & matrix.movable()[J]]
        shift[J] = means[J]
        if matrix.arithmetic != EPS:
            d0 = np.maximum(scan.squares[J] - offsets[J], 0.0)
            shift[J] = _few_digits(means[J], np.sqrt(d0 / total))
    return (shift, scale) if shift.any() or (scale != 1.0).any() else None


def _few_digits(shift: Floats, spread: Floats) -> Floats:
    """Round to a power of two that is small beside the spread.

    Numbers of few digits so keep few, and sums of them in float32 have less to round.
    """
    grid = np.ldexp(1.0, np.frexp(spread)[1] - 4)
    return np.where(spread > 0, np.rint(shift / grid) * grid, shift)


def scale_into_range(
    matrix: Matrix,
    scan: Scan,
    wanted: NDArray[np.bool_],
    sample: Callable[[], Floats | None],
    root: Rows | None,
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return scales that bring the squares of every wanted column into range.

    Powers of two: scaling rounds nothing. Also return which columns, wanted or not, are out of
    range as they are. If need be a few rows are asked for, as `pilot_sample` gives. Raises
    `NonFiniteColumns`.
    """
    scale = np.ones(matrix.shape[1])
    extreme = ~_in_range(matrix, scan)
    J = np.flatnonzero(wanted & extreme & ~_empty(matrix, scan, sample, root))
    if J.size:
        peaks, n_nan, n_inf = matrix.extremes(J)
        bad = (n_nan > 0) | (n_inf > 0)
        if bad.any():
            counts = {int(j): (int(a), int(b)) for j, a, b in zip(J[bad], n_nan[bad], n_inf[bad])}
            raise NonFiniteColumns(counts, matrix.locate(J[bad][:1]))
        exponents = np.frexp(peaks)[1]
        scale[J] = np.where(peaks > 0, np.ldexp(1.0, np.clip(-exponents, -1000, 1000)), 1.0)
    return scale, extreme


def _empty(
    matrix: Matrix, scan: Scan, sample: Callable[[], Floats | None], root: Rows | None
) -> NDArray[np.bool_]:
    """Return which columns hold nothing but zeros.

    Such are common, and to look at all of them takes long. Tiny numbers, too, have squares that are
    zero, and may add up to zero; but hardly ever are they zero in a few rows. With weights they may
    vanish one by one: there is no way but to look.
    """
    empty = (scan.squares == 0) & (scan.sums == 0) & ~scan.VtX.any(axis=0)
    rows = sample() if empty.any() else None
    if rows is not None:
        empty &= ~rows.any(axis=0)
    J = np.flatnonzero(empty)
    if root is not None and J.size:
        empty[J] = ~np.any(matrix.extremes(J), axis=0)  # no peak, NaN or infinity
    return empty


def _in_range(matrix: Matrix, scan: Scan) -> NDArray[np.bool_]:
    """Return which columns have squares that have lost no digits; those of NaN have."""
    low, high = _SQUARES if matrix.arithmetic == EPS else _SQUARES_FLOAT32
    return (scan.squares > low) & (scan.squares < high)
