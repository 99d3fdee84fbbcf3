"""Discriminant directions, and fitted against observed."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression

from orthoselect import select
from orthoselect.show.pictures import MOST_POINTS, sample_rows
from orthoselect.show.summary import summarize


def separation(X, y, t, **options):
    path = select(X, y, t, **options)
    summary = summarize(path, X, y, sample_weight=options.get("sample_weight"))
    return summary["separation"], path


@pytest.fixture
def classes(rng):
    y = np.repeat([0, 1, 2], [40, 50, 60])
    X = rng.normal(size=(150, 4)) + np.array([[0, 0, 0, 0], [2, 1, 0, 0], [0, 2, 1, 0]])[y]
    return X, y


def test_directions_are_those_of_discriminant_analysis(classes):
    X, y = classes
    shown, path = separation(X, y, 3)
    scores = np.array([point[:2] for point in shown["points"]], dtype=float)
    peer = LinearDiscriminantAnalysis().fit(X[:, path.features], y).transform(X[:, path.features])
    for axis in range(2):
        assert abs(np.corrcoef(scores[:, axis], peer[:, axis])[0, 1]) == pytest.approx(1, abs=1e-8)
    assert [point[2] for point in shown["points"]] == y.tolist()
    assert shown["shown"] == shown["rows"] == 150


def test_scores_have_mean_zero_and_standard_deviation_one(classes):
    shown, _ = separation(*classes, 3)
    scores = np.array([point[:2] for point in shown["points"]], dtype=float)
    assert scores.mean(axis=0) == pytest.approx([0, 0], abs=1e-5)
    assert scores.std(axis=0) == pytest.approx([1, 1], abs=1e-5)


def test_loadings_are_correlations_with_the_scores(classes):
    X, y = classes
    shown, path = separation(X, y, 3)
    scores = np.array([point[:2] for point in shown["points"]], dtype=float)
    loadings = np.array([entry["values"] for entry in shown["loadings"]])
    for s, f in enumerate(path.features):
        for axis in range(2):
            r = np.corrcoef(X[:, f], scores[:, axis])[0, 1]
            assert loadings[s, axis] == pytest.approx(r, abs=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_an_axis_points_to_where_its_foremost_feature_grows(classes, seed):
    X, y = classes
    signs = np.random.default_rng(seed).choice([-1, 1], 4)
    shown, _ = separation(X * signs, y, 3)
    loadings = np.array([entry["values"] for entry in shown["loadings"]])
    assert (loadings[np.abs(loadings).argmax(axis=0), [0, 1]] > 0).all()


def test_the_share_of_the_classes_in_a_score_is_the_squared_canonical_correlation(classes):
    X, y = classes
    shown, _ = separation(X, y, 2)
    for axis, told in enumerate(shown["axes"]):
        score = np.array([point[axis] for point in shown["points"]])
        means = np.array([score[y == k].mean() for k in range(3)])[y]
        assert means.var() == pytest.approx(told["canonical_correlation"] ** 2, abs=1e-5)


@pytest.mark.parametrize(("n_classes", "t", "n_axes"), [(2, 3, 1), (3, 1, 1), (3, 2, 2), (9, 5, 2)])
def test_there_are_as_many_axes_as_directions_but_two_at_most(rng, n_classes, t, n_axes):
    X, y = rng.normal(size=(90, 5)), np.arange(90) % n_classes
    X[:, 0] += y
    shown, _ = separation(X, y, t)
    assert len(shown["axes"]) == n_axes
    assert all((point[1] is None) == (n_axes == 1) for point in shown["points"])
    assert len(shown["classes"]) == n_classes


def test_blocks_have_a_part_in_the_directions(rng):
    kind = rng.integers(0, 4, 200)
    y = (kind >= 2).astype(int)
    X = np.column_stack([rng.normal(size=200), kind])
    shown, _ = separation(X, y, 1, categorical_features=[1])
    assert shown["axes"][0]["canonical_correlation"] == pytest.approx(1.0)
    assert shown["loadings"] == [{"name": "x1", "values": [pytest.approx(1.0)]}]
    assert len({point[0] for point in shown["points"]}) == 2


def test_whole_weights_count_as_copies_of_rows(classes, rng):
    X, y = classes
    w = rng.integers(0, 3, 150)
    weighted, _ = separation(X, y, 2, sample_weight=w)
    copies, _ = separation(np.repeat(X, w, axis=0), np.repeat(y, w), 2)
    assert weighted["rows"] == (w > 0).sum()
    points = np.array(weighted["points"])
    assert np.repeat(points, w[w > 0], axis=0) == pytest.approx(
        np.array(copies["points"]), abs=1e-4
    )


def test_many_rows_are_sampled_and_small_classes_seen(rng):
    y = np.repeat([0, 1], [19_980, 20])
    X = rng.normal(size=(20_000, 3))
    X[:, 0] += y
    shown, _ = separation(X, y, 2)
    codes = [point[2] for point in shown["points"]]
    assert shown["shown"] == len(codes) == MOST_POINTS
    assert shown["rows"] == 20_000
    assert codes.count(1) == 20


def test_samples_are_ordered_rows_and_always_the_same():
    rows, codes = np.arange(100, 5100), np.arange(5000) % 700
    picked = sample_rows(rows, 50, codes)
    assert len(set(picked.tolist())) == 50
    assert (np.diff(picked) > 0).all()
    assert set(picked) <= set(rows)
    assert (picked == sample_rows(rows, 50, codes)).all()


def test_numbers_are_fitted_by_least_squares(rng):
    X = rng.normal(size=(80, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0] + 10 + rng.normal(size=80)
    shown, path = separation(X, y, 2)
    model = LinearRegression().fit(X[:, path.features], y)
    assert shown["kind"] == "numbers"
    assert shown["observed"] == pytest.approx(y.tolist(), rel=1e-5)
    assert shown["fitted"] == pytest.approx(model.predict(X[:, path.features]), rel=1e-4)
    assert shown["r2"] == pytest.approx(model.score(X[:, path.features], y))


def test_numbers_are_fitted_by_weighted_least_squares(rng):
    X = rng.normal(size=(80, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0] + 10 + rng.normal(size=80)
    w = rng.exponential(size=80)
    shown, path = separation(X, y, 2, sample_weight=w)
    model = LinearRegression().fit(X[:, path.features], y, w)
    assert shown["fitted"] == pytest.approx(model.predict(X[:, path.features]), rel=1e-4)
    assert shown["r2"] == pytest.approx(model.score(X[:, path.features], y, w))


def test_of_several_responses_the_first_is_shown(rng):
    X = rng.normal(size=(80, 4))
    Y = np.column_stack([X[:, 0] + rng.normal(size=80), X[:, 1]])
    shown, path = separation(X, Y, 2)
    model = LinearRegression().fit(X[:, path.features], Y[:, 0])
    assert shown["response"] == "y0"
    assert shown["r2"] == pytest.approx(model.score(X[:, path.features], Y[:, 0]))
