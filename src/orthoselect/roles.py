"""What each column of a table is for, settled once; and the table and response, read.

`select`, the selectors, `compare`, `GramStatistics`, reports and the command all come through here.
What users say of columns, groups and sizes is checked at the end.
"""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from orthoselect.encode import NumberedNames, Response, Table
from orthoselect.encode.gaps import FILLS, check_no_gaps, find_gaps, gap_count
from orthoselect.encode.response import check_choice
from orthoselect.errors import (
    InputError,
    LeftOutWarning,
    NonFiniteError,
    ShapeError,
    TooManyRequestedWarning,
    UnknownColumnError,
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
    response_columns,
    sift,
    split_frame,
    why_not_whole,
)

_WORDS = ("from_dtype", "all")  # said of all columns as `categorical_features`
_USUAL_COUNT = 10  # features to select where nobody says how many
ColumnSpec = Any  # names, indices or a boolean mask; one of them may stand alone


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

    @property
    def candidates(self) -> tuple[list[int], list[int]]:
        """The columns to choose from: those of numbers, and those of labels."""
        rest = [c for c in range(len(self.source.names)) if c not in self.skip]
        labeled = sorted(self.categorical)
        return [c for c in rest if c not in self.categorical], labeled

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
    fewest_rows: int = 2,
) -> Roles:
    """Look at a table of any kind, and settle what each column is for; arguments as of `select`.

    A table in memory has to have at least `fewest_rows`. Unless missing values are an error, rows
    without a target or a weight are dropped before columns are judged; rows with other gaps are
    dropped if `missing` says so.
    """
    source = open_source(data, fewest_rows)
    if isinstance(data, Dataset):
        target = data.find_target(target)
        task = data.task if task == "auto" and target is data.target else task
    data, names = _as_dataset(data, source), _stored_names(data, source)
    target = _named_target(target, names)
    asked, grouped = find_asked(names, target, groups, include, exclude, sample_weight)
    spec = categorical_features
    is_word = isinstance(spec, str) and spec in _WORDS
    labeled = find_columns(None if is_word else spec, names, "categorical_features")
    if not asked["target"]:
        _check_given(target, names, data)
        target = read_given(target, getattr(data, "target_name", None) or "y")
        data = _without_target(data, source, target, asked, grouped)
    n_dropped = data.n_dropped if isinstance(data, Dataset) else 0
    if missing != "error":
        data, source, target, sample_weight, more = _with_targets(
            data, source, target, sample_weight, asked
        )
        n_dropped += more
    data, source = _sifted(data, source, asked, grouped, labeled, dates)
    if missing != "error" and set(asked["target"]) & set(source.readings.numbers):
        # Where text was read as numbers some are missing that were not before.
        data, source, target, sample_weight, more = _with_targets(
            data, source, target, sample_weight, asked
        )
        n_dropped += more
    unfit, readings = [], Readings(names)
    if isinstance(data, Dataset):
        unfit = find_columns(list(data.left_out), names, "exclude")
        readings = data.readings or readings
    apart = {*asked["target"], *asked["sample_weight"]}
    left_out = list(dict.fromkeys([*asked["exclude"], *unfit]))
    # Unlike in a command, the response may be named in `exclude`: a rule for several may do so.
    asked["exclude"] = [column for column in left_out if column not in apart]
    check_one_role(asked, names, grouped if isinstance(groups, Mapping) else {})
    skip = {*left_out, *apart, *readings.dates}
    grouped, included = _with_parts(readings, grouped, asked["include"], set(left_out))
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
    )
    return _without_gaps(roles) if missing == "drop_rows" else roles


def _apart(targets: Sequence[int], weights: Sequence[int]) -> dict[int, str]:
    return dict.fromkeys(targets, "the target") | dict.fromkeys(weights, "the weights")


def _with_targets(
    data: Any, source: Source, target: Any, sample_weight: Any, asked: Mapping[str, Sequence[int]]
) -> tuple[Any, Source, Any, Any, int]:
    """Drop the rows that lack a target or a weight."""
    named, weight = asked["target"], asked["sample_weight"]
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


def _stored_names(data: Any, source: Source) -> Sequence[str]:
    """Return the names of the columns that the table has, without those made of dates."""
    return data.names if isinstance(data, Dataset) else source.names


