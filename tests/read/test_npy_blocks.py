"""Arrays in files and memory maps, in blocks of rows, give what the arrays give."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from orthoselect import select
from orthoselect.errors import InputError, ShapeError
from orthoselect.read import NpyBlocks, read_source, read_table

N = 150


def array(dtype=np.float64, order="C"):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 6))
    X[:, 5] = X[:, 1] - X[:, 3] + rng.normal(size=N) > 0
    return np.asarray(10 * X if np.dtype(dtype).kind == "i" else X, dtype=dtype, order=order)


def same(path, expected):
    assert path.names == expected.names
    assert path.gains == pytest.approx(expected.gains, abs=1e-9)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, ">f8"])
@pytest.mark.parametrize("kind", ["file", "map"])
def test_selects_as_in_memory(tmp_path, dtype, order, kind):
    X, file = array(dtype, order), tmp_path / "t.npy"
    np.save(file, X)
    given = file if kind == "file" else np.load(file, mmap_mode="r")
    source = NpyBlocks(given, block_rows=41)
    same(select(source, "x5", 3), select(X, "x5", 3))
    assert source.n_rows == N


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("columns", [None, [5, 0], [1], [2, 1, 0, 3, 4, 5]])
@pytest.mark.parametrize("n", [6, 40])
def test_windows_hold_the_columns_asked_for(tmp_path, order, columns, n):
    X, file = np.asarray(np.arange(N * n).reshape(N, n) / 3, order=order), tmp_path / "t.npy"
    np.save(file, X)
    expected = X if columns is None else X[:, columns]
    for given in (file, np.load(file, mmap_mode="r")):
        blocks = list(NpyBlocks(given, block_rows=40).blocks(columns))
        assert [len(block) for block in blocks] == [40, 40, 40, 30]
        assert (np.vstack(blocks) == expected).all()


def test_paths_and_maps_become_blocks_where_memory_is_scarce(tmp_path):
    X, file = array(), tmp_path / "t.npy"
    np.save(file, X)
    expected = select(X, "x5", 3)
    same(select(file, "x5", 3), expected)
    for given in (file, np.load(file, mmap_mode="r")):
        found = select(given, "x5", 3, memory="10kB")
        assert found.stats["bytes_read"] > 0
        same(found, expected)
        assert "bytes_read" not in select(given, "x5", 3, memory="10MB").stats
    assert read_source(file).names[5] == "x5"
    with pytest.raises(InputError, match=r"'shapley' needs the whole table .* too large"):
        select(np.load(file, mmap_mode="r"), "x5", 3, method="shapley", memory="10kB")


def test_columns_of_nothing_are_left_out_as_in_memory(tmp_path):
    X, file = array(), tmp_path / "t.npy"
    X[:, 2] = np.nan
    X[:-1, 4] = np.nan
    np.save(file, X)
    for memory in (None, 5000):
        with pytest.warns(UserWarning, match=r"left out 1 column\(s\): `x2` \(no values\)"):
            path = select(file, "x5", 3, exclude=["x4"], memory=memory)
        assert path.n_candidates == 3


def test_a_file_that_changes_or_is_cut_short_is_named(tmp_path):
    file = tmp_path / "t.npy"
    np.save(file, array())
    source = NpyBlocks(file, block_rows=50)
    os.utime(file, (1, 1))
    with pytest.raises(InputError, match=r"t\.npy` should stay as it is"):
        next(source.blocks())
    file.unlink()
    with pytest.raises(InputError, match="it has vanished"):
        next(source.blocks())
    np.save(file, array())
    file.write_bytes(file.read_bytes()[:-8])
    with pytest.raises(InputError, match=r"t\.npy` should be a whole npy file"):
        NpyBlocks(file)
    file.write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match=r"t\.npy` should be a whole npy file"):
        NpyBlocks(file)


@pytest.mark.parametrize("blocks", [True, False])
def test_arrays_that_are_no_tables_are_refused(tmp_path, blocks):
    file = tmp_path / "t.npy"
    read = NpyBlocks if blocks else read_table
    np.save(file, np.arange(5))
    with pytest.raises(ShapeError, match=r"t\.npy` should be 2-dimensional"):
        read(file)
    np.save(file, np.array([["a", "b"]]))
    with pytest.raises(InputError, match=r"t\.npy` should hold numbers"):
        read(file)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are Linux's")
def test_a_file_longer_than_the_address_space_is_read(tmp_path):
    file = tmp_path / "t.npy"
    head = np.lib.format.open_memmap(file, "w+", np.float32, (200, 1_000_000))
    head[:, 7] = np.arange(200)  # 800 MB, nearly all of it a hole
    del head
    script = f"""
        import resource
        import numpy as np
        from orthoselect.read import NpyBlocks
        source = NpyBlocks({str(file)!r})
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 300_000_000,) * 2)
        try:
            np.load({str(file)!r}, mmap_mode="r")
        except (OSError, MemoryError):
            print("too long to map")
        print(int(sum(block.sum() for block in source.blocks([7, 9]))))
        print(next(source.blocks()).shape)
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split("\n")[:2] == ["too long to map", str(199 * 100)]
    assert "1000000)" in ran.stdout
