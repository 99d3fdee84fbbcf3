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
