"""The methods that are compared, each behind the same two steps: prepare, then fit.

What a peer's user would have at hand (a data frame, a dense copy of a sparse table, the classes as
indicators) is prepared outside the measured time and memory; `fit` is the peer's own work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.shapes import Row

FEW_STEPS = 2


@dataclass(frozen=True)
class Problem:
    """What a method is given: X of shape (N, n), classes y, features to select, threads."""

    X: Any
    y: np.ndarray
    t: int
    threads: int

    @property
    def dense(self) -> np.ndarray:
        """X as an array; a float64 copy if it is sparse."""
        return self.X if isinstance(self.X, np.ndarray) else self.X.astype(float).toarray()

    @property
    def varying(self) -> tuple[np.ndarray, np.ndarray]:
        """The columns that vary, as an array, and their indices; LDA fails on any other alone."""
        X = self.dense
        columns = np.flatnonzero(np.ptp(X, axis=0) > 0)
        return X[:, columns], columns

    @property
    def response(self) -> np.ndarray:
        """The classes as a matrix of 0 and 1, one for each but the first, (N, classes - 1).

        All of them would be linearly dependent, which fastcan's eta mode may mistake for one
        response more if the columns of X are of unlike size.
        """
        return (self.y[:, None] == np.unique(self.y)[1:]).astype(float)


@dataclass(frozen=True)
class Selection:
    """What a fit gives: column indices in order of selection, and what it tells of its work."""

    selected: list[int]
    stats: dict[str, Any] | None = None


Fit = Callable[[], Selection]


@dataclass(frozen=True)
class Method:
    """One column of the table.

    Attributes
    ----------
    prepare : callable
        Problem -> a function of no arguments, whose run is measured.
    same_criterion : bool
        Whether it seeks what orthoselect seeks, so that the selected sets should agree.
    small_only : bool
        Whether it is too slow for any but the small rows.
    few_steps : bool
        Whether it takes only the first steps on rows that are not small.
    """

    name: str
    title: str
    prepare: Callable[[Problem], Fit]
    same_criterion: bool = False
    small_only: bool = False
    few_steps: bool = False

    def refusal(self, row: Row) -> str | None:
        """Return why the method is not run on a row, if it is not."""
        d = row.data
        if self.small_only and not row.small:
            return "small shapes only"
        if self.name == "fastcan_eta" and d.n + d.classes - 1 > d.N:
            return "needs N >= n + classes - 1"
        return None

    def steps(self, row: Row) -> int:
        """Return how many features it is asked for."""
        return min(FEW_STEPS, row.t) if self.few_steps and not row.small else row.t


def _orthoselect(problem: Problem) -> Fit:
    from orthoselect import OrthogonalSelector

    def fit() -> Selection:
        selector = OrthogonalSelector(n_features_to_select=problem.t).fit(problem.X, problem.y)
        stats = getattr(selector.path_, "stats", None)
        return Selection(selector.selected_.tolist(), None if stats is None else dict(stats))

    return fit


def _fastcan(problem: Problem, *, eta: bool) -> Fit:
    from fastcan import FastCan

    X, Y = problem.dense, problem.response

    def fit() -> Selection:
        return Selection(FastCan(problem.t, eta=eta, verbose=0).fit(X, Y).indices_.tolist())

    return fit


def _fastcan_h(problem: Problem) -> Fit:
    return _fastcan(problem, eta=False)


def _fastcan_eta(problem: Problem) -> Fit:
    return _fastcan(problem, eta=True)


def _mrmr(problem: Problem) -> Fit:
    import pandas as pd
    from mrmr import mrmr_classif

    X, y = pd.DataFrame(problem.dense), pd.Series(problem.y)

    def fit() -> Selection:
        names = mrmr_classif(X=X, y=y, K=problem.t, n_jobs=problem.threads, show_progress=False)
        return Selection([int(name) for name in names])

    return fit


def _scikit_learn(problem: Problem) -> Fit:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.feature_selection import SequentialFeatureSelector

    (X, columns), y = problem.varying, problem.y

    def fit() -> Selection:
        selector = SequentialFeatureSelector(
            LinearDiscriminantAnalysis(),
            n_features_to_select=problem.t,
            cv=5,
            n_jobs=problem.threads,
        )
        return Selection(columns[selector.fit(X, y).get_support()].tolist())

    return fit


def _mlxtend(problem: Problem) -> Fit:
    from mlxtend.feature_selection import SequentialFeatureSelector
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    (X, columns), y = problem.varying, problem.y

    def fit() -> Selection:
        selector = SequentialFeatureSelector(
            LinearDiscriminantAnalysis(),
            k_features=problem.t,
            cv=5,
            n_jobs=problem.threads,
        )
        return Selection(columns[list(selector.fit(X, y).k_feature_idx_)].tolist())

    return fit


def _gram_schmidt(problem: Problem) -> Fit:
    X, Y = problem.dense, problem.response
    return lambda: Selection(gram_schmidt(X, Y, problem.t))


def _by_definition(problem: Problem) -> Fit:
    X, Y = problem.dense, problem.response
    return lambda: Selection(by_definition(X, Y, problem.t))


def response_basis(Y: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the centered columns of Y, (N, rank)."""
    U, s, _ = np.linalg.svd(Y - Y.mean(axis=0), full_matrices=False)
    return U[:, s > 1e-10 * s.max()]


