"""Numbers of half precision: judged by their own rounding, however they are stored."""

import numpy as np
import pytest

from orthoselect import GramStatistics, RowBlocks, select
from orthoselect.errors import NonFiniteError, SearchStoppedWarning
from orthoselect.read import read_table
from orthoselect.read.arrow import KNOWS_HALF

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

N = 200
NAMES = ["a", "b", "c"]
IN_POLARS = pytest.mark.skipif(not hasattr(pl, "Float16"), reason="this polars has no float16")
IN_NARWHALS = pytest.mark.skipif(not KNOWS_HALF, reason="this narwhals has no float16")


def rows(dtype=np.float16):
    """Return a, b, and their sum as far as its digits go."""
    a, b = np.random.default_rng(0).normal(size=(2, N)).astype(dtype)
    return np.column_stack([a, b, a + b])


def pandas_frame(X):
    return pd.DataFrame(X, columns=NAMES)


def polars_frame(X):
    return pl.DataFrame({name: pl.Series(X[:, k]) for k, name in enumerate(NAMES)})


def arrow_table(X):
    return pa.table({name: X[:, k] for k, name in enumerate(NAMES)})


def halves(table):
    return RowBlocks([table[:90], table[90:]])


def saved(X):
    np.save("x.npy", X)
    return "x.npy"


def written(X, write, file):
    write(arrow_table(X), file)
    return file


def in_parquet(X):
    return written(X, parquet.write_table, "x.parquet")


def in_feather(X):
    return written(X, feather.write_feather, "x.feather")


WAYS = {
    "array": lambda X: X,
    "Fortran order": np.asfortranarray,
    "blocks": halves,
    "memory map": lambda X: np.load(saved(X), mmap_mode="r"),
    "npy": saved,
    "npy in blocks": lambda X: read_table(saved(X), in_blocks=True),
    "Dask array": lambda X: da.from_array(X, chunks=(70, 3)),
}
FRAMES = {
    "pandas": pandas_frame,
    "pandas, other dtypes beside": lambda X: pandas_frame(X).assign(d=1.5, e=2),
    "pyarrow": arrow_table,
    "blocks of pandas": lambda X: halves(pandas_frame(X)),
    "blocks of pyarrow": lambda X: halves(arrow_table(X)),
    "Dask frame": lambda X: dd.from_pandas(pandas_frame(X), npartitions=3),
    "Parquet": in_parquet,
    "Feather": in_feather,
    "Parquet in blocks": lambda X: read_table(in_parquet(X), in_blocks=True),
    "Feather in blocks": lambda X: read_table(in_feather(X), in_blocks=True),
}
POLARS = {"polars": polars_frame, "blocks of polars": lambda X: halves(polars_frame(X))}
STORED = [
    *WAYS.items(),
    *(pytest.param(*way, marks=IN_NARWHALS) for way in FRAMES.items()),
    *(pytest.param(*way, marks=[IN_NARWHALS, IN_POLARS]) for way in POLARS.items()),
]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    import dask

    monkeypatch.chdir(tmp_path)
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize(("name", "store"), STORED)
def test_sum_of_two_columns_of_half_precision_adds_nothing(name, store):
    X = rows()
    y = X[:, 0] + np.random.default_rng(1).normal(size=N)
    with pytest.warns(SearchStoppedWarning):
        path = select(store(X), y, 3)
    assert path.features == select(X, y, 2).features


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_half_precision_would_hide_is_seen_in_others(dtype):
    X = rows(np.float16).astype(dtype)
    y = X[:, 0] + np.random.default_rng(1).normal(size=N)
    assert len(select(pandas_frame(X), y, 3)) == 3


@IN_NARWHALS
def test_statistics_of_a_frame_know_half_precision():
    X = rows()
    with pytest.warns(SearchStoppedWarning):
        assert len(GramStatistics().update(pandas_frame(X), X[:, 0] > 0).select(3)) == 2


@IN_NARWHALS
def test_files_of_half_and_full_precision_are_one_table():
    X = rows()
    in_parquet(X[:90])
    parquet.write_table(arrow_table(X[90:].astype(np.float64)), "y.parquet")
    y = X[:, 0] > 0
    assert select(["x.parquet", "y.parquet"], y, 2).features == select(X, y, 2).features


@pytest.mark.parametrize("gap", [np.nan, np.inf])
def test_gaps_in_half_precision_of_a_file_are_told(gap):
    X = rows()
    X[3, 1] = gap
    with pytest.raises(NonFiniteError, match="`b`"):
        select(in_parquet(X), X[:, 0] > 0, 2)
    kept = read_table("x.parquet")
    assert kept.gaps([0, 1]) == {1: (1, 0) if np.isnan(gap) else (0, 1)}
    assert np.flatnonzero(kept.rows_with_gaps([0, 1])).tolist() == [3]
