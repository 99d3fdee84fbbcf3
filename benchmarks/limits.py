"""What no selection of the large made tables could go below on this machine, and how near we are.

A first look has to read the table, and each pass for Gram columns has to read it and to multiply:
it takes the longer of the two, if it does both at the same time, and nothing else. How quick
threads read the table, and multiply numbers that stand in a near cache, is measured; how many
passes and products a selection took is what its path tells. Gains of float32 tables are made exact
in the end, which is a read more, unless all products were float64's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks import measure
from benchmarks.shapes import MADE, Row, check_names
from benchmarks.table import Settings

COLUMNS = 12  # as many as a pass multiplies with
BLOCK = 512, 64  # numbers of a table that stay in a near cache
TIMES = 200  # that the block is multiplied
QUICK_TIMES = 5


def choose(names: list[str] | None, *, quick: bool) -> list[Row]:
    """Return the shapes to measure, all large ones if no name is given.

    Raises
    ------
    ValueError
        If a name is no shape's.
    """
    rows = [row for row in MADE if row.data.large]
    check_names(names, [row.name for row in rows])
    chosen = [row for row in rows if not names or row.name in names]
    return [row.quick() for row in chosen] if quick else chosen


def run(
    rows: list[Row], threads: int, settings: Settings, *, quick: bool
) -> Iterator[dict[str, Any]]:
    """Yield a line for each shape in float64 and one in float32, as plain dicts."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(threads), ThreadPoolExecutor(threads) as pool:
        for row in rows:
            print(f"{row.title} ...", end=" ", file=sys.stderr, flush=True)
            for X, line in _fit_both(row, settings.repeats):
                line["read_seconds"] = _read_seconds(X, pool, threads, settings.repeats)
                stored, used = line["arithmetic"]
                rate = _products_per_second(pool, threads, stored, used, quick)
                line["products_per_second"] = rate
                print(f"{1000 * line['seconds']:.4g} ms", end=" ", file=sys.stderr, flush=True)
                yield line
            print(file=sys.stderr)


def with_limits(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the lines with what they would take at least, by the best rates of the whole run.

    Neighbors may slow a machine down for a while; a limit is what it does at its best.
    """
    best: dict[str, float] = {}  # by the type that is multiplied in
    for line in lines:
        used = line["arithmetic"][1]
        best[used] = max(best.get(used, 0.0), line["products_per_second"])
    quickest = max(line["bytes"] / line["read_seconds"] for line in lines)
    return [_with_limit(line, best[line["arithmetic"][1]], quickest) for line in lines]


def _with_limit(line: dict[str, Any], rate: float, bytes_per_second: float) -> dict[str, Any]:
    read = line["bytes"] / bytes_per_second
    multiplying = line["columns"] * line["numbers"] / rate
    passes_with_products = line["passes"] - 1 - line["made_exact"]
    apart = (1 + line["made_exact"]) * read
    return line | {
        "read_seconds": read,
        "products_per_second": rate,
        "limit_seconds": apart + max(passes_with_products * read, multiplying),
    }


def _fit_both(row: Row, repeats: int) -> list[tuple[np.ndarray, dict[str, Any]]]:
    """Fit the same numbers in float64 and in float32, in turns."""
    from orthoselect import OrthogonalSelector

    single, y = replace(row.data, dtype="float32").load()
    tables = [single.astype(np.float64), single]
    selectors = [OrthogonalSelector(n_features_to_select=row.t).fit(X, y) for X in tables]
    fits = [partial(s.fit, X, y) for s, X in zip(selectors, tables)]
    best = [min(seconds) for seconds in measure.times_side_by_side(fits, repeats)]
    return [
        (X, _line(row, X, seconds, selector.path_.stats))
        for X, seconds, selector in zip(tables, best, selectors)
    ]


def _line(row: Row, X: np.ndarray, seconds: float, stats: dict[str, Any]) -> dict[str, Any]:
    """Return the time of a fit, and what its passes and products were."""
    from orthoselect import native
    from orthoselect.criteria import plan

    in_double = X.itemsize == 8 or (native.available() and plan.double_pays(X.shape[1], row.t))
    made_exact = not in_double and stats["columns_read"] > 0
    return {
        "name": row.name,
        "title": row.title,
        "dtype": str(X.dtype),
        "arithmetic": [f"f{X.itemsize}", "f8" if in_double else "f4"],
        "seconds": seconds,
        "bytes": X.nbytes,
        "numbers": X.size,
        "made_exact": made_exact,
        "passes": stats["passes"] + made_exact,
        "columns": stats["products"] - row.data.classes,  # without those of the first look
    }


def _read_seconds(X: np.ndarray, pool: ThreadPoolExecutor, threads: int, repeats: int) -> float:
    """Return the best time in which all threads together read a table.

    They add it up as whole numbers of eight bytes, whatever it holds: that costs least.
    """
    parts = np.array_split(X.reshape(-1).view(np.int64), threads)
    return measure.best_seconds(lambda: list(pool.map(np.sum, parts)), repeats)


def _products_per_second(
    pool: ThreadPoolExecutor, threads: int, stored: str, used: str, quick: bool
) -> float:
    """Return the multiplications that all threads together do in a near cache.

    Of numbers of type `stored`, in arithmetic of type `used`; with kernels, where there are any.
    """
    times = QUICK_TIMES if quick else TIMES

    def work(_: int) -> None:
        multiply = _multiplication(stored, used)
        for _ in range(times):
            multiply()

    seconds = measure.best_seconds(lambda: list(pool.map(work, range(threads))), 1 if quick else 9)
    return threads * times * COLUMNS * BLOCK[0] * BLOCK[1] / seconds


def _multiplication(stored: str, used: str) -> Callable[[], None]:
    from orthoselect import native
    from orthoselect.matrix.dense import add_cross

    B, Z = np.ones(BLOCK, dtype=stored), np.ones((BLOCK[0], COLUMNS), dtype=used)
    out = np.zeros((COLUMNS, BLOCK[1]))
    if native.available():
        kernel = native.kernels().cross
        return lambda: kernel(Z, B, out, None)
    return lambda: add_cross(Z, B, out)
