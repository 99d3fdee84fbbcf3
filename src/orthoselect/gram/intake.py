"""Rows of any kind -> what is kept of them, in one pass.

Where a table is spread over several places, each partition is reduced where it is, and what is kept
of the partitions is merged by a tree; rows stay where they are.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from orthoselect.column_spec import check_one_role, find_asked, find_columns
from orthoselect.encode import Labels, Table, TargetColumn
from orthoselect.encode.gaps import FILLS, check_no_gaps, find_gaps, gaps_in
from orthoselect.encode.labels import GAP, LevelsSeen
from orthoselect.encode.response import check_finite
from orthoselect.encode.weights import read_weights
from orthoselect.encode.whole_numbers import have_fractions
from orthoselect.errors import (
    InputError,
    NonFiniteError,
    RowsDroppedWarning,
    ShapeError,
    listing,
    warn,
)
from orthoselect.gram.layout import (
    ResponseColumn,
    StatisticsLayout,
    check_layouts,
    check_settings,
)
from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.memory import count_bytes, free_memory
from orthoselect.matrix.rows import Rows, SpreadRows
from orthoselect.matrix.triangle import Triangle, Triangles
from orthoselect.problem import check_has_rows
from orthoselect.read import (
    Block,
    Dataset,
    Source,
    any_missing,
    check_block_names,
    find_for_one_pass,
    gaps_error,
    is_path,
    numbers_of,
    read_target,
    why_not_whole,
)
from orthoselect.roles import find_roles

_MOST_CLASSES = 4000  # whole numbers that are kept as classes, in case they are some
_COPIES = 4  # of the triangle, while it is worked on


class ReducedRows:
    """What is kept of some rows: the columns of the statistics, and a triangle."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings  # those of `GramStatistics`
        self.layout: StatisticsLayout | None = None  # the columns; None before the first rows
        self.n_rows, self.weight = 0, 0.0  # of the rows that have weight
        self.n_read = self.n_blocks = 0  # of all rows
        self.n_dropped = 0  # rows with a gap in the response or the weights, or in any feature
        self._triangles: Any = Triangles()
        self._whole: Triangle | None = None  # of all rows, once somebody has asked

    @staticmethod
    def of(
        settings: Mapping[str, Any],
        layout: StatisticsLayout,
        whole: Triangle,
        counts: Mapping[str, Any],
    ) -> ReducedRows:
        """Put together what `known` and `counts` returned."""
        new = ReducedRows(settings)
        new.layout = layout
        new._triangles = Triangles([(counts["height"], whole)])
        new.n_rows = new.n_read = counts["n_rows"]
        new.weight, new.n_blocks = counts["weight"], counts["n_blocks"]
        return new

    def counts(self) -> dict[str, Any]:
        """Return what is kept besides the columns and the triangle."""
        known = {"n_rows": self.n_rows, "weight": self.weight, "n_blocks": self.n_blocks}
        return {**known, "height": self._triangles.height}

    def copy(self) -> ReducedRows:
        """Return the same; either may grow by itself."""
        new = copy.copy(self)
        new.layout = None if self.layout is None else self.layout.copy()
        new._triangles = self._triangles.copy()
        return new

    def __copy__(self) -> ReducedRows:
        new = type(self).__new__(type(self))
        vars(new).update(vars(self))
        return new

    def __getstate__(self) -> dict[str, Any]:
        """Return what is sent elsewhere: no rows, not even the few that wait for others."""
        new = self.copy()
        new.reduce()
        return vars(new)

    def reduce(self) -> None:
        """Let no rows wait."""
        if self.layout is not None:
            self._triangles.flush(len(self.layout.terms))

    def known(self) -> tuple[StatisticsLayout, Triangle]:
        """Return the columns and the triangle of all rows; raise if there were none."""
        if self.layout is not None and self._whole is None:
            self._whole = self._triangles.whole(len(self.layout.terms))
        if self.layout is None or self._whole is None:
            raise InputError("there should be rows; there are none yet. Add some with `update`.")
        return self.layout, self._whole

    def with_rows(
        self, block: Block, y: Any, sample_weight: Any, memory: int | None = None
    ) -> ReducedRows:
        """Return what is kept of these rows and those of a block.

        y and weights are names of columns, or values. `memory` is how many bytes may be taken; by
        default what is free.
        """
        if self.layout is None and not block.n_rows:
            return self  # dtypes of nothing tell nothing
        missing = self.settings["missing"]
        rows, new = BlockRows.of(block, y, sample_weight, drop=missing != "error"), self.copy()
        new.n_read += block.n_rows
        new.n_dropped += rows.n_dropped
        if block.n_rows and rows.n_dropped == block.n_rows:
            return new  # a response of which nothing is there is of no kind
        layout = new._look(rows)
        table = Source(block).read(set(layout.labeled), layout.skip)
        weights = rows.weights
        try:
            if missing == "error":
                check_no_gaps(table)
            if missing == "drop_rows":
                weights, table = _without_gaps(weights, table, layout.skip)
                new.n_dropped += block.n_rows - rows.n_dropped - int((weights > 0).sum())
            tiles = layout.code(table, rows.responses, weights, fill=missing in FILLS)
        except NonFiniteError as error:
            numbers, labels = layout.numeric_at.tolist(), list(layout.labeled)
            allowed = missing != "error"
            found = gaps_error(Source(block), numbers, labels, {}, {}, allowed=allowed)
            raise found or error from None
        new._make_room(len(layout.terms), free_memory() if memory is None else memory)
        for A, w in tiles:
            new._keep(A, w)
            new.n_rows += len(A)
            new.weight += float(len(A) if w is None else w.sum())
        new.n_blocks += 1
        new._whole = None
        return new

    def _make_room(self, p: int, free: int) -> None:
        """Raise if statistics of p columns do not fit into so many bytes."""
        needed = _COPIES * 8 * p * p
        if needed > free:
            raise InputError(
                f"statistics of {p} columns (features, levels and classes) take about "
                f"{needed:.1e} bytes while they are made, and {free:.1e} are free. Exclude "
                f"columns, or select from the rows."
            )

    def _keep(self, A: Floats, weights: Floats | None) -> None:
        """Take in coded rows."""
        self._triangles.add(A, weights)

    def _look(self, rows: BlockRows) -> StatisticsLayout:
        """Find what the columns hold, or check that they hold what they did."""
        numbers = self.settings["task"] == "regression"
        if self.settings["task"] == "auto" and self.settings["classes"] is None:
            numbers = _must_be_numbers(rows)
        if self.layout is None:
            self.layout = _first_look(rows, self.settings, numbers)
            return self.layout
        _look_again(self.layout, rows, self.n_blocks)
        if numbers:
            self.layout.to_numbers()
        return self.layout

    def merge(self, other: ReducedRows) -> ReducedRows:
        """Return what is kept of the rows of both."""
        if self.layout is None or other.layout is None:
            check_settings(self.settings, other.settings)
            return (self if other.layout is None else other).copy()
        check_settings({"missing": self.settings["missing"]}, other.settings)
        check_layouts(self.layout, other.layout, any_rows=bool(self.n_rows and other.n_rows))
        new = (self if self.n_rows else other).copy()
        new.settings, new.n_blocks = self.settings, self.n_blocks
        new.n_read = self.n_read + other.n_read
        new.n_dropped = self.n_dropped + other.n_dropped
        if self.n_rows and other.n_rows:
            assert new.layout is not None
            theirs = other.layout
            shifts = new.layout.shifts(theirs)
            J, gaps = (theirs.places([(kind, c) for c in shifts]) for kind in ("x", "gap"))
            columns = new.layout.take_in(theirs)

            def as_here(triangle: Triangle) -> Triangle:
                if shifts:
                    factors = np.array(list(shifts.values()))
                    triangle = triangle.with_multiples(J, gaps, factors)
                return triangle.reordered(columns)

            new.reduce()
            new._triangles.take(other._triangles, len(theirs.terms), as_here)
            new._whole = None
            new.n_rows += other.n_rows
            new.weight += other.weight
        return new


