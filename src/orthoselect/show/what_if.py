"""What a page needs to redo a selection where it is read: the leading features in small.

The page carries columns of a few numbers each with the same inner products as the real ones. By
orthogonal transformations of the rows the leading columns A (N, n), centered, weighted and at norm
one, and the response basis V (N, m) become

    R  S       R (n, n) triangular, A'A = R'R
    0  T       S (n, m), A'V = R'S

and what a column of A explains of V beside others is what its column of R explains of S beside
theirs. Unlike inner products themselves, columns keep the digits of what is nearly dependent.
`templates/what_if.js` selects from them by the rules of `criteria/cancorr.py`.

A feature that the page does not carry cannot win there. So those are carried that do win in
selections from all features: of more features than the path has, and without each selected one.
What was tried that way and needs no other feature, the page knows to be exact.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, takewhile, zip_longest
from typing import Any

import numpy as np

from orthoselect.criteria import SquaredCanonicalCorrelations
from orthoselect.criteria.candidates import independent_columns
from orthoselect.criteria.uncertainty import NOTHING, TIE
from orthoselect.encode import Design
from orthoselect.matrix import ScaledMatrix, center
from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.basis import ROUNDINGS
from orthoselect.matrix.rows import Rows
from orthoselect.matrix.triangle import Factor
from orthoselect.methods import METHODS
from orthoselect.result import SelectionPath
from orthoselect.search import ForwardSearch
from orthoselect.selection import start
from orthoselect.show.facts import kind_of
from orthoselect.show.replay import Replay

# Columns that a page carries: so many anyway, more where these are known to win, and at most.
COLUMNS, ROOM, MOST_COLUMNS = 60, 80, 150
_MORE = 10  # features that the page may take beyond those of the path
# Multiplications that trying changes on all features may take, about a second; and what else a
# step costs, in these.
_WORK, _STEP = 5e9, 2e6


def what_if(walked: Replay, path: SelectionPath) -> dict[str, Any] | None:
    """Return what a page needs to select again without some features, or with others.

    Parameters
    ----------
    walked : Replay
    path : SelectionPath
        What was walked again.

    Returns
    -------
    carried : dict or None
        Plain values, ready for JSON. None if there is nothing to redo: the method's gains are no
        squared canonical correlations, the search was no forward search, nothing was selected, all
        is constant, or what was selected has more than `MOST_COLUMNS` columns.

        ``features``
            Name, kind, place among all features and number of independent columns of each feature
            that is carried; a feature's columns stand together, in this order.
        ``included, size, most``
            Which of them were asked for, how many features the path has, and how many the page
            may take.
        ``sure``
            What needs no feature that is not carried: selecting up to `size` features, and
            selecting again without one of the features in `without`.
        ``columns, n_columns, n_features``
            How many columns the page carries, and how many columns and features there are.
        ``rank, rows, adjust``
            The rank of the response, the number of rows or the sum of their weights, and how
            gains are adjusted before they are compared; None if not.
        ``triangle, response, roundings``
            R by columns, upper part only; S (n, q) by rows, where q is at most n; one rounding of
            each column. 64-bit floats, the lowest byte first, in base 64.
        ``tolerances``
            Gains closer than `tie` are equal, those below `nothing` are none; a column depends on
            others if no more than `dependent` roundings are left of it.
    """
    if not _can_be_redone(walked, path):
        return None
    design, problem = walked.design, walked.problem
    most = min(len(path) + _MORE, len(design.features))
    places, sure = _features_to_carry(walked, path, most)
    X, _ = center(design.matrix, problem.response.V, problem.weights, ignored=design.unowned)
    owned = _independent(X, problem.response.V, design, places)
    J = np.concatenate([owned[f] for f in places])
    R, S = _in_small(X, problem.response.V, J)
    features = [design.features[f] for f in places]
    described = [
        {"name": feature.name, "kind": kind_of(feature, problem), "place": f, "columns": len(own)}
        for f, feature, own in zip(places, features, map(owned.__getitem__, places))
    ]
    return {
        "features": described,
        "included": [places.index(f) for f in design.features.places(problem.include)],
        "size": len(path),
        "most": most,
        "sure": sure,
        "columns": len(J),
        "n_columns": _width_of_all(design),
        "n_features": len(design.features),
        "rank": problem.response.m,
        "rows": X.total,
        "adjust": _adjustment(path),
        "triangle": _packed(R.T[np.tril_indices(len(R))]),
        "response": _packed(S),
        "roundings": _packed(X.sizes[J]),
        "tolerances": {"tie": TIE, "nothing": NOTHING, "dependent": ROUNDINGS},
    }


def why_no_what_if(walked: Replay, path: SelectionPath) -> str | None:
    """Say why the page cannot select again, if that is because of what was selected."""
    if not _may_be_redone(walked, path):
        return None
    widths = {f: _width(walked.design, [f]) for f in walked.places}
    total, widest = sum(widths.values()), max(widths, key=widths.__getitem__)
    if total <= MOST_COLUMNS:
        return None
    why = (
        f"This page does not select again without some features or with others: those chosen have "
        f"{total:,} columns together, and a page carries {MOST_COLUMNS} at most."
    )
    if widths[widest] > 1:
        name = walked.design.features[widest].name
        n_own = widths[widest]
        why += f" “{name}” has most of them, {n_own:,}: one for each level or column of it."
    return why


def _can_be_redone(walked: Replay, path: SelectionPath) -> bool:
    return _may_be_redone(walked, path) and _width(walked.design, walked.places) <= MOST_COLUMNS


def _may_be_redone(walked: Replay, path: SelectionPath) -> bool:
    return (
        isinstance(walked.criterion, SquaredCanonicalCorrelations)
        and path.options.get("search", "forward") == "forward"
        and _adjustment(path) in (None, "chance")
        and len(path) > 0
        and walked.problem.response.m > 0
        and not np.isnan(walked.relevance).all()
    )


def _adjustment(path: SelectionPath) -> str | None:
    """Return how gains were adjusted; a path reports that if it was asked for."""
    return path.options.get("adjust", METHODS[path.method].options.get("adjust"))


def _width(design: Design, places: Iterable[int]) -> int:
    return sum(len(design.columns_of(f)) for f in places)


def _width_of_all(design: Design) -> int:
    return design.matrix.shape[1] - len(design.unowned)


# Which features to carry


def _features_to_carry(
    walked: Replay, path: SelectionPath, most: int
) -> tuple[list[int], dict[str, Any]]:
    """Return the places of features, those selected first, and what is sure with these alone."""
    design, chosen = walked.design, walked.places
    room = min(max(ROOM, _width(design, chosen) + COLUMNS), MOST_COLUMNS)
    if _width_of_all(design) <= room:
        everything = dict.fromkeys([*chosen, *range(len(design.features))])
        return list(everything), {"size": most, "without": list(range(len(chosen)))}
    longer, without = _try_changes(walked, path, most)
    carried = dict.fromkeys(chosen)
    # Selections that need few other features go first, so that more of them are sure.
    for selected in sorted(without.values(), key=lambda run: _width(design, {*run} - {*chosen})):
        if _width(design, {*selected, *carried}) <= room:
            carried |= dict.fromkeys(selected)
    _fill(carried, longer, design, room)
    _fill(carried, _rivals(walked), design, COLUMNS)
    known = list(takewhile(carried.__contains__, longer))
    sure = [s for s, f in enumerate(chosen) if f in without and carried.keys() >= {*without[f]}]
    return list(carried), {"size": max(len(known), len(chosen)), "without": sure}


def _fill(carried: dict[int, None], features: Iterable[int], design: Design, room: int) -> None:
    """Add features to those that are carried, as long as there is room for all their columns."""
    used = _width(design, carried)
    for f in features:
        if used >= room:
            return
        width = len(design.columns_of(f))
        if f not in carried and used + width <= room:
            carried[f] = None
            used += width


def _try_changes(
    walked: Replay, path: SelectionPath, most: int
) -> tuple[list[int], dict[int, list[int]]]:
    """Select up to `most` of all features, and again without each of those selected.

    Where that takes long, without the first ones only, or not at all.
    """
    products = path.stats.get("products", most) * walked.design.matrix.n_stored
    tries = int(_WORK // (products + _STEP * len(path)))
    longer = _selected(walked, most) if tries else []
    first = walked.places[: max(tries - 1, 0)]
    return longer, {f: _selected(walked, len(path), f) for f in first}


def _selected(walked: Replay, size: int, without: int | None = None) -> list[int]:
    """Return what is selected of all features, but this one."""
    features, problem = walked.design.features, walked.problem
    include = [f for f in features.places(problem.include) if f != without]
    candidates = np.ones(len(features), dtype=bool)
    if without is not None:
        candidates[without] = False
    state = start(walked.criterion, walked.design, problem, size)
    return [taken.feature for taken in ForwardSearch().run(state, size, include, candidates)]


def _rivals(walked: Replay) -> Iterator[int]:
    """Yield other features that come near: runners-up, and those of large gains, first or last."""
    runners_up = _in_turn([f for f, _, _ in rivals] for rivals in walked.runners_up)
    return _in_turn([runners_up, _largest(walked.gains), _largest(walked.relevance)])


def _largest(gains: Floats) -> list[int]:
    """Return the features by their gains, the largest first, without those that have none."""
    order = np.argsort(-gains, kind="stable")
    return order[~np.isnan(gains[order])].tolist()


def _in_turn(rankings: Iterable[Iterable[int]]) -> Iterator[int]:
    """Yield the first of each, then the second of each, and so on."""
    return (f for f in chain.from_iterable(zip_longest(*rankings)) if f is not None)


# Their columns in small


def _independent(
    X: ScaledMatrix, V: Rows, design: Design, places: Sequence[int]
) -> Mapping[int, Indices]:
    """Return the columns of each feature that its others depend on; none if it is constant."""
    wide = {f: design.wide[f] for f in places if f in design.wide}
    owned = {f: J for f, (J, _) in independent_columns(X, X.geometry(V), wide).items()}
    for f in places:
        J = owned.get(f, design.single[f : f + 1])
        owned[f] = J[X.alive[J]]
    return owned


def _in_small(X: ScaledMatrix, V: Rows, J: Indices) -> tuple[Floats, Floats]:
    """Return R (n, n) of columns J, and S (n, q) with q at most n, by one pass over the rows."""
    factor = X.reduce_columns(J, partial(_factor_of, X.total**-0.5), Factor.merge, [V])
    R, S = factor.R[1:, 1:], factor.K[1:]
    if S.shape[1] > len(S):
        # Only SS' matters, which has no more directions than there are columns.
        U, s, _ = np.linalg.svd(S, full_matrices=False)
        S = U * s
    return R, S


def _factor_of(unit: float, A: Floats, root: Floats | None, V: Floats) -> Factor:
    """Reduce some rows of the columns and the response; the vector of ones leads, for centering."""
    u = np.full(len(A), unit) if root is None else unit * root
    return Factor.of(np.column_stack([u, A]), A[:, :0], V)


def _packed(numbers: Floats) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers, dtype="<f8").tobytes()).decode()
