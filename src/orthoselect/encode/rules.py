"""How numeric columns become levels: rules, learned from one block of rows or from many.

A rule takes the values of a column as they are, each a level, or cuts the column. A table in memory
is one block; of a table in blocks, each is summed up, and the summaries are merged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.encode.bins import (
    MAX_LEVELS,
    NumericColumns,
    Values,
    canonical,
    column_blocks,
    scale_near_one,
)
from orthoselect.encode.table import BlockTable, Table, check_finite_numbers, has_many_levels
from orthoselect.errors import InputError, UncutNumbersWarning, warn
from orthoselect.matrix.base import EPS, Floats, Indices
from orthoselect.matrix.rows import Rows

Bins = Any  # "auto", "from_data", "mean_std_3", "mean_std_4", a number, or a discretizer

_NAMED = ("auto", "from_data", "mean_std_3", "mean_std_4")
_CUT_ROUNDINGS = 8.0


def check_bins(bins: Bins) -> None:
    """Raise unless it is a rule for cutting numbers; see `build_codes`."""
    number = isinstance(bins, (int, np.integer)) and not isinstance(bins, bool)
    if number and 2 <= bins <= MAX_LEVELS:
        return
    if (isinstance(bins, str) and bins in _NAMED) or is_discretizer(bins):
        return
    raise InputError(
        f"`bins` should be 'auto', 'from_data', 'mean_std_3', 'mean_std_4', a number of bins from "
        f"2 to {MAX_LEVELS}, or a discretizer with `fit` and `transform`; got {bins!r}."
    )


def is_discretizer(bins: Bins) -> bool:
    """Whether it is an object that makes codes by itself."""
    plain = isinstance(bins, (str, int, np.integer, type))
    return not plain and hasattr(bins, "fit") and hasattr(bins, "transform")


@dataclass(frozen=True)
class Rules:
    """How b columns become levels."""

    as_is: NDArray[np.bool_]  # (b,), whose values are taken as they are
    values: Values  # those of these columns
    cuts: Floats  # (number of other columns, L - 1)

    @property
    def n_levels(self) -> Indices:
        """How many levels each column has, (b,); not all of those that are cut need occur."""
        n_levels = np.empty(len(self.as_is), dtype=np.intp)
        n_levels[self.as_is] = self.values.counts
        n_levels[~self.as_is] = 1 + np.isfinite(self.cuts).sum(axis=1)
        return n_levels

    def take(self, at: Any) -> Rules:
        """Return the rules of some columns, by a slice or by their places, rising."""
        chosen = np.zeros(len(self.as_is), dtype=bool)
        chosen[at] = True
        values = self.values.take(chosen[self.as_is])
        return Rules(self.as_is[chosen], values, self.cuts[chosen[~self.as_is]])

    def levels(self, columns: NumericColumns) -> NDArray[np.uint8]:
        """Return the levels of a block of these columns."""
        if self.as_is.all():
            return columns.rank(self.values)
        if not self.as_is.any():
            return columns.cut(self.cuts)
        levels = columns.blank()
        levels[columns.cells(self.as_is)] = columns.take(self.as_is).rank(self.values)
        levels[columns.cells(~self.as_is)] = columns.take(~self.as_is).cut(self.cuts)
        return levels


def find_rules(
    columns: NumericColumns | Summary, bins: Bins, weights: Floats | None = None
) -> Rules:
    """Find the rules of columns, given themselves or what is known of them; see `build_codes`.

    All values are finite. Columns of too many values for "from_data" are cut, as by "auto". A
    summary knows the weights.
    """
    as_is = _may_be_as_is(columns, bins)
    none = Values(np.zeros(0), np.zeros(0, dtype=np.intp))
    values = columns.take(as_is).distinct() if as_is.any() else none
    few = values.counts <= MAX_LEVELS
    as_is[as_is] = few
    rest = columns.take(~as_is)
    if as_is.all():
        cuts = np.zeros((0, 2))
    elif isinstance(bins, str):
        cuts = mean_std_cuts(rest, 4 if bins == "mean_std_4" else 3, weights)
    else:
        cuts = equal_width_cuts(rest, int(bins))
    return Rules(as_is, values.take(few), cuts)


def _may_be_as_is(columns: NumericColumns | Summary, bins: Bins) -> NDArray[np.bool_]:
    """Return whose values may be levels, unless they are too many, (b,)."""
    if bins == "auto":
        return columns.whole.copy()
    return np.full(columns.shape[1], bins == "from_data")


def mean_std_cuts(columns: Any, n_levels: int, weights: Floats | None = None) -> Floats:
    """Return cuts at one standard deviation s about the mean m, (b, n_levels - 1).

    The standard deviation is that of the population (ddof=0).

    Parameters
    ----------
    columns : NumericColumns, or what else has their `moments` and `extremes`
    n_levels : {3, 4}
        3: below m - s, from there to below m + s, the rest. 4: the middle one cut at m.
    weights : array of shape (N,), optional
        Row weights.

    Notes
    -----
    A value equal to a cut lies above it, and equal means up to the rounding of m and s. Hence a
    column of two values never loses one of them, although they lie on the cuts if they are equally
    frequent. Where s itself is lost in the rounding of m, as rows of hardly any weight leave it,
    the mean and what equals it lie between the cuts, and all other values beyond them.

    Examples
    --------
    >>> from orthoselect.encode.bins import DenseColumns
    >>> columns = DenseColumns(np.array([[0.0, 1.0, 2.0, 3.0, 14.0]]))  # m = 4, s = 5.1
    >>> mean_std_cuts(columns, 3).round(1)
    array([[-1.1,  9.1]])
    >>> columns.cut(mean_std_cuts(columns, 4))
    array([[1, 1, 1, 1, 3]], dtype=uint8)
    """
    mean, std = columns.moments(weights)
    offsets = np.array([-1.0, 1.0] if n_levels == 3 else [-1.0, 0.0, 1.0])
    cuts = mean[:, None] + std[:, None] * offsets
    rounding = _CUT_ROUNDINGS * EPS * (np.abs(mean) + std)
    cuts -= rounding[:, None]
    lost = 2 * std <= rounding
    cuts[lost, -1] = np.nextafter(mean + rounding, np.inf)[lost]
    low, high = columns.extremes
    return np.where((low == high)[:, None], np.inf, cuts)  # which no value reaches


def equal_width_cuts(columns: Any, n_levels: int) -> Floats:
    """Return cuts that split the range of each column into equal parts, (b, n_levels - 1).

    They are those of scikit-learn's ``KBinsDiscretizer(strategy="uniform")``.

    Examples
    --------
    >>> from orthoselect.encode.bins import DenseColumns
    >>> columns = DenseColumns(np.array([[0.0, 1.0, 2.0, 4.0]]))
    >>> equal_width_cuts(columns, 4)
    array([[1., 2., 3.]])
    >>> columns.cut(equal_width_cuts(columns, 4))
    array([[0, 1, 2, 3]], dtype=uint8)
    """
    low, high = columns.extremes
    scale = scale_near_one(low, high)  # the width of a range might be beyond 1.8e308
    # A width of zero in one column would change how NumPy rounds the others.
    ends = np.where(high > low, high * scale, low * scale + 1.0)
    edges = np.linspace(low * scale, ends, n_levels + 1, axis=1) / scale[:, None]
    return np.where((low == high)[:, None], np.inf, edges[:, 1:-1])  # which no value reaches


@dataclass(frozen=True)
class Summary:
    """What rules are made from, for b columns; two of them merge into that of all rows.

    It answers what `find_rules` asks of columns. Each attribute has one entry for each column.
    """

    weight: Floats  # sum of the row weights
    low: Floats
    high: Floats
    mean: Floats
    std: Floats
    whole: NDArray[np.bool_]  # whether all numbers are whole
    values: Values  # the distinct ones; "too many" where nobody wants them
    n_stored: Indices  # how many cells are written down

    @staticmethod
    def of(columns: NumericColumns, bins: Bins, weights: Floats | None) -> Summary:
        """Sum up a block of columns."""
        N, b = columns.shape
        mean = std = np.zeros(b)
        if bins in ("auto", "mean_std_3", "mean_std_4"):
            mean, std = columns.moments(weights)
        wanted = _may_be_as_is(columns, bins)
        found = columns.take(wanted).distinct()
        counts = np.full(b, MAX_LEVELS + 1)
        counts[wanted] = found.counts
        return Summary(
            np.full(b, N if weights is None else weights.sum(), dtype=np.float64),
            *columns.extremes,
            mean,
            std,
            columns.whole,
            Values(found.numbers, counts),
            columns.n_stored,
        )

    @property
    def shape(self) -> tuple[None, int]:
        """Rows, which nobody counts here, and columns."""
        return None, len(self.low)

    @property
    def extremes(self) -> tuple[Floats, Floats]:
        """Smallest and largest value of each column."""
        return self.low, self.high

    def moments(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of each column; weights have had their part."""
        return self.mean, self.std

    def distinct(self) -> Values:
        """Return the distinct values of each column."""
        return self.values

    def take(self, which: NDArray[np.bool_]) -> Summary:
        """Return the summary of some of the columns."""
        parts: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        values = parts.pop("values").take(which)
        return Summary(**{name: part[which] for name, part in parts.items()}, values=values)

    @staticmethod
    def side_by_side(parts: Sequence[Summary]) -> Summary:
        """Return the summary of the columns of all parts."""
        joined = {
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(Summary)
            if field.name != "values"
        }
        numbers = np.concatenate([part.values.numbers for part in parts])
        counts = np.concatenate([part.values.counts for part in parts])
        return Summary(**joined, values=Values(numbers, counts))

    def merge(self, other: Summary) -> Summary:
        """Return the summary of both blocks of rows."""
        total = self.weight + other.weight
        any_weight = np.where(total > 0, total, 1.0)  # none where all values are missing so far
        a, b = self.weight / any_weight, other.weight / any_weight
        step = b * other.mean - b * self.mean  # halves of a range that may be beyond 1.8e308
        within = np.hypot(self.std * a**0.5, other.std * b**0.5)
        between = (other.mean / 2 - self.mean / 2) * (2 * (a * b) ** 0.5)
        return Summary(
            total,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.mean + step,
            np.hypot(within, between),
            self.whole & other.whole,
            self.values.merge(other.values),
            self.n_stored + other.n_stored,
        )


