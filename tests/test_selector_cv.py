"""SelectorCV and select(..., "cv"): against a plain loop, and what they promise."""

import json
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive
import orthoselect
from orthoselect import (
    GramStatistics,
    MutualInformationSelector,
    OrthogonalSelector,
    RowBlocks,
    SelectorCV,
    compare,
    select,
)
from orthoselect.comparison import run
from orthoselect.errors import (
    ConstantTargetError,
    InputError,
    NoBetterThanNoneWarning,
    SearchStoppedWarning,
    SelectionInterrupted,
)
from orthoselect.result import ComparedMethod, Comparison, FoldRun, Setting, SizeScores

pytestmark = pytest.mark.filterwarnings("ignore:Variables are collinear")


@pytest.mark.filterwarnings("ignore::orthoselect.errors.SelectionWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@parametrize_with_checks([SelectorCV(OrthogonalSelector(2), cv=2)])
def test_passes_every_check_of_scikit_learn(estimator, check):
    if "sample_weight_equivalence" in str(check):
        pytest.skip("folds cut rows, so that copies of a row may train and validate")
    check(estimator)


@pytest.fixture
def classes(rng):
    """Return three classes, of which four columns of twelve tell something."""
    y = np.repeat([0, 1, 2], [40, 45, 35])
    X = rng.normal(size=(120, 12))
    X[:, 3] += y
    X[:, 7] += 1.5 * (y == 1)
    X[:, 5] += 0.7 * X[:, 3]
    return X, y


@pytest.fixture
def quantity(rng):
    X = rng.normal(size=(90, 8))
    return X, X[:, 2] + 0.5 * X[:, 6] + rng.normal(size=90)


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def by_size(selector):
    """Return the scores of the folds, one row a size."""
    results = selector.cv_results_
    n_splits = sum(name.startswith("split") for name in results)
    return np.column_stack([results[f"split{k}_test_score"] for k in range(n_splits)])


def scaled_lda():
    return make_pipeline(StandardScaler(), LinearDiscriminantAnalysis())


SPLITTERS = {
    "stratified": StratifiedKFold(4, shuffle=True, random_state=3),
    "repeated": RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=1),
    "shuffled": ShuffleSplit(5, test_size=0.3, random_state=0),
}


@pytest.mark.parametrize("cv", SPLITTERS)
@pytest.mark.parametrize(
    "made", [OrthogonalSelector, lambda k: MutualInformationSelector(k, criterion="cmim", bins=4)]
)
def test_scores_are_those_of_a_loop_over_folds_and_sizes(classes, made, cv):
    X, y = classes
    splits, sizes = list(SPLITTERS[cv].split(X, y)), list(range(1, 7))
    expected = naive.cross_validated_sizes(
        X, y, made, scaled_lda, get_scorer("balanced_accuracy"), splits, sizes
    )
    found = SelectorCV(made(6), "lda", SPLITTERS[cv], "balanced_accuracy").fit(X, y)
    np.testing.assert_allclose(by_size(found), expected, atol=1e-12)
    assert found.n_features_ == naive.size_by_rule(expected, sizes, splits, "one_se")
    scores = found.path_.size_scores
    best = SizeScores(scores.comparison, "best", scores.n_candidates)
    assert best.chosen == naive.size_by_rule(expected, sizes, splits, "best")
    assert found.path_[:] == made(6).fit(X, y).path_[:]


@pytest.mark.parametrize("model", [LinearRegression, lambda: Ridge(3.0), SVR])
def test_scores_of_numbers_are_those_of_a_loop(quantity, model):
    X, y = quantity
    splits, sizes = list(KFold(5).split(X)), list(range(1, 8))
    scorer = get_scorer("neg_mean_absolute_error")
    expected = naive.cross_validated_sizes(X, y, OrthogonalSelector, model, scorer, splits, sizes)
    cv, scoring = KFold(5), "neg_mean_absolute_error"
    found = SelectorCV(OrthogonalSelector(7), model(), cv, scoring).fit(X, y)
    np.testing.assert_allclose(by_size(found), expected, atol=1e-9)
    assert found.n_features_ == naive.size_by_rule(expected, sizes, splits, "one_se")


