"""Statistics of a table are the same whatever the table comes as."""

import operator
import pickle
from functools import reduce

import numpy as np
import pytest

from kept_tables import N, same, table
from orthoselect import GramStatistics, RowBlocks, select
from orthoselect.errors import InputError, LeftOutWarning, NonFiniteError, ShapeError
from orthoselect.read import FileBlocks, read_table

# Files


@pytest.fixture
def folder(tmp_path):
    pytest.importorskip("pyarrow")
    table()[:40].to_parquet(tmp_path / "1.parquet", row_group_size=15)
    table()[40:].to_parquet(tmp_path / "2.parquet", row_group_size=15)
    return tmp_path


SOURCES = {
    "folder": lambda folder: folder,
    "pattern": lambda folder: f"{folder}/*.parquet",
    "list": lambda folder: [folder / "1.parquet", folder / "2.parquet"],
    "file blocks": lambda folder: FileBlocks(folder),
    "data set": read_table,
    "data set in blocks": lambda folder: read_table(folder, in_blocks=True),
}


@pytest.mark.parametrize("options", [{}, {"exclude": ["note"]}, {"sample_weight": "w"}])
@pytest.mark.parametrize("kind", SOURCES)
def test_files(folder, kind, options):
    made = GramStatistics.of(SOURCES[kind](folder), "y", **options)
    same(made, GramStatistics.of(table(), "y", **options))


def test_files_with_a_bound_on_memory(folder):
    same(GramStatistics.of(folder, "y", memory="40kB"), GramStatistics.of(table(), "y"))
    with pytest.raises(InputError, match="in memory already"):
        GramStatistics.of(table(), "y", memory="1GB")
    with pytest.raises(InputError, match=r"statistics of \d+ columns"):
        GramStatistics.of("wine", None, memory="200kB", categorical_features=["alcohol"])


@pytest.mark.parametrize("in_blocks", [False, True])
def test_columns_that_are_no_features_are_left_out(tmp_path, in_blocks):
    pytest.importorskip("pyarrow")
    table().assign(id=[f"patient {row}" for row in range(N)]).to_parquet(tmp_path / "t.parquet")
    source = read_table(tmp_path / "t.parquet", in_blocks=in_blocks)
    with pytest.warns(LeftOutWarning, match="`id`"):
        made = GramStatistics.of(source, "y")
    assert not any(term.startswith("id=") for term in made.terms)
    with pytest.warns(LeftOutWarning, match="`id`"):
        assert made.select(3).names == select(source, "y", 3).names


def test_excluded_columns_are_not_read():
    seen = []

    class Source:
        names = tuple(table())

        def blocks(self, columns=None):
            seen.append(columns)
            yield table() if columns is None else table().iloc[:, columns]

    GramStatistics.of(Source(), "y", exclude=["note", "b"])
    # The first is a look at a few rows, the second one at what these left open.
    assert seen == [None, [3, 5], [0, 3, 4, 5, 6]]


def test_errors_name_the_file(folder):
    table()[:5].assign(a=[0, 1, np.nan, 3, 4]).to_parquet(folder / "3.parquet")
    with pytest.raises(NonFiniteError, match=r"`a` \(1 missing.*3\.parquet"):
        GramStatistics.of(read_table(folder, in_blocks=True), "y")


@pytest.mark.parametrize("memory", [None, "8kB"])
def test_memory_maps(tmp_path, memory):
    X = table()[["a", "b", "number"]].to_numpy()
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    same(GramStatistics.of(mapped, table()["y"], memory=memory), GramStatistics.of(X, table()["y"]))


# Responses and weights


@pytest.mark.parametrize("y", ["y", ["number", "b"]])
@pytest.mark.parametrize("as_array", [False, True])
def test_responses_and_weights_beside_blocks(y, as_array):
    X, y, w = table()[["a", "kind"]], table()[y], table()["w"]
    y = y.to_numpy() if as_array else y.set_axis(np.arange(N) / 2)  # rows are told by place
    blocks = RowBlocks([X[:50], X[50:]])
    same(GramStatistics.of(blocks, y, w), GramStatistics.of(X, y, w))


