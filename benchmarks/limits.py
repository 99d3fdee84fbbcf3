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
from typing import Any

import numpy as np

from benchmarks import measure
from benchmarks.shapes import MADE, Row
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
    known = [row.name for row in rows]
    if unknown := set(names or []) - set(known):
        raise ValueError(f"no such row: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    chosen = [row for row in rows if not names or row.name in names]
    return [row.quick() for row in chosen] if quick else chosen


def run(
    rows: list[Row], threads: int, settings: Settings, *, quick: bool
) -> Iterator[dict[str, Any]]:
    """Yield a line for each shape in float64 and one in float32, as plain dicts."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(threads), ThreadPoolExecutor(threads) as pool:
        rates = {
            (stored, used): _products_per_second(pool, threads, stored, used, quick)
            for stored, used in (("f4", "f4"), ("f4", "f8"), ("f8", "f8"))
        }
        for row in rows:
            for dtype in ("float64", "float32"):
                print(f"{row.title}, {dtype} ...", end=" ", file=sys.stderr, flush=True)
                made = replace(row, data=replace(row.data, dtype=dtype))
                line = _line(made, pool, threads, rates, settings.repeats)
                print(f"{1000 * line['seconds']:.4g} ms", file=sys.stderr)
                yield line


def _line(
    row: Row,
    pool: ThreadPoolExecutor,
    threads: int,
    rates: dict[tuple[str, str], float],
    repeats: int,
) -> dict[str, Any]:
    """Fit one table, and work out what its passes and products would take at least."""
    from orthoselect import OrthogonalSelector, native
    from orthoselect.criteria import plan

    X, y = row.data.load()
    selector = OrthogonalSelector(n_features_to_select=row.t)
    seconds = measure.best_seconds(lambda: selector.fit(X, y), repeats)
    stats = selector.path_.stats
    read = _read_seconds(X, pool, threads, repeats)
    single = row.data.dtype == "float32"
    in_double = single and native.available() and plan.double_pays(X.shape, row.t)
    rate = rates["f4" if single else "f8", "f4" if single and not in_double else "f8"]
    columns = stats["products"] - row.data.classes  # the first look has one and those of classes
    multiplying = columns * X.size / rate
    made_exact = single and not in_double and stats["columns_read"] > 0
    return {
        "name": row.name,
        "title": row.title,
        "dtype": row.data.dtype,
        "seconds": seconds,
        "read_seconds": read,
        "products_per_second": rate,
        "passes": stats["passes"] + made_exact,
        "columns": columns,
        "limit_seconds": (1 + made_exact) * read + max((stats["passes"] - 1) * read, multiplying),
    }


def _read_seconds(X: np.ndarray, pool: ThreadPoolExecutor, threads: int, repeats: int) -> float:
    """Return the best time in which all threads together add up the numbers of a table."""
    parts = np.array_split(X, threads)
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
    from orthoselect.matrix.thin import add_cross

    B, Z = np.ones(BLOCK, dtype=stored), np.ones((BLOCK[0], COLUMNS), dtype=used)
    out = np.zeros((COLUMNS, BLOCK[1]))
    if native.available():
        kernel = native.kernels().cross
        return lambda: kernel(Z, B, out, None)
    return lambda: add_cross(Z, B, out)