def _must_be_numbers(rows: BlockRows) -> bool:
    """Whether responses cannot be kept as classes; else all rows are asked what they are."""
    numbers = [column for column in rows.responses if column.is_number]
    return have_fractions(numbers, rows.weights) or any(
        len(column.labels().levels) > _MOST_CLASSES for column in numbers
    )


# A block, and its response and weights


@dataclass(frozen=True)
class BlockRows:
    """A block with its response and row weights, which may be columns of the table."""

    block: Block
    names: list[str]  # of the responses
    responses: list[TargetColumn]
    weights: Floats | None
    target_columns: list[int]
    weight_columns: list[int]
    n_dropped: int = 0  # rows without a response or a weight, which have weight 0

    @staticmethod
    def of(block: Block, y: Any, weights: Any, *, drop: bool = False) -> BlockRows:
        """Read the columns of these names, or these values; rows that lack one may be dropped.

        If y is None there is no response.
        """
        names = None
        if isinstance(y, BesideResponse):
            names, y = y.names, list(y.columns)
        asked, _ = find_asked(block.names, y, None, None, None, weights)
        check_one_role(asked, block.names)
        targets, weight_columns = asked["target"], asked["sample_weight"]
        responses = [] if y is None else Source(block).target_columns(y, targets)
        named = [block.names[c] for c in targets]
        if weight_columns:
            weights = numbers_of(block.column(weight_columns[0]), weights)
        n_dropped = 0
        if drop:
            responses, weights, n_dropped = _without_weight(responses, weights, block.n_rows)
        if weights is not None:
            weights = read_weights(weights, block.n_rows)
        check_finite(responses)
        names = named or names or _names_of(y, len(responses))
        return BlockRows(block, names, responses, weights, targets, weight_columns, n_dropped)


