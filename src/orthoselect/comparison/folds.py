"""Which rows train and which validate, and how many features are tried."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

from orthoselect.encode import Labels
from orthoselect.errors import InputError, ShapeError, TooManyRequestedWarning, warn, with_text
from orthoselect.roles import is_whole

_MOST_SIZES = 20
_LARGEST_SEED = 2**32 - 1


@dataclass(frozen=True)
class Fold:
    """Rows to train on and rows to validate on, ascending."""

    repeat: int  # from 1 on
    fold: int  # from 1 on
    number: int  # its place among the folds of all repeats, from 1 on
    train: NDArray[np.intp]
    validation: NDArray[np.intp]


def find_sizes(sizes: Any, available: int) -> tuple[int, ...]:
    """Return the numbers of features to try, ascending.

    A number k is 1, ..., k, thinned where k is above 20: at nearly equal ratios, from 1 to k. It
    goes no further than the available features; a list that does is cut off, with a warning.

    Examples
    --------
    >>> find_sizes(4, 300)
    (1, 2, 3, 4)
    >>> find_sizes(100, 300)
    (1, 2, 3, 4, 5, 7, 9, 11, 14, 18, 23, 30, 38, 48, 62, 78, 100)
    >>> find_sizes([8, 2, 4], 300)
    (2, 4, 8)
    """
    check_sizes(sizes)
    if not is_whole(sizes):
        return _within(sorted({int(size) for size in sizes}), available)
    k = min(int(sizes), available)
    if k <= _MOST_SIZES:
        return tuple(range(1, k + 1))
    return tuple(sorted({round(size) for size in np.geomspace(1, k, _MOST_SIZES).tolist()}))


def check_sizes(sizes: Any) -> None:
    """Raise unless these are numbers of features."""
    listed: list[Any] = [sizes]
    with suppress(TypeError):
        listed = [sizes] if isinstance(sizes, str) else list(sizes)
    wrong = [size for size in listed if not is_whole(size) or size < 1]
    if wrong or not listed:
        found = repr(wrong[0]) if wrong else "an empty list"
        raise InputError(
            f"`sizes` should be a whole number of at least 1, or a list of such numbers; "
            f"got {found}."
        )


def _within(sizes: list[int], available: int) -> tuple[int, ...]:
    if sizes[0] > available:
        raise InputError(
            f"`sizes` should have a number within the {available} features to choose from; the "
            f"smallest is {sizes[0]}."
        )
    if sizes[-1] > available:
        text = (
            f"`sizes` goes up to {sizes[-1]}, but there are {available} features to choose from; "
            f"larger sizes are left out."
        )
        warn(with_text(TooManyRequestedWarning, text))
    return tuple(size for size in sizes if size <= available)


def check_whole(value: Any, least: int, argument: str) -> int:
    """Return a whole number that is large enough."""
    if not is_whole(value) or value < least:
        raise InputError(
            f"`{argument}` should be a whole number of at least {least}; got {value!r}."
        )
    return int(value)


def find_seed(random_state: Any) -> int:
    """Return the seed of everything random: the one given, or for None a new one."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if not is_whole(random_state) or not 0 <= random_state <= _LARGEST_SEED:
        raise InputError(
            f"`random_state` should be a whole number from 0 to {_LARGEST_SEED}, or None for a "
            f"new one; got {random_state!r}."
        )
    return int(random_state)


def split(y: NDArray, classes: Labels | None, folds: int, repeats: int, seed: int) -> list[Fold]:
    """Cut the rows into folds, each of which validates once in every repeat.

    If there are classes, all folds have them in like shares.
    """
    if classes is None:
        if len(y) < 2 * folds:  # one row has no variance that could be explained
            raise ShapeError(
                f"there should be at least 2 rows for each of the {folds} folds; there are "
                f"{len(y)} rows. Choose fewer `folds`."
            )
        splitter = RepeatedKFold(n_splits=folds, n_repeats=repeats, random_state=seed)
    else:
        _check_classes(classes, folds)
        splitter = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=seed)
    rows = splitter.split(np.zeros((len(y), 1)), y)
    return [
        Fold(k // folds + 1, k % folds + 1, k + 1, train, validation)
        for k, (train, validation) in enumerate(rows)
    ]


def _check_classes(classes: Labels, folds: int) -> None:
    counts = np.bincount(classes.codes, minlength=len(classes.levels))
    rare = int(counts.argmin())
    if counts[rare] < folds:
        others = int((counts < folds).sum()) - 1
        elsewhere = f", and {others} more class(es) likewise" if others else ""
        fewer = f"Choose `folds={counts[rare]}`, merge" if counts[rare] > 1 else "Merge"
        raise InputError(
            f"every class should have at least as many rows as there are folds, {folds}; class "
            f"{classes.levels[rare]!r} has {counts[rare]}{elsewhere}. {fewer} rare classes, or "
            f"leave their rows out."
        )
    n_rows, n_classes = len(classes.codes), len(counts)
    n_train = n_rows - -(-n_rows // folds)
    if n_train <= n_classes:  # nothing is left to estimate the spread within classes from
        raise ShapeError(
            f"there should be more rows to train on than classes; {n_rows} rows in {folds} folds "
            f"leave {n_train}, and there are {n_classes} classes. Choose more `folds`."
        )
