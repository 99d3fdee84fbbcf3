"""Which features say the same."""

import numpy as np
import pytest

from orthoselect import select
from orthoselect.show.likeness import MOST_IN_TREE, shared_variation
from orthoselect.show.summary import summarize


def tree(X, y, t, **options):
    return summarize(select(X, y, t, **options), X, y)["clusters"]


def leaves(clusters, place):
    n = len(clusters["names"])
    if place < n:
        return [place]
    return [
        leaf for inner in clusters["joins"][place - n]["of"] for leaf in leaves(clusters, inner)
    ]


def test_numbers_share_their_squared_correlation_and_groups_join_at_the_mean(rng):
    X = rng.normal(size=(200, 6))
    X[:, 1] += X[:, 0]
    X[:, 5] -= 2 * X[:, 3]
    y = X @ np.arange(1, 7) + rng.normal(size=200)
    clusters = tree(X, y, 6)
    squares = np.corrcoef(X.T) ** 2
    columns = [int(name[1:]) for name in clusters["names"]]
    assert sorted(columns) == list(range(6))
    for join in clusters["joins"]:
        a, b = ([columns[leaf] for leaf in leaves(clusters, place)] for place in join["of"])
        assert join["share"] == pytest.approx(squares[np.ix_(a, b)].mean(), abs=1e-10)
    shares = [join["share"] for join in clusters["joins"]]
    assert shares == sorted(shares, reverse=True)


def test_branches_do_not_cross(rng):
    clusters = tree(rng.normal(size=(100, 9)), rng.normal(size=100), 9)
    for place in range(9, 9 + 8):
        own = sorted(leaves(clusters, place))
        assert own == list(range(own[0], own[0] + len(own)))


def test_categories_share_the_mean_squared_canonical_correlation(rng):
    a = rng.integers(0, 3, 300)
    b = np.where(rng.random(300) < 0.5, a, rng.integers(0, 3, 300))
    X = np.column_stack([a, b])
    y = a + 2.0 * b + rng.normal(size=300)
    clusters = tree(X, y, 2, categorical_features="all")
    A, B = (np.eye(3)[codes][:, 1:] for codes in (a, b))
    A, B = (np.linalg.qr(Z - Z.mean(axis=0))[0] for Z in (A, B))
    squares = np.linalg.svd(A.T @ B, compute_uv=False) ** 2
    (join,) = clusters["joins"]
    assert join["share"] == pytest.approx(squares.mean(), abs=1e-10)


def test_a_feature_within_a_wider_one_is_all_shared(rng):
    U = np.linalg.qr(rng.normal(size=(50, 3)))[0]
    assert shared_variation([U, U[:, :1]]) == pytest.approx(np.ones((2, 2)))


def test_those_that_came_close_are_in_the_tree_without_a_step(rng):
    X = rng.normal(size=(300, 4))
    X[:, 1] = X[:, 0] + 0.05 * rng.normal(size=300)
    y = X[:, 0] + X[:, 2] + rng.normal(size=300)
    clusters = tree(X, y, 2)
    assert len(clusters["names"]) == 3
    assert sorted(step or 0 for step in clusters["steps"]) == [0, 1, 2]
    assert clusters["joins"][0]["share"] > 0.9


def test_one_feature_is_no_tree_and_many_are_cut(rng):
    X, y = rng.normal(size=(200, 40)), rng.normal(size=200)
    assert tree(X[:, :1], y, 1) is None
    clusters = tree(X, y, 35)
    assert len(clusters["names"]) == MOST_IN_TREE
    assert clusters["left_out"] >= 5
