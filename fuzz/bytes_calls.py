"""Calls of the kernels that work with bounds on bytes, and of walks; what they give, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

Rng = np.random.Generator
Arguments = dict[str, Any]
Answer = dict[str, Any]

_PANEL, _QUAD_ROWS, _HALF, _MOST, _KINDS = 64, 4, 128, 127, 5
_LARGE = 1e30  # nothing is promised of larger numbers
_PLAIN_RULES = (1e-6, 0.0, 1.0, 1e-12, 0.0, 0.0, 0.0, 0.0, 0.0)  # no doubt but of ties


def _usual(*arrays: Any) -> bool:
    return all(bool((np.abs(np.asarray(a, float)) < _LARGE).all()) for a in arrays)


def make_cut_to_bytes(rng: Rng) -> Arguments:
    """Return a block of rows, centers and scales of its columns, and a copy with room for it."""
    N, n, m = (
        int(rng.integers(1, 70)),
        int(rng.choice([1, 3, 63, 64, 65, 130])),
        int(rng.integers(3)),
    )
    quad, quads = int(rng.integers(0, 3)), -(-N // _QUAD_ROWS)
    B = rng.normal(size=(N, n)).astype(rng.choice([np.float32, np.float64]))
    shape = -(-n // _PANEL), quad + quads + int(rng.integers(0, 2)), _PANEL * _QUAD_ROWS
    return {
        "B": B, "V": rng.normal(size=(N, m)), "centers": rng.normal(size=n),
        "scales": rng.choice([1.0, 40.0, 300.0], n), "copy": np.zeros(shape, np.uint8),
        "quad": quad, "found": np.zeros((_KINDS, n)), "VtB": rng.normal(size=(m, n)),
    }  # fmt: skip


def cut_to_bytes_twin(
    B: Any, V: Any, centers: Any, scales: Any, copy: Any, quad: Any, found: Any, VtB: Any
) -> Answer | None:
    """Return the bytes cell by cell, and sums over the rows."""
    if not _usual(B, V, centers, scales, found, VtB):
        return None
    A = B.astype(float)
    t = ((A - centers) * scales).astype(np.float32).astype(float)
    whole = np.rint(np.clip(t, -_MOST, _MOST))
    bytes_ = copy.copy()
    bytes_[:, int(quad) : int(quad) - (-len(B) // _QUAD_ROWS)] = _HALF
    for i, j in np.ndindex(*whole.shape):
        place = _QUAD_ROWS * (j % _PANEL) + i % _QUAD_ROWS
        bytes_[j // _PANEL, int(quad) + i // _QUAD_ROWS, place] = whole[i, j] + _HALF
    sums = [A.sum(0), (A * A).sum(0), whole.sum(0), ((t - whole) ** 2).sum(0)]
    new = np.vstack([found[:4] + sums, np.maximum(found[4], np.abs(t).max(0))])
    answer = {"copy": bytes_, "VtB": VtB + V.T @ A}
    # Squares of what is cut off are added up in short numbers.
    return answer | ({"found": new} if B.dtype == np.float32 else {})


def make_byte_products(rng: Rng) -> Arguments:
    """Return any bytes, as many directions as may be, and which processors' ways are allowed."""
    panels, quads, b = (
        int(rng.integers(1, 4)),
        int(rng.choice([1, 2, 7, 300])),
        int(rng.integers(7)),
    )
    return {
        "copy": rng.integers(0, 256, (panels, quads, _PANEL * _QUAD_ROWS)).astype(np.uint8),
        "directions": rng.integers(-128, 128, (2 * b, _QUAD_ROWS * quads)).astype(np.int8),
        "out": np.zeros((b, _PANEL * panels)), "most": int(rng.integers(0, 3)),
    }  # fmt: skip


def byte_products_twin(copy: Any, directions: Any, out: Any, most: Any) -> Answer:
    """Return the products of whole numbers, which are exact."""
    whole = 256 * directions[::2].astype(np.int64) + directions[1::2]
    panels, quads = copy.shape[:2]
    numbers = copy.reshape(panels, quads, _PANEL, _QUAD_ROWS).transpose(1, 3, 0, 2)
    return {"out": (whole @ numbers.reshape(_QUAD_ROWS * quads, -1).astype(np.int64)).astype(float)}


