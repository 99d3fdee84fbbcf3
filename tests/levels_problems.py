"""Random problems with categorical columns of many levels, and what makes them hard."""

import numpy as np

import naive
from problems import Problem


def categorical_columns(rng, N, most):
    """Return some categorical columns, codes (N,) each, and a few numbers, some made of them."""
    codes = [rng.integers(0, rng.integers(2, most + 1), N) for _ in range(rng.integers(1, 4))]
    first, z = codes[0], int(codes[0].max()) + 1
    kinds = rng.choice(6, size=int(rng.integers(1, 4)), replace=False).tolist()
    if 0 in kinds:
        codes.append(first // int(rng.integers(2, 5)))  # nested: a state of each city
    if 1 in kinds:
        codes.append(rng.permutation(z)[first])  # the same under other names
    if 2 in kinds:
        codes.append(rng.permutation(N) // 2)  # nearly an identifier
    if 3 in kinds:
        codes.append(np.where(rng.random(N) < 0.1, rng.integers(0, z, N), first))
    numbers = [rng.normal(size=N) for _ in range(rng.integers(0, 3))]
    if 4 in kinds:
        numbers.append(rng.normal(size=z)[first])  # the latitude of each city
    if 5 in kinds:
        numbers.append(rng.normal(size=z)[first] + 1e-4 * rng.normal(size=N))
    return codes, numbers


def response(rng, N, codes, numbers):
    """Return y, its coded columns, and the task."""
    signal = rng.normal(size=N) + sum(rng.normal(size=c.max() + 1)[c] for c in codes[:2])
    signal = signal + sum(numbers, start=np.zeros(N))
    kind = rng.integers(3)
    if kind == 0:
        return signal, signal[:, None], "regression"
    if kind == 1:
        Y = np.column_stack([signal, rng.normal(size=N) + codes[0]])
        return Y, Y, "regression"
    y = np.digitize(signal, np.quantile(signal, np.linspace(0, 1, rng.integers(3, 8))[1:-1]))
    return y, naive.one_hot(y), "classification"


def random_levels_problem(seed, N=(20, 70), most=20):
    """A problem with categorical columns of up to `most` levels, in some order, some in groups."""
    rng = np.random.default_rng(seed)
    N = int(rng.integers(*N))
    codes, numbers = categorical_columns(rng, N, most)
    y, Y, task = response(rng, N, codes, numbers)
    order = rng.permutation(len(codes) + len(numbers))
    table = [*(c.astype(float) for c in codes), *numbers]
    X = np.column_stack([table[c] for c in order])
    categorical = [place for place, c in enumerate(order) if c < len(codes)]
    n, labels = X.shape[1], [None] * X.shape[1]
    if rng.random() < 0.3 and n > 2:
        for c in rng.choice(n, size=2, replace=False):
            labels[c] = "both"
    blocks = {}
    for c in range(n):
        own = naive.one_hot(X[:, c]) if c in categorical else X[:, [c]]
        blocks.setdefault(labels[c] or c, []).append(own)
    w = None
    if rng.random() < 0.3:
        w = rng.integers(0, 4, N).astype(float) if rng.random() < 0.5 else rng.random(N)
        w[:2] = 1.0
    names = list(blocks)
    include = tuple(rng.permutation(len(names))[:2].tolist()) if rng.random() < 0.5 else ()
    options = {"task": task, "groups": labels, "categorical_features": categorical}
    blocks = [np.hstack(parts) for parts in blocks.values()]
    problem = Problem(X, y, Y, blocks, min(len(blocks), 6), options, X, w, include)
    return problem, names
