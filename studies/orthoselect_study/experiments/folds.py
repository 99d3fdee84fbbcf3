"""Data sets by cross-validation: selection and cuts within each fold, LDA of selected columns.

The folds are not those of `orthoselect.compare`, which refuses a class that has fewer rows than
there are folds, as Flags has, knows no methods but the library's, and does all folds in one go,
where a run of the study is resumed fold by fold.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect_study import learners, methods
from orthoselect_study.datasets import DataSource, StudyData, load
from orthoselect_study.experiments.base import HELD, TRAIN, Arguments, Curves, score_rows
from orthoselect_study.findings import mean_error
from orthoselect_study.records import Plan, Row, Task, seed_for
from orthoselect_study.settings import Settings

_BINS = "mean_std_3"
_FOLDS = 10
Indices = NDArray[np.intp]


class Folds(Curves):
    """Scores by cross-validation.

    Methods that count levels take categories and counts as they are, and cut all other columns at
    mean plus and minus one standard deviation; the others see every column as a number. LDA sees
    the selected columns as numbers, whatever selected them.
    """

    uses = frozenset({"methods", "features", "folds"})
    note = "Folds count by their rows: it is the share of all rows that are classified right."

    def plan(self, settings: Settings, source: DataSource) -> Plan:
        plan = super().plan(settings, source)
        return replace(plan, facts={**plan.facts, "folds": settings.or_else("folds", _FOLDS)})

    def limits(self, option: str, settings: Settings, source: DataSource) -> dict[str, int]:
        if option != "folds":
            return super().limits(option, settings, source)
        # Every fold has rows of the largest class; small classes may be absent from some.
        sets = load(self.sets, source)[0].values()
        return {data.title: max(data.facts()["class_counts"]) for data in sets}

    def tasks_of(self, arguments: Arguments, data: StudyData, settings: Settings) -> list[Task]:
        folds = settings.or_else("folds", _FOLDS)
        arguments = {**arguments, "bins": _BINS, "folds": folds}
        size = data.X.shape[0] * data.X.shape[1]
        cost = 0.02 + size / (4e6 if arguments["method"] in ("LASSO", "Net", "Shapley") else 2e7)
        return [Task(self.name, {**arguments, "fold": k}, data, cost) for k in range(folds)]

    def work(self, arguments: Arguments, data: StudyData) -> list[Row]:
        at = Row(data.name, arguments["method"], fold=arguments["fold"])
        train, rest = list(split(data, arguments["folds"], arguments["seed"]))[arguments["fold"]]
        X, y = data.X[train], data.y[train]
        chosen = methods.apply(
            at.method,
            X,
            y,
            arguments["features"],
            bins=arguments["bins"],
            levels=data.columns_of("categorical", "count"),
        )
        A, B = X[:, chosen.features], data.X[rest][:, chosen.features]
        scores = learners.lda_accuracies(A, y, [(A, y), (B, data.y[rest])])
        sizes = {f"{TRAIN} rows": len(train), f"{HELD} rows": len(rest)}
        counts = [at._replace(measure=name, value=float(n)) for name, n in sizes.items()]
        return [*chosen.rows(at), *counts, *score_rows(at, *scores)]

    def error(self, scores: list[float], weights: list[float], facts: dict[str, Any]) -> float:
        return mean_error(scores, weights)


class Uci(Folds):
    """Mfeat, Breast, CNAE-9 and Lymphography; all twelve methods."""

    name = "uci"
    title = "Sets of UCI"
    about = "Mfeat, Breast, CNAE-9 and Lymphography: cross-validated accuracy of LDA"
    sets = {"mfeat": 20, "breast": 20, "cnae9": 50, "lymphography": 18}  # noqa: RUF012


class Recent(Folds):
    """OLS beside two more recent methods; at most 20 features of each set."""

    name = "recent"
    title = "OLS, OBCC and Shapley"
    about = "three methods on Breast, Lymphography, Flags and Parkinsons: accuracy of LDA"
    sets = {"breast": 20, "lymphography": 18, "flags": 20, "parkinsons": 20}  # noqa: RUF012
    methods = ("OLS", "OBCC", "Shapley")


def split(data: StudyData, folds: int, seed: int) -> Iterator[tuple[Indices, Indices]]:
    """Yield training and validation rows of each fold, the same ones for all methods."""
    from sklearn.model_selection import StratifiedKFold

    chance = seed_for(seed, "folds", data.name)
    splitter = StratifiedKFold(folds, shuffle=True, random_state=chance)
    with warnings.catch_warnings():
        # A class smaller than the number of folds is absent from some: it is said in the notes.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        yield from splitter.split(np.zeros(len(data.y)), data.y)
