"""Outcomes of all methods on all folds -> a Comparison, with failures and warnings told once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from orthoselect.comparison.facts import data_facts, how_to_reproduce
from orthoselect.comparison.lineup import Entry
from orthoselect.comparison.models import Model
from orthoselect.comparison.problem import Problem
from orthoselect.comparison.work import Outcome
from orthoselect.errors import InputError, warn, with_text
from orthoselect.result import Comparison, Setting


@dataclass
class Collector:
    """What has come of the methods so far.

    Attributes
    ----------
    problem : Problem
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

    problem: Problem
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
            title=self.problem.title,
            target=self.problem.target,
            task=self.problem.task,
            estimator=self.model.name,
            scoring=self.model.scoring,
            folds=self.options["folds"],
            repeats=self.options["repeats"],
            seed=self.options["random_state"],
            sizes=tuple(self.options["sizes"]),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            data=data_facts(self.problem, warnings),
            reproduce=how_to_reproduce(self.problem, self.options),
        )
