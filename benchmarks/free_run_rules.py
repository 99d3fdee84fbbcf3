"""How many terms by free runs, and which lags: what comes of rules on systems that are made.

    python -m benchmarks.free_run_rules [RUNS]

Made systems, some with terms that are candidates and some without, are recorded with noise. Terms
are selected on the first rows, their number by free runs over the last quarter of these: the best
number, or the fewest within one standard error of it; with lags up to 3, or with those, of 2, 3 and
4, whose smallest error there is smallest. Free runs over 2,000 rows that follow are compared. It
prints what docs/dynamics.md says of the rules. Nothing here is a public record.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from orthoselect import NARX

RUNS, SIZES, FRESH = 10, (300, 1000, 3000), 2000
LAGS, DEFAULT_LAGS = (2, 3, 4), 3
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


def compare_rules(u: Any, y: Any, T: int, search: str) -> dict[str, tuple[float, int, int]]:
    """Return, by rule, the error on the rows after the first T, lags and number of terms."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tables: dict[int, Any] = {
            lags: NARX(order="free-run", y_lags=lags, u_lags=lags, search=search)
            .fit(u[:T], y[:T])
            .order_
            for lags in LAGS
        }
        by_lags = min(LAGS, key=lambda lags: tables[lags].smallest("free-run"))
        asked = {
            "one_se": (DEFAULT_LAGS, "one_se"),
            "best": (DEFAULT_LAGS, "best"),
            "lags, one_se": (by_lags, "one_se"),
        }
        found: dict[str, tuple[float, int, int]] = {}
        for name, (lags, rule) in asked.items():
            k = tables[lags].best("free-run", rule=rule)
            model = NARX(k, y_lags=lags, u_lags=lags, search=search).fit(u[:T], y[:T])
            left = (model.predict(u[T:], y[T : T + GIVEN]) - y[T:])[GIVEN:]
            # One that diverges is no better than the mean.
            error, spread = float(np.sqrt(np.mean(left**2))), float(y[T:].std())
            found[name] = min(error, spread) if np.isfinite(error) else spread, lags, k
    return found


def main(runs: int) -> None:
    """Print a line for each system and number of rows, and one for all."""
    print(f"{runs} runs each; log of the ratio to 'one_se': below 0 is better than that")
    for search in ("swap", "forward"):
        means: dict[str, list[float]] = {}
        for make in SYSTEMS:
            for T in SIZES:
                made = (
                    make(T + FRESH, np.random.default_rng([run, T, len(make.__name__)]))
                    for run in range(runs)
                )
                found = [compare_rules(u, y, T, search) for u, y in made]
                words = []
                for name in found[0]:
                    errors, lags, terms = np.array([each[name] for each in found]).T
                    log = np.log(errors / [each["one_se"][0] for each in found])
                    means.setdefault(name, []).append(log.mean())
                    words.append(
                        f"{name}: error {errors.mean():.4f}, {terms.mean():.1f} terms, lags "
                        f"{lags.mean():.1f}, {log.mean():+.3f} +- {log.std() / np.sqrt(runs):.3f}"
                    )
                print(f"{search}, {make.__name__}, {T} rows. {'; '.join(words)}", flush=True)
        for name, logs in means.items():
            spread = np.std(logs, ddof=1) / np.sqrt(len(logs))
            print(f"{search}, all, {name}: {np.mean(logs):+.4f} +- {spread:.4f}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
