"""compare: against pipelines of scikit-learn, and what it promises about rows, seeds and errors."""

import os
import signal
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.compose import make_column_transformer
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
)
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import f1_score, make_scorer, r2_score
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import orthoselect
from orthoselect import MutualInformationSelector, OrthogonalSelector, compare, select
from orthoselect.comparison.data import build_designs, open_data
from orthoselect.comparison.entries import Entry, Plan, run_fold
from orthoselect.comparison.entries import SharedValue as Shared
from orthoselect.comparison.equal_frequency import EqualFrequency
from orthoselect.comparison.folds import find_sizes, split
from orthoselect.comparison.models import find_model
from orthoselect.encode import find_labels
from orthoselect.errors import (
    ComparisonInterrupted,
    InputError,
    NoMoreThanChanceWarning,
    NonFiniteError,
    ReadAsQuantityWarning,
    SearchStoppedWarning,
    ShapeError,
    TooManyRequestedWarning,
)
from orthoselect.methods import METHODS
from orthoselect.read import open_source
from orthoselect.result import ALL_FEATURES, NO_FEATURES

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

BASELINES = {ALL_FEATURES, NO_FEATURES}

# One process: everything but the scores of a comparison takes care of itself there.
pytestmark = pytest.mark.filterwarnings("ignore:Variables are collinear")


def scores(comparison):
    """Return train and validation scores by method, fold and size; not those of baselines."""
    return {
        (r["method"], r["repeat"], r["fold"], r["n_features"]): (r["train"], r["validation"])
        for r in records(comparison)
    }


def records(comparison):
    """Return the records of methods."""
    return [r for r in comparison.records if r["method"] not in BASELINES]


def run_methods(comparison):
    """Return the methods that were run."""
    return {run.method for run in comparison.runs} - BASELINES


def timeless(comparison):
    """Return everything that does not hang on the clock."""
    made = comparison.to_dict()
    del made["created"]
    for entry in (*made["methods"], *made["records"]):
        entry["seconds"] = 0.0 if entry["seconds"] is not None else None
    return made


def by_pipelines(X, y, selectors, sizes, model, scoring, cv):
    """Fit selector, scaler and model anew for every size and fold, as scikit-learn does it."""
    folds = cv.get_n_splits() // cv.n_repeats
    found = {}
    for name, selector in selectors.items():
        for size in sizes:
            pipeline = make_pipeline(selector(size), StandardScaler(), model)
            done = cross_validate(
                pipeline, X, y, cv=cv, scoring=scoring, return_train_score=True, error_score="raise"
            )
            for k, pair in enumerate(zip(done["train_score"], done["test_score"])):
                found[name, k // folds + 1, k % folds + 1, size] = pair
    return found


def same(found, expected):
    assert found.keys() == expected.keys()
    for key, pair in expected.items():
        assert found[key] == pytest.approx(pair, abs=1e-9), key
    return True


# The definition

CLASS_SELECTORS = {
    "socc": OrthogonalSelector,
    "jmi": lambda k: MutualInformationSelector(k, criterion="jmi", bins=EqualFrequency()),
    "cmim": lambda k: MutualInformationSelector(k, criterion="cmim", bins=EqualFrequency()),
    "err": lambda k: OrthogonalSelector(k, criterion="err"),
}


LOGISTIC = LogisticRegression(max_iter=10_000)


@pytest.mark.filterwarnings("ignore::orthoselect.errors.UncutNumbersWarning")
@pytest.mark.parametrize(
    ("load", "estimator", "scoring", "model", "scorer"),
    [
        (load_iris, "auto", "auto", LinearDiscriminantAnalysis(), "accuracy"),
        (load_breast_cancer, "auto", "auto", LinearDiscriminantAnalysis(), "roc_auc"),
        (load_wine, "logistic", "balanced_accuracy", LOGISTIC, "balanced_accuracy"),
        (load_breast_cancer, "logistic", "balanced_accuracy", LOGISTIC, "balanced_accuracy"),
        (load_iris, "svm", "accuracy", LinearSVC(max_iter=10_000, random_state=3), "accuracy"),
        (load_wine, "svm", "accuracy", LinearSVC(max_iter=10_000, random_state=3), "accuracy"),
        (load_wine, "lda", "auc", LinearDiscriminantAnalysis(), "roc_auc_ovr"),
        (load_breast_cancer, "lda", "auc", LinearDiscriminantAnalysis(), "roc_auc_ovr"),
    ],
)
def test_classes_score_as_pipelines_of_scikit_learn_do(load, estimator, scoring, model, scorer):
    X, y = load(return_X_y=True)
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=3)
    made = compare(
        X,
        y,
        list(CLASS_SELECTORS),
        [1, 3],
        estimator=estimator,
        scoring=scoring,
        folds=3,
        random_state=3,
    )
    assert same(scores(made), by_pipelines(X, y, CLASS_SELECTORS, [1, 3], model, scorer, cv))


def test_digits_score_as_pipelines_of_scikit_learn_do():
    X, y = load_digits(return_X_y=True)
    selectors = {"socc": OrthogonalSelector, "jmi": CLASS_SELECTORS["jmi"]}
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=0)
    expected = by_pipelines(
        X, y, selectors, [2, 12], LinearDiscriminantAnalysis(), "roc_auc_ovr", cv
    )
    assert same(scores(compare(X, y, list(selectors), [2, 12], scoring="auc", folds=3)), expected)


@pytest.mark.parametrize(("estimator", "model"), [("auto", LinearRegression()), ("ridge", Ridge())])
@pytest.mark.parametrize("responses", [1, 2])
def test_numbers_score_as_pipelines_of_scikit_learn_do(estimator, model, responses):
    X, y = load_diabetes(return_X_y=True, scaled=False)
    y = y if responses == 1 else np.c_[y, X[:, 4] + 0.1]
    X = X[:, [0, 1, 2, 3, 5, 6, 7, 8, 9]]
    selectors = {
        "socc": lambda k: OrthogonalSelector(k, task="regression"),
        "err": lambda k: OrthogonalSelector(k, criterion="err", task="regression"),
    }
    cv = RepeatedKFold(n_splits=5, n_repeats=2, random_state=11)
    expected = by_pipelines(X, y, selectors, [1, 2, 6], model, make_scorer(r2_score), cv)
    made = compare(
        X,
        y,
        list(selectors),
        [1, 2, 6],
        estimator=estimator,
        repeats=2,
        random_state=11,
        task="regression",
    )
    assert made.setting.scoring == "r2"
    assert same(scores(made), expected)


