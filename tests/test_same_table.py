"""The same table is the same answer, and the same warnings, wherever it is."""

import datetime as dt
import warnings

import numpy as np
import pytest

from orthoselect import GramStatistics, OrthogonalSelector, RowBlocks, compare, select
from orthoselect.errors import (
    InputError,
    LeftOutWarning,
    LooksNumericWarning,
    MissingValueError,
    OneRowClassWarning,
    ReadAsNamesWarning,
    ReadAsNumbersWarning,
    ReadAsQuantityWarning,
)

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
N = 1300  # more than are looked at first


def table():
    rng = np.random.default_rng(0)
    x, when = rng.normal(size=N), np.datetime64("2020-01-01T03:00") + 17 * 60 * np.arange(N)
    frame = pd.DataFrame(
        {
            "row": np.arange(1, N + 1),
            "order no": np.arange(1000, 1000 + N),
            "ticket": np.arange(N + 1000, 1000, -1.0),
            "docno": np.arange(N) * 3 // 2 + 7,
            "year": np.arange(N) + 900,
            "rank": np.arange(N) * 7 % N,
            "visit.id": 100 + np.arange(N) // 3,
            "id": [f"id {k}" for k in range(N)],
            "nearly": [f"p{k % 900}" for k in range(N)],
            "when": pd.to_datetime(when),
            "day": pd.to_datetime(when).strftime("%d/%m/%Y"),
            "price": [f"${abs(v) * 1000:,.2f}" for v in x],
            "share": [f"{v:.1f}%" for v in rng.normal(size=N)],
            "nothing": pd.Series([None] * N, dtype="float64"),
            "x": x,
            "z": rng.normal(size=N),
            "town": rng.choice(["a", "b", "c"], N),
        }
    )
    frame["y"] = 2 * frame["z"] + x + (frame["town"] == "a") + rng.normal(size=N)
    frame["y"] += (frame["when"].dt.month - 6) / 2
    return frame


def as_dask(frame):
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=4)


STORED = {
    "pandas": lambda frame, _: frame,
    "polars": lambda frame, _: pl.from_pandas(frame),
    "pyarrow": lambda frame, _: pa.Table.from_pandas(frame, preserve_index=False),
    "csv": lambda frame, folder: _written(frame, folder / "t.csv"),
    "parquet": lambda frame, folder: _written(frame, folder / "t.parquet"),
    "blocks": lambda frame, _: RowBlocks([frame.iloc[a : a + 270] for a in range(0, N, 270)]),
    "dask": lambda frame, _: as_dask(frame),
}


def _written(frame, file):
    frame.to_csv(file, index=False) if file.suffix == ".csv" else frame.to_parquet(file)
    return file


