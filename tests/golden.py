"""Paths of every method by every storage, frozen: what a change of the house may not change.

    python tests/golden.py     freeze them anew, into golden.json beside this file

Features, names, why a search has stopped and what is refused stay what they are; gains stay to
1e-9. Passes and products may become fewer.

The mixed table has two columns 1e-7 apart. Their roundoff alone moves a gain g by up to
2 sqrt(g) 2^-52 / 1e-7, and processors round differently, so its gains stay to NEAR_ROUNDOFF.
"""

from __future__ import annotations

import json
import pathlib
import tempfile
import warnings

import numpy as np
import scipy.sparse as sp

from problems import random_block_problem, random_problem

FILE = pathlib.Path(__file__).with_name("golden.json")
N_PLAIN, N_WIDE = 4, 3
SELECTED = 5
NEAR_ROUNDOFF = 1e-9


def mixed_table():
    """Numbers, whole numbers, text and truth values, with classes to tell."""
    rng = np.random.default_rng(12)
    N = 120
    x = rng.normal(size=(N, 6))
    town = rng.choice(["Oslo", "Rome", "Lima", "Bern"], N)
    columns = {f"x{j}": x[:, j] for j in range(6)}
    columns["count"] = rng.integers(0, 9, N)
    columns["town"] = town
    columns["open"] = rng.random(N) < 0.4
    columns["near"] = x[:, 0] + 1e-7 * x[:, 5]
    signal = x[:, 0] + (town == "Rome") + 0.4 * x[:, 3] + 0.1 * columns["count"]
    columns["y"] = np.where(signal > 0.7, "yes", "no")
    return columns


def _numbered(problem):
    names = [f"c{j}" for j in range(problem.X.shape[1])]
    return names, problem.X


def _frame(library, problem):
    names, X = _numbered(problem)
    columns = {name: np.ascontiguousarray(X[:, j]) for j, name in enumerate(names)}
    return library(columns)


def _pandas(columns):
    import pandas

    return pandas.DataFrame(columns)


def _polars(columns):
    import polars

    return polars.DataFrame(columns)


def _pyarrow(columns):
    import pyarrow

    return pyarrow.table(columns)


