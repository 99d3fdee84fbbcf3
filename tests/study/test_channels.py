"""The experiment on channels of series, on made series."""

import numpy as np
import pytest

from orthoselect.errors import InputError
from orthoselect_study import EXPERIMENTS, report, run
from orthoselect_study.datasets import DataSource
from orthoselect_study.experiments import channels
from orthoselect_study.reporting import _results
from orthoselect_study.store import Store


@pytest.fixture
def folder(tmp_path, rng):
    """Four channels: one tells the class, one repeats it, two are noise."""
    y = np.tile(["still", "walking"], 24)
    X = rng.normal(size=(48, 4, 25))
    X[:, 2] *= np.where(y == "walking", 1.7, 1.0)[:, None]
    X[:, 3] = 2.0 * X[:, 2] + 1.0
    parts = {"X_train": X[:24], "y_train": y[:24], "X_test": X[24:], "y_test": y[24:]}
    np.savez(tmp_path / "basic_motions.npz", **parts)
    return tmp_path


def test_chosen_channels_stand_beside_random_ones_and_all(tiny, undrawn, folder):
    settings = tiny(repeats=3, batches=None, data=folder)
    run(["channels"], settings)
    store = Store(settings.output, "channels")
    found = _results(store, store.manifest())
    assert {row.repeat for row in found.rows} == {0, 1, 2}
    (table,) = EXPERIMENTS["channels"].tables(found)
    lines = {tuple(row[:2]): row[2:] for row in table.rows}
    first = {way: float(line[0].split()[0]) for (_, way), line in lines.items() if line[0]}
    assert first["by summaries"] > first["random channels"]
    assert lines["BasicMotions", "auto"][-1].endswith("(1 to 1 channels)")
    assert lines["BasicMotions", "by summaries"][-1] is None
    sentences = EXPERIMENTS["channels"].findings(found)
    assert [words.split(":")[0] for words in sentences] == ["made machines", "BasicMotions"]
    (part,) = report(settings.output)["experiments"]
    assert part["tables"][0]["rows"][1][:2] == ["BasicMotions", "24 + 24 test"]


def test_a_second_channel_that_repeats_the_first_helps_less_than_another():
    """On machines three channels shake, and only the fourth tells what is dry."""
    data = channels.make_machines()
    train, test = channels.split(data, 0, 0)
    given, alone = (
        channels.WAYS[way](data.X[train], data.y[train], 2, 0)
        for way in ("by summaries", "each alone")
    )
    assert 3 in given
    assert channels.share_right(data, given, train, test) > channels.share_right(
        data, [0, 1], train, test
    )
    assert len(set(alone)) == 2


def test_the_first_split_is_the_official_one_and_others_are_as_large(folder):
    data = channels.load_motions(DataSource(folder))
    assert [part.tolist() for part in channels.split(data, 0, 0)] == [
        list(range(24)), list(range(24, 48)),
    ]  # fmt: skip
    train, test = channels.split(data, 1, 0)
    assert sorted([*train, *test]) == list(range(48))
    assert (len(train), (data.y[train] == "still").sum()) == (24, 12)


def test_series_that_are_not_there_are_named(tiny, undrawn, folder):
    settings = tiny(repeats=2, batches=None)
    run(["channels"], settings)
    (part,) = report(settings.output)["experiments"]
    assert part["findings"][-1] == (
        "BasicMotions is missing: it is not on OpenML, and no folder with a copy was given."
    )
    np.savez(folder / "basic_motions.npz", X_train=np.ones(3))
    with pytest.raises(InputError, match=r"`basic_motions.npz` should hold X_train, X_test"):
        channels.load_motions(DataSource(folder))
