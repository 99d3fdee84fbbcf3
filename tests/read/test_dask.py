"""Selecting from Dask arrays and dataframes gives what the whole table in memory gives."""

import logging
import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from matrices import edges
from orthoselect import GramStatistics, OrthogonalSelector, select
from orthoselect.cli.app import app
from orthoselect.cli.terminal import connected
from orthoselect.errors import InputError, MissingValueError, NonFiniteError, ShapeError
from orthoselect.read import on_dask, read_table
from orthoselect.read.row_blocks import RowsOf
from problems import random_problem

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")

N = 300
# Older versions warn of one scheduler beside another, here a cluster that other tests use.
pytestmark = pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler")


@pytest.fixture
def one_by_one():
    """Let Dask do one task after the other, here: quick for small tables."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def table():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, 4))
    kind = rng.choice(["red", "green", "blue"], N)
    return pd.DataFrame(
        {
            "a": X[:, 0],
            "b": X[:, 1] * 1e-3 + 1e3,
            "c": rng.integers(0, 9, N),
            "d": X[:, 3].astype(np.float32),
            "kind": kind,
            "y": np.where(X[:, 1] + (kind == "red") + rng.normal(size=N) > 0.3, "yes", "no"),
            "number": 1e6 + X[:, 1] - 2 * X[:, 0] + rng.normal(size=N),
        }
    )


def spread(frame, npartitions=4):
    return dd.from_pandas(frame, npartitions=npartitions, sort=False)


def same(path, expected, rel=1e-9):
    assert path.names == expected.names
    assert path.columns == expected.columns
    assert path.gains == pytest.approx(expected.gains, abs=1e-9, rel=rel)
    assert path.ceiling == pytest.approx(expected.ceiling, nan_ok=True)
    assert path.n_candidates == expected.n_candidates


def in_chunks(X, seed):
    """An array in blocks of rows of many sizes, none included, and of columns."""
    sizes = tuple(b - a for a, b in pairwise(edges(len(X), seed)))
    widths = (1, X.shape[1] - 1) if X.shape[1] > 1 else (1,)
    return da.from_array(X, chunks=(sizes, widths))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(0, 120, 4))
def test_nasty_arrays(seed, one_by_one):
    p = random_problem(seed)
    expected = select(p.X, p.y, p.t, include=list(p.include), sample_weight=p.weights)
    y = da.from_array(p.y, chunks=(7, *p.y.shape[1:])) if seed % 8 else p.y
    path = select(in_chunks(p.X, seed), y, p.t, include=list(p.include), sample_weight=p.weights)
    same(path, expected)


OPTIONS = {
    "plain": {},
    "groups": {"groups": {"mixed": ["a", "kind"]}},
    "include and exclude": {"include": ["kind"], "exclude": ["b", "d"]},
    "weights": {"sample_weight": np.random.default_rng(0).integers(0, 4, N)},
    "numbers as labels": {"categorical_features": ["c"]},
    "ordinal": {"response_encoding": "ordinal"},
    "weights by name": {"sample_weight": "c"},
    "weights that are not whole": {"sample_weight": np.random.default_rng(0).uniform(0, 1e300, N)},
    "weights all alike": {"sample_weight": np.full(N, 0.1)},
}


@pytest.mark.parametrize("target", ["y", "number"])
@pytest.mark.parametrize("options", list(OPTIONS))
def test_mixed_frames(options, target, one_by_one):
    frame = table()
    same(select(spread(frame), target, 3, **OPTIONS[options]),
         select(frame, target, 3, **OPTIONS[options]))  # fmt: skip


@pytest.mark.parametrize("method", ["err", "mser", "obcc", "socc_discretized", "mrmr_quotient"])
@pytest.mark.parametrize("weights", [None, "copies", "shares"])
def test_other_criteria(method, weights, one_by_one):
    rng = np.random.default_rng(0)
    frame = table().assign(copies=rng.integers(0, 3, N), shares=rng.uniform(0, 2, N))
    left_out = {"exclude": ["kind", "number", *({"copies", "shares"} - {weights})]}
    expected = select(frame, "y", 3, method, sample_weight=weights, **left_out)
    same(select(spread(frame), "y", 3, method, sample_weight=weights, **left_out), expected)
    if weights is not None:
        beside = frame.drop(columns=weights)
        for given in (frame[weights], spread(frame)[weights], spread(frame)[[weights]]):
            path = select(spread(beside), "y", 3, method, sample_weight=given, **left_out)
            assert path.gains == pytest.approx(expected.gains, abs=1e-9)
            assert path.names == expected.names


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1.0, np.nan], r"partition 2: `w` \(the weights, 1 missing"),
        ([1.0, -1.0], "not negative; row .* has -1.0.*partition 2"),
        ([0.0, 0.0], "not be all zero"),
        ([0.0, 1.0], "at least 2 rows should have"),
        (["a", "b"], "column of numbers"),
    ],
)
def test_weights_on_dask_are_checked_where_they_are(weights, said, one_by_one):
    usual, odd = weights
    frame = table().assign(w=usual)
    frame["w"] = frame["w"].where(np.arange(N) != 2 * N // 3, odd)
    with pytest.raises(InputError, match=said):
        select(dd.from_pandas(frame, npartitions=4, sort=False), "y", 2, sample_weight="w")


def test_weights_in_other_partitions_are_refused(one_by_one):
    frame = table()
    with pytest.raises(InputError, match="`sample_weight` should be cut into the same partitions"):
        select(spread(frame), "y", 2, sample_weight=dd.from_pandas(frame["c"], npartitions=1))


def test_a_response_beside_the_table(one_by_one):
    frame = table()
    X, y = frame[["a", "b", "c"]], frame["y"]
    expected = select(X, y, 2)
    same(select(spread(X), spread(y.to_frame())["y"], 2), expected)
    same(select(spread(X), y, 2), expected)
    same(select(X, spread(y.to_frame())["y"], 2), expected)
    both = frame[["y", "number"]].assign(y=lambda f: f["y"] == "yes")
    same(select(spread(X), spread(both), 2), select(X, both, 2))


def test_a_table_of_labels_alone_whose_response_comes_first(one_by_one):
    frame = table()[["y", "kind"]].assign(other=lambda f: f["kind"].str.len().astype(str))
    same(select(spread(frame), "y", 1), select(frame, "y", 1))


def test_an_array_without_known_sizes(one_by_one):
    frame = table()[["a", "b", "number"]].astype(float)
    path = select(spread(frame).to_dask_array(), "x2", 2)
    assert path.features == select(frame.to_numpy(), "x2", 2).features


def test_selectors_take_dask(one_by_one):
    frame = table()
    X, y = frame[["a", "b", "c", "d"]], frame["y"]
    selector = OrthogonalSelector(2).fit(spread(X), spread(y.to_frame())["y"])
    expected = OrthogonalSelector(2).fit(X, y)
    np.testing.assert_array_equal(selector.support_, expected.support_)
    assert list(selector.feature_names_in_) == list(X.columns)
    named = OrthogonalSelector(2).fit(spread(frame[[*X.columns, "y"]]), "y")
    assert named.path_.gains == selector.path_.gains
    array = da.from_array(frame[["a", "b", "number", "d"]].to_numpy(), chunks=(100, 4))
    numbered = OrthogonalSelector(2).fit(array, "x2")
    assert numbered.n_features_in_ == 3
    with pytest.raises(InputError, match="`transform` should have a table in memory"):
        selector.transform(spread(X))


def test_selectors_take_columns_of_dask_by_name(one_by_one):
    frame = table().drop(columns="number")
    X = frame.drop(columns=["y", "c"])
    selector = OrthogonalSelector(2).fit(spread(frame), "y", "c")
    expected = OrthogonalSelector(2).fit(X, frame["y"], frame["c"])
    assert selector.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()
    assert selector.feature_names_in_.tolist() == X.columns.tolist()
    path = select(spread(frame), "y", 2, sample_weight="c")
    assert path.gains == pytest.approx(expected.path_.gains, abs=1e-9)
    with pytest.raises(InputError, match="`transform` should have a table in memory"):
        selector.transform(spread(X))
    assert select(spread(frame), "y", 2, memory="1MB").names


def test_one_pass_where_nothing_has_to_be_found_first(one_by_one):
    X = da.random.default_rng(0).normal(size=(N, 5), chunks=(70, 5))
    assert select(X, X[:, 0] > 0, 2).stats["passes"] == 1


class Counted:
    """An array of which is noted how many of its rows are asked for at a time, and by whom."""

    def __init__(self, X):
        self.shape, self.dtype, self.ndim = X.shape, X.dtype, X.ndim
        self._X, self.most = X, 0

    def __getitem__(self, where):
        part = self._X[where]
        self.most = max(self.most, part.size)
        return part


def test_no_more_than_a_partition_is_ever_asked_for(one_by_one):
    counted = Counted(np.random.default_rng(0).normal(size=(1000, 6)))
    X = da.from_array(counted, chunks=(100, 6), asarray=False, inline_array=True)
    select(X, (counted._X[:, 0] > 0).astype(int), 3)
    assert counted.most == 600


def test_dask_is_imported_for_dask_only():
    code = "import orthoselect, sys, numpy as np\northoselect.select(np.eye(5), [0,0,1,1,1], 1)\n"
    code += "sys.exit('dask' in sys.modules)"
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code]).returncode == 0


# What goes wrong


def test_missing_numbers_name_column_and_partition(one_by_one):
    frame = table()
    frame.loc[200, "a"] = np.nan
    with pytest.raises(NonFiniteError, match=r"partition 2: `a` \(1 missing"):
        select(spread(frame), "y", 2)
    with pytest.raises(NonFiniteError, match=r"partition 2: `a` \(1 missing"):
        select(spread(frame), "y", 2, "jmi", exclude=["number"])


def test_missing_labels_name_column_and_partition(one_by_one):
    frame = table()
    frame.loc[80, "kind"] = None
    with pytest.raises(MissingValueError, match=r"partition 1: `kind` \(1 missing"):
        select(spread(frame), "y", 2)
    frame = table()
    frame.loc[80, "number"] = np.inf
    with pytest.raises(InputError, match=r"`?y`? should hold finite.*partition 1"):
        select(spread(frame), "number", 2)


def test_rows_that_do_not_match_are_refused(one_by_one):
    X = da.ones((20, 2), chunks=(10, 2))
    with pytest.raises(ShapeError, match=r"same number of rows.*X has 20, y has 21"):
        select(X, da.ones(21, chunks=7), 1)
    y = da.arange(20, chunks=7)
    with pytest.raises(ShapeError, match=r"same partitions.*X has 2 of 20 rows in all, y has 3"):
        select(X, y[y >= 0], 1)
    frame = table()
    with pytest.raises(ShapeError, match=r"same number of rows.*X has 75, y has 74 in partition 3"):
        select(spread(frame[["a", "b"]]), spread(frame[["y"]][1:])["y"], 1)


def test_other_collections_are_refused():
    with pytest.raises(ShapeError, match="Array of 1 dimension"):
        select(da.ones(5), [0, 1, 0, 1, 0], 1)
    with pytest.raises(InputError, match="'lasso' needs the whole table in memory"):
        select(da.ones((5, 2)), [0, 1, 0, 1, 0], 1, "lasso")


def fails_at(block, start):
    if len(block) and block.index[0] == start:
        raise OSError("disk on fire")
    return block


def test_a_failing_partition_is_named(one_by_one):
    frame = table()
    broken = spread(frame).map_partitions(fails_at, 150, meta=frame.iloc[:0])
    with pytest.raises(InputError, match="partition 2 fails with OSError: disk on fire"):
        select(broken, "y", 2)


# On a cluster


@pytest.mark.parametrize("method", ["socc", "jmi", "socc_discretized"])
def test_a_cluster_gives_the_same(method, cluster):
    frame = table().drop(columns="number")
    same(select(spread(frame), "y", 3, method), select(frame, "y", 3, method))


def test_a_cluster_gives_the_same_for_dense_arrays(cluster):
    X = np.random.default_rng(0).normal(size=(2000, 30))
    y = (X[:, 2] - X[:, 7] + X[:, 11] > 0).astype(int)
    path = select(da.from_array(X, chunks=(300, 10)), da.from_array(y, chunks=500), 6)
    same(path, select(X, y, 6))


@pytest.mark.parametrize("beside", [False, True])
def test_a_cluster_makes_the_same_statistics(beside, cluster):
    frame = table()
    X = spread(frame.drop(columns="y")) if beside else spread(frame)
    made = GramStatistics.of(X, spread(frame["y"]) if beside else "y")
    path, expected = made.select(3), select(frame, "y", 3)
    assert path.names == expected.names
    assert path.gains == pytest.approx(expected.gains, abs=1e-9)


def dies_once(block, mark):
    """Kill the process that works on the fourth quarter, the first time that its rows are used."""
    if len(block) and block.index[0] == 225 and len(block.columns) > 3 and not mark.exists():
        mark.touch()
        time.sleep(0.1)
        os._exit(1)
    return block


def test_a_worker_that_dies_changes_nothing(cluster, tmp_path):
    frame, mark = table(), tmp_path / "dead"
    deadly = spread(frame).map_partitions(dies_once, Path(mark), meta=frame.iloc[:0])
    same(select(deadly, "y", 3), select(frame, "y", 3))
    assert mark.exists()


def test_a_failing_partition_is_named_on_a_cluster(cluster):
    frame = table()
    broken = spread(frame).map_partitions(fails_at, 150, meta=frame.iloc[:0])
    with pytest.raises(InputError, match="partition 2 fails with OSError: disk on fire"):
        select(broken, "y", 2)


# Files that the workers read


def written(folder, suffix):
    """Write the table as several files; return what stands for them."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    frame = table().drop(columns="number")
    if suffix == "npy":
        np.save(folder / "t.npy", frame[["a", "b", "c", "d"]].to_numpy())
        return str(folder / "t.npy"), "x2"
    for number, rows in enumerate([slice(0, 100), slice(100, 101), slice(101, N)]):
        inside = folder / f"site={number}"
        inside.mkdir()
        if suffix == "csv":
            frame[rows].to_csv(inside / "t.csv", index=False)
        else:
            pq.write_table(pa.Table.from_pandas(frame[rows]), inside / "t.parquet")
    return str(folder), "y"


