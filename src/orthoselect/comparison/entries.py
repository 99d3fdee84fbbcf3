"""The methods that are compared, and what one of them does on one fold.

On a fold a method selects from the training rows; then a model is trained for each number of
features.
"""

from __future__ import annotations

import os
import pickle
import signal
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from orthoselect.comparison.data import ComparedData, build_designs, take_rows
from orthoselect.comparison.folds import Fold
from orthoselect.comparison.models import Model
from orthoselect.errors import InputError, listing
from orthoselect.lazy import lazy
from orthoselect.methods import METHODS, Method, find_method
from orthoselect.read import open_source
from orthoselect.result import ComparedMethod, FoldRun, SelectionPath
from orthoselect.selection import select

# A handful that differ, quick enough for any table: methods of one family often agree.
_USUAL = {
    "classification": ("socc", "mrmr_difference", "jmi", "cmim", "mim", "lasso"),
    "regression": ("socc", "socc_discretized", "err", "lasso", "elastic_net"),
}


@dataclass(frozen=True)
class Entry:
    """A method with its options, under the name that the result calls it."""

    name: str
    method: str  # what `select` calls it
    options: Mapping[str, Any] = field(default_factory=dict)  # of the method's own
    unfit: str | None = None  # why it is left out, if so

    def compared(self, failed: str | None) -> ComparedMethod:
        """Return what the result says of it."""
        own = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        summary = METHODS[self.method].summary + (f" ({own})" if own else "")
        return ComparedMethod(self.name, summary, self.unfit if failed is None else failed)


def find_entries(methods: Any) -> list[Entry]:
    """Return the methods that were asked for; none for None, which is the usual ones."""
    if methods is None:
        return []
    if isinstance(methods, Mapping):
        entries = [_entry(name, options) for name, options in methods.items()]
    else:
        names = [methods] if isinstance(methods, str) else list(methods)
        entries = [Entry(name, find_method(name).name) for name in names]
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if twice:
            raise InputError(
                f"`methods` should name each method once; {listing(twice)} is repeated. One with "
                f"several options needs a mapping: `{{'a': {{'method': {twice[0]!r}, ...}}, ...}}`."
            )
    if not entries:
        raise InputError("`methods` should name at least one method, or be None for a handful.")
    return entries


def _entry(name: Any, options: Any) -> Entry:
    if not isinstance(name, str) or not isinstance(options, Mapping):
        raise InputError(
            f"`methods` as a mapping should have names, and for each a mapping of options (empty "
            f"for none); got {name!r}: {options!r}."
        )
    own = {k: v for k, v in options.items() if k != "method"}
    method = find_method(options.get("method", name))
    method.make(**own)  # says what is wrong with them before any work is done
    return Entry(name, method.name, own)


def usual_entries(data: ComparedData) -> list[Entry]:
    """Return the usual methods, some of which may not be made for the table."""
    return [Entry(name, name, unfit=_unfit(METHODS[name], data)) for name in _USUAL[data.task]]


def with_options(entries: list[Entry], options: Mapping[str, Any]) -> list[Entry]:
    """Give options to the methods that have them; one that none has is an error."""
    own = [METHODS[entry.method].options for entry in entries]
    unknown = [name for name in options if not any(name in known for known in own)]
    if unknown:
        available = dict.fromkeys(name for known in own for name in known)
        raise InputError(
            f"`options` should be options of the compared methods; none has {listing(unknown)}. "
            f"They have {', '.join(f'`{name}`' for name in available) or 'none'}."
        )
    given = []
    for entry, known in zip(entries, own):
        more = {name: value for name, value in options.items() if name in known}
        METHODS[entry.method].make(**{**more, **entry.options})  # says what is wrong with them
        given.append(replace(entry, options={**more, **entry.options}))
    return given


def _unfit(method: Method, data: ComparedData) -> str | None:
    labels = [data.roles.source.names[column] for column in sorted(data.roles.categorical)]
    if labels and "categorical_features" not in method.takes:
        hold = "holds" if len(labels) == 1 else "hold"
        return f"left out, since it takes columns of numbers, and {listing(labels)} {hold} labels."
    if data.roles.groups and "groups" not in method.takes:
        return "left out, since it does not take `groups`."
    return None


def as_argument(entries: list[Entry]) -> Any:
    """Return the argument that stands for these methods: names, or a mapping if any has options."""
    if all(entry.name == entry.method and not entry.options for entry in entries):
        return [entry.name for entry in entries]
    return {e.name: {"method": e.method, **e.options} for e in entries}


# One method on one fold


class SharedValue:
    """A table, say, that tasks in other processes read.

    joblib writes a large array to a file once, which all processes map; anything else it would
    pickle for every task. Here the buffers inside any value (arrays, sparse matrices, dataframes)
    are such arrays, and so is whatever else its pickle consists of.

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
    """What is the same for all methods and folds."""

    data: SharedValue  # the table and the response, a pair
    options: Mapping[str, Any]  # of `select`, beside the method and the number of features
    categorical: set[int]  # columns that hold labels
    model: Model
    sizes: tuple[int, ...]  # numbers of features, ascending
    process: int = field(default_factory=os.getpid)  # that made the plan


@dataclass(frozen=True)
class Outcome:
    """What came of one method on one fold."""

    method: str  # what the result calls it
    fold: int  # its number
    run: FoldRun | None
    failed: str | None  # why there is no run
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
        open_source(train).first,
        open_source(validation).first,
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