def _without_weight(
    responses: list[TargetColumn], weights: Any, n_rows: int
) -> tuple[list[TargetColumn], Any, int]:
    """Give rows that lack a response or a weight the weight 0, and any value in its place."""
    gaps = any_missing(responses) if responses else np.zeros(n_rows, dtype=bool)
    given = [] if weights is None else read_target(weights, n_rows)
    gaps |= any_missing(given) if given else False
    if not gaps.any():
        return responses, weights, 0
    w = np.zeros(n_rows)
    w[~gaps] = 1.0 if weights is None else numbers_of(given[0].take(~gaps))
    if gaps.all():
        return [replace(y, values=np.zeros(n_rows), gaps=None) for y in responses], w, n_rows
    somewhere = np.where(gaps, int((~gaps).argmax()), np.arange(n_rows))
    return [column.take(somewhere) for column in responses], w, int(gaps.sum())


def _without_gaps(weights: Floats | None, table: Table, skip: set[int]) -> tuple[Floats, Table]:
    """Give rows with gaps in any feature the weight 0, and fill them by anything."""
    w = np.ones(table.n_rows) if weights is None else weights.copy()
    for labels in table.labels.values():
        if GAP in labels.levels:
            w[labels.codes == labels.levels.index(GAP)] = 0.0
    found = find_gaps(table, {*skip, *table.labels}, indicated=False)
    for c in found.counts:
        w[gaps_in(table.numeric, int(np.searchsorted(table.numeric_at, c)))] = 0.0
    return w, found.fill(table)


def _names_of(y: Any, count: int) -> list[str]:
    """Return what to call responses that are given as values: as a dataframe does, or y0, y1."""
    if not count:
        return []
    if count == 1:
        return ["y"]
    if hasattr(y, "columns") or nw.dependencies.is_pyarrow_table(y):
        return [str(name) for name in getattr(y, "column_names", y.columns)]
    return [f"y{r}" for r in range(count)]


class BesideResponse:
    """A response that is given beside a table in blocks, cut where the table is cut."""

    def __init__(self, names: list[str] | None, columns: Sequence[TargetColumn]) -> None:
        self.names, self.columns = names, columns

    def __getitem__(self, rows: slice) -> BesideResponse:
        """Return some rows; if there are too few, that is an error where they are read."""
        some = [replace(column, values=column.values[rows]) for column in self.columns]
        return BesideResponse(self.names, some)

    @staticmethod
    def of(source: Source, y: Any) -> Rows:
        """Read the response of all rows, here or where its rows are."""
        values = source.per_row(y)
        if isinstance(values, SpreadRows):
            names = _names_of(y, len(y.columns)) if hasattr(y, "columns") else None
            return values.then(partial(BesideResponse, names), width=1)
        columns = read_target(values, source.n_rows or (*np.shape(values), 0)[0])
        return BesideResponse(_names_of(values, len(columns)), columns)


# The first look at a table and its response, and later ones that have to agree with it


def _first_look(rows: BlockRows, settings: Mapping[str, Any], numbers: bool) -> StatisticsLayout:
    """Find what the columns hold; `numbers` says whether responses of numbers are quantities."""
    names = rows.block.names
    excluded = find_columns(settings["exclude"], names, "exclude")
    skip = {*excluded, *rows.target_columns, *rows.weight_columns}
    by_dtype, labeled = _find_labeled(rows.block, settings["categorical_features"], skip)
    numeric = [c for c in range(len(names)) if c not in labeled | skip]
    return StatisticsLayout(
        names=names,
        numeric_at=np.array(numeric, dtype=np.intp),
        labeled={c: LevelsSeen(f"column `{names[c]}`") for c in sorted(labeled)},
        by_dtype=by_dtype,
        responses=_find_responses(rows, settings, numbers),
        target_columns=rows.target_columns,
        excluded=excluded,
        weight_columns=rows.weight_columns,
    )


