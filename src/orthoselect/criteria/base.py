"""What a search may ask of a criterion."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import Design, Response
from orthoselect.matrix.base import Floats


class State(ABC):
    """A set of selected features and what each other feature would add to it.

    Attributes
    ----------
    value : float
        The criterion of the selected set.
    """

    value: float = 0.0

    @abstractmethod
    def best(self, candidates: NDArray[np.bool_]) -> int | None:
        """Return the candidate that adds most, the lowest index of equals; None if none adds.

        Parameters
        ----------
        candidates : boolean array of shape (number of features,)
        """

    @abstractmethod
    def add(self, f: int) -> float:
        """Take feature f into the set; return what it added."""

    def known_gains(self) -> list[float] | None:
        """Return the gains of all features added, in order, if more is known of them by now."""
        return None

    def stats(self) -> dict[str, Any]:
        """Return what the work has cost so far: plain numbers and strings."""
        return {}

    @abstractmethod
    def exhausted(self) -> str:
        """Say, for a person, why no candidate is left."""


class Criterion(ABC):
    """A way to judge sets of features.

    Attributes
    ----------
    name : str
        What `method` calls it.
    """

    name: str

    @abstractmethod
    def start(
        self, design: Design, response: Response, weights: Floats | None = None, size: int = 1
    ) -> State:
        """Return the state in which nothing is selected.

        Parameters
        ----------
        design : Design
        response : Response
        weights : array of shape (N,), optional
            Row weights.
        size : int
            About how many features will be taken, for planning.
        """

    @abstractmethod
    def ceiling(self, response: Response) -> float:
        """Return the most that all gains can add up to."""
