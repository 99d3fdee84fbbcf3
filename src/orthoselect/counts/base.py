"""What a kind of counting has to answer, and what its rows count for.

Notation: x_k is feature k, of n, with codes from 0; y is the class, of c; #(...) counts rows (adds
up their weights); T maps a count to c ln c. With N rows, TN = T[N], TY = `classes`, (X, XY) =
`margins` and (XJ, XJY) = `pairs` with j, every information follows, in units of T:

    N I(k; y) = XY - X - TY + TN              N I(k; j) = XJ - X - X[j] + TN
    N I(k, j; y) = XJY - XJ - TY + TN         N I(k; j | y) = XJY - XY - XY[j] + TY
    N I(k; y | j) = XJY - XJ - XY[j] + X[j]   N H(k, j, y) = TN - XJY
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.counts.falling import FallingScores, Margins
from orthoselect.counts.logarithms import SMALLEST, AnyLogarithms, Logarithms, RealLogarithms
from orthoselect.errors import InputError
from orthoselect.matrix.passes import BlockReader
from orthoselect.matrix.rows import Rows, SpreadWeights, total_weight
from orthoselect.matrix.threads import run_tasks

Integers = NDArray[np.int64]
Sums = tuple[NDArray, NDArray]

# Whole logarithms of sums of weights up to here are right to 1e-11 nats; beyond, floats are better.
LARGEST_WHOLE = 10_000
# Sums over all rows that make up one information. Those over several features are added up in the
# order in which these were taken, whatever the order of the rows, and may round.
_TERMS = 8
_EXACT_BITS = 52  # of sums in float64
_SLABS = 16  # tasks that the features are cut into
_WORTH_A_THREAD = 4e5  # nanoseconds below which a second thread does not pay


def as_units(weights: Rows | None) -> tuple[Rows | None, int]:
    """Return row weights in units of 2**-exponent, whose sums are exact in float64, and exponent.

    Whole weights are counted as they are, and the exponent is 0; others are rounded to multiples of
    a power of two that is less than their sum by a factor of about 2**52. No weight but zero
    becomes zero units. Units of `SpreadWeights` are made where these are; without weights there
    are none.

    >>> as_units(np.array([1.0, 3.0]))
    (array([1, 3]), 0)
    >>> units, exponent = as_units(np.array([0.1, 0.2]))
    >>> units * 2.0**-exponent
    array([0.1, 0.2])
    """
    if weights is None:
        return None, 0
    is_spread = isinstance(weights, SpreadWeights)
    are_whole = weights.whole if is_spread else bool((weights == np.rint(weights)).all())
    total = total_weight(weights, 0)
    exponent = 0
    if total >= 2.0**_EXACT_BITS or not are_whole:
        exponent = min(_EXACT_BITS - math.frexp(total)[1], SMALLEST)
    if is_spread:
        return weights.then(partial(_units, exponent), width=1), exponent
    return _units(exponent, weights), exponent


def _units(exponent: int, weights: NDArray) -> Integers:
    return np.maximum(np.rint(np.ldexp(weights, exponent)), weights > 0).astype(np.int64)


def tally(places: NDArray, units: Integers | None, n_places: int) -> Integers:
    """Add up units, or count rows, by their place; sums of units are exact in float64."""
    return np.bincount(places, units, n_places).astype(np.int64, copy=False)


class Counts(ABC):
    """Integer-coded features, counted against one of them and the class.

    `shape` is (N, n), `levels` (n,) how many codes each feature has, y (N,) the classes from 0 to
    n_classes - 1. With weights (N,) a count is the sum of the weights of its rows.
    """

    kind = ""  # "packed", "counted", "sparse", "weighted" or "blocks"
    reader: BlockReader | None = None  # what counts the passes over a table in blocks

    def __init__(
        self,
        shape: tuple[int, int],
        levels: NDArray,
        y: NDArray,
        n_classes: int,
        weights: Rows | None = None,
    ) -> None:
        self.shape = shape
        self.levels: Integers = np.asarray(levels, dtype=np.int64)
        self.n_classes = n_classes
        self._units, self._exponent = as_units(weights)  # no units: each row counts for one
        self._y, self._n_present, units = self._count_classes(y)
        self._class_counts = self._weight_of(units)
        self.total: int | float = self._class_counts.sum().item()  # rows, or their weight

    def _count_classes(self, y: NDArray) -> tuple[NDArray, int, Integers]:
        """Return y without classes that have no rows, how many are left, and their units."""
        y, n_present = occurring(y, self.n_classes)
        n_present = max(1, n_present)
        return y, n_present, tally(y, self._units, n_present)

    def _weight_of(self, units: NDArray) -> NDArray:
        """Return sums of units as sums of weights, or rows as rows."""
        return np.ldexp(units.astype(np.float64), -self._exponent) if self._exponent else units

    def stats(self) -> dict[str, int]:
        """Return what reading has taken so far, if there is anything to be read."""
        return {} if self.reader is None else self.reader.stats()

    def logarithms(self, terms: int, *, corrected: bool = False) -> AnyLogarithms:
        """Return the T to be used, with room for `terms` sums of c ln c over all rows."""
        if self._exponent or (self._units is not None and self.total > LARGEST_WHOLE):
            if corrected:
                raise InputError(
                    "`adjust='miller_madow'` counts filled cells, so `sample_weight` should be "
                    "whole numbers (copies of rows) whose sum is not too large; these are not. "
                    "Omit one of the two."
                )
            return RealLogarithms(float(self.total), _TERMS)
        return Logarithms(int(self.total), terms, corrected=corrected)

    def classes(self, T: AnyLogarithms) -> Any:
        """Return the sum of T[#(y)] over the classes."""
        return T.of(self._class_counts).sum()

    def varying(self, X: NDArray, T: AnyLogarithms) -> NDArray[np.bool_]:
        """Return which features have more than one level, given the X of `margins`."""
        return T.of(self.total) > X

    @abstractmethod
    def margins(self, T: AnyLogarithms) -> Sums:
        """Return X and XY: sums of T[#(x_k = a)], and of T[#(x_k = a, y)], for each k."""

    @abstractmethod
    def pairs(self, j: int, T: AnyLogarithms) -> Sums:
        """Return XJ and XJY: sums of T[#(x_k = a, x_j = b)], and of T[#(x_k = a, x_j = b, y)]."""

    def falling(
        self, T: AnyLogarithms, margins: Sums, known: NDArray, *, takes_least: bool
    ) -> FallingScores | None:
        """Return scores that can only fall, of which no more is counted than needed.

        `margins` are X and XY, `known` (n,) the scores with nothing taken; `takes_least` tells
        which scores, see `FallingScores`. None: this kind counts all pairs, as in `pairs`.
        """
        return None

    def _all_margins(self, T: AnyLogarithms, margins: Sums) -> Margins:
        return Margins(*margins, int(T.of(self.total)), int(self.classes(T)))

    def _room(self, T: AnyLogarithms) -> Sums:
        """Return room for XJ and XJY, having checked that T reaches to the number of rows."""
        n, dtype = self.shape[1], np.float64 if T.table is None else np.int64
        if self._units is None and (T.table is None or len(T.table) <= self.shape[0]):
            raise InputError(
                f"T should be whole logarithms of counts up to {self.shape[0]}; "
                f"take those of `logarithms`."
            )
        return np.empty(n, dtype=dtype), np.empty(n, dtype=dtype)


def table_sums(counts: NDArray, T: AnyLogarithms) -> Sums:
    """Return XJ and XJY, given the counts (feature, level, level of j, class)."""
    return T.of(counts.sum(axis=3)).sum(axis=(1, 2)), T.of(counts).sum(axis=(1, 2, 3))


def occurring(codes: NDArray, levels: int) -> tuple[NDArray, int]:
    """Return codes numbered anew, without those that do not occur, and how many are left.

    >>> occurring(np.array([7, 0, 7]), 9)
    (array([1, 0, 1]), 2)
    """
    is_there = np.bincount(codes, minlength=levels) > 0
    return (np.cumsum(is_there) - 1)[codes], int(is_there.sum())


def by_slabs(n: int, work: Callable[[slice], None], nanoseconds: float) -> None:
    """Do work on slabs of n features in a few threads; each writes to places of its own.

    `nanoseconds` is roughly what all of it takes one thread.
    """
    if nanoseconds < _WORTH_A_THREAD:
        if n:
            work(slice(0, n))
        return
    width = max(1, -(-n // _SLABS))
    slabs = [slice(start, min(start + width, n)) for start in range(0, n, width)]
    run_tasks(slabs, lambda slab, _: work(slab))
