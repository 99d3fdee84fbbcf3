"""What a path was found on, as long as it is at hand.

A path is small, lives long and is pickled with its selector; a table is large. So a path keeps the
name of a file, and a table that takes next to no memory. Of a larger table it knows where it is,
and lets go of it when nobody else holds it. A copy or a pickle of a path has none of it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from orthoselect.errors import InputError

KEPT_BYTES = 32_000_000  # a table or a response up to this size is kept
_NUMBER = 8  # bytes


class Origin:
    """The table, the response and the row weights of a selection.

    Parameters
    ----------
    data, target, sample_weight : as in `select`

    Examples
    --------
    >>> origin = Origin("iris", None, None)
    >>> origin.recall()
    ('iris', None, None)
    """

    def __init__(self, data: Any, target: Any, sample_weight: Any) -> None:
        given = {"data": data, "target": target, "sample_weight": sample_weight}
        self._held = {name: _hold(value) for name, value in given.items()}

    def recall(self) -> tuple[Any, Any, Any]:
        """Return all three; what is no longer at hand raises."""
        found = {name: held() for name, held in self._held.items()}
        gone = [f"`{name}`" for name, value in found.items() if value is _GONE]
        if gone:
            raise InputError(
                f"the path should still have what it was found on; {' and '.join(gone)} is no "
                f"longer at hand, since a path keeps no large table. Pass it: "
                f"`path.report(file, data, target)`."
            )
        return found["data"], found["target"], found["sample_weight"]


_GONE = object()


def _hold(value: Any) -> Callable[[], Any]:
    """Return what gives a value back: itself if it is small, else as long as somebody has it."""
    if value is None or _size(value) <= KEPT_BYTES:
        return lambda: value
    try:
        reference = weakref.ref(value)
    except TypeError:  # lists, for example
        return lambda: _GONE

    def recall() -> Any:
        there = reference()
        return _GONE if there is None else there

    return recall


def _size(value: Any) -> float:
    """Return about how many bytes a table or an array takes; without end if nothing tells."""
    if isinstance(value, (str, Path)):
        return 0
    if isinstance(value, (list, tuple)):
        inner = value[0] if value else None
        width = len(inner) if isinstance(inner, (list, tuple)) else 1
        return _NUMBER * len(value) * width
    for attribute in ("nnz", "nbytes"):  # sparse arrays; arrays, series, tables of pyarrow
        count = None
        with suppress(NotImplementedError):  # as Dask says
            count = getattr(value, attribute, None)
        if isinstance(count, int):
            return count * (2 * _NUMBER if attribute == "nnz" else 1)
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and all(isinstance(n, int) for n in shape):
        return _NUMBER * float(shape[0] * (shape[1] if len(shape) > 1 else 1))
    return _size(value.data) if hasattr(value, "names") and hasattr(value, "data") else float("inf")
