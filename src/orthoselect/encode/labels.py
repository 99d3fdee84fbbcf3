"""Labels of any kind -> integer codes and the levels they stand for."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.errors import InputError, MissingValueError, listing

_COUNTED_AT_ONCE = 1 << 20  # since counting copies what it counts
_CODED_AT_ONCE = 1 << 15  # in a near cache
GAP = None  # the level of what is missing, where it has one
_FEW = 10  # levels that are quicker looked for one by one than counted together


@dataclass(frozen=True)
class Labels:
    """A categorical column.

    Attributes
    ----------
    codes : integer array of shape (N,)
        Position of each row's label in `levels`; of any integer type.
    levels : tuple
        The distinct labels that occur: in the order of the dtype where it has one, else sorted.
    most_frequent : int or None
        Place of the most frequent level in the whole column, if these are only some of its rows.
    counts : integer array or None
        How many rows each level has, if that was found on the way.
    """

    codes: NDArray
    levels: tuple[Any, ...]
    most_frequent: int | None = field(default=None, repr=False)
    counts: NDArray[np.intp] | None = field(default=None, repr=False)

    @property
    def usual(self) -> int:
        """Place of the most frequent level."""
        if self.most_frequent is not None:
            return self.most_frequent
        return int(np.bincount(self.codes).argmax())

    def present(self, rows: NDArray[np.bool_]) -> Labels:
        """Return the same rows with only the levels that occur where `rows` is True."""
        used = np.flatnonzero(np.bincount(self.codes[rows], minlength=len(self.levels)))
        if len(used) == len(self.levels):
            return self
        # Rows outside keep a valid code; they carry no weight.
        position = np.zeros(len(self.levels), dtype=np.intp)
        position[used] = np.arange(len(used))
        return Labels(position[self.codes], tuple(self.levels[u] for u in used))


def find_labels(
    values: NDArray,
    what: str = "The labels",
    order: Sequence[Any] | None = None,
    *,
    gap_is_level: bool = False,
) -> Labels:
    """Return the distinct labels of a column and each row's place among them.

    Parameters
    ----------
    values : array of shape (N,)
        Numbers, booleans, strings or objects.
    what : str
        What to call the column in an error.
    order : sequence, optional
        All possible labels in their order (of an ordered categorical, say).
    gap_is_level : bool, default=False
        Whether what is missing has a level of its own, `GAP`, which is the last; else it is an
        error.

    Examples
    --------
    >>> find_labels(np.array(["b", "a", "b"]))
    Labels(codes=array([1, 0, 1]), levels=('a', 'b'))
    >>> find_labels(np.array([7, np.nan, 7]), gap_is_level=True)
    Labels(codes=array([0, 1, 0]), levels=(7.0, None))
    """
    gaps = find_missing(values)
    if gaps is not None and gap_is_level:
        some = find_labels(values[~gaps], what, order)
        codes = np.full(len(values), len(some.levels), dtype=np.intp)
        codes[~gaps] = some.codes
        return Labels(codes, (*some.levels, GAP))
    if gaps is not None:
        remedy = "Drop those rows, or give the gap a label of its own."
        raise MissingValueError(what, int(gaps.sum()), remedy)
    if values.dtype == object:
        place: dict[Any, int] = {}  # no sorting of N Python objects
        labels = values.tolist()
        try:
            found = (place.setdefault(v, len(place)) for v in labels)
            return _ordered(np.fromiter(found, np.intp, len(labels)), list(place), order)
        except TypeError:
            odd = next(v for v in labels if not isinstance(v, Hashable))
            raise TypeError(
                f"{what} should hold labels or numbers; it holds a {type(odd).__name__}."
            ) from None
    if values.dtype.kind in "iub" and len(values):
        if values.dtype.itemsize == 1:
            return _find_bytes(values, order)
        low, high = int(values.min()), int(values.max())
        if high - low <= max(1000, len(values)):
            return _find_by_count(values, low, high, order)
    levels, codes = np.unique(values, return_inverse=True)
    return _ordered(codes.reshape(-1), levels.tolist(), order)


def _find_by_count(values: NDArray, low: int, high: int, order: Sequence[Any] | None) -> Labels:
    """Integers in a small range: counting them is quicker than sorting them."""
    # New memory is dear: codes of one byte take an eighth of it.
    codes: NDArray = np.empty(len(values), dtype=np.uint8 if high - low < 256 else np.intp)
    counts = np.zeros(high - low + 1, dtype=np.intp)
    for start in range(0, len(values), _CODED_AT_ONCE):
        part = slice(start, start + _CODED_AT_ONCE)
        wide = values[part] if values.dtype.itemsize == 8 else values[part].astype(np.int64)
        np.subtract(wide, wide.dtype.type(low), out=codes[part], casting="unsafe")
        if len(counts) <= _FEW:
            counts += [np.count_nonzero(codes[part] == code) for code in range(len(counts))]
        else:
            counts += np.bincount(codes[part], minlength=len(counts))
    place = np.flatnonzero(counts)
    if len(place) <= high - low:  # some numbers in between do not occur
        to_code = np.zeros(high - low + 1, dtype=codes.dtype)
        to_code[place] = np.arange(len(place))
        codes = to_code.take(codes)
    return _ordered(codes, [level + low for level in place.tolist()], order, counts[place])


def _find_bytes(values: NDArray, order: Sequence[Any] | None) -> Labels:
    """Numbers or truth values of one byte: a table of 256 says all."""
    stored = np.ascontiguousarray(values).view(np.uint8)
    counts = np.zeros(256, dtype=np.intp)
    for start in range(0, len(stored), _COUNTED_AT_ONCE):
        counts += np.bincount(stored[start : start + _COUNTED_AT_ONCE], minlength=256)
    meaning = np.arange(256, dtype=np.uint8).view(values.dtype)
    used = np.flatnonzero(counts)
    used = used[np.argsort(meaning[used], kind="stable")]
    to_code = np.zeros(256, dtype=np.uint8)
    to_code[used] = np.arange(len(used))
    return _ordered(to_code.take(stored), meaning[used].tolist(), order, counts[used])


class LevelsSeen:
    """The levels of a column that comes in blocks: found block by block, ordered in the end.

    Parameters
    ----------
    what : str
        What to call the column in an error.

    Examples
    --------
    >>> seen = LevelsSeen("column `a`")
    >>> seen.add(find_labels(np.array(["b", "c", "c"])))
    array([0, 1, 1], dtype=uint8)
    >>> seen.add(find_labels(np.array(["a", "b"])))
    array([2, 0], dtype=uint8)
    >>> seen.levels(), seen.places().tolist(), seen.most_frequent()
    (('a', 'b', 'c'), [1, 2, 0], 1)
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._place: dict[Any, int] = {}  # in order of appearance
        self._counts: list[int] = []
        self._order: Sequence[Any] | None = None

    def add(self, labels: Labels, order: Sequence[Any] | None = None) -> NDArray:
        """Take the labels of one more block; return its codes, by order of appearance."""
        if order is not None and self._order not in (None, order):
            raise InputError(
                f"{self._what} should have its categories in the same order in all blocks; got "
                f"{list(order)!r} after {list(self._order or ())!r}. Give all blocks one dtype."
            )
        self._check_ordered(labels.levels, order)
        self._order = order if order is not None else self._order
        place = self._place
        mine = np.array([place.setdefault(v, len(place)) for v in labels.levels], dtype=np.intp)
        self._counts += [0] * (len(place) - len(self._counts))
        counts = labels.counts
        if counts is None:
            counts = np.bincount(labels.codes, minlength=len(mine))
        for at, count in zip(mine.tolist(), counts.tolist()):
            self._counts[at] += count
        return mine.astype(np.min_scalar_type(max(len(place) - 1, 0))).take(labels.codes)

    def _check_ordered(self, levels: Sequence[Any], order: Sequence[Any] | None) -> None:
        """Raise for levels that have no place in the order of some block."""
        of_all = self._order if order is None else order
        if of_all is None:
            return
        found = levels if self._order is not None else [*self._place, *levels]
        ordered = dict.fromkeys(of_all)
        unknown = [v for v in dict.fromkeys(found) if v is not GAP and v not in ordered]
        if unknown:
            raise InputError(
                f"{self._what} should have categories of one ordered dtype in all blocks; some "
                f"have the order {listing(ordered)}, and {listing(unknown)} is not among these. "
                f"Give all blocks one dtype."
            )

    @property
    def n_levels(self) -> int:
        """How many levels have been seen."""
        return len(self._place)

    @property
    def n_rows(self) -> int:
        """How many rows have been seen."""
        return sum(self._counts)

    @property
    def order(self) -> Sequence[Any] | None:
        """The order of the dtype, if it has one."""
        return self._order

    def merge(self, other: LevelsSeen) -> NDArray[np.intp]:
        """Take what another has seen; return where its levels are now, by its own order."""
        theirs = list(other._place)
        if not theirs:
            return np.zeros(0, dtype=np.intp)
        found = Labels(np.arange(len(theirs)), tuple(theirs), counts=np.array(other._counts))
        return self.add(found, other._order).astype(np.intp)

    def rows_by_level(self) -> dict[Any, int]:
        """Return how many rows each level has, by order of appearance."""
        return dict(zip(self._place, self._counts))

    def levels(self) -> tuple[Any, ...]:
        """Return all levels, in the order of the dtype where it has one, else sorted."""
        found = list(self._place)
        return tuple(found[k] for k in _ranking(found, self._order))

    def places(self) -> NDArray[np.intp]:
        """Return the place among `levels` of each level by order of appearance."""
        return np.argsort(_ranking(list(self._place), self._order))

    def counts(self) -> NDArray[np.intp]:
        """Return how many rows have each of `levels`."""
        return np.array(self._counts, dtype=np.intp)[_ranking(list(self._place), self._order)]

    def most_frequent(self) -> int:
        """Return the place among `levels` of the level that most rows have."""
        return int(self.counts().argmax())