@pytest.mark.parametrize("suffix", ["parquet", "csv", "npy"])
def test_workers_read_files(suffix, tmp_path, one_by_one):
    source, target = written(tmp_path, suffix)
    expected = select(source, target, 3, sample_weight=None if suffix == "npy" else "c")
    weights = {} if suffix == "npy" else {"sample_weight": "c"}
    same(select(on_dask(source), target, 3, **weights), expected)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_files_without_rows_are_no_work(suffix, tmp_path, one_by_one):
    source, target = written(tmp_path, suffix)
    expected = select(source, target, 3, exclude=["site"])
    for number in ("00", "2"):  # before the first of the files, and after the last
        (tmp_path / f"site={number}").mkdir(exist_ok=True)
        none = tmp_path / f"site={number}" / f"z.{suffix}"
        rows = table().drop(columns="number")[:0]
        rows.to_csv(none, index=False) if suffix == "csv" else rows.to_parquet(none)
    same(select(on_dask(source), target, 3, exclude=["site"]), expected)


def test_workers_read_some_rows_of_files(tmp_path, one_by_one):
    source, target = written(tmp_path, "parquet")
    rows = np.random.default_rng(0).random(N) < 0.7
    dataset = read_table(source, in_blocks=True)
    some = replace(dataset, data=RowsOf(dataset.data, rows))
    same(select(on_dask(some), target, 3), select(some, target, 3))


