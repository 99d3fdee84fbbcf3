"""Missing values: what each way of `missing` does, by hand and in every storage."""

import json
import pickle
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import estimator_checks_generator

import naive
from matrices import row_blocks
from orthoselect import (
    GramStatistics,
    MutualInformationSelector,
    OrthogonalSelector,
    compare,
    report,
    select,
)
from orthoselect.encode.gaps import find_gaps
from orthoselect.encode.table import Table
from orthoselect.errors import (
    GapsError,
    InputError,
    NonFiniteError,
    RowsDroppedWarning,
    SelectionWarning,
    ShapeError,
)
from orthoselect.read import read_table
from orthoselect.result import GapsFilled
from orthoselect.show import summarize

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

WAYS = ["indicator", "mean", "drop_rows"]
NAN = np.nan
pytestmark = pytest.mark.filterwarnings("ignore::orthoselect.errors.NoMoreThanChanceWarning")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.importorskip("dask").config.set(scheduler="synchronous"):
        yield


def quietly(work, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        return work(*arguments, **options)


# Random tables with gaps, solved by hand


@dataclass
class GappyProblem:
    """A table with gaps: columns by name, floats or lists of text, and the response among them."""

    columns: dict
    weights: np.ndarray | None

    @property
    def features(self):
        return {name: values for name, values in self.columns.items() if name != "y"}

    @property
    def present(self):
        """Rows that have a target."""
        return [i for i, y in enumerate(self.columns["y"]) if y is not None and y == y]

    def by_hand(self, missing, t):
        """What the twin selects."""
        rows = self.present
        features = [
            [values[i] for i in rows] if isinstance(values, list) else values[rows]
            for values in self.features.values()
        ]
        w = None if self.weights is None else self.weights[rows]
        blocks, kept, w = naive.fill_gaps(features, missing, w)
        y = [self.columns["y"][rows[i]] for i in kept]
        Y = np.array(y)[:, None] if isinstance(self.columns["y"], np.ndarray) else naive.one_hot(y)
        selected, gains = naive.forward(blocks, Y, t, w)
        names = list(self.features)
        return [names[f] for f in selected], gains


def gappy_problem(seed, only_numbers=False, none=False):
    rng = np.random.default_rng(seed)
    N = int(rng.integers(60, 90))
    columns = {f"x{j}": rng.normal(size=N) * 10.0 ** rng.integers(-3, 4) for j in range(4)}
    columns["far"] = 1e5 + rng.normal(size=N)
    columns["whole"] = rng.integers(0, 5, N).astype(float)
    signal = columns["x0"] / columns["x0"].std() + (columns["whole"] > 2) + rng.normal(size=N) / 2
    for j, name in enumerate(["x0", "x2", "far", "whole"]):
        gaps = rng.random(N) < [0.2, 0.4, 0.1, 0.3][j]
        if rng.random() < 0.5:
            signal = signal + 1.5 * gaps  # the gaps themselves speak
        columns[name] = np.where(gaps, NAN, columns[name])
    if rng.random() < 0.2 and none:
        columns["none"] = np.full(N, NAN)
    if rng.random() < 0.3:
        columns["x3"] = np.where(np.isnan(columns["x0"]), 0.0, columns["x0"])  # all but the same
    if not only_numbers:
        kind = rng.choice(["u", "v", "w"], N).tolist()
        columns["kind"] = [None if rng.random() < 0.2 else value for value in kind]
        columns["other"] = rng.choice(["a", "b"], N).tolist()
    if seed % 2 and not only_numbers:
        levels = np.array(["low", "middle", "high"])[np.digitize(signal, [0, 1.5])].tolist()
        columns["y"] = [None if rng.random() < 0.1 else level for level in levels]
    else:
        columns["y"] = np.where(rng.random(N) < 0.1, NAN, signal)
    weights = [None, rng.integers(0, 4, N).astype(float), rng.uniform(0.1, 2, N)][seed % 3]
    return GappyProblem(columns, weights)


def as_pandas(columns):
    return pd.DataFrame(columns)


def as_polars(columns):
    return pl.DataFrame(
        {
            name: pl.Series(values, nan_to_null=True)
            if isinstance(values, np.ndarray)
            else pl.Series(values, dtype=pl.String)
            for name, values in columns.items()
        }
    )


def as_arrow(columns):
    return pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})


