"""Columns that vary only in rows of hardly any weight, and numbers near the ends of floats."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import naive
from orthoselect import RowBlocks, select

KINDS = {
    "dense": lambda X: X,
    "columns": sp.csc_array,
    "rows": sp.csr_array,
    "one-row blocks": lambda X: RowBlocks(lambda: (X[i : i + 1] for i in range(len(X)))),
    "blocks": lambda X: RowBlocks(lambda: (X[i : i + 7] for i in range(0, len(X), 7))),
    "sparse blocks": lambda X: RowBlocks(
        lambda: (sp.csr_array(X[i : i + 7]) for i in range(0, len(X), 7))
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["socc", "err"])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e-310, 1e-320, 1e250])
def test_what_only_rows_of_hardly_any_weight_hold_keeps_its_digits(scale, method, kind):
    for seed, tiny in enumerate([1.0, 1e-15, 1e-24, 1e-100, 1e-300, 1e-312]):
        rng = np.random.default_rng(seed)
        rows = rng.permutation(40)[:14]
        X, y, w = rng.normal(size=(40, 3)), np.zeros(40), np.ones(40)
        X[:, 1] = 0.0
        X[rows, 1] = rng.normal(size=14) * scale
        y[rows] = rng.normal(size=14) + np.sign(X[rows, 1])
        w[rows] = tiny * rng.uniform(0.5, 1.0, 14)
        path = select(KINDS[kind](X), y, 1, method, include=[1], sample_weight=w)
        if method == "socc":
            expected = naive.exact_r_squared([X[:, 1]], y, w)
        else:  # nothing is centered
            x, y, w = ([Fraction(float(v)) for v in column] for column in (X[:, 1], y, w))
            along, xx, yy = (
                sum(a * b * c for a, b, c in zip(left, right, w))
                for left, right in ((x, y), (x, x), (y, y))
            )
            expected = float(along**2 / (xx * yy))
        assert path.gains == pytest.approx([expected], rel=1e-12), tiny
