"""`NARX`: terms are selected, how many is decided, coefficients are fitted; then it predicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from orthoselect.dynamics.classification import LogisticNARX
from orthoselect.dynamics.fitting import Settings, fit_model
from orthoselect.dynamics.order import check_order, check_rule
from orthoselect.dynamics.records import (
    Records,
    check_inputs,
    read_records,
    read_signals,
)
from orthoselect.dynamics.validation import Validation, correlation_tests
from orthoselect.encode.lagged import as_input_lags, as_lags, check_degree, find_sessions
from orthoselect.encode.response import check_choice
from orthoselect.encode.weights import check_weights
from orthoselect.errors import GapsInPastWarning, InputError, ShapeError, warn
from orthoselect.matrix.base import Floats
from orthoselect.plots import draw_simulation
from orthoselect.roles import is_whole

CRITERIA = ("auto", "err", "mser", "socc", "obcc")
CENTERED = ("socc", "obcc")
FITS = ("one-step", "free-run")
STRUCTURES = ("one", "each")
TASKS = ("regression", "classification")


def _classifies(model: NARX) -> bool:
    return model.task == "classification"


class NARX(RegressorMixin, BaseEstimator):
    """A polynomial model of a signal by its own past and by inputs, whose terms are selected.

    y(k) is a sum of terms, products of y(k-1), y(k-2), ..., u(k), u(k-1), ... (NARX), and of the
    residuals e(k-1), ... (NARMAX). Terms are selected by the error reduction ratio, and one path
    decides how many there are. The coefficients are those of least squares, or those whose free run
    comes nearest to the measured signal.

    Parameters
    ----------
    n_terms : int or "auto", default="auto"
        How many process terms; "auto": as `order` says.
    y_lags : int or list of int, default=3
        The longest lag of outputs, or all lags, from 1 on. 0: none (NFIR).
    u_lags : int or list of int, default=3
        The longest lag of inputs, or all lags. Where it is an int they begin at `delay`.
    delay : int, default=0
        The shortest lag of inputs. 0: u(k) acts on y(k) at once, which many sampled systems need.
    degree : int, default=3
        The most factors of a term.
    noise_lags : int, default=0
        The longest lag of residuals in noise terms. 0: no noise terms.
    criterion : {"auto", "err", "mser", "socc", "obcc"}, default="auto"
        What terms are judged by. "auto": "err", and "socc" for classes, which take "socc" and
        "obcc" only. These two are correlations, about means, so the constant is then the first
        term of a model of numbers, and counts as one, unless it is excluded.
    search : str, default="swap"
        How sets of terms are searched; as of `orthoselect.select`. "swap" exchanges terms of the
        forward path as long as that is better, for every number of terms. So a term that was taken
        early is dropped if later ones make it needless. "forward" takes terms one by one and is
        several times faster; it is what papers mean by ERR.
    order : {"aic", "aicc", "bic", "fpe", "apress", "press", "free-run"}, default="bic"
        What decides how many terms there are if `n_terms` is "auto". "free-run": the error of the
        free run over the last quarter of the sessions, or of the only one, which terms and
        coefficients are not chosen by; then all rows are used. Classes: the number with the most
        right classes in blocks of time, whatever the order, which has to be left at "bic".
    rule : {"one_se", "best"}, default=None
        Of the order "free-run": "best" takes the number of terms whose error is smallest, "one_se"
        the smallest number whose mean squared error is larger by at most one standard error of the
        difference, over ten blocks of the rows held out. None: "one_se". On simulated systems
        neither predicts better than the other.
    fit : {"one-step", "free-run"}, default="one-step"
        What coefficients are fitted to.
    include, exclude : names of terms, default=()
        Terms taken first, and terms never taken: ``"y(k-1)"``, ``"1"``; factors in any order.
    max_terms : int, default=30
        How far the path goes if `n_terms` is "auto".
    structure : {"one", "each"}, default="one"
        Of several outputs: one structure for all of them, or one for each.
    task : {"regression", "classification"}, default="regression"
        "classification": y are classes; terms are selected and a penalized logistic regression is
        fitted to them (logistic NARX).

    Attributes
    ----------
    path_ : SelectionPath, or list of them if each output has its own structure
        Of the terms; by forward search it goes on beyond those that are kept.
    terms_ : FittedTerms
        Name, what it added (ERR by "err"), coefficient and standard error of each term.
    equation_ : str
    coef_ : array of shape (number of terms,)
    n_terms_ : int
        Process terms; of the first output if each has its own.
    order_ : OrderTable, or list of them
        What each number of terms is worth by every criterion.
    longest_lag_ : int
        How many rows a prediction has to begin from.
    n_features_in_ : int
        Inputs.
    classes_ : array
        Only of classification.

    See Also
    --------
    orthoselect.LaggedTerms : The candidates alone, for `orthoselect.select`.

    References
    ----------
    S. Chen, S. A. Billings and W. Luo, "Orthogonal least squares methods and their application to
    non-linear system identification", International Journal of Control 50, 1989.
    https://doi.org/10.1080/00207178908953472

    Examples
    --------
    >>> import numpy as np
    >>> from orthoselect import NARX
    >>> rng = np.random.default_rng(0)
    >>> u, y = rng.normal(size=600), np.zeros(600)
    >>> for k in range(2, 600):
    ...     y[k] = 0.5 * y[k - 1] + u[k - 1] - 0.2 * u[k] * y[k - 2] + 0.01 * rng.normal()
    >>> model = NARX(y_lags=2, u_lags=2, degree=2).fit(u[:400], y[:400])
    >>> [term.name for term in model.terms_]
    ['u(k-1)', 'y(k-1)', 'y(k-2) u(k)']
    >>> free = model.predict(u[400:], y0=y[400:402])
    >>> bool(np.abs(free - y[400:]).max() < 0.1)
    True
    """

    def __init__(
        self,
        n_terms: int | str = "auto",
        *,
        y_lags: Any = 3,
        u_lags: Any = 3,
        delay: int = 0,
        degree: int = 3,
        noise_lags: int = 0,
        criterion: str = "auto",
        search: str = "swap",
        order: str = "bic",
        rule: str | None = None,
        fit: str = "one-step",
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        max_terms: int = 30,
        structure: str = "one",
        task: str = "regression",
    ) -> None:
        self.n_terms = n_terms
        self.y_lags = y_lags
        self.u_lags = u_lags
        self.delay = delay
        self.degree = degree
        self.noise_lags = noise_lags
        self.criterion = criterion
        self.search = search
        self.order = order
        self.rule = rule
        self.fit_to = fit  # under its own name it would hide the method; see `get_params`
        self.include = include
        self.exclude = exclude
        self.max_terms = max_terms
        self.structure = structure
        self.task = task

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; `fit` is kept as `fit_to`, beside the method."""
        return {**super().get_params(deep), "fit": self.fit_to}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name."""
        self.fit_to = params.pop("fit", self.fit_to)
        return super().set_params(**params)

    def fit(self, u: Any, y: Any, sessions: Any = None, sample_weight: Any = None) -> Self:
        """Select terms and fit their coefficients.

        Parameters
        ----------
        u : array-like or dataframe of shape (T,) or (T, inputs), or None
            The inputs, one row for each time. None: there are none (NAR).
        y : array-like, series or dataframe of shape (T,) or (T, outputs)
            The outputs; or classes. A row with a missing value ends a session.
        sessions : list of int, or array-like of shape (T,), optional
            Records that do not follow each other: their lengths, or a label for each row.
        sample_weight : array-like of shape (T,), optional

        Returns
        -------
        self : NARX
        """
        self.__dict__.pop("_classifier", None)
        settings = self._settings(u is not None)
        if self.task == "classification":
            if sample_weight is not None:
                raise InputError(
                    "`sample_weight` is for numbers, `task='regression'`; y are classes. Omit it."
                )
            self._classifier = LogisticNARX(settings).fit(u, y, sessions)
            return self._store_classifier()
        records = read_records(u, y, sessions)
        _check_varying(records)
        if settings.noise_lags and len(records.y) > 1:
            raise InputError(
                f"noise terms are for one output at a time; y has {len(records.y)} columns. Fit "
                f"one model for each, or set `noise_lags=0`."
            )
        weights = check_weights(sample_weight, records.n_times)
        self.model_, parts = fit_model(settings, records, weights)
        alone = len(parts) == 1
        self.path_ = parts[0].path if alone else [part.path for part in parts]
        self.order_ = parts[0].table if alone else [part.table for part in parts]
        self.n_terms_ = parts[0].n_terms
        self.terms_ = self.model_.terms
        self.coef_ = np.array([term.coef for term in self.terms_])
        self.equation_ = self.terms_.equation()
        self.longest_lag_ = self.model_.longest
        self._names = records.u_names, records.y_names
        self.n_features_in_ = len(records.u)
        return self

    def _store_classifier(self) -> Self:
        found = self._classifier
        self.path_, self.n_terms_ = found.path, found.n_terms
        self.classes_, self.longest_lag_ = found.classes, found.longest
        self.terms_ = found.terms
        self.coef_ = found.coef
        self.accuracy_ = found.accuracy
        self.equation_ = found.equation()
        self.n_features_in_ = len(found.u_names)
        return self

    def _check_for_classes(self) -> None:
        """Raise for what is asked of numbers only."""
        only = "is for numbers, `task='regression'`; y are classes"
        if self.criterion not in ("auto", *CENTERED):
            raise InputError(
                f"`criterion={self.criterion!r}` {only}. Use 'socc' or 'obcc', or omit it."
            )
        if self.noise_lags:
            raise InputError(f"`noise_lags={self.noise_lags}` {only}. Omit it.")
        if self.fit_to != "one-step":
            raise InputError(f"`fit={self.fit_to!r}` {only}. Omit it.")
        if self.order != "bic":
            raise InputError(
                f"`order={self.order!r}` {only}, whose number of terms is that of the most right "
                f"classes in blocks of time. Omit it."
            )

    def _settings(self, has_inputs: bool) -> Settings:
        if not (self.n_terms == "auto" or (is_whole(self.n_terms) and int(self.n_terms) >= 1)):
            raise InputError(
                f"`n_terms` should be a whole number of at least 1, or 'auto'; got "
                f"{self.n_terms!r}."
            )
        if self.n_terms != "auto" and int(self.n_terms) < len(_as_names(self.include, "include")):
            raise InputError(
                f"`n_terms` should be at least the number of terms in `include`, "
                f"{len(_as_names(self.include, 'include'))}; got {self.n_terms!r}."
            )
        for name in ("noise_lags", "delay", "max_terms"):
            value, least = getattr(self, name), int(name == "max_terms")
            if not is_whole(value) or value < least:
                raise InputError(
                    f"`{name}` should be a whole number of at least {least}; got {value!r}."
                )
        check_choice(self.task, TASKS, "task")
        criterion = check_choice(self.criterion, CRITERIA, "criterion")
        if self.task == "classification":
            self._check_for_classes()
        if criterion == "auto":
            criterion = "socc" if self.task == "classification" else "err"
        include, exclude = (_as_names(getattr(self, a), a) for a in ("include", "exclude"))
        if self.task == "regression" and criterion in CENTERED and "1" not in include + exclude:
            # Correlations never take the constant, whose coefficient the mean needs.
            include = ("1", *include)
        n_terms = None if self.n_terms == "auto" else int(self.n_terms)
        return Settings(
            n_terms=n_terms,
            y_lags=as_lags(self.y_lags, "y_lags", 1),
            u_lags=as_input_lags(self.u_lags, "u_lags", int(self.delay)) if has_inputs else (),
            degree=check_degree(self.degree),
            noise_lags=int(self.noise_lags),
            criterion=criterion,
            search=self.search,
            order=check_order(self.order),
            rule=check_rule(self.rule, self.order, n_terms),
            fits_free_run=check_choice(self.fit_to, FITS, "fit") == "free-run",
            include=include,
            exclude=exclude,
            max_terms=int(self.max_terms),
            shares_structure=check_choice(self.structure, STRUCTURES, "structure") == "one",
        )

    def predict(
        self,
        u: Any = None,
        y0: Any = None,
        horizon: int | None = None,
        sessions: Any = None,
        n_rows: int | None = None,
    ) -> Any:
        """Predict the output.

        Parameters
        ----------
        u : as in `fit`
            The inputs, from the first row that is given of the output on.
        y0 : array-like of shape (rows,) or (rows, outputs)
            The output as measured: for a free run its first rows, at least as many as the longest
            lag. With as many rows as u, the first ones of each session count for a free run; all do
            for other horizons, which need them. Without lags of outputs it may be None.
        horizon : int or None, default=None
            None: a free run, on the model's own output. 1: one step ahead, from what was measured.
            h: restarted from what was measured every h rows.
        sessions : as in `fit`, optional
        n_rows : int, optional
            How many rows to predict where there are no inputs to tell.

        Returns
        -------
        y : array of shape (T,) or (T, outputs)
            The rows that predictions begin from are as given. A run that diverges is NaN from there
            on, and a warning says where; classes are never NaN. With a horizon, a row of y0 with a
            missing value is NaN, and predictions begin anew after it.
        """
        check_is_fitted(self)
        if _classifies(self):
            return self._classifier.predict(u, y0, horizon, sessions, n_rows)
        found, spans, given = self._prepared(u, y0, horizon, sessions, n_rows)
        predicted = self.model_.predict(*found, spans, horizon, given)
        return predicted[0] if len(predicted) == 1 else predicted.T

    @available_if(_classifies)
    def predict_proba(
        self,
        u: Any = None,
        y0: Any = None,
        horizon: int | None = None,
        sessions: Any = None,
        n_rows: int | None = None,
    ) -> Floats:
        """Return the probability of each class, (T, classes); arguments as of `predict`."""
        check_is_fitted(self)
        return self._classifier.predict_proba(u, y0, horizon, sessions, n_rows)

    def _prepared(
        self, u: Any, y0: Any, horizon: Any, sessions: Any, n_rows: int | None
    ) -> tuple[tuple[Floats, Floats], Any, int | None]:
        """Return outputs and inputs, sessions, and how many rows of each are given."""
        u_names, y_names = self._names
        if horizon is not None and not (is_whole(horizon) and horizon >= 1):
            raise InputError(
                f"`horizon` should be None, or a whole number of at least 1; got {horizon!r}."
            )
        inputs, longest = check_inputs(u, u_names), self.longest_lag_
        needs_past = any(s < len(y_names) for t in self.terms_ for s, _ in t.factors)
        given = np.zeros((len(y_names), 0 if needs_past else longest))
        if y0 is not None:
            given, _ = read_signals(y0, "y0")
        elif needs_past:
            raise InputError(
                f"`y0` should hold the first {longest} row(s) of the output, which predictions "
                f"begin from; got None."
            )
        if len(given) != len(y_names):
            raise ShapeError(
                f"`y0` should have the {len(y_names)} output(s) of the model; it has {len(given)}."
            )
        n_times = inputs.shape[1] if u_names else int(n_rows or given.shape[1])
        rows = given.shape[1]
        if rows < longest:
            raise InputError(
                f"`y0` should have at least as many rows as the longest lag, {longest}; it has "
                f"{rows}."
            )
        if rows > n_times:
            raise ShapeError(
                f"`y0` should not have more rows than are predicted, {n_times}; it has {rows}."
            )
        if rows < n_times and (horizon is not None or sessions is not None):
            what = "a horizon" if horizon is not None else "several sessions"
            raise InputError(
                f"with {what} `y0` should have all {n_times} rows, as measured; it has {rows}."
            )
        y = np.full((len(y_names), n_times), np.nan)
        y[:, :rows] = given
        # Where predictions look at what was measured again and again, a gap ends a session.
        looked_at = np.zeros((1, n_times)) if horizon is None else y
        spans = find_sessions(sessions, n_times, looked_at)
        self._check_gaps(y, spans, horizon, rows if rows < n_times else longest)
        inputs = inputs if u_names else np.zeros((0, n_times))
        return (y, inputs), spans, rows if rows < n_times else None

    def _check_gaps(self, y: Floats, spans: Any, horizon: int | None, first: int) -> None:
        """Warn of gaps in outputs (outputs, T) that predictions begin from; raise in a free run."""
        gaps = np.asarray(np.isnan(y).any(axis=0))
        if horizon is not None:
            if gaps.any():
                warn(GapsInPastWarning(np.flatnonzero(gaps).tolist(), self.longest_lag_))
            return
        for a, b in spans:
            found = np.flatnonzero(gaps[a : min(b, a + first)])
            if len(found):
                raise InputError(
                    f"`y0` should have no missing values where predictions begin from it; row "
                    f"{a + found[0]} has one. Fill it, or predict before and after."
                )

    def score(
        self,
        u: Any,
        y: Any,
        sessions: Any = None,
        horizon: int | None = None,
        sample_weight: Any = None,
    ) -> float:
        """Return R^2 of the free run, or of another horizon; the accuracy, of classes.

        Rows that predictions begin from do not count. A run that diverges has minus infinity.
        """
        check_is_fitted(self)
        if _classifies(self):
            return self._classifier.score(u, y, sessions, horizon)
        records = read_records(u, y, sessions, self._names[0])
        w = check_weights(sample_weight, len(y))
        predicted = self.model_.predict(records.y, records.u, records.sessions, horizon)
        at = self._predicted_rows(records)
        if np.isnan(predicted[:, at]).any():
            return float("-inf")
        weights = np.ones(len(at)) if w is None else w[at]
        measured = records.y[:, at]
        middle = (measured @ weights / weights.sum())[:, None]
        left = ((measured - predicted[:, at]) ** 2) @ weights
        there = ((measured - middle) ** 2) @ weights
        return float(np.mean(1 - left / np.where(there > 0, there, np.nan)))

    def _predicted_rows(self, records: Records) -> Any:
        longest = self.longest_lag_
        runs = [np.arange(a + longest, b) for a, b in records.sessions if b - a > longest]
        if not runs:
            rows = max((b - a for a, b in records.sessions), default=0)
            raise InputError(
                f"there should be a session longer than the longest lag, {longest}; the longest "
                f"has {rows} row(s). Give longer records."
            )
        return np.concatenate(runs)

    def validate(
        self, u: Any, y: Any, sessions: Any = None, *, horizons: Sequence[int] = (1, 5)
    ) -> Validation:
        """Test the residuals, and compare predictions of several horizons with the free run.

        Parameters
        ----------
        u, y, sessions : as in `fit`
            Records that the model was not fitted on, if there are any: on its own a model does
            better, and residuals go with inputs a little less than by chance.
        horizons : sequence of int, default=(1, 5)
            Horizons to report beside the free run.

        Returns
        -------
        validation : Validation
        """
        check_is_fitted(self)
        if _classifies(self):
            raise InputError("`validate` tests residuals, which classes do not have.")
        records = read_records(u, y, sessions, self._names[0])
        if len(records.y) > 1:
            raise InputError(
                f"`validate` takes one output; y has {len(records.y)} columns. Compare "
                f"`predict(u, y, horizon=1)` with y, or fit one model for each output."
            )
        at, model = self._predicted_rows(records), self.model_
        errors = {}
        residuals = np.full(records.n_times, np.nan)
        for h in (*horizons, None):
            found = model.predict(records.y, records.u, records.sessions, h)[0]
            left = records.y[0] - found
            name = "free run" if h is None else "one step" if h == 1 else f"{h} steps"
            errors[name] = float(np.sqrt(np.mean(left[at] ** 2)))
            if h == 1:
                residuals[at] = left[at]
        tests = correlation_tests(residuals, records.u, records.u_names, records.sessions)
        spread = float(records.y[0][at].std())
        follows = at[~np.isin(at, [a for a, _ in records.sessions])]  # a value comes before these
        change = records.y[0][follows] - records.y[0][follows - 1]
        persistence = float(np.sqrt(np.mean(change**2))) if len(change) else np.nan
        return Validation(len(at), errors, spread, tests, residuals, persistence)

    def plot(self, u: Any, y: Any, sessions: Any = None, axes: Any = None) -> Any:
        """Draw the output as measured and as simulated on a free run; returns the axes."""
        check_is_fitted(self)
        if _classifies(self):
            raise InputError("`plot` draws outputs that are numbers; this model has classes.")
        records = read_records(u, y, sessions, self._names[0])
        found = self.model_.predict(records.y, records.u, records.sessions, None)
        return draw_simulation(records.y[0], found[0], records.y_names[0], axes)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "terms_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # a row with a missing value ends a session
        tags.target_tags.multi_output = True
        if _classifies(self):
            tags.estimator_type = "classifier"
        return tags


def _as_names(given: Any, argument: str) -> tuple[str, ...]:
    given = [given] if isinstance(given, str) else list(given or ())
    if not all(isinstance(name, str) for name in given):
        raise InputError(
            f"`{argument}` should be names of terms, 'y(k-1)' for example; got {given!r}."
        )
    return tuple(given)


def _check_varying(records: Records) -> None:
    """Raise for signals that do not vary."""
    for names, signals, words in (
        (records.y_names, records.y, "There is nothing to model: choose another target"),
        (records.u_names, records.u, "Leave it out: the constant 1 is a term anyway"),
    ):
        for name, values in zip(names, signals):
            there = values[~np.isnan(values)]
            if len(there) and (there == there[0]).all():
                raise InputError(
                    f"signals should vary; `{name}` is {there[0]:g} throughout. {words}."
                )