def test_scores_are_those_of_cross_validated_pipelines(classes):
    X, y = classes
    cv = StratifiedKFold(4)
    found = SelectorCV(OrthogonalSelector(4), KNeighborsClassifier(), cv, "accuracy").fit(X, y)
    for k, row in enumerate(by_size(found), start=1):
        pipeline = make_pipeline(OrthogonalSelector(k), KNeighborsClassifier())
        done = cross_validate(pipeline, X, y, cv=cv, scoring="accuracy", return_train_score=True)
        np.testing.assert_allclose(row, done["test_score"], atol=1e-12)
        mean = done["train_score"].mean()
        assert found.cv_results_["mean_train_score"][k - 1] == pytest.approx(mean)


@pytest.mark.parametrize("load", [load_wine, load_diabetes])
def test_scores_by_default_are_those_of_compare(load):
    frame = load(as_frame=True).frame
    task = "regression" if load is load_diabetes else "classification"
    path = select(frame, "target", "cv", task=task, largest=6)
    compared = compare(frame, "target", ["socc"], sizes=6, random_state=0, task=task)
    keys = ("n_features", "validation", "validation_se", "train", "difference", "as_good")
    assert [[p[k] for k in keys] for p in path.size_scores.points] == [
        [p[k] for k in keys] for p in compared.curves
    ]
    assert path.chosen == compared.recommended["n_features"]
    assert path.size_scores.without_features == compared.baseline_scores[0]


# The rule


def test_one_se_is_the_smallest_size_within_a_paired_standard_error_by_hand():
    table = {1: [0.5, 0.6, 0.7, 0.6], 2: [0.8, 0.6, 0.8, 0.7], 3: [0.8, 0.7, 0.8, 0.8]}
    runs = [
        FoldRun("socc", 1, k + 1, ("a", "b", "c"), 0.0, {s: (1.0, v[k]) for s, v in table.items()})
        for k in range(4)
    ]
    setting = Setting("t", "y", "classification", "lda", "accuracy", 4, 1, 0, (1, 2, 3))
    scores = SizeScores(Comparison(runs, [ComparedMethod("socc", "")], setting), "one_se", 3)
    # 3 is the best, 0.775. Below it by fold: 2: 0, .1, 0, .1, mean .05, s = .0577; times
    # sqrt(1/4 + 1/3) = .764 that is a standard error of .0441, so 2 is not as good, by a hair.
    assert scores.by_size[2]["difference"] == pytest.approx(0.05)
    assert scores.by_size[2]["difference_se"] == pytest.approx(0.0440959, rel=1e-5)
    assert scores.chosen == 3
    table[2][1] = 0.65  # mean .0375, s = .0479, standard error .0366: still not
    assert _rescored(scores, table).chosen == 3
    table[2][1] = 0.7  # mean .025, s = .05, standard error .0382: as good
    assert _rescored(scores, table).chosen == 2
    assert SizeScores(_rescored(scores, table).comparison, "best", 3).chosen == 3
    assert "within one standard error of the best" in _rescored(scores, table).sentence


def _rescored(scores, table):
    runs = [
        replace(run, scores={s: (1.0, v[k]) for s, v in table.items()})
        for k, run in enumerate(scores.comparison.runs)
    ]
    compared = Comparison(runs, scores.comparison.methods, scores.comparison.setting)
    return SizeScores(compared, scores.rule, scores.n_candidates)


def test_equal_sizes_go_to_the_smallest(rng):
    y = np.tile([0, 1], 30)
    X = rng.normal(size=(60, 5))
    X[:, 1] += 20 * y  # all sizes tell all
    for rule in ("one_se", "best"):
        assert SelectorCV(OrthogonalSelector(3), rule=rule, cv=2).fit(X, y).n_features_ == 1


# Nothing leaks


