"""The rows of a block, coded as the columns of statistics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import Labels
from orthoselect.errors import NonFiniteError
from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.triangle import leaf_rows

# What a column stands for: ("ones",), ("x", feature), ("level", feature, number), ("y", response)
# or ("class", response, number). Levels are numbered as they were first seen.
Term = tuple[Any, ...]


@dataclass(frozen=True)
class Coded:
    """A block of rows whose columns are those of a layout.

    Attributes
    ----------
    terms : sequence of Term
        What the columns stand for: ones, the numeric features, then all others.
    numeric : array or SciPy sparse of shape (N, number of numeric features)
    numbers : mapping of Term to array of shape (number of rows with weight,)
    parts : list of (owner, Labels)
        Codes of levels as they were first seen, of the rows with weight.
    rows : integer array or None
        The rows that have weight; None for all.
    n_rows : int
    weights : array of shape (N,) or None
    """

    terms: Sequence[Term]
    numeric: Any
    numbers: dict[Term, Floats]
    parts: list[tuple[Term, Labels]]
    rows: Indices | None
    n_rows: int
    weights: Floats | None

    def tiles(self) -> Iterator[tuple[Floats, Floats | None]]:
        """Yield the rows with weight, a few at a time, and their weights."""
        numeric = self.numeric.tocsr() if hasattr(self.numeric, "tocsr") else self.numeric
        n_rows = self.n_rows if self.rows is None else len(self.rows)
        place = {term: at for at, term in enumerate(self.terms)}
        height = leaf_rows(len(self.terms))
        for start in range(0, n_rows, height):
            tile = slice(start, min(start + height, n_rows))
            rows = tile if self.rows is None else self.rows[tile]
            w = None if self.weights is None else self.weights[rows]
            yield self._rows(numeric[rows], tile, place), w

    def _rows(self, numeric: Any, tile: slice, place: dict[Term, int]) -> Floats:
        n = numeric.shape[1]
        A = np.zeros((tile.stop - tile.start, len(place)))
        A[:, 0] = 1.0
        A[:, 1 : n + 1] = numeric.toarray() if hasattr(numeric, "toarray") else numeric
        for term, values in self.numbers.items():
            A[:, place[term]] = values[tile]
        at = np.arange(len(A))
        for owner, labels in self.parts:
            codes = labels.codes[tile]
            columns = np.array([place[*owner, k] for k in range(int(codes.max()) + 1)])
            A[at, columns[codes]] = 1.0
        return A


def check_finite(numeric: Any, names: Sequence[str]) -> None:
    """Raise for NaN and infinity, in rows without weight too.

    Parameters
    ----------
    numeric : array or SciPy sparse of shape (N, n)
    names : sequence of str
        What the columns are called.
    """
    sparse = hasattr(numeric, "tocoo")
    if (numeric.data if sparse else numeric).dtype.kind != "f":
        return
    with np.errstate(all="ignore"):
        if np.isfinite(numeric.sum()):
            return
    n_nan, n_inf = (_count(numeric, is_bad, sparse=sparse) for is_bad in (np.isnan, np.isinf))
    bad = np.flatnonzero(n_nan + n_inf).tolist()
    if bad:  # none if a sum of finite numbers was too large
        raise NonFiniteError({names[k]: (int(n_nan[k]), int(n_inf[k])) for k in bad})


def _count(numeric: Any, is_bad: Any, *, sparse: bool) -> NDArray[np.intp]:
    """Count the entries of each column that are bad."""
    if not sparse:
        return is_bad(numeric).sum(axis=0)
    entries = numeric.tocoo()
    return np.bincount(entries.col[is_bad(entries.data)], minlength=numeric.shape[1])
