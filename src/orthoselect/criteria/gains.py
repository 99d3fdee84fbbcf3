"""What each feature would add to those selected, and how far that is known.

`Gains` keeps what all gains follow from, C, d and D, and the rows r = q'X of the columns taken, L.
The slack of a gain is what it may be off by. A feature whose gain is in doubt, and that might win,
is measured on its real columns. Features of very many columns are another matter, see
large_gains.py. Notation as in cancorr.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from orthoselect.criteria.candidates import (
    Candidates,
    blocks_by_width,
    independent_columns,
)
from orthoselect.criteria.large import (
    LargeFeature,
)
from orthoselect.criteria.significance import Look, Significance
from orthoselect.criteria.steps import (
    RoughGram,
    leader,
    leading,
    likely_winners,
    remove_row,
    row_from_gram,
    score_columns,
)
from orthoselect.criteria.uncertainty import (
    NOTHING,
    SHOWN,
    TIE,
    TRUSTED,
    Uncertainty,
    block_gains,
    single_gains,
)
from orthoselect.matrix import Geometry, ScaledMatrix
from orthoselect.matrix.base import EPS, NO_COLUMNS, Floats, Indices
from orthoselect.matrix.basis import ROUNDINGS
from orthoselect.matrix.scaled import PRODUCT_ROUNDINGS

# In float32 a winner known to this share of its gain is accepted, if no other comes near.
_CLEAR = 1e-2
# A column with so many times more left than the largest rounding depends on no others, as long as
# those are far from depending on each other.
_FAR = 16.0
_SURE = 2.0  # and with so many times more than the roundings of all that it is made of
# With at least this much left of a column its gain is nearly certain, too.
_PLENTY = 1e-3
_LARGE, _HUGE = 1 << 20, 1 << 22  # bytes of L


class Gains:
    """What is left of all columns, and what each feature would add.

    A feature is its place among the candidates, and stays in the race until it is taken or turns
    out to depend on those taken.

    Invariants: the first len(`selected`) rows of `_L` are those of the columns selected, unless
    rows are not kept; `_due` is the last of them while C and d have it still; `_slack` is that of
    the last step while `_slack_is_stale`, and nan where nobody has asked for it.

    No candidate is constant; VtX (m, n) is overwritten if it is contiguous. About `size` rows will
    be taken, 0 if they are not to be kept. If `refinable`, few digits will do to find a clear
    winner, as all that is taken gets exact gains in the end. What a `test` keeps follows all that
    is taken.
    """

    def __init__(
        self,
        candidates: Candidates,
        X: ScaledMatrix,
        VtX: Floats,
        geometry: Geometry,
        size: int,
        refinable: bool,
        test: Significance | None = None,
    ) -> None:
        n, n_features = X.shape[1], len(candidates.ids)
        self._test = test
        self.selected: list[int] = []  # columns removed from all others, one for each row taken
        self.n_measured = 0  # gains that were measured on real columns so far
        self._geometry, self._refinable = geometry, refinable
        self._keeps_rows = size > 0
        self._C = np.ascontiguousarray(VtX)
        self._d = X.alive.astype(np.float64)
        self._due: tuple[Floats, Floats] | None = None  # a row to be removed yet, and V'q
        self._n_constant = n - int(np.count_nonzero(X.alive))
        alive = X.alive if self._n_constant else slice(None)
        self._noise = float(X.noise[alive].max(initial=0.0))
        self._row_error = PRODUCT_ROUNDINGS * X.matrix.arithmetic  # of rows of real columns
        self._sizes, self._largest_size = X.sizes, float(X.sizes[alive].max(initial=0.0))
        self._reaches = np.zeros(16)  # one rounding of the columns each direction is made of
        self._roundings = self._largest_size  # bounds what they do to a column, given those taken
        # With so much left a column depends on no others.
        self._surely_independent = (ROUNDINGS * _FAR * self._largest_size) ** 2
        self._initial_errors = PRODUCT_ROUNDINGS * EPS + X.noise
        self._uncertainty = Uncertainty(self._initial_errors)
        small = {f: J for f, J in candidates.wide.items() if not self.is_large(f)}
        blocks = independent_columns(X, geometry, small)
        self._single = candidates.single  # -1 for features of several columns
        self._wide_columns = {f: J for f, (J, _) in blocks.items()}
        self._wide = blocks_by_width(blocks)
        width = self._n_thin(n)
        rows = max(8, min(size, 64)) if size else 0  # those never written take no memory
        if 8 * rows * width >= _LARGE:  # large enough for huge pages, which are quicker to get
            rows = max(rows, 1 + _HUGE // (8 * width))
        self._L = np.empty((rows, width))
        self._scores = np.empty(n)  # gains of single columns
        # Mostly the features are the columns, and then so are their gains.
        self._plain = np.array_equal(self._single, np.arange(n))
        # -1 for features out of the race
        self._gains = self._scores if self._plain else np.empty(n_features)
        self._ranks = np.ones(n_features)  # directions that each would add
        self._slack = np.empty(n_features)  # what gains may be off by, where looked at
        self._slack_is_stale = True  # nobody has looked at any gain of this step
        self._fresh = np.zeros(n_features, dtype=bool)  # measured in this step
        self._spent = np.zeros(n_features, dtype=bool)  # taken, or nothing is left of them
        self._spent_at: list[int] = []
        self._sure = -1  # a feature whose gain is beyond doubt, if `best` has found one
        self.score([])

    # What the state asks

    @property
    def by_columns(self) -> bool:
        """Whether all columns are taken by their real ones, whatever is left of them."""
        return False

    @property
    def refinable(self) -> bool:
        """Whether the gains of what was taken are still to be made exact."""
        return self._refinable

    def best(self, ids: Indices, candidates: NDArray[np.bool_], chance: float = 0.0) -> int | None:
        """Return the feature that adds most, once every gain that matters is certain.

        Of equals it is the one with the lowest of `ids` (features,), by which `candidates` says
        who may be returned. What chance alone gives for each direction of a feature does not count.
        """
        top, runner_up = leader(self._gains, ids, candidates)
        if top < 0:
            return None
        if self._stands_out(top, runner_up):
            return top
        open_ = candidates[ids]
        while True:
            merits = np.where(open_ & (self._gains >= 0), self._gains, -np.inf)
            if chance:  # nothing changes where all features are of one rank
                merits -= chance * (self._ranks - 1)
            top = int(merits.argmax())
            if merits[top] == -np.inf:
                return None
            rivals = self._rivals(merits, top)
            if len(rivals) == 1 and self._good_enough(top, float(self._slack[top])):
                self._sure = top
                return top
            doubtful = rivals[~self._trusted(rivals)]
            if doubtful.size:
                self._measure(doubtful)
            elif self._gains[top] <= NOTHING:
                open_[top] = False  # what adds less than chance would is better than that
            else:
                equal = rivals[merits[rivals] >= merits[top] - TIE * self._gains[top]]
                return int(equal[ids[equal].argmin()])

    def look(self, ids: Indices, candidates: NDArray[np.bool_]) -> Look:
        """Return what the test says of all features now, and of chance; arguments as of `best`."""
        assert self._test is not None
        self._remove_due()
        open_ = candidates[ids] & ~self._spent
        large, rank = self._large_in_race(), self.rank_taken()
        return self._test.look(self._C, self._d, self._single, self._wide, large, open_, rank)

    def look_closer(self, look: Look, f: int) -> bool:
        """Put in what is certain of a feature whose gain is; say whether that changes anything."""
        assert self._test is not None
        j, before = int(self._single[f]), float(look.U[f])
        if j >= 0:
            look.U[f] = self._test.statistic(self._C[:, j], max(float(self._d[j]), EPS**3))
        elif math.isnan(before):
            look.U[f] = self._test.statistic_of_gain(float(self._gains[f]))
            look.ranks[f] = self._ranks[f]
        return not abs(look.U[f] - before) <= TIE * before

    def rank_taken(self) -> int:
        """Return how many directions are taken."""
        return len(self.selected)

    def rank_of(self, f: int) -> int:
        """Return how many directions feature f adds, once its gain is beyond doubt."""
        return int(self._ranks[f])

    def of(self, f: int) -> float | None:
        """Return what feature f adds, beyond doubt; None if it depends on the selected ones."""
        if f != self._sure:
            only = np.array([f])
            self._look_at(only)
            if not self._spent[f] and not self._trusted(only)[0]:
                self._measure(only)
            if self._spent[f]:
                return None
        return float(self._gains[f])

    def shown(self) -> Floats:
        """Return all gains, nan for features out of the race; digits that are gone are measured."""
        self._look_at(np.flatnonzero(~self._spent))
        unclear = self._slack > SHOWN
        unclear |= (self._single >= 0) & (self._d[self._single] < self._surely_independent)
        doubtful = np.flatnonzero(~self._spent & ~self._fresh & unclear)
        if doubtful.size:
            self._measure(doubtful)
        return np.where(self._spent, np.nan, self._gains)

    def none_left(self) -> bool:
        """Whether all features are out of the race."""
        return bool(self._spent.all())

    def columns_of(self, f: int) -> Indices:
        """Return the columns of feature f, without those that depend on others of it."""
        if f in self._wide_columns:
            return self._wide_columns[f]
        return self._single[f : f + 1]

    def is_large(self, f: int) -> bool:
        """Whether a feature has so many columns that they are taken together."""
        return False

    def take_large(
        self, f: int, fetch: Callable[[Indices], tuple[Floats, Floats]], height: int
    ) -> None:
        """Take a large feature, so many columns at a time, by the Gram columns that are fetched."""
        raise AssertionError("there are no large features")

    def _large_in_race(self) -> dict[int, LargeFeature]:
        """Return the large features that may still be taken."""
        return {}

    def _n_thin(self, n: int) -> int:
        """Return how many of the n columns have their rows in `_L`: all but those of large ones."""
        return n

    def left_of(self, f: int) -> float:
        """Return the least that is left of any direction of feature f, between 0 and 1.

        It is 0 if columns of the feature may depend on others.
        """
        if f not in self._wide_columns:
            return float(self._d[self._single[f]])
        block = next(block for block in self._wide if f in block.features)
        D = block.D[np.flatnonzero(block.features == f)[0]]
        left = float(np.linalg.eigvalsh(D).min())
        return left if left >= self._sure_block(len(D)) else 0.0

    def leading_columns(self, count: int, known: set[int]) -> list[int]:
        """Return about so many columns of the features that add most now, those known left out."""
        many = min(len(known) + count, len(self._gains))
        leaders = np.argpartition(-self._gains, many - 1)[:many]
        leaders = leaders[np.argsort(-self._gains[leaders], kind="stable")]
        found: list[int] = []
        for f in leaders[self._gains[leaders] > 0].tolist():
            if len(found) >= count:
                break
            if self.is_large(f):
                continue
            found += [j for j in self.columns_of(f).tolist() if j not in known]
        return found

    def winners_ahead(
        self,
        count: int,
        leaders: int,
        fetched: dict[int, Floats],
        wanted: int,
        gram: RoughGram | None,
    ) -> list[int]:
        """Return columns likely to be taken after `wanted`; see steps.py."""
        gains = np.full(len(self._d), -1.0)
        gains[self._single] = self._gains
        I = leading(gains, leaders, wanted)  # noqa: E741  (the notation's letter)
        return likely_winners(I, gains, self._C, self._d, self.L, fetched, count, gram)

    # Directions taken out of all columns

    @property
    def L(self) -> Floats:
        """The rows of the columns selected, (k, n), for a geometry; none if nobody needs them."""
        return self._L[: len(self.selected) if self._keeps_rows else 0]

    def _next_row(self) -> Floats:
        """Return the row of L that is to be written next."""
        k = len(self.selected)
        if k == len(self._L):
            self._L = np.concatenate([self._L, np.empty_like(self._L)])
        return self._L[k]

    def take_by_gram(self, j: int, g: Floats, error: float) -> None:
        """Take column j, by its Gram column g = X'x_j, which may be off by `error`."""
        self._remove_due()
        L, d = self.L, float(self._d[j])
        r, above, left = self._next_row(), L[:, j].copy(), math.sqrt(d)
        row_from_gram(g, L, above, left, r)
        r[self.selected] = 0.0  # rows to come are made from this one
        c = self._C[:, j] / left
        reach = (float(self._sizes[j]) + float(np.abs(above) @ self._reaches[: len(L)])) / left
        self._uncertainty.grow(error + self._noise, float(c @ c), (above, d))
        self._remove(r, c, j, reach)

    def _add_reach(self, reach: float) -> None:
        k = len(self.selected) - 1
        if k == len(self._reaches):
            self._reaches = np.pad(self._reaches, (0, k))
        self._reaches[k] = reach

    def _set_roundings(self) -> None:
        # ||w|| has to stand out from sum_s |r_s| reach_s, where the sum of r_s^2 is at most one.
        k = len(self.selected)
        self._roundings = self._largest_size + float(np.linalg.norm(self._reaches[:k]))
        sure = ROUNDINGS * max(_FAR * self._largest_size, _SURE * self._roundings)
        self._surely_independent = sure * sure

    def take_by_columns(self, J: Indices) -> None:
        """Take columns J, by what the real ones add to those selected."""
        for new in self._geometry.take(self.selected, J, self.L):
            r = self._write_row(new.row) if self._keeps_rows else new.row
            self._uncertainty.grow(self._row_error + self._noise, float(new.along @ new.along))
            self._remove(r, new.along, new.column, new.reach)

    def _write_row(self, row: Floats) -> Floats:
        """Keep a row of L, and return it."""
        r = self._next_row()
        r[:] = row
        r[self.selected] = 0.0
        return r

    def _remove(self, r: Floats, c: Floats, j: int, reach: float) -> None:
        """Take out of all columns the direction q of column j; r = q'X, c = V'q."""
        self.selected.append(j)
        self._remove_due()
        self._due = r, c
        if self._test is not None:
            self._test.remove(r, c, j)
        self._add_reach(reach)
        self._set_roundings()
        for block in self._wide:
            R, D = r[block.columns], block.D
            D -= R[:, :, None] * R[:, None, :]

    def _sure_block(self, p: int) -> float:
        """Return the least eigenvalue with which p columns depend on nothing, nor on each other.

        What is left of each, given the others, is at least s, the root of that; the others have
        coefficients of norm 1/s at most. So s has to stand out from (1 + sqrt(p)/s) roundings.
        """
        c = _SURE * ROUNDINGS * self._roundings
        s = (c + math.sqrt(c * c + 4 * c * math.sqrt(p))) / 2
        return s * s

    # Which gain is the largest

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
        those selected; the state gives all taken their digits back in one go. Whether a column
        depends on others is told by its real numbers, where that is possible at all.
        """
        gain, j = float(self._gains[f]), int(self._single[f])
        if j >= 0 and self._d[j] < self._surely_independent:
            return False
        return slack <= (_CLEAR if self._refinable else TRUSTED) * gain and gain > NOTHING

    def _threshold(self, gain: float, slack: float) -> float:
        """Return the least gain that may be as good as the leading one, where enough is left."""
        within_reach = (1 - TIE) * gain - slack
        return max(within_reach - self._uncertainty.spread(within_reach, _PLENTY), 0.0)

    def _rivals(self, merits: Floats, top: int) -> Indices:
        """Return the features that may be as good as the leading one, itself included.

        Slack is worked out only where it can matter: gains of columns of which enough is left
        are nearly certain, so that only those close to the top are looked at.
        """
        self._look_at(np.array([top]))
        gain, slack = float(self._gains[top]), float(self._slack[top])
        # What chance gives is known, and the same number for a merit and its gain.
        below = gain - float(merits[top])
        within_reach = (1 - TIE) * gain - slack - below
        close = np.flatnonzero(merits >= min(self._threshold(gain, slack) - below, within_reach))
        self._look_at(close)
        rivals = close
        if self._unsure.size:
            unsure = self._unsure[merits[self._unsure] > -np.inf]
            rivals = np.union1d(close, unsure)
        return rivals[merits[rivals] + self._slack[rivals] >= within_reach]

    def _trusted(self, features: Indices) -> NDArray[np.bool_]:
        gains, slack = self._gains[features], self._slack[features]
        J = self._single[features]
        independent = (J < 0) | (self._d[J] >= self._surely_independent)
        certain = independent & (slack <= TRUSTED * gains)
        return self._fresh[features] | certain | (gains + slack <= NOTHING)

    def _look_at(self, features: Indices) -> None:
        """Work out the slack of gains that `score` has left open."""
        self._open_slack()
        open_ = features[np.isnan(self._slack[features])]
        if not open_.size:
            return
        J = self._single[open_]
        d = self._d[J]
        slack = single_gains(self._gains[open_] * d, d, *self._uncertainty.of(J, d))[1]
        self._slack[open_] = slack

    # Gains and their slack

    def score(self, taken: list[int]) -> None:
        """Compute every feature's gain from C, d and D, and the slack of the doubtful ones.

        Features that were taken, and all their directions removed, are out of the race.
        """
        self._spend(taken)
        n_scarce = score_columns(self._C, self._d, _PLENTY, self._scores, self._due)
        self._due = None
        if not self._plain:
            # What stands at the end is for features of several columns: their `single` is -1.
            self._gains[:] = np.append(self._scores, 0.0)[self._single]
        self._slack_is_stale, self._sure = True, -1
        scarce = NO_COLUMNS
        if n_scarce > self._n_constant + len(self.selected):
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
            error_C, error_d = self._uncertainty.of(block.columns, self._d[block.columns])
            floor = self._sure_block(block.D.shape[1])
            gains, slack = block_gains(
                self._C[:, block.columns],
                block.D,
                error_C.max(axis=1),
                error_d.max(axis=1),
                floor,
            )
            self._gains[block.features], self._slack[block.features] = gains, slack
            # Of what may depend on those taken the rank is open, as all the rest is.
            p = block.D.shape[1]
            self._ranks[block.features] = np.where(slack < min(len(self._C), p), p, 1)
        unsure = [*self._score_large(), *(block.features for block in self._wide)]
        self._unsure = np.concatenate([scarce, *unsure]) if unsure else scarce
        self._gains[self._spent_at] = -1.0
        if self.n_measured:
            self._fresh[:] = False

    def _score_large(self) -> list[Indices]:
        """Compute the gains of large features, and their slack; return which these are."""
        return []

    def _open_slack(self) -> None:
        """Forget the slack of the last step, which mostly nobody has to."""
        if self._slack_is_stale:
            self._slack.fill(np.nan)
            self._slack[self._spent_at] = 0.0
            self._slack_is_stale = False

    def _remove_due(self) -> None:
        """Take the last row out of all columns, which `score` does in the same go as scoring."""
        if self._due is not None:
            remove_row(*self._due, self._C, self._d)
            self._due = None

    # Measuring on real columns

    def _measure(self, features: Indices) -> None:
        """Replace what is known of these features by what their real columns say."""
        self.n_measured += len(features)
        self._open_slack()
        features = self._without_functions(features)
        alone = features[self._single[features] >= 0]
        if alone.size:
            J = self._single[alone]
            found = self._geometry.measure(self.selected, J, self.L)
            self._spend(alone[found.depends].tolist())
            self._C[:, J], self._d[J] = found.C, found.d
            self._uncertainty.measured(J, found.d)
            gains = (found.C**2).sum(axis=0) / np.maximum(found.d, EPS**3)
            self._gains[alone] = np.minimum(gains, 1.0)
        for f in features[self._single[features] < 0].tolist():
            rank, gain = self._geometry.block_gain(self.selected, self.columns_of(f), self.L)
            self._gains[f], self._ranks[f] = gain, rank
            if rank == 0:
                self._spend([f])
        self._gains[features[self._spent[features]]] = -1.0
        self._slack[features] = 0.0
        self._fresh[features] = True

    def _without_functions(self, features: Indices) -> Indices:
        """Leave out features that are functions of one taken, where that is quick to see."""
        return features

    def _spend(self, features: list[int]) -> None:
        """Put features out of the race for good."""
        for f in features:
            self._spent[f] = True
        self._spent_at += features
