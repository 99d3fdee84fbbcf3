"""How the values of a selected feature are spread, class by class or along the response.

Rows are counted, not weighted; those without weight are left out. A numeric column with few
distinct values has a bin for each, another one 24 of equal width; where a few values lie far out,
the bins span the middle 99 % and the outermost two hold what lies beyond, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.encode import Feature, Labels, Table
from orthoselect.matrix.base import Floats, Indices
from orthoselect.roles import Problem
from orthoselect.show.plain import brief, number
from orthoselect.show.sampling import live_rows, sample_rows

MOST_COLUMNS = 30
MOST_CLASSES = 8
MOST_LEVELS = 12
MOST_POINTS = 500
N_BINS = 24
_TAIL = 0.005
_FAR_OUT = 1.5  # as many times the spread of the middle as the whole has


@dataclass(frozen=True)
class Bins:
    """A numeric column cut up.

    Attributes
    ----------
    edges : array of shape (b + 1,)
    codes : integer array
        Bin of each row.
    """

    edges: Floats
    codes: Indices


def find_distributions(problem: Problem, features: Sequence[Feature]) -> list[dict[str, Any]]:
    """Return one entry for each column of these features, the first 30.

    With several responses it is the first that columns are set against.
    """
    table, part = problem.table, problem.response.parts[0]
    rows = live_rows(problem.weights, table.n_rows)
    columns = [(f, c) for f in features for c in f.columns][:MOST_COLUMNS]
    values = numeric_columns(table, [c for _, c in columns if c not in table.labels])
    entries = []
    for feature, column in columns:
        name = str(table.names[column])
        name = feature.name if len(feature.columns) == 1 else f"{feature.name}: {name}"
        x = table.labels.get(column) or values[column]
        entries.append({"name": name, **_entry(x, part, rows)})
    return entries


def numeric_columns(table: Table, columns: Sequence[int]) -> dict[int, Floats]:
    """Return numeric columns of the table in double precision, by their place in it."""
    place = np.searchsorted(table.numeric_at, columns)
    X = table.numeric
    if sp.issparse(X):
        X = sp.csc_array(X)
        return {c: X[:, [p]].toarray()[:, 0].astype(float) for c, p in zip(columns, place)}
    return {c: np.asarray(X[:, p], dtype=np.float64) for c, p in zip(columns, place)}


def _entry(x: Any, part: Any, rows: Indices) -> dict[str, Any]:
    if isinstance(part, Labels):
        names, classes = _few(part, rows, MOST_CLASSES, "class", "classes", by_count=False)
        if isinstance(x, Labels):
            levels, codes = _few(x, rows, MOST_LEVELS, "level", "levels", by_count=True)
            return {
                "kind": "categorical",
                "levels": levels,
                "by_class": _by_class(codes, len(levels), names, classes),
            }
        bins = cut(x[rows])
        return {
            "kind": "numeric",
            "edges": _plain(bins.edges),
            "by_class": _by_class(bins.codes, len(bins.edges) - 1, names, classes),
        }
    y = part[rows, 0]
    return _levels_of(x, y, rows) if isinstance(x, Labels) else _along(x[rows], y)


def _by_class(codes: Indices, b: int, names: list[str], classes: Indices) -> list[dict[str, Any]]:
    found = []
    for k, name in enumerate(names):
        counts = np.bincount(codes[classes == k], minlength=b)
        found.append({"class": name, "n": int(counts.sum()), "counts": counts.tolist()})
    return found


def _few(
    labels: Labels, rows: Indices, most: int, one: str, many: str, *, by_count: bool
) -> tuple[list[str], Indices]:
    """Return names and codes of the most frequent labels; what is rarer is one label more.

    In the order of the labels, or by how often they occur.
    """
    codes = labels.codes[rows]
    counts = np.bincount(codes, minlength=len(labels.levels))
    occurring = np.flatnonzero(counts)
    frequent = occurring[np.argsort(-counts[occurring], kind="stable")]
    kept = frequent if len(frequent) <= most else frequent[: most - 1]
    kept = kept if by_count else np.sort(kept)
    names = [str(labels.levels[k]) for k in kept]
    place = np.full(len(labels.levels), len(kept), dtype=np.intp)
    place[kept] = np.arange(len(kept))
    n_others = len(occurring) - len(kept)
    if n_others:
        names.append(f"other ({n_others} {one if n_others == 1 else many})")
    return names, place[codes]


def cut(x: Floats) -> Bins:
    """Cut numbers into bins; see above.

    Examples
    --------
    >>> cut(np.array([1.0, 2.0, 2.0, 4.0])).edges
    array([0.5, 1.5, 3. , 5. ])
    """
    exponent = np.frexp(np.abs(x).max())[1]  # differences stay in range
    x = np.ldexp(x, -exponent)
    values, codes = np.unique(x, return_inverse=True)
    if len(values) <= N_BINS:
        edges, codes = _edges_around(values), codes.reshape(-1)
    else:
        low, high = _range(x)
        edges = np.linspace(low, high, N_BINS + 1)
        codes = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, N_BINS - 1)
    limit = float(np.finfo(np.float64).max)
    with np.errstate(over="ignore"):
        return Bins(np.clip(np.ldexp(edges, exponent), -limit, limit), codes)


def _edges_around(values: Floats) -> Floats:
    """Return edges halfway between values, and as far out at the ends."""
    if len(values) == 1:
        half = 0.5 * max(abs(values[0]), 1.0)
        return np.array([values[0] - half, values[0] + half])
    middles = (values[1:] + values[:-1]) / 2
    return np.concatenate([[2 * values[0] - middles[0]], middles, [2 * values[-1] - middles[-1]]])


def _range(x: Floats) -> tuple[float, float]:
    low, high = float(x.min()), float(x.max())
    inner = np.quantile(x, [_TAIL, 1 - _TAIL])
    far_out = high - low > _FAR_OUT * (inner[1] - inner[0]) > 0
    return (float(inner[0]), float(inner[1])) if far_out else (low, high)


def _along(x: Floats, y: Floats) -> dict[str, Any]:
    bins = cut(x)
    shown = sample_rows(np.arange(len(x)), MOST_POINTS)
    means = [_mean(y[bins.codes == b]) for b in range(len(bins.edges) - 1)]
    return {
        "kind": "numeric-response",
        "points": [[brief(x[i]), brief(y[i])] for i in shown],
        "edges": _plain(bins.edges),
        "means": means,
    }


def _mean(y: Floats) -> float | None:
    # Divided first: the sum might overflow.
    return brief(float((y / len(y)).sum())) if len(y) else None


def _levels_of(labels: Labels, y: Floats, rows: Indices) -> dict[str, Any]:
    names, codes = _few(labels, rows, MOST_LEVELS, "level", "levels", by_count=True)
    groups: list[NDArray] = [y[codes == k] for k in range(len(names))]
    quartiles = [np.quantile(group / 2, [0.25, 0.5, 0.75]) for group in groups]
    return {
        "kind": "categorical-response",
        "levels": names,
        "quartiles": [[number(2 * q) for q in of_level] for of_level in quartiles],
        "n": [len(group) for group in groups],
    }


def _plain(edges: Floats) -> list[float]:
    return [float(edge) for edge in edges]
