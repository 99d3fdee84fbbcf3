"""Gains where some features have very many columns, as categorical ones with many levels do.

Their columns are taken together, a block at a time, and each such feature keeps the rows of its own
columns (see large.py). Notation as in gains.py and large.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.blas import dtrsm

from orthoselect.criteria.candidates import HEALTHY, Candidates
from orthoselect.criteria.gains import Gains
from orthoselect.criteria.large import (
    LargeFeature,
    LedFeature,
    Levels,
    depends_besides,
    lead,
)
from orthoselect.criteria.significance import Significance
from orthoselect.criteria.uncertainty import Uncertainty
from orthoselect.lazy import lazy
from orthoselect.matrix import Geometry, ScaledMatrix
from orthoselect.matrix.base import EPS, Floats, Indices
from orthoselect.matrix.scaled import PRODUCT_ROUNDINGS
from orthoselect.matrix.threads import run_tasks

_TAKEN_ANEW = 256  # columns that may be taken again once a categorical feature leads


class LargeGains(Gains):
    """The same where some features are large; arguments as of `Gains`, and those features.

    Invariants: `_large` are the large features that are not taken. `_thin` are the columns of all
    others, and `_L` has the rows of these only. A categorical feature of many levels may lead: its
    directions U are not among those selected, and of all others only what is beside them is kept.
    `_led` is then U'X of the thin columns, and the first of `_taken_levels` is that feature's.
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
        *,
        large: Mapping[int, LargeFeature],
    ) -> None:
        self._large, self._candidates = dict(large), candidates
        is_thin = np.ones(X.shape[1], dtype=bool)
        for feature in large.values():
            is_thin[feature.columns] = False
        self._thin = np.flatnonzero(is_thin)
        self._taken: list[LargeFeature] = []  # those that a geometry asks for
        self._taken_levels: list[Levels] = []  # the first is of the feature that leads
        self._led: Floats | None = None
        self._counts_only = X.root is None  # inner products of columns of 0 and 1 are counts
        super().__init__(candidates, X, VtX, geometry, size, refinable, test)
        self._start = None  # C, d and D before anything is taken, if a feature may lead
        if any(feature.levels is not None for feature in large.values()):
            grams = [block.D.copy() for block in self._wide]
            self._start = self._C.copy(), self._d.copy(), grams
            if test is not None:
                test.remember_start()

    @lazy
    def _is_coded(self) -> NDArray[np.bool_]:
        """Whether each column is an indicator of a categorical feature, (n,)."""
        is_coded, candidates = np.zeros(len(self._d), dtype=bool), self._candidates
        for f, feature in enumerate(candidates.ids.tolist()):
            is_coded[self.columns_of(f)] = feature in candidates.coded
        return is_coded

    # What differs from features of few columns

    def columns_of(self, f: int) -> Indices:
        return self._large[f].columns if f in self._large else super().columns_of(f)

    def is_large(self, f: int) -> bool:
        return f in self._large

    def _large_in_race(self) -> dict[int, LargeFeature]:
        return {f: feature for f, feature in self._large.items() if not self._spent[f]}

    def _n_thin(self, n: int) -> int:
        return len(self._thin)

    def rank_taken(self) -> int:
        leading = self._taken_levels[:1] if self._led is not None else []
        return super().rank_taken() + sum(levels.rank for levels in leading)

    @property
    def L(self) -> Floats:
        if not self._geometry.asks_for_rows:
            return self._L[:0]
        k = len(self.selected) if self._keeps_rows else 0
        L = np.zeros((k, len(self._d)))
        L[:, self._thin] = self._L[:k]
        for large in [*self._large.values(), *self._taken]:
            L[: large.n_rows, large.columns] = np.vstack([L[:0, large.columns], *large.rows()])
        return L

    def _write_row(self, row: Floats) -> Floats:
        r = row.copy()
        r[self.selected] = 0.0
        self._next_row()[:] = r[self._thin]
        for large in self._large.values():
            large.append(r[None, large.columns])
        return r

    def take_by_gram(self, j: int, g: Floats, error: float) -> None:
        place = np.searchsorted(self._thin, [j])
        among = 1.0 if self._led is None else 1.0 - float((self._led[:, place] ** 2).sum())
        gram_of = self._columns_out_of(g[None])
        self._take_block(np.array([j]), place, gram_of, np.array([[among]]), error)

    def _without_functions(self, features: Indices) -> Indices:
        # What else real columns tell takes long where many are selected.
        for levels in self._taken_levels if len(self.selected) > _TAKEN_ANEW else ():
            for f in features.tolist():
                small = f not in self._large
                if small and self._geometry.constant_within(levels.codes, self.columns_of(f)).all():
                    self._spend([f])
                    self._gains[f] = -1.0
            features = features[~self._spent[features]]
        return features

    # Taking a large feature

    def take_large(
        self, f: int, fetch: Callable[[Indices], tuple[Floats, Floats]], height: int
    ) -> None:
        # Where Gram columns have too few digits the rest is taken by real columns.
        large = self._large[f]
        if large.levels is not None and self._may_lead():
            self._lead(f)
            return
        J = large.columns
        solved = large.solve(self._C[:, J])
        start = 0
        if solved is not None and solved.least >= self._sure_block(len(J)):
            large.forget_gram()
            if isinstance(large, LedFeature):
                height = len(J)
                for other in self._large.values():  # so many rows change them all
                    other.forget_factor()
            while start < len(J):
                places = np.arange(start, min(start + height, len(J)))
                if not self._take_part(large, places, fetch):
                    break
                start += len(places)
        if start < len(J):
            self.take_by_columns(J[start:])
        del self._large[f]
        if self._geometry.asks_for_rows:
            self._taken.append(large)
        if large.levels is not None:
            self._taken_levels.append(large.levels)
            for g, other in self._large.items():
                if isinstance(other, LedFeature) and depends_besides(other, self._taken_levels):
                    self._spend([g])

    def _may_lead(self) -> bool:
        """Whether what is taken so far can be taken again, beside a feature that leads."""
        if self._taken_levels or len(self.selected) > _TAKEN_ANEW:
            return False
        return bool(np.isin(self.selected, self._thin).all())

    def _lead(self, f: int) -> None:
        """Take a categorical feature, before all that is taken so far."""
        levels, before = self._large.pop(f).levels, self.selected
        assert levels is not None
        assert self._start is not None
        C, d, grams = self._start
        U = levels.orthonormal()
        along = self._geometry.lead(U)  # (z, m)
        self._taken_levels, self.selected, self._due = [levels], [], None
        self._uncertainty = Uncertainty(self._initial_errors)
        # All of U are off by the same, and so they are as one row.
        self._uncertainty.grow(PRODUCT_ROUNDINGS * EPS + self._noise, float((along**2).sum()))

        def start(J: Indices, S: Any, squares: Floats) -> None:
            self._C[:, J] = C[:, J] - (S.T @ along).T
            self._d[J] = squares - np.asarray((S * S).sum(axis=0)).ravel()

        self._d[levels.columns] = 0.0
        self._led = self._geometry.products_with(U, self._thin)
        start(self._thin, self._led, d[self._thin])
        for g, large in list(self._large.items()):
            if large.levels is None:
                S = self._geometry.products_with(U, large.columns)
                large.start_anew(S)
                start(large.columns, S, d[large.columns])
                continue
            led = lead(large, U, levels)
            if led is None:
                self._spend([g])
                continue
            self._large[g] = led
            start(led.columns, led.S, led.e)
        for block, D in zip(self._wide, grams):
            for place, at in enumerate(np.searchsorted(self._thin, block.columns)):
                S = self._led[:, at]
                block.D[place] = D[place] - S.T @ S
        self._set_roundings()
        if self._test is not None:
            parts: list[tuple[Indices, Any]] = [(self._thin, self._led)]
            parts += [(g.columns, g.S) for g in self._large.values() if g.S is not None]
            self._test.start_anew(along, levels, parts)
        if before:
            self.take_by_columns(np.array(before))

    def _take_part(
        self,
        large: LargeFeature,
        places: Indices,
        fetch: Callable[[Indices], tuple[Floats, Floats]],
    ) -> bool:
        """Take some columns of a large feature; see `_take_block`."""
        J = large.columns[places]
        if isinstance(large, LedFeature):
            gram_of = self._products_of(large.Z)
            return self._take_block(
                J, places, gram_of, large.gram_alone(), PRODUCT_ROUNDINGS * EPS, large
            )
        G, errors = fetch(J)
        among = G[:, J]
        if large.S is not None:
            among = among - large.S[:, places].T @ large.S[:, places]
        gram_of = self._columns_out_of(G)
        return self._take_block(J, places, gram_of, among, float(errors.max()), large)

    def _products_of(self, Z: Any) -> Callable[[int], Any]:
        """Return what multiplies Z with the columns of a large feature, or -1: of none."""

        def gram_of(f: int) -> Any:
            other = self._large.get(f)
            if isinstance(other, LedFeature):
                return Z.T @ other.Z
            columns = self._thin if other is None else other.columns
            return self._geometry.products_with(Z, columns)

        return gram_of

    def _columns_out_of(self, G: Floats) -> Callable[[int], Any]:
        """Return what cuts the columns of a large feature, or -1: of none, out of Gram columns."""
        return lambda f: G[:, self._thin if f < 0 else self._large[f].columns]

    def _take_block(
        self,
        J: Indices,
        places: Indices,
        gram_of: Callable[[int], Any],
        among: Floats,
        error: float,
        owner: LargeFeature | None = None,
    ) -> bool:
        """Take columns J together, by their products with all columns, off by `error` at most.

        `gram_of` gives those with the columns of a large feature, or -1: of none, (b, p); `among`
        are those with each other, (b, b), beside a feature that leads. `places` are theirs among
        the columns of their owner, or of those that no large feature owns. Returns False, and takes
        none, if little is left of one given the others.
        """
        self._remove_due()
        k, b = len(self.selected), len(J)
        above = self._L[:k][:, places] if owner is None else owner.at(places)  # (k, b)
        S_J = None
        if self._led is not None:
            S_J = (self._led if owner is None else owner.S)[:, places]
        try:
            R = cholesky(among - above.T @ above, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            return False
        if b > 1 and (R.diagonal() ** 2).min() < HEALTHY:
            return False
        c = solve_triangular(R, self._C[:, J].T, trans="T", check_finite=False)  # (b, m)
        made: dict[int, Floats] = {}

        def make(f: int, _: object) -> None:
            rest = self._rest_of(f, gram_of, S_J, above)  # (b, p), solved for where it is
            made[f] = dtrsm(1.0, R, rest.T, side=1, overwrite_b=1).T

        # Of one that was taken in parts, the next part needs its rows.
        done = owner if isinstance(owner, LedFeature) else None
        open_ = [-1, *(f for f, g in self._large.items() if not self._spent[f] and g is not done)]
        run_tasks(open_, make, cost=float(b * (k + b) * len(self._d)), shared=True)
        made[-1][:, np.isin(self._thin, self.selected)] = 0.0  # rows to come are made from these
        if self._test is not None:
            parts = [(self._thin if f < 0 else self._large[f].columns, r) for f, r in made.items()]
            self._test.remove_block(J, R, c, parts)
        for f, rows in made.items():
            columns = self._thin if f < 0 else self._large[f].columns
            self._C[:, columns] -= c.T @ rows
            self._d[columns] -= np.einsum("ij,ij->j", rows, rows)
            if f >= 0:
                self._large[f].append(rows)
        self._d[J] = 0.0  # `score` counts columns with little left
        led = None if S_J is None else np.sqrt(np.asarray((S_J * S_J).sum(axis=0)).ravel())
        for i in range(b):
            self._next_row()[:] = made[-1][i]
            before = np.append(above[:, i], R[:i, i])
            self._count_row(
                int(J[i]), before, R[i, i], c[i], error, None if led is None else led[i]
            )
        for block in self._wide:
            at = np.searchsorted(self._thin, block.columns)
            rows = made[-1][:, at]
            block.D[:] -= np.einsum("bfp,bfq->fpq", rows, rows)
        self._set_roundings()
        return True

    def _rest_of(self, f: int, gram_of: Callable[[int], Any], S_J: Any, above: Floats) -> Floats:
        """Return what is left of products with a large feature, or -1: with no such; (b, p)."""
        rest = gram_of(f)
        if S_J is not None:
            rest = rest - S_J.T @ (self._led if f < 0 else self._large[f].S)
        rest = np.ascontiguousarray(rest.toarray() if hasattr(rest, "toarray") else rest)
        rest -= above.T @ self._L[: len(above)] if f < 0 else self._large[f].times(above)
        return rest

    def _count_row(
        self, j: int, above: Floats, left: float, c: Floats, error: float, led: float | None
    ) -> None:
        """Count in a row made of the Gram column of j, which the rows before have `above` of.

        The directions of a feature that leads have `led` of it, together.
        """
        k = len(self.selected)
        reach = (float(self._sizes[j]) + float(np.abs(above) @ self._reaches[:k])) / left
        before = above if led is None else np.append(led, above)
        self._uncertainty.grow(error + self._noise, float(c @ c), (before, left * left))
        self.selected.append(j)
        self._add_reach(reach)

    # Gains of large features

    def _score_large(self) -> list[Indices]:
        open_ = [f for f in self._large if not self._spent[f]]
        if not open_:
            return []
        self._open_slack()
        n_columns = sum(len(self._large[f].columns) for f in open_)
        run_tasks(open_, self._score_one, cost=float(n_columns) * 1e6, shared=True)
        return [np.array(open_, dtype=np.intp)]

    def _score_one(self, f: int, _: object = None) -> None:
        large, m = self._large[f], len(self._C)
        for _attempt in range(2):
            J = large.columns
            p, error_C, error_d = len(J), *map(np.max, self._uncertainty.of(J, self._d[J]))
            solved = large.solve(self._C[:, J])
            floor = max(4 * p * error_d, self._sure_block(p))
            if solved is not None and solved.least >= floor:
                self._gains[f], self._ranks[f] = min(max(solved.gain, 0.0), min(m, p)), p
                self._slack[f] = solved.slack(error_C, error_d)
                return
            if not self._drop_dependent(large):
                break
        self._gains[f], self._slack[f], self._ranks[f] = 0.0, float(min(m, p)), 1

    def _drop_dependent(self, large: LargeFeature) -> bool:
        """Leave out columns of a large feature that depend on those selected, if that is certain.

        Where all are 0 and 1, inner products show which. Elsewhere, as where a number is a function
        of the feature's levels, the real columns have to show that a direction taken lies in them.
        """
        if large.t is None and not isinstance(large, LedFeature):
            return False
        if self._counts_only and self._is_coded[self.selected].all():
            kept = large.independent()
        else:
            inside = large.directions_inside()
            if inside is None or not inside.shape[1] or large.levels is None:
                return False
            Z = large.levels.indicators()
            if not self._geometry.lie_in(self.selected, inside, Z, large.solve_alone):
                return False
            kept = large.independent(len(large.columns) - inside.shape[1])
        if kept is None or not 0 < len(kept) < len(large.columns):
            return False
        large.keep(kept)
        return True
