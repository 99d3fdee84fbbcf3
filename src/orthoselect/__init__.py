"""Feature selection as quick as reading the data."""

import importlib
from typing import TYPE_CHECKING, Any

from orthoselect import encode, methods, statistics
from orthoselect.read import RowBlocks
from orthoselect.result import SelectionPath, SelectionStep
from orthoselect.selection import select

if TYPE_CHECKING:
    from orthoselect.discretizers import MeanStdDiscretizer, RandomBinarizer
    from orthoselect.selectors import MutualInformationSelector, OrthogonalSelector

__version__ = "0.1.0"

__all__ = [
    "MeanStdDiscretizer",
    "MutualInformationSelector",
    "OrthogonalSelector",
    "RandomBinarizer",
    "RowBlocks",
    "SelectionPath",
    "SelectionStep",
    "__version__",
    "encode",
    "methods",
    "select",
    "statistics",
]


_LAZY = {
    "MeanStdDiscretizer": "discretizers",
    "MutualInformationSelector": "selectors",
    "OrthogonalSelector": "selectors",
    "RandomBinarizer": "discretizers",
}


def __getattr__(name: str) -> Any:
    # scikit-learn, and the dataframe libraries that it looks for, load when an estimator is asked
    # for: they take ten times as long as all the rest.
    if name in _LAZY:
        return getattr(importlib.import_module(f"orthoselect.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