def test_ctrl_c_leaves_no_traceback_of_the_client(cluster, caplog, monkeypatch):
    leave = distributed.Client.__exit__

    def complaining(*arguments):
        logging.getLogger("asyncio").error("Task exception was never retrieved")
        return leave(*arguments)

    monkeypatch.setattr(distributed.Client, "__exit__", complaining)
    with connected(cluster.scheduler.address):
        pass
    assert "never retrieved" not in caplog.text
    logging.getLogger("asyncio").error("heard again")
    assert "heard again" in caplog.text


def test_the_command_uses_a_scheduler(cluster, tmp_path):
    source, target = written(tmp_path, "parquet")
    asked = ["select", source, "--target", target, "-k", "3", "--format", "csv", "--quiet"]
    address = cluster.scheduler.address
    there = CliRunner().invoke(app, [*asked, "--scheduler", address])
    here = CliRunner().invoke(app, asked)
    assert there.exit_code == here.exit_code == 0
    names = [line.split(",")[:3] for line in here.stdout.splitlines()]
    assert [line.split(",")[:3] for line in there.stdout.splitlines()] == names
    refused = CliRunner().invoke(app, ["select", "iris", "--scheduler", address])
    assert refused.exit_code == 2
    assert "workers of Dask should be able to read" in refused.output