def sum_up(
    table: BlockTable, columns: Indices, bins: Bins, weights: Rows | None
) -> tuple[Rules, int]:
    """Learn the rules of numeric input columns, rising, in one pass; count the cells they store.

    Rows without weight have no part in the rules.
    """
    if not len(columns):
        return Rules(np.zeros(0, bool), Values(np.zeros(0), columns), np.zeros((0, 2))), 0
    work = partial(_summarize, bins)
    summary = table.passes.reduce(work, _merge_summaries, **table.how(columns, [weights]))
    assert summary is not None  # some row has weight
    empty = summary.weight == 0  # all values are missing
    if empty.any():
        summary = replace(
            summary, low=np.where(empty, 0.0, summary.low), high=np.where(empty, 0.0, summary.high)
        )
    return find_rules(summary, bins), int(summary.n_stored.sum())


def _summarize(bins: Bins, block: Table, weights: Floats | None) -> Summary | None:
    """Sum up a block; None if none of its rows has weight."""
    if weights is not None and not weights.any():
        return None
    X, weights = readable(block.numeric, weights)
    names = [str(block.names[c]) for c in block.numeric_at]
    in_use = partial(enumerate, names)
    at, places = np.unique(block.numeric_at, return_index=True)  # not the indicators of gaps
    is_gappy = np.isin(at, block.indicated)
    parts = []
    for run in np.split(places, np.flatnonzero(is_gappy[1:] | is_gappy[:-1]) + 1):
        if len(run) == 1 and is_gappy[np.searchsorted(places, run[0])]:
            parts.append(_summarize_values(X, int(run[0]), bins, weights, in_use))
            continue
        for _, columns in column_blocks(X, run):
            check_finite(columns, X, in_use)
            parts.append(Summary.of(columns, bins, weights))
    return Summary.side_by_side(parts)


