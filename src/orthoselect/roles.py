"""What each column of a table is for, settled once.

`select`, the selectors, `compare`, `GramStatistics`, reports and the command all come through here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from orthoselect.column_spec import (
    ColumnSpec,
    check_one_role,
    find_asked,
    find_columns,
    find_groups,
    is_whole,
)
from orthoselect.encode import Feature, NumberedNames
from orthoselect.encode.gaps import FILLS
from orthoselect.encode.response import check_choice
from orthoselect.errors import (
    InputError,
    LeftOutWarning,
    listing,
    warn,
)
from orthoselect.read import (
    DATES_AS,
    Dataset,
    Readings,
    Source,
    drop_missing,
    drop_rows,
    open_named,
    open_source,
    read_given,
    response_columns,
    sift,
    split_frame,
    why_not_whole,
)

_WORDS = ("from_dtype", "all")  # said of all columns as `categorical_features`


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
    if isinstance(data, Dataset):
        readings = replace(readings, left_out=data.left_out)
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
            "`target` should name the column to explain, or be its values; the target y is None. "
            f"The columns are {listing(data.names)}. Only `method='unsupervised'` needs no target."
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


def target_in_code(names: Sequence[str]) -> str:
    """Return what to write for the response in a call; without names, values were given."""
    if not names:
        return "target"
    return repr(names[0] if len(names) == 1 else list(names))


def check_some_left(available: int) -> None:
    """Raise where no column is left to be a feature."""
    if not available:
        raise InputError(
            "there should be features to choose from; the target, the weights and what is in "
            "`exclude` are all columns of the table."
        )
