"""Gaps in columns of numbers: found, and filled, so that all that follows meets finite numbers.

A column with gaps is filled by the mean of the values that it has. To keep what the gaps themselves
say, a second column stands right behind it, 1 where a value is missing; both belong to the feature.
Such a column is known by standing twice in `Table.numeric_at`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.encode.labels import GAP, Labels
from orthoselect.encode.response import check_choice
from orthoselect.encode.table import BlockTable, Table, TableMaker
from orthoselect.errors import MissingValueError
from orthoselect.matrix.base import EPS, Floats, Indices
from orthoselect.matrix.rows import Rows

WAYS = ("error", "indicator", "mean", "drop_rows")
FILLS = ("indicator", "mean")
_REMEDY = "Drop those rows, or pass `missing='indicator'`."
_TILE_NUMBERS = 1 << 22  # that are looked at together


def check_missing(missing: Any, also: Iterable[str] = ()) -> str:
    """Return what is to be done about missing values, a word of `WAYS` or one of others.

    Examples
    --------
    >>> check_missing("drop-rows")
    'drop_rows'
    """
    word = missing.replace("-", "_") if isinstance(missing, str) else missing
    if word in (known := (*WAYS, *also)):
        return word
    return check_choice(missing, known, "missing")


def check_no_gaps(table: Table) -> None:
    """Raise for a categorical column with gaps, which have become a level."""
    for c, labels in table.labels.items():
        if GAP in labels.levels:
            raise MissingValueError(f"column `{table.names[c]}`", gap_count(labels), _REMEDY)


def gap_count(labels: Labels) -> int:
    """Return how many rows have no label; of a table in blocks the survey has counted them."""
    if GAP not in labels.levels:
        return 0
    at = labels.levels.index(GAP)
    return int(labels.counts[at] if labels.counts is not None else (labels.codes == at).sum())


@dataclass(frozen=True)
class Gaps:
    """The gaps of a table's numeric columns, and what becomes of them."""

    counts: Mapping[int, int]  # input column -> how many values are missing
    means: Mapping[int, float]  # input column -> the mean of the others, 0 if there are none
    indicated: bool  # whether a column of its own says where they are

    def fill(self, table: Table) -> Table:
        """Return a table without gaps in these columns; what is given is only read."""
        gappy = np.isin(table.numeric_at, list(self.means))  # (n,)
        if not gappy.any():
            return table
        at, precision = table.numeric_at, table.precision
        means = np.array([self.means.get(c, 0.0) for c in at.tolist()])
        widths = 1 + (gappy & self.indicated)
        fill = _fill_sparse if sp.issparse(table.numeric) else _fill_dense
        if precision is not None:
            precision = np.repeat(precision, widths)
            precision[_seconds(widths)] = EPS
        return replace(
            table,
            numeric=fill(table.numeric, gappy, means, widths),
            numeric_at=np.repeat(at, widths),
            precision=precision,
            **self._of_blocks(table),
        )

    def _of_blocks(self, table: Table) -> dict[str, Any]:
        """Return what else changes where the rows come in blocks."""
        if not isinstance(table, BlockTable):
            return {}
        first = None if table.first is None else self.fill(table.first)
        return {"maker": FilledTables(table.maker, self), "first": first}


@dataclass(frozen=True)
class FilledTables:
    """Makes tables of blocks, and fills their gaps; see `TableMaker`."""

    maker: TableMaker
    gaps: Gaps

    def columns(self, columns: Indices | None) -> Indices:
        """Return the input columns that a block is to have for these; None for all."""
        return self.maker.columns(columns)

    def table(self, block: Any, at: Indices) -> Table:
        """Return a block of the input columns `at` as a table."""
        return self.gaps.fill(self.maker.table(block, at))


def _seconds(widths: Indices) -> Indices:
    """Return where the second columns of those with two stand."""
    return (np.cumsum(widths) - 1)[widths == 2]


def _fill_dense(X: NDArray, gappy: NDArray[np.bool_], means: Floats, widths: Indices) -> NDArray:
    places = np.repeat(np.arange(X.shape[1]), widths)
    by_columns = X.flags.f_contiguous  # in which order it stays
    filled = np.take(X.T, places, axis=0).T if by_columns else np.take(X, places, axis=1)
    for k, place in zip(np.flatnonzero(gappy).tolist(), (np.cumsum(widths) - widths)[gappy]):
        column = filled[:, place]
        gaps = column != column
        column[gaps] = means[k]
        if widths[k] == 2:
            filled[:, place + 1] = gaps
    return filled


def _fill_sparse(X: Any, gappy: NDArray[np.bool_], means: Floats, widths: Indices) -> sp.csc_array:
    X = sp.csc_array(X, copy=True)
    X.sum_duplicates()
    owner = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    gaps = np.flatnonzero((X.data != X.data) & gappy[owner])
    X.data[gaps] = means[owner[gaps]]
    if not (widths == 2).any():
        return X
    second = np.flatnonzero(widths == 2)
    ones = np.ones(len(gaps), dtype=X.dtype)
    where = sp.csc_array((ones, (X.indices[gaps], owner[gaps])), shape=X.shape)[:, second]
    order = np.repeat(np.arange(X.shape[1]), widths)
    order[_seconds(widths)] = X.shape[1] + np.arange(len(second))
    return sp.csc_array(sp.hstack([X, where], format="csc")[:, order])


