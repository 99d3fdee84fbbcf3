"""The compiled kernels, where they were built; NumPy does without.

An installation without a compiler has no kernels, and ORTHOSELECT_NATIVE=0 in the environment
leaves them alone: results are the same within rounding, only slower. A caller of a kernel asks
`kernels()` each time, and has a NumPy way for None.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from numpy.typing import NDArray

_module: Any
try:
    # By name: `from orthoselect import` would count as an import of all that the package offers.
    _module = import_module("orthoselect._native")
except ImportError:
    _module = None

_kernels: Any = None if os.environ.get("ORTHOSELECT_NATIVE") == "0" else _module


def kernels() -> Any:
    """Return the module of compiled kernels, or None if there is none."""
    return _kernels


def available() -> bool:
    """Whether compiled kernels are in use."""
    return _kernels is not None


def aligned(values: NDArray) -> NDArray:
    """Return values where kernels take them: a copy, if they begin in the middle of a word.

    What one worker of Dask sends to another may begin at any byte; so may part of a file in memory.
    """
    return values if values.flags.aligned else values.copy()