def mixed(seed, n_rows=90):
    """Draw a table of numbers and labels, some of them rare, and three classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    levels = np.array(["red", "green", "blue", "grey"])
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=n_rows),
            "color": levels[np.where(rng.random(n_rows) < 0.6, y, rng.integers(0, 4, n_rows))],
            "rare": np.where(
                np.arange(n_rows) % 41 == 3, rng.choice(list("pqrs"), n_rows), "usual"
            ),
            "size": y + rng.normal(size=n_rows),
            "weight": 1e3 * (y == 1) + 700 * rng.normal(size=n_rows),
            "shape": pd.Categorical(rng.choice(list("abc"), n_rows), categories=list("dcba")),
        }
    )
    return frame, np.array(["u", "v", "w"])[y]


def by_loops(frame, y, methods, sizes, folds, seed, **options):
    """Select, code by scikit-learn's encoder and score, one fold and size after the other."""
    found = {}
    cv = RepeatedStratifiedKFold(n_splits=folds, n_repeats=1, random_state=seed)
    for fold, (train, validation) in enumerate(cv.split(frame, y), start=1):
        X, Z = frame.iloc[train], frame.iloc[validation]
        for method in methods:
            bins = {"bins": EqualFrequency()} if method == "jmi" else {}
            path = select(X, y[train], max(sizes), method, **options, **bins)
            for size in sizes:
                columns = [frame.columns[c] for step in path[:size] for c in step.columns]
                labels = [c for c in columns if frame[c].dtype.kind not in "fi"]
                usual = [sorted(set(X[c]), key=lambda v: (-sum(X[c] == v), v))[0] for c in labels]
                coder = OneHotEncoder(drop=usual, handle_unknown="ignore", sparse_output=False)
                coding = make_column_transformer((coder, labels), remainder="passthrough")
                model = make_pipeline(coding, StandardScaler(), LinearDiscriminantAnalysis())
                with warnings.catch_warnings():
                    warnings.filterwarnings("ignore", message="Found unknown categories")
                    model.fit(X[columns].astype(dict.fromkeys(labels, str)), y[train])
                    found[method, 1, fold, size] = tuple(
                        model.score(D[columns].astype(dict.fromkeys(labels, str)), t)
                        for D, t in ((X, y[train]), (Z, y[validation]))
                    )
    return found


@pytest.mark.parametrize("seed", range(6))
def test_mixed_tables_score_as_loops_by_hand_do(seed):
    frame, y = mixed(seed)
    expected = by_loops(frame, y, ["socc", "jmi"], [1, 2, 4], 4, seed)
    score = {"scoring": "accuracy", "random_state": seed}
    made = compare(frame, y, ["socc", "jmi"], [1, 2, 4], folds=4, **score)
    assert same(scores(made), expected)


def test_groups_and_excluded_columns_score_as_loops_by_hand_do():
    frame, y = mixed(8)
    options = {"groups": {"look": ["color", "shape", "weight"]}, "exclude": ["size"]}
    expected = by_loops(frame, y, ["socc"], [1, 2], 3, 0, **options)
    made = compare(frame, y, ["socc"], [1, 2], folds=3, scoring="accuracy", **options)
    assert same(scores(made), expected)
    assert {f["name"] for f in made.selected[0]["features"]} <= {"look", "noise", "rare"}
    assert made.setting.data["kinds"] == {"numeric": 1, "categorical": 1, "group": 1}
    assert made.setting.data["left_out"] == [{"name": "size", "reason": "excluded on request"}]


def test_options_of_methods_reach_them():
    X, y = load_wine(return_X_y=True)
    made = compare(
        X,
        y,
        {"socc": {}, "three": {"method": "jmi", "bins": "mean_std_3"}, "jmi": {"bins": 4}},
        2,
        folds=3,
    )
    selectors = {
        "socc": OrthogonalSelector,
        "three": lambda k: MutualInformationSelector(k, criterion="jmi", bins="mean_std_3"),
        "jmi": lambda k: MutualInformationSelector(k, criterion="jmi", bins=4),
    }
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=0)
    model = LinearDiscriminantAnalysis()
    assert same(scores(made), by_pipelines(X, y, selectors, [1, 2], model, "accuracy", cv))
    assert made.methods[1].summary.endswith("(bins='mean_std_3')")
    methods = made.to_dict()["reproduce"]["options"]["methods"]
    assert methods["three"] == {"method": "jmi", "bins": "mean_std_3"}


# Nothing of the validation rows is known in training


def test_validation_rows_change_neither_selection_nor_training_score(rng):
    X = rng.normal(size=(60, 12))
    y = X[:, :3].sum(1) + rng.normal(size=60)
    methods = ["socc", "socc_discretized", "err", "lasso"]
    before = compare(X, y, methods, 4, random_state=5)
    _, rows = next(RepeatedKFold(n_splits=5, n_repeats=1, random_state=5).split(X))
    X2, y2 = X.copy(), y.copy()
    X2[rows] = rng.normal(size=(len(rows), 12)) * 1e4
    y2[rows] = rng.permutation(y[rows]) * 100
    after = compare(X2, y2, methods, 4, random_state=5)
    for a, b in zip(records(before), records(after), strict=True):
        if a["fold"] == 1:
            assert (a["features"], a["train"]) == (b["features"], b["train"])
            assert a["validation"] != b["validation"]
    elsewhere = [r["features"] for r in records(before) if r["fold"] > 1]
    assert elsewhere != [r["features"] for r in records(after) if r["fold"] > 1]


@pytest.mark.parametrize("method", ["socc", "mrmr_difference", "cmim", "lasso", "shapley"])
def test_validation_labels_change_neither_selection_nor_training_score(rng, method):
    X, y = rng.normal(size=(80, 10)), rng.integers(0, 3, 80)
    X[:, 0] += y
    fold = split(y, find_labels(y), 4, 1, 0)[0]

    def outcome(X, y):
        data = open_data(X, y, task="auto", categorical_features=None, groups=None, exclude=None)
        plan = Plan(
            data=Shared((X, y)),
            task="classification",
            options={},
            features=data.features,
            categorical=set(),
            indicated=[],
            model=find_model("lda", "accuracy", data, seed=0),
            sizes=(1, 2, 5),
        )
        return run_fold(plan, Entry(method, method), fold).run

    X2, y2 = X.copy(), y.copy()
    X2[fold.validation] *= -1e6
    y2[fold.validation] = (y[fold.validation] + 1) % 3
    before, after = outcome(X, y), outcome(X2, y2)
    assert before.features == after.features
    sides = [list(zip(*run.scores.values())) for run in (before, after)]
    assert sides[0][0] == sides[1][0]
    assert sides[0][1] != sides[1][1]


