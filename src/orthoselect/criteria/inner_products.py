"""Inner products that whole sets of features are compared by.

Searches that exchange features ask what a set explains, what each of its features would lose and
what every other one would add. All of that follows from Gram columns of the set alone:

    K      columns of the set that do not depend on others of it, (s,)
    P      inverse of G_KK, (s, s)               B = P G_K. (s, n)
    b      P c_K, coefficients, (s, q)           C = c - B'c_K, (n, q), d = 1 - diag(B'G_K.), (n,)

where c = X'V (n, q) are the products with the response. A set explains the sum of c_K * b. Dropping
column i loses |b_i|^2 / P_ii. Putting column j in its place gains, over the whole,

    |C_j + b_i B_ij / P_ii|^2 / (d_j + B_ij^2 / P_ii) - |b_i|^2 / P_ii.

For features of several columns the same holds with small matrices. These numbers steer a search.
What it finds is measured on real columns in the end, so that they need not be exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_solve, cholesky
from scipy.linalg.lapack import dpstrf

from orthoselect.errors import InputError
from orthoselect.lazy import lazy
from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.memory import free_memory, say_bytes

# With less left of a column, its Gram column has too few digits to tell what it adds.
_DEPENDENT = 1e-9
_ROUGH = 1e-4  # the same for columns whose products are sums of float32 numbers
_MANY_RESPONSES = 16  # with more of them, squares are multiplied out, which rounds more
_REMADE = 16  # after so many features dropped from a set, its inverse is made anew
_SHARE = 4  # of the memory that is free, one part in so many may hold Gram columns


@dataclass(frozen=True)
class Objective:
    """What sets of one size are compared by.

    Without `n_rows` it is their total. With it, it is what they explain beyond chance,

        m - (m - total) (n_rows - 1) / (n_rows - 1 - width),

    as an adjusted R squared: `width` directions of noise reach zero on average. A feature counts
    with its own rank, whatever of it others have. Where all have one rank, both order sets alike.

    Attributes
    ----------
    ceiling : float
        m, the most that a total can be.
    n_rows : float or None
        Rows of the table, copies counted.

    Examples
    --------
    >>> Objective(1.0, None).of(0.5, 3), float(Objective(1.0, 11).of(0.5, 5))
    (0.5, 0.0)
    """

    ceiling: float
    n_rows: float | None = None

    def of(self, total: Any, width: Any) -> Any:
        """Return the objective of sets by their totals and widths; numbers or arrays."""
        if self.n_rows is None:
            return total
        left = np.maximum(self.n_rows - 1 - width, 1)
        return self.ceiling - (self.ceiling - total) * (self.n_rows - 1) / left


class InnerProducts:
    """Gram columns of the features that a search may combine.

    Invariants: `columns` has the independent columns of each feature, none for one that cannot be
    taken; all columns have norm one. Gram columns are fetched once and kept.

    Parameters
    ----------
    columns : sequence of integer arrays
    c : array of shape (n, q)
        Products of all columns with the response.
    fetch : callable
        Returns the Gram columns of columns J, (len(J), n); those that will be asked for next may
        come along.
    kept : dict of int to array
        The Gram columns that have been fetched, to which `fetch` adds.
    block_grams : callable
        Returns the inner products among the columns of each of several blocks.
    objective : Objective
    memory : int, optional
        Bytes that Gram columns may take.
    is_rough : bool
        Whether products are sums of float32 numbers.
    """

    def __init__(
        self,
        columns: Sequence[Indices],
        c: Floats,
        fetch: Callable[[list[int]], None],
        kept: dict[int, Floats] | Floats,
        block_grams: Callable[[list[Indices]], list[Floats]],
        objective: Objective,
        memory: int | None = None,
        *,
        is_rough: bool = False,
    ) -> None:
        self.columns, self.c, self.objective = columns, c, objective
        self.widths = np.array([len(J) for J in columns], dtype=np.intp)
        self.floor = _ROUGH if is_rough else _DEPENDENT
        self._fetch, self._kept, self._block_grams = fetch, kept, block_grams
        n = len(c)
        self._room = (free_memory() // _SHARE if memory is None else memory) // (8 * max(n, 1))
        self.single = np.array([J[0] if len(J) == 1 else -1 for J in columns], dtype=np.intp)

    @property
    def has_wide(self) -> bool:
        """Whether some feature has several columns."""
        return bool((self.widths > 1).any())

    @lazy
    def wide(self) -> list[tuple[Indices, Indices, Floats]]:
        """Features of several columns by width: which, their columns (F, p), Grams (F, p, p)."""
        found = []
        for width in np.unique(self.widths[self.widths > 1]).tolist():
            features = np.flatnonzero(self.widths == width)
            blocks = [self.columns[f] for f in features.tolist()]
            found.append((features, np.stack(blocks), np.stack(self._block_grams(blocks))))
        return found

    def gram(self, J: Indices, ahead: Sequence[int] = ()) -> Floats:
        """Return the Gram columns of columns J, (len(J), n); others may be fetched with them."""
        kept = self._kept
        if isinstance(kept, np.ndarray):
            return kept[J]
        missing = [j for j in J.tolist() if j not in kept]
        if missing:
            wanted = list(dict.fromkeys([*missing, *(j for j in ahead if j not in kept)]))
            if len(kept) + len(missing) > self._room:
                self._refuse(len(kept) + len(missing))
            self._fetch(wanted[: max(self._room - len(kept), len(missing))])
        return np.stack([kept[j] for j in J.tolist()]) if len(J) else np.empty((0, len(self.c)))

    def columns_of(self, features: Sequence[int]) -> Indices:
        """Return the columns of several features, one after the other."""
        parts = [self.columns[f] for f in features]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.intp)

    def _refuse(self, needed: int) -> None:
        n = len(self.c)
        raise InputError(
            f"this search needs {needed} Gram columns of {n} numbers, "
            f"{say_bytes(8 * n * needed)}; {say_bytes(8 * n * self._room)} may be taken. Name "
            f"features in `exclude`, select fewer, set `memory` to more, or use `search='forward'`."
        )


class _Known(NamedTuple):
    """What `SetProducts` is made of: P, K, whose each of K is, and how often P was reduced."""

    P: Floats
    K: Indices
    owner: Indices
    n_removed: int


class SetProducts:
    """What one set explains, what each of its features would lose and each other one add.

    `features` (a tuple, sorted) are those of the set; letters as at the head of the file.
    """

    def __init__(
        self, products: InnerProducts, features: tuple[int, ...], known: _Known | None = None
    ) -> None:
        self._of, self.features = products, features
        self._known = self._from_gram() if known is None else known
        self._P, self._K, self._owner, _ = self._known
        self._b = self._P @ products.c[self._K]
        self.total = float((self._b * products.c[self._K]).sum())
        self.width = int(products.widths[list(features)].sum())
        self.value = float(products.objective.of(self.total, self.width))

    def _from_gram(self) -> _Known:
        of, features = self._of, list(self.features)
        J = of.columns_of(features)
        owner = np.repeat(np.arange(len(features)), of.widths[features])
        P, kept = _inverse(of.gram(J)[:, J], of.floor)
        return _Known(P, J[kept], owner[kept], 0)

    @property
    def is_independent(self) -> bool:
        """Whether no column of the set depends on others of it."""
        return len(self._K) == self.width

    def without(self, place: int) -> SetProducts:
        """Return the set without one of its features."""
        features = self.features[:place] + self.features[place + 1 :]
        out, P = self._owner == place, self._P
        if self._known.n_removed >= _REMADE or not self.is_independent:
            return SetProducts(self._of, features)
        beside = P[np.ix_(~out, out)]
        P = P[np.ix_(~out, ~out)] - beside @ np.linalg.solve(P[np.ix_(out, out)], beside.T)
        owner = self._owner[~out]
        owner = owner - (owner > place)
        known = _Known(P, self._K[~out], owner, self._known.n_removed + 1)
        return SetProducts(self._of, features, known)

    @lazy
    def _G(self) -> Floats:
        return self._of.gram(self._K)

    @lazy
    def _B(self) -> Floats:
        return self._P @ self._G

    @lazy
    def _C(self) -> Floats:
        return self._of.c - self._G.T @ self._b

    @lazy
    def _squares(self) -> Floats:
        return np.einsum("jq,jq->j", self._C, self._C)

    @lazy
    def _d(self) -> Floats:
        return 1.0 - np.einsum("sj,sj->j", self._B, self._G)

    def losses(self) -> Floats:
        """Return what each feature of the set would lose, (len(features),)."""
        found = np.zeros(len(self.features))
        if len(self._owner) == len(self.features):
            return (self._b**2).sum(axis=1) / self._P.diagonal()
        for place in range(len(self.features)):
            at = np.flatnonzero(self._owner == place)
            if len(at):
                inside = np.linalg.solve(self._P[np.ix_(at, at)], self._b[at])
                found[place] = max(float((self._b[at] * inside).sum()), 0.0)
        return found

    def gains(self) -> Floats:
        """Return what every feature would add, (number of features,); nothing for those in it."""
        of = self._of
        found = np.zeros(len(of.columns))
        alone = of.widths == 1
        J = of.single[alone]
        found[alone] = _ratio((self._C[J] ** 2).sum(axis=1), self._d[J], of.floor)
        for features, J, grams in of.wide:
            beside = np.einsum("sfa,sfb->fab", self._B[:, J], self._G[:, J])
            found[features] = _block_gains(grams - beside, self._C[J], of.floor)
        found[list(self.features)] = 0.0
        return found

    def exchanges(self, place: int) -> Floats:
        """Return what each feature would gain in the place of one of the set, over the whole."""
        of, at = self._of, np.flatnonzero(self._owner == place)
        if len(at) != 1 or of.has_wide or len(self._owner) < len(self.features):
            rest = SetProducts(of, self.features[:place] + self.features[place + 1 :])
            gains = rest.gains()
            gains[self.features[place]] = 0.0
            return gains + (rest.total - self.total)
        i, J = int(at[0]), of.single
        loss = float((self._b[i] ** 2).sum() / self._P[i, i])
        beta = self._B[i] / self._P[i, i]
        if len(self._b[i]) > _MANY_RESPONSES:
            b = self._b[i]
            squares = self._squares + (2.0 * (self._C @ b) + (b @ b) * beta) * beta
        else:
            squares = np.zeros(len(self._d))
            for along, coefficient in zip(self._C.T, self._b[i]):
                squares += (along + coefficient * beta) ** 2
        gains = _ratio(squares, self._d + beta * self._B[i], of.floor)[J] - loss
        gains[J < 0] = -loss
        gains[list(self.features)] = -loss
        return gains


def _inverse(G: Floats, floor: float) -> tuple[Floats, Indices]:
    """Return the inverse of G for columns that do not depend on others, and which those are."""
    everything = np.arange(len(G))
    if not len(G):
        return G, everything
    try:
        R = cholesky(G, check_finite=False)
        is_healthy = R.diagonal().min() ** 2 >= floor
    except np.linalg.LinAlgError:
        is_healthy = False
    if not is_healthy:
        _, order, rank, _ = dpstrf(G, tol=floor)
        everything = np.sort(order[:rank] - 1)
        R = cholesky(G[np.ix_(everything, everything)], check_finite=False)
    return cho_solve((R, False), np.eye(len(R)), check_finite=False), everything


def _ratio(squares: Floats, left: Floats, floor: float) -> Floats:
    """Return squares / left, zero where hardly anything is left."""
    return np.divide(squares, left, out=np.zeros_like(left), where=left > floor)


def _block_gains(D: Floats, C: Floats, floor: float) -> Floats:
    """Return the gains of features of p columns: D (F, p, p) is left of them, C (F, p, q)."""
    values, vectors = np.linalg.eigh(D)
    along = (np.einsum("fpq,fpr->frq", C, vectors) ** 2).sum(axis=2)
    return _ratio(along, values, floor).sum(axis=1)
