"""Which features may win, by a copy of the columns in bytes; the others need not be looked at.

Of a column u = ũ + e (see matrix/byte_copy.py) the state knows r̃ = Q̃'ũ. It is off by no more than

    η = ||e|| + ||f|| (1 + ||e||),    ||f||^2 the sum of what cutting the directions has left out,

that is ||Q'u - r̃|| <= η. So the gain, whose true C and d are V'u - V'Q Q'u and 1 - ||Q'u||^2, is
at most

    (||V'u - V'Q r̃|| + ||V'Q|| η)^2 / (1 - (||r̃|| + η)^2),

and anything if that denominator is not positive. Columns whose bound reaches the best gain that is
certain are **open**: their real columns are gathered, once, and their C and d are exact from then
on, made from the real directions as by any other strategy. So is the choice among them: dependence,
ties and doubts are judged in gains.py.

Where too many columns would be open, as where nothing stands out from noise or when all rank is
used up, one read gives the rows q'X of all directions taken, and the state goes on without bounds.
So it does when somebody asks for all gains. Notation as in cancorr.py.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthoselect.criteria.candidates import Candidates
from orthoselect.criteria.gains import Gains
from orthoselect.criteria.plan import COPY_MEMORY
from orthoselect.criteria.steps import leading, remove_row
from orthoselect.criteria.uncertainty import NOTHING, TIE, Uncertainty
from orthoselect.matrix import ScaledMatrix
from orthoselect.matrix.base import EPS, Floats, Indices
from orthoselect.matrix.byte_copy import MOST_DIRECTIONS, ByteCopy
from orthoselect.matrix.geometry import RowGeometry
from orthoselect.matrix.scaled import PRODUCT_ROUNDINGS
from orthoselect.matrix.threads import Total, run_tasks, single_threaded_blas
from orthoselect.native import kernels

_FIRST = 16  # columns opened before all others: those that seem to add most
_OPEN_SHARE = 0.1  # of the table's bytes that open columns may take
_FEW_OPEN = 64
_FEW_AHEAD = 3
_ROUNDING = 1e-12  # amply what sums of float64 may be off by here
_SLABS = 8
_FEW_NUMBERS = 1 << 16  # that are not worth a second thread
_PLENTY = 1e-3  # columns of which less is left are no likely winners


def bounds_of(
    C: Floats,
    d: Floats,
    errors: Floats,
    known: Floats,
    lost: float,
    spectral: float,
    room: Floats | None = None,
) -> Floats:
    """Return what gains are at most, (n,), given r̃: C (m, n) and d (n,) are made of it.

    `errors` are ||e||, `lost` is ||f||, `spectral` is ||V'Q||. -1 where `known` is not zero.
    They are written to `room` (n,), if that is given.
    """
    native = kernels()
    if native is not None:
        bounds = np.empty(len(d)) if room is None else room
        native.bound_columns(C, d, errors, known, lost, spectral, _ROUNDING, bounds)
        return bounds
    eta = errors + lost * (1.0 + errors) + _ROUNDING
    most = np.sqrt(np.einsum("ij,ij->j", C, C)) + spectral * eta + _ROUNDING
    along = np.sqrt(np.maximum(1.0 - d, 0.0)) + eta
    left = 1.0 - along * along
    bounds = np.divide(most * most, left, out=np.full(len(d), np.inf), where=left > 0.0)
    return np.where(known > 0.0, -1.0, bounds)


class Ahead(NamedTuple):
    """A direction made before it was known that its column would be taken; see `Direction`."""

    column: int
    q: Floats  # (N,)
    along: Floats  # (m,)
    reach: float
    row: Floats  # r̃, (n,); exact for the columns that were open
    lost: float  # what cutting q into bytes has left out
    n_open: int  # columns that were open


class BoundedGains(Gains):
    """Gains that are exact where they matter, and bounded everywhere else.

    Invariants, until `_give_up`: C and d of the columns in `_open` are exact, those of all others
    follow from r̃; before anything is taken all are exact. `_at` (n,) says where in `_store`
    (room, N) a column stands, or -1; `_known` (n,) is 1 for open columns. `_lost2` is ||f||^2;
    `_along` (k, m) has Q'V, `_spectral` is its norm. `_ahead` are directions that the geometry has
    made, but not counted yet, each orthogonal to the columns taken and to those before it. After
    `_give_up` there is no `_copy`, and all is as in `Gains`, with rows kept.
    """

    def __init__(
        self,
        candidates: Candidates,
        X: ScaledMatrix,
        VtX: Floats,
        geometry: RowGeometry,
        size: int,
    ) -> None:
        self._X, self._rows = X, geometry
        self._copy: ByteCopy | None = X.copy
        assert self._copy is not None
        self._VtX = VtX.copy()
        self._size, self._lost2 = size, 0.0
        self._along = np.zeros((0, len(VtX)))
        self._spectral = 0.0
        self._ahead: list[Ahead] = []
        self._hits = MOST_DIRECTIONS  # guesses that held when they were made last
        # With fewer rows than columns guesses do not last.
        self._most_ahead = MOST_DIRECTIONS if X.shape[0] >= X.shape[1] // 4 else _FEW_AHEAD
        n = X.shape[1]
        self._at = np.full(n, -1, dtype=np.intp)
        self._known = np.zeros(n)  # whether a column is open
        # Written over in each step, when no row is due any more that stands there.
        self._room, self._room_for_rows = np.empty(n), self._copy.room()
        self._open: list[int] = []
        room = COPY_MEMORY * X.matrix.nbytes - self._copy.nbytes
        most = int(min(room, _OPEN_SHARE * X.matrix.nbytes) / (8 * X.shape[0]))
        self._most_open = max(_FEW_OPEN, most)
        self._store = np.empty((min(_FEW_OPEN, self._most_open), X.shape[0]))
        super().__init__(candidates, X, VtX, geometry, 0, refinable=False)
        self._row_error = PRODUCT_ROUNDINGS * EPS  # of open columns, whatever the table is
        self._place = np.full(n, -1, dtype=np.intp)  # which feature has a column
        self._place[self._single] = np.arange(len(self._single))

    @property
    def by_columns(self) -> bool:
        return self._copy is not None

    @property
    def refinable(self) -> bool:
        return self._refinable

    def best(self, ids: Indices, candidates: NDArray[np.bool_], chance: float = 0.0) -> int | None:
        if self._copy is not None and self.selected:
            allowed = self._open_what_may_win(ids, candidates)
            if allowed is not None:
                return super().best(ids, allowed, chance)
        return super().best(ids, candidates, chance)

    def of(self, f: int) -> float | None:
        if self._copy is not None and self.selected and not self._spent[f]:
            self._gather(self._single[f : f + 1])
        return super().of(f)

    def shown(self) -> Floats:
        self._give_up()
        return super().shown()

    def take_by_columns(self, J: Indices) -> None:
        if self._copy is None:
            super().take_by_columns(J)
            return
        j, k = int(J[0]), len(self.selected)
        if not self._ahead or self._ahead[0].column != j:
            self._look_ahead(j)
            if not self._ahead:
                return
        new = self._ahead.pop(0)
        self._hits += 1
        self._rows.keep(k + 1)
        later = np.array(self._open[new.n_open :], dtype=np.intp)
        if later.size:
            new.row[later] = self._products_of_open(new.q, new.n_open)
        self._lost2 += new.lost**2
        self._along = np.vstack([self._along, new.along])
        short = self._along if self._along.shape[1] > 1 else self._along.ravel()
        self._spectral = float(np.linalg.norm(short, 2))  # of a vector its length
        self._uncertainty.grow(self._row_error + self._noise, float(new.along @ new.along))
        self._remove(new.row, new.along, j, new.reach)

    def _look_ahead(self, j: int) -> None:
        """Make the directions of column j and of likely next winners, and all their products.

        As long as the guesses hold, one read of the copy serves several steps.
        """
        k = len(self.selected)
        most = max(1, min(self._most_ahead, 2 * self._hits, self._size - 1 - k))
        self._ahead, self._hits = [], 0
        if not k:  # exact yet, and likely to be looked at later
            self._gather(leading(self._scores, _FIRST, j))
        self._gather(np.array([j]))
        if self._copy is None:
            return
        self._remove_due()
        I = np.array(self._open)  # noqa: E741  (the notation's letter)
        guesses = self._guess(j, I, most)
        self._rows.keep(k)
        if guesses:
            rows, lost = self._copy.products(
                np.column_stack([guess.q for guess in guesses]), self._room_for_rows
            )
            for guess, row, less in zip(guesses, rows, lost.tolist()):
                row[I] = guess.row
                self._ahead.append(guess._replace(row=row, lost=less))

    def _guess(self, j: int, I: Indices, most: int) -> list[Ahead]:  # noqa: E741
        """Take column j, then the best of the open columns I again and again; rows are of these."""
        C, d = self._C[:, I], self._d[I]
        free = ~self._spent[self._place[I]]
        S, guesses = list(self.selected), list[Ahead]()
        while len(guesses) < most:
            with single_threaded_blas():
                taken = self._rows.direct(S, j, self._store[self._at[j]])
            if taken is None:
                break
            q, along, reach = taken
            r = self._products_of_open(q, 0)
            guesses.append(Ahead(j, q, along, reach, r, 0.0, len(I)))
            S.append(j)
            C -= np.outer(along, r)
            d -= r * r
            free &= j != I
            scores = np.einsum("ij,ij->j", C, C) / np.maximum(d, _PLENTY)
            scores[~free | (d < _PLENTY)] = 0.0
            at = int(scores.argmax())
            if scores[at] <= 0.0:
                break
            j = int(I[at])
        return guesses

    def _open_what_may_win(
        self, ids: Indices, candidates: NDArray[np.bool_]
    ) -> NDArray[np.bool_] | None:
        """Open all that may be best; return which candidates are open, None if too many."""
        assert self._copy is not None
        self._remove_due()
        lost = math.sqrt(self._lost2)
        given = (self._C, self._d, self._copy.errors, self._known)
        bounds = bounds_of(*given, lost, self._spectral, self._room)
        for last in (False, True):
            J = np.flatnonzero(bounds >= self._hurdle(ids, candidates))
            features = self._place[J]
            J = J[(features >= 0) & candidates[ids[features]] & ~self._spent[features]]
            J = J[self._known[J] == 0.0]
            if not last and len(J) > _FIRST:  # those that seem to add most raise the hurdle
                J = J[np.argpartition(-self._scores[J], _FIRST)[:_FIRST]]
            if not self._gather(J):
                return None
        allowed = np.zeros_like(candidates)
        allowed[ids[self._place[self._open]]] = True
        return allowed & candidates

    def _hurdle(self, ids: Indices, candidates: NDArray[np.bool_]) -> float:
        """Return the gain below which no column has to be looked at."""
        known = self._place[self._open]
        known = known[candidates[ids[known]] & ~self._spent[known]]
        if not known.size:
            return 0.0
        top = known[self._gains[known].argmax()]
        self._look_at(np.array([top]))
        gain = float(self._gains[top])
        return (1.0 - 2 * TIE) * gain - float(self._slack[top]) if gain > NOTHING else 0.0

    def _gather(self, J: Indices) -> bool:
        """Open columns J; False, and no bounds from then on, if they are too many."""
        J = np.sort(J[self._at[J] < 0])
        k = len(self._open)
        if not len(J):
            return True
        if k + len(J) > self._most_open:
            self._give_up()
            return False
        if k + len(J) > len(self._store):
            more = min(max(len(self._store), len(J)), self._most_open - len(self._store))
            self._store = np.concatenate([self._store, np.empty((more, self._store.shape[1]))])
        A = self._X.columns(J)
        self._store[k : k + len(J)] = A.T
        self._at[J], self._known[J] = np.arange(k, k + len(J)), 1.0
        self._open += J.tolist()
        if self.selected:
            self._measure_open(J, A)
        return True

    def _measure_open(self, J: Indices, A: Floats) -> None:
        self._remove_due()
        self._open_slack()
        with single_threaded_blas():
            self._rows.basis(self.selected)
            found = self._rows.measure_columns(J, A)
        self._C[:, J], self._d[J] = found.C, found.d
        self._uncertainty.measured(J, found.d)
        features = self._place[J]
        self._spend(features[found.depends].tolist())
        gains = (found.C**2).sum(axis=0) / np.maximum(found.d, EPS**3)
        self._scores[J] = self._gains[features] = np.minimum(gains, 1.0)
        self._gains[features[self._spent[features]]] = -1.0
        self._slack[features] = 0.0
        self._fresh[features] = True
        self.n_measured += len(J)

    def _products_of_open(self, q: Floats, first: int) -> Floats:
        """Return q'X of the open columns, in their order, without some of the first."""
        store = self._store[first : len(self._open)]
        if store.size <= _FEW_NUMBERS:
            with single_threaded_blas():
                return store @ q
        found, step = np.empty(len(store)), max(1, -(-len(store) // _SLABS))
        tasks = [slice(a, min(a + step, len(store))) for a in range(0, len(store), step)]

        def work(task: slice, _: Total) -> None:
            np.dot(store[task], q, out=found[task])

        run_tasks(tasks, work, cost=float(store.size), shared=True)
        return found

    def _give_up(self) -> None:
        """Go on without bounds: one read gives the rows of all directions taken."""
        if self._copy is None:
            return
        self._keeps_rows = True
        self._due, self._ahead = None, []
        self._copy = None
        X, k = self._X, len(self.selected)
        self._refinable = X.arithmetic != EPS
        self._row_error = PRODUCT_ROUNDINGS * X.arithmetic
        self._C, self._d = self._VtX, X.alive.astype(np.float64)
        self._uncertainty = Uncertainty(self._initial_errors)
        self._L = np.empty((max(8, k + self._size), X.shape[1]))
        if k:
            self._L[:k] = X.cross(np.asarray(self._rows.basis(self.selected)))
        for s, along in enumerate(self._along):
            r = self._L[s]
            r[self.selected[:s]] = 0.0
            self._uncertainty.grow(self._row_error + self._noise, float(along @ along))
            remove_row(r, along, self._C, self._d)
        self._store, self._room_for_rows = self._store[:0], self._store[:0]
        self.score([])
