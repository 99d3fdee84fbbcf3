"""A model as its terms and their coefficients, in the form that it is run in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from orthoselect.lazy import lazy
from orthoselect.matrix.base import Floats
from orthoselect.matrix.terms import Factor

Segments = NDArray[np.int64]  # (number, 2): times at which runs start and stop


@dataclass(frozen=True)
class LagModel:
    """Each output is a sum of terms; a term is a coefficient times signals at lags.

    Signals are numbered, outputs first. An output without terms is zero wherever it is run.

    Attributes
    ----------
    n_outputs : int
    terms : tuple of tuples of (signal, lag)
        The factors of each term.
    outputs : tuple of int
        The output that each term belongs to.
    coef : array of shape (number of terms,)
    """

    n_outputs: int
    terms: tuple[tuple[Factor, ...], ...]
    outputs: tuple[int, ...]
    coef: Floats

    def with_coef(self, coef: Floats) -> LagModel:
        """Return the same terms with other coefficients."""
        return replace(self, coef=np.ascontiguousarray(coef, dtype=np.float64))

    @property
    def longest(self) -> int:
        """The longest lag of any factor."""
        return max((lag for term in self.terms for _, lag in term), default=0)

    @lazy
    def arrays(self) -> tuple[NDArray[np.int64], ...]:
        """The outputs of the terms, where their factors start, the signals and lags of factors."""
        sizes = [len(term) for term in self.terms]
        factors = [factor for term in self.terms for factor in term]
        signals, lags = zip(*factors) if factors else ((), ())
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return tuple(np.array(a, dtype=np.int64) for a in (self.outputs, starts, signals, lags))

    def terms_at(self, signals: Floats, at: NDArray[np.intp]) -> Floats:
        """Return the terms at some times, from the signals as they are, (len(at), terms)."""
        A = np.ones((len(at), len(self.terms)), order="F")
        for m, term in enumerate(self.terms):
            for signal, lag in term:
                A[:, m] *= signals[signal, at - lag]
        return A

    def one_step(self, signals: Floats, at: NDArray[np.intp]) -> Floats:
        """Return the outputs at some times, from the signals as they are, (outputs, len(at))."""
        parts = self.terms_at(signals, at) * self.coef
        result = np.zeros((self.n_outputs, len(at)))
        for m, output in enumerate(self.outputs):
            result[output] += parts[:, m]
        return result


def segments_of(runs: Sequence[tuple[int, int]], horizon: int | None = None) -> Segments:
    """Return where to start and stop: at the ends of runs and, within, every `horizon` times.

    Examples
    --------
    >>> segments_of([(0, 5), (8, 10)], 3).tolist()
    [[0, 3], [3, 5], [8, 10]]
    """
    cut = [
        (start, min(start + (horizon or stop - first), stop))
        for first, stop in runs
        for start in range(first, stop, horizon or max(stop - first, 1))
    ]
    return np.array(cut, dtype=np.int64).reshape(-1, 2)
