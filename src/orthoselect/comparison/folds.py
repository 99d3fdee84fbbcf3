"""Which rows train and which validate, and how many features are tried."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    GroupKFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
)

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


def split(
    y: NDArray,
    classes: Labels | None,
    folds: int,
    repeats: int,
    seed: int,
    argument: str = "folds",
) -> list[Fold]:
    """Cut the rows into folds, each of which validates once in every repeat.

    If there are classes, all folds have them in like shares. `argument` is what the caller calls
    the number of folds.
    """
    if classes is None:
        if len(y) < 2 * folds:  # one row has no variance that could be explained
            most = len(y) // 2
            remedy = f"Choose `{argument}={most}`, or pass" if most > 1 else "Pass"
            raise ShapeError(
                f"there should be at least 2 rows for each of the {folds} folds; there are "
                f"{len(y)} rows. {remedy} more rows."
            )
        splitter = RepeatedKFold(n_splits=folds, n_repeats=repeats, random_state=seed)
    else:
        _check_classes(classes, folds, argument)
        splitter = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=seed)
    rows = splitter.split(np.zeros((len(y), 1)), y)
    return [
        Fold(k // folds + 1, k % folds + 1, k + 1, train, validation)
        for k, (train, validation) in enumerate(rows)
    ]


def _check_classes(classes: Labels, folds: int, argument: str) -> None:
    counts = np.bincount(classes.codes, minlength=len(classes.levels))
    rare = int(counts.argmin())
    if counts[rare] < folds:
        others = int((counts < folds).sum()) - 1
        elsewhere = f", and {others} more class(es) likewise" if others else ""
        fewer = f"Choose `{argument}={counts[rare]}`, merge" if counts[rare] > 1 else "Merge"
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
            f"leave {n_train}, and there are {n_classes} classes. Choose more folds."
        )


# Folds as scikit-learn's splitters have them


def find_folds(
    y: NDArray,
    classes: Labels | None,
    cv: Any,
    seed: int,
    *,
    groups: Any = None,
    weights: NDArray | None = None,
    n_dropped: int = 0,
) -> list[Fold]:
    """Return the folds that `cv` means: a number, a splitter of scikit-learn, or pairs of rows.

    A number of folds is cut as `split` does; with `groups`, so that the rows of a group stay
    together. Rows without weight are in no fold. `n_dropped` is how many of the rows that were
    given are no longer there: then nobody knows which row a place or a group belongs to.
    """
    is_count, is_splitter = is_whole(cv), hasattr(cv, "split")
    if isinstance(cv, str) or not (is_count or is_splitter or hasattr(cv, "__iter__")):
        raise _not_a_split(cv)
    if n_dropped and (groups is not None or not (is_count or is_splitter)):
        raise InputError(
            f"`cv` and the groups of rows should be about the rows that are there; {n_dropped} "
            f"were dropped, since values are missing. Drop these rows before, or fill the gaps."
        )
    groups = None if groups is None else _check_row_groups(groups, len(y))
    rows = np.arange(len(y)) if weights is None else np.flatnonzero(weights > 0)
    if is_count and groups is None:
        check_whole(cv, 2, "cv")
        part = None if classes is None else Labels(classes.codes[rows], classes.levels)
        cut = split(y[rows], part, int(cv), 1, seed, "cv")
        pairs = [(rows[fold.train], rows[fold.validation]) for fold in cut]
    elif is_count or is_splitter:
        splitter = _grouped(check_whole(cv, 2, "cv"), classes, seed) if is_count else cv
        pairs = _split_by(splitter, y, rows, groups)
    else:
        pairs = [_check_pair(pair, len(y), weights) for pair in cv]
    if len(pairs) < 2:
        raise InputError(f"`cv` should make at least two folds; it makes {len(pairs)}.")
    for train, validation in pairs:
        _check_fold(train, validation, classes)
    return [Fold(1, k + 1, k + 1, train, validation) for k, (train, validation) in enumerate(pairs)]


def _not_a_split(cv: Any) -> InputError:
    return InputError(
        f"`cv` should be a number of folds, a splitter of scikit-learn (such as `KFold(5)`), or a "
        f"list of pairs of arrays, the rows to train on and those to validate on; got {cv!r}."
    )


def _check_row_groups(groups: Any, n_rows: int) -> NDArray:
    labels = np.asarray(groups)
    if labels.shape != (n_rows,):
        raise ShapeError(
            f"the groups of rows should be {n_rows} labels, one for each row; got an array of "
            f"shape {labels.shape}."
        )
    return labels


def _grouped(folds: int, classes: Labels | None, seed: int) -> Any:
    """Return what cuts rows into folds with all rows of a group in one of them."""
    if classes is None:
        return GroupKFold(n_splits=folds)
    return StratifiedGroupKFold(n_splits=folds, shuffle=True, random_state=seed)


def _split_by(
    splitter: Any, y: NDArray, rows: NDArray[np.intp], groups: NDArray | None
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return the pairs of a splitter of scikit-learn, as rows of the table."""
    own = None if groups is None else groups[rows]
    try:
        cut = list(splitter.split(np.zeros((len(rows), 1)), y[rows], own))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"`cv` should cut {len(rows)} rows into folds; {type(splitter).__name__} could not: "
            f"{error}"
        ) from error
    return [(rows[np.sort(train)], rows[np.sort(validation)]) for train, validation in cut]


def _check_pair(
    pair: Any, n_rows: int, weights: NDArray | None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    try:
        train, validation = (np.sort(np.asarray(rows)) for rows in pair)
    except (TypeError, ValueError):
        raise _not_a_split([pair]) from None
    for rows in (train, validation):
        fits = rows.ndim == 1 and np.issubdtype(rows.dtype, np.integer)
        if not fits or (len(rows) and not (rows[0] >= 0 and rows[-1] < n_rows)):
            raise InputError(
                f"`cv` should hold rows by their places, whole numbers from 0 to {n_rows - 1}; "
                f"got {rows!r}."
            )
    if weights is None:
        return train, validation
    return train[weights[train] > 0], validation[weights[validation] > 0]


def _check_fold(
    train: NDArray[np.intp], validation: NDArray[np.intp], classes: Labels | None
) -> None:
    """Raise for a fold that nothing can be learned from, or told by."""
    both = np.intersect1d(train, validation)
    if len(both):
        raise InputError(
            f"`cv` should keep validation rows out of training; row {both[0]} is in both parts of "
            f"a fold."
        )
    if len(train) < 2 or not len(validation):
        raise InputError(
            f"`cv` should leave at least two rows to train on and one to validate on; a fold has "
            f"{len(train)} and {len(validation)}."
        )
    if classes is not None:
        known = np.bincount(classes.codes[train], minlength=len(classes.levels)) > 0
        missing = np.setdiff1d(classes.codes[validation], np.flatnonzero(known))
        if known.sum() < 2 or len(missing):
            unseen = classes.levels[int(missing[0] if len(missing) else np.argmin(known))]
            raise InputError(
                f"`cv` should have rows of every class to train on; in a fold there is none of "
                f"class {unseen!r}. Choose stratified folds, or fewer."
            )
