"""What a search may ask of a criterion."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.criteria.inner_products import InnerProducts
from orthoselect.encode import Response, Table, build_design
from orthoselect.matrix.base import Floats, Indices


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

    @abstractmethod
    def gains(self) -> Floats:
        """Return what each feature would add now, nan for one that cannot be taken.

        For people to look at: `best` decides, and may have to look closer than this.

        Returns
        -------
        gains : array of shape (number of features,)
        """

    # What chance alone gives to a feature like the one added last; None if nobody knows.
    chance: float | None = None

    # How often the best of all candidates would be as rare as that feature by chance, and how many
    # independent candidates they were worth; None if nobody has tested it.
    p_value: float | None = None
    effective_candidates: float | None = None
    chosen: int | None = None  # features added before none was significant, if that is known

    def known_gains(self) -> list[float] | None:
        """Return the gains of all features added, in order, if more is known of them by now."""
        return None

    def component_shares(self) -> list[float] | None:
        """Return what principal components could explain in place of the features, step by step.

        None where they have nothing to do with it.
        """
        return None

    def stats(self) -> dict[str, Any]:
        """Return what the work has cost so far: plain numbers and strings."""
        return {}

    @abstractmethod
    def exhausted(self) -> str:
        """Say, for a person, why no candidate is left."""

    # What searches that compare sets ask besides, of states that `start_for_sets` returns

    def restarted(self, among: Indices | None = None) -> State:
        """Return the same state with nothing selected; what was fetched is shared.

        `among` are the only features that are going to be asked for, if that is known: some
        states then leave others alone, which saves reading them.
        """
        raise NotImplementedError(f"{type(self).__name__} does not compare sets")

    def products(self) -> InnerProducts:
        """Return what sets of features are compared by."""
        raise NotImplementedError(f"{type(self).__name__} does not compare sets")

    def triangle(self, J: Indices) -> tuple[Floats, Floats, Floats]:
        """Return R (p, p) and z (p, q) with the inner products of columns J and of the response.

        R'R = X_J'X_J and R'z = X_J'V, with the digits of the real columns. Last come the norms
        below which what is left of each column is only rounding, (p,).
        """
        raise NotImplementedError(f"{type(self).__name__} does not compare sets")


class Criterion(ABC):
    """A way to judge sets of features.

    Attributes
    ----------
    name : str
        What `method` calls it.
    keeps_whole_weights : bool
        Whether row weights that are whole numbers, copies of rows, reach it as they are; others,
        and all weights where it is False, have mean one (see `check_weights`).
    takes_blocks : bool
        Whether the rows of the table may come in blocks.
    needs_rows : bool
        Whether it needs more of the rows than means and inner products of the columns.
    needs_target : bool
        Whether there has to be something to explain; if not, `start` has a response of no columns.
    bends : bool
        Whether it judges features by curves, which a linear model of them cannot follow.
    can_test : bool
        Whether `start` takes a `PermutationPlan`, and its state tells p-values.
    compares_sets : bool
        Whether whole sets of features can be compared, whatever the order of their features; if so
        it has `start_for_sets`.
    forward_for_sets : str
        How forward selection from `start_for_sets` differs from that from `start`, if it does.
    """

    name: str
    keeps_whole_weights: bool = False
    takes_blocks: bool = False
    needs_rows: bool = True
    needs_target: bool = True
    bends: bool = False
    can_test: bool = False
    compares_sets: bool = False
    forward_for_sets: str = ""

    def prepare(
        self,
        table: Table,
        groups: Mapping[str, Sequence[int]],
        exclude: set[int],
        weights: Floats | None = None,
    ) -> Any:
        """Return the features in the form that `start` works on: a `Design` of numbers, usually.

        Another form has the features as `features` (`encode.Features`) and can tell the name of
        the feature that owns one of its columns, `name_of_column(j)`.

        Parameters
        ----------
        table : Table
        groups : mapping of str to input columns
        exclude : set of input columns
            Columns that no feature owns.
        weights : array of shape (N,), optional
        """
        return build_design(table, groups, exclude)

    @abstractmethod
    def start(
        self, design: Any, response: Response, weights: Floats | None = None, size: int = 1
    ) -> State:
        """Return the state in which nothing is selected.

        Parameters
        ----------
        design : what `prepare` returned
        response : Response
        weights : array of shape (N,), optional
            Row weights.
        size : int
            About how many features will be taken, for planning.
        """

    def start_for_sets(
        self, design: Any, response: Response, weights: Floats | None = None, size: int = 1
    ) -> State:
        """Return the state in which nothing is selected, for a search that compares sets."""
        raise NotImplementedError(f"method {self.name!r} does not compare sets")

    @abstractmethod
    def ceiling(self, response: Response) -> float:
        """Return the most that all gains can add up to; nan if there is no such number."""