def test_noise_scores_like_chance_however_many_columns_there_are(rng):
    X, y = rng.normal(size=(60, 3000)), np.tile([0, 1], 30)
    with pytest.warns(NoBetterThanNoneWarning, match="no size is clearly better than no features"):
        selector = SelectorCV(OrthogonalSelector(8), "lda", scoring="accuracy").fit(X, y)
    assert selector.cv_results_["mean_train_score"][-1] > 0.95
    assert np.all(np.abs(selector.cv_results_["mean_test_score"] - 0.5) < 0.2)
    assert not selector.path_.size_scores.is_clear
    assert "No size is clearly better than no features" in selector.path_.to_text()
    before = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis())
    assert cross_val_score(before, X[:, selector.path_.columns], y).mean() > 0.9  # what a leak does


def test_sizes_worse_than_no_features_are_warned_of_and_said_to_be_so():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 8)), rng.normal(size=60)
    with pytest.warns(NoBetterThanNoneWarning) as caught:
        path = select(X, y, "cv")
    scores = path.size_scores
    none = scores.without_features
    assert none["difference"] < 0
    words = [str(w.message) for w in caught if w.category is NoBetterThanNoneWarning]
    assert words == [str(scores.warning)]
    assert f"{scores.best['validation']:.3f} ± " in words[0]
    assert f"no features {none['validation']:.3f} ± " in words[0]
    assert f", {-none['difference']:.3f} ± " in scores.notes[0]
    assert scores.notes[0].endswith(" above the best.")


def test_a_clear_size_is_not_warned_of(classes):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = SelectorCV(OrthogonalSelector(4)).fit(*classes).path_.size_scores
    assert scores.warning is None
    assert scores.notes[0].endswith(" below the best.")


def test_rows_held_back_change_neither_selection_nor_training_score(classes):
    X, y = classes
    pair = np.arange(0, 120, 2), np.arange(1, 120, 2)
    other = X.copy()
    other[pair[1]] *= -1e3
    cv = [pair, pair]
    found = [SelectorCV(OrthogonalSelector(5), cv=cv).fit(table, y) for table in (X, other)]
    first, second = (one.path_.size_scores.comparison.runs for one in found)
    assert [run.features for run in first] == [run.features for run in second]
    assert found[0].cv_results_["mean_train_score"] == pytest.approx(
        found[1].cv_results_["mean_train_score"]
    )
    assert not np.array_equal(by_size(found[0]), by_size(found[1]))


# A citizen of scikit-learn


def test_fitted_attributes(classes):
    X, y = classes
    frame = pd.DataFrame(X).add_prefix("c")
    selector = SelectorCV(OrthogonalSelector(6)).fit(frame, y)
    k = selector.n_features_
    assert selector.path_.chosen == k == selector.support_.sum() == len(selector.selected_)
    assert len(selector.path_) == 6
    assert selector.selected_.tolist() == selector.path_.columns[:k]
    assert selector.path_.chosen_columns == selector.selected_.tolist()
    names = frame.columns[np.sort(selector.selected_)].tolist()
    assert selector.get_feature_names_out().tolist() == names
    np.testing.assert_array_equal(selector.transform(frame), frame[names])
    assert selector.set_output(transform="pandas").transform(frame).columns.tolist() == names
    assert all(len(column) == 6 for column in selector.cv_results_.values())
    again = pickle.loads(pickle.dumps(selector))
    assert again.path_ == selector.path_
    assert json.loads(json.dumps(selector.path_.to_dict(), allow_nan=False))["chosen"] == k


def test_parameters_nest():
    selector = SelectorCV(OrthogonalSelector(3), Ridge(2.0), rule="best")
    copied = clone(selector)
    assert repr(copied) == (
        "SelectorCV(estimator=Ridge(alpha=2.0), rule='best',\n"
        "           selector=OrthogonalSelector(n_features_to_select=3))"
    )
    copied.set_params(selector__n_features_to_select=5, estimator__alpha=1.0)
    assert copied.selector.n_features_to_select == 5
    assert copied.get_params()["estimator__alpha"] == 1.0
    assert selector.selector.n_features_to_select == 3


