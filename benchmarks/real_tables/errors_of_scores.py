"""Whether the standard errors of the page are right: large tables, cut into many small ones.

    python -m benchmarks.real_tables.errors_of_scores

Each large table is cut into parts of few rows, and every part is scored as the page scores a table:
how much the default answer is ahead of plain correlation. The parts have no row in common, so how
much these differences vary is known without any formula. A standard error is right if differences
lie further from their mean than one or two of it as rarely as Student's t does. Two are looked at:
over rows in pairs and one draw of the folds, and that of the page, over folds.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy import stats

from benchmarks.noise import share
from benchmarks.real_tables.cell import DRAWS
from benchmarks.real_tables.rankings import Question, by_correlation, by_default
from benchmarks.real_tables.scores import FOLDS, Losses, losses, question
from benchmarks.real_tables.tables import CLASSES, TABLES, RealTable

PART_ROWS, MOST_PARTS = 250, 16
LEAST_PARTS = 8  # a table that gives fewer is not large
OVER_ROWS, OVER_FOLDS = "over rows, one draw", f"over folds, {DRAWS} draws"


def parts_of(asked: Question, most: int) -> Iterator[Question]:
    """Yield parts of a table's rows, drawn at random, none of which is in two of them."""
    rows = np.random.default_rng(0).permutation(len(asked.frame))
    for start in range(0, min(len(rows) // PART_ROWS, most) * PART_ROWS, PART_ROWS):
        part = replace(asked, frame=asked.frame.iloc[rows[start : start + PART_ROWS]])
        counts = part.frame[part.target].value_counts()
        if part.task != CLASSES or (len(counts) > 1 and counts.min() >= FOLDS):
            yield part


def error_over_rows(ours: Losses, plain: Losses) -> tuple[float, float]:
    """Return by how much we are ahead in one draw, and the standard error over rows in pairs."""
    differences = (plain.model[0] - ours.model[0]) / ours.nothing[0].mean()
    return float(differences.mean()), float(differences.std(ddof=1) / np.sqrt(len(differences)))


def deviations(entry: RealTable, most: int) -> dict[str, list[float]]:
    """Return how many standard errors each part is from the mean of a table's parts, by error."""
    found: dict[str, list[tuple[float, float]]] = {OVER_ROWS: [], OVER_FOLDS: []}
    parts = list(parts_of(question(entry, entry.load()), most))
    for part in parts if len(parts) >= LEAST_PARTS else []:
        ours, plain = (losses(part, choose, draws=DRAWS) for choose in (by_default, by_correlation))
        found[OVER_ROWS].append(error_over_rows(ours, plain))
        found[OVER_FOLDS].append(ours.ahead_of(plain))
    return {kind: _standardized(pairs) for kind, pairs in found.items()}


def _standardized(pairs: list[tuple[float, float]]) -> list[float]:
    """Return differences from their mean, which is drawn too, in their standard errors."""
    if not pairs:
        return []
    ahead, errors = np.array(pairs).T
    apart = (ahead - ahead.mean()) / np.sqrt(1 - 1 / len(ahead))
    known = errors > 0  # there is none where both choose the same columns in all folds
    return list(apart[known] / errors[known])


def lines(found: dict[str, list[float]]) -> list[str]:
    """Return what there is to tell of all parts."""
    told = []
    for kind, values in found.items():
        for errors in (1, 2):
            beyond = sum(abs(value) > errors for value in values)
            normal = 100 * 2 * stats.norm.sf(errors)
            told.append(
                f"{kind}: more than {errors} standard error(s) from the mean in "
                f"{share(beyond, len(values))}; a right one would in {normal:.0f} %"
            )
    return told


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what is found."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.real_tables.errors_of_scores", description=__doc__
    )
    parser.add_argument("--parts", type=int, default=MOST_PARTS, help="of each table, at most")
    options = parser.parse_args(arguments)
    if options.parts < LEAST_PARTS:
        parser.error(f"--parts should be at least {LEAST_PARTS}")
    every: dict[str, list[float]] = {OVER_ROWS: [], OVER_FOLDS: []}
    n_tables = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for entry in TABLES:
            print(entry.name, file=sys.stderr)
            of_table = deviations(entry, options.parts)
            n_tables += bool(of_table[OVER_FOLDS])
            for kind, values in of_table.items():
                every[kind] += values
    print(f"{n_tables} tables, each cut into at most {options.parts} parts of {PART_ROWS} rows")
    print("\n".join(lines(every)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
