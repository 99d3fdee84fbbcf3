"""Systems whose terms are known, and how often each way to search finds exactly these."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from orthoselect import NARX, LaggedTerms

# Gunawardena, Lang and He, NonSysID, Journal of Open Source Software (its paper, equation 2).
MOTOR = {"y(k-1)": 1.7813, "y(k-2)": -0.7962, "u(k-1)": 0.0339, "u(k-2)": 0.0338,
         "y(k-1) u(k-1)": -0.1597, "y(k-1) u(k-2)": -0.1396, "y(k-2) u(k-1)": 0.1297,
         "y(k-2) u(k-2)": 0.1086, "y(k-2)^2": 0.0085}  # fmt: skip
LORENZ = {"dx": {"x(k)", "y(k)"}, "dy": {"x(k)", "y(k)", "x(k) z(k)"}, "dz": {"z(k)", "x(k) y(k)"}}
RUNS = 20


def motor(seed: int, T: int = 100) -> tuple[Any, Any]:
    """Return input and output of a DC motor, driven by white noise."""
    u, y = np.random.default_rng(seed).normal(size=T), np.zeros(T)
    for k in range(2, T):
        a, b, c, d = y[k - 1], y[k - 2], u[k - 1], u[k - 2]
        terms = (a, b, c, d, a * c, a * d, b * c, b * d, b * b)
        y[k] = np.dot(list(MOTOR.values()), terms)
    return u, y


def lorenz(seed: int, T: int = 1000, noise: float = 0.01, step: float = 0.01) -> tuple[Any, Any]:
    """Return states of the Lorenz equations with 1 % of noise, and their central differences."""
    rng = np.random.default_rng(seed)
    states = np.empty((T + 200, 3))
    states[0] = rng.normal(size=3) + np.array([0.0, 0.0, 25.0])

    def change(s: Any) -> Any:
        x, y, z = s
        return np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    for k in range(len(states) - 1):  # the method of Runge and Kutta
        s = states[k]
        a = change(s)
        b = change(s + step / 2 * a)
        c = change(s + step / 2 * b)
        states[k + 1] = s + step / 6 * (a + 2 * b + 2 * c + change(s + step * c))
    measured = states[200:] + noise * states.std(axis=0) * rng.normal(size=(T, 3))
    changes = (measured[2:] - measured[:-2]) / (2 * step)
    return dict(zip("xyz", measured[1:-1].T)), dict(zip(LORENZ, changes.T))


def run(*, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield how many runs gave exactly the terms of the system."""
    runs = 3 if quick else RUNS
    ways: dict[str, Callable[[int], bool]] = {
        "forward, 9 terms": lambda seed: _finds_motor(seed, 9, "forward"),
        "swap, 9 terms": lambda seed: _finds_motor(seed, 9, "swap"),
        "forward, terms by BIC": lambda seed: _finds_motor(seed, "auto", "forward"),
        "swap, terms by BIC": lambda seed: _finds_motor(seed, "auto", "swap"),
    }
    for name, finds in ways.items():
        right = sum(finds(seed) for seed in range(runs))
        yield {"about": "DC motor, 100 rows", "way": name, "right": right, "runs": runs}
    for name in ("forward", "swap", "exact", "pysindy FROLS"):
        line = {"about": "Lorenz equations, 1 % of noise", "way": f"{name}, terms by BIC"}
        try:
            found = [_finds_lorenz(seed, name) for seed in range(runs)]
        except ImportError as error:
            yield {**line, "skipped": f"{error.name} is not installed"}
            continue
        if name.startswith("pysindy"):
            line["way"] = name
        yield {**line, "right": sum(found), "runs": runs}


def _finds_motor(seed: int, n_terms: int | str, search: str) -> bool:
    u, y = motor(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer rows than candidates
        model = NARX(n_terms, delay=1, search=search).fit(u, y)
    return {term.name for term in model.terms_} == set(MOTOR)


def _finds_lorenz(seed: int, search: str) -> bool:
    """Whether all three equations have their terms, of 20 candidates to degree 3."""
    states, changes = lorenz(seed)
    if search.startswith("pysindy"):
        return _frols_finds_lorenz(states, changes)
    how: dict[str, Any] = {"y_lags": 0, "u_lags": 0, "degree": 3, "structure": "each"}
    model = NARX(search=search, max_terms=10, **how).fit(states, changes)
    found = {name: {t.name for t in model.terms_ if t.output == name} for name in LORENZ}
    return found == LORENZ


def _frols_finds_lorenz(states: dict[str, Any], changes: dict[str, Any]) -> bool:
    from pysindy.optimizers import FROLS

    lags: Any = {"dx": 0, "x": [0], "y": [0], "z": [0]}
    terms = LaggedTerms({**states, "dx": changes["dx"]}, "dx", list("xyz"), lags=lags, degree=3)
    X = terms.columns(list(range(len(terms.names))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        coef = FROLS().fit(X, np.column_stack(list(changes.values()))).coef_
    found = [{terms.names[j] for j in np.flatnonzero(row)} for row in coef]
    return found == list(LORENZ.values())
