"""One method on one fold: select on the training rows, then a model for each number of features."""

from __future__ import annotations

import os
import signal
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from orthoselect.comparison.design import Designs, build_designs
from orthoselect.comparison.folds import Fold
from orthoselect.comparison.lineup import Entry
from orthoselect.comparison.models import Model
from orthoselect.comparison.problem import take_rows
from orthoselect.comparison.shared import Shared
from orthoselect.errors import InputError
from orthoselect.methods import METHODS
from orthoselect.read import open_whole
from orthoselect.result import FoldRun, SelectionPath
from orthoselect.selection import select


@dataclass(frozen=True)
class Plan:
    """What is the same for all methods and folds.

    Attributes
    ----------
    data : Shared
        The table and the response, a pair.
    options : mapping
        What `select` is told besides the method and the number of features.
    categorical : set of int
        Columns that hold labels.
    model : Model
    sizes : tuple of int
        Numbers of features, ascending.
    process : int
        The process that made the plan.
    """

    data: Shared
    options: Mapping[str, Any]
    categorical: set[int]
    model: Model
    sizes: tuple[int, ...]
    process: int = field(default_factory=os.getpid)


@dataclass(frozen=True)
class Outcome:
    """What came of one method on one fold.

    Attributes
    ----------
    method : str
        What the result calls it.
    fold : int
        Its number.
    run : FoldRun or None
    failed : str or None
        Why there is no run.
    warnings : list of (class, text)
        What was warned of.
    """

    method: str
    fold: int
    run: FoldRun | None
    failed: str | None
    warnings: list[tuple[type[Warning], str]]


def run_fold(plan: Plan, entry: Entry, fold: Fold) -> Outcome:
    """Select on the training rows and score models; warnings are kept, not shown."""
    if os.getpid() != plan.process:
        # A terminal sends Ctrl-C to all processes; the one that asked for the work ends the others.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    run, failed = None, None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            run = _run(plan, entry, fold)
        except InputError as error:
            failed = str(error)
    said = [(warning.category, str(warning.message)) for warning in caught]
    return Outcome(entry.name, fold.number, run, failed, list(dict.fromkeys(said)))


def _run(plan: Plan, entry: Entry, fold: Fold) -> FoldRun:
    table, y = plan.data.value
    train, validation = take_rows(table, fold.train), take_rows(table, fold.validation)
    METHODS[entry.method].make()  # loads its modules, which is not the selection's time
    begin = time.perf_counter()
    path = select(
        train, y[fold.train], plan.sizes[-1], entry.method, **plan.options, **entry.options
    )
    seconds = time.perf_counter() - begin
    return FoldRun(
        method=entry.name,
        repeat=fold.repeat,
        fold=fold.fold,
        features=tuple(path.names),
        seconds=seconds,
        scores=_scores(plan, path, train, validation, y[fold.train], y[fold.validation]),
    )


def _scores(
    plan: Plan,
    path: SelectionPath,
    train: Any,
    validation: Any,
    y_train: np.ndarray,
    y_validation: np.ndarray,
) -> dict[int, tuple[float, float]]:
    sizes = [size for size in plan.sizes if size <= len(path)]
    if not sizes:
        return {}
    designs: Designs = build_designs(
        open_whole(train),
        open_whole(validation),
        [step.columns for step in path[: sizes[-1]]],
        plan.categorical,
        plan.model.takes_sparse,
    )
    scores = {}
    # One thread: sums of several would depend on how many there are, and processes share the cores.
    with threadpool_limits(limits=1):
        for size in sizes:
            X_train, X_validation = designs.first(size)
            scores[size] = plan.model.scores(X_train, y_train, X_validation, y_validation)
    return scores
