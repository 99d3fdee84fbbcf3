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
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from orthoselect.comparison.data import (
    ComparedData,
    build_designs,
    check_room,
    code_for_ranking,
    take_rows,
)
from orthoselect.comparison.equal_frequency import LEVELS, EqualFrequency
from orthoselect.comparison.folds import Fold
from orthoselect.comparison.models import Model, without_features
from orthoselect.encode import Feature
from orthoselect.errors import (
    ConstantTargetError,
    InputError,
    NoMoreThanChanceWarning,
    SearchStoppedWarning,
    listing,
    warn,
)
from orthoselect.lazy import lazy
from orthoselect.methods import METHODS, Method, find_method
from orthoselect.read import Block, open_source
from orthoselect.result import (
    ALL_FEATURES,
    NO_FEATURES,
    ComparedMethod,
    FoldRun,
    SelectionStep,
)
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

    @property
    def is_baseline(self) -> bool:
        """Whether it stands for all features, or for none."""
        return self in BASELINES

    @property
    def counts_levels(self) -> bool:
        """Whether numbers are cut into levels of equal frequency, since nobody said how else."""
        return METHODS[self.method].home in _COUNTING and "bins" not in self.options

    def compared(self, data: ComparedData, estimator: str, failed: str | None) -> ComparedMethod:
        """Return what the result says of it."""
        if self.is_baseline:
            return ComparedMethod(self.name, _baseline_words(self, data, estimator), failed)
        told = [f"{name}={value!r}" for name, value in self.options.items()]
        if self.counts_levels and data.kinds["numeric"] + data.kinds["group"]:
            told.append(f"numbers cut at quantiles into {LEVELS} levels")
        columns = data.roles.categorical - data.roles.skip, data.roles.groups, data.indicated
        if is_coded(self.method, *columns):
            what = "labels and gaps" if data.indicated else "labels"
            told.append(f"{what} coded as indicators; a feature enters with its first column")
        summary = METHODS[self.method].summary + (f" ({'; '.join(told)})" if told else "")
        return ComparedMethod(self.name, summary, failed)


BASELINES = (Entry(ALL_FEATURES, ""), Entry(NO_FEATURES, ""))
# What is given levels to count: these are made of numbers by the same rule for all.
_COUNTING = ("orthoselect.criteria.information:InformationCriterion",)


def _baseline_words(baseline: Entry, data: ComparedData, estimator: str) -> str:
    if baseline.name == ALL_FEATURES:
        return f"{estimator} on every feature, none selected"
    if data.classes is None:
        return "the mean of the training rows, whatever the features"
    return "the shares of the classes in the training rows, so always the most frequent class"


def is_coded(
    method: str,
    categorical: Collection[int],
    groups: Mapping[str, Any],
    indicated: Collection[int] = (),
) -> bool:
    """Whether a method that takes plain columns is given those of labels and groups as such.

    Columns with an indicator of their gaps count as labels.
    """
    takes = METHODS[method].takes
    several = bool(categorical or indicated)
    return (several and "categorical_features" not in takes) or (
        bool(groups) and "groups" not in takes
    )


