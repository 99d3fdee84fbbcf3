"""Lags, degree, delay and number of terms of a model of tanks, by free runs on training rows."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np

from orthoselect import NARX

_GIVEN = 50  # rows that a free run begins from, which do not count
_PARTS = 4


def choose_structure(u: Any, y: Any, *, quick: bool = False) -> dict[str, Any]:
    """Return lags, degree, delay and number of terms that do best on rows held out.

    Every size of each of eight sets of candidates is run over every quarter in turn, its terms
    selected and its coefficients refined on the other quarters. The smallest mean of the squared
    errors wins.
    """
    squares: dict[tuple[int, int, int, int], list[float]] = {}
    some = (2,) if quick else (2, 3)
    for lags, degree, delay in product(some, some, (0, 1)):
        for held_out in range(_PARTS):
            how: dict[str, Any] = {"y_lags": lags, "u_lags": lags, "degree": degree, "delay": delay}
            how["max_terms"] = 6 if quick else 20
            for k, error in _errors_by_size(u, y, held_out, how).items():
                squares.setdefault((lags, degree, delay, k), []).append(error**2)
    # A size that a path did not reach in each of the quarters is not compared.
    means = {each: np.mean(found) for each, found in squares.items() if len(found) == _PARTS}
    lags, degree, delay, k = min(means, key=means.__getitem__)
    return {"n_terms": k, "y_lags": lags, "u_lags": lags, "degree": degree, "delay": delay}


def _errors_by_size(u: Any, y: Any, held_out: int, how: dict[str, Any]) -> dict[int, float]:
    """Return the errors of free runs over a quarter, by number of terms."""
    quarter = len(y) // _PARTS
    parts = [slice(i * quarter, (i + 1) * quarter) for i in range(_PARTS)]
    parts.append(parts.pop(held_out))  # of several sessions the last quarter is held out
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        u, y = (np.concatenate([signal[part] for part in parts]) for signal in (u, y))
        model = NARX(order="free-run", fit="free-run", include=["1"], **how)
        model.fit(u, y, sessions=[quarter] * _PARTS)
    assert not isinstance(model.order_, list)
    found = zip(model.order_.sizes, model.order_.values["free-run"])
    return {k: error for k, error in found if not np.isnan(error)}


def free_run_error(model: NARX, u: Any, y: Any) -> float:
    """Return the root mean squared error of a free run from so many rows given."""
    left = (model.predict(u, y[:_GIVEN]) - y)[_GIVEN:]
    return float(np.sqrt(np.mean(left**2)))
