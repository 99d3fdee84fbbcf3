"""What each column of a table is for, settled once; and the table and response, read.

`select`, the selectors, `compare`, `GramStatistics`, reports and the command all come through here.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from orthoselect.column_spec import (
    ColumnSpec,
    check_one_role,
    find_asked,
    find_columns,
    find_groups,
    is_whole,
)
from orthoselect.encode import Feature, NumberedNames, Response, Table
from orthoselect.encode.gaps import FILLS, check_no_gaps, find_gaps, gap_count
from orthoselect.encode.response import check_choice, no_response
from orthoselect.errors import (
    InputError,
    LeftOutWarning,
    NonFiniteError,
    TooManyRequestedWarning,
    listing,
    warn,
)
from orthoselect.matrix.rows import Rows
from orthoselect.read import (
    DATES_AS,
    Dataset,
    Readings,
    Source,
    drop_missing,
    drop_rows,
    gaps_error,
    names_in_errors,
    open_named,
    open_source,
    read_given,
    read_target,
    response_columns,
    sift,
    split_frame,
    why_not_whole,
)

_WORDS = ("from_dtype", "all")  # said of all columns as `categorical_features`
_USUAL_COUNT = 10  # features to select where no number is given


@dataclass(frozen=True)
class Problem:
    """What to select from, and what for. Columns of the table are given by positions."""

    table: Table  # all columns but those that are skipped
    response: Response
    weights: Rows | None  # spread where the response is
    groups: Mapping[str, Sequence[int]]
    include: list[int]  # columns to be taken first
    exclude: list[int]  # columns never to be taken
    skip: set[int]  # those, and the columns of the response and of the weights
    missing: str = "error"  # what is done about missing values
    gaps: Mapping[int, int] = field(default_factory=dict)  # how many columns had, as far as known
    is_filled: bool = False  # whether gaps among numbers are no more
    n_dropped: int = 0  # rows that were dropped because something was missing
    # Options that were settled before anything was asked; a path reports them as its own.
    settled: Mapping[str, Any] = field(default_factory=dict)
    readings: Readings = field(default_factory=lambda: Readings(()))  # how columns were read
    strata: Any = None  # labels of rows, within which a test permutes them

    @property
    def dates(self) -> set[str]:
        """The columns of dates whose parts are used, by their names."""
        return {self.readings.names[c] for c in self.readings.dates}

    def origins(self, columns: Sequence[int]) -> tuple[int, ...]:
        """Return the columns that were given, of columns some of which are parts of dates."""
        if not self.readings.parts:
            return tuple(columns)
        return tuple(dict.fromkeys(self.readings.origin(c) for c in columns))


@dataclass(frozen=True)
class Roles:
    """A table that was looked at, and what each of its columns is for."""

    data: Any  # what was given, without columns that are no features
    source: Source  # the same, for reading
    target: Any  # the response: the names of its columns, or its values
    target_columns: list[int]  # its columns, if the table has them
    weight_column: int | None  # that of the row weights, if the table has it
    sample_weight: Any  # the row weights: the name of that column, or values
    task: str
    groups: Mapping[str, list[int]]
    include: list[int]
    exclude: list[int]
    skip: set[int]  # columns that are no candidates: those excluded, the response and the weights
    categorical: set[int]  # columns that hold labels
    readings: Readings  # how columns are read
    n_dropped: int = 0  # rows that were dropped because something was missing
    within_column: int | None = None  # that of labels within which rows are permuted, if any

    @property
    def candidates(self) -> tuple[list[int], list[int]]:
        """The columns to choose from: those of numbers, and those of labels."""
        rest = [c for c in range(len(self.source.names)) if c not in self.skip]
        labeled = sorted(self.categorical)
        return [c for c in rest if c not in self.categorical], labeled

    @property
    def features(self) -> tuple[Feature, ...]:
        """What there is to choose from, in the table's order; a group stands where it begins."""
        names = self.source.names
        found = [
            Feature(name, members)
            for name, group in self.groups.items()
            if (members := tuple(c for c in group if c not in self.skip))
        ]
        grouped = {column for feature in found for column in feature.columns}
        alone = set(range(len(names))) - self.skip - grouped
        found += [Feature(str(names[column]), (column,)) for column in alone]
        return tuple(sorted(found, key=lambda feature: min(feature.columns)))

    @property
    def given_groups(self) -> dict[str, list[int]]:
        """The groups that were given, by the columns of the table."""
        readings = self.readings
        dates = {readings.names[c] for c in readings.dates}
        return {
            name: list(dict.fromkeys(readings.origin(c) for c in columns))
            for name, columns in self.groups.items()
            if name not in dates
        }

    def categorical_option(self, spec: ColumnSpec) -> Any:
        """Return `categorical_features` for `select`: words as they are, columns as a list."""
        said_in_words = spec is None or (isinstance(spec, str) and spec in _WORDS)
        return spec if said_in_words else sorted(self.categorical)

    @property
    def apart(self) -> dict[int, str]:
        """The columns of the response and of the weights, and which these are."""
        weights = [] if self.weight_column is None else [self.weight_column]
        return _apart(self.target_columns, weights)

    @property
    def beside(self) -> dict[str, Any]:
        """The values of the response and of the weights that are no columns, by their names."""
        weights = None if self.weight_column is not None else self.sample_weight
        given = {"y": None if self.target_columns else self.target, "sample_weight": weights}
        return {what: values for what, values in given.items() if values is not None}


