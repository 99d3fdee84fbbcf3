"""Results as tables, for eyes and for other programs: text, CSV, HTML, dataframes, plain values."""

from __future__ import annotations

import csv
import html
import io
import math
import numbers
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal

from orthoselect.errors import FormulaWarning, InputError, warn

# What spreadsheets take for the start of a formula, or skip before one; in some countries the wide
# forms, too. A number with a sign is one, and runs nothing. Regular expressions of Python and RE2.
_WIDE = "\uff1d\uff0b\uff0d\uff20"
_STARTS = frozenset("=+-@\t\r\n" + _WIDE)
FORMULA = rf"^[=+\-@\t\r\n{_WIDE}]"
NUMBER = r"^[-+]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][-+]?[0-9]+)?$"
ESCAPE = "'"
_EIGHTHS = " ▏▎▍▌▋▊▉█"

# The least p-value that is told: tails fitted to a few hundred values say nothing beyond.
LEAST_P = 1e-6

Backend = Literal["pandas", "polars", "pyarrow"]
_BACKENDS: tuple[Backend, ...] = ("pandas", "polars", "pyarrow")


def p_text(p: float) -> str:
    """Return a p-value for people.

    Examples
    --------
    >>> p_text(0.0312), p_text(1e-6)
    ('0.031', '<1e-6')
    """
    return "<1e-6" if p <= LEAST_P else f"{p:.2g}"


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


def as_html(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table for notebooks; the cells of its rows are HTML, the others plain text."""
    head = "".join(f"<th>{html.escape(cell)}</th>" if cell else "<td></td>" for cell in header)
    body = "".join(f"<tr><td>{'</td><td>'.join(row)}</td></tr>" for row in rows)
    return (
        f"<table><caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def as_frame(
    kinds: Mapping[str, str], rows: Sequence[Sequence[Any]], backend: Backend | None
) -> Any:
    """Return the rows as a dataframe of an installed library.

    `kinds` are the columns, and what each holds by narwhals' names: "Int64", "Float64", "String".
    """
    import narwhals as nw

    if backend is None:
        installed = [name for name in _BACKENDS if find_spec(name)]
        if not installed:
            raise InputError(
                "a dataframe needs pandas, polars or pyarrow; none of them is "
                "installed. Install one of them, or use `to_dict` or `to_csv`."
            )
        return as_frame(kinds, rows, installed[0])
    if backend not in _BACKENDS:
        raise InputError(
            f"`backend` should be one of {', '.join(map(repr, _BACKENDS))}; got {backend!r}."
        )
    columns = {name: [row[at] for row in rows] for at, name in enumerate(kinds)}
    schema = {name: getattr(nw, kind)() for name, kind in kinds.items()}
    return nw.from_dict(columns, schema=schema, backend=backend).to_native()


def finite(value: float) -> float | None:
    """Return a plain float; None for what JSON has no number for."""
    return float(value) if math.isfinite(value) else None


def plain(value: Any) -> Any:
    """Return what JSON can hold: an object, say a discretizer, by what it prints.

    Examples
    --------
    >>> plain({"bins": (3, 5), "cut": range(2), "share": float("inf")})
    {'bins': [3, 5], 'cut': 'range(0, 2)', 'share': None}
    """
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return finite(float(value))
    return " ".join(repr(value).split())


class Formulas:
    """Text that a spreadsheet would run as formulas, on its way to CSV or TSV.

    `escape` says whether to put an apostrophe before it, so that spreadsheets show it; None leaves
    it as it is, with a warning. `count` is how many such texts there were, `example` the first.

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
        written = []
        for cell in cells:
            is_text = isinstance(cell, str) and cell[:1] in _STARTS
            if is_text and re.fullmatch(NUMBER, cell) is None:
                self.note(1, cell)
                cell = ESCAPE + cell if self.escape else cell
            written.append(cell)
        return written

    def note(self, count: int, example: str) -> None:
        """Count some more."""
        self.example = self.example or example
        self.count += count

    def warn(self, where: str) -> None:
        """Warn of what was found, if nobody has said what to do about it."""
        if self.count and self.escape is None:
            warn(FormulaWarning(where, self.count, self.example))


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
