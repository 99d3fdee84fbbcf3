"""Random selection problems of every storage against the truth."""

from __future__ import annotations

import shutil
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.families import Problem, Rng, make
from fuzz.judge import Wrong, judge, truth_of
from fuzz.outcome import Outcome
from fuzz.shrink import as_code, shrink
from fuzz.storages import Run, draw, one_task_after_another
from orthoselect import native

RUNS = 4  # storages that each problem is tried in


def run(
    minutes: float,
    seed: int,
    *,
    only: int | None = None,
    count: int | None = None,
    families: list[str] | None = None,
    tell: Callable[[str], None] = print,
) -> Outcome:
    """Try problems until the time is over.

    Parameters
    ----------
    minutes : float
    seed : int
    only : int, optional
        The number of the one problem to try.
    count : int, optional
        How many to try at most.
    families : list of str, optional
        Those to take problems of; all by default.
    tell : callable
        Gets a few lines for each failure.
    """
    end, number = time.monotonic() + 60 * minutes, only or 0
    outcome = Outcome("problems", seed, ("family", "storage"))
    with one_task_after_another():
        while True:
            _try(seed, number, families, outcome, tell, smaller=only is not None)
            number += 1
            if only is not None or time.monotonic() > end or number == count:
                return outcome


def _try(
    seed: int,
    number: int,
    families: list[str] | None,
    outcome: Outcome,
    tell: Callable[[str], None],
    *,
    smaller: bool,
) -> None:
    problem, rng = make(seed, number, families)
    outcome.tried += 1
    truths: dict[bool, Any] = {}
    for chosen in draw(problem, rng, RUNS):
        way = str(rng.choice(chosen.ways))
        kernels = native._module is not None and rng.random() < 0.7
        one = Run(chosen, way, bool(kernels))
        chances = [seed, number, len(chosen.name)]
        wrong = _run(problem, one, np.random.default_rng(chances), truths)
        outcome.count((problem.family, chosen.name), wrong.kind if wrong else None)
        if wrong is None:
            continue
        where = f" --families '{','.join(families)}'" if families else ""
        tell(
            f"WRONG ({wrong.kind}) problem {number} [{problem.family}] as {one}\n"
            f"  {problem}\n  {wrong.text}\n"
            f"  again: python -m fuzz problems --seed {seed} --only {number}{where}"
        )
        if smaller:
            tell(_smallest(problem, one, chances, wrong))


def _smallest(problem: Problem, one: Run, chances: list[int], wrong: Wrong) -> str:
    """Return the smallest problem that fails in the same way, and how."""

    def found(smaller: Problem) -> Wrong | None:
        if not one.storage.fits(smaller):
            return None
        return _run(smaller, one, np.random.default_rng(chances), {})

    def fails(smaller: Problem) -> bool:
        again = found(smaller)
        return again is not None and again.kind == wrong.kind and again.name == wrong.name

    least = shrink(problem, fails)
    left = found(least)
    return f"  made smaller: {least}\n  {left.text if left else ''}\n{as_code(least)}"


def _run(problem: Problem, one: Run, rng: Rng, truths: dict[bool, Any]) -> Wrong | None:
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        path, warned = one.select(problem, rng, folder)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.lineno}"
        return Wrong("raised", f"{type(error).__name__} at {place}: {error}", type(error).__name__)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if warned:
        return Wrong("warned", warned[0])
    single = one.storage.single
    if single not in truths:
        truths[single] = truth_of(problem, one.storage.stored(problem.X), single=single)
    return judge(problem, truths[single].fresh(), path)
