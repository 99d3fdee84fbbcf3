"""Where a table and its response lack values, and the rows that are left without these."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.encode import TargetColumn
from orthoselect.encode.gaps import all_finite, gaps_in
from orthoselect.encode.labels import GAP
from orthoselect.errors import GapsError, NonFiniteError, RowsDroppedWarning, ShapeError, warn
from orthoselect.matrix.rows import SpreadRows
from orthoselect.read.block import Block, as_array
from orthoselect.read.dataset import Dataset
from orthoselect.read.row_blocks import is_dask, take_rows
from orthoselect.read.source import BlockSource, Source, open_source
from orthoselect.read.survey import numbers_of, read_target

Mask = NDArray[np.bool_]


@dataclass
class GapSurvey:
    """What is missing in some columns of a table, found block by block.

    Columns are given by their positions in the table. `others` are the response and the weights.
    """

    n_columns: int  # of the table
    numeric: Sequence[int]
    labeled: Sequence[int] = ()
    others: Sequence[int] = ()
    counts: dict[int, tuple[int, int]] = field(default_factory=dict)  # missing, infinite
    rows: list[Mask] = field(default_factory=list)  # of each block: where anything is missing
    place: str | None = None  # of the first block with any

    @property
    def columns(self) -> NDArray[np.intp]:
        """All of these columns, rising."""
        return np.array(sorted({*self.numeric, *self.labeled, *self.others}), dtype=np.intp)

    def look(self, block: Block) -> None:
        """Look at one more block, which has all columns of the table or just these."""
        place = {c: k for k, c in enumerate(self.columns.tolist())}
        if len(block.names) == self.n_columns:
            place = {c: c for c in place}
        rows, known = np.zeros(block.n_rows, dtype=bool), len(self.counts)
        numeric = [c for c in self.numeric if c in place]
        self._look_at_numbers(block, numeric, [place[c] for c in numeric], rows)
        for c in self.labeled:
            labels = block.labels(place[c])
            if GAP in labels.levels:
                self._count(c, labels.codes == labels.levels.index(GAP), 0, rows)
        for c in self.others:
            (column,) = read_target(block.column(place[c]), block.n_rows)
            gaps = column.missing()
            if gaps is not None:
                self._count(c, gaps, 0, rows)
        if len(self.counts) > known and self.place is None:
            self.place = block.place
        self.rows.append(rows)

    def _look_at_numbers(
        self, block: Block, columns: Sequence[int], at: Sequence[int], rows: Mask
    ) -> None:
        if not columns:
            return
        # All columns of an array are no copy, as some of them would be.
        every = block.is_array
        X = block.numeric(np.arange(len(block.names)) if every else np.array(at, dtype=np.intp))
        if all_finite(X):
            return
        X = sp.csc_array(X) if sp.issparse(X) else X
        for k, c in enumerate(columns):
            k = at[k] if every else k
            column = X[:, [k]].data if sp.issparse(X) else X[:, k]
            self._count(c, gaps_in(X, k), int(np.isinf(column).sum()), rows)

    def _count(self, c: int, gaps: Mask, n_infinite: int, rows: Mask) -> None:
        missing, infinite = self.counts.get(c, (0, 0))
        n_missing = int(gaps.sum())
        if n_missing or n_infinite:
            self.counts[c] = missing + n_missing, infinite + n_infinite
            rows |= gaps

    def merge(self, other: GapSurvey) -> GapSurvey:
        """Return what both have found, the rows of the other following."""
        for c, (missing, infinite) in other.counts.items():
            before = self.counts.get(c, (0, 0))
            self.counts[c] = before[0] + missing, before[1] + infinite
        self.rows += other.rows
        self.place = other.place if self.place is None else self.place
        return self


def survey_gaps(
    source: Source, numeric: Sequence[int], labeled: Sequence[int], others: Sequence[int] = ()
) -> GapSurvey:
    """Find the gaps of some columns of a source; of one in blocks in a pass."""
    start = partial(GapSurvey, len(source.names), list(numeric), sorted(labeled), list(others))
    if not len(start().columns):
        return start()
    columns = start().columns
    return source.over_blocks(start, GapSurvey.look, GapSurvey.merge, columns=columns, along=[])


def drop_rows(
    data: Any,
    source: Source,
    target: Any,
    weights: Any,
    columns: Mapping[int, str],
    candidates: tuple[Sequence[int], Sequence[int]] = ((), ()),
) -> tuple[Any, Source, Any, Any, int]:
    """Drop the rows in which something is missing, and warn how many these are.

    Parameters
    ----------
    data : a table of any kind
    source : Source
        The same, looked at.
    target, weights : values, or None where they are columns of the table
    columns : mapping of int to str
        Those columns, and what they are: "the target" or "the weights".
    candidates : pair of lists of columns
        Columns of numbers and of labels that should have no gaps either.

    Returns
    -------
    data, source, target, weights
        Of the rows that are left; as they were if that is all of them.
    n_dropped : int
    """
    found = survey_gaps(source, *candidates, list(columns))
    told = _told(found, source, columns)
    missing = np.concatenate(found.rows) if found.counts else None
    for what, values in (("the target", target), ("the weights", weights)):
        gaps = None if values is None else _missing_beside(source, values)
        if gaps is not None:
            told.append(f"{what} ({int(gaps.sum())})")
            missing = gaps if missing is None else missing | gaps
    if missing is None or not missing.any():
        return data, source, target, weights, 0
    if missing.all():
        raise ShapeError(
            f"there should be rows in which nothing is missing; each of the {len(missing)} lacks a "
            f"value, in {listed(told)}. Exclude columns, or name another target."
        )
    n_dropped = int(missing.sum())
    warn(RowsDroppedWarning(n_dropped, len(missing), f" in {listed(told)}"))
    data, source = _keep_rows(data, source, ~missing)
    target, weights = _keep_values(target, ~missing), _keep_weights(weights, ~missing)
    return data, source, target, weights, n_dropped


def _told(found: GapSurvey, source: Source, columns: Mapping[int, str]) -> list[str]:
    """Return the columns that lack values, the worst first, and how many."""
    worst = sorted(found.counts.items(), key=lambda column: -column[1][0])
    return [
        f"{f'{columns[c]} ' if c in columns else ''}`{source.names[c]}` ({n})"
        for c, (n, _) in worst
        if n
    ]


def listed(told: Sequence[str], most: int = 5) -> str:
    """Return the first few of a list in words.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    more = f" and {len(told) - most} more" if len(told) > most else ""
    return ", ".join(told[:most]) + more