def canonical_total(A: np.ndarray, V: np.ndarray) -> float:
    """Return the sum of squared canonical correlations of the columns of A with V's span.

    Each column is centered and scaled first, so that dependence is judged whatever its unit.
    """
    A = A - A.mean(axis=0)
    A /= np.maximum(np.linalg.norm(A, axis=0), np.finfo(float).tiny)
    fitted = A @ np.linalg.lstsq(A, V, rcond=1e-12)[0]
    return float(np.vdot(V, fitted))


def by_definition(X: np.ndarray, Y: np.ndarray, t: int) -> list[int]:
    """Select greedily, computing each candidate set's canonical correlations from nothing."""
    V, selected = response_basis(Y), []
    for _ in range(t):
        totals = np.full(X.shape[1], -np.inf)
        for j in set(range(X.shape[1])).difference(selected):
            totals[j] = canonical_total(X[:, [*selected, j]].astype(float), V)
        selected.append(int(totals.argmax()))
    return selected


def gram_schmidt(X: np.ndarray, Y: np.ndarray, t: int) -> list[int]:
    """Select greedily by modified Gram-Schmidt on an orthogonalized copy of X.

    Zhang and Lang's method in the plainest NumPy: after each step all candidates are made
    orthogonal to the one taken. Columns with next to nothing left are out.
    """
    V, selected = response_basis(Y), []
    W = X - X.mean(axis=0)
    d0 = np.einsum("ij,ij->j", W, W)
    for _ in range(t):
        d = np.einsum("ij,ij->j", W, W)
        left = d > 1e-12 * np.maximum(d0, np.finfo(float).tiny)
        left[selected] = False
        gains = np.divide(((V.T @ W) ** 2).sum(axis=0), d, out=np.full(len(d), -1.0), where=left)
        j = int(gains.argmax())
        selected.append(j)
        q = W[:, j] / np.sqrt(d[j])
        W -= np.outer(q, q @ W)
    return selected


METHODS = (
    Method("orthoselect", "orthoselect", _orthoselect, same_criterion=True),
    Method("fastcan", "fastcan", _fastcan_h, same_criterion=True),
    Method("fastcan_eta", "fastcan, eta", _fastcan_eta, same_criterion=True),
    Method("mrmr", "mrmr_selection", _mrmr),
    Method("scikit_learn", "scikit-learn SFS, LDA", _scikit_learn, small_only=True),
    Method("mlxtend", "mlxtend SFS, LDA", _mlxtend, small_only=True),
    Method("gram_schmidt", "Gram-Schmidt", _gram_schmidt, same_criterion=True),
    Method("definition", "by definition", _by_definition, same_criterion=True, few_steps=True),
)
BY_NAME = {method.name: method for method in METHODS}
