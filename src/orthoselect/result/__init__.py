"""The answer of a selection."""

from orthoselect.result.path import SelectionPath, SelectionStep

__all__ = ["SelectionPath", "SelectionStep"]
