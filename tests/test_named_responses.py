"""Several responses by the names of their columns, wherever the table is."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from orthoselect import GramStatistics, OrthogonalSelector, RowBlocks, compare, select
from orthoselect.errors import InputError, ShapeError
from orthoselect.read import on_dask, read_table
from orthoselect.show import summarize

N = 240


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(N, 3))
    X = pd.DataFrame(Z @ rng.normal(size=(3, 6)) + rng.normal(size=(N, 6)), columns=list("abcdef"))
    X["kind"] = np.array(["low", "mid", "high"])[np.digitize(Z[:, 0] - Z[:, 1], [-1, 1])]
    X["size"] = Z[:, 1] + 0.3 * rng.normal(size=N)
    X["width"] = Z[:, 2] + 0.3 * rng.normal(size=N)
    return X


def folder_of(table, place):
    for start in range(0, N, 80):
        table[start : start + 80].to_parquet(place / f"part{start:03}.parquet")
    return place


def row_blocks(table, place):
    return RowBlocks([table[start : start + 60] for start in range(0, N, 60)])


def dask_frame(table, place):
    return pytest.importorskip("dask.dataframe").from_pandas(table, npartitions=3)


def in_memory(table, place):
    return table


def small_memory(table, place):
    return read_table(folder_of(table, place), memory="4KB")


def dask_files(table, place):
    pytest.importorskip("dask")
    return on_dask(folder_of(table, place))


STORED = [in_memory, row_blocks, folder_of, small_memory, dask_frame, dask_files]
PAIRS = [["size", "width"], ["kind", "size"], ("width", "kind"), ["size"]]


def expected_of(table, target):
    responses = table[list(target)]
    names = [name for name in table.columns if name not in target]
    return select(table[names], responses, 4)


@pytest.mark.parametrize("target", PAIRS, ids=" ".join)
@pytest.mark.parametrize("stored", STORED)
def test_names_of_several_columns_are_the_same_as_their_values(table, tmp_path, stored, target):
    path = select(stored(table, tmp_path), target, 4)
    expected = expected_of(table, target)
    assert path.names == expected.names
    np.testing.assert_allclose(path.gains, expected.gains, rtol=1e-9)
    assert path.n_candidates == len(table.columns) - len(target)


@pytest.mark.parametrize("target", PAIRS, ids=" ".join)
@pytest.mark.parametrize("stored", STORED)
def test_statistics_keep_several_responses_by_name(table, tmp_path, stored, target):
    statistics = GramStatistics.of(stored(table, tmp_path), target)
    path = statistics.select(4)
    expected = expected_of(table, target)
    assert path.names == expected.names
    np.testing.assert_allclose(path.gains, expected.gains, rtol=1e-9)
    assert (
        select(statistics, target[0], 1).names
        == select(table.drop(columns=list(target[1:])), target[0], 1).names
    )


@pytest.mark.parametrize("target", PAIRS, ids=" ".join)
@pytest.mark.parametrize("stored", STORED[1:])
def test_selectors_of_sources_take_names(table, tmp_path, stored, target):
    selector = OrthogonalSelector(4).fit(stored(table, tmp_path), target)
    expected = expected_of(table, target)
    names = [name for name in table.columns if name not in target]
    assert selector.feature_names_in_.tolist() == names
    assert selector.selected_.tolist() == expected.features


def test_weights_by_name_go_along(table, tmp_path):
    weighted = table.assign(w=np.arange(N) % 3)
    responses = table[["size", "kind"]]
    expected = select(
        table.drop(columns=["size", "kind"]), responses, 3, sample_weight=weighted["w"].to_numpy()
    )
    for stored in STORED:
        place = tmp_path / stored.__name__
        place.mkdir()
        source = stored(weighted, place)
        path = select(source, ["size", "kind"], 3, sample_weight="w")
        assert path.names == expected.names
        np.testing.assert_allclose(path.gains, expected.gains, rtol=1e-9)
        if stored is not in_memory:
            selector = OrthogonalSelector(3).fit(source, ["size", "kind"], sample_weight="w")
            assert selector.path_.names == expected.names
            np.testing.assert_allclose(selector.path_.gains, expected.gains, rtol=1e-9)


def test_labels_are_labels_where_a_column_is_called_like_one():
    X = pd.DataFrame({"yes": [0.0, 1, 0, 1, 3], "no": [1.0, 5, 2, 2, 1]})
    assert select(X, ["yes", "no", "yes", "no", "no"], 1).names
    with pytest.raises(ShapeError, match="X has 5, y has 2"):
        OrthogonalSelector(1).fit(X, ["yes", "no"])  # values, as scikit-learn has it
    small = X[:2]
    assert OrthogonalSelector(1).fit(small, ["yes", "no"]).n_features_in_ == 2


def test_labels_beside_blocks_are_labels_in_blocks_where_each_stands_once():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(8, 2)), columns=["yes", "no"])
    labels = ["yes", "no"] * 4
    blocks = RowBlocks([X[start : start + 2] for start in range(0, 8, 2)])
    path = GramStatistics.of(blocks, labels).select(1)
    assert path.names == select(X, labels, 1).names


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (["size", "sise"], "sise"),
        (["size", "kind", "a"], None),
        (["nothing", "none"], "X has 240, y has 2"),
    ],
)
def test_a_name_that_no_column_has_is_told(table, target, said):
    if said is None:
        assert select(table, target, 1)
        return
    with pytest.raises(InputError, match=said):
        select(table, target, 1)


def test_a_column_has_one_role(table):
    with pytest.raises(InputError, match="one role; `size`"):
        select(table, ["kind", "size"], 2, sample_weight="size")
    with pytest.raises(InputError, match="size"):
        select(table, ["kind", "size"], 2, include="size")
    with pytest.raises(InputError, match="one role; `size`"):
        OrthogonalSelector(2).fit(row_blocks(table, None), ["kind", "size"], sample_weight="size")


def test_missing_values_are_told_by_column(table):
    gappy = table.copy()
    gappy.loc[3, "size"] = np.nan
    for stored in (in_memory, row_blocks):
        with pytest.raises(InputError, match="y column `size`"):
            select(stored(gappy, None), ["width", "size"], 2)


def test_reports_tell_the_names_and_the_call(table):
    target = ["size", "width"]
    summary = summarize(select(table, target, 2), table, target)
    assert summary["target"] == "size, width"
    assert [response["name"] for response in summary["responses"]] == target
    assert "select(data, ['size', 'width'], 2, 'socc')" in summary["reproduce"]["python"]


def test_comparisons_take_them(table):
    target = ["size", "width"]
    comparison = compare(table.drop(columns="kind"), target, ["socc", "mser"])
    assert comparison.to_dict()["target"] == "size, width"
    assert "['size', 'width']" in comparison.to_dict()["reproduce"]["python"]


def run(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "orthoselect", "select", *map(str, arguments)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_command_gives_them_on(table, tmp_path):
    file, out = tmp_path / "table.csv", tmp_path / "out.csv"
    table.to_csv(file, index=False)
    asked = ["--target", "kind", "--target", "size", "-k", 4, "--format", "json", "--quiet"]
    told = run(file, *asked, "--output", out)
    expected = expected_of(table, ["kind", "size"])
    assert [step["name"] for step in told["steps"]] == expected.names
    assert told["target"] == "kind, size"
    assert "['kind', 'size']" in told["reproduce"]["python"]
    assert pd.read_csv(out).columns.tolist() == [*expected.names, "kind", "size"]
    in_blocks = run(folder_of(table, tmp_path) / "*.parquet", *asked, "--memory", "4KB")
    assert [step["name"] for step in in_blocks["steps"]] == expected.names


def test_rows_without_one_of_the_targets_can_be_dropped(table, tmp_path):
    gappy = table.copy()
    gappy.loc[3, "size"] = np.nan
    gappy.loc[5, "kind"] = None
    file = tmp_path / "table.csv"
    gappy.to_csv(file, index=False)
    for missing in ("drop-rows", "drop-columns"):
        told = run(file, "--target", "kind,size", "-k", 3, "--missing", missing, "--format", "json")
        assert told["data"]["rows"] == N - 2
        expected = expected_of(gappy.dropna(), ["kind", "size"])
        assert [step["name"] for step in told["steps"]] == expected.names[:3]
