"""Calls of the kernels that make levels of numbers, and what they have to give, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

Rng = np.random.Generator
Arguments = dict[str, Any]
Answer = dict[str, Any]

TYPES = ["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]
_ROWS = [1, 2, 15, 16, 17, 511, 512, 513, 1030]
_SPAN = 100  # of numbers that every type has


def _columns(rng: Rng) -> Any:
    """Return columns (b, N) of whole numbers of any type, a few of them floats with fractions."""
    b, N = int(rng.integers(1, 6)), int(rng.choice(_ROWS))
    dtype = np.dtype(str(rng.choice(TYPES)))
    spread = rng.integers(1, _SPAN, b)[:, None]
    A = np.floor(rng.random((b, N)) * spread)
    if dtype.kind != "u":
        A -= spread // 2
    if dtype.itemsize == 8 and rng.random() < 0.3:
        A += 2.0**40
    return A.astype(dtype)


def _ends(A: Any) -> Arguments:
    return {"low": A.min(axis=1), "high": A.max(axis=1)}


def make_column_ends(rng: Rng) -> Arguments:
    """Return columns, some with NaN or infinity, and room."""
    A = _columns(rng)
    if A.dtype.kind == "f":
        A = A + rng.normal(size=A.shape).astype(A.dtype)
        strange = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0]
        some = rng.random(A.shape) < rng.choice([0.0, 0.01, 0.5])
        A[some] = rng.choice(strange, int(some.sum()))
    return {"A": A, "low": np.zeros(len(A), A.dtype), "high": np.zeros(len(A), A.dtype)}


def column_ends_twin(A: Any, **_: Any) -> Answer:
    """Return the extremes; NaN where there is one."""
    return _ends(A)


def make_cut_columns(rng: Rng) -> Arguments:
    """Return columns, and cuts of which some are values, some equal and some infinite."""
    A = _columns(rng)
    m = int(rng.choice([0, 1, 2, 3, 4, 9, 16, 17, 63, 255]))
    cuts = rng.choice(A.astype(float).ravel(), (len(A), m)) + rng.choice([0.0, 0.5, -0.5])
    cuts[rng.random(cuts.shape) < 0.1] = np.inf
    return {"A": A, "cuts": np.sort(cuts, axis=1), "out": np.zeros(A.shape, np.uint8)}


def cut_columns_twin(A: Any, cuts: Any, **_: Any) -> Answer | None:
    """Return how many cuts are not above each number, cut by cut."""
    if (np.diff(cuts, axis=1) < 0).any() or np.isnan(cuts).any() or np.isnan(A).any():
        return None
    levels = np.zeros(A.shape, np.uint8)
    for k in range(cuts.shape[1]):
        levels += cuts[:, k : k + 1] <= A
    return {"out": levels}


def make_mark_numbers(rng: Rng) -> Arguments:
    """Return narrow columns, and some of them to be marked."""
    A = _columns(rng)
    at = rng.permutation(len(A))[: int(rng.integers(0, len(A) + 1))]
    return {"A": A, "at": at, **_ends(A), "seen": np.zeros((len(at), 256), np.uint8)}


def mark_numbers_twin(A: Any, at: Any, low: Any, high: Any, **_: Any) -> Answer | None:
    """Return which numbers there are, one by one."""
    if (low != A.min(axis=1)).any() or (high != A.max(axis=1)).any():
        return None
    seen = np.zeros((len(at), 256), np.uint8)
    for row, k in zip(seen, at.tolist()):
        for value in A[k].tolist():
            row[int(value) - int(low[k])] = 1
    return {"seen": seen}


def make_look_up_numbers(rng: Rng) -> Arguments:
    """Return narrow columns and a table for each, some of which say what is there already."""
    given = make_mark_numbers(rng)
    tables = rng.integers(0, 256, given.pop("seen").shape).astype(np.uint8)
    tables[rng.random(len(tables)) < 0.4] = np.arange(256)
    return {**given, "tables": tables, "out": np.zeros(given["A"].shape, np.uint8)}


def look_up_numbers_twin(
    A: Any, at: Any, low: Any, high: Any, tables: Any, out: Any
) -> Answer | None:
    """Return the tables' numbers for each cell; columns that are not asked for stay."""
    if (low != A.min(axis=1)).any() or (high != A.max(axis=1)).any():
        return None
    levels = out.copy()
    for table, k in zip(tables, at.tolist()):
        levels[k] = [table[int(value) - int(low[k])] for value in A[k].tolist()]
    return {"out": levels}


def make_turn_columns(rng: Rng) -> Arguments:
    """Return a table, row by row or cut out of a wider one, and columns in any order."""
    X = np.ascontiguousarray(_columns(rng).T)
    X = np.hstack([X, X])[:, : X.shape[1]] if rng.random() < 0.3 else X
    X = np.tile(X, int(rng.choice([1, 12])))
    at = rng.integers(0, X.shape[1], int(rng.integers(0, 9)))
    if rng.random() < 0.5:  # side by side
        at = np.arange(rng.integers(0, X.shape[1]), X.shape[1])
    return {"X": X, "at": at, "A": np.zeros((len(at), len(X)), X.dtype)}


def turn_columns_twin(X: Any, at: Any, **_: Any) -> Answer:
    """Return the columns."""
    return {"A": X[:, at].T}


def make_mark_levels(rng: Rng) -> Arguments:
    """Return codes, and some features whose levels are to be marked."""
    n, N = int(rng.integers(1, 6)), int(rng.choice(_ROWS))
    levels = rng.integers(1, 40, n)
    values = np.floor(rng.random((n, N)) * levels[:, None])
    values = values.astype(str(rng.choice(["u1", "u2", "u4"])))
    at = rng.permutation(n)[: int(rng.integers(0, n + 1))]
    return {"values": values, "at": at, "levels": levels, "seen": np.zeros((len(at), 256), "u1")}


def mark_levels_twin(values: Any, at: Any, levels: Any, seen: Any) -> Answer:
    """Return which levels there are, one by one."""
    found = seen.copy()
    for row, k in zip(found, at.tolist()):
        if (values[k] >= levels[k]).any():
            raise ValueError("codes are not below the levels")
        row[: levels[k]] = 0
        row[values[k].astype(int)] = 1
    return {"seen": found}