def as_nullable(columns):
    """Whole numbers and truth of pandas that know NA."""
    frame = pd.DataFrame(columns)
    return frame.assign(whole=frame["whole"].astype("Int64"))


def as_objects(columns):
    frame = pd.DataFrame(columns)
    return frame.assign(x0=frame["x0"].astype(object).where(frame["x0"].notna(), None))


def as_file(columns):
    parquet.write_table(as_arrow(columns), "t.parquet")
    return "t.parquet"


def as_dask(columns):
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_pandas(pd.DataFrame(columns), npartitions=3, sort=False)


STORED = {
    "pandas": as_pandas,
    "pandas with NA": as_nullable,
    "objects": as_objects,
    "polars": as_polars,
    "pyarrow": as_arrow,
    "blocks of pandas": lambda columns: row_blocks(as_pandas(columns)),
    "blocks of pyarrow": lambda columns: row_blocks(as_arrow(columns)),
    "file": as_file,
    "file in blocks": lambda columns: read_table(as_file(columns), in_blocks=True),
    "Dask": as_dask,
}


@pytest.mark.parametrize("missing", WAYS)
@pytest.mark.parametrize("stored", STORED)
def test_selects_as_by_hand(stored, missing, numbers):
    every = {"pandas": 60, "Dask": 6}.get(stored, 15)
    for seed in numbers(every):
        problem = gappy_problem(seed, none=missing != "drop_rows")
        names, gains = problem.by_hand(missing, 5)
        path = quietly(
            select,
            STORED[stored](problem.columns),
            "y",
            5,
            sample_weight=problem.weights,
            missing=missing,
            **({"exclude": ["none"]} if "none" in problem.columns and "file" in stored else {}),
        )
        assert path.names == names, seed
        assert path.gains == pytest.approx(gains, abs=1e-8), seed
        assert path.options["missing"] == missing


@pytest.mark.parametrize("missing", WAYS)
@pytest.mark.parametrize("kind", ["C order", "Fortran order", "csr", "csc", "blocks", "Dask array"])
def test_selects_as_by_hand_from_arrays(kind, missing, numbers):
    stored = {
        "C order": np.ascontiguousarray,
        "Fortran order": np.asfortranarray,
        "csr": sp.csr_array,
        "csc": sp.csc_array,
        "blocks": row_blocks,
        "Dask array": lambda X: pytest.importorskip("dask.array").from_array(X, chunks=(11, -1)),
    }[kind]
    for seed in numbers(12):
        problem = gappy_problem(seed, only_numbers=True)
        names, gains = problem.by_hand(missing, 4)
        X = np.column_stack(list(problem.features.values()))
        y = problem.columns["y"]
        before = X.copy()
        path = quietly(select, stored(X), y, 4, sample_weight=problem.weights, missing=missing)
        assert [list(problem.features)[f] for f in path.features] == names, seed
        assert path.gains == pytest.approx(gains, abs=1e-8), seed
        np.testing.assert_array_equal(X, before)  # inputs are only read


@pytest.mark.parametrize("missing", WAYS)
def test_statistics_select_as_by_hand(missing, numbers):
    for seed in numbers(18):
        problem = gappy_problem(seed)
        names, gains = problem.by_hand(missing, 5)
        frame, w = as_pandas(problem.columns), problem.weights
        cuts = [slice(0, 20), slice(20, 45), slice(45, None)]
        of_parts = [(frame[cut], None if w is None else w[cut]) for cut in cuts]
        settings = {"missing": missing}
        parts = [quietly(GramStatistics.of, f, "y", v, **settings) for f, v in of_parts]
        grown = GramStatistics(**settings)
        for part, weights in of_parts:
            quietly(grown.update, part, "y", weights)
        grown.save("s.npz")
        whole = quietly(GramStatistics.of, frame, "y", w, **settings)
        loaded = GramStatistics.load("s.npz")
        for statistics in (whole, sum(parts), grown, loaded):
            path = quietly(statistics.select, 5)
            assert path.names == names, seed
            assert path.gains == pytest.approx(gains, abs=1e-7), seed
            assert path.options["missing"] == missing


