"""Whether p-values keep their promise, and how many probes "auto" takes for features.

Tables without signal: the first p-value should be at most 0.05 in 5 of 100. Tables with it: the
p-value of the first step after the true features likewise. And Dexter, of whose features half are
probes. How often exactly the true features are chosen is an experiment of the study, `how_many`.
"""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from orthoselect import select

Table = tuple[Any, Any, dict[str, Any]]
_LEVELS = (0.01, 0.05, 0.1, 0.5)
_BATCH = 20


def _classes(rng: np.random.Generator, N: int, c: int) -> Any:
    return rng.permutation(np.arange(N) % c)


def _independent(rng: np.random.Generator) -> Table:
    return rng.normal(size=(100, 50)), rng.normal(size=100), {}


def _factors(rng: np.random.Generator) -> Table:
    X = rng.normal(size=(200, 5)) @ rng.normal(size=(5, 400)) + 0.5 * rng.normal(size=(200, 400))
    return X, _classes(rng, 200, 3), {"task": "classification"}


def _autoregressive(rng: np.random.Generator) -> Table:
    X = rng.normal(size=(100, 50))
    for j in range(1, 50):
        X[:, j] = 0.9 * X[:, j - 1] + math.sqrt(1 - 0.81) * X[:, j]
    return X, rng.normal(size=100), {}


def _sparse(rng: np.random.Generator) -> Table:
    X = (rng.random((300, 200)) < 0.02).astype(float)
    return X, (np.arange(300) < 30).astype(int)[rng.permutation(300)], {}


def _heavy(rng: np.random.Generator) -> Table:
    y = (np.arange(200) < 30).astype(int)[rng.permutation(200)]
    return rng.standard_t(2, size=(200, 100)), y, {}


def _mixed(rng: np.random.Generator) -> Table:
    X = rng.normal(size=(200, 20))
    X[:, 0], X[:, 1] = rng.integers(0, 2, 200), rng.integers(0, 30, 200)
    options = {"categorical_features": [0, 1], "groups": {"group": list(range(12, 20))}}
    return X, rng.normal(size=200), options


def _ten_classes(rng: np.random.Generator) -> Table:
    return rng.normal(size=(300, 60)), _classes(rng, 300, 10), {"task": "classification"}


def _after_true_ones(rng: np.random.Generator) -> Table:
    X = rng.normal(size=(300, 60))
    return X, 3 * X[:, 0] + 2 * X[:, 1] - 2 * X[:, 2] + rng.normal(size=300), {"steps": 4}


def _many_rows(rng: np.random.Generator) -> Table:
    return rng.normal(size=(25_000, 20)), _classes(rng, 25_000, 2), {"task": "classification"}


def _wide(rng: np.random.Generator) -> Table:
    return rng.normal(size=(200, 3000)), _classes(rng, 200, 2), {"task": "classification"}


def _wide_after_true_ones(rng: np.random.Generator) -> Table:
    X = rng.normal(size=(200, 3000))
    return X, 3 * X[:, 0] + 2 * X[:, 1] - 2 * X[:, 2] + rng.normal(size=200), {"steps": 4}


NULLS: dict[str, tuple[str, Callable[[np.random.Generator], Table]]] = {
    "independent": ("100 x 50, independent, a number", _independent),
    "factors": ("200 x 400, five factors, 3 classes", _factors),
    "ar": ("100 x 50, AR(0.9), a number", _autoregressive),
    "sparse": ("300 x 200, 2 % ones, 10 % positives", _sparse),
    "heavy": ("200 x 100, t with 2 df, 15 % positives", _heavy),
    "mixed": ("200 x 14: numbers, 2 and 30 levels, a group of 8", _mixed),
    "ten": ("300 x 60, ten classes", _ten_classes),
    "after": ("300 x 60, step 4 after three true ones", _after_true_ones),
    "shifts": ("25000 x 20, permutations by formula, 2 classes", _many_rows),
    # Null products of so many columns are kept in single precision.
    "wide": ("200 x 3000, 2 classes", _wide),
    "wide_after": ("200 x 3000, step 4 after three true ones", _wide_after_true_ones),
}
DEXTER = "dexter"


