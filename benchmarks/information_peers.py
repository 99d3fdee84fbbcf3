"""Other libraries' information criteria, each behind the same two steps: prepare, then fit.

As in `benchmarks.methods`, what a peer's user would have at hand is prepared outside the measured
time: a dense copy of whole numbers, a data frame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks import methods
from benchmarks.lazy_cmim import lazy_cmim

OURS = "orthoselect"
_SKFEATURE = "skfeature.function.information_theoretical_based"

Fit = Callable[[], list[int]]


@dataclass(frozen=True)
class Criterion:
    """One of our criteria.

    Attributes
    ----------
    name : str
        What the page calls it.
    method : str
        What `orthoselect.select` calls it.
    options : mapping
        Options of the method's own.
    """

    name: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Problem:
    """What is given: levels X of shape (N, n), classes y, features to select, threads."""

    X: Any
    y: np.ndarray
    t: int
    threads: int

    @property
    def dense(self) -> np.ndarray:
        """X as an array of whole numbers, as peers want them."""
        return (self.X if isinstance(self.X, np.ndarray) else self.X.toarray()).astype(np.int64)


@dataclass(frozen=True)
class Peer:
    """A library.

    Attributes
    ----------
    names : mapping
        Our name of a criterion -> its own; those that it has.
    prepare : callable
        Problem and its own name -> a function of no arguments, whose run is measured.
    same_criterion : bool
        Whether its criteria are ours by name, so that selections may be compared.
    """

    name: str
    title: str
    names: Mapping[str, str]
    prepare: Callable[[Problem, str], Fit]
    same_criterion: bool = True


def _orthoselect(problem: Problem, name: str) -> Fit:
    from orthoselect import select

    criterion = BY_CRITERION[name]

    def fit() -> list[int]:
        path = select(problem.X, problem.y, problem.t, method=criterion.method, **criterion.options)
        return [step.feature for step in path]

    return fit


def _mrmr(problem: Problem, _: str) -> Fit:
    same = methods.Problem(problem.dense, problem.y, problem.t, problem.threads)
    fit = methods.BY_NAME["mrmr"].prepare(same)
    return lambda: fit().selected


def _skfeature(problem: Problem, name: str) -> Fit:
    function = getattr(import_module(f"{_SKFEATURE}.{name.upper()}"), name)
    X, y = problem.dense, problem.y
    return lambda: [int(j) for j in function(X, y, mode="index", n_selected_features=problem.t)]


def _itmo(problem: Problem, name: str) -> Fit:
    from ITMO_FS.filters.multivariate import MultivariateFilter

    X, y = problem.dense, problem.y

    def fit() -> list[int]:
        selector = MultivariateFilter(name, problem.t)
        selector.fit(X, y)
        return [int(j) for j in selector.selected_features]

    return fit


def _lazy_loop(problem: Problem, _: str) -> Fit:
    X = problem.dense.astype(np.uint8)
    lazy_cmim(X[:2, :2], problem.y[:2], 1)  # compiled beforehand
    return lambda: lazy_cmim(X, problem.y, problem.t)


UNCAPPED = "cmim, not capped"
CRITERIA = (
    *(Criterion(name, name) for name in ("mim", "mrmr_difference", "mrmr_quotient", "jmi")),
    Criterion("cmim", "cmim"),
    Criterion(UNCAPPED, "cmim", {"capped": False}),  # peers' form
    *(Criterion(name, name) for name in ("cife", "icap", "disr")),
)
BY_CRITERION = {criterion.name: criterion for criterion in CRITERIA}

_COMMON = {
    "mim": "mim",
    "mrmr_difference": "mrmr",
    "jmi": "jmi",
    UNCAPPED: "cmim",
    "cife": "cife",
    "icap": "icap",
}
PEERS = (
    Peer(OURS, "orthoselect", {name: name for name in BY_CRITERION}, _orthoselect),
    Peer("lazy_c", "lazy loop in C, one thread", {"cmim": "cmim"}, _lazy_loop),
    Peer("mrmr", "mrmr_selection", {"mrmr_quotient": "mrmr"}, _mrmr, same_criterion=False),
    Peer("skfeature", "scikit-feature", _COMMON | {"disr": "disr"}, _skfeature),
    Peer("itmo_fs", "ITMO_FS", {ours: own.upper() for ours, own in _COMMON.items()}, _itmo),
)
BY_PEER = {peer.name: peer for peer in PEERS}