@pytest.mark.parametrize("missing", WAYS)
def test_information_criteria_count_gaps_as_a_level(missing, numbers):
    for seed in numbers(30):
        problem = gappy_problem(2 * seed + 1)
        rows = problem.present
        w = None if problem.weights is None else np.trunc(problem.weights[rows])
        if w is not None and np.count_nonzero(w) < 5:
            continue
        features = [[values[i] for i in rows] for values in problem.features.values()]
        if missing == "drop_rows":
            whole = [k for k in range(len(rows)) if not any(_is_gap(f[k]) for f in features)]
            rows, w = [rows[k] for k in whole], None if w is None else w[whole]
            features = [[f[k] for k in whole] for f in features]
        levels = [_levels_by_hand(f, missing, w) for f in features]
        infos = naive.Informations(levels, [problem.columns["y"][i] for i in rows], w)
        selected, gains = naive.forward_information("jmi", infos, 4)
        weights = None if w is None else np.trunc(problem.weights)
        for stored in ("pandas", "blocks of pandas", "Dask"):
            if stored == "Dask" and seed % 5:
                continue
            table = STORED[stored](problem.columns)
            how = {"bins": "mean_std_3", "sample_weight": weights, "missing": missing}
            path = quietly(select, table, "y", 4, "jmi", **how)
            assert path.names == [list(problem.features)[f] for f in selected], seed
            assert path.gains == pytest.approx(gains, abs=1e-9), seed


def _is_gap(value):
    return value is None or value != value


def _levels_by_hand(column, missing, w):
    if all(isinstance(value, str) or value is None for value in column):
        return [str(value) for value in column]
    weights = [1.0] * len(column) if w is None else list(w)
    there = [(v, weight) for v, weight in zip(column, weights) if not _is_gap(v)]
    total = sum(weight for _, weight in there)
    mean = sum(v * weight for v, weight in there) / total if total else 0.0
    if missing == "mean":
        filled = [mean if _is_gap(v) else v for v in column]
        return naive.mean_std_levels(filled, 3, weights)
    known = iter(naive.mean_std_levels([v for v, _ in there], 3, [weight for _, weight in there]))
    return ["gap" if _is_gap(v) else next(known) for v in column]


# What each way does


def penguins():
    rng = np.random.default_rng(3)
    N = 80
    frame = pd.DataFrame(rng.normal(size=(N, 3)), columns=["mass", "bill", "wing"])
    frame["sex"] = rng.choice(["f", "m"], N)
    frame["weight"] = rng.integers(1, 4, N).astype(float)
    frame["y"] = frame["mass"] + (frame["sex"] == "m") + rng.normal(size=N) / 3
    frame.loc[:9, "mass"] = NAN
    frame.loc[5:20, "sex"] = None
    frame.loc[70:72, "y"] = NAN
    return frame


def test_one_message_names_every_column_and_the_option():
    frame = penguins().drop(columns="weight")
    frame = frame.assign(**{f"more{k}": np.r_[[NAN] * k, np.ones(80 - k)] for k in range(1, 5)})
    with pytest.raises(GapsError) as caught:
        select(frame, "y", 2)
    message = str(caught.value)
    worst_first = "`sex` (16 missing of 80), `mass` (10 missing of 80), `more4` (4 missing of 80)"
    assert f"7 columns have some: {worst_first}" in message
    assert " and 2 more. " in message
    assert "`missing='indicator'`" in message
    with pytest.raises(GapsError, match=r"1 column has some: `y` \(the target, 3 missing of 80\)"):
        select(frame, "y", 2, exclude=["sex", "mass", *MORE])


MORE = ["more1", "more2", "more3", "more4"]


@pytest.mark.parametrize("missing", ["fill", "drop", None, 1, "Indicator"])
def test_other_words_are_refused(missing):
    with pytest.raises(InputError, match="'error', 'indicator', 'mean', 'drop_rows'; got"):
        select(penguins(), "y", 2, missing=missing)


def test_hyphens_are_understood():
    a, b = (quietly(select, penguins(), "y", 2, missing=m) for m in ("drop-rows", "drop_rows"))
    assert a == b
    assert a.options["missing"] == b.options["missing"] == "drop_rows"


