"""Random coded tables, easy and nasty, and every kind that counts them."""

from itertools import pairwise

import numpy as np

from orthoselect.counts import DenseCodes, SparseCodes
from orthoselect.counts.block_counts import BlockCounts
from orthoselect.counts.packed import PackedCounts
from orthoselect.counts.tables import CodeCounts, SparseCounts
from orthoselect.matrix.passes import LocalPasses


def sparse_of(codes):
    """The same codes by columns, level 0 left out."""
    feature, row = np.nonzero(codes.values)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(feature, minlength=len(codes.levels)))])
    return SparseCodes(indptr, row, codes.values[feature, row], codes.shape, codes.levels)


def in_blocks(codes, y, c, weights=None, memory=None):
    """The same codes in blocks of rows: of one row, of some, of none."""
    N = codes.shape[0]
    cuts = sorted({0, 1, N // 3, N // 2, N} & set(range(N + 1)))

    def blocks(columns):
        for a, b in pairwise(cuts):
            keep = np.zeros(N, dtype=bool)
            keep[a:b] = True
            yield codes.rows(keep)

    passes = LocalPasses(blocks, N)
    return BlockCounts(passes, codes.shape, codes.levels, y, c, weights, memory=memory)


KINDS = {
    "packed": PackedCounts,
    "counted": CodeCounts,
    "sparse": lambda codes, y, c: SparseCounts(sparse_of(codes), y, c),
    "blocks": in_blocks,
    "sparse blocks": lambda codes, y, c: in_blocks(sparse_of(codes), y, c),
    "blocks in many passes": lambda codes, y, c: in_blocks(codes, y, c, memory=1000),
    "weighted": lambda codes, y, c: CodeCounts(codes, y, c, np.ones(len(y))),
    "weighted sparse": lambda codes, y, c: SparseCounts(sparse_of(codes), y, c, np.ones(len(y))),
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