def test_a_scheduler_that_does_not_answer_is_said_to(tmp_path):
    refused = CliRunner().invoke(app, ["select", "iris", "--scheduler", "nonsense"])
    assert refused.exit_code == 2
    assert "'nonsense' does not answer as one: missing port" in refused.output


def test_something_else_that_answers_is_no_scheduler():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            with server.accept()[0] as connection:
                connection.sendall(b"HTTP/1.1 400 no")

        answering = threading.Thread(target=answer)
        answering.start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        refused = CliRunner().invoke(app, ["select", "iris", "--scheduler", address])
        answering.join()
    assert refused.exit_code == 2
    assert "does not answer as one" in refused.output


def test_only_small_things_reach_the_client(cluster, monkeypatch):
    """Whatever Dask hands to the client, over all of a selection, is a few numbers a column."""
    sizes = []
    gather = distributed.Client.gather

    def weigh(self, *args, **kwargs):
        got = gather(self, *args, **kwargs)
        sizes.append(len(pickle.dumps(got)))
        return got

    monkeypatch.setattr(distributed.Client, "gather", weigh)
    X = da.random.default_rng(0).normal(size=(40_000, 8), chunks=(5_000, 8))
    y = (X[:, 1] + X[:, 5] > 0).astype(int)
    shares = da.random.default_rng(1).uniform(size=40_000, chunks=5_000)
    copies = (3 * shares).astype(int)
    weighted = da.concatenate([X, copies[:, None]], axis=1)
    assert sorted(select(X, y, 2).features) == [1, 5]
    assert sorted(select(X, y, 2, sample_weight=shares).features) == [1, 5]
    assert sorted(select(weighted, y, 2, sample_weight="x8").features) == [1, 5]
    assert sorted(select(X, X[:, 2] - X[:, 3], 2, sample_weight=shares).features) == [2, 3]
    for weights in (shares, copies):
        assert sorted(select(X, y, 2, "jmi", bins=4, sample_weight=weights).features) == [1, 5]
    selector = OrthogonalSelector(2).fit(weighted, y, sample_weight="x8")
    assert sorted(selector.selected_) == [1, 5]
    assert len(sizes) > 20
    assert max(sizes) < 10_000  # the response alone, a byte a row, would be 40,000


