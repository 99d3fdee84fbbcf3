"""Kinds of storage, each known by a handful of products."""

from orthoselect.matrix.base import Matrix
from orthoselect.matrix.basis import Basis, orthonormalize
from orthoselect.matrix.conditioning import NonFiniteColumns
from orthoselect.matrix.dense import DenseMatrix
from orthoselect.matrix.geometry import Geometry
from orthoselect.matrix.scaled import CenteredMatrix, ScaledMatrix, center, normalize
from orthoselect.matrix.sparse import SparseMatrix
from orthoselect.matrix.stacked import BlockMatrix, StackedMatrix

__all__ = [
    "Basis",
    "BlockMatrix",
    "CenteredMatrix",
    "DenseMatrix",
    "Geometry",
    "Matrix",
    "NonFiniteColumns",
    "ScaledMatrix",
    "SparseMatrix",
    "StackedMatrix",
    "center",
    "normalize",
    "orthonormalize",
]
