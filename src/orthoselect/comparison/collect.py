"""Outcomes of all methods on all folds -> a Comparison, with failures and warnings told once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from orthoselect.arguments import target_in_code
from orthoselect.comparison.data import ComparedData
from orthoselect.comparison.lineup import Entry
from orthoselect.comparison.models import Model
from orthoselect.comparison.work import Outcome
from orthoselect.errors import InputError, warn, with_text
from orthoselect.result import Comparison, Setting
from orthoselect.result.text import plain
from orthoselect.show.facts import class_counts, spread
from orthoselect.versions import versions


@dataclass
class Collector:
    """What has come of the methods so far.

    Attributes
    ----------
    data : ComparedData
    entries : sequence of Entry
        The methods in the order in which they were asked for, also those left out.
    model : Model
    options : mapping
        The arguments of `compare`, as they were resolved.
    warned : list of str
        What was warned of before the first outcome.
    outcomes : list of Outcome
        In any order; the result does not depend on it.
    """

    data: ComparedData
    entries: Sequence[Entry]
    model: Model
    options: Mapping[str, Any]
    warned: list[str]
    outcomes: list[Outcome] = field(default_factory=list)

    def comparison(self) -> Comparison:
        """Return the comparison as far as it goes."""
        failures = self._failures()
        runs = [o.run for o in self._ordered() if o.run is not None and o.method not in failures]
        methods = [entry.compared(failures.get(entry.name)) for entry in self.entries]
        return Comparison(runs, methods, self._setting())

    def finish(self) -> Comparison:
        """Return the comparison, warn once of each thing, and raise if no method worked."""
        comparison = self.comparison()
        failed = {m.name: m.failed for m in comparison.methods if m.failed is not None}
        if len(failed) == len(comparison.methods):
            reasons = list(dict.fromkeys(failed.values()))
            told = [f"{name}: {reason}" for name, reason in failed.items()]
            words = reasons if len(reasons) == 1 else ["none of the methods works here.", *told]
            raise InputError(" ".join(map(str, words)))
        for warning in self._warnings():
            warn(warning)
        return comparison

    @property
    def _n_folds(self) -> int:
        return self.options["folds"] * self.options["repeats"]

    def _ordered(self) -> list[Outcome]:
        place = {entry.name: k for k, entry in enumerate(self.entries)}
        return sorted(self.outcomes, key=lambda o: (place[o.method], o.fold))

    def _failures(self) -> dict[str, str]:
        """Return why methods failed: the reason on the first such fold, and on how many."""
        reasons: dict[str, list[str]] = {}
        for outcome in self._ordered():
            if outcome.failed is not None:
                reasons.setdefault(outcome.method, []).append(outcome.failed)
        return {
            name: found[0]
            if len(found) == self._n_folds
            else f"on {len(found)} of {self._n_folds} folds: {found[0]}"
            for name, found in reasons.items()
        }

    def _warnings(self) -> list[Warning]:
        """Return each kind of warning once, with the methods and the number of folds it is for.

        Texts that differ only in their numbers, as from fold to fold, are the same.
        """
        heard: dict[tuple[type[Warning], str], list[tuple[Outcome, str]]] = {}
        for outcome in self._ordered():
            for kind, text in outcome.warnings:
                key = kind, re.sub(r"\d+", "#", text)
                heard.setdefault(key, []).append((outcome, text))
        return [
            with_text(kind, f"{found[0][1]} ({self._where([o for o, _ in found])})")
            for (kind, _), found in heard.items()
        ]

    def _where(self, outcomes: list[Outcome]) -> str:
        methods = dict.fromkeys(outcome.method for outcome in outcomes)
        n_folds = len({outcome.fold for outcome in outcomes})
        return f"{', '.join(methods)}; {n_folds} of {self._n_folds} folds"

    def _setting(self) -> Setting:
        warnings = [*self.warned, *(str(warning) for warning in self._warnings())]
        return Setting(
            title=self.data.title,
            target=self.data.target,
            task=self.data.task,
            estimator=self.model.name,
            scoring=self.model.scoring,
            folds=self.options["folds"],
            repeats=self.options["repeats"],
            seed=self.options["random_state"],
            sizes=tuple(self.options["sizes"]),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            data=_data_facts(self.data, warnings),
            reproduce=_how_to_reproduce(self.data, self.options),
        )


def _data_facts(data: ComparedData, warnings: Sequence[str]) -> dict[str, Any]:
    """Return what the data hold, and what was warned of, plain."""
    is_one = data.classes is None and data.y.ndim == 1
    names = data.source.names
    reason = "named in `exclude`"
    return {
        "rows": data.source.n_rows,
        "columns": len(names),
        "classes": None if data.classes is None else class_counts(data.classes),
        "response": spread(data.y, ddof=1) if is_one else None,
        "kinds": data.kinds,
        "left_out": [{"name": names[column], "reason": reason} for column in data.left_out],
        "weighted": False,
        "warnings": list(warnings),
    }


def _how_to_reproduce(data: ComparedData, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is needed to do it again, plain; `options` are the arguments of `compare`."""
    names = data.source.names
    options = {
        **options,
        "groups": {k: [names[c] for c in g] for k, g in data.groups.items()} or None,
        "exclude": [names[column] for column in data.left_out] or None,
    }
    if isinstance(options["categorical_features"], list):
        options["categorical_features"] = [names[c] for c in options["categorical_features"]]
    told = [f"{k}={_code(v)}" for k, v in options.items() if not _is_default(k, v)]
    arguments = [data.file or "data", target_in_code([names[c] for c in data.taken]), *told]
    return {
        "command": None,
        "python": f"orthoselect.compare({', '.join(arguments)})",
        "options": plain(options),
        "seed": options["random_state"],
        "versions": versions("numpy", "scipy", "scikit-learn", "joblib"),
    }


def _is_default(name: str, value: Any) -> bool:
    return (name, value) in (
        ("repeats", 1),
        ("categorical_features", "from_dtype"),
        ("groups", None),
        ("exclude", None),
    )


def _code(value: Any) -> str:
    """Return a value as Python writes it, in one line."""
    return " ".join(repr(value).split()) if not isinstance(value, str) else repr(value)
