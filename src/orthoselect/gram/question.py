"""A question to statistics, posed as a problem: a small table that stands for all rows.

The rows of the triangle, turned so that its first column becomes constant, have the means and the
inner products of all rows. Whatever asks for nothing else gets from them what all would give.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from orthoselect.column_spec import ColumnSpec, check_one_role, find_asked, find_columns
from orthoselect.encode import Labels, Response, Table
from orthoselect.encode.class_sizes import check_class_sizes
from orthoselect.encode.gaps import gap_count
from orthoselect.encode.response import (
    ENCODINGS,
    TASKS,
    centered_columns,
    check_choice,
    check_classes,
    constant_target,
    encode_labels,
    no_response,
)
from orthoselect.encode.whole_numbers import NumbersSeen
from orthoselect.errors import InputError, ShapeError, listing
from orthoselect.gram.intake import ReducedRows
from orthoselect.gram.layout import StatisticsLayout, Term
from orthoselect.matrix import DenseMatrix, Matrix
from orthoselect.matrix.base import EPS, Floats, Indices
from orthoselect.matrix.basis import orthonormalize
from orthoselect.matrix.triangle import Triangle
from orthoselect.problem import Problem

_RARE = 30  # rows that differ from all others, too few for tests as if rows were normal


class StatisticsMatrix(DenseMatrix):
    """The small table; what is asked of it is no pass over anything."""

    def stats(self) -> dict[str, Any]:
        """Return that no rows were read."""
        return {"strategy": "statistics", "passes": 0}


@dataclass(frozen=True, kw_only=True)
class StatisticsTable(Table):
    """A table of which only means and inner products are known."""

    has_rows: ClassVar[bool] = False
    why_no_rows: ClassVar[str] = "statistics hold means and inner products of its columns only"

    triangle: Triangle
    layout: StatisticsLayout

    def matrix(self, make: Callable[[Table], Matrix], starts: Indices, widths: Indices) -> Matrix:
        at, layout = self.numeric_at, self.layout
        is_second = np.append(False, at[1:] == at[:-1])[: len(at)]
        terms: list[Term] = [("gap" if s else "x", int(c)) for c, s in zip(at, is_second)]
        for c, labels in self.labels.items():
            own = self.layout.label_terms("level", c)
            terms += own[: labels.usual] + own[labels.usual + 1 :]
        Z, middle = self.triangle.table(layout.places(terms))
        matrix = StatisticsMatrix(Z, shift=-middle)
        precision = layout.precision[np.searchsorted(layout.numeric_at, at)]
        precision = np.where(is_second, EPS, precision)
        matrix.precision = np.append(precision, np.full(len(terms) - len(at), EPS))
        return matrix

    def rare_parts(self) -> list[str]:
        layout, triangle = self.layout, self.triangle
        terms: list[Term] = [("x", int(c)) for c in dict.fromkeys(self.numeric_at.tolist())]
        for c in self.labels:
            terms += layout.label_terms("level", c)
        for r, response in enumerate(layout.responses):
            terms += layout.label_terms("class", r) if response.classes is not None else []
        J = layout.places(terms)
        Z, middle = triangle.table(J)
        x = np.ldexp(Z + middle, triangle.exponents[J])
        shares, squares = x.mean(axis=0), (x * x).mean(axis=0)
        are_shares = np.abs(squares - shares) <= 1e-9  # so it is for columns of 0 and 1
        few = np.minimum(shares, 1 - shares) * self.n_rows < _RARE
        return [layout.describe(terms[k]) for k in np.flatnonzero(are_shares & few & (shares > 0))]


def _filled_by_means(triangle: Triangle, layout: StatisticsLayout) -> Triangle:
    """Return the triangle of columns whose gaps are filled by the means of what is there."""
    means, fills = triangle.means(), np.array(list(layout.fills.values()))
    J, gaps = (layout.places([(kind, c) for c in layout.fills]) for kind in ("x", "gap"))
    shares = means[gaps]
    present = np.where(shares < 1, 1 - shares, 1.0)
    return triangle.with_multiples(J, gaps, (means[J] - fills * shares) / present - fills)


def exclude_all_but(
    features: ColumnSpec,
    layout: StatisticsLayout,
    include: ColumnSpec,
    exclude: ColumnSpec,
    groups: Any,
) -> list[int]:
    """Return the columns to exclude so that only some features may be taken."""
    names = layout.names
    asked, grouped = find_asked(names, None, groups, include, exclude, None)
    only = find_columns(features, names, "features", grouped)
    odd = [names[c] for c in only if c in layout.skip]
    if odd:
        raise InputError(
            f"`features` should name features; {listing(odd)} is the response, holds the row "
            f"weights, or was excluded when the statistics were made."
        )
    others = [names[c] for c in asked["include"] if c not in only]
    if others:
        raise InputError(
            f"`include` should name some of `features`, if these are given; {listing(others)} is "
            f"not among them."
        )
    kept = {*only, *layout.target_columns, *layout.weight_columns} - {*asked["exclude"]}
    return [c for c in range(len(names)) if c not in kept]


def pose(
    reduced: ReducedRows,
    target: Any,
    *,
    task: str = "auto",
    response_encoding: str = "dummy",
    categorical_features: ColumnSpec = "from_dtype",
    sample_weight: Any = None,
    missing: str = "error",
    has_target: bool = True,
    groups: Any,
    include: ColumnSpec,
    exclude: ColumnSpec,
) -> Problem:
    """Return the problem that a question about statistics is; arguments as in `select`."""
    layout, triangle = reduced.known()
    names, n_rows = layout.names, reduced.n_rows
    if n_rows < 2:
        raise ShapeError(f"Found statistics of {n_rows} sample(s); a minimum of 2 is required.")
    default = isinstance(categorical_features, str) and categorical_features == "from_dtype"
    filled = reduced.settings["missing"]
    if layout.fills:  # by what fits the first rows, so far
        triangle = _filled_by_means(triangle, layout)
    given = {
        "categorical_features": not default,
        "sample_weight": sample_weight is not None,
        "missing": missing not in ("error", filled),
    }
    for name in given:
        if given[name]:
            raise InputError(
                f"`{name}` is decided when statistics are made; it cannot be given "
                f"later. Give it to `GramStatistics.of`, or to what the statistics are made by."
            )
    asked, grouped = find_asked(names, None, groups, include, exclude, None)
    asked["target"], asked["sample_weight"] = layout.target_columns, layout.weight_columns
    apart = {*layout.target_columns, *layout.weight_columns}
    left_out = list(dict.fromkeys([*asked["exclude"], *layout.excluded]))
    skip = {*left_out, *apart}
    asked["exclude"] = [column for column in left_out if column not in apart]
    check_one_role(asked, names)
    check_choice(task, TASKS, "task")
    response = no_response(n_rows)
    if has_target:
        responses = _find_responses(target, layout)
        settled = reduced.settings["task"] if task == "auto" else task
        made = _Responses(layout, triangle, n_rows)
        response = made.build(responses, settled, response_encoding)
    copies = int(reduced.weight) if float(reduced.weight).is_integer() else n_rows
    table = _table(layout, triangle, copies, skip, indicated=filled == "indicator")
    gaps = {c: count for c, count in layout.gap_counts.items() if c not in skip}
    gaps |= {c: gap_count(labels) for c, labels in table.labels.items() if gap_count(labels)}
    return Problem(
        table,
        response,
        None,
        grouped,
        asked["include"],
        left_out,
        skip,
        filled,
        gaps,
        is_filled=True,
        n_dropped=reduced.n_dropped,
        settled=_fixed_options(reduced, layout, task),
    )


def _fixed_options(reduced: ReducedRows, layout: StatisticsLayout, task: str) -> dict[str, Any]:
    """Return the options by which `select` finds in the rows what was settled in statistics."""
    labeled = set(layout.labeled)
    categorical: Any = "from_dtype" if labeled == layout.by_dtype else None
    if categorical is None and labeled:
        categorical = [layout.names[c] for c in sorted(labeled)]
    weights = "given" if reduced.weight != reduced.n_rows else None
    if layout.weight_columns:
        weights = layout.names[layout.weight_columns[0]]
    task = reduced.settings["task"] if task == "auto" else task
    return {"task": task, "categorical_features": categorical, "sample_weight": weights}


def _table(
    layout: StatisticsLayout, triangle: Triangle, n_rows: int, skip: set[int], *, indicated: bool
) -> StatisticsTable:
    nobody, means, labels = np.zeros(0, dtype=np.intp), triangle.means(), {}
    for c, seen in layout.labeled.items():
        if c not in skip:
            counts = means[layout.places(layout.label_terms("level", c))]
            labels[c] = Labels(nobody, seen.levels(), int(counts.argmax()), seen.counts())
    at = layout.numeric_at
    if indicated:
        at = np.repeat(at, 1 + np.isin(at, list(layout.fills)))
    return StatisticsTable(
        n_rows=n_rows,
        names=layout.names,
        numeric=np.empty((0, len(at))),
        numeric_at=at,
        labels=labels,
        triangle=triangle,
        layout=layout,
    )


def _find_responses(target: Any, layout: StatisticsLayout) -> list[int]:
    names = [response.name for response in layout.responses]
    if not names:
        raise InputError(
            "statistics should have a response to explain; these were made without one. Make them "
            "anew, `GramStatistics.of(table, target)`, or pass `method='unsupervised'`, which has "
            "nothing to explain."
        )
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

    def __init__(self, layout: StatisticsLayout, triangle: Triangle, n_rows: int) -> None:
        self._layout, self._triangle, self._n_rows = layout, triangle, n_rows

    def build(self, asked: Sequence[int], task: str, encoding: str) -> Response:
        """Return the responses asked for, coded."""
        check_choice(encoding, ENCODINGS, "response_encoding")
        if task == "auto" and self._are_quantities(asked):
            numbers = [r for r in asked if self._layout.responses[r].is_number]
        else:
            numbers = [r for r in asked if self._as_numbers(r, task)]
        columns, middles, parts, classes = [], [], [], []
        for r in asked:
            if r in numbers:
                Z, middle, part = self._numbers(r)
            else:
                Z, middle, part, levels = self._classes(r, encoding, task)
                classes.append(levels)
            columns.append(Z)
            middles.append(middle)
            parts.append(part)
        V = _basis(np.hstack(columns), np.concatenate(middles))
        if not V.shape[1]:
            names = [f"response `{self._layout.responses[r].name}`" for r in asked]
            one = float(f"{parts[0].flat[0]:.12g}") if asked[0] in numbers else classes[0][0]
            raise constant_target(names, one)
        kind = "classification" if len(classes) == len(asked) else "regression"
        return Response(V, kind, classes, parts)

    def _are_quantities(self, asked: Sequence[int]) -> bool:
        """Whether responses that came as whole numbers are quantities, by all rows so far."""
        numbers = [y for y in (self._layout.responses[r] for r in asked) if y.is_number]
        seen = [(f"response `{y.name}`", y.classes.rows_by_level()) for y in numbers if y.classes]
        return (
            not any(y.fixed for y in numbers)
            and NumbersSeen(any(y.classes is None for y in numbers), tuple(seen)).are_quantities()
        )

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
            # Indicators add up to 1, so that any number may be taken off: one in the middle.
            origin = float(np.sort(values)[len(values) // 2]) if len(values) else 0.0
            Z, middle = (part @ (values - origin)[:, None] for part in (Z, middle))
            middle = middle + origin
            return Z, middle, Z + middle
        J = self._layout.places([("y", r)])
        Z, middle = self._triangle.table(J)
        return Z, middle, np.ldexp(Z + middle, self._triangle.exponents[J])

    def _classes(
        self, r: int, encoding: str, task: str
    ) -> tuple[Floats, Floats, Floats, tuple[Any, ...]]:
        response = self._layout.responses[r]
        assert response.classes is not None
        Z, middle = self._indicators(r)
        there = (middle != 0) | Z.any(axis=0)  # a class that was given may have no rows
        Z, middle = Z[:, there], middle[there]
        levels = tuple(x for x, occurs in zip(response.classes.levels(), there) if occurs)
        c = len(levels)
        name = f"response `{response.name}`"
        check_classes(name, c, self._n_rows, len(Z))
        may_be_names = task == "auto" and not response.is_number
        rows = response.classes.rows_by_level()
        check_class_sizes(name, {level: rows[level] for level in levels}, may_be_names=may_be_names)
        coding = encode_labels(Labels(np.arange(c), levels), encoding)  # (c, q)
        codes = np.arange(c, dtype=np.float64)[:, None]
        return Z @ coding, middle @ coding, Z @ codes + middle @ codes, levels

    def _indicators(self, r: int) -> tuple[Floats, Floats]:
        """Return the indicators of the classes, in their order."""
        J = self._layout.places(self._layout.label_terms("class", r))
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
