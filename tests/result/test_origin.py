"""A path writes its report by itself, as long as what it was found on is at hand."""

import copy
import gc
import json
import pickle

import numpy as np
import pytest

from orthoselect import OrthogonalSelector, SelectionPath, select
from orthoselect.errors import InputError
from orthoselect.result import origin


@pytest.fixture
def table(rng):
    X = rng.normal(size=(60, 4))
    return X, (X[:, 0] > 0).astype(int)


def told(path, folder, *given, **options):
    return json.loads(path.report(folder / "r.json", *given, **options).read_text())


def test_a_path_reports_on_what_it_was_found_on(table, tmp_path):
    X, y = table
    summary = told(select(X, y, 2), tmp_path, title="Mine")
    assert summary["title"] == "Mine"
    assert summary["data"]["rows"] == 60


def test_a_small_table_is_kept_and_a_large_one_is_not(table, tmp_path, monkeypatch):
    path = select(table[0].copy(), table[1], 2)
    gc.collect()
    assert told(path, tmp_path)["data"]["rows"] == 60
    monkeypatch.setattr(origin, "KEPT_BYTES", 1000)
    X = table[0].copy()
    path = select(X, table[1], 2)
    assert told(path, tmp_path)["data"]["rows"] == 60
    del X
    gc.collect()
    with pytest.raises(InputError, match=r"`data` is no longer at hand.*path\.report\(file, data"):
        path.report(tmp_path / "r.json")
    assert told(path, tmp_path, *table)["data"]["rows"] == 60


def test_what_cannot_be_watched_is_let_go_if_it_is_large(table, tmp_path, monkeypatch):
    monkeypatch.setattr(origin, "KEPT_BYTES", 1000)
    path = select(table[0].tolist(), table[1], 2)
    with pytest.raises(InputError, match="`data` is no longer at hand"):
        path.report(tmp_path / "r.json")


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_copies_and_pickles_have_no_table(way, table, tmp_path):
    path = select(*table, 2)
    again = way(path)
    assert again == path
    assert len(pickle.dumps(path)) < 2000
    with pytest.raises(
        InputError, match=r"it was pickled, copied, or made from its steps\. Pass it"
    ):
        again.report(tmp_path / "r.json")
    assert told(again, tmp_path, *table)["data"]["rows"] == 60
    assert "origin" not in json.dumps(path.to_dict())


def test_a_pickle_from_before_paths_knew_their_table_can_be_read(table):
    path = select(*table, 2)
    state = {k: v for k, v in path.__getstate__().items() if k != "_origin"}
    old = SelectionPath.__new__(SelectionPath)
    old.__setstate__(state)
    assert old == path
    with pytest.raises(InputError, match="should know what it was found on"):
        old.report("r.json")


def test_weights_belong_to_what_is_known(table, tmp_path):
    X, y = table
    w = np.arange(60) % 3
    path = select(X, y, 2, sample_weight=w)
    assert told(path, tmp_path)["data"]["weighted"] is True
    assert told(path, tmp_path, X, y, sample_weight=w)["data"]["weighted"] is True
    with pytest.raises(InputError, match="`data` should come with `target` and `sample_weight`"):
        path.report(tmp_path / "r.json", sample_weight=w)


def test_paths_of_selectors_and_of_files_report(table, tmp_path, monkeypatch):
    selector = OrthogonalSelector(2).fit(*table)
    assert told(selector.path_, tmp_path)["data"]["rows"] == 60
    assert told(select("iris", None, 2), tmp_path)["title"] == "iris"
    rows = "".join(f"{2 * i},{i * i % 7},{i % 2}\n" for i in range(20))
    (tmp_path / "t.csv").write_text("a,b,y\n" + rows)
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    assert told(select("t.csv", "y", 1), tmp_path)["title"] == "t.csv"
    assert told(OrthogonalSelector(1).fit("t.csv", "y").path_, tmp_path)["data"]["rows"] == 20


def test_dataframes_are_known(tmp_path):
    pd = pytest.importorskip("pandas")
    from sklearn.datasets import load_wine

    wine = load_wine(as_frame=True).frame
    assert told(select(wine, "target", 2), tmp_path)["target"] == "target"
    assert told(select(pd.DataFrame(wine), wine["target"], 2, exclude=["target"]), tmp_path)