def holds_no_rows(data: Any) -> bool:
    """Whether data poses problems by itself, and has no rows to show.

    Statistics of a table do, and terms of lagged signals.
    """
    return callable(getattr(type(data), "open_problem", None))


def check_has_rows(data: Any, who: str) -> None:
    """Raise for what holds no rows."""
    if holds_no_rows(data):
        raise InputError(
            f"{who} should have the rows of a table; got {type(data).__name__}: "
            f"{data.why_no_rows}. Pass the table."
        )


def find_roles(
    data: Any,
    target: Any,
    *,
    task: str = "auto",
    categorical_features: ColumnSpec = "from_dtype",
    groups: Any = None,
    include: ColumnSpec = None,
    exclude: ColumnSpec = None,
    sample_weight: Any = None,
    missing: str = "error",
    dates: str = "drop",
    permute_within: Any = None,
    has_target: bool = True,
    fewest_rows: int = 2,
) -> Roles:
    """Look at a table of any kind, and settle what each column is for; arguments as of `select`.

    A table in memory has to have at least `fewest_rows`. Without `has_target` there is nothing to
    explain; values that a source has apart as its target are then no feature. Unless missing values
    are an error, rows without a target or a weight are dropped before columns are judged; rows with
    other gaps are dropped if `missing` says so.
    """
    source = open_source(data, fewest_rows)
    if isinstance(data, Dataset) and has_target:
        target = data.find_target(target)
        task = data.task if task == "auto" and target is data.target else task
    elif not isinstance(data, Dataset) and not source.first.is_plain:
        data = Dataset(data, source.names, format="frame", unsifted=True)
    # Those that the table has, without the parts of dates that a source may add.
    names = data.names if isinstance(data, Dataset) else source.names
    if is_whole(target):
        target = _name_at(target, names)
    asked, grouped = find_asked(names, target, groups, include, exclude, sample_weight)
    within = permute_within if isinstance(permute_within, str) else None
    asked["permute_within"] = find_columns(within, names, "permute_within")
    labeled = _named_categorical(categorical_features, names)
    check_choice(dates, DATES_AS, "dates")
    if has_target and not asked["target"]:
        data, target = _read_values(data, source, target, asked, grouped)
    n_dropped = data.n_dropped if isinstance(data, Dataset) else 0
    if missing != "error":
        data, source, target, sample_weight, more = _with_targets(
            data, source, target, sample_weight, asked
        )
        n_dropped += more
    if isinstance(data, Dataset) and data.unsifted:
        data, source = _sifted(data, source, asked, grouped, labeled, dates)
    if missing != "error" and set(asked["target"]) & set(source.readings.numbers):
        # Where text was read as numbers some are missing that were not before.
        data, source, target, sample_weight, more = _with_targets(
            data, source, target, sample_weight, asked
        )
        n_dropped += more
    unfit: list[int] = []
    if isinstance(data, Dataset):
        unfit = find_columns(list(data.left_out), names, "exclude")
    apart = {*asked["target"], *asked["sample_weight"], *asked["permute_within"]}
    left_out = list(dict.fromkeys([*asked["exclude"], *unfit]))
    # Unlike in a command, the response may be named in `exclude`: a rule for several may do so.
    asked["exclude"] = [column for column in left_out if column not in apart]
    check_one_role(asked, names, grouped if isinstance(groups, Mapping) else {})
    included, readings = asked["include"], source.readings
    if readings.dates:
        grouped, included = _with_parts(readings, grouped, included, set(left_out))
    skip = {*left_out, *apart, *readings.dates}
    roles = Roles(
        data=data,
        source=source,
        target=target,
        target_columns=asked["target"],
        weight_column=asked["sample_weight"][0] if asked["sample_weight"] else None,
        sample_weight=sample_weight,
        task=task,
        groups=grouped,
        include=included,
        exclude=left_out,
        skip=skip,
        categorical=_categorical(source, categorical_features, skip, asked["target"]),
        n_dropped=n_dropped,
        readings=readings,
        within_column=asked["permute_within"][0] if asked["permute_within"] else None,
    )
    return _without_gaps(roles) if missing == "drop_rows" else roles


