"""Slow, obviously right twins: explicit centering, singular values, all candidates tried.

Nothing here imports orthoselect, and nothing here is clever.
"""

from __future__ import annotations

import numpy as np


def centered(A, w=None):
    """Columns minus their weighted mean, rows times sqrt(w), columns at norm one."""
    A = np.asarray(A, dtype=np.longdouble)
    if A.ndim == 1:
        A = A[:, None]
    w = np.ones(len(A)) if w is None else np.asarray(w, dtype=float)
    A = A - (w[:, None] * A).sum(axis=0) / w.sum()
    A = A * np.sqrt(w)[:, None]
    norms = np.sqrt((A * A).sum(axis=0))
    return (A / np.where(norms > 0, norms, 1)).astype(float)


def span(A, tolerance=1e-10):
    """Orthonormal basis of the columns of A, by singular values."""
    if not A.shape[1]:
        return np.zeros((A.shape[0], 0))
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    return U[:, s > tolerance * max(s.max(initial=0), 1e-300)]


def squared_canonical_correlations(A, Y, w=None, tolerance=1e-10):
    """Squared canonical correlations of raw columns A and Y."""
    U, V = span(drop_constants(A, w), tolerance), span(drop_constants(Y, w), tolerance)
    if not U.shape[1] or not V.shape[1]:
        return np.zeros(0)
    return np.clip(np.linalg.svd(U.T @ V, compute_uv=False), 0, 1) ** 2


def drop_constants(A, w=None):
    """Centered columns of norm one, without those that do not vary."""
    A = np.asarray(A, dtype=float)
    A = A[:, None] if A.ndim == 1 else A
    live = A if w is None else A[np.asarray(w) > 0]
    varies = (live != live[:1]).any(axis=0) if len(live) else np.zeros(A.shape[1], bool)
    return centered(A[:, varies], w) if varies.any() else np.zeros((len(A), 0))


def value(A, Y, w=None, tolerance=1e-10):
    """The criterion of a set of columns: the sum of squared canonical correlations."""
    return squared_canonical_correlations(A, Y, w, tolerance).sum()


def one_hot(labels):
    """One indicator column for every distinct label."""
    labels = np.asarray(labels)
    return np.column_stack([(labels == level).astype(float) for level in sorted(set(labels))])


def forward(blocks, Y, t, w=None, include=(), tie=1e-9, nothing=1e-13, tolerance=1e-10):
    """Greedy selection by definition.

    Parameters
    ----------
    blocks : list of arrays (N, p)
        The raw columns of each feature.
    Y : array (N, q)
        The coded response.

    Returns
    -------
    selected, gains : lists
    """
    blocks = [np.asarray(b, float).reshape(len(Y), -1) for b in blocks]
    selected, gains, reached = [], [], 0.0
    taken = np.zeros((len(Y), 0))
    for f in include:
        taken = np.hstack([taken, blocks[f]])
        new = value(taken, Y, w, tolerance)
        selected.append(f)
        gains.append(new - reached)
        reached = new
    while len(selected) < t:
        rank = span(drop_constants(taken, w), tolerance).shape[1]
        scores = {}
        for f, block in enumerate(blocks):
            if f in selected:
                continue
            both = np.hstack([taken, block])
            if span(drop_constants(both, w), tolerance).shape[1] == rank:
                continue  # adds no direction
            scores[f] = value(both, Y, w, tolerance) - reached
        best_gain = max(scores.values(), default=0.0)
        if best_gain <= nothing:
            break
        best = min(f for f in scores if scores[f] >= best_gain * (1 - tie))
        taken = np.hstack([taken, blocks[best]])
        selected.append(best)
        gains.append(scores[best])
        reached += scores[best]
    return selected, gains


def orthogonal_gain(rest, Y, criterion, total):
    """What a column that is orthogonal to the selected ones is worth by an older criterion."""
    if criterion == "obcc":
        u = Y[:, -1]
        rest = rest - u * (u @ rest)
        rest = rest - u * (u @ rest)
        if rest @ rest < 1e-22:
            return 0.0
    gain = 0.0
    for y in Y[:, :-1].T:
        if criterion == "obcc":
            y = y - u * (u @ y)
            y = y - u * (u @ y)
        energy = y @ y
        if energy > 1e-22 * (Y[:, :-1] ** 2).sum():
            share = (rest @ y) ** 2 / (rest @ rest) / energy
            gain += share * energy / total if criterion == "mser" else share
    return gain


