"""Errors of leaving each row out, along columns that are taken one after the other.

Notation: Y (N, q) the responses, Q (N, k) an orthonormal basis of the columns taken, e what is left
of a response, h_i the leverage of row i: the sum over the basis of its squared share.

If row i is left out, its error is e_i / (1 - h_i), exactly; no model is fitted again. A coefficient
that is shrunk, by s = w'w / (w'w + penalty) for an orthogonal column w, takes off s times what it
would, and counts s times in the leverage.
"""

from __future__ import annotations

import numpy as np

from orthoselect.matrix.base import Floats

NOTHING_LEFT = 1e-12  # with less than this left by its leverage, a row alone decides its own fit


class LeaveOneOut:
    """What is left of responses, and the errors of leaving rows out, direction by direction.

    `E` (N, q) is what is left of the responses, `leverages` (N,) those of the directions so far;
    `add` changes both. With weights, numbers of copies of which one is left out, rows of Y and of
    directions are times `root`.
    """

    def __init__(self, Y: Floats, root: Floats | None = None) -> None:
        self.E = Y.copy()
        self.leverages = np.zeros(len(Y))
        self._copies = 1.0 if root is None else np.where(root > 0, root * root, 1.0)

    def add(self, q: Floats, shrinkage: float = 1.0) -> None:
        """Take in a direction q (N,), of norm one and orthogonal to those before."""
        self.E -= np.outer(q, shrinkage * (q @ self.E))
        if shrinkage == 1.0:
            self.E -= np.outer(q, q @ self.E)  # what rounding left
        self.leverages += shrinkage * q * q

    @property
    def rss(self) -> float:
        """The sum of squares that is left."""
        return float((self.E * self.E).sum())

    @property
    def press(self) -> float:
        """The sum of squared errors of leaving rows out; nan if one decides its own fit."""
        left = 1.0 - self.leverages / self._copies
        left = np.where(left > NOTHING_LEFT, left, np.nan)
        return float(((self.E / left[:, None]) ** 2).sum())