def _apart(targets: Sequence[int], weights: Sequence[int]) -> dict[int, str]:
    return dict.fromkeys(targets, "the target") | dict.fromkeys(weights, "the weights")


def _with_targets(
    data: Any, source: Source, target: Any, sample_weight: Any, asked: Mapping[str, Sequence[int]]
) -> tuple[Any, Source, Any, Any, int]:
    """Drop the rows that lack a target or a weight."""
    named, weight = asked["target"], asked["sample_weight"]
    if not named and target is None and not weight and sample_weight is None:
        return data, source, target, sample_weight, 0
    known = isinstance(data, Dataset) and {source.names[c] for c in [*named, *weight]}
    if known and known <= {*data.complete} and named and (weight or sample_weight is None):
        return data, source, target, sample_weight, 0
    values = None if named else target, None if weight else sample_weight
    data, source, y, w, n_dropped = drop_rows(data, source, *values, _apart(named, weight))
    return data, source, target if named else y, sample_weight if weight else w, n_dropped


def _without_gaps(roles: Roles) -> Roles:
    """Drop the rows that have a gap in any candidate."""
    beside = roles.beside
    data, source, y, w, n_dropped = drop_rows(
        roles.data,
        roles.source,
        beside.get("y"),
        beside.get("sample_weight"),
        {},
        roles.candidates,
    )
    n_dropped += roles.n_dropped
    new = replace(roles, data=data, source=source, n_dropped=n_dropped)
    new = replace(new, target=y) if "y" in beside else new
    return replace(new, sample_weight=w) if "sample_weight" in beside else new


def _name_at(position: int, names: Sequence[str]) -> str:
    """Return the name of the column at a position, unless the number is a name itself."""
    if str(position) in names:
        return str(position)
    return names[find_columns(position, names, "target")[0]]


def _read_values(
    data: Any,
    source: Source,
    target: Any,
    asked: Mapping[str, Sequence[int]],
    groups: Mapping[str, Sequence[int]],
) -> tuple[Any, Any]:
    """Read a response that is given as values; leave out columns that hold the very same ones."""
    if not isinstance(data, Dataset):
        return data, read_given(target)
    if target is None and not isinstance(data.names, NumberedNames):
        raise InputError(
            f"`target` should name the column to explain, or be its values: this requires y to be "
            f"passed, but the target y is None. The columns are {listing(data.names)}."
        )
    target = read_given(target, data.target_name or "y")
    if not data.unsifted:
        return data, target
    spoken_of = {*chain.from_iterable(asked.values()), *chain.from_iterable(groups.values())}
    twins = [data.names[c] for c in source.columns_like(target) if c not in spoken_of]
    if twins:
        found = dict.fromkeys(twins, "it holds the values of the target")
        warn(LeftOutWarning(found, "Give its name as the target, or include it to keep it."))
        data = replace(data, left_out={**data.left_out, **found})
    return data, target


