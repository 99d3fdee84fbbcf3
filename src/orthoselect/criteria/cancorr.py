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
that might win is measured again on its real columns before it is believed (`gains.py`, which keeps
C, d, D and L). Here Gram columns are fetched, and those that will soon be needed are guessed.

References
----------
S. Zhang and Z.-Q. Lang, "Orthogonal least squares based fast feature selection for linear
classification", Pattern Recognition 123, 2022. https://doi.org/10.1016/j.patcog.2021.108419
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from orthoselect.criteria import plan
from orthoselect.criteria.base import Criterion, State
from orthoselect.criteria.bounds import BoundedGains
from orthoselect.criteria.candidates import HEALTHY, Candidates, without_constants, without_empty
from orthoselect.criteria.gains import Gains
from orthoselect.criteria.inner_products import InnerProducts, Objective
from orthoselect.criteria.large import check_room, find_large, has_large
from orthoselect.criteria.large_gains import LargeGains
from orthoselect.criteria.significance import (
    Look,
    NullResponses,
    PermutationPlan,
    Significance,
)
from orthoselect.encode import Design, Response, Table, build_level_design
from orthoselect.encode.rules import check_bins
from orthoselect.encode.spline_design import build_spline_design, check_knots
from orthoselect.errors import InputError
from orthoselect.matrix import NonFiniteColumns, ScaledMatrix, center
from orthoselect.matrix.base import EPS, NO_COLUMNS, Floats, Indices
from orthoselect.matrix.geometry import RowGeometry, triangle_of
from orthoselect.matrix.rows import Rows, total_weight
from orthoselect.matrix.scaled import PRODUCT_ROUNDINGS

# With less left of a float32 column, a row from Gram columns has too few digits.
_HEALTHY_FLOAT32 = 3e-2
ADJUSTMENTS = ("chance", "p_value", None)
NOT_SIGNIFICANT = "no other feature is significant at {}."
_MORE = 3  # steps shown after the last significant one
_PLANNED_AHEAD = 12  # steps that a search without a size is planned for
_LOOKS = 16  # at most, until the rarest candidate is certain


class SquaredCanonicalCorrelations(Criterion):
    """Sum of squared canonical correlations between the selected features and the response.

    Parameters
    ----------
    adjust : {"chance", "p_value", None}
        A feature of rank z gains z (m - total)/(N - 1 - s) by chance alone, where s is the rank of
        those selected. "chance" ranks features by what they gain beyond that; None by the plain
        gain, as in the paper. "p_value" ranks them by how rare such a gain of one feature would be
        by chance. Where all features have the same rank, and the response too, it is all the same.
    """

    name = "socc"
    keeps_whole_weights = True
    takes_blocks = True
    needs_rows = False
    can_test = True
    compares_sets = True

    def __init__(self, *, adjust: str | None = "chance") -> None:
        if adjust not in ADJUSTMENTS:
            raise InputError(
                f"`adjust` should be one of {', '.join(map(repr, ADJUSTMENTS))}; got {adjust!r}."
            )
        self._adjust = adjust is not None
        self._by_p = adjust == "p_value"

    def start(
        self,
        design: Design,
        response: Response,
        weights: Floats | None = None,
        size: int = 1,
        test: PermutationPlan | None = None,
    ) -> CanonicalState:
        """Return the state in which nothing is selected; features are tested as is planned."""
        if test is not None and test.stops:
            size = min(size, _PLANNED_AHEAD)
        return self._start(design, response, weights, size, test)

    def start_for_sets(
        self, design: Design, response: Response, weights: Floats | None = None, size: int = 1
    ) -> CanonicalState:
        """Return the same state; it can be started again."""
        if self._by_p:
            raise InputError(
                "`adjust='p_value'` ranks one feature after the other, `search='forward'`; other "
                "searches compare whole sets. Pass `adjust='chance'` or None, or omit `search`."
            )
        return self._start(design, response, weights, size, None, restarts=True)

    def _start(
        self,
        design: Design,
        response: Response,
        weights: Floats | None,
        size: int,
        test: PermutationPlan | None,
        *,
        restarts: bool = False,
    ) -> CanonicalState:
        check_room(design, size)
        kept = without_empty(design)
        matrix = kept.matrix
        whole = plan.whole_gram_pays(matrix, size)
        if plan.double_pays(matrix.shape[1], size):
            matrix = matrix.in_double()
        tested = test is not None or self._by_p
        alone = not kept.candidates.wide and not restarts and not tested and not whole
        copy = alone and plan.bytes_pay(matrix, size, response.V.shape[1])
        given = (matrix, response.V, weights, kept.unowned)
        try:
            X, VtX = center(*given, gram=whole, copy=copy)
        except NonFiniteColumns as found:
            raise kept.in_design(found) from None
        # Whole weights are copies of rows; others have mean one.
        n_rows = total_weight(weights, design.n_rows)
        tests = None
        if tested:
            nulls = None if test is None else test.nulls(response, weights, design.n_rows)
            tests = Tests(test, nulls, n_rows, by_p=self._by_p)
        rows = n_rows if self._adjust else None
        return CanonicalState(
            kept.candidates, X, VtX, response.V, size, rows, tests, restarts=restarts
        )

    def ceiling(self, response: Response) -> float:
        """Return the rank of the response."""
        return float(response.m)