def test_levels_are_those_of_the_training_rows():
    train = pd.DataFrame({"k": list("bbbac"), "x": np.arange(5.0)})
    validation = pd.DataFrame({"k": list("acz"), "x": [7.0, 8.0, 9.0]})
    made = build_designs(
        open_source(train).first, open_source(validation).first, [[0], [1]], {0}, sparse=False
    )
    assert made.train.tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 0, 3], [0, 1, 4]]
    assert made.validation.tolist() == [[1, 0, 7], [0, 1, 8], [0, 0, 9]]
    assert [part.shape[1] for part in made.first(1)] == [2, 2]


def test_noise_validates_at_chance(rng, numbers):
    """Selection on all rows would make it look predictable."""
    y = np.arange(60) % 2
    found, cheated = [], []
    for _ in numbers(12):
        X = rng.normal(size=(60, 1000))
        found.append(compare(X, y, ["socc", "mim", "lasso"], [8]).curves)
        leaking = X[:, select(X, y, 8).features]
        cheated.append(
            cross_validate(LinearDiscriminantAnalysis(), leaking, y)["test_score"].mean()
        )
    for points in zip(*found):
        assert np.mean([point["train"] for point in points]) > 0.75
        near = 0.2 / np.sqrt(len(points))  # about three standard errors
        assert abs(np.mean([point["validation"] for point in points]) - 0.5) < near
    assert np.mean(cheated) > 0.85


# Tables of every kind


def test_every_library_gives_the_same(library):
    frame, y = mixed(2)
    columns = {
        name: library.column(
            frame[name].astype(object if frame[name].dtype.kind not in "fi" else float).to_numpy()
        )
        for name in frame
    }
    made = compare(library.frame({**columns, "class": library.column(y)}), "class", sizes=3)
    expected = compare(frame, y, sizes=3)
    assert made.setting.target == "class"
    assert made.setting.data["columns"] == 7
    assert made.records == [
        {**r, "seconds": mine["seconds"]} for r, mine in zip(expected.records, made.records)
    ]


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix, sp.coo_array])
@pytest.mark.parametrize("estimator", ["lda", "svm", "logistic"])
def test_sparse_tables_score_as_models_of_sparse_columns_do(rng, kind, estimator):
    X = rng.random((90, 30)) * (rng.random((90, 30)) < 0.2)
    y = (X[:, 0] + X[:, 3] + 0.1 * rng.normal(size=90) > 0.15).astype(int)
    score = {"scoring": "accuracy", "folds": 3}
    made = compare(kind(X), y, ["socc", "jmi"], 3, estimator=estimator, **score)
    assert made.setting.data["rows"] == 90
    if estimator == "lda":
        assert same(scores(made), scores(compare(X, y, ["socc", "jmi"], 3, **score)))
        return
    chosen = {"svm": LinearSVC, "logistic": LogisticRegression}[estimator]
    model = make_pipeline(StandardScaler(with_mean=False), chosen(max_iter=10_000, random_state=0))
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=0)
    for fold, (train, validation) in enumerate(cv.split(X, y), start=1):
        path = select(X[train], y[train], 3)
        A = sp.csc_array(X[:, path.columns])
        model.fit(A[train], y[train])
        expected = model.score(A[train], y[train]), model.score(A[validation], y[validation])
        assert scores(made)["socc", 1, fold, 3] == pytest.approx(expected)


def test_sparse_tables_may_have_columns_of_labels(rng):
    X = rng.integers(0, 3, size=(80, 6)) * (rng.random((80, 6)) < 0.6)
    y = (X[:, 1] == 2).astype(int) | (X[:, 4] > 1)
    options = {"categorical_features": [1, 2], "folds": 3, "estimator": "svm"}
    sparse = compare(sp.csr_array(X), y, ["socc"], 3, **options)
    assert sparse.best[0]["validation"] > 0.6
    dense = compare(X, y, ["socc"], 3, **{**options, "estimator": "lda"})
    again = compare(sp.csr_array(X), y, ["socc"], 3, **{**options, "estimator": "lda"})
    assert same(scores(dense), scores(again))


def test_pandas_frames_of_sparse_columns_score_as_dense_ones(rng):
    X = rng.normal(size=(60, 4)) * (rng.random((60, 4)) < 0.5)
    y = (X[:, 2] > 0).astype(int)
    dense = pd.DataFrame(X, columns=list("abcd"))
    made = compare(dense.astype(pd.SparseDtype(float, 0.0)), y, ["socc"], 2)
    assert same(scores(made), scores(compare(dense, y, ["socc"], 2)))


def test_files_are_read_once_and_named(tmp_path):
    frame, y = mixed(4)
    frame["class"] = y
    file = tmp_path / "paints.csv"
    frame.to_csv(file, index=False)
    made = compare(file, "class", ["socc"], 2)
    assert same(scores(made), scores(compare(frame, "class", ["socc"], 2)))
    assert made.setting.title == "paints.csv"
    python = made.to_dict()["reproduce"]["python"]
    again: dict = {}
    exec(python, again)
    assert same(scores(again["found"]), scores(made))
    assert max(map(len, python.splitlines())) <= max(88, len(repr(str(file))) + 5)
    assert compare(frame, "class", ["socc"], 1).setting.title == "Methods for class"


def test_lists_and_objects_are_tables_too():
    frame, y = mixed(5)
    rows = frame[["noise", "color", "size"]].astype(object).to_numpy()
    made = compare(rows.tolist(), y.tolist(), ["socc"], 2)
    assert made.selected[0]["features"][0]["name"] in ("x1", "x2")
    expected = compare(frame[["noise", "color", "size"]], y, ["socc"], 2)
    assert same(scores(made), scores(expected))


def test_reproduce_does_it_again():
    frame, y = mixed(6)
    groups = {"look": ["color", "shape"]}
    made = compare(frame, y, sizes=2, groups=groups, exclude="rare", folds=3, random_state=None)
    code = made.to_dict()["reproduce"]["python"]
    scope = {"data": frame, "target": y}
    exec(code, scope)
    again = scope["found"]
    assert timeless(again)["records"] == timeless(made)["records"]
    assert [m.name for m in again.methods] == [m.name for m in made.methods if m.failed is None]
    assert again.to_dict()["reproduce"] == made.to_dict()["reproduce"]


# Folds and seeds


def test_the_seed_fixes_everything_and_another_changes_it():
    X, y = load_iris(return_X_y=True)
    model = DecisionTreeClassifier(splitter="random")

    def made(seed):
        return timeless(compare(X, y, ["socc"], 2, estimator=model, random_state=seed))

    assert made(1) == made(1)
    assert made(1)["records"] != made(2)["records"]
    assert model.random_state is None