def test_the_path_says_what_was_done():
    path = quietly(select, penguins(), "y", 3, missing="indicator")
    assert str(path.gaps).splitlines() == [
        "sex: 16 of 77 missing, a level of its own; mass: 10 of 77 missing, filled by the mean, "
        "with an indicator; 3 rows with missing values dropped"
    ]
    assert str(path.gaps) in path.to_text()
    assert "filled by the mean" in path._repr_html_()
    told = json.loads(json.dumps(path.to_dict()))
    assert told["options"]["missing"] == "indicator"
    assert told["missing"]["rows_dropped"] == 3
    assert {c["name"]: c["count"] for c in told["missing"]["columns"]} == {"mass": 10, "sex": 16}
    by_mean = quietly(select, penguins(), "y", 3, missing="mean")
    assert "mass: 10 of 77 missing, filled by the mean;" in str(by_mean.gaps)
    classes = penguins().assign(y=penguins()["wing"] > 0)
    cut = quietly(select, classes, "y", 3, "jmi", missing="mean")
    assert "mass: 10 of 80 missing, filled by the mean" in str(cut.gaps)
    assert pickle.loads(pickle.dumps(path)).gaps == path.gaps


def test_columns_of_one_treatment_are_told_together():
    columns = {f"x{k}": (k, "filled by the mean") for k in range(1, 8)}
    gaps = GapsFilled(9, 1, {**columns, "kind": (3, "a level of its own")})
    assert str(gaps) == (
        "x7: 7, x6: 6, x5: 5, x4: 4, x3: 3 and 2 more columns of 9 missing, filled by the mean; "
        "kind: 3 of 9 missing, a level of its own; 1 row with missing values dropped"
    )


def test_nothing_missing_is_nothing_said():
    frame = penguins().dropna()
    for missing in ("error", *WAYS):
        path = select(frame, "y", 2, missing=missing)
        assert path.to_dict()["missing"] is None
        assert path == select(frame, "y", 2)


def test_rows_without_a_target_are_dropped_with_a_line():
    frame = penguins()
    with pytest.warns(RowsDroppedWarning, match=r"dropped 3 of 80 rows.* target `y` \(3\)"):
        path = select(frame, "y", 2, missing="mean")
    assert path == select(frame.dropna(subset="y"), "y", 2, missing="mean")
    with pytest.warns(RowsDroppedWarning, match=r"dropped 3 of 80 rows.* the target \(3\)"):
        beside = select(frame.drop(columns="y"), frame["y"], 2, missing="mean")
    assert beside.names == path.names


@pytest.mark.parametrize("stored", STORED)
def test_no_row_has_a_target(stored):
    if stored in ("pandas with NA", "objects"):
        pytest.skip("there are no such columns")
    table = STORED[stored]({"a": np.arange(12.0), "y": np.full(12, NAN)})
    with pytest.raises(InputError, match=r"rows in which nothing is missing|no values"):
        select(table, "y", 1, missing="indicator")


def test_a_target_of_nothing_but_nulls_has_no_rows(tmp_path):
    a = list(map(float, range(12)))
    (tmp_path / "e.csv").write_text("a,y\n" + "".join(f"{x},\n" for x in a))
    frame = {"a": a, "y": [None] * 12}
    tables = [pd.DataFrame(frame), pl.DataFrame(frame), pa.table(frame), tmp_path / "e.csv"]
    for table in tables:
        with pytest.raises(InputError, match=r"each of the 12 lacks a value, in the target `y`"):
            select(table, "y", 1, missing="indicator")


def test_no_row_is_whole():
    X = np.array([[NAN, 1.0], [2.0, NAN], [NAN, 3.0]])
    with pytest.raises(ShapeError, match=r"each of the 3 lacks a value, in `x0` \(2\), `x1` \(1\)"):
        select(X, [0.5, 1, 2], 1, missing="drop_rows")


