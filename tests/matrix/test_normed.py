"""Columns at norm one, of every kind of matrix."""

import numpy as np
import pytest

from matrices import MATRICES
from orthoselect.matrix import NonFiniteColumns, normalize


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", MATRICES)
def test_products_are_those_of_weighted_unit_columns(rng, kind, weighted):
    X = np.round(rng.normal(size=(60, 7)), 2) * (rng.random((60, 7)) < 0.7)
    X[:, 4] = 0.0
    w = rng.integers(0, 3, 60).astype(float) if weighted else None
    root = np.ones(60) if w is None else np.sqrt(w)
    Z = rng.normal(size=(60, 2))
    Z /= np.linalg.norm(Z, axis=0)
    rooted = X * root[:, None]
    norms = np.linalg.norm(rooted, axis=0)
    unit = rooted / np.where(norms > 0, norms, 1.0)
    matrix = MATRICES[kind](X)
    normed, ZtX = normalize(matrix, Z, w, ignored=np.array([6]))
    unit[:, 6] = 0.0
    tolerance = {"abs": 1e-5 if matrix.arithmetic > 1e-10 else 1e-12}
    assert normed.alive.tolist() == [True, True, True, True, False, True, False]
    assert ZtX == pytest.approx(Z.T @ unit, **tolerance)
    assert normed.cross(Z) == pytest.approx(Z.T @ unit, **tolerance)
    assert normed.columns(np.array([3, 0])) == pytest.approx(unit[:, [3, 0]], **tolerance)


@pytest.mark.parametrize("kind", MATRICES)
def test_non_finite_columns_are_counted_unless_ignored(rng, kind):
    X = rng.normal(size=(60, 4))
    X[3, 1] = np.nan
    matrix, Z = MATRICES[kind](X), np.ones((60, 1)) / np.sqrt(60)
    with pytest.raises(NonFiniteColumns) as found:
        normalize(matrix, Z)
    assert found.value.counts == {1: (1, 0)}
    assert normalize(matrix, Z, ignored=np.array([1]))[0].alive.tolist() == [
        True,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize("kind", MATRICES)
def test_every_read_of_the_table_is_told(rng, kind):
    X, Z = rng.normal(size=(60, 7)), rng.normal(size=(60, 2))
    normed, _ = normalize(MATRICES[kind](X), Z)
    in_blocks = normed.matrix.memory is not None  # where columns are not at hand
    told = [normed.stats()]
    normed.cross(Z)
    told.append(normed.stats())
    normed.columns(np.array([3, 0]))
    told.append(normed.stats())
    names = "passes", "products", "columns_read"
    assert [tuple(stats[name] for name in names) for stats in told] == [
        (1, 3, 0),
        (2, 5, 0),
        (2 + in_blocks, 5, 2),
    ]


@pytest.mark.parametrize("kind", ["dense C", "sparse"])
def test_columns_that_need_a_scale_take_one_more_read(rng, kind):
    X, Z = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    X[:, 1] *= 1e200
    normed, _ = normalize(MATRICES[kind](X), Z)
    assert normed.stats()["passes"] == 2
    assert normed.stats()["products"] == 6


@pytest.mark.parametrize("kind", ["dense C", "blocks of one row", "dense blocks", "sparse blocks"])
@pytest.mark.parametrize("weighted", [False, True])
def test_products_of_directions_made_of_columns_take_one_read(rng, kind, weighted):
    X, T, u = rng.normal(size=(60, 7)), rng.normal(size=(3, 3)), rng.normal(size=60)
    w = rng.random(60) if weighted else np.ones(60)
    unit = X * np.sqrt(w)[:, None]
    unit /= np.linalg.norm(unit, axis=0)
    J = np.array([5, 0, 2])
    P = unit[:, J] @ T
    normed, _ = normalize(MATRICES[kind](X), np.zeros((60, 0)), w if weighted else None)
    PtX, products, utP = normed.cross_of(J, lambda A, root: A @ T, 1, u)
    assert PtX == pytest.approx(P[:, 1:].T @ unit, abs=1e-12)
    assert products == pytest.approx(P.T @ P, abs=1e-12)
    assert utP == pytest.approx(u @ P, abs=1e-12)
    assert normed.stats()["passes"] == 2
    assert normed.stats()["products"] == 3  # of the norms, and of the two directions wanted
