"""The older orthogonal criteria: candidates made orthogonal to those selected, nothing centered.

All judge a candidate x by what is left of it, w = x - QQ'x, where Q (N, k) is an orthonormal basis
of the selected columns:

    err   (w'y)^2 / (w'w y'y)     the error reduction ratio: share of y'y that w explains
    mser  (w'y)^2 / (w'w N)       the same, not divided by y'y: reduction of the mean squared error
    obcc  r(w, y)^2               squared Pearson correlation; for two classes the point-biserial

Classes are their place in the sorted order, 0, 1, 2 and so on; for several responses the criteria
of each are added up.

W is never formed. For columns of norm one the state keeps C = Z'W (q, n), where Z are the
responses, d = diag(W'W) (n,) and, for correlations, a = u'W (n,) with the unit vector u of ones:
what is left of w once centered is d - a^2. Taking a column needs one product r = q'X with the real
direction q; then C -= (Z'q) r', a -= (u'q) r and d -= r*r. What these products leave uncertain is
tracked, and a feature that might win is measured on its real column before it is believed.

References
----------
S. Chen, S. A. Billings and W. Luo, "Orthogonal least squares methods and their application to
non-linear system identification", International Journal of Control 50, 1989.
https://doi.org/10.1080/00207178908953472

M. J. Korenberg, "A robust orthogonal algorithm for system identification and time-series
analysis", Biological Cybernetics 60, 1989. https://doi.org/10.1007/BF00204124

J. R. A. Solares, H.-L. Wei and S. A. Billings, "A novel logistic-NARX model as a classifier for
dynamic binary classification", Neural Computing and Applications 31, 2019.
https://doi.org/10.1007/s00521-017-2976-x
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthoselect.criteria.base import Criterion, State
from orthoselect.criteria.cancorr import CanonicalState
from orthoselect.criteria.candidates import Candidates
from orthoselect.criteria.inner_products import InnerProducts, Objective
from orthoselect.criteria.uncertainty import (
    NOTHING,
    SHOWN,
    TIE,
    TRUSTED,
    Uncertainty,
    single_gains,
)
from orthoselect.encode import Design, Labels, Response
from orthoselect.encode.response import centered_columns
from orthoselect.errors import InputError
from orthoselect.matrix import ScaledMatrix, center, normalize
from orthoselect.matrix.base import EPS, Floats, Indices
from orthoselect.matrix.basis import ROUNDINGS
from orthoselect.matrix.geometry import triangle_of
from orthoselect.matrix.normed_geometry import normed_geometry
from orthoselect.matrix.rows import Rows, written_out
from orthoselect.matrix.scaled import PRODUCT_ROUNDINGS

_SUM_ROUNDINGS_FLOAT32 = 32.0
# With more than this left of a column once centered, products show that it is not constant.
_VARIES = 1e-2
# With so many times more left of a column than rounding could leave, it depends on no others.
_SURE = 2.0


class OrthogonalCriterion(Criterion):
    """One of the three criteria.

    Parameters
    ----------
    name : {"err", "mser", "obcc"}
        "err": share of the response's sum of squares that least squares without intercept
        explains. "mser": reduction of its mean squared error. "obcc": squared correlation of what
        is left of a candidate with the response. A constant column has none there, and is never
        chosen. It may be included: what is left of the others is then centered, and the criterion
        is that of "socc".
    """

    takes_blocks = True
    needs_rows = False
    compares_sets = True

    def __init__(self, name: str) -> None:
        self.name = name
        self.forward_for_sets = "with the constant taken first" if name == "obcc" else ""

    def start(
        self, design: Design, response: Response, weights: Rows | None = None, size: int = 1
    ) -> OrthogonalState:
        """Return the state in which nothing is selected."""
        self._check_single(design)
        weights = written_out(weights)  # so is the response
        Z, worth = self._responses(response, weights)
        u = np.ones(len(Z)) if weights is None else np.sqrt(weights)
        u /= np.linalg.norm(u)
        X, ZtX = normalize(design.matrix, np.column_stack([Z, u]), weights, design.unowned)
        penalties = self._penalties(design, weights)
        centered = self.name == "obcc"
        return OrthogonalState(X, ZtX, Z, u, worth, design.single, penalties, centered=centered)

    def _penalties(self, design: Design, weights: Floats | None) -> Floats | None:
        """Return what is added to w'w in gains, for columns of norm one; None for nothing."""
        return None

    def start_for_sets(
        self, design: Design, response: Response, weights: Rows | None = None, size: int = 1
    ) -> State:
        """Return the state in which nothing is selected, or for "obcc" the constant alone.

        What "obcc" gives a set depends on the order of its features, unless the constant comes
        first. It then is the sum of squared multiple correlations.
        """
        if self.name != "obcc":
            return self.start(design, response, weights, size)
        self._check_single(design)
        weights = written_out(weights)
        Z, worth = self._responses(response, weights)
        q = float(worth.sum())
        V = Z[:, worth > 0] / math.sqrt(q or 1.0)  # so that no gain is above one
        X, VtX = center(design.matrix, V, weights, ignored=design.unowned)
        total = len(design.features)
        candidates = Candidates(np.arange(total), design.single, {}, total)
        return ScaledState(CanonicalState(candidates, X, VtX, V, size, restarts=True), q)

    def _check_single(self, design: Design) -> None:
        if design.wide:
            name = design.features[next(iter(design.wide))].name
            raise InputError(
                f"method {self.name!r} judges single columns of numbers; feature `{name}` is a "
                f"block of several. Use method 'socc', or pass the columns one by one."
            )

    def ceiling(self, response: Response) -> float:
        """Return the number of responses that are not zero for "err"; nan for the others.

        The mean square depends on the weights, and what is left of two candidates is orthogonal
        but may be correlated.
        """
        return float(self._responses(response, None)[1].sum()) if self.name == "err" else math.nan

    def _responses(self, response: Response, weights: Floats | None) -> tuple[Floats, Floats]:
        """Return the responses at norm one, (N, q), and the most that each can add, (q,).

        Classes are their place in the order. A response that cannot be explained is zero, and can
        add nothing.
        """
        parts = [p.codes[:][:, None] if isinstance(p, Labels) else p[:] for p in response.parts]
        Y = np.hstack(parts).astype(np.float64)  # (N, q)
        if self.name == "obcc":
            counted = Y if weights is None else Y[weights > 0]
            varies = (counted != counted[0]).any(axis=0)
            return np.where(varies, centered_columns(Y, weights)[0], 0.0), varies.astype(float)
        Z, norms, exponents = _at_norm_one(Y, weights)
        if self.name == "err":
            return Z, np.where(Z.any(axis=0), 1.0, 0.0)
        total = float(len(Z)) if weights is None else float(weights.sum())
        with np.errstate(over="ignore"):
            worth = np.ldexp(norms**2 / total, 2 * exponents)
        if not np.isfinite(worth).all():
            raise InputError(
                "the mean square of y should be a double precision number for method 'mser'; it "
                "is larger than any. Rescale y, or use method 'err', which takes any scale."
            )
        return Z, worth


