"""What the pictures of a page show: selected features against the response, alone and together.

Rows are counted, not weighted; those without weight are left out, and of many a few are drawn:
always the same ones, and no class is forgotten. A numeric column with few distinct values has a bin
for each, another one 24 of equal width; where a few values lie far out, the bins span the middle
99 % and the outermost two hold what lies beyond, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.encode import Feature, Labels, Table
from orthoselect.encode.labels import GAP
from orthoselect.encode.response import centered_columns, class_basis
from orthoselect.matrix.base import Floats, Indices
from orthoselect.problem import Problem
from orthoselect.result.text import finite
from orthoselect.show.explained import SelectedSet

MOST_COLUMNS = 30
MOST_CLASSES, MOST_LEVELS = 12, 12
_ALIKE_SIZES = 3.0  # classes are about equal in size if none has more than so many times another
MOST_POINTS, MOST_POINTS_OF_ONE = 1500, 500
N_BINS = 24
_TAIL = 0.005
_FAR_OUT = 1.5  # the whole spreads more than so many times the middle
_AXES = 2
_ALIKE = 6  # decimals to which loadings are compared
_SEED = 0
_LIMIT = float(np.finfo(np.float64).max)


def find_distributions(problem: Problem, features: Sequence[Feature]) -> list[dict[str, Any]]:
    """Return one entry for each column of these features, the first 30.

    With several responses it is the first that columns are set against.
    """
    table, part = problem.table, problem.response.parts[0]
    rows = rows_with_weight(problem.weights, table.n_rows)
    columns = [(f, c) for f in features for c in f.columns][:MOST_COLUMNS]
    values = _numeric_columns(table, [c for _, c in columns if c not in table.labels])
    indicated = set(table.indicated)
    gaps = _gaps_of(table, [c for _, c in columns if c in indicated])
    entries = []
    for feature, column in columns:
        name = str(table.names[column])
        name = feature.name if len(feature.columns) == 1 else f"{feature.name}: {name}"
        x = table.labels.get(column) or values[column]
        there = rows[~gaps[column][rows]] if column in gaps else rows
        entries.append({"name": name, **_entry(x, part, there if len(there) else rows)})
    return entries


def _numeric_columns(table: Table, columns: Sequence[int]) -> dict[int, Floats]:
    """Return numeric columns of the table in double precision, by their place in it."""
    place = np.searchsorted(table.numeric_at, columns)
    X = table.numeric
    if sp.issparse(X):
        X = sp.csc_array(X)
        return {c: X[:, [p]].toarray()[:, 0].astype(float) for c, p in zip(columns, place)}
    return {c: np.asarray(X[:, p], dtype=np.float64) for c, p in zip(columns, place)}


def _gaps_of(table: Table, columns: Sequence[int]) -> dict[int, NDArray[np.bool_]]:
    """Return where columns had gaps, by the indicators behind their values."""
    place, X = np.searchsorted(table.numeric_at, columns) + 1, table.numeric
    if sp.issparse(X):
        X = sp.csc_array(X)
        return {c: X[:, [p]].toarray()[:, 0] != 0 for c, p in zip(columns, place)}
    return {c: X[:, p] != 0 for c, p in zip(columns, place)}


def _entry(x: Any, part: Any, rows: Indices) -> dict[str, Any]:
    """Return counts by class or, for a response of numbers, what that is along the column."""
    if not isinstance(part, Labels):
        y = part[rows, 0]
        return _levels_of(x, y, rows) if isinstance(x, Labels) else _along(x[rows], y)
    shown, names, classes = _few_classes(part, rows)
    entry: dict[str, Any]
    if isinstance(x, Labels):
        levels, codes = _few_levels(x, rows)
        entry, n_bins = {"kind": "categorical", "levels": levels}, len(levels)
    else:
        edges, codes = cut(x[rows])
        entry, n_bins = {"kind": "numeric", "edges": edges.tolist()}, len(edges) - 1
    counts = [np.bincount(codes[classes == k], minlength=n_bins) for k in range(len(names))]
    by_class = [
        {"class": name, "number": number, "n": int(own.sum()), "counts": own.tolist()}
        for number, name, own in zip(shown, names, counts)
    ]
    return {**entry, "by_class": by_class}


def _few_classes(labels: Labels, rows: Indices) -> tuple[list[int | None], list[str], Indices]:
    """Return the classes that are drawn, in their order, their names, and the one of each row.

    Of more than a dozen the largest are drawn. The others make up one more, which has no number;
    where all classes are about equal in size it would dwarf the rest, and they are not drawn: their
    rows are in none of the classes.
    """
    codes = labels.codes[rows]
    counts = np.bincount(codes, minlength=len(labels.levels))
    frequent = _by_frequency(counts)
    if len(frequent) <= MOST_CLASSES:
        kept, others = np.sort(frequent), frequent[:0]
    elif counts[frequent[0]] <= _ALIKE_SIZES * counts[frequent[-1]]:
        kept, others = np.sort(frequent[:MOST_CLASSES]), frequent[:0]
    else:
        kept, others = np.sort(frequent[: MOST_CLASSES - 1]), frequent[MOST_CLASSES - 1 :]
    place = np.full(len(labels.levels), -1, dtype=np.intp)
    place[kept], place[others] = np.arange(len(kept)), len(kept)
    names = [str(labels.levels[k]) for k in kept]
    if len(others):
        return [*kept.tolist(), None], [*names, f"other ({len(others)} classes)"], place[codes]
    return kept.tolist(), names, place[codes]


def _few_levels(labels: Labels, rows: Indices) -> tuple[list[str], Indices]:
    """Return names and codes of the most frequent levels; those that are rarer are one more."""
    codes = labels.codes[rows]
    frequent = _by_frequency(np.bincount(codes, minlength=len(labels.levels)))
    kept = frequent if len(frequent) <= MOST_LEVELS else frequent[: MOST_LEVELS - 1]
    levels = [labels.levels[k] for k in kept]
    names = ["(missing)" if level is GAP else str(level) for level in levels]
    place = np.full(len(labels.levels), len(kept), dtype=np.intp)
    place[kept] = np.arange(len(kept))
    if len(frequent) > len(kept):
        names.append(f"other ({len(frequent) - len(kept)} levels)")
    return names, place[codes]


def _by_frequency(counts: Indices) -> Indices:
    """Return the labels that occur, the most frequent first."""
    occurring = np.flatnonzero(counts)
    return occurring[np.argsort(-counts[occurring], kind="stable")]


def cut(x: Floats) -> tuple[Floats, Indices]:
    """Cut numbers into bins; return the edges, one more than bins, and the bin of each number.

    Examples
    --------
    >>> edges, codes = cut(np.array([1.0, 2.0, 2.0, 4.0]))
    >>> edges
    array([0.5, 1.5, 3. , 5. ])
    """
    exponent = np.frexp(np.abs(x).max())[1]  # differences stay in range
    x = np.ldexp(x, -exponent)
    values, codes = np.unique(x, return_inverse=True)
    if len(values) <= N_BINS:
        return _in_full(_edges_around(values), exponent), codes.reshape(-1)
    low, high = x.min(), x.max()
    inner = np.quantile(x, [_TAIL, 1 - _TAIL])
    if high - low > _FAR_OUT * (inner[1] - inner[0]) > 0:
        low, high = inner
    edges = np.linspace(low, high, N_BINS + 1)
    codes = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, N_BINS - 1)
    return _in_full(edges, exponent), codes


def _edges_around(values: Floats) -> Floats:
    """Return edges halfway between values, and as far out at the ends."""
    if len(values) == 1:
        half = 0.5 * max(abs(values[0]), 1.0)
        return np.array([values[0] - half, values[0] + half])
    middles = (values[1:] + values[:-1]) / 2
    return np.concatenate([[2 * values[0] - middles[0]], middles, [2 * values[-1] - middles[-1]]])


def _along(x: Floats, y: Floats) -> dict[str, Any]:
    edges, bins = cut(x)
    shown = sample_rows(np.arange(len(x)), MOST_POINTS_OF_ONE)
    groups = [y[bins == b] for b in range(len(edges) - 1)]
    # Divided first: the sum might overflow.
    means = [brief((own / len(own)).sum()) if len(own) else None for own in groups]
    return {
        "kind": "numeric-response",
        "points": [[brief(x[i]), brief(y[i])] for i in shown],
        "edges": edges.tolist(),
        "means": means,
    }


def _levels_of(labels: Labels, y: Floats, rows: Indices) -> dict[str, Any]:
    names, codes = _few_levels(labels, rows)
    groups: list[NDArray] = [y[codes == k] for k in range(len(names))]
    quartiles = [np.quantile(group / 2, [0.25, 0.5, 0.75]) for group in groups]
    return {
        "kind": "categorical-response",
        "levels": names,
        "quartiles": [[finite(2 * q) for q in of_level] for of_level in quartiles],
        "n": [len(group) for group in groups],
    }


def find_separation(
    problem: Problem, chosen: SelectedSet, names: list[str], response: str
) -> dict[str, Any] | None:
    """Return the rows on the directions that separate the classes, or fitted against observed.

    With several responses it is the first that is shown. None if nothing is selected that varies,
    or the response is constant.

    `names` are those of the selected features, `response` is what the first response is called.
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
    # The largest loading of each axis is made positive, the first of equals.
    loadings = np.nan_to_num(chosen.correlations(directions))
    largest = np.round(np.abs(loadings), _ALIKE).argmax(axis=0)
    directions *= np.where(loadings[largest, np.arange(len(largest))] < 0, -1.0, 1.0)
    loadings = chosen.correlations(directions)
    live = rows_with_weight(problem.weights, len(labels.codes))
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
            {"name": name, "values": [finite(value) for value in row]}
            for name, row in zip(names, loadings)
        ],
    }


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
    rows = rows_with_weight(problem.weights, len(y))
    shown = sample_rows(rows, MOST_POINTS)
    mean = np.average(y, weights=problem.weights)
    spread = np.sqrt(np.average((y - mean) ** 2, weights=problem.weights))
    fitted = mean + spread * _scores(along, problem, chosen, shown)[:, 0]
    return {
        "kind": "numbers",
        "response": response,
        "observed": [brief(value) for value in _in_full(y[shown], exponent)],
        "fitted": [brief(value) for value in _in_full(fitted, exponent)],
        "r2": float(np.clip((along**2).sum(), 0.0, 1.0)),
        "shown": len(shown),
        "rows": len(rows),
    }


