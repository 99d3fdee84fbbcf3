"""Halves of a table that is read once: statistics of random blocks are merged, and asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from orthoselect.comparison.data import title_of
from orthoselect.comparison.entries import SharedValue
from orthoselect.encode import Feature
from orthoselect.encode.table import build_design
from orthoselect.errors import InputError
from orthoselect.gram import GramStatistics
from orthoselect.gram.dealt import DealtRows
from orthoselect.gram.intake import ReducedRows, reduce_table
from orthoselect.halves.base import Facts, Halves, Places, Question, bases_of
from orthoselect.halves.in_memory import file_in_code
from orthoselect.halves.pairs import pair_of_blocks
from orthoselect.matrix.base import Floats
from orthoselect.methods import METHODS
from orthoselect.problem import Problem
from orthoselect.read import is_spread
from orthoselect.roles import ColumnSpec
from orthoselect.show.facts import kind_of


@dataclass(frozen=True)
class BlockHalves(Halves):
    """A table of which statistics are kept, of each of some random blocks."""

    shared: SharedValue  # of DealtRows
    columns: Mapping[str, Any]  # what `select` is to know of columns
    features: tuple[Feature, ...]
    included: list[int]
    facts: Facts
    n_rows_in_half: int
    n_response: int
    n_blocks: int | None

    def select(self, question: Question, number: int) -> tuple[Places, Places]:
        """Return what both halves of a pair take."""
        dealt: DealtRows = self.shared.value
        pair = pair_of_blocks(dealt.n_random, question.seed, number)
        first, second = (
            self.ask(
                question,
                f"half {k} of pair {number + 1}",
                GramStatistics.holding(dealt.union(half.tolist())),
                None,
                **self.columns,
            )
            for k, half in enumerate(pair, start=1)
        )
        return first, second

    def bases(self, places: Sequence[int]) -> tuple[dict[int, Floats], int]:
        """Return an orthonormal basis of each of these features, and how many rows it is of."""
        whole = _whole(self.shared.value)
        if whole.settings["missing"] == "indicator":
            # Values that are missing together are not alike for that.
            whole.settings = {**whole.settings, "missing": "mean"}
        with catch_warnings():
            simplefilter("ignore")
            problem = GramStatistics.holding(whole).open_problem(None, exclude=None, **self.columns)
        bases = bases_of(problem, [self.features[place] for place in places])
        return dict(zip(places, bases)), whole.n_rows


def _whole(dealt: DealtRows) -> ReducedRows:
    return dealt.union(range(dealt.n_random))


def open_blocks(
    given: Any,
    data: Any,
    target: Any,
    *,
    method: str,
    seed: int,
    task: str,
    categorical_features: ColumnSpec,
    groups: Any,
    include: ColumnSpec,
    exclude: ColumnSpec,
    sample_weight: Any,
    missing: str,
    dates: str,
) -> BlockHalves:
    """Read a table once for all halves; the arguments are those of `select`.

    `given` is what the user gave, `data` what that stands for.
    """
    _check_possible(method, dates)
    settings = GramStatistics(
        task=task, categorical_features=categorical_features, exclude=exclude, missing=missing
    ).settings
    start = partial(DealtRows, seed=seed, is_spread=is_spread(data))
    dealt = reduce_table(data, target, sample_weight, settings, None, start)
    assert isinstance(dealt, DealtRows)
    dealt.fold_to_rows()
    whole = _whole(dealt)
    columns: dict[str, Any] = {"groups": groups, "include": include, "task": "auto"}
    statistics = GramStatistics.holding(whole)
    problem = statistics.open_problem(None, exclude=None, **columns)
    if len(problem.response.parts) == 1:  # decided by all rows, and not by each half again
        columns["task"] = problem.response.task
    with catch_warnings():
        simplefilter("ignore")  # what is said of levels the halves will say
        features = build_design(problem.table, problem.groups, problem.skip).features
    return BlockHalves(
        shared=SharedValue(dealt),
        columns=columns,
        features=tuple(Feature(f.name, problem.origins(f.columns)) for f in features),
        included=features.places(problem.include),
        facts=_facts(given, data, whole, problem, features),
        n_rows_in_half=dealt.fewest_in_half,
        n_response=problem.response.m,
        n_blocks=dealt.n_random,
    )


def _check_possible(method: str, dates: str) -> None:
    if METHODS[method].needs_rows:
        able = [repr(other.name) for other in METHODS.values() if not other.needs_rows]
        raise InputError(
            f"`method` should be one of {', '.join(able)} for a table in blocks, which is read "
            f"once and of which means and inner products are kept; got {method!r}. Choose one of "
            f"them, or pass the table in memory."
        )
    if dates != "drop":
        raise InputError(
            f"`dates` should be 'drop' for a table in blocks; got {dates!r}. Add columns with the "
            f"parts of dates, or pass the table in memory."
        )


def _facts(
    given: Any, data: Any, whole: ReducedRows, problem: Problem, features: Sequence[Feature]
) -> Facts:
    layout, names = whole.known()[0], problem.table.names
    kinds = {"numeric": 0, "categorical": 0, "group": 0}
    for feature in features:
        kinds[kind_of(feature, problem)] += 1
    first = layout.responses[0]
    is_classes = problem.response.task == "classification" and first.classes is not None
    rows = first.classes.rows_by_level() if first.classes is not None else {}
    target_columns = [names[c] for c in layout.target_columns]
    left_out = problem.readings.why_left_out(names[c] for c in problem.exclude)
    called = ", ".join(response.name for response in layout.responses)
    return Facts(
        title=title_of(data, "Features", called),
        target=called,
        task=problem.response.task,
        data={
            "rows": whole.n_rows,
            "columns": len(names),
            "classes": [{"name": str(k), "count": n} for k, n in rows.items()]
            if is_classes
            else None,
            "response": None,
            "kinds": kinds,
            "left_out": left_out,
            "weighted": bool(np.isfinite(whole.weight) and whole.weight != whole.n_rows),
        },
        file=file_in_code(given),
        target_columns=target_columns,
    )
