"""How far the selected features tell the classes apart, or fit the numbers: a picture's worth."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthoselect.encode import Labels
from orthoselect.encode.response import centered_columns, class_basis
from orthoselect.matrix.base import Floats, Indices
from orthoselect.roles import Problem
from orthoselect.show.geometry import SelectedSet
from orthoselect.show.plain import brief, number
from orthoselect.show.sampling import live_rows, sample_rows

MOST_POINTS = 1500
_AXES = 2
_ALIKE = 6  # decimals to which loadings are told apart


def find_separation(
    problem: Problem, chosen: SelectedSet, names: list[str], response: str
) -> dict[str, Any] | None:
    """Return the rows on the directions that separate the classes, or fitted against observed.

    With several responses it is the first that is shown. None if nothing is selected that varies,
    or the response is constant.

    Parameters
    ----------
    problem : Problem
    chosen : SelectedSet
    names : list of str
        Of the selected features.
    response : str
        What the first response is called.
    """
    part = problem.response.parts[0]
    if not chosen.Q.shape[1]:
        return None
    if isinstance(part, Labels):
        return _classes(part, problem, chosen, names, response)
    return _numbers(part[:, 0], problem, chosen, response)


def _classes(
    labels: Labels, problem: Problem, chosen: SelectedSet, names: list[str], response: str
) -> dict[str, Any] | None:
    """Scores on the discriminant directions, each at mean zero and standard deviation one.

    An axis points to where the feature it is most correlated with grows.
    """
    V = class_basis(labels, "dummy", problem.weights)[:]
    if not V.shape[1]:
        return None
    directions, R, _ = np.linalg.svd(chosen.Q.T @ V, full_matrices=False)
    directions, R = directions[:, :_AXES], np.clip(R[:_AXES], 0.0, 1.0)
    directions *= _signs(chosen.correlations(directions))
    loadings = chosen.correlations(directions)
    live = live_rows(problem.weights, len(labels.codes))
    shown = sample_rows(live, MOST_POINTS, labels.codes[live])
    scores = _scores(directions, problem, chosen, shown)
    return {
        "kind": "classes",
        "response": response,
        "classes": [str(level) for level in labels.levels],
        "axes": [
            {"label": f"discriminant direction {i}", "canonical_correlation": float(r)}
            for i, r in enumerate(R, start=1)
        ],
        "points": [
            [brief(point[0]), brief(point[1]) if len(point) > 1 else None, int(code)]
            for point, code in zip(scores, labels.codes[shown])
        ],
        "shown": len(shown),
        "rows": len(live),
        "loadings": [
            {"name": name, "values": [number(value) for value in row]}
            for name, row in zip(names, loadings)
        ],
    }


def _signs(loadings: Floats) -> Floats:
    """Return the signs that make the largest loading of each axis positive, the first of equals."""
    sizes = np.nan_to_num(np.round(np.abs(loadings), _ALIKE))
    largest = np.take_along_axis(loadings, sizes.argmax(axis=0)[None], axis=0)[0]
    return np.where(np.nan_to_num(largest) < 0, -1.0, 1.0)


def _scores(directions: Floats, problem: Problem, chosen: SelectedSet, rows: Indices) -> Floats:
    """Return where rows are along directions Qa: at standard deviation one over all rows."""
    along = chosen.Q[rows] @ directions
    if problem.weights is None:
        return along * np.sqrt(len(chosen.Q))
    return along * np.sqrt(problem.weights.sum() / problem.weights[rows])[:, None]


def _numbers(
    y: Floats, problem: Problem, chosen: SelectedSet, response: str
) -> dict[str, Any] | None:
    """Observed values, and those that least squares on the selected features fits."""
    v = centered_columns(y[:, None], problem.weights)[0]  # (N, 1), a unit vector
    if not v.any():
        return None
    exponent = np.frexp(np.abs(y).max())[1]  # squares of what is left stay in range
    y = np.ldexp(y, -exponent)
    along = chosen.Q.T @ v
    rows = live_rows(problem.weights, len(y))
    shown = sample_rows(rows, MOST_POINTS)
    mean = np.average(y, weights=problem.weights)
    spread = np.sqrt(np.average((y - mean) ** 2, weights=problem.weights))
    fitted = mean + spread * _scores(along, problem, chosen, shown)[:, 0]
    return {
        "kind": "numbers",
        "response": response,
        "observed": _in_full(y[shown], exponent),
        "fitted": _in_full(fitted, exponent),
        "r2": float(np.clip((along**2).sum(), 0.0, 1.0)),
        "shown": len(shown),
        "rows": len(rows),
    }


def _in_full(values: Floats, exponent: int) -> list[float]:
    limit = float(np.finfo(np.float64).max)
    with np.errstate(over="ignore"):
        full = np.clip(np.ldexp(values, exponent), -limit, limit)
    return [brief(value) for value in full]