def test_no_seed_is_a_new_one_that_the_result_holds():
    X, y = load_iris(return_X_y=True)
    first, second = (compare(X, y, ["socc"], 1, random_state=None) for _ in range(2))
    assert first.setting.seed != second.setting.seed
    again = compare(X, y, ["socc"], 1, random_state=first.setting.seed)
    assert same(scores(again), scores(first))


def test_repeats_have_folds_of_their_own():
    X, y = load_iris(return_X_y=True)
    made = compare(X, y, ["socc"], 1, repeats=3)
    own = [run for run in made.runs if run.method == "socc"]
    assert [(run.repeat, run.fold) for run in own] == [
        (repeat, fold) for repeat in (1, 2, 3) for fold in (1, 2, 3, 4, 5)
    ]
    assert made.curves[0]["folds"] == 15
    repeats = [[r["validation"] for r in records(made) if r["repeat"] == k] for k in (1, 2, 3)]
    assert repeats[0] != repeats[1]


def test_folds_have_all_classes():
    y = np.repeat([0, 1, 2], [50, 7, 5])
    for fold in split(y, find_labels(y), 5, 2, 0):
        assert set(y[fold.train]) == set(y[fold.validation]) == {0, 1, 2}
        assert sorted([*fold.train, *fold.validation]) == list(range(62))


def test_classes_with_fewer_rows_than_folds_are_an_error():
    X, y = np.random.default_rng(0).normal(size=(23, 2)), ["a"] * 10 + ["b"] * 10 + ["rare"] * 3
    with pytest.raises(InputError, match=r"folds, 5; class 'rare' has 3. Choose `folds=3`, merge"):
        compare(X, y, ["socc"], 1)
    assert compare(X, y, ["socc"], 1, folds=3).complete
    with pytest.raises(InputError, match=r"class 'one' has 1, and 1 more class.* Merge rare"):
        compare(X, ["a"] * 20 + ["one"] + ["two"] * 2, ["socc"], 1)
    with pytest.raises(InputError, match=r"at least two classes .* every row has 'a'"):
        compare(X, ["a"] * 23, ["socc"], 1)


def test_too_few_rows_are_an_error():
    X = np.random.default_rng(0).normal(size=(4, 2))
    with pytest.raises(ShapeError, match="at least 2 rows for each of the 5 folds; there are 4"):
        compare(X, [0.5, 1.5, 2, 3], ["socc"], 1)
    with pytest.raises(ShapeError, match="4 rows in 2 folds leave 2, and there are 2 classes"):
        compare(X, [0, 1, 0, 1], ["socc"], 1, folds=2)


# Sizes and paths


def test_sizes_are_thinned_and_end_with_the_largest():
    assert find_sizes(20, 100) == tuple(range(1, 21))
    for k in (21, 50, 999):
        sizes = find_sizes(k, 1000)
        assert sizes[0] == 1
        assert sizes[-1] == k
        assert len(sizes) <= 20
        assert list(sizes) == sorted(set(sizes))
    assert find_sizes([5, 1, 5], 10) == (1, 5)
    assert find_sizes(np.int64(3), 10) == (1, 2, 3)
    assert find_sizes(np.array([2, 3]), 10) == (2, 3)


def test_sizes_end_where_the_features_do():
    X, y = load_iris(return_X_y=True)
    assert compare(X, y, ["socc"]).setting.sizes == (1, 2, 3, 4)
    assert compare(X, y, ["socc"], exclude=[0]).setting.sizes == (1, 2, 3)
    with pytest.warns(TooManyRequestedWarning, match="`sizes` goes up to 9, but there are 4"):
        made = compare(X, y, ["socc"], [2, 9])
    assert made.setting.sizes == (2,)
    with pytest.raises(InputError, match="within the 4 features to choose from; the smallest is 5"):
        compare(X, y, ["socc"], [5, 6])


def test_short_paths_have_no_score_for_more_features(rng):
    """Of two equal columns only one can be selected; in which folds they are equal, differs."""
    X = rng.normal(size=(60, 3))
    X[:, 2] = X[:, 1]
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    rows = split(y, find_labels(y), 4, 1, 0)[0].validation
    X[rows[0], 2] += 1.0  # fold 1 does not see it in training, all others do
    with pytest.warns(SearchStoppedWarning) as caught:
        made = compare(X, y, ["socc", "jmi"], 3, folds=4)
    assert len(caught) == 1
    assert str(caught[0].message).endswith("(socc; 1 of 4 folds)")
    counts = {(p["method"], p["n_features"]): p["folds"] for p in made.curves}
    assert counts == {
        **{("socc", 1): 4, ("socc", 2): 4, ("socc", 3): 3},
        **{("jmi", 1): 4, ("jmi", 2): 4, ("jmi", 3): 4},
    }
    assert made.best[-1]["method"] == "jmi"
    assert made.complete


def test_one_selection_serves_all_sizes(monkeypatch):
    calls = []

    def counted(*args, **options):
        calls.append(args[2:])
        return select(*args, **options)

    monkeypatch.setattr("orthoselect.comparison.entries.select", counted)
    made = compare(*load_wine(return_X_y=True), ["socc", "lasso"], [1, 2, 5], folds=3)
    assert calls == [(5, "socc"), (5, "lasso")] * 3
    for record in records(made):
        assert len(record["features"]) == record["n_features"]
        assert record["seconds"] > 0


# Methods


def test_usual_methods_fit_the_response():
    frame, y = mixed(0)
    numbers = frame[["noise", "size", "weight"]]
    assert all(m.failed is None for m in compare(numbers, y, sizes=1).methods)
    made = compare(numbers, frame["size"] * 2 + 0.1, sizes=1)
    assert made.setting.task == "regression"
    assert len(made.methods) > 3
    assert all(m.failed is None for m in made.methods)


def test_no_method_is_left_out_of_tables_with_labels_and_groups():
    frame, y = mixed(0)
    for table, target, options in (
        (frame, y, {}),
        (frame, y, {"methods": [m.name for m in METHODS.values() if m.needs_target]}),
        (frame, frame["size"] * 2 + 0.1, {"exclude": ["size"]}),
        (frame, y, {"groups": {"look": ["color", "shape"], "numbers": ["noise", "weight"]}}),
        (frame[["noise", "size", "weight"]], y, {"categorical_features": []}),
    ):
        made = compare(table, target, sizes=2, folds=3, **options)
        assert [m.failed for m in made.methods] == [None] * len(made.methods)
        assert run_methods(made) == {m.name for m in made.methods}


