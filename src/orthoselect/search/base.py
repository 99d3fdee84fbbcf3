"""What a way through the sets of features has to be, and what those that compare sets share."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthoselect.criteria import State
from orthoselect.criteria.inner_products import InnerProducts, SetProducts
from orthoselect.errors import InputError

# A set takes the place of another if it is better by more than this share, which rounding is not.
BETTER = 1e-9


class Taken(NamedTuple):
    """One step of a search: the feature taken, what it added, and the value reached."""

    feature: int
    gain: float
    value: float
    chance: float | None = None  # what it would add by chance alone, if that is known
    p_value: float | None = None  # how often the best would be as rare by chance, if tested
    effective_candidates: float | None = None  # independent candidates that all were worth


class FoundSet(NamedTuple):
    """The best set of one size that a search has found: its features, and what they reach."""

    features: tuple[int, ...]
    total: float
    value: float  # what it was compared by: the total, or that beyond chance


class Proof(NamedTuple):
    """What a search knows about the set it has found.

    Attributes
    ----------
    optimal : bool or None
        Whether it is proved that no other set of the same size is better; None where the search
        proves nothing.
    bound : float or None
        What no set of that size exceeds, as far as the search knows.
    n_sets : int
        Sets that were looked at.
    seconds : float
    note : str
        What else to know about the way it went.
    """

    optimal: bool | None
    bound: float | None
    n_sets: int
    seconds: float
    note: str = ""


class Search(ABC):
    """A way through the sets of features; one object searches once.

    Attributes
    ----------
    name : str
        What `search` calls it.
    options : tuple of str
        Options of its own, arguments of the class.
    compares_sets : bool
        Whether it needs a criterion that compares sets.
    walked : State or None
        The state that made the steps, if it is not the one that was given.
    greedy : tuple of int
        What forward selection takes, where the search has looked; features in order.
    greedy_total : float
        What these reach.
    by_size : mapping of int to FoundSet
        The best set of each size, where the search keeps more than its steps.
    proof : Proof or None
    watch : callable or None
        Called now and then with what no set exceeds so far, and with the value of the best set.
    """

    name: str
    options: tuple[str, ...] = ()
    compares_sets: bool = False
    walked: State | None = None
    greedy: tuple[int, ...] = ()
    greedy_total: float = 0.0
    proof: Proof | None = None
    watch: Callable[[float, float], None] | None = None
    to_chance: bool = False  # whether to stop where forward selection gains no more than chance
    ended_by_chance: bool = False  # whether it has stopped there

    def __init__(self) -> None:
        self.by_size: dict[int, FoundSet] = {}

    @abstractmethod
    def run(
        self, state: State, size: int, include: Sequence[int], candidates: NDArray[np.bool_]
    ) -> Iterator[Taken]:
        """Yield the steps one by one, so that an interruption keeps those made.

        Parameters
        ----------
        state : State
            With nothing selected.
        size : int
            How many features to take, the included ones among them.
        include : sequence of int
            Features taken first, in this order.
        candidates : boolean array of shape (number of features,)
            Features that may be taken after those.
        """


@dataclass
class Hunt:
    """The best set of each size so far, and what a search may look at.

    Invariants: `best` has a set for each size from the included ones to `size`, a sorted tuple
    with its value by inner products; a set is replaced by better ones only.

    Attributes
    ----------
    products : InnerProducts
    state : State
        To measure with; nothing is selected.
    include : tuple of int
    pool : boolean array of shape (number of features,)
        Features that may be taken besides.
    size : int
    deadline : float
        When to stop, by `time.monotonic`.
    """

    products: InnerProducts
    state: State
    include: tuple[int, ...]
    pool: NDArray[np.bool_]
    size: int
    deadline: float
    best: dict[int, tuple[tuple[int, ...], float]]
    n_sets: int = 0
    is_late: bool = False
    is_interrupted: bool = False

    def look(self, features: Sequence[int]) -> SetProducts:
        """Return what is known of a set, and keep it if it is the best of its size."""
        found = SetProducts(self.products, tuple(sorted(features)))
        self.offer(found)
        return found

    def offer(self, found: SetProducts) -> bool:
        """Keep a set if it is the best of its size; say whether it is."""
        self.n_sets += 1
        size = len(found.features)
        if not len(self.include) <= size <= self.size:
            return False
        known = self.best.get(size)
        if known is not None and not is_better(found.value, known[1]):
            return False
        self.best[size] = found.features, found.value
        return True

    def out_of_time(self) -> bool:
        """Whether the time is over."""
        self.is_late = self.is_late or time.monotonic() >= self.deadline
        return self.is_late


def is_better(value: float, than: float) -> bool:
    """Whether a value is larger than another by more than rounding."""
    return value - than > BETTER * max(abs(than), abs(value), 1e-5)


class SetSearch(Search):
    """A search that begins with forward selection and compares whole sets by inner products.

    What it finds is measured on real columns, in the order in which forward selection among these
    features takes them; where that is no better than the greedy set of the same size, the greedy
    set stays. So it is never worse.

    Parameters
    ----------
    time_limit : float
        Seconds, after which the best set so far is returned.
    """

    compares_sets = True

    def __init__(self, *, time_limit: float = 60.0) -> None:
        super().__init__()
        self.time_limit = time_limit

    @abstractmethod
    def improve(self, hunt: Hunt) -> Proof | None:
        """Look for better sets than those in `hunt.best`; a proof if there is one."""

    def run(
        self, state: State, size: int, include: Sequence[int], candidates: NDArray[np.bool_]
    ) -> Iterator[Taken]:
        """Yield the steps of the best set found, as forward selection among them takes them."""
        began = time.monotonic()
        products = state.products()
        forward: list[Taken] = []
        try:
            for taken in walk_forward(state, size, include, candidates):
                no_more = taken.chance is not None and taken.gain <= taken.chance
                if self.to_chance and len(forward) >= len(include) and no_more:
                    self.ended_by_chance = True
                    break
                forward.append(taken)
        except KeyboardInterrupt:
            yield from forward
            raise
        self.greedy = tuple(taken.feature for taken in forward)
        hunt = self._begin(state, products, include, candidates, began)
        proof, steps = None, forward
        try:
            proof = self.improve(hunt)
        except KeyboardInterrupt:
            hunt.is_interrupted = True
        try:
            steps = self._measure(state, hunt, forward)
        except KeyboardInterrupt:  # nobody wants to wait; the greedy set is known
            hunt.is_interrupted, self.by_size = True, {}
        seconds = time.monotonic() - began
        found = proof or Proof(None, None, hunt.n_sets, seconds)
        stopped = "interrupted" if hunt.is_interrupted else "the time was over"
        if hunt.is_interrupted or hunt.is_late:
            found = found._replace(note=stopped)
        self.proof = found._replace(seconds=seconds)
        yield from steps
        if hunt.is_interrupted:
            raise KeyboardInterrupt

    def _begin(
        self,
        state: State,
        products: InnerProducts,
        include: Sequence[int],
        candidates: NDArray[np.bool_],
        began: float,
    ) -> Hunt:
        """Return where the search begins: the greedy sets of all sizes."""
        pool = candidates & (products.widths > 0)
        pool[list(include)] = False
        hunt = Hunt(
            products,
            state.restarted(),
            tuple(include),
            pool,
            len(self.greedy),
            began + self.time_limit,
            {},
        )
        products.gram(products.columns_of(self.greedy))  # in one read, where they are not there yet
        for size in range(len(include), len(self.greedy) + 1):
            hunt.look(self.greedy[:size])
        return hunt

    def _measure(self, state: State, hunt: Hunt, forward: list[Taken]) -> list[Taken]:
        """Measure the best set of each size on real columns; return the steps of the largest."""
        products, objective = hunt.products, hunt.products.objective

        def value_of(features: Sequence[int], total: float) -> float:
            return float(objective.of(total, products.widths[list(features)].sum()))

        steps, walked = forward, state
        gains = state.known_gains() or [taken.gain for taken in forward]
        totals = np.cumsum([0.0, *gains])
        self.greedy_total = float(totals[-1])
        for size in range(len(hunt.include), len(forward) + 1):
            features, total = self.greedy[:size], float(totals[size])
            best = FoundSet(features, total, value_of(features, total))
            found = hunt.best[size][0]
            if size > len(hunt.include) and set(found) != set(features):
                # The largest set is looked at later on; of smaller ones only the value counts.
                only = None if size == len(forward) else np.array(found, dtype=np.intp)
                again = state.restarted(only)
                mine = _walk_among(again, found, hunt.include)
                again.known_gains()  # makes the value exact, where that takes another look
                total = again.value
                other = FoundSet(tuple(t.feature for t in mine), total, value_of(found, total))
                if is_better(other.value, best.value):
                    best = other
                    if size == len(forward):
                        steps, walked = mine, again
            self.by_size[size] = best
        self.by_size.pop(0, None)
        self.walked = walked
        return steps


def walk_forward(
    state: State, size: int, include: Sequence[int], candidates: NDArray[np.bool_]
) -> Iterator[Taken]:
    """Yield the steps of forward selection."""
    from orthoselect.search.forward import ForwardSearch

    return ForwardSearch().run(state, size, include, candidates)


def _walk_among(state: State, features: Sequence[int], include: Sequence[int]) -> list[Taken]:
    """Return the steps of forward selection among these features."""
    only = np.zeros(len(state.gains()), dtype=bool)
    only[list(features)] = True
    return list(walk_forward(state, len(features), include, only))


def check_whole(value: Any, argument: str) -> int:
    """Return an option that should be a whole number, at least one."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_whole or value < 1:
        raise InputError(f"`{argument}` should be a whole number, at least 1; got {value!r}.")
    return int(value)