def make_bound_columns(rng: Rng) -> Arguments:
    """Return what is known of some columns, of little left too, and what was left out."""
    n, m = int(rng.choice([0, 1, 5, 300])), int(rng.integers(0, 4))
    return {
        "C": rng.normal(size=(m, n)) * 0.3, "d": rng.random(n) * rng.choice([1e-3, 1.1], n),
        "errors": rng.random(n) * 0.05, "known": (rng.random(n) < 0.3).astype(float),
        "lost": float(rng.random() * 1e-3), "spectral": float(rng.random()), "rounding": 1e-12,
        "bounds": np.zeros(n),
    }  # fmt: skip


def bound_columns_twin(
    C: Any, d: Any, errors: Any, known: Any, lost: Any, spectral: Any, rounding: Any, bounds: Any
) -> Answer | None:
    """Return the bounds by their formula."""
    if not _usual(C, d, errors, known, lost, spectral, rounding):
        return None
    eta = errors + lost * (1.0 + errors) + rounding
    along = np.sqrt(np.maximum(1.0 - d, 0.0)) + eta
    left = 1.0 - along * along
    if (np.abs(left) < 1e-6).any():  # a rounding decides
        return None
    most = np.sqrt((C * C).sum(axis=0)) + spectral * eta + rounding
    return {"bounds": np.where(known > 0, -1.0, np.where(left > 0, most * most / left, np.inf))}


def make_walk(rng: Rng) -> Arguments:
    """Return columns by their inner products, and rules by which only ties are in doubt."""
    n, m, steps = int(rng.integers(1, 9)), int(rng.integers(1, 4)), int(rng.integers(0, 7))
    X = rng.normal(size=(30, n))
    X /= np.linalg.norm(X, axis=0)
    V = np.linalg.qr(rng.normal(size=(30, m)))[0]
    return {
        "G": X.T @ X, "C": V.T @ X, "d": np.ones(n), "sizes": np.zeros(n), "initial": np.zeros(n),
        "names": rng.permutation(n + 2)[:n], "open": rng.random(n + 2) < 0.8,
        "rules": _PLAIN_RULES, "L": np.zeros((steps, n)), "room": np.zeros(n + m + 4 * steps),
        "taken": np.zeros(steps, np.int64), "gains": np.zeros(steps),
    }  # fmt: skip


def walk_twin(
    G: Any, C: Any, d: Any, sizes: Any, initial: Any, names: Any, open: Any, rules: Any, L: Any,
    room: Any, taken: Any, gains: Any,
) -> Answer | None:  # fmt: skip
    """Return the steps of forward search, one by one; nothing where a rounding may decide."""
    if rules != _PLAIN_RULES or sizes.any() or initial.any() or not _usual(G, C, d):
        return None
    if not np.allclose(G, G.T) or not np.allclose(np.diag(G), d):
        return None  # these are no inner products
    C, d, rows = C.astype(float), d.astype(float), np.zeros((0, len(d)))
    open, taken, gains = open.copy(), taken.copy(), gains.copy()
    for k in range(len(taken)):
        if k:
            j = int(taken[k - 1])
            r = (G[j] - rows[:, j] @ rows) / np.sqrt(d[j])
            r[taken[: k - 1]] = 0.0
            C, d = C - np.outer(C[:, j] / np.sqrt(d[j]), r), d - r * r
            rows = np.vstack([rows, r])
        left = np.delete(d, taken[:k])
        if (left < 1e-3).any():
            return None
        scores = np.where(d >= 1e-6, np.minimum((C * C).sum(0) / np.maximum(d, 1e-6), 1.0), 0.0)
        scores[~open[names]] = -1.0
        order = np.argsort(-scores)
        if not len(order) or scores[order[0]] < 0:
            return {"returned": k, "taken": taken, "gains": gains, "open": open}
        if scores[order[0]] < 1e-6 or (len(order) > 1 and np.diff(-scores[order[:2]])[0] < 1e-6):
            return None
        taken[k], gains[k] = order[0], scores[order[0]]
        open[names[order[0]]] = False
    return {"returned": len(taken), "taken": taken, "gains": gains, "open": open}
