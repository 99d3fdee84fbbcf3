import math

import numpy as np
import pytest

from orthoselect.counts import Logarithms, RealLogarithms
from orthoselect.counts.logarithms import _smallest_factors


def test_logarithms_of_products_are_sums_exactly():
    T = Logarithms(600, 40).table
    for a in range(1, 25):
        for b in range(1, 25):
            # ab ln ab = b * (a ln a) + a * (b ln b)
            assert T[a * b] == b * T[a] + a * T[b]
    assert T[4] == 4 * T[2]
    assert T[0] == T[1] == 0


@pytest.mark.parametrize("total", [0, 1, 2, 3, 4, 30, 1000, 60000])
def test_logarithms_are_logarithms(total):
    T = Logarithms(total, 200)
    assert T.table.shape == (total + 1,)
    assert T.table.dtype == np.int64
    c = np.arange(total + 1)
    expected = c * np.log(np.maximum(c, 1)) / max(total, 1)
    assert np.allclose(T.nats(T.of(c)), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("total", [2, 3, 17, 1024, 65536, 10**5])
@pytest.mark.parametrize("terms", [8, 208, 10**5])
def test_so_many_sums_fit_and_twice_the_unit_would_not(total, terms):
    T = Logarithms(total, terms)
    assert terms * int(T.table.max()) < 2**63
    assert terms * total * math.log(total) * 2 * T.unit > 2**63 * 0.99
    assert math.frexp(T.unit)[0] == 0.5


def test_the_smallest_factor_is_found():
    for number, factor in enumerate(_smallest_factors(500).tolist()):
        divisors = [p for p in range(2, number) if number % p == 0]
        assert factor == (divisors[0] if divisors else 0)


def test_real_logarithms_are_logarithms():
    T = RealLogarithms(1000.0)
    c = np.array([0.0, 1e-3, 0.5, 1.0, 2.0, 999.9])
    expected = [x * math.log(x) if x else 0.0 for x in c]
    assert np.allclose(T.of(c), expected, atol=1e-8)
    assert T.table is None
    assert T.nats(T.of(1000.0)) == pytest.approx(math.log(1000))


def test_sums_of_real_logarithms_do_not_depend_on_the_order(rng):
    weights = rng.exponential(size=2000)
    T = RealLogarithms(weights.sum(), 300)
    terms = np.tile(T.of(weights), 100)
    sums = {float(rng.permutation(terms).cumsum()[-1]) for _ in range(5)}
    assert sums == {math.fsum(terms)}


@pytest.mark.parametrize("total", [1e-300, 1e-9, 1.0, 1e9, 1e300])
def test_real_logarithms_of_any_size(total):
    T = RealLogarithms(total)
    parts = T.of(np.array([0.25, 0.75]) * total).sum()
    entropy = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert T.nats(T.of(total) - parts) == pytest.approx(entropy, rel=1e-6)
