"""Random selection problems, the nasty ones included."""

from dataclasses import dataclass, field

import numpy as np
import pytest
import scipy.sparse as sp

import naive
from orthoselect.errors import ConstantTargetError
from orthoselect.methods import METHODS

# The methods that explain a target.
EXPLAINING = [name for name, method in METHODS.items() if method.needs_target]


@dataclass
class Problem:
    """A table, a response, and what the by-definition twin needs to know about them."""

    X: np.ndarray
    y: np.ndarray
    Y: np.ndarray
    blocks: list
    t: int
    options: dict = field(default_factory=dict)
    stored: object = None
    weights: np.ndarray | None = None
    include: tuple = ()


def constant_and_refused(y, find):
    """Whether the classes are all the same; if so, `find` has been seen to refuse them."""
    if len(set(y)) > 1:
        return False
    with pytest.raises(ConstantTargetError, match=rf"every row has {y[0]}\."):
        find()
    return True


def columns(rng, N, n, offset=1e5):
    """Columns with one or more of the usual diseases; an offset is in spreads."""
    X = rng.normal(size=(N, n))
    if rng.random() < 0.25 and n > 3:  # rank-deficient
        half = n // 2
        X[:, half:] = X[:, :half] @ rng.normal(size=(half, n - half))
    if rng.random() < 0.25:
        X = np.round(X)  # ties, constants, duplicates
    if rng.random() < 0.25 and n > 2:
        X[:, n // 2] = X[:, 0] * 3 - 5
    if rng.random() < 0.25 and n > 2:
        X[:, -1] = X[:, 0] + 10.0 ** rng.integers(-6, -2) * rng.normal(size=N)
    if rng.random() < 0.2 and n > 1:
        X[:, 1] = rng.normal()
    if rng.random() < 0.25:
        X = X * 10.0 ** rng.integers(-12, 13, n)
    if rng.random() < 0.2:
        X = X + offset * X.std(axis=0)
    return X


def response(rng, N, X):
    """Classes, numbers or several responses; returns y, its coded columns, and the task."""
    kind = rng.choice(["two", "many", "number", "several", "labels"])
    signal = X[:, 0] / (np.abs(X[:, 0]).max() + 1e-300) + rng.normal(size=N)
    if kind == "two":
        y = (signal > np.median(signal)).astype(int)
        return y, naive.one_hot(y), "classification"
    if kind == "many":
        y = rng.permutation(5)[np.digitize(signal, np.quantile(signal, [0.2, 0.5, 0.7]))]
        return y, naive.one_hot(y), "classification"
    if kind == "number":
        return signal, signal[:, None], "regression"
    if kind == "several":
        Y = np.column_stack([signal, rng.normal(size=N), signal])
        return Y, Y, "regression"
    Y = np.column_stack([signal > 0, rng.random(N) < 0.5]).astype(int)
    return Y, Y.astype(float), "classification"


def random_problem(seed, offset=1e5):
    """A plain problem: each column a feature; dense or sparse; weighted or not."""
    rng = np.random.default_rng(seed)
    N, n = int(rng.integers(4, 50)), int(rng.integers(1, 20))
    X = columns(rng, N, n, offset)
    if rng.random() < 0.3:
        X = X * (rng.random((N, n)) < 0.4)
    y, Y, task = response(rng, N, X)
    w = None
    if rng.random() < 0.3:
        w = rng.integers(0, 4, N).astype(float)
        w[:2] = 1.0
    stored = X
    if rng.random() < 0.4:
        stored = rng.choice(["csr", "csc", "coo"])
        stored = sp.coo_array(X).asformat(stored)
    return Problem(X, y, Y, [X[:, [j]] for j in range(n)], min(n, 6), {"task": task}, stored, w)


def random_block_problem(seed):
    """Groups and categorical columns beside plain ones."""
    rng = np.random.default_rng(seed)
    N, n = int(rng.integers(8, 60)), int(rng.integers(4, 14))
    X = columns(rng, N, n)
    n_categorical = int(rng.integers(0, 3))
    for c in range(n_categorical):
        X[:, c] = rng.integers(0, rng.integers(1, 6), N)
    y, Y, task = response(rng, N, X[:, ::-1])
    labels = [None] * n
    for g in range(int(rng.integers(0, 3))):
        for c in rng.choice(n, size=int(rng.integers(1, 5)), replace=False):
            labels[c] = labels[c] or f"group{g}"
    blocks = {}
    for c in range(n):
        own = naive.one_hot(X[:, c]) if c < n_categorical else X[:, [c]]
        blocks.setdefault(labels[c] or c, []).append(own)
    w = rng.integers(1, 4, N).astype(float) if rng.random() < 0.3 else None
    blocks = [np.hstack(parts) for parts in blocks.values()]
    include = (len(blocks) - 1,) if rng.random() < 0.3 else ()
    options = {
        "task": task,
        "groups": labels,
        "categorical_features": list(range(n_categorical)),
    }
    return Problem(X, y, Y, blocks, min(len(blocks), 4), options, X, w, include)
