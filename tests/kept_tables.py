"""A table to make statistics of, and when two of these are the same."""

import numpy as np
import pandas as pd
import pytest

N = 90


def table():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(N, 3))
    kind = rng.choice(["red", "green", "blue"], N)
    return pd.DataFrame(
        {
            "a": X[:, 0],
            "b": X[:, 1] + 1e3,
            "note": ["keep out"] * N,
            "kind": kind,
            "w": rng.integers(0, 4, N),
            "y": np.where(X[:, 1] + (kind == "red") + rng.normal(size=N) > 0.3, "yes", "no"),
            "number": X[:, 1] - 2 * X[:, 0] + rng.normal(size=N),
        }
    )


def same(statistics, expected):
    assert statistics.names == expected.names
    assert statistics.n_rows == expected.n_rows
    assert statistics.weight == pytest.approx(expected.weight)
    assert sorted(statistics.terms) == sorted(expected.terms)
    there, here = np.argsort(expected.terms), np.argsort(statistics.terms)
    assert statistics.means[here] == pytest.approx(expected.means[there])
    assert statistics.covariance[np.ix_(here, here)] == pytest.approx(
        expected.covariance[np.ix_(there, there)], abs=1e-9
    )
    path, other = statistics.select(2), expected.select(2)
    assert (path.names, path.columns) == (other.names, other.columns)
    assert path.gains == pytest.approx(other.gains, abs=1e-9)
    assert path.options == other.options
