"""What a kind of storage has to answer, and what follows from it.

Notation: X is the table as the kind presents it, N rows by n columns; Z is any array of N rows;
J is a list of columns; w are row weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

EPS = float(np.finfo(np.float64).eps)
_BATCH_BYTES = 1 << 24


def storage_precision(dtype: np.dtype, n: int) -> Floats:
    """Relative rounding of numbers stored as `dtype`, for n columns; integers are exact."""
    floating = np.issubdtype(dtype, np.floating)
    return np.full(n, max(EPS, float(np.finfo(dtype).eps)) if floating else EPS)


class Matrix(ABC):
    """A table of numbers, known by a handful of products.

    A kind may present its columns shifted and scaled (`rescaled`): neither changes what is
    selected, both keep digits where means dwarf spreads or squares would overflow.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns, (N, n).
    precision : array of shape (n,)
        Relative rounding of the stored numbers: float32 input is known to float32 only.
    """

    shape: tuple[int, int]
    precision: Floats

    @abstractmethod
    def columns(self, J: Indices) -> Floats:
        """Return the columns X[:, J] as a new array of shape (N, len(J))."""

    @abstractmethod
    def cross(self, Z: Floats) -> Floats:
        """Return the products X'Z, of shape (n, Z.shape[1])."""

    @abstractmethod
    def scan(self, Z: Floats, w: Floats | None) -> tuple[Floats, Floats]:
        """Return X'Z, (n, Z.shape[1]), and the squares X*X summed with weights w, (n,)."""

    @abstractmethod
    def rescaled(self, shift: Floats, scale: Floats) -> Matrix:
        """Return the same kind presenting (X - shift) * scale; shift may be declined (sparse)."""

    def block_gram(self, J: Indices, root: Floats | None) -> Floats:
        """Return the inner products among columns J, rows weighted by root**2."""
        A = self.columns(J)
        if root is not None:
            A *= root[:, None]
        return A.T @ A

    def pilot(self, rows: Indices) -> Floats:
        """Return a few rows, (len(rows), n), from which offsets can be guessed."""
        return np.zeros((len(rows), self.shape[1]))

    def extremes(self, J: Indices) -> tuple[Floats, Indices, Indices]:
        """Return for columns J the largest magnitude, the count of NaN and of infinities."""
        answers = [_extremes(self.columns(part)) for part in self._batches(J)]
        peaks, n_nan, n_inf = (np.concatenate(kind) for kind in zip(*answers))
        return peaks, n_nan, n_inf

    def constant(self, J: Indices) -> NDArray[np.bool_]:
        """Return which of columns J hold one value only."""
        batches = (self.columns(part) for part in self._batches(J))
        return np.concatenate([(A[:1] == A).all(axis=0) for A in batches])

    def _batches(self, J: Indices) -> list[Indices]:
        """Cut J so that the columns of one batch take little memory beside X."""
        width = max(1, _BATCH_BYTES // (8 * max(self.shape[0], 1)))
        return [J[start : start + width] for start in range(0, len(J), width)]


def _extremes(A: Floats) -> tuple[Floats, Indices, Indices]:
    finite = np.isfinite(A)
    peaks = np.abs(np.where(finite, A, 0.0)).max(axis=0, initial=0.0)
    return peaks, np.isnan(A).sum(axis=0), np.isinf(A).sum(axis=0)
