"""What has to go before a file can be selected from: columns that are no features, and gaps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode.gaps import check_missing
from orthoselect.errors import (
    InputError,
    LeftOutWarning,
    LooksNumericWarning,
    NonFiniteError,
    RowsDroppedWarning,
    ShapeError,
    UnknownColumnError,
    counted,
    listing,
    warn,
)
from orthoselect.read.columns import Gaps, column_of, look_at
from orthoselect.read.dataset import Dataset
from orthoselect.read.row_blocks import response_columns

_DROP_ROWS = "--missing drop-rows"


def sift(dataset: Dataset, target: Any, keep: Collection[str] = ()) -> Dataset:
    """Leave out the columns of a source that are no features, and warn which these are.

    Left out are text that is different in each of more than ten rows, dates and times (also as
    text), columns without any value, lists, records and bytes, and the row index that pandas
    stores beside a table. Another warning names the columns of text that looks like numbers
    ("1,200", "12%", or "-" for a missing one), whether these are left out or not. Columns to
    `keep` stay whatever they hold; a target that could not be a feature either is an error.

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
    targets = {name: dataset.look(dataset.places[name]) for name in named}
    if isinstance(found, np.ndarray) and found.ndim == 1:
        targets[dataset.target_name or "y"] = look_at(found, "")
    for called, look in targets.items():
        if look.reason is not None:
            raise InputError(
                f"the target should hold classes or numbers; `{called}` holds none of these "
                f"({look.reason}). Name another column."
            )
    skip = {*keep, *named, *dataset.left_out}
    looks = {name: dataset.look(at) for at, name in enumerate(dataset.names) if name not in skip}
    numbers = {name: look.numbers for name, look in looks.items() if look.numbers}
    if numbers:
        warn(LooksNumericWarning(numbers))
    new = {name: look.reason for name, look in looks.items() if look.reason}
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


def check_varies(dataset: Dataset, target: Any) -> None:
    """Raise for a target that is the same in all rows, of which `select` would only warn."""
    found = dataset.find_target(target)
    named = response_columns(found, dataset.names)
    columns: list[tuple[str, Iterable[Any]]] = []
    for name in named:
        parts = dataset.parts([dataset.places[name]])
        columns.append((name, (column_of(block, at[0]) for block, at in parts)))
    if not named:
        called = dataset.target_name or "target"
        columns = [(called, [values]) for values in np.atleast_2d(np.asarray(found).T)]
    for called, blocks in columns:
        held: set[Any] = set()
        for values in blocks:
            if not isinstance(values, np.ndarray):
                values = np.array(values.unique().to_pylist(), dtype=object)
            held.update((values if values.dtype == object else np.unique(values)).tolist())
            if len(held) > 1:
                break
        if len(held) == 1:
            raise InputError(
                f"the target `{called}` should have at least two classes or unlike numbers; every "
                f"row has {held.pop()!r}. Choose another `target`, or more rows."
            )


def drop_missing(
    dataset: Dataset,
    how: str = "error",
    target: Any = None,
    *,
    weights: str | None = None,
    exclude: Collection[str] = (),
) -> Dataset:
    """Rid a table of missing values, null and NaN.

    "error" says which columns have some; "drop_rows" drops the rows that have any, "drop_columns"
    leaves the columns out, "drop_targetless" leaves all else to others; these three drop rows
    without a target or weight, and warn of what was dropped. Infinity is an error. Values of a
    target that are not the source's own are not looked at: their rows could not be dropped. Columns
    in `exclude` and `dataset.left_out` may hold anything.

    Examples
    --------
    >>> import warnings
    >>> gap = Dataset(np.array([[1.0, np.nan], [2, 3], [4, 5]]), ["a", "b"], np.array([0, 1, 0]))
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     drop_missing(gap, "drop_rows").n_rows, drop_missing(gap, "drop_columns").left_out
    (2, {'b': '1 missing of 3 values'})
    """
    how = check_missing(how, also=["drop_columns", "drop_targetless"])
    if weights is not None and weights not in dataset.places:
        raise UnknownColumnError("weights", [weights], dataset.names)
    if how == "drop_targetless":
        return _Missing(dataset, target, weights, dataset.names).without_rows()
    if how == "error":
        _Missing(dataset, target, weights, exclude).check()
        return dataset
    if how == "drop_rows":
        return _Missing(dataset, target, weights, exclude).without_rows()
    dataset = drop_missing(dataset, "drop_targetless", target, weights=weights)
    return _Missing(dataset, target, weights, exclude).without_columns()