def _at_norm_one(Y: Floats, weights: Floats | None) -> tuple[Floats, Floats, NDArray[np.intc]]:
    """Return Y at norm one, and its norms as significand and exponent of two; zeros stay zero."""
    Y = Y if weights is None else Y * np.sqrt(weights)[:, None]
    exponents = np.frexp(np.abs(Y).max(axis=0, initial=0.0))[1]
    Y = np.ldexp(Y, -exponents)  # squares stay in range
    norms = np.linalg.norm(Y, axis=0)
    return Y / np.where(norms > 0, norms, 1.0), norms, exponents


class OrthogonalState(State):
    """Selected features and what each other one would add.

    Nothing of X is centered. Z (N, q) are the responses at norm one, u (N,) the vector of ones
    (weighted) at norm one, ZtX (q + 1, n) the products of both with the columns; `worth` (q,) is
    the most that each response can add, `single` the column of each feature. If `centered`, what is
    left of a candidate is centered before it is judged. If `among` are given, no other features are
    asked for, and none of them adds anything. Inside, gains are shares of the most that all
    responses can add. `penalties`, one for each column of norm one, are added to w'w in gains.
    """

    def __init__(
        self,
        X: ScaledMatrix,
        ZtX: Floats,
        Z: Floats,
        u: Floats,
        worth: Floats,
        single: Indices,
        penalties: Floats | None = None,
        *,
        centered: bool,
        among: Indices | None = None,
    ) -> None:
        self._X, self._single = X, single
        self._penalties = np.zeros(X.shape[1]) if penalties is None else penalties
        self._begun = X, ZtX.copy(), Z, u, worth, single
        self._fetched: dict[int, Floats] = {}  # column j -> its Gram column, (n,); for sets
        self._geometry = normed_geometry(X, Z, u, None if among is None else single[among])
        self._C, self._a = ZtX[:-1], ZtX[-1]
        self._d = np.where(X.alive, 1.0, 0.0)
        self._most = float(worth.sum())
        self._shares = worth / self._most if self._most else worth
        self._centered = centered
        arithmetic = X.matrix.arithmetic
        noise = (4.0 if arithmetic == EPS else _SUM_ROUNDINGS_FLOAT32) * arithmetic
        self._row_error = PRODUCT_ROUNDINGS * arithmetic
        self._uncertainty = Uncertainty(np.full(X.shape[1], self._row_error + noise))
        self._reach2 = 0.0  # squared, of all directions: what one rounding may do to them
        # Features without a chance: zero or constant, dependent on those taken, or taken.
        self._spent = ~X.alive[single]
        if among is not None:
            self._spent |= ~np.isin(np.arange(len(single)), among)
        self._measured = 0
        self._pending: int | None = None  # the column taken last, whose row nobody has needed yet
        if centered:
            self._spend_constants()
        self._score()

    # What a search asks

    def best(self, candidates: NDArray[np.bool_]) -> int | None:
        """Return the candidate that adds most, once every gain that matters is certain."""
        self._settle()
        while True:
            gains = np.where(candidates, self._gains, -1.0)
            top = int(gains.argmax())
            within_reach = (1 - TIE) * gains[top] - self._slack[top]
            rivals = np.flatnonzero((gains >= 0) & (gains + self._slack >= within_reach))
            doubtful = rivals[~self._trusted(rivals)]
            if doubtful.size:
                self._measure(doubtful)
                continue
            if gains[top] <= NOTHING:
                return None
            return int(rivals[gains[rivals] >= (1 - TIE) * gains[top]].min())

    def add(self, f: int) -> float:
        """Take feature f; a feature that depends on the selected ones adds nothing."""
        self._settle()
        only = np.array([f])
        if not self._spent[f] and not self._trusted(only)[0]:
            self._measure(only)
        gain = max(float(self._gains[f]), 0.0) * self._most
        self.value += gain
        self._pending = int(self._single[f])
        self._spent[f] = True
        return gain

    def gains(self) -> Floats:
        """Return what each feature would add; where the digits are gone it is measured first."""
        self._settle()
        doubtful = (self._slack > SHOWN) | ~self._independent
        self._measure(np.flatnonzero(~self._spent & ~self._fresh & doubtful))
        return np.where(self._spent, np.nan, self._gains * self._most)

    def stats(self) -> dict[str, Any]:
        """Return what was asked of the table."""
        return {"strategy": "rows", **self._X.stats(), "measured": self._measured}

    def exhausted(self) -> str:
        """Say why no candidate is left."""
        if not self._most:
            kind = "constant" if self._centered else "zero"
            return f"the response is {kind}, so there is nothing to explain."
        if not self._centered and self.value >= (1 - 1e-9) * self._most:
            return "they explain the response completely, so nothing is left to explain."
        if self._spent.all():
            kind = "constant" if self._centered else "zero"
            return (
                f"every other feature is {kind} or a linear combination of those selected "
                f"(no rank is left)."
            )
        return "no other feature adds anything to what those selected explain."

    # Sets

    def restarted(self, among: Indices | None = None) -> OrthogonalState:
        """Return the same state with nothing selected."""
        X, ZtX, Z, u, worth, single = self._begun
        again = ZtX.copy(), Z, u, worth, single, self._penalties
        return OrthogonalState(X, *again, centered=self._centered, among=among)

    def products(self) -> InnerProducts:
        """Return what sets of features are compared by."""
        X, ZtX, _, _, worth, single = self._begun
        return InnerProducts(
            [J[X.alive[J]] for J in single[:, None]],
            (ZtX[:-1] * np.sqrt(worth)[:, None]).T,
            self._fetch,
            self._fetched,
            X.block_grams,
            Objective(self._most),
            X.matrix.memory,
            is_rough=X.arithmetic != EPS,
        )

    def triangle(self, J: Indices) -> tuple[Floats, Floats, Floats]:
        """Return R and z, from real columns."""
        X, _, Z, _, worth, _ = self._begun
        return triangle_of(X, J, Z * np.sqrt(worth))

    def _fetch(self, J: list[int]) -> None:
        self._fetched.update(zip(J, self._X.gram_with_errors(np.array(J, dtype=np.intp))[0]))

    # Gains

    def _score(self) -> None:
        """Compute every feature's gain and its slack."""
        J = self._single
        left = self._d[J]
        error_C, error_left = self._uncertainty.of(J, left)
        if self._centered:
            a = self._a[J]
            left = left - a * a
            error_left = error_left + 2 * np.abs(a) * error_C
        # What is left has to stand out from what roundings of the columns taken may do to it, too:
        # from sum_s |r_s| reach_s, where the sum of r_s^2 is at most one.
        sure = _SURE * ROUNDINGS * (self._X.sizes[J] + math.sqrt(self._reach2))
        self._independent = left >= sure * sure
        squares = self._shares @ self._C[:, J] ** 2
        shrunk = left + self._penalties[J]
        self._gains, self._slack = single_gains(squares, shrunk, error_C, error_left)
        self._gains[self._spent], self._slack[self._spent] = -1.0, 0.0
        self._fresh = self._spent.copy()

    def _trusted(self, features: Indices) -> NDArray[np.bool_]:
        gains, slack = self._gains[features], self._slack[features]
        certain = self._independent[features] & (slack <= TRUSTED * gains)
        return self._fresh[features] | certain | (gains + slack <= NOTHING)

    def _measure(self, features: Indices) -> None:
        """Replace what the state knows of these features by what their real columns say."""
        if not len(features):
            return
        self._measured += len(features)
        J = self._single[features]
        found = self._geometry.measure(J)
        self._C[:, J], self._a[J], self._d[J] = found.C, found.a, found.d
        self._uncertainty.measured(J, found.d)
        self._spent[features] = np.sqrt(found.d) <= found.floors
        C, left = (found.C_centered, found.d_centered) if self._centered else (found.C, found.d)
        # What does not vary beyond its rounding has no correlation, if it is otherwise of use.
        known = np.sqrt(left) > found.floors
        shrunk = left + self._penalties[J]
        gains = np.divide(self._shares @ C**2, shrunk, out=np.zeros_like(left), where=known)
        self._gains[features] = np.where(self._spent[features], -1.0, np.minimum(gains, 1.0))
        self._fresh[features] = True
        self._slack[features] = 0.0

    def _spend_constants(self) -> None:
        """Take columns that do not vary out of the race."""
        left = 1.0 - self._a[self._single] ** 2
        doubtful = np.flatnonzero(~self._spent & (left <= _VARIES))
        if doubtful.size:
            J = self._single[doubtful]
            spreads = np.sqrt(self._geometry.measure(J).d_centered)
            self._spent[doubtful] = spreads <= ROUNDINGS * self._X.sizes[J]

    # Taking columns

    def _settle(self) -> None:
        """Orthogonalize to the column taken last; after the last step nobody asks for it."""
        j, self._pending = self._pending, None
        if j is None:
            return
        new = self._geometry.take(j)
        if new is not None:
            self._C -= np.outer(new.along, new.row)
            self._a -= new.mean * new.row
            self._d -= new.row * new.row
            self._uncertainty.grow(self._row_error, float(new.along @ new.along))
            self._reach2 += new.reach**2
        self._score()


