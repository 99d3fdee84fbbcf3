"""The answer in a sentence or two."""

from __future__ import annotations

from dataclasses import dataclass

from orthoselect.encode import Labels, Response
from orthoselect.result import SelectionPath
from orthoselect.show.plain import percent

# Methods whose gains are shares of a whole; "err" takes its share of y'y, nothing centered.
_SHARES = {"socc", "socc_discretized", "err"}


@dataclass(frozen=True)
class Reached:
    """Sums of squared canonical correlations: of the first feature alone, and of all selected."""

    first: float
    all: float


def answer(path: SelectionPath, response: Response, names: list[str], reached: Reached) -> str:
    """Say what was selected and how much of the response it explains.

    Parameters
    ----------
    path : SelectionPath
    response : Response
    names : list of str
        What the columns of the response are called.
    reached : Reached
    """
    if not len(path):
        why = path.stopped or "there was nothing to choose."
        return f"None of {_features(path.n_candidates)} was selected: {why}"
    sentences = [_selected(path, response, names, reached)]
    if path.stopped == "interrupted.":
        sentences.append("The search was interrupted before it had as many features as asked for.")
    elif path.stopped:
        sentences.append(f"The search stopped there: {path.stopped}")
    return " ".join(sentences)


def _selected(path: SelectionPath, response: Response, names: list[str], reached: Reached) -> str:
    t, what = len(path), _whole(path.method, response, names)
    of = f"{t} of {_features(path.n_candidates)}"
    if not response.m:
        were = "was" if t == 1 else "were"
        return f"{of} {were} selected by {path.method}, but {_listed(names)} is constant: {what}."
    if path.method in _SHARES:
        most = path.ceiling or 1.0
        share, first = path.total / most, path[0].gain / most
    else:
        share, first = reached.all / response.m, reached.first / response.m
    by = "" if path.method == "socc" else f", selected by {path.method},"
    if t == 1:
        return f"{of}, {path[0].name}{by or ','} explains {percent(share)} of {what}."
    return (
        f"{of}{by} explain {percent(share)} of {what}; "
        f"the first, {path[0].name}, alone explains {percent(first)}."
    )


def _features(n: int) -> str:
    return "1 feature" if n == 1 else f"{n} features"


def _whole(method: str, response: Response, names: list[str]) -> str:
    """Say what shares are shares of."""
    if not response.m:
        return "there is nothing to explain"
    listed = _listed(names)
    if method == "err":
        return f"the sum of squares of {listed}"
    if all(isinstance(part, Labels) for part in response.parts):
        if len(names) > 1:
            return f"what separates the classes of {listed}"
        return f"what separates the {len(response.classes[0])} classes of {listed}"
    return f"the variance of {listed}" if len(names) == 1 else f"what varies in {listed}"


def _listed(names: list[str]) -> str:
    shown = names if len(names) <= 4 else [*names[:3], f"{len(names) - 3} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
