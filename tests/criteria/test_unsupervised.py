"""Selection without a target against its by-definition twin, and what can be said about it."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

import naive
from matrices import row_blocks
from orthoselect import (
    GramStatistics,
    LaggedTerms,
    OrthogonalSelector,
    compare,
    select,
    stability,
)
from orthoselect.criteria.unsupervised import leading_eigenvalues
from orthoselect.errors import InputError, SearchStoppedWarning, SelectionWarning
from problems import random_block_problem, random_problem


def quietly(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        return select(*args, method="unsupervised", **options)


def agrees(path, inputs, features, t, w=None, include=(), center=True, digits=1e-9):
    """Compare with the twin; features by their first input."""
    heads = [own[0] for own in features]
    selected, gains = naive.unsupervised_forward(inputs, features, t, w, include, center)
    assert path.features == [heads[f] for f in selected]
    assert path.gains == pytest.approx(gains, rel=1e3 * digits, abs=digits)


@pytest.mark.usefixtures("rows_come")
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("seed", range(120))
def test_selects_as_by_definition(seed, center):
    # Not centered, offset times closeness of near-duplicates has to fit the digits.
    problem = random_problem(seed, offset=1e5 if center else 100)
    n = problem.X.shape[1]
    include = (n - 1,) if seed % 3 == 0 else ()
    path = quietly(
        problem.stored,
        None,
        problem.t,
        sample_weight=problem.weights,
        include=include,
        center=center,
    )
    agrees(
        path,
        list(problem.X.T),
        [[j] for j in range(n)],
        problem.t,
        problem.weights,
        include,
        center,
    )


@pytest.mark.usefixtures("rows_come")
@pytest.mark.parametrize("seed", range(120))
def test_groups_and_categories_explain_as_by_definition(seed):
    problem = random_block_problem(seed)
    labels, categorical = problem.options["groups"], problem.options["categorical_features"]
    X, owned = problem.X, {}
    for c in range(X.shape[1]):
        owned.setdefault(labels[c] or c, []).append(c)
    inputs = [naive.one_hot(X[:, c]) if c in categorical else X[:, c] for c in range(X.shape[1])]
    path = quietly(
        X, None, 4, groups=labels, categorical_features=categorical, sample_weight=problem.weights
    )
    agrees(path, inputs, list(owned.values()), 4, problem.weights)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_a_table_of_few_rows_goes_through_its_rows(seed, center, dtype):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 4)) @ rng.normal(size=(4, 24)) + 0.3 * rng.normal(size=(12, 24)) + 2
    X[:, 7], X[:, 9] = X[:, 3], 1.0
    X = X.astype(dtype)
    for stored in (X, np.asfortranarray(X), sp.csr_array(X)):
        path = quietly(stored, None, 5, center=center)
        assert path.stats["strategy"] == "kernel of the rows"
        digits = 1e-9 if dtype == np.float64 else 1e-7
        columns = list(X.T.astype(float))
        agrees(path, columns, [[j] for j in range(24)], 5, center=center, digits=digits)


@pytest.fixture
def mixed(rng):
    """Numbers, one of them twice, labels and a gap."""
    table = pd.DataFrame(rng.normal(size=(80, 6)), columns=list("abcdef"))
    table["b"] += table["a"]
    table["again"] = table["a"]
    table["kind"] = np.where(table["c"] > 0.3, "x", np.where(table["c"] > -0.5, "y", "z"))
    table["size"] = rng.integers(1, 4, 80)
    return table


def test_every_kind_of_table_gives_the_same_answer(mixed, tmp_path):
    dask, dask_frames = pytest.importorskip("dask"), pytest.importorskip("dask.dataframe")
    mixed.to_csv(tmp_path / "table.csv", index=False)
    asked = {"sample_weight": "size", "groups": {"pair": ["d", "e"]}, "exclude": ["f"]}
    path = quietly(mixed, None, 4, **asked)
    for other in (
        tmp_path / "table.csv",
        row_blocks(mixed),
        dask_frames.from_pandas(mixed, npartitions=3),
    ):
        with dask.config.set(scheduler="synchronous"):
            same = quietly(other, None, 4, **asked)
        assert (same.names, same.features) == (path.names, path.features)
        assert same.gains == pytest.approx(path.gains, abs=1e-12)
        assert [s.components for s in same] == pytest.approx([s.components for s in path])


def test_statistics_answer_as_the_rows_and_set_their_response_aside(mixed):
    statistics = GramStatistics.of(mixed[:30], "size") + GramStatistics.of(mixed[30:], "size")
    path = statistics.select(4, "unsupervised")
    rows = quietly(mixed, None, 4, exclude=["size"])
    assert path.features == rows.features
    assert path.gains == pytest.approx(rows.gains, abs=1e-12)


def test_an_indicator_of_gaps_comes_along_but_has_no_vote(mixed):
    mixed.loc[::7, "b"] = np.nan
    numbers = mixed[list("abcdef")]
    path = quietly(numbers, None, 3, include=["b"], missing="indicator")
    filled = numbers.fillna(numbers.mean())
    gaps = numbers["b"].isna().to_numpy(float)
    taken = np.column_stack([filled["b"], gaps])
    assert path[0].gain == pytest.approx(naive.explained_share(taken, filled.to_numpy().T))


@pytest.mark.parametrize("shape", [(60, 12), (10, 30)])
@pytest.mark.parametrize("seed", range(3))
def test_no_set_explains_more_than_principal_components(seed, shape):
    X = np.random.default_rng(seed).normal(size=shape) @ np.diag(1.0 + np.arange(shape[1]))
    forward, swapped = quietly(X, None, 5), quietly(X, None, 5, search="swap")
    unit = naive.centered(X)
    values = np.sort(np.linalg.svd(unit, compute_uv=False) ** 2)[::-1] / shape[1]
    assert [step.components for step in forward] == pytest.approx(np.cumsum(values)[:5])
    assert all(step.total <= step.components + 1e-12 for step in [*forward, *swapped])
    assert swapped.total >= forward.total - 1e-12
    share = naive.explained_share(X[:, swapped.features], X.T)
    assert swapped.total == pytest.approx(share)


def test_many_eigenvalues_and_few_are_the_same():
    V = np.random.default_rng(0).normal(size=(450, 500))
    every = leading_eigenvalues(V, 450)
    assert leading_eigenvalues(V, 5) == pytest.approx(every[:5], rel=1e-10)
    assert every.sum() == pytest.approx((V**2).sum())


def test_the_path_says_what_principal_components_could_explain(mixed):
    path = quietly(mixed, None, 2, exclude=["size"])
    said = f"2 features explain {100 * path.total:.1f}% of all columns; principal components of"
    assert said in path.to_text()
    assert said in path._repr_html_()
    assert path.to_dict()["steps"][1]["components"] == path[1].components
    assert path.to_frame()["components"].tolist() == [step.components for step in path]
    assert path.ceiling == 1.0


def test_a_copy_of_a_column_votes_too(rng):
    X = rng.normal(size=(100, 5))
    X[:, 1] += 0.8 * X[:, 0]
    assert quietly(X, None, 1).features == [0]
    assert quietly(np.column_stack([X, X[:, 4], X[:, 4]]), None, 1).features == [4]


def test_the_search_ends_where_nothing_is_left(rng):
    X = rng.normal(size=(30, 2))
    X = np.column_stack([X, X.sum(axis=1), np.ones(30)])
    with pytest.warns(SearchStoppedWarning, match="they explain all columns completely"):
        path = select(X, None, 4, method="unsupervised")
    assert len(path) == 2
    assert path.total == pytest.approx(1.0)
    with pytest.warns(SearchStoppedWarning, match="every feature is constant"):
        assert not len(select(np.ones((5, 2)), None, 1, method="unsupervised"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"target": "a"}, "`target` should be None; got 'a'"),
        ({"n_features_to_select": "auto"}, "'auto'` tests features against a target"),
        ({"n_features_to_select": "cv"}, "'cv'` tests features against a target"),
        ({"p_values": True}, "`p_values=True` tests features against a target"),
        ({"task": "regression"}, "does not take `task`"),
        ({"adjust": None}, "has no option `adjust`"),
        ({"center": "yes"}, "`center` should be True or False; got 'yes'"),
        ({"center": False}, "`kind` is coded by indicators"),
        ({"method": "socc", "target": "a", "center": False}, "'socc' has no option `center`"),
        ({"method": "fos_mod"}, "did you mean `unsupervised`"),
        ({"method": "socc"}, "the target y is None"),
    ],
)
def test_what_makes_no_sense_without_a_target_is_refused(mixed, options, said):
    asked = {"data": mixed, "target": None, "method": "unsupervised", **options}
    with pytest.raises(InputError, match=said):
        select(**asked)


def test_what_needs_a_target_says_so(mixed, tmp_path):
    said = "method 'unsupervised' has none"
    with pytest.raises(InputError, match=said):
        compare("wine", None, ["unsupervised"])
    with pytest.raises(InputError, match=said):
        stability("wine", None, 4, method="unsupervised")
    with pytest.raises(InputError, match=said):
        quietly(mixed, None, 2).report(tmp_path / "page.html")
    terms = LaggedTerms(mixed[["a", "b"]], "a", "b", lags=1)
    with pytest.raises(InputError, match="lagged terms explain a target"):
        select(terms, None, 1, method="unsupervised")


def test_the_selector_needs_no_y_and_ignores_the_values_of_one(mixed):
    X = mixed[list("abcdef")]
    selector = OrthogonalSelector(3, criterion="unsupervised").fit(X)
    names = quietly(X, None, 3).names
    assert X.columns[selector.selected_].tolist() == names
    assert not get_tags(selector).target_tags.required
    again = make_pipeline(clone(selector)).fit(X, mixed["kind"]).transform(X)
    assert sorted(again.columns if hasattr(again, "columns") else names) == sorted(names)
    plain = OrthogonalSelector(2, criterion="unsupervised", center=False).fit(X + 3.0)
    assert plain.path_ == quietly(X + 3.0, None, 2, center=False)
    with pytest.raises(InputError, match="has no target; got the name `a`"):
        selector.fit(X, "a")
    with pytest.raises(InputError, match="has no option `center`"):
        OrthogonalSelector(2, center=False).fit(X, mixed["kind"])
