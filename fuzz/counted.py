"""The truth of the criteria of information theory: every table counted, logarithms in long doubles.

Scores of whole weights are exact but for the rounding of long doubles. Those of the library are
sums of whole logarithms, so that ties are exact, which takes digits: docs/information.md says how
many. With other weights, scores are known to about 1e-12 nats.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fuzz.truth import Bounds
from orthoselect.counts.base import LARGEST_WHOLE

Long = np.longdouble
Array = Any

EXACT, ROUGH = 1e-13, 2e-11
A_ROW = 3e-15  # of whole logarithms, for each row or copy of it, if that is more


class Informations:
    """Entropies and informations of columns of codes, in nats.

    Parameters
    ----------
    columns : list of integer arrays (N,)
    y : integer array (N,)
    w : array (N,), optional

    Attributes
    ----------
    whole : bool
        Whether rows are counted, or copies of them.
    sum : float
        How many there are.
    tolerance : float
        How far the informations of the library may be off.
    """

    def __init__(self, columns: list[Array], y: Array, w: Array | None) -> None:
        w = np.ones(len(y)) if w is None else np.asarray(w, float)
        live = w > 0
        self.whole = bool((w == np.trunc(w)).all()) and w.max() * len(w) < 2.0**53
        self.w = w[live] if self.whole else (w[live] / w.max())
        self.columns = [np.unique(c[live], return_inverse=True)[1] for c in columns]
        self.y = np.unique(y[live], return_inverse=True)[1]
        self.sum = self.w.astype(Long).sum()
        self.tolerance = EXACT if self.whole else ROUGH
        if self.whole and self.sum <= LARGEST_WHOLE:
            self.tolerance = max(EXACT, A_ROW * float(self.sum))
        self._entropies: dict[tuple[Any, ...], Array] = {}

    def counts(self, *names: Any) -> Array:
        """Return the weight of each combination of values, (levels of each name)."""
        columns = [self.y if name == "y" else self.columns[name] for name in names]
        shape = tuple(int(c.max()) + 1 for c in columns)
        table = np.zeros(shape, Long)
        np.add.at(table, tuple(columns), self.w.astype(Long))
        return table

    def H(self, *names: Any) -> Array:
        """Return the entropy of a joint distribution."""
        key = tuple(sorted(map(str, names)))
        if key not in self._entropies:
            p = self.counts(*names)
            p = p[p > 0] / self.sum
            self._entropies[key] = -(p * np.log(p)).sum()
        return self._entropies[key]

    def I(self, a: tuple[Any, ...], b: tuple[Any, ...], given: tuple[Any, ...] = ()) -> Array:  # noqa: E743
        """Return the information of names a about names b; what is within rounding of 0 is 0."""
        found = self.H(*a, *given) + self.H(*b, *given) - self.H(*a, *b, *given)
        found = found - (self.H(*given) if given else 0)
        return found if abs(found) > (1e-16 if self.whole else 1e-14) else Long(0)


def scores(
    name: str, infos: Informations, left: Sequence[int], S: list[int]
) -> dict[int, tuple[Array, Array, Array]]:
    """Return score, lowest and highest score of each candidate."""
    return {k: _score(name, infos, k, S) for k in left}


def _score(name: str, infos: Informations, k: int, S: list[int]) -> tuple[Array, Array, Array]:
    tol = Long(infos.tolerance)
    I, H, y = infos.I, infos.H, ("y",)  # noqa: E741
    relevance = I((k,), y)
    if not S or name == "mim":
        return relevance, relevance - tol, relevance + tol
    pairs = [I((k,), (j,)) for j in S]
    if name == "mrmr_quotient":
        return _quotient(relevance, sum(pairs) / len(S), tol)
    if name == "mrmr_difference":
        found = relevance - sum(pairs) / len(S)
    elif name == "jmi":
        found = sum(I((k, j), y) for j in S)
    elif name == "cmim":
        found = min(relevance, *(I((k,), y, (j,)) for j in S))
    elif name == "cife":
        found = relevance - sum(pairs) + sum(I((k,), (j,), y) for j in S)
    elif name == "icap":
        found = relevance - sum(max(Long(0), both - I((k,), (j,), y)) for j, both in zip(S, pairs))
    else:
        found = sum((I((k, j), y) / H(k, j, "y")) if I((k, j), y) else Long(0) for j in S)
        small = min(H(k, j, "y") for j in S)
        tol = tol / max(small, Long(1e-6)) if small < 1 else tol
    tol = tol * len(S)
    return Long(found), found - tol, found + tol


def _quotient(relevance: Array, bottom: Array, tol: Array) -> tuple[Array, Array, Array]:
    if relevance == 0 and bottom == 0:
        return Long(0), Long(0), Long(0)
    if bottom == 0:
        return Long(np.inf), Long(np.inf), Long(np.inf)
    low = max(relevance - tol, Long(0)) / (bottom + tol)
    high = Long(np.inf) if bottom <= tol else (relevance + tol) / (bottom - tol)
    return relevance / bottom, low, high


class Counted:
    """What every candidate would score, as a path goes on; the twin of `fuzz.truth.Truth`."""

    def __init__(self, name: str, infos: Informations) -> None:
        self.name, self.infos = name, infos
        self.selected: list[int] = []
        self.most = 1.0

    def fresh(self) -> Counted:
        """Return the same, to be followed along another path."""
        return Counted(self.name, self.infos)

    def candidates(self, left: Sequence[int]) -> dict[int, Bounds]:
        """Return the bounds of each of these features; constant ones count as dependent."""
        varies = [k for k in left if len(self.infos.counts(k)) > 1]
        found = scores(self.name, self.infos, varies, self.selected)
        bounds = {k: Bounds(0, 0, 0, dependent=True) for k in left if k not in found}
        infinite = [k for k in found if np.isinf(found[k][0])]
        if infinite:  # without redundancy they rank by relevance, before all others
            tol = self.infos.tolerance
            for k, (score, _, high) in found.items():
                relevance = float(self.infos.I((k,), ("y",)))
                near = not np.isinf(score) and np.isinf(high)
                top = 1e6 + relevance if np.isinf(high) else min(float(score), 1e5)
                low = top - tol if not near else 0.0
                bounds[k] = Bounds(float(score), low, top + tol, doubtful=near)
            return bounds
        for k, (score, low, high) in found.items():
            bounds[k] = Bounds(float(score), float(low), float(high))
        return bounds

    def take(self, k: int) -> bool:
        """Take a feature; what that means for those after it is certain."""
        self.selected.append(k)
        return True
