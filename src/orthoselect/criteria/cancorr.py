"""The sum of squared canonical correlations, grown one feature at a time.

Zhang and Lang's squared orthogonal correlation coefficient (SOCC): what feature f adds to the
selected ones is gain_f = ||V'W_f||^2 in the norm of (W_f'W_f)^+, where W_f are its columns made
orthogonal to all that is selected. For one column that is ||V'w||^2 / ||w||^2.

W is never formed. For columns of norm one the state keeps

    C (m, n)  V'W          d (n,)    diag(W'W), what is left of each column
    L (k, n)  Q'X          D_f (p, p)  W_f'W_f for a feature f of p > 1 columns

where Q (N, k) is an orthonormal basis of the selected columns. Taking column j needs one row
r = q'X of L, which follows from the column g = X'x_j of the Gram matrix, r = (g - L'L_j)/sqrt(d_j),
and then C -= (V'q) r', d -= r*r. A row from Gram columns has lost digits when little is left of
column j; it is then made from the real columns instead, orthogonalized twice.

Errors are tracked, not hoped for: `error_C` and `error_d` bound (in the usual, not the worst case)
the rounding in C and d. A feature whose gain they leave uncertain and that might win is measured
again on its real columns before it is believed.

References
----------
S. Zhang and Z.-Q. Lang, "Orthogonal least squares based fast feature selection for linear
classification", Pattern Recognition 123, 2022. https://doi.org/10.1016/j.patcog.2021.108419
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.criteria import plan
from orthoselect.criteria.base import Criterion, State
from orthoselect.criteria.lookahead import likely_winners
from orthoselect.encode import Design, Response
from orthoselect.matrix import Basis, CenteredMatrix, center, orthonormalize
from orthoselect.matrix.base import EPS, Floats, Indices

# Gains whose relative uncertainty exceeds this are measured again on the real columns.
_TRUSTED = 1e-10
# Gains closer than this (relatively) are equal, and the lowest index wins.
_TIE = 1e-9
# A gain below this is nothing: it vanishes in the rounding of the total.
_NOTHING = 1e-14
# With at least this much left of a column, a row from Gram columns keeps enough digits.
_HEALTHY = 1e-4
_HEALTHY_FLOAT32 = 3e-2
# Usual error of an inner product of unit vectors, in roundings.
_PRODUCT_ROUNDINGS = 8.0
_BATCH_BYTES = 1 << 25


class SquaredCanonicalCorrelations(Criterion):
    """Sum of squared canonical correlations between the selected features and the response."""

    name = "socc"

    def start(
        self, design: Design, response: Response, weights: Floats | None = None, size: int = 1
    ) -> CanonicalState:
        """Return the state in which nothing is selected."""
        unowned = np.flatnonzero(~design.owned)
        whole = plan.whole_gram_pays(design.matrix.shape, size)
        X, VtX = center(design.matrix, response.V, weights, ignored=unowned, gram=whole)
        return CanonicalState(design, X, response.V, VtX, size)

    def ceiling(self, response: Response) -> float:
        """Return the rank of the response."""
        return float(response.m)


class CanonicalState(State):
    """Selected features and what each other one would add to the canonical correlations.

    Parameters
    ----------
    design : Design
    X : CenteredMatrix
        The design's matrix, centered and at norm one.
    V : array of shape (N, m)
        Orthonormal response basis.
    VtX : array of shape (m, n)
    size : int
        About how many features will be taken.
    """

    def __init__(
        self, design: Design, X: CenteredMatrix, V: Floats, VtX: Floats, size: int = 1
    ) -> None:
        n = X.shape[1]
        self._design, self._X, self._V = design, X, V
        self._C = VtX
        self._d = np.where(X.alive, 1.0, 0.0)
        self._L = np.empty((8, n))
        self._columns: list[int] = []  # selected columns, one for each row of L
        self._product_error = _PRODUCT_ROUNDINGS * X.matrix.arithmetic
        self._root_noise = np.sqrt(X.noise)
        self._error_C2 = (self._product_error + X.noise) ** 2
        self._error_d2 = self._error_C2.copy()
        self._measured = 0
        self._single: Indices | slice = np.flatnonzero(design.single >= 0)
        self._single_columns: Indices | slice = design.single[self._single]
        self._wide_columns = {f: _independent(X, J) for f, J in design.wide.items()}
        self._wide = _blocks_by_width(X, self._wide_columns)
        self._spent = np.zeros(len(design.features), dtype=bool)
        self._spent[self._single] = ~X.alive[self._single_columns]
        if np.array_equal(design.single, np.arange(n)):  # the usual table: views instead of copies
            self._single = self._single_columns = slice(None)
        self._spent[[f for f, J in self._wide_columns.items() if not len(J)]] = True
        self._basis = Basis(X.shape[0])
        self._healthy = _HEALTHY if X.matrix.arithmetic == EPS else _HEALTHY_FLOAT32
        self._fetched: dict[int, Floats] = {}  # column j -> its Gram column x_j'X, (n,)
        self._size = size
        self._pending: int | None = None  # a feature taken, whose rows nobody has needed yet
        self._gains = np.zeros(len(design.features))
        self._slack = np.zeros(len(design.features))
        self._score()

    # What a search asks

    def best(self, candidates: NDArray[np.bool_]) -> int | None:
        """Return the candidate that adds most, once every gain that matters is certain."""
        self._settle()
        while True:
            open_ = candidates & ~self._spent
            if not open_.any():
                return None
            gains = np.where(open_, self._gains, -np.inf)
            top = int(gains.argmax())
            reach = self._gains + self._slack
            rival = open_ & (reach >= (1 - _TIE) * gains[top] - self._slack[top])
            doubtful = rival & ~self._trusted() & (reach > _NOTHING)
            if doubtful.any():
                self._measure(np.flatnonzero(doubtful))
                continue
            if gains[top] <= _NOTHING:
                return None
            return int(np.argmax(gains >= (1 - _TIE) * gains[top]))

    def add(self, f: int) -> float:
        """Take feature f; a feature that depends on the selected ones adds nothing."""
        self._settle()
        if not self._spent[f] and not self._trusted()[f]:
            self._measure(np.array([f]))
        if self._spent[f]:
            return 0.0
        gain = float(np.clip(self._gains[f], 0.0, self._V.shape[1] - self.value))
        self.value += gain
        self._pending = f
        return gain

    def _settle(self) -> None:
        """Orthogonalize to the feature taken last; put off until somebody asks what remains.

        After the last step nobody does, which may save a read of X.
        """
        f, self._pending = self._pending, None
        if f is None:
            return
        J = self._columns_of(f)
        if self._left_of(f) >= self._healthy:
            self._fetch(J)
            for j in J:
                self._take_by_gram(int(j))
        else:
            self._take_by_columns(J)
        self._spent[f] = True
        self._score()

    def stats(self) -> dict[str, Any]:
        """Return the strategy, and what was asked of the table."""
        work = self._X.work
        return {
            "strategy": "whole gram" if self._X.whole is not None else "gram columns",
            "passes": work.passes,
            "products": work.products,
            "columns_read": work.columns,
            "measured": self._measured,
        }

    def exhausted(self) -> str:
        """Say why no candidate is left."""
        m = self._V.shape[1]
        if m == 0:
            return "the response is constant, so there is nothing to explain."
        if self.value >= m - 1e-9:
            return "they explain the response completely, so nothing is left to explain."
        if self._spent.all():
            return (
                "every other feature is constant or a linear combination of those selected "
                "(no rank is left)."
            )
        return "no other feature adds anything to what those selected explain."

    # Gains and their uncertainty

    def _score(self) -> None:
        """Compute every feature's gain and its uncertainty from C, d and D."""
        squares = np.einsum("ij,ij->j", self._C, self._C)
        J = self._single_columns
        self._gains[self._single], self._slack[self._single] = _single_gains(
            squares[J], self._d[J], np.sqrt(self._error_C2[J]), np.sqrt(self._error_d2[J])
        )
        for block in self._wide:
            J = block.columns
            self._gains[block.features], self._slack[block.features] = _block_gains(
                self._C[:, J],  # (m, features, p)
                block.D,
                np.sqrt(self._error_C2[J].max(axis=1)),
                np.sqrt(self._error_d2[J].max(axis=1)),
            )
        self._gains[self._spent] = self._slack[self._spent] = 0.0

    def _trusted(self) -> NDArray[np.bool_]:
        return self._slack <= _TRUSTED * self._gains

    def _columns_of(self, f: int) -> Indices:
        if f in self._wide_columns:
            return self._wide_columns[f]
        return self._design.single[f : f + 1]

    def _left_of(self, f: int) -> float:
        """Return the least that is left of any direction of feature f, between 0 and 1."""
        if f in self._wide_columns:
            return float(np.linalg.eigvalsh(self._block_of(f)).min())
        return float(self._d[self._design.single[f]])

    def _block_of(self, f: int) -> Floats:
        block = next(block for block in self._wide if f in block.features)
        return block.D[np.flatnonzero(block.features == f)[0]]

    # Measuring on real columns

    def _measure(self, features: Indices) -> None:
        """Replace what the state knows of these features by what their real columns say."""
        self._measured += len(features)
        self._extend_basis()
        alone = features[self._design.single[features] >= 0]
        width = max(1, _BATCH_BYTES // (8 * self._X.shape[0]))
        for start in range(0, len(alone), width):
            self._measure_single(alone[start : start + width])
        for f in features[self._design.single[features] < 0]:
            self._measure_wide(int(f))

    def _measure_single(self, features: Indices) -> None:
        J = self._design.single[features]
        W, H = self._basis.residual(self._X.columns(J))
        d = np.einsum("ij,ij->j", W, W)
        self._spent[features] = np.sqrt(d) <= self._basis.floors(H, self._X.sizes[J])
        self._C[:, J], self._d[J] = self._V.T @ W, d
        self._error_C2[J], self._error_d2[J] = (2 * EPS) ** 2, (4 * EPS) ** 2 * d
        gain = (self._C[:, J] ** 2).sum(axis=0) / np.maximum(d, EPS**3)
        self._gains[features] = np.where(self._spent[features], 0.0, np.minimum(gain, 1.0))
        self._slack[features] = 0.0

    def _measure_wide(self, f: int) -> None:
        Q = self._directions(self._columns_of(f))
        self._spent[f] = Q.shape[1] == 0
        self._gains[f] = ((self._V.T @ Q) ** 2).sum()
        self._slack[f] = 0.0

    def _directions(self, J: Indices) -> Floats:
        """Return an orthonormal basis of what columns J add to the selected ones, (N, rank)."""
        before = self._basis.k
        for column, j in zip(self._X.columns(J).T, J):
            self._basis.append(column, self._X.sizes[j])
        Q = self._basis.Q[:, before:].copy()
        self._basis.truncate(before)
        return Q

    def _extend_basis(self) -> None:
        """Bring the real basis Q up to the columns that were taken by their Gram columns."""
        new = np.array(self._columns[self._basis.k :], dtype=np.intp)
        for column, j in zip(self._X.columns(new).T, new):
            self._basis.append(column, self._X.sizes[j], force=True)

    # Taking columns

    def _take_by_gram(self, j: int) -> None:
        k = len(self._columns)
        left = np.sqrt(self._d[j])
        r = (self._fetched[j] - self._L[:k, j] @ self._L[:k]) / left
        error = (self._product_error + self._root_noise * self._root_noise[j]) / left
        self._append_row(r, self._C[:, j] / left, j, error)

    def _take_by_columns(self, J: Indices) -> None:
        self._extend_basis()
        before, kept = self._basis.k, []
        for column, j in zip(self._X.columns(J).T, J):
            if self._basis.append(column, self._X.sizes[j]):
                kept.append(int(j))
        Q = self._basis.Q[:, before:]
        for r, c, j in zip(self._X.cross(Q), (self._V.T @ Q).T, kept):
            self._append_row(r, c, j, self._product_error + self._X.noise)

    def _append_row(self, r: Floats, c: Floats, j: int, error: Floats) -> None:
        """Add row r = q'X to L, with c = V'q; j is the column that q was made from.

        Errors of different steps have nothing to do with each other, so they add in squares.
        """
        r[self._columns] = 0.0
        k = len(self._columns)
        if k == len(self._L):
            self._L = np.concatenate([self._L, np.empty_like(self._L)])
        self._L[k] = r
        self._columns.append(j)
        r2, error2 = r * r, error * error
        for row, along in zip(self._C, c):
            row -= along * r
        self._d -= r2
        self._error_C2 += error2
        self._error_d2 += 4 * error2 * r2
        for block in self._wide:
            R = r[block.columns]
            block.D -= R[:, :, None] * R[:, None, :]

    def _fetch(self, J: Indices) -> None:
        """Have the Gram columns X'x_j of J, and with them those of the likely next winners."""
        wanted = [j for j in J.tolist() if j not in self._fetched]
        if not wanted:
            return
        if self._X.whole is None:
            wanted += self._likely(wanted)
        fetched = np.array(wanted, dtype=np.intp)
        self._fetched.update(zip(wanted, self._X.gram(fetched)))

    def _likely(self, wanted: list[int]) -> list[int]:
        """Return columns that have not been fetched and are likely to be taken soon."""
        shape = self._X.shape
        count = plan.columns_ahead(shape, self._size, len(self._columns)) - len(wanted)
        if count < 1:
            return []
        alone = len(wanted) == 1 and not self._wide_columns
        if alone and self._fetched and plan.guessing_pays(shape):
            gains = np.zeros(self._X.shape[1])
            gains[self._design.single] = self._gains
            L = self._L[: len(self._columns)]
            return likely_winners(gains, self._C, self._d, L, self._fetched, wanted[0], count)
        known = {*wanted, *self._fetched}
        leaders = np.argsort(-self._gains, kind="stable")[: len(known) + count]
        columns = (j for f in leaders if self._gains[f] > 0 for j in self._columns_of(f).tolist())
        return [j for j in columns if j not in known][:count]


class _Blocks:
    """The features of one width: their places, columns (features, p) and residual Grams D."""

    def __init__(self, features: Indices, columns: Indices, D: Floats) -> None:
        self.features, self.columns, self.D = features, columns, D


def _independent(X: CenteredMatrix, J: Indices) -> Indices:
    """Return the columns of a block that are no combination of those before them in it."""
    J = J[X.alive[J]]
    if len(J) < 2 or np.linalg.eigvalsh(X.block_gram(J))[0] >= _HEALTHY:
        return J
    return J[orthonormalize(X.columns(J), X.sizes[J])[1]]


def _blocks_by_width(X: CenteredMatrix, columns: dict[int, Indices]) -> list[_Blocks]:
    widths: dict[int, list[int]] = {}
    for f, J in columns.items():
        if len(J):
            widths.setdefault(len(J), []).append(f)
    return [
        _Blocks(
            np.array(features),
            np.stack([columns[f] for f in features]),
            np.stack([X.block_gram(columns[f]) for f in features]),
        )
        for features in widths.values()
    ]


def _single_gains(
    squares: Floats, d: Floats, error_C: Floats, error_d: Floats
) -> tuple[Floats, Floats]:
    """Gains squares/d of single columns and their uncertainty; all of it where d has no digits."""
    known = d > 4 * error_d
    safe = np.where(known, d, 1.0)
    gains = np.where(known, np.minimum(squares / safe, 1.0), 0.0)
    slack = 2 * np.sqrt(gains / safe) * error_C + error_C**2 / safe + gains * error_d / safe
    return gains, np.where(known, slack, 1.0)


def _block_gains(C: Floats, D: Floats, error_C: Floats, error_d: Floats) -> tuple[Floats, Floats]:
    """Gains of features of p columns each and their uncertainty.

    Parameters
    ----------
    C : array of shape (m, features, p)
    D : array of shape (features, p, p)
    error_C, error_d : arrays of shape (features,)
    """
    m, _, p = C.shape
    values, vectors = np.linalg.eigh(D)  # (features, p), (features, p, p)
    least = values[:, 0]
    known = least > 4 * p * error_d
    safe = np.where(known[:, None], values, 1.0)
    along = np.einsum("mfp,fpq->fqm", C, vectors)
    gains = ((along**2).sum(axis=2) / safe).sum(axis=1)
    gains = np.where(known, np.minimum(gains, min(m, p)), 0.0)
    floor = np.where(known, least, 1.0)
    slack = p * (
        2 * np.sqrt(gains / floor) * error_C + error_C**2 / floor + gains * error_d / floor
    )
    return gains, np.where(known, slack, float(min(m, p)))
