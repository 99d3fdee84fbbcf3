"""How long one step of an information criterion takes: every feature counted against one and y.

Beside ours, with compiled kernels and without, stands the plain loop that NumPy users write: a
`np.bincount` for each feature, then sums of logarithms of the table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import measure
from benchmarks.shapes import Data, check_names
from benchmarks.table import Settings

TERMS = 208  # sums that a selection of 50 features adds up
BINS = 10


@dataclass(frozen=True)
class Case:
    """One table: made, of uniform codes, or a real one in bins.

    Attributes
    ----------
    levels : int
        Of every feature.
    target : float or None
        How many times quicker than the loop our step should be, in one run.
    selected : bool
        Whether whole selections are measured too; see `benchmarks.selections`.
    """

    name: str
    data: Data
    levels: int
    target: float | None = None
    selected: bool = True

    @property
    def title(self) -> str:
        """What the page calls the case."""
        d = self.data
        head = f"{self.name}: " if d.source == "file" else ""
        kind = ", sparse" if d.sparse else ""
        return f"{head}{d.N} x {d.n}, {self.levels} levels, {d.classes} classes{kind}"


MADE = (
    Case("binary", Data("made", 60000, 784, 10), 2, 60.0),
    Case("bins", Data("made", 6000, 5000, 2), BINS, 4.5),
    Case("three", Data("made", 2000, 649, 10), 3, 10.0),
    Case("many", Data("made", 6000, 500, 2), 50, selected=False),
)
FILES = (
    Case("cnae9", Data("file", 1080, 856, 9, name="cnae9", dtype="stored", sparse=True), 5),
    Case("dexter", Data("file", 300, 20000, 2, name="dexter", sparse=True), BINS),
)
QUICK = (
    Case("quick", Data("made", 500, 40, 3), 2),
    Case("quick_bins", Data("made", 500, 40, 3), 5, selected=False),
)


def choose(names: list[str] | None, *, with_files: bool, quick: bool) -> list[Case]:
    """Return the cases to measure, all that there are data for if no name is given.

    Raises
    ------
    ValueError
        If a name is no case's.
    """
    cases = QUICK if quick else (*MADE, *(FILES if with_files else ()))
    check_names(names, [case.name for case in cases])
    return [case for case in cases if not names or case.name in names]


def run(cases: list[Case], threads: int, settings: Settings) -> Iterator[dict[str, Any]]:
    """Yield each case's measurements as a plain dict."""
    from threadpoolctl import threadpool_limits

    for case in cases:
        print(f"{case.title} ...", end=" ", file=sys.stderr, flush=True)
        with threadpool_limits(threads):
            result = _measure(case, settings)
        print(f"{1000 * result['seconds']['step']:.4g} ms", file=sys.stderr)
        yield result


def _measure(case: Case, settings: Settings) -> dict[str, Any]:
    from orthoselect import native
    from orthoselect.counts import count

    codes, y, filled = _load(case, settings.folder)
    c = case.data.classes
    counts = count(codes, y, c)
    T = counts.logarithms(TERMS)
    j = int(np.argmax(counts.margins(T)[1] - counts.margins(T)[0]))  # the first to be selected

    def best(work: Callable[[], Any]) -> float:
        return measure.best_seconds(work, settings.repeats)

    seconds = {
        "build": best(lambda: count(codes, y, c)),
        "margins": best(lambda: counts.margins(T)),
        "step": best(lambda: counts.pairs(j, T)),
    }
    with measure.no_kernels():
        plain = count(codes, y, c)
        seconds["numpy"] = best(lambda: plain.pairs(j, T))
    dense = codes if filled is None else _dense(codes)
    seconds["loop"] = best(lambda: _loop(dense.values, dense.levels, j, y, c, T.table))
    _assert_same(counts.pairs(j, T), _loop(dense.values, dense.levels, j, y, c, T.table))
    return {
        "name": case.name,
        "title": case.title,
        "kind": counts.kind,
        "kernels": native.available(),
        "filled": filled,
        "seconds": seconds,
        "ratio": seconds["loop"] / seconds["step"],
        "target": case.target,
    }


def _loop(
    values: np.ndarray, levels: np.ndarray, j: int, y: np.ndarray, c: int, table: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Count feature by feature, as the definition has it."""
    Z = int(levels[j]) * c
    z = values[j].astype(np.intp) * c + y
    XJ, XJY = np.empty(len(values), dtype=np.int64), np.empty(len(values), dtype=np.int64)
    for k, x in enumerate(values):
        counts = np.bincount(x * np.intp(Z) + z, minlength=int(levels[k]) * Z)
        XJY[k] = table[counts].sum()
        XJ[k] = table[counts.reshape(-1, c).sum(axis=1)].sum()
    return XJ, XJY


def _assert_same(ours: Any, theirs: Any) -> None:
    if not all(np.array_equal(a, b) for a, b in zip(ours, theirs)):
        raise AssertionError("our counts are not those of the loop")


def _load(case: Case, folder: str | None) -> tuple[Any, np.ndarray, int | None]:
    """Return codes, classes and, of a sparse table, the number of filled cells."""
    from orthoselect.counts import DenseCodes

    d = case.data
    levels = np.full(d.n, case.levels)
    if d.source == "made":
        rng = np.random.default_rng([d.N, d.n, case.levels])
        values = rng.integers(0, case.levels, (d.n, d.N), dtype=np.uint8)
        return DenseCodes(values, levels), rng.integers(0, d.classes, d.N), None
    return _load_file(case, folder)


def _load_file(case: Case, folder: str | None) -> tuple[Any, np.ndarray, int]:
    from orthoselect.counts import SparseCodes

    X, y = load_levels(case, folder)
    levels = np.full(X.shape[1], case.levels)
    return SparseCodes(X.indptr, X.indices, X.data, X.shape, levels), y, X.nnz


def load_levels(case: Case, folder: str | None) -> tuple[Any, np.ndarray]:
    """Return a real table by columns (CSC, uint8), and its classes from 0.

    Numbers other than counts are cut into bins of equal width from 0.
    """
    import scipy.sparse as sp

    X, y = case.data.load(folder)
    X = sp.csc_array(X)
    if case.levels == BINS:
        largest = X.max(axis=0).toarray().ravel()
        share = X.data / np.repeat(largest, np.diff(X.indptr))
        X.data = np.minimum(share * BINS, BINS - 1)
    X = X.astype(np.uint8)
    X.eliminate_zeros()
    X.sort_indices()
    return X, np.unique(y, return_inverse=True)[1]


def _dense(codes: Any) -> Any:
    from orthoselect.counts import DenseCodes

    values = np.zeros((codes.shape[1], codes.shape[0]), dtype=np.uint8)
    feature = np.repeat(np.arange(codes.shape[1]), np.diff(codes.indptr))
    values[feature, codes.indices] = codes.codes
    return DenseCodes(values, codes.levels)
