"""Tables as text: for eyes, and for other programs."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any

_EIGHTHS = " ▏▎▍▌▋▊▉█"


def as_table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    left: Collection[int] = (),
    indent: str = "",
) -> str:
    """Align cells in columns; those in `left` to the left, the others to the right.

    Examples
    --------
    >>> print(as_table(["n", "name"], [["1", "a"], ["10", "bcd"]], left={1}))
     n  name
     1  a
    10  bcd
    """
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(header))]
    return "\n".join(
        indent
        + "  ".join(
            f"{cell:<{width}}" if at in left else f"{cell:>{width}}"
            for at, (cell, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in lines
    )


def as_csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    r"""Return the rows as comma-separated values.

    Examples
    --------
    >>> as_csv(["n", "name"], [[1, "a,b"]])
    'n,name\n1,"a,b"\n'
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def bar(share: float, width: int = 20) -> str:
    """Return a bar of so many characters at most.

    Examples
    --------
    >>> bar(0.5, 4), bar(0.3, 4)
    ('██', '█▎')
    """
    share = 0.0 if math.isnan(share) else min(max(share, 0.0), 1.0)
    eighths = round(8 * width * share)
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()
