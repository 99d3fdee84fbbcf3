"""Methods compared by the cross-validated score of a linear model."""

from orthoselect.comparison.run import compare

__all__ = ["compare"]