class DiscretizedCanonicalCorrelations(SquaredCanonicalCorrelations):
    """Sum of squared canonical correlations between indicators of levels and the response (OLSd).

    Each level is an indicator, and a feature is the block of its indicators. So a feature may act
    on the response by any step function, not only by a line; the price is what the cuts throw away.

    Parameters
    ----------
    bins : {"mean_std_3", "mean_std_4", "auto", "from_data"}, int or discretizer
        How numeric columns become levels. "mean_std_3" (the default): cut at mean plus and minus
        one standard deviation; "mean_std_4": at the mean, too. A number: so many bins of equal
        width. The others as in `orthoselect.encode.build_codes`. Categorical columns keep their
        levels.
    """

    name = "socc_discretized"
    needs_rows = True

    def __init__(self, *, bins: Any = "mean_std_3", adjust: str | None = "chance") -> None:
        super().__init__(adjust=adjust)
        check_bins(bins)
        self._bins = bins

    def prepare(
        self,
        table: Table,
        groups: Mapping[str, Sequence[int]],
        exclude: set[int],
        weights: Floats | None = None,
    ) -> Design:
        """Return the indicators of all columns."""
        return build_level_design(table, groups, exclude, self._bins, weights)


class SplineCanonicalCorrelations(SquaredCanonicalCorrelations):
    """Sum of squared canonical correlations between splines of the columns and the response.

    Each column of numbers is a block of natural cubic splines, the line among them, and is selected
    whole; so a feature may act on the response by any smooth curve. Categorical columns are blocks
    of indicators, as ever.

    Parameters
    ----------
    n_knots : int
        Knots of a column, at quantiles; its block has one column less. Columns with few distinct
        values have fewer; with two values there is the line only.
    adjust : {"chance", "p_value", None}
        As for "socc". It matters here: a block of four columns gains four times as much by chance.
    """

    name = "socc_splines"
    bends = True
    takes_blocks = False
    needs_rows = True

    def __init__(self, *, n_knots: int = 5, adjust: str | None = "chance") -> None:
        super().__init__(adjust=adjust)
        self._n_knots = check_knots(n_knots)

    def prepare(
        self,
        table: Table,
        groups: Mapping[str, Sequence[int]],
        exclude: set[int],
        weights: Floats | None = None,
    ) -> Design:
        """Return the splines of all columns, which are made when they are needed."""
        return build_spline_design(table, groups, exclude, self._n_knots, weights)


class Tests(NamedTuple):
    """What a state is to know of chance."""

    plan: PermutationPlan | None
    nulls: NullResponses | None
    n_rows: float  # copies counted
    by_p: bool  # whether features are ranked by their own p-values


