"""What one step does to all columns at once, and which columns the next steps may take.

Both by kernels where there are any. Notation as in cancorr.py; arrays are float64, their last axis
contiguous.

Guessing the next winners lets their Gram columns come with the same read of X. A greedy search is
run ahead on the leading candidates. It would need their inner products, which nobody has yet. Of
each column, the part that lies along those fetched so far is known: their Gram columns G_F (|F|, n)
show that these parts have products G_F' G_FF^{-1} G_F (Nystrom's approximation). What the rest has
in common is estimated from some rows of the table, where looking at them takes no time. A wrong
guess costs nothing but time. I are the leading candidates, F the columns fetched so far.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.threads import single_threaded_blas
from orthoselect.native import kernels

_RIDGE = 1e-3  # columns fetched may be nearly dependent
_FLOOR = 0.05  # little is left of such columns, and the guess of it is rough

RoughGram = Callable[[Indices], Floats]


def leader(gains: Floats, names: Indices, open_: NDArray[np.bool_]) -> tuple[int, float]:
    """Return the first of the largest gains of open features, -1 if none is, and the runner-up.

    Gains below zero are out of the race. The runner-up is a gain, -1 if there is none; features
    stand in `open_` where their names say.
    """
    native = kernels()
    if native is not None:
        return native.leader(gains, names, open_)
    left = np.where(open_[names], gains, -1.0)
    if not len(left) or left.max() < 0:
        return -1, -1.0
    top = int(left.argmax())
    left[top] = -1.0
    return top, float(left.max())


def row_from_gram(g: Floats, L: Floats, coefficients: Floats, left: float, r: Floats) -> None:
    """Write (g - coefficients'L) / left to r, over the first rows of L."""
    native = kernels()
    if native is not None:
        native.row_from_gram(g, L, coefficients, left, r)
    else:
        r[:] = (g - coefficients @ L[: len(coefficients)]) / left


def remove_row(r: Floats, c: Floats, C: Floats, d: Floats) -> None:
    """Take a direction out of all columns: C -= c r', d -= r * r."""
    native = kernels()
    if native is not None:
        native.remove_row(r, c, C, d)
        return
    for row, along in zip(C, c):
        row -= along * r
    d -= r * r


def score_columns(
    C: Floats, d: Floats, plenty: float, scores: Floats, row: tuple[Floats, Floats] | None = None
) -> int:
    """Write the gains ||C||^2 / d, at most 1; 0 where less than `plenty` is left: count those.

    A row (r, c) is removed first, in the same go.
    """
    native = kernels()
    if native is not None:
        return int(native.score_columns(*(row or (None, None)), C, d, plenty, scores))
    if row is not None:
        remove_row(*row, C, d)
    enough = d >= plenty
    scores[:] = np.einsum("ij,ij->j", C, C) / np.where(enough, d, np.inf)
    np.minimum(scores, 1.0, out=scores)
    return len(d) - int(np.count_nonzero(enough))


def likely_winners(
    I: Indices,  # noqa: E741  (the notation's letter)
    gains: Floats,
    C: Floats,
    d: Floats,
    L: Floats,
    fetched: Mapping[int, Floats],
    count: int,
    gram: RoughGram | None = None,
) -> list[int]:
    """Return up to `count` of columns I, none fetched, that are likely to be taken next.

    The first of I, which was not fetched, is taken before all others. Gains (n,) are at most zero
    for columns out of the race. `gram` returns about what the inner products among columns are; it
    is needed if nothing was fetched.
    """
    with single_threaded_blas():
        G = _inner_products(fetched, I, gram)
    if G is None:
        return []
    steps = 2 * count  # winners among those fetched already are simulated too
    rows = np.empty((len(L) + steps, len(I)))  # (k + steps, |I|)
    L.take(I, axis=1, out=rows[: len(L)])
    left = np.maximum(d.take(I), _FLOOR)
    known = np.array([j in fetched for j in I.tolist()])
    open_ = gains.take(I) > 0
    places = run_ahead(G, rows, C.take(I, axis=1), left, open_, known, steps, count)
    return I[places].tolist()


def _inner_products(
    fetched: Mapping[int, Floats],
    I: Indices,  # noqa: E741
    gram: RoughGram | None,
) -> Floats | None:
    """Return about what the inner products among columns I are, (|I|, |I|); None if unknown."""
    F = np.fromiter(fetched, dtype=np.intp, count=len(fetched))
    if not len(F):
        return None if gram is None else gram(I)
    both = np.concatenate([F, I])
    G_F = np.empty((len(F), len(both)))
    for row, column in zip(G_F, fetched.values()):
        column.take(both, out=row)
    try:
        G = _along(G_F)
        if gram is not None:
            rough = gram(both)
            G += rough[len(F) :, len(F) :] - _along(rough[: len(F)])
    except np.linalg.LinAlgError:  # rounding may leave G_FF indefinite; then there is no guess
        return None
    return G


def _along(G_F: Floats) -> Floats:
    """Return the inner products of what columns I have of columns F, from G_F (|F|, |F| + |I|)."""
    f = len(G_F)
    R = cholesky(G_F[:, :f] + _RIDGE * np.eye(f), lower=True, check_finite=False)
    M = solve_triangular(R, G_F[:, f:], lower=True, check_finite=False)
    return M.T @ M


def run_ahead(
    G: Floats,
    rows: Floats,
    C: Floats,
    d: Floats,
    open_: NDArray[np.bool_],
    known: NDArray[np.bool_],
    steps: int,
    count: int,
) -> Indices:
    """Take the first of q columns, then the best again and again; return those not known.

    G (q, q) are their inner products, about; `rows` (k + steps, q) those of L, and room for those
    of the steps. At most `steps` columns are taken and `count`, at least one, returned. All arrays
    but G and `known`, the columns fetched, are overwritten.
    """
    native = kernels()
    if native is not None:
        found = np.empty(count, dtype=np.int64)
        flags = open_.view(np.uint8), known.view(np.uint8)
        n_found = native.look_ahead(G, rows, C, d, *flags, steps, _FLOOR, found)
        return found[:n_found]
    winners: list[int] = []
    p = 0
    for k in range(len(rows) - steps, len(rows)):
        open_[p] = False
        left = np.sqrt(max(d[p], _FLOOR))
        r = (G[p] - rows[:k, p] @ rows[:k]) / left
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


def leading(gains: Floats, count: int, first: int) -> Indices:
    """Return `first`, then about so many columns with the largest gains."""
    count = min(count, len(gains))
    I = np.argpartition(-gains, count - 1)[:count]  # noqa: E741
    return np.concatenate([[first], I[(first != I) & (gains[I] > 0)]])
