"""Calls of every compiled kernel: valid arguments at random, and what they have to give, by NumPy.

A twin is slow and says what the kernel is for. It may raise, or return nothing, for arguments that
the kernel takes and of which nothing is promised.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from fuzz.bytes_calls import (
    bound_columns_twin,
    byte_products_twin,
    cut_to_bytes_twin,
    make_bound_columns,
    make_byte_products,
    make_cut_to_bytes,
    make_walk,
    walk_twin,
)
from fuzz.chance_calls import (
    class_planes_twin,
    make_class_planes,
    make_null_best,
    make_permuted_sums,
    null_best_twin,
    permuted_sums_twin,
)
from fuzz.coding_calls import (
    column_ends_twin,
    cut_columns_twin,
    look_up_numbers_twin,
    make_column_ends,
    make_cut_columns,
    make_look_up_numbers,
    make_mark_levels,
    make_mark_numbers,
    make_turn_columns,
    mark_levels_twin,
    mark_numbers_twin,
    turn_columns_twin,
)
from fuzz.digest_calls import digest_blocks_twin, make_digest_blocks
from orthoselect import native
from orthoselect.counts import Logarithms

Rng = np.random.Generator
Arguments = dict[str, Any]
Answer = dict[str, Any]  # the outputs by their names, and "returned"

ROWS = [0, 1, 2, 7, 31, 64, 65, 130, 300]
COLUMNS = [1, 2, 3, 4, 5, 8, 15, 16, 17, 33, 70]


@dataclass(frozen=True)
class Kernel:
    """One kernel.

    Attributes
    ----------
    make : callable
        Returns valid arguments by their names, in order.
    twin : callable
        Returns what these give, or nothing where nothing is promised.
    outputs : tuple of str
        The arguments that are written to.
    """

    make: Callable[[Rng], Arguments]
    twin: Callable[..., Answer | None]
    outputs: tuple[str, ...] = ()


def _sizes(rng: Rng) -> tuple[int, int]:
    return int(rng.choice(ROWS)), int(rng.choice(COLUMNS))


def _block(rng: Rng, N: int, n: int) -> Any:
    return rng.normal(size=(N, n)).astype(rng.choice([np.float32, np.float64]))


def _some(rng: Rng, value: Any) -> Any:
    return value if rng.random() < 0.5 else None


# Products


def _cross(rng: Rng) -> Arguments:
    (N, n), b = _sizes(rng), int(rng.choice([0, 1, 2, 4, 5, 7, 12, 13, 32]))
    B = _block(rng, N, n)
    Z = rng.normal(size=(N, b)).astype(rng.choice([B.dtype, np.dtype(np.float64)]))
    return {"Z": Z, "B": B, "out": rng.normal(size=(b, n)), "squares": _some(rng, np.ones(n))}


def _cross_twin(Z: Any, B: Any, out: Any, squares: Any) -> Answer:
    Z, B = Z.astype(float), B.astype(float)
    return {"out": out + Z.T @ B, "squares": None if squares is None else squares + (B * B).sum(0)}


def _gram(rng: Rng) -> Arguments:
    (N, n), b = _sizes(rng), int(rng.choice([0, 1, 2, 4, 5, 7, 12, 32]))
    return {
        "B": _block(rng, N, n), "J": rng.integers(0, n, b), "means": rng.normal(size=b),
        "factors": rng.normal(size=b), "weights": _some(rng, rng.random(N)),
        "out": rng.normal(size=(b, n)), "sums": rng.normal(size=b), "errors2": np.zeros(b),
        "in_double": bool(rng.random() < 0.5),
    }  # fmt: skip


def _gram_twin(
    B: Any, J: Any, means: Any, factors: Any, weights: Any, out: Any, sums: Any, **_: Any
) -> Answer:
    B = B.astype(float)
    Z = (B[:, J] - means) * factors * (1.0 if weights is None else weights[:, None])
    return {"out": out + Z.T @ B, "sums": sums + Z.sum(axis=0)}


def _take(rng: Rng) -> Arguments:
    N, n = _sizes(rng)
    J = rng.integers(0, n, int(rng.integers(0, 9)))
    return {"B": _block(rng, N, n), "J": J, "A": rng.normal(size=(N, len(J)))}


def _take_twin(B: Any, J: Any, A: Any) -> Answer:
    return {"A": B[:, J].astype(float).reshape(A.shape)}


def _inner_products(rng: Rng) -> Arguments:
    (N, n), t = _sizes(rng), int(rng.integers(0, 40))
    return {
        "B": _block(rng, N, n), "J": rng.integers(0, n, t), "shift": _some(rng, rng.normal(size=t)),
        "scale": _some(rng, rng.normal(size=t)), "root": _some(rng, rng.random(N)),
        "out": rng.normal(size=(t, t)),
    }  # fmt: skip


def _inner_twin(B: Any, J: Any, shift: Any, scale: Any, root: Any, out: Any) -> Answer:
    A = B[:, J].astype(float)
    A = A if shift is None else A - shift
    A = A if scale is None else A * scale
    A = A if root is None else A * root[:, None]
    return {"out": out + A.T @ A}


def _class_sums(rng: Rng) -> Arguments:
    (N, n), c = _sizes(rng), int(rng.choice([1, 2, 3, 10, 256]))
    return {
        "B": _block(rng, N, n), "codes": rng.integers(0, c, N).astype(np.uint8),
        "weights": _some(rng, rng.random(N)), "sums": rng.normal(size=(c, n)),
        "squares": rng.normal(size=n),
    }  # fmt: skip


def _class_twin(B: Any, codes: Any, weights: Any, sums: Any, squares: Any) -> Answer:
    B, sums = B.astype(float), sums.copy()
    wB = B if weights is None else B * weights[:, None]
    np.add.at(sums, codes, wB)
    return {"sums": sums, "squares": squares + (wB * B).sum(axis=0)}


# Steps of a search


def _leader(rng: Rng) -> Arguments:
    n, many = int(rng.integers(0, 300)), int(rng.integers(1, 400))
    gains = rng.choice([-1.0, 0.0, 0.25, 0.5], n) + rng.choice([0.0, 1e-3], n)
    return {"gains": gains, "names": rng.integers(0, many, n), "open": rng.random(many) < 0.7}


def _leader_twin(gains: Any, names: Any, open: Any) -> Answer:
    counts = np.where((gains >= 0) & (open[names] != 0), gains, -1.0)
    if not (counts >= 0).any():
        return {"returned": (-1, -1.0)}
    top = int(counts.argmax())
    return {"returned": (top, float(np.delete(counts, top).max(initial=-1.0)))}


def _row_from_gram(rng: Rng) -> Arguments:
    n, k = int(rng.choice([0, 1, 5, 512, 513])), int(rng.integers(0, 6))
    return {
        "g": rng.normal(size=n), "L": rng.normal(size=(k + 2, n)),
        "coefficients": rng.normal(size=k), "left": 0.5, "r": np.zeros(n),
    }  # fmt: skip


def _row_twin(g: Any, L: Any, coefficients: Any, left: Any, r: Any) -> Answer:
    return {"r": (g - coefficients @ L[: len(coefficients)]) * np.divide(1.0, left)}


def _state(rng: Rng) -> Arguments:
    n, m = int(rng.choice([0, 1, 5, 512, 600])), int(rng.integers(0, 5))
    return {
        "r": rng.normal(size=n) * 0.3, "c": rng.normal(size=m), "C": rng.normal(size=(m, n)),
        "d": rng.random(n) + 0.1,
    }  # fmt: skip


def _remove_twin(r: Any, c: Any, C: Any, d: Any) -> Answer:
    return {"C": C - np.outer(c, r), "d": d - r * r}


def _score_columns(rng: Rng) -> Arguments:
    given = _state(rng)
    if rng.random() < 0.3:
        given["r"] = given["c"] = None
    return {**given, "plenty": 0.3, "scores": np.zeros(len(given["d"]))}


def _score_twin(r: Any, c: Any, C: Any, d: Any, plenty: Any, scores: Any) -> Answer | None:
    if r is not None:
        C, d = C - np.outer(c, r), d - r * r
    if (np.abs(d - plenty) < 1e-9).any():
        return None  # rounding decides
    enough = d >= plenty
    found = (C * C).sum(axis=0) / np.where(enough, d, 1.0)
    found = np.where(enough, np.where(found < 1, found, 1.0), 0.0)
    return {"C": C, "d": d, "scores": found, "returned": int((~enough).sum())}


def _look_ahead(rng: Rng) -> Arguments:
    q, k, steps, m = (int(rng.integers(low, 12)) for low in (1, 0, 0, 1))
    X = rng.normal(size=(40, q))
    return {
        "G": X.T @ X, "rows": rng.normal(size=(k + steps, q)) * 0.1, "C": rng.normal(size=(m, q)),
        "d": (X * X).sum(axis=0), "open": (rng.random(q) < 0.8).astype(np.uint8),
        "known": (rng.random(q) < 0.2).astype(np.uint8), "steps": steps, "floor": 1e-9,
        "winners": np.full(int(rng.integers(0, 6)), -7),
    }  # fmt: skip


def _ahead_twin(**given: Any) -> None:
    """Nothing: it guesses, and a guess may be any."""


def _goes_on(bound: float) -> bool:
    return True


def _best_sets(rng: Rng) -> Arguments:
    n, q = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    k = int(rng.integers(1, n + 1))
    widths = rng.choice([1, 1, 1, 2, 3], n)
    p = int(widths.sum())
    R = np.triu(rng.normal(size=(p, p)))
    if rng.random() < 0.3:
        R[:, -1] = R[:, 0]
    return {
        "R": R, "z": rng.normal(size=(p, q)), "starts": np.append(0, np.cumsum(widths)),
        "widths": widths, "floors": np.full(p, 1e-10), "n_included": int(rng.integers(0, k)),
        "ceiling": 100.0, "rows": float(rng.choice([-1.0, 50.0])), "tolerance": 1e-9,
        "best": np.full(k + 1, -np.inf), "sets": np.zeros((k + 1, k), dtype=np.int64),
        "counts": np.zeros(2, dtype=np.int64), "budget": int(rng.choice([1, 2, 1000])),
        "watch": _goes_on,
    }  # fmt: skip


def _best_sets_twin(
    R: Any, z: Any, starts: Any, widths: Any, floors: Any, n_included: int, ceiling: float,
    rows: float, tolerance: float, best: Any, sets: Any, counts: Any, budget: int, watch: Any,
) -> Answer | None:  # fmt: skip
    """Every set tried; nothing is promised of odd numbers."""
    single = [float(number) for number in (ceiling, rows, tolerance)]
    numbers = np.concatenate([R.ravel(), z.ravel(), single])
    usual = np.isfinite(numbers).all() and np.abs(numbers).max() < 1e3
    if not usual or tolerance != 1e-9 or watch is not _goes_on or (floors != 1e-10).any():
        return None
    if np.linalg.svd(R, compute_uv=False)[0] > 1e3 or not (best == -np.inf).all():
        return None
    n, found = len(widths), best.copy()
    for size in range(n_included + 1, len(best)):
        for more in combinations(range(n_included, n), size - n_included):
            J = [c for f in (*range(n_included), *more) for c in range(starts[f], starts[f + 1])]
            U, s, _ = np.linalg.svd(R[:, J], full_matrices=False)
            if ((s > 1e-11) & (s < 1e-5)).any():
                return None  # whether columns depend on others is open
            total = ((U[:, s > 1e-8].T @ z) ** 2).sum()
            left = max(rows - 1 - widths[[*range(n_included), *more]].sum(), 1)
            value = total if rows <= 0 else ceiling - (ceiling - total) * (rows - 1) / left
            found[size] = max(found[size], value)
    return {"best": found, "returned": float(found[-1])}


# Sparse tables


def _csc(rng: Rng) -> sp.csc_array:
    N, n = _sizes(rng)
    X = sp.csc_array(sp.random(N, n, float(rng.choice([0.0, 0.05, 0.3, 1.0])), random_state=rng))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def _table(rng: Rng) -> Arguments:
    X = _csc(rng)
    return {"N": X.shape[0], "data": X.data, "rows": X.indices, "starts": X.indptr}


def _table_twin(N: int, data: Any, rows: Any, starts: Any) -> None:
    """Look whether what was taken for a sound table is one."""
    sound = starts[0] >= 0 and starts[-1] <= len(data) == len(rows) and (np.diff(starts) >= 0).all()
    if not sound or (len(rows) and not 0 <= rows.min() <= rows.max() < N):
        raise ValueError("this is no sound table")


class Table:
    """A capsule of a table, and the table itself for the twin."""

    def __init__(self, X: sp.csc_array) -> None:
        self.X = X
        self.capsule = native._module.sparse_table(X.shape[0], X.data, X.indices, X.indptr)


def _sparse_cross(rng: Rng) -> Arguments:
    X, b = _csc(rng), int(rng.choice([0, 1, 3, 4, 5, 32]))
    N, n = X.shape
    return {
        "X": Table(X), "Z": rng.normal(size=(N, b)), "out": np.zeros((b, n)),
        "root": _some(rng, rng.random(N)), "squares": _some(rng, np.zeros(n)),
    }  # fmt: skip


def _sparse_cross_twin(X: Table, Z: Any, out: Any, root: Any, squares: Any) -> Answer:
    dense = X.X.toarray()
    weighted = dense if root is None else dense * root[:, None]
    stored = X.X != 0  # zeros that are not stored meet no NaN
    used = np.where(stored.toarray(), weighted, 0.0)
    found = np.array([[(X.X.data[a:b] * Z[X.X.indices[a:b], g]).sum() for a, b in _spans(X.X)]
                      for g in range(Z.shape[1])]).reshape(out.shape)  # fmt: skip
    return {"out": found, "squares": None if squares is None else (used * used).sum(axis=0)}


def _spans(X: sp.csc_array) -> list[tuple[int, int]]:
    return list(pairwise(X.indptr.tolist()))


def _direction(rng: Rng) -> Arguments:
    X = _csc(rng)
    while not X.shape[0]:
        X = _csc(rng)
    N, n = X.shape
    k = int(rng.integers(0, min(N, 4)))
    Q = np.zeros((k + 2, N))
    Q[:k] = np.linalg.qr(rng.normal(size=(N, k)))[0].T
    return {
        "X": Table(X), "means": rng.normal(size=n), "factors": rng.random(n) + 0.5,
        "root": _some(rng, rng.random(N)), "j": int(rng.integers(n)), "k": k, "Q": Q,
        "h": np.zeros(k), "r": np.zeros(n),
    }  # fmt: skip


def _direction_twin(
    X: Table, means: Any, factors: Any, root: Any, j: int, k: int, Q: Any, h: Any, r: Any
) -> Answer | None:
    A = (X.X.toarray() - means) * factors
    A = A if root is None else A * root[:, None]
    if not np.allclose(Q[:k] @ Q[:k].T, np.eye(k)) or not (np.isfinite(A).all() and factors.all()):
        return None
    along = Q[:k] @ A[:, j]
    rest = A[:, j] - along @ Q[:k]
    rest -= (Q[:k] @ rest) @ Q[:k]
    norm = float(np.linalg.norm(rest))
    if norm < 1e-100 or norm < 1e-6 * np.linalg.norm(A[:, j]):
        return None  # rounding is all there is
    made = Q.copy()
    made[k] = rest / norm
    had = h.copy()
    had[:k] = along
    return {"Q": made, "h": had, "r": made[k] @ A, "returned": norm}


def _compressed_rows(rng: Rng) -> sp.csr_array:
    X = sp.csr_array(_csc(rng))
    X.sort_indices()
    return X


def _sparse_count(rng: Rng) -> Arguments:
    X = _compressed_rows(rng)
    n = X.shape[1]
    counts, last = np.zeros(n, np.int32), np.full(n, -1, np.int32)
    return {"columns": X.indices, "starts": X.indptr, "counts": counts, "last": last}


def _count_twin(columns: Any, starts: Any, counts: Any, last: Any) -> Answer:
    n, N = len(counts), len(starts) - 1
    grows = N >= 0 and starts[0] >= 0 and starts[-1] <= len(columns)
    if not grows or (np.diff(starts.astype(int)) < 0).any():
        return {"returned": False}
    found, rows = np.zeros(n, np.int32), last.copy()
    for i in range(N):
        mine = columns[starts[i] : starts[i + 1]]
        if len(mine) and (mine[0] < 0 or mine[-1] >= n or (np.diff(mine.astype(int)) <= 0).any()):
            return {"returned": False}
        found[mine] += 1
        rows[mine] = i
    return {"counts": found, "last": rows, "returned": True}


def _sparse_order(rng: Rng) -> Arguments:
    n, N = int(rng.choice(COLUMNS)), int(rng.integers(1, 20))
    counts = rng.integers(0, 4, n).astype(np.int32)
    room = [np.full(n, -9) for _ in range(3)]
    last = _some(rng, rng.integers(0, N, n).astype(np.int32))
    return dict(zip(["counts", "last", "N", "columns", "twins", "of"], [counts, last, N, *room]))


def _order_twin(counts: Any, last: Any, N: int, columns: Any, twins: Any, of: Any) -> Answer:
    first: dict[int, int] = {}
    order: list[int] = []
    others: list[tuple[int, int]] = []
    for j in np.flatnonzero(counts == 1).tolist() if last is not None else []:
        if int(last[j]) in first:
            others.append((j, first[int(last[j])]))
        else:
            first[int(last[j])] = len(order)
            order.append(j)
    rest = np.flatnonzero(counts > (1 if last is not None else 0))
    order += rest[np.argsort(np.minimum(counts[rest], 256), kind="stable")].tolist()
    made = [columns.copy(), twins.copy(), of.copy()]
    made[0][: len(order)] = order
    for place, (j, at) in enumerate(others):
        made[1][place], made[2][place] = j, at
    answer = dict(zip(["columns", "twins", "of"], made))
    return {**answer, "returned": (len(order), len(others))}


def _sparse_turn(rng: Rng) -> Arguments:
    X = _compressed_rows(rng)
    X.data = (X.data * 100).astype(rng.choice(list("dfbB?hil")))
    counts = np.bincount(X.indices, minlength=X.shape[1]).astype(np.int32)
    J = rng.permutation(X.shape[1])[: int(rng.integers(0, X.shape[1] + 1))]
    stored = int(counts[J].sum())
    return {
        "numbers": X.data, "columns": X.indices, "from": X.indptr, "counts": counts, "J": J,
        "data": np.zeros(stored), "rows": np.zeros(stored, np.int32),
        "starts": np.zeros(len(J) + 1, np.int32),
    }  # fmt: skip


def _turn_twin(**given: Any) -> Answer | None:
    numbers, columns, starts, counts = (
        given[name] for name in ("numbers", "columns", "from", "counts")
    )
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    used = columns[starts[0] : starts[-1]]
    inside = (used >= 0) & (used < len(counts))
    if (np.bincount(used[inside], minlength=len(counts)) != counts).any():
        return None  # nothing is promised where counts are none
    cells = [np.flatnonzero(used == j) for j in given["J"].tolist()]
    order = np.concatenate([np.zeros(0, int), *cells])
    ends = np.cumsum([0, *map(len, cells)])
    return {"data": numbers[starts[0] + order].astype(float), "rows": rows[order], "starts": ends}


# Counts


def _codes(rng: Rng, m: int, N: int) -> tuple[Any, Any]:
    levels = rng.integers(1, 6, m)
    values = (rng.random((m, N)) * levels[:, None]).astype(
        rng.choice([np.uint8, np.uint16, np.uint32])
    )
    return values, levels


def _logarithms(rng: Rng, N: int) -> Any:
    return Logarithms(N, 10).table if rng.random() < 0.8 else np.arange(N + 1) ** 2


def _sums(n: int) -> Arguments:
    return {"XJ": np.zeros(n, np.int64), "XJY": np.zeros(n, np.int64)}


def _tables(values: Any, L: int, z: Any, Z: int) -> Any:
    """Count (feature, level, z)."""
    found = np.zeros((len(values), L, Z), dtype=np.int64)
    for k, row in enumerate(values):
        np.add.at(found[k], (row.astype(np.int64), z), 1)
    return found


def _sums_of(tables: Any, Lj: int, c: int, T: Any) -> Answer:
    tables = tables.reshape(*tables.shape[:2], Lj, c)
    return {"XJ": T[tables.sum(axis=3)].sum(axis=(1, 2)), "XJY": T[tables].sum(axis=(1, 2, 3))}


def _count_codes(rng: Rng) -> Arguments:
    N, m = int(rng.choice(ROWS)), int(rng.integers(0, 6))
    values, levels = _codes(rng, m, N)
    Lj, c = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    z = rng.integers(0, Lj * c, N).astype(np.int32)
    T = _logarithms(rng, N)
    return {"values": values, "levels": levels, "z": z, "Lj": Lj, "c": c, "T": T, **_sums(m)}


def _codes_twin(values: Any, levels: Any, z: Any, Lj: int, c: int, T: Any, **_: Any) -> Answer:
    if (values.max(axis=1, initial=0) >= levels).any() and values.size:
        raise ValueError("codes are not below the levels")
    if T[0]:
        tables = _tables(values, int(levels.max(initial=1)), z, Lj * c)
        each = [_sums_of(t[None, : int(n)], Lj, c, T) for t, n in zip(tables, levels)]
        return {name: np.array([e[name][0] for e in each], np.int64) for name in ("XJ", "XJY")}
    return _sums_of(_tables(values, int(levels.max(initial=1)), z, Lj * c), Lj, c, T)


def _count_grouped(rng: Rng) -> Arguments:
    given = _count_codes(rng)
    z, c = given.pop("z"), given.pop("c")
    del given["Lj"]
    order = np.argsort(z, kind="stable")
    ends = {"ends_b": _ends(z[order] // c), "ends_z": _ends(z[order])}
    values, levels, T = (given.pop(name) for name in ("values", "levels", "T"))
    return {"values": values, "levels": levels, "order": order, **ends, "T": T, **given}


def _ends(codes: Any) -> Any:
    """Return where groups of equal codes begin, and the end of the last."""
    begins = [i for i in range(len(codes)) if i == 0 or codes[i] != codes[i - 1]]
    return np.array([*begins, len(codes)], dtype=np.int64)


def _grouped_twin(
    values: Any, levels: Any, order: Any, ends_b: Any, ends_z: Any, T: Any, **_: Any
) -> Answer | None:
    if values.size and (values.max(axis=1) >= levels).any():
        raise ValueError("codes are not below the levels")
    if T[0]:
        return None

    def sums(ends: Any) -> Any:
        found = np.zeros(len(values), np.int64)
        for k, row in enumerate(values):
            for a, b in pairwise(ends.tolist()):
                found[k] += T[np.unique(row[order[a:b]], return_counts=True)[1]].sum()
        return found

    return {"XJ": sums(ends_b), "XJY": sums(ends_z)}


def _count_weights(rng: Rng) -> Arguments:
    N, m = int(rng.choice(ROWS)), int(rng.integers(0, 6))
    values, levels = _codes(rng, m, N)
    Z = int(rng.integers(1, 7))
    return {
        "values": values, "z": rng.integers(0, Z, N).astype(np.int32),
        "weights": rng.integers(0, 10**9, N),
        "out": rng.integers(0, 9, (m, int(levels.max(initial=1)), Z)),
    }  # fmt: skip


def _weights_twin(values: Any, z: Any, weights: Any, out: Any) -> Answer:
    exact = out.astype(object)
    for k, row in enumerate(values):
        for x, at, weight in zip(row.tolist(), z.tolist(), weights.tolist()):
            exact[k, x, at] += weight
    return {"out": exact.astype(np.int64)}


def _segments(counts: Any) -> Any:
    return np.concatenate([[0], np.cumsum(-(-counts // 64))])


def _pack_planes(rng: Rng) -> Arguments:
    N, m, c = int(rng.choice(ROWS)), int(rng.integers(0, 5)), int(rng.integers(1, 4))
    levels = rng.integers(1, 5, m)
    values = (rng.random((m, N)) * levels[:, None]).astype(np.uint8)
    y = rng.integers(0, c, N)
    counts = np.bincount(y, minlength=c)
    segments = _segments(counts)
    return {
        "values": values, "levels": levels, "order": np.argsort(y, kind="stable").astype(np.int32),
        "ends": np.concatenate([[0], np.cumsum(counts)]), "segments": segments,
        "planes": np.zeros((int((levels - 1).sum()), int(segments[-1])), np.uint64),
    }  # fmt: skip


def _pack_twin(
    values: Any, levels: Any, order: Any, ends: Any, segments: Any, planes: Any
) -> Answer:
    words = planes.shape[1]
    made = []
    for row, many in zip(values, levels.tolist()):
        for level in range(1, many):
            bits = np.zeros(64 * words, dtype=np.uint8)
            for y in range(len(ends) - 1):
                rows = order[ends[y] : ends[y + 1]]
                bits[64 * segments[y] : 64 * segments[y] + len(rows)] = row[rows] == level
            made.append(np.packbits(bits, bitorder="little").view(np.uint64))
    return {"planes": np.array(made, dtype=np.uint64).reshape(planes.shape)}


def _count_ones(rng: Rng) -> Arguments:
    words = int(rng.choice([0, 1, 3, 16, 40]))
    c = int(rng.integers(1, 4))
    segments = np.sort(np.concatenate([[0, words], rng.integers(0, words + 1, c - 1)]))
    planes = rng.integers(0, 2**64, (int(rng.integers(0, 5)), words), dtype=np.uint64)
    return {"planes": planes, "segments": segments, "out": np.zeros((len(planes), c), np.int64)}


def _ones(planes: Any, segments: Any) -> Any:
    bits = np.unpackbits(np.ascontiguousarray(planes).view(np.uint8), axis=1)
    ends = (64 * segments).tolist()
    parts = [bits[:, a:b].sum(axis=1, dtype=np.int64) for a, b in pairwise(ends)]
    return np.array(parts, dtype=np.int64).reshape(len(ends) - 1, len(planes)).T


def _ones_twin(planes: Any, segments: Any, out: Any) -> Answer:
    return {"out": _ones(planes, segments)}


def _count_packed(rng: Rng) -> Arguments:
    given = _pack_planes(rng)
    while not len(given["levels"]):
        given = _pack_planes(rng)
    planes = _pack_twin(**given)["planes"]
    levels, ends = given["levels"], given["ends"]
    n, N, c = len(levels), given["values"].shape[1], len(ends) - 1
    margins = np.zeros((int(levels.sum()), c), np.int64)
    first = np.concatenate([[0], np.cumsum(levels)])
    for k, row in enumerate(given["values"]):
        for y in range(c):
            mine = row[given["order"][ends[y] : ends[y + 1]]]
            margins[first[k] : first[k + 1], y] = np.bincount(mine, minlength=levels[k])
    start = int(rng.integers(0, n))
    return {
        "planes": planes, "first": first - np.arange(n + 1), "segments": given["segments"],
        "margins": margins, "j": int(rng.integers(n)), "start": start,
        "stop": int(rng.integers(start, n + 1)), "T": _logarithms(rng, N), **_sums(n),
    }  # fmt: skip


def _packed_twin(
    planes: Any, first: Any, segments: Any, margins: Any, j: int, start: int, stop: int, T: Any,
    XJ: Any, XJY: Any,
) -> Answer:  # fmt: skip
    c, answer = len(segments) - 1, {"XJ": XJ.copy(), "XJY": XJY.copy()}

    def own(k: int) -> tuple[Any, Any]:
        return planes[first[k] : first[k + 1]], margins[first[k] + k : first[k + 1] + k + 1]

    for k in range(start, stop):
        (a, mine), (b, theirs) = own(k), own(j)
        table = np.zeros((len(a) + 1, len(b) + 1, c), np.int64)
        for p, plane in enumerate(a):
            for q, other in enumerate(b):
                table[p + 1, q + 1] = _ones((plane & other)[None], segments)[0]
        table[1:, 0] = mine[1:] - table[1:, 1:].sum(axis=1)
        table[0] = theirs - table[1:].sum(axis=0)
        if (table < 0).any():
            raise ValueError("margins are not those of the planes")
        answer["XJ"][k], answer["XJY"][k] = T[table.sum(axis=2)].sum(), T[table].sum()
    return answer


def _count_sparse(rng: Rng) -> Arguments:
    N, n = int(rng.choice([1, 2, 7, 64, 300])), int(rng.integers(1, 8))
    levels = rng.choice([2, 3, 5, 400_000], n, p=[0.4, 0.3, 0.2, 0.1])
    filled = rng.random((n, N)) < 0.3
    indptr = np.concatenate([[0], np.cumsum(filled.sum(axis=1))])
    owner, rows = np.nonzero(filled)
    codes = 1 + (rng.random(len(rows)) * (levels[owner] - 1)).astype(np.uint32)
    Lj, c = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    z = rng.integers(0, Lj * c, N).astype(np.int32)
    start = int(rng.integers(0, n))
    return {
        "indptr": indptr, "indices": rows.astype(np.int32), "codes": codes, "levels": levels,
        "start": start, "stop": int(rng.integers(start, n + 1)), "z": z, "b": z // np.int32(c),
        "with_z": np.bincount(z, minlength=Lj * c), "with_b": np.bincount(z // c, minlength=Lj),
        "T": _logarithms(rng, N), **_sums(n),
    }  # fmt: skip


def _sparse_twin(
    indptr: Any, indices: Any, codes: Any, levels: Any, start: int, stop: int, z: Any, b: Any,
    with_z: Any, with_b: Any, T: Any, XJ: Any, XJY: Any,
) -> Answer | None:  # fmt: skip
    if T[0]:
        return None
    answer = {"XJ": XJ.copy(), "XJY": XJY.copy()}
    for k in range(start, stop):
        cells = slice(int(indptr[k]), int(indptr[k + 1]))
        rows, levels_of = indices[cells], codes[cells].astype(np.int64)
        if len(rows) and not (rows.min() >= 0 and 1 <= levels_of.min() <= levels_of.max()):
            raise ValueError("rows or codes are out of bounds")
        if (levels_of >= levels[k]).any():
            raise ValueError("codes are not below the levels")
        for name, place, beside in (("XJY", z, with_z), ("XJ", b, with_b)):
            at = place[rows].astype(np.int64)
            many = np.unique(at * 2**32 + levels_of, return_counts=True)[1]
            where, moved = np.unique(at, return_counts=True)
            if (beside[where] < moved).any():
                raise ValueError("there are not so many rows")
            answer[name][k] = T[many].sum() + (T[beside[where] - moved] - T[beside[where]]).sum()
    return answer


# Models run on their own output


def _free_run(rng: Rng) -> Arguments:
    q, others, T = int(rng.integers(1, 3)), int(rng.integers(0, 3)), int(rng.choice([8, 30, 100]))
    n = int(rng.integers(0, 6))
    sizes = rng.integers(0, 4, n)
    signal = rng.integers(0, q + others, int(sizes.sum()))
    lag = rng.integers(0, 4, len(signal)) + (signal < q)
    edges = np.sort(rng.integers(4, T + 1, 2 * int(rng.integers(0, 4)))).reshape(-1, 2)
    return {
        "S": rng.normal(size=(q + others, T)), "segments": edges, "output": rng.integers(0, q, n),
        "starts": np.append(0, np.cumsum(sizes)), "signal": signal, "lag": lag,
        "theta": 0.7 * rng.normal(size=n), "limit": float(rng.choice([2.0, 1e3])),
        "Y": rng.normal(size=(q, T)), "D": np.zeros((T if rng.random() < 0.5 else 0, q, n)),
        "diverged": np.zeros(len(edges), np.int64),
    }  # fmt: skip


def _free_run_twin(
    S: Any, segments: Any, output: Any, starts: Any, signal: Any, lag: Any, theta: Any,
    limit: Any, Y: Any, D: Any, diverged: Any,
) -> Answer | None:  # fmt: skip
    q, T = Y.shape
    sound = len(starts) == len(theta) + 1 == len(output) + 1 and len(signal) == len(lag)
    sound = sound and starts[0] == 0 and starts[-1] == len(signal) and (np.diff(starts) >= 0).all()
    longest = max(lag, default=0)
    sound = sound and all(longest <= a <= b <= T for a, b in segments)
    sound = sound and all(0 <= s < len(S) and t >= (s < q) for s, t in zip(signal, lag))
    if not sound or not all(0 <= a < q for a in output):
        raise ValueError("terms or segments reach beyond the signals")
    if len({k for a, b in segments.tolist() for k in range(a, b)}) < sum(
        b - a for a, b in segments
    ):
        return None  # segments that overlap: nothing is promised
    Y, told = Y.copy(), []
    for first, stop in segments.tolist():
        told.append(-1)
        for k in range(first, stop):
            new = np.zeros(q)
            for m, a in enumerate(output):
                product = 1.0
                for f in range(starts[m], starts[m + 1]):
                    s, t = signal[f], k - lag[f]
                    product *= Y[s, t] if s < q and t >= first else S[s, t]
                new[a] += theta[m] * product
            if not (np.abs(new) <= limit).all():
                told[-1] = k
                break
            Y[:, k] = new
    answer: Answer = {"Y": Y, "diverged": np.array(told, dtype=np.int64)}
    return answer if len(D) else {**answer, "D": D}


# Scores that can only fall


def _falling_scores(rng: Rng, n: int, t: int) -> Arguments:
    """Return scores of n features, counted against some of the t that were taken."""
    sums = rng.integers(-(2**40), 2**40, (2, n))
    return {
        "X": sums[0], "XY": sums[1], "TN": int(rng.integers(2**40)), "TY": int(rng.integers(2**40)),
        "takes_least": bool(rng.random() < 0.5), "best": int(rng.integers(-(2**42), 2**41)),
        "known": rng.integers(-(2**41), 2**42, n), "seen": rng.integers(0, t + 1, n),
    }  # fmt: skip


def _fall(count: Callable[[int, int], Answer], order: Any, sums: Any, scores: Arguments) -> Answer:
    """Count pairs of a feature and one taken, as long as the feature may be the best."""
    known, seen, best = scores["known"].tolist(), scores["seen"].copy(), scores["best"]
    for k in order.tolist():
        while seen[k] < sums.shape[1] and known[k] >= best:
            s = int(seen[k])
            XJ, XJY = (int(count(k, s)[name][0]) for name in ("XJ", "XJY"))
            J, JY = sums[:, s].tolist()
            X, XY = int(scores["X"][k]), int(scores["XY"][k])
            if scores["takes_least"]:
                known[k] = min(known[k], _wrapped(XJY - XJ - JY + J))
            else:
                shared, shared_within = XJ - X - J + scores["TN"], XJY - XY - JY + scores["TY"]
                known[k] = _wrapped(known[k] + min(0, _wrapped(shared_within - shared)))
            seen[k] += 1
        if seen[k] == sums.shape[1] and best != -(2**63):
            best = max(best, known[k])
    return {"known": np.array(known, np.int64), "seen": seen}


def _wrapped(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


def _count_falling(rng: Rng) -> Arguments:
    given = _count_codes(rng)
    (n, N), t = given["values"].shape, int(rng.integers(0, 4))
    c, z_levels = given["c"], rng.integers(1, 5, t)
    z = (rng.random((t, N)) * (z_levels * c)[:, None]).astype(np.uint16)
    return {
        "values": given["values"], "levels": given["levels"],
        "order": rng.permutation(n)[: int(rng.integers(0, n + 1))],
        "z": z, "z_levels": z_levels, "sums": rng.integers(-(2**40), 2**40, (2, t)),
        "c": c, "T": given["T"], **_falling_scores(rng, n, t),
    }  # fmt: skip


def _falling_twin(
    values: Any, levels: Any, order: Any, z: Any, z_levels: Any, sums: Any, c: int, T: Any,
    **scores: Any,
) -> Answer:  # fmt: skip
    def count(k: int, s: int) -> Answer:
        one = slice(k, k + 1)
        return _codes_twin(values[one], levels[one], z[s], int(z_levels[s]), c, T)

    return _fall(count, order, sums, scores)


def _packed_falling(rng: Rng) -> Arguments:
    given = _count_packed(rng)
    n, t = len(given["first"]) - 1, int(rng.integers(0, 4))
    planes = {name: given[name] for name in ("planes", "first", "segments", "margins")}
    return {
        **planes, "order": rng.permutation(n)[: int(rng.integers(0, n + 1))],
        "taken": rng.integers(0, n, t), "sums": rng.integers(-(2**40), 2**40, (2, t)),
        "T": given["T"], **_falling_scores(rng, n, t),
    }  # fmt: skip


def _packed_falling_twin(
    planes: Any, first: Any, segments: Any, margins: Any, order: Any, taken: Any, sums: Any, T: Any,
    **scores: Any,
) -> Answer | None:  # fmt: skip
    nothing = np.zeros(len(first) - 1, np.int64)

    def count(k: int, s: int) -> Answer:
        answer = _packed_twin(
            planes, first, segments, margins, int(taken[s]), k, k + 1, T, nothing, nothing
        )
        return {name: sums_of[k : k + 1] for name, sums_of in answer.items()}

    return _fall(count, order, sums, scores)


KERNELS: dict[str, Kernel] = {
    "class_planes": Kernel(make_class_planes, class_planes_twin, ("codes",)),
    "digest_blocks": Kernel(make_digest_blocks, digest_blocks_twin, ("out",)),
    "permuted_sums": Kernel(make_permuted_sums, permuted_sums_twin, ("out",)),
    "null_best": Kernel(make_null_best, null_best_twin, ("C", "best")),
    "free_run": Kernel(_free_run, _free_run_twin, ("Y", "D", "diverged")),
    "cross": Kernel(_cross, _cross_twin, ("out", "squares")),
    "gram": Kernel(_gram, _gram_twin, ("out", "sums", "errors2")),
    "take": Kernel(_take, _take_twin, ("A",)),
    "inner_products": Kernel(_inner_products, _inner_twin, ("out",)),
    "class_sums": Kernel(_class_sums, _class_twin, ("sums", "squares")),
    "leader": Kernel(_leader, _leader_twin),
    "row_from_gram": Kernel(_row_from_gram, _row_twin, ("r",)),
    "remove_row": Kernel(_state, _remove_twin, ("C", "d")),
    "score_columns": Kernel(_score_columns, _score_twin, ("C", "d", "scores")),
    "walk": Kernel(make_walk, walk_twin, ("C", "d", "open", "L", "room", "taken", "gains")),
    "cut_to_bytes": Kernel(make_cut_to_bytes, cut_to_bytes_twin, ("copy", "found", "VtB")),
    "byte_products": Kernel(make_byte_products, byte_products_twin, ("out",)),
    "bound_columns": Kernel(make_bound_columns, bound_columns_twin, ("bounds",)),
    "look_ahead": Kernel(_look_ahead, _ahead_twin, ("rows", "C", "d", "open", "winners")),
    "best_sets": Kernel(_best_sets, _best_sets_twin, ("best", "sets", "counts")),
    "sparse_table": Kernel(_table, _table_twin),
    "sparse_cross": Kernel(_sparse_cross, _sparse_cross_twin, ("out", "squares")),
    "sparse_direction": Kernel(_direction, _direction_twin, ("Q", "h", "r")),
    "sparse_count": Kernel(_sparse_count, _count_twin, ("counts", "last")),
    "sparse_order": Kernel(_sparse_order, _order_twin, ("columns", "twins", "of")),
    "sparse_turn": Kernel(_sparse_turn, _turn_twin, ("data", "rows", "starts")),
    "column_ends": Kernel(make_column_ends, column_ends_twin, ("low", "high")),
    "cut_columns": Kernel(make_cut_columns, cut_columns_twin, ("out",)),
    "mark_numbers": Kernel(make_mark_numbers, mark_numbers_twin, ("seen",)),
    "look_up_numbers": Kernel(make_look_up_numbers, look_up_numbers_twin, ("out",)),
    "turn_columns": Kernel(make_turn_columns, turn_columns_twin, ("A",)),
    "mark_levels": Kernel(make_mark_levels, mark_levels_twin, ("seen",)),
    "pack_planes": Kernel(_pack_planes, _pack_twin, ("planes",)),
    "count_ones": Kernel(_count_ones, _ones_twin, ("out",)),
    "count_packed": Kernel(_count_packed, _packed_twin, ("XJ", "XJY")),
    "count_codes": Kernel(_count_codes, _codes_twin, ("XJ", "XJY")),
    "count_falling": Kernel(_count_falling, _falling_twin, ("known", "seen")),
    "packed_falling": Kernel(_packed_falling, _packed_falling_twin, ("known", "seen")),
    "count_grouped": Kernel(_count_grouped, _grouped_twin, ("XJ", "XJY")),
    "count_weights": Kernel(_count_weights, _weights_twin, ("out",)),
    "count_sparse": Kernel(_count_sparse, _sparse_twin, ("XJ", "XJY")),
}
