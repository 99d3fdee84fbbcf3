"""A source as it was read: its table, what it knows of its target, and how to write it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.errors import InputError, ShapeError, UnknownColumnError, listing
from orthoselect.lazy import lazy
from orthoselect.read.arrow import load_pyarrow, plain_table
from orthoselect.read.columns import (
    Gaps,
    column_of,
    gaps_in,
    rows_with_gaps,
)
from orthoselect.read.row_blocks import (
    is_block_source,
    joined,
    response_columns,
    take_columns,
    take_rows,
)

_USUAL_TARGETS = ("target", "y")
NAMELESS = "the table"  # what to call a table that has no file


@dataclass(frozen=True)
class TextFormat:
    """How a CSV or TSV file is written.

    Attributes
    ----------
    delimiter : str
    encoding : str
        A name that Python knows; "utf-8-sig" is UTF-8 with a byte order mark.
    header : bool
        Whether the first line holds the names.
    decimal : {".", ","}
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    header: bool = True
    decimal: str = "."


@dataclass(frozen=True)
class TextOptions:
    """What the user says of CSV and TSV files; see `read_source`."""

    delimiter: str | None = None
    encoding: str | None = None
    header: bool | None = None


def check_unused(options: TextOptions, because: str) -> None:
    """Raise for options where they would mean nothing."""
    given = [name for name, value in vars(options).items() if value is not None]
    if given:
        raise InputError(f"{listing(given)} is for CSV and TSV; {because}. Omit it.")


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table that was read from somewhere; `select` takes it in place of a table.

    Attributes
    ----------
    data : pyarrow.Table, NumPy array, SciPy sparse array, or source of blocks of rows
        All columns, in the order of the source.
    names : sequence of str
        The names of these columns.
    target : str or array, optional
        The target that the source itself knows: a column's name, or values apart from `data`.
    target_name : str, optional
        What to call those values.
    name : str
        What to call the source.
    format : {"csv", "tsv", "parquet", "feather", "arrow", "npz", "npy", "libsvm", "built-in"}
    text : TextFormat, optional
        How a CSV or TSV source is written.
    left_out : mapping of str to str
        Columns that are no candidates, each with the reason.
    dropped : sequence of str
        Columns of the source that `data` does not have, because the caller dropped them.
    task : {"auto", "classification", "regression"}
        What the source's own target is for, where its values leave that open.
    unsifted : bool
        Whether `select` is to look for columns that are no features; see `sift`.
    n_dropped : int
        Rows that it does not have any more, because something was missing.
    readings : Readings, optional
        How columns are read, once they were looked at.
    complete : sequence of str
        Columns that are known to lack no values.
    files : sequence of Path or int
        Where the table was read from, so that nothing else takes its place by mistake; see
        `files_of`.
    """

    data: Any
    names: Sequence[str]
    target: str | NDArray | None = None
    target_name: str | None = None
    name: str = NAMELESS
    format: str = "csv"
    text: TextFormat | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    dropped: Sequence[str] = ()
    task: str = "auto"
    unsifted: bool = False
    n_dropped: int = 0
    complete: Sequence[str] = ()
    files: Sequence[Path | int] = ()
    readings: Any = None

    @classmethod
    def of_arrow(cls, table: Any, format: str) -> Dataset:
        """Return a pyarrow table as a data set, its columns in plain types."""
        pa, names = load_pyarrow(), list(table.column_names)
        try:
            return cls(plain_table(table), names, format=format)
        except pa.ArrowNotImplementedError as error:
            raise InputError(
                f"the table holds a type that needs a pyarrow newer than {pa.__version__}, which "
                f"is installed: {error}. Upgrade it, or write the table as Parquet."
            ) from error

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.data.n_rows if self.in_blocks else self.data.shape[0]

    @lazy
    def in_blocks(self) -> bool:
        """Whether the rows come in blocks, and are not in memory."""
        return is_block_source(self.data)

    @lazy
    def places(self) -> dict[str, int]:
        """Where each column stands."""
        return {name: at for at, name in enumerate(self.names)}

    # What the columns hold; where they come in blocks, each answer is a pass over those columns

    def column(self, name: str) -> Any:
        """Return a column's values, an array or a pyarrow column."""
        at = self.places[name]
        if self.in_blocks:
            return column_of(joined(self._read([at])), 0)
        return column_of(self.data, at)

    def gaps(self, columns: Sequence[int]) -> Gaps:
        """Count missing values and infinities, of the columns that have any."""
        total: Gaps = {}
        for block, places in self.parts(columns):
            found = gaps_in(block, places)
            for column, place in zip(columns, places):
                if place in found:
                    before = total.get(column, (0, 0))
                    total[column] = before[0] + found[place][0], before[1] + found[place][1]
        return dict(sorted(total.items()))

    def rows_with_gaps(self, columns: Iterable[int]) -> NDArray[np.bool_]:
        """Return which rows have a missing or infinite value in these columns."""
        columns = list(columns)
        if not columns:
            return np.zeros(self.n_rows, dtype=bool)
        return np.concatenate([rows_with_gaps(*part) for part in self.parts(columns)])

    def parts(self, columns: Sequence[int]) -> Iterator[tuple[Any, Sequence[int]]]:
        """Yield blocks, and where each has these columns."""
        if not self.in_blocks:
            yield self.data, columns
        elif len(columns):
            for block in self._read(list(columns)):
                yield block, range(len(columns))

    def _read(self, columns: Sequence[int] | None) -> Generator[Any, None, None]:
        """Yield the blocks of a source."""
        yield from self.data.blocks(columns)

    # The target

    def find_target(self, target: Any) -> Any:
        """Return the names of the target's columns, or its values.

        Parameters
        ----------
        target : str, list of str, array-like or None
            A column's name, or several. Where the source has its target's values apart: their
            name, "target", "y" or None. Other values are returned as they are.

        Examples
        --------
        >>> table = Dataset(np.eye(2), ["a", "b"], target=np.array([0, 1]), target_name="kind")
        >>> table.find_target("b"), table.find_target("kind")
        ('b', array([0, 1]))
        """
        if target is None and self.target is None:
            or_store = "; or store the values as `y` in the file, for example with numpy.savez"
            or_store = or_store if self.format == "npz" else ""
            raise InputError(
                f"`{self.name}` should come with the name of its target: it has none that is known "
                f"by itself. Name one of its columns, {listing(self.names)}{or_store}."
            )
        if target is None:
            return self.target
        if isinstance(target, (list, tuple)) and len(target) == 1 and isinstance(target[0], str):
            target = target[0]
        asked = response_columns(target, self.names)
        unknown = [name for name in asked if name not in self.places]
        if not unknown:
            return target
        if self.target is not None and target in (self.target_name, *_USUAL_TARGETS):
            return self.target
        self.check_together(asked)
        known = [*self.names, *([self.target_name] if self.target_name else [])]
        raise UnknownColumnError("target", unknown, known)

    def check_together(self, targets: Sequence[str]) -> None:
        """Raise where one of several targets is no column, but the values that stand apart."""
        own = {self.target_name, *_USUAL_TARGETS} - {*self.names}
        apart = [name for name in targets if name in own]
        if apart and self.target is not None and not isinstance(self.target, str):
            raise InputError(
                f"several targets should be columns of the table; `{apart[0]}` of `{self.name}` "
                f"is separate from its columns. Name it alone, or make one table of both."
            )

    # Parts of the table

    def take_rows(self, rows: NDArray[np.bool_]) -> Dataset:
        """Return the rows where a mask is True, of the target's values too."""
        target = self.target[rows] if isinstance(self.target, np.ndarray) else self.target
        return replace(self, data=take_rows(self.data, rows), target=target)

    def without(self, drop: Collection[str]) -> Dataset:
        """Return all columns but some, named as in `find_names`; several may have one name.

        What is left should have rows, and names that are unique.
        """
        rest = self
        if drop:
            dropped = set(find_names(drop, self.names, "drop"))
            kept = [at for at, name in enumerate(self.names) if name not in dropped]
            if not kept:
                raise ShapeError(f"`drop` should leave columns; it names all of `{self.name}`.")
            gone = (*self.dropped, *(name for name in self.names if name in dropped))
            rest = replace(self.reordered(kept), dropped=gone)
        if not rest.in_blocks and not rest.n_rows:  # blocks are checked when they are read
            raise ShapeError(f"`{self.name}` should hold rows; it has none.")
        twice = [name for name, count in Counter(rest.names).items() if count > 1]
        if twice:
            remedy = "Rename the columns, or drop them"
            if self.text is not None and self.text.header:
                remedy += "; if the first line holds values, give `--no-header`"
            raise InputError(
                f"`{self.name}` should have a name of its own for each column; "
                f"{listing(twice)} occurs more than once. {remedy}."
            )
        return rest

    def reordered(self, columns: Sequence[int]) -> Dataset:
        """Return these columns, in this order."""
        if list(columns) == list(range(len(self.names))):
            return self
        names = [self.names[at] for at in columns]
        return replace(self, data=take_columns(self.data, columns), names=names)