def test_fit_leaves_its_parts_alone(classes):
    selector = SelectorCV(OrthogonalSelector(3), LogisticRegression()).fit(*classes)
    assert not hasattr(selector.selector, "path_")
    assert not hasattr(selector.estimator, "coef_")


def test_works_in_a_pipeline_and_a_grid_search(classes):
    X, y = classes
    pipe = make_pipeline(StandardScaler(), SelectorCV(OrthogonalSelector(4)), LogisticRegression())
    grid = GridSearchCV(
        pipe,
        [{"selectorcv__rule": ["best"]}, {"selectorcv__selector__criterion": ["err"]}],
        cv=2,
    )
    assert grid.fit(X, y).best_score_ > 0.6
    assert grid.best_estimator_[1].n_features_ <= 4


def test_folds_are_run_by_as_many_processes_as_were_asked_for(classes, monkeypatch):
    asked = []

    def run_tasks(plan, tasks, n_jobs):
        asked.append(n_jobs)
        return run.run_tasks(plan, tasks, 1)

    monkeypatch.setattr(orthoselect.comparison.sizes, "run_tasks", run_tasks)
    SelectorCV(OrthogonalSelector(1), n_jobs=2).fit(*classes)
    assert asked == [2]


def test_selectors_take_cv_as_their_size(classes):
    X, y = classes
    for made in (OrthogonalSelector, MutualInformationSelector):
        direct = made("cv").fit(X, y)
        around = SelectorCV(made(10)).fit(X, y)
        np.testing.assert_array_equal(direct.selected_, around.selected_)
        assert direct.path_ == around.path_


def test_weights_go_into_selection_model_and_score(classes, rng):
    X, y = classes
    w = rng.integers(0, 4, len(y)).astype(float)
    cv = StratifiedKFold(3)
    found = SelectorCV(OrthogonalSelector(4), LogisticRegression(), cv, "accuracy").fit(X, y, w)
    kept = np.flatnonzero(w > 0)
    for k, (train, validation) in enumerate(cv.split(X[kept], y[kept])):
        train, validation = kept[train], kept[validation]
        for size in range(1, 5):
            chosen = OrthogonalSelector(size).fit(X[train], y[train], w[train]).selected_
            chosen = np.sort(chosen)
            model = LogisticRegression().fit(X[train][:, chosen], y[train], w[train])
            score = model.score(X[validation][:, chosen], y[validation], w[validation])
            assert by_size(found)[size - 1, k] == pytest.approx(score, abs=1e-6)
    usual = SelectorCV(OrthogonalSelector(4)).fit(X, y, w)
    assert usual.path_.size_scores.comparison.setting.estimator == "logistic"


def test_weights_and_groups_are_routed(classes):
    X, y = classes
    groups = np.arange(len(y)) % 10
    with sklearn.config_context(enable_metadata_routing=True):
        selector = SelectorCV(OrthogonalSelector(2), cv=GroupKFold(5))
        selector.set_fit_request(groups=True, sample_weight=True)
        pipe = make_pipeline(selector, LogisticRegression().set_fit_request(sample_weight=False))
        pipe.fit(X, y, groups=groups, sample_weight=groups + 1)
    direct = SelectorCV(OrthogonalSelector(2), cv=GroupKFold(5))
    direct.fit(X, y, sample_weight=groups + 1, groups=groups)
    np.testing.assert_array_equal(by_size(pipe[0]), by_size(direct))


@pytest.mark.parametrize("task", ["classes", "quantity"])
def test_groups_stay_in_one_fold(task, request):
    X, y = request.getfixturevalue(task)
    groups = np.arange(len(y)) // 5
    X = np.column_stack([X, groups * 1000])  # by which rows of the other part can be known
    seen = []

    def scoring(fitted, X, y):
        seen.append(set(X[:, 0].tolist()))
        return 0.5

    selector = SelectorCV(OrthogonalSelector(1, include=[X.shape[1] - 1]), scoring=scoring, cv=3)
    plain = make_pipeline(
        DecisionTreeClassifier() if task == "classes" else DecisionTreeRegressor()
    )
    selector.set_params(estimator=plain).fit(X, y, groups=groups)
    for train, validation in zip(seen[::4], seen[1::4]):
        assert not train & validation