class ScaledState(State):
    """Another state with all its gains times a factor."""

    def __init__(self, state: State, factor: float) -> None:
        self._state, self._factor = state, factor

    @property
    def value(self) -> float:  # type: ignore[override]
        """The criterion of the selected set."""
        return self._factor * self._state.value

    def best(self, candidates: NDArray[np.bool_]) -> int | None:
        return self._state.best(candidates)

    def add(self, f: int) -> float:
        return self._factor * self._state.add(f)

    def gains(self) -> Floats:
        return self._factor * self._state.gains()

    def known_gains(self) -> list[float] | None:
        gains = self._state.known_gains()
        return None if gains is None else [self._factor * gain for gain in gains]

    def stats(self) -> dict[str, Any]:
        return self._state.stats()

    def exhausted(self) -> str:
        if self._state.value >= 1 - 1e-9:
            return "they explain the response completely, so nothing is left to explain."
        return self._state.exhausted()

    def restarted(self, among: Indices | None = None) -> ScaledState:
        return ScaledState(self._state.restarted(among), self._factor)

    def products(self) -> InnerProducts:
        products = self._state.products()
        products.c = products.c * math.sqrt(self._factor)
        products.objective = Objective(self._factor)
        return products

    def triangle(self, J: Indices) -> tuple[Floats, Floats, Floats]:
        R, z, floors = self._state.triangle(J)
        return R, z * math.sqrt(self._factor), floors
