"""Selection problems by number, each nasty in the way of its family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

Array = Any
Rng = np.random.Generator

ORTHOGONAL = ["socc", "err", "mser", "obcc"]
INFORMATION = [
    "mim",
    "mrmr_difference",
    "mrmr_quotient",
    "jmi",
    "cmim",
    "cife",
    "icap",
    "disr",
]


@dataclass
class Problem:
    """A table, a response and what is asked of them.

    Attributes
    ----------
    X : array of shape (N, n)
        Numbers; columns in `categorical` hold whole ones that stand for labels.
    y : array of shape (N,) or (N, q)
    task : {"classification", "regression"}
    groups : dict of str to lists of columns
    """

    family: str
    X: Array
    y: Array
    task: str
    t: int
    method: str = "socc"
    w: Array | None = None
    groups: dict[str, list[int]] = field(default_factory=dict)
    categorical: list[int] = field(default_factory=list)
    include: list[int] = field(default_factory=list)
    exclude: list[int] = field(default_factory=list)
    bins: str | None = None

    def __str__(self) -> str:
        N, n = self.X.shape
        parts = [f"{self.method}, {self.task}, {N} rows, {n} columns, {self.t} to select"]
        for name in ("groups", "categorical", "include", "exclude", "bins"):
            value = getattr(self, name)
            if value:
                parts.append(f"{name} {value}")
        if self.w is not None:
            parts.append(f"weights {self.w.min():.1e} to {self.w.max():.1e}")
        return ", ".join(parts)

    def features(self) -> list[list[int]]:
        """Return the columns of each feature, in the order of their first columns."""
        owner = {c: name for name, columns in self.groups.items() for c in columns}
        found: dict[Any, list[int]] = {}
        for c in range(self.X.shape[1]):
            if c not in self.exclude:
                found.setdefault(owner.get(c, c), []).append(c)
        inside = {
            name: [c for c in columns if c not in self.exclude]
            for name, columns in self.groups.items()
        }
        return [inside.get(key, columns) for key, columns in found.items()]


# Columns


def _normal(rng: Rng, N: int, n: int) -> Array:
    return rng.normal(size=(N, n))


def _nearly_equal(rng: Rng, N: int, n: int) -> Array:
    X = _normal(rng, N, n)
    free = list(rng.permutation(n))
    while len(free) > 1:
        count = min(len(free), int(rng.integers(1, 4)))
        first, *others = [free.pop() for _ in range(count)]
        for other in others:
            X[:, other] = X[:, first] + 10.0 ** -rng.uniform(3, 14) * X[:, other]
    return X


def _nearly_dependent(rng: Rng, N: int, n: int) -> Array:
    X = _normal(rng, N, n)
    for j in rng.choice(n, max(1, n // 3), replace=False):
        others = np.setdiff1d(np.arange(n), [j])
        some = rng.choice(others, min(len(others), int(rng.integers(2, 5))), replace=False)
        near = X[:, some] @ (rng.normal(size=len(some)) * 10.0 ** rng.integers(-3, 4, len(some)))
        X[:, j] = near + 10.0 ** -rng.uniform(3, 14) * np.abs(near).max() * X[:, j]
    return X


def _offsets(rng: Rng, N: int, n: int) -> Array:
    X = _normal(rng, N, n)
    far = rng.random(n) < 0.7
    return X + far * 10.0 ** rng.uniform(0, 12, n) * rng.choice([-1, 1], n)


def _offset_pairs(rng: Rng, N: int, n: int) -> Array:
    return _nearly_equal(rng, N, n) + 10.0 ** rng.uniform(0, 6, n)


def _scales(rng: Rng, N: int, n: int) -> Array:
    return _normal(rng, N, n) * 10.0 ** rng.uniform(-200, 200, n)


def _subnormal(rng: Rng, N: int, n: int) -> Array:
    return _normal(rng, N, n) * 10.0 ** rng.choice([-320, -316, -308, -160, 0], n)


def _huge(rng: Rng, N: int, n: int) -> Array:
    return _normal(rng, N, n) * 10.0 ** rng.choice([-290, -160, -125, 0, 125, 160, 300], n)


def _integers(rng: Rng, N: int, n: int) -> Array:
    X = np.round(_normal(rng, N, n) * rng.choice([0.5, 1, 3, 1000], n))
    for j in range(1, n):
        kind = rng.random()
        if kind < 0.1:
            X[:, j] = rng.integers(-3, 4)  # constant
        elif kind < 0.25:
            X[:, j] = X[:, rng.integers(j)]  # twice the same
        elif kind < 0.35:
            X[:, j] = 3 * X[:, rng.integers(j)] - 5
        elif kind < 0.45:
            X[:, j] = X[:, rng.integers(j)] + X[:, rng.integers(j)]
    return X


def _rank_deficient(rng: Rng, N: int, n: int) -> Array:
    rank = int(rng.integers(1, max(2, n)))
    X = _normal(rng, N, rank) @ rng.normal(size=(rank, n))
    return X * 10.0 ** rng.integers(-9, 10, n) if rng.random() < 0.5 else X


def _graded(rng: Rng, N: int, n: int) -> Array:
    if rng.random() < 0.3:  # powers of a number
        return (1 + rng.random((N, 1))) ** np.arange(1, n + 1)
    left = np.linalg.qr(_normal(rng, N, min(N, n)))[0]
    right = np.linalg.qr(_normal(rng, n, n))[0][: left.shape[1]]
    return left * 10.0 ** -(rng.uniform(0.2, 2) * np.arange(left.shape[1])) @ right * np.sqrt(N)


def _indicators(rng: Rng, N: int, n: int) -> Array:
    X = np.zeros((N, n))
    at = 0
    while at < n:
        width = min(n - at, int(rng.integers(2, 7)))
        chances = rng.dirichlet(np.full(width, 0.5))
        X[np.arange(N), at + rng.choice(width, N, p=chances)] = 1.0
        at += width
    return X


def _sparse(rng: Rng, N: int, n: int) -> Array:
    X = _normal(rng, N, n) * (rng.random((N, n)) < rng.choice([0.05, 0.3], n))
    return np.round(X) if rng.random() < 0.3 else X


COLUMNS: dict[str, Callable[[Rng, int, int], Array]] = {
    "normal": _normal,
    "nearly equal": _nearly_equal,
    "nearly dependent": _nearly_dependent,
    "offsets": _offsets,
    "nearly equal and far": _offset_pairs,
    "scales": _scales,
    "subnormal": _subnormal,
    "huge": _huge,
    "integers": _integers,
    "rank-deficient": _rank_deficient,
    "graded": _graded,
    "indicators": _indicators,
    "mostly zeros": _sparse,
}
# Those of which a mixture of families takes its columns.
MILD = ["normal", "integers", "rank-deficient", "nearly equal", "indicators", "mostly zeros"]


def _worsened(rng: Rng, X: Array) -> Array:
    """Return columns with another disease beside their own."""
    N, n = X.shape
    kind = rng.choice(["scaled", "far", "copied", "few rows count", "wide range"])
    X = X.copy()
    normal = np.abs(X[X != 0]).min(initial=1.0) > 1e-280
    with np.errstate(all="ignore"):
        if kind == "scaled":
            X = X * 10.0 ** rng.uniform(-90, 90, n)
        elif kind == "far":
            X = X + (rng.random(n) < 0.5) * 10.0 ** rng.uniform(0, 9, n) * X.std(axis=0)
        elif kind == "copied":
            a, b, c = rng.integers(0, n, 3)
            X[:, a] = X[:, b] - X[:, c] if rng.random() < 0.5 else 2 * X[:, b] + 1
        elif kind == "few rows count" and normal:
            X[int(rng.integers(1, N)) :] *= 10.0 ** -rng.integers(4, 14)
        elif kind == "wide range" and normal:
            X = X * 10.0 ** rng.uniform(-12, 0, (N, 1))
    return X if np.isfinite(X).all() else np.nan_to_num(X, posinf=1.0, neginf=-1.0)


# Responses


def _signal(rng: Rng, X: Array) -> Array:
    """Return what depends on columns, and on the small differences of columns, and on chance."""
    N, n = X.shape
    with np.errstate(all="ignore"):
        Z = X - X.mean(axis=0)
        Z = Z / np.abs(Z).max(axis=0)
        D = np.diff(X[:, rng.permutation(n)], axis=1)
        D = D - D.mean(axis=0)
        D = D / np.abs(D).max(axis=0)
    Z = np.nan_to_num(np.hstack([Z, D]), nan=0.0, posinf=0.0, neginf=0.0)
    some = rng.choice(Z.shape[1], min(3, Z.shape[1]), replace=False)
    noise = rng.choice([1.0, 1.0, 1.0, 1.0, 1e-3, 1e-8, 0.0])  # without any it may be explained
    return Z[:, some] @ rng.normal(size=len(some)) * 3 + noise * rng.normal(size=N)


def _numbers(rng: Rng, X: Array) -> Array:
    y = _signal(rng, X) * 10.0 ** rng.choice([-150, -3, 0, 0, 0, 3, 150])
    if np.abs(y).max() > 1e140:  # its mean square has to be a number
        return y
    return y + rng.choice([0.0, 0.0, 1.0, 1e3, 1e6]) * np.abs(y).max()


def _several(rng: Rng, X: Array) -> Array:
    Y = np.column_stack([_signal(rng, X) for _ in range(int(rng.integers(2, 5)))])
    if rng.random() < 0.3:
        Y[:, -1] = Y[:, 0]
    elif rng.random() < 0.3:
        Y[:, -1] = Y[:, 0] + 1e-5 * Y[:, -1]
    return Y * 10.0 ** rng.integers(-6, 7, Y.shape[1])


def _classes(rng: Rng, X: Array, most: int = 8) -> Array:
    count = int(rng.integers(2, most + 1))
    chances = rng.dirichlet(np.full(count, rng.choice([0.3, 3.0])))
    s = _signal(rng, X)
    y: Array = np.searchsorted(np.quantile(s, np.cumsum(chances)[:-1]), s)
    y[:2] = [0, 1]  # never all the same
    return np.asarray(rng.permutation(count))[y]


def _label_columns(rng: Rng, X: Array) -> Array:
    return np.column_stack([_classes(rng, X, 3) for _ in range(2)])


def _respond(rng: Rng, X: Array) -> tuple[Array, str]:
    kind = rng.choice(["number", "classes", "several", "several classes"], p=[0.4, 0.4, 0.15, 0.05])
    if kind == "number":
        return _numbers(rng, X), "regression"
    if kind == "several":
        return _several(rng, X), "regression"
    if kind == "classes":
        return _classes(rng, X), "classification"
    return _label_columns(rng, X), "classification"


# Weights


def _weights(rng: Rng, N: int) -> Array:
    kind = rng.choice(["whole", "fractional", "tiny", "zeros", "range"])
    if kind == "whole":
        w = rng.integers(1, 6, N).astype(float)
    elif kind == "fractional":
        w = rng.uniform(0.1, 3, N)
    elif kind == "tiny":
        w = rng.uniform(1, 2, N) * 10.0 ** -rng.integers(5, 250)
    elif kind == "zeros":
        w = rng.integers(0, 3, N).astype(float)
    else:
        w = 10.0 ** -rng.uniform(0, 24, N)
    w[: min(N, 4)] = w.max()
    return w


# Families


def _shape(rng: Rng) -> tuple[int, int]:
    return int(rng.choice([12, 25, 40, 60, 100, 400], p=[0.2, 0.2, 0.25, 0.2, 0.1, 0.05])), int(
        rng.integers(3, 13)
    )


def _plain(rng: Rng, family: str) -> Problem:
    """Return a problem whose columns are those of its family."""
    N, n = _shape(rng)
    if family.startswith("nearly"):
        N = int(rng.choice([40, 400, 4000], p=[0.8, 0.19, 0.01]))
    X = COLUMNS[family](rng, N, n)
    if rng.random() < 0.3:
        X = _worsened(rng, X)
    y, task = _respond(rng, X)
    problem = Problem(family, X, y, task, t=int(rng.integers(1, n + 1)))
    return _extras(rng, problem, 0.15)


def _mild(rng: Rng, family: str) -> Problem:
    N, n = _shape(rng)
    X = COLUMNS[rng.choice(MILD)](rng, N, n)
    if rng.random() < 0.3:
        X = _worsened(rng, X)
    y, task = _respond(rng, X)
    return Problem(family, X, y, task, t=int(rng.integers(1, n + 1)))


def _few_rows(rng: Rng, family: str) -> Problem:
    N = int(rng.integers(3, 12))
    n = int(rng.integers(N, 3 * N))
    X = COLUMNS[rng.choice(MILD)](rng, N, n)
    if rng.random() < 0.3:
        X = _worsened(rng, X)
    y, task = _respond(rng, X)
    return _extras(rng, Problem(family, X, y, task, t=int(rng.integers(1, n + 1))), 0.1)


def _extras(rng: Rng, problem: Problem, chance: float) -> Problem:
    """Add weights, groups, what to include and what to exclude, each by chance."""
    N, n = problem.X.shape
    if rng.random() < chance:
        problem.w = _weights(rng, N)
        problem.y = problem.y.copy()
    if rng.random() < chance and n > 3:
        problem.groups = _groups(rng, n)
    if rng.random() < chance:
        problem = _included(rng, problem)
    if rng.random() < chance and n > 3:
        free = [c for c in range(n) if c not in problem.include]
        problem.exclude = sorted(map(int, rng.choice(free, min(2, len(free) - 1), replace=False)))
    return problem


def _included(rng: Rng, problem: Problem) -> Problem:
    n = problem.X.shape[1]
    some = rng.permutation(n)[: int(rng.integers(1, 3))]
    return replace(problem, include=[int(c) for c in some], t=max(problem.t, min(3, n)))


def _groups(rng: Rng, n: int) -> dict[str, list[int]]:
    order = [int(c) for c in rng.permutation(n)]
    groups: dict[str, list[int]] = {}
    for g in range(int(rng.integers(1, 4))):
        width = int(rng.integers(2, 5))
        part, order = order[:width], order[width:]
        if len(part) > 1:
            groups[f"g{g}"] = part if rng.random() < 0.5 else sorted(part)
    return groups


def _weighted(rng: Rng, family: str) -> Problem:
    problem = _extras(rng, _mild(rng, family), 0.1)
    problem.w = _weights(rng, len(problem.X))
    return problem


def _grouped(rng: Rng, family: str) -> Problem:
    N, n = _shape(rng)
    n = max(n, 5)
    X = COLUMNS[rng.choice(["nearly equal", "nearly dependent", "rank-deficient", "indicators"])](
        rng, N, n
    )
    if rng.random() < 0.3:
        X = _worsened(rng, X)
    y, task = _respond(rng, X)
    problem = Problem(family, X, y, task, t=int(rng.integers(1, n + 1)), groups=_groups(rng, n))
    return _extras(rng, problem, 0.05)


def _categorical(rng: Rng, family: str) -> Problem:
    problem = _mild(rng, family)
    N, n = problem.X.shape
    labeled = rng.choice(n, int(rng.integers(1, 1 + n // 2)), replace=False)
    X = problem.X.copy()
    for c in labeled:
        count = int(rng.integers(2, 9))
        X[:, c] = rng.choice(count, N, p=rng.dirichlet(np.full(count, 0.4)))
    y, task = _respond(rng, X)
    problem = replace(problem, X=X, y=y, task=task, categorical=sorted(map(int, labeled)))
    return _extras(rng, problem, 0.15)


def _answered(rng: Rng, family: str) -> Problem:
    problem = _mild(rng, family)
    if family == "several responses":
        return _extras(rng, replace(problem, y=_several(rng, problem.X), task="regression"), 0.1)
    y = _classes(rng, problem.X)
    return _extras(rng, replace(problem, y=y, task="classification"), 0.1)


def _chosen(rng: Rng, family: str) -> Problem:
    problem = _included(rng, _extras(rng, _mild(rng, family), 0.1))
    problem.exclude = [c for c in problem.exclude if c not in problem.include]
    return problem


def _uncentered(rng: Rng, family: str) -> Problem:
    N, n = _shape(rng)
    if family in ORTHOGONAL:
        method, kind = family, str(rng.choice([name for name in COLUMNS if name != "subnormal"]))
    else:
        method, kind = str(rng.choice(ORTHOGONAL[1:])), "subnormal"
    X = COLUMNS[kind](rng, N, n)
    y, task = _respond(rng, X)
    problem = Problem(family, X, y, task, t=int(rng.integers(1, n + 1)), method=method)
    problem = _extras(rng, problem, 0.15)
    problem.groups = {}
    return problem


def _discretized(rng: Rng, family: str) -> Problem:
    problem = _categorical(rng, family) if rng.random() < 0.4 else _mild(rng, family)
    N = min(len(problem.X), 60)
    X, y = problem.X[:N], problem.y[:N]
    w = None if problem.w is None else problem.w[:N]
    problem = replace(problem, X=X, y=y, w=w, method="socc_discretized")
    if rng.random() < 0.2 and w is None:
        problem.w = rng.integers(0, 4, N).astype(float)
        problem.w[:4] = 1.0
    problem.bins = str(rng.choice(["mean_std_3", "mean_std_4"]))
    return problem


def _levels(rng: Rng, N: int, n: int) -> Array:
    X = rng.integers(0, rng.choice([2, 2, 3, 5, 40]), (N, n))
    for j in range(n):
        kind = rng.random()
        if kind < 0.1:
            X[:, j] *= rng.random(N) < 0.3
        elif kind < 0.15:
            X[:, j] = 1
        elif kind < 0.25 and j:
            X[:, j] = X[:, rng.integers(j)]
        elif kind < 0.35 and j:
            X[:, j] = 7 - X[:, rng.integers(j)]
        elif kind < 0.4:
            X[:, j] = rng.integers(0, 12, N)
    if rng.random() < 0.1:
        X = np.array([[(row >> bit) & 1 for bit in range(n)] for row in range(N)])
    return X.astype(float)


def _information(rng: Rng, family: str) -> Problem:
    N, n = int(rng.choice([4, 8, 16, 32, 64, 200])), int(rng.integers(2, 9))
    X = _levels(rng, N, n)
    y = rng.integers(0, rng.integers(2, 6), N)
    if rng.random() < 0.4:
        y = (X[:, 0] % 2).astype(int) ^ (X[:, -1] % 2).astype(int)
    y = y.copy()
    y[:2] = [0, 1]
    problem = Problem(family, X, y, "classification", t=int(rng.integers(1, min(n, 5) + 1)))
    problem.method = str(rng.choice(INFORMATION))
    if rng.random() < 0.3:
        problem.w = _weights(rng, N)
        if rng.random() < 0.5:
            problem.w = rng.integers(0, rng.choice([4, 4, 1000, 2_000_000]), N).astype(float)
            problem.w[:4] = 1.0
    if rng.random() < 0.15 and n > 3:
        problem.groups = _groups(rng, n)
    if rng.random() < 0.15 and n > 3:
        problem.exclude = [int(rng.integers(n))]
    live = X if problem.w is None else X[problem.w > 0]
    free = [j for j in range(n) if np.ptp(live[:, j]) > 0 and j not in problem.exclude]
    if rng.random() < 0.15 and free:
        problem.include = [int(rng.choice(free))]
        problem.t = max(2, problem.t)
    return problem


FAMILIES: dict[str, Callable[[Rng, str], Problem]] = {
    **{name: _plain for name in COLUMNS if name != "normal"},
    "few rows": _few_rows,
    "weights": _weighted,
    "groups": _grouped,
    "categorical": _categorical,
    "several responses": _answered,
    "classes": _answered,
    "include and exclude": _chosen,
    "err": _uncentered,
    "mser": _uncentered,
    "obcc": _uncentered,
    "subnormal and not centered": _uncentered,
    "discretized": _discretized,
    "information": _information,
}


# Where storages differ most, more is tried.
OFTEN = [*FAMILIES, "nearly equal", "nearly equal", "nearly dependent", "groups"]


def make(seed: int, number: int, families: list[str] | None = None) -> tuple[Problem, Rng]:
    """Return a problem, and the chances of what is to be done with it.

    Parameters
    ----------
    seed, number : int
    families : list of str, optional
        Those to choose among; all by default.
    """
    rng = np.random.default_rng([seed, number])
    names = OFTEN if families is None else families
    family = names[number % len(names)]
    problem = FAMILIES[family](rng, family)
    return problem, rng
