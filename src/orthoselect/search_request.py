"""How sets of features are searched, as users ask for it; and what a search tells of its sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from orthoselect.criteria import Criterion
from orthoselect.encode import Features
from orthoselect.encode.response import check_choice
from orthoselect.errors import InputError
from orthoselect.methods import METHODS, Method
from orthoselect.problem import Problem
from orthoselect.result import Certificate, SizedSet
from orthoselect.search import SEARCHES, Search

TIME_LIMIT = 60.0  # seconds that a search may take, if nobody says


def make_search(
    name: str, time_limit: Any, options: Mapping[str, Any]
) -> tuple[Search, dict[str, Any]]:
    """Return the search with its options, and those that are left for the method."""
    kind = SEARCHES[check_choice(name, SEARCHES, "search")]
    is_number = isinstance(time_limit, (int, float, np.number)) and not isinstance(time_limit, bool)
    if not is_number or not time_limit > 0:
        raise InputError(f"`time_limit` should be a number of seconds above 0; got {time_limit!r}.")
    takers = {option: s for s in SEARCHES.values() for option in s.options}
    own = {option: value for option, value in options.items() if option in takers}
    for option in own:
        if option not in kind.options:
            raise InputError(
                f"`{option}` is an option of `search={takers[option].name!r}`; got it with "
                f"`search={name!r}`. Omit it, or choose that search."
            )
    if kind.compares_sets:
        own["time_limit"] = float(time_limit)
    elif time_limit != TIME_LIMIT:
        raise InputError(
            f"`time_limit` is for searches that compare sets ({_set_searches()}); got "
            f"{time_limit!r} with `search={name!r}`. Omit it, or choose one of those."
        )
    return kind(**own), {name: value for name, value in options.items() if name not in own}


def check_search(searcher: Search, method: Method) -> None:
    """Raise for a method that does not offer what the search needs."""
    if not searcher.compares_sets or method.criterion.compares_sets:
        return
    able = [repr(other.name) for other in METHODS.values() if other.criterion.compares_sets]
    raise InputError(
        f"search {searcher.name!r} compares whole sets of features; method {method.name!r} judges "
        f"one feature after the other. Use `search='forward'`, or one of the methods "
        f"{', '.join(able)}."
    )


def check_nested(searcher: Search) -> None:
    """Raise for a search whose sets are no steps of one path, where all sizes are scored."""
    if searcher.compares_sets:
        raise InputError(
            f"`n_features_to_select` 'cv' scores the first so many steps of one path, for every "
            f"size; sets of search {searcher.name!r} are not nested. Use `search='forward'`, or "
            f"give a number."
        )


def _set_searches() -> str:
    return ", ".join(repr(s.name) for s in SEARCHES.values() if s.compares_sets)


def search_options(searcher: Search) -> dict[str, Any]:
    """Return the options that the search has been given."""
    names = ("time_limit", *searcher.options) if searcher.compares_sets else ()
    return {name: getattr(searcher, name) for name in names}


def about_sets(
    searcher: Search, features: Features, problem: Problem, criterion: Criterion
) -> dict[str, Any]:
    """Return what a path tells of sets: nothing, unless the search has compared some."""
    if not searcher.compares_sets:
        return {}
    return {
        "certificate": _certify(searcher, features, criterion),
        "by_size": _sets_by_size(searcher, features, problem),
    }


def _certify(searcher: Search, features: Features, criterion: Criterion) -> Certificate | None:
    """Return what the search knows about its set, by the names of the features."""
    proof, size = searcher.proof, max(searcher.by_size, default=0)
    if proof is None or not size:
        return None
    found, greedy = searcher.by_size[size], searcher.greedy
    return Certificate(
        searcher.name,
        size,
        proof.optimal,
        found.value,
        proof.bound if proof.bound is None else max(proof.bound, found.value),
        proof.n_sets,
        proof.seconds,
        searcher.greedy_total,
        tuple(features[f].name for f in found.features if f not in greedy),
        tuple(features[f].name for f in greedy if f not in found.features),
        proof.note,
        criterion.forward_for_sets,
    )


def _sets_by_size(searcher: Search, features: Features, problem: Problem) -> list[SizedSet] | None:
    """Return the best set of each size, by the columns of the table."""
    if not searcher.by_size:
        return None
    sets = []
    for size, found in sorted(searcher.by_size.items()):
        columns = [min(problem.origins(features[f].columns)) for f in found.features]
        names = [features[f].name for f in found.features]
        sets.append(SizedSet(size, tuple(columns), tuple(names), found.total))
    return sets