def test_categories_outside_of_an_order_are_an_error(one_by_one):
    ordered = pd.CategoricalDtype(["v", "u"], ordered=True)
    first = pd.DataFrame({"a": [1.0, 2.0, 4.0], "c": pd.Series(list("uvu"), dtype=ordered)})
    second = pd.DataFrame({"a": [3.0, 5.0, 9.0], "c": pd.Series(list("uwv"), dtype="category")})
    parts = [dask.delayed(frame) for frame in (first, second)]
    frame = dd.from_delayed(parts, meta=first[:0], verify_meta=False)
    said = "should have categories of one ordered.*`v`, `u`, and `w` is not among"
    with pytest.raises(InputError, match=f"y {said}"):
        select(frame, "c", 1)
    with pytest.raises(InputError, match=f"column `c` {said}"):
        select(frame, np.arange(6) % 2, 1)


def test_response_of_dask_beside_a_table_in_memory_is_computed_once(one_by_one):
    frame, computed = table(), []

    def values():
        computed.append(1)
        return frame["number"].to_numpy()

    y = da.from_delayed(dask.delayed(values, pure=False)(), (N,), float)
    X = frame[["a", "b", "c"]]
    same(select(X, y, 2), select(X, frame["number"], 2))
    assert len(computed) == 1


