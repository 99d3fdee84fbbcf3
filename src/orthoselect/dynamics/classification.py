"""Classes over time: terms are selected, and a penalized logistic regression is fitted to them.

Of c classes, c - 1 indicators are signals like any other: the past of the classes. The response is
the class itself. (Solares, Wei and Billings 2019, for two classes, terms by OBCC.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Self
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from orthoselect.dynamics.fitted import FittedTerm, FittedTerms
from orthoselect.dynamics.fitting import Settings
from orthoselect.dynamics.lagged_terms import LaggedTerms
from orthoselect.dynamics.model import LagModel, segments_of
from orthoselect.dynamics.records import check_inputs, no_signals, read_signals
from orthoselect.dynamics.structure import path_of_set
from orthoselect.encode import find_labels
from orthoselect.encode.lagged import LaggedSignals, check_names, check_rows, find_sessions
from orthoselect.encode.response import TargetColumn
from orthoselect.encode.whole_numbers import have_fractions
from orthoselect.errors import InputError, SearchStoppedWarning, ShapeError
from orthoselect.matrix.base import Floats
from orthoselect.read.survey import read_target
from orthoselect.result import SelectionPath
from orthoselect.selection import select

_FOLDS = 5  # blocks of time
_SOME, _ROWS_OF_EACH = 20, 5  # more classes than that should have so many rows each
_MOST_ITERATIONS = 1000


class LogisticNARX:
    """What `NARX` fits to classes.

    Attributes
    ----------
    classes : array
    path : SelectionPath
    n_terms : int
    terms : FittedTerms
        Coefficients of the log-odds, for each class but the first of two; "1" is the intercept.
    accuracy : dict of str to float
        "one step": the share of right classes one step ahead, in blocks of time that neither terms
        nor coefficients were chosen by. "persistence": the share of rows whose class is that of the
        row before; a model that is no better has found nothing. "most frequent": that of always
        saying the class that is most frequent.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def fit(self, u: Any, y: Any, sessions: Any) -> Self:
        """Select terms and fit their coefficients."""
        columns = read_target(y, len(y))
        if len(columns) > 1:
            raise InputError(f"classes should be one column; y has {len(columns)}.")
        gaps = columns[0].missing()
        there = np.ones(len(y), dtype=bool) if gaps is None else ~gaps
        labels = (columns[0] if gaps is None else columns[0].take(there)).labels()
        self.classes = np.array(labels.levels)
        if len(self.classes) < 2:
            known = repr(labels.levels[0]) if labels.levels else "missing in all rows"
            raise InputError(f"there should be two classes or more; y is {known}.")
        _check_repeated(columns[0], len(self.classes), there)
        codes = np.zeros(len(y), dtype=np.intp)
        codes[there] = labels.codes
        inputs, self.u_names = no_signals(len(codes))
        if u is not None:
            inputs, self.u_names = read_signals(u, "u")
        if inputs.shape[1] != len(codes):
            raise ShapeError(
                f"u and y should have the same number of rows; u has {inputs.shape[1]}, y has "
                f"{len(codes)}."
            )
        several = len(self.classes) > 2
        self._y_names = [f"y={c}" for c in self.classes[1:]] if several else ["y"]
        check_names([*self._y_names, *self.u_names])
        values = np.vstack([self._indicators(codes), inputs])
        values[: len(self._y_names), ~there] = np.nan  # so that a session ends
        s = self._settings
        lags = (s.y_lags,) * len(self._y_names) + (s.u_lags,) * len(inputs)
        names = (*self._y_names, *self.u_names)
        spans = find_sessions(sessions, len(codes), values)
        signals = LaggedSignals(names, values, lags, s.degree, spans)
        if not signals.factors:
            raise InputError("there should be lags of outputs or of inputs; there are none.")
        check_rows(signals)
        self.longest = signals.longest
        size = s.n_terms or min(s.max_terms, max(1, len(signals.at) // 10))
        self.path = self._select(signals, codes, size)
        self._choose(signals, codes, size)

        def walk(names: Sequence[str]) -> SelectionPath:
            others = [name for name in signals.term_names if name not in set(names)]
            return self._select(signals, codes, len(names), exclude=others)

        self.path = path_of_set(self.path, self.n_terms, walk)
        J = self.path.features[: self.n_terms]
        self._model = _lag_model(signals, J)
        regression = _fitted(self._model.terms_at(values, signals.at), codes[signals.at])
        scaler, logistic = regression[0], regression[1]
        self._weights = logistic.coef_ / scaler.scale_  # of the terms as they are
        self._intercepts = logistic.intercept_ - self._weights @ scaler.mean_
        self._note_baselines(codes, signals)
        self.terms = self._terms()
        self.coef = np.array([term.coef for term in self.terms])
        return self

    def _indicators(self, codes: NDArray) -> Floats:
        return (codes[None] == np.arange(1, len(self.classes))[:, None]).astype(float)

    def _select(
        self,
        signals: LaggedSignals,
        codes: NDArray,
        size: int,
        exclude: Sequence[str] | None = None,
    ) -> SelectionPath:
        s = self._settings
        exclude = list(s.exclude if exclude is None else exclude)
        with catch_warnings():
            simplefilter("ignore", SearchStoppedWarning)  # it is in the path
            path = select(
                LaggedTerms.of(signals, [codes]),
                None,
                min(size, len(signals.terms) - len(exclude)),
                method=s.criterion,
                task="classification",
                include=list(s.include) or None,
                exclude=exclude or None,
                search=s.search,
            )
        if not len(path):
            raise InputError(f"there should be a term that explains something; {path.stopped}")
        return path

    def _choose(self, signals: LaggedSignals, codes: NDArray, size: int) -> None:
        """Find how many terms do best in blocks of time that they were not selected on."""
        hits: dict[int, list[float]] = {}
        for train, test in _blocks(signals):
            if len(np.unique(codes[train.at])) < 2 or not len(test.at):
                continue
            path = self._select(train, codes, size)
            sets = path.by_size[-1:] if self._settings.n_terms else path.by_size
            for one in sets:
                model = _lag_model(signals, one.features)
                A, B = (model.terms_at(signals.values, part.at) for part in (train, test))
                found = _fitted(A, codes[train.at]).predict(B)
                hits.setdefault(one.size, []).append(float(np.mean(found == codes[test.at])))
        means = {k: float(np.mean(each)) for k, each in sorted(hits.items())}
        best = max(means, key=means.__getitem__) if means else len(self.path)
        self.n_terms = len(self.path) if self._settings.n_terms else min(best, len(self.path))
        self.accuracy = {"one step": means.get(best, float("nan"))}

    def _note_baselines(self, codes: NDArray, signals: LaggedSignals) -> None:
        starts = [start for start, _ in signals.sessions]
        at = signals.at[~np.isin(signals.at, starts)]  # the row before is of the same session
        self.accuracy["persistence"] = float(np.mean(codes[at] == codes[at - 1]))
        counts = np.bincount(codes[signals.at])
        self.accuracy["most frequent"] = float(counts.max() / counts.sum())

    def _terms(self) -> FittedTerms:
        about = self.classes[1:] if len(self._weights) == 1 else self.classes
        terms = []
        for label, row, constant in zip(about, self._weights, self._intercepts):
            terms.append(FittedTerm(str(label), "1", 0.0, float(constant), np.nan, ()))
            for step, c, factors in zip(self.path, row, self._model.terms):
                terms.append(
                    FittedTerm(str(label), step.name, step.gain, float(c), np.nan, factors)
                )
        return FittedTerms(terms, self._settings.criterion)

    def equation(self) -> str:
        """Return the log-odds of each class."""
        lines = self.terms.equation().splitlines()
        return "\n".join(f"log-odds of {line}" for line in lines)

    def predict(
        self, u: Any, y0: Any, horizon: int | None, sessions: Any, n_rows: int | None
    ) -> NDArray:
        """Return the most probable class of each row; those that were given as they are."""
        return self.classes[self.predict_proba(u, y0, horizon, sessions, n_rows).argmax(axis=1)]

    def predict_proba(
        self, u: Any, y0: Any, horizon: int | None, sessions: Any, n_rows: int | None
    ) -> Floats:
        """Return the probability of each class, (T, classes)."""
        inputs = check_inputs(u, self.u_names)
        codes = self._given(y0)
        n_times = inputs.shape[1] if self.u_names else int(n_rows or len(codes))
        inputs = inputs if self.u_names else np.zeros((0, n_times))
        whole = len(codes) == n_times
        if len(codes) > n_times:
            raise ShapeError(
                f"`y0` should not have more rows than are predicted, {n_times}; it has "
                f"{len(codes)}."
            )
        if not whole and (horizon is not None or sessions is not None):
            raise InputError(
                f"with a horizon or several sessions `y0` should have all {n_times} rows, as "
                f"measured; it has {len(codes)}."
            )
        first = self.longest if whole else len(codes)
        full = np.zeros(n_times, dtype=np.intp)
        full[: len(codes)] = codes
        spans = find_sessions(sessions, n_times, np.zeros((1, n_times)))
        runs = [(a + first, b) for a, b in spans if b - a > first]
        return self._run(full, inputs, segments_of(runs, horizon))

    def _given(self, y0: Any) -> NDArray:
        if y0 is None:
            raise InputError(
                f"`y0` should hold the classes of the first {self.longest} row(s), which "
                f"predictions begin from; got None."
            )
        labels = find_labels(np.asarray(y0), "`y0`")
        places = {c: k for k, c in enumerate(self.classes.tolist())}
        unknown = [level for level in labels.levels if level not in places]
        if unknown:
            raise InputError(f"`y0` should hold known classes; {unknown[0]!r} is not one of them.")
        if len(labels.codes) < self.longest:
            raise InputError(
                f"`y0` should have at least as many rows as the longest lag, {self.longest}; it "
                f"has {len(labels.codes)}."
            )
        return np.array([places[level] for level in labels.levels], dtype=np.intp)[labels.codes]

    def _run(self, codes: NDArray, inputs: Floats, segments: NDArray) -> Floats:
        """Return probabilities; all segments side by side, one time after the other."""
        P = np.zeros((len(codes), len(self.classes)))
        P[np.arange(len(codes)), codes] = 1.0
        lengths = segments[:, 1] - segments[:, 0]
        # Within a segment classes are the model's own; before it they are as measured. Segments
        # follow each other, so a later one must not see what an earlier one has predicted.
        measured = np.vstack([self._indicators(codes), inputs])
        own = measured.copy()
        for j in range(int(lengths.max(initial=0))):
            k = segments[lengths > j, 0] + j
            first = segments[lengths > j, 0]
            A = self._terms_at(own, measured, k, first)
            P[k] = _probabilities(A @ self._weights.T + self._intercepts)
            own[: len(self.classes) - 1, k] = self._indicators(P[k].argmax(axis=1))
        return P

    def _terms_at(self, own: Floats, measured: Floats, k: NDArray, first: NDArray) -> Floats:
        A = np.ones((len(k), len(self._model.terms)))
        for m, term in enumerate(self._model.terms):
            for signal, lag in term:
                at = k - lag
                A[:, m] *= np.where(at >= first, own[signal, at], measured[signal, at])
        return A

    def score(self, u: Any, y: Any, sessions: Any, horizon: int | None) -> float:
        """Return the share of right classes of rows that are predicted."""
        found = self.predict(u, y, horizon, sessions, None)
        n_times = len(found)
        spans = find_sessions(sessions, n_times, np.zeros((1, n_times)))
        at = np.concatenate([np.arange(min(a + self.longest, b), b) for a, b in spans])
        return float(np.mean(found[at] == np.asarray(y)[at]))


def _check_repeated(column: TargetColumn, c: int, there: NDArray[np.bool_]) -> None:
    """Raise for what is rather a quantity than c classes, in rows that are there."""
    n_rows = int(there.sum())
    if c > _SOME and (
        n_rows < _ROWS_OF_EACH * c or have_fractions([column], there.astype(np.float64))
    ):
        raise InputError(
            f"classes should repeat; y has {c} distinct values in {n_rows} rows. If it is a "
            f"quantity pass `task='regression'`; else merge rare classes."
        )


def _probabilities(odds: Floats) -> Floats:
    """Return the probability of each class, given its log-odds; of two classes, the second's."""
    if odds.shape[1] == 1:
        odds = np.column_stack([np.zeros(len(odds)), odds[:, 0]])
    P = np.exp(odds - odds.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)


def _fitted(A: Floats, codes: NDArray) -> Any:
    """Fit a logistic regression, penalized: classes that terms tell apart need no infinity."""
    regression = LogisticRegression(max_iter=_MOST_ITERATIONS)
    return make_pipeline(StandardScaler(), regression).fit(A, codes)


def _lag_model(signals: LaggedSignals, J: Sequence[int]) -> LagModel:
    terms = tuple(tuple(signals.factors[f] for f in signals.terms[j]) for j in J)
    return LagModel(0, terms, (0,) * len(terms), np.ones(len(terms)))


def _blocks(signals: LaggedSignals) -> list[tuple[LaggedSignals, LaggedSignals]]:
    """Cut time into blocks; return signals without and with only each of them.

    What is left before and after a block are sessions of their own, so that no term of one side
    holds values of the other.
    """
    edges = np.linspace(0, signals.values.shape[1], _FOLDS + 1).astype(int)
    found = []
    for start, stop in pairwise(edges.tolist()):
        inside = tuple(
            (max(a, start), min(b, stop)) for a, b in signals.sessions if a < stop and b > start
        )
        outside = []
        for a, b in signals.sessions:
            outside += [(a, min(b, start))] * (a < start) + [(max(a, stop), b)] * (b > stop)
        train = replace(signals, sessions=tuple(outside))
        if len(train.at) >= 2:
            found.append((train, replace(signals, sessions=inside)))
    return found
