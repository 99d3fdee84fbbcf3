"""What `stability` asks of a table: its features, selections from pairs of halves, likeness."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from warnings import catch_warnings, simplefilter

from orthoselect.encode import Feature
from orthoselect.encode.table import build_design
from orthoselect.errors import ConstantTargetError, InputError, NoMoreThanChanceWarning
from orthoselect.matrix import orthonormalize
from orthoselect.matrix.base import Floats
from orthoselect.matrix.threads import single_threaded_blas
from orthoselect.problem import Problem, fill_gaps
from orthoselect.result import SelectionPath
from orthoselect.selection import select
from orthoselect.show.explained import FeatureColumns

Places = tuple[int, ...]  # of features, in order of selection

_TOO_FEW_DIFFER = (
    "Too few rows differ from the others: pass `task='classification'`, so that every class is cut "
    "in two, or more rows."
)


@dataclass(frozen=True)
class Question:
    """What is asked of each half."""

    method: str
    size: int  # features to select, those that are included counted
    options: Mapping[str, Any]  # of `select`: of the method's own, and how to search
    seed: int


class Facts(NamedTuple):
    """What a result says of the data."""

    title: str
    target: str
    task: str
    data: dict[str, Any]
    file: str | None  # what to write in a call for the file that the table was read from
    target_columns: list[str]


class Halves(ABC):
    """A table that is cut into halves, again and again.

    Attributes
    ----------
    features : tuple of Feature
        All that may be taken, by the columns of the table as it was given.
    included : list of int
        The places of features that every half is given.
    facts : Facts
    n_rows_in_half : int
        How many rows the smaller half has, at least.
    n_response : int
        How many columns the response has, a class less than there are classes.
    n_blocks : int or None
        Of how many random blocks halves are made; None if of single rows.
    """

    features: tuple[Feature, ...]
    included: list[int]
    facts: Facts
    n_rows_in_half: int
    n_response: int
    n_blocks: int | None = None

    @abstractmethod
    def select(self, question: Question, number: int) -> tuple[Places, Places]:
        """Return what both halves of a pair take, by places; included features are left out."""

    @abstractmethod
    def bases(self, places: Sequence[int]) -> tuple[dict[int, Floats], int]:
        """Return an orthonormal basis of each of these features, and how many rows it is of.

        Rows are sampled where they are many. A feature that does not vary has no columns.
        """

    def ask(self, question: Question, half: str, data: Any, target: Any, **columns: Any) -> Places:
        """Return what `select` takes from a half."""
        try:
            with catch_warnings():
                # Whether features are worth it the halves tell by their agreement.
                simplefilter("ignore", NoMoreThanChanceWarning)
                path = select(
                    data, target, question.size, question.method, **columns, **question.options
                )
        except ConstantTargetError as error:
            raise error.within(half, _TOO_FEW_DIFFER) from None
        except InputError as error:
            raise error.at(half) from None
        return self._places(path)

    def _places(self, path: SelectionPath) -> Places:
        place = {feature.columns: at for at, feature in enumerate(self.features)}
        given = set(self.included)
        found = (place[tuple(step.columns)] for step in path)
        return tuple(at for at in found if at not in given)


def bases_of(problem: Problem, features: Sequence[Feature]) -> list[Floats]:
    """Return an orthonormal basis of each of these features, whose columns the problem has."""
    with catch_warnings(), single_threaded_blas():
        simplefilter("ignore")
        problem = fill_gaps(problem) or problem
        design = build_design(problem.table, problem.groups, problem.skip)
        columns = FeatureColumns(design, problem)
        place = {problem.origins(f.columns): at for at, f in enumerate(design.features)}
        own = [columns.columns_of(place[feature.columns]) for feature in features]
        return [orthonormalize(X, sizes)[0] if X.shape[1] else X for X, sizes in own]
