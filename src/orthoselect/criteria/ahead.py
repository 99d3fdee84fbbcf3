"""Steps made before they are asked for: all at once, as long as none is in doubt.

Where all inner products of the columns are known, a step is less work than Python takes to ask for
it. So the first step that a search asks for is made together with those that follow if the search
goes on as forward search does: `native/steps.c` walks on, on copies of C and d, until a winner does
not stand out as `Gains` wants it. What is asked for otherwise, and what is in doubt, goes the
general way, after the steps made so far have been made there too. That way is also the twin of the
kernel: without kernels there are no steps ahead. Notation as in cancorr.py.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class StepsAhead:
    """Features that win one after the other, if each winner is taken and nothing else is closed.

    Invariants: the first `n_taken` of `places` were taken; `_open` (features,) is what the search
    should have open then. Features are known by their places among the candidates.
    """

    def __init__(
        self, places: Sequence[int], gains: Sequence[float], open_: NDArray[np.bool_]
    ) -> None:
        self._places, self._gains = places, gains
        self._open = open_.copy()
        self.n_taken = 0

    def next(self, open_: NDArray[np.bool_]) -> int | None:
        """Return the winner among these features; None if it is not known."""
        if self.n_taken == len(self._places) or not np.array_equal(open_, self._open):
            return None
        return self._places[self.n_taken]

    def take(self, f: int, index: int) -> float | None:
        """Return the gain of feature f if it is the next winner; the search knows it by `index`."""
        if self.n_taken == len(self._places) or self._places[self.n_taken] != f:
            return None
        self._open[index] = False
        self.n_taken += 1
        return self._gains[self.n_taken - 1]


NONE_AHEAD = StepsAhead([], [], np.zeros(0, dtype=bool))