def coded_by_hand(frame):
    """Return an indicator for each level, one for two levels, and whose each column is."""
    owners, columns = [], []
    for name in frame:
        levels = [None] if frame[name].dtype.kind in "fi" else sorted(set(map(str, frame[name])))
        for level in levels[1:] if len(levels) == 2 else levels:
            own = frame[name] if level is None else frame[name].astype(str) == level
            columns.append(np.asarray(own, dtype=float))
            owners.append(name)
    return np.column_stack(columns), owners


@pytest.mark.parametrize("method", ["lasso", "elastic_net", "err", "shapley"])
@pytest.mark.parametrize("seed", range(3))
def test_labels_are_coded_as_indicators_for_methods_that_take_numbers(method, seed):
    frame, y = mixed(seed)
    made = compare(frame, y, [method], [3], folds=3, random_state=seed)
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=seed)
    for record, (train, _) in zip(records(made), cv.split(frame, y), strict=True):
        X, owners = coded_by_hand(frame.iloc[train])
        order = select(X, y[train], X.shape[1] - 4, method).features
        assert record["features"] == list(dict.fromkeys(owners[j] for j in order))[:3]
    assert "labels coded as indicators" in made.methods[0].summary


def test_a_group_enters_with_its_first_column_where_a_method_takes_none(rng):
    X = rng.normal(size=(90, 5))
    y = (X[:, 3] + 0.5 * X[:, 0] > 0).astype(int)
    made = compare(X, y, ["lasso"], [1, 2], groups={"pair": [1, 3]}, folds=3)
    for record in records(made):
        assert record["features"] == ["pair", "x0"][: record["n_features"]]
    alone = compare(X[:, [3, 1, 0, 2, 4]], y, ["socc"], [1], groups={"pair": [0, 1]}, folds=3)
    ours = [r["validation"] for r in records(made) if r["n_features"] == 1]
    assert ours == pytest.approx([r["validation"] for r in records(alone)])


def test_many_levels_are_ranked_alike_dense_and_sparse(rng, monkeypatch):
    frame, y = mixed(1)
    dense = compare(frame, y, ["lasso"], 3, folds=3)
    monkeypatch.setattr("orthoselect.comparison.data._MANY_INDICATORS", 1)
    assert same(scores(compare(frame, y, ["lasso"], 3, folds=3)), scores(dense))


def test_a_method_that_fails_is_told_and_the_others_go_on():
    frame, _ = mixed(0)
    made = compare(frame, frame["size"] + 0.1, ["socc", "jmi", "err"], 2, exclude=["size"])
    assert [m.failed is None for m in made.methods] == [True, False, True]
    assert "classes" in made.methods[1].failed
    assert run_methods(made) == {"socc", "err"}
    assert made.complete
    assert made.to_dict()["methods"][1]["seconds"] is None


def test_a_method_that_fails_on_some_folds_is_told_with_their_number(monkeypatch):
    X, y = load_iris(return_X_y=True)
    calls = []

    def sometimes(*args, **options):
        calls.append(args[3])
        if args[3] == "jmi" and calls.count("jmi") in (2, 3):
            raise InputError("not this time.")
        return select(*args, **options)

    monkeypatch.setattr("orthoselect.comparison.entries.select", sometimes)
    made = compare(X, y, ["socc", "jmi"], 2)
    assert made.methods[1].failed == "on 2 of 5 folds: not this time."
    assert run_methods(made) == {"socc"}


def test_if_all_methods_fail_it_raises():
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(InputError, match=r"none of the methods works here. jmi: .* mim: "):
        compare(X, y + 0.1, ["jmi", "mim"], 2)
    X, y = load_iris(return_X_y=True)
    X[7, 1] = np.nan
    with pytest.raises(InputError, match=r"`x1` \(1 missing of 150\)"):
        compare(X, y, ["socc", "jmi"], 2)


def test_gaps_in_validation_rows_are_told_as_in_training_rows():
    train, validation = pd.DataFrame({"a": [1.0, 2.0]}), pd.DataFrame({"a": [np.nan, np.inf]})
    with pytest.raises(NonFiniteError, match="`a` has 1 NaN and 1 infinity"):
        build_designs(
            open_source(train).first, open_source(validation).first, [[0]], set(), sparse=False
        )
    sparse = [open_source(sp.csr_array(X.to_numpy())).first for X in (train, validation)]
    with pytest.raises(NonFiniteError, match="`x0` has 1 NaN and 1 infinity"):
        build_designs(*sparse, [[0]], set(), sparse=True)


@pytest.mark.parametrize(
    ("methods", "words"),
    [
        (["socc", "jim"], "`method` should be one of .*; got 'jim': did you mean `mim`, `jmi`"),
        ("nothing", "`method` should be one of .*; got 'nothing'"),
        (["socc", "socc"], "name each method once; `socc` is repeated"),
        ([], "name at least one method"),
        ({}, "name at least one method"),
        ({"socc": 3}, "for each a mapping of options .*; got 'socc': 3"),
        ({"fast": {}}, "`method` should be one of .*; got 'fast'"),
        ({"jmi": {"bin": 3}}, "'jmi' has no option `bin`: did you mean `bins`"),
        ({"socc": {"groups": {}}}, "'socc' has no option `groups`"),
    ],
)
def test_wrong_methods_are_an_error(methods, words):
    with pytest.raises(InputError, match=words):
        compare(*load_iris(return_X_y=True), methods)


# Models and scores


@pytest.mark.parametrize(
    "model",
    [GaussianNB(), KNeighborsClassifier(3), SVC(), make_pipeline(StandardScaler(), SVC())],
)
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_estimators_of_scikit_learn_get_the_columns_as_they_are(model, load):
    X, y = load(return_X_y=True)
    made = compare(X, y, ["socc"], [2], estimator=model, scoring="accuracy", folds=3)
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=0)
    expected = cross_validate(make_pipeline(OrthogonalSelector(2), model), X, y, cv=cv)
    assert [r["validation"] for r in records(made)] == pytest.approx(expected["test_score"])
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    assert made.setting.estimator == type(last).__name__
    auc = compare(X, y, ["socc"], [2], estimator=model, scoring="auc", folds=3)
    assert all(0.5 < r["validation"] <= 1 for r in records(auc))


