"""A fitted model: its terms by name, what they are worth, and predictions of all kinds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from orthoselect.dynamics.free_run import run_free
from orthoselect.dynamics.model import LagModel, segments_of
from orthoselect.dynamics.noise import prediction_error_model, prediction_errors
from orthoselect.errors import DivergedWarning, warn
from orthoselect.lazy import lazy
from orthoselect.matrix.base import Floats
from orthoselect.matrix.terms import Factor
from orthoselect.result.text import Backend, as_frame, as_table


@dataclass(frozen=True)
class FittedTerm:
    """One term of a model.

    Attributes
    ----------
    output : str
        The output that it belongs to.
    name : str
    err : float
        What the term added when it was selected: its error reduction ratio, if the criterion is
        "err". Of several outputs with one structure, that of all together.
    coef : float
    error : float
        The standard error of the coefficient, for residuals that are white. Those of a free run
        are mostly not, and then the true error is larger.
    factors : tuple of (signal, lag)
    is_noise : bool
        Whether residuals are among its factors.
    """

    output: str
    name: str
    err: float
    coef: float
    error: float
    factors: tuple[Factor, ...]
    is_noise: bool = False


class FittedTerms(tuple[FittedTerm, ...]):
    """The terms of a model in order of selection; prints as a table.

    Attributes
    ----------
    measure : str
        What the terms were judged by, which heads what each added: the criterion's name, or "gain"
        if they were not all judged by one.
    """

    measure: str

    def __new__(cls, terms: Iterable[FittedTerm] = (), measure: str = "err") -> Self:
        """Hold terms."""
        made = super().__new__(cls, terms)
        made.measure = measure
        return made

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a dataframe, one row a term."""
        text = ("output", "term")
        kinds = {**dict.fromkeys(text, "String"), self.measure: "Float64", "coef": "Float64"}
        rows = [(t.output, t.name, t.err, t.coef, t.error) for t in self]
        return as_frame({**kinds, "standard_error": "Float64"}, rows, backend)

    def __repr__(self) -> str:
        rows = [[t.output, t.name, f"{t.err:.8f}", f"{t.coef:.6g}", f"{t.error:.2g}"] for t in self]
        header = ["output", "term", self.measure, "coefficient", "standard error"]
        if all(np.isnan(t.error) for t in self):  # penalized coefficients have none
            header, rows = header[:-1], [row[:-1] for row in rows]
        return as_table(header, rows, left={0, 1})

    def equation(self) -> str:
        """Return the model as one equation for each output."""
        lines = []
        for output in dict.fromkeys(t.output for t in self):
            own = [t for t in self if t.output == output]
            words: list[str] = []
            for t in own:
                sign = "-" if t.coef < 0 else ("+" if words else "")
                size = f"{abs(t.coef):.6g}"
                words.append(f"{sign} {size}" if words else f"{sign}{size}")
                if t.name != "1":
                    words[-1] += f" {t.name}"
            noise = " + e(k)" if any(t.is_noise for t in own) else ""
            lines.append(f"{output}(k) = {' '.join(words)}{noise}")
        return "\n".join(lines)


@dataclass(frozen=True)
class FittedModel:
    """Terms with coefficients, of outputs y, inputs u and, for noise terms, residuals e.

    In the factors of terms signals are numbered y, u, e. `limit` is what a free run may not leave.
    """

    terms: FittedTerms
    n_outputs: int
    n_inputs: int
    longest: int
    limit: float

    @property
    def has_noise(self) -> bool:
        """Whether there are noise terms."""
        return any(t.is_noise for t in self.terms)

    @lazy
    def runnable(self) -> LagModel:
        """The model with outputs first: y, e if there are noise terms, u. A free run has e = 0."""
        q, m, extra = self.n_outputs, self.n_inputs, int(self.has_noise)

        def moved(factor: Factor) -> Factor:
            signal, lag = factor
            if signal < q:
                return factor
            return (q, lag) if signal == q + m else (signal + extra, lag)

        names = list(dict.fromkeys(t.output for t in self.terms))
        return LagModel(
            q + extra,
            tuple(tuple(map(moved, t.factors)) for t in self.terms),
            tuple(names.index(t.output) for t in self.terms),
            np.array([t.coef for t in self.terms]),
        )

    def predict(
        self,
        y: Floats,
        u: Floats,
        sessions: Sequence[tuple[int, int]],
        horizon: int | None,
        given: int | None = None,
        *,
        quiet: bool = False,
    ) -> Floats:
        """Return predictions, (outputs, T): one step ahead, restarted every `horizon`, or free.

        y (outputs, T) are the outputs as measured; the first `given` rows of each session, by
        default as many as the longest lag, are what predictions begin from, and are returned as
        they are.
        """
        first = max(self.longest, given or 0)
        runs = [(a + first, b) for a, b in sessions if b - a > first]
        q, signals = self.n_outputs, np.vstack([y, u])
        if self.has_noise:
            e = np.zeros((1, y.shape[1]))
            if horizon is not None:
                e = self.errors(y, u, sessions)[None]
            signals = np.vstack([y, e, u])
        if horizon == 1:
            at = np.concatenate([np.arange(a, b) for a, b in runs] or [np.zeros(0, dtype=np.intp)])
            result = np.array(y)
            result[:, at] = self.runnable.one_step(signals, at)[:q]
            return result
        segments = segments_of(runs, horizon)
        run = run_free(self.runnable, signals, segments, self.limit)
        where = run.diverged[run.diverged >= 0].tolist()
        if where and not quiet:
            warn(DivergedWarning(where, len(segments), self.limit))
        return run.outputs[:q]

    def errors(self, y: Floats, u: Floats, sessions: Sequence[tuple[int, int]]) -> Floats:
        """Return the one-step residuals of a model with noise terms, (T,)."""
        last = self.n_outputs + self.n_inputs
        own = [t.factors for t in self.terms]
        model = prediction_error_model(own, np.array([t.coef for t in self.terms]), last)
        nothing = np.zeros(y.shape[1])
        return prediction_errors(model, np.vstack([y, u]), sessions, self.longest, nothing)
