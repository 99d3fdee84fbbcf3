"""Several responses by the names of their columns, wherever the table is."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from orthoselect import GramStatistics, OrthogonalSelector, RowBlocks, compare, select
from orthoselect.errors import InputError
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
    X = pd.DataFrame({"yes": [0.0, 1, 0, 1, 2], "no": [1.0, 3, 2, 2, 1]})
    assert select(X, ["yes", "no", "yes", "no", "no"], 1).names
    third = X.assign(size=[1.0, 4, 2, 3, 1])
    assert OrthogonalSelector(1).fit(third, ["yes", "no"]).feature_names_in_.tolist() == ["size"]
    small = X[:2]  # one value for each row
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
        (["nothing", "none"], "X has 240, y has 2. Columns are named by a list of text"),
        (["size", "size"], "X has 240, y has 2. Columns are named by a list of text"),
        (np.array(["size", "width"]), "X has 240, y has 2. Columns are named by a list of text"),
    ],
)
def test_a_name_that_no_column_has_is_told(table, target, said):
    with pytest.raises(InputError, match=said):
        select(table, target, 1)


def test_a_column_has_one_role(table):
    with pytest.raises(InputError, match="one role; `size`"):
        select(table, ["kind", "size"], 2, sample_weight="size")
    with pytest.raises(InputError, match="size"):
        select(table, ["kind", "size"], 2, include="size")
    with pytest.raises(InputError, match="one role; `size`"):
        OrthogonalSelector(2).fit(row_blocks(table, None), ["kind", "size"], sample_weight="size")
    with pytest.raises(InputError, match="one role; `size`"):
        GramStatistics().update(table, ["kind", "size"], sample_weight="size")
    with pytest.raises(InputError, match="one role; `size` is the target and in the group `both`"):
        select(table, ["kind", "size"], 2, groups={"both": ["a", "size"]})
    labels = ["left", "left", "left", "right", "right", "right", None, None, None]
    assert select(table, ["kind", "size"], 1, groups=labels).names


def test_a_target_of_numbers_is_not_made_classes_by_calling_it_a_categorical_feature(table):
    with pytest.raises(InputError, match="`size` is a target, and holds numbers"):
        select(table, ["size", "width"], 2, categorical_features=["size"])
    named = select(table, ["kind", "size"], 2, categorical_features=["kind"])
    assert named.gains == select(table, ["kind", "size"], 2).gains


@pytest.mark.parametrize("stored", STORED)
def test_targets_that_are_all_columns_leave_no_features(table, tmp_path, stored):
    target = ["size", "width"]
    source = stored(table[target], tmp_path)
    with pytest.raises(InputError, match="are all columns of the table"):
        select(source, target, 1)
    if stored is not in_memory:
        with pytest.raises(InputError, match="are all columns of the table"):
            OrthogonalSelector(1).fit(source, target)


def test_selectors_take_names_of_memory_maps(table, tmp_path):
    X = table.drop(columns="kind").to_numpy()
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    for target, at in (("x7", [7]), (["x6", "x7"], [6, 7])):
        selector = OrthogonalSelector(2).fit(mapped, target)
        rest = np.delete(X, at, axis=1)
        expected = OrthogonalSelector(2).fit(rest, X[:, at])
        assert selector.selected_.tolist() == expected.selected_.tolist()
        assert selector.n_features_in_ == rest.shape[1]
        assert not hasattr(selector, "feature_names_in_")
    plain = OrthogonalSelector(1).fit(mapped, X[:, 7])  # values, as ever
    assert plain.selected_.tolist() == [7]
    assert plain.transform(mapped).shape == (N, 1)


def test_a_target_that_stands_apart_is_not_one_of_several(table, tmp_path):
    X = table.drop(columns="kind").to_numpy()
    file = tmp_path / "x.npz"
    np.savez(file, X=X, y=table["kind"].to_numpy(dtype=str))
    assert select(file, ["y"], 2).names == select(file, "y", 2).names
    assert select("iris", ["species"], 1).names == select("iris", None, 1).names
    for source, target in ((file, ["x7", "y"]), ("iris", ["target", "petal length (cm)"])):
        with pytest.raises(InputError, match="is separate from its columns"):
            select(source, target, 1)
    done = command("iris", "--target", "species,petal length (cm)")
    assert done.returncode == 2
    assert "is separate from its columns" in done.stderr


def test_missing_values_are_told_by_column(table):
    gappy = table.copy()
    gappy.loc[3, "size"] = np.nan
    for stored in (in_memory, row_blocks):
        with pytest.raises(InputError, match=r"`size` \(the target, 1 missing"):
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


def test_comparisons_of_files_tell_where_they_are(table, tmp_path):
    file = tmp_path / "table.csv"
    table.drop(columns="kind").to_csv(file, index=False)
    told = compare(file, ["size", "width"], ["socc"], sizes=[2]).to_dict()["reproduce"]["python"]
    assert f"compare( {str(file)!r}, ['size', 'width']" in " ".join(told.split())


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "orthoselect", "select", *map(str, arguments)],
        capture_output=True,
        text=True,
    )


def run(*arguments):
    done = command(*arguments)
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


@pytest.mark.parametrize("suffix", ["npz", "parquet", "csv"])
def test_written_tables_keep_all_targets_as_such(table, tmp_path, suffix):
    file, out = tmp_path / "table.csv", tmp_path / f"out.{suffix}"
    table.to_csv(file, index=False)
    asked = ["--target", "size,width", "-k", 2, "--format", "json", "--quiet"]
    told = run(file, *asked, "--exclude", "kind", "--output", out)
    again = run(out, *asked)
    assert [step["name"] for step in again["steps"]] == [step["name"] for step in told["steps"]]
    assert again["n_candidates"] == 2


def test_libsvm_has_no_place_for_several_targets(table, tmp_path):
    file = tmp_path / "table.csv"
    table.to_csv(file, index=False)
    done = command(
        file, "--target", "size,width", "--exclude", "kind", "--output", tmp_path / "o.svm"
    )
    assert done.returncode == 2
    assert "LIBSVM has one label a row; the targets are `size`, `width`" in done.stderr
    assert not (tmp_path / "o.svm").exists()


def test_a_gap_in_a_target_is_told_with_its_block_and_what_to_do(table, tmp_path):
    gappy = table.copy()
    gappy.loc[200, "size"] = np.nan
    how = ["--missing", "error"]
    done = command(folder_of(gappy, tmp_path), "--target", "kind,size", "--memory", "4KB", *how)
    assert done.returncode == 2
    assert "`size` (the target, 1 missing of" in done.stderr
    assert ", the first in block" in done.stderr
    assert "`--missing indicator`" in done.stderr


def test_a_comma_too_many_is_no_name(table, tmp_path):
    file = tmp_path / "table.csv"
    table.to_csv(file, index=False)
    asked = ["-k", 1, "--format", "json"]
    assert run(file, "-t", "size,", *asked)["steps"] == run(file, "-t", "size", *asked)["steps"]


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


def test_columns_of_the_response_are_read_once(table, monkeypatch):
    from orthoselect.read.frame_block import FrameBlock

    read, column = [], FrameBlock.column

    def counted(self, at):
        read.append(self.names[at])
        return column(self, at)

    monkeypatch.setattr(FrameBlock, "column", counted)
    select(table, ["size", "width"], 2)
    assert read == ["size", "width"]
