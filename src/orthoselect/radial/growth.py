"""A network grows: one center after the other, until leaving rows out shows no gain.

Notation: columns of the network are the constant, the inputs if they are asked for, and radial
functions; Q (N, k) is an orthonormal basis of those taken, R (k, k) what makes the columns of it,
and s_k = w'w / (w'w + penalty) the share of its coefficient that a column w keeps.

How many centers there should be, and how wide, is decided by leaving each row out. These errors
take the centers as given, though the rows that are left out have had a part in selecting them; so
each center counts `cost` times:

    PRESS ((1 - f/N) / (1 - g/N))^2,  f = sum of s_k,  g = the same, centers times `cost`

which is APRESS of Billings and Wei (2008) with errors of leaving rows out in place of residuals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from orthoselect.criteria import OrthogonalCriterion
from orthoselect.criteria.regularized import RegularizedErrorReduction
from orthoselect.encode import Design, Features, Response
from orthoselect.matrix import KernelMatrix, NonFiniteColumns
from orthoselect.matrix.base import Floats
from orthoselect.matrix.leverage import LeaveOneOut
from orthoselect.radial.candidate_rows import too_far
from orthoselect.result import SelectionPath, SelectionStep
from orthoselect.search import ForwardSearch

# With less left of a column, relative to its norm, its coefficient has few digits.
_DEPENDENT = 1e-9
NO_RANK = "every other function is nearly a combination of those taken."
NO_GAIN = "leaving rows out has shown no gain for {} steps."
FULL = "that is half as many terms as there are rows."


@dataclass(frozen=True)
class Task:
    """What a network is to explain, and how it may grow.

    Attributes
    ----------
    Y : array of shape (N, outputs)
        Centered; outputs that are constant are zero.
    weights : array of shape (N,) or None
        Numbers of copies of each row.
    size : int or None
        How many centers; None: as many as leaving rows out asks for.
    cost : float
        What a center counts in the errors that decide.
    patience : int
        After so many centers without a gain, growth ends.
    penalty : float
        What is added to w'w of each radial function.
    """

    Y: Floats
    weights: Floats | None
    size: int | None
    cost: float
    patience: int
    penalty: float

    @property
    def root(self) -> Floats | None:
        """Square roots of the weights."""
        return None if self.weights is None else np.sqrt(self.weights)

    @property
    def n_rows(self) -> float:
        """How many rows there are, copies counted."""
        return float(len(self.Y)) if self.weights is None else float(self.weights.sum())


@dataclass(frozen=True)
class Network:
    """The columns that were taken, as far as they count, and what they explain.

    Attributes
    ----------
    columns : list of int
        Columns of the matrix, in order: those always taken first, then centers.
    n_centers : int
        How many of the last ones are radial functions.
    Q, R, shrinkage : arrays of shapes (N, k), (k, k) and (k,)
    path : SelectionPath
        All steps but the constant, also those after the last that counts.
    press, adjusted : arrays of shape (centers tried + 1,)
        Mean squared error of leaving each row out, as a share of the variance: of the terms always
        taken, then after each center; and the same as it decides.
    """

    columns: list[int]
    n_centers: int
    Q: Floats
    R: Floats
    shrinkage: Floats
    path: SelectionPath
    press: Floats
    adjusted: Floats

    def error(self, size: int | None) -> float:
        """Return the error that decides, infinite where it is not known.

        Among networks of one size, that many centers asked for, nothing has to be adjusted.
        """
        errors = self.adjusted if size is None else self.press
        return float(_known(errors)[self.n_centers])

    def coefficients(self, Y: Floats, root: Floats | None) -> Floats:
        """Return the coefficients of the columns for outputs Y (N, outputs), (k, outputs)."""
        along = self.Q.T @ (Y if root is None else Y * root[:, None])
        return solve_triangular(self.R, self.shrinkage[:, None] * along)


class _Growing:
    """Columns taken so far: Q, R, shrinkage and errors; `take` adds one."""

    def __init__(self, Y: Floats, root: Floats | None, most: int) -> None:
        weighted = Y if root is None else Y * root[:, None]
        norms = np.linalg.norm(weighted, axis=0)
        self._root = root
        self._left = LeaveOneOut(weighted / np.where(norms > 0, norms, 1.0), root)
        self._n_outputs = max(1, int((norms > 0).sum()))
        self.Q, self.R = np.empty((len(Y), most), order="F"), np.zeros((most, most))
        self.shrinkage = np.ones(most)
        self.columns: list[int] = []

    def take(self, j: int, column: Floats, penalty: float) -> bool:
        """Take column j, (N,), unless it depends on those before; return whether it was taken."""
        k, column = len(self.columns), column if self._root is None else column * self._root
        Q, w, r = self.Q[:, :k], column, np.zeros(k)
        for _ in range(2):  # once would leave what rounding makes of a small rest
            along = Q.T @ w
            w, r = w - Q @ along, r + along
        norm = float(np.linalg.norm(w))
        if norm <= _DEPENDENT * np.linalg.norm(column):
            return False
        self.Q[:, k], self.R[:k, k], self.R[k, k] = w / norm, r, norm
        self.shrinkage[k] = norm * norm / (norm * norm + penalty)
        self._left.add(self.Q[:, k], float(self.shrinkage[k]))
        self.columns.append(j)
        return True

    def factor(self, n_rows: float, n_centers: int, cost: float) -> float:
        """Return what errors are multiplied with, since the last columns are selected centers."""
        shares = self.shrinkage[: len(self.columns)]
        used = float(shares.sum())
        counted = used + (cost - 1.0) * float(shares[len(shares) - n_centers :].sum())
        if counted >= n_rows:
            return float("inf")
        return ((n_rows - used) / (n_rows - counted)) ** 2

    def network(
        self, k: int, n_centers: int, path: SelectionPath, press: Floats, adjusted: Floats
    ) -> Network:
        """Return the first k columns as a network."""
        parts = self.Q[:, :k], self.R[:k, :k], self.shrinkage[:k]
        return Network(self.columns[:k], n_centers, *parts, path, press, adjusted)

    @property
    def press(self) -> float:
        """The error of leaving each row out, as a share of the variance."""
        return self._left.press / self._n_outputs


def grow(matrix: KernelMatrix, names: Sequence[str], task: Task) -> Network:
    """Grow a network of radial functions; `names` are those of the matrix's columns."""
    n, fixed = matrix.shape[1], matrix.first_center
    room = max(0, int(task.n_rows // 2) - fixed)
    most = min(n - fixed, room) if task.size is None else task.size
    penalties = np.where(np.arange(n) < fixed, 0.0, task.penalty)
    criterion = RegularizedErrorReduction(penalties) if task.penalty else OrthogonalCriterion("err")
    design = Design(matrix, Features(names, np.arange(n), {}), np.arange(n), {}, matrix.shape[0])
    response = Response(task.Y, "regression", [], [y[:, None] for y in task.Y.T])
    try:
        state = criterion.start(design, response, task.weights, fixed + most)
    except NonFiniteColumns:
        raise too_far("radial functions should be finite; distances are too large") from None
    growing = _Growing(task.Y, task.root, fixed + most)
    steps: list[SelectionStep] = []
    press: list[float] = []
    adjusted: list[float] = []
    stopped = None
    walk = ForwardSearch().run(state, fixed + most, range(fixed), np.ones(n, dtype=bool))
    for taken in walk:
        j = taken.feature
        column = matrix.columns(np.array([j]))[:, 0]
        is_new = growing.take(j, column, float(penalties[j]))
        if j >= fixed and not is_new:
            stopped = NO_RANK
            break
        if j > 0:
            steps.append(SelectionStep(j, names[j], taken.gain, taken.value, (j,)))
        if j < fixed - 1:
            continue
        press.append(growing.press)
        adjusted.append(press[-1] * growing.factor(task.n_rows, len(press) - 1, task.cost))
        if task.size is None and not _gains(adjusted, task.patience):
            stopped = NO_GAIN.format(task.patience)
            break
    found = len(press) - 1
    if stopped is None and found < (task.size or n - fixed):
        stopped = state.exhausted() if found < most else FULL
    n_centers = int(np.argmin(_known(adjusted))) if task.size is None else found
    past = found - n_centers
    path = SelectionPath(
        steps,
        method=criterion.name,
        ceiling=criterion.ceiling(response),
        n_candidates=n - fixed,
        stopped=stopped,
        chosen=len(steps) - past,
    )
    errors = np.array(press), np.array(adjusted)
    return growing.network(len(growing.columns) - past, n_centers, path, *errors)


def _gains(errors: Sequence[float], patience: int) -> bool:
    """Whether the error has become smaller in the last steps."""
    return np.isfinite(errors[-1]) and len(errors) - 1 - int(np.argmin(_known(errors))) < patience


def _known(errors: Sequence[float] | Floats) -> Floats:
    return np.where(np.isfinite(errors), errors, np.inf)
