"""Every way to store the same numbers; tests run over all of them."""

from itertools import pairwise

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from orthoselect import RowBlocks
from orthoselect.matrix import (
    BlockMatrix,
    DenseMatrix,
    KernelMatrix,
    SparseMatrix,
    StackedMatrix,
    TermMatrix,
)
from orthoselect.matrix.passes import LocalPasses


def read_only(X):
    X = X.copy()
    X.setflags(write=False)
    return X


def strided(X):
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def backwards(X):
    return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]


def shifted(X):
    n = X.shape[1]
    return DenseMatrix(X * 4 + 7).rescaled(np.full(n, 7.0), np.full(n, 0.25))


def stacked(X):
    cut = X.shape[1] // 2
    if not 0 < cut < X.shape[1]:
        return DenseMatrix(X)
    return StackedMatrix([DenseMatrix(X[:, :cut]), SparseMatrix(sp.csr_array(X[:, cut:]))])


def lagged(X):
    """The columns of X as signals, each recorded some time before the next, in two sessions."""
    N, n = X.shape
    lags = np.arange(n) % 3
    at = np.concatenate([2 + np.arange(N // 2), 7 + np.arange(N // 2, N)])
    signals = np.full((n, N + 8), np.nan)
    for j, lag in enumerate(lags):
        signals[j, at - lag] = X[:, j]
    return TermMatrix(signals, list(enumerate(lags)), 1, at, constant=False)


def radial(X):
    """The columns of X as the inputs of radial functions, of which there are none."""
    return KernelMatrix(X, X[:0], linear=True)


def edges(N, seed=0):
    """Where to cut N rows into blocks: of one row, of some, of none."""
    rng = np.random.default_rng(seed)
    inner = rng.integers(0, N + 1, min(N, 7))
    return [0, *sorted({0, 1, *inner.tolist()} & set(range(N + 1))), N]


def blocks(X, make, cuts=None):
    """The rows of X in blocks of the kind that `make` gives."""
    cuts = edges(len(X)) if cuts is None else cuts
    pairs = list(pairwise(cuts))
    passes = LocalPasses(lambda J: (make(X[a:b]) for a, b in pairs), len(X))
    return BlockMatrix(passes, make(X[:0]))


def one_by_one(X):
    return blocks(X, DenseMatrix, range(len(X) + 1))


STORAGES = {
    "C order": lambda X: np.ascontiguousarray(X),
    "Fortran order": lambda X: np.asfortranarray(X),
    "strided": strided,
    "backwards": backwards,
    "read-only": read_only,
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "coo matrix": sp.coo_matrix,
}

MATRICES = {
    "dense C": lambda X: DenseMatrix(np.ascontiguousarray(X)),
    "dense F": lambda X: DenseMatrix(np.asfortranarray(X)),
    "dense strided": lambda X: DenseMatrix(strided(X)),
    "dense read-only": lambda X: DenseMatrix(read_only(X)),
    "dense shifted": shifted,
    "sparse": lambda X: SparseMatrix(sp.csr_array(X)),
    "stacked": stacked,
    "terms": lagged,
    "kernel": radial,
    "blocks of one row": one_by_one,
    "dense blocks": lambda X: blocks(X, DenseMatrix),
    "sparse blocks": lambda X: blocks(X, lambda B: SparseMatrix(sp.csr_array(B))),
    "stacked blocks": lambda X: blocks(X, stacked),
}


def row_blocks(X, seed=0):
    """A source of the rows of a table of any kind, in blocks: of one row, of some, of none."""
    if nw.dependencies.is_into_dataframe(X):
        X = nw.from_native(X, eager_only=True)
        return RowBlocks([X[a:b].to_native() for a, b in pairwise(edges(X.shape[0], seed))])
    X = X.tocsr() if sp.issparse(X) else np.asarray(X)
    return RowBlocks([X[a:b] for a, b in pairwise(edges(X.shape[0], seed))])
