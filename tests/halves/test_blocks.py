"""Out of core: one pass, the same answer for the same halves, close to that of single rows."""

from zlib import crc32

import numpy as np
import pytest

from orthoselect import RowBlocks, select, stability
from orthoselect.errors import InputError
from orthoselect.gram.dealt import MOST_BLOCKS, Dealer
from orthoselect.halves.pairs import pair_of_blocks
from orthoselect.read import read_table

pd = pytest.importorskip("pandas")


def table(N=400, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=N)
    X = rng.normal(size=(N, 6)) + np.eye(3, 6)[y]
    made = pd.DataFrame(X, columns=list("abcdef"))
    made["far"] = 1e6 + rng.normal(size=N) + (y == 1)
    made["copy"] = made["a"]
    made["town"] = np.where(rng.random(N) < 0.3, np.array(["u", "v", "w"])[y], "x")
    made["weight"] = rng.integers(1, 4, size=N)
    made["y"] = np.array(["one", "two", "three"])[y]
    return made


def cut(frame, size=70):
    return RowBlocks([frame.iloc[at : at + size] for at in range(0, len(frame), size)])


def rows_of_blocks(frame, seed, n_blocks=MOST_BLOCKS):
    """Return the random block of each row, by the rule that the docstring of `Dealer` gives."""
    strata = np.array([crc32(label.encode()) for label in frame["y"]])
    return Dealer(MOST_BLOCKS, seed).deal(strata) // (MOST_BLOCKS // n_blocks)


OPTIONS = {
    "plain": {},
    "weights": {"sample_weight": "weight"},
    "groups": {"groups": {"ab": ["a", "b"]}, "include": ["c"]},
    "numbers": {"method": "err", "exclude": ["town"]},
}


@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize("kind", OPTIONS)
def test_selections_are_those_of_the_same_rows(kind, seed):
    frame, options = table(seed=seed), OPTIONS[kind]
    found = stability(cut(frame), "y", 3, n_pairs=3, random_state=seed, **options)
    assert found.taken.n_blocks == MOST_BLOCKS
    blocks = rows_of_blocks(frame, seed)
    taken = []
    for number in range(3):
        for half in pair_of_blocks(MOST_BLOCKS, seed, number):
            rows = np.flatnonzero(np.isin(blocks, half))
            size = 3 + len(options.get("include", ()))
            taken.append(select(frame.iloc[rows], "y", size, **options).names)
    for name, frequency in found.frequencies.items():
        assert frequency == sum(name in half for half in taken) / 6


@pytest.mark.parametrize("missing", ["indicator", "mean"])
def test_gaps_are_filled_by_the_means_of_each_half(missing):
    frame = table().drop(columns=["copy", "far"])
    frame.loc[::6, "a"] = np.nan
    found = stability(cut(frame), "y", 3, n_pairs=3, missing=missing)
    blocks = rows_of_blocks(frame, 0)
    halves = [half for number in range(3) for half in pair_of_blocks(MOST_BLOCKS, 0, number)]
    taken = [select(frame[np.isin(blocks, half)], "y", 3, missing=missing).names for half in halves]
    for name, frequency in found.frequencies.items():
        assert frequency == sum(name in half for half in taken) / 6


def test_the_cut_of_the_table_does_not_matter():
    frame = table()
    frame = frame.sort_values("y", kind="stable")  # so that first blocks do not have all classes
    found = [stability(cut(frame, size), "y", 3, n_pairs=4).to_dict() for size in (33, 400)]
    assert found[0]["features"] == found[1]["features"]
    assert found[0]["substitutes"] == found[1]["substitutes"]


def test_close_to_halves_of_single_rows():
    frame = table(1500).drop(columns=["copy", "weight"])
    by_blocks = stability(cut(frame, 300), "y", 3, n_pairs=20).frequencies
    by_rows = stability(frame, "y", 3, n_pairs=20).frequencies
    assert max(abs(by_blocks[name] - by_rows[name]) for name in by_rows) < 0.25


