"""What must not change the selection."""

import numpy as np
import pytest

from matrices import STORAGES
from orthoselect import select

pytestmark = pytest.mark.usefixtures("strategy")


@pytest.fixture(params=range(4))
def table(request):
    rng = np.random.default_rng(request.param)
    X = rng.normal(size=(150, 12)) + rng.normal(size=(150, 3)) @ rng.normal(size=(3, 12))
    y = rng.permutation(4)[np.digitize(X[:, 2] + rng.normal(size=150), [-1, 0, 1])]
    return X, y


def same(path, other, places=None):
    assert path.features == (places or (lambda features: features))(other.features)
    assert path.gains == pytest.approx(other.gains, abs=1e-10)


@pytest.mark.parametrize("storage", list(STORAGES))
def test_storage(table, storage):
    X, y = table
    same(select(STORAGES[storage](X), y, 8), select(X, y, 8))


@pytest.mark.filterwarnings("ignore::orthoselect.errors.ReadAsClassesWarning")
def test_names_and_order_of_classes(table):
    X, y = table
    expected = select(X, y, 8)
    for names in (["d", "c", "b", "a"], [10, -5, 3, 0], [2.0, 7.0, 1.0, 3.0], [3, 2, 1, 0]):
        same(select(X, np.array(names)[y], 8), expected)


def test_affine_changes_of_columns(table):
    X, y = table
    rng = np.random.default_rng(0)
    scale = 10.0 ** rng.integers(-8, 8, 12) * rng.choice([-1, 1], 12)
    same(select(X * scale + 100 * scale * rng.normal(size=12), y, 8), select(X, y, 8))


def test_order_of_rows(table):
    X, y = table
    order = np.random.default_rng(0).permutation(len(y))
    same(select(X[order], y[order], 8), select(X, y, 8))


def test_order_of_columns(table):
    X, y = table
    order = np.random.default_rng(0).permutation(12)
    same(
        select(X[:, order], y, 8),
        select(X, y, 8),
        lambda features: [int(np.flatnonzero(order == f)[0]) for f in features],
    )


@pytest.mark.parametrize("encoding", ["onehot", "effects", "contrast"])
def test_encodings_that_span_the_same_space(table, encoding):
    X, y = table
    same(select(X, y, 8, response_encoding=encoding), select(X, y, 8))


def test_ordinal_encoding_is_another_model(table):
    X, y = table
    ordinal = select(X, y, 8, response_encoding="ordinal")
    assert ordinal.ceiling == 1
    same(ordinal, select(X, y.astype(float), 8, task="regression"))
    assert ordinal.gains != pytest.approx(select(X, y, 8).gains)


def test_scale_of_weights(table):
    X, y = table
    w = np.random.default_rng(0).random(150) + 0.1
    expected = select(X, y, 8, sample_weight=w)
    for factor in (1e-12, 3.7, 1e12):
        same(select(X, y, 8, sample_weight=w * factor), expected)


def test_linear_maps_of_several_responses(table):
    X, _ = table
    rng = np.random.default_rng(1)
    Y = X[:, :3] + rng.normal(size=(150, 3))
    same(select(X, Y @ rng.normal(size=(3, 3)) + 5.0, 8), select(X, Y, 8))


def test_linear_maps_within_a_group(table):
    X, y = table
    groups = {"a": [0, 3, 5], "b": [1, 2], "c": [7, 8, 9, 10]}
    Z = X.copy()
    rng = np.random.default_rng(1)
    for columns in groups.values():
        Z[:, columns] = X[:, columns] @ rng.normal(size=(len(columns), len(columns))) + 3.0
    same(select(Z, y, 4, groups=groups), select(X, y, 4, groups=groups))
