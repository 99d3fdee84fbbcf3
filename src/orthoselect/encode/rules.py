"""Cutting numeric columns that come in blocks of rows: rules learned in a first pass.

A rule is a column's cuts, and the level of a value is how many cuts it reaches (`bins.py`). Values
that are taken as they are have a rule too: a cut at each distinct value but the lowest. So every
block can be coded by itself, and alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.encode.bins import MAX_LEVELS, Columns, equal_width_cuts, mean_std_cuts
from orthoselect.encode.blocks import BlockTable
from orthoselect.encode.coded import Bins, store_of
from orthoselect.encode.design import has_many_levels
from orthoselect.encode.table import Table
from orthoselect.errors import InputError, NonFiniteError, UncutNumbersWarning, warn
from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.rows import Rows, live_rows

Rules = dict[int, Floats]  # input column -> its cuts, rising


@dataclass(frozen=True)
class Summary:
    """What a rule is made from, for b columns; two of them merge into that of all rows.

    Attributes
    ----------
    weight : float
        Sum of the row weights.
    low, high, mean, std : arrays of shape (b,)
    whole : boolean array of shape (b,)
        Whether all numbers are whole.
    distinct : list of arrays, or None
        The distinct values of each column; None for more than 256, or if nobody wants them.
    """

    weight: float
    low: Floats
    high: Floats
    mean: Floats
    std: Floats
    whole: NDArray[np.bool_]
    distinct: list[Floats | None]

    @property
    def extremes(self) -> tuple[Floats, Floats]:
        """Smallest and largest value of each column."""
        return self.low, self.high

    def moments(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of each column; weights have had their part."""
        return self.mean, self.std

    def merge(self, other: Summary) -> Summary:
        """Return the summary of both blocks of rows."""
        total = self.weight + other.weight
        a, b = self.weight / total, other.weight / total
        step = b * other.mean - b * self.mean  # halves of a range that may be beyond 1.8e308
        within = np.hypot(self.std * a**0.5, other.std * b**0.5)
        between = (other.mean / 2 - self.mean / 2) * (2 * (a * b) ** 0.5)
        pairs = zip(self.distinct, other.distinct)
        return Summary(
            total,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.mean + step,
            np.hypot(within, between),
            self.whole & other.whole,
            [_union(x, y) for x, y in pairs],
        )


def _union(x: Floats | None, y: Floats | None) -> Floats | None:
    if x is None or y is None:
        return None
    return _at_most(np.union1d(x, y))


def _at_most(values: Floats) -> Floats | None:
    return values if len(values) <= MAX_LEVELS else None


def learn_rules(table: BlockTable, columns: Indices, bins: Bins, weights: Rows | None) -> Rules:
    """Find the cuts of numeric input columns, in one pass over them.

    Parameters
    ----------
    table : BlockTable
    columns : input columns
        Those of `table.numeric_at` that are wanted, in that order.
    bins : {"auto", "from_data", "mean_std_3", "mean_std_4"} or int
        See `build_codes`.
    weights : array of shape (N,), optional
        Row weights; rows without weight have no part in the cuts.
    """
    if not isinstance(bins, (str, int, np.integer)):
        raise InputError(
            f"`bins` should name a rule, or be a number of bins, for a table that comes in blocks; "
            f"a discretizer ({type(bins).__name__}) would have to see it whole."
        )
    if not len(columns):
        return {}
    work = partial(_summarize, bins)
    summary = table.passes.reduce(work, _merge_summaries, **table.how(columns, [weights]))
    assert summary is not None  # some row has weight
    rules = dict(zip(columns.tolist(), _cuts(summary, bins)))
    names = [str(table.names[c]) for c in columns]
    n_rows = live_rows(weights, table.n_rows)
    if bins == "from_data":
        _check_distinct(names, summary)
    if bins == "auto":
        _warn_of_many(names, summary, n_rows)
    return rules


def _summarize(bins: Bins, block: Table, weights: Floats | None) -> Summary | None:
    """Return what a block tells; None if none of its rows has weight."""
    if weights is not None and not weights.any():
        return None
    keep = None if weights is None else weights > 0
    found = _summary(block, keep, None if weights is None else weights[keep], bins)
    _check_finite(block, found)
    return found


def _merge_summaries(a: Summary | None, b: Summary | None) -> Summary | None:
    return (a or b) if a is None or b is None else a.merge(b)


