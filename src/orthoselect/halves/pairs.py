"""Which rows, or random blocks of rows, make two halves that complement each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orthoselect.encode import Labels
from orthoselect.errors import InputError
from orthoselect.matrix.base import Indices

Pair = tuple[Indices, Indices]


def strata_of(parts: Sequence[object], n_rows: int) -> Indices:
    """Return the stratum of each row: its classes in all responses that have any.

    Examples
    --------
    >>> labels = Labels(np.array([1, 0, 1]), ("a", "b"))
    >>> strata_of([labels, np.array([[1.0], [2.0], [3.0]])], 3)
    array([1, 0, 1])
    """
    codes = [part.codes for part in parts if isinstance(part, Labels)]
    if not codes:
        return np.zeros(n_rows, dtype=np.intp)
    _, strata = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)
    return strata.reshape(-1).astype(np.intp)


def check_enough(strata: Indices, n_classes: int | None) -> None:
    """Raise unless each half has two classes, or two rows, to tell apart."""
    counts = np.bincount(strata)
    if n_classes is not None and np.count_nonzero(counts >= 2) < 2:
        raise InputError(
            f"at least two classes should have two rows each, so that both halves have them; the "
            f"classes have {', '.join(map(str, sorted(counts.tolist(), reverse=True)[:6]))} rows."
        )
    if len(strata) < 4:
        raise InputError(
            f"there should be at least 4 rows, two for each half; there are {len(strata)}."
        )


def pair_of_rows(strata: Indices, seed: int, number: int) -> Pair:
    """Return the rows of two halves, ascending; every row is in one of them.

    Each stratum is cut in two at random. Where one has an odd row, these rows are dealt in turn, so
    that both halves have as many rows, up to one.

    Parameters
    ----------
    strata : integer array of shape (N,)
    seed, number : int
        Which pair: the same numbers give the same one.

    Examples
    --------
    >>> first, second = pair_of_rows(np.array([0, 0, 0, 0, 1, 1]), seed=0, number=0)
    >>> len(first), len(second), sorted([*first.tolist(), *second.tolist()])
    (3, 3, [0, 1, 2, 3, 4, 5])
    """
    random = np.random.default_rng([seed, number])
    order = random.permutation(len(strata))
    order = order[np.argsort(strata[order], kind="stable")]  # at random within each stratum
    sizes = np.bincount(strata)
    ends = np.cumsum(sizes)
    place = np.arange(len(order)) - np.repeat(ends - sizes, sizes)  # within the stratum
    half = place % 2
    odd = np.flatnonzero(sizes % 2)
    half[ends[odd] - 1] = (random.permutation(len(odd)) + random.integers(2)) % 2
    return np.sort(order[half == 0]), np.sort(order[half == 1])


def pair_of_blocks(n_blocks: int, seed: int, number: int) -> Pair:
    """Return the random blocks of two halves, as many in each.

    Examples
    --------
    >>> first, second = pair_of_blocks(4, seed=0, number=0)
    >>> sorted([*first.tolist(), *second.tolist()])
    [0, 1, 2, 3]
    """
    order = np.random.default_rng([seed, number]).permutation(n_blocks)
    return np.sort(order[: n_blocks // 2]), np.sort(order[n_blocks // 2 :])
