"""The data of a comparison: rows of a table, a response as plain numbers, columns for models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.encode import Feature, Labels, Response, Table
from orthoselect.encode.gaps import FILLS, find_gaps
from orthoselect.encode.table import check_finite_numbers, check_levels
from orthoselect.errors import InputError
from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.memory import free_memory
from orthoselect.problem import check_has_rows
from orthoselect.read import (
    Block,
    Dataset,
    find_file,
    gaps_error,
    is_path,
    survey_gaps,
    why_not_whole,
)
from orthoselect.read.block import as_array
from orthoselect.read.dataset import NAMELESS
from orthoselect.roles import Roles, check_some_left, find_roles


@dataclass(frozen=True)
class ComparedData:
    """A table and a response, looked at once for all folds."""

    roles: Roles  # what each column is for
    table: Any  # Dataset, array, SciPy sparse in rows, or dataframe
    y: NDArray  # class codes, or numbers (one column or several)
    classes: Labels | None  # the classes behind the codes
    file: str | None  # what to write in a call for the file that the table was read from
    title: str
    target: str  # what to call the response
    indicated: list[int]  # columns of numbers whose gaps are to have an indicator

    @property
    def task(self) -> str:
        """What the response is, "classification" or "regression"."""
        return "regression" if self.classes is None else "classification"

    @property
    def class_labels(self) -> NDArray | None:
        """The classes as the table has them, in the order of their codes."""
        return None if self.classes is None else np.array(self.classes.levels)

    @property
    def is_sparse(self) -> bool:
        """Whether the table is sparse."""
        return sp.issparse(self.table.data if isinstance(self.table, Dataset) else self.table)

    @property
    def n_responses(self) -> int:
        """How many columns the response has."""
        return 1 if self.y.ndim == 1 else self.y.shape[1]

    @property
    def features(self) -> tuple[Feature, ...]:
        """What there is to choose from, in the table's order; a group stands where it begins."""
        return self.roles.features

    @property
    def kinds(self) -> dict[str, int]:
        """How many features there are to choose from, by kind."""
        columns = set(range(len(self.roles.source.names))) - self.roles.skip
        groups = [columns & set(members) for members in self.roles.groups.values()]
        alone = columns.difference(*groups)
        return {
            "numeric": len(alone - self.roles.categorical),
            "categorical": len(alone & self.roles.categorical),
            "group": sum(bool(members) for members in groups),
        }


def open_data(
    data: Any, target: Any, *, missing: str = "error", who: str = "`compare`", **asked: Any
) -> ComparedData:
    """Look at the data for `who` asks; the arguments are those of `select`."""
    check_has_rows(data, who)
    file = None
    if is_path(data):
        file = repr(str(data) if isinstance(data, (str, Path)) else [str(each) for each in data])
    data = find_file(data)
    check_whole_table(data, who)
    roles = find_roles(by_rows(data), target, missing=missing, **asked)
    columns = (*roles.candidates, roles.apart, roles.beside)
    unfit = gaps_error(roles.source, *columns, allowed=missing != "error")
    if unfit is not None:
        raise unfit
    numeric = roles.candidates[0]
    gappy = survey_gaps(roles.source, numeric, ()).counts if missing == "indicator" else ()
    table, names = by_rows(roles.data), roles.source.names
    response, _ = roles.source.response(
        roles.target, roles.target_columns, roles.task, "dummy", None
    )
    y, classes = _plain_response(response, who)
    called = name_of_target(target, table, [names[c] for c in roles.target_columns])
    title = title_of(table, "Methods", called)
    opened = ComparedData(roles, table, y, classes, file, title, called, sorted(gappy))
    check_some_left(sum(opened.kinds.values()))
    return opened


def check_whole_table(data: Any, who: str) -> None:
    """Raise for a table whose rows are not in memory."""
    if why_not_whole(data) is not None:
        raise InputError(
            f"{who} should have a table in memory, whose rows are cut into folds; got one in "
            f"blocks, or one too large for memory. Pass an array, a dataframe or a smaller file."
        )


def by_rows(data: Any) -> Any:
    """Return the same table in a form whose rows can be taken."""
    if isinstance(data, Dataset):
        return replace(data, data=by_rows(data.data))
    if sp.issparse(data):
        return data.tocsr()
    known = nw.dependencies
    # What is no table (a single column, say) goes on as it is: open_source has the words for it.
    no_table = known.is_into_series(data) or known.is_polars_lazyframe(data)
    return data if no_table or known.is_into_dataframe(data) else as_array(data, "X")


