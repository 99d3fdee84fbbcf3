"""Bounds by a copy in bytes hold for every column, and what they let through is exact."""

import numpy as np
import pytest

import naive
import orthoselect.native
from matrix.test_byte_copy import NASTY, nasty_table
from orthoselect import select
from orthoselect.criteria import bounds, plan
from orthoselect.matrix import DenseMatrix, center


@pytest.fixture
def by_bytes(monkeypatch):
    """Every table is copied into bytes, and a few columns are enough to give that up."""
    monkeypatch.setattr(plan, "bytes_pay", lambda *_: True)
    monkeypatch.setattr(plan, "whole_gram_pays", lambda *_: False)
    monkeypatch.setattr(plan, "rows_pay", lambda *_: False)


def naive_bound(V, Q, u, said, error, lost):
    """The bound as docs/numerics.md has it: V (N, m), Q (N, k), u and its product r̃ as said."""
    eta = error + lost * (1 + error)
    most = np.linalg.norm(V.T @ u - V.T @ Q @ said) + np.linalg.norm(V.T @ Q, 2) * eta
    along = np.linalg.norm(said) + eta
    return most**2 / (1 - along**2) if along < 1 else np.inf


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("N", [6, 40, 301])
@pytest.mark.parametrize("seed", range(8))
def test_no_gain_is_larger_than_its_bound(seed, N, native, monkeypatch):
    if not native:
        monkeypatch.setattr(orthoselect.native, "_kernels", None)
    rng = np.random.default_rng(seed)
    X = nasty_table(rng, N)
    V = np.linalg.qr((A := rng.normal(size=(N, 2))) - A.mean(axis=0))[0]
    scaled, VtX = center(DenseMatrix(X), V, copy=True)
    J = np.flatnonzero(scaled.alive)
    U = scaled.columns(np.arange(X.shape[1]))
    taken = rng.choice(J, size=min(4, N - 3), replace=False)
    Q, R = np.linalg.qr(U[:, taken])
    Q = Q[:, np.abs(R.diagonal()) > 1e-9]
    said, lost = scaled.copy.products(Q)
    C, d = VtX - V.T @ Q @ said, 1 - (said**2).sum(axis=0)
    total_lost, spectral = np.linalg.norm(lost), np.linalg.norm(V.T @ Q, 2)
    given = C, d, scaled.copy.errors, np.zeros(len(d)), total_lost, spectral
    found = bounds.bounds_of(*given)
    for j in J:
        expected = naive_bound(V, Q, U[:, j], said[:, j], scaled.copy.errors[j], total_lost)
        assert found[j] == pytest.approx(expected, rel=1e-6, abs=1e-20)
        w = U[:, j] - Q @ (Q.T @ U[:, j])
        w -= Q @ (Q.T @ w)
        left = w @ w
        if left > 1e-18:
            assert ((V.T @ w) ** 2).sum() / left <= found[j]


@pytest.mark.parametrize("kind", [kind for kind in NASTY if kind != "constant"])
def test_a_nasty_column_is_taken_when_it_is_best(kind, by_bytes, rng):
    N = 400
    X = np.column_stack([rng.normal(size=(N, 80)), nasty_table(rng, N)])
    at = 80 + list(NASTY).index(kind)
    u = X[:, at] / np.abs(X[:, at]).max()
    u = (u - u.mean()) / u.std()
    y = X[:, 0] + X[:, 1] + X[:, 2] + 0.7 * u + 0.1 * rng.normal(size=N)
    path = select(X, y, 5)
    assert path.stats["strategy"].startswith("bytes")
    selected, gains = naive.forward(list(X.T[:, :, None]), y[:, None], 5)
    assert path.features == selected
    assert path.gains == pytest.approx(gains, abs=1e-8)


def test_few_columns_are_read(by_bytes, rng):
    X = rng.normal(size=(500, 2000)) + 0.5 * rng.normal(size=(500, 1))
    y = X[:, :8] @ rng.normal(size=8) + rng.normal(size=500)
    path = select(X, y, 10)
    assert path.stats["strategy"] == "bytes"
    assert path.stats["passes"] == 1
    assert path.stats["columns_read"] < 300


@pytest.mark.parametrize("classes", [2, 4])
def test_a_table_of_which_a_sample_tells_nothing_is_read_once_more(classes, by_bytes, rng):
    X = rng.normal(size=(700, 60))
    X[::21] = 0.0  # the rows of the sample
    y = np.argsort(X[:, 3] + X[:, 5] + rng.normal(size=700)) % classes
    path = select(X, y, 4, task="classification")
    assert path.stats["passes"] >= 2
    selected, gains = naive.forward(list(X.T[:, :, None]), naive.one_hot(y), 4)
    assert path.features == selected
    assert path.gains == pytest.approx(gains, abs=1e-8)


@pytest.mark.parametrize("include", [(), (5, 3)])
def test_without_bounds_it_goes_on_exactly(by_bytes, monkeypatch, include, rng):
    X = rng.normal(size=(60, 200))
    X[:, 100:] = X[:, :100] + 1e-3 * rng.normal(size=(60, 100))
    y = X[:, :5].sum(axis=1) + rng.normal(size=60)
    blocks = list(X.T[:, :, None])
    selected, gains = naive.forward(blocks, y[:, None], 20, include=include)
    monkeypatch.setattr(bounds, "_FEW_OPEN", 4)
    path = select(X, y, 20, include=list(include))
    assert path.stats["strategy"] == "bytes, then gram columns"
    assert path.features == selected
    assert path.gains == pytest.approx(gains, abs=1e-8)


def test_weights_groups_and_tests_of_chance_go_without_a_copy(by_bytes, rng):
    X, y = rng.normal(size=(60, 20)), rng.normal(size=60)
    for options in (
        {"sample_weight": rng.random(60)},
        {"groups": {"a": [0, 1]}},
        {"p_values": True},
        {"search": "swap"},
    ):
        assert "bytes" not in select(X, y, 3, **options).stats.get("strategy", "")


def test_a_copy_is_chosen_for_wide_tables_only():
    wide, tall, narrow = (
        DenseMatrix(np.broadcast_to(0.0, shape))
        for shape in [(300, 20000), (60000, 784), (6000, 50)]
    )
    assert plan.bytes_pay(wide, 20, 1) == orthoselect.native.available()
    assert not plan.bytes_pay(tall, 50, 9)
    assert not plan.bytes_pay(narrow, 20, 1)