def rows_with_weight(weights: NDArray | None, n_rows: int) -> Indices:
    """Return the rows that have any weight."""
    return np.arange(n_rows) if weights is None else np.flatnonzero(weights > 0)


def sample_rows(rows: Indices, most: int, codes: Indices | None = None) -> Indices:
    """Return at most so many of these rows, in their order.

    With `codes`, the class of each, half of the places go to the classes in equal parts, as far as
    they have rows for it; the other half by how many rows they have.

    Examples
    --------
    >>> codes = np.array([0] * 95 + [1] * 5)
    >>> picked = sample_rows(np.arange(100), 20, codes)
    >>> len(picked), int((picked >= 95).sum())
    (20, 5)
    """
    if len(rows) <= most:
        return rows
    order = np.random.default_rng(_SEED).permutation(len(rows))
    if codes is not None:
        order = _small_classes_first(order, codes, most)
    return rows[np.sort(order[:most])]


def _small_classes_first(order: Indices, codes: Indices, most: int) -> Indices:
    """Move the first few rows of each class to the front."""
    quota = most // 2 // max(len(np.unique(codes)), 1)
    by_class = order[np.argsort(codes[order], kind="stable")]
    starts = np.searchsorted(codes[by_class], codes[by_class])
    early = np.arange(len(order)) - starts < quota
    in_front = np.zeros(len(order), dtype=bool)
    in_front[by_class[early]] = True
    return np.concatenate([order[in_front[order]], order[~in_front[order]]])


def brief(value: float) -> float:
    """Round to what a point in a picture needs, six digits.

    Examples
    --------
    >>> brief(12345678.9), brief(0.1 + 0.2)
    (12345700.0, 0.3)
    """
    return float(f"{value:.6g}")


def _in_full(values: Floats, exponent: int) -> Floats:
    """Return values times a power of two; what is too large is the largest number."""
    with np.errstate(over="ignore"):
        return np.clip(np.ldexp(values, exponent), -_LIMIT, _LIMIT)