@pytest.mark.parametrize("missing", WAYS)
def test_rows_without_a_weight_are_dropped(missing):
    frame = penguins()
    frame.loc[30:33, "weight"] = NAN
    rest = frame.drop(index=range(30, 34))
    expected = quietly(select, rest, "y", 3, sample_weight="weight", missing=missing)
    for stored in ("pandas", "blocks of pandas", "Dask"):
        table = STORED[stored](frame)
        found = quietly(select, table, "y", 3, sample_weight="weight", missing=missing)
        assert found.names == expected.names
        assert found.gains == pytest.approx(expected.gains)
    with pytest.raises(GapsError, match=r"`weight` \(the weights, 4 missing of 80\)"):
        select(frame, "y", 3, sample_weight="weight")


@pytest.mark.parametrize("stored", ["pandas", "blocks of pandas", "Dask"])
def test_weights_that_are_missing_do_not_pass_for_zero(stored):
    frame = penguins().dropna(subset=["y", "mass", "sex"])
    frame.loc[30:33, "weight"] = NAN
    for kind in ("float64", "Float64", "Int64"):
        table = STORED[stored](frame.astype({"weight": kind}))
        with pytest.raises(GapsError, match=r"`weight` \(the weights, 4 missing"):
            select(table, "y", 2, sample_weight="weight")


def test_weights_of_truth_values_go_with_their_rows():
    frame = penguins()
    counted = (frame["wing"] > -1).to_numpy()
    rest = frame[counted].dropna(subset="y")
    path = quietly(select, frame, "y", 3, sample_weight=counted, missing="indicator")
    assert path.gains == pytest.approx(select(rest, "y", 3, missing="indicator").gains)
    statistics = quietly(GramStatistics.of, frame, "y", counted, missing="indicator")
    assert statistics.select(3).gains == pytest.approx(path.gains)


@pytest.mark.parametrize("missing", ["error", *WAYS])
@pytest.mark.parametrize("method", ["socc", "jmi", "socc_discretized", "err"])
@pytest.mark.parametrize("stored", ["pandas", "blocks of pandas", "Dask"])
def test_infinity_is_always_an_error(stored, method, missing):
    frame = penguins().dropna().drop(columns="sex").reset_index(drop=True)
    frame["y"] = frame["y"] > 0
    if (method, missing) == ("err", "indicator"):
        pytest.skip("there is no such thing")
    frame.loc[7, "bill"], frame.loc[8, "wing"] = np.inf, NAN if missing != "error" else 0.0
    with pytest.raises(NonFiniteError, match="`bill` has 1 infinity") as caught:
        quietly(select, STORED[stored](frame), "y", 2, method, missing=missing)
    assert "wing" not in str(caught.value)


def test_an_indicator_in_a_group_is_part_of_it():
    frame = penguins().dropna(subset="y").drop(columns=["sex", "weight"])
    path = select(frame, "y", 2, groups={"both": ["mass", "bill"]}, missing="indicator")
    mass = frame["mass"].fillna(frame["mass"].mean())
    both = np.column_stack([mass, frame["mass"].isna(), frame["bill"]])
    expected = naive.forward([both, frame[["wing"]]], frame[["y"]].to_numpy(), 2)
    assert path.names == [["both", "wing"][f] for f in expected[0]]
    assert path.gains == pytest.approx(expected[1])
    assert path[path.names.index("both")].columns == (0, 1)


@pytest.mark.parametrize("constant", [0.0, 7.0, -1e6])
def test_any_constant_fills_as_well_beside_an_indicator(constant):
    frame = penguins().dropna(subset="y").drop(columns=["sex", "weight"])
    path = select(frame, "y", 3, missing="indicator")
    filled = frame.assign(mass=frame["mass"].fillna(constant), gap=frame["mass"].isna())
    by_hand = select(filled, "y", 3, groups={"mass_": ["mass", "gap"]})
    assert [name.strip("_") for name in by_hand.names] == path.names
    assert by_hand.gains == pytest.approx(path.gains, abs=1e-9)


