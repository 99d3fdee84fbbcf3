"""How many terms of a path to keep, by criteria that all follow from the one path.

Notation: N rows, k terms, RSS_k the sum of squares that k terms leave, h_i the leverage of row i:
its share of a direction of the basis, added up over the k directions.

    aic     N ln(RSS/N) + 2 k
    aicc    aic + 2 k (k + 1) / (N - k - 1)
    bic     N ln(RSS/N) + k ln N
    fpe     N ln(RSS/N) + N ln((N + k) / (N - k))
    apress  RSS/N / (1 - a k / N)^2, a = 2 unless set otherwise (Billings and Wei 2008)
    press   sum over the rows of (e_i / (1 - h_i))^2 / N: the mean squared error of leaving each row
            out and predicting it from the others, exact

The smallest value decides, wherever on the path it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import qr

from orthoselect.encode.response import check_choice
from orthoselect.errors import InputError
from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.leverage import NOTHING_LEFT
from orthoselect.result.size_scores import RULES
from orthoselect.result.text import Backend, as_frame, as_table

ORDERS = ("aic", "aicc", "bic", "fpe", "apress", "press")
FREE_RUN = "free-run"
DEFAULT_RULE = "one_se"  # by which free runs choose; see docs/dynamics.md, "As measured"
_A = 2.0
_TILE = 2048  # rows
_ALL_EXPLAINED = 1e-28  # share of y'y below which RSS is rounding


@dataclass(frozen=True)
class OrderTable:
    """What each number of terms is worth; prints as a table.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of terms.
    rss : tuple of float
        The sum of squares that they leave.
    values : dict of str to tuple of float
        Each criterion, by its name; the smallest is best. "free-run": root mean squared error of
        free runs over rows that were held out, infinite where one diverged.
    blocks : dict of int to tuple of float
        By the number of terms: the mean squared error of those free runs in each of some blocks of
        time. Empty if there were none.

    Examples
    --------
    >>> P = np.column_stack([np.arange(10.0), np.cos(np.arange(10.0))])
    >>> y = 2 * P[:, 0] + 0.1 * np.sin(np.arange(10.0) ** 2)
    >>> order_table(P, y).best("bic")
    1
    """

    sizes: tuple[int, ...]
    rss: tuple[float, ...]
    values: dict[str, tuple[float, ...]]
    blocks: dict[int, tuple[float, ...]] = field(default_factory=dict)

    def best(self, order: str, least: int = 1, rule: str = DEFAULT_RULE) -> int:
        """Return the number of terms, at least so many, that a criterion asks for.

        It is smallest there. For free runs by rule "one_se" it is the smallest number that is as
        good as the best: whose mean squared error is larger by at most one standard error of the
        difference, over blocks of time.
        """
        sizes = [k for k in self.sizes if k >= least] or [self.sizes[-1]]
        found = {k: v for k, v in zip(self.sizes, self.values[order]) if k in sizes}
        known = {k: v for k, v in found.items() if not np.isnan(v)}
        if not known:
            return sizes[0]
        best = min(known, key=known.__getitem__)
        if order != FREE_RUN or rule == "best" or not np.isfinite(known[best]):
            return best
        return next(k for k in sorted(known) if self._is_as_good(k, best))

    def smallest(self, order: str) -> float:
        """Return the smallest value of a criterion; infinite if it has none.

        Free runs of models with other lags or another degree, fitted to the same records, may be
        compared by it; other criteria are those of rows that differ with the lags.
        """
        return min((v for v in self.values[order] if not np.isnan(v)), default=float("inf"))

    def _is_as_good(self, k: int, best: int) -> bool:
        """Whether free runs of k terms are worse than the best by no more than a standard error."""
        if k == best:
            return True
        more = np.subtract(self.blocks.get(k, (np.inf,)), self.blocks.get(best, (0.0,)))
        if len(more) < 2 or not np.isfinite(more).all():
            return False
        return bool(more.mean() <= more.std(ddof=1) / np.sqrt(len(more)))

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a dataframe, one row for each number of terms."""
        kinds = {"terms": "Int64", "rss": "Float64", **dict.fromkeys(self.values, "Float64")}
        return as_frame(kinds, list(zip(self.sizes, self.rss, *self.values.values())), backend)

    def __repr__(self) -> str:
        header = ["terms", "rss", *self.values]
        cells = [
            (str(k), *(f"{v:.5g}" for v in row))
            for k, *row in zip(self.sizes, self.rss, *self.values.values())
        ]
        return as_table(header, cells)


