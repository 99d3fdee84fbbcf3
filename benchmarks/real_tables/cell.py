"""One table, in a process of its own: what each ranking chooses, how long it takes, its score.

`python -m benchmarks.real_tables.cell JSON` prints the result as its last line.
"""

from __future__ import annotations

import json
import re
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import pandas as pd

from benchmarks.real_tables.rankings import (
    RANKINGS,
    Question,
    by_correlation,
    default_answer,
)
from benchmarks.real_tables.scores import Losses, losses, question, sampled
from benchmarks.real_tables.tables import NUMBERS, OURS, RealTable
from orthoselect import errors

ERRORS = 2  # standard errors by which a score has to be behind for a flag
DRAWS = 5  # of the folds; columns are chosen anew in each
REPEATS = 3  # of which the best time counts
# Warnings that say why an answer may be worth less, and in a word what they say.
REASONS = {
    errors.SearchStoppedWarning: "no more features could be had",
    errors.NoMoreThanChanceWarning: "k is too large: no more gain than chance",
    errors.ReadAsClassesWarning: "whole numbers are read as classes",
}
NEARLY_DISTINCT = 0.5  # text with more levels than this share of the rows names rows


class OverLimitError(Exception):
    """A ranking took longer than it may."""


def measure(entry: RealTable, limit: float, draws: int = DRAWS) -> dict[str, Any]:
    """Return what there is to tell of one table, as a plain dict.

    Parameters
    ----------
    entry : RealTable
    limit : float
        Seconds after which a choice, or the scoring of a ranking, is given up.
    draws : int
        Of the folds by which each ranking is scored.
    """
    frame = entry.load()
    asked = question(entry, frame)
    scored = sampled(asked)
    found: dict[str, Losses] = {}
    cells = {}
    for name, choose in RANKINGS.items():
        cells[name], own = _cell(choose, asked, scored, limit, draws)
        if own is not None:
            found[name] = own
    ours = cells[OURS]
    if "names" in ours:
        ours |= _words(asked)
        if OURS in found and ours["left_out"]:
            ours["among_kept"] = _among_kept(found[OURS], scored, ours["left_out"], limit, draws)
        ours["identifiers"] = identifiers(frame, ours["names"])
    for name, own in found.items():
        cells[name]["score"] = own.score
        if OURS in found and name != OURS:
            cells[name]["ours_ahead"], cells[name]["error"] = found[OURS].ahead_of(own)
    return {
        "package": entry.package,
        "table": entry.table,
        "target": entry.target,
        "task": entry.task,
        "rows": len(frame),
        "columns": frame.shape[1] - 1,
        "gaps": int(frame.drop(columns=entry.target).isna().to_numpy().sum()),
        "asked_rows": len(asked.frame),
        "scored_rows": len(scored.frame),
        "k": asked.k,
        "rankings": cells,
    }


def times(entry: RealTable, limit: float) -> dict[str, float]:
    """Return the seconds that each ranking takes for one choice from all rows, and nothing else."""
    asked = question(entry, entry.load())
    found = {}
    for name, choose in RANKINGS.items():
        with warnings.catch_warnings(), suppress(Exception):  # why is among the scores
            warnings.simplefilter("ignore")
            with _at_most(limit):
                found[name] = _timed(choose, asked)[1]
    return found


def is_behind(peer: dict[str, Any]) -> bool:
    """Tell whether our score is worse than a peer's by more than two standard errors."""
    return "ours_ahead" in peer and peer["ours_ahead"] < -ERRORS * peer["error"]


def _cell(
    choose: Callable[[Question], list[str]],
    asked: Question,
    scored: Question,
    limit: float,
    draws: int,
) -> tuple[dict[str, Any], Losses | None]:
    """Return names and seconds of a ranking, and its losses; or why there are none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # words are kept from one call of the default, see _words
        try:
            with _at_most(limit):
                names, seconds = _timed(choose, asked)
            with _at_most(limit):
                return {"names": names, "seconds": seconds}, losses(scored, choose, draws=draws)
        # Whatever ends a ranking is its answer here; a page that stopped would hide it.
        except Exception as error:
            return {"why": f"{type(error).__name__}: {error}"}, None


def _timed(choose: Callable[[Question], list[str]], asked: Question) -> tuple[list[str], float]:
    best = float("inf")
    for _ in range(REPEATS):
        begin = time.perf_counter()
        names = choose(asked)
        best = min(best, time.perf_counter() - begin)
    return names, best


def _words(asked: Question) -> dict[str, Any]:
    """Return the warnings of the default answer, what they say, and how the target was taken."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        path = default_answer(asked)
    as_classes = asked.task == NUMBERS and path.ceiling > 1
    words = [str(each.message) for each in caught]
    left_out = [w for w in words if w.startswith("left out")]
    named = {name for each in left_out for name in re.findall("`([^`]+)`", each)}
    reasons = [REASONS[each.category] for each in caught if each.category in REASONS]
    return {
        "words": words,
        "as_classes": as_classes,
        "left_out": [name for name in asked.frame if name in named],
        "reasons": reasons,
    }


def _among_kept(
    ours: Losses, scored: Question, left_out: list[str], limit: float, draws: int
) -> tuple[float, float] | None:
    """Return by how much we are ahead of correlation among the columns that we keep too."""
    kept = replace(scored, frame=scored.frame.drop(columns=left_out))
    _, plain = _cell(by_correlation, kept, kept, limit, draws)
    return None if plain is None else ours.ahead_of(plain)


def identifiers(frame: pd.DataFrame, names: list[str]) -> list[str]:
    """Return those of the columns whose values name rows rather than describe them."""
    return [name for name in names if name in frame and _names_rows(frame[name])]


def _names_rows(column: pd.Series) -> bool:
    values = column.dropna()
    if pd.api.types.is_bool_dtype(values) or pd.api.types.is_datetime64_any_dtype(values):
        return False
    if pd.api.types.is_numeric_dtype(values):
        # Case numbers: 0 or 1 to as many as there are rows, in order; others may be ranks.
        first, last = values.min(), values.max()
        in_order = values.is_monotonic_increasing or str(column.name).lower() == "id"
        is_full = values.is_unique and last - first + 1 == len(column)
        return bool(first in (0, 1) and is_full and in_order)
    return values.nunique() > NEARLY_DISTINCT * len(values)


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise after so many seconds; where there is no alarm, wait."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def give_up(*_: Any) -> None:
        raise OverLimitError(f"over {seconds:g} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def main() -> None:
    """Measure the table that the command line describes, or only the times of it."""
    spec = json.loads(sys.argv[1])
    limit, only_times = spec.pop("limit"), spec.pop("only_times", False)
    print(json.dumps((times if only_times else measure)(RealTable(**spec), limit)))


if __name__ == "__main__":
    main()