def _sifted(
    data: Dataset,
    source: Source,
    asked: Mapping[str, list[int]],
    groups: Mapping[str, list[int]],
    labeled: Sequence[int],
    dates: str,
) -> tuple[Dataset, Source]:
    """Leave out the columns that are no features, and settle how others are read."""
    names = data.names
    kept = [*labeled, *asked["exclude"]]
    readings = sift(
        source,
        targets=[names[c] for c in asked["target"]],
        keep=[names[c] for c in (*kept, *asked["sample_weight"], *asked.get("permute_within", ()))],
        included=[names[c] for c in (*asked["include"], *chain.from_iterable(groups.values()))],
        left_out=data.left_out,
        dates=dates,
        name=data.name,
    )
    left_out = {**data.left_out, **readings.left_out}
    data = replace(data, left_out=left_out, readings=readings, unsifted=False)
    return data, source.read_as(readings)


def _with_parts(
    readings: Readings,
    groups: Mapping[str, list[int]],
    include: Sequence[int],
    excluded: set[int],
) -> tuple[dict[str, list[int]], list[int]]:
    """Let the parts of dates stand for them, each date a group of its own or part of another."""
    grouped = {
        name: [part for c in columns for part in readings.parts_of(c)]
        for name, columns in groups.items()
    }
    members = set(chain.from_iterable(groups.values()))
    alone = [c for c in readings.dates if c not in members and c not in excluded]
    grouped |= {readings.names[c]: readings.parts_of(c) for c in alone}
    return grouped, [part for c in include for part in readings.parts_of(c)]


def clean(
    dataset: Dataset,
    target: Any,
    missing: str = "error",
    *,
    has_target: bool = True,
    categorical_features: ColumnSpec = "from_dtype",
    groups: Mapping[str, Any] | None = None,
    include: ColumnSpec = None,
    exclude: ColumnSpec = None,
    sample_weight: str | None = None,
    dates: str = "drop",
) -> Dataset:
    """Leave out of a file what cannot be selected from, and see to its missing values.

    `missing` is as for `select`, or "drop_columns": those with gaps are left out. The others are as
    for `select`, too, which takes what is returned; each column should have one role. Rows without
    a target go before columns are judged; without `has_target` there is none.
    """
    names = dataset.names
    target = dataset.find_target(target) if has_target else None
    asked, grouped = find_asked(names, target, groups, include, exclude, sample_weight)
    check_one_role(asked, names, grouped)
    if missing != "error" and (has_target or sample_weight is not None):
        dataset = drop_missing(dataset, "drop_targetless", target, weights=sample_weight)
        complete = [names[c] for c in [*asked["target"], *asked["sample_weight"]]]
        dataset = replace(dataset, complete=complete)
        target = dataset.target if isinstance(target, np.ndarray) else target
    labeled = _named_categorical(categorical_features, names)
    dataset, _ = _sifted(dataset, open_source(dataset, 1), asked, grouped, labeled, dates)
    # Blocks are checked when they are read: to check now would take a pass over all columns.
    if missing not in FILLS and (missing != "error" or why_not_whole(dataset) is None):
        excluded = [names[column] for column in asked["exclude"]]
        dataset = drop_missing(dataset, missing, target, weights=sample_weight, exclude=excluded)
    for column in [*asked["include"], *chain.from_iterable(grouped.values())]:
        if names[column] in dataset.left_out:
            raise InputError(
                f"a feature that is included or in a group should stay; `{names[column]}` was left "
                f"out: {dataset.left_out[names[column]]}. Use `missing='indicator'`."
            )
    return dataset


