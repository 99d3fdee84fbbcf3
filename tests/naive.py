"""Slow, obviously right twins: explicit centering, singular values, all candidates tried.

Nothing here imports orthoselect, and nothing here is clever.
"""

from __future__ import annotations

import math

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


def count_sums(columns, y, w=None):
    """Sums of c ln c over tables of counts, by counting every row in a dictionary.

    Parameters
    ----------
    columns : list of sequences
        The labels of each feature, of any kind.
    y : sequence
    w : sequence of floats, optional
        Row weights.

    Returns
    -------
    dict
        "n" and "y" for all rows and for the classes; "x" and "xy" are lists by feature; "xj" and
        "xjy" are lists of lists by pair of features.
    """
    w = [1] * len(y) if w is None else list(w)

    def total(*parts):
        counts = {}
        for weight, *cell in zip(w, *parts):
            counts[tuple(cell)] = counts.get(tuple(cell), 0) + weight
        return math.fsum(c * math.log(c) for c in counts.values() if c > 0)

    return {
        "n": total(),
        "y": total(y),
        "x": [total(x) for x in columns],
        "xy": [total(x, y) for x in columns],
        "xj": [[total(x, other) for x in columns] for other in columns],
        "xjy": [[total(x, other, y) for x in columns] for other in columns],
    }
