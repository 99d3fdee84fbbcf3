"""What the cost model in `orthoselect.criteria.plan` is made of, measured.

The products that selection spends its time on are taken of made tables: the first look (`scan`)
with a response of one column and of nine, some columns of the Gram matrix (`gram`), and the whole
Gram matrix where it is small. A line through the times of `gram` over its number of columns tells
what one more column costs, its slope, and what a read of the table costs, its value at no column.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from benchmarks import measure
from benchmarks.shapes import check_names
from benchmarks.table import Settings

WIDTHS = (1, 6, 12, 18, 24)  # columns of the Gram matrix taken at a time
RESPONSES = (1, 9)  # columns of the response in a scan
SMALL_GRAM = 1000  # the whole Gram matrix is taken up to so many columns


@dataclass(frozen=True)
class Shape:
    """A table of random normal numbers."""

    N: int
    n: int
    dtype: str

    @property
    def name(self) -> str:
        """What `--rows` calls it."""
        return f"{self.N}x{self.n}" + ("" if self.dtype == "float64" else f"_{self.dtype}")

    @property
    def title(self) -> str:
        """What the page calls it."""
        return f"{self.N} x {self.n}, {self.dtype}"


def _both_dtypes(*sizes: tuple[int, int]) -> tuple[Shape, ...]:
    return tuple(Shape(N, n, dtype) for N, n in sizes for dtype in ("float64", "float32"))


SHAPES = _both_dtypes((6000, 5000), (60000, 784), (100000, 200), (20000, 2000), (1000000, 50))
QUICK = _both_dtypes((2000, 100), (500, 1500))


def choose(names: list[str] | None, *, quick: bool) -> list[Shape]:
    """Return the shapes to measure, all of them if no name is given.

    Raises
    ------
    ValueError
        If a name is no shape's.
    """
    shapes = QUICK if quick else SHAPES
    check_names(names, [shape.name for shape in shapes])
    return [shape for shape in shapes if not names or shape.name in names]


def run(shapes: list[Shape], threads: int, settings: Settings) -> Iterator[dict[str, Any]]:
    """Yield each shape's measurements, with kernels and without, as plain dicts."""
    from threadpoolctl import threadpool_limits

    from orthoselect.matrix.threads import single_threaded_blas

    for shape in shapes:
        print(f"{shape.title} ...", end=" ", file=sys.stderr, flush=True)
        with threadpool_limits(threads), single_threaded_blas():
            lines = list(_measure(shape, settings.repeats))
        print(f"X.sum() {1000 * lines[0]['read_seconds']:.4g} ms", file=sys.stderr)
        yield from lines


def model(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the numbers of the cost model, as it has them and as measured over all shapes."""
    from orthoselect.criteria import plan

    numbers = (
        ("_READ", "a read, in columns", plan._READ, "read", True),
        ("_READ", "a read, in columns", plan._READ, "read", False),
        ("_WHOLE", "whole Gram, for each column", plan._WHOLE, "whole", True),
        (
            "_WHOLE_WITHOUT_KERNELS",
            "whole Gram, for each column",
            plan._WHOLE_WITHOUT_KERNELS,
            "whole",
            False,
        ),
    )
    return [
        {"name": name, "what": what, "kernels": kernels, "model": value}
        | _spread([line[figure] for line in lines if line["kernels"] == kernels])
        for name, what, value, figure, kernels in numbers
    ]


def _spread(found: list[float | None]) -> dict[str, float | None]:
    known = [value for value in found if value is not None]
    if not known:
        return {"least": None, "median": None, "most": None}
    return {"least": min(known), "median": median(known), "most": max(known)}


def _measure(shape: Shape, repeats: int) -> Iterator[dict[str, Any]]:
    """Yield a line with kernels, where there are any, and one without."""
    from orthoselect import native

    X = np.random.default_rng([shape.N, shape.n]).standard_normal(
        (shape.N, shape.n), dtype=np.dtype(shape.dtype).type
    )
    read = measure.read_seconds(X)
    whole = _whole_seconds(X, repeats)
    for kernels in (True, False) if native.available() else (False,):
        inside: AbstractContextManager[None] = nullcontext() if kernels else measure.no_kernels()
        with inside:
            scans, grams = _scan_seconds(X, repeats), _gram_seconds(X, repeats)
        yield {
            "name": shape.name,
            "title": shape.title,
            "kernels": kernels,
            "read_seconds": read,
            "scan_seconds": scans,
            "gram_seconds": grams,
            "whole_seconds": whole,
            **_figures(shape.n, read, grams, whole),
        }


def _figures(
    n: int, read: float, grams: dict[str, float], whole: float | None
) -> dict[str, float | None]:
    """Return what the model is made of.

    Returns
    -------
    figures : dict
        `column`: one more column, in reads (`X.sum()`); `read`: a read, in columns; `whole`: the
        whole Gram matrix beyond a read, in columns for each of its own. None where times do not
        grow with the columns, or the whole Gram matrix was not taken.
    """
    slope, start = np.polyfit([int(b) for b in grams], list(grams.values()), 1)
    if slope <= 0:
        return {"column": None, "read": None, "whole": None}
    return {
        "column": float(slope / read),
        "read": float(start / slope),
        "whole": None if whole is None else float((whole - start) / slope / n),
    }


def _scan_seconds(X: np.ndarray, repeats: int) -> dict[str, float]:
    from orthoselect.matrix.dense import DenseMatrix

    matrix = DenseMatrix(X)
    seconds = {}
    for m in RESPONSES:
        scan = partial(matrix.scan, _response(len(X), m), None)
        seconds[str(m)] = measure.best_seconds(scan, repeats)
    return seconds


def _gram_seconds(X: np.ndarray, repeats: int) -> dict[str, float]:
    """Return the best times of Gram columns, by their number; columns from all over the table."""
    from orthoselect.matrix.dense import DenseMatrix

    matrix = DenseMatrix(X)
    seconds = {}
    for b in WIDTHS:
        J = np.linspace(0, X.shape[1] - 1, b).astype(np.intp)
        means, factors = X[:, J].mean(axis=0, dtype=float), np.full(b, len(X) ** -0.5)
        gram = partial(matrix.gram, J, means, factors, None)
        seconds[str(b)] = measure.best_seconds(gram, repeats)
    return seconds


def _whole_seconds(X: np.ndarray, repeats: int) -> float | None:
    """Return the best time of the whole Gram matrix, which kernels have no part in."""
    from orthoselect.matrix.dense import DenseMatrix

    if X.shape[1] > SMALL_GRAM:
        return None
    matrix, V = DenseMatrix(X), _response(len(X), 1)
    return measure.best_seconds(lambda: matrix.scan(V, None, gram=True), repeats)


def _response(N: int, m: int) -> np.ndarray:
    return np.random.default_rng(m).standard_normal((N, m)) * N**-0.5
