"""What results have in common: a table for other programs, a text for people, and a page."""

from __future__ import annotations

import html
import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from orthoselect.result.text import Backend, as_csv, as_frame, as_html


class Tabular(ABC):
    """A result that is a table as well; it prints as its text.

    A subclass says which columns its table has and what is in them, and what people read.
    """

    @property
    @abstractmethod
    def _columns(self) -> Mapping[str, str]:
        """The columns of the table, and what each holds by narwhals' names."""

    @abstractmethod
    def _rows(self) -> Sequence[Sequence[Any]]:
        """Return the rows of the table."""

    @abstractmethod
    def to_text(self) -> str:
        """Return what people read."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists, ready for JSON."""

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return the result as a dataframe; the class says which columns it has.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Which library's dataframe; it has to be installed. By default the first of these that
            is.

        Returns
        -------
        frame : dataframe
        """
        return as_frame(self._columns, self._rows(), backend)

    def to_csv(self, *, escape_formulas: bool | None = None) -> str:
        r"""Return the same table as comma-separated values.

        Parameters
        ----------
        escape_formulas : bool, optional
            Whether to put an apostrophe before names that a spreadsheet would run as formulas:
            those that begin with =, +, -, @, a tab or a line's end, and are no numbers. By default
            they are left as they are, with a warning.

        Examples
        --------
        >>> from orthoselect import select
        >>> table = select([[1, 0], [2, 1], [3, 1]], [0, 0, 1], 1).to_csv()
        >>> header, step = table.splitlines()
        >>> header, step.split(",")[:3]
        ('step,feature,name,gain,total', ['1', '0', 'x0'])
        """
        return as_csv(list(self._columns), self._rows(), escape_formulas=escape_formulas)

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {self.to_text()}"


class Reported(Tabular):
    """A result that holds all that its page shows."""

    @abstractmethod
    def _notes(self) -> list[str]:
        """Return what a reader should know, a sentence or two each."""

    @abstractmethod
    def _html_tables(self) -> Iterable[tuple[str, list[str], list[list[str]]]]:
        """Return caption, header and rows of the tables that notebooks show; cells are HTML."""

    def _repr_html_(self) -> str:
        tables = "".join(as_html(*table) for table in self._html_tables())
        return tables + "".join(f"<p>{html.escape(note)}</p>" for note in self._notes())

    def report(self, file: str | Path, *, title: str | None = None) -> Path:
        """Write the page, the one that the command's `--report` writes.

        Parameters
        ----------
        file : str or Path
            Where to write. A name that ends in .html makes a page (which needs matplotlib, the
            extra `report`), one in .json the same as plain data. An existing file is replaced once
            the new one is complete.
        title : str, optional
            What to call the data.

        Returns
        -------
        file : Path
            Where it was written.

        Examples
        --------
        >>> import tempfile
        >>> from orthoselect import stability
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     stability("iris", None, 1, n_pairs=5).report(f"{folder}/iris.json").name
        'iris.json'
        """
        # By name: pages are made of results, so imports point from there to here.
        show = importlib.import_module("orthoselect.show")
        return show.report(self, None, None, file, title=title)


def escaped(rows: Iterable[Sequence[str]]) -> list[list[str]]:
    """Return cells of text as HTML."""
    return [[html.escape(cell) for cell in row] for row in rows]
