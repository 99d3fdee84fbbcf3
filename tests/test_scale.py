"""Small versions of the tables of `make bench-large`: the same answer, few rows held at a time."""

import gc
import weakref

import numpy as np
import pytest
from benchmarks.large.tables import Shape, make

from orthoselect import select
from orthoselect.read import FileBlocks, NpyBlocks, read_table

MEMORY = 4_000_000
SHAPES = {
    "tall": Shape("tall", "parquet", 40_000, 20, 5, "float64", 4, 3_000, 6),
    "wide": Shape("wide", "npy", 2_000, 600, 5, "float32", 1, 500, 6),
}


class Held:
    """A source of blocks that notes how many of its bytes are alive at a time."""

    def __init__(self, source):
        self._source, self._alive, self.most = source, {}, 0
        self.names, self.n_rows, self.memory = source.names, source.n_rows, source.memory

    def blocks(self, columns):
        for block in self._source.blocks(columns):
            key = id(block)
            self._alive[key] = block.nbytes
            weakref.finalize(block, self._alive.pop, key, None)
            gc.collect(0)
            self.most = max(self.most, sum(self._alive.values()))
            yield block
            del block


@pytest.fixture(params=list(SHAPES))
def made(request, tmp_path):
    """A table: what to select from, in blocks and whole, the response, and its shape."""
    pytest.importorskip("pyarrow")
    shape = SHAPES[request.param]
    place = make(shape, tmp_path)
    if shape.kind == "npy":
        file = place / "X.npy"
        return NpyBlocks(file, memory=MEMORY), np.load(file), np.load(place / "y.npy"), shape
    return FileBlocks(place, memory=MEMORY), read_table(place), "y", shape


def test_a_few_blocks_are_held_at_a_time(made):
    source, whole, target, shape = made
    held = Held(source)
    path = select(held, target, shape.selected)
    expected = select(whole, target, shape.selected)
    assert path.names == expected.names
    assert path.gains == pytest.approx(expected.gains, abs=1e-9)
    block = shape.nbytes // shape.rows * source.block_rows
    assert shape.nbytes > 4 * block
    assert 0 < held.most <= 3.1 * block


def test_tables_are_made_once_and_the_same(tmp_path):
    shape = SHAPES["wide"]
    first = np.load(make(shape, tmp_path) / "X.npy")
    file = tmp_path / "wide" / "X.npy"
    stamp = file.stat().st_mtime_ns
    make(shape, tmp_path)
    assert file.stat().st_mtime_ns == stamp
    assert first.shape == (2_000, 600)
