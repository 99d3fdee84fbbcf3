"""Columns that cannot be features: identifiers, dates, and what holds nothing to compare."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from orthoselect.errors import (
    InputError,
    LeftOutWarning,
    LooksNumericWarning,
    ShapeError,
    listing,
    warn,
)
from orthoselect.read.blocks import response_columns
from orthoselect.read.columns import columns_of
from orthoselect.read.dataset import Dataset


def sift(dataset: Dataset, target: Any, keep: Collection[str] = ()) -> Dataset:
    """Leave out the columns of a source that are no features, and warn which these are.

    Left out are text that is different in each of more than ten rows, dates and times (also as
    text), columns without any value, lists, records and bytes, and the row index that pandas
    stores beside a table. Another warning names the columns of text that looks like numbers
    ("1,200", "12%", or "-" for a missing one), whether these are left out or not.

    Parameters
    ----------
    dataset : Dataset
    target : str, list of str, array-like or None
        As for `Dataset.find_target`. A target that could not be a feature either is an error.
    keep : names, optional
        Columns that stay whatever they hold, for example those the user has named.

    Returns
    -------
    dataset : Dataset
        With these columns in `left_out`.

    Examples
    --------
    >>> import warnings
    >>> import pyarrow as pa
    >>> ids = [f"id{row}" for row in range(12)]
    >>> people = pa.table({"id": ids, "age": range(12), "ill": [0, 1] * 6})
    >>> people = Dataset(people, people.column_names)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     sift(people, "ill").left_out
    {'id': 'identifier: all values are distinct text'}
    """
    found = dataset.find_target(target)
    named = response_columns(found, dataset.names)
    _check_target(dataset, found, named)
    skip = {*keep, *named, *dataset.left_out}
    candidates = {at: name for at, name in enumerate(dataset.names) if name not in skip}
    reasons = {name: dataset.columns.reason_against(at, name) for at, name in candidates.items()}
    new = {name: reason for name, reason in reasons.items() if reason is not None}
    like = {name: dataset.columns.numbers_as_text(at) for at, name in candidates.items()}
    numbers = {name: counts for name, counts in like.items() if counts is not None}
    if numbers:
        warn(LooksNumericWarning(numbers))
    if new:
        left_out = {**dataset.left_out, **new}
        if len({*dataset.names} - {*named, *left_out}) == 0:
            raise ShapeError(
                f"`{dataset.name}` should have columns to choose from; all are left out, "
                f"{listing(f'{name} ({reason})' for name, reason in left_out.items())}."
            )
        warn(LeftOutWarning(new, "Name a column as categorical, or include it, to keep it."))
        return replace(dataset, left_out=left_out, unsifted=False)
    return replace(dataset, unsifted=False) if dataset.unsifted else dataset


def _check_target(dataset: Dataset, target: Any, named: list[str]) -> None:
    reasons = {name: dataset.columns.reason_against(dataset.position(name), name) for name in named}
    if isinstance(target, np.ndarray) and target.ndim == 1:
        values = columns_of(target[:, np.newaxis])
        reasons[dataset.target_name or "y"] = values.reason_against(0, "")
    for called, reason in reasons.items():
        _check_reason(called, reason)


def _check_reason(called: str, reason: str | None) -> None:
    if reason is not None:
        raise InputError(
            f"the target should hold classes or numbers; `{called}` holds none of these "
            f"({reason}). Name another column."
        )


def check_varies(dataset: Dataset, target: Any) -> None:
    """Raise for a target that is the same in all rows, of which `select` would only warn."""
    found = dataset.find_target(target)
    named = response_columns(found, dataset.names)
    columns = [(name, dataset.columns.parts(dataset.position(name))) for name in named]
    if not named:
        called = dataset.target_name or "target"
        columns = [(called, iter([values])) for values in np.atleast_2d(np.asarray(found).T)]
    for called, parts in columns:
        held = _first_values(parts)
        if len(held) == 1:
            raise InputError(
                f"the target `{called}` should have at least two classes or unlike numbers; every "
                f"row has {held.pop()!r}. Choose another `target`, or more rows."
            )


def _first_values(parts: Iterable[Any]) -> set[Any]:
    """Return the values of the blocks of a column, as far as there are two."""
    held: set[Any] = set()
    for values in parts:
        if not isinstance(values, np.ndarray):
            values = np.array(values.unique().to_pylist(), dtype=object)
        held.update((values if values.dtype == object else np.unique(values)).tolist())
        if len(held) > 1:
            break
    return held