def find_missing(values: NDArray) -> NDArray[np.bool_] | None:
    """Return where a column has NaN, None, NaT or NA; None for nowhere.

    Examples
    --------
    >>> find_missing(np.array([1.0, np.nan])), find_missing(np.array([1.0, 2.0]))
    (array([False,  True]), None)
    """
    if values.dtype == object:
        gaps = np.fromiter(map(is_gap, values.tolist()), bool, len(values))
    elif values.dtype.kind in "fmM":
        gaps = np.isnan(values)
    else:
        return None
    return gaps if gaps.any() else None


def is_gap(value: Any) -> bool:
    """Whether a value is missing."""
    return (
        value is None
        or (isinstance(value, (float, np.floating)) and bool(value != value))
        or type(value).__name__ in {"NAType", "NaTType"}  # pandas' two
    )


def _ordered(
    codes: NDArray,
    levels: list[Any],
    order: Sequence[Any] | None,
    counts: NDArray[np.intp] | None = None,
) -> Labels:
    """Return labels with their levels in order, given codes for levels as they were found."""
    ranking = _ranking(levels, order)
    if ranking == list(range(len(levels))):
        return Labels(codes, tuple(levels), counts=counts)
    place = np.empty(len(levels), dtype=codes.dtype)
    place[ranking] = np.arange(len(levels))
    counts = None if counts is None else counts[ranking]
    return Labels(place.take(codes), tuple(levels[k] for k in ranking), counts=counts)


def _ranking(levels: list[Any], order: Sequence[Any] | None) -> list[int]:
    """Return the places of levels in their order: that given, or sorted; a gap comes last."""
    if GAP in levels:
        at = levels.index(GAP)
        ranking = _ranking([*levels[:at], *levels[at + 1 :]], order)
        return [*(k + (k >= at) for k in ranking), at]
    if order is not None:
        rank = {level: position for position, level in enumerate(order)}
        return sorted(range(len(levels)), key=lambda k: rank[levels[k]])
    try:
        return sorted(range(len(levels)), key=levels.__getitem__)
    except TypeError:  # labels of several types have no order of their own
        return sorted(range(len(levels)), key=lambda k: (type(levels[k]).__name__, str(levels[k])))