def test_auc_of_an_estimator_without_values_says_so():
    X, y = load_iris(return_X_y=True)
    centroid = NearestCentroid()
    if hasattr(centroid, "decision_function"):  # as of scikit-learn 1.6
        centroid = type("Bare", (KNeighborsClassifier,), {"predict_proba": property()})()
    with pytest.raises(InputError, match="needs an estimator with `decision_function` or"):
        compare(X, y, ["socc"], [2], estimator=centroid, scoring="auc")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"estimator": "ldaa"}, "`estimator` should be one of 'auto', 'lda', .*; got 'ldaa'"),
        ({"estimator": "ridge"}, "'ridge'` is for numbers; the response holds classes. Choose one"),
        ({"estimator": LinearRegression()}, "made for classes, .*; LinearRegression is not"),
        ({"estimator": LinearDiscriminantAnalysis}, "an object, not its class"),
        ({"estimator": 5}, "or a scikit-learn estimator .*; got 5"),
        ({"scoring": "r2"}, "`scoring='r2'` is for numbers; the response holds classes"),
        ({"scoring": "recal"}, "one of 'auto', 'accuracy', .*'recall', .*; got 'recal'"),
        ({"scoring": 5}, "`scoring` should be 'auto', the name of a score, or a function.*; got 5"),
        ({"scoring": "neg_mean_squared_error"}, "is for numbers; the response holds classes"),
        ({"methods": {"all features": {"method": "socc"}}}, "'all features' is that of a baseline"),
        ({"folds": 1}, "`folds` should be a whole number of at least 2; got 1"),
        ({"folds": 2.0}, "`folds` should be a whole number"),
        ({"repeats": 0}, "`repeats` should be a whole number of at least 1; got 0"),
        ({"random_state": -1}, "`random_state` should be a whole number from 0"),
        ({"random_state": "x"}, "`random_state` should be .*; got 'x'"),
        ({"n_jobs": 0}, "`n_jobs` should be a number of processes.*; got 0"),
        ({"n_jobs": "2"}, "`n_jobs` should be .*; got '2'"),
        ({"sizes": 0}, "`sizes` should be a whole number of at least 1, or a list.*; got 0"),
        ({"sizes": [1, 2.5]}, "`sizes` should be .*; got 2.5"),
        ({"sizes": []}, "`sizes` should be .*; got an empty list"),
        ({"sizes": "10"}, "`sizes` should be .*; got '10'"),
        ({"sizes": True}, "`sizes` should be .*; got True"),
        ({"task": "guess"}, "`task` should be one of"),
        ({"exclude": ["x9"]}, "`exclude` should name columns of the table; there is no `x9`"),
        ({"exclude": [0, 1, 2, 3]}, "features to choose from; .* are all columns"),
        ({"categorical_features": ["no"]}, "`categorical_features` should name columns"),
        ({"groups": {"g": ["no"]}}, "should name columns of the table"),
    ],
)
def test_wrong_arguments_are_an_error(options, words):
    with pytest.raises(InputError, match=words):
        compare(*load_iris(return_X_y=True), **options)


def test_estimators_for_classes_are_refused_for_numbers():
    X, y = load_diabetes(return_X_y=True)
    for options, words in (
        ({"estimator": "lda"}, "'lda'` is for classes; the response holds numbers"),
        ({"estimator": GaussianNB()}, "made for numbers, .*; GaussianNB is not"),
        ({"scoring": "auc"}, "`scoring='auc'` is for classes"),
        ({"scoring": "f1"}, "`scoring='f1'` is for classes; the response holds numbers"),
    ):
        with pytest.raises(InputError, match=words):
            compare(X, y, task="regression", **options)


def test_several_columns_of_classes_are_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InputError, match=r"takes one column of classes.*has 2 columns"):
        compare(X, np.c_[y, y], ["socc"])


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_gradient_boosting_goes_by_its_name(load):
    X, y = load(return_X_y=True)
    made = compare(X, y, ["socc"], [2], estimator="gradient_boosting", scoring="accuracy", folds=2)
    cv = RepeatedStratifiedKFold(n_splits=2, n_repeats=1, random_state=0)
    boosted = HistGradientBoostingClassifier(random_state=0)
    for baseline, model in (
        ("socc", make_pipeline(OrthogonalSelector(2), boosted)),
        (ALL_FEATURES, boosted),
    ):
        own = [r["validation"] for r in made.records if r["method"] == baseline]
        expected = cross_validate(model, X, y, cv=cv)["test_score"]
        assert own == pytest.approx(expected)


def test_gradient_boosting_finds_what_no_line_does(rng):
    X = rng.normal(size=(300, 3))
    y = np.abs(X[:, 0]) + 0.1 * rng.normal(size=300)
    options = {"sizes": [3], "folds": 3}
    linear, boosted = (
        compare(X, y, ["socc"], estimator=name, **options).highest["validation"]
        for name in ("least_squares", "gradient_boosting")
    )
    assert linear < 0.1
    assert boosted > 0.7


def test_gradient_boosting_of_several_responses_is_refused(rng):
    X = rng.normal(size=(40, 3))
    with pytest.raises(InputError, match="takes one column of numbers as the response; there are"):
        compare(X, X[:, :2] + 0.5, ["socc"], 2, estimator="gradient_boosting")


class Noting(LogisticRegression):
    """Notes which object was trained on how many rows and columns."""

    noted: ClassVar[list] = []

    def fit(self, X, y):
        Noting.noted.append((self, X.shape))
        return super().fit(X, y)


def test_estimators_are_cloned_for_every_fold_and_size():
    given = Noting(max_iter=1000)
    Noting.noted.clear()
    X, y = load_iris(return_X_y=True)
    compare(X, y, ["socc"], 2, estimator=given, folds=3)
    fitted = [id(model) for model, _ in Noting.noted]
    assert len(set(fitted)) == len(fitted) == 3 * (2 + 1)
    assert id(given) not in fitted
    assert not hasattr(given, "coef_")
    assert {shape for _, shape in Noting.noted} == {(100, 1), (100, 2), (100, 4)}


def test_lda_takes_columns_that_separate_the_classes_completely(rng):
    y = np.arange(60) % 3
    X = np.c_[rng.normal(size=(60, 4)), y == 1, y]
    made = compare(X, y, ["mim", "jmi"], 3, folds=3)
    assert all(point["validation"] == 1.0 for point in made.curves if point["n_features"] == 3)
    assert made.baseline_scores[1]["validation"] == 1.0
    alone = compare(X[:, 5:], y, ["jmi"], 1, folds=3)
    assert alone.highest["validation"] == 1.0


# Baselines


