import numpy as np
import pytest

from orthoselect import native
from orthoselect.criteria.steps import leading, likely_winners, run_ahead

needs_kernels = pytest.mark.skipif(not native.available(), reason="there are no kernels")


def state(seed, f=6, q=40, k=4, m=3):
    """A state in which f of q columns have been fetched and k rows taken."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 8)) @ rng.normal(size=(8, q)) + 0.3 * rng.normal(size=(60, q))
    X -= X.mean(axis=0)
    X /= np.linalg.norm(X, axis=0)
    V = np.linalg.qr(rng.normal(size=(60, m)))[0]
    F = rng.permutation(q)[:f]
    Q = np.linalg.qr(X[:, F[: min(k, f)]])[0]
    W = X - Q @ (Q.T @ X)
    return X, F, Q.T @ X, V.T @ W, (W * W).sum(axis=0)


def arguments(seed, **sizes):
    X, F, L, C, d = state(seed, **sizes)
    M = np.linalg.qr(X[:, F])[0].T @ X
    rows = np.concatenate([L, np.full((10, L.shape[1]), np.nan)])
    known = np.zeros(L.shape[1], dtype=bool)
    known[F] = True
    open_ = np.random.default_rng(seed).random(L.shape[1]) < 0.9
    return [M.T @ M, rows, C, np.maximum(d, 0.05), open_, known, 10, 5]


@needs_kernels
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("sizes", [{}, {"f": 1, "k": 1}, {"q": 7, "m": 1}, {"f": 25, "k": 9}])
def test_kernel_finds_the_winners_that_numpy_finds(seed, sizes, monkeypatch):
    quick, slow = arguments(seed, **sizes), arguments(seed, **sizes)
    found = run_ahead(*quick)
    monkeypatch.setattr(native, "_kernels", None)
    assert found.tolist() == run_ahead(*slow).tolist()
    assert not slow[5][found].any()
    assert len(found) <= 5


@pytest.mark.parametrize("kernels", [True, False])
def test_winners_are_guessed_right_where_products_tell_all(kernels, monkeypatch):
    """With as many columns fetched as the table has directions, nothing is left to guess."""
    if not kernels:
        monkeypatch.setattr(native, "_kernels", None)
    rng = np.random.default_rng(3)
    X = np.linalg.qr(rng.normal(size=(50, 8)))[0] @ rng.normal(size=(8, 30))
    X /= np.linalg.norm(X, axis=0)
    V = np.linalg.qr(rng.normal(size=(50, 2)))[0]
    C = V.T @ X
    fetched = {j: X[:, j] @ X for j in range(20, 30)}
    gains = (C**2).sum(axis=0)
    gains[20:] = -1.0
    first = int(gains.argmax())
    I = leading(gains, 30, first)  # noqa: E741  (the notation's letter)
    found = likely_winners(I, gains, C, np.ones(30), np.empty((0, 30)), fetched, 2)
    x = X[:, first]
    W = X - np.outer(x, x @ X)
    scores = ((V.T @ W) ** 2).sum(axis=0) / np.maximum((W * W).sum(axis=0), 0.05)
    scores[[first, *range(20, 30)]] = -1.0
    assert found[0] == scores.argmax()


@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("n_fetched", [0, 3])
def test_winners_are_guessed_right_where_all_rows_are_in_the_sample(
    n_fetched, kernels, monkeypatch
):
    if not kernels:
        monkeypatch.setattr(native, "_kernels", None)
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 8)) @ rng.normal(size=(8, 30)) + rng.normal(size=(60, 30))
    X -= X.mean(axis=0)
    X /= np.linalg.norm(X, axis=0)
    V = np.linalg.qr(rng.normal(size=(60, 2)))[0]
    C = V.T @ X
    gains = (C**2).sum(axis=0)
    taken = [int(gains.argmax())]
    for _ in range(4):
        Q = np.linalg.qr(X[:, taken])[0]
        W = X - Q @ (Q.T @ X)
        scores = ((V.T @ W) ** 2).sum(axis=0) / np.maximum((W * W).sum(axis=0), 0.05)
        scores[taken] = -1.0
        taken.append(int(scores.argmax()))
    others = [j for j in range(30) if j not in taken][:n_fetched]
    fetched = {j: X[:, j] @ X for j in others}

    def gram(J):
        return X[:, J].T @ X[:, J]

    I = leading(gains, 30, taken[0])  # noqa: E741
    state = gains, C, np.ones(30), np.empty((0, 30)), fetched
    assert likely_winners(I, *state, 4, gram) == taken[1:]


def test_a_sample_that_tells_nothing_does_no_harm():
    gains = np.array([0.5, 0.4, 0.3])
    state = gains, np.sqrt(gains)[None], np.ones(3), np.empty((0, 3)), {}
    found = likely_winners(np.arange(3), *state, 5, lambda J: np.zeros((3, 3)))
    assert sorted(found) == [1, 2]
    assert likely_winners(np.arange(3), *state, 5) == []


@needs_kernels
def test_kernel_refuses_what_would_leave_its_arrays():
    G, rows, C, d, open_, known, steps, _ = arguments(0)
    flags = open_.view(np.uint8), known.view(np.uint8)
    found = np.empty(5, dtype=np.int64)
    look_ahead = native.kernels().look_ahead
    for wrong in (
        lambda: look_ahead(G[:5], rows, C, d, *flags, steps, 0.05, found),
        lambda: look_ahead(G, rows[:, :9], C, d, *flags, steps, 0.05, found),
        lambda: look_ahead(G, rows, C[:, :9], d, *flags, steps, 0.05, found),
        lambda: look_ahead(G, rows, C, d[:9], *flags, steps, 0.05, found),
        lambda: look_ahead(G, rows, C, d, flags[0][:9], flags[1], steps, 0.05, found),
        lambda: look_ahead(G, rows, C, d, flags[0], flags[1][:9], steps, 0.05, found),
        lambda: look_ahead(G, rows, C, d, *flags, len(rows) + 1, 0.05, found),
    ):
        with pytest.raises(ValueError, match="shapes do not fit"):
            wrong()
