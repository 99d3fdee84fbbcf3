"""Whether a response of classes has rows enough for each: names of rows are no classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orthoselect import errors
from orthoselect.errors import InputError, OneRowClassWarning, ReadAsNamesWarning

FEW_LEVELS = 20  # that may stand in one row each, in columns of text as in a response
# Of the rows with a value: if so many stand alone in their level, the column names rows. Tables of
# several packages have been looked at for it; see the guide.
ALONE = 1 / 3
_NEARLY_ALL = 0.9


def check_class_sizes(name: str, sizes: Mapping[Any, int], *, may_be_names: bool) -> None:
    """Warn of classes of one row and of what looks like names; raise if it is hardly else.

    `sizes` has the rows of each class; `may_be_names` if nobody has said that these are classes,
    and they are no numbers.
    """
    alone = [level for level, n_rows in sizes.items() if n_rows == 1]
    if not alone:
        return
    n_alone, n_rows = len(alone), sum(sizes.values())
    if may_be_names and len(sizes) > FEW_LEVELS and n_alone >= ALONE * n_rows:
        if n_alone >= _NEARLY_ALL * n_rows:
            raise InputError(
                f"{name} should hold classes or numbers; {n_alone} of its {n_rows} rows have a "
                f"label that occurs nowhere else, so that it names rows. Choose another `target`, "
                f"or merge rare labels; pass `task='classification'` if these are classes."
            )
        errors.warn(ReadAsNamesWarning(name, len(sizes), n_rows, n_alone))
    else:
        errors.warn(OneRowClassWarning(name, alone))
