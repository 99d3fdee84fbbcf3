"""The selectors as scikit-learn citizens."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from orthoselect import (
    MeanStdDiscretizer,
    MutualInformationSelector,
    OrthogonalSelector,
    RowBlocks,
    select,
)
from orthoselect.errors import InputError
from orthoselect.read import FileBlocks, NpyBlocks, read_table


@pytest.mark.filterwarnings("ignore::orthoselect.errors.SelectionWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@parametrize_with_checks(
    [
        OrthogonalSelector(),
        OrthogonalSelector(2),
        OrthogonalSelector(2, criterion="obcc"),
        OrthogonalSelector(2, criterion="unsupervised"),
    ]
)
def test_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True, as_frame=True)


def test_fitted_attributes(cancer):
    X, y = cancer
    selector = OrthogonalSelector(4).fit(X, y)
    assert selector.selected_.shape == (4,)
    assert selector.support_.sum() == 4
    assert selector.support_[selector.selected_].all()
    assert selector.n_features_in_ == 30
    assert selector.feature_names_in_.tolist() == X.columns.tolist()
    assert selector.path_.names == X.columns[selector.selected_].tolist()
    assert selector.get_support(indices=True).tolist() == sorted(selector.selected_)
    assert set(selector.get_feature_names_out()) == set(selector.path_.names)


def test_transform_keeps_the_selected_columns_in_table_order(cancer):
    X, y = cancer
    selector = OrthogonalSelector(4).fit(X, y)
    expected = X.to_numpy()[:, sorted(selector.selected_)]
    np.testing.assert_array_equal(selector.transform(X), expected)
    np.testing.assert_array_equal(
        selector.inverse_transform(expected)[:, selector.support_], expected
    )


def test_names_are_absent_for_arrays(cancer):
    selector = OrthogonalSelector(2).fit(cancer[0].to_numpy(), cancer[1])
    assert not hasattr(selector, "feature_names_in_")
    assert selector.path_.names == [f"x{i}" for i in selector.selected_]


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_set_output(cancer, kind):
    X, y = cancer
    selector = OrthogonalSelector(3).set_output(transform=kind).fit(X, y)
    out = selector.transform(X)
    assert isinstance(out, pd.DataFrame if kind == "pandas" else pl.DataFrame)
    assert list(out.columns) == selector.get_feature_names_out().tolist()


def test_transform_of_polars_and_sparse(cancer):
    X, y = cancer
    selector = OrthogonalSelector(3).fit(pl.from_pandas(X), y.to_numpy())
    assert selector.transform(pl.from_pandas(X)).shape == (569, 3)
    assert selector.feature_names_in_.tolist() == X.columns.tolist()
    sparse = OrthogonalSelector(3).fit(sp.csr_array(X.to_numpy()), y)
    assert sp.issparse(sparse.transform(sp.csr_array(X.to_numpy())))
    assert sparse.selected_.tolist() == selector.selected_.tolist()


def test_works_in_a_pipeline_and_grid_search(cancer):
    X, y = cancer
    pipe = make_pipeline(StandardScaler(), OrthogonalSelector(5), LinearDiscriminantAnalysis())
    grid = GridSearchCV(pipe, {"orthogonalselector__n_features_to_select": [1, 3, 0.5]}, cv=3)
    grid.fit(X, y)
    assert grid.best_score_ > 0.93
    assert cross_val_score(pipe, X, y, cv=3).min() > 0.9


def test_sample_weight_is_routed(cancer):
    X, y = cancer
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        selector = OrthogonalSelector(4).set_fit_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        pipe = make_pipeline(StandardScaler(), selector, model)
        pipe[0].set_fit_request(sample_weight=False)
        pipe.fit(X, y, sample_weight=weights)
    direct = OrthogonalSelector(4).fit(StandardScaler().fit_transform(X), y, weights)
    assert pipe[1].path_.features == direct.path_.features
    assert pipe[1].path_.gains == pytest.approx(direct.path_.gains, abs=1e-12)
    assert direct.path_ != OrthogonalSelector(4).fit(X, y).path_


def test_clone_and_parameters():
    selector = OrthogonalSelector(0.3, groups={"a": [0]}, include=[1], exclude=[2])
    assert clone(selector).get_params() == selector.get_params()
    assert clone(selector).set_params(n_features_to_select=2).n_features_to_select == 2


def test_pickle_does_not_drag_the_table_along():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 100)), rng.integers(0, 2, 2000)
    selector = OrthogonalSelector(5).fit(X, y)
    stored = pickle.dumps(selector)
    assert len(stored) < 5_000
    again = pickle.loads(stored)
    assert again.path_ == selector.path_
    np.testing.assert_array_equal(again.transform(X), selector.transform(X))


def test_repr_shows_what_differs_from_the_default():
    assert repr(OrthogonalSelector(3, task="regression")) == (
        "OrthogonalSelector(n_features_to_select=3, task='regression')"
    )


def test_transform_before_fit_says_so():
    with pytest.raises(NotFittedError):
        OrthogonalSelector().transform(np.eye(3))


def test_failed_fit_keeps_the_earlier_one(cancer):
    X, y = cancer
    selector = OrthogonalSelector(3).fit(X, y)
    before = selector.path_
    with pytest.raises(ValueError, match="rows"):
        selector.fit(X, y[:-1])
    assert selector.path_ is before


def test_refit_on_fewer_features():
    X, y = load_iris(return_X_y=True)
    selector = OrthogonalSelector(2).fit(X, y)
    selector.fit(X[:, :3], y)
    assert selector.n_features_in_ == 3
    assert selector.support_.shape == (3,)


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_excluded_columns_may_hold_anything_in_transform_too(output):
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.copy()
    X.iloc[3, 1] = np.nan
    selector = OrthogonalSelector(2, exclude=[1]).set_output(transform=output)
    assert selector.fit_transform(X, y).shape == (150, 2)


CRITERIA = ["mim", "mrmr_difference", "mrmr_quotient", "jmi", "cmim", "cife", "icap", "disr"]


@pytest.mark.filterwarnings("ignore::orthoselect.errors.SelectionWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@parametrize_with_checks(
    [MutualInformationSelector(), MutualInformationSelector(2, criterion="disr", bins=4)]
)
def test_information_selector_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_information_selector_stores_what_select_returns(cancer, criterion):
    X, y = cancer
    selector = MutualInformationSelector(4, criterion=criterion).fit(X, y)
    assert selector.path_ == select(X, y, 4, criterion)
    assert selector.selected_.tolist() == selector.path_.features
    assert selector.support_[selector.selected_].all()
    assert selector.support_.sum() == 4
    assert selector.feature_names_in_.tolist() == X.columns.tolist()
    np.testing.assert_array_equal(selector.transform(X), X.to_numpy()[:, selector.support_])


@pytest.mark.parametrize(
    ("own", "criterion"), [({"constant": 0.5}, "mrmr_quotient"), ({"capped": False}, "cmim")]
)
def test_information_selector_refuses_options_of_other_criteria(own, criterion):
    X = np.random.default_rng(0).integers(0, 2, (60, 6))
    y = X[:, 0] + (X[:, 4] ^ X[:, 5])
    path = MutualInformationSelector(4, criterion=criterion, **own).fit(X, y).path_
    assert path == select(X, y, 4, criterion, **own)
    assert path != select(X, y, 4, criterion)
    with pytest.raises(InputError, match=rf"'jmi' has no option `{next(iter(own))}`"):
        MutualInformationSelector(4, **own).fit(X, y)


def test_information_selector_passes_all_parameters_on():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (300, 6))
    y = (X[:, 0] % 2) + 2 * ((X[:, 1] > 4) ^ (X[:, 2] > 4))
    weights = rng.integers(0, 3, 300)
    options = {
        "bins": 2,
        "categorical_features": [0],
        "groups": {"pair": [1, 2]},
        "include": [4],
        "exclude": [5],
    }
    selector = MutualInformationSelector(4, criterion="mim", **options).fit(X, y, weights)
    expected = select(X, y, 4, "mim", sample_weight=weights, **options)
    assert selector.path_ == expected
    for name in options:  # each of them matters
        rest = {key: value for key, value in options.items() if key != name}
        assert select(X, y, 4, "mim", sample_weight=weights, **rest) != expected, name
    assert select(X, y, 4, "mim", **options) != expected


@pytest.mark.parametrize("criterion", ["socc", "JMI", None])
def test_information_selector_names_the_criteria(cancer, criterion):
    with pytest.raises(InputError, match=r"`criterion` should be one of 'mim', .*'disr'; got"):
        MutualInformationSelector(criterion=criterion).fit(*cancer)


def test_information_selector_works_in_a_grid_search(cancer):
    X, y = cancer
    pipe = make_pipeline(MutualInformationSelector(5), LinearDiscriminantAnalysis())
    name = "mutualinformationselector"
    grid = GridSearchCV(
        pipe,
        {
            f"{name}__criterion": ["cmim", "jmi"],
            f"{name}__bins": [MeanStdDiscretizer(4), 10],
        },
        cv=3,
    )
    assert grid.fit(X, y).best_score_ > 0.9


def test_information_selector_clones_and_pickles(cancer):
    X, y = cancer
    selector = MutualInformationSelector(3, bins=MeanStdDiscretizer(), criterion="cmim")
    assert repr(clone(selector)) == repr(selector)
    assert clone(selector).get_params()["bins__n_bins"] == 3
    stored = pickle.dumps(selector.fit(X, y))
    assert len(stored) < 5_000
    assert pickle.loads(stored).path_ == selector.path_


def test_information_selector_reads_frames_of_every_library(cancer, library):
    X, y = cancer
    frame = library.frame({name: X[name].to_numpy() for name in X.columns[:8]})
    selector = MutualInformationSelector(3).fit(frame, library.column(y.to_numpy()))
    assert selector.path_ == select(X.iloc[:, :8], y, 3, "jmi")


def test_information_selector_takes_labels_as_they_are(library):
    rng = np.random.default_rng(0)
    colors = np.array(["red", "green", "blue"])[rng.integers(0, 3, 90)]
    y = colors == "red"
    frame = library.frame({"noise": rng.normal(size=90), "color": library.labels(colors)})
    path = MutualInformationSelector(1).fit(frame, library.column(y)).path_
    assert path.names == ["color"]
    assert path.gains[0] == pytest.approx(
        -(y.mean() * np.log(y.mean())) - (~y).mean() * np.log((~y).mean())
    )


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_information_selector_sets_output(cancer, kind):
    X, y = cancer
    selector = MutualInformationSelector(3).set_output(transform=kind).fit(X, y)
    assert list(selector.transform(X).columns) == selector.get_feature_names_out().tolist()


def test_information_selector_refuses_a_quantity(cancer):
    with pytest.raises(InputError, match="Cut them into classes"):
        MutualInformationSelector().fit(cancer[0].iloc[:, 1:], cancer[0].iloc[:, 0])


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 5)), columns=list("abcde"))
    X["kind"] = rng.choice(["u", "v"], 300)
    y = np.where(X["a"] + X["c"] + (X["kind"] == "u") + rng.normal(size=300) > 0, "yes", "no")
    return X, y, rng.integers(1, 4, 300)


def sources(people, folder):
    """Return a table whose first columns are the response and the weights, in many forms."""
    X, y, w = people
    frame = X.copy()
    frame.insert(0, "y", y)
    frame.insert(1, "w", w)
    frame.to_parquet(folder / "t.parquet", index=False)
    return {
        "path": folder / "t.parquet",
        "folder": str(folder),
        "list": [folder / "t.parquet"],
        "read": read_table(folder, memory=2000),
        "files": FileBlocks(folder, block_rows=41),
        "blocks": RowBlocks(lambda: (frame[at : at + 70] for at in range(0, 300, 70))),
    }


@pytest.mark.parametrize("kind", ["path", "folder", "list", "read", "files", "blocks"])
@pytest.mark.parametrize("selector", [OrthogonalSelector(3), MutualInformationSelector(3)])
def test_files_and_blocks_are_fitted_as_their_table(people, tmp_path, selector, kind):
    X, y, w = people
    expected = clone(selector).fit(X, y, w)
    found = clone(selector).fit(sources(people, tmp_path)[kind], "y", "w")
    assert found.selected_.tolist() == expected.selected_.tolist()
    assert found.path_.gains == pytest.approx(expected.path_.gains, abs=1e-9)
    assert found.path_.names == expected.path_.names
    assert found.n_features_in_ == 6
    assert found.feature_names_in_.tolist() == X.columns.tolist()
    assert found.support_.tolist() == expected.support_.tolist()
    assert found.transform(X).tolist() == expected.transform(X).tolist()
    assert found.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()


def test_a_response_apart_goes_with_a_source_too(people):
    X, y, _ = people
    blocks = RowBlocks(lambda: (X[at : at + 70] for at in range(0, 300, 70)))
    found = OrthogonalSelector(3).fit(blocks, y)
    assert found.selected_.tolist() == OrthogonalSelector(3).fit(X, y).selected_.tolist()
    assert found.feature_names_in_.tolist() == X.columns.tolist()


def test_sources_without_names_give_none(cancer):
    X = cancer[0].to_numpy()[:, :6]
    found = OrthogonalSelector(2).fit(RowBlocks([X[:300], X[300:]]), "x2")
    assert found.n_features_in_ == 5
    assert not hasattr(found, "feature_names_in_")
    assert found.transform(np.delete(X, 2, axis=1)).shape == (len(X), 2)


def test_memory_maps_are_fitted_and_transformed(cancer, tmp_path):
    X, y = (part.to_numpy() for part in cancer)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    expected = OrthogonalSelector(3).fit(X, y)
    for given in (mapped, NpyBlocks(mapped, block_rows=50), tmp_path / "X.npy"):
        found = OrthogonalSelector(3).fit(given, y)
        assert found.selected_.tolist() == expected.selected_.tolist()
        assert not hasattr(found, "feature_names_in_")
        assert (found.transform(mapped) == expected.transform(X)).all()


def test_what_cannot_be_transformed_says_how(people, tmp_path):
    given = sources(people, tmp_path)
    fitted = OrthogonalSelector(2).fit(given["path"], "y")
    for kind in ("path", "folder", "read", "files", "blocks"):
        with pytest.raises(InputError, match="`transform` should have a table in memory"):
            fitted.transform(given[kind])
    with pytest.raises(InputError, match="should name columns of the table; there is no `z`"):
        OrthogonalSelector(2).fit(given["path"], "z")
    with pytest.raises(InputError, match="should come with the name of its target"):
        OrthogonalSelector(2).fit(given["path"], None)
    with pytest.raises(InputError, match="one role; `y` is the target"):
        OrthogonalSelector(2).fit(given["path"], "y", "y")


# partial_fit


def streamed(selector, X, y, size=40, **options):
    for start in range(0, len(X), size):
        rows = slice(start, start + size)
        selector.partial_fit(X[rows], y[rows], **options)
    return selector


@pytest.mark.parametrize("criterion", ["socc", "obcc", "err", "mser"])
@pytest.mark.parametrize("size", [1, 40, 1000])
def test_partial_fit_ends_where_fit_does(cancer, criterion, size):
    X, y = cancer[0][:120], cancer[1][:120]
    whole = OrthogonalSelector(4, criterion=criterion).fit(X, y)
    selector = streamed(OrthogonalSelector(4, criterion=criterion), X, y, size)
    assert selector.selected_.tolist() == whole.selected_.tolist()
    assert selector.path_.gains == pytest.approx(whole.path_.gains, rel=1e-9)
    assert selector.path_.names == whole.path_.names
    assert selector.feature_names_in_.tolist() == X.columns.tolist()
    assert selector.n_features_in_ == 30
    assert selector.statistics_.n_rows == 120
    np.testing.assert_array_equal(selector.transform(X), whole.transform(X))


def test_partial_fit_takes_what_fit_takes(cancer):
    X, y = cancer[0].assign(kind=np.where(cancer[0]["mean area"] > 600, "big", "small")), cancer[1]
    X["unknown"] = np.nan
    options = {
        "include": ["kind"],
        "exclude": ["unknown", "worst area"],
        "groups": {"worst": ["worst radius", "worst texture"]},
        "response_encoding": "ordinal",
    }
    weights = np.random.default_rng(0).random(len(X))
    whole = OrthogonalSelector(4, **options).fit(X, y, weights)
    selector = OrthogonalSelector(4, **options)
    for rows in (slice(0, 50), slice(50, None)):
        selector.partial_fit(X[rows], y[rows], sample_weight=weights[rows])
    assert selector.path_.names == whole.path_.names
    assert selector.path_.gains == pytest.approx(whole.path_.gains, abs=1e-9)
    assert selector.selected_.tolist() == whole.selected_.tolist()


def test_partial_fit_waits_for_something_to_select_by():
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.repeat(["a", "b", "c"], 10)
    selector = OrthogonalSelector(1)
    for rows in (slice(0, 1), slice(1, 10)):
        selector.partial_fit(X[rows], y[rows])
        assert selector.n_features_in_ == 3
        assert not hasattr(selector, "support_")
        with pytest.raises(NotFittedError, match=r"`partial_fit`.*response `y` \(1 class\)"):
            selector.transform(X)
    selector.partial_fit(X[10:], y[10:])
    assert selector.path_.features == OrthogonalSelector(1).fit(X, y).path_.features
    assert selector.statistics_.classes == {"y": ("a", "b", "c")}


def test_partial_fit_with_given_classes(cancer):
    X, y = cancer[0].to_numpy(), cancer[1].to_numpy()
    selector = streamed(OrthogonalSelector(2), X, y, 200, classes=np.unique(y))
    assert selector.selected_.tolist() == OrthogonalSelector(2).fit(X, y).selected_.tolist()
    with pytest.raises(InputError, match="got `7`"):
        selector.partial_fit(X[:3], np.full(3, 7))
    with pytest.raises(InputError, match="stay the same; they were"):
        selector.partial_fit(X[:3], y[:3], classes=[0, 1, 2])
    with pytest.raises(InputError, match="given in the first call"):
        streamed(OrthogonalSelector(2), X, y).partial_fit(X, y, classes=[0, 1])


def test_partial_fit_follows_parameters_that_may_change(cancer):
    X, y = cancer[0].to_numpy(), cancer[1].to_numpy()
    selector = OrthogonalSelector(2).partial_fit(X[:100], y[:100])
    selector.set_params(n_features_to_select=4, include=[3]).partial_fit(X[100:], y[100:])
    assert (
        selector.selected_.tolist()
        == OrthogonalSelector(4, include=[3]).fit(X, y).selected_.tolist()
    )
    with pytest.raises(InputError, match="`exclude` should stay the same"):
        selector.set_params(exclude=[0]).partial_fit(X, y)


def test_partial_fit_that_fails_takes_nothing_in(cancer):
    X, y = cancer[0].to_numpy(), cancer[1].to_numpy()
    selector = OrthogonalSelector(2).partial_fit(X[:100], y[:100])
    with pytest.raises(InputError, match="positions, from 0 to 29"):
        selector.set_params(include=[99]).partial_fit(X[100:], y[100:])
    assert selector.statistics_.n_rows == 100
    assert selector.support_.sum() == 2


def test_fit_starts_anew(cancer):
    X, y = cancer[0].to_numpy(), cancer[1].to_numpy()
    selector = OrthogonalSelector(2).partial_fit(X[:100], y[:100]).fit(X[:, :5], y)
    assert not hasattr(selector, "statistics_")
    assert selector.partial_fit(X[:50], y[:50]).statistics_.n_rows == 50


def test_streaming_selectors_pickle_and_clone(cancer):
    X, y = cancer[0].to_numpy(), cancer[1].to_numpy()
    selector = OrthogonalSelector(3).partial_fit(X[:300], y[:300])
    again = pickle.loads(pickle.dumps(selector)).partial_fit(X[300:], y[300:])
    assert again.selected_.tolist() == OrthogonalSelector(3).fit(X, y).selected_.tolist()
    assert selector.statistics_.n_rows == 300
    assert not hasattr(clone(selector), "statistics_")
