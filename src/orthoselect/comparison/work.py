"""One method on one fold: select on the training rows, then a model for each number of features."""

from __future__ import annotations

import os
import pickle
import signal
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from orthoselect.comparison.data import build_designs, take_rows
from orthoselect.comparison.folds import Fold
from orthoselect.comparison.lineup import Entry
from orthoselect.comparison.models import Model
from orthoselect.errors import InputError
from orthoselect.lazy import lazy
from orthoselect.methods import METHODS
from orthoselect.read import open_whole
from orthoselect.result import FoldRun, SelectionPath
from orthoselect.selection import select


class SharedValue:
    """A table, say, that tasks in other processes read.

    joblib writes a large array to a file once, which all processes map; anything else it would
    pickle for every task. Here the buffers inside any value (arrays, sparse matrices, dataframes)
    are such arrays, and so is whatever else its pickle consists of.

    Parameters
    ----------
    value : object

    Examples
    --------
    >>> pickle.loads(pickle.dumps(SharedValue({"a": np.arange(3)}))).value
    {'a': array([0, 1, 2])}
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    @lazy
    def _parts(self) -> list[NDArray[np.uint8]]:
        # Made once and kept: joblib knows an array that it has written by its identity.
        buffers: list[pickle.PickleBuffer] = []
        rest = pickle.dumps(self.value, protocol=5, buffer_callback=buffers.append)
        parts = [memoryview(rest), *(buffer.raw() for buffer in buffers)]
        return [np.frombuffer(part, dtype=np.uint8) for part in parts]

    def __reduce__(self) -> tuple:
        return _received, tuple(self._parts)


def _received(rest: NDArray[np.uint8], *buffers: NDArray[np.uint8]) -> SharedValue:
    return SharedValue(pickle.loads(rest.data, buffers=[buffer.data for buffer in buffers]))


@dataclass(frozen=True)
class Plan:
    """What is the same for all methods and folds.

    Attributes
    ----------
    data : SharedValue
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

    data: SharedValue
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
    y_train: NDArray,
    y_validation: NDArray,
) -> dict[int, tuple[float, float]]:
    sizes = [size for size in plan.sizes if size <= len(path)]
    if not sizes:
        return {}
    designs = build_designs(
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
