"""A path walked again, to see what each step was chosen from.

The path knows what was asked for; the table and the response are opened again, and the criterion is
started again. Before each step its gains are those that the features competed with.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.criteria import Criterion
from orthoselect.errors import InputError, SelectionWarning, UnknownColumnError
from orthoselect.matrix.base import Floats
from orthoselect.matrix.threads import single_threaded_blas
from orthoselect.methods import GENERAL, find_method
from orthoselect.problem import Problem, check_has_rows, open_problem
from orthoselect.read import find_file, why_not_whole
from orthoselect.result import SelectionPath, SelectionStep
from orthoselect.search import SEARCHES
from orthoselect.selection import begin

# What every method is asked; the other options of a path are the method's own.
ASKED = frozenset(
    {*GENERAL, "n_features_to_select", "include", "exclude", "search"}
    | {"missing", "dates", "alpha", "n_permutations", "permute_within", "random_state", "p_values"}
    | {"time_limit"}
    | {option for search in SEARCHES.values() for option in search.options}
)
_ROLES = (
    *("task", "response_encoding", "categorical_features", "groups"),
    *("include", "exclude", "missing", "dates"),
)
# A runner-up this close to the winner, as a share of its gain, was nearly chosen.
NEAR = 0.05
_RUNNERS_UP = 5
# Criteria whose scores, once something is selected, are no gains: nothing says what zero means.
_NO_ZERO = frozenset({"jmi", "disr", "mrmr_difference", "mrmr_quotient", "cife", "icap"})
# Gains of the same selection may differ so much, in shares of the largest, by rounding.
_SAME = 1e-3

RunnerUp = tuple[int, float, float | None]


@dataclass(frozen=True)
class Replay:
    """What a path was chosen from.

    Attributes
    ----------
    problem : Problem
    criterion : Criterion
    design : what the criterion works on
    places : list of int
        The selected features by their places among all.
    relevance : array of shape (number of features,)
        What each feature would add to nothing; nan for one that cannot be taken.
    gains : array of shape (number of features,)
        What each would add to all selected; nan for those, and where it cannot be taken.
    near : boolean array of shape (number of features,)
        Which are not on the path but came within `NEAR` of the winner of a step.
    runners_up : list of lists of (int, float, float or None)
        For each step the best features besides the one taken, best first; those that were taken
        later are among them. Each with its place, what it would have added, and by which share of
        its gain (beyond chance, where features have several columns) the winner was ahead:
        negative where the winner had been included and was not the best, None where that says
        nothing.
    warnings : list of str
        What was warned of on the way, as when the path was found.
    """

    problem: Problem
    criterion: Criterion
    design: Any
    places: list[int]
    relevance: Floats
    gains: Floats
    near: NDArray[np.bool_]
    runners_up: list[list[RunnerUp]]
    warnings: list[str] = field(default_factory=list)


def replay(path: SelectionPath, data: Any, target: Any, sample_weight: Any = None) -> Replay:
    """Open what the path was found on and walk it again; what does not fit raises."""
    weighted = path.options.get("sample_weight") is not None
    if weighted and sample_weight is None:
        raise InputError(
            "the path was found with row weights, which it does not keep; pass the same ones as "
            "`sample_weight`."
        )
    if sample_weight is not None and not weighted:
        raise InputError(
            "the path was found without row weights; leave `sample_weight` out, or select again "
            "with it."
        )
    check_has_rows(data, "a report")
    data = find_file(data)
    if why_not_whole(data) is not None:
        raise InputError(
            "a report should have the table in memory, to draw its rows; got one in blocks. Pass a "
            "sample of the rows, and the path that was found on it."
        )
    own = {name: value for name, value in path.options.items() if name not in ASKED}
    roles = {name: path.options[name] for name in _ROLES if name in path.options}
    if (within := path.options.get("permute_within")) not in (None, "given"):
        roles["permute_within"] = within  # no feature
    with warnings.catch_warnings(record=True) as heard, single_threaded_blas():
        warnings.simplefilter("always")  # the caller of `select` has seen them; a reader has not
        criterion = find_method(path.method).make(**own)
        roles |= {"keep_whole_weights": criterion.keeps_whole_weights}
        try:
            problem = open_problem(data, target, sample_weight=sample_weight, **roles)
        except UnknownColumnError as error:
            raise _misfit(str(error)) from None
        walked = _walk(path, criterion, problem)
    told = [str(one.message) for one in heard if issubclass(one.category, SelectionWarning)]
    return replace(walked, warnings=list(dict.fromkeys(told)))


def _misfit(what: str) -> InputError:
    return InputError(f"`data` and `target` should be those that the path was found on: {what}")


def _places(path: SelectionPath, features: Any, problem: Problem) -> list[int]:
    """Return where the steps' features are among all; they should have the same columns."""
    if len(features) != path.n_candidates:
        raise _misfit(f"it chose from {path.n_candidates} features, and these are {len(features)}.")
    found: list[int] = []
    for step in path:
        try:
            parts = [c for column in step.columns for c in problem.readings.parts_of(column)]
            places = features.places(parts)
        except KeyError:
            places = []
        feature = features[places[0]] if len(places) == 1 else None
        columns = () if feature is None else problem.origins(feature.columns)
        if feature is None or (feature.name, columns) != (step.name, step.columns):
            there = "no feature of its own" if feature is None else f"`{feature.name}`"
            raise _misfit(f"`{step.name}`, column {step.feature} of the table, is {there} here.")
        found += places
    return found


