"""What a search is: it asks a state for its best candidate until it has enough."""

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