def test_baselines_score_as_models_of_scikit_learn_do():
    frame, y = mixed(2)
    made = compare(frame, y, ["socc"], 2, scoring="accuracy", folds=4)
    cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=1, random_state=0)
    labels = ["color", "rare", "shape"]
    found = {name: [] for name in BASELINES}
    for train, validation in cv.split(frame, y):
        X, Z = (frame.iloc[rows].astype(dict.fromkeys(labels, str)) for rows in (train, validation))
        usual = [sorted(set(X[c]), key=lambda v: (-sum(X[c] == v), v))[0] for c in labels]
        coder = OneHotEncoder(drop=usual, handle_unknown="ignore", sparse_output=False)
        coding = make_column_transformer((coder, labels), remainder="passthrough")
        model = make_pipeline(coding, StandardScaler(), LinearDiscriminantAnalysis())
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Found unknown categories")
            found[ALL_FEATURES].append(model.fit(X, y[train]).score(Z, y[validation]))
        most = max(sorted(set(y[train])), key=list(y[train]).count)
        found[NO_FEATURES].append(np.mean(y[validation] == most))
    for name, expected in found.items():
        own = [r["validation"] for r in made.records if r["method"] == name]
        assert own == pytest.approx(expected)
    assert [row["n_features"] for row in made.baseline_scores] == [0, 6]


def test_no_features_of_numbers_is_the_mean_of_the_training_rows():
    X, y = load_diabetes(return_X_y=True)
    made = compare(X, y + 0.1, ["socc"], 1)
    cv = RepeatedKFold(n_splits=5, n_repeats=1, random_state=0)
    expected = [
        r2_score(y[validation], np.full(len(validation), y[train].mean()))
        for train, validation in cv.split(X)
    ]
    own = [r["validation"] for r in made.records if r["method"] == NO_FEATURES]
    assert own == pytest.approx(expected)
    assert max(own) <= 0


def test_columns_that_are_left_out_are_no_part_of_all_features():
    X, y = load_iris(return_X_y=True)
    made = compare(X, y, ["socc"], 1, exclude=[2, 3])
    less = compare(X[:, :2], y, ["socc"], 1)
    assert made.baseline_scores[1] == less.baseline_scores[1]
    assert made.baseline_scores[1]["n_features"] == 2


def test_all_features_that_would_not_fit_into_memory_are_told(monkeypatch):
    X, y = load_iris(return_X_y=True)
    monkeypatch.setattr("orthoselect.comparison.data.free_memory", lambda: 1000)
    made = compare(X, y, ["socc"], 1)
    every = made.baselines[0]
    assert every.failed.startswith("not run: 150 rows of 4 columns would take")
    assert [row["method"] for row in made.baseline_scores] == [NO_FEATURES]
    assert made.complete


# Which score


@pytest.mark.parametrize(
    ("counts", "score"),
    [
        ((30, 30), "accuracy"),
        ((30, 20), "accuracy"),
        ((31, 20), "auc"),
        ((30, 25, 20), "accuracy"),
        ((40, 25, 20), "balanced_accuracy"),
    ],
)
def test_the_usual_score_depends_on_how_unequal_classes_are(rng, counts, score):
    y = np.repeat(np.arange(len(counts)), counts)
    made = compare(rng.normal(size=(len(y), 3)), y, ["socc"], 1)
    assert made.setting.scoring == score
    equal = "about equal" if score == "accuracy" else "unequal"
    assert f"{max(counts)} rows, the rarest {min(counts)}" in made.setting.scoring_reason
    assert equal in made.setting.scoring_reason
    assert any("Scored by" in words for words in made.findings)


def test_numbers_are_scored_by_r_squared_and_a_score_asked_for_has_no_reason(rng):
    X = rng.normal(size=(40, 3))
    assert compare(X, X[:, 0] + 0.5, ["socc"], 1, exclude=[0]).setting.scoring_reason == (
        "R squared, since the response holds numbers"
    )
    assert (
        compare(*load_iris(return_X_y=True), ["socc"], 1, scoring="auc").setting.scoring_reason
        == ""
    )


def test_unequal_classes_of_an_estimator_without_values_are_scored_by_predictions(rng):
    y = np.repeat([0, 1], [40, 20])
    bare = type("Bare", (KNeighborsClassifier,), {"predict_proba": property()})()
    made = compare(rng.normal(size=(60, 3)), y, ["socc"], 1, estimator=bare)
    assert made.setting.scoring == "balanced_accuracy"


@pytest.mark.parametrize("scoring", ["f1", "neg_log_loss", "roc_auc", "matthews_corrcoef"])
def test_every_scorer_of_scikit_learn_goes_by_its_name(scoring):
    X, y = load_breast_cancer(return_X_y=True)
    made = compare(X, y, ["socc"], [2], scoring=scoring, folds=3)
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=0)
    model = make_pipeline(OrthogonalSelector(2), StandardScaler(), LinearDiscriminantAnalysis())
    expected = cross_validate(model, X, y, cv=cv, scoring=scoring)["test_score"]
    assert [r["validation"] for r in records(made)] == pytest.approx(expected)


def test_functions_that_score_see_the_classes_of_the_table():
    X, y = load_breast_cancer(return_X_y=True)
    labels = np.where(y == 1, "well", "ill")
    scorer = make_scorer(f1_score, pos_label="ill")
    made = compare(X, labels, ["socc"], [2], scoring=scorer, folds=3)
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=0)
    model = make_pipeline(OrthogonalSelector(2), StandardScaler(), LinearDiscriminantAnalysis())
    expected = cross_validate(model, X, labels, cv=cv, scoring=scorer)["test_score"]
    assert [r["validation"] for r in records(made)] == pytest.approx(expected)
    assert "f1_score" in made.setting.scoring
    assert compare(X, y, ["socc"], [1], scoring=lambda *_: 0.5).setting.scoring == "custom score"


def test_a_score_that_cannot_judge_or_is_no_number_says_so():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InputError, match=r"`scoring='f1'` could not judge .* multiclass"):
        compare(X, y, ["socc"], 1, scoring="f1")
    with pytest.raises(InputError, match="should give a finite number; it gave nan"):
        compare(X, y, ["socc"], 1, scoring=lambda *_: np.nan)


# Bins


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_array])
def test_levels_of_equal_frequency_are_cut_at_quantiles(rng, kind):
    X = np.round(rng.normal(size=(200, 4)) * (rng.random((200, 4)) < 0.7), 2)
    X[:, 3] = rng.integers(0, 4, 200)
    coded = EqualFrequency().fit(kind(X)).transform(kind(X))
    coded = coded if kind is np.asarray else coded.toarray()
    for j in range(4):
        values = np.unique(X[:, j])
        cuts = values[1:] if len(values) <= 5 else np.quantile(X[:, j], [0.2, 0.4, 0.6, 0.8])
        levels = (X[:, [j]] >= np.unique(cuts)).sum(axis=1)
        zero = 0 if kind is np.asarray else int((np.unique(cuts) <= 0).sum())
        assert sorted(set(zip(levels - zero, coded[:, j]))) == [
            (a, a) for a in sorted(set(levels - zero))
        ]