def take_rows(table: Any, rows: Indices) -> Any:
    """Return some rows of a table."""
    if isinstance(table, Dataset):
        return replace(table, data=take_rows(table.data, rows), target=None)
    if sp.issparse(table) or isinstance(table, np.ndarray):
        return table[rows]
    frame = nw.from_native(table, eager_only=True)
    return frame[rows.tolist()].to_native()


def _plain_response(response: Response, who: str) -> tuple[NDArray, Labels | None]:
    labels = [part for part in response.parts if isinstance(part, Labels)]
    if not labels:
        numbers = np.hstack(response.parts)
        return (numbers[:, 0] if numbers.shape[1] == 1 else numbers), None
    if len(response.parts) > 1:
        raise InputError(
            f"{who} takes one column of classes, or columns of numbers; the response has "
            f"{len(response.parts)} columns, of which {len(labels)} hold classes. Pass one of "
            f"them at a time, or `task='regression'` if all are numbers."
        )
    return labels[0].codes, labels[0]


def title_of(table: Any, what: str, target: str) -> str:
    """Return what to call a page: the name of the file, else what it shows for which response."""
    if isinstance(table, Dataset) and table.name != NAMELESS:
        return table.name
    return f"{what} for {target}"


def name_of_target(target: Any, table: Any, taken: list[str]) -> str:
    """Return what to call a response: its columns' names, its own name, or y."""
    if taken:
        return ", ".join(taken)
    name = getattr(target, "name", None)
    if name is None and isinstance(table, Dataset):
        name = table.target_name
    return name if isinstance(name, str) and name else "y"


@dataclass(frozen=True)
class Designs:
    """The columns of all selected features, in order of selection: arrays or SciPy sparse."""

    train: Any
    validation: Any
    ends: list[int]  # after how many columns each feature ends

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
    *,
    missing: str = "error",
) -> Designs:
    """Code the columns of features: numbers as they are, labels as indicators.

    An indicator stands for a level that occurs in the training rows; the most frequent one there
    has none. Other levels in the validation rows are zero in all indicators. `features` are the
    columns of each, `categorical` those that hold labels; `sparse` keeps sparse columns so. Unless
    `missing` says otherwise, gaps are filled by the means of the training rows; with "indicator" a
    column of numbers that has some there has an indicator of them, too.
    """
    columns = [column for feature in features for column in feature]
    numeric = np.array([c for c in columns if c not in categorical], dtype=np.intp)
    tables = [_numbers(block, numeric, sparse) for block in (train, validation)]
    if missing in FILLS:
        tables = _filled(tables[0], tables[1], indicated=missing == "indicator")
    for table in tables:
        check_finite_numbers(table.numeric, [table.names[k] for k in table.numeric_at])
    coded = {c: tuple(_own_columns(each, k) for each in tables) for k, c in enumerate(numeric)}
    coded |= {c: _code_labels(train, validation, c) for c in columns if c in categorical}
    widths = [sum(coded[column][0].shape[1] for column in feature) for feature in features]
    sides = [[coded[column][side] for column in columns] for side in (0, 1)]
    stacked = [_side_by_side(blocks, sparse) for blocks in sides]
    return Designs(stacked[0], stacked[1], list(accumulate(widths)))


def check_room(
    train: Block, n_rows: int, features: Sequence[Feature], categorical: set[int]
) -> None:
    """Raise if the columns of features, written out for so many rows, would not fit into memory."""
    columns = [column for feature in features for column in feature.columns]
    labeled = [column for column in columns if column in categorical]
    width = len(columns) - len(labeled) + sum(len(train.labels(c).levels) - 1 for c in labeled)
    needed, free = _COPIES * 8 * n_rows * width, free_memory()
    if needed > free:
        raise InputError(
            f"not run: {n_rows} rows of {width} columns would take {needed / 1e9:.3g} GB of "
            f"memory, and {free / 1e9:.3g} GB are free. An estimator that takes sparse columns "
            f"('logistic', 'svm') may do with less."
        )


_COPIES = 3  # the columns, scaled, and what a model makes of them


