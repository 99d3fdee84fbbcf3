"""The candidates a state begins with: columns that vary, and features of several columns as blocks.

Notation as in cancorr.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import Design
from orthoselect.matrix import Geometry, Matrix, NonFiniteColumns, ScaledMatrix
from orthoselect.matrix.base import NO_COLUMNS, Floats, Indices

# With at least this much left of a column, a row from Gram columns keeps enough digits.
HEALTHY = 1e-4
_MOSTLY = 0.9


class Blocks(NamedTuple):
    """The features of one width: their places, columns (features, p) and residual Grams D."""

    features: Indices
    columns: Indices
    D: Floats


@dataclass(frozen=True)
class Candidates:
    """The features that own columns, and which.

    `ids` (features,) are their indices in the design, by which the search knows them. `single`
    (features,) is the column of a feature that owns just one, else -1; `wide` has the columns of
    those that own several (or none), by their place in `ids`; `coded` are the ids of those whose
    columns are indicators of one categorical column. `twins` were left out, since their column is a
    multiple of that of the feature in `stand_ins`, which comes before them.
    """

    ids: Indices
    single: Indices
    wide: Mapping[int, Indices]
    total: int  # features, those without columns too
    coded: frozenset[int] = frozenset()
    twins: Indices = field(default_factory=NO_COLUMNS.copy)
    stand_ins: Indices = field(default_factory=NO_COLUMNS.copy)

    def owning(self, place: Indices) -> Candidates:
        """Return those that own a column still.

        `place` (n + 1,) says where each column is now, or -1; its last stands for no column.
        """
        single = place[self.single]
        owning, wide = single >= 0, {}
        if self.wide:
            left = {f: place[columns][place[columns] >= 0] for f, columns in self.wide.items()}
            owning[[f for f, columns in left.items() if len(columns)]] = True
            at = np.cumsum(owning) - 1
            wide = {int(at[f]): columns for f, columns in left.items() if len(columns)}
        return replace(self, ids=self.ids[owning], single=single[owning], wide=wide)

    def place(self, f: int) -> int:
        """Return where feature f stands, or what stands in for it; -1 if neither is here."""
        at = np.flatnonzero(self.ids == f)
        if at.size:
            return int(at[0])
        twin = np.flatnonzero(self.twins == f)
        return self.place(int(self.stand_ins[twin[0]])) if twin.size else -1

    def ids_among(self, open_: NDArray[np.bool_], taken: Sequence[int]) -> Indices:
        """Return the ids; of a feature closed though not taken, that of its first open twin.

        Searches close what they take, mostly, and nothing else.
        """
        if not self.twins.size:
            return self.ids
        closed = self.total - np.count_nonzero(open_)
        if closed == len(taken) and not open_[list(taken)].any():
            return self.ids
        heirs = np.flatnonzero(open_[self.twins] & ~open_[self.stand_ins])[::-1]
        heir_of = np.arange(self.total)
        heir_of[self.stand_ins[heirs]] = self.twins[heirs]  # of several the first, which is last
        return heir_of[self.ids]


class Reduced(NamedTuple):
    """What is left of a design without columns of zeros.

    `unowned` are the columns of the matrix that no candidate owns; `columns` are those of the
    design that it has, None if it has all of them, in their order.
    """

    matrix: Matrix
    candidates: Candidates
    unowned: Indices
    columns: Indices | None = None

    def in_design(self, found: NonFiniteColumns) -> NonFiniteColumns:
        """Return what was found by the columns of the design."""
        if self.columns is None:
            return found
        at = self.columns
        counts = {int(at[j]): count for j, count in found.counts.items()}
        return NonFiniteColumns(counts, {int(at[j]): place for j, place in found.places.items()})


def without_empty(design: Design) -> Reduced:
    """Leave out columns of zeros, if they are many and the matrix can do without them.

    Sparse tables are often full of columns that are empty in the rows at hand, and of others with
    one number only: those are all the same in one row, and one of them will do.
    """
    matrix, unowned, total = design.matrix, design.unowned, len(design.features)
    candidates = Candidates(np.arange(total), design.single, design.wide, total, design.coded)
    everything = Reduced(matrix, candidates, unowned)
    n, filled = matrix.shape[1], matrix.filled(distinct=design.plain)
    if filled is None or len(filled.columns) >= _MOSTLY * n:
        return everything
    less = matrix.restricted(filled.columns)
    if less is None:
        return everything
    if unowned.size:
        unowned = np.flatnonzero(np.isin(filled.columns, unowned))
    if filled.twins.size:
        stand_ins = filled.columns[filled.of]
        candidates = replace(candidates, twins=filled.twins, stand_ins=stand_ins)
    places = np.arange(len(filled.columns))
    if design.plain:  # features in the order of the columns, which takes less time in each step
        candidates = replace(candidates, ids=filled.columns, single=places)
    else:
        place = np.full(n + 1, -1, dtype=np.intp)
        place[filled.columns] = places
        candidates = candidates.owning(place)
    return Reduced(less, candidates, unowned, filled.columns)


def without_constants(
    candidates: Candidates, X: ScaledMatrix, VtX: Floats
) -> tuple[Candidates, ScaledMatrix, Floats]:
    """Leave out constant features, and their columns if many and the matrix can do without them."""
    n, alive = X.shape[1], np.flatnonzero(X.alive)
    if len(alive) == n and not candidates.wide:  # the usual case
        return candidates, X, VtX
    less = X.restricted(alive) if len(alive) < _MOSTLY * n else None
    place = np.full(n + 1, -1, dtype=np.intp)
    place[alive] = alive if less is None else np.arange(len(alive))
    if less is not None:
        X, VtX = less, VtX[:, alive]
    return candidates.owning(place), X, VtX


def independent_columns(
    X: ScaledMatrix, geometry: Geometry, wide: Mapping[int, Indices]
) -> dict[int, tuple[Indices, Floats]]:
    """Return columns of each block that its others depend on, and their Gram.

    Those known best come first, whatever their order in the table. A column far from zero is known
    to few digits; were it the first, another that says the same more exactly would count as its
    copy. So it is with a column that hardly differs from the first, and another that differs more.
    """
    if not wide:
        return {}
    columns = {f: J[np.argsort(X.sizes[J], kind="stable")] for f, J in wide.items()}
    grams = dict(zip(columns, X.block_grams(list(columns.values()))))
    healthy = {f for f, G in grams.items() if len(G) < 2 or np.linalg.eigvalsh(G)[0] >= HEALTHY}
    doubtful = [f for f in columns if f not in healthy]
    if doubtful:
        places = geometry.independent([columns[f] for f in doubtful])
        for f, kept in zip(doubtful, places):
            columns[f], grams[f] = columns[f][kept], grams[f][np.ix_(kept, kept)]
    return {f: (J, grams[f]) for f, J in columns.items()}


def blocks_by_width(blocks: dict[int, tuple[Indices, Floats]]) -> list[Blocks]:
    """Put features of the same number of columns together, by their places."""
    widths: dict[int, list[int]] = {}
    for f, (J, _) in blocks.items():
        widths.setdefault(len(J), []).append(f)
    return [
        Blocks(
            np.array(features),
            np.stack([blocks[f][0] for f in features]),
            np.stack([blocks[f][1] for f in features]),
        )
        for features in widths.values()
    ]
