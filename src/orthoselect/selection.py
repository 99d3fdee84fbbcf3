"""The whole way from a table to a path, in one function."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import accumulate
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from orthoselect.criteria import Criterion, State
from orthoselect.criteria.significance import PermutationPlan
from orthoselect.encode import Design, Features, Table
from orthoselect.encode.gaps import check_missing
from orthoselect.encode.response import check_choice
from orthoselect.errors import (
    InputError,
    ManyLevelsWarning,
    NoMoreThanChanceWarning,
    NonFiniteError,
    NothingSignificantWarning,
    RareColumnsWarning,
    SearchStoppedWarning,
    SelectionInterrupted,
    listing,
    warn,
)
from orthoselect.matrix import NonFiniteColumns
from orthoselect.matrix.rows import SpreadRows
from orthoselect.matrix.threads import single_threaded_blas
from orthoselect.methods import METHODS, Method, find_method
from orthoselect.problem import (
    Problem,
    check_count,
    count_to_select,
    fill_gaps,
    find_all_gaps,
    holds_no_rows,
    open_problem,
)
from orthoselect.progress import StepsShown, reading_shown, with_bar
from orthoselect.read import DATES_AS, find_table, why_not_whole
from orthoselect.result import GapsFilled, Origin, SelectionPath, SelectionStep
from orthoselect.result.text import LEAST_P
from orthoselect.roles import ColumnSpec
from orthoselect.search import Search
from orthoselect.search_request import (
    TIME_LIMIT,
    about_sets,
    check_nested,
    check_search,
    make_search,
    search_options,
)
from orthoselect.stopping import TestRequest, strata_of

Progress = Callable[[SelectionStep, int, int], None]
_log = logging.getLogger(__name__)
_OF_PANELS = (
    "data", "target", "n_features_to_select", "method", "represent", "channel_names", "options",
)  # fmt: skip
_INTERRUPTED = "interrupted."
_BY_CHANCE = "no other feature gains more than it would by chance."


@with_bar("selecting", StepsShown)
def select(
    data: Any,
    target: Any,
    n_features_to_select: int | float | str | None = 10,
    method: str = "socc",
    *,
    task: str = "auto",
    response_encoding: str = "dummy",
    categorical_features: ColumnSpec = "from_dtype",
    groups: Any = None,
    include: ColumnSpec = None,
    exclude: ColumnSpec = None,
    search: str = "forward",
    time_limit: float = TIME_LIMIT,
    sample_weight: Any = None,
    missing: str = "error",
    dates: str = "drop",
    memory: int | str | None = None,
    progress: Progress | bool | None = None,
    alpha: float = 0.05,
    n_permutations: int = 199,
    permute_within: Any = None,
    random_state: int = 0,
    p_values: bool = False,
    represent: Any = None,
    channel_names: Any = None,
    **options: Any,
) -> SelectionPath:
    """Select the features that together explain a response best.

    Parameters
    ----------
    data : array-like, SciPy sparse, dataframe (pandas, polars, pyarrow), str or Path, RowBlocks
        The table, N rows by n columns; or a source that `orthoselect.read.read_table` reads: a file
        (.csv, .tsv, .parquet, .feather, .arrow, .npy, .npz, .svm, .libsvm), a folder, a pattern
        (``"logs/*.parquet"``), a list of files, or a built-in data set ("iris"). A table in blocks
        of rows: `RowBlocks`, or any object with `names` and `blocks(columns)`. Arrays and
        dataframes of Dask. `GramStatistics` of a table; the target is then the name or position of
        one of its responses, or None for all.
    target : str, list of str or array-like
        The response: the name of a column of `data`, a list of such names, or the values themselves
        (classes, numbers, or several of either side by side). None for a file or data set that
        knows its target, and for method "unsupervised", which has none.
    n_features_to_select : int, float, "auto", "cv" or None, default=10
        A count, or a fraction in (0, 1) of the features. A group counts as one feature. "auto": as
        many as are significant, each given those before it (`alpha`); the path shows three more,
        and its `chosen` is the number that counts. "cv": as many as a cross-validation chooses, for
        a table in memory; `chosen` says how many, and `size_scores` why. None: at most ten. It
        stops earlier if features own several columns and no other feature gains more than it would
        by chance. With a number the search goes on there, with a warning.
    method : str, default="socc"
        What features are judged by; `orthoselect.methods.METHODS` lists the names.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether the response holds classes or numbers. "auto" reads strings, booleans, categories
        and few whole numbers as classes, and other numbers as a quantity. Up to ten distinct whole
        numbers are few, unless six or more hardly repeat. More of them are classes if they are
        codes: all numbers from 0 or 1 to at most a thousand, none much rarer than others. A warning
        says when whole numbers are read as a quantity. Whole floats count as integers.
    response_encoding : {"dummy", "onehot", "effects", "contrast", "ordinal"}, default="dummy"
        How classes become numbers; see `orthoselect.encode.encode_response`.
    categorical_features : "from_dtype", "all", None, or names, indices or a mask
        Columns coded as blocks of indicators and selected whole. "from_dtype": those of string or
        category dtype. Columns named here are categorical in addition to those. None: no column.
    groups : mapping of name to columns, or one label per column, optional
        Columns that are selected together. A column in no group is a feature of its own.
    include : names or indices, optional
        Features taken first, in this order.
    exclude : names, indices or a mask, optional
        Columns never taken; they may hold anything.
    search : {"forward", "backward", "floating", "swap", "beam", "exact"}, default="forward"
        How sets of features are searched. "forward" takes the best feature again and again; it is
        the quickest. The others compare whole sets by inner products, begin with the set of
        "forward" and are never worse: "swap" exchanges one feature for another as long as that is
        better, beginning with `n_starts` sets (default 1). "beam" grows several sets at a time
        (`width`, default 5). "floating" drops features that later ones have made useless.
        "backward" begins with all features and drops. "exact" proves the best set of a few dozen
        features. Steps are in the order in which "forward" takes the features of the set;
        `path.certificate` says what is proved, `path.by_size` has the best set of each size. For
        "socc", "socc_discretized", "socc_splines", "unsupervised", "err", "mser" and "obcc" (which
        then counts the constant as taken, so that a set has one value, whatever the order).
    time_limit : float, default=60.0
        Seconds after which searches that compare sets return the best set so far.
    sample_weight : array-like of shape (N,) or str, optional
        Row weights: a whole number counts as that many copies of the row. A string names the column
        that holds them, which is then no feature.
    missing : {"error", "indicator", "mean", "drop_rows"}, default="error"
        What to do about missing values (NaN or null). "error": raise an error that names the
        columns. "indicator": a column of numbers is filled by its mean, and an indicator of its
        gaps is part of the feature. "mean": it is filled by its mean only. With both, a gap in a
        categorical column is a level of its own. "drop_rows": rows with a gap in any candidate are
        dropped, with a warning. With all but "error", rows without a target or a weight are
        dropped, too. Infinity is always an error.
    dates : {"drop", "parts"}, default="drop"
        What to do about columns of dates, also as text: leave them out with a warning; or make a
        feature of each, which holds year, month, weekday and hour (if they vary) and the number of
        days, selected together under the column's name.
    memory : int or str, optional
        Bytes, or text like "2GB", that reading a file and selecting from it may take; half of what
        is free by default. A table that does not fit comfortably is read in blocks of rows, once
        for each pass; the answer is the same. For `RowBlocks` and the like: the limit beside the
        blocks, in place of their own `memory`. For a table that is already in memory it is an
        error.
    progress : bool or callable, optional
        True: show a bar, on a terminal or in a notebook (which needs tqdm), or else a line now and
        then on standard error. A function is called after each step with the step, its number from
        1 on, and the number of steps planned. If it has a method `searching`, that is called during
        an exact search with the gap so far, the share by which a better set could be better; if it
        has a method `scoring`, with "cv", with the numbers of models scored and planned; if it
        has a method `reading`, for a table in blocks, with the number of the pass and the bytes
        read.
    alpha : float, default=0.05
        With "auto", the largest p-value that counts as significant. The p-value is the chance that
        the best of all candidates gains as much if the response has nothing to do with any of them.
    n_permutations : int, default=199
        Permutations of the response that candidates are compared with. The default makes fewer than
        199, at least 99, if the response has many columns or classes.
    permute_within : str or array-like of shape (N,), optional
        For rows in clusters or blocks: the name of a column, which is then no feature, or labels.
        Rows are exchanged only with rows of the same label. Without it, tests assume that any rows
        may be exchanged; rows of time series may not.
    random_state : int, default=0
        Seed of the permutations.
    p_values : bool, default=False
        Whether to test the features also if the size of the path is given.
    represent : {"summaries", "segments"} or callable, optional
        For data of shape (cases, channels, times): how channels become numbers, and are then
        selected as groups of columns. The steps are channels; `ChannelSelector` has more.
    channel_names : list of str, optional
        The names of these channels.
    **options
        The method's own options, which ``METHODS[method]`` shows, or those of the search. Not every
        method takes `task`, `response_encoding`, `categorical_features`, `groups` and
        `sample_weight`; with one that does not, they are an error. With "cv" also those of a
        cross-validation, each as `SelectorCV` explains it: `cv`, `estimator`, `scoring`, `rule`,
        `random_state`, `n_jobs`, and `row_groups`, labels of rows that stay together in folds.
        `largest` is the largest size to try, a count or a fraction; by default ten, or as many as
        there are.

    Returns
    -------
    path : SelectionPath
        The features in order of selection. `feature` and `columns` are positions in `data`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from orthoselect import select
    >>> wine = load_wine(as_frame=True).frame
    >>> select(wine, "target", 3).names
    ['flavanoids', 'alcohol', 'color_intensity']
    """
    if represent is not None:
        given = {name: value for name, value in locals().items() if name not in _OF_PANELS}
        # By its name: channels are selected by this function.
        channels = importlib.import_module("orthoselect.channels")
        how = n_features_to_select, method, represent, channel_names
        return channels.select_channels(data, target, *how, {**given, **options})
    if channel_names is not None:
        raise InputError("`channel_names` goes with `represent`, for series. Omit it.")
    chosen = find_method(method)
    if not chosen.needs_target:
        check_without_target(chosen, target, n_features_to_select, p_values)
    if isinstance(n_features_to_select, str) and n_features_to_select == "cv":
        unused = TestRequest(10, alpha, n_permutations, permute_within).in_vain()
        if p_values or unused:
            raise InputError(
                f"`{'p_values' if p_values else unused}` is for tests of features; a size chosen "
                f"by cross-validation has none. Omit it, or pass `n_features_to_select='auto'`."
            )
        given = {
            "task": task,
            "response_encoding": response_encoding,
            "categorical_features": categorical_features,
            "groups": groups,
            "include": include,
            "exclude": exclude,
            "search": search,
            "sample_weight": sample_weight,
            "missing": check_missing(missing),
            "dates": dates,
            "memory": memory,
            "progress": progress,
        }
        check_nested(make_search(search, time_limit, {})[0])
        # By its name: cross-validation is made of selections, and selections do not know it.
        sizes = importlib.import_module("orthoselect.comparison.sizes")
        options = {**options, "random_state": random_state}
        return sizes.choose_size(data, target, method, given, options)
    general = {
        "task": task,
        "response_encoding": response_encoding,
        "categorical_features": categorical_features,
        "groups": groups,
        "sample_weight": sample_weight,
    }
    searcher, options = make_search(search, time_limit, options)
    criterion = chosen.make(general, **options)
    check_search(searcher, chosen)
    check_count(n_features_to_select)
    asked = TestRequest(
        n_features_to_select, alpha, n_permutations, permute_within, random_state, p_values
    )
    asked.check(criterion, search)
    check_choice(dates, DATES_AS, "dates")
    _check_order(data, target)
    origin = Origin(data, target, sample_weight)
    missing = check_missing(missing)
    data = find_table(data, memory)
    if asked.is_asked and holds_no_rows(data) and (why := data.why_no_tests):
        raise InputError(f"p-values and 'auto' permute rows, and {why}")
    if not criterion.takes_blocks:
        check_blocks(data, chosen)
    given = {**general, "include": include, "exclude": exclude, "missing": missing}
    if permute_within is not None:
        given["permute_within"] = permute_within
    if not criterion.needs_target:
        given["has_target"] = False
    whole = criterion.keeps_whole_weights
    with (
        reading_shown(data, progress),
        single_threaded_blas(),
        _naming_gaps(data, target, {**given, "dates": dates}),
    ):
        if holds_no_rows(data):  # statistics and lagged terms pose the problem by themselves
            problem = data.open_problem(target, keep_whole_weights=whole, **given)
        else:
            problem = open_problem(data, target, keep_whole_weights=whole, dates=dates, **given)
        test = _plan_test(asked, problem)
        problem, design, included, size, state = begin(
            chosen, criterion, problem, n_features_to_select, test, searcher.compares_sets
        )
        # Of single columns chance is no part of the answer; "auto" asks about those.
        judged = isinstance(design, Design) and bool(design.wide)
        to_chance = judged and n_features_to_select is None
        steps, stopped = _walk(
            searcher, state, size, included, design.features, problem, progress, to_chance
        )
        path = SelectionPath(
            steps,
            method=criterion.name,
            ceiling=criterion.ceiling(problem.response),
            n_candidates=len(design.features),
            stopped=stopped,
            stats=(searcher.walked or state).stats(),
            options={
                "n_features_to_select": n_features_to_select,
                **_reported(general, problem, search, dates),
                **asked.reported(test),
                **search_options(searcher),
                **options,
            },
            origin=origin,
            gaps=_gaps_filled(problem, is_cut="bins" in chosen.options),
            left_out=problem.readings.left_out,
            chosen=state.chosen,
            n_permutations=None if test is None else test.count(problem.response.m),
            **about_sets(searcher, design.features, problem, criterion),
        )
    _log.info("%d of %d features by %s", len(path), path.n_candidates, path.method)
    if stopped == _INTERRUPTED:
        raise SelectionInterrupted(path)
    if asked.is_auto:
        if path.chosen == len(included):
            warn(NothingSignificantWarning(alpha, *_best_of(path[path.chosen :])))
    elif stopped is not None and stopped != _BY_CHANCE:
        warn(SearchStoppedWarning(len(steps), size, stopped))
    elif judged and (
        first := next((s for s in path[len(included) :] if s.is_no_more_than_chance), None)
    ):
        warn(NoMoreThanChanceWarning(path.names.index(first.name) + 1, first.name))
    return path


def _plan_test(asked: TestRequest, problem: Problem) -> PermutationPlan | None:
    """Return how features are tested, None if they are not."""
    strata, n_rows = problem.strata, problem.table.n_rows
    if strata is not None and isinstance(problem.response.V, SpreadRows):
        raise InputError(
            "`permute_within` should have all rows in one place; this table is in pieces (Dask). "
            "Omit it, or select from the files in blocks of rows."
        )
    if asked.is_asked and (rare := problem.table.rare_parts()):
        warn(RareColumnsWarning(rare))
    codes = None if strata is None else strata_of(strata, n_rows)
    return asked.plan(codes, has_rows=problem.table.has_rows)


def _best_of(steps: Sequence[SelectionStep]) -> tuple[float | None, str | None]:
    """Return the p-value of the first of some steps, and its name; None if there is none."""
    return (steps[0].p_value, steps[0].name) if steps else (None, None)


def _check_order(data: Any, target: Any) -> None:
    """Raise where the table is given in place of the target."""
    if isinstance(data, str) and len(getattr(target, "shape", ())) == 2:
        raise InputError(
            f"the table comes first, `select(data, target)`; got {data!r} and then a "
            f"{type(target).__name__}. Swap them."
        )


def check_without_target(method: Method, target: Any, wanted: Any, p_values: Any) -> None:
    """Raise for what makes no sense where there is nothing to explain."""
    if p_values or (isinstance(wanted, str) and wanted in ("auto", "cv")):
        what = "`p_values=True`" if p_values else f"`n_features_to_select={wanted!r}`"
        raise InputError(
            f"{what} tests features against a target; method {method.name!r} has none. "
            f"Pass a number, and compare the total with what principal components could explain."
        )
    if target is not None:
        named = repr(target) if isinstance(target, (str, int)) else f"a {type(target).__name__}"
        raise InputError(
            f"method {method.name!r} explains all columns, and has no target: `target` should be "
            f"None; got {named}. To leave a column out, name it in `exclude`."
        )


def check_blocks(data: Any, method: Method) -> None:
    """Raise, before anything is read, for a method that cannot do with some rows at a time."""
    words = why_not_whole(data)
    if words is None or method.takes_blocks:
        return
    why, remedy = words
    able = [repr(other.name) for other in METHODS.values() if other.takes_blocks]
    raise InputError(
        f"method {method.name!r} needs the whole table in memory; this one {why}. Choose a method "
        f"that takes blocks of rows ({', '.join(able)}), or {remedy}."
    )


def _check_table(table: Table, method: Method) -> None:
    """Raise for columns of labels, or rows that are not there, if the method minds."""
    if table.labels and "categorical_features" not in method.takes:
        labels = [table.names[column] for column in table.labels]
        raise InputError(
            f"method {method.name!r} takes columns of numbers; {listing(labels)} holds labels. "
            f"Code them as numbers (scikit-learn's OneHotEncoder), name them in `exclude`, or "
            f"choose a method that takes them, 'socc' for one."
        )
    indicated = [table.names[c] for c in table.indicated]
    if indicated and "categorical_features" not in method.takes:
        raise InputError(
            f"method {method.name!r} judges single columns, so that {listing(indicated)} cannot "
            f"have an indicator of its gaps. Pass `missing='mean'` or 'drop_rows', or choose "
            f"another method, 'socc' for one."
        )
    if not table.has_rows and method.needs_rows:
        able = [repr(other.name) for other in METHODS.values() if not other.needs_rows]
        raise InputError(
            f"method {method.name!r} needs the rows of the table; {table.why_no_rows}. Choose one "
            f"of {', '.join(able)}, or select from the rows."
        )


def _gaps_filled(problem: Problem, *, is_cut: bool) -> GapsFilled:
    """Return what was done about missing values; `is_cut` says whether numbers became levels."""
    table = problem.table
    as_level = {*table.labels, *(table.indicated if is_cut else ())}
    indicated = set(table.indicated)
    columns = {}
    for c, count in problem.gaps.items():
        done = "filled by the mean" + (", with an indicator" if c in indicated else "")
        columns[str(table.names[c])] = count, "a level of its own" if c in as_level else done
    return GapsFilled(table.n_rows, problem.n_dropped, columns)


@contextmanager
def _naming_gaps(data: Any, target: Any, given: Mapping[str, Any]) -> Iterator[None]:
    """Let the error of a missing value name all columns that have some."""
    try:
        yield
    except NonFiniteError as error:
        if holds_no_rows(data):
            raise
        raise find_all_gaps(data, target, given) or error from None


def begin(
    method: Method,
    criterion: Criterion,
    problem: Problem,
    wanted: int | float | str | None,
    test: PermutationPlan | None = None,
    for_sets: bool = False,
) -> tuple[Problem, Any, list[int], int, State]:
    """Start to select, as far as gaps among numbers allow; fill them where they do not.

    So a table without gaps is not looked at for them. Returned are the problem, its design, which
    features are included, how many will be selected, and the state in which none is; `for_sets`
    one that compares sets.
    """
    size: int | None = None
    for is_again in (False, True):
        _check_table(problem.table, method)
        try:
            with catch_warnings() if is_again else nullcontext():
                if is_again:  # it has been said
                    simplefilter("ignore", ManyLevelsWarning)
                parts = problem.table, problem.groups, problem.skip, problem.weights
                design = criterion.prepare(*parts)
            included = design.features.places(problem.include)
            if size is None:
                size = count_to_select(wanted, len(design.features), len(included))
            state = start(criterion, design, problem, size, test, for_sets=for_sets)
            return problem, design, included, size, state
        except NonFiniteError:
            filled = fill_gaps(problem)
            if filled is None:
                raise
            problem = filled
    raise AssertionError("gaps that were filled are found again")


def start(
    criterion: Criterion,
    design: Any,
    problem: Problem,
    size: int,
    test: PermutationPlan | None = None,
    *,
    for_sets: bool = False,
) -> State:
    """Return the state in which nothing is selected; numbers that are not finite raise."""
    begins = criterion.start_for_sets if for_sets else criterion.start
    tested = {} if test is None else {"test": test}
    try:
        return begins(design, problem.response, problem.weights, size, **tested)
    except NonFiniteColumns as found:
        counts = {design.name_of_column(j): c for j, c in sorted(found.counts.items())}
        place = found.places.get(min(found.counts))
        raise NonFiniteError(counts, place) from None


def _walk(
    searcher: Search,
    state: State,
    size: int,
    include: list[int],
    features: Features,
    problem: Problem,
    progress: Any,
    to_chance: bool,
) -> tuple[list[SelectionStep], str | None]:
    """Return the steps made, and why there are no more; an interruption does not lose them.

    The best feature may gain no more than it would by chance: then none does, and if `to_chance`
    that is the end.
    """
    steps: list[SelectionStep] = []
    interrupted = False
    searcher.to_chance = to_chance
    watch = getattr(progress, "searching", None)
    if watch is not None:
        searcher.watch = lambda bound, value: watch(bound / value - 1 if value > 0 else None)
    try:
        for taken in searcher.run(state, size, include, np.ones(len(features), dtype=bool)):
            feature = features[taken.feature]
            columns = problem.origins(feature.columns)
            gain, total = taken.gain, taken.value
            p = None if taken.p_value is None else max(taken.p_value, LEAST_P)
            tested = taken.chance, p, taken.effective_candidates
            step = SelectionStep(min(columns), feature.name, gain, total, columns, *tested)
            ends = to_chance and not searcher.compares_sets and len(steps) >= len(include)
            if ends and step.is_no_more_than_chance:
                return steps, _BY_CHANCE
            steps.append(step)
            _log.debug("step %d of %d: %s adds %.4g", len(steps), size, step.name, step.gain)
            if progress is not None:
                progress(steps[-1], len(steps), size)
    except KeyboardInterrupt:
        interrupted = True
    state = searcher.walked or state
    gains = state.known_gains()
    if gains is not None:
        totals = accumulate(gains)
        steps = [replace(step, gain=g, total=t) for step, g, t in zip(steps, gains, totals)]
    shares = state.component_shares()
    if shares is not None:
        steps = [replace(step, components=share) for step, share in zip(steps, shares)]
    if interrupted:
        return steps, _INTERRUPTED
    if searcher.ended_by_chance:
        return steps, _BY_CHANCE
    # Asked after the exact gains are known: why the search has stopped may hang on their digits.
    complete = len(steps) == size and state.chosen in (None, size)
    return steps, None if complete else state.exhausted()


def _reported(
    general: Mapping[str, Any], problem: Problem, search: str, dates: str
) -> dict[str, Any]:
    """Return the options as a path reports them: columns by name, weights only as given or not."""
    names, labels = problem.table.names, problem.table.labels
    categorical, weights = general["categorical_features"], general["sample_weight"]
    if categorical is not None and not isinstance(categorical, str):
        categorical = [names[c] for c in sorted(labels)]
    groups = {
        group: [names[c] for c in problem.origins(columns)]
        for group, columns in problem.groups.items()
        if group not in problem.dates
    }
    return {
        "task": general["task"],
        "response_encoding": general["response_encoding"],
        "categorical_features": categorical,
        "groups": groups or None,
        "include": [names[c] for c in problem.origins(problem.include)] or None,
        "exclude": [names[c] for c in problem.exclude] or None,
        "search": search,
        "missing": problem.missing,
        "dates": dates,
        "sample_weight": weights if weights is None or isinstance(weights, str) else "given",
        **problem.settled,
    }
