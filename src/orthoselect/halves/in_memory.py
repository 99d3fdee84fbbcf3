"""Halves of a table in memory: rows are taken, and `select` is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from orthoselect.comparison.data import by_rows, name_of_target, take_rows, title_of
from orthoselect.comparison.entries import SharedValue
from orthoselect.encode import Feature, Labels, Response
from orthoselect.encode.gaps import FILLS
from orthoselect.halves.base import Facts, Halves, Places, Question, bases_of
from orthoselect.halves.pairs import check_enough, pair_of_rows, strata_of
from orthoselect.matrix.base import Floats, Indices
from orthoselect.problem import open_problem
from orthoselect.read import gaps_error, is_path
from orthoselect.roles import Roles, check_some_left, find_roles
from orthoselect.show.facts import class_counts, spread

_MOST_ROWS = 4000  # that likeness is judged by


@dataclass(frozen=True)
class SharedRows:
    """What all processes read."""

    table: Any  # Dataset, array, SciPy sparse in rows, or dataframe
    targets: Sequence[Any]  # the columns of the response
    weights: Floats | None
    rows: Indices  # those that have weight, which are cut in two
    strata: Indices  # of these rows

    def some(self, rows: Indices) -> tuple[Any, list[Any], Floats | None]:
        """Return some rows of the table, of the response and of the weights."""
        weights = None if self.weights is None else self.weights[rows]
        return take_rows(self.table, rows), [y.take(rows) for y in self.targets], weights


@dataclass(frozen=True)
class RowHalves(Halves):
    """A table in memory."""

    shared: SharedValue  # of SharedRows
    columns: Mapping[str, Any]  # what `select` is to know of columns, by their places
    features: tuple[Feature, ...]
    included: list[int]
    facts: Facts
    n_rows_in_half: int
    n_response: int

    def select(self, question: Question, number: int) -> tuple[Places, Places]:
        """Return what both halves of a pair take."""
        shared: SharedRows = self.shared.value
        pair = pair_of_rows(shared.strata, question.seed, number)
        first, second = (
            self._take(question, shared.rows[half], f"half {k} of pair {number + 1}")
            for k, half in enumerate(pair, start=1)
        )
        return first, second

    def _take(self, question: Question, rows: Indices, called: str) -> Places:
        table, target, weights = self.shared.value.some(rows)
        return self.ask(question, called, table, target, sample_weight=weights, **self.columns)

    def bases(self, places: Sequence[int]) -> tuple[dict[int, Floats], int]:
        """Return an orthonormal basis of each of these features, and how many rows it is of."""
        shared: SharedRows = self.shared.value
        rows = shared.rows
        if len(rows) > _MOST_ROWS:  # the same ones whatever the seed: likeness is no matter of luck
            rows = np.sort(np.random.default_rng(0).choice(rows, _MOST_ROWS, replace=False))
        table, target, weights = shared.some(rows)
        wanted = [self.features[at] for at in places]
        columns = dict(self.columns)
        if columns["missing"] == "indicator":
            columns["missing"] = "mean"  # values that are missing together are not alike for that
        if len(wanted) < len(self.features):
            asked = {c for feature in wanted for c in feature.columns}
            others = (c for f in self.features for c in f.columns if c not in asked)
            columns["exclude"] = sorted({*columns["exclude"], *others})
            columns["groups"] = {
                name: kept
                for name, group in (columns["groups"] or {}).items()
                if (kept := [c for c in group if c in asked])
            } or None
            columns["include"] = None
        with catch_warnings():
            simplefilter("ignore")
            problem = open_problem(table, target, sample_weight=weights, **columns)
        return dict(zip(places, bases_of(problem, wanted))), len(rows)


def open_rows(given: Any, data: Any, target: Any, *, missing: str, **asked: Any) -> RowHalves:
    """Look at a table in memory once for all halves; the arguments are those of `select`.

    `given` is what the user gave, `data` what that stands for.
    """
    roles = find_roles(by_rows(data), target, missing=missing, **asked)
    columns = (*roles.candidates, roles.apart, roles.beside)
    unfit = gaps_error(roles.source, *columns, allowed=missing != "error")
    if unfit is not None:
        raise unfit
    source = roles.source
    targets = source.target_columns(roles.target, roles.target_columns)
    apart = None if roles.weight_column is not None else roles.sample_weight
    weights = source.weights(apart, roles.weight_column, keep_whole=True)
    rows = np.arange(source.n_rows) if weights is None else np.flatnonzero(weights)
    response, _ = source.response(roles.target, roles.target_columns, roles.task, "dummy", weights)
    strata = strata_of(response.parts, source.n_rows)[rows]
    are_classes = [isinstance(part, Labels) for part in response.parts]
    check_enough(strata, len(response.classes[0]) if are_classes == [True] else None)
    features = tuple(
        Feature(f.name, tuple(dict.fromkeys(map(roles.readings.origin, f.columns))))
        for f in roles.features
    )
    check_some_left(len(features))
    included = [roles.readings.origin(c) for c in roles.include]
    owner = {c: at for at, feature in enumerate(features) for c in feature.columns}
    table = by_rows(roles.data)
    return RowHalves(
        shared=SharedValue(SharedRows(table, targets, weights, rows, strata)),
        columns={
            "task": response.task if len(set(are_classes)) == 1 else roles.task,
            "categorical_features": roles.categorical_option(asked["categorical_features"]),
            "groups": roles.given_groups or None,
            "include": list(dict.fromkeys(included)) or None,
            "exclude": sorted(roles.skip - set(roles.readings.dates)),
            "missing": missing if missing in FILLS else "error",  # such rows are no more
        },
        features=features,
        included=list(dict.fromkeys(owner[c] for c in included)),
        facts=_facts(given, table, target, roles, response, weights),
        n_rows_in_half=len(rows) // 2,
        n_response=response.m,
    )


def _facts(
    given: Any, table: Any, target: Any, roles: Roles, response: Response, weights: Floats | None
) -> Facts:
    names = roles.source.names
    parts = response.parts
    is_number = len(parts) == 1 and not isinstance(parts[0], Labels)
    groups = set(roles.groups)
    labeled = [f.columns[0] in roles.categorical for f in roles.features if f.name not in groups]
    grouped = len(roles.features) - len(labeled)
    kinds = {"numeric": labeled.count(False), "categorical": sum(labeled), "group": grouped}
    target_columns = [names[c] for c in roles.target_columns]
    data = {
        "rows": roles.source.n_rows,
        "columns": len(names),
        "classes": class_counts(parts[0]) if isinstance(parts[0], Labels) else None,
        "response": spread(parts[0][:, 0]) if is_number else None,
        "kinds": kinds,
        "left_out": roles.readings.why_left_out(names[c] for c in roles.exclude),
        "weighted": weights is not None,
    }
    called = name_of_target(target, table, target_columns)
    return Facts(
        title=title_of(table, "Features", called),
        target=called,
        task=response.task,
        data=data,
        file=file_in_code(given),
        target_columns=target_columns,
    )


def file_in_code(data: Any) -> str | None:
    """Return what to write in a call for a file that was given by its path; None for other data."""
    if not is_path(data):
        return None
    return repr(str(data) if isinstance(data, (str, Path)) else [str(each) for each in data])
