"""How many features, as the command is told: a number, or by cross-validation and how."""

from __future__ import annotations

from typing import Any

from orthoselect.errors import InputError
from orthoselect.read import Dataset

_SMALL = 1_000_000  # numbers in a table that one process cross-validates in seconds


def find_jobs(jobs: int | None, dataset: Dataset) -> int:
    """Return how many processes work: all, unless they would take longer to start than to work."""
    if jobs is not None:
        return jobs
    is_small = not dataset.in_blocks and dataset.n_rows * len(dataset.names) <= _SMALL
    return 1 if is_small else -1


def size_options(
    wanted: Any,
    rule: str | None,
    largest: str | None,
    estimator: str | None,
    scoring: str | None,
    folds: int | None,
    seed: int | None,
    jobs: int | None,
) -> dict[str, Any]:
    """Return what was given of a cross-validation, as `select` has it; without one it is an error.

    Examples
    --------
    >>> size_options("cv", "one-se", None, "svm", None, 3, None, None)
    {'rule': 'one_se', 'estimator': 'svm', 'cv': 3}
    """
    given = {
        "--rule": ("rule", rule and rule.replace("-", "_")),
        "--largest": ("largest", largest and read_count(largest, "--largest")),
        "--estimator": ("estimator", estimator),
        "--scoring": ("scoring", scoring),
        "--folds": ("cv", folds),
        "--seed": ("random_state", seed),
        "--jobs": ("n_jobs", jobs),
    }
    flags = [flag for flag, (_, value) in given.items() if value is not None]
    if flags and wanted != "cv":
        raise InputError(
            f"`{flags[0]}` is for a cross-validated size, `-k cv`; got it without. Add `-k cv`, or "
            f"omit it."
        )
    return dict(given[flag] for flag in flags)


def read_count(text: str, option: str = "-k") -> int | float | str:
    """Read a count, a fraction, or "cv".

    Examples
    --------
    >>> read_count("12"), read_count("0.25"), read_count("cv")
    (12, 0.25, 'cv')
    """
    if text == "cv" and option == "-k":
        return text
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    or_cv = ", or cv" if option == "-k" else ""
    raise InputError(
        f"`{option}` should be a whole number of at least 1, or a fraction in (0, 1){or_cv}; got "
        f"{text!r}."
    )
