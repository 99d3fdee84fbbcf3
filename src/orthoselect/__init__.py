"""Feature selection as quick as reading the data."""

from orthoselect import encode, statistics
from orthoselect.result import SelectionPath, SelectionStep
from orthoselect.selection import select
from orthoselect.selectors import OrthogonalSelector

__version__ = "0.1.0"

__all__ = [
    "OrthogonalSelector",
    "SelectionPath",
    "SelectionStep",
    "__version__",
    "encode",
    "select",
    "statistics",
]
