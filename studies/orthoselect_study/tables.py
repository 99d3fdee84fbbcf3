"""Tables of numbers and words, and how they look in Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

Cell = str | int | float | None


@dataclass(frozen=True)
class Table:
    """A table of a report.

    Attributes
    ----------
    name : str
        For file names.
    title : str
    columns : sequence of str
    rows : sequence of sequences
        Text, numbers, or None for what there is no number of.
    note : str
        What stands below it.

    Examples
    --------
    >>> print(Table("t", "Counts", ["method", "found"], [["OLS", 95], ["MIM", None]]).markdown())
    **Counts**
    <BLANKLINE>
    | method | found |
    |:--|--:|
    | OLS | 95 |
    | MIM | - |
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain values; nan is None."""
        plain = asdict(self)
        plain["columns"] = list(self.columns)
        plain["rows"] = [[_plain(cell) for cell in row] for row in self.rows]
        return plain

    def markdown(self) -> str:
        """Return the table in Markdown."""
        text = [[shown(cell) for cell in row] for row in self.rows]
        sides = [":--" if self._is_text(j) else "--:" for j in range(len(self.columns))]
        lines = [
            f"**{self.title}**",
            "",
            _line(self.columns),
            f"|{'|'.join(sides)}|",
            *map(_line, text),
        ]
        return "\n".join([*lines, "", self.note] if self.note else lines)

    def _is_text(self, j: int) -> bool:
        cells = [row[j] for row in self.rows if row[j] is not None]
        return any(isinstance(cell, str) for cell in cells)


def shown(cell: Cell) -> str:
    """Return a cell as people read it."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "-"
    if isinstance(cell, float):
        return f"{cell:.4f}"
    return str(cell)


def _plain(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