def code_for_ranking(
    train: Block,
    features: Sequence[Feature],
    categorical: set[int],
    sparse: bool,
    *,
    indicated: bool = False,
) -> tuple[Any, list[int]]:
    """Return columns of numbers for a method that takes no others, and whose each of them is.

    Numbers stay as they are, but for gaps, which are as in `build_designs`. Labels become an
    indicator for each level, or one for two levels: a penalty on coefficients would not treat all
    levels alike if one had no indicator.
    """
    columns = [(f, column) for f, feature in enumerate(features) for column in feature.columns]
    numeric = np.array([c for _, c in columns if c not in categorical], dtype=np.intp)
    place = {int(column): k for k, column in enumerate(numeric)}
    labels = {c: train.labels(c) for _, c in columns if c in categorical}
    for column, own in labels.items():
        what = f"categorical column `{train.names[column]}`"
        check_levels(what, len(own.levels), train.n_rows)
    sparse = sparse or sum(len(own.levels) for own in labels.values()) > _MANY_INDICATORS
    numbers = _numbers(train, numeric, sparse)
    numbers = find_gaps(numbers, set(), indicated=indicated).fill(numbers)
    blocks, owners = [], []
    for f, column in columns:
        if column in place:
            blocks.append(_own_columns(numbers, place[column]))
        else:
            blocks.append(_all_indicators(labels[column]))
        owners += [f] * blocks[-1].shape[1]
    return _side_by_side(blocks, sparse), owners


_MANY_INDICATORS = 200  # from here on they are kept sparse


def _all_indicators(labels: Labels) -> Floats:
    levels = np.arange(len(labels.levels))
    shown = levels[1:] if len(levels) <= 2 else levels
    return (labels.codes[:, None] == shown).astype(np.float64)


def _side_by_side(blocks: Sequence[Any], sparse: bool) -> Any:
    if sparse:
        return sp.csc_array(sp.hstack([sp.csc_array(b) for b in blocks], format="csc"))
    return np.hstack(blocks)


def _numbers(block: Block, columns: Indices, sparse: bool) -> Table:
    """Return numeric columns as a table, where they stand in the order given."""
    places = np.arange(len(columns))
    if not len(columns):
        return Table(block.n_rows, [], np.empty((block.n_rows, 0)), places, {})
    place = np.argsort(np.argsort(columns))  # blocks read columns in the table's order
    values = block.numeric(np.sort(columns))[:, place]
    values = (sp.csc_array(values) if sp.issparse(values) else values).astype(np.float64)
    values = values.toarray() if sp.issparse(values) and not sparse else values
    return Table(block.n_rows, [block.names[c] for c in columns], values, places, {})


def _filled(train: Table, validation: Table, *, indicated: bool) -> list[Table]:
    """Fill gaps by the means of the training rows."""
    gaps = find_gaps(train, set(), indicated=indicated)
    others = find_gaps(validation, set(gaps.counts), indicated=False)
    if others.counts:
        means = {k: float(train.numeric[:, [k]].mean()) for k in others.counts}
        validation = replace(others, means=means).fill(validation)
    return [gaps.fill(train), gaps.fill(validation)]


def _own_columns(table: Table, k: int) -> Any:
    """Return the values of column k, and the indicator of its gaps if it has one."""
    return table.numeric[:, np.flatnonzero(table.numeric_at == k)]


def _code_labels(train: Block, validation: Block, column: int) -> tuple[Floats, Floats]:
    """Return indicators of the levels that occur in the training rows, in both kinds of rows."""
    known, other = train.labels(column), validation.labels(column)
    place = {level: code for code, level in enumerate(known.levels)}
    codes = np.array([place.get(level, -1) for level in other.levels])[other.codes]
    most_frequent = int(np.bincount(known.codes).argmax())
    levels = len(known.levels), most_frequent
    return _indicators(known.codes, *levels), _indicators(codes, *levels)


def _indicators(codes: Indices, n_levels: int, most_frequent: int) -> Floats:
    """Return a column for each code but the most_frequent one; code -1 is zero in all."""
    block = np.zeros((len(codes), n_levels))
    rows = np.flatnonzero(codes >= 0)
    block[rows, codes[rows]] = 1.0
    return np.delete(block, most_frequent, axis=1)
