"""How many terms by free runs: the best number, or the fewest within one standard error of it.

    python -m benchmarks.free_run_rules [RUNS]

Made systems, some with terms that are candidates and some without, are recorded with noise. Terms
are selected on the first rows, their number by free runs over the last quarter of these, by either
rule; then free runs over 2,000 rows that follow are compared. It prints what docs/dynamics.md says
of the rules. Nothing here is a public record.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from orthoselect import NARX

RUNS, SIZES, FRESH = 20, (300, 1000, 3000), 2000
GIVEN = 50  # rows that a free run begins from
_MOTOR = (1.7813, -0.7962, 0.0339, 0.0338, -0.1597, -0.1396, 0.1297, 0.1086, 0.0085)
Record = tuple[Any, Any]


def spring(T: int, rng: np.random.Generator) -> Record:
    """Return a cubic spring, with noise that it goes on from; its terms are candidates."""
    u, y = rng.normal(size=T), np.zeros(T)
    for k in range(2, T):
        y[k] = 1.2 * y[k - 1] - 0.5 * y[k - 2] - 0.05 * y[k - 1] ** 3
        y[k] += 0.1 * u[k - 1] + 0.01 * rng.normal()
    return u, y


def bilinear(T: int, rng: np.random.Generator) -> Record:
    """Return three terms and much noise."""
    u, y = rng.normal(size=T), np.zeros(T)
    for k in range(2, T):
        y[k] = 0.5 * y[k - 1] + u[k - 1] - 0.2 * u[k] * y[k - 2] + 0.3 * rng.normal()
    return u, y


def colored(T: int, rng: np.random.Generator) -> Record:
    """Return three terms and noise with a memory."""
    u, e, y = rng.normal(size=T), 0.35 * rng.normal(size=T), np.zeros(T)
    for k in range(2, T):
        y[k] = 0.2 * y[k - 1] + 0.1 * y[k - 1] * u[k - 1] + 0.9 * u[k - 2]
        y[k] += 0.8 * e[k - 1] + e[k]
    return u, y


def motor(T: int, rng: np.random.Generator) -> Record:
    """Return a DC motor of nine terms, measured with 1 % of noise."""
    u, y = 0.5 * rng.normal(size=T), np.zeros(T)
    for k in range(2, T):
        a, b, c, d = y[k - 1], y[k - 2], u[k - 1], u[k - 2]
        y[k] = np.dot(_MOTOR, (a, b, c, d, a * c, a * d, b * c, b * d, b * b))
    return u, _measured(y, 0.01, rng)


def saturating(T: int, rng: np.random.Generator) -> Record:
    """Return a system whose terms are no polynomials."""
    u, y = rng.normal(size=T), np.zeros(T)
    for k in range(2, T):
        y[k] = 0.6 * np.tanh(y[k - 1]) + 0.2 * y[k - 2] + 0.5 * np.tanh(u[k - 1]) + 0.2 * u[k]
    return u, _measured(y, 0.02, rng)


def duffing(T: int, rng: np.random.Generator) -> Record:
    """Return an oscillator in continuous time, which no polynomial of samples is exactly."""
    u, y, x, v = _smooth(T, rng, 0.3), np.zeros(T), 0.0, 0.0
    for k in range(1, T):
        for _ in range(4):
            v += 0.05 * (u[k] - 0.3 * v - x - 0.8 * x**3)
            x += 0.05 * v
        y[k] = x
    return u, _measured(y, 0.01, rng)


def tank(T: int, rng: np.random.Generator) -> Record:
    """Return two tanks, one below the other, that empty as the root of the level."""
    u, y, upper, lower = 1.5 + 0.5 * _smooth(T, rng, 0.8), np.zeros(T), 1.0, 1.0
    for k in range(T):
        flow = 0.12 * np.sqrt(upper)
        upper = max(0.0, upper + 0.1 * max(u[k], 0.0) - flow)
        lower = max(0.0, lower + flow - 0.13 * np.sqrt(lower))
        y[k] = lower
    return u, _measured(y, 0.01, rng)


SYSTEMS: tuple[Callable[[int, np.random.Generator], Record], ...] = (
    spring, bilinear, colored, motor, saturating, duffing, tank,
)  # fmt: skip


def _smooth(T: int, rng: np.random.Generator, memory: float) -> Any:
    e = rng.normal(size=T + 200)
    for _ in range(2):
        for k in range(1, len(e)):
            e[k] = memory * e[k - 1] + (1 - memory) * e[k]
    return e[200:] / e[200:].std()


def _measured(y: Any, share: float, rng: np.random.Generator) -> Any:
    return y + share * y.std() * rng.normal(size=len(y))


def compare_rules(u: Any, y: Any, T: int, search: str) -> tuple[list[float], list[int]]:
    """Return errors on the rows after the first T, and numbers of terms: by "one_se", by "best"."""
    errors: dict[int, float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table: Any = NARX(order="free-run", search=search).fit(u[:T], y[:T]).order_
        sizes = [table.best("free-run", rule=rule) for rule in ("one_se", "best")]
        for k in set(sizes):
            model = NARX(k, search=search).fit(u[:T], y[:T])
            left = (model.predict(u[T:], y[T : T + GIVEN]) - y[T:])[GIVEN:]
            # One that diverges is no better than the mean.
            found, spread = float(np.sqrt(np.mean(left**2))), float(y[T:].std())
            errors[k] = min(found, spread) if np.isfinite(found) else spread
    return [errors[k] for k in sizes], sizes


def main(runs: int) -> None:
    """Print a line for each system and number of rows, and one for all."""
    print(f"{runs} runs each; log of the ratio: below 0 the best number does better")
    for search in ("swap", "forward"):
        means = []
        for make in SYSTEMS:
            for T in SIZES:
                made = (
                    make(T + FRESH, np.random.default_rng([run, T, len(make.__name__)]))
                    for run in range(runs)
                )
                found = [compare_rules(u, y, T, search) for u, y in made]
                errors, sizes = (np.array(part, dtype=float) for part in zip(*found))
                log = np.log(errors[:, 1] / errors[:, 0])
                means.append(log.mean())
                print(
                    f"{search}, {make.__name__}, {T} rows: errors {errors[:, 0].mean():.4f} (one "
                    f"standard error), {errors[:, 1].mean():.4f} (best); terms "
                    f"{sizes[:, 0].mean():.1f}, {sizes[:, 1].mean():.1f}; log of the ratio "
                    f"{log.mean():+.3f} +- {log.std(ddof=1) / np.sqrt(runs):.3f}",
                    flush=True,
                )
        spread = np.std(means, ddof=1) / np.sqrt(len(means))
        print(f"{search}, all: log of the ratio {np.mean(means):+.4f} +- {spread:.4f}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
