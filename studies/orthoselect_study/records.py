"""What a task is, what it leaves behind, and the names and chance that its key stands for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

import orthoselect

# Raised whenever a number would come out differently for the same key.
SCHEMA = 3

# Data sets without results, each with its state, "missing" or "damaged", and the reason.
Absent = dict[str, tuple[str, str]]

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Row(NamedTuple):
    """One number; fields that do not apply are empty: "" for text, None for numbers."""

    dataset: str = ""
    method: str = ""
    batch: int | None = None  # of simulations, as `repeat` is
    repeat: int | None = None
    fold: int | None = None
    n_features: int | None = None
    measure: str = ""  # what `value` is: "train", "held", "found", "seconds", ...
    value: float = float("nan")
    note: str = ""


@dataclass(frozen=True)
class Task:
    """One piece of work: it is given its arguments and its data, and nothing else.

    So the key, made from both, holds everything that a result depends on.
    """

    experiment: str
    arguments: dict[str, Any]  # plain values; the seed is among them
    data: Any = None
    cost: float = 1.0  # about how many seconds it takes; for the time left only

    @property
    def key(self) -> dict[str, Any]:
        """Everything that the result depends on, as plain values."""
        return {
            "schema": SCHEMA,
            "orthoselect": orthoselect.__version__,
            "experiment": self.experiment,
            "data": None if self.data is None else self.data.fingerprint,
            **self.arguments,
        }

    @property
    def name(self) -> str:
        """The key in 16 letters."""
        return digest(self.key)

    @property
    def label(self) -> str:
        """What a progress bar shows."""
        parts = [self.experiment]
        parts += [str(self.arguments[k]) for k in ("dataset", "method") if k in self.arguments]
        return " ".join(parts)


@dataclass(frozen=True)
class Plan:
    """The tasks of an experiment, and what is to be said of its data."""

    tasks: list[Task]
    data: list[dict[str, Any]] = field(default_factory=list)  # facts of each data set
    absent: Absent = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)  # what tables need: methods, folds, ...


@dataclass(frozen=True)
class Results:
    """The rows of one run of an experiment, and nothing of any other."""

    rows: Sequence[Row]
    facts: dict[str, Any]  # this and the next two as in the `Plan`
    data: list[dict[str, Any]]
    absent: Absent
    expected: int  # tasks of the plan
    found: int  # those that have results

    def where(self, **wanted: Any) -> list[Row]:
        """Return the rows whose fields have these values."""
        rows: Sequence[Row] = self.rows
        if "measure" in wanted:
            rows = self._by_measure.get((wanted["measure"], wanted.get("method")), [])
        return [row for row in rows if all(getattr(row, k) == v for k, v in wanted.items())]

    @cached_property
    def _by_measure(self) -> dict[tuple[str, str | None], list[Row]]:
        """Rows by measure and method, and by measure alone."""
        return grouped(
            ((row.measure, method), row) for row in self.rows for method in (row.method, None)
        )

    def methods(self) -> list[str]:
        """Return the methods that have results, in the order of the plan."""
        seen = {row.method for row in self.rows}
        return [name for name in self.facts.get("methods", []) if name in seen]


def grouped(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, list[_Value]]:
    """Return the values of each key, both in the order in which they come."""
    groups: dict[_Key, list[_Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def digest(value: Any) -> str:
    """Return 16 letters that stand for a plain value; the order of keys does not matter."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def generator(*purpose: Any) -> np.random.Generator:
    """Return random numbers for a purpose, whatever the order or number of processes."""
    return np.random.default_rng(_seeds(purpose))


def seed_for(*purpose: Any) -> int:
    """Return a seed as scikit-learn takes them, for a purpose."""
    return int(_seeds(purpose).generate_state(1)[0] >> 1)


def _seeds(purpose: tuple[Any, ...]) -> np.random.SeedSequence:
    return np.random.SeedSequence(int(digest(list(purpose)), 16))
