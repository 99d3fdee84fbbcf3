"""Permutations of a response whose rows are spread over several places: made there.

Of classes only their sizes are known here, of numbers at most 2^20 rows, a sample if there are
more. Which row gets which follows from the numbers of the rows (`matrix/permuted.py`), so that the
permutations are those of the same table in memory, unless rows are sampled.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode.labels import Labels
from orthoselect.encode.response import Response
from orthoselect.encode.spread import reduce_along
from orthoselect.matrix.base import Floats
from orthoselect.matrix.permuted import (
    PermutedRows,
    Shuffle,
    Sources,
    items_of,
    mixed,
    scatter_of,
)
from orthoselect.matrix.rows import SpreadRows, SpreadWeights

_MOST_ROWS = 1 << 20

Classes = dict[int, tuple[int, Floats]]  # items and row of V of each class


def spread_permuted(
    response: Response, w: SpreadWeights | None, n_permutations: int, seed: int
) -> tuple[SpreadRows, Floats | None]:
    """Return `PermutedRows` in pieces, and the scatter of each permutation if that is not of V."""
    V: SpreadRows = response.V
    passes, pieces = V.passes, len(V.handles[0])
    numbers = SpreadRows((range(pieces),), _as_it_is, V.shape, passes)
    counted: dict[int, tuple[int, int]] = reduce_along(passes, _count, dict.__or__, numbers, V, w)
    counts = [counted.get(k, (0, 0)) for k in range(pieces)]
    rows, items = (np.cumsum([0, *(c[i] for c in counts)]).tolist() for i in range(2))
    shuffle = Shuffle(items[-1], n_permutations, seed)
    part = response.parts[0] if len(response.parts) == 1 else None
    if isinstance(part, Labels):
        codes: Any = part.codes
        found = reduce_along(passes, _see_classes, _merge_classes, codes, V, w)
        table = np.array([found[k][1] for k in sorted(found)])
        sizes = np.array([found[k][0] for k in sorted(found)], dtype=np.int64)
        sources = Sources(table.astype(np.float32), sizes)
    else:
        sources = _values(V, w, rows, items, numbers)
    starts = [range(pieces), rows[:-1], items[:-1]]
    make = partial(_make, shuffle, sources)
    spans = SpreadRows(tuple(starts), _together, V.shape, passes)
    Z = spans.then(make, V, *([] if w is None else [w]), width=n_permutations * V.shape[1])
    if w is None or w.whole:
        return Z, None
    return Z, scatter_of(*reduce_along(passes, PermutedRows.moments, _add_moments, Z))


def _together(*at: int) -> tuple[int, ...]:
    return at


def _as_it_is(piece: Any) -> Any:
    return piece


def _count(number: int, V: Floats, w: Floats | None) -> dict[int, tuple[int, int]]:
    """Return the rows and the items of a piece, by its number."""
    _, copies, _ = items_of(w)
    n_items = len(V) if w is None else int((w > 0).sum() if copies is None else copies.sum())
    return {number: (len(V), n_items)}


def _see_classes(codes: NDArray, V: Floats, w: Floats | None) -> Classes:
    counts = np.ones(len(V)) if w is None else w
    copies = items_of(w)[1]
    each = counts > 0 if copies is None else copies
    found: Classes = {}
    for k in np.unique(codes[counts > 0]).tolist():
        here = np.flatnonzero((codes == k) & (counts > 0))
        row = V[here[0]] / np.sqrt(counts[here[0]])
        found[k] = int(each[here].sum()), row
    return found


def _merge_classes(a: Classes, b: Classes) -> Classes:
    merged = {k: (n + (b[k][0] if k in b else 0), row) for k, (n, row) in a.items()}
    return {**b, **merged}


def _values(
    V: SpreadRows, w: SpreadWeights | None, rows: list[int], items: list[int], numbers: SpreadRows
) -> Sources:
    """Bring rows of numbers here, all of them if they are few."""
    keep = -(-rows[-1] // _MOST_ROWS)
    pick = partial(_pick, rows, keep)
    found = reduce_along(V.passes, pick, dict.__or__, numbers, V, w)
    values = np.concatenate([found[k][0] for k in sorted(found)]).astype(np.float32)
    copies = np.concatenate([found[k][1] for k in sorted(found)])
    codes = None
    if keep > 1:  # a sample stands for all items
        count, n_items = len(values), items[-1]
        return Sources(values, codes=None, modulus=min(count, n_items))
    if (copies != 1).any():
        codes = np.repeat(np.arange(len(values)), copies)
    return Sources(values, codes=codes)


def _pick(
    rows: list[int], keep: int, number: int, V: Floats, w: Floats | None
) -> dict[int, tuple[Floats, NDArray[np.int64]]]:
    """Return rows of a piece that have weight, one in so many; unweighted, and their copies."""
    at = np.arange(rows[number], rows[number] + len(V)).astype(np.uint64)
    picked = np.ones(len(V), dtype=bool) if keep == 1 else mixed(at) % np.uint64(keep) == 0
    weights = np.ones(len(V)) if w is None else w
    picked &= weights > 0
    copies = items_of(w)[1]
    each = np.ones(len(V), dtype=np.int64) if copies is None else copies
    return {number: (V[picked] / np.sqrt(weights[picked])[:, None], each[picked])}


def _make(
    shuffle: Shuffle,
    sources: Sources,
    span: tuple[int, int, int],
    V: Floats,
    w: Floats | None = None,
) -> PermutedRows:
    """Return the permuted rows of a piece."""
    _, row, item = span
    items, copies, rest = items_of(w, item)
    these = range(shuffle.n_permutations)
    return PermutedRows(shuffle, sources, range(row, row + len(V)), items, copies, rest, these)


def _add_moments(
    a: tuple[Floats, Floats, Floats], b: tuple[Floats, Floats, Floats]
) -> tuple[Floats, Floats, Floats]:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]
