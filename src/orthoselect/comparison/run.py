"""Methods compared by the cross-validated score of a linear model on the features they select."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from joblib import Parallel, delayed

from orthoselect.arguments import ColumnSpec
from orthoselect.comparison.collect import Collector
from orthoselect.comparison.data import open_data
from orthoselect.comparison.folds import (
    Fold,
    check_sizes,
    check_whole,
    find_seed,
    find_sizes,
    split,
)
from orthoselect.comparison.lineup import (
    Entry,
    as_argument,
    find_entries,
    usual_entries,
    with_options,
)
from orthoselect.comparison.models import find_model
from orthoselect.comparison.work import Outcome, Plan, SharedValue, run_fold
from orthoselect.errors import ComparisonInterrupted, InputError, warn, with_text
from orthoselect.result import Comparison

Progress = Callable[[int, int, str, int], Any]


def compare(
    data: Any,
    target: Any,
    methods: Sequence[str] | Mapping[str, Mapping[str, Any]] | str | None = None,
    sizes: int | Sequence[int] = 10,
    *,
    estimator: Any = "auto",
    scoring: str = "auto",
    folds: int = 5,
    repeats: int = 1,
    random_state: int | None = 0,
    task: str = "auto",
    categorical_features: ColumnSpec = "from_dtype",
    groups: Any = None,
    exclude: ColumnSpec = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    options: Mapping[str, Any] | None = None,
) -> Comparison:
    """Compare methods by the cross-validated score of a linear model on what they select.

    Everything is learned from the training rows of a fold: which features are selected, how they
    are cut or scaled, which levels a category has, and the model. All methods see the same folds.

    Parameters
    ----------
    data : array-like, SciPy sparse, dataframe (pandas, polars, pyarrow) or path of a file
        The table, as `select` takes it.
    target : str, list of str or array-like
        The response: the names of columns of `data`, or the values: one column of classes, or one
        or several of numbers.
    methods : list of str, or mapping of str to options, optional
        Names from `orthoselect.methods.METHODS`. A mapping has options of the methods' own,
        ``{"socc": {}, "jmi": {"bins": 5}}``; for a name of your choice they include the method,
        ``{"jmi in 3": {"method": "jmi", "bins": "mean_std_3"}}``. By default a handful: "socc",
        "mrmr_difference", "jmi", "cmim", "mim" and "lasso" for classes, "socc",
        "socc_discretized", "err", "lasso" and "elastic_net" for numbers; of these, methods that do
        not take the table's categorical columns or the groups are left out, and the result says so.
    sizes : int or list of int, default=10
        Numbers of features. A number k is 1, ..., k, or as many as there are; above 20 these are
        thinned.
    estimator : str or scikit-learn estimator, default="auto"
        "lda", "svm", "logistic" for classes, "least_squares", "ridge" for numbers; "auto" is "lda"
        or "least_squares". Their columns are scaled to standard deviation one. Any other estimator
        gets the columns as they are.
    scoring : {"auto", "accuracy", "balanced_accuracy", "auc", "r2"}, default="auto"
        "auto" is "accuracy" for classes and "r2" for numbers. "auc" of several classes is the mean
        of each against the rest; "r2" of several responses is their mean.
    folds : int, default=5
        Folds that the rows are cut into, each with like shares of the classes. Every class has to
        have as many rows.
    repeats : int, default=1
        How often that is done, each time with other folds.
    random_state : int or None, default=0
        Seed of the folds, and of models that draw random numbers. None: a new one, which the
        result holds.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether the response holds classes or numbers; see `select`.
    categorical_features, groups, exclude
        As for `select`; a group counts as one feature.
    n_jobs : int, optional
        Processes at a time, as in scikit-learn: None is one (unless a `joblib.parallel_config`
        says otherwise), -1 as many as there are processors. Scores do not depend on it.
    progress : callable, optional
        Called as ``progress(done, total, method, fold)`` whenever a method is done with a fold;
        folds are numbered from 1 on, those of all repeats together.
    options : mapping, optional
        Options of the methods' own, for each method that has them: ``{"bins": 5}``. What
        `methods` says of a method goes before.

    Returns
    -------
    comparison : Comparison
        A method that cannot do with these data is in it as failed, with the reason.

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
    1 jmi 0.947 ['socc']
    2 jmi 0.96 []
    """
    asked = find_entries(methods)
    seed = find_seed(random_state)
    check_sizes(sizes)
    check_whole(folds, 2, "folds")
    check_whole(repeats, 1, "repeats")
    _check_n_jobs(n_jobs)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        opened = open_data(data, target, task, categorical_features, groups, exclude)
        wanted = find_sizes(sizes, sum(opened.kinds.values()))
    warned = _pass_on(caught)
    entries = with_options(asked or usual_entries(opened), options or {})
    fit = [entry for entry in entries if entry.unfit is None]
    model = find_model(estimator, scoring, opened.task, opened.is_sparse, seed)
    settings = {
        "methods": as_argument(fit),
        "sizes": list(wanted),
        "estimator": model.name if isinstance(estimator, str) else estimator,
        "scoring": model.scoring,
        "folds": int(folds),
        "repeats": int(repeats),
        "random_state": seed,
        "task": opened.task,
        "categorical_features": _told(categorical_features, opened.categorical),
        "groups": dict(opened.groups) or None,
        "exclude": opened.left_out or None,
    }
    collector = Collector(opened, entries, model, settings, warned)
    cut = split(opened.y, opened.classes, folds, repeats, seed)
    plan = Plan(
        data=SharedValue((opened.table, opened.y)),
        options={
            **{name: settings[name] for name in ("task", "categorical_features", "groups")},
            "exclude": opened.excluded,
        },
        categorical=opened.categorical,
        model=model,
        sizes=wanted,
    )
    _run_all(plan, [(entry, fold) for fold in cut for entry in fit], n_jobs, progress, collector)
    return collector.finish()


def _check_n_jobs(n_jobs: Any) -> None:
    whole = isinstance(n_jobs, numbers.Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise InputError(
            f"`n_jobs` should be a number of processes, or negative (-1: as many as there are "
            f"processors), or None; got {n_jobs!r}."
        )


def _pass_on(caught: list[warnings.WarningMessage]) -> list[str]:
    """Warn of what was caught; return the texts, for the result to tell."""
    texts = [str(warning.message) for warning in caught]
    for warning, text in zip(caught, texts):
        warn(with_text(warning.category, text))
    return texts


def _told(spec: ColumnSpec, categorical: set[int]) -> Any:
    """Return `categorical_features` for `select`: words as they are, columns as a list."""
    said_in_words = spec is None or (isinstance(spec, str) and spec in ("from_dtype", "all"))
    return spec if said_in_words else sorted(categorical)


def _run_all(
    plan: Plan,
    tasks: list[tuple[Entry, Fold]],
    n_jobs: int | None,
    progress: Progress | None,
    collector: Collector,
) -> None:
    """Hand every outcome to the collector as it arrives; Ctrl-C raises with what it has."""
    try:
        with _outcomes(plan, tasks, n_jobs) as outcomes:
            for done, outcome in enumerate(outcomes, start=1):
                collector.outcomes.append(outcome)
                if progress is not None:
                    progress(done, len(tasks), outcome.method, outcome.fold)
    except KeyboardInterrupt:
        done = len(collector.outcomes)
        comparison = collector.comparison() if done else None
        raise ComparisonInterrupted(comparison, done, len(tasks)) from None


@contextmanager
def _outcomes(
    plan: Plan, tasks: list[tuple[Entry, Fold]], n_jobs: int | None
) -> Iterator[Iterator[Outcome]]:
    """Run the tasks, in processes: what threads warn of cannot be told apart."""
    parallel = Parallel(n_jobs=n_jobs, backend="loky", return_as="generator_unordered")
    outcomes = parallel(delayed(run_fold)(plan, entry, fold) for entry, fold in tasks)
    try:
        yield outcomes
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib's words on tasks that are no longer wanted
            outcomes.close()
