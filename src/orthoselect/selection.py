"""The whole way from a table to a path, in one function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np

from orthoselect.arguments import ColumnSpec, check_choice, count_to_select
from orthoselect.criteria import Criterion, State
from orthoselect.encode import Response, Table
from orthoselect.errors import (
    InputError,
    NonFiniteError,
    SearchStoppedWarning,
    SelectionInterrupted,
    listing,
    warn,
)
from orthoselect.matrix import NonFiniteColumns
from orthoselect.matrix.threads import single_threaded_blas
from orthoselect.methods import METHODS, Method
from orthoselect.read import find_table, why_not_whole
from orthoselect.result import SelectionPath, SelectionStep
from orthoselect.roles import Problem, holds_no_rows, open_problem
from orthoselect.search import ForwardSearch, Search, Taken

Progress = Callable[[SelectionStep, int, int], None]
SEARCHES: Mapping[str, Search] = {s.name: s for s in (ForwardSearch(),)}


def select(
    data: Any,
    target: Any,
    n_features_to_select: int | float = 10,
    method: str = "socc",
    *,
    task: str = "auto",
    response_encoding: str = "dummy",
    categorical_features: ColumnSpec = "from_dtype",
    groups: Any = None,
    include: ColumnSpec = None,
    exclude: ColumnSpec = None,
    search: str = "forward",
    sample_weight: Any = None,
    memory: int | str | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> SelectionPath:
    """Select the features that together explain a response best.

    Parameters
    ----------
    data : array-like, SciPy sparse, dataframe (pandas, polars, pyarrow), str or Path, RowBlocks
        The table, N rows by n columns; or what `orthoselect.read.read_table` reads: a file (.csv,
        .tsv, .parquet, .feather, .arrow, .npy, .npz, .svm, .libsvm), a folder, a pattern
        (``"logs/*.parquet"``), a list of files, or a built-in data set ("iris"). `RowBlocks`, or
        what else has `names` and `blocks(columns)`: a table in blocks of rows. Arrays and
        dataframes of Dask. `GramStatistics`: what was kept of a table; the target is then the name
        or position of one of its responses, or None for all.
    target : str, list of str or array-like
        The response: the name of a column of `data`, a list of such names, or the values themselves
        (classes, numbers, or several of either side by side). None for a file or data set that
        knows its target.
    n_features_to_select : int or float, default=10
        A count, or a fraction in (0, 1) of the features. A group counts as one feature.
    method : str, default="socc"
        What features are judged by; `orthoselect.methods.METHODS` lists the names.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether the response holds classes or numbers. "auto" takes strings, booleans, categories
        and whole numbers for classes, and numbers with a fractional part for quantities.
    response_encoding : {"dummy", "onehot", "effects", "contrast", "ordinal"}, default="dummy"
        How classes become numbers; see `orthoselect.encode.encode_response`.
    categorical_features : "from_dtype", "all", None, or names, indices or a mask
        Columns coded as blocks of indicators and selected whole. "from_dtype": those of string
        or category dtype. Columns named here are categorical besides those. None: no column.
    groups : mapping of name to columns, or one label per column, optional
        Columns that are selected together. A column in no group stands for itself.
    include : names or indices, optional
        Features taken first, in this order.
    exclude : names, indices or a mask, optional
        Columns never taken; they may hold anything.
    search : {"forward"}, default="forward"
        How sets of features are searched.
    sample_weight : array-like of shape (N,) or str, optional
        Row weights: a whole number counts as so many copies of the row. A string names the column
        that holds them, which is no feature then.
    memory : int or str, optional
        Bytes, or text like "2GB", that reading a file and selecting from it may take; half of what
        is free by default. A table that does not fit comfortably is read in blocks of rows, once
        for each pass; the answer is the same. Of `RowBlocks` and the like: what may be taken
        beside the blocks, in place of their own `memory`. For a table that is in memory already it
        is an error.
    progress : callable, optional
        Called after each step with the step, its number from 1 on, and the number of steps to go
        for, for whoever shows a bar.
    **options
        Options of the method's own; ``METHODS[method]`` shows them. Not every method takes
        `task`, `response_encoding`, `categorical_features`, `groups` and `sample_weight`; one that
        does not says so if they are given.

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
    chosen = METHODS.find(method)
    criterion = chosen.make(**options)
    general = {
        "task": task,
        "response_encoding": response_encoding,
        "categorical_features": categorical_features,
        "groups": groups,
        "sample_weight": sample_weight,
    }
    chosen.check_general(general)
    searcher = SEARCHES[check_choice(search, SEARCHES, "search")]
    data = find_table(data, memory)
    check_blocks(data, chosen)
    with single_threaded_blas():
        problem = _open(
            data,
            target,
            include=include,
            exclude=exclude,
            keep_whole_weights=criterion.keeps_whole_weights,
            **general,
        )
        _check_columns(problem.table, chosen)
        _check_rows(problem.table, chosen, criterion)
        design = prepare(criterion, problem)
        included = design.features.places(problem.include)
        size = count_to_select(n_features_to_select, len(design.features), len(included))
        asked = {"n_features_to_select": n_features_to_select, **_asked(general, problem, search)}
        walk = _Walk(criterion, design, problem.response, {**asked, **options}, progress)
        return walk.run(searcher, start(criterion, design, problem, size), size, included)


