"""What to select from and what for, read; and how many features that may be.

`open_problem` asks roles.py what each column is for, and its `Source` for the table and response.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from orthoselect.column_spec import is_whole
from orthoselect.encode import Response, Table
from orthoselect.encode.gaps import FILLS, check_no_gaps, find_gaps, gap_count
from orthoselect.encode.response import no_response
from orthoselect.errors import InputError, NonFiniteError, TooManyRequestedWarning, warn
from orthoselect.matrix.rows import Rows
from orthoselect.read import Readings, Source, gaps_error, names_in_errors, read_target
from orthoselect.roles import check_some_left, find_roles

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
    stay as they are, see `fill_gaps`. Without `has_target` the response has no columns.
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


# How many features to select


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
