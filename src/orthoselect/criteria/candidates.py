"""The candidates a state begins with: columns that vary, and features of several columns as blocks.

Notation as in cancorr.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import Design
from orthoselect.matrix import CenteredMatrix, Geometry, Matrix
from orthoselect.matrix.base import Floats, Indices

# With at least this much left of a column, a row from Gram columns keeps enough digits.
HEALTHY = 1e-4
_MOSTLY = 0.9


class Blocks:
    """The features of one width: their places, columns (features, p) and residual Grams D."""

    def __init__(self, features: Indices, columns: Indices, D: Floats) -> None:
        self.features, self.columns, self.D = features, columns, D


def without_empty(design: Design) -> Design:
    """Leave out columns of zeros, if they are many and the matrix can do without them.

    Sparse tables are often full of columns that are empty in the rows at hand.
    """
    filled = design.matrix.filled()
    if filled is None or len(filled) >= _MOSTLY * design.matrix.shape[1]:
        return design
    matrix = design.matrix.restricted(filled)
    return design if matrix is None else _with_columns(design, filled, matrix)


def without_constants(
    design: Design, X: CenteredMatrix, VtX: Floats
) -> tuple[Design, CenteredMatrix, Floats]:
    """Leave out constant columns, if they are many and the matrix can do without them."""
    alive = np.flatnonzero(X.alive)
    less = X.restricted(alive) if len(alive) < _MOSTLY * X.shape[1] else None
    if less is None:
        return design, X, VtX
    return _with_columns(design, alive, less.matrix), less, VtX[:, alive]


def _with_columns(design: Design, J: Indices, matrix: Matrix) -> Design:
    """Return the design of columns J alone, which are those of `matrix`."""
    place = np.full(design.matrix.shape[1] + 1, -1, dtype=np.intp)  # the last stands for "none"
    place[J] = np.arange(len(J))
    wide = {f: place[columns] for f, columns in design.wide.items()}
    wide = {f: columns[columns >= 0] for f, columns in wide.items()}
    return replace(design, matrix=matrix, single=place[design.single], wide=wide)


def constant_features(
    design: Design, X: CenteredMatrix, wide: dict[int, Indices]
) -> NDArray[np.bool_]:
    """Return which features do not vary; `wide` are the useful columns of those with several."""
    constant = ~np.append(X.alive, False)[design.single]
    for f, J in wide.items():
        constant[f] = not len(J)
    return constant


def independent_columns(
    X: CenteredMatrix, geometry: Geometry, wide: Mapping[int, Indices]
) -> dict[int, tuple[Indices, Floats]]:
    """Return the columns of each block that do not depend on those before them, and their Gram."""
    if not wide:
        return {}
    columns = {f: J[X.alive[J]] for f, J in wide.items()}
    grams = dict(zip(columns, X.block_grams(list(columns.values()))))
    doubtful = [f for f, J in columns.items() if len(J) > 1 and not _is_healthy(grams[f])]
    for f, kept in zip(doubtful, geometry.independent([columns[f] for f in doubtful])):
        columns[f], grams[f] = columns[f][kept], grams[f][np.ix_(kept, kept)]
    return {f: (J, grams[f]) for f, J in columns.items()}


def _is_healthy(G: Floats) -> bool:
    return bool(np.linalg.eigvalsh(G)[0] >= HEALTHY)


def blocks_by_width(blocks: dict[int, tuple[Indices, Floats]]) -> list[Blocks]:
    """Put features of the same number of columns together, by their places."""
    widths: dict[int, list[int]] = {}
    for f, (J, _) in blocks.items():
        if len(J):
            widths.setdefault(len(J), []).append(f)
    return [
        Blocks(
            np.array(features),
            np.stack([blocks[f][0] for f in features]),
            np.stack([blocks[f][1] for f in features]),
        )
        for features in widths.values()
    ]