def _null_batch(name: str, first: int, count: int) -> list[float]:
    found = []
    for draw in range(first, first + count):
        rng = np.random.default_rng([draw, *name.encode()])
        X, y, options = NULLS[name][1](rng)
        steps = options.pop("steps", 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path = select(X, y, steps, p_values=True, random_state=draw, **options)
        found.append(path.p_values[-1])
    return found


def _dexter(folder: Path) -> dict[str, Any]:
    """Return how many features "auto" takes of Dexter's training rows, and how many are probes."""
    from orthoselect_study.datasets import DataSource, load

    sets, absent = load([DEXTER], DataSource(folder))
    if absent:
        raise ValueError(f"{DEXTER} is {': '.join(absent[DEXTER])}")
    data = sets[DEXTER]
    began = time.perf_counter()
    path = select(data.X, data.y, "auto", task="classification", random_state=0)
    seconds = time.perf_counter() - began
    longer = select(data.X, data.y, 30, task="classification", p_values=True, random_state=0)
    probes = [not data.is_real[j] for j in longer.features]
    first = probes.index(True) if any(probes) else None
    return {
        **{"name": DEXTER, "kind": "probes", "title": data.title, "draws": 1, "seconds": seconds},
        **{"taken": path.chosen, "probes": sum(probes[: path.chosen])},
        "first_probe": None if first is None else first + 1,
        "p_of_first_probe": None if first is None else longer.p_values[first],
    }


def choose(names: list[str] | None, folder: Path | None) -> list[str]:
    """Return the lines that were asked for; all by default, Dexter if there is a folder of data."""
    known = [*NULLS, DEXTER]
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise ValueError(f"unknown rows {unknown}; choose from {known}")
    if DEXTER in (names or ()) and folder is None:
        raise ValueError(f"row {DEXTER} needs --data DIR, the folder that has `{DEXTER}.npz`")
    return names or (known if folder else [*NULLS])


def run(names: list[str], draws: int, folder: Path | None) -> Iterator[dict[str, Any]]:
    """Yield a line for each, worked out in as many processes as there are processors."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    with ProcessPoolExecutor() as pool:
        for name in names:
            if folder is not None and name == DEXTER:
                yield _dexter(folder)
                continue
            starts = range(0, draws, _BATCH)
            began = time.perf_counter()
            jobs = [pool.submit(_null_batch, name, a, min(_BATCH, draws - a)) for a in starts]
            found = [one for job in jobs for one in job.result()]
            seconds = time.perf_counter() - began
            yield {**_null_line(name, found), "draws": draws, "seconds": seconds}


def _null_line(name: str, p: list[float]) -> dict[str, Any]:
    shares = {str(a): float(np.mean(np.array(p) <= a + 1e-12)) for a in _LEVELS}
    kept = shares["0.05"] <= 0.065 and shares["0.01"] <= 0.02
    return {"name": name, "title": NULLS[name][0], "kind": "null", "shares": shares, "kept": kept}


def markdown(result: dict[str, Any], about: list[str]) -> str:
    """Return the page."""
    nulls = [line for line in result["lines"] if line["kind"] == "null"]
    lines = ["# Are p-values what they say?", "", *about, ""]
    if nulls:
        head = " | ".join(f"p <= {a}" for a in _LEVELS)
        lines += [f"| no signal | draws | {head} |", "|---|---|" + "---|" * len(_LEVELS)]
        for line in nulls:
            shares = " | ".join(f"{line['shares'][str(a)]:.3f}" for a in _LEVELS)
            lines.append(f"| {line['title']} | {line['draws']} | {shares} |")
        lines.append("")
    for line in result["lines"]:
        if line["kind"] == "probes":
            first = "no probe among 30 steps"
            if line["first_probe"] is not None:
                first = f"step {line['first_probe']}, p = {line['p_of_first_probe']:.3g}"
            lines += ["| set | taken by auto | probes among them | first probe | seconds |"]
            lines += ["|---|---|---|---|---|"]
            lines += [f"| {line['title']} | {line['taken']} | {line['probes']} | {first} | "
                      f"{line['seconds']:.2f} |", ""]  # fmt: skip
    return "\n".join(lines)