@pytest.mark.parametrize("method", ["err", "mser", "obcc", "lasso", "elastic_net", "shapley"])
def test_methods_of_single_columns_fill_by_the_mean_only(method):
    frame = penguins().dropna(subset="y").drop(columns=["sex", "weight"])
    frame["y"] = (frame["y"] > 0).astype(int)
    with pytest.raises(InputError, match=r"judges single columns, so that `mass`.*missing='mean'"):
        select(frame, "y", 2, method, missing="indicator")
    filled = frame.assign(mass=frame["mass"].fillna(frame["mass"].mean()))
    path, expected = select(frame, "y", 2, method, missing="mean"), select(filled, "y", 2, method)
    assert path.names == expected.names
    assert path.gains == pytest.approx(expected.gains)
    dropped = quietly(select, frame, "y", 2, method, missing="drop_rows")
    assert dropped == select(frame.dropna(), "y", 2, method)
    whole = frame.drop(columns="mass")
    assert select(whole, "y", 2, method, missing="indicator") == select(whole, "y", 2, method)


def test_discretizers_code_what_is_there():
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    frame = penguins().dropna(subset="y").drop(columns=["sex", "weight"])
    frame["y"] = frame["y"] > 0
    bins = preprocessing.KBinsDiscretizer(3, encode="ordinal", strategy="uniform")
    path = quietly(select, frame, "y", 3, "jmi", bins=bins, missing="indicator")
    expected = quietly(select, frame, "y", 3, "jmi", bins=3, missing="indicator")
    assert path.names == expected.names
    assert path.gains == pytest.approx(expected.gains)


def test_labels_in_an_order_may_have_gaps():
    frame = penguins().dropna(subset="y").drop(columns="weight")
    ordered = pd.CategoricalDtype(["m", "f"], ordered=True)
    expected = select(frame, "y", 3, missing="indicator")
    typed = frame.astype({"sex": ordered})
    path = select(typed, "y", 3, missing="indicator")
    assert path.names == expected.names
    assert path.gains == pytest.approx(expected.gains)
    in_blocks = select(row_blocks(typed), "y", 3, missing="indicator")
    assert in_blocks.gains == pytest.approx(expected.gains)


def test_text_that_is_called_missing_is_another_level():
    frame = penguins().dropna(subset="y")
    frame["sex"] = frame["sex"].where(frame.index != 40, "None")
    path = select(frame, "y", 3, missing="indicator", include=["sex"])
    Y = frame[["y"]].to_numpy()
    four = naive.one_hot(["gap" if v is None or v != v else f"={v}" for v in frame["sex"]])
    assert path.gains[0] == pytest.approx(naive.forward([four], Y, 1, include=[0])[1][0])


def test_a_table_without_gaps_is_read_as_often_as_ever():
    frame = penguins().dropna()
    usual = select(row_blocks(frame), "y", 2).stats["passes"]
    # One more, over the target's column, for rows without a target.
    assert select(row_blocks(frame), "y", 2, missing="indicator").stats["passes"] == usual + 1
    X, y = frame[["mass", "bill"]].to_numpy(), frame["y"].to_numpy()
    assert select(row_blocks(X), y, 2, missing="mean").stats == select(row_blocks(X), y, 2).stats


def test_arrays_without_gaps_are_not_copied():
    X = np.ones((4, 2))
    table = Table(4, ["a", "b"], X, np.arange(2), {})
    assert find_gaps(table, set(), indicated=True).fill(table) is table


def test_warnings_are_not_said_twice():
    frame = penguins().dropna(subset="y").drop(columns="weight")
    frame["id"] = [f"{row}" for row in range(len(frame))]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        select(frame, "y", 9, missing="indicator", categorical_features=["id"], exclude=["sex"])
    kinds = [warning.category.__name__ for warning in caught]
    assert len(kinds) == len(set(kinds)), kinds


# Selectors


@pytest.mark.parametrize("make", [OrthogonalSelector, MutualInformationSelector])
def test_selectors_take_gaps_and_let_them_through(make):
    frame = penguins().drop(columns=["weight", "sex"])
    y = frame.pop("y").fillna(0.0) > 0
    assert not make(2).__sklearn_tags__().input_tags.allow_nan
    selector = make(2, missing="indicator", include=["mass"])
    assert selector.__sklearn_tags__().input_tags.allow_nan
    selector.fit(frame, y)
    out = selector.set_output(transform="pandas").transform(frame)
    assert out["mass"].isna().sum() == 10
    assert selector.path_.options["missing"] == "indicator"


