"""How far rounding may have carried C and d, column by column, and what that means for gains.

These are usual errors, not the worst case: errors of different steps have nothing to do with each
other, so they add in squares. Notation as in cancorr.py.
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

    A row r with error e adds e to the error of C, and 2 |r_i| e to that of d_i. What d_i has lost
    so far is the sum of r_i^2, so the errors of d need no update of their own.

    Parameters
    ----------
    initial : array of shape (n,)
        Errors before any row is taken.
    """

    def __init__(self, initial: Floats) -> None:
        self._C2 = self._d2 = initial**2
        self._initial2 = float(self._C2.max(initial=0.0))  # measured columns have less
        self._d_known: Floats | None = None  # d when it was known this well; one until measured
        self._grown2 = 0.0
        self._largest2 = 0.0

    def grow(self, error: float) -> None:
        """Add a row with this error."""
        self._grown2 += error**2
        self._largest2 = max(self._largest2, error**2)

    def measured(self, J: Indices, d: Floats) -> None:
        """Columns J have been made from the real ones: d is their squared norm."""
        if self._d_known is None:
            self._d2, self._d_known = self._d2.copy(), np.ones(len(self._d2))
        self._C2[J] = (2 * EPS) ** 2 - self._grown2
        self._d2[J] = (4 * EPS) ** 2 * d
        self._d_known[J] = d

    def of(self, J: Indices, d: Floats) -> tuple[Floats, Floats]:
        """Return the errors of C and d of columns J, which have d left."""
        C2 = self._C2[J] + self._grown2
        known = 1.0 if self._d_known is None else self._d_known[J]
        d2 = self._d2[J] + 4 * self._largest2 * np.maximum(known - d, 0.0)
        return np.sqrt(np.maximum(C2, 0.0)), np.sqrt(d2)

    def slack(self, gain: float, j: int, d: float) -> float:
        """Return the slack of one gain, that of column j, which has d left."""
        C2 = float(self._C2[j]) + self._grown2
        lost = max((1.0 if self._d_known is None else float(self._d_known[j])) - d, 0.0)
        error_d = math.sqrt(float(self._d2[j]) + 4 * self._largest2 * lost)
        return _slack(gain, d, math.sqrt(max(C2, 0.0)), error_d, math.sqrt)

    def spread(self, gain: float, least: float) -> float:
        """Bound the slack of every gain up to this one, of columns with at least so much left."""
        error = math.sqrt(self._initial2 + self._grown2)
        error_d = math.sqrt(self._initial2 + 4 * self._largest2)
        return _slack(max(gain, 0.0), least, error, error_d, math.sqrt)


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


def block_gains(C: Floats, D: Floats, error_C: Floats, error_d: Floats) -> tuple[Floats, Floats]:
    """Gains of features of p columns each and their slack.

    Parameters
    ----------
    C : array of shape (m, features, p)
    D : array of shape (features, p, p)
    error_C, error_d : arrays of shape (features,)
    """
    m, _, p = C.shape
    values, vectors = np.linalg.eigh(D)  # (features, p), (features, p, p)
    least = values[:, 0]
    known = least > 4 * p * error_d
    safe = np.where(known[:, None], values, 1.0)
    along = np.einsum("mfp,fpq->fqm", C, vectors)
    gains = ((along**2).sum(axis=2) / safe).sum(axis=1)
    gains = np.where(known, np.minimum(gains, min(m, p)), 0.0)
    # The errors of the p columns have nothing to do with each other either.
    slack = np.sqrt(p) * _slack(gains, np.where(known, least, 1.0), error_C, error_d)
    return gains, np.where(known, slack, float(min(m, p)))
