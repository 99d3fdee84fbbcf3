"""The answer of a selection, and of several compared."""

from orthoselect.result.comparison import ComparedMethod, Comparison, FoldRun, Setting
from orthoselect.result.path import SelectionPath, SelectionStep

__all__ = [
    "ComparedMethod",
    "Comparison",
    "FoldRun",
    "SelectionPath",
    "SelectionStep",
    "Setting",
]
