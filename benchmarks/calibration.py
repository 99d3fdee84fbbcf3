"""Whether p-values keep their promise, and how often "auto" finds what is true.

Tables without signal: the first p-value should be at most 0.05 in 5 of 100. Tables with it: the
p-value of the first step after the true features likewise. And the paper's simulated tables, of
which three features are true: how often exactly these are chosen, and how often a false one.
"""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
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
}
PAPER = {"binomial": "600 x 100, binomial, three true", "multinomial": "900 x 100, multinomial"}


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


def _paper_batch(name: str, first: int, count: int) -> list[dict[str, list[int]]]:
    from orthoselect_study.experiments import simulated

    kinds = [k for k in vars(simulated).values() if isinstance(k, type)]
    (kind,) = (k for k in kinds if getattr(k, "name", "") == name)
    found = []
    for draw in range(first, first + count):
        X, y = kind().table(draw, 0, 0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append({rule: sorted(chosen(X, y)) for rule, chosen in RULES.items()})
    return found


def _auto(X: Any, y: Any) -> list[int]:
    path = select(X, y, "auto", task="classification")
    return path.features[: path.chosen]


def _by_penalty(X: Any, y: Any, gamma: float | None) -> list[int]:
    """Return the features up to the least BIC, or EBIC with gamma, of least squares."""
    path = select(X, y, 12, task="classification", p_values=False)
    N, n = X.shape
    Y = np.eye(int(y.max()) + 1)[y][:, 1:]
    E = Y - Y.mean(axis=0)
    scores, Q = [], np.zeros((N, 0))
    start = np.linalg.slogdet(E.T @ E)[1]
    for k in range(len(path) + 1):
        if k:
            x = X[:, path.features[k - 1]] - X[:, path.features[k - 1]].mean()
            x = x - Q @ (Q.T @ x)
            Q = np.column_stack([Q, x / np.linalg.norm(x)])
        R = E - Q @ (Q.T @ E)
        fit = N * (np.linalg.slogdet(R.T @ R)[1] - start) + k * Y.shape[1] * math.log(N)
        more = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        scores.append(fit + 2 * (gamma or 0.0) * more)
    return path.features[: int(np.argmin(scores))]


def _cross_validated(X: Any, y: Any) -> list[int]:
    """Return as many features as five folds of LDA want, one standard error less."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.model_selection import StratifiedKFold

    right = np.zeros((5, 12))
    for fold, (train, test) in enumerate(
        StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
    ):
        features = select(X[train], y[train], 12, task="classification").features
        for k in range(1, 13):
            model = LinearDiscriminantAnalysis().fit(X[train][:, features[:k]], y[train])
            right[fold, k - 1] = model.score(X[test][:, features[:k]], y[test])
    means = right.mean(axis=0)
    least = means.max() - right[:, means.argmax()].std(ddof=1) / math.sqrt(5)
    size = 1 + int(np.flatnonzero(means >= least)[0])
    return select(X, y, size, task="classification").features


def _lasso(X: Any, y: Any) -> list[int]:
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.preprocessing import StandardScaler

    model = LogisticRegressionCV(Cs=10, cv=5, penalty="l1", solver="saga", tol=1e-2, max_iter=200)
    model.fit(StandardScaler().fit_transform(X), y)
    return np.flatnonzero(np.abs(model.coef_).max(axis=0) > 0).tolist()


RULES: dict[str, Callable[[Any, Any], list[int]]] = {
    "auto": _auto,
    "BIC": lambda X, y: _by_penalty(X, y, None),
    "EBIC": lambda X, y: _by_penalty(X, y, 1.0),
    "CV, one SE": _cross_validated,
    "lasso, CV": _lasso,
}
TRUE = [4, 9, 14]


def choose(names: list[str] | None) -> list[str]:
    """Return the lines that were asked for; all by default."""
    known = [*NULLS, *PAPER]
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise ValueError(f"unknown rows {unknown}; choose from {known}")
    return names or known


def run(names: list[str], draws: int) -> Iterator[dict[str, Any]]:
    """Yield a line for each, worked out in as many processes as there are processors."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    with ProcessPoolExecutor() as pool:
        for name in names:
            count = draws if name in NULLS else max(1, draws // 2)
            work = _null_batch if name in NULLS else _paper_batch
            starts = range(0, count, _BATCH)
            began = time.perf_counter()
            jobs = [pool.submit(work, name, a, min(_BATCH, count - a)) for a in starts]
            found = [one for job in jobs for one in job.result()]
            line = _null_line(name, found) if name in NULLS else _paper_line(name, found)
            yield {**line, "draws": count, "seconds": time.perf_counter() - began}


def _null_line(name: str, p: list[float]) -> dict[str, Any]:
    shares = {str(a): float(np.mean(np.array(p) <= a + 1e-12)) for a in _LEVELS}
    kept = shares["0.05"] <= 0.065 and shares["0.01"] <= 0.02
    return {"name": name, "title": NULLS[name][0], "kind": "null", "shares": shares, "kept": kept}


def _paper_line(name: str, found: list[dict[str, list[int]]]) -> dict[str, Any]:
    rules = {}
    for rule in RULES:
        sets = [one[rule] for one in found]
        rules[rule] = {
            "exactly": float(np.mean([one == TRUE for one in sets])),
            "any_false": float(np.mean([bool(set(one) - set(TRUE)) for one in sets])),
            "size": float(np.mean([len(one) for one in sets])),
        }
    return {"name": name, "title": PAPER[name], "kind": "paper", "rules": rules}


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
        if line["kind"] == "paper":
            lines += [f"{line['title']}, {line['draws']} tables:", ""]
            lines += ["| rule | exactly the three | any false | mean size |", "|---|---|---|---|"]
            for rule, row in line["rules"].items():
                shares = f"{row['exactly']:.3f} | {row['any_false']:.3f}"
                lines.append(f"| {rule} | {shares} | {row['size']:.2f} |")
            lines.append("")
    return "\n".join(lines)
