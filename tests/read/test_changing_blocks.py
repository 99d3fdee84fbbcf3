"""Tables whose blocks change from pass to pass are an error; those that stay are not."""

import os

import numpy as np
import pytest
import scipy.sparse as sp

from orthoselect import OrthogonalSelector, RowBlocks, select
from orthoselect.errors import InputError
from orthoselect.methods import METHODS
from orthoselect.read import NpyBlocks

N, HEIGHT = 1_000, 100
IN_BLOCKS = [
    name for name, method in METHODS.items() if method.takes_blocks and method.needs_target
]
CHANGED = "should stay the same from pass to pass"


def numbers(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 6))
    X[:, 5] = X[:, 1] - X[:, 3] + rng.normal(size=N) > 0
    return X


class Passes:
    """A function that makes blocks, other ones from a given call on."""

    def __init__(self, before, after, calls=2):
        self.before, self.after, self.left = before, after, calls

    def __call__(self):
        self.left -= 1
        return iter(self.before if self.left >= 0 else self.after)


def cut(X, height=HEIGHT):
    return [X[a : a + height] for a in range(0, X.shape[0], height)]


def stored_as(X, kind):
    if kind == "sparse":
        return sp.csr_array(X * (abs(X) > 1))
    return X.astype(kind)


@pytest.mark.parametrize("calls", [1, 2])  # a look at the first block, a pass over the response
@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "sparse"])
def test_other_values_in_every_pass_are_an_error(kind, calls):
    first, then = (stored_as(numbers(seed) * 100, kind) for seed in (0, 1))
    y = np.arange(N) % 2
    with pytest.raises(InputError, match=rf"{CHANGED}.*in block 0 \(rows 0 to 99\)"):
        select(RowBlocks(Passes(cut(first), cut(then), calls)), y, 3)


def test_blocks_in_another_order_are_an_error_though_no_column_is_read_twice():
    blocks = cut(numbers())
    order = [0, 1, 2, 4, 3, *range(5, 10)]
    passes = Passes(blocks, [blocks[k] for k in order])
    with pytest.raises(InputError, match=r"column `x\d` has other.*block 3 \(rows 300 to 399\)"):
        select(RowBlocks(passes), "x5", 3)


def test_blocks_of_zeros_and_ones_in_another_order_are_an_error():
    X = (numbers() > 0.5).astype(float)
    blocks = cut(X)
    with pytest.raises(InputError, match=f"{CHANGED}.*block [01] "):
        select(RowBlocks(Passes(blocks, blocks[::-1])), "x5", 3)


def test_blocks_of_other_heights_in_another_order_are_an_error():
    blocks = [*cut(numbers()[:950]), numbers()[950:]]
    with pytest.raises(InputError, match=r"rows \d+ to \d+, up to block \d"):
        select(RowBlocks(Passes(blocks, [*blocks[:4], *blocks[:3:-1]])), "x5", 3)


def test_rows_in_another_order_within_a_block_are_an_error():
    blocks = cut(numbers())
    turned = [*blocks[:7], blocks[7][::-1], *blocks[8:]]
    with pytest.raises(InputError, match=r"block 7 \(rows 700 to 799\)"):
        select(RowBlocks(Passes(blocks, turned)), "x5", 3)


def test_a_single_column_that_changes_is_named_with_its_block():
    X = numbers()
    other = X.copy()
    other[500:600, 2] += 1e-9
    with pytest.raises(InputError, match=r"column `x2` has other values.*block 5.*a fixed seed"):
        select(RowBlocks(Passes(cut(X), cut(other), 3)), "x5", 3, "jmi")


@pytest.mark.parametrize("method", IN_BLOCKS)
def test_every_method_notices(method):
    first, then = cut(numbers()), cut(numbers(1))
    y = (numbers()[:, 1] > 0).astype(int)
    with pytest.raises(InputError, match=CHANGED):
        select(RowBlocks(Passes(first, then, 1)), y, 2, method)


def frames(library, seed=0):
    rng = np.random.default_rng(seed)
    X = numbers()
    text = np.array(list("uvw"))[rng.integers(0, 3, N)]
    return [
        library.frame(
            {"a": X[rows, 0], "b": X[rows, 1], "kind": text[rows].tolist(), "y": X[rows, 5]}
        )
        for rows in (slice(a, a + HEIGHT) for a in range(0, N, HEIGHT))
    ]


def test_text_that_changes_is_an_error(library):
    before, after = frames(library), frames(library, 1)
    passes = Passes(before, [*before[:2], *after[2:]], 3)  # the columns are looked at before
    with pytest.raises(InputError, match=r"column `kind` has other values.*block 2 \(rows 200"):
        select(RowBlocks(passes), "y", 2)
    assert len(select(RowBlocks(Passes(before, frames(library))), "y", 2)) == 2


def test_the_response_is_compared_with_the_look_at_the_first_block():
    X = numbers()
    other = X.copy()
    other[:, 5] = 1 - X[:, 5]
    with pytest.raises(InputError, match=r"column `x5` has other values.*block 0"):
        select(RowBlocks(Passes(cut(X), cut(other), 1)), "x5", 3)


