"""What selections cost in a grid over the number of features: alone, shared, and by `SelectorCV`.

    python -m benchmarks grid

Fits as `GridSearchCV` makes them, size after size in ascending order, each on a fresh copy of the
training rows of a fold. `cpu` is the same by processor time, which other work on the machine
disturbs less. `reads` is the time of a fit beside the time of reading its rows once, and
`hash` the time of a digest of them: a fit that finds its path costs that much at least. `chosen` is
the time of all selections that `SelectorCV` makes to score the same sizes in as many folds (one a
fold, and one on all rows), its models left out.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
from sklearn.dummy import DummyClassifier

from orthoselect import OrthogonalSelector, SelectorCV, shared_paths
from orthoselect.comparison import entries, sizes
from orthoselect.matrix.digests import digest

SIZES = range(1, 31)
FOLDS = 5
LEAST = 10.0  # times less, as it should be
SHAPES = ((569, 30, 2), (2000, 649, 10), (300, 20000, 2), (20000, 500, 5), (6000, 5000, 2))


def run(*, quick: bool = False) -> Iterator[dict[str, Any]]:
    """Yield a line for each shape."""
    for n_rows, n, n_classes in SHAPES[: 2 if quick else None]:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n_rows, n))
        y = np.argmax(X[:, :n_classes] + rng.normal(size=(n_rows, n_classes)), axis=1)
        yield {"shape": f"{n_rows} x {n}, {n_classes}", **_measure(X, y)}


def _measure(X: Any, y: Any) -> dict[str, Any]:
    """Time all fits of a grid, with a path of its own each and with a shared one in turn."""
    folds = [np.flatnonzero(np.arange(len(X)) % FOLDS != fold) for fold in range(FOLDS)]
    names = ("alone", "shared", "cpu_alone", "cpu_shared", "hash", "read")
    seconds = dict.fromkeys(names, 0.0)
    shared_paths.KEPT.clear()
    OrthogonalSelector(2).fit(X[folds[0]], y[folds[0]])  # what is loaded once
    for size in SIZES:
        found = {}
        for rows in folds:
            for name, shared in (("alone", None), ("shared", SIZES[-1])):
                part, labels = X[rows], y[rows]
                began, ran = time.perf_counter(), time.process_time()
                fit = OrthogonalSelector(size, shared_path=shared).fit(part, labels)
                seconds[name] += time.perf_counter() - began
                seconds[f"cpu_{name}"] += time.process_time() - ran
                found[name] = fit.selected_.tolist()
            if found["alone"] != found["shared"]:
                raise AssertionError(f"{size} features: {found}")
            for name, work in (("hash", partial(digest, [part])), ("read", part.max)):
                began = time.perf_counter()
                work()
                seconds[name] += time.perf_counter() - began
    shared_paths.KEPT.clear()
    times = seconds["alone"] / seconds["shared"]
    cpu = seconds["cpu_alone"] / seconds["cpu_shared"]
    chosen, n_selections = _chosen(X, y)
    fewer = seconds["alone"] / chosen
    return {
        **seconds, "times": times, "cpu_times": cpu, "chosen": chosen, "chosen_times": fewer,
        "selections": n_selections, "met": max(times, fewer) >= LEAST,
    }  # fmt: skip


def _chosen(X: Any, y: Any) -> tuple[float, int]:
    """Return the seconds of all selections of a `SelectorCV` over the sizes, and how many."""
    seconds: list[float] = []

    def timed(select: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            began = time.perf_counter()
            path = select(*args, **options)
            seconds.append(time.perf_counter() - began)
            return path

        return call

    with ExitStack() as stack:
        for module in (entries, sizes):
            stack.enter_context(mock.patch.object(module, "select", timed(module.select)))
        chooser = SelectorCV(OrthogonalSelector(SIZES[-1]), estimator=DummyClassifier(), cv=FOLDS)
        chooser.fit(X, y)
    return sum(seconds), len(seconds)


def markdown(result: dict[str, Any], about: list[str]) -> str:
    """Return the lines as a page."""
    head = (
        "| shape | alone, s | one path, s | times less | by cpu | a fit in reads | digests, s | "
        "SelectorCV, s | times less |"
    )
    lines = [
        f"| {line['shape']} | {line['alone']:.2f} | {line['shared']:.2f} | {line['times']:.1f} | "
        f"{line['cpu_times']:.1f} | "
        f"{line['alone'] / line['read']:.1f} | {line['hash']:.2f} | "
        f"{line['chosen']:.2f} | {line['chosen_times']:.1f} |"
        for line in result["lines"]
    ]
    return "\n".join(["# A grid over 30 sizes, five folds", "", *about, "", head,
                      "|---|---|---|---|---|---|---|---|---|", *lines, ""])  # fmt: skip
