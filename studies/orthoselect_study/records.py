"""What a task is, and what it leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orthoselect
from orthoselect.lazy import lazy
from orthoselect_study.chance import digest

# Raised whenever a number would come out differently for the same key.
SCHEMA = 3


class Row(NamedTuple):
    """One number.

    Fields that do not apply are empty: "" for text, None for numbers.

    Attributes
    ----------
    dataset, method : str
    batch, repeat, fold : int or None
        Of simulations and of cross-validation.
    n_features : int or None
        With how many features.
    measure : str
        What `value` is: "train", "validation", "found", "seconds", ...
    value : float
    note : str
    """

    dataset: str = ""
    method: str = ""
    batch: int | None = None
    repeat: int | None = None
    fold: int | None = None
    n_features: int | None = None
    measure: str = ""
    value: float = float("nan")
    note: str = ""


Work = Callable[[dict[str, Any], Any], list[Row]]


@dataclass(frozen=True)
class Task:
    """One piece of work: it is given its arguments and its data, and nothing else.

    So the key, made from both, holds everything that a result depends on.

    Attributes
    ----------
    experiment : str
    arguments : mapping
        Plain values; the seed is among them.
    data : StudyData or None
    cost : float
        About how long it takes, in seconds; for the time left only.
    """

    experiment: str
    arguments: dict[str, Any]
    data: Any = None
    cost: float = 1.0

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
    """The tasks of an experiment, and what is to be said of its data.

    Attributes
    ----------
    tasks : list of Task
    data : list of dict
        Facts of each data set.
    missing, damaged : mapping
        Why a data set is not to be had; what is wrong with the copy that is there.
    facts : mapping
        Plain values that tables need: methods in order, numbers of features, and so on.
    """

    tasks: list[Task]
    data: list[dict[str, Any]] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    damaged: dict[str, str] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Results:
    """The rows of one run of an experiment, and nothing of any other.

    Attributes
    ----------
    rows : sequence of Row
    facts, data, missing, damaged
        As in the `Plan`.
    settings : mapping
        What the run was asked for.
    expected, found : int
        Tasks of the plan, and those that have results.
    """

    rows: Sequence[Row]
    facts: dict[str, Any]
    data: list[dict[str, Any]]
    missing: dict[str, str]
    damaged: dict[str, str]
    settings: dict[str, Any]
    expected: int
    found: int

    def where(self, **wanted: Any) -> list[Row]:
        """Return the rows whose fields have these values.

        Examples
        --------
        >>> rows = [Row(method="OLS", measure="found", value=1.0), Row(method="MIM")]
        >>> [row.value for row in Results(rows, {}, [], {}, {}, {}, 1, 1).where(method="OLS")]
        [1.0]
        """
        fields = list(wanted.items())
        rows: Sequence[Row] = self.rows
        if "measure" in wanted:
            rows = self._by_measure.get((wanted["measure"], wanted.get("method")), [])
        return [row for row in rows if all(getattr(row, k) == v for k, v in fields)]

    @lazy
    def _by_measure(self) -> dict[tuple[str, str | None], list[Row]]:
        """Rows by measure and method, and by measure alone."""
        found: dict[tuple[str, str | None], list[Row]] = {}
        for row in self.rows:
            found.setdefault((row.measure, row.method), []).append(row)
            found.setdefault((row.measure, None), []).append(row)
        return found

    def absent(self) -> dict[str, tuple[str, str]]:
        """Return the data sets without results, each with a word for its state and the reason."""
        return {
            **{name: ("missing", why) for name, why in self.missing.items()},
            **{name: ("damaged", why) for name, why in self.damaged.items()},
        }

    def methods(self) -> list[str]:
        """Return the methods that have results, in the order of the plan."""
        seen = {row.method for row in self.rows}
        return [name for name in self.facts.get("methods", []) if name in seen]

    def datasets(self) -> list[str]:
        """Return the data sets that have results, in the order of the plan."""
        seen = {row.dataset for row in self.rows}
        return [facts["name"] for facts in self.data if facts["name"] in seen]
