"""Lags, degree, delay and number of terms of a model of tanks, by free runs on training rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from orthoselect import NARX

_GIVEN = 50  # rows that a free run begins from, which do not count
_LEADING = 8  # structures, which are the best on the last quarter


def choose_structure(u: Any, y: Any, *, quick: bool = False) -> dict[str, Any]:
    """Return lags, degree, delay and number of terms that do best on rows held out.

    Every size of each of eight sets of candidates is run over the last quarter, refined on the
    others. The leading ones are run over every quarter in turn.
    """
    tried: list[tuple[float, dict[str, Any]]] = []
    for lags in (2,) if quick else (2, 3):
        for degree in (2,) if quick else (2, 3):
            for delay in (0, 1):
                how: dict[str, Any] = {
                    "y_lags": lags,
                    "u_lags": lags,
                    "degree": degree,
                    "delay": delay,
                }
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model = NARX(
                        order="free-run", fit="free-run", include=["1"], max_terms=20, **how
                    ).fit(u, y)
                assert not isinstance(model.order_, list)
                errors = zip(model.order_.sizes, model.order_.values["free-run"])
                tried += [(error, {"n_terms": k, **how}) for k, error in errors]
    leading = sorted(tried, key=lambda each: each[0])[: 2 if quick else _LEADING]
    return min((each for _, each in leading), key=lambda each: _error_by_quarters(u, y, each))


def _error_by_quarters(u: Any, y: Any, structure: dict[str, Any]) -> float:
    """Return the error of free runs over each quarter, of models fitted to the others."""
    quarter, squares = len(y) // 4, []
    for first in range(0, 4 * quarter, quarter):
        held_out = np.zeros(len(y), dtype=bool)
        held_out[first : first + quarter] = True
        after = np.arange(len(y)) > first
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = NARX(fit="free-run", include=["1"], **structure)
            model.fit(u[~held_out], y[~held_out], sessions=after[~held_out])
            error = free_run_error(model, u[held_out], y[held_out])
        squares.append(np.inf if np.isnan(error) else error**2)
    return float(np.mean(squares))


def free_run_error(model: NARX, u: Any, y: Any) -> float:
    """Return the root mean squared error of a free run from so many rows given."""
    left = (model.predict(u, y[:_GIVEN]) - y)[_GIVEN:]
    return float(np.sqrt(np.mean(left**2)))
