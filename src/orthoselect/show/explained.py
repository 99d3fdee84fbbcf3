"""What selected features explain of all others, by least squares on columns of numbers.

Whatever the method, two features have to do with each other as their columns have: a numeric column
is itself, a categorical one its block of indicators, a group all its columns.

Notation: X (N, n) the centered columns at norm one, weighted by rows; Q (N, k) an orthonormal basis
of the selected columns in the order of selection; U_f (N, r_f) one of feature f alone, of rank r_f.
The share of feature f that orthonormal columns U explain is ||U'U_f||^2 / r_f: for a single column
R squared of least squares on U, for a block the mean of that over its directions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from orthoselect.criteria.candidates import HEALTHY, blocks_by_width, independent_columns
from orthoselect.encode import Design
from orthoselect.matrix import Basis, center, orthonormalize
from orthoselect.matrix.base import Floats, Indices
from orthoselect.problem import Problem

_BATCH = 32  # columns multiplied with the table at a time
_BATCH_BYTES = 1 << 26
_ROUNDINGS = 64.0  # shares below so many roundings are zero
_ALIKE = 9  # decimals to which shares are compared


class FeatureColumns:
    """The features of a problem as centered columns.

    Parameters
    ----------
    design : Design
        Of numbers and indicators, as `encode.build_design` makes it.
    problem : Problem
        All numbers should be finite.

    Attributes
    ----------
    V : array of shape (N, m)
        The orthonormal response basis.
    ranks : integer array of shape (number of features,)
        How many independent columns each feature has; 0 if it is constant.
    signed : boolean array of shape (number of features,)
        Which are a column of numbers each, so that correlations with them have a sign.
    rounding : float
        Shares below this are nothing.
    """

    def __init__(self, design: Design, problem: Problem) -> None:
        self.V = V = problem.response.V[:]
        self._X, _ = center(design.matrix, V, problem.weights, ignored=design.unowned)
        self.rounding = _ROUNDINGS * design.matrix.arithmetic
        self._single = design.single
        numeric = np.ones(len(problem.table.names), dtype=bool)
        numeric[list(problem.table.labels)] = False
        self.signed = numeric[design.features.heads] & (design.single >= 0)
        blocks = independent_columns(self._X, self._X.geometry(V), design.wide)
        self._wide = {f: J for f, (J, _) in blocks.items()}
        self.ranks = np.append(self._X.alive, False)[self._single].astype(np.intp)
        for f, J in self._wide.items():
            self.ranks[f] = len(J)
        self.signed &= self.ranks > 0
        sound = {
            f: (J, D)
            for f, (J, D) in blocks.items()
            if len(J) and np.linalg.eigvalsh(D)[0] >= HEALTHY
        }
        self._sound = [(b, np.linalg.inv(b.D)) for b in blocks_by_width(sound)]
        # Columns that nearly depend on each other: their products have too few digits.
        self._delicate = [f for f, J in self._wide.items() if len(J) and f not in sound]

    def columns_of(self, f: int) -> tuple[Floats, Floats]:
        """Return the independent columns of feature f, (N, r_f), and one rounding of each."""
        if not self.ranks[f]:
            return np.zeros((len(self.V), 0)), np.zeros(0)
        J = self._wide[f] if f in self._wide else self._single[f : f + 1]
        return self._X.columns(J), self._X.sizes[J]

    def shares(self, U: Floats) -> Floats:
        """Return the share of every feature that each column of U explains, (u, features).

        U (N, u) is orthonormal and centered, its rows weighted as those of V. Of constant features
        it is 0.
        """
        P = self._X.cross(np.asfortranarray(U))  # (u, n)
        shares = np.zeros((U.shape[1], len(self._single)))
        alone = np.flatnonzero((self._single >= 0) & (self.ranks > 0))
        shares[:, alone] = P[:, self._single[alone]] ** 2
        for block, inverse in self._sound:
            along = P[:, block.columns]  # (u, features, p)
            explained = np.einsum("ufp,fpq,ufq->uf", along, inverse, along, optimize=True)
            shares[:, block.features] = explained / block.columns.shape[1]
        for f in self._delicate:
            own = orthonormalize(*self.columns_of(f))[0]
            shares[:, f] = ((U.T @ own) ** 2).sum(axis=1) / own.shape[1]
        return shares

    def shares_of(self, spans: Sequence[Floats]) -> Floats:
        """Return the share of every feature that each span explains, (spans, features).

        A span is given by orthonormal columns as `shares` takes them.
        """
        U = spans[0] if len(spans) == 1 else np.hstack(spans)
        owners = np.repeat(np.arange(len(spans)), [span.shape[1] for span in spans])
        total = np.zeros((len(spans), len(self._single)))
        wide = max(1, min(_BATCH, _BATCH_BYTES // (8 * max(self._X.shape[1], 1))))
        for at in range(0, U.shape[1], wide):
            part = slice(at, at + wide)
            np.add.at(total, owners[part], self.shares(U[:, part]))
        total[total < self.rounding] = 0.0
        return np.minimum(total, 1.0)


class SelectedSet:
    """The selected features in each other's terms, and what they explain of all features.

    Parameters
    ----------
    features : FeatureColumns
    places : sequence of int
        The selected ones in their order.

    Attributes
    ----------
    Q : array of shape (N, k)
    coordinates : list of arrays of shape (k, r_f)
        Q'U_f of each selected feature; no columns if it is constant.
    signed : list of bool
        Which are single columns, so that correlations have a sign.
    explained : array of shape (number selected, number of features)
        The share of each feature that each selected one explains.
    remains : array of shape (number of features,)
        The share of each feature that the selected set does not explain; of a selected one what
        those selected before it do not. nan for constants.
    """

    def __init__(self, features: FeatureColumns, places: Sequence[int]) -> None:
        self.places, self._V = list(places), features.V
        basis = Basis(len(features.V))
        coordinates, remains = [], []
        explained, waiting = [np.zeros((0, len(features.ranks)))], []
        for f in places:
            A, sizes = features.columns_of(f)
            U = A if A.shape[1] == 1 else orthonormalize(A, sizes)[0]
            before = (basis.Q.T @ U) ** 2
            remains.append(1.0 - before.sum() / U.shape[1] if U.shape[1] else np.nan)
            for column, size in zip(A.T, sizes):
                basis.append(column, size)
            coordinates.append(basis.Q.T @ U)
            waiting.append(U)
            # Many at a time are multiplied faster; all would take as much memory as Q.
            if f == places[-1] or sum(span.shape[1] for span in waiting) >= _BATCH:
                explained.append(features.shares_of(waiting))
                waiting = []
        self.Q, k = basis.Q, basis.Q.shape[1]
        self.coordinates = [np.pad(C, ((0, k - len(C)), (0, 0))) for C in coordinates]
        self.signed = [bool(features.signed[f]) for f in places]
        self.explained = np.vstack(explained)
        left = 1.0 - features.shares_of([self.Q])[0]
        left[left < features.rounding] = 0.0
        left[features.ranks == 0] = np.nan
        left[self.places] = np.clip(remains, 0.0, 1.0)
        self.remains = left

    def canonical(self) -> tuple[Floats, float]:
        """Return the squared canonical correlations of the set and the response, largest first.

        And their sum for the first feature alone.
        """
        QtV = self.Q.T @ self._V  # (k, m)
        R = np.linalg.svd(QtV, compute_uv=False) if QtV.size else np.zeros(0)
        first = self.coordinates[0].T @ QtV if self.places else np.zeros((0, 0))
        return np.clip(R, 0.0, 1.0) ** 2, float((first**2).sum())

    def correlations(self, directions: Floats) -> Floats:
        """Return the correlation of each selected feature with directions Qa, (t, number of a).

        The columns a, (k, number of a), have norm one. For a feature of several columns it is the
        multiple correlation, which has no sign; for a constant one nan.
        """
        found = np.full((len(self.coordinates), directions.shape[1]), np.nan)
        for s, (C, signed) in enumerate(zip(self.coordinates, self.signed)):
            if signed:
                found[s] = C[:, 0] @ directions
            elif C.shape[1]:
                found[s] = np.linalg.norm(C.T @ directions, axis=0)
        return np.clip(found, -1.0, 1.0)

    def among(self, most: int) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the correlations among the first features, and which of them have a sign.

        Of two blocks it is the largest canonical correlation: the multiple correlation if one is a
        single column.
        """
        C, signed = self.coordinates[:most], np.array(self.signed[:most], dtype=bool)
        R = np.full((len(C), len(C)), np.nan)
        for i in range(len(C)):
            for j in range(i + 1):
                if not min(C[i].shape[1], C[j].shape[1]):
                    continue
                M = C[i].T @ C[j]
                both = signed[i] and signed[j]
                value = M[0, 0] if both else np.linalg.norm(M, 2)
                R[i, j] = R[j, i] = 1.0 if i == j else np.clip(value, -1.0, 1.0)
        return R, signed[:, None] & signed

    def explains_most(self) -> tuple[Indices, Floats]:
        """Return for each feature the step that explains most of it, and the share; -1 for none.

        A selected feature is compared with those before it only. The first of equals counts.
        """
        known = np.round(self.explained, _ALIKE)
        for s, f in enumerate(self.places):
            known[s:, f] = -1.0
        if not len(known):
            return np.full(known.shape[1], -1), np.full(known.shape[1], np.nan)
        best = known.argmax(axis=0)
        share = np.take_along_axis(known, best[None], axis=0)[0]
        return np.where(share < 0, -1, best), np.where(share < 0, np.nan, share)
