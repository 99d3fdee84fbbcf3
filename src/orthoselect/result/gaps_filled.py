"""What was missing in a table, and what was done about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_GAPS_TOLD = 5  # columns


@dataclass(frozen=True)
class GapsFilled:
    """What was missing in a table, and what was done about it; prints as a line.

    Attributes
    ----------
    n_rows : int
        Rows that were selected from.
    n_dropped : int
        Rows that were dropped because something was missing.
    columns : mapping of str to (int, str)
        The columns that had gaps: how many, and what became of these.

    Examples
    --------
    >>> print(GapsFilled(442, 0, {"bmi": (34, "filled by the mean, with an indicator")}))
    bmi: 34 of 442 missing, filled by the mean, with an indicator
    """

    n_rows: int = 0
    n_dropped: int = 0
    columns: Mapping[str, tuple[int, str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.n_dropped or self.columns)

    def __str__(self) -> str:
        by_treatment: dict[str, list[str]] = {}
        for name, (count, done) in sorted(self.columns.items(), key=lambda each: -each[1][0]):
            by_treatment.setdefault(done, []).append(f"{name}: {count}")
        told = []
        for done, columns in by_treatment.items():
            more = len(columns) - _GAPS_TOLD
            others = f" and {more} more columns" if more > 0 else ""
            shown = ", ".join(columns[:_GAPS_TOLD])
            told.append(f"{shown}{others} of {self.n_rows} missing, {done}")
        if self.n_dropped:
            rows = "1 row" if self.n_dropped == 1 else f"{self.n_dropped} rows"
            told.append(f"{rows} with missing values dropped")
        return "; ".join(told)

    def to_dict(self) -> dict[str, Any] | None:
        """Return the same, plain; None if nothing was missing."""
        columns = [
            {"name": name, "count": count, "done": done}
            for name, (count, done) in self.columns.items()
        ]
        if not self:
            return None
        return {"rows": self.n_rows, "rows_dropped": self.n_dropped, "columns": columns}