def _open(data: Any, target: Any, **asked: Any) -> Problem:
    """Read a table and a response; data that holds no table may know how to pose a problem."""
    if holds_no_rows(data):
        return data.open_problem(target, **asked)
    return open_problem(data, target, **asked)


def prepare(criterion: Criterion, problem: Problem) -> Any:
    """Return the features of a problem in the form that a criterion works on."""
    return criterion.prepare(problem.table, problem.groups, problem.skip, problem.weights)


def start(criterion: Criterion, design: Any, problem: Problem, size: int) -> State:
    """Return the state in which nothing is selected; numbers that are not finite raise."""
    try:
        return criterion.start(design, problem.response, problem.weights, size)
    except NonFiniteColumns as found:
        counts = {design.name_of_column(j): c for j, c in sorted(found.counts.items())}
        place = found.places.get(min(found.counts))
        raise NonFiniteError(counts, place) from None


def _asked(general: Mapping[str, Any], problem: Problem, search: str) -> dict[str, Any]:
    """Return what was asked for, columns by their names, and of the weights only that there are."""
    categorical = general["categorical_features"]
    if categorical is not None and not isinstance(categorical, str):
        categorical = problem.names_of(sorted(problem.table.labels))
    return {
        "task": general["task"],
        "response_encoding": general["response_encoding"],
        "categorical_features": categorical,
        "groups": {name: problem.names_of(c) for name, c in problem.groups.items()} or None,
        "include": problem.names_of(problem.include) or None,
        "exclude": problem.names_of(problem.exclude) or None,
        "search": search,
        "sample_weight": _told_weights(general["sample_weight"]),
        **problem.settled,
    }


def _told_weights(given: Any) -> str | None:
    return given if given is None or isinstance(given, str) else "given"


def _check_columns(table: Table, method: Method) -> None:
    if table.labels and "categorical_features" not in method.takes:
        labels = [table.names[column] for column in table.labels]
        raise InputError(
            f"method {method.name!r} takes columns of numbers; {listing(labels)} holds labels. "
            f"Code them as numbers (scikit-learn's OneHotEncoder), name them in `exclude`, or "
            f"choose a method that takes them, 'socc' for one."
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


def _check_rows(table: Table, method: Method, criterion: Criterion) -> None:
    if criterion.needs_rows and not table.has_rows:
        fit = [name for name, other in METHODS.items() if not other.needs_rows]
        raise InputError(
            f"method {method.name!r} needs the rows of the table; statistics hold means and inner "
            f"products of its columns only. Choose one of {', '.join(map(repr, fit))}, or select "
            f"from the rows."
        )


class _Walk:
    """A search on its way: whatever interrupts it, the steps made are not lost."""

    def __init__(
        self,
        criterion: Criterion,
        design: Any,
        response: Response,
        options: Mapping[str, Any],
        progress: Progress | None,
    ) -> None:
        self._criterion, self._design, self._response = criterion, design, response
        self._options = options
        self._progress = progress
        self._steps: list[SelectionStep] = []

    def run(self, searcher: Search, state: State, size: int, include: list[int]) -> SelectionPath:
        """Return the path, as long as it has come."""
        candidates = np.ones(len(self._design.features), dtype=bool)
        try:
            for taken in searcher.run(state, size, include, candidates):
                self._steps.append(_step(taken, self._design))
                if self._progress is not None:
                    self._progress(self._steps[-1], len(self._steps), size)
        except KeyboardInterrupt:
            raise SelectionInterrupted(self._path(state, lambda: "interrupted.")) from None
        if len(self._steps) == size:
            return self._path(state, None)
        path = self._path(state, state.exhausted)
        warn(SearchStoppedWarning(len(self._steps), size, str(path.stopped)))
        return path

    def _path(self, state: State, why_stopped: Callable[[], str] | None) -> SelectionPath:
        # Exact gains come first: why the search has stopped may hang on their last digits.
        steps = _with_gains(self._steps, state.known_gains())
        stopped = None if why_stopped is None else why_stopped()
        return SelectionPath(
            steps,
            method=self._criterion.name,
            ceiling=self._criterion.ceiling(self._response),
            n_candidates=len(self._design.features),
            stopped=stopped,
            stats=state.stats(),
            options=self._options,
        )


def _with_gains(steps: list[SelectionStep], gains: list[float] | None) -> list[SelectionStep]:
    """Return the steps with what is known of their gains now."""
    if gains is None:
        return steps
    totals = accumulate(gains)
    return [replace(step, gain=gain, total=t) for step, gain, t in zip(steps, gains, totals)]


def _step(taken: Taken, design: Any) -> SelectionStep:
    feature = design.features[taken.feature]
    return SelectionStep(
        feature=min(feature.columns),
        name=feature.name,
        gain=taken.gain,
        total=taken.value,
        columns=feature.columns,
    )
