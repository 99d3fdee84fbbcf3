import numpy as np
import pytest

from orthoselect import native
from orthoselect.criteria.steps import leader, remove_row, row_from_gram, score_columns


@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("n", [1, 7, 512, 513, 1500])
@pytest.mark.parametrize(("k", "m"), [(0, 0), (1, 1), (5, 3), (12, 9)])
def test_steps_do_what_they_say(n, k, m, kernels, monkeypatch):
    if not kernels:
        monkeypatch.setattr(native, "_kernels", None)
    rng = np.random.default_rng(n + k)
    g, L, along = rng.normal(size=n), rng.normal(size=(k + 3, n)), rng.normal(size=k)
    r = np.empty(n)
    row_from_gram(g, L, along, 0.3, r)
    np.testing.assert_allclose(r, (g - along @ L[:k]) / 0.3, rtol=1e-12, atol=1e-12)

    c, C, d = rng.normal(size=m), rng.normal(size=(m, n)), rng.random(n)
    C_after, d_after = C - np.outer(c, r), d - r * r
    remove_row(r, c, C, d)
    np.testing.assert_allclose(C, C_after, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(d, d_after, rtol=1e-12, atol=1e-12)

    d = rng.choice([0.0, 1e-4, 1e-3, 0.5, 1.0], n)
    scores = np.empty(n)
    scarce = score_columns(C, d, 1e-3, scores)
    assert scarce == (d < 1e-3).sum()
    exact = np.minimum((C**2).sum(axis=0) / np.maximum(d, 1e-300), 1.0)
    np.testing.assert_allclose(scores, np.where(d >= 1e-3, exact, 0.0), rtol=1e-12)


@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("n", [1, 7, 512, 513, 1500])
@pytest.mark.parametrize("m", [0, 1, 4])
def test_scoring_removes_a_row_in_the_same_go(n, m, kernels, monkeypatch):
    if not kernels:
        monkeypatch.setattr(native, "_kernels", None)
    rng = np.random.default_rng(n + m)
    r, c, C, d = rng.normal(size=n), rng.normal(size=m), rng.normal(size=(m, n)), rng.random(n) + 3
    C_after, d_after, apart, together = C.copy(), d.copy(), np.empty(n), np.empty(n)
    remove_row(r, c, C_after, d_after)
    scarce = score_columns(C_after, d_after, 1e-3, apart)
    assert score_columns(C, d, 1e-3, together, (r, c)) == scarce
    for one, other in ((C, C_after), (d, d_after), (together, apart)):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("seed", range(40))
def test_the_leader_is_the_first_of_the_largest_that_is_open(seed, kernels, monkeypatch):
    if not kernels:
        monkeypatch.setattr(native, "_kernels", None)
    rng = np.random.default_rng(seed)
    n = int(rng.choice([0, 1, 2, 5, 63, 64, 65, 200]))
    gains = rng.choice([-1.0, 0.0, 0.25, 0.5, 1.0], n) if seed % 2 else rng.random(n)
    names = rng.permutation(n + 5)[:n]
    open_ = rng.random(n + 5) < rng.choice([0.0, 0.3, 1.0])
    runners = [f for f in range(n) if open_[names[f]] and gains[f] >= 0]
    by_gain = sorted(runners, key=lambda f: (-gains[f], f))
    top, runner_up = leader(gains, names, open_)
    assert top == (by_gain[0] if by_gain else -1)
    assert runner_up == (gains[by_gain[1]] if len(by_gain) > 1 else -1.0)


@pytest.mark.skipif(not native.available(), reason="there are no kernels")
def test_kernels_refuse_what_would_leave_their_arrays():
    kernels = native.kernels()
    n = np.ones(5)
    for wrong in (
        lambda: kernels.row_from_gram(n, np.ones((2, 5)), np.ones(3), 1.0, n.copy()),
        lambda: kernels.row_from_gram(n, np.ones((2, 4)), np.ones(2), 1.0, n.copy()),
        lambda: kernels.row_from_gram(n, np.ones((2, 5)), np.ones(2), 1.0, np.ones(4)),
        lambda: kernels.remove_row(n, np.ones(2), np.ones((3, 5)), n.copy()),
        lambda: kernels.remove_row(n, np.ones(2), np.ones((2, 4)), n.copy()),
        lambda: kernels.remove_row(n, np.ones(2), np.ones((2, 5)), np.ones(4)),
        lambda: kernels.score_columns(None, None, np.ones((2, 4)), n, 0.1, n.copy()),
        lambda: kernels.score_columns(None, None, np.ones((2, 5)), n, 0.1, np.ones(4)),
        lambda: kernels.score_columns(np.ones(4), np.ones(2), np.ones((2, 5)), n, 0.1, n.copy()),
        lambda: kernels.score_columns(n, np.ones(3), np.ones((2, 5)), n.copy(), 0.1, n.copy()),
        lambda: kernels.leader(n, np.arange(4), np.ones(5, dtype=bool)),
        lambda: kernels.leader(n, np.arange(5), np.ones(4, dtype=bool)),
        lambda: kernels.leader(n, np.arange(-1, 4), np.ones(5, dtype=bool)),
    ):
        with pytest.raises(ValueError, match="shapes do not fit"):
            wrong()
