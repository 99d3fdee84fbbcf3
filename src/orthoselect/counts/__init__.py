"""Levels of features, counted together: what the information criteria are made of.

What comes in are codes of features and classes of rows; what goes out are sums of c ln c over the
tables of counts, which are whole numbers. The one class to know is `Counts`.

    codes         features as integer codes, dense or sparse
    base          what a kind of counting has to answer, with row weights or without
    packed        few levels, as planes of bits; which kind counts a table quickest
    tables        any levels, row by row, or cell by cell where few are filled
    falling       scores that can only fall, counted no further than needed
    block_counts  codes that come in blocks of rows
    logarithms    c ln c, so that sums are exact
"""

from orthoselect.counts.base import Counts
from orthoselect.counts.block_counts import BlockCounts
from orthoselect.counts.codes import Codes, DenseCodes, SparseCodes
from orthoselect.counts.falling import FallingScores
from orthoselect.counts.logarithms import AnyLogarithms, Logarithms, RealLogarithms
from orthoselect.counts.packed import count

__all__ = [
    "AnyLogarithms",
    "BlockCounts",
    "Codes",
    "Counts",
    "DenseCodes",
    "FallingScores",
    "Logarithms",
    "RealLogarithms",
    "SparseCodes",
    "count",
]