def test_one_pass():
    frame, read = table().drop(columns="town"), []
    frame["y"] = frame["y"].map({"one": 1, "two": 2, "three": 3})

    def blocks():
        read.append(0)
        for at in range(0, len(frame), 90):
            read[-1] += 1
            yield frame.iloc[at : at + 90]

    stability(RowBlocks(blocks), "y", 2, n_pairs=10)
    assert read == [1, 5]  # a look at the first block, and one pass


def test_one_pass_besides_looks_at_text():
    told = []
    blocks = RowBlocks(list(cut(table()).blocks()), progress=lambda *now: told.append(now))
    stability(blocks, "y", 2, n_pairs=10)
    assert [number for number, _ in told] == [1] * len(told)
    assert told


def test_files_too_large_for_memory(tmp_path):
    pytest.importorskip("pyarrow")
    frame = table(800).drop(columns=["weight"])
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=100)
    stored = read_table(tmp_path / "t.parquet", in_blocks=True)
    found = stability(stored, "y", 2, n_pairs=4)
    assert found.frequencies == stability(cut(frame), "y", 2, n_pairs=4).frequencies
    assert found.taken.title == "t.parquet"
    assert found.taken.data["rows"] == 800
    assert any("64 blocks in one pass" in words for words in found.assumptions)


def test_dask_partitions():
    dask, dd = pytest.importorskip("dask"), pytest.importorskip("dask.dataframe")
    frame = table(900).drop(columns=["copy", "weight"])
    spread = dd.from_pandas(frame, npartitions=4, sort=False)
    with dask.config.set(scheduler="synchronous"):
        found = stability(spread, "y", 3, n_pairs=12)
        again = stability(spread, "y", 3, n_pairs=12)
    assert found.taken.n_blocks == MOST_BLOCKS
    by_rows = stability(frame, "y", 3, n_pairs=12).frequencies
    assert max(abs(found.frequencies[name] - by_rows[name]) for name in by_rows) < 0.35
    assert again.frequencies == found.frequencies


def test_numbers_are_explained_too():
    frame = table()
    frame["y"] = frame["b"] - frame["far"] + 0.01 * np.arange(400)
    found = stability(cut(frame), "y", 2, n_pairs=5)
    assert found.taken.task == "regression"
    assert found.chosen[:2] == ["b", "far"] or found.chosen[:2] == ["far", "b"]


def test_fewer_blocks_where_memory_is_short():
    frame = table()
    p = 6 + 2 + 1 + 4 + 3 + 1  # numbers, levels, classes and ones
    free = 16 * 16 * p * p
    found = stability(cut(frame), "y", 2, n_pairs=3, memory=free)
    assert found.taken.n_blocks == 16
    blocks = rows_of_blocks(frame, 0, 16)
    halves = [half for number in range(3) for half in pair_of_blocks(16, 0, number)]
    taken = [select(frame[np.isin(blocks, half)], "y", 2).names for half in halves]
    assert found.frequencies["a"] == sum("a" in half for half in taken) / 6
    with pytest.raises(InputError, match=r"16 random blocks of 1\d columns .* Set `memory` higher"):
        stability(cut(frame), "y", 2, memory=free - 1000)


def test_few_rows_are_in_few_blocks():
    assert stability(cut(table(40), 9), "y", 2, n_pairs=2).taken.n_blocks == 16
    with pytest.raises(InputError, match="at least 32 rows"):
        stability(cut(table(25), 9), "y", 2)


def test_what_statistics_cannot_do_is_refused():
    with pytest.raises(InputError, match=r"should be one of 'socc'.*got 'jmi'"):
        stability(cut(table()), "y", 2, "jmi")
    with pytest.raises(InputError, match="`dates` should be 'drop' for a table in blocks"):
        stability(cut(table()), "y", 2, dates="parts")


def test_dealing_is_even_within_each_stratum():
    strata = np.random.default_rng(0).integers(3, size=1000)
    parts = Dealer(16, 1), Dealer(16, 1)
    whole = parts[0].deal(strata)
    pieces = [parts[1].deal(strata[at : at + 7]) for at in range(0, 1000, 7)]
    assert (whole == np.concatenate(pieces)).all()
    for stratum in range(3):
        counts = np.bincount(whole[strata == stratum], minlength=16)
        assert np.ptp(counts) <= 1
