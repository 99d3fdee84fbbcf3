"""Whether a path is right: every step against the truth, and where it stopped."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fuzz.counted import Counted, Informations
from fuzz.families import INFORMATION, Problem
from fuzz.truth import NOTHING, TIE, Bounds, Truth

Array = Any

SHOWN = 1e-8  # relative error of a gain that is told
GRAIN = 1e-12  # absolute one, of all that can be explained


@dataclass
class Wrong:
    """What is wrong with a path, in a word and in a line; `name` is that of an exception."""

    kind: str
    text: str
    name: str = ""


def one_hot(labels: Array) -> Array:
    """Return an indicator column for each label."""
    return (labels[:, None] == np.unique(labels)).astype(float)


def _indicators(labels: Array, w: Array | None) -> Array:
    """Return an indicator for each label but the most frequent, among rows that count."""
    live = np.ones(len(labels), bool) if w is None else w > 0
    levels, counts = np.unique(labels[live], return_counts=True)
    return (labels[:, None] == np.delete(levels, counts.argmax())).astype(float)


def mean_std_levels(x: Array, n_levels: int, w: Array | None) -> Array:
    """Return how many of the cuts at m - s, (m,) m + s each value reaches, in fractions."""
    values = [Fraction(float(v)) for v in x]
    weights = [Fraction(1)] * len(x) if w is None else [Fraction(float(v)) for v in w]
    if len({v for v, weight in zip(values, weights) if weight}) < 2:
        return np.zeros(len(x))
    total = sum(weights)
    m = sum(v * weight for v, weight in zip(values, weights)) / total
    variance = sum(weight * (v - m) ** 2 for v, weight in zip(values, weights)) / total

    def reaches(v: Fraction, sign: int) -> bool:
        d = v - m
        if sign == 0:
            return d >= 0
        if sign > 0:
            return d >= 0 and d * d >= variance
        return d >= 0 or d * d <= variance

    signs = (-1, 1) if n_levels == 3 else (-1, 0, 1)
    return np.array([sum(reaches(v, sign) for sign in signs) for v in values], float)


def _coded(problem: Problem, X: Array) -> Array:
    """Return X with the levels of numbers that are to be cut."""
    X = X.copy()
    for j in range(X.shape[1]):
        if j in problem.categorical:
            continue
        if problem.bins:
            X[:, j] = mean_std_levels(X[:, j], int(problem.bins[-1]), problem.w)
    return X


def truth_of(problem: Problem, X: Array, *, single: bool = False) -> Any:
    """Return the truth of a problem whose numbers are stored as X says."""
    features = problem.features()
    if problem.method in INFORMATION:
        columns = [_joined([X[:, c] for c in J]) for J in features]
        parts = problem.y.reshape(len(X), -1).T
        return Counted(problem.method, Informations(columns, _joined(list(parts)), problem.w))
    coded = set(problem.categorical)
    if problem.method == "socc_discretized":
        X, coded = _coded(problem, X), set(range(X.shape[1]))
    double, usual = np.finfo(float).eps, np.finfo(np.float32 if single else float).eps
    blocks, eps = [], []
    for J in features:
        parts = [_indicators(X[:, c], problem.w) if c in coded else X[:, [c]] for c in J]
        blocks.append(np.hstack(parts))
        eps.append(np.concatenate([np.full(p.shape[1], double if c in coded else usual)
                                   for c, p in zip(J, parts)]))  # fmt: skip
    method = "socc" if problem.method == "socc_discretized" else problem.method
    return Truth(blocks, eps, response_of(problem, method), method, problem.w)


def _joined(columns: list[Array]) -> Array:
    return np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].reshape(-1)


def response_of(problem: Problem, method: str) -> Array:
    """Return the response as columns of numbers."""
    Y = problem.y.reshape(len(problem.y), -1)
    if problem.task == "regression":
        return Y.astype(float)
    live = np.ones(len(Y), bool) if problem.w is None else problem.w > 0
    if method == "socc":
        return np.hstack([one_hot(column) for column in Y.T])
    places = [np.searchsorted(np.unique(column[live]), column) for column in Y.T]
    return np.column_stack(places).astype(float)


def columns_of(path: Any) -> list[tuple[int, ...]]:
    """Return the columns of each step."""
    return [tuple(step.columns) for step in path]


def judge(problem: Problem, truth: Any, path: Any) -> Wrong | None:
    """Return what is wrong with a path, or None.

    Parameters
    ----------
    problem : Problem
    truth : Truth or Counted
        With nothing taken; it is used up.
    path : SelectionPath
        Or what else has steps with `columns` and `gain`.
    """
    features = problem.features()
    place = {tuple(sorted(J)): f for f, J in enumerate(features)}
    steps = [place.get(tuple(sorted(columns)), -1) for columns in columns_of(path)]
    if -1 in steps or len(set(steps)) != len(steps):
        return Wrong("path", f"no features, or twice the same: {columns_of(path)}")
    owner = {c: f for f, J in enumerate(features) for c in J}
    include = list(dict.fromkeys(owner[c] for c in problem.include))
    if steps[: len(include)] != include[: len(steps)]:
        return Wrong("path", f"should begin with {include}: {steps}")
    left = list(range(len(features)))
    t = min(problem.t, len(features))
    if len(steps) > max(t, len(include)):
        return Wrong("path", f"has {len(steps)} steps, of {t} asked for")
    for number, (f, gain) in enumerate(zip(steps, [step.gain for step in path])):
        bounds = truth.candidates(left)
        wrong = _step(bounds, f, float(gain), truth, given=number < len(include))
        if wrong is not None:
            wrong.text = f"step {number + 1} of {steps}: {wrong.text}"
            return wrong
        left.remove(f)
        if not truth.take(f):
            return None  # what was taken may count as dependent or not: nobody knows the rest
    if len(steps) < t:
        return _stop(truth.candidates(left), truth, steps)
    return None


def _step(
    bounds: dict[int, Bounds], f: int, gain: float, truth: Any, *, given: bool
) -> Wrong | None:
    own = bounds[f]
    if not given:
        if own.dependent and not own.doubtful:
            return Wrong("dependent", f"feature {f} depends on those before it")
        best = max((k for k in bounds if not bounds[k].dependent), key=lambda k: bounds[k].low,
                   default=f)  # fmt: skip
        top = bounds[best].low
        near = TIE * abs(top) if not isinstance(truth, Counted) else 0.0
        if own.high < top - near:
            text = f"feature {f} adds {own.gain:.6g} (at most {own.high:.6g}), {best} adds "
            return Wrong("worse", f"{text}{bounds[best].gain:.6g} (at least {top:.6g})")
        lower = _certain_tie(bounds, f, truth)
        if lower is not None:
            return Wrong("tie", f"feature {f} adds what {lower} does: {own.gain:.17g}")
    slack = SHOWN * abs(own.gain) + GRAIN * truth.most
    if isinstance(truth, Counted) and (np.isinf(gain) or np.isinf(own.gain) or own.doubtful):
        return None
    if own.dependent and not own.doubtful:
        low = high = 0.0
    else:
        low, high = (0.0 if own.doubtful else own.low), own.high
    if not low - slack <= gain <= high + slack:
        return Wrong("gain", f"feature {f} is told to add {gain:.12g}; it adds {own.gain:.12g}, "
                             f"from {low:.12g} to {high:.12g}")  # fmt: skip
    return None


def _certain_tie(bounds: dict[int, Bounds], f: int, truth: Any) -> int | None:
    """Return a candidate of a lower index that ties with the best beyond doubt."""
    best = max(one.high for one in bounds.values())
    if isinstance(truth, Counted):
        if not truth.infos.whole or truth.name == "mrmr_quotient":
            return None
        top = max(one.gain for one in bounds.values() if not one.dependent)
        near = 1e-16
        return next((k for k in sorted(bounds) if k < f and not bounds[k].dependent
                     and abs(bounds[k].gain - top) <= near
                     and abs(bounds[f].gain - top) <= near), None)  # fmt: skip
    enough = best * (1 - 0.3 * TIE)
    return next((k for k in sorted(bounds) if k < f and bounds[k].low >= enough), None)


def _stop(bounds: dict[int, Bounds], truth: Any, steps: list[Any]) -> Wrong | None:
    """Return a candidate that should have been taken where a path stopped."""
    if isinstance(truth, Counted):
        left = [k for k in bounds if not bounds[k].dependent]
        return Wrong("stopped", f"after {steps}; {left} vary") if left else None
    best = max(bounds, key=lambda k: bounds[k].low, default=None)
    if best is None or bounds[best].low <= NOTHING * max(truth.most, 1e-300):
        return None
    return Wrong("stopped", f"after {steps}; feature {best} adds {bounds[best].gain:.6g}, at least "
                            f"{bounds[best].low:.6g}")  # fmt: skip
