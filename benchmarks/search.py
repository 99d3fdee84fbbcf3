"""Searches that compare sets: how long they take, and how often they find the best set.

Tables are made: n columns that share a factor, so that each two correlate by rho, and a response
that is made of the first ten, with noise. The best set is the one that the exact search proves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.report import as_markdown, seconds_text
from orthoselect import select
from orthoselect.search import SEARCHES

Fit = Callable[[np.ndarray, np.ndarray, int], Sequence[int]]
OURS = tuple(SEARCHES)
_TRUE = 10


@dataclass(frozen=True)
class Speed:
    """One fit to be timed; `target` in seconds, or in fits of forward selection on the same."""

    name: str
    search: str
    rows: int
    columns: int
    selected: int
    rho: float
    target: float
    in_forward_fits: bool = False


SPEEDS = [
    Speed("all_40", "exact", 1000, 40, 39, 0.5, 1.0),
    Speed("ten_of_60", "exact", 1000, 60, 10, 0.5, 3.0),
    Speed("ten_of_60_alike", "exact", 1000, 60, 10, 0.9, 15.0),
    Speed("swap_wide", "swap", 6000, 5000, 20, 0.5, 4.0, in_forward_fits=True),
]
QUICK = [
    Speed("all_20", "exact", 300, 20, 19, 0.5, 1.0),
    Speed("swap_wide", "swap", 600, 500, 10, 0.5, 4.0, in_forward_fits=True),
]
_RHOS = (0.0, 0.5, 0.9)


def make(rng: np.random.Generator, N: int, n: int, rho: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a table and a response."""
    X = np.sqrt(1 - rho) * rng.normal(size=(N, n)) + np.sqrt(rho) * rng.normal(size=(N, 1))
    return X, X[:, :_TRUE] @ rng.normal(size=_TRUE) + 3 * rng.normal(size=N)


