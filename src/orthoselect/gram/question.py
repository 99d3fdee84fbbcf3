"""A question to statistics, posed as a problem: a small table that stands for all rows.

The rows of the triangle, turned so that its first column becomes constant, have the means and the
inner products of all rows. Whatever asks for nothing else gets from them what all would give.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from orthoselect.arguments import (
    ColumnSpec,
    check_one_role,
    find_columns,
    find_groups,
)
from orthoselect.encode import Labels, Response, Table
from orthoselect.encode.response import (
    TargetColumn,
    centered_columns,
    check_classes,
    check_encoding,
    check_task,
    encode_labels,
)
from orthoselect.errors import InputError, listing
from orthoselect.gram.layout import Layout, Term, middle_of
from orthoselect.matrix import DenseMatrix, Matrix
from orthoselect.matrix.base import EPS, Floats, Indices
from orthoselect.matrix.basis import orthonormalize
from orthoselect.matrix.triangle import Triangle
from orthoselect.roles import Problem


class StatisticsMatrix(DenseMatrix):
    """The small table; what is asked of it is no pass over anything."""

    def stats(self) -> dict[str, Any]:
        """Return that no rows were read."""
        return {"strategy": "statistics", "passes": 0}


@dataclass(frozen=True)
class StatisticsTable(Table):
    """A table of which only means and inner products are known."""

    triangle: Triangle | None = None
    layout: Layout | None = None
    indicators: dict[int, list[Term]] = field(default_factory=dict)

    @property
    def has_rows(self) -> bool:
        return False

    def matrix(self, make: Callable[[Table], Matrix], starts: Indices, widths: Indices) -> Matrix:
        assert self.triangle is not None
        assert self.layout is not None
        terms: list[Term] = [("x", int(c)) for c in self.numeric_at]
        for c, labels in self.labels.items():
            own = self.indicators[c]
            terms += own[: labels.usual] + own[labels.usual + 1 :]
        Z, middle = self.triangle.table(self.layout.places(terms))
        matrix = StatisticsMatrix(Z, shift=-middle)
        n_labels = len(terms) - len(self.numeric_at)
        matrix.precision = np.concatenate([self.layout.precision, np.full(n_labels, EPS)])
        return matrix


def check_not_settled(categorical_features: Any, sample_weight: Any) -> None:
    """Raise if something is asked that was settled when the statistics were made."""
    default = isinstance(categorical_features, str) and categorical_features == "from_dtype"
    given = {"categorical_features": not default, "sample_weight": sample_weight is not None}
    for name in given:
        if given[name]:
            raise InputError(
                f"`{name}` is settled when statistics are made; it cannot be given when they are "
                f"asked. Give it to `GramStatistics.of`, or to what the statistics are made by."
            )


def told_settings(layout: Layout, task: str, weighted: bool) -> dict[str, Any]:
    """Return the options by which `select` finds in the rows what was settled in statistics."""
    labeled = set(layout.labeled)
    categorical: Any = "from_dtype" if labeled == layout.by_dtype else None
    if categorical is None and labeled:
        categorical = [layout.names[c] for c in sorted(labeled)]
    weights = "given" if weighted else None
    if layout.weighting:
        weights = layout.names[layout.weighting[0]]
    return {"task": task, "categorical_features": categorical, "sample_weight": weights}


def find_features(
    features: ColumnSpec, include: ColumnSpec, groups: Any, layout: Layout
) -> list[int]:
    """Return the columns of the only features that may be taken; included ones are among them."""
    grouped = find_groups(groups, layout.names)
    found = find_columns(features, layout.names, "features", grouped)
    odd = [layout.names[c] for c in found if c in layout.skip]
    if odd:
        raise InputError(
            f"`features` should name features; {listing(odd)} is the response, holds the row "
            f"weights, or was excluded when the statistics were made."
        )
    first = find_columns(include, layout.names, "include", grouped)
    others = [layout.names[c] for c in first if c not in found]
    if others:
        raise InputError(
            f"`include` should name some of `features`, if these are given; {listing(others)} is "
            f"not among them."
        )
    return found


def all_but(layout: Layout, only: Sequence[int], exclude: ColumnSpec, groups: Any) -> list[int]:
    """Return the columns to exclude so that only some are left, those excluded anyway included."""
    grouped = find_groups(groups, layout.names)
    kept = {*only, *layout.taken, *layout.weighting}
    kept -= {*find_columns(exclude, layout.names, "exclude", grouped)}
    return [c for c in range(len(layout.names)) if c not in kept]


def pose(
    layout: Layout,
    triangle: Triangle,
    n_rows: int,
    target: Any,
    *,
    task: str,
    response_encoding: str,
    groups: Any,
    include: ColumnSpec,
    exclude: ColumnSpec,
    settled: Mapping[str, Any],
) -> Problem:
    """Return the problem that a question about the statistics is; arguments as in `select`."""
    names = layout.names
    grouped = find_groups(groups, names)
    left_out = find_columns(exclude, names, "exclude", grouped)
    left_out = list(dict.fromkeys([*left_out, *layout.excluded]))
    first = find_columns(include, names, "include", grouped)
    apart = {"target": layout.taken, "sample_weight": layout.weighting}
    known = {*layout.taken, *layout.weighting}
    rest = [column for column in left_out if column not in known]
    check_one_role({**apart, "exclude": rest, "include": first}, names)
    asked = _find_responses(target, layout)
    response = _Responses(layout, triangle, n_rows).build(asked, task, response_encoding)
    skip = {*left_out, *layout.taken, *layout.weighting}
    table = _table(layout, triangle, n_rows, skip)
    return Problem(table, response, None, grouped, first, left_out, skip, settled)


def _table(layout: Layout, triangle: Triangle, n_rows: int, skip: set[int]) -> StatisticsTable:
    nobody = np.zeros(0, dtype=np.intp)
    labels, indicators = {}, {}
    for c, seen in layout.labeled.items():
        if c not in skip:
            indicators[c] = layout.level_terms(c)
            usual = int(triangle.means()[layout.places(indicators[c])].argmax())
            labels[c] = Labels(nobody, seen.levels(), usual)
    return StatisticsTable(
        n_rows=n_rows,
        names=layout.names,
        numeric=np.empty((0, len(layout.numeric_at))),
        numeric_at=layout.numeric_at,
        labels=labels,
        triangle=triangle,
        layout=layout,
        indicators=indicators,
    )


def _find_responses(target: Any, layout: Layout) -> list[int]:
    names = [response.name for response in layout.responses]
    if target is None:
        return list(range(len(names)))
    try:
        found = find_columns(target, names, "target")
    except InputError:
        found = []
    if not found or len(set(found)) < len(found):
        plain = isinstance(target, (str, int, list, tuple))
        raise InputError(
            f"`target` should be None or name responses of the statistics, each once; these are "
            f"{listing(names)}; got {repr(target) if plain else type(target).__name__}."
        )
    return found


class _Responses:
    """Responses as columns of the small table."""

    def __init__(self, layout: Layout, triangle: Triangle, n_rows: int) -> None:
        self._layout, self._triangle, self._n_rows = layout, triangle, n_rows

    def build(self, asked: Sequence[int], task: str, encoding: str) -> Response:
        """Return the responses asked for, coded."""
        check_task(task)
        check_encoding(encoding)
        columns, middles, parts, classes = [], [], [], []
        for r in asked:
            if self._as_numbers(r, task):
                Z, middle, part = self._numbers(r)
            else:
                Z, middle, part, levels = self._classes(r, encoding, warned=task == "auto")
                classes.append(levels)
            columns.append(Z)
            middles.append(middle)
            parts.append(part)
        V = _basis(np.hstack(columns), np.concatenate(middles))
        kind = "classification" if len(classes) == len(asked) else "regression"
        return Response(V, kind, classes, parts)

    def _as_numbers(self, r: int, task: str) -> bool:
        response = self._layout.responses[r]
        if response.classes is None and task == "classification":
            raise InputError(
                f"response `{response.name}` was taken in as numbers, whose classes are not kept. "
                f"Make the statistics with `task='classification'`."
            )
        if response.classes is not None and task == "regression" and not response.is_number:
            raise InputError(
                f"response `{response.name}` should hold numbers for `task='regression'`; it holds "
                f"classes that are none, {listing(response.classes.levels())}."
            )
        return response.classes is None or task == "regression"

    def _numbers(self, r: int) -> tuple[Floats, Floats, Floats]:
        response = self._layout.responses[r]
        if response.classes is not None:
            Z, middle = self._indicators(r)
            values = np.array(response.classes.levels(), dtype=np.float64)
            origin = middle_of(values)  # indicators add up to 1, so that it may be taken off
            Z, middle = (part @ (values - origin)[:, None] for part in (Z, middle))
            middle = middle + origin
            return Z, middle, Z + middle
        J = self._layout.places([("y", r)])
        Z, middle = self._triangle.table(J)
        return Z, middle, np.ldexp(Z + middle, self._triangle.exponents[J])

    def _classes(
        self, r: int, encoding: str, *, warned: bool
    ) -> tuple[Floats, Floats, Floats, tuple[Any, ...]]:
        response = self._layout.responses[r]
        assert response.classes is not None
        Z, middle = self._indicators(r)
        there = (middle != 0) | Z.any(axis=0)  # a class that was given may have no rows
        Z, middle = Z[:, there], middle[there]
        levels = tuple(x for x, occurs in zip(response.classes.levels(), there) if occurs)
        c = len(levels)
        column = TargetColumn(
            f"response `{response.name}`", np.array(levels), categorical=not response.is_number
        )
        check_classes(column, c, self._n_rows, len(Z), warn=warned)
        coding = encode_labels(Labels(np.arange(c), levels), encoding)  # (c, q)
        codes = np.arange(c, dtype=np.float64)[:, None]
        return Z @ coding, middle @ coding, Z @ codes + middle @ codes, levels

    def _indicators(self, r: int) -> tuple[Floats, Floats]:
        """Return the indicators of the classes, in their order."""
        J = self._layout.places(self._layout.class_terms(r))
        Z, middle = self._triangle.table(J)
        e = self._triangle.exponents[J]
        return np.ldexp(Z, e), np.ldexp(middle, e)


def _basis(Z: Floats, middle: Floats) -> Floats:
    """Return an orthonormal basis of the centered columns of Z + middle."""
    columns, sizes = centered_columns(Z)
    spread = np.linalg.norm(Z - Z.mean(axis=0), axis=0)
    offset = np.sqrt(len(Z)) * np.abs(Z.mean(axis=0) + middle)
    far = np.divide(offset, spread, out=np.zeros_like(spread), where=spread > 0)
    return orthonormalize(columns, np.maximum(sizes, EPS * far))[0]