class CanonicalState(State):
    """Selected features and what each other one would add to the canonical correlations.

    Columns of X are centered and at norm one, V (N, m) is the orthonormal basis of the response,
    `size` is about how many features will be taken. With `n_rows`, those of the table, copies
    counted, features are ranked by what they gain beyond chance. One that `restarts` keeps VtX.
    """

    def __init__(
        self,
        candidates: Candidates,
        X: ScaledMatrix,
        VtX: Floats,
        V: Rows,
        size: int = 1,
        n_rows: float | None = None,
        tests: Tests | None = None,
        *,
        restarts: bool = False,
    ) -> None:
        # From here on a feature is its place among those that are not constant.
        candidates, X, VtX = without_constants(candidates, X, VtX)
        self._candidates, self._X, self._V, self._m = candidates, X, V, V.shape[1]
        self._start = VtX.copy() if restarts else None
        # In float32 the winners' gains are made exact at the end, where they are single columns.
        self._refinable = X.arithmetic != EPS and not candidates.wide
        self._VtX = VtX.copy() if self._refinable else VtX  # `Gains` overwrites what it is given
        self._geometry = X.geometry(V)
        self._by_bytes = X.copy is not None
        self._by_rows = plan.rows_pay(X.matrix, size) and not has_large(candidates)
        self._by_rows = self._by_rows and not self._by_bytes
        rows_kept = 0 if self._by_rows else max(size, 1)
        self._plan, self._by_p = (None, False) if tests is None else (tests.plan, tests.by_p)
        self._has_tests = tests is not None and self._m > 0
        test = None
        if tests is not None and self._has_tests:
            test = Significance(tests.nulls, X, self._m, tests.n_rows)
        self._look: Look | None = None  # what the test says of this step, if it was asked
        self._n_more = 0  # steps since the last significant one
        if self._by_bytes:
            assert isinstance(self._geometry, RowGeometry)
            self._gains: Gains = BoundedGains(candidates, X, VtX, self._geometry, rows_kept)
        else:
            large = find_large(X, self._geometry, candidates)
            kind = partial(LargeGains, large=large) if large else Gains
            given = (candidates, X, VtX, self._geometry)
            self._gains = kind(*given, rows_kept, self._refinable, test)
        self._healthy = HEALTHY if X.arithmetic == EPS else _HEALTHY_FLOAT32
        self._fetched: dict[int, Floats] = {}  # column j -> its Gram column x_j'X, (n,)
        self._errors: dict[int, float] = {}  # what each of these may be off by
        self._size, self._taken = size, 0  # features
        self._n_rows = n_rows
        self._added: list[int] = []  # by their index in the design
        self.ranks: list[int] = []  # directions that each of these added
        self._order: list[int] = []  # column of each feature added, -1 if it added nothing
        self._found = -1, -1  # index and place of what `best` found last
        self._pending: int | None = None  # a feature taken, whose rows nobody has needed yet

    # What a search asks

    def best(self, candidates: NDArray[np.bool_]) -> int | None:
        """Return the candidate that adds most, once every gain that matters is certain."""
        self._settle()
        ids = self._candidates.ids_among(candidates, self._added)
        if self._has_tests:
            top = self._best_by_test(ids, candidates)
        else:
            top = self._gains.best(ids, candidates, self._chance())
        if top is None:
            return None
        self._found = int(ids[top]), top
        return self._found[0]

    def _best_by_test(self, ids: Indices, candidates: NDArray[np.bool_]) -> int | None:
        """Return the best significant candidate, if that is asked for; the best after the last."""
        look = self._look = self._gains.look(ids, candidates)
        if self._plan is not None and self._plan.stops:
            if self.chosen is None:
                top = self._best_significant(ids, candidates, look, self._plan.alpha)
                if top is not None:
                    return top
                self.chosen = len(self._added)
            if self._n_more == _MORE:
                return None
            self._n_more += 1
        return self._pick(ids, candidates, look)

    def _best_significant(
        self, ids: Indices, candidates: NDArray[np.bool_], look: Look, alpha: float
    ) -> int | None:
        maybe = look.maybe_significant(alpha)
        while maybe.any():
            allowed = np.zeros_like(candidates)
            allowed[ids[maybe]] = True
            top = self._pick(ids, allowed & candidates, look)
            if top is None:
                return None
            self._gains.look_closer(look, top)
            if look.is_significant(top, alpha):
                return top
            maybe[top] = False
        return None

    def _pick(self, ids: Indices, candidates: NDArray[np.bool_], look: Look) -> int | None:
        """Return the best of some candidates, by gain beyond chance or by their own p-values."""
        if not self._by_p:
            return self._gains.best(ids, candidates, self._chance())
        open_, top = candidates[ids], None
        for _ in range(_LOOKS):
            rarest = look.rarest(open_)
            allowed = np.zeros_like(candidates)
            allowed[ids[rarest]] = True
            top = self._gains.best(ids, allowed & candidates, self._chance())
            if top is None:
                open_ = open_ & ~rarest
                if not open_.any():
                    return None
            elif self._gains.of(top) is not None and not self._gains.look_closer(look, top):
                return top
        return top

    def add(self, f: int) -> float:
        """Take feature f; a feature that depends on the selected ones adds nothing."""
        self._settle()
        self._added.append(f)
        self._order.append(-1)
        self.ranks.append(0)
        f = self._found[1] if f == self._found[0] else self._candidates.place(f)
        known = self._gains.of(f) if f >= 0 else None
        self.chance = self.p_value = self.effective_candidates = None
        look, self._look = self._look, None
        if known is None:
            return 0.0
        gain = min(max(known, 0.0), self._m - self.value)
        if self._candidates.wide and self._n_rows is not None:
            self.chance = self._gains.rank_of(f) * self._chance()
        if look is not None and self._plan is not None:
            self._gains.look_closer(look, f)
            self.p_value = look.p_value(f, self._plan.alpha)
            self.effective_candidates = look.effective()
        self.value += gain
        self.ranks[-1] = self._gains.rank_of(f)
        self._pending = f
        self._order[-1] = int(self._candidates.single[f])
        return gain

    def _chance(self) -> float:
        """Return what one direction would gain by chance, zero where that does not count.

        What is left to explain is spread over all directions that are left.
        """
        if self._n_rows is None or not self._candidates.wide:
            return 0.0
        left = max(self._n_rows - 1 - self._gains.rank_taken(), 1)
        return max(self._m - self.value, 0.0) / left

    def gains(self) -> Floats:
        """Return what each feature would add; where the digits are gone it is measured first."""
        self._settle()
        gains = np.full(self._candidates.total, np.nan)
        gains[self._candidates.ids] = self._gains.shown()
        gains[self._candidates.twins] = gains[self._candidates.stand_ins]
        return gains

    def known_gains(self) -> list[float] | None:
        """Return the gains of all features added, from their real columns, if that tells more."""
        J = np.array([j for j in self._order if j >= 0], dtype=np.intp)
        if not self._gains.refinable or not len(J):
            return None
        gains = iter(self._gains_together(J).tolist())
        known = [next(gains) if j >= 0 else 0.0 for j in self._order]
        self.value = sum(known)
        return known

    def _gains_together(self, J: Indices) -> Floats:
        """Return what each of columns J, all independent, adds to those before it."""
        G = self._X.block_grams([J])[0]  # (t, t)
        try:
            R = cholesky(G, check_finite=False)
        except np.linalg.LinAlgError:
            R = np.zeros_like(G)
        if R.diagonal().min() ** 2 >= HEALTHY:
            C = solve_triangular(R, self._VtX[:, J].T, trans="T", check_finite=False)  # (t, m)
            return (C * C).sum(axis=1)
        return self._geometry.gains_together(self._gains.selected, J)

    def _settle(self) -> None:
        """Orthogonalize to the feature taken last; put off until somebody asks what remains.

        After the last step nobody does, which may save a read of X.
        """
        f, self._pending = self._pending, None
        if f is None:
            return
        J = self._gains.columns_of(f)
        if self._gains.is_large(f):
            height = plan.block_height(self._X.matrix)
            self._gains.take_large(f, self._many_gram_columns, height)
        elif self._takes_gram_columns(f):
            for j, g, error in self._gram_columns(J):
                self._gains.take_by_gram(j, g, error)
        else:
            self._gains.take_by_columns(J)
        self._taken += 1
        if self._plan is not None and self._plan.stops:
            self._size = max(self._size, self._taken + _PLANNED_AHEAD)
        self._gains.score([f])

    def _takes_gram_columns(self, f: int) -> bool:
        if self._by_rows or self._gains.by_columns:
            return False
        return self._gains.left_of(f) >= self._healthy

    def stats(self) -> dict[str, Any]:
        """Return the strategy, and what was asked of the table."""
        strategy = "gram columns" if self._X.whole is None else "whole gram"
        if self._by_rows:
            strategy = "rows"
        if self._by_bytes:
            strategy = "bytes" if self._gains.by_columns else "bytes, then gram columns"
        return {"strategy": strategy, **self._X.stats(), "measured": self._gains.n_measured}

    def exhausted(self) -> str:
        """Say why no candidate is left."""
        if self._plan is not None and self._n_more:
            return NOT_SIGNIFICANT.format(f"{self._plan.alpha:g}")
        if self._m == 0:
            return "the response is constant, so there is nothing to explain."
        if self.value >= self._m - 1e-9:
            return "they explain the response completely, so nothing is left to explain."
        if self._gains.none_left():
            if not self.value and not self._gains.selected:
                return "every feature is constant."
            return (
                "every other feature is constant or a linear combination of those selected "
                "(no rank is left)."
            )
        return "no other feature adds anything to what those selected explain."

    # Sets

    def restarted(self, among: Indices | None = None) -> CanonicalState:
        """Return the same state with nothing selected; Gram columns are shared, of all features."""
        assert self._start is not None
        start, size = self._start.copy(), self._size
        state = CanonicalState(
            self._candidates, self._X, start, self._V, size, self._n_rows, restarts=True
        )
        state._fetched, state._errors = self._fetched, self._errors
        return state

    def products(self) -> InnerProducts:
        """Return what sets of features are compared by; ask before anything is selected."""
        assert self._start is not None
        candidates, X = self._candidates, self._X
        columns: list[Indices] = [NO_COLUMNS] * candidates.total
        for place, f in enumerate(candidates.ids.tolist()):
            columns[f] = self._gains.columns_of(place)
        for twin, f in zip(candidates.twins.tolist(), candidates.stand_ins.tolist()):
            columns[twin] = columns[f]
        n_rows = self._n_rows if candidates.wide else None
        return InnerProducts(
            columns,
            self._start.T,
            self._fetch,
            self._fetched if X.whole is None else X.whole,
            X.block_grams,
            Objective(float(self._m), n_rows),
            X.matrix.memory,
            is_rough=X.arithmetic != EPS,
        )

    def triangle(self, J: Indices) -> tuple[Floats, Floats, Floats]:
        """Return R and z, from real columns."""
        return triangle_of(self._X, J, self._V)

    # Gram columns

    def _fetch(self, J: list[int]) -> None:
        columns, errors = self._X.gram_with_errors(np.array(J, dtype=np.intp))
        self._fetched.update(zip(J, columns))
        self._errors.update(zip(J, errors.tolist()))

    def _gram_columns(self, J: Indices) -> list[tuple[int, Floats, float]]:
        """Return each of columns J, its Gram column x_j'X and what that may be off by.

        Those that have to be fetched come with those of the likely next winners.
        """
        if self._X.whole is not None:
            return [(j, self._X.whole[j], PRODUCT_ROUNDINGS * EPS) for j in J.tolist()]
        wanted = [j for j in J.tolist() if j not in self._fetched]
        if wanted:
            self._fetch(sorted(wanted + self._likely(wanted)))  # rows are read from left to right
        return [(j, self._fetched[j], self._errors[j]) for j in J.tolist()]

    def _many_gram_columns(self, J: Indices) -> tuple[Floats, Floats]:
        """Return the Gram columns of J, (len(J), n), which are not kept, and their errors."""
        if self._X.whole is not None:
            return self._X.whole[J], np.full(len(J), PRODUCT_ROUNDINGS * EPS)
        return self._X.gram_with_errors(J)

    def _likely(self, wanted: list[int]) -> list[int]:
        """Return columns that have not been fetched and are likely to be taken soon."""
        matrix, fetched = self._X.matrix, self._fetched
        count = plan.columns_ahead(matrix, self._size, self._taken) - len(wanted)
        if count < 1:
            return []
        found: list[int] = []
        if len(wanted) == 1 and not self._candidates.wide:
            gram = None
            if plan.sampling_pays(matrix, self._size, len(fetched)):
                gram = self._X.rough_gram(plan.sample_step(matrix.shape[0]))
            if gram is not None or (fetched and plan.guessing_pays(matrix)):
                in_sample = plan.leaders_in_sample(matrix.shape[1])
                leaders = plan.LEADERS if gram is None else in_sample
                found = self._gains.winners_ahead(count, leaders, fetched, wanted[0], gram)
        return found or self._gains.leading_columns(count, {*wanted, *fetched})
