"""Guessing which columns will win next, so that their Gram columns come with the same read of X.

A greedy search is run ahead on the leading candidates. It would need their inner products, which
nobody has yet; but the Gram columns fetched so far, G_F (|F|, n), tell most of them:
G ~ G_F' G_FF^{-1} G_F (Nystrom's approximation). Guesses cost nothing but time when wrong.

Notation: as in cancorr.py; I the leading candidates, F the columns fetched so far.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from orthoselect.matrix.base import Floats, Indices

_LEADERS = 512
_RIDGE = 1e-3  # columns fetched may be nearly dependent
_FLOOR = 0.05  # little is left of such columns, and the guess of it is rough


def likely_winners(
    gains: Floats,
    C: Floats,
    d: Floats,
    L: Floats,
    G_F: Floats,
    F: Indices,
    first: int,
    count: int,
) -> list[int]:
    """Return up to `count` columns, not in F, that are likely to be taken after column `first`.

    Parameters
    ----------
    gains : array of shape (n,)
        Gains of the columns now; those out of the race at most zero.
    C, d, L : arrays of shapes (m, n), (n,), (k, n)
        The state.
    G_F : array of shape (|F|, n)
        Gram columns fetched so far.
    F : integer array
        Their columns.
    """
    I = _leaders(gains, first)  # noqa: E741  (the notation's letter)
    M = _factor(G_F, F, I)  # (|F|, |I|), G_II ~ M'M
    fetched = np.isin(I, F)
    C, d = C[:, I].copy(), d[I].copy()
    rows = np.concatenate([L[:, I], np.empty((2 * count, len(I)))])  # (k + steps, |I|)
    winners: list[int] = []
    open_ = gains[I] > 0
    p = 0
    # Winners among those fetched already are simulated too, but need not be fetched.
    for k in range(len(L), len(L) + 2 * count):
        open_[p] = False
        left = np.sqrt(max(d[p], _FLOOR))
        r = (M[:, p] @ M - rows[:k, p] @ rows[:k]) / left
        r[p] = np.sqrt(max(d[p], 0.0))
        C -= np.outer(C[:, p] / left, r)
        d = np.maximum(d - r * r, _FLOOR)
        rows[k] = r
        scores = np.where(open_, np.einsum("ij,ij->j", C, C) / d, -1.0)
        p = int(scores.argmax())
        if scores[p] <= 0:
            break
        if not fetched[p]:
            winners.append(int(I[p]))
            if len(winners) == count:
                break
    return winners


def _leaders(gains: Floats, first: int) -> Indices:
    """Return `first`, then the columns with the largest gains."""
    count = min(_LEADERS, len(gains))
    I = np.argpartition(-gains, count - 1)[:count]  # noqa: E741
    return np.concatenate([[first], I[(first != I) & (gains[I] > 0)]])


def _factor(G_F: Floats, F: Indices, I: Indices) -> Floats:  # noqa: E741
    """Return M with M'M ~ G_II."""
    if not len(F):
        return np.zeros((0, len(I)))
    G_FF = G_F[:, F]
    R = cholesky(G_FF + _RIDGE * np.eye(len(F)), check_finite=False)
    return solve_triangular(R, G_F[:, I], trans="T", check_finite=False)
