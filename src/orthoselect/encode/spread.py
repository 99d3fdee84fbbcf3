"""The response and the weights of a table whose rows are spread over several places: coded there.

Only what has been counted or added up comes here: the classes and their sizes, or the means and
inner products of numbers. Notation: Y (N, q) responses of numbers, u (N,) square roots of the row
weights at norm one, V (N, m) the orthonormal basis of the centered response.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from orthoselect.encode.class_sizes import check_class_sizes
from orthoselect.encode.labels import Labels, LevelsSeen
from orthoselect.encode.response import (
    ENCODINGS,
    TASKS,
    Response,
    TargetColumn,
    as_quantity,
    check_choice,
    check_classes,
    check_finite,
    class_rows,
    constant_target,
)
from orthoselect.encode.weights import WeightFacts, read_weights
from orthoselect.encode.whole_numbers import NumbersSeen
from orthoselect.errors import InputError
from orthoselect.matrix.base import EPS, Floats
from orthoselect.matrix.basis import orthonormalize
from orthoselect.matrix.checksums import (
    period_of,
    rows_to_check,
    sum_of_objects,
    sums_of_numbers,
)
from orthoselect.matrix.passes import SpreadPasses, altered
from orthoselect.matrix.rows import Rows, SpreadRows, SpreadWeights, total_weight
from orthoselect.matrix.sums import Merging
from orthoselect.matrix.triangle import Factor

Part = TypeVar("Part")
_MOST_CLASSES = 20_000  # of which the codes still fit two bytes, and V one machine


def reduce_along(
    passes: SpreadPasses,
    work: Callable[..., Part],
    merge: Callable[[Part, Part], Part],
    *along: Rows | None,
) -> Part:
    """Merge what ``work(*pieces)`` gives in each place, neighbors first."""
    start, add = partial(Merging, merge), partial(_add_part, work)
    return passes.run_along(start, add, Merging.followed_by, along).result()


def _add_part(work: Callable[..., Part], parts: Merging[Part], *pieces: Any) -> None:
    parts.add(work(*pieces))


def check_spread_weights(w: SpreadRows, *, keep_whole: bool = False) -> SpreadWeights | None:
    """Return row weights where they are, as `check_weights` does; a piece is an array of them."""
    passes: SpreadPasses = w.passes
    w = passes.kept(w.then(_read_piece, width=1))
    facts = reduce_along(passes, WeightFacts.of, WeightFacts.merge, w)
    facts.check()
    if facts.are_equal:
        return None
    whole = keep_whole and facts.are_copies
    if not whole:
        largest = facts.largest / facts.mean
        mean = _sum(w.then(partial(_over, largest, 1.0), width=1)) / facts.n_live / facts.mean
        w = passes.kept(w.then(partial(_over, largest, mean), width=1))
    return SpreadWeights.of(w, _sum(w), facts.n_live, whole=whole)


def spread_weights(w: Floats | None, passes: SpreadPasses) -> SpreadWeights | None:
    """Return weights that are here, and were checked, as spread ones."""
    if w is None:
        return None
    facts = WeightFacts.of(w)
    return SpreadWeights.of(passes.spread(w), float(w.sum()), facts.n_live, whole=facts.whole)


def _read_piece(w: Any) -> Floats:
    return read_weights(w, len(w))


def _over(largest: float, mean: float, w: Floats) -> Floats:
    return w / largest / mean


def _sum(w: SpreadRows) -> float:
    return math.fsum(reduce_along(w.passes, _sum_of_piece, operator.add, w))


def _sum_of_piece(w: Floats) -> list[float]:
    return [float(w.sum())]


def build_spread_response(
    columns: SpreadRows, task: str, encoding: str, w: SpreadWeights | None
) -> Response | None:
    """Code a spread response and find its orthonormal basis; as `build_response`.

    Each piece of `columns` is a list of `TargetColumn`, the same ones everywhere. The answer is
    None if there are several and not all are numbers: such have to be put together.
    """
    check_choice(task, TASKS, "task")
    check_choice(encoding, ENCODINGS, "response_encoding")
    passes: SpreadPasses = columns.passes
    numbers = SpreadRows((range(len(columns.handles[0])),), _as_it_is, columns.shape, passes)
    facts = reduce_along(passes, _ResponseFacts.of, _ResponseFacts.merge, columns, w, numbers)
    columns = facts.watched(columns)
    may_be_quantities = task == "auto" and all(facts.is_number)
    if task == "regression" or (may_be_quantities and facts.numbers.are_quantities()):
        return _numbers(columns, facts.names, w)
    if len(facts.names) == 1:
        may_be_names = task == "auto" and not facts.is_number[0]
        return _classes(columns, facts.names[0], encoding, w, may_be_names=may_be_names)
    return None


def _as_it_is(piece: Any) -> Any:
    return piece


@dataclass(frozen=True)
class _ResponseFacts:
    """What the pieces of a response have in common, column by column; and their checksums."""

    names: list[str]
    is_number: list[bool]
    numbers: NumbersSeen
    checksums: dict[int, list[int]]  # by the number of the piece

    @staticmethod
    def of(columns: Sequence[TargetColumn], weights: Floats | None, number: int) -> _ResponseFacts:
        """Look at a piece."""
        check_finite(columns)
        return _ResponseFacts(
            [column.name for column in columns],
            [column.is_number for column in columns],
            NumbersSeen.of(columns, weights),
            {number: [_checksum(column) for column in columns]},
        )

    def merge(self, other: _ResponseFacts) -> _ResponseFacts:
        """Return what both have found."""
        if self.is_number != other.is_number:
            raise InputError(
                "y should be of one kind in all partitions; it holds numbers in some and labels "
                "in others. Convert it."
            )
        numbers = self.numbers.merge(other.numbers)
        return _ResponseFacts(
            other.names, other.is_number, numbers, self.checksums | other.checksums
        )

    def watched(self, columns: SpreadRows) -> SpreadRows:
        """Return the same response, of which every later pass has to get the same pieces."""
        known = [self.checksums.get(number) for number in range(len(columns.handles[0]))]
        before = SpreadRows((known,), _as_it_is, columns.shape, columns.passes)
        return columns.then(_unchanged, before, width=len(self.names))


def _checksum(column: TargetColumn) -> int:
    """Return the checksum of some rows of a column."""
    n_rows = len(column.values)
    rows, weights = rows_to_check(0, n_rows, period_of(n_rows))
    values = column.values[rows]
    if column.levels is not None:
        return int(sum_of_objects([column.levels[code] for code in values.tolist()], weights))
    is_plain = values.dtype.kind in "fiub"
    return int((sums_of_numbers if is_plain else sum_of_objects)(values, weights))


def _unchanged(columns: Sequence[TargetColumn], before: list[int] | None) -> Sequence[TargetColumn]:
    """Return a piece, having seen that it is what it was in a pass before."""
    if before is not None:
        odd = [c.name for c, known in zip(columns, before) if _checksum(c) != known]
        if odd:
            raise altered(odd)
    return columns


# Classes


def _classes(
    columns: SpreadRows, name: str, encoding: str, w: SpreadRows | None, *, may_be_names: bool
) -> Response:
    """Find the classes and their sizes in a pass each; code the rows where they are."""
    passes: SpreadPasses = columns.passes
    seen = reduce_along(passes, _see, _merge_seen, columns, w)
    levels, n_rows = seen.levels(), seen.n_rows
    check_classes(name, len(levels), n_rows, len(levels))
    if len(levels) == 1:
        raise constant_target([name], levels[0])
    rows = seen.rows_by_level()
    check_class_sizes(name, {level: rows[level] for level in levels}, may_be_names=may_be_names)
    places = {level: at for at, level in enumerate(levels)}
    codes = passes.kept(columns.then(partial(_code, places), width=1))
    V = class_rows(encoding, reduce_along(passes, partial(_sizes, len(levels)), np.add, codes, w))
    spread = codes.then(partial(_take, V), *([] if w is None else [w]), width=V.shape[1])
    return Response(spread, "classification", [levels], [Labels(codes, levels)])  # type: ignore[arg-type]


def _see(columns: Sequence[TargetColumn], weights: Floats | None) -> LevelsSeen:
    """Return the classes of a piece."""
    seen, labels = LevelsSeen(columns[0].name), columns[0].labels()
    if weights is not None:
        labels = labels.present(weights > 0)
        labels = Labels(labels.codes[weights > 0], labels.levels)
    if len(labels.codes):
        seen.add(labels, columns[0].order)
    return _not_too_many(seen)


def _merge_seen(a: LevelsSeen, b: LevelsSeen) -> LevelsSeen:
    a.merge(b)
    return _not_too_many(a)


def _not_too_many(seen: LevelsSeen) -> LevelsSeen:
    if seen.n_levels > _MOST_CLASSES:
        raise InputError(
            f"y should have at most {_MOST_CLASSES} classes; it has more. If it is a quantity pass "
            f"`task='regression'`; else merge rare classes."
        )
    return seen


def _code(places: Mapping[Any, int], columns: Sequence[TargetColumn]) -> NDArray:
    """Return the class of each row; a class of rows without weight alone counts as the first."""
    labels = columns[0].labels()
    codes = np.array([places.get(level, 0) for level in labels.levels], dtype=np.intp)
    return codes.astype(np.min_scalar_type(max(len(places) - 1, 0))).take(labels.codes)


def _sizes(c: int, codes: NDArray, weights: Floats | None) -> Floats:
    return np.bincount(codes, weights, minlength=c).astype(np.float64)


def _take(V: Floats, codes: NDArray, weights: Floats | None = None) -> Floats:
    rows = V.take(codes, axis=0)
    return rows if weights is None else rows * np.sqrt(weights)[:, None]


# Numbers


def _numbers(columns: SpreadRows, names: Sequence[str], w: SpreadWeights | None) -> Response:
    """Center and orthonormalize by means and a triangular factor, in a pass each."""
    passes: SpreadPasses = columns.passes
    Y = passes.kept(columns.then(_side_by_side, width=len(names)))
    exponents = np.frexp(reduce_along(passes, _peaks, np.maximum, Y))[1]
    total = total_weight(w, len(Y))
    sums, squares = reduce_along(passes, partial(_moments, exponents), np.add, Y, w)
    means = sums / total
    reduced = partial(_reduced, exponents, means, total**-0.5)
    R = reduce_along(passes, reduced, Factor.merge, Y, w).R
    rest = R[0, 1:] / R[0, 0] * total**-0.5
    T = _orthonormal(R[1:, 1:], np.sqrt(squares))
    if not T.shape[1]:
        raise constant_target(names, float(f"{np.ldexp(means, exponents)[0]:.12g}"))
    rows = partial(_rows_of_numbers, exponents, means, rest, T)
    V = Y.then(rows, *([] if w is None else [w]), width=T.shape[1])
    return Response(V, "regression", [], [Y])


def _rows_of_numbers(
    exponents: NDArray[np.intc],
    means: Floats,
    rest: Floats,
    T: Floats,
    Y: Floats,
    weights: Floats | None = None,
) -> Floats:
    """Return V = (Y 2^-exponents - means - rest) T, weighted.

    The rest is what rounding left of the means; taken off at once with them, it would be lost.
    """
    rows = (np.ldexp(Y, -exponents) - means - rest) @ T
    return rows if weights is None else rows * np.sqrt(weights)[:, None]


def _side_by_side(columns: Sequence[TargetColumn]) -> Floats:
    return np.hstack([as_quantity(column) for column in columns])


def _peaks(Y: Floats) -> Floats:
    return np.abs(Y).max(axis=0, initial=0.0)


def _moments(exponents: NDArray[np.intc], Y: Floats, weights: Floats | None) -> Floats:
    """Return the weighted sums of the columns and of their squares, (2, q)."""
    Y = np.ldexp(Y, -exponents)
    w = np.ones(len(Y)) if weights is None else weights
    return np.array([w @ Y, w @ Y**2])


def _reduced(
    exponents: NDArray[np.intc], means: Floats, unit: float, Y: Floats, weights: Floats | None
) -> Factor:
    """Return the triangular factor of u and the centered responses, of a piece."""
    root = np.ones(len(Y)) if weights is None else np.sqrt(weights)
    A = (np.ldexp(Y, -exponents) - means) * root[:, None]
    none = np.zeros((len(Y), 0))
    return Factor.of(np.column_stack([unit * root, A]), none, none)


def _orthonormal(R: Floats, raw: Floats) -> Floats:
    """Return T (q, m), by which centered columns with the factor R become orthonormal.

    raw are the norms of the columns before centering.
    """
    norms = np.linalg.norm(R, axis=0)
    units = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    A = R * units
    Q, kept = orthonormalize(A, EPS * np.where(norms > 0, raw * units, 1.0))
    T = np.zeros((len(units), Q.shape[1]))
    if Q.shape[1]:
        triangle = np.triu(Q.T @ A[:, kept])
        T[kept] = units[kept, None] * solve_triangular(triangle, np.eye(Q.shape[1]))
    return T
