"""Columns reduced to a triangular factor, block of rows by block of rows (TSQR).

Notation: A (N, k) leading columns, B (N, r) others, V (N, m) the response basis. By orthogonal
transformations of the rows [A B V] becomes

    R  H  K       R (k, k) triangular, H (k, r), K (k, m)
    0  W  U       W (N - k, r), U (N - k, m)

with the same inner products: A'A = R'R, A'B = R'H, A'V = R'K, and W, U are what is left of B and V
once A is projected out. Rows below never meet A again, so that of them only the squared norms of W
and the products U'W are kept. Nothing is squared before it is small, unlike in A'A: digits of
nearly dependent columns survive.

Factors of two blocks merge into that of both, in any order, and so they can be made anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dtpmqrt, dtpqrt

from orthoselect.matrix.base import Floats

_PANEL = 32  # columns that LAPACK takes at a time


@dataclass(frozen=True)
class Factor:
    """What is left of some rows.

    Attributes
    ----------
    R : array of shape (k, k)
    H : array of shape (k, r)
    K : array of shape (k, m)
    squares : array of shape (r,)
        Squared norms of W.
    UtW : array of shape (m, r)
    """

    R: Floats
    H: Floats
    K: Floats
    squares: Floats
    UtW: Floats

    @staticmethod
    def of(A: Floats, B: Floats, V: Floats) -> Factor:
        """Reduce the rows of [A B V].

        Examples
        --------
        >>> A, B, V = np.array([[3.0], [4.0]]), np.array([[0.0], [5.0]]), np.zeros((2, 0))
        >>> factor = Factor.of(A, B, V)
        >>> abs(factor.R), abs(factor.H), factor.squares
        (array([[5.]]), array([[4.]]), array([9.]))
        """
        k, others = A.shape[1], np.concatenate([B, V], axis=1)
        nothing = np.zeros((k, k)), np.zeros((k, others.shape[1]))
        R, top, rest = _eliminate(nothing[0], A, nothing[1], others, triangular=False)
        return _with_rest(R, top, rest, B.shape[1])

    def merge(self, other: Factor) -> Factor:
        """Return the factor of both blocks of rows."""
        mine, theirs = (np.concatenate([f.H, f.K], axis=1) for f in (self, other))
        R, top, rest = _eliminate(self.R, other.R, mine, theirs, triangular=True)
        new = _with_rest(R, top, rest, self.H.shape[1])
        return Factor(
            R,
            new.H,
            new.K,
            self.squares + other.squares + new.squares,
            self.UtW + other.UtW + new.UtW,
        )


def _with_rest(R: Floats, top: Floats, rest: Floats, r: int) -> Factor:
    W, U = rest[:, :r], rest[:, r:]
    return Factor(R, top[:, :r], top[:, r:], np.einsum("ij,ij->j", W, W), U.T @ W)


def _eliminate(
    R: Floats, A: Floats, top: Floats, rest: Floats, *, triangular: bool
) -> tuple[Floats, Floats, Floats]:
    """Rotate the rows of [R top] and [A rest] so that A becomes zero."""
    k, r = top.shape
    if not k or not len(A):
        return R, top, rest
    height = k if triangular else 0  # rows of A that are triangular
    R, reflectors, T, info = dtpqrt(height, min(k, _PANEL), R, A)
    if not info and r:
        top, rest, info = dtpmqrt(height, reflectors, T, top, rest, trans="T")
    if info:
        raise AssertionError(f"LAPACK refused argument {-info} of a QR update")
    return np.triu(R), top, rest
