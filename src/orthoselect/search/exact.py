"""The best set, proved."""

from __future__ import annotations

import time
from math import comb, log10

import numpy as np

from orthoselect.errors import InputError
from orthoselect.matrix.base import Floats
from orthoselect.matrix.memory import free_memory, say_bytes
from orthoselect.search.base import Hunt, Proof
from orthoselect.search.exchange import SwapSearch
from orthoselect.search.leaps import Tree, best_sets, make_steps

SECONDS_BETWEEN = 0.2  # of two reports of the gap
_SHARE = 2  # of the memory that is free, one part in so many may hold nodes


class ExactSearch(SwapSearch):
    """Find the best set of every size, and prove it, by branch and bound; see leaps.py.

    It begins with the sets that exchanges find. At the end of the time the best set so far is
    returned, and what no set exceeds.
    """

    name: str = "exact"
    options: tuple[str, ...] = ()

    def __init__(self, *, time_limit: float = 60.0) -> None:
        super().__init__(time_limit=time_limit)

    def improve(self, hunt: Hunt) -> Proof | None:
        """Exchange features, then look everywhere else."""
        if hunt.size == len(hunt.include):
            return Proof(True, None, 0, 0.0)
        check_room(hunt)
        super().improve(hunt)
        order = [*hunt.include, *np.flatnonzero(hunt.pool).tolist()]
        tree = plant(hunt, order)
        told, bound = time.monotonic(), bound_of_all(tree)

        def watch(now_at_most: float) -> bool:
            nonlocal told, bound
            bound, now = now_at_most, time.monotonic()
            if self.watch is not None and now - told > SECONDS_BETWEEN:
                told = now
                self.watch(bound, float(tree.best[hunt.size]))
            return not hunt.out_of_time()

        try:
            bound = best_sets(tree, watch)
        except KeyboardInterrupt:  # the tree has what was found, and the bound told last holds
            hunt.is_interrupted = True
        for size in range(len(hunt.include) + 1, hunt.size + 1):
            features = [order[place] for place in tree.sets[size, :size].tolist()]
            hunt.best[size] = tuple(sorted(features)), float(tree.best[size])
        is_proved = not hunt.is_interrupted and not hunt.is_late
        return Proof(is_proved, bound, hunt.n_sets + int(tree.counts[1]), 0.0)


def plant(hunt: Hunt, order: list[int]) -> Tree:
    """Return the tree of all sets of these features, with the best sets so far."""
    products, k = hunt.products, hunt.size
    R, z, floors = hunt.state.triangle(products.columns_of(order))
    widths = products.widths[order].astype(np.int64)
    best, sets = np.full(k + 1, -np.inf), np.zeros((k + 1, k), dtype=np.int64)
    place_of = {f: place for place, f in enumerate(order)}
    starts = np.concatenate([[0], np.cumsum(widths)])
    for size in range(max(len(hunt.include), 1), k + 1):
        places = [place_of[f] for f in hunt.best[size][0]]
        columns = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in places])
        total = _total(R[:, columns], z, floors[columns])
        best[size] = products.objective.of(total, widths[places].sum())
        sets[size, :size] = places
    n_included = len(hunt.include)
    counts = np.zeros(2, dtype=np.int64)
    return Tree(R, z, widths, floors, n_included, products.objective, best, sets, counts)


def bound_of_all(tree: Tree) -> float:
    """Return what no set of the largest size exceeds, by what all features explain together."""
    n, widths = tree.n_included, tree.widths
    least = int(widths[:n].sum()) + (len(tree.best) - 1 - n) * int(widths.min())
    return float(tree.objective.of(_total(tree.R, tree.z, tree.floors), least))


def _total(M: Floats, z: Floats, floors: Floats) -> float:
    """Return what columns explain together."""
    return float((make_steps(M, z, floors)[1] ** 2).sum())


def check_room(hunt: Hunt) -> None:
    """Raise where the nodes of the search would take more memory than there is."""
    features = [*hunt.include, *np.flatnonzero(hunt.pool).tolist()]
    p = int(hunt.products.widths[features].sum())
    needed, free = 8 * p**3 // 3, free_memory() // _SHARE
    if needed > free:
        n = len(features)
        raise InputError(
            f"search 'exact' would look among {_power(comb(n, hunt.size))} sets of {hunt.size} of "
            f"{n} features ({p} columns), and take about {say_bytes(needed)} of memory; "
            f"{say_bytes(free)} may be taken. Use `search='swap'`, or name features in `exclude`."
        )


def _power(count: int) -> str:
    """Return a large number as people write it.

    >>> _power(2598960)
    '3e+06'
    """
    if count < 10**5:
        return str(count)
    digits = int(log10(count))  # it may be larger than any floating point number
    return f"{round(10 ** (log10(count) - digits))}e+{digits:02d}"
