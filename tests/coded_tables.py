"""Random coded tables, easy and nasty, and every kind that counts them."""

import numpy as np

from orthoselect.counts import DenseCodes, SparseCodes
from orthoselect.counts.counted import CodeCounts
from orthoselect.counts.packed import PackedCounts
from orthoselect.counts.sparse import SparseCounts
from orthoselect.counts.weighted import WeightedCounts


def sparse_of(codes):
    """The same codes by columns, level 0 left out."""
    feature, row = np.nonzero(codes.values)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(feature, minlength=len(codes.levels)))])
    return SparseCodes(indptr, row, codes.values[feature, row], codes.shape, codes.levels)


KINDS = {
    "packed": PackedCounts,
    "counted": CodeCounts,
    "sparse": lambda codes, y, c: SparseCounts(sparse_of(codes), y, c),
    "weighted": lambda codes, y, c: WeightedCounts(codes, y, c, np.ones(len(y))),
    "weighted sparse": lambda codes, y, c: WeightedCounts(sparse_of(codes), y, c, np.ones(len(y))),
}


def random_problem(seed):
    """Return DenseCodes, y and the number of classes; each seed is nasty in its own way."""
    rng = np.random.default_rng(seed)
    N = int(rng.choice([1, 2, 5, 20, 63, 64, 65, 150]))
    n = int(rng.choice([1, 3, 6]))
    c = int(rng.choice([1, 2, 3, 11]))
    most = int(rng.choice([2, 2, 3, 5, 12]))
    levels = rng.integers(1, most + 1, n)
    values = np.array([rng.integers(0, used, N) for used in levels])
    if rng.random() < 0.3:  # mostly zero
        values[rng.random(values.shape) < 0.9] = 0
    if n > 1 and rng.random() < 0.3:  # a duplicate under other names
        levels[1] = levels[0]
        values[1] = levels[0] - 1 - values[0]
    levels = levels + rng.integers(0, 3, n) * (rng.random() < 0.3)  # levels that never occur
    y = rng.integers(0, c, N)
    if rng.random() < 0.2:  # rows of one class among several
        y[:] = c - 1
    dtype = [np.uint8, np.uint16, np.uint32][rng.integers(3)]
    values = np.ascontiguousarray(values, dtype=dtype)
    for array in (values, levels, y):
        array.flags.writeable = False
    return DenseCodes(values, levels), y, c
