"""What takes tables says so when it gets statistics, and where it takes these it uses them."""

import numpy as np
import pandas as pd
import pytest

from orthoselect import (
    GramStatistics,
    MutualInformationSelector,
    OrthogonalSelector,
    RowBlocks,
    compare,
    report,
    select,
)
from orthoselect.errors import InputError


def table():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 4))
    frame = pd.DataFrame({"w": rng.integers(1, 3, 80), "y": X[:, 1] - X[:, 3] > 0}).astype(int)
    frame[list("abcd")] = X
    frame["kind"] = rng.choice(["red", "blue"], 80)
    return frame


def statistics(**options):
    return GramStatistics.of(table(), "y", **options)


def test_a_comparison_and_a_report_need_rows(tmp_path):
    with pytest.raises(InputError, match="`compare` should have the rows of a table; got GramStat"):
        compare(statistics(), "y")
    path = statistics().select(2)
    with pytest.raises(InputError, match="a report should have the rows of a table; got GramStat"):
        report(path, statistics(), None, tmp_path / "page.json")
    assert list(tmp_path.iterdir()) == []


def test_an_update_needs_rows_in_memory(tmp_path):
    for data in (tmp_path / "table.csv", RowBlocks([table()])):
        with pytest.raises(InputError, match=r"`update` should .* in memory.*`GramStatistics.of`"):
            GramStatistics().update(data, "y")
        with pytest.raises(InputError, match=r"`partial_fit` should have rows .* in memory"):
            OrthogonalSelector().partial_fit(data, "y")
    with pytest.raises(InputError, match="`update` should have the rows of a table"):
        GramStatistics().update(statistics(), None)


def test_a_file_of_statistics_is_no_table(tmp_path):
    statistics().save(tmp_path / "kept.npz")
    with pytest.raises(InputError, match=r"`.*kept.npz` should hold a table; it holds statistics"):
        select(tmp_path / "kept.npz", "y", 2)


@pytest.mark.parametrize("y", [None, "y"])
def test_a_selector_is_fitted_to_statistics_as_to_rows(y):
    weighted = statistics(sample_weight="w")
    X = table().drop(columns=["w", "y"])
    selector = OrthogonalSelector(3, exclude=["b"]).fit(weighted, y)
    expected = OrthogonalSelector(3, exclude=["b"]).fit(X, table()["y"], table()["w"])
    assert selector.selected_.tolist() == expected.selected_.tolist()
    assert selector.path_.gains == pytest.approx(expected.path_.gains)
    assert selector.feature_names_in_.tolist() == list(X)
    pd.testing.assert_frame_equal(
        selector.set_output(transform="pandas").transform(X),
        expected.set_output(transform="pandas").transform(X),
    )


def test_a_selector_of_columns_without_names():
    X = np.random.default_rng(0).normal(size=(50, 4))
    selector = OrthogonalSelector(2).fit(GramStatistics.of(X, "x0"), None)
    expected = OrthogonalSelector(2).fit(X[:, 1:], X[:, 0])
    assert not hasattr(selector, "feature_names_in_")
    assert selector.selected_.tolist() == expected.selected_.tolist()
    assert selector.transform(X[:, 1:]).shape == (50, 2)


def test_a_selector_of_one_of_several_responses():
    X = table()[["a", "b", "kind"]]
    several = GramStatistics.of(X, table()[["c", "d"]])
    assert OrthogonalSelector(1).fit(several, "d").path_.gains == pytest.approx(
        OrthogonalSelector(1).fit(X, table()["d"]).path_.gains
    )
    with pytest.raises(InputError, match="these are `c`, `d`; got 'a'"):
        OrthogonalSelector(1).fit(several, "a")
    with pytest.raises(InputError, match="these are `c`, `d`; got ndarray"):
        OrthogonalSelector(1).fit(several, np.arange(80))


def test_what_a_selector_cannot_do_with_statistics():
    with pytest.raises(InputError, match="`sample_weight` is decided"):
        OrthogonalSelector(1).fit(statistics(), None, np.ones(80))
    with pytest.raises(InputError, match="'jmi' needs the rows"):
        MutualInformationSelector(1).fit(statistics(), None)
    selector = OrthogonalSelector(1).fit(statistics(), None)
    with pytest.raises(InputError, match="`transform` should have the rows of a table"):
        selector.transform(statistics())


def test_features_that_cannot_be_taken():
    made = statistics(exclude=["a"], sample_weight="w")
    for name in "ayw":
        with pytest.raises(InputError, match=f"`features` should name features; `{name}` is"):
            made.select(1, features=["b", name])
    with pytest.raises(InputError, match=r"`include` should name some of `features`.*; `b` is not"):
        made.select(1, features=["c"], include=["b"])
    groups = {"letters": ["b", "c"]}
    path = made.select(1, features=["letters", "d"], groups=groups, exclude=["d"])
    assert path.names == ["letters"]


@pytest.mark.parametrize(
    ("made", "asked"),
    [
        ({}, {"features": ["a", "c", "kind"]}),
        ({"sample_weight": "w"}, {"exclude": ["b"]}),
        ({"sample_weight": table()["w"].to_numpy()}, {}),
        ({"categorical_features": ["w"]}, {"features": ["w", "a"]}),
        ({"categorical_features": None, "exclude": ["kind"]}, {}),
        ({"task": "regression"}, {}),
    ],
)
def test_a_path_tells_what_was_settled_so_that_rows_give_the_same(made, asked, tmp_path):
    path = statistics(**made).select(2, **asked)
    names = ("task", "categorical_features", "exclude", "sample_weight")
    told = {name: path.options[name] for name in names}
    if told["sample_weight"] == "given":
        told["sample_weight"] = made["sample_weight"]
    again = select(table(), "y", 2, **told)
    assert again.names == path.names
    assert again.gains == pytest.approx(path.gains)
    assert again.n_candidates == path.n_candidates
    weights = told["sample_weight"]
    report(path, table(), "y", tmp_path / "page.json", sample_weight=weights)


def test_weights_that_are_all_zero():
    with pytest.raises(InputError, match="should not be all zero"):
        statistics(sample_weight=np.zeros(80))
