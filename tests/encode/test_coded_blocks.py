"""Codes of tables in blocks: made once and kept where they fit, else made anew in every pass."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from orthoselect import RowBlocks, select
from orthoselect.encode import coded_design

T = 6


@pytest.fixture
def frame(rng):
    pandas = pytest.importorskip("pandas")
    X = rng.normal(size=(60_000, 12))
    columns = {f"x{j}": X[:, j] for j in range(12)}
    columns["town"] = np.array(["Oslo", "Rome", "Lima"])[rng.integers(0, 3, 60_000)]
    columns["count"] = rng.integers(0, 40, 60_000)
    columns["y"] = np.where(X[:, 3] - X[:, 7] + 0.05 * columns["count"] > 1, "ill", "well")
    return pandas.DataFrame(columns)


@pytest.fixture
def folder(frame, tmp_path):
    pytest.importorskip("pyarrow")
    for k in range(4):
        frame.iloc[15_000 * k : 15_000 * (k + 1)].to_parquet(tmp_path / f"{k}.parquet")
    return tmp_path


def test_a_folder_takes_three_passes_where_codes_fit(frame, folder):
    path = select(folder, "y", T, "jmi", memory="15MB")  # the table takes 7 MB, times three
    assert path == select(frame, "y", T, "jmi")
    assert path.stats["passes"] == 3  # response and levels, rules, codes
    assert path.stats["strategy"] == "counted"
    assert path.stats["sweeps"] == T


def test_a_folder_takes_a_pass_for_each_step_where_codes_do_not_fit(frame, folder):
    path = select(folder, "y", T, "jmi", memory="2MB")
    assert path == select(frame, "y", T, "jmi")
    assert path.stats["passes"] == T + 2
    assert path.stats["strategy"] == "blocks"


@pytest.mark.parametrize("density", [1.0, 0.05])
@pytest.mark.parametrize("levels", [3, 10, 200])
def test_what_is_taken_stays_within_the_memory(levels, density, monkeypatch):
    """The least memory that lets codes be kept is no less than what keeping them takes."""
    rng = np.random.default_rng(0)
    X = rng.integers(1, levels, (40_000, 40)) * (rng.random((40_000, 40)) < density)
    X = X.astype(float) if density == 1 else sp.csr_array(X.astype(float))
    y = rng.integers(0, 3, 40_000)
    blocks = [X[a : a + 1000] for a in range(0, 40_000, 1000)]
    needed = []

    def fits(table, learned, weights, plain=coded_design._codes_fit):
        needed.append(coded_design.bytes_to_keep(learned, 40_000))
        return plain(table, learned, weights)

    monkeypatch.setattr(coded_design, "_codes_fit", fits)
    select(RowBlocks(blocks), y, 3, "jmi")  # what is imported and cached once does not count
    tracemalloc.start()
    path = select(RowBlocks(blocks, memory=needed[0]), y, 3, "jmi")
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stats["passes"] == 3
    assert used < needed[0] + 4 * 8 * 1000 * 40
    assert select(RowBlocks(blocks, memory=needed[0] - 1), y, 3, "jmi").stats["passes"] > 3


@pytest.mark.parametrize("fits", [True, False])
@pytest.mark.parametrize("method", ["jmi", "socc_discretized"])
def test_dense_blocks_after_a_sparse_one_have_its_levels(method, fits, monkeypatch, rng):
    monkeypatch.setattr(coded_design, "_codes_fit", lambda *_: fits)
    X = rng.normal(size=(300, 5)) * (rng.random((300, 5)) < 0.5)
    y = (X[:, 1] + X[:, 3] > 0).astype(int)
    blocks = RowBlocks([sp.csr_array(X[:150]), X[150:]])
    found = select(blocks, y, 4, method, bins="mean_std_3")
    expected = select(X, y, 4, method, bins="mean_std_3")
    assert found.features == expected.features
    assert found.gains == pytest.approx(expected.gains)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_rows_without_weight_and_groups_are_kept_apart(kind, rng):
    X = rng.integers(0, 4, (200, 6)).astype(float)
    weights = rng.integers(0, 3, 200).astype(float)
    X[weights == 0] = 1e6
    y = (X[:, 1] + X[:, 3] > 3).astype(int)
    options = {"groups": {"pair": [1, 4]}, "sample_weight": weights}
    blocks = RowBlocks([kind(X[:70]), kind(X[70:71]), kind(X[71:])])
    assert select(blocks, y, 4, "jmi", **options) == select(kind(X), y, 4, "jmi", **options)