def time_searches(threads: int, repeats: int, *, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield how long each fit takes, the median of some."""
    for speed in QUICK if quick else SPEEDS:
        X, y = make(np.random.default_rng(0), speed.rows, speed.columns, speed.rho)
        with threadpool_limits(threads):
            ours = _median(lambda X, y, k, s=speed.search: _ours(s, X, y, k), X, y, speed, repeats)
            forward = _median(lambda X, y, k: _ours("forward", X, y, k), X, y, speed, repeats)
        limit = speed.target * forward if speed.in_forward_fits else speed.target
        yield {**vars(speed), "seconds": ours, "forward": forward, "limit": limit}


def _median(fit: Fit, X: np.ndarray, y: np.ndarray, speed: Speed, repeats: int) -> float:
    taken = []
    for _ in range(max(repeats, 1)):
        began = time.perf_counter()
        fit(X, y, speed.selected)
        taken.append(time.perf_counter() - began)
    return float(np.median(taken))


def _ours(search: str, X: np.ndarray, y: np.ndarray, k: int) -> list[int]:
    return select(X, y, k, task="regression", search=search).features


def peers() -> dict[str, Fit]:
    """Return the searches of others that are installed."""
    found: dict[str, Fit] = {"scikit-learn forward": _sklearn("forward")}
    found["scikit-learn backward"] = _sklearn("backward")
    try:
        import mlxtend  # noqa: F401

        found["mlxtend floating"] = _mlxtend
    except ImportError:
        pass
    try:
        import fastcan  # noqa: F401

        found["fastcan"] = _fastcan(refined=False)
        found["fastcan refine"] = _fastcan(refined=True)
    except ImportError:
        pass
    return found


def _sklearn(direction: str) -> Fit:
    def fit(X: np.ndarray, y: np.ndarray, k: int) -> list[int]:
        from sklearn.feature_selection import SequentialFeatureSelector
        from sklearn.linear_model import LinearRegression

        everything = [(np.arange(len(X)), np.arange(len(X)))]  # scored where it is fitted
        selector = SequentialFeatureSelector(
            LinearRegression(), n_features_to_select=k, direction=direction, cv=everything
        )
        return np.flatnonzero(selector.fit(X, y).support_).tolist()

    return fit


def _mlxtend(X: np.ndarray, y: np.ndarray, k: int) -> list[int]:
    from mlxtend.feature_selection import SequentialFeatureSelector
    from sklearn.linear_model import LinearRegression

    selector = SequentialFeatureSelector(
        LinearRegression(), k_features=k, floating=True, scoring="r2", cv=0
    )
    return list(selector.fit(X, y).k_feature_idx_)


def _fastcan(*, refined: bool) -> Fit:
    def fit(X: np.ndarray, y: np.ndarray, k: int) -> list[int]:
        from fastcan import FastCan, refine

        selector = FastCan(k, verbose=0).fit(X, y[:, None])
        if refined:
            indices, _ = refine(selector, drop=1, verbose=0)
            return [int(i) for i in indices]
        return selector.indices_.tolist()

    return fit


def count_optimal(threads: int, *, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield how often each search finds the best set, and how long it takes, by correlation."""
    N, n, k, n_tables = (100, 20, 4, 3) if quick else (200, 40, 5, 20)
    rivals = {name: (lambda X, y, k, s=name: _ours(s, X, y, k)) for name in OURS} | peers()
    for rho in _RHOS:
        rng = np.random.default_rng(1)
        tables = [make(rng, N, n, rho) for _ in range(n_tables)]
        with threadpool_limits(threads):
            best = [_explained(X, y, _ours("exact", X, y, k)) for X, y in tables]
            for name, fit in rivals.items():
                began, found = time.perf_counter(), 0
                for (X, y), most in zip(tables, best):
                    chosen = fit(X, y, k)
                    found += len(chosen) == k and _explained(X, y, chosen) >= most - 1e-9
                seconds = (time.perf_counter() - began) / n_tables
                yield {
                    "rho": rho, "search": name, "optimal": found, "tables": n_tables,
                    "seconds": seconds, "shape": [N, n, k],
                }  # fmt: skip


def _explained(X: np.ndarray, y: np.ndarray, S: Sequence[int]) -> float:
    A = np.column_stack([np.ones(len(X)), X[:, list(S)]])
    rest = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    return 1 - float(rest @ rest) / float(((y - y.mean()) ** 2).sum())


def markdown(result: dict[str, Any], about: list[str]) -> str:
    """Return the page."""
    speeds = [
        [
            [f"{one['search']}, {one['rows']} x {one['columns']}, {one['selected']}, {one['rho']}"],
            [seconds_text(one["seconds"])],
            [seconds_text(one["forward"])],
            [seconds_text(one["limit"])],
            ["yes" if one["seconds"] <= one["limit"] else "no"],
        ]
        for one in result["speeds"]
    ]
    heads = ["search, table, features selected, correlation", "time", "forward", "limit", "within"]
    parts = ["# Searches that compare sets", "", "`python -m benchmarks search`", ""]
    parts += [*about, "", as_markdown(heads, speeds), ""]
    if result["optimal"]:
        N, n, k = result["optimal"][0]["shape"]
        parts += [f"How often each finds the best {k} of {n} ({N} rows), and seconds a fit:", ""]
        rhos = sorted({one["rho"] for one in result["optimal"]})
        names = list(dict.fromkeys(one["search"] for one in result["optimal"]))
        cells = {(one["search"], one["rho"]): one for one in result["optimal"]}
        rows = [
            [[name], *([_found(cells[name, rho])] for rho in rhos if (name, rho) in cells)]
            for name in names
        ]
        parts += [as_markdown(["search", *(f"correlation {rho:g}" for rho in rhos)], rows), ""]
    return "\n".join(parts)


def _found(one: dict[str, Any]) -> str:
    return f"{one['optimal']}/{one['tables']}, {seconds_text(one['seconds'])}"
