"""`fit` of files and of tables in blocks: what `select` does, and no more reading than that."""

import numpy as np
import pytest

from orthoselect import MutualInformationSelector, OrthogonalSelector, RowBlocks, select
from orthoselect.errors import InputError
from orthoselect.read import on_dask, read_table

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")

N, n = 120, 5


@pytest.fixture
def table():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(N, n)), columns=list("abcde"))
    frame["e"] = rng.integers(0, 3, N)
    frame.insert(2, "kind", rng.choice(["u", "v", "w"], N))
    frame.insert(1, "y", (frame["a"] + frame["d"] + rng.normal(size=N) > 0).astype(int))
    frame.insert(4, "w", rng.integers(1, 4, N))
    return frame


class Counted:
    """Blocks of rows, and of each time they were asked for how many were taken."""

    def __init__(self, table, names=None):
        self.taken = []
        self._blocks = [table[start : start + 40] for start in range(0, N, 40)]
        self.rows = RowBlocks(self._make, names=names)

    def _make(self):
        self.taken.append(0)
        at = len(self.taken) - 1
        for block in self._blocks:
            self.taken[at] += 1
            yield block


def numbers(table):
    return table[["y", "w", *"abcde"]].to_numpy(dtype=float)


# A table, the target and the weights in it, and names that only whoever makes the blocks knows.
UNNAMED = {
    "array": (numbers, "x0", None, None),
    "array with weights": (numbers, "x0", "x1", None),
    "two targets": (numbers, ["x0", "x3"], None, None),
    "values beside an array": (numbers, np.arange(N) % 2, None, None),
    "names given": (numbers, "y", "w", ["y", "w", *"abcde"]),
    "frame": (lambda table: table, "y", None, None),
    "frame with weights": (lambda table: table, "y", "w", None),
}


@pytest.mark.parametrize("case", UNNAMED)
def test_fit_looks_and_passes_as_often_as_select(case, table):
    make, y, weights, names = UNNAMED[case]
    selected, fitted = Counted(make(table), names), Counted(make(table), names)
    path = select(selected.rows, y, 3, sample_weight=weights)
    selector = OrthogonalSelector(3).fit(fitted.rows, y, sample_weight=weights)
    assert fitted.taken == selected.taken
    # A look at the first block, one at the text of a frame, then whole passes.
    looks = [1, 3] if case.startswith("frame") else [1]
    assert selected.taken == [*looks, *[3] * path.stats["passes"]]
    assert selector.path_.names == path.names
    assert selector.path_.gains == pytest.approx(path.gains)


def test_fit_surveys_categories_and_response_in_one_pass(table):
    counted = Counted(table)
    path = MutualInformationSelector(2, bins=3).fit(counted.rows, "y").path_
    expected = Counted(table)
    select(expected.rows, "y", 2, "jmi", bins=3)
    assert counted.taken == expected.taken
    assert len(path) == 2


SPECS = {
    "include from the end": {"include": [-1, 0]},
    "exclude by a mask": {"exclude": [True, False, False, False, True, False]},
    "groups by labels": {"groups": ["one", None, None, "one", None, "two"]},
    "groups by places": {"groups": {"one": [0, -2]}, "include": ["one"]},
    "categories by place": {"categorical_features": [5]},
    "all categories": {"categorical_features": "all", "exclude": [0, 1, 3, 4]},
    "names": {"include": ["c"], "exclude": ["d"]},
}
STORED = {
    "blocks": lambda table: Counted(table).rows,
    "file": lambda table: written(table),
    "file in blocks": lambda table: read_table(written(table), in_blocks=True),
    "read": lambda table: read_table(written(table)),
    "Dask": lambda table: on_dask(written(table)),
    "Dask frame": lambda table: pytest.importorskip("dask.dataframe").from_pandas(table),
}


def written(table):
    csv.write_csv(pa.Table.from_pandas(table, preserve_index=False), "table.csv")
    return "table.csv"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.importorskip("dask").config.set(scheduler="synchronous"):
        yield


@pytest.mark.filterwarnings("ignore::orthoselect.errors.ManyLevelsWarning")
@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("stored", STORED)
def test_columns_are_counted_without_the_response_and_the_weights(stored, spec, weights, table):
    if weights is None:
        table = table.drop(columns="w")
    X = table.drop(columns=["y", *([] if weights is None else ["w"])])
    w = None if weights is None else table["w"]
    expected = OrthogonalSelector(2, **SPECS[spec]).fit(X, table["y"], sample_weight=w)
    selector = OrthogonalSelector(2, **SPECS[spec])
    selector.fit(STORED[stored](table), "y", sample_weight=weights)
    assert selector.selected_.tolist() == expected.selected_.tolist()
    assert selector.path_.gains == pytest.approx(expected.path_.gains)
    assert selector.feature_names_in_.tolist() == list(X.columns)
    for option in ("include", "exclude", "groups", "categorical_features"):
        assert selector.path_.options[option] == expected.path_.options[option]


@pytest.mark.parametrize("stored", ["blocks", "file", "Dask", "Dask frame"])
def test_response_is_no_feature_to_be_named(stored, table):
    with pytest.raises(InputError, match="`y`"):
        OrthogonalSelector(2, include=["y"]).fit(STORED[stored](table), "y")
    table = table[["y", "w"]]
    with pytest.raises(InputError, match="there should be features to choose from"):
        OrthogonalSelector(2).fit(STORED[stored](table), "y", sample_weight="w")


UNFIT = {
    "identifier": [f"id{row:03}" for row in range(N)],
    "date": pd.date_range("2020-01-01", periods=N).strftime("%Y-%m-%d"),
    "date as text": [f"{1 + row % 28}.{1 + row // 28}.2020" for row in range(N)],
    "nothing": [None] * N,
}


@pytest.mark.parametrize("stored", ["file", "file in blocks", "read", "Dask"])
@pytest.mark.parametrize("kind", UNFIT)
def test_fit_and_select_refuse_the_same_targets(kind, stored, table):
    said = []
    for refuses in (select, lambda X, y, k: OrthogonalSelector(k).fit(X, y)):
        with pytest.raises(InputError, match="the target should hold classes or numbers") as error:
            refuses(STORED[stored](table.assign(y=UNFIT[kind])), "y", 2)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_table_of_dask_stays_on_dask_without_some_columns(table):
    from orthoselect.read.row_blocks import OnDask

    there = on_dask(written(table))
    assert isinstance(there.without(["w"]).data, OnDask)
    assert isinstance(there.take_rows(np.arange(N) % 3 > 0).data, OnDask)
    assert (
        select(there.without(["w"]), "y", 2).names == select(table.drop(columns="w"), "y", 2).names
    )
