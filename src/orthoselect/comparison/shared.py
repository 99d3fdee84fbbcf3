"""A value that many tasks need, written out once for all the processes they run in."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.lazy import lazy


class Shared:
    """A table, say, that tasks in other processes read.

    joblib writes a large array to a file once, which all processes map; anything else it would
    pickle for every task. Here the buffers inside any value (arrays, sparse matrices, dataframes)
    are such arrays, and so is whatever else its pickle consists of.

    Parameters
    ----------
    value : object

    Examples
    --------
    >>> pickle.loads(pickle.dumps(Shared({"a": np.arange(3)}))).value
    {'a': array([0, 1, 2])}
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    @lazy
    def _parts(self) -> list[NDArray[np.uint8]]:
        # Made once and kept: joblib knows an array that it has written by its identity.
        buffers: list[pickle.PickleBuffer] = []
        rest = pickle.dumps(self.value, protocol=5, buffer_callback=buffers.append)
        parts = [memoryview(rest), *(buffer.raw() for buffer in buffers)]
        return [np.frombuffer(part, dtype=np.uint8) for part in parts]

    def __reduce__(self) -> tuple:
        return _received, tuple(self._parts)


def _received(rest: NDArray[np.uint8], *buffers: NDArray[np.uint8]) -> Shared:
    return Shared(pickle.loads(rest.data, buffers=[buffer.data for buffer in buffers]))
