"""What a page says in words: the answer, facts about the data, how to get the same again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from orthoselect.encode import Feature, Features, Labels, Response
from orthoselect.errors import InputError
from orthoselect.problem import Problem
from orthoselect.read.readings import EXCLUDED
from orthoselect.result import SelectionPath
from orthoselect.result.text import finite, p_text
from orthoselect.roles import target_in_code
from orthoselect.show.pictures import rows_with_weight
from orthoselect.show.recipes import call_of, option_imports, repr_of, settings_of

# Methods whose gains are shares of their ceiling.
_SHARES = {"socc", "socc_discretized", "socc_splines", "err"}
# Methods that center nothing: what they explain is explained of squares, the mean's included.
_SQUARES = {"err": "sum of squares", "mser": "mean square"}


def answer(
    path: SelectionPath, problem: Problem, names: list[str], reached: tuple[float, float]
) -> str:
    """Say in a sentence or two what was selected and how much of the response it explains.

    `names` are those of the response's columns; `reached` has the sums of squared canonical
    correlations of the first feature alone and of all selected.
    """
    features = "1 feature" if path.n_candidates == 1 else f"{path.n_candidates} features"
    if not len(path):
        return f"None of {features} was selected: {path.stopped or 'there was nothing to choose.'}"
    response, of = problem.response, f"{len(path)} of {features}"
    by = "" if path.method == "socc" else f", selected by {path.method},"
    by = _how_sure(path, by)
    first, all_ = _shares(path, problem, reached)
    what = _whole(path, response, names)
    if len(path) == 1:
        said = f"{of}, {path[0].name}{by or ','} explains {all_} of {what}."
    else:
        said = (
            f"{of}{by} explain {all_} of {what}; the first, {path[0].name}, alone explains {first}."
        )
    if path.certificate is not None:
        said = f"{said} {path.certificate}"
    if path.stopped == "interrupted.":
        return f"{said} The search was interrupted before it had as many features as asked for."
    return f"{said} The search stopped there: {path.stopped}" if path.stopped else said


def _how_sure(path: SelectionPath, by: str) -> str:
    """Say how sure features are, where they were chosen by tests; behind how they were selected."""
    known = [p for p in path.p_values if p is not None]
    if path.options.get("n_features_to_select") != "auto" or not known:
        return by
    alpha = f"{path.options['alpha']:g}"
    if path.chosen == 0:
        return f"{by or ','} none of them significant at {alpha},"
    which = "significant" if len(path) == 1 else "each significant"
    largest = p_text(max(known))
    at_most = "" if len(path) == 1 or largest.startswith("<") else "at most "
    return f"{by or ','} {which} at {alpha} (p {at_most}{largest}),"


def about_tests(path: SelectionPath) -> str | None:
    """Say what was tested, what comes next and what is assumed; None where nothing was tested."""
    assumed = path.assumptions()
    if assumed is None:
        return None
    words = (
        "p is how often the best of all candidates would be as rare by chance, given the features "
        "before it."
    )
    if path.chosen < len(path) and path.chosen:
        step = path[path.chosen]
        p = "" if step.p_value is None else f" (p = {p_text(step.p_value)})"
        words += f" The next would be {step.name}, not significant{p}."
    return f"{words} {assumed[0].upper()}{assumed[1:]}."


def _shares(path: SelectionPath, problem: Problem, reached: tuple[float, float]) -> tuple[str, str]:
    """Return the shares that the first feature and that all selected explain, in percent."""
    first, all_, most = *reached, float(problem.response.m)
    if path.method in _SHARES or path.method == "mser":
        first, all_, most = path[0].gain, path.total, path.ceiling
    if path.method == "mser":
        parts = [p.codes if isinstance(p, Labels) else p[:, 0] for p in problem.response.parts]
        squares = [np.average(y.astype(float) ** 2, weights=problem.weights) for y in parts]
        most = float(sum(squares))
    shares = [min(max(sum_ / (most or 1.0), 0.0), 1.0) for sum_ in (first, all_)]
    return f"{shares[0]:.1%}", f"{shares[1]:.1%}"


def _whole(path: SelectionPath, response: Response, names: list[str]) -> str:
    """Say what shares are shares of."""
    listed = _listed(names)
    if path.method in _SQUARES:
        return f"the {_SQUARES[path.method]} of {listed}"
    if path.options.get("response_encoding") == "ordinal":
        return f"the variance of {listed}, classes taken as steps of a scale"
    if all(isinstance(part, Labels) for part in response.parts):
        if len(names) > 1:
            return f"what separates the classes of {listed}"
        return f"what separates the {len(response.classes[0])} classes of {listed}"
    return f"the variance of {listed}" if len(names) == 1 else f"what varies in {listed}"


def _listed(names: list[str]) -> str:
    shown = names if len(names) <= 4 else [*names[:3], f"{len(names) - 3} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def response_names(target: Any, n_parts: int, name: str | Sequence[str] | None = None) -> list[str]:
    """Return what to call each of the columns of a response that is given as values.

    If it does not know its names they are in `name`: one for each column, also as one text with
    commas between them, or one name that the columns are numbered by.

    Examples
    --------
    >>> response_names([0, 1, 0], 1), response_names([[0.5, 1.5], [2.5, 3.5]], 2)
    (['y'], ['y0', 'y1'])
    >>> response_names([[0.5, 1.5], [2.5, 3.5]], 2, ["width", "height"])
    ['width', 'height']
    """
    names = [] if name is None else [str(one) for one in name]
    if isinstance(name, str):
        names = [name] if n_parts == 1 else name.split(", ")
    elif name and len(name) != n_parts:
        raise InputError(
            f"`target_name` should hold one name for each column of the target, {n_parts} in all; "
            f"got {len(name)}: {list(name)}."
        )
    # Looked for in the class: rows and columns of a pandas table are attributes, too.
    for attribute in ("column_names", "columns"):
        if hasattr(type(target), attribute):
            return [str(column) for column in getattr(target, attribute)]
    if name and len(names) == n_parts:
        return names
    if n_parts > 1:
        return [f"{name or 'y'}{i}" for i in range(n_parts)]
    own = target.name if hasattr(type(target), "name") else None
    return ["y" if own is None or own == "" else str(own)]


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
    excluded = {problem.table.names[c]: EXCLUDED for c in problem.exclude}
    reasons = {**excluded, **{str(k): str(reason) for k, reason in left_out.items()}}
    part = problem.response.parts[0]
    rows = rows_with_weight(problem.weights, problem.table.n_rows)
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


def python_code(path: SelectionPath, data: Any, target: Sequence[str]) -> str:
    """Return the call of `select` that found a path, defaults left out.

    `target` has the columns of the response; none if its values were given.

    Examples
    --------
    >>> path = SelectionPath([], method="jmi", ceiling=1.0, n_candidates=3,
    ...                      options={"n_features_to_select": 5, "exclude": ["id"], "bins": 10})
    >>> print(python_code(path, "people.csv", ["income"]))
    from orthoselect import select
    <BLANKLINE>
    path = select('people.csv', 'income', 5, 'jmi', exclude=['id'], bins=10)
    """
    arguments = [
        repr(str(data)) if isinstance(data, (str, Path)) else "data",
        target_in_code(target),
        repr_of(path.options.get("n_features_to_select", len(path))),
        repr(path.method),
    ]
    # Weights that were given as an array go by their argument's name.
    given = path.options.get("sample_weight") == "given"
    settings = settings_of(path, without={"n_features_to_select", *(["sample_weight"] * given)})
    arguments += [*settings, *(["sample_weight=sample_weight"] * given)]
    call = call_of("select", arguments, "path")
    return "\n".join(["from orthoselect import select", *sorted(option_imports(path)), "", call])
