"""From what was typed to a table that can be selected from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from orthoselect.cli.columns import find_groups, find_names
from orthoselect.errors import InputError, listing
from orthoselect.read import (
    Dataset,
    drop_missing,
    open_source,
    read_source,
    read_target,
    sift,
)


@dataclass(frozen=True)
class Asked:
    """What was typed about the table; see `options.py` for what each means."""

    source: str
    target: Sequence[str] = ()
    categorical: Sequence[str] = ()
    group: Sequence[str] = ()
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    drop: Sequence[str] = ()
    weights: str | None = None
    missing: str = "error"
    delimiter: str | None = None
    encoding: str | None = None
    header: bool = True
    format: str | None = None


@dataclass(frozen=True)
class Loaded:
    """A table, and what is wanted of its columns.

    Attributes
    ----------
    dataset : Dataset
    target : str or array
        A column's name, or values.
    target_name : str
        What to call it.
    options : dict
        What `select` and `compare` are to know of the columns.
    weights : array or None
    """

    dataset: Dataset
    target: Any
    target_name: str
    options: dict[str, Any] = field(default_factory=dict)
    weights: Any = None


def load(asked: Asked) -> Loaded:
    """Read the table, leave out what cannot be selected from, see to missing values."""
    dataset = read_source(
        asked.source,
        format=asked.format,
        delimiter=asked.delimiter,
        encoding=asked.encoding,
        header=asked.header,
        drop=asked.drop,
    )
    names = dataset.names
    targets = _targets(asked, dataset)
    weights = find_names([asked.weights], names, "--weights") if asked.weights else []
    if len(weights) > 1:
        raise InputError(f"`--weights` should name one column; got {listing(weights)}.")
    chosen = {
        "categorical_features": find_names(asked.categorical, names, "--categorical"),
        "include": find_names(asked.include, names, "--include") or None,
        "groups": find_groups(asked.group, names),
    }
    excluded = find_names(asked.exclude, names, "--exclude")
    _check_apart(targets, weights, {**chosen, "exclude": excluded})
    keep = [*chosen["categorical_features"], *(chosen["include"] or [])]
    keep += [name for columns in (chosen["groups"] or {}).values() for name in columns]
    dataset = sift(dataset, targets, keep=[*keep, *weights], skip=excluded)
    dataset = drop_missing(dataset, asked.missing, [*targets, *weights], skip=excluded)
    skip = list(dict.fromkeys([*excluded, *dataset.left_out, *weights, *targets[1:]]))
    chosen["categorical_features"] = chosen["categorical_features"] or "from_dtype"
    target, target_name = _target_values(dataset, targets)
    _check_varies(target if not isinstance(target, str) else _column(dataset, target), target_name)
    if len(targets) > 1:
        skip = list(dict.fromkeys([*targets, *skip]))
    return Loaded(
        dataset,
        target,
        target_name,
        {**chosen, "exclude": skip or None},
        np.asarray(_column(dataset, weights[0])) if weights else None,
    )


def _targets(asked: Asked, dataset: Dataset) -> list[str]:
    """Return the names of the target's columns; none where its values stand apart."""
    if asked.target:
        if dataset.target_name is not None and list(asked.target) == [dataset.target_name]:
            return [dataset.target] if isinstance(dataset.target, str) else []
        return find_names(asked.target, dataset.names, "--target")
    if dataset.target is None:
        raise InputError(
            f"`--target` should name the column to explain; `{dataset.name}` does not tell which "
            f"one that is. Its columns are {listing(dataset.names)}."
        )
    return [dataset.target] if isinstance(dataset.target, str) else []


def _check_apart(targets: Sequence[str], weights: Sequence[str], chosen: dict[str, Any]) -> None:
    """Raise where a column is to be two things."""
    roles = {"--target": targets, "--weights": weights}
    roles["--include"] = chosen["include"] or []
    roles["--exclude"] = chosen["exclude"]
    seen: dict[str, str] = {}
    for role, columns in roles.items():
        for name in columns:
            if name in seen:
                raise InputError(
                    f"a column should have one role; `{name}` is named in `{seen[name]}` and in "
                    f"`{role}`."
                )
            seen[name] = role
    groups = chosen["groups"] or {}
    for name in [*(n for columns in groups.values() for n in columns)]:
        if seen.get(name) in ("--target", "--weights"):
            raise InputError(
                f"a column should have one role; `{name}` is named in `{seen[name]}` and in "
                f"`--group`."
            )


def _target_values(dataset: Dataset, targets: list[str]) -> tuple[Any, str]:
    if not targets:
        return dataset.target, dataset.target_name or "target"
    if len(targets) == 1:
        return targets[0], targets[0]
    return dataset.data.select(targets), ", ".join(targets)


def _column(dataset: Dataset, name: str) -> Any:
    source = open_source(dataset.data)
    return source.column(list(source.names).index(name))


def _check_varies(values: Any, name: str) -> None:
    """Raise for a target that is the same in all rows: the library would only warn."""
    for column in read_target(values, len(values)):
        first = column.values[0]
        if all(value == first for value in column.values[1:]):
            raise InputError(
                f"the target `{name}` should have at least two classes or unlike numbers; every "
                f"row has {first!r}. Choose another `--target`, or more rows."
            )
