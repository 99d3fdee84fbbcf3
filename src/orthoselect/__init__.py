"""Feature selection as quick as reading the data."""

import importlib
import importlib.util
import logging
from typing import TYPE_CHECKING, Any

# First, before what takes long to import.
from orthoselect import starting  # noqa: F401

# isort: split
from orthoselect.versions import __version__

if TYPE_CHECKING:
    from orthoselect import encode, methods, statistics
    from orthoselect.channels import ChannelSelector
    from orthoselect.comparison import compare
    from orthoselect.discretizers import MeanStdDiscretizer
    from orthoselect.dynamics import NARX, LaggedTerms
    from orthoselect.gram import GramStatistics
    from orthoselect.halves import stability
    from orthoselect.radial import RBFClassifier, RBFRegressor
    from orthoselect.read import RowBlocks
    from orthoselect.result import (
        Certificate,
        Comparison,
        SelectionPath,
        SelectionStep,
        SizedSet,
        SizeScores,
        Stability,
    )
    from orthoselect.selection import select
    from orthoselect.selector_cv import SelectorCV
    from orthoselect.selectors import MutualInformationSelector, OrthogonalSelector
    from orthoselect.show import report

# Whoever wants to see what is logged adds a handler; without one nothing is printed.
logging.getLogger(__name__).addHandler(logging.NullHandler())

__all__ = [
    "NARX",
    "Certificate",
    "ChannelSelector",
    "Comparison",
    "GramStatistics",
    "LaggedTerms",
    "MeanStdDiscretizer",
    "MutualInformationSelector",
    "OrthogonalSelector",
    "RBFClassifier",
    "RBFRegressor",
    "RowBlocks",
    "SelectionPath",
    "SelectionStep",
    "SelectorCV",
    "SizeScores",
    "SizedSet",
    "Stability",
    "__version__",
    "compare",
    "encode",
    "methods",
    "report",
    "select",
    "stability",
    "statistics",
]


# Where public names are. Each loads when it is first asked for: SciPy takes longer to load than a
# selection may take, and scikit-learn ten times as long as all the rest.
_HOMES = {
    "NARX": "dynamics",
    "Certificate": "result",
    "ChannelSelector": "channels",
    "Comparison": "result",
    "GramStatistics": "gram",
    "LaggedTerms": "dynamics",
    "MeanStdDiscretizer": "discretizers",
    "MutualInformationSelector": "selectors",
    "OrthogonalSelector": "selectors",
    "RBFClassifier": "radial",
    "RBFRegressor": "radial",
    "RandomBinarizer": "discretizers",  # which says where it went
    "RowBlocks": "read",
    "SelectionPath": "result",
    "SelectionStep": "result",
    "SelectorCV": "selector_cv",
    "SizeScores": "result",
    "SizedSet": "result",
    "Stability": "result",
    "compare": "comparison",
    "report": "show",
    "select": "selection",
    "stability": "halves",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        found = getattr(importlib.import_module(f"orthoselect.{_HOMES[name]}"), name)
    elif not name.startswith("_") and importlib.util.find_spec(f"orthoselect.{name}") is not None:
        found = importlib.import_module(f"orthoselect.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