def _walk(path: SelectionPath, criterion: Criterion, problem: Problem) -> Replay:
    # As many as the search went for: some methods plan for that many.
    wanted = path.options.get("n_features_to_select", max(len(path), 1))
    wanted = max(len(path), 1) if wanted == "auto" else wanted
    for_sets = SEARCHES[path.options.get("search", "forward")].compares_sets
    problem, design, included, _, state = begin(
        find_method(path.method), criterion, problem, wanted, for_sets=for_sets
    )
    n_included = len(included)
    features, places = design.features, _places(path, design.features, problem)
    relevance = gains = state.gains()
    off_path = np.ones(len(features), dtype=bool)
    off_path[places] = False
    near, runners_up = np.zeros(len(features), dtype=bool), []
    for number, f in enumerate(places):
        merits = gains - _by_chance(path[number], design, f)
        winner = float(merits[f])
        runners_up.append(_runners_up(gains, merits, places[: number + 1], winner))
        if number >= n_included:
            zero = 0.0 if not number or path.method not in _NO_ZERO else np.nanmin(merits)
            near |= off_path & _close(merits, winner, zero)
        _check_same(path, number, state.add(f))
        gains = state.gains()
    return Replay(problem, criterion, design, places, relevance, gains, near, runners_up)


def _by_chance(step: SelectionStep, design: Any, winner: int) -> Floats | float:
    """Return what each feature would have gained by chance at a step, by its columns.

    Features compete with what they gain beyond that, where the step knows it.
    """
    if step.chance is None:
        return 0.0
    widths = np.ones(len(design.features))
    for f, columns in design.wide.items():
        widths[f] = max(len(columns), 1)
    return step.chance / widths[winner] * widths


def _runners_up(
    gains: Floats, merits: Floats, taken: Sequence[int], winner: float
) -> list[RunnerUp]:
    """Return the features that are not taken and come next by their merits."""
    left = merits.copy()
    left[taken] = np.nan
    rivals = np.flatnonzero(~np.isnan(left))
    if len(rivals) > _RUNNERS_UP:
        least = -np.partition(-merits[rivals], _RUNNERS_UP - 1)[_RUNNERS_UP - 1]
        rivals = rivals[merits[rivals] >= least]
    best = rivals[np.argsort(-merits[rivals], kind="stable")[:_RUNNERS_UP]]
    compared = 0.0 < winner < math.inf
    return [
        (f, gain, 1.0 - max(merit, 0.0) / winner if compared and gain < math.inf else None)
        for f, gain, merit in zip(best.tolist(), gains[best].tolist(), merits[best].tolist())
    ]


def _close(gains: Floats, winner: float, zero: float) -> NDArray[np.bool_]:
    """Return which gains are nearly the winner's; a gain of nothing is close to nothing."""
    if not zero < winner < math.inf:
        return np.zeros(len(gains), dtype=bool)
    with np.errstate(invalid="ignore"):
        return (gains - zero >= (1 - NEAR) * (winner - zero)) & (gains < math.inf)


def _check_same(path: SelectionPath, number: int, gain: float) -> None:
    """Raise if a step added something else when the path was found."""
    found, gains = path[number].gain, path.gains
    largest = max((abs(other) for other in gains if math.isfinite(other)), default=0.0)
    if found != gain and not abs(found - gain) <= _SAME * largest:
        raise _misfit(
            f"step {number + 1}, `{path[number].name}`, added {found:.6g} when the path was found "
            f"and adds {gain:.6g} here."
        )
