"""Missing values: an error, or rows or columns fewer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.errors import (
    InputError,
    LeftOutWarning,
    RowsDroppedWarning,
    ShapeError,
    UnknownColumnError,
    listing,
    warn,
)
from orthoselect.read.blocks import response_columns
from orthoselect.read.columns import Columns, columns_of
from orthoselect.read.dataset import Dataset

_DROP_ROWS = "--missing drop-rows"
WAYS = ("error", "drop-rows", "drop-columns")


def drop_missing(
    dataset: Dataset,
    how: str = "error",
    target: Any = None,
    *,
    weights: str | None = None,
    exclude: Collection[str] = (),
) -> Dataset:
    """Rid a table of missing values: null, NaN and infinity.

    Parameters
    ----------
    dataset : Dataset
    how : {"error", "drop-rows", "drop-columns"}
        "error": say which columns have missing values. "drop-rows": drop the rows that have any.
        "drop-columns": leave the columns out that have any. Both drop the rows whose target or
        weight is missing. Either way a warning tells what was dropped.
    target : str, list of str, array-like or None
        As for `Dataset.find_target`. Values that are not the source's own are not looked at: their
        rows could not be dropped.
    weights : str, optional
        The column of row weights.
    exclude : names, optional
        Columns that may hold anything, besides those in `dataset.left_out`.

    Returns
    -------
    dataset : Dataset

    Examples
    --------
    >>> import warnings
    >>> gap = Dataset(np.array([[1.0, np.nan], [2, 3], [4, 5]]), ["a", "b"], np.array([0, 1, 0]))
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     drop_missing(gap, "drop-rows").n_rows, drop_missing(gap, "drop-columns").left_out
    (2, {'b': '1 missing of 3 values'})
    """
    if how not in WAYS:
        raise InputError(f"`missing` should be one of {listing(WAYS)}; got {how!r}.")
    if weights is not None and weights not in dataset:
        raise UnknownColumnError("weights", [weights], dataset.names)
    known = _Known(dataset, target, weights, exclude)
    if how == "error":
        known.check()
        return dataset
    return known.without_rows() if how == "drop-rows" else known.without_columns()


class _Known:
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
        self._gaps = dataset.columns.gaps(candidates)
        self._special = dataset.columns.gaps([dataset.position(name) for name in special])
        # Only the source's own values shrink with its rows.
        own = found is dataset.target and isinstance(found, np.ndarray)
        self._values: Columns | None = columns_of(found[:, np.newaxis]) if own else None

    def check(self) -> None:
        """Raise if anything is missing."""
        told = [*self._told(self._gaps), *self._told_special()]
        if told:
            columns = len(told)
            raise InputError(
                f"there should be no missing values; {columns} column(s) of "
                f"`{self._dataset.name}` have some: {', '.join(told[:5])}"
                f"{f' and {columns - 5} more' if columns > 5 else ''}. {self._remedy()}"
            )

    def _remedy(self) -> str:
        """Say what to do; a target or weights cannot be left out."""
        special = ", ".join(self._told_special())
        if not self._gaps:
            return f"Drop the rows without a target or weight with `{_DROP_ROWS}`, or fill them."
        remedy = (
            f"Drop them with `{_DROP_ROWS}` or `--missing drop-columns`, or leave columns out with "
            f"`--exclude`."
        )
        if not special:
            return remedy
        return f"{remedy} In the target or weights, {special}, only `--missing` helps."

    def without_rows(self) -> Dataset:
        """Return the rows where nothing is missing."""
        rows = self._special_rows() | self._dataset.columns.rows_with_gaps(self._gaps)
        columns = [*self._told(self._gaps), *self._told_special()]
        return self._kept(rows, f" in {', '.join(columns[:5])}" if columns else "")

    def without_columns(self) -> Dataset:
        """Return the table with its gappy columns left out."""
        n_rows = self._dataset.n_rows
        left_out = {
            self._dataset.names[at]: f"{_counted(*counts)} of {n_rows} values"
            for at, counts in self._gaps.items()
        }
        if left_out and len(left_out) == self._n_candidates:
            raise ShapeError(
                f"`--missing drop-columns` leaves no column of `{self._dataset.name}`: each has "
                f"missing values. Try `--missing drop-rows`, or fill them."
            )
        where = ", ".join(self._told_special())
        rest = self._kept(self._special_rows(), f" in the target or weights: {where}")
        if not left_out:
            return rest
        warn(LeftOutWarning(left_out, "Fill the values, or drop rows instead, to keep them."))
        return replace(rest, left_out={**rest.left_out, **left_out})

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
        return self._dataset.take_rows(~gone)

    def _special_rows(self) -> NDArray[np.bool_]:
        rows = self._dataset.columns.rows_with_gaps(self._special)
        return rows | self._values.rows_with_gaps([0]) if self._values else rows

    def _told(self, gaps: Mapping[int, tuple[int, int]]) -> list[str]:
        names = self._dataset.names
        return [f"`{names[at]}` ({_counted(*counts)})" for at, counts in gaps.items()]

    def _told_special(self) -> list[str]:
        values = self._values.gaps([0]) if self._values else {}
        called = self._dataset.target_name or "y"
        return [
            *self._told(self._special),
            *(f"`{called}` ({_counted(*counts)})" for counts in values.values()),
        ]


def _counted(missing: int, infinite: int) -> str:
    told = [f"{missing} missing"] * bool(missing) + [f"{infinite} infinite"] * bool(infinite)
    return " and ".join(told)
