"""Checksums of columns that are read in blocks of rows, to see that passes get the same table.

A sum over some rows of each column, each value by its bits, multiplied with a weight that only its
place in the table decides:

    sum over r of  b_r w_r     mod 2^64

Sums of whole numbers come out the same in whatever order they are added, by however many threads,
and however the rows are cut into blocks. Each row has its own weight, so that rows or
blocks that change places change the sum. Equal numbers have equal bits here, whatever their dtype:
all are taken as float64, with one zero and one NaN. A zero adds nothing, so that sparse columns
need not be written out.

Every k-th row is looked at, all over the table: to look at each would take as long as many a
product does. That shows tables that are made anew, in another order or for the most part; it does
not show every change of a few rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import cache
from hashlib import blake2b
from numbers import Real
from struct import pack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.matrix.base import NO_COLUMNS, Indices

Bits = NDArray[np.uint64]
Sums = NDArray[np.uint64]
Folded = NDArray[np.uint32]

_FEWEST = 64  # rows of a block that are looked at, if it has so many
_LONGEST_PERIOD = 1024  # rows of which one is looked at
_N_WEIGHTS = 1 << 16
_MEMORY = 1 << 24  # bytes that a history may take
_HALF = np.uint64(32)
_ODD = np.uint64(0x9E3779B97F4A7C15)
_OTHER = int(np.array([np.nan]).view(np.uint64)[0])  # for missing values and odd ones
_NUMBERS = (Real, Decimal, np.bool_)
_OVERHEAD = 256  # bytes of a small array in a dictionary


def period_of(n_rows: int) -> int:
    """Return k, such that every k-th row is looked at, for blocks of about `n_rows`.

    >>> [period_of(n_rows) for n_rows in (10, 256, 1000, 10**6)]
    [1, 4, 8, 1024]
    """
    several = min(_LONGEST_PERIOD, max(1, n_rows // _FEWEST))
    return 1 << (several.bit_length() - 1)  # so that sparse rows are found by their last bits


def rows_to_check(start: int, n_rows: int, period: int) -> tuple[slice, Bits]:
    """Return which rows of a block, which begins at row `start`, are looked at, and their weights.

    >>> rows, weights = rows_to_check(20, 25, 16)
    >>> rows, len(weights)
    (slice(12, 25, 16), 1)
    """
    first = -start % period
    count = len(range(first, n_rows, period))
    at = (start + first) // period % _N_WEIGHTS
    if at + count <= _N_WEIGHTS:
        return slice(first, n_rows, period), _weights()[at : at + count]
    return slice(first, n_rows, period), _weights().take(np.arange(at, at + count), mode="wrap")


@cache
def _weights() -> Bits:
    """Return odd numbers without a pattern; rows have them in turn."""
    w = np.arange(1, _N_WEIGHTS + 1, dtype=np.uint64) * _ODD
    for shift in (30, 27):
        w = (w ^ (w >> np.uint64(shift))) * _ODD
    return w | np.uint64(1)


def number_bits(values: NDArray) -> Bits:
    """Return the bits of numbers as float64; those of zeros and of NaN are all alike."""
    numbers = np.add(values, 0.0, dtype=np.float64)  # which makes -0.0 to 0.0
    with np.errstate(all="ignore"):
        may_have_gaps = not np.isfinite(numbers.sum())
    if may_have_gaps:
        numbers[np.isnan(numbers)] = np.nan
    return numbers.view(np.uint64)


def object_bits(values: Iterable[Any]) -> Bits:
    """Return what stands for numbers, for text and for anything else, one for each value.

    >>> same = object_bits([2, "a", None]) == object_bits([2.0, "b", None])
    >>> same.tolist()
    [True, False, True]
    """
    known: dict[tuple[type, Any], int] = {}
    found = []
    for value in values:
        is_plain = isinstance(value, (str, bytes, *_NUMBERS))
        key = (type(value), value if is_plain else None)
        if key not in known:
            known[key] = _bits_of(value) if is_plain else _OTHER
        found.append(known[key])
    return np.array(found, dtype=np.uint64)


def _bits_of(value: Any) -> int:
    if isinstance(value, _NUMBERS):
        try:
            number = float(value) + 0.0
        except (OverflowError, ValueError):  # of Decimal: a NaN that signals
            return _OTHER
        return _OTHER if number != number else int.from_bytes(pack("<d", number), "little")
    text = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")


def weighed(bits: Bits, weights: Bits) -> Bits:
    """Return what values add to the sums of their columns, (N, n) or (N,); it writes into bits."""
    bits ^= bits >> _HALF  # few numbers have more than their first bits, which would be lost
    bits *= weights if bits.ndim == 1 else weights[:, None]
    return bits


def sums_of_numbers(values: NDArray, weights: Bits) -> Sums:
    """Return the sum of each column of numbers, (n,)."""
    return weighed(number_bits(values), weights).sum(axis=0)


def sum_of_objects(values: Iterable[Any], weights: Bits) -> Any:
    """Return the sum of a column of anything."""
    return weighed(object_bits(values), weights).sum()


def folded(sums: Sums) -> Folded:
    """Return sums by their first 32 bits, on which all others have had their part."""
    return (sums >> _HALF).astype(np.uint32)


def unfolded(sums: Folded) -> Sums:
    """Return sums with these first bits, to add to others."""
    return sums.astype(np.uint64) << _HALF


class ChecksumHistory:
    """The checksums that each column had at the ends of blocks, in the first pass that read it.

    A pass may have other columns than one before, and even be cut otherwise: columns are compared
    that both have, where both have a block's end. Every `period`-th row is looked at.
    """

    def __init__(self, period: int) -> None:
        self.period = period
        self.records: list[_Record] = []

    def walk(self, columns: Indices) -> ChecksumWalk:
        """Return what follows one more pass over these columns."""
        return ChecksumWalk(self, columns)

    def keep(self, record: _Record) -> None:
        """Keep a record of columns that have none."""
        if len(record.columns):
            self.records.append(record)

    def of_columns(self, columns: Indices) -> ChecksumHistory:
        """Return the history of a table that has only these columns, in this order."""
        some = ChecksumHistory(self.period)
        place = {int(c): k for k, c in enumerate(columns)}
        for record in self.records:
            at = np.flatnonzero(np.isin(record.columns, columns))
            here = _Record(np.array([place[c] for c in record.columns[at].tolist()], np.intp))
            here.sums = {end: sums[at] for end, sums in record.sums.items()}
            here.is_whole = record.is_whole
            some.keep(here)
        return some


class _Record:
    """Running sums of columns at the ends of blocks; of every second one where these are many."""

    def __init__(self, columns: Indices) -> None:
        self.columns, self.is_whole = columns, False
        self.sums: dict[int, Folded] = {}  # by the end, rising

    def add(self, end: int, sums: Folded) -> None:
        self.sums[end] = sums
        if (4 * len(self.columns) + _OVERHEAD) * len(self.sums) > _MEMORY:
            ends = list(self.sums)[(len(self.sums) - 1) % 2 :: 2]  # the last one stays
            self.sums = {end: self.sums[end] for end in ends}


class ChecksumWalk:
    """One pass, compared with those before.

    `agreed` is the last end of a block up to which all is as it was.
    """

    def __init__(self, history: ChecksumHistory, columns: Indices) -> None:
        self._history, self._columns = history, columns
        self.period = history.period
        # Records that have some of these columns, and the places of those in both.
        self._pairs: list[tuple[_Record, Indices, Indices]] = []
        for record in history.records:
            _, here, there = np.intersect1d(columns, record.columns, return_indices=True)
            if len(here):
                self._pairs.append((record, here, there))
        known = [record.columns for record in history.records if record.is_whole]
        # Places of columns that no pass has read to its end.
        self._new = np.flatnonzero(~np.isin(columns, np.concatenate([NO_COLUMNS, *known])))
        self._record = _Record(columns[self._new])
        self._sums = np.zeros(len(columns), dtype=np.uint64)
        self.agreed = 0

    def add(self, end: int, sums: Sums) -> Indices:
        """Add the sums of the next block, one for each column; return columns that have changed.

        The block ends where so many rows, or parts, have been read in all.
        """
        self._sums += sums
        now, compared = folded(self._sums), False
        for record, here, there in self._pairs:
            before = record.sums.get(end)
            if before is None:
                continue
            compared = True
            differs = now[here] != before[there]
            if differs.any():
                return self._columns[here[differs]]
        if compared:
            self.agreed = end
        self._record.add(end, now[self._new])
        return NO_COLUMNS

    def end(self, *, is_whole: bool = True) -> None:
        """Remember the columns that were new, for good only if the pass came to the end."""
        self._record.is_whole = is_whole
        self._history.keep(self._record)