# Tables


@pytest.fixture
def mixed(rng):
    n = 150
    y = rng.integers(0, 2, n)
    numbers = rng.normal(size=n) + y
    return {
        "size": numbers,
        "color": np.where(rng.random(n) < 0.3 + 0.4 * y, "red", "blue"),
        "noise": rng.normal(size=n),
        "left": rng.normal(size=n),
        "right": rng.normal(size=n),
        "y": np.where(y == 1, "yes", "no"),
    }


def test_any_frame_gives_the_same(mixed):
    frames = [pd.DataFrame(mixed), pl.DataFrame(mixed), pa.table(mixed)]
    paths = [select(frame, "y", "cv", groups={"pair": ["left", "right"]}) for frame in frames]
    assert paths[0] == paths[1] == paths[2]
    assert set(paths[0].names[:2]) == {"size", "color"}
    assert len(paths[0]) == 4
    fitted = SelectorCV(OrthogonalSelector(4, groups={"pair": [3, 4]})).fit(
        pd.DataFrame(mixed).drop(columns="y"), mixed["y"]
    )
    assert fitted.n_features_ == paths[0].chosen


def test_files_give_the_same(mixed, tmp_path):
    frame = pd.DataFrame(mixed)
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert select(tmp_path / "t.csv", "y", "cv") == select(frame, "y", "cv")
    fitted = SelectorCV().fit(tmp_path / "t.csv", "y")
    assert fitted.path_.names == select(frame, "y", "cv").names


def test_sparse_and_dense_give_the_same(classes):
    X, y = classes
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense, sparse = (SelectorCV(OrthogonalSelector(4)).fit(A, y) for A in (X, sp.csr_array(X)))
    assert dense.path_.names == sparse.path_.names
    np.testing.assert_allclose(by_size(dense), by_size(sparse), atol=1e-9)


@pytest.mark.parametrize("missing", ["indicator", "mean", "drop_rows"])
def test_gaps_are_filled_from_the_training_rows(mixed, missing):
    frame = pd.DataFrame(mixed)
    frame.loc[::7, "size"] = np.nan
    frame.loc[3, "y"] = None
    with pytest.raises(InputError, match="`size`"):
        select(frame, "y", "cv")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows are dropped
        path = select(frame, "y", "cv", missing=missing)
        compared = compare(frame, "y", ["socc"], sizes=5, missing=missing)
    found = [point["validation"] for point in path.size_scores.points]
    assert found == [point["validation"] for point in compared.curves]


def test_dates_count_by_their_parts(rng):
    days = pd.date_range("2020-01-01", periods=200)
    frame = pd.DataFrame({"day": days, "a": rng.normal(size=200), "y": days.month + 0.5})
    path = select(frame, "y", "cv", dates="parts", include=["a"])
    assert path.names == ["a", "day"]
    assert path.chosen == 2
    assert path.size_scores.by_size[2]["validation"] > 0.9


def test_included_features_are_in_every_size(classes):
    X, y = classes
    path = select(X, y, "cv", include=[0, 1], exclude=[3], largest=5)
    assert path.features[:2] == [0, 1]
    assert [point["n_features"] for point in path.size_scores.points] == [2, 3, 4, 5]
    runs = [run for run in path.size_scores.comparison.runs if run.method == "socc"]
    assert all(run.features[:2] == ("x0", "x1") and "x3" not in run.features for run in runs)
    assert path.to_csv().splitlines()[1].endswith(",,")  # one feature has no score


