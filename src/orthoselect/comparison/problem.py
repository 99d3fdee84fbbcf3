"""The data of a comparison: a table whose rows can be taken, and a response as plain numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.arguments import ColumnSpec, find_columns, find_groups
from orthoselect.encode import Labels, Response, build_response
from orthoselect.errors import InputError
from orthoselect.matrix.base import Indices
from orthoselect.read import Source, open_source, read_file, read_target
from orthoselect.read.table import as_array


@dataclass(frozen=True)
class Problem:
    """A table and a response, looked at once for all folds.

    Attributes
    ----------
    table : array, SciPy sparse in rows, or dataframe
    source : Source
        The same, for reading.
    y : array with N rows
        Class codes, or numbers (one column or several).
    classes : Labels or None
        The classes behind the codes.
    is_file : bool
        Whether the table was read from a file, which is its title then.
    title, target : str
        What to call the table and the response.
    groups : mapping of str to columns
    left_out : list of int
        Columns to exclude.
    taken : list of int
        The column of the response, if the table has it.
    categorical : set of int
        Columns that hold labels.
    """

    table: Any
    source: Source
    y: NDArray
    classes: Labels | None
    is_file: bool
    title: str
    target: str
    groups: Mapping[str, list[int]]
    left_out: list[int]
    taken: list[int]
    categorical: set[int]

    @property
    def task(self) -> str:
        """What the response is, "classification" or "regression"."""
        return "regression" if self.classes is None else "classification"

    @property
    def excluded(self) -> list[int]:
        """Columns never taken: those left out, and that of the response."""
        return [*self.left_out, *self.taken]

    @property
    def kinds(self) -> dict[str, int]:
        """How many features there are to choose from, by kind."""
        columns = set(range(len(self.source.names))) - set(self.excluded)
        groups = [columns & set(members) for members in self.groups.values()]
        alone = columns.difference(*groups)
        return {
            "numeric": len(alone - self.categorical),
            "categorical": len(alone & self.categorical),
            "group": sum(bool(members) for members in groups),
        }


def open_problem(
    data: Any,
    target: Any,
    task: str,
    categorical_features: ColumnSpec,
    groups: Any,
    exclude: ColumnSpec,
) -> Problem:
    """Look at the data; the arguments are those of `select`."""
    is_file = isinstance(data, (str, Path))
    table = _by_rows(read_file(data) if is_file else data)
    source = open_source(table)
    found_groups = find_groups(groups, source.names)
    left_out = find_columns(exclude, source.names, "exclude", found_groups)
    taken = find_columns(target, source.names, "target") if isinstance(target, str) else []
    values = source.column(taken[0]) if taken else target
    response = build_response(read_target(values, source.n_rows), task, "dummy", None)
    y, classes = _plain_response(response)
    problem = Problem(
        table=table,
        source=source,
        y=y,
        classes=classes,
        is_file=is_file,
        title=Path(data).name if is_file else "table",
        target=target if taken else _name_of(target),
        groups=found_groups,
        left_out=left_out,
        taken=taken,
        categorical=_categorical(source, categorical_features, {*left_out, *taken}),
    )
    if not sum(problem.kinds.values()):
        raise InputError("there should be features to choose from; `exclude` names them all.")
    return problem


def _by_rows(data: Any) -> Any:
    """Return the same table in a form whose rows can be taken."""
    if sp.issparse(data):
        return data.tocsr()
    return data if nw.dependencies.is_into_dataframe(data) else _array(data)


def _array(data: Any) -> Any:
    # What is no table (a single column, say) goes on as it is: open_source has the words for it.
    other = nw.dependencies.is_into_series(data) or nw.dependencies.is_polars_lazyframe(data)
    return data if other else as_array(data, "X")


def take_rows(table: Any, rows: Indices) -> Any:
    """Return some rows of a table."""
    if sp.issparse(table) or isinstance(table, np.ndarray):
        return table[rows]
    frame = nw.from_native(table, eager_only=True)
    return frame[rows.tolist()].to_native()


def _plain_response(response: Response) -> tuple[NDArray, Labels | None]:
    labels = [part for part in response.parts if isinstance(part, Labels)]
    if not labels:
        numbers = np.hstack(response.parts)
        return (numbers[:, 0] if numbers.shape[1] == 1 else numbers), None
    if len(response.parts) > 1:
        raise InputError(
            f"`compare` takes one column of classes, or columns of numbers; the response has "
            f"{len(response.parts)} columns, of which {len(labels)} hold classes. Compare for each "
            f"of them, or pass `task='regression'` if all are numbers."
        )
    return labels[0].codes, labels[0]


def _name_of(target: Any) -> str:
    name = getattr(target, "name", None)
    return name if isinstance(name, str) and name else "y"


def _categorical(source: Source, spec: ColumnSpec, skip: set[int]) -> set[int]:
    """Return the columns that `select` takes for labels."""
    if spec is None:
        return set()
    if isinstance(spec, str) and spec == "all":
        return set(range(len(source.names))) - skip
    by_dtype = source.categorical_columns() - skip
    if isinstance(spec, str) and spec == "from_dtype":
        return by_dtype
    return by_dtype | (set(find_columns(spec, source.names, "categorical_features")) - skip)
