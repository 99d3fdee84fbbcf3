"""A failing problem made smaller: whatever can be left out while it fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fuzz.families import Problem

Array = Any


def shrink(problem: Problem, fails: Callable[[Problem], bool], seconds: float = 60.0) -> Problem:
    """Return the smallest problem that was found to fail still.

    Parameters
    ----------
    problem : Problem
    fails : callable
        Whether a problem fails as this one does.
    seconds : float
        When to be content.
    """
    end, smaller = time.monotonic() + seconds, True
    while smaller:
        smaller = False
        for candidate in _smaller(problem):
            if time.monotonic() > end:
                return problem
            if fails(candidate):
                problem, smaller = candidate, True
                break
    return problem


def _smaller(problem: Problem) -> Iterator[Problem]:
    """Yield what is left when something is left out: options, half of the rows, a column, a row."""
    N, n = problem.X.shape
    if problem.groups:
        yield replace(problem, groups={})
    if problem.include:
        yield replace(problem, include=[])
    if problem.exclude:
        yield replace(problem, exclude=[])
    if problem.w is not None:
        yield replace(problem, w=None)
    if problem.t > 1:
        yield replace(problem, t=problem.t - 1)
    if problem.y.ndim == 2 and problem.y.shape[1] > 1:
        yield replace(problem, y=problem.y[:, 1:])
    for j in range(n if n > 1 else 0):
        yield _without_column(problem, j)
    size = N // 2
    while size:
        for a in range(0, N, size):
            kept = np.r_[0:a, a + size : N]
            if len(kept) > 2:
                w = None if problem.w is None else problem.w[kept]
                yield replace(problem, X=problem.X[kept], y=problem.y[kept], w=w)
        size //= 2
    if not _is_short(problem.X):
        yield replace(problem, X=np.array([[float(f"{v:.2g}") for v in row] for row in problem.X]))


def _is_short(X: Array) -> bool:
    return all(float(f"{v:.2g}") == v for v in X.flat)


def _without_column(problem: Problem, j: int) -> Problem:
    def left(columns: list[int]) -> list[int]:
        return [c - (c > j) for c in columns if c != j]

    groups = {name: left(columns) for name, columns in problem.groups.items()}
    return replace(
        problem,
        X=np.delete(problem.X, j, axis=1),
        t=min(problem.t, problem.X.shape[1] - 1),
        groups={name: columns for name, columns in groups.items() if columns},
        categorical=left(problem.categorical),
        include=left(problem.include),
        exclude=left(problem.exclude),
    )


def as_code(problem: Problem) -> str:
    """Return the problem as lines of Python."""
    lines = [f"X = np.array({_numbers(problem.X)})", f"y = np.array({_numbers(problem.y)})"]
    if problem.w is not None:
        lines.append(f"w = np.array({_numbers(problem.w)})")
    asked = [f"task={problem.task!r}"]
    if problem.categorical:
        asked.append(f"categorical_features={problem.categorical}")
    for name in ("groups", "include", "exclude", "bins"):
        if getattr(problem, name):
            asked.append(f"{name}={getattr(problem, name)!r}")
    if problem.w is not None:
        asked.append("sample_weight=w")
    lines.append(f"select(X, y, {problem.t}, {problem.method!r}, {', '.join(asked)})")
    return "\n".join(lines)


def _numbers(values: Array) -> str:
    return repr(values.tolist()).replace(".0,", ".,").replace(".0]", ".]")