def _as_dataset(data: Any, source: Source) -> Any:
    """Return a table that has not been looked at as a data set, arrays of numbers as they are."""
    if isinstance(data, Dataset) or source.first.is_plain:
        return data
    return Dataset(data, source.names, format="frame", unsifted=True)


def _named_target(target: Any, names: Sequence[str]) -> Any:
    """Return the name of a column that is given by its position, unless that is a name itself."""
    if not is_whole(target):
        return target
    at = [str(target)] if str(target) in names else find_columns(target, names, "target")
    return at[0] if isinstance(at[0], str) else names[at[0]]


def _check_given(target: Any, names: Sequence[str], data: Any) -> None:
    """Raise where no response is given with a table whose columns have names."""
    if target is None and isinstance(data, Dataset) and not isinstance(names, NumberedNames):
        raise InputError(
            f"`target` should name the column to explain, or be its values: this requires y to be "
            f"passed, but the target y is None. The columns are {listing(names)}."
        )


def _without_target(
    data: Any,
    source: Source,
    target: Any,
    asked: Mapping[str, Sequence[int]],
    groups: Mapping[str, Sequence[int]],
) -> Any:
    """Leave out columns that hold the very values of the response, and warn of them."""
    if not isinstance(data, Dataset) or not data.unsifted:
        return data
    spoken_of = {*chain.from_iterable(asked.values()), *chain.from_iterable(groups.values())}
    twins = [data.names[c] for c in source.columns_like(target) if c not in spoken_of]
    if not twins:
        return data
    found = dict.fromkeys(twins, "it holds the values of the target")
    warn(LeftOutWarning(found, "Give its name as the target, or include it to keep it."))
    return replace(data, left_out={**data.left_out, **found})


