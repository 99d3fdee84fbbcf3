"""Radial basis function networks: the series of 1991, and peers on two embedded tables.

    python -m benchmarks rbf [--first-seed 20]
    python -m benchmarks rbf --costs            # other values of `center_cost`, thin plates, only

The series is that of Chen, Cowan and Grant (1991), 500 rows to train and 500 to test, made anew for
each seed; random centers and those of k-means have the same functions and are fitted alike. "Plain"
is as in 1991: inputs as they are, and no constant; else inputs have deviation one. Peers on tables
are scikit-learn's, their settings by grid search within the training rows.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeCV
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from orthoselect import RBFClassifier, RBFRegressor, select
from orthoselect.matrix.kernel import radial_values

SIZES = (5, 10, 15, 30)
COSTS = (1.0, 1.5, 2.0, 3.0, 4.0)
_GAMMAS = (0.003, 0.01, 0.03, 0.1, 0.3)


def series(seed: int, n: int = 1000) -> tuple[Any, Any]:
    """Make the series: the two values before, and the next."""
    rng = np.random.default_rng(seed)
    y = np.zeros(n + 102)
    for t in range(2, len(y)):
        a, b = y[t - 1], y[t - 2]
        bend = np.exp(-a * a)
        y[t] = (0.8 - 0.5 * bend) * a - (0.3 + 0.9 * bend) * b + 0.1 * np.sin(np.pi * a)
        y[t] += 0.1 * rng.normal()
    return np.column_stack([y[101:-1], y[100:-2]]), y[102:]


def run(*, quick: bool, first_seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield what was measured, line by line; series have seeds from `first_seed` on."""
    seeds = range(first_seed, first_seed + (3 if quick else 20))
    for kernel in ("thin_plate",) if quick else ("thin_plate", "gaussian", "multiquadric"):
        if kernel == "thin_plate":
            yield from _by_size(kernel, seeds, plain=True)
        yield from _by_size(kernel, seeds)
        yield _stops(kernel, seeds)
    for name, load in {"diabetes": load_diabetes}.items():
        yield from _regression(name, *load(return_X_y=True), quick=quick)
    for name, load in {"breast_cancer": load_breast_cancer, "wine": load_wine}.items():
        yield from _classification(name, *load(return_X_y=True), quick=quick)


def _by_size(kernel: str, seeds: range, *, plain: bool = False) -> Iterator[dict[str, Any]]:
    """Compare ways to find centers; the width is 1, whatever the way."""
    found: dict[tuple[str, int], list[float]] = {}
    for seed in seeds:
        X, y = series(seed)
        if not plain:
            X = (X - X[:500].mean(axis=0)) / X[:500].std(axis=0)
        order = _selected(kernel, X[:500], y[:500], plain=plain)
        random = np.random.default_rng(seed).permutation(500)
        for k in SIZES:
            means = KMeans(k, n_init=5, random_state=seed).fit(X[:500]).cluster_centers_
            centers = {"selected": X[order[:k]], "random": X[random[:k]], "k-means": means}
            for way, points in centers.items():
                P = radial_values(X, points, kernel, 1.0)
                model = LinearRegression(fit_intercept=not plain).fit(P[:500], y[:500])
                error = float(np.mean((model.predict(P[500:]) - y[500:]) ** 2))
                found.setdefault((way, k), []).append(error)
    for way in ("selected", "random", "k-means"):
        errors = {k: _mean(found[way, k]) for k in SIZES}
        name = f"series of 1991, {kernel}{', plain' if plain else ''}"
        yield {"about": name, "method": way, "errors": errors}


def _selected(kernel: str, X: Any, y: Any, *, plain: bool) -> list[int]:
    """Return rows in the order in which they become centers."""
    if plain:
        return list(select(radial_values(X, X, kernel, 1.0), y, max(SIZES), "err").features)
    model = RBFRegressor(max(SIZES), kernel=kernel, width=1.0, standardize=False)
    return model.fit(X, y).center_rows_.tolist()