def told(data, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        path = select(data, "y", 4, **options)
    steps = [(step.name, step.columns, round(step.gain, 9)) for step in path]
    ours = [w for w in caught if w.category.__module__ == "orthoselect.errors"]
    return steps, [str(w.message) for w in ours]


@pytest.fixture(autouse=True)
def in_one_thread():
    dask = pytest.importorskip("dask")
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize("dates", ["drop", "parts"])
@pytest.mark.parametrize("kind", [kind for kind in STORED if kind != "pandas"])
def test_answers_and_warnings_are_those_of_the_pandas_frame(kind, dates, tmp_path):
    frame = table()
    expected = told(frame, dates=dates)
    assert told(STORED[kind](frame, tmp_path), dates=dates) == expected
    reading, leaving, *_ = expected[1]
    assert reading.startswith("read the text of `price`, `share` as numbers")
    assert "`row` (row numbers: all whole numbers from 1 to 1300)" in leaving
    assert "`order no` (row numbers: all whole numbers from 1000 to 2299)" in leaving
    assert "`ticket` (row numbers: all whole numbers from 1001 to 2300)" in leaving
    assert "`docno` (identifier by its name: whole numbers from 7 to 1955)" in leaving
    assert "year" not in leaving
    assert "`visit.id` (identifier by its name: whole numbers from 100 to 533)" in leaving
    assert "rank" not in leaving, "numbers out of order may be ranks"
    assert "`id` (identifier: all values are distinct text)" in leaving
    assert "`nearly` (nearly an identifier: 500 of 1300 values occur once)" in leaving
    assert "`nothing` (no values)" in leaving
    assert ("`when`, `day` (dates or times)" in leaving) == (dates == "drop")


@pytest.mark.parametrize("kind", STORED)
def test_what_is_odd_about_classes_is_told_alike(kind, tmp_path):
    frame = table()[["x", "z"]]
    frame["y"] = ["lone", *"ab" * (N // 2 - 1), "a"]
    words = "class `lone` of .*y`? has 1 row only: a feature that differs in this row alone gains"
    with pytest.warns(OneRowClassWarning, match=words):
        select(STORED[kind](frame, tmp_path), "y", 2)
    frame["y"] = [f"n{max(k, 700)}" if k % 2 else f"m{max(k, 300)}" for k in range(N)]
    words = "y`? holds 801 different labels in 1300 rows, 799 of them in one row each, and is read"
    with pytest.warns(ReadAsNamesWarning, match=words):
        select(STORED[kind](frame, tmp_path), "y", 2)
    frame["y"] = [f"n{max(k, 50)}" for k in range(N)]
    words = "y`? should hold classes or numbers; 1249 of its 1300 rows have a label"
    with pytest.raises(InputError, match=words):
        select(STORED[kind](frame, tmp_path), "y", 2)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_fit_keeps_the_places_of_what_is_left_out(kind, tmp_path):
    frame = table()
    X = STORED[kind](frame.drop(columns="y"), tmp_path)
    with pytest.warns(LeftOutWarning), pytest.warns(ReadAsNumbersWarning):
        selector = OrthogonalSelector(3).fit(X, frame["y"].to_numpy())
    assert selector.n_features_in_ == 17
    assert np.flatnonzero(selector.support_).tolist() == sorted(selector.selected_)
    with pytest.warns(LeftOutWarning), pytest.warns(ReadAsNumbersWarning):
        by_name = OrthogonalSelector(3).fit(STORED[kind](frame, tmp_path), "y")
    assert by_name.n_features_in_ == 17
    assert by_name.selected_.tolist() == selector.selected_.tolist()
    assert "y" not in by_name.feature_names_in_


def test_statistics_read_the_table_so_too():
    frame = table()
    with pytest.warns(LeftOutWarning), pytest.warns(ReadAsNumbersWarning):
        statistics = GramStatistics.of(frame, "y")
    steps = [(step.name, step.columns, round(step.gain, 9)) for step in statistics.select(4)]
    assert steps == told(frame)[0]


def test_a_date_is_its_parts_in_one_group():
    frame = table()[["when", "x", "z", "y"]]
    by_hand = frame.assign(
        year=frame["when"].dt.year,
        month=frame["when"].dt.month,
        weekday=frame["when"].dt.day_of_week,
        hour=frame["when"].dt.hour,
        days=(frame["when"] - frame["when"].min()) / pd.Timedelta(days=1),
    ).drop(columns="when")
    group = {"when": ["year", "month", "weekday", "hour", "days"]}
    parts, expected = select(frame, "y", 3, dates="parts"), select(by_hand, "y", 3, groups=group)
    assert parts.names == expected.names
    np.testing.assert_allclose(parts.gains, expected.gains, rtol=1e-10)
    assert parts[parts.names.index("when")].columns == (0,)


@pytest.mark.parametrize(
    "make",
    [
        lambda when: [value.date() for value in when],
        lambda when: when.dt.strftime("%m/%d/%Y"),
        lambda when: when.dt.strftime("%d.%m.%y"),
        lambda when: when.dt.strftime("%Y-%m-%d"),
        lambda when: when.dt.tz_localize("Europe/Berlin", nonexistent="shift_forward").dt.date,
    ],
)
def test_dates_of_any_kind_have_the_same_parts(make):
    frame = table()[["when", "x", "y"]]
    frame["when"] = frame["when"].dt.floor("D")
    other = frame.assign(when=make(frame["when"]))
    parts, expected = (select(each, "y", 2, dates="parts") for each in (other, frame))
    assert parts.names == expected.names
    np.testing.assert_allclose(parts.gains, expected.gains, rtol=1e-10)


def test_dates_go_into_groups_and_are_included():
    frame = table()[["when", "x", "z", "y"]]
    grouped = select(frame, "y", 2, dates="parts", groups={"both": ["when", "x"]})
    assert grouped.options["groups"] == {"both": ["when", "x"]}
    assert grouped[grouped.names.index("both")].columns == (0, 1)
    assert select(frame, "y", 2, dates="parts", include="when").names[0] == "when"
    with pytest.raises(
        InputError, match=r"`when` does not \(dates or times\). Pass `dates='parts'"
    ):
        select(frame, "y", 2, include="when")
    with pytest.raises(InputError, match="`dates` should be one of 'drop', 'parts'"):
        select(frame, "y", 2, dates="year")


def test_spans_and_times_of_day_have_no_parts():
    frame = table()[["x", "z", "y"]].assign(
        span=pd.to_timedelta(np.arange(N), unit="h"), time=[dt.time(k % 24) for k in range(N)]
    )
    with pytest.warns(LeftOutWarning, match=r"`span`, `time` \(dates or times\)"):
        assert set(select(frame, "y", 2, dates="parts").names) == {"x", "z"}


def test_comparisons_read_all_folds_alike():
    frame = table()[["id", "when", "share", "x", "z", "y"]]
    with pytest.warns(LeftOutWarning), pytest.warns(ReadAsNumbersWarning):
        made = compare(frame, "y", ["socc"], 3, folds=3, dates="parts")
    chosen = {name for run in made.runs for name in run.features}
    assert chosen == {"when", "x", "z"}
    assert "dates='parts'" in made.setting.reproduce["python"]


@pytest.mark.parametrize("order", [1, 7])
def test_row_names_that_pandas_and_r_write_are_no_feature(order, tmp_path):
    frame = table()[["x", "z", "y"]].set_index(np.arange(N) * order % N + 19740001)
    frame.to_csv(tmp_path / "t.csv")
    expected = [(step.name, round(step.gain, 9)) for step in select(frame, "y", 2)]
    for data in (tmp_path / "t.csv", pd.read_csv(tmp_path / "t.csv")):
        words = r"`Unnamed: 0` \(identifier by its name: whole numbers from 19740001 to 19741300"
        with pytest.warns(LeftOutWarning, match=words):
            path = select(data, "y", 2)
        assert [(step.name, round(step.gain, 9)) for step in path] == expected


@pytest.mark.parametrize("kind", ["pandas", "csv"])
def test_a_word_among_numbers_is_told_where_they_look_like_an_identifier(kind, tmp_path):
    frame = table()[["x", "z", "y"]]
    frame["x"] = frame["x"].astype(object)
    frame.loc[7, "x"] = "oops"
    with (
        pytest.warns(LeftOutWarning),
        pytest.warns(LooksNumericWarning, match=r"(1299 of 1300|999 of 1000)"),
    ):
        assert select(STORED[kind](frame, tmp_path), "y", 1).names == ["z"]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "csv"])
def test_blanks_are_gaps(kind, tmp_path):
    frame = table()[["x", "z", "y"]].assign(word=["", "u", "v", "w"] * (N // 4))
    data = STORED[kind](frame, tmp_path)
    with pytest.raises(MissingValueError, match=r"`word` \(325 missing of 1300\)"):
        select(data, "y", 2)
    assert select(data, "y", 3, missing="indicator", include="word").names[0] == "word"


@pytest.mark.parametrize("kind", [kind for kind in STORED if kind != "csv"])
def test_marks_among_numbers_are_gaps(kind, tmp_path):
    frame = table()[["x", "z", "y"]]
    known = frame.assign(z=frame["z"].where(np.arange(N) % 7 > 0))
    marks = ["-", "n/a", "?"]
    told = [
        f"{value:.12f}" if value == value else marks[k % 3] for k, value in enumerate(known["z"])
    ]
    text = STORED[kind](frame.assign(z=told), tmp_path)
    for missing in ("indicator", "mean", "drop_rows"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = select(text, "y", 2, missing=missing)
            expected = select(known, "y", 2, missing=missing)
        assert found.names == expected.names
        np.testing.assert_allclose(found.gains, expected.gains, rtol=1e-9)
    gaps = pytest.raises(MissingValueError, match=r"`z` \(186 missing")
    with pytest.warns(ReadAsNumbersWarning), gaps:
        select(text, "y", 2)


@pytest.mark.parametrize("kind", STORED)
def test_rows_without_a_target_in_text_are_dropped(kind, tmp_path):
    frame = table()[["x", "z", "town", "y"]]
    told = [f"{value:.9f} %" if k % 5 else "n/a" for k, value in enumerate(frame["y"])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = STORED[kind](frame.assign(y=told), tmp_path)
        found = select(data, "y", 3, missing="mean")
        expected = select(frame[np.arange(N) % 5 > 0], "y", 3)
    assert found.names == expected.names
    np.testing.assert_allclose(found.gains, expected.gains, rtol=1e-6)


def test_a_column_that_is_the_target_is_left_out_unless_included():
    frame = table()[["x", "z", "town", "y"]]
    for y in (frame["y"], frame["y"].to_numpy()):
        with pytest.warns(LeftOutWarning, match=r"`y` \(it holds the values of the target\)"):
            assert "y" not in select(frame, y, 2).names
    with pytest.warns(LeftOutWarning, match="`town`"):
        assert "town" not in select(frame, frame["town"].tolist(), 2).names
    assert select(frame, frame["y"], 1, include="y").names == ["y"]


@pytest.mark.parametrize("kind", STORED)
def test_whole_numbers_are_a_quantity_in_all_storages(kind, tmp_path):
    frame = table()[["x", "z", "town", "y"]]
    frame["y"] = (frame["y"] * 100).round().astype(int)
    with pytest.warns(ReadAsQuantityWarning, match="distinct whole numbers"):
        assert select(STORED[kind](frame, tmp_path), "y", 2).ceiling == 1


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (lambda n: pd.date_range("2020", periods=n), r"dates or times\). Make numbers of them"),
        (lambda n: pd.date_range("2020", periods=n).astype(str), "dates or times"),
        (lambda n: [f"id {k}" for k in range(n)], r"identifier.*a class of its own"),
    ],
)
def test_targets_that_are_no_classes_or_numbers(values, words):
    frame = table()[["x", "z"]].assign(y=values(N))
    for data, target in ((frame, "y"), (frame[["x", "z"]], frame["y"])):
        with pytest.raises(InputError, match=rf"`y` holds none of these \({words}"):
            select(data, target, 2)


def test_targets_of_text_are_read_as_numbers():
    frame = table()[["x", "z", "y"]]
    text = frame.assign(y=[f"{value:.3f} %" for value in frame["y"]])
    with pytest.warns(ReadAsNumbersWarning, match="text of `y`"):
        path = select(text, "y", 2)
    assert (path.names, path.ceiling) == (select(frame, "y", 2).names, 1)


def test_words_for_what_is_no_table_or_no_target():
    frame = table()[["x", "z", "y"]]
    with pytest.raises(InputError, match="the table comes first"):
        select("y", frame)
    with pytest.raises(InputError, match=r"got a mapping. Make a dataframe"):
        select({"x": [1, 2], "y": [0, 1]}, "y")
    with pytest.raises(InputError, match=r"got a list of records. Make a dataframe"):
        select([{"x": 1, "y": 0}], "y")
    with pytest.raises(InputError, match=r"`target` should name the column.*`x`, `z`, `y`"):
        select(frame, None)
    with pytest.raises(InputError, match="`n_features_to_select` should be"):
        select("nowhere.csv", "y", 0)


def test_polars_columns_keep_their_types():
    frame = pl.from_pandas(table()[["x", "town", "y"]])
    selector = OrthogonalSelector(2).set_output(transform="polars").fit(frame, "y")
    assert selector.transform(frame).schema == frame.select("x", "town").schema
