"""Whether anything is left in the residuals: the correlation tests of Billings and Voon (1986).

Notation: e residuals, u an input, ' less its mean. phi_ab(tau) is the correlation of a(k - tau) and
b(k). Of a model that has found all there is, e is white and goes with nothing that was before:

    phi_ee(tau) = 0, tau > 0                 phi_ue(tau) = 0
    phi_e(eu)(tau) = 0, tau >= 0             phi_(u^2)'e(tau) = 0         phi_(u^2)'e^2(tau) = 0

where (eu)(k) = e(k) u(k), one time earlier. Without inputs phi_ee, phi_e'(e^2)' and
phi_(e^2)'(e^2)' stand in for them. If so, each is within 1.96/sqrt(N) with a probability of 95 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from orthoselect.matrix.base import Floats
from orthoselect.plots import draw_tests
from orthoselect.result.text import as_table

_CERTAIN = 1.96


_NO_BETTER = (
    "One step ahead the model is no better than the last value: it has found nothing to use."
)


@dataclass(frozen=True)
class CorrelationTest:
    """One of the tests.

    Attributes
    ----------
    name : str
    lags : tuple of int
    values : tuple of float
        The correlation at each lag.
    bound : float
        What 95 % of them stay within if the model has found all there is.
    """

    name: str
    lags: tuple[int, ...]
    values: tuple[float, ...]
    bound: float

    @property
    def share_outside(self) -> float:
        """The share of lags whose correlation is outside the bounds; about 5 % if all is well."""
        return float(np.mean(np.abs(self.values) > self.bound)) if self.values else 0.0


@dataclass(frozen=True)
class Validation:
    """How well a model does on some records; prints as a table.

    Attributes
    ----------
    n_rows : int
        Rows that were predicted.
    errors : mapping of str to float
        Root mean squared errors: "one step", "5 steps" and so on, "free run".
    spread : float
        The standard deviation of the output: errors are small beside it or not.
    tests : tuple of CorrelationTest
        The tests of the one-step residuals.
    residuals : array of shape (T,)
        NaN where nothing was predicted.
    persistence : float
        The root mean squared error of the last measured value, taken for the next one. A model
        that is not better one step ahead has found nothing.
    """

    n_rows: int
    errors: Mapping[str, float]
    spread: float
    tests: tuple[CorrelationTest, ...]
    residuals: Floats
    persistence: float

    def __repr__(self) -> str:
        last = {} if np.isnan(self.persistence) else {"last value": self.persistence}
        rows = [
            (name, f"{error:.5g}", f"{error / self.spread:.2%}" if self.spread else "")
            if np.isfinite(error)
            else (name, "diverged", "")
            for name, error in {**self.errors, **last}.items()
        ]
        errors = as_table(["predicted", "RMSE", "of the spread"], rows, left={0})
        tests = [
            (test.name, f"{test.bound:.4f}", f"{max(map(abs, test.values)):.4f}",
             f"{test.share_outside:.0%}")
            for test in self.tests if test.values
        ]  # fmt: skip
        header = ["correlation", "bound (95 %)", "largest", "outside"]
        told = "" if self.beats_last_value else f"\n{_NO_BETTER}"
        about = f"Validation on {self.n_rows} rows\n{errors}{told}"
        return f"{about}\n{as_table(header, tests, left={0})}"

    @property
    def beats_last_value(self) -> bool:
        """Whether one step ahead the model errs less than the value before; true if unknown."""
        return not self.errors.get("one step", 0.0) >= self.persistence

    def plot(self, figure: Any = None) -> Any:
        """Draw the tests, each with its bounds; returns the figure."""
        return draw_tests(self.tests, figure)


def correlation(
    a: Floats, b: Floats, lags: Sequence[int], sessions: Sequence[tuple[int, int]]
) -> tuple[float, ...]:
    """Return the correlations of a(k - lag) and b(k), both NaN where unknown, within sessions.

    Examples
    --------
    >>> x = np.array([1.0, -1.0, 2.0, -2.0])
    >>> correlation(x, x, [0], [(0, 4)])
    (1.0,)
    """
    a, b = a - np.nanmean(a), b - np.nanmean(b)
    scale = float(np.sqrt(np.nansum(a * a) * np.nansum(b * b))) or 1.0
    found = []
    for lag in lags:
        total = 0.0
        for start, stop in sessions:
            x, y = a[start:stop], b[start:stop]
            if abs(lag) >= stop - start:
                continue
            before = x[: len(x) - lag] if lag >= 0 else x[-lag:]
            after = y[lag:] if lag >= 0 else y[:lag]
            total += float(np.nansum(before * after))
        found.append(total / scale)
    return tuple(found)


def correlation_tests(
    e: Floats,
    inputs: Floats,
    names: Sequence[str],
    sessions: Sequence[tuple[int, int]],
    most: int = 20,
) -> tuple[CorrelationTest, ...]:
    """Return the tests of residuals e (T,), NaN where there are none; inputs are (inputs, T)."""
    n = int(np.count_nonzero(~np.isnan(e)))
    bound = _CERTAIN / np.sqrt(max(n, 1))
    most = min(most, max(1, n // 4))
    later, both = range(1, most + 1), range(-most, most + 1)

    def test(name: str, a: Floats, b: Floats, lags: Sequence[int]) -> CorrelationTest:
        return CorrelationTest(name, tuple(lags), correlation(a, b, lags, sessions), bound)

    tests = [test("e, e", e, e, later)]
    for name, u in zip(names, inputs):
        u = np.where(np.isnan(e), np.nan, u)
        tests += [
            test(f"{name}, e", u, e, both),
            test(f"e {name}, e", e * u, e, later),
            test(f"{name}^2, e", u * u, e, both),
            test(f"{name}^2, e^2", u * u, e * e, both),
        ]
    if not len(names):
        tests += [test("e, e^2", e, e * e, later), test("e^2, e^2", e * e, e * e, later)]
    return tuple(tests)
