"""The response of a table whose rows are spread over several places: coded where they are.

Only what has been counted or added up comes here: the classes and their sizes, or the means and
inner products of numbers. Notation: Y (N, q) responses of numbers, u (N,) square roots of the row
weights at norm one, V (N, m) the orthonormal basis of the centered response.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from orthoselect.encode.labels import Labels, LevelsSeen
from orthoselect.encode.response import Response, check_encoding, class_rows
from orthoselect.encode.target import (
    TargetColumn,
    as_quantity,
    check_classes,
    check_finite,
    check_task,
    has_fractions,
)
from orthoselect.errors import InputError
from orthoselect.matrix.base import EPS, Floats
from orthoselect.matrix.basis import orthonormalize
from orthoselect.matrix.checksums import (
    period_of,
    rows_to_check,
    sum_of_objects,
    sums_of_numbers,
)
from orthoselect.matrix.factor import Factor
from orthoselect.matrix.passes import SpreadPasses, altered
from orthoselect.matrix.rows import SpreadRows, SpreadWeights, total_weight

_MOST_CLASSES = 20_000  # of which the codes still fit two bytes, and V one machine


def build_spread_response(
    columns: SpreadRows, task: str, encoding: str, w: SpreadWeights | None
) -> Response | None:
    """Code a spread response and find its orthonormal basis; as `build_response`.

    Parameters
    ----------
    columns : SpreadRows
        Each piece is a list of `TargetColumn`, the same ones everywhere.
    task, encoding : str
    w : SpreadWeights or None

    Returns
    -------
    response : Response or None
        None if there are several columns and not all are numbers: such have to be put together.
    """
    check_task(task)
    check_encoding(encoding)
    passes: SpreadPasses = columns.passes
    numbers = SpreadRows((range(len(columns.handles[0])),), _as_it_is, columns.shape, passes)
    facts = passes.run_along(_Facts, _Facts.look, _Facts.merge, [columns, w, numbers])
    columns = facts.watched(columns)
    kind = facts.task if task == "auto" else task
    if kind == "regression" and (task != "auto" or all(facts.is_number)):
        return _numbers(columns, len(facts.names), w)
    if len(facts.names) == 1:
        return _classes(columns, facts.column(), encoding, w, warn=task == "auto")
    return None


def _as_it_is(piece: Any) -> Any:
    return piece


class _Facts:
    """What the pieces of a response have in common, column by column; and their checksums."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.is_number: list[bool] = []
        self._fractional = False
        self._checksums: dict[int, list[int]] = {}  # by the number of the piece

    def look(self, columns: Sequence[TargetColumn], weights: Floats | None, number: int) -> None:
        """Look at a piece."""
        check_finite(columns)
        rows = slice(None) if weights is None else weights > 0
        found = _Facts()
        found.names = [column.name for column in columns]
        found.is_number = [column.is_number for column in columns]
        found._fractional = any(c.is_number and has_fractions(c.values[rows]) for c in columns)
        found._checksums = {number: _checksums(columns)}
        self.merge(found)

    def merge(self, other: _Facts) -> _Facts:
        """Return what both have found."""
        if other.names and self.names and self.is_number != other.is_number:
            raise InputError(
                "y should be of one kind in all partitions; it holds numbers in some and labels "
                "in others. Convert it."
            )
        if other.names:
            self.names, self.is_number = other.names, other.is_number
        self._fractional |= other._fractional
        self._checksums |= other._checksums
        return self

    def watched(self, columns: SpreadRows) -> SpreadRows:
        """Return the same response, of which every later pass has to get the same pieces."""
        known = [self._checksums.get(number) for number in range(len(columns.handles[0]))]
        before = SpreadRows((known,), _as_it_is, columns.shape, columns.passes)
        return columns.then(_unchanged, before, width=len(self.names))

    @property
    def task(self) -> str:
        """What the response is by the look of it."""
        return "regression" if self._fractional else "classification"

    def column(self) -> TargetColumn:
        """Return the first column, without rows."""
        values = np.zeros(0) if self.is_number[0] else np.zeros(0, dtype=object)
        return TargetColumn(self.names[0], values, categorical=not self.is_number[0])


def _checksums(columns: Sequence[TargetColumn]) -> list[int]:
    """Return the checksum of some rows of each column."""
    return [_checksum(column) for column in columns]


def _checksum(column: TargetColumn) -> int:
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
        odd = [c.name for c, a, b in zip(columns, before, _checksums(columns)) if a != b]
        if odd:
            raise altered(odd)
    return columns


# Classes


def _classes(
    columns: SpreadRows,
    column: TargetColumn,
    encoding: str,
    w: SpreadRows | None,
    *,
    warn: bool,
) -> Response:
    """Find the classes and their sizes in a pass each; code the rows where they are."""
    passes: SpreadPasses = columns.passes
    seen = passes.run_along(partial(LevelsSeen, column.name), _see, _seen, [columns, w])
    levels, n_rows = seen.levels(), seen.n_rows
    check_classes(column, len(levels), n_rows, len(levels), warn=warn)
    places = {level: at for at, level in enumerate(levels)}
    codes = passes.kept(columns.then(partial(_code, places), width=1))
    (sizes,) = passes.run_along(
        partial(_zeros, len(levels)), partial(_add_sizes, len(levels)), _add, [codes, w]
    )
    V = class_rows(levels, encoding, sizes)
    take = partial(_take, V)
    spread = codes.then(take, *([] if w is None else [w]), width=V.shape[1])
    return Response(spread, "classification", [levels], [Labels(codes, levels)])  # type: ignore[arg-type]


