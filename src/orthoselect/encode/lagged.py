"""Signals over time as a table of terms: products of the signals at several lags.

In come signals, the lags of each and where sessions begin and end; out goes a table whose columns
are the terms, none of which is written out (`matrix/terms.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from orthoselect.encode.table import Table
from orthoselect.errors import InputError
from orthoselect.lazy import lazy
from orthoselect.matrix import Matrix, TermMatrix
from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.terms import Factor, Term, count_terms, list_terms, term_names, valid_times

MOST_TERMS = 1_000_000
_MOST_LAGS = 1_000_000
_POWER = re.compile(
    r"(?:\^([1-9]\d?))?(?:\s*\*\s*|\s+|$)"
)  # what follows a factor in a term's name


@dataclass(frozen=True)
class LaggedSignals:
    """Signals, which lags of them are factors, and the sessions they were recorded in.

    Attributes
    ----------
    names : tuple of str
    values : array of shape (signals, T)
    lags : tuple of tuples of int
        The lags of each signal that are factors.
    degree : int
        The most factors of a term.
    sessions : tuple of (start, stop)
        Times that follow each other without a gap; no term reaches from one into another.
    constant : bool
        Whether the constant 1 is a term.
    """

    names: tuple[str, ...]
    values: Floats
    lags: tuple[tuple[int, ...], ...]
    degree: int
    sessions: tuple[tuple[int, int], ...]
    constant: bool = True

    @lazy
    def factors(self) -> list[Factor]:
        """The signal and the lag of each factor."""
        return [(s, lag) for s, lags in enumerate(self.lags) for lag in lags]

    @property
    def longest(self) -> int:
        """The longest lag."""
        return max((lag for _, lag in self.factors), default=0)

    @lazy
    def at(self) -> Indices:
        """The times of the rows: those whose lags all lie in their own session, (N,)."""
        return valid_times(self.sessions, self.longest)

    @lazy
    def terms(self) -> list[Term]:
        """The factors of each term, by their places."""
        return list_terms(len(self.factors), self.degree, constant=self.constant)

    @lazy
    def factor_names(self) -> list[str]:
        """What to call each factor: ``y(k-1)``, ``u(k)``."""
        return [lagged_name(self.names[s], lag) for s, lag in self.factors]

    @lazy
    def term_names(self) -> list[str]:
        """What to call each term: ``y(k-1) u(k)^2``."""
        return term_names(self.terms, self.factor_names)

    def own_name(self, name: str) -> str:
        """Return what a term is called whose factors are written in another order.

        What cannot be read as a product of factors is returned as it is.
        """
        powers: dict[int, int] = {}
        by_length = sorted(range(len(self.factors)), key=lambda f: -len(self.factor_names[f]))
        rest = name.strip()
        while rest:
            f = next((f for f in by_length if rest.startswith(self.factor_names[f])), None)
            if f is None:
                return name
            power = _POWER.match(rest[len(self.factor_names[f]) :])
            if power is None:
                return name
            powers[f] = powers.get(f, 0) + int(power[1] or 1)
            rest = rest[len(self.factor_names[f]) + power.end() :]
        term = tuple(f for f in sorted(powers) for _ in range(powers[f]))
        return term_names([term], self.factor_names)[0] if term else name

    def matrix(self) -> TermMatrix:
        """Return the terms as a matrix."""
        given = self.values, self.factors, self.degree, self.at
        return TermMatrix(*given, constant=self.constant)

    def table(self) -> TermTable:
        """Return the terms as a table to select from."""
        n = len(self.terms)
        return TermTable(
            n_rows=len(self.at),
            names=self.term_names,
            numeric=np.empty((0, n)),
            numeric_at=np.arange(n),
            labels={},
            signals=self,
        )


def lagged_name(name: str, lag: int) -> str:
    """Return what to call a signal at a lag.

    Examples
    --------
    >>> lagged_name("u", 0), lagged_name("y", 2)
    ('u(k)', 'y(k-2)')
    """
    return f"{name}(k)" if lag == 0 else f"{name}(k-{lag})"


@dataclass(frozen=True, kw_only=True)
class TermTable(Table):
    """A table whose columns are terms; `numeric` has no rows."""

    has_rows: ClassVar[bool] = False
    why_no_rows: ClassVar[str] = "lagged terms are made a few rows at a time, and never written out"

    signals: LaggedSignals

    def matrix(self, make: Callable[[Table], Matrix], starts: Indices, widths: Indices) -> Matrix:
        return self.signals.matrix()


def as_lags(lags: Any, argument: str, first: int) -> tuple[int, ...]:
    """Return lags as a tuple: a list of them, or the longest, which all from the first on go with.

    Examples
    --------
    >>> as_lags(3, "lags", 1), as_lags([1, 4], "lags", 1), as_lags(0, "lags", 1)
    ((1, 2, 3), (1, 4), ())
    """
    whole = isinstance(lags, (int, np.integer)) and not isinstance(lags, (bool, np.bool_))
    if whole and lags > _MOST_LAGS:
        raise InputError(f"`{argument}` should be shorter than a session; got {lags}.")
    given = range(first, int(lags) + 1) if whole and lags >= 0 else lags
    try:
        found = tuple(int(lag) for lag in given)
        right = all(a == b for a, b in zip(found, given)) and len(set(found)) == len(found)
    except (TypeError, ValueError):
        right = False
    if not right or any(lag < first for lag in found):
        raise InputError(
            f"`{argument}` should be the longest lag, a whole number, or a list of different lags "
            f"from {first} on; got {lags!r}."
        )
    return tuple(sorted(found))


def as_input_lags(lags: Any, argument: str, delay: int) -> tuple[int, ...]:
    """Return the lags of an input, at least one.

    Examples
    --------
    >>> as_input_lags(2, "u_lags", 0)
    (0, 1, 2)
    """
    found = as_lags(lags, argument, delay)
    if not found:
        raise InputError(
            f"`{argument}` should leave inputs a lag; {lags!r} with a delay of {delay} leaves "
            f"none. Use longer lags or a shorter delay, or leave the inputs out."
        )
    return found


def check_degree(degree: Any) -> int:
    """Return the degree if it is a whole number of at least one."""
    whole = isinstance(degree, (int, np.integer)) and not isinstance(degree, (bool, np.bool_))
    if not whole or degree < 1:
        raise InputError(f"`degree` should be a whole number of at least 1; got {degree!r}.")
    return int(degree)


def find_sessions(sessions: Any, n_rows: int, values: Floats) -> tuple[tuple[int, int], ...]:
    """Return where sessions begin and end; a row with a missing value ends one, and is in none.

    `sessions` are their lengths, a label for each row, or None for a single one; `values` are all
    signals, (signals, n_rows).

    Examples
    --------
    >>> find_sessions([3, 2], 5, np.zeros((1, 5)))
    ((0, 3), (3, 5))
    >>> find_sessions(None, 5, np.array([[1.0, 2.0, np.nan, 4.0, 5.0]]))
    ((0, 2), (3, 5))
    """
    starts = {0} if sessions is None else _starts(sessions, n_rows)
    gaps = np.flatnonzero(np.isnan(values).any(axis=0)).tolist()
    edges = sorted(starts | set(gaps) | {g + 1 for g in gaps} | {n_rows})
    apart = set(gaps)
    return tuple((a, b) for a, b in pairwise(edges) if a not in apart)


def _starts(sessions: Any, n_rows: int) -> set[int]:
    given = np.asarray(sessions)
    whole = given.dtype.kind in "iu"
    if given.ndim == 1 and whole and (given > 0).all() and int(given.sum()) == n_rows:
        return {0, *np.cumsum(given)[:-1].tolist()}
    if given.ndim == 1 and len(given) == n_rows:
        return {0, *(np.flatnonzero(given[1:] != given[:-1]) + 1).tolist()}
    words = f"lengths that add up to {int(given.sum())}" if whole and given.ndim == 1 else "others"
    raise InputError(
        f"`sessions` should be lengths that add up to the {n_rows} rows, or a label for each row; "
        f"got {words} (shape {given.shape})."
    )


def check_rows(signals: LaggedSignals) -> None:
    """Raise where no session is longer than the longest lag, or there are too many terms."""
    n = count_terms(len(signals.factors), signals.degree)
    if n > MOST_TERMS:
        raise InputError(
            f"there should be at most {MOST_TERMS:,} terms; {len(signals.factors)} lagged signals "
            f"to degree {signals.degree} give {n:,}. Use fewer lags or a lower degree."
        )
    if len(signals.at) < 2:
        longest = max((b - a for a, b in signals.sessions), default=0)
        raise InputError(
            f"lags should be shorter than a session; the longest lag is {signals.longest}, and the "
            f"longest session has {longest} rows (a row with a missing value ends one). Use "
            f"shorter lags or longer records."
        )


def check_names(names: Sequence[str]) -> None:
    """Raise for names that stand twice."""
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise InputError(
            f"signals should have different names; `{twice[0]}` occurs twice. Rename one; or, if "
            f"it is the target, leave it out of the inputs."
        )
