"""Statistics of Spark DataFrames are made where the partitions are; `make test-spark` runs this."""

import os
import shutil
import sys
import warnings

import numpy as np
import pytest

from kept_tables import N, same, table
from orthoselect import GramStatistics, OrthogonalSelector, select
from orthoselect.errors import InputError, NonFiniteError, RowsDroppedWarning, ShapeError
from orthoselect.read.spark_source import naming_workers

spark_sql = pytest.importorskip("pyspark.sql", reason="without pyspark; see `make test-spark`")
if shutil.which("java") is None:
    pytest.skip("without Java, which Spark needs; see `make test-spark`", allow_module_level=True)
# Spark and its gateway leave sockets and files to the end of the process.
pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning",
    "ignore:PySpark does not yet fully support pandas:FutureWarning",
)


@pytest.fixture(scope="module")
def session():
    os.environ["PYSPARK_PYTHON"] = sys.executable  # the workers have what this process has
    made = (
        spark_sql.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", False)
        .config("spark.sql.shuffle.partitions", 2)
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", 16)  # several a partition
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    yield made
    made.stop()


@pytest.fixture
def spread(session):
    def spread(frame, n_partitions=4):
        rows = frame.astype(object).where(frame.notna(), None).values.tolist()
        kinds = {"f": "double", "i": "bigint", "b": "boolean"}
        types = [
            f"`{name.replace('`', '``')}` {kinds.get(kind.kind, 'string')}"
            for name, kind in frame.dtypes.items()
        ]
        pieces = session.sparkContext.parallelize(rows, n_partitions)
        return session.createDataFrame(pieces, ", ".join(types))

    return spread


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("y", {}),
        ("number", {}),
        (["y", "number"], {"exclude": ["note"]}),
        ("y", {"sample_weight": "w"}),
        ("number", {"categorical_features": ["w"], "memory": "1GB"}),
    ],
)
def test_spark_gives_the_statistics_of_the_same_rows_in_memory(spread, target, options):
    made = GramStatistics.of(spread(table()), target, **options)
    options = {name: value for name, value in options.items() if name != "memory"}
    same(made, GramStatistics.of(table(), target, **options))


def test_spark_partitions_without_rows_and_levels_of_one_partition(spread):
    frame = table()
    frame.loc[85, "kind"] = "rare"
    made = GramStatistics.of(spread(frame, 100), "number")  # more partitions than rows
    assert "kind=rare" in made.terms
    same(made, GramStatistics.of(frame, "number"))


@pytest.mark.parametrize("missing", ["indicator", "mean", "drop_rows"])
def test_spark_with_gaps(spread, missing):
    frame = table()
    frame.loc[3::7, "a"] = np.nan
    frame.loc[5::11, "kind"] = None
    frame.loc[4, "number"] = np.nan
    with pytest.warns(RowsDroppedWarning):
        made = GramStatistics.of(spread(frame), "number", missing=missing)
    with pytest.warns(RowsDroppedWarning):
        expected = GramStatistics.of(frame, "number", missing=missing)
    # Until somebody asks, gaps are filled by any constant; so `means` differ, and answers do not.
    path, other = made.select(3), expected.select(3)
    assert (made.n_rows, path.names) == (expected.n_rows, other.names)
    assert path.gains == pytest.approx(other.gains, abs=1e-9)


def test_spark_columns_are_judged_as_those_in_memory(spread):
    # An identifier that only a look at all rows can tell, dates, and numbers in text.
    n = 1500
    rng = np.random.default_rng(0)
    frame = table().sample(n, replace=True, random_state=0, ignore_index=True)
    frame["code"] = [f"c{k:05d}" for k in range(n)]
    frame["day"] = [f"2024-03-{1 + k % 28:02d}" for k in range(n)]
    frame["price"] = [f"{x:.3f}" for x in rng.normal(size=n)]
    frame["with.dot and `tick`"] = rng.normal(size=n)
    told, found = [], []
    for data in (frame, spread(frame)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            found.append(GramStatistics.of(data, "number"))
        told.append({str(one.message) for one in caught if issubclass(one.category, UserWarning)})
    assert told[0] == told[1]
    assert any("`code`" in words for words in told[0])
    assert any("`price`" in words for words in told[0])
    same(*reversed(found))


def test_spark_gathers_triangles_and_no_rows(spread, monkeypatch):
    from orthoselect.read import spark_source

    sizes = []
    loads = spark_source.pickle.loads
    monkeypatch.setattr(
        spark_source.pickle, "loads", lambda data: (sizes.append(len(data)), loads(data))[1]
    )
    for n in (200, 20_000):
        frame = table()[["a", "b", "number"]].sample(n, replace=True, random_state=1)
        GramStatistics.of(spread(frame, 2), "number")
    assert len(sizes) == 4
    assert max(sizes) < 10_000  # bytes; 10 000 rows of a partition have 240 000


def test_what_spark_cannot_do_is_said_with_a_remedy(spread, session):
    frame = table()
    on_spark = spread(frame)
    with pytest.raises(InputError, match=r"`target` should be the name .* no fixed order"):
        GramStatistics.of(on_spark, frame["y"])
    with pytest.raises(InputError, match=r"`target` should be the name of a column"):
        GramStatistics.of(on_spark, on_spark["y"])
    with pytest.raises(InputError, match=r"`sample_weight` should be the name of a column"):
        GramStatistics.of(on_spark, "y", frame["w"])
    with pytest.raises(InputError, match="there is no `yy`"):
        GramStatistics.of(on_spark, "y", exclude=["yy"])
    for ask in (select, OrthogonalSelector().fit, GramStatistics().update):
        with pytest.raises(InputError, match=r"in memory; got a DataFrame.*`GramStatistics\.of"):
            ask(on_spark, "y")
    with pytest.raises(ShapeError, match="it has none"):
        GramStatistics.of(on_spark.limit(0), "y")
    twice = session.createDataFrame([(1.0, 2.0, 3.0)], ["a", "A", "y"])
    with pytest.raises(InputError, match="whatever their case; `a`, `A`"):
        GramStatistics.of(twice, "y")


def test_workers_without_the_library_are_told_of():
    words = "Traceback ...\nModuleNotFoundError: No module named 'threadpoolctl'\n"
    expected = pytest.raises(InputError, match=r"import `threadpoolctl`.*PYSPARK_PYTHON")
    with expected, naming_workers():
        raise RuntimeError(words)


def test_spark_gaps_are_an_error_that_names_column_and_option(spread):
    frame = table()
    frame.loc[N - 1, "a"] = np.nan
    with pytest.raises(NonFiniteError, match=r"`a`.*missing=.*partition 3"):
        GramStatistics.of(spread(frame), "y")
    frame = table().assign(whole=np.where(np.arange(N) < 80, np.arange(N) % 3, 0.5))
    with pytest.raises(InputError, match=r"`whole`.* with `task='regression'`"):
        GramStatistics.of(spread(frame), "whole")
