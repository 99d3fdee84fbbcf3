"""A copy of a table in bytes, which tells products with its columns to within known bounds.

A column u, centered and at norm one, is u = ũ + e, where ũ is what the bytes say and e what they
leave out; of e only the norm is known, and that is measured, not estimated. So for orthonormal Q,
however many directions it has, ||Q'u - Q'ũ|| <= ||e|| (Bessel). A step multiplies a direction q
with ũ in whole numbers, an eighth of the bytes of float64.

Notation: N rows, n columns. A byte k (N, n) stands for center + k / scale in units of the matrix;
`copy` (panels, quads, 4 * 64) holds k + 128, as in src/native/bytes.c. A direction is cut into
whole numbers of two bytes, q = q̃ + f: what that leaves out, ||f||, is part of the bound, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.threads import Total, run_tasks
from orthoselect.native import aligned, kernels

PANEL, QUAD_ROWS = 64, 4  # columns of a panel, rows of a quad
_MOST = 127
_BITS, _HALF, _WHOLE = (
    8,
    128,
    256,
)  # what is added to a byte; what the upper byte of a direction counts
_LARGEST = _MOST * _WHOLE
MOST_ROWS = 128  # at a time, which stay in a near cache
_SPREADS, _REACHES = 4.5, 1.25  # of a sample, within which nearly all numbers are
# Errors are added up in float32, 2048 of them, and so is what a number is off by before it is cut.
_SHORT_SUMS, _SHORT_NUMBERS, _ROUNDING = 1.0 + 2e-4, 1e-7, 1e-12
_COARSE = 0.03  # columns that leave out more, and need not, are cut again
_FINER = 1.5
_FEW = 1 / 16  # so many columns may be cut again one by one
_TASKS = 8
MOST_DIRECTIONS = 6  # that the kernel takes at a time
_ABOVE = 1.0 + 1e-6  # largest numbers are known in float32
SUMS, SQUARES, BYTES, ERRORS, PEAKS = range(5)
KINDS = 5


class Cut(NamedTuple):
    """Bytes as they were cut, and what was found meanwhile."""

    copy: NDArray[np.uint8]  # (panels, quads, 256)
    centers: Floats  # (n,)
    scales: Floats  # (n,)
    found: Floats  # (KINDS, n): sums and squares of columns, sums of bytes, ...


def room_for_copy(N: int, n: int) -> NDArray[np.uint8]:
    """Return where the bytes of N rows and n columns are to be written; nothing is written yet."""
    return np.empty((-(-n // PANEL), -(-N // QUAD_ROWS), PANEL * QUAD_ROWS), dtype=np.uint8)


def scales_of(sample: Floats) -> tuple[Floats, Floats]:
    """Guess centers and scales from some rows, (rows, n); what lies outside is cut off."""
    with np.errstate(all="ignore"):
        centers = sample.mean(axis=0)
        far = np.abs(sample - centers)
        spread = np.sqrt(np.einsum("ij,ij->j", far, far) / max(len(sample), 1))
        reach = np.maximum(_SPREADS * spread, _REACHES * far.max(axis=0, initial=0.0))
        usable = np.isfinite(reach) & (reach > 0) & np.isfinite(_MOST / reach)
        usual = float(np.median(reach[usable])) if usable.any() else 1.0
        reach = np.where(usable, reach, usual)
        return np.where(np.isfinite(centers), centers, 0.0), _MOST / reach


def cut_block(B: NDArray, V: Floats, cut: Cut, quad: int, VtB: Floats) -> None:
    """Cut a block of rows into bytes, from a quad of rows on; add up what is found, and V'B.

    Arrays of `cut` are those of the columns of B.
    """
    native = kernels()
    if native is not None:
        for start in range(0, len(B), MOST_ROWS):
            rows = slice(start, start + MOST_ROWS)
            given = (aligned(B[rows]), np.ascontiguousarray(V[rows]), cut.centers, cut.scales)
            native.cut_to_bytes(*given, cut.copy, quad + start // QUAD_ROWS, cut.found, VtB)
        return
    A = B.astype(np.float64)
    with np.errstate(all="ignore"):
        t = ((A - cut.centers) * cut.scales).astype(np.float32)
        k = np.rint(np.clip(np.where(np.isnan(t), _MOST, t), -_MOST, _MOST))
        left = t.astype(np.float64) - k
        found = cut.found
        found[SUMS] += A.sum(axis=0)
        found[SQUARES] += np.einsum("ij,ij->j", A, A)
        found[BYTES] += k.sum(axis=0, dtype=np.float64)
        found[ERRORS] += np.einsum("ij,ij->j", left, left)
        np.maximum(found[PEAKS], np.abs(t).max(axis=0, initial=0.0), out=found[PEAKS])
        VtB += V.T @ A
    write_bytes(k, cut.copy, quad)


def write_bytes(k: Floats, copy: NDArray[np.uint8], quad: int) -> None:
    """Write whole numbers k (rows, n) to a copy, from a quad of rows on."""
    rows, n = k.shape
    quads, panels = -(-rows // QUAD_ROWS), len(copy)
    padded = np.full((quads * QUAD_ROWS, panels * PANEL), _HALF, dtype=np.uint8)
    padded[:rows, :n] = k + _HALF
    words = padded.reshape(quads, QUAD_ROWS, panels, PANEL).transpose(2, 0, 3, 1)
    copy[:, quad : quad + quads] = words.reshape(panels, quads, PANEL * QUAD_ROWS)


def cut_again(cut: Cut, norms: Floats, alive: NDArray[np.bool_], N: int) -> Indices:
    """Return the columns that would lose much less if cut by their own largest numbers."""
    with np.errstate(all="ignore"):
        lost = np.sqrt(cut.found[ERRORS]) / (cut.scales * norms)
        least = cut.found[PEAKS] / (cut.scales * norms) / _MOST * np.sqrt(N / 12.0)
        return np.flatnonzero(alive & (lost > _COARSE) & ~(lost <= _FINER * least))


def is_few(J: Indices, n: int) -> bool:
    """Whether so few columns are cut again one by one; else the table is read once more."""
    return len(J) <= max(1, int(_FEW * n))


def largest(cut: Cut, means: Floats) -> tuple[Floats, Floats]:
    """Return centers and scales by which the largest numbers that were found are bytes."""
    reach = np.abs(means - cut.centers) + cut.found[PEAKS] * _ABOVE / cut.scales
    fine = np.isfinite(reach) & (reach > 0) & np.isfinite(_MOST / reach)
    return means, np.where(fine, _MOST / reach, cut.scales)


def recut(cut: Cut, J: Indices, A: Floats) -> None:
    """Cut columns J again, A (N, len(J)), by their largest distances from their means."""
    means = A.mean(axis=0)
    with np.errstate(all="ignore"):
        peaks = np.abs(A - means).max(axis=0)
        scales = _MOST / peaks
        fine = np.isfinite(scales) & (peaks > 0)
    J, A, means, scales = J[fine], A[:, fine], means[fine], scales[fine]
    part = Cut(room_for_copy(*A.shape), means, scales, np.zeros((KINDS, len(J))))
    cut_block(np.ascontiguousarray(A), np.zeros((len(A), 0)), part, 0, np.zeros((0, len(J))))
    places = np.arange(len(J))
    words, mine = _by_columns(cut.copy), _by_columns(part.copy)
    words[J // PANEL, :, J % PANEL] = mine[places // PANEL, :, places % PANEL]
    cut.found[:, J] = part.found
    cut.centers[J], cut.scales[J] = means, scales


def _by_columns(copy: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return copy.reshape(len(copy), -1, PANEL, QUAD_ROWS)


@dataclass(frozen=True)
class ByteCopy:
    """Columns at norm one in bytes: products with directions, and what these may be off by.

    Invariants: column j is `units[j]` times its bytes, their mean removed, and something of norm at
    most `errors[j]`. Of columns that are not alive units and errors are zero. `kept` are the
    columns of the copy that there are, None for all.
    """

    copy: NDArray[np.uint8]
    N: int
    sums: Floats  # of the bytes, (n,)
    units: Floats  # what one counts, (n,)
    errors: Floats  # norms of what is left out, at most, (n,)
    kept: Indices | None = field(default=None)

    @classmethod
    def of(
        cls, cut: Cut, N: int, means: Floats, norms: Floats, alive: NDArray[np.bool_]
    ) -> ByteCopy:
        """Return the copy of a table of N rows, given the means and norms of its columns."""
        with np.errstate(all="ignore"):
            units = 1.0 / (cut.scales * norms)
            away = np.hypot(1.0, np.sqrt(N) * (means - cut.centers) / norms)
            errors = _SHORT_SUMS * np.sqrt(cut.found[ERRORS]) * units + _SHORT_NUMBERS * away
            errors += _ROUNDING
        known = np.isfinite(units) & np.isfinite(errors) & (errors < 1.0)
        # Of a column that bytes say nothing of, all is left out.
        units = np.where(known & alive, units, 0.0)
        errors = np.where(known, errors, 1.0 + _ROUNDING)
        return cls(cut.copy, N, cut.found[BYTES].copy(), units, np.where(alive, errors, 0.0))

    @property
    def nbytes(self) -> int:
        """Bytes of the copy."""
        return self.copy.nbytes

    def restricted(self, J: Indices) -> ByteCopy:
        """Return columns J alone; the copy stays as it is."""
        kept = J if self.kept is None else self.kept[J]
        few = (self.sums[J], self.units[J], self.errors[J])
        return replace(self, sums=few[0], units=few[1], errors=few[2], kept=kept)

    def room(self) -> Floats:
        """Return where `products` may write those of as many directions as it takes at a time."""
        return np.empty((MOST_DIRECTIONS, len(self.copy) * PANEL))

    def products(self, Q: Floats, room: Floats | None = None) -> tuple[Floats, Floats]:
        """Return Q̃'ũ of all columns, (b, n), and the norms of what Q̃ leaves out of Q (N, b).

        Given room, the products are good until it is written to again: new memory takes longer to
        get than to fill.
        """
        b = Q.shape[1]
        words = np.zeros((2 * b, QUAD_ROWS * self.copy.shape[1]), dtype=np.int8)
        sums, units, lost = np.empty((b, 1)), np.empty((b, 1)), np.empty(b)
        for s, q in enumerate(Q.T):
            whole, units[s], lost[s] = cut_direction(q)
            upper = (whole + _HALF) >> _BITS
            words[2 * s, : self.N], words[2 * s + 1, : self.N] = upper, whole - (upper << _BITS)
            sums[s] = whole.sum()
        out = self.room() if room is None else room
        found = self._products(words, sums, units, out[:b])
        return found[:, : len(self.sums)], lost

    def _products(
        self, words: NDArray[np.int8], sums: Floats, units: Floats, out: Floats
    ) -> Floats:
        """Return the products of directions in bytes, (2 b, rows), with all columns of the copy.

        `sums` (b, 1) are those of the whole numbers, `units` (b, 1) what one of them counts.
        """
        panels, b = len(self.copy), len(out)
        step = -(-panels // _TASKS)
        tasks = [slice(p, min(p + step, panels)) for p in range(0, panels, step)]

        def work(task: slice, _: Total) -> None:
            part = out[:, PANEL * task.start : PANEL * task.stop]
            multiply(self.copy[task], words, part)  # exact, and what was added to the bytes counts
            if self.kept is None:
                columns = slice(PANEL * task.start, PANEL * task.stop)
                self._scale(part[:, : len(self.sums) - columns.start], columns, sums, units)

        run_tasks(tasks, work, cost=b * self.copy.size / 4, shared=True)
        if self.kept is not None:
            out = out[:, self.kept]
            self._scale(out, slice(None), sums, units)
        return out

    def _scale(self, part: Floats, columns: slice, sums: Floats, units: Floats) -> None:
        """Center products of whole numbers with some columns, and scale them, in place."""
        part -= sums * (_HALF + self.sums[columns] / self.N)
        part *= units * self.units[columns]


def cut_direction(q: Floats) -> tuple[NDArray[np.int64], float, float]:
    """Cut q (N,) into whole numbers, what one of them counts, and bound the norm of the rest."""
    unit = float(np.abs(q).max(initial=0.0)) / _LARGEST
    if not unit > 0.0:
        return np.zeros(len(q), dtype=np.int64), 0.0, float(np.linalg.norm(q))
    whole = np.rint(q / unit)
    lost = q - unit * whole
    return whole.astype(np.int64), unit, float(np.linalg.norm(lost)) + _ROUNDING


def multiply(
    copy: NDArray[np.uint8], directions: NDArray[np.int8], out: Floats, most: int = 2
) -> None:
    """Write the products of b directions with a copy to out, (b, columns).

    Directions (2 b, rows) have an upper and a lower byte each; what is added to the bytes of the
    copy counts. Kernels have several ways; `most` forbids the quicker ones.
    """
    native = kernels()
    if native is not None:
        native.byte_products(copy, directions, out, most)
        return
    whole = float(_WHOLE) * directions[::2] + directions[1::2]
    for p, panel in enumerate(_by_columns(copy)):
        numbers = panel.transpose(0, 2, 1).reshape(-1, PANEL).astype(np.float64)
        out[:, PANEL * p : PANEL * (p + 1)] = whole @ numbers
