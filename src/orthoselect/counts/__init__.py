"""Levels of features, counted together: what the information criteria are made of."""

from orthoselect.counts.base import Counts
from orthoselect.counts.blocks import BlockCounts
from orthoselect.counts.codes import Codes, DenseCodes, SparseCodes
from orthoselect.counts.kinds import count
from orthoselect.counts.logarithms import AnyLogarithms, Logarithms, RealLogarithms

__all__ = [
    "AnyLogarithms",
    "BlockCounts",
    "Codes",
    "Counts",
    "DenseCodes",
    "Logarithms",
    "RealLogarithms",
    "SparseCodes",
    "count",
]
