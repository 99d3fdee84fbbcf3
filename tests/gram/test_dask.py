"""Statistics of Dask tables are made where the partitions are."""

import numpy as np
import pytest

from kept_tables import N, same, table
from orthoselect import GramStatistics, RowBlocks
from orthoselect.errors import InputError, NonFiniteError, ShapeError
from orthoselect.gram.intake import ReducedRows
from orthoselect.read import on_dask, read_table

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
dask = pytest.importorskip("dask")


@pytest.fixture
def one_by_one():
    with dask.config.set(scheduler="synchronous"):
        yield


def spread(frame, npartitions=4):
    return dd.from_pandas(frame, npartitions=npartitions, sort=False)


@pytest.mark.parametrize("target", ["y", "number"])
@pytest.mark.parametrize("options", [{}, {"exclude": ["note"]}, {"sample_weight": "w"}])
def test_dask_frames(options, target, one_by_one):
    made = GramStatistics.of(spread(table()), target, **options)
    same(made, GramStatistics.of(table(), target, **options))


def test_dask_arrays(one_by_one):
    X, y = table()[["a", "b", "number"]].to_numpy(), table()["w"].to_numpy()
    chunked = da.from_array(X, chunks=((20, 0, 1, 69), (2, 1)))
    expected = GramStatistics.of(X, y)
    same(GramStatistics.of(chunked, da.from_array(y, chunks=30)), expected)
    same(GramStatistics.of(chunked, y, memory="1GB"), expected)
    same(GramStatistics.of(X, da.from_array(y, chunks=30)), expected)
    same(GramStatistics.of(RowBlocks([X]), da.from_array(y, chunks=30)), expected)


@pytest.mark.parametrize("y", ["y", "number", ["number", "b"], ["y", "number"]])
@pytest.mark.parametrize("beside", ["dask", "here"])
def test_responses_and_weights_beside_dask(y, beside, one_by_one):
    X, y, w = table()[["a", "kind"]], table()[y], table()["w"]
    expected = GramStatistics.of(X, y, w)
    if beside == "dask":
        y, w = spread(y), spread(w)
    same(GramStatistics.of(spread(X), y, w), expected)


def test_what_is_beside_dask_has_to_fit(one_by_one):
    X, y, w = spread(table()[["a", "b"]]), table()["y"], table()["w"]
    with pytest.raises(ShapeError, match="X has 90, y has 89"):
        GramStatistics.of(X, y[:-1])
    with pytest.raises(ShapeError, match="one number for each of the 90 rows"):
        GramStatistics.of(X, y, w[:-1])
    with pytest.raises(ShapeError, match="X and `sample_weight` should be cut into the same part"):
        GramStatistics.of(X, y, spread(w, 3))
    with pytest.raises(InputError, match="`sample_weight` should be a column of numbers"):
        GramStatistics.of(X, y, spread(table()["kind"]))


def test_levels_that_one_partition_has(one_by_one):
    frame = table()
    frame.loc[85, "kind"] = "rare"
    made = GramStatistics.of(spread(frame), "number")
    assert "kind=rare" in made.terms
    same(made, GramStatistics.of(frame, "number"))


def test_fractions_that_one_partition_has(one_by_one):
    frame = table().assign(whole=np.where(np.arange(N) < 80, np.arange(N) % 3, 0.5))
    with pytest.raises(InputError, match=r"`whole`.* with `task='regression'`"):
        GramStatistics.of(spread(frame), "whole")
    made = GramStatistics.of(spread(frame), "whole", task="regression")
    assert made.classes == {}
    same(made, GramStatistics.of(frame, "whole", task="regression"))


def test_errors_name_the_partition(one_by_one):
    wrong = table()
    wrong.loc[70, "a"] = np.nan
    with pytest.raises(NonFiniteError, match=r"`a` \(1 missing.*partition 3"):
        GramStatistics.of(spread(wrong), "y")


def test_only_what_is_kept_leaves_a_partition(monkeypatch):
    merged = []
    merge = ReducedRows.merge

    def watched(kept, other):
        merged.append(kept.n_rows)
        return merge(kept, other)

    monkeypatch.setattr(ReducedRows, "merge", watched)
    with dask.config.set(scheduler="threads"):
        GramStatistics.of(spread(table(), 20), "y")
    assert len(merged) == 19  # by a tree: not one after the other
    assert max(merged) > N / 2 > sorted(merged)[-4]


def test_files_that_workers_read(one_by_one, tmp_path):
    pytest.importorskip("pyarrow")
    for k in range(3):
        table()[30 * k : 30 * k + 30].to_parquet(tmp_path / f"{k}.parquet", row_group_size=12)
    there = on_dask(read_table(tmp_path, in_blocks=True))
    same(GramStatistics.of(there, "y", "w"), GramStatistics.of(table(), "y", "w"))
    same(
        GramStatistics.of(there, table()["y"], exclude=["y", "note"]),
        GramStatistics.of(table(), table()["y"], exclude=["y", "note"]),
    )
