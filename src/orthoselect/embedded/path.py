"""Least squares with an elastic net penalty, for one penalty after the other.

    (1 / 2N) ||Y - XB||^2 + a l ||B||_21 + a (1 - l) / 2 ||B||^2

for centered Y (N, q) and X (N, n); ||B||_21 is the sum of the norms of the rows of B (n, q), one
row a feature. This is the objective of scikit-learn's `MultiTaskElasticNet`, and of its
`ElasticNet` if q = 1.

scikit-learn solves it for the few columns that matter, the working set. One product with all
columns then shows whether any other column would enter; it joins the set, and the rest is repeated.
So the table is never standardized in memory, sparse tables stay sparse, and the cost of a penalty
is about one read of the table.
"""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import enet_path

from orthoselect.matrix import CenteredMatrix
from orthoselect.matrix.base import Floats, Indices

# A column joins the working set when its gradient is this close to the bound, relatively; one
# that joins in vain costs little.
_CLOSE = 1e-7
_PRODUCT_ROUNDINGS = 16.0
_JOIN = 10  # at least so many at once, if there are


class PenalizedLeastSquares:
    """The problem above, with a warm start from each solution to the next.

    Parameters
    ----------
    X : CenteredMatrix
    factors : array of shape (n,)
        Norms that the columns have in the problem; those of X have norm one.
    Y : array of shape (N, q)
        Centered responses, rows times the root of their weights.
    total : float
        Sum of the weights: N if there are none.
    l1_ratio : float
        The l above, in (0, 1].
    tol, max_iter : float, int
        As in scikit-learn.

    Attributes
    ----------
    working : integer array
        Columns of the working set; rows of a solution.
    largest : float
        The smallest penalty for which nothing enters.
    """

    def __init__(
        self,
        X: CenteredMatrix,
        factors: Floats,
        Y: Floats,
        total: float,
        *,
        l1_ratio: float,
        tol: float,
        max_iter: int,
    ) -> None:
        self._X, self._factors, self._Y = X, factors, Y
        self._total, self._l1_ratio = total, l1_ratio
        self._tol, self._max_iter = tol, max_iter
        self.working: Indices = np.zeros(0, dtype=np.intp)
        self._A = np.zeros((X.shape[0], 0))  # the columns of the working set
        self._B = np.zeros((0, Y.shape[1]))  # the last solution
        self._at_start = self._gradients(Y)
        self.largest = float(self._at_start.max(initial=0.0)) / l1_ratio
        self._compress()

    def solve(self, penalty: float) -> Floats:
        """Return the rows of B of the working set; all others are zero."""
        while True:
            if len(self.working):
                self._B = self._solve_small(penalty)
            residual = self._Y - self._A @ self._B
            bound = penalty * self._l1_ratio * (1 - _CLOSE)
            bound -= self._rounding(residual)
            gradients = self._gradients(residual) if len(self.working) else self._at_start.copy()
            gradients[self.working] = -1.0
            found = np.flatnonzero(gradients > bound)
            if not found.size:
                return self._B.copy()
            many = max(_JOIN, len(self.working))
            foremost = found[np.argsort(-gradients[found], kind="stable")[:many]]
            self._join(np.sort(foremost))  # of equal columns the solver prefers the first

    def _gradients(self, R: Floats) -> Floats:
        """Norms of X'R / N, column by column."""
        return np.linalg.norm(self._X.cross(R), axis=0) * self._factors / self._total

    def _rounding(self, R: Floats) -> float:
        error = _PRODUCT_ROUNDINGS * self._X.matrix.arithmetic * float(np.linalg.norm(R))
        return error * float(self._factors.max(initial=0.0)) / self._total

    def _join(self, J: Indices) -> None:
        columns = self._X.columns(J) * self._factors[J]
        self.working = np.concatenate([self.working, J])
        self._A = np.hstack([self._A, columns])
        self._B = np.vstack([self._B, np.zeros((len(J), self._Y.shape[1]))])
        self._compress()

    def _compress(self) -> None:
        """Replace the rows of [A, Y] by fewer with the same inner products."""
        both = np.hstack([self._A, self._Y])
        if both.shape[0] > both.shape[1]:
            both = np.asarray(np.linalg.qr(both, mode="r"))
        # scikit-learn divides by the number of rows, which is not that of the problem any more.
        both = both * np.sqrt(both.shape[0] / self._total)
        p = len(self.working)
        self._small_A, self._small_Y = np.asfortranarray(both[:, :p]), both[:, p:]

    def _solve_small(self, penalty: float) -> Floats:
        single = self._Y.shape[1] == 1
        _, coefficients, _ = enet_path(
            self._small_A,
            self._small_Y[:, 0] if single else np.asfortranarray(self._small_Y),
            l1_ratio=self._l1_ratio,
            alphas=[penalty],
            coef_init=self._B[:, 0].copy() if single else np.asfortranarray(self._B.T),
            tol=self._tol,
            max_iter=self._max_iter,
            precompute=False,
        )
        return coefficients.reshape(-1, len(self.working)).T.copy()