def test_weights_by_name_are_those_of_the_column():
    named = GramStatistics.of(table(), "y", "w")
    beside = GramStatistics.of(table(), "y", table()["w"], exclude=["w"])
    assert named.select(3).gains == pytest.approx(beside.select(3).gains)
    assert named.select(3).n_candidates == select(table(), "y", 3, sample_weight="w").n_candidates
    grown = GramStatistics().update(table()[:50], "y", "w").update(table()[50:], "y", "w")
    same(grown, named)
    assert named.select(2, features=["a", "b"]).names == ["b", "a"]


def test_weights_by_name_should_be_named_everywhere(tmp_path):
    named = GramStatistics.of(table(), "y", "w")
    with pytest.raises(InputError, match="names no column here, it named column `w` in blocks bef"):
        named.update(table(), "y")
    with pytest.raises(InputError, match="column `w` is the row weights on the left and numbers"):
        named + GramStatistics.of(table(), "y")
    with pytest.raises(InputError, match="`w` is the target and in `sample_weight`"):
        GramStatistics().update(table(), "w", "w")
    with pytest.raises(InputError, match="`w` is in `sample_weight` and in `include`"):
        named.select(2, include=["w"])
    named.save(tmp_path / "w.npz")
    with pytest.raises(InputError, match="it named column `w`"):
        GramStatistics.load(tmp_path / "w.npz").update(table(), "y")


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_without_weight_have_to_hold_numbers_as_well(value, cut):
    wrong = table().assign(w=1)
    wrong.loc[7, ["a", "w"]] = value, 0
    wrong["w"] = wrong["w"].astype(int)
    data = RowBlocks([wrong[:20], wrong[20:]]) if cut else wrong
    with pytest.raises(NonFiniteError, match=r"`a` (has 1 inf|\(1 missing)"):
        select(data, "y", 2, sample_weight="w")
    with pytest.raises(NonFiniteError, match=r"`a` (has 1 inf|\(1 missing)"):
        GramStatistics.of(data, "y", sample_weight="w")


def test_sparse_numbers_have_to_be_finite():
    sp = pytest.importorskip("scipy.sparse")
    X = np.eye(6)
    X[2, 2] = X[3, 2] = np.nan
    with pytest.raises(NonFiniteError, match=r"`x2` \(2 missing of 6\)"):
        GramStatistics.of(sp.csr_array(X), [0, 1] * 3)


def test_numbers_whose_sum_is_too_large_are_finite():
    X = np.array([[1e308, 1.0], [1e308, 2.0], [-1e308, 0.5], [1e308, 1.5]])
    assert GramStatistics.of(X, [0, 1, 0, 1]).n_rows == 4


# Few rows


def test_one_row_will_do():
    rows = [table()[k : k + 1] for k in range(N)]
    one = GramStatistics.of(rows[0], "y")
    assert one.n_rows == 1
    same(reduce(operator.add, (GramStatistics.of(row, "y") for row in rows)),
         GramStatistics.of(table(), "y"))  # fmt: skip
    assert GramStatistics.of(RowBlocks([rows[0]]), "y").n_rows == 1
    with pytest.raises(ShapeError, match=r"1 sample\(s\)"):
        one.select(1)


def test_no_rows_are_an_error():
    with pytest.raises(ShapeError, match="minimum of 1"):
        GramStatistics.of(table()[:0], "y")
    with pytest.raises(ShapeError, match="blocks with rows"):
        GramStatistics.of(RowBlocks([table()[:0]]), "y")


def test_statistics_are_no_table():
    with pytest.raises(InputError, match="should have the rows of a table"):
        GramStatistics.of(GramStatistics.of(table(), "y"), "y")


def test_no_row_is_sent_elsewhere():
    marked = table().assign(a=np.arange(N) + 0.1234567)
    sent = pickle.dumps(GramStatistics.of(marked, "y").update(marked[:3], "y"))
    assert not any(np.float64(value).tobytes() in sent for value in marked["a"][1:])