def find_names(given: Iterable[str], names: Sequence[str], option: str) -> list[str]:
    """Return the columns that are meant, each once, in the order given.

    Parameters
    ----------
    given : iterable of str
        Each a column's name, a pattern with ``*`` or ``?``, or several of either with commas
        between them. A name that holds a comma or a star stands for itself.
    names : sequence of str
        The columns of the table.
    option : str
        What to call it in an error.

    Examples
    --------
    >>> find_names(["b,a", "x*"], ["a", "b", "x1", "x2"], "--exclude")
    ['b', 'a', 'x1', 'x2']
    """
    known = dict.fromkeys(names)
    found: dict[str, None] = {}
    unknown: list[str] = []
    for item in given:
        parts = [item] if item in known else split_names(item)
        for part in parts:
            matches = [part] if part in known else []
            if not matches and any(sign in part for sign in "*?"):
                matches = [name for name in names if fnmatchcase(name, part)]
            found.update(dict.fromkeys(matches))
            unknown += [] if matches else [part]
    if unknown:
        raise UnknownColumnError(option, unknown, names)
    return list(found)


def split_names(item: str) -> list[str]:
    """Return the names between commas; nothing between two of them is none.

    Examples
    --------
    >>> split_names("a, b,"), split_names("")
    (['a', 'b'], [''])
    """
    return [part.strip() for part in item.split(",") if part.strip()] or [item]