def test_several_responses_go_as_far_as_the_estimator_can(rng):
    X = rng.normal(size=(80, 6))
    Y = X[:, :2] + 0.3 * rng.normal(size=(80, 2))
    assert set(SelectorCV().fit(X, Y).selected_) == {0, 1}
    with pytest.raises(InputError, match=r"SVR could not: .* Choose another one"):
        SelectorCV(estimator=SVR()).fit(X, Y)
    with pytest.raises(InputError, match="takes one column of classes"):
        SelectorCV().fit(X, np.where(Y > 0, "high", "low"))


@pytest.mark.parametrize("method", ["lasso", "shapley", "mim", "socc_discretized", "mser"])
def test_any_method_has_a_cross_validated_size(classes, method):
    X, y = classes
    path = select(X, y, "cv", method, largest=3)
    assert path[:] == select(X, y, 3, method)[:]
    assert 1 <= path.chosen <= 3
    assert path.method == method


def test_folds_may_select_fewer_features_than_all_rows(rng):
    y = np.tile([0, 1], 20)
    X = np.column_stack([y + rng.normal(size=40), np.zeros(40)])
    X[3, 1] = 1.0
    cv = [(np.arange(10, 40), np.arange(10)), (np.arange(30), np.arange(30, 40))]
    with pytest.warns(SearchStoppedWarning, match="1 of 2 folds"):
        selector = SelectorCV(OrthogonalSelector(2), cv=cv).fit(X, y)
    assert np.isnan(by_size(selector)).tolist() == [[False, False], [True, False]]
    assert selector.n_features_ == 1


# What is shown


def test_the_path_says_what_was_chosen_and_what_is_optimistic(classes):
    path = select(*classes, "cv", largest=6)
    text = path.to_text()
    assert text.startswith(f"{path.chosen} of 12 features by socc\n")
    assert text.splitlines()[1].endswith("accuracy ± SE")
    assert text.splitlines()[path.chosen + 1].endswith("chosen")
    assert "the best of 6 sizes, so optimistic" in text
    assert "± is one standard error, s √(1/5 + 1/4)" in text
    assert path.size_scores.sentence in path._repr_html_().replace("&#x27;", "'")
    assert path.to_csv().startswith("step,feature,name,gain,total,chosen,score,score_se\n")
    assert path.to_frame()["score"].tolist() == path.size_scores.to_frame()["validation"].tolist()
    assert repr(path.size_scores).startswith(f"SizeScores: {path.size_scores.sentence}")
    one = select(*classes, "cv", largest=1)
    assert "optimistic" not in one.to_text()


def test_the_error_of_other_splits_says_what_it_is(classes):
    X, y = classes
    cv = ShuffleSplit(7, test_size=0.25, random_state=0)
    scores = SelectorCV(OrthogonalSelector(2), cv=cv).fit(X, y).path_.size_scores
    assert "s √(1/7 + 0.333)" in scores.notes[-1]
    values = scores.scores(1)
    expected = np.std(values, ddof=1) * np.sqrt(1 / 7 + 30 / 90)
    assert scores.by_size[1]["validation_se"] == pytest.approx(expected)


def test_plot_marks_the_chosen_and_the_best_size(classes):
    from matplotlib.figure import Figure

    selector = SelectorCV(OrthogonalSelector(6)).fit(*classes)
    ax = selector.plot(Figure().subplots())
    words = [text.get_text() for text in ax.texts]
    best = selector.path_.size_scores.best["n_features"]
    if best == selector.n_features_:
        assert "chosen, the best" in words
    else:
        assert {"chosen", "best"} <= set(words)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == list("123456")


def test_report_is_about_the_chosen_features(classes, tmp_path):
    X, y = classes
    path = select(X, y, "cv", largest=6)
    assert path.chosen < 6
    path.report(tmp_path / "r.json")
    summary = json.loads((tmp_path / "r.json").read_text())
    assert len(summary["steps"]) == 6
    assert summary["chosen"] == summary["size_scores"]["chosen"] == path.chosen
    taken = [f["name"] for f in summary["features"] if f["step"] is not None]
    assert set(taken) == set(path.names[: path.chosen])
    assert path.size_scores.sentence in summary["sentence"]
    assert "'cv', 'socc', largest=6" in summary["reproduce"]["python"]
    assert f"OrthogonalSelector({path.chosen})" in summary["recipes"]["pipeline"]
    page = path.report(tmp_path / "r.html").read_text()
    assert "How many" in page
    assert path.size_scores.sentence in page


