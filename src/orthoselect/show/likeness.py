"""Which features say the same: the chosen ones and those that were nearly chosen, as a tree.

Two features share ||U_f'U_g||^2 / min(r_f, r_g) of their variation, in the notation of `explained`:
for two columns of numbers their squared correlation; for a categorical feature or a group the mean
of the squared canonical correlations, over as many as the smaller of the two has columns. Features
join at what they share, groups of them at the mean over all pairs (average linkage).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from orthoselect.matrix import orthonormalize
from orthoselect.matrix.base import Floats
from orthoselect.show.explained import FeatureColumns
from orthoselect.show.replay import Replay

MOST_IN_TREE = 30


def find_clusters(walked: Replay, columns: FeatureColumns) -> dict[str, Any] | None:
    """Return the tree of the chosen features and those that were nearly chosen at some step.

    None if fewer than two of them vary. Of many, the first chosen come first, then those nearly
    chosen that are most relevant.

    Returns
    -------
    clusters : dict
        ``names`` and ``steps`` of the features, from one end of the tree to the other, None for
        the step of one that is not chosen; ``joins``, pairs of places with what the two share, from
        0 to 1: a place below the number of features is a feature, the next is the first join, and
        so on; ``left_out``, how many more there are.
    """
    near = np.flatnonzero(walked.near)
    near = near[np.argsort(-walked.relevance[near], kind="stable")]
    varying = [f for f in [*walked.places, *near.tolist()] if columns.ranks[f]]
    shown = varying[:MOST_IN_TREE]
    if len(shown) < 2:
        return None
    shares = shared_variation([orthonormalize(*columns.columns_of(f))[0] for f in shown])
    joins = linkage(squareform(1.0 - shares, checks=False), "average")
    order = leaves_list(joins)
    place = {int(leaf): at for at, leaf in enumerate(order)}
    steps = {f: step for step, f in enumerate(walked.places, start=1)}
    ordered = [shown[leaf] for leaf in order]
    return {
        "names": [walked.design.features[f].name for f in ordered],
        "steps": [steps.get(f) for f in ordered],
        "joins": [
            {"of": [place.get(int(a), int(a)), place.get(int(b), int(b))], "share": float(1.0 - d)}
            for a, b, d, _ in joins
        ],
        "left_out": len(varying) - len(shown),
    }


def shared_variation(bases: Sequence[Floats]) -> Floats:
    """Return which part of their variation each two features share.

    Parameters
    ----------
    bases : sequence of arrays of shape (N, r_f)
        Orthonormal, at least one column each.

    Examples
    --------
    >>> x = np.array([[1.0], [-1.0], [0.0]]) / np.sqrt(2)
    >>> shared_variation([x, -x]).round(2)
    array([[1., 1.],
           [1., 1.]])
    """
    ranks = np.array([U.shape[1] for U in bases])
    ends = np.cumsum(ranks)
    M = np.hstack(bases)
    squares = (M.T @ M) ** 2
    by_feature = np.add.reduceat(np.add.reduceat(squares, ends - ranks, axis=0), ends - ranks, 1)
    shares = np.clip(by_feature / np.minimum.outer(ranks, ranks), 0.0, 1.0)
    np.fill_diagonal(shares, 1.0)
    return (shares + shares.T) / 2