def _summarize_values(
    X: Any, k: int, bins: Bins, weights: Floats | None, in_use: Callable[[], Any]
) -> Summary:
    """Sum up the values of column k of X, behind which the indicator of its gaps stands."""
    there = np.flatnonzero(~gap_rows(X, k))
    if not len(there):
        zero, none = np.zeros(1), Values(np.zeros(0), np.zeros(1, dtype=np.intp))
        ends = np.full(1, np.inf), np.full(1, -np.inf)
        whole = np.ones(1, dtype=bool)
        return Summary(zero, *ends, zero, zero, whole, none, np.zeros(1, dtype=np.intp))
    ((_, columns),) = column_blocks(some_cells(X, k, there))
    check_finite(columns, X, in_use)
    return Summary.of(columns, bins, None if weights is None else weights[there])


def gap_rows(X: Any, k: int) -> NDArray[np.bool_]:
    """Return the rows where column k of X has a gap, by the indicator that stands behind it."""
    gaps = X[:, [k + 1]]
    return (gaps.toarray() if sp.issparse(gaps) else gaps)[:, 0] != 0


def some_cells(X: Any, k: int, rows: Indices) -> Any:
    """Return column k of X in some rows, in a form that `column_blocks` takes."""
    if sp.issparse(X):
        return canonical(X[:, [k]].tocsr()[rows])
    return X[rows][:, [k]] if len(rows) < X.shape[0] else X[:, [k]]


