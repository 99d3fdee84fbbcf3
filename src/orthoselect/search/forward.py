"""The greedy walk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from orthoselect.criteria import State
from orthoselect.search.base import Search, Taken


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