def test_weights_that_change_are_an_error():
    X = abs(numbers())
    other = X.copy()
    other[:HEIGHT, 4] += 1
    with pytest.raises(InputError, match=r"column `x4` has other values.*block 0"):
        select(RowBlocks(Passes(cut(X), cut(other), 1)), "x5", 2, sample_weight="x4")


def test_a_selector_that_takes_the_response_out_of_the_table_notices():
    blocks = cut(numbers())
    alike = Passes(blocks, blocks, 0)
    OrthogonalSelector(3).fit(RowBlocks(alike), "x5")
    passes = Passes(blocks, [blocks[0], *blocks[:0:-1]], -alike.left - 1)  # other in the last pass
    with pytest.raises(InputError, match=rf"{CHANGED}.*block 1 \(rows 100 to 199\)"):
        OrthogonalSelector(3).fit(RowBlocks(passes), "x5")


class Source:
    """A source of one's own, which reads only the columns it is asked for."""

    names = tuple("abcdef")

    def __init__(self, X, after=99):
        self.X, self.after, self.heights = X, after, [HEIGHT]

    def blocks(self, columns):
        self.after -= 1
        X = self.X if self.after >= 0 else self.X[::-1]
        height = self.heights[self.after % len(self.heights)]
        return (block if columns is None else block[:, columns] for block in cut(X, height))

    def where(self, rows):
        return f"`part {rows.start // 500}`"


def test_a_source_of_ones_own_is_compared_and_its_place_named():
    with pytest.raises(InputError, match=r"columns `a`.*block 0 \(rows 0 to 99\) of `part 0`"):
        select(Source(numbers(), after=2), "f", 3)


@pytest.mark.parametrize("method", IN_BLOCKS)
def test_a_table_that_is_cut_otherwise_in_every_pass_stays_the_same(method):
    source = Source(numbers())
    source.heights = [HEIGHT, 70, 333, 1_000, 1]
    expected = select(numbers(), "x5", 3, method)
    assert select(source, "f", 3, method).features == expected.features


def test_equal_values_of_other_dtypes_orders_and_storage_are_no_change():
    X = (numbers() * 10).round()
    X[3, 3] = -0.0
    whole = cut(X)
    for other in (
        cut(X.astype(int)),
        [np.asfortranarray(block) for block in whole],
        [block.tolist() for block in whole],
        [np.array(block, dtype=object) for block in whole],
    ):
        assert len(select(RowBlocks(Passes(whole, other)), "x5", 2)) == 2
    narrow = cut(X.astype(np.float32))
    assert len(select(RowBlocks(Passes(narrow, cut(X.astype(np.int8)))), "x5", 2)) == 2


def test_sparse_formats_are_alike():
    X = sp.csr_array(numbers() * (abs(numbers()) > 1))
    before = cut(X)
    doubled = []
    for block in before:
        both = sp.coo_array(block)
        parts = np.concatenate([both.data / 2, both.data / 2])
        at = tuple(np.concatenate([k, k]) for k in (both.row, both.col))
        doubled.append(sp.coo_array((parts, at), shape=block.shape))
    y = (numbers()[:, 1] > 1).astype(int)
    expected = select(X, y, 3).features
    for after in ([b.tocsc() for b in before], [b.tocoo() for b in before], doubled):
        for passes in (Passes(before, after), Passes(after, before)):
            assert select(RowBlocks(passes), y, 3).features == expected
    after = [block.tocsc() for block in before]
    after[4].data[7] += 1e-9
    with pytest.raises(InputError, match="block 4"):
        select(RowBlocks(Passes(before, after, 3)), y, 2, "jmi")


def test_a_memory_map_that_is_written_to_is_an_error(tmp_path):
    file = tmp_path / "table.npy"
    np.save(file, numbers())
    written = np.load(file, mmap_mode="r+")
    source = NpyBlocks(np.load(file, mmap_mode="r"), block_rows=HEIGHT)
    source.progress = lambda number, _: written.__setitem__((slice(None), 0), number)
    with pytest.raises(InputError, match=r"column `x0`.*block 0 .* of the memory map of `"):
        select(source, "x5", 2, "jmi")


def test_a_file_that_changes_is_noticed_by_itself(tmp_path):
    file = tmp_path / "table.npy"
    np.save(file, numbers())
    source = NpyBlocks(file, block_rows=HEIGHT)

    def touch(number, _):
        os.utime(file, ns=(number, number))

    source.progress = touch
    with pytest.raises(InputError, match=r"table.npy` should stay as it is.*it was written to"):
        select(source, "x5", 2, "jmi")


def test_two_threads_make_no_difference(two_threads):
    X = np.random.default_rng(0).normal(size=(40_000, 30))
    y = X[:, 3] + X[:, 7] + X.sum(axis=1)
    path = select(RowBlocks(cut(X, 5_000)), y, 5)
    assert path.features == select(X, y, 5).features