def _sifted(
    data: Any,
    source: Source,
    asked: Mapping[str, list[int]],
    groups: Mapping[str, list[int]],
    labeled: Sequence[int],
    dates: str,
) -> tuple[Any, Source]:
    """Leave out the columns that are no features, and settle how others are read."""
    check_choice(dates, DATES_AS, "dates")
    if not isinstance(data, Dataset) or not data.unsifted:
        return data, source
    names = data.names
    kept = [*labeled, *asked["exclude"]]
    readings = sift(
        source,
        targets=[names[c] for c in asked["target"]],
        keep=[names[c] for c in (*kept, *asked["sample_weight"])],
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
    a target go before columns are judged.
    """
    target, names = dataset.find_target(target), dataset.names
    asked, grouped = find_asked(names, target, groups, include, exclude, sample_weight)
    check_one_role(asked, names, grouped)
    if missing != "error":
        dataset = drop_missing(dataset, "drop_targetless", target, weights=sample_weight)
        complete = [names[c] for c in [*asked["target"], *asked["sample_weight"]]]
        dataset = replace(dataset, complete=complete)
        target = dataset.target if isinstance(target, np.ndarray) else target
    source = open_source(dataset, 1)
    dataset = replace(dataset, unsifted=True)
    is_word = isinstance(categorical_features, str) and categorical_features in _WORDS
    spec = None if is_word else categorical_features
    labeled = find_columns(spec, names, "categorical_features")
    dataset, _ = _sifted(dataset, source, asked, grouped, labeled, dates)
    # Of blocks, whoever reads them complains: to ask now would take a pass over all columns.
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


def find_asked(
    names: Sequence[str],
    target: Any,
    groups: Any,
    include: ColumnSpec,
    exclude: ColumnSpec,
    sample_weight: Any,
) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Return the columns of each role that users speak of, and those of each group."""
    grouped = find_groups(groups, names)
    weights = sample_weight if isinstance(sample_weight, str) else None
    asked = {
        "target": find_columns(response_columns(target, names), names, "target"),
        "sample_weight": find_columns(weights, names, "sample_weight"),
        "exclude": find_columns(exclude, names, "exclude", grouped),
        "include": find_columns(include, names, "include", grouped),
    }
    return asked, grouped


def open_problem(
    data: Any,
    target: Any,
    *,
    response_encoding: str = "dummy",
    sample_weight: Any = None,
    keep_whole_weights: bool = False,
    missing: str = "error",
    **asked: Any,
) -> Problem:
    """Read a table and a response of any kind; the arguments are those of `select`.

    `keep_whole_weights` says whether weights that are whole numbers stay as they are. A gap in a
    column of labels is a level of its own, unless missing values are an error; gaps among numbers
    stay as they are, see `fill_gaps`.
    """
    roles = find_roles(data, target, sample_weight=sample_weight, missing=missing, **asked)
    source, column = roles.source, roles.weight_column
    kept = names_in_errors(roles.target_columns, source.names)
    if column is not None:
        kept[column] = "`sample_weight`"
    table = source.read(roles.categorical, roles.skip, kept)
    given = None if column is not None else roles.sample_weight
    weights = source.weights(given, column, keep_whole=keep_whole_weights)
    if missing == "error":
        check_no_gaps(table)
    response, weights = source.response(
        roles.target, roles.target_columns, roles.task, response_encoding, weights
    )
    return Problem(
        table,
        response,
        weights,
        roles.groups,
        roles.include,
        roles.exclude,
        roles.skip,
        missing,
        {c: gap_count(labels) for c, labels in table.labels.items() if gap_count(labels)},
        n_dropped=roles.n_dropped,
        readings=roles.readings,
    )


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
    known = (known | {"dates"}) & set(asked)
    with catch_warnings():
        simplefilter("ignore")  # they have been heard
        roles = find_roles(data, target, **{name: asked[name] for name in known})
        allowed = asked["missing"] != "error"
        return gaps_error(
            roles.source, *roles.candidates, roles.apart, roles.beside, allowed=allowed
        )


def set_apart(
    X: Any, y: Any, sample_weight: Any, said: Mapping[str, Any]
) -> tuple[Any, Any, Sequence[str], dict[str, Any]]:
    """Look at a table whose columns have names, once, and put the response and the weights last.

    The place of a feature is then that among the features alone, as `fit` counts them. Returned
    are the table, the response (as for `select`: names of columns, or values), the names of the
    features, and what was said of columns, by their places.
    """
    X = open_named(X)
    y = X.find_target(y) if isinstance(X, Dataset) else y
    names = X.names
    targets = find_columns(response_columns(y, names), names, "y")
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
    for argument in ("categorical_features", "include", "exclude"):
        spec, of_features = said[argument], argument == "categorical_features"
        if spec is not None and not (of_features and isinstance(spec, str) and spec in _WORDS):
            spec = find_columns(spec, called, argument, {} if of_features else groups)
        placed[argument] = spec
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


# What users may say about columns and sizes -> checked values


def find_columns(
    spec: ColumnSpec,
    names: Sequence[str],
    argument: str,
    groups: Mapping[str, Sequence[int]] = {},
    places: Mapping[str, int] | None = None,
) -> list[int]:
    """Turn names, indices or a mask into column indices, in the order given; None is no column.

    `argument` is what to call it in an error; `groups` are names that stand for several columns;
    `places` says where each name stands, for those who ask often.

    Examples
    --------
    >>> find_columns(["b", 0, -1], ["a", "b", "c"], "include")
    [1, 0, 2]
    >>> find_columns([True, False, True], ["a", "b", "c"], "include")
    [0, 2]
    """
    if spec is None:
        return []
    items = _items(spec, argument)
    if items and all(isinstance(item, (bool, np.bool_)) for item in items):
        if len(items) != len(names):
            raise ShapeError(
                f"`{argument}` as a mask should have one entry for each of the {len(names)} "
                f"columns; it has {len(items)}."
            )
        return np.flatnonzero(items).tolist()
    place = places or {}
    if places is None and not all(map(is_whole, items)):
        place = {name: at for at, name in enumerate(names)}
    found, unknown = [], []
    for item in items:
        if is_whole(item) and -len(names) <= int(item) < len(names):
            found.append(int(item) % len(names))
        elif isinstance(item, str) and item in place:
            found.append(place[item])
        elif isinstance(item, str) and item in groups:
            found.extend(groups[item])
        else:
            unknown.append(item)
    out_of_range = [item for item in unknown if is_whole(item)]
    if out_of_range:
        raise InputError(
            f"integers in `{argument}` should be positions, from 0 to {len(names) - 1} (or "
            f"negative, from the end); got {listing(out_of_range)}."
        )
    if unknown:
        raise UnknownColumnError(argument, unknown, [*names, *groups])
    return found


def _items(spec: Any, argument: str) -> list[Any]:
    if isinstance(spec, (str, numbers.Integral)):
        return [spec]
    try:
        return list(spec)
    except TypeError:
        raise InputError(
            f"`{argument}` should be a list of names or indices, or a mask; got {spec!r}."
        ) from None


def is_whole(value: Any) -> bool:
    """Whether it is a whole number, and no truth value."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def target_in_code(names: Sequence[str]) -> str:
    """Return what to write for the response in a call; without names, values were given."""
    if not names:
        return "target"
    return repr(names[0] if len(names) == 1 else list(names))


def find_groups(groups: Any, names: Sequence[str]) -> dict[str, list[int]]:
    """Turn a mapping of names to columns, or a label per column, into disjoint groups."""
    if groups is None:
        return {}
    if isinstance(groups, Mapping):
        places = {name: at for at, name in enumerate(names)}
        found = {
            str(name): find_columns(spec, names, f"groups[{name!r}]", places=places)
            for name, spec in groups.items()
        }
        if len(found) < len(groups):
            raise InputError(f"`groups` should have unlike names; got {listing(groups)}.")
    else:
        found = _groups_from_labels(_items(groups, "groups"), names)
    taken = set(names)
    clashing = [
        name
        for name, columns in found.items()
        if name in taken and name not in {names[column] for column in columns}
    ]
    if clashing:
        raise InputError(
            f"groups should have names of their own; {listing(clashing)} is another column's. "
            f"Rename the group."
        )
    empty = [name for name, columns in found.items() if not columns]
    if empty:
        raise InputError(f"every group should have columns; {listing(empty)} has none.")
    counts = Counter(column for columns in found.values() for column in columns)
    twice = [names[column] for column, count in counts.items() if count > 1]
    if twice:
        raise InputError(
            f"a column should be in one group at most; {listing(twice)} is in several "
            f"(or twice in one)."
        )
    return found


def _groups_from_labels(labels: list[Any], names: Sequence[str]) -> dict[str, list[int]]:
    if len(labels) != len(names):
        raise ShapeError(
            f"`groups` should be a mapping, or one label for each of the {len(names)} columns; "
            f"it has {len(labels)} labels."
        )
    found: dict[str, list[int]] = {}
    for column, label in enumerate(labels):
        if not isinstance(label, Hashable):
            raise InputError(f"`groups` should hold names or numbers as labels; got {label!r}.")
        # What is missing says that its column stands on its own.
        is_gap = label is None or type(label).__name__ == "NAType"
        if not (is_gap or (isinstance(label, (float, np.floating)) and label != label)):
            found.setdefault(str(label), []).append(column)
    return found


def check_one_role(
    roles: Mapping[str, Iterable[int]],
    names: Sequence[str],
    groups: Mapping[str, Sequence[int]] = {},
) -> None:
    """Raise where a column has two roles, or is included twice.

    `roles` are the columns of "target", "sample_weight", "exclude" and "include". Members of groups
    may be included and excluded, but are features.
    """
    roles_of: dict[int, str] = {}
    for role, columns in roles.items():
        words = "the target" if role == "target" else f"in `{role}`"
        for column in columns:
            other = roles_of.setdefault(column, words)
            if other != words:
                raise _two_roles(names[column], other, words)
    include = list(roles.get("include", ()))
    twice = [names[column] for column, count in Counter(include).items() if count > 1]
    if twice:
        raise InputError(f"`include` should name each column once; {listing(twice)} is repeated.")
    apart = {*roles.get("target", ()), *roles.get("sample_weight", ())}
    for group, members in groups.items():
        for column in members:
            if column in apart:
                raise _two_roles(names[column], roles_of[column], f"in the group `{group}`")


def _two_roles(name: str, one: str, other: str) -> InputError:
    return InputError(f"a column should have one role; `{name}` is {one} and {other}.")


def check_count(wanted: Any) -> None:
    """Raise for what is no count, no fraction and not None."""
    is_fraction = isinstance(wanted, numbers.Real) and 0.0 < float(wanted) < 1.0
    is_count = is_whole(wanted) and wanted >= 1
    if wanted is not None and not is_fraction and not is_count:
        raise InputError(
            f"`n_features_to_select` should be a whole number of at least 1 or a fraction in "
            f"(0, 1); got {wanted!r}."
        )


def count_to_select(wanted: Any, available: int, n_included: int) -> int:
    """Turn a count, a fraction or None into how many of the available features to select."""
    check_count(wanted)
    if wanted is None:
        check_some_left(available)
        return min(max(_USUAL_COUNT, n_included), available)
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
