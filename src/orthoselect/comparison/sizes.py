"""How many features: sizes of a path, cross-validated.

The path is found on all rows. On each fold the same selection is made on the training rows only, as
far as the path goes; one such selection serves all sizes. A model is trained for each size and
scored on the rows held back.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.comparison.data import ComparedData, check_whole_table, open_data
from orthoselect.comparison.entries import BASELINES, Entry, Outcome, Plan, SharedValue
from orthoselect.comparison.folds import Fold, find_folds, find_seed
from orthoselect.comparison.models import Model, find_model
from orthoselect.comparison.run import check_n_jobs, column_options, run_tasks, warnings_of
from orthoselect.encode.response import check_choice
from orthoselect.errors import (
    InputError,
    NoMoreThanChanceWarning,
    SelectionInterrupted,
    TooManyRequestedWarning,
    warn,
)
from orthoselect.methods import METHODS, find_method
from orthoselect.problem import check_count, check_has_rows
from orthoselect.read import find_file, find_table
from orthoselect.result import (
    NO_FEATURES,
    RULES,
    SIZE_OPTIONS,
    ComparedMethod,
    Comparison,
    Origin,
    SelectionPath,
    Setting,
    SizeScores,
)
from orthoselect.selection import select
from orthoselect.stopping import AUTO

_WHO = "`n_features_to_select='cv'`"
_USUAL_LARGEST = 10
_ON_NONE = next(entry for entry in BASELINES if entry.name == NO_FEATURES)
# Options of `select` that say what to select by, beside those about columns.
_HOW = ("response_encoding", "search")


@dataclass(frozen=True)
class SizeQuestion:
    """What was asked of a cross-validation, checked as far as that goes without data."""

    cv: Any
    estimator: Any
    scoring: Any
    rule: str
    largest: int | float | None  # None: ten at most
    random_state: int | None
    n_jobs: int | None
    row_groups: Any

    @staticmethod
    def of(options: Mapping[str, Any]) -> SizeQuestion:
        """Check what was given; the rest is as usual."""
        asked = SizeQuestion(**{**SIZE_OPTIONS, **options})
        check_choice(asked.rule, RULES, "rule")
        check_n_jobs(asked.n_jobs)
        find_seed(asked.random_state)
        if isinstance(asked.largest, str) and asked.largest == AUTO:
            raise InputError(
                "the largest size to try should be a number, or None for ten at most; got 'auto', "
                "but 'auto' and 'cv' both choose the size. Use one of them."
            )
        try:
            check_count(asked.largest)
        except InputError:
            raise InputError(
                f"the largest size to try should be a whole number of at least 1, or a fraction in "
                f"(0, 1); got {asked.largest!r}."
            ) from None
        return asked


def choose_size(
    data: Any,
    target: Any,
    method: str,
    given: Mapping[str, Any],
    options: Mapping[str, Any],
) -> SelectionPath:
    """Select features, as many as a cross-validation chooses; this is `select(..., "cv")`.

    Parameters
    ----------
    data, target, method : as in `select`
    given : mapping
        The other arguments of `select` by their names.
    options : mapping
        Options of the method's own, and those in `SIZE_OPTIONS`.

    Returns
    -------
    path : SelectionPath
        Up to the largest size; `chosen` says how many of its steps count.
    """
    about_sizes = {name: value for name, value in options.items() if name in SIZE_OPTIONS}
    own = {name: value for name, value in options.items() if name not in SIZE_OPTIONS}
    asked = SizeQuestion.of(about_sizes)
    find_method(method).make(**own)
    check_has_rows(data, _WHO)
    memory, progress = given["memory"], given["progress"]
    table = find_file(data) if memory is None else find_table(data, memory)
    check_whole_table(table, _WHO)
    said = {name: v for name, v in given.items() if name not in ("memory", "progress")}
    path = _path_on_all_rows(table, target, asked.largest, method, progress, said, own)
    scores = None
    if len(path):
        try:
            scores = _score_sizes(table, target, path, asked, said, own, progress)
        except KeyboardInterrupt:
            raise SelectionInterrupted(_remade(path, stopped="interrupted.")) from None
        if scores.warning is not None:
            warn(scores.warning)
    told = {name: v for name, v in about_sizes.items() if not _is_usual(name, v)}
    told.pop("n_jobs", None)
    if "row_groups" in told:
        told["row_groups"] = "given"
    return _remade(
        path,
        options={**path.options, "n_features_to_select": "cv", **told},
        origin=Origin(data, target, given["sample_weight"]),
        size_scores=scores,
    )


def _is_usual(name: str, value: Any) -> bool:
    usual = SIZE_OPTIONS[name]
    return value is usual or (type(value) is type(usual) and bool(value == usual))


def _remade(path: SelectionPath, **changes: Any) -> SelectionPath:
    """Return the same steps with something else said of them."""
    facts = ("method", "ceiling", "n_candidates", "stopped", "stats", "options", "gaps", "left_out")
    return SelectionPath(path, **{**{name: getattr(path, name) for name in facts}, **changes})


def _path_on_all_rows(
    table: Any,
    target: Any,
    largest: int | float | None,
    method: str,
    progress: Any,
    said: Mapping[str, Any],
    own: Mapping[str, Any],
) -> SelectionPath:
    with warnings.catch_warnings():
        # How many features are worth it, the scores tell.
        warnings.simplefilter("ignore", NoMoreThanChanceWarning)
        if largest is None:
            warnings.simplefilter("ignore", TooManyRequestedWarning)
        wanted = _USUAL_LARGEST if largest is None else largest
        return select(table, target, wanted, method, progress=progress, **said, **own)


def _score_sizes(
    table: Any,
    target: Any,
    path: SelectionPath,
    asked: SizeQuestion,
    said: Mapping[str, Any],
    own: Mapping[str, Any],
    progress: Any,
) -> SizeScores:
    """Cross-validate the sizes of a path, and choose one."""
    columns = {name: value for name, value in said.items() if name not in _HOW}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whoever selected has heard them
        data = open_data(table, target, who=_WHO, **columns)
    seed = find_seed(asked.random_state)
    weights = _weights(data)
    model = find_model(
        "auto" if asked.estimator is None else asked.estimator,
        "auto" if asked.scoring is None else asked.scoring,
        data,
        seed,
        weighted=weights is not None,
        bent=[path.method] if METHODS[path.method].bends else [],
    )
    folds = find_folds(
        data.y,
        data.classes,
        asked.cv,
        seed,
        groups=asked.row_groups,
        weights=weights,
        n_dropped=data.roles.n_dropped,
    )
    usual = METHODS[path.method].options
    # Numbers are cut as on all rows, by the method's own rule.
    bins = {"bins": usual["bins"]} if "bins" in usual else {}
    entry = Entry(path.method, path.method, {**bins, **own})
    plan = _plan(data, model, path, said, weights)
    tasks = [(one, fold) for fold in folds for one in (entry, _ON_NONE)]
    scoring = getattr(progress, "scoring", None)
    outcomes = []
    with closing(run_tasks(plan, tasks, asked.n_jobs)) as arriving:
        for outcome in arriving:
            outcomes.append(outcome)
            if scoring is not None:
                scoring(len(outcomes), len(tasks))
    outcomes.sort(key=lambda outcome: outcome.fold)
    comparison = _comparison(outcomes, entry, data, model, folds, plan.sizes, seed, asked.cv)
    return SizeScores(comparison, asked.rule, path.n_candidates)


def _weights(data: ComparedData) -> NDArray | None:
    """Return the row weights, None if there are none."""
    roles = data.roles
    given = None if roles.weight_column is not None else roles.sample_weight
    weights = roles.source.weights(given, roles.weight_column, keep_whole=True)
    return None if weights is None else np.asarray(weights[:], dtype=np.float64)


def _plan(
    data: ComparedData,
    model: Model,
    path: SelectionPath,
    said: Mapping[str, Any],
    weights: NDArray | None,
) -> Plan:
    roles = data.roles
    included = set(roles.include)
    n_included = sum(bool(included & set(feature.columns)) for feature in data.features)
    return Plan(
        data=SharedValue((data.table, data.y)),
        task=data.task,
        options={
            **column_options(roles, said["categorical_features"], said["missing"]),
            "include": list(dict.fromkeys(map(roles.readings.origin, roles.include))) or None,
            **{name: said[name] for name in _HOW},
        },
        features=data.features,
        categorical=roles.categorical,
        indicated=data.indicated,
        model=model,
        sizes=tuple(range(max(n_included, 1), len(path) + 1)),
        classes=data.class_labels if model.score.takes_labels else None,
        is_sparse=data.is_sparse,
        weights=weights,
    )


def _comparison(
    outcomes: list[Outcome],
    entry: Entry,
    data: ComparedData,
    model: Model,
    folds: list[Fold],
    sizes: tuple[int, ...],
    seed: int,
    cv: Any,
) -> Comparison:
    """Return the scores, warn once of each thing, and raise for a fold that failed."""
    own = [outcome for outcome in outcomes if outcome.method == entry.name]
    failed = [outcome.failed for outcome in own if outcome.failed is not None]
    if failed:
        on = f" on {len(failed)} of {len(folds)} folds" if len(failed) < len(folds) else ""
        raise InputError(f"the cross-validation failed{on}: {failed[0]}")
    for warning in warnings_of(own, len(folds)):
        warn(warning)
    runs = [outcome.run for outcome in outcomes if outcome.run is not None]
    if not any(run.scores for run in runs if run.method == entry.name):
        raise InputError(
            "the cross-validation should select features on the training rows of some fold; none "
            "could be selected on any. Choose fewer folds."
        )
    rows = [(len(fold.validation), len(fold.train)) for fold in folds]
    ratio = sum(n for n, _ in rows) / sum(n for _, n in rows)
    return Comparison(
        runs,
        [ComparedMethod(entry.name, METHODS[entry.method].summary)],
        Setting(
            title=data.title,
            target=data.target,
            task=data.task,
            estimator=model.name,
            scoring=model.score.name,
            scoring_reason=model.score.reason,
            estimator_reason=model.reason,
            folds=len(folds),
            repeats=1,
            seed=seed,
            sizes=sizes,
            ratio=None if isinstance(cv, int) else ratio,
        ),
        [ComparedMethod(NO_FEATURES, "the model that knows no feature")],
    )
