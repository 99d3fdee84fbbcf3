"""Kernels check what they are given before they use it as a place in memory."""

import numpy as np
import pytest

from orthoselect import native
from orthoselect.counts import Logarithms

kernels = native.kernels()
pytestmark = pytest.mark.skipif(kernels is None, reason="there are no kernels")

N, n = 6, 2
TABLE = Logarithms(N, 10).table
LEVELS = np.array([2, 3])
Z = np.array([0, 1, 2, 3, 0, 1], dtype=np.int32)
LEAST, MOST = -(2**63), 2**63 - 1


def sums(size=n):
    return np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_codes_beyond_the_levels_are_refused(dtype):
    values = np.zeros((n, N), dtype=dtype)
    values[1, 5] = 3
    with pytest.raises(ValueError, match="below the number of levels"):
        kernels.count_codes(values, LEVELS, Z, 2, 2, TABLE, *sums())
    order, ends = np.arange(N), np.arange(N + 1)
    with pytest.raises(ValueError, match="below the number of levels"):
        kernels.count_grouped(values, LEVELS, order, ends, ends, TABLE, *sums())
    out = np.zeros((n, 3, 4), dtype=np.int64)
    with pytest.raises(ValueError, match="below the number of levels"):
        kernels.count_weights(values, Z, np.ones(N, dtype=np.int64), out)


VALUES = np.zeros((n, N), dtype=np.uint8)


@pytest.mark.parametrize(
    "change",
    [
        {"levels": LEVELS[:1]},
        {"z": Z[1:]},
        {"z": Z + np.int32(1)},
        {"z": Z - np.int32(1)},
        {"Lj": 0},
        {"Lj": 2**40},
        {"levels": np.array([2, 2**31])},
        {"table": TABLE[:-1]},
        {"XJ": np.zeros(1, dtype=np.int64)},
        {"values": VALUES[:, :3]},
        {"levels": np.array([2, LEAST])},
        {"levels": np.array([MOST, 3])},
        {"Lj": LEAST},
        {"c": MOST},
    ],
)
def test_codes_that_do_not_fit_are_refused(change):
    XJ, XJY = sums()
    given = {"values": VALUES, "levels": LEVELS, "z": Z, "Lj": 2, "c": 2, "table": TABLE}
    given |= {"XJ": XJ, "XJY": XJY}
    kernels.count_codes(*given.values())
    with pytest.raises(ValueError, match=r"fit|should be below"):
        kernels.count_codes(*(given | change).values())


PLANES = np.array([[1, 1], [1, 1], [2, 2]], dtype=np.uint64)
PACKED = {
    "planes": PLANES,
    "first": np.array([0, 1, 3]),
    "segments": np.array([0, 1, 2]),
    "margins": np.array([[2, 2], [1, 1], [1, 1], [1, 1], [1, 1]]),
    "j": 0,
    "start": 0,
    "stop": 2,
    "table": TABLE,
    "XJ": np.zeros(2, dtype=np.int64),
    "XJY": np.zeros(2, dtype=np.int64),
}


@pytest.mark.parametrize(
    "change",
    [
        {"first": np.array([0, 1, 4])},
        {"first": np.array([0, 4, 3])},
        {"first": np.array([1, 1, 3])},
        {"segments": np.array([0, 3])},
        {"margins": PACKED["margins"][:-1]},
        {"margins": PACKED["margins"] - 5},
        {"margins": PACKED["margins"] + 50},
        {"j": 2},
        {"j": -1},
        {"stop": 3},
        {"start": -1},
        {"XJY": np.zeros(1, dtype=np.int64)},
        {"planes": PLANES[:, :1]},
        {"planes": np.ones((3, 4), dtype=np.uint64)[:, :2]},
        {"margins": np.full((5, 2), LEAST)},
        {"margins": np.full((5, 2), MOST)},
        {"first": np.array([0, MOST, 3])},
        {"first": np.array([0, LEAST, 3])},
        {"segments": np.array([0, LEAST, 2])},
        {"start": LEAST},
        {"stop": MOST},
        {"j": LEAST},
    ],
)
def test_planes_that_do_not_fit_are_refused(change):
    kernels.count_packed(*PACKED.values())
    with pytest.raises(ValueError, match=r"fit|margins"):
        kernels.count_packed(*(PACKED | change).values())


SPARSE = {
    "indptr": np.array([0, 1, 3]),
    "indices": np.array([0, 2, 5], dtype=np.int32),
    "codes": np.array([1, 1, 2], dtype=np.uint8),
    "levels": LEVELS,
    "start": 0,
    "stop": 2,
    "z": Z,
    "b": Z // np.int32(2),
    "with_z": np.array([2, 2, 1, 1]),
    "with_b": np.array([4, 2]),
    "table": TABLE,
    "XJ": np.zeros(2, dtype=np.int64),
    "XJY": np.zeros(2, dtype=np.int64),
}


