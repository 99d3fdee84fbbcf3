"""Noise terms: products that contain residuals before, selected given the process terms.

Where noise is not white, least squares is biased: what is left at k goes with y(k-1). So residuals
e(k-1), e(k-2) and so on, and their products with other signals, become candidates. Those selected
are fitted along, new residuals are made, and so on until they settle (extended least squares; Chen,
Billings and Luo 1989). Residuals are prediction errors, made one after the other: e(k) is y(k) less
the terms, noise terms with the residuals before included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from orthoselect.dynamics.free_run import bound_of, run_free
from orthoselect.dynamics.model import LagModel, segments_of
from orthoselect.dynamics.order import order_table
from orthoselect.dynamics.structure import select_terms
from orthoselect.encode.lagged import LaggedSignals
from orthoselect.errors import NotSettledWarning, warn
from orthoselect.matrix.base import Floats, Indices
from orthoselect.matrix.terms import Factor
from orthoselect.result import SelectionPath

_MOST_ROUNDS = 40
_ROUNDS_OF_CHOICE = 5  # from then on noise terms stay, so that residuals can settle
_MOST_NOISE_TERMS = 10
_SETTLED = 1e-3  # relative change of the residuals


@dataclass(frozen=True)
class LeastSquares:
    """Coefficients of some terms, and what they are known to."""

    coef: Floats  # (terms, outputs)
    errors: Floats  # standard errors, (terms, outputs)
    residuals: Floats  # (rows, outputs)


def least_squares_fit(P: Floats, Y: Floats, w: Floats | None = None) -> LeastSquares:
    """Fit Y (N, outputs) by columns P (N, terms); w are row weights."""
    root = np.ones(len(P)) if w is None else np.sqrt(w)
    sizes = np.linalg.norm(P * root[:, None], axis=0)
    sizes = np.where(sizes > 0, sizes, 1.0)
    Q, R = np.linalg.qr(P * root[:, None] / sizes)
    inverse = np.linalg.pinv(R)
    coef = inverse @ (Q.T @ (Y * root[:, None])) / sizes[:, None]
    residuals = Y - P @ coef
    free = max(1, np.count_nonzero(root) - P.shape[1])
    variances = ((residuals * root[:, None]) ** 2).sum(axis=0) / free
    spread = np.sqrt((inverse**2).sum(axis=1)) / sizes
    return LeastSquares(coef, spread[:, None] * np.sqrt(variances), residuals)


@dataclass(frozen=True)
class NoiseFit:
    """A model with noise terms, fitted.

    `signals` have the residuals as their last; `terms` are places among their terms.
    """

    signals: LaggedSignals
    path: SelectionPath
    terms: list[int]
    fit: LeastSquares


def with_residuals(signals: LaggedSignals, e: Floats, name: str, noise_lags: int) -> LaggedSignals:
    """Return signals with residuals (T,) as one more, at lags from 1 on."""
    return replace(
        signals,
        names=(*signals.names, name),
        values=np.vstack([signals.values, e]),
        lags=(*signals.lags, tuple(range(1, noise_lags + 1))),
    )


def fit_noise(
    signals: LaggedSignals,
    y: Floats,
    process: Sequence[str],
    noise_lags: int,
    order: str,
    weights: Floats | None,
) -> NoiseFit:
    """Select noise terms beside process terms until residuals settle.

    Parameters
    ----------
    signals : LaggedSignals
        Without residuals.
    y : array of shape (T,)
    process : names of terms
    noise_lags : int
        The longest lag of residuals.
    order : str
        The criterion that says how many noise terms to take.
    weights : array of shape (T,), optional
    """
    name = next(n for n in ("e", "noise", "residual", "e_") if n not in signals.names)
    blank = with_residuals(signals, np.zeros(len(y)), name, noise_lags)
    at, e = blank.at, np.zeros(len(y))
    w = None if weights is None else weights[at]
    J = [signals.term_names.index(n) for n in process]
    P = _written_out(replace(signals, sessions=blank.sessions), J, at)
    e[at] = least_squares_fit(P, y[at][:, None], w).residuals[:, 0]
    others = [n for n in signals.term_names if n not in set(process)]
    best: tuple[float, NoiseFit] | None = None
    change = np.inf
    before: list[int] | None = None
    for number in range(_MOST_ROUNDS):
        extended = with_residuals(signals, e, name, noise_lags)
        if before is None or number < _ROUNDS_OF_CHOICE:
            found = _round(extended, y, process, others, order, w)
        else:
            found = _refitted(extended, y, found, w)
        new = _prediction_errors(found, y)
        left = float((new[at] ** 2).sum())
        change = float(np.linalg.norm(new[at] - e[at]) / (np.linalg.norm(new[at]) or 1.0))
        if best is None or left < best[0]:
            best = left, found
        if change < _SETTLED and found.terms == before:
            return found
        e, before = new, found.terms
    assert best is not None
    warn(NotSettledWarning(_MOST_ROUNDS, change))
    return best[1]


def _written_out(signals: LaggedSignals, J: Sequence[int], at: Indices) -> Floats:
    model = model_of(signals, J, np.ones(len(J)))
    return model.terms_at(signals.values, at)


def _round(
    signals: LaggedSignals,
    y: Floats,
    process: Sequence[str],
    others: Sequence[str],
    order: str,
    w: Floats | None,
) -> NoiseFit:
    """Select noise terms, with these residuals, and fit all."""
    at = signals.at
    size = min(len(process) + _MOST_NOISE_TERMS, len(signals.terms) - len(others))
    full = None
    if w is not None:
        full = np.zeros(len(y))
        full[at] = w
    path = select_terms(
        signals, y[None], size, "err", include=list(process), exclude=list(others), weights=full
    )
    P = signals.matrix().columns(np.array(path.features, dtype=np.intp))
    root = np.ones(len(at)) if w is None else np.sqrt(w)
    table = order_table(P * root[:, None], y[at] * root)
    k = table.best(order, least=min(len(process), len(path)))
    fit = least_squares_fit(P[:, :k], y[at][:, None], w)
    return NoiseFit(signals, path, path.features[:k], fit)


def _refitted(signals: LaggedSignals, y: Floats, found: NoiseFit, w: Floats | None) -> NoiseFit:
    """Fit the same terms with other residuals."""
    P = signals.matrix().columns(np.array(found.terms, dtype=np.intp))
    return replace(found, signals=signals, fit=least_squares_fit(P, y[signals.at][:, None], w))


def model_of(signals: LaggedSignals, J: Sequence[int], coef: Floats) -> LagModel:
    """Return terms J of signals as a model of their first signal, which is not run."""
    terms = tuple(tuple(signals.factors[f] for f in signals.terms[j]) for j in J)
    return LagModel(0, terms, (0,) * len(terms), np.asarray(coef, dtype=np.float64))


def prediction_error_model(terms: Sequence[Sequence[Factor]], coef: Floats, e: int) -> LagModel:
    """Return the model of e(k) = y(k) - terms, where y is signal 0 and e is signal `e`.

    In it e is signal 0, and all others stand one later.
    """

    def moved(factor: Factor) -> Factor:
        return (0 if factor[0] == e else factor[0] + 1, factor[1])

    own: list[tuple[Factor, ...]] = [((1, 0),)]
    own += [tuple(moved(factor) for factor in term) for term in terms]
    return LagModel(1, tuple(own), (0,) * len(own), np.append(1.0, -np.asarray(coef)))


def _prediction_errors(found: NoiseFit, y: Floats) -> Floats:
    """Return e(k), (T,); those of the last round where the recursion diverges."""
    signals = found.signals
    e = len(signals.names) - 1
    terms = [[signals.factors[f] for f in signals.terms[j]] for j in found.terms]
    return prediction_errors(
        prediction_error_model(terms, found.fit.coef[:, 0], e),
        signals.values[:e],
        signals.sessions,
        signals.longest,
        otherwise=_spread(found.fit.residuals[:, 0], signals.at, len(y)),
    )


def _spread(values: Floats, at: Indices, n_times: int) -> Floats:
    full = np.zeros(n_times)
    full[at] = values
    return full


def prediction_errors(
    model: LagModel,
    values: Floats,
    sessions: Sequence[tuple[int, int]],
    longest: int,
    otherwise: Floats,
) -> Floats:
    """Return e(k) over time; zero where lags reach out of a session, `otherwise` if it diverges."""
    runs = [(a + longest, b) for a, b in sessions if b - a > longest]
    e = np.zeros((1, values.shape[1]))
    run = run_free(model, np.vstack([e, values]), segments_of(runs), bound_of(values[:1]))
    return otherwise if (run.diverged >= 0).any() else run.outputs[0]
