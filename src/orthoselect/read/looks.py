"""What a column of a table in blocks holds, found out block by block.

Each look answers what `reason_against` and `numbers_as_text` answer of a table in memory, and
tells as soon as no further block can change the answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.read.columns import (
    DATE,
    HANDFUL,
    IDENTIFIER,
    LOOK,
    MARK,
    NUMBER,
    NumberLike,
    arrow_reason_by_type,
    is_text,
    number_like,
)

_MOST_COMPARED = 10_000_000  # values of a column that are held to see whether all are distinct


class ColumnLook:
    """A look at one column: of numbers, or of anything whose type says what it is.

    Attributes
    ----------
    is_open : bool
        Whether there is still something to find out.
    """

    def __init__(self) -> None:
        self.is_open = True
        self._reason: str | None = None

    def add(self, column: Any, name: str) -> None:
        """Look at one more block."""
        if isinstance(column, np.ndarray):
            nothing = column.dtype.kind == "f" and bool(np.isnan(column).all())
            self._reason = "no values" if nothing else None
            self.is_open = nothing
            return
        by_type = arrow_reason_by_type(column.type, name)
        nothing = column.null_count == len(column)
        self._reason = "no values" if nothing else by_type
        self.is_open = nothing

    def reason(self) -> str | None:
        """Say why the column cannot be a feature or target, if it cannot."""
        return self._reason

    def numbers(self) -> NumberLike | None:
        """Count what looks like numbers in text."""
        return None


class TextLook(ColumnLook):
    """A look at a column of text: dates, identifiers, numbers written as people do."""

    def __init__(self) -> None:
        super().__init__()
        self._by_name: str | None = None
        self._n_rows = self._n_values = 0
        self._all_dates = True
        self._distinct: _Distinct | None = _Distinct()
        self._numbers: _Numbers | None = _Numbers()

    def add(self, column: Any, name: str) -> None:
        import pyarrow.compute as pc

        self._by_name = arrow_reason_by_type(column.type, name)
        if self._numbers is not None and not self._numbers.add(column, self._n_rows):
            self._numbers = None
        self._n_rows += len(column)
        column = column.drop_null()
        self._n_values += len(column)
        if self._all_dates and len(column):
            self._all_dates = pc.all(pc.match_substring_regex(column, DATE)).as_py() is True
        if self._distinct is not None and not self._distinct.add(column):
            self._distinct = None
        undecided = self._all_dates or self._distinct is not None or self._numbers is not None
        self.is_open = not self._n_values or (self._by_name is None and undecided)

    def reason(self) -> str | None:
        if not self._n_values:
            return "no values"
        if self._by_name is not None:
            return self._by_name
        if self._all_dates:
            return "dates or times"
        if self._n_values <= HANDFUL or self._distinct is None:
            return None
        looks = "" if self.numbers() is None else ", which looks like numbers stored as text"
        return IDENTIFIER + looks

    def numbers(self) -> NumberLike | None:
        return None if self._numbers is None else self._numbers.counts()


class _Distinct:
    """Whether all values of a column are unlike, by their hashes."""

    def __init__(self) -> None:
        self._seen: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def add(self, column: Any) -> bool:
        """Whether they still are; of ten million and more it is not asked any longer."""
        if len(self._seen) >= _MOST_COMPARED:
            return True
        new = np.fromiter(map(hash, column.to_pylist()), np.int64, len(column))
        seen = np.unique(np.concatenate([self._seen, new]))
        grown, self._seen = len(seen) - len(self._seen), seen
        return grown == len(new)


class _Numbers:
    """How many values of a column look like numbers."""

    def __init__(self) -> None:
        self._n_like = self._n_values = self._n_marks = 0
        self._like: list[str] = []

    def add(self, column: Any, n_before: int) -> bool:
        """Whether so many do that they are worth counting; the first rows settle it."""
        if n_before < LOOK <= n_before + len(column):
            self._count(column.slice(0, LOOK - n_before))
            if self.counts() is None:
                return False
            column = column.slice(LOOK - n_before)
        self._count(column)
        return True

    def _count(self, column: Any) -> None:
        import pyarrow.compute as pc

        column = column.drop_null()
        like = column.filter(pc.match_substring_regex(column, NUMBER))
        self._n_like += len(like)
        self._n_values += len(column)
        self._n_marks += pc.sum(pc.match_substring_regex(column, MARK)).as_py() or 0
        if len(self._like) < LOOK:
            self._like += like.slice(0, LOOK - len(self._like)).to_pylist()

    def counts(self) -> NumberLike | None:
        return number_like(self._n_like, self._n_values, self._n_marks, self._like)


def look_of(column: Any) -> ColumnLook:
    """Return the look that suits a column, an array or a pyarrow column."""
    return (
        TextLook() if not isinstance(column, np.ndarray) and is_text(column.type) else ColumnLook()
    )
