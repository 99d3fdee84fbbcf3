"""The whole way from a table to a path, in one function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from orthoselect.arguments import (
    ColumnSpec,
    check_choice,
    check_disjoint,
    check_weights,
    count_to_select,
    find_columns,
    find_groups,
)
from orthoselect.criteria import Criterion, State
from orthoselect.encode import Response, Table, build_response
from orthoselect.errors import (
    InputError,
    NonFiniteError,
    SearchStoppedWarning,
    SelectionInterrupted,
    listing,
    warn,
)
from orthoselect.matrix import NonFiniteColumns
from orthoselect.matrix.base import Floats
from orthoselect.matrix.threads import single_threaded_blas
from orthoselect.methods import METHODS, Method
from orthoselect.read import Dataset, Source, open_source, read_source, read_target, sift
from orthoselect.result import SelectionPath, SelectionStep
from orthoselect.search import ForwardSearch, Search, Taken

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
    **options: Any,
) -> SelectionPath:
    """Select the features that together explain a response best.

    Parameters
    ----------
    data : array-like, SciPy sparse, dataframe (pandas, polars, pyarrow), or str or Path
        The table, N rows by n columns; or what `orthoselect.read.read_source` reads: a file (.csv,
        .tsv, .parquet, .feather, .arrow, .npz, .svm, .libsvm) or a built-in data set ("iris").
    target : str or array-like
        The response: the name of a column of `data`, or the values themselves (classes, numbers,
        or several of either side by side). None for a file or data set that knows its target.
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
    sample_weight : array-like of shape (N,), optional
        Row weights: a whole number counts as so many copies of the row.
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
    chosen.check_general(
        {
            "task": task,
            "response_encoding": response_encoding,
            "categorical_features": categorical_features,
            "groups": groups,
            "sample_weight": sample_weight,
        }
    )
    searcher = SEARCHES[check_choice(search, SEARCHES, "search")]
    if isinstance(data, (str, Path)):
        named = {"categorical_features": categorical_features, "include": include}
        data = _read(data, target, {**named, "exclude": exclude}, groups)
    source = open_source(data)
    names = source.names
    unfit: list[str] = []
    if isinstance(data, Dataset):
        task, unfit = data.find_task(task, target), list(data.left_out)
        target = data.find_target(target)
    target, taken = _target_values(source, target)
    grouped = find_groups(groups, names)
    left_out = find_columns(exclude, names, "exclude", grouped)
    left_out += find_columns(unfit, names, "exclude")
    first = find_columns(include, names, "include", grouped)
    check_disjoint(first, [*left_out, *taken], names)
    skip = {*left_out, *taken}

    table = source.read(_categorical(source, categorical_features, skip), skip)
    _check_columns(table, chosen)
    whole = criterion.keeps_whole_weights
    weights = check_weights(sample_weight, source.n_rows, keep_whole=whole)
    response = build_response(read_target(target, source.n_rows), task, response_encoding, weights)
    design = criterion.prepare(table, grouped, skip, weights)
    included = design.features.places(first)
    size = count_to_select(n_features_to_select, len(design.features), len(included))
    candidates = np.ones(len(design.features), dtype=bool)
    with single_threaded_blas():
        state = _start(criterion, design, response, weights, size)
        return _walk(searcher, state, size, included, candidates, design, criterion, response)


def _read(source: str | Path, target: Any, named: dict[str, ColumnSpec], groups: Any) -> Dataset:
    """Read a file or a built-in set; columns that the user speaks of are not sifted."""
    dataset = read_source(source)
    names = dataset.names
    grouped = find_groups(groups, names)
    keep = {column for columns in grouped.values() for column in columns}
    for argument, spec in named.items():
        if not (isinstance(spec, str) and spec in ("from_dtype", "all")):
            keep.update(find_columns(spec, names, argument, grouped))
    return sift(dataset, target, [names[column] for column in keep])


def _target_values(source: Source, target: Any) -> tuple[Any, list[int]]:
    """Return the response's values, and the columns they were taken from."""
    if not isinstance(target, str):
        return target, []
    columns = find_columns(target, source.names, "target")
    return source.column(columns[0]), columns


def _categorical(source: Source, spec: ColumnSpec, skip: set[int]) -> set[int]:
    if spec is None:
        return set()
    if isinstance(spec, str) and spec == "all":
        return set(range(len(source.names))) - skip
    by_dtype = source.categorical_columns() - skip
    if isinstance(spec, str) and spec == "from_dtype":
        return by_dtype
    return by_dtype | (set(find_columns(spec, source.names, "categorical_features")) - skip)


def _check_columns(table: Table, method: Method) -> None:
    if table.labels and "categorical_features" not in method.takes:
        labels = [table.names[column] for column in table.labels]
        raise InputError(
            f"method {method.name!r} takes columns of numbers; {listing(labels)} holds labels. "
            f"Code them as numbers (scikit-learn's OneHotEncoder), name them in `exclude`, or "
            f"choose a method that takes them, 'socc' for one."
        )


def _start(
    criterion: Criterion, design: Any, response: Response, weights: Floats | None, size: int
) -> State:
    try:
        return criterion.start(design, response, weights, size)
    except NonFiniteColumns as found:
        counts = {design.name_of_column(j): c for j, c in sorted(found.counts.items())}
        raise NonFiniteError(counts) from None


def _walk(
    searcher: Search,
    state: State,
    size: int,
    include: list[int],
    candidates: np.ndarray,
    design: Any,
    criterion: Criterion,
    response: Response,
) -> SelectionPath:
    """Run the search; whatever interrupts it, the steps made are not lost."""
    steps: list[SelectionStep] = []

    def path(stopped: str | None) -> SelectionPath:
        return SelectionPath(
            _with_gains(steps, state.known_gains()),
            method=criterion.name,
            ceiling=criterion.ceiling(response),
            n_candidates=len(design.features),
            stopped=stopped,
            stats=state.stats(),
        )

    try:
        for taken in searcher.run(state, size, include, candidates):
            steps.append(_step(taken, design))
    except KeyboardInterrupt:
        raise SelectionInterrupted(path("interrupted.")) from None
    if len(steps) == size:
        return path(None)
    warn(SearchStoppedWarning(len(steps), size, state.exhausted()))
    return path(state.exhausted())


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