class _Missing:
    """What is missing in the candidates, and in the target and the weights."""

    def __init__(
        self, dataset: Dataset, target: Any, weights: str | None, exclude: Collection[str]
    ) -> None:
        self._dataset = dataset
        found = dataset.find_target(target)
        special = response_columns(found, dataset.names)
        special += [weights] if weights is not None else []
        skip = {*special, *exclude, *dataset.left_out}
        candidates = [at for at, name in enumerate(dataset.names) if name not in skip]
        self._n_candidates = len(candidates)
        self._gaps = dataset.gaps(candidates)
        self._special = dataset.gaps([dataset.places[name] for name in special])
        self._told = _told(self._gaps, dataset.names)
        self._told_special = _told(self._special, dataset.names)
        # Only the source's own values shrink with its rows.
        self._values: Dataset | None = None
        if found is dataset.target and isinstance(found, np.ndarray):
            self._values = Dataset(found[:, np.newaxis], [dataset.target_name or "y"])
            self._told_special += _told(self._values.gaps([0]), self._values.names)

    def check(self) -> None:
        """Raise if anything is missing."""
        told = [*self._told, *self._told_special]
        if not told:
            return
        if not self._gaps:  # a target or weights cannot be left out
            remedy = f"Drop the rows without a target or weight with `{_DROP_ROWS}`, or fill them."
        else:
            remedy = (
                f"Fill them with `--missing indicator`, drop them with `{_DROP_ROWS}` or "
                f"`--missing drop-columns`, or leave columns out with `--exclude`."
            )
            if self._told_special:
                special = ", ".join(self._told_special)
                remedy += f" In the target or weights, {special}, only `--missing` helps."
        more = f" and {len(told) - 5} more" if len(told) > 5 else ""
        raise InputError(
            f"there should be no missing values; {len(told)} column(s) of `{self._dataset.name}` "
            f"have some: {', '.join(told[:5])}{more}. {remedy}"
        )

    def without_rows(self) -> Dataset:
        """Return the rows where nothing is missing."""
        self._check_finite()
        rows = self._special_rows() | self._dataset.rows_with_gaps(self._gaps)
        columns = [*self._told, *self._told_special]
        return self._kept(rows, f" in {', '.join(columns[:5])}" if columns else "")

    def _check_finite(self) -> None:
        gaps = {**self._gaps, **self._special}
        infinite = {self._dataset.names[at]: (0, n) for at, (_, n) in gaps.items() if n}
        if infinite:
            raise NonFiniteError(infinite)

    def without_columns(self) -> Dataset:
        """Return the table, whose rows all have a target, with its gappy columns left out."""
        self._check_finite()
        n_rows = self._dataset.n_rows
        left_out = {
            self._dataset.names[at]: f"{counted(*counts)} of {n_rows} values"
            for at, counts in self._gaps.items()
        }
        if left_out and len(left_out) == self._n_candidates:
            raise ShapeError(
                f"`--missing drop-columns` leaves no column of `{self._dataset.name}`: each has "
                f"missing values. Try `{_DROP_ROWS}`, or fill them."
            )
        if not left_out:
            return self._dataset
        warn(LeftOutWarning(left_out, "Fill the values, or drop rows instead, to keep them."))
        return replace(self._dataset, left_out={**self._dataset.left_out, **left_out})

    def _kept(self, gone: NDArray[np.bool_], where: str) -> Dataset:
        dropped, n_rows = int(gone.sum()), self._dataset.n_rows
        if not dropped:
            return self._dataset
        if dropped == n_rows:
            remedy = "Leave columns out with `--missing drop-columns` or `--exclude`."
            if self._special_rows().all():
                remedy = "No row has a target and a weight: name others."
            raise ShapeError(
                f"dropping rows with missing values leaves none of `{self._dataset.name}`: each "
                f"of the {n_rows} has one{where}. {remedy}"
            )
        warn(RowsDroppedWarning(dropped, n_rows, where))
        n_dropped = self._dataset.n_dropped + dropped
        return replace(self._dataset.take_rows(~gone), n_dropped=n_dropped)

    def _special_rows(self) -> NDArray[np.bool_]:
        rows = self._dataset.rows_with_gaps(self._special)
        return rows | self._values.rows_with_gaps([0]) if self._values else rows


def _told(gaps: Gaps, names: Sequence[str]) -> list[str]:
    return [f"`{names[at]}` ({counted(*counts)})" for at, counts in gaps.items()]
