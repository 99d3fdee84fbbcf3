"""Feature selection as quick as reading the data."""

import importlib
import logging
from typing import TYPE_CHECKING, Any

# First, before what takes long to import.
from orthoselect import starting  # noqa: F401

# isort: split
from orthoselect import encode, methods, statistics
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
from orthoselect.versions import __version__

if TYPE_CHECKING:
    from orthoselect.channels import ChannelSelector
    from orthoselect.comparison import compare
    from orthoselect.discretizers import MeanStdDiscretizer
    from orthoselect.dynamics import NARX, LaggedTerms
    from orthoselect.gram import GramStatistics
    from orthoselect.halves import stability
    from orthoselect.radial import RBFClassifier, RBFRegressor
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


_LAZY = {
    "ChannelSelector": "channels",
    "GramStatistics": "gram",
    "LaggedTerms": "dynamics",
    "MeanStdDiscretizer": "discretizers",
    "MutualInformationSelector": "selectors",
    "NARX": "dynamics",
    "OrthogonalSelector": "selectors",
    "RBFClassifier": "radial",
    "RBFRegressor": "radial",
    "RandomBinarizer": "discretizers",  # which says where it went
    "SelectorCV": "selector_cv",
    "compare": "comparison",
    "report": "show",
    "stability": "halves",
}


def __getattr__(name: str) -> Any:
    # scikit-learn, and the dataframe libraries that it looks for, load when an estimator is asked
    # for: they take ten times as long as all the rest. Reports load what they need likewise.
    if name in _LAZY:
        return getattr(importlib.import_module(f"orthoselect.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
