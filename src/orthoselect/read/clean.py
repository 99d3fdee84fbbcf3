"""What has to go before a table can be selected from: columns that are no features, and gaps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode.gaps import check_missing
from orthoselect.encode.response import check_choice
from orthoselect.errors import (
    InputError,
    LeftOutWarning,
    LooksNumericWarning,
    NonFiniteError,
    ReadAsNumbersWarning,
    RowsDroppedWarning,
    ShapeError,
    UnknownColumnError,
    counted,
    listing,
    warn,
)
from orthoselect.read.columns import Gaps
from orthoselect.read.dataset import Dataset
from orthoselect.read.frame_block import column_block
from orthoselect.read.gap_survey import listed
from orthoselect.read.looks import (
    BY_NAME,
    BYTES,
    DATES,
    IDENTIFIER,
    NEARLY,
    NO_VALUES,
    RECORDS,
    ROW_NUMBERS,
    Finding,
)
from orthoselect.read.readings import Readings
from orthoselect.read.row_blocks import response_columns
from orthoselect.read.source import Source

_DROP_ROWS = "--missing drop-rows"
DATES_AS = ("drop", "parts")


def sift(
    source: Source,
    *,
    targets: Collection[str] = (),
    keep: Collection[str] = (),
    included: Collection[str] = (),
    left_out: Collection[str] = (),
    dates: str = "drop",
    name: str = "the table",
) -> Readings:
    """Find the columns of a table that are no features, and how others are read; warn of both.

    Left out are text that is different in each of more than ten rows, text and categories of more
    than twenty levels of which a third of the rows stand alone in theirs, whole numbers that are
    all those from 0 or 1 on in order in more than ten rows, or that span more than twenty under
    the name of an identifier (in tables whose columns have names), dates and times (also as text),
    columns without any value, lists, records and bytes, and the row index that pandas stores
    beside a table. Text is read as numbers where all of it are such: "1,200", "12%", "$5", with
    "-", "?" or "n/a" for a missing one; another warning names text that merely looks so.

    Parameters
    ----------
    source : Source
    targets : collection of str
        Columns of the response: what could not be classes or numbers is an error.
    keep : collection of str
        Columns that are not looked at; they stay whatever they hold.
    included : collection of str
        Columns that are features whatever they hold, but may be read as numbers or as dates.
    left_out : collection of str
        Columns that are known to be no features.
    dates : {"drop", "parts"}
    name : str
        What to call the table.

    Examples
    --------
    >>> import warnings
    >>> import pyarrow as pa
    >>> from orthoselect.read import open_source
    >>> ids = [f"id{row}" for row in range(12)]
    >>> people = pa.table({"id": ids, "paid": ["$1,200", "-", "$5"] * 4, "ill": [0, 1] * 6})
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     readings = sift(open_source(people), targets=["ill"])
    >>> readings.left_out, readings.numbers
    ({'id': 'identifier: all values are distinct text'}, {1: '.'})
    """
    check_choice(dates, DATES_AS, "dates")
    names = source.names
    skip = {*keep, *left_out} - {*targets}
    found = source.look([c for c, called in enumerate(names) if called not in skip])
    by_name = {names[c]: finding for c, finding in found.items()}
    for target in targets:
        _check_target(target, by_name.get(target, Finding()))
    features = {n: f for n, f in by_name.items() if n not in targets}
    with_parts = {n for n, f in features.items() if dates == "parts" and f.parts}
    for called in included:
        _check_included(called, features.get(called, Finding()), called in with_parts)
    gone = {
        n: f.reason
        for n, f in features.items()
        if f.reason and n not in with_parts and n not in included
    }
    if gone and not {*names} - {*targets, *left_out, *gone}:
        told = listing(f"{n} ({reason})" for n, reason in gone.items())
        raise ShapeError(f"`{name}` should have columns to choose from; all are left out, {told}.")
    _warn_of(gone, by_name)
    numbers = {c: f.decimal for c, f in found.items() if f.decimal and names[c] not in gone}
    used = {c: f for c, f in found.items() if names[c] in with_parts}
    return Readings(names, gone, numbers, used)


def read_given(target: Any, called: str = "y") -> Any:
    """Return a response that is given as values: text that is numbers as such, others as they are.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     read_given(np.array(["12%", "7%", "30%"]))
    array([0.12, 0.07, 0.3 ])
    """
    if isinstance(target, np.ndarray) and target.dtype.kind in "mM":
        _check_target(called, Finding(DATES))
    block = column_block(target)
    if block is None:
        return target
    found = Source(block).look([0]).get(0, Finding())
    _check_target(called, found)
    if found.decimal is None:
        return target
    warn(ReadAsNumbersWarning({called: found.example}))
    return Readings([called], numbers={0: found.decimal}).read(block).column(0)


def _check_target(target: str, found: Finding) -> None:
    """Raise for a response that can be neither classes nor numbers."""
    if found.reason is None or found.reason.startswith((NEARLY, ROW_NUMBERS, BY_NAME)):
        return
    remedy = "Name another column."
    if found.reason == DATES:
        remedy = "Make numbers of them first, a year or a number of days, or name another column."
    if found.reason == IDENTIFIER:
        remedy = "Every row would be a class of its own. Name another column."
    raise InputError(
        f"the target should hold classes or numbers; `{target}` holds none of these "
        f"({found.reason}). {remedy}"
    )


def _check_included(name: str, found: Finding, has_parts: bool) -> None:
    """Raise for what is to be a feature and cannot be one."""
    if found.reason in (DATES, RECORDS, BYTES, NO_VALUES) and not has_parts:
        remedy = "Pass `dates='parts'`" if found.parts else "Convert it"
        raise InputError(
            f"a feature that is included or in a group should hold numbers or labels; `{name}` "
            f"does not ({found.reason}). {remedy}, or leave it out."
        )


def _warn_of(gone: Mapping[str, str], found: Mapping[str, Finding]) -> None:
    """Say which columns are left out, and which are not what they seem to be."""
    # A word among numbers makes text of them, which then looks like an identifier.
    like = {n: f.like for n, f in found.items() if f.like and not f.decimal}
    if like:
        warn(LooksNumericWarning(like))
    read = {n: f.example for n, f in found.items() if f.decimal and n not in gone}
    if read:
        warn(ReadAsNumbersWarning(read))
    if gone:
        remedy = "Name a column as categorical, or include it, to keep it"
        if any(found[name].parts for name in gone):
            remedy += "; `dates='parts'` makes features of dates"
        warn(LeftOutWarning(gone, f"{remedy}."))


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
        raise InputError(
            f"there should be no missing values; {len(told)} column(s) of `{self._dataset.name}` "
            f"have some: {listed(told)}. {remedy}"
        )

    def without_rows(self) -> Dataset:
        """Return the rows where nothing is missing."""
        self._check_finite()
        rows = self._special_rows() | self._dataset.rows_with_gaps(self._gaps)
        columns = [*self._told, *self._told_special]
        return self._kept(rows, f" in {listed(columns)}" if columns else "")

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
    """Return the columns with gaps in words, worst first."""
    worst = sorted(gaps.items(), key=lambda column: -sum(column[1]))
    return [f"`{names[at]}` ({counted(*counts)})" for at, counts in worst]
