"""From records to a fitted model: select, decide how many, fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.linalg import qr

from orthoselect.dynamics.fitted import FittedModel, FittedTerm, FittedTerms
from orthoselect.dynamics.free_run import bound_of, refine, run_free
from orthoselect.dynamics.model import LagModel, segments_of
from orthoselect.dynamics.noise import fit_noise, least_squares_fit
from orthoselect.dynamics.order import FREE_RUN, OrderTable, order_table
from orthoselect.dynamics.records import Records, Sessions
from orthoselect.dynamics.structure import path_of_set, select_terms
from orthoselect.encode.lagged import LaggedSignals, check_rows
from orthoselect.errors import (
    DoubtfulOrderWarning,
    InputError,
    OversampledWarning,
    TooManyRequestedWarning,
    warn,
)
from orthoselect.matrix.base import Floats
from orthoselect.result import SelectionPath

_HELD_OUT = 4  # one in so many sessions, or rows of the only one
_BLOCKS = 10  # of time, that held-out rows are cut into: errors of free runs differ between them


@dataclass(frozen=True)
class Settings:
    """What the parameters of an estimator say, checked."""

    n_terms: int | None  # None: as the order says
    y_lags: tuple[int, ...]
    u_lags: tuple[int, ...]
    degree: int
    noise_lags: int
    criterion: str
    search: str
    order: str
    rule: str  # by which free runs choose
    fits_free_run: bool
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    max_terms: int
    shares_structure: bool

    def signals_of(self, records: Records) -> LaggedSignals:
        """Return the signals of records, outputs first, and their lags."""
        signals = LaggedSignals(
            (*records.y_names, *records.u_names),
            np.vstack([records.y, records.u]),
            (self.y_lags,) * len(records.y) + (self.u_lags,) * len(records.u),
            self.degree,
            records.sessions,
        )
        if not signals.factors:
            raise InputError("there should be lags of outputs or of inputs; there are none.")
        check_rows(signals)
        return signals


@dataclass(frozen=True)
class FittedOutputs:
    """Some outputs with one structure between them, fitted."""

    outputs: list[int]
    path: SelectionPath
    table: OrderTable
    n_terms: int
    terms: list[FittedTerm]


def fit_model(
    settings: Settings, records: Records, weights: Floats | None
) -> tuple[FittedModel, list[FittedOutputs]]:
    """Fit a model to records; weights are one for each time."""
    signals = settings.signals_of(records)
    together = [list(range(len(records.y)))]
    alone = [[a] for a in range(len(records.y))]
    groups = together if settings.shares_structure else alone
    parts = [_fit_part(settings, records, signals, outputs, weights) for outputs in groups]
    terms = [term for part in parts for term in part.terms]
    terms.sort(key=lambda term: records.y_names.index(term.output))
    longest = max(signals.longest, settings.noise_lags)
    # Noise terms are selected by ERR, whatever the others are.
    alike = settings.criterion == "err" or not any(term.is_noise for term in terms)
    found = FittedTerms(terms, settings.criterion if alike else "gain")
    model = FittedModel(found, len(records.y), len(records.u), longest, bound_of(records.y))
    if settings.fits_free_run:
        model = _refined(model, records, weights)
    return model, parts


def _fit_part(
    settings: Settings,
    records: Records,
    signals: LaggedSignals,
    outputs: list[int],
    weights: Floats | None,
) -> FittedOutputs:
    size = settings.n_terms or settings.max_terms
    available = len(signals.terms) - len(settings.exclude)
    if settings.n_terms and settings.n_terms > available > 0:
        warn(TooManyRequestedWarning(settings.n_terms, available, "n_terms", "term"))
    # A path is no longer than there are rows to tell terms apart.
    size = max(min(size, len(signals.at) // 2), 1, len(settings.include))
    Y = records.y[outputs]
    path = _path(settings, signals, Y, size, weights)
    features, sets = _sets_of(path)
    P, y, root = _columns(signals, features, Y, weights)
    table = order_table(P * root[:, None], y * root[:, None], sets)
    least = max(1, len(settings.include))
    if settings.n_terms is None and settings.order == FREE_RUN:
        table = _with_free_runs(settings, records, signals, outputs, table, size, weights)
    order = settings.order if settings.order in table.values else "bic"
    k = len(path) if settings.n_terms else table.best(order, least, settings.rule)
    k = min(k, len(path))
    if settings.n_terms is None:
        _check_order_is_clear(order, k, least, path, signals, size)
        path = _path_of_size(settings, signals, Y, path, k, weights)
    P = P[:, [features.index(f) for f in path.features[:k]]]
    if settings.noise_lags:
        return _with_noise(settings, records, signals, outputs, path, table, k, weights)
    fit = least_squares_fit(P, y, None if weights is None else weights[signals.at])
    terms = [
        FittedTerm(
            records.y_names[a],
            step.name,
            step.gain,
            float(fit.coef[m, o]),
            float(fit.errors[m, o]),
            tuple(signals.factors[f] for f in signals.terms[step.feature]),
        )
        for o, a in enumerate(outputs)
        for m, step in enumerate(path[:k])
    ]
    return FittedOutputs(outputs, path, table, k, terms)


def _check_order_is_clear(
    order: str, k: int, least: int, path: SelectionPath, signals: LaggedSignals, size: int
) -> None:
    """Warn where a criterion that chose k terms had too little to choose by."""
    n_rows, n_candidates = len(signals.at), len(signals.terms)
    # A path that ended by itself, with all explained or all terms taken, has no more to offer.
    at_end = least < k == len(path) == size < n_candidates
    if at_end or n_rows < n_candidates:
        warn(DoubtfulOrderWarning(order, k, n_rows, n_candidates))


def _path(
    settings: Settings, signals: LaggedSignals, Y: Floats, size: int, weights: Floats | None
) -> SelectionPath:
    path = select_terms(
        signals,
        Y,
        size,
        settings.criterion,
        include=settings.include,
        exclude=settings.exclude,
        search=settings.search,
        weights=weights,
    )
    if not len(path):
        raise InputError(f"there should be a term that explains something; {path.stopped}")
    return path


def _path_of_size(
    settings: Settings,
    signals: LaggedSignals,
    Y: Floats,
    path: SelectionPath,
    size: int,
    weights: Floats | None,
) -> SelectionPath:
    """Return the path of the best set of a size, or a path whose first steps are that set."""

    def walk(names: Sequence[str]) -> SelectionPath:
        others = tuple(name for name in signals.term_names if name not in set(names))
        with catch_warnings():
            simplefilter("ignore", OversampledWarning)  # it was said of the whole path
            return _path(replace(settings, exclude=others), signals, Y, size, weights)

    return path_of_set(path, size, walk)


def _sets_of(path: SelectionPath) -> tuple[list[int], list[list[int]] | None]:
    """Return the terms of all sets of a path, and the places of each set among them.

    There are no places where sets are the first steps of the path.
    """
    if path.certificate is None:
        return path.features, None
    found = [one.features for one in path.by_size if len(one.features) == one.size]
    features = sorted({f for each in found for f in each})
    return features, [[features.index(f) for f in each] for each in found]


def _columns(
    signals: LaggedSignals, features: Sequence[int], Y: Floats, weights: Floats | None
) -> tuple[Floats, Floats, Floats]:
    """Return terms written out, (N, terms), the outputs, (N, outputs), and roots of weights."""
    at = signals.at
    P = signals.matrix().columns(np.array(features, dtype=np.intp))
    root = np.ones(len(at)) if weights is None else np.sqrt(weights[at])
    return P, Y[:, at].T, root


def _with_noise(
    settings: Settings,
    records: Records,
    signals: LaggedSignals,
    outputs: list[int],
    path: SelectionPath,
    table: OrderTable,
    k: int,
    weights: Floats | None,
) -> FittedOutputs:
    order = settings.order if settings.order != FREE_RUN else "bic"
    found = fit_noise(
        signals, records.y[outputs[0]], path.names[:k], settings.noise_lags, order, weights
    )
    extended, own = found.signals, found.fit
    e = len(extended.names) - 1
    gains = dict(zip(found.path.names, found.path.gains)) | dict(zip(path.names, path.gains))
    terms = []
    for m, j in enumerate(found.terms):
        factors = tuple(extended.factors[f] for f in extended.terms[j])
        name = extended.term_names[j]
        terms.append(
            FittedTerm(
                records.y_names[outputs[0]],
                name,
                gains[name],
                float(own.coef[m, 0]),
                float(own.errors[m, 0]),
                factors,
                any(signal == e for signal, _ in factors),
            )
        )
    return FittedOutputs(outputs, path, table, k, terms)


def _refined(model: FittedModel, records: Records, weights: Floats | None) -> FittedModel:
    """Return the model with coefficients fitted to the free run."""
    runnable = model.runnable
    extra = np.zeros((int(model.has_noise), records.n_times))
    signals = np.vstack([records.y, extra, records.u])
    runs = [(a + model.longest, b) for a, b in records.sessions if b - a > model.longest]
    root = None if weights is None else np.sqrt(weights)
    measured = np.vstack([records.y, extra])
    better, left, J = refine(runnable, signals, segments_of(runs), measured, root)
    variance = float(left @ left) / max(1, len(left) - J.shape[1])
    spread = np.sqrt(variance * np.diag(np.linalg.pinv(J.T @ J)))
    terms = [
        replace(term, coef=float(c), error=float(s))
        for term, c, s in zip(model.terms, better.coef, spread)
    ]
    return replace(model, terms=FittedTerms(terms, model.terms.measure))


# How many terms, by free runs over rows that were held out


def hold_out(sessions: Sessions, longest: int) -> tuple[Sessions, Sessions]:
    """Cut off the last quarter: of the sessions or, if there is one, of its rows.

    Examples
    --------
    >>> hold_out(((0, 100),), 3)
    (((0, 75),), ((75, 100),))
    """
    long = tuple((a, b) for a, b in sessions if b - a > longest)
    if len(long) > 1:
        kept = max(1, len(long) - max(1, len(long) // _HELD_OUT))
        return long[:kept], long[kept:]
    start, stop = long[0]
    cut = stop - (stop - start) // _HELD_OUT
    if cut - start <= 2 * longest + 2 or stop - cut <= longest + 1:
        raise InputError(
            f"`order='free-run'` needs rows to hold out; {stop - start} rows with lags up to "
            f"{longest} are too few. Use another order, 'bic' for one."
        )
    return ((start, cut),), ((cut, stop),)


def _with_free_runs(
    settings: Settings,
    records: Records,
    signals: LaggedSignals,
    outputs: list[int],
    table: OrderTable,
    size: int,
    weights: Floats | None,
) -> OrderTable:
    """Return the table with the errors of free runs, of terms selected on the other rows."""
    train, test = hold_out(records.sessions, signals.longest)
    known = replace(signals, sessions=train)
    Y = records.y[outputs]
    path = _path(settings, known, Y, min(size, max(1, len(known.at) // 2)), weights)
    features, sets = _sets_of(path)
    P, y, root = _columns(known, features, Y, weights)
    Q, R = qr(P * root[:, None], mode="economic", check_finite=False)
    along = Q.T @ (y * root[:, None])
    runs = [(a + signals.longest, b) for a, b in test if b - a > signals.longest]
    squares = {}
    for places in sets or [list(range(k)) for k in range(1, len(path) + 1)]:
        coef = np.linalg.lstsq(R[:, places], along, rcond=None)[0]  # (k, outputs)
        chosen = [features[place] for place in places]
        squares[len(places)] = _squares_of(
            settings, records, known, outputs, chosen, coef, train, runs
        )
    errors = {size: float(np.sqrt(np.mean(found))) for size, found in squares.items()}
    values = {**table.values, FREE_RUN: tuple(errors.get(k, np.nan) for k in table.sizes)}
    blocks = {
        size: tuple(float(part.mean()) for part in np.array_split(found, _BLOCKS) if len(part))
        for size, found in squares.items()
    }
    return replace(table, values=values, blocks=blocks)


def _squares_of(
    settings: Settings,
    records: Records,
    signals: LaggedSignals,
    outputs: list[int],
    features: Sequence[int],
    coef: Floats,
    train: Sessions,
    runs: Sequence[tuple[int, int]],
) -> Floats:
    """Return squared errors of the free run of terms with coefficients, infinite if it diverges.

    They are means over the outputs, one for each time. Other outputs, which are not run along, are
    as measured.
    """
    # The outputs that are run have to stand first.
    order = [*outputs, *(s for s in range(len(signals.names)) if s not in outputs)]
    place = {s: i for i, s in enumerate(order)}
    own = [
        tuple((place[s], lag) for s, lag in (signals.factors[f] for f in signals.terms[j]))
        for j in features
    ]
    model = LagModel(
        len(outputs),
        tuple(own * len(outputs)),
        tuple(o for o in range(len(outputs)) for _ in own),
        np.ascontiguousarray(coef.T.ravel()),
    )
    values = signals.values[order]
    if settings.fits_free_run:
        spans = [(a + signals.longest, b) for a, b in train if b - a > signals.longest]
        model = refine(model, values, segments_of(spans), values[: len(outputs)])[0]
    run = run_free(model, values, segments_of(runs), bound_of(records.y))
    at = np.concatenate([np.arange(a, b) for a, b in runs])
    if (run.diverged >= 0).any():
        return np.full(len(at), np.inf)
    left = run.outputs[:, at] - values[: len(outputs)][:, at]
    if len(outputs) > 1:
        left /= values[: len(outputs)][:, at].std(axis=1, keepdims=True)
    return np.mean(left**2, axis=0)
