"""What a selection takes beside the table itself."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import naive
from orthoselect import select
from orthoselect.encode import NumberedNames, Table, build_codes

pytestmark = pytest.mark.usefixtures("two_threads")


@pytest.fixture
def peak():
    """Return the most bytes that a call had allocated at one time."""

    def measure(function):
        tracemalloc.start()
        try:
            result = function()
            return result, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    return measure


def dense(N=20_000, n=200, dtype=float):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, n)) if np.issubdtype(dtype, np.floating) else rng.integers(0, 2, (N, n))
    return X.astype(dtype), rng.integers(0, 3, N)


def test_sparse_table_is_never_made_dense(peak):
    """2,000 x 200,000 with 0.1 % filled: dense it would take 3.2 GB."""
    rng = np.random.default_rng(0)
    places = rng.integers(0, 2000, 400_000), rng.integers(0, 200_000, 400_000)
    X = sp.coo_array((rng.random(400_000), places), shape=(2000, 200_000)).tocsr()
    y = rng.integers(0, 2, 2000)
    path, used = peak(lambda: select(X, y, 5))
    assert used < 200e6
    chosen = X[:, path.features].toarray()
    totals = [naive.value(chosen[:, : k + 1], y) for k in range(5)]
    assert [step.total for step in path] == pytest.approx(totals, abs=1e-8)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("N", "n"), [(40_000, 100), (4_000, 1000)])
def test_float64_table_is_never_copied(peak, order, N, n):
    X, y = dense(N, n)
    X = np.asarray(X, order=order)
    assert peak(lambda: select(X, y, 20))[1] < 0.35 * X.nbytes


def test_excluded_columns_cost_no_copy(peak):
    X, y = dense(40_000, 100)
    X[0, 3] = np.nan
    assert peak(lambda: select(X, y, 10, exclude=[3]))[1] < 0.35 * X.nbytes


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, bool])
def test_narrow_tables_are_converted_by_blocks(peak, dtype):
    X, y = dense(20_000, 400, dtype)
    assert peak(lambda: select(X, y, 10))[1] < 0.25 * 8 * X.size


def test_offset_columns_are_shifted_by_blocks(peak):
    X, y = dense(40_000, 100)
    X[:, 5] += 1e9
    assert peak(lambda: select(X, y, 10))[1] < 0.35 * X.nbytes


def test_groups_cost_no_copy(peak):
    X, y = dense(20_000, 200)
    groups = {"left": list(range(90)), "right": list(range(100, 190))}
    assert peak(lambda: select(X, y, 3, groups=groups))[1] < 0.8 * X.nbytes


def test_rare_levels_cost_no_dense_block(peak):
    rng = np.random.default_rng(0)
    levels = np.minimum(rng.zipf(1.5, (20_000, 3)), 200).astype(float)
    X, y = np.column_stack([rng.normal(size=20_000), -levels]), rng.integers(0, 2, 20_000)
    used = peak(lambda: select(X, y, 2, categorical_features=[1, 2, 3]))[1]
    assert used < 0.8 * 8 * 20_000 * 3 * 200


@pytest.mark.parametrize("order", ["C", "F"])
def test_coding_bytes_takes_one_copy(peak, order):
    X = dense(20_000, 1000, np.uint8)[0]
    X = np.asarray(X * 255, order=order)
    table = Table(len(X), NumberedNames(1000), X, np.arange(1000), {})
    design, used = peak(lambda: build_codes(table, {}, set()))
    assert design.codes.values.dtype == np.uint8
    assert used < 1.4 * X.nbytes


@pytest.mark.parametrize("bins", ["auto", 10])
def test_coding_numbers_takes_a_byte_a_cell(peak, bins):
    """And some blocks of floats: a copy of the table would take eight bytes a cell."""
    X = dense(20_000, 400)[0]
    table = Table(len(X), NumberedNames(400), X, np.arange(400), {})
    used = peak(lambda: build_codes(table, {}, set(), bins))[1]
    assert used < 2.5 * X.size


def test_selecting_from_a_sparse_table_by_information_keeps_it_sparse(peak):
    """2,000 x 200,000 with 0.1 % filled: a byte a cell would take 400 MB."""
    rng = np.random.default_rng(0)
    places = rng.integers(0, 2000, 400_000), rng.integers(0, 200_000, 400_000)
    X = sp.coo_array((rng.random(400_000), places), shape=(2000, 200_000)).tocsr()
    y = rng.integers(0, 2, 2000)
    assert peak(lambda: select(X, y, 3, "jmi"))[1] < 150e6


_COMMAND = """
import re, sys
from pathlib import Path
from orthoselect.cli import main
try:
    main(["select", sys.argv[1], "-t", "y", "-k", "3", "--memory", "300MB", "-q"])
except SystemExit as end:
    assert not end.code
print(1024 * int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for the peak")
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_command_stays_within_its_limit_with_all_it_imports(tmp_path, suffix):
    """A table of 120 MB of numbers: more than the limit leaves beside the imports."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import csv, parquet

    X, y = dense(30_000, 500)
    columns = {f"x{j}": X[:, j].round(4) for j in range(500)}
    table, file = pa.table({**columns, "y": y}), tmp_path / f"t.{suffix}"
    if suffix == "csv":
        csv.write_csv(table, file)
    else:
        parquet.write_table(table, file, row_group_size=5000)
    command = [sys.executable, "-c", _COMMAND, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout.splitlines()[-1]) < 300e6