def _summary(
    block: Table, keep: NDArray[np.bool_] | None, weights: Floats | None, bins: Bins
) -> Summary:
    store = store_of(block.numeric, keep)
    b = block.numeric.shape[1]
    low, high, mean, std = np.zeros(b), np.zeros(b), np.zeros(b), np.zeros(b)
    whole = np.ones(b, dtype=bool)
    distinct: list[Floats | None] = [None] * b
    for part, columns in store.blocks(np.arange(b)):
        low[part], high[part] = columns.extremes
        if not (np.isfinite(low[part]).all() and np.isfinite(high[part]).all()):
            continue  # it is an error, once it has been said where
        whole[part] = columns.whole
        if bins in ("auto", "mean_std_3", "mean_std_4"):
            mean[part], std[part] = columns.moments(weights)
        if bins in ("auto", "from_data"):
            distinct[part] = _distinct(columns, wanted=whole[part] | (bins == "from_data"))
    n_rows = store.X.shape[0]
    total = float(n_rows) if weights is None else float(weights.sum())
    return Summary(total, low, high, mean, std, whole, distinct)


def _distinct(columns: Columns, wanted: NDArray[np.bool_]) -> list[Floats | None]:
    """Return the distinct values of columns, None for those that are too many."""
    found: list[Floats | None] = []
    for k, is_wanted in enumerate(wanted.tolist()):
        found.append(_at_most(columns.distinct(k)) if is_wanted else None)
    return found


def _cuts(summary: Summary, bins: Bins) -> list[Floats]:
    """Return the cuts of each column."""
    if bins == "from_data":
        return [np.zeros(0) if values is None else values[1:] for values in summary.distinct]
    if not isinstance(bins, str):
        cuts = equal_width_cuts(summary, int(bins))
    else:
        cuts = mean_std_cuts(summary, 4 if bins == "mean_std_4" else 3)
    made = [row[np.isfinite(row)] for row in cuts]
    if bins != "auto":
        return made
    as_they_are = zip(made, summary.whole.tolist(), summary.distinct)
    return [v[1:] if whole and v is not None else row for row, whole, v in as_they_are]


def _check_finite(block: Table, found: Summary) -> None:
    bad = np.flatnonzero(~(np.isfinite(found.low) & np.isfinite(found.high)))
    if not bad.size:
        return
    X = sp.csc_array(block.numeric) if sp.issparse(block.numeric) else block.numeric
    counts = {}
    for k in bad.tolist():
        values = X[:, [k]].data if sp.issparse(X) else X[:, k]
        name = str(block.names[block.numeric_at[k]])
        counts[name] = (int(np.isnan(values).sum()), int(np.isinf(values).sum()))
    raise NonFiniteError(counts)


def _check_distinct(names: list[str], summary: Summary) -> None:
    many = [name for name, values in zip(names, summary.distinct) if values is None]
    if many:
        raise InputError(
            f"column `{many[0]}` should have at most {MAX_LEVELS} distinct values to be taken as "
            f"it is; it has more. Cut it into bins (`bins='auto'`, 'mean_std_3' or a number of "
            f"bins), or name it in `exclude`."
        )


def _warn_of_many(names: list[str], summary: Summary, n_rows: int) -> None:
    taken = zip(names, summary.whole.tolist(), summary.distinct)
    counts = {name: len(v) for name, whole, v in taken if whole and v is not None}
    many = [name for name, count in counts.items() if has_many_levels(count, n_rows)]
    if many:
        warn(UncutNumbersWarning(many[0], counts[many[0]], n_rows, len(many) - 1))


def as_array(rules: list[Floats]) -> Floats:
    """Return the cuts of some columns side by side, (b, most cuts); missing ones are infinite."""
    cuts = np.full((len(rules), max(map(len, rules), default=0)), np.inf)
    for row, rule in zip(cuts, rules):
        row[: len(rule)] = rule
    return cuts


def levels_in_order(block: Table, k: int, cuts: Floats) -> NDArray[np.intp]:
    """Return the levels of numeric column k of a block, from low to high, (N,)."""
    X = block.numeric[:, [k]]
    values = X.toarray()[:, 0] if sp.issparse(X) else X[:, 0]
    return np.searchsorted(cuts, values.astype(np.float64), side="right")


def count_levels(table: BlockTable, rules: Rules, weights: Rows | None) -> dict[int, int]:
    """Find the most frequent level of each column in a pass, and forget cuts without use.

    A cut between two levels of which one has no rows is taken out of the rules.
    """
    columns = np.array(list(rules), dtype=np.intp)
    if not len(columns):
        return {}
    how = table.how(columns, [weights])
    counts = dict(zip(rules, table.passes.total(partial(_count_levels, rules), **how)))
    usual = {}
    for c, found in counts.items():
        there = np.flatnonzero(found)
        rules[c] = rules[c][there[1:] - 1]
        usual[c] = int(found[there].argmax())
    return usual


def _count_levels(rules: Rules, block: Table, weights: Floats | None) -> list[Floats]:
    """Count the rows of a block at each level of each column that has rules."""
    keep = slice(None) if weights is None else weights > 0
    place = {c: k for k, c in enumerate(block.numeric_at.tolist())}
    counts = []
    for c, cuts in rules.items():
        levels = levels_in_order(block, place[c], cuts)[keep]
        counts.append(np.bincount(levels, minlength=len(cuts) + 1).astype(np.float64))
    return counts
