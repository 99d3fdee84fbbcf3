"""Compile `lazy_cmim.c` and call it: what a plain loop in C does, without other libraries.

The compiler is `CC` of the environment, or `cc`; it may use all that this processor has.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

_SOURCE = Path(__file__).with_suffix(".c")
_OPTIONS = ["-O3", "-march=native", "-shared", "-fPIC"]


@cache
def _library() -> ctypes.CDLL:
    compiler = shlex.split(os.environ.get("CC", "cc"))
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "lazy_cmim.so"
        subprocess.run([*compiler, *_OPTIONS, str(_SOURCE), "-o", str(built), "-lm"], check=True)
        return ctypes.CDLL(str(built))


def lazy_cmim(X: np.ndarray, y: np.ndarray, t: int) -> list[int]:
    """Return the t features that are selected.

    Parameters
    ----------
    X : uint8 array of shape (N, n)
        Levels, row by row.
    y : array of shape (N,)
        Classes from 0.
    t : int
        How many to select.

    Examples
    --------
    >>> X = np.array([[0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1]], dtype=np.uint8)
    >>> lazy_cmim(X, np.array([0, 0, 1, 1]), 2)
    [0, 1]
    """
    X, classes = np.ascontiguousarray(X, dtype=np.uint8), np.ascontiguousarray(y, dtype=np.uint8)
    if not 1 <= t <= X.shape[1]:
        raise ValueError(f"`t` should be from 1 to {X.shape[1]}; got {t}.")
    selected = np.zeros(t, dtype=np.int64)
    size, number = ctypes.c_int64, ctypes.c_int
    short_of_memory = _library().lazy_cmim(
        X.ctypes.data_as(ctypes.c_void_p), classes.ctypes.data_as(ctypes.c_void_p),
        size(X.shape[0]), size(X.shape[1]), number(int(X.max()) + 1), number(int(y.max()) + 1),
        size(t), selected.ctypes.data_as(ctypes.c_void_p),
    )  # fmt: skip
    if short_of_memory:
        raise MemoryError("no memory for a copy of the table")
    return selected.tolist()
