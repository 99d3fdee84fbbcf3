"""Which columns the statistics of a table have, and the rows of a block in these columns.

The columns are: one of ones, one for each numeric feature, one for each level of each categorical
feature, and for the responses one for each class, or one of numbers. Levels and classes get theirs
when they are first seen; in all rows before it is zero. So do the gaps of a numeric feature, which
is filled by a constant: with what is known of the gaps, any other constant can take its place.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import Labels, NumberedNames, Table, TargetColumn
from orthoselect.encode.gaps import all_finite, find_gaps, gaps_in
from orthoselect.encode.labels import GAP, LevelsSeen
from orthoselect.encode.response import as_quantity
from orthoselect.encode.table import check_finite_numbers
from orthoselect.errors import InputError, listing
from orthoselect.matrix.base import EPS, Floats, Indices, storage_precision
from orthoselect.matrix.triangle import leaf_rows

# What a column stands for: ("ones",), ("x", feature), ("gap", feature), ("level", feature, number),
# ("y", response) or ("class", response, number). Levels are numbered as they were first seen.
Term = tuple[Any, ...]
ONES: Term = ("ones",)
_MOST_LEVELS = 4000  # the products of all levels with each other are kept


@dataclass
class ResponseColumn:
    """One response."""

    name: str
    classes: LevelsSeen | None  # None if it holds numbers
    is_number: bool  # whether its dtype is that of numbers, which may be classes all the same
    fixed: bool = False  # whether other classes than those seen are an error

    def describe(self) -> str:
        """Return its name, and what it holds."""
        if self.classes is None:
            return f"`{self.name}` (numbers)"
        n = self.classes.n_levels
        return f"`{self.name}` ({n} {'class' if n == 1 else 'classes'})"


@dataclass
class StatisticsLayout:
    """The columns of the statistics. Columns of the table are given by positions."""

    names: Sequence[str]  # all columns of the table
    numeric_at: Indices  # those that hold numbers
    labeled: dict[int, LevelsSeen]  # the levels of those that hold labels
    by_dtype: set[int] | None  # those that do by their dtype; None if dtypes do not say
    responses: list[ResponseColumn]
    target_columns: list[int]  # the response, if the table has it
    excluded: list[int]  # columns that are not looked at
    weight_columns: list[int] = field(default_factory=list)  # the row weights, likewise
    precision: Floats = field(default_factory=lambda: np.zeros(0))  # rounding of numeric columns
    fills: dict[int, float] = field(default_factory=dict)  # what gaps of numbers are filled by
    gap_counts: dict[int, int] = field(default_factory=dict)  # how many rows with weight have one
    # What the statistics' own columns stand for: ones, the numeric features, then all others.
    terms: list[Term] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not len(self.precision):
            self.precision = np.full(len(self.numeric_at), EPS)
        if not self.terms:
            numbers = [r for r, y in enumerate(self.responses) if y.classes is None]
            self.terms = [ONES, *(("x", int(c)) for c in self.numeric_at)]
            self.terms += [("y", r) for r in numbers]
            self.add_terms()

    @property
    def skip(self) -> set[int]:
        """Columns of the table that are no features."""
        return {*self.excluded, *self.target_columns, *self.weight_columns}

    def copy(self) -> StatisticsLayout:
        """Return the same; either may grow by itself."""
        new = copy.copy(self)
        new.labeled, new.responses = copy.deepcopy((self.labeled, self.responses))
        new.precision, new.terms = self.precision.copy(), list(self.terms)
        new.fills, new.gap_counts = dict(self.fills), dict(self.gap_counts)
        return new

    def features_only(self) -> StatisticsLayout:
        """Return the layout of the table without the columns of the response and the weights."""
        gone = {*self.target_columns, *self.weight_columns}
        at = {c: k for k, c in enumerate(c for c in range(len(self.names)) if c not in gone)}
        new = self.copy()
        numbered = isinstance(self.names, NumberedNames)
        new.names = NumberedNames(len(at)) if numbered else [self.names[c] for c in at]
        new.numeric_at = np.array([at[c] for c in self.numeric_at.tolist()], dtype=np.intp)
        new.labeled = {at[c]: seen for c, seen in new.labeled.items()}
        new.by_dtype = None if self.by_dtype is None else {at[c] for c in self.by_dtype}
        new.excluded = [at[c] for c in self.excluded if c in at]
        new.target_columns, new.weight_columns = [], []
        new.fills = {at[c]: fill for c, fill in self.fills.items()}
        new.gap_counts = {at[c]: count for c, count in self.gap_counts.items()}
        of_features = ("x", "gap", "level")
        new.terms = [(t[0], at[t[1]], *t[2:]) if t[0] in of_features else t for t in self.terms]
        return new

    def places(self, wanted: Sequence[Term]) -> Indices:
        """Return where these terms stand."""
        at = {term: place for place, term in enumerate(self.terms)}
        return np.array([at[term] for term in wanted], dtype=np.intp)

    def label_terms(self, kind: str, owner: int) -> list[Term]:
        """Return the terms of a feature ("level") or a response ("class"), in their order."""
        return [(kind, owner, int(k)) for k in np.argsort(self._seen(kind, owner).places())]

    def describe(self, term: Term) -> str:
        """Return what to call a column of the statistics."""
        kind, owner, *number = term
        of_feature = kind in ("x", "gap", "level")
        name = self.names[owner] if of_feature else self.responses[owner].name
        if not number:
            return f"{name}=(missing)" if kind == "gap" else name
        level = by_appearance(self._seen(kind, owner))[number[0]]
        return f"{name}={'(missing)' if level is GAP else level}"

    def _seen(self, kind: str, owner: int) -> LevelsSeen:
        seen = self.labeled[owner] if kind == "level" else self.responses[owner].classes
        assert seen is not None
        return seen

    def _owners(self) -> Iterator[tuple[str, int, str]]:
        """Yield what has levels or classes: the start of its terms, and what to call it."""
        for c in self.labeled:
            yield "level", c, f"column `{self.names[c]}`"
        for r, response in enumerate(self.responses):
            if response.classes is not None:
                yield "class", r, f"response `{response.name}`"

    # Growing

    def code(
        self,
        table: Table,
        columns: Sequence[TargetColumn],
        weights: Floats | None,
        *,
        fill: bool = False,
    ) -> Iterator[tuple[Floats, Floats | None]]:
        """Yield the rows of a block that have weight, coded, a few at a time, and their weights.

        New levels get columns at once, before the first rows are asked for. Gaps among numbers are
        filled if asked to, else they are an error.
        """
        rows = None if weights is None else np.flatnonzero(weights > 0)
        codes: dict[Term, NDArray] = {}
        for c, seen in self.labeled.items():
            codes["level", c] = seen.add(_some_rows(table.labels[c], rows))
        numbers: dict[Term, Floats] = {}
        for r, (response, column) in enumerate(zip(self.responses, columns)):
            if response.classes is None:
                values = as_quantity(column)[:, 0]
                numbers["y", r] = values if rows is None else values[rows]
                continue
            labels = _some_rows(column.labels(), rows)
            if response.fixed:
                _check_known(response.classes, labels, response.name)
            codes["class", r] = response.classes.add(labels, column.order)
        self.add_terms()
        numeric, precision = self._numeric(table)
        if fill:
            numeric, gaps = self._fill(numeric, rows)
            numbers |= gaps
        check_finite_numbers(numeric, [self.names[c] for c in self.numeric_at.tolist()])
        self.precision = np.maximum(self.precision, precision)
        return self._tiles(numeric, numbers, codes, rows, weights)

    def _tiles(
        self,
        numeric: Any,  # array or SciPy sparse of shape (N, number of numeric features)
        numbers: dict[Term, Floats],  # responses of numbers, of the rows with weight
        codes: dict[Term, NDArray],  # levels and classes as first seen, likewise
        some: Indices | None,  # the rows that have weight; None for all
        weights: Floats | None,  # of shape (N,)
    ) -> Iterator[tuple[Floats, Floats | None]]:
        numeric = numeric.tocsr() if hasattr(numeric, "tocsr") else numeric
        n_rows = numeric.shape[0] if some is None else len(some)
        place = {term: at for at, term in enumerate(self.terms)}
        height = leaf_rows(len(place))
        for start in range(0, n_rows, height):
            tile = slice(start, min(start + height, n_rows))
            rows = tile if some is None else some[tile]
            X = numeric[rows]
            A = np.zeros((tile.stop - tile.start, len(place)))
            A[:, 0] = 1.0
            A[:, 1 : X.shape[1] + 1] = X.toarray() if hasattr(X, "toarray") else X
            for term, values in numbers.items():
                A[:, place[term]] = values[tile]
            for owner, of_rows in codes.items():
                here = of_rows[tile]
                columns = np.array([place[*owner, k] for k in range(int(here.max()) + 1)])
                A[np.arange(len(A)), columns[here]] = 1.0
            yield A, None if weights is None else weights[rows]

    def _numeric(self, table: Table) -> tuple[Any, Floats]:
        """Return the numbers of the block, and their relative rounding."""
        numeric, precision = table.numeric, table.precision
        if precision is None:
            precision = storage_precision(numeric.dtype, len(table.numeric_at))
        if len(table.numeric_at) == len(self.numeric_at):
            return numeric, precision
        some = np.searchsorted(table.numeric_at, self.numeric_at)  # columns of labels are there too
        return numeric[:, some], precision[some]

    def _fill(self, numeric: Any, rows: Indices | None) -> tuple[Any, dict[Term, Floats]]:
        """Return numbers without gaps, and where these were, for the rows with weight."""
        if all_finite(numeric):
            return numeric, {}
        weights = None
        if rows is not None:
            weights = np.zeros(numeric.shape[0])
            weights[rows] = 1.0
        table = Table(numeric.shape[0], self.names, numeric, self.numeric_at, {})
        found = find_gaps(table, set(), weights, indicated=False)
        gaps: dict[Term, Floats] = {}
        for c in found.counts:
            self.fills.setdefault(c, found.means[c])
            where = gaps_in(numeric, int(np.searchsorted(self.numeric_at, c)))
            gaps["gap", c] = (where if rows is None else where[rows]).astype(np.float64)
            self.gap_counts[c] = self.gap_counts.get(c, 0) + int(gaps["gap", c].sum())
        self.add_terms()
        fills = replace(found, means={c: self.fills[c] for c in found.counts})
        return fills.fill(table).numeric, gaps

    def add_terms(self) -> None:
        """Add columns for levels, and gaps, that have none."""
        known = set(self.terms)
        self.terms += [("gap", c) for c in self.fills if ("gap", c) not in known]
        for kind, owner, what in self._owners():
            n_levels = self._seen(kind, owner).n_levels
            if n_levels > _MOST_LEVELS:
                raise InputError(
                    f"{what} should have at most {_MOST_LEVELS} levels; it has {n_levels} so far. "
                    f"If it is a response of numbers pass `task='regression'`; else merge rare "
                    f"levels, or name it in `exclude`."
                )
            wanted = [(kind, owner, k) for k in range(n_levels)]
            self.terms += [term for term in wanted if term not in known]

    def to_numbers(self) -> None:
        """Let responses be numbers of which no class has come; raise if one has."""
        for r, response in enumerate(self.responses):
            if response.classes is None or not response.is_number:
                continue
            if response.classes.n_levels:
                raise InputError(
                    f"responses should hold whole numbers as in blocks before, where "
                    f"`{response.name}` was taken for classes; there is a number with a fractional "
                    f"part here. For quantities make the statistics with `task='regression'`."
                )
            response.classes = None
            self.terms.append(("y", r))

    def shifts(self, other: StatisticsLayout) -> dict[int, float]:
        """Return what to add to the gaps of another's columns, so that they are filled as here."""
        both = {c: self.fills[c] - fill for c, fill in other.fills.items() if c in self.fills}
        return {c: shift for c, shift in both.items() if shift}

    def take_in(self, other: StatisticsLayout) -> Indices:
        """Grow by the levels of another; return where it has each column, -1 for nowhere."""
        self.fills = {**other.fills, **self.fills}
        for c, count in other.gap_counts.items():
            self.gap_counts[c] = self.gap_counts.get(c, 0) + count
        there = {term: place for place, term in enumerate(other.terms)}
        of_other = {t: place for t, place in there.items() if t[0] not in ("level", "class")}
        for kind, owner, _ in self._owners():
            codes = self._seen(kind, owner).merge(other._seen(kind, owner))
            for k, mine in enumerate(codes.tolist()):
                of_other[kind, owner, mine] = there[kind, owner, k]
        self.add_terms()
        self.precision = np.maximum(self.precision, other.precision)
        return np.array([of_other.get(term, -1) for term in self.terms], dtype=np.intp)


