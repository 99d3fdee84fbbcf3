"""Which text names rows: tried on the tables of `real_tables`.

    python -m benchmarks.identifiers

For each column of text with more than twenty levels: the share of rows that stand alone in their
level, the share of levels, and the rows. The list goes from what is surely an identifier to what is
surely none, so that a limit between them can be seen. It prints what docs/guide.md shows.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

from benchmarks.real_tables.tables import TABLES
from orthoselect.read.looks import FEW_LEVELS

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


def main() -> int:
    """Print the list."""
    warnings.simplefilter("ignore")
    print(_HEAD)
    for alone, table, column, n_rows, n_levels in sorted(shares(), reverse=True):
        print(f"| {table} | {column} | {n_rows} | {n_levels} | {100 * alone:.0f} % |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