def find_entries(methods: Any) -> list[Entry]:
    """Return the methods that were asked for; none for None, which is the usual ones."""
    if methods is None:
        return []
    if isinstance(methods, Mapping):
        entries = [_entry(name, options) for name, options in methods.items()]
    else:
        names = [methods] if isinstance(methods, str) else list(methods)
        entries = [Entry(name, _with_target(name).name) for name in names]
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if twice:
            raise InputError(
                f"`methods` should name each method once; {listing(twice)} is repeated. One with "
                f"several options needs a mapping: `{{'a': {{'method': {twice[0]!r}, ...}}, ...}}`."
            )
    taken = [entry.name for entry in entries if entry.name in (ALL_FEATURES, NO_FEATURES)]
    if taken:
        raise InputError(
            f"`methods` should have names of their own; {taken[0]!r} is that of a baseline."
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
    method = _with_target(options.get("method", name))
    method.make(**own)  # says what is wrong with them before any work is done
    return Entry(name, method.name, own)


def _with_target(name: Any) -> Method:
    method = find_method(name)
    method.check_has_target("`compare`")
    return method


def usual_entries(task: str) -> list[Entry]:
    """Return the methods that are compared if nobody names any."""
    return [Entry(name, name) for name in _USUAL[task]]


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
    task: str
    options: Mapping[str, Any]  # of `select` about columns: categorical_features, groups, ...
    features: Sequence[Feature]  # what there is to choose from
    categorical: set[int]  # columns that hold labels
    model: Model
    sizes: tuple[int, ...]  # numbers of features, ascending
    classes: NDArray | None = None  # where the model is to see classes as they are, by their codes
    is_sparse: bool = False  # whether the table is
    indicated: Sequence[int] = ()  # columns of numbers whose gaps have an indicator
    weights: NDArray | None = None  # of the rows, if they have any
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
        except ConstantTargetError as error:
            rows = f"the training rows of fold {fold.fold}"
            failed = str(error.within(rows, "Choose folds that are shuffled, or fewer."))
        except InputError as error:
            failed = str(error)
    said = [(warning.category, str(warning.message)) for warning in caught]
    return Outcome(entry.name, fold.number, run, failed, list(dict.fromkeys(said)))


def _run(plan: Plan, entry: Entry, fold: Fold) -> FoldRun:
    table, y = plan.data.value
    train, validation = take_rows(table, fold.train), take_rows(table, fold.validation)
    blocks = open_source(train).first, open_source(validation).first
    parts = Parts(*blocks, y, fold, plan.weights)
    seconds, chosen = None, list(plan.features)
    if not entry.is_baseline:
        METHODS[entry.method].make()  # loads its modules, which is not the selection's time
        begin = time.perf_counter()
        chosen = _select(plan, entry, train, parts)
        seconds = time.perf_counter() - begin
    return FoldRun(
        method=entry.name,
        repeat=fold.repeat,
        fold=fold.fold,
        features=() if entry.is_baseline else tuple(feature.name for feature in chosen),
        seconds=seconds,
        scores=_scores(plan, entry, parts, chosen),
    )


@dataclass(frozen=True)
class Parts:
    """The rows of a fold: those to train on and those to validate on."""

    train: Block
    validation: Block
    y: NDArray  # of all rows
    fold: Fold
    weights: NDArray | None = None  # of all rows

    @property
    def train_weights(self) -> NDArray | None:
        """The weights of the rows to train on."""
        return None if self.weights is None else self.weights[self.fold.train]

    @property
    def validation_weights(self) -> NDArray | None:
        """The weights of the rows to validate on."""
        return None if self.weights is None else self.weights[self.fold.validation]

    def responses(self, classes: NDArray | None) -> tuple[NDArray, NDArray]:
        """Return the response of both, as numbers or as the classes that they stand for."""
        y = self.y if classes is None else classes[self.y]
        return y[self.fold.train], y[self.fold.validation]


# Selecting on the training rows


def _select(plan: Plan, entry: Entry, train: Any, parts: Parts) -> list[Feature]:
    """Return the features that a method selects, in order."""
    block, y = parts.train, parts.y[parts.fold.train]
    own = dict(entry.options)
    if entry.counts_levels:
        own["bins"] = EqualFrequency()
    used = plan.categorical.intersection(c for f in plan.features for c in f.columns)
    if is_coded(entry.method, used, plan.options.get("groups") or {}, plan.indicated):
        return _select_coded(plan, entry.method, block, y, own)
    columns = {**plan.options, "sample_weight": parts.train_weights}
    if "categorical_features" not in METHODS[entry.method].takes:
        columns["categorical_features"] = None  # there is none
    with warnings.catch_warnings():
        # How many features are worth it, the scores tell.
        warnings.simplefilter("ignore", NoMoreThanChanceWarning)
        path = select(train, y, plan.sizes[-1], entry.method, task=plan.task, **columns, **own)
    return [Feature(step.name, _columns(train, step)) for step in path]


def _select_coded(
    plan: Plan, method: str, block: Block, y: NDArray, own: Mapping[str, Any]
) -> list[Feature]:
    """Let a method rank columns of numbers; a feature enters with the first of its columns."""
    columns = plan.features, plan.categorical, plan.is_sparse
    X, owners = code_for_ranking(block, *columns, indicated=bool(plan.indicated))
    wanted = min(plan.sizes[-1], X.shape[1])
    while True:
        with warnings.catch_warnings():
            # Indicators of all levels add up to a constant; columns may end before features do.
            warnings.filterwarnings("ignore", "Variables are collinear")
            warnings.simplefilter("ignore", SearchStoppedWarning)
            path = select(X, y, wanted, method, task=plan.task, categorical_features=None, **own)
        entered = list(dict.fromkeys(owners[step.columns[0]] for step in path))
        if len(entered) >= plan.sizes[-1] or len(path) < wanted or wanted == X.shape[1]:
            break
        wanted = min(2 * wanted, X.shape[1])
    if len(entered) < plan.sizes[-1]:
        reason = path.stopped or "there are no other columns."
        warn(SearchStoppedWarning(len(entered), plan.sizes[-1], reason))
    return [plan.features[f] for f in entered[: plan.sizes[-1]]]


# Training and judging models


def _scores(
    plan: Plan, entry: Entry, parts: Parts, chosen: Sequence[Feature]
) -> dict[int, tuple[float, float]]:
    """Return the scores in training and validation, by number of features."""
    sizes = [size for size in plan.sizes if size <= len(chosen)]
    y_train, y_validation = parts.responses(plan.classes)
    weights = parts.train_weights, parts.validation_weights
    # One thread: sums of several would depend on how many there are, and processes share the cores.
    with threadpool_limits(limits=1):
        if entry.name == NO_FEATURES:
            nothing = [np.zeros((len(y), 1)) for y in (y_train, y_validation)]
            model = without_features(plan.model, plan.task)
            return {0: model.scores(nothing[0], y_train, nothing[1], y_validation, weights)}
        if entry.name == ALL_FEATURES:
            sizes = [len(chosen)]
            if not plan.model.takes_sparse:
                check_room(parts.train, len(parts.y), chosen, plan.categorical)
        if not sizes:
            return {}
        designs = build_designs(
            parts.train,
            parts.validation,
            [feature.columns for feature in chosen[: sizes[-1]]],
            plan.categorical,
            plan.model.takes_sparse,
            missing=plan.options.get("missing", "error"),
        )
        scores = {}
        for size in sizes:
            X_train, X_validation = designs.first(size)
            scores[size] = plan.model.scores(X_train, y_train, X_validation, y_validation, weights)
    return scores


def _columns(table: Any, step: SelectionStep) -> tuple[int, ...]:
    """Return the columns of a feature, the parts of a date where it is one."""
    readings = getattr(table, "readings", None)
    if readings is None:
        return tuple(step.columns)
    return tuple(part for column in step.columns for part in readings.parts_of(column))
