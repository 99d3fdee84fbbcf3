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
from orthoselect.matrix import CenteredMatrix, Geometry, Matrix, NonFiniteColumns
from orthoselect.matrix.base import NO_COLUMNS, Floats, Indices

# With at least this much left of a column, a row from Gram columns keeps enough digits.
HEALTHY = 1e-4
_MOSTLY = 0.9


class Blocks:
    """The features of one width: their places, columns (features, p) and residual Grams D."""

    def __init__(self, features: Indices, columns: Indices, D: Floats) -> None:
        self.features, self.columns, self.D = features, columns, D


@dataclass(frozen=True)
class Candidates:
    """The features that own columns, and which.

    Attributes
    ----------
    names : integer array of shape (features,)
        What the search calls each of them.
    single : integer array of shape (features,)
        The column of a feature that owns just one, else -1.
    wide : mapping of int to integer array
        The columns of the features that own several (or none), by their place in `names`.
    total : int
        How many features there are, those without columns too.
    plain : bool
        Whether each feature is the column of its place.
    twins : integer array
        Names of features that were left out, since their column is a multiple of another's.
    stand_ins : integer array
        The name of that other one, which comes before them, for each of the twins.
    """

    names: Indices
    single: Indices
    wide: Mapping[int, Indices]
    total: int
    plain: bool = False
    twins: Indices = field(default_factory=NO_COLUMNS.copy)
    stand_ins: Indices = field(default_factory=NO_COLUMNS.copy)

    @classmethod
    def of(cls, design: Design) -> Candidates:
        """Return all features of a design."""
        if design.plain:
            return cls(design.single, design.single, {}, len(design.single), plain=True)
        total = len(design.features)
        return cls(np.arange(total), design.single, design.wide, total)

    def among(self, J: Indices, n: int) -> Candidates:
        """Return those that own some of columns J, of n, which are then all that there are."""
        if self.plain:
            return replace(self, names=self.names[J], single=np.arange(len(J)))
        place = np.full(n + 1, -1, dtype=np.intp)  # the last stands for "none"
        place[J] = np.arange(len(J))
        return self._owning(place)

    def that_vary(self, alive: NDArray[np.bool_]) -> Candidates:
        """Return those that own a column that is alive; columns keep their places."""
        if self.plain and alive.all():  # the usual case
            return self
        return self._owning(np.append(np.where(alive, np.arange(len(alive)), -1), -1))

    def _owning(self, place: Indices) -> Candidates:
        """Return those that own a column still, whose places are now these, or -1."""
        single = place[self.single]
        wide = {f: place[columns] for f, columns in self.wide.items()}
        wide = {f: columns[columns >= 0] for f, columns in wide.items()}
        owning = single >= 0
        owning[[f for f, columns in wide.items() if len(columns)]] = True
        at = np.cumsum(owning) - 1
        wide = {int(at[f]): columns for f, columns in wide.items() if len(columns)}
        return replace(
            self, names=self.names[owning], single=single[owning], wide=wide, plain=False
        )

    def place(self, name: int) -> int:
        """Return where a feature stands, or what stands in for it; -1 if neither is here."""
        at = np.flatnonzero(self.names == name)
        if at.size:
            return int(at[0])
        twin = np.flatnonzero(self.twins == name)
        return self.place(int(self.stand_ins[twin[0]])) if twin.size else -1

    def names_among(self, open_: NDArray[np.bool_], taken: Sequence[int]) -> Indices:
        """Return the names; where one is closed, though it was not taken, its first open twin's.

        Searches close what they take, mostly, and nothing else.
        """
        if not self.twins.size:
            return self.names
        closed = self.total - np.count_nonzero(open_)
        if closed == len(taken) and not open_[list(taken)].any():
            return self.names
        heirs = np.flatnonzero(open_[self.twins] & ~open_[self.stand_ins])[::-1]
        heir_of = np.arange(self.total)
        heir_of[self.stand_ins[heirs]] = self.twins[heirs]  # of several the first, which is last
        return heir_of[self.names]


class Kept(NamedTuple):
    """What is left of a design without columns of zeros.

    Attributes
    ----------
    matrix : Matrix
    candidates : Candidates
        Who owns what of it.
    unowned : indices
        Its columns that nobody owns.
    columns : indices or None
        The columns of the design that it has; None if these are all of them, in their order.
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


def without_empty(design: Design) -> Kept:
    """Leave out columns of zeros, if they are many and the matrix can do without them.

    Sparse tables are often full of columns that are empty in the rows at hand, and of others with
    one number only: those are all the same in one row, and one of them will do.
    """
    everything = Kept(design.matrix, Candidates.of(design), design.unowned)
    matrix, candidates, unowned, _ = everything
    n, filled = matrix.shape[1], matrix.filled(distinct=candidates.plain)
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
    return Kept(less, candidates.among(filled.columns, n), unowned, filled.columns)


def without_constants(
    candidates: Candidates, X: CenteredMatrix, VtX: Floats
) -> tuple[Candidates, CenteredMatrix, Floats]:
    """Leave out constant columns, if they are many and the matrix can do without them."""
    alive = np.flatnonzero(X.alive)
    less = X.restricted(alive) if len(alive) < _MOSTLY * X.shape[1] else None
    if less is None:
        return candidates, X, VtX
    return candidates.among(alive, X.shape[1]), less, VtX[:, alive]


def independent_columns(
    X: CenteredMatrix, geometry: Geometry, wide: Mapping[int, Indices]
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
        widths.setdefault(len(J), []).append(f)
    return [
        Blocks(
            np.array(features),
            np.stack([blocks[f][0] for f in features]),
            np.stack([blocks[f][1] for f in features]),
        )
        for features in widths.values()
    ]
