"""Feature selection as quick as reading the data."""

from typing import TYPE_CHECKING, Any

from orthoselect import encode, methods, statistics
from orthoselect.result import SelectionPath, SelectionStep
from orthoselect.selection import select

if TYPE_CHECKING:
    from orthoselect.selectors import OrthogonalSelector

__version__ = "0.1.0"

__all__ = [
    "OrthogonalSelector",
    "SelectionPath",
    "SelectionStep",
    "__version__",
    "encode",
    "methods",
    "select",
    "statistics",
]


def __getattr__(name: str) -> Any:
    # scikit-learn, and the dataframe libraries that it looks for, load when a selector is asked
    # for: they take ten times as long as all the rest.
    if name == "OrthogonalSelector":
        from orthoselect import selectors

        return selectors.OrthogonalSelector
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
