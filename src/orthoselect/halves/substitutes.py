"""Sets of features that stand in for each other.

Which these are the features say by themselves, not the target: two features share a part of their
variation, as in `show.likeness`, and sets are joined by average linkage as long as they share more
than half. So a set is taken, or not, as a feature is, and what bounds false features bounds false
sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from orthoselect.matrix.base import Floats
from orthoselect.plots.clusters import HALF
from orthoselect.show.likeness import shared_variation

MOST_COMPARED = 1000  # features; likeness takes as many squared numbers


def find_sets(bases: Mapping[int, Floats], n_features: int) -> list[list[int]]:
    """Return the sets, by places of features in ascending order; most features are alone.

    Parameters
    ----------
    bases : mapping of int to array of shape (N, r)
        Orthonormal bases of the features that are compared; others are alone.
    n_features : int

    Examples
    --------
    >>> x = np.array([[1.0], [-1.0], [0.0]]) / np.sqrt(2)
    >>> find_sets({0: x, 2: -x}, 3)
    [[0, 2], [1]]
    """
    places = [place for place, basis in bases.items() if basis.shape[1]]
    number = dict.fromkeys(range(n_features), -1)
    if len(places) > 1:
        shares = shared_variation([bases[place] for place in places])
        joins = linkage(squareform(1.0 - shares, checks=False), "average")
        below = np.nextafter(1.0 - HALF, 0.0)  # more than half, not just half
        number |= dict(zip(places, fcluster(joins, below, "distance").tolist()))
    return _grouped(number)


def _grouped(number: Mapping[int, int]) -> list[list[int]]:
    """Return places with the same number together; -1 stands alone."""
    found: dict[tuple[int, int], list[int]] = {}
    for place, n in number.items():
        found.setdefault((n, place if n < 0 else -1), []).append(place)
    return sorted(found.values())


def most_taken(counts: Sequence[int]) -> list[int]:
    """Return the places of the features that are worth comparing: all, or those taken most."""
    if len(counts) <= MOST_COMPARED:
        return list(range(len(counts)))
    order = sorted(range(len(counts)), key=lambda place: -counts[place])
    return sorted(place for place in order[:MOST_COMPARED] if counts[place])
