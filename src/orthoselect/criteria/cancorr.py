"""The sum of squared canonical correlations, grown one feature at a time.

Zhang and Lang's squared orthogonal correlation coefficient (SOCC): what feature f adds to the
selected ones is gain_f = ||V'W_f||^2 in the norm of (W_f'W_f)^+, where W_f are its columns made
orthogonal to all that is selected. For one column that is ||V'w||^2 / ||w||^2.

W is never formed. For columns of norm one the state keeps

    C (m, n)  V'W          d (n,)    diag(W'W), what is left of each column
    L (k, n)  Q'X          D_f (p, p)  W_f'W_f for a feature f of p > 1 columns

where Q (N, k) is an orthonormal basis of the selected columns. Taking column j needs one row
r = q'X of L, which follows from the column g = X'x_j of the Gram matrix, r = (g - L'L_j)/sqrt(d_j),
and then C -= (V'q) r', d -= r*r. A row from Gram columns has lost digits when little is left of
column j; it is then made from the real columns instead, orthogonalized until nothing is lost.

Errors are tracked, not hoped for (`uncertainty.py`). A feature whose gain they leave uncertain and
that might win is measured again on its real columns before it is believed.

References
----------
S. Zhang and Z.-Q. Lang, "Orthogonal least squares based fast feature selection for linear
classification", Pattern Recognition 123, 2022. https://doi.org/10.1016/j.patcog.2021.108419
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from orthoselect.criteria import plan
from orthoselect.criteria.base import Criterion, State
from orthoselect.criteria.candidates import (
    HEALTHY,
    Candidates,
    blocks_by_width,
    independent_columns,
    without_constants,
    without_empty,
)
from orthoselect.criteria.lookahead import likely_winners
from orthoselect.criteria.products import Factor, GramColumns
from orthoselect.criteria.steps import leader, remove_row, row_from_gram, score_columns
from orthoselect.criteria.uncertainty import Uncertainty, block_gains, single_gains
from orthoselect.encode import Design, Response
from orthoselect.matrix import CenteredMatrix, NonFiniteColumns, center
from orthoselect.matrix.base import EPS, Floats, Indices
from orthoselect.matrix.basis import ROUNDINGS
from orthoselect.matrix.centered import PRODUCT_ROUNDINGS
from orthoselect.matrix.rows import Rows

# Gains whose relative uncertainty exceeds this are measured again on the real columns.
_TRUSTED = 1e-10
# Gains closer than this (relatively) are equal, and the lowest index wins.
_TIE = 1e-9
# In float32 a gain this certain wins, if no other comes near.
_CLEAR = 1e-2
# A column with more left than so many of the largest roundings depends on no others.
_SURE_ROUNDINGS = 16 * ROUNDINGS
# A gain below this is nothing: it vanishes in the rounding of the total.
_NOTHING = 1e-14
# Gains are shown to people no less certain than this.
_SHOWN = 1e-5
# With less left of a float32 column, a row from Gram columns has too few digits.
_HEALTHY_FLOAT32 = 3e-2
# With at least this much left of a column its gain is nearly certain, too.
_PLENTY = 1e-3
_NONE = np.zeros(0, dtype=np.intp)


class SquaredCanonicalCorrelations(Criterion):
    """Sum of squared canonical correlations between the selected features and the response."""

    name = "socc"
    takes_blocks = True
    needs_rows = False

    def start(
        self, design: Design, response: Response, weights: Floats | None = None, size: int = 1
    ) -> CanonicalState:
        """Return the state in which nothing is selected."""
        kept = without_empty(design)
        matrix = kept.matrix
        whole = plan.whole_gram_pays(matrix.shape, size, matrix.memory)
        if plan.double_pays(matrix.shape, size):
            matrix = matrix.in_double()
        try:
            X, VtX = center(matrix, response.V, weights, ignored=kept.unowned, gram=whole)
        except NonFiniteColumns as found:
            raise kept.in_design(found) from None
        return CanonicalState(*without_constants(kept.candidates, X, VtX), response.V, size)

    def ceiling(self, response: Response) -> float:
        """Return the rank of the response."""
        return float(response.m)


class CanonicalState(State):
    """Selected features and what each other one would add to the canonical correlations.

    Parameters
    ----------
    candidates : Candidates
        A feature without columns is constant.
    X : CenteredMatrix
        The matrix of their columns, centered and at norm one.
    VtX : array of shape (m, n)
    V : rows of shape (N, m)
        Orthonormal response basis.
    size : int
        About how many features will be taken.
    """

    def __init__(
        self, candidates: Candidates, X: CenteredMatrix, VtX: Floats, V: Rows, size: int = 1
    ) -> None:
        n = X.shape[1]
        self._X, self._V = X, V
        self._C = np.ascontiguousarray(VtX)
        # What is known for good of float32 columns; products of theirs have fewer digits.
        self._VtX = VtX if X.arithmetic == EPS else VtX.copy()
        self._d = X.alive.astype(np.float64)
        self._n_constant = n - int(np.count_nonzero(X.alive))
        alive = X.alive if self._n_constant else slice(None)
        self._columns: list[int] = []  # selected columns, one for each row of L
        self._noise = float(X.noise[alive].max(initial=0.0))
        self._uncertainty = Uncertainty(PRODUCT_ROUNDINGS * EPS + X.noise)
        self._measured = 0
        self._geometry = X.geometry(V)
        candidates = candidates.that_vary(X.alive)
        blocks = independent_columns(X, self._geometry, candidates.wide)
        # From here on a feature is its place among those that are not constant.
        self._candidates, self._names = candidates, candidates.names
        self._single = candidates.single  # -1 for features of several columns
        self._wide_columns = {f: J for f, (J, _) in blocks.items()}
        self._wide = blocks_by_width(blocks)
        self._spent = np.zeros(len(self._names), dtype=bool)  # taken, or nothing is left of them
        self._spent_at: list[int] = []
        self._by_rows = plan.rows_pay(X.shape, size, X.matrix)
        self._L = Factor(0 if self._by_rows else size, n)
        self._healthy = HEALTHY if X.arithmetic == EPS else _HEALTHY_FLOAT32
        self._gram = GramColumns(X)
        self._size, self._taken = size, 0  # features
        # In float32 the winners' gains are made exact at the end, where they are single columns.
        self._refinable = X.arithmetic != EPS and not self._wide_columns
        self._surely_independent = (_SURE_ROUNDINGS * X.sizes[alive].max(initial=0.0)) ** 2
        self._added: list[int] = []  # names
        self._order: list[int] = []  # column of each feature added, -1 if it added nothing
        self._sure = -1  # a feature whose gain is beyond doubt, if `best` has found one
        self._found = -1, -1  # name and place of what `best` found last
        self._pending: int | None = None  # a feature taken, whose rows nobody has needed yet
        self._scores = np.empty(n)  # gains of single columns
        # Mostly the features are the columns, and then so are their gains.
        self._plain = candidates.plain or np.array_equal(self._single, np.arange(n))
        # -1 for features out of the race
        self._gains = self._scores if self._plain else np.empty(len(self._names))
        self._slack = np.empty(len(self._names))  # what gains may be off by, where looked at
        self._slack_is_stale = True  # nobody has looked at any gain of this step
        self._fresh = np.zeros(len(self._names), dtype=bool)  # measured in this step
        self._due: tuple[Floats, Floats] | None = None  # a row to be removed yet, and V'q
        self._score()

    # What a search asks

    def best(self, candidates: NDArray[np.bool_]) -> int | None:
        """Return the candidate that adds most, once every gain that matters is certain."""
        self._settle()
        names = self._candidates.names_among(candidates, self._added)
        top, runner_up = leader(self._gains, names, candidates)
        if top < 0:
            return None
        if not self._stands_out(top, runner_up):
            found = self._best_of_many(candidates[names], names)
            if found is None:
                return None
            top = found
        self._found = int(names[top]), top
        return self._found[0]

    def _best_of_many(self, open_: NDArray[np.bool_], names: Indices) -> int | None:
        """Return the place of the open feature that adds most, where several may."""
        while True:
            gains = np.where(open_, self._gains, -1.0)
            top = int(gains.argmax())
            if gains[top] < 0:
                return None
            rivals = self._rivals(gains, top)
            if len(rivals) == 1 and self._good_enough(top, float(self._slack[top])):
                self._sure = top
                return top
            doubtful = rivals[~self._trusted(rivals)]
            if doubtful.size:
                self._measure(doubtful)
                continue
            if gains[top] <= _NOTHING:
                return None
            equal = rivals[gains[rivals] >= (1 - _TIE) * gains[top]]
            return int(equal[names[equal].argmin()])

    def _stands_out(self, top: int, runner_up: float) -> bool:
        """Whether a single column has won beyond doubt, the usual case; False if unsure."""
        if self._unsure.size or not self._slack_is_stale:
            return False
        gain, j = float(self._gains[top]), int(self._single[top])
        left = float(self._d[j])
        if left < _PLENTY:
            return False
        slack = self._uncertainty.slack(gain, j, left)
        if not self._good_enough(top, slack) or runner_up >= self._threshold(gain, slack):
            return False
        self._sure = top
        return True

    def _good_enough(self, f: int, slack: float) -> bool:
        """Whether a gain that no other comes near is known well enough to take feature f.

        Gains in float32 have few digits. They do to tell a clear winner that does not depend on
        those selected; `known_gains` gives all taken their digits back in one go.
        """
        gain, j = float(self._gains[f]), int(self._single[f])
        clear = self._refinable and j >= 0 and self._d[j] >= self._surely_independent
        return slack <= (_CLEAR if clear else _TRUSTED) * gain and gain > _NOTHING

    def _threshold(self, gain: float, slack: float) -> float:
        """Return the least gain that may be as good as the leading one, where enough is left."""
        within_reach = (1 - _TIE) * gain - slack
        return max(within_reach - self._uncertainty.spread(within_reach, _PLENTY), 0.0)

    def _rivals(self, gains: Floats, top: int) -> Indices:
        """Return the features that may be as good as the leading one, itself included.

        Slack is worked out only where it can matter: gains of columns of which enough is left
        are nearly certain, so that only those close to the top are looked at.
        """
        self._look_at(np.array([top]))
        gain, slack = float(gains[top]), float(self._slack[top])
        within_reach = (1 - _TIE) * gain - slack
        close = np.flatnonzero(gains >= self._threshold(gain, slack))
        self._look_at(close)
        rivals = close
        if self._unsure.size:
            unsure = self._unsure[gains[self._unsure] >= 0]
            rivals = np.union1d(close, unsure)
        return rivals[gains[rivals] + self._slack[rivals] >= within_reach]

    def _look_at(self, features: Indices) -> None:
        """Work out the slack of gains that `_score` has left open."""
        self._open_slack()
        open_ = features[np.isnan(self._slack[features])]
        if not open_.size:
            return
        J = self._single[open_]
        d = self._d[J]
        slack = single_gains(self._gains[open_] * d, d, *self._uncertainty.of(J, d))[1]
        self._slack[open_] = slack

    def add(self, f: int) -> float:
        """Take feature f; a feature that depends on the selected ones adds nothing."""
        self._settle()
        self._added.append(f)
        self._order.append(-1)
        f = self._found[1] if f == self._found[0] else self._candidates.place(f)
        if f < 0:
            return 0.0
        if f != self._sure:
            only = np.array([f])
            self._look_at(only)
            if not self._spent[f] and not self._trusted(only)[0]:
                self._measure(only)
            if self._spent[f]:
                return 0.0
        gain = min(max(float(self._gains[f]), 0.0), self._V.shape[1] - self.value)
        self.value += gain
        self._pending = f
        self._order[-1] = int(self._single[f])
        return gain

    def gains(self) -> Floats:
        """Return what each feature would add; where the digits are gone it is measured first."""
        self._settle()
        self._look_at(np.flatnonzero(~self._spent))
        doubtful = np.flatnonzero(~self._spent & ~self._fresh & (self._slack > _SHOWN))
        if doubtful.size:
            self._measure(doubtful)
        gains = np.full(self._candidates.total, np.nan)
        gains[self._names] = np.where(self._spent, np.nan, self._gains)
        gains[self._candidates.twins] = gains[self._candidates.stand_ins]
        return gains

    def known_gains(self) -> list[float] | None:
        """Return the gains of all features added, from their real columns, if that tells more."""
        J = np.array([j for j in self._order if j >= 0], dtype=np.intp)
        if not self._refinable or not len(J):
            return None
        gains = iter(self._gains_together(J).tolist())
        known = [next(gains) if j >= 0 else 0.0 for j in self._order]
        self.value = sum(known)
        return known

    def _gains_together(self, J: Indices) -> Floats:
        """Return what each of columns J, all independent, adds to those before it."""
        G = self._X.block_gram(J)  # (t, t)
        try:
            R = cholesky(G, check_finite=False)
        except np.linalg.LinAlgError:
            R = np.zeros_like(G)
        if R.diagonal().min() ** 2 >= HEALTHY:
            C = solve_triangular(R, self._VtX[:, J].T, trans="T", check_finite=False)  # (t, m)
            return (C * C).sum(axis=1)
        return self._geometry.gains_together(self._columns, J)

    def _settle(self) -> None:
        """Orthogonalize to the feature taken last; put off until somebody asks what remains.

        After the last step nobody does, which may save a read of X.
        """
        f, self._pending = self._pending, None
        if f is None:
            return
        J = self._columns_of(f)
        if not self._by_rows and self._left_of(f) >= self._healthy:
            self._fetch(J)
            for j in J:
                self._take_by_gram(int(j))
        else:
            self._take_by_columns(J)
        self._spend([f])
        self._taken += 1
        self._score()

    def stats(self) -> dict[str, Any]:
        """Return the strategy, and what was asked of the table."""
        return {"strategy": self._strategy(), **self._X.stats(), "measured": self._measured}

    def _strategy(self) -> str:
        if self._by_rows:
            return "rows"
        return "gram columns" if self._X.whole is None else "whole gram"

    def exhausted(self) -> str:
        """Say why no candidate is left."""
        m = self._V.shape[1]
        if m == 0:
            return "the response is constant, so there is nothing to explain."
        if self.value >= m - 1e-9:
            return "they explain the response completely, so nothing is left to explain."
        if self._spent.all():
            return (
                "every other feature is constant or a linear combination of those selected "
                "(no rank is left)."
            )
        return "no other feature adds anything to what those selected explain."

    # Gains and their uncertainty

    def _score(self) -> None:
        """Compute every feature's gain from C, d and D, and the slack of the doubtful ones."""
        n_scarce = score_columns(self._C, self._d, _PLENTY, self._scores, self._due)
        self._due = None
        if not self._plain:
            # What stands at the end is for features of several columns: their `single` is -1.
            self._gains[:] = np.append(self._scores, 0.0)[self._single]
        self._slack_is_stale, self._sure = True, -1
        scarce = _NONE
        if n_scarce > self._n_constant + len(self._columns):
            scarce = np.flatnonzero(~np.append(self._d >= _PLENTY, True)[self._single])
            scarce = scarce[~self._spent[scarce]]
        if scarce.size:
            self._open_slack()
            J = self._single[scarce]
            squares = np.einsum("ij,ij->j", self._C[:, J], self._C[:, J])
            self._gains[scarce], self._slack[scarce] = single_gains(
                squares, self._d[J], *self._uncertainty.of(J, self._d[J])
            )
        for block in self._wide:
            self._open_slack()
            errors = self._uncertainty.of(block.columns, self._d[block.columns])
            self._gains[block.features], self._slack[block.features] = block_gains(
                self._C[:, block.columns], block.D, *(error.max(axis=1) for error in errors)
            )
        self._unsure = scarce
        if self._wide:
            self._unsure = np.concatenate([scarce, *(block.features for block in self._wide)])
        self._gains[self._spent_at] = -1.0
        if self._measured:
            self._fresh[:] = False

    def _open_slack(self) -> None:
        """Forget the slack of the last step, which mostly nobody has to."""
        if self._slack_is_stale:
            self._slack.fill(np.nan)
            self._slack[self._spent_at] = 0.0
            self._slack_is_stale = False

    def _trusted(self, features: Indices) -> NDArray[np.bool_]:
        gains, slack = self._gains[features], self._slack[features]
        return self._fresh[features] | (slack <= _TRUSTED * gains) | (gains + slack <= _NOTHING)

    def _columns_of(self, f: int) -> Indices:
        if f in self._wide_columns:
            return self._wide_columns[f]
        return self._single[f : f + 1]

    def _left_of(self, f: int) -> float:
        """Return the least that is left of any direction of feature f, between 0 and 1."""
        if f in self._wide_columns:
            return float(np.linalg.eigvalsh(self._block_of(f)).min())
        return float(self._d[self._single[f]])

    def _block_of(self, f: int) -> Floats:
        block = next(block for block in self._wide if f in block.features)
        return block.D[np.flatnonzero(block.features == f)[0]]

    # Measuring on real columns

    def _measure(self, features: Indices) -> None:
        """Replace what the state knows of these features by what their real columns say."""
        self._measured += len(features)
        alone = features[self._single[features] >= 0]
        if alone.size:
            self._measure_single(alone)
        for f in features[self._single[features] < 0]:
            self._measure_wide(int(f))

    def _measure_single(self, features: Indices) -> None:
        J = self._single[features]
        found = self._geometry.measure(self._columns, J)
        self._spend(features[found.depends].tolist())
        self._C[:, J], self._d[J] = found.C, found.d
        self._uncertainty.measured(J, found.d)
        gain = (found.C**2).sum(axis=0) / np.maximum(found.d, EPS**3)
        self._set_measured(features, np.minimum(gain, 1.0))

    def _measure_wide(self, f: int) -> None:
        rank, gain = self._geometry.block_gain(self._columns, self._columns_of(f))
        if rank == 0:
            self._spend([f])
        self._set_measured(np.array([f]), np.array([gain]))

    def _spend(self, features: list[int]) -> None:
        """Put features out of the race for good."""
        for f in features:
            self._spent[f] = True
        self._spent_at += features

    def _set_measured(self, features: Indices, gains: Floats) -> None:
        self._open_slack()
        self._gains[features] = np.where(self._spent[features], -1.0, gains)
        self._slack[features] = 0.0
        self._fresh[features] = True

    # Taking columns

    def _take_by_gram(self, j: int) -> None:
        self._remove_due()
        left = math.sqrt(self._d[j])
        g, error = self._gram[j]
        L = self._L.rows
        r = self._L.next_row()
        row_from_gram(g, L, L[:, j].copy(), left, r)
        self._append_row(r, self._C[:, j] / left, j, (error + self._noise) / left)

    def _take_by_columns(self, J: Indices) -> None:
        error = PRODUCT_ROUNDINGS * self._X.matrix.arithmetic + self._noise
        for j, row, c in self._geometry.take(self._columns, J, self._L.rows):
            if not self._by_rows:  # else nobody will ask for it again
                kept = self._L.next_row()
                kept[:] = row
                row = kept
            self._append_row(row, c, j, error)

    def _append_row(self, r: Floats, c: Floats, j: int, error: float) -> None:
        """Add row r = q'X, the next one of L, with c = V'q; j is the column q was made from."""
        if not self._by_rows:
            r[self._columns] = 0.0  # rows to come are made from this one
        self._columns.append(j)
        self._remove_due()
        self._due = r, c
        self._uncertainty.grow(error)
        for block in self._wide:
            R = r[block.columns]
            block.D -= R[:, :, None] * R[:, None, :]

    def _remove_due(self) -> None:
        """Take the last row out of all columns, which `_score` does in the same go as scoring."""
        if self._due is not None:
            remove_row(*self._due, self._C, self._d)
            self._due = None

    def _fetch(self, J: Indices) -> None:
        """Have the Gram columns X'x_j of J, and with them those of the likely next winners."""
        wanted = self._gram.missing(J)
        if wanted:
            self._gram.fetch(wanted + self._likely(wanted))

    def _likely(self, wanted: list[int]) -> list[int]:
        """Return columns that have not been fetched and are likely to be taken soon."""
        shape, memory = self._X.shape, self._X.matrix.memory
        count = plan.columns_ahead(shape, self._size, self._taken, memory) - len(wanted)
        if count < 1:
            return []
        alone, fetched = len(wanted) == 1 and not self._wide_columns, self._gram.fetched
        if alone and fetched and plan.guessing_pays(shape, self._X.matrix.n_stored, memory):
            gains = np.full(self._X.shape[1], -1.0)
            gains[self._single] = self._gains
            L = self._L.rows
            return likely_winners(gains, self._C, self._d, L, fetched, wanted[0], count)
        known = {*wanted, *fetched}
        many = min(len(known) + count, len(self._gains))
        leaders = np.argpartition(-self._gains, many - 1)[:many]
        leaders = leaders[np.argsort(-self._gains[leaders], kind="stable")]
        likely: list[int] = []
        for f in leaders[self._gains[leaders] > 0].tolist():
            if len(likely) >= count:
                break
            likely += [j for j in self._columns_of(f).tolist() if j not in known]
        return likely
