"""The truth of a greedy selection, in long doubles, and how far rounding may move it.

A problem is a list of features, each a block of raw columns. `Truth` follows a path that somebody
selected: before each step it tells of every candidate between which bounds its gain lies, given
what the path has taken so far. The middle of the bounds is the gain of the stored numbers; how wide
they are is how far the gain moves when every stored column is changed by a few roundings, in the
worst direction. docs/fuzz.md derives it.

Notation: A the columns taken, x = A b + w a candidate, V the response at norm one; size is one
rounding of a stored column relative to its centered norm, as in `orthoselect.matrix.basis`.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from orthoselect.matrix.basis import ROUNDINGS

Long = np.longdouble
Array = Any

FEW = 8.0  # roundings by which every stored column may be changed
MARGIN = 2.0  # what is so near to the edge of dependence may count as either
TIE = 1e-9  # relative; as the library has it
NOTHING = 1e-13  # share of all that can be explained, below which a candidate need not be taken


@dataclass
class Bounds:
    """Between what the gain of a candidate lies.

    Attributes
    ----------
    gain : float
        That of the stored numbers.
    low, high : float
        A candidate that may count as dependent need not be taken: its `low` is 0.
    dependent : bool
        It is a combination of those taken, beyond doubt.
    doubtful : bool
        Part of it may count as dependent or not: what comes after it cannot be judged.
    """

    gain: float
    low: float
    high: float
    dependent: bool = False
    doubtful: bool = False


class Span:
    """Columns with what is taken projected out of them, (N, p), and what rounding does to that.

    Attributes
    ----------
    W : array of shape (N, p)
    B : array of shape (k, p)
        The columns are A B + W.
    sizes : array of shape (p,)
    taken : array of shape (k,)
        Sizes of the columns taken.
    C : array of shape (k, q)
        Products of the directions taken with the response.
    inverse : array of shape (k, k)
        A times it are the directions.
    """

    def __init__(self, W: Array, sizes: Array, n_responses: int) -> None:
        self.W, self.sizes = W, sizes
        self.B = np.zeros((0, W.shape[1]), Long)
        self.Q = np.zeros((W.shape[0], 0), Long)
        self.taken = np.zeros(0, Long)
        self.C = np.zeros((0, n_responses), Long)
        self.inverse = np.zeros((0, 0), Long)

    def of(self, J: Sequence[int]) -> Span:
        """Return the same for some of the columns."""
        part = Span.__new__(Span)
        part.W, part.B, part.sizes = self.W[:, J], self.B[:, J], self.sizes[J]
        part.Q, part.taken, part.C, part.inverse = self.Q, self.taken, self.C, self.inverse
        return part

    @property
    def norms(self) -> Array:
        """What is left of each column."""
        return np.sqrt(np.einsum("ij,ij->j", self.W, self.W))

    @property
    def reach(self) -> Array:
        """One rounding of each column and of those it is made of."""
        return self.sizes + self.taken @ np.abs(self.B)

    @property
    def turn(self) -> Array:
        """How far one rounding of the columns taken turns what the response has in them."""
        if not len(self.taken):
            return Long(0)
        return self.taken @ np.sqrt(np.square(self.inverse @ self.C).sum(axis=1))

    def push(self, j: int, V: Array) -> Array:
        """Take column j; return the products of its direction with the response, (q,)."""
        w = self.W[:, j]
        w = w - self.Q @ (self.Q.T @ w)
        r = np.sqrt(w @ w)
        q = w / r
        b = self.B[:, j]
        H = np.zeros(self.W.shape[1], Long)
        W = self.W
        for _ in range(2):
            h = q @ W
            W = W - q[:, None] * h
            H = H + h
        k = len(self.taken)
        grown = np.zeros((k + 1, k + 1), Long)
        grown[:k, :k], grown[:k, k], grown[k, k] = self.inverse, -b / r, 1 / r
        self.inverse = grown
        self.B = np.vstack([self.B - b[:, None] * (H / r), (H / r)[None]])
        self.W, self.taken = W, np.append(self.taken, self.sizes[j])
        self.Q = np.column_stack([self.Q, q])
        c = q @ V
        self.C = np.vstack([self.C, c[None]])
        return c


@dataclass
class Columns:
    """Columns brought to norm one: raw numbers centered if asked, rows times the root of weights.

    Attributes
    ----------
    unit : array of shape (N, p)
    sizes : array of shape (p,)
    norms : array of shape (p,)
    flat : boolean array of shape (p,)
        Which are constant where rows have weight.
    """

    unit: Array
    sizes: Array
    norms: Array
    flat: Array


def prepare(A: Array, eps: Array, w: Array | None, *, centered: bool) -> Columns:
    """Bring raw columns (N, p) to norm one, those with rows without weight left out."""
    A = np.asarray(A)
    if A.ndim == 1:
        A = A[:, None]
    A = A.astype(Long)
    weights = np.ones(len(A), Long) if w is None else np.asarray(w).astype(Long)
    live = weights > 0
    A, weights = A[live], weights[live] / weights.max()
    root = np.sqrt(weights)[:, None]
    flat = (A[:1] == A).all(axis=0)
    raw = np.sqrt(np.square(A * root).sum(axis=0))
    if centered:
        A = A - A[:1]  # exact, or nearly: neighbors of a number far from zero are near each other
        for _ in range(2):
            A = A - (weights @ A) / weights.sum()
    A = A * root
    norms = np.sqrt(np.square(A).sum(axis=0))
    norms = np.where(flat & centered, 0, norms)
    there = norms > 0
    unit = np.where(there, A / np.where(there, norms, 1), 0)
    return Columns(unit, np.where(there, eps * raw / np.where(there, norms, 1), 1), norms, flat)


def _spread(unit: Array, w: Array | None) -> Array:
    """Return what centering leaves of columns at norm one, rows without weight left out, (p,)."""
    u = np.ones(len(unit), Long) if w is None else np.sqrt(np.asarray(w)[w > 0].astype(Long))
    u = u / np.sqrt(u @ u)
    for _ in range(2):
        unit = unit - u[:, None] * (u @ unit)
    return np.sqrt(np.square(unit).sum(axis=0))


class Truth:
    """What every candidate would add, as a path goes on.

    Parameters
    ----------
    blocks : list of arrays (N, p)
        The raw columns of each feature.
    eps : list of arrays (p,)
        The precision in which they are stored.
    Y : array of shape (N, q)
        The response: numbers, indicators of classes for "socc", places of classes for others.
    method : {"socc", "err", "mser", "obcc"}
    w : array of shape (N,), optional
    """

    def __init__(
        self, blocks: list[Array], eps: list[Array], Y: Array, method: str, w: Array | None
    ) -> None:
        self.method, centered = method, method == "socc"
        at = np.cumsum([0, *(block.shape[1] for block in blocks)])
        self.columns = [range(a, b) for a, b in pairwise(at)]
        made = prepare(np.hstack(blocks), np.concatenate(eps), w, centered=centered)
        self.empty = made.norms == 0
        self.dead = self.empty.copy()
        self.nearly_dead = np.zeros(len(self.dead), bool)
        if method == "obcc":  # never chooses a column that could be constant
            ratio = _spread(made.unit, w) / (ROUNDINGS * made.sizes)
            self.dead |= made.flat | (ratio < 1 / MARGIN)
            self.nearly_dead = ~self.dead & (ratio < MARGIN)
        self._respond(Y, w, len(made.unit))
        self.span = Span(made.unit, made.sizes, self.V.shape[1])
        self.orders = [self._best_first(list(J)) for J in self.columns]

    def _respond(self, Y: Array, w: Array | None, N: int) -> None:
        """Set V (N, q), the most that each column of it can add, and how far rounding turns V."""
        double = np.finfo(float).eps
        made = prepare(Y, double, w, centered=self.method in ("socc", "obcc"))
        self.u = np.zeros(N, Long)
        if self.method == "socc":
            span = Span(made.unit, made.sizes, 0)
            for j in range(made.unit.shape[1]):
                if made.norms[j] > 0 and span.norms[j] > ROUNDINGS * span.reach[j]:
                    span.push(j, made.unit[:, :0])
            self.V = span.Q
            rows = np.sqrt(np.square(span.inverse).sum(axis=1))
            self.turn_of_V = span.taken @ rows if len(rows) else Long(0)
            self.worth = np.ones(self.V.shape[1], Long)
        else:
            self.V, there = made.unit, made.norms > 0
            self.turn_of_V = made.sizes[there].max(initial=Long(0))
            weights = np.ones(len(Y), Long) if w is None else np.asarray(w).astype(Long)
            live = weights[weights > 0] / weights.max()
            self.worth = there.astype(Long)
            if self.method == "mser":
                self.worth = made.norms**2 / live.sum()
            if self.method == "obcc":
                self.u = np.sqrt(live / live.sum())
        self.most = float(self.worth.sum())

    def fresh(self) -> Truth:
        """Return the same, to be followed along another path."""
        other = copy(self)
        other.span = copy(self.span)
        return other

    def candidates(self, left: Sequence[int]) -> dict[int, Bounds]:
        """Return the bounds of each of these features."""
        span = self.span
        norms, reach, turn = span.norms, span.reach, span.turn
        P = span.W.T @ self.V
        return {f: self._bounds(f, norms, reach, turn, P) for f in left}

    def _bounds(self, f: int, norms: Array, reach: Array, turn: Array, P: Array) -> Bounds:
        J = self.columns[f]
        if len(J) != 1:
            return self._in_order(self.orders[f])
        j = J[0]
        if self.empty[j] or (self.dead[j] and self.method != "obcc"):
            return Bounds(0, 0, 0, dependent=True)
        ratio = norms[j] / (ROUNDINGS * reach[j])
        if ratio < 1 / MARGIN:
            return Bounds(0, 0, 0, dependent=True)
        if self.dead[j]:
            return Bounds(0, 0, 0, dependent=True, doubtful=ratio < MARGIN)
        gain, moved = self._gain(P[j], norms[j], reach[j], turn, span_of=j)
        unsure = ratio < MARGIN or self.nearly_dead[j]
        low = 0.0 if unsure else float(gain - moved)
        return Bounds(float(gain), low, float(gain + moved), doubtful=bool(unsure))

    def _gain(
        self, p: Array, norm: Array, reach: Array, turn: Array, span_of: int | None
    ) -> tuple[Array, Array]:
        """Return what a direction of this norm and products p adds, and how far that moves."""
        if self.method == "obcc" and span_of is not None:
            w = self.span.W[:, span_of]
            w = w - self.u * (self.u @ w)
            norm = np.sqrt(w @ w)
            if norm == 0:
                return Long(0), Long(self.most)
            p = w @ self.V
        c = p / norm
        angle = FEW * (reach / norm + self.turn_of_V)
        around = FEW * turn
        if angle > 1:
            return self.worth @ c**2, Long(self.most)
        if self.method == "socc":
            g = (c**2).sum()
            moved = 2 * np.sqrt(max(g * (1 - g), 0)) * angle + angle**2
            return g, moved + 2 * np.sqrt(g) * around + around**2
        moved = 2 * np.abs(c) * np.sqrt(np.maximum(1 - c**2, 0)) * angle + angle**2
        moved = moved + 2 * np.abs(c) * around + around**2
        if self.method == "obcc":  # of what is turned, centering may leave all but not more
            moved = moved + 2 * np.abs(c) * around / norm + (around / norm) ** 2
        return self.worth @ c**2, self.worth @ moved

    def _best_first(self, J: list[int]) -> list[int]:
        """Return columns of a block in an order that theirs is nothing to.

        Next is always the one whose rest, given those before it, stands out most from its rounding.
        """
        if len(J) == 1:
            return J
        span, left, order = self.span.of(J), [i for i, j in enumerate(J) if not self.empty[j]], []
        while left:
            stands_out = span.norms[left] / (ROUNDINGS * span.reach[left])
            at = left.pop(int(stands_out.argmax()))
            order.append(J[at])
            if stands_out.max() >= 1:
                span.push(at, self.V)
        return order

    def _in_order(self, J: list[int]) -> Bounds:
        """Bound the gain of columns of a block that are not empty."""
        span, gain, moved, added, unsure = self.span.of(J), Long(0), Long(0), 0, False
        for at in range(len(J)):
            norm, reach = span.norms[at], span.reach[at]
            ratio = norm / (ROUNDINGS * reach)
            if ratio < 1 / MARGIN:
                continue
            if ratio < MARGIN:
                unsure = True
                continue
            one, by = self._gain(span.W[:, at] @ self.V, norm, reach, span.turn, None)
            gain, moved, added = gain + one, moved + by, added + 1
            span.push(at, self.V)
        if unsure:
            return Bounds(float(gain), 0.0, self.most, doubtful=True)
        low, high = float(gain - moved), float(gain + moved)
        return Bounds(float(gain), low, high, dependent=added == 0)

    def take(self, f: int) -> bool:
        """Take a feature; say whether it is certain what that means for those after it."""
        sure = True
        for j in self.orders[f]:
            if self.empty[j]:
                continue
            ratio = self.span.norms[j] / (ROUNDINGS * self.span.reach[j])
            if ratio < 1 / MARGIN:
                continue
            sure &= bool(ratio >= MARGIN)
            self.span.push(j, self.V)
        return sure