def _find_labeled(block: Block, spec: Any, skip: set[int]) -> tuple[set[int] | None, set[int]]:
    """Return the columns that hold labels by their dtype alone, and all that do."""
    if spec is None:
        return None, set()
    if isinstance(spec, str) and spec == "all":
        return None, set(range(len(block.names))) - skip
    by_dtype = block.categorical_columns() - skip
    if isinstance(spec, str) and spec == "from_dtype":
        return by_dtype, by_dtype
    named = set(find_columns(spec, block.names, "categorical_features")) - skip
    return by_dtype - named, by_dtype | named


def _find_responses(
    rows: BlockRows, settings: Mapping[str, Any], numbers: bool
) -> list[ResponseColumn]:
    given = settings["classes"]
    if given is not None and not rows.names:
        raise InputError("`classes` are those of a response; there is none. Omit it.")
    if given is not None and len(rows.names) > 1:
        raise InputError(
            f"`classes` should be given for one response; there are {len(rows.names)}: "
            f"{listing(rows.names)}. Omit it."
        )
    found = []
    for name, column in zip(rows.names, rows.responses):
        as_numbers = numbers and (column.is_number or settings["task"] == "regression")
        seen = None if as_numbers else LevelsSeen(f"response `{name}`")
        if seen is not None and given is not None:
            seen.add(Labels(np.arange(len(given)), given), column.order)
        found.append(ResponseColumn(name, seen, column.is_number, given is not None))
    return found


def _look_again(layout: StatisticsLayout, rows: BlockRows, number: int) -> None:
    """Raise unless a block has the columns of those before; it gets their names."""
    block = rows.block
    check_block_names(layout.names, block.names, number)
    block.names = layout.names
    _check_responses(layout, rows)
    if rows.weight_columns != layout.weight_columns:
        before, now = (
            f"column `{layout.names[at[0]]}`" if at else "no column"
            for at in (layout.weight_columns, rows.weight_columns)
        )
        raise InputError(
            f"the row weights should be the same column of all blocks, if they are one; "
            f"`sample_weight` names {now} here, it named {before} in blocks before."
        )
    if layout.by_dtype is None or not block.n_rows:
        return
    kinds, here = ["numbers", "labels"], block.categorical_columns()
    of_numbers = set(layout.numeric_at.tolist())
    for c in sorted((layout.by_dtype - here) | (of_numbers & here)):
        raise InputError(
            f"column `{layout.names[c]}` should hold {kinds[c in layout.by_dtype]}, as it did in "
            f"blocks before; it holds {kinds[c in here]} here. Convert it, or say in "
            f"`categorical_features` what it is."
        )


def _check_responses(layout: StatisticsLayout, rows: BlockRows) -> None:
    before = [response.name for response in layout.responses]
    if rows.names != before:
        now, then = (listing(names) if names else "none" for names in (rows.names, before))
        raise InputError(
            f"all blocks should have the same response; this one has {now}, those before had "
            f"{then}."
        )
    if layout.target_columns != rows.target_columns:
        raise InputError(
            "the response should be a column of all blocks, or be given beside all of them."
        )
    kinds = ["labels", "numbers"]
    for response, column in zip(layout.responses, rows.responses):
        if response.is_number != column.is_number and not response.fixed:
            raise InputError(
                f"response `{response.name}` should be of one kind in all blocks; it holds "
                f"{kinds[column.is_number]} here and {kinds[response.is_number]} in blocks before. "
                f"Convert it."
            )


# Whole tables


def check_block(X: Any, who: str) -> None:
    """Raise unless X is rows that are in memory."""
    check_has_rows(X, who)
    if is_path(X) or why_not_whole(X) is not None:
        raise InputError(
            f"{who} should have rows that are in memory; got a {type(X).__name__}. Make "
            f"statistics of it with `GramStatistics.of`, and add them: `statistics + others`."
        )


def distinct_classes(classes: Sequence[Any] | None, task: str) -> tuple[Any, ...] | None:
    """Return classes that were given as a tuple, None if none were."""
    if classes is None:
        return None
    if task == "regression":
        raise InputError("`classes` should be left out for `task='regression'`, which has none.")
    values = classes.tolist() if isinstance(classes, np.ndarray) else list(classes)
    found = tuple(dict.fromkeys(values))
    if not found or len(found) < len(values):
        raise InputError(f"`classes` should be distinct labels, at least one; got {classes!r}.")
    return found