def _missing_beside(source: Source, values: Any) -> Mask | None:
    """Return where values that are given beside a table are missing, None for nowhere."""
    given = source.per_row(values)
    if isinstance(given, SpreadRows):
        gaps = given.then(any_missing, width=1)[:]
    else:
        gaps = any_missing(read_target(given, source.n_rows or (*np.shape(given), 0)[0]))
    if not gaps.any():
        return None
    if not source.n_rows:  # they have not been counted yet
        one = np.zeros(1, dtype=np.intp)
        counts = source.over_blocks(list, _append_rows, operator.add, columns=one, along=[])
        read_target(given, sum(counts))
    return gaps


def _append_rows(counts: list[int], block: Block) -> None:
    counts.append(block.n_rows)


def any_missing(columns: Sequence[TargetColumn]) -> Mask:
    """Return the rows where any of these columns lacks a value."""
    gaps = np.zeros(len(columns[0].values), dtype=bool)
    for column in columns:
        missing = column.missing()
        gaps |= False if missing is None else missing
    return gaps


def _keep_rows(data: Any, source: Source, rows: Mask) -> tuple[Any, Source]:
    """Return some rows of a table of any kind, and look at them."""
    if isinstance(source, BlockSource):
        kept = source.kept(rows)
        if isinstance(data, Dataset) and data.format == "frame":  # passed by the caller
            return replace(data, data=kept), kept
        return (data.take_rows(rows) if isinstance(data, Dataset) else kept), kept
    if isinstance(data, Dataset):
        data = data.take_rows(rows)
    else:
        data = take_rows(data if hasattr(data, "shape") else as_array(data, "X"), rows)
    return data, open_source(data)


def _keep_values(values: Any, rows: Mask) -> Any:
    """Return some rows of a response; those of a Dask collection are taken where it is read."""
    if values is None or is_dask(values):
        return values
    return [column.take(rows) for column in read_target(values, len(rows))]


def _keep_weights(weights: Any, rows: Mask) -> Any:
    """Return the weights of some rows; those of a Dask collection are taken where it is read."""
    kept = _keep_values(weights, rows)
    return kept if kept is weights else numbers_of(kept[0])


def gaps_error(
    source: Source,
    numeric: Sequence[int],
    labeled: Sequence[int],
    others: Mapping[int, str],
    beside: Mapping[str, Any],
    *,
    allowed: bool = False,
) -> NonFiniteError | None:
    """Return the error that names all columns that lack values or are infinite; None if none is.

    `others` are the columns of the response and of the weights, and what they are; `beside` such
    values, by what to call them. Where gaps are allowed, only infinite values count.
    """
    found = survey_gaps(source, numeric, labeled, list(others))
    counts = {str(source.names[c]): each for c, each in found.counts.items()}
    n_rows = sum(map(len, found.rows)) or source.n_rows
    for what, values in beside.items():
        gaps = _missing_beside(source, values)
        if gaps is not None:
            counts[what] = int(gaps.sum()), 0
            n_rows = len(gaps)
    if allowed:
        counts = {name: (0, infinite) for name, (_, infinite) in counts.items() if infinite}
    place = found.place if isinstance(source, BlockSource) else None
    if any(missing for missing, _ in counts.values()):
        roles = {str(source.names[c]): what for c, what in others.items()}
        roles |= {"y": "the target"} if "y" in beside else {}
        return GapsError(counts, n_rows, roles=roles, place=place)
    return NonFiniteError(counts, place) if counts else None
