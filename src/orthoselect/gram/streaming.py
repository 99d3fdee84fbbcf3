"""What estimators ask of statistics: features apart from responses; settings that stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from orthoselect.errors import InputError
from orthoselect.gram.statistics import GramStatistics


def features_of(statistics: GramStatistics) -> tuple[GramStatistics, Sequence[str]]:
    """Return statistics as if the response had been given beside the table, and its columns.

    Estimators get X and y, so that columns of the response and of the weights are none of X.
    """
    kept = statistics._kept.features_only()
    return GramStatistics._holding(kept), kept.known()[0].names


def start_statistics(settings: Mapping[str, Any], classes: Any) -> GramStatistics:
    """Return statistics without rows, with the settings of a selector."""
    return GramStatistics(**settings, classes=classes)


def check_settled(statistics: GramStatistics, settings: Mapping[str, Any], classes: Any) -> None:
    """Raise if a setting that cannot change any more has changed."""
    before = statistics.settings
    given = classes.tolist() if isinstance(classes, np.ndarray) else classes
    if given is not None and set(given) != set(before["classes"] or ()):
        raise InputError(
            f"`classes` should be given in the first call of `partial_fit` and stay the same; "
            f"they were {before['classes']!r}, and are {classes!r} now. Start with a new selector."
        )
    for name, value in settings.items():
        if not _alike(before[name], value):
            raise InputError(
                f"`{name}` should stay the same from one call of `partial_fit` to the next; it was "
                f"{before[name]!r}, and is {value!r} now. Start with a new selector."
            )


def _alike(a: Any, b: Any) -> bool:
    plain = str, int, type(None)
    if isinstance(a, plain) or isinstance(b, plain):
        return type(a) is type(b) and a == b
    return list(a) == list(b)
