"""Ways through the sets of features.

In comes a `State` with nothing selected, and how many features to take; out come the steps, one
`Taken` each. The class to know is `Search`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthoselect.criteria import State


class Taken(NamedTuple):
    """One step of a search: the feature taken, what it added, and the value reached."""

    feature: int
    gain: float
    value: float
    chance: float | None = None  # what it would add by chance alone, if that is known
    p_value: float | None = None  # how often the best would be as rare by chance, if tested
    effective_candidates: float | None = None  # independent candidates that all were worth


class Search(ABC):
    """A way through the sets of features.

    Attributes
    ----------
    name : str
        What `search` calls it.
    """

    name: str

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


class ForwardSearch(Search):
    """Take the feature that adds most to those taken, until there are enough or none adds."""

    name: str = "forward"

    def run(
        self, state: State, size: int, include: Sequence[int], candidates: NDArray[np.bool_]
    ) -> Iterator[Taken]:
        """Yield the included features, then the best of the candidates one by one."""
        open_ = candidates.copy()
        open_[list(include)] = False
        for feature in include:
            gain = state.add(feature)
            yield _taken(state, feature, gain)
        for _ in range(size - len(include)):
            best = state.best(open_)
            if best is None:
                return
            open_[best] = False
            gain = state.add(best)
            yield _taken(state, best, gain)


def _taken(state: State, feature: int, gain: float) -> Taken:
    """Return the step that has just been made."""
    tested = state.p_value, state.effective_candidates
    return Taken(feature, gain, state.value, state.chance, *tested)