def test_bins_that_are_given_go_before_levels_of_equal_frequency():
    X, y = load_wine(return_X_y=True)
    made = compare(X, y, {"mim": {}, "own": {"method": "mim", "bins": 3}}, [3], folds=2)
    assert "cut at quantiles into 5 levels" in made.methods[0].summary
    assert "quantiles" not in made.methods[1].summary


# Warnings


def test_warnings_come_once_each():
    X, y = load_digits(return_X_y=True)
    X = X[:, :20]  # three of which are constant
    with pytest.warns(SearchStoppedWarning) as caught:
        made = compare(X, y, ["socc", "jmi", "mim"], [20], folds=3)
    texts = [str(w.message) for w in caught]
    assert len(texts) == 2
    assert texts[0].endswith("(socc; 3 of 3 folds)")
    assert texts[1].endswith("(jmi, mim; 3 of 3 folds)")
    assert all(w.filename == __file__ for w in caught)
    assert made.setting.data["warnings"] == texts


def test_sizes_beyond_chance_are_tried_without_a_warning(rng):
    x = np.sort(rng.normal(size=120))
    frame = pd.DataFrame({"x": x, "k": list("abcdefgh") * 15})  # every level everywhere along x
    y = (x > 0).astype(int)
    with pytest.warns(NoMoreThanChanceWarning):
        select(frame, y, 2)
    made = compare(frame, y, ["socc"], 2)  # a warning would be an error
    assert made.setting.data["warnings"] == []


def test_warnings_about_the_response_come_once():
    X, _ = load_diabetes(return_X_y=True)
    y = np.repeat(np.arange(60), 7) + 1900
    with pytest.warns(ReadAsQuantityWarning) as caught:
        made = compare(X[: len(y)], y, ["socc"], 1)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert made.setting.data["warnings"] == [str(caught[0].message)]


def test_filters_are_left_as_they_were():
    before = list(warnings.filters)
    compare(*load_iris(return_X_y=True), ["socc"], 1)
    assert warnings.filters == before


# Processes, progress and Ctrl-C


def test_results_do_not_depend_on_the_number_of_processes(library):
    frame, y = mixed(3)
    columns = {"class": library.column(y), "color": library.labels(frame["color"])}
    columns |= {
        name: library.column(frame[name].to_numpy()) for name in ("noise", "size", "weight")
    }
    table = library.frame(columns)
    calls = []
    made = compare(
        table,
        "class",
        sizes=4,
        n_jobs=2,
        estimator="svm",
        progress=lambda *call: calls.append(call),
    )
    assert timeless(made) == timeless(compare(table, "class", sizes=4, estimator="svm"))
    assert [call[:2] for call in calls] == [(k, 40) for k in range(1, 41)]
    assert sorted(call[2:] for call in calls) == sorted(
        (method, fold)
        for method in ("socc", "mrmr_difference", "jmi", "cmim", "mim", "lasso", *BASELINES)
        for fold in range(1, 6)
    )


def test_large_arrays_and_warnings_come_from_processes_too(rng):
    """Large enough for joblib to hand them over in a file."""
    X = rng.normal(size=(300, 600))
    X[:, 5] = 1.0
    y = (X[:, 0] + X[:, 9] > 0).astype(int)
    options = {"methods": ["socc", "jmi"], "sizes": [1, 2], "exclude": range(10, 600), "folds": 3}
    for table in (X, np.asfortranarray(X), sp.csr_array(X)):
        assert timeless(compare(table, y, n_jobs=2, **options)) == timeless(
            compare(table, y, **options)
        )
    with pytest.warns(SearchStoppedWarning, match="3 of 3 folds") as caught:
        compare(X, y, n_jobs=2, **{**options, "sizes": [10]})
    assert len(caught) == 2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_keeps_what_was_done(n_jobs):
    def progress(done, total, method, fold):
        if done == 3:
            raise KeyboardInterrupt

    X, y = load_iris(return_X_y=True)
    with pytest.raises(ComparisonInterrupted, match="after 3 of 20 runs") as caught:
        compare(X, y, ["socc", "jmi"], 2, n_jobs=n_jobs, progress=progress)
    part = caught.value.comparison
    assert len(part.runs) == 3
    assert not part.complete
    assert part.sentence.endswith("as far as it was run.")
    whole = scores(compare(X, y, ["socc", "jmi"], 2))
    assert scores(part).items() <= whole.items()
    assert isinstance(caught.value, KeyboardInterrupt)


def test_ctrl_c_before_anything_was_done_keeps_nothing(monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("orthoselect.comparison.entries.select", interrupted)
    with pytest.raises(
        ComparisonInterrupted, match=r"after 0 of 15 .*nothing was compared"
    ) as caught:
        compare(*load_iris(return_X_y=True), ["socc"], 2)
    assert caught.value.comparison is None


@pytest.mark.skipif(os.name == "nt", reason="sends a signal to a group of processes")
def test_ctrl_c_on_a_terminal_stops_all_processes_quietly(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import numpy as np, orthoselect
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(300, 1500)), rng.integers(0, 3, 300)
        try:
            orthoselect.compare(
                X, y, ["socc", "shapley"], 20, repeats=200, n_jobs=2,
                progress=lambda done, *rest: print(done, flush=True),
            )
        except orthoselect.errors.ComparisonInterrupted as error:
            print("kept", len(error.comparison.runs), flush=True)
        """)
    )
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(Path(orthoselect.__file__).parent.parent)},
    )
    while process.stdout.readline() != "6\n":  # by then both processes are at work
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out.splitlines()[-1].startswith("kept ")
    assert err == ""
    assert process.returncode == 0


def test_errors_in_progress_are_raised_as_they_are():
    def progress(*call):
        raise RuntimeError("the bar broke")

    for n_jobs in (1, 2):
        with pytest.raises(RuntimeError, match="the bar broke"):
            compare(*load_iris(return_X_y=True), ["socc"], 2, n_jobs=n_jobs, progress=progress)


def test_joblib_settings_are_honored(monkeypatch):
    from joblib import parallel_config

    import orthoselect.comparison.run as run

    used = []

    class Noted(run.Parallel):
        def __call__(self, *args):
            used.append((self.n_jobs, type(self._backend).__name__))
            return super().__call__(*args)

    monkeypatch.setattr(run, "Parallel", Noted)
    X, y = load_iris(return_X_y=True)
    with parallel_config(n_jobs=2):
        compare(X, y, ["socc"], 1)
    with parallel_config(backend="threading", n_jobs=2):
        compare(X, y, ["socc"], 1)
    compare(X, y, ["socc"], 1)
    assert [n_jobs for n_jobs, _ in used] == [2, 2, 1]
    assert "ThreadingBackend" not in {backend for _, backend in used}
