"""What a reader of a comparison should know of the data, and how to do it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from orthoselect.arguments import target_in_code
from orthoselect.comparison.problem import Problem
from orthoselect.versions import versions

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "joblib")


def data_facts(problem: Problem, warnings: Sequence[str]) -> dict[str, Any]:
    """Return what the data hold, plain.

    Parameters
    ----------
    problem : Problem
    warnings : sequence of str
        What was warned of.
    """
    names = problem.source.names
    reason = "named in `exclude`"
    return {
        "rows": problem.source.n_rows,
        "columns": len(names),
        "classes": _class_counts(problem),
        "response": _response_facts(problem),
        "kinds": problem.kinds,
        "left_out": [{"name": names[column], "reason": reason} for column in problem.left_out],
        "weighted": False,
        "warnings": list(warnings),
    }


def _class_counts(problem: Problem) -> list[dict[str, Any]] | None:
    if problem.classes is None:
        return None
    counts = np.bincount(problem.classes.codes).tolist()
    return [{"name": str(k), "count": c} for k, c in zip(problem.classes.levels, counts)]


def _response_facts(problem: Problem) -> dict[str, float] | None:
    """Return the range, mean and deviation of a single numeric response."""
    if problem.classes is not None or problem.y.ndim > 1:
        return None
    y = problem.y
    return {
        "min": float(y.min()),
        "max": float(y.max()),
        "mean": float(y.mean()),
        "std": float(y.std(ddof=1)),
    }


def how_to_reproduce(problem: Problem, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is needed to do it again, plain.

    Parameters
    ----------
    problem : Problem
    options : mapping
        The arguments of `compare`, as they were resolved.
    """
    names = problem.source.names
    options = {
        **options,
        "groups": {k: [names[c] for c in g] for k, g in problem.groups.items()} or None,
        "exclude": [names[column] for column in problem.left_out] or None,
    }
    if isinstance(options["categorical_features"], list):
        options["categorical_features"] = [names[c] for c in options["categorical_features"]]
    told = [f"{k}={_code(v)}" for k, v in options.items() if not _is_default(k, v)]
    data = problem.file or "data"
    target = target_in_code([names[c] for c in problem.taken])
    return {
        "command": None,
        "python": f"orthoselect.compare({', '.join([data, target, *told])})",
        "options": {name: _plain(value) for name, value in options.items()},
        "seed": options["random_state"],
        "versions": versions(*_LIBRARIES),
    }


def _is_default(name: str, value: Any) -> bool:
    return (name, value) in (
        ("repeats", 1),
        ("categorical_features", "from_dtype"),
        ("groups", None),
        ("exclude", None),
    )


def _plain(value: Any) -> Any:
    """Return a value as JSON may hold it."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value if value is None or isinstance(value, (str, int)) else _code(value)


def _code(value: Any) -> str:
    """Return a value as Python writes it, in one line."""
    return " ".join(repr(value).split()) if not isinstance(value, str) else repr(value)