def changing(partition, columns):
    """Return a Dask array of which some columns of one partition are other ones in every pass."""

    def made(block, block_info=None):
        number = block_info[0]["chunk-location"][0]
        X = np.random.default_rng(number).normal(size=block.shape)
        if number == partition:
            X[:, columns] += np.random.default_rng().normal(size=(len(X), len(columns)))
        return X

    empty = da.zeros((N, 5), chunks=(70, 5))
    return da.map_blocks(made, empty, dtype=float, meta=np.zeros((0, 0)))


def test_partitions_that_change_are_named(one_by_one):
    y = np.arange(N) % 2
    words = r"stay the same.*columns `x1`, `x3` have other values.*in partition 2\."
    with pytest.raises(InputError, match=words):
        select(changing(2, [1, 3]), y, 2, "jmi")
    with pytest.raises(InputError, match=r"column `x4` has other values.*in partition 0\."):
        select(changing(0, [4]), y, 2)  # as the look at the first partition has it


def test_partitions_of_frames_that_change_are_named(one_by_one):
    X = changing(3, [2])
    frame = dd.from_dask_array(X, columns=list("abcde"))
    words = r"column `c` has other values.*in partition 3\.|about partition 3"
    with pytest.raises(InputError, match=words):
        select(frame, "a", 2, "socc_discretized", task="regression")
    with pytest.raises(InputError, match=words):
        select(frame, "c", 2)


@pytest.mark.parametrize("classes", [False, True])
def test_a_response_that_changes_is_an_error_that_names_the_partition(one_by_one, classes):
    X = da.random.default_rng(0).normal(size=(N, 5), chunks=(70, 5))
    y = changing(1, [0])[:, 0]
    y = y > 0 if classes else y
    with pytest.raises(InputError, match=r"stay the same.*column `y` has.*about partition 1\."):
        select(X, y, 2)


def test_workers_agree_on_checksums(cluster):
    frame = table()
    expected = select(frame, "y", 3, "jmi").features
    assert select(spread(frame), "y", 3, "jmi").features == expected
    with pytest.raises(InputError, match=r"column `x1` has other values.*in partition 2\."):
        select(changing(2, [1]), np.arange(N) % 2, 2, "jmi")


def test_rows_that_move_to_another_partition_are_an_error(one_by_one):
    passes = []

    def part(number):
        passes.append(number)
        moved = len(passes) > 6 and number < 2
        X = np.random.default_rng(number).normal(size=(50 + (10 - 20 * number) * moved, 3))
        return pd.DataFrame(X, columns=list("abc"))

    meta = part(2).iloc[:0]
    frame = dd.from_delayed([dask.delayed(part, pure=False)(k) for k in range(3)], meta=meta)
    with pytest.raises(InputError, match=r"have 50 rows, and has \d0 now.*about partition [01]"):
        select(frame, np.arange(150) % 2, 2, "jmi")
