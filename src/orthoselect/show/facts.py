"""Facts about the data, and how to get the same again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from orthoselect.arguments import target_in_code
from orthoselect.encode import Feature, Features, Labels
from orthoselect.errors import InputError
from orthoselect.methods import GENERAL, METHODS
from orthoselect.result import SelectionPath
from orthoselect.result.text import finite
from orthoselect.roles import Problem
from orthoselect.show.pictures import live_rows
from orthoselect.versions import versions

_PACKAGES = ("numpy", "scipy", "scikit-learn")
_DEFAULTS = {**GENERAL, "include": None, "exclude": None, "search": "forward"}


def response_names(target: Any, n_parts: int, name: str | Sequence[str] | None = None) -> list[str]:
    """Return what to call each column of a response that is given as values.

    Parameters
    ----------
    target : array, series or dataframe
    n_parts : int
        Number of its columns.
    name : str or sequence of str, optional
        What to call it if it does not know its name: a name for each column, also as one text
        with commas between them, or one name that the columns are numbered by.

    Examples
    --------
    >>> response_names([0, 1, 0], 1), response_names([[0.5, 1.5], [2.5, 3.5]], 2)
    (['y'], ['y0', 'y1'])
    >>> response_names([[0.5, 1.5], [2.5, 3.5]], 2, ["width", "height"])
    ['width', 'height']
    """
    given = _given_names(name, n_parts)
    # Looked for in the class: rows and columns of a pandas table are attributes, too.
    for attribute in ("column_names", "columns"):
        if hasattr(type(target), attribute):
            return [str(column) for column in getattr(target, attribute)]
    if given:
        return given
    if n_parts > 1:
        return [f"{name or 'y'}{i}" for i in range(n_parts)]
    own = target.name if hasattr(type(target), "name") else None
    return ["y" if own is None or own == "" else str(own)]


def _given_names(name: str | Sequence[str] | None, n_parts: int) -> list[str]:
    """Return the names given for all columns of the response; none if they are to be made."""
    if not name:
        return []
    if isinstance(name, str):
        names = [name] if n_parts == 1 else name.split(", ")
        return names if len(names) == n_parts else []
    if len(name) != n_parts:
        raise InputError(
            f"`target_name` should hold one name for each column of the target, {n_parts} in all; "
            f"got {len(name)}: {list(name)}."
        )
    return [str(one) for one in name]


def responses(problem: Problem, names: Sequence[str]) -> list[dict[str, str]]:
    """Return name and kind, "classes" or "numbers", of each column of the response."""
    return [
        {"name": name, "kind": "classes" if isinstance(part, Labels) else "numbers"}
        for name, part in zip(names, problem.response.parts)
    ]


def kind_of(feature: Feature, problem: Problem) -> str:
    """Return "group", "categorical" or "numeric"."""
    if feature.name in problem.groups:
        return "group"
    return "categorical" if feature.columns[0] in problem.table.labels else "numeric"


def data_facts(
    problem: Problem,
    features: Features,
    left_out: Mapping[str, str],
    warnings: Iterable[object],
) -> dict[str, Any]:
    """Return what there was to select from, and what for; of several responses the first."""
    kinds = {"numeric": 0, "categorical": 0, "group": 0}
    for feature in features:
        kinds[kind_of(feature, problem)] += 1
    excluded = dict.fromkeys(problem.names_of(problem.exclude), "named in `exclude`")
    reasons = {**excluded, **{str(k): str(reason) for k, reason in left_out.items()}}
    part = problem.response.parts[0]
    rows = live_rows(problem.weights, problem.table.n_rows)
    is_classes = isinstance(part, Labels)
    return {
        "rows": problem.table.n_rows,
        "rows_with_weight": len(rows),
        "columns": len(problem.table.names),
        "classes": class_counts(part, rows) if is_classes else None,
        "response": None if is_classes else spread(part[rows, 0]),
        "kinds": kinds,
        "left_out": [{"name": name, "reason": reason} for name, reason in reasons.items()],
        "weighted": problem.weights is not None,
        "warnings": [str(warning) for warning in warnings],
    }


def class_counts(labels: Labels, rows: Any = slice(None)) -> list[dict[str, Any]]:
    """Return how many of these rows each class has."""
    counts = np.bincount(labels.codes[rows], minlength=len(labels.levels)).tolist()
    return [{"name": str(level), "count": n} for level, n in zip(labels.levels, counts)]


def spread(y: Any, ddof: int = 0) -> dict[str, float | None]:
    """Return the range, mean and deviation of numbers; `ddof` as in `numpy.std`."""
    scale = max(float(np.abs(y).max()), 1e-300)  # squares stay in range
    small = y / scale
    return {
        "min": float(y.min()),
        "max": float(y.max()),
        "mean": finite(scale * small.mean()),
        "std": finite(scale * small.std(ddof=ddof)),
    }


def reproduction(
    path: SelectionPath, data: Any, target: Sequence[str], command: str | None
) -> dict[str, Any]:
    """Return all that it takes to get the same path again."""
    return {
        "command": command,
        "python": python_code(path, data, target),
        "options": path.to_dict()["options"],
        "seed": None,
        "versions": versions(*_PACKAGES),
    }


def python_code(path: SelectionPath, data: Any, target: Sequence[str]) -> str:
    """Return the call of `select` that found a path, defaults left out.

    Parameters
    ----------
    path : SelectionPath
    data : table, str or Path
    target : sequence of str
        The columns of the response; none if its values were given.

    Examples
    --------
    >>> path = SelectionPath([], method="jmi", ceiling=1.0, n_candidates=3,
    ...                      options={"n_features_to_select": 5, "exclude": ["id"], "bins": 10})
    >>> print(python_code(path, "people.csv", ["income"]))
    from orthoselect import select
    <BLANKLINE>
    path = select('people.csv', 'income', 5, 'jmi', exclude=['id'], bins=10)
    """
    size = path.options.get("n_features_to_select", len(path))
    arguments = [
        repr(str(data)) if isinstance(data, (str, Path)) else "data",
        target_in_code(target),
        _shown(size),
        repr(path.method),
        *_keywords(path.options, path.method),
    ]
    call = f"path = select({', '.join(arguments)})"
    if len(call) > 88:
        call = "path = select(\n    " + ",\n    ".join(arguments) + ",\n)"
    lines = ["from orthoselect import select", *_imports(path.options), "", call]
    return "\n".join(lines)


def _keywords(options: Mapping[str, Any], method: str) -> list[str]:
    defaults = {**_DEFAULTS, **METHODS.find(method).options}
    found = []
    for name, value in options.items():
        if name == "n_features_to_select" or (name in defaults and _same(value, defaults[name])):
            continue
        is_array = name == "sample_weight" and value == "given"
        given = name if is_array else _shown(value)
        found.append(f"{name}={given}")
    return found


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))


def _shown(value: Any) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)


def _imports(options: Mapping[str, Any]) -> list[str]:
    """Return the lines that import what options are objects of: discretizers, splitters."""
    kinds = {type(value) for value in options.values() if hasattr(value, "__dict__")}
    places = [(kind.__module__.split("._")[0], kind.__name__) for kind in kinds]
    return [f"from {module} import {name}" for module, name in sorted(places)]
