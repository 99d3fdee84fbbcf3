"""What an experiment is: a plan of tasks, the work of one, and what is made of the results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from orthoselect_study.datasets import DataSource, StudyData, title_of
from orthoselect_study.figures import Figure
from orthoselect_study.findings import Standing
from orthoselect_study.pages import Table
from orthoselect_study.records import Plan, Results, Row
from orthoselect_study.settings import Settings

Arguments = dict[str, Any]  # of a task: plain values


class Experiment(ABC):
    """One experiment of the study.

    A new one is a subclass in a file of its own and one entry in `EXPERIMENTS`.
    """

    name: str
    title: str
    about: str
    uses: frozenset[str] = frozenset()  # the options of `settings.OVERRIDES` that it has a use for
    alone: bool = False  # whether times are measured, so that nothing may run beside its tasks

    @abstractmethod
    def plan(self, settings: Settings, source: DataSource) -> Plan:
        """Return the tasks, and facts of the data."""

    def limits(self, option: str, settings: Settings, source: DataSource) -> dict[str, int]:
        """Return the most that an option may be, by the title of a data set."""
        return {}

    def thinned(self, data: StudyData, settings: Settings) -> StudyData:
        """Return a set with the training rows asked for, if that means something here."""
        rows = settings.or_else("rows", None) if "rows" in self.uses else None
        return data.thinned(rows, settings.seed)

    @abstractmethod
    def work(self, arguments: Arguments, data: Any) -> list[Row]:
        """Do one task; it may depend on nothing but its arguments and data."""

    @abstractmethod
    def tables(self, results: Results) -> list[Table]:
        """Return the tables, from results alone."""

    def figures(self, results: Results) -> list[Figure]:
        """Return the figures, from results alone."""
        return []

    @abstractmethod
    def findings(self, results: Results) -> list[str]:
        """Return what the results show, in sentences."""

    def caveats(self, results: Results) -> list[str]:
        """Return what the ranks over all data sets hang on."""
        return []

    def standings(self, results: Results) -> Sequence[Standing]:
        """Return how the methods did on each data set, for the ranks over all of them."""
        return []


def absence_sentences(results: Results) -> list[str]:
    """Say which data sets have no results, and why."""
    return [
        f"{title_of(name)} is {state}: {why.rstrip('.')}."
        for name, (state, why) in results.absent().items()
    ]