def test_options_of_a_path_are_those_that_were_given(classes):
    X, y = classes
    path = select(X, y, "cv", rule="best", cv=4, estimator="svm", scoring="accuracy", largest=2)
    known = {k: path.options[k] for k in ("n_features_to_select", "rule", "cv", "estimator")}
    assert known == {"n_features_to_select": "cv", "rule": "best", "cv": 4, "estimator": "svm"}
    assert "random_state" not in path.options
    setting = path.size_scores.comparison.setting
    assert (setting.folds, setting.estimator, setting.scoring) == (4, "svm", "accuracy")


# Bad input


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"cv": 1}, r"`cv` should be a whole number of at least 2; got 1"),
        ({"cv": 0.5}, r"`cv` should be a number of folds, a splitter .*; got 0.5"),
        ({"cv": "five"}, r"`cv` should be a number of folds, .*; got 'five'"),
        ({"cv": [([0, 1], [1, 2])] * 2}, r"`cv` should keep validation rows out .* row 1 is"),
        ({"cv": [([0, 1, 80], [200])] * 2}, r"rows by their places, whole numbers from 0 to 119"),
        ({"cv": [3, 4]}, r"`cv` should be a number of folds, .*pairs of arrays"),
        ({"cv": KFold(3)}, r"rows of every class to train on; in a fold there is none of class"),
        ({"cv": KFold(500)}, r"`cv` should cut 120 rows into folds; KFold could not"),
        ({"cv": 40}, r"class 2 has 35"),
        ({"rule": "two_se"}, r"`rule` should be one of 'one_se', 'best'; got 'two_se'"),
        ({"estimator": Ridge()}, r"`estimator` should be made for classes"),
        ({"estimator": "ridge"}, r"`estimator='ridge'` is for numbers"),
        ({"estimator": "tree"}, r"`estimator` should be one of"),
        ({"estimator": DecisionTreeClassifier}, r"an object, not its class"),
        ({"scoring": "r2"}, r"`scoring='r2'` is for numbers"),
        ({"scoring": "nice"}, r"`scoring` should be one of"),
        ({"scoring": lambda model, X, y: float("nan")}, r"should give a finite number"),
        ({"selector": LinearRegression()}, r"`selector` should be an OrthogonalSelector or"),
        ({"selector": OrthogonalSelector}, r"`selector` should be .*an object, not its class"),
        ({"selector": "socc"}, r"`selector` should be .*; got 'socc'.*`select\(data"),
        ({"selector": SelectorCV()}, r"`selector` should be an OrthogonalSelector or"),
        ({"selector": OrthogonalSelector("cv")}, r"the largest size to try .*; got 'cv'"),
        ({"selector": OrthogonalSelector(0)}, r"the largest size to try .*; got 0"),
        ({"selector": OrthogonalSelector("auto")}, r"'auto' and 'cv' both choose the size"),
        ({"selector": OrthogonalSelector(3, p_values=True)}, r"`selector` .* no `p_values`"),
        ({"selector": OrthogonalSelector(3, permute_within=[0] * 120)}, r"no `permute_within`"),
        ({"selector": OrthogonalSelector(3, n_permutations=99)}, r"no `n_permutations`, which is"),
        ({"selector": OrthogonalSelector(3, search="swap")}, r"sets of search 'swap' are not"),
        ({"n_jobs": 0}, r"`n_jobs` should be"),
        ({"random_state": "x"}, r"`random_state` should be"),
    ],
)
def test_bad_parameters_are_told(classes, parameters, words):
    with pytest.raises(InputError, match=words):
        SelectorCV(**parameters).fit(*classes)


