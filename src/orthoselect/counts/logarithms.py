"""c ln c of counts, added up so that the order does not matter.

Informations are sums of c ln c. In floating point two sums that are equal on paper differ in their
last digits, and those would decide ties. Here a term is a whole number of small units (a multiple
of a power of two where weights are not whole), so that sums are exact.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

SMALLEST = 1074  # float64 has no number below 2**-1074
_INT64_BITS, _FLOAT64_BITS = 63, 53
_FINEST = 60  # the unit for a single row, whose logarithms are all zero


class Logarithms:
    """c ln c of whole counts as whole numbers.

    Every prime p gets the whole number ln p * unit, rounded, and the logarithm of a count is the
    sum of those of its prime factors. Hence ln(ab) = ln a + ln b holds exactly, and so does all
    that follows from it: sums that are equal on paper are equal here, and the information of
    independent features is 0, not nearly 0.

    `total` is the largest count, the number of rows; `terms` is how many sums of c ln c over all
    rows are added up at most. If `corrected`, each count but 0 has 1/2 less. An entropy is ln N
    less the sum of c ln c over N, so each cell that is filled adds 1/(2 N) to it: that is Miller
    and Madow's correction, once the logarithm of all rows has 1/2 less, too.

    >>> T = Logarithms(12, terms=8)
    >>> int(T.table[12]) == 12 * int(T.table[2] + T.table[3] // 3)
    True
    >>> round(float(T.nats(T.of(12))), 6)  # ln 12
    2.484907
    """

    def __init__(self, total: int, terms: int, *, corrected: bool = False) -> None:
        self.total = int(total)
        bits, log = _FINEST, math.log(max(self.total, 1)) + 0.5 * corrected
        # A count has at most log2(count) prime factors, each rounded by at most a half.
        roundings = math.log2(max(self.total, 1)) / 2 + 1
        all_rows = self.total * max(1, int(terms)) if self.total > 1 else 0
        while all_rows * math.ceil(log * 2.0**bits + roundings) >= 2**_INT64_BITS:
            bits -= 1
        self.unit = 2.0**bits  # what 1.0 is counted as: the largest with which sums fit
        self.table: Integers = _logarithms(self.total, self.unit)  # c ln c of every count c
        self.table *= np.arange(self.total + 1)
        if corrected:
            self.table[1:] -= int(self.unit) // 2

    def of(self, counts: ArrayLike) -> Integers:
        """Return c ln c of each count, in units."""
        return self.table[np.asarray(counts)]

    def nats(self, values: ArrayLike) -> Any:
        """Return sums of c ln c as floats, divided by the number of rows."""
        return np.asarray(values) / (self.unit * max(self.total, 1))


class RealLogarithms:
    """c ln c of counts that are sums of row weights.

    Terms are rounded to multiples of a power of two so small that it is seen in no digit that
    matters, and so large that sums are exact in float64. `total` is the sum of the weights, `terms`
    as in `Logarithms`.

    >>> T = RealLogarithms(4.0)
    >>> round(float(T.nats(T.of(4.0))), 6)  # ln 4
    1.386294
    """

    table = None

    def __init__(self, total: float, terms: int = 1024) -> None:
        self.total = float(total)
        # Counts below one have negative terms: a sum of them is at most total * ln(rows / total).
        largest = self.total * (abs(math.log(self.total)) + 32 * math.log(2)) * max(1, int(terms))
        self._exponent = min(_FLOAT64_BITS - math.frexp(largest)[1], SMALLEST)

    def of(self, counts: ArrayLike) -> Floats:
        """Return c ln c of each count."""
        c = np.asarray(counts, dtype=np.float64)
        terms = c * np.log(np.where(c > 0, c, 1.0))
        return np.ldexp(np.rint(np.ldexp(terms, self._exponent)), -self._exponent)

    def nats(self, values: ArrayLike) -> Any:
        """Return sums of c ln c divided by the sum of the weights."""
        return np.asarray(values) / self.total


AnyLogarithms = Logarithms | RealLogarithms


def _logarithms(total: int, unit: float) -> Integers:
    """Return ln c for c = 0..total in whole units, by prime factors; that of 0 is 0."""
    smallest = _smallest_factors(total)
    logs = np.zeros(total + 1, dtype=np.int64)
    start = 2
    while start <= total:  # c / p < start for the counts from start to 2 * start
        c = np.arange(start, min(2 * start, total + 1))
        p = smallest[start : start + len(c)]
        primes = c[p == 0]
        logs[primes] = np.rint(np.log(primes) * unit).astype(np.int64)
        c, p = c[p > 0], p[p > 0]
        logs[c] = logs[p] + logs[c // p]
        start *= 2
    return logs


def _smallest_factors(total: int) -> NDArray[np.uint32]:
    """Return the smallest prime factor of each composite number up to total, 0 for primes."""
    root = math.isqrt(total)
    is_prime = np.ones(root + 1, dtype=bool)
    is_prime[:2] = False
    for p in range(2, math.isqrt(root) + 1):
        if is_prime[p]:
            is_prime[p * p :: p] = False
    smallest = np.zeros(total + 1, dtype=np.uint32)
    for p in np.flatnonzero(is_prime)[::-1].tolist():  # the smallest is written last
        smallest[p * p :: p] = p
    return smallest