def _see(seen: LevelsSeen, columns: Sequence[TargetColumn], weights: Floats | None) -> None:
    labels = columns[0].labels()
    if weights is not None:
        labels = labels.present(weights > 0)
        labels = Labels(labels.codes[weights > 0], labels.levels)
    if len(labels.codes):
        seen.add(labels, columns[0].order)
    _check_number(seen)


def _seen(a: LevelsSeen, b: LevelsSeen) -> LevelsSeen:
    a.merge(b)
    _check_number(a)
    return a


def _check_number(seen: LevelsSeen) -> None:
    if seen.n_levels > _MOST_CLASSES:
        raise InputError(
            f"y should have at most {_MOST_CLASSES} classes; it has more. If it is a quantity pass "
            f"`task='regression'`; else merge rare classes."
        )


def _code(places: Mapping[Any, int], columns: Sequence[TargetColumn]) -> NDArray:
    """Return the class of each row; a class of rows without weight alone counts as the first."""
    labels = columns[0].labels()
    codes = np.array([places.get(level, 0) for level in labels.levels], dtype=np.intp)
    return codes.astype(np.min_scalar_type(max(len(places) - 1, 0))).take(labels.codes)


def _zeros(*sizes: int) -> list[Floats]:
    return [np.zeros(size) for size in sizes]


def _add_sizes(c: int, total: list[Floats], codes: NDArray, weights: Floats | None) -> None:
    total[0] += np.bincount(codes, weights, minlength=c)


def _add(a: list[Floats], b: list[Floats]) -> list[Floats]:
    for mine, theirs in zip(a, b):
        mine += theirs
    return a


def _take(V: Floats, codes: NDArray, weights: Floats | None = None) -> Floats:
    rows = V.take(codes, axis=0)
    return rows if weights is None else rows * np.sqrt(weights)[:, None]


# Numbers


@dataclass(frozen=True)
class _Affine:
    """Y -> V = (Y 2^-exponents - means - rest) T, weighted.

    The rest is what rounding left of the means; taken off at once with them, it would be lost.
    """

    exponents: NDArray[np.intc]
    means: Floats
    rest: Floats
    T: Floats

    def __call__(self, Y: Floats, weights: Floats | None = None) -> Floats:
        rows = (np.ldexp(Y, -self.exponents) - self.means - self.rest) @ self.T
        return rows if weights is None else rows * np.sqrt(weights)[:, None]


def _numbers(columns: SpreadRows, q: int, w: SpreadWeights | None) -> Response:
    """Center and orthonormalize by means and a triangular factor, in a pass each."""
    passes: SpreadPasses = columns.passes
    Y = passes.kept(columns.then(_side_by_side, width=q))
    (peaks,) = passes.run_along(partial(_zeros, q), _raise_peaks, _highest, [Y])
    exponents = np.frexp(peaks)[1]
    total = total_weight(w, len(Y))
    moments = partial(_add_moments, exponents)
    sums, squares = passes.run_along(partial(_zeros, q, q), moments, _add, [Y, w])
    means = sums / total
    start = partial(_Reduced, exponents, means, total**-0.5)
    factor = passes.run_along(start, _Reduced.add, _Reduced.merge, [Y, w]).factor
    assert factor is not None
    rest = factor.R[0, 1:] / factor.R[0, 0] * total**-0.5
    T = _orthonormal(factor.R[1:, 1:], np.sqrt(squares))
    others = [] if w is None else [w]
    V = Y.then(_Affine(exponents, means, rest, T), *others, width=T.shape[1])
    return Response(V, "regression", [], [Y])


def _side_by_side(columns: Sequence[TargetColumn]) -> Floats:
    return np.hstack([as_quantity(column) for column in columns])


def _raise_peaks(total: list[Floats], Y: Floats) -> None:
    np.maximum(total[0], np.abs(Y).max(axis=0, initial=0.0), out=total[0])


def _highest(a: list[Floats], b: list[Floats]) -> list[Floats]:
    return [np.maximum(a[0], b[0])]


def _add_moments(
    exponents: NDArray[np.intc], total: list[Floats], Y: Floats, weights: Floats | None
) -> None:
    Y = np.ldexp(Y, -exponents)
    w = np.ones(len(Y)) if weights is None else weights
    total[0] += w @ Y
    total[1] += w @ Y**2


class _Reduced:
    """The triangular factor of u and the centered responses, of some rows."""

    def __init__(self, exponents: NDArray[np.intc], means: Floats, unit: float) -> None:
        self._exponents, self._means, self._unit = exponents, means, unit
        self.factor: Factor | None = None

    def add(self, Y: Floats, weights: Floats | None) -> None:
        """Take a piece."""
        root = np.ones(len(Y)) if weights is None else np.sqrt(weights)
        A = (np.ldexp(Y, -self._exponents) - self._means) * root[:, None]
        none = np.zeros((len(Y), 0))
        self._take(Factor.of(np.column_stack([self._unit * root, A]), none, none))

    def merge(self, other: _Reduced) -> _Reduced:
        """Return the factor of both."""
        if other.factor is not None:
            self._take(other.factor)
        return self

    def _take(self, factor: Factor) -> None:
        self.factor = factor if self.factor is None else self.factor.merge(factor)


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