def order_table(P: Floats, y: Floats, sets: Sequence[Sequence[int]] | None = None) -> OrderTable:
    """Return the criteria of several sets of the columns P (N, t), in one go.

    Parameters
    ----------
    P : array of shape (N, t)
    y : array of shape (N,) or (N, outputs)
        Of several outputs RSS add up, each at its own scale.
    sets : sequence of sequences of int, optional
        Places of columns, one set for each number of terms. By default the first k columns, for
        all k.
    """
    N = len(P)
    Y = y[:, None] if y.ndim == 1 else y
    if Y.shape[1] > 1:
        norms = np.linalg.norm(Y, axis=0)
        Y = Y / np.where(norms > 0, norms, 1.0)
    nested = sets is None
    places = [list(range(k)) for k in range(1, P.shape[1] + 1)] if sets is None else sets
    rss, press = _left_by_sets(P, Y, places, nested=nested)
    least = _ALL_EXPLAINED * float((Y * Y).sum())
    sizes = np.array([len(each) for each in places])
    return _criteria(N, sizes, np.maximum(rss, max(least, 1e-300)), press / N)


def _left_by_sets(
    P: Floats, Y: Floats, sets: Sequence[Sequence[int]], *, nested: bool
) -> tuple[Floats, Floats]:
    """Return what each set of columns leaves of Y (N, outputs): its squares, and those of PRESS.

    Each set is reduced within the span of all columns; nested ones are the first columns of Q
    already. A tile of rows serves all sets while it is in the cache.
    """
    Q, R = qr(P, mode="economic", check_finite=False)
    turns = None if nested else [np.linalg.qr(R[:, list(places)])[0] for places in sets]
    along = Q.T @ Y  # (columns, outputs)
    rss, press = np.zeros((2, len(sets)))
    for start in range(0, len(P), _TILE):
        Qt, Yt = Q[start : start + _TILE], Y[start : start + _TILE]
        for s, places in enumerate(sets):
            if turns is None:
                B, theta = Qt[:, : len(places)], along[: len(places)]
            else:
                B, theta = Qt @ turns[s], turns[s].T @ along
            E = Yt - B @ theta
            left = 1.0 - np.einsum("ij,ij->i", B, B)
            left = np.where(left > NOTHING_LEFT, left, np.nan)
            rss[s] += (E * E).sum()
            press[s] += ((E / left[:, None]) ** 2).sum()
    return rss, press


def _criteria(N: int, k: Indices, rss: Floats, press: Floats) -> OrderTable:
    fit = N * np.log(rss / N)
    with np.errstate(divide="ignore", invalid="ignore"):
        corrected = np.where(N - k - 1 > 0, 2 * k * (k + 1) / (N - k - 1), np.nan)
        values = {
            "aic": fit + 2 * k,
            "aicc": fit + 2 * k + corrected,
            "bic": fit + k * np.log(N),
            "fpe": fit + N * np.log(np.where(k < N, (N + k) / (N - k), np.nan)),
            "apress": rss / N / np.where(_A * k < N, 1 - _A * k / N, np.nan) ** 2,
            "press": press,
        }
    return OrderTable(
        tuple(k.tolist()),
        tuple(np.asarray(rss).tolist()),
        {name: tuple(v.tolist()) for name, v in values.items()},
    )


def check_rule(rule: Any, order: str, n_terms: int | None) -> str:
    """Return the rule by which free runs choose a number of terms; raise where none do."""
    if rule is None:
        return DEFAULT_RULE
    if order != FREE_RUN or n_terms is not None:
        instead = f"`n_terms={n_terms}`" if n_terms is not None else f"`order={order!r}`"
        raise InputError(
            f"`rule` is about a number of terms chosen by free runs, `order='free-run'`; got it "
            f"with {instead}. Omit it."
        )
    return check_choice(rule, RULES, "rule")


def check_order(order: Any) -> str:
    """Return the criterion if it is one of those known."""
    known = (*ORDERS, FREE_RUN)
    if order not in known:
        names = ", ".join(map(repr, known))
        raise InputError(f"`order` should be one of {names}; got {order!r}.")
    return str(order)
