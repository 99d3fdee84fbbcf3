"""Numbers and dates as people write them in text: what they look like, and what they stand for."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

# What stands for a missing value where the rest are numbers.
_MARK = re.compile(r"[-\u2013\u2014.*/?]+|#?n/?a|<na>|nan|null|none", re.IGNORECASE)
# 12, 1,200, 1.200,50, 1'200, 1,5, 12%, $12, (3), 1e-3: as people write numbers.
_NUMBER = re.compile(
    "[(]?[-+\u2212]?[$\u20ac\u00a3\u00a5]? ?[-+\u2212]?"
    "(?P<digits>[0-9]{1,3}([ ,.'\u00a0\u202f][0-9]{3})+([.,][0-9]+)?|[0-9]*[.,]?[0-9]+|[0-9]+[.,])"
    "(?P<exponent>[eE][-+]?[0-9]+)?[ \u00a0]?[%$\u20ac\u00a3\u00a5]?[)]?"
)
_WHOLE = re.compile(r"[-+]?(0|[1-9][0-9]*)([.]0*)?")
_CODE = re.compile(r"0[0-9]+")
# By what parts the fraction, digits in groups of three.
_THOUSANDS = {
    ".": re.compile("[0-9]{1,3}([ ,'\u00a0\u202f][0-9]{3})+"),
    ",": re.compile("[0-9]{1,3}([ .'\u00a0\u202f][0-9]{3})+"),
}
# 2024-12-31, 31.12.2024, 12/31/24 and the like, with or without a time of day.
_DATE = re.compile(
    r"(?:(?P<Y>\d{4})[-/.](?P<M>\d{1,2})[-/.](?P<D>\d{1,2})"
    r"|(?P<a>\d{1,2})[-/.](?P<b>\d{1,2})[-/.](?P<y>\d{4}|\d{2}))"
    r"(?:[ T](?P<hour>\d{1,2}):(?P<minute>\d{2}).*)?",
    re.DOTALL,
)
_CENTURY = 69  # years of two digits from here on are of the last century
ORDERS = ("day first", "month first")  # of dates that do not begin with the year


def is_mark(text: str) -> bool:
    """Whether text stands for a missing number.

    Examples
    --------
    >>> [is_mark(text) for text in ("n/a", "--", "?", "none of these")]
    [True, True, True, False]
    """
    return _MARK.fullmatch(text) is not None


def is_like_number(text: str) -> bool:
    """Whether text looks like a number, whatever parts its fraction."""
    return _NUMBER.fullmatch(text) is not None


def is_whole(text: str) -> bool:
    """Whether text is the digits of a whole number, with a sign and a point at most."""
    return _WHOLE.fullmatch(text) is not None


def is_code(text: str) -> bool:
    """Whether text is digits of which the first is a needless zero, as in 007."""
    return _CODE.fullmatch(text) is not None


def is_date(text: str) -> bool:
    """Whether text looks like a date."""
    return _DATE.fullmatch(text) is not None


def number_of(text: str, decimal: str = ".") -> float:
    """Return the number that text stands for, NaN if it stands for none.

    Parameters
    ----------
    text : str
    decimal : {".", ","}
        What parts the fraction; the other one may stand between thousands.

    Examples
    --------
    >>> [number_of(text) for text in ("$1,200.50", "12%", "(3)", "1'200", "n/a")]
    [1200.5, 0.12, -3.0, 1200.0, nan]
    >>> number_of("1.200,50 €", ","), number_of("1.200,50 €", ".")
    (1200.5, nan)
    """
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        return math.nan
    whole, _, fraction = found["digits"].partition(decimal)
    if _THOUSANDS[decimal].fullmatch(whole):
        whole = re.sub("[^0-9]", "", whole)
    if not (whole + fraction).isdigit():
        return math.nan
    value = float(f"{whole or 0}.{fraction or 0}{found['exponent'] or ''}")
    before = text[: found.start("digits") + len(text) - len(text.lstrip())]
    is_negative = any(sign in before for sign in "-\u2212(")
    return (-value if is_negative else value) / (100 if "%" in text else 1)


def dates_of(texts: Iterable[str], order: str) -> NDArray[np.datetime64]:
    """Return the dates that texts stand for, NaT for those that stand for none.

    Parameters
    ----------
    texts : iterable of str
    order : {"day first", "month first"}
        Of dates that do not begin with the year.

    Examples
    --------
    >>> dates_of(["2024-02-01", "01.02.2024 10:30", "13/01/24"], "day first")
    array(['2024-02-01T00:00', '2024-02-01T10:30', '2024-01-13T00:00'], dtype='datetime64[m]')
    """
    return np.array([_date_of(text, order) for text in texts], dtype="datetime64[m]")


def _date_of(text: str, order: str) -> str:
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return "NaT"
    year, month, day = found["Y"], found["M"], found["D"]
    if year is None:
        year, day, month = found["y"], found["a"], found["b"]
        if order == "month first":
            day, month = month, day
        if len(year) == 2:
            year = f"{19 if int(year) >= _CENTURY else 20}{year}"
    stamp = f"{year}-{int(month):02}-{int(day):02}T{int(found['hour'] or 0):02}:" + (
        found["minute"] or "00"
    )
    try:
        return str(np.datetime64(stamp, "m"))
    except ValueError:  # no such day
        return "NaT"