# Finding gaps


def all_finite(X: Any) -> bool:
    """Whether numbers, an array or SciPy sparse, are finite, as far as a quick look shows."""
    if (X.data if sp.issparse(X) else X).dtype.kind != "f":
        return True
    with np.errstate(all="ignore"):
        return bool(np.isfinite(X.sum()))


def gaps_in(X: Any, k: int) -> NDArray[np.bool_]:
    """Return where a column of an array or SciPy sparse has gaps, (N,)."""
    if not sp.issparse(X):
        return X[:, k] != X[:, k]
    column = sp.csc_array(X[:, [k]])
    gaps = np.zeros(X.shape[0], dtype=bool)
    gaps[column.indices[column.data != column.data]] = True
    return gaps


@dataclass(frozen=True)
class _Sums:
    """What has been seen of columns: how many gaps, and the mean of what is there."""

    n_gaps: Indices  # (n,)
    weight: Floats  # (n,), of the values that are there
    mean: Floats  # (n,)

    def merge(self, other: _Sums) -> _Sums:
        """Return what both have seen."""
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        mean = (1 - share) * self.mean + share * other.mean
        return _Sums(self.n_gaps + other.n_gaps, weight, mean)


def find_gaps(
    table: Table, ignored: set[int], weights: Rows | None = None, *, indicated: bool
) -> Gaps:
    """Find the numeric columns that have gaps, and the weighted means of what they have.

    Parameters
    ----------
    table : Table
        One in blocks is read in a pass.
    ignored : set of input columns
        Columns that may hold anything.
    weights : Rows, optional
        Row weights.
    indicated : bool
        Whether a column of its own is to say where the gaps are.

    Examples
    --------
    >>> table = Table(3, ["a"], np.array([[1.0], [np.nan], [5.0]]), np.arange(1), {})
    >>> gaps = find_gaps(table, set(), indicated=True)
    >>> gaps.counts, gaps.means
    ({0: 1}, {0: 3.0})
    >>> gaps.fill(table).numeric
    array([[1., 0.],
           [3., 1.],
           [5., 0.]])
    """
    at = table.numeric_at
    if isinstance(table, BlockTable):
        at = np.array([c for c in at.tolist() if c not in ignored], dtype=np.intp)
        how = table.how(at, [weights])
        sums = table.passes.reduce(_sum_up, _Sums.merge, **how)
    else:
        sums = _sum_up(table, weights)
    places = [k for k in np.flatnonzero(sums.n_gaps).tolist() if int(at[k]) not in ignored]
    return Gaps(
        {int(at[k]): int(sums.n_gaps[k]) for k in places},
        {int(at[k]): float(sums.mean[k]) for k in places},
        indicated,
    )


def _sum_up(table: Table, weights: Floats | None) -> _Sums:
    X, n = table.numeric, len(table.numeric_at)
    w = np.ones(table.n_rows) if weights is None else weights
    if sp.issparse(X):
        return _sum_up_sparse(X, w)
    sums = _Sums(np.zeros(n, dtype=np.intp), np.zeros(n), np.zeros(n))
    height = max(1, _TILE_NUMBERS // max(n, 1))
    with np.errstate(all="ignore"):  # infinity is reported elsewhere
        for start in range(0, table.n_rows, height):
            rows = slice(start, start + height)
            sums = sums.merge(_sum_up_tile(X[rows], w[rows]))
    return sums


def _sum_up_tile(X: NDArray, w: Floats) -> _Sums:
    gaps = X != X
    total = max(float(w.sum()), np.finfo(float).tiny)
    shares = w / total  # so that sums stay within the range of the values
    there = shares @ (~gaps).astype(np.float64)
    sums = shares @ np.where(gaps, 0.0, X)
    mean = np.divide(sums, there, out=np.zeros_like(sums), where=there > 0)
    return _Sums(gaps.sum(axis=0), total * there, mean)


def _sum_up_sparse(X: Any, w: Floats) -> _Sums:
    X = sp.csc_array(X)
    owner, n = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr)), X.shape[1]
    gaps = X.data != X.data
    total = max(float(w.sum()), np.finfo(float).tiny)
    shares = w[X.indices] / total
    n_gaps = np.bincount(owner[gaps], minlength=n)
    there = 1.0 - np.bincount(owner[gaps], shares[gaps], minlength=n)
    there[n_gaps == len(w)] = 0.0
    with np.errstate(all="ignore"):
        sums = np.bincount(owner[~gaps], (shares * X.data)[~gaps], minlength=n)
    mean = np.divide(sums, there, out=np.zeros_like(sums), where=there > 0)
    return _Sums(n_gaps, np.asarray(total * there, dtype=np.float64), mean)
