"""What tests cost: "auto", or p-values of a path, beside the same path without them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from orthoselect import select

# rows, columns, classes, steps, the most times that p-values may take
SHAPES = {
    "gisette": (6000, 5000, 2, 20, 3.0),
    "mnist": (60_000, 784, 10, 50, 8.0),
}


def choose(names: list[str] | None) -> list[str]:
    """Return the shapes that were asked for; all by default."""
    unknown = [name for name in names or () if name not in SHAPES]
    if unknown:
        raise ValueError(f"unknown rows {unknown}; choose from {[*SHAPES]}")
    return names or [*SHAPES]


def run(names: list[str], repeats: int, *, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield a line for each shape: seconds and passes, without p-values and with them."""
    for name in names:
        N, n, c, steps, most = SHAPES[name]
        N, n = (N // 10, n // 4) if quick else (N, n)
        rng = np.random.default_rng(0)
        X = rng.normal(size=(N, n))
        y = np.digitize(X[:, :steps] @ rng.normal(size=steps) + rng.normal(size=N),
                        np.quantile(rng.normal(size=9999) * np.sqrt(steps + 1),
                                    np.arange(1, c) / c))  # fmt: skip
        times: dict[bool, list[float]] = {False: [], True: []}
        passes = {}
        for _ in range(repeats):
            for tested in times:
                began = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    path = select(X, y, steps, task="classification", p_values=tested)
                times[tested].append(time.perf_counter() - began)
                passes[tested] = path.stats["passes"]
        plain, tested_ = min(times[False]), min(times[True])
        yield {
            "name": name, "title": f"{N} x {n}, {c} classes, {steps} steps", "plain": plain,
            "tested": tested_, "ratio": tested_ / plain, "most": most,
            "passes": [passes[False], passes[True]], "n_permutations": path.n_permutations,
        }  # fmt: skip


def markdown(result: dict[str, Any], about: list[str]) -> str:
    """Return the page."""
    lines = ["# What p-values cost", "", *about, ""]
    lines += ["| shape | permutations | without | with | times | at most | passes |"]
    lines += ["|---|---|---|---|---|---|---|"]
    for line in result["lines"]:
        lines.append(
            f"| {line['title']} | {line['n_permutations']} | {line['plain']:.3f} s | "
            f"{line['tested']:.3f} s | {line['ratio']:.2f} | {line['most']:g} | "
            f"{line['passes'][0]}, {line['passes'][1]} |"
        )
    return "\n".join(lines)
