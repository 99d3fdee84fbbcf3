import numpy as np
import pytest

from orthoselect import native
from orthoselect.criteria.steps import remove_row, row_from_gram, score_columns


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
        lambda: kernels.score_columns(np.ones((2, 4)), n, 0.1, n.copy()),
        lambda: kernels.score_columns(np.ones((2, 5)), n, 0.1, np.ones(4)),
    ):
        with pytest.raises(ValueError, match="shapes do not fit"):
            wrong()
