"""The best of each null response, and what is due: by kernel and by NumPy, as by definition."""

import numpy as np
import pytest

from orthoselect import native
from orthoselect.criteria.null_best import null_best


@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(8))
def test_the_largest_statistic_is_that_of_all_columns(seed, kind, kernels, monkeypatch):
    if not kernels:
        monkeypatch.setattr(native, "_kernels", None)
    rng = np.random.default_rng(seed)
    B, m, n = int(rng.integers(0, 30)), int(rng.integers(1, 7)), int(rng.integers(1, 90))
    C = rng.normal(size=(B, m, n)).astype(kind)
    A = rng.normal(size=(B, m, m + 4))
    M = A @ A.transpose(0, 2, 1) / (m + 4)
    for b in range(0, B, 4):  # of every fourth a direction is explained, and C has nothing of it
        values, vectors = np.linalg.eigh(M[b])
        values[0] = 1e-16
        M[b] = vectors * values @ vectors.T
    factors = (rng.random(n) * (rng.random(n) < 0.8)).astype(kind)
    along, r = rng.normal(size=(B, m)), rng.normal(size=n).astype(kind)
    due = (along, r) if seed % 2 else None
    left = C.astype(float) - (along[:, :, None] * r if due else 0.0)
    best, ranks = null_best(C, due, M, factors)
    np.testing.assert_allclose(C, left, rtol=1e-5, atol=1e-5)
    for b in range(B):
        values, vectors = np.linalg.eigh(M[b])
        inverse = vectors * np.where(values > 1e-10, 1 / values, 0.0) @ vectors.T
        statistics = factors * np.einsum("in,ij,jn->n", left[b], inverse, left[b])
        assert best[b] == pytest.approx(statistics.max(), rel=1e-4 if kind == np.float32 else 1e-9)
        assert ranks[b] == m - (b % 4 == 0)
