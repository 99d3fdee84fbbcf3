"""How far rounding may have carried C and d, column by column, and what that means for gains.

These are usual errors, not the worst case: errors of different products have nothing to do with
each other, so they add in squares. Notation as in cancorr.py.

Products of the table are off by some e. A direction that was made of real columns passes that on
to its row. One that was made of Gram columns, by rows before it, adds up what those are off by,

    e_s^2 = (e^2 + sum_t L_tj^2 e_t^2) / d_j,     b_s^2 = (1 + sum_t L_tj^2 b_t^2) / d_j,

where j is its column, and its own length is off, too: by about e_s b_s. With B^2 the largest b_s^2
so far, and lost_i = sum_s r_si^2 what column i has lost to the directions, r_si is off by

    e_si^2 = e_s^2 (1 + B^2 lost_i).

Then d_i, which lost r_si^2, is off by 2 r_si e_si, and C_i, which lost c_s r_si for c_s = V'q_s, by
c_s e_si and by r_si times what c_s is off by. Summed up over s that needs nothing that is kept for
each column but d_i itself. It is what products that are off by e do to the regression of x_i on
those selected, with coefficients b: they carry d_i off by e (2 ||b|| + ||b||^2).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orthoselect.matrix.base import EPS, Floats, Indices

# Gains whose relative uncertainty exceeds this are measured again on the real columns.
TRUSTED = 1e-10
# Gains closer than this (relatively) are equal, and the lowest index wins.
TIE = 1e-9
# A gain below this is nothing: it vanishes in the rounding of the total.
NOTHING = 1e-14
# Gains are shown to people no less certain than this.
SHOWN = 1e-5


class Uncertainty:
    """Errors of C and d that grow with each row taken.

    Invariants: `_rows` (2, k) holds e_s^2 and b_s^2 of each row, `_largest_e2` and `_largest_b2`
    the largest of them; `_gamma2` is the sum of b_s^2 ||c_s||^2 and `_spread2` that of
    e_s^2 ||c_s||^2. Of columns that were measured, `_since` holds d and `_spread2` as they were
    then. `initial` (n,) are the errors before any row is taken, `largest_initial2` is the largest
    square of these.
    """

    def __init__(self, initial: Floats) -> None:
        self._C2 = self._d2 = initial**2
        self.largest_initial2 = float(self._C2.max(initial=0.0))  # measured columns have less
        self._since: tuple[Floats, Floats] | None = None
        self._rows, self._k = np.zeros((2, 16)), 0
        self._largest_e2, self._largest_b2 = 0.0, 1.0
        self._gamma2 = self._spread2 = 0.0

    def grow(self, error: float, along2: float, row: tuple[Floats, float] | None = None) -> None:
        """Add a row made from products that are off by `error`; `along2` is ||V'q||^2.

        If it was made of a Gram column, `row` has that column's products with the directions
        before, (k,), and what is left of it.
        """
        e2, b2 = error**2, 1.0
        if row is not None:
            above, left = row
            carried = self._rows[:, : self._k] @ (above * above)
            e2, b2 = (e2 + float(carried[0])) / left, (b2 + float(carried[1])) / left
        if self._k == self._rows.shape[1]:
            self._rows = np.pad(self._rows, ((0, 0), (0, self._k)))
        self._rows[:, self._k] = e2, b2
        self._k += 1
        self._largest_e2, self._largest_b2 = max(self._largest_e2, e2), max(self._largest_b2, b2)
        self._gamma2 += b2 * along2
        self._spread2 += e2 * along2

    def measured(self, J: Indices, d: Floats) -> None:
        """Columns J have been made from the real ones: d is their squared norm."""
        if self._since is None:
            n = len(self._d2)
            self._d2, self._since = self._d2.copy(), (np.ones(n), np.zeros(n))
        self._C2[J] = (2 * EPS) ** 2
        self._d2[J] = (4 * EPS) ** 2 * d
        self._since[0][J], self._since[1][J] = d, self._spread2

    def of(self, J: Indices, d: Floats) -> tuple[Floats, Floats]:
        """Return the errors of C and d of columns J, which have d left."""
        known, spread2 = (1.0, 0.0) if self._since is None else (a[J] for a in self._since)
        C2, d2 = self._squares(
            self._C2[J], self._d2[J], np.maximum(known - d, 0.0), 1.0 - d, self._spread2 - spread2
        )
        return np.sqrt(C2), np.sqrt(d2)

    def slack(self, gain: float, j: int, d: float) -> float:
        """Return the slack of one gain, that of column j, which has d left."""
        known, spread2 = (1.0, 0.0) if self._since is None else (float(a[j]) for a in self._since)
        C2, d2 = self._squares(
            float(self._C2[j]), float(self._d2[j]), max(known - d, 0.0), 1.0 - d,
            self._spread2 - spread2,
        )  # fmt: skip
        return _slack(gain, d, math.sqrt(C2), math.sqrt(d2), math.sqrt)

    def spread(self, gain: float, least: float) -> float:
        """Bound the slack of every gain up to this one, of columns with at least so much left."""
        C2, d2 = self._squares(
            self.largest_initial2, self.largest_initial2, 1.0, 1.0, self._spread2
        )
        return _slack(max(gain, 0.0), least, math.sqrt(C2), math.sqrt(d2), math.sqrt)

    def _squares(self, C2: Any, d2: Any, lost: Any, lost_in_all: Any, spread2: Any) -> Any:
        """Return the squared errors of C and d; arrays, or plain numbers.

        C2 and d2 are those when a column was known last; since then it has lost so much of d, and
        `spread2` was added to the sum over all rows.
        """
        carried = 1.0 + self._largest_b2 * lost_in_all
        C2 = C2 + spread2 * carried + self._largest_e2 * (1.0 + self._gamma2) * lost
        return C2, d2 + 4 * self._largest_e2 * lost * carried


def single_gains(
    squares: Floats, d: Floats, error_C: Floats, error_d: Floats
) -> tuple[Floats, Floats]:
    """Gains squares/d of single columns and their slack; all is open where d has no digits."""
    known = d > 4 * error_d
    safe = np.where(known, d, 1.0)
    gains = np.where(known, np.minimum(squares / safe, 1.0), 0.0)
    return gains, np.where(known, _slack(gains, safe, error_C, error_d), 1.0)


def _slack(gains: Any, left: Any, error_C: Any, error_d: Any, sqrt: Any = np.sqrt) -> Any:
    """Bound the error of gain = ||C||^2 / d by those of C and d; arrays, or plain numbers."""
    return 2 * sqrt(gains / left) * error_C + error_C**2 / left + gains * error_d / left


def block_gains(
    C: Floats, D: Floats, error_C: Floats, error_d: Floats, floor: float = 0.0
) -> tuple[Floats, Floats]:
    """Gains of features of p columns each and their slack; all is open where D has no digits.

    C is (m, features, p), D (features, p, p), the errors (features,). With less than `floor` left
    of any direction, a column might depend on others: all is open, too.
    """
    m, _, p = C.shape
    values, vectors = np.linalg.eigh(D)  # (features, p), (features, p, p)
    least = values[:, 0]
    known = (least > 4 * p * error_d) & (least >= floor)
    safe = np.where(known[:, None], values, 1.0)
    along = np.einsum("mfp,fpq->fqm", C, vectors)
    gains = ((along**2).sum(axis=2) / safe).sum(axis=1)
    gains = np.where(known, np.minimum(gains, min(m, p)), 0.0)
    # The errors of the p columns have nothing to do with each other either.
    slack = np.sqrt(p) * _slack(gains, np.where(known, least, 1.0), error_C, error_d)
    return gains, np.where(known, slack, float(min(m, p)))