def _row_blocks(X):
    from orthoselect import RowBlocks

    third = max(1, len(X) // 3)
    return RowBlocks([X[:third], X[third : third + 1], X[third + 1 :]])


def _dask(X):
    import dask.array

    return dask.array.from_array(X, chunks=(max(1, len(X) // 3), X.shape[1]))


ARRAYS = {
    "array": lambda p: np.ascontiguousarray(p.X),
    "by columns": lambda p: np.asfortranarray(p.X),
    "float32": lambda p: p.X.astype(np.float32),
    "sparse": lambda p: sp.csr_array(p.X),
    "pandas": lambda p: _frame(_pandas, p),
    "polars": lambda p: _frame(_polars, p),
    "pyarrow": lambda p: _frame(_pyarrow, p),
    "blocks": lambda p: _row_blocks(p.X),
    "dask": lambda p: _dask(p.X),
}
ONLY_IN_MEMORY = ("lasso", "elastic_net", "shapley")
SLOW_STORAGES = ("dask",)
INFORMATION = ("mim", "mrmr_difference", "mrmr_quotient", "jmi", "cmim", "cife", "icap", "disr")
ONLY_CLASSES = (*INFORMATION, "shapley")
BY_BLOCKS = ("socc", "socc_discretized")
ONLY_NUMBERS = ("err", "mser", "obcc", "lasso", "elastic_net", "shapley")


def _told(path):
    stats = path.stats
    return {
        "features": [int(f) for f in path.features],
        "names": [str(name) for name in path.names],
        "gains": [float(gain) for gain in path.gains],
        "stopped": path.stopped,
        "passes": stats.get("passes"),
        "products": stats.get("products"),
    }


def _run(work, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _told(work(*args, **options))
        except (ValueError, TypeError, ArithmeticError) as error:
            return {"error": type(error).__name__}


def _response(method, problem):
    """Return y, cut into classes for the methods that know nothing else."""
    is_classes = problem.options["task"] == "classification" and problem.y.ndim == 1
    if method not in ONLY_CLASSES or is_classes:
        return problem.y
    y = problem.y if problem.y.ndim == 1 else problem.y[:, 0]
    return np.digitize(y, np.quantile(y, [0.3, 0.6]))


def _asked(method, problem):
    from orthoselect.methods import METHODS

    taken = {"task", "groups", "categorical_features"} & set(METHODS[method]._general())
    options = {name: value for name, value in problem.options.items() if name in taken}
    if method in ONLY_CLASSES:
        options["task"] = "classification"
    if "sample_weight" in METHODS[method]._general():
        options["sample_weight"] = problem.weights
    if method in BY_BLOCKS:
        options["adjust"] = None  # as these paths were frozen
    return options


def _problems():
    for seed in range(N_PLAIN):
        yield f"plain {seed}", random_problem(seed, offset=10.0)
    for seed in range(N_WIDE):
        yield f"wide {seed}", random_block_problem(seed)


def _of_arrays(method):
    from orthoselect import select

    for name, problem in _problems():
        y, options = _response(method, problem), _asked(method, problem)
        for storage, stored in ARRAYS.items():
            if method in ONLY_IN_MEMORY and storage != "array":
                continue
            if storage in SLOW_STORAGES and name not in ("plain 0", "wide 0"):
                continue
            told = _run(select, stored(problem), y, SELECTED, method, **options)
            yield f"{method} | {name} | {storage}", told


def _by_statistics(problem):
    from orthoselect import GramStatistics

    options = problem.options
    made = {name: options[name] for name in ("task", "categorical_features") if name in options}
    X = np.ascontiguousarray(problem.X)
    statistics = GramStatistics.of(X, problem.y, problem.weights, **made)
    return statistics.select(SELECTED, groups=options.get("groups"), adjust=None)


def _of_mixed(method, folder):
    from orthoselect import select

    columns = mixed_table()
    options = {"exclude": ["town"]} if method in ONLY_NUMBERS else {}
    options |= {"adjust": None} if method in BY_BLOCKS else {}
    for library, make in {"pandas": _pandas, "polars": _polars, "pyarrow": _pyarrow}.items():
        told = _run(select, make(columns), "y", SELECTED, method, **options)
        yield f"{method} | mixed | {library}", told
    for file in ("t.csv", "t.parquet", "parts"):
        told = _run(select, folder / file, "y", SELECTED, method, **options)
        yield f"{method} | mixed | {file}", told
        if method not in ONLY_IN_MEMORY:
            told = _run(select, folder / file, "y", SELECTED, method, memory=40_000, **options)
            yield f"{method} | mixed | {file} in blocks", told


def _write(folder):
    frame = _pandas(mixed_table())
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_parquet(folder / "t.parquet")
    (folder / "parts").mkdir()
    for k in range(3):
        frame.iloc[40 * k : 40 * (k + 1)].to_parquet(folder / "parts" / f"{k}.parquet")


def paths(method):
    """Yield the name and the path of everything that is frozen for one method."""
    yield from _of_arrays(method)
    if method == "socc":
        for name, problem in _problems():
            yield f"socc | {name} | statistics", _run(_by_statistics, problem)
    with tempfile.TemporaryDirectory() as folder:
        where = pathlib.Path(folder)
        _write(where)
        yield from _of_mixed(method, where)


def freeze():
    from orthoselect.methods import METHODS

    LATER = {"socc_splines", "unsupervised"}
    frozen = {
        name: told for method in METHODS if method not in LATER for name, told in paths(method)
    }
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(told)}" for name, told in frozen.items())
    FILE.write_text("{\n" + lines + "\n}\n")
    print(f"{len(frozen)} paths in {FILE.name}")


if __name__ == "__main__":
    freeze()