def open_problem(
    data: Any,
    target: Any,
    *,
    response_encoding: str = "dummy",
    sample_weight: Any = None,
    keep_whole_weights: bool = False,
    missing: str = "error",
    has_target: bool = True,
    **asked: Any,
) -> Problem:
    """Read a table and a response of any kind; the arguments are those of `select`.

    `keep_whole_weights` says whether weights that are whole numbers stay as they are. A gap in a
    column of labels is a level of its own, unless missing values are an error; gaps among numbers
    stay as they are, see `fill_gaps`.
    """
    asked["has_target"] = has_target
    roles = find_roles(data, target, sample_weight=sample_weight, missing=missing, **asked)
    source, column = roles.source, roles.weight_column
    kept = names_in_errors(roles.target_columns, source.names)
    if column is not None:
        kept[column] = "`sample_weight`"
    if roles.within_column is not None:
        kept[roles.within_column] = "`permute_within`"
    table = source.read(roles.categorical, roles.skip, kept)
    given = None if column is not None else roles.sample_weight
    weights = source.weights(given, column, keep_whole=keep_whole_weights)
    if missing == "error":
        check_no_gaps(table)
    response = no_response(table.n_rows)
    if has_target:
        response, weights = source.response(
            roles.target, roles.target_columns, roles.task, response_encoding, weights
        )
    gaps = {c: gap_count(labels) for c, labels in table.labels.items()}
    return Problem(
        table,
        response,
        weights,
        roles.groups,
        roles.include,
        roles.exclude,
        roles.skip,
        missing,
        {c: count for c, count in gaps.items() if count},
        n_dropped=roles.n_dropped,
        readings=roles.readings,
        strata=_strata(source, roles.within_column, asked.get("permute_within")),
    )


def _strata(source: Source, column: int | None, labels: Any) -> Any:
    """Return the labels within which rows are permuted, one for each row; None if there are none.

    They have to be here, all of them. Rows without a label are exchanged with each other.
    """
    if column is None:
        return labels
    (read,) = read_target(source.column(column), source.n_rows, "`permute_within`")
    missing = read.missing()
    if missing is None:
        return read.labels().codes
    return np.unique(np.where(missing, "", read.values.astype(str)), return_inverse=True)[1]


def fill_gaps(problem: Problem) -> Problem | None:
    """Return the problem with gaps among numbers filled, None if there are none to be filled."""
    if problem.missing not in FILLS or problem.is_filled:
        return None
    indicated = problem.missing == "indicator"
    gaps = find_gaps(problem.table, problem.skip, problem.weights, indicated=indicated)
    if not gaps.counts:
        return None
    counts = {**problem.gaps, **gaps.counts}
    return replace(problem, table=gaps.fill(problem.table), gaps=counts, is_filled=True)


def find_all_gaps(data: Any, target: Any, asked: Mapping[str, Any]) -> NonFiniteError | None:
    """Return the error that names all columns at fault, None if there are none.

    The arguments are those of `select`, which has met a value that is missing or infinite.
    """
    known = {"task", "categorical_features", "groups", "include", "exclude", "sample_weight"}
    known = (known | {"dates", "permute_within", "has_target"}) & set(asked)
    with catch_warnings():
        simplefilter("ignore")  # they have been heard
        roles = find_roles(data, target, **{name: asked[name] for name in known})
        allowed = asked["missing"] != "error"
        return gaps_error(
            roles.source, *roles.candidates, roles.apart, roles.beside, allowed=allowed
        )


def set_apart(
    X: Any, y: Any, sample_weight: Any, said: Mapping[str, Any], *, has_target: bool = True
) -> tuple[Any, Any, Sequence[str], dict[str, Any]]:
    """Look at a table whose columns have names, once, and put the response and the weights last.

    The place of a feature is then that among the features alone, as `fit` counts them. Returned
    are the table, the response (as for `select`: names of columns, or values), the names of the
    features, and what was said of columns, by their places.
    """
    X = open_named(X)
    y = X.find_target(y) if isinstance(X, Dataset) and has_target else y
    names = X.names
    targets = find_columns(response_columns(y, names) if has_target else None, names, "y")
    named = sample_weight if isinstance(sample_weight, str) else None
    weights = find_columns(named, names, "sample_weight")
    check_one_role({"target": targets, "sample_weight": weights}, names)
    y = y if targets else as_values(y)
    last = [*targets, *weights]
    called = names  # where columns are named; not x0, x1, ... if some are taken out
    apart = set(last)
    if apart:
        rest = [c for c in range(len(names)) if c not in apart]
        check_some_left(len(rest))
        called = [names[c] for c in rest]
        names = NumberedNames(len(rest)) if isinstance(names, NumberedNames) else called
        X = X.reordered([*rest, *last])
    groups = find_groups(said["groups"], called)
    placed: dict[str, Any] = {"groups": groups or None}
    for argument in ("include", "exclude"):
        spec = said[argument]
        placed[argument] = None if spec is None else find_columns(spec, called, argument, groups)
    spec = said["categorical_features"]
    is_word = spec is None or (isinstance(spec, str) and spec in _WORDS)
    placed["categorical_features"] = spec if is_word else _named_categorical(spec, called)
    return X, y, names, placed


