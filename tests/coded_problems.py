"""Random tables of levels, the nasty ones included."""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

import naive

CRITERIA = ["mim", "mrmr_difference", "mrmr_quotient", "jmi", "cmim", "cife", "icap", "disr"]


@dataclass
class CodedProblem:
    """A table of whole numbers, its classes, and what the by-definition twin knows of them."""

    X: np.ndarray
    y: np.ndarray
    t: int
    weights: np.ndarray | None
    include: list
    infos: naive.Informations = field(repr=False)

    def stored(self, kind):
        """The same table in another form."""
        if kind == "sparse":
            return sp.csr_array(self.X)
        return np.asfortranarray(self.X) if kind == "columns" else self.X.astype(kind)


def levels(rng, N, n):
    """Columns of levels with one or more of the usual diseases."""
    most = rng.choice([2, 2, 3, 5, 300])
    X = rng.integers(0, most, (N, n))
    if rng.random() < 0.3:
        X *= rng.random((N, n)) < 0.3  # mostly zeros
    if rng.random() < 0.3:
        X[:, rng.integers(n)] = rng.integers(3)  # constant
    if rng.random() < 0.4:
        X[:, rng.integers(n)] = X[:, 0]  # twice the same
    if rng.random() < 0.4:
        X[:, rng.integers(n)] = 7 - X[:, 0]  # twice the same under other names
    if rng.random() < 0.3:
        X[:, rng.integers(n)] = rng.integers(0, 12, N)  # more levels than the others
    if rng.random() < 0.2:
        # Ties everywhere: columns of a complete design are independent of each other.
        X = np.array([[(row >> bit) & 1 for bit in range(n)] for row in range(N)])
    return X


def coded_problem(seed):
    """A problem small enough to be solved by definition."""
    rng = np.random.default_rng(seed)
    N, n = int(rng.integers(2, 25)), int(rng.integers(1, 8))
    if rng.random() < 0.2:
        N = 16
    X = levels(rng, N, n)
    y = rng.integers(0, rng.choice([1, 2, 2, 3, 6]), N)
    if rng.random() < 0.4:
        y = X[:, 0] % 2 ^ (X[:, -1] % 2)  # only together do they tell
    w = rng.integers(0, 4, N) if rng.random() < 0.3 else None
    if w is not None:
        w[:2] = 1
    if len(set(y if w is None else y[w > 0])) == 1:
        y[1] = y[0] + 1  # a constant response is refused; this one nearly is constant
    varying = [k for k in range(n) if len(set(X[w > 0 if w is not None else slice(None), k])) > 1]
    include = [int(rng.choice(varying))] if varying and rng.random() < 0.2 else []
    infos = naive.Informations(X.T.tolist(), y.tolist(), None if w is None else w.tolist())
    return CodedProblem(X, y, min(n, 4), w, include, infos)
