"""Guessing which columns will win next, so that their Gram columns come with the same read of X.

A greedy search is run ahead on the leading candidates. It would need their inner products, which
nobody has yet; but the Gram columns fetched so far, G_F (|F|, n), tell most of them:
G ~ G_F' G_FF^{-1} G_F (Nystrom's approximation). Guesses cost nothing but time when wrong.

Notation: as in cancorr.py; I the leading candidates, F the columns fetched so far.
"""

from __future__ import annotations

from collections.abc import Mapping

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
    fetched: Mapping[int, Floats],
    first: int,
    count: int,
) -> list[int]:
    """Return up to `count` columns, none fetched, that are likely to be taken after `first`.

    Parameters
    ----------
    gains : array of shape (n,)
        Gains of the columns now; those out of the race at most zero.
    C, d, L : arrays of shapes (m, n), (n,), (k, n)
        The state.
    fetched : mapping of column to array of shape (n,)
        The Gram columns fetched so far.
    first : int
        The column taken next; not fetched.
    count : int
        How many to guess.
    """
    I = _leaders(gains, first)  # noqa: E741  (the notation's letter)
    F = np.fromiter(fetched, dtype=np.intp)
    try:
        M = _factor(fetched, F, I)  # (|F|, |I|), G_II ~ M'M
    except np.linalg.LinAlgError:  # rounding may leave G_FF indefinite; then there is no guess
        return []
    known = np.isin(I, F)
    C, d = C[:, I].copy(), np.maximum(d[I], _FLOOR)
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
        most = np.sqrt(d)  # no row has more of a column than is left of it; guesses may
        np.clip(r, -most, most, out=r)
        C -= np.outer(C[:, p] / left, r)
        d = np.maximum(d - r * r, _FLOOR)
        rows[k] = r
        scores = np.where(open_, np.einsum("ij,ij->j", C, C) / d, -1.0)
        p = int(scores.argmax())
        if scores[p] <= 0:
            break
        if not known[p]:
            winners.append(int(I[p]))
            if len(winners) == count:
                break
    return winners


def _leaders(gains: Floats, first: int) -> Indices:
    """Return `first`, then the columns with the largest gains."""
    count = min(_LEADERS, len(gains))
    I = np.argpartition(-gains, count - 1)[:count]  # noqa: E741
    return np.concatenate([[first], I[(first != I) & (gains[I] > 0)]])


def _factor(fetched: Mapping[int, Floats], F: Indices, I: Indices) -> Floats:  # noqa: E741
    """Return M with M'M ~ G_II."""
    both = np.concatenate([F, I])
    G = np.stack([column[both] for column in fetched.values()])  # (|F|, |F| + |I|)
    G[:, : len(F)] += _RIDGE * np.eye(len(F))
    R = cholesky(G[:, : len(F)], check_finite=False)
    return solve_triangular(R, G[:, len(F) :], trans="T", check_finite=False)
