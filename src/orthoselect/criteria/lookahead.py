"""Guessing which columns will win next, so that their Gram columns come with the same read of X.

A greedy search is run ahead on the leading candidates. It would need their inner products, which
nobody has yet; but the Gram columns fetched so far, G_F (|F|, n), tell most of them:
G ~ G_F' G_FF^{-1} G_F (Nystrom's approximation). Before any was fetched, some rows of the table
tell what the products are about. Guesses cost nothing but time when wrong.

Notation: as in cancorr.py; I the leading candidates, F the columns fetched so far.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from orthoselect.matrix.base import Floats, Indices
from orthoselect.native import kernels

_LEADERS, _LEADERS_IN_SAMPLE = 128, 64
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
    I = _leaders(gains, first, _LEADERS)  # noqa: E741  (the notation's letter)
    F = np.fromiter(fetched, dtype=np.intp)
    both = np.concatenate([F, I])
    G = np.empty((len(F), len(both)))
    for row, column in zip(G, fetched.values()):
        column.take(both, out=row)
    try:
        R = cholesky(G[:, : len(F)] + _RIDGE * np.eye(len(F)), lower=True, check_finite=False)
    except np.linalg.LinAlgError:  # rounding may leave G_FF indefinite; then there is no guess
        return []
    steps = 2 * count  # winners among those fetched already are simulated too
    rows = np.empty((len(L) + steps, len(I)))  # (k + steps, |I|)
    L.take(I, axis=1, out=rows[: len(L)])
    left = np.maximum(d.take(I), _FLOOR)
    is_fetched = np.zeros(len(gains), dtype=bool)
    is_fetched[F] = True
    known, open_ = is_fetched[I], gains.take(I) > 0
    places = run_ahead(G[:, len(F) :], R, rows, C.take(I, axis=1), left, open_, known, steps, count)
    return I[places].tolist()


def winners_in_sample(
    gains: Floats, C: Floats, gram: Callable[[Indices], Floats | None], first: int, count: int
) -> list[int]:
    """Return up to `count` columns that are likely to be taken after `first`, before all others.

    What columns have to do with the response is known; what they have in common, about.

    Parameters
    ----------
    gains, C : arrays of shapes (n,) and (m, n)
        As above, when nothing was taken.
    gram : callable
        Return about what the inner products among columns J are; None if that takes long.
    first, count : int
        As above.
    """
    I = _leaders(gains, first, _LEADERS_IN_SAMPLE)  # noqa: E741
    G = gram(I)
    if G is None:
        return []
    q = len(I)
    try:
        R = cholesky(G + _RIDGE * np.eye(q), lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return []
    open_, known = gains.take(I) > 0, np.zeros(q, dtype=bool)
    rows = np.empty((count, q))
    places = run_ahead(G, R, rows, C.take(I, axis=1), np.ones(q), open_, known, count, count)
    return I[places].tolist()


def run_ahead(
    G: Floats,
    R: Floats,
    rows: Floats,
    C: Floats,
    d: Floats,
    open_: NDArray[np.bool_],
    known: NDArray[np.bool_],
    steps: int,
    count: int,
) -> Indices:
    """Take the first of q columns, then the best again and again; return those not known.

    Parameters
    ----------
    G : array of shape (|F|, q)
        Gram columns of F.
    R : array of shape (|F|, |F|)
        Lower triangular, RR' = G_FF.
    rows : array of shape (k + steps, q)
        The rows of L, and room for those of the steps.
    C, d : arrays of shapes (m, q) and (q,)
        The state; overwritten.
    open_, known : boolean arrays of shape (q,)
        Columns in the race, which is overwritten, and those of F.
    steps : int
        How many columns to take at most.
    count : int
        How many to return at most.
    """
    native = kernels()
    if native is not None:
        found = np.empty(count, dtype=np.int64)
        flags = open_.view(np.uint8), known.view(np.uint8)
        R = np.ascontiguousarray(R)
        n_found = native.look_ahead(G, R, rows, C, d, *flags, steps, _FLOOR, found)
        return found[:n_found]
    M = solve_triangular(R, G, lower=True, check_finite=False)  # G_II ~ M'M
    winners: list[int] = []
    p = 0
    for k in range(len(rows) - steps, len(rows)):
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
            winners.append(p)
            if len(winners) == count:
                break
    return np.array(winners, dtype=np.intp)


def _leaders(gains: Floats, first: int, count: int) -> Indices:
    """Return `first`, then the columns with the largest gains."""
    count = min(count, len(gains))
    I = np.argpartition(-gains, count - 1)[:count]  # noqa: E741
    return np.concatenate([[first], I[(first != I) & (gains[I] > 0)]])