def _merge_summaries(a: Summary | None, b: Summary | None) -> Summary | None:
    return (a or b) if a is None or b is None else a.merge(b)


def readable(X: Any, weights: Floats | None) -> tuple[Any, Floats | None]:
    """Return numbers as `column_blocks` takes them, and weights, of the rows that have some."""
    live = None if weights is None or (weights > 0).all() else np.flatnonzero(weights)
    if live is not None and weights is not None:
        X, weights = X.tocsr()[live] if sp.issparse(X) else X[live], weights[live]
    return (canonical(X) if sp.issparse(X) else X), weights


def check_finite(
    columns: NumericColumns, X: Any, in_use: Callable[[], Iterable[tuple[int, str]]]
) -> None:
    """Raise for NaN or infinity in a block of columns, and name all columns of X in use with any.

    `in_use` gives the columns of X that are in use, and their names.
    """
    if not all(np.isfinite(ends).all() for ends in columns.extremes):
        places, names = zip(*in_use())
        check_finite_numbers(X[:, list(places)], names)


def written(X: Any, k: int) -> NDArray:
    """Return the values that are written down in column k; the others are zero."""
    return X.data[X.indptr[k] : X.indptr[k + 1]] if sp.issparse(X) else X[:, k]


def raise_too_many(name: str, n_distinct: str = "more") -> NoReturn:
    """Raise for a column of too many values to be taken as it is."""
    raise InputError(
        f"column `{name}` should have at most {MAX_LEVELS} distinct values to be taken as it is; "
        f"it has {n_distinct}. Cut it into bins (`bins='auto'`, 'mean_std_3' or a number of "
        f"bins), or name it in `exclude`."
    )


def warn_of_many(name_of: Callable[[int], str], n_levels: Indices, n_rows: int) -> None:
    """Warn of numbers that were taken as they are and hardly repeat."""
    many = np.flatnonzero(has_many_levels(n_levels, n_rows))
    if many.size:
        first = int(many[0])
        warn(UncutNumbersWarning(name_of(first), int(n_levels[first]), n_rows, len(many) - 1))