def by_appearance(seen: LevelsSeen) -> list[Any]:
    """Return levels in the order in which they were first seen."""
    levels = seen.levels()
    return [levels[place] for place in seen.places().tolist()]


def _some_rows(labels: Labels, rows: Indices | None) -> Labels:
    """Return rows with only the levels that occur in them."""
    if rows is None:
        return labels
    used, codes = np.unique(labels.codes[rows], return_inverse=True)
    return Labels(codes.reshape(-1), tuple(labels.levels[u] for u in used.tolist()))


def _check_known(seen: LevelsSeen, labels: Labels, name: str) -> None:
    known = dict.fromkeys(seen.levels())
    unknown = [level for level in labels.levels if level not in known]
    if unknown:
        raise InputError(
            f"response `{name}` should be one of the classes given at first, {listing(known)}; got "
            f"{listing(unknown)}. Name all classes in `classes`, or leave it out."
        )


# Adding up


def check_settings(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> None:
    """Raise unless statistics without rows were to be made as the others are."""
    for name in mine:
        if repr(mine[name]) != repr(theirs[name]):
            raise InputError(
                f"statistics to be added should be made alike; `{name}` is {mine[name]!r} on the "
                f"left and {theirs[name]!r} on the right."
            )


def check_layouts(mine: StatisticsLayout, theirs: StatisticsLayout, *, any_rows: bool) -> None:
    """Raise, naming the first difference, unless two layouts have the same columns.

    Without rows on both sides a response of numbers may be classes on one side only: it is not
    decided yet.
    """
    _check_names(mine.names, theirs.names)
    for what, left, right in _differences(mine, theirs, any_rows):
        if left != right:
            remedy = "Make both from tables of the same form, with the same settings."
            if {left, right} == {_NUMBERS, _NUMBERED}:
                remedy = "Make both with `task='regression'`, or with `task='classification'`."
            raise InputError(
                f"statistics to be added should have the same columns and responses; {what} is "
                f"{left} on the left and {right} on the right. {remedy}"
            )


def _check_names(mine: Sequence[str], theirs: Sequence[str]) -> None:
    left, right = set(mine), set(theirs)
    here, there = [n for n in mine if n not in right], [n for n in theirs if n not in left]
    if here or there:
        sides = (("left", here), ("right", there))
        found = [f"{listing(names)} on the {side} only" for side, names in sides if names]
        raise InputError(
            f"statistics to be added should have the same columns; there is {', and '.join(found)}."
            f" Rename columns, or drop them, before the statistics are made."
        )
    for c, (a, b) in enumerate(zip(mine, theirs)):
        if a != b:
            raise InputError(
                f"statistics to be added should have the same columns in the same order; column "
                f"{c} is `{a}` on the left and `{b}` on the right. Put them into one order before "
                f"the statistics are made."
            )


_NUMBERS, _NUMBERED = "numbers", "classes that are numbers"


def _differences(
    mine: StatisticsLayout, theirs: StatisticsLayout, any_rows: bool
) -> Iterator[tuple[str, Any, Any]]:
    for c, name in enumerate(mine.names):
        yield f"column `{name}`", _kind_of_column(mine, c), _kind_of_column(theirs, c)
    yield "the number of responses", len(mine.responses), len(theirs.responses)
    for r, (x, y) in enumerate(zip(mine.responses, theirs.responses)):
        yield f"response {r}", f"`{x.name}`", f"`{y.name}`"
        if any_rows or x.is_number != y.is_number or x.fixed != y.fixed:
            yield f"response `{x.name}`", _kind_of_response(x), _kind_of_response(y)


def _kind_of_column(layout: StatisticsLayout, c: int) -> str:
    if c in layout.target_columns:
        return "the response"
    if c in layout.weight_columns:
        return "the row weights"
    if c in layout.excluded:
        return "excluded"
    return "labels" if c in layout.labeled else "numbers"


def _kind_of_response(response: ResponseColumn) -> str:
    if response.fixed and response.classes is not None:
        return f"one of the given classes {listing(response.classes.levels())}"
    if not response.is_number:
        return "labels"
    return _NUMBERS if response.classes is None else _NUMBERED
