"""Methods compared by the cross-validated score of a model on the features they select."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from joblib import Parallel, delayed

from orthoselect.argument_names import COUNT_NAMES, telling_names
from orthoselect.comparison.data import ComparedData, open_data
from orthoselect.comparison.entries import (
    BASELINES,
    Entry,
    Outcome,
    Plan,
    SharedValue,
    as_argument,
    find_entries,
    run_fold,
    usual_entries,
    with_options,
)
from orthoselect.comparison.folds import (
    Fold,
    check_sizes,
    check_whole,
    find_seed,
    find_sizes,
    split,
)
from orthoselect.comparison.models import Model, find_model
from orthoselect.encode.gaps import FILLS, check_missing
from orthoselect.errors import ComparisonInterrupted, InputError, warn, with_text
from orthoselect.methods import METHODS
from orthoselect.progress import TasksShown, with_bar
from orthoselect.result import Comparison, Setting
from orthoselect.result.text import plain
from orthoselect.roles import ColumnSpec, Roles, is_whole, target_in_code
from orthoselect.show.facts import class_counts, spread
from orthoselect.show.recipes import call_of
from orthoselect.versions import versions

# Arguments of `compare` that a call does not show.
_DEFAULTS = (
    ("repeats", 1),
    ("categorical_features", "from_dtype"),
    ("groups", None),
    ("exclude", None),
    ("missing", "error"),
    ("dates", "drop"),
)
Progress = Callable[[int, int, str, int], Any]


@telling_names(
    {
        **dict.fromkeys((*COUNT_NAMES, "n_features_to_select"), "numbers of features are `sizes`."),
        "method": "names of methods are `methods`.",
        "cv": "the number of folds is `folds`.",
        "sample_weight": "rows cannot be weighted here.",
        "bins": "options of methods go into `options`, or into `methods` beside a name.",
        "model": "the model is `estimator`.",
    }
)
@with_bar("comparing", TasksShown)
def compare(
    data: Any,
    target: Any,
    methods: Sequence[str] | Mapping[str, Mapping[str, Any]] | str | None = None,
    sizes: int | Sequence[int] = 10,
    *,
    estimator: Any = "auto",
    scoring: Any = "auto",
    folds: int = 5,
    repeats: int = 1,
    random_state: int | None = 0,
    task: str = "auto",
    categorical_features: ColumnSpec = "from_dtype",
    groups: Any = None,
    exclude: ColumnSpec = None,
    missing: str = "error",
    dates: str = "drop",
    n_jobs: int | None = None,
    progress: Progress | bool | None = None,
    options: Mapping[str, Any] | None = None,
) -> Comparison:
    """Compare methods by the cross-validated score of a model on what they select.

    Everything is learned from the training rows of a fold: which features are selected, how they
    are cut, coded or scaled, which levels a category has, and the model. All methods see the same
    folds. There are two baselines: the model on all features, and no features at all (the most
    frequent class, or the mean).

    Spread is given as standard errors, s sqrt(1/J + 1/(K - 1)) of J scores with standard deviation
    s in K folds; folds share training rows, so these are approximate. Differences are taken fold by
    fold, and a difference of at most its standard error counts as none. The best of many scores is
    optimistic; the recommendation is the smallest size that is as good.

    Parameters
    ----------
    data : array-like, SciPy sparse, dataframe (pandas, polars, pyarrow) or path of a file
        The table, as `select` takes it.
    target : str, list of str or array-like
        The response: the names of columns of `data`, or the values: one column of classes, or one
        or several of numbers.
    methods : list of str, or mapping of str to options, optional
        Names from `orthoselect.methods.METHODS`. A mapping gives each method its own options,
        ``{"socc": {}, "jmi": {"bins": 5}}``; for a name of your choice they include the method,
        ``{"jmi in 3": {"method": "jmi", "bins": "mean_std_3"}}``. By default a handful: "socc",
        "mrmr_difference", "jmi", "cmim", "mim" and "lasso" for classes, "socc", "socc_discretized",
        "err", "lasso" and "elastic_net" for numbers. Methods that take only columns of numbers get
        labels as an indicator for each level; a feature, or a group, is selected with the first of
        its columns. Methods of information theory get numbers cut at quantiles into five levels,
        unless `bins` says otherwise.
    sizes : int or list of int, default=10
        Numbers of features. A number k is 1, ..., k, or as many as there are; above 20 these are
        thinned.
    estimator : str or scikit-learn estimator, default="auto"
        "lda", "svm", "logistic" for classes, "least_squares", "ridge" for numbers, all of them
        linear; for either "gradient_boosting" (scikit-learn's histogram gradient boosting) and
        "splines" (logistic or ridge regression on natural splines of the columns). "auto" is
        "splines" where a method selects features that bend, "socc_splines", else "lda" or
        "least_squares". Columns of linear ones are scaled to standard deviation one.
        Any other estimator gets the columns as they are; a new copy of it is trained for each
        fold and size.
    scoring : str or callable, default="auto"
        "auto" is "r2" for numbers, and for classes "accuracy" if they are about equal: the most
        frequent has at most 1.5 times the rows of the rarest. If not, it is "auc" for two classes
        and "balanced_accuracy" for more. "auc" of several classes is the mean of each against the
        rest; "r2" of several responses is their mean. Any name of scikit-learn's scorers will do;
        for these, classes are numbered from 0 in sorted order. A function is called as
        ``scoring(fitted, X, y)`` with the classes of the table, and returns a number, the higher
        the better.
    folds : int, default=5
        The number of folds, each with the same shares of the classes. Every class must have at
        least as many rows.
    repeats : int, default=1
        How often this is done, each time with other folds. It makes the means more stable; standard
        errors do not vanish, since the rows stay the same.
    random_state : int or None, default=0
        Seed of the folds, and of models that draw random numbers. None: a new one, which the
        result holds.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether the response holds classes or numbers; see `select`.
    categorical_features, groups, exclude, dates
        As for `select`; a group counts as one feature.
    missing : {"error", "indicator", "mean", "drop_rows"}, default="error"
        What to do about missing values, as for `select`. The model gets gaps filled by the means of
        the training rows, with "indicator" and an indicator beside them. Rows are dropped before
        they are cut into folds.
    n_jobs : int, optional
        Processes at a time, as in scikit-learn: None is one (unless a `joblib.parallel_config`
        says otherwise), -1 as many as there are processors. Scores do not depend on it.
    progress : bool or callable, optional
        True: show a bar, as in `select`. A function is called as
        ``progress(done, total, method, fold)`` whenever a method or a baseline is done with a fold;
        folds are numbered from 1 on, those of all repeats together.
    options : mapping, optional
        Options of the methods' own, for each method that has them: ``{"bins": 5}``. Options in
        `methods` take precedence.

    Returns
    -------
    comparison : Comparison
        A method that cannot work with these data is marked as failed, with the reason.

    Raises
    ------
    InputError
        If an argument is wrong, a class has fewer rows than there are folds, or all methods fail.
    ComparisonInterrupted
        On Ctrl-C; its attribute `comparison` holds what was done.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from orthoselect import compare
    >>> iris = load_iris(as_frame=True).frame
    >>> comparison = compare(iris, "target", ["socc", "jmi"], sizes=[1, 2])
    >>> for row in comparison.best:
    ...     print(row["n_features"], row["method"], round(row["validation"], 3), row["within"])
    1 socc 0.94 ['jmi']
    2 socc 0.947 ['jmi']
    >>> [(row["method"], round(row["validation"], 3)) for row in comparison.baseline_scores]
    [('no features', 0.333), ('all features', 0.98)]
    """
    asked = find_entries(methods)
    seed = find_seed(random_state)
    check_sizes(sizes)
    check_whole(folds, 2, "folds")
    check_whole(repeats, 1, "repeats")
    check_n_jobs(n_jobs)
    missing = check_missing(missing)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        opened = open_data(
            data,
            target,
            task=task,
            categorical_features=categorical_features,
            groups=groups,
            exclude=exclude,
            missing=missing,
            dates=dates,
        )
        wanted = find_sizes(sizes, sum(opened.kinds.values()))
    warned = _pass_on(caught)
    entries = with_options(asked or usual_entries(opened.task), options or {})
    bent = [entry.name for entry in entries if METHODS[entry.method].bends]
    model = find_model(estimator, scoring, opened, seed, bent=bent)
    settings = {
        "methods": as_argument(entries),
        "sizes": list(wanted),
        "estimator": model.name if isinstance(estimator, str) else estimator,
        "scoring": model.score.name if isinstance(scoring, str) else scoring,
        "folds": int(folds),
        "repeats": int(repeats),
        "random_state": seed,
        "task": opened.task,
        "categorical_features": opened.roles.categorical_option(categorical_features),
        "groups": opened.roles.given_groups or None,
        "exclude": opened.roles.exclude or None,
        "missing": missing,
        "dates": dates,
    }
    collector = Collector(opened, entries, model, settings, warned)
    cut = split(opened.y, opened.classes, folds, repeats, seed)
    plan = Plan(
        data=SharedValue((opened.table, opened.y)),
        task=opened.task,
        options=column_options(opened.roles, categorical_features, missing),
        features=opened.features,
        categorical=opened.roles.categorical,
        indicated=opened.indicated,
        model=model,
        sizes=wanted,
        classes=opened.class_labels if model.score.takes_labels else None,
        is_sparse=opened.is_sparse,
    )
    tasks = [(entry, fold) for fold in cut for entry in (*entries, *BASELINES)]
    _run_all(plan, tasks, n_jobs, progress, collector)
    return collector.finish()


def column_options(roles: Roles, categorical_features: ColumnSpec, missing: str) -> dict[str, Any]:
    """Return what `select` is to know of the columns, to select from some rows of the table."""
    return {
        "categorical_features": roles.categorical_option(categorical_features),
        "groups": roles.given_groups or None,
        "exclude": sorted(roles.skip - set(roles.readings.dates)),
        "missing": missing if missing in FILLS else "error",  # such rows are no more
    }


def check_n_jobs(n_jobs: Any) -> None:
    """Raise for what is no number of processes."""
    if n_jobs is not None and (not is_whole(n_jobs) or n_jobs == 0):
        raise InputError(
            f"`n_jobs` should be a number of processes, or negative (-1: as many as there are "
            f"processors), or None; got {n_jobs!r}."
        )


def _pass_on(caught: list[warnings.WarningMessage]) -> list[str]:
    """Warn of what was caught; return the texts, which the result reports."""
    texts = [str(warning.message) for warning in caught]
    for warning, text in zip(caught, texts):
        warn(with_text(warning.category, text))
    return texts


def _run_all(
    plan: Plan,
    tasks: list[tuple[Entry, Fold]],
    n_jobs: int | None,
    progress: Any,
    collector: Collector,
) -> None:
    """Hand every outcome to the collector as it arrives; Ctrl-C raises with what it has."""
    try:
        with closing(run_tasks(plan, tasks, n_jobs)) as outcomes:
            for done, outcome in enumerate(outcomes, start=1):
                collector.outcomes.append(outcome)
                if progress is not None:
                    progress(done, len(tasks), outcome.method, outcome.fold)
    except KeyboardInterrupt:
        done = len(collector.outcomes)
        comparison = collector.comparison() if done else None
        raise ComparisonInterrupted(comparison, done, len(tasks)) from None


def run_tasks(
    plan: Plan, tasks: list[tuple[Entry, Fold]], n_jobs: int | None
) -> Generator[Outcome, None, None]:
    """Yield the outcome of each method on each fold as it arrives.

    The tasks run in processes: what threads warn of cannot be told apart.
    """
    parallel = Parallel(n_jobs=n_jobs, backend="loky", return_as="generator_unordered")
    outcomes = parallel(delayed(run_fold)(plan, entry, fold) for entry, fold in tasks)
    try:
        # Not `yield from`, which closes `outcomes` before the words are kept quiet.
        for outcome in outcomes:  # noqa: UP028
            yield outcome
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib's words on tasks that are not wanted now
            outcomes.close()


# What came of it


@dataclass
class Collector:
    """What has come of the methods so far, and the comparison that it makes."""

    data: ComparedData
    entries: Sequence[Entry]  # in the order in which they were asked for
    model: Model
    options: Mapping[str, Any]  # the arguments of `compare`, as they were resolved
    warned: list[str]  # what was warned of before the first outcome
    outcomes: list[Outcome] = field(default_factory=list)  # in any order

    def comparison(self) -> Comparison:
        """Return the comparison as far as it goes."""
        failures = self._failures()
        runs = [o.run for o in self._ordered() if o.run is not None and o.method not in failures]
        methods, baselines = (
            [one.compared(self.data, self.model.name, failures.get(one.name)) for one in some]
            for some in (self.entries, BASELINES)
        )
        return Comparison(runs, methods, self._setting(), baselines)

    def finish(self) -> Comparison:
        """Return the comparison, warn once of each thing, and raise if no method worked."""
        comparison = self.comparison()
        failed = {m.name: m.failed for m in comparison.methods if m.failed is not None}
        if len(failed) == len(comparison.methods):
            reasons = list(dict.fromkeys(failed.values()))
            told = [f"{name}: {reason}" for name, reason in failed.items()]
            words = reasons if len(reasons) == 1 else ["none of the methods works here.", *told]
            raise InputError(" ".join(map(str, words)))
        for warning in self._warnings():
            warn(warning)
        return comparison

    @property
    def _n_folds(self) -> int:
        return self.options["folds"] * self.options["repeats"]

    def _ordered(self) -> list[Outcome]:
        place = {entry.name: k for k, entry in enumerate([*self.entries, *BASELINES])}
        return sorted(self.outcomes, key=lambda o: (place[o.method], o.fold))

    def _failures(self) -> dict[str, str]:
        """Return why methods failed: the reason on the first such fold, and on how many."""
        reasons: dict[str, list[str]] = {}
        for outcome in self._ordered():
            if outcome.failed is not None:
                reasons.setdefault(outcome.method, []).append(outcome.failed)
        return {
            name: found[0]
            if len(found) == self._n_folds
            else f"on {len(found)} of {self._n_folds} folds: {found[0]}"
            for name, found in reasons.items()
        }

    def _warnings(self) -> list[Warning]:
        return warnings_of(self._ordered(), self._n_folds)

    def _setting(self) -> Setting:
        warnings = [*self.warned, *(str(warning) for warning in self._warnings())]
        return Setting(
            title=self.data.title,
            target=self.data.target,
            task=self.data.task,
            estimator=self.model.name,
            scoring=self.model.score.name,
            scoring_reason=self.model.score.reason,
            estimator_reason=self.model.reason,
            folds=self.options["folds"],
            repeats=self.options["repeats"],
            seed=self.options["random_state"],
            sizes=tuple(self.options["sizes"]),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            data=_data_facts(self.data, warnings),
            reproduce=_how_to_reproduce(self.data, self.options),
        )


def warnings_of(outcomes: Sequence[Outcome], n_folds: int) -> list[Warning]:
    """Return each kind of warning once, with the methods and the number of folds it is for.

    Texts that differ only in their numbers, as from fold to fold, are the same.
    """
    heard: dict[tuple[type[Warning], str], list[tuple[Outcome, str]]] = {}
    for outcome in outcomes:
        for kind, text in outcome.warnings:
            key = kind, re.sub(r"\d+", "#", text)
            heard.setdefault(key, []).append((outcome, text))
    told: list[Warning] = []
    for (kind, _), found in heard.items():
        methods = ", ".join(dict.fromkeys(outcome.method for outcome, _ in found))
        on = len({outcome.fold for outcome, _ in found})
        told.append(with_text(kind, f"{found[0][1]} ({methods}; {on} of {n_folds} folds)"))
    return told


def _data_facts(data: ComparedData, warnings: Sequence[str]) -> dict[str, Any]:
    """Return what the data hold, and what was warned of, plain."""
    roles, is_one = data.roles, data.classes is None and data.y.ndim == 1
    names = roles.source.names
    return {
        "rows": roles.source.n_rows,
        "columns": len(names),
        "classes": None if data.classes is None else class_counts(data.classes),
        "response": spread(data.y, ddof=1) if is_one else None,
        "kinds": data.kinds,
        "left_out": roles.readings.why_left_out(names[c] for c in roles.exclude),
        "weighted": False,
        "warnings": list(warnings),
    }


def _how_to_reproduce(data: ComparedData, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is needed to do it again, plain; `options` are the arguments of `compare`."""
    roles, names = data.roles, data.roles.source.names
    options = {
        **options,
        "groups": {k: [names[c] for c in g] for k, g in roles.given_groups.items()} or None,
        "exclude": [names[column] for column in roles.exclude] or None,
    }
    if isinstance(options["categorical_features"], list):
        options["categorical_features"] = [names[c] for c in options["categorical_features"]]
    told = [f"{k}={_code(v)}" for k, v in options.items() if (k, v) not in _DEFAULTS]
    target = target_in_code([names[c] for c in roles.target_columns])
    call = call_of("compare", [data.file or "data", target, *told], "found")
    return {
        "command": None,
        "python": f"from orthoselect import compare\n\n{call}",
        "options": plain(options),
        "seed": options["random_state"],
        "versions": versions("numpy", "scipy", "scikit-learn", "joblib"),
    }


def _code(value: Any) -> str:
    """Return a value as Python writes it, in one line."""
    return repr(value) if isinstance(value, str) else " ".join(repr(value).split())
