"""How many features, as the command is told: a number, by tests or by cross-validation, and how."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orthoselect.errors import InputError
from orthoselect.read import Dataset
from orthoselect.stopping import AUTO

SIZE_WORDS = (AUTO, "cv")  # that say how the number of features is found
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
    jobs: int | None,
) -> dict[str, Any]:
    """Return what was given of a cross-validation, as `select` has it; without one it is an error.

    Examples
    --------
    >>> size_options("cv", "one-se", None, "svm", None, 3, None)
    {'rule': 'one_se', 'estimator': 'svm', 'cv': 3}
    """
    given = {
        "--rule": ("rule", rule and rule.replace("-", "_")),
        "--largest": ("largest", largest and read_count(largest, "--largest")),
        "--estimator": ("estimator", estimator),
        "--scoring": ("scoring", scoring),
        "--folds": ("cv", folds),
        "--jobs": ("n_jobs", jobs),
    }
    flags = [flag for flag, (_, value) in given.items() if value is not None]
    if flags and wanted != "cv":
        raise InputError(
            f"`{flags[0]}` is for a cross-validated size, `-k cv`; got it without. Add `-k cv`, or "
            f"omit it."
        )
    return dict(given[flag] for flag in flags)


def significance_options(
    wanted: Any,
    p_values: bool,
    alpha: float | None,
    permutations: int | None,
    permute_within: str | None,
    seed: int | None,
) -> dict[str, Any]:
    """Return what was given of tests, as `select` has it; without tests it is an error.

    A seed may be that of the folds, too. The column to permute within is a role of its own.

    Examples
    --------
    >>> significance_options("auto", False, 0.01, None, None, 7)
    {'alpha': 0.01, 'random_state': 7}
    """
    given = {"--alpha": alpha, "--permutations": permutations, "--permute-within": permute_within}
    flags = ["--p-values"] * p_values + [flag for flag in given if given[flag] is not None]
    if flags and wanted == "cv":
        raise InputError(
            f"`{flags[0]}` is for tests of features, and a size chosen by cross-validation, "
            f"`-k cv`, has none. Omit it, or give `-k auto` or a number with `--p-values`."
        )
    is_tested = p_values or wanted == AUTO
    if flags and not is_tested:
        raise InputError(
            f"`{flags[0]}` is for tests of features, `-k auto` or `--p-values`; got it without. "
            f"Add one of these, or omit it."
        )
    if seed is not None and not is_tested and wanted != "cv":
        raise InputError(
            "`--seed` is for tests of features, `-k auto` or `--p-values`, and for folds, `-k cv`; "
            "got it without. Add one of these, or omit it."
        )
    options = {"alpha": alpha, "n_permutations": permutations, "random_state": seed}
    options["p_values"] = p_values or None
    return {name: value for name, value in options.items() if value is not None}


def read_count(text: str, option: str = "-k", words: Sequence[str] = ()) -> int | float | str:
    """Read a count, a fraction, or one of some words.

    Examples
    --------
    >>> read_count("12"), read_count("0.25"), read_count("cv", words=("auto", "cv"))
    (12, 0.25, 'cv')
    """
    if text in words:
        return text
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    others = f", or {' or '.join(words)}" if words else ""
    raise InputError(
        f"`{option}` should be a whole number of at least 1, or a fraction in (0, 1){others}; got "
        f"{text!r}."
    )
