"""Selected features as columns for a model, of training and of validation rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import scipy.sparse as sp

from orthoselect.errors import NonFiniteError
from orthoselect.matrix.base import Floats, Indices
from orthoselect.read import Block


@dataclass(frozen=True)
class Designs:
    """The columns of all selected features, in order of selection.

    Attributes
    ----------
    train, validation : array or SciPy sparse array
        Of as many columns each.
    ends : list of int
        After how many columns each feature ends.
    """

    train: Any
    validation: Any
    ends: list[int]

    def first(self, n_features: int) -> tuple[Any, Any]:
        """Return the columns of the features selected first, of training and validation rows."""
        end = self.ends[n_features - 1]
        return self.train[:, :end], self.validation[:, :end]


def build_designs(
    train: Block,
    validation: Block,
    features: Sequence[Sequence[int]],
    categorical: set[int],
    sparse: bool,
) -> Designs:
    """Code the columns of features: numbers as they are, labels as indicators.

    An indicator stands for a level that occurs in the training rows; the most frequent one there
    has none. Other levels in the validation rows are zero in all indicators.

    Parameters
    ----------
    train, validation : Block
    features : sequence of columns for each feature
    categorical : set of columns that hold labels
    sparse : bool
        Whether to keep sparse columns sparse.
    """
    columns = [column for feature in features for column in feature]
    coded = _code_numbers(train, validation, [c for c in columns if c not in categorical], sparse)
    for column in columns:
        if column in categorical:
            coded[column] = _code_labels(train, validation, column)
    widths = [sum(coded[column][0].shape[1] for column in feature) for feature in features]
    sides = [[coded[column][side] for column in columns] for side in (0, 1)]
    if sparse:
        stacked = [sp.csc_array(sp.hstack(blocks, format="csc")) for blocks in sides]
    else:
        stacked = [np.hstack(blocks) for blocks in sides]
    return Designs(stacked[0], stacked[1], list(accumulate(widths)))


def _code_numbers(
    train: Block, validation: Block, columns: list[int], sparse: bool
) -> dict[int, tuple[Any, Any]]:
    """Return each column's numbers, (rows, 1), in training and validation rows."""
    at = np.array(columns, dtype=np.intp)
    sides = [_numbers(block, at, sparse) for block in (train, validation)]
    return {c: (sides[0][:, [k]], sides[1][:, [k]]) for k, c in enumerate(columns)}


def _numbers(block: Block, columns: Indices, sparse: bool) -> Any:
    if not len(columns):
        return np.empty((block.n_rows, 0))
    place = np.argsort(np.argsort(columns))  # blocks read columns in the table's order
    values = block.numeric(np.sort(columns))[:, place]
    values = (sp.csc_array(values) if sp.issparse(values) else values).astype(np.float64)
    _check_finite(values, [block.names[column] for column in columns])
    return values.toarray() if sp.issparse(values) and not sparse else values


def _check_finite(values: Any, names: list[str]) -> None:
    """Raise for gaps in validation rows, which the selection did not see."""
    if np.isfinite(values.data if sp.issparse(values) else values).all():
        return
    dense = values.toarray() if sp.issparse(values) else values
    gaps = zip(names, np.isnan(dense).sum(0).tolist(), np.isinf(dense).sum(0).tolist())
    raise NonFiniteError({name: (n_nan, n_inf) for name, n_nan, n_inf in gaps if n_nan or n_inf})


def _code_labels(train: Block, validation: Block, column: int) -> tuple[Floats, Floats]:
    """Return indicators of the levels that occur in the training rows, in both kinds of rows."""
    known, other = train.labels(column), validation.labels(column)
    place = {level: code for code, level in enumerate(known.levels)}
    codes = np.array([place.get(level, -1) for level in other.levels])[other.codes]
    usual = int(np.bincount(known.codes).argmax())
    n_levels = len(known.levels)
    return _indicators(known.codes, n_levels, usual), _indicators(codes, n_levels, usual)


def _indicators(codes: Indices, n_levels: int, usual: int) -> Floats:
    """Return a column for each code but the usual one; code -1 is zero in all."""
    block = np.zeros((len(codes), n_levels))
    rows = np.flatnonzero(codes >= 0)
    block[rows, codes[rows]] = 1.0
    return np.delete(block, usual, axis=1)
