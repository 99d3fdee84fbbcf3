"""The ways to store a problem's table, and the ways to work on it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import scipy.sparse as sp

from fuzz.families import INFORMATION, Problem, Rng
from orthoselect import GramStatistics, RowBlocks, native, select
from orthoselect.criteria import plan

Array = Any

IN_MEMORY = ["as planned", "whole gram", "gram columns", "gram columns in double", "rows"]
IN_BLOCKS = ["as planned", "whole gram", "gram columns"]


@dataclass(frozen=True)
class Storage:
    """One way to store a table.

    Attributes
    ----------
    name : str
    make : callable
        Returns the stored table of a problem, given chances and an empty folder.
    ways : list of str
        How it may be worked on.
    often : float
        How often to take it, where those that are slow come less often.
    single : bool
        Whether numbers are stored as float32.
    framed : bool
        Whether labels are stored as text.
    needs : str
        The library without which there is no such table.
    fits : callable
        Whether it can hold a problem.
    """

    name: str
    make: Callable[[Problem, Rng, Path], Any]
    ways: list[str]
    often: float = 1.0
    single: bool = False
    framed: bool = False
    needs: str = "numpy"
    fits: Callable[[Problem], bool] = lambda problem: True

    def stored(self, X: Array) -> Array:
        """Return the numbers as this storage keeps them."""
        return X.astype(np.float32).astype(float) if self.single else X


def _edges(N: int, rng: Rng) -> list[int]:
    """Return where to cut the rows: into single ones, into some, or once."""
    kind = rng.integers(3)
    if kind == 0 and N <= 40:
        return list(range(N + 1))
    cuts = rng.integers(0, N + 1, int(rng.integers(0, 5)))
    return [0, *sorted(int(c) for c in cuts), N]


def _parts(table: Any, rng: Rng) -> list[Any]:
    N = table.shape[0]
    return [table[a:b] for a, b in pairwise(_edges(N, rng))]


def _frame(problem: Problem) -> dict[str, Array]:
    columns: dict[str, Array] = {}
    for j, column in enumerate(problem.X.T):
        if j in problem.categorical:
            columns[f"x{j}"] = np.array([f"l{code:.0f}" for code in column], dtype=object)
        else:
            columns[f"x{j}"] = np.ascontiguousarray(column)
    return columns


def _pandas(problem: Problem, rng: Rng, folder: Path) -> Any:
    import pandas as pd

    columns = _frame(problem)
    for j in range(problem.X.shape[1]):
        x = problem.X[:, j]
        if j not in problem.categorical and rng.random() < 0.5 and _is_whole(x):
            columns[f"x{j}"] = x.astype(np.int64)  # mixed types
    return pd.DataFrame(columns)


def _polars(problem: Problem, rng: Rng, folder: Path) -> Any:
    import polars as pl

    texts = {f"x{j}" for j in problem.categorical}
    columns = _frame(problem)
    return pl.DataFrame({k: v.tolist() if k in texts else v for k, v in columns.items()})


def _pyarrow(problem: Problem, rng: Rng, folder: Path) -> Any:
    import pyarrow as pa

    table = pa.table({name: pa.array(column) for name, column in _frame(problem).items()})
    if rng.random() < 0.5 and table.num_rows > 2:  # in chunks
        cut = int(rng.integers(1, table.num_rows))
        table = pa.concat_tables([table.slice(0, cut), table.slice(cut)])
    return table


def _memory_map(problem: Problem, rng: Rng, folder: Path) -> Any:
    order = np.asfortranarray if rng.random() < 0.5 else np.ascontiguousarray
    np.save(folder / "t.npy", order(problem.X))
    return np.load(folder / "t.npy", mmap_mode="r")


def _parquet(problem: Problem, rng: Rng, folder: Path) -> Any:
    import pyarrow.parquet as pq

    from orthoselect.read import FileBlocks

    table, at = _pyarrow(problem, rng, folder), 0
    for a, b in pairwise(
        [0, *sorted(map(int, rng.integers(1, len(problem.X), 2))), len(problem.X)]
    ):
        if b > a:
            pq.write_table(table.slice(a, b - a), folder / f"part-{at}.parquet")
            at += 1
    return FileBlocks(
        folder, block_rows=int(rng.choice([1, 7] if len(problem.X) <= 25 else [25, 1000]))
    )


def _dask(problem: Problem, rng: Rng, folder: Path) -> Any:
    if problem.categorical or rng.random() < 0.3:
        import dask.dataframe as dd

        frame = _pandas(problem, rng, folder)
        return dd.from_pandas(frame, npartitions=int(rng.integers(1, 4)), sort=False)
    import dask.array as da

    sizes = tuple(b - a for a, b in pairwise(sorted({*_few_edges(len(problem.X), rng)})))
    return da.from_array(problem.X, chunks=(sizes, (problem.X.shape[1],)))


def _few_edges(N: int, rng: Rng) -> list[int]:
    return [0, *map(int, rng.integers(1, N, 2)), N]


def _is_whole(x: Array) -> bool:
    return bool((x == np.round(x)).all() and np.abs(x).max() < 2**53)


def _fits_float32(problem: Problem) -> bool:
    X = np.abs(problem.X)
    return bool(X.max() < 1e37 and X[X > 0].min(initial=1.0) > 1e-37)


def _fits_integers(problem: Problem) -> bool:
    return _is_whole(problem.X)


def _small(problem: Problem) -> bool:
    return problem.X.size <= 5000


def _no_rows_needed(problem: Problem) -> bool:
    return problem.method not in INFORMATION and problem.method != "socc_discretized"


def _statistics(problem: Problem, rng: Rng, folder: Path) -> Any:
    return _gather(problem, [0, len(problem.X)], rng)


def _merged(problem: Problem, rng: Rng, folder: Path) -> Any:
    return _gather(problem, sorted({*_edges(len(problem.X), rng)}), rng)


def _gather(problem: Problem, edges: list[int], rng: Rng) -> GramStatistics:
    """Return statistics of some blocks, updated and merged in one order or another."""
    options: dict[str, Any] = {
        "task": problem.task,
        "categorical_features": problem.categorical or "from_dtype",
    }
    parts = [GramStatistics(**options)]
    for a, b in pairwise(edges):
        if rng.random() < 0.4 and parts[-1].n_rows:
            parts.append(GramStatistics(**options))
        w = None if problem.w is None else problem.w[a:b]
        parts[-1].update(problem.X[a:b], problem.y[a:b], w)
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    return whole


STORAGES = [
    Storage("dense C", lambda p, *_: np.ascontiguousarray(p.X), IN_MEMORY),
    Storage("dense Fortran", lambda p, *_: np.asfortranarray(p.X), IN_MEMORY),
    Storage("float32", lambda p, *_: p.X.astype(np.float32), IN_MEMORY, single=True,
            fits=_fits_float32),
    Storage("int64", lambda p, *_: p.X.astype(np.int64), IN_MEMORY, fits=_fits_integers),
    Storage("memory map", _memory_map, IN_MEMORY),
    Storage("CSR", lambda p, *_: sp.csr_array(p.X), IN_MEMORY),
    Storage("CSC", lambda p, *_: sp.csc_array(p.X), IN_MEMORY),
    Storage("pandas", _pandas, IN_MEMORY, framed=True, needs="pandas"),
    Storage("polars", _polars, IN_MEMORY, framed=True, needs="polars"),
    Storage("pyarrow", _pyarrow, IN_MEMORY, framed=True, needs="pyarrow"),
    Storage("dense blocks", lambda p, rng, _: RowBlocks(_parts(p.X, rng)), IN_BLOCKS, often=2.0),
    Storage("float32 blocks", lambda p, rng, _: RowBlocks(_parts(p.X.astype(np.float32), rng)),
            IN_BLOCKS, single=True, fits=_fits_float32),
    Storage("sparse blocks", lambda p, rng, _: RowBlocks(_parts(sp.csr_array(p.X), rng)),
            IN_BLOCKS),
    Storage("Parquet folder", _parquet, IN_BLOCKS, often=0.3, framed=True, needs="pyarrow",
            fits=_small),
    Storage("Dask", _dask, IN_BLOCKS, often=0.15, framed=True, needs="dask", fits=_small),
    Storage("statistics", _statistics, ["as planned"], often=1.5, fits=_no_rows_needed),
    Storage("merged statistics", _merged, ["as planned"], often=1.5, fits=_no_rows_needed),
]  # fmt: skip


def draw(problem: Problem, rng: Rng, count: int) -> list[Storage]:
    """Return some storages that can hold a problem."""
    able = [s for s in STORAGES if find_spec(s.needs) and s.fits(problem)]
    chances = np.array([s.often for s in able])
    at = rng.choice(len(able), min(count, len(able)), replace=False, p=chances / chances.sum())
    return [able[i] for i in at]


@contextmanager
def one_task_after_another() -> Iterator[None]:
    """Let Dask work here, if it is installed: quick for small tables."""
    if find_spec("dask") is None:
        yield
        return
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield


@contextmanager
def forced(way: str, *, in_blocks: bool, kernels: bool) -> Iterator[None]:
    """Let a strategy be chosen whatever the plan says, with kernels or without."""
    changes: dict[str, Any] = {}
    if way != "as planned":
        changes = {
            "whole_gram_pays": lambda *_: way == "whole gram",
            "rows_pay": lambda *_: way == "rows",
            "double_pays": lambda *_: way == "gram columns in double",
            "guessing_pays": lambda *_: True,
            "sampling_pays": lambda *_: not in_blocks,
        }
    with (
        mock.patch.multiple(plan, **changes) if changes else nullcontext(),
        mock.patch.object(native, "_kernels", native._module if kernels else None),
    ):
        yield


@dataclass
class Run:
    """How a problem was stored and worked on."""

    storage: Storage
    way: str
    kernels: bool

    def __str__(self) -> str:
        return f"{self.storage.name}, {self.way}, {'kernels' if self.kernels else 'NumPy'}"

    def select(self, problem: Problem, rng: Rng, folder: Path) -> tuple[Any, list[str]]:
        """Return the path, and the warnings of NumPy on the way."""
        asked: dict[str, Any] = {"task": problem.task}
        for name in ("groups", "include", "exclude"):
            if getattr(problem, name):
                asked[name] = getattr(problem, name)
        if problem.bins:
            asked["bins"] = problem.bins
        in_blocks = "gram columns in double" not in self.storage.ways
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            with forced(self.way, in_blocks=in_blocks, kernels=self.kernels):
                data = self.storage.make(problem, rng, folder)
                y: Any = problem.y
                if isinstance(data, GramStatistics):
                    y = None
                else:
                    if problem.w is not None:
                        asked["sample_weight"] = problem.w
                    if problem.categorical and not self.storage.framed:
                        asked["categorical_features"] = problem.categorical
                path = select(data, y, problem.t, problem.method, **asked)
        return path, [str(one.message) for one in seen if one.category is RuntimeWarning]