def reduce_table(
    data: Any,
    target: Any,
    sample_weight: Any,
    settings: Mapping[str, Any],
    memory: Any,
    start: Callable[..., ReducedRows] = ReducedRows,
) -> ReducedRows:
    """Return what is kept of a table; arguments as of `GramStatistics.of`.

    `start` makes, of the settings, what takes in the rows of each part of the table.
    """
    check_has_rows(data, "`GramStatistics.of`")
    columns = {name: settings[name] for name in ("task", "categorical_features", "exclude")}
    table = find_for_one_pass(data, memory)
    has_target = target is not None or (isinstance(table, Dataset) and table.target is not None)
    roles = find_roles(
        table,
        target,
        sample_weight=sample_weight,
        fewest_rows=1,
        has_target=has_target,
        **columns,
    )
    distinct_classes(settings["classes"], roles.task)  # a file may know its task
    settings = {**settings, "task": roles.task, "exclude": roles.exclude or None}
    source = roles.source
    named = [source.names[c] for c in roles.target_columns] or None
    y = None
    if has_target and named is None:
        y = BesideResponse.of(source, roles.target)
    weight_name = sample_weight if isinstance(sample_weight, str) else None
    weights = None
    if sample_weight is not None and weight_name is None:
        weights = source.weights_per_row(sample_weight)
    everything = range(len(source.names))
    wanted = [c for c in everything if c not in roles.exclude] or list(everything)
    bound = source.memory or (None if memory is None else count_bytes(memory))
    reduced = source.over_blocks(
        partial(start, settings),
        partial(_take_in, source.names, wanted, named, weight_name, bound),
        ReducedRows.merge,
        columns=np.array(wanted, dtype=np.intp),
        along=[y, weights],
    )
    reduced.reduce()
    if isinstance(y, BesideResponse):
        read_target(list(y.columns), reduced.n_read)  # words the error if there are too many
    if isinstance(weights, np.ndarray):
        read_weights(weights, reduced.n_read)  # likewise
    if reduced.n_dropped:
        if reduced.n_dropped == reduced.n_read:
            raise ShapeError(f"each of the {reduced.n_read} rows lacks a value; none is left.")
        warn_of_dropped(reduced.n_dropped, reduced.n_read, settings["missing"])
    if not reduced.n_rows:
        raise InputError("`sample_weight` should not be all zero; every row has weight 0.")
    return reduced


def warn_of_dropped(n_dropped: int, n_rows: int, missing: str) -> None:
    """Say that rows were dropped."""
    where = " in the response or the row weights"
    where += ", or in a feature" if missing == "drop_rows" else ""
    warn(RowsDroppedWarning(n_dropped, n_rows, where))


def _take_in(
    names: Sequence[str],  # all columns of the table
    wanted: Sequence[int],  # those that the blocks have
    target: list[str] | None,  # columns of the response; None if these are none of the blocks
    weight: str | None,  # that of the weights, likewise
    memory: int | None,
    reduced: ReducedRows,
    block: Block,
    y: Any,
    weights: Any,
) -> None:
    """Take a block in, where it is."""
    if len(block.names) < len(names):
        block = _SomeColumns(block, wanted, names)
    y, weights = (y if target is None else target), (weights if weight is None else weight)
    vars(reduced).update(vars(reduced.with_rows(block, y, weights, memory)))


class _SomeColumns(Block):
    """A block with some columns of the table, `at`, which has them where the table does."""

    def __init__(self, block: Block, at: Sequence[int], names: Sequence[str]) -> None:
        self._block, self._place = block, {c: k for k, c in enumerate(at)}
        self.names, self.n_rows = names, block.n_rows

    def categorical_columns(self) -> set[int]:
        here = self._block.categorical_columns()
        return {c for c, place in self._place.items() if place in here}

    def labels(self, column: int) -> Labels:
        return self._block.labels(self._place[column])

    def numeric(self, columns: Indices) -> Any:
        return self._block.numeric(self._places(columns))

    def column(self, column: int) -> Any:
        return self._block.column(self._place[column])

    def order(self, column: int) -> Sequence[Any] | None:
        return self._block.order(self._place[column])

    def precision(self, columns: Indices) -> NDArray | None:
        return self._block.precision(self._places(columns))

    def _places(self, columns: Indices) -> Indices:
        return np.array([self._place[c] for c in columns.tolist()], dtype=np.intp)
