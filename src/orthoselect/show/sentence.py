"""The answer in a sentence or two."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthoselect.encode import Labels, Response
from orthoselect.result import SelectionPath
from orthoselect.roles import Problem

# Methods whose gains are shares of their ceiling.
_SHARES = {"socc", "socc_discretized", "err"}
# Methods that center nothing: what they explain is explained of squares, the mean's included.
_SQUARES = {"err": "sum of squares", "mser": "mean square"}


@dataclass(frozen=True)
class Reached:
    """Sums of squared canonical correlations: of the first feature alone, and of all selected."""

    first: float
    all: float


def answer(path: SelectionPath, problem: Problem, names: list[str], reached: Reached) -> str:
    """Say what was selected and how much of the response it explains.

    Parameters
    ----------
    path : SelectionPath
    problem : Problem
    names : list of str
        What the columns of the response are called.
    reached : Reached
    """
    if not len(path):
        why = path.stopped or "there was nothing to choose."
        return f"None of {_features(path.n_candidates)} was selected: {why}"
    sentences = [_selected(path, problem, names, reached)]
    if path.stopped == "interrupted.":
        sentences.append("The search was interrupted before it had as many features as asked for.")
    elif path.stopped:
        sentences.append(f"The search stopped there: {path.stopped}")
    return " ".join(sentences)


def _selected(path: SelectionPath, problem: Problem, names: list[str], reached: Reached) -> str:
    response = problem.response
    t, of = len(path), f"{len(path)} of {_features(path.n_candidates)}"
    if not response.m and path.method not in _SQUARES:
        were = "was" if t == 1 else "were"
        return (
            f"{of} {were} selected by {path.method}, but {_listed(names)} is constant: there is "
            f"nothing to explain."
        )
    first, all_ = _shares(path, problem, reached)
    what = _whole(path, response, names)
    by = "" if path.method == "socc" else f", selected by {path.method},"
    if t == 1:
        return f"{of}, {path[0].name}{by or ','} explains {percent(all_)} of {what}."
    return (
        f"{of}{by} explain {percent(all_)} of {what}; "
        f"the first, {path[0].name}, alone explains {percent(first)}."
    )


def _shares(path: SelectionPath, problem: Problem, reached: Reached) -> tuple[float, float]:
    """Return the shares that the first feature and that all selected explain."""
    if path.method in _SHARES:
        return path[0].gain / (path.ceiling or 1.0), path.total / (path.ceiling or 1.0)
    if path.method == "mser":
        most = _mean_square(problem) or 1.0
        return path[0].gain / most, path.total / most
    return reached.first / problem.response.m, reached.all / problem.response.m


def _mean_square(problem: Problem) -> float:
    parts = problem.response.parts
    columns = [p.codes if isinstance(p, Labels) else p[:, 0] for p in parts]
    return sum(float(np.average(y.astype(float) ** 2, weights=problem.weights)) for y in columns)


def _features(n: int) -> str:
    return "1 feature" if n == 1 else f"{n} features"


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


def percent(share: float) -> str:
    """Write a share for people.

    Examples
    --------
    >>> percent(0.7716)
    '77.2 %'
    """
    return f"{100 * min(max(share, 0.0), 1.0):.1f} %"
