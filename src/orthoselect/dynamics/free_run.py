"""Models run on their own output, and coefficients that make such runs come near the measured.

Notation: y(k) = sum of theta_m p_m(k) over the terms m. On a free run p_m(k) is made of outputs
that were simulated before, and so the derivatives are, too:

    dy(k)/dtheta_m = p_m(k) + sum over outputs b and lags l of  dy(k)/dy_b(k-l)  dy_b(k-l)/dtheta_m

Whatever was measured before the run has no derivative.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from orthoselect.dynamics.model import LagModel, Segments
from orthoselect.matrix.base import Floats
from orthoselect.native import kernels

_FAR = 1e3  # a run that leaves so many times the largest value measured has diverged
_MOST_EVALUATIONS = 60
_TOLERANCE = 1e-9


class FreeRun(NamedTuple):
    """What a run gave."""

    outputs: Floats  # as measured before a segment, as simulated in it, (outputs, T)
    diverged: NDArray[np.int64]  # the time at which each segment left its bound, -1 if it did not
    derivatives: Floats | None  # by the coefficients, (T, outputs, terms), if asked for


def bound_of(values: Floats) -> float:
    """Return what the outputs of a run may not leave, given outputs as measured."""
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    return _FAR * largest if largest > 0 else _FAR


def run_free(
    model: LagModel, signals: Floats, segments: Segments, limit: float, *, derivatives: bool = False
) -> FreeRun:
    """Run a model on its own output over segments of time.

    Parameters
    ----------
    model : LagModel
    signals : array of shape (signals, T)
        As measured; outputs come first. Within a segment they are not looked at.
    segments : array of shape (number, 2)
        Where runs start and stop. None starts before the longest lag.
    limit : float
        A run stops where an output is larger, or no number. From there on it is NaN.
    derivatives : bool
        Whether to return those by the coefficients.
    """
    n_outputs, n_times = model.n_outputs, signals.shape[1]
    Y = np.array(signals[:n_outputs])
    for start, stop in segments.tolist():
        Y[:, start:stop] = np.nan
    D = np.zeros((n_times if derivatives else 0, n_outputs, len(model.terms)))
    diverged = np.full(len(segments), -1, dtype=np.int64)
    run: Any = _run_by_numpy if kernels() is None else kernels().free_run
    run(
        np.ascontiguousarray(signals, dtype=np.float64),
        np.ascontiguousarray(segments, dtype=np.int64),
        *model.arrays,
        model.coef,
        float(limit),
        Y,
        D,
        diverged,
    )
    return FreeRun(Y, diverged, D if derivatives else None)


def _run_by_numpy(
    S: Floats,
    segments: Segments,
    output: NDArray[np.int64],
    starts: NDArray[np.int64],
    signal: NDArray[np.int64],
    lag: NDArray[np.int64],
    theta: Floats,
    limit: float,
    Y: Floats,
    D: Floats,
    diverged: NDArray[np.int64],
) -> None:
    """Do what the kernel does, all segments side by side, one time after the other."""
    q = len(Y)
    lengths = segments[:, 1] - segments[:, 0]
    for j in range(int(lengths.max(initial=0))):
        g = np.flatnonzero((lengths > j) & (diverged < 0))
        first, k = segments[g, 0], segments[g, 0] + j
        terms, slopes = _terms_and_slopes(S, Y, first, k, starts, signal, lag, len(D) > 0)
        new = np.zeros((q, len(g)))
        for m, a in enumerate(output.tolist()):
            new[a] += theta[m] * terms[m]
        with np.errstate(invalid="ignore"):
            fine = (np.abs(new) <= limit).all(axis=0)
        diverged[g[~fine]] = k[~fine]
        Y[:, k[fine]] = new[:, fine]
        if not len(D):
            continue
        for m, a in enumerate(output.tolist()):
            D[k[fine], a, m] += terms[m][fine]
            for f, slope in slopes[m]:
                since = fine & (k - lag[f] >= first)
                by_before = D[k[since] - lag[f], signal[f]]
                D[k[since], a] += (theta[m] * slope[since])[:, None] * by_before


def _terms_and_slopes(
    S: Floats,
    Y: Floats,
    first: NDArray,
    k: NDArray,
    starts: NDArray,
    signal: NDArray,
    lag: NDArray,
    with_slopes: bool,
) -> tuple[list[Floats], list[list[tuple[int, Floats]]]]:
    """Return each term at times k, and what it changes by with each of its factors."""
    q, factors = len(Y), []
    for s, at in zip(signal, (k - each for each in lag)):
        factors.append(np.where(at >= first, Y[s, at], S[s, at]) if s < q else S[s, at])
    terms, slopes = [], []
    for a, b in pairwise(starts.tolist()):
        own = range(a, b)
        terms.append(np.prod([np.ones(len(k)), *(factors[f] for f in own)], axis=0))
        mine = [f for f in own if signal[f] < q] if with_slopes else []
        others = ([np.ones(len(k)), *(factors[g] for g in own if g != f)] for f in mine)
        slopes.append([(f, np.prod(each, axis=0)) for f, each in zip(mine, others)])
    return terms, slopes


def refine(
    model: LagModel,
    signals: Floats,
    segments: Segments,
    measured: Floats,
    roots: Floats | None = None,
) -> tuple[LagModel, Floats, Floats]:
    """Return the model whose free run comes nearest to the measured outputs, by least squares.

    Parameters
    ----------
    model : LagModel
        Where to begin: the coefficients of one-step predictions, for example.
    signals, segments : as for `run_free`
    measured : array of shape (outputs, T)
        Only outputs that have terms are compared.
    roots : array of shape (T,), optional
        Square roots of the weights of the times.

    Returns
    -------
    model : LagModel
        No worse than the one given.
    left : array of shape (residuals,)
        What its free run leaves, each output at its own scale.
    J : array of shape (residuals, terms)
        The derivatives of that.
    """
    used = np.unique(model.outputs)
    at = np.concatenate([np.arange(a, b) for a, b in segments.tolist()])
    limit = bound_of(measured[used])
    scales = np.array([measured[a, at].std() or 1.0 for a in used.tolist()])
    target = (measured[np.ix_(used, at)] / scales[:, None]).T  # (times, outputs)
    weights = np.ones((len(at), 1)) if roots is None else roots[at][:, None]
    # Coefficients may differ by orders of magnitude; steps should not.
    sizes = np.where(model.coef != 0, np.abs(model.coef), 1.0)

    def run(steps: Floats) -> FreeRun:
        return run_free(model.with_coef(steps * sizes), signals, segments, limit, derivatives=True)

    def residuals(found: FreeRun) -> Floats:
        outputs = found.outputs[np.ix_(used, at)].T / scales
        # What has diverged is as wrong as the bound: worse than any run that stays within.
        outputs = np.where(np.isfinite(outputs), outputs, target + limit / scales)
        return ((outputs - target) * weights).ravel()

    def derivatives(found: FreeRun) -> Floats:
        assert found.derivatives is not None
        J = found.derivatives[at][:, used] * (weights / scales)[:, :, None] * sizes
        return np.where(np.isfinite(J), J, 0.0).reshape(-1, len(sizes))

    kept: dict[bytes, FreeRun] = {}  # residuals and derivatives are asked for one after the other

    def remembered(steps: Floats) -> FreeRun:
        if steps.tobytes() not in kept:
            kept.clear()
            kept[steps.tobytes()] = run(steps)
        return kept[steps.tobytes()]

    begin = model.coef / sizes
    with np.errstate(over="ignore"):
        solution = least_squares(
            lambda steps: residuals(remembered(steps)),
            begin,
            jac=lambda steps: derivatives(remembered(steps)),
            method="trf",
            x_scale="jac",
            xtol=_TOLERANCE,
            ftol=_TOLERANCE,
            gtol=None,
            max_nfev=_MOST_EVALUATIONS,
        )
    refined = model.with_coef(solution.x * sizes)
    found = remembered(solution.x)
    return refined, residuals(found), derivatives(found) / sizes