@pytest.mark.parametrize("missing", WAYS)
def test_partial_fit_ends_where_fit_does(missing):
    frame = penguins().drop(columns=["weight"])
    X, y = frame.drop(columns="y"), frame["y"]
    whole = quietly(OrthogonalSelector(3, missing=missing, task="regression").fit, X, y)
    parts = OrthogonalSelector(3, missing=missing, task="regression")
    for start in range(0, 80, 16):
        quietly(parts.partial_fit, X[start : start + 16], y[start : start + 16])
    assert parts.path_.names == whole.path_.names
    assert parts.path_.gains == pytest.approx(whole.path_.gains)
    with pytest.raises(InputError, match="`missing` should stay the same"):
        parts.set_params(missing="error").partial_fit(X[:9], y[:9])


def test_statistics_made_otherwise_are_not_added():
    frame = penguins().dropna()
    a, b = (GramStatistics.of(frame, "y", missing=m) for m in ("mean", "indicator"))
    with pytest.raises(InputError, match="`missing` is 'mean' on the left"):
        a + b
    with pytest.raises(InputError, match="`missing` is decided when statistics are made"):
        select(a, None, 2, missing="indicator")
    assert "mass=(missing)" in quietly(GramStatistics.of, penguins(), "y", missing="mean").terms


@pytest.mark.parametrize("make", [OrthogonalSelector, MutualInformationSelector])
@pytest.mark.parametrize("missing", ["indicator", "mean"])
def test_passes_every_check_of_scikit_learn(make, missing):
    selector = make(2, missing=missing)
    for estimator, check in estimator_checks_generator(selector):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(estimator)


# Reports and comparisons


@pytest.mark.parametrize("missing", WAYS)
@pytest.mark.parametrize("method", ["socc", "jmi"])
def test_reports_carry_what_was_done(missing, method):
    frame = penguins().drop(columns="weight")
    if method == "jmi":
        frame["y"] = np.where(frame["y"] > 0, "big", "small")
        frame.loc[70:72, "y"] = None
    path = quietly(select, frame, "y", 3, method, missing=missing)
    summary = quietly(summarize, path, frame, "y")
    assert f"missing={missing!r}" in summary["reproduce"]["python"]
    assert summary["missing"] == path.to_dict()["missing"]
    assert summary["data"]["missing"] == str(path.gaps)
    assert summary["data"]["rows"] == path.gaps.n_rows
    drawn = {entry["name"]: entry for entry in summary["distributions"]}
    if missing != "drop_rows" and "sex" in drawn:
        assert "(missing)" in json.dumps(drawn["sex"])
    namespace = {"data": frame}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(summary["reproduce"]["python"], namespace)
        exec(summary["recipes"]["pipeline"], namespace)
    assert namespace["path"] == path
    pytest.importorskip("matplotlib")
    page = quietly(report, path, frame, "y", "r.html").read_text()
    assert str(path.gaps).split(",")[0] in page


@pytest.mark.parametrize("missing", WAYS)
def test_comparisons_take_gaps(missing):
    frame = penguins().drop(columns="weight")
    comparison = quietly(
        compare, frame, "y", ["socc", "lasso", "err"], sizes=[1, 3], folds=3, missing=missing
    )
    assert not [method.failed for method in comparison.methods if method.failed]
    assert f"missing={missing!r}" in comparison.to_dict()["reproduce"]["python"]
    with pytest.raises(GapsError, match=r"`sex` \(16 missing of 80\)"):
        compare(frame, "y", ["socc"])


def test_models_get_the_means_of_the_training_rows():
    from orthoselect.comparison.data import build_designs
    from orthoselect.read import open_source

    train = open_source(np.array([[1.0, 5.0], [NAN, 7.0], [3.0, 6.0]])).first
    validation = open_source(np.array([[NAN, NAN], [9.0, 1.0]])).first
    made = build_designs(train, validation, [[0], [1]], set(), sparse=False, missing="indicator")
    np.testing.assert_array_equal(made.train, [[1, 0, 5], [2, 1, 7], [3, 0, 6]])
    np.testing.assert_array_equal(made.validation, [[2, 1, 6], [9, 0, 1]])
    assert made.ends == [2, 3]
