"""What a path tells of passes and bytes is what was read."""

import numpy as np
import pytest
import scipy.sparse as sp

from orthoselect import RowBlocks, select
from orthoselect.methods import METHODS
from orthoselect.read import FileBlocks, NpyBlocks, on_dask, read_table
from orthoselect.read.row_blocks import bytes_of

N = 600
IN_BLOCKS = [
    name for name, method in METHODS.items() if method.takes_blocks and method.needs_target
]


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 6))
    X[:, 5] = X[:, 1] - X[:, 3] + rng.normal(size=N) > 0
    return X


class Counting:
    """A source that counts the bytes it gives, and the walks that come to their end."""

    def __init__(self, rows, names=tuple("abcdef")):
        self.rows, self.names = rows, names
        self.bytes = self.walks = 0

    def blocks(self, columns):
        for start in range(0, N, 100):
            block = self.rows(slice(start, start + 100), columns)
            self.bytes += bytes_of(block)
            yield block
        self.walks += 1


def dense(dtype):
    X = table().astype(dtype)
    return lambda rows, columns: X[rows] if columns is None else X[rows][:, columns]


def sparse(rows, columns):
    X = sp.csr_array(table() * (abs(table()) > 1))[rows]
    return X if columns is None else X[:, columns]


def agrees(path, counting):
    assert path.stats["passes"] == counting.walks
    assert path.stats["bytes_read"] == counting.bytes


@pytest.mark.parametrize("method", IN_BLOCKS)
def test_every_method_counts_every_pass(method):
    for rows in (dense(np.float64), dense(np.float32)):
        counting = Counting(rows)
        agrees(select(counting, "f", 4, method), counting)


@pytest.mark.parametrize(("memory", "passes"), [(None, 3), (20_000, 6)])
def test_methods_of_information_read_once_for_each_step_where_codes_do_not_fit(memory, passes):
    counting = Counting(dense(np.float64))
    y = table()[:, 5].astype(int)
    path = select(counting, y, 4, "jmi", exclude=["f"], memory=memory)
    features = N * 5 * 8
    survey, look = N * 8, 100 * 6 * 8
    assert path.stats["passes"] == passes
    assert path.stats["bytes_read"] == look + survey + (passes - 1) * features == counting.bytes


@pytest.mark.parametrize("method", ["socc", "jmi", "socc_discretized"])
def test_sparse_blocks_count_what_is_stored(method):
    counting = Counting(sparse)
    agrees(select(counting, table()[:, 5].astype(int), 3, method), counting)


@pytest.mark.parametrize("method", ["socc", "jmi"])
def test_frames_with_text_count_what_is_stored(library, method):
    X, text = table(), np.array(list("uvw"))[np.arange(N) % 3]
    columns = {name: X[:, j] for j, name in enumerate("abcde")} | {"f": text, "y": X[:, 5]}

    def rows(at, asked):
        names = list(columns) if asked is None else [list(columns)[c] for c in asked]
        return library.frame({name: columns[name][at].tolist() for name in names})

    counting = Counting(rows, tuple(columns))
    path = select(counting, "y", 3, method)
    counting.walks -= 1  # a look at the text, which is no pass
    agrees(path, counting)


@pytest.mark.parametrize("method", ["socc", "jmi"])
def test_row_blocks_count_the_columns_that_are_asked_of_them(method):
    X = table()
    told = []
    blocks = RowBlocks([X[:250], X[250:]], progress=lambda *each: told.append(each))
    stats = select(blocks, "x5", 3, method).stats
    assert told[-1] == (stats["passes"], stats["bytes_read"])
    look, survey, features = 250 * 6 * 8, N * 2 * 8, N * 5 * 8
    assert stats["bytes_read"] == look + survey + (stats["passes"] - 1) * features


@pytest.fixture
def counted(monkeypatch):
    """Count what all files give, here."""
    totals = {"bytes": 0}
    for kind in (FileBlocks, NpyBlocks):

        def blocks(self, columns=None, plain=kind.blocks):
            for block in plain(self, columns):
                totals["bytes"] += bytes_of(block)
                yield block

        monkeypatch.setattr(kind, "blocks", blocks)
    return totals


def stored(tmp_path, suffix):
    X = table()
    if suffix == "npy":
        np.save(tmp_path / "table.npy", X)
        return tmp_path / "table.npy", "x5"
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    text = np.array(list("uvw"))[np.arange(N) % 3]
    whole = pa.table({f"x{j}": X[:, j] for j in range(6)} | {"text": text})
    for k in range(2):
        part = whole.slice(k * N // 2, N // 2)
        if suffix == "parquet":
            parquet.write_table(part, tmp_path / f"{k}.parquet", row_group_size=60)
        else:
            pytest.importorskip("pyarrow.csv").write_csv(part, tmp_path / f"{k}.csv")
    return tmp_path, "x5"


@pytest.mark.parametrize("method", ["socc", "jmi", "mim", "socc_discretized"])
@pytest.mark.parametrize("suffix", ["parquet", "csv", "npy"])
def test_files_count_what_is_read_of_them(tmp_path, counted, suffix, method):
    path, target = stored(tmp_path, suffix)
    dataset = read_table(path, in_blocks=True)
    dataset.data.block_rows = 100
    counted.update(bytes=0)
    stats = select(dataset, target, 3, method).stats
    assert stats["bytes_read"] == counted["bytes"]
    assert stats["passes"] > 1


@pytest.mark.parametrize(("method", "passes"), [("socc", 1), ("jmi", 4)])
def test_what_workers_read_is_counted_the_response_too(tmp_path, counted, method, passes):
    dask = pytest.importorskip("dask")
    path, target = stored(tmp_path, "parquet")
    source = on_dask(path)
    counted.update(bytes=0)
    with dask.config.set(scheduler="synchronous"):
        stats = select(source, target, 3, method).stats
    assert stats["bytes_read"] == counted["bytes"]
    response, levels = 3, 1
    assert stats["passes"] == response + levels + passes
