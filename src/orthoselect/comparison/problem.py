"""The data of a comparison: a table whose rows can be taken, and a response as plain numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from orthoselect.arguments import ColumnSpec, check_some_left
from orthoselect.encode import Labels, Response
from orthoselect.errors import InputError
from orthoselect.matrix.base import Indices
from orthoselect.read import Dataset, Source, find_file, is_path, why_not_whole
from orthoselect.read.block import as_array
from orthoselect.roles import check_has_rows, find_roles


@dataclass(frozen=True)
class Problem:
    """A table and a response, looked at once for all folds.

    Attributes
    ----------
    table : Dataset, array, SciPy sparse in rows, or dataframe
    source : Source
        The same, for reading.
    y : array with N rows
        Class codes, or numbers (one column or several).
    classes : Labels or None
        The classes behind the codes.
    file : str or None
        What to write in a call for the file that the table was read from.
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
    file: str | None
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
    def is_sparse(self) -> bool:
        """Whether the table is sparse."""
        table = self.table.data if isinstance(self.table, Dataset) else self.table
        return sp.issparse(table)

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
    check_has_rows(data, "`compare`")
    file = _in_code(data) if is_path(data) else None
    data = find_file(data)
    if why_not_whole(data) is not None:
        raise InputError(
            "`compare` should have a table in memory, whose rows it cuts into folds; got one in "
            "blocks, or one too large for memory. Pass an array, a dataframe or a smaller file."
        )
    roles = find_roles(
        _by_rows(data),
        target,
        task=task,
        categorical_features=categorical_features,
        groups=groups,
        exclude=exclude,
    )
    source, table = roles.source, _by_rows(roles.data)
    response, _ = source.response(roles.target, roles.target_columns, roles.task, "dummy", None)
    y, classes = _plain_response(response)
    problem = Problem(
        table=table,
        source=source,
        y=y,
        classes=classes,
        file=file,
        title=table.name if isinstance(table, Dataset) else "table",
        target=_name_of(target, table, [source.names[c] for c in roles.target_columns]),
        groups=roles.groups,
        left_out=roles.exclude,
        taken=roles.target_columns,
        categorical=roles.categorical,
    )
    check_some_left(sum(problem.kinds.values()))
    return problem


def _in_code(path: Any) -> str:
    return repr(str(path) if isinstance(path, (str, Path)) else [str(each) for each in path])


def _by_rows(data: Any) -> Any:
    """Return the same table in a form whose rows can be taken."""
    if isinstance(data, Dataset):
        return replace(data, data=_by_rows(data.data))
    if sp.issparse(data):
        return data.tocsr()
    return data if nw.dependencies.is_into_dataframe(data) else _array(data)


def _array(data: Any) -> Any:
    # What is no table (a single column, say) goes on as it is: open_whole has the words for it.
    other = nw.dependencies.is_into_series(data) or nw.dependencies.is_polars_lazyframe(data)
    return data if other else as_array(data, "X")


def take_rows(table: Any, rows: Indices) -> Any:
    """Return some rows of a table."""
    if isinstance(table, Dataset):
        return replace(table, data=take_rows(table.data, rows), target=None)
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


def _name_of(target: Any, table: Any, taken: list[str]) -> str:
    if taken:
        return ", ".join(taken)
    name = getattr(target, "name", None)
    if name is None and isinstance(table, Dataset):
        name = table.target_name
    return name if isinstance(name, str) and name else "y"
