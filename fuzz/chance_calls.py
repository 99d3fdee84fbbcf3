"""Calls of the kernels that find what chance would: valid arguments, and what they give."""

from __future__ import annotations

from typing import Any

import numpy as np

Rng = np.random.Generator
_BLOCK, _GROUPS = 64, 16  # rows of a code, and its bytes: four rows each
_FLAT = 1e-5  # M with such a pivot is left to others


def make_class_planes(rng: Rng) -> dict[str, Any]:
    """Return classes of rows in a few permutations, and codes without any bit."""
    N, B, c = int(rng.choice([0, 1, 5, 64, 130])), int(rng.integers(0, 5)), int(rng.integers(2, 7))
    classes = rng.integers(0, c, (B, N)).astype(np.uint8)
    codes = np.zeros((-(-N // _BLOCK), B * (c - 1), _GROUPS), np.uint8)
    return {"classes": classes, "planes": c - 1, "codes": codes}


def class_planes_twin(classes: Any, planes: int, codes: Any) -> dict[str, Any] | None:
    """Return the codes with their bits, bit by bit."""
    if codes.any():
        return None  # they should be zeros
    codes = codes.copy()
    for b, of in enumerate(classes):
        for i, k in enumerate(of.tolist()):
            if k < planes:
                codes[i // _BLOCK, b * planes + k, i % _BLOCK // 4] |= 16 << i % 4
    return {"codes": codes}


def make_permuted_sums(rng: Rng) -> dict[str, Any]:
    """Return small whole numbers, so that float32 has all digits of their sums."""
    N, n = int(rng.choice([0, 1, 5, 64, 130, 600])), int(rng.choice([1, 3, 16, 17, 64, 70]))
    P = int(rng.integers(0, 7))
    codes = 16 * rng.integers(0, 16, (-(-N // _BLOCK), P, _GROUPS))
    X = rng.integers(-9, 10, (N, n)).astype(rng.choice([np.float32, np.float64]))
    offset = rng.integers(-9, 10, n).astype(float)
    return {"X": X, "codes": codes.astype(np.uint8), "offset": offset, "out": np.ones((P + 1, n))}


def permuted_sums_twin(X: Any, codes: Any, offset: Any, out: Any) -> dict[str, Any] | None:
    """Return the sums of the rows whose bits are set."""
    A = X.astype(float) - offset
    if not (np.abs(A) <= 100).all() or (np.rint(A) != A).any():
        return None
    bits = (codes[..., None] >> np.arange(4, 8)) & 1  # (blocks, P, groups, 4)
    bits = bits.transpose(1, 0, 2, 3).reshape(codes.shape[1], len(codes) * _BLOCK)[:, : len(X)]
    return {"out": out + np.vstack([bits, np.ones(len(X), int)]) @ A}


def make_null_best(rng: Rng) -> dict[str, Any]:
    """Return products of a few null responses; some are nearly explained."""
    B, m, n = int(rng.integers(0, 4)), int(rng.integers(1, 5)), int(rng.choice([1, 7, 8, 16, 40]))
    kind = rng.choice([np.float32, np.float64])
    A = rng.normal(size=(B, m, m + 3))
    M = A @ A.transpose(0, 2, 1) / (m + 3)
    if B and rng.random() < 0.3:
        M[0, :, 0] = M[0, 0, :] = 0.0
    due = rng.random() < 0.7
    return {
        "C": rng.normal(size=(B, m, n)).astype(kind),
        "along": rng.normal(size=(B, m)) if due else None,
        "r": rng.normal(size=n).astype(kind) if due else None,
        "M": M, "factors": rng.random(n).astype(kind), "best": np.zeros(B),
    }  # fmt: skip


def null_best_twin(
    C: Any, along: Any, r: Any, M: Any, factors: Any, best: Any
) -> dict[str, Any] | None:
    """Return C without what is due, and the largest statistic of each response."""
    due = [] if along is None else [along, r]
    finite = all(np.isfinite(a).all() for a in (C, M, factors, *due))
    if not finite or (M.transpose(0, 2, 1) != M).any() or (factors < 0).any():
        return None
    left = C.astype(float)
    if along is not None:
        left = left - along[:, :, None] * r
    told = []
    for A, N in zip(left, M):
        try:
            pivots = np.linalg.cholesky(N).diagonal() ** 2
        except np.linalg.LinAlgError:
            pivots = np.zeros(1)
        if ((pivots > _FLAT / 1000) & (pivots < _FLAT * 1000)).any():
            return None  # few digits are left
        flat = len(pivots) and pivots.min() < _FLAT
        told.append(-1.0 if flat else float((factors * (A * np.linalg.solve(N, A)).sum(0)).max(
            initial=0.0)))  # fmt: skip
    return {"C": left, "best": np.array(told)}
