"""Features counted with row weights: a count is the sum of the weights of its rows.

Weights are taken as whole numbers of a small unit, so that counts, and sums over them, are exact in
whatever order they are added.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from orthoselect.counts.base import Counts, Integers, Sums, by_slabs, occurring
from orthoselect.counts.codes import Codes, DenseCodes
from orthoselect.counts.logarithms import SMALLEST, AnyLogarithms, Logarithms, RealLogarithms
from orthoselect.counts.sparse import SparseCounts
from orthoselect.counts.tables import Columns, Weights, sum_tables
from orthoselect.matrix.rows import Rows, SpreadWeights, total_weight
from orthoselect.native import kernels

# Whole logarithms of counts up to this total are right to 1e-11 nats; beyond, floats are better.
LARGEST_WHOLE = 10_000
# Sums over all rows that make up one information. Those over several features are added up in the
# order in which these were taken, whatever the order of the rows, and may round.
_TERMS = 8
_EXACT_BITS = 52  # of sums in float64
_NS_A_ROW = 2.0


class WeightedCounts(Counts):
    """Counts with row weights, of dense or sparse codes.

    Parameters
    ----------
    weights : array of shape (N,)
        Positive. Whole ones are counted as they are; others are rounded to multiples of a power of
        two that is less than their sum by a factor of about 2**52, and are at least that.
    """

    kind = "weighted"

    def __init__(self, codes: Codes, y: NDArray, n_classes: int, weights: NDArray) -> None:
        super().__init__(codes.shape, codes.levels, y, n_classes)
        self._weights = to_units(weights)
        self._class_counts = self._counts_of(self._y, self._n_present)
        self.total = self._class_counts.sum().item()
        self._codes = codes
        self._values = codes.values if isinstance(codes, DenseCodes) else None
        self._sparse = None
        if not isinstance(codes, DenseCodes):
            self._sparse = SparseCounts(codes, y, n_classes, self._weights)

    def logarithms(self, terms: int) -> AnyLogarithms:
        return weighted_logarithms(self._weights, self.total, terms)

    def varying(self, X: NDArray, T: AnyLogarithms) -> NDArray[np.bool_]:
        # Rounding may swallow rows of little weight beside the others.
        return self._codes.varying() if T.table is None else super().varying(X, T)

    def margins(self, T: AnyLogarithms) -> Sums:
        if self._sparse is not None:
            return self._sparse.margins(T)
        return self._sweep(np.zeros(self.shape[0], dtype=np.int64), 1, T)

    def pairs(self, j: int, T: AnyLogarithms) -> Sums:
        if self._values is None:
            assert self._sparse is not None
            return self._sparse.pairs(j, T)
        return self._sweep(*occurring(self._values[j], int(self.levels[j])), T)

    def _counts_of(self, places: NDArray, n_places: int) -> NDArray:
        units = np.bincount(places, self._weights.units, n_places).astype(np.int64)
        return self._weights.counts(units)

    def _sweep(self, b: NDArray, n_b: int, T: AnyLogarithms) -> Sums:
        assert self._values is not None
        values, n = self._values, self.shape[1]
        dtype = np.float64 if T.table is None else np.int64
        XJ, XJY = np.empty(n, dtype=dtype), np.empty(n, dtype=dtype)
        against = Columns(b, n_b, b * self._n_present + self._y, self._n_present)

        def work(slab: slice) -> None:
            XJ[slab], XJY[slab] = sum_tables(
                values[slab], self.levels[slab], against, T, self._weights
            )

        # NumPy counts with the interpreter's lock held: threads would only wait for each other.
        by_slabs(n, work, 0.0 if kernels() is None else _NS_A_ROW * self.shape[0] * n)
        return XJ, XJY


def weighted_logarithms(weights: Weights, total: float, terms: int) -> AnyLogarithms:
    """Return the T for weights that add up to `total`.

    Examples
    --------
    >>> weighted_logarithms(to_units(np.array([1.0, 3.0])), 4, 8).table is None
    False
    >>> weighted_logarithms(to_units(np.array([1.0, 3e6])), 3_000_001, 8).table is None
    True
    """
    if weights.exponent == 0 and total <= LARGEST_WHOLE:
        return Logarithms(int(total), terms)
    return RealLogarithms(float(total), _TERMS)


def to_units(weights: Rows) -> Weights:
    """Return weights as whole numbers of units whose sums are exact in float64.

    No weight but zero becomes zero units. Those of `SpreadWeights` are made where these are.

    Examples
    --------
    >>> to_units(np.array([1.0, 3.0])).units
    array([1, 3])
    >>> made = to_units(np.array([0.1, 0.2]))
    >>> made.counts(made.units)
    array([0.1, 0.2])
    """
    total = total_weight(weights, 0)
    exponent = 0
    if total >= 2.0**_EXACT_BITS or not _are_whole(weights):
        exponent = min(_EXACT_BITS - math.frexp(total)[1], SMALLEST)
    if isinstance(weights, SpreadWeights):
        return Weights(weights.then(partial(_units, exponent), width=1), exponent)
    return Weights(_units(exponent, weights), exponent)


def _are_whole(weights: Rows) -> bool:
    if isinstance(weights, SpreadWeights):
        return weights.whole
    return bool((weights == np.rint(weights)).all())


def _units(exponent: int, weights: NDArray) -> Integers:
    return np.maximum(np.rint(np.ldexp(weights, exponent)), weights > 0).astype(np.int64)