def costs(*, quick: bool, first_seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield where thin plates stop, for some values of `center_cost`."""
    seeds = range(first_seed, first_seed + (3 if quick else 20))
    for cost in COSTS:
        line = _stops("thin_plate", seeds, center_cost=cost)
        yield line | {"method": f"`center_cost` {cost:g}"}


def _stops(kernel: str, seeds: range, **options: Any) -> dict[str, Any]:
    sizes, errors, seconds = [], [], []
    for seed in seeds:
        X, y = series(seed)
        start = time.perf_counter()
        model = RBFRegressor(kernel=kernel, **options).fit(X[:500], y[:500])
        seconds.append(time.perf_counter() - start)
        sizes.append(model.n_centers_)
        errors.append(float(np.mean((model.predict(X[500:]) - y[500:]) ** 2)))
    return {
        "about": f"series of 1991, {kernel}",
        "method": "size and width by leaving rows out",
        "seeds": (seeds[0], seeds[-1]),
        "sizes": sorted(sizes),
        "error": _mean(errors),
        "seconds": float(np.median(seconds)),
    }


def _mean(values: list[float]) -> tuple[float, float]:
    """Return the mean and its standard error."""
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


def _regression(name: str, X: Any, y: Any, *, quick: bool) -> Iterator[dict[str, Any]]:
    alphas = np.logspace(-4, 3, 15)
    grid = {"gamma": _GAMMAS}
    peers: dict[str, Callable[[], Any]] = {
        "RBFRegressor": RBFRegressor,
        "RBFRegressor, linear terms": lambda: RBFRegressor(linear=True),
        "linear regression": LinearRegression,
        "Nystroem + Ridge": lambda: GridSearchCV(
            make_pipeline(Nystroem(n_components=100, random_state=0), RidgeCV(alphas)),
            {"nystroem__gamma": _GAMMAS},
        ),
        "kernel ridge": lambda: GridSearchCV(
            make_pipeline(KernelRidge(kernel="rbf")),
            {"kernelridge__gamma": _GAMMAS, "kernelridge__alpha": (0.01, 0.1, 1.0, 10.0)},
        ),
        "SVR": lambda: GridSearchCV(SVR(), {**grid, "C": (1.0, 10.0, 100.0, 1000.0)}),
    }
    splits = list(KFold(3 if quick else 10, shuffle=True, random_state=0).split(X))
    center = y.mean()
    for peer, make in peers.items():
        scores, sizes, start = [], [], time.perf_counter()
        for train, test in splits:
            scaler = StandardScaler().fit(X[train])
            model = make().fit(scaler.transform(X[train]), y[train] - center)
            scores.append(r2_score(y[test] - center, model.predict(scaler.transform(X[test]))))
            sizes.append(_size_of(model))
        yield _peer_line(name, peer, {"R2": _mean(scores)}, sizes, start, len(splits))


def _classification(name: str, X: Any, y: Any, *, quick: bool) -> Iterator[dict[str, Any]]:
    grid = {"gamma": _GAMMAS, "C": (0.1, 1.0, 10.0, 100.0)}
    with_odds = LogisticRegression(max_iter=2000)
    peers: dict[str, Callable[[], Any]] = {
        "RBFClassifier": RBFClassifier,
        "RBFClassifier, linear terms": lambda: RBFClassifier(linear=True),
        "logistic regression": lambda: with_odds,
        "Nystroem + logistic regression": lambda: GridSearchCV(
            make_pipeline(Nystroem(n_components=100, random_state=0), with_odds),
            {"nystroem__gamma": _GAMMAS, "logisticregression__C": (1.0, 10.0, 100.0)},
        ),
        "SVC": lambda: GridSearchCV(SVC(), grid),
    }
    folds = StratifiedKFold(3 if quick else 10, shuffle=True, random_state=0)
    splits = list(folds.split(X, y))
    for peer, make in peers.items():
        right, losses, sizes, start = [], [], [], time.perf_counter()
        for train, test in splits:
            scaler = StandardScaler().fit(X[train])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = make().fit(scaler.transform(X[train]), y[train])
            points = scaler.transform(X[test])
            right.append(float(np.mean(model.predict(points) == y[test])))
            if hasattr(model, "predict_proba"):
                losses.append(log_loss(y[test], model.predict_proba(points), labels=np.unique(y)))
            sizes.append(_size_of(model))
        scores = {"accuracy": _mean(right)} | ({"log loss": _mean(losses)} if losses else {})
        yield _peer_line(name, peer, scores, sizes, start, len(splits))


def _size_of(model: Any) -> float:
    """Return how many points a model keeps: centers, support vectors, rows; nan if none."""
    model = getattr(model, "best_estimator_", model)
    if hasattr(model, "steps"):
        model = model[0]
    for attribute in ("centers_", "support_", "X_fit_", "components_"):
        if hasattr(model, attribute):
            return float(len(getattr(model, attribute)))
    return float("nan")


def _peer_line(
    name: str,
    peer: str,
    scores: dict[str, Any],
    sizes: list[float],
    start: float,
    n: int,
) -> dict[str, Any]:
    seconds = (time.perf_counter() - start) / n
    kept = float(np.mean(sizes))
    return {"about": name, "method": peer, "scores": scores, "kept": kept, "seconds": seconds}


# The page


def markdown(result: dict[str, Any], about: list[str]) -> str:
    """Return the page."""
    lines = ["# Radial basis function networks", "", *about, ""]
    head = " | ".join(f"{k} centers" for k in SIZES)
    tables: dict[str, list[str]] = {}
    for line in result["lines"]:
        rows = tables.setdefault(line["about"], [])
        if "errors" in line:
            if not rows:
                rows += [f"| test mean squares | {head} |", "|---" * (len(SIZES) + 1) + "|"]
            cells = " | ".join(f"{m:.4f} ± {s:.4f}" for m, s in line["errors"].values())
            rows.append(f"| {line['method']} | {cells} |")
        elif "sizes" in line:
            mean, spread = line["error"]
            sizes = ", ".join(map(str, line["sizes"]))
            rows += [
                "",
                f"{line['method'].capitalize()}: test mean squares {mean:.4f} ± {spread:.4f}",
            ]
            rows[-1] += f"; centers {sizes}; {line['seconds']:.2f} s"
            rows[-1] += "; seeds {} to {}.".format(*line["seeds"])
        else:
            names = list(line["scores"])
            if not rows:
                columns = ["R2"] if "R2" in names else ["accuracy", "log loss"]
                rows += [f"| 10 folds | {' | '.join(columns)} | points kept | seconds |"]
                rows += ["|---" * (len(columns) + 3) + "|"]
            n_columns = rows[0].count("|") - 4
            cells = [f"{m:.3f} ± {s:.3f}" for m, s in line["scores"].values()]
            cells += ["-"] * (n_columns - len(cells))
            kept = "-" if np.isnan(line["kept"]) else f"{line['kept']:.0f}"
            rows.append(
                f"| {line['method']} | {' | '.join(cells)} | {kept} | {line['seconds']:.2f} |"
            )
    for name, rows in tables.items():
        lines += [f"## {name}", "", *rows, ""]
    return "\n".join(lines) + "\n"
