"""Splines of columns against their by-definition twin, and what they find."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import naive
from orthoselect import GramStatistics, RowBlocks, compare, select
from orthoselect.comparison.natural_splines import NaturalSplines
from orthoselect.encode.spline_design import find_knots
from orthoselect.errors import InputError, MissingValueError, SelectionWarning
from orthoselect.matrix.splines import Spline, SplineMatrix, spline_columns
from problems import constant_and_refused, random_block_problem, random_problem


def quietly(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        return select(*args, method="socc_splines", **options)


def splines_of(x, n_knots, w=None):
    return naive.natural_splines(x, naive.spline_knots(x, n_knots, w))


@pytest.mark.parametrize("n_knots", [3, 5])
@pytest.mark.parametrize("seed", range(100))
def test_selects_as_by_definition(seed, n_knots):
    problem = random_problem(seed)
    find = {"n_knots": n_knots, "sample_weight": problem.weights, **problem.options}
    if problem.y.ndim == 1 and problem.options["task"] == "classification":
        live = problem.y if problem.weights is None else problem.y[problem.weights > 0]
        if constant_and_refused(live, lambda: quietly(problem.stored, problem.y, 2, **find)):
            return
    path = quietly(problem.stored, problem.y, problem.t, **find)
    blocks = [splines_of(x, n_knots, problem.weights) for x in problem.X.T]
    selected, gains = naive.forward(
        blocks, problem.Y, problem.t, problem.weights, tolerance=1e-8, nothing=1e-6
    )
    assert path.features[: len(selected)] == selected
    assert path.gains[: len(gains)] == pytest.approx(gains, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("seed", range(40))
def test_groups_and_categories_select_as_by_definition(seed):
    problem = random_block_problem(seed)
    one_answer = problem.options["task"] == "classification" and problem.y.ndim == 1
    if one_answer and constant_and_refused(problem.y, lambda: quietly(problem.X, problem.y, 2)):
        return
    labels, categorical = problem.options["groups"], problem.options["categorical_features"]
    owned = {}
    for c, x in enumerate(problem.X.T):
        own = naive.one_hot(x) if c in categorical else splines_of(x, 4, problem.weights)
        owned.setdefault(labels[c] or c, []).append((c, own))
    blocks = [np.hstack([own for _, own in parts]) for parts in owned.values()]
    heads = [parts[0][0] for parts in owned.values()]
    path = quietly(
        problem.X, problem.y, 2, n_knots=4, sample_weight=problem.weights, **problem.options
    )
    selected, gains = naive.forward(
        blocks, problem.Y, 2, problem.weights, tolerance=1e-8, nothing=1e-6
    )
    assert path.features[: len(selected)] == [heads[f] for f in selected]
    assert path.gains[: len(gains)] == pytest.approx(gains, rel=1e-6, abs=1e-8)


def test_the_two_ways_to_write_splines_span_the_same(rng):
    x = rng.normal(size=60) * 3
    for n_knots in (2, 3, 5, 9):
        knots = np.quantile(x, np.linspace(0.05, 0.95, n_knots))
        mine = naive.span(naive.drop_constants(spline_columns(x, knots)))
        twin = naive.span(naive.drop_constants(naive.natural_splines(x, knots)))
        assert mine.shape[1] == twin.shape[1] == n_knots - 1
        assert np.linalg.svd(mine.T @ twin, compute_uv=False) == pytest.approx(1.0, abs=1e-9)


def test_outliers_lie_on_a_straight_line_to_the_last_digit():
    knots = np.array([0.0, 0.4, 0.7, 1.0])
    B = spline_columns(np.array([1.0, 2.0, 1e8, 2e8 - 1.0]), knots)
    slopes = B[1] - B[0]
    assert (B[3] - B[2]) / (1e8 - 1.0) == pytest.approx(slopes, rel=1e-12)


def test_knots_are_quantiles_and_fewer_where_values_repeat(rng):
    x = rng.normal(size=200)
    assert find_knots(x, 5) == pytest.approx(np.quantile(x, np.linspace(0.05, 0.95, 5)))
    w = rng.integers(0, 4, 200)
    assert find_knots(x, 4, w.astype(float)) == pytest.approx(find_knots(np.repeat(x, w), 4))
    assert find_knots(np.array([3.0, 1.0, 3.0, 2.0]), 5).tolist() == [1.0, 2.0, 3.0]
    assert find_knots(np.full(9, 2.5), 5).tolist() == [2.5]
    mostly_zero = np.append(np.zeros(990), rng.random(10))
    assert find_knots(mostly_zero, 5).tolist() == [0.0, mostly_zero.max()]
    partly_zero = np.append(np.zeros(600), rng.random(400))
    assert len(find_knots(partly_zero, 5)) == 3


def test_two_values_are_a_line_and_one_is_nothing(rng):
    X = np.column_stack([rng.integers(0, 2, 80), np.ones(80), rng.normal(size=80)])
    y = X[:, 0] + 0.1 * rng.normal(size=80)
    path = quietly(X, y, 1)
    assert path.gains == pytest.approx(select(X, y, 1).gains)
    assert path[0].chance == pytest.approx(1 / 79)
    assert len(quietly(X, y, 3)) == 2


@pytest.mark.parametrize("kind", ["dense", "sparse", "float32"])
def test_products_are_those_of_the_columns_written_out(rng, kind):
    X = rng.normal(size=(70, 9)) * (rng.random((70, 9)) < 0.6)
    stored = {"sparse": sp.csc_array(X), "float32": X.astype(np.float32)}.get(kind, X)
    numbers = stored.toarray() if kind == "sparse" else stored.astype(float)
    places = np.array([1, 4, 6, 8])
    splines = [Spline.of(numbers[:, k], find_knots(numbers[:, k], 5), None, 1e-16) for k in places]
    parts = [s.columns(numbers[:, k]) for s, k in zip(splines, places)]
    written, matrix = np.hstack(parts), SplineMatrix(stored, places, splines)
    assert written.T @ np.ones(70) == pytest.approx(0.0, abs=1e-10)
    for part in parts:  # orthonormal
        assert part.T @ part == pytest.approx(np.eye(part.shape[1]), abs=1e-9)
    shift, scale = rng.normal(size=(2, matrix.shape[1]))
    moved = matrix.rescaled(shift, scale).rescaled(scale, shift)
    presented = ((written - shift) * scale - scale) * shift
    J, Z = np.array([5, 0, 7, 2]), rng.normal(size=(70, 3))
    assert moved.columns(J) == pytest.approx(presented[:, J])
    assert moved.columns_at(J, slice(20, 31)) == pytest.approx(presented[20:31, J])
    assert moved.cross(Z) == pytest.approx(Z.T @ presented)
    root = rng.random(70)
    scan, rooted = moved.scan(Z, root), presented * root[:, None]
    assert scan.sums == pytest.approx(root @ rooted)
    assert scan.squares == pytest.approx((rooted**2).sum(axis=0))
    assert scan.VtX == pytest.approx(Z.T @ rooted)


def test_splines_find_what_lines_miss_and_tests_tell_it_from_chance():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 15))
    y = np.abs(X[:, 4]) + 0.5 * X[:, 9] ** 2 + X[:, 2] + rng.normal(size=300)
    assert sorted(quietly(X, y, 3).features) == [2, 4, 9]
    assert select(X, y, 1).features == [2]
    assert not {4, 9} & set(select(X, y, 3).features)
    path = quietly(X, y, "auto")
    assert path.chosen == 3


def test_gaps_are_filled_and_their_indicator_is_a_line(rng):
    table = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    y = table["a"] ** 2 + 0.3 * rng.normal(size=90)
    table.loc[::6, "a"] = np.nan
    with pytest.raises(MissingValueError, match="`a`"):
        quietly(table, y, 2)
    path = quietly(table, y, 1, missing="indicator")
    assert path.names == ["a"]
    assert path[0].chance == pytest.approx(5 / 89)  # four splines and the indicator


@pytest.mark.parametrize("n_knots", [2, 21, 4.5, True, "5"])
def test_a_number_of_knots_that_makes_no_sense_is_refused(rng, n_knots):
    with pytest.raises(InputError, match="`n_knots` should be a whole number from 3 to 20; got"):
        quietly(rng.normal(size=(20, 2)), rng.normal(size=20), 1, n_knots=n_knots)


def test_blocks_and_statistics_are_refused_in_one_line(rng):
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    with pytest.raises(InputError, match="'socc_splines' needs the whole table in memory"):
        quietly(RowBlocks([X[:10], X[10:]]), y, 1)
    with pytest.raises(InputError, match="'socc_splines' needs the rows of the table"):
        GramStatistics.of(X, y).select(1, "socc_splines")


def test_methods_are_compared_with_it():
    comparison = compare("wine", None, ["socc", "socc_splines"], sizes=2, folds=2)
    assert "socc_splines" in comparison.to_text()


@pytest.mark.parametrize("far", [1e6, 1e8, 1e12])
def test_an_outlier_does_not_hide_what_bends(far, rng):
    X = rng.normal(size=(80, 3))
    y = np.sin(2 * X[:, 0])
    X[0, 0] = 1e4  # takes the line for itself, and leaves what bends
    nearer = select(X, y, 1, method="socc_splines").gains[0]
    X[0, 0] = far
    path = select(X, y, 1, method="socc_splines")
    assert path.features == [0]
    assert path.gains[0] == pytest.approx(nearer, abs=1e-3)


def bent(rng, N=300):
    X = rng.normal(size=(N, 8))
    return X, np.abs(X[:, 1]) + X[:, 4] ** 2 + 0.8 * X[:, 6] + 0.3 * rng.normal(size=N)


def test_features_that_bend_are_scored_by_a_model_that_does(rng):
    X, y = bent(rng)
    made = compare(X, y, ["socc", "socc_splines"], sizes=3)
    assert made.setting.estimator == "splines"
    assert (made.recommended["method"], made.recommended["n_features"]) == ("socc_splines", 3)
    said = "linear in splines of the features (`estimator='splines'`), to follow features that bend"
    assert said in made.to_text()
    assert said in made.to_dict()["estimator_reason"]
    path = select(X, y, "cv", method="socc_splines")
    assert sorted(path.features[: path.chosen]) == [1, 4, 6]
    assert said in path.to_text()
    classes = compare(X, y > np.median(y), ["socc_splines"], sizes=2)
    assert classes.recommended["validation"] > 0.8


def test_lines_drawn_through_what_bends_are_told_beside_the_scores(rng):
    X, y = bent(rng)
    made = compare(X, y, ["socc_splines"], sizes=2, estimator="least_squares")
    assert "least_squares draws straight lines, and cannot follow features that" in made.to_text()
    trees = compare(X, y, ["socc_splines"], sizes=2, estimator="gradient_boosting", folds=2)
    assert not trees.setting.estimator_reason
    straight = compare(X, y, ["socc"], sizes=2)
    assert (straight.setting.estimator, straight.setting.estimator_reason) == ("least_squares", "")


@pytest.mark.parametrize("weighted", [False, True])
def test_the_model_of_splines_is_least_squares_on_them(weighted, rng):
    X, y = bent(rng)
    X[:, 0], X[:, 2] = X[:, 0] > 0, 1.0  # an indicator is a line, a constant is nothing
    w = rng.integers(0, 3, len(X)).astype(float) if weighted else None
    B = NaturalSplines().fit(X, sample_weight=w).transform(X)
    assert B.shape == (300, 1 + 6 * 4)
    weights = np.ones(300) if w is None else w
    np.testing.assert_allclose(B[:, 1:5].T @ (weights[:, None] * B[:, 1:5]), np.eye(4), atol=1e-9)
    knots = find_knots(X[:, 1], 5, w)
    plain = np.column_stack([np.ones(300), spline_columns(X[:, 1], knots)])
    ours = np.column_stack([np.ones(300), B[:, 1:5]])
    fits = [A @ np.linalg.lstsq(A, y, rcond=None)[0] for A in (plain, ours)]
    np.testing.assert_allclose(fits[0], fits[1], atol=1e-8)
    path = select(X, y, "cv", method="socc_splines", sample_weight=w, largest=3)
    assert path.chosen >= 1
    assert NaturalSplines().fit(X[:, 2:3]).transform(X[:, 2:3]).tolist() == [[0.0]] * 300
