"""Tables as text: for eyes, and for other programs."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from orthoselect.errors import FormulaWarning, warn

# What spreadsheets take for the start of a formula, or skip before one; in some countries the wide
# forms, too. A number with a sign is one, and runs nothing. Regular expressions of Python and RE2.
_WIDE = "\uff1d\uff0b\uff0d\uff20"
_STARTS = frozenset("=+-@\t\r\n" + _WIDE)
FORMULA = rf"^[=+\-@\t\r\n{_WIDE}]"
NUMBER = r"^[-+]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][-+]?[0-9]+)?$"
ESCAPE = "'"
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


def as_csv(
    header: Sequence[str], rows: Iterable[Sequence[Any]], *, escape_formulas: bool | None = None
) -> str:
    r"""Return the rows as comma-separated values; see `Formulas` for text like formulas.

    Examples
    --------
    >>> as_csv(["n", "name"], [[1, "a,b"]])
    'n,name\n1,"a,b"\n'
    >>> as_csv(["n", "name"], [[-1, "-a"]], escape_formulas=True)
    "n,name\n-1,'-a\n"
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    formulas = Formulas(escape_formulas)
    writer.writerow(header)
    writer.writerows(map(formulas.checked, rows))
    formulas.warn("the CSV")
    return out.getvalue()


class Formulas:
    """Text that a spreadsheet would run as formulas, on its way to CSV or TSV.

    Parameters
    ----------
    escape : bool or None
        Whether to put an apostrophe before it, so that spreadsheets show it; None to leave it as
        it is, with a warning.

    Attributes
    ----------
    count : int
        How many such texts there were.
    example : str or None
        The first of them.

    Examples
    --------
    >>> Formulas(True).checked(["=1+1", "a=b", -1, "-1", "@a", ""])
    ["'=1+1", 'a=b', -1, '-1', "'@a", '']
    """

    def __init__(self, escape: bool | None) -> None:
        self.escape = escape
        self.count, self.example = 0, ""

    def checked(self, cells: Iterable[Any]) -> list[Any]:
        """Return cells as they are to be written; what is not text is left alone."""
        return [self._found(c) if isinstance(c, str) and _is_formula(c) else c for c in cells]

    def _found(self, text: str) -> str:
        self.note(1, text)
        return ESCAPE + text if self.escape else text

    def note(self, count: int, example: str) -> None:
        """Count some more."""
        self.example = self.example or example
        self.count += count

    def warn(self, where: str) -> None:
        """Warn of what was found, if nobody has said what to do about it."""
        if self.count and self.escape is None:
            warn(FormulaWarning(where, self.count, self.example))


def _is_formula(text: str) -> bool:
    return text[:1] in _STARTS and re.fullmatch(NUMBER, text) is None


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
