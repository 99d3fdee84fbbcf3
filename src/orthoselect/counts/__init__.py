"""Levels of features, counted together: what the information criteria are made of.

What comes in are codes of features and classes of rows; what goes out are sums of c ln c over the
tables of counts, which are whole numbers. The one class to know is `Counts`.

    codes       features as integer codes, dense or sparse
    base        what a kind of counting has to answer
    kinds       which kind counts a table quickest
    packed      few levels, as planes of bits
    counted     any levels, row by row
    sparse      few cells that are filled
    weighted    rows with weights
    tables      tables of counts in NumPy
    blocks      codes that come in blocks of rows
    logarithms  c ln c, so that sums are exact
"""

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
