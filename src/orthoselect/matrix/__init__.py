"""Kinds of storage, each known by a handful of products, and what follows from these.

What comes in are tables of numbers, dense or sparse, in memory or in blocks of rows; what goes out
are products of their columns, centered or not, and answers of the columns themselves where products
have lost their digits. The one class to know is `Matrix`.

    base             what a kind of storage has to answer
    dense, sparse    the two kinds in memory, and what they are multiplied by
    terms            products of lagged signals, made when they are asked for
    kernel           radial functions around some points, likewise
    stacked          matrices side by side, or one below the other
    rows             what has one row for each row of a table: response and weights
    conditioning     the first look: columns near zero and in range
    scaled           any kind with its columns at norm one, centered or not
    basis            orthonormal bases; which columns depend on others
    geometry         residuals of real columns, given those selected
    leverage         errors of leaving each row out, along selected columns
    triangle         rows reduced to a triangle with the same inner products
    passes           walks over blocks of rows, reading ahead; sums adds up what they give
    checksums        whether all passes get the same table
    threads          products in a few threads, which Ctrl-C may interrupt
    memory           how much is free
"""

from orthoselect.matrix.base import Matrix
from orthoselect.matrix.basis import Basis, orthonormalize
from orthoselect.matrix.conditioning import NonFiniteColumns
from orthoselect.matrix.dense import DenseMatrix
from orthoselect.matrix.geometry import Geometry
from orthoselect.matrix.kernel import KernelMatrix
from orthoselect.matrix.scaled import ScaledMatrix, center, normalize
from orthoselect.matrix.sparse import SparseMatrix
from orthoselect.matrix.stacked import BlockMatrix, StackedMatrix
from orthoselect.matrix.terms import TermMatrix

__all__ = [
    "Basis",
    "BlockMatrix",
    "DenseMatrix",
    "Geometry",
    "KernelMatrix",
    "Matrix",
    "NonFiniteColumns",
    "ScaledMatrix",
    "SparseMatrix",
    "StackedMatrix",
    "TermMatrix",
    "center",
    "normalize",
    "orthonormalize",
]