def orthogonal_forward(
    X, Y, t, criterion, w=None, include=(), tie=1e-9, nothing=1e-13, tolerance=1e-11
):
    """Greedy selection by err, mser or obcc: every candidate orthogonalized in long doubles.

    Parameters
    ----------
    X : array (N, n)
    Y : array (N, q)
        The responses as numbers.
    """
    w = np.ones(len(X)) if w is None else np.asarray(w, dtype=float)
    w = w / w[w > 0].mean()
    root = np.sqrt(w.astype(np.longdouble))[:, None]
    flat = np.ptp(X[w > 0], axis=0) == 0
    X = np.asarray(X, dtype=np.longdouble) * root
    norms = np.sqrt((X * X).sum(axis=0))
    X = X / np.where(norms > 0, norms, 1)
    u = root / np.sqrt((root**2).sum())
    Y = np.hstack([np.asarray(Y, dtype=np.longdouble) * root, u])
    most = (Y[:, :-1] ** 2).sum() / w.sum() if criterion == "mser" else 1.0
    Q, selected, gains = [], [], []

    def left(f):
        rest = X[:, f]
        for _ in range(3):
            for q in Q:
                rest = rest - q * (q @ rest)
        return rest

    def independent(rest):
        return rest @ rest > tolerance**2

    def take(f, gain):
        rest = left(f)
        if independent(rest):
            Q.append(rest / np.sqrt(rest @ rest))
        selected.append(f)
        gains.append(float(gain))

    for f in include:
        rest = left(f)
        useful = independent(rest) and not (criterion == "obcc" and flat[f])
        take(f, orthogonal_gain(rest, Y, criterion, w.sum()) if useful else 0.0)
    while len(selected) < t:
        scores = {}
        for f in range(X.shape[1]):
            if f in selected or (criterion == "obcc" and flat[f]):
                continue
            rest = left(f)
            if independent(rest):
                scores[f] = orthogonal_gain(rest, Y, criterion, w.sum())
        best_gain = max(scores.values(), default=0.0)
        if best_gain <= nothing * most:
            break
        best = min(f for f in scores if scores[f] >= best_gain * (1 - tie))
        take(best, scores[best])
    return selected, gains


def standardized(A, w=None):
    """Columns at mean zero and standard deviation one; constant ones are zero."""
    A = np.asarray(A, dtype=float)
    w = np.ones(len(A)) if w is None else np.asarray(w, dtype=float)
    A = A - np.average(A, axis=0, weights=w)
    spread = np.sqrt(np.average(A**2, axis=0, weights=w))
    return np.where(spread > 1e-9, A / np.where(spread > 1e-9, spread, 1), 0.0)


def entries(X, Y, t, l1_ratio, steps=1500, eps=1e-3):
    """Sets of features that enter the elastic net path together, on a fine grid of penalties.

    X is standardized; Y (N, q) is centered. Stops once t features have entered.
    """
    from sklearn.linear_model import enet_path

    largest = np.linalg.norm(X.T @ Y, axis=1).max() / len(X) / l1_ratio
    alphas = largest * np.geomspace(1, eps, steps)
    seen, sets = set(), []
    coefficients = None
    for start in range(0, steps, 50):
        _, path, _ = enet_path(
            X,
            Y[:, 0] if Y.shape[1] == 1 else Y,
            l1_ratio=l1_ratio,
            alphas=alphas[start : start + 50],
            coef_init=coefficients,
            tol=1e-10,
            max_iter=100_000,
            precompute=False,
        )
        path = path[None] if path.ndim == 2 else path
        coefficients = np.asfortranarray(path[0, :, -1] if Y.shape[1] == 1 else path[:, :, -1])
        sizes = np.linalg.norm(path, axis=0)
        for column in sizes.T:
            new = {int(j) for j in np.flatnonzero(column > 1e-9 * column.max())} - seen
            if new:
                sets.append(new)
                seen |= new
        if len(seen) >= t:
            break
    return sets


def shapley_values(predict, x, background):
    """Shapley values of predict at row x, by trying every coalition of its features.

    Features that are absent take their values in the rows of the background, in turn.

    Returns
    -------
    values : array (n, outputs)
    """
    from itertools import combinations
    from math import factorial

    n = len(x)

    def worth(present):
        rows = np.array(background, dtype=float)
        rows[:, list(present)] = x[list(present)]
        return predict(rows).mean(axis=0)

    values = []
    for k in range(n):
        others = [j for j in range(n) if j != k]
        value = 0.0
        for s in range(n):
            share = factorial(s) * factorial(n - s - 1) / factorial(n)
            for present in combinations(others, s):
                value = value + share * (worth((*present, k)) - worth(present))
        values.append(value)
    return np.array(values)
