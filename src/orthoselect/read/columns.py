"""Where values of a file's columns are missing; see `Dataset`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Gaps = dict[int, tuple[int, int]]  # column -> its missing values, its infinities


def column_of(table: Any, at: int) -> Any:
    """Return a column of a table in memory: an array, a SciPy sparse array or a pyarrow table."""
    if sp.issparse(table):
        return table[:, [at]].toarray()[:, 0]
    return table[:, at] if isinstance(table, np.ndarray) else table.column(at)


def gaps_in(table: Any, columns: Sequence[int]) -> Gaps:
    """Count missing values and infinities, of the columns that have any."""
    if sp.issparse(table):
        odd, n = _odd(table), table.shape[1]
        missing = np.bincount(odd.col[np.isnan(odd.data)], minlength=n).tolist()
        infinite = np.bincount(odd.col[np.isinf(odd.data)], minlength=n).tolist()
        wanted = set(columns).intersection(odd.col.tolist())
        return {at: (missing[at], infinite[at]) for at in wanted}
    if isinstance(table, np.ndarray):
        if table.dtype.kind != "f":
            return {}  # text has no gaps
        odd_at = set(np.flatnonzero(~np.isfinite(table).all(axis=0)).tolist())
        return {at: _counted(table[:, at]) for at in columns if at in odd_at}
    found = {at: table.column(at) for at in columns}
    counts = {
        at: _counted(_floats(column)) if _may_hold_nan(column) else (column.null_count, 0)
        for at, column in found.items()
    }
    return {at: each for at, each in counts.items() if any(each)}


def rows_with_gaps(table: Any, columns: Sequence[int]) -> NDArray[np.bool_]:
    """Return which rows have a missing or infinite value in these columns."""
    rows = np.zeros(table.shape[0], dtype=bool)
    if sp.issparse(table):
        odd = _odd(table)
        rows[odd.row[np.isin(odd.col, list(columns))]] = True
        return rows
    if isinstance(table, np.ndarray):
        for at in columns if table.dtype.kind == "f" else ():
            rows |= ~np.isfinite(table[:, at])
        return rows
    for column in (table.column(at) for at in columns):
        rows |= column.is_null().to_numpy() if column.null_count else False
        if _may_hold_nan(column):
            rows |= ~np.isfinite(_floats(column))
    return rows


def _odd(table: Any) -> Any:
    """Return what is stored in a sparse table and is not finite."""
    stored = sp.coo_array(table)
    odd = ~np.isfinite(stored.data)
    return sp.coo_array((stored.data[odd], (stored.row[odd], stored.col[odd])), stored.shape)


def _counted(values: NDArray) -> tuple[int, int]:
    return int(np.isnan(values).sum()), int(np.isinf(values).sum())


def _floats(column: Any) -> NDArray:
    return column.to_numpy().astype(np.float64, copy=False)


def _may_hold_nan(column: Any) -> bool:
    """Whether a column has NaN or infinity; an overflow of the sum asks for a closer look too."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(column.type):
        return False
    if pa.types.is_float16(column.type):  # which pyarrow does not add up
        return not np.isfinite(_floats(column)).all()
    total = pc.sum(column).as_py()
    return total is not None and not np.isfinite(total)
