"""What `compare` says of tables in which there is nothing to find.

    python -m benchmarks.noise --tables 40

Columns and target are drawn apart from each other, so every claim that some features are worth more
than none is wrong. For classes and for numbers it prints in how many tables the recommendation has
features (`Comparison.recommended`), with the standard error of that share. The claim "as good as
the best" rests on the paired standard error, so that is looked at too: two methods and a size named
beforehand are equal here, and should be apart by more than one or two standard errors as rarely as
Student's t of K - 1 degrees of freedom is (K folds).
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from orthoselect import compare
from orthoselect.result.fold_scores import FoldScores, PairedDifference

ROWS, COLUMNS, FOLDS = 120, 12, 5
PAIR, SIZE = ("socc", "mim"), 3  # the methods and the size that are compared as such
TASKS = {"classes": "classification", "numbers": "regression"}


def draw(kind: str, seed: int) -> tuple[Any, Any]:
    """Return a table and a target that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, COLUMNS))
    return X, rng.integers(0, 2, ROWS) if kind == "classes" else rng.normal(size=ROWS)


def outcome(kind: str, seed: int) -> tuple[bool, float | None]:
    """Return whether `compare` claims a find, and by how many standard errors the pair differs."""
    X, y = draw(kind, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        methods = None if kind == "classes" else ["socc", "lasso", "err"]
        made = compare(
            X, y, methods, 10, folds=FOLDS, random_state=seed, task=TASKS[kind], n_jobs=1
        )
    pair = PAIR if kind == "classes" else ("socc", "lasso")
    first, second = (_scores(made, method) for method in pair)
    difference = PairedDifference.of(first, second, FOLDS)
    apart = None
    if difference is not None and difference.error:
        apart = abs(difference.mean) / difference.error
    recommended = made.recommended
    return bool(recommended and recommended["n_features"]), apart


def _scores(made: Any, method: str) -> FoldScores:
    runs = [run for run in made.runs if run.method == method]
    return {(run.repeat, run.fold): run.scores[SIZE][1] for run in runs if SIZE in run.scores}


def share(count: int, total: int) -> str:
    """Return a share and its standard error, in percent; none of few is not surely none of many.

    Examples
    --------
    >>> share(4, 40)
    '4 of 40 (10 ± 5 %)'
    >>> share(0, 20)
    '0 of 20 (0 ± 4 %)'
    """
    part, drawn_in = count / total, (count + 1) / (total + 2)
    error = math.sqrt(drawn_in * (1 - drawn_in) / (total + 2))
    return f"{count} of {total} ({100 * part:.0f} ± {100 * error:.0f} %)"


def lines(kind: str, n_tables: int, seed: int) -> list[str]:
    """Return what there is to tell of one kind of target."""
    found = [outcome(kind, seed + number) for number in range(n_tables)]
    apart = [each for _, each in found if each is not None]
    told = [f"{kind}: claims a find in {share(sum(claim for claim, _ in found), n_tables)}"]
    for errors in (1, 2):
        expected = 2 * stats.t.sf(errors, FOLDS - 1)
        many = share(sum(each > errors for each in apart), len(apart)) if apart else "none"
        told.append(
            f"{kind}: two equal methods differ by more than {errors} paired standard error(s) in "
            f"{many}; Student's t would in {100 * expected:.0f} %"
        )
    return told


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what is found."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.noise", description=__doc__)
    parser.add_argument("--tables", type=int, default=40, help="tables of each kind")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    if options.tables < 1:
        parser.error("--tables should be at least 1")
    print(f"{options.tables} tables of {ROWS} x {COLUMNS} noise each, {FOLDS} folds")
    for kind in TASKS:
        print("\n".join(lines(kind, options.tables, options.seed)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
