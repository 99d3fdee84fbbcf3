"""Which terms a model has: a path of `select`, also where the target is sampled very fast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from orthoselect.dynamics.lagged_terms import LaggedTerms
from orthoselect.encode.lagged import LaggedSignals, lagged_name
from orthoselect.errors import InputError, OversampledWarning, SearchStoppedWarning, warn
from orthoselect.matrix.base import Floats
from orthoselect.result import Certificate, SelectionPath, SelectionStep, SizedSet
from orthoselect.selection import select

# With no more than this left by y(k-1) alone, ERR of the other terms have few digits.
_LITTLE = 1e-4


def select_terms(
    signals: LaggedSignals,
    responses: Floats,
    size: int,
    criterion: str,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    search: str = "forward",
    weights: Floats | None = None,
) -> SelectionPath:
    """Select terms for responses of one value for each time, (outputs, T).

    Where y(k-1) alone explains nearly all, a warning says so. By "err", terms are then selected for
    y(k) - y(k-1) with y(k-1) included. Both y are the same beyond y(k-1), so the terms are those
    that y(k) would give if numbers had more digits, and so are their ERR. A search of sets looks at
    those with y(k-1).
    """
    terms = LaggedTerms.of(signals, list(responses))
    asked: dict[str, Any] = {
        "method": criterion,
        "task": "regression",
        "exclude": list(exclude) or None,
        "sample_weight": weights,
        "search": search,
    }
    last = lagged_name(signals.names[0], 1)
    alone = _share_of(last, signals, responses, weights)
    if len(responses) > 1 or 1 - alone > _LITTLE or last in exclude:
        return _selected(terms, size, include, asked)
    can = criterion == "err"
    first = include[0] if include else last
    done = can and first == last
    warn(OversampledWarning(last, alone, done, first if can and not done else None))
    if not done:
        return _selected(terms, size, include, asked)
    y = responses[0]
    steps = np.append(0.0, np.diff(y))
    path = _selected(
        terms.explaining([steps]), size, [last, *(n for n in include if n != last)], asked
    )
    at = terms.rows
    w = np.ones(len(at)) if weights is None else weights[at]
    ratio = float((w * steps[at] ** 2).sum() / (w * y[at] ** 2).sum())
    # Beyond y(k-1) shares of the change are so many shares of the target.
    by_last = path[0].gain

    def of_target(total: float) -> float:
        return alone + (total - by_last) * ratio

    gains = [alone, *(step.gain * ratio for step in path[1:])]
    totals = list(accumulate(gains))
    found = [replace(s, gain=g, total=t) for s, g, t in zip(path, gains, totals)]
    about = path.certificate
    if about is not None:
        bound = None if about.bound is None else of_target(about.bound)
        about = replace(
            about,
            value=of_target(about.value),
            bound=bound,
            greedy_total=of_target(about.greedy_total),
        )
    sets = [replace(one, total=of_target(one.total)) for one in path.by_size]
    return _remade(path, found, sets if about else None, about)


def path_of_set(
    path: SelectionPath, size: int, walk: Callable[[Sequence[str]], SelectionPath]
) -> SelectionPath:
    """Return the path of the best set of a size.

    A forward path has it in its first steps, and stays whole; sets of other searches are walked by
    themselves.

    Parameters
    ----------
    path : SelectionPath
        Of the largest size.
    size : int
    walk : callable
        Selects, as the path was selected, among terms of some names.
    """
    if path.certificate is None or size == len(path):
        return path
    sets = [one for one in path.by_size if one.size <= size]
    return _remade(path, list(walk(sets[-1].names)), sets, None)


def _remade(
    path: SelectionPath,
    steps: Sequence[SelectionStep],
    sets: Sequence[SizedSet] | None,
    about: Certificate | None,
) -> SelectionPath:
    facts = {name: getattr(path, name) for name in ("ceiling", "n_candidates", "stopped", "stats")}
    return SelectionPath(
        steps, method=path.method, options=path.options, by_size=sets, certificate=about, **facts
    )


def _selected(
    terms: LaggedTerms, size: int, include: Sequence[str], asked: dict[str, Any]
) -> SelectionPath:
    left = len(terms.names) - len(asked["exclude"] or ())
    if left < 1:
        raise InputError(
            f"`exclude` should leave a term to select; it names all {len(terms.names)}. Exclude "
            f"fewer."
        )
    size = max(min(size, left), len(include))
    with catch_warnings():
        # That there is nothing left to explain is in the path; an order is chosen anyway.
        simplefilter("ignore", SearchStoppedWarning)
        return select(terms, None, size, include=list(include) or None, **asked)


def _share_of(
    name: str, signals: LaggedSignals, responses: Floats, weights: Floats | None
) -> float:
    """Return what y(k-1) explains of y(k) by itself, 0 if it is no factor."""
    at = signals.at
    if len(responses) > 1 or name not in signals.factor_names or not len(at):
        return 0.0
    w = np.ones(len(at)) if weights is None else weights[at]
    y, before = responses[0][at], signals.values[0][at - 1]
    squares = float((w * y * y).sum() * (w * before * before).sum())
    return float((w * y * before).sum() ** 2 / squares) if squares > 0 else 0.0
