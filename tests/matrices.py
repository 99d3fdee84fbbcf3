"""Every way to store the same numbers; tests run over all of them."""

import numpy as np
import scipy.sparse as sp

from orthoselect.matrix import DenseMatrix, SparseMatrix, StackedMatrix


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
}