def take_target(X: Any, y: Any) -> tuple[list[str], Any, Any]:
    """Take the response out of a dataframe that has it, by the name of its column or columns.

    Returned are those names, the other columns, and the values; none are taken where y has values.
    """
    if isinstance(y, (str, list, tuple)) and (found := split_frame(X, y)) is not None:
        return found
    return [], X, as_values(y)


def as_values(y: Any) -> Any:
    """Keep text from being taken for columns' names, where only values are offered."""
    if isinstance(y, str):
        return np.array([y])
    has_text = isinstance(y, (list, tuple)) and any(isinstance(value, str) for value in y)
    return np.array(y, dtype=object) if has_text else y


def _named_categorical(spec: ColumnSpec, names: Sequence[str]) -> list[int]:
    """Return the columns that users call categorical one by one, not by a word for all."""
    is_word = isinstance(spec, str) and spec in _WORDS
    return find_columns(None if is_word else spec, names, "categorical_features")


def _categorical(
    source: Source, spec: ColumnSpec, skip: set[int], targets: Sequence[int]
) -> set[int]:
    if spec is None:
        return set()
    if isinstance(spec, str) and spec == "all":
        return set(range(len(source.names))) - skip
    by_dtype = source.first.categorical_columns()
    if isinstance(spec, str) and spec == "from_dtype":
        return by_dtype - skip
    named = find_columns(spec, source.names, "categorical_features")
    quantities = [source.names[c] for c in named if c in targets and c not in by_dtype]
    if quantities:
        raise InputError(
            f"`categorical_features` should name features; {listing(quantities)} is a target, and "
            f"holds numbers. For classes pass `task='classification'`, or turn it into text."
        )
    return (by_dtype | set(named)) - skip


# How many features to select


def target_in_code(names: Sequence[str]) -> str:
    """Return what to write for the response in a call; without names, values were given."""
    if not names:
        return "target"
    return repr(names[0] if len(names) == 1 else list(names))


def check_count(wanted: Any) -> None:
    """Raise for what is no count, no fraction and not None."""
    is_fraction = isinstance(wanted, numbers.Real) and 0.0 < float(wanted) < 1.0
    is_count = is_whole(wanted) and wanted >= 1
    is_word = isinstance(wanted, str) and wanted == "auto"
    if wanted is not None and not is_fraction and not is_count and not is_word:
        raise InputError(
            f"`n_features_to_select` should be a whole number of at least 1, a fraction in (0, 1), "
            f"'auto', or 'cv' where a table in memory is selected from; got {wanted!r}."
        )


def count_to_select(wanted: Any, available: int, n_included: int) -> int:
    """Turn a count, a fraction or None into how many of the available features to select."""
    check_count(wanted)
    if wanted is None:
        check_some_left(available)
        return min(max(_USUAL_COUNT, n_included), available)
    if isinstance(wanted, str):  # as many as turn out to be significant
        check_some_left(available)
        return available
    share = max(1, int(float(wanted) * available + 1e-9))  # 0.29 * 100 is a bit below 29
    size = int(wanted) if is_whole(wanted) else share
    if n_included > size:
        raise InputError(
            f"`n_features_to_select` should be at least the number of features in `include`, "
            f"{n_included}; got {wanted!r}."
        )
    check_some_left(available)
    if size > available:
        warn(TooManyRequestedWarning(size, available))
    return min(size, available)


def check_some_left(available: int) -> None:
    """Raise where no column is left to be a feature."""
    if not available:
        raise InputError(
            "there should be features to choose from; the target, the weights and what is in "
            "`exclude` are all columns of the table."
        )