@pytest.mark.parametrize(
    "change",
    [
        {"indptr": np.array([0, 1, 4])},
        {"indptr": np.array([0, 4, 3])},
        {"indices": np.array([0, 2, 6], dtype=np.int32)},
        {"indices": np.array([-1, 2, 5], dtype=np.int32)},
        {"codes": np.array([1, 1, 3], dtype=np.uint8)},
        {"codes": np.array([0, 1, 2], dtype=np.uint8)},
        {"z": Z + np.int32(1)},
        {"b": Z[:-1]},
        {"with_z": np.array([0, 0, 0, 0])},
        {"with_b": np.array([4])},
        {"table": TABLE[:2]},
        {"stop": 3},
        {"indptr": np.array([LEAST, MOST, 3])},
        {"indptr": np.array([0, LEAST, 3])},
        {"levels": np.array([LEAST, 3])},
        {"levels": np.array([2, MOST])},
        {"levels": np.array([0, 3])},
        {"with_z": np.full(4, LEAST)},
        {"with_z": np.full(4, MOST)},
        {"with_b": np.full(2, LEAST)},
        {"with_b": np.full(2, -1)},
        {"start": LEAST},
        {"stop": MOST},
        # more levels than pairs of a level and a class: cells would stand beyond their table
        {"z": np.zeros(N, dtype=np.int32), "with_z": np.array([6]), "with_b": np.arange(1, 7)},
    ],
)
def test_sparse_codes_that_do_not_fit_are_refused(change):
    kernels.count_sparse(*SPARSE.values())
    with pytest.raises(ValueError, match=r"fit|within"):
        kernels.count_sparse(*(SPARSE | change).values())


def test_planes_are_packed_only_from_rows_that_there_are():
    order = np.arange(N, dtype=np.int32)
    ends, segments = np.array([0, 2, N]), np.array([0, 1, 2])
    planes = np.zeros((3, 2), dtype=np.uint64)
    kernels.pack_planes(VALUES, LEVELS, order, ends, segments, planes)
    for given in [
        (VALUES, LEVELS, order + np.int32(1), ends, segments, planes),
        (VALUES, LEVELS, order, np.array([0, 2, N + 1]), segments, planes),
        (VALUES, LEVELS, order, ends, np.array([0, 2, 2]), planes),
        (VALUES, LEVELS, order, ends, segments, planes[:2]),
        (VALUES, LEVELS[:1], order, ends, segments, planes),
    ]:
        with pytest.raises(ValueError, match="fit"):
            kernels.pack_planes(*given)


@pytest.mark.parametrize("levels", [[LEAST, 3], [MOST, MOST], [MOST, 3], [-1, 3], [4, MOST - 2]])
def test_planes_of_extreme_numbers_of_levels_are_refused(levels):
    order = np.arange(N, dtype=np.int32)
    planes = np.zeros((3, 1), dtype=np.uint64)
    ends, segments = np.array([0, N]), np.array([0, 1])
    with pytest.raises(ValueError, match="fit"):
        kernels.pack_planes(VALUES, np.array(levels), order, ends, segments, planes)


@pytest.mark.parametrize("levels", [-1, LEAST])
def test_negative_levels_are_refused_without_rows_too(levels):
    nothing, levels = np.zeros((1, 0), dtype=np.uint8), np.array([levels])
    none, start = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    with pytest.raises(ValueError, match="levels"):
        kernels.count_codes(nothing, levels, Z[:0], 2, 2, TABLE, *sums(1))
    with pytest.raises(ValueError, match="levels"):
        kernels.count_grouped(nothing, levels, none, start, start, TABLE, *sums(1))


@pytest.mark.parametrize("weight", [MOST, LEAST])
def test_weights_whose_sums_exceed_64_bits_are_refused(weight):
    weights, out = np.full(N, weight), np.zeros((n, 1, 4), dtype=np.int64)
    with pytest.raises(ValueError, match="64 bits"):
        kernels.count_weights(VALUES, Z, weights, out)
    out[...] = weight
    with pytest.raises(ValueError, match="64 bits"):
        kernels.count_weights(VALUES, Z, np.sign(weights), out)


def test_sums_of_extreme_logarithms_wrap_as_those_of_numpy_do():
    T = np.full(N + 1, MOST)
    T[0] = 0
    XJ, XJY = sums()
    kernels.count_codes(VALUES, LEVELS, Z, 2, 2, T, XJ, XJY)
    assert (2 * np.full(n, MOST) == XJ).all()  # of the two levels of b
    assert (4 * np.full(n, MOST) == XJY).all()  # of the four values of z


def test_read_only_sums_are_refused():
    XJ, XJY = sums()
    XJ.flags.writeable = False
    with pytest.raises((ValueError, BufferError, TypeError)):
        kernels.count_codes(VALUES, LEVELS, Z, 2, 2, TABLE, XJ, XJY)