def test_a_fold_whose_training_rows_are_all_alike_is_named(rng):
    X, y = rng.normal(size=(40, 3)), np.append(np.zeros(30), rng.normal(size=10))
    words = r"in the training rows of fold 2; every row there has 0\. Choose folds"
    with pytest.raises(InputError, match=words):
        SelectorCV(cv=KFold(2)).fit(X, y)


def test_too_many_folds_are_told_by_the_name_that_the_caller_has(rng):
    X, y = rng.normal(size=(9, 3)), rng.normal(size=9)
    with pytest.raises(InputError, match=r"there are 9 rows\. Choose `cv=4`, or pass more rows\."):
        SelectorCV().fit(X, y)
    with pytest.raises(InputError, match=r"Choose `folds=4`, or pass more rows\."):
        compare(X, y, ["socc"], folds=5)
    with pytest.raises(InputError, match=r"there are 3 rows\. Pass more rows\."):
        select(X[:3, :1], y[:3], "cv")
    rare = np.arange(9) < 3
    with pytest.raises(InputError, match=r"class True has 3\. Choose `cv=3`, merge"):
        select(X, rare, "cv")


def test_weights_need_a_model_and_a_score_that_take_them(classes):
    X, y = classes
    w = np.arange(len(y)) % 3 + 1.0
    with pytest.raises(InputError, match=r"should take row weights.*KNeighborsClassifier does not"):
        SelectorCV(estimator=KNeighborsClassifier()).fit(X, y, w)
    with pytest.raises(InputError, match=r"should take row weights.*lda does not"):
        SelectorCV(estimator="lda").fit(X, y, w)
    with pytest.raises(InputError, match="`scoring` should take row weights"):
        SelectorCV(scoring=lambda model, X, y: 0.5).fit(X, y, w)


def test_groups_of_rows_fit_the_rows(classes):
    X, y = classes
    with pytest.raises(InputError, match=r"120 labels, one for each row; got .*\(3,\)"):
        SelectorCV().fit(X, y, groups=[1, 2, 3])
    X = X.copy()
    X[0, 0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(InputError, match=r"rows that are there; 1 were dropped"):
            SelectorCV(OrthogonalSelector(2, missing="drop_rows")).fit(X, y, groups=y)


def test_rows_that_are_not_in_memory_are_refused(classes):
    X, y = classes
    frame = pd.DataFrame(X).add_prefix("c").assign(y=y)
    blocks = RowBlocks(lambda: iter([frame[:60], frame[60:]]))
    with pytest.raises(InputError, match=r"should have a table in memory.*Pass an array"):
        select(blocks, "y", "cv")
    statistics = GramStatistics().update(X, y)
    with pytest.raises(InputError, match=r"should have the rows of a table.*Pass the table"):
        select(statistics, None, "cv")
    for refused in (statistics.select, lambda size: OrthogonalSelector(size).partial_fit(X, y)):
        with pytest.raises(InputError, match=r"should have the rows of a table.*Pass the table"):
            refused("cv")


def test_options_of_a_cross_validation_are_for_it_only(classes):
    with pytest.raises(InputError, match="`n_features_to_select='cv'`"):
        select(*classes, 3, rule="best")
    with pytest.raises(InputError, match="has no option `rul`"):
        select(*classes, "cv", rul="best")


def test_interruption_keeps_the_path(classes, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(orthoselect.comparison.sizes, "run_tasks", interrupted)
    with pytest.raises(SelectionInterrupted) as caught:
        select(*classes, "cv")
    assert caught.value.path.names == select(*classes, 10).names
    assert caught.value.path.stopped == "interrupted."


def test_constant_features_leave_nothing_to_choose_from():
    y = np.random.default_rng(0).normal(size=30)
    with pytest.warns(SearchStoppedWarning, match="every feature is constant"):
        path = select(np.ones((30, 3)), y, "cv", task="regression")
    assert len(path) == path.chosen == 0
    assert path.size_scores is None


def test_a_constant_response_is_refused_before_any_size_is_tried():
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(ConstantTargetError, match=r"every row has 1\."):
        select(X, np.ones(30), "cv", task="regression")
