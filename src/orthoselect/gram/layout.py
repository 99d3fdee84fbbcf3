"""Which columns the statistics of a table have.

The columns are: one of ones, one for each numeric feature, one for each level of each categorical
feature, and for the responses one for each class, or one of numbers. Levels and classes get theirs
when they are first seen; in all rows before it is zero.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.encode import Labels, NumberedNames, Table, TargetColumn, build_response
from orthoselect.encode.labels import LevelsSeen
from orthoselect.errors import InputError, listing
from orthoselect.gram.coded import Coded, Term, check_finite
from orthoselect.matrix.base import EPS, Floats, Indices, storage_precision
from orthoselect.matrix.triangle import Combination

ONES: Term = ("ones",)
MAX_LEVELS = 4000


@dataclass
class ResponseColumn:
    """One response.

    Attributes
    ----------
    name : str
    classes : LevelsSeen or None
        Its classes; None if it holds numbers.
    is_number : bool
        Whether its dtype is that of numbers, which may be classes all the same.
    fixed : bool
        Whether other classes than those seen are an error.
    """

    name: str
    classes: LevelsSeen | None
    is_number: bool
    fixed: bool = False

    @property
    def kind(self) -> str:
        """Say what it holds."""
        return "numbers" if self.classes is None else "classes"

    def describe(self) -> str:
        """Return its name, and what it holds."""
        if self.classes is None:
            return f"`{self.name}` (numbers)"
        n = len(self.classes.levels())
        return f"`{self.name}` ({n} {'class' if n == 1 else 'classes'})"


@dataclass
class Layout:
    """The columns of the statistics.

    Attributes
    ----------
    names : sequence of str
        All columns of the table.
    numeric_at : integer array
        Positions of those that hold numbers.
    labeled : mapping of int to LevelsSeen
        Levels of those that hold labels, by position.
    by_dtype : set of int or None
        Those that hold labels because their dtype says so; None if dtypes are nothing to go by.
    responses : list of ResponseColumn
    taken : list of int
        Where the response stands in the table, if it does.
    excluded : list of int
        Columns that are not looked at.
    weighting : list of int
        Where the row weights stand in the table, if they do.
    precision : array of shape (number of numeric columns,)
        Relative rounding of the numbers.
    terms : list of Term
        What each column of the statistics stands for.
    """

    names: Sequence[str]
    numeric_at: Indices
    labeled: dict[int, LevelsSeen]
    by_dtype: set[int] | None
    responses: list[ResponseColumn]
    taken: list[int]
    excluded: list[int]
    weighting: list[int] = field(default_factory=list)
    precision: Floats = field(default_factory=lambda: np.zeros(0))
    terms: list[Term] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not len(self.precision):
            self.precision = np.full(len(self.numeric_at), EPS)
        if not self.terms:
            numbers = [r for r, y in enumerate(self.responses) if y.classes is None]
            self.terms = [ONES, *(("x", int(c)) for c in self.numeric_at)]
            self.terms += [("y", r) for r in numbers]
            self._add_terms()

    @property
    def skip(self) -> set[int]:
        """Columns of the table that are no features."""
        return {*self.excluded, *self.taken, *self.weighting}

    def copy(self) -> Layout:
        """Return the same; either may grow by itself."""
        new = copy.copy(self)
        new.labeled, new.responses = copy.deepcopy((self.labeled, self.responses))
        new.precision, new.terms = self.precision.copy(), list(self.terms)
        return new

    def features_only(self) -> Layout:
        """Return the layout of the table without the columns of the response and the weights."""
        gone = {*self.taken, *self.weighting}
        at = {c: k for k, c in enumerate(c for c in range(len(self.names)) if c not in gone)}
        new = self.copy()
        numbered = isinstance(self.names, NumberedNames)
        new.names = NumberedNames(len(at)) if numbered else [self.names[c] for c in at]
        new.numeric_at = np.array([at[c] for c in self.numeric_at.tolist()], dtype=np.intp)
        new.labeled = {at[c]: seen for c, seen in new.labeled.items()}
        new.by_dtype = None if self.by_dtype is None else {at[c] for c in self.by_dtype}
        new.excluded = [at[c] for c in self.excluded if c in at]
        new.taken, new.weighting = [], []
        of_features = ("x", "level")
        new.terms = [(t[0], at[t[1]], *t[2:]) if t[0] in of_features else t for t in self.terms]
        return new

    def places(self, wanted: Sequence[Term]) -> Indices:
        """Return where these terms stand."""
        at = {term: place for place, term in enumerate(self.terms)}
        return np.array([at[term] for term in wanted], dtype=np.intp)

    def level_terms(self, column: int) -> list[Term]:
        """Return the terms of a categorical feature, its levels in their order."""
        return _in_order("level", column, self.labeled[column])

    def class_terms(self, r: int) -> list[Term]:
        """Return the terms of a response of classes, the classes in their order."""
        seen = self.responses[r].classes
        assert seen is not None
        return _in_order("class", r, seen)

    def describe(self, term: Term) -> str:
        """Return what to call a column of the statistics."""
        kind, *rest = term
        if kind == "ones":
            return "1"
        if kind in ("x", "y"):
            return self.names[rest[0]] if kind == "x" else self.responses[rest[0]].name
        owner, number = rest
        seen = self.labeled[owner] if kind == "level" else self.responses[owner].classes
        name = self.names[owner] if kind == "level" else self.responses[owner].name
        assert seen is not None
        return f"{name}={by_appearance(seen)[number]}"

    # One more block

    def code(self, table: Table, columns: Sequence[TargetColumn], weights: Floats | None) -> Coded:
        """Return the rows of a block that have weight, coded; new levels get columns."""
        rows = None if weights is None else np.flatnonzero(weights > 0)
        parts: list[tuple[Term, Labels]] = []
        for c, seen in self.labeled.items():
            labels = _some_rows(table.labels[c], rows)
            place = self._see(seen, labels, None, f"column `{self.names[c]}`")
            parts.append((("level", c), Labels(place, ())))
        numbers: dict[Term, Floats] = {}
        for r, (response, column) in enumerate(zip(self.responses, columns)):
            if response.classes is None:
                values = build_response([column], "regression", "dummy", None).parts[0][:, 0]
                numbers["y", r] = values if rows is None else values[rows]
                continue
            labels = _some_rows(column.labels(), rows)
            if response.fixed:
                _check_known(response.classes, labels, response.name)
            place = self._see(response.classes, labels, column.order, f"response `{response.name}`")
            parts.append((("class", r), Labels(place, ())))
        self._add_terms()
        numeric, precision = self._numeric(table)
        check_finite(numeric, [self.names[c] for c in self.numeric_at.tolist()])
        self.precision = np.maximum(self.precision, precision)
        return Coded(self.terms, numeric, numbers, parts, rows, table.n_rows, weights)

    def to_numbers(self) -> list[Combination]:
        """Let responses whose classes are numbers be numbers; say how columns are made of old ones.

        A number is the sum of its classes times their indicators, of which one is 1 in each row:
        one class may be taken off all of them, so that nothing is lost far from zero.
        """
        old = self.places(self.terms)
        made: dict[Term, Combination] = {}
        for r, response in enumerate(self.responses):
            if response.classes is None or not response.is_number or response.fixed:
                continue
            mine = [t for t in self.terms if t[:2] == ("class", r)]
            values = np.array(by_appearance(response.classes), dtype=np.float64)
            origin = middle_of(values)
            made["y", r] = Combination(self.places(mine), values - origin, origin)
            response.classes = None
        gone = {("class", r) for _, r in made}
        kept = [t for t in self.terms[1:] if t[:2] not in gone]
        own = {t: Combination(old[[place]], np.ones(1)) for place, t in enumerate(self.terms)}
        self.terms = [ONES, *kept, *made]
        return [*(own[t] for t in kept), *made.values()]

    def take_in(self, other: Layout) -> list[Combination]:
        """Grow by the levels of another; return its columns in the order of this one."""
        of_other: dict[Term, int] = {}
        for kind, number, mine, theirs in self._seen_by_both(other):
            levels = by_appearance(theirs)
            codes = self._see(
                mine, Labels(np.arange(len(levels)), tuple(levels)), theirs.order, kind
            )
            for k, place in enumerate(codes.tolist()):
                of_other[kind, number, place] = int(other.places([(kind, number, k)])[0])
        self._add_terms()
        self.precision = np.maximum(self.precision, other.precision)
        for place, term in enumerate(other.terms):
            if term[0] in ("x", "y"):
                of_other[term] = place
        nothing = Combination(np.zeros(0, dtype=np.intp), np.zeros(0))
        return [
            Combination(np.array([of_other[t]]), np.ones(1)) if t in of_other else nothing
            for t in self.terms[1:]
        ]

    def _seen_by_both(self, other: Layout) -> Iterator[tuple[str, int, LevelsSeen, LevelsSeen]]:
        for c, seen in self.labeled.items():
            yield "level", c, seen, other.labeled[c]
        for r, (mine, theirs) in enumerate(zip(self.responses, other.responses)):
            if mine.classes is not None and theirs.classes is not None:
                yield "class", r, mine.classes, theirs.classes

    def _see(self, seen: LevelsSeen, labels: Labels, order: Any, what: str) -> NDArray:
        codes, n_levels = seen.add(labels, order), seen.n_levels
        if n_levels > MAX_LEVELS:
            raise InputError(
                f"{what} should have at most {MAX_LEVELS} levels; it has {n_levels} so far. If it "
                f"is a response of numbers pass `task='regression'`; else merge rare levels, or "
                f"name it in `exclude`."
            )
        return codes

    def _add_terms(self) -> None:
        """Add columns for levels that have none."""
        known = set(self.terms)
        owners = [(("level", c), seen) for c, seen in self.labeled.items()]
        owners += [
            (("class", r), y.classes) for r, y in enumerate(self.responses) if y.classes is not None
        ]
        for owner, seen in owners:
            wanted = [(*owner, k) for k in range(len(seen.places()))]
            self.terms += [term for term in wanted if term not in known]

    def _numeric(self, table: Table) -> tuple[Any, Floats]:
        """Return the numbers of the block, and their relative rounding."""
        numeric, precision = table.numeric, table.precision
        if precision is None:
            precision = storage_precision(numeric.dtype, len(table.numeric_at))
        if len(table.numeric_at) == len(self.numeric_at):
            return numeric, precision
        some = np.searchsorted(table.numeric_at, self.numeric_at)
        return numeric[:, some], precision[some]


def middle_of(values: Floats) -> float:
    """Return one of the values with about as many below as above it; 0 if there are none yet."""
    return float(np.sort(values)[len(values) // 2]) if len(values) else 0.0


def by_appearance(seen: LevelsSeen) -> list[Any]:
    """Return levels in the order in which they were first seen."""
    levels = seen.levels()
    return [levels[place] for place in seen.places().tolist()]


def _in_order(kind: str, owner: int, seen: LevelsSeen) -> list[Term]:
    number = np.argsort(seen.places())
    return [(kind, owner, int(k)) for k in number]


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


def check_settings(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> None:
    """Raise unless statistics without rows were to be made as the others are."""
    for name in mine:
        if repr(mine[name]) != repr(theirs[name]):
            raise InputError(
                f"statistics to be added should be made alike; `{name}` is {mine[name]!r} on the "
                f"left and {theirs[name]!r} on the right."
            )


def check_layouts(mine: Layout, theirs: Layout) -> None:
    """Raise, naming the first difference, unless two layouts have the same columns."""
    _check_columns(mine.names, theirs.names)
    for what, left, right in _differences(mine, theirs):
        if left != right:
            raise InputError(
                f"statistics to be added should have the same columns and responses; {what} is "
                f"{left} on the left and {right} on the right. Make both from tables of the same "
                f"form, with the same settings."
            )


def _check_columns(mine: Sequence[str], theirs: Sequence[str]) -> None:
    here, there = _others(mine, theirs), _others(theirs, mine)
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


def _others(names: Sequence[str], than: Sequence[str]) -> list[str]:
    known = set(than)
    return [name for name in names if name not in known]


def _differences(mine: Layout, theirs: Layout) -> Iterator[tuple[str, Any, Any]]:
    for c, name in enumerate(mine.names):
        yield f"column `{name}`", _kind_of(mine, c), _kind_of(theirs, c)
    yield "the number of responses", len(mine.responses), len(theirs.responses)
    for r, (x, y) in enumerate(zip(mine.responses, theirs.responses)):
        yield f"response {r}", f"`{x.name}`", f"`{y.name}`"
        yield f"response `{x.name}`", _kind_of_response(x), _kind_of_response(y)


def _kind_of(layout: Layout, c: int) -> str:
    if c in layout.taken:
        return "the response"
    if c in layout.weighting:
        return "the row weights"
    if c in layout.excluded:
        return "excluded"
    return "labels" if c in layout.labeled else "numbers"


def _kind_of_response(response: ResponseColumn) -> str:
    if response.fixed and response.classes is not None:
        return f"one of the given classes {listing(response.classes.levels())}"
    if not response.is_number:
        return "labels"
    return "numbers" if response.classes is None else "classes that are numbers"
