"""Searches that add, drop and exchange features; all by inner products.

Notation as in criteria/inner_products.py. Sets are compared with sets of the same size only.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nsmallest

import numpy as np

from orthoselect.criteria.inner_products import SetProducts
from orthoselect.matrix.base import Floats
from orthoselect.search.base import Hunt, Proof, SetSearch, check_whole, is_better, walk_forward

_AHEAD = 6  # Gram columns fetched with the one that is needed: kernels take them by sixes
_FROM_MOST = 500  # features that a backward search begins with


class SwapSearch(SetSearch):
    """Exchange one feature of a set for another while that is better, for every size.

    Sizes are tried upwards, from the greedy set and from the set before with one feature more, and
    then downwards, from the set after with one less.

    Parameters
    ----------
    n_starts : int
        Sets to begin with: that of forward selection, and those it finds when it has to begin with
        the second best feature, the third, and so on.
    time_limit : float
    """

    name: str = "swap"
    options: tuple[str, ...] = ("n_starts",)

    def __init__(self, *, n_starts: int = 1, time_limit: float = 60.0) -> None:
        super().__init__(time_limit=time_limit)
        self.n_starts = check_whole(n_starts, "n_starts")

    def improve(self, hunt: Hunt) -> Proof | None:
        """Exchange features from every start."""
        self._climb(hunt, dict(hunt.best))
        empty = hunt.look(hunt.include)
        firsts = [f for f in _best_first(hunt, empty) if f not in self.greedy]
        for first in firsts[: self.n_starts - 1]:
            if hunt.out_of_time():
                break
            found, starts = hunt.look([*hunt.include, first]), {}
            while True:
                starts[len(found.features)] = found.features, found.value
                best = _best_first(hunt, found)[:1]
                if len(found.features) >= hunt.size or not best:
                    break
                found = hunt.look([*found.features, *best])
            self._climb(hunt, starts)
        return None

    def _climb(self, hunt: Hunt, starts: dict[int, tuple[tuple[int, ...], float]]) -> None:
        """Exchange features of each start; a set of one more is tried from where that ends."""
        before: SetProducts | None = None
        for size in sorted(starts):
            found = SetProducts(hunt.products, starts[size][0])
            if before is not None:
                best = _best_first(hunt, before)[:1]
                if best:
                    grown = hunt.look([*before.features, *best])
                    found = grown if is_better(grown.value, found.value) else found
            before = exchange(hunt, found)
            if hunt.is_late:
                return
        self._descend(hunt)

    def _descend(self, hunt: Hunt) -> None:
        """Try the best set of each size without its worst feature, from the largest down."""
        for size in range(hunt.size, len(hunt.include) + 1, -1):
            fewer = _without_worst(hunt, SetProducts(hunt.products, hunt.best[size][0]))
            exchange(hunt, fewer)
            if hunt.is_late:
                return


def exchange(hunt: Hunt, found: SetProducts) -> SetProducts:
    """Exchange one feature for another, the best exchange first, until none is better."""
    products = hunt.products
    while not hunt.out_of_time():
        tried: list[tuple[float, int, int]] = []
        for place, f in enumerate(found.features):
            if f in hunt.include:
                continue
            if hunt.out_of_time():  # features of very many columns take long
                return found
            widths = found.width - products.widths[f] + products.widths
            gains = found.total + found.exchanges(place)
            values = np.where(hunt.pool, products.objective.of(gains, widths), -np.inf)
            values[list(found.features)] = -np.inf
            top = int(values.argmax())
            if is_better(float(values[top]), found.value):
                tried.append((float(values[top]), place, top))
        tried.sort(key=lambda each: -each[0])
        _fetch_ahead(hunt, [f for _, _, f in tried])
        better = None
        for _, place, f in tried:  # what Gram columns say of doubtful ones may not hold
            features = (*found.features[:place], *found.features[place + 1 :], f)
            new = hunt.look(features)
            if is_better(new.value, found.value):
                better = new
                break
        if better is None:
            return found
        found = better
    return found


class BackwardSearch(SetSearch):
    """Drop the feature that loses least, from all features down.

    It begins with all features that do not depend on others. Of very many, or where there are more
    features than rows, it begins with the first many of a forward path.
    """

    name: str = "backward"

    def improve(self, hunt: Hunt) -> Proof | None:
        """Drop features one by one."""
        found, n_all = _many(hunt), int(np.count_nonzero(hunt.pool)) + len(hunt.include)
        n_begun = len(found.features)
        while len(found.features) > max(len(hunt.include), 1) and not hunt.out_of_time():
            found = _without_worst(hunt, found)
        note = f"it began with the first {n_begun} of a forward path" if n_begun < n_all else ""
        return Proof(None, None, hunt.n_sets, 0.0, note)


class FloatingSearch(SetSearch):
    """Take the best feature, then drop features while the smaller sets are better than known ones.

    Sequential floating forward selection (SFFS).

    References
    ----------
    P. Pudil, J. Novovicova and J. Kittler, "Floating search methods in feature selection", Pattern
    Recognition Letters 15, 1994. https://doi.org/10.1016/0167-8655(94)90127-9
    """

    name: str = "floating"

    def improve(self, hunt: Hunt) -> Proof | None:
        """Go forward, and back as long as that pays."""
        found = hunt.look(hunt.include)
        known = {len(found.features): found.value}
        while len(found.features) < hunt.size and not hunt.out_of_time():
            best = _best_first(hunt, found)[:1]
            if not best:
                break
            grown = hunt.look([*found.features, *best])
            size = len(grown.features)
            if size in known and not is_better(grown.value, known[size]):
                # The best of this size is known; go on from there, and do not walk in circles.
                grown = SetProducts(hunt.products, hunt.best[size][0])
            known[size] = grown.value
            found = grown
            while len(found.features) > len(hunt.include) + 1:
                fewer = _without_worst(hunt, found)
                size = len(fewer.features)
                if not is_better(fewer.value, known.get(size, -np.inf)):
                    break
                known[size] = fewer.value
                found = fewer
        return None


class BeamSearch(SetSearch):
    """Keep several sets of each size, and grow all of them.

    Parameters
    ----------
    width : int
        How many sets of each size are kept.
    time_limit : float
    """

    name: str = "beam"
    options: tuple[str, ...] = ("width",)

    def __init__(self, *, width: int = 5, time_limit: float = 60.0) -> None:
        super().__init__(time_limit=time_limit)
        self.width = check_whole(width, "width")

    def improve(self, hunt: Hunt) -> Proof | None:
        """Grow the best sets of each size by every feature."""
        beam = [hunt.look(hunt.include)]
        for size in range(len(hunt.include) + 1, hunt.size + 1):
            if hunt.out_of_time():
                break
            grown: dict[tuple[int, ...], float] = {}
            for found in beam:
                if hunt.out_of_time():  # a wide beam has a long level
                    break
                values = _values_with(hunt, found)
                for f in _largest(values, self.width):
                    features = tuple(sorted([*found.features, f]))
                    grown[features] = max(grown.get(features, -np.inf), float(values[f]))
            width = 1 if hunt.is_late else self.width  # the best of those grown is worth a look
            best = nsmallest(width, grown, key=lambda each: (-grown[each], each))
            _fetch_ahead(hunt, [f for features in best for f in features])
            beam = []
            for features in best:
                beam.append(hunt.look(features))
                if hunt.out_of_time():
                    break
            greedy = self.greedy[:size]
            if all(set(found.features) != set(greedy) for found in beam):
                beam.append(hunt.look(greedy))
        return None


def _values_with(hunt: Hunt, found: SetProducts) -> Floats:
    """Return the value of a set with each feature added, -inf for those that add nothing."""
    products, gains = hunt.products, found.gains()
    values = products.objective.of(found.total + gains, found.width + products.widths)
    return np.where(hunt.pool & (gains > 0), values, -np.inf)


def _best_first(hunt: Hunt, found: SetProducts) -> list[int]:
    """Return the features that may be added, the best first."""
    values = _values_with(hunt, found)
    return _largest(values, int(np.count_nonzero(values > -np.inf)))


def _largest(values: Floats, count: int) -> list[int]:
    order = np.argsort(-values, kind="stable")[:count]
    return order[values[order] > -np.inf].tolist()


def _without_worst(hunt: Hunt, found: SetProducts) -> SetProducts:
    """Return the set without the feature that loses least."""
    products, losses = hunt.products, found.losses()
    own = products.widths[list(found.features)]
    values = products.objective.of(found.total - losses, found.width - own)
    values[[place for place, f in enumerate(found.features) if f in hunt.include]] = -np.inf
    fewer = found.without(int(values.argmax()))
    hunt.offer(fewer)
    return fewer


def _many(hunt: Hunt) -> SetProducts:
    """Return a set of all features, if none depends on others; or the first many of a path."""
    everything = [*hunt.include, *np.flatnonzero(hunt.pool).tolist()]
    if len(everything) <= _FROM_MOST:
        found = SetProducts(hunt.products, tuple(sorted(everything)))
        if found.is_independent:
            return found
    count = min(len(everything), _FROM_MOST)
    steps = walk_forward(hunt.state.restarted(), count, hunt.include, hunt.pool)
    return hunt.look([taken.feature for taken in steps])


def _fetch_ahead(hunt: Hunt, features: Sequence[int]) -> None:
    """Fetch the Gram columns of the first few features in one read."""
    if features:
        J = hunt.products.columns_of(features[:1])
        hunt.products.gram(J, hunt.products.columns_of(features[1:_AHEAD]).tolist())
